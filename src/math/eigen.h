// Small dense decompositions in double: symmetric eigenvalues of 3x3 and 4x4, signed singular values and the polar
// rotation of 3x3. Safe for entries from 1e-300 to 1e300; only + - * / sqrt, so the same bits everywhere.

#pragma once

#include "math/quat.h"

// A = vectors diag(values) vectors^T, values descending, eigenvectors in the columns of a proper rotation.
typedef struct snwEigen3
{
    double values[3];
    snwMat3 vectors;
} snwEigen3;

typedef struct snwEigen4
{
    double values[4];     // descending
    double vectors[4][4]; // vectors[i] is the unit eigenvector of values[i]
} snwEigen4;

// F = U diag(sigma) V^T with U and V proper rotations and sigma[0] >= sigma[1] >= |sigma[2]|: a reflection shows as a
// negative sigma[2] (Irving, Teran and Fedkiw 2004, section 5).
typedef struct snwSvd3
{
    snwMat3 U, V;
    double sigma[3];
} snwSvd3;

typedef struct snwPolar3
{
    snwMat3 rotation; // maximises tr(R^T F) over rotations
    double sigma[3];  // signed singular values
    // (sigma2 + sigma3) / sigma1 in [0, 2]: the inverse of how much a relative change of F turns R. 0: not unique.
    double uniqueness;
} snwPolar3;

// Only the upper triangles are read. Input that is not finite gives values NaN and the identity as vectors.
snwEigen3 snwEigen3_Symmetric(snwMat3 a);
snwEigen4 snwEigen4_Symmetric(const double a[4][4]);

// Input that is not finite gives sigma NaN and identities.
snwSvd3 snwSvd3_Signed(snwMat3 F);

// The reference for the batched kernels. F = 0 gives the identity with uniqueness 0.
snwPolar3 snwPolar3_Compute(snwMat3 F);
