// Included by one file per instruction set; see simd_probe.h.

#include "simd_probe.h"

#include "math/simd.h"

static snwWide ProbeInts(snwWide a, snwWide b)
{
    // In range of an int whatever comes in, NaN included.
    snwWide x = snwWide_Min(snwWide_Max(a, snwWide_Splat(-1e6f)), snwWide_Splat(1e6f));
    snwWide y = snwWide_Min(snwWide_Max(b, snwWide_Splat(-1e6f)), snwWide_Splat(1e6f));
    snwWideInt i = snwWideInt_Max(snwWide_ToInt(x), snwWide_ToInt(y));
    return snwWide_FromInt((i >> 3) + (i << 2)) + snwWide_FromInt(snwWideInt_Splat(5));
}

// Per lane: bit of a < b, whether any, whether all of the lanes with the same values.
static snwWide ProbeMasks(snwWide a, snwWide b)
{
    snwWideInt mask = a < b, out = snwWideInt_Splat(0);
    int bits = snwWideInt_Bits(mask);
    for (int lane = 0; lane < SNW_WIDE_LANES; lane++)
        out[lane] = bits >> lane & 1;
    out = out + (snwWideInt_Any(mask) == (bits != 0) ? 0 : 100);
    out = out + (snwWideInt_All(mask) == (bits == (1 << SNW_WIDE_LANES) - 1) ? 0 : 100);
    return snwWide_FromInt(out);
}

static snwWide ProbeOne(snwProbeOp op, snwWide a, snwWide b)
{
    switch (op)
    {
        case snw_probeAdd:
            return a + b;
        case snw_probeSub:
            return a - b;
        case snw_probeMul:
            return a * b;
        case snw_probeDiv:
            return a / b;
        case snw_probeSqrt:
            return snwWide_Sqrt(a);
        case snw_probeMin:
            return snwWide_Min(a, b);
        case snw_probeMax:
            return snwWide_Max(a, b);
        case snw_probeAbs:
            return snwWide_Abs(a);
        case snw_probeMulSign:
            return snwWide_MulSign(a, b);
        case snw_probeSelect:
            return snwWide_Select(a < b, a * 2.0f, b);
        case snw_probeInts:
            return ProbeInts(a, b);
        default:
            return ProbeMasks(a, b);
    }
}

static void ProbeRun(snwProbeOp op, int count, const float* a, const float* b, float* out)
{
    for (int i = 0; i < count; i += SNW_WIDE_LANES)
        snwWide_Store(out + i, ProbeOne(op, snwWide_Load(a + i), snwWide_Load(b + i)));
}

static void ProbeRows(int count, const int* index, const float* in, float* out)
{
    for (int i = 0; i < count; i += SNW_WIDE_LANES)
    {
        snwWide x, y, z, w;
        snwWide_Load4(in, index + i, &x, &y, &z, &w);
        snwWide_Store4(out, index + i, x, y + 1.0f, z + 2.0f, w + 3.0f);
    }
}

static const snwSimdProbe s_probe = {SNW_WIDE_LANES, ProbeRun, ProbeRows};
