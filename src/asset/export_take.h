// A take: where the handles of a body were, frame by frame. What a rig shows is told by these alone, so a take can be
// written as clips, which people edit and scenes read again, and as a skinned GLB that plays anywhere.
//
// Handles are those of the character, or its bones where it has none (snwCharacter_HandleCount).

#pragma once

#include "base/array.h"
#include "math/transform.h"
#include "scene/text.h"

typedef struct snwTake
{
    snwContext* context;
    snwScene* scene;
    int body;
    snwArray(double) times;   // s, one per frame
    snwArray(snwAffine) maps; // frame by frame: what takes each handle from the rest pose to then
} snwTake;

void snwTake_Free(snwTake* take);
snwResult snwTake_AddFrame(snwTake* take, const snwSim* sim, snwMessage* message);

int snwTake_HandleCount(const snwTake* take);
const char* snwTake_HandleName(const snwTake* take, int handle); // "" if it has none
snwVec3 snwTake_HandleRest(const snwTake* take, int handle);     // m: its point in the rest pose
snwAffine snwTake_Map(const snwTake* take, int frame, int handle);

// The nearest rotation, as the one of the two quaternions that is nearer to the last one.
snwQuat snwTake_Rotation(snwMat3 linear, snwQuat last);

// Clips of the handles with all their degrees of freedom given and a key per frame, as "clips" of a scene has them; a
// scene takes them by {"file": ...} in its clips. Stretch and shear of affine handles are lost.
snwResult snwTake_WriteClips(const snwTake* take, snwText* text, snwMessage* message);

// The skin of the character in the rest pose, its handles as joints and their motion as an animation. A handle that
// stretches is two joints: the parent turns and scales, the joint itself turns. A vertex keeps
// up to 16 handles, in two sets of four or as many as it takes; of more the largest. Freed with snwFree.
snwResult snwTake_WriteGlb(const snwTake* take, unsigned char** data, size_t* size, snwMessage* message);
