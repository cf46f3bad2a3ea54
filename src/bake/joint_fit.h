// Helper joints: flesh over time as the motion of a few more joints, each a child of a joint of the source, with few
// influences per vertex (skinning decomposition; Le and Deng 2012, "Smooth skinning decomposition with rigid bones").
// Unlike there the source's joints stay as they are and compete for the influences, so what does not wobble keeps its
// bones.
//
// A few helpers begin where the source's skin is most wrong, far from each other. Then, in turns: every helper takes
// its best rigid pose, frame by frame, and every vertex chooses its influences among its own joints and the helpers
// around it. As long as the tolerance is not kept, half as many again join them where the error is largest by then.
//
// Other clips know nothing of helpers, which rest on their joints there. So frames of them are part of the fit, with
// the source's own skin as their target: weights move between helpers and their joints, but not from bone to bone.
//
// What counts is the worst vertex of the worst frame, not the mean. So errors beyond the tolerance matter more from
// round to round for as long as they stay, and those far below hardly matter: the mean suffers, and the same tolerance
// takes a third of the helpers that least squares would need.

#pragma once

#include "bake/joint_choice.h"
#include "base/arena.h"
#include "math/transform.h"

typedef struct snwJointFitDef
{
    int jointCount, frameCount, vertexCount;
    int stillCount; // of the frames, the last: of other clips, in which helpers rest and the source is the target
    const snwAffine* places;       // [frame * jointCount + joint] of the joints in the world
    const snwAffine* inverseBinds; // of the joints
    const float* bases;            // [frame][vertex][3] in bind space
    const float* targets;          // the same where they are to be in the world
    const int* starts;             // the source's weights, a row per vertex
    const int* bones;
    const double* values;
    int mostHelpers;
    int influences;                                  // of a vertex, at most: 1 to snw_mostInfluences
    double tolerance;                                // in the unit of the world
    snwResult (*progress)(double share, void* user); // a negative result stops the work; NULL: none
    void* user;
} snwJointFitDef;

typedef struct snwHelperJoint
{
    int parent;     // joint
    snwVec3 centre; // at rest, in the space of the parent
} snwHelperJoint;

typedef struct snwJointFit
{
    snwHelperJoint* helpers;
    int helperCount;
    snwTransform* poses;                  // [frame * helperCount + helper] in the space of the parent
    int (*bones)[snw_mostInfluences];     // of a vertex: joint, or jointCount + helper
    float (*weights)[snw_mostInfluences]; // that sum to one, largest first
    double maxError, rmsError;            // in the unit of the world
} snwJointFit;

// The fit is the arena's.
snwResult snwFitJoints(
    snwContext* context, snwArena* arena, const snwJointFitDef* def, snwJointFit* fit, snwMessage* message);
