// Frames themselves as morph targets, with straight lines between them: as few key frames as the tolerance allows.

#pragma once

#include "bake/morph_fit.h"

// The weights of two neighbouring keys sum to one. maxTargets counts here, too.
snwResult snwFitKeys(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message);
