// Runs of pbcd and its baselines that all start from the same moment, kept frame by frame, and how far they are apart:
// what the tables and figures of the thesis' chapter 3 are made of.

#pragma once

#include "bench.h"

#include "sim/pbcd/pbcd.h"
#include "sinew/tools.h"

// ---------------------------------------------------------------------------------------------------------------------
// Scenarios

typedef struct snwPbcdScenario snwPbcdScenario;

struct snwPbcdScenario
{
    const char* name;
    const char* json; // a scene of one body, without settings
    double rate;      // frames per second
    int frames;
    double scale; // of the character; 0: as it is
    snwPbcdLaw law;
    const snwSetting* settings; // beside those of a variant
    int settingCount;           // at most snw_maxScenarioSettings
    void (*place)(snwSim* sim); // moves the body before the first frame; NULL: it is where the scene puts it
    snwContext* context;        // one thread; these are made by Open
    snwSceneFile file;
    snwCharacter* character;
};

enum
{
    snw_maxScenarioSettings = 8
};

snwPbcdScenario snwMakePbcdOscillator(void);
snwPbcdScenario snwMakePbcdBeam(void);
snwPbcdScenario snwMakePbcdSag(void); // the beam under its weight, until it is still
snwPbcdScenario snwMakePbcdJello(void);

// Where the oscillator's mass is at a time, m: the analytic solution.
double snwPbcdOscillator_At(double time);

snwResult snwPbcdScenario_Open(snwPbcdScenario* scenario, snwMessage* message);
void snwPbcdScenario_Close(snwPbcdScenario* scenario);

// ---------------------------------------------------------------------------------------------------------------------
// Variants: a solver with all that belongs to it

typedef struct snwPbcdVariant
{
    snwPbcdSolver solver;
    snwPbcdCommit commit;
    snwPbcdIntegrator integrator;
    bool corrected;
    double stiffness; // of solver pbd
    int substeps;
    int iterations;   // at most, in a substep
    double tolerance; // of the body's size; 0: all iterations
} snwPbcdVariant;

snwResult snwPbcdScenario_CreateSim(
    const snwPbcdScenario* scenario, const snwPbcdVariant* variant, snwSim** sim, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Tracks: where every vertex is in every frame

typedef struct snwPbcdTrack
{
    int frames; // done
    int vertices;
    double size;    // m, of the body at rest
    float* x;       // [frames][vertices][3], m
    double sweeps;  // mean of a frame
    double sweepMs; // step time over its sweeps
    double frameMs;
    bool diverged; // not finite, a step that failed, or farther away than a hundred sizes
    bool capped;   // a frame took all its iterations without meeting the tolerance
} snwPbcdTrack;

// Divergence is no error: the track says so.
snwResult snwPbcdScenario_Run(
    const snwPbcdScenario* scenario, const snwPbcdVariant* variant, snwPbcdTrack* track, snwMessage* message);
void snwPbcdTrack_Free(snwPbcdTrack* track);
snwVec3 snwPbcdTrack_At(const snwPbcdTrack* track, int frame, int vertex);

// The oscillator's analytic one.
snwResult snwMakePbcdOscillatorTrack(const snwPbcdScenario* scenario, snwPbcdTrack* track, snwMessage* message);

// Eq. 3.28, the mean over vertices of the distance, averaged over frames, m; INFINITY if either diverged.
double snwPbcdTrack_Error(const snwPbcdTrack* track, const snwPbcdTrack* truth);

// ---------------------------------------------------------------------------------------------------------------------
// Methods of the tables

typedef enum snwPbcdMethod
{
    snw_methodPbd,
    snw_methodSubsteps,
    snw_methodBdf2,
    snw_methodSeidel,
    snw_methodJacobi,
    snw_pbcdThesisMethods, // these are its
    snw_methodSoftBdf2 = snw_pbcdThesisMethods,
    snw_methodSoftTrapezoid,
    snw_pbcdMethodCount
} snwPbcdMethod;

const char* snwPbcdMethod_Name(snwPbcdMethod method);

// What a method is measured with: sweeps end when no vertex moves by more than `tolerance` sizes, or after `most`.
typedef struct snwPbcdEnd
{
    double tolerance;
    int most;
    int refined; // stiffnesses of the grid search beside the first eleven: between the best and its neighbours
} snwPbcdEnd;

snwPbcdVariant snwPbcdMethod_Variant(snwPbcdMethod method, snwPbcdEnd end, double stiffness);

// Runs the method; stiffness per visit by grid search where it has one: the least error against the truth.
typedef struct snwPbcdBest
{
    snwPbcdTrack track;
    double error;     // m
    double stiffness; // NAN if it has none
} snwPbcdBest;

snwResult snwPbcdScenario_RunBest(const snwPbcdScenario* scenario, snwPbcdMethod method, snwPbcdEnd end,
    const snwPbcdTrack* truth, snwPbcdBest* best, snwMessage* message);
