// Impulses of contacts with friction, of limits and of loops, all at once: a mixed complementarity problem.
//
// With w = (W + compliance) lambda + q, the velocities that come of the impulses lambda, by blocks of rows
//     equal      w = 0
//     at least   w >= 0, lambda >= 0, one of the two being 0
//     friction   three rows n, t1, t2: at least for n; lambda_t in mu lambda_n S, and of all of these the one
//                that works most against w_t
//     ball       three rows: |lambda| <= most; w = 0, or lambda is at its most and works against w
// S is the disc (Coulomb's cone), or a regular polygon in it with corners on the axes: pyramids of 4 or 8 sides, which
// are what the rows of a linear complementarity problem with as many directions say.
//
// How: rows are scaled to a unit diagonal. Newton's method on the natural map of the problem (Alart and Curnier 1991)
//     F(x) = x - P(x - w),  P the projection onto S of the radius that the normal row has there,
// with a short line search is exact in a few steps, or fails where the matrix is singular or the steps go round
// in circles. Then problems that yield to the last answer, less and less, and sweeps of block Gauss-Seidel, each block
// solved exactly, bring it closer, and Newton has another try. What comes out is always in the cones, and the best that
// was seen.
//
// Newton's matrix is that of W but for what slides. With S all rows that are plain velocities (pressing normals,
// tangents that stick, limits, loops) and T the others, whose rows are R w_N + Sigma w_T + (1 - Sigma) x_T - R x_N,
//     W_SS = L L^T, Y = W_TS L^-T, Z = E_N L^-T:
//     (Sigma (W_TT - Y Y^T) + 1 - Sigma + R Z Y^T) dx_T = f_T - R (f_N - Z u) - Sigma Y u,  u = L^-1 f_S,
// so LU is left with T alone, and the rest has the kernels of dense.h. Where W has no symmetry, or W_SS no factor, LU
// has it all.
//
// Redundant rigid contacts (a box on twenty points) have no unique impulses: without a compliance what comes out is one
// of many, with the same effect.

#pragma once

#include "linalg/dense.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum snwCoulombKind
{
    snw_coulombEqual,
    snw_coulombAtLeast,
    snw_coulombFriction,
    snw_coulombBall
} snwCoulombKind;

typedef struct snwCoulombBlock
{
    snwCoulombKind kind;
    int row;         // the first of 1 or 3; blocks are listed by rows and leave none out
    double friction; // mu, >= 0
    double most;     // of a ball, >= 0; INFINITY: as equal
} snwCoulombBlock;

typedef enum snwCoulombShape
{
    snw_coulombCone,
    snw_coulombPyramid4,
    snw_coulombPyramid8
} snwCoulombShape;

typedef enum snwCoulombStart
{
    snw_coulombWarm, // from lambda as it is given
    snw_coulombZero,
    snw_coulombOnes,
    snw_coulombRandom // uniform in -1 .. 1, of the seed
} snwCoulombStart;

typedef struct snwCoulombDef
{
    int rows, blockCount;
    const snwCoulombBlock* blocks;
    const double* w; // row-major
    int stride;
    const double* compliance; // [rows], >= 0
    const double* q;          // [rows]
    snwCoulombShape shape;
    snwCoulombStart start;
    uint64_t seed;
    int newtons, sweeps;               // at most so many of each
    const snwCholeskyKernels* kernels; // for symmetric W; NULL: LU alone
    double tolerance;                  // of the residual
    double* lambda;                    // [rows] in, if warm, and out
    double* scratch;                   // [snwCoulomb_ScratchCount(rows)]
} snwCoulombDef;

snwCoulombDef snwCoulomb_DefaultDef(void);
size_t snwCoulomb_ScratchCount(int rows);

typedef struct snwCoulombReport
{
    double residual; // |lambda - P(lambda - w / W_ii)|max / |lambda|max
    int newtons, sweeps;
    bool solved; // to the tolerance
} snwCoulombReport;

snwCoulombReport snwCoulomb_Solve(const snwCoulombDef* def);

// The residual of any lambda; scratch as above.
double snwCoulomb_Residual(const snwCoulombDef* def);
