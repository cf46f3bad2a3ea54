// Skinning for AVX2.

#include "rig/skinning.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "rig/skinning_kernel.h"

const snwSkinKernels* snwSkin_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwSkinKernels* snwSkin_KernelsAvx2(void)
{
    return NULL;
}

#endif
