// Every operation of simd.h over arrays, compiled once per instruction set, so that a test can compare the bits.

#pragma once

typedef enum snwProbeOp
{
    snw_probeAdd,
    snw_probeSub,
    snw_probeMul,
    snw_probeDiv,
    snw_probeSqrt,
    snw_probeMin,
    snw_probeMax,
    snw_probeAbs,
    snw_probeMulSign,
    snw_probeSelect,
    snw_probeInts, // to int and back, integer maximum, shifts
    snw_probeMasks,
    snw_probeOpCount
} snwProbeOp;

typedef struct snwSimdProbe
{
    int lanes;
    // out[i] = op(a[i], b[i]); count is a multiple of eight, the arrays 32-byte aligned.
    void (*run)(snwProbeOp op, int count, const float* a, const float* b, float* out);
    // out[4 * index[i] + k] = in[4 * index[i] + k] + k, through Load4 and Store4.
    void (*rows)(int count, const int* index, const float* in, float* out);
} snwSimdProbe;

// NULL where the build does not have it.
const snwSimdProbe* snwSimdProbe_Avx2(void);
const snwSimdProbe* snwSimdProbe_Base(void);
const snwSimdProbe* snwSimdProbe_Scalar(void);
