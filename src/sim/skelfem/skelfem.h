// skelfem: corotated finite elements on geometric multigrid (Georgii and Westermann). See docs/skelfem.md.
//
// A substep minimises, over the vertices that nothing holds,
//     Phi(x) = s/2 |x - z|_M^2 - f . (x - x_n) + W(x) + D(x) + hands(x) + touches(x)
// s and z come from the rule of time integration (skelfem_time.c), W and D from elasticity.h; a hand is the spring of
// grip.h, whose limit makes it a Huber function; touches are augmented Lagrangians (skelfem_touch.c). Newton's matrix
// is K with frozen rotations, which is positive semidefinite, plus what the others add to diagonal blocks, so every
// solution of it leads downhill. Bodies and props that touch are one system: their Newton steps are found together.
//
// Who does what: skelfem.c the method and its substep, skelfem_model.c model and state, skelfem_time.c rules,
// skelfem_newton.c the way downhill, skelfem_solve.c its linear systems, skelfem_touch.c contact.

#pragma once

#include "sim/grip.h"
#include "sim/skelfem/corotated.h"
#include "sim/skelfem/elasticity.h"
#include "sim/touch.h"

enum
{
    snw_skelfemPreset,
    snw_skelfemRule,
    snw_skelfemNewton,
    snw_skelfemTolerance,
    snw_skelfemSolver,
    snw_skelfemCycles,
    snw_skelfemLinear,
    snw_skelfemUnknowns,
    snw_skelfemCycle,
    snw_skelfemHold,
    snw_skelfemMass,
    snw_skelfemDamping,
    snw_skelfemRayleigh,
    snw_skelfemStops,
    snw_skelfemSelf,
    snw_skelfemParamCount,

    snw_skelfemGrain = 1024 // vertices
};

// Order of the choices of skelfem.rule.
typedef enum snwSkelfemRule
{
    snw_ruleEuler,
    snw_ruleBdf2,
    snw_ruleNewmark
} snwSkelfemRule;

// Order of the measures that the method reports.
enum
{
    snw_skelfemMeasureNewton,
    snw_skelfemMeasureCycles,
    snw_skelfemMeasureLinear,
    snw_skelfemMeasureFallbacks,
    snw_skelfemMeasureHeldX,
    snw_skelfemMeasureHeldY,
    snw_skelfemMeasureHeldZ,
    snw_skelfemMeasureCount
};

typedef struct snwSkelfemModel
{
    const snwCharacter* character;
    const snwGridLevels* levels; // the shape
    int vertexCount, tetCount, blockCount;
} snwSkelfemModel;

// How far the history of a body goes back.
typedef struct snwSkelfemClock
{
    double h;      // s, of the last substep
    double smooth; // substeps since something was last near; 0: there is no history
    double energy; // J: of motion and strain, after the last substep that was free
    double gained; // J: from nowhere, by Newmark's rule in free substeps
    double rate;   // 1/s: snwSkelfemStep's, of the last substep: that of damping in the matrix
} snwSkelfemClock;

typedef struct snwSkelfemState
{
    snwSkelfemClock* clock;
    snwVec3 *positions, *velocities; // m and m/s, in the world
    snwVec3 *positionsBefore, *velocitiesBefore, *accelerations;
    snwQuatBlock* rotations;
    unsigned char* knots; // [tet]: see elasticity.h
    snwAnchor* anchors;
    snwVec3* loads;    // N, per anchor: what pushed there in the last substep
    double* stiffness; // N/m per vertex: mean diagonal of A when the last Newton step began; of touches and hands
    double* pressed;   // N, per vertex: its share of what points of props pushed with
    float *outPositions, *outVelocities;
    snwTransform* outBones;
} snwSkelfemState;

// The rule of a substep: v = rate (x - velocityFrom), and inertia draws x to `from` with scale M.
typedef struct snwSkelfemStep
{
    snwSkelfemRule rule;
    double h;
    double rate;  // 1/s
    double scale; // 1/s^2
} snwSkelfemStep;

// What a substep has to tell.
typedef struct snwSkelfemTally
{
    int newton, cycles, fallbacks;
    double linear;  // residual that the last linear solution left
    double longest; // m: the longest way of the last Newton step of its group
    snwVec3 held;   // N: the sum of what it takes to hold what is held
} snwSkelfemTally;

typedef struct snwSkelfemBody
{
    const snwSkelfemModel* model;
    snwSkelfemState state;
    snwMultigrid* grid;
    snwCorotated* matrix;
    snwElasticity* elasticity;

    double *masses, *tetMasses; // kg
    double *mu, *lambda;        // Pa, per tet: of the matrix, with damping
    uint64_t signature;         // of what they were made from
    unsigned char* held;
    bool anyHeld;

    snwSkelfemStep step;
    snwVec3* before;       // x_n
    snwVec3* velocityFrom; // see snwSkelfemStep
    snwVec3* from;         // z
    snwVec3* external;     // N: gravity, pushes
    snwVec3* gradient;
    snwVec3* direction;
    snwVec3* aside;                                  // x before a Newton step
    snwVec3 *residual, *guess, *conjugate, *product; // of the linear system, where others are in it
    double* added;                                   // kg/s^2: s m
    snwVec3* tetSums;                                // of the consistent mass matrix
    snwElasticityEnergy energy;
    double objective;         // J: Phi at x, without touches
    int touchFirst, touchEnd; // its touches in scratch->order
    bool near;                // something may push it in this substep
    snwSkelfemTally tally;

    float *touchRows, *touchBefore;
    snwBoneFit* boneFits;
} snwSkelfemBody;

// A contact in the objective. With C the gap, t the slip, k the stiffness, l and u what was learned so far:
//     push = max(0, l - k C),   drag = u - k t, cut to `grip`;   energy (push^2 + |drag|^2) / 2k (Huber's beyond grip)
typedef struct snwSkelfemTouch
{
    snwSolidRow* solid; // either ...
    snwPairRow* pair;   // ... or
    int body;           // of solid
    double stiffness;   // N/m
    double push;        // l, N
    snwVec3 drag;       // u, N
    double grip;        // N
    snwVec3 lack;       // N: of friction, in the last round
    bool met;           // it pushed where the last Newton step would have led, too far
    bool closes;        // it was met: this Newton step closes its gap, as a spring that pulls, too
    snwMat3 block;      // N/m: of the push and drag by the way of one side towards the other, in this Newton step
    snwVec3 arm[2];     // of props: from their centres to where it touches
} snwSkelfemTouch;

// A vector of a prop: how its centre moves and how it turns, or a force and a torque.
typedef struct snwSkelfemTwist
{
    snwVec3 move, turn;
} snwSkelfemTwist;

typedef struct snwSkelfemProp
{
    int touches;
    snwSkelfemTwist pushed; // kg m and kg m^2: h^2 times the forces of touches so far
    double matrix[6][6];    // of a Newton step: inertia over h^2 and its own side of touches
    double factor[6][6];    // L D L^T
    snwSkelfemTwist force;  // minus the gradient
    snwSkelfemTwist direction, residual, guess, conjugate, product;
    snwPropMotion aside; // where a Newton step begins
    snwSkelfemTwist pushedAside;
} snwSkelfemProp;

// Bodies first .. end of the scene, and all props or none: what one Newton step moves.
typedef struct snwSkelfemGroup
{
    int first, end;
    bool props;
    double enough;  // m: a Newton step that moves nothing by more is the last
    double longest; // m: of the last one
    double share;   // of the direction that it went
} snwSkelfemGroup;

typedef struct snwSkelfemScratch
{
    snwSkelfemBody* bodies;
    snwResponse* response;
    snwSkelfemTouch* touches;
    int touchCount, touchCapacity;
    int* order; // touches by body; pairs of two bodies stand in both
    int orderCapacity;
    bool guessing; // no friction: what slides shall not begin by sticking, a kink that Newton's steps are slow to leave
    bool coupled;  // something of two that move touches
    double h;      // s: of the substep
    snwSkelfemProp* props;
    snwSkelfemGroup* groups; // all that is in the scene where it is coupled, else each by itself
    int groupCount;
} snwSkelfemScratch;

static inline snwSkelfemBody* snwSkelfem_Body(const snwSim* sim, int index)
{
    return &((snwSkelfemScratch*)sim->scratch)->bodies[index];
}

// A parameter, or what the preset says in its place.
double snwSkelfem_Param(const double* params, int param);
static inline double snwSkelfem_Setting(const snwSim* sim, int param)
{
    return snwSkelfem_Param(sim->state->params, param);
}

// Model and state.
snwResult snwSkelfem_CreateShape(const snwModelDef* def, void** shape, snwMessage* message);
void snwSkelfem_DestroyShape(snwContext* context, void* shape);
snwResult snwSkelfem_CheckMaterial(const snwMaterial* material, snwMessage* message);
snwResult snwSkelfem_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwSkelfem_DestroyModel(snwContext* context, void* model);
size_t snwSkelfem_StateSize(const void* model);
snwSkelfemState snwSkelfem_PlaceState(const snwSkelfemModel* model, void* bytes);
void snwSkelfem_InitBody(snwSim* sim, int index);
bool snwSkelfem_IsSound(const snwSim* sim, int index);
void snwSkelfem_Publish(snwSim* sim, int index);
void snwSkelfem_GetVertices(const snwSim* sim, int index, snwVertices* vertices);
void snwSkelfem_GetBones(const snwSim* sim, int index, snwTransforms* bones);

// Time. Predict: where inertia leads, for contacts to look at; leaves x there. Begin: once it is known whether anything
// is near. Finish: velocities and history of what x has become.
void snwSkelfem_Predict(snwSim* sim, int index, double h);
void snwSkelfem_Begin(snwSim* sim, int index, double h);
void snwSkelfem_Finish(snwSim* sim, int index, double h);

// Newton. Prepare: materials, masses, what is held. Iterate: one step of a group; returns the longest way that it moved
// anything, m.
snwResult snwSkelfem_CreateBody(snwSim* sim, int index, snwMessage* message);
void snwSkelfem_DestroyBody(snwSkelfemBody* body);
snwResult snwSkelfem_Prepare(snwSim* sim, int index, snwMessage* message);
void snwSkelfem_MoveHeld(snwSim* sim, int index);
void snwSkelfem_ChooseStart(snwSim* sim, int index);
double snwSkelfem_Iterate(snwSim* sim, snwSkelfemGroup* group);
bool snwSkelfem_HasHand(const snwSim* sim, int index);
void snwSkelfem_MultiplyHands(const snwSim* sim, int index, const snwVec3* x, snwVec3* y); // y += (A - M) x of hands
void snwSkelfem_TellHeld(snwSim* sim, int index);
void snwSkelfem_TellGain(snwSim* sim, int index); // once velocities are those of the substep's end

// The linear system of a Newton step: each of them leaves directions, and returns g . d, above 0 if it leads down.
typedef enum snwSkelfemWay
{
    snw_wayAsSet,   // as the parameters say
    snw_wayJacobi,  // conjugate gradients with the diagonal, each body by itself
    snw_wayDiagonal // steepest descent, each vertex by its own stiffness
} snwSkelfemWay;
double snwSkelfem_Solve(snwSim* sim, const snwSkelfemGroup* group, snwSkelfemWay way);

// Props in a Newton step: their matrices, the step itself, the energy of their inertia, J.
void snwSkelfem_AssembleProps(snwSim* sim);
void snwSkelfem_KeepProps(snwSim* sim);
void snwSkelfem_MoveProps(snwSim* sim, double share); // from where they were kept
double snwSkelfem_PropEnergy(const snwSim* sim);

// Touches. Look: blocks and arms as they are now. Each: the sides of a touch that can move.
bool snwSkelfem_TouchesNothing(const snwSim* sim);
snwResult snwSkelfem_CreateTouches(snwSim* sim, snwMessage* message);
void snwSkelfem_GatherTouches(snwSim* sim, double h);
void snwSkelfem_StiffenTouches(snwSim* sim, double h);
double snwSkelfem_TouchEnergy(const snwSim* sim, int body); // -1: of all
void snwSkelfem_AddTouchGradient(const snwSim* sim, int index, snwVec3* gradient);
void snwSkelfem_LookAtTouches(snwSim* sim);
void snwSkelfem_MeetTouches(snwSim* sim); // where a Newton step leads too far: these were not in its matrix
void snwSkelfem_AddTouchBlocks(const snwSim* sim, int index, double* diagonal, const int* rowOf);
bool snwSkelfem_Couples(const snwSkelfemTouch* touch);
snwVec3 snwSkelfem_TouchForce(
    const snwSim* sim, const snwSkelfemTouch* touch);   // N, on the first side, in a Newton step
double snwSkelfem_LearnTouches(snwSim* sim, int round); // returns the deepest overlap, m
void snwSkelfem_FinishTouches(snwSim* sim, double h);
