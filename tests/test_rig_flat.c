// The fast ways of flat rigs (flat_pass.h, rig_flat.h) against the plain ones.
// Labels: kernels

#include "base/hash.h"
#include "rig_world.h"

#include <string.h>

static const int s_counts[] = {1, 7, 8, 9, 63, 64, 65, 333};
enum
{
    snw_countCount = sizeof s_counts / sizeof *s_counts
};

// Flat, some of the handles only move, or all of them; places far from the origin, as floats have them.
static snwRigWorld* NewWorld(snwContext* context, int vertexCount, int handleCount, bool moving)
{
    snwRigWorld* world = snwRigWorld_New(context, 2, vertexCount, handleCount);
    for (int k = 0; k < handleCount; ++k)
        world->handles[k].freedom = moving || k % 3 == 1 ? snw_rigMoving : snw_rigRigid;
    snwRigWorld_Finish(world);
    snwRigWorld_Shake(world, 0.05);
    return world;
}

// Rows of place and move, for as many vertices as there are and not one more.
static float* NewPlane(snwRigWorld* world, double move)
{
    float* plane = aligned_alloc(16, 16 * (size_t)world->vertexCount);
    for (int i = 0; i < world->vertexCount; ++i)
        for (int a = 0; a < 2; ++a)
        {
            plane[4 * i + a] = world->x[4 * i + a];
            plane[4 * i + 2 + a] = (float)(move * snwTest_Signed(&world->seed));
        }
    return plane;
}

// ---------------------------------------------------------------------------------------------------------------------
// Passes

// sum m w (x, y, p x x, p . x)
static void LiteralSums(const snwRigWorld* world, const float* rows, bool plane, int handle, double out[4])
{
    snwVec3 centre = world->model->pass.centre;
    memset(out, 0, 4 * sizeof *out);
    for (int i = 0; i < world->vertexCount; ++i)
    {
        double m = world->masses[i] * snwWeights_Get(world->weights, i, handle);
        double x = (double)rows[4 * i] + (plane ? (double)rows[4 * i + 2] : 0);
        double y = (double)rows[4 * i + 1] + (plane ? (double)rows[4 * i + 3] : 0);
        double p = world->rest[i].x - centre.x, q = world->rest[i].y - centre.y;
        const double numbers[4] = {x, y, p * y - q * x, p * x + q * y};
        for (int c = 0; c < 4; ++c)
            out[c] += m * numbers[c];
    }
}

// The largest error, of the handle's mass and the size (twice).
static double SumError(const snwRigWorld* world, const float* rows, bool plane)
{
    double gathered[4 * snw_mostHandles], literal[4], worst = 0;
    snwRigFlesh flesh = {.rows = (float*)rows, .plane = plane};
    snwRigPass_Gather(world->context, &world->model->pass, &flesh, world->scratch->passes, gathered);
    for (int k = 0; k < world->handleCount; ++k)
    {
        int numbers = world->handles[k].freedom == snw_rigMoving ? 2 : 4;
        double mass = world->model->moments.p0[k * world->model->stride + k] + 1e-30, size = world->model->size + 1;
        LiteralSums(world, rows, plane, k, literal);
        for (int c = 0; c < numbers; ++c)
            worst = fmax(worst, fabs(gathered[4 * k + c] - literal[c]) / (mass * size * (c < 2 ? 1 : size)));
    }
    return worst;
}

TEST(rigflat, sumsAreThoseOfLiteralSums)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 2 * snw_countCount; ++i)
    {
        snwRigWorld* world = NewWorld(context, s_counts[i / 2], 1 + i / 2, i % 2 == 1);
        float* plane = NewPlane(world, 0.01);
        CHECK(SumError(world, world->x, false) < 1e-13);
        CHECK(SumError(world, plane, true) < 1e-7); // float within a group
        free(plane);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Sums of rows of place and move do not care where a body is: hundreds of sizes away from the origin they lose far less
// than adding the two up does.
TEST(rigflat, sumsOfPlacesAndMovesAreAboutTheBody)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = NewWorld(context, 2000, 6, false);
    float* plane = NewPlane(world, 1e-4);
    float* rounded = aligned_alloc(16, 16 * (size_t)world->vertexCount);
    for (int i = 0; i < world->vertexCount; ++i)
        plane[4 * i] += 200;
    double exact[4], lost[4], gathered[4 * snw_mostHandles], ours = 0, theirs = 0;
    snwRigFlesh flesh = {.rows = plane, .plane = true};
    for (int i = 0; i < 4 * world->vertexCount; ++i)
        rounded[i] = i % 4 < 2 ? plane[i] + plane[i + 2] : 0;
    snwRigPass_Gather(context, &world->model->pass, &flesh, world->scratch->passes, gathered);
    for (int k = 0; k < world->handleCount; ++k)
    {
        LiteralSums(world, plane, true, k, exact);
        LiteralSums(world, rounded, false, k, lost);
        for (int c = 0; c < 2; ++c)
        {
            ours += pow(gathered[4 * k + c] - exact[c], 2);
            theirs += pow(lost[c] - exact[c], 2);
        }
    }
    CHECK(ours > 0 && ours < 0.01 * theirs);
    free(plane), free(rounded);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// Changes go to the moves of the rows and nowhere else, and are those that places get.
TEST(rigflat, movesGetWhatPlacesGet)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 2 * snw_countCount; ++i)
    {
        snwRigWorld* world = NewWorld(context, s_counts[i / 2], 1 + i / 2, i % 2 == 1);
        float *plane = NewPlane(world, 0), *before = malloc(16 * (size_t)world->vertexCount);
        memcpy(before, world->x, 16 * (size_t)world->vertexCount);
        world->targets[0].given = snw_dofX | snw_dofY;
        world->targets[0].place = snwVec3_Add(world->pose[0].place, (snwVec3){0.1, -0.05, 0});
        snwRigWorld_Fit(world);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        snwRigFlesh flesh = {.rows = plane, .plane = true};
        snwRigFit_ApplyFlesh(context, world->model, world->scratch, world->pose, &flesh, NULL);
        double moved = 0;
        for (int v = 0; v < 4 * world->vertexCount; ++v)
        {
            CHECK(v % 4 > 1 || plane[v] == before[v]);
            CHECK(v % 4 < 2 || world->x[v] == before[v]);
            if (v % 4 < 2)
                CHECK_NEAR(world->x[v], before[v] + plane[v + 2], 3e-7);
            moved = fmax(moved, v % 4 < 2 ? fabs((double)plane[v + 2]) : 0);
        }
        CHECK(moved > 1e-3);
        free(plane), free(before);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Solves

// A part of C that is as good as nothing makes the general way take over.
static void UseGeneralWay(snwRigWorld* world, bool general)
{
    world->hold.kept = general ? 1e-300 : 0;
}

static void CheckBothWays(snwRigWorld* world, int trial)
{
    snwRigPose start[snw_mostHandles], poses[2][snw_mostHandles], answers[2][snw_mostHandles];
    bool answered[2];
    double largest[2];
    snwRigWorld_RandomPose(world, 0.3);
    snwRigWorld_Shake(world, trial % 3 == 0 ? 2 : 0.1);
    for (int k = 0; k < world->handleCount; ++k) // both coordinates or none
    {
        bool moves = (trial + k) % 4 == 1, turns = (trial + k) % 5 == 2;
        world->targets[k].given = (moves ? snw_dofX | snw_dofY : 0) | (turns ? snw_dofRotationZ : 0);
        world->targets[k].place = snwVec3_MulAdd(world->pose[k].place, 0.1, snwRigWorld_RandomVector(world));
        world->targets[k].rotation = (snwQuat){0, 0, sin(0.1 * k), cos(0.1 * k)};
    }
    memcpy(start, world->pose, sizeof start);
    for (int way = 0; way < 2; ++way)
    {
        UseGeneralWay(world, way == 1);
        memcpy(world->pose, start, sizeof start);
        CHECK(snwRigFlat_Serves(world->model, world->scratch, &world->hold) == (way == 0) || trial == 0);
        largest[way] = snwRigWorld_Fit(world).largest;
        memcpy(poses[way], world->pose, sizeof start);
        answered[way] = snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
        memcpy(answers[way], world->scratch->answer, sizeof(snwRigPose) * (size_t)world->handleCount);
    }
    CHECK(answered[0] == answered[1]);
    CHECK_NEAR(largest[0], largest[1], 1e-9 * (1 + largest[1]));
    for (int k = 0; k < world->handleCount; ++k)
    {
        CHECK(snwVec3_Distance(poses[0][k].place, poses[1][k].place) < 1e-9);
        CHECK(snwMat3_Norm(snwMat3_Sub(poses[0][k].linear, poses[1][k].linear)) < 1e-9);
        if (!answered[0])
            continue;
        CHECK(snwVec3_Distance(answers[0][k].place, answers[1][k].place) < 1e-8);
        CHECK(snwMat3_Norm(snwMat3_Sub(answers[0][k].linear, answers[1][k].linear)) < 1e-8);
    }
}

TEST(rigflat, solvesAreThoseOfTheGeneralWay)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int handles = 1; handles <= 13; handles += 3)
        for (int moving = 0; moving < 2; ++moving)
        {
            snwRigWorld* world = snwRigWorld_New(context, 2, 150, handles);
            for (int k = 0; k < handles; ++k)
                world->handles[k].freedom = moving != 0 ? snw_rigMoving : k % 3 == 1 ? snw_rigMoving : snw_rigRigid;
            snwRigWorld_Finish(world);
            for (int trial = 0; trial < 8; ++trial)
                CheckBothWays(world, trial);
            snwRigWorld_Free(world);
        }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------

static uint64_t RunHash(int threads, snwSimd simd, bool moving)
{
    snwContext* context = snwFixture_Context(threads, simd, NULL);
    snwRigWorld* world = NewWorld(context, 6003, 7, moving); // some chunks
    float* plane = NewPlane(world, 0.01);
    snwRigFlesh flesh = {.rows = plane, .plane = true};
    uint64_t hash = 0;
    for (int trial = 0; trial < 3; ++trial)
    {
        world->targets[trial].given = snw_dofX | snw_dofY;
        snwRigFit_GatherFlesh(context, world->model, world->scratch, &flesh);
        snwRigFit_Solve(world->model, world->scratch, &world->hold, world->pose);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigFit_ApplyFlesh(context, world->model, world->scratch, world->pose, &flesh, world->rigged);
        hash = snwHash(world->pose, 7 * sizeof *world->pose, hash);
        hash = snwHash(plane, 16 * (size_t)world->vertexCount, hash);
        hash = snwHash(world->rigged, 16 * (size_t)world->vertexCount, hash);
    }
    free(plane);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
    return hash;
}

TEST(rigflat, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    for (int moving = 0; moving < 2; ++moving)
    {
        uint64_t hash = RunHash(1, snw_simdScalar, moving != 0);
        CHECK(hash == RunHash(1, snw_simdBase, moving != 0));
        CHECK(hash == RunHash(1, snw_simdAvx2, moving != 0));
        CHECK(hash == RunHash(2, snw_simdAuto, moving != 0));
        CHECK(hash == RunHash(4, snw_simdAuto, moving != 0));
    }
}
