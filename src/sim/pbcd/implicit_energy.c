// Derivatives of the implicit step's energies, exact, and made semidefinite where Newton's method needs it.
//
// A tet's Hessian is B^T H B with the constant map B from corners to F, so it is enough to know the 9 x 9 matrix H over
// F, row by row, and to make that one semidefinite. No eigenvalues of large matrices are needed for it:
//
// Densities of |F| and det F. With q = bulk (J - rest) - slope, J = det F, F = U S V^T, and D = U^T dF V,
//     dF H dF = shear |D|^2 + bulk (sum_i c_i D_ii)^2 + 2 q sum_k s_k (D_ii D_jj - D_ij D_ji),   c_k = s_i s_j
// falls apart (Smith, De Goes, Kim 2018, "Stable Neo-Hookean flesh simulation", section 4) into a 3 x 3 matrix over the
// D_ii and, for each axis k, shear - q s_k for D_ij + D_ji and shear + q s_k for D_ij - D_ji. Negative ones become
// zero.
//
// Green strains. H = G^T C G + (S on every row of F), G = de / dF, S = the second Piola-Kirchhoff stress. The first
// part is semidefinite because C is; the second if S is, so the negative principal stresses are left out. That is less
// than the whole would need, but costs one 3 x 3 decomposition.
//
// Edges. k n n^T + k (1 - l / L) (I - n n^T): the second part is left out where it is negative.

#include "sim/pbcd/implicit_energy.h"

#include "math/eigen.h"

#include <float.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Edges

double snwImplicitEdge_Energy(const snwImplicitEdge* edge, const snwVec3 x[2])
{
    double change = snwVec3_Distance(x[0], x[1]) - edge->length;
    return 0.5 * edge->stiffness * change * change;
}

// An edge without length has no direction and pushes nowhere.
snwVec3 snwImplicitEdge_Gradient(const snwImplicitEdge* edge, const snwVec3 x[2])
{
    snwVec3 along = snwVec3_Sub(x[0], x[1]);
    double length = snwVec3_Length(along);
    return length > 0 ? snwVec3_Scale(along, edge->stiffness * (1 - edge->length / length)) : (snwVec3){0, 0, 0};
}

snwMat3 snwImplicitEdge_Hessian(const snwImplicitEdge* edge, const snwVec3 x[2], bool semidefinite)
{
    snwVec3 along = snwVec3_Sub(x[0], x[1]);
    double length = snwVec3_Length(along), k = edge->stiffness;
    if (!(length > DBL_MIN))
        return snwMat3_Diagonal(k, k, k);
    double across = k * (1 - edge->length / length);
    if (semidefinite)
        across = fmax(across, 0);
    snwVec3 n = snwVec3_Scale(along, 1 / length);
    return snwMat3_Add(snwMat3_Diagonal(across, across, across), snwMat3_Scale(snwMat3_Outer(n, n), k - across));
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets: laws

static void SetTetGradients(snwImplicitTet* tet, snwMat3 inverse)
{
    for (int a = 1; a < 4; ++a)
    {
        tet->gradients[a] = snwMat3_Row(inverse, a - 1);
        tet->gradients[0] = snwVec3_Sub(tet->gradients[0], tet->gradients[a]);
    }
}

snwImplicitTet snwImplicitTet_Volume(double rest, double stiffness)
{
    snwImplicitTet tet = {.volume = 1, .bulk = stiffness, .rest = rest};
    SetTetGradients(&tet, snwMat3_Identity());
    return tet;
}

snwImplicitTet snwImplicitTet_Neo(snwMat3 inverse, double volume, double mu, double lambda)
{
    snwImplicitTet tet = {.volume = volume, .shear = mu, .slope = mu, .bulk = lambda + mu, .rest = 1};
    SetTetGradients(&tet, inverse);
    return tet;
}

snwImplicitTet snwImplicitTet_Strain(snwMat3 inverse, double volume, const double stiffness[6][6])
{
    snwImplicitTet tet = {.volume = volume, .strain = stiffness};
    SetTetGradients(&tet, inverse);
    return tet;
}

static snwMat3 DeformationGradient(const snwImplicitTet* tet, const snwVec3 x[4])
{
    snwMat3 f = {0};
    for (int a = 1; a < 4; ++a)
        f = snwMat3_Add(f, snwMat3_Outer(snwVec3_Sub(x[a], x[0]), tet->gradients[a]));
    return f;
}

// Where the six strains stand in E.
static const int s_places[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};

static void Strains(const snwImplicitTet* tet, snwMat3 f, double e[6])
{
    snwMat3 c = snwMat3_TransposeMul(f, f);
    for (int m = 0; m < 3; ++m)
    {
        e[m] = 0.5 * (c.m[m][m] - 1);
        e[m + 3] = c.m[s_places[m + 3][0]][s_places[m + 3][1]];
    }
    for (int m = 0; m < 6 && tet->strainRest != NULL; ++m)
        e[m] -= tet->strainRest[m];
}

// Returns the density of the energy.
static double Stresses(const double strain[6][6], const double e[6], snwMat3* stress)
{
    double energy = 0;
    for (int m = 0; m < 6; ++m)
    {
        double s = 0;
        for (int n = 0; n < 6; ++n)
            s += strain[m][n] * e[n];
        energy += 0.5 * e[m] * s;
        stress->m[s_places[m][0]][s_places[m][1]] = stress->m[s_places[m][1]][s_places[m][0]] = s;
    }
    return energy;
}

// Density of the energy and its derivative by F.
static double Density(const snwImplicitTet* tet, snwMat3 f, snwMat3* p)
{
    if (tet->strain != NULL)
    {
        double e[6];
        snwMat3 stress;
        Strains(tet, f, e);
        double energy = Stresses(tet->strain, e, &stress);
        *p = snwMat3_Mul(f, stress);
        return energy;
    }
    double norm = snwMat3_Norm(f), swelling = snwMat3_Determinant(f) - tet->rest;
    *p = snwMat3_Add(
        snwMat3_Scale(f, tet->shear), snwMat3_Scale(snwMat3_Cofactor(f), tet->bulk * swelling - tet->slope));
    return 0.5 * tet->shear * (norm * norm - 3) + (0.5 * tet->bulk * swelling - tet->slope) * swelling;
}

double snwImplicitTet_Gradient(const snwImplicitTet* tet, const snwVec3 x[4], snwVec3 g[4])
{
    snwMat3 p;
    double energy = Density(tet, DeformationGradient(tet, x), &p);
    for (int a = 0; a < 4; ++a)
        g[a] = snwVec3_Scale(snwMat3_MulVec(p, tet->gradients[a]), tet->volume);
    return tet->volume * energy;
}

double snwImplicitTet_Energy(const snwImplicitTet* tet, const snwVec3 x[4])
{
    snwMat3 p;
    return tet->volume * Density(tet, DeformationGradient(tet, x), &p);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets: second derivatives over F, row by row: entry 3 i + k is F_ik. Lower triangles only.

static void AddOuterTo9(double h[9][9], double factor, const double* d)
{
    for (int m = 0; m < 9; ++m)
        for (int n = 0; n <= m; ++n)
            h[m][n] += factor * d[m] * d[n];
}

// d cof F_ik / d F_jl is F_pq with p and q the axes that are left, signed by the order of i j and of k l.
static double CofactorChange(snwMat3 f, int m, int n)
{
    int i = m / 3, k = m % 3, j = n / 3, l = n % 3;
    if (i == j || k == l)
        return 0;
    double value = f.m[3 - i - j][3 - k - l];
    return ((j - i + 3) % 3 == 1) == ((l - k + 3) % 3 == 1) ? value : -value;
}

static void DeterminantHessian(const snwImplicitTet* tet, snwMat3 f, double h[9][9])
{
    snwMat3 cofactor = snwMat3_Cofactor(f);
    double q = tet->bulk * (snwMat3_Determinant(f) - tet->rest) - tet->slope;
    for (int m = 0; m < 9; ++m)
    {
        for (int n = 0; n < m; ++n)
            h[m][n] = q * CofactorChange(f, m, n);
        h[m][m] = tet->shear;
    }
    AddOuterTo9(h, tet->bulk, &cofactor.m[0][0]);
}

static void AddStretches(const snwImplicitTet* tet, const snwSvd3* svd, double q, double h[9][9])
{
    const double* s = svd->sigma;
    snwMat3 a;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            double ci = s[(i + 1) % 3] * s[(i + 2) % 3], cj = s[(j + 1) % 3] * s[(j + 2) % 3];
            a.m[i][j] = tet->bulk * ci * cj + (i == j ? tet->shear : q * s[3 - i - j]);
        }
    snwEigen3 eigen = snwEigen3_Symmetric(a);
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 v = snwMat3_Column(eigen.vectors, i);
        snwMat3 d = snwMat3_MulTranspose(snwMat3_Mul(svd->U, snwMat3_Diagonal(v.x, v.y, v.z)), svd->V);
        if (eigen.values[i] > 0)
            AddOuterTo9(h, eigen.values[i], &d.m[0][0]);
    }
}

static void AddTurnStretches(const snwImplicitTet* tet, const snwSvd3* svd, double q, double h[9][9])
{
    for (int k = 0; k < 3; ++k)
    {
        snwVec3 ui = snwMat3_Column(svd->U, (k + 1) % 3), uj = snwMat3_Column(svd->U, (k + 2) % 3);
        snwVec3 vi = snwMat3_Column(svd->V, (k + 1) % 3), vj = snwMat3_Column(svd->V, (k + 2) % 3);
        snwMat3 ij = snwMat3_Outer(ui, vj), ji = snwMat3_Outer(uj, vi);
        snwMat3 both = snwMat3_Add(ij, ji), turn = snwMat3_Sub(ij, ji);
        AddOuterTo9(h, 0.5 * fmax(tet->shear - q * svd->sigma[k], 0), &both.m[0][0]);
        AddOuterTo9(h, 0.5 * fmax(tet->shear + q * svd->sigma[k], 0), &turn.m[0][0]);
    }
}

static void SemidefiniteDeterminantHessian(const snwImplicitTet* tet, snwMat3 f, double h[9][9])
{
    snwSvd3 svd = snwSvd3_Signed(f);
    double q = tet->bulk * (snwMat3_Determinant(f) - tet->rest) - tet->slope;
    memset(h, 0, 81 * sizeof(double));
    AddStretches(tet, &svd, q, h);
    AddTurnStretches(tet, &svd, q, h);
}

static snwMat3 PositivePart(snwMat3 a)
{
    snwEigen3 eigen = snwEigen3_Symmetric(a);
    snwMat3 scaled = snwMat3_Mul(
        eigen.vectors, snwMat3_Diagonal(fmax(eigen.values[0], 0), fmax(eigen.values[1], 0), fmax(eigen.values[2], 0)));
    return snwMat3_MulTranspose(scaled, eigen.vectors);
}

// G: de_m / dF_ik, and C G.
static void StrainChanges(const double strain[6][6], snwMat3 f, double g[6][9], double cg[6][9])
{
    memset(g, 0, 54 * sizeof(double));
    for (int m = 0; m < 6; ++m)
        for (int i = 0; i < 3; ++i)
        {
            int k = s_places[m][0], l = s_places[m][1];
            g[m][3 * i + k] = f.m[i][l];
            g[m][3 * i + l] = f.m[i][k];
        }
    for (int m = 0; m < 6; ++m)
        for (int n = 0; n < 9; ++n)
        {
            cg[m][n] = 0;
            for (int o = 0; o < 6; ++o)
                cg[m][n] += strain[m][o] * g[o][n];
        }
}

static void StrainHessian(const snwImplicitTet* tet, snwMat3 f, bool semidefinite, double h[9][9])
{
    double e[6], g[6][9], cg[6][9];
    snwMat3 stress;
    Strains(tet, f, e);
    Stresses(tet->strain, e, &stress);
    if (semidefinite)
        stress = PositivePart(stress);
    StrainChanges(tet->strain, f, g, cg);
    for (int m = 0; m < 9; ++m)
        for (int n = 0; n <= m; ++n)
        {
            h[m][n] = m / 3 == n / 3 ? stress.m[m % 3][n % 3] : 0;
            for (int o = 0; o < 6; ++o)
                h[m][n] += g[o][m] * cg[o][n];
        }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets: second derivatives over the corners

// B^T H B: unknown 3 a + i moves F along e_i gradients_a^T.
static void ToCorners(const snwImplicitTet* tet, double h[9][9], double lower[snw_tetHessianCount])
{
    double right[9][12];

    // H B first, for the twelve columns of B; H is symmetric.
    for (int m = 0; m < 9; ++m)
        for (int n = m + 1; n < 9; ++n)
            h[m][n] = h[n][m];
    for (int b = 0; b < 4; ++b)
    {
        snwVec3 g = snwVec3_Scale(tet->gradients[b], tet->volume);
        for (int m = 0; m < 9; ++m)
            for (int j = 0; j < 3; ++j)
                right[m][3 * b + j] = h[m][3 * j] * g.x + h[m][3 * j + 1] * g.y + h[m][3 * j + 2] * g.z;
    }

    // Then the lower triangle of B^T times that.
    for (int row = 0; row < 12; ++row)
    {
        snwVec3 g = tet->gradients[row / 3];
        int i = 3 * (row % 3);
        for (int column = 0; column <= row; ++column)
            *lower++ = g.x * right[i][column] + g.y * right[i + 1][column] + g.z * right[i + 2][column];
    }
}

void snwImplicitTet_Hessian(
    const snwImplicitTet* tet, const snwVec3 x[4], bool semidefinite, double lower[snw_tetHessianCount])
{
    double h[9][9];
    snwMat3 f = DeformationGradient(tet, x);
    if (tet->strain != NULL)
        StrainHessian(tet, f, semidefinite, h);
    else if (semidefinite)
        SemidefiniteDeterminantHessian(tet, f, h);
    else
        DeterminantHessian(tet, f, h);
    ToCorners(tet, h, lower);
}
