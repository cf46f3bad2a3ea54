// See simd_probe.h.

#define SNW_SIMD_FORCE_SCALAR
#include "simd_probe_kernel.h"

const snwSimdProbe* snwSimdProbe_Scalar(void)
{
    return &s_probe;
}
