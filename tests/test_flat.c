#include "base/arena.h"
#include "fixture.h"
#include "geom/planar.h"
#include "geom/triangulate.h"
#include "geom/triangulate_parts.h"
#include "test.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

// ---------------------------------------------------------------------------------------------------------------------
// Predicates

TEST(flat, orientIsExactAtTheLimit)
{
    const int32_t m = snw_gridLimit;
    // a line through the whole grid, and its two neighbours one cell beside it
    snwGridPoint a = {-m, -m}, b = {m, m};
    for (int32_t x = -m; x < m; x += m / 5)
    {
        CHECK_INT(snwOrient(a, b, (snwGridPoint){x, x}), 0);
        CHECK(snwOrient(a, b, (snwGridPoint){x, x + 1}) > 0);
        CHECK(snwOrient(a, b, (snwGridPoint){x + 1, x}) < 0);
    }
    // nearly parallel: the area is one half of a cell
    CHECK_INT(snwOrient((snwGridPoint){0, 0}, (snwGridPoint){m, m - 1}, (snwGridPoint){m - 1, m - 2}), -1);
    CHECK_INT(snwOrient(a, a, b), 0);
}

TEST(flat, inCircleIsExactAtTheLimit)
{
    const int32_t m = snw_gridLimit;
    snwGridPoint a = {-m, -m}, b = {m, -m}, c = {m, m};
    CHECK_INT(snwInCircle(a, b, c, (snwGridPoint){-m, m}), 0);
    CHECK_INT(snwInCircle(a, b, c, (snwGridPoint){-m + 1, m}), 1);
    CHECK_INT(snwInCircle(a, b, c, (snwGridPoint){-m, m + 1}), -1);
    // 3-4-5 points of one circle, in all positions of the fourth
    const snwGridPoint circle[8] = {{5, 0}, {4, 3}, {3, 4}, {0, 5}, {-3, 4}, {-5, 0}, {-4, -3}, {3, -4}};
    const int32_t scale = m / 5;
    for (int i = 0; i < 8; ++i)
    {
        snwGridPoint p[4];
        for (int k = 0; k < 4; ++k)
        {
            snwGridPoint q = circle[(i + 2 * k) % 8];
            p[k] = (snwGridPoint){q.x * scale, q.y * scale};
        }
        CHECK_INT(snwInCircle(p[0], p[1], p[2], p[3]), 0);
        p[3].x += p[3].x > 0 ? -1 : 1;
        CHECK_INT(snwInCircle(p[0], p[1], p[2], p[3]), p[3].x == 1 ? -1 : 1);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers

static double RingArea(const snwRing* ring)
{
    double sum = 0;
    for (int i = 0; i < ring->count; ++i)
    {
        const double *a = ring->points[i], *b = ring->points[(i + 1) % ring->count];
        sum += (a[0] * b[1] - a[1] * b[0]) / 2;
    }
    return fabs(sum);
}

static double OutlineArea(const snwOutline* outline)
{
    double area = 0;
    for (int r = 0; r < outline->ringCount; ++r)
        area += outline->rings[r].hole ? -RingArea(&outline->rings[r]) : RingArea(&outline->rings[r]);
    return area;
}

static int CompareInts(const void* a, const void* b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Each edge belongs to one triangle, and then it is listed as one of the outline's, or to two that run it both ways.
static void CheckManifold(const snwFlatMesh* mesh)
{
    int count = 3 * mesh->triangleCount, rim = 0;
    int(*edges)[2] = calloc((size_t)count, sizeof *edges);
    for (int t = 0; t < mesh->triangleCount; ++t)
        for (int k = 0; k < 3; ++k)
        {
            edges[3 * t + k][0] = mesh->triangles[t][k];
            edges[3 * t + k][1] = mesh->triangles[t][(k + 1) % 3];
        }
    qsort(edges, (size_t)count, sizeof *edges, CompareInts);
    for (int i = 0; i < count; ++i)
    {
        CHECK(i == 0 || CompareInts(edges[i - 1], edges[i]) != 0);
        int back[2] = {edges[i][1], edges[i][0]};
        rim += bsearch(back, edges, (size_t)count, sizeof *edges, CompareInts) == NULL;
    }
    CHECK_INT(rim, mesh->edgeCount);
    for (int i = 0; i < mesh->edgeCount; ++i)
    {
        int back[2] = {mesh->edges[i][1], mesh->edges[i][0]};
        CHECK(bsearch(mesh->edges[i], edges, (size_t)count, sizeof *edges, CompareInts) != NULL);
        CHECK(bsearch(back, edges, (size_t)count, sizeof *edges, CompareInts) == NULL);
    }
    free(edges);
}

static double DistanceToSegment(const double p[2], const double a[2], const double b[2])
{
    double ux = b[0] - a[0], uy = b[1] - a[1], vx = p[0] - a[0], vy = p[1] - a[1];
    double t = fmin(fmax((ux * vx + uy * vy) / (ux * ux + uy * uy), 0), 1);
    return hypot(vx - t * ux, vy - t * uy);
}

// The mesh's rim follows the outline: every input point is there, and its length is the outline's.
static void CheckRim(const snwOutline* outline, const snwFlatMesh* mesh, double size)
{
    double wanted = 0, found = 0;
    int index = 0;
    for (int r = 0; r < outline->ringCount; ++r)
        for (int i = 0; i < outline->rings[r].count; ++i, ++index)
        {
            const double *a = outline->rings[r].points[i],
                         *b = outline->rings[r].points[(i + 1) % outline->rings[r].count];
            CHECK(hypot(mesh->vertices[index][0] - a[0], mesh->vertices[index][1] - a[1]) < 2e-8 * size);
            wanted += hypot(b[0] - a[0], b[1] - a[1]);
        }
    for (int i = 0; i < mesh->edgeCount; ++i)
    {
        const double *a = mesh->vertices[mesh->edges[i][0]], *b = mesh->vertices[mesh->edges[i][1]];
        const double middle[2] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2};
        double least = INFINITY;
        for (int r = 0; r < outline->ringCount; ++r)
            for (int k = 0; k < outline->rings[r].count; ++k)
                least = fmin(least, DistanceToSegment(middle, outline->rings[r].points[k],
                                        outline->rings[r].points[(k + 1) % outline->rings[r].count]));
        CHECK(least < 5e-8 * size);
        found += hypot(b[0] - a[0], b[1] - a[1]);
    }
    CHECK_NEAR(found, wanted, 1e-5 * size);
}

static snwFlatMesh Triangulate(
    snwContext* context, snwArena* arena, const snwOutline* outline, double minAngle, double maxEdge)
{
    snwTriangulateDef def = snwDefaultTriangulateDef();
    snwFlatMesh mesh;
    snwMessage message = {0};
    def.minAngle = minAngle;
    def.maxEdge = maxEdge;
    def.smoothing = minAngle > 0 ? def.smoothing : 0;
    if (snwTriangulate(context, outline, &def, arena, &mesh, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    return mesh;
}

static snwFlatQuality CheckMesh(const snwOutline* outline, const snwFlatMesh* mesh)
{
    snwFlatQuality quality = snwFlatMesh_Measure(mesh);
    int euler = 0;
    for (int r = 0; r < outline->ringCount; ++r)
        euler += outline->rings[r].hole ? -2 : 2;
    CHECK_INT(quality.inverted, 0);
    CHECK_NEAR(quality.area, OutlineArea(outline), 1e-6);
    CHECK_INT(mesh->triangleCount, 2 * mesh->vertexCount - mesh->edgeCount - euler);
    CheckManifold(mesh);
    CheckRim(outline, mesh, 4.0);
    return quality;
}

#define RING(array, isHole)                                                                                            \
    {                                                                                                                  \
        .points = (const double(*)[2])(array), .count = (int)(sizeof(array) / sizeof *(array)), .hole = isHole         \
    }

// Refines, checks everything, and returns the smallest angle.
static double RefineRing(const double (*points)[2], int count, double maxEdge, int* triangles)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwRing ring = {.points = points, .count = count};
    snwOutline outline = {&ring, 1};
    snwFlatMesh mesh = Triangulate(context, &arena, &outline, 25, maxEdge);
    snwFlatQuality quality = CheckMesh(&outline, &mesh);
    CHECK(maxEdge == 0 || quality.longEdge < 1.3 * maxEdge); // smoothing may stretch some
    *triangles = mesh.triangleCount;
    snwArena_Free(&arena);
    snwDestroyContext(context);
    return quality.minAngle;
}

// ---------------------------------------------------------------------------------------------------------------------
// Outlines

TEST(flat, squareAndL)
{
    const double square[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const double ell[][2] = {{0, 0}, {0, 1}, {0.3, 1}, {0.3, 0.3}, {1, 0.3}, {1, 0}}; // clockwise
    int triangles;
    CHECK_NEAR(RefineRing(square, 4, 0, &triangles), 45, 1e-6);
    CHECK_INT(triangles, 2);
    CHECK(RefineRing(square, 4, 0.1, &triangles) >= 25);
    CHECK(triangles > 200 && triangles < 800);
    CHECK(RefineRing(ell, 6, 0, &triangles) >= 25);
    CHECK(triangles < 40);
}

TEST(flat, starAndComb)
{
    double star[20][2], comb[82][2];
    int triangles;
    for (int i = 0; i < 20; ++i)
    {
        double radius = i % 2 == 0 ? 1.0 : 0.55, angle = 2 * PI * i / 20;
        star[i][0] = radius * cos(angle), star[i][1] = radius * sin(angle);
    }
    CHECK(RefineRing((const double(*)[2])star, 20, 0, &triangles) >= 20);
    // twenty teeth, each a hundredth wide and one long
    for (int i = 0; i < 20; ++i)
    {
        double x = 0.05 * i;
        const double tooth[4][2] = {{x, 0.1}, {x, 1.1}, {x + 0.01, 1.1}, {x + 0.01, 0.1}};
        memcpy(comb[4 * i], tooth, sizeof tooth);
    }
    comb[80][0] = 0.96, comb[80][1] = 0, comb[81][0] = 0, comb[81][1] = 0;
    CHECK(RefineRing((const double(*)[2])comb, 82, 0, &triangles) >= 25);
    CHECK(triangles > 1000 && triangles < 12000);
}

TEST(flat, holesAndIslands)
{
    const double outer[][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const double hole[][2] = {{-0.9, -0.9}, {-0.9, 0.8}, {0.8, 0.8}, {0.8, -0.9}};
    const double island[][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0, 0.5}};
    const double lake[][2] = {{-0.1, -0.2}, {0.1, -0.2}, {0.1, -0.1}, {-0.1, -0.1}};
    const double beside[][2] = {{1.01, -1}, {1.5, -1}, {1.5, 1}};
    snwRing rings[] = {
        RING(lake, true), RING(island, false), RING(hole, true), RING(outer, false), RING(beside, false)};
    snwOutline outline = {rings, 5};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwFlatMesh rough = Triangulate(context, &arena, &outline, 0, 0);
    CHECK_INT(rough.vertexCount, 18);
    CheckMesh(&outline, &rough);
    snwFlatMesh mesh = Triangulate(context, &arena, &outline, 25, 0.2);
    CHECK(CheckMesh(&outline, &mesh).minAngle > 12); // the corner of `beside` has 13.76 degrees
    CHECK(mesh.sharpCount > 0 && mesh.sharpCount < 10);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

static snwFlatMesh CheckSharp(snwContext* context, snwArena* arena, const snwRing* ring, double maxEdge, int most)
{
    snwOutline outline = {ring, 1};
    snwFlatMesh mesh = Triangulate(context, arena, &outline, 25, maxEdge);
    CheckMesh(&outline, &mesh);
    CHECK(mesh.triangleCount < most);
    return mesh;
}

// Needles: refinement ends with few triangles, and says how many stay sharp.
TEST(flat, needlesEnd)
{
    const double angles[6] = {40, 20, 10, 3, 1, 0.1};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 6; ++i)
    {
        double angle = angles[i] * PI / 180, tip = angle + atan2(-0.9, 1);
        snwArena arena = {.context = context};
        const double needle[][2] = {{0, 0}, {1, 0}, {0.73 * cos(angle), 0.73 * sin(angle)}};
        const double kite[][2] = {{0, 0}, {1, -0.9}, {3, 0}, {2, 2}, {0.61 * cos(tip), 0.61 * sin(tip)}};
        snwRing ring = RING(needle, false), other = RING(kite, false);
        snwFlatMesh mesh = CheckSharp(context, &arena, &ring, 0.1, 800);
        // what lies between the needle's sides cannot be blunter than they are
        CHECK(snwFlatMesh_Measure(&mesh).minAngle > fmin(25, 0.95 * angles[i]));
        CHECK((mesh.sharpCount > 0) == (angles[i] < 25));
        mesh = CheckSharp(context, &arena, &other, 0, 800);
        CHECK(snwFlatMesh_Measure(&mesh).minAngle > fmin(25, 0.95 * angles[i]));
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

TEST(flat, starsOfNeedlesEnd)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 6; ++i)
    {
        double points[24][2], inner = (const double[6]){0.5, 0.2, 0.1, 0.05, 0.03, 0.02}[i];
        for (int k = 0; k < 24; ++k)
        {
            double radius = k % 2 == 0 ? 1.0 : inner, turn = 2 * PI * k / 24;
            points[k][0] = radius * cos(turn), points[k][1] = radius * sin(turn);
        }
        snwArena arena = {.context = context};
        snwRing ring = RING(points, false);
        snwFlatMesh mesh = CheckSharp(context, &arena, &ring, 0, 5000);
        CHECK(mesh.sharpCount > 0 || i == 0);
        CHECK(mesh.sharpCount < 24 * 20);
        snwArena_Free(&arena);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Random polygons

static int StarShape(uint64_t* seed, double roughness, double (*points)[2])
{
    int count = 4 + (int)(40 * snwTest_Random(seed));
    for (int i = 0; i < count; ++i)
    {
        double angle = 2 * PI * (i + 0.8 * snwTest_Random(seed)) / count;
        double radius = 1 - roughness * snwTest_Random(seed);
        points[i][0] = radius * cos(angle), points[i][1] = radius * sin(angle);
    }
    return count;
}

// A skyline: all corners are right angles.
static int Skyline(uint64_t* seed, double (*points)[2])
{
    int towers = 2 + (int)(12 * snwTest_Random(seed)), count = 0;
    double x = 0, before = 0;
    for (int i = 0; i < towers; ++i)
    {
        double height = 0.05 + snwTest_Random(seed);
        if (height == before)
            height += 0.01;
        points[count][0] = x, points[count++][1] = height;
        x += 0.01 + 0.2 * snwTest_Random(seed);
        points[count][0] = x, points[count++][1] = height;
        before = height;
    }
    points[count][0] = x, points[count++][1] = 0;
    points[count][0] = 0, points[count++][1] = 0;
    return count;
}

static double Side(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool Cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
    return Side(a, b, c) * Side(a, b, d) < 0 && Side(c, d, a) * Side(c, d, b) < 0;
}

// Random points in random order, the way round turned until no two sides cross.
static int Untangled(uint64_t* seed, double (*points)[2])
{
    int count = 5 + (int)(14 * snwTest_Random(seed));
    for (int i = 0; i < count; ++i)
        points[i][0] = snwTest_Random(seed), points[i][1] = snwTest_Random(seed);
    bool again = true;
    for (int round = 0; again && round < 1000; ++round)
    {
        again = false;
        for (int i = 0; i < count; ++i)
            for (int j = i + 1; j < count; ++j)
            {
                if (!Cross(points[i], points[i + 1], points[j], points[(j + 1) % count]))
                    continue;
                again = true;
                for (int a = i + 1, b = j; a < b; ++a, --b)
                {
                    double swap[2] = {points[a][0], points[a][1]};
                    memcpy(points[a], points[b], sizeof swap);
                    memcpy(points[b], swap, sizeof swap);
                }
            }
    }
    return count;
}

static double SmallestCorner(const snwRing* ring)
{
    double least = 180;
    for (int i = 0; i < ring->count; ++i)
    {
        const double *o = ring->points[i], *a = ring->points[(i + 1) % ring->count];
        const double* b = ring->points[(i + ring->count - 1) % ring->count];
        double ux = a[0] - o[0], uy = a[1] - o[1], vx = b[0] - o[0], vy = b[1] - o[1];
        least = fmin(least, atan2(fabs(ux * vy - uy * vx), ux * vx + uy * vy) * 180 / PI);
    }
    return least;
}

static bool SeesThrough(const snwRing* ring, const double a[2], const double b[2])
{
    for (int i = 0; i < ring->count; ++i)
        if (Cross(a, b, ring->points[i], ring->points[(i + 1) % ring->count]))
            return false;
    return true;
}

// No vertex that a triangle's middle can see lies in the triangle's circle.
static void CheckDelaunay(const snwRing* ring, const snwFlatMesh* mesh)
{
    for (int t = 0; t < mesh->triangleCount; ++t)
    {
        const double* p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = mesh->vertices[mesh->triangles[t][k]];
        const double middle[2] = {(p[0][0] + p[1][0] + p[2][0]) / 3, (p[0][1] + p[1][1] + p[2][1]) / 3};
        for (int i = 0; i < mesh->vertexCount; ++i)
        {
            long double m[3][3];
            const double* d = mesh->vertices[i];
            for (int k = 0; k < 3; ++k)
            {
                m[k][0] = (long double)p[k][0] - d[0], m[k][1] = (long double)p[k][1] - d[1];
                m[k][2] = m[k][0] * m[k][0] + m[k][1] * m[k][1];
            }
            long double det = m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) +
                              m[1][2] * (m[2][0] * m[0][1] - m[2][1] * m[0][0]) +
                              m[2][2] * (m[0][0] * m[1][1] - m[0][1] * m[1][0]);
            // inside by more than rounding, and in sight of the middle: just short of the vertex itself
            const double near[2] = {d[0] + 1e-7 * (middle[0] - d[0]), d[1] + 1e-7 * (middle[1] - d[1])};
            CHECK(det < 1e-12L || !SeesThrough(ring, middle, near));
        }
    }
}

TEST(flat, randomPolygons)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 2024;
    int gentle = 0;
    for (int trial = 0; trial < 1000; ++trial)
    {
        double points[64][2];
        int kind = trial % 4;
        int count = kind == 0   ? StarShape(&seed, 0.2, points)
                    : kind == 1 ? StarShape(&seed, 0.9, points)
                    : kind == 2 ? Skyline(&seed, points)
                                : Untangled(&seed, points);
        snwArena arena = {.context = context};
        snwRing ring = {.points = (const double(*)[2])points, .count = count};
        snwOutline outline = {&ring, 1};
        snwFlatMesh rough = Triangulate(context, &arena, &outline, 0, 0);
        CheckMesh(&outline, &rough);
        CHECK_INT(rough.vertexCount, count);
        CheckDelaunay(&ring, &rough);
        snwFlatMesh mesh = Triangulate(context, &arena, &outline, 25, 0);
        snwFlatQuality quality = CheckMesh(&outline, &mesh);
        bool sharp = SmallestCorner(&ring) < 60;
        gentle += !sharp;
        CHECK(sharp || (quality.minAngle >= 25 - 1e-6 && mesh.sharpCount == 0));
        CHECK(mesh.sharpCount <= 3 * count || SmallestCorner(&ring) < 1);
        snwArena_Free(&arena);
    }
    CHECK(gentle > 300);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Hostile outlines

static void CheckRefused(const snwRing* rings, int count, const char* place, const char* words)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwArena arena = {.context = context};
    snwOutline outline = {rings, count};
    snwTriangulateDef def = snwDefaultTriangulateDef();
    snwFlatMesh mesh;
    snwMessage message = {0};
    CHECK_INT(snwTriangulate(context, &outline, &def, &arena, &mesh, &message), snw_errorInput);
    CHECK_CONTAINS(message.place, place);
    CHECK_CONTAINS(message.text, words);
    CHECK(mesh.vertices == NULL && mesh.triangleCount == 0);
    snwArena_Free(&arena);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

#define REFUSED(array, place, words)                                                                                   \
    do                                                                                                                 \
    {                                                                                                                  \
        snwRing refused = RING(array, false);                                                                          \
        CheckRefused(&refused, 1, place, words);                                                                       \
    } while (0)

TEST(flat, hostileRingsAreRefused)
{
    const double two[][2] = {{0, 0}, {1, 0}};
    const double nan[][2] = {{0, 0}, {1, 0}, {NAN, 1}};
    const double infinite[][2] = {{0, 0}, {INFINITY, 0}, {1, 1}};
    const double flat[][2] = {{0, 0}, {1, 1}, {3, 3}, {2, 2}};
    const double bow[][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 1.5}};
    const double twice[][2] = {{0, 0}, {1, 0}, {1, 1}, {1, 0}, {0.5, 2}};
    const double closed[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}};
    const double touching[][2] = {{0, 0}, {2, 0}, {2, 2}, {1, 0}, {0, 2}};
    const double through[][2] = {{0, 0}, {2, 0}, {2, 2}, {1, 1}, {0, 1}, {3, 1}, {3, -1}, {0, -1}};
    const double far[][2] = {{1e9, 0}, {1e9 + 1, 0}, {1e9, 1}};
    const double dot[][2] = {{0, 0}, {1e-12, 0}, {0, 1e-12}};
    REFUSED(two, "outline[0]", "3 points or more");
    REFUSED(nan, "outline[0].points[2]", "not finite");
    REFUSED(infinite, "outline[0].points[1]", "not finite");
    REFUSED(flat, "outline[0].points[0]", "no area");
    REFUSED(bow, "outline[0].points", "crosses itself");
    REFUSED(twice, "outline[0].points[3]", "same place as outline[0].points[1]");
    REFUSED(closed, "outline[0].points[3]", "same place as outline[0].points[0]");
    REFUSED(touching, "outline[0].points[0]", "touches itself");
    REFUSED(through, "outline[0].points[4]", "touches itself");
    REFUSED(far, "", "from the origin");
    REFUSED(dot, "", "large");
    CheckRefused(NULL, 0, "", "at least one ring");
}

TEST(flat, hostileNestingIsRefused)
{
    const double large[][2] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
    const double small[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}};
    const double smaller[][2] = {{1.2, 1.2}, {1.8, 1.2}, {1.5, 1.8}};
    const double across[][2] = {{3, 3}, {5, 3}, {5, 5}};
    const double corner[][2] = {{4, 4}, {5, 4}, {5, 5}};
    CheckRefused((snwRing[]){RING(large, false), RING(small, false)}, 2, "outline[1].points[0]", "inside another");
    CheckRefused((snwRing[]){RING(large, true)}, 1, "outline[0].points[0]", "in no ring");
    CheckRefused(
        (snwRing[]){RING(large, false), RING(small, true), RING(smaller, true)}, 3, "outline[2]", "in no ring");
    CheckRefused((snwRing[]){RING(large, false), RING(across, false)}, 2, "outline[1].points", "crosses");
    CheckRefused((snwRing[]){RING(large, false), RING(across, true)}, 2, "outline[1].points", "crosses");
    // a line that first crosses an edge and then runs into a point
    const double roof[][2] = {{0, 1}, {4, 1}, {4, 3}, {2, 1}, {1, 1.1}, {0, 3}};
    const double cellar[][2] = {{1, 0.95}, {1.5, 0}, {0.5, 0}};
    CheckRefused(
        (snwRing[]){RING(roof, false), RING(cellar, false)}, 2, "outline[0].points[0]", "outline[0].points[3]");
    CheckRefused(
        (snwRing[]){RING(large, false), RING(corner, false)}, 2, "outline[1].points[0]", "outline[0].points[2]");
}

TEST(flat, defsAreChecked)
{
    const double square[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwRing ring = RING(square, false);
    snwOutline outline = {&ring, 1};
    snwFlatMesh mesh;
    snwMessage message;
    snwTriangulateDef def = snwDefaultTriangulateDef();
    def.minAngle = 35;
    CHECK_INT(snwTriangulate(context, &outline, &def, &arena, &mesh, &message), snw_errorArgument);
    def = snwDefaultTriangulateDef();
    def.maxEdge = NAN;
    CHECK_INT(snwTriangulate(context, &outline, &def, &arena, &mesh, &message), snw_errorArgument);
    def = snwDefaultTriangulateDef();
    def.maxEdge = 0.01, def.maxVertices = 1000;
    CHECK_INT(snwTriangulate(context, &outline, &def, &arena, &mesh, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "more than 1000 vertices");
    snwFlatFitDef fit = {.vertices = 100, .triangles = 250, .minAngle = 25}; // more triangles than Euler allows
    CHECK_INT(snwFitTriangles(context, &outline, &fit, &arena, &mesh, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "on the rings");
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// Smoothing in itself: the same refinement with and without it.
TEST_HEAVY(flat, smoothingNeverWorsensTheSmallestAngle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 5;
    int better = 0;
    for (int trial = 0; trial < 100; ++trial)
    {
        double points[64][2];
        snwArena arena = {.context = context};
        snwRing ring = {.points = (const double(*)[2])points, .count = StarShape(&seed, 0.5, points)};
        snwOutline outline = {&ring, 1};
        double angles[2];
        for (int k = 0; k < 2; ++k)
        {
            snwTriangulateDef def = snwDefaultTriangulateDef();
            snwFlatMesh mesh;
            def.maxEdge = 0.15, def.minAngle = 20, def.smoothing = k * 10;
            REQUIRE(snwTriangulate(context, &outline, &def, &arena, &mesh, NULL) == snw_ok);
            angles[k] = snwFlatMesh_Measure(&mesh).minAngle;
        }
        CHECK(angles[1] >= angles[0] - 1e-9);
        better += angles[1] > angles[0] + 1;
        snwArena_Free(&arena);
    }
    CHECK(better > 20);
    snwDestroyContext(context);
}

// Vertices follow a curve that fills the plane: one is beside the next, and a hundred in a row lie close together.
static void CheckOrder(const snwFlatMesh* mesh, double side)
{
    double way = 0, spread = 0, spacing = side / sqrt(mesh->vertexCount);
    for (int i = 1; i < mesh->vertexCount; ++i)
        way += hypot(mesh->vertices[i][0] - mesh->vertices[i - 1][0], mesh->vertices[i][1] - mesh->vertices[i - 1][1]);
    for (int i = 0; i + 100 <= mesh->vertexCount; ++i)
    {
        double lower[2] = {INFINITY, INFINITY}, upper[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 200; ++k)
        {
            lower[k % 2] = fmin(lower[k % 2], mesh->vertices[i + k / 2][k % 2]);
            upper[k % 2] = fmax(upper[k % 2], mesh->vertices[i + k / 2][k % 2]);
        }
        spread += hypot(upper[0] - lower[0], upper[1] - lower[1]) / (mesh->vertexCount - 99);
    }
    CHECK(way < 1.25 * spacing * (mesh->vertexCount - 1));
    CHECK(spread < 0.73 * side);
}

TEST(flat, fitWithHolesAndCorners)
{
    double circle[256][2], hole[256][2];
    bool corners[256] = {0};
    for (int i = 0; i < 256; ++i)
    {
        double angle = 2 * PI * i / 256, radius = 1 / fmax(fabs(cos(angle)), fabs(sin(angle))); // a square
        circle[i][0] = radius * cos(angle), circle[i][1] = radius * sin(angle);
        hole[i][0] = 0.3 + 0.4 * cos(angle), hole[i][1] = 0.4 * sin(angle);
        corners[i] = i % 64 == 32;
    }
    snwRing rings[2] = {RING(circle, false), RING(hole, true)};
    rings[0].corners = corners;
    snwOutline outline = {rings, 2};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwFlatFitDef def = {.vertices = 600, .triangles = 1080, .minAngle = 25};
    snwFlatMesh mesh;
    REQUIRE(snwFitTriangles(context, &outline, &def, &arena, &mesh, NULL) == snw_ok);
    snwFlatQuality quality = snwFlatMesh_Measure(&mesh);
    CHECK(abs(mesh.vertexCount - 600) <= 12 && abs(mesh.triangleCount - 1080) <= 11);
    CHECK(quality.minAngle >= 25 - 1e-6 && quality.longEdge < 3 * quality.shortEdge);
    CHECK_NEAR(quality.area, 4 - PI * 0.16, 0.005);
    CheckManifold(&mesh);
    int found = 0; // corners are where they were
    for (int i = 0; i < mesh.vertexCount; ++i)
        found += fabs(fabs(mesh.vertices[i][0]) - 1) < 1e-7 && fabs(fabs(mesh.vertices[i][1]) - 1) < 1e-7;
    CHECK_INT(found, 4);
    CheckOrder(&mesh, 2);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}
