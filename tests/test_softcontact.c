// The method softcontact in sims.
// Labels: kernels threads

#include "fixture.h"
#include "rig/skeleton.h"
#include "sim/softcontact/softcontact.h"
#include "sinew/tools.h"
#include "test.h"

typedef struct Run
{
    snwContext* context;
    snwSceneFile file;
    snwSim* sim;
} Run;

// Opens a scene's text; the method that it names is not looked at.
static snwResult OpenScene(Run* run, int threads, snwSimd simd, const char* text, snwMessage* message)
{
    *run = (Run){.context = snwFixture_Context(threads, simd, NULL)};
    char* plain = snwFixture_Unpainted(text);
    snwResult result = snwSceneFile_Parse(run->context, plain, strlen(plain), "test", NULL, &run->file, message);
    free(plain);
    if (result < 0)
        return result;
    snwSimDef def = snwDefaultSimDef();
    def.scene = run->file.scene;
    return snwCreateSimWith(run->context, &def, &snwSoftcontactMethod, &run->sim, message);
}

static bool Open(Run* run, int threads, snwSimd simd, const char* text)
{
    snwMessage message;
    if (OpenScene(run, threads, simd, text, &message) >= 0)
        return true;
    snwTest_Fail(__FILE__, __LINE__, "%s %s", message.place, message.text);
    return false;
}

static void Close(Run* run)
{
    snwDestroySim(run->sim);
    snwSceneFile_Close(&run->file);
    snwDestroyContext(run->context);
}

static double Own(const snwSim* sim, int body, int measure)
{
    double values[snw_softMeasureCount];
    snwSoftcontactMethod.getMeasures(sim, body, values);
    return values[measure];
}

#define BLOCK(position)                                                                                                \
    "{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [4, 4, 4], "    \
    "\"material\": {\"density\": 200, \"young\": 10000.0, \"poisson\": 0.4, \"damping\": 1}}, \"position\": " position \
    ", \"angles\": [20, 10, 30]}"
#define GROUND "\"colliders\": [{\"name\": \"ground\", \"kind\": \"plane\", \"friction\": 0.8}]"
#define SCENE(bodies, rest)                                                                                            \
    "{\"sinew\": 1, \"name\": \"test\", \"method\": \"pbd\", \"rate\": 60, \"duration\": 2, \"bodies\": [" bodies      \
    "]" rest "}"

static const double s_dt = 1.0 / 60;

TEST(softcontact, aBlockFallsAndLies)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto, SCENE(BLOCK("[0, 0.6, 0]"), ", " GROUND)));
    double deepest = 0;
    for (int i = 0; i < 180; ++i)
    {
        snwFixture_Run(run.sim, 1, s_dt);
        snwVertices vertices;
        snwSim_GetVertices(run.sim, 0, &vertices);
        for (int v = 0; v < vertices.count; ++v)
        {
            const float* row = (const float*)(const void*)((const char*)vertices.positions + v * vertices.stride);
            deepest = fmin(deepest, row[1]);
        }
    }
    double weight = 0.3 * 0.3 * 0.3 * 200 * 9.81;
    CHECK(deepest > -1e-4 * 0.3);
    CHECK_NEAR(Own(run.sim, 0, snw_softMeasureForceY), weight, 0.005 * weight);
    CHECK_INT(Own(run.sim, 0, snw_softMeasureFailures), 0);
    CHECK_INT(Own(run.sim, 0, snw_softMeasureContacts), 25);
    snwMeasures m;
    CHECK(snwSim_GetMeasures(run.sim, 0, &m) == snw_ok);
    CHECK(m.maxSpeed < 1e-4);

    // What is told of contacts adds up to the same.
    snwContacts contacts;
    double sum = 0;
    snwSim_GetContacts(run.sim, &contacts);
    for (int c = 0; c < contacts.count; ++c)
        sum += contacts.data[c].force[1];
    CHECK_NEAR(sum, weight, 0.005 * weight);
    Close(&run);
}

TEST(softcontact, bitsDoNotDependOnThreadsOrInstructionSets)
{
    uint64_t hashes[3];
    const int threads[] = {1, 3, 1};
    const snwSimd sets[] = {snw_simdAuto, snw_simdAuto, snw_simdScalar};
    for (int i = 0; i < 3; ++i)
    {
        Run run;
        REQUIRE(Open(&run, threads[i], sets[i], SCENE(BLOCK("[0, 0.4, 0]"), ", " GROUND)));
        snwFixture_Run(run.sim, 40, s_dt);
        hashes[i] = snwSim_Hash(run.sim);
        Close(&run);
    }
    CHECK(hashes[0] == hashes[1]);
    CHECK(hashes[0] == hashes[2]);
}

TEST(softcontact, savedStatesGoOnWithTheSameBits)
{
    Run run, other;
    const char* scene = SCENE(BLOCK("[0, 0.4, 0]"),
        ", " GROUND ", \"props\": [{\"name\": \"ball\", \"kind\": \"sphere\", "
        "\"radius\": 0.1, \"density\": 300, \"position\": [0.05, 0.9, 0]}]");
    REQUIRE(Open(&run, 1, snw_simdAuto, scene));
    REQUIRE(Open(&other, 1, snw_simdAuto, scene));
    uint64_t seed = 3;
    for (int i = 0; i < 20; ++i)
    {
        static char data[1 << 20];
        size_t size;
        snwMessage message;
        snwFixture_Run(run.sim, 1 + (int)(8 * snwTest_Random(&seed)), s_dt);
        CHECK(snwSim_Save(run.sim, data, sizeof data, &size, &message) == snw_ok);
        CHECK(snwSim_Restore(other.sim, data, size, &message) == snw_ok);
        snwFixture_Run(run.sim, 2, s_dt), snwFixture_Run(other.sim, 2, s_dt);
        CHECK(snwSim_Hash(run.sim) == snwSim_Hash(other.sim));
    }
    Close(&run), Close(&other);
}

TEST(softcontact, aPushGivesItsImpulse)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto, SCENE(BLOCK("[0, 2, 0]"), ", \"gravity\": [0, 0, 0]")));
    for (int vertex = -1; vertex < 125; vertex += 62) // the whole body, a vertex inside, one of the skin
    {
        snwMeasures before, after;
        snwCommand push = snwDefaultCommand(snw_commandPush);
        push.index = vertex, push.vector = (snwVec3){3, -1, 2}, push.value = 0.5;
        CHECK(snwSim_Push(run.sim, &push, NULL) == snw_ok);
        snwSim_GetMeasures(run.sim, 0, &before);
        snwFixture_Run(run.sim, 60, s_dt);
        snwSim_GetMeasures(run.sim, 0, &after);
        CHECK_NEAR(after.momentum.x - before.momentum.x, 1.5, 0.01);
        CHECK_NEAR(after.momentum.y - before.momentum.y, -0.5, 0.01);
        CHECK_NEAR(after.momentum.z - before.momentum.z, 1, 0.01);
    }
    Close(&run);
}

// A ball on a block on the ground: props are in the same problem.
TEST(softcontact, propsLieOnSoftBodies)
{
    Run run;
    const char* block = "{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.4, 0.2, 0.4], "
                        "\"cells\": [4, 2, 4]}, \"position\": [0, 0.1, 0]}";
    char scene[2000];
    snprintf(scene, sizeof scene,
        SCENE("%s", ", %s, \"props\": [{\"name\": \"plate\", \"kind\": \"box\", \"half_size\": "
                    "[0.15, 0.02, 0.15], \"density\": 2000, \"position\": [0, 0.24, 0]}]"),
        block, GROUND);
    REQUIRE(Open(&run, 1, snw_simdAuto, scene));
    snwFixture_Run(run.sim, 150, s_dt);
    snwProps props;
    snwSim_GetProps(run.sim, &props);
    CHECK_NEAR(props.data[0].transform.position.y, 0.22, 0.004);
    CHECK(snwVec3_Length(props.data[0].velocity) < 1e-3);
    snwMeasures m;
    snwSim_GetMeasures(run.sim, 0, &m);
    double plate = 0.3 * 0.04 * 0.3 * 2000 * 9.81, weight = 0.4 * 0.2 * 0.4 * 1000 * 9.81;
    CHECK_NEAR(Own(run.sim, 0, snw_softMeasureForceY), weight, 0.01 * weight + 0.01 * plate);
    Close(&run);
}

TEST_HEAVY(softcontact, aFigureWithSoftSkinFallsAndLies)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto,
        SCENE("{\"name\": \"biped\", \"character\": {\"blueprint\": \"biped\", \"size\": {\"vertices\": 600}}, "
              "\"position\": [0, 0.2, 0], \"angles\": [0, 0, 20]}",
            ", " GROUND)));
    double gap = 0;
    for (int i = 0; i < 240; ++i)
    {
        snwFixture_Run(run.sim, 1, s_dt);
        snwMeasures m;
        snwSim_GetMeasures(run.sim, 0, &m);
        gap = fmax(gap, m.jointGap);
    }
    CHECK(gap < 1e-12);
    double mass;
    snwSoftBody_Centre(&((const snwSoftScratch*)run.sim->scratch)->bodies[0], &mass);
    CHECK_NEAR(Own(run.sim, 0, snw_softMeasureForceY), 9.81 * mass, 0.05 * 9.81 * mass);
    CHECK(Own(run.sim, 0, snw_softMeasureFailures) <= 10); // of 960 problems
    Close(&run);
}

TEST(softcontact, farFromHomeAllIsTheSame)
{
    static const char* const scenes[2] = {
        SCENE(BLOCK("[0, 0.4, 0]"), ", " GROUND), SCENE(BLOCK("[512, 0.4, 0]"), ", " GROUND)};
    double forces[2], heights[2];
    for (int i = 0; i < 2; ++i)
    {
        Run run;
        REQUIRE(Open(&run, 1, snw_simdAuto, scenes[i]));
        snwFixture_Run(run.sim, 60, s_dt);
        snwMeasures m;
        snwSim_GetMeasures(run.sim, 0, &m);
        forces[i] = Own(run.sim, 0, snw_softMeasureForceY), heights[i] = m.centre.y;
        Close(&run);
    }
    CHECK_NEAR(forces[1], forces[0], 0.05 * forces[0]);
    CHECK_NEAR(heights[1], heights[0], 1e-5);
}

TEST(softcontact, memoryThatRunsOutIsAnError)
{
    snwCountingAllocator counter = {0};
    Run run = {.context = snwFixture_Context(1, snw_simdAuto, &counter)};
    snwMessage message;
    char* plain = snwFixture_Unpainted(SCENE(BLOCK("[0, 1, 0]"), ", " GROUND));
    CHECK(snwSceneFile_Parse(run.context, plain, strlen(plain), "test", NULL, &run.file, &message) >= 0);
    free(plain);
    snwSimDef def = snwDefaultSimDef();
    def.scene = run.file.scene;
    snwResult result = snw_errorMemory;
    int tries = 0;
    for (; result < 0 && tries < 400; ++tries)
    {
        // The model stays with the character once it is made.
        counter.failAt = counter.allocations + 1 + tries;
        result = snwCreateSimWith(run.context, &def, &snwSoftcontactMethod, &run.sim, &message);
        counter.failAt = 0;
        CHECK(result >= 0 || result == snw_errorMemory);
    }
    CHECK(tries > 40 && result >= 0);
    snwDestroySim(run.sim);
    snwSceneFile_Close(&run.file);
    snwDestroyContext(run.context);
    CHECK_INT(counter.live, 0);
}

// One rigid piece that is to be folded.
TEST(softcontact, whatItCannotDoItSays)
{
    Run run;
    snwMessage message;
    CHECK_INT(OpenScene(&run, 1, snw_simdAuto,
                  SCENE("{\"name\": \"bar\", \"character\": {\"shape\": \"bar\", \"cells\": [8, 2, 2]}}",
                      ", \"pins\": [{\"name\": \"left\", \"body\": \"bar\", \"lower\": [-2, -1, -1], \"upper\": [-0.4, "
                      "1, 1]}, {\"name\": \"right\", \"body\": \"bar\", \"lower\": [0.4, -1, -1], \"upper\": [2, 1, "
                      "1]}], \"clips\": [{\"pin\": \"left\", \"keys\": [{\"time\": 1, \"position\": [0, 1, 0]}]}]"),
                  &message),
        snw_errorUnsupported);
    CHECK_CONTAINS(message.text, "'left' and 'right'");
    snwSceneFile_Close(&run.file);
    snwDestroyContext(run.context);
}

// ---------------------------------------------------------------------------------------------------------------------
// What holds and leads

static snwVec3 VertexAt(const Run* run, int vertex)
{
    return snwSoft_VertexPlace(run->sim, 0, vertex);
}

// Its weight hangs on the spring of grip.h: k = 2 E r s / (1 - s), and bears on the skin that the hand holds.
TEST(softcontact, aHandHoldsByItsSpring)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto, SCENE(BLOCK("[0, 1, 0]"), "")));
    snwCommand drag = snwDefaultCommand(snw_commandDrag);
    drag.index = 62, drag.radius = 0.1, drag.value = 0.2, drag.transform.position = (snwVec3){0.3, 1.5, 0};
    CHECK(snwSim_Push(run.sim, &drag, NULL) == snw_ok);
    snwFixture_Run(run.sim, 600, s_dt);
    double weight = 0.3 * 0.3 * 0.3 * 200 * 9.81, spring = 2 * 1e4 * 0.1 * 0.2 / 0.8;
    snwVec3 held = VertexAt(&run, 62);
    CHECK_NEAR(held.x, 0.3, 1e-3);
    CHECK_NEAR(held.z, 0, 1e-3);
    CHECK_NEAR(1.5 - held.y, weight / spring, 0.02 * weight / spring);
    drag.on = false;
    CHECK(snwSim_Push(run.sim, &drag, NULL) == snw_ok);
    snwFixture_Run(run.sim, 30, s_dt);
    CHECK(VertexAt(&run, 62).y < held.y - 1);
    Close(&run);
}

// A face that a clip turns: three vertices hold the body as all would.
TEST(softcontact, pinsHoldAndLeadBones)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto,
        SCENE("{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [4, "
              "4, 4]}}",
            ", \"pins\": [{\"name\": \"side\", \"body\": \"block\", \"lower\": [-1, -1, -1], \"upper\": [-0.149, 1, "
            "1]}], "
            "\"clips\": [{\"pin\": \"side\", \"keys\": [{\"time\": 0}, {\"time\": 1, \"position\": [0.1, 0.2, 0], "
            "\"angles\": [0, 0, 90]}]}]")));
    snwFixture_Run(run.sim, 90, s_dt);
    const snwPinSet* set = &run.sim->pinSets[0];
    CHECK_INT(set->count, 25);
    for (int i = 0; i < set->count; ++i)
        CHECK_NEAR(
            snwVec3_Distance(VertexAt(&run, set->vertices[i]), snwPinSet_Target(set, &run.sim->pins[0], i)), 0, 1e-6);
    snwMeasures m;
    snwSim_GetMeasures(run.sim, 0, &m);
    CHECK(m.kinetic < 1e-9);
    Close(&run);
}

#define BIPED(more)                                                                                                    \
    "{\"name\": \"biped\", \"character\": {\"blueprint\": \"biped\", \"size\": {\"vertices\": 400}}" more "}"

static double JointError(const Run* run, double time)
{
    const snwCharacter* character = run->sim->bodies[0].character;
    const snwMotionDef* motion = snwSim_BodyMotion(run->sim, 0);
    snwTransform wanted[64];
    snwTransforms now;
    double most = 0;
    snwSkeleton_Pose(&character->skeleton, motion, snwSim_MotionTime(run->sim, 0, time), wanted);
    snwSim_GetBones(run->sim, 0, &now);
    for (int j = 0; j < character->def.jointCount; ++j)
    {
        int bone = character->def.joints[j].bone, parent = character->def.joints[j].parentBone;
        snwQuat is = snwQuat_Mul(snwQuat_Conjugate(now.data[parent].rotation), now.data[bone].rotation);
        snwQuat shall = snwQuat_Mul(snwQuat_Conjugate(wanted[parent].rotation), wanted[bone].rotation);
        most = fmax(most, snwQuat_Angle(is, shall));
    }
    return most;
}

TEST(softcontact, jointsFollowTheMotion)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto, SCENE(BIPED(", \"motion\": \"walk\""), ", \"gravity\": [0, 0, 0]")));
    double most = 0;
    for (int i = 1; i <= 90; ++i)
    {
        snwFixture_Run(run.sim, 1, s_dt);
        most = i > 30 ? fmax(most, JointError(&run, i * s_dt)) : 0;
    }
    CHECK(most < 0.1);
    CHECK(most > 0);
    Close(&run);
}

// Two places at once, under weight, one with a turn; the pelvis is pinned.
TEST(softcontact, bonesReachTheirPlaces)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto,
        SCENE(BIPED(""), ", \"settings\": {\"softcontact.hold\": true}, \"pins\": [{\"name\": \"hips\", \"body\": "
                         "\"biped\", \"lower\": [-0.1, 0.93, -1], \"upper\": [0.1, 1.0, 1]}]")));
    const snwCharacterDef* def = &run.sim->bodies[0].character->def;
    snwCommand reach = snwDefaultCommand(snw_commandHandle);
    const char* names[2] = {"forearm.l", "forearm.r"};
    const snwVec3 places[2] = {{0.25, 1.45, 0.2}, {-0.3, 1.2, 0.15}};
    for (int i = 0; i < 2; ++i)
    {
        reach.index = snwCharacterDef_FindBone(def, names[i]);
        reach.mask = snw_dofX | snw_dofY | snw_dofZ, reach.transform.position = places[i];
        CHECK(snwSim_Push(run.sim, &reach, NULL) == snw_ok);
    }
    snwFixture_Run(run.sim, 300, s_dt);
    snwTransforms handles;
    snwSim_GetHandles(run.sim, 0, &handles);
    for (int i = 0; i < 2; ++i)
    {
        int bone = snwCharacterDef_FindBone(def, names[i]);
        snwVec3 at = snwTransform_Apply(handles.data[bone], snwCharacterDef_BonePoint(def, bone));
        CHECK_NEAR(snwVec3_Distance(at, places[i]), 0, 2e-3);
    }
    Close(&run);
}

// Flesh ten times as stiff has a tenth of the sink; of one body alone.
TEST(softcontact, aStifferMaterialHasAStifferSkin)
{
    Run run;
    double heights[2];
    REQUIRE(Open(&run, 1, snw_simdAuto,
        SCENE("{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [4, "
              "4, 4]}, "
              "\"position\": [0, 0.15, 0]}",
            ", " GROUND)));
    snwCommand stiffer = snwDefaultCommand(snw_commandMaterial);
    stiffer.material = run.sim->bodies[0].materials[0];
    stiffer.material.young *= 10;
    for (int i = 0; i < 2; ++i)
    {
        snwMeasures m;
        snwFixture_Run(run.sim, 180, s_dt);
        snwSim_GetMeasures(run.sim, 0, &m);
        heights[i] = 0.15 - m.centre.y;
        CHECK(snwSim_Push(run.sim, &stiffer, NULL) == snw_ok);
    }
    CHECK(heights[0] > 1e-3);
    CHECK_NEAR(heights[1], 0.1 * heights[0], 0.02 * heights[0]);
    Close(&run);
}

// In flight, turning: nothing jumps but, when it falls asleep, what the skin moved besides.
TEST(softcontact, softAndHardAtAnyTime)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto,
        SCENE("{\"name\": \"block\", \"character\": {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [4, "
              "4, 4]}, "
              "\"velocity\": [1, 2, 0], \"angular_velocity\": [3, 1, 2]}",
            ", \"gravity\": [0, 0, 0]")));
    snwCommand mode = snwDefaultCommand(snw_commandParam);
    mode.index = snw_sharedParamCount + snw_softMode;
    snwMeasures before, after;
    for (int i = 0; i < 4; ++i)
    {
        snwFixture_Run(run.sim, 5, s_dt);
        snwSim_GetMeasures(run.sim, 0, &before);
        mode.value = i % 2 == 0 ? 2 : 1;
        CHECK(snwSim_Push(run.sim, &mode, NULL) == snw_ok);
        snwFixture_Run(run.sim, 1, s_dt);
        snwSim_GetMeasures(run.sim, 0, &after);
        CHECK_INT(Own(run.sim, 0, snw_softMeasureActive), i % 2 == 0 ? 98 : 0);
        CHECK_NEAR(snwVec3_Distance(before.momentum, after.momentum), 0, 1e-10);
        CHECK_NEAR(snwVec3_Distance(before.angularMomentum, after.angularMomentum), 0, 1e-10);
        CHECK(after.kinetic + after.elastic <= 1.0005 * (before.kinetic + before.elastic));
        CHECK(after.kinetic > 0.99 * before.kinetic);
    }
    Close(&run);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies that bones say themselves

#define WALKER(position)                                                                                               \
    "{\"name\": \"walker\", \"character\": {\"blueprint\": \"walker\", \"size\": {\"tets\": 4000}}, "                  \
    "\"position\": " position "}"

// The published figure: masses, moments, freedoms, points.
TEST(softcontact, theWalkerIsThePublishedFigure)
{
    Run run;
    REQUIRE(Open(&run, 1, snw_simdAuto, SCENE(WALKER("[0, 0, 0]"), ", " GROUND)));
    const snwSoftModel* model = run.sim->bodies[0].model;
    CHECK_INT(model->linkCount, 15);
    CHECK_INT(model->freedom, 34);
    CHECK_INT(model->pointCount, 100);
    CHECK_INT(model->freedom + 3 * model->pointCount, 334);

    static const struct
    {
        const char* name;
        double mass, moments[3];
        snwVec3 centre;
    } bodies[] = {{"pelvis", 12.9, {.0705, .11, .13}, {0, 1.035, 0}},
        {"torso", 22.5, {.34, .21, .46}, {0, 1.435, -.025}}, {"thigh.r", 6.6, {.15, .022, .15}, {-.1, .775, 0}},
        {"foot.l", 1, {.007, .008, .002}, {.1, .035, .05}},
        {"forearm.r", 1.7, {.0024, .025, .025}, {-.76, 1.505, .001}},
        {"toes.r", .2, {.002, .002, .0005}, {-.1, .015, .125}}};
    const snwCharacterDef* def = &model->character->def;
    snwSoftBody* body = &((snwSoftScratch*)run.sim->scratch)->bodies[0];
    const snwVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i)
    {
        int bone = 0;
        while (strcmp(def->bones[bone].name, bodies[i].name) != 0)
            ++bone;
        const snwLinkMass* mass = &body->masses[model->linkOfBone[bone]]; // asleep: with its skin
        snwVec3 centre = snwVec3_Scale(mass->moment, 1 / mass->mass);
        snwVec3 at = snwVec3_Add(model->links[model->linkOfBone[bone]].joint.position, centre);
        snwLinkMass about = *mass;
        snwLinkMass_AddPoint(&about, -mass->mass, centre);
        CHECK_NEAR(mass->mass, bodies[i].mass, 1e-12);
        CHECK_NEAR(snwVec3_Distance(at, bodies[i].centre), 0, 1e-12);
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR(snwVec3_Dot(axes[k], snwMat3_MulVec(about.inertia, axes[k])), bodies[i].moments[k], 1e-12);
    }
    double all = 0;
    snwSoftBody_Centre(body, &all);
    CHECK_NEAR(all, 70.4, 1e-12);
    CHECK_INT(def->jointCount, 14);
    CHECK_NEAR(def->joints[6].upper2, 1.9, 1e-9);
    CHECK_NEAR(def->joints[7].lower3, -0.25, 1e-9);

    // It comes down on its soles, sinks in by what its springs say, and falls as nothing holds its joints.
    snwFixture_Run(run.sim, 3, s_dt);
    CHECK(Own(run.sim, 0, snw_softMeasureActive) >= 18);
    snwFixture_Run(run.sim, 177, s_dt);
    CHECK_NEAR(Own(run.sim, 0, snw_softMeasureForceY), 70.4 * 9.81, 0.05 * 70.4 * 9.81);
    CHECK(Own(run.sim, 0, snw_softMeasureFailures) <= 2);
    snwVec3 centre = snwSoftBody_Centre(body, &all);
    CHECK(centre.y > 0.05 && centre.y < 0.4);
    Close(&run);
}
