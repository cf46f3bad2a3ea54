// The kernels of elastic.h in plain floats: the reference of the wide ones, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "sim/apd/elastic_kernel.h"

const snwElasticKernels* snwElastic_KernelsScalar(void)
{
    return &s_kernels;
}
