// The kernels of elastic.h for SSE2 or NEON.

#include "sim/apd/elastic.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "sim/apd/elastic_kernel.h"

const snwElasticKernels* snwElastic_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwElasticKernels* snwElastic_KernelsBase(void)
{
    return NULL;
}

#endif
