// Small float vectors for drawing; a colour is one too (linear red, green, blue).

#pragma once

#include "sinew/sinew.h"

#include <math.h>

#define SNW_PIF 3.14159265358979f

typedef struct snwFloat3
{
    float x, y, z;
} snwFloat3;

static inline snwFloat3 snwFloat3_Load(const float* p)
{
    return (snwFloat3){p[0], p[1], p[2]};
}

static inline void snwFloat3_Store(snwFloat3 a, float* p)
{
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

static inline snwFloat3 snwFloat3_Add(snwFloat3 a, snwFloat3 b)
{
    return (snwFloat3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline snwFloat3 snwFloat3_Sub(snwFloat3 a, snwFloat3 b)
{
    return (snwFloat3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline snwFloat3 snwFloat3_Mul(snwFloat3 a, snwFloat3 b)
{
    return (snwFloat3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline snwFloat3 snwFloat3_Scale(snwFloat3 a, float s)
{
    return (snwFloat3){a.x * s, a.y * s, a.z * s};
}

// a + s b
static inline snwFloat3 snwFloat3_MulAdd(snwFloat3 a, float s, snwFloat3 b)
{
    return (snwFloat3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline snwFloat3 snwFloat3_Mix(snwFloat3 a, snwFloat3 b, float t)
{
    return snwFloat3_MulAdd(a, t, snwFloat3_Sub(b, a));
}

static inline float snwFloat3_Dot(snwFloat3 a, snwFloat3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline snwFloat3 snwFloat3_Cross(snwFloat3 a, snwFloat3 b)
{
    return (snwFloat3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float snwFloat3_Length(snwFloat3 a)
{
    return sqrtf(snwFloat3_Dot(a, a));
}

// Zero and anything not finite become +Y, so that drawing never meets a NaN.
static inline snwFloat3 snwFloat3_Normalize(snwFloat3 a)
{
    float length = snwFloat3_Length(a);
    if (!(length > 1e-30f) || !isfinite(length))
        return (snwFloat3){0, 1, 0};
    return snwFloat3_Scale(a, 1 / length);
}

static inline bool snwFloat3_IsFinite(snwFloat3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// Not fmaxf: that is a call into libm, for the sake of NaN.
static inline float snwFloat_Max(float a, float b)
{
    return a > b ? a : b;
}

static inline float snwFloat_Min(float a, float b)
{
    return a < b ? a : b;
}

static inline float snwFloat_Clamp(float x, float lower, float upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

static inline float snwFloat_SmoothStep(float lower, float upper, float x)
{
    float t = snwFloat_Clamp((x - lower) / (upper - lower), 0, 1);
    return t * t * (3 - 2 * t);
}

static inline float snwFloat3_Luminance(snwFloat3 a)
{
    return 0.2126f * a.x + 0.7152f * a.y + 0.0722f * a.z;
}

static inline snwFloat3 snwFloat3_FromVec3(snwVec3 a)
{
    return (snwFloat3){(float)a.x, (float)a.y, (float)a.z};
}

static inline snwFloat3 snwFloat3_Rotate(snwQuat q, snwFloat3 v)
{
    snwFloat3 u = {(float)q.x, (float)q.y, (float)q.z};
    snwFloat3 t = snwFloat3_Scale(snwFloat3_Cross(u, v), 2);
    return snwFloat3_Add(snwFloat3_MulAdd(v, (float)q.w, t), snwFloat3_Cross(u, t));
}

// Two unit vectors that make a right-handed frame with the unit vector n (Duff et al. 2017).
static inline void snwFloat3_Frame(snwFloat3 n, snwFloat3* s, snwFloat3* t)
{
    float sign = copysignf(1, n.z);
    float a = -1 / (sign + n.z);
    float b = n.x * n.y * a;
    *s = (snwFloat3){1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    *t = (snwFloat3){b, sign + n.y * n.y * a, -n.y};
}
