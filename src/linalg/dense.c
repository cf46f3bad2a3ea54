// One dense node: panels of eight rows in the layout of the sparse factor, so that its kernels serve here too. A
// row-major factor in place was not taken: every product would have to repack its operands, and a second set of
// kernels would have to be kept to the same bits.

#include "linalg/dense.h"

#include <assert.h>
#include <string.h>

static int Panels(int count)
{
    return (count + 7) / 8;
}

static size_t FactorCount(int n)
{
    size_t panels = (size_t)Panels(n);
    return 32 * panels * (panels + 1);
}

// The factor, then eight lanes for each column of a backward sweep, then the matrix's diagonal.
size_t snwDense_Count(int n)
{
    return FactorCount(n) + 9 * 8 * (size_t)Panels(n);
}

size_t snwDense_PanelCount(int count, int n)
{
    return 8 * (size_t)Panels(count) * (size_t)n;
}

static snwCholeskyNode NodeOf(const snwDense* dense)
{
    return (snwCholeskyNode){.columns = dense->n, .below = (int64_t)FactorCount(dense->n)};
}

static double* LanesOf(const snwDense* dense)
{
    return dense->numbers + FactorCount(dense->n);
}

// ---------------------------------------------------------------------------------------------------------------------
// Factor

// Rows row .. row + 7 of a row-major matrix, as far as there are any, into a panel of `columns` columns; 0 beyond.
static void PackPanel(const double* a, size_t stride, int rows, int columns, double* panel)
{
    if (rows < 8)
        memset(panel, 0, 8 * (size_t)columns * sizeof *panel);
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            panel[8 * c + r] = a[(size_t)r * stride + (size_t)c];
}

static int RowsFrom(int row, int count)
{
    return count - row < 8 ? count - row : 8;
}

int snwDense_Factor(const snwDense* dense, const double* a, int stride)
{
    assert(dense->n >= 0 && stride >= dense->n);
    snwCholeskyNode node = NodeOf(dense);
    double* diagonal = LanesOf(dense) + 8 * 8 * (size_t)Panels(dense->n);
    for (int row = 0; row < dense->n; row += 8)
    {
        int rows = RowsFrom(row, dense->n);
        double* panel = snwCholeskyNode_DiagonalPanel(&node, dense->numbers, row / 8);
        // The square's upper half is not part of L, and comes along only to be overwritten.
        PackPanel(a + (size_t)row * (size_t)stride, (size_t)stride, rows, row + rows, panel);
        for (int r = 0; r < rows; ++r)
            diagonal[row + r] = panel[8 * (row + r) + r];
    }
    return snwCholeskyNode_Factor(dense->kernels, &node, dense->numbers, diagonal);
}

double snwDense_SmallestPivot(const snwDense* dense)
{
    snwCholeskyNode node = NodeOf(dense);
    double largest = 1; // of the inverse, which is what the panels hold
    for (int i = 0; i < dense->n; ++i)
    {
        double inverse = snwCholeskyNode_DiagonalPanel(&node, dense->numbers, i / 8)[8 * i + i % 8];
        largest = i == 0 || inverse > largest ? inverse : largest;
    }
    return 1 / (largest * largest);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sweeps

void snwDense_Forward(const snwDense* dense, double* x)
{
    snwCholeskyNode node = NodeOf(dense);
    dense->kernels->forwardDouble[0](&node, dense->numbers, NULL, x);
}

void snwDense_Backward(const snwDense* dense, double* x)
{
    snwCholeskyNode node = NodeOf(dense);
    dense->kernels->backwardDouble[0](&node, dense->numbers, NULL, x, LanesOf(dense));
}

void snwDense_Solve(const snwDense* dense, double* x)
{
    snwDense_Forward(dense, x);
    snwDense_Backward(dense, x);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

void snwDense_ForwardRows(const snwDense* dense, int count, const double* b, int stride, double* panels)
{
    snwCholeskyNode node = NodeOf(dense);
    for (int row = 0; row < count; row += 8, panels += 8 * (size_t)dense->n)
    {
        PackPanel(b + (size_t)row * (size_t)stride, (size_t)stride, RowsFrom(row, count), dense->n, panels);
        for (int first = 0; first < dense->n; first += 8)
            snwCholesky_FinishPanel(dense->kernels, panels,
                snwCholeskyNode_DiagonalPanel(&node, dense->numbers, first / 8), first, RowsFrom(first, dense->n));
    }
}

// Entries row .. row + 7, column .. column + 3, and their mirror images.
static void PutTile(const double* tile, int row, int column, int count, double* k, size_t stride)
{
    for (int j = column; j < column + 4 && j < count; ++j)
        for (int i = row; i < row + 8 && i < count; ++i)
            k[(size_t)i * stride + (size_t)j] = k[(size_t)j * stride + (size_t)i] = tile[8 * (j - column) + i - row];
}

void snwDense_Gram(const snwDense* dense, int count, const double* panels, double* k, int stride)
{
    _Alignas(64) double tile[32];
    for (int row = 0; row < count; row += 8)
    {
        for (int column = 0; column < row + 8 && column < count; column += 4)
        {
            const double* other = panels + (size_t)(column / 8) * 8 * (size_t)dense->n + column % 8;
            dense->kernels->tile(panels + (size_t)row * (size_t)dense->n, other, dense->n, tile);
            PutTile(tile, row, column, count, k, (size_t)stride);
        }
    }
}

void snwDense_MulRows(const snwDense* dense, int count, const double* panels, const double* x, double* out)
{
    for (int row = 0; row < count; row += 8, panels += 8 * (size_t)dense->n)
    {
        double sums[8] = {0};
        for (int c = 0; c < dense->n; ++c)
            for (int r = 0; r < 8; ++r)
                sums[r] += panels[8 * c + r] * x[c];
        memcpy(out + row, sums, (size_t)RowsFrom(row, count) * sizeof *out);
    }
}

void snwDense_AddRows(const snwDense* dense, int count, const double* panels, const double* u, double* x)
{
    for (int row = 0; row < count; row += 8, panels += 8 * (size_t)dense->n)
    {
        double own[8] = {0};
        memcpy(own, u + row, (size_t)RowsFrom(row, count) * sizeof *u);
        for (int c = 0; c < dense->n; ++c)
        {
            double v[8];
            for (int r = 0; r < 8; ++r)
                v[r] = panels[8 * c + r] * own[r];
            x[c] += ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
        }
    }
}

void snwDense_GetRow(const snwDense* dense, const double* panels, int i, double* row)
{
    const double* panel = panels + (size_t)(i / 8) * 8 * (size_t)dense->n + i % 8;
    for (int c = 0; c < dense->n; ++c)
        row[c] = panel[8 * c];
}
