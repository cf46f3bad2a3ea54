// Sums over handles for AVX2.

#include "rig/handle_sums.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "rig/handle_sums_kernel.h"

const snwSumKernels* snwHandleSums_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwSumKernels* snwHandleSums_KernelsAvx2(void)
{
    return NULL;
}

#endif
