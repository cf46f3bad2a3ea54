// The kernels of cholesky_kernels.h one number at a time, and the choice among all.

#define SNW_SIMD_FORCE_SCALAR
#include "linalg/cholesky_kernel.h"

#include "math/cpu.h"

const snwCholeskyKernels* snwCholesky_KernelsScalar(void)
{
    return &s_kernels;
}

const snwCholeskyKernels* snwCholesky_Kernels(snwSimd simd)
{
    const snwCholeskyKernels* kernels = NULL;
    snwSimd resolved = snwSimd_Resolve(simd);
    if (resolved == snw_simdAvx2)
        kernels = snwCholesky_KernelsAvx2();
    else if (resolved == snw_simdBase)
        kernels = snwCholesky_KernelsBase();
    return kernels != NULL ? kernels : snwCholesky_KernelsScalar();
}
