// The kernels of rotation.h for AVX2.

#include "math/rotation.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "math/rotation_kernel.h"

const snwRotationKernels* snwRotation_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwRotationKernels* snwRotation_KernelsAvx2(void)
{
    return NULL;
}

#endif
