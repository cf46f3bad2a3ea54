// The complementary option beside complementary dynamics (Zhang, Bang, Levin, Jacobson 2020): the same fish, motion,
// material and step; ours by ten sweeps and a projection, theirs by Newton's method with J^T M u = 0 as a constraint.
// The fish is the published one; it is read from the folder that SINEW_DATA names, and the rows are missing without it.

#include "pbcd_fish.h"

#include "base/clock.h"
#include "base/result.h"
#include "bundle_character.h"
#include "sim/pbcd/pbcd.h"

#include <math.h>
#include <stdlib.h>

enum
{
    snw_fishFrames = 90,
};

static const char s_case[] = "fish";
static const char s_ours[] = "pbcd-complement", s_theirs[] = "cd";

#define SHARED                                                                                                         \
    {"sim.substeps", 1}, {"pbcd.law", 1}, {"pbcd.complement", 1}, {"pbcd.anchor", 0},                                  \
    {                                                                                                                  \
        "pbcd.damping", 0                                                                                              \
    }
static const snwSetting s_sweeps[] = {SHARED, {"pbcd.iterations", 10}};
static const snwSetting s_newton[] = {SHARED, {"pbcd.iterations", 2}, {"pbcd.solver", 2}};

typedef struct Swimmer
{
    snwSim* sim;
    snwSamples ms;                 // a frame
    double energy[snw_fishFrames]; // J, of the flesh's own motion
    double residual;               // the largest
} Swimmer;

typedef struct Pond
{
    snwContext* context;
    snwBundleBody fish;
    double* masses;
    double size; // m
    Swimmer ours, theirs;
    double rms, most; // of the size, in the worst frame
} Pond;

static snwResult OpenSwimmer(
    const Pond* pond, const snwSetting* settings, int count, Swimmer* swimmer, snwMessage* message)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.name = s_case;
    body.character = pond->fish.character;
    body.motion = "bundle";
    snwSceneDef def = snwDefaultSceneDef();
    def.name = s_case;
    def.method = "pbcd";
    def.gravity = (snwVec3){0, 0, 0};
    def.rate = 1 / pond->fish.step;
    def.bodies = &body;
    def.bodyCount = 1;
    def.settings = settings;
    def.settingCount = count;
    snwScene* scene = NULL;
    snwResult result = snwCreateScene(pond->context, &def, &scene, message);
    if (result < 0)
        return result;
    snwSimDef sim = snwDefaultSimDef();
    sim.scene = scene;
    result = snwCreateSim(pond->context, &sim, &swimmer->sim, message);
    snwScene_Release(scene);
    return result;
}

static snwResult OpenPond(Pond* pond, const char* path, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    snwResult result = snwCreateContext(&def, &pond->context, message);
    if (result >= 0)
        result = snwBundleBody_Open(pond->context, path, &pond->fish, message);
    if (result < 0)
        return result;
    const snwCharacter* character = pond->fish.character;
    pond->size = snwVec3_Distance(character->lower, character->upper);
    pond->masses = calloc((size_t)character->def.vertexCount, sizeof *pond->masses);
    if (pond->masses == NULL)
        return snwFailMemory(message);
    snwCharacter_ComputeMasses(character, character->def.materials, pond->masses);
    result = OpenSwimmer(pond, s_sweeps, sizeof s_sweeps / sizeof *s_sweeps, &pond->ours, message);
    if (result >= 0)
        result = OpenSwimmer(pond, s_newton, sizeof s_newton / sizeof *s_newton, &pond->theirs, message);
    return result;
}

static void ClosePond(Pond* pond)
{
    Swimmer* swimmers[] = {&pond->ours, &pond->theirs};
    for (int i = 0; i < 2; ++i)
        if (swimmers[i]->sim != NULL)
            snwDestroySim(swimmers[i]->sim);
    if (pond->fish.character != NULL)
        snwCharacter_Release(pond->fish.character);
    if (pond->context != NULL)
        snwDestroyContext(pond->context);
    free(pond->masses);
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static double FleshEnergy(const Pond* pond, const Swimmer* swimmer)
{
    const snwPbcdState* state = &snwPbcd_Work(swimmer->sim, 0)->state;
    double sum = 0;
    for (int i = 0; i < pond->fish.character->def.vertexCount; ++i)
    {
        snwVec3 v = snwVec3_Sub(snwRow_Get(state->velocities, i), snwRow_Get(state->referenceVelocities, i));
        sum += 0.5 * pond->masses[i] * snwVec3_Dot(v, v);
    }
    return sum;
}

static snwResult Swim(const Pond* pond, Swimmer* swimmer, int frame, snwMessage* message)
{
    double start = snwClock_Seconds();
    snwResult result = snwSim_Step(swimmer->sim, pond->fish.step, message);
    snwSamples_Add(&swimmer->ms, (snwClock_Seconds() - start) * 1e3);
    if (result < 0)
        return result;
    swimmer->energy[frame] = FleshEnergy(pond, swimmer);
    swimmer->residual = fmax(swimmer->residual, snwPbcd_ComplementResidual(swimmer->sim, 0));
    return snw_ok;
}

static void Compare(Pond* pond)
{
    const float* ours = snwPbcd_Work(pond->ours.sim, 0)->state.positions;
    const float* theirs = snwPbcd_Work(pond->theirs.sim, 0)->state.positions;
    int count = pond->fish.character->def.vertexCount;
    double sum = 0;
    for (int i = 0; i < count; ++i)
    {
        double distance = snwVec3_Distance(snwRow_Get(ours, i), snwRow_Get(theirs, i)) / pond->size;
        sum += distance * distance;
        pond->most = fmax(pond->most, distance);
    }
    pond->rms = fmax(pond->rms, sqrt(sum / count));
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static void AddValue(snwBenchRows* rows, const char* metric, double value, const char* op, double target)
{
    snwBenchRow row = snwMakeBenchRow(s_case, s_ours, metric);
    row.value = value;
    row.n = snw_fishFrames;
    row.op = op;
    row.target = target;
    snwBenchRows_Add(rows, &row);
}

static void AddTimes(snwBenchRows* rows, const char* method, const Pond* pond, const Swimmer* swimmer)
{
    const snwCharacter* character = pond->fish.character;
    snwBenchRow row = snwMakeBenchRow(s_case, method, "frame_ms");
    snwBenchRow_SetSamples(&row, &swimmer->ms);
    snprintf(row.note, sizeof row.note, "1 thread; %d vertices, %d tets, E %g kPa, nu %g, %g s per frame",
        character->def.vertexCount, character->def.tetCount, character->def.materials[0].young * 1e-3,
        character->def.materials[0].poisson, pond->fish.step);
    snwBenchRows_Add(rows, &row);
}

static void AddDistance(snwBenchRows* rows, const Pond* pond)
{
    snwBenchRow row = snwMakeBenchRow(s_case, s_ours, "cd_distance");
    row.value = pond->rms;
    row.n = snw_fishFrames;
    row.op = "<=";
    row.target = 0.05;
    snprintf(row.note, sizeof row.note, "the farthest vertex of any frame: %.4f", pond->most);
    snwBenchRows_Add(rows, &row);
}

static void AddRows(snwBenchRows* rows, const Pond* pond)
{
    double ours = 0, theirs = 0;
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "complement", "Kinetic energy of the flesh's own motion, of the fish");
    snwBenchCurve* our = snwBenchFigure_AddCurve(figure, snw_curveOurs, "ours, 10 sweeps");
    snwBenchCurve* their = snwBenchFigure_AddCurve(figure, snw_curveReference, "complementary dynamics");
    for (int i = 0; i < snw_fishFrames; ++i)
    {
        ours += pond->ours.energy[i];
        theirs += pond->theirs.energy[i];
        snwBenchCurve_Add(our, (i + 1) * pond->fish.step, pond->ours.energy[i] * 1e-3);
        snwBenchCurve_Add(their, (i + 1) * pond->fish.step, pond->theirs.energy[i] * 1e-3);
    }
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "time, s");
        snprintf(figure->yLabel, sizeof figure->yLabel, "kJ");
    }
    AddTimes(rows, s_ours, pond, &pond->ours);
    AddTimes(rows, s_theirs, pond, &pond->theirs);
    AddValue(rows, "complement_residual", pond->ours.residual, "<=", 1e-6);
    AddValue(rows, "flesh_energy_ratio", ours / theirs, ">=", 0.3);
    AddDistance(rows, pond);
}

static void AddMissing(snwBenchRows* rows)
{
    static const char* const metrics[] = {"complement_residual", "flesh_energy_ratio", "cd_distance"};
    for (int i = 0; i < 3; ++i)
    {
        snwBenchRow row = snwMakeBenchRow(s_case, s_ours, metrics[i]);
        snprintf(row.note, sizeof row.note, "SINEW_DATA names no folder with complementary-dynamics/fish/fish.json");
        snwBenchRows_Add(rows, &row);
    }
}

static bool FindFish(char* path, size_t capacity)
{
    const char* folder = getenv("SINEW_DATA");
    if (folder == NULL)
        return false;
    snprintf(path, capacity, "%s/complementary-dynamics/fish/fish.json", folder);
    FILE* file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

void snwAddPbcdFish(snwBenchRows* rows)
{
    Pond pond = {0};
    char path[4096];
    if (!FindFish(path, sizeof path))
    {
        AddMissing(rows);
        return;
    }
    rows->result = OpenPond(&pond, path, rows->message);
    for (int i = 0; i < snw_fishFrames && rows->result >= 0; ++i)
    {
        rows->result = Swim(&pond, &pond.ours, i, rows->message);
        if (rows->result >= 0)
            rows->result = Swim(&pond, &pond.theirs, i, rows->message);
        if (rows->result >= 0)
            Compare(&pond);
    }
    if (rows->result >= 0)
        AddRows(rows, &pond);
    ClosePond(&pond);
}
