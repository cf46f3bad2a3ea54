// What the parts of `sinew bench flesh` share: is flesh whole, whatever is done to it? One thread throughout.

#pragma once

#include "parts.h"
#include "stress_states.h"
#include "sim/method.h"
#include "sinew/tools.h"

#include <jansson.h>

// ---------------------------------------------------------------------------------------------------------------------
// A stage: a scene that is read once, so that its characters are meshed once, and one sim of it after the other

typedef struct snwFleshStage
{
    snwContext* context;
    snwSceneFile file;
    const snwSceneDef* def;
    const snwCharacter* character; // of body 0
    double size;                   // m, diagonal of its rest pose
    snwSim* sim;                   // NULL: none was started
} snwFleshStage;

// Takes the reference to the scene, which may be NULL when memory ran out.
snwResult snwFleshStage_Open(snwFleshStage* stage, json_t* scene, snwMessage* message);
void snwFleshStage_Close(snwFleshStage* stage);

enum
{
    snw_maxFleshSettings = 6
};

// What a sim changes in the scene.
typedef struct snwFleshRun
{
    const char* method;                        // NULL: the scene's
    snwSetting settings[snw_maxFleshSettings]; // a name NULL ends them; they win over the scene's
    bool noGravity;
} snwFleshRun;

// Another sim in the place of the one that is there. snw_errorUnsupported: the method does not take this scene.
snwResult snwFleshStage_Start(snwFleshStage* stage, const snwFleshRun* run, snwMessage* message);

// What was seen of a run so far.
typedef struct snwFleshWatch
{
    int frames;
    int invertedFrames; // with an inverted element
    double least, leastNow;
    double stretchMost, stretchNow;
    double speedMost, speedNow;     // m/s
    double energyStart, energyMost; // J
    double longest;                 // stretch of an edge from which on the run counts as failed
    bool failed;                    // a step gave an error, or an edge is that long
    bool told;                      // it was the former
    char why[100];                  // it failed
} snwFleshWatch;

snwFleshWatch snwFleshStage_StartWatch(snwFleshStage* stage);
// One frame at the scene's rate. False once it has failed.
bool snwFleshStage_Step(snwFleshStage* stage, snwFleshWatch* watch);
bool snwFleshStage_Play(snwFleshStage* stage, snwFleshWatch* watch, double seconds);

// Whether the run so far warned in words that its flesh is softer than asked for, or a step not converged.
bool snwFleshStage_WasWarned(const snwFleshStage* stage);

// One of the cast with about so many elements, standing 2 cm above the ground, under gravity. NULL: no memory, or there
// is no such character.
json_t* snwMakeFleshScene(const char* character, int elements);

// Adds `"NAME": VALUE, ...` (text of JSON, without braces) to an object.
void snwJson_Add(json_t* object, const char* members);

// A missing value, and why.
void snwFleshRows_AddMissing(
    snwBenchRows* rows, const char* caseName, const char* method, const char* metric, const char* why);

// ---------------------------------------------------------------------------------------------------------------------
// Storms: a hand pulls at random, lets go, pulls again elsewhere, and then flesh has two seconds to come to rest

typedef enum snwStormHand
{
    snw_stormVertex,  // drags one vertex of the skin
    snw_stormDefault, // drags as a user does who sets nothing
    snw_stormHandle,  // moves a handle (a bone, where the character has none)
    snw_stormHandCount,
} snwStormHand;

extern const char* const snwStormHandNames[snw_stormHandCount];

typedef struct snwStormDef
{
    const char* method;
    snwStormHand hand;
    int substeps; // 0: the method's default
    int firstSeed, seedCount;
} snwStormDef;

typedef struct snwStormResult
{
    int runs;
    int diverged;       // runs
    int inverted;       // runs that end with an inverted element
    double stretchMost; // of all runs that did not diverge
    double leastAtRest;
    char note[160];
} snwStormResult;

snwResult snwFleshStage_Storm(snwFleshStage* stage, const snwStormDef* def, snwStormResult* storm, snwMessage* message);

// The same of one of the cast's own motions, played so many times as fast and then held: pbcd and apd follow it.
snwResult snwFleshStage_PlayClip(
    snwFleshStage* stage, const snwStormDef* def, snwStormResult* storm, snwMessage* message);
json_t* snwMakeClipScene(const char* character, int elements, double speed);

// ---------------------------------------------------------------------------------------------------------------------
// Stress states: a bar, with two bones in its core or without, is put into a state that it would never come into

enum
{
    snw_stressSkelfem = -1
};

typedef struct snwStressDef
{
    int law; // apd.law, or snw_stressSkelfem
    snwStressKind kind;
    bool bones;
    int substeps;
} snwStressDef;

typedef struct snwStressResult
{
    bool diverged;
    double left; // largest stretch of an edge after 400 frames or when it has recovered, of the size
    int frames;  // that took
} snwStressResult;

extern const double snwStressRecovered; // what may be left

// stage: of snwMakeStressScene
snwResult snwFleshStage_Stress(
    snwFleshStage* stage, const snwStressDef* def, snwStressResult* result, snwMessage* message);
json_t* snwMakeStressScene(bool bones);

// ---------------------------------------------------------------------------------------------------------------------
// The shipped scenes, with fewer elements where they are large

typedef struct snwFleshScene
{
    const char* name;
    double scale, wider; // of snwMakeSceneSmaller
    const char* method;
    int today; // frames with an inverted element before flesh was mended; -1: not known
} snwFleshScene;

extern const snwFleshScene snwFleshScenes[]; // a name NULL ends them

snwResult snwFleshStage_OpenShipped(snwFleshStage* stage, const snwFleshScene* scene, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Parts

void snwAddFleshStorms(snwBenchRows* rows);
void snwAddFleshClips(snwBenchRows* rows);
void snwAddFleshEnergy(snwBenchRows* rows); // drops
void snwAddFleshScenes(snwBenchRows* rows);
void snwAddFleshStress(snwBenchRows* rows);
void snwAddFleshSag(snwBenchRows* rows);
void snwAddFleshFall(snwBenchRows* rows); // and flight
void snwAddFleshScale(snwBenchRows* rows);
void snwAddFleshAbsurd(snwBenchRows* rows); // launches, teleports, swallows
void snwAddFleshSpeed(snwBenchRows* rows);
