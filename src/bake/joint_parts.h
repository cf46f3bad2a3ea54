// What the parts of the fit of helper joints share.

#pragma once

#include "bake/joint_fit.h"

enum
{
    snw_nearHelpers = 12, // that a vertex may choose from
    snw_fitGrain = 64     // vertices
};

typedef struct snwJointFitter
{
    snwContext* context;
    const snwJointFitDef* def;
    snwJointFit* fit;
    snwArena work;
    snwAffine* inverses; // [frame * jointCount + joint] of the places
    snwAffine* bends;    // [bone * frameCount + frame] from bind space to the world; bones are joints, then helpers
    snwVec3* rests;      // per vertex, in bind space, first frame
    double* errors;      // per vertex: mean square over frames
    double* worst;       // the same of its worst frame
    double* distances;   // per vertex: square of that to the nearest helper
    snwVec3* centres;    // per helper, in bind space
    int (*nearest)[snw_nearHelpers];
    int* vertices; // that follow a helper
    float* shares; // their weights of it
    float* lefts;  // [frame][vertex][3] what is missing to the target
    float* says;   // [frame][vertex] how much an error there matters
    float* keptSays;
    int* renamed;  // of helpers, when some go
    int overCount; // vertices beyond the tolerance
    int rounds;    // done
} snwJointFitter;

static inline size_t snwJointFitter_Row(const snwJointFitter* f, int frame, int vertex)
{
    return (size_t)frame * (size_t)f->def->vertexCount + (size_t)vertex;
}

static inline snwVec3 snwJointFitter_Get(const float* values, const snwJointFitter* f, int frame, int vertex)
{
    const float* x = values + 3 * snwJointFitter_Row(f, frame, vertex);
    return (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
}

static inline void snwJointFitter_SetLeft(const snwJointFitter* f, int frame, int vertex, snwVec3 left)
{
    float* x = f->lefts + 3 * snwJointFitter_Row(f, frame, vertex);
    x[0] = (float)left.x, x[1] = (float)left.y, x[2] = (float)left.z;
}

static inline double snwJointFitter_Say(const snwJointFitter* f, int frame, int vertex)
{
    return (double)f->says[snwJointFitter_Row(f, frame, vertex)];
}

static inline snwAffine* snwJointFitter_Bend(const snwJointFitter* f, int frame, int bone)
{
    return &f->bends[(size_t)bone * (size_t)f->def->frameCount + (size_t)frame];
}

// A vertex as if it followed one joint or helper alone.
static inline snwVec3 snwJointFitter_Follow(const snwJointFitter* f, int frame, int bone, snwVec3 base)
{
    return snwAffine_Apply(*snwJointFitter_Bend(f, frame, bone), base);
}

static inline bool snwJointFitter_IsOff(const snwJointFitter* f, int vertex)
{
    return f->worst[vertex] > f->def->tolerance * f->def->tolerance;
}

void snwJointFitter_UseSource(snwJointFitter* fitter); // its weights
// The same of a vertex, measured; what it has of the joint.
double snwJointFitter_Restore(snwJointFitter* fitter, int vertex, int joint);
// The source's weights, but for a helper in place of its joint, if that comes within a share of the tolerance.
bool snwJointFitter_Carry(snwJointFitter* fitter, int vertex, int helper, double share);
void snwJointFitter_Weigh(snwJointFitter* fitter); // better ones, among the helpers that are near
void snwJointFitter_Measure(snwJointFitter* fitter);
void snwJointFitter_Polish(snwJointFitter* fitter); // more tries for vertices beyond the tolerance; measures them
void snwJointFitter_Lighten(
    snwJointFitter* fitter); // one set of influences for vertices that do not need two; measures them
