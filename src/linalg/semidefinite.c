// Cholesky of matrices that may be singular: rows that the kept ones span are left out. A guessed order is checked
// first; only where it is wrong all pivots are sought. See semidefinite.h.

#include "linalg/semidefinite.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double s_smallestPivot = 1e-12; // of a unit diagonal: the square of 1e-6

// ---------------------------------------------------------------------------------------------------------------------
// Memory

snwResult snwSemidefinite_Create(snwContext* context, int n, snwSemidefinite* s, snwMessage* message)
{
    size_t count = (size_t)n;
    *s = (snwSemidefinite){.n = n, .dense = {.kernels = snwCholesky_Kernels(context->simd)}};
    s->matrix = snwAllocArray(context, count * count, sizeof *s->matrix);
    s->order.rows = snwAllocArray(context, count, sizeof *s->order.rows);
    s->scales = snwAllocArray(context, count, sizeof *s->scales);
    s->numbers = snwAllocArray(context, snwDense_Count(n), sizeof *s->numbers);
    s->rows = snwAllocArray(context, count * count, sizeof *s->rows);
    s->panels = snwAllocArray(context, snwDense_PanelCount(n, n), sizeof *s->panels);
    s->right = snwAllocArray(context, count, sizeof *s->right);
    s->dense.numbers = s->numbers;
    if (s->matrix != NULL && s->order.rows != NULL && s->scales != NULL && s->numbers != NULL && s->rows != NULL &&
        s->panels != NULL && s->right != NULL)
        return snw_ok;
    snwSemidefinite_Free(context, s);
    return snwFailMemory(message);
}

void snwSemidefinite_Free(snwContext* context, snwSemidefinite* s)
{
    snwFree(context, s->matrix);
    snwFree(context, s->order.rows);
    snwFree(context, s->scales);
    snwFree(context, s->numbers);
    snwFree(context, s->rows);
    snwFree(context, s->panels);
    snwFree(context, s->right);
    *s = (snwSemidefinite){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Factor

// The lower triangle, to unit diagonal.
static void ScaleDiagonal(snwSemidefinite* s)
{
    size_t n = (size_t)s->n;
    for (size_t i = 0; i < n; ++i)
    {
        double diagonal = s->matrix[i * n + i];
        s->scales[i] = diagonal > DBL_MIN ? 1 / sqrt(diagonal) : 0;
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j)
            s->matrix[i * n + j] *= s->scales[i] * s->scales[j];
}

static double MatrixEntry(const snwSemidefinite* s, int i, int j)
{
    return i >= j ? s->matrix[(size_t)i * (size_t)s->n + (size_t)j] : s->matrix[(size_t)j * (size_t)s->n + (size_t)i];
}

// Entries of row order[i] in the columns order[0 .. columns - 1].
static void GatherEntries(const snwSemidefinite* s, int i, int columns, double* row)
{
    for (int j = 0; j < columns; ++j)
        row[j] = MatrixEntry(s, s->order.rows[i], s->order.rows[j]);
}

// Factors the matrix of the first `kept` rows in order. Returns how many of them could be factored.
static int FactorKept(snwSemidefinite* s, int kept)
{
    for (int i = 0; i < kept; ++i)
        GatherEntries(s, i, i + 1, s->rows + (size_t)i * (size_t)kept);
    s->dense.n = kept;
    int failed = snwDense_Factor(&s->dense, s->rows, kept > 0 ? kept : 1);
    return failed < 0 ? kept : failed;
}

// Is every row that is left out a combination of the kept ones? What is left of its unit length says so.
static bool OthersDepend(snwSemidefinite* s)
{
    int kept = s->dense.n, count = 0;
    for (int i = kept; i < s->n; ++i)
        if (s->scales[s->order.rows[i]] > 0)
            GatherEntries(s, i, kept, s->rows + (size_t)count++ * (size_t)kept);
    snwDense_ForwardRows(&s->dense, count, s->rows, kept, s->panels);
    bool depend = true;
    for (int i = 0; i < count && depend; ++i)
    {
        double length2 = 0;
        snwDense_GetRow(&s->dense, s->panels, i, s->right);
        for (int j = 0; j < kept; ++j)
            length2 += s->right[j] * s->right[j];
        depend = 1 - length2 <= s_smallestPivot;
    }
    return depend;
}

// Rows of nothing last, else as they come.
static int NaturalOrder(snwSemidefinite* s)
{
    int kept = 0, last = s->n;
    for (int i = 0; i < s->n; ++i)
        s->order.rows[s->scales[i] > 0 ? kept++ : --last] = i;
    return kept;
}

// The guess's rows are all in use: one that has become nothing would be a pivot of nothing.
static int TakeOrderGuess(snwSemidefinite* s, const snwSemidefiniteOrder* guess)
{
    memcpy(s->order.rows, guess->rows, (size_t)s->n * sizeof *s->order.rows);
    for (int i = 0; i < guess->kept; ++i)
        if (!(s->scales[s->order.rows[i]] > 0))
            return -1;
    return guess->kept;
}

static bool TryOrder(snwSemidefinite* s, int kept)
{
    if (kept < 0 || FactorKept(s, kept) < kept || snwDense_SmallestPivot(&s->dense) < s_smallestPivot)
        return false;
    s->order.kept = kept;
    return OthersDepend(s);
}

static void Swap(int* a, int* b)
{
    int kept = *a;
    *a = *b, *b = kept;
}

static int LargestFrom(const snwSemidefinite* s, int first)
{
    int largest = first;
    for (int i = first + 1; i < s->n; ++i)
        if (s->right[s->order.rows[i]] > s->right[s->order.rows[largest]])
            largest = i;
    return largest;
}

// Column `step` of the pivoted factor for all rows; columns are kept one after the other, each with n numbers.
static void PivotColumn(snwSemidefinite* s, int step)
{
    size_t n = (size_t)s->n;
    int pivot = s->order.rows[step];
    double *column = s->rows + (size_t)step * n, *left = s->right;
    for (int i = 0; i < s->n; ++i)
        column[i] = MatrixEntry(s, i, pivot);

    // Minus what the earlier columns explain.
    for (int t = 0; t < step; ++t)
    {
        const double* before = s->rows + (size_t)t * n;
        double f = before[pivot];
        for (size_t i = 0; i < n; ++i)
            column[i] -= f * before[i];
    }

    // Scaled by its pivot; the other rows' remaining lengths shrink by what this column explains.
    double f = 1 / sqrt(left[pivot]);
    for (size_t i = 0; i < n; ++i)
        column[i] *= f;
    for (int i = step + 1; i < s->n; ++i)
        left[s->order.rows[i]] -= column[s->order.rows[i]] * column[s->order.rows[i]];
}

// Cholesky's factor with the largest pivot first, only to learn the order. Returns how many rows are worth keeping.
static int PivotOrder(snwSemidefinite* s)
{
    int count = NaturalOrder(s);
    for (int i = 0; i < s->n; ++i)
        s->right[i] = s->scales[i] > 0 ? 1 : 0;
    for (int step = 0; step < count; ++step)
    {
        Swap(&s->order.rows[step], &s->order.rows[LargestFrom(s, step)]);
        if (!(s->right[s->order.rows[step]] > s_smallestPivot))
            return step;
        PivotColumn(s, step);
    }
    return count;
}

void snwSemidefinite_Factor(snwSemidefinite* s, const snwSemidefiniteOrder* guess)
{
    ScaleDiagonal(s);
    if (!TryOrder(s, guess != NULL ? TakeOrderGuess(s, guess) : NaturalOrder(s)))
    {
        // In the order of falling pivots rounding alone can fail the last ones, and they are left out too.
        int kept = PivotOrder(s);
        while ((s->order.kept = FactorKept(s, kept)) < kept)
            kept = s->order.kept;
    }
    s->smallestPivot = snwDense_SmallestPivot(&s->dense);
}

void snwSemidefinite_Solve(snwSemidefinite* s, double* x)
{
    double* work = s->right;
    for (int i = 0; i < s->order.kept; ++i)
        work[i] = x[s->order.rows[i]] * s->scales[s->order.rows[i]];
    snwDense_Solve(&s->dense, work);
    memset(x, 0, (size_t)s->n * sizeof *x);
    for (int i = 0; i < s->order.kept; ++i)
        x[s->order.rows[i]] = work[i] * s->scales[s->order.rows[i]];
}
