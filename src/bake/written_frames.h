// Point caches and OBJ files of a bake, read again: where they have the vertices of the source's meshes.

#pragma once

#include "bake/against.h"
#include "bake/reel.h"

// A cache fits a mesh by the number and order of its points alone, so both are those that importers make of the file:
// primitive by primitive, the vertices that triangles use, rising. Where the file tells the artist's own numbers of the
// vertices (_SNW_VERTEX), it is the artist's mesh that the cache is for.
typedef struct snwCacheOrder
{
    int* vertices; // of the mesh, one per point
    int* points;   // per vertex of the mesh; -1: none
    int count;     // of points
} snwCacheOrder;

snwResult snwCacheOrder_Make(
    snwArena* arena, const snwAsset* asset, int mesh, snwCacheOrder* order, snwMessage* message);
// Positions of a cache are those of the scene, for glTF lets no node move a skinned mesh; without a skin they are those
// of the node, which goes on moving.
bool snwCache_IsLocal(const snwAsset* asset, int node);

typedef struct snwWrittenFrames snwWrittenFrames;

typedef struct snwWrittenDef
{
    const snwAsset* source;
    const snwReelSurface* surfaces;
    int surfaceCount;
    const char* const* files; // of each surface: a cache, or the OBJ file of the first frame, NAME-00000.obj
    bool zUp;
} snwWrittenDef;

snwResult snwWrittenFrames_Open(
    snwContext* context, const snwWrittenDef* def, snwWrittenFrames** frames, snwMessage* message);
void snwWrittenFrames_Close(snwWrittenFrames* frames); // NULL is allowed
// values: room for the vertices of the mesh.
snwResult snwWrittenFrames_Get(
    snwWrittenFrames* frames, int surface, int frame, float* values, snwAgainstShown* shown, snwMessage* message);

// Holds a cache or an OBJ file against the source. It does not tell which surface, clip and second it is of: those that
// it is nearest to.
snwResult snwCompareFileAgainst(
    snwContext* context, const snwAsset* source, const char* path, snwAgainst* against, snwMessage* message);
