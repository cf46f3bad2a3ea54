// Pictures of a character as its blueprint has it: skin in its colours, bones through the flesh, the mesh cut open.

#pragma once

#include "geom/surface.h"
#include "sim/blueprint.h"
#include "view/portrait.h"

typedef enum snwLikenessLook
{
    snw_lookFlesh,
    snw_lookBones,      // through translucent flesh, with the joints
    snw_lookElements,   // of the mesh, cut open
    snw_lookSilhouette, // dark on white
    snw_lookWeights,    // of bones or handles, as colours of the mesh's skin
    snw_likenessLookCount,
} snwLikenessLook;

extern const char* const snw_likenessLookNames[]; // NULL ends the list

typedef struct snwLikenessDef
{
    const snwBlueprint* blueprint;
    const snwCharacter* character; // its mesh; NULL: none to cut open
    int motion;                    // of the blueprint; -1: the rest pose
    double time;                   // s
    double detail;                 // edges of triangles from one end of the character to the other
    const char* handle;            // of the weights; NULL: all
    snwSkinningKind skinning;      // of the mesh in the look of weights
} snwLikenessDef;

snwLikenessDef snwDefaultLikenessDef(void);

// Triangles of the display surface.
typedef struct snwLikenessMesh
{
    float* positions; // x y z
    float* colors;    // linear r g b; NULL: the flesh's own
    int vertexCount;
    int* triangles;
    int triangleCount;
} snwLikenessMesh;

typedef struct snwLikeness
{
    snwContext* context;
    snwArena arena;
    snwLikenessDef def;
    snwTransform* pose;      // of the bones
    snwFlesh flesh;          // in that pose
    snwFlesh rigid;          // only its rigid parts
    snwLikenessMesh* meshes; // the flesh if there is some, then ribbons and boxes; the mesh of a flat character
    int meshCount;
    snwLikenessMesh rigidMesh;
    double size; // m, from one end to the other
} snwLikeness;

// Blueprint and character must live as long. Free after success and failure alike.
snwResult snwCreateLikeness(snwContext* context, const snwLikenessDef* def, snwLikeness* likeness, snwMessage* message);
void snwLikeness_Free(snwLikeness* likeness);

// Degrees, the direction from which a cut through the middle shows most: the left, or the front of what is wide and
// thin.
double snwLikeness_CutAzimuth(const snwLikeness* likeness);

// view: size, direction and samples; its meshes are the likeness's own.
snwResult snwLikeness_Draw(
    snwLikeness* likeness, snwLikenessLook look, const snwPortraitDef* view, snwImage* image, snwMessage* message);
