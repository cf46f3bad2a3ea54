// Vectors of a fixed width, four or eight floats and four doubles, for loops that are compiled once per instruction
// set: how the compiler cuts them does not change what a lane computes, so all instruction sets give the same bits.
// Only for files of such loops: everything is inlined, and no wide vector is ever passed.

#pragma once

#include "math/types.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE static inline __attribute__((always_inline))

typedef float Four __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));
typedef double FourDoubles __attribute__((vector_size(32)));

INLINE Four LoadFour(const float* p)
{
    Four a;
    memcpy(&a, p, sizeof a);
    return a;
}

INLINE Eight LoadEight(const float* p)
{
    Eight a;
    memcpy(&a, p, sizeof a);
    return a;
}

INLINE FourDoubles LoadDoubles(const double* p)
{
    FourDoubles a;
    memcpy(&a, p, sizeof a);
    return a;
}

INLINE FourDoubles LoadVec(const snwVec3* v)
{
    return (FourDoubles){v->x, v->y, v->z, 0};
}
