// The projections one constraint at a time: the oracle of the wide ones, and the build without them.

#define SNW_SIMD_FORCE_SCALAR
#include "sim/constraints/kernel.h"

const snwConstraintKernels* snwConstraint_KernelsScalar(void)
{
    return &s_kernels;
}
