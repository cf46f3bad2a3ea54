// The parts of `sinew bench studio` that need no time.

#include "bench.h"
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>

TEST(bench, unknownPartOfStudioIsRefused)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    snwBenchReport report = {.bench = "studio"};
    snwMessage message = {0};
    options.only = "frame";
    CHECK_INT(snwStudioBench.run(&options, &report, &message), snw_errorArgument);
    CHECK(strstr(message.remedy, "frames") != NULL);
    CHECK_INT(report.count, 0);
}

static void WriteNoise(const char* folder, const char* name, int size)
{
    char path[256];
    uint64_t seed = 3;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    for (int i = 0; i < size; ++i)
        fputc((int)(256 * snwTest_Random(&seed)), file);
    fclose(file);
}

// Noise does not get smaller; maps of the source are not sent, so they are not counted.
TEST(bench, studioCountsThePage)
{
    char folder[128];
    snwBenchOptions options = snwDefaultBenchOptions();
    snwBenchReport report = {.bench = "studio"};
    snwMessage message = {0};
    snprintf(folder, sizeof folder, "%s/page", snwTest_TempDir());
    mkdir(folder, 0777);
    WriteNoise(folder, "index.html", 10000);
    WriteNoise(folder, "page.js", 30000);
    WriteNoise(folder, "page.js.map", 90000);
    setenv("SINEW_WEB", folder, 1);
    options.only = "page";
    CHECK_INT(snwStudioBench.run(&options, &report, &message), snw_ok);
    REQUIRE(report.count == 1);
    CHECK(strcmp(report.rows[0].metric, "bundle_gzip_kb") == 0);
    CHECK(report.rows[0].value >= 40.0 && report.rows[0].value < 40.2);
    snwBenchReport_Free(&report);
    unsetenv("SINEW_WEB");
}
