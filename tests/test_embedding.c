// Labels: kernels

#include "fixture.h"
#include "geom/embedding.h"
#include "sim/character.h"
#include "test.h"

#include <stdlib.h>

// A bar of tets with points in, on and outside of it.
typedef struct World
{
    snwContext* context;
    snwArena arena;
    snwCharacter* bar;
    snwEmbeddingDef def;
    snwEmbedding embedding;
    snwVec3 points[600];
    float* positions; // of the bar
    float* scratch;
    float moved[600][3];
} World;

static World* MakeWorld(int threads)
{
    World* w = calloc(1, sizeof *w);
    w->context = snwFixture_Context(threads, snw_simdAuto, NULL);
    w->arena.context = w->context;
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBar);
    shape.size = (snwVec3){4, 1, 1};
    shape.cells[0] = 12, shape.cells[1] = 3, shape.cells[2] = 3;
    if (snwCreateShape(w->context, &shape, &w->bar, NULL) < 0)
        exit(1);
    uint64_t seed = 9;
    for (int i = 0; i < 600; ++i) // the last hundred outside
        w->points[i] = (snwVec3){
            4 * snwTest_Random(&seed) - 2, snwTest_Random(&seed) - 0.5 + (i >= 500), snwTest_Random(&seed) - 0.5};
    w->def = (snwEmbeddingDef){.vertices = w->bar->def.vertices,
        .vertexCount = w->bar->def.vertexCount,
        .elements = w->bar->elements,
        .points = w->points,
        .pointCount = 600};
    snwMessage message;
    if (snwEmbedPoints(&w->arena, &w->def, &w->embedding, &message) < 0)
        fprintf(stderr, "%s\n", message.text), exit(1);
    w->positions = calloc((size_t)w->bar->def.vertexCount * 3, sizeof(float));
    w->scratch = calloc(snwEmbedding_ScratchSize(&w->embedding) + 1, sizeof(float));
    return w;
}

static void FreeWorld(World* w)
{
    free(w->positions);
    free(w->scratch);
    snwCharacter_Release(w->bar);
    snwArena_Free(&w->arena);
    snwDestroyContext(w->context);
    free(w);
}

typedef snwVec3 MapFn(snwVec3 point);

static void Bend(World* w, MapFn* map)
{
    for (int i = 0; i < w->bar->def.vertexCount; ++i)
    {
        snwVec3 p = map(w->bar->def.vertices[i]);
        w->positions[3 * i] = (float)p.x, w->positions[3 * i + 1] = (float)p.y, w->positions[3 * i + 2] = (float)p.z;
    }
    snwEmbeddingMove move = {w->positions, 3 * sizeof(float), w->scratch, w->moved[0]};
    snwEmbedding_Evaluate(w->context, &w->embedding, &move);
}

// m, the largest and the mean error of points first .. end.
static double ErrorOf(const World* w, MapFn* map, int first, int end, double* mean)
{
    double worst = 0, sum = 0;
    for (int i = first; i < end; ++i)
    {
        snwVec3 p = map(w->points[i]);
        double error = snwVec3_Distance(p, (snwVec3){w->moved[i][0], w->moved[i][1], w->moved[i][2]});
        worst = fmax(worst, error);
        sum += error;
    }
    if (mean != NULL)
        *mean = sum / (end - first);
    return worst;
}

static snwVec3 Rest(snwVec3 p)
{
    return p;
}

static snwVec3 Affine(snwVec3 p)
{
    return (snwVec3){1.5 * p.x - 0.2 * p.y + 3, 0.1 * p.x + 0.7 * p.z, -p.y + 0.3 * p.x + 0.2 * p.z - 1};
}

// Round a circle of radius 2, and twisted.
static snwVec3 Curl(snwVec3 p)
{
    double twist = 0.4 * p.x, y = p.y * cos(twist) - p.z * sin(twist), z = p.y * sin(twist) + p.z * cos(twist);
    double angle = p.x / 2;
    return (snwVec3){(2 - y) * sin(angle), 2 - (2 - y) * cos(angle), z};
}

TEST(embedding, restAndAffineMotionAreExact)
{
    World* w = MakeWorld(1);
    CHECK_INT(w->embedding.outsideCount, 100);
    CHECK(w->embedding.maxOutside > 0.9 && w->embedding.maxOutside <= 1);
    Bend(w, Rest);
    CHECK(ErrorOf(w, Rest, 0, 600, NULL) < 1e-6);
    Bend(w, Affine);
    CHECK(ErrorOf(w, Affine, 0, 600, NULL) < 4e-6);
    FreeWorld(w);
}

// What barycentric coordinates alone would say.
static void MoveLinearly(World* w)
{
    memset(w->moved, 0, sizeof w->moved);
    for (int i = 0; i < 4 * 600; ++i)
        for (int k = 0; k < 3; ++k)
            w->moved[i / 4][k] += w->embedding.weights[i / 4][i % 4] *
                                  w->positions[3 * w->embedding.vertices[w->embedding.corners[i / 4][i % 4]] + k];
}

TEST(embedding, bendingIsSmootherThanLinear)
{
    World* w = MakeWorld(1);
    double smooth, linear;
    Bend(w, Curl);
    ErrorOf(w, Curl, 0, 500, &smooth);
    CHECK(ErrorOf(w, Curl, 500, 600, NULL) < 0.1); // up to a body's width outside
    MoveLinearly(w);
    ErrorOf(w, Curl, 0, 500, &linear);
    CHECK(smooth < 0.5 * linear);
    FreeWorld(w);
}

// A point that goes from one tet through a face into the next moves without a jump, inside and across the skin.
TEST(embedding, isContinuousAcrossFacesAndSkin)
{
    World* w = MakeWorld(1);
    for (int i = 0; i < 600; ++i)
        w->points[i] = (snwVec3){0.37 + 1e-4 * i, 0.47 + 1e-4 * i, 0.31};
    REQUIRE(snwEmbedPoints(&w->arena, &w->def, &w->embedding, NULL) == snw_ok);
    free(w->scratch);
    w->scratch = calloc(snwEmbedding_ScratchSize(&w->embedding) + 1, sizeof(float));
    CHECK(w->embedding.outsideCount > 100 && w->embedding.outsideCount < 500);
    Bend(w, Curl);
    for (int i = 1; i < 600; ++i)
    {
        snwVec3 a = {w->moved[i - 1][0], w->moved[i - 1][1], w->moved[i - 1][2]},
                b = {w->moved[i][0], w->moved[i][1], w->moved[i][2]};
        CHECK(snwVec3_Distance(a, b) < 4e-4);
    }
    FreeWorld(w);
}

TEST(embedding, anyThreadsGiveTheSameBits) // Labels: threads
{
    World* one = MakeWorld(1);
    World* three = MakeWorld(3);
    Bend(one, Curl);
    Bend(three, Curl);
    CHECK(memcmp(one->moved, three->moved, sizeof one->moved) == 0);
    FreeWorld(one);
    FreeWorld(three);
}

TEST(embedding, hexesAndFlatCharactersCarryPointsToo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwVec3 cube[8], points[2] = {{0.3, 0.6, 0.2}, {0.9, 0.1, 0.5}};
    static const int hex[8] = {0, 1, 3, 2, 4, 5, 7, 6}, triangles[2][3] = {{0, 1, 3}, {0, 3, 2}};
    for (int i = 0; i < 8; ++i)
        cube[i] = (snwVec3){i & 1, (i & 2) / 2, (i & 4) / 4};
    for (int flat = 0; flat < 2; ++flat)
    {
        snwEmbeddingDef def = {.vertices = cube,
            .vertexCount = 8,
            .elements = {flat ? triangles[0] : hex, flat ? 3 : 8, flat ? 2 : 1},
            .points = points,
            .pointCount = 2};
        snwEmbedding embedding;
        float positions[24], scratch[96], moved[6];
        if (flat)
            points[0].z = points[1].z = 0, points[1].x = 1.5; // the second one outside
        REQUIRE(snwEmbedPoints(&arena, &def, &embedding, NULL) == snw_ok);
        REQUIRE(snwEmbedding_ScratchSize(&embedding) <= 96);
        for (int i = 0; i < 8; ++i)
            positions[3 * i] = (float)(2 * cube[i].x + 1), positions[3 * i + 1] = (float)cube[i].y,
                          positions[3 * i + 2] = (float)(flat ? 0 : -cube[i].z);
        snwEmbeddingMove move = {positions, 12, scratch, moved};
        snwEmbedding_Evaluate(context, &embedding, &move);
        for (int i = 0; i < 2; ++i)
        {
            CHECK_NEAR(moved[3 * i], 2 * points[i].x + 1, 1e-6);
            CHECK_NEAR(moved[3 * i + 1], points[i].y, 1e-6);
            CHECK_NEAR(moved[3 * i + 2], flat ? 0 : -points[i].z, 1e-6);
        }
        CHECK_INT(embedding.outsideCount, flat);
    }
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST(embedding, everyFailedAllocationIsAnErrorWithoutLeak)
{
    World* w = MakeWorld(1);
    bool reached = true;
    for (long n = 1; reached; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        counter.failAt = counter.allocations + n;
        snwArena arena = {.context = context};
        snwEmbedding embedding;
        snwResult result = snwEmbedPoints(&arena, &w->def, &embedding, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        snwArena_Free(&arena);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    FreeWorld(w);
}
