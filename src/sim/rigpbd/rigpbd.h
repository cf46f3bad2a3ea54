// Two-way coupling of skinning transformations and position-based dynamics (Wu, Umetani 2023): drag one handle, the
// whole character answers. Flesh is simulated on a hidden mesh; a rig of handles is fitted to it, and what is given of
// the rig moves the flesh. What is shown is the rigged mesh.
//
// A substep of h seconds (Alg. 1, with V = (X - X_prev) / h, which its print lacks):
//     predict      v += h g,  p = x + h v,  moves d = 0
//     elastic      XPBD on p + d (constraints/pair.h); drags and pins
//     rig          the pose that fits p + d best with what is given (rig/rig_fit.h), moments only, no skinning
//     complement   d += J dl: the flesh answers to what is given, and to nothing else
//     unfold       what that left flat or inside out (constraints/pair.h)
//     contact      last, so that nothing is left inside of anything; the rig sees it in the next substep
//     velocity     v += d / h,  x = p + d;  damping
// All that constraints do is kept in d, apart from the coordinates: v gets no rounding of these, so a free character
// keeps its momentum.
//
// Damping is relative to the rig: v -= k (r - r_rigid), r = v - v_rig, v_rig the velocity of the rigged mesh and
// r_rigid the rigid motion in r. So it takes neither momentum nor angular momentum (of a rig that lags or cannot turn,
// the first term alone would), nor what the animator sees move. What the rig does itself dies by rigpbd.settle,
// everything by rigpbd.drag.
//
// Given degrees of freedom go from where the handle is to the target within the step (rigpbd_handles.c). Hands may do
// anything, so two limits hold, far above what a character does by itself: what all given handles do together beyond 10
// sizes per second carries the body along as it is, without any velocity; and no vertex moves by more than 15 sizes per
// second against the mean of the handles. One that is sent off alone takes its time (rigpbd_handles.c).
//
// Locking and letting go: the rig obeys at once, the flesh within the step (rigpbd_toggle.c).
//
// Flat characters live in z = 0 to the last bit: constraints never write z, contacts' z is put back.

#pragma once

#include "math/simd.h"
#include "rig/rig_fit.h"
#include "sim/constraints/damping.h"
#include "sim/constraints/kernels.h"
#include "sim/rigpbd/rival.h"
#include "sim/touch.h"

typedef enum snwRigpbdParam
{
    snw_rigpbdIterations,
    snw_rigpbdCompliance,
    snw_rigpbdDamping,
    snw_rigpbdSettle,
    snw_rigpbdDrag,
    snw_rigpbdChains,
    snw_rigpbdShow,
    snw_rigpbdHandles,
    snw_rigpbdWeights,
    snw_rigpbdSelf,
    snw_rigpbdSolver,
    snw_rigpbdHands,
    snw_rigpbdParamCount,
} snwRigpbdParam;

typedef enum snwRigpbdChainsKind
{
    snw_rigpbdChainsConstraint,
    snw_rigpbdChainsFix,
    snw_rigpbdChainsNone,
} snwRigpbdChainsKind;

typedef enum snwRigpbdHandsKind
{
    snw_rigpbdHandsBearable, // rigpbd_force.c
    snw_rigpbdHandsFirm,
} snwRigpbdHandsKind;

typedef enum snwRigpbdSolverKind
{
    snw_rigpbdSolverCoupled,
    snw_rigpbdSolverArap, // rival.h
    snw_rigpbdSolverFast,
} snwRigpbdSolverKind;

typedef enum snwRigpbdShowKind
{
    snw_rigpbdShowRig,
    snw_rigpbdShowFlesh,
} snwRigpbdShowKind;

enum
{
    snw_rigpbdJoined, // the fit with its chains
    snw_rigpbdLoose,  // and without
    snw_rigpbdModelFits,
    snw_rigpbdAffine = snw_rigpbdModelFits, // of handles that squash and stretch, with chains; then without
    snw_rigpbdFits = snw_rigpbdAffine + 2
};

typedef struct snwRigpbdModel
{
    snwArena arena;
    const snwCharacter* character;
    bool flat;
    int vertexCount, handleCount; // no handles: flesh alone
    snwBlocks blocks;
    snwWeights* weights;                  // of all vertices, computed where the character has none
    const snwWeights* rigWeights;         // these, or the character's
    snwRigFit* fits[snw_rigpbdModelFits]; // NULL without handles; loose: NULL if there are no chains
    snwVec3* origins;                     // of the handles, m, in the rest pose
    double* rooms;                        // m: of each between it and any collider, where a command or clip leads it
    double* volumes;                      // m^3: of the flesh that each holds, per material of the body
    uint32_t* given;                      // at the start
    int* boneHandles;                     // the handle that is each bone, -1: none
    double size;                          // m, diagonal of the bounds at rest
} snwRigpbdModel;

// A handle between substeps. No padding: it is part of the state.
typedef struct snwRigpbdHandle
{
    snwVec3 velocity, spin;     // of the pose, m/s and rad/s: in the last substep, or before the step that moves it
    snwTransform start, target; // of this step, for what is given: place of the origin and turn from the rest pose.
                                // Between steps start has the place that a command wants in the end
    double startStrain[6], targetStrain[6]; // likewise, of affine handles: see snwRigTarget
    uint32_t given;                         // mask of snw_dof...
    uint32_t fresh;                         // of those, what this step has newly given
    uint32_t leaving;                       // of others, what this step lets go of
    int8_t moves;                           // a command or clip moves it in this step
    int8_t hand;                            // snwRigpbdHand
    int8_t stops;                           // the step before locked something of it, and nobody leads it on
    int8_t clip;                            // snwRigpbdClip
} snwRigpbdHandle;

typedef enum snwRigpbdHand
{
    snw_rigpbdHandNone,  // it is locked where it was, or a clip leads it: what is given is met
    snw_rigpbdHandLeads, // commands lead it, of a solid character, with a limit: see rigpbd_force.c
    snw_rigpbdHandLate,  // and that would take more force than flesh bears
} snwRigpbdHand;

typedef enum snwRigpbdClip
{
    snw_rigpbdClipNone,  // a command took it, or there is none
    snw_rigpbdClipComes, // its first step: from where the handle is
    snw_rigpbdClipLeads,
} snwRigpbdClip;

// A linear constraint of the handles. No padding.
typedef struct snwRigpbdRule
{
    double start, value; // of this step: its right side goes from the one to the other
    int64_t on;
} snwRigpbdRule;

enum
{
    snw_rigpbdSwingFull = 10000,
};

// What the last substep was made with.
typedef struct snwRigpbdRun
{
    int32_t solver; // snwRigpbdSolverKind
    int16_t affine; // handles squashed and stretched
    int16_t swing;  // 0 to snw_rigpbdSwingFull: how far flesh was unfolded because the rig swings; see rigpbd.c
} snwRigpbdRun;

// In the state block. Rows are float4.
typedef struct snwRigpbdState
{
    float* positions;  // x y z and the inverse mass in use
    float* velocities; // x y z and the inverse mass when free
    snwRigPose* pose;
    snwRigPose* answer; // what the complement did to the flesh in the last substep, m/s^2 and 1/s^2
    snwRigpbdHandle* handles;
    snwRigpbdRule* rules;
    double* closing;   // one: what was open of the rig's joints closed by in the last substep, see rig_fit.h
    snwRigpbdRun* run; // one
    snwAnchor* anchors;
} snwRigpbdState;

// Work arrays of a body.
typedef struct snwRigpbdWork
{
    const snwRigpbdModel* model;
    snwRigpbdState state;
    float* before;    // rows: positions when the substep began
    float* predicted; // rows, with the inverse masses in use
    float* moves;     // rows: d
    float* plane;     // rows of flat flesh: x y predicted, x y moved
    float* drift;     // rows: velocities of the rigged mesh
    snwPairTriangles* triangles;
    snwPairTets* tets;
    unsigned char* folded;                  // per block: snwPairMark
    const snwRigFit* rigs[snw_rigpbdFits];  // the model's, and the affine ones once they are asked for: the work's own
    snwRigFitScratch* fits[snw_rigpbdFits]; // NULL where there is no such rig
    snwRigTarget* targets;
    snwVec3* goals;  // in this step: where commands want the places of handles to be in the end
    double* carries; // in this step: how far the flesh of each handle may carry the body; see rigpbd_force.c
    snwRigRule* rules;
    snwRigPose* poses;        // when the substep began, then their velocities
    snwTransform* transforms; // for those who ask
    double (*matrices)[12];
    snwTransform* bones;
    snwTransform* joints;
    float* shown; // rows, filled on demand
    uint64_t shownChanges;
    uint64_t seen;                              // sim->changes when the elements were last compared with the state
    snwMaterial* materials;                     // that the elements were made with ...
    float* masses;                              // ... and inverse masses in use
    double h;                                   // ... and substep
    int visits;                                 // ... and iterations
    double calming;                             // 1/s: see rigpbd_force.c
    double kept;                                // of the flesh's stiffness, by the cut of pair.h
    bool held;                                  // ... and whether one of these is 0
    bool alone;                                 // in this substep, see rigpbd_plane.c and rigpbd_solid.c
    snwRival* rivals[snw_rigpbdSolverFast + 1]; // by the solver; NULL until it is asked for
} snwRigpbdWork;

typedef struct snwRigpbdScratch
{
    snwRigpbdWork* works;
    double* masses;            // kg, of the largest body
    double* sums;              // of the damping
    float* last;               // rows: of the largest body, before the last sweep
    snwResponse* responses[2]; // without and with contact of bodies with themselves; NULL until it is asked for
} snwRigpbdScratch;

static inline snwRigpbdWork* snwRigpbd_Work(const snwSim* sim, int body)
{
    return &((snwRigpbdScratch*)sim->scratch)->works[body];
}

static inline snwRow* snwRigpbd_RowAt(float* rows, int index)
{
    return (snwRow*)(rows + 4 * (size_t)index);
}

// What a pass over the vertices knows.
typedef struct snwRigpbdPass
{
    snwRigpbdWork* work;
    const snwConstraintKernels* kernels;
    snwRow acceleration; // times h
    float h, inverseH;
    float keep; // of the velocity, after drag
} snwRigpbdPass;

// See above: hands may do anything.
typedef struct snwRigpbdBound
{
    snwRow centre; // m/s
    float most;    // m/s against it
} snwRigpbdBound;

static inline snwRow snwRigpbd_LimitVelocity(snwRow v, const snwRigpbdBound* bound)
{
    snwRow against = v - bound->centre, square = against * against;
    float sum = square[0] + square[1] + square[2];
    if (!(sum > bound->most * bound->most))
        return v;
    float part = bound->most / sqrtf(sum);
    return bound->centre + against * (snwRow){part, part, part, 1.0f};
}

// rigpbd_plane.c
snwRigpbdBound snwRigpbd_Bound(const snwRigpbdWork* work);
void snwRigpbd_PredictPlane(int begin, int end, void* pass);
void snwRigpbd_FinishPlane(int begin, int end, void* pass);

// rigpbd_solid.c
void snwRigpbd_PredictSolid(int begin, int end, void* pass);
void snwRigpbd_FinishSolid(int begin, int end, void* pass);

// rigpbd_model.c
snwResult snwRigpbd_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwRigpbd_DestroyModel(snwContext* context, void* model);
// Fits of affine handles, with chains and without (NULL if there are none).
snwResult snwRigpbd_MakeAffine(
    snwContext* context, const snwRigpbdModel* model, const snwRigFit* fits[2], snwMessage* message);
// Linear constraints that name turns are no constraints of affine handles.
snwResult snwRigpbd_CheckParam(const snwSceneDef* scene, int param, double value, snwMessage* message);

// rigpbd_state.c
size_t snwRigpbd_StateSize(const void* model);
snwRigpbdState snwRigpbd_PlaceState(const snwRigpbdModel* model, void* bytes);
void snwRigpbd_InitBody(snwSim* sim, int body);
bool snwRigpbd_IsSound(const snwSim* sim, int body);
void snwRigpbd_Applied(snwSim* sim, const snwCommand* command);
snwResult snwRigpbd_CreateScratch(snwSim* sim, snwMessage* message);
void snwRigpbd_DestroyScratch(snwSim* sim);

// rigpbd_switch.c
// Makes what the parameters ask for and nobody has asked for before: the only memory that a step may take.
snwResult snwRigpbd_Ready(const snwSim* sim, snwMessage* message);
bool snwRigpbd_IsAffine(const snwSim* sim);
int snwRigpbd_WhichFit(const snwSim* sim, int body);
// Before a substep: what another solver or other handles have left becomes what these can start from.
void snwRigpbd_Switch(snwSim* sim, int body);

// rigpbd_show.c
void snwRigpbd_GetVertices(const snwSim* sim, int body, snwVertices* vertices);
void snwRigpbd_GetShown(const snwSim* sim, int body, snwVertices* vertices);
void snwRigpbd_GetHandles(const snwSim* sim, int body, snwTransforms* handles);
void snwRigpbd_GetHandleMatrices(const snwSim* sim, int body, snwMatrices* handles);
void snwRigpbd_GetBones(const snwSim* sim, int body, snwTransforms* bones);
void snwRigpbd_GetJoints(const snwSim* sim, int body, snwTransforms* joints);

// rigpbd_handles.c
void snwRigpbd_StartHandles(snwSim* sim, int body);
void snwRigpbd_TakeHandle(snwSim* sim, const snwCommand* command);
void snwRigpbd_TakeRule(snwSim* sim, const snwCommand* command);

// What is given at the end of this substep; fraction: of the step that is over by then.
void snwRigpbd_MoveHandles(snwSim* sim, int body, double fraction);

// When a step begins: a handle that shall go more than `most` m in it, beside what all given ones have in common, goes
// `step` m only, and on from there in the steps after it.
void snwRigpbd_LimitReach(snwRigpbdWork* work, double most, double step);

// Then: none is led into a collider, nor nearer to one than its room. One that is nearer already is led out by `step` m
// at most.
void snwRigpbd_KeepOut(const snwSim* sim, snwRigpbdWork* work, double step);

// Whether any of that is let go of in this step.
bool snwRigpbd_LetsGo(const snwRigpbdWork* work);

// The way that all handles with given places must go in this substep, beyond `most` m in each coordinate: the body is
// carried along by that much, rig and flesh. 0: nothing to carry.
snwVec3 snwRigpbd_CarryHandles(snwRigpbdWork* work, double most);

// m/s: the mean of the handles.
snwVec3 snwRigpbd_MeanVelocity(const snwRigpbdWork* work);

// The pose has changed in a substep of h seconds from work->poses, which become its velocities. last: the step ends.
void snwRigpbd_FollowHandles(snwRigpbdWork* work, double h, bool last);

// rigpbd_force.c

// A handle that is late goes on to its target no faster than the force that its flesh bears can stop it.
void snwRigpbd_Brake(const snwSim* sim, int body, double h);

// What a place that is given was taken back by, m, and the push before that, kg m.
typedef struct snwRigpbdYield
{
    double push, way;
} snwRigpbdYield;

// After an answer: whether what is given takes more force than flesh bears. Then targets are nearer. before: by handle,
// of the try before this one.
bool snwRigpbd_Yield(const snwSim* sim, int body, snwRigFitScratch* scratch, double h, snwRigpbdYield* before);

// For this substep no hand holds what it leads.
void snwRigpbd_LetSlip(const snwSim* sim, int body);

// Whether held handles turn so fast that the answer may be what turns them, and all that hands do is known. work->poses
// are velocities. Then energies are measured before the answer is applied and after: J, of flesh as moves and
// velocities are now.
bool snwRigpbd_MaySpin(const snwSim* sim, int body, double h);
typedef struct snwRigpbdEnergy
{
    double all, own; // without what it has as a whole
} snwRigpbdEnergy;
snwRigpbdEnergy snwRigpbd_Energy(const snwRigpbdWork* work, double h);

// 1/s: the damping that takes away what the answer has brought in beyond the work of the hands.
double snwRigpbd_Calming(const snwRigpbdWork* work, const snwRigFit* fit, const snwRigFitScratch* scratch,
    const snwRigpbdEnergy energies[2], double h);

// rigpbd_toggle.c

// Whether the step locks degrees of freedom, or stops those that the one before locked, or lets go of some.
bool snwRigpbd_Toggles(const snwRigpbdWork* work);

// Which part of its step a substep is.
typedef struct snwRigpbdPart
{
    double end, length; // of the step that is over then, 0 .. 1; of the step
    double h;           // s
    bool toggles;       // the step does
} snwRigpbdPart;

// What the flesh lags behind the rig by in such a step.
void snwRigpbd_EaseToggle(const snwRigpbdPart* now, snwRigHold* hold);

// The complement's answer in the first substep of such a step, which is that of the substep before: returns true. In
// others it is kept for that.
bool snwRigpbd_EaseAnswer(
    const snwRigpbdWork* work, const snwRigHold* hold, const snwRigpbdPart* now, snwRigPose* answer);

// rigpbd_rival.c
snwResult snwRigpbd_CreateRival(const snwSim* sim, int body, snwMessage* message); // nothing for the coupled method
// A substep of h seconds; fraction: of the step that is over by then.
snwResult snwRigpbd_StepRival(snwSim* sim, int body, double fraction, double h, snwMessage* message);
