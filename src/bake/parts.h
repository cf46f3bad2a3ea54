// What the files of a bake share.

#pragma once

#include "bake/bake.h"
#include "scene/builtin.h"

enum
{
    snw_bakePathSize = 4096,
    snw_maxCycles = 16, // of a loop
};

// The frames of the output within the run: frame i is frame first + i of the cache.
typedef struct snwBakePlan
{
    int motion;    // of the character
    int animation; // of the asset, -1: none
    double rate, start, end;
    int prerollFrames;
    int cycleFrames; // of a loop; 0: none
    int lastFrame;   // of the run, at most
    int firstFrame;  // of the output in the run; of a loop known when it repeats
    int frameCount;  // of the output
    int fadeFrames;
} snwBakePlan;

struct snwBake
{
    snwContext* context;
    snwArena arena;
    snwBakeDef def;
    snwBakeSettings settings;
    json_t* sidecar;
    char sidecarPath[snw_bakePathSize]; // "" if there is none
    char path[snw_bakePathSize];        // of the source
    bool builtIn;
    int addedClip;    // the animation of the asset that was put on its skeleton, -1: none
    bool wasPrepared; // the source is a prepared file
    const char* name; // of the source without folder and ending
    snwAsset* asset;
    snwPrepared* prepared; // as it is simulated
    snwBakePlan plan;
    snwSceneFile scene;
    char framesPath[snw_bakePathSize];
    int* surfaces; // to be touched
    int surfaceCount;
    float* mask; // per vertex of the body: how much of the flesh's motion is used; NULL: all
    snwRunReport run;
    snwBakeFrames* frames;
    snwBakeReport report;
};

void snwBake_Note(snwBake* bake, const char* format, ...) __attribute__((format(printf, 2, 3)));
void snwBake_Warn(snwBake* bake, const char* format, ...) __attribute__((format(printf, 2, 3)));
snwResult snwBake_Tell(const snwBake* bake, snwBakeStage stage, const char* word, int done, int total);
// folder/name; fails if it does not fit.
snwResult snwBake_Path(const snwBake* bake, const char* name, char* path, snwMessage* message);

// In the order of snwBake_Open: source.c, materials.c, plan.c, scene.c.
snwResult snwBake_FindSource(snwBake* bake, snwMessage* message);
// A built-in character as a file of its own in the folder; bake->path becomes its path. built_in.c.
snwResult snwBake_WriteBuiltIn(snwBake* bake, const snwBuiltIn* builtIn, snwMessage* message);
snwResult snwBake_Prepare(snwBake* bake, snwMessage* message);
snwResult snwBake_Retouch(snwBake* bake, snwMessage* message);
snwResult snwBake_MakePlan(snwBake* bake, snwMessage* message);
snwResult snwBake_MakeScene(snwBake* bake, snwMessage* message);

// What the sidecar and the words say about materials, for snwPrepareDef; both NULL if it failed.
snwResult snwBake_FindMaterials(snwBake* bake, json_t** under, json_t** over, snwMessage* message);

snwResult snwBakeFrames_Open(snwBake* bake, snwBakeFrames** frames, snwMessage* message);
snwResult snwBake_Measure(snwBake* bake, snwMessage* message);
// Name of the bone that a vertex of the body follows most; "" if none.
const char* snwBake_MainBone(const snwCharacter* character, int vertex);
