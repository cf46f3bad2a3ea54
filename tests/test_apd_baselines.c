// What articulated projective dynamics is compared with, in the same scenes: Eq. 17 as printed, the forerunner of 2019,
// stable constrained dynamics, and bones imitated by stiffness.

#include "test.h"

#include "base/context.h"
#include "fixture.h"
#include "sim/apd/apd.h"
#include "sim/character.h"
#include "truth.h"
#include "truth_parts.h"

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
    bool ground; // a little below
    snwElasticLaw law;
    snwVec3 spin; // rad/s
} World;

static World DefaultWorld(snwApdSolver solver)
{
    return (World){.bar = {.type = snw_jointBall, .material = {.density = 1000, .young = 2e4, .poisson = 0.3}},
        .solver = solver,
        .iterations = 10,
        .passes = 3,
        .refresh = 0.1,
        .ratio = 500,
        .pinned = true,
        .law = snw_elasticCorotated};
}

static snwScene* MakeScene(snwContext* context, const World* world)
{
    snwCharacter* bar = MakeBar(context, &world->bar);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = bar;
    body.angularVelocity = world->spin;
    snwPinDef pin = snwDefaultPinDef();
    double far = world->bar.rigid ? 1e-6 : 1e3, middle = 0.5 * (bar->lower.z + bar->upper.z);
    pin.lower = (snwVec3){bar->lower.x - 1e-6, bar->lower.y - far, middle - far};
    pin.upper = (snwVec3){bar->lower.x + 1e-6, bar->lower.y + far, middle + far};
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    ground.transform.position.y = bar->lower.y - 0.02;
    snwSetting settings[] = {{"apd.solver", world->solver}, {"apd.accelerate", 0},
        {"apd.iterations", world->iterations}, {"apd.passes", world->passes}, {"apd.refresh", world->refresh},
        {"apd.ratio", world->ratio}, {"apd.law", world->law}, {"sim.substeps", 1}};
    snwSceneDef def = snwDefaultSceneDef();
    def.method = "apd";
    def.gravity = (snwVec3){0, -9.81, 0};
    def.bodies = &body, def.bodyCount = 1;
    def.pins = &pin, def.pinCount = world->pinned;
    def.colliders = &ground, def.colliderCount = world->ground;
    def.settings = settings, def.settingCount = 7;
    snwScene* scene = NULL;
    snwMessage message = {0};
    if (snwCreateScene(context, &def, &scene, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    snwCharacter_Release(bar);
    return scene;
}

static snwSim* MakeWorld(snwContext* context, const World* world)
{
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    snwMessage message = {0};
    def.scene = MakeScene(context, world);
    if (snwCreateSim(context, &def, &sim, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    snwScene_Release(def.scene);
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
    snwSim* ours = MakeWorld(context, &world);
    world.solver = snw_apdLiteral;
    snwSim* literal = MakeWorld(context, &world);
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

// S = Q_b - Q_c Q_f^-1 Q_c^T from its columns and from the factor's G, at a pose that is not the rest pose.
TEST(apdBaselines, literalMatrixIsOurs)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World world = DefaultWorld(snw_apdLiteral);
    world.spin = (snwVec3){3, 2, 1};
    world.pinned = false;
    snwSim* sim = MakeWorld(context, &world);
    REQUIRE(sim != NULL);
    snwFixture_Run(sim, 10, 1.0 / 60);
    snwApdBody* body = snwApd_Body(sim, 0);
    double columns[12][12], scale[12];
    snwApd_MakeColumns(sim, 0);
    memcpy(columns, body->small.matrix, sizeof columns);
    snwApd_MakeMetric(body, snwCholesky_Schur(body->factor));
    const double* ours = body->small.matrix;
    CHECK_INT(body->small.size, 12);
    for (int i = 0; i < 12; ++i)
    {
        scale[i] = sqrt(ours[13 * i]);
        for (int j = 0; j <= i; ++j)
            CHECK_NEAR(columns[i][j] / (scale[i] * scale[j]), ours[12 * i + j] / (scale[i] * scale[j]), 1e-5);
    }
    snwDestroySim(sim);
    snwDestroyContext(context);
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
        snwSim* sim = MakeWorld(context, &world);
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
    snwSim* ours = MakeWorld(context, &world);
    world.solver = snw_apdSplit;
    snwSim* split = MakeWorld(context, &world);
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
    world.bar.material.young = 5e4;
    snwSim* sim = MakeWorld(context, &world);
    snwMeasures start, now;
    double most = -1e30;
    snwSim_GetMeasures(sim, 0, &start);
    for (int frame = 0; frame < 30; ++frame)
    {
        snwFixture_Run(sim, 1, 1.0 / 30);
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
    double longer = MostEnergyOverStart(context, snw_apdSplit, 40);
    CHECK(ours <= 0);
    CHECK(split > 5 && longer > 5); // J, of about 100 that the fall gives
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stable constrained dynamics

typedef struct Sample
{
    snwVec3 gradients[4], x[4];
    snwElasticWeight weight;
    snwTruthTet truth;
} Sample;

static double Signed(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwVec3 RandomVec(uint64_t* seed, double size)
{
    return (snwVec3){size * Signed(seed), size * Signed(seed), size * Signed(seed)};
}

// A tet that is turned, stretched in every direction by about `stretch` and bent a little.
static Sample RandomTet(uint64_t* seed, double stretch)
{
    Sample s;
    snwVec3 rest[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    snwQuat turn = snwQuat_FromRotationVector(RandomVec(seed, 2));
    snwMaterial material = {.density = 1000, .young = 1 + snwTest_Random(seed), .poisson = 0.45 * snwTest_Random(seed)};
    snwVec3 edges[3];
    for (int a = 0; a < 4; ++a)
    {
        rest[a] = snwVec3_Add(rest[a], RandomVec(seed, 0.1));
        s.x[a] = snwQuat_Rotate(turn, snwVec3_MulAdd(RandomVec(seed, 0.02), stretch, rest[a]));
    }
    for (int a = 0; a < 3; ++a)
        edges[a] = snwVec3_Sub(rest[a + 1], rest[0]);
    snwMat3 matrix = snwMat3_FromColumns(edges[0], edges[1], edges[2]), inverse = {{{0}}};
    snwMat3_Inverse(matrix, &inverse);
    s.gradients[0] = (snwVec3){0, 0, 0};
    for (int a = 0; a < 3; ++a)
    {
        s.gradients[a + 1] = snwMat3_Row(inverse, a);
        s.gradients[0] = snwVec3_Sub(s.gradients[0], s.gradients[a + 1]);
    }
    s.weight = snwElastic_Weigh(snw_elasticCorotated, &material, snwMat3_Determinant(matrix) / 6, 0, 1);
    s.truth = snwTruthTet_Make(rest, &material);
    return s;
}

static double Curvature(const snwApdTangent* tangent, double truth[12][12], const double d[12], double* exact)
{
    double sum = 0;
    *exact = 0;
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
        {
            sum += d[i] * tangent->blocks[i / 3][j / 3].m[i % 3][j % 3] * d[j];
            *exact += d[i] * truth[i][j] * d[j];
        }
    return sum;
}

TEST(apdBaselines, tangentIsThatOfTheEnergyAndNeverNegative)
{
    uint64_t seed = 5;
    int negative = 0;
    for (int round = 0; round < 200; ++round)
    {
        bool wide = round % 2 == 0;
        Sample s = RandomTet(&seed, wide ? 1.3 : 0.6);
        snwApdTangent tangent;
        double gradient[12], hessian[12][12], d[12], exact;
        snwTruthTet_Gradient(&s.truth, s.x, gradient);
        snwTruthTet_Hessian(&s.truth, s.x, hessian);
        snwApd_LineariseTet(s.gradients, &s.weight, s.x, &tangent);
        for (int i = 0; i < 12; ++i)
        {
            const double f[3] = {tangent.forces[i / 3].x, tangent.forces[i / 3].y, tangent.forces[i / 3].z};
            CHECK_NEAR(f[i % 3], -gradient[i], 1e-12);
            for (int j = 0; j < 12 && wide; ++j)
                CHECK_NEAR(tangent.blocks[i / 3][j / 3].m[i % 3][j % 3], hessian[i][j], 1e-12);
        }
        snwVec3 spin = RandomVec(&seed, 1); // a turn is where compression makes the energy's curvature negative
        for (int a = 0; a < 4; ++a)
        {
            snwVec3 v = snwVec3_Cross(spin, s.x[a]);
            d[3 * a] = v.x, d[3 * a + 1] = v.y, d[3 * a + 2] = v.z;
        }
        CHECK(Curvature(&tangent, hessian, d, &exact) >= -1e-12);
        negative += exact < -1e-3;
    }
    CHECK(negative > 80);
}

// One linearised step is the whole implicit one to first order in the step, for the same energy.
TEST_HEAVY(apdBaselines, constrainedIsStiffAtSmallSteps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double gaps[2];
    for (int k = 0; k < 2; ++k)
    {
        World world = DefaultWorld(snw_apdConstrained);
        world.ratio = 5; // which the other solves to the end
        world.iterations = 200;
        snwSim* constrained = MakeWorld(context, &world);
        world.solver = snw_apdStiff;
        snwSim* stiff = MakeWorld(context, &world);
        snwFixture_Run(constrained, 10 << k, 1.0 / (250 << k));
        snwFixture_Run(stiff, 10 << k, 1.0 / (250 << k));
        gaps[k] = Largest(constrained, stiff);
        CHECK(Travel(stiff) > 5e-3);
        snwDestroySim(constrained);
        snwDestroySim(stiff);
    }
    CHECK(gaps[0] < 1e-5);
    CHECK(gaps[1] < 0.6 * gaps[0]);
    snwDestroyContext(context);
}

TEST_HEAVY(apdBaselines, constrainedTakesEnergyAwayWhateverTheIterations)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World world = DefaultWorld(snw_apdConstrained);
    snwSim* sim = MakeWorld(context, &world);
    world.iterations = 1;
    snwSim* other = MakeWorld(context, &world);
    snwMeasures start, now;
    snwSim_GetMeasures(sim, 0, &start);
    for (int frame = 0; frame < 30; ++frame)
    {
        snwFixture_Run(sim, 1, 1.0 / 60);
        snwFixture_Run(other, 1, 1.0 / 60);
        snwSim_GetMeasures(sim, 0, &now);
        CHECK(now.energy < start.energy);
        CHECK(Largest(sim, other) == 0);
    }
    CHECK(Travel(sim) > 0.3);
    snwDestroySim(sim);
    snwDestroySim(other);
    snwDestroyContext(context);
}

TEST_HEAVY(apdBaselines, constrainedLiesOnTheGround)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World world = DefaultWorld(snw_apdConstrained);
    world.pinned = false;
    world.ground = true;
    snwSim* sim = MakeWorld(context, &world);
    double bottom = sim->bodies[0].character->lower.y, lowest = 1e3, fastest = 0;
    snwFixture_Run(sim, 120, 1.0 / 60);
    for (int i = 0; i < sim->bodies[0].character->def.vertexCount; ++i)
    {
        lowest = fmin(lowest, Positions(sim)[i].y);
        fastest = fmax(fastest, snwVec3_Length(snwApd_GetState(sim, 0).velocities[i]));
    }
    CHECK_NEAR(lowest, bottom - 0.02, 1e-3);
    CHECK(fastest < 1e-2);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

static void CheckRefused(snwContext* context, const snwCharacter* character, snwElasticLaw law, const char* words)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.character = (snwCharacter*)character;
    snwSetting settings[] = {{"apd.solver", snw_apdConstrained}, {"apd.law", law}};
    snwSceneDef def = snwDefaultSceneDef();
    def.method = "apd";
    def.bodies = &body, def.bodyCount = 1;
    def.settings = settings, def.settingCount = 2;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    snwMessage message = {0};
    REQUIRE(snwCreateScene(context, &def, &simDef.scene, &message) >= 0);
    CHECK_INT(snwCreateSim(context, &simDef, &sim, &message), snw_errorUnsupported);
    CHECK_CONTAINS(message.text, words);
    snwScene_Release(simDef.scene);
}

TEST(apdBaselines, constrainedRefusesWhatItCannotDo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter *small = snwFixture_Shape(context, snw_shapeBlock, 2),
                 *large = snwFixture_Shape(context, snw_shapeBlock, 27);
    CHECK(large->def.vertexCount > snw_apdMaxConstrained);
    CheckRefused(context, small, snw_elasticVolume, "volume");
    CheckRefused(context, large, snw_elasticCorotated, "vertices");
    snwCharacter_Release(small);
    snwCharacter_Release(large);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stiffness instead of bones

// rad: turn of the right bone after a quarter of a second, as fitted to its vertices where it is flesh.
static double TurnAfter(snwContext* context, snwApdSolver solver, int iterations)
{
    World world = DefaultWorld(solver);
    world.iterations = iterations;
    snwSim* sim = MakeWorld(context, &world);
    snwTransforms bones = {0};
    snwFixture_Run(sim, 15, 1.0 / 60);
    snwSim_GetBones(sim, 0, &bones);
    double angle = snwQuat_Angle(snwQuat_Identity(), bones.data[1].rotation);
    snwDestroySim(sim);
    return angle;
}

// Fig. 1: rigid bones turn as far in ten iterations as in a hundred; stiff ones not half as far.
TEST(apdBaselines, stiffBonesLockAndRigidOnesTurn)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double ours = TurnAfter(context, snw_apdArticulated, 10), more = TurnAfter(context, snw_apdArticulated, 100);
    double stiff = TurnAfter(context, snw_apdStiff, 10);
    CHECK_NEAR(ours, more, 0.02 * more);
    CHECK(stiff < 0.5 * ours);
    snwDestroyContext(context);
}

// `plain` takes no notice of bones at all, and `stiff` is plain where they are as soft as flesh.
TEST(apdBaselines, plainAndStiffAreOneWithoutBones)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World world = DefaultWorld(snw_apdPlain);
    snwSim* plain = MakeWorld(context, &world);
    world.solver = snw_apdStiff;
    world.ratio = 1;
    snwSim* soft = MakeWorld(context, &world);
    world.ratio = 500;
    snwSim* stiff = MakeWorld(context, &world);
    world.bar.boneless = true;
    world.solver = snw_apdArticulated;
    snwSim* boneless = MakeWorld(context, &world);
    snwSim* all[] = {plain, soft, stiff, boneless};
    for (int i = 0; i < 4; ++i)
        snwFixture_Run(all[i], 10, 1.0 / 60);
    CHECK(Travel(plain) > 0.05);
    CHECK(Largest(plain, soft) == 0);
    CHECK(Largest(plain, boneless) == 0);
    CHECK(Largest(plain, stiff) > 1e-3);
    for (int i = 0; i < 4; ++i)
        snwDestroySim(all[i]);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// What holds for every solver

TEST_HEAVY(apdBaselines, anyThreadsAndInstructionSetsGiveTheSameBits) // Labels: threads
{
    const int threads[] = {1, 3, 2, 2};
    const snwSimd simd[] = {snw_simdAuto, snw_simdAuto, snw_simdScalar, snw_simdBase};
    for (int solver = snw_apdSplit; solver < snw_apdSolverCount; ++solver)
    {
        uint64_t first = 0;
        for (int k = 0; k < 4; ++k)
        {
            World world = DefaultWorld((snwApdSolver)solver);
            snwContext* context = snwFixture_Context(threads[k], simd[k], NULL);
            world.ground = true;
            snwSim* sim = MakeWorld(context, &world);
            snwFixture_Run(sim, 8, 1.0 / 60);
            first = k == 0 ? snwSim_Hash(sim) : first;
            CHECK(snwSim_Hash(sim) == first);
            snwDestroySim(sim);
            snwDestroyContext(context);
        }
    }
}

TEST(apdBaselines, steadyStepsUseNoHeap)
{
    for (int solver = snw_apdSplit; solver < snw_apdSolverCount; ++solver)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        World world = DefaultWorld((snwApdSolver)solver);
        snwSim* sim = MakeWorld(context, &world);
        long before = counter.allocations;
        snwFixture_Run(sim, 3, 1.0 / 60);
        CHECK_INT(counter.allocations, before);
        snwDestroySim(sim);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
}

// Every third one: the rest of the way is that of other tests.
TEST(apdBaselines, failedAllocationsAreErrorsWithoutLeak)
{
    for (int solver = snw_apdSplit; solver < snw_apdSolverCount; ++solver)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        World world = DefaultWorld((snwApdSolver)solver);
        snwSimDef def = snwDefaultSimDef();
        def.scene = MakeScene(context, &world);
        bool reached = true;
        long n = 0;
        while (reached && n < 10000)
        {
            snwSim* sim = NULL;
            snwMessage message = {0};
            counter.failAt = counter.allocations + (n += 3);
            snwResult result = snwCreateSim(context, &def, &sim, &message);
            reached = counter.allocations >= counter.failAt;
            CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
            snwDestroySim(sim);
        }
        CHECK(n > 20 && !reached);
        snwScene_Release(def.scene);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
}
