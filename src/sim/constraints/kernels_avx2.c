// The projections for AVX2.

#include "sim/constraints/kernels.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "sim/constraints/kernel.h"

const snwConstraintKernels* snwConstraint_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwConstraintKernels* snwConstraint_KernelsAvx2(void)
{
    return NULL;
}

#endif
