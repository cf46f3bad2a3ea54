#include "pbcd_tables.h"

#include "base/clock.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Scenarios

static snwResult ScaleCharacter(snwPbcdScenario* scenario, snwMessage* message)
{
    snwCharacter* character = snwScene_GetDef(scenario->file.scene)->bodies[0].character;
    snwCharacterDef def = character->def;
    snwVec3* vertices = snwAllocArray(scenario->context, (size_t)def.vertexCount, sizeof *vertices);
    if (vertices == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < def.vertexCount; ++i)
        vertices[i] = snwVec3_Scale(def.vertices[i], scenario->scale);
    def.vertices = vertices;
    snwResult result = snwCreateCharacter(scenario->context, &def, &scenario->character, message);
    snwFree(scenario->context, vertices);
    return result;
}

snwResult snwPbcdScenario_Open(snwPbcdScenario* scenario, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    snwResult result = snwCreateContext(&def, &scenario->context, message);
    if (result >= 0)
        result = snwSceneFile_Parse(
            scenario->context, scenario->json, strlen(scenario->json), scenario->name, NULL, &scenario->file, message);
    if (result >= 0 && scenario->scale > 0)
        result = ScaleCharacter(scenario, message);
    if (result < 0)
        snwPbcdScenario_Close(scenario);
    return result;
}

void snwPbcdScenario_Close(snwPbcdScenario* scenario)
{
    if (scenario->character != NULL)
        snwCharacter_Release(scenario->character);
    if (scenario->file.scene != NULL)
        snwSceneFile_Close(&scenario->file);
    if (scenario->context != NULL)
        snwDestroyContext(scenario->context);
    scenario->file = (snwSceneFile){0};
    scenario->character = NULL;
    scenario->context = NULL;
}

enum
{
    snw_variantSettings = 9
};

snwResult snwPbcdScenario_CreateSim(
    const snwPbcdScenario* scenario, const snwPbcdVariant* variant, snwSim** sim, snwMessage* message)
{
    snwSetting settings[snw_variantSettings + snw_maxScenarioSettings] = {
        {"sim.substeps", variant->substeps},
        {"pbcd.iterations", variant->iterations},
        {"pbcd.tolerance", variant->tolerance},
        {"pbcd.solver", variant->solver},
        {"pbcd.commit", variant->commit},
        {"pbcd.integrator", variant->integrator},
        {"pbcd.corrected", variant->corrected},
        {"pbcd.stiffness", variant->stiffness},
        {"pbcd.law", scenario->law},
    };
    memcpy(settings + snw_variantSettings, scenario->settings, (size_t)scenario->settingCount * sizeof *settings);
    snwSceneDef def = *snwScene_GetDef(scenario->file.scene);
    snwBodyDef body = def.bodies[0];
    snwScene* scene = NULL;
    *sim = NULL;
    body.character = scenario->character != NULL ? scenario->character : body.character;
    def.bodies = &body;
    def.method = "pbcd";
    def.settings = settings;
    def.settingCount = snw_variantSettings + scenario->settingCount;
    snwResult result = snwCreateScene(scenario->context, &def, &scene, message);
    if (result < 0)
        return result;
    snwSimDef made = snwDefaultSimDef();
    made.scene = scene;
    result = snwCreateSim(scenario->context, &made, sim, message);
    snwScene_Release(scene);
    if (result >= 0 && scenario->place != NULL)
        scenario->place(*sim);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tracks

static bool IsFar(const snwSim* sim, double limit)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, 0);
    for (int i = 0; i < work->model->vertexCount; ++i)
        if (!(snwVec3_Length(snwRow_Get(work->state.positions, i)) < limit))
            return true;
    return false;
}

static void KeepFrame(snwPbcdTrack* track, const snwSim* sim)
{
    const float* rows = snwPbcd_Work(sim, 0)->state.positions;
    float* to = track->x + 3 * (size_t)track->frames * (size_t)track->vertices;
    for (int i = 0; i < track->vertices; ++i)
        memcpy(to + 3 * (size_t)i, rows + 4 * (size_t)i, 3 * sizeof *to);
    track->frames++;
}

static void RunFrames(const snwPbcdScenario* scenario, const snwPbcdVariant* variant, snwSim* sim, snwPbcdTrack* track)
{
    double seconds = 0;
    long sweeps = 0;
    for (int i = 0; i < scenario->frames && !track->diverged; ++i)
    {
        double start = snwClock_Seconds();
        track->diverged = snwSim_Step(sim, 1 / scenario->rate, NULL) < 0;
        seconds += snwClock_Seconds() - start;
        long now = ((snwPbcdScratch*)sim->scratch)->sweeps;
        sweeps += now * variant->substeps;
        track->capped = track->capped || (variant->tolerance > 0 && now >= variant->iterations);
        track->diverged = track->diverged || IsFar(sim, 100 * track->size);
        if (!track->diverged)
            KeepFrame(track, sim);
    }
    int frames = track->frames + track->diverged;
    track->sweeps = (double)sweeps / frames;
    track->sweepMs = seconds * 1e3 / (double)(sweeps > 0 ? sweeps : 1);
    track->frameMs = seconds * 1e3 / frames;
}

snwResult snwPbcdScenario_Run(
    const snwPbcdScenario* scenario, const snwPbcdVariant* variant, snwPbcdTrack* track, snwMessage* message)
{
    snwSim* sim = NULL;
    *track = (snwPbcdTrack){0};
    snwResult result = snwPbcdScenario_CreateSim(scenario, variant, &sim, message);
    if (result < 0)
        return result;
    const snwCharacter* character = sim->bodies[0].character;
    track->vertices = character->def.vertexCount;
    track->size = snwVec3_Distance(character->lower, character->upper);
    track->x = calloc((size_t)scenario->frames * (size_t)track->vertices, 3 * sizeof *track->x);
    if (track->x == NULL)
        result = snwFailMemory(message);
    else
        RunFrames(scenario, variant, sim, track);
    snwDestroySim(sim);
    return result;
}

void snwPbcdTrack_Free(snwPbcdTrack* track)
{
    free(track->x);
    *track = (snwPbcdTrack){0};
}

snwVec3 snwPbcdTrack_At(const snwPbcdTrack* track, int frame, int vertex)
{
    const float* x = track->x + 3 * ((size_t)frame * (size_t)track->vertices + (size_t)vertex);
    return (snwVec3){x[0], x[1], x[2]};
}

double snwPbcdTrack_Error(const snwPbcdTrack* track, const snwPbcdTrack* truth)
{
    double sum = 0;
    if (track->diverged || truth->diverged || track->frames != truth->frames)
        return INFINITY;
    for (int f = 0; f < track->frames; ++f)
        for (int i = 0; i < track->vertices; ++i)
            sum += snwVec3_Distance(snwPbcdTrack_At(track, f, i), snwPbcdTrack_At(truth, f, i));
    return sum / ((double)track->frames * track->vertices);
}

// ---------------------------------------------------------------------------------------------------------------------
// Methods

const char* snwPbcdMethod_Name(snwPbcdMethod method)
{
    static const char* const names[snw_pbcdMethodCount] = {
        "PBD", "PBD_substep", "PBD_BDF2", "SMPBD_GS", "SMPBD_Jacobi", "SMPBD_BDF2", "SMPBD_trapezoid"};
    return names[method];
}

enum
{
    snw_substeps = 20 // as many as let PBD with substeps take the time of the others
};

static bool IsSoft(snwPbcdMethod method)
{
    return method >= snw_methodSeidel;
}

static snwPbcdIntegrator Integrator(snwPbcdMethod method)
{
    if (method == snw_methodBdf2 || method == snw_methodSoftBdf2)
        return snw_pbcdBdf2;
    return method == snw_methodSoftTrapezoid ? snw_pbcdTrapezoid : snw_pbcdEuler;
}

snwPbcdVariant snwPbcdMethod_Variant(snwPbcdMethod method, snwPbcdEnd end, double stiffness)
{
    snwPbcdVariant variant = {.solver = IsSoft(method) ? snw_pbcdSmpbd : snw_pbcdPbd,
        .commit = method == snw_methodJacobi ? snw_pbcdJacobi : snw_pbcdSeidel,
        .integrator = Integrator(method),
        .stiffness = stiffness,
        .substeps = 1,
        .iterations = end.most,
        .tolerance = end.tolerance};
    if (method == snw_methodSubsteps)
        variant.substeps = snw_substeps, variant.iterations = 1, variant.tolerance = 0;
    return variant;
}

// The whole range; PBD is stiff at once, so more of it lies near 0.
static const double s_stiffnesses[] = {0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1};

enum
{
    snw_stiffnessCount = sizeof s_stiffnesses / sizeof *s_stiffnesses
};

// One of them; keeps the better of it and the best so far.
static snwResult Try(const snwPbcdScenario* scenario, const snwPbcdVariant* variant, const snwPbcdTrack* truth,
    snwPbcdBest* best, snwMessage* message)
{
    snwPbcdTrack track;
    snwResult result = snwPbcdScenario_Run(scenario, variant, &track, message);
    if (result < 0)
        return result;
    double error = snwPbcdTrack_Error(&track, truth);
    if (best->track.x != NULL && !(error < best->error))
    {
        snwPbcdTrack_Free(&track);
        return snw_ok;
    }
    snwPbcdTrack_Free(&best->track);
    *best = (snwPbcdBest){track, error, variant->stiffness};
    return snw_ok;
}

// The n-th of `count` stiffnesses between the neighbours of the best.
static double RefinedStiffness(double best, int n, int count)
{
    double low = 0, high = 1;
    for (int i = 0; i < snw_stiffnessCount; ++i)
    {
        low = s_stiffnesses[i] < best ? s_stiffnesses[i] : low;
        high = s_stiffnesses[snw_stiffnessCount - 1 - i] > best ? s_stiffnesses[snw_stiffnessCount - 1 - i] : high;
    }
    return low + (high - low) * (n + 1) / (count + 1);
}

snwResult snwPbcdScenario_RunBest(const snwPbcdScenario* scenario, snwPbcdMethod method, snwPbcdEnd end,
    const snwPbcdTrack* truth, snwPbcdBest* best, snwMessage* message)
{
    int first = IsSoft(method) ? 1 : snw_stiffnessCount, count = IsSoft(method) ? 1 : first + end.refined;
    double coarse = 0;
    *best = (snwPbcdBest){.error = NAN, .stiffness = NAN};
    for (int i = 0; i < count; ++i)
    {
        double k = i < first ? s_stiffnesses[i] : RefinedStiffness(coarse, i - first, end.refined);
        snwPbcdVariant variant = snwPbcdMethod_Variant(method, end, k);
        snwResult result = Try(scenario, &variant, truth, best, message);
        if (result < 0)
            return result;
        coarse = i < first ? best->stiffness : coarse;
    }
    best->stiffness = IsSoft(method) ? NAN : best->stiffness;
    return snw_ok;
}
