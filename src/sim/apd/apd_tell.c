// What a step tells about itself.

#include "sim/apd/apd.h"
#include "sim/laws.h"

#include <math.h>

void snwApd_TellResiduals(snwSim* sim)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwApdBody* body = snwApd_Body(sim, i);
        if (body->model->solver == snw_apdConstrained) // one linear solution: it has no iterations that could go on
            continue;
        double most = 0.0;
        for (int k = 0; k < body->model->fleshCount; ++k)
        {
            const float* d = body->right + 4 * (size_t)k;
            most = fmax(most, (double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        }
        snwSim_SetResidual(sim, i, sqrt(most), "more apd.iterations");
    }
}

// |F - P|^2 with P the closest matrix of determinant 1.
static double VolumeDistance2(snwMat3 f)
{
    double s[3], sum = 0.0;
    float gap[6];
    snwSingularValues(f, s);
    snwElastic_VolumeGap((float[6]){(float)s[0], (float)s[1], (float)s[2], 0.0f, 0.0f, 0.0f}, gap);
    for (int k = 0; k < 6; ++k)
        sum += (k < 3 ? 1.0 : 2.0) * (double)gap[k] * (double)gap[k];
    return sum;
}

double snwApd_ElasticDensity(const snwSim* sim, int index, int element, snwMat3 f)
{
    const snwApdModel* model = snwApd_Body(sim, index)->model;
    const snwCharacterDef* def = &model->character->def;
    snwMaterial material = sim->bodies[index].materials[def->regions[element]];
    if (def->elementBones != NULL && def->elementBones[element] >= 0)
        material.young *= model->ratio;

    // Per m^3 and without a step: the weights are twice the moduli.
    snwElasticWeight weight = snwElastic_Weigh(model->law, &material, 1.0, 0.0, 1.0);
    snwLame lame = {0.5 * weight.shear, weight.bulk};

    switch (model->law)
    {
        case snw_elasticStrain:
        case snw_elasticCorotated:
            return snwDensity_Corotated(lame, f);
        case snw_elasticVolume:
            lame.lambda = 0.0;
            return snwDensity_Corotated(lame, f) + 0.5 * weight.bulk * VolumeDistance2(f);
        case snw_elasticNeo:
            return snwDensity_NeoHookean(lame, f);
        case snw_elasticLawCount:
            break;
    }

    return 0.0;
}
