// softcontact: articulated bodies with soft skins, and contact as a complementarity problem (Jain and Liu). See
// docs/softcontact.md.
//
// A character's bones are links, its joints those of the links; without bones it is one free link. The vertices of its
// skin are points, with a part of their mass; all the rest is the links'. What is inside goes along with them.
//
// Who does what: softcontact.c the method and its substep, softcontact_model.c model and state; softcontact_hands.c
// hands and pins, softcontact_pose.c what leads joints; soft_world.h what touches what, soft_body.h a body's step,
// point_skin.h skins, body_tree.h links and joints.

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
    snw_softDrive,
    snw_softHold,
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
    snw_softMeasurePressureX,
    snw_softMeasurePressureY,
    snw_softMeasurePressureZ,
    snw_softMeasureCount
};

// Points that a vertex of the mesh goes along with.
enum
{
    snw_softFollowed = 4
};

typedef struct snwSoftFollow
{
    int count, points[snw_softFollowed];
    double weights[snw_softFollowed];
} snwSoftFollow;

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
    int* vertexOfPoint;     // that it is, or the nearest
    int* pointOfVertex;     // -1: inside, or the points are those of shapes
    double* inertias;       // kg m^2 or kg, by link: snwSoft_FindInertias
    int* vertexOfLink;      // nearest to its shape
    snwSoftFollow* follows; // [vertices], where the points are those of shapes; else NULL
    snwPointSkinDef skin;
} snwSoftModel;

typedef struct snwSoftJoint
{
    double target; // rad or m
    int32_t motor; // on
    int32_t zero;
} snwSoftJoint;

// A place that a bone reaches for.
typedef struct snwSoftReach
{
    snwTransform target; // of the handle's point, and its turn since the rest pose
    uint32_t given;      // mask of snw_dof...; 0: it does not
    int32_t byClip;
} snwSoftReach;

typedef struct snwSoftState
{
    snwLinkPose *poses, *aims; // aims: poses that joints are to have, see softcontact_pose.c
    double* u;
    snwVec3 *x, *v, *frozen; // of the points
    unsigned char* awake;
    int64_t* memoryCount;
    snwSoftMemory* memory;
    snwSoftJoint* joints;
    snwSoftReach* reaches; // by handle
    float *outPositions, *outVelocities;
    snwTransform *outBones, *outJoints;
} snwSoftState;

typedef struct snwSoftScratch
{
    int bodyCount; // with props
    snwSoftBody* bodies;
    snwSoftStep* steps;
    snwSpatial** loads;     // by body, and link
    snwJointDrive** drives; // likewise; NULL: of a prop
    snwTransform* bones;    // room for the largest body, as
    bool* marks;
    snwTransform* handles;
    double (*handleMatrices)[12];
    snwSoftWorld world;
    int handPoints; // that hands hold so far, of the substep
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

// Bodies that bones say themselves (softcontact_shapes.c). Has any bone a shape? Then the skin is that of soft boxes.
bool snwSoft_IsShaped(const snwCharacterDef* def);
int snwSoft_ShapePointCount(const snwCharacterDef* def);

// Room for points and their edges, at most 12 per point.
typedef struct snwSoftPoints
{
    snwVec3* rest;
    snwPointAnchor* anchors;
    int* bones; // of each point
    int (*corners)[3];
    int (*edges)[2];
} snwSoftPoints;

int snwSoft_PutShapePoints(snwSoftModel* model, snwSoftPoints* points); // returns the number of edges
void snwSoft_FollowPoints(snwSoftModel* model, const snwSoftPoints* points);
snwVec3 snwSoft_Followed(const snwSoftFollow* follow, const snwBodyTree* tree, const snwPointSkin* skin);
int snwSoft_PutProbes(const snwSim* sim, int index, snwSoftProbe* probes); // NULL: only counted

// What a bone weighs for each kg of its mesh; the mass that it says, skin and all, in place of the mesh's; an error if
// nothing is left.
double snwSoft_MassRatio(const snwBoneDef* bone, double meshMass);
void snwSoft_GiveMass(const snwBoneDef* bone, snwLinkDef* link);
snwResult snwSoft_CheckMass(const snwBoneDef* bone, const snwLinkMass* left, snwMessage* message);

snwResult snwSoft_CreateBody(snwSim* sim, int index, snwSoftBody* body, snwMessage* message);
void snwSoft_InitBody(snwSim* sim, int index);
bool snwSoft_IsSound(const snwSim* sim, int index);

// From the state into the body, and back.
void snwSoft_Load(const snwSim* sim, int index);
void snwSoft_Store(snwSim* sim, int index);
void snwSoft_Publish(snwSim* sim, int index);

// What hands and pins hold (softcontact_hands.c), as ties of the world.
snwResult snwSoft_CheckPins(const snwSim* sim, snwMessage* message);
int snwSoft_TieRoom(const snwSim* sim);
int snwSoft_TiePartRoom(const snwSim* sim);
void snwSoft_TakeHold(snwSim* sim, double h);
snwVec3 snwSoft_VertexPlace(const snwSim* sim, int index, int vertex); // m

// What leads joints (softcontact_pose.c).
void snwSoft_FindInertias(snwSoftModel* model);
void snwSoft_StartReaches(snwSim* sim, int index);
void snwSoft_TakeReach(snwSim* sim, const snwCommand* command);
void snwSoft_Lead(snwSim* sim, int index, double h);

extern const snwMethod snwSoftcontactMethod;
