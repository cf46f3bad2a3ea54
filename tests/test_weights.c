#include "fixture.h"
#include "rig/weights.h"
#include "test.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Sparse rows

TEST(weights, listsAreSortedMergedAndScaled)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const int handles[3][4] = {{2, 0, 2, 1}, {1, 1, 0, 0}, {2, 0, 1, 0}};
    const double values[3][4] = {{0.25, 0.5, 0.25, 0}, {2, 2, -1, NAN}, {0.3, 0.3, 0.4, 0}};
    snwWeightLists lists = {3, 3, 4, handles[0], values[0], 0.0, 0};
    snwWeights* weights = NULL;
    int repaired = -1;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, &repaired, NULL) == snw_ok);
    CHECK_INT(repaired, 2); // merged; scaled and freed of nonsense
    CHECK_INT(snwWeights_Check(weights, 3, 3, NULL), snw_ok);
    CHECK_INT(weights->starts[1], 2);
    CHECK_INT(weights->starts[2], 3);
    CHECK_INT(snwWeights_MostInfluences(weights), 3);
    CHECK_NEAR(snwWeights_Get(weights, 0, 2), 0.5, 0);
    CHECK_NEAR(snwWeights_Get(weights, 0, 1), 0.0, 0);
    CHECK_NEAR(snwWeights_Get(weights, 1, 1), 1.0, 0);
    CHECK_NEAR(snwWeights_Get(weights, 2, 1), 0.4, 1e-15);
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

TEST(weights, pruningKeepsTheHeaviestAndTheSum)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const double dense[2][5] = {{0.4, 0.05, 0.3, 0.15, 0.1}, {0, 0.99, 0, 0.004, 0.006}};
    snwWeightLists lists = {2, 5, 5, NULL, dense[0], 0.0, 0};
    snwWeights *weights = NULL, *pruned = NULL;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, NULL, NULL) == snw_ok);
    REQUIRE(snwWeights_Prune(context, weights, 3, 0.005, &pruned, NULL) == snw_ok);
    CHECK_INT(snwWeights_Check(pruned, 2, 5, NULL), snw_ok);
    CHECK_INT(pruned->starts[1], 3);
    CHECK_INT(pruned->starts[2], 5);
    CHECK_NEAR(snwWeights_Get(pruned, 0, 0), 0.4 / 0.85, 1e-15);
    CHECK_NEAR(snwWeights_Get(pruned, 0, 3), 0.15 / 0.85, 1e-15);
    CHECK_NEAR(snwWeights_Get(pruned, 1, 4), 0.006 / 0.996, 1e-15);
    snwWeights* again = NULL; // the same limits in one go
    lists.influences = 3, lists.least = 0.005;
    REQUIRE(snwWeights_FromLists(context, &lists, &again, NULL, NULL) == snw_ok);
    CHECK(memcmp(again->values, pruned->values, 5 * sizeof(double)) == 0);
    CHECK(memcmp(again->handles, pruned->handles, 5 * sizeof(int)) == 0);
    snwContext_Free(context, weights);
    snwContext_Free(context, pruned);
    snwContext_Free(context, again);
    snwDestroyContext(context);
}

TEST(weights, rowsSumToOneToTheLastBit)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static double dense[2000][9];
    uint64_t seed = 5;
    for (int i = 0; i < 2000; ++i)
        for (int k = 0; k < 9; ++k)
            dense[i][k] = snwTest_Random(&seed) * (k % 3 == 0 ? 1e-9 : 1);
    snwWeightLists lists = {2000, 9, 9, NULL, dense[0], 0.0, 0};
    snwWeights* weights = NULL;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, NULL, NULL) == snw_ok);
    double worst = 0;
    for (int i = 0; i < 2000; ++i)
    {
        double sum = 0;
        for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
            sum += weights->values[k];
        worst = fmax(worst, fabs(sum - 1));
    }
    CHECK_NEAR(worst, 0, 5e-16);
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

static void CheckListsRefused(snwWeightLists lists, const char* part)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwWeights* weights = NULL;
    snwMessage message;
    CHECK_INT(snwWeights_FromLists(context, &lists, &weights, NULL, &message), snw_errorArgument);
    CHECK(weights == NULL);
    CHECK_CONTAINS(message.text, part);
    snwDestroyContext(context);
}

static void CheckWeightsRefused(snwWeights weights, const char* part)
{
    snwMessage message;
    CHECK_INT(snwWeights_Check(&weights, 2, 3, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, part);
}

TEST(weights, nonsenseIsRefused)
{
    const double none[2][2] = {{0.5, 0.5}, {0, -1}}, some[1][2] = {{0.5, 0.5}};
    const int far[1][2] = {{0, 3}}, below[1][2] = {{-1, 0}};
    CheckListsRefused((snwWeightLists){2, 2, 2, NULL, none[0], 0.0, 0}, "vertex 1 has no weight");
    CheckListsRefused((snwWeightLists){1, 3, 2, far[0], some[0], 0.0, 0}, "follows handle 3 of 3");
    CheckListsRefused((snwWeightLists){1, 3, 2, below[0], some[0], 0.0, 0}, "follows handle -1 of 3");

    int starts[3] = {0, 2, 3}, handles[3] = {0, 2, 1};
    double values[3] = {0.25, 0.75, 1};
    snwWeights good = {2, 3, starts, handles, values};
    CHECK_INT(snwWeights_Check(&good, 2, 3, NULL), snw_ok);
    CHECK_INT(snwWeights_Check(&good, 3, 3, NULL), snw_errorArgument);
    values[2] = 0.9;
    CheckWeightsRefused(good, "vertex 1 sum to 0.9");
    values[2] = NAN;
    CheckWeightsRefused(good, "vertex 1 has weight");
    values[2] = 1, values[0] = -0.25;
    CheckWeightsRefused(good, "vertex 0 has weight -0.25");
    values[0] = 0.25, handles[1] = 0;
    CheckWeightsRefused(good, "name handle 0 of 3 after handle 0");
    handles[1] = 3;
    CheckWeightsRefused(good, "name handle 3 of 3");
    handles[1] = 2, starts[1] = -5;
    CheckWeightsRefused(good, "go from 0 to -5");
    starts[1] = 2, starts[0] = 1;
    CheckWeightsRefused(good, "do not start at 0");
}
