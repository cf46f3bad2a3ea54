// The value types that the maths shares with the public interface.

#pragma once

typedef struct snwVec3
{
    double x, y, z;
} snwVec3;

// Order of glTF: the scalar part comes last.
typedef struct snwQuat
{
    double x, y, z, w;
} snwQuat;

// Rotation first, then translation.
typedef struct snwTransform
{
    snwVec3 position;
    snwQuat rotation;
} snwTransform;

typedef enum snwSimd
{
    snw_simdAuto = 0,
    snw_simdScalar = 1,
    snw_simdBase = 2, // SSE2 or NEON
    snw_simdAvx2 = 3,
} snwSimd;
