// A small rig for tests of rig_fit.h, and the literal truth about it: skinning and J written out.

#pragma once

#include "fixture.h"
#include "rig/rig_fit.h"
#include "rig/rig_fit_parts.h"
#include "rig/weights.h"
#include "test.h"

#include <stdlib.h>

enum
{
    snw_mostHandles = 16,
    snw_mostLinks = 16,
    snw_someGivenCount = 6
};

typedef struct snwRigWorld
{
    snwContext* context;
    int dimension, vertexCount, handleCount;
    snwVec3* rest;
    double* masses;
    double* dense; // weights, vertexCount x handleCount
    snwWeights* weights;
    snwRigHandleDef handles[snw_mostHandles];
    snwRigLinkDef links[snw_mostLinks];
    int linkCount;
    const snwLinearConstraintDef* constraints;
    int constraintCount;
    snwRigFit* model;
    snwRigFitScratch* scratch;
    snwRigPose pose[snw_mostHandles];
    snwRigTarget targets[snw_mostHandles];
    snwRigRule rules[4];
    snwRigHold hold;
    float *x, *rigged;
    uint64_t seed;
} snwRigWorld;

typedef struct snwRigLiteral
{
    int rows, columns; // 3 per vertex; all degrees of freedom: moves, then turns, handle by handle
    int starts[snw_mostHandles + 1];
    double* j; // column by column
    double *m, *c;
    double* residual; // x - xr
} snwRigLiteral;

// Masks of degrees of freedom: some of each kind.
extern const uint32_t snwRigWorld_someGiven[snw_someGivenCount];

double snwTest_Signed(uint64_t* seed); // -1 .. 1
double snwTest_Component(snwVec3 v, int i);
snwJointDef snwTest_Limits(snwJointType type, snwVec3 axis, double lower, double upper, double cone);

// A snake of random points along x, its handles one after the other, each vertex between the nearest ones. Finish makes
// the model, after handles, links, constraints and dense weights were set; Simple is both.
snwRigWorld* snwRigWorld_New(snwContext* context, int dimension, int vertexCount, int handleCount);
void snwRigWorld_Finish(snwRigWorld* world);
snwRigWorld* snwRigWorld_Simple(snwContext* context, int dimension, int vertexCount, int handleCount);
void snwRigWorld_Free(snwRigWorld* world);
snwRigFitDef snwRigWorld_Def(const snwRigWorld* world);
void snwRigWorld_MixFreedoms(snwRigWorld* world); // rigid, moving and affine ones

// Handles one after the other, joined half way between them. limits NULL: free to turn.
snwRigWorld* snwRigWorld_NewChain(snwContext* context, int dimension, int handleCount, const snwJointDef* limits);

snwVec3 snwRigWorld_RandomVector(snwRigWorld* world);
snwQuat snwRigWorld_RandomTurn(snwRigWorld* world, double size);
void snwRigWorld_RandomPose(snwRigWorld* world, double size);
void snwRigWorld_Shake(snwRigWorld* world, double size); // the flesh, m
void snwRigWorld_GiveSome(snwRigWorld* world);           // near the pose

// Flesh that is thrown about, a root that is dragged, sometimes a second handle that is held where it can be.
void snwRigWorld_Drag(snwRigWorld* world, int trial);

snwRigFitReport snwRigWorld_Fit(snwRigWorld* world); // gathers and solves

// A fresh scratch comes from the pose before, with the same hold, to the same pose and the same answer, bit by bit.
void snwRigWorld_CheckFresh(const snwRigWorld* world, const snwRigHold* hold, snwRigPose* before);

snwVec3 snwRigWorld_Skinned(const snwRigWorld* world, const snwRigPose* pose, int vertex);
void snwRigWorld_SkinTo(const snwRigWorld* world, float* x);
double snwRigWorld_MassDot(const snwRigWorld* world, const double* a, const double* b);

snwRigLiteral snwRigLiteral_New(const snwRigWorld* world, const snwRigPose* pose);
void snwRigLiteral_Free(snwRigLiteral* l);

// A motion's entry, from moves and linear parts as the solver has them.
double snwRigWorld_EntryOf(
    const snwRigWorld* world, const snwRigPose* pose, const snwRigPose* motion, int handle, int s);

// dx of the last complement, by the literal J.
void snwRigWorld_AnswerOf(const snwRigWorld* world, const snwRigLiteral* l, double* dx);
