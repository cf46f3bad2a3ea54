// The detector's oracle: every vertex against every element and facet, without trees, boxes or order.

#pragma once

#include "contact/detect.h"

typedef struct snwBruteResult
{
    int expected; // overlaps that brute force finds
    int missed;   // of those, not among the given ones
    int extra;    // given ones that brute force does not find
    int wrong;    // found by both, but with another depth, or with a way out that does not lead to the skin
} snwBruteResult;

snwBruteResult snwCompareWithBrute(
    const snwDetector* detector, const snwDetectorInput* input, const snwOverlap* overlaps, int count);
