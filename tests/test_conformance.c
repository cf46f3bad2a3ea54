// The conformance suite of contact, with every method that is there: what a method lacks it says.

#include "contact_suite.h"
#include "test.h"

#include <string.h>

static snwSuiteResult RunCase(const char* method, snwSuiteCase which)
{
    snwSuiteDef def = {method, 3, 1};
    snwSuiteResult result;
    snwMessage message = {0};
    if (snwSuite_Run(&def, which, &result, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s %s", method, message.place, message.text);
    if (!result.applies)
        CHECK(result.note[0] != 0);
    return result;
}

#define FOR_METHODS(result, which)                                                                                     \
    for (int method = 0; method < snwMethodCount(); ++method)                                                          \
        for (snwSuiteResult result = RunCase(snwMethod_GetInfo(method).name, which); result.applies;                   \
             result.applies = false)

TEST(conformance, inclineHoldsAndSlides)
{
    FOR_METHODS(result, snw_suiteIncline)
    {
        CHECK(result.values[0] <= 1e-4);
        CHECK(result.values[1] <= 0.01);
    }
}

TEST(conformance, stackStands)
{
    FOR_METHODS(result, snw_suiteStack)
    CHECK(result.values[0] <= 1e-3);
}

TEST_LONG(conformance, stackStandsAMinute)
{
    for (int method = 0; method < snwMethodCount(); ++method)
    {
        snwSuiteDef def = {snwMethod_GetInfo(method).name, 56, 1};
        snwSuiteResult result;
        CHECK(snwSuite_Run(&def, snw_suiteStack, &result, NULL) == snw_ok);
        CHECK(!result.applies || result.values[0] <= 1e-3);
    }
}

TEST(conformance, pressedBodiesShareAndSeparate)
{
    FOR_METHODS(result, snw_suitePress)
    {
        CHECK_NEAR(result.values[0], 0.5, 0.025);
        CHECK(result.values[1] >= 0);
    }
}

TEST(conformance, foldedBarStaysOutOfItself)
{
    FOR_METHODS(result, snw_suiteFold)
    CHECK(result.values[0] == 0);
}

TEST(conformance, wallIsNotTunnelled)
{
    FOR_METHODS(result, snw_suiteWall)
    CHECK(result.values[0] == 0);
}

TEST(conformance, heavyPropRestsOnFlesh)
{
    FOR_METHODS(result, snw_suiteAnvil)
    CHECK(result.values[0] <= 1e-3);
}

TEST(conformance, plateSinksAsDeepAsItMust)
{
    FOR_METHODS(result, snw_suiteSink)
    {
        CHECK(result.values[0] <= 0.05);
        CHECK(result.values[1] <= 1e-3);
    }
}

TEST(conformance, anyNumberOfThreadsGivesTheSameBits)
{
    const snwSuiteCase cases[] = {snw_suitePress, snw_suiteFold, snw_suiteSink, snw_suiteAnvil};
    for (int i = 0; i < 4; ++i)
    {
        snwSuiteDef def = {"pbd", 0, 1};
        snwSuiteResult result;
        CHECK(snwSuite_SameHash(&def, cases[i], 6, &result, NULL) == snw_ok);
        CHECK(result.applies && result.values[0] == 1);
    }
}

TEST(conformance, ballOnStairsNeverEndsInsideThem)
{
    FOR_METHODS(result, snw_suiteStairs)
    {
        CHECK(result.values[0] <= 5e-3);
        CHECK(result.values[1] <= 1e-3);
    }
}
