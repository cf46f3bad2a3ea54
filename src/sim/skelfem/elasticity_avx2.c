// The loops of elasticity_kernel.h for AVX2.

#include "sim/skelfem/elasticity_parts.h"

#if defined(__AVX2__)

#include "sim/skelfem/elasticity_kernel.h"

const snwElasticityKernels* snwElasticity_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwElasticityKernels* snwElasticity_KernelsAvx2(void)
{
    return NULL;
}

#endif
