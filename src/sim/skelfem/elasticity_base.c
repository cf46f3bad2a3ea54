// The loops of elasticity_kernel.h for any processor, and the choice between the two.

#include "sim/skelfem/elasticity_kernel.h"

#include "math/cpu.h"

const snwElasticityKernels* snwElasticity_KernelsBase(void)
{
    return &s_kernels;
}

const snwElasticityKernels* snwElasticity_Kernels(snwSimd simd)
{
    const snwElasticityKernels* wide = snwSimd_Resolve(simd) == snw_simdAvx2 ? snwElasticity_KernelsAvx2() : NULL;
    return wide != NULL ? wide : snwElasticity_KernelsBase();
}
