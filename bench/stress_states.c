#include "stress_states.h"

#include "math/vec.h"

#include <math.h>
#include <stdint.h>

const char* const snwStressNames[snw_stressKindCount] = {
    "flattened", "stretched 10x", "twisted twice", "a point", "random", "inside out"};

// A number of 0..1 that looks random, always the same.
static double Hashed(uint32_t n)
{
    n = (n ^ 61U) ^ (n >> 16);
    n *= 9U;
    n = (n ^ (n >> 4)) * 0x27d4eb2dU;
    return (n ^ (n >> 15)) / 4294967296.0;
}

snwVec3 snwStress_Move(snwStressKind kind, snwVec3 x, int index)
{
    uint32_t n = 3 * (uint32_t)index;
    double angle = 4 * SNW_PI * x.x;
    switch (kind)
    {
        case snw_stressFlat:
            return (snwVec3){x.x, 0, x.z};
        case snw_stressStretched:
            return (snwVec3){10 * x.x, x.y, x.z};
        case snw_stressTwisted:
            return (snwVec3){x.x, cos(angle) * x.y - sin(angle) * x.z, sin(angle) * x.y + cos(angle) * x.z};
        case snw_stressPoint:
            return (snwVec3){0, 0, 0};
        case snw_stressRandom:
            return (snwVec3){Hashed(n) - 0.5, Hashed(n + 1) - 0.5, Hashed(n + 2) - 0.5};
        case snw_stressInsideOut:
            return snwVec3_Negate(x);
        case snw_stressKindCount:
            break;
    }
    return x;
}
