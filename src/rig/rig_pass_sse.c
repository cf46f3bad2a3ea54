// Passes of a rig for SSE2 or NEON.

#include "rig/rig_pass.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "rig/rig_pass_kernel.h"

const snwPassKernels* snwRigPass_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwPassKernels* snwRigPass_KernelsBase(void)
{
    return NULL;
}

#endif
