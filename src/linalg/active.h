// Forces of joints, limits and motors: a small linear complementarity problem with equations.
//
//   equal     (K lambda)_i = b_i
//   soft      (K lambda)_i + compliance_i lambda_i = b_i
//   at least  (K lambda)_i + compliance_i lambda_i >= b_i, lambda_i >= 0, one of the two being an equality
//
// K = A S^-1 A^T is symmetric, positive semidefinite and often singular: closed loops and pins that say the same twice.
// Then lambda is one of many, and A^T lambda what counts. Rows that contradict each other meet in between.

#pragma once

#include "linalg/dense.h"

#include <stdbool.h>

typedef struct snwActiveDef
{
    const snwCholeskyKernels* kernels;
    int count;
    const double* k; // row-major, both triangles
    int stride;
    const double* compliance; // [count], >= 0
    const double* b;          // [count]
    const bool* atLeast;      // [count]; others are equal or, with a compliance, soft
    bool* active;             // [count] in: rows at least that probably push (all false is a good guess); out: do push
    double* lambda;           // [count] out
    double* scratch;          // [snwActive_ScratchCount(count)], 64-byte aligned
    bool again; // all but b and active is as it was in the last call with this scratch, which had at least
                // one pivot: what was factored then still serves
} snwActiveDef;

typedef struct snwActiveReport
{
    int pivots; // sets that were tried; 0: K is not a matrix of this kind
    bool exact; // false: no set was found, and lambda is what relaxation came to (0 if K is not a matrix of this kind)
} snwActiveReport;

size_t snwActive_ScratchCount(int count);
snwActiveReport snwActive_Solve(const snwActiveDef* def);
