// The loops over elements of elasticity.c, compiled once per instruction set. Lanes compute the same whatever the width
// of vectors, so all instruction sets give the same bits.

#include "math/lanes.h"
#include "sim/skelfem/elasticity_parts.h"

#include <string.h>

// Corner a + 1 of four tets against their first corner: three coordinates of four lanes each.
INLINE void LoadSides(
    const snwElasticBlock* block, const snwVec3* positions, int a, int lane, double sides[3][elasticity_lanes])
{
    FourDoubles s[4];
    for (int k = 0; k < 4; ++k)
        s[k] = LoadVec(&positions[block->corners[a + 1][lane + k]]) - LoadVec(&positions[block->corners[0][lane + k]]);
    FourDoubles xz0 = __builtin_shufflevector(s[0], s[1], 0, 4, 2, 6),
                xz1 = __builtin_shufflevector(s[2], s[3], 0, 4, 2, 6),
                y0 = __builtin_shufflevector(s[0], s[1], 1, 5, 3, 7),
                y1 = __builtin_shufflevector(s[2], s[3], 1, 5, 3, 7);
    FourDoubles x = __builtin_shufflevector(xz0, xz1, 0, 1, 4, 5), y = __builtin_shufflevector(y0, y1, 0, 1, 4, 5),
                z = __builtin_shufflevector(xz0, xz1, 2, 3, 6, 7);
    memcpy(sides[0] + lane, &x, sizeof x);
    memcpy(sides[1] + lane, &y, sizeof y);
    memcpy(sides[2] + lane, &z, sizeof z);
}

// F of eight tets, row by row.
INLINE void Deform(const snwElasticBlock* block, const snwVec3* positions, double F[9][elasticity_lanes])
{
    double sides[3][3][elasticity_lanes];
    for (int a = 0; a < 3; ++a)
        for (int lane = 0; lane < elasticity_lanes; lane += 4)
            LoadSides(block, positions, a, lane, sides[a]);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            for (int lane = 0; lane < elasticity_lanes; ++lane)
                F[3 * r + c][lane] = sides[0][r][lane] * block->inverseRest[c][lane] +
                                     sides[1][r][lane] * block->inverseRest[3 + c][lane] +
                                     sides[2][r][lane] * block->inverseRest[6 + c][lane];
}

// (F^T F - I) / 2.
INLINE void GreenStrain(double F[9][elasticity_lanes], double E[6][elasticity_lanes])
{
    static const int s_pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 6; ++k)
        for (int lane = 0; lane < elasticity_lanes; ++lane)
        {
            int a = s_pairs[k][0], b = s_pairs[k][1];
            double sum = F[a][lane] * F[b][lane] + F[3 + a][lane] * F[3 + b][lane] + F[6 + a][lane] * F[6 + b][lane];
            E[k][lane] = 0.5 * (sum - (k < 3 ? 1 : 0));
        }
}

static void BeginBlocks(const snwEvaluation* evaluation, int begin, int end)
{
    for (int n = begin; n < end; ++n)
    {
        snwElasticBlock* block = &evaluation->elasticity->blocks[n];
        double F[9][elasticity_lanes];
        Deform(block, evaluation->positions, F);
        GreenStrain(F, block->start);
        for (int lane = 0; lane < elasticity_lanes; ++lane)
        {
            double trace = 3 + 2 * (block->start[0][lane] + block->start[1][lane] + block->start[2][lane]);
            block->startStretch[lane] = trace > 3 ? trace / 3 : 1;
        }
    }
}

// Rotation matrices in double of quaternions whose length is 1 to a few float roundings.
INLINE void ToMatrices(const snwQuatBlock* q, double R[9][elasticity_lanes])
{
    for (int lane = 0; lane < elasticity_lanes; ++lane)
    {
        double x = (double)q->q[0][lane], y = (double)q->q[1][lane], z = (double)q->q[2][lane],
               w = (double)q->q[3][lane], s = 2 / (x * x + y * y + z * z + w * w);
        R[0][lane] = 1 - s * (y * y + z * z), R[1][lane] = s * (x * y - z * w), R[2][lane] = s * (x * z + y * w);
        R[3][lane] = s * (x * y + z * w), R[4][lane] = 1 - s * (x * x + z * z), R[5][lane] = s * (y * z - x * w);
        R[6][lane] = s * (x * z - y * w), R[7][lane] = s * (y * z + x * w), R[8][lane] = 1 - s * (x * x + y * y);
    }
}

// Symmetric: xx, yy, zz, xy, xz, yz.
static inline int SymIndex(int r, int c)
{
    return r == c ? r : r + c + 2;
}

// P += A s, lane by lane, with s symmetric.
INLINE void AddProduct(double A[9][elasticity_lanes], double s[6][elasticity_lanes], double P[9][elasticity_lanes])
{
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            for (int lane = 0; lane < elasticity_lanes; ++lane)
                P[3 * r + c][lane] += A[3 * r][lane] * s[SymIndex(0, c)][lane] +
                                      A[3 * r + 1][lane] * s[SymIndex(1, c)][lane] +
                                      A[3 * r + 2][lane] * s[SymIndex(2, c)][lane];
}

// Energy of strains e with these moduli times volume, V (mu |e|^2 + lambda/2 tr^2); leaves 2 mu e + lambda tr(e) I in
// e.
INLINE void ToStress(double e[6][elasticity_lanes], const double mu[elasticity_lanes],
    const double lambda[elasticity_lanes], double energy[elasticity_lanes])
{
    for (int lane = 0; lane < elasticity_lanes; ++lane)
    {
        double trace = e[0][lane] + e[1][lane] + e[2][lane];
        double square = e[0][lane] * e[0][lane] + e[1][lane] * e[1][lane] + e[2][lane] * e[2][lane] +
                        2 * (e[3][lane] * e[3][lane] + e[4][lane] * e[4][lane] + e[5][lane] * e[5][lane]);
        energy[lane] = mu[lane] * square + 0.5 * lambda[lane] * trace * trace;
        for (int k = 0; k < 6; ++k)
            e[k][lane] = 2 * mu[lane] * e[k][lane] + (k < 3 ? lambda[lane] * trace : 0);
    }
}

// J: what damping holds; its stress is added to P.
INLINE double AddDamping(
    const snwElasticBlock* block, double rate, double F[9][elasticity_lanes], double P[9][elasticity_lanes])
{
    double E[6][elasticity_lanes], mu[elasticity_lanes], lambda[elasticity_lanes], energy[elasticity_lanes], sum = 0;
    GreenStrain(F, E);
    for (int k = 0; k < 6; ++k)
        for (int lane = 0; lane < elasticity_lanes; ++lane)
            E[k][lane] -= block->start[k][lane];
    for (int lane = 0; lane < elasticity_lanes; ++lane)
    {
        double share = rate * block->beta[lane] * block->volume[lane] / block->startStretch[lane];
        mu[lane] = share * block->mu[lane], lambda[lane] = share * block->lambda[lane];
    }
    ToStress(E, mu, lambda, energy);
    AddProduct(F, E, P);
    for (int lane = 0; lane < elasticity_lanes; ++lane)
        sum += energy[lane];
    return sum;
}

// J: what stops hold of these tets; their pull is added to that of the block.
INLINE double AddStops(const snwEvaluation* evaluation, int n, double F[9][elasticity_lanes])
{
    snwElasticBlock* block = &evaluation->elasticity->blocks[n];
    double sum = 0;
    bool held[elasticity_lanes], any = false;
    for (int lane = 0; lane < elasticity_lanes; ++lane)
    {
        double J = F[0][lane] * (F[4][lane] * F[8][lane] - F[5][lane] * F[7][lane]) +
                   F[1][lane] * (F[5][lane] * F[6][lane] - F[3][lane] * F[8][lane]) +
                   F[2][lane] * (F[3][lane] * F[7][lane] - F[4][lane] * F[6][lane]);
        held[lane] = J < SNW_SQUEEZED && !evaluation->elasticity->loose[elasticity_lanes * n + lane] &&
                     block->volume[lane] * block->stop[lane] > 0;
        any = any || held[lane];
    }
    evaluation->elasticity->stopped[n] = any;
    for (int lane = 0; lane < elasticity_lanes && any; ++lane)
    {
        snwSqueeze squeeze = snwElasticBlock_Squeeze(block, lane, evaluation->positions);
        if (!held[lane] || !(squeeze.depth > 0))
            continue;
        sum += squeeze.energy;
        for (int a = 0; a < 3; ++a)
            for (int r = 0; r < 3; ++r)
                block->pull[3 * a + r][lane] -= squeeze.pressure * (&squeeze.rise[a].x)[r];
    }
    return sum;
}

static double EvaluateBlocks(const snwEvaluation* evaluation, int begin, int end)
{
    snwElasticity* elasticity = evaluation->elasticity;
    const snwRotationKernels* kernels = snwRotation_Kernels(elasticity->context->simd);
    double sum = 0;
    for (int n = begin; n < end; ++n)
    {
        snwElasticBlock* block = &elasticity->blocks[n];
        double F[9][elasticity_lanes], R[9][elasticity_lanes];
        Deform(block, evaluation->positions, F);

        snwMat3Block rounded;
        for (int k = 0; k < 9; ++k)
            for (int lane = 0; lane < elasticity_lanes; ++lane)
                rounded.m[k][lane] = (float)F[k][lane];
        kernels->extract(1, &rounded, &evaluation->rotations[n], NULL);
        ToMatrices(&evaluation->rotations[n], R);

        // e: the symmetric part of R^T F - I.
        double e[6][elasticity_lanes], mu[elasticity_lanes], lambda[elasticity_lanes], energy[elasticity_lanes];
        for (int r = 0; r < 3; ++r)
            for (int c = r; c < 3; ++c)
                for (int lane = 0; lane < elasticity_lanes; ++lane)
                {
                    double rc = R[r][lane] * F[c][lane] + R[3 + r][lane] * F[3 + c][lane] +
                                R[6 + r][lane] * F[6 + c][lane];
                    double cr = R[c][lane] * F[r][lane] + R[3 + c][lane] * F[3 + r][lane] +
                                R[6 + c][lane] * F[6 + r][lane];
                    e[SymIndex(r, c)][lane] = 0.5 * (rc + cr) - (r == c ? 1 : 0);
                }
        for (int lane = 0; lane < elasticity_lanes; ++lane)
            mu[lane] = block->volume[lane] * block->mu[lane], lambda[lane] = block->volume[lane] * block->lambda[lane];
        ToStress(e, mu, lambda, energy);
        for (int lane = 0; lane < elasticity_lanes; ++lane)
            sum += energy[lane];

        double P[9][elasticity_lanes] = {{0}};
        AddProduct(R, e, P);
        elasticity->dampings[n] = elasticity->rate > 0 ? AddDamping(block, elasticity->rate, F, P) : 0;

        for (int a = 0; a < 3; ++a)
            for (int r = 0; r < 3; ++r)
                for (int lane = 0; lane < elasticity_lanes; ++lane)
                    block->pull[3 * a + r][lane] = P[3 * r][lane] * block->inverseRest[3 * a][lane] +
                                                   P[3 * r + 1][lane] * block->inverseRest[3 * a + 1][lane] +
                                                   P[3 * r + 2][lane] * block->inverseRest[3 * a + 2][lane];
        sum += AddStops(evaluation, n, F);
    }
    return sum;
}

static void GatherVertices(const snwEvaluation* evaluation, int begin, int end)
{
    const snwElasticity* elasticity = evaluation->elasticity;
    for (int v = begin; v < end; ++v)
    {
        snwVec3 sum = {0, 0, 0};
        for (int k = elasticity->cornerStarts[v]; k < elasticity->cornerStarts[v + 1]; ++k)
        {
            int tet = elasticity->corners[k] / 4, corner = elasticity->corners[k] % 4, lane = tet % elasticity_lanes;
            const snwElasticBlock* block = &elasticity->blocks[tet / elasticity_lanes];
            double pull[3];
            for (int r = 0; r < 3; ++r)
                pull[r] = corner > 0 ? block->pull[3 * (corner - 1) + r][lane]
                                     : -(block->pull[r][lane] + block->pull[3 + r][lane] + block->pull[6 + r][lane]);
            sum = snwVec3_Add(sum, (snwVec3){pull[0], pull[1], pull[2]});
        }
        evaluation->gradient[v] = snwVec3_Add(evaluation->gradient[v], sum);
    }
}

static const snwElasticityKernels s_kernels = {BeginBlocks, EvaluateBlocks, GatherVertices};
