// Pictures of a character as its blueprint has it: skin in its colours, bones through the flesh, the mesh cut open.

#pragma once

#include "geom/surface.h"
#include "sim/blueprint.h"
#include "view/portrait.h"

typedef enum snwLikenessLook
{
    snw_lookFlesh,
    snw_lookBones,      // through translucent flesh, with the joints
    snw_lookElements,   // tetrahedra or hexahedra, cut open
    snw_lookSilhouette, // dark on white
    snw_likenessLookCount,
} snwLikenessLook;

extern const char* const snw_likenessLookNames[]; // NULL ends the list

typedef struct snwLikeness
{
    snwContext* context;
    snwArena arena;
    const snwBlueprint* blueprint;
    const snwCharacter* character; // its elements; NULL: none to cut open
    snwTransform* pose;            // of the bones
    float* positions;              // of the display surface: skin and ribbons
    float* colors;
    int vertexCount;
    int* triangles;
    int triangleCount;
} snwLikeness;

typedef struct snwLikenessDef
{
    const snwBlueprint* blueprint;
    const snwCharacter* character; // NULL allowed
    int motion;                    // of the character; -1: the rest pose
    double time;                   // s
    double detail;                 // triangles across the whole character, about 150
} snwLikenessDef;

snwLikenessDef snwDefaultLikenessDef(void);

// The blueprint and the character must live as long. Free after success and failure alike.
snwResult snwCreateLikeness(
    snwContext* context, const snwLikenessDef* def, snwLikeness* likeness, snwMessage* message);
void snwLikeness_Free(snwLikeness* likeness);

// view: size, direction and samples; its meshes are the likeness's own.
snwResult snwLikeness_Draw(
    snwLikeness* likeness, snwLikenessLook look, const snwPortraitDef* view, snwImage* image, snwMessage* message);
