// Against truths: one step from IPOPT's frames (Fig. 10), energies over time (Fig. 11), a rigid chain (Fig. 14).

#include "apd_bench.h"
#include "truth.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/result.h"

#include <math.h>
#include <string.h>

enum
{
    snw_energyFrames = 120,
    snw_nunchuckFrames = 10
};

static snwResult OpenContext(snwContext** context, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = 1;
    return snwCreateContext(&def, context, message);
}

// The cantilever as the stored truth has it, at rest.
static snwResult CreateCantilever(const snwCharacter* character, snwCantilever version, const snwApdVariant* variant,
    snwSim** sim, snwMessage* message)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.name = "bar";
    body.character = (snwCharacter*)(uintptr_t)character; // retained, not changed
    snwPinDef pin = snwDefaultPinDef();
    pin.name = "wall";
    pin.held = true;
    snwCantilever_Pin(character, version, &pin.lower, &pin.upper);
    snwSceneDef def = snwDefaultSceneDef();
    def.name = "cantilever";
    def.gravity = (snwVec3){0, -SNW_CANTILEVER_GRAVITY, 0};
    def.rate = SNW_CANTILEVER_RATE;
    def.bodies = &body;
    def.bodyCount = 1;
    def.pins = &pin;
    def.pinCount = 1;
    return snwCreateApdSim(character->context, &def, variant, sim, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 10

static const int s_counts[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

enum
{
    snw_countCount = sizeof s_counts / sizeof *s_counts
};

typedef struct Convergence
{
    snwApdRows* rows;
    snwCantilever version;
    const snwCantileverTruth* truth;
    snwSim* sim;
    snwArena arena;
    snwApdPlaces before, now;
    double errors[snw_countCount];
} Convergence;

static snwApdPlaces MakePlaces(snwArena* arena, const snwCharacter* character, const snwTruthState* state)
{
    snwTransform* bones = snwArena_Alloc(arena, (size_t)character->def.boneCount, sizeof *bones);
    for (int k = 0; k < character->def.boneCount && bones != NULL; ++k)
        bones[k] = snwAffine_ToTransform(state->bones[k]);
    return (snwApdPlaces){state->positions, bones};
}

// Eq. 18. The start of the iterations is where inertia leads; what is pinned stays.
static double RelativeError(const Convergence* c)
{
    const snwApdBody* body = snwApd_Body(c->sim, 0);
    const snwVec3 *x = snwApd_GetState(c->sim, 0).positions, *truth = c->truth->frames[2].positions;
    double error = 0, scale = 0;
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        snwVec3 start = body->pinned[i] ? body->before[i] : body->inertial[i];
        error += snwVec3_LengthSquared(snwVec3_Sub(x[i], truth[i]));
        scale += snwVec3_LengthSquared(snwVec3_Sub(start, truth[i]));
    }
    return sqrt(error / scale);
}

static snwResult Converge(Convergence* c, snwMessage* message)
{
    const double h = 1 / SNW_CANTILEVER_RATE;
    snwResult result = snw_ok;
    for (int i = 0; i < snw_countCount && result >= 0; ++i)
    {
        result = snwSim_SetParam(c->sim, "apd.iterations", s_counts[i], message);
        snwApdSim_Place(c->sim, &c->before, &c->now, h);
        if (result >= 0)
            result = snwSim_Step(c->sim, h, message);
        c->errors[i] = RelativeError(c);
    }
    return result;
}

static void AddErrors(Convergence* c, snwBenchFigure* figure)
{
    char name[48];
    snprintf(name, sizeof name, "cantilever-%s", snwCantilever_Name(c->version));
    c->rows->caseName = name;
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOurs, snwCantilever_Name(c->version));
    for (int i = 0; i < snw_countCount; ++i)
    {
        static const char* const metrics[] = {"rel_error@10", "rel_error@100", "rel_error@1000"};
        snwBenchCurve_Add(curve, s_counts[i], c->errors[i]);
        int which = s_counts[i] == 10 ? 0 : s_counts[i] == 100 ? 1 : s_counts[i] == 1000 ? 2 : -1;
        if (which < 0)
            continue;
        snwBenchRow row = snwApdRows_Start(c->rows, "articulated", metrics[which]);
        row.value = c->errors[i];
        if (which == 2)
            snwBenchRow_SetTarget(&row, "<=", 1e-3);
        snprintf(row.note, sizeof row.note, "frame 31 against IPOPT, from its frames 29 and 30");
        snwApdRows_Add(c->rows, &row);
    }
    c->rows->caseName = NULL;
}

// What one frame takes IPOPT here, where it is on this machine.
static void AddIpopt(snwApdRows* rows, const snwCantileverTruth* truth)
{
    snwTruth* problem = NULL;
    snwTruthState next = {0};
    snwTruthReport report;
    snwMessage message = {0};
    snwResult result = snwTruth_IsAvailable()
                           ? snwCantilever_CreateTruth(truth->character, snw_cantileverMixed, &problem, &message)
                           : snw_errorUnsupported;
    if (result >= 0)
        result = snwTruthState_Create(truth->context, truth->character, &next, &message);
    double start = snwClock_Seconds();
    if (result >= 0)
    {
        snwTruth_SetStates(problem, &truth->frames[0], &truth->frames[1]);
        result = snwTruth_Solve(problem, &next, &report, &message);
    }
    rows->caseName = "cantilever-mixed";
    snwBenchRow row = snwApdRows_Start(rows, "ipopt", "step_ms");
    row.value = result >= 0 ? 1e3 * (snwClock_Seconds() - start) : NAN;
    row.paper = 8370;
    if (result < 0)
        snprintf(row.note, sizeof row.note, "%s", message.text[0] != 0 ? message.text : "IPOPT is not on this machine");
    snwApdRows_Add(rows, &row);
    if (next.positions != NULL)
        snwTruthState_Free(truth->context, &next);
    if (problem != NULL)
        snwDestroyTruth(problem);
}

static void AddVersion(snwApdRows* rows, const snwCharacter* builtIn, snwCantilever version, snwBenchFigure* figure)
{
    snwCantileverTruth truth = {0};
    Convergence c = {.rows = rows, .version = version, .truth = &truth};
    snwApdVariant variant = {snw_apdArticulated, 10, 1, snw_elasticCorotated};
    snwResult result = snwCantileverTruth_Load(builtIn, version, &truth, rows->message);
    if (result >= 0)
        result = CreateCantilever(truth.character, version, &variant, &c.sim, rows->message);
    if (result >= 0)
    {
        c.arena.context = truth.context;
        c.before = MakePlaces(&c.arena, truth.character, &truth.frames[0]);
        c.now = MakePlaces(&c.arena, truth.character, &truth.frames[1]);
        result = c.arena.failed ? snwFailMemory(rows->message) : Converge(&c, rows->message);
    }
    rows->result = result;
    if (result >= 0)
        AddErrors(&c, figure);
    if (result >= 0 && version == snw_cantileverMixed)
        AddIpopt(rows, &truth);
    if (c.sim != NULL)
        snwDestroySim(c.sim);
    snwArena_Free(&c.arena);
    snwCantileverTruth_Close(&truth);
}

void snwAddApdErrors(snwApdRows* rows)
{
    snwContext* context = NULL;
    snwCharacter* builtIn = NULL;
    rows->result = OpenContext(&context, rows->message);
    if (rows->result >= 0)
        rows->result = snwCantilever_CreateBuiltIn(context, &builtIn, rows->message);
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig10", "Fig. 10: error against IPOPT over iterations, one step of the cantilever");
    if (figure != NULL)
    {
        figure->logX = figure->logY = true;
        snprintf(figure->xLabel, sizeof figure->xLabel, "iterations, powers of ten");
        snprintf(figure->yLabel, sizeof figure->yLabel, "relative error (Eq. 18), powers of ten");
    }
    for (int i = 0; i < snw_cantileverCount && rows->result >= 0; ++i)
        AddVersion(rows, builtIn, (snwCantilever)i, figure);
    if (builtIn != NULL)
        snwCharacter_Release(builtIn);
    if (context != NULL)
        snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 11

// Above the lowest potential energy that a hanging bar can have: what the start has to give.
static double ToGive(const snwCharacter* character)
{
    double reach = character->upper.x - character->lower.x;
    return character->mass * SNW_CANTILEVER_GRAVITY * 0.5 * reach;
}

// Energy of the whole scene over time; returns its highest rise above the start, J.
static double WatchEnergy(snwSim* sim, double dt, snwBenchCurve* curve, snwMessage* message)
{
    snwMeasures measures;
    double start = 0, most = -INFINITY;
    for (int frame = 0; frame <= snw_energyFrames; ++frame)
    {
        if ((frame > 0 && snwSim_Step(sim, dt, message) < 0) || snwSim_GetMeasures(sim, -1, &measures) < 0)
            return most;
        start = frame == 0 ? measures.energy : start;
        most = frame == 0 ? most : fmax(most, measures.energy - start);
        snwBenchCurve_Add(curve, frame * dt, measures.energy);
    }
    return most;
}

static void AddEnergyRow(
    snwApdRows* rows, const snwApdVariant* variant, const snwCharacter* character, double rise, const snwMessage* end)
{
    snwBenchRow row = snwApdRows_Start(rows, snwApdSolver_Name(variant->solver), "energy_max_over_start");
    row.value = 1 + rise / ToGive(character);
    if (variant->solver == snw_apdArticulated)
        snwBenchRow_SetTarget(&row, "<=", 1);
    snprintf(row.note, sizeof row.note,
        "4 s, %d iterations; 1 + rise over what falling by half its length gives%s%.60s", variant->iterations,
        end->text[0] != 0 ? "; ended: " : "", end->text);
    snwApdRows_Add(rows, &row);
}

static void AddSolverEnergy(
    snwApdRows* rows, const snwCantileverTruth* truth, snwApdVariant variant, snwBenchFigure* figure)
{
    char label[64];
    const char* name = snwApdSolver_Name(variant.solver);
    snprintf(label, sizeof label, variant.iterations > 10 ? "%s, %d iterations" : "%s", name, variant.iterations);
    snwSim* sim = NULL;
    snwMessage message = {0};
    double rise = NAN;
    if (CreateCantilever(truth->character, snw_cantileverMixed, &variant, &sim, &message) >= 0)
        rise = WatchEnergy(
            sim, 1 / SNW_CANTILEVER_RATE, snwBenchFigure_AddCurve(figure, snw_curveOurs, label), &message);
    AddEnergyRow(rows, &variant, truth->character, rise, &message);
    if (sim != NULL)
        snwDestroySim(sim);
}

// The built-in scene as it is.
static void AddSceneEnergy(snwApdRows* rows)
{
    snwApdStage stage;
    snwSim* sim = NULL;
    snwMessage message = {0};
    snwApdVariant variant = {snw_apdArticulated, 10, 1, snw_elasticCorotated};
    rows->caseName = "cantilever";
    rows->result = snwApdStage_Open(&stage, "cantilever", rows->message);
    if (rows->result < 0)
        return;
    double rise = NAN;
    if (snwApdStage_CreateSim(&stage, &variant, &sim, &message) >= 0)
        rise = WatchEnergy(sim, 1 / stage.def->rate, NULL, &message);
    AddEnergyRow(rows, &variant, stage.def->bodies[0].character, rise, &message);
    if (sim != NULL)
        snwDestroySim(sim);
    snwApdStage_Close(&stage);
}

static void AddIpoptEnergy(const snwCantileverTruth* truth, snwBenchFigure* figure)
{
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveReference, "IPOPT, stored");
    for (int i = 0; i <= snw_cantileverFrames; ++i)
        snwBenchCurve_Add(
            curve, i / SNW_CANTILEVER_RATE, truth->energies[i][0] + truth->energies[i][1] + truth->energies[i][2]);
}

void snwAddApdEnergies(snwApdRows* rows)
{
    snwContext* context = NULL;
    snwCharacter* builtIn = NULL;
    snwCantileverTruth truth = {0};
    rows->caseName = "cantilever-mixed";
    rows->result = OpenContext(&context, rows->message);
    if (rows->result >= 0)
        rows->result = snwCantilever_CreateBuiltIn(context, &builtIn, rows->message);
    if (rows->result >= 0)
        rows->result = snwCantileverTruth_Load(builtIn, snw_cantileverMixed, &truth, rows->message);
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig11", "Fig. 11: energy of the cantilever, never above its start");
    if (figure != NULL)
    {
        snprintf(figure->xLabel, sizeof figure->xLabel, "time (s)");
        snprintf(figure->yLabel, sizeof figure->yLabel, "kinetic, elastic and potential energy (J)");
    }
    static const snwApdVariant variants[] = {{snw_apdArticulated, 10, 1, snw_elasticCorotated},
        {snw_apdArticulated, 20, 1, snw_elasticCorotated}, {snw_apdSplit, 10, 1, snw_elasticCorotated},
        {snw_apdSplit, 19, 1, snw_elasticCorotated}, {snw_apdConstrained, 10, 1, snw_elasticCorotated},
        {snw_apdStiff, 10, 1, snw_elasticCorotated}};
    for (size_t i = 0; i < sizeof variants / sizeof *variants && rows->result >= 0; ++i)
        AddSolverEnergy(rows, &truth, variants[i], figure);
    if (rows->result >= 0)
        AddIpoptEnergy(&truth, figure);
    snwCantileverTruth_Close(&truth);
    if (builtIn != NULL)
        snwCharacter_Release(builtIn);
    if (context != NULL)
        snwDestroyContext(context);
    if (rows->result >= 0)
        AddSceneEnergy(rows);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fig. 14

typedef struct Chain
{
    snwApdStage stage;
    snwSceneDef def;
    snwPinDef pin;
    const snwCharacter* character;
    snwAffine truth[2 * snw_nunchuckFrames]; // at 0.1 s, 0.2 s, ...
} Chain;

static snwResult OpenChain(Chain* chain, snwMessage* message)
{
    snwResult result = snwApdStage_Open(&chain->stage, "nunchuck", message);
    if (result < 0)
        return result;
    chain->def = *chain->stage.def;
    chain->character = chain->def.bodies[0].character;
    int corner = snwNunchuck_Corner(chain->character);
    snwVec3 at = chain->character->def.vertices[corner], slack = {1e-5, 1e-5, 1e-5};
    chain->pin = chain->def.pins[0];
    chain->pin.lower = snwVec3_Sub(at, slack);
    chain->pin.upper = snwVec3_Add(at, slack);
    chain->def.pins = &chain->pin;
    snwNunchuckDef truth = snwNunchuck_FromCharacter(chain->character, corner);
    // The paper's blocks measure 2 x 2 x 4, ours a tenth of that: under a tenth of gravity they move alike in time.
    chain->def.gravity = truth.gravity = (snwVec3){0, -0.981, 0};
    snwNunchuckReport report;
    double times[snw_nunchuckFrames];
    for (int i = 0; i < snw_nunchuckFrames; ++i)
        times[i] = 0.1 * (i + 1);
    return snwNunchuck_Solve(&truth, times, snw_nunchuckFrames, chain->truth, &report, message);
}

// Mean square of the distances of all vertices in one frame, m^2.
static double FrameError(const Chain* chain, const snwSim* sim, int frame)
{
    const snwVec3* x = snwApd_GetState(sim, 0).positions;
    const snwCharacter* character = chain->character;
    snwVec3 shift = chain->def.bodies[0].transform.position;
    double sum = 0;
    for (int v = 0; v < character->def.vertexCount; ++v)
    {
        const snwAffine* truth = &chain->truth[2 * frame + character->vertexBones[v]];
        snwVec3 place = snwVec3_Add(snwAffine_Apply(*truth, character->def.vertices[v]), shift);
        sum += snwVec3_LengthSquared(snwVec3_Sub(x[v], place));
    }
    return sum / character->def.vertexCount;
}

// error: root mean square, of the size.
static snwResult RunChain(const Chain* chain, int substeps, double* error, snwMessage* message)
{
    snwApdVariant variant = {snw_apdArticulated, 10, substeps, snw_elasticCorotated};
    snwSim* sim = NULL;
    double sum = 0;
    snwResult result = snwCreateApdSim(chain->stage.context, &chain->def, &variant, &sim, message);
    for (int i = 0; i < snw_nunchuckFrames && result >= 0; ++i)
    {
        result = snwSim_Step(sim, 0.1, message);
        sum += FrameError(chain, sim, i);
    }
    if (sim == NULL)
        return result;
    *error = sqrt(sum / snw_nunchuckFrames) / snwApdSim_Size(sim);
    snwDestroySim(sim);
    return result;
}

enum
{
    snw_substepKinds = 3
};

static const int s_substeps[snw_substepKinds] = {1, 10, 100};

static void AddChain(snwApdRows* rows, const Chain* chain, snwBenchFigure* figure)
{
    static const char* const metrics[snw_substepKinds] = {"nunchuck_err@1", "nunchuck_err@10", "nunchuck_err@100"};
    double errors[snw_substepKinds] = {0};
    snwBenchCurve* ours = snwBenchFigure_AddCurve(figure, snw_curveOurs, "against Runge-Kutta");
    snwBenchCurve* slope = snwBenchFigure_AddCurve(figure, snw_curveReference, "first order");
    rows->caseName = "nunchuck";
    for (int i = 0; i < snw_substepKinds && rows->result >= 0; ++i)
    {
        rows->result = RunChain(chain, s_substeps[i], &errors[i], rows->message);
        snwBenchCurve_Add(ours, s_substeps[i], errors[i]);
        snwBenchCurve_Add(slope, s_substeps[i], errors[0] / s_substeps[i]);
        snwBenchRow row = snwApdRows_Start(rows, "articulated", metrics[i]);
        row.value = errors[i];
        if (i > 0)
            snwBenchRow_SetTarget(&row, "<=", errors[i - 1] / 7);
        snprintf(row.note, sizeof row.note, "%s",
            "root mean square over vertices and ten frames of 0.1 s, over the size; blocks and gravity a tenth");
        snwApdRows_Add(rows, &row);
    }
}

void snwAddApdNunchuck(snwApdRows* rows)
{
    Chain chain = {0};
    rows->result = OpenChain(&chain, rows->message);
    snwBenchFigure* figure = snwBenchReport_AddFigure(
        rows->report, "fig14", "Fig. 14: a rigid chain over the first second, steps of 0.1 s");
    if (figure != NULL)
    {
        figure->logX = figure->logY = true;
        snprintf(figure->xLabel, sizeof figure->xLabel, "substeps, powers of ten");
        snprintf(figure->yLabel, sizeof figure->yLabel, "error over size, powers of ten");
    }
    if (rows->result >= 0)
        AddChain(rows, &chain, figure);
    snwApdStage_Close(&chain.stage);
}
