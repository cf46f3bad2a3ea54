// Dense LU with row pivoting, right-looking in panels of eight columns, for Newton's systems of the Coulomb solver:
// not symmetric, a few hundred rows. A pivot below 1e-15 of the largest entry counts as singular.

#include "linalg/lu.h"

#include <math.h>
#include <stddef.h>

enum
{
    snw_luPanel = 8
};

static const double s_lost = 1e-15; // of the largest entry

static void SwapRows(double* a, double* b, int from, int to)
{
    for (int j = from; j < to; ++j)
    {
        double t = a[j];
        a[j] = b[j], b[j] = t;
    }
}

// Columns first .. end - 1, rows first .. n - 1; whole rows change places.
static bool FactorPanel(int n, double* a, size_t stride, int first, int end, double least, int* pivots)
{
    for (int k = first; k < end; ++k)
    {
        // The largest entry of the column that is left is the pivot.
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[(size_t)i * stride + (size_t)k]) > fabs(a[(size_t)pivot * stride + (size_t)k]))
                pivot = i;
        double* row = a + (size_t)k * stride;
        pivots[k] = pivot;
        if (pivot != k)
            SwapRows(row, a + (size_t)pivot * stride, 0, n);
        if (!(fabs(row[k]) > least))
            return false;

        // The column becomes L; what is right of it in the panel is reduced at once, the rest of the matrix later.
        double inverse = 1 / row[k];
        for (int i = k + 1; i < n; ++i)
        {
            double* other = a + (size_t)i * stride;
            double l = other[k] *= inverse;
            for (int j = k + 1; j < end; ++j)
                other[j] -= l * row[j];
        }
    }

    return true;
}

// other[from ..] -= sum of eight rows of U times a row of L: one pass over memory instead of eight.
static void SubtractRows(const double* l, const double* rows, size_t stride, int from, int n, double* restrict other)
{
    const double *u0 = rows, *u1 = u0 + stride, *u2 = u1 + stride, *u3 = u2 + stride;
    const double *u4 = u3 + stride, *u5 = u4 + stride, *u6 = u5 + stride, *u7 = u6 + stride;
    for (int j = from; j < n; ++j)
        other[j] -= ((l[0] * u0[j] + l[1] * u1[j]) + (l[2] * u2[j] + l[3] * u3[j])) +
                    ((l[4] * u4[j] + l[5] * u5[j]) + (l[6] * u6[j] + l[7] * u7[j]));
}

// One behind the last column, from `from` on, in which any of the rows has something.
static int LastColumn(const double* rows, size_t stride, int count, int from, int n)
{
    int last = from;
    for (int r = 0; r < count; ++r)
        for (int j = n; j > last; --j)
            if (rows[(size_t)r * stride + (size_t)j - 1] != 0)
                last = j;
    return last;
}

static bool IsZeroPanel(const double l[snw_luPanel])
{
    for (int k = 0; k < snw_luPanel; ++k)
        if (l[k] != 0)
            return false;
    return true;
}

bool snwLu_Factor(int n, double* a, int stride, int* pivots)
{
    size_t step = (size_t)stride;
    double largest = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
        {
            double size = fabs(a[(size_t)i * step + (size_t)j]);
            largest = size > largest ? size : largest;
        }
    if (!isfinite(largest))
        return false;

    for (int first = 0; first < n; first += snw_luPanel)
    {
        int end = first + snw_luPanel < n ? first + snw_luPanel : n;
        if (!FactorPanel(n, a, step, first, end, s_lost * largest, pivots))
            return false;
        double* top = a + (size_t)first * step;
        // A triangular solve with the panel's L.
        for (int i = first + 1; i < end; ++i) // rows of U
            for (int k = first; k < i; ++k)
            {
                double l = a[(size_t)i * step + (size_t)k];
                for (int j = end; j < n; ++j)
                    a[(size_t)i * step + (size_t)j] -= l * a[(size_t)k * step + (size_t)j];
            }

        // Only behind whole panels. Contacts of bodies in a row have much that is zero: rows that the panel does not
        // reach, and columns behind its last.
        int last = LastColumn(top, step, end - first, end, n);
        for (int i = end; i < n; ++i)
            if (!IsZeroPanel(a + (size_t)i * step + (size_t)first))
                SubtractRows(a + (size_t)i * step + (size_t)first, top, step, end, last, a + (size_t)i * step);
    }

    return true;
}

void snwLu_Solve(int n, const double* a, int stride, const int* pivots, double* x)
{
    // P b, then L y = P b, then U x = y.
    for (int k = 0; k < n; ++k)
        if (pivots[k] != k)
        {
            double t = x[k];
            x[k] = x[pivots[k]], x[pivots[k]] = t;
        }

    for (int i = 0; i < n; ++i)
    {
        const double* row = a + (size_t)i * (size_t)stride;
        double sum = x[i];
        for (int j = 0; j < i; ++j)
            sum -= row[j] * x[j];
        x[i] = sum;
    }

    for (int i = n; i-- > 0;)
    {
        const double* row = a + (size_t)i * (size_t)stride;
        double sum = x[i];
        for (int j = i + 1; j < n; ++j)
            sum -= row[j] * x[j];
        x[i] = sum / row[i];
    }
}
