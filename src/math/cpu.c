// Which instruction set the kernels run with: what the build holds, cut down to what the processor has.

#include "math/cpu.h"

static bool RunsAvx2(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

static bool HasBase(void)
{
#if !defined(SNW_SCALAR) && (defined(__SSE2__) || (defined(__aarch64__) && defined(__ARM_NEON)))
    return true;
#else
    return false;
#endif
}

snwSimd snwSimd_Best(void)
{
    if (snwSimd_HasAvx2Kernels() && RunsAvx2())
        return snw_simdAvx2;
    return HasBase() ? snw_simdBase : snw_simdScalar;
}

snwSimd snwSimd_Resolve(snwSimd wanted)
{
    snwSimd best = snwSimd_Best();
    return wanted == snw_simdAuto || wanted > best ? best : wanted;
}

const char* snwSimd_Name(snwSimd simd)
{
    switch (simd)
    {
        case snw_simdAuto:
            return "auto";
        case snw_simdScalar:
            return "scalar";
        case snw_simdBase:
#if defined(__aarch64__)
            return "neon";
#else
            return "sse2";
#endif
        case snw_simdAvx2:
            return "avx2";
    }
    return "unknown";
}
