// The rows of `sinew bench bake`: rigs with one oddity each here, all of it in `make test-long`.

#include "test.h"

#include "bench.h"

#include <stdlib.h>
#include <string.h>

// Rows of the case, all of which must hold; ordinary ones are named by the caller.
static void CheckRows(const snwBenchOptions* options, const char* const* metrics)
{
    snwBenchReport report = {.bench = "bake"};
    snwMessage message = {0};
    if (snwBakeBench.run(options, &report, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    for (int i = 0; i < report.count; ++i)
    {
        const snwBenchRow* row = &report.rows[i];
        if (snwBenchRow_Passes(row) == 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s is %g, not %s %g %s", row->caseName, row->metric, row->value,
                row->op, row->target, row->note);
    }
    for (; *metrics != NULL; ++metrics)
    {
        int judged = 0;
        for (int i = 0; i < report.count; ++i)
            judged += strcmp(report.rows[i].metric, *metrics) == 0 && snwBenchRow_Passes(&report.rows[i]) == 1;
        if (judged == 0)
            snwTest_Fail(__FILE__, __LINE__, "no row of %s is judged", *metrics);
    }
    snwBenchReport_Free(&report);
}

TEST(bakebench, rigsWithOneOddityComeBackRightAndSmall)
{
    static const char* const s_metrics[] = {
        "baked", "gate_err", "gate_err_held", "torn_edges", "bake_err", "size_ratio", "targets_per_frame", NULL};
    snwBenchOptions options = snwDefaultBenchOptions();
    options.only = "made";
    CheckRows(&options, s_metrics);
}

TEST_LONG(bakebench, everyRowHolds)
{
    static const char* const s_metrics[] = {"baked", "gate_err", "gate_err_held", "torn_edges", "bake_err",
        "size_ratio", "targets_per_frame", "loop_seam", "bake_s", "peak_rss", "interrupt_ms", NULL};
    snwBenchOptions options = snwDefaultBenchOptions();
    options.full = true;
    CheckRows(&options, s_metrics);
}
