// A finer mesh for what is shown of a flat character (Wu and Umetani 2023, Fig. 6): vertices and smooth weights of its
// own, moved by the handles alone. What is simulated stays as coarse as it is.

#pragma once

#include "base/arena.h"

typedef struct snwFineSkin
{
    snwArena arena;
    float* points; // x y z at rest
    int pointCount;
    int* triangles;
    int triangleCount;
    float* texcoords; // u v; NULL: none
    snwSkinning* skinning;
} snwFineSkin;

// How many times as many triangles a character's source asks for: its key "fine"; 0: none.
int snwFineSkin_Wanted(const char* source);

// A blueprint's outline is meshed anew; other characters have their triangles cut into four until there are enough.
snwResult snwCreateFineSkin(
    snwContext* context, const snwCharacterDef* character, int times, snwFineSkin** skin, snwMessage* message);
void snwDestroyFineSkin(snwContext* context, snwFineSkin* skin); // NULL is allowed

// points: x y z, tight. Handles that are not finite leave them as they are.
void snwFineSkin_Move(const snwFineSkin* skin, const snwMatrices* handles, float* points);
