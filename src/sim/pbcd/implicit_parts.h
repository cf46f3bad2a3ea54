// What the files of the implicit step share; see implicit.h.

#pragma once

#include "base/arena.h"
#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "sim/pbcd/implicit.h"
#include "sim/pbcd/implicit_energy.h"

// Unknowns: x y z of every vertex, held ones too (with rows of the identity, so that other vertices may be held in the
// next step), then the multipliers of the rows, which the factor leaves to a small dense system.
struct snwImplicit
{
    snwContext* context;
    snwArena arena;
    int vertexCount, edgeCount, tetCount, rowCapacity;
    int volumeCount, strainCount; // tets: volumes, then strains, then neos
    int (*edges)[2];
    int (*tets)[4];

    snwPattern* pattern;
    double* terms; // of the pattern: 78 per tet, 21 per edge, then the rows
    snwCholesky* factor;
    snwCholeskyScratch* scratch;
    double* right; // of the factor: unknowns, then multipliers

    snwVec3* edgeForces; // N, gradient of the first end
    snwVec3 (*tetForces)[4];
    snwVec3 *gradient, *trialGradient, *direction, *trial;
    double* sizes; // N, per vertex: sum of the sizes of the forces

    // The rows, made orthogonal: rows_k A^-1 rows_l = 1 if k = l, else 0, A the weights. They are the tail of `terms`.
    // Rows that say nothing new are zero.
    int rowCount; // of the step before
    double* rows;
    double* inverseWeights; // 1/a of free vertices, 0 of held ones
    double* multipliers;    // [rowCapacity]
    snwDense dense;         // of rowCapacity unknowns
    double* schur;
};

static inline int snwImplicit_UnknownCount(const snwImplicit* implicit)
{
    return 3 * implicit->vertexCount;
}

// implicit_system.c

typedef struct snwImplicitMatrix
{
    const snwVec3* x;
    bool exact;   // the true Hessian, which may have no factor
    double shift; // added to the diagonal, relative to it
} snwImplicitMatrix;

// The Hessian, the weights and the rows, factored.
snwResult snwImplicit_Factor(
    snwImplicit* implicit, const snwImplicitStep* step, const snwImplicitMatrix* matrix, snwMessage* message);
// direction = the step that the factored system says for this gradient, along which the rows do not change.
void snwImplicit_Direct(snwImplicit* implicit, const snwVec3* gradient);

// implicit_rows.c

snwResult snwImplicit_PrepareRows(snwImplicit* implicit, const snwImplicitStep* step, snwMessage* message);
// To the nearest x, weighted by a, that meets the rows. Returns |rows (x - r)| before.
double snwImplicit_MeetRows(snwImplicit* implicit, const snwImplicitStep* step, snwVec3* x);
// Takes from a gradient what the rows bear, and everything of held vertices.
void snwImplicit_ProjectGradient(snwImplicit* implicit, const snwImplicitStep* step, snwVec3* gradient);
