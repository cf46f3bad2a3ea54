// FAST: fast automatic skinning transformations (Jacobson, Baran, Kavan, Popovic, Sorkine 2012): the energy of rims.h
// over what linear blending of affine handles can do. As ARAP it knows no time and no inertia.
//
//     x_i = sum_k w_ik (A_k (xb_i - ub_k) + u_k)
//
// Vertices that follow the handles alike share a rotation: clusters by k-means in the space of weights, so that an
// iteration costs nothing per vertex. Unknowns are rows of [A_k u_k], the same matrix for each coordinate. Given places
// and turns of handles are left out of it. What the energy does not see (handles without weight, proportional weights,
// a body that nothing holds) stays as it is.

#pragma once

#include "rig/rig_fit.h"
#include "sim/rigpbd/arap.h"

typedef struct snwFast snwFast;

typedef struct snwFastDef
{
    snwRimsDef mesh;
    const snwWeights* weights; // a row per vertex; copied
    const snwVec3* origins;    // ub, m, one per handle; copied
    int clusters;              // of rotations; 0: twice as many as handles
} snwFastDef;

snwResult snwFast_Create(snwContext* context, const snwFastDef* def, snwFast** out, snwMessage* message);
void snwFast_Destroy(snwFast* fast); // NULL allowed

// pose[K]: in a guess with what is fixed at its place, out the answer. fixed:
// per handle, snw_fixed... In the plane only the upper left of A and the x and y of u count. Depends on its arguments
// alone, not on calls before. No heap.
void snwFast_Solve(snwFast* fast, const unsigned char* fixed, int iterations, snwRigPose* pose, snwRimsReport* report);

// Where they take the vertices.
void snwFast_Skin(const snwFast* fast, const snwRigPose* pose, snwVec3* x);
