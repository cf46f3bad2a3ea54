// What damping (damping.h) does with vertices: sums over them, and a change of each.
//
// Sums are about an origin that the body is near, and float within tiles of 128 vertices: what is damped away is a
// small part of what they say, so their rounding is far below that of the velocities.

#pragma once

#include <stdbool.h>

enum
{
    snw_dampTile = 128, // vertices

    // Sums of flat flesh: m, m r, m v, m r x v, m r^2; then those of the drift
    snw_dampPlaneSums = 8,
    snw_dampPlaneDriftSums = 4,

    // Solid flesh: m, 0, m r, m v, m r x v, 0, m r r^T (xx yy zz xy xz yz), 0, 0; then m d, m r x d, 0, 0
    snw_dampSolidSums = 20,
    snw_dampSolidDriftSums = 8,

    snw_dampMostSums = snw_dampSolidSums + snw_dampSolidDriftSums,
};

// Rows are float4, 16-byte aligned.
typedef struct snwDampRows
{
    const float* positions; // m, and the inverse mass in use: what has 0 is not changed
    float* velocities;      // m/s, and the inverse mass when free
    const float* drift;     // m/s; NULL: none
    float origin[3];        // m
    bool flat;              // z is 0 everywhere
} snwDampRows;

typedef struct snwDampMotion
{
    float velocity[3], spin[3]; // m/s, rad/s
} snwDampMotion;

// v' = v + share (rigid part of v - v), then v' += driftShare (rigid part of v' - d, less v' - d).
typedef struct snwDampChange
{
    float centre[3]; // m, from the origin
    snwDampMotion flesh, drift;
    float share, driftShare;
} snwDampChange;
