#include "asset/decimate.h"
#include "broken.h"
#include "fixture.h"
#include "geom/survey.h"
#include "math/vec.h"
#include "test.h"

#include <math.h>

typedef struct World
{
    snwContext* context;
    snwArena arena;
    snwBroken ball;
    snwDecimateDef def;
    snwDecimated result;
    snwSurvey survey;
} World;

static World Decimate(int kind, snwDecimation decimation, int from, int to)
{
    World world = {.context = snwFixture_Context(1, snw_simdAuto, NULL), .def = snwDefaultDecimateDef()};
    world.arena.context = world.context;
    CHECK(snwBroken_Make(&snw_brokenKinds[kind], from, &world.ball));
    world.def.faces = (snwFaces){
        world.ball.vertices, world.ball.vertexCount, (const int(*)[3])world.ball.triangles, world.ball.triangleCount};
    world.def.kind = decimation;
    world.def.triangles = to;
    CHECK_INT(snwDecimateSurface(world.context, &world.def, &world.arena, &world.result, NULL), snw_ok);
    snwSurveyDef survey = {world.result.vertices, world.result.vertexCount, (const int(*)[3])world.result.triangles,
        world.result.triangleCount, true};
    CHECK_INT(snwSurveySurface(&world.arena, &survey, &world.survey, NULL), snw_ok);
    return world;
}

static void Close(World* world)
{
    snwBroken_Free(&world->ball);
    snwArena_Free(&world->arena);
    snwDestroyContext(world->context);
}

static double Volume(const snwBroken* b)
{
    double sum = 0;
    for (int i = 0; i < b->triangleCount; ++i)
    {
        const int* t = b->triangles[i];
        sum += snwVec3_Dot(b->vertices[t[0]], snwVec3_Cross(b->vertices[t[1]], b->vertices[t[2]])) / 6;
    }
    return sum;
}

TEST(decimate, bothWaysKeepASurfaceClosedAndItsVolume)
{
    for (int kind = 0; kind < 2; ++kind)
    {
        World world = Decimate(0, kind == 0 ? snw_decimateQuadric : snw_decimateAngle, 3000, 400);
        CHECK(world.result.triangleCount <= 400 && world.result.triangleCount > 380);
        CHECK(snwSurvey_IsSound(&world.survey));
        CHECK_NEAR(world.survey.volume / Volume(&world.ball), 1, kind == 0 ? 0.03 : 0.1);
        for (int i = 0; i < world.ball.vertexCount; ++i)
            CHECK(world.result.map[i] >= (kind == 0 ? -1 : 0) && world.result.map[i] < world.result.vertexCount);
        Close(&world);
    }
}

// Vertices that stay are the artist's own.
TEST(decimate, quadricKeepsVerticesWhereTheyWere)
{
    World world = Decimate(0, snw_decimateQuadric, 1000, 200);
    int kept = 0;
    for (int i = 0; i < world.ball.vertexCount; ++i)
    {
        int now = world.result.map[i];
        kept += now >= 0;
        CHECK(now < 0 || snwVec3_Distance(world.result.vertices[now], world.ball.vertices[i]) == 0);
    }
    CHECK_INT(kept, world.result.vertexCount);
    Close(&world);
}

// Equation 4.1 as it stands, over all pairs of triangles.
static double LeastCost(const snwBroken* b, double angleWeight, double edgeWeight, double size, int least[2])
{
    double best = INFINITY;
    for (int i = 0; i < 9 * b->triangleCount * b->triangleCount; ++i)
    {
        const int *s = b->triangles[i / 9 / b->triangleCount], *t = b->triangles[i / 9 % b->triangleCount];
        int k = i % 3, m = i / 3 % 3;
        if (s[k] != t[(m + 1) % 3] || s[(k + 1) % 3] != t[m])
            continue;
        snwVec3 n[2], a = b->vertices[s[k]], e = b->vertices[s[(k + 1) % 3]];
        for (int q = 0; q < 2; ++q)
        {
            const int* u = q == 0 ? s : t;
            snwVec3 p = b->vertices[u[0]];
            n[q] = snwVec3_Normalize(
                snwVec3_Cross(snwVec3_Sub(b->vertices[u[1]], p), snwVec3_Sub(b->vertices[u[2]], p)));
        }
        double angle = acos(fmin(fmax(snwVec3_Dot(n[0], n[1]), -1), 1));
        double cost = angleWeight * angle + edgeWeight * snwVec3_Distance(a, e) / size;
        if (cost < best)
            best = cost, least[0] = s[k], least[1] = s[(k + 1) % 3];
    }
    return best;
}

TEST(decimate, theEdgeOfLeastCostGoesFirst)
{
    static const double s_weights[3][2] = {{1, 0}, {0, 1}, {1, 4}};
    for (int i = 0; i < 3; ++i)
    {
        World world = Decimate(0, snw_decimateAngle, 100, 4000);
        // no two edges alike
        for (int k = 0; k < world.ball.vertexCount; ++k)
            world.ball.vertices[k].z *= 1 + 0.01 * sin(17.0 * k);
        int least[2] = {-1, -1}, before = world.ball.triangleCount;
        world.def.triangles = before - 1;
        world.def.angleWeight = s_weights[i][0], world.def.edgeWeight = s_weights[i][1];
        snwVec3 lower = world.ball.vertices[0], upper = lower;
        for (int k = 0; k < world.ball.vertexCount; ++k)
            lower = snwVec3_Min(lower, world.ball.vertices[k]), upper = snwVec3_Max(upper, world.ball.vertices[k]);
        LeastCost(&world.ball, s_weights[i][0], s_weights[i][1], snwVec3_Distance(lower, upper), least);
        REQUIRE(snwDecimateSurface(world.context, &world.def, &world.arena, &world.result, NULL) == snw_ok);
        CHECK_INT(world.result.triangleCount, before - 2);
        int now = world.result.map[least[0]];
        CHECK_INT(world.result.map[least[1]], now);
        snwVec3 middle = snwVec3_Lerp(world.ball.vertices[least[0]], world.ball.vertices[least[1]], 0.5);
        CHECK(snwVec3_Distance(world.result.vertices[now], middle) < 1e-12);
        Close(&world);
    }
}

TEST(decimate, theRimOfAnOpenSurfaceStays)
{
    World world = Decimate(9, snw_decimateAngle, 600, 150);
    double before = 0;
    for (int i = 0; i < world.survey.holeCount; ++i)
        before += world.survey.holes[i].length;
    CHECK_INT(world.survey.holeCount, 1);
    CHECK(before > 8); // all around a square of 2
    CHECK_INT(world.survey.crowdedEdges, 0);
    Close(&world);
}

TEST(decimate, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwBroken ball;
    CHECK(snwBroken_Make(&snw_brokenKinds[0], 100, &ball));
    bool reached = true;
    for (long n = 1; reached; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwArena arena = {.context = context};
        snwDecimateDef def = snwDefaultDecimateDef();
        snwDecimated result;
        def.kind = snw_decimateAngle;
        def.triangles = 20;
        def.faces = (snwFaces){ball.vertices, ball.vertexCount, (const int(*)[3])ball.triangles, ball.triangleCount};
        counter.failAt = counter.allocations + n;
        snwResult done = snwDecimateSurface(context, &def, &arena, &result, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK_INT(done, reached ? snw_errorMemory : snw_ok);
        snwArena_Free(&arena);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    snwBroken_Free(&ball);
}
