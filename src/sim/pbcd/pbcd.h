// pbcd: position-based complementary dynamics. An artist moves the skeleton, skinning says where that puts the flesh
// (primary motion), and soft constraints make it flesh (secondary motion): SMPBD, which is XPBD with total multipliers.
//
// Per substep, mode `flesh`:
//     x_r = skin(t_n+1)                                where the artist puts the flesh; free bodies have none
//     rests from x_r, or those of the character        lengths, volumes, shapes move along (constraints/soft.h)
//     y = x + h v + h^2 (f / m + b a_r)                b: how much of the artist's acceleration a_r is carried along
//     repeat: visit all constraints, drags, contacts
//     u = x - x_r loses what the rig could do itself   complementary projection, an option (rig/complement.h); there
//                                                      are no anchors then, and rests are fixed: that is complementary
//                                                      dynamics (Zhang et al. 2020) by sweeps
//     v = (x - x^n) / h, damped towards v_r
// Mode `thesis` is Algorithm 2 of the thesis to the letter: x and v are those of x_r each time, so that flesh forgets
// what it did; rests are the character's.
//
// Anchors. Every vertex of flesh is tied to its place in x_r by a spring of natural frequency w (`pbcd.anchor`, or what
// its materials say: pbcd_inertia.c), those of bones rigidly. As a constraint that is C = x - x_r with compliance 1 /
// (m w^2). But its energy is quadratic and each has its vertex for itself, so it goes into the inertia exactly and
// costs nothing:
//     m/2h^2 |x - y|^2 + m w^2/2 |x - x_r|^2 = m'/2h^2 |x - y'|^2 + const
//     m' = m (1 + h^2 w^2),    y' = y + (x_r - y) h^2 w^2 / (1 + h^2 w^2)
// No w ties a vertex for good: an integrator sees no more than 1.3 rad per substep of it. `pbcd.hold` is the limit,
// where y' = x_r and m' is infinite. The bind constraint of Eq. 4.4 keeps the distance to the nearest bone only
// (`pbcd.bind = distance`): flesh may slide around it.
//
// Integrators. All solve M (x - y) = e^2 f(x) with another e and y, where e^2 stands in for h^2 above:
//     euler       y = x + h v + h^2 g                                        e = h       first order, damps
//     bdf2        y = (4 x - x^n-1)/3 + 2h/9 (4 v - v^n-1) + e^2 g           e = 2h/3    second order, damps less
//     trapezoid   y = x + h v + h^2/4 a + h^2/2 g                            e = h/2     second order, damps nothing
// with a the acceleration by inner forces in the step before. What touches something ends its step as Euler does.

#pragma once

#include "rig/complement.h"
#include "rig/skinning.h"
#include "sim/constraints/damping.h"
#include "sim/constraints/kernels.h"
#include "sim/pbcd/implicit.h"
#include "sim/touch.h"

typedef enum snwPbcdMode
{
    snw_pbcdFlesh,
    snw_pbcdThesis,
} snwPbcdMode;

typedef enum snwPbcdLaw
{
    snw_pbcdNeo,    // constraints/neo_hookean.h
    snw_pbcdEdges,  // lengths and volumes
    snw_pbcdStrain, // Green strains, other moduli along other axes
} snwPbcdLaw;

typedef enum snwPbcdSolver
{
    snw_pbcdSmpbd,    // soft constraints, sweep by sweep
    snw_pbcdPbd,      // as published in 2007: lengths and volumes with a stiffness per visit
    snw_pbcdImplicit, // implicit.h: Newton to the end; with pbcd.complement that is complementary dynamics
} snwPbcdSolver;

typedef enum snwPbcdCommit
{
    snw_pbcdSeidel,
    snw_pbcdJacobi,
} snwPbcdCommit;

typedef enum snwPbcdIntegrator
{
    snw_pbcdEuler,
    snw_pbcdBdf2,
    snw_pbcdTrapezoid,
} snwPbcdIntegrator;

typedef enum snwPbcdBind
{
    snw_pbcdAnchor,
    snw_pbcdDistance,
} snwPbcdBind;

typedef enum snwPbcdRestKind
{
    snw_pbcdRestAuto,
    snw_pbcdRestMoving,
    snw_pbcdRestFixed,
} snwPbcdRestKind;

typedef enum snwPbcdComplement
{
    snw_pbcdNoComplement,
    snw_pbcdRig,
    snw_pbcdAffine,
} snwPbcdComplement;

typedef enum snwPbcdParam
{
    snw_pbcdIterations_,
    snw_pbcdTolerance,
    snw_pbcdMode_,
    snw_pbcdLaw_,
    snw_pbcdSolver_,
    snw_pbcdCommit_,
    snw_pbcdRelaxation,
    snw_pbcdIntegrator_,
    snw_pbcdCorrected,
    snw_pbcdStiffness,
    snw_pbcdFollow,
    snw_pbcdSkinning,
    snw_pbcdBlend,
    snw_pbcdAnchor_,
    snw_pbcdHold,
    snw_pbcdBind_,
    snw_pbcdRest,
    snw_pbcdComplement_,
    snw_pbcdCut,
    snw_pbcdAlongX,
    snw_pbcdAlongY,
    snw_pbcdAlongZ,
    snw_pbcdViscosity,
    snw_pbcdDamping,
    snw_pbcdDrag,
    snw_pbcdEqualMasses,
    snw_pbcdSelf,
    snw_pbcdParamCount,
} snwPbcdParam;

// Where the bind constraint of a vertex holds on: the nearest point of its bone at rest.
typedef struct snwPbcdBond
{
    int bone;
    float distance; // m
} snwPbcdBond;

typedef struct snwPbcdModel
{
    snwArena arena;
    snwContext* context;
    const snwCharacter* character;
    int vertexCount;
    bool driven; // bones or vertices of a motion lead
    bool moving; // some motion moves vertices by itself
    bool hold;   // all of a driven body is where its motion puts it
    snwPbcdMode mode;
    snwPbcdLaw law;
    snwPbcdSolver solver;
    snwPbcdCommit commit;
    snwPbcdIntegrator integrator;
    bool corrected;
    bool unfolds; // unfold.h, with laws that tell a tet from its mirror image or could
    snwBlocks blocks;
    snwTetBlock* boneTets; // of blocks: those with a vertex of a bone
    snwTetEdges* tetEdges;
    snwNeoRest* rests;         // of the laws neo and strain, and of all with viscosity
    const snwWeights* weights; // of the bones, if driven
    snwWeights* ownWeights;    // NULL: the character's
    snwSkinModel* skin;
    snwSkinningKind skinning;
    snwComplement* complement; // NULL: none
    snwPbcdComplement complementKind;
    snwPbcdBond* bonds; // NULL: anchors
    bool equalMasses;   // 1 kg each
    bool movingRests;   // rests are those of x_r
} snwPbcdModel;

// The nearest point of the segment, its ends included.
static inline snwVec3 snwPbcd_NearestOnSegment(snwVec3 x, snwVec3 head, snwVec3 tail)
{
    snwVec3 along = snwVec3_Sub(tail, head);
    double square = snwVec3_Dot(along, along), t = snwVec3_Dot(snwVec3_Sub(x, head), along);
    return t <= 0.0 ? head : t >= square ? tail : snwVec3_MulAdd(head, t / square, along);
}

// State of a body. Rows are float4, vertexCount + snw_blockLanes of them; NULL where the model has no use for them.
typedef struct snwPbcdState
{
    double* stepBefore; // s: the h that `before...` belong to; 0: there are none yet
    float* positions;   // x y z, inverse mass in use: with anchors, 0 while held
    float* velocities;  // x y z, inverse mass when free
    float* reference;   // x_r and ...
    float* referenceVelocities;
    float* beforePositions; // bdf2
    float* beforeVelocities;
    float* accelerations; // trapezoid: by inner forces
    unsigned char* held;  // snwPbcdHeld
    snwAnchor* anchors;   // snw_anchorsPerVertex for each vertex that touches
    snwTransform* bones;  // where they are
    snwTransform* joints;
} snwPbcdState;

enum
{
    snw_heldByPin = 1,
    snw_heldByBone = 2,
};

// What the elements around a vertex say about its swing.
typedef struct snwPbcdWish
{
    double square; // (rad/s)^2, of the frequency
    double rate;   // 1/s: swings shrink as exp(-rate t)
    double mass;   // kg, of the elements while they are summed
    bool stated;   // some material has a frequency
    bool settled;  // some has a settling time
} snwPbcdWish;

// Work arrays of a body.
typedef struct snwPbcdWork
{
    const snwPbcdModel* model;
    snwPbcdState state;
    float* before;    // positions before the substep
    float* predicted; // y'
    float* reference; // x_r at its end
    float* shaped;    // the same before bones moved it, where motions move vertices; without bones it is x_r
    float* target;    // Jacobi: moves
    float* last;      // with a tolerance: positions before the sweep
    snwSoftSweep sweep;
    snwNeoMoves moves; // of the law neo, with moves that are made at once
    snwNeoRest* rests; // of this substep; the model's where nothing moves them
    double* stiffnesses;
    snwTransform* pose;
    snwVec3* segments; // bind: heads and tails of the bones
    float* bondSums;   // bind: lambda
    snwSkinPalette palette;
    snwSkinModel shape; // the model's skin with other rest positions, where a motion moves vertices
    snwComplementScratch* complement;
    struct snwPbcdNewton* newton; // NULL: another solver
    snwMaterial* materials;       // that the compliances were made of ...
    double compliances[5];        // ... with these numbers: step, viscosity, axes
    float* shares;                // a / (1 + a) with a = (e w)^2 of each vertex's anchor ...
    float* stiffer;               // ... 1 / (1 + a) ...
    float* losses;                // ... and the part of v - v_r that a substep takes
    snwPbcdWish* wishes;
    snwMaterial* tunedMaterials; // that they were made of ...
    double tuned[4];             // ... with these numbers: h, e, anchor, damping
    unsigned char* touching;
    bool cut;          // the artist jumped in this step, not in one instant: x_r stays at its end
    double jumpTime;   // s since the scene began: when the artist jumped in one instant; < 0: not in this step
    snwTransform jump; // how
} snwPbcdWork;

// What the integrator makes of a substep.
typedef struct snwPbcdTime
{
    double h;
    double e;       // implicit step
    double carried; // b
    double keep;    // of the velocity, after drag
    double acceleration[3];
} snwPbcdTime;

typedef struct snwPbcdScratch
{
    snwPbcdWork* works;
    double* sums;
    double* masses;
    snwPbcdTime* times;
    snwUnfold* unfolds; // per body; without tets where its law leaves them alone
    long sweeps;        // of the last substep, all bodies together
    snwResponse* response;
} snwPbcdScratch;

static inline snwPbcdWork* snwPbcd_Work(const snwSim* sim, int body)
{
    return &((snwPbcdScratch*)sim->scratch)->works[body];
}

// What is unfolded: positions or x_r of a body.
static inline snwUnfold snwPbcd_Unfold(const snwPbcdWork* work, float* positions)
{
    const snwTetBlock* tets = positions == work->reference ? work->model->boneTets : work->model->blocks.tets;
    return (snwUnfold){&work->model->blocks, tets, positions, work->sweep.folded};
}

// pbcd_model.c
snwResult snwPbcd_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwPbcd_DestroyModel(snwContext* context, void* model);

// pbcd_state.c
size_t snwPbcd_StateSize(const void* model);
snwPbcdState snwPbcd_PlaceState(const snwPbcdModel* model, void* bytes);
void snwPbcd_Masses(const snwPbcdModel* model, const snwMaterial* materials, double* masses); // kg
void snwPbcd_InitBody(snwSim* sim, int body);
bool snwPbcd_IsSound(const snwSim* sim, int body);
void snwPbcd_Applied(snwSim* sim, const snwCommand* command);
void snwPbcd_GetVertices(const snwSim* sim, int body, snwVertices* vertices);
void snwPbcd_GetBones(const snwSim* sim, int body, snwTransforms* bones);
void snwPbcd_GetJoints(const snwSim* sim, int body, snwTransforms* joints);

// pbcd_rig.c: x_r at a time since the scene began, into work->reference; and the rests that follow from it.
snwResult snwPbcd_MoveReference(snwSim* sim, int body, double time, snwMessage* message);
snwResult snwPbcd_BeginReference(snwSim* sim, int body, double h, snwMessage* message);
void snwPbcd_EndReference(snwSim* sim, int body, double h);
void snwPbcd_SetRests(snwSim* sim, int body, const snwPbcdTime* time);

// pbcd_inertia.c: shares, stiffer and losses of the work, for this substep
void snwPbcd_SetInertia(snwSim* sim, int body, const snwPbcdTime* time);

// pbcd_motion.c
snwPbcdTime snwPbcd_MakeTime(const snwSim* sim, int body, double h);
void snwPbcd_Predict(snwSim* sim, int body, snwPbcdTime* time); // adds pushes to the acceleration
void snwPbcd_Finish(snwSim* sim, int body, const snwPbcdTime* time);

// pbcd_solve.c
void snwPbcd_SolveIsland(snwSim* sim, int island, const snwPbcdTime* times);
snwResult snwPbcd_Complement(snwSim* sim, int body, snwMessage* message);
double snwPbcd_ComplementResidual(snwSim* sim, int body); // |J^T M u|, relative; 0 without a complement

// pbcd_newton.c
snwResult snwPbcd_CreateNewton(snwPbcdWork* work, snwContext* context, snwMessage* message);
void snwPbcd_DestroyNewton(struct snwPbcdNewton* newton);
snwResult snwPbcd_SolveNewton(snwSim* sim, int body, const snwPbcdTime* time, snwMessage* message);
