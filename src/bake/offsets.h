// Surfaces over frames as offsets in the space of their meshes: what has to be added there so that the document's own
// skin, nodes and morphs take every vertex to where the bake has it.

#pragma once

#include "bake/bind.h"
#include "bake/morph_fit.h"
#include "bake/reel.h"

typedef struct snwOffsets
{
    const snwReelSurface* surface;
    snwBind bind;
    float* offsets;     // per frame a row of 3 * vertexCount
    float* stretch;     // per frame a row of vertexCount: m in the world per unit of the mesh, at most
    float* lost;        // per vertex, m: what a flat skin cannot show
    double* ownWeights; // per frame a row: weights of the source's own morphs
    int64_t flat;       // vertices of frames where the skin is too flat for an exact offset
} snwOffsets;

typedef struct snwOffsetsList
{
    snwAssetPoser poser;
    const snwAssetAnimation* animation; // NULL: none
    snwOffsets* items;                  // one per surface of the reel
    int count;
    double* clipTimes; // per frame, s
    double* keyTimes;  // the same, rising from frame to frame
} snwOffsetsList;

// bent: skins count. All frames are read once; everything is the arena's.
snwResult snwGatherOffsets(const snwBakeWriting* writing, bool bent, snwArena* arena, snwOffsetsList* list);

// Per vertex the first one at the same place of the mesh that has the same offsets, to a hundredth of the tolerance: a
// seam of the texture must not open. The arena's; NULL: no memory.
int* snwOffsets_FindTwins(
    snwArena* arena, const snwOffsets* item, int frameCount, double tolerance, snwMessage* message);

// Changes of the artist's normals in the space of the mesh, as the shape of a frame turns them. change: 3 * vertexCount
typedef struct snwNormalTurner snwNormalTurner;
// NULL: no memory, or the mesh has no normals.
snwNormalTurner* snwMakeNormalTurner(snwArena* arena, const snwAssetMesh* mesh, snwMessage* message);
void snwNormalTurner_Turn(snwNormalTurner* turner, const snwVec3* base, const float* offsets, float* change);

// Where the written file has a vertex of the posed surface.
typedef struct snwBakeErrors
{
    double most, squares; // m, m^2
    int64_t count;
} snwBakeErrors;

// What targets and weights give in exact skinning, against the offsets; adds to errors that are there. fits: one per
// item.
snwResult snwMeasureMorphs(
    const snwBakeWriting* writing, snwOffsetsList* list, const snwMorphFit* fits, snwBakeErrors* errors);
