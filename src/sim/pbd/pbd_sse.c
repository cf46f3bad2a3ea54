// The projections for SSE2 or NEON.

#include "sim/pbd/pbd.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "sim/pbd/pbd_kernel.h"

const snwPbdKernels* snwPbd_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwPbdKernels* snwPbd_KernelsBase(void)
{
    return NULL;
}

#endif
