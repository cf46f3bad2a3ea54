// Vertices that files split - for normals, texture seams, materials - become one again, and the map between both is
// kept: simulation sees the welded ones, files get the split ones back.

#pragma once

#include "base/arena.h"

typedef struct snwWeldDef
{
    const snwVec3* positions; // finite
    int count;
    // Vertices become one only if these are equal too: what moves apart later (lips, eyelids) lies together at rest but
    // has other weights or morphs. NULL: all may.
    const uint64_t* keys;
    double tolerance; // m, >= 0; 0: only vertices at exactly the same place
} snwWeldDef;

typedef struct snwWeld
{
    int* map;     // the welded vertex of each
    int* sources; // the first vertex of each welded one; rising
    int count;    // of welded vertices
} snwWeld;

// The lists come from the arena. With a tolerance, a vertex joins the first one that is near enough and kept.
snwResult snwWeldVertices(snwArena* arena, const snwWeldDef* def, snwWeld* weld, snwMessage* message);
