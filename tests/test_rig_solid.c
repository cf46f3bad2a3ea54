// The fast ways of solid rigs (rig_pass.h) against the plain ones.
// Labels: kernels

#include "base/hash.h"
#include "rig_world.h"

#include <string.h>

static const int s_counts[] = {1, 7, 8, 9, 63, 64, 65, 333};
enum
{
    snw_countCount = sizeof s_counts / sizeof *s_counts,
    snw_numbers = 12
};

// sorted: vertices that follow each other have the same two handles, but for some; else any.
static snwRigWorld* NewWorld(snwContext* context, int vertexCount, int handleCount, bool sorted)
{
    snwRigWorld* world = snwRigWorld_New(context, 3, vertexCount, handleCount);
    for (int i = 0; i < vertexCount && sorted; ++i)
    {
        double* row = world->dense + (size_t)i * (size_t)handleCount;
        int handle = i % 50 == 17 ? i % handleCount : (int)((int64_t)i * handleCount / vertexCount);
        double part = 0.5 + 0.4 * snwTest_Signed(&world->seed);
        memset(row, 0, (size_t)handleCount * sizeof *row);
        row[handle] += part, row[(handle + 1) % handleCount] += 1 - part;
    }
    snwRigWorld_Finish(world);
    snwRigWorld_Shake(world, 0.05);
    return world;
}

// For as many vertices as there are and not one more.
static float* NewMoves(snwRigWorld* world, double size)
{
    float* moves = aligned_alloc(16, 16 * (size_t)world->vertexCount);
    for (int i = 0; i < 4 * world->vertexCount; ++i)
        moves[i] = i % 4 < 3 ? (float)(size * snwTest_Signed(&world->seed)) : 0;
    return moves;
}

// sum m w x (p, 1), then y, z. moves NULL: none.
static void LiteralSums(const snwRigWorld* world, const float* rows, const float* moves, int handle, double* out)
{
    snwVec3 centre = world->model->pass.centre;
    memset(out, 0, snw_numbers * sizeof *out);
    for (int i = 0; i < world->vertexCount; ++i)
    {
        double m = world->masses[i] * snwWeights_Get(world->weights, i, handle);
        const double p[4] = {world->rest[i].x - centre.x, world->rest[i].y - centre.y, world->rest[i].z - centre.z, 1};
        for (int c = 0; c < snw_numbers; ++c)
        {
            int at = 4 * i + c / 4;
            out[c] += m * ((double)rows[at] + (moves != NULL ? (double)moves[at] : 0)) * p[c % 4];
        }
    }
}

static void Gather(const snwRigWorld* world, const float* moves, double* out)
{
    snwRigFlesh flesh = {.rows = world->x, .moves = moves};
    snwRigPass_Gather(world->context, &world->model->pass, &flesh, world->scratch->passes, out);
}

// The largest error, of the handle's mass and the size (twice).
static double SumError(const snwRigWorld* world, const float* moves)
{
    double gathered[snw_numbers * snw_mostHandles], literal[snw_numbers], worst = 0, size = world->model->size + 1;
    Gather(world, moves, gathered);
    for (int k = 0; k < world->handleCount; ++k)
    {
        double mass = world->model->moments.p0[k * world->model->stride + k] + 1e-30;
        LiteralSums(world, world->x, moves, k, literal);
        for (int c = 0; c < snw_numbers; ++c)
        {
            double error = fabs(gathered[snw_numbers * k + c] - literal[c]);
            worst = fmax(worst, error / (mass * size * (c % 4 == 3 ? 1 : size)));
        }
    }
    return worst;
}

TEST(rigsolid, sumsAreThoseOfLiteralSums)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 2 * snw_countCount; ++i)
    {
        snwRigWorld* world = NewWorld(context, s_counts[i / 2], 1 + i / 2, i % 2 == 0);
        float* moves = NewMoves(world, 0.01);
        CHECK(SumError(world, NULL) < 1e-13);
        CHECK(SumError(world, moves) < 1e-7); // float within a tile
        free(moves);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Sums of places and moves do not care where a body is: a hundred sizes away from the origin they lose far less than
// adding the two up does.
TEST(rigsolid, sumsOfPlacesAndMovesAreAboutTheBody)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = NewWorld(context, 2000, 6, true);
    float *moves = NewMoves(world, 1e-4), *rounded = aligned_alloc(16, 16 * (size_t)world->vertexCount);
    double exact[snw_numbers], lost[snw_numbers], gathered[snw_numbers * snw_mostHandles], ours = 0, theirs = 0;
    for (int i = 0; i < world->vertexCount; ++i)
        world->x[4 * i] += (float)(100 * world->model->size);
    for (int i = 0; i < 4 * world->vertexCount; ++i)
        rounded[i] = world->x[i] + moves[i];
    Gather(world, moves, gathered);
    for (int k = 0; k < world->handleCount; ++k)
    {
        LiteralSums(world, world->x, moves, k, exact);
        LiteralSums(world, rounded, NULL, k, lost);
        for (int c = 3; c < snw_numbers; c += 4)
        {
            ours += pow(gathered[snw_numbers * k + c] - exact[c], 2);
            theirs += pow(lost[c] - exact[c], 2);
        }
    }
    CHECK(ours > 0 && ours < 0.01 * theirs);
    free(moves), free(rounded);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// A handle that is given moves every vertex once, also where lanes are left over, and fourth numbers stay.
TEST(rigsolid, changesAreThoseOfLiteralMaps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 2 * snw_countCount; ++i)
    {
        snwRigWorld* world = NewWorld(context, s_counts[i / 2], 1 + i / 2, i % 2 == 0);
        float* moves = NewMoves(world, 0);
        world->targets[0].given = snw_dofX | snw_dofY;
        world->targets[0].place = snwVec3_Add(world->pose[0].place, (snwVec3){0.1, -0.05, 0});
        snwRigWorld_Fit(world);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        for (int v = 0; v < world->vertexCount; ++v)
            moves[4 * v + 3] = (float)v;
        snwRigFlesh flesh = {.rows = moves};
        snwRigFit_ApplyFlesh(context, world->model, world->scratch, world->pose, &flesh, NULL);
        snwRigLiteral literal = snwRigLiteral_New(world, world->pose);
        double* dx = calloc((size_t)literal.rows, sizeof *dx);
        snwRigWorld_AnswerOf(world, &literal, dx);
        for (int v = 0; v < world->vertexCount; ++v)
        {
            CHECK(moves[4 * v + 3] == (float)v);
            for (int d = 0; d < 3; ++d)
                CHECK_NEAR(moves[4 * v + d], dx[3 * v + d], 1e-6);
        }
        free(dx), free(moves);
        snwRigLiteral_Free(&literal);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------

static uint64_t RunHash(int threads, snwSimd simd, bool sorted)
{
    snwContext* context = snwFixture_Context(threads, simd, NULL);
    snwRigWorld* world = NewWorld(context, 6003, 7, sorted); // some chunks
    float* moves = NewMoves(world, 0.01);
    snwRigFlesh flesh = {.rows = world->x, .moves = moves}, changed = {.rows = moves};
    uint64_t hash = 0;
    for (int trial = 0; trial < 3; ++trial)
    {
        world->targets[trial].given = snw_dofX | snw_dofY;
        snwRigFit_GatherFlesh(context, world->model, world->scratch, &flesh);
        snwRigFit_Solve(world->model, world->scratch, &world->hold, world->pose);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigFit_ApplyFlesh(context, world->model, world->scratch, world->pose, &changed, world->rigged);
        hash = snwHash(world->pose, 7 * sizeof *world->pose, hash);
        hash = snwHash(moves, 16 * (size_t)world->vertexCount, hash);
        hash = snwHash(world->rigged, 16 * (size_t)world->vertexCount, hash);
    }
    free(moves);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
    return hash;
}

TEST(rigsolid, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    for (int sorted = 0; sorted < 2; ++sorted)
    {
        uint64_t hash = RunHash(1, snw_simdScalar, sorted != 0);
        CHECK(hash == RunHash(1, snw_simdBase, sorted != 0));
        CHECK(hash == RunHash(1, snw_simdAvx2, sorted != 0));
        CHECK(hash == RunHash(2, snw_simdAuto, sorted != 0));
        CHECK(hash == RunHash(4, snw_simdAuto, sorted != 0));
    }
}
