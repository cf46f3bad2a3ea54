// The conformance suite of contact, with every method that is there: what a method lacks it says.
// Labels: kernels

#include "contact_suite.h"
#include "sinew/tools.h"
#include "test.h"

#include <string.h>

static snwSuiteResult RunCase(const char* method, snwSuiteCase which)
{
    snwSuiteDef def = {method, 1, 1, true};
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

TEST_HEAVY(conformance, inclineHoldsAndSlides)
{
    FOR_METHODS(result, snw_suiteIncline)
    {
        CHECK(result.values[0] <= 1e-4);
        CHECK(result.values[1] <= 0.01);
    }
}

TEST_HEAVY(conformance, stackStands)
{
    FOR_METHODS(result, snw_suiteStack)
    CHECK(result.values[0] <= 1e-3);
}

TEST_LONG(conformance, stackStandsAMinute)
{
    for (int method = 0; method < snwMethodCount(); ++method)
    {
        snwSuiteDef def = {snwMethod_GetInfo(method).name, 56, 1, false};
        snwSuiteResult result;
        CHECK(snwSuite_Run(&def, snw_suiteStack, &result, NULL) == snw_ok);
        CHECK(!result.applies || result.values[0] <= 1e-3);
    }
}

TEST_HEAVY(conformance, pressedBodiesShareAndSeparate)
{
    FOR_METHODS(result, snw_suitePress)
    {
        CHECK_NEAR(result.values[0], 0.5, 0.025);
        CHECK(result.values[1] >= 0);
    }
}

TEST_HEAVY(conformance, foldedBarStaysOutOfItself)
{
    FOR_METHODS(result, snw_suiteFold)
    CHECK(result.values[0] == 0);
}

TEST_HEAVY(conformance, wallIsNotTunnelled)
{
    FOR_METHODS(result, snw_suiteWall)
    CHECK(result.values[0] == 0);
}

TEST_HEAVY(conformance, heavyPropRestsOnFlesh)
{
    FOR_METHODS(result, snw_suiteAnvil)
    CHECK(result.values[0] <= 1e-3);
}

TEST_HEAVY(conformance, plateSinksAsDeepAsItMust)
{
    FOR_METHODS(result, snw_suiteSink)
    {
        CHECK(result.values[0] <= 0.05);
        CHECK(result.values[1] <= 1e-3);
    }
}

TEST(conformance, anyNumberOfThreadsGivesTheSameBits) // Labels: threads
{
    const snwSuiteCase cases[] = {snw_suitePress, snw_suiteFold, snw_suiteSink, snw_suiteAnvil};
    for (int i = 0; i < 4; ++i)
    {
        snwSuiteDef def = {"pbd", 0, 1, true};
        snwSuiteResult result;
        CHECK(snwSuite_SameHash(&def, cases[i], 6, &result, NULL) == snw_ok);
        CHECK(result.applies && result.values[0] == 1);
    }
}

TEST_HEAVY(conformance, ballOnStairsNeverEndsInsideThem)
{
    FOR_METHODS(result, snw_suiteStairs)
    {
        CHECK(result.values[0] <= 5e-3);
        CHECK(result.values[1] <= 1e-3);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Hands on props

static const char s_ballBeside[] =
    "{\"sinew\": 1, \"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"bar\", \"character\": {\"shape\": \"bar\", "
    "\"cells\": "
    "[4, 1, 1]}, \"position\": [5, 0, 0]}], \"props\": [{\"name\": \"ball\", \"kind\": \"sphere\", \"radius\": 0.1, "
    "\"density\": 1e5}]}";

// The ball after `steps` steps with one command.
static bool RunCommand(snwContext* context, const char* method, const char* command, int steps, snwProp* ball)
{
    snwSceneOptions options = snwDefaultSceneOptions();
    options.method = method;
    snwSceneFile file;
    if (snwSceneFile_Parse(context, s_ballBeside, strlen(s_ballBeside), "ball", &options, &file, NULL) < 0)
        return false;
    snwSimDef simDef = snwDefaultSimDef();
    simDef.scene = file.scene;
    snwSim* sim = NULL;
    snwCommand parsed;
    snwProps props;
    bool done = snwCreateSim(context, &simDef, &sim, NULL) == snw_ok &&
                snwCommand_Parse(file.scene, command, strlen(command), &parsed, NULL) == snw_ok &&
                snwSim_Push(sim, &parsed, NULL) == snw_ok;
    for (int i = 0; i < steps && done; ++i)
        done = snwSim_Step(sim, 1.0 / 60.0, NULL) == snw_ok;
    done = done && snwSim_GetProps(sim, &props) == snw_ok && props.count == 1;
    if (done)
        *ball = props.data[0];
    snwDestroySim(sim);
    snwSceneFile_Close(&file);
    return done;
}

TEST(conformance, propFollowsTheHand)
{
    const double mass = 4.0 / 3.0 * 3.14159265358979323846 * 0.001 * 1e5;
    snwContextDef contextDef = snwDefaultContextDef();
    snwContext* context = NULL;
    REQUIRE(snwCreateContext(&contextDef, &context, NULL) == snw_ok);
    for (int i = 0; i < snwMethodCount(); ++i)
    {
        const char* method = snwMethod_GetInfo(i).name;
        const char* drag =
            "{\"kind\": \"drag\", \"prop\": \"ball\", \"position\": [0.2, 0.6, -0.3], \"strength\": 0.5}";
        const char* push = "{\"kind\": \"push\", \"prop\": \"ball\", \"force\": [0, 6, 0], \"duration\": 0.11}";
        snwProp held = {0}, pushed = {0};
        CHECK(RunCommand(context, method, drag, 60, &held));
        CHECK_NEAR(held.transform.position.x, 0.2, 1e-6);
        CHECK_NEAR(held.transform.position.y, 0.6, 1e-6);
        CHECK_NEAR(held.transform.position.z, -0.3, 1e-6);
        CHECK(RunCommand(context, method, push, 12, &pushed));
        CHECK_NEAR(pushed.velocity.y, 6 * 0.11 / mass, 1e-9);
    }
    snwDestroyContext(context);
}
