// Curves over time that few morph targets follow: C, one row per frame, one column per target. Columns are orthonormal,
// and the first is constant, for a target that is there all the time lets the weights of all others stay in [0, 1].
//
// What counts is the largest error, not the energy: principal components in the order of their energy take half as many
// curves again. So curves C and targets T of some hundred vertices are fitted in turns by weighted least squares, and
// what is off most weighs more from round to round. Vertices that the curves then miss join the fit, and while rounds
// do not help, curves are added. Only weights above one cost work: one matrix serves all rows, and few entries of frame
// and vertex are added to it.

#pragma once

#include "base/arena.h"

typedef snwResult snwMorphProgressFn(double share, void* user); // a negative result stops the work

typedef struct snwMorphFitDef
{
    const float* offsets; // per frame a row of 3 * vertexCount, in the space of the mesh
    const float* stretch; // per frame a row of vertexCount: how much longer than there an offset shows, at most
    const int* twins;     // per vertex: the first one of the same offsets, itself if it has none before it; NULL: none
    int frameCount, vertexCount;
    double tolerance;             // as it shows
    int maxTargets;               // >= 2
    bool packed;                  // for compression: weights from -1 to 1, numbers of few bits, no sparse lists
    snwMorphProgressFn* progress; // NULL: none
    void* user;
} snwMorphFitDef;

typedef struct snwMorphCurves
{
    int frameCount, count;
    int stride;      // from row to row
    double* rows;    // per frame: its number on each curve
    double* columns; // the same, per curve a row of frameCount
} snwMorphCurves;

// The fewest that are found to keep every vertex of every frame within `goal`, or def->maxTargets of them that come
// near. The curves are the arena's; same bits for any number of threads.
snwResult snwFindMorphCurves(snwContext* context, snwArena* arena, const snwMorphFitDef* def, double goal,
    snwMorphCurves* curves, snwMessage* message);

// In eight sums side by side: the same on every machine, and wide ones add them at once.
double snwMorphDot(const double* a, const double* b, size_t count);

// ---------------------------------------------------------------------------------------------------------------------
// One vertex on given curves

typedef struct snwMorphVertex
{
    double* track;  // [3 frames] x of all frames, then y, then z
    double* left;   // [3 frames] what the fit leaves
    double* shown;  // [frames] stretch
    double* errors; // [frames] of what is left, as it shows
    double* boosts; // [frames] weights beyond one
    double* shares; // [3 stride] x of all curves, then y, then z: the fit; 0 where a curve is not used
    double* saved;  // [3 stride] for the caller
    double* plain;  // [3 stride] the shares without weights, of every curve
    double* gram;   // [stride stride]
    double* right;  // [3 padded stride] right sides
    double* factor;
    bool boosted; // some of them are not 0
    int* used;    // curves, in the order in which they were taken
    int usedCount;
    int right1; // from right side to right side
} snwMorphVertex;

// For curves of this shape; the arena's. False: no memory.
bool snwMorphVertex_Make(snwArena* arena, int frameCount, int stride, snwMorphVertex* vertex);
// The vertex of the def into track and shown.
void snwMorphVertex_Load(snwMorphVertex* vertex, const snwMorphFitDef* def, int index);
// Takes as few curves as keep the vertex within goal, the constant first; or all of them. Before another is taken,
// frames that are off weigh more. Returns the largest error.
double snwMorphVertex_Fit(
    snwMorphVertex* vertex, const snwContext* context, const snwMorphCurves* curves, double goal, bool all);
