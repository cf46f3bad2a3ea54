// Light and what displays are told of it: the curves of sRGB (IEC 61966-2-1), of numbers from 0 to 1. The first two
// take what is beyond as that end, and reckon in double: 1 stays 1.

#pragma once

#include <math.h>

static inline float snwDisplay_FromLight(double x)
{
    x = fmin(fmax(x, 0), 1);
    return (float)(x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055);
}

static inline float snwDisplay_ToLight(double x)
{
    x = fmin(fmax(x, 0), 1);
    return (float)(x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
}

static inline float snwDisplay_FromLightFloat(float x)
{
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

static inline float snwDisplay_ToLightFloat(float x)
{
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}
