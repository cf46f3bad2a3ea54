// Ground truths of the method `apd`, for tests and benches. Nothing here uses a line of the method itself.
//
// One step of an articulated soft body, Eq. 6 of the paper, handed as it stands to an interior point solver (IPOPT):
//
//     min over x, T   1/(2 h^2) |x - y|_M^2 + E(x),   y = x_n + h v_n + h^2 g,   v_n = (x_n - x_n-1) / h
//     subject to      R_k^T R_k = I of every bone, joints closed, held points where they are held
//
// x are the vertices; those of bone k are R_k (p - c_k) + z_k with the bone's twelve numbers R_k and z_k as unknowns. E
// is the corotated linear energy V (mu |F - R|^2 + lambda/2 (tr(R^T F) - 3)^2) of every tet that does not lie wholly in
// one bone; tets of bones give mass only. Joint limits, motors and damping are left out. Gradient and Hessian are
// exact (truth_energy.c).

#pragma once

#include "math/transform.h"
#include "sinew/sinew.h"

// Where everything is at one moment.
typedef struct snwTruthState
{
    snwVec3* positions; // m, one per vertex of the character, those of bones included
    snwAffine* bones;   // what takes the rest pose to now, one per bone
} snwTruthState;

typedef struct snwTruthDef
{
    const snwCharacter* character; // tets; ball, hinge and free joints
    const bool* held;              // one per vertex, NULL: none. Flesh is taken out of the unknowns, a bone's vertex
                                   // gives three rows: hold at most one vertex of a bone, or the rows are redundant
    const snwVec3* targets;        // m, where the held vertices are, one per vertex; NULL: their rest positions
    snwVec3 gravity;               // m/s^2
    double step;                   // h, s
} snwTruthDef;

typedef struct snwTruth snwTruth; // a problem, with its unknowns and its sparsity

// The start is the rest pose, at rest. The definition's arrays are copied, the character must outlive the problem.
snwResult snwCreateTruth(snwContext* context, const snwTruthDef* def, snwTruth** truth, snwMessage* message);
void snwDestroyTruth(snwTruth* truth);

// x_n-1 and x_n. Vertices of bones follow the bones of the state; their positions are not read.
void snwTruth_SetStates(snwTruth* truth, const snwTruthState* before, const snwTruthState* now);

// Eq. 6a of any positions of all vertices, J.
double snwTruth_Objective(const snwTruth* truth, const snwVec3* positions);

typedef struct snwTruthReport
{
    int iterations;
    double objective; // J, Eq. 6a
    double residual;  // N or N m: largest entry of the gradient of the Lagrangian
    double violation; // largest violated row: m, or an entry of R^T R - I
    double seconds;   // of the solver
} snwTruthReport;

// snw_errorUnsupported if IPOPT is not on this machine (the message says so), snw_errorDiverged if it does not
// converge.
snwResult snwTruth_Solve(snwTruth* truth, snwTruthState* next, snwTruthReport* report, snwMessage* message);
bool snwTruth_IsAvailable(void); // is IPOPT on this machine?

// m: largest distance between the two ends of a joint.
double snwTruth_JointGap(const snwCharacter* character, const snwAffine* bones);

snwResult snwTruthState_Create(
    snwContext* context, const snwCharacter* character, snwTruthState* state, snwMessage* message); // the rest pose
void snwTruthState_Free(snwContext* context, snwTruthState* state);
void snwTruthState_Copy(const snwCharacter* character, const snwTruthState* from, snwTruthState* to);

// ---------------------------------------------------------------------------------------------------------------------
// The cantilever of Fig. 9 to 11: the built-in character, fixed at its left end, falling under gravity from its rest
// pose. 30 frames by IPOPT, and the 31st as the truth that a method is measured by.

typedef enum snwCantilever
{
    snw_cantileverSoft,  // flesh all through: no bones
    snw_cantileverMixed, // two bones and their ball joint in the flesh
    snw_cantileverRigid, // the two bones and the joint alone; vertices of flesh are left out
    snw_cantileverCount,
} snwCantilever;

// Young's modulus is such that the bars bend far (the tip of the soft one falls by more than half its length) while no
// tet comes near to inversion (smallest volume 0.42 of the rest), so that the minimum is one and smooth, and that all
// versions are in full motion at the last frame.
#define SNW_CANTILEVER_YOUNG   4e5 // Pa
#define SNW_CANTILEVER_POISSON 0.4
#define SNW_CANTILEVER_DENSITY 1000.0 // kg/m^3
#define SNW_CANTILEVER_GRAVITY 9.81   // m/s^2, along -y
#define SNW_CANTILEVER_RATE    30.0   // frames per second

enum
{
    snw_cantileverFrames = 31, // simulated after frame 0, which is the rest pose
    snw_cantileverKept = 3     // the last ones: 29, 30, 31
};

const char* snwCantilever_Name(snwCantilever version); // "soft", "mixed", "rigid"

// The built-in character, which all versions are made of. Meshing it takes a third of a second: do it once.
snwResult snwCantilever_CreateBuiltIn(snwContext* context, snwCharacter** builtIn, snwMessage* message);

// With the material above, no joint limits, no damping.
snwResult snwCantilever_CreateCharacter(
    const snwCharacter* builtIn, snwCantilever version, snwCharacter** character, snwMessage* message);

// The box whose vertices are held, in the rest pose, as in snwPinDef: the left face of soft and mixed; of the rigid
// one a single vertex at a corner of the left end, about which the two bones swing in all directions.
void snwCantilever_Pin(const snwCharacter* character, snwCantilever version, snwVec3* lower, snwVec3* upper);

// The step's problem as it was solved: pin, gravity and step of the experiment.
snwResult snwCantilever_CreateTruth(
    const snwCharacter* character, snwCantilever version, snwTruth** truth, snwMessage* message);

typedef struct snwCantileverTruth
{
    snwContext* context;
    snwCharacter* character; // of snwCantilever_CreateCharacter
    snwTruthState frames[snw_cantileverKept];
    // J, of every frame from 0: kinetic (of v_n), elastic, potential (zero at y = 0)
    double energies[snw_cantileverFrames + 1][3];
} snwCantileverTruth;

// From the stored file. A character that is no longer the one of the file is an error that says so.
snwResult snwCantileverTruth_Load(
    const snwCharacter* builtIn, snwCantilever version, snwCantileverTruth* truth, snwMessage* message);
void snwCantileverTruth_Close(snwCantileverTruth* truth);

// Computes all versions anew with IPOPT (minutes) and writes bench/truth/*.bin of the source folder. progress: NULL or
// a line of text per frame.
typedef void snwTruthProgressFn(const char* text, void* user);
snwResult snwTruth_Regenerate(snwContext* context, snwTruthProgressFn* progress, void* user, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// The nunchuck of Fig. 14: two rigid bodies on a ball joint, the first held at a point. Newton's and Euler's equations
// with the forces of both joints, Runge-Kutta of fourth order, the step halved until nothing changes.

typedef struct snwTruthBody
{
    double mass;     // kg
    snwVec3 centre;  // m, of mass, in the rest pose
    snwMat3 inertia; // kg m^2, about the centre, in the rest pose
} snwTruthBody;

typedef struct snwNunchuckDef
{
    snwTruthBody bodies[2];
    snwVec3 pin;      // m, the point of bodies[0] that stays, in the rest pose
    snwVec3 joint;    // m, in the rest pose
    snwVec3 gravity;  // m/s^2
    snwQuat start[2]; // how the bodies are turned at the start, the pin staying; they start at rest
    double tolerance; // m: the largest change of a corner of the result by halving the step
} snwNunchuckDef;

// Masses, centres and inertias of the character's first two bones, from their vertices; its first joint; gravity of
// -9.81 m/s^2 along y, tolerance 1e-9 of the size. pin: a vertex of the first bone.
snwNunchuckDef snwNunchuck_FromCharacter(const snwCharacter* character, int pin);
// The vertex by which tests and benches hold it: a corner, so that the motion is not in a plane.
int snwNunchuck_Corner(const snwCharacter* character);
// Mass, centre and inertia of points.
snwTruthBody snwTruthBody_FromPoints(const snwVec3* points, const double* masses, int count);

typedef struct snwNunchuckReport
{
    int steps;            // per second, of the finest run
    double change;        // m, between the last two runs
    double drift;         // m, largest gap that a step left before it was closed
    double energyChange;  // J, largest over the run
    double energyScale;   // J, largest kinetic energy
    double momentum;      // kg m^2/s, largest angular momentum about the vertical through the pin: it should stay zero
    double momentumScale; // kg m^2/s, largest angular momentum about the pin
} snwNunchuckReport;

// times: s, rising, > 0. transforms[2 * i + k]: what takes the rest pose of body k to times[i].
snwResult snwNunchuck_Solve(const snwNunchuckDef* def, const double* times, int count, snwAffine* transforms,
    snwNunchuckReport* report, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// A hinge that hangs in gravity with a spring towards a moving target, and damping:
//     inertia a'' = -torque sin(a - bottom) + stiffness (target + speed t - a) - damping a'

typedef struct snwDrivenHingeDef
{
    double inertia;   // kg m^2, about the hinge
    double torque;    // N m: what gravity does at a right angle; it is -torque sin(a - bottom)
    double bottom;    // rad, where it would hang
    double stiffness; // N m/rad
    double damping;   // N m s/rad
    double target;    // rad, at the start
    double speed;     // rad/s, of the target
    double angle;     // rad, at the start
    double rate;      // rad/s, at the start
} snwDrivenHingeDef;

// Angle and its rate after `time` seconds; error below 1e-10 rad unless the hinge is stiffer than 1e4 1/s.
void snwDrivenHinge_Solve(const snwDrivenHingeDef* def, double time, double* angle, double* rate);
