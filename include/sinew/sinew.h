// Sinew: soft articulated characters - flesh and skeleton that move each other.
//
// The way of the data:   character -> scene -> sim -> skin, bones, contacts, measures
//
//   snwContext    memory, log and threads; make one per process or per world
//   snwCharacter  mesh, materials, skeleton, handles: prepared, immutable, shared by many sims
//   snwScene      bodies, colliders, pins, clips and settings: immutable once made
//   snwSim        one method bound to a scene: the only thing that changes
//   snwCommand    the only way to act on a running sim; scene + commands = the performance, bit for bit
//
// Conventions. Units are SI. Axes are right-handed with +Y up. Positions are double in definitions and float in
// simulation results. Functions return snwResult: 0 is ok, < 0 an error that changed nothing, > 0 a warning.
// Whoever wants the words passes a snwMessage; NULL is allowed. Every Def starts from its snwDefault...Def().
// Different sims may be used from different threads at once, also with one context; a single sim may not. Allocator,
// log and task callbacks are then called from several threads.

#ifndef SINEW_SINEW_H
#define SINEW_SINEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SNW_API __attribute__((visibility("default")))
#else
#define SNW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Version, results, messages

typedef struct snwVersion
{
    int major, minor, patch;
} snwVersion;

SNW_API snwVersion snwGetVersion(void);

typedef enum snwResult
{
    snw_ok = 0,
    snw_warning = 1,           // done, but the message says what was left out
    snw_errorMemory = -1,      // the allocator gave NULL
    snw_errorArgument = -2,    // a Def or call that makes no sense
    snw_errorInput = -3,       // content of a file, message or saved block
    snw_errorIo = -4,          // the system refused: open, write, rename ...
    snw_errorDiverged = -5,    // a number stopped being finite or went beyond reason; the last good state is kept
    snw_errorUnsupported = -6, // sound, but this method or build does not do it
    snw_errorInterrupted = -7, // stopped by the user; what was finished is kept
} snwResult;

// The words beside a result: what happened, in which file, where in it, and what to do about it.
typedef struct snwMessage
{
    snwResult result;
    char text[256];
    char file[256];   // empty if no file is involved
    char place[128];  // "bodies[2].character", "line 14", "body 'bar', vertex 31" ...
    char remedy[256]; // empty if none is known
} snwMessage;

SNW_API const char* snwResult_Name(snwResult result);

// "file: place: text (remedy)"; returns the length as snprintf does.
SNW_API int snwMessage_Format(const snwMessage* message, char* buffer, size_t capacity);

// ---------------------------------------------------------------------------------------------------------------------
// Context

typedef struct snwAllocator
{
    void* (*alloc)(
        size_t size, size_t alignment, void* user); // NULL if there is no memory; alignment is a power of two
    void (*free)(void* memory, void* user);         // memory is never NULL
    void* user;
} snwAllocator;

typedef enum snwLogLevel
{
    snw_logDebug,
    snw_logInfo,
    snw_logWarning,
    snw_logError,
} snwLogLevel;

typedef void snwLogFn(snwLogLevel level, const char* text, void* user);

// Runs item(0 .. count-1, data) on any threads in any order and returns when all are done. Results never depend on
// it.
typedef void snwTaskItemFn(int index, void* data);
typedef void snwRunTasksFn(snwTaskItemFn* item, int count, void* data, void* user);

// Instruction sets of the kernels. All give the same bits.
typedef enum snwSimd
{
    snw_simdAuto = 0,
    snw_simdScalar = 1,
    snw_simdBase = 2, // SSE2 or NEON
    snw_simdAvx2 = 3,
} snwSimd;

typedef struct snwContextDef
{
    snwAllocator allocator;
    snwLogFn* log; // NULL: silent
    void* logUser;
    snwRunTasksFn* runTasks; // NULL: the context's own pool of threadCount threads
    void* tasksUser;
    int threadCount; // 1..64, the caller included; 0: one per core
    snwSimd simd;
} snwContextDef;

typedef struct snwContext snwContext;

SNW_API snwContextDef snwDefaultContextDef(void);
SNW_API snwResult snwCreateContext(const snwContextDef* def, snwContext** context, snwMessage* message);
SNW_API void snwDestroyContext(snwContext* context); // after everything made with it
SNW_API int snwContext_ThreadCount(const snwContext* context);
SNW_API snwSimd snwContext_Simd(const snwContext* context);

// Memory that the library handed to the caller (saved blocks, texts) goes back here.
SNW_API void snwContext_Free(snwContext* context, void* memory);

// ---------------------------------------------------------------------------------------------------------------------
// Maths

typedef struct snwVec3
{
    double x, y, z;
} snwVec3;

typedef struct snwQuat
{
    double x, y, z, w;
} snwQuat;

// x -> rotation * x + position
typedef struct snwTransform
{
    snwVec3 position;
    snwQuat rotation;
} snwTransform;

SNW_API snwTransform snwIdentityTransform(void);

typedef struct snwKey
{
    double time; // s, strictly rising
    snwTransform transform;
} snwKey;

// ---------------------------------------------------------------------------------------------------------------------
// Characters

typedef struct snwMaterial
{
    double density; // kg/m^3, > 0
    double young;   // Pa, > 0
    double poisson; // -0.9 .. 0.5
    double damping; // 1/s, >= 0: how fast internal motion dies
    // In methods whose flesh is tied to the place where an artist's motion puts it (pbcd):
    double frequency; // Hz, >= 0: how fast it swings about that place, its own stiffness aside; 0: the method's number
    double settling;  // s, >= 0: until the swing has fallen to a twentieth; 0: as damping says
} snwMaterial;

SNW_API snwMaterial snwDefaultMaterial(void); // soft rubber: 1000 kg/m^3, 1e5 Pa, 0.45, 0, 0, 0

// Materials by name: flesh, muscle, fat, rubber, jelly, inflatable.
typedef struct snwPresetInfo
{
    const char* name;
    const char* help;
    snwMaterial material;
} snwPresetInfo;

SNW_API int snwPresetCount(void);
SNW_API const snwPresetInfo* snwPreset_GetInfo(int preset); // NULL: there is none
SNW_API int snwPreset_Find(const char* name);               // -1 if there is none

// Gives way `softness` times as far (> 0; 1: as it is) with as many swings until it is still: young is divided by it,
// frequency and damping by its square root; settling takes that much longer.
SNW_API snwMaterial snwMaterial_Soften(const snwMaterial* material, double softness);

typedef enum snwJointType
{
    snw_jointBall,
    snw_jointHinge,
    snw_jointUniversal,
    snw_jointPrismatic,
    snw_jointCylindrical,
    snw_jointFixed,
    snw_jointFree,
} snwJointType;

// Kinds by the words that files have for them. _Name: "?" if there is none; _Find: -1 if there is none.
SNW_API const char* snwJointType_Name(snwJointType type);
SNW_API int snwJointType_Find(const char* name);

// A joint connects a bone to its parent bone; one schema for all methods.
typedef struct snwJointDef
{
    const char* name;
    snwJointType type;
    int parentBone;      // -1: the world
    int bone;            // the child
    snwVec3 position;    // m, in the rest pose
    snwVec3 axis;        // unit; hinge, prismatic, cylindrical, first axis of universal, twist axis of ball
    snwVec3 axis2;       // unit; second axis of universal; of a ball joint with range2, at a right angle to axis
    double lower, upper; // rad, or m along the axis of prismatic and cylindrical joints; lower > upper means no limit
    double cone;         // rad, 0..pi: swing limit of a ball joint; pi means none
    double stiffness;    // N m/rad or N/m, >= 0, towards target
    double damping;      // N m s/rad or N s/m, >= 0
    bool motor;          // drive towards target with stiffness and damping
    double target;       // rad or m
    // rad; none where lower is not below upper. Of universal joints: about axis2; without, lower and upper are those of
    // both axes. Of ball joints: parts of the rotation vector of the swing, along axis2 and along axis x axis2.
    double lower2, upper2;
    double lower3, upper3;
} snwJointDef;

typedef enum snwColliderKind
{
    snw_colliderPlane,   // the half space below local y = 0
    snw_colliderSphere,  // size.x: radius
    snw_colliderBox,     // size: half extents
    snw_colliderCapsule, // size.x: radius, size.y: half length of the axis, along local y
    snw_colliderRoom,    // the inside of a box, size: half extents; everything beyond its walls is solid
    snw_colliderStairs,  // size.x: run, size.y: rise of a step, size.z: width; stepCount steps climb along local x from
                         // the origin, centred on local z = 0; solid below, without end
    snw_colliderHeightfield, // size.x: spacing of the heights, centred on the local origin; solid below, without end
    snw_colliderMesh,        // a closed surface of triangles
    snw_colliderKindCount,
} snwColliderKind;

SNW_API const char* snwColliderKind_Name(snwColliderKind kind);
SNW_API int snwColliderKind_Find(const char* name);

// What touches things in place of the flesh around a bone: softcontact.
typedef struct snwBoneShape
{
    snwColliderKind kind; // sphere, box or capsule; plane: it has none
    snwTransform place;   // in the rest pose
    snwVec3 size;         // m, as in snwColliderDef
    int cells[3];         // of a box with a soft skin of points: cells along each of its axes; 0: it is hard
} snwBoneShape;

typedef struct snwBoneDef
{
    const char* name;   // unique in the character, or ""
    snwVec3 head, tail; // m, in the rest pose
    double radius;      // m, >= 0
    int parent;         // the bone it follows in motions; -1: none
    // Read by softcontact alone:
    double mass;        // kg; 0: what is around it in the mesh weighs
    snwVec3 centre;     // m, of mass, in the rest pose; read where there is an inertia
    double inertia[6];  // kg m^2 about the centre, in the axes of the rest pose: xx yy zz xy yz zx of the matrix;
                        // 0: centre and inertia are those of the mesh, as heavy as said
    snwBoneShape shape; // if any bone has one, only shapes touch
} snwBoneDef;

typedef enum snwHandleKind
{
    snw_handlePoint,
    snw_handleCage,
    snw_handleBone,
} snwHandleKind;

SNW_API const char* snwHandleKind_Name(snwHandleKind kind);
SNW_API int snwHandleKind_Find(const char* name);

enum
{
    snw_dofX = 1,
    snw_dofY = 2,
    snw_dofZ = 4,
    snw_dofRotationX = 8,
    snw_dofRotationY = 16,
    snw_dofRotationZ = 32,
    snw_dofAll = 63,
};

// A handle moves flesh by a transform; each degree of freedom is given or left to the simulation. Those of a character
// without handles are its bones, free at the start and with their heads (their joints) as positions.
typedef struct snwHandleDef
{
    const char* name;
    snwHandleKind kind; // a bone's handle is the bone of its name; a corner of a cage moves but does not turn
    snwVec3 position;   // m, in the rest pose
    uint32_t given;     // mask of snw_dof..., at the start
} snwHandleDef;

// sum of coefficient * dof = value over handles' degrees of freedom: coordinates of the handle's point in the world, m,
// and its turn since the rest pose as a rotation vector, rad
typedef struct snwLinearTerm
{
    int handle;
    uint32_t dof; // one snw_dof... bit
    double coefficient;
} snwLinearTerm;

typedef struct snwLinearConstraintDef
{
    const snwLinearTerm* terms;
    int termCount;
    double value;
} snwLinearConstraintDef;

// One bone's part of a motion: keys are relative to the rest pose, about the bone's joint (its head without one), in
// the axes of the rest pose, on top of what its parent does. Motion between keys is smooth (C1) and passes through
// them; neighbouring keys are less than half a turn apart.
typedef struct snwTrackDef
{
    int bone;
    const snwKey* keys; // times 0 .. duration, at least a microsecond apart
    int keyCount;
} snwTrackDef;

// Vertices that move by themselves before bones move them: a vertex cache, morph targets. Between the samples as
// between keys: smooth (C1), through them.
typedef struct snwVertexTrackDef
{
    const double* times;       // s, 0 .. duration, at least a microsecond apart
    int sampleCount;           // 0: none
    const float (*offsets)[3]; // m, from the rest pose and in its axes: sample by sample, one per vertex
} snwVertexTrackDef;

// What an animator does with the skeleton: walk, swim, nod ...
typedef struct snwMotionDef
{
    const char* name; // unique in the character
    double duration;  // s, > 0
    bool loop;        // the last key leads back to the first one; a key at `duration` must then equal one at 0
    const snwTrackDef* tracks;
    int trackCount;             // at most one per bone
    snwVertexTrackDef vertices; // of the character, what bones do comes on top
} snwMotionDef;

// sRGB red green blue alpha, rows from the top, 1..8192 pixels each way; width 0: none.
typedef struct snwTexture
{
    int width, height;
    const uint8_t* pixels;
} snwTexture;

// How much each vertex follows each handle; bones count as handles here. Sparse, row by row: the entries of vertex i
// are those from starts[i] to starts[i + 1]. Rows sum to one.
typedef struct snwWeights
{
    int vertexCount; // 0: there are none
    int handleCount;
    const int* starts;    // vertexCount + 1 of them, from 0
    const int* handles;   // rising within a row
    const double* values; // > 0, at most 1
} snwWeights;

// Elements are tets, hexes or triangles, never two kinds in one character; or none, with only edges.
typedef struct snwCharacterDef
{
    const char* name;
    const snwVec3* vertices; // m, rest positions
    int vertexCount;
    const int (*tets)[4]; // positive volume
    int tetCount;
    const int (*hexes)[8]; // positive volume, VTK's order: corners 0 1 2 3 go round one face, counter-clockwise seen
                           // from inside the hex (0 1 2 3 of the unit cube: 000 100 110 010), 4 5 6 7 lie opposite
                           // to 0 1 2 3
    int hexCount;
    const int (*triangles)[3]; // a flat character in the plane z = 0, counter-clockwise seen from +z
    int triangleCount;
    const int* regions;      // one per element, an index into materials; NULL: all 0
    const int* elementBones; // one per element: the bone that owns it, -1: flesh; NULL: all flesh. Elements of two
                             // bones share no vertex
    const int (*edges)[2];   // springs beyond the edges of the elements
    int edgeCount;
    const double* masses; // kg per vertex; NULL: from density and volume (then every vertex needs an element)
    double thickness;     // m, of a flat character: volume is area times thickness
    const snwMaterial* materials;
    int materialCount;
    const snwBoneDef* bones;
    int boneCount;
    const snwJointDef* joints;
    int jointCount;
    const snwHandleDef* handles;
    int handleCount;
    const snwLinearConstraintDef* constraints;
    int constraintCount;
    const snwMotionDef* motions;
    int motionCount;
    snwWeights boneWeights;      // of the vertices, a handle per bone; none: computed where they are needed
    snwWeights handleWeights;    // likewise, a handle per handle
    float color[3];              // of the skin, linear 0..1
    const float (*colors)[3];    // one per vertex, linear 0..1; NULL: `color` everywhere
    const float (*texcoords)[2]; // one per vertex, 0..1, u from the left, v from the top; NULL: none
    snwTexture texture;
    const char* source; // how a tool made it (JSON); kept and saved, never interpreted here; NULL: none
} snwCharacterDef;

typedef struct snwCharacter snwCharacter;

SNW_API snwJointDef snwDefaultJointDef(void);
SNW_API snwBoneDef snwDefaultBoneDef(void);
SNW_API snwHandleDef snwDefaultHandleDef(void);
SNW_API snwLinearConstraintDef snwDefaultLinearConstraintDef(void);
SNW_API snwTrackDef snwDefaultTrackDef(void);
SNW_API snwMotionDef snwDefaultMotionDef(void); // one second, looping
SNW_API snwCharacterDef snwDefaultCharacterDef(void);

// Everything is copied. Characters are counted: Create, Load and Retain add one, Release takes one.
SNW_API snwResult snwCreateCharacter(
    snwContext* context, const snwCharacterDef* def, snwCharacter** character, snwMessage* message);
SNW_API snwResult snwCharacter_Load(
    snwContext* context, const void* data, size_t size, snwCharacter** character, snwMessage* message);
// *data is freed with snwContext_Free.
SNW_API snwResult snwCharacter_Save(const snwCharacter* character, void** data, size_t* size, snwMessage* message);
SNW_API void snwCharacter_Retain(snwCharacter* character);
SNW_API void snwCharacter_Release(snwCharacter* character);

typedef struct snwCharacterInfo
{
    const char* name;
    int vertexCount, tetCount, edgeCount; // edges of the elements and the extra ones
    int hexCount, triangleCount;
    int elasticVertexCount; // vertices that no bone owns
    int skinVertexCount, skinTriangleCount;
    int materialCount, boneCount, jointCount, handleCount, motionCount;
    double mass, volume;  // kg, m^3
    snwVec3 lower, upper; // m, bounds of the rest pose
    const char* source;   // "" if none
    int modelCount;       // models prepared so far, shared by the sims that use them
    float color[3];
    bool textured; // has a texture and coordinates for it
} snwCharacterInfo;

SNW_API snwCharacterInfo snwCharacter_GetInfo(const snwCharacter* character);

// What it was made of, with regions and materials filled in; lives as long as the character.
SNW_API const snwCharacterDef* snwCharacter_GetDef(const snwCharacter* character);

// The skin: boundary of the tets; boundary quads of the hexes, cut into two triangles each; all triangles of a flat
// character.
typedef struct snwSkin
{
    const float* positions; // x y z
    const float* normals;   // x y z, unit
    int vertexCount;
    int stride;
    const int* triangles; // three skin vertices each, outward
    int triangleCount;
    const int* vertices; // vertex of the character for each skin vertex
} snwSkin;

SNW_API snwResult snwCharacter_GetRestSkin(const snwCharacter* character, snwSkin* skin); // lives as long as it

// The skeleton in a motion (-1: at rest) at a time: one transform per bone that takes the rest pose to now. Loops
// repeat; other motions hold their first and last keys. Joint limits are not enforced.
SNW_API snwResult snwCharacter_Pose(
    const snwCharacter* character, int motion, double time, snwTransform* bones, int capacity);

// The vertices in a motion (-1: at rest) at a time, x y z each, `stride` bytes from one to the next, before bones move
// them.
SNW_API snwResult snwCharacter_PoseVertices(
    const snwCharacter* character, int motion, double time, float* positions, int count, int stride);

// How far a motion goes beyond the limits of the joints at worst, rad, at 240 samples per second: ranges, cones, and
// turning that the joint does not allow at all. 0: nowhere; < 0: no such motion, or no memory. Joint (-1: none) and
// time of the worst may be NULL.
SNW_API double snwCharacter_MotionExcess(const snwCharacter* character, int motion, int* joint, double* time);

// Handles of the character, or its bones if it has none: what handle commands and clips count.
SNW_API int snwCharacter_HandleCount(const snwCharacter* character);

// Degrees of freedom of all joints: ball 3, hinge 1, universal 2, prismatic 1, cylindrical 2, fixed 0, free 6.
SNW_API int snwCharacter_JointFreedom(const snwCharacter* character);

// ---------------------------------------------------------------------------------------------------------------------
// Prepared characters: what `sinew prep` makes of an artist's file. The body that is simulated, and what is seen of it:
// the surfaces of the file, vertex by vertex as the file has them.

typedef enum snwSurfaceKind
{
    snw_surfaceSoft,    // the skin of the flesh
    snw_surfaceCarried, // rides on it: clothes, hair, other levels of detail
    snw_surfaceRigid,   // moves with a bone: eyes, teeth, buttons. Such pieces of other surfaces do so, too
} snwSurfaceKind;

// Triangles of a surface that look alike.
typedef struct snwSurfacePart
{
    const char* material; // its name in the file, "" if none
    int firstTriangle, triangleCount;
    float color[3]; // linear; times the texture and the colours of the vertices
    int texture;    // of the prepared character, -1: none
} snwSurfacePart;

typedef struct snwSurfaceInfo
{
    const char* name;
    snwSurfaceKind kind;
    int bone;                    // that a rigid one follows; -1: the flesh around it
    int mesh, node;              // of the source document; -1: none
    double place[12];            // 3 x 4, row by row: from the space of that mesh to the character's rest pose, m
    int vertexCount;             // as many as the mesh of the document has, in its order
    const float (*positions)[3]; // m, at rest
    const float (*normals)[3];
    const float (*texcoords)[2]; // u from the left, v from the top; NULL: none
    const float (*colors)[3];    // linear; NULL: none
    const int (*triangles)[3];   // outward
    int triangleCount;
    const snwSurfacePart* parts;
    int partCount;
    const snwVertexTrackDef*
        tracks; // one per motion of the character: what it does to the vertices of this surface
                // beyond what the body takes part in, in the axes of the flesh around; NULL: nothing
} snwSurfaceInfo;

typedef struct snwPreparedInfo
{
    const char* source;   // name of the file it was made of, without folder
    uint64_t sourceHash;  // of its bytes
    uint64_t checksum;    // of the prepared file: the name of exactly this one
    double scale;         // metres per unit of the file
    const char* settings; // how it was made (JSON)
    const int* boneNodes; // of the source document, one per bone of the character; -1: none
    const int* clips;     // of the source document, one per motion of the character; -1: none; NULL: not known
    int surfaceCount;
    int textureCount;
    double embeddingError; // of the surfaces at rest, as a share of the size
} snwPreparedInfo;

typedef struct snwPrepared snwPrepared;

// Everything is copied. Whatever is cut short or damaged is refused: every byte is under a checksum.
SNW_API snwResult snwPrepared_Load(
    snwContext* context, const void* data, size_t size, snwPrepared** prepared, snwMessage* message);
// The same bytes for the same content. *data is freed with snwContext_Free.
SNW_API snwResult snwPrepared_Save(const snwPrepared* prepared, void** data, size_t* size, snwMessage* message);
SNW_API void snwPrepared_Retain(snwPrepared* prepared);
SNW_API void snwPrepared_Release(snwPrepared* prepared);

SNW_API snwPreparedInfo snwPrepared_GetInfo(const snwPrepared* prepared); // lives as long as it, as all below
SNW_API snwCharacter* snwPrepared_GetCharacter(const snwPrepared* prepared);
SNW_API const snwSurfaceInfo* snwPrepared_GetSurface(const snwPrepared* prepared, int index); // NULL: there is none
SNW_API snwTexture snwPrepared_GetTexture(const snwPrepared* prepared, int index);            // width 0: there is none

// The surfaces of one body, where they are now. Vertices that share a place at rest share it always, to the last bit.
typedef struct snwDisplay snwDisplay;

SNW_API snwResult snwCreateDisplay(snwPrepared* prepared, snwDisplay** display, snwMessage* message);
SNW_API void snwDestroyDisplay(snwDisplay* display);
// From the next update on surfaces show what the motion (-1: none, as at first) has for them at this time, s: the face
// that is finer than the body.
SNW_API snwResult snwDisplay_SetMotion(snwDisplay* display, int motion, double time);
// From the next update on what is rigid with a bone that has no flesh goes exactly with this bone, instead of with the
// flesh that is nearest. bones: what takes the rest pose to now, as snwSim_GetBones gives it, `stride` bytes from one
// to the next; NULL: nobody tells any more.
SNW_API snwResult snwDisplay_SetBones(snwDisplay* display, const snwTransform* bones, int count, int stride);
// positions: x y z of the body's vertices, as snwSim_GetShown gives them, `stride` bytes from one to the next. No
// memory is asked for. A position that is not finite is an error, and everything stays where it was.
SNW_API snwResult snwDisplay_Update(
    snwDisplay* display, const float* positions, int count, int stride, snwMessage* message);
// Positions and normals of the last update, at first those at rest; `vertices` of the skin is NULL.
SNW_API snwResult snwDisplay_GetSurface(const snwDisplay* display, int index, snwSkin* skin);

// ---------------------------------------------------------------------------------------------------------------------
// Weights and skinning: a shape that follows its handles

typedef enum snwWeightsKind
{
    snw_weightsBiharmonic, // smooth and bounded; one on its own handle, zero on the others
    snw_weightsClosest,    // by distance alone; for any mesh, also one without elements
} snwWeightsKind;

typedef struct snwWeightsDef
{
    bool handles; // of the handles; else of the bones
    snwWeightsKind kind;
    int influences;   // per vertex at most; 0: 8 bones, any number of handles (8 closest ones)
    double tolerance; // 1e-9 .. 0.1: biharmonic weights stop when none moves by more; errors are some ten times that
    const int (*cageEdges)[2]; // pairs of handles. NULL: the cage of a flat character is a polygon, its corners in the
    int cageEdgeCount; // order of the handles; a solid one has no edges. Flat ones that are closed bound the room
                       // in which weights are smooth; along all others weights are linear between the ends
} snwWeightsDef;

SNW_API snwWeightsDef snwDefaultWeightsDef(void);

// Weights for a character's mesh. A warning says what was not done as asked: parts of the mesh without a handle, or
// snw_weightsClosest because the solver gave up. *weights is one block, freed with snwContext_Free; copy it into a def.
SNW_API snwResult snwComputeWeights(
    const snwCharacter* character, const snwWeightsDef* def, snwWeights** weights, snwMessage* message);

typedef enum snwSkinningKind
{
    snw_skinningLinear,         // blends matrices: fast and soft, loses volume where bones twist
    snw_skinningDualQuaternion, // blends rigid motions: keeps volume, bulges where bones bend
} snwSkinningKind;

// Positions and normals to be moved, with their weights. Everything is copied.
typedef struct snwSkinningDef
{
    const float* positions; // m, x y z, in the rest pose
    const float* normals;   // unit, x y z; NULL: none
    int stride;             // bytes from one vertex to the next, of both
    int vertexCount;
    const snwWeights* weights;
    const int* vertices; // the row of the weights for each vertex, as in snwSkin; NULL: one after the other
} snwSkinningDef;

// Where the handles are: what takes the rest pose to now.
typedef struct snwSkinningPose
{
    snwSkinningKind kind;
    const snwTransform* transforms; // one per handle, unless there are matrices
    const double (*matrices)[12];   // 3 x 4, row by row: any affine map; linear skinning only; NULL: transforms
    int count;
} snwSkinningPose;

// Where skinned vertices go, three floats each. Strides are in bytes, whole floats.
typedef struct snwSkinningTarget
{
    float* positions;
    float* normals; // NULL: none
    int positionStride, normalStride;
} snwSkinningTarget;

typedef struct snwSkinning snwSkinning;

SNW_API snwSkinningDef snwDefaultSkinningDef(void);
SNW_API snwResult snwCreateSkinning(
    snwContext* context, const snwSkinningDef* def, snwSkinning** skinning, snwMessage* message);
// Another one of the same shape and weights, which are shared: for another thread, or a crowd.
SNW_API snwResult snwSkinning_Share(snwSkinning* skinning, snwSkinning** other, snwMessage* message);
SNW_API void snwDestroySkinning(snwSkinning* skinning);

// No memory is asked for. A pose with numbers that are not finite is an error and nothing is written. Where the blended
// map is flat, normals stay as they were at rest.
SNW_API snwResult snwSkinning_Apply(
    snwSkinning* skinning, const snwSkinningPose* pose, const snwSkinningTarget* target, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Shapes

// Simple bodies, ready to simulate. The cells of boxes are cut into six tets each; a ball of n cells across (even n)
// has n^3 tets.
typedef enum snwShapeKind
{
    snw_shapeBar,    // long in x
    snw_shapeBlock,  // a box
    snw_shapeBall,   // a sphere of diameter size.x
    snw_shapeSpring, // two masses and one edge, size.x long, along x: the oscillator
} snwShapeKind;

typedef struct snwShapeDef
{
    const char* name;
    snwShapeKind kind;
    snwVec3 size; // m
    int cells[3]; // 1..512 along each axis of a box; a ball uses cells[0] across, 1..256
    snwMaterial material;
    double springMass; // kg of each mass of a spring
    float color[3];
    const char* source; // as in snwCharacterDef
} snwShapeDef;

SNW_API snwShapeDef snwDefaultShapeDef(snwShapeKind kind);
SNW_API snwResult snwCreateShape(
    snwContext* context, const snwShapeDef* def, snwCharacter** character, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Commands: everything a person or a script does to a running sim

typedef enum snwCommandKind
{
    snw_commandPin,    // hold a scene pin (body -1, index: pin) or a vertex (body, index) at `transform`; !on releases.
                       // A scene pin's transform is relative to where it started, a vertex's in the world
    snw_commandDrag,   // pull the flesh within `radius` of a vertex (body, index), or the centre of a prop (body -1,
                       // index: prop), towards transform.position with strength `value`; !on lets go
    snw_commandPush,   // force `vector` (N) on a vertex, on the whole body (index -1), or on the centre of a prop (body
                       // -1, index: prop), for `value` seconds
    snw_commandHandle, // move handle (body, index) within the step so that its point is at transform.position in the
                       // world and turned by transform.rotation since the rest pose. Degrees of freedom in `mask` are
                       // given so; the others are free. 0 lets go. Of those in `stay` the transform says nothing: they
                       // are held where they are when the command is carried out
    snw_commandJoint,  // joint (body, index): target `value`, motor `on`
    snw_commandMaterial, // material of region (body, index; index -1: all)
    snw_commandGravity,  // `vector`, m/s^2
    snw_commandCollider, // move collider (index) to `transform`
    snw_commandParam,    // live parameter number `index` to `value`
    snw_commandReset,    // back to the scene's start, its clips and script too; step, time and parameters go on. (In a
                         // script the rest of it goes on instead of starting over.)
    snw_commandConstraint, // linear constraint (body, index) of the handles: `on` or off, right side `value`
    snw_commandKindCount,
} snwCommandKind;

typedef struct snwCommand
{
    uint64_t step; // applied just before this step; the past means before the next step
    snwCommandKind kind;
    int body;
    int index;
    bool on;
    uint32_t mask;
    uint32_t stay;
    double value;
    double radius; // m, of a drag, in the rest shape; 0: the vertex alone; < 0: a twelfth of the character's size,
                   // which is the diagonal of its bounds
    snwVec3 vector;
    snwTransform transform;
    snwMaterial material;
} snwCommand;

SNW_API snwCommand snwDefaultCommand(snwCommandKind kind);
SNW_API const char* snwCommandKind_Name(snwCommandKind kind); // "?": there is none
SNW_API int snwCommandKind_Find(const char* name);            // -1: there is none

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

typedef struct snwBodyDef
{
    const char* name; // unique in the scene
    snwCharacter* character;
    snwTransform transform;
    snwVec3 velocity;        // m/s
    snwVec3 angularVelocity; // rad/s about the centre of mass
    double friction;         // Coulomb coefficient, >= 0; see snwFrictionDef
    double kineticFriction;  // while it slides, at most friction; < 0: the same
    const char* surface;     // what its skin is of, for snwFrictionDef; NULL or "": nothing special
    const char* motion;      // one of the character's motions, which powered and kinematic methods make the skeleton
                             // follow from the scene's start on; NULL or "": none
    double motionStart;      // s, >= 0, of the motion: where it is when the scene starts
    double motionWait;       // s, >= 0: it stays there for so long before it goes on
} snwBodyDef;

typedef struct snwColliderDef
{
    const char* name; // unique in the scene
    snwColliderKind kind;
    snwTransform transform;
    snwVec3 size;            // m, by kind
    double friction;         // Coulomb coefficient, >= 0
    double kineticFriction;  // as in snwBodyDef
    const char* surface;     // as in snwBodyDef
    int stepCount;           // stairs: 1..1000
    int columns, rows;       // heightfield: heights along local x and along local z, each >= 2, 2^20 in all
    const double* heights;   // m, along local y, row by row. A cell is two triangles that meet in its diagonal from the
                             // corner with the lowest x and z
    const snwVec3* vertices; // m, of a mesh, at most a million
    int vertexCount;
    const int (*triangles)[3]; // of a mesh, counter-clockwise seen from outside; every edge has two
    int triangleCount;
} snwColliderDef;

// A free rigid body that flesh pushes and that pushes back.
typedef struct snwPropDef
{
    const char* name;
    snwColliderKind kind; // sphere, box or capsule
    snwTransform transform;
    snwVec3 size;           // m, as in snwColliderDef
    double density;         // kg/m^3
    double friction;        // Coulomb coefficient, >= 0
    double kineticFriction; // as in snwBodyDef
    const char* surface;    // as in snwBodyDef
    snwVec3 velocity, angularVelocity;
} snwPropDef;

// Friction between two surfaces. A pair that is not listed has the geometric mean of what its two sides have.
typedef struct snwFrictionDef
{
    const char* first; // surfaces of bodies, colliders or props; the order does not matter
    const char* second;
    double friction;        // Coulomb coefficient, >= 0
    double kineticFriction; // while sliding, at most friction; < 0: the same
} snwFrictionDef;

// Holds the vertices of a body that start inside a box; they follow its transform rigidly.
typedef struct snwPinDef
{
    const char* name; // unique in the scene
    int body;
    snwVec3 lower, upper; // m, in the character's rest pose
    bool held;            // false: free until a command holds it
} snwPinDef;

typedef enum snwClipTarget
{
    snw_clipPin,
    snw_clipCollider,
    snw_clipHandle,
    snw_clipJoint,
} snwClipTarget;

typedef enum snwInterpolation
{
    snw_interpolateStep,
    snw_interpolateLinear,
    snw_interpolateSmooth, // eases in and out of every key
} snwInterpolation;

// Motion over time. A pin's keys are relative to where the pin starts; a collider's are in the world; a handle's are
// what snw_commandHandle takes. A command takes a handle from its clip.
typedef struct snwClipDef
{
    snwClipTarget target;
    int index;      // pin, collider, handle or joint
    int body;       // for handles and joints
    uint32_t given; // for handles: mask of snw_dof... that the clip gives; the others are free
    snwInterpolation interpolation;
    bool loop;
    const snwKey* keys;
    int keyCount;
    const double (*stretches)[6]; // for handles, one per key: xx yy zz yz xz xy of the symmetric map that is applied
                                  // before the rotation; affine handles follow it. NULL: none
} snwClipDef;

typedef struct snwSetting
{
    const char* name; // of a parameter: "pbd.iterations"
    double value;
} snwSetting;

typedef struct snwSceneDef
{
    const char* name;
    const char* method; // "pbd", ...
    snwVec3 gravity;    // m/s^2
    double rate;        // frames (= steps) per second
    double duration;    // s
    uint64_t seed;      // of everything random
    const snwBodyDef* bodies;
    int bodyCount;
    const snwColliderDef* colliders;
    int colliderCount;
    const snwPropDef* props;
    int propCount;
    const snwFrictionDef* frictions;
    int frictionCount;
    const snwPinDef* pins;
    int pinCount;
    const snwClipDef* clips;
    int clipCount;
    const snwSetting* settings;
    int settingCount;
    const snwCommand* commands; // a script: pushed when a sim is made and again at every reset
    int commandCount;
} snwSceneDef;

typedef struct snwScene snwScene;

SNW_API snwBodyDef snwDefaultBodyDef(void);
SNW_API snwColliderDef snwDefaultColliderDef(snwColliderKind kind);
SNW_API snwPropDef snwDefaultPropDef(snwColliderKind kind);
SNW_API snwFrictionDef snwDefaultFrictionDef(void);
SNW_API snwPinDef snwDefaultPinDef(void);
SNW_API snwClipDef snwDefaultClipDef(void);
SNW_API snwSceneDef snwDefaultSceneDef(void);

// Everything is copied; characters are retained. Scenes are counted like characters. JSON: see sinew/tools.h.
SNW_API snwResult snwCreateScene(snwContext* context, const snwSceneDef* def, snwScene** scene, snwMessage* message);
SNW_API void snwScene_Retain(snwScene* scene);
SNW_API void snwScene_Release(snwScene* scene);
SNW_API const snwSceneDef* snwScene_GetDef(const snwScene* scene); // lives as long as the scene
SNW_API uint64_t snwScene_Hash(const snwScene* scene);

// ---------------------------------------------------------------------------------------------------------------------
// Methods and their parameters

typedef enum snwParamType
{
    snw_paramReal,
    snw_paramInt,
    snw_paramBool,
    snw_paramChoice, // value is an index into choices
} snwParamType;

// One row of the table from which --set, the scene schema, the studio's panels and the docs are made.
typedef struct snwParamInfo
{
    const char* name; // "pbd.iterations"
    snwParamType type;
    const char* unit; // "" if none
    double lower, upper, initial;
    bool live;                  // may change while running
    const char* const* choices; // NULL-terminated, for snw_paramChoice
    const char* help;
} snwParamInfo;

typedef struct snwMethodInfo
{
    const char* name;   // the word in scenes and on the command line
    const char* title;  // in words
    const char* source; // where it was published
    int paramCount;     // shared ones ("sim. ...") first
} snwMethodInfo;

SNW_API int snwMethodCount(void);
SNW_API snwMethodInfo snwMethod_GetInfo(int method);
SNW_API int snwMethod_Find(const char* name); // -1 if there is none
SNW_API const snwParamInfo* snwMethod_GetParam(int method, int param);

// ---------------------------------------------------------------------------------------------------------------------
// Sims

typedef struct snwSimDef
{
    snwScene* scene;
    const char* method; // NULL: the scene's
    int maxGrabs;       // vertex pins, drags and pushes at a time, 1..4096
} snwSimDef;

typedef struct snwSim snwSim;

SNW_API snwSimDef snwDefaultSimDef(void);
SNW_API snwResult snwCreateSim(snwContext* context, const snwSimDef* def, snwSim** sim, snwMessage* message);
SNW_API void snwDestroySim(snwSim* sim);

// Checks the command at once and applies it just before its step, in the order of pushing.
SNW_API snwResult snwSim_Push(snwSim* sim, const snwCommand* command, snwMessage* message);

// Advances by dt seconds. On an error the sim stays in its last good state, and the commands of that step are dropped.
// A step that diverges is begun again with up to eight times its substeps first. snw_warning: it needed them, or a
// command could not be carried out; snwSim_GetWarnings has all warnings.
SNW_API snwResult snwSim_Step(snwSim* sim, double dt, snwMessage* message);

SNW_API uint64_t snwSim_GetStepCount(const snwSim* sim);
SNW_API double snwSim_GetTime(const snwSim* sim); // s
SNW_API snwScene* snwSim_GetScene(const snwSim* sim);
SNW_API int snwSim_GetMethod(const snwSim* sim);

// Results: pointer + count + stride (bytes). They live until the next Step, Restore or Destroy.
typedef struct snwVertices
{
    const float* positions;  // x y z
    const float* velocities; // x y z, m/s
    int count;
    int stride;
} snwVertices;

// Something touches something else. On one side is a vertex of a body, or a prop (body -1, vertex: the prop); on the
// other exactly one of collider, prop and otherBody, which may be the body itself. The rest of the three are -1.
typedef struct snwContact
{
    int body, vertex;
    int collider, prop, otherBody;
    float position[3]; // m
    float normal[3];   // unit, away from the other side
    float depth;       // m, before it was resolved
    float force[3];    // N, on the first side, friction included; the other side gets the opposite
} snwContact;

// A free rigid body as it is now. The transform takes the shape of its definition to where it is.
typedef struct snwProp
{
    snwTransform transform;
    snwVec3 velocity, angularVelocity; // m/s of the centre, rad/s in the world
} snwProp;

typedef struct snwProps
{
    const snwProp* data;
    int count;
    int stride;
} snwProps;

typedef struct snwTransforms
{
    const snwTransform* data;
    int count;
    int stride;
} snwTransforms;

// 3 x 4, row by row: any affine map.
typedef struct snwMatrices
{
    const double (*data)[12];
    int count;
    int stride;
} snwMatrices;

typedef struct snwContacts
{
    const snwContact* data;
    int count;
    int stride;
} snwContacts;

typedef struct snwTiming
{
    const char* stage;
    double ms; // in the last step
} snwTiming;

typedef struct snwTimings
{
    const snwTiming* data;
    int count;
    int stride;
} snwTimings;

// Something that is no error but that a person would want to know: told once, in the words of the first time.
typedef struct snwWarning
{
    char text[256];
    char remedy[256]; // empty if none is known
    uint64_t step;    // the first one that it happened in
    uint64_t count;   // how many steps it happened in
} snwWarning;

typedef struct snwWarnings
{
    const snwWarning* data;
    int count;
    int stride;
} snwWarnings;

// Body -1 in snwSim_GetMeasures: the whole scene, props included.
typedef struct snwMeasures
{
    double time;             // s
    double kinetic;          // J
    double elastic;          // J, by the law that is simulated; of pbd's projection: corotated linear elasticity
    double potential;        // J, against gravity, zero at the world's origin
    double energy;           // J, the sum of the three
    snwVec3 momentum;        // kg m/s
    snwVec3 angularMomentum; // kg m^2/s, about the world's origin
    snwVec3 centre;          // m, of mass
    double volume;           // m^3
    double minVolumeRatio;   // smallest element volume over its rest volume; < 0 is inverted
    double maxStretch;       // largest relative change of an edge
    double maxSpeed;         // m/s
    double maxDepth;         // m, deepest contact before it was resolved
    double contacts;         // how many
    double stepMs;           // ms, time of the last step
    double retries;          // how often the last step was begun again with twice the substeps, because it diverged
    double residual;         // how far the last iteration of the last substep moved a vertex, of its body's size
    double jointGap;         // widest gap between the bones of a joint, of the body's size
    double rigidity;         // farthest that a vertex of a bone is from where its bone has it, of the body's size
    double fit;              // farthest that what is seen is from what is simulated, of the body's size
} snwMeasures;

// Names and units of the fields of snwMeasures, in order; a vector gives three rows (.x .y .z).
typedef struct snwMeasureInfo
{
    const char* name;
    const char* unit;
    const char* help;
} snwMeasureInfo;

SNW_API int snwMeasureCount(void);
SNW_API const snwMeasureInfo* snwMeasure_GetInfo(int measure);
SNW_API double snwMeasures_Get(const snwMeasures* measures, int measure);

SNW_API int snwSim_GetBodyCount(const snwSim* sim);
SNW_API snwResult snwSim_GetSkin(snwSim* sim, int body, snwSkin* skin);                   // as shown
SNW_API snwResult snwSim_GetVertices(const snwSim* sim, int body, snwVertices* vertices); // as simulated
// What is seen of the body: the same as snwSim_GetVertices unless the method shows its rig and hides its flesh. This is
// what displays, films and exports take; measures, contacts, pins and drags are those of what is simulated.
SNW_API snwResult snwSim_GetShown(const snwSim* sim, int body, snwVertices* vertices);
// Bones and joints: what takes the character's rest pose to now.
SNW_API snwResult snwSim_GetBones(const snwSim* sim, int body, snwTransforms* bones);
SNW_API snwResult snwSim_GetJoints(const snwSim* sim, int body, snwTransforms* joints);
// Handles (bones if there are none): what takes the rest pose to now. As matrices they may stretch and shear; the
// transforms are the nearest ones that do not. Methods without handles leave them in the rest pose.
SNW_API snwResult snwSim_GetHandles(const snwSim* sim, int body, snwTransforms* handles);
SNW_API snwResult snwSim_GetHandleMatrices(const snwSim* sim, int body, snwMatrices* handles);
SNW_API snwResult snwSim_GetColliders(const snwSim* sim, snwTransforms* colliders);
SNW_API snwResult snwSim_GetProps(const snwSim* sim, snwProps* props);
SNW_API snwResult snwSim_GetContacts(const snwSim* sim, snwContacts* contacts);
SNW_API snwResult snwSim_GetMeasures(snwSim* sim, int body, snwMeasures* measures);
// What the sim's method tells of the last step beside snwMeasures: Newton steps, residuals and the like. Names and
// units are in the infos; body -1: the worst of all bodies, or the sum where the unit is N.
SNW_API int snwSim_GetOwnMeasureCount(const snwSim* sim);
SNW_API const snwMeasureInfo* snwSim_GetOwnMeasureInfo(const snwSim* sim, int measure);
SNW_API snwResult snwSim_GetOwnMeasures(const snwSim* sim, int body, double* values);
SNW_API snwResult snwSim_GetTimings(const snwSim* sim, snwTimings* timings);
// All since the sim was made, one of each kind, in the order in which they first came.
SNW_API snwResult snwSim_GetWarnings(const snwSim* sim, snwWarnings* warnings);

typedef struct snwPick
{
    int body; // -1: nothing hit
    int triangle;
    int vertex;        // mesh vertex of the triangle nearest to the hit: the target for drag, pin and push
    double distance;   // m along the ray
    snwVec3 position;  // m
    double weights[3]; // barycentric
} snwPick;

SNW_API snwResult snwSim_Pick(snwSim* sim, snwVec3 origin, snwVec3 direction, snwPick* pick);

// The whole state in one block of fixed size. Restore accepts only blocks of the same scene and method; commands that
// were pushed and not yet applied are dropped, and the log forgets what came after the restored step.
SNW_API size_t snwSim_GetStateSize(const snwSim* sim);
SNW_API snwResult snwSim_Save(const snwSim* sim, void* buffer, size_t capacity, size_t* size, snwMessage* message);
SNW_API snwResult snwSim_Restore(snwSim* sim, const void* data, size_t size, snwMessage* message);
SNW_API uint64_t snwSim_Hash(const snwSim* sim);

SNW_API int snwSim_GetParamCount(const snwSim* sim);
SNW_API const snwParamInfo* snwSim_GetParamInfo(const snwSim* sim, int param);
SNW_API snwResult snwSim_GetParam(const snwSim* sim, const char* name, double* value);
SNW_API snwResult snwSim_SetParam(snwSim* sim, const char* name, double value, snwMessage* message); // pushes a command

// The commands pushed and applied so far, with the steps at which they took effect: the recording. The scene's own
// script is not among them: it plays again by itself. It tells the whole performance if all steps had the same dt and
// the sim began at the scene's start (a restored block brings no log). It grows with the commands pushed.
SNW_API const snwCommand* snwSim_GetLog(const snwSim* sim, int* count);

#ifdef __cplusplus
}
#endif

#endif
