// A solid: the inside of a signed distance function. What meshers mesh, whatever it was made of.

#pragma once

#include "math/vec.h"

typedef struct snwSolid
{
    // m, negative inside. The sign is exact; the value is near the true distance close to the surface and never
    // larger than it by more than rounding far away, so that empty space may be skipped. Called from many threads.
    double (*distance)(snwVec3 point, const void* data);
    // Likewise of the part that bone number `bone` owns. NULL without bones.
    double (*boneDistance)(int bone, snwVec3 point, const void* data);
    int boneCount;
    const void* data;
    snwVec3 lower, upper; // bounds of the inside
} snwSolid;
