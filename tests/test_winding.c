#include "base/clock.h"
#include "fixture.h"
#include "geom/winding.h"
#include "test.h"

#include <stdlib.h>

// A list of triangles that a test can add to and spoil.
typedef struct Surface
{
    snwVec3* vertices;
    int (*triangles)[3];
    int vertexCount, triangleCount;
} Surface;

static void FreeSurface(Surface* s)
{
    free(s->vertices);
    free(s->triangles);
}

static snwVec3 OnSphere(int row, int rows, int column, int columns)
{
    double theta = SNW_PI * row / rows, phi = 2.0 * SNW_PI * column / columns;
    return (snwVec3){sin(theta) * cos(phi), cos(theta), sin(theta) * sin(phi)};
}

// The unit sphere from the pole +y to row `last` of `rows`; all rows close it. Room for as many triangles again.
static Surface MakeSphere(int rows, int columns, int last)
{
    Surface s = {calloc((size_t)((rows + 1) * columns), sizeof(snwVec3)),
        calloc((size_t)(4 * rows * columns), sizeof(int[3])), (rows + 1) * columns, 0};
    for (int i = 0; i < s.vertexCount; ++i)
        s.vertices[i] = OnSphere(i / columns, rows, i % columns, columns);
    for (int row = 0; row < last; ++row)
        for (int k = 0; k < columns; ++k)
        {
            int a = row * columns + k, b = row * columns + (k + 1) % columns, c = a + columns, d = b + columns;
            const int faces[2][3] = {{a, b, d}, {a, d, c}};
            for (int f = 0; f < 2; ++f)
                if (row + f > 0 && row + f < rows) // a pole has one triangle per column
                    memcpy(s.triangles[s.triangleCount++], faces[f], sizeof faces[f]);
        }
    return s;
}

static snwSoup* MakeSoup(snwContext* context, const Surface* s)
{
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = s->vertices, def.vertexCount = s->vertexCount;
    def.triangles = (const int(*)[3])s->triangles, def.triangleCount = s->triangleCount;
    snwSoup* soup = NULL;
    snwMessage message;
    if (snwCreateSoup(context, &def, &soup, &message) < 0)
    {
        fprintf(stderr, "soup: %s\n", message.text);
        exit(1);
    }
    return soup;
}

static snwVec3 RandomPoint(uint64_t* seed, double size)
{
    double x = snwTest_Random(seed), y = snwTest_Random(seed), z = snwTest_Random(seed);
    return (snwVec3){size * (2 * x - 1), size * (2 * y - 1), size * (2 * z - 1)};
}

// Distance to a triangle by another way than the soup's: Ericson's regions (Real-Time Collision Detection, 5.1.5).
static double DistanceTo(snwVec3 p, snwVec3 a, snwVec3 b, snwVec3 c)
{
    snwVec3 ab = snwVec3_Sub(b, a), ac = snwVec3_Sub(c, a), ap = snwVec3_Sub(p, a);
    double d1 = snwVec3_Dot(ab, ap), d2 = snwVec3_Dot(ac, ap);
    if (d1 <= 0 && d2 <= 0)
        return snwVec3_Distance(p, a);
    snwVec3 bp = snwVec3_Sub(p, b), cp = snwVec3_Sub(p, c);
    double d3 = snwVec3_Dot(ab, bp), d4 = snwVec3_Dot(ac, bp), d5 = snwVec3_Dot(ab, cp), d6 = snwVec3_Dot(ac, cp);
    if (d3 >= 0 && d4 <= d3)
        return snwVec3_Distance(p, b);
    if (d6 >= 0 && d5 <= d6)
        return snwVec3_Distance(p, c);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0)
        return snwVec3_Distance(p, snwVec3_MulAdd(a, d1 / (d1 - d3), ab));
    if (vb <= 0 && d2 >= 0 && d6 <= 0)
        return snwVec3_Distance(p, snwVec3_MulAdd(a, d2 / (d2 - d6), ac));
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return snwVec3_Distance(p, snwVec3_Lerp(b, c, (d4 - d3) / ((d4 - d3) + (d5 - d6))));
    double sum = va + vb + vc;
    return snwVec3_Distance(p, snwVec3_MulAdd(snwVec3_MulAdd(a, vb / sum, ab), vc / sum, ac));
}

static double BruteDistance(const Surface* s, snwVec3 p)
{
    double best = 1e30;
    for (int i = 0; i < s->triangleCount; ++i)
    {
        const int* t = s->triangles[i];
        best = fmin(best, DistanceTo(p, s->vertices[t[0]], s->vertices[t[1]], s->vertices[t[2]]));
    }
    return best;
}

// Triangles anywhere, of very unlike sizes.
static Surface MakeRandomSoup(int count)
{
    Surface s = {calloc((size_t)(3 * count), sizeof(snwVec3)), calloc((size_t)count, sizeof(int[3])), 3 * count, count};
    uint64_t seed = 5;
    for (int i = 0; i < count; ++i)
    {
        snwVec3 centre = RandomPoint(&seed, 1.0);
        double size = pow(10.0, -3.0 * snwTest_Random(&seed));
        for (int k = 0; k < 3; ++k)
        {
            s.vertices[3 * i + k] = snwVec3_Add(centre, RandomPoint(&seed, size));
            s.triangles[i][k] = 3 * i + k;
        }
    }
    return s;
}

TEST_HEAVY(winding, closestPointIsThatOfBruteForce)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Surface surfaces[2] = {MakeRandomSoup(700), MakeSphere(20, 30, 20)};
    uint64_t seed = 3;
    for (int k = 0; k < 2; ++k)
    {
        const Surface* s = &surfaces[k];
        snwSoup* soup = MakeSoup(context, s);
        for (int trial = 0; trial < 1500; ++trial)
        {
            snwVec3 p = RandomPoint(&seed, trial % 3 == 0 ? 10.0 : 1.2);
            snwClosest found = snwSoup_Closest(soup, p);
            CHECK_NEAR(found.distance, BruteDistance(s, p), 1e-12 * (1.0 + found.distance));
            CHECK_NEAR(snwVec3_Distance(found.point, p), found.distance, 1e-12);
            CHECK_NEAR(found.weights[0] + found.weights[1] + found.weights[2], 1.0, 1e-12);
            const int* t = s->triangles[found.triangle];
            double own = DistanceTo(p, s->vertices[t[0]], s->vertices[t[1]], s->vertices[t[2]]);
            CHECK_NEAR(own, found.distance, 1e-12 * (1.0 + own));
        }
        snwDestroySoup(soup);
        FreeSurface(&surfaces[k]);
    }
    snwDestroyContext(context);
}

TEST(winding, fastIsNearExactInAnySoup)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Surface surfaces[3] = {MakeRandomSoup(900), MakeSphere(30, 40, 30), MakeSphere(30, 40, 15)};
    uint64_t seed = 9;
    for (int k = 0; k < 3; ++k)
    {
        snwSoup* soup = MakeSoup(context, &surfaces[k]);
        double worst = 0.0;
        for (int trial = 0; trial < 2000; ++trial)
        {
            snwVec3 p = RandomPoint(&seed, trial % 4 == 0 ? 5.0 : 1.3);
            worst = fmax(worst, fabs(snwSoup_Winding(soup, p) - snwSoup_WindingExact(soup, p)));
        }
        CHECK(worst < 0.01);
        CHECK(worst > 0.0 || k == 0); // the tree was really cut short
        snwDestroySoup(soup);
        FreeSurface(&surfaces[k]);
    }
    snwDestroyContext(context);
}

// More accuracy for more work: the error of two moments falls with the fourth power of beta or so.
TEST(winding, betaBuysAccuracy)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Surface s = MakeSphere(40, 60, 20);
    double worst[2] = {0.0, 0.0};
    for (int k = 0; k < 2; ++k)
    {
        snwSoupDef def = snwDefaultSoupDef();
        def.vertices = s.vertices, def.vertexCount = s.vertexCount, def.beta = k == 0 ? 2.0 : 6.0;
        def.triangles = (const int(*)[3])s.triangles, def.triangleCount = s.triangleCount;
        snwSoup* soup = NULL;
        REQUIRE(snwCreateSoup(context, &def, &soup, NULL) == snw_ok);
        uint64_t seed = 2;
        for (int trial = 0; trial < 1000; ++trial)
        {
            snwVec3 p = RandomPoint(&seed, 1.5);
            worst[k] = fmax(worst[k], fabs(snwSoup_Winding(soup, p) - snwSoup_WindingExact(soup, p)));
        }
        snwDestroySoup(soup);
    }
    CHECK(worst[1] < worst[0] / 20.0);
    FreeSurface(&s);
    snwDestroyContext(context);
}

TEST(winding, sphereHasAnInside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Surface s = MakeSphere(60, 80, 60);
    snwSoup* soup = MakeSoup(context, &s);
    snwSolid solid = snwSoup_Solid(soup);
    CHECK(solid.boneDistance == NULL);
    CHECK_NEAR(solid.lower.y, -1.0, 1e-12);
    CHECK_NEAR(solid.upper.x, 1.0, 1e-12);
    uint64_t seed = 4;
    for (int trial = 0; trial < 3000; ++trial)
    {
        snwVec3 p = RandomPoint(&seed, 1.5);
        double r = snwVec3_Length(p), distance = solid.distance(p, solid.data);
        CHECK_NEAR(distance, r - 1.0, 4e-3); // flat faces lie a little inside the sphere
        if (fabs(r - 1.0) > 4e-3)
            CHECK_NEAR(snwSoup_Winding(soup, p), r < 1.0 ? 1.0 : 0.0, 0.01);
    }
    snwDestroySoup(soup);
    FreeSurface(&s);
    snwDestroyContext(context);
}

// A hemisphere, open below: from the middle of its rim plane it fills half of the view.
TEST(winding, openHemisphereIsHalfAtItsRim)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Surface s = MakeSphere(40, 60, 20);
    snwSoup* soup = MakeSoup(context, &s);
    CHECK_NEAR(snwSoup_Winding(soup, (snwVec3){0, 0, 0}), 0.5, 0.01);
    CHECK_NEAR(snwSoup_Winding(soup, (snwVec3){0.3, 0, -0.4}), 0.5, 0.01);
    CHECK(snwSoup_Distance(soup, (snwVec3){0, 0.4, 0}) < 0.0);
    CHECK(snwSoup_Distance(soup, (snwVec3){0.5, 0.3, 0.2}) < 0.0);
    CHECK(snwSoup_Distance(soup, (snwVec3){0, -0.1, 0}) > 0.0);
    CHECK(snwSoup_Distance(soup, (snwVec3){0, 1.1, 0}) > 0.0);
    snwDestroySoup(soup);
    FreeSurface(&s);
    snwDestroyContext(context);
}

// Faces twice, a few turned, some without area: the inside stays where anyone would say it is.
TEST(winding, spoiledSurfacesKeepTheirInside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 8;
    for (int mode = 0; mode < 3; ++mode)
    {
        Surface s = MakeSphere(30, 40, 30);
        int whole = s.triangleCount;
        for (int i = 0; i < whole; ++i)
        {
            int* t = s.triangles[i];
            if (mode == 0) // twice
                memcpy(s.triangles[s.triangleCount++], t, sizeof s.triangles[0]);
            else if (mode == 1 && i % 40 == 7) // turned
                t[0] ^= t[1], t[1] ^= t[0], t[0] ^= t[1];
            else if (mode == 2 && i % 2 == 0) // without area: a point or a line
                t = s.triangles[s.triangleCount++], t[0] = i % 50, t[1] = i % 4 == 0 ? t[0] : 100, t[2] = t[0];
        }
        snwSoup* soup = MakeSoup(context, &s);
        for (int trial = 0; trial < 1000; ++trial)
        {
            snwVec3 p = RandomPoint(&seed, 1.3);
            double r = snwVec3_Length(p), distance = snwSoup_Distance(soup, p);
            CHECK(isfinite(distance) && isfinite(snwSoup_Winding(soup, p)));
            if (r < 0.8 || r > 1.1)
                CHECK((distance < 0.0) == (r < 1.0));
        }
        snwDestroySoup(soup);
        FreeSurface(&s);
    }
    snwDestroyContext(context);
}

// Two spheres through each other: what is in either is inside, and the faces within both do not cut it apart.
TEST(winding, crossingSurfacesHaveOneInside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwVec3 shift = {0.9, 0, 0};
    Surface s = MakeSphere(30, 40, 30);
    int vertices = s.vertexCount, triangles = s.triangleCount;
    s.vertices = realloc(s.vertices, 2 * (size_t)vertices * sizeof *s.vertices);
    for (int i = 0; i < vertices; ++i)
        s.vertices[s.vertexCount++] = snwVec3_Add(s.vertices[i], shift);
    for (int i = 0; i < 3 * triangles; ++i)
        s.triangles[triangles + i / 3][i % 3] = s.triangles[i / 3][i % 3] + vertices;
    s.triangleCount *= 2;
    snwSoup* soup = MakeSoup(context, &s);
    uint64_t seed = 6;
    for (int trial = 0; trial < 2000; ++trial)
    {
        snwVec3 p = RandomPoint(&seed, 2.0);
        double a = snwVec3_Length(p), b = snwVec3_Distance(p, shift);
        if (fabs(a - 1.0) > 0.01 && fabs(b - 1.0) > 0.01)
            CHECK((snwSoup_Distance(soup, p) < 0.0) == (a < 1.0 || b < 1.0));
    }
    snwDestroySoup(soup);
    FreeSurface(&s);
    snwDestroyContext(context);
}

// Only segments and points: distances to them, and no inside.
TEST(winding, trianglesWithoutAreaHaveDistances)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {0, 5, 0}};
    int triangles[8][3] = {{0, 1, 2}, {3, 3, 3}, {0, 0, 1}, {2, 1, 0}, {3, 3, 3}, {3, 3, 3}, {3, 3, 3}, {3, 3, 3}};
    Surface s = {vertices, triangles, 4, 8};
    snwSoup* soup = MakeSoup(context, &s);
    CHECK_NEAR(snwSoup_Distance(soup, (snwVec3){2, 1, 0}), 1.0, 1e-12);
    CHECK_NEAR(snwSoup_Distance(soup, (snwVec3){0, 4, 0}), 1.0, 1e-12);
    CHECK_NEAR(snwSoup_Distance(soup, (snwVec3){2, 0, 0}), 0.0, 1e-12);
    CHECK_INT(snwSoup_Closest(soup, (snwVec3){0, 6, 0}).triangle, 1); // the first of five equal ones
    CHECK_NEAR(snwSoup_Winding(soup, (snwVec3){0.5, 1e-9, 0}), 0.0, 0);
    snwDestroySoup(soup);
    snwDestroyContext(context);
}

static void CheckSoupRefused(snwContext* context, const snwSoupDef* def, const char* part)
{
    snwSoup* soup;
    snwMessage message;
    CHECK_INT(snwCreateSoup(context, def, &soup, &message), snw_errorArgument);
    CHECK(soup == NULL);
    CHECK_CONTAINS(message.text, part);
}

TEST(winding, nonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int triangles[1][3] = {{0, 1, 2}};
    snwSoupDef def = snwDefaultSoupDef();
    CheckSoupRefused(context, &def, "needs triangles");
    def.vertices = vertices, def.vertexCount = 3;
    CheckSoupRefused(context, &def, "needs triangles");
    def.triangles = (const int(*)[3])triangles, def.triangleCount = 1;
    def.beta = 0.5;
    CheckSoupRefused(context, &def, "beta must be");
    def.beta = 2.0, triangles[0][1] = 3;
    CheckSoupRefused(context, &def, "triangles[0] names vertex 3 of 3");
    triangles[0][1] = 1, vertices[2].z = NAN;
    CheckSoupRefused(context, &def, "vertices[2]");
    snwDestroyContext(context);
}

TEST(winding, everyFailedAllocationIsAnErrorWithoutLeak)
{
    Surface s = MakeSphere(10, 12, 10);
    snwSoupDef def = snwDefaultSoupDef();
    def.vertices = s.vertices, def.vertexCount = s.vertexCount;
    def.triangles = (const int(*)[3])s.triangles, def.triangleCount = s.triangleCount;
    bool reached = true;
    for (long n = 1; reached; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwSoup* soup = NULL;
        snwResult result = snwCreateSoup(context, &def, &soup, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        CHECK(reached || n > 3);
        snwDestroySoup(soup);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    FreeSurface(&s);
}

typedef struct Queries
{
    const snwSoup* soup;
    double (*results)[2];
} Queries;

static void AskRange(int begin, int end, void* data)
{
    const Queries* queries = data;
    for (int i = begin; i < end; ++i)
    {
        uint64_t seed = (uint64_t)i + 1;
        snwVec3 p = RandomPoint(&seed, 1.4);
        queries->results[i][0] = snwSoup_Distance(queries->soup, p);
        queries->results[i][1] = snwSoup_Winding(queries->soup, p);
    }
}

TEST(winding, sameBitsForAnyThreads) // Labels: threads
{
    enum
    {
        count = 4000
    };
    const int threads[] = {1, 2, 5};
    Surface s = MakeSphere(40, 50, 30);
    double(*results[3])[2];
    for (int k = 0; k < 3; ++k)
    {
        snwContext* context = snwFixture_Context(threads[k], snw_simdAuto, NULL);
        Queries queries = {MakeSoup(context, &s), calloc(count, sizeof(double[2]))};
        snwParallelFor(context, count, 16, AskRange, &queries);
        results[k] = queries.results;
        CHECK(memcmp(results[0], results[k], count * sizeof(double[2])) == 0);
        snwDestroySoup((snwSoup*)queries.soup);
        snwDestroyContext(context);
    }
    for (int k = 0; k < 3; ++k)
        free(results[k]);
    FreeSurface(&s);
}

// No verdict, only the figures that the docs quote; they are printed when the case is run by hand.
TEST_LONG(winding, timeOfAHundredThousandTriangles)
{
    enum
    {
        count = 200000
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Surface s = MakeSphere(160, 320, 160);
    double start = snwClock_Seconds(), sum = 0.0;
    snwSoup* soup = MakeSoup(context, &s);
    printf("build %d triangles: %.0f ms\n", s.triangleCount, 1e3 * (snwClock_Seconds() - start));
    for (int round = 0; round < 6; ++round)
    {
        bool near = round >= 3; // within a twentieth of the radius of the surface
        int kind = round % 3;
        uint64_t seed = 7;
        start = snwClock_Seconds();
        for (int i = 0; i < count; ++i)
        {
            snwVec3 p = RandomPoint(&seed, 1.2);
            if (near)
                p = snwVec3_Scale(snwVec3_Normalize(p), 0.95 + 0.1 * snwTest_Random(&seed));
            sum += kind == 0   ? snwSoup_Closest(soup, p).distance
                   : kind == 1 ? snwSoup_Winding(soup, p)
                               : snwSoup_Distance(soup, p);
        }
        const char* const names[] = {"closest", "winding", "signed distance"};
        printf(
            "%s, %s: %.0f ns\n", names[kind], near ? "near" : "anywhere", 1e9 * (snwClock_Seconds() - start) / count);
    }
    double worst = 0.0;
    uint64_t seed = 7;
    for (int i = 0; i < 500; ++i)
    {
        snwVec3 p = RandomPoint(&seed, 1.2);
        worst = fmax(worst, fabs(snwSoup_Winding(soup, p) - snwSoup_WindingExact(soup, p)));
    }
    printf("worst error of the winding number: %.2g\n", worst);
    CHECK(isfinite(sum) && worst < 0.01);
    snwDestroySoup(soup);
    FreeSurface(&s);
    snwDestroyContext(context);
}
