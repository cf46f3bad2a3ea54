// Constant moments of a rig: all that sums over the vertices can say about J^T M J in any pose.
//
// With a_ik = xb_i - ub_k, for every pair of handles that share a vertex
//   P0_kl = sum m_i w_ik w_il    P1_kl = sum m_i w_ik w_il a_ik    P2_kl = sum m_i w_ik w_il a_ik a_il^T
// and in the pose R, with unknowns (du_k, dv_k) per handle,
//   uu: P0_kl I     vu: [R_k P1_kl]x     uv: -[R_l P1_lk]x     vv: tr(Y) I - Y^T,  Y = R_k P2_kl R_l^T.
// (rigpbd's Eq. 12 to 14; its Eq. 14 has the wrong sign.) For affine handles, unknowns [A_k b_k] about ub_k, the
// constant scalar matrix [P2 P1_kl; P1_lk^T P0] stands once for each coordinate.

#pragma once

#include "base/context.h"
#include "math/vec.h"

typedef struct snwMomentPair
{
    int other;      // l <= k
    double p0;      // kg
    snwVec3 p1;     // P1_kl, kg m
    snwVec3 p1Back; // P1_lk
    snwMat3 p2;     // P2_kl = P2_lk^T, kg m^2
} snwMomentPair;

typedef struct snwMoments
{
    int handleCount, pairCount;
    int* starts;          // handleCount + 1: the pairs of handle k, by rising `other`; the last one is (k, k). A handle
                          // without any mass has none.
    snwMomentPair* pairs; // the lower triangle
} snwMoments;

typedef struct snwMomentsDef
{
    int vertexCount;
    const snwVec3* rest;       // m
    const double* masses;      // kg
    const snwWeights* weights; // a row per vertex
    const snwVec3* origins;    // m, one per handle
    const unsigned char* held; // per vertex, not 0: left out of all sums; NULL: none
} snwMomentsDef;

// Same bits for any number of threads.
snwResult snwMoments_Create(snwContext* context, const snwMomentsDef* def, snwMoments* moments, snwMessage* message);
void snwMoments_Free(snwContext* context, snwMoments* moments);

// J^T M J at a pose: 6 handleCount square, row-major, the lower triangle, in the order (du_0, dv_0, du_1, ...).
void snwMoments_RigMatrix(const snwMoments* moments, const snwMat3* rotations, double* matrix);

// The scalar matrix of affine handles: 4 handleCount square, row-major, the lower triangle, in the order of the four
// columns of [A_0 b_0], then those of handle 1, ...
void snwMoments_AffineMatrix(const snwMoments* moments, double* matrix);
