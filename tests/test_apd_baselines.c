// What articulated projective dynamics is compared with, in the same scenes: Eq. 17 as printed, the forerunner of 2019,
// stable constrained dynamics, and bones imitated by stiffness.

#include "test.h"

#include "base/context.h"
#include "fixture.h"
#include "sim/apd/apd.h"
#include "sim/character.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// A bar of 1 x 0.2 x 0.2 m with two bones and a joint in its middle

typedef struct Bar
{
    snwJointType type;
    bool rigid;    // the bones alone, without flesh
    bool boneless; // flesh all through
    snwMaterial material;
} Bar;

static int BoneAt(double x)
{
    return x > -0.4 && x < -0.1 ? 0 : x > 0.1 && x < 0.4 ? 1 : -1;
}

// Leaves out tets of no bone, and vertices of no tet.
static void KeepBones(snwCharacterDef* def, int* bones, snwVec3* vertices, int (*tets)[4])
{
    int* place = malloc((size_t)def->vertexCount * sizeof *place);
    int count = 0, kept = 0;
    memset(place, -1, (size_t)def->vertexCount * sizeof *place);
    for (int e = 0; e < def->tetCount; ++e)
    {
        if (bones[e] < 0)
            continue;
        for (int a = 0; a < 4; ++a)
        {
            int* at = &place[def->tets[e][a]];
            if (*at < 0)
                vertices[*at = count++] = def->vertices[def->tets[e][a]];
            tets[kept][a] = *at;
        }
        bones[kept++] = bones[e];
    }
    def->vertices = vertices, def->vertexCount = count;
    def->tets = (const int(*)[4])tets, def->tetCount = kept;
    free(place);
}

static snwCharacter* MakeBar(snwContext* context, const Bar* bar)
{
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBar);
    shape.size = (snwVec3){1, 0.2, 0.2};
    shape.cells[0] = 10;
    shape.cells[1] = shape.cells[2] = 2;
    snwCharacter *flesh = NULL, *out = NULL;
    if (snwCreateShape(context, &shape, &flesh, NULL) < 0)
        return NULL;
    snwCharacterDef def = *snwCharacter_GetDef(flesh);
    snwVec3 centre = snwVec3_Lerp(flesh->lower, flesh->upper, 0.5);
    int* bones = malloc((size_t)def.tetCount * sizeof *bones);
    snwVec3* vertices = malloc((size_t)def.vertexCount * sizeof *vertices);
    int(*tets)[4] = malloc((size_t)def.tetCount * sizeof *tets);
    int* regions = calloc((size_t)def.tetCount, sizeof *regions);
    for (int e = 0; e < def.tetCount; ++e)
    {
        double x = -centre.x;
        for (int a = 0; a < 4; ++a)
            x += 0.25 * def.vertices[def.tets[e][a]].x;
        bones[e] = BoneAt(x);
    }
    if (bar->rigid)
        KeepBones(&def, bones, vertices, tets);
    snwBoneDef ends[2] = {snwDefaultBoneDef(), snwDefaultBoneDef()};
    ends[0].name = "left", ends[1].name = "right";
    ends[0].head = ends[1].head = centre;
    ends[0].tail = snwVec3_Add(centre, (snwVec3){-0.4, 0, 0});
    ends[1].tail = snwVec3_Add(centre, (snwVec3){0.4, 0, 0});
    snwJointDef joint = snwDefaultJointDef();
    joint.type = bar->type;
    joint.parentBone = 0, joint.bone = 1;
    joint.position = centre;
    joint.axis = (snwVec3){0, 0.6, 0.8};
    def.materials = &bar->material, def.materialCount = 1;
    def.regions = regions;
    if (!bar->boneless)
    {
        def.elementBones = bones;
        def.bones = ends, def.boneCount = 2;
        def.joints = &joint, def.jointCount = 1;
    }
    snwMessage message = {0};
    if (snwCreateCharacter(context, &def, &out, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    free(bones), free(vertices), free(tets), free(regions);
    snwCharacter_Release(flesh);
    return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Its scene

typedef struct World
{
    Bar bar;
    snwApdSolver solver;
    int iterations, passes;
    double refresh, ratio;
    bool pinned; // the left face, or where there is no flesh the middle of its lowest edge
    snwVec3 gravity;
    snwVec3 spin; // rad/s
} World;

static World DefaultWorld(snwApdSolver solver)
{
    return (World){.bar = {.type = snw_jointBall, .material = {1000, 2e4, 0.3, 0}},
        .solver = solver,
        .iterations = 10,
        .passes = 3,
        .refresh = 0.1,
        .ratio = 500,
        .pinned = true,
        .gravity = {0, -9.81, 0}};
}

static snwSim* MakeWorld(snwContext* context, const World* world, snwMessage* message)
{
    snwCharacter* bar = MakeBar(context, &world->bar);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = bar;
    body.angularVelocity = world->spin;
    snwPinDef pin = snwDefaultPinDef();
    double far = world->bar.rigid ? 1e-6 : 1e3, middle = 0.5 * (bar->lower.z + bar->upper.z);
    pin.lower = (snwVec3){bar->lower.x - 1e-6, bar->lower.y - far, middle - far};
    pin.upper = (snwVec3){bar->lower.x + 1e-6, bar->lower.y + far, middle + far};
    snwSetting settings[] = {{"apd.solver", world->solver}, {"apd.iterations", world->iterations},
        {"apd.passes", world->passes}, {"apd.refresh", world->refresh}, {"apd.ratio", world->ratio},
        {"sim.substeps", 1}};
    snwSceneDef def = snwDefaultSceneDef();
    def.method = "apd";
    def.gravity = world->gravity;
    def.bodies = &body, def.bodyCount = 1;
    def.pins = &pin, def.pinCount = world->pinned;
    def.settings = settings, def.settingCount = 6;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    if (snwCreateScene(context, &def, &simDef.scene, message) >= 0)
        snwCreateSim(context, &simDef, &sim, message);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(bar);
    return sim;
}

static const snwVec3* Positions(const snwSim* sim)
{
    return snwApd_GetState(sim, 0).positions;
}

static double Largest(const snwSim* a, const snwSim* b)
{
    double most = 0;
    for (int i = 0; i < a->bodies[0].character->def.vertexCount; ++i)
        most = fmax(most, snwVec3_Distance(Positions(a)[i], Positions(b)[i]));
    return most;
}

// m: how far from the rest pose.
static double Travel(const snwSim* sim)
{
    double most = 0;
    for (int i = 0; i < sim->bodies[0].character->def.vertexCount; ++i)
        most = fmax(most, snwVec3_Distance(Positions(sim)[i], sim->bodies[0].character->def.vertices[i]));
    return most;
}

// ---------------------------------------------------------------------------------------------------------------------
// Eq. 17 as printed

static void CompareLiteral(const World* base, double tolerance)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World world = *base;
    world.passes = 1, world.refresh = 0;
    world.solver = snw_apdArticulated;
    snwSim* ours = MakeWorld(context, &world, NULL);
    world.solver = snw_apdLiteral;
    snwSim* literal = MakeWorld(context, &world, NULL);
    REQUIRE(ours != NULL && literal != NULL);
    for (int frame = 0; frame < 5; ++frame)
    {
        snwFixture_Run(ours, 1, 1.0 / 60);
        snwFixture_Run(literal, 1, 1.0 / 60);
        CHECK_NEAR(Largest(ours, literal), 0, tolerance);
    }
    CHECK(Travel(ours) > 0.01);
    snwDestroySim(ours);
    snwDestroySim(literal);
    snwDestroyContext(context);
}

TEST(apdBaselines, literalIsOursWithABallJoint)
{
    World world = DefaultWorld(snw_apdLiteral);
    CompareLiteral(&world, 1e-6);
}

TEST(apdBaselines, literalIsOursWithAHinge)
{
    World world = DefaultWorld(snw_apdLiteral);
    world.bar.type = snw_jointHinge;
    CompareLiteral(&world, 1e-6);
}

TEST(apdBaselines, literalIsOursWithoutBonesAndWithoutFlesh)
{
    World world = DefaultWorld(snw_apdLiteral);
    world.bar.boneless = true;
    CompareLiteral(&world, 1e-6);
    world.bar.boneless = false;
    world.bar.rigid = true;
    CompareLiteral(&world, 1e-6);
}

// ---------------------------------------------------------------------------------------------------------------------
// The forerunner

static snwJointGap Gap(const snwSim* sim)
{
    const snwApdModel* model = sim->bodies[0].model;
    const snwJointDef* joint = &sim->bodies[0].character->def.joints[0];
    const int ends[2] = {joint->bone, joint->parentBone};
    snwJointRowsDef def = {.joint = joint};
    for (int e = 0; e < 2; ++e)
    {
        const snwApdBone* bone = &snwApd_GetState(sim, 0).bones[ends[e]];
        def.restCentres[e] = model->centres[ends[e]];
        def.poses[e] = (snwBonePose){bone->rotation, bone->centre};
    }
    return snwJointRows_Gap(&def);
}

// Largest change of a distance between two vertices of one bone.
static double Strain(const snwSim* sim)
{
    const snwCharacter* character = sim->bodies[0].character;
    double most = 0;
    for (int i = 0; i < character->def.vertexCount; ++i)
        for (int j = 0; j < i; ++j)
            if (character->vertexBones[i] >= 0 && character->vertexBones[i] == character->vertexBones[j])
                most = fmax(most, fabs(snwVec3_Distance(Positions(sim)[i], Positions(sim)[j]) -
                                       snwVec3_Distance(character->def.vertices[i], character->def.vertices[j])));
    return most;
}

TEST(apdBaselines, splitHoldsJointsAndKeepsBonesRigid)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int type = snw_jointBall; type <= snw_jointHinge; type += snw_jointHinge - snw_jointBall)
    {
        World world = DefaultWorld(snw_apdSplit);
        world.bar.type = (snwJointType)type;
        snwSim* sim = MakeWorld(context, &world, NULL);
        REQUIRE(sim != NULL);
        for (int frame = 0; frame < 10; ++frame)
        {
            snwFixture_Run(sim, 1, 1.0 / 60);
            CHECK(Gap(sim).length < 1e-9 && Gap(sim).angle < 1e-9);
            CHECK(Strain(sim) < 1e-12);
        }
        CHECK(Travel(sim) > 0.05);
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

// Without flesh the joints' own problem is all there is.
TEST(apdBaselines, splitIsOursWithoutFlesh)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World world = DefaultWorld(snw_apdArticulated);
    world.bar.rigid = true;
    snwSim* ours = MakeWorld(context, &world, NULL);
    world.solver = snw_apdSplit;
    snwSim* split = MakeWorld(context, &world, NULL);
    REQUIRE(ours != NULL && split != NULL);
    snwFixture_Run(ours, 60, 1.0 / 240);
    snwFixture_Run(split, 60, 1.0 / 240);
    CHECK(Travel(ours) > 0.1);
    CHECK_NEAR(Largest(ours, split), 0, 1e-7);
    snwDestroySim(ours);
    snwDestroySim(split);
    snwDestroyContext(context);
}

// Fig. 11: what the joints' own problem does to the bones is work that nobody pays for.
static double MostEnergyOverStart(snwContext* context, snwApdSolver solver, int iterations)
{
    World world = DefaultWorld(solver);
    world.iterations = iterations;
    snwSim* sim = MakeWorld(context, &world, NULL);
    snwMeasures start, now;
    double most = -1e30;
    snwSim_GetMeasures(sim, 0, &start);
    for (int frame = 0; frame < 60; ++frame)
    {
        snwFixture_Run(sim, 1, 1.0 / 60);
        snwSim_GetMeasures(sim, 0, &now);
        most = fmax(most, now.energy - start.energy);
    }
    snwDestroySim(sim);
    return most;
}

TEST(apdBaselines, splitGainsEnergyAndOursDoesNot)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double ours = MostEnergyOverStart(context, snw_apdArticulated, 10);
    double split = MostEnergyOverStart(context, snw_apdSplit, 10);
    double longer = MostEnergyOverStart(context, snw_apdSplit, 20);
    CHECK(ours <= 0);
    CHECK(split > 1 && longer > 1);
    snwDestroyContext(context);
}
