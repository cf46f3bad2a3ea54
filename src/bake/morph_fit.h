// Few morph targets for many frames: offsets of vertices over time as sums of shapes with weights from 0 to 1.
//
// Curves over time come first (morph_curves.h), then each vertex takes as few of them as keep it within the tolerance,
// so that targets are empty where they are not needed. The constant target makes room for weights in [0, 1], for
// weights below zero are cut off by what people use: w' = (w - lo) / (hi - lo), T' = (hi - lo) T, and the constant one
// takes the sum of lo T. Rejected: two targets per curve, one per sign, which are nearly twice as many.

#pragma once

#include "asset/gltf_write.h"
#include "bake/morph_curves.h"

typedef struct snwMorphTarget
{
    float* offsets; // 3 * vertexCount
    float* normals; // the same, of changes of the normals; NULL: none
    int number;     // of its curve, 0 is the constant one; or of its frame
} snwMorphTarget;

typedef struct snwMorphFit
{
    snwMorphTarget* targets;
    int targetCount;
    float* weights;         // per frame a row of targetCount, 0 .. 1
    double error;           // that no vertex of any frame exceeds, as it shows
    snwGltfNumbers numbers; // how the targets can be written
    bool bothWays;          // weights go from -1 to 1
    // below: of snwFitMorphs alone
    snwMorphCurves curves;
    double *lows, *spans; // per target: of its curve
} snwMorphFit;

// Positions alone, as floats; each target reaches weight 1 in some frame. The fit is the arena's. If def->maxTargets
// are too few, error is above the tolerance.
snwResult snwFitMorphs(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message);

// Changes of normals for the targets of snwFitMorphs, by least squares: all frames one by one, each a row of
// 3 * vertexCount; then the end, which leaves them where a target moves something. False: no memory.
bool snwMorphFit_BeginNormals(snwMorphFit* fit, snwArena* arena, int vertexCount);
void snwMorphFit_AddNormals(snwMorphFit* fit, int frame, const float* changes, int vertexCount);
void snwMorphFit_EndNormals(snwMorphFit* fit, int vertexCount);

// Short numbers where they serve the tolerance: targets become the numbers that are read back, weights take their
// scale, and vertices that rounding took out of the tolerance are fitted again, nearer. Works for key frames, too.
snwResult snwRoundMorphs(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message);
