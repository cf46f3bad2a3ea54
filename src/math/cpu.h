// Which instruction set the kernels run with.

#pragma once

#include "math/types.h"

#include <stdbool.h>

// The widest that this build contains and this processor runs.
snwSimd snwSimd_Best(void);

// snw_simdAuto becomes the best one; anything that cannot run here becomes the next narrower one that can.
snwSimd snwSimd_Resolve(snwSimd wanted);

// "auto", "scalar", "sse2" or "neon", "avx2".
const char* snwSimd_Name(snwSimd simd);

// Whether the files for AVX2 were compiled for it.
bool snwSimd_HasAvx2Kernels(void);
