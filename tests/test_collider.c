// Colliders of all kinds: signed distance, its gradient, inside and outside, sweeps, motion, scenes.
// Labels: kernels

#include "contact/collider.h"
#include "fixture.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum
{
    columns = 6,
    rows = 5
};

static const double s_heights[columns * rows] = {0.1, 0.2, 0.0, -0.1, 0.1, 0.0, 0.3, 0.4, 0.2, 0.1, 0.0, 0.1, 0.2, 0.6,
    0.5, 0.2, -0.3, 0.0, 0.0, 0.3, 0.3, 0.1, 0.0, 0.2, 0.1, 0.0, 0.1, 0.2, 0.3, 0.1};

// An L of two cubes: not convex, eight vertices of which two are in its inner corner.
static const snwVec3 s_vertices[12] = {{-1, -0.5, -1}, {1, -0.5, -1}, {1, -0.5, 0}, {0, -0.5, 0}, {0, -0.5, 1},
    {-1, -0.5, 1}, {-1, 0.5, -1}, {1, 0.5, -1}, {1, 0.5, 0}, {0, 0.5, 0}, {0, 0.5, 1}, {-1, 0.5, 1}};
static const int s_triangles[20][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}, {6, 8, 7}, {6, 9, 8}, {6, 10, 9},
    {6, 11, 10}, {0, 6, 7}, {0, 7, 1}, {1, 7, 8}, {1, 8, 2}, {2, 8, 9}, {2, 9, 3}, {3, 9, 10}, {3, 10, 4}, {4, 10, 11},
    {4, 11, 5}, {5, 11, 6}, {5, 6, 0}};

static snwColliderDef MakeDef(snwColliderKind kind)
{
    snwColliderDef def = snwDefaultColliderDef(kind);
    def.size = (snwVec3){0.4, 0.6, 0.5};
    if (kind == snw_colliderStairs)
        def.size = (snwVec3){0.3, 0.2, 1.1};
    def.stepCount = 5;
    def.columns = columns;
    def.rows = rows;
    def.heights = s_heights;
    def.vertices = s_vertices;
    def.vertexCount = 12;
    def.triangles = s_triangles;
    def.triangleCount = 20;
    return def;
}

static snwCollider NewCollider(snwContext* context, snwColliderKind kind)
{
    snwCollider collider;
    snwColliderDef def = MakeDef(kind);
    CHECK_INT(snwCreateCollider(context, &def, &collider, NULL), snw_ok);
    return collider;
}

static snwVec3 RandomPoint(uint64_t* seed, double size)
{
    snwVec3 p = {2 * snwTest_Random(seed) - 1, 2 * snwTest_Random(seed) - 1, 2 * snwTest_Random(seed) - 1};
    return snwVec3_Scale(p, size);
}

static snwTransform RandomPose(uint64_t* seed)
{
    snwVec3 axis = RandomPoint(seed, 1);
    return (snwTransform){RandomPoint(seed, 0.5), snwQuat_FromAxisAngle(axis, 6 * snwTest_Random(seed))};
}

// ---------------------------------------------------------------------------------------------------------------------
// Distance

// Along the normal the depth falls as fast as the way is long, and a depth away is the surface: so the depth is a
// distance and the normal its gradient.
TEST(collider, normalIsTheGradientForAllKinds)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 11;
    for (int kind = 0; kind < snw_colliderKindCount; ++kind)
    {
        snwCollider collider = NewCollider(context, (snwColliderKind)kind);
        int inside = 0, checked = 0;
        for (int trial = 0; trial < 2000; ++trial)
        {
            snwTransform pose = RandomPose(&seed);
            snwVec3 p = snwTransform_Apply(pose, RandomPoint(&seed, 1.6));
            snwTouch touch = snwCollider_Touch(&collider, pose, p);
            double step = 1e-6;
            snwTouch out = snwCollider_Touch(&collider, pose, snwVec3_MulAdd(p, step, touch.normal));
            snwTouch in = snwCollider_Touch(&collider, pose, snwVec3_MulAdd(p, -step, touch.normal));
            CHECK_NEAR(snwVec3_Length(touch.normal), 1.0, 1e-9);
            inside += touch.depth > 0;
            // Where two ways out are as long the distance has a crease; it falls off on one side at least.
            CHECK((touch.depth - out.depth) / step > 0.9999 || (in.depth - touch.depth) / step > 0.9999);
            snwTouch surface = snwCollider_Touch(&collider, pose, snwVec3_MulAdd(p, touch.depth, touch.normal));
            CHECK_NEAR(surface.depth, 0.0, 1e-9);
            checked++;
        }
        CHECK(inside > 5 && inside < checked);
        snwDestroyCollider(&collider);
    }
    snwDestroyContext(context);
}

static double StairsHeight(double x)
{
    for (int i = 4; i >= 0; --i)
        if (x >= 0.3 * i && x <= 0.3 * (i + 1))
            return 0.2 * (i + 1);
    return -INFINITY;
}

static double FieldHeight(double x, double z)
{
    double u = x / 0.4 + 2.5, v = z / 0.4 + 2.0;
    if (u < 0 || v < 0 || u > 5 || v > 4)
        return -INFINITY;
    int i = (int)fmin(floor(u), 4), k = (int)fmin(floor(v), 3);
    const double* h = s_heights + columns * k + i;
    u -= i, v -= k;
    // Barycentric on the triangle under it.
    return u >= v ? (1 - u) * h[0] + (u - v) * h[1] + v * h[columns + 1]
                  : (1 - v) * h[0] + (v - u) * h[columns] + u * h[columns + 1];
}

static bool IsSolid(snwColliderKind kind, snwVec3 p)
{
    if (kind == snw_colliderRoom)
        return fabs(p.x) > 0.4 || fabs(p.y) > 0.6 || fabs(p.z) > 0.5;
    if (kind == snw_colliderStairs)
        return fabs(p.z) < 0.55 && p.y < StairsHeight(p.x);
    if (kind == snw_colliderHeightfield)
        return p.y < FieldHeight(p.x, p.z);
    bool first = p.x > -1 && p.x < 1 && p.z > -1 && p.z<0, second = p.x> - 1 && p.x < 0 && p.z > -1 && p.z < 1;
    return fabs(p.y) < 0.5 && (first || second);
}

TEST(collider, insideAsPlainGeometrySays)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 5;
    for (int kind = snw_colliderRoom; kind < snw_colliderKindCount; ++kind)
    {
        snwCollider collider = NewCollider(context, (snwColliderKind)kind);
        int solid = 0;
        for (int trial = 0; trial < 5000; ++trial)
        {
            snwVec3 p = RandomPoint(&seed, 1.8);
            bool inside = IsSolid((snwColliderKind)kind, p);
            solid += inside;
            snwTouch touch = snwCollider_Touch(&collider, snwTransform_Identity(), p);
            CHECK_INT(touch.depth > 0, inside);
            // No solid point is nearer than the distance says, nor a free one than the depth.
            snwVec3 near = snwVec3_MulAdd(
                p, 0.99 * fabs(touch.depth) * snwTest_Random(&seed), snwVec3_Normalize(RandomPoint(&seed, 1)));
            CHECK_INT(IsSolid((snwColliderKind)kind, near), inside);
        }
        CHECK(solid > 200 && solid < 4950);
        snwDestroyCollider(&collider);
    }
    snwDestroyContext(context);
}

// On the surface itself, and in the corners, there is still a direction.
TEST(collider, everySurfacePointHasADirection)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const struct
    {
        snwColliderKind kind;
        snwVec3 point, normal;
    } cases[] = {
        {snw_colliderRoom, {0, -0.6, 0.1}, {0, 1, 0}},
        {snw_colliderStairs, {0.45, 0.4, 0}, {0, 1, 0}},
        {snw_colliderStairs, {0.3, 0.3, 0}, {-1, 0, 0}},
        {snw_colliderStairs, {1.5, 0.3, 0}, {1, 0, 0}},
        {snw_colliderMesh, {0.5, 0.5, -0.3}, {0, 1, 0}},
        {snw_colliderMesh, {0, 0.1, 0.5}, {1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        snwCollider collider = NewCollider(context, cases[i].kind);
        snwTouch touch = snwCollider_Touch(&collider, snwTransform_Identity(), cases[i].point);
        CHECK_NEAR(touch.depth, 0, 1e-12);
        CHECK_NEAR(snwVec3_Distance(touch.normal, cases[i].normal), 0, 1e-9);
        snwDestroyCollider(&collider);
    }
    snwDestroyContext(context);
}

TEST(collider, notFinitePointsDoNoHarm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int kind = 0; kind < snw_colliderKindCount; ++kind)
    {
        snwCollider collider = NewCollider(context, (snwColliderKind)kind);
        const snwVec3 points[] = {{NAN, 0, 0}, {0, INFINITY, 0}, {-INFINITY, NAN, 1e300}};
        for (int i = 0; i < 3; ++i)
        {
            snwColliderPath sweep = {snwTransform_Identity(), snwTransform_Identity(), points[i], points[i]};
            snwSweepHit hit;
            snwCollider_Touch(&collider, sweep.fromTransform, points[i]);
            snwCollider_Sweep(&collider, &sweep, &hit);
        }
        snwDestroyCollider(&collider);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sweeps

static snwTouch TouchAt(const snwCollider* collider, const snwColliderPath* sweep, double t)
{
    snwTransform pose = {snwVec3_Lerp(sweep->fromTransform.position, sweep->toTransform.position, t),
        snwQuat_Nlerp(sweep->fromTransform.rotation, sweep->toTransform.rotation, t)};
    return snwCollider_Touch(collider, pose, snwVec3_Lerp(sweep->from, sweep->to, t));
}

// Both move and turn; the truth is the first of many samples that is inside.
TEST_HEAVY(collider, sweepAgainstSampling)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 23;
    for (int kind = 0; kind < snw_colliderKindCount; ++kind)
    {
        snwCollider collider = NewCollider(context, (snwColliderKind)kind);
        int hits = 0, misses = 0;
        for (int trial = 0; trial < 60; ++trial)
        {
            snwColliderPath sweep = {
                RandomPose(&seed), RandomPose(&seed), RandomPoint(&seed, 1.4), RandomPoint(&seed, 1.4)};
            if (kind == snw_colliderRoom)
                sweep.from = snwTransform_Apply(sweep.fromTransform, RandomPoint(&seed, 0.35));
            double first = 2, nearest = INFINITY;
            for (int i = 0; i <= 1500 && first > 1; ++i)
            {
                double depth = TouchAt(&collider, &sweep, i / 1500.0).depth;
                first = depth >= 0 ? i / 1500.0 : 2;
                nearest = fmin(nearest, -depth);
            }
            snwSweepHit hit;
            bool found = snwCollider_Sweep(&collider, &sweep, &hit);
            hits += found;
            misses += !found;
            if (found)
                CHECK(first > 1 ? nearest < 0.02 : hit.time <= first + 1e-9 && hit.time > first - 0.02);
            else
                CHECK(first > 1);
            snwTouch there = TouchAt(&collider, &sweep, found ? hit.time : 1);
            if (found && hit.time > 0)
                CHECK(there.depth <= 1e-9 && there.depth > -0.02 && snwVec3_Distance(there.normal, hit.normal) < 1e-9);
        }
        CHECK(hits > 5);
        CHECK(misses > 5 || kind == snw_colliderRoom);
        snwDestroyCollider(&collider);
    }
    snwDestroyContext(context);
}

// A wall of a centimetre, a point at 100 m/s, a frame of a 60th of a second; and the wall comes towards it.
TEST(collider, nothingTunnelsThroughAThinWall)
{
    snwCollider wall = snwMakeCollider(snw_colliderBox, (snwVec3){0.005, 2, 2}, 0.5);
    snwColliderPath sweep = {
        snwTransform_Identity(), snwTransform_Identity(), {-0.7, 0.1, 0}, {-0.7 + 100.0 / 60, 0.1, 0.2}};
    snwSweepHit hit;
    REQUIRE(snwCollider_Sweep(&wall, &sweep, &hit));
    CHECK_NEAR(hit.point.x, -0.005, 1e-4);
    CHECK_NEAR(hit.normal.x, -1, 1e-12);
    CHECK_NEAR(hit.time, 0.695 / (100.0 / 60), 1e-4);
    sweep.fromTransform.position.x = 0.9;
    sweep.toTransform.position.x = -1.9; // passes the point, both are then on the other side of each other
    REQUIRE(snwCollider_Sweep(&wall, &sweep, &hit));
    CHECK(hit.time > 0.3 && hit.time < 0.4 && hit.normal.x < -0.999);
    sweep.to = sweep.from;
    sweep.fromTransform = sweep.toTransform = snwTransform_Identity();
    CHECK(!snwCollider_Sweep(&wall, &sweep, &hit)); // nobody moves
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

static snwResult MakeScene(snwContext* context, const snwColliderDef* collider, snwScene** scene, snwMessage* message)
{
    snwSceneDef def = snwDefaultSceneDef();
    def.colliders = collider;
    def.colliderCount = 1;
    *scene = NULL;
    *message = (snwMessage){0};
    return snwCreateScene(context, &def, scene, message);
}

TEST(collider, scenesCopyAndHashWhatTheKindHas)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMessage message;
    for (int kind = snw_colliderStairs; kind < snw_colliderKindCount; ++kind)
    {
        double heights[columns * rows];
        snwVec3 vertices[12];
        snwColliderDef def = MakeDef((snwColliderKind)kind);
        snwScene *one, *other;
        memcpy(heights, s_heights, sizeof heights);
        memcpy(vertices, s_vertices, sizeof vertices);
        def.heights = heights;
        def.vertices = vertices;
        CHECK_INT(MakeScene(context, &def, &one, &message), snw_ok);
        heights[7] += 0.1;
        vertices[3].y -= 0.1;
        def.stepCount++;
        CHECK_INT(MakeScene(context, &def, &other, &message), snw_ok);
        CHECK(snwScene_Hash(one) != snwScene_Hash(other));
        const snwColliderDef* copy = &snwScene_GetDef(one)->colliders[0];
        CHECK((copy->heights != NULL) == (kind == snw_colliderHeightfield) && copy->heights != heights);
        CHECK((copy->vertices != NULL) == (kind == snw_colliderMesh) && copy->vertices != vertices);
        CHECK_INT(copy->stepCount, kind == snw_colliderStairs ? 5 : 0);
        snwScene_Release(one);
        snwScene_Release(other);
    }
    snwDestroyContext(context);
}

static void CheckRefused(snwContext* context, snwColliderDef def, const char* word)
{
    snwMessage message;
    snwScene* scene;
    CHECK_INT(MakeScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, word);
    CHECK_CONTAINS(message.place, "colliders[0]");
}

TEST(collider, scenesRefuseWhatIsNoSolid)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwColliderDef stairs = MakeDef(snw_colliderStairs), field = MakeDef(snw_colliderHeightfield);
    snwColliderDef mesh = MakeDef(snw_colliderMesh);
    double heights[columns * rows] = {0};
    snwVec3 vertices[12];
    int triangles[20][3];
    memcpy(vertices, s_vertices, sizeof vertices);
    memcpy(triangles, s_triangles, sizeof triangles);
    stairs.stepCount = 0;
    CheckRefused(context, stairs, "steps");
    heights[9] = NAN;
    field.heights = heights;
    CheckRefused(context, field, "heights[9]");
    field.columns = 1 << 30;
    CheckRefused(context, field, "heights");
    mesh.triangleCount = 19;
    CheckRefused(context, mesh, "not closed");
    mesh.triangleCount = 20;
    mesh.triangles = (const int(*)[3])triangles;
    triangles[4][1] = 12;
    CheckRefused(context, mesh, "triangles[4]");
    for (int i = 0; i < 20; ++i)
        memcpy(
            triangles[i], (const int[]){s_triangles[i][0], s_triangles[i][2], s_triangles[i][1]}, sizeof triangles[i]);
    CheckRefused(context, mesh, "no inside");
    mesh.vertices = vertices;
    vertices[2].z = INFINITY;
    CheckRefused(context, mesh, "vertices[2]");
    stairs.kind = snw_colliderKindCount;
    CheckRefused(context, stairs, "kind");
    snwDestroyContext(context);
}

TEST(collider, outOfMemoryIsAnError)
{
    for (int kind = snw_colliderHeightfield; kind <= snw_colliderMesh; ++kind)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwColliderDef def = MakeDef((snwColliderKind)kind);
        long live = counter.live;
        int failures = 0;
        snwResult result = snw_errorMemory;
        for (long n = 1; result < 0 && n < 100; ++n)
        {
            snwScene* scene;
            snwMessage message;
            counter.failAt = counter.allocations + n;
            result = MakeScene(context, &def, &scene, &message);
            counter.failAt = 0;
            CHECK(result == snw_ok || result == snw_errorMemory);
            failures += result < 0;
            snwScene_Release(scene);
            CHECK_INT(counter.live, live);
        }
        CHECK(failures > 5 && result == snw_ok);
        snwDestroyContext(context);
    }
}
