// The kernels of elastic.h for AVX2.

#include "sim/apd/elastic.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "sim/apd/elastic_kernel.h"

const snwElasticKernels* snwElastic_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwElasticKernels* snwElastic_KernelsAvx2(void)
{
    return NULL;
}

#endif
