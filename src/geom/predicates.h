// Exact signs in the plane: the ground that a triangulation stands on.
//
// The choice. Points are whole numbers on a grid that covers the outline with 2^26 cells along its longer side (15 nm
// on a metre), and the two determinants are computed in 64 and 128 bits, where nothing can round. The usual other way,
// doubles with an error bound and expansions behind it (Shewchuk 1997), keeps every bit of the input but is ten times
// the code, leans on the compiler's rounding, and still has to round the points that refinement adds. On the grid those
// are exact too, so that orientation is known for every triangle ever made, and the same on every machine.

#pragma once

#include <stdint.h>

typedef struct snwGridPoint
{
    int32_t x, y; // at most snw_gridLimit in size
} snwGridPoint;

enum
{
    snw_gridBits = 26,            // of the outline's longer side
    snw_gridLimit = (1 << 28) - 1 // differences have 29 bits, so incircle has 29 * 4 + 4 = 120
};

// Twice the signed area of a, b, c; positive if counter-clockwise.
int64_t snwOrient(snwGridPoint a, snwGridPoint b, snwGridPoint c);

// 1 if d is inside the circle through the counter-clockwise a, b, c; 0 on it; -1 outside.
int snwInCircle(snwGridPoint a, snwGridPoint b, snwGridPoint c, snwGridPoint d);

// (a - o) . (b - o): negative if the angle at o is obtuse.
int64_t snwGridDot(snwGridPoint o, snwGridPoint a, snwGridPoint b);

// Squared distance.
int64_t snwGridDistance2(snwGridPoint a, snwGridPoint b);
