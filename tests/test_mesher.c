// Meshes of solids: closed, manifold, outward, of good shape, and the same bits whatever the number of threads.
// Labels: kernels

#include "base/context.h"
#include "base/hash.h"
#include "base/sort.h"
#include "fixture.h"
#include "geom/fit.h"
#include "geom/measure.h"
#include "geom/mesh.h"
#include "geom/quality.h"
#include "geom/stuffing.h"
#include "geom/surface.h"
#include "geom/voxel.h"
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Solids

static double Ball(snwVec3 p, const void* data)
{
    (void)data;
    return snwVec3_Length(p) - 1;
}

static double Ellipsoid(snwVec3 p, const void* data)
{
    (void)data;
    snwVec3 q = {p.x / 1.5, p.y / 0.7, p.z};
    snwVec3 g = {p.x / 2.25, p.y / 0.49, p.z};
    double k = snwVec3_Length(q), slope = snwVec3_Length(g);
    return slope > 1e-9 ? 0.7 * fmax(fmin(k * (k - 1) / slope, k - 1), -0.7) / 0.7 : -0.7;
}

static double BoxDistance(snwVec3 p, snwVec3 half)
{
    snwVec3 q = {fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z};
    snwVec3 out = snwVec3_Max(q, (snwVec3){0, 0, 0});
    return snwVec3_Length(out) + fmin(fmax(q.x, fmax(q.y, q.z)), 0);
}

static double Box(snwVec3 p, const void* data)
{
    (void)data;
    return BoxDistance(p, (snwVec3){1, 0.6, 0.8});
}

static double TwoBalls(snwVec3 p, const void* data)
{
    (void)data;
    double a = snwVec3_Length((snwVec3){p.x - 0.6, p.y, p.z}) - 0.8;
    double b = snwVec3_Length((snwVec3){p.x + 0.6, p.y, p.z}) - 0.7;
    return fmin(a, b);
}

static double Torus(snwVec3 p, const void* data)
{
    (void)data;
    double ring = sqrt(p.x * p.x + p.y * p.y) - 1;
    return sqrt(ring * ring + p.z * p.z) - 0.4;
}

// A ball with a plate of thickness 0.06 that sticks out of it.
static double Plate(snwVec3 p, const void* data)
{
    (void)data;
    double ball = snwVec3_Length(p) - 0.6;
    return fmin(ball, BoxDistance((snwVec3){p.x - 0.8, p.y, p.z}, (snwVec3){0.7, 0.4, 0.03}));
}

enum
{
    snw_blobs = 6
};

typedef struct Blobs
{
    snwVec3 centers[snw_blobs];
    double radii[snw_blobs];
} Blobs;

static double SmoothUnion(snwVec3 p, const void* data)
{
    const Blobs* blobs = data;
    double d = 1e9;
    for (int i = 0; i < snw_blobs; ++i)
    {
        double e = snwVec3_Distance(p, blobs->centers[i]) - blobs->radii[i];
        double h = fmax(0.15 - fabs(d - e), 0) / 0.15;
        d = fmin(d, e) - h * h * 0.15 / 4;
    }
    return d;
}

static Blobs MakeBlobs(uint64_t seed)
{
    Blobs blobs;
    snwVec3 at = {0};
    for (int i = 0; i < snw_blobs; ++i)
    {
        blobs.centers[i] = at;
        blobs.radii[i] = 0.15 + 0.3 * snwTest_Random(&seed);
        at = snwVec3_Add(at, (snwVec3){0.8 * (snwTest_Random(&seed) - 0.5), 0.8 * (snwTest_Random(&seed) - 0.5),
                                 0.8 * (snwTest_Random(&seed) - 0.5)});
    }
    return blobs;
}

static snwSolid MakeSolid(double (*distance)(snwVec3, const void*), double x, double y, double z)
{
    return (snwSolid){.distance = distance, .lower = {-x, -y, -z}, .upper = {x, y, z}};
}

static snwSolid BallSolid(void)
{
    return MakeSolid(Ball, 1, 1, 1);
}

static snwSolid BlobSolid(const Blobs* blobs)
{
    snwSolid solid = MakeSolid(SmoothUnion, 3, 3, 3);
    solid.data = blobs;
    return solid;
}

// The same with bounds that fit: most of the box above is empty.
static snwSolid SnugBlobSolid(const Blobs* blobs)
{
    snwSolid solid = BlobSolid(blobs);
    solid.lower = solid.upper = blobs->centers[0];
    for (int i = 0; i < snw_blobs; ++i)
    {
        double r = blobs->radii[i] + 0.15;
        solid.lower = snwVec3_Min(solid.lower, snwVec3_Sub(blobs->centers[i], (snwVec3){r, r, r}));
        solid.upper = snwVec3_Max(solid.upper, snwVec3_Add(blobs->centers[i], (snwVec3){r, r, r}));
    }
    return solid;
}

// ---------------------------------------------------------------------------------------------------------------------
// Is it a manifold?

// Every edge is in exactly two triangles, in opposite directions, and the triangles at each vertex are one fan.
static void CheckManifold(snwContext* context, const int (*triangles)[3], int count, int vertexCount)
{
    uint64_t* keys = snwAllocArray(context, 3 * (size_t)count, sizeof *keys);
    int* halfEdges = snwAllocArray(context, 3 * (size_t)count, sizeof *halfEdges);
    int* next = snwAllocArray(context, 3 * (size_t)count, sizeof *next); // twin of each half edge
    int* degree = snwAllocArray(context, (size_t)vertexCount, sizeof *degree);
    int* start = snwAllocArray(context, (size_t)vertexCount, sizeof *start);
    REQUIRE(keys != NULL && halfEdges != NULL && next != NULL && degree != NULL && start != NULL);
    for (int i = 0; i < 3 * count; ++i)
    {
        int a = triangles[i / 3][i % 3], b = triangles[i / 3][(i + 1) % 3];
        keys[i] = a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
        halfEdges[i] = i;
        degree[a]++;
        start[a] = i;
    }
    REQUIRE(snwSortKeys(context, keys, halfEdges, 3 * count));
    int badEdges = 0, badFans = 0;
    for (int i = 0; i < 3 * count; i += 2)
    {
        bool pair = i + 1 < 3 * count && keys[i] == keys[i + 1] && (i + 2 >= 3 * count || keys[i + 2] != keys[i]);
        int a = halfEdges[i], b = pair ? halfEdges[i + 1] : a;
        pair = pair && triangles[a / 3][a % 3] != triangles[b / 3][b % 3];
        badEdges += !pair;
        next[a] = b, next[b] = a;
    }
    for (int v = 0; v < vertexCount && badEdges == 0; ++v)
    {
        int length = 0, at = start[v];
        for (; degree[v] > 0 && length <= degree[v] && (length == 0 || at != start[v]); ++length)
        {
            int twin = next[at]; // ends at v; the next one of its triangle starts there
            at = twin / 3 * 3 + (twin + 1) % 3;
        }
        badFans += length != degree[v];
    }
    CHECK_INT(badEdges, 0);
    CHECK_INT(badFans, 0);
    snwFree(context, keys);
    snwFree(context, halfEdges);
    snwFree(context, next);
    snwFree(context, degree);
    snwFree(context, start);
}

// ---------------------------------------------------------------------------------------------------------------------
// Surfaces

static double SmallestAngle(const snwTriangleMesh* mesh, double* mean, double* meanEdge)
{
    double smallest = 180, sum = 0, edges = 0;
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        double least = 180;
        for (int k = 0; k < 3; ++k)
        {
            snwVec3 a = mesh->vertices[mesh->triangles[i][k]];
            snwVec3 u = snwVec3_Sub(mesh->vertices[mesh->triangles[i][(k + 1) % 3]], a);
            snwVec3 v = snwVec3_Sub(mesh->vertices[mesh->triangles[i][(k + 2) % 3]], a);
            double c = snwVec3_Dot(u, v) / (snwVec3_Length(u) * snwVec3_Length(v));
            least = fmin(least, acos(fmin(fmax(c, -1), 1)) * 180 / SNW_PI);
            edges += snwVec3_Length(u);
        }
        smallest = fmin(smallest, least);
        sum += least;
    }
    *mean = sum / mesh->triangleCount;
    *meanEdge = edges / (3 * mesh->triangleCount);
    return smallest;
}

static void CheckSurface(const snwSolid* solid, double spacing, double volume, double tolerance, int euler)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTriangleMesh mesh;
    snwMessage message = {0};
    CHECK(snwMeshSurface(context, solid, spacing, &arena, &mesh, &message) == snw_ok);
    CheckManifold(context, (const int(*)[3])mesh.triangles, mesh.triangleCount, mesh.vertexCount);
    if (volume > 0)
        CHECK_NEAR(snwTriangleMesh_Volume(&mesh), volume, tolerance * volume);
    if (euler < 9)
        CHECK_INT(mesh.vertexCount - mesh.triangleCount / 2, euler);
    double mean, edge, worst = 0, least = SmallestAngle(&mesh, &mean, &edge);
    CHECK(least > 5);
    for (int i = 0; i < mesh.vertexCount; ++i)
        worst = fmax(worst, fabs(solid->distance(mesh.vertices[i], solid->data)));
    CHECK(worst < 0.1 * spacing);
    CHECK(mean > 37);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST_HEAVY(mesher, surfacesOfSimpleSolids)
{
    snwSolid ball = BallSolid(), ellipsoid = MakeSolid(Ellipsoid, 1.5, 0.7, 1), box = MakeSolid(Box, 1, 0.6, 0.8);
    snwSolid torus = MakeSolid(Torus, 1.4, 1.4, 0.4), balls = MakeSolid(TwoBalls, 1.5, 0.8, 0.8);
    snwSolid plate = MakeSolid(Plate, 1.5, 0.6, 0.6);
    for (double spacing = 0.3; spacing > 0.04; spacing /= 1.7)
    {
        double tolerance = 0.6 * spacing * spacing;
        CheckSurface(&ball, spacing, 4.0 / 3.0 * SNW_PI, tolerance, 2);
        CheckSurface(&ellipsoid, spacing, 4.0 / 3.0 * SNW_PI * 1.05, 2 * tolerance, 2);
        CheckSurface(&box, spacing, 8 * 0.48, 4 * tolerance, 2);
        CheckSurface(&torus, spacing, 2 * SNW_PI * SNW_PI * 0.16, 4 * tolerance, 0);
        CheckSurface(&balls, spacing, 0, 0, 2);
        CheckSurface(&plate, spacing, 0, 0, spacing < 0.2 ? 2 : 9);
    }
}

TEST_HEAVY(mesher, surfacesOfRandomUnions)
{
    for (uint64_t seed = 1; seed <= 12; ++seed)
    {
        Blobs blobs = MakeBlobs(seed);
        snwSolid solid = BlobSolid(&blobs);
        CheckSurface(&solid, 0.03 + 0.01 * (double)seed, 0, 0, 9);
    }
}

// Distances are what a mesher spends its time on; how many it asks for does not depend on the machine.
static atomic_int s_asked;

static double CountedBlobs(snwVec3 p, const void* data)
{
    atomic_fetch_add(&s_asked, 1);
    return SmoothUnion(p, data);
}

TEST(mesher, surfacesAskForFewDistances)
{
    Blobs blobs = MakeBlobs(5);
    snwSolid solid = BlobSolid(&blobs);
    solid.distance = CountedBlobs;
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTriangleMesh mesh = {0};
    atomic_store(&s_asked, 0);
    CHECK(snwMeshSurface(context, &solid, 0.02, &arena, &mesh, NULL) == snw_ok);
    CHECK(mesh.triangleCount > 20000);
    CHECK(atomic_load(&s_asked) < 25 * mesh.triangleCount); // the whole box would be hundreds
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets

typedef struct Wanted
{
    double volume; // 0: measured
    double detail; // share of spacing
    bool coarse;
    int euler; // of the boundary; 99: whatever
} Wanted;

static void CheckTets(const snwSolid* solid, double spacing, Wanted wanted)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTetMesh mesh;
    snwMessage message = {0};
    snwStuffDef def = snwDefaultStuffDef(solid, spacing);
    def.detail = spacing * wanted.detail, def.coarseInside = wanted.coarse;
    snwResult result = snwStuffSolid(context, &def, &arena, &mesh, &message);
    if (result != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "spacing %g, detail %g, coarse %d: %s", spacing, wanted.detail, wanted.coarse,
            message.text);
    double volume = wanted.volume;
    if (volume <= 0)
        CHECK(snwSolid_Volume(context, solid, &volume, &message) == snw_ok);
    snwMeshQuality quality = snwTetMesh_Quality(&mesh);
    CHECK_INT(quality.inverted, 0);
    CHECK(quality.minDihedral >= 8);
    CHECK(quality.maxDihedral <= 165);
    CHECK_NEAR(quality.volume / volume, 1, 0.02);
    int(*triangles)[3] = NULL, count = 0;
    CHECK(snwMesh_FindBoundary(context, (const int(*)[4])mesh.tets, mesh.tetCount, &triangles, &count) == snw_ok);
    CheckManifold(context, (const int(*)[3])triangles, count, mesh.vertexCount);
    bool* used = snwAllocArray(context, (size_t)mesh.vertexCount, sizeof *used);
    bool* skin = snwAllocArray(context, (size_t)mesh.vertexCount, sizeof *skin);
    int usedCount = 0, skinCount = 0;
    for (int i = 0; i < 4 * mesh.tetCount; ++i)
        usedCount += !used[mesh.tets[i / 4][i % 4]], used[mesh.tets[i / 4][i % 4]] = true;
    for (int i = 0; i < 3 * count; ++i)
        skinCount += !skin[triangles[i / 3][i % 3]], skin[triangles[i / 3][i % 3]] = true;
    CHECK_INT(usedCount, mesh.vertexCount);
    if (wanted.euler != 99)
        CHECK_INT(skinCount - count / 2, wanted.euler);
    snwFree(context, used);
    snwFree(context, skin);
    snwFree(context, triangles);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST_HEAVY(mesher, uniformTets)
{
    snwSolid ball = BallSolid(), ellipsoid = MakeSolid(Ellipsoid, 1.5, 0.7, 1), box = MakeSolid(Box, 1, 0.6, 0.8);
    snwSolid torus = MakeSolid(Torus, 1.4, 1.4, 0.4), balls = MakeSolid(TwoBalls, 1.5, 0.8, 0.8);
    for (double spacing = 0.4; spacing > 0.11; spacing /= 1.4)
        for (int coarse = 0; coarse < 2; ++coarse)
        {
            CheckTets(&ball, spacing, (Wanted){4.0 / 3.0 * SNW_PI, 1, coarse, 2});
            CheckTets(&ellipsoid, spacing, (Wanted){4.0 / 3.0 * SNW_PI * 1.05, 1, coarse, 2});
            CheckTets(&box, spacing, (Wanted){8 * 0.48, 1, coarse, 2});
            CheckTets(&torus, spacing, (Wanted){2 * SNW_PI * SNW_PI * 0.16, 1, coarse, 0});
            CheckTets(&balls, spacing, (Wanted){0, 1, coarse, 2});
        }
}

TEST_HEAVY(mesher, tetsOfRandomUnions)
{
    for (uint64_t seed = 1; seed <= 12; ++seed)
    {
        Blobs blobs = MakeBlobs(seed);
        snwSolid solid = SnugBlobSolid(&blobs);
        CheckTets(&solid, 0.07 + 0.01 * (double)seed, (Wanted){0, 1, seed % 2, 99});
        CheckTets(&solid, 0.07 + 0.01 * (double)seed, (Wanted){0, 0.25, seed % 2, 99});
    }
}

TEST_HEAVY(mesher, thinPlateStays)
{
    snwSolid plate = MakeSolid(Plate, 1.5, 0.6, 0.6);
    for (double spacing = 0.2; spacing > 0.11; spacing /= 1.3)
        CheckTets(&plate, spacing, (Wanted){0, 0.125, spacing > 0.15, 2});
}

// ---------------------------------------------------------------------------------------------------------------------
// Bones and sizes

// Two bones: capsules along x in the two balls.
static double TwoBones(int bone, snwVec3 p, const void* data)
{
    (void)data;
    double low = bone == 0 ? 0.3 : -0.9, x = fmin(fmax(p.x, low), low + 0.6);
    return snwVec3_Distance(p, (snwVec3){x, 0, 0}) - 0.3;
}

static snwSolid BonySolid(void)
{
    snwSolid solid = MakeSolid(TwoBalls, 1.5, 0.8, 0.8);
    solid.boneDistance = TwoBones, solid.boneCount = 2;
    return solid;
}

static void CheckLabels(const snwSolid* solid, const snwTetMesh* mesh, const snwBoneLabels* labels)
{
    int elastic = 0, wrong = 0;
    for (int i = 0; i < mesh->vertexCount; ++i)
        elastic += labels->vertexBones[i] < 0;
    CHECK_INT(elastic, labels->elasticCount);
    for (int b = 0; b < solid->boneCount; ++b)
    {
        int tets = 0;
        for (int i = 0; i < mesh->tetCount; ++i)
        {
            int own = 0;
            for (int k = 0; k < 4; ++k)
                own += labels->vertexBones[mesh->tets[i][k]] == b;
            wrong += (own == 4) != (labels->tetBones[i] == b);
            tets += own == 4;
        }
        CHECK(tets >= snw_minBoneTets);
    }
    CHECK_INT(wrong, 0);
}

// Tets of flesh with all their corners on tets of bones: nothing in them can yield.
static int CountTetsBetweenBones(snwArena* arena, const snwTetMesh* mesh, const snwBoneLabels* labels)
{
    int between = 0, *held = snwArena_Alloc(arena, (size_t)mesh->vertexCount, sizeof *held);
    if (held == NULL)
        return -1;
    for (int i = 0; i < 4 * mesh->tetCount; ++i)
        held[mesh->tets[i / 4][i % 4]] |= labels->tetBones[i / 4] >= 0;
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        const int* t = mesh->tets[i];
        between += labels->tetBones[i] < 0 && held[t[0]] && held[t[1]] && held[t[2]] && held[t[3]];
    }
    return between;
}

TEST(mesher, bonesOwnWholeTets)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwSolid solid = BonySolid();
    snwStuffDef def = snwDefaultStuffDef(&solid, 0.12);
    snwTetMesh mesh;
    REQUIRE(snwStuffSolid(context, &def, &arena, &mesh, NULL) == snw_ok);
    int last = mesh.vertexCount + 1;
    for (double offset = -0.35; offset < 0.2; offset += 0.05) // at -0.35 nothing is inside: the bones grow
    {
        snwBoneLabels labels;
        REQUIRE(snwLabelBones(context, &solid, &mesh, offset, &arena, &labels, NULL) == snw_ok);
        CheckLabels(&solid, &mesh, &labels);
        CHECK_INT(CountTetsBetweenBones(&arena, &mesh, &labels), 0); // also where the bones overlap
        CHECK(labels.elasticCount <= last);
        last = labels.elasticCount;
    }
    snwBoneField field;
    REQUIRE(snwMeasureBones(context, &solid, &mesh, &arena, &field, NULL) == snw_ok);
    for (int wanted = mesh.vertexCount / 2; wanted < mesh.vertexCount * 9 / 10; wanted += mesh.vertexCount / 17)
    {
        double offset;
        snwBoneLabels labels;
        REQUIRE(snwFitBoneOffset(context, &field, wanted, 0.5, &offset, NULL) == snw_ok);
        REQUIRE(snwLabelBonesFrom(context, &solid, &mesh, &field, offset, &arena, &labels, NULL) == snw_ok);
        CHECK_NEAR(labels.elasticCount, wanted, 0.1 * wanted);
        REQUIRE(snwFitBoneOffset(context, &field, 1, 0.01, &offset, NULL) == snw_ok);
        CHECK_NEAR(offset, 0.01, 1e-12);
    }
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// A chain of five along x, close to each other.
static double ChainBones(int bone, snwVec3 p, const void* data)
{
    (void)data;
    return snwVec3_Distance(p, (snwVec3){0.36 * (bone - 2), 0, 0}) - 0.18;
}

TEST(mesher, bonesThatGiveWayStayLargeEnough)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwSolid solid = BonySolid();
    solid.boneDistance = ChainBones, solid.boneCount = 5;
    for (double spacing = 0.16; spacing < 0.25; spacing += 0.04)
    {
        snwStuffDef def = snwDefaultStuffDef(&solid, spacing);
        snwTetMesh mesh;
        snwBoneLabels labels;
        REQUIRE(snwStuffSolid(context, &def, &arena, &mesh, NULL) == snw_ok);
        REQUIRE(snwLabelBones(context, &solid, &mesh, 0, &arena, &labels, NULL) == snw_ok);
        CheckLabels(&solid, &mesh, &labels);
    }
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST(mesher, boneWithoutRoomIsNamed)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwSolid solid = BonySolid();
    snwStuffDef def = snwDefaultStuffDef(&solid, 0.3);
    snwTetMesh mesh;
    snwBoneLabels labels;
    snwMessage message;
    REQUIRE(snwStuffSolid(context, &def, &arena, &mesh, NULL) == snw_ok);
    solid.boneCount = 400; // more than the tets can serve
    CHECK(snwLabelBones(context, &solid, &mesh, 0, &arena, &labels, &message) == snw_errorInput);
    CHECK_CONTAINS(message.text, "bone ");
    CHECK_CONTAINS(message.remedy, "smaller spacing");
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

static void CheckFit(const snwFitDef* def)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwFit fit;
    snwMessage message = {0};
    snwResult result = snwFitMesh(context, def, &arena, &fit, &message);
    if (result != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%d tets: %s", def->tets, message.text);
    REQUIRE(result >= 0);
    CheckLabels(def->solid, &fit.mesh, &fit.labels);
    if (def->tets > 0)
        CHECK_NEAR(fit.mesh.tetCount + def->extraTets, def->tets, 0.05 * def->tets);
    if (def->elasticVertices > 0)
        CHECK_NEAR(
            fit.labels.elasticCount + def->extraElasticVertices, def->elasticVertices, 0.1 * def->elasticVertices);
    if (def->vertices > 0)
        CHECK_NEAR(fit.mesh.vertexCount, def->vertices, 0.05 * def->vertices);
    if (def->skinVertices > 0)
        CHECK_NEAR(fit.skinVertexCount, def->skinVertices, 0.05 * def->skinVertices);
    CHECK(fit.meshings <= 32);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST_HEAVY(mesher, sizesAreMet)
{
    snwSolid bony = BonySolid(), plate = MakeSolid(Plate, 1.5, 0.6, 0.6), ball = BallSolid();
    const int sizes[] = {500, 2000, 7000, 30000};
    for (int i = 0; i < 4; ++i)
    {
        snwFitDef def = snwDefaultFitDef(&bony);
        def.tets = sizes[i];
        def.elasticVertices = i > 0 ? sizes[i] / 5 : 0;
        CheckFit(&def);
        def.solid = &ball, def.elasticVertices = 0;
        CheckFit(&def);
        def.coarseInside = true;
        CheckFit(&def);
    }
    snwFitDef thin = snwDefaultFitDef(&plate);
    thin.tets = 30000, thin.detailRatio = 0.25;
    CheckFit(&thin);
    snwFitDef other = snwDefaultFitDef(&bony);
    other.vertices = 3000;
    CheckFit(&other);
    other.vertices = 0, other.skinVertices = 1200;
    CheckFit(&other);
    other.skinVertices = 0, other.elasticVertices = 2500;
    CheckFit(&other);
    snwFitDef extra = snwDefaultFitDef(&bony);
    extra.tets = 9000, extra.extraTets = 4000, extra.elasticVertices = 1400, extra.extraElasticVertices = 400;
    CheckFit(&extra);
}

// ---------------------------------------------------------------------------------------------------------------------
// Voxels

// Corner numbers of the faces of a hexahedron, counter-clockwise from outside.
static const int s_hexFaces[6][4] = {
    {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

// The boundary as triangles; a face is inner if the voxel beyond it is there, which its centre tells.
static void CheckHexes(snwContext* context, const snwSolid* solid, const snwHexMesh* mesh, int euler)
{
    int faces = 6 * mesh->hexCount, count = 0;
    uint64_t* keys = snwAllocArray(context, (size_t)faces, sizeof *keys);
    int* order = snwAllocArray(context, (size_t)faces, sizeof *order);
    int(*triangles)[3] = snwAllocArray(context, 2 * (size_t)faces, sizeof *triangles);
    bool* skin = snwAllocArray(context, (size_t)mesh->vertexCount, sizeof *skin);
    REQUIRE(keys != NULL && order != NULL && triangles != NULL && skin != NULL);
    for (int i = 0; i < faces; ++i)
    {
        keys[i] = 0, order[i] = i; // the same for the same corners in any order
        for (int k = 0; k < 4; ++k)
            keys[i] += snwHash(&mesh->hexes[i / 6][s_hexFaces[i % 6][k]], sizeof(int), 0) >> 8;
    }
    REQUIRE(snwSortKeys(context, keys, order, faces));
    int skinCount = 0;
    for (int i = 0; i < faces; ++i)
    {
        if ((i > 0 && keys[i] == keys[i - 1]) || (i + 1 < faces && keys[i] == keys[i + 1]))
            continue;
        int v[4];
        for (int k = 0; k < 4; ++k)
        {
            v[k] = mesh->hexes[order[i] / 6][s_hexFaces[order[i] % 6][k]];
            skinCount += !skin[v[k]];
            skin[v[k]] = true;
        }
        memcpy(triangles[count++], (int[3]){v[0], v[1], v[2]}, sizeof *triangles);
        memcpy(triangles[count++], (int[3]){v[0], v[2], v[3]}, sizeof *triangles);
    }
    CheckManifold(context, (const int(*)[3])triangles, count, mesh->vertexCount);
    snwTriangleMesh surface = {mesh->vertices, mesh->vertexCount, triangles, count};
    double cube = mesh->spacing * mesh->spacing * mesh->spacing;
    CHECK_NEAR(snwTriangleMesh_Volume(&surface), cube * mesh->hexCount, 1e-6);
    if (euler != 99)
        CHECK_INT(skinCount - count / 2, euler);
    for (int i = 0; i < mesh->hexCount; ++i)
    {
        snwVec3 a = mesh->vertices[mesh->hexes[i][0]], b = mesh->vertices[mesh->hexes[i][7]];
        CHECK_NEAR(b.x - a.x, mesh->spacing, 1e-9);
        if (solid->distance(snwVec3_Lerp(a, b, 0.5), solid->data) > 1.8 * mesh->spacing)
            snwTest_Fail(__FILE__, __LINE__, "voxel %d is outside", i);
    }
    snwFree(context, keys);
    snwFree(context, order);
    snwFree(context, triangles);
    snwFree(context, skin);
}

TEST_HEAVY(mesher, voxels)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwSolid ball = BallSolid(), box = MakeSolid(Box, 1, 0.6, 0.8), torus = MakeSolid(Torus, 1.4, 1.4, 0.4);
    snwSolid plate = MakeSolid(Plate, 1.5, 0.6, 0.6);
    snwHexMesh mesh;
    REQUIRE(snwVoxelizeSolid(context, &box, 0.2, &arena, &mesh, NULL) == snw_ok);
    CHECK_INT(mesh.hexCount, 10 * 6 * 8);
    CheckHexes(context, &box, &mesh, 2);
    REQUIRE(snwVoxelizeSolid(context, &ball, 0.11, &arena, &mesh, NULL) == snw_ok);
    CHECK_NEAR(mesh.hexCount * 0.11 * 0.11 * 0.11, 4.0 / 3.0 * SNW_PI, 0.12);
    CheckHexes(context, &ball, &mesh, 2);
    REQUIRE(snwVoxelizeSolid(context, &torus, 0.13, &arena, &mesh, NULL) == snw_ok);
    CheckHexes(context, &torus, &mesh, 0);
    for (double spacing = 0.2; spacing > 0.06; spacing *= 0.83)
    {
        REQUIRE(snwVoxelizeSolid(context, &plate, spacing, &arena, &mesh, NULL) == snw_ok);
        CheckHexes(context, &plate, &mesh, 2);
        double farthest = 0;
        for (int i = 0; i < mesh.vertexCount; ++i)
            farthest = fmax(farthest, mesh.vertices[i].x);
        CHECK(farthest > 1.5 - spacing); // the plate is there to its end
    }
    for (uint64_t seed = 1; seed <= 8; ++seed)
    {
        Blobs blobs = MakeBlobs(seed);
        snwSolid solid = SnugBlobSolid(&blobs);
        REQUIRE(snwVoxelizeSolid(context, &solid, 0.05 + 0.01 * (double)seed, &arena, &mesh, NULL) == snw_ok);
        CheckHexes(context, &solid, &mesh, 99);
        const int wanted[] = {1000, 5000, 30000};
        for (int i = 0; i < 3 && seed <= 2; ++i)
        {
            REQUIRE(snwFitVoxels(context, &solid, wanted[i], &arena, &mesh, NULL) == snw_ok);
            CHECK_NEAR(mesh.hexCount, wanted[i], 0.05 * wanted[i]);
        }
    }
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Everything

// All meshers once; a hash of what came out.
static snwResult MeshAll(
    snwContext* context, snwArena* arena, double spacing, int tets, uint64_t* hash, snwMessage* message)
{
    snwSolid bony = BonySolid(), plate = MakeSolid(Plate, 1.5, 0.6, 0.6);
    snwTriangleMesh surface;
    snwTetMesh stuffed;
    snwHexMesh hexes;
    snwFit fit;
    snwStuffDef stuff = snwDefaultStuffDef(&plate, spacing);
    snwFitDef fitDef = snwDefaultFitDef(&bony);
    stuff.detail = spacing / 4, stuff.coarseInside = true;
    fitDef.tets = tets, fitDef.elasticVertices = tets / 5;
    snwResult result = snwMeshSurface(context, &plate, spacing, arena, &surface, message);
    if (result >= 0)
        result = snwStuffSolid(context, &stuff, arena, &stuffed, message);
    if (result >= 0)
        result = snwVoxelizeSolid(context, &plate, spacing, arena, &hexes, message);
    if (result >= 0)
        result = snwFitMesh(context, &fitDef, arena, &fit, message);
    if (result < 0)
        return result;
    *hash = snwHash(surface.vertices, (size_t)surface.vertexCount * sizeof(snwVec3), 1);
    *hash = snwHash(surface.triangles, (size_t)surface.triangleCount * sizeof(int[3]), *hash);
    *hash = snwHash(stuffed.vertices, (size_t)stuffed.vertexCount * sizeof(snwVec3), *hash);
    *hash = snwHash(stuffed.tets, (size_t)stuffed.tetCount * sizeof(int[4]), *hash);
    *hash = snwHash(hexes.hexes, (size_t)hexes.hexCount * sizeof(int[8]), *hash);
    *hash = snwHash(fit.mesh.vertices, (size_t)fit.mesh.vertexCount * sizeof(snwVec3), *hash);
    *hash = snwHash(fit.labels.tetBones, (size_t)fit.mesh.tetCount * sizeof(int), *hash);
    return result;
}

TEST_HEAVY(mesher, sameBitsForAnyThreadCount) // Labels: threads
{
    uint64_t hashes[4] = {0};
    const int threads[4] = {1, 2, 3, 7};
    for (int i = 0; i < 4; ++i)
    {
        snwContext* context = snwFixture_Context(threads[i], snw_simdAuto, NULL);
        snwArena arena = {.context = context};
        CHECK(MeshAll(context, &arena, 0.15, 1500, &hashes[i], NULL) >= 0);
        CHECK(hashes[i] != 0 && hashes[i] == hashes[0]);
        snwArena_Free(&arena);
        snwDestroyContext(context);
    }
}

TEST(mesher, everyFailedAllocationIsAnErrorWithoutLeak)
{
    // Each allocation while they are few, then in growing strides: hundreds of them.
    for (long n = 1, stride = 1;; n += stride, stride += n > 60 ? 4 : 0)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwArena arena = {.context = context};
        long before = counter.live;
        counter.failAt = counter.allocations + n;
        snwMessage message = {0};
        uint64_t hash;
        snwResult result = MeshAll(context, &arena, 0.4, 500, &hash, &message);
        bool reached = counter.allocations >= counter.failAt;
        CHECK(reached ? result == snw_errorMemory : result >= 0);
        snwArena_Free(&arena);
        CHECK_INT(counter.live, before);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
            break;
    }
}

static double NotANumber(snwVec3 p, const void* data)
{
    double limit = *(const double*)data;
    return p.x > limit ? NAN : snwVec3_Length(p) - 1;
}

TEST(mesher, nonsenseIsAnError)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTetMesh mesh;
    snwTriangleMesh surface;
    snwHexMesh hexes;
    snwMessage message;
    for (double limit = -2; limit < 1.1; limit += 0.237)
    {
        snwSolid solid = MakeSolid(NotANumber, 1, 1, 1);
        solid.data = &limit;
        snwStuffDef def = snwDefaultStuffDef(&solid, 0.2);
        CHECK(snwStuffSolid(context, &def, &arena, &mesh, &message) == snw_errorInput);
        CHECK_CONTAINS(message.text, "not a number");
        CHECK(snwMeshSurface(context, &solid, 0.2, &arena, &surface, &message) == snw_errorInput);
        CHECK_CONTAINS(message.text, "not a number");
        CHECK(snwVoxelizeSolid(context, &solid, 0.2, &arena, &hexes, &message) == snw_errorInput);
        CHECK_CONTAINS(message.text, "not a number");
    }
    snwSolid ball = BallSolid();
    const double tiny[] = {0.01, 1e-3, 1e-6, 1e-12, 1e-300};
    for (int i = 0; i < 5; ++i)
    {
        snwStuffDef def = snwDefaultStuffDef(&ball, tiny[i]);
        CHECK(snwStuffSolid(context, &def, &arena, &mesh, &message) == snw_errorArgument);
        CHECK_CONTAINS(message.text, "20 million");
        CHECK_CONTAINS(message.remedy, "larger spacing");
    }
    const double wrong[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; ++i)
    {
        snwStuffDef def = snwDefaultStuffDef(&ball, wrong[i]);
        CHECK(snwStuffSolid(context, &def, &arena, &mesh, &message) == snw_errorArgument);
        CHECK(snwMeshSurface(context, &ball, wrong[i], &arena, &surface, &message) == snw_errorArgument);
        CHECK(snwVoxelizeSolid(context, &ball, wrong[i], &arena, &hexes, &message) == snw_errorArgument);
    }
    snwSolid small = MakeSolid(Ball, 0.5, 0.5, 0.5);
    snwStuffDef def = snwDefaultStuffDef(&small, 0.1);
    CHECK(snwStuffSolid(context, &def, &arena, &mesh, &message) == snw_errorInput);
    CHECK_CONTAINS(message.text, "bounds");
    snwFit fit;
    snwFitDef empty = snwDefaultFitDef(&ball);
    CHECK(snwFitMesh(context, &empty, &arena, &fit, &message) == snw_errorArgument);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

TEST_HEAVY(mesher, tetsAskForFewDistances)
{
    Blobs blobs = MakeBlobs(5);
    snwSolid solid = BlobSolid(&blobs);
    solid.distance = CountedBlobs;
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwTetMesh mesh = {0};
    for (int coarse = 0; coarse < 2; ++coarse)
        for (int fine = 0; fine < 2; ++fine)
        {
            snwStuffDef def = snwDefaultStuffDef(&solid, coarse ? 0.039 : 0.0465);
            def.coarseInside = coarse, def.detail = fine ? def.spacing / 4 : def.spacing;
            atomic_store(&s_asked, 0);
            CHECK(snwStuffSolid(context, &def, &arena, &mesh, NULL) == snw_ok);
            CHECK(mesh.tetCount > 100000);
            CHECK(atomic_load(&s_asked) < 4 * mesh.tetCount); // the volume and its corrections included
        }
    snwArena_Free(&arena);
    snwDestroyContext(context);
}
