// The inner loops of the factor, once per instruction set. All give the same bits.

#pragma once

#include "sinew/sinew.h"

#include <stdint.h>

// A supernode: neighbouring columns with the same rows below. Its numbers are kept in panels of eight rows, each panel
// column by column: eight rows of column 0, eight of column 1, ... Panel p of the diagonal block has 8 (p + 1) columns
// (the last one as many as the node), and its last square holds the inverse of L's square there.
typedef struct snwCholeskyNode
{
    int first, columns;
    int rowCount;     // below the diagonal block
    int rows;         // where they are listed in nodeRows
    int sweepRows;    // where they are listed in sweepRows, padded to a multiple of eight
    int64_t diagonal; // where the panels of the diagonal block are
    int64_t below;    // where the panels below are
} snwCholeskyNode;

// Right sides are rows of `width` numbers; width 1: one by one, else four to a row.
typedef void snwForwardDoubleFn(const snwCholeskyNode* node, const double* values, const int* rows, double* x);
typedef void snwForwardFloatFn(const snwCholeskyNode* node, const float* values, const int* rows, float* x);

// gather: 8 width numbers for each panel below and for each column.
typedef void snwBackwardDoubleFn(
    const snwCholeskyNode* node, const double* values, const int* rows, double* x, double* gather);
typedef void snwBackwardFloatFn(
    const snwCholeskyNode* node, const float* values, const int* rows, float* x, float* gather);

typedef struct snwCholeskyKernels
{
    // out[8 j + r] = sum over k of a[8 k + r] b[8 k + j], j < 4.
    void (*tile)(const double* a, const double* b, int count, double* out);
    // [width - 1]
    snwForwardDoubleFn* forwardDouble[4];
    snwBackwardDoubleFn* backwardDouble[4];
    snwForwardFloatFn* forwardFloat[4];
    snwBackwardFloatFn* backwardFloat[4];
} snwCholeskyKernels;

const snwCholeskyKernels* snwCholesky_Kernels(snwSimd simd);

// NULL where the build does not have them.
const snwCholeskyKernels* snwCholesky_KernelsAvx2(void);
const snwCholeskyKernels* snwCholesky_KernelsBase(void);
const snwCholeskyKernels* snwCholesky_KernelsScalar(void);

// Factors a node that has had all updates. diagonal: that of its columns in the matrix, to tell a small pivot. Returns
// the column of the node whose pivot fails, -1: none.
int snwCholeskyNode_Factor(
    const snwCholeskyKernels* kernels, const snwCholeskyNode* node, double* values, const double* diagonal);

static inline double* snwCholeskyNode_DiagonalPanel(const snwCholeskyNode* node, double* values, int panel)
{
    return values + node->diagonal + 32 * (int64_t)panel * (panel + 1);
}

// Columns first .. first + count - 1 of a panel below, from what they are in the matrix to what they are in L. pivots:
// the diagonal panel of those columns.
void snwCholesky_FinishPanel(
    const snwCholeskyKernels* kernels, double* panel, const double* pivots, int first, int count);
