// A = L L^T for sparse symmetric positive definite matrices: analyse once, factor many, solve many.
//
//   snwCholeskyDef def = snwDefaultCholeskyDef();
//   def.matrix = &A;
//   snwCholesky* factor;  snwCholesky_Create(context, &def, &factor, message);
//   snwCholeskyScratch* scratch;  snwCholeskyScratch_Create(factor, &scratch, message);
//   snwCholesky_Solve(factor, scratch, snwRows_Double(x, 3, 3));       // x becomes A^-1 x, no heap, many times
//   snwCholesky_Refactor(factor, &A, message);                        // other values, same pattern: no analysis
//
// A factor is not changed by solving: several sims on several threads may share one, each with its own scratch.
//
// The last unknowns. lastCount unknowns at the end of the matrix are ordered last and not eliminated:
//     [ A_ff  A_fb ]        L L^T = A_ff,   V = L^-1 A_fb,   G = A_bb - V^T V
//     [ A_bf  A_bb ]
// Forward gives y = L^-1 r_f (kept in the scratch) and r_b - V^T y. The caller solves its small dense system with G,
// joints and all, and Backward takes the answer t: x_f = L^-T (y - V t), x_b = t.
//
// Bits: the same for any number of threads and on every instruction set; a refactor gives the bits of a new factor;
// three right sides give the bits of three times one.

#pragma once

#include "linalg/sparse.h"

typedef struct snwCholesky snwCholesky;
typedef struct snwCholeskyScratch snwCholeskyScratch;

typedef enum snwPrecision
{
    snw_precisionDouble,
    snw_precisionFloat // of the substitution: half the memory traffic, residual about 1e-6. Factored in double anyway.
} snwPrecision;

typedef enum snwOrdering
{
    snw_orderingNested,  // nested dissection: the right choice for meshes
    snw_orderingNatural, // as the matrix comes
    snw_orderingGiven    // `order`
} snwOrdering;

typedef struct snwCholeskyDef
{
    const snwSparse* matrix; // symmetric. Read during the call only
    int lastCount;           // 0 .. rows: unknowns at the end of the matrix that stay; about a thousand at most
    snwPrecision precision;
    snwOrdering ordering;
    const int* order; // [rows - lastCount] with snw_orderingGiven: order[k] is the unknown that comes k-th
} snwCholeskyDef;

snwCholeskyDef snwDefaultCholeskyDef(void);

// Analysis and first factor. A matrix that is not positive definite is snw_errorInput and the message's place names
// the unknown, as unknown[i] in the matrix's order, at which a pivot was not positive.
snwResult snwCholesky_Create(snwContext* context, const snwCholeskyDef* def, snwCholesky** out, snwMessage* message);
void snwCholesky_Destroy(snwCholesky* factor); // NULL allowed

// New values, same pattern (asserted by size, then by what the analysis remembers). Takes no memory. After a failure
// the factor must be refactored before it is used again.
snwResult snwCholesky_Refactor(snwCholesky* factor, const snwSparse* matrix, snwMessage* message);

// G, lastCount x lastCount by rows, both halves. NULL without last unknowns.
const double* snwCholesky_Schur(const snwCholesky* factor);

typedef struct snwCholeskyStats
{
    int rows, lastCount;
    int supernodes;
    int tasks, levels; // of the parallel sweep
    int64_t entries;   // of L and V, with the zeros that blocks bring
    int64_t bytes;     // read by one sweep, forward or backward: values and indices
    double flops;      // of one factorisation: multiplications and additions
    int64_t memory;    // held by the factor
} snwCholeskyStats;

snwCholeskyStats snwCholesky_Stats(const snwCholesky* factor);

// ---------------------------------------------------------------------------------------------------------------------
// Solving

// Right sides in the caller's layout: number (i, k) of unknown i and right side k is at [i * rowStride + k *
// columnStride] of doubles or of floats. Any number of columns; they are solved four at a time, so 3 and 4 cost about
// the same and 1 is cheaper.
typedef struct snwRightSides
{
    double* doubles; // one of the two
    float* floats;
    int columns;
    int rowStride, columnStride;
} snwRightSides;

// Side by side: xyz xyz ... with stride 3, xyzw xyzw ... (w untouched) with columns 3 and stride 4.
static inline snwRightSides snwRows_Double(double* x, int columns, int stride)
{
    return (snwRightSides){.doubles = x, .columns = columns, .rowStride = stride, .columnStride = 1};
}

static inline snwRightSides snwRows_Float(float* x, int columns, int stride)
{
    return (snwRightSides){.floats = x, .columns = columns, .rowStride = stride, .columnStride = 1};
}

// One after the other: all of column 0 first, `stride` numbers from column to column.
static inline snwRightSides snwColumns_Double(double* x, int columns, int stride)
{
    return (snwRightSides){.doubles = x, .columns = columns, .rowStride = 1, .columnStride = stride};
}

// Fits every factor with the same def and pattern as `factor`, also after a refactor.
snwResult snwCholeskyScratch_Create(const snwCholesky* factor, snwCholeskyScratch** out, snwMessage* message);
void snwCholeskyScratch_Destroy(snwCholeskyScratch* scratch); // NULL allowed

// x becomes A^-1 x. Without last unknowns only.
void snwCholesky_Solve(const snwCholesky* factor, snwCholeskyScratch* scratch, snwRightSides x);

// The same where x is zero but in few rows: the way down looks only at supernodes that those rows reach in the
// elimination tree. MarkReach adds the ones of `count` rows to reach, one byte for each of snwCholeskyStats.supernodes,
// which the caller clears; columns that are solved together share one reach. Same bits as Solve.
void snwCholesky_MarkReach(const snwCholesky* factor, const int* rows, int count, unsigned char* reach);
void snwCholesky_SolveReached(
    const snwCholesky* factor, snwCholeskyScratch* scratch, snwRightSides x, const unsigned char* reach);

// Reads all rows of r (up to four columns); y stays in the scratch for Backward. last (lastCount rows, as many
// columns) becomes r_b - V^T y; it is ignored without last unknowns.
void snwCholesky_Forward(const snwCholesky* factor, snwCholeskyScratch* scratch, snwRightSides r, snwRightSides last);

// Takes the y of the Forward before (each Forward serves one Backward) and t from last; writes all rows of x.
void snwCholesky_Backward(const snwCholesky* factor, snwCholeskyScratch* scratch, snwRightSides last, snwRightSides x);

// y of the Forward before, rows - lastCount rows. Entry i belongs to unknown i of the matrix.
void snwCholesky_ReadForward(const snwCholesky* factor, const snwCholeskyScratch* scratch, snwRightSides y);
