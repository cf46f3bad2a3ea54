// The detector's first look for AVX2.

#include "contact/detect_parts.h"

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "contact/detect_kernel.h"

const snwDetectKernels* snwDetect_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwDetectKernels* snwDetect_KernelsAvx2(void)
{
    return NULL;
}

#endif
