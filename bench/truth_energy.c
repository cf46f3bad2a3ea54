// Corotated linear elasticity of a tet with its exact derivatives, as plainly as they can be written.
//
//     Psi(F) = mu |F - R|^2 + lambda/2 (tr S - 3)^2,          F = R S the polar decomposition with a proper R
//     P      = 2 mu (F - R) + lambda (tr S - 3) R             as tr(dR^T F) = tr(W^T S) = 0, W = R^T dR antisymmetric
//     dP     = 2 mu dF + lambda tr(R^T dF) R + (lambda (tr S - 3) - 2 mu) dR
//
// dR = R [w]x: the antisymmetric part of R^T dF = W S + dS is W S + S W = [(tr(S) I - S) w]x, so w comes from a 3x3
// solve. That matrix is singular where R is not unique; there the derivative of R is taken as zero.

#include "truth_parts.h"

#include "math/eigen.h"

snwTruthTet snwTruthTet_Make(const snwVec3 rest[4], const snwMaterial* material)
{
    snwTruthTet tet = {0};
    snwMat3 edges = snwMat3_FromColumns(
        snwVec3_Sub(rest[1], rest[0]), snwVec3_Sub(rest[2], rest[0]), snwVec3_Sub(rest[3], rest[0]));
    tet.volume = snwMat3_Determinant(edges) / 6;
    double young = material->young, nu = material->poisson;
    tet.mu = young / (2 * (1 + nu));
    tet.lambda = young * nu / ((1 + nu) * (1 - 2 * nu));
    snwMat3 inverse = snwMat3_Identity(); // tets of characters have volume
    snwMat3_Inverse(edges, &inverse);
    for (int a = 0; a < 3; ++a)
    {
        tet.gradients[a + 1] = snwMat3_Row(inverse, a);
        tet.gradients[0] = snwVec3_Sub(tet.gradients[0], tet.gradients[a + 1]);
    }
    return tet;
}

static snwMat3 DeformationGradient(const snwTruthTet* tet, const snwVec3 x[4])
{
    snwMat3 f = {0};
    for (int a = 0; a < 4; ++a)
        f = snwMat3_Add(f, snwMat3_Outer(x[a], tet->gradients[a]));
    return f;
}

double snwTruthTet_Energy(const snwTruthTet* tet, const snwVec3 x[4])
{
    snwMat3 f = DeformationGradient(tet, x), r = snwPolar3_Compute(f).rotation;
    double strain = snwMat3_Norm(snwMat3_Sub(f, r)), swelling = snwMat3_Trace(snwMat3_TransposeMul(r, f)) - 3;
    return tet->volume * (tet->mu * strain * strain + 0.5 * tet->lambda * swelling * swelling);
}

void snwTruthTet_Gradient(const snwTruthTet* tet, const snwVec3 x[4], double g[12])
{
    snwMat3 f = DeformationGradient(tet, x), r = snwPolar3_Compute(f).rotation;
    double swelling = snwMat3_Trace(snwMat3_TransposeMul(r, f)) - 3;
    snwMat3 stress = snwMat3_Add(
        snwMat3_Scale(snwMat3_Sub(f, r), 2 * tet->mu), snwMat3_Scale(r, tet->lambda * swelling));
    for (int a = 0; a < 4; ++a)
    {
        snwVec3 force = snwVec3_Scale(snwMat3_MulVec(stress, tet->gradients[a]), tet->volume);
        g[3 * a] = force.x;
        g[3 * a + 1] = force.y;
        g[3 * a + 2] = force.z;
    }
}

// How R = polar(F) changes with F; s = R^T F, solver = (tr(S) I - S)^-1.
static snwMat3 RotationChange(snwMat3 r, snwMat3 solver, snwMat3 df)
{
    snwMat3 a = snwMat3_TransposeMul(r, df);
    snwVec3 axial = {a.m[2][1] - a.m[1][2], a.m[0][2] - a.m[2][0], a.m[1][0] - a.m[0][1]};
    return snwMat3_Mul(r, snwMat3_Skew(snwMat3_MulVec(solver, axial)));
}

// change[i][k]: dP for dF = e_i e_k^T
static void StressChanges(const snwTruthTet* tet, snwMat3 f, snwMat3 changes[3][3])
{
    snwMat3 r = snwPolar3_Compute(f).rotation, s = snwMat3_TransposeMul(r, f), solver = {0};
    double trace = snwMat3_Trace(s);
    snwMat3_Inverse(snwMat3_Sub(snwMat3_Diagonal(trace, trace, trace), s), &solver);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
        {
            snwMat3 df = {0};
            df.m[i][k] = 1;
            snwMat3 turn = snwMat3_Scale(RotationChange(r, solver, df), tet->lambda * (trace - 3) - 2 * tet->mu);
            snwMat3 swell = snwMat3_Scale(r, tet->lambda * r.m[i][k]);
            changes[i][k] = snwMat3_Add(snwMat3_Add(snwMat3_Scale(df, 2 * tet->mu), swell), turn);
        }
}

void snwTruthTet_Hessian(const snwTruthTet* tet, const snwVec3 x[4], double h[12][12])
{
    snwMat3 changes[3][3];
    StressChanges(tet, DeformationGradient(tet, x), changes);
    for (int b = 0; b < 4; ++b)
        for (int j = 0; j < 3; ++j)
        {
            // Corner b moves along axis j: dF = e_j gradient_b^T.
            snwVec3 along = tet->gradients[b];
            snwMat3 stress = snwMat3_Scale(changes[j][0], along.x);
            stress = snwMat3_Add(stress, snwMat3_Scale(changes[j][1], along.y));
            stress = snwMat3_Add(stress, snwMat3_Scale(changes[j][2], along.z));
            for (int a = 0; a < 4; ++a)
            {
                snwVec3 force = snwVec3_Scale(snwMat3_MulVec(stress, tet->gradients[a]), tet->volume);
                h[3 * a][3 * b + j] = force.x;
                h[3 * a + 1][3 * b + j] = force.y;
                h[3 * a + 2][3 * b + j] = force.z;
            }
        }
}
