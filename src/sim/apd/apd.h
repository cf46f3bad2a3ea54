// apd: articulated projective dynamics (Li, Liu, Kavan: Soft Articulated Characters in Projective Dynamics).
//
// A step minimises  1/(2 h^2) |x - y|_M^2 + E(x)  (Eq. 6) over flesh vertices x_f and rigid bones T_k that joints hold
// together, by turns of a local step (rotations of elements and bones) and a global step (one linear system).
//
// The system. A = M / h^2 + L is a constant scalar matrix, the same for x, y and z. Vertices of bone k are U_k t_k with
// t_k four rows: the columns of its scaled rotation and its centre; U_k has rows [(X_i - c_k) / s_k, 1] and never
// changes. So the bones are 4 m further scalar unknowns of the same Cholesky factor, ordered last and not eliminated:
//     [ A_ff      A_fb U     ]     L L^T = A_ff,   V = L^-1 A_fb U,   G = U^T A_bb U - V^T V
//     [ U^T A_bf  U^T A_bb U ]
// All is written for changes: r = -gradient at the present x, so rounding in a float factor is relative to the change,
// not to where the body is. An iteration is
//     r           local step, inertia, contacts                                        snwApd_Residual
//     y = L^-1 r_f,  q = U^T r_b - V^T y                                               forward sweep
//     T           the small problem: min over rigid T  1/2 |dt|_G^2 - q . dt, joints   snwApd_SolveBones
//     dx_f = L^-T (y - V dt)                                                           backward sweep
// One forward and one backward sweep on a matrix smaller than that of plain projective dynamics: docs/apd.md tells why
// this equals Eq. 17, which solves for 6 m right sides in every iteration instead.
//
// Contacts (contact/response.h) and drags act by forces only, never through A. Their sums live in the dual: after every
// iteration each contact changes its push by gap times the mass that the factor shows at the vertex, and the next right
// side carries all pushes. At the fixed point gaps and friction are exact.
//
// Same bits for any number of threads; a factor is renewed in the step that needs it, never in the background.

#pragma once

#include "linalg/cholesky.h"
#include "linalg/dense.h"
#include "rig/joint_rows.h"
#include "sim/apd/elastic.h"
#include "sim/grip.h"
#include "sim/touch.h"

typedef enum snwApdSolver
{
    snw_apdArticulated, // this method
    snw_apdPlain,       // projective dynamics without bones: all is flesh
    snw_apdStiff,       // the same, with bones imitated by stiffness
    snw_apdSplit,       // the method's forerunner (SCA 2019): joints in a problem of their own
    snw_apdLiteral,     // Eq. 17 as printed: 6 m right sides in every iteration
    snw_apdConstrained, // stable constrained dynamics (Tournier et al. 2015) with stiff bones
    snw_apdSolverCount,
} snwApdSolver;

typedef enum snwApdParam
{
    snw_apdIterations,
    snw_apdPasses,
    snw_apdRefresh,
    snw_apdLaw,
    snw_apdSolver_,
    snw_apdRatio,
    snw_apdAccelerate,
    snw_apdLimits,
    snw_apdDrive,
    snw_apdDrag,
    snw_apdSelf,
    snw_apdParamCount,
} snwApdParam;

enum
{
    snw_apdLanes = SNW_ROTATION_LANES,
    snw_apdMaxParts = 4,           // of the local step that run at the same time, each with forces of its own
    snw_apdGrain = 2048,           // vertices per chunk
    snw_apdMaxDrags = 64,          // further ones are left aside
    snw_apdMaxConstrained = 20000, // vertices of a character that the solver constrained takes
    snw_apdWindow = 5,             // of the acceleration
    snw_apdMaxActive = 1536,       // vertices of a body that push each other; others only themselves
    snw_apdContactSweeps = 20,     // over all contacts after every iteration, at most
    snw_apdColumnBytes = 64 << 20, // of memory for columns of one body
};

// ---------------------------------------------------------------------------------------------------------------------
// Model: what follows from the character and the solver alone

// Blocks first .. end of the local step, and the vertices [low, high) that they touch.
typedef struct snwApdPart
{
    int first, end;
    int low, high;
} snwApdPart;

// One number of the matrix: `coefficient` times the weight of element `tet`.
typedef struct snwApdTerm
{
    double coefficient; // 1/m^2
    int tet;            // slot of the local step
    int vertices[2];    // that it couples: it is dropped while one of them is pinned
} snwApdTerm;

typedef struct snwApdModel
{
    snwArena arena;
    const snwCharacter* character;
    snwApdSolver solver;
    double ratio; // of bones' stiffness to that of flesh, where bones are imitated
    snwElasticLaw law;

    int vertexCount, fleshCount, boneCount;
    int rowCount;       // unknowns: fleshCount + 4 boneCount
    int* boneOf;        // per vertex, -1: flesh
    int* rowOf;         // per vertex: unknown of flesh, -1: of a bone
    int* fleshVertices; // per unknown

    snwVec3* centres;        // m, per bone, in the rest pose
    double* scales;          // m
    int* boneStarts;         // into boneVertices, boneCount + 1
    int* boneVertices;       // bone by bone
    double (*boneCoords)[4]; // rows of U, beside boneVertices

    int tetCount; // elastic ones
    int blockCount;
    snwRestTetBlock* tets;
    int* tetOf; // per slot (block and lane): tet of the character, -1: none
    int partCount;
    snwApdPart parts[snw_apdMaxParts];

    snwApdTerm* terms; // of the matrix; those of masses follow: one per flesh vertex, ten per bone
    int termCount;
    int* termRows; // of terms and masses
    int* termColumns;
} snwApdModel;

snwResult snwApd_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwApd_DestroyModel(snwContext* context, void* model);

// ---------------------------------------------------------------------------------------------------------------------
// State of a body

typedef struct snwApdBone
{
    snwQuat rotation;
    snwVec3 centre;  // m, of mass
    snwVec3 rate[4]; // 1/s: how the rows of t changed in the last substep, over h
} snwApdBone;

typedef struct snwApdJoint
{
    double target; // rad or m
    int32_t motor; // on
    int32_t unused;
} snwApdJoint;

typedef struct snwApdState
{
    snwVec3* positions;      // m
    snwVec3* velocities;     // m/s
    snwApdBone* bones;       // of the model
    snwApdJoint* joints;     // of the character
    snwQuatBlock* rotations; // of the elements: guesses of the next local step
    float* stops;       // Pa, per slot: a sixth of what holds a tetrahedron open; -1: it is knotted, see apd_unfold.c
    snwAnchor* anchors; // snw_anchorsPerVertex per touching vertex
    // For the caller, made at the end of a step:
    float* outPositions; // rows of four
    float* outVelocities;
    snwTransform* outBones; // of the character
    snwTransform* outJoints;
} snwApdState;

// apd_state.c
size_t snwApd_StateSize(const void* model);
snwApdState snwApd_PlaceState(const snwApdModel* model, void* bytes);
snwApdState snwApd_GetState(const snwSim* sim, int body);
void snwApd_InitBody(snwSim* sim, int body);
bool snwApd_IsSound(const snwSim* sim, int body);
void snwApd_Applied(snwSim* sim, const snwCommand* command);
void snwApd_Publish(snwSim* sim, int body); // what others see, at the end of a substep
void snwApd_GetVertices(const snwSim* sim, int body, snwVertices* vertices);
void snwApd_GetBones(const snwSim* sim, int body, snwTransforms* bones);
void snwApd_GetJoints(const snwSim* sim, int body, snwTransforms* joints);

// ---------------------------------------------------------------------------------------------------------------------
// Scratch

// A pinned point of a bone.
typedef struct snwApdHold
{
    int bone, vertex;
    snwVec3 target; // m, at the end of the substep
} snwApdHold;

// The small dense problem of the bones (apd_bones.c). "held": bones that rows act on.
typedef struct snwApdSmall
{
    int size;                 // 6 boneCount
    const double* schur;      // G, 4 boneCount squared
    double* matrix;           // S = J^T (G x I) J, its lower triangle
    snwDense factor;          // of it
    double* unit;             // E: rows of the identity for the bones that are held
    double* panels;           // E L^-T
    double* inverse;          // E S^-1 E^T
    double* heldForce;        // 6 per bone held
    int* heldOf;              // per bone: its place among those, -1: none
    int heldCount;            //
    snwQuat* madeAt;          // rotations for which all that was made
    bool made;                //
    uint64_t signature;       // of the factor for which holds and held were found
    snwApdHold* holds;        // at most three per bone
    int holdCount;            //
    snwJointRow* rows;        // of joints and holds
    int rowCapacity;          //
    int rowCount;             //
    snwVec3 (*arms)[2];       // m, per row: from its bones' centres to where it acts
    snwMat3* curvatures;      // J, per bone: what its forces add to S
    snwMat3* madeWith;        // of that, what is in the matrix
    double* turning;          // J, per bone: the mean of S's own diagonal for turns
    bool* scaled;             // rows whose compliance is a multiple of what the bones show
    bool* atLeast;            //
    bool* active;             //
    double* compliance;       //
    double* rightSide;        //
    double* multipliers;      // N m, N
    double* rowMatrix;        // A S^-1 A^T
    double* rowScratch;       //
    double* motion;           // size: the gradient, then s
    snwVec3* now;             // t, 4 per bone
    snwVec3* start;           // t0
    snwVec3* pull;            // q
    snwVec3* change;          // t - t0
    snwVec3* force;           // q - G (t - t0)
    snwTransform* driveBones; // of the motion
    snwQuat* driveTargets;    // per joint
    bool* driven;             //
    const snwClipDef** jointClips;
} snwApdSmall;

// Acceleration (apd_accelerate.c); all vectors in its layout.
typedef struct snwApdMix
{
    int size;
    int steps;    // since the history was begun
    bool mixed;   // x is a mix, not a plain result
    double merit; // J: objective at the last x that was kept
    float* from;  // x of this iteration
    float* plain; // what it led to
    float *f, *g; // of the iteration before: plain - from, plain
    float* df[snw_apdWindow];
    float* dg[snw_apdWindow];
    double gram[snw_apdWindow][snw_apdWindow]; // of df
} snwApdMix;

// Where the last iteration began, and what it could not know (apd_descent.c).
typedef struct snwApdDescent
{
    snwVec3* from; // m
    snwApdBone* bonesFrom;
    snwVec3* pushed; // N: contacts and drags as it had them
    double merit;    // J: the objective there
    double trust;    // how much of an iteration is gone before its objective is known
    bool begun;      // there was one in this substep
} snwApdDescent;

// What is known of A^-1 between vertices that touch (apd_columns.c).
typedef struct snwApdColumns
{
    uint64_t signature; // of the factor they belong to
    float* numbers;     // 1/kg, columns over the vertices that touch
    int capacity, count;
    int* placeOf; // per vertex: its place in a column, -1: it never touches
    int* cached;  // per vertex: its column, -1: none yet
    unsigned char* marks;
    int* slotOf;   // per vertex: its slot among those that take part in this substep, -1: none
    int* active;   // vertices by slot
    int slots;     // room for so many
    float* matrix; // 1/kg, slot by slot
    snwPushAnswer answer;
} snwApdColumns;

typedef struct snwApdBody
{
    const snwApdModel* model;
    snwApdState state; // where it is in the block
    snwPattern* pattern;
    snwCholesky* factor;
    snwCholeskyScratch* solve;
    double* terms;      // contributions of the pattern
    uint64_t signature; // of what the factor was made for; 0: none yet

    double* masses;             // kg, per vertex
    double (*boneMasses)[4][4]; // kg, U^T M U per bone
    snwElasticWeights* weights;
    bool damped;
    snwElasticLaw law;     // of this substep: the model's, or corotated while flesh of the law neo is tangled
    unsigned char* pinned; // per vertex
    float* shownInverse;   // 1/kg: what a push at a vertex moves it in one iteration
    double* metric;        // J, per slot: weight in the matrix
    int* coordsOf;         // per vertex of a bone: its row of boneCoords
    snwDense affine;       // factor of G: bones as affine bodies
    double* affineRight;

    snwVec3* before;   // x at the start of the substep
    snwVec3* inertial; // y
    snwVec3* aside;    // x, while another start is tried
    snwApdBone* bonesAside;
    snwVec3* external;       // N: pushes
    snwVec3* contact;        // N: contacts and drags
    snwVec3* opening;        // N: stops of folded tetrahedra
    int stopCount;           // how many there are
    unsigned char* squeezed; // per block: some tetrahedron of it was at the last local step of the law neo
    double* diagonal;        // N/m, per vertex: of A; of a bone by its mass alone
    snwVec3 origin;          // of `rows`
    float* rows;             // x - origin, float4: what the local step reads
    snwStretchBlock* start;  // C of the elements at the start of the substep
    float* forces[snw_apdMaxParts];
    float* right;            // float4 per unknown: r, then dx
    float* last;             // float4 per unknown of a bone: q, then dt
    float* touchRows;        // float4: positions for the response, and inverse masses
    float* touchBefore;      // float4
    snwElasticEnergy energy; // of the last local step
    snwElasticEnergy partEnergy[snw_apdMaxParts];
    bool evaluated;                   // x has not moved since the last local step
    double shearSum;                  // J, of the weights
    double startEnergy, startElastic; // J: of the body when the substep began, and the elastic part of it
    snwApdDescent descent;

    snwApdBone* bonesBefore; // at the start of the substep
    snwBoneFit* boneFits;
    snwVec3 (*boneInertial)[4];
    snwApdSmall small;
    snwApdMix mix;
    snwApdColumns columns;
    snwVec3* contactBefore; // N: `contact` as the last global step had it
    double* boneMetric;     // 4 boneCount squared: of solvers that do not have G for it
    snwVec3* boneStart;     // t at the start of an iteration, of the solver split
    struct snwApdLiteral* literal;
    struct snwApdConstrained* constrained;

    uint64_t dragGrips[snw_apdMaxDrags];      // per grab of the sim: the grip and ...
    uint64_t dragSignatures[snw_apdMaxDrags]; // ... the factor that its compliance was found for
    double dragCompliance[snw_apdMaxDrags];   // m/N
} snwApdBody;

typedef struct snwApdScratch
{
    snwApdBody* bodies;
    snwResponse* response;
    bool touched;      // a contact or a drag acts now ...
    bool bonesTouched; // ... and on a bone
} snwApdScratch;

static inline snwApdBody* snwApd_Body(const snwSim* sim, int index)
{
    return &((snwApdScratch*)sim->scratch)->bodies[index];
}

// Four rows of t: columns of the scaled rotation, and the centre.
void snwApdBone_Rows(const snwApdModel* model, int bone, const snwApdBone* pose, snwVec3 rows[4]);
void snwApd_PlaceBoneVertices(const snwApdModel* model, const snwApdBone* bones, snwVec3* positions);

// apd_system.c
snwResult snwApd_CreateSystem(snwSim* sim, int body, snwMessage* message);
// The factor for this step, materials and pins. Renews it only when one of them changed.
snwResult snwApd_Prepare(snwSim* sim, int body, double h, snwMessage* message);
// A^-1 of up to four unit forces at vertices, bones being affine; left in `right`, m/N, to be read vertex by vertex.
void snwApd_Columns(snwApdBody* body, const int* vertices, int count);
double snwApd_ReadColumn(const snwApdBody* body, int column, int vertex);
// m/N: how far a unit force on what a hand holds moves the middle of that. Overwrites right and last, as Columns does.
double snwApd_Compliance(snwApdBody* body, const snwGrip* grip);

// apd_bones.c
snwResult snwApd_CreateBones(snwSim* sim, int body, snwMessage* message);
void snwApd_BeginBones(snwSim* sim, int body);
// Takes q from `last`, moves the bones, leaves dt in `last`.
void snwApd_SolveBones(snwSim* sim, int body, double h);
// Its parts. t of the bones as they are into small.now:
void snwApd_ReadBones(snwSim* sim, int body);
// S = J^T (g x I_3) J at small.now into small.matrix; g is 4 boneCount squared.
void snwApd_MakeMetric(snwApdBody* body, const double* g);
// False: S is not positive definite, which only numbers that are not finite can do.
bool snwApd_FactorMetric(snwSim* sim, int body);
// small.motion: in J^T times the force, out s with joints and pins. Moves the bones by it.
void snwApd_SolveMotion(snwSim* sim, int body, double h);

// apd_split.c. As snwApd_SolveBones: bones that are affine and free, then rigid ones in a problem of their own.
void snwApd_SolveSplit(snwSim* sim, int body, double h);

// apd_literal.c
snwResult snwApd_CreateLiteral(snwSim* sim, int body, snwMessage* message);
void snwApd_DestroyLiteral(snwApdBody* body);
// With every new factor of the body.
snwResult snwApd_PrepareLiteral(snwApdBody* body, snwMessage* message);
// Q_f^-1 Q_c^T, and S of the bones as they are.
void snwApd_MakeColumns(snwSim* sim, int body);
// right: r_f, then Q_f^-1 r_f.
void snwApd_SolveFlesh(snwApdBody* body);
// Takes Q_f^-1 r_f, moves the bones by Eq. 17b, leaves r_f - Q_c^T s for SolveFlesh in `right`.
void snwApd_SolveLiteral(snwSim* sim, int body, double h);

// apd_constrained.c. A tetrahedron at x, linearised: forces, and minus their derivatives made semidefinite.
typedef struct snwApdTangent
{
    snwVec3 forces[4];    // N
    snwMat3 blocks[4][4]; // N/m
} snwApdTangent;

// gradients: of the shape functions, 1/m. Laws corotated and strain.
void snwApd_LineariseTet(
    const snwVec3 gradients[4], const snwElasticWeight* weight, const snwVec3 x[4], snwApdTangent* out);
snwResult snwApd_CreateConstrained(snwSim* sim, int body, snwMessage* message);
void snwApd_DestroyConstrained(snwApdBody* body);
// The system at the start of the substep, after Predict; then its solution, again whenever contact forces changed.
snwResult snwApd_Linearise(snwSim* sim, int body, double h, snwMessage* message);
void snwApd_SolveLinearised(snwSim* sim, int body);

// apd.c. Forces and energy at x; isStart: x is where the substep begins, against which damping acts.
void snwApd_LocalStep(snwSim* sim, int body, bool isStart);

// apd_descent.c
snwResult snwApd_CreateDescent(snwSim* sim, int body, snwMessage* message);
// J: Eq. 6a with damping at the last local step, up to a constant of the substep; contacts do not count.
double snwApd_Objective(snwSim* sim, int body, double h);
void snwApd_BeginDescent(snwApdBody* body); // of a substep
// Around a global step, after its right side was made.
void snwApd_BeginIteration(snwApdBody* body);
void snwApd_EndIteration(snwApdBody* body);
// After a local step: goes back part of the way if the objective rose in the iteration before. Returns the objective.
double snwApd_Descend(snwSim* sim, int body, double h);
// After the local step at x_n.
void snwApd_NoteStart(snwSim* sim, int body, double h);
// At the end of a substep: takes back what energy was gained from nothing.
void snwApd_GuardEnergy(snwSim* sim, int body, double h);

// apd_unfold.c
// After a local step of the law neo: too many elements are folded to unfold them one by one.
bool snwApd_IsTangled(snwApdBody* body);
void snwApd_BeginStops(snwApdBody* body); // of a substep
// After a local step: changes the stops and fills `opening`.
void snwApd_PressStops(snwApdBody* body, double h);

// apd_accelerate.c
snwResult snwApd_CreateMix(snwSim* sim, int body, snwMessage* message);
void snwApd_BeginMix(snwSim* sim, int body);
// x is a mix whose objective is `merit`: true if that rose and x is the plain result again, not evaluated yet.
bool snwApd_RejectMix(snwSim* sim, int body, double merit);
// x is where the next iteration begins.
void snwApd_KeepMix(snwSim* sim, int body, double merit);
// After a global step: x becomes a mix of results.
void snwApd_Mix(snwSim* sim, int body);

// apd_columns.c
void snwApd_CreateColumns(snwSim* sim, int body); // failures are the arena's
void snwApd_BeginColumns(snwApdBody* body);
// Vertices that touch now take part in the relaxation from here to the end of the substep.
void snwApd_Activate(snwSim* sim, int body, double h);

// apd_tell.c
// After the last iteration of a step: what it moved is in `right`.
void snwApd_TellResiduals(snwSim* sim);
double snwApd_ElasticDensity(const snwSim* sim, int body, int element, snwMat3 f); // see snwMethod

// apd_contact.c
// Does anything push or pull a body now?
bool snwApd_IsTouched(const snwSim* sim);
snwResult snwApd_CreateContacts(snwSim* sim, snwMessage* message);
void snwApd_GatherContacts(snwSim* sim, double h);
// Changes the pushes by what gaps and slips ask for.
void snwApd_SolveContacts(snwSim* sim, double h, bool fresh);
// Takes flesh that relaxation left inside of a solid out of it.
void snwApd_MoveOut(snwSim* sim);
void snwApd_FinishContacts(snwSim* sim, double h);
