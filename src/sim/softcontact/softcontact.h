// softcontact: articulated bodies with soft skins, and contact as a complementarity problem (Jain and Liu). See
// docs/softcontact.md.
//
// A character's bones are links, its joints those of the links; without bones it is one free link. The vertices of its
// skin are points, with a part of their mass; all the rest is the links'. What is inside goes along with them.
//
// Who does what: softcontact.c the method and its substep, softcontact_model.c model and state; soft_world.h what
// touches what, soft_body.h a body's step, point_skin.h skins, body_tree.h links and joints.

#pragma once

#include "sim/method.h"
#include "sim/softcontact/soft_world.h"

#include <assert.h>

enum
{
    snw_softStiffness,
    snw_softVertex,
    snw_softEdge,
    snw_softDamping,
    snw_softShare,
    snw_softAwake,
    snw_softContacts,
    snw_softMode,
    snw_softIntegration,
    snw_softRings,
    snw_softRest,
    snw_softCone,
    snw_softSolver,
    snw_softSweeps,
    snw_softTolerance,
    snw_softCompliance,
    snw_softRecover,
    snw_softStart,
    snw_softContact,
    snw_softPenalty,
    snw_softPenaltyDamping,
    snw_softParamCount,

    snw_softMemoryRoom = 512 // contacts of a body whose impulses are kept
};

// Order of the measures that the method reports.
enum
{
    snw_softMeasureActive,
    snw_softMeasureContacts,
    snw_softMeasureResidual,
    snw_softMeasureNewtons,
    snw_softMeasureSweeps,
    snw_softMeasureFailures,
    snw_softMeasureForceX,
    snw_softMeasureForceY,
    snw_softMeasureForceZ,
    snw_softMeasureCount
};

typedef struct snwSoftModel
{
    const snwCharacter* character;
    snwArena arena;
    int linkCount, loopCount;
    snwLinkDef* links; // of the rest pose
    snwJointDef* loops;
    int* linkOfBone;
    int* linkOfJoint;        // that it is the joint of; -1: it closes a loop
    snwPointAnchor* anchors; // of all vertices of the mesh
    int freedom, pointCount;
    int* vertexOfPoint; // and
    int* pointOfVertex; // -1: inside
    snwPointSkinDef skin;
} snwSoftModel;

typedef struct snwSoftJoint
{
    double target; // rad or m
    int32_t motor; // on
    int32_t zero;
} snwSoftJoint;

typedef struct snwSoftState
{
    snwLinkPose* poses;
    double* u;
    snwVec3 *x, *v, *frozen; // of the points
    unsigned char* awake;
    int64_t* memoryCount;
    snwSoftMemory* memory;
    snwSoftJoint* joints;
    float *outPositions, *outVelocities;
    snwTransform *outBones, *outJoints;
} snwSoftState;

typedef struct snwSoftScratch
{
    int bodyCount; // with props
    snwSoftBody* bodies;
    snwSoftStep* steps;
    snwSpatial** loads; // by body, and link
    snwSoftWorld world;
    bool made;
} snwSoftScratch;

// Model and state.
snwResult snwSoft_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwSoft_DestroyModel(snwContext* context, void* model);
size_t snwSoft_StateSize(const void* model);
snwSoftState snwSoft_PlaceState(const snwSoftModel* model, void* bytes);

static inline snwSoftState snwSoft_State(const snwSim* sim, int index)
{
    assert(sim->bodies[index].state != NULL);
    return snwSoft_PlaceState(sim->bodies[index].model, sim->bodies[index].state);
}

snwResult snwSoft_CreateBody(snwSim* sim, int index, snwSoftBody* body, snwMessage* message);
void snwSoft_InitBody(snwSim* sim, int index);
bool snwSoft_IsSound(const snwSim* sim, int index);

// From the state into the body, and back.
void snwSoft_Load(const snwSim* sim, int index);
void snwSoft_Store(snwSim* sim, int index);
void snwSoft_Publish(snwSim* sim, int index);

// Not in the list of methods yet: see docs/softcontact.md for what it lacks.
extern const snwMethod snwSoftcontactMethod;
