// Implicit flesh: distances of parts, melting, colours, bones, poses; and ribbons.

#include "fixture.h"
#include "test.h"

#include "geom/mesh.h"
#include "geom/ribbon.h"

#include <float.h>

static snwVec3 RandomPoint(uint64_t* seed, double size)
{
    snwVec3 p = {0};
    p.x = (snwTest_Random(seed) - 0.5) * size;
    p.y = (snwTest_Random(seed) - 0.5) * size;
    p.z = (snwTest_Random(seed) - 0.5) * size;
    return p;
}

// Up to 24 parts with an arena of their own.
typedef struct Body
{
    snwContext* context;
    snwArena arena;
    snwFleshPart parts[24];
    snwFleshBone bones[4];
    snwFlesh flesh;
} Body;

static void StartBody(Body* body)
{
    memset(body, 0, sizeof *body);
    body->context = snwFixture_Context(1, snw_simdAuto, NULL);
    body->arena.context = body->context;
    body->flesh.parts = body->parts;
    body->flesh.bones = body->bones;
}

static void EndBody(Body* body)
{
    snwArena_Free(&body->arena);
    snwDestroyContext(body->context);
}

static snwFleshPart* AddPart(Body* body, snwPartKind kind)
{
    snwFleshPart* part = &body->parts[body->flesh.partCount++];
    *part = (snwFleshPart){
        .kind = kind, .bone = -1, .frame = snwTransform_Identity(), .flatness = 1, .flatAxis = {1, 0, 0}};
    return part;
}

static snwFleshPart* AddBall(Body* body, snwVec3 at, double radius)
{
    snwFleshPart* part = AddPart(body, snw_partEllipsoid);
    part->frame.position = at;
    part->size = (snwVec3){radius, radius, radius};
    return part;
}

static void AddCurve(Body* body, snwFleshPart* part, const double (*points)[4], int count)
{
    part->points = snwArena_Alloc(&body->arena, (size_t)count, sizeof *part->points);
    part->pointCount = count;
    for (int i = 0; i < count; ++i)
        part->points[i] = (snwFleshPoint){{points[i][0], points[i][1], points[i][2]}, points[i][3], -1};
}

static double At(const Body* body, double x, double y, double z)
{
    return snwFlesh_Distance(&body->flesh, (snwVec3){x, y, z});
}

TEST(flesh, partsHaveTheDistancesOfTheirShapes)
{
    Body body;
    StartBody(&body);
    snwFleshPart* part = AddPart(&body, snw_partBox);
    part->size = (snwVec3){1, 2, 3};
    part->round = 0.25;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 3, 0, 0), 2, 1e-12);
    CHECK_NEAR(At(&body, 0, 0, 0), -1, 1e-12);
    CHECK_NEAR(At(&body, 0.5, 0, 0), -0.5, 1e-12);
    CHECK_NEAR(At(&body, 1.75, 2.75, 0), sqrt(2) - 0.25, 1e-12); // from the centre of the rounded edge
    EndBody(&body);

    StartBody(&body);
    part = AddPart(&body, snw_partTorus);
    part->size = (snwVec3){2, 0.5, 0};
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 2, 0, 0), -0.5, 1e-12);
    CHECK_NEAR(At(&body, 0, 0, 0), 1.5, 1e-12);
    CHECK_NEAR(At(&body, 0, 1, 2), 0.5, 1e-12);
    EndBody(&body);

    StartBody(&body);
    part = AddPart(&body, snw_partEllipsoid);
    part->size = (snwVec3){1, 2, 0.5};
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 1.5, 0, 0), 0.5, 1e-12); // exact along the axes
    CHECK_NEAR(At(&body, 0, 3, 0), 1, 1e-12);
    CHECK_NEAR(At(&body, 0, 0, -0.75), 0.25, 1e-12);
    CHECK_NEAR(At(&body, sqrt(0.5), sqrt(2), 0), 0, 1e-12); // on the surface
    EndBody(&body);
}

// Brute force: the hull of two balls is the union of the balls between them.
static double BruteCone(const double (*points)[4], snwVec3 p)
{
    double best = DBL_MAX;
    for (int i = 0; i <= 20000; ++i)
    {
        double t = i / 20000.0, radius = points[0][3] + t * (points[1][3] - points[0][3]);
        snwVec3 c = {points[0][0] + t * (points[1][0] - points[0][0]), points[0][1] + t * (points[1][1] - points[0][1]),
            points[0][2] + t * (points[1][2] - points[0][2])};
        best = fmin(best, snwVec3_Distance(p, c) - radius);
    }
    return best;
}

TEST_HEAVY(flesh, conesAreHullsOfTwoBalls)
{
    static const double cones[3][2][4] = {{{0, 0, 0, 0.3}, {1, 0.5, -0.2, 0.1}}, // tapering
        {{0, 0, 0, 0.2}, {0, 1, 0, 0.2}},                                        // a capsule
        {{0, 0, 0, 0.5}, {0.1, 0, 0.05, 0.15}}};                                 // one ball holds the other
    uint64_t seed = 3;
    for (int k = 0; k < 3; ++k)
    {
        Body body;
        StartBody(&body);
        AddCurve(&body, AddPart(&body, snw_partCone), cones[k], 2);
        REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
        for (int i = 0; i < 200; ++i)
        {
            snwVec3 p = RandomPoint(&seed, 2);
            CHECK_NEAR(snwFlesh_Distance(&body.flesh, p), BruteCone(cones[k], p), 2e-4 + 1);
            double ball = snwVec3_Distance(p, body.parts[0].centre) - body.parts[0].radius;
            if (ball < body.parts[0].radius) // far away the ball around it stands for it
                CHECK_NEAR(snwFlesh_Distance(&body.flesh, p), BruteCone(cones[k], p), 2e-4);
        }
        EndBody(&body);
    }
}

TEST(flesh, sweepsPassThroughTheirPointsAndMayBeFlat)
{
    static const double points[4][4] = {{0, 0, 0, 0.1}, {0, 1, 0.4, 0.2}, {0, 2, 0, 0.15}, {0, 3, 0.5, 0.1}};
    Body body;
    StartBody(&body);
    snwFleshPart* part = AddPart(&body, snw_partSweep);
    AddCurve(&body, part, points, 4);
    part->flatness = 0.25;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    for (int i = 0; i < 4; ++i) // as wide as the radius in its plane, a quarter of that across
    {
        CHECK(At(&body, 0, points[i][1], points[i][2]) < -0.2 * points[i][3]);
        CHECK_NEAR(At(&body, points[i][3] * 0.25, points[i][1], points[i][2]), 0, 0.02 * points[i][3]);
        CHECK_NEAR(At(&body, points[i][3] * 0.25 + 0.05, points[i][1], points[i][2]), 0.05, 0.01);
    }
    EndBody(&body);
}

TEST(flesh, finsAreFlatWithARoundRim)
{
    Body body;
    StartBody(&body);
    snwFleshPart* part = AddPart(&body, snw_partFin);
    static const double square[4][4] = {{-1, -1, 0, 0}, {1, -1, 0, 0}, {1, 1, 0, 0}, {-1, 1, 0, 0}};
    AddCurve(&body, part, square, 4);
    part->size.z = 0.1;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 0, 0, 0), -0.1, 1e-12);
    CHECK_NEAR(At(&body, 0.2, 0.3, 0.15), 0.05, 1e-12);
    CHECK_NEAR(At(&body, 1.3, 0, 0), 0.3, 1e-12); // the outline is where it ends
    CHECK_NEAR(At(&body, 0.9, 0, 0.1), 0, 1e-12);
    EndBody(&body);
}

TEST(flesh, meltingIsSmoothAndEndsWithTheBlendRadius)
{
    Body body;
    StartBody(&body);
    AddBall(&body, (snwVec3){-1, 0, 0}, 0.8);
    AddBall(&body, (snwVec3){1, 0, 0}, 0.8)->blend = 0.6;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 0, 0, 0), 0.2 - 0.25 * 0.6, 1e-12); // both are as near: a quarter of the blend
    CHECK_NEAR(At(&body, -1, 0, 0.9), 0.1, 1e-12);           // far from the other
    double before = At(&body, -0.7, 0.8, 0), step = 1e-3, slope = NAN;
    for (double x = -0.7 + step; x < 0.7; x += step) // along a line across the neck
    {
        double now = At(&body, x, 0.8, 0), next = (now - before) / step;
        CHECK(isnan(slope) || fabs(next - slope) < 0.02);
        slope = next;
        before = now;
    }
    EndBody(&body);
}

TEST(flesh, groupsMeltOverTheBlendOfTheirFirstPart)
{
    Body body;
    StartBody(&body);
    AddBall(&body, (snwVec3){0, 0, 0}, 1);
    snwFleshPart* first = AddBall(&body, (snwVec3){3, 0, 0}, 0.5);
    snwFleshPart* second = AddBall(&body, (snwVec3){1.3, 0, 0}, 0.5); // reaches into the first group
    first->group = second->group = 1;
    second->blend = 0.4; // with its own group only
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    double x = 0.9, y = 0.43589, a = sqrt(x * x + y * y) - 1;
    double b = sqrt((x - 1.3) * (x - 1.3) + y * y) - 0.5;
    CHECK_NEAR(At(&body, x, y, 0), fmin(a, b), 1e-6); // a sharp seam: the first part of the group has no blend
    EndBody(&body);
}

TEST(flesh, cutsTakeAwayAndPaintLeavesTheShape)
{
    Body body;
    StartBody(&body);
    AddBall(&body, (snwVec3){0, 0, 0}, 1);
    snwFleshPart* paint = AddBall(&body, (snwVec3){0, 0, 1}, 0.3);
    paint->op = snw_partPaint;
    paint->blend = 0.02;
    paint->color[0] = 1;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 0, 0, 1.2), 0.2, 1e-12);
    float color[3];
    snwFlesh_Color(&body.flesh, (snwVec3){0, 0, 1}, color);
    CHECK_NEAR(color[0], 1, 1e-6);
    snwFlesh_Color(&body.flesh, (snwVec3){0, 0, -1}, color);
    CHECK_NEAR(color[0], 0, 1e-6);
    snwFleshPart* cut = AddBall(&body, (snwVec3){0, 0, 1}, 0.5);
    cut->op = snw_partCut;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(At(&body, 0, 0, 1), 0.5, 1e-12); // in the hole
    CHECK_NEAR(At(&body, 0, 0, 0.4), -0.1, 1e-12);
    CHECK_NEAR(At(&body, 0, 0, -1), 0, 1e-12);
    EndBody(&body);
}

// 24 balls in 5 groups with all kinds of blends, some cutting, some rigid.
static void AddCrowd(Body* body)
{
    uint64_t seed = 11;
    for (int i = 0; i < 24; ++i)
    {
        snwFleshPart* part = AddBall(body, RandomPoint(&seed, 2), 0.1 + 0.3 * snwTest_Random(&seed));
        part->group = i / 5;
        part->blend = i % 3 == 0 ? 0 : 0.25 * snwTest_Random(&seed);
        part->op = i % 7 == 3 ? snw_partCut : snw_partAdd;
        part->rigid = i % 6 == 5;
        part->bone = i % 6 == 5 ? 1 : 0;
        part->color[i % 3] = 1;
    }
    body->bones[0] = (snwFleshBone){{0, 0, 0}, {0.3, 0, 0}, 0.05};
    body->bones[1] = (snwFleshBone){{0, 1, 0}, {0, 1.2, 0}, 0};
    body->flesh.boneCount = 2;
}

TEST(flesh, theGridLeavesOutNothingThatIsFelt)
{
    Body body;
    StartBody(&body);
    AddCrowd(&body);
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena) && snwFlesh_MakeGrid(&body.flesh, &body.arena));
    REQUIRE(body.flesh.cellStart != NULL);
    snwFlesh plain = body.flesh;
    plain.cellStart = NULL;
    uint64_t seed = 5;
    int near = 0;
    for (int i = 0; i < 20000; ++i)
    {
        snwVec3 p = RandomPoint(&seed, 3);
        double distance = snwFlesh_Distance(&plain, p);
        if (distance > 0.15)
            continue;
        float a[3], b[3];
        ++near;
        CHECK_NEAR(snwFlesh_Distance(&body.flesh, p), distance, 1e-9);
        snwFlesh_Color(&body.flesh, p, a);
        snwFlesh_Color(&plain, p, b);
        CHECK_NEAR(a[0] + 2 * a[1] + 4 * a[2], b[0] + 2 * b[1] + 4 * b[2], 1e-5);
        CHECK_NEAR(snwFlesh_BoneDistance(&body.flesh, 1, p), snwFlesh_BoneDistance(&plain, 1, p), 1e-9);
    }
    CHECK(near > 2000);
    EndBody(&body);
}

TEST(flesh, bonesOwnTheirRadiusAndTheSkinOfTheirRigidParts)
{
    Body body;
    StartBody(&body);
    AddBall(&body, (snwVec3){0, 0, 0}, 1);
    snwFleshPart* horn = AddBall(&body, (snwVec3){0, 1.1, 0}, 0.3);
    horn->rigid = true;
    horn->bone = 1;
    body.bones[0] = (snwFleshBone){{-0.5, 0, 0}, {0.5, 0, 0}, 0.1};
    body.bones[1] = (snwFleshBone){{0, 1, 0}, {0, 1.4, 0}, 0};
    body.flesh.boneCount = 2;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    CHECK_NEAR(snwFlesh_BoneDistance(&body.flesh, 0, (snwVec3){0, 0.3, 0}), 0.2, 1e-12);
    CHECK(snwFlesh_BoneDistance(&body.flesh, 1, (snwVec3){0, 1.4, 0}) < -0.1);  // on its own skin
    CHECK(snwFlesh_BoneDistance(&body.flesh, 1, (snwVec3){0, 0.85, 0}) < 0);    // its root in the flesh
    CHECK(snwFlesh_BoneDistance(&body.flesh, 1, (snwVec3){0, -1, 0}) > 0.5);    // skin of the flesh
    CHECK(snwFlesh_BoneDistance(&body.flesh, 1, (snwVec3){0.6, 0.8, 0}) > 0.1); // also nearer to it
    EndBody(&body);
}

TEST(flesh, aPoseCarriesPartsWithTheirBones)
{
    Body body;
    StartBody(&body);
    AddCrowd(&body);
    for (int i = 0; i < 24; ++i)
        body.parts[i].bone = 0;
    REQUIRE(snwFlesh_Prepare(&body.flesh, &body.arena));
    snwTransform turn = {{0.3, -0.2, 1}, snwQuat_FromAxisAngle((snwVec3){1, 2, 3}, 1.1)};
    snwTransform pose[2] = {turn, turn};
    snwFlesh posed;
    REQUIRE(snwFlesh_Pose(&body.flesh, pose, &body.arena, &posed));
    uint64_t seed = 8;
    for (int i = 0; i < 2000; ++i) // all bones alike: the whole field turns
    {
        snwVec3 p = RandomPoint(&seed, 2);
        double distance = snwFlesh_Distance(&body.flesh, p);
        if (distance < 0.1)
            CHECK_NEAR(snwFlesh_Distance(&posed, snwTransform_Apply(turn, p)), distance, 1e-9);
    }
    EndBody(&body);
}

// ---------------------------------------------------------------------------------------------------------------------
// Ribbons

TEST(flesh, ribbonsFollowTheirCurve)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwArena arena = {.context = context};
    snwFleshPoint points[3] = {{{0, 0, 0}, 0, -1}, {{0, 1, 0.3}, 0, -1}, {{0, 2, 0}, 0, -1}};
    snwRibbon ribbon = {.points = points,
        .pointCount = 3,
        .across = {1, 0, 0},
        .width = 0.2,
        .thickness = 0.02,
        .twist = 1.2,
        .cells = {40, 4, 1}};
    snwTetMesh mesh;
    REQUIRE(snwRibbon_Mesh(&ribbon, &arena, &mesh));
    CHECK_INT(mesh.tetCount, 6 * 40 * 4);
    CHECK_INT(mesh.tetCount, snwRibbon_TetCount(&ribbon));
    CHECK_INT(mesh.vertexCount, 41 * 5 * 2);
    double volume = 0, least = DBL_MAX;
    for (int i = 0; i < mesh.tetCount; ++i)
    {
        const int* t = mesh.tets[i];
        double v = snwTet_Volume(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]], mesh.vertices[t[3]]);
        volume += v;
        least = fmin(least, v);
    }
    CHECK(least > 0);
    CHECK_NEAR(volume, 2.12 * 0.2 * 0.02, 0.05 * volume); // the curve is about 2.12 m long
    for (int i = 0; i < mesh.vertexCount; ++i)            // no vertex leaves the band's half diagonal
        CHECK(fabs(mesh.vertices[i].x) < 0.101 + 0.011);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}
