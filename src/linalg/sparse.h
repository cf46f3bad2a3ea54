// Sparse matrices, and assembly into a pattern that stays.
//
// A matrix is stored by rows with sorted columns. A symmetric one is stored once, as its lower triangle (column <=
// row), with an index of the mirrored half so that a product still walks whole rows: every row is written by one
// thread, in one order, and the bits do not depend on the number of threads.
//
// Assembly: the pattern is made once from the places (row, column) of all contributions; it remembers which
// contributions make up each entry. Assembling again is then one stream of additions per entry, in the order of the
// contributions, without a search and in parallel.
//
//   snwPatternDef def = {.rows = n, .columns = n, .symmetric = true, .count = count, .rowOf = r, .columnOf = c};
//   snwPattern* pattern;  snwPattern_Create(context, &def, &pattern, message);
//   snwPattern_Assemble(pattern, contributions);      // again and again
//   snwSparse_Multiply(context, snwPattern_Matrix(pattern), x, y, 3);

#pragma once

#include "base/context.h"

// At most INT_MAX entries. Views are fine: nothing here frees a snwSparse that its caller filled in.
typedef struct snwSparse
{
    int rows, columns;
    bool symmetric;     // rows == columns, and only entries with column <= row are stored
    int* starts;        // [rows + 1]: entries of row i are starts[i] .. starts[i + 1] - 1
    int* indices;       // [count] columns, rising within a row
    double* values;     // [count]
    int* mirrorStarts;  // symmetric only, may be NULL (then no products): entries of column i below the diagonal
    int* mirrorIndices; // their rows
    int* mirrorSlots;   // where their values are
} snwSparse;

static inline int snwSparse_Count(const snwSparse* matrix)
{
    return matrix->starts[matrix->rows];
}

// The stored value at (row, column), 0 if there is none; looks across the diagonal of a symmetric matrix.
double snwSparse_At(const snwSparse* matrix, int row, int column);

// y = A x for `width` right sides side by side: x[width * column + k], y[width * row + k]. x and y do not overlap.
void snwSparse_Multiply(snwContext* context, const snwSparse* matrix, const double* x, double* y, int width);

// y = A^T x, one thread. The same as Multiply for a symmetric matrix.
void snwSparse_MultiplyTransposed(snwContext* context, const snwSparse* matrix, const double* x, double* y, int width);

// New matrices of the caller, to be freed with snwSparse_Free. Full: both halves of a symmetric matrix stored.
snwResult snwSparse_Transpose(snwContext* context, const snwSparse* matrix, snwSparse* out, snwMessage* message);
snwResult snwSparse_Full(snwContext* context, const snwSparse* matrix, snwSparse* out, snwMessage* message);
void snwSparse_Free(snwContext* context, snwSparse* matrix);

// Sorted, in range, finite, symmetric ones in their lower half: for matrices that come from elsewhere.
snwResult snwSparse_Check(const snwSparse* matrix, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Patterns

typedef struct snwPattern snwPattern;

typedef struct snwPatternDef
{
    int rows, columns;
    bool symmetric;      // an entry above the diagonal is folded to its mirror image: give each pair once
    bool diagonal;       // every diagonal entry exists, also where nothing contributes (square only)
    int count;           // contributions
    const int* rowOf;    // [count]; a negative row or column drops the contribution (a fixed vertex, say)
    const int* columnOf; // [count]
} snwPatternDef;

// Out of range indices are an error (snw_errorInput).
snwResult snwPattern_Create(snwContext* context, const snwPatternDef* def, snwPattern** out, snwMessage* message);

// The symmetric pattern of elements of `size` nodes each. Element e contributes size (size + 1) / 2 numbers, its lower
// triangle by rows: number e * size (size + 1) / 2 + a (a + 1) / 2 + b is the entry of nodes a >= b. Negative nodes
// are left out.
typedef struct snwElementPatternDef
{
    int nodeCount;
    int elementCount;
    int size;         // nodes per element, 1 .. 64
    const int* nodes; // [elementCount * size]
} snwElementPatternDef;

snwResult snwPattern_CreateFromElements(
    snwContext* context, const snwElementPatternDef* def, snwPattern** out, snwMessage* message);

void snwPattern_Destroy(snwPattern* pattern); // NULL allowed

// The matrix: its pattern is fixed, its values are those of the last assembly (0 before). It lives as long as the
// pattern.
snwSparse* snwPattern_Matrix(snwPattern* pattern);

// The slot (index into values) of a contribution, -1 if it was dropped; for changes of single entries.
int snwPattern_Slot(const snwPattern* pattern, int contribution);

// Every entry becomes the sum of its contributions, added in rising order. Add: on top of what is there.
void snwPattern_Assemble(snwPattern* pattern, const double* contributions);
void snwPattern_Add(snwPattern* pattern, const double* contributions);
