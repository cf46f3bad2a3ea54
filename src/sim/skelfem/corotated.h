// Corotated linear tetrahedra: their rotations, and the matrix A = K + D of a step.
//
// With F = R S, strain is measured in the turned frame; for isotropic flesh the element's matrix in the world is then
// the one at rest with turned gradients g' = R g (g: gradient of a corner's shape function), and no element matrix is
// ever made or turned:
//     K_ab = V (mu (g_a . g_b) I + mu g'_b g'_a^T + lambda g'_a g'_b^T)
// The first term does not turn: it is summed once. R is frozen in K, as in the paper (Section 3.1).
//
// Each block above the diagonal has a list of the (tetrahedron, corner, corner) that make it up, added in that order:
// the same bits for any number of threads.

#pragma once

#include "linalg/multigrid.h"
#include "math/rotation.h"

typedef struct snwCorotated snwCorotated;

typedef struct snwCorotatedDef
{
    int vertexCount;
    const snwVec3* rest;
    int tetCount;
    const int* tets;             // [4 tetCount], of positive volume
    const double* mu;            // [tetCount] Pa, above 0
    const double* lambda;        // [tetCount] Pa
    const snwGridLevels* levels; // of these tets; have to live as long
    snwBlockMatrix matrix;       // where its numbers go
} snwCorotatedDef;

snwResult snwCorotated_Create(snwContext* context, const snwCorotatedDef* def, snwCorotated** out, snwMessage* message);
void snwCorotated_Destroy(snwCorotated* flesh); // NULL allowed

// Moduli that have changed, [tetCount] each; Turn or Rotate has to follow.
void snwCorotated_SetMaterials(snwCorotated* flesh, const double* mu, const double* lambda);

// The consistent mass matrix instead of a lumped one; masses, kg, of the tetrahedra. A then has `scale` (1/s^2) times
// it off the diagonal; on it, rows still sum up to what `added` says: scale times what is lumped there.
snwResult snwCorotated_SetMasses(snwCorotated* flesh, const double* masses, snwMessage* message);
void snwCorotated_ScaleMasses(snwCorotated* flesh, double scale);

// What a tetrahedron's matrix has besides, g g^T over its corners: a stiffness against one change of its shape.
typedef struct snwTetStop
{
    int tet;
    float g[3][3]; // (N/m)^1/2, of corners 1, 2, 3; that of the first is minus their sum
} snwTetStop;

// From here on K has these; the array has to live as long.
void snwCorotated_SetStops(snwCorotated* flesh, const snwTetStop* stops, int count);

// Takes rotations as they are, eight tetrahedra to a block.
void snwCorotated_Turn(snwCorotated* flesh, const snwQuatBlock* rotations);

// Rotations of all tetrahedra at these positions.
void snwCorotated_Rotate(snwCorotated* flesh, const snwVec3* positions);

// A = K + D with D = diag(added[vertex]): masses over h^2, springs. NULL: K alone.
void snwCorotated_Assemble(snwCorotated* flesh, const double* added);

// Block k above the diagonal of K, as the last Rotate has it, in double and column by column: for those who keep such a
// matrix.
void snwCorotated_GetUpper(const snwCorotated* flesh, int k, double block[9]);

// y = (K + D) x in double, element by element: what A stands for, without its rounding.
void snwCorotated_Multiply(snwCorotated* flesh, const double* added, const snwVec3* x, snwVec3* y);

// (K + D) u = f on the free vertices of the grid, whose matrix has to be this one, refreshed. The residual is that of
// Multiply: the matrix in floats has the right solution to five digits, but leaves a hundredth of a slender body's
// forces, so it is asked for what is missing until `tolerance` of |f| is reached. Iterations are those of all turns.
snwGridReport snwCorotated_Solve(snwCorotated* flesh, snwMultigrid* grid, const double* added,
    const unsigned char* held, const snwGridSolveDef* def, const snwVec3* f, snwVec3* u);
