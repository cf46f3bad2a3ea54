// Rows of benchmarks: what is refused, what is written, and that the page of metrics is up to date.

#include "process.h"
#include "test.h"

#include "bench.h"
#include "bundle_character.h"
#include "peer_bullet.h"
#include "sim/character.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static snwBenchRow GoodRow(void)
{
    snwBenchRow row = snwMakeBenchRow("block", "pbd", "step_ms");
    row.value = 2;
    row.n = 3;
    row.spread = 0.5;
    return row;
}

// What a writer wrote; free() it.
static char* Written(const snwBenchReport* report, bool json)
{
    char path[128];
    snprintf(path, sizeof path, "%s/report", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    if (file == NULL)
        return NULL;
    if (json)
        snwBenchReport_WriteJson(report, file);
    else
        snwBenchReport_WriteTable(report, file);
    fclose(file);
    return snwReadWhole(path);
}

TEST(bench, rejectsUnknownMetric)
{
    snwBenchReport report = {.bench = "test"};
    snwMessage message = {0};
    snwBenchRow row = GoodRow();
    row.metric = "step_hours";
    CHECK_INT(snwBenchReport_Add(&report, &row, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "step_hours");
    CHECK_INT(report.count, 0);
    row.metric = "step_ms";
    CHECK_INT(snwBenchReport_Add(&report, &row, &message), snw_ok);
    CHECK_INT(report.count, 1);
    snwBenchReport_Free(&report);
}

TEST(bench, missingNeedsANote)
{
    snwBenchReport report = {.bench = "test"};
    snwBenchRow row = snwMakeBenchRow("block", "pbd", "step_ms");
    CHECK_INT(snwBenchReport_Add(&report, &row, NULL), snw_errorArgument);
    snprintf(row.note, sizeof row.note, "not measured");
    CHECK_INT(snwBenchReport_Add(&report, &row, NULL), snw_ok);
    row.target = 3;
    CHECK_INT(snwBenchReport_Add(&report, &row, NULL), snw_errorArgument);
    snwBenchReport_Free(&report);
}

TEST(bench, passNeedsATarget)
{
    snwBenchRow row = GoodRow();
    CHECK_INT(snwBenchRow_Passes(&row), -1);
    row.target = 2;
    row.op = "<=";
    CHECK_INT(snwBenchRow_Passes(&row), 1);
    row.value = 2.1;
    CHECK_INT(snwBenchRow_Passes(&row), 0);
    row.op = ">=";
    CHECK_INT(snwBenchRow_Passes(&row), 1);
    row.op = "==";
    CHECK_INT(snwBenchRow_Passes(&row), 0);
    row.value = NAN;
    CHECK_INT(snwBenchRow_Passes(&row), -1);
}

TEST(bench, jsonHasAllKeys)
{
    static const char* const keys[] = {"case", "method", "metric", "value", "unit", "n", "spread", "paper", "peer",
        "peer_name", "target", "op", "pass", "note"};
    enum
    {
        keyCount = sizeof keys / sizeof *keys
    };
    snwBenchReport report = {.bench = "test"};
    snwBenchRow row = GoodRow();
    snwBenchReport_Add(&report, &row, NULL);
    char* text = Written(&report, true);
    json_t* json = json_loads(text != NULL ? text : "", 0, NULL);
    free(text);
    REQUIRE(json != NULL);
    CHECK_INT(json_integer_value(json_object_get(json, "schema")), 1);
    CHECK(json_object_size(json_object_get(json, "host")) == 6);
    json_t* first = json_array_get(json_object_get(json, "rows"), 0);
    CHECK_INT(json_object_size(first), keyCount);
    for (int i = 0; i < keyCount; ++i)
        CHECK(json_object_get(first, keys[i]) != NULL);
    CHECK(json_is_null(json_object_get(first, "pass")));
    CHECK(json_is_null(json_object_get(first, "paper")));
    CHECK(strcmp(json_string_value(json_object_get(first, "unit")), "ms") == 0);
    json_decref(json);
    snwBenchReport_Free(&report);
}

TEST(bench, tableShowsVerdicts)
{
    snwBenchReport report = {.bench = "test"};
    snwBenchRow row = GoodRow();
    row.target = 1;
    row.op = "<=";
    row.paper = 1695.8;
    snwBenchReport_Add(&report, &row, NULL);
    char* text = Written(&report, false);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "FAILED");
    CHECK_CONTAINS(text, "<= 1");
    CHECK_CONTAINS(text, "1696");
    free(text);
    snwBenchReport_Free(&report);
}

TEST(bench, medianAndSpread)
{
    snwSamples samples = {0}, twice = {0};
    CHECK(isnan(snwSamples_Median(&samples)));
    static const double values[] = {5, 1, 4, 2, 3};
    for (int i = 0; i < 5; ++i)
    {
        snwSamples_Add(&samples, values[i]);
        snwSamples_Add(&twice, values[i] / 2);
    }
    CHECK_NEAR(snwSamples_Median(&samples), 3, 1e-15);
    CHECK_NEAR(snwSamples_Spread(&samples), 1, 1e-15);
    snwSamples ratios = snwSamples_Ratios(&samples, &twice);
    CHECK_NEAR(snwSamples_Median(&ratios), 2, 1e-15);
    CHECK_NEAR(snwSamples_Spread(&ratios), 0, 1e-15);
}

TEST(bench, docListsExactlyTheMetrics)
{
    char path[128];
    snprintf(path, sizeof path, "%s/bench.md", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    snwPrintMetricsDoc(file);
    fclose(file);
    char *made = snwReadWhole(path), *stored = snwReadWhole(SNW_SOURCE_DIR "/docs/bench.md");
    CHECK(made != NULL && stored != NULL && strcmp(made, stored) == 0); // else: make docs
    for (const snwMetric* metric = snwMetrics; made != NULL && metric->name != NULL; ++metric)
        CHECK_CONTAINS(made, metric->name);
    free(made);
    free(stored);
}

TEST(bench, namesAreUnique)
{
    for (const snwMetric* a = snwMetrics; a->name != NULL; ++a)
        for (const snwMetric* b = a + 1; b->name != NULL; ++b)
            CHECK(strcmp(a->name, b->name) != 0);
}

// The helper is never beside the tests; a bench then says so and goes on.
TEST(bench, bulletIsNotNeeded)
{
    snwBulletTimes times;
    const char* why = NULL;
    CHECK(!snwMeasureBullet(&(snwBulletDef){0}, &times, &why));
    REQUIRE(why != NULL);
    CHECK(strstr(why, "make bench-deps") != NULL);
}

TEST(bench, unknownPartOfPbcdIsRefused)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    snwBenchReport report = {.bench = "pbcd"};
    snwMessage message = {0};
    options.only = "spede";
    CHECK_INT(snwPbcdBench.run(&options, &report, &message), snw_errorArgument);
    CHECK(strstr(message.remedy, "speed") != NULL);
    CHECK_INT(report.count, 0);
}

// The published fish is not ours to ship; the rows are there without it, and say why they are empty.
TEST(bench, fishIsNotNeeded)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    snwBenchReport report = {.bench = "pbcd"};
    const char* folder = getenv("SINEW_DATA");
    char* kept = folder == NULL ? NULL : strdup(folder);
    options.only = "fish";
    unsetenv("SINEW_DATA");
    CHECK_INT(snwPbcdBench.run(&options, &report, NULL), snw_ok);
    CHECK_INT(report.count, 3);
    for (int i = 0; i < report.count; ++i)
    {
        CHECK(isnan(report.rows[i].value));
        CHECK_CONTAINS(report.rows[i].note, "SINEW_DATA");
    }
    if (kept != NULL)
        setenv("SINEW_DATA", kept, 1);
    free(kept);
    snwBenchReport_Free(&report);
}

static void WriteFile(const char* name, const char* text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", snwTest_TempDir(), name);
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs(text, file);
    fclose(file);
}

// A handle that turns by 90 degrees about z where it stands and goes 2 m along x: the motion of the bone says the same,
// and a tet that the file has inside out is turned.
TEST(bench, bundleBecomesACharacter)
{
    WriteFile("one.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                          "Tetrahedra\n1\n1 3 2 4 0\nEnd\n");
    WriteFile("one.tgf", "1 1 0 0\n#\n#\n");
    WriteFile("one.dmat", "1 4\n1\n1\n1\n1\n");
    WriteFile("one.txt", "1 2\n1 0 0 0 0 0\n1 0 0 0 0 0\n3 0 0 0 0 90\n");
    WriteFile("one.json", "{\"mesh_file\": \"one.mesh\", \"handle_file\": \"one.tgf\", \"weight_file\": \"one.dmat\", "
                          "\"anim_file\": \"one.txt\", \"dt\": 0.5, \"YM\": 5000, \"pr\": 0.4}");
    char path[256];
    snwContext* context = NULL;
    snwBundleBody body;
    snprintf(path, sizeof path, "%s/one.json", snwTest_TempDir());
    snwContextDef made = snwDefaultContextDef();
    REQUIRE(snwCreateContext(&made, &context, NULL) >= 0);
    REQUIRE(snwBundleBody_Open(context, path, &body, NULL) >= 0);
    const snwCharacterDef* def = &body.character->def;
    snwTransform pose;
    CHECK_INT(body.frameCount, 2);
    CHECK_NEAR(body.step, 0.5, 1e-12);
    CHECK_NEAR(def->materials[0].young, 5000, 0);
    CHECK(body.character->restVolumes[0] > 0);
    CHECK_INT(body.character->vertexBones[0], -1);
    snwSkeleton_Pose(&body.character->skeleton, &def->motions[0], 0.5, &pose);
    snwVec3 moved = snwTransform_Apply(pose, (snwVec3){2, 0, 0});
    CHECK_NEAR(moved.x, 3, 1e-9);
    CHECK_NEAR(moved.y, 1, 1e-9);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}
