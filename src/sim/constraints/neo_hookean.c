// What the law of neo_hookean.h needs beside its kernel: rest shapes and compliances per tet, how much of the law the
// sweeps have carried out, and velocities in substeps too short for floats.

#include "sim/constraints/neo_hookean.h"
#include "sim/constraints/kernels.h"

#include <math.h>
#include <string.h>

void snwNeoRest_Set(snwNeoRest* rest, int lane, const snwVec3 corners[4], double volume, int region)
{
    snwMat3 inverse, edges = snwMat3_FromColumns(snwVec3_Sub(corners[1], corners[0]),
                         snwVec3_Sub(corners[2], corners[0]), snwVec3_Sub(corners[3], corners[0]));
    if (!snwMat3_Inverse(edges, &inverse))
        return;
    for (int i = 0; i < 9; ++i)
        rest->inverse[i][lane] = (float)inverse.m[i / 3][i % 3];
    rest->volume[lane] = (float)volume;
    rest->region[lane] = region;
}

void snwNeoRest_SetAll(snwNeoRest* rests, const snwBlocks* blocks, const snwCharacter* character)
{
    const snwCharacterDef* def = &character->def;
    for (int i = 0; i < def->tetCount; ++i)
    {
        snwVec3 corners[4];
        for (int k = 0; k < 4; ++k)
            corners[k] = def->vertices[def->tets[i][k]];
        int place = blocks->tetPlaces[i];
        snwNeoRest_Set(&rests[place / snw_blockLanes], place % snw_blockLanes, corners, character->restVolumes[i],
            def->regions[i]);
    }
}

void snwNeoState_Clear(snwNeoState* states, int begin, int end)
{
    for (int b = begin; b < end; ++b)
        memset(states[b].push, 0, sizeof states[b].push);
}

void snwNeoState_SetMaterials(
    snwNeoState* states, const snwNeoRest* rests, int begin, int end, const snwMaterial* materials, double h)
{
    for (int b = begin; b < end; ++b)
        for (int lane = 0; lane < snw_blockLanes; ++lane)
        {
            const snwMaterial* material = &materials[rests[b].region[lane]];
            double nu = material->poisson, volume = (double)rests[b].volume[lane];
            double compliance = volume > 0.0 ? 2.0 * (1.0 + nu) / (material->young * volume * h * h) : 1.0;
            states[b].compliance[lane] = (float)compliance;
            states[b].bulk[lane] = (float)(1.0 - 2.0 * nu);
        }
}

static const double s_leastStrain = 3e-5; // rms: positions are floats
static const double s_leastBulk = 1e-3;   // 1 - 2 nu

// Sums over tets, with p = a~_D P, l the same of the law's P for F as it is, and x the strain.
typedef struct EffectSums
{
    double pp, pl;    // p : p and p : l
    double work, law; // J: P : x and the law's
    double squares;   // of strains
} EffectSums;

// Where nu is 0.5 pressure has no law, and what lies along s is left out.
static void AddEffect(const snwNeoState* state, const snwNeoRest* rest, const snwTetBlock* tets, int lane,
    const float* rows, EffectSums* sums)
{
    snwVec3 x0 = snwRow_Get(rows, tets->index[0][lane]);
    snwMat3 edges = snwMat3_FromColumns(snwVec3_Sub(snwRow_Get(rows, tets->index[1][lane]), x0),
        snwVec3_Sub(snwRow_Get(rows, tets->index[2][lane]), x0),
        snwVec3_Sub(snwRow_Get(rows, tets->index[3][lane]), x0));

    // F and its cofactor, in double: what is left of small strains is a difference of nearly equal numbers.
    snwMat3 inverse;
    for (int k = 0; k < 9; ++k)
        inverse.m[k / 3][k % 3] = (double)rest->inverse[k][lane];
    snwMat3 f = snwMat3_Mul(edges, inverse), s = snwMat3_Cofactor(f);

    // p is what the solver pushed, l what the law asks for; along: their parts along the cofactor, which is volume.
    double bulk = (double)state->bulk[lane], compliance = (double)state->compliance[lane];
    double more = snwMat3_Determinant(f) - 1.0, square = 0.0, along[2] = {0.0, 0.0}, p[9], l[9];
    for (int k = 0; k < 9; ++k)
    {
        double t = s.m[k / 3][k % 3], strain = f.m[k / 3][k % 3] - t;
        p[k] = (double)state->push[k][lane] * compliance;
        l[k] = -strain - (bulk > s_leastBulk ? more / bulk * t : 0.0);
        along[0] += p[k] * t;
        along[1] += l[k] * t;
        square += t * t;
        sums->squares += strain * strain;
    }

    for (int k = 0; k < 9; ++k)
    {
        double t = s.m[k / 3][k % 3], out = bulk > s_leastBulk || !(square > 0.0) ? 0.0 : t / square;
        double x = 0.5 * (f.m[k / 3][k % 3] - t + more * t);
        p[k] -= along[0] * out;
        l[k] -= along[1] * out;
        sums->pp += p[k] * p[k];
        sums->pl += p[k] * l[k];
        sums->work += p[k] * x / compliance;
        sums->law += l[k] * x / compliance;
    }
}

// A part between nothing and all; both sums are of one sign where flesh resists.
static double ShareOfSum(double some, double all)
{
    return some * all > 0.0 ? fmin(some / all, 1.0) : 0.0;
}

snwNeoEffect snwNeoState_Effect(
    const snwNeoState* states, const snwNeoRest* rests, const snwBlocks* blocks, const float* rows)
{
    enum
    {
        snw_blocksAsked = 128
    };

    // Every so many blocks, all over the body.
    int stride = (blocks->tetBlocks + snw_blocksAsked - 1) / snw_blocksAsked, count = 0;

    EffectSums sums = {0};

    for (int b = 0; b < blocks->tetBlocks; b += stride)
        for (int lane = 0; lane < snw_blockLanes; ++lane)
            if (rests[b].volume[lane] > 0.0f)
            {
                AddEffect(&states[b], &rests[b], &blocks->tets[b], lane, rows, &sums);
                count++;
            }

    // Strain that is no more than the rounding of positions tells nothing.
    if (!(sums.squares > 4.0 * s_leastStrain * s_leastStrain * count))
        return (snwNeoEffect){0.0, 1.0};
    return (snwNeoEffect){ShareOfSum(sums.pp, sums.pl), ShareOfSum(sums.work, sums.law)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Short substeps

static const double s_mostCrossing = 512.0; // substeps that a wave may take to cross the body

bool snwNeoMoves_AreLost(const snwCharacter* character, const snwMaterial* materials, double h)
{
    double slowest = INFINITY; // (m/s)^2
    for (int i = 0; i < character->def.materialCount; ++i)
        slowest = fmin(slowest, materials[i].young / materials[i].density);
    return snwVec3_Distance(character->lower, character->upper) > s_mostCrossing * h * sqrt(slowest);
}

void snwNeoMoves_Begin(snwNeoMoves* moves, const float* positions, int count)
{
    memset(moves->elsewhere, 0, 4 * (size_t)count * sizeof *moves->elsewhere);
    snwNeoMoves_AfterLaw(moves, positions, count);
}

void snwNeoMoves_BeforeLaw(snwNeoMoves* moves, const float* positions, int count)
{
    for (size_t i = 0; moves->on && i < 4 * (size_t)count; ++i)
        moves->elsewhere[i] += positions[i] - moves->rows[i];
}

void snwNeoMoves_AfterLaw(snwNeoMoves* moves, const float* positions, int count)
{
    if (moves->on)
        memcpy(moves->rows, positions, 4 * (size_t)count * sizeof *positions);
}

typedef struct MovesLoop
{
    const snwConstraintKernels* kernels;
    const snwNeoLaw* law;
    float* rows;
} MovesLoop;

static void AddNeoMoves(int begin, int end, void* data)
{
    const MovesLoop* loop = data;
    const snwNeoLaw* law = loop->law;
    loop->kernels->neoMoves(loop->rows, law->blocks->tets, law->rests, law->states, begin, end);
}

void snwNeoMoves_End(
    snwContext* context, snwNeoMoves* moves, const snwNeoLaw* law, const float* positions, const float* predicted)
{
    int count = law->blocks->vertexCount;
    MovesLoop loop = {snwConstraint_Kernels(context->simd), law, moves->rows};
    snwNeoMoves_BeforeLaw(moves, positions, count);
    for (size_t i = 0; i < 4 * (size_t)count; ++i)
        moves->rows[i] = i % 4 < 3 ? 0.0f : positions[i];
    snwColours_Sweep(context, &law->blocks->tetColours, AddNeoMoves, &loop);
    for (size_t i = 0; i < 4 * (size_t)count; ++i)
        moves->rows[i] = positions[i] - predicted[i] - (moves->rows[i] + moves->elsewhere[i]);
}
