// Surfaces that move by themselves: morph targets and point caches, from the file to what is shown.

#include "fixture.h"
#include "gltf_world.h"
#include "math/transform.h"
#include "prepare/prepare.h"
#include "sim/character.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_round = 12,
    snw_rings = 8,
    snw_points = 2 + (snw_rings - 1) * snw_round,
    snw_cacheFrames = 13,
};

// ---------------------------------------------------------------------------------------------------------------------
// A ball and its cache

static snwVec3 BallPoint(int index)
{
    if (index == 0)
        return (snwVec3){0, 0.5, 0};
    if (index == snw_points - 1)
        return (snwVec3){0, -0.5, 0};
    double down = SNW_PI * ((index - 1) / snw_round + 1) / snw_rings,
           turn = 2 * SNW_PI * ((index - 1) % snw_round) / snw_round;
    return (snwVec3){0.5 * sin(down) * cos(turn), 0.5 * cos(down), 0.5 * sin(down) * sin(turn)};
}

// Leans over and is pressed: far from rigid, and more than the body's tets can follow.
static snwVec3 BallFrame(int index, int frame)
{
    snwVec3 x = BallPoint(index);
    double phase = 2 * SNW_PI * frame / (snw_cacheFrames - 1), lean = 0.4 * sin(phase);
    snwQuat turn = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, lean);
    x = snwQuat_Rotate(turn, (snwVec3){x.x, x.y * (1 - 0.2 * fabs(sin(phase))), x.z});
    return (snwVec3){x.x + 0.3 * sin(phase) + 0.01 * sin(phase) * (index % 2), x.y, x.z};
}

static void WriteBall(const char* path)
{
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    for (int i = 0; i < snw_points; ++i)
        fprintf(file, "v %.9g %.9g %.9g\n", BallPoint(i).x, BallPoint(i).y, BallPoint(i).z);
    for (int i = 0; i < snw_round; ++i)
    {
        int next = (i + 1) % snw_round, last = snw_points;
        fprintf(file, "f 1 %d %d\nf %d %d %d\n", 2 + next, 2 + i, last, last - snw_round + i, last - snw_round + next);
        for (int j = 0; j < snw_rings - 2; ++j)
        {
            int a = 2 + j * snw_round + i, b = 2 + j * snw_round + next;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, a + snw_round, b, b + snw_round, a + snw_round);
        }
    }
    fclose(file);
}

// Z up, as caches are.
static void WriteCache(const char* path, int points)
{
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL);
    const int head[2] = {1, points}, frames = snw_cacheFrames;
    const float rate[2] = {1, 1};
    fwrite("POINTCACHE2", 1, 12, file);
    fwrite(head, sizeof head, 1, file);
    fwrite(rate, sizeof rate, 1, file);
    fwrite(&frames, sizeof frames, 1, file);
    for (int f = 0; f < frames; ++f)
        for (int i = 0; i < points; ++i)
        {
            snwVec3 x = BallFrame(i, f);
            const float at[3] = {(float)x.x, (float)-x.z, (float)x.y};
            fwrite(at, sizeof at, 1, file);
        }
    fclose(file);
}

static snwResult PrepareBall(snwContext* context, int points, snwPrepared** prepared, snwMessage* message)
{
    char ball[512], cache[512];
    snprintf(ball, sizeof ball, "%s/ball.obj", snwTest_TempDir());
    snprintf(cache, sizeof cache, "%s/lean.pc2", snwTest_TempDir());
    WriteBall(ball);
    WriteCache(cache, points);
    snwPrepareDef def = snwDefaultPrepareDef();
    def.mesher = snw_mesherLattice;
    def.elements = 300;
    def.scale = 1;
    def.cache = cache;
    def.cacheRate = 12;
    return snwPrepareFile(context, ball, &def, prepared, NULL, message);
}

// Where the surface is shown when the body is where the motion puts it, bones at rest; the farthest from `wanted`.
static double FarthestShown(
    const snwPrepared* prepared, int motion, double time, bool detail, snwVec3 (*wanted)(const snwSurfaceInfo*, int))
{
    const snwCharacter* character = snwPrepared_GetCharacter(prepared);
    int count = snwCharacter_GetInfo(character).vertexCount;
    float* body = calloc((size_t)count, 3 * sizeof *body);
    snwDisplay* display = NULL;
    snwSkin skin;
    double most = 0;
    CHECK(snwCharacter_PoseVertices(character, motion, time, body, count, 12) == snw_ok);
    CHECK(snwCreateDisplay((snwPrepared*)prepared, &display, NULL) == snw_ok);
    CHECK(snwDisplay_SetMotion(display, detail ? motion : -1, time) == snw_ok);
    CHECK(snwDisplay_Update(display, body, count, 12, NULL) == snw_ok);
    CHECK(snwDisplay_GetSurface(display, 0, &skin) == snw_ok);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        const float* x = skin.positions + 3 * (size_t)i;
        most = fmax(most, snwVec3_Distance((snwVec3){(double)x[0], (double)x[1], (double)x[2]},
                              wanted(snwPrepared_GetSurface(prepared, 0), i)));
    }
    CHECK(snwDisplay_SetMotion(display, 99, 0) < 0);
    snwDestroyDisplay(display);
    free(body);
    return most;
}

static snwVec3 BallAtThree(const snwSurfaceInfo* surface, int vertex)
{
    (void)surface;
    return BallFrame(vertex, 3);
}

TEST(shapes, aCacheIsShownAsItIs)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared *prepared = NULL, *again = NULL;
    REQUIRE(PrepareBall(context, snw_points, &prepared, NULL) >= 0);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    CHECK(def->motionCount == 1 && strcmp(def->motions[0].name, "lean") == 0 && def->motions[0].loop);
    CHECK_NEAR(def->motions[0].duration, 1.0, 1e-9);
    CHECK_INT(def->motions[0].vertices.sampleCount, snw_cacheFrames);
    double shown = FarthestShown(prepared, 0, 0.25, true, BallAtThree);
    CHECK(shown < 1e-5);
    CHECK(FarthestShown(prepared, 0, 0.25, false, BallAtThree) > 1e-3); // what the body alone misses
    void *block = NULL, *second = NULL;
    size_t size = 0, secondSize = 0;
    CHECK(snwPrepared_Save(prepared, &block, &size, NULL) == snw_ok);
    CHECK(snwPrepared_Load(context, block, size, &again, NULL) == snw_ok);
    CHECK(snwPrepared_Save(again, &second, &secondSize, NULL) == snw_ok);
    CHECK(size == secondSize && memcmp(block, second, size) == 0);
    CHECK(FarthestShown(again, 0, 0.25, true, BallAtThree) == shown);
    snwContext_Free(context, block);
    snwContext_Free(context, second);
    snwPrepared_Release(prepared);
    snwPrepared_Release(again);
    snwDestroyContext(context);
}

TEST(shapes, aCacheOfAnotherMeshIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    CHECK(PrepareBall(context, snw_points - 1, &prepared, &message) < 0);
    CHECK_CONTAINS(message.text, "points");
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Morphs

// At half of 'bend': weights 0.5 and 1 of 'fat' and 'tall', as gltf_world.c has them.
static snwVec3 BarAtHalf(const snwSurfaceInfo* surface, int vertex)
{
    const float* x = surface->positions[vertex];
    return (snwVec3){1.25 * (double)x[0], (double)x[1] + 0.25 * (vertex / 3), (double)x[2]};
}

TEST(shapes, morphsMoveBodyAndSurface)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfBytes bytes = snwGltfWorld_Glb(&world);
    char path[512];
    snprintf(path, sizeof path, "%s/bar.glb", snwTest_TempDir());
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(bytes.data, 1, bytes.size, file);
    fclose(file);
    snwPrepareDef def = snwDefaultPrepareDef();
    def.mesher = snw_mesherLattice;
    def.elements = 300;
    def.scale = 1;
    snwPrepared* prepared = NULL;
    REQUIRE(snwPrepareFile(context, path, &def, &prepared, NULL, NULL) >= 0);
    const snwCharacterDef* body = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    REQUIRE(body->motionCount == 1 && body->motions[0].vertices.sampleCount > 2);
    CHECK(body->motions[0].trackCount > 0); // bones as well
    CHECK(FarthestShown(prepared, 0, 0.5, true, BarAtHalf) < 2e-5);
    const snwCharacter* character = snwPrepared_GetCharacter(prepared);
    float* now = calloc((size_t)body->vertexCount, 3 * sizeof *now);
    snwCharacter_PoseVertices(character, 0, 0.5, now, body->vertexCount, 12);
    int held = 0;
    double moved = 0;
    for (int i = 0; i < body->vertexCount; ++i)
    {
        snwVec3 x = {(double)now[3 * i], (double)now[3 * i + 1], (double)now[3 * i + 2]};
        double way = snwVec3_Distance(x, body->vertices[i]);
        moved = fmax(moved, way);
        held += character->vertexBones[i] >= 0;
        if (character->vertexBones[i] >= 0)
            CHECK(way < 1e-6); // what bones own stays with them
    }
    CHECK(held > 0 && moved > 0.2);
    free(now);
    free(bytes.data);
    snwGltfWorld_Free(&world);
    snwPrepared_Release(prepared);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Jumps

// The bar with another motion of its hip, prepared.
static snwPrepared* PrepareMoved(
    snwContext* context, const float (*moves)[3], const char* interpolation, const char* sidecar)
{
    static const float s_times[3] = {0, 0.5f, 1};
    snwGltfWorld world = snwGltfWorld_Bar();
    char path[512], beside[512], sampler[128];
    int times = snwGltfWorld_Floats(&world, s_times, 3, "SCALAR"),
        values = snwGltfWorld_Floats(&world, moves[0], 3, "VEC3");
    snprintf(sampler, sizeof sampler, "{\"input\": %d, \"output\": %d, \"interpolation\": \"%s\"}", times, values,
        interpolation);
    snwGltfWorld_Set(&world, "animations/0/samplers/1", sampler);
    snwGltfBytes bytes = snwGltfWorld_Glb(&world);
    snprintf(path, sizeof path, "%s/moved.glb", snwTest_TempDir());
    snprintf(beside, sizeof beside, "%s/moved.json", snwTest_TempDir());
    FILE *file = fopen(path, "wb"), *words = fopen(beside, "w");
    fwrite(bytes.data, 1, bytes.size, file);
    fprintf(words, "%s", sidecar);
    fclose(file);
    fclose(words);
    snwPrepareDef def = snwDefaultPrepareDef();
    def.mesher = snw_mesherLattice;
    def.elements = 300;
    def.scale = 1;
    def.sidecar = beside;
    snwPrepared* prepared = NULL;
    CHECK(snwPrepareFile(context, path, &def, &prepared, NULL, NULL) >= 0);
    free(bytes.data);
    snwGltfWorld_Free(&world);
    return prepared;
}

// m: the farthest that the hip is from these places in x, at half of a thousandth of the time and so on.
static double FarthestHip(const snwPrepared* prepared, double (*place)(double))
{
    double worst = 0;
    for (int i = 0; i < 1000; ++i)
    {
        snwTransform bones[8];
        double time = (i + 0.5) / 1000;
        CHECK(snwCharacter_Pose(snwPrepared_GetCharacter(prepared), 0, time, bones, 8) == snw_ok);
        worst = fmax(worst, fabs(bones[0].position.x - place(time)));
    }
    return worst;
}

static double Leap(double time)
{
    return time < 0.5 ? 0 : 5;
}

static double Walk(double time)
{
    return 0.4 * time;
}

// The hip is put 5 m away at half of the time: nothing swings out before or after, and the jump takes no time. A loop
// that walks on by 0.4 m jumps back in no time either.
TEST(shapes, jumpsOfTheRootBecomeEdges)
{
    static const float s_leap[3][3] = {{0, 0, 0}, {5, 0, 0}, {5, 0, 0}},
                       s_walk[3][3] = {{0}, {0.2f, 0, 0}, {0.4f, 0, 0}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwPrepared* leap = PrepareMoved(context, s_leap, "STEP", "{\"sinew\": 1}");
    snwPrepared* walk = PrepareMoved(
        context, s_walk, "LINEAR", "{\"sinew\": 1, \"motions\": {\"bend\": {\"loop\": \"yes\"}}}");
    REQUIRE(leap != NULL && walk != NULL);
    CHECK(snwCharacter_GetDef(snwPrepared_GetCharacter(walk))->motions[0].loop);
    CHECK(FarthestHip(leap, Leap) < 1e-3);
    CHECK(FarthestHip(walk, Walk) < 1e-3);
    snwPrepared_Release(leap);
    snwPrepared_Release(walk);
    snwDestroyContext(context);
}

// An allocation that fails, every 37th of them: an error or no harm, and nothing is left behind.
TEST(shapes, noMemoryLeavesNothingBehind)
{
    bool reached = true;
    int failed = 0;
    for (long n = 1; reached; n += 37)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwPrepared* prepared = NULL;
        counter.failAt = counter.allocations + n;
        snwResult result = PrepareBall(context, snw_points, &prepared, NULL);
        reached = counter.allocations >= counter.failAt;
        CHECK(result >= 0 || (result == snw_errorMemory && prepared == NULL && reached));
        failed += result < 0;
        snwPrepared_Release(prepared);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
    CHECK(failed > 15);
}
