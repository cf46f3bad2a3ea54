// A clip of one file on the skeleton of another.
//
// Joints find each other by name (a map of the user first, then the names themselves, then what they mean: "mixamorig:
// LeftUpLeg", "thigh.L" and "upper_leg_l" are one). What is taken over is how far a joint has turned from rest, in the
// world, so that axes and lengths of bones may differ; the bone itself stays as long as it is:
//
//   D = R_source(t) R_source(rest)^-1,   R(t) = C D C^-1 Q R(rest)
//
// C turns the source's world to the target's where their axes differ (quarter turns only), and Q a bone whose rest
// points elsewhere by more than 20 degrees (T against A pose), with all below it. The uppermost joints also move, by
// what the source's do times the ratio of their heights. Rest is the bind pose where there is a skin.

#pragma once

#include "asset/asset.h"

#include <jansson.h>

typedef struct snwRetargetDef
{
    const snwAsset* target; // whose joints shall move
    const snwAsset* source;
    int animation;     // of the source
    const json_t* map; // {"joint of the target": "joint of the source"}; NULL: none
} snwRetargetDef;

typedef struct snwRetargeted
{
    snwAssetAnimation animation; // of the target's nodes; the arena's
    int jointCount, matched;     // of the target
    double scale;                // of ways
    bool turned;                 // the axes of the worlds differ
    char alone[160];             // joints of the target without a partner, the first of them; "" if there are none
} snwRetargeted;

snwResult snwRetarget(snwArena* arena, const snwRetargetDef* def, snwRetargeted* out, snwMessage* message);

// joint_names.c: the partner of each node of the target, -1: none. targets, sources: nodes that count. Names of the map
// that are not there are an error.
snwResult snwMatchJoints(snwArena* arena, const snwRetargetDef* def, const bool* targets, const bool* sources,
    int* partners, snwMessage* message);
