// The projections one constraint at a time: the oracle of the wide ones, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "sim/pbd/pbd_kernel.h"

const snwPbdKernels* snwPbd_KernelsScalar(void)
{
    return &s_kernels;
}
