// Positions and velocities as kernels want them: rows of four floats.

#pragma once

#include "math/vec.h"

// The fourth number is left alone.
static inline snwVec3 snwRow_Get(const float* rows, int index)
{
    const float* row = rows + 4 * (size_t)index;
    return (snwVec3){row[0], row[1], row[2]};
}

static inline void snwRow_Set(float* rows, int index, snwVec3 v)
{
    float* row = rows + 4 * (size_t)index;
    row[0] = (float)v.x;
    row[1] = (float)v.y;
    row[2] = (float)v.z;
}

// The same in the world, for rows that are relative to an origin.
static inline snwVec3 snwRow_Place(const float* rows, int index, snwVec3 origin)
{
    return snwVec3_Add(origin, snwRow_Get(rows, index));
}

static inline void snwRow_SetPlace(float* rows, int index, snwVec3 origin, snwVec3 place)
{
    snwRow_Set(rows, index, snwVec3_Sub(place, origin));
}
