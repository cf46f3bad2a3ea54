// The parts of `sinew bench skelfem` that take seconds, against what they promise; and steps of the method on the
// bench's bodies.

#include "test.h"

#include "base/hash.h"
#include "bench.h"
#include "skelfem_play.h"

#include <math.h>
#include <string.h>

static const snwBenchRow* FindRow(const snwBenchReport* report, const char* caseName, const char* metric)
{
    for (int i = 0; i < report->count; ++i)
        if (strcmp(report->rows[i].caseName, caseName) == 0 && strcmp(report->rows[i].metric, metric) == 0)
            return &report->rows[i];
    return NULL;
}

// Runs a part; every row of it that has a target reaches it. Returns how many those are.
static int RunPart(const char* part, snwBenchReport* report)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    options.only = part;
    options.runs = 1;
    int count = 0;
    snwMessage message = {0};
    CHECK_INT(snwSkelfemBench.run(&options, report, &message), snw_ok);
    for (int i = 0; i < report->count; ++i)
    {
        int passes = snwBenchRow_Passes(&report->rows[i]);
        CHECK(passes != 0);
        CHECK(report->rows[i].op == NULL || passes == 1);
        count += passes == 1;
    }
    return count;
}

TEST(benchskelfem, rulesHaveTheirOrder)
{
    snwBenchReport report = {.bench = "skelfem"};
    CHECK_INT(RunPart("motion/swinging", &report), 3);
    const snwBenchRow* euler = FindRow(&report, "swinging bar", "euler_order");
    CHECK(euler != NULL && euler->value < 1.2); // a rule of the first order is not mistaken for one of the second
    snwBenchReport_Free(&report);
}

TEST(benchskelfem, whatTumblesGainsNothingAndKeepsItsMomentum)
{
    snwBenchReport report = {.bench = "skelfem"};
    CHECK_INT(RunPart("motion/tumbling, bdf2, E 1e+06, 20", &report), 2);
    CHECK_INT(RunPart("motion/tumbling, euler, E 1e+08, 20", &report), 4);
    snwBenchReport_Free(&report);
}

// The named weakness of the published rule.
TEST(benchskelfem, newmarkGainsEnergyWhereFleshIsStiffAndTurns)
{
    snwBenchReport report = {.bench = "skelfem"};
    RunPart("motion/tumbling, newmark, E 1e+08, 20", &report);
    const snwBenchRow* growth = FindRow(&report, "tumbling, newmark, E 1e+08, 20 ms", "tumble_growth");
    CHECK(growth != NULL && growth->value > 1.02);
    snwBenchReport_Free(&report);
}

TEST(benchskelfem, whatFallsFallsAndWhatHangsIsHeld)
{
    snwBenchReport report = {.bench = "skelfem"};
    CHECK_INT(RunPart("motion/free fall", &report), 3);
    CHECK_INT(RunPart("motion/hanging", &report), 4);
    CHECK_INT(RunPart("motion/patch", &report), 5);
    snwBenchReport_Free(&report);
}

static uint64_t HashOfSteps(int threads, snwSimd simd)
{
    static const int cells[3] = {24, 6, 6};
    snwFemBody body = {0};
    snwSkelfemPlay play;
    uint64_t hash = 0;
    if (snwFemBody_MakeBar(&body, cells, 0.3, NULL) < 0)
        return 0;
    snwSkelfemPlayDef def = snwDefaultSkelfemPlayDef(&body);
    def.threads = threads;
    def.simd = simd;
    def.settings[0] = (snwSetting){"skelfem.rayleigh", 0.01};
    if (snwSkelfemPlay_Open(&play, &def, NULL) >= 0)
    {
        CHECK(snwSkelfemPlay_Step(&play, 3, 0.02, NULL) >= 0);
        const snwSkelfemState* state = &snwSkelfemPlay_Body(&play)->state;
        hash = snwHash(state->positions, (size_t)body.vertexCount * sizeof(snwVec3), 0);
        snwSkelfemPlay_Close(&play);
    }
    snwFemBody_Free(&body);
    return hash;
}

TEST(benchskelfem, stepsHaveTheSameBitsForThreadsAndInstructionSets) // Labels: kernels threads
{
    uint64_t hash = HashOfSteps(1, snw_simdAuto);
    CHECK(hash != 0);
    CHECK(HashOfSteps(2, snw_simdAuto) == hash);
    CHECK(HashOfSteps(5, snw_simdBase) == hash);
    CHECK(HashOfSteps(1, snw_simdScalar) == hash);
}
