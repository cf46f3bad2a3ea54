// Sinew's tools: scene files, command logs and replay, the run loop, the frames cache, pictures and films.
//
// Everything here may touch files and JSON; the engine in sinew.h does not. Every reader treats its input as hostile:
// limits on size and depth, all numbers finite, all indices checked, and a message with file, place and remedy.

#ifndef SINEW_TOOLS_H
#define SINEW_TOOLS_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Scene files (JSON, see docs/scene.md and the schema)

typedef struct snwCameraDef
{
    bool automatic;     // frame the whole motion by itself
    snwVec3 position;   // m
    snwVec3 target;     // m
    double fieldOfView; // degrees, vertical, 1..120
} snwCameraDef;

SNW_API snwCameraDef snwDefaultCameraDef(void);

// Files that a scene or a log of unknown origin may name: those below a folder, and one guest.
typedef struct snwWall
{
    const char* folder;
    const char* guest; // NULL or "": none
} snwWall;

// What the command line may change in a scene before it is made.
typedef struct snwSceneOptions
{
    const char* method;         // NULL: the file's
    const snwSetting* settings; // after the file's own, so they win
    int settingCount;
    bool hasSeed;
    uint64_t seed;
    double duration;     // s; <= 0: the file's
    double memory;       // GiB that bodies may take, as they are estimated before any is made; <= 0: 2
    const snwWall* wall; // NULL: any file may be named
} snwSceneOptions;

SNW_API snwSceneOptions snwDefaultSceneOptions(void);

// A scene as a file holds it: the scene and what only tools need.
typedef struct snwSceneFile
{
    snwScene* scene; // released by snwSceneFile_Close
    snwCameraDef camera;
    char description[128]; // one line for people; "" if none
} snwSceneFile;

SNW_API snwResult snwSceneFile_Open(
    snwContext* context, const char* path, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message);
// name stands for the file in messages.
SNW_API snwResult snwSceneFile_Parse(snwContext* context, const char* text, size_t size, const char* name,
    const snwSceneOptions* options, snwSceneFile* file, snwMessage* message);
// The scene as JSON text; parsing it again gives the same snwScene_Hash. *text is freed with snwContext_Free.
SNW_API snwResult snwSceneFile_Format(
    snwContext* context, const snwSceneFile* file, char** text, size_t* size, snwMessage* message);
SNW_API void snwSceneFile_Close(snwSceneFile* file);

// JSON schema (draft 2020-12) of scene files, generated from the tables that read them.
SNW_API snwResult snwSceneFile_Schema(snwContext* context, char** text, size_t* size, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Commands as JSON, one object each; every kind has its own keys, listed in docs/scene.md and the schema:
//   {"step": 60, "kind": "push", "body": "bar", "force": [0, 5, 0], "duration": 0.1}
//   {"step": 90, "kind": "param", "name": "pbd.iterations", "value": 40}

SNW_API snwResult snwCommand_Parse(
    const snwScene* scene, const char* text, size_t size, snwCommand* command, snwMessage* message);
// Returns the length as snprintf does; reading the text again gives the same command to the last bit.
SNW_API int snwCommand_Format(const snwScene* scene, const snwCommand* command, char* buffer, size_t capacity);

// ---------------------------------------------------------------------------------------------------------------------
// Command log: JSON lines. The first holds the scene; then commands and one hash per frame, in the order of time; the
// last a checksum. The commands are those pushed while it ran: the scene's own script runs in a replay by itself.

typedef struct snwLog
{
    snwSceneFile file; // rebuilt from the first line
    snwCommand* commands;
    int commandCount;
    uint64_t* hashes; // hashes[i] is of frame i; frame 0 is the start
    int frameCount;   // frame 0 counted
    char version[32]; // of the Sinew that wrote it; "" if it does not say
    bool complete;    // false: the run was interrupted, failed or crashed; what is here is whole
} snwLog;

// wall: which files its scene may name; NULL: any.
SNW_API snwResult snwLog_Open(
    snwContext* context, const char* path, const snwWall* wall, snwLog* log, snwMessage* message);
SNW_API snwResult snwLog_Parse(snwContext* context, const char* text, size_t size, const char* name,
    const snwWall* wall, snwLog* log, snwMessage* message);
SNW_API void snwLog_Close(snwContext* context, snwLog* log);

// ---------------------------------------------------------------------------------------------------------------------
// The run loop

typedef struct snwRunFrame
{
    snwSim* sim; // NULL: a frame that a resumed run found in its cache
    int frame;   // 0 is the start, before any step
    int frameCount;
    uint64_t hash;
    double stepMs;               // ms
    const snwMeasures* measures; // of the whole scene; valid during the call
} snwRunFrame;

// Called after every frame, also for frame 0. A negative result ends the run with it. A resumed run calls it for all
// frames again: first for those in the cache, and for the last of them with the sim, from which it goes on.
typedef snwResult snwRunFrameFn(const snwRunFrame* frame, void* user, snwMessage* message);

typedef struct snwRunDef
{
    const snwSceneFile* file;
    const char* logPath;            // NULL: no command log; written as "path.part" until the run ends
    const char* measuresPath;       // NULL: none; .csv or .json. With frames it has no columns of times, so that a
                                    // resumed run leaves the very same file
    const char* framesPath;         // NULL: no frames cache; see snwFrames
    double framesTolerance;         // m, 1e-9..1: how far stored positions may lie off; 0: every bit is kept
    bool framesVertices;            // store the vertices of the meshes too, not only of the skins
    int framesPerChunk;             // 1..4096: what a crash may lose; 0: chosen from the sizes of scene and state
    bool resume;                    // go on where the cache at framesPath ends; from the start if there is none
    const snwLog* replay;           // push its commands and compare every hash; file may then be NULL: the log's scene
    bool overwrite;                 // else an existing file is an error
    const volatile bool* interrupt; // set by a signal handler; ends the run after the current frame
    snwRunFrameFn* onFrame;
    void* user;
} snwRunDef;

typedef struct snwRunReport
{
    int frames;          // finished, frame 0 not counted
    uint64_t hash;       // of the last frame
    int firstDifference; // frame of the first unlike hash in a replay; -1: none
    double stepMsMedian, stepMsMax, wallSeconds;
    snwTiming stages[16]; // ms: mean over the frames
    int stageCount;
    snwMeasures first, last;           // of the whole scene
    double energyMax;                  // J
    double minVolumeRatio, maxStretch; // the worst of all frames
    int firstInverted;                 // first frame with an inverted tet; -1: none
    int retries;                       // steps that went well only with more substeps; see snwMeasures
    snwWarning warnings[24];           // of the sim and of the measures; a step leads to the frame after it
    int warningCount;
    bool doubtful; // a person would not call the run a success: flesh drawn out, gone, blown up or flown away
} snwRunReport;

SNW_API snwRunDef snwDefaultRunDef(void);
// However a run ends, what is finished is kept and reported. A replay that differs from its log gives snw_warning.
// With frames, a run that was cut short at any moment can be resumed, and cache, log and measures are then byte for
// byte those of a run that was not.
SNW_API snwResult snwRun(snwContext* context, const snwRunDef* def, snwRunReport* report, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Frames cache: everything a run showed, in one file that grows by whole chunks (docs/frames.md). It holds the scene
// and what a viewer needs to draw it; every byte of it is under a checksum.

typedef struct snwFramesBone
{
    const char* name;
    snwVec3 head, tail; // m, in the rest pose
    double radius;      // m
    int parent;         // -1: none
} snwFramesBone;

// What a cache says of one body; pointers live as long as the snwFrames. A character without a skin has all its
// vertices here
// instead, and no triangles.
typedef struct snwFramesBody
{
    const char* name;
    const char* character;
    float color[3]; // linear 0..1
    int skinVertexCount;
    const int* skinVertices; // vertex of the character for each skin vertex
    const int* triangles;    // three skin vertices each, outward
    int triangleCount;
    const float (*colors)[3];    // one per skin vertex; NULL: `color`
    const float (*texcoords)[2]; // one per skin vertex; NULL: none
    snwTexture texture;          // width 0: none
    int vertexCount;             // of the character
    const snwFramesBone* bones;
    int boneCount;
} snwFramesBody;

typedef struct snwFramesCollider
{
    const char* name;
    snwColliderKind kind;
    snwVec3 size; // m, as in snwColliderDef
} snwFramesCollider;

typedef snwFramesCollider snwFramesProp; // sphere, box or capsule

typedef struct snwFramesInfo
{
    const char* version; // of the Sinew that wrote it
    const char* scene;   // JSON, see snwSceneFile_Parse; "" if a character was made by a program
    size_t sceneSize;
    uint64_t sceneHash;
    double rate;       // frames per second
    double tolerance;  // m; 0: every bit is kept
    bool hasVertices;  // of the meshes
    int frameCount;    // that can be read now, frame 0 counted
    int plannedFrames; // of the whole run, frame 0 counted
    int framesPerChunk, chunkCount;
    int damagedChunks;  // whose frames cannot be read
    uint64_t bytes;     // of the file up to the end of the last whole chunk
    uint64_t tailBytes; // behind it: a chunk that is being written, was torn by a crash, or is damaged
    bool complete;      // all planned frames are there and no chunk is damaged
    const snwFramesBody* bodies;
    int bodyCount;
    const snwFramesCollider* colliders;
    int colliderCount;
    const snwFramesProp* props;
    int propCount;
} snwFramesInfo;

typedef struct snwFrameBody
{
    const float* skin; // x y z of each skin vertex
    int skinVertexCount, stride;
    const float* vertices; // x y z of each vertex of the mesh, with the same stride; NULL unless they were stored
    int vertexCount;
    snwTransforms bones; // take the rest pose to now
} snwFrameBody;

typedef struct snwFrame
{
    int frame; // 0 is the start
    uint64_t step;
    double time; // s
    uint64_t hash;
    snwMeasures measures; // of the whole scene; stepMs is 0: nothing in the file depends on the clock
    const snwFrameBody* bodies;
    int bodyCount;
    snwTransforms colliders;
    snwTransforms props;
    snwContacts contacts;
    const char* commands; // the lines of the command log that led to this frame; not terminated
    size_t commandsSize;
} snwFrame;

typedef struct snwFrames snwFrames;

// Works also while a run writes the file: only whole chunks are seen. snw_warning: some chunks are damaged, the rest
// can be read.
SNW_API snwResult snwFrames_Open(snwContext* context, const char* path, snwFrames** frames, snwMessage* message);
// Sees the chunks that were finished meanwhile.
SNW_API snwResult snwFrames_Refresh(snwFrames* frames, snwMessage* message);
SNW_API snwFramesInfo snwFrames_GetInfo(const snwFrames* frames);
// Any frame in any order; forward is fastest. What it points to lives until the next Read, Refresh or Close.
SNW_API snwResult snwFrames_Read(snwFrames* frames, int frame, snwFrame* result, snwMessage* message);
SNW_API void snwFrames_Close(snwFrames* frames);

// ---------------------------------------------------------------------------------------------------------------------
// Pictures and films

// What the colours of the flesh tell.
typedef enum snwFilmLook
{
    snw_filmSkin,      // the characters' own colours and textures
    snw_filmStrain,    // largest relative change of an edge at each vertex
    snw_filmSpeed,     // m/s
    snw_filmContact,   // N, on each vertex
    snw_filmStiffness, // Pa, Young's modulus
    snw_filmElements,  // own colours, with the sides of the elements
    snw_filmBones,     // translucent flesh with its bones
    snw_filmWeights,   // whose bones or handles move it, a colour for each
    snw_filmLookCount,
} snwFilmLook;

SNW_API const char* snwFilmLook_Name(snwFilmLook look);

// What is drawn besides the bodies.
enum
{
    snw_showContacts = 1, // a point and an arrow along its force for each
    snw_showPins = 2,     // a ball at each vertex that is held
    snw_showJoints = 4,
    snw_showPressure = 8, // a disc under the centre of pressure
    snw_showHandles = 16, // where they are and how they are turned, over all: filled where given, hollow where free
    snw_showAll = 31,
};

typedef struct snwFilmDef
{
    const char* directory;   // made if missing: frames go to directory/frames, pictures and film beside them
    const char* filmPath;    // .mp4 or .gif, made by ffmpeg; NULL: none
    const char* picturePath; // PNG of one telling frame; NULL: none
    int width, height;       // pixels, 16..8192
    double framesPerSecond;  // of the film; frames of the run in between are not drawn
    int samples;             // rays per pixel, 1..256
    bool keepFrames;
    bool overwrite;
    snwCameraDef camera;
    snwFilmLook look;
    uint32_t show;    // mask of snw_show...
    bool turntable;   // the camera goes round once and ends where it began
    bool transparent; // frames with an opacity, without background, ground and shadows; needs keepFrames
} snwFilmDef;

typedef struct snwFilm snwFilm;

SNW_API snwFilmDef snwDefaultFilmDef(void);
SNW_API snwResult snwCreateFilm(
    snwContext* context, const snwFilmDef* def, snwScene* scene, snwFilm** film, snwMessage* message);
// Keeps a copy of what is seen now; drawing happens in snwFilm_Finish, when the whole motion is known.
SNW_API snwResult snwFilm_AddFrame(snwFilm* film, snwSim* sim, snwMessage* message);
// progress may be NULL; a negative result from it stops the drawing.
typedef snwResult snwFilmProgressFn(int done, int total, void* user);
SNW_API snwResult snwFilm_Finish(snwFilm* film, snwFilmProgressFn* progress, void* user, snwMessage* message);
SNW_API void snwDestroyFilm(snwFilm* film);

// What a viewer would mind.
enum
{
    snw_faultEmpty = 1,  // a frame without anything to see
    snw_faultBright = 2, // an over-exposed frame
    snw_faultStill = 4,  // more than 60 % of the frames are like the one before
    snw_faultSmall = 8,  // all that is ever seen of the subject is in less than 15 % of the picture
    snw_faultLarge = 16, // in more than 70 %
};

typedef struct snwFilmCheck
{
    int frames;
    int emptyFrames, brightFrames, stillFrames;
    double leastSubject, meanSubject, mostSubject; // share of the pixels that show the bodies
    double fill;                                   // share of the picture in the box around them, over all frames
    uint32_t faults;                               // mask of snw_fault...
} snwFilmCheck;

// How the frames that snwFilm_Finish drew look; no frames before that, and for a film of a single picture.
SNW_API snwFilmCheck snwFilm_GetCheck(const snwFilm* film);

typedef struct snwPlotCurve
{
    const char* label;
    const double* x;
    const double* y;
    int count;
} snwPlotCurve;

// What others measured or published, drawn in grey behind the curves.
typedef struct snwPlotReference
{
    const char* label; // says where it is from
    const double* x;
    const double* y;
    int count;
    bool dots; // a ring per point; else a dashed line
} snwPlotReference;

typedef struct snwPlotDef
{
    const char* title;
    const char* xLabel; // with unit: "time (s)"
    const char* yLabel;
    const snwPlotCurve* curves;
    int curveCount; // at most 12
    const snwPlotReference* references;
    int referenceCount; // at most 12
    int width, height;  // a PNG has twice as many pixels each way
    bool overwrite;
} snwPlotDef;

SNW_API snwPlotDef snwDefaultPlotDef(void);
// Writes a clean SVG with axes, units and legend.
SNW_API snwResult snwPlot_WriteSvg(snwContext* context, const snwPlotDef* def, const char* path, snwMessage* message);
SNW_API snwResult snwPlot_WritePng(snwContext* context, const snwPlotDef* def, const char* path, snwMessage* message);
// Both: stem.svg and stem.png. A plot without a single finite point is an error here.
SNW_API snwResult snwPlot_Write(snwContext* context, const snwPlotDef* def, const char* stem, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Baking: an animated file in, the same with living flesh out (docs/bake.md)

// phase: "simulating", "writing" ... A negative result stops the work; what is finished is kept in the folder.
typedef snwResult snwBakeFileProgressFn(const char* phase, int done, int total, void* user);

typedef struct snwBakeFileDef
{
    const char* source;   // path, or name of a built-in character
    const char* output;   // its ending says the format
    const char* settings; // JSON text of what a sidecar has under "bake", every option of `sinew bake` that is no file
                          // of its own: {"clip": "Run", "loop": true}. Wins over the sidecar. NULL: none
    const char* sidecar;  // path; NULL: NAME.sinew.json beside the source, if it is there; "": none
    const char* folder;   // for what an interrupted bake goes on from; NULL: NAME.bake beside the output
    int elements;         // of the body, about; 0: by the number of bones
    double scale;         // m per unit of the source; 0: told or guessed
    bool overwrite;
    snwBakeFileProgressFn* progress; // NULL: none
    void* user;
} snwBakeFileDef;

typedef struct snwBakeFileReport
{
    char clip[128];
    int frameCount;
    double rate;         // frames per second
    double flesh;        // m: the farthest that flesh gets from where the artist has it
    int targets;         // morph targets or helper joints that were added
    double maxError;     // m: how far they are off the frames
    double bytes;        // of the first file that was written
    double difference;   // of the size: what was written, without flesh, against the source; 0 for caches
    int torn;            // edges that the source does not tear
    char notes[64][224]; // what was decided unasked, and what is worth a look
    int noteCount;
} snwBakeFileReport;

SNW_API snwBakeFileDef snwDefaultBakeFileDef(void);
// Prepares, simulates, writes, and holds what was written against the source: a file that is not right is an error and
// is removed. report may be NULL.
SNW_API snwResult snwBakeFile(
    snwContext* context, const snwBakeFileDef* def, snwBakeFileReport* report, snwMessage* message);

#ifdef __cplusplus
}
#endif

#endif
