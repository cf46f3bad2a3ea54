// The loops of corotated_kernel.h for any processor, and the choice between the two.

#include "sim/skelfem/corotated_kernel.h"

#include "math/cpu.h"

const snwCorotatedKernels* snwCorotated_KernelsBase(void)
{
    return &s_kernels;
}

const snwCorotatedKernels* snwCorotated_Kernels(snwSimd simd)
{
    const snwCorotatedKernels* wide = snwSimd_Resolve(simd) == snw_simdAvx2 ? snwCorotated_KernelsAvx2() : NULL;
    return wide != NULL ? wide : snwCorotated_KernelsBase();
}
