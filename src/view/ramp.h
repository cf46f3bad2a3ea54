// Numbers as colours: an even ramp, a scale from numbers to it, and the legend in a corner of a picture.

#pragma once

#include "view/image.h"

// Linear colour for t in 0..1; anything else is clamped, NaN is 0. Equal steps of t look equally large, and brighter is
// always more, so that it can be read without seeing colours.
snwFloat3 snwRamp_Color(float t);

typedef struct snwScale
{
    const char* title;
    const char* unit; // "%" is written as it is; others get a prefix such as k or M
    double lower, upper;
    bool logarithmic;
    bool panel; // behind it: the picture may be busy there
} snwScale;

// 0..1 for the ramp.
float snwScale_Place(const snwScale* scale, double value);

// The next of 1, 2, 5 times a power of ten; 1 for what is not a positive number.
double snwScale_RoundUp(double value);

// Bar, numbers and title in the lower left corner; nothing in an image less than 48 pixels high.
void snwImage_DrawScale(snwImage* image, const snwScale* scale);
