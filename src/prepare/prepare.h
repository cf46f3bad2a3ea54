// From a file of an artist to a character: rest shape, bones, body, weights, motions, materials, surfaces.
//
//   asset -> settings (sidecar, extras, command line) -> rest shape -> bones -> body (mesher) -> regions of bones ->
//   weights -> motions -> materials -> surfaces that ride in the body -> snwPrepared
//
// A picture (PNG, WebP) goes a way of its own and becomes a flat character: flat.h.

#pragma once

#include "asset/asset.h"
#include "asset/decimate.h"
#include "asset/mesher.h"
#include "sim/prepared.h"

// The steps, for progress bars, in their order.
typedef enum snwPrepareStep
{
    snw_prepareRead,
    snw_prepareRest,
    snw_prepareBody,
    snw_prepareBones,
    snw_prepareWeights,
    snw_prepareMotions,
    snw_prepareMaterials,
    snw_prepareSurfaces,
    snw_prepareStepCount,
} snwPrepareStep;

const char* snwPrepareStep_Name(snwPrepareStep step);

// A negative result stops the work.
typedef snwResult snwPrepareProgressFn(snwPrepareStep step, void* user);

typedef struct snwPrepareDef
{
    snwMesher mesher;
    int elements;                   // wanted, 0: the sidecar's, or by the size of the skeleton
    int decimate;                   // triangles that the flesh's surface keeps before it is filled, 0: all
    snwDecimation decimation;       // how they go
    bool coarse;                    // with bones: thin parts may be coarser, for surfaces take only differences of it
    double scale;                   // metres per unit of the file, 0: the sidecar's, the file's, or guessed
    double size;                    // m, longest side of a picture's character, 0: the sidecar's, or 1
    int handles;                    // of a picture, 0: the sidecar's, or where it has ends
    const char* sidecar;            // path; NULL: NAME.sinew.json beside the file if it is there; "": none
    const char* cache;              // path of a PC2 or MDD file that moves the surface; NULL: none
    double cacheRate;               // frames of a PC2 file per second; 0: 24
    const struct json_t* under;     // what the sidecar would say if it said nothing, as it says it; NULL: nothing
    const struct json_t* over;      // what counts instead of what the sidecar says; NULL: nothing
    snwPrepareProgressFn* progress; // NULL: none
    void* user;
} snwPrepareDef;

snwPrepareDef snwDefaultPrepareDef(void);

enum
{
    snw_maxPrepareNotes = 64
};

// What was decided without being asked, and what was left out.
typedef struct snwPrepareReport
{
    char notes[snw_maxPrepareNotes][224];
    int noteCount;
    int notesLost;
    snwMesher mesher;                        // that was used
    int bonesDropped, bonesBare;             // that no flesh follows; that own no element
    int softCount, carriedCount, rigidCount; // surfaces
    int outsideCount;                        // points of surfaces outside of the body
    double maxOutside;                       // m
    double seconds[snw_prepareStepCount];
} snwPrepareReport;

// path: of the file, for its name, its sidecar and its pictures. report may be NULL.
snwResult snwPrepareFile(snwContext* context, const char* path, const snwPrepareDef* def, snwPrepared** prepared,
    snwPrepareReport* report, snwMessage* message);
