// Labels: kernels

#include "contact/collider.h"
#include "fixture.h"
#include "geom/mesh.h"
#include "rig/clip.h"
#include "sim/character.h"
#include "test.h"

// Volume by the divergence theorem: right only if the skin is closed and points outwards.
static double SkinVolume(const snwCharacter* c)
{
    double volume = 0.0;
    for (int i = 0; i < c->skinTriangleCount; ++i)
    {
        snwVec3 p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = c->def.vertices[c->skinVertices[c->skinTriangles[i][k]]];
        volume += snwVec3_Dot(p[0], snwVec3_Cross(p[1], p[2])) / 6.0;
    }
    return volume;
}

TEST(geom, skinIsClosedAndOutward)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwShapeKind kinds[] = {snw_shapeBar, snw_shapeBlock, snw_shapeBall};
    for (int k = 0; k < 3; ++k)
    {
        snwCharacter* c = snwFixture_Shape(context, kinds[k], 6);
        CHECK_NEAR(SkinVolume(c), c->volume, 1e-12);
        CHECK_INT(c->skinVertexCount - c->skinTriangleCount * 3 / 2 + c->skinTriangleCount, 2); // Euler: a sphere
        snwCharacter_Release(c);
    }
    snwDestroyContext(context);
}

TEST(geom, edgesAreUniqueAndComplete)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* c = snwFixture_Shape(context, snw_shapeBlock, 3);
    // Euler's formula for a solid ball of tets: V - E + F - T = 1, with F = (4 T + boundary) / 2.
    int faces = (4 * c->def.tetCount + c->skinTriangleCount) / 2;
    CHECK_INT(c->def.vertexCount - c->edgeCount + faces - c->def.tetCount, 1);
    for (int i = 0; i < c->edgeCount; ++i)
        CHECK(c->edges[i][0] < c->edges[i][1]);
    snwCharacter_Release(c);
    snwDestroyContext(context);
}

// Many tets around one edge: the faces at the edge all have a twin, the outer ones none.
TEST(geom, boundaryOfAFan)
{
    enum
    {
        count = 20000
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    int(*tets)[4] = snwAllocArray(context, count, sizeof *tets), (*triangles)[3] = NULL, triangleCount = 0;
    REQUIRE(tets != NULL);
    for (int i = 0; i < count; ++i)
        tets[i][0] = 0, tets[i][1] = 1, tets[i][2] = 2 + i, tets[i][3] = 2 + (i + 1) % count;
    CHECK(snwMesh_FindBoundary(context, (const int(*)[4])tets, count, &triangles, &triangleCount) == snw_ok);
    CHECK_INT(triangleCount, 2 * count);
    snwFree(context, triangles);
    snwFree(context, tets);
    snwDestroyContext(context);
}

TEST(geom, shapesHaveTheRightSizes)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* bar = snwFixture_Shape(context, snw_shapeBar, 4);
    CHECK_INT(bar->def.tetCount, 6 * 16 * 4 * 4);
    CHECK_INT(bar->def.vertexCount, 17 * 5 * 5);
    CHECK_NEAR(bar->volume, 1.2 * 0.2 * 0.2, 1e-12);
    CHECK_NEAR(bar->mass, 48.0, 1e-9);
    snwCharacter* ball = snwFixture_Shape(context, snw_shapeBall, 40);
    CHECK_INT(ball->def.tetCount, 8 * 20 * 20 * 20);
    CHECK_NEAR(ball->volume, 4.0 / 3.0 * SNW_PI * 0.008, 0.01 * 0.0335);
    CHECK_NEAR(ball->upper.x, 0.2, 1e-12);
    double smallest = 1e9;
    for (int i = 0; i < ball->def.tetCount; ++i)
        smallest = fmin(smallest, ball->restVolumes[i]);
    CHECK(smallest > 0.1 * ball->volume / ball->def.tetCount); // no tet is crushed
    snwCharacter_Release(bar);
    snwCharacter_Release(ball);
    snwDestroyContext(context);
}

// The normal must be the gradient of the distance, whatever the shape and pose.
TEST(contact, normalIsTheGradientOfTheDistance)
{
    const snwColliderKind kinds[] = {snw_colliderPlane, snw_colliderSphere, snw_colliderBox, snw_colliderCapsule};
    uint64_t seed = 11;
    for (int trial = 0; trial < 4000; ++trial)
    {
        snwCollider collider = {.def = snwDefaultColliderDef(kinds[trial % 4])};
        collider.def.size = (snwVec3){0.4, 0.6, 0.5};
        snwVec3 axis = {snwTest_Random(&seed) - 0.5, snwTest_Random(&seed) - 0.5, snwTest_Random(&seed) - 0.5};
        snwTransform pose = {{0.3, -0.2, 0.1}, snwQuat_FromAxisAngle(snwVec3_Normalize(axis), 2.0)};
        snwVec3 p = {2 * snwTest_Random(&seed) - 1, 2 * snwTest_Random(&seed) - 1, 2 * snwTest_Random(&seed) - 1};
        snwTouch touch = snwCollider_Touch(&collider, pose, p);
        double step = 1e-6;
        snwTouch out = snwCollider_Touch(&collider, pose, snwVec3_MulAdd(p, step, touch.normal));
        CHECK_NEAR(snwVec3_Length(touch.normal), 1.0, 1e-9);
        CHECK_NEAR((touch.depth - out.depth) / step, 1.0, 1e-4);
        snwTouch surface = snwCollider_Touch(&collider, pose, snwVec3_MulAdd(p, touch.depth, touch.normal));
        CHECK_NEAR(surface.depth, 0.0, 1e-9);
    }
}

TEST(contact, degeneratePointsHaveADirection)
{
    snwTransform identity = snwTransform_Identity();
    snwCollider sphere = {.def = snwDefaultColliderDef(snw_colliderSphere)};
    snwCollider capsule = {.def = snwDefaultColliderDef(snw_colliderCapsule)};
    snwVec3 centre = {0, 0, 0};
    CHECK_NEAR(snwVec3_Length(snwCollider_Touch(&sphere, identity, centre).normal), 1.0, 1e-12);
    CHECK_NEAR(snwCollider_Touch(&capsule, identity, centre).depth, 0.5, 1e-12);
    CHECK_NEAR(snwCollider_Touch(&capsule, identity, centre).normal.y, 0.0, 1e-12);
}

TEST(contact, motionOfATurningCollider)
{
    snwTransform before = snwTransform_Identity(), after = {{0, 0, 1}, snwQuat_FromAxisAngle((snwVec3){0, 1, 0}, 0.1)};
    snwVec3 start = {1, 0, 0}, end = snwTransform_Apply(after, start);
    snwVec3 motion = snwCollider_Motion(before, after, end);
    CHECK_NEAR(snwVec3_Distance(motion, snwVec3_Sub(end, start)), 0.0, 1e-12);
}

TEST(rig, clipPassesThroughItsKeys)
{
    snwKey keys[3] = {
        {0.0, {{0, 0, 0}, {0, 0, 0, 1}}}, {1.0, {{1, 0, 0}, {0, 1, 0, 0}}}, {3.0, {{0, 2, 0}, {0, 0, 0, 1}}}};
    snwClipDef clip = snwDefaultClipDef();
    clip.keys = keys;
    clip.keyCount = 3;
    for (int mode = 0; mode < 3; ++mode)
    {
        clip.interpolation = (snwInterpolation)mode;
        for (int i = 0; i < 3; ++i)
            CHECK_NEAR(
                snwVec3_Distance(snwClip_Evaluate(&clip, keys[i].time).position, keys[i].transform.position), 0, 1e-12);
        CHECK_NEAR(snwClip_Evaluate(&clip, -5.0).position.x, 0.0, 1e-12);
        CHECK_NEAR(snwClip_Evaluate(&clip, 99.0).position.y, 2.0, 1e-12);
    }
    clip.interpolation = snw_interpolateLinear;
    CHECK_NEAR(snwClip_Evaluate(&clip, 2.0).position.y, 1.0, 1e-12);
    CHECK_NEAR(snwQuat_Angle(snwClip_Evaluate(&clip, 0.5).rotation, keys[0].transform.rotation), 0.5 * SNW_PI, 1e-9);
    clip.interpolation = snw_interpolateStep;
    CHECK_NEAR(snwClip_Evaluate(&clip, 0.99).position.x, 0.0, 1e-12);
    clip.interpolation = snw_interpolateSmooth;
    CHECK_NEAR(snwClip_Evaluate(&clip, 0.25).position.x, 0.25 * 0.25 * 2.5, 1e-12);
    clip.loop = true;
    CHECK_NEAR(snwClip_Evaluate(&clip, 3.25).position.x, 0.25 * 0.25 * 2.5, 1e-12);
    CHECK_NEAR(snwClip_Evaluate(&clip, -2.75).position.x, 0.25 * 0.25 * 2.5, 1e-12);
}
