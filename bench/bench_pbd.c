// Steps of the position-based method on a block, through the public header only. All variants (threads, instruction
// sets) step the same scene in turns; they must end in the same state.

#include "bench.h"
#include "world.h"

#include "base/clock.h"
#include "base/result.h"
#include "math/cpu.h"

#include <math.h>

enum
{
    snw_variantCount = 5
};

typedef struct Variant
{
    int threads;
    snwSimd simd;
    snwCounter counter;
    snwContext* context;
    snwScene* scene;
    snwSim* sim;
    snwSamples stepMs;
    long long steadyCalls; // of the allocator, in steps after the first run
    int steadySteps;
} Variant;

enum
{
    snw_variantBest, // the widest kernels, one thread
    snw_variantTwo,  // and two threads
    snw_variantScalar,
    snw_variantBase,
    snw_variantScalarTwo
};

typedef struct Size
{
    const char* name;
    int cells;
    int steps; // per run
} Size;

static const Size s_sizes[] = {{"block-1k", 9, 60}, {"block-10k", 21, 12}, {"block-30k", 30, 4}};
static const double s_rate = 60;

// ---------------------------------------------------------------------------------------------------------------------
// Variants

static snwResult OpenVariant(Variant* variant, const Size* size, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.allocator = snwCounter_Allocator(&variant->counter);
    def.threadCount = variant->threads;
    def.simd = variant->simd;
    snwResult result = snwCreateContext(&def, &variant->context, message);
    if (result >= 0)
        result = snwMakeBlockScene(variant->context, size->cells, &variant->scene, message);
    if (result < 0)
        return result;
    snwSimDef sim = snwDefaultSimDef();
    sim.scene = variant->scene;
    return snwCreateSim(variant->context, &sim, &variant->sim, message);
}

static void CloseVariant(Variant* variant)
{
    if (variant->sim != NULL)
        snwDestroySim(variant->sim);
    if (variant->scene != NULL)
        snwScene_Release(variant->scene);
    if (variant->context != NULL)
        snwDestroyContext(variant->context);
}

static snwResult StepVariant(Variant* variant, int steps, bool measured, snwMessage* message)
{
    long long calls = atomic_load(&variant->counter.calls);
    double start = snwClock_Seconds();
    for (int i = 0; i < steps; ++i)
    {
        snwResult result = snwSim_Step(variant->sim, 1 / s_rate, message);
        if (result < 0)
            return result;
    }
    if (!measured)
        return snw_ok;
    snwSamples_Add(&variant->stepMs, (snwClock_Seconds() - start) * 1e3 / steps);
    variant->steadyCalls += atomic_load(&variant->counter.calls) - calls;
    variant->steadySteps += steps;
    return snw_ok;
}

// The first round warms up and is not counted.
static snwResult StepAll(Variant* variants, const Size* size, int runs, snwMessage* message)
{
    for (int run = -1; run < runs; ++run)
        for (int i = 0; i < snw_variantCount; ++i)
        {
            snwResult result = StepVariant(&variants[i], size->steps, run >= 0, message);
            if (result < 0)
                return result;
        }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows

typedef struct Rows
{
    const Size* size;
    snwBenchReport* report;
    snwMessage* message;
    snwResult result;
} Rows;

static void AddRow(Rows* rows, snwBenchRow* row)
{
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, row, rows->message);
}

static void AddSamples(Rows* rows, const char* metric, const snwSamples* samples, const char* note)
{
    snwBenchRow row = snwMakeBenchRow(rows->size->name, "pbd", metric);
    snwBenchRow_SetSamples(&row, samples);
    snprintf(row.note, sizeof row.note, "%s", note);
    AddRow(rows, &row);
}

static double ParamOr(const snwSim* sim, const char* name, double otherwise)
{
    double value = otherwise;
    return snwSim_GetParam(sim, name, &value) >= 0 ? value : otherwise;
}

static void AddProjections(Rows* rows, const Variant* variant)
{
    const snwSceneDef* scene = snwScene_GetDef(variant->scene);
    snwCharacterInfo info = snwCharacter_GetInfo(scene->bodies[0].character);
    double iterations = ParamOr(variant->sim, "pbd.iterations", 1);
    double substeps = ParamOr(variant->sim, "sim.substeps", 1);
    double projections = (info.edgeCount + info.tetCount) * iterations * substeps;
    snwSamples samples = {0};
    for (int i = 0; i < variant->stepMs.count; ++i)
        snwSamples_Add(&samples, variant->stepMs.values[i] * 1e6 / projections);
    char note[160];
    snprintf(note, sizeof note, "1 thread; %d distance + %d volume constraints, %g iterations, %g substeps",
        info.edgeCount, info.tetCount, iterations, substeps);
    AddSamples(rows, "projection_ns", &samples, note);
}

static void AddTimes(Rows* rows, const Variant* variants)
{
    const snwSamples* best = &variants[snw_variantBest].stepMs;
    const snwSamples* two = &variants[snw_variantTwo].stepMs;
    snwSamples rate = {0};
    for (int i = 0; i < two->count; ++i)
        snwSamples_Add(&rate, 1e3 / two->values[i]);
    snwSamples threads = snwSamples_Ratios(best, two);
    snwSamples simd = snwSamples_Ratios(&variants[snw_variantScalar].stepMs, best);
    AddSamples(rows, "step_ms", best, "1 thread");
    AddProjections(rows, &variants[snw_variantBest]);
    AddSamples(rows, "steps_per_s", &rate, "2 threads");
    AddSamples(rows, "speedup_2t", &threads, "");
    AddSamples(rows, "simd_speedup", &simd, "1 thread");
}

static void AddAllocations(Rows* rows, const Variant* variants)
{
    snwBenchRow row = snwMakeBenchRow(rows->size->name, "pbd", "allocations_per_step");
    double calls = 0, steps = 0;
    for (int i = 0; i < snw_variantCount; ++i)
    {
        calls += (double)variants[i].steadyCalls;
        steps += variants[i].steadySteps;
    }
    row.value = calls / steps;
    row.n = (int)steps;
    row.op = "==";
    row.target = 0;
    AddRow(rows, &row);
}

static void AddHashes(Rows* rows, const Variant* variants)
{
    snwBenchRow row = snwMakeBenchRow(rows->size->name, "pbd", "hash_equal");
    row.value = 1;
    for (int i = 1; i < snw_variantCount; ++i)
        if (snwSim_Hash(variants[i].sim) != snwSim_Hash(variants[0].sim))
            row.value = 0;
    row.n = snw_variantCount;
    row.op = "==";
    row.target = 1;
    snprintf(row.note, sizeof row.note, "1 and 2 threads; scalar to %s", snwSimd_Name(snwSimd_Best()));
    AddRow(rows, &row);
}

static snwResult RunSize(const Size* size, int runs, snwBenchReport* report, snwMessage* message)
{
    Variant variants[snw_variantCount] = {
        [snw_variantBest] = {.threads = 1, .simd = snw_simdAuto},
        [snw_variantTwo] = {.threads = 2, .simd = snw_simdAuto},
        [snw_variantScalar] = {.threads = 1, .simd = snw_simdScalar},
        [snw_variantBase] = {.threads = 1, .simd = snw_simdBase},
        [snw_variantScalarTwo] = {.threads = 2, .simd = snw_simdScalar},
    };
    Rows rows = {size, report, message, snw_ok};
    for (int i = 0; i < snw_variantCount && rows.result >= 0; ++i)
        rows.result = OpenVariant(&variants[i], size, message);
    if (rows.result >= 0)
        rows.result = StepAll(variants, size, runs, message);
    if (rows.result >= 0)
    {
        AddTimes(&rows, variants);
        AddAllocations(&rows, variants);
        AddHashes(&rows, variants);
    }
    for (int i = 0; i < snw_variantCount; ++i)
        CloseVariant(&variants[i]);
    return rows.result;
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    snwResult result = snw_ok;
    for (size_t i = 0; i < sizeof s_sizes / sizeof *s_sizes && result >= 0; ++i)
        result = RunSize(&s_sizes[i], options->runs, report, message);
    return result;
}

const snwBench snwPbdBench = {
    "pbd", "steps of a block of 1k, 10k and 30k vertices over threads and instruction sets", Run};
