// Benchmarks with figures, and the parts of `sinew bench apd` on a bar small enough for a test.

#include "fixture.h"
#include "process.h"
#include "test.h"

#include "apd_bench.h"

#include <jansson.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <sys/stat.h>

#define RUN(...) snwProcess_Run((const char* const[]){SNW_BINARY_DIR "/sinew", __VA_ARGS__, NULL})

// ---------------------------------------------------------------------------------------------------------------------
// Figures

static bool IsPng(const char* path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    bool good = png_image_begin_read_from_file(&image, path) != 0 && image.width > 200;
    png_image_free(&image);
    return good;
}

// What a bench hands over: a curve, what a paper has, and a figure that stayed empty.
static void FillReport(snwBenchReport* report)
{
    snwBenchRow row = snwMakeBenchRow("block", "pbd", "step_ms");
    row.value = 2;
    CHECK_INT(snwBenchReport_Add(report, &row, NULL), snw_ok);
    snwBenchFigure* figure = snwBenchReport_AddFigure(report, "errors", "Errors & iterations");
    snwBenchReport_AddFigure(report, "empty", "nothing was run");
    figure->logY = true;
    snwBenchCurve* ours = snwBenchFigure_AddCurve(figure, snw_curveOurs, "ours");
    snwBenchCurve* paper = snwBenchFigure_AddCurve(figure, snw_curveReferenceDots, "Smith 2015, Fig. 3");
    for (int i = 0; i < 200; ++i)
    {
        snwBenchCurve_Add(ours, i, pow(10, -0.02 * i));
        snwBenchCurve_Add(paper, i, i == 0 ? 0 : 0.1); // log of 0: a gap
    }
}

TEST(bench, figuresShowThePaperBesideOurs)
{
    char path[256];
    snwMessage message = {0};
    snwBenchReport report = {.bench = "test"};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char folder[200];
    snprintf(folder, sizeof folder, "%s/figures", snwTest_TempDir());
    REQUIRE(mkdir(folder, 0777) == 0);
    snwBenchOutput output = {context, folder, false};
    FillReport(&report);
    REQUIRE(snwBenchReport_WriteFiles(&report, &output, &message) == snw_ok);
    snprintf(path, sizeof path, "%s/errors.svg", output.folder);
    char* svg = snwReadWhole(path);
    REQUIRE(svg != NULL);
    CHECK_CONTAINS(svg, "Smith 2015, Fig. 3");
    CHECK_CONTAINS(svg, "Errors &amp; iterations");
    CHECK_CONTAINS(svg, "#7c828b"); // a reference is grey
    CHECK_CONTAINS(svg, ">-4");     // the lowest tick: powers of ten
    CHECK_CONTAINS(svg, "</svg>");
    free(svg);
    snprintf(path, sizeof path, "%s/errors.png", output.folder);
    CHECK(IsPng(path));
    snprintf(path, sizeof path, "%s/errors.csv", output.folder);
    char* points = snwReadWhole(path);
    REQUIRE(points != NULL);
    CHECK_CONTAINS(points, "curve,x,y\n\"ours\",0,1\n\"ours\",1,0.954992586\n");
    CHECK_CONTAINS(points, "\"Smith 2015, Fig. 3\",199,0.1\n");
    free(points);
    snprintf(path, sizeof path, "%s/empty.png", output.folder);
    CHECK(!IsPng(path));
    snprintf(path, sizeof path, "%s/rows.json", output.folder);
    char* text = snwReadWhole(path);
    json_t* json = json_loads(text != NULL ? text : "", 0, NULL);
    CHECK_INT(json_array_size(json_object_get(json, "rows")), 1);
    json_decref(json);
    free(text);
    CHECK_INT(snwBenchReport_WriteFiles(&report, &output, &message), snw_errorIo); // exists
    snwBenchReport_Free(&report);
    snwDestroyContext(context);
}

TEST(bench, stemsReachEveryPoint)
{
    snwBenchReport report = {.bench = "test"};
    snwBenchFigure* figure = snwBenchReport_AddFigure(&report, "bars", "");
    snwBenchCurve* curve = snwBenchFigure_AddCurve(figure, snw_curveOursStems, "ours");
    snwBenchCurve_Add(curve, 1, 5);
    REQUIRE(curve->count == 3);
    CHECK(curve->y[0] == 0 && curve->y[1] == 5 && isnan(curve->y[2]));
    CHECK(snwBenchReport_FindFigure(&report, "bars") == figure);
    CHECK(snwBenchReport_FindFigure(&report, "table") == NULL);
    for (int i = 1; i < snw_maxFigureCurves; ++i)
        CHECK(snwBenchFigure_AddCurve(figure, snw_curveOurs, "") != NULL);
    CHECK(snwBenchFigure_AddCurve(figure, snw_curveOurs, "") == NULL);
    snwBenchReport_Free(&report);
}

// A benchmark of minutes does not begin if its rows could not be written.
TEST(bench, outputThatExistsIsRefusedFirst)
{
    char path[256];
    snprintf(path, sizeof path, "%s/rows.json", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    fclose(file);
    snwProcess run = RUN("bench", "frames", "-o", snwTest_TempDir());
    CHECK(run.code != 0);
    CHECK_CONTAINS(run.errors, "rows.json");
    CHECK_CONTAINS(run.errors, "--force");
    snwProcess_Free(&run);
    run = RUN("bench", "apd", "--case", "nothing");
    CHECK(run.code != 0);
    CHECK_CONTAINS(run.errors, "monster-stairs");
    snwProcess_Free(&run);
    run = RUN("bench", "frames", "--regenerate-truth");
    CHECK(run.code != 0);
    CHECK_CONTAINS(run.errors, "sinew bench apd --regenerate-truth");
    snwProcess_Free(&run);
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts of bench apd

static const char s_bar[] =
    "{\"sinew\": 1, \"name\": \"bar\", \"method\": \"apd\", \"rate\": 30, \"duration\": 1,"
    " \"settings\": {\"sim.substeps\": 1, \"apd.iterations\": 10},"
    " \"bodies\": [{\"name\": \"bar\", \"character\": {\"blueprint\": {\"sinew\": 1, \"name\": \"bar\","
    "  \"material\": {\"density\": 1000, \"young\": 200000, \"poisson\": 0.4, \"damping\": 0},"
    "  \"box\": {\"size\": [1, 0.2, 0.2], \"cells\": [15, 3, 3]},"
    "  \"bones\": [{\"name\": \"a\", \"head\": [-0.3, 0, 0], \"tail\": [-0.15, 0, 0], \"radius\": 0.081},"
    "   {\"name\": \"b\", \"parent\": \"a\", \"head\": [0.15, 0, 0], \"tail\": [0.4, 0, 0], \"radius\": 0.081}],"
    "  \"joints\": [{\"type\": \"ball\", \"bone\": \"b\", \"parent\": \"a\", \"at\": [0, 0, 0]}]}},"
    "  \"position\": [0, 1, 0]}],"
    " \"pins\": [{\"name\": \"wall\", \"body\": \"bar\", \"lower\": [-0.6, -1, -1], \"upper\": [-0.49, 1, 1]}]}";

static const snwBenchRow* FindRow(const snwBenchReport* report, const char* method, const char* metric)
{
    for (int i = 0; i < report->count; ++i)
        if (strcmp(report->rows[i].method, method) == 0 && strcmp(report->rows[i].metric, metric) == 0)
            return &report->rows[i];
    return NULL;
}

TEST(bench, apdTableOfASmallBar)
{
    static const struct
    {
        const char *method, *metric;
    } expected[] = {{"articulated", "ms_per_iteration"}, {"plain", "ms_per_iteration"}, {"split", "ms_per_iteration"},
        {"articulated", "ratio_to_pd"}, {"articulated", "ratio_to_pd_pinned"}, {"articulated", "speedup_vs_literal"},
        {"plain", "pd_vs_roofline"}, {"articulated", "solve_vs_bandwidth"}, {"volume", "local_ns"},
        {"articulated", "stage_ms.local"}, {"literal", "stage_ms.columns"}};
    snwMessage message = {0};
    snwBenchReport report = {.bench = "apd"};
    snwBenchOptions options = snwDefaultBenchOptions();
    options.runs = 1;
    snwApdRows rows = {.report = &report, .options = &options, .message = &message};
    snwApdCase bar = {.name = "bar", .json = s_bar, .frames = 5, .total = {10, 10, NAN, 20}};
    snwAddApdTable(&rows, &bar); // refuses metrics that are not registered
    REQUIRE(rows.result == snw_ok);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i)
    {
        const snwBenchRow* row = FindRow(&report, expected[i].method, expected[i].metric);
        REQUIRE(row != NULL);
        CHECK(row->value >= 0);
    }
    CHECK(FindRow(&report, "articulated", "ms_per_iteration")->paper == 2);
    CHECK(FindRow(&report, "articulated", "ratio_to_pd")->paper == 2);
    CHECK(FindRow(&report, "articulated", "joint_gap")->value < 1e-9);
    CHECK(FindRow(&report, "articulated", "bone_rigidity")->value < 1e-6);
    CHECK(FindRow(&report, "articulated", "diff_vs_literal")->value < 1e-5);
    const snwBenchRow* none = FindRow(&report, "articulated", "stage_ms.columns");
    CHECK(isnan(none->value) && none->note[0] != 0);
    snwBenchReport_Free(&report);
}

static void CopyPlaces(const snwSim* sim, snwVec3* positions, snwTransform* bones)
{
    snwTransforms now;
    const snwCharacterDef* def = &sim->bodies[0].character->def;
    memcpy(positions, snwApd_GetState(sim, 0).positions, (size_t)def->vertexCount * sizeof *positions);
    CHECK_INT(snwSim_GetBones(sim, 0, &now), snw_ok);
    memcpy(bones, now.data, (size_t)def->boneCount * sizeof *bones);
}

static void StepBar(snwSim* sim)
{
    snwMessage message = {0};
    CHECK_INT(snwSim_Step(sim, 1.0 / 30, &message), snw_ok);
}

// Two frames of one sim put another where the first one is: they go on alike.
TEST(bench, apdPlacesGoOnWhereTheyWereTaken)
{
    snwMessage message = {0};
    snwApdStage stage;
    REQUIRE(snwApdStage_Parse(&stage, s_bar, &message) == snw_ok);
    snwApdVariant variant = snwMakeApdVariant(snw_apdArticulated);
    snwSim *first = NULL, *second = NULL;
    REQUIRE(snwApdStage_CreateSim(&stage, &variant, &first, &message) == snw_ok);
    REQUIRE(snwApdStage_CreateSim(&stage, &variant, &second, &message) == snw_ok);
    size_t n = (size_t)first->bodies[0].character->def.vertexCount;
    snwVec3 *before = malloc(n * sizeof *before), *now = malloc(n * sizeof *now);
    snwTransform bonesBefore[2], bonesNow[2];
    for (int i = 0; i < 4; ++i)
        StepBar(first);
    CopyPlaces(first, before, bonesBefore);
    StepBar(first);
    CopyPlaces(first, now, bonesNow);
    CHECK(snwApdSim_Distance(first, second) > 0.01); // it has fallen
    snwApdPlaces was = {before, bonesBefore}, is = {now, bonesNow};
    snwApdSim_Place(second, &was, &is, 1.0 / 30);
    CHECK(snwApdSim_Distance(first, second) < 1e-12);
    StepBar(first);
    StepBar(second);
    CHECK(snwApdSim_Distance(first, second) < 1e-6); // rotations start from other guesses, in float
    free(before);
    free(now);
    snwDestroySim(first);
    snwDestroySim(second);
    snwApdStage_Close(&stage);
}

TEST(bench, apdMomentBringsOtherSolversToTheSamePlace)
{
    snwMessage message = {0};
    snwApdStage stage;
    REQUIRE(snwApdStage_Parse(&stage, s_bar, &message) == snw_ok);
    snwApdVariant ours = snwMakeApdVariant(snw_apdArticulated), plain = snwMakeApdVariant(snw_apdPlain);
    snwSim *first = NULL, *same = NULL, *other = NULL;
    snwApdMoment moment;
    REQUIRE(snwApdStage_CreateSim(&stage, &ours, &first, &message) == snw_ok);
    REQUIRE(snwApdStage_CreateSim(&stage, &ours, &same, &message) == snw_ok);
    REQUIRE(snwApdStage_CreateSim(&stage, &plain, &other, &message) == snw_ok);
    for (int i = 0; i < 4; ++i)
        StepBar(first);
    REQUIRE(snwApdMoment_Take(first, &moment, &message) == snw_ok);
    StepBar(first);
    snwApdMoment_Apply(&moment, same);
    snwApdMoment_Apply(&moment, other);
    CHECK_INT(snwSim_GetStepCount(other), 4);
    CHECK(snwApdSim_Distance(same, other) == 0);
    StepBar(same);
    CHECK(snwApdSim_Distance(first, same) == 0); // bit for bit
    StepBar(other);
    CHECK(snwApdSim_Distance(first, other) > 1e-6); // flesh without bones goes another way
    CHECK(snwApdSim_Rigidity(first) < 1e-6 && snwApdSim_Rigidity(other) > 1e-6);
    snwApdMoment_Free(&moment);
    snwDestroySim(first);
    snwDestroySim(same);
    snwDestroySim(other);
    snwApdStage_Close(&stage);
}

TEST(bench, turnedAngleIsThatOfTheRotation)
{
    CHECK_NEAR(snwTurnedAngle((snwQuat){0, 0, 0, 1}), 0, 1e-12);
    CHECK_NEAR(snwTurnedAngle((snwQuat){0, sqrt(0.5), 0, -sqrt(0.5)}), 90, 1e-9);
    CHECK_NEAR(snwTurnedAngle((snwQuat){1, 0, 0, 0}), 180, 1e-9);
}
