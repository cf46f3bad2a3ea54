// What safety costs: apd's local step with damping, and whole steps beside plain projective dynamics on the scenes of
// its paper's Table 1. Both take the same step from the same moment, in turns.

#include "apd_bench.h"
#include "flesh_bench.h"

#include "base/clock.h"

#include <math.h>

// A step as it is for a user: all stages, contact included. ms of the processor (sims of this bench have one thread),
// the fastest of a few; NAN: it failed.
static double TimeStep(const snwApdMoment* moment, snwSim* sim, double dt)
{
    double best = INFINITY, start = snwClock_Seconds();
    for (int i = 0; i < 2 || (i < 20 && snwClock_Seconds() - start < 0.06); ++i)
    {
        snwApdMoment_Apply(moment, sim);
        double before = snwClock_ThreadSeconds();
        if (snwSim_Step(sim, dt, NULL) < 0)
            return NAN;
        best = fmin(best, 1e3 * (snwClock_ThreadSeconds() - before));
    }
    return best;
}

static void AddRatio(snwBenchRows* rows, const snwApdStage* stage, const snwApdCase* which, snwSim* ours, snwSim* plain)
{
    snwApdMoment moment = {0};
    snwSamples times[2] = {0};
    double dt = 1 / stage->def->rate;
    for (int i = 0; i < which->frames && rows->result >= 0; ++i)
        rows->result = snwSim_Step(ours, dt, rows->message);
    if (rows->result >= 0)
        rows->result = snwApdMoment_Take(ours, &moment, rows->message);
    if (rows->result < 0)
        return;

    TimeStep(&moment, plain, dt); // makes its factor
    for (int run = 0; run < rows->options->runs; ++run)
    {
        snwSamples_Add(&times[0], TimeStep(&moment, ours, dt));
        snwSamples_Add(&times[1], TimeStep(&moment, plain, dt));
    }
    snwSamples ratios = snwSamples_Ratios(&times[0], &times[1]);
    snwBenchRow row = snwMakeBenchRow(which->name, "apd", "step_ratio_to_pd");
    snwBenchRow_SetSamples(&row, &ratios);
    snwBenchRow_SetTarget(&row, "<=", 1.15);
    snprintf(row.note, sizeof row.note, "%.3g ms and %.3g ms%s", snwSamples_Median(&times[0]),
        snwSamples_Median(&times[1]), isnan(row.value) ? ": a step of plain projective dynamics failed" : "");
    snwBenchRows_Add(rows, &row);
    snwApdMoment_Free(&moment);
}

static void AddLocal(snwBenchRows* rows, const snwApdCase* which, const snwSim* sim)
{
    snwBenchRow row = snwMakeBenchRow(which->name, "apd", "ns_per_tet");
    snwSamples times = snwApdSim_TimeLocal(sim, snw_elasticCorotated, true, rows->options->runs);
    snwBenchRow_SetSamples(&row, &times);
    snwBenchRow_SetTarget(&row, "<=", 18);
    snprintf(row.note, sizeof row.note, "%s", times.count > 0 ? "corotated, damped; warm" : "no flesh, no elements");
    snwBenchRows_Add(rows, &row);
}

// Brief: without the largest, whose factors take most of the time.
void snwAddFleshSpeed(snwBenchRows* rows)
{
    for (int i = 0; i < snw_apdCaseCount && rows->result >= 0; ++i)
    {
        const snwApdCase* which = &snwApdCases[i];
        if (!snwBenchRows_Wants(rows, which->name, "apd") || (which->isMonster && !rows->options->full))
            continue;
        snwApdStage stage = {0};
        snwSim *ours = NULL, *plain = NULL;
        snwApdVariant variants[2] = {snwMakeApdVariant(snw_apdArticulated), snwMakeApdVariant(snw_apdPlain)};
        rows->result = snwApdStage_Open(&stage, which->name, rows->message);
        if (rows->result >= 0)
            rows->result = snwApdStage_CreateSim(&stage, &variants[0], &ours, rows->message);
        if (rows->result >= 0)
            rows->result = snwApdStage_CreateSim(&stage, &variants[1], &plain, rows->message);
        if (rows->result >= 0)
            AddRatio(rows, &stage, which, ours, plain);
        if (rows->result >= 0)
            AddLocal(rows, which, ours);
        if (ours != NULL)
            snwDestroySim(ours);
        if (plain != NULL)
            snwDestroySim(plain);
        snwApdStage_Close(&stage);
    }
}
