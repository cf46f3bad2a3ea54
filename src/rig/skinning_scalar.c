// Skinning in plain floats: the reference of the wide kernels, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "rig/skinning_kernel.h"

const snwSkinKernels* snwSkin_KernelsScalar(void)
{
    return &s_kernels;
}
