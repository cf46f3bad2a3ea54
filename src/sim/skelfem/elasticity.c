// Energy and forces of corotated tetrahedra, eight at a time: see elasticity.h.

#include "sim/skelfem/elasticity_parts.h"

#include <math.h>
#include <string.h>

enum
{
    elasticity_blockGrain = 32,
    elasticity_rowGrain = 512
};

// ---------------------------------------------------------------------------------------------------------------------
// Creation

static void SetRest(snwElasticity* elasticity, const snwElasticityDef* def)
{
    for (int e = 0; e < elasticity_lanes * elasticity->blockCount; ++e)
    {
        int tet = e < def->tetCount ? e : def->tetCount - 1, lane = e % elasticity_lanes;
        const int* v = def->tets + 4 * (size_t)tet;
        snwElasticBlock* block = &elasticity->blocks[e / elasticity_lanes];
        snwVec3 a = snwVec3_Sub(def->rest[v[1]], def->rest[v[0]]), b = snwVec3_Sub(def->rest[v[2]], def->rest[v[0]]),
                c = snwVec3_Sub(def->rest[v[3]], def->rest[v[0]]);

        // Rows of the inverse are cross products over the determinant; lanes beyond the last tet repeat it without
        // volume.
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

// Rest shapes and neighbourhoods are set once; materials come later, one by one.
snwElasticity* snwElasticity_Create(snwContext* context, snwArena* arena, const snwElasticityDef* def)
{
    snwElasticity* elasticity = snwArena_Alloc(arena, 1, sizeof *elasticity);
    if (elasticity == NULL)
        return NULL;

    elasticity->context = context;
    elasticity->kernels = snwElasticity_Kernels(context->simd);
    elasticity->vertexCount = def->vertexCount;
    elasticity->tetCount = def->tetCount;
    elasticity->blockCount = (def->tetCount + elasticity_lanes - 1) / elasticity_lanes;

    elasticity->blocks = snwArena_Alloc(arena, (size_t)elasticity->blockCount, sizeof *elasticity->blocks);
    elasticity->dampings = snwArena_Alloc(arena, (size_t)elasticity->blockCount, sizeof *elasticity->dampings);
    elasticity->loose = snwArena_Alloc(arena, (size_t)elasticity->blockCount, elasticity_lanes);
    elasticity->tangled = snwArena_Alloc(arena, (size_t)def->vertexCount, 1);
    elasticity->stopped = snwArena_Alloc(arena, (size_t)elasticity->blockCount, 1);
    elasticity->stops = snwArena_Alloc(arena, (size_t)def->tetCount, sizeof *elasticity->stops);
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
    snwElasticBlock* block = &elasticity->blocks[tet / elasticity_lanes];
    int lane = tet % elasticity_lanes;
    block->mu[lane] = material.mu;
    block->lambda[lane] = material.lambda;
    block->beta[lane] = material.beta;
    block->stop[lane] = material.stop;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

static void RunBegin(int begin, int end, void* data)
{
    const snwEvaluation* evaluation = data;
    evaluation->elasticity->kernels->begin(evaluation, begin, end);
}

void snwElasticity_Begin(snwElasticity* elasticity, const snwVec3* positions, double rate)
{
    snwEvaluation evaluation = {.elasticity = elasticity, .positions = positions};
    elasticity->rate = rate;
    if (rate > 0)
        snwParallelFor(elasticity->context, elasticity->blockCount, elasticity_blockGrain, RunBegin, &evaluation);
}

typedef struct KnotLoop
{
    const snwElasticity* elasticity;
    const snwVec3* positions;
    unsigned char* knots;
} KnotLoop;

// How many tets are knotted.
static double RunKnots(int begin, int end, void* data)
{
    static const double s_open = 0.5; // of its volume: it is knotted no longer
    const KnotLoop* loop = data;
    double count = 0;
    for (int e = begin; e < end; ++e)
    {
        const snwElasticBlock* block = &loop->elasticity->blocks[e / elasticity_lanes];
        double depth = snwElasticBlock_Squeeze(block, e % elasticity_lanes, loop->positions).depth;
        if (depth > SNW_SQUEEZED)
            loop->knots[e] = 1;
        else if (depth < SNW_SQUEEZED - s_open)
            loop->knots[e] = 0;
        count += loop->knots[e];
    }
    return count;
}

void snwElasticity_FindKnots(
    snwElasticity* elasticity, const snwVec3* positions, unsigned char* knots) // NOLINT: the loop writes them
{
    KnotLoop loop = {elasticity, positions, knots};
    if (elasticity->anyLoose)
        memset(elasticity->loose, 0, elasticity_lanes * (size_t)elasticity->blockCount);
    elasticity->anyLoose = false;
    if (knots == NULL)
        return;
    double count = snwParallelSum(elasticity->context, elasticity->tetCount, elasticity_rowGrain, RunKnots, &loop);
    if (count <= 0)
        return;
    elasticity->anyLoose = true;

    // Corners of knots are tangled, and tets with a tangled corner are loose: their neighbours, too.
    memset(elasticity->tangled, 0, (size_t)elasticity->vertexCount);
    for (int pass = 0; pass < 2; ++pass)
        for (int e = 0; e < elasticity->tetCount; ++e)
            for (int a = 0; a < 4; ++a)
            {
                int v = elasticity->blocks[e / elasticity_lanes].corners[a][e % elasticity_lanes];
                if (pass == 0)
                    elasticity->tangled[v] |= knots[e];
                else
                    elasticity->loose[e] |= elasticity->tangled[v];
            }
}

static double RunEvaluate(int begin, int end, void* data)
{
    const snwEvaluation* evaluation = data;
    return evaluation->elasticity->kernels->evaluate(evaluation, begin, end);
}

snwElasticityEnergy snwElasticity_Evaluate(snwElasticity* elasticity, const snwVec3* positions, snwQuatBlock* rotations)
{
    snwEvaluation evaluation = {.elasticity = elasticity, .positions = positions, .rotations = rotations};
    snwElasticityEnergy energy = {0};
    energy.elastic = snwParallelSum(
        elasticity->context, elasticity->blockCount, elasticity_blockGrain, RunEvaluate, &evaluation);
    for (int n = 0; n < elasticity->blockCount && elasticity->rate > 0; ++n)
        energy.damping += elasticity->dampings[n];
    return energy;
}

int snwElasticity_FindStops(snwElasticity* elasticity, const snwVec3* positions, const snwTetStop** stops)
{
    int count = 0;
    for (int e = 0; e < elasticity->tetCount; ++e)
    {
        const snwElasticBlock* block = &elasticity->blocks[e / elasticity_lanes];
        if (!elasticity->stopped[e / elasticity_lanes])
        {
            e += elasticity_lanes - 1; // all of the block
            continue;
        }

        // In blocks that evaluation has marked: the lanes that are squeezed.
        int lane = e % elasticity_lanes;
        snwSqueeze squeeze = snwElasticBlock_Squeeze(block, lane, positions);
        if (!(squeeze.depth > 0 && block->stop[lane] > 0) || elasticity->loose[e])
            continue;

        // Their stiffness along the way out, as g g^T.
        double root = sqrt(squeeze.steepness);
        snwTetStop* stop = &elasticity->stops[count++];
        stop->tet = e;
        for (int a = 0; a < 3; ++a)
            for (int r = 0; r < 3; ++r)
                stop->g[a][r] = (float)(root * (&squeeze.rise[a].x)[r]);
    }

    *stops = elasticity->stops;
    return count;
}

static void RunGather(int begin, int end, void* data)
{
    const snwEvaluation* evaluation = data;
    evaluation->elasticity->kernels->gather(evaluation, begin, end);
}

void snwElasticity_AddGradient(snwElasticity* elasticity, snwVec3* gradient)
{
    snwEvaluation evaluation = {.elasticity = elasticity, .gradient = gradient};
    snwParallelFor(elasticity->context, elasticity->vertexCount, elasticity_rowGrain, RunGather, &evaluation);
}
