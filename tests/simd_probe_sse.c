// See simd_probe.h.

#include "simd_probe.h"

#include <stddef.h>

#define SNW_SIMD_FORCE_BASE
#include "math/simd.h"

#if SNW_WIDE_LANES == 4

#include "simd_probe_kernel.h"

const snwSimdProbe* snwSimdProbe_Base(void)
{
    return &s_probe;
}

#else

const snwSimdProbe* snwSimdProbe_Base(void)
{
    return NULL;
}

#endif
