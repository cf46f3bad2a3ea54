// Passes of a rig in plain floats: the reference of the wide kernels, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "rig/rig_pass_kernel.h"

const snwPassKernels* snwRigPass_KernelsScalar(void)
{
    return &s_kernels;
}
