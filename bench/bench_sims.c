// Many sims of one character: the first prepares the model, the later ones share it.

#include "bench.h"
#include "world.h"

#include "base/clock.h"
#include "base/result.h"

#include <stdlib.h>

enum
{
    snw_crowdSize = 16,
    snw_crowdCells = 21 // 10k vertices
};

typedef struct Crowd
{
    snwCounter counter;
    snwContext* context;
    snwScene* scene;
    snwSim* sims[snw_crowdSize];
} Crowd;

// What one sim cost, in both ways.
typedef struct Cost
{
    snwSamples ms, bytes;
} Cost;

static snwResult OpenCrowd(Crowd* crowd, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.allocator = snwCounter_Allocator(&crowd->counter);
    def.threadCount = 1;
    snwResult result = snwCreateContext(&def, &crowd->context, message);
    return result >= 0 ? snwMakeBlockScene(crowd->context, snw_crowdCells, &crowd->scene, message) : result;
}

static void CloseCrowd(Crowd* crowd)
{
    for (int i = 0; i < snw_crowdSize; ++i)
        if (crowd->sims[i] != NULL)
            snwDestroySim(crowd->sims[i]);
    if (crowd->scene != NULL)
        snwScene_Release(crowd->scene);
    if (crowd->context != NULL)
        snwDestroyContext(crowd->context);
}

// One sample of the first sim, and one of the mean of the later ones.
static snwResult FillCrowd(Crowd* crowd, Cost* first, Cost* later, snwMessage* message)
{
    double marks[3] = {0}, bytes[3] = {0};
    snwSimDef def = snwDefaultSimDef();
    def.scene = crowd->scene;
    for (int i = 0; i <= snw_crowdSize; ++i)
    {
        int mark = i == 0 ? 0 : i == 1 ? 1 : 2;
        marks[mark] = snwClock_Seconds();
        bytes[mark] = (double)atomic_load(&crowd->counter.bytes);
        if (i == snw_crowdSize)
            break;
        snwResult result = snwCreateSim(crowd->context, &def, &crowd->sims[i], message);
        if (result < 0)
            return result;
    }
    snwSamples_Add(&first->ms, (marks[1] - marks[0]) * 1e3);
    snwSamples_Add(&first->bytes, bytes[1] - bytes[0]);
    snwSamples_Add(&later->ms, (marks[2] - marks[1]) * 1e3 / (snw_crowdSize - 1));
    snwSamples_Add(&later->bytes, (bytes[2] - bytes[1]) / (snw_crowdSize - 1));
    return snw_ok;
}

static snwResult AddSamples(snwBenchReport* report, const char* caseName, const char* metric, const snwSamples* samples,
    const char* note, snwMessage* message)
{
    snwBenchRow row = snwMakeBenchRow(caseName, "pbd", metric);
    snwBenchRow_SetSamples(&row, samples);
    snprintf(row.note, sizeof row.note, "%s", note);
    return snwBenchReport_Add(report, &row, message);
}

static snwResult AddRows(snwBenchReport* report, const Cost* first, const Cost* later, snwMessage* message)
{
    snwSamples bytes = snwSamples_Ratios(&first->bytes, &later->bytes);
    snwSamples ms = snwSamples_Ratios(&first->ms, &later->ms);
    const struct
    {
        const char *caseName, *metric;
        const snwSamples* samples;
        const char* note;
    } rows[] = {
        {"block-10k-first", "create_ms", &first->ms, "prepares the model"},
        {"block-10k-later", "create_ms", &later->ms, "mean of 15 that share the model"},
        {"block-10k-first", "create_bytes", &first->bytes, "model and state"},
        {"block-10k-later", "create_bytes", &later->bytes, "state alone, mean of 15"},
        {"block-10k", "model_share_ratio", &bytes, ""},
        {"block-10k", "create_share_ratio", &ms, ""},
    };
    snwResult result = snw_ok;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && result >= 0; ++i)
        result = AddSamples(report, rows[i].caseName, rows[i].metric, rows[i].samples, rows[i].note, message);
    return result;
}

static snwResult Run(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message)
{
    Cost first = {0}, later = {0};
    for (int run = 0; run < options->runs; ++run)
    {
        Crowd crowd = {0};
        snwResult result = OpenCrowd(&crowd, message);
        if (result >= 0)
            result = FillCrowd(&crowd, &first, &later, message);
        CloseCrowd(&crowd);
        if (result < 0)
            return result;
    }
    return AddRows(report, &first, &later, message);
}

const snwBench snwSimsBench = {
    "sims", "many sims of one character: memory and time of the first and of later ones", Run};
