// Sums over handles for SSE2 or NEON.

#include "rig/handle_sums.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "rig/handle_sums_kernel.h"

const snwSumKernels* snwHandleSums_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwSumKernels* snwHandleSums_KernelsBase(void)
{
    return NULL;
}

#endif
