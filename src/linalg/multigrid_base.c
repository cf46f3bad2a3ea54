// The loops of multigrid_kernel.h for any processor, and the choice between the two.

#include "linalg/multigrid_kernel.h"

#include "math/cpu.h"

const snwMultigridKernels* snwMultigrid_KernelsBase(void)
{
    return &s_kernels;
}

const snwMultigridKernels* snwMultigrid_Kernels(snwSimd simd)
{
    const snwMultigridKernels* wide = snwSimd_Resolve(simd) == snw_simdAvx2 ? snwMultigrid_KernelsAvx2() : NULL;
    return wide != NULL ? wide : snwMultigrid_KernelsBase();
}
