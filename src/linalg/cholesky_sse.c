// The kernels of cholesky_kernels.h for SSE2 or NEON.

#include "linalg/cholesky_kernels.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "linalg/cholesky_kernel.h"

const snwCholeskyKernels* snwCholesky_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwCholeskyKernels* snwCholesky_KernelsBase(void)
{
    return NULL;
}

#endif
