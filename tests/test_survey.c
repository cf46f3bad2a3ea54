#include "fixture.h"
#include "geom/crossing.h"
#include "geom/survey.h"
#include "geom/weld.h"
#include "math/vec.h"
#include "test.h"

#include <stdlib.h>

// A surface that a test adds to and spoils.
typedef struct Surface
{
    snwVec3 vertices[4096];
    int triangles[8192][3];
    int vertexCount, triangleCount;
} Surface;

static void AddTriangle(Surface* s, int a, int b, int c)
{
    int* t = s->triangles[s->triangleCount++];
    t[0] = a, t[1] = b, t[2] = c;
}

static void AddBox(Surface* s, snwVec3 lower, snwVec3 upper, bool inward)
{
    static const int faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4}, {2, 6, 7},
        {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    int first = s->vertexCount;
    for (int i = 0; i < 8; ++i)
        s->vertices[s->vertexCount++] = (snwVec3){
            i & 1 ? upper.x : lower.x, i & 2 ? upper.y : lower.y, i & 4 ? upper.z : lower.z};
    for (int i = 0; i < 12; ++i)
        AddTriangle(s, first + faces[i][0], first + faces[i][inward ? 2 : 1], first + faces[i][inward ? 1 : 2]);
}

static Surface* MakeCube(void)
{
    Surface* s = calloc(1, sizeof *s);
    AddBox(s, (snwVec3){0, 0, 0}, (snwVec3){1, 1, 1}, false);
    return s;
}

typedef struct Result
{
    snwContext* context;
    snwArena arena;
    snwSurvey survey;
} Result;

static Result Look(const Surface* s)
{
    Result r = {.context = snwFixture_Context(2, snw_simdAuto, NULL)};
    r.arena.context = r.context;
    snwSurveyDef def = {s->vertices, s->vertexCount, (const int(*)[3])s->triangles, s->triangleCount, true};
    CHECK_INT(snwSurveySurface(&r.arena, &def, &r.survey, NULL), snw_ok);
    return r;
}

static void Done(Result* r, Surface* s)
{
    snwArena_Free(&r->arena);
    snwDestroyContext(r->context);
    free(s);
}

// ---------------------------------------------------------------------------------------------------------------------
// Welding

TEST(weld, splitVerticesBecomeOne)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwVec3 positions[6] = {{1, 2, 3}, {0, 0, 0}, {1, 2, 3}, {-0.0, 0, -0.0}, {1, 2, 3}, {1, 2, 3.0000001}};
    uint64_t keys[6] = {0, 0, 0, 0, 7, 0};
    snwWeldDef def = {positions, 6, NULL, 0};
    snwWeld weld;
    REQUIRE(snwWeldVertices(&arena, &def, &weld, NULL) == snw_ok);
    const int expected[6] = {0, 1, 0, 1, 0, 2};
    CHECK_INT(weld.count, 3);
    CHECK(memcmp(weld.map, expected, sizeof expected) == 0);
    CHECK(weld.sources[0] == 0 && weld.sources[1] == 1 && weld.sources[2] == 5);

    def.keys = keys; // vertex 4 moves on its own
    REQUIRE(snwWeldVertices(&arena, &def, &weld, NULL) == snw_ok);
    CHECK_INT(weld.count, 4);
    CHECK_INT(weld.map[4], 2);

    def.tolerance = 1e-6;
    REQUIRE(snwWeldVertices(&arena, &def, &weld, NULL) == snw_ok);
    CHECK_INT(weld.count, 3);
    CHECK_INT(weld.map[5], 0);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// Every vertex within the tolerance of the one it joined, no two kept ones within it: as brute force says.
TEST(weld, toleranceIsThatOfBruteForce)
{
    enum
    {
        count = 600
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwVec3 positions[count];
    uint64_t seed = 5;
    for (int i = 0; i < count; ++i)
        positions[i] = (snwVec3){snwTest_Random(&seed) - 0.5, snwTest_Random(&seed) - 0.5, 0.2 * snwTest_Random(&seed)};
    snwWeldDef def = {positions, count, NULL, 0.05};
    snwWeld weld;
    REQUIRE(snwWeldVertices(&arena, &def, &weld, NULL) == snw_ok);
    CHECK(weld.count > 50 && weld.count < count);
    int kept[count], keptCount = 0;
    for (int i = 0; i < count; ++i)
    {
        int found = -1;
        for (int k = 0; k < keptCount && found < 0; ++k)
            if (snwVec3_Distance(positions[i], positions[kept[k]]) <= def.tolerance)
                found = k;
        if (found < 0)
            kept[found = keptCount++] = i;
        CHECK_INT(weld.map[i], found);
    }
    CHECK_INT(weld.count, keptCount);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surveys

TEST(survey, aBoxIsSound)
{
    Surface* s = MakeCube();
    Result r = Look(s);
    CHECK(snwSurvey_IsSound(&r.survey));
    CHECK_INT(r.survey.edgeCount, 18);
    CHECK_INT(r.survey.shellCount, 1);
    CHECK_NEAR(r.survey.volume, 1, 1e-14);
    CHECK_NEAR(r.survey.area, 6, 1e-14);
    CHECK_INT(r.survey.markedEdgeCount, 0);
    Done(&r, s);
}

TEST(survey, holesAreFoundAndMeasured)
{
    Surface* s = MakeCube();
    s->triangleCount -= 2; // the side x = 1 is open
    Result r = Look(s);
    CHECK(!snwSurvey_IsSound(&r.survey));
    CHECK_INT(r.survey.openEdges, 4);
    CHECK_INT(r.survey.holeCount, 1);
    CHECK_NEAR(r.survey.holes[0].length, 4, 1e-14);
    CHECK_NEAR(r.survey.holes[0].centre.x, 1, 1e-14);
    CHECK_INT(r.survey.shells[0].openEdges, 4);
    Done(&r, s);
}

TEST(survey, turnedTrianglesAndShellsAreTold)
{
    Surface* s = MakeCube();
    int t = s->triangles[5][1];
    s->triangles[5][1] = s->triangles[5][2], s->triangles[5][2] = t;
    AddBox(s, (snwVec3){2, 0, 0}, (snwVec3){3, 1, 1}, true);
    Result r = Look(s);
    CHECK_INT(r.survey.turnedTriangles, 1);
    CHECK(r.survey.marks[5] == snw_markTurned);
    CHECK_INT(r.survey.shellCount, 2);
    CHECK(!r.survey.shells[0].consistent && !r.survey.shells[0].insideOut);
    CHECK(r.survey.shells[1].insideOut);
    CHECK_NEAR(r.survey.shells[1].volume, -1, 1e-14);
    CHECK(r.survey.marks[12] == snw_markInsideOut);
    Done(&r, s);
}

TEST(survey, aCavityIsNotInsideOut)
{
    Surface* s = MakeCube();
    AddBox(s, (snwVec3){0.25, 0.25, 0.25}, (snwVec3){0.75, 0.75, 0.75}, true);
    Result r = Look(s);
    CHECK(snwSurvey_IsSound(&r.survey));
    CHECK_NEAR(r.survey.volume, 1 - 0.125, 1e-14);
    Done(&r, s);
}

TEST(survey, flatAndDoubleTrianglesAreLeftOut)
{
    Surface* s = MakeCube();
    AddTriangle(s, s->triangles[3][1], s->triangles[3][2], s->triangles[3][0]);
    AddTriangle(s, 0, 0, 1);
    s->vertices[s->vertexCount++] = (snwVec3){0.5, 0, 0};
    AddTriangle(s, 0, 1, s->vertexCount - 1); // on the edge 0 1
    s->vertexCount += 1;                      // used by none
    Result r = Look(s);
    CHECK_INT(r.survey.doubleTriangles, 1);
    CHECK(r.survey.marks[12] == snw_markDouble);
    CHECK_INT(r.survey.flatTriangles, 2);
    CHECK_INT(r.survey.looseVertices, 1);
    CHECK_INT(r.survey.openEdges, 0);
    CHECK_INT(r.survey.crossingTriangles, 0);
    Done(&r, s);
}

TEST(survey, crowdedEdgesAndPinchedVerticesAreTold)
{
    Surface* s = MakeCube();
    s->vertices[s->vertexCount++] = (snwVec3){0.5, -1, -1};
    AddTriangle(s, 0, 1, 8); // a fin on edge 0 1
    // A second box that hangs at vertex 7.
    AddBox(s, (snwVec3){1, 1, 1}, (snwVec3){2, 2, 2}, false);
    for (int i = 13; i < s->triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
            s->triangles[i][k] = s->triangles[i][k] == 9 ? 7 : s->triangles[i][k];
    Result r = Look(s);
    CHECK_INT(r.survey.crowdedEdges, 1);
    CHECK_INT(r.survey.openEdges, 2);
    CHECK_INT(r.survey.pinchedVertices, 1);
    CHECK_INT(r.survey.shellCount, 2);
    CHECK_INT(r.survey.looseVertices, 1);
    Done(&r, s);
}

TEST(survey, aMoebiusStripCannotBeTurnedRight)
{
    enum
    {
        steps = 24
    };
    Surface* s = calloc(1, sizeof *s);
    for (int i = 0; i < steps; ++i)
    {
        double angle = 2 * SNW_PI * i / steps, half = angle / 2;
        for (int side = -1; side <= 1; side += 2)
            s->vertices[s->vertexCount++] = (snwVec3){(1 + 0.2 * side * cos(half)) * cos(angle), 0.2 * side * sin(half),
                (1 + 0.2 * side * cos(half)) * sin(angle)};
    }
    for (int i = 0; i < steps; ++i)
    {
        int a = 2 * i, b = 2 * i + 1, c = i + 1 < steps ? 2 * i + 2 : 1, d = i + 1 < steps ? 2 * i + 3 : 0;
        AddTriangle(s, a, b, c);
        AddTriangle(s, c, b, d);
    }
    Result r = Look(s);
    CHECK_INT(r.survey.twistedShells, 1);
    CHECK_INT(r.survey.holeCount, 1);
    Done(&r, s);
}

// ---------------------------------------------------------------------------------------------------------------------
// Crossings

// Separating axes: two triangles do not touch if all of one lies strictly before all of the other along a normal, a
// product of sides, or a normal of a side within a plane. Whole numbers, so nothing rounds.
typedef struct Axis
{
    int64_t x, y, z;
} Axis;

static Axis Product(Axis a, Axis b)
{
    return (Axis){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static Axis SideOf(const snwGridPoint3 t[3], int i)
{
    snwGridPoint3 a = t[i], b = t[(i + 1) % 3];
    return (Axis){b.x - a.x, b.y - a.y, b.z - a.z};
}

static bool Separates(Axis axis, const snwGridPoint3 a[3], const snwGridPoint3 b[3])
{
    int64_t range[2][2];
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 3; ++i)
        {
            const snwGridPoint3* t = k == 0 ? a : b;
            int64_t at = axis.x * t[i].x + axis.y * t[i].y + axis.z * t[i].z;
            range[k][0] = i == 0 || at < range[k][0] ? at : range[k][0];
            range[k][1] = i == 0 || at > range[k][1] ? at : range[k][1];
        }
    return range[0][1] < range[1][0] || range[1][1] < range[0][0];
}

static bool Touch(const snwGridPoint3 a[3], const snwGridPoint3 b[3])
{
    Axis na = Product(SideOf(a, 0), SideOf(a, 1)), nb = Product(SideOf(b, 0), SideOf(b, 1));
    bool apart = Separates(na, a, b) || Separates(nb, a, b);
    for (int i = 0; i < 3 && !apart; ++i)
    {
        apart = Separates(Product(na, SideOf(a, i)), a, b) || Separates(Product(nb, SideOf(b, i)), a, b);
        for (int k = 0; k < 3 && !apart; ++k)
            apart = Separates(Product(SideOf(a, i), SideOf(b, k)), a, b);
    }
    return !apart;
}

static bool HasArea(const snwGridPoint3 t[3])
{
    Axis n = Product(SideOf(t, 0), SideOf(t, 1));
    return n.x != 0 || n.y != 0 || n.z != 0;
}

// On a small grid most pairs touch in corners, lie in one plane or share lines: the hard cases.
TEST_HEAVY(survey, pairsCrossAsSeparatingAxesSay)
{
    static const int u[3] = {0, 1, 2}, v[3] = {3, 4, 5};
    uint64_t seed = 11;
    int touching = 0, apart = 0;
    for (int round = 0; round < 200000; ++round)
    {
        snwGridPoint3 t[6];
        int range = round % 3 == 0 ? 3 : 9;
        for (int i = 0; i < 6; ++i)
            t[i] = (snwGridPoint3){(int64_t)(range * snwTest_Random(&seed)), (int64_t)(range * snwTest_Random(&seed)),
                round % 5 == 0 ? 1 : (int64_t)(range * snwTest_Random(&seed))};
        if (!HasArea(t) || !HasArea(t + 3))
            continue;
        bool expected = Touch(t, t + 3);
        *(expected ? &touching : &apart) += 1;
        if (snwTrianglesCross(t, u, t + 3, v) != expected)
        {
            CHECK(!"crosses as the axes say");
            return;
        }
    }
    CHECK(touching > 20000 && apart > 20000);
}

// Neighbours: what they share does not count, what lies beyond it does.
TEST(survey, neighboursCrossOnlyBeyondWhatTheyShare)
{
    const snwGridPoint3 p[] = {{0, 0, 0}, {8, 0, 0}, {0, 8, 0}, {8, 8, 0}, {2, 2, 0}, {4, 4, 6}, {2, 2, -6}, {4, 0, 5}};
    struct
    {
        int a[3], b[3];
        bool cross;
    } cases[] = {
        {{0, 1, 2}, {1, 3, 2}, false}, // a flat square
        {{0, 1, 2}, {1, 0, 4}, true},  // folded onto it
        {{0, 1, 2}, {0, 1, 7}, false}, // an open hinge
        {{0, 1, 2}, {0, 5, 6}, true},  // through it, hanging at a corner
        {{0, 1, 2}, {1, 3, 5}, false}, // away from it
        {{0, 1, 2}, {0, 1, 2}, false}, // itself
    };
    for (int i = 0; i < 6; ++i)
    {
        snwGridPoint3 a[3], b[3];
        for (int k = 0; k < 3; ++k)
            a[k] = p[cases[i].a[k]], b[k] = p[cases[i].b[k]];
        CHECK_INT(snwTrianglesCross(a, cases[i].a, b, cases[i].b), cases[i].cross);
        CHECK_INT(snwTrianglesCross(b, cases[i].b, a, cases[i].a), cases[i].cross);
    }
}

// The tree finds what all pairs find, for any number of threads.
TEST(survey, theTreeMissesNoCrossing)
{
    Surface* s = calloc(1, sizeof *s);
    uint64_t seed = 3;
    for (int i = 0; i < 300; ++i)
    {
        snwVec3 at = {
            floor(64 * snwTest_Random(&seed)), floor(64 * snwTest_Random(&seed)), floor(64 * snwTest_Random(&seed))};
        for (int k = 0; k < 3; ++k)
            s->vertices[s->vertexCount++] = (snwVec3){at.x + floor(9 * snwTest_Random(&seed)),
                at.y + floor(9 * snwTest_Random(&seed)), at.z + floor(9 * snwTest_Random(&seed))};
        AddTriangle(s, 3 * i, 3 * i + 1, 3 * i + 2);
    }
    s->vertices[s->vertexCount++] = (snwVec3){0, 0, 0}; // so that the grid has whole steps: 128 cells
    s->vertices[s->vertexCount++] = (snwVec3){128, 128, 128};
    int64_t pairs = 0;
    for (int i = 0; i < 300; ++i)
        for (int j = i + 1; j < 300; ++j)
        {
            snwGridPoint3 t[6];
            for (int k = 0; k < 6; ++k)
            {
                snwVec3 p = s->vertices[k < 3 ? 3 * i + k : 3 * j + k - 3];
                t[k] = (snwGridPoint3){(int64_t)p.x, (int64_t)p.y, (int64_t)p.z};
            }
            pairs += HasArea(t) && HasArea(t + 3) && Touch(t, t + 3);
        }
    CHECK(pairs > 20);
    for (int threads = 1; threads <= 3; ++threads)
    {
        snwContext* context = snwFixture_Context(threads, snw_simdAuto, NULL);
        uint8_t marks[300];
        snwCrossings crossings;
        snwCrossingDef def = {s->vertices, s->vertexCount, (const int(*)[3])s->triangles, s->triangleCount};
        CHECK_INT(snwFindCrossings(context, &def, marks, &crossings, NULL), snw_ok);
        CHECK_INT(crossings.pairCount, pairs);
        snwDestroyContext(context);
    }
    free(s);
}

TEST(survey, boxesThatCrossAreTold)
{
    Surface* s = MakeCube();
    AddBox(s, (snwVec3){0.5, 0.5, 0.5}, (snwVec3){1.5, 1.6, 1.7}, false);
    Result r = Look(s);
    CHECK(r.survey.crossingTriangles > 6);
    CHECK(!snwSurvey_IsSound(&r.survey));
    CHECK_INT(r.survey.openEdges + r.survey.crowdedEdges + r.survey.pinchedVertices, 0);
    Done(&r, s);
}

// A pile of triangles that all cross each other ends in bounded time and says what it did not look at.
TEST(survey, aPileOfTrianglesEnds)
{
    Surface* s = calloc(1, sizeof *s);
    for (int i = 0; i < 1300; ++i)
    {
        double angle = 0.001 * i;
        s->vertices[3 * i] = (snwVec3){cos(angle), sin(angle), 0};
        s->vertices[3 * i + 1] = (snwVec3){-cos(angle), -sin(angle), 0.1};
        s->vertices[3 * i + 2] = (snwVec3){0, 0.1, 1};
        AddTriangle(s, 3 * i, 3 * i + 1, 3 * i + 2);
    }
    s->vertexCount = 3900;
    Result r = Look(s);
    CHECK_INT(r.survey.crossingTriangles, 1300);
    CHECK(r.survey.crossingPairs <= 1300 * snw_maxCrossingsEach);
    Done(&r, s);
}

TEST(survey, everyFailedAllocationIsAnErrorWithoutLeak)
{
    Surface* s = MakeCube();
    s->triangleCount -= 1;
    bool reached = true;
    for (long n = 1; reached; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwArena arena = {.context = context};
        snwSurvey survey;
        snwSurveyDef def = {s->vertices, s->vertexCount, (const int(*)[3])s->triangles, s->triangleCount, true};
        snwResult result = snwSurveySurface(&arena, &def, &survey, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        CHECK(reached || n > 10);
        snwArena_Free(&arena);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    free(s);
}
