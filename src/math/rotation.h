// Rotations, polar decompositions and signed singular values of many 3x3 matrices at once, in float.
//
// Matrices come in blocks of eight, entry by entry: F[3 * row + column][lane]. A block is contiguous, so one block is
// one stream of memory; eight lanes whatever the instruction set. Blocks are 32-byte aligned.
//
// Every lane starts from a guess, usually the rotation of the previous step, and leaves its rotation there. A lane's
// result depends on its own matrix and guess only: not on its neighbours, nor on the instruction set, nor on the
// number of threads.
//
// What comes out, for any input:
//   - a rotation that maximises tr(R^T F), proper also when F is inverted, good to a few float roundings times
//     sigma1 / (sigma2 + sigma3), which is how much the rotation amplifies any change of F;
//   - not unique (sigma2 + sigma3 = 0): one of the maximisers, near the guess where that was possible;
//   - F = 0, or a lane that pads its block: the guess, normalised;
//   - F not finite: the guess, normalised, and the lane is counted in the report;
//   - a guess that is zero, not finite or outside 1e-15 .. 1e15 counts as the identity.

#pragma once

#include "math/types.h"

#include <stddef.h>

enum
{
    SNW_ROTATION_LANES = 8
};

typedef struct snwMat3Block
{
    _Alignas(32) float m[9][SNW_ROTATION_LANES]; // row major
} snwMat3Block;

typedef struct snwSym3Block
{
    _Alignas(32) float m[6][SNW_ROTATION_LANES]; // xx, yy, zz, xy, xz, yz
} snwSym3Block;

typedef struct snwVec3Block
{
    _Alignas(32) float v[3][SNW_ROTATION_LANES];
} snwVec3Block;

typedef struct snwQuatBlock
{
    _Alignas(32) float q[4][SNW_ROTATION_LANES]; // x, y, z, w
} snwQuatBlock;

// Eight tetrahedra: F = [x1 - x0, x2 - x0, x3 - x0] inverseRest. Lanes without a tetrahedron have index and
// inverseRest 0.
typedef struct snwRestTetBlock
{
    _Alignas(32) int index[4][SNW_ROTATION_LANES];
    float inverseRest[9][SNW_ROTATION_LANES]; // row major
} snwRestTetBlock;

// F = U diag(sigma) V^T, U and V proper rotations, sigma1 >= sigma2 >= |sigma3|. U = R V.
typedef struct snwSvdBlock
{
    snwMat3Block U;
    snwVec3Block sigma;
    snwMat3Block V;
} snwSvdBlock;

// Lanes that were not of the common kind; add up over calls.
typedef struct snwRotationReport
{
    long notFinite; // F held NaN or infinity
    long robust;    // went the slow way: far from the guess, or nearly not unique
} snwRotationReport;

// count blocks each. R and S may be NULL. positions: rows of four floats, 16-byte aligned, the fourth unused.
// sigma and S overflow to infinity where the float range ends, only for entries beyond 1e38.
typedef struct snwRotationKernels
{
    snwRotationReport (*extract)(int count, const snwMat3Block* F, snwQuatBlock* q, snwMat3Block* R);
    snwRotationReport (*polar)(int count, const snwMat3Block* F, snwQuatBlock* q, snwMat3Block* R, snwSym3Block* S);
    snwRotationReport (*svd)(int count, const snwMat3Block* F, snwQuatBlock* q, snwSvdBlock* out);

    // The same for tetrahedra, gathering their corners.
    void (*tetDeform)(int count, const snwRestTetBlock* tets, const float* positions, snwMat3Block* F);
    snwRotationReport (*tetExtract)(
        int count, const snwRestTetBlock* tets, const float* positions, snwQuatBlock* q, snwMat3Block* R);
    snwRotationReport (*tetPolar)(int count, const snwRestTetBlock* tets, const float* positions, snwQuatBlock* q,
        snwMat3Block* R, snwSym3Block* S);
    snwRotationReport (*tetSvd)(
        int count, const snwRestTetBlock* tets, const float* positions, snwQuatBlock* q, snwSvdBlock* out);
} snwRotationKernels;

// Never NULL: resolved as by snwSimd_Resolve.
const snwRotationKernels* snwRotation_Kernels(snwSimd simd);

// The slow way for one finite matrix, in double: right from any guess, some 0.7 microseconds. guess and q as x, y, z,
// w; the guess is of about unit length.
void snwRotation_Robust(const float F[9], const float guess[4], float q[4]);

// One table per instruction set; NULL where the build does not have it.
const snwRotationKernels* snwRotation_KernelsAvx2(void);
const snwRotationKernels* snwRotation_KernelsBase(void);
const snwRotationKernels* snwRotation_KernelsScalar(void);
