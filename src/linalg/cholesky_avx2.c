// The kernels of cholesky_kernels.h for AVX2.

#include "linalg/cholesky_kernels.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "linalg/cholesky_kernel.h"

const snwCholeskyKernels* snwCholesky_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwCholeskyKernels* snwCholesky_KernelsAvx2(void)
{
    return NULL;
}

#endif
