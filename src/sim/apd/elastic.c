// Weights of the laws, choice of the kernels, and the closest matrix of determinant 1 for lanes that they decline.

#include "sim/apd/elastic.h"

#include "math/cpu.h"
#include "math/eigen.h"

#include <math.h>

const snwElasticKernels* snwElastic_Kernels(snwSimd simd)
{
    const snwElasticKernels* kernels = NULL;
    switch (snwSimd_Resolve(simd))
    {
        case snw_simdAvx2:
            kernels = snwElastic_KernelsAvx2();
            break;
        case snw_simdBase:
            kernels = snwElastic_KernelsBase();
            break;
        default:
            break;
    }
    return kernels != NULL ? kernels : snwElastic_KernelsScalar();
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

static const double s_mostLambda = 100; // of mu

double snwElastic_Metric(snwElasticLaw law, const snwElasticWeight* weight)
{
    double bulk = 0;
    if (law == snw_elasticVolume)
        bulk = weight->bulk;
    else if (law != snw_elasticStrain)
        bulk = 2 * fmax(weight->bulk, 0);
    return weight->shear + bulk + weight->damping;
}

static double Lambda(const snwMaterial* material, double mu)
{
    double nu = material->poisson, rest = 1 - 2 * nu;
    // nu / rest >= 50 is lambda >= 100 mu, also where rest is 0.
    return 2 * nu >= s_mostLambda * rest ? s_mostLambda * mu : 2 * mu * nu / rest;
}

snwElasticWeight snwElastic_Weigh(
    snwElasticLaw law, const snwMaterial* material, double volume, double dampingTime, double h)
{
    double mu = material->young / (2 * (1 + material->poisson)), lambda = Lambda(material, mu);
    snwElasticWeight weight = {.shear = 2 * mu * volume, .damping = 2 * mu * volume * dampingTime / h};
    if (law == snw_elasticVolume)
        weight.bulk = 3 * fmax(lambda, 0) * volume;
    else if (law != snw_elasticStrain)
        weight.bulk = lambda * volume;
    return weight;
}

// ---------------------------------------------------------------------------------------------------------------------
// The closest matrix of determinant 1
//
// Its singular values s solve s_i (sigma_i - s_i) = k with product 1. At the closest point the two larger ones are on
// the branch s_i >= sigma_i / 2 (more than one on the other has a direction that comes closer), so t = s_3 tells all:
// k = t (sigma3 - t), s_i = (sigma_i + sqrt(sigma_i^2 - 4 k)) / 2, and product(t) = s_1 s_2 t must be 1. The product
// grows with t but for a part of (sigma3 / 3, sigma3 / 2). There may then be a t on both sides, and that is where three
// equal stretches of 1.9 fall from the symmetric answer to one that flattens a single direction: both are compared.

typedef struct Stretches
{
    double sigma[3]; // descending, sigma[1] >= |sigma[2]|
    double s[3];
    double k, product, slope; // slope: of ln(product) over t
} Stretches;

static void EvaluateStretches(Stretches* a, double t)
{
    a->k = t * (a->sigma[2] - t);
    a->product = t;
    a->s[2] = t;
    a->slope = 1 / t;
    for (int i = 0; i < 2; i++)
    {
        double root = sqrt(fmax(a->sigma[i] * a->sigma[i] - 4 * a->k, 0));
        a->s[i] = 0.5 * (a->sigma[i] + root);
        a->product *= a->s[i];
        a->slope -= (a->sigma[2] - 2 * t) / (a->s[i] * root);
    }
}

static double Distance2(const Stretches* a)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (a->sigma[i] - a->s[i]) * (a->sigma[i] - a->s[i]);
    return sum;
}

// The t between low, where the product is at most 1, and high, where it is at least 1. Newton's iteration on the
// logarithm (its first approximant), halving where that leaves the bracket.
static void Bracket(Stretches* a, double low, double high)
{
    double t = high;
    for (int step = 0; step < 100 && high - low > 1e-12 * high; step++)
    {
        EvaluateStretches(a, t);
        if (a->product < 1)
            low = t;
        else
            high = t;
        double next = t - 2 * (a->product - 1) / ((a->product + 1) * a->slope);
        if (fabs(next - t) <= 1e-13 * t)
            return;
        t = next > low && next < high ? next : 0.5 * (low + high);
    }
    EvaluateStretches(a, t);
}

// Where the product is largest in (sigma3 / 3, sigma3 / 2), by golden section: to 1e-7, which is 1e-14 of the product.
static double LargestProduct(Stretches* a)
{
    const double golden = 0.6180339887498949;
    double low = a->sigma[2] / 3, high = a->sigma[2] / 2;
    for (int step = 0; step < 32; step++)
    {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        EvaluateStretches(a, left);
        double atLeft = a->product;
        EvaluateStretches(a, right);
        if (atLeft > a->product)
            high = right;
        else
            low = left;
    }
    return 0.5 * (low + high);
}

static double ProductAt(Stretches* a, double t)
{
    EvaluateStretches(a, t);
    return a->product;
}

// sigma1 sigma2 sigma3 > 1: t is below sigma3, and at least 1 / (sigma1 sigma2).
static void ShrinkStretches(Stretches* a)
{
    double third = a->sigma[2] / 3, half = a->sigma[2] / 2, top = third;
    bool whole = ProductAt(a, half) < 1; // there is a t above half
    double atThird = ProductAt(a, third);
    // s1 and s2 fall from third to half, so the product is at most half / third of atThird between them.
    if (atThird < 1 && whole && 1.5 * atThird >= 1)
        top = LargestProduct(a);
    else if (atThird < 1 && !whole)
        top = half;
    Stretches flat = *a;
    bool below = ProductAt(&flat, top) >= 1;
    if (below)
        Bracket(&flat, 1 / (a->sigma[0] * a->sigma[1]), top);
    if (whole)
        Bracket(a, half, a->sigma[2]);
    if (below && (!whole || Distance2(&flat) < Distance2(a)))
        *a = flat;
}

static void SolveStretches(Stretches* a)
{
    double det = a->sigma[0] * a->sigma[1] * a->sigma[2];
    if (det > 1)
        ShrinkStretches(a);
    else
        Bracket(a, fmax(a->sigma[2], 0), 1);
}

void snwElastic_VolumeGap(const float S[6], float gap[6])
{
    snwMat3 m = {{{S[0], S[3], S[4]}, {S[3], S[1], S[5]}, {S[4], S[5], S[2]}}};
    snwEigen3 eigen = snwEigen3_Symmetric(m);
    Stretches a = {.sigma = {eigen.values[0], eigen.values[1], eigen.values[2]}};
    double sum[6] = {0};
    SolveStretches(&a);
    for (int i = 0; i < 3; i++)
    {
        double d = a.k / a.s[i];
        snwVec3 v = snwMat3_Column(eigen.vectors, i);
        sum[0] += d * v.x * v.x, sum[1] += d * v.y * v.y, sum[2] += d * v.z * v.z;
        sum[3] += d * v.x * v.y, sum[4] += d * v.x * v.z, sum[5] += d * v.y * v.z;
    }
    for (int i = 0; i < 6; i++)
        gap[i] = (float)sum[i];
}
