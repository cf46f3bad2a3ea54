// The kernels of rotation.h in plain floats: the reference of the wide ones, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "math/rotation_kernel.h"

const snwRotationKernels* snwRotation_KernelsScalar(void)
{
    return &s_kernels;
}
