// The projections for AVX2.

#include "sim/pbd/pbd.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "sim/pbd/pbd_kernel.h"

const snwPbdKernels* snwPbd_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwPbdKernels* snwPbd_KernelsAvx2(void)
{
    return NULL;
}

#endif
