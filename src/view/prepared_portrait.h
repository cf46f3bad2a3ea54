// Pictures of a prepared character: its surfaces, bones through them, its elements, its weights; at rest or in a
// motion.

#pragma once

#include "sim/prepared.h"
#include "view/likeness.h"

typedef struct snwPreparedPortrait
{
    snwPrepared* prepared;
    snwLikenessLook look;
    int motion;  // -1: the rest pose
    double time; // s
    const char* handle;
    snwSkinningKind skinning; // by which the body follows the motion: nothing is simulated here
} snwPreparedPortrait;

// view: size, direction and samples; its meshes are the character's.
snwResult snwPreparedPortrait_Draw(snwContext* context, const snwPreparedPortrait* portrait, const snwPortraitDef* view,
    snwImage* image, snwMessage* message);
