// The parts of `sinew bench softcontact` that take seconds, against what they promise; times aside, which a busy
// machine may spoil.

#include "test.h"

#include "bench.h"
#include "peer_process.h"

#include <stdlib.h>
#include <string.h>

// Runs a part; every row of it that has a target reaches it. Returns how many those are.
static int RunPart(const char* part)
{
    snwBenchReport report = {.bench = "softcontact"};
    snwBenchOptions options = snwDefaultBenchOptions();
    options.only = part;
    int count = 0;
    snwMessage message = {0};
    CHECK_INT(snwSoftcontactBench.run(&options, &report, &message), snw_ok);
    for (int i = 0; i < report.count; ++i)
    {
        const snwBenchRow* row = &report.rows[i];
        if (strcmp(row->metric, "lcp_ms") == 0 || strcmp(row->metric, "dart_ratio") == 0 || row->op == NULL)
            continue;
        ++count;
        if (snwBenchRow_Passes(row) != 1)
            snwTest_Fail(__FILE__, __LINE__, "%s of %s is %g", row->metric, row->caseName, row->value);
    }
    snwBenchReport_Free(&report);
    return count;
}

TEST_HEAVY(benchsoftcontact, problemsAreSolvedAsTheyCome)
{
    CHECK_INT(RunPart("problems/soft, of many"), 2);
    CHECK_INT(RunPart("problems/rigid, 1e-3 of W or 2e6 N/m, of many"), 2);
}

TEST(benchsoftcontact, theStartDoesNotMatter)
{
    CHECK_INT(RunPart("problems/soft 20, any start"), 1);
}

TEST_HEAVY(benchsoftcontact, siconosFindsTheSameImpulses)
{
    setenv("SINEW_PEERS", SNW_BINARY_DIR, 1);
    if (!snwPeer_Exists("sinew-peer-siconos"))
        SKIP("Siconos is not installed");
    CHECK_INT(RunPart("siconos/soft 40"), 2);
}

TEST_HEAVY(benchsoftcontact, bodiesAndContactAreWhatIsKnownOfThem)
{
    CHECK_INT(RunPart("truths"), 12);
}

TEST_HEAVY(benchsoftcontact, boxesThatDropStopWhereTheGroundIs)
{
    CHECK_INT(RunPart("drop/drop"), 14);
}

TEST_HEAVY(benchsoftcontact, aBipedInPlaceLeavesNoProblemUnsolved)
{
    CHECK_INT(RunPart("table"), 4);
}

// Rows are there without them, and say why they are empty.
TEST(benchsoftcontact, peersAreNotNeeded)
{
    setenv("SINEW_PEERS", "/nowhere", 1);
    snwBenchReport report = {.bench = "softcontact"};
    snwBenchOptions options = snwDefaultBenchOptions();
    snwMessage message = {0};
    options.only = "siconos/soft 40";
    CHECK_INT(snwSoftcontactBench.run(&options, &report, &message), snw_ok);
    options.only = "dart/soft box, k_m 1000,";
    CHECK_INT(snwSoftcontactBench.run(&options, &report, &message), snw_ok);
    REQUIRE(report.count == 2);
    for (int i = 0; i < 2; ++i)
        CHECK_CONTAINS(report.rows[i].note, "make bench-deps");
    CHECK(snwBenchRow_Passes(&report.rows[1]) == 1); // ours lies on the ground all the same
    snwBenchReport_Free(&report);
}
