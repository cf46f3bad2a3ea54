// Contact between soft bodies and of a body with itself. The oracle is bench/contact_brute.c.
// Labels: kernels

#include "contact/detect_parts.h"
#include "contact_brute.h"
#include "fixture.h"
#include "math/quat.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum
{
    maxBodies = 4,
    maxOverlaps = 20000
};

// Bodies whose positions the test moves about as it likes.
typedef struct World
{
    snwContext* context;
    snwCharacter* characters[maxBodies];
    snwDetectorBody bodies[maxBodies];
    float *now[maxBodies], *before[maxBodies];
    int count;
    snwDetector* detector;
    snwOverlap* overlaps;
    int overlapCount;
} World;

static snwCharacter* NewBox(snwContext* context, snwVec3 size, int x, int y, int z)
{
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBlock);
    snwCharacter* character = NULL;
    def.size = size;
    def.cells[0] = x, def.cells[1] = y, def.cells[2] = z;
    CHECK_INT(snwCreateShape(context, &def, &character, NULL), snw_ok);
    return character;
}

// One metre across.
static snwCharacter* NewBall(snwContext* context, int cells)
{
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBall);
    snwCharacter* character = NULL;
    def.size.x = 1;
    def.cells[0] = cells;
    CHECK_INT(snwCreateShape(context, &def, &character, NULL), snw_ok);
    return character;
}

static World OpenWorld(int threads)
{
    return (World){.context = snwFixture_Context(threads, snw_simdAuto, NULL)};
}

// Takes over the character.
static int AddBody(World* world, snwCharacter* character, bool self, snwVec3 offset)
{
    int index = world->count++;
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    world->characters[index] = character;
    world->bodies[index] = (snwDetectorBody){character, self};
    world->now[index] = calloc(4 * (size_t)def->vertexCount, sizeof(float));
    world->before[index] = calloc(4 * (size_t)def->vertexCount, sizeof(float));
    for (int i = 0; i < def->vertexCount; ++i)
    {
        snwVec3 p = snwVec3_Add(def->vertices[i], offset);
        const float row[3] = {(float)p.x, (float)p.y, (float)p.z};
        memcpy(world->now[index] + 4 * i, row, sizeof row);
        memcpy(world->before[index] + 4 * i, row, sizeof row);
    }
    return index;
}

static void Prepare(World* world)
{
    snwDetectorDef def = snwDefaultDetectorDef();
    def.bodies = world->bodies;
    def.bodyCount = world->count;
    def.capacity = maxOverlaps;
    CHECK_INT(snwCreateDetector(world->context, &def, &world->detector, NULL), snw_ok);
    world->overlaps = calloc(maxOverlaps, sizeof *world->overlaps);
}

static snwDetectorInput InputOf(World* world, double margin, bool moving)
{
    return (snwDetectorInput){.positions = (const float* const*)world->now,
        .previous = moving ? (const float* const*)world->before : NULL,
        .stride = 4,
        .margin = margin};
}

static void Find(World* world, double margin, bool moving)
{
    snwDetectorInput input = InputOf(world, margin, moving);
    world->overlapCount = snwDetector_Find(world->detector, &input, world->overlaps, maxOverlaps);
}

static void CheckAgainstBrute(World* world, double margin, bool moving, int atLeast)
{
    snwDetectorInput input = InputOf(world, margin, moving);
    Find(world, margin, moving);
    snwBruteResult brute = snwCompareWithBrute(world->detector, &input, world->overlaps, world->overlapCount);
    CHECK_INT(brute.missed, 0);
    CHECK_INT(brute.extra, 0);
    CHECK_INT(brute.wrong, 0);
    CHECK(brute.expected >= atLeast);
}

static void CloseWorld(World* world)
{
    snwDestroyDetector(world->detector);
    for (int i = 0; i < world->count; ++i)
    {
        snwCharacter_Release(world->characters[i]);
        free(world->now[i]);
        free(world->before[i]);
    }
    free(world->overlaps);
    snwDestroyContext(world->context);
}

static snwVec3 Now(const World* world, int body, int vertex)
{
    const float* p = world->now[body] + 4 * vertex;
    return (snwVec3){p[0], p[1], p[2]};
}

static void Move(World* world, int body, snwVec3 by)
{
    int count = snwCharacter_GetDef(world->characters[body])->vertexCount;
    for (int i = 0; i < count; ++i)
    {
        world->now[body][4 * i] += (float)by.x;
        world->now[body][4 * i + 1] += (float)by.y;
        world->now[body][4 * i + 2] += (float)by.z;
    }
}

static void Jiggle(World* world, int body, double by, uint64_t seed)
{
    int count = snwCharacter_GetDef(world->characters[body])->vertexCount;
    for (int i = 0; i < 4 * count; ++i)
        world->now[body][i] += (float)(by * (2 * snwTest_Random(&seed) - 1));
}

static const snwOverlap* FindOverlap(const World* world, int body, int vertex, int other)
{
    for (int i = 0; i < world->overlapCount; ++i)
    {
        const snwOverlap* o = &world->overlaps[i];
        if (o->body == body && o->vertex == vertex && o->otherBody == other)
            return o;
    }
    return NULL;
}

// The largest angle, degrees, between the directions of two vertices that share an element and are inside one body.
static double WorstDisagreement(const World* world, int body, int other)
{
    const snwCharacterDef* def = snwCharacter_GetDef(world->characters[body]);
    double least = 1;
    for (int i = 0; i < def->tetCount; ++i)
        for (int k = 0; k < 6; ++k)
        {
            static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
            const snwOverlap* a = FindOverlap(world, body, def->tets[i][pairs[k][0]], other);
            const snwOverlap* b = FindOverlap(world, body, def->tets[i][pairs[k][1]], other);
            if (a != NULL && b != NULL)
                least = fmin(least, snwVec3_Dot(a->normal, b->normal));
        }
    return acos(least) * 180 / 3.14159265358979;
}

// ---------------------------------------------------------------------------------------------------------------------
// Facets

typedef struct Sampled
{
    int changes;  // of the side
    double least; // smallest weight of the corners at the last change
} Sampled;

static double SampleSide(const snwFacet* facet, snwVec3 p, double* least)
{
    snwVec3 u = snwVec3_Sub(facet->p[1], facet->p[0]), v = snwVec3_Sub(facet->p[2], facet->p[0]), w;
    snwVec3 n = snwVec3_Cross(u, v);
    snwMat3 inverse;
    *least = -1;
    if (!snwMat3_Inverse(snwMat3_FromColumns(u, v, n), &inverse))
        return 0;
    w = snwMat3_MulVec(inverse, snwVec3_Sub(p, facet->p[0]));
    *least = fmin(fmin(w.x, w.y), 1 - w.x - w.y);
    return w.z;
}

static Sampled SampleCrossing(const snwFacet* before, const snwFacet* now, snwVec3 from, snwVec3 to)
{
    Sampled result = {0};
    double least, last = SampleSide(before, from, &least);
    for (int i = 1; i <= 1000; ++i)
    {
        snwFacet then = *before;
        for (int k = 0; k < 3; ++k)
            then.p[k] = snwVec3_Lerp(before->p[k], now->p[k], i / 1000.0);
        double side = SampleSide(&then, snwVec3_Lerp(from, to, i / 1000.0), &least);
        if ((side > 0) != (last > 0))
        {
            result.changes++;
            result.least = least;
        }
        last = side;
    }
    return result;
}

TEST_HEAVY(detect, crossingAgainstSampling)
{
    uint64_t seed = 3;
    int crossed = 0, clear = 0;
    for (int trial = 0; trial < 3000; ++trial)
    {
        snwFacet before = {.edge = false}, now = before;
        double v[21], time = -1, least;
        for (int i = 0; i < 21; ++i)
            v[i] = 2 * snwTest_Random(&seed) - 1;
        for (int k = 0; k < 3; ++k)
        {
            before.p[k] = (snwVec3){v[3 * k], v[3 * k + 1], v[3 * k + 2]};
            now.p[k] = snwVec3_MulAdd(before.p[k], 0.3, (snwVec3){v[9 + 3 * k], v[10 + 3 * k], v[11 + 3 * k]});
        }
        snwVec3 from = {v[18], v[19], v[20]}, to = snwVec3_Scale(from, -0.5);
        bool found = snwFacet_Crossed(&before, &now, from, to, &time);
        bool starts = SampleSide(&before, from, &least) > 1e-2, ends = SampleSide(&now, to, &least) < 0;
        Sampled sampled = SampleCrossing(&before, &now, from, to);
        crossed += found;
        if (!starts || !ends || sampled.changes != 1 || fabs(sampled.least) < 0.02)
            continue;
        clear++;
        CHECK_INT(found, sampled.least > 0);
    }
    CHECK(crossed > 100 && clear > 300);
}

// ---------------------------------------------------------------------------------------------------------------------
// Against brute force

TEST_HEAVY(detect, nothingMissedNothingExtra)
{
    for (int trial = 0; trial < 6; ++trial)
    {
        World world = OpenWorld(1);
        uint64_t seed = 17 + (uint64_t)trial;
        AddBody(&world, NewBox(world.context, (snwVec3){1, 1, 1}, 4, 4, 4), true, (snwVec3){0, 0, 0});
        AddBody(&world, NewBox(world.context, (snwVec3){0.7, 0.5, 0.9}, 3, 2, 5), true, (snwVec3){0.61, 0.33, 0.2});
        AddBody(&world, NewBall(world.context, 6), false, (snwVec3){-0.3, 0.4, 0.1});
        Prepare(&world);
        for (int body = 0; body < 3; ++body)
        {
            Jiggle(&world, body, 0.04 * trial, snwTest_Random(&seed) > 0.5 ? 5 : 6);
            Move(&world, body, (snwVec3){0.01 * body, -0.02 * body, 0.01});
        }
        CheckAgainstBrute(&world, 0.0, false, 40);
        CheckAgainstBrute(&world, 0.05, false, 60);
        CheckAgainstBrute(&world, 0.05, true, 60);
        CloseWorld(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Depth and direction

// A box of 0.4 m sinks into one of 1 m from above, `depth` deep.
static World SunkenBox(double depth)
{
    World world = OpenWorld(1);
    AddBody(&world, NewBox(world.context, (snwVec3){1, 1, 1}, 5, 5, 5), false, (snwVec3){0, 0, 0});
    AddBody(&world, NewBox(world.context, (snwVec3){0.4, 0.4, 0.4}, 4, 4, 4), false,
        (snwVec3){0.013, 0.5 + 0.2 - depth, 0.021});
    Prepare(&world);
    Find(&world, 0, false);
    return world;
}

TEST(detect, shallowAndDeepOverlapLeaveUpwards)
{
    const double depths[] = {0.03, 0.16, 0.33};
    for (int i = 0; i < 3; ++i)
    {
        World world = SunkenBox(depths[i]);
        int inside = 0;
        for (int k = 0; k < world.overlapCount; ++k)
        {
            const snwOverlap* o = &world.overlaps[k];
            if (o->body != 1)
                continue;
            inside++;
            CHECK(o->normal.y > 0.999);
            CHECK_NEAR(o->depth, 0.5 - Now(&world, 1, o->vertex).y, 1e-5);
        }
        CHECK(inside >= 25);
        CHECK(WorstDisagreement(&world, 1, 0) < 3);
        CloseWorld(&world);
    }
}

TEST(detect, containedBodyLeavesAsOne)
{
    World world = OpenWorld(1);
    AddBody(&world, NewBox(world.context, (snwVec3){1, 1, 1}, 5, 5, 5), false, (snwVec3){0, 0, 0});
    AddBody(&world, NewBox(world.context, (snwVec3){0.4, 0.4, 0.4}, 4, 4, 4), false, (snwVec3){0.22, 0.03, -0.04});
    Prepare(&world);
    Find(&world, 0, false);
    CHECK_INT(world.overlapCount, 98); // all of its skin, and nothing of the outer body
    for (int i = 0; i < world.overlapCount; ++i)
    {
        CHECK_INT(world.overlaps[i].body, 1);
        CHECK(world.overlaps[i].normal.x > 0.999);
        CHECK_NEAR(world.overlaps[i].depth, 0.5 - Now(&world, 1, world.overlaps[i].vertex).x, 1e-5);
    }
    CloseWorld(&world);
}

// A ball half inside a ball: the directions fan out, but smoothly.
TEST(detect, neighboursAgree)
{
    World world = OpenWorld(1);
    AddBody(&world, NewBall(world.context, 12), false, (snwVec3){0, 0, 0});
    AddBody(&world, NewBall(world.context, 12), false, (snwVec3){0.01, 0.5, 0.02});
    Prepare(&world);
    Find(&world, 0, false);
    CHECK(world.overlapCount > 40);
    for (int i = 0; i < world.overlapCount; ++i)
        CHECK((world.overlaps[i].body == 1 ? 1 : -1) * world.overlaps[i].normal.y > 0);
    CHECK(WorstDisagreement(&world, 1, 0) < 20);
    CHECK(WorstDisagreement(&world, 0, 1) < 20);
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// A body and itself

static World Bar(int threads)
{
    World world = OpenWorld(threads);
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBar);
    snwCharacter* bar = NULL;
    def.size = (snwVec3){2, 0.2, 0.2};
    def.cells[0] = 20, def.cells[1] = 2, def.cells[2] = 2;
    CHECK_INT(snwCreateShape(world.context, &def, &bar, NULL), snw_ok);
    AddBody(&world, bar, true, (snwVec3){0, 0, 0});
    Prepare(&world);
    return world;
}

// Bends it into an arc of this many radians.
static void Bend(World* world, double angle)
{
    const snwCharacterDef* def = snwCharacter_GetDef(world->characters[0]);
    double radius = 2 / angle;
    for (int i = 0; i < def->vertexCount; ++i)
    {
        double a = def->vertices[i].x / radius, r = radius - def->vertices[i].y;
        world->now[0][4 * i] = (float)(r * sin(a));
        world->now[0][4 * i + 1] = (float)(radius - r * cos(a));
        world->now[0][4 * i + 2] = (float)(def->vertices[i].z + 0.03 * a);
    }
}

TEST(detect, restAndBendingAreNoContact)
{
    World world = Bar(1);
    Find(&world, 0.02, true);
    CHECK_INT(world.overlapCount, 0);
    Bend(&world, 1.5);
    Find(&world, 0.02, true);
    CHECK_INT(world.overlapCount, 0);
    CloseWorld(&world);
}

TEST(detect, barFoldedOnItself)
{
    World world = Bar(1);
    Bend(&world, 6.6); // its ends overlap by a third of a radian
    CheckAgainstBrute(&world, 0.01, false, 10);
    for (int i = 0; i < world.overlapCount; ++i)
    {
        const snwCharacterDef* def = snwCharacter_GetDef(world.characters[0]);
        double x = def->vertices[world.overlaps[i].vertex].x, y = def->vertices[world.overlaps[i].triangle[0]].x;
        CHECK(x * y < 0 && fabs(x - y) > 1.5); // one end in the other
    }
    CloseWorld(&world);
}

// Two boxes as one character, one of them inside the other at rest: that is how it was made, so it is no contact.
TEST(detect, restOverlapIsNoContact)
{
    World world = OpenWorld(1);
    snwCharacter* one = NewBox(world.context, (snwVec3){1, 1, 1}, 4, 4, 4);
    const snwCharacterDef* def = snwCharacter_GetDef(one);
    snwCharacterDef twins = snwDefaultCharacterDef();
    int n = def->vertexCount, t = def->tetCount;
    snwVec3* vertices = calloc(2 * (size_t)n, sizeof *vertices);
    int(*tets)[4] = calloc(2 * (size_t)t, sizeof *tets);
    for (int i = 0; i < 2 * n; ++i)
        vertices[i] = snwVec3_Add(def->vertices[i % n], (snwVec3){i < n ? 0 : 0.83, i < n ? 0 : 0.02, 0.01});
    for (int i = 0; i < 8 * t; ++i)
        tets[i / 4][i % 4] = def->tets[i / 4 % t][i % 4] + (i < 4 * t ? 0 : n);
    twins.vertices = vertices;
    twins.vertexCount = 2 * n;
    twins.tets = (const int(*)[4])tets;
    twins.tetCount = 2 * t;
    snwCharacter* both = NULL;
    snwMessage message = {0};
    CHECK_INT(snwCreateCharacter(world.context, &twins, &both, &message), snw_ok);
    snwCharacter_Release(one);
    free(vertices);
    free(tets);
    REQUIRE(both != NULL);
    AddBody(&world, both, true, (snwVec3){0, 0, 0});
    Prepare(&world);
    Find(&world, 0, true);
    CHECK_INT(world.overlapCount, 0);
    for (int i = n; i < 2 * n; ++i)
        world.now[0][4 * i + 1] += 0.1f; // sliding in place
    Find(&world, 0, false);
    CHECK_INT(world.overlapCount, 0);
    for (int i = n; i < 2 * n; ++i)
        world.now[0][4 * i] -= 0.8f; // but all the way in is another matter
    Find(&world, 0, false);
    CHECK(world.overlapCount > 20);
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Flat bodies

static snwCharacter* NewSheet(snwContext* context, int cells, double size)
{
    snwCharacterDef def = snwDefaultCharacterDef();
    int n = cells + 1;
    snwVec3* vertices = calloc((size_t)(n * n), sizeof *vertices);
    int(*triangles)[3] = calloc((size_t)(2 * cells * cells), sizeof *triangles);
    for (int i = 0; i < n * n; ++i)
        vertices[i] = (snwVec3){size * (i % n) / cells, size * (i / n) / cells, 0};
    for (int i = 0; i < cells * cells; ++i)
    {
        int a = i / cells * n + i % cells;
        memcpy(triangles[2 * i], (const int[]){a, a + 1, a + n + 1}, sizeof *triangles);
        memcpy(triangles[2 * i + 1], (const int[]){a, a + n + 1, a + n}, sizeof *triangles);
    }
    def.vertices = vertices;
    def.vertexCount = n * n;
    def.triangles = (const int(*)[3])triangles;
    def.triangleCount = 2 * cells * cells;
    def.thickness = 0.01;
    snwCharacter* sheet = NULL;
    snwMessage message = {0};
    CHECK_INT(snwCreateCharacter(context, &def, &sheet, &message), snw_ok);
    free(vertices);
    free(triangles);
    return sheet;
}

TEST(detect, flatBodies)
{
    World world = OpenWorld(1);
    AddBody(&world, NewSheet(world.context, 6, 1), true, (snwVec3){0, 0, 0});
    AddBody(&world, NewSheet(world.context, 4, 0.4), true, (snwVec3){0.31, 0.87, 0});
    AddBody(&world, NewBox(world.context, (snwVec3){1, 1, 1}, 2, 2, 2), false, (snwVec3){0.5, 0.5, 0});
    Prepare(&world);
    CheckAgainstBrute(&world, 0, false, 5);
    int inside = 0;
    for (int i = 0; i < world.overlapCount; ++i)
    {
        const snwOverlap* o = &world.overlaps[i];
        CHECK(o->body != 2 && o->otherBody != 2 && o->triangle[2] == -1 && o->weights[2] == 0);
        if (o->body != 1)
            continue;
        inside++;
        CHECK(o->normal.y > 0.999 && o->normal.z == 0);
        CHECK_NEAR(o->depth, 1 - Now(&world, 1, o->vertex).y, 1e-5);
    }
    CHECK(inside >= 7);
    Move(&world, 1, (snwVec3){0.02, -0.05, 0});
    CheckAgainstBrute(&world, 0.04, true, 5);
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Thin and fast

// A ball meets a sheet of one cell, 2 cm thick, at 20 m/s: in a 60th of a second it is through and far behind.
TEST(detect, thinSheetCrossedInOneStepIsCaught)
{
    World world = OpenWorld(1);
    AddBody(&world, NewBox(world.context, (snwVec3){1, 0.02, 1}, 8, 1, 8), true, (snwVec3){0, 0, 0});
    AddBody(&world, NewBox(world.context, (snwVec3){0.1, 0.1, 0.1}, 3, 3, 3), false, (snwVec3){0.03, 0.1, 0.07});
    Prepare(&world);
    Move(&world, 1, (snwVec3){0, -20.0 / 60, 0});
    Find(&world, 0, false);
    CHECK_INT(world.overlapCount, 0); // a look at the end alone sees nothing
    CheckAgainstBrute(&world, 0, true, 56);
    int caught = 0;
    for (int i = 0; i < world.overlapCount; ++i)
    {
        const snwOverlap* o = &world.overlaps[i];
        if (o->body != 1)
            continue;
        caught++;
        CHECK(o->normal.y > 0.999); // back to where it came from
        CHECK_NEAR(o->depth, 0.01 - Now(&world, 1, o->vertex).y, 1e-5);
    }
    CHECK_INT(caught, 56); // all of its skin
    CloseWorld(&world);
}

// Inside of a thin sheet the nearest way out is often the wrong one; the way it came in is not.
TEST(detect, theWayInIsTheWayOut)
{
    World world = OpenWorld(1);
    AddBody(&world, NewBox(world.context, (snwVec3){1, 0.02, 1}, 8, 1, 8), true, (snwVec3){0, 0, 0});
    AddBody(&world, NewBox(world.context, (snwVec3){0.1, 0.1, 0.1}, 3, 3, 3), false, (snwVec3){0.03, 0.0601, 0.07});
    Prepare(&world);
    Move(&world, 1, (snwVec3){0, -0.018, 0});
    Find(&world, 0, true);
    int caught = 0;
    for (int i = 0; i < world.overlapCount; ++i)
        if (world.overlaps[i].body == 1)
        {
            caught++;
            CHECK(world.overlaps[i].normal.y > 0.999);
            CHECK_NEAR(world.overlaps[i].depth, 0.0179, 1e-4);
        }
    CHECK_INT(caught, 16);
    CloseWorld(&world);
}

TEST(detect, gapsWithinTheMargin)
{
    World world = OpenWorld(1);
    AddBody(&world, NewBox(world.context, (snwVec3){1, 1, 1}, 4, 4, 4), false, (snwVec3){0, 0, 0});
    AddBody(&world, NewBox(world.context, (snwVec3){0.4, 0.4, 0.4}, 3, 3, 3), false, (snwVec3){0.01, 0.71, 0.02});
    Prepare(&world);
    Find(&world, 0.009, false);
    CHECK_INT(world.overlapCount, 0);
    CheckAgainstBrute(&world, 0.02, false, 16);
    for (int i = 0; i < world.overlapCount; ++i)
    {
        CHECK_NEAR(world.overlaps[i].depth, -0.01, 1e-6);
        CHECK_NEAR(world.overlaps[i].normal.y, world.overlaps[i].body == 1 ? 1 : -1, 1e-4);
    }
    CloseWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Threads, memory, numbers

TEST(detect, sameBitsForAnyThreads) // Labels: threads
{
    World one = OpenWorld(1), four = OpenWorld(4);
    World* worlds[] = {&one, &four};
    for (int i = 0; i < 2; ++i)
    {
        World* world = worlds[i];
        for (int k = 0; k < 4; ++k)
            AddBody(world, NewBall(world->context, 16), true, (snwVec3){0.31 * k, 0.21 * (k % 2), 0.1 * k});
        Prepare(world);
        for (int k = 0; k < 4; ++k)
            Jiggle(world, k, 0.02, 5 + (uint64_t)k);
        Find(world, 0.01, true);
    }
    CHECK(one.overlapCount > 500);
    CHECK_INT(one.overlapCount, four.overlapCount);
    CHECK(memcmp(one.overlaps, four.overlaps, (size_t)one.overlapCount * sizeof(snwOverlap)) == 0);
    for (int run = 0; run < 3; ++run)
    {
        snwOverlap* first = malloc((size_t)four.overlapCount * sizeof *first);
        int count = four.overlapCount;
        memcpy(first, four.overlaps, (size_t)count * sizeof *first);
        Find(&four, 0.01, true);
        CHECK(count == four.overlapCount && memcmp(first, four.overlaps, (size_t)count * sizeof *first) == 0);
        free(first);
    }
    CloseWorld(&one);
    CloseWorld(&four);
}

TEST(detect, sameBitsForAnyInstructionSet)
{
    const snwSimd sets[] = {snw_simdScalar, snw_simdBase, snw_simdAuto};
    snwOverlap* first = calloc(maxOverlaps, sizeof *first);
    int count = 0;
    for (int i = 0; i < 3; ++i)
    {
        World world = {.context = snwFixture_Context(1, sets[i], NULL)};
        for (int k = 0; k < 3; ++k)
            AddBody(&world, NewBall(world.context, 10), true, (snwVec3){0.7 * k, 0.2 * k, 0.1});
        Prepare(&world);
        for (int k = 0; k < 3; ++k)
            Jiggle(&world, k, 0.03, 9 + (uint64_t)k);
        Find(&world, 0.02, true);
        if (i == 0)
            memcpy(first, world.overlaps, (size_t)world.overlapCount * sizeof *first);
        count = i == 0 ? world.overlapCount : count;
        CHECK(count > 50 && count == world.overlapCount);
        CHECK(memcmp(first, world.overlaps, (size_t)count * sizeof *first) == 0);
        CloseWorld(&world);
    }
    free(first);
}

TEST(detect, fullMeansTheSameOnes)
{
    snwOverlap kept[2][100];
    for (int i = 0; i < 2; ++i)
    {
        World world = OpenWorld(i == 0 ? 1 : 4);
        for (int k = 0; k < 2; ++k)
            AddBody(&world, NewBall(world.context, 16), false, (snwVec3){0, 0.3 * k, 0});
        snwDetectorDef def = {world.bodies, 2, 100};
        CHECK_INT(snwCreateDetector(world.context, &def, &world.detector, NULL), snw_ok);
        snwDetectorInput input = InputOf(&world, 0, false);
        memset(kept[i], 0, sizeof kept[i]);
        CHECK_INT(snwDetector_Find(world.detector, &input, kept[i], 100), 100);
        CHECK_INT(snwDetector_Capacity(world.detector), 100);
        CloseWorld(&world);
    }
    CHECK(memcmp(kept[0], kept[1], sizeof kept[0]) == 0);
}

TEST(detect, noMemoryInFind)
{
    snwCountingAllocator counter = {0};
    World world = {.context = snwFixture_Context(1, snw_simdAuto, &counter)};
    for (int k = 0; k < 2; ++k)
        AddBody(&world, NewBall(world.context, 8), true, (snwVec3){0, 0.3 * k, 0});
    Prepare(&world);
    long before = counter.allocations;
    for (int i = 0; i < 3; ++i)
        Find(&world, 0.01, true);
    CHECK_INT(counter.allocations, before);
    CHECK(world.overlapCount > 0);
    CloseWorld(&world);
    CHECK_INT(counter.live, 0);
}

TEST(detect, outOfMemoryIsAnError)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwCharacter* ball = NewBall(context, 4);
    snwDetectorBody body = {ball, true};
    snwDetectorDef def = {&body, 1, 0};
    long live = counter.live;
    int failures = 0;
    for (long n = 1;; ++n)
    {
        snwDetector* detector = NULL;
        snwMessage message = {0};
        counter.failAt = counter.allocations + n;
        snwResult result = snwCreateDetector(context, &def, &detector, &message);
        counter.failAt = 0;
        snwDestroyDetector(detector);
        CHECK_INT(counter.live, live);
        if (result == snw_ok)
            break;
        failures++;
        CHECK_INT(result, snw_errorMemory);
        CHECK(detector == NULL);
    }
    CHECK(failures > 10);
    snwCharacter_Release(ball);
    snwDestroyContext(context);
}

TEST(detect, numbersThatAreNotFiniteDoNoHarm)
{
    World world = SunkenBox(0.1);
    int clean = world.overlapCount;
    world.now[0][4 * 3] = NAN;
    world.now[0][4 * 40 + 1] = INFINITY;
    world.now[1][4 * 7 + 2] = -INFINITY;
    world.before[1][4 * 9] = NAN;
    Find(&world, 0.01, true);
    CHECK(world.overlapCount > clean / 2 && world.overlapCount < 200);
    for (int i = 0; i < world.overlapCount; ++i)
    {
        const snwOverlap* o = &world.overlaps[i];
        CHECK(isfinite(o->depth) && snwVec3_IsFinite(o->normal) && isfinite(o->weights[0]));
        CHECK(!(o->body == 1 && o->vertex == 7));
    }
    for (int i = 0; i < 4 * 125; ++i)
        world.now[1][i] = NAN;
    Find(&world, 0.01, true);
    for (int i = 0; i < world.overlapCount; ++i)
        CHECK(world.overlaps[i].body == 0 && world.overlaps[i].otherBody == 0);
    CloseWorld(&world);
}
