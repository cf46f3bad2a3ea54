// The method skelfem (skelfem.h): its parameters, the substep that takes bodies and props that touch to one minimum,
// and what it tells of its solves.

#include "sim/skelfem/skelfem.h"

#include "sim/laws.h"
#include "sim/methods.h"

#include <math.h>
#include <string.h>

enum
{
    skelfem_stageBegin,
    skelfem_stageDetect,
    skelfem_stageNewton,
    skelfem_stageContact,
    skelfem_stageFinish,
    skelfem_stageCount,

    skelfem_touchRounds = 30, // of bodies, props and learning, where anything touches
};

static const char* const s_stages[skelfem_stageCount] = {"begin", "detect", "newton", "contact", "finish"};

static const char* const s_presets[] = {"own", "paper", NULL};
static const char* const s_rules[] = {"euler", "bdf2", "newmark", NULL};
static const char* const s_solvers[] = {"gradients", "cycles", "jacobi", NULL};
static const char* const s_unknowns[] = {"six", "three", NULL};
static const char* const s_cycles[] = {"v11", "v21", "w11", NULL};
static const char* const s_holds[] = {"mask", "greedy", "peel", NULL};
static const char* const s_masses[] = {"lumped", "consistent", NULL};

// What the preset `paper` has in place of the parameters, by their order; NAN: what they say.
static const double s_paper[snw_skelfemParamCount] = {
    [snw_skelfemPreset] = NAN,
    [snw_skelfemRule] = snw_ruleNewmark,
    [snw_skelfemNewton] = 1,
    [snw_skelfemTolerance] = NAN,
    [snw_skelfemSolver] = snw_gridCycles,
    [snw_skelfemCycles] = 2,
    [snw_skelfemLinear] = NAN,
    [snw_skelfemUnknowns] = 1,
    [snw_skelfemCycle] = 1,
    [snw_skelfemHold] = snw_holdGreedy,
    [snw_skelfemMass] = NAN,
    [snw_skelfemDamping] = NAN,
    [snw_skelfemRayleigh] = NAN,
    [snw_skelfemStops] = 0,
    [snw_skelfemSelf] = NAN,
};

double snwSkelfem_Param(const double* params, int param)
{
    const double* own = params + snw_sharedParamCount;
    return own[snw_skelfemPreset] == 0 || isnan(s_paper[param]) ? own[param] : s_paper[param];
}

static const snwParamInfo s_params[snw_skelfemParamCount] = {
    [snw_skelfemPreset] = {.name = "skelfem.preset",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .choices = s_presets,
        .help =
            "own: as the other parameters say; paper: one linear solution per substep by two V(2,1) cycles with three "
            "unknowns per coarse vertex, Newmark's rule, the greedy rule for what is held"},
    [snw_skelfemRule] = {.name = "skelfem.rule",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 2,
        .initial = snw_ruleBdf2,
        .choices = s_rules,
        .live = true,
        .help = "of time integration: euler (backward, damps), bdf2 (second order) or newmark (second order, may gain "
                "energy where flesh turns far); near contact all are euler"},
    [snw_skelfemNewton] = {.name = "skelfem.newton",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 100,
        .initial = 6,
        .live = true,
        .help = "Newton steps in a substep, at most; 1: one linear solution"},
    [snw_skelfemTolerance] = {.name = "skelfem.tolerance",
        .type = snw_paramReal,
        .unit = "",
        .lower = 1e-12,
        .upper = 1,
        .initial = 1e-2,
        .live = true,
        .help =
            "a substep is done when a Newton step moves no vertex by more than this part of what the first one did"},
    [snw_skelfemSolver] = {.name = "skelfem.solver",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 2,
        .initial = snw_gridGradients,
        .choices = s_solvers,
        .live = true,
        .help = "of the linear systems: gradients (conjugate, a cycle in each iteration), cycles alone, or jacobi "
                "(conjugate gradients with the diagonal: what multigrid is measured against)"},
    [snw_skelfemCycles] = {.name = "skelfem.cycles",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 10000,
        .initial = 60,
        .live = true,
        .help = "iterations of a linear solution, at most; with solver cycles so many cycles"},
    [snw_skelfemLinear] = {.name = "skelfem.linear",
        .type = snw_paramReal,
        .unit = "",
        .lower = 1e-12,
        .upper = 1,
        .initial = 1e-2,
        .live = true,
        .help = "part of the forces that a linear solution may leave"},
    [snw_skelfemUnknowns] = {.name = "skelfem.unknowns",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .choices = s_unknowns,
        .help = "of a coarse vertex: six (it moves and turns) or three (it moves, as published)"},
    [snw_skelfemCycle] = {.name = "skelfem.cycle",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 2,
        .initial = 0,
        .choices = s_cycles,
        .help = "of the grid: v11 (one sweep on the way down and up), v21 (two and one, as published) or w11"},
    [snw_skelfemHold] = {.name = "skelfem.hold",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 2,
        .initial = snw_holdMask,
        .choices = s_holds,
        .live = true,
        .help = "how held vertices go on to coarse ones: mask (motions that nobody feels are left out), greedy (as "
                "published) or peel (full rank with three unknowns)"},
    [snw_skelfemMass] = {.name = "skelfem.mass",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .choices = s_masses,
        .help = "lumped at the vertices, or consistent with the elements"},
    [snw_skelfemDamping] = {.name = "skelfem.damping",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 0,
        .live = true,
        .help =
            "how fast all motion dies, of bodies and props, as in thick air: a force of so many times the momentum"},
    [snw_skelfemRayleigh] = {.name = "skelfem.rayleigh",
        .type = snw_paramReal,
        .unit = "s",
        .lower = 0,
        .upper = 10,
        .initial = 0,
        .live = true,
        .help = "damping of strain: that many seconds times the stiffness; added to what the materials' damping makes"},
    [snw_skelfemStops] = {.name = "skelfem.stops",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 1,
        .live = true,
        .help =
            "flesh below a fifth of its volume resists being squeezed further, so that it rests inside out under no "
            "load; off: the corotated law alone, as published"},
    [snw_skelfemSelf] = {.name = "skelfem.self",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .help = "contact of each body with itself; bodies always touch each other"},
};

static const snwParamInfo s_substeps = {.name = "sim.substeps",
    .type = snw_paramInt,
    .unit = "",
    .lower = 1,
    .upper = 1000,
    .initial = 2,
    .live = true,
    .help = "equal parts into which each step is cut"};

static const snwMeasureInfo s_measures[snw_skelfemMeasureCount] = {
    [snw_skelfemMeasureNewton] = {"newton", "", "Newton steps of the last substep"},
    [snw_skelfemMeasureCycles] = {"cycles", "", "cycles of all linear solutions of the last substep"},
    [snw_skelfemMeasureLinear] = {"linear_residual", "", "part of the forces that the last linear solution left"},
    [snw_skelfemMeasureFallbacks] = {"fallbacks", "",
        "linear solutions of the last substep that the grid did not find"},
    [snw_skelfemMeasureHeldX] = {"held.x", "N", "what it takes to hold all that is held against the flesh"},
    [snw_skelfemMeasureHeldY] = {"held.y", "N", "what it takes to hold all that is held against the flesh"},
    [snw_skelfemMeasureHeldZ] = {"held.z", "N", "what it takes to hold all that is held against the flesh"},
};

// ---------------------------------------------------------------------------------------------------------------------
// Scratch

static snwResult CreateSkelfemScratch(snwSim* sim, snwMessage* message)
{
    snwSkelfemScratch* scratch = snwArena_Alloc(&sim->arena, 1, sizeof *scratch);
    sim->scratch = scratch;
    if (scratch == NULL)
        return snwFailMemory(message);
    scratch->bodies = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->bodies);
    scratch->groups = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount + 1, sizeof *scratch->groups);
    if (sim->arena.failed)
        return snwFailMemory(message);
    snwResult result = snw_ok;
    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
        result = snwSkelfem_CreateBody(sim, i, message);
    return result < 0 ? result : snwSkelfem_CreateTouches(sim, message);
}

static void DestroySkelfemScratch(snwSim* sim)
{
    const snwSkelfemScratch* scratch = sim->scratch;
    for (int i = 0; i < sim->bodyCount && scratch != NULL && scratch->bodies != NULL; ++i)
        snwSkelfem_DestroyBody(&scratch->bodies[i]);
    if (scratch != NULL)
        snwDestroyResponse(scratch->response);
}

// ---------------------------------------------------------------------------------------------------------------------
// The substep

// Bodies that nothing couples do not wait for each other.
static void MakeGroups(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    bool props = sim->def->propCount > 0;
    scratch->groupCount = 0;
    if (scratch->coupled)
        scratch->groups[scratch->groupCount++] = (snwSkelfemGroup){.end = sim->bodyCount, .props = props};
    for (int i = 0; i < sim->bodyCount && !scratch->coupled; ++i)
        scratch->groups[scratch->groupCount++] = (snwSkelfemGroup){.first = i, .end = i + 1};
    if (props && !scratch->coupled)
        scratch->groups[scratch->groupCount++] = (snwSkelfemGroup){.props = true};
}

static bool IsGroupNear(const snwSim* sim, const snwSkelfemGroup* group)
{
    bool near = group->props;
    for (int i = group->first; i < group->end; ++i)
        near = near || snwSkelfem_Body(sim, i)->near;
    return near;
}

// m: a Newton step that moves nothing by more ends a substep. It is a part of what the first one did, for in short
// substeps all ways are short; of props alone, of how far they came.
static double EnoughOf(const snwSim* sim, const snwSkelfemGroup* group, double first)
{
    const snwResponse* response = ((const snwSkelfemScratch*)sim->scratch)->response;
    double edge = INFINITY, way = 0, tolerance = snwSkelfem_Setting(sim, snw_skelfemTolerance);
    for (int i = group->first; i < group->end; ++i)
        edge = fmin(edge, sim->bodies[i].character->meanEdge);
    if (group->first < group->end)
        return tolerance * fmin(fmax(first, 1e-6 * edge), 0.1 * edge);
    for (int p = 0; p < sim->def->propCount; ++p)
        way = fmax(way, snwVec3_Distance(response->props[p].before.position, response->props[p].transform.position));
    return tolerance * fmax(first, way);
}

// Newton's steps and learning by turns, until nothing moves any more by what counts.
static void SolveBodies(snwSim* sim)
{
    snwSkelfemScratch* scratch = sim->scratch;
    int newton = (int)snwSkelfem_Setting(sim, snw_skelfemNewton);
    int rounds = scratch->touchCount > 0 && newton < skelfem_touchRounds ? skelfem_touchRounds : newton;
    bool moves = true;

    MakeGroups(sim);
    for (int round = 0; round < rounds && moves; ++round)
    {
        double least = INFINITY;
        moves = false;
        snwSkelfem_LookAtTouches(sim);
        for (int i = 0; i < scratch->groupCount; ++i)
        {
            // What nothing is near needs no more rounds than it asked for.
            snwSkelfemGroup* group = &scratch->groups[i];
            if (round > 0 && !IsGroupNear(sim, group) && (round >= newton || group->longest <= group->enough))
                continue;
            group->longest = snwSkelfem_Iterate(sim, group);
            if (round == 0)
                group->enough = EnoughOf(sim, group, group->longest);
            moves |= group->longest > group->enough;
            least = fmin(least, group->enough);
        }

        snwSim_EndStage(sim, skelfem_stageNewton);

        // Loads are learned only where the step went its way: else there is nothing true to learn from.
        bool learn = true;
        for (int i = 0; i < scratch->groupCount; ++i)
            learn = learn && scratch->groups[i].share > 0.9;
        if (scratch->touchCount > 0 && learn)
            moves |= snwSkelfem_LearnTouches(sim, round) > least;
        snwSim_EndStage(sim, skelfem_stageContact);
    }
}

static void TellTally(snwSim* sim, int index)
{
    const snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    snwSim_SetResidual(sim, index, body->tally.longest, "more skelfem.newton, or more substeps");
    if (body->tally.fallbacks > 0)
        snwSim_Warn(sim, snw_warnMethod, index, "more substeps",
            "the grid found no way for '%s': conjugate gradients went on", sim->def->bodies[index].name);
    snwSkelfem_TellHeld(sim, index);
}

static snwResult StepSkelfem(snwSim* sim, double h, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwResult result = snwSkelfem_Prepare(sim, i, message);
        if (result < 0)
            return result;
        snwSkelfem_Predict(sim, i, h);
    }

    snwSim_EndStage(sim, skelfem_stageBegin);
    snwSkelfem_GatherTouches(sim, h); // where inertia leads: nothing is met by staying
    snwSim_EndStage(sim, skelfem_stageDetect);

    // Each body's rule of time; what touches is as stiff as what it touches, and then the best guess can be chosen.
    for (int i = 0; i < sim->bodyCount; ++i)
        snwSkelfem_Begin(sim, i, h);
    snwSkelfem_StiffenTouches(sim, h);
    for (int i = 0; i < sim->bodyCount; ++i)
        snwSkelfem_ChooseStart(sim, i);
    snwSim_EndStage(sim, skelfem_stageBegin);

    SolveBodies(sim);

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        if (sim->lastSubstep)
            TellTally(sim, i);
        snwSkelfem_Finish(sim, i, h);
        snwSkelfem_TellGain(sim, i);
    }

    snwSim_EndStage(sim, skelfem_stageFinish);
    snwSkelfem_FinishTouches(sim, h);
    snwSim_EndStage(sim, skelfem_stageContact);
    for (int i = 0; i < sim->bodyCount && sim->lastSubstep; ++i)
        snwSkelfem_Publish(sim, i);
    snwSim_EndStage(sim, skelfem_stageFinish);

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What it tells

static void GetSkelfemMeasures(const snwSim* sim, int index, double* values)
{
    const snwSkelfemTally* tally = &snwSkelfem_Body(sim, index)->tally;
    values[snw_skelfemMeasureNewton] = tally->newton;
    values[snw_skelfemMeasureCycles] = tally->cycles;
    values[snw_skelfemMeasureLinear] = tally->linear;
    values[snw_skelfemMeasureFallbacks] = tally->fallbacks;
    values[snw_skelfemMeasureHeldX] = tally->held.x;
    values[snw_skelfemMeasureHeldY] = tally->held.y;
    values[snw_skelfemMeasureHeldZ] = tally->held.z;
}

const snwMethod snwSkelfemMethod = {
    .name = "skelfem",
    .title = "corotated finite elements on geometric multigrid",
    .source = "Georgii, Lagler, Dick, Westermann: Interactive Deformations with Multigrid Skeletal Constraints, 2010",
    .features = snw_featurePins | snw_featureDrag | snw_featurePush | snw_featureColliders | snw_featureProps |
                snw_featureTets,
    .params = s_params,
    .paramCount = snw_skelfemParamCount,
    .substeps = &s_substeps,
    .stages = s_stages,
    .stageCount = skelfem_stageCount,
    .measures = s_measures,
    .measureCount = snw_skelfemMeasureCount,
    .createShape = snwSkelfem_CreateShape,
    .destroyShape = snwSkelfem_DestroyShape,
    .checkMaterial = snwSkelfem_CheckMaterial,
    .createModel = snwSkelfem_CreateModel,
    .destroyModel = snwSkelfem_DestroyModel,
    .bodyStateSize = snwSkelfem_StateSize,
    .initBody = snwSkelfem_InitBody,
    .isSound = snwSkelfem_IsSound,
    .createScratch = CreateSkelfemScratch,
    .destroyScratch = DestroySkelfemScratch,
    .step = StepSkelfem,
    .getVertices = snwSkelfem_GetVertices,
    .getBones = snwSkelfem_GetBones,
    .getMeasures = GetSkelfemMeasures,
};
