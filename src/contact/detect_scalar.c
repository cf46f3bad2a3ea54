// The detector's first look in plain floats: the reference of the wide ones, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "contact/detect_kernel.h"

const snwDetectKernels* snwDetect_KernelsScalar(void)
{
    return &s_kernels;
}
