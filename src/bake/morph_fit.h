// Few morph targets for many frames: offsets of vertices over time as sums of shapes with weights from 0 to 1.
//
// Two steps. The first finds a space that holds all frames: again and again the frame that is worst by now joins it,
// which aims at the largest error and needs no matrix of all frames against all. The second turns the axes of that
// space so that the first ones hold the most (principal components), and takes as few as keep every vertex of every
// frame within the tolerance. A mode that swings both ways becomes two targets, one per sign, for weights below zero
// are cut off by what people use.

#pragma once

#include "base/arena.h"

typedef struct snwMorphFitDef
{
    const float* offsets; // per frame a row of 3 * vertexCount, in the space of the mesh
    const float* stretch; // per frame a row of vertexCount: how much longer than there an offset shows, at most
    int frameCount, vertexCount;
    double tolerance; // as it shows
    int maxTargets;   // >= 2
} snwMorphFitDef;

typedef struct snwMorphTarget
{
    float* offsets; // 3 * vertexCount
    int mode;       // from 0
    bool minus;     // of its two signs
} snwMorphTarget;

typedef struct snwMorphFit
{
    snwMorphTarget* targets;
    int targetCount;
    float* weights; // per frame a row of targetCount, 0 .. 1, each target reaching 1 in some frame
    double error;   // that no vertex of any frame exceeds, as it shows
    int needed;     // targets that the tolerance would have taken at least; targetCount if that was enough
} snwMorphFit;

// The fit is the arena's.
snwResult snwFitMorphs(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message);

// Shares of the frames in the targets that make rows of anything else - normals, say - fit best with these weights, by
// least squares: target t = sum over frames of result[t * frameCount + frame] * row of the frame. The arena's; NULL:
// no memory.
double* snwMorphFit_Shares(snwArena* arena, const snwMorphFit* fit, int frameCount);
