// The projections for SSE2 or NEON.

#include "sim/constraints/kernels.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "sim/constraints/kernel.h"

const snwConstraintKernels* snwConstraint_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwConstraintKernels* snwConstraint_KernelsBase(void)
{
    return NULL;
}

#endif
