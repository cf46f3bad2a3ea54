#include "sim/constraints/neo_hookean.h"

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
