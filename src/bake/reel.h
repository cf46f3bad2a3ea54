// What the writers of a bake see of it: surfaces over frames, with the document whose meshes they are.
//
// It stands between them and snwBakeFrames so that tests can give frames of their own, and because a source that is no
// glTF - a built-in character, a bundle - has no document: one is made of it first (document.h), and from there on
// there is one way for all.

#pragma once

#include "asset/asset.h"
#include "bake/output.h"

typedef struct snwReelSurface
{
    const char* name;
    int mesh, node;      // of the asset; both are there
    int index;           // what `get` knows it by
    const int* vertices; // per vertex of the mesh: that of the surface; NULL: they are the same
} snwReelSurface;

typedef struct snwReel
{
    const snwAsset* asset; // with its document
    int animation;         // of the asset, that moves the bones; -1: none
    const char* clip;      // its name, or that of a new one
    const char* path;      // of the source; NULL or "": the document was made here
    int frameCount;
    double rate;
    double start;     // s, of frame 0 in the clip
    double scale;     // metres per unit of the asset
    double size;      // m: longest side of the character at rest; 0: not known
    double madeBytes; // of a document that was made here
    const snwReelSurface* surfaces;
    int surfaceCount;
    // Makes a frame the one that `get` is about, and tells its time in the clip.
    snwResult (*read)(void* user, int frame, double* clipTime, snwMessage* message);
    // Positions of a surface in the world, m.
    snwResult (*get)(void* user, int index, snwSkin* skin, snwMessage* message);
    void* user;
} snwReel;

// A writer of formats: what all of them get.
typedef struct snwBakeWriting
{
    snwContext* context;
    const snwReel* reel;
    const snwBakeOutputDef* def;
    snwBakeOutputReport* report;
    snwMessage* message;
} snwBakeWriting;

// The whole choice of formats; snwBakeOutput_Write is this with a reel of the frames.
snwResult snwBakeWriting_Write(const snwBakeWriting* writing);

snwResult snwBakeWriting_Gltf(const snwBakeWriting* writing);   // out_gltf.c: glb, morphs
snwResult snwBakeWriting_Joints(const snwBakeWriting* writing); // out_joints.c
snwResult snwBakeWriting_Caches(const snwBakeWriting* writing); // out_cache.c: pc2, mdd
snwResult snwBakeWriting_Obj(const snwBakeWriting* writing);    // out_cache.c

void snwBakeWriting_Note(const snwBakeWriting* writing, const char* format, ...) __attribute__((format(printf, 2, 3)));
// A file is there and whole.
void snwBakeWriting_AddFile(const snwBakeWriting* writing, const char* path);
// Tells how far it is, in [0, 1]; a negative result is to stop the work.
snwResult snwBakeWriting_Progress(const snwBakeWriting* writing, double share);

// A surface of the frame that was read; fails if it does not fit the mesh.
snwResult snwBakeWriting_Get(const snwBakeWriting* writing, const snwReelSurface* surface, snwSkin* skin);

static inline size_t snwReel_RowOf(const snwReelSurface* surface, const snwSkin* skin, int vertex)
{
    return (size_t)(surface->vertices != NULL ? surface->vertices[vertex] : vertex) * (size_t)skin->stride;
}

// Where a vertex of the mesh is in the world of the asset, in its unit.
static inline snwVec3 snwReel_Position(
    const snwReel* reel, const snwReelSurface* surface, const snwSkin* skin, int vertex)
{
    const float* x = (const float*)((const char*)skin->positions + snwReel_RowOf(surface, skin, vertex));
    return (snwVec3){(double)x[0] / reel->scale, (double)x[1] / reel->scale, (double)x[2] / reel->scale};
}
