// Small dense symmetric matrices that may be singular: A = J^T J of columns of which some depend on others.
//
// Rows are scaled to unit diagonal first, so that unlike units do not mix. Rows whose column is, but for 1e-6 of its
// length (a pivot of 1e-12), a combination of columns that are kept are left out, and their unknowns are zero. Then
// J^T (b - J x) is small in every row, also in those left out.
//
// What may be left out is guessed from a factor made before (of the rest pose, say) and checked against the new matrix,
// so that a rig with superfluous handles costs no more than another. Only where the guess is wrong all pivots are
// sought anew, which is some ten times slower than the factor itself. The result does depend on the guess, within the
// limit above: always give the same one.

#pragma once

#include "base/context.h"
#include "linalg/dense.h"

// What to keep: the first `kept` of n rows in this order.
typedef struct snwSemidefiniteOrder
{
    int kept;
    int* rows;
} snwSemidefiniteOrder;

typedef struct snwSemidefinite
{
    int n;
    double* matrix; // [n n]: the caller puts the lower triangle here, row-major; scaled by the factor
    snwSemidefiniteOrder order;
    double smallestPivot; // of the scaled matrix, rows kept; 1 / its root is about how much larger than the right side
                          // a solution may be
    double* scales;       // [n] 1 / sqrt(A_ii); 0 for rows of nothing
    snwDense dense;       // of the rows kept
    double* numbers;
    double* rows;   // [n n] rows gathered, or the columns of the pivoted factor
    double* panels; // rows left out, behind the factor
    double* right;  // [n] right sides, or what is left of the diagonal
} snwSemidefinite;

snwResult snwSemidefinite_Create(snwContext* context, int n, snwSemidefinite* s, snwMessage* message);
void snwSemidefinite_Free(snwContext* context, snwSemidefinite* s);

// guess: NULL, or the order of a factor of the same size, tried first. Never fails: what cannot be factored is
// left out. Entries must be finite.
void snwSemidefinite_Factor(snwSemidefinite* s, const snwSemidefiniteOrder* guess);

// x[n] in place. Works in the memory of the factor.
void snwSemidefinite_Solve(snwSemidefinite* s, double* x);
