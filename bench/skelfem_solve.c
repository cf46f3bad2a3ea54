// The linear solver of skelfem against the field's (Fig. 5 of the paper): bodies whose matrix changes in every step, so
// that setting up is part of the time, to a residual of 1e-6 of the matrix in double. Processor time of one thread.

#include "skelfem_bench.h"

#include "kernels_measure.h"
#include "peer_cholmod.h"
#include "peer_petsc.h"
#include "skelfem_stage.h"

#include "base/result.h"
#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
};

enum
{
    snw_caseCount = sizeof s_cases / sizeof *s_cases,
    snw_mostCholmodRows = 200000 // beyond that its factor does not fit into the memory of an ordinary machine
};

static double CpuMs(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// ---------------------------------------------------------------------------------------------------------------------
// The matrix for others

static void FreeMatrix(snwFemMatrix* m)
{
    free(m->starts), free(m->columns), free(m->values[0]), free(m->values[1]), free(m->b), free(m->places);
    *m = (snwFemMatrix){0};
}

// Free rows of the grid's matrix in double. The second values are those of a body that has bent a little further.
static bool MakeMatrix(snwFemStage* stage, double h, snwFemMatrix* out)
{
    *out = (snwFemMatrix){0};
    const snwFemBody* body = stage->body;
    const snwBlockGraph* graph = snwGridLevels_Graph(stage->levels);
    const int* rowOf = snwGridLevels_RowOf(stage->levels);
    int *vertexOf = calloc((size_t)graph->rows, sizeof(int)), *freeOf = calloc((size_t)graph->rows, sizeof(int)),
        count = 0;
    size_t upper = (size_t)graph->upStarts[graph->rows];
    double* blocks = malloc(9 * upper * sizeof(double));
    if (vertexOf == NULL || freeOf == NULL || blocks == NULL)
    {
        free(vertexOf), free(freeOf), free(blocks);
        return false;
    }
    for (int v = 0; v < body->vertexCount; ++v)
        vertexOf[rowOf[v]] = v;
    for (int v = 0; v < body->vertexCount; ++v)
        freeOf[rowOf[v]] = body->held[v] ? -1 : 0;
    for (int i = 0; i < graph->rows; ++i)
        freeOf[i] = freeOf[i] < 0 ? -1 : count++;
    size_t rows = 3 * (size_t)count, room = 9 * (2 * upper + (size_t)count);
    *out = (snwFemMatrix){.rows = (int)rows,
        .starts = calloc(rows + 1, sizeof(int)),
        .columns = malloc(room * sizeof(int)),
        .values = {malloc(room * sizeof(double)), malloc(room * sizeof(double))},
        .b = calloc(rows + 1, sizeof(double)),
        .places = calloc(rows + 1, sizeof(double))};
    bool good = out->starts && out->columns && out->values[0] && out->values[1] && out->b && out->places;
    for (int turn = 0; good && turn < 2; ++turn)
    {
        snwFemStage_Assemble(stage, h);
        for (size_t k = 0; k < upper; ++k)
            snwCorotated_GetUpper(stage->flesh, (int)k, blocks + 9 * k);
        int* upperOf = malloc(upper * sizeof(int)); // of a block below the diagonal
        good = upperOf != NULL;
        for (size_t k = 0; good && k < upper; ++k)
            upperOf[graph->mirrors[k]] = (int)k;
        size_t at = 0;
        for (int i = 0; good && i < graph->rows; ++i)
        {
            double diagonal[9] = {0};
            int low = graph->lowStarts[i + 1] - graph->lowStarts[i], up = graph->upStarts[i + 1] - graph->upStarts[i];
            for (int k = 0; k < 9; ++k)
                diagonal[k] = k % 4 == 0 ? stage->added[vertexOf[i]] : 0;
            for (int e = 0; e < low + up; ++e)
                for (int k = 0; k < 9; ++k)
                    diagonal[k] -=
                        e < low ? blocks[9 * (size_t)upperOf[graph->lowStarts[i] + e] + (size_t)(k % 3 * 3 + k / 3)]
                                : blocks[9 * (size_t)(graph->upStarts[i] + e - low) + (size_t)k];
            for (int r = 0; r < 3 && freeOf[i] >= 0; ++r)
            {
                size_t row = 3 * (size_t)freeOf[i] + (size_t)r;
                out->starts[row] = (int)at;
                out->b[row] = (&stage->f[vertexOf[i]].x)[r];
                out->places[row] = (&body->now[vertexOf[i]].x)[r];
                for (int e = 0; e <= low + up; ++e)
                {
                    int column = e < low    ? graph->lowColumns[graph->lowStarts[i] + e]
                                 : e == low ? i
                                            : graph->upColumns[graph->upStarts[i] + e - low - 1];
                    const double* block = e < low    ? blocks + 9 * (size_t)upperOf[graph->lowStarts[i] + e]
                                          : e == low ? diagonal
                                                     : blocks + 9 * (size_t)(graph->upStarts[i] + e - low - 1);
                    for (int c = 0; c < 3 && freeOf[column] >= 0; ++c, ++at)
                    {
                        out->columns[at] = 3 * freeOf[column] + c;
                        out->values[turn][at] = e < low ? block[3 * r + c] : block[3 * c + r];
                    }
                }
            }
        }
        if (good)
            out->starts[rows] = (int)at;
        free(upperOf);
        for (int v = 0; turn == 0 && v < body->vertexCount; ++v) // the second matrix is of another moment
            body->now[v] = (snwVec3){
                body->now[v].x, body->now[v].y + 0.02 * body->now[v].x * body->now[v].x, body->now[v].z};
    }
    free(vertexOf), free(freeOf), free(blocks);
    return good;
}

// Its lower triangle, for CHOLMOD; the values of the second moment.
static bool MakeLower(const snwFemMatrix* m, snwSparse* lower)
{
    size_t entries = (size_t)m->starts[m->rows];
    *lower = (snwSparse){.rows = m->rows,
        .columns = m->rows,
        .symmetric = true,
        .starts = calloc((size_t)m->rows + 1, sizeof(int)),
        .indices = malloc((entries + 1) * sizeof(int)),
        .values = malloc((entries + 1) * sizeof(double))};
    if (lower->starts == NULL || lower->indices == NULL || lower->values == NULL)
        return false;
    int at = 0;
    for (int i = 0; i < m->rows; ++i)
    {
        for (int k = m->starts[i]; k < m->starts[i + 1]; ++k)
            if (m->columns[k] <= i)
            {
                lower->indices[at] = m->columns[k];
                lower->values[at++] = m->values[1][k];
            }
        lower->starts[i + 1] = at;
    }
    return true;
}

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

static void AddPeers(snwBenchRows* rows, const Case* c, snwFemStage* stage, double h, double oursMs)
{
    const Targets* t = h > 0 ? &c->moving : &c->still;
    snwFemMatrix matrix;
    if (!MakeMatrix(stage, h, &matrix))
    {
        FreeMatrix(&matrix);
        rows->result = snwFailMemory(rows->message);
        return;
    }

    const char* why = "a factor of so many unknowns does not fit into memory";
    char note[160];
    snwSparse lower = {0};
    snwCholmod* cholmod = NULL;
    double start = 0, cholmodMs = -1;
    if (matrix.rows <= snw_mostCholmodRows && MakeLower(&matrix, &lower) &&
        (cholmod = snwCholmod_Open(&lower, &why)) != NULL && snwCholmod_Factor(cholmod) > 0)
    {
        start = CpuMs();
        if (snwCholmod_Refactor(cholmod) > 0 && snwCholmod_Solve(cholmod) > 0)
            cholmodMs = CpuMs() - start;
        why = "factored again with other values, and solved (three right sides cost it little more than one)";
    }
    AddRatio(rows, c, h, "grid_vs_cholmod", t->cholmod, cholmodMs, oursMs, "CHOLMOD", why);
    snwCholmod_Close(cholmod);
    free(lower.starts), free(lower.indices), free(lower.values);

    snwPetscTimes petsc = {0};
    bool there = snwMeasurePetsc(&matrix, &petsc, &why);
    struct
    {
        const char *metric, *peer;
        snwPetscTime time;
        double target;
    } const all[] = {{"grid_vs_gamg_kept", "PETSc GAMG, kept", petsc.gamgKept, t->gamg},
        {"grid_vs_gamg", "PETSc GAMG", petsc.gamg, NAN}, {"grid_vs_hypre", "hypre BoomerAMG", petsc.hypre, NAN}};
    for (int k = 0; k < 3; ++k)
    {
        bool good = there && all[k].time.iterations > 0;
        snprintf(note, sizeof note, "%d iterations, set-up %.0f ms", all[k].time.iterations, all[k].time.setupMs);
        const char* word = !there ? why : good ? note : "it did not converge";
        AddRatio(rows, c, h, all[k].metric, all[k].target, good ? all[k].time.setupMs + all[k].time.solveMs : -1,
            oursMs, all[k].peer, word);
    }
    FreeMatrix(&matrix);
}

static void AddCase(snwBenchRows* rows, const Case* c, snwFemStage* stage, double h)
{
    const Targets* t = h > 0 ? &c->moving : &c->still;
    snwSamples all = {0}, setup = {0};
    snwGridReport report = {0};
    int runs = rows->options->runs < 3 ? rows->options->runs : 3;
    for (int run = 0; run <= runs; ++run) // the first one warms up
    {
        double start = CpuMs();
        snwFemStage_Assemble(stage, h);
        snwFemStage_Refresh(stage);
        double ready = CpuMs();
        report = snwFemStage_Solve(stage, snw_gridGradients, s_tolerance, 300);
        if (run == 0)
            continue;
        snwSamples_Add(&setup, ready - start);
        snwSamples_Add(&all, CpuMs() - start);
    }

    snwBenchRow row = MakeRow(c, h, "grid_iterations", "<=", t->iterations);
    row.value = report.residual <= s_tolerance ? report.iterations : NAN;
    snprintf(row.note, sizeof row.note, "left %.1e of the forces", report.residual);
    snwBenchRows_Add(rows, &row);
    row = MakeRow(c, h, "grid_ms", NULL, NAN);
    snwBenchRow_SetSamples(&row, &all);
    snprintf(row.note, sizeof row.note, "of it %.1f ms for rotations, matrix and coarse matrices",
        snwSamples_Median(&setup));
    snwBenchRows_Add(rows, &row);

    // To 1e-6 of the matrix in floats, which is in its favour: it would have to begin anew to get to that of the
    // doubles.
    double start = CpuMs();
    snwFemStage_Assemble(stage, h);
    snwGridSolveDef def = {snw_gridJacobi, s_tolerance, 40000};
    snwGridReport jacobi = snwMultigrid_Solve(stage->grid, &def, stage->f, stage->u);
    double jacobiMs = CpuMs() - start;
    char note[64];
    snprintf(note, sizeof note, "%d iterations", jacobi.iterations);
    AddRatio(rows, c, h, "grid_vs_jacobi", t->jacobi, jacobi.residual <= s_tolerance ? jacobiMs : -1,
        snwSamples_Median(&all), "conjugate gradients, Jacobi", note);
    AddPeers(rows, c, stage, h, snwSamples_Median(&all));
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
        double start = CpuMs();
        for (int k = 0; k < snw_cycles; ++k)
            snwMultigrid_Cycle(stage->grid);
        double ms = (CpuMs() - start) / snw_cycles;
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
        }
        snwFemStage_Close(&stage);
        snwFemBody_Free(&body);
        if (context != NULL)
            snwDestroyContext(context);
    }
}
