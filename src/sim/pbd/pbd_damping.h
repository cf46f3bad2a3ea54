// Sizes of the damping's work array.

#pragma once

enum
{
    snw_pbdDampGrain = 1024, // vertices per chunk
    snw_pbdDampSums = 9,     // numbers per chunk
};
