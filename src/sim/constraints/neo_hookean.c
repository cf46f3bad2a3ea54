#include "sim/constraints/neo_hookean.h"

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

// Adds what a tet says: P : P and P : L, with L the law's P for F as it is, both times a~_D; and the square of its
// strain. Where nu is 0.5 pressure has no law, and what lies along s is left out of both.
static void AddEffect(const snwNeoState* state, const snwNeoRest* rest, const snwTetBlock* tets, int lane,
    const float* rows, double sums[3])
{
    snwVec3 x0 = snwRow_Get(rows, tets->index[0][lane]);
    snwMat3 edges = snwMat3_FromColumns(snwVec3_Sub(snwRow_Get(rows, tets->index[1][lane]), x0),
        snwVec3_Sub(snwRow_Get(rows, tets->index[2][lane]), x0),
        snwVec3_Sub(snwRow_Get(rows, tets->index[3][lane]), x0));
    snwMat3 inverse;
    for (int k = 0; k < 9; ++k)
        inverse.m[k / 3][k % 3] = (double)rest->inverse[k][lane];
    snwMat3 f = snwMat3_Mul(edges, inverse), s = snwMat3_Cofactor(f);

    double bulk = (double)state->bulk[lane], more = snwMat3_Determinant(f) - 1.0;
    double p[9], law[9], along[2] = {0.0, 0.0}, square = 0.0;
    for (int k = 0; k < 9; ++k)
    {
        double t = s.m[k / 3][k % 3], strain = f.m[k / 3][k % 3] - t;
        p[k] = (double)state->push[k][lane] * (double)state->compliance[lane];
        law[k] = -strain - (bulk > s_leastBulk ? more / bulk * t : 0.0);
        along[0] += p[k] * t;
        along[1] += law[k] * t;
        square += t * t;
        sums[2] += strain * strain;
    }
    for (int k = 0; k < 9; ++k)
    {
        double t = bulk > s_leastBulk || !(square > 0.0) ? 0.0 : s.m[k / 3][k % 3] / square;
        sums[0] += (p[k] - along[0] * t) * (p[k] - along[0] * t);
        sums[1] += (p[k] - along[0] * t) * (law[k] - along[1] * t);
    }
}

double snwNeoState_Effect(
    const snwNeoState* states, const snwNeoRest* rests, const snwBlocks* blocks, const float* rows)
{
    enum
    {
        snw_blocksAsked = 64
    };
    int stride = (blocks->tetBlocks + snw_blocksAsked - 1) / snw_blocksAsked, count = 0;
    double sums[3] = {0.0, 0.0, 0.0};
    for (int b = 0; b < blocks->tetBlocks; b += stride)
        for (int lane = 0; lane < snw_blockLanes; ++lane)
            if (rests[b].volume[lane] > 0.0f)
            {
                AddEffect(&states[b], &rests[b], &blocks->tets[b], lane, rows, sums);
                count++;
            }
    bool strained = sums[2] > 4.0 * s_leastStrain * s_leastStrain * count;
    return strained && sums[1] > 0.0 ? fmin(sums[0] / sums[1], 1.0) : 0.0;
}
