// Sums over handles in plain floats: the reference of the wide kernels, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "rig/handle_sums_kernel.h"

const snwSumKernels* snwHandleSums_KernelsScalar(void)
{
    return &s_kernels;
}
