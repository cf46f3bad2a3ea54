// Energy and forces of corotated tetrahedra, eight at a time: see elasticity.h.

#include "sim/skelfem/elasticity.h"

#include "math/vec.h"

#include <math.h>
#include <string.h>

enum
{
    elasticity_lanes = SNW_ROTATION_LANES,
    elasticity_blockGrain = 32,
    elasticity_rowGrain = 512
};

// Lanes behind the last tet repeat it without volume.
typedef struct ElasticBlock
{
    _Alignas(64) double inverseRest[9][elasticity_lanes]; // row a: gradient of corner a + 1
    double volume[elasticity_lanes];
    double mu[elasticity_lanes], lambda[elasticity_lanes], beta[elasticity_lanes];
    double start[6][elasticity_lanes];     // E_0: xx, yy, zz, xy, xz, yz
    double startStretch[elasticity_lanes]; // max(1, tr C_0 / 3)
    double pull[9][elasticity_lanes];      // dW/dx of corners 1, 2, 3
    int corners[4][elasticity_lanes];
} ElasticBlock;

struct snwElasticity
{
    snwContext* context;
    int vertexCount, tetCount, blockCount;
    ElasticBlock* blocks;
    int* cornerStarts; // [vertex + 1]
    int* corners;      // tet * 4 + corner, rising
    double rate;
    double* dampings; // [blockCount] J, of the last Evaluate
};

// ---------------------------------------------------------------------------------------------------------------------
// Creation

static void SetRest(snwElasticity* elasticity, const snwElasticityDef* def)
{
    for (int e = 0; e < elasticity_lanes * elasticity->blockCount; ++e)
    {
        int tet = e < def->tetCount ? e : def->tetCount - 1, lane = e % elasticity_lanes;
        const int* v = def->tets + 4 * (size_t)tet;
        ElasticBlock* block = &elasticity->blocks[e / elasticity_lanes];
        snwVec3 a = snwVec3_Sub(def->rest[v[1]], def->rest[v[0]]), b = snwVec3_Sub(def->rest[v[2]], def->rest[v[0]]),
                c = snwVec3_Sub(def->rest[v[3]], def->rest[v[0]]);
        snwVec3 rows[3] = {snwVec3_Cross(b, c), snwVec3_Cross(c, a), snwVec3_Cross(a, b)};
        double determinant = snwVec3_Dot(a, rows[0]);
        for (int r = 0; r < 3; ++r)
        {
            block->inverseRest[3 * r][lane] = rows[r].x / determinant;
            block->inverseRest[3 * r + 1][lane] = rows[r].y / determinant;
            block->inverseRest[3 * r + 2][lane] = rows[r].z / determinant;
        }
        for (int k = 0; k < 4; ++k)
            block->corners[k][lane] = v[k];
        block->volume[lane] = e < def->tetCount ? determinant / 6 : 0;
        block->startStretch[lane] = 1;
    }
}

// For every vertex the tets around it, in their order: sums have the same bits in any number of threads.
static void SetCorners(snwElasticity* elasticity, const snwElasticityDef* def)
{
    int* starts = elasticity->cornerStarts;
    for (int k = 0; k < 4 * def->tetCount; ++k)
        starts[def->tets[k] + 1]++;
    for (int v = 0; v < def->vertexCount; ++v)
        starts[v + 1] += starts[v];

    // Filled from the front; afterwards every start has become the next one.
    for (int k = 0; k < 4 * def->tetCount; ++k)
        elasticity->corners[starts[def->tets[k]]++] = k;
    memmove(starts + 1, starts, (size_t)def->vertexCount * sizeof *starts);
    starts[0] = 0;
}

snwElasticity* snwElasticity_Create(snwContext* context, snwArena* arena, const snwElasticityDef* def)
{
    snwElasticity* elasticity = snwArena_Alloc(arena, 1, sizeof *elasticity);
    if (elasticity == NULL)
        return NULL;
    elasticity->context = context;
    elasticity->vertexCount = def->vertexCount;
    elasticity->tetCount = def->tetCount;
    elasticity->blockCount = (def->tetCount + elasticity_lanes - 1) / elasticity_lanes;
    elasticity->blocks = snwArena_Alloc(arena, (size_t)elasticity->blockCount, sizeof *elasticity->blocks);
    elasticity->dampings = snwArena_Alloc(arena, (size_t)elasticity->blockCount, sizeof *elasticity->dampings);
    elasticity->cornerStarts = snwArena_Alloc(arena, (size_t)def->vertexCount + 1, sizeof(int));
    elasticity->corners = snwArena_Alloc(arena, 4 * (size_t)def->tetCount, sizeof(int));
    if (arena->failed)
        return NULL;

    SetRest(elasticity, def);
    SetCorners(elasticity, def);
    return elasticity;
}

int snwElasticity_BlockCount(const snwElasticity* elasticity)
{
    return elasticity->blockCount;
}

void snwElasticity_SetMaterial(snwElasticity* elasticity, int tet, snwTetMaterial material)
{
    ElasticBlock* block = &elasticity->blocks[tet / elasticity_lanes];
    int lane = tet % elasticity_lanes;
    block->mu[lane] = material.mu;
    block->lambda[lane] = material.lambda;
    block->beta[lane] = material.beta;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

typedef struct Evaluation
{
    snwElasticity* elasticity;
    const snwVec3* positions;
    snwQuatBlock* rotations;
    snwVec3* gradient;
} Evaluation;

// F of eight tets, row by row.
static void Deform(const ElasticBlock* block, const snwVec3* positions, double F[9][elasticity_lanes])
{
    double sides[3][3][elasticity_lanes];
    for (int lane = 0; lane < elasticity_lanes; ++lane)
        for (int a = 0; a < 3; ++a)
        {
            snwVec3 side = snwVec3_Sub(positions[block->corners[a + 1][lane]], positions[block->corners[0][lane]]);
            sides[a][0][lane] = side.x, sides[a][1][lane] = side.y, sides[a][2][lane] = side.z;
        }
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            for (int lane = 0; lane < elasticity_lanes; ++lane)
                F[3 * r + c][lane] = sides[0][r][lane] * block->inverseRest[c][lane] +
                                     sides[1][r][lane] * block->inverseRest[3 + c][lane] +
                                     sides[2][r][lane] * block->inverseRest[6 + c][lane];
}

// (F^T F - I) / 2.
static void GreenStrain(double F[9][elasticity_lanes], double E[6][elasticity_lanes])
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

static void BeginBlocks(int begin, int end, void* data)
{
    const Evaluation* evaluation = data;
    for (int n = begin; n < end; ++n)
    {
        ElasticBlock* block = &evaluation->elasticity->blocks[n];
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

void snwElasticity_Begin(snwElasticity* elasticity, const snwVec3* positions, double rate)
{
    Evaluation evaluation = {.elasticity = elasticity, .positions = positions};
    elasticity->rate = rate;
    if (rate > 0)
        snwParallelFor(elasticity->context, elasticity->blockCount, elasticity_blockGrain, BeginBlocks, &evaluation);
}

// Rotation matrices in double of quaternions whose length is 1 to a few float roundings.
static void ToMatrices(const snwQuatBlock* q, double R[9][elasticity_lanes])
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
static void AddProduct(double A[9][elasticity_lanes], double s[6][elasticity_lanes], double P[9][elasticity_lanes])
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
static void ToStress(double e[6][elasticity_lanes], const double mu[elasticity_lanes],
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
static double AddDamping(
    const ElasticBlock* block, double rate, double F[9][elasticity_lanes], double P[9][elasticity_lanes])
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

static double EvaluateBlocks(int begin, int end, void* data)
{
    const Evaluation* evaluation = data;
    snwElasticity* elasticity = evaluation->elasticity;
    const snwRotationKernels* kernels = snwRotation_Kernels(elasticity->context->simd);
    double sum = 0;
    for (int n = begin; n < end; ++n)
    {
        ElasticBlock* block = &elasticity->blocks[n];
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
    }
    return sum;
}

snwElasticityEnergy snwElasticity_Evaluate(snwElasticity* elasticity, const snwVec3* positions, snwQuatBlock* rotations)
{
    Evaluation evaluation = {.elasticity = elasticity, .positions = positions, .rotations = rotations};
    snwElasticityEnergy energy = {0};
    energy.elastic = snwParallelSum(
        elasticity->context, elasticity->blockCount, elasticity_blockGrain, EvaluateBlocks, &evaluation);
    for (int n = 0; n < elasticity->blockCount && elasticity->rate > 0; ++n)
        energy.damping += elasticity->dampings[n];
    return energy;
}

static void GatherVertices(int begin, int end, void* data)
{
    const Evaluation* evaluation = data;
    const snwElasticity* elasticity = evaluation->elasticity;
    for (int v = begin; v < end; ++v)
    {
        snwVec3 sum = {0, 0, 0};
        for (int k = elasticity->cornerStarts[v]; k < elasticity->cornerStarts[v + 1]; ++k)
        {
            int tet = elasticity->corners[k] / 4, corner = elasticity->corners[k] % 4, lane = tet % elasticity_lanes;
            const ElasticBlock* block = &elasticity->blocks[tet / elasticity_lanes];
            double pull[3];
            for (int r = 0; r < 3; ++r)
                pull[r] = corner > 0 ? block->pull[3 * (corner - 1) + r][lane]
                                     : -(block->pull[r][lane] + block->pull[3 + r][lane] + block->pull[6 + r][lane]);
            sum = snwVec3_Add(sum, (snwVec3){pull[0], pull[1], pull[2]});
        }
        evaluation->gradient[v] = snwVec3_Add(evaluation->gradient[v], sum);
    }
}

void snwElasticity_AddGradient(snwElasticity* elasticity, snwVec3* gradient)
{
    Evaluation evaluation = {.elasticity = elasticity, .gradient = gradient};
    snwParallelFor(elasticity->context, elasticity->vertexCount, elasticity_rowGrain, GatherVertices, &evaluation);
}
