// The response alone: props, friction of pairs, forces, points, and contacts of every kind in one scene.
// Labels: kernels

#include "contact/force.h"
#include "contact/prop.h"
#include "contact/response.h"
#include "fixture.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Friction

TEST(response, frictionIsTheMeanOrThePairs)
{
    snwFrictionDef pair = {"rubber", "ice", 0.3, 0.1};
    snwSceneDef scene = snwDefaultSceneDef();
    scene.frictions = &pair, scene.frictionCount = 1;
    snwFrictionSide a = {0.9, -1, "rubber"}, b = {0.4, 0.1, "ice"}, c = {0.4, 0.1, ""};
    snwFriction listed = snwFriction_Between(&scene, b, a), mean = snwFriction_Between(&scene, a, c);
    CHECK(listed.fixed == 0.3 && listed.kinetic == 0.1);
    CHECK_NEAR(mean.fixed, 0.6, 1e-15);
    CHECK_NEAR(mean.kinetic, 0.3, 1e-15);
}

TEST(response, badFrictionIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwScene* scene = NULL;
    snwMessage message;
    snwColliderDef collider = snwDefaultColliderDef(snw_colliderPlane);
    snwSceneDef def = snwDefaultSceneDef();
    def.colliders = &collider, def.colliderCount = 1;
    collider.kineticFriction = 0.6; // more than 0.5
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "kinetic");
    collider = snwDefaultColliderDef(snw_colliderPlane);
    snwFrictionDef pairs[2] = {{"a", "b", 1, -1}, {"b", "a", 1, -1}};
    def.frictions = pairs, def.frictionCount = 2;
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "frictions[0]");
    pairs[1].second = "";
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Props

// Mass and inertia of a shape by counting points of a fine grid inside it.
static snwPropMass CountMass(const snwPropDef* def)
{
    snwCollider shape = snwMakeCollider(def->kind, def->size, 0.5);
    double reach = snwPropDef_Radius(def), cell = reach / 40;
    snwPropMass sum = {0};
    for (double x = -reach + cell / 2; x < reach; x += cell)
        for (double y = -reach + cell / 2; y < reach; y += cell)
            for (double z = -reach + cell / 2; z < reach; z += cell)
            {
                if (snwCollider_Touch(&shape, snwTransform_Identity(), (snwVec3){x, y, z}).depth < 0)
                    continue;
                double m = def->density * cell * cell * cell;
                sum.mass += m;
                sum.inertia = snwVec3_Add(
                    sum.inertia, (snwVec3){m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y)});
            }
    return sum;
}

TEST(response, propsWeighWhatTheirShapesHold)
{
    const snwColliderKind kinds[] = {snw_colliderSphere, snw_colliderBox, snw_colliderCapsule};
    for (int i = 0; i < 3; ++i)
    {
        snwPropDef def = snwDefaultPropDef(kinds[i]);
        def.size = (snwVec3){0.2, 0.3, 0.1};
        snwPropMass mass = snwPropDef_Mass(&def), counted = CountMass(&def);
        CHECK_NEAR(mass.mass / counted.mass, 1, 0.02);
        CHECK_NEAR(mass.inertia.x / counted.inertia.x, 1, 0.03);
        CHECK_NEAR(mass.inertia.y / counted.inertia.y, 1, 0.03);
        CHECK_NEAR(mass.inertia.z / counted.inertia.z, 1, 0.03);
    }
}

static snwVec3 AngularMomentum(const snwProp* prop, snwPropMass mass)
{
    snwVec3 w = snwQuat_InverseRotate(prop->transform.rotation, prop->angularVelocity);
    return snwQuat_Rotate(
        prop->transform.rotation, (snwVec3){w.x * mass.inertia.x, w.y * mass.inertia.y, w.z * mass.inertia.z});
}

// A book thrown about its middle axis turns over again and again; momentum stays to round-off, energy nearly, for a
// step of a quarter radian.
TEST(response, freePropsKeepTheirMomentum)
{
    snwPropDef def = snwDefaultPropDef(snw_colliderBox);
    def.size = (snwVec3){0.3, 0.2, 0.05};
    snwPropMass mass = snwPropDef_Mass(&def);
    snwProp prop = {snwTransform_Identity(), {1, 0, 0}, {0.01, 15, 0.02}};
    snwVec3 start = AngularMomentum(&prop, mass);
    double energy = snwVec3_Dot(start, prop.angularVelocity);
    bool turned = false;
    for (int i = 0; i < 6000; ++i)
    {
        snwPropMotion motion = snwProp_Predict(&prop, mass, (snwVec3){0, 0, 0}, 1.0 / 60);
        prop = snwProp_Finish(&motion, 1.0 / 60);
        turned = turned || snwQuat_Rotate(prop.transform.rotation, (snwVec3){0, 1, 0}).y < -0.9;
    }
    snwVec3 end = AngularMomentum(&prop, mass);
    CHECK(turned);
    CHECK(snwVec3_Distance(start, end) < 1e-9 * snwVec3_Length(start));
    CHECK_NEAR(snwVec3_Dot(end, prop.angularVelocity) / energy, 1, 0.05);
    CHECK_NEAR(prop.transform.position.x, 100, 1e-9);
}

TEST(response, aPushMovesThePointAsItsYieldSays)
{
    snwPropDef def = snwDefaultPropDef(snw_colliderCapsule);
    snwProp prop = {{{1, 2, 3}, snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, 0.7)}, {0, 0, 0}, {0, 0, 0}};
    snwPropMotion motion = snwProp_Predict(&prop, snwPropDef_Mass(&def), (snwVec3){0, 0, 0}, 0.01);
    snwVec3 arm = {0.05, 0.08, -0.02}, along = snwVec3_Normalize((snwVec3){1, -2, 0.5});
    double yield = snwProp_Yield(&motion, arm, along), push = 1e-6;
    snwVec3 local = snwTransform_ApplyInverse(motion.transform, snwVec3_Add(motion.transform.position, arm));
    snwVec3 before = snwTransform_Apply(motion.transform, local);
    snwProp_Push(&motion, arm, snwVec3_Scale(along, push));
    snwVec3 moved = snwVec3_Sub(snwTransform_Apply(motion.transform, local), before);
    CHECK_NEAR(snwVec3_Dot(moved, along) / (yield * push), 1, 1e-5);
}

// ---------------------------------------------------------------------------------------------------------------------
// Forces

typedef struct PointMass
{
    snwVec3 x, v;
    snwForceMemory memory;
    double leastGap, worstCone; // over the cone, relative
} PointMass;

static void StepMass(PointMass* mass, double kg, snwVec3 gravity, snwForceStep step, snwFriction friction)
{
    snwContactPoint point = {.normal = {0, 1, 0}, .gap = mass->x.y, .friction = friction};
    snwForceInput input = {kg, mass->v};
    snwVec3 force;
    snwContact_Forces(&step, &point, &input, &mass->memory, &force, 1);
    double across = hypot(force.x, force.z);
    if (across > friction.fixed * force.y * (1 + 1e-12))
        mass->worstCone = fmax(mass->worstCone, across - friction.fixed * force.y);
    mass->v = snwVec3_MulAdd(mass->v, step.h, snwVec3_MulAdd(gravity, 1 / kg, force));
    mass->x = snwVec3_MulAdd(mass->x, step.h, mass->v);
    mass->leastGap = fmin(mass->leastGap, mass->x.y);
}

TEST(response, aPointMassRestsForAnyStiffnessAndStep)
{
    const double stiffness[] = {1e3, 1e6, 1e12, INFINITY}, steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 1000};
    for (int s = 0; s < 4; ++s)
        for (int h = 0; h < 3; ++h)
        {
            PointMass mass = {.x = {0, 0.1, 0}};
            snwForceStep step = {steps[h], stiffness[s]};
            for (int i = 0; i < (int)(20 / steps[h]); ++i)
                StepMass(&mass, 2, (snwVec3){0, -9.81, 0}, step, (snwFriction){0.5, 0.4});
            CHECK_NEAR(mass.memory.push, 2 * 9.81, 1e-6);
            CHECK_NEAR(mass.x.y, 0, 1e-6);
            CHECK(fabs(mass.v.y) < 1e-6 && mass.leastGap > -0.2);
        }
}

TEST(response, aPointMassHoldsAndSlidesByCoulomb)
{
    double angle = atan(0.5), h = 1.0 / 240;
    for (int k = 0; k < 2; ++k)
    {
        double a = (k == 0 ? 0.99 : 1.01) * angle;
        snwVec3 gravity = {9.81 * sin(a), -9.81 * cos(a), 0};
        PointMass mass = {0};
        mass.memory.push = 9.81 * cos(a);
        for (int i = 0; i < 480; ++i)
            StepMass(&mass, 1, gravity, (snwForceStep){h, INFINITY}, (snwFriction){0.5, 0.5});
        double speed = mass.v.x;
        for (int i = 0; i < 480; ++i)
            StepMass(&mass, 1, gravity, (snwForceStep){h, INFINITY}, (snwFriction){0.5, 0.5});
        double expected = k == 0 ? 0 : 9.81 * (sin(a) - 0.5 * cos(a));
        CHECK_NEAR((mass.v.x - speed) / 2, expected, 0.01 * 9.81 * (sin(1.01 * angle) - 0.5 * cos(1.01 * angle)));
        CHECK(k == 1 || fabs(mass.v.x) < 1e-9);
        CHECK(mass.worstCone == 0);
    }
}

// A pen thinner than the triangles of a coarse block falls on it between the vertices, where only triangles can stop
// it.
TEST(response, aPenDoesNotSlipBetweenVertices)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBlock);
    shape.size = (snwVec3){0.6, 0.3, 0.6}, shape.cells[0] = shape.cells[2] = 3, shape.cells[1] = 2;
    snwBodyDef body = snwDefaultBodyDef();
    snwScene* scene = NULL;
    REQUIRE(snwCreateShape(context, &shape, &body.character, NULL) == snw_ok);
    body.transform.position.y = 0.15;
    snwPropDef pen = snwDefaultPropDef(snw_colliderCapsule);
    pen.size = (snwVec3){0.008, 0.05, 0}, pen.density = 1200;
    pen.transform.position = (snwVec3){0.03, 0.36, 0.04};
    pen.transform.rotation = (snwQuat){sqrt(0.5), 0, 0, sqrt(0.5)}; // lying
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    snwSceneDef def = snwDefaultSceneDef();
    def.bodies = &body, def.bodyCount = 1, def.props = &pen, def.propCount = 1, def.colliders = &ground,
    def.colliderCount = 1;
    REQUIRE(snwCreateScene(context, &def, &scene, NULL) == snw_ok);
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    simDef.scene = scene;
    REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwFixture_Run(sim, 120, 1.0 / 60);
    snwProps props;
    REQUIRE(snwSim_GetProps(sim, &props) == snw_ok);
    CHECK(props.data[0].transform.position.y > 0.28 && props.data[0].transform.position.y < 0.32);
    snwDestroySim(sim);
    snwScene_Release(scene);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Contacts of every kind in one scene: two balls that touch, on a ground that moves, under props that touch each other

static snwScene* MakeEverything(snwContext* context, snwMessage* message)
{
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBall);
    shape.size = (snwVec3){0.4, 0.4, 0.4}, shape.cells[0] = 4;
    snwBodyDef bodies[2] = {snwDefaultBodyDef(), snwDefaultBodyDef()};
    snwScene* scene = NULL;
    if (snwCreateShape(context, &shape, &bodies[0].character, message) < 0)
        return NULL;
    bodies[1].character = bodies[0].character, bodies[1].name = "other";
    bodies[0].transform.position = (snwVec3){-0.19, 0.2, 0}, bodies[1].transform.position = (snwVec3){0.19, 0.2, 0};
    snwPropDef props[3] = {snwDefaultPropDef(snw_colliderBox), snwDefaultPropDef(snw_colliderCapsule),
        snwDefaultPropDef(snw_colliderSphere)};
    props[0].transform.position = (snwVec3){0, 0.52, 0}, props[0].size = (snwVec3){0.3, 0.05, 0.2};
    props[1].name = "pen", props[1].transform.position = (snwVec3){0, 0.62, 0}, props[1].size = (snwVec3){0.03, 0.1, 0};
    props[2].name = "ball", props[2].transform.position = (snwVec3){0.8, 0.1, 0}, props[2].velocity.x = -1;
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderBox);
    ground.size = (snwVec3){3, 0.5, 3}, ground.transform.position.y = -0.5;
    snwKey keys[2] = {{0, {{0, -0.5, 0}, {0, 0, 0, 1}}}, {1, {{0.1, -0.48, 0}, {0, 0, 0, 1}}}};
    snwClipDef clip = snwDefaultClipDef();
    clip.target = snw_clipCollider, clip.keys = keys, clip.keyCount = 2;
    snwSetting self = {"pbd.self", 1};
    snwSceneDef def = snwDefaultSceneDef();
    def.bodies = bodies, def.bodyCount = 2, def.props = props, def.propCount = 3, def.colliders = &ground,
    def.colliderCount = 1, def.clips = &clip, def.clipCount = 1, def.settings = &self, def.settingCount = 1;
    snwCreateScene(context, &def, &scene, message);
    snwCharacter_Release(bodies[0].character);
    return scene;
}

static snwSim* MakeEverythingSim(snwContext* context, snwMessage* message)
{
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    def.scene = MakeEverything(context, message);
    if (def.scene != NULL)
        snwCreateSim(context, &def, &sim, message);
    snwScene_Release(def.scene);
    return sim;
}

// Which kinds of contact a report holds, a bit each.
static int Kinds(const snwSim* sim)
{
    snwContacts contacts;
    snwSim_GetContacts(sim, &contacts);
    int kinds = 0;
    for (int i = 0; i < contacts.count; ++i)
    {
        const snwContact* c = &contacts.data[i];
        int kind = c->collider >= 0 ? 0 : c->prop >= 0 ? 1 : 2;
        CHECK_INT((c->collider >= 0) + (c->prop >= 0) + (c->otherBody >= 0), 1);
        kinds |= 1 << (kind + (c->body < 0 ? 3 : 0));
    }
    return kinds;
}

TEST(response, contactsOfEveryKindGiveTheSameBitsForAnyThreads) // Labels: threads
{
    uint64_t hashes[3];
    int kinds = 0;
    const int threads[3] = {1, 2, 8};
    const snwSimd simd[3] = {snw_simdScalar, snw_simdBase, snw_simdAuto};
    for (int i = 0; i < 3; ++i)
    {
        snwContext* context = snwFixture_Context(threads[i], simd[i], NULL);
        snwSim* sim = MakeEverythingSim(context, NULL);
        REQUIRE(sim != NULL);
        for (int k = 0; k < 60; ++k)
        {
            snwFixture_Run(sim, 1, 1.0 / 60);
            kinds |= Kinds(sim);
        }
        hashes[i] = snwSim_Hash(sim);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
    CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
    CHECK_INT(kinds, 1 | 2 | 4 | 8 | 16 | 32); // vertices and points of props, on collider, prop and flesh
}

TEST(response, saveAndRestoreKeepPropsAndAnchors)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = MakeEverythingSim(context, NULL);
    REQUIRE(sim != NULL);
    snwFixture_Run(sim, 20, 1.0 / 60);
    size_t size = snwSim_GetStateSize(sim);
    void* block = malloc(size);
    CHECK(snwSim_Save(sim, block, size, NULL, NULL) == snw_ok);
    snwFixture_Run(sim, 20, 1.0 / 60);
    uint64_t hash = snwSim_Hash(sim);
    CHECK(snwSim_Restore(sim, block, size, NULL) == snw_ok);
    snwFixture_Run(sim, 20, 1.0 / 60);
    CHECK(snwSim_Hash(sim) == hash);
    free(block);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(response, steadyContactUsesNoHeap)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwSim* sim = MakeEverythingSim(context, NULL);
    REQUIRE(sim != NULL);
    snwFixture_Run(sim, 5, 1.0 / 60);
    long before = counter.allocations;
    snwFixture_Run(sim, 20, 1.0 / 60);
    CHECK(counter.allocations == before);
    snwDestroySim(sim);
    snwDestroyContext(context);
    CHECK(counter.live == 0);
}

TEST(response, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (long n = 1; n < 10000; ++n)
    {
        snwCountingAllocator counter = {.failAt = 0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        long made = counter.allocations;
        counter.failAt = made + n;
        snwMessage message = {0};
        snwSim* sim = MakeEverythingSim(context, &message);
        bool reached = counter.allocations >= counter.failAt;
        CHECK(!reached || sim == NULL);
        CHECK(!reached || message.result == snw_errorMemory);
        if (sim != NULL)
            snwDestroySim(sim);
        snwDestroyContext(context);
        CHECK(counter.live == 0);
        if (!reached)
            return;
    }
    CHECK(false);
}

// Momentum of two balls and the props without ground and gravity.
TEST(response, contactKeepsMomentum)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSimDef simDef = snwDefaultSimDef();
    snwScene* scene = MakeEverything(context, NULL);
    snwSceneDef def = *snwScene_GetDef(scene);
    def.gravity = (snwVec3){0, 0, 0}, def.colliderCount = 0, def.clipCount = 0;
    snwSim* sim;
    REQUIRE(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwCommand push = snwDefaultCommand(snw_commandPush);
    push.vector = (snwVec3){200, 300, 0}, push.value = 0.1;
    CHECK(snwSim_Push(sim, &push, NULL) == snw_ok);
    snwFixture_Run(sim, 8, 1.0 / 60);
    snwMeasures before, after;
    snwSim_GetMeasures(sim, -1, &before);
    snwFixture_Run(sim, 90, 1.0 / 60);
    snwSim_GetMeasures(sim, -1, &after);

    CHECK(snwVec3_Distance(before.momentum, after.momentum) < 1e-2 * snwVec3_Length(before.momentum));
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwScene_Release(scene);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

TEST(response, pointsHaveGapNormalAndTangents)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = snwFixture_Shape(context, snw_shapeBlock, 1);
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    ground.friction = 0.8, body.friction = 0.2;
    snwSceneDef scene = snwDefaultSceneDef();
    scene.bodies = &body, scene.bodyCount = 1, scene.colliders = &ground, scene.colliderCount = 1;
    snwCollider collider = snwMakeCollider(snw_colliderPlane, ground.size, 0.8);
    snwArena arena = {.context = context};
    int one = 1;
    snwResponseDef def = {.context = context,
        .arena = &arena,
        .scene = &scene,
        .colliders = &collider,
        .vertexCounts = &one,
        .rowCounts = &one};
    snwResponse* response;
    REQUIRE(snwCreateResponse(&def, &response, NULL) == snw_ok);
    _Alignas(64) float now[4] = {0.1f, -0.01f, 0.2f, 1}, before[4] = {0.1f, 0.02f, 0.2f, 1};
    snwAnchor anchors[snw_anchorsPerVertex] = {0};
    response->flesh[0] = (snwContactFlesh){now, before, 1, NULL, 1, anchors, 0.05, 0, NULL, false, {0, 0, 0}};
    response->colliderBefore[0] = response->colliderNow[0] = snwTransform_Identity();
    response->colliderBefore[0].position.x = -0.5; // it came half a metre along x
    snwResponse_Gather(response);
    snwContactPoint point;
    CHECK_INT(snwResponse_Points(response, &point, 1), 1);
    CHECK_NEAR(point.gap, -0.01, 1e-8);
    CHECK_NEAR(point.normal.y, 1, 1e-15);
    CHECK_NEAR(snwVec3_Dot(point.tangent[0], point.normal), 0, 1e-15);
    CHECK_NEAR(snwVec3_Dot(point.tangent[1], point.tangent[0]), 0, 1e-15);
    CHECK_NEAR(snwVec3_Length(point.tangent[1]), 1, 1e-15);
    CHECK_NEAR(point.friction.fixed, 0.4, 1e-15);
    CHECK_NEAR(point.surfaceMotion.x, 0.5, 1e-15);
    CHECK(point.body == 0 && point.collider == 0 && point.prop == -1 && point.otherBody == -1);
    // One visit puts the vertex on the plane, and friction takes it as far along as the push allows.
    snwResponse_Solve(response, 0, true);
    CHECK_NEAR((double)now[1], 0, 1e-8);
    CHECK_NEAR((double)now[0], 0.1 + 0.4 * 0.01, 1e-7);
    snwDestroyResponse(response);
    snwArena_Free(&arena);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

// A block of ordinary flesh on the ground, run by one method.
static snwSim* MakeBlockSim(snwContext* context, const char* method, double size, double height)
{
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBlock);
    shape.size = (snwVec3){size, size, size};
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 4;
    snwSceneDef def = snwDefaultSceneDef();
    snwBodyDef body = snwDefaultBodyDef();
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    CHECK(snwCreateShape(context, &shape, &body.character, NULL) == snw_ok);
    body.name = "block";
    body.transform.position.y = height;
    ground.name = "ground";
    def.method = method;
    def.bodies = &body, def.bodyCount = 1;
    def.colliders = &ground, def.colliderCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    CHECK(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    CHECK(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    return sim;
}

static const char* const s_methods[] = {"pbd", "pbcd", "rigpbd"};

// A body of millimetres stands on the ground as one of decimetres does: it does not lie flat under its own weight.
TEST_HEAVY(response, smallBodiesStandOnTheGround)
{
    const double sizes[] = {0.001, 0.005, 0.03};
    for (int i = 0; i < 9; ++i)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        double size = sizes[i % 3];
        snwSim* sim = MakeBlockSim(context, s_methods[i / 3], size, 0.5 * size);
        snwMeasures measures;
        snwFixture_Run(sim, 20, 1.0 / 60);
        snwSim_GetMeasures(sim, 0, &measures);
        CHECK(measures.centre.y > 0.47 * size && measures.centre.y < 0.51 * size);
        CHECK(measures.minVolumeRatio > 0.8);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
}
