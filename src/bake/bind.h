// How a document itself puts the vertices of a mesh into the world at a time of its clip: by morphs, then by the skin,
// or by the node where there is none.

#pragma once

#include "asset/poser.h"

typedef struct snwBind
{
    const snwAsset* asset;
    const snwAssetMesh* mesh;
    const snwAssetSkin* skin; // NULL: the node alone moves it
    int node;
    snwAffine place;   // of the node
    snwAffine* joints; // per joint of the skin: bind space to the world
    double* weights;   // of the source's own morphs
    snwVec3* base;     // per vertex: at rest, with those morphs
} snwBind;

// bent false: the skin does not count. Everything comes from the arena.
snwResult snwBind_Make(const snwAsset* asset, int node, bool bent, snwArena* arena, snwBind* bind, snwMessage* message);
// The poser has the nodes where they are at that time.
void snwBind_Pose(snwBind* bind, const snwAssetPoser* poser, const snwAssetAnimation* animation, double time);

// What takes a vertex to the world.
snwAffine snwBind_Blend(const snwBind* bind, int vertex);

// No length grows by more than this: the square root of the largest sum of a row of A^T A, which is exact where A is a
// rotation times a scale.
double snwBind_Stretch(snwMat3 a);

// The offset that a map takes to `moved`; where the map is nearly flat, a small one that comes near. False then.
bool snwBind_Undo(snwMat3 a, snwVec3 moved, snwVec3* offset);
