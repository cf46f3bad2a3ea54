// A substep's two passes over the state of flat flesh that only its elements and its rig move; rigpbd_plane.c says why.

#pragma once

#include "math/simd.h"

// Rows are float4, 16-byte aligned. None of them is held.
typedef struct snwPlaneStep
{
    float* positions;    // x y 0 and the inverse mass, which stays
    float* velocities;   // x y 0 and a number that stays
    float* plane;        // x y predicted, x y moved since
    snwRow acceleration; // times h, m/s
    snwRow centre;       // m/s
    float h, inverseH;   // s, 1/s
    float keep;          // of the velocity
} snwPlaneStep;
