// The machinery of `sinew bench pbcd`'s tables, on the scenario whose solution is known.

#include "test.h"

#include "pbcd_tables.h"

#include <math.h>
#include <string.h>

static const snwPbcdEnd s_end = {.tolerance = 1e-6, .most = 100};

static snwPbcdTrack RunMethod(const snwPbcdScenario* scenario, snwPbcdMethod method, double stiffness)
{
    snwPbcdTrack track;
    snwPbcdVariant variant = snwPbcdMethod_Variant(method, s_end, stiffness);
    CHECK_INT(snwPbcdScenario_Run(scenario, &variant, &track, NULL), snw_ok);
    CHECK(!track.diverged && !track.capped);
    return track;
}

// Implicit Euler of x'' = -w^2 x, by hand.
TEST(bench, oscillatorOfPbcdIsImplicitEuler)
{
    snwPbcdScenario scenario = snwMakePbcdOscillator();
    REQUIRE(snwPbcdScenario_Open(&scenario, NULL) == snw_ok);
    snwPbcdTrack seidel = RunMethod(&scenario, snw_methodSeidel, 0);
    snwPbcdTrack jacobi = RunMethod(&scenario, snw_methodJacobi, 0);
    double h = 1 / scenario.rate, x = 5, v = 0;
    for (int i = 0; i < scenario.frames; ++i)
    {
        v = (v - h * SNW_PI * SNW_PI * x) / (1 + h * h * SNW_PI * SNW_PI);
        x += h * v;
        CHECK_NEAR(snwPbcdTrack_At(&seidel, i, 1).x, 5 + x, 1e-4);
        CHECK(snwPbcdTrack_At(&seidel, i, 0).x == -5);
    }
    CHECK(snwPbcdTrack_Error(&seidel, &jacobi) == 0); // one constraint: no order to keep
    CHECK_NEAR(seidel.sweeps, 2, 1e-9);               // one that solves it and one that finds nothing to do
    snwPbcdTrack_Free(&seidel);
    snwPbcdTrack_Free(&jacobi);
    snwPbcdScenario_Close(&scenario);
}

TEST(bench, errorsOfTracksAreMeansOverVerticesAndFrames)
{
    float here[12] = {0}, there[12] = {0};
    there[3] = 3, there[4] = 4, there[11] = 1; // 5 m in the first frame, 1 m in the second
    snwPbcdTrack one = {.frames = 2, .vertices = 2, .x = here}, other = {.frames = 2, .vertices = 2, .x = there};
    CHECK_NEAR(snwPbcdTrack_Error(&one, &other), 1.5, 1e-12);
    other.diverged = true;
    CHECK(isinf(snwPbcdTrack_Error(&one, &other)));
}

// A grid search finds the stiffness with which one sweep of PBD is the spring: k = w^2 h^2 / (1 + w^2 h^2).
TEST(bench, gridSearchFindsTheSpringsStiffness)
{
    snwPbcdScenario scenario = snwMakePbcdOscillator();
    scenario.frames = 48;
    REQUIRE(snwPbcdScenario_Open(&scenario, NULL) == snw_ok);
    snwPbcdTrack truth = RunMethod(&scenario, snw_methodSeidel, 0);
    snwPbcdBest best;
    snwPbcdEnd once = {.most = 1, .refined = 19};
    REQUIRE(snwPbcdScenario_RunBest(&scenario, snw_methodPbd, once, &truth, &best, NULL) == snw_ok);
    double square = SNW_PI * SNW_PI / (scenario.rate * scenario.rate);
    CHECK_NEAR(best.stiffness, square / (1 + square), 1.5e-3); // half a step of the refined grid
    CHECK(best.error < 0.2);
    snwPbcdTrack_Free(&best.track);
    snwPbcdTrack_Free(&truth);
    snwPbcdScenario_Close(&scenario);
}

TEST(bench, tableOfPbcdHasTheThesisBeside)
{
    snwBenchReport report = {.bench = "pbcd"};
    snwBenchOptions options = snwDefaultBenchOptions();
    options.only = "oscillator";
    REQUIRE(snwPbcdBench.run(&options, &report, NULL) == snw_ok);
    CHECK_INT(report.count, 3 * snw_pbcdMethodCount);
    double errors[snw_pbcdMethodCount];
    for (int i = 0; i < snw_pbcdMethodCount; ++i)
    {
        const snwBenchRow* row = &report.rows[3 * i + 2];
        CHECK(strcmp(row->metric, "ae") == 0);
        CHECK(isfinite(row->value) && row->value > 0);
        CHECK(isfinite(row->paper) == (i < snw_pbcdThesisMethods));
        errors[i] = row->value;
    }
    CHECK(errors[snw_methodBdf2] < errors[snw_methodSeidel]); // as in the thesis
    CHECK(errors[snw_methodSeidel] < errors[snw_methodPbd]);
    CHECK(errors[snw_methodSoftBdf2] < errors[snw_methodBdf2]);
    const snwBenchFigure* figure = snwBenchReport_FindFigure(&report, "fig3_7");
    REQUIRE(figure != NULL);
    CHECK_INT(figure->curveCount, 1 + snw_pbcdMethodCount);
    CHECK_INT(figure->curves[0].count, 120);
    snwBenchReport_Free(&report);
}
