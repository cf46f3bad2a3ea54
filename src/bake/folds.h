// How sharply two triangles that share an edge are bent: a surface that doubles back on itself shows a slit, or a dark
// hole.

#pragma once

#include "asset/asset.h"
#include "geom/weld.h"

#define SNW_FOLDED    (-0.866f) // cosine: by 150 degrees the surface doubles back
#define SNW_CREASE    (-0.5f)   // 120 degrees: where the source is bent so far, flesh may close the crease
#define SNW_FOLD_SEEN 0.002     // of the size: nobody sees lower triangles fold over

typedef struct snwFolds
{
    int (*corners)[4]; // of an edge: its two ends, then what is across of it on both sides
    float* sharpest;   // by edge: the least cosine between the two triangles so far
    uint8_t* smooth;   // by edge: is it less than a right angle at rest?
    int count;
} snwFolds;

// The cosine between the two triangles; 1 where one of them is lower than least over the edge.
float snwFold_Bend(const snwVec3 corners[4], double least);

// Edges of two triangles; of more than two: none. Everything comes from the arena.
snwResult snwFolds_Find(
    snwArena* arena, const snwAssetMesh* mesh, const snwWeld* weld, snwFolds* folds, snwMessage* message);
// Forgets what was met.
void snwFolds_Begin(snwFolds* folds, const snwVec3* rest);
// Meets the surface in a frame. least: triangles that are lower than that over an edge do not count. Returns how many
// edges double back that are smooth at rest; *worst is a vertex of one of them.
int snwFolds_Meet(snwFolds* folds, const snwVec3* now, double least, int* worst);
// Edges that double back in this frame and in none that was met.
int snwFolds_Count(const snwFolds* folds, const snwVec3* now, double least, int* worst);
