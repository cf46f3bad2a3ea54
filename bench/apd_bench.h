// What the parts of `sinew bench apd` share: scenes with other settings, moments that several solvers start from, rows.
//
// Figures and tables are those of Li, Liu, Kavan: Soft Articulated Characters in Projective Dynamics. Times are of one
// thread and of the solve alone: contacts, prediction and factor are what every solver has.

#pragma once

#include "bench.h"

#include "sim/apd/apd.h"
#include "sinew/tools.h"

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

// A scene opened once: its character is meshed once, whatever solvers run it.
typedef struct snwApdStage
{
    snwContext* context; // one thread
    snwSceneFile file;
    const snwSceneDef* def;
} snwApdStage;

snwResult snwApdStage_Open(snwApdStage* stage, const char* scene, snwMessage* message); // a built-in scene
snwResult snwApdStage_Parse(snwApdStage* stage, const char* json, snwMessage* message);
void snwApdStage_Close(snwApdStage* stage);

// What a run changes in its scene.
typedef struct snwApdVariant
{
    snwApdSolver solver;
    int iterations; // 0: the scene's
    int substeps;   // 0: the scene's
    snwElasticLaw law;
} snwApdVariant;

// With the law of the paper.
static inline snwApdVariant snwMakeApdVariant(snwApdSolver solver)
{
    return (snwApdVariant){.solver = solver, .law = snw_elasticCorotated};
}

const char* snwApdSolver_Name(snwApdSolver solver);
snwResult snwApdStage_CreateSim(
    const snwApdStage* stage, const snwApdVariant* variant, snwSim** sim, snwMessage* message);
// The same of a scene made by a program.
snwResult snwCreateApdSim(
    snwContext* context, const snwSceneDef* def, const snwApdVariant* variant, snwSim** sim, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Moments

// All that a sim was at one moment; other sims of the same scene can start from it, with any solver.
typedef struct snwApdMoment
{
    const snwSim* owner;
    unsigned char* block;
} snwApdMoment;

snwResult snwApdMoment_Take(const snwSim* sim, snwApdMoment* moment, snwMessage* message);
void snwApdMoment_Apply(const snwApdMoment* moment, snwSim* sim);
void snwApdMoment_Free(snwApdMoment* moment);

// Body 0 at given places: `now`, with the velocity that it has come from `before` in h seconds. The bones are what
// takes the rest pose there; they are not read by solvers without bones.
typedef struct snwApdPlaces
{
    const snwVec3* positions; // m, per vertex
    const snwTransform* bones;
} snwApdPlaces;

void snwApdSim_Place(snwSim* sim, const snwApdPlaces* before, const snwApdPlaces* now, double h);

// ---------------------------------------------------------------------------------------------------------------------
// What a frame tells

double snwApdSim_Size(const snwSim* sim);     // m, diagonal of the rest pose of body 0
double snwApdSim_JointGap(const snwSim* sim); // of the size, the worst joint of all bodies
double snwApdSim_Rigidity(const snwSim* sim); // of the size, the worst change of a distance within a bone
// m, largest distance of a vertex of body 0 in one and in the other.
double snwApdSim_Distance(const snwSim* one, const snwSim* other);
double snwTurnedAngle(snwQuat rotation); // degrees, 0..180
// ns per tet of body 0's local step alone, warm, with any law; empty: it has no flesh.
snwSamples snwApdSim_TimeLocal(const snwSim* sim, snwElasticLaw law, bool damped, int runs);

// ---------------------------------------------------------------------------------------------------------------------
// Rows

typedef struct snwApdRows
{
    const char* caseName;
    snwBenchReport* report;
    const snwBenchOptions* options;
    snwMessage* message;
    snwResult result; // of everything so far; nothing is added after an error
} snwApdRows;

void snwApdRows_Add(snwApdRows* rows, const snwBenchRow* row);
snwBenchRow snwApdRows_Start(const snwApdRows* rows, const char* method, const char* metric);
// A value that is missing, and why.
void snwApdRows_AddMissing(snwApdRows* rows, const char* method, const char* metric, const char* why);

// ---------------------------------------------------------------------------------------------------------------------
// Parts. Each opens what it needs, adds its rows and figures, and leaves nothing behind.

// Tables 1 and 2, joint gap and rigidity of one scene. frames: run before measuring.
typedef struct snwApdCase
{
    const char* name; // of the scene, and of the rows
    const char* json; // a scene of its own; NULL: the built-in one of that name
    int frames;
    double total[4];  // ms per step of 10 iterations in the paper: PD, [3], IPOPT, theirs
    double stages[6]; // ms per iteration: p, T, columns, S, c_f, others
    bool isMonster;   // has the target of the literal path
} snwApdCase;

enum
{
    snw_apdCaseCount = 8
};

extern const snwApdCase snwApdCases[snw_apdCaseCount];

void snwAddApdTable(snwApdRows* rows, const snwApdCase* which);

void snwAddApdErrors(snwApdRows* rows);    // Fig. 10
void snwAddApdEnergies(snwApdRows* rows);  // Fig. 11
void snwAddApdNunchuck(snwApdRows* rows);  // Fig. 14
void snwAddApdLocking(snwApdRows* rows);   // Fig. 1
void snwAddApdSilk(snwApdRows* rows);      // Fig. 4, 7, 8
void snwAddApdSnail(snwApdRows* rows);     // Fig. 6
void snwAddApdExplosion(snwApdRows* rows); // Fig. 12
void snwAddApdLoops(snwApdRows* rows);     // Fig. 15 and a four-bar linkage, a minute each
void snwAddApdRatios(snwApdRows* rows);    // of masses and stiffness
