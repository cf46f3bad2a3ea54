// "ok" means that a person would agree: what is beyond reason is an error or is told, and what can be saved is saved.
// Labels: kernels

#include "math/vec.h"
#include "sim/method.h"
#include "sinew/tools.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const s_methods[] = {"pbd", "pbcd", "apd", "rigpbd", "skelfem"};

typedef struct World
{
    snwContext* context;
    snwSceneFile file;
    snwMessage message;
    snwRunReport report;
    double highest, fastest; // m, m/s: of the centre and of all vertices, in any frame
} World;

static snwResult Watch(const snwRunFrame* frame, void* user, snwMessage* message)
{
    (void)message;
    World* world = user;
    world->highest = fmax(world->highest, frame->measures->centre.y);
    world->fastest = fmax(world->fastest, frame->measures->maxSpeed);
    return snw_ok;
}

// format: the rest of a scene, with a %s for the method.
static World Open(const char* format, const char* method, int threads)
{
    World world = {.highest = -INFINITY};
    char text[2048];
    snprintf(text, sizeof text, format, method);
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = threads;
    snwCreateContext(&def, &world.context, NULL);
    if (snwSceneFile_Parse(world.context, text, strlen(text), "guarded", NULL, &world.file, &world.message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", world.message.place, world.message.text);
    return world;
}

static void Close(World* world)
{
    snwSceneFile_Close(&world->file);
    snwDestroyContext(world->context);
}

static snwResult Run(World* world, const char* logPath, const snwLog* replay)
{
    snwRunDef def = snwDefaultRunDef();
    def.file = replay != NULL ? NULL : &world->file;
    def.replay = replay;
    def.logPath = logPath;
    def.overwrite = true;
    def.onFrame = Watch;
    def.user = world;
    return snwRun(world->context, &def, &world->report, &world->message);
}

// How many warnings have these words.
static int Count(const World* world, const char* words)
{
    int count = 0;
    for (int i = 0; i < world->report.warningCount; ++i)
        count += strstr(world->report.warnings[i].text, words) != NULL;
    return count;
}

#define BLOCK "\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [3, 3, 3]"

// ---------------------------------------------------------------------------------------------------------------------
// Beyond reason

// On one vertex, which is torn away, and on the whole body, which is not even strained.
TEST(guard, aPushBeyondReasonIsAnErrorWithPlaceAndRemedy)
{
    for (int i = 0; i < 8; ++i)
    {
        World world = Open(i < 4 ? "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 0.3, \"bodies\": "
                                   "[{\"name\": \"b\", \"character\": {" BLOCK "}}], \"commands\": [{\"step\": 3, "
                                   "\"kind\": \"push\", \"body\": \"b\", \"vertex\": 0, \"force\": [1e12, 0, 0], "
                                   "\"duration\": 0.1}]}"
                                 : "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 0.3, \"bodies\": "
                                   "[{\"name\": \"b\", \"character\": {" BLOCK "}}], \"commands\": [{\"step\": 3, "
                                   "\"kind\": \"push\", \"body\": \"b\", \"force\": [1e12, 0, 0], \"duration\": "
                                   "0.1}]}",
            s_methods[i % 4], 1);
        CHECK_INT(Run(&world, NULL, NULL), snw_errorDiverged);
        CHECK_INT(world.report.frames, 3);
        CHECK_CONTAINS(world.message.text, "diverged at step 3");
        CHECK_CONTAINS(world.message.place, "body 'b', vertex");
        CHECK_CONTAINS(world.message.remedy, "push less: 1e+12 N");
        CHECK(world.report.last.maxSpeed < 1);
        Close(&world);
    }
}

TEST(guard, aPinThatJumpsAKilometreIsAnErrorThatNamesIt)
{
    for (int i = 0; i < 4; ++i)
    {
        World world = Open(
            "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 0.3, \"bodies\": [{\"name\": "
            "\"b\", \"character\": {" BLOCK "}}], \"pins\": [{\"name\": \"top\", \"body\": \"b\", "
            "\"lower\": [-1, 0.14, -1], \"upper\": [1, 1, 1]}], \"commands\": [{\"step\": 4, \"kind\": "
            "\"pin\", \"pin\": \"top\", \"position\": [1000, 0, 0]}]}",
            s_methods[i], 1);
        CHECK_INT(Run(&world, NULL, NULL), snw_errorDiverged);
        CHECK_CONTAINS(world.message.remedy, "move pin 'top' more slowly: it goes 1e+03 m");
        Close(&world);
    }
}

// A metre under the ground: it comes up slowly, hops, and lies still. (With the quarter of its depth in every substep
// it is shot 80 m up.)
TEST_HEAVY(guard, aBodyThatStartsUnderTheGroundComesOutCalmly)
{
    for (int i = 0; i < 4; ++i)
    {
        World world = Open(
            "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 2.5, \"bodies\": [{\"name\": \"b\", "
            "\"position\": [0, -1, 0], \"character\": {" BLOCK "}}], \"colliders\": [{\"name\": \"floor\", \"kind\": "
            "\"plane\"}]}",
            s_methods[i], 1);
        CHECK_INT(Run(&world, NULL, NULL), snw_ok);
        CHECK(world.fastest < 5 && world.highest < 0.5);
        CHECK_NEAR(world.report.last.centre.y, 0.15, 0.01);
        CHECK_INT(Count(&world, "body 'b' starts 1.15 m inside of collider 'floor'"), 1);
        Close(&world);
    }
}

// Across six metres in one step, through the body: as a blow that is 360 m/s.
TEST(guard, aColliderThatJumpsIsSetDownAndPushesNothing)
{
    for (int i = 0; i < 4; ++i)
    {
        World world = Open(
            "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 0.5, \"bodies\": [{\"name\": \"b\", "
            "\"position\": [0, 0.15, 0], \"character\": {" BLOCK "}}], \"colliders\": [{\"name\": \"floor\", \"kind\": "
            "\"plane\"}, {\"name\": \"ball\", \"kind\": \"sphere\", \"radius\": 0.2, \"position\": [-3, 0.2, 0]}], "
            "\"commands\": [{\"step\": 10, \"kind\": \"collider\", \"collider\": \"ball\", \"position\": [3, 0.2, "
            "0]}]}",
            s_methods[i], 1);
        CHECK_INT(Run(&world, NULL, NULL), snw_ok);
        CHECK(world.fastest < 1);
        CHECK_INT(Count(&world, "collider 'ball' jumps by 6 m"), 1);
        Close(&world);
    }
}

// Set down over a body off the centre: the body leaves as one, through the nearest side, and is whole.
TEST_HEAVY(guard, aBodyThatIsSwallowedLeavesInOnePiece)
{
    for (int i = 0; i < 4; ++i)
    {
        World world = Open(
            "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 2.5, \"gravity\": [0, 0, 0], \"bodies\": "
            "[{\"name\": \"b\", \"character\": {" BLOCK
            "}}], \"colliders\": [{\"name\": \"ball\", \"kind\": \"sphere\", "
            "\"radius\": 0.5, \"position\": [-9, 0, 0]}], \"commands\": [{\"step\": 10, \"kind\": \"collider\", "
            "\"collider\": \"ball\", \"position\": [-0.05, 0, 0]}]}",
            s_methods[i], 1);
        CHECK_INT(Run(&world, NULL, NULL), snw_ok);
        CHECK(world.fastest < 5);
        CHECK(world.report.last.centre.x > 0.3);
        CHECK_NEAR(world.report.last.volume / world.report.first.volume, 1, 0.1);
        CHECK(!world.report.doubtful && world.report.maxStretch < 2);
        Close(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// More substeps

// The end of a bar is torn away by 8 m in one step: one substep draws it out beyond belief, eight do not.
static const char s_torn[] =
    "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 0.5, \"gravity\": [0, 0, 0], \"settings\": "
    "{\"sim.substeps\": 1}, \"bodies\": [{\"name\": \"b\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.1, "
    "0.1], \"cells\": [9, 3, 3]}}], \"pins\": [{\"name\": \"end\", \"body\": \"b\", \"lower\": [0.14, -1, -1], "
    "\"upper\": [1, 1, 1]}], \"commands\": [{\"step\": 5, \"kind\": \"pin\", \"pin\": \"end\", \"position\": [8, 0, "
    "0]}]}";

TEST(guard, aStepIsSavedByMoreSubstepsWithTheSameBitsForAnyThreadsAndInAReplay) // Labels: threads
{
    uint64_t hash = 0;
    char path[256];
    snprintf(path, sizeof path, "%s/torn.log", snwTest_TempDir());
    for (int threads = 1; threads <= 3; threads += 2)
    {
        World world = Open(s_torn, "pbd", threads);
        CHECK(Run(&world, path, NULL) >= 0);
        CHECK(world.report.retries > 0);
        CHECK_INT(Count(&world, "step 5 diverged, and went well with 8 times its substeps"), 1);
        hash = threads == 1 ? world.report.hash : hash;
        CHECK(world.report.hash == hash);
        Close(&world);
    }
    World again = Open(s_torn, "pbd", 2);
    snwLog log;
    REQUIRE(snwLog_Open(again.context, path, NULL, &log, &again.message) == snw_ok);
    CHECK(Run(&again, NULL, &log) >= 0);
    CHECK_INT(again.report.firstDifference, -1);
    CHECK(again.report.hash == hash);
    snwLog_Close(again.context, &log);
    Close(&again);
}

// ---------------------------------------------------------------------------------------------------------------------
// Convergence

static const char s_hangs[] =
    "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"duration\": 0.5, \"bodies\": [{\"name\": \"b\", \"character\": "
    "{\"shape\": \"block\", \"size\": [0.8, 0.2, 0.2], \"cells\": [8, 2, 2], \"material\": {\"young\": %g}}}], "
    "\"pins\": [{\"name\": \"end\", \"body\": \"b\", \"lower\": [-1, -1, -1], \"upper\": [-0.399, 1, 1]}], "
    "\"settings\": {\"%s.iterations\": %d}}";

static World OpenBar(const char* method, double young, int iterations)
{
    char text[1024];
    snprintf(text, sizeof text, s_hangs, method, young, method, iterations);
    return Open("%s", text, 1);
}

TEST_HEAVY(guard, residualsFallWithIterations)
{
    for (int i = 0; i < 4; ++i)
    {
        double residuals[2];
        for (int k = 0; k < 2; ++k)
        {
            World world = OpenBar(s_methods[i], 1e6, k == 0 ? 3 : 60);
            CHECK(Run(&world, NULL, NULL) >= 0);
            residuals[k] = world.report.last.residual;
            Close(&world);
        }
        CHECK(residuals[0] > 0 && residuals[1] < 0.5 * residuals[0]);
    }
}

TEST_HEAVY(guard, stiffnessThatIsNotThereIsToldOnceWithItsCount)
{
    static const struct
    {
        const char* method;
        double young;
        int iterations, expected;
    } cases[] = {{"rigpbd", 1e8, 1, 1}, {"rigpbd", 1e4, 1, 0}, {"pbcd", 2e7, 10, 1}, {"pbcd", 1e5, 10, 0},
        {"pbcd", 5e5, 10, 1}, {"pbcd", 2e6, 600, 0}, {"apd", 2e7, 10, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        World world = OpenBar(cases[i].method, cases[i].young, cases[i].iterations);
        CHECK(Run(&world, NULL, NULL) >= 0);
        CHECK_INT(Count(&world, "the flesh of 'b' behaves as if Young's modulus were"), cases[i].expected);
        for (int k = 0; k < world.report.warningCount && cases[i].expected > 0; ++k)
            if (strstr(world.report.warnings[k].text, "behaves as if") != NULL)
                CHECK(world.report.warnings[k].step == 7 && world.report.warnings[k].count == 23);
        Close(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Energies

static const char s_still[] =
    "{\"sinew\": 1, \"method\": \"%s\", \"rate\": 60, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", "
    "\"character\": {\"shape\": \"block\", \"size\": [0.4, 0.4, 0.4], \"cells\": [2, 2, 2], \"material\": {\"young\": "
    "%g, \"poisson\": 0.3}}}], \"settings\": {%s}}";

// J, after a step and a stretch by s along the axes.
static double Elastic(const char* method, const char* setting, double young, const double s[3])
{
    char text[1024];
    snprintf(text, sizeof text, s_still, method, young, setting);
    World world = Open("%s", text, 1);
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    snwMeasures measures = {0};
    def.scene = world.file.scene;
    CHECK(snwCreateSim(world.context, &def, &sim, NULL) >= 0 && snwSim_Step(sim, 1.0 / 60, NULL) >= 0);
    snwVertices vertices;
    CHECK(snwSim_GetVertices(sim, 0, &vertices) == snw_ok);
    for (int i = 0; i < vertices.count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            float* x = (float*)((char*)(uintptr_t)vertices.positions + (size_t)i * (size_t)vertices.stride) + k;
            *x = (float)((double)*x * s[k]);
        }
    CHECK(snwSim_GetMeasures(sim, 0, &measures) == snw_ok);
    snwDestroySim(sim);
    Close(&world);
    return measures.elastic;
}

// Springs and the distance to determinant 1 are written out for a stretch that is the same along all axes.
TEST(guard, energiesAreThoseOfTheLawThatIsSimulated)
{
    const double E = 1e4, nu = 0.3, V = 0.064, mu = E / 2.6, lambda = E * nu / (1.3 * 0.4);
    const double s[3] = {1.2, 0.9, 1.1}, even[3] = {1.1, 1.1, 1.1}, J = 1.2 * 0.9 * 1.1, trace = 0.2;
    double shape = 0.04 + 0.01 + 0.01, square = 1.44 + 0.81 + 1.21;
    double neo = V * (0.5 * (lambda + mu) * (J - 1) * (J - 1) + mu * (0.5 * (square - 3) - (J - 1)));
    double corotated = V * (mu * shape + 0.5 * lambda * trace * trace), strain = V * mu * shape;
    double e[3] = {0.22, -0.095, 0.105}; // Green
    double green = V * (mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + 0.5 * lambda * 0.23 * 0.23);
    double springs = V * (15.0 / 12 * mu * 6 * 0.01 + 0.5 * (lambda - mu) * 0.331 * 0.331);
    double volume = V * (mu * 0.03 + 1.5 * lambda * 0.03);
    CHECK_NEAR(Elastic("pbd", "\"pbd.law\": \"compliant\"", E, s), neo, 1e-4 * neo);
    CHECK_NEAR(Elastic("pbd", "", E, s), corotated, 1e-4 * corotated);
    CHECK_NEAR(Elastic("pbcd", "", E, s), neo, 1e-4 * neo);
    CHECK_NEAR(Elastic("pbcd", "\"pbcd.law\": \"strain\"", E, s), green, 1e-4 * green);
    CHECK_NEAR(Elastic("pbcd", "\"pbcd.law\": \"edges\"", E, even), springs, 1e-4 * springs);
    CHECK_NEAR(Elastic("apd", "\"apd.law\": \"corotated\"", E, s), corotated, 1e-4 * corotated);
    CHECK_NEAR(Elastic("apd", "\"apd.law\": \"strain\"", E, s), strain, 1e-4 * strain);
    CHECK_NEAR(Elastic("apd", "\"apd.law\": \"volume\"", E, even), volume, 1e-4 * volume);
    CHECK_NEAR(Elastic("rigpbd", "", E, s), neo, 1e-4 * neo);
    double cut = Elastic("rigpbd", "", 1e9, s); // as soft as it can be in a substep, whatever is asked
    CHECK_NEAR(Elastic("rigpbd", "", 2e9, s), cut, 1e-4 * cut);
    CHECK(cut < 0.1 * neo * 1e9 / E);
}
