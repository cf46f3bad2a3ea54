// The linear solver of skelfem against the field's (Fig. 5 of the paper): bodies whose matrix changes in every step, so
// that setting up is part of the time, to a residual of 1e-6 of the matrix in double. Processor time of one thread, the
// least of a few turns; ours take place before and after the others'.

#include "skelfem_bench.h"

#include "kernels_measure.h"
#include "peer_cholmod.h"
#include "skelfem_curves.h"
#include "skelfem_matrix.h"

#include "base/result.h"

#include <math.h>
#include <stdlib.h>

static const double s_tolerance = 1e-6, s_step = 0.02; // s

typedef struct Targets
{
    double iterations, jacobi, gamg, cholmod; // NAN: none
} Targets;

typedef struct Case
{
    const char* name;
    int cells[3];          // of a bar
    const char* character; // or one of the cast
    int tets;
    bool full;             // only with --full
    Targets still, moving; // h = 0 and 20 ms
} Case;

static const Case s_cases[] = {
    {"bar 24,576", {64, 8, 8}, NULL, 0, false, {12, 9, 9, 11}, {10, 6, 9, 11}},
    {"bar 196,608", {128, 16, 16}, NULL, 0, false, {12, 30, 11, 20}, {10, 15, 11, 20}},
    {"bar 1,572,864", {256, 32, 32}, NULL, 0, true, {13, 60, 14, NAN}, {11, 40, 14, NAN}},
    {"manikin 14,062", {0}, "manikin", 14062, false, {NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}},
    {"dragon 67,309", {0}, "dragon", 67309, false, {45, 8, 5, 1.5}, {18, 2, 5, 3}},
    {"horse 24,000", {0}, "horse", 24000, false, {NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}},
};

enum
{
    snw_caseCount = sizeof s_cases / sizeof *s_cases,
    snw_mostCholmodRows = 200000 // beyond that its factor does not fit into the memory of an ordinary machine
};

// ---------------------------------------------------------------------------------------------------------------------
// Rows

static snwBenchRow MakeRow(const Case* c, double h, const char* metric, const char* op, double target)
{
    char name[48];
    snprintf(name, sizeof name, "%s, %s", c->name, h > 0 ? "h = 20 ms" : "static");
    snwBenchRow row = snwMakeBenchRow(name, "skelfem", metric);
    row.n = 1;
    if (isfinite(target))
        snwBenchRow_SetTarget(&row, op, target);
    return row;
}

static void AddRatio(snwBenchRows* rows, const Case* c, double h, const char* metric, double target, double peerMs,
    double oursMs, const char* peer, const char* note)
{
    snwBenchRow row = MakeRow(c, h, metric, ">=", target);
    row.value = peerMs > 0 ? peerMs / oursMs : NAN;
    row.peer = peerMs > 0 ? peerMs : NAN;
    snprintf(row.peerName, sizeof row.peerName, "%s", peer);
    snprintf(row.note, sizeof row.note, "%.150s", note);
    snwBenchRows_Add(rows, &row);
}

// What others take for the same, ms; below 0: there is none, and why.
typedef struct Others
{
    double jacobiMs, cholmodMs;
    int jacobiIterations;
    const char *cholmodWhy, *petscWhy;
    bool petsc;
    snwPetscTimes petscTimes;
} Others;

static void MeasureCholmod(Others* others, const snwFemMatrix* matrix)
{
    enum
    {
        snw_cholmodTurns = 2
    };
    snwSparse lower = {0};
    snwCholmod* cholmod = NULL;
    others->cholmodMs = -1;
    others->cholmodWhy = "a factor of so many unknowns does not fit into memory";
    if (matrix->rows <= snw_mostCholmodRows && snwFemMatrix_MakeLower(matrix, &lower) &&
        (cholmod = snwCholmod_Open(&lower, &others->cholmodWhy)) != NULL && snwCholmod_Factor(cholmod) > 0)
        for (int turn = 0; turn < snw_cholmodTurns; ++turn)
        {
            double start = snwCpuMs();
            if (snwCholmod_Refactor(cholmod) <= 0 || snwCholmod_Solve(cholmod) <= 0)
                continue;
            double ms = snwCpuMs() - start;
            others->cholmodMs = others->cholmodMs > 0 ? fmin(others->cholmodMs, ms) : ms;
            others->cholmodWhy = "factored again with other values, and solved (three right sides cost it little more)";
        }
    snwCholmod_Close(cholmod);
    free(lower.starts), free(lower.indices), free(lower.values);
}

static bool MeasureOthers(Others* others, snwFemStage* stage, double h)
{
    *others = (Others){0};

    // To 1e-6 of the matrix in floats, which is in its favour: it would have to begin anew to get to that of the
    // doubles.
    double start = snwCpuMs();
    snwFemStage_Assemble(stage, h);
    snwGridSolveDef def = {snw_gridJacobi, s_tolerance, 40000};
    snwGridReport jacobi = snwMultigrid_Solve(stage->grid, &def, stage->f, stage->u);
    others->jacobiMs = jacobi.residual <= s_tolerance ? snwCpuMs() - start : -1;
    others->jacobiIterations = jacobi.iterations;

    snwFemMatrix matrix;
    bool good = snwFemMatrix_Make(&matrix, stage, h);
    if (good)
    {
        MeasureCholmod(others, &matrix);
        others->petsc = snwMeasurePetsc(&matrix, &others->petscTimes, &others->petscWhy);
    }
    snwFemMatrix_Free(&matrix);
    return good;
}

static void AddOthers(snwBenchRows* rows, const Case* c, double h, const Others* others, double oursMs)
{
    const Targets* t = h > 0 ? &c->moving : &c->still;
    char note[160];
    snprintf(note, sizeof note, "%d iterations", others->jacobiIterations);
    AddRatio(rows, c, h, "grid_vs_jacobi", t->jacobi, others->jacobiMs, oursMs, "conjugate gradients, Jacobi", note);
    AddRatio(rows, c, h, "grid_vs_cholmod", t->cholmod, others->cholmodMs, oursMs, "CHOLMOD", others->cholmodWhy);
    struct
    {
        const char *metric, *peer;
        const snwPetscTime* time;
        double target;
    } const all[] = {{"grid_vs_gamg_kept", "PETSc GAMG, kept", &others->petscTimes.gamgKept, t->gamg},
        {"grid_vs_gamg", "PETSc GAMG", &others->petscTimes.gamg, NAN},
        {"grid_vs_hypre", "hypre BoomerAMG", &others->petscTimes.hypre, NAN}};
    for (int k = 0; k < 3; ++k)
    {
        bool good = others->petsc && all[k].time->iterations > 0;
        snprintf(note, sizeof note, "%d iterations, set-up %.0f ms", all[k].time->iterations, all[k].time->setupMs);
        const char* word = !others->petsc ? others->petscWhy : good ? note : "it did not converge";
        AddRatio(rows, c, h, all[k].metric, all[k].target, good ? all[k].time->setupMs + all[k].time->solveMs : -1,
            oursMs, all[k].peer, word);
    }
}

typedef struct Own
{
    double ms, setupMs; // of the fastest turn
    int turns;
    snwGridReport report;
} Own;

static void MeasureOwn(Own* own, const snwBenchRows* rows, snwFemStage* stage, double h)
{
    // The first one warms up; small bodies have more turns, or another program's moment would meet all of them.
    const double enoughMs = 300;
    int runs = rows->options->runs < 3 ? rows->options->runs : 3;
    double begin = snwCpuMs();
    for (int run = 0; run <= runs || (runs >= 3 && snwCpuMs() - begin < enoughMs); ++run)
    {
        double start = snwCpuMs();
        snwFemStage_Assemble(stage, h);
        snwFemStage_Refresh(stage);
        double ready = snwCpuMs();
        snwGridReport report = snwFemStage_Solve(stage, snw_gridGradients, s_tolerance, 300);
        double ms = snwCpuMs() - start;
        if (run == 0 || (own->turns++ > 0 && ms >= own->ms))
            continue;
        *own = (Own){ms, ready - start, own->turns, report};
    }
}

static void AddCase(snwBenchRows* rows, const Case* c, snwFemStage* stage, double h)
{
    const Targets* t = h > 0 ? &c->moving : &c->still;
    Own own = {0};
    Others others;
    MeasureOwn(&own, rows, stage, h);
    if (!MeasureOthers(&others, stage, h))
    {
        rows->result = snwFailMemory(rows->message);
        return;
    }
    MeasureOwn(&own, rows, stage, h);

    snwBenchRow row = MakeRow(c, h, "grid_iterations", "<=", t->iterations);
    row.value = own.report.residual <= s_tolerance ? own.report.iterations : NAN;
    snprintf(row.note, sizeof row.note, "left %.1e of the forces", own.report.residual);
    snwBenchRows_Add(rows, &row);
    row = MakeRow(c, h, "grid_ms", NULL, NAN);
    row.value = own.ms;
    row.n = own.turns;
    snprintf(row.note, sizeof row.note, "of it %.1f ms for rotations, matrix and coarse matrices", own.setupMs);
    snwBenchRows_Add(rows, &row);
    AddOthers(rows, c, h, &others, own.ms);
    snwAddSkelfemCurves(rows,
        &(snwSkelfemCurvesDef){c->name, stage, h, others.petsc ? &others.petscTimes : NULL, others.cholmodMs, c->full});
}

// A cycle against the time that memory takes to deliver what it reads.
static void AddCycle(snwBenchRows* rows, const Case* c, snwFemStage* stage)
{
    enum
    {
        snw_cycles = 8
    };
    snwMultigridStats stats = snwMultigrid_Stats(stage->grid);
    snwSamples ratios = {0};
    snwFemStage_Assemble(stage, s_step);
    snwFemStage_Refresh(stage);
    for (int run = 0; run < 3; ++run)
    {
        double start = snwCpuMs();
        for (int k = 0; k < snw_cycles; ++k)
            snwMultigrid_Cycle(stage->grid);
        double ms = (snwCpuMs() - start) / snw_cycles;
        snwSamples_Add(&ratios, ms / (1e-6 * stats.cycleBytes / snwMeasureReadBandwidth((int64_t)stats.cycleBytes, 3)));
    }
    snwBenchRow row = MakeRow(c, s_step, "grid_cycle_vs_bandwidth", "<=", c->full ? 1.5 : NAN);
    snwBenchRow_SetSamples(&row, &ratios);
    snprintf(row.note, sizeof row.note, "a cycle reads %.0f MB", 1e-6 * stats.cycleBytes);
    snwBenchRows_Add(rows, &row);
    row = MakeRow(c, s_step, "grid_mb", "<=", c->full ? 700 : NAN);
    row.value = 1e-6 * (double)stats.memory;
    snprintf(row.note, sizeof row.note, "%d levels, from %d to %d vertices", stats.levels, stats.vertices[0],
        stats.vertices[stats.levels - 1]);
    snwBenchRows_Add(rows, &row);
}

// Flesh that hardly changes its volume.
static void AddPoisson(snwBenchRows* rows, const Case* c, snwFemStage* stage, snwFemBody* body)
{
    static const double s_ratios[] = {0.4, 0.45, 0.48, 0.49};
    for (int k = 0; k < 8 && rows->result >= 0; ++k)
    {
        double poisson = s_ratios[k / 2], h = k % 2 == 0 ? 0 : s_step;
        snwFemBody_SetPoisson(body, poisson);
        snwCorotated_SetMaterials(stage->flesh, body->mu, body->lambda);
        snwFemStage_Assemble(stage, h);
        snwFemStage_Refresh(stage);
        snwGridReport report = snwFemStage_Solve(stage, snw_gridGradients, s_tolerance, 300);
        char name[48];
        snprintf(name, sizeof name, "%s, nu %g, %s", c->name, poisson, h > 0 ? "h = 20 ms" : "static");
        snwBenchRow row = snwMakeBenchRow(name, "skelfem", "grid_iterations");
        row.value = report.residual <= s_tolerance ? report.iterations : NAN;
        row.n = 1;
        snprintf(row.note, sizeof row.note, "left %.1e of the forces", report.residual);
        snwBenchRows_Add(rows, &row);
    }
}

void snwAddSkelfemSolve(snwBenchRows* rows)
{
    for (int i = 0; i < snw_caseCount && rows->result >= 0; ++i)
    {
        const Case* c = &s_cases[i];
        if ((c->full && !rows->options->full) || !snwBenchRows_Wants(rows, c->name, "skelfem"))
            continue;
        snwContextDef def = snwDefaultContextDef();
        snwMultigridDef grid = snwDefaultMultigridDef();
        snwContext* context = NULL;
        snwFemBody body = {0};
        snwFemStage stage = {0};
        def.threadCount = 1;
        rows->result = snwCreateContext(&def, &context, rows->message);
        if (rows->result >= 0)
            rows->result = c->character != NULL ? snwFemBody_MakeCharacter(&body, c->character, c->tets, rows->message)
                                                : snwFemBody_MakeBar(&body, c->cells, 0, rows->message);
        if (rows->result >= 0)
            rows->result = snwFemStage_Open(&stage, context, &body, 6, &grid, rows->message);
        if (rows->result >= 0)
        {
            AddCase(rows, c, &stage, 0);
            AddCase(rows, c, &stage, s_step);
            AddCycle(rows, c, &stage);
            if (i == 0)
                AddPoisson(rows, c, &stage, &body);
        }
        snwFemStage_Close(&stage);
        snwFemBody_Free(&body);
        if (context != NULL)
            snwDestroyContext(context);
    }
}
