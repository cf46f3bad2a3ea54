// A small animated document and a bake of it that was never simulated: flesh that waves in the space of the meshes, put
// into the world by plain skinning. Whoever writes it must come back to these frames.

#pragma once

#include "asset/gltf.h"
#include "asset/poser.h"
#include "bake/reel.h"

enum
{
    snw_tubeRings = 13,
    snw_tubeSides = 10,
    snw_tubeVertices = snw_tubeRings * snw_tubeSides,
    snw_hatVertices = 5,
    snw_reelFrames = 25
};

typedef struct snwReelWorld
{
    snwContext* context;
    snwAsset* asset;
    snwArena arena;
    snwAssetPoser poser;
    snwReelSurface surfaces[2];
    float (*positions)[6]; // position and normal, of the surface that was asked for
    double amplitude;      // m
    double clipTime;
    snwReel reel;
} snwReelWorld;

// A tube of three bones with a morph 'smile', and a hat without skin that hangs on the last of them; clips 'idle' and
// 'dance' (1 s), which moves bones, smile and the hat. unit: metres per unit of the file.
snwAsset* snwReelWorld_Document(snwContext* context, double unit);

// A bake of the clip 'dance', 24 frames a second. The document is closed with the world.
void snwReelWorld_Make(snwContext* context, snwAsset* asset, double unit, double amplitude, snwReelWorld* world);
void snwReelWorld_Free(snwReelWorld* world);

// Where a document has the vertices of the node's mesh, by plain skinning; free() it.
snwVec3* snwReelWorld_Evaluate(const snwAsset* asset, int animation, int node, double time);
// The same, with the waves of the frame on top.
snwVec3* snwReelWorld_Truth(snwReelWorld* world, int surface, int frame);
