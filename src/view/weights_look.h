// The skin of a character in the colours of its weights, in a pose of its bones.

#pragma once

#include "base/arena.h"
#include "view/picture.h"

typedef struct snwWeightsLookDef
{
    const snwCharacter* character;
    const char* handle;       // a bone or handle by name, on a ramp from 0 to 1; NULL: all, a colour for each
    const snwTransform* pose; // of the bones; NULL: at rest
    snwSkinningKind kind;
} snwWeightsLookDef;

// The colour of a handle or bone by its number, linear.
snwFloat3 snwWeights_Color(int handle);

// Weights of the bones, or of the handles where there are no bones or `handle` names one; the character's own if it has
// them, else computed. A warning is what snwComputeWeights warned of. Arrays of the look live in the arena.
snwResult snwMakeWeightsLook(
    snwContext* context, snwArena* arena, const snwWeightsLookDef* def, snwMeshLook* look, snwMessage* message);
