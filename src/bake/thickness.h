// How thick flesh is over its bones, and what follows from it: thin flesh swings faster and not as far.
//
//   L(x) = sum_b w_b k_b distance(x, bone b)    k_b = 0.2 for hands, feet and faces, by name, and for ends of chains
//          L0 without bones, where a clip moves the shape itself
//          and a fifth of it where morph targets move it: what an artist sculpted frame by frame is followed
//   f    = f0 clamp(L0 / L, 1, 12)              and settles sooner by the same factor; L0 = 0.055 of the longest side
//   |d|  < reach L                              softly: d / sqrt(1 + |d|^2 / (reach L)^2), reach = 0.2 for flesh
//
// Flesh of 4 Hz at the foot of a runner lags by a / w^2 = 12 cm; feet have no such flesh.

#pragma once

#include "sim/prepared.h"

typedef struct snwThickness
{
    const snwCharacterDef* character; // NULL: nothing tells how thick it is
    const bool* bony;                 // by bone; NULL: no flesh follows bones
    const float* sculpted;            // by vertex, 0..1: how much morph targets of clips move it; NULL: nowhere
    double usual;                     // m: L0
} snwThickness;

snwResult snwThickness_Make(snwArena* arena, const snwPrepared* prepared, snwThickness* out, snwMessage* message);
// m, of a place that follows the bones as these vertices of the body do.
double snwThickness_At(const snwThickness* thickness, snwVec3 place, const int* vertices, const double* shares, int n);
// By which flesh that is as thick swings faster; falloff 0: not at all, 1: as above.
double snwThickness_Factor(const snwThickness* thickness, double length, double falloff);
