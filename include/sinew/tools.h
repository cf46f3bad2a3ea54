// Sinew's tools: scene files, command logs and replay, the run loop, pictures and films.
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

// What the command line may change in a scene before it is made.
typedef struct snwSceneOptions
{
    const char* method;         // NULL: the file's
    const snwSetting* settings; // after the file's own, so they win
    int settingCount;
    bool hasSeed;
    uint64_t seed;
    double duration; // s; <= 0: the file's
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

SNW_API snwResult snwLog_Open(snwContext* context, const char* path, snwLog* log, snwMessage* message);
SNW_API snwResult snwLog_Parse(
    snwContext* context, const char* text, size_t size, const char* name, snwLog* log, snwMessage* message);
SNW_API void snwLog_Close(snwContext* context, snwLog* log);

// ---------------------------------------------------------------------------------------------------------------------
// The run loop

typedef struct snwRunFrame
{
    snwSim* sim;
    int frame; // 0 is the start, before any step
    int frameCount;
    uint64_t hash;
    double stepMs;               // ms
    const snwMeasures* measures; // of the whole scene; valid during the call
} snwRunFrame;

// Called after every frame, also for frame 0. A negative result ends the run with it.
typedef snwResult snwRunFrameFn(const snwRunFrame* frame, void* user, snwMessage* message);

typedef struct snwRunDef
{
    const snwSceneFile* file;
    const char* logPath;            // NULL: no command log; written as "path.part" until the run ends
    const char* measuresPath;       // NULL: none; .csv or .json
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
} snwRunReport;

SNW_API snwRunDef snwDefaultRunDef(void);
// However a run ends, what is finished is kept and reported. A replay that differs from its log gives snw_warning.
SNW_API snwResult snwRun(snwContext* context, const snwRunDef* def, snwRunReport* report, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Pictures and films

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

#ifdef __cplusplus
}
#endif

#endif
