// The dense work within one node, in panels of eight rows (see cholesky.c).

#include "linalg/cholesky_kernels.h"

#include <math.h>
#include <string.h>

// A pivot that has lost all digits of its diagonal entry: the matrix is singular for all we can tell.
static const double s_smallestPivot = 1e-14;

// Lower triangle of the panel's last square, in place. Returns the column whose pivot fails, -1: none.
static int FactorSquare(double* square, int count, const double* diagonal)
{
    for (int j = 0; j < count; ++j)
    {
        double pivot = square[8 * j + j];
        if (!(pivot > s_smallestPivot * fabs(diagonal[j])) || !isfinite(pivot))
            return j;
        pivot = sqrt(pivot);
        square[8 * j + j] = pivot;
        for (int r = j + 1; r < count; ++r)
            square[8 * j + r] /= pivot;
        for (int c = j + 1; c < count; ++c)
            for (int r = c; r < count; ++r)
                square[8 * c + r] -= square[8 * j + r] * square[8 * j + c];
    }
    return -1;
}

static void InvertSquare(double* square, int count)
{
    double inverse[64] = {0};
    for (int j = 0; j < count; ++j)
    {
        inverse[8 * j + j] = 1 / square[8 * j + j];
        for (int r = j + 1; r < count; ++r)
        {
            double sum = 0;
            for (int k = j; k < r; ++k)
                sum += square[8 * k + r] * inverse[8 * j + k];
            inverse[8 * j + r] = -sum / square[8 * r + r];
        }
    }
    memcpy(square, inverse, 8 * (size_t)count * sizeof *square);
}

// Takes the columns before `first` out of the panel's columns first .. first + count - 1.
static void ReducePanel(const snwCholeskyKernels* kernels, double* panel, const double* pivots, int first, int count)
{
    _Alignas(64) double tile[32];
    for (int half = 0; half < count && first > 0; half += 4)
    {
        kernels->tile(panel, pivots + half, first, tile);
        double* out = panel + 8 * (first + half);
        for (int i = 0; i < 8 * (count - half < 4 ? count - half : 4); ++i)
            out[i] -= tile[i];
    }
}

// Columns first .. of the panel times the inverse square, transposed.
static void ScalePanel(const snwCholeskyKernels* kernels, double* panel, const double* inverse, int first, int count)
{
    _Alignas(64) double tiles[2][32];
    for (int half = 0; half < count; half += 4)
        kernels->tile(panel + 8 * first, inverse + half, count, tiles[half / 4]);
    memcpy(panel + 8 * first, tiles, 8 * (size_t)count * sizeof *panel);
}

void snwCholesky_FinishPanel(
    const snwCholeskyKernels* kernels, double* panel, const double* pivots, int first, int count)
{
    ReducePanel(kernels, panel, pivots, first, count);
    ScalePanel(kernels, panel, pivots + 8 * first, first, count);
}

int snwCholeskyNode_Factor(
    const snwCholeskyKernels* kernels, const snwCholeskyNode* node, double* values, const double* diagonal)
{
    int panels = (node->columns + 7) / 8, below = (node->rowCount + 7) / 8;
    for (int p = 0; p < panels; ++p)
    {
        int first = 8 * p, count = node->columns - first < 8 ? node->columns - first : 8;
        double *pivots = snwCholeskyNode_DiagonalPanel(node, values, p), *square = pivots + 8 * first;
        ReducePanel(kernels, pivots, pivots, first, count);

        // The inverse of the square is kept in its place: the panels below then take a product instead of a solution.
        int failed = FactorSquare(square, count, diagonal + first);
        if (failed >= 0)
            return first + failed;
        InvertSquare(square, count);
        for (int q = p + 1; q < panels; ++q)
            snwCholesky_FinishPanel(kernels, snwCholeskyNode_DiagonalPanel(node, values, q), pivots, first, count);
        for (int q = 0; q < below; ++q)
            snwCholesky_FinishPanel(
                kernels, values + node->below + (int64_t)q * 8 * node->columns, pivots, first, count);
    }

    return -1;
}
