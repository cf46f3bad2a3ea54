// Measurements of the maths kernels: time, error against the reference in double, and memory bandwidth.
// No output here; the benchmark program formats, the tests compare.

#pragma once

#include "math/types.h"

#include <stdbool.h>
#include <stdint.h>

// ---------------------------------------------------------------------------------------------------------------------
// Time

typedef enum snwPolarStage
{
    snw_polarDeform,   // gather the corners, form F
    snw_polarExtract,  // and its rotation
    snw_polarStretch,  // and the stretch S
    snw_polarSvd,      // and the signed singular value decomposition
    snw_polarBaseline, // scalar double, one tetrahedron at a time: analytic polar decomposition from the same guess
    snw_polarStageCount
} snwPolarStage;

typedef struct snwPolarTiming
{
    int tetCount, vertexCount;
    double stale;                       // rad, mean angle between the guess and the answer
    double best[snw_polarStageCount];   // ns per tetrahedron, fastest repeat
    double median[snw_polarStageCount]; // ns per tetrahedron
    double robustShare;                 // share of tetrahedra that went the slow way
    double baselineError;               // rad, largest difference between the wide and the baseline's rotations
} snwPolarTiming;

// A cube of about tetCount tetrahedra, twisted, stretched and jittered; the guess is the pose of the frame before,
// one sixtieth of a second at a fast twist. One thread. False when memory runs out.
bool snwMeasurePolar(snwSimd simd, int tetCount, int repeats, snwPolarTiming* out);

// ---------------------------------------------------------------------------------------------------------------------
// Error

typedef enum snwPolarClass
{
    snw_polarRandom,         // entries from a normal distribution
    snw_polarNearlySingular, // last one or two singular values down to 1e-8
    snw_polarInverted,       // negative determinant, up to sigma2 + sigma3 = 1e-4
    snw_polarRankTwo,        // exactly (zero or equal columns, integers) and to rounding
    snw_polarRankOne,        // likewise
    snw_polarRankZero,
    snw_polarLarge, // random times 1e15
    snw_polarSmall, // random times 1e-15
    snw_polarClassCount
} snwPolarClass;

typedef enum snwPolarGuess
{
    snw_guessRight, // the rotation itself, rounded
    snw_guessStale, // 0.1 to 0.5 rad off
    snw_guessWrong, // random, half a turn off, zero, NaN or far from unit length
    snw_polarGuessCount
} snwPolarGuess;

const char* snwPolarClass_Name(snwPolarClass kind);
const char* snwPolarGuess_Name(snwPolarGuess guess);

// How much of the sensitivity sigma1 / (sigma2 + sigma3) of the rotation is granted. A relative change d of F turns R
// by up to d times that, and forming R^T F in float amounts to changes of about five roundings of 6e-8: 3e-7 rad per
// unit, or 0.03 of the bound of 1e-5 rad.
#define SNW_POLAR_GRANTED 0.03

// Above this sensitivity a rotation counts as not unique: float cannot tell it.
#define SNW_POLAR_UNIQUE 1e5

typedef struct snwPolarError
{
    int64_t count;
    double conditioned; // rad, largest error / max(1, SNW_POLAR_GRANTED * sensitivity): to be compared with 1e-5
    double raw;         // rad, largest error where the rotation is unique
    double tame;        // rad, largest error where the sensitivity is below 10
    double orthonormal; // largest entry of R^T R - I, and of |q| - 1
    double shortfall;   // largest (sigma1 + sigma2 + sigma3 - tr(R^T F)) / sigma1: 0 for every maximiser, unique or not
    double worstCase[9]; // the matrix of `conditioned`
    int64_t notUnique, robust, notFinite;
} snwPolarError;

// Rotations of `count` random matrices against snwPolar3_Compute.
snwPolarError snwMeasurePolarError(snwSimd simd, snwPolarClass kind, snwPolarGuess guess, int64_t count, uint64_t seed);

typedef struct snwSvdError
{
    int64_t count;
    double reconstruction; // largest entry of U diag(sigma) V^T - F, over sigma1
    double orthonormal;    // largest entry of U^T U - I and V^T V - I
    double sigma;          // largest error of a singular value, over sigma1
    int64_t disorder;      // results that break sigma1 >= sigma2 >= |sigma3|
} snwSvdError;

snwSvdError snwMeasureSvdError(snwSimd simd, snwPolarClass kind, snwPolarGuess guess, int64_t count, uint64_t seed);

// One matrix of a class; for tests that need their own.
void snwPolarClass_Sample(snwPolarClass kind, uint64_t* seed, float F[9]);

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// GB/s of reading `bytes` over and over, fastest repeat, one thread. 0 when memory runs out.
double snwMeasureReadBandwidth(int64_t bytes, int repeats);
