// Eigenvalues and eigenvectors of dense symmetric matrices by cyclic Jacobi rotations: the most accurate method for
// small ones, with vectors at right angles to rounding.

#include "linalg/symmetric.h"

#include <math.h>
#include <stddef.h>

enum
{
    symmetric_maxSweeps = 40 // eight are usual
};

typedef struct Turn
{
    double c, s;
} Turn;

// What makes a[p][q] zero, by the smaller of the two angles (Golub and Van Loan, section 8.5.2).
static Turn FindTurn(double app, double apq, double aqq)
{
    double tau = (aqq - app) / (2 * apq), t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
    double c = 1 / sqrt(1 + t * t);
    return (Turn){c, t * c};
}

static void TurnRows(double* p, double* q, int n, Turn turn)
{
    for (int k = 0; k < n; ++k)
    {
        double x = p[k], y = q[k];
        p[k] = turn.c * x - turn.s * y;
        q[k] = turn.s * x + turn.c * y;
    }
}

static void TurnColumns(double* a, int n, int p, int q, Turn turn)
{
    for (int k = 0; k < n; ++k)
    {
        double* row = a + (size_t)k * (size_t)n;
        double x = row[p], y = row[q];
        row[p] = turn.c * x - turn.s * y;
        row[q] = turn.s * x + turn.c * y;
    }
}

// One pass over all pairs; returns how many were more than nothing.
static int SweepPairs(int n, double* a, double* vectors, double nothing)
{
    int turned = 0;
    size_t width = (size_t)n;
    for (int p = 0; p < n; ++p)
        for (int q = p + 1; q < n; ++q)
        {
            double *rowP = a + (size_t)p * width, *rowQ = a + (size_t)q * width, apq = rowP[q];
            if (!(fabs(apq) > nothing))
                continue;
            Turn turn = FindTurn(rowP[p], apq, rowQ[q]);
            TurnRows(rowP, rowQ, n, turn);
            TurnColumns(a, n, p, q, turn);
            TurnRows(vectors + (size_t)p * width, vectors + (size_t)q * width, n, turn);
            rowP[q] = rowQ[p] = 0;
            ++turned;
        }
    return turned;
}

static void SwapVectorRows(double* a, double* b, int n)
{
    for (int k = 0; k < n; ++k)
    {
        double kept = a[k];
        a[k] = b[k];
        b[k] = kept;
    }
}

static void MakePositive(double* row, int n)
{
    int largest = 0;
    for (int k = 1; k < n; ++k)
        largest = fabs(row[k]) > fabs(row[largest]) ? k : largest;
    for (int k = 0; k < n && row[largest] < 0; ++k)
        if (k != largest)
            row[k] = -row[k];
    row[largest] = fabs(row[largest]);
}

void snwSymmetric_Eigen(int n, double* a, double* values, double* vectors)
{
    // Rotations until no entry beside the diagonal is more than rounding of the largest.
    size_t width = (size_t)n;
    for (size_t i = 0; i < width * width; ++i)
        vectors[i] = i % (width + 1) == 0;
    double largest = 0;
    for (size_t i = 0; i < width * width; ++i)
        largest = fmax(largest, fabs(a[i]));
    for (int sweep = 0; sweep < symmetric_maxSweeps && SweepPairs(n, a, vectors, 1e-16 * largest) > 0; ++sweep)
        continue;
    for (size_t i = 0; i < width; ++i)
        values[i] = a[i * width + i];

    // Largest first, and a fixed sign, so that equal matrices give equal vectors.
    for (int i = 0; i < n; ++i)
    {
        int best = i;
        for (int k = i + 1; k < n; ++k)
            best = values[k] > values[best] ? k : best;
        if (best != i)
        {
            SwapVectorRows(&values[i], &values[best], 1);
            SwapVectorRows(vectors + (size_t)i * width, vectors + (size_t)best * width, n);
        }

        MakePositive(vectors + (size_t)i * width, n);
    }
}
