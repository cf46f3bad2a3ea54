// How the solver grows: from 196,608 to 1,572,864 tetrahedra (with --full), and with a second thread.

#include "skelfem_bench.h"

#include "peak.h"
#include "skelfem_stage.h"

#include <math.h>

static const double s_step = 0.02, s_tolerance = 1e-6;

typedef struct Turn
{
    double ms; // of the busier thread
    snwGridReport report;
} Turn;

// Rotations, matrix, levels and solution; the fastest of so many.
static Turn Solve(snwFemStage* stage, double h, int turns)
{
    Turn best = {.ms = INFINITY};
    for (int turn = 0; turn <= turns; ++turn) // the first one warms up
    {
        double all = snwCpuMs(), own = snwThreadMs();
        snwFemStage_Assemble(stage, h);
        snwFemStage_Refresh(stage);
        snwGridReport report = snwFemStage_Solve(stage, snw_gridGradients, s_tolerance, 300);
        all = snwCpuMs() - all;
        own = snwThreadMs() - own;
        double ms = fmax(own, all - own);
        if (turn > 0 && ms < best.ms)
            best = (Turn){ms, report};
    }
    return best;
}

typedef struct Bar
{
    snwContext* context;
    snwFemBody body;
    snwFemStage stage;
} Bar;

static snwResult OpenBar(Bar* bar, const int cells[3], int threads, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    snwMultigridDef grid = snwDefaultMultigridDef();
    *bar = (Bar){0};
    def.threadCount = threads;
    snwResult result = snwCreateContext(&def, &bar->context, message);
    if (result >= 0)
        result = snwFemBody_MakeBar(&bar->body, cells, 0, message);
    return result < 0 ? result : snwFemStage_Open(&bar->stage, bar->context, &bar->body, 6, &grid, message);
}

static void CloseBar(Bar* bar)
{
    snwFemStage_Close(&bar->stage);
    snwFemBody_Free(&bar->body);
    if (bar->context != NULL)
        snwDestroyContext(bar->context);
}

static void AddThreads(snwBenchRows* rows, const int cells[3])
{
    enum
    {
        snw_turns = 4
    };
    Bar bars[2] = {0};
    for (int k = 0; k < 2 && rows->result >= 0; ++k)
        rows->result = OpenBar(&bars[k], cells, k + 1, rows->message);
    for (int k = 0; k < 2 && rows->result >= 0; ++k)
    {
        double h = k == 0 ? 0 : s_step;
        Turn one = Solve(&bars[0].stage, h, snw_turns), two = Solve(&bars[1].stage, h, snw_turns);
        snwBenchRow row = snwMakeBenchRow(
            h > 0 ? "bar 196,608, h = 20 ms" : "bar 196,608, static", "skelfem", "speedup_2t");
        row.value = one.ms / two.ms;
        row.n = snw_turns;
        snwBenchRow_SetTarget(&row, ">=", 1.6);
        snprintf(row.note, sizeof row.note, "processor time, %.3g and %.3g ms of the busier thread", one.ms, two.ms);
        snwBenchRows_Add(rows, &row);
    }
    CloseBar(&bars[0]);
    CloseBar(&bars[1]);
}

static void AddGrowth(snwBenchRows* rows, const int small[3], const int large[3])
{
    double ms[2][2] = {{0}}, peakMb = NAN;
    for (int k = 0; k < 2 && rows->result >= 0; ++k)
    {
        Bar bar;
        snwPeak peak = snwPeak_Start();
        rows->result = OpenBar(&bar, k == 0 ? small : large, 1, rows->message);
        for (int step = 0; step < 2 && rows->result >= 0; ++step)
            ms[k][step] = Solve(&bar.stage, step == 0 ? 0 : s_step, 2).ms;
        CloseBar(&bar);
        peakMb = snwPeak_End(&peak);
    }
    for (int step = 0; step < 2; ++step)
    {
        snwBenchRow row = snwMakeBenchRow(
            step == 0 ? "bar 196,608 to 1,572,864, static" : "bar 196,608 to 1,572,864, 20 ms", "skelfem",
            "growth_exponent");
        row.value = log(ms[1][step] / ms[0][step]) / log(8);
        row.n = 2;
        snwBenchRow_SetTarget(&row, "<=", 1.15);
        snprintf(row.note, sizeof row.note, "%.0f and %.0f ms", ms[0][step], ms[1][step]);
        snwBenchRows_Add(rows, &row);
    }
    snwBenchRow row = snwMakeBenchRow("bar 1,572,864", "skelfem", "peak_rss");
    row.value = peakMb;
    row.n = 1;
    snwBenchRow_SetTarget(&row, "<=", 3221);
    snprintf(row.note, sizeof row.note, "mesh, levels while they are made, elements, matrix and all");
    snwBenchRows_Add(rows, &row);
}

void snwAddSkelfemScale(snwBenchRows* rows)
{
    static const int small[3] = {128, 16, 16}, large[3] = {256, 32, 32};
    if (snwBenchRows_Wants(rows, "bar 196,608", "skelfem"))
        AddThreads(rows, small);
    if (rows->options->full && snwBenchRows_Wants(rows, "bar 1,572,864", "skelfem"))
        AddGrowth(rows, small, large);
}
