// Passes of a rig for AVX2.

#include "rig/rig_pass.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "rig/rig_pass_kernel.h"

const snwPassKernels* snwRigPass_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwPassKernels* snwRigPass_KernelsAvx2(void)
{
    return NULL;
}

#endif
