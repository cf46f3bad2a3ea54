// Points of a frame as bytes: as they are, or rounded to a lattice and coded as small differences.

#pragma once

#include "base/bytes.h"

// The lattice numbers of one block of points in the frame before: what the next frame's differences are taken against.
typedef struct snwFrameLattice
{
    int64_t* values; // three per point; NULL without a tolerance
    bool filled;     // false: the first frame of a chunk, or the frame before was stored as it is
} snwFrameLattice;

// The fewest bytes that a block of `count` points can have.
size_t snwPoints_LeastBytes(size_t count, double tolerance);

// tolerance 0: x y z as floats. Else positions come back at most `tolerance` off.
void snwPoints_Write(
    snwWriter* writer, const float* points, int stride, size_t count, double tolerance, snwFrameLattice* lattice);

// Sets the lattice as writing these points would have left it.
void snwPoints_Prime(const float* points, int stride, size_t count, double tolerance, snwFrameLattice* lattice);

// Points are packed, three floats each. False: the block ends too early or holds what no writer writes.
bool snwPoints_Read(snwReader* reader, float* points, size_t count, double tolerance, snwFrameLattice* lattice);
