// The kernels of the widest instruction set that is asked for and that the build has.

#include "sim/constraints/kernels.h"

const snwConstraintKernels* snwConstraint_Kernels(snwSimd simd)
{
    const snwConstraintKernels* kernels = NULL;
    if (simd == snw_simdAvx2)
        kernels = snwConstraint_KernelsAvx2();
    if (kernels == NULL && simd >= snw_simdBase)
        kernels = snwConstraint_KernelsBase();
    return kernels != NULL ? kernels : snwConstraint_KernelsScalar();
}
