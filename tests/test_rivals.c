#include "fixture.h"
#include "math/eigen.h"
#include "math/rows.h"
#include "math/transform.h"
#include "rig/weights.h"
#include "rigged.h"
#include "sim/rigpbd/rival.h"
#include "test.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// A bar along x: cells x 2 (x 2) boxes of size one, cut into triangles or tets, inner vertices shaken

typedef struct World
{
    snwContext* context;
    snwRimsDef mesh;
    snwVec3* rest;
    snwVec3* x;
    int* corners;
    unsigned char* fixed;
    snwWeights* weights;
    snwVec3* origins;
    snwRigPose* pose;
    uint64_t seed;
} World;

enum
{
    s_handles = 4
};

static void SetBoxCorners(int* out, const int id[8])
{
    static const int tets[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    for (int i = 0; i < 24; ++i)
        out[i] = id[tets[i / 4][i % 4]];
}

static void FillMesh(World* world, int cells, bool flat)
{
    int layers = flat ? 1 : 3, elements = 0, arity = flat ? 3 : 4;
    for (int i = 0; i <= cells; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < layers; ++k)
            {
                bool inner = i > 0 && i < cells && j == 1 && (flat || k == 1);
                double shake = inner ? 0.2 : 0;
                world->rest[(i * 3 + j) * layers + k] = (snwVec3){i + shake * snwTest_Random(&world->seed),
                    j + shake * snwTest_Random(&world->seed), k + (flat ? 0 : shake * snwTest_Random(&world->seed))};
            }
    for (int i = 0; i < cells; ++i)
        for (int j = 0; j < 2; ++j)
            for (int k = 0; k < (flat ? 1 : 2); ++k)
            {
                int id[8];
                for (int c = 0; c < 8; ++c)
                    id[c] = ((i + (c & 1)) * 3 + j + (c >> 1 & 1)) * layers + k + (flat ? 0 : c >> 2);
                const int triangles[6] = {id[0], id[1], id[3], id[0], id[3], id[2]};
                if (flat)
                    memcpy(world->corners + 3 * elements, triangles, sizeof triangles);
                else
                    SetBoxCorners(world->corners + 4 * elements, id);
                elements += flat ? 2 : 6;
            }
    world->mesh = (snwRimsDef){(cells + 1) * 3 * layers, world->rest, {world->corners, arity, elements}};
}

static void FillRig(World* world, int cells)
{
    int n = world->mesh.vertexCount;
    double* dense = calloc((size_t)n * s_handles, sizeof *dense);
    for (int k = 0; k < s_handles; ++k)
    {
        world->origins[k] = (snwVec3){k * cells / (s_handles - 1.0), 1, world->mesh.elements.arity == 3 ? 0 : 1};
        world->pose[k] = (snwRigPose){snwMat3_Identity(), world->origins[k]};
    }
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < s_handles; ++k)
        {
            double distance = fabs(world->rest[i].x - world->origins[k].x) * (s_handles - 1.0) / cells;
            dense[i * s_handles + k] = fmax(0, 1 - distance / 1.3) * (1 + 0.05 * world->rest[i].y);
        }
    snwWeightLists lists = {.vertexCount = n, .handleCount = s_handles, .perVertex = s_handles, .values = dense};
    snwWeights_FromLists(world->context, &lists, &world->weights, NULL, NULL);
    free(dense);
}

static World* NewWorld(snwContext* context, int cells, bool flat)
{
    World* world = calloc(1, sizeof *world);
    size_t most = (size_t)(cells + 1) * 9;
    world->context = context;
    world->seed = 7;
    world->rest = calloc(most, sizeof *world->rest);
    world->x = calloc(most, sizeof *world->x);
    world->corners = calloc(most * 24, sizeof *world->corners);
    world->fixed = calloc(most, 1);
    world->origins = calloc(s_handles, sizeof *world->origins);
    world->pose = calloc(s_handles, sizeof *world->pose);
    FillMesh(world, cells, flat);
    FillRig(world, cells);
    memcpy(world->x, world->rest, most * sizeof *world->x);
    return world;
}

static void FreeWorld(World* world)
{
    snwFree(world->context, world->weights);
    free(world->rest);
    free(world->x);
    free(world->corners);
    free(world->fixed);
    free(world->origins);
    free(world->pose);
    free(world);
}

static snwArap* NewArap(const World* world)
{
    snwArap* arap = NULL;
    CHECK_INT(snwArap_Create(world->context, &world->mesh, &arap, NULL), snw_ok);
    return arap;
}

static snwFast* NewFast(const World* world, int clusters)
{
    snwFast* fast = NULL;
    snwFastDef def = {world->mesh, world->weights, world->origins, clusters};
    CHECK_INT(snwFast_Create(world->context, &def, &fast, NULL), snw_ok);
    return fast;
}

static bool IsFlat(const World* world)
{
    return world->mesh.elements.arity == 3;
}

// Fixes the vertices of both ends and bends the second one out of the way.
static void Bend(World* world, double shift)
{
    double length = world->rest[world->mesh.vertexCount - 1].x;
    for (int i = 0; i < world->mesh.vertexCount; ++i)
    {
        snwVec3 p = world->rest[i];
        world->x[i] = p;
        world->fixed[i] = p.x == 0 || p.x == length ? snw_fixedX | snw_fixedY | snw_fixedZ : 0;
        if (p.x == length)
            world->x[i] = (snwVec3){p.x - 0.4 * shift, p.y + shift, IsFlat(world) ? 0 : p.z - 0.5 * shift};
    }
}

static double Farthest(const snwVec3* a, const snwVec3* b, int count)
{
    double farthest = 0;
    for (int i = 0; i < count; ++i)
        farthest = fmax(farthest, snwVec3_Distance(a[i], b[i]));
    return farthest;
}

static snwTransform SomeMotion(bool flat)
{
    snwVec3 turn = flat ? (snwVec3){0, 0, 1.1} : (snwVec3){0.5, -0.4, 0.9};
    return (snwTransform){{0.7, -2.5, flat ? 0 : 1.2}, snwQuat_FromRotationVector(turn)};
}

// ---------------------------------------------------------------------------------------------------------------------
// ARAP, plainly: dense and double, edges and cotangents in the plane as Chao et al. write it, elements in space

typedef struct Plain
{
    const World* world;
    snwMat3* turns;
    double* matrix; // of the edges or elements, all vertices
    double* right;  // three columns
} Plain;

// cot / 2 of the angle opposite to edge number e of a triangle
static double HalfCotangent(const World* world, const int* t, int e)
{
    snwVec3 a = snwVec3_Sub(world->rest[t[(e + 1) % 3]], world->rest[t[e]]);
    snwVec3 b = snwVec3_Sub(world->rest[t[(e + 2) % 3]], world->rest[t[e]]);
    return 0.5 * snwVec3_Dot(a, b) / snwVec3_Length(snwVec3_Cross(a, b));
}

// Weight of the pair of corners a, b of an element: of all pairs, w |p_a - p_b|^2 sum to V |gradient|^2.
static double PairWeight(const World* world, int element, int a, int b)
{
    const int* t = snwElements_Corners(world->mesh.elements, element);
    if (IsFlat(world))
        return HalfCotangent(world, t, 3 - a - b);
    snwMat3 inverse = snwMat3_Identity();
    snwMat3 edges = snwMat3_FromColumns(snwVec3_Sub(world->rest[t[1]], world->rest[t[0]]),
        snwVec3_Sub(world->rest[t[2]], world->rest[t[0]]), snwVec3_Sub(world->rest[t[3]], world->rest[t[0]]));
    snwMat3_Inverse(edges, &inverse);
    snwVec3 g[4] = {{0, 0, 0}, snwMat3_Row(inverse, 0), snwMat3_Row(inverse, 1), snwMat3_Row(inverse, 2)};
    g[0] = snwVec3_Negate(snwVec3_Add(snwVec3_Add(g[1], g[2]), g[3]));
    return -snwVec3_Dot(g[a], g[b]) * snwMat3_Determinant(edges) / 6;
}

// Visits every pair of corners of every element around every vertex.
static void PlainVisit(Plain* plain, const snwVec3* x, snwMat3* sums)
{
    const World* world = plain->world;
    int arity = world->mesh.elements.arity, n = world->mesh.vertexCount;
    for (int i = 0; i < world->mesh.elements.count * arity; ++i)
        for (int a = 0; a < arity; ++a)
            for (int b = 0; b < a; ++b)
            {
                const int* t = snwElements_Corners(world->mesh.elements, i / arity);
                double w = PairWeight(world, i / arity, a, b) / arity;
                snwVec3 now = snwVec3_Sub(x[t[a]], x[t[b]]), then = snwVec3_Sub(world->rest[t[a]], world->rest[t[b]]);
                int k = t[i % arity];
                if (sums != NULL)
                {
                    sums[k] = snwMat3_Add(sums[k], snwMat3_Scale(snwMat3_Outer(now, then), w));
                    continue;
                }
                snwVec3 r = snwVec3_Scale(snwMat3_MulVec(plain->turns[k], then), w);
                const double parts[3] = {r.x, r.y, r.z};
                for (int axis = 0; axis < 3; ++axis)
                {
                    plain->right[axis * n + t[a]] += parts[axis];
                    plain->right[axis * n + t[b]] -= parts[axis];
                }
                plain->matrix[t[a] * n + t[a]] += w;
                plain->matrix[t[b] * n + t[b]] += w;
                plain->matrix[t[a] * n + t[b]] -= w;
                plain->matrix[t[b] * n + t[a]] -= w;
            }
}

static void SolveDense(double* matrix, double* right, int n)
{
    for (int p = 0; p < n; ++p)
        for (int row = p + 1; row < n; ++row)
        {
            double factor = matrix[row * n + p] / matrix[p * n + p];
            for (int column = p; column < n && factor != 0; ++column)
                matrix[row * n + column] -= factor * matrix[p * n + column];
            right[row] -= factor * right[p];
        }
    for (int p = n - 1; p >= 0; --p)
    {
        for (int column = p + 1; column < n; ++column)
            right[p] -= matrix[p * n + column] * right[column];
        right[p] /= matrix[p * n + p];
    }
}

static void PlainSolveAxis(const Plain* plain, int axis, snwVec3* x)
{
    int n = plain->world->mesh.vertexCount;
    double* matrix = malloc((size_t)n * (size_t)n * sizeof *matrix);
    double* right = plain->right + axis * n;
    memcpy(matrix, plain->matrix, (size_t)n * (size_t)n * sizeof *matrix);
    for (int i = 0; i < n; ++i)
    {
        double value = axis == 0 ? x[i].x : axis == 1 ? x[i].y : x[i].z;
        if ((plain->world->fixed[i] >> axis & 1) == 0)
            continue;
        memset(matrix + i * n, 0, (size_t)n * sizeof *matrix);
        matrix[i * n + i] = 1;
        right[i] = value;
    }
    SolveDense(matrix, right, n);
    for (int i = 0; i < n; ++i)
        *(axis == 0 ? &x[i].x : axis == 1 ? &x[i].y : &x[i].z) = right[i];
    free(matrix);
}

static snwMat3 PlainTurn(snwMat3 sum, bool flat)
{
    // In the plane a z that outweighs all keeps the rotation there.
    if (flat)
        sum.m[2][2] = 10 * snwMat3_Norm(sum);
    return snwPolar3_Compute(sum).rotation;
}

static void PlainIteration(Plain* plain, snwVec3* x)
{
    size_t n = (size_t)plain->world->mesh.vertexCount;
    snwMat3* sums = calloc(n, sizeof *sums);
    plain->turns = calloc(n, sizeof *plain->turns);
    plain->matrix = calloc(n * n, sizeof *plain->matrix);
    plain->right = calloc(3 * n, sizeof *plain->right);
    PlainVisit(plain, x, sums);
    for (size_t i = 0; i < n; ++i)
        plain->turns[i] = PlainTurn(sums[i], IsFlat(plain->world));
    PlainVisit(plain, x, NULL);
    for (int axis = 0; axis < (IsFlat(plain->world) ? 2 : 3); ++axis)
        PlainSolveAxis(plain, axis, x);
    free(sums);
    free(plain->turns);
    free(plain->matrix);
    free(plain->right);
}

static void CheckAgainstPlain(bool flat, double tolerance)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 6, flat);
    snwArap* arap = NewArap(world);
    Bend(world, 1.5);
    // Of one vertex in the middle only y is fixed.
    world->fixed[world->mesh.vertexCount / 2] = snw_fixedY;
    snwVec3* plainX = malloc((size_t)world->mesh.vertexCount * sizeof *plainX);
    memcpy(plainX, world->x, (size_t)world->mesh.vertexCount * sizeof *plainX);
    Plain plain = {.world = world};
    for (int i = 0; i < 5; ++i)
        PlainIteration(&plain, plainX);
    snwRimsReport report;
    CHECK_INT(snwArap_Solve(arap, &(snwArapGiven){world->fixed, NULL}, 5, world->x, &report, NULL), snw_ok);
    CHECK_NEAR(Farthest(world->x, plainX, world->mesh.vertexCount), 0, tolerance);
    CHECK(Farthest(world->x, world->rest, world->mesh.vertexCount) > 1);
    free(plainX);
    snwArap_Destroy(arap);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(rivals, arapEqualsPlainCotangents)
{
    CheckAgainstPlain(true, 1e-12);
}

TEST(rivals, arapEqualsPlainTets)
{
    CheckAgainstPlain(false, 1e-5); // rotations of tets are float
}

// ---------------------------------------------------------------------------------------------------------------------
// Laws

static void CheckArapLaws(bool flat)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 10, flat);
    snwArap* arap = NewArap(world);
    snwArapGiven given = {world->fixed, NULL};
    snwRimsReport report;
    Bend(world, 4);
    double last = 1e30, slack = flat ? 1e-12 : 1e-6;
    for (int i = 0; i < 30; ++i)
    {
        CHECK_INT(snwArap_Solve(arap, &given, 1, world->x, &report, NULL), snw_ok);
        CHECK(report.energy < report.start);
        CHECK(report.start <= last * (1 + slack));
        CHECK(report.factored == (i == 0));
        last = report.energy;
    }
    CHECK(last > 0.01); // it is bent
    // Both ends carried by a rigid motion: all others follow it.
    snwTransform motion = SomeMotion(flat);
    snwVec3* moved = malloc((size_t)world->mesh.vertexCount * sizeof *moved);
    for (int i = 0; i < world->mesh.vertexCount; ++i)
    {
        moved[i] = snwTransform_Apply(motion, world->rest[i]);
        world->fixed[i] = fabs(world->rest[i].x - 5) > 3.5 ? snw_fixedX | snw_fixedY | snw_fixedZ : 0;
        world->x[i] = world->fixed[i] != 0 ? moved[i] : world->rest[i];
    }
    CHECK_INT(snwArap_Solve(arap, &given, 400, world->x, &report, NULL), snw_ok);
    CHECK(report.factored);
    CHECK_NEAR(Farthest(world->x, moved, world->mesh.vertexCount), 0, flat ? 1e-9 : 2e-5);
    CHECK_NEAR(report.energy, 0, flat ? 1e-12 : 1e-4);
    free(moved);
    snwArap_Destroy(arap);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(rivals, arapLowersEnergyAndFollowsRigidMotion)
{
    CheckArapLaws(true);
    CheckArapLaws(false);
}

TEST(rivals, arapTurnsTheRingOfAGivenRotation)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 3, true);
    snwArap* arap = NewArap(world);
    snwMat3* turns = calloc((size_t)world->mesh.vertexCount, sizeof *turns);
    snwMat3 turn = snwQuat_ToMat3(snwQuat_FromRotationVector((snwVec3){0, 0, 0.8}));
    snwRimsReport report;
    for (int i = 0; i < world->mesh.vertexCount; ++i)
        turns[i] = turn;
    world->fixed[0] = snw_fixedX | snw_fixedY | snw_fixedTurn;
    world->fixed[1] = world->fixed[2] = snw_fixedTurn;
    for (int i = 0; i < 300; ++i)
        snwArap_Solve(arap, &(snwArapGiven){world->fixed, turns}, 1, world->x, &report, NULL);
    // Nothing else holds it: all of it turns about the vertex that stays.
    for (int i = 0; i < world->mesh.vertexCount; ++i)
        CHECK_NEAR(snwVec3_Distance(world->x[i], snwMat3_MulVec(turn, world->rest[i])), 0, 1e-6);
    free(turns);
    snwArap_Destroy(arap);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(rivals, arapLeavesAloneWhatNothingHolds)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 5, false);
    snwArap* arap = NewArap(world);
    snwTransform motion = SomeMotion(false);
    snwRimsReport report;
    snwVec3 start[60];
    for (int i = 0; i < world->mesh.vertexCount; ++i)
        start[i] = world->x[i] = snwTransform_Apply(motion, world->rest[i]);
    CHECK_INT(snwArap_Solve(arap, &(snwArapGiven){world->fixed, NULL}, 20, world->x, &report, NULL), snw_ok);
    CHECK_NEAR(Farthest(world->x, start, world->mesh.vertexCount), 0, 1e-5);
    snwArap_Destroy(arap);
    FreeWorld(world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// FAST

static void CheckFastLaws(bool flat)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 12, flat);
    snwFast* fast = NewFast(world, 0);
    snwRimsReport report;
    double slack = flat ? 1e-10 : 1e-4; // rotations of tets are float
    unsigned char fixed[s_handles] = {snw_fixedX | snw_fixedY | snw_fixedZ | snw_fixedTurn, 0, 0, snw_fixedY};
    world->pose[3].place.y += 3;
    double last = 1e30;
    for (int i = 0; i < 30; ++i)
    {
        snwFast_Solve(fast, fixed, 1, world->pose, &report);
        CHECK(report.energy <= report.start + slack && report.start <= last + slack);
        last = report.energy;
    }
    CHECK(last > 0.01);
    CHECK_NEAR(world->pose[3].place.y, world->origins[3].y + 3, 0);
    CHECK(snwMat3_Norm(snwMat3_Sub(world->pose[0].linear, snwMat3_Identity())) == 0);
    // Both ends carried by a rigid motion: all follow it.
    snwTransform motion = SomeMotion(flat);
    world->pose[0] = (snwRigPose){snwQuat_ToMat3(motion.rotation), snwTransform_Apply(motion, world->origins[0])};
    fixed[3] = fixed[0];
    world->pose[3] = (snwRigPose){world->pose[0].linear, snwTransform_Apply(motion, world->origins[3])};
    snwFast_Solve(fast, fixed, 500, world->pose, &report);
    snwFast_Skin(fast, world->pose, world->x);
    double farthest = 0;
    for (int i = 0; i < world->mesh.vertexCount; ++i)
        farthest = fmax(farthest, snwVec3_Distance(world->x[i], snwTransform_Apply(motion, world->rest[i])));
    CHECK_NEAR(farthest, 0, flat ? 1e-9 : 1e-5);
    snwFast_Destroy(fast);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(rivals, fastLowersEnergyAndFollowsRigidMotion)
{
    CheckFastLaws(true);
    CheckFastLaws(false);
}

static void CheckFastEnergy(bool flat)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 9, flat);
    snwFast* fast = NewFast(world, world->mesh.vertexCount);
    snwFast* coarse = NewFast(world, 0);
    snwArap* arap = NewArap(world);
    snwRimsReport subspace, clustered, full;
    unsigned char none[s_handles] = {0};
    for (int k = 0; k < s_handles; ++k)
    {
        snwVec3 turn = {0, flat ? 0 : 0.3 * k, 0.5 * k};
        world->pose[k].linear = snwQuat_ToMat3(snwQuat_FromRotationVector(turn));
        world->pose[k].linear.m[0][1] += 0.1;
        world->pose[k].place.y += 0.4 * k * k;
    }
    snwFast_Skin(fast, world->pose, world->x);
    snwFast_Solve(fast, none, 0, world->pose, &subspace);
    snwFast_Solve(coarse, none, 0, world->pose, &clustered);
    snwArap_Solve(arap, &(snwArapGiven){world->fixed, NULL}, 1, world->x, &full, NULL);
    // Every vertex its own cluster (those with equal weights apart): the energy of the skinned shape itself.
    CHECK(full.start > 0.1);
    CHECK(subspace.start >= full.start * (1 - 1e-6));
    CHECK_NEAR(subspace.start / full.start, 1, 0.03);
    CHECK(clustered.start > subspace.start);
    snwArap_Destroy(arap);
    snwFast_Destroy(fast);
    snwFast_Destroy(coarse);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(rivals, fastMeasuresWhatArapMeasures)
{
    CheckFastEnergy(true);
    CheckFastEnergy(false);
}

TEST(rivals, fastWithAllGivenIsSkinning)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 12, false);
    snwFast* fast = NewFast(world, 0);
    snwRimsReport report;
    unsigned char all[s_handles];
    snwTransform transforms[s_handles];
    memset(all, snw_fixedX | snw_fixedY | snw_fixedZ | snw_fixedTurn, sizeof all);
    for (int k = 0; k < s_handles; ++k)
    {
        snwQuat turn = snwQuat_FromRotationVector((snwVec3){0.3 * k, -0.2 * k, 0.4 * k});
        snwVec3 place = {world->origins[k].x, 1 + 0.5 * k, 1 - 0.3 * k};
        transforms[k] = (snwTransform){snwVec3_Sub(place, snwQuat_Rotate(turn, world->origins[k])), turn};
        world->pose[k] = (snwRigPose){snwQuat_ToMat3(turn), place};
    }
    snwRigPose before[s_handles];
    memcpy(before, world->pose, sizeof before);
    snwFast_Solve(fast, all, 10, world->pose, &report);
    CHECK(memcmp(before, world->pose, sizeof before) == 0);
    CHECK_NEAR(report.energy, report.start, 1e-6 * report.start);
    CHECK(report.energy > 0.1);
    snwFast_Skin(fast, world->pose, world->x);
    double farthest = 0;
    for (int i = 0; i < world->mesh.vertexCount; ++i)
    {
        snwVec3 x = {0, 0, 0};
        for (int k = 0; k < s_handles; ++k)
            x = snwVec3_MulAdd(
                x, snwWeights_Get(world->weights, i, k), snwTransform_Apply(transforms[k], world->rest[i]));
        farthest = fmax(farthest, snwVec3_Distance(x, world->x[i]));
    }
    CHECK_NEAR(farthest, 0, 1e-12);
    snwFast_Destroy(fast);
    FreeWorld(world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory and threads

TEST(rivals, solvingTakesNoMemoryAndAnyNumberOfThreads) // Labels: threads
{
    snwVec3 results[2][2][200];
    for (int threads = 1; threads <= 2; ++threads)
        for (int simd = 0; simd < 2; ++simd)
        {
            snwCountingAllocator counter = {0};
            snwContext* context = snwFixture_Context(
                2 * threads - 1, simd == 0 ? snw_simdScalar : snw_simdAuto, &counter);
            World* world = NewWorld(context, 14, false);
            snwArap* arap = NewArap(world);
            snwFast* fast = NewFast(world, 0);
            unsigned char fixed[s_handles] = {snw_fixedX | snw_fixedTurn, 0, snw_fixedY, 0};
            snwRimsReport report;
            Bend(world, 3);
            long before = counter.allocations;
            snwArap_Solve(arap, &(snwArapGiven){world->fixed, NULL}, 3, world->x, &report, NULL);
            world->fixed[40] = snw_fixedZ;
            snwArap_Solve(arap, &(snwArapGiven){world->fixed, NULL}, 3, world->x, &report, NULL);
            world->pose[2].place.y += 1;
            snwFast_Solve(fast, fixed, 3, world->pose, &report);
            CHECK_INT(counter.allocations, before);
            memcpy(results[threads - 1][simd], world->x, (size_t)world->mesh.vertexCount * sizeof *world->x);
            results[threads - 1][simd][199] = world->pose[3].place;
            snwFast_Destroy(fast);
            snwArap_Destroy(arap);
            FreeWorld(world);
            snwDestroyContext(context);
            CHECK_INT(counter.live, 0);
        }
    size_t bytes = 135 * sizeof(snwVec3);
    for (int i = 1; i < 4; ++i)
    {
        CHECK(memcmp(results[0][0], results[i / 2][i % 2], bytes) == 0);
        CHECK(memcmp(&results[0][0][199], &results[i / 2][i % 2][199], sizeof(snwVec3)) == 0);
    }
}

TEST(rivals, runningOutOfMemory)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    World* world = NewWorld(context, 4, true);
    long live = counter.live;
    bool done = false;
    for (long i = 1; !done && i < 1000; ++i)
    {
        snwArap* arap = NULL;
        snwFast* fast = NULL;
        snwFastDef def = {world->mesh, world->weights, world->origins, 0};
        counter.failAt = counter.allocations + i;
        snwResult first = snwArap_Create(context, &world->mesh, &arap, NULL);
        snwResult second = first < 0 ? first : snwFast_Create(context, &def, &fast, NULL);
        done = second >= 0;
        CHECK(done || second == snw_errorMemory);
        snwArap_Destroy(arap);
        snwFast_Destroy(fast);
        CHECK_INT(counter.live, live);
    }
    CHECK(done);
    counter.failAt = 0;
    FreeWorld(world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// In the place of the method

typedef struct Stage
{
    World* world;
    snwRival* rival;
    snwRigTarget targets[s_handles];
    float* rows;
} Stage;

static Stage NewStage(snwContext* context, snwRivalKind kind, bool flat)
{
    Stage stage = {.world = NewWorld(context, 12, flat)};
    snwRivalDef def = {kind, stage.world->mesh, stage.world->weights, stage.world->origins};
    CHECK_INT(snwRival_Create(context, &def, &stage.rival, NULL), snw_ok);
    stage.rows = aligned_alloc(64, (size_t)(stage.world->mesh.vertexCount + 4) * 64);
    for (int i = 0; i < stage.world->mesh.vertexCount; ++i)
    {
        snwRow_Set(stage.rows, i, stage.world->rest[i]);
        stage.rows[4 * i + 3] = (float)i;
    }
    for (int k = 0; k < s_handles; ++k)
        stage.targets[k] = (snwRigTarget){.place = stage.world->origins[k], .rotation = snwQuat_Identity()};
    return stage;
}

static void FreeStage(Stage* stage)
{
    snwRival_Destroy(stage->rival);
    FreeWorld(stage->world);
    free(stage->rows);
}

// The first handle is held, the last one dragged; all its degrees of freedom, or its height alone.
static void CheckDrag(snwRivalKind kind, bool flat, bool heightOnly)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Stage stage = NewStage(context, kind, flat);
    World* world = stage.world;
    stage.targets[0].given = snw_dofAll;
    stage.targets[3].given = heightOnly ? snw_dofY : snw_dofAll;
    stage.targets[3].place.y += 2;
    if (!heightOnly)
        stage.targets[3].rotation = snwQuat_FromRotationVector((snwVec3){0, 0, 0.5});
    for (int i = 0; i < 40; ++i)
        CHECK_INT(snwRival_Step(stage.rival, stage.targets, 5, world->pose, &(snwRigFlesh){.rows = stage.rows}, NULL),
            snw_ok);
    CHECK_NEAR(world->pose[3].place.y, world->origins[3].y + 2, 0);
    CHECK_NEAR(world->pose[0].place.y, world->origins[0].y, 0);
    CHECK_NEAR(world->pose[0].linear.m[1][0], 0, 0);
    CHECK(world->pose[1].place.y > 1.05 && world->pose[2].place.y > world->pose[1].place.y); // free ones follow
    CHECK(heightOnly ? world->pose[3].place.x < world->origins[3].x : world->pose[3].place.x == world->origins[3].x);
    if (!heightOnly)
        CHECK_NEAR(world->pose[3].linear.m[1][0], sin(0.5), 1e-12);
    for (int i = 0; i < world->mesh.vertexCount; ++i)
        CHECK(stage.rows[4 * i + 3] == (float)i && (!flat || stage.rows[4 * i + 2] == 0));
    FreeStage(&stage);
    snwDestroyContext(context);
}

TEST(rivals, draggedHandlesAreMetAndFreeOnesFollow)
{
    for (int i = 0; i < 8; ++i)
        CheckDrag((i & 1) != 0 ? snw_rivalArap : snw_rivalFast, (i & 2) != 0, (i & 4) != 0);
}

// What a step gives depends on shape and pose alone, so that a sim may be saved and restored in between.
TEST(rivals, stepsDoNotRemember)
{
    for (int kind = 0; kind < 2; ++kind)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        Stage a = NewStage(context, (snwRivalKind)kind, false), b = NewStage(context, (snwRivalKind)kind, false);
        size_t bytes = (size_t)a.world->mesh.vertexCount * 4 * sizeof(float);
        a.targets[3].given = snw_dofAll;
        a.targets[3].place.y += 3;
        for (int i = 0; i < 5; ++i)
            snwRival_Step(a.rival, a.targets, 2, a.world->pose, &(snwRigFlesh){.rows = a.rows}, NULL);
        memcpy(b.rows, a.rows, bytes);
        memcpy(b.world->pose, a.world->pose, s_handles * sizeof *b.world->pose);
        snwRival_Step(a.rival, a.targets, 2, a.world->pose, &(snwRigFlesh){.rows = a.rows}, NULL);
        snwRival_Step(b.rival, a.targets, 2, b.world->pose, &(snwRigFlesh){.rows = b.rows}, NULL);
        CHECK(memcmp(a.rows, b.rows, bytes) == 0);
        CHECK(memcmp(a.world->pose, b.world->pose, s_handles * sizeof *b.world->pose) == 0);
        FreeStage(&a);
        FreeStage(&b);
        snwDestroyContext(context);
    }
}

static snwSim* MakeSim(snwContext* context, snwCharacter* character, double solver)
{
    snwSetting settings[] = {{"rigpbd.solver", solver}, {"rigpbd.iterations", 2}};
    snwSceneDef def = snwDefaultSceneDef();
    snwBodyDef body = snwDefaultBodyDef();
    snwSimDef made = snwDefaultSimDef();
    snwSim* sim = NULL;
    body.name = "bar";
    body.character = character;
    def.method = "rigpbd";
    def.bodies = &body;
    def.bodyCount = 1;
    def.settings = settings;
    def.settingCount = 2;
    CHECK_INT(snwCreateScene(context, &def, &made.scene, NULL), snw_ok);
    CHECK_INT(snwCreateSim(context, &made, &sim, NULL), snw_ok);
    snwScene_Release(made.scene);
    return sim;
}

static void LiftBone(snwSim* sim, int bone, double height)
{
    snwCommand command = {.kind = snw_commandHandle,
        .step = snwSim_GetStepCount(sim),
        .index = bone,
        .mask = snw_dofAll,
        .transform = {{bone == 0 ? -0.4 : 0, height, 0}, {0, 0, 0, 1}}};
    CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
}

// Every scene can run with them: commands, gravity that has no say, what is shown, save and restore.
TEST(rivals, simsRunWithThem)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRiggedBar bar = snwRigged_DefaultBar();
    bar.bones = true;
    snwCharacter* character = snwRigged_MakeBar(context, &bar);
    for (int solver = 1; solver <= 2; ++solver)
    {
        snwSim* sim = MakeSim(context, character, solver);
        snwVertices simulated, shown;
        snwTransforms handles;
        snwFixture_Run(sim, 3, 1.0 / 60);
        CHECK_INT(snwSim_GetShown(sim, 0, &shown), snw_ok);
        for (int i = 0; i < shown.count; ++i) // nothing is given: nothing falls
        {
            const float* row = (const float*)((const char*)shown.positions + (size_t)i * (size_t)shown.stride);
            snwVec3 now = {row[0], row[1], row[2]};
            CHECK_NEAR(snwVec3_Distance(now, snwCharacter_GetDef(character)->vertices[i]), 0, 1e-5);
        }
        LiftBone(sim, 1, 0.2);
        snwFixture_Run(sim, 5, 1.0 / 60);
        size_t size = snwSim_GetStateSize(sim);
        void* block = malloc(size);
        CHECK_INT(snwSim_Save(sim, block, size, NULL, NULL), snw_ok);
        snwFixture_Run(sim, 5, 1.0 / 60);
        uint64_t hash = snwSim_Hash(sim);
        CHECK_INT(snwSim_Restore(sim, block, size, NULL), snw_ok);
        snwFixture_Run(sim, 5, 1.0 / 60);
        CHECK(snwSim_Hash(sim) == hash);
        snwSim_GetVertices(sim, 0, &simulated);
        snwSim_GetShown(sim, 0, &shown);
        CHECK(memcmp(simulated.positions, shown.positions, 3 * sizeof(float)) == 0);
        CHECK_INT(snwSim_GetHandles(sim, 0, &handles), snw_ok);
        CHECK_NEAR(handles.data[1].position.y, 0.2, 1e-9);
        CHECK(handles.data[0].position.y > 0.02); // the other one follows
        free(block);
        snwDestroySim(sim);
    }
    snwCharacter_Release(character);
    snwDestroyContext(context);
}
