// Hands on flesh, for methods that move rows of float4 (x y z and the inverse mass in use).

#pragma once

#include "sim/grip.h"

// Vertices that a pin of the scene or a hand holds go where it is.
void snwHands_MovePinned(const snwSim* sim, int body, float* positions);

// What the drags of a body need to know in a substep. Inverse masses when free are the fourth numbers of `velocities`,
// those in use of `positions`; `before`: rows when the substep began; h: the implicit step of the integrator, s.
typedef struct snwHands
{
    const float *before, *velocities;
    float* positions;
    double h;
} snwHands;

void snwHands_Begin(snwSim* sim, int body, const snwHands* hands);

// One of `iterations` visits of the drags. False: there are none.
bool snwHands_Drag(snwSim* sim, int body, const snwHands* hands, int iterations);
