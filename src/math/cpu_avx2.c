// Compiled like every other file for AVX2, so it knows whether they were.

#include "math/cpu.h"

bool snwSimd_HasAvx2Kernels(void)
{
#if defined(__AVX2__) && !defined(SNW_SCALAR)
    return true;
#else
    return false;
#endif
}
