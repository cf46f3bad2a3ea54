// What the paper shows in pictures, as numbers: locking, a shell that turns, explosions, loops, hard ratios.

#include "apd_bench.h"
#include "truth.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

enum
{
    snw_shellFrames = 90, // 1.5 s: it has hit the ball and slipped
    snw_explosionFrames = 20,
    snw_loopSeconds = 60,
    snw_ratioFrames = 90
};

// Why a run ended, or "".
typedef struct Run
{
    snwSim* sim;
    double dt;
    snwMessage message;
    int frames; // done
    bool failed;
} Run;

static void OpenRun(Run* run, const snwApdStage* stage, const snwApdVariant* variant)
{
    *run = (Run){.dt = 1 / stage->def->rate};
    run->failed = snwApdStage_CreateSim(stage, variant, &run->sim, &run->message) < 0;
}

static bool StepRun(Run* run)
{
    if (run->failed)
        return false;
    run->failed = snwSim_Step(run->sim, run->dt, &run->message) < 0;
    run->frames += !run->failed;
    return !run->failed;
}

static void CloseRun(Run* run)
{
    if (run->sim != NULL)
        snwDestroySim(run->sim);
}

static void NoteEnd(snwBenchRow* row, const Run* run)
{
    size_t used = strlen(row->note);
    if (run->failed)
        snprintf(row->note + used, sizeof row->note - used, "%sended at frame %d: %.80s", used > 0 ? "; " : "",
            run->frames, run->message.text);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 1

static double BoneAngle(const snwSim* sim)
{
    snwTransforms bones;
    return snwSim_GetBones(sim, 0, &bones) < 0 || bones.count == 0 ? NAN : snwTurnedAngle(bones.data[0].rotation);
}

static double RunLocking(snwApdRows* rows, const snwApdStage* stage, snwApdSolver solver, snwBenchFigure* figure)
{
    Run run;
    snwApdVariant variant = snwMakeApdVariant(solver);
    OpenRun(&run, stage, &variant);
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOurs, snwApdSolver_Name(solver));
    double most = 0;
    for (int i = 0; i < (int)lround(2 * stage->def->rate) && StepRun(&run); ++i)
    {
        most = fmax(most, BoneAngle(run.sim));
        snwBenchCurve_Add(curve, snwSim_GetTime(run.sim), BoneAngle(run.sim));
    }
    snwBenchRow row = snwApdRows_Start(rows, snwApdSolver_Name(solver), "locking_angle");
    row.value = run.frames > 0 ? most : NAN;
    snprintf(
        row.note, sizeof row.note, "how far the bone turns in 2 s, bones 500 times as stiff where they are imitated");
    NoteEnd(&row, &run);
    snwApdRows_Add(rows, &row);
    CloseRun(&run);
    return row.value;
}

void snwAddApdLocking(snwApdRows* rows)
{
    snwApdStage stage;
    rows->caseName = "locking";
    rows->result = snwApdStage_Open(&stage, "locking", rows->message);
    if (rows->result < 0)
        return;
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig1", "Fig. 1: stiffness instead of a bone locks its rotation");
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "time (s)");
        snprintf(figure->yLabel, sizeof figure->yLabel, "angle of the bone (degrees)");
    }
    for (int solver = 0; solver < snw_apdSolverCount; ++solver)
        if (solver != snw_apdLiteral) // the same as articulated
            RunLocking(rows, &stage, (snwApdSolver)solver, figure);
    snwApdStage_Close(&stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 6

// Volume of a bone's elements over that at rest.
static double BoneVolume(const snwSim* sim, int bone)
{
    const snwCharacter* character = sim->bodies[0].character;
    const snwVec3* x = snwApd_GetState(sim, 0).positions;
    double now = 0, rest = 0;
    for (int e = 0; e < character->def.tetCount; ++e)
    {
        const int* c = character->def.tets[e];
        if (character->def.elementBones[e] != bone)
            continue;
        rest += character->restVolumes[e];
        now += snwMat3_Determinant(snwMat3_FromColumns(
                   snwVec3_Sub(x[c[1]], x[c[0]]), snwVec3_Sub(x[c[2]], x[c[0]]), snwVec3_Sub(x[c[3]], x[c[0]]))) /
               6;
    }
    return rest > 0 ? now / rest : NAN;
}

static void RunShell(snwApdRows* rows, const snwApdStage* stage, snwApdSolver solver, snwBenchFigure* figure)
{
    Run run;
    snwApdVariant variant = snwMakeApdVariant(solver);
    const char* name = snwApdSolver_Name(solver);
    OpenRun(&run, stage, &variant);
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOurs, name);
    double volume = 0, rigidity = 0, angle = NAN;
    snwQuat back = snwQuat_Conjugate(stage->def->bodies[0].transform.rotation);
    for (int i = 0; i < snw_shellFrames && StepRun(&run); ++i)
    {
        snwTransforms bones;
        if (snwSim_GetBones(run.sim, 0, &bones) < 0)
            break;
        angle = snwTurnedAngle(snwQuat_Mul(bones.data[0].rotation, back));
        volume = fmax(volume, fabs(BoneVolume(run.sim, 0) - 1));
        if (i % 5 == 4)
            rigidity = fmax(rigidity, snwApdSim_Rigidity(run.sim));
        snwBenchCurve_Add(curve, snwSim_GetTime(run.sim), angle);
    }
    snwBenchRow row = snwApdRows_Start(rows, name, "shell_rotation");
    row.value = angle;
    snprintf(row.note, sizeof row.note, "after %g s", snw_shellFrames * run.dt);
    NoteEnd(&row, &run);
    snwApdRows_Add(rows, &row);
    row = snwApdRows_Start(rows, name, "shell_rigidity");
    row.value = run.frames > 0 ? rigidity : NAN;
    if (solver == snw_apdArticulated)
        snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "largest change of the shell's volume %.2g", volume);
    NoteEnd(&row, &run);
    snwApdRows_Add(rows, &row);
    CloseRun(&run);
}

void snwAddApdSnail(snwApdRows* rows)
{
    static const snwApdSolver solvers[] = {snw_apdArticulated, snw_apdPlain, snw_apdStiff};
    snwApdStage stage;
    rows->caseName = "snail";
    rows->result = snwApdStage_Open(&stage, "snail", rows->message);
    if (rows->result < 0)
        return;
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig6", "Fig. 6: a snail falls on a ball; how its shell turns");
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "time (s)");
        snprintf(figure->yLabel, sizeof figure->yLabel, "angle of the shell (degrees)");
    }
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; ++i)
        RunShell(rows, &stage, solvers[i], figure);
    snwApdStage_Close(&stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 12

// Relative change of an edge: flesh at a hook may well be three times as long as at rest, not ten times.
static const double s_exploded = 9;

static void RunExplosion(snwApdRows* rows, const snwApdStage* stage, snwApdSolver solver)
{
    Run run;
    snwApdVariant variant = snwMakeApdVariant(solver);
    double stretch = 0;
    int exploded = -1;
    OpenRun(&run, stage, &variant);
    for (int i = 0; i < snw_explosionFrames && exploded < 0 && run.sim != NULL; ++i)
    {
        snwMeasures measures;
        bool done = StepRun(&run);
        if (done && snwSim_GetMeasures(run.sim, 0, &measures) >= 0)
            stretch = fmax(stretch, measures.maxStretch);
        if (!done || stretch > s_exploded)
            exploded = i + 1;
    }
    snwBenchRow row = snwApdRows_Start(rows, snwApdSolver_Name(solver), "stable_frames");
    row.value = exploded < 0 ? run.frames : exploded - 1;
    if (solver == snw_apdSplit)
        row.paper = 2;
    if (solver == snw_apdArticulated)
        snwBenchRow_SetTarget(&row, ">=", snw_explosionFrames);
    if (exploded > 0)
        snprintf(row.note, sizeof row.note, "explodes in frame %d; largest stretch of an edge %.3g", exploded, stretch);
    else
        snprintf(row.note, sizeof row.note, "all that were run; largest stretch of an edge %.3g", stretch);
    if (run.sim == NULL)
        row.value = NAN;
    NoteEnd(&row, &run);
    snwApdRows_Add(rows, &row);
    CloseRun(&run);
}

void snwAddApdExplosion(snwApdRows* rows)
{
    snwApdStage stage;
    rows->caseName = "monster-hanging";
    rows->result = snwApdStage_Open(&stage, "monster-hanging", rows->message);
    if (rows->result < 0)
        return;
    RunExplosion(rows, &stage, snw_apdArticulated);
    RunExplosion(rows, &stage, snw_apdSplit);
    snwApdStage_Close(&stage);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 15

static void RunLoop(snwApdRows* rows, const char* scene)
{
    snwApdStage stage;
    Run run;
    snwApdVariant variant = snwMakeApdVariant(snw_apdArticulated);
    rows->caseName = scene;
    rows->result = snwApdStage_Open(&stage, scene, rows->message);
    if (rows->result < 0)
        return;
    OpenRun(&run, &stage, &variant);
    double gap = 0;
    int frames = (int)lround(snw_loopSeconds * stage.def->rate);
    for (int i = 0; i < frames && StepRun(&run); ++i)
        gap = fmax(gap, snwApdSim_JointGap(run.sim));
    snwBenchRow row = snwApdRows_Start(rows, "articulated", "loop_gap_60s");
    row.value = run.frames == frames ? gap : NAN;
    snwBenchRow_SetTarget(&row, "<=", 1e-6);
    snprintf(row.note, sizeof row.note, "worst of %d frames", run.frames);
    NoteEnd(&row, &run);
    snwApdRows_Add(rows, &row);
    CloseRun(&run);
    snwApdStage_Close(&stage);
}

void snwAddApdLoops(snwApdRows* rows)
{
    RunLoop(rows, "bracelet");
    if (rows->result >= 0)
        RunLoop(rows, "fourbar");
}

// ---------------------------------------------------------------------------------------------------------------------
// Ratios of 1:1000

typedef struct Ratio
{
    const char* name;
    snwMaterial flesh, bone; // the bone's is that of the far half of the flesh where `halves`
    bool halves;
} Ratio;

#define MATERIAL(kg, Pa)                                                                                               \
    {                                                                                                                  \
        .density = (kg), .young = (Pa), .poisson = 0.4                                                                 \
    }

static const Ratio s_ratios[] = {
    {"mass-heavy-bones", MATERIAL(100, 5e4), MATERIAL(1e5, 5e4), false},
    {"mass-light-bones", MATERIAL(1000, 2e5), MATERIAL(1, 2e5), false},
    {"mass-halves", MATERIAL(10, 2e5), MATERIAL(1e4, 2e5), true},
    {"stiffness-halves", MATERIAL(1000, 2e4), MATERIAL(1000, 2e7), true},
};

static bool IsSecond(const Ratio* ratio, const snwCharacter* character, int tet)
{
    if (!ratio->halves)
        return character->def.elementBones[tet] >= 0;
    return character->def.vertices[character->def.tets[tet][0]].x > 0.5 * (character->lower.x + character->upper.x);
}

// The mixed cantilever with two materials.
static snwResult CreateUneven(
    const snwCharacter* mixed, const Ratio* ratio, snwCharacter** character, snwMessage* message)
{
    snwContext* context = mixed->context;
    const snwMaterial materials[2] = {ratio->flesh, ratio->bone};
    snwCharacterDef def = mixed->def;
    int* regions = snwAllocArray(context, (size_t)def.tetCount, sizeof *regions);
    if (regions == NULL)
        return snwFailMemory(message);
    for (int e = 0; e < def.tetCount; ++e)
        regions[e] = IsSecond(ratio, mixed, e);
    def.regions = regions;
    def.masses = NULL;
    def.materials = materials;
    def.materialCount = 2;
    snwResult result = snwCreateCharacter(context, &def, character, message);
    snwFree(context, regions);
    return result;
}

static snwResult CreateHanging(snwCharacter* character, Run* run)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.name = "bar";
    body.character = character;
    snwPinDef pin = snwDefaultPinDef();
    pin.name = "wall";
    pin.held = true;
    snwCantilever_Pin(character, snw_cantileverMixed, &pin.lower, &pin.upper);
    snwSceneDef def = snwDefaultSceneDef();
    def.name = "ratio";
    def.bodies = &body;
    def.bodyCount = 1;
    def.pins = &pin;
    def.pinCount = 1;
    snwApdVariant variant = {snw_apdArticulated, 10, 1, snw_elasticCorotated};
    *run = (Run){.dt = 1 / SNW_CANTILEVER_RATE};
    snwResult result = snwCreateApdSim(character->context, &def, &variant, &run->sim, &run->message);
    run->failed = result < 0;
    return result;
}

// Stable: all frames done, joints closed, and no more energy than the start had; a hundredth is granted to a few
// iterations (energy_max_over_start is about that).
static void RunRatio(snwApdRows* rows, const snwCharacter* mixed, const Ratio* ratio)
{
    Run run = {0};
    snwCharacter* character = NULL;
    rows->caseName = ratio->name;
    rows->result = CreateUneven(mixed, ratio, &character, rows->message);
    if (rows->result < 0 || character == NULL)
        return;
    CreateHanging(character, &run);
    double start = 0, most = -INFINITY, gap = 0, scale = character->mass * 9.81 * 0.5;
    for (int i = 0; i <= snw_ratioFrames && run.sim != NULL; ++i)
    {
        snwMeasures measures;
        if ((i > 0 && !StepRun(&run)) || snwSim_GetMeasures(run.sim, -1, &measures) < 0)
            break;
        start = i == 0 ? measures.energy : start;
        most = i == 0 ? most : fmax(most, (measures.energy - start) / scale);
        gap = fmax(gap, snwApdSim_JointGap(run.sim));
    }
    snwBenchRow row = snwApdRows_Start(rows, "articulated", "stable");
    row.value = run.frames == snw_ratioFrames && most <= 0.01 && gap <= 1e-6;
    snwBenchRow_SetTarget(&row, "==", 1);
    snprintf(row.note, sizeof row.note, "1:1000, 3 s; energy above the start %.2g of what it can give, joint gap %.1g",
        most, gap);
    NoteEnd(&row, &run);
    snwApdRows_Add(rows, &row);
    CloseRun(&run);
    snwCharacter_Release(character);
}

void snwAddApdRatios(snwApdRows* rows)
{
    snwContext* context = NULL;
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    snwCharacter *builtIn = NULL, *mixed = NULL;
    rows->result = snwCreateContext(&def, &context, rows->message);
    if (rows->result >= 0)
        rows->result = snwCantilever_CreateBuiltIn(context, &builtIn, rows->message);
    if (rows->result >= 0)
        rows->result = snwCantilever_CreateCharacter(builtIn, snw_cantileverMixed, &mixed, rows->message);
    for (size_t i = 0; i < sizeof s_ratios / sizeof *s_ratios && rows->result >= 0; ++i)
        RunRatio(rows, mixed, &s_ratios[i]);
    if (mixed != NULL)
        snwCharacter_Release(mixed);
    if (builtIn != NULL)
        snwCharacter_Release(builtIn);
    if (context != NULL)
        snwDestroyContext(context);
}
