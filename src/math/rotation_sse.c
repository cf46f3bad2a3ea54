// The kernels of rotation.h for SSE2 or NEON.

#include "math/rotation.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "math/rotation_kernel.h"

const snwRotationKernels* snwRotation_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwRotationKernels* snwRotation_KernelsBase(void)
{
    return NULL;
}

#endif
