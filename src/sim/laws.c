// Energy densities of elastic laws, in double, for measures and reports; no step runs them.

#include "sim/laws.h"

#include <math.h>

snwLame snwMaterial_Lame(const snwMaterial* material)
{
    double nu = material->poisson < 0.4999 ? material->poisson : 0.4999;
    double mu = material->young / (2.0 * (1.0 + nu));
    return (snwLame){mu, 2.0 * mu * nu / (1.0 - 2.0 * nu)};
}

// Smith 1961.
void snwSingularValues(snwMat3 f, double s[3])
{
    snwMat3 c = snwMat3_TransposeMul(f, f);
    double mean = snwMat3_Trace(c) / 3.0;
    for (int i = 0; i < 3; ++i)
        c.m[i][i] -= mean;
    double p = snwMat3_Norm(c) / sqrt(6.0);
    double r = p > 0.0 ? 0.5 * snwMat3_Determinant(snwMat3_Scale(c, 1.0 / p)) : 0.0;
    double angle = acos(r < -1.0 ? -1.0 : r > 1.0 ? 1.0 : r) / 3.0;
    double eigen[3] = {mean + 2.0 * p * cos(angle), 0.0, mean + 2.0 * p * cos(angle + 2.0 * SNW_PI / 3.0)};
    eigen[1] = 3.0 * mean - eigen[0] - eigen[2];
    for (int i = 0; i < 3; ++i)
        s[i] = sqrt(eigen[i] > 0.0 ? eigen[i] : 0.0);
    if (snwMat3_Determinant(f) < 0.0)
        s[2] = -s[2];
}

double snwDensity_Corotated(snwLame lame, snwMat3 f)
{
    double s[3];
    snwSingularValues(f, s);
    double shape = 0.0, trace = s[0] + s[1] + s[2] - 3.0;
    for (int i = 0; i < 3; ++i)
        shape += (s[i] - 1.0) * (s[i] - 1.0);
    return lame.mu * shape + 0.5 * lame.lambda * trace * trace;
}

double snwDensity_NeoHookean(snwLame lame, snwMat3 f)
{
    double norm = snwMat3_Norm(f), more = snwMat3_Determinant(f) - 1.0;
    return 0.5 * (lame.lambda + lame.mu) * more * more + lame.mu * (0.5 * (norm * norm - 3.0) - more);
}

double snwMaterial_DampingTime(const snwMaterial* material, double size)
{
    double speed2 = material->young / material->density;
    return 2 * material->damping * size * size / (SNW_PI * SNW_PI * speed2);
}
