// The detector's first look for SSE2 or NEON.

#include "contact/detect_parts.h"

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "contact/detect_kernel.h"

const snwDetectKernels* snwDetect_KernelsBase(void)
{
    return &s_kernels;
}

#else

const snwDetectKernels* snwDetect_KernelsBase(void)
{
    return NULL;
}

#endif
