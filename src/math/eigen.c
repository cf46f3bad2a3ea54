// Jacobi throughout: two-sided for symmetric matrices, one-sided (Hestenes 1958) for singular values.
//
// These are the references that the fast kernels are tested against and the last resort for what those decline, so
// being right for every input counts more than speed. Rejected: closed formulas through the characteristic
// polynomial, which lose half the digits near double eigenvalues; F^T F with an eigen-decomposition, which squares
// the condition; Golub-Kahan, longer and in 3x3 no faster. One-sided Jacobi finds even tiny singular values to full
// relative precision (Demmel and Veselic 1992).
//
// Every matrix is first scaled by a power of two, which is exact, so that squares stay in range.

#include "math/eigen.h"

#include <float.h>

enum
{
    SNW_MAX_SWEEPS = 30 // five or six are usual; convergence is quadratic
};

// Exponent e with 2^-e * largest in [0.5, 1), 0 for a zero matrix.
static int ScaleExponent(double largest)
{
    int exponent = 0;
    frexp(largest, &exponent);
    return exponent;
}

static snwMat3 ScaleByPower(snwMat3 a, int exponent)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] = scalbn(a.m[i][j], exponent);
    return a;
}

// tan, cos and sin of the angle that annihilates apq, the small one of the two (Golub and Van Loan, 8.5.2).
static double JacobiAngle(double app, double aqq, double apq, double* c, double* s)
{
    double d = aqq - app, n = 2 * apq;
    double t = n / (fabs(d) + sqrt(d * d + n * n));
    t = d < 0 ? -t : t;
    *c = 1 / sqrt(1 + t * t);
    *s = t * *c;
    return t;
}

// One two-sided rotation in the plane (p, q) of the symmetric A, with V gathering the product as rows.
static void RotatePlane(double A[4][4], double V[4][4], int n, int p, int q)
{
    double c, s, apq = A[p][q];
    double t = JacobiAngle(A[p][p], A[q][q], apq, &c, &s);
    A[p][p] -= t * apq;
    A[q][q] += t * apq;
    A[p][q] = A[q][p] = 0;

    // Rows p and q of A and, along with them, of V turn by the angle (c, s).
    for (int r = 0; r < n; r++)
    {
        if (r != p && r != q)
        {
            double arp = A[r][p], arq = A[r][q];
            A[r][p] = A[p][r] = c * arp - s * arq;
            A[r][q] = A[q][r] = s * arp + c * arq;
        }

        double vp = V[p][r], vq = V[q][r];
        V[p][r] = c * vp - s * vq;
        V[q][r] = s * vp + c * vq;
    }
}

// Cyclic Jacobi of the leading n x n part. An entry is done when it no longer changes its diagonal neighbours.
static inline void Diagonalize(double A[4][4], double V[4][4], int n)
{
    double tiny = DBL_MIN / DBL_EPSILON;
    for (int sweep = 0, rotations = 1; sweep < SNW_MAX_SWEEPS && rotations > 0; sweep++)
    {
        rotations = 0;
        for (int p = 0; p < n - 1; p++)
        {
            for (int q = p + 1; q < n; q++)
            {
                double scale = fabs(A[p][p]) + fabs(A[q][q]);
                if (fabs(A[p][q]) <= 0.125 * DBL_EPSILON * scale || fabs(A[p][q]) <= tiny)
                    continue;
                RotatePlane(A, V, n, p, q);
                rotations++;
            }
        }
    }
}

// Descending, swapping rows of V along; each swap flips a sign so that the determinant of V stays.
static void SortPairs(double values[4], double V[4][4], int n)
{
    // Bubble sort: four values at most.
    for (int i = 0; i < n - 1; i++)
    {
        for (int j = n - 1; j > i; j--)
        {
            if (!(values[j] > values[j - 1]))
                continue;
            double value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;

            for (int k = 0; k < n; k++)
            {
                double v = V[j][k];
                V[j][k] = -V[j - 1][k];
                V[j - 1][k] = v;
            }
        }
    }
}

// Scales, solves, sorts and scales back. False when A is not finite.
static inline bool SolveSymmetric(double A[4][4], double V[4][4], double values[4], int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
    {
        for (int j = 0; j < n; j++)
        {
            if (!isfinite(A[i][j]))
                return false;
            largest = fmax(largest, fabs(A[i][j]));
        }
    }

    // Scaled by a power of two, which rounds nothing, so that squares neither overflow nor vanish.
    int exponent = ScaleExponent(largest);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = scalbn(A[i][j], -exponent);
    Diagonalize(A, V, n);
    for (int i = 0; i < n; i++)
        values[i] = scalbn(A[i][i], exponent);
    SortPairs(values, V, n);

    return true;
}

snwEigen3 snwEigen3_Symmetric(snwMat3 a)
{
    double A[4][4] = {{0}}, V[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, values[4] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            A[i][j] = A[j][i] = a.m[i][j];
    if (!SolveSymmetric(A, V, values, 3))
        return (snwEigen3){{NAN, NAN, NAN}, snwMat3_Identity()};
    snwEigen3 out;
    for (int i = 0; i < 3; i++)
    {
        out.values[i] = values[i];
        for (int j = 0; j < 3; j++)
            out.vectors.m[j][i] = V[i][j];
    }
    return out;
}

snwEigen4 snwEigen4_Symmetric(const double a[4][4])
{
    snwEigen4 out = {{NAN, NAN, NAN, NAN}, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    double A[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = i; j < 4; j++)
            A[i][j] = A[j][i] = a[i][j];
    SolveSymmetric(A, out.vectors, out.values, 4);
    return out;
}

// Turns columns g[p], g[q] of G until they are orthogonal, and V with them. False when they already were.
static bool Orthogonalize(snwVec3 g[3], snwVec3 v[3], int p, int q)
{
    double a = snwVec3_Dot(g[p], g[p]), b = snwVec3_Dot(g[q], g[q]), d = snwVec3_Dot(g[p], g[q]);
    // A column below 1e-130 of the largest entry is zero for every purpose, and its square is not a number to trust.
    if (fabs(d) <= 0.5 * DBL_EPSILON * sqrt(a) * sqrt(b) || a < 1e-260 || b < 1e-260)
        return false;
    double c, s;
    JacobiAngle(a, b, d, &c, &s);
    snwVec3 gp = g[p], vp = v[p];
    g[p] = snwVec3_Sub(snwVec3_Scale(gp, c), snwVec3_Scale(g[q], s));
    g[q] = snwVec3_Add(snwVec3_Scale(gp, s), snwVec3_Scale(g[q], c));
    v[p] = snwVec3_Sub(snwVec3_Scale(vp, c), snwVec3_Scale(v[q], s));
    v[q] = snwVec3_Add(snwVec3_Scale(vp, s), snwVec3_Scale(v[q], c));
    return true;
}

// Longest column first; a swap flips one sign so that V stays a proper rotation.
static void SwapIfShorter(snwVec3 g[3], snwVec3 v[3], int p, int q)
{
    if (!(snwVec3_LengthSquared(g[p]) < snwVec3_LengthSquared(g[q])))
        return;
    snwVec3 gp = g[p], vp = v[p];
    g[p] = g[q];
    v[p] = v[q];
    g[q] = snwVec3_Negate(gp);
    v[q] = snwVec3_Negate(vp);
}

// U from the orthogonal columns of G = F V. The third column follows from the first two, which puts the sign of the
// determinant into sigma[2] and completes U when F has rank two; lower ranks get any perpendicular direction.
static void FillFromColumns(snwSvd3* out, const snwVec3 g[3])
{
    snwVec3 u0 = snwVec3_Normalize(g[0]);
    if (snwVec3_LengthSquared(u0) == 0)
        u0 = (snwVec3){1, 0, 0};
    snwVec3 u1 = snwVec3_Normalize(g[1]);
    u1 = snwVec3_Normalize(snwVec3_MulAdd(u1, -snwVec3_Dot(u0, u1), u0));
    if (snwVec3_LengthSquared(u1) == 0 || fabs(snwVec3_Dot(u0, u1)) > 1e-12)
        u1 = snwVec3_Perpendicular(u0);
    snwVec3 u2 = snwVec3_Cross(u0, u1);
    out->U = snwMat3_FromColumns(u0, u1, u2);
    out->sigma[0] = snwVec3_Dot(u0, g[0]);
    out->sigma[1] = fmax(snwVec3_Dot(u1, g[1]), 0);
    out->sigma[2] = fmin(fmax(snwVec3_Dot(u2, g[2]), -out->sigma[1]), out->sigma[1]);
}

snwSvd3 snwSvd3_Signed(snwMat3 F)
{
    snwSvd3 out = {snwMat3_Identity(), snwMat3_Identity(), {NAN, NAN, NAN}};
    if (!snwMat3_IsFinite(F))
        return out;

    // The columns of F are turned against each other until they are at right angles: F V = U sigma (Hestenes 1958).
    int exponent = ScaleExponent(snwMat3_LargestEntry(F));
    snwMat3 G = ScaleByPower(F, -exponent);
    snwVec3 g[3], v[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int j = 0; j < 3; j++)
        g[j] = snwMat3_Column(G, j);
    bool moved = true;

    for (int sweep = 0; sweep < SNW_MAX_SWEEPS && moved; sweep++)
    {
        moved = Orthogonalize(g, v, 0, 1);
        moved = Orthogonalize(g, v, 0, 2) || moved;
        moved = Orthogonalize(g, v, 1, 2) || moved;
    }

    // From the longest to the shortest, the sign of the determinant with the last.
    SwapIfShorter(g, v, 0, 1);
    SwapIfShorter(g, v, 0, 2);
    SwapIfShorter(g, v, 1, 2);
    FillFromColumns(&out, g);
    out.V = snwMat3_FromColumns(v[0], v[1], v[2]);
    for (int i = 0; i < 3; i++)
        out.sigma[i] = scalbn(out.sigma[i], exponent);

    return out;
}

snwPolar3 snwPolar3_Compute(snwMat3 F)
{
    snwSvd3 svd = snwSvd3_Signed(F);
    snwPolar3 out = {snwMat3_Identity(), {svd.sigma[0], svd.sigma[1], svd.sigma[2]}, 0};
    if (!(svd.sigma[0] > 0))
        return out;
    out.rotation = snwMat3_MulTranspose(svd.U, svd.V);
    // Each term on its own: the sum may overflow where the ratio does not.
    out.uniqueness = svd.sigma[1] / svd.sigma[0] + svd.sigma[2] / svd.sigma[0];
    return out;
}
