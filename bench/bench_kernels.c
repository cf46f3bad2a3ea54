// Time and error of the batched rotation kernels, one thread (kernels_measure.h does the measuring), of the local step
// of projective dynamics (kernels_local.h) and of the sparse solve (kernels_solve.h).

#include "bench.h"
#include "kernels_local.h"
#include "kernels_measure.h"
#include "kernels_solve.h"

#include "base/result.h"
#include "math/cpu.h"

#include <math.h>
#include <string.h>

enum
{
    snw_polarTets = 135000, // as in a cube of 30k vertices
    snw_polarRepeats = 5
};

static void SetTarget(snwBenchRow* row, const char* op, double target)
{
    row->op = op;
    row->target = target;
}

typedef struct PolarSamples
{
    snwSamples extract, svd, baseline;
} PolarSamples;

static snwResult MeasureTimes(snwSimd simd, int runs, PolarSamples* samples, snwMessage* message)
{
    *samples = (PolarSamples){0};
    for (int run = 0; run < runs; ++run)
    {
        snwPolarTiming timing;
        if (!snwMeasurePolar(simd, snw_polarTets, snw_polarRepeats, &timing))
            return snwFailMemory(message);
        snwSamples_Add(&samples->extract, timing.median[snw_polarExtract]);
        snwSamples_Add(&samples->svd, timing.median[snw_polarSvd]);
        snwSamples_Add(&samples->baseline, timing.median[snw_polarBaseline]);
    }
    return snw_ok;
}

static snwResult AddTimes(snwSimd simd, int runs, snwBenchReport* report, snwMessage* message)
{
    PolarSamples samples;
    const char* method = snwSimd_Name(simd);
    snwResult result = MeasureTimes(simd, runs, &samples, message);
    if (result < 0)
        return result;
    bool best = simd == snwSimd_Best() && simd == snw_simdAvx2; // targets are for the kernels of this machine class
    snwBenchRow row = snwMakeBenchRow("cube-135k-tets", method, "polar_ns");
    snwBenchRow_SetSamples(&row, &samples.extract);
    if (best)
        SetTarget(&row, "<=", 20);
    result = snwBenchReport_Add(report, &row, message);
    row = snwMakeBenchRow("cube-135k-tets", method, "polar_svd_ns");
    snwBenchRow_SetSamples(&row, &samples.svd);
    if (best)
        SetTarget(&row, "<=", 50);
    if (result >= 0)
        result = snwBenchReport_Add(report, &row, message);
    snwSamples ratios = snwSamples_Ratios(&samples.baseline, &samples.extract);
    row = snwMakeBenchRow("cube-135k-tets", method, "polar_speedup");
    snwBenchRow_SetSamples(&row, &ratios);
    snprintf(row.note, sizeof row.note, "scalar double takes %.0f ns", snwSamples_Median(&samples.baseline));
    return result >= 0 ? snwBenchReport_Add(report, &row, message) : result;
}

static snwResult AddError(
    snwPolarClass kind, snwPolarGuess guess, int64_t count, snwBenchReport* report, snwMessage* message)
{
    char name[48];
    snwSimd simd = snwSimd_Best();
    snprintf(name, sizeof name, "%s-%s", snwPolarClass_Name(kind), snwPolarGuess_Name(guess));
    for (char* blank = strchr(name, ' '); blank != NULL; blank = strchr(blank, ' '))
        *blank = '-';
    snwPolarError error = snwMeasurePolarError(simd, kind, guess, count, 1);
    snwBenchRow row = snwMakeBenchRow(name, snwSimd_Name(simd), "polar_err_rad");
    // Where no rotation is unique nothing was compared: that is not a pass.
    bool compared = error.notUnique < error.count;
    row.value = error.notFinite > 0 || !compared ? NAN : error.conditioned;
    row.n = 1;
    SetTarget(&row, "<=", 1e-5);
    snprintf(row.note, sizeof row.note, "%lld matrices, %lld not unique, %lld by the robust path; raw %.2g rad",
        (long long)error.count, (long long)error.notUnique, (long long)error.robust, error.raw);
    if (!compared)
        snprintf(
            row.note, sizeof row.note, "none of %lld rotations is unique: nothing to compare", (long long)error.count);
    if (error.notFinite > 0)
        snprintf(row.note, sizeof row.note, "%lld results are not finite", (long long)error.notFinite);
    return snwBenchReport_Add(report, &row, message);
}

static snwResult AddErrors(int64_t count, snwBenchReport* report, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int kind = 0; kind < snw_polarClassCount && result >= 0; ++kind)
        for (int guess = 0; guess < snw_polarGuessCount && result >= 0; ++guess)
            result = AddError((snwPolarClass)kind, (snwPolarGuess)guess, count, report, message);
    return result;
}

static snwResult AddBandwidth(int runs, snwBenchReport* report, snwMessage* message)
{
    snwSamples samples = {0};
    snwBenchRow row = snwMakeBenchRow("256-MB", "memory", "read_bandwidth");
    for (int run = 0; run < runs; ++run)
    {
        double rate = snwMeasureReadBandwidth(256LL << 20, 3);
        if (rate > 0)
            snwSamples_Add(&samples, rate);
    }
    snwBenchRow_SetSamples(&row, &samples);
    if (samples.count == 0)
        snprintf(row.note, sizeof row.note, "not enough memory to measure");
    return snwBenchReport_Add(report, &row, message);
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int simd = snw_simdScalar; simd <= (int)snwSimd_Best() && result >= 0; ++simd)
        result = AddTimes((snwSimd)simd, options->runs, report, message);
    for (int simd = snw_simdScalar; simd <= (int)snwSimd_Best() && result >= 0; ++simd)
        result = snwAddLocalRows((snwSimd)simd, options->runs, report, message);
    if (result >= 0)
        result = AddBandwidth(options->runs, report, message);
    if (result >= 0)
        result = snwAddSolveRows(options, report, message);
    return result >= 0 ? AddErrors(options->count, report, message) : result;
}

const snwBench snwKernelsBench = {"kernels",
    "rotations of deformation gradients: time and error; elastic forces; sparse factor and solves; memory bandwidth",
    Run};
