// What is written of flesh: a difference, on top of what the file itself makes of its surface.
//
//   x = skin of the file + limit(smooth(E simulated - E skinned))
//
// E shows a body on the surface (snwDisplay). A body is a rough picture of the rig: it has no flesh for a small shell,
// cells that join two legs, weights that are means of those around. Written as it is, all of that is seen; in the
// difference of two bodies that differ by nothing but the motion of flesh it cancels. Differences finer than the cells
// of the body mean nothing: neighbours over edges much shorter than a cell are drawn together. And no edge becomes much
// longer than the artist has it: the two ends may differ by a part of its length. Nor does the surface double back
// where the artist's does not: there flesh moves alike on both sides.

#pragma once

#include "bake/bind.h"
#include "bake/folds.h"
#include "bake/thickness.h"

typedef struct snwBakeFlesh
{
    snwBind bind;
    double scale;         // metres per unit of the file
    snwAffine fromRest;   // the rest pose to the space of the mesh, for normals
    const float* normals; // at rest
    const int* points;    // of the prepared: below 0 rigid pieces
    int vertexCount, anchorCount;
    int *places, placeCount;  // vertices of one place are one: place of each
    int* sources;             // the first vertex of each place
    int *starts, *neighbours; // of places
    float* draws;             // by neighbour: how much it draws
    float* slack;             // by neighbour: m, by how much the two may differ
    float *moves, *next;      // by place, x y z
    snwFolds folds;           // of places that are not rigid
    double least;             // m: lower triangles are let fold over
    float* reach;             // by vertex: m; NULL: no limit
    float* shares;            // by anchor: what the limit leaves of its motion
    // In the frame that is being made, in the world, m.
    float *artist, *artistNormals; // what the file makes of it
    float *positions, *shown;      // with flesh; its normals
    float* offsets;                // flesh alone
    int limited;                   // vertices whose flesh would have gone beyond its reach
    double ride;                   // m, mean of what is not rigid: from the skinned body to what the file makes of it
} snwBakeFlesh;

// reach: the share of the thickness that flesh may move. Everything comes from the arena.
snwResult snwBakeFlesh_Make(snwArena* arena, const snwPrepared* prepared, const snwAsset* asset, int surface,
    const snwThickness* thickness, double reach, snwBakeFlesh* flesh, snwMessage* message);
// The poser has the nodes where they are then; simulated and skinned: the surface on the two bodies.
void snwBakeFlesh_Add(snwBakeFlesh* flesh, const snwAssetPoser* poser, const snwAssetAnimation* animation, double time,
    const snwSkin* simulated, const snwSkin* skinned);
