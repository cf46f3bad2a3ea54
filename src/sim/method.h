// The frame in which every method lives. To add a method, read this header and the folder pbd/, then
//   1. make a folder beside pbd/ with a `const snwMethod snwXMethod` filled in,
//   2. add it to the list SNW_METHODS in methods.h,
//   3. run `make docs`: parameter page and scene schema are made from its table.
// Scenes, --set, the schema, logs, replay, save and restore, measures, pictures and the studio then know it.
//
// Who owns what
//   character   the definition and what follows from it (character.h); immutable, shared
//   model       what the method prepares from one character: topology, colours, factors; immutable, shared by all
//               sims whose method, step-independent parameters and character are the same
//   state       everything a step changes, in ONE flat block: copied to save it, hashed to name it. The sim lays out
//               the common part (time, gravity, parameters, pins, colliders, props, grabs, materials, origins); the
//               method asks for bytes per body. No pointers and no padding bytes inside (they would make equal states
//               hash unlike).
//   scratch     work arrays of a sim that hold nothing between steps
//
// The step (sim.c) is the same for all: apply the commands that are due; for every substep move pins and colliders,
// then call method->step; check that everything is finite and within reason (guard.c). If not, the same step is begun
// again with twice the substeps, some times; at last the last good state is put back.
//
// Rules. No allocation in step. Results must not depend on the number of threads: use snwParallelFor with chunks that
// write disjoint memory, snwParallelSum for sums. Never read a clock but through the stages. Randomness only from the
// scene's seed and the step number.

#pragma once

#include "base/array.h"
#include "base/clock.h"
#include "math/transform.h"
#include "sim/character.h"

enum
{
    snw_maxParams = 64,
    snw_maxStages = 16,
    snw_maxWarnings = 16,
    snw_maxOwnMeasures = 16
};

// What a method answers to; a command for anything else is refused with a message.
typedef enum snwFeature
{
    snw_featurePins = 1 << 0,    // commands pin
    snw_featureDrag = 1 << 1,    // command drag
    snw_featurePush = 1 << 2,    // command push
    snw_featureHandles = 1 << 3, // handles of the character (bones if it has none), commands handle and constraint
    snw_featureJoints = 1 << 4,  // joints of the character, command joint
    snw_featureProps = 1 << 5,   // free rigid bodies of the scene
    snw_featureColliders = 1 << 6,
    snw_featureTets = 1 << 7, // characters of tets, or of edges alone
    snw_featureHexes = 1 << 8,
    snw_featureTriangles = 1 << 9, // flat characters
    snw_featureBones = 1 << 10,    // bones of the character, led by the motion of the body
} snwFeature;

// ---------------------------------------------------------------------------------------------------------------------
// State, the common part

// Something moved from outside: at a substep it has gone from `previous` to `transform`.
typedef struct snwMover
{
    snwTransform transform, previous;
    snwTransform start, target; // of this step, when a command moves it
    int32_t byClip;             // follows its clip until a command takes it
    int32_t held;               // pins: holds its vertices now
} snwMover;

// In the substep under way?
bool snwMover_Moves(const snwMover* mover);

typedef enum snwGrabKind
{
    snw_grabNone,
    snw_grabPin,
    snw_grabDrag,
    snw_grabPush,
} snwGrabKind;

// A hand on flesh or on a prop (body -1, vertex: the prop), or a push on a whole body (vertex -1). No padding: it is
// part of the state.
typedef struct snwGrab
{
    int16_t kind;
    int16_t fresh; // a drag that has not taken hold yet
    int32_t body, vertex;
    float radius;             // m: drag: of the ball of flesh that it holds; 0: its vertex alone
    double value;             // drag: strength; push: seconds left
    snwVec3 vector;           // pin: target now; push: force; drag: from the middle of what it holds to its vertex, as
                              // it was when it took hold
    snwVec3 target, previous; // where a pin or drag shall be at the end, and was at the start, of this step
} snwGrab;

typedef struct snwGrip snwGrip;
typedef struct snwGripPart snwGripPart;

typedef struct snwStateHeader
{
    uint64_t step;
    double time;
    double startTime;     // when the scene began: 0, or the time of the last reset
    uint64_t scriptStart; // the step then
    uint64_t scriptNext;  // its next command
    snwVec3 gravity;
    double params[snw_maxParams];
} snwStateHeader;

// ---------------------------------------------------------------------------------------------------------------------
// Sim

typedef struct snwBody
{
    const snwCharacter* character;
    const void* model;          // of the method
    void* state;                // the method's bytes inside the state block
    snwMaterial* materials;     // in the state block; one per region
    snwVec3* origin;            // in the state block; m: float positions are relative to it, see origin.h
    snwTransform* restPoses;    // of bones, joints and handles: how the body starts
    double (*restMatrices)[12]; // of handles: the same
    float* skinPositions;       // filled on demand, 3 per skin vertex
    float* skinNormals;
    uint64_t skinChanges; // sim->changes when they were filled ...
    snwVec3 skinFrom;     // ... seen from there
    float* placeRows[2]; // likewise rows of vertices, as simulated and as shown, for whoever does not see them from the
                         // body's origin
    uint64_t placeChanges[2];
    snwVec3 placesFrom[2];
    double residual;     // written by the method in the last substep of a step; see snwMeasures
    double elasticLack;  // part of its law's elastic energy that flesh does not have; written as residual is
    double stiffnessSum; // of what snwSim_TellStiffness was told ...
    int stiffnessCount;  // ... so many times
} snwBody;

// How a body starts: as the scene says, plus what the seed adds (sim.jitter).
typedef struct snwBodyStart
{
    snwTransform transform;
    snwVec3 velocity, angularVelocity;
} snwBodyStart;

// Vertices of a body that a pin of the scene holds, and where they are in the pin's frame.
typedef struct snwPinSet
{
    int body;
    snwVec3 pivot; // in the world, at the start
    int* vertices;
    snwVec3* offsets; // from the pivot
    int count;
} snwPinSet;

// What a warning is about. Together with a number, such as that of a body, it tells one warning from another.
typedef enum snwWarningKind
{
    snw_warnCommand, // by kind of command: could not be carried out
    snw_warnRetry,
    snw_warnMethod,      // what method->step says with a result above 0
    snw_warnJump,        // by collider: moved so far that it is set down there
    snw_warnInside,      // by body: starts inside of a collider
    snw_warnSoft,        // by body: its stiffness is cut
    snw_warnUnconverged, // by body
} snwWarningKind;

struct snwSim
{
    snwContext* context;
    snwArena arena; // of everything that lives as long as the sim
    snwScene* scene;
    const snwSceneDef* def;
    const snwMethod* method;

    unsigned char* block;  // the state ...
    unsigned char* backup; // ... as it was before this step ...
    unsigned char* begun;  // ... and as it was once this step's commands were applied
    size_t blockSize;
    snwStateHeader* state; // these point into the block
    snwMover* pins;
    snwMover* colliders;
    snwProp* props;
    snwGrab* grabs;
    int grabCount;  // slots
    snwGrip* grips; // what each holds, beside the block: grip.h
    snwGripPart* gripParts;
    size_t gripRoom;
    uint64_t gripsMade;
    snwBody* bodies;
    snwBodyStart* starts;
    int bodyCount;

    snwPinSet* pinSets;
    const snwClipDef** pinClips; // NULL: none moves it
    const snwClipDef** colliderClips;
    void* scratch;        // of the method
    snwContact* contacts; // filled by the method in each substep
    int contactCount, contactCapacity;

    snwArray(snwCommand) pending; // pushed, not yet applied, from pendingFirst on; by step, then by order of pushing
    int pendingFirst;
    snwArray(snwCommand) log; // applied
    snwTiming timings[snw_maxStages];
    double stageStart;
    double dt;          // s, of the step under way
    double substepTime; // s since the scene began, at the end of the substep under way
    bool lastSubstep;   // it is the last of the step
    double part[2];     // of the step that is over at the start and at the end of it, 0 .. 1
    double stepMs;
    int retries;      // of the last step
    uint64_t changes; // counts steps, attempts at one, and restores

    snwWarning warnings[snw_maxWarnings]; // what goes beyond is not kept
    struct
    {
        snwWarningKind kind;
        int which;
        uint64_t last; // step that it was last counted in
    } warningKeys[snw_maxWarnings];
    int warningCount;
};

// ---------------------------------------------------------------------------------------------------------------------
// Method

typedef struct snwModelDef
{
    snwContext* context;
    const snwCharacter* character;
    const double* params; // initial values, in the order of the table (shared ones first)
    const void* shape;    // of the mesh, by createShape; NULL there
} snwModelDef;

struct snwMethod
{
    const char* name;   // "pbd": in scenes, on the command line, and before the dot of its parameters
    const char* title;  // in words
    const char* source; // where it was published
    uint32_t features;  // snwFeature
    const snwParamInfo* params;
    int paramCount;
    const snwParamInfo* substeps; // the row of sim.substeps, where the method has another start; NULL: the shared one
    double smallBody;             // m: only smaller bodies have their substeps cut, see sim.c
    double mostWeight;            // what a substep bears of g h^2 size / edge^2, see sim.c; 0: anything
    double mostWay;               // of its size that a body may go in a substep and hit something; 0: any, see sim.c
    const char* const* stages;    // names of the timed stages, at most snw_maxStages
    int stageCount;
    const snwMeasureInfo* measures; // names of what getMeasures tells, at most snw_maxOwnMeasures
    int measureCount;

    // Whether the method's own live parameter number `param` may have this value in the scene. NULL: any in its range.
    snwResult (*checkParam)(const snwSceneDef* scene, int param, double value, snwMessage* message);

    // Whether the method can simulate this material. NULL: any that is sound.
    snwResult (*checkMaterial)(const snwMaterial* material, snwMessage* message);

    // Shape: what follows from the mesh alone (vertices and elements) and the parameters that are not live, kept when
    // bones or materials change (shapes.h). Both or none.
    snwResult (*createShape)(const snwModelDef* def, void** shape, snwMessage* message);
    void (*destroyShape)(snwContext* context, void* shape);

    // Model: called once per character and set of the method's own parameters that are not live. Only those may be
    // used here: a model is shared by sims that differ in live ones.
    snwResult (*createModel)(const snwModelDef* def, void** model, snwMessage* message);
    void (*destroyModel)(snwContext* context, void* model);

    // State: bytes of one body (rounded up to 64), and its start. initBody starts from sim->starts and is also the
    // reset.
    size_t (*bodyStateSize)(const void* model);
    void (*initBody)(snwSim* sim, int body);

    // A restored block may be made by hand. Are the method's own bytes of this body fit to step from? Positions and
    // velocities are looked at anyway. NULL: there is nothing else to look at.
    bool (*isSound)(const snwSim* sim, int body);

    // Scratch: allocate from sim->arena; may be NULL. What lives elsewhere goes in destroyScratch, which is also called
    // after a createScratch that failed.
    snwResult (*createScratch)(snwSim* sim, snwMessage* message);
    void (*destroyScratch)(snwSim* sim);

    // A command of any kind has just changed the common state (after a reset initBody has run too); take note. Handle
    // and joint commands change nothing there: what they mean is the method's. May be NULL.
    void (*applied)(snwSim* sim, const snwCommand* command);

    // One substep of h seconds. Times its stages with snwSim_EndStage.
    snwResult (*step)(snwSim* sim, double h, snwMessage* message);

    // Positions, relative to the body's origin, and velocities of the mesh vertices of a body.
    void (*getVertices)(const snwSim* sim, int body, snwVertices* vertices);

    // Bones and joints as they are now; NULL: the rest pose.
    void (*getBones)(const snwSim* sim, int body, snwTransforms* bones);
    void (*getJoints)(const snwSim* sim, int body, snwTransforms* joints);

    // Handles (bones if there are none) as they are now; both or none. NULL: the rest pose.
    void (*getHandles)(const snwSim* sim, int body, snwTransforms* handles);
    void (*getHandleMatrices)(const snwSim* sim, int body, snwMatrices* handles);

    // What is seen, where that is not what is simulated; relative to the origin, too. NULL: getVertices.
    void (*getShown)(const snwSim* sim, int body, snwVertices* vertices);

    // What the method tells of the last step beside snwMeasures, one number per row of `measures`. NULL: nothing.
    void (*getMeasures)(const snwSim* sim, int body, double* values);

    // Adds what a body has to kinetic, elastic and potential energy, momentum, angular momentum and, times its mass,
    // centre; and its mass. NULL: sums over the vertices of the mesh.
    void (*addMotion)(const snwSim* sim, int body, snwMeasures* measures, double* mass);

    // J/m^3: the elastic energy density of an element whose deformation gradient is f, by the law that is simulated.
    // NULL: that of corotated linear elasticity.
    double (*elasticDensity)(const snwSim* sim, int body, int element, snwMat3 f);
};

// Parameters shared by all methods; they come first in every method's numbering.
enum
{
    snw_paramSubsteps,
    snw_paramJitter,
    snw_sharedParamCount
};

// The value of the method's own parameter number `param`.
static inline double snwSim_Param(const snwSim* sim, int param)
{
    return sim->state->params[snw_sharedParamCount + param];
}

// Remembers a warning; the first of its kind and number keeps its words, others in the same step count once with it.
// Needs no memory, and few cycles when the warning is known.
void snwSim_Warn(snwSim* sim, snwWarningKind kind, int which, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// The residual of a body, from the length (m) of the longest way that its last iteration went. Warns if that is some
// percents of the body: the step ended before it converged. remedy: what would help; NULL: no warning.
void snwSim_SetResidual(snwSim* sim, int body, double longest, const char* remedy);
// How stiff the flesh of a body was in this step, as a part of what its material asks for. Warns when the mean over a
// number of steps is clearly below 1.
void snwSim_TellStiffness(snwSim* sim, int body, double part, const char* remedy);
// The longest of the ways between rows of four floats, m.
double snwRows_LongestWay(const float* from, const float* to, int count);

// Adds the time since the last call to stage number `stage`.
void snwSim_EndStage(snwSim* sim, int stage);

// Adds a contact for this substep to the report; silently full beyond eight per vertex and a hundred per prop.
void snwSim_AddContact(snwSim* sim, const snwContact* contact);

// One of the character's touchCount vertices that touch things.
static inline int snwBody_ContactVertex(const snwBody* body, int index)
{
    return body->character->skinVertexCount > 0 ? body->character->skinVertices[index] : index;
}

// The clip that moves a handle or joint, or NULL. Pins and colliders are moved for you; these are the method's, with
// snwClip_Evaluate(clip, snwSim_SceneTime(sim) + ...).
const snwClipDef* snwSim_FindClip(const snwSim* sim, snwClipTarget target, int body, int index);

// The motion that the body's skeleton shall follow, or NULL.
const snwMotionDef* snwSim_BodyMotion(const snwSim* sim, int body);
// s: where that motion is at a time of the scene, such as snwSim_SceneTime.
double snwSim_MotionTime(const snwSim* sim, int body, double time);

// Seconds since the scene began or was reset, at the start of the step.
double snwSim_SceneTime(const snwSim* sim);

// Where a drag is at the start (0) or the end (1) of this substep.
snwVec3 snwSim_DragPlace(const snwSim* sim, const snwGrab* grab, int end);

// Force of a push in this step, N.
snwVec3 snwSim_PushForce(const snwSim* sim, const snwGrab* grab);

// Where vertex number `index` of a pin shall be now.
snwVec3 snwPinSet_Target(const snwPinSet* set, const snwMover* pin, int index);

const snwMethod* snwMethod_Get(int index);

// As snwCreateSim, with a method that need not be in the list.
snwResult snwCreateSimWith(
    snwContext* context, const snwSimDef* def, const snwMethod* method, snwSim** sim, snwMessage* message);
