// See simd_probe.h.

#include "simd_probe.h"

#include <stddef.h>

#include "math/simd.h"

#if SNW_WIDE_LANES == 8

#include "simd_probe_kernel.h"

const snwSimdProbe* snwSimdProbe_Avx2(void)
{
    return &s_probe;
}

#else

const snwSimdProbe* snwSimdProbe_Avx2(void)
{
    return NULL;
}

#endif
