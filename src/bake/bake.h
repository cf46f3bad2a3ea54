// `sinew bake`: an artist's animated file in, the same with living flesh out.
//
//   source (file, built-in character) -> snwPrepared -> plan: clip, range, materials -> scene
//   -> run into a frames cache -> snwBakeFrames -> outputs (output.h)
//
// The plan is an ordinary scene with an ordinary prepared character, both files in the folder of the bake: the body
// waits in its first pose for the preroll and then plays the range. `sinew sim` of that scene gives the same frames to
// the last bit, and a run that was cut short goes on from its cache as any other does.

#pragma once

#include "bake/against.h"
#include "bake/frames.h"
#include "bake/output.h"
#include "bake/settings.h"
#include "prepare/prepare.h"
#include "sinew/tools.h"

typedef struct snwBake snwBake;

typedef enum snwBakeStage
{
    snw_bakePreparing,
    snw_bakeSimulating,
    snw_bakeMeasuring,
    snw_bakeWriting,
    snw_bakeChecking, // what was written
    snw_bakeDrawing,  // film and picture
} snwBakeStage;

typedef struct snwBakeProgress
{
    snwBakeStage stage;
    const char* word; // what is being done
    int done, total;
} snwBakeProgress;

// A negative result stops the work; what is finished is kept.
typedef snwResult snwBakeProgressedFn(const snwBakeProgress* progress, void* user);

typedef struct snwBakeDef
{
    const char* source;    // path, or name of a built-in character
    const char* folder;    // for what a run leaves behind to go on from; made if missing
    const json_t* words;   // settings that win over the sidecar's; NULL: none
    const char* sidecar;   // path; NULL: NAME.sinew.json beside the source if it is there; "": none
    snwPrepareDef prepare; // how the file becomes a body: mesher, elements, scale
    bool restart;          // do not go on with what is in the folder
    const volatile bool* interrupt;
    snwBakeProgressedFn* progress; // NULL: none
    void* user;
} snwBakeDef;

snwBakeDef snwDefaultBakeDef(void);

// Source, settings and scene, before anything is simulated. Everything wrong with the words is found here.
snwResult snwBake_Open(snwContext* context, const snwBakeDef* def, snwBake** bake, snwMessage* message);
// Simulates, or goes on with it, and measures. After snw_errorInterrupted the folder holds the finished frames.
snwResult snwBake_Run(snwBake* bake, snwMessage* message);
// Where and how its settings want it written; refused early. The caller may set progress.
snwResult snwBake_FindOutput(
    const snwBake* bake, const char* path, bool overwrite, snwBakeOutputDef* def, snwMessage* message);
// NAME.bake for NAME.glb; false if it does not fit.
bool snwBake_NameFolder(const char* output, char* folder, size_t capacity);
// Reads what was written of it again and holds it against the source; an error names mesh, bone and frame. The frames
// are kept. snw_ok without a look if bones move neither the source nor a document that was made of it.
snwResult snwBake_CheckWritten(snwBake* bake, const snwBakeOutputReport* written, snwMessage* message);
void snwBake_Close(snwBake* bake); // NULL is allowed

const snwBakeSettings* snwBake_GetSettings(const snwBake* bake);
const json_t* snwBake_GetSidecar(const snwBake* bake); // its document; NULL: none
const snwAsset* snwBake_GetAsset(const snwBake* bake); // NULL: the prepared file's source is not at hand
const snwPrepared* snwBake_GetPrepared(const snwBake* bake);
const snwSceneFile* snwBake_GetScene(const snwBake* bake);
// After a run; belongs to the bake.
snwBakeFrames* snwBake_GetFrames(snwBake* bake);
// Writes the scene and its character (NAME.json, NAME.snw) for `sinew sim`.
snwResult snwBake_SaveScene(const snwBake* bake, const char* path, bool overwrite, snwMessage* message);
// Removes what the bake left in its folder, and the folder if nothing else is in it.
void snwBake_RemoveFolder(snwBake* bake);
// The same if there are no frames in it to go on from.
void snwBake_TidyFolder(snwBake* bake);

// ---------------------------------------------------------------------------------------------------------------------
// What came of it

enum
{
    snw_maxBakeNotes = 32,
};

typedef struct snwBakeDrift
{
    const char* bone;
    double mean, most; // m: of where its flesh is on average, against where the artist has it; over the frames
    double skeleton;   // m: the most that the bone itself is off
} snwBakeDrift;

// The farthest that flesh of a surface gets from where the artist has it.
typedef struct snwBakeLag
{
    const char* mesh;
    const char* bone; // whose flesh it is; "" if none
    double most;      // m
    int frame;
} snwBakeLag;

typedef struct snwBakeReport
{
    char clip[128];
    snwBakeLag* lags; // by surface that is touched, the farthest first
    int lagCount;
    int frames, cachedFrames;          // of the output; of them and of preroll, how many were there from an earlier run
    double rate, start, end;           // 1/s; s, in the clip
    double preroll;                    // s
    int cycles;                        // that a loop was run until it repeated; 0: no loop
    int fadeFrames;                    // at its end, that fade into its beginning
    double seamPosition, seamVelocity; // change across the seam over the median change from frame to frame
    double stretch;                    // worst relative change of an edge of the surfaces that are written
    int stretchFrame;
    const char* stretchBone; // whose flesh it is in; "" if none
    double artistStretch;    // the same of the artist's motion alone
    double lag;              // m: the farthest that flesh gets from where the artist has it
    int lagFrame;
    const char* lagBone;
    snwVec3 lagPlace;      // m, in the world
    snwVec3 lagNormal;     // of the surface there
    double size;           // m, of the character
    int cuts;              // frames between which the artist's motion jumps
    double inverted;       // the largest share of the flesh that is turned inside out in a frame
    double artistInverted; // the same of the artist's motion alone
    double settled;        // how fast flesh still was before the first frame, in sizes per second
    double limited;        // the largest share of the vertices that the reach of flesh holds back
    double ride;           // m: the farthest that a surface is from the skinned body, on average
    const char* rideMesh;  // which
    int rideFrame;
    bool checked;                           // what was written was held against the source, and is right
    snwAgainst against;                     // how; after snwBake_CheckWritten
    double unit;                            // m, of the files that it compared
    double seconds, prepareSeconds, stepMs; // s of the run; s; median
    uint64_t hash;                          // of the last frame simulated
    const snwBakeDrift* drifts;             // one per bone
    int driftCount;
    char notes[snw_maxBakeNotes][224]; // what was decided without being asked
    int noteCount;
    char warnings[snw_maxBakeNotes][224]; // what is worth a look
    int warningCount;
} snwBakeReport;

const snwBakeReport* snwBake_GetReport(const snwBake* bake);
