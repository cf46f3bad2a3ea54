// The loops of corotated_kernel.h for AVX2.

#include "sim/skelfem/corotated_parts.h"

#if defined(__AVX2__)

#include "sim/skelfem/corotated_kernel.h"

const snwCorotatedKernels* snwCorotated_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwCorotatedKernels* snwCorotated_KernelsAvx2(void)
{
    return NULL;
}

#endif
