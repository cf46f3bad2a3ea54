#include "sim/pbd/neo_hookean.h"

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

void snwNeoState_Begin(
    snwNeoState* states, const snwNeoRest* rests, int begin, int end, const snwMaterial* materials, double h)
{
    for (int b = begin; b < end; ++b)
    {
        snwNeoState* state = &states[b];
        memset(state->sumD, 0, sizeof state->sumD);
        memset(state->sumH, 0, sizeof state->sumH);
        memset(state->pushH, 0, sizeof state->pushH);
        for (int lane = 0; lane < snw_neoLanes; ++lane)
        {
            const snwMaterial* material = &materials[rests[b].region[lane]];
            double nu = material->poisson, volume = (double)rests[b].volume[lane];
            double perVolume = volume > 0.0 ? 2.0 * (1.0 + nu) / (material->young * volume * h * h) : 1.0;
            state->complianceD[lane] = (float)perVolume;
            state->complianceH[lane] = (float)(perVolume * (1.0 - 2.0 * nu));
            state->gamma[lane] = (float)(2.0 - 2.0 * nu);
        }
    }
}
