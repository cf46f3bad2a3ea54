// States that no body would ever come into: where each vertex of one that is centred on the origin, some 1 m long in x,
// is put.

#pragma once

#include "sinew/sinew.h"

typedef enum snwStressKind
{
    snw_stressFlat,
    snw_stressStretched, // ten times
    snw_stressTwisted,   // twice
    snw_stressPoint,
    snw_stressRandom,
    snw_stressInsideOut,
    snw_stressKindCount,
} snwStressKind;

extern const char* const snwStressNames[snw_stressKindCount];

// index: of the vertex
snwVec3 snwStress_Move(snwStressKind kind, snwVec3 x, int index);
