// Skinning for SSE2 or NEON.

#include "rig/skinning.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "rig/skinning_kernel.h"

const snwSkinKernels* snwSkin_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwSkinKernels* snwSkin_KernelsBase(void)
{
    return NULL;
}

#endif
