// Small dense symmetric positive definite systems, up to about 800 unknowns: one dense node of the sparse factor, with
// the same kernels (cholesky_kernels.h). Same bits on every instruction set. Single-threaded; no memory of its own.
//
// What it is for: bones and joints. With S = L L^T of the bones (6 each) and the joints' rows A (row by row)
//   snwDense_Factor(S)             L
//   snwDense_Forward(g)            y = L^-1 g
//   snwDense_ForwardRows(A)        Y = A L^-T, in panels
//   snwDense_MulRows(Y, y)         A S^-1 g
//   snwDense_Gram(Y)               K = A S^-1 A^T = Y Y^T
//   ... lambda (active.h) ...
//   snwDense_AddRows(Y, lambda, y) y + Y^T lambda
//   snwDense_Backward(y)           S^-1 (g + A^T lambda)

#pragma once

#include "linalg/cholesky_kernels.h"

#include <stddef.h>

typedef struct snwDense
{
    const snwCholeskyKernels* kernels; // snwCholesky_Kernels(simd)
    int n;
    double* numbers; // [snwDense_Count(n)], 64-byte aligned as everything that snwAlloc gives
} snwDense;

size_t snwDense_Count(int n);

// Numbers that `count` rows of length n take in panels: eight rows to a panel, column by column.
size_t snwDense_PanelCount(int count, int n);

// L L^T = a. Of a only the lower triangle is read: row-major, a[i * stride + j], j <= i. Returns the index of the first
// pivot that is not positive or has lost all its digits; -1: none.
int snwDense_Factor(const snwDense* dense, const double* a, int stride);

// The least square on L's diagonal; 1 without any. What a row of a matrix with unit diagonal has of its own at least.
double snwDense_SmallestPivot(const snwDense* dense);

// x[n] in place: L^-1 x, L^-T x, both. x is 64-byte aligned.
void snwDense_Forward(const snwDense* dense, double* x);
void snwDense_Backward(const snwDense* dense, double* x);
void snwDense_Solve(const snwDense* dense, double* x);

// Y = B L^-T for `count` rows of B, row-major: b[i * stride + j], j < n. (So the columns of Y^T are L^-1 times those of
// B^T.) panels: [snwDense_PanelCount(count, n)], 64-byte aligned.
void snwDense_ForwardRows(const snwDense* dense, int count, const double* b, int stride, double* panels);

// k = Y Y^T, count x count, both triangles, row-major.
void snwDense_Gram(const snwDense* dense, int count, const double* panels, double* k, int stride);

void snwDense_MulRows(const snwDense* dense, int count, const double* panels, const double* x, double* out); // Y x
void snwDense_AddRows(const snwDense* dense, int count, const double* panels, const double* u, double* x); // x += Y^T u

// Row i of panels, back in a row of n numbers.
void snwDense_GetRow(const snwDense* dense, const double* panels, int i, double* row);
