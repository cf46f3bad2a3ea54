// The frame around the methods: commands, determinism, save and restore, errors.
// Labels: kernels

#include "fixture.h"
#include "math/vec.h"
#include "sim/method.h"
#include "test.h"

#include <stdlib.h>

static const double s_dt = 1.0 / 60.0;

// A lively scene that uses everything: contact, pins, spin, scripted commands.
static snwFixtureScene LivelyScene(snwCommand script[6])
{
    for (int i = 0; i < 6; ++i)
        script[i] = snwDefaultCommand(snw_commandPush);
    script[0].step = 20, script[0].vector = (snwVec3){40, 60, 0}, script[0].value = 0.2;
    script[1] = snwDefaultCommand(snw_commandDrag);
    script[1].step = 60, script[1].body = 0, script[1].index = 7,
    script[1].transform.position = (snwVec3){0.3, 0.6, 0.1};
    script[2] = script[1], script[2].step = 90, script[2].on = false;
    script[3] = snwDefaultCommand(snw_commandPin);
    script[3].step = 120, script[3].body = 0, script[3].index = 3, script[3].transform.position = (snwVec3){0, 0.5, 0};
    script[4] = script[3], script[4].step = 180, script[4].on = false;
    script[5] = snwDefaultCommand(snw_commandGravity);
    script[5].step = 200, script[5].vector = (snwVec3){1, -5, 0};
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.cells = 9; // large enough that loops are cut into several chunks
    fixture.height = 0.5;
    fixture.ground = true;
    fixture.damping = 2.0;
    fixture.spin = (snwVec3){1, 2, 3};
    fixture.script = script;
    fixture.scriptCount = 6;
    return fixture;
}

// Sanitizers are up to fifty times slower; the races and overruns they look for are all there in the first steps.
#if defined(__SANITIZE_THREAD__)
#define SNW_FEW_FRAMES 1
#elif defined(__clang__)
#define SNW_FEW_FRAMES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SNW_FEW_FRAMES 0
#endif

enum
{
    snw_hashFrames = SNW_FEW_FRAMES ? 25 : 220 // the last command of the script is at 200
};

TEST(sim, sameHashForAnyThreadsAndInstructionSet) // Labels: threads
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    const int threads[] = {1, 2, 3, 8, 1, 2};
    const snwSimd simd[] = {snw_simdAuto, snw_simdAuto, snw_simdAuto, snw_simdAuto, snw_simdScalar, snw_simdBase};
    uint64_t* first = calloc(snw_hashFrames, sizeof *first);
    REQUIRE(first != NULL);
    for (int k = 0; k < 6; ++k)
    {
        snwContext* context = snwFixture_Context(threads[k], simd[k], NULL);
        snwSim* sim = snwFixture_MakeSim(context, &fixture);
        bool same = true;
        for (int i = 0; i < snw_hashFrames; ++i)
        {
            snwFixture_Run(sim, 1, s_dt);
            first[i] = k == 0 ? snwSim_Hash(sim) : first[i];
            same = same && first[i] == snwSim_Hash(sim);
        }
        CHECK(same);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
    CHECK(first[0] != first[1] && first[snw_hashFrames - 2] != first[snw_hashFrames - 1]);
    free(first);
}

// An hour of simulated time: nothing drifts away, nothing diverges, and two threads still give the bits of one.
TEST_LONG(sim, anHour)
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    fixture.cells = 4;
    snwContext* contexts[2] = {snwFixture_Context(1, snw_simdScalar, NULL), snwFixture_Context(2, snw_simdAuto, NULL)};
    snwSim* sims[2] = {snwFixture_MakeSim(contexts[0], &fixture), snwFixture_MakeSim(contexts[1], &fixture)};
    snwCommand down = snwDefaultCommand(snw_commandGravity);
    down.step = 300, down.vector = (snwVec3){0, -9.81, 0};
    for (int k = 0; k < 2; ++k)
    {
        CHECK(snwSim_Push(sims[k], &down, NULL) == snw_ok);
        snwFixture_Run(sims[k], 60 * 60 * 60, s_dt);
    }
    CHECK(snwSim_Hash(sims[0]) == snwSim_Hash(sims[1]));
    snwMeasures m;
    snwSim_GetMeasures(sims[0], -1, &m);
    CHECK_NEAR(m.time, 3600.0, 1e-6);
    CHECK(m.centre.y > 0.1 && m.centre.y < 0.3 && m.minVolumeRatio > 0.0);
    for (int k = 0; k < 2; ++k)
    {
        snwDestroySim(sims[k]);
        snwDestroyContext(contexts[k]);
    }
}

TEST(sim, oneUlpChangesTheHash)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* a = snwFixture_MakeSim(context, &fixture);
    fixture.height = (double)nextafterf(1.0f, 2.0f);
    snwSim* b = snwFixture_MakeSim(context, &fixture);
    snwVertices va, vb;
    snwSim_GetVertices(a, 0, &va);
    snwSim_GetVertices(b, 0, &vb);
    CHECK_INT(va.count, vb.count);
    CHECK(snwSim_Hash(a) != snwSim_Hash(b));
    snwFixture_Run(a, 300, s_dt);
    snwFixture_Run(b, 300, s_dt);
    CHECK(snwSim_Hash(a) != snwSim_Hash(b));
    snwDestroySim(a);
    snwDestroySim(b);
    snwDestroyContext(context);
}

TEST_HEAVY(sim, restoreAtAnyFrameEqualsTheStraightRun)
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    fixture.cells = 4;
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    uint64_t seed = 99;
    for (int trial = 0; trial < 8; ++trial)
    {
        snwSim* straight = snwFixture_MakeSim(context, &fixture);
        snwSim* other = snwFixture_MakeSim(context, &fixture);
        int frame = (int)(snwTest_Random(&seed) * 250);
        snwFixture_Run(straight, frame, s_dt);
        size_t size = snwSim_GetStateSize(straight);
        void* block = malloc(size);
        REQUIRE(block != NULL && snwSim_Save(straight, block, size, NULL, NULL) == snw_ok);
        snwFixture_Run(other, 17, s_dt);
        snwMessage message;
        REQUIRE(snwSim_Restore(other, block, size, &message) == snw_ok);
        CHECK_INT(snwSim_GetStepCount(other), frame);
        snwFixture_Run(straight, 300 - frame, s_dt);
        snwFixture_Run(other, 300 - frame, s_dt);
        CHECK(snwSim_Hash(straight) == snwSim_Hash(other));
        free(block);
        snwDestroySim(straight);
        snwDestroySim(other);
    }
    snwDestroyContext(context);
}

TEST(sim, restoreRefusesForeignAndDamagedBlocks)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    fixture.height = 2.0;
    snwSim* foreign = snwFixture_MakeSim(context, &fixture);
    size_t size = snwSim_GetStateSize(sim);
    unsigned char* block = malloc(size);
    REQUIRE(block != NULL && snwSim_Save(sim, block, size, NULL, NULL) == snw_ok);
    snwMessage message;
    CHECK_INT(snwSim_Restore(foreign, block, size, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "another scene");
    uint64_t hash = snwSim_Hash(sim);
    for (size_t i = 0; i < size; i += 7)
    {
        block[i] ^= 0x10;
        CHECK_INT(snwSim_Restore(sim, block, size, &message), snw_errorInput);
        block[i] ^= 0x10;
    }
    CHECK_INT(snwSim_Restore(sim, block, size - 1, &message), snw_errorInput);
    CHECK_INT(snwSim_Restore(sim, block, 3, &message), snw_errorInput);
    CHECK(snwSim_Hash(sim) == hash);
    CHECK_INT(snwSim_Save(sim, block, size - 1, NULL, &message), snw_errorArgument);
    free(block);
    snwDestroySim(sim);
    snwDestroySim(foreign);
    snwDestroyContext(context);
}

// Commands pushed by hand, taken from the log of the first run and pushed at once into the second.
TEST(sim, replayOfTheLogEqualsTheOriginal)
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    fixture.cells = 4;
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwSim* a = snwFixture_MakeSim(context, &fixture);
    uint64_t seed = 3;
    for (int i = 0; i < 200; ++i)
    {
        snwCommand command = snwDefaultCommand(i % 2 ? snw_commandPush : snw_commandDrag);
        command.body = 0;
        command.index = (int)(snwTest_Random(&seed) * 100);
        command.vector = (snwVec3){0, 20 * snwTest_Random(&seed), 0};
        command.transform.position = (snwVec3){snwTest_Random(&seed), snwTest_Random(&seed), 0};
        command.on = i % 4 != 2;
        if (i % 5 == 0)
            CHECK(snwSim_Push(a, &command, NULL) == snw_ok);
        if (i == 100)
            CHECK(snwSim_SetParam(a, "pbd.iterations", 7, NULL) == snw_ok);
        if (i == 50) // early: a reset wipes out what went wrong before it
        {
            command = snwDefaultCommand(snw_commandReset);
            CHECK(snwSim_Push(a, &command, NULL) == snw_ok);
        }
        snwFixture_Run(a, 1, s_dt);
    }
    int count;
    const snwCommand* log = snwSim_GetLog(a, &count);
    CHECK(count > 30);
    snwSim* b = snwFixture_MakeSim(context, &fixture);
    for (int i = 0; i < count; ++i)
        CHECK(snwSim_Push(b, &log[i], NULL) == snw_ok);
    snwFixture_Run(b, 200, s_dt);
    CHECK(snwSim_Hash(a) == snwSim_Hash(b));
    snwDestroySim(a);
    snwDestroySim(b);
    snwDestroyContext(context);
}

TEST(sim, steadyStepsUseNoHeap)
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, &counter);
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    long before = counter.allocations;
    snwFixture_Run(sim, 250, s_dt);
    snwSkin skin;
    snwSim_GetSkin(sim, 0, &skin);
    CHECK_INT(counter.allocations, before);
    snwDestroySim(sim);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(sim, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    fixture.cells = 2;
    fixture.pinned = true;
    for (long n = 1;; ++n)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwScene* scene = snwFixture_MakeScene(context, &fixture);
        counter.failAt = counter.allocations + n;
        snwSceneDef sceneDef = *snwScene_GetDef(scene);
        snwScene* copy = NULL;
        snwSim* sim = NULL;
        snwMessage message;
        snwResult result = snwCreateScene(context, &sceneDef, &copy, &message);
        snwSimDef def = snwDefaultSimDef();
        def.scene = copy;
        result = result < 0 ? result : snwCreateSim(context, &def, &sim, &message);
        snwCommand command = snwDefaultCommand(snw_commandGravity);
        result = result < 0 ? result : snwSim_Push(sim, &command, &message);
        result = result < 0 ? result : snwSim_Step(sim, s_dt, &message);
        bool reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        if (reached)
            CHECK_INT(message.result, snw_errorMemory);
        snwDestroySim(sim);
        snwScene_Release(copy);
        snwScene_Release(scene);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
        {
            CHECK(n > 20);
            return;
        }
    }
}

static void CheckRefused(snwSim* sim, snwCommand command, snwResult expected, const char* part)
{
    snwMessage message = {0};
    CHECK_INT(snwSim_Push(sim, &command, &message), expected);
    CHECK_CONTAINS(message.text, part);
}

TEST(sim, badCommandsAreRefusedAtOnce)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand command = snwDefaultCommand(snw_commandDrag);
    command.index = 1000000;
    CheckRefused(sim, command, snw_errorArgument, "vertex must be 0..124, is 1000000");
    command = snwDefaultCommand(snw_commandDrag);
    command.radius = NAN;
    CheckRefused(sim, command, snw_errorArgument, "radius must be at most 1e+06 m, is nan");
    command.radius = 1e7;
    CheckRefused(sim, command, snw_errorArgument, "radius must be at most 1e+06 m, is 1e+07");
    command = snwDefaultCommand(snw_commandPush);
    command.vector.x = NAN;
    CheckRefused(sim, command, snw_errorArgument, "not finite");
    command = snwDefaultCommand(snw_commandPush);
    command.body = 1;
    CheckRefused(sim, command, snw_errorArgument, "body must be 0..0, is 1");
    CheckRefused(
        sim, snwDefaultCommand(snw_commandJoint), snw_errorUnsupported, "pbd does not answer to joint commands");
    command = snwDefaultCommand(snw_commandParam);
    command.index = 999;
    CheckRefused(sim, command, snw_errorArgument, "no parameter number 999");
    command = snwDefaultCommand(snw_commandMaterial);
    command.material.density = -1;
    CheckRefused(sim, command, snw_errorArgument, "density must be 0.001..");
    command = snwDefaultCommand(snw_commandPin);
    CheckRefused(sim, command, snw_errorArgument, "pin must be");
    command = snwDefaultCommand((snwCommandKind)77);
    CheckRefused(sim, command, snw_errorArgument, "command kind is 77");
    snwMessage message;
    CHECK_INT(snwSim_SetParam(sim, "pbd.iterations", 0, &message), snw_errorArgument);
    CHECK_CONTAINS(message.remedy, "pbd.iterations takes 1..1000");
    CHECK_INT(snwSim_SetParam(sim, "pbd.iterations", 2.5, &message), snw_errorArgument);
    CHECK_INT(snwSim_SetParam(sim, "pbd.wings", 2, &message), snw_errorArgument);
    CHECK_INT(snwSim_Step(sim, 0.0, &message), snw_errorArgument);
    CHECK_INT(snwSim_Step(sim, NAN, &message), snw_errorArgument);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, fullGrabsWarnAndGoOn)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    for (int i = 0; i < 65; ++i)
    {
        snwCommand command = snwDefaultCommand(snw_commandDrag);
        command.index = i;
        CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    }
    snwMessage message;
    CHECK_INT(snwSim_Step(sim, s_dt, &message), snw_warning);
    CHECK_CONTAINS(message.text, "all 64 grabs are in use");
    CHECK_INT(snwSim_GetStepCount(sim), 1);
    int count;
    snwSim_GetLog(sim, &count);
    CHECK_INT(count, 64);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, commandsAreAppliedAtTheirStep)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand later = snwDefaultCommand(snw_commandGravity), sooner = later;
    later.step = 5, later.vector.y = -6.0;
    sooner.step = 3, sooner.vector.y = 6.0;
    CHECK(snwSim_Push(sim, &later, NULL) == snw_ok && snwSim_Push(sim, &sooner, NULL) == snw_ok);
    const double speeds[] = {0, 0, 0, 0.1, 0.2, 0.1, 0.0};
    for (int i = 0; i < 7; ++i)
    {
        snwFixture_Run(sim, 1, s_dt);
        snwMeasures m;
        snwSim_GetMeasures(sim, 0, &m);
        CHECK_NEAR(m.momentum.y / 64.0, speeds[i], 1e-5);
    }
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, resetGoesBackToTheStart)
{
    snwCommand script[6];
    snwFixtureScene fixture = LivelyScene(script);
    fixture.cells = 3;
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwSkin skin;
    snwFixture_Run(sim, 150, s_dt);
    snwSim_GetSkin(sim, 0, &skin);
    size_t bytes = (size_t)skin.vertexCount * 3 * sizeof(float);
    float* kept = malloc(bytes);
    REQUIRE(kept != NULL);
    memcpy(kept, skin.positions, bytes);
    snwFixture_Run(sim, 27, s_dt);
    snwCommand reset = snwDefaultCommand(snw_commandReset);
    CHECK(snwSim_Push(sim, &reset, NULL) == snw_ok);
    snwFixture_Run(sim, 150, s_dt); // the script plays again from its first command
    snwSim_GetSkin(sim, 0, &skin);
    CHECK(memcmp(kept, skin.positions, bytes) == 0);
    CHECK_INT(snwSim_GetStepCount(sim), 327);
    free(kept);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// A command at step 0 of the script takes effect at the step of the reset, not one later.
TEST(sim, resetPlaysTheScriptFromItsFirstStep)
{
    snwCommand up = snwDefaultCommand(snw_commandGravity);
    up.vector.y = 6.0;
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.script = &up, fixture.scriptCount = 1;
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand reset = snwDefaultCommand(snw_commandReset);
    reset.step = 10;
    CHECK(snwSim_Push(sim, &reset, NULL) == snw_ok);
    snwMeasures first, second;
    snwFixture_Run(sim, 5, s_dt);
    snwSim_GetMeasures(sim, 0, &first);
    snwFixture_Run(sim, 10, s_dt); // five to the reset, five after it
    snwSim_GetMeasures(sim, 0, &second);
    CHECK_NEAR(first.momentum.y, 64.0 * 0.5, 1e-3);
    CHECK_NEAR(second.momentum.y, first.momentum.y, 1e-6);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, twoClipsOnOneColliderAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    snwKey key = {0.0, {{0, 0, 0}, {0, 0, 0, 1}}};
    snwClipDef clips[2] = {snwDefaultClipDef(), snwDefaultClipDef()};
    for (int i = 0; i < 2; ++i)
        clips[i].target = snw_clipCollider, clips[i].keys = &key, clips[i].keyCount = 1;
    snwSceneDef def = snwDefaultSceneDef();
    def.colliders = &ground, def.colliderCount = 1, def.clips = clips, def.clipCount = 2;
    snwScene* scene;
    snwMessage message;
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "clips[0] and clips[1] move the same thing");
    snwDestroyContext(context);
}

static snwVec3 JitteredMomentum(snwContext* context, uint64_t seed, double jitter)
{
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwScene* plain = snwFixture_MakeScene(context, &fixture);
    snwSceneDef def = *snwScene_GetDef(plain);
    snwSetting setting = {"sim.jitter", jitter};
    def.settings = &setting, def.settingCount = 1, def.seed = seed;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    CHECK(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    CHECK(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwMeasures m;
    snwSim_GetMeasures(sim, -1, &m);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwScene_Release(plain);
    return m.momentum;
}

TEST(sim, seedDecidesTheJitter)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 mean = {0, 0, 0}, first = JitteredMomentum(context, 1, 0.5), again = JitteredMomentum(context, 1, 0.5);
    CHECK(snwVec3_Distance(first, again) == 0.0);
    CHECK_NEAR(snwVec3_Length(JitteredMomentum(context, 1, 0.0)), 0.0, 1e-6);
    for (uint64_t seed = 2; seed < 302; ++seed)
    {
        snwVec3 p = JitteredMomentum(context, seed, 0.5);
        CHECK(snwVec3_Distance(p, first) > 1e-3);
        CHECK(fabs(p.x) <= 64.0 * 0.5 && fabs(p.y) <= 64.0 * 0.5 && fabs(p.z) <= 64.0 * 0.5);
        mean = snwVec3_MulAdd(mean, 1.0 / 300.0, p);
    }
    CHECK(snwVec3_Length(mean) < 64.0 * 0.5 * 0.2); // no side is preferred: three sigma of 300 numbers
    snwDestroyContext(context);
}

TEST(sim, pickFindsTheNearestTriangle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture); // a block of 0.4 m around (0, 1, 0)
    snwPick pick;
    CHECK(snwSim_Pick(sim, (snwVec3){0.11, 1.07, 5}, (snwVec3){0, 0, -2}, &pick) == snw_ok);
    CHECK_INT(pick.body, 0);
    CHECK_NEAR(pick.distance, 4.8, 1e-6);
    CHECK_NEAR(pick.position.z, 0.2, 1e-6);
    snwVertices vertices;
    snwSim_GetVertices(sim, 0, &vertices);
    const float* v = vertices.positions + 4 * (size_t)pick.vertex;
    CHECK_NEAR(v[0], 0.1, 1e-6); // the lattice has 0.1 m cells
    CHECK_NEAR(v[1], 1.1, 1e-6);
    CHECK_NEAR(v[2], 0.2, 1e-6);
    CHECK_NEAR(pick.weights[0] + pick.weights[1] + pick.weights[2], 1.0, 1e-12);
    CHECK(snwSim_Pick(sim, (snwVec3){0.11, 1.07, 5}, (snwVec3){0, 0, 1}, &pick) == snw_ok);
    CHECK_INT(pick.body, -1);
    CHECK_INT(snwSim_Pick(sim, (snwVec3){0, 0, 0}, (snwVec3){0, 0, 0}, &pick), snw_errorArgument);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, measuresAddUpAndAreNamed)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.velocity = (snwVec3){3, 0, 0};
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwMeasures m;
    REQUIRE(snwSim_GetMeasures(sim, -1, &m) == snw_ok);
    CHECK_NEAR(m.kinetic, 0.5 * 64.0 * 9.0, 1e-3);
    CHECK_NEAR(m.potential, 64.0 * 9.81 * 1.0, 1e-3);
    CHECK_NEAR(m.elastic, 0.0, 1e-6);
    CHECK_NEAR(m.volume, 0.064, 1e-8);
    CHECK_NEAR(m.momentum.x, 192.0, 1e-3);
    CHECK_NEAR(m.angularMomentum.z, -192.0, 1e-3);
    CHECK_NEAR(m.energy, m.kinetic + m.elastic + m.potential, 1e-9);
    CHECK_INT(snwSim_GetMeasures(sim, 1, &m), snw_errorArgument);
    for (int i = 0; i < snwMeasureCount(); ++i)
        CHECK(snwMeasure_GetInfo(i) != NULL && snwMeasure_GetInfo(i)->name[0] != 0);
    snwSim_GetMeasures(sim, -1, &m);
    CHECK(snwMeasures_Get(&m, 5) == m.momentum.x && snwMeasures_Get(&m, snwMeasureCount() - 1) == m.stepMs);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, warnsOfPartsTheMethodLeavesAside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int tets[1][4] = {{0, 1, 2, 3}};
    snwHandleDef handle = snwDefaultHandleDef();
    snwCharacterDef def = snwDefaultCharacterDef();
    def.vertices = vertices, def.vertexCount = 4, def.tets = tets, def.tetCount = 1;
    def.handles = &handle, def.handleCount = 1;
    snwBodyDef body = snwDefaultBodyDef();
    REQUIRE(snwCreateCharacter(context, &def, &body.character, NULL) == snw_ok);
    snwSceneDef sceneDef = snwDefaultSceneDef();
    sceneDef.bodies = &body, sceneDef.bodyCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    REQUIRE(snwCreateScene(context, &sceneDef, &simDef.scene, NULL) == snw_ok);
    snwSim* sim;
    snwMessage message;
    CHECK_INT(snwCreateSim(context, &simDef, &sim, &message), snw_warning);
    CHECK_CONTAINS(message.text, "leaves the handles of 'body' aside");
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwPropDef prop = snwDefaultPropDef(snw_colliderSphere);
    sceneDef.props = &prop, sceneDef.propCount = 1;
    REQUIRE(snwCreateScene(context, &sceneDef, &simDef.scene, NULL) == snw_ok);
    snwMethod propless = *snwMethod_Get(0);
    propless.features &= ~(uint32_t)snw_featureProps;
    CHECK_INT(snwCreateSimWith(context, &simDef, &propless, &sim, &message), snw_errorUnsupported);
    CHECK_CONTAINS(message.text, "does not simulate props");
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Clips, commands and restores among each other

// A block on a box that a clip moves by 1 m in 1 s; one substep or four.
static snwSim* MakeMovedBox(snwContext* context, int substeps)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.character = snwFixture_Shape(context, snw_shapeBlock, 2);
    body.transform.position.y = 5.0;
    snwColliderDef box = snwDefaultColliderDef(snw_colliderBox);
    snwKey keys[2] = {{0.0, {{0, -1, 0}, {0, 0, 0, 1}}}, {1.0, {{1, -1, 0}, {0, 0, 0, 1}}}};
    snwClipDef clip = snwDefaultClipDef();
    clip.target = snw_clipCollider, clip.keys = keys, clip.keyCount = 2;
    snwPinDef pin = snwDefaultPinDef();
    pin.lower = (snwVec3){-1, -1, -1}, pin.upper = (snwVec3){-0.19, 1, 1};
    snwSetting setting = {"sim.substeps", substeps};
    snwSceneDef def = snwDefaultSceneDef();
    def.bodies = &body, def.bodyCount = 1, def.colliders = &box, def.colliderCount = 1;
    def.clips = &clip, def.clipCount = 1, def.pins = &pin, def.pinCount = 1, def.settings = &setting,
    def.settingCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    CHECK(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    CHECK(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    return sim;
}

static double BoxPosition(const snwSim* sim)
{
    snwTransforms colliders;
    snwSim_GetColliders(sim, &colliders);
    return colliders.data->position.x;
}

TEST(sim, resetStartsClipsAgain)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = MakeMovedBox(context, 1);
    snwFixture_Run(sim, 45, s_dt);
    CHECK_NEAR(BoxPosition(sim), 0.75, 1e-9);
    snwCommand reset = snwDefaultCommand(snw_commandReset);
    CHECK(snwSim_Push(sim, &reset, NULL) == snw_ok);
    snwFixture_Run(sim, 15, s_dt);
    CHECK_NEAR(BoxPosition(sim), 0.25, 1e-9);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, aCommandTakesAColliderFromItsClip)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = MakeMovedBox(context, 4);
    snwFixture_Run(sim, 30, s_dt);
    snwCommand command = snwDefaultCommand(snw_commandCollider);
    command.transform.position = (snwVec3){-1.5, -1, 0};
    command.on = false; // means nothing for colliders
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    CHECK_NEAR(BoxPosition(sim), -1.5, 1e-12);
    CHECK_NEAR(sim->colliders[0].previous.position.x, 0.5 - 0.75 * 2.0, 1e-9); // a quarter of the way per substep
    snwFixture_Run(sim, 10, s_dt);
    CHECK_NEAR(BoxPosition(sim), -1.5, 1e-12);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// A pin or a pinned vertex that is told to move 0.06 m in a step of 1/60 s has 3.6 m/s at its end, for any substeps.
TEST(sim, pinsMoveEvenlyOverTheSubsteps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int substeps = 1; substeps <= 4; substeps += 3)
    {
        snwSim* sim = MakeMovedBox(context, substeps);
        snwCommand pin = snwDefaultCommand(snw_commandPin), vertex = pin;
        pin.transform.position.y = 0.06;
        vertex.body = 0, vertex.index = 26, vertex.transform.position = (snwVec3){0.2, 5.2, 0.2};
        CHECK(snwSim_Push(sim, &vertex, NULL) == snw_ok); // where it is: hold it first
        snwFixture_Run(sim, 1, s_dt);
        vertex.transform.position.y += 0.06;
        CHECK(snwSim_Push(sim, &pin, NULL) == snw_ok && snwSim_Push(sim, &vertex, NULL) == snw_ok);
        snwFixture_Run(sim, 1, s_dt);
        snwVertices v;
        snwSim_GetVertices(sim, 0, &v);
        const int held[2] = {0, 26};
        for (int i = 0; i < 2; ++i)
        {
            const float* velocity = (const float*)((const char*)v.velocities + held[i] * v.stride);
            CHECK_NEAR(velocity[1], 3.6, 1e-3);
        }
        snwFixture_Run(sim, 1, s_dt); // and then they rest
        for (int i = 0; i < 2; ++i)
            CHECK_NEAR(((const float*)((const char*)v.velocities + held[i] * v.stride))[1], 0.0, 1e-6);
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

TEST(sim, restoreForgetsWhatHadNotHappenedYet)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand early = snwDefaultCommand(snw_commandGravity), late = early, never = early;
    early.step = 2, late.step = 7, never.step = 20;
    never.vector.x = 100.0;
    CHECK(snwSim_Push(sim, &early, NULL) == snw_ok && snwSim_Push(sim, &late, NULL) == snw_ok);
    snwFixture_Run(sim, 5, s_dt);
    size_t size = snwSim_GetStateSize(sim);
    void* block = malloc(size);
    REQUIRE(block != NULL && snwSim_Save(sim, block, size, NULL, NULL) == snw_ok);
    snwFixture_Run(sim, 5, s_dt);
    int count;
    snwSim_GetLog(sim, &count);
    CHECK_INT(count, 2);
    CHECK(snwSim_Push(sim, &never, NULL) == snw_ok);
    REQUIRE(snwSim_Restore(sim, block, size, NULL) == snw_ok);
    snwSim_GetLog(sim, &count);
    CHECK_INT(count, 1);
    snwFixture_Run(sim, 30, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK_NEAR(m.momentum.x, 0.0, 1e-3);
    free(block);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, commandsOfOneStepKeepTheirOrder)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwFixture_Run(sim, 5, s_dt);
    snwCommand first = snwDefaultCommand(snw_commandGravity), second = first;
    first.step = 5, first.vector.y = 1.0;
    second.step = 0, second.vector.y = 2.0; // the past is now, and comes after what was pushed before it
    CHECK(snwSim_Push(sim, &first, NULL) == snw_ok && snwSim_Push(sim, &second, NULL) == snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    CHECK(sim->state->gravity.y == 2.0);
    for (int i = 0; i < 1000; ++i) // a long queue, pushed backwards
    {
        first.step = (uint64_t)(1010 - i), first.vector.y = 1010 - i;
        CHECK(snwSim_Push(sim, &first, NULL) == snw_ok);
    }
    for (int i = 6; i < 1011; ++i)
    {
        snwFixture_Run(sim, 1, 1e-4);
        CHECK(i < 11 || sim->state->gravity.y == i);
    }
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, equalNamesAndFarNumbersAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBodyDef bodies[2] = {snwDefaultBodyDef(), snwDefaultBodyDef()};
    bodies[0].character = bodies[1].character = snwFixture_Shape(context, snw_shapeBlock, 1);
    snwSceneDef def = snwDefaultSceneDef();
    def.bodies = bodies, def.bodyCount = 2;
    snwScene* scene;
    snwMessage message;
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "bodies[0] and bodies[1] are both called 'body'");
    bodies[1].name = "";
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "bodies[1] needs a name");
    bodies[1].name = "other", bodies[1].transform.position.x = 1e39;
    CHECK_INT(snwCreateScene(context, &def, &scene, &message), snw_errorArgument);
    CHECK_CONTAINS(message.place, "bodies[1]");
    snwCharacter_Release(bodies[0].character);
    snwDestroyContext(context);
}

// A cube blown up by 10 %: V (mu 3 e^2 + lambda/2 (3 e)^2) with e = 0.1.
TEST(sim, elasticEnergyOfAKnownStrain)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.height = 0.0;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    float* rows = sim->bodies[0].state;
    for (int i = 0; i < 125; ++i)
        for (int k = 0; k < 3; ++k)
            rows[4 * i + k] *= 1.1f;
    double mu = 1e5 / (2 * 1.45), lambda = 1e5 * 0.45 / (1.45 * 0.1);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    double expected = 0.064 * (mu * 3 * 0.01 + 0.5 * lambda * 0.09);
    CHECK_NEAR(m.elastic, expected, 1e-4 * expected);
    CHECK_NEAR(m.volume, 0.064 * 1.331, 1e-6);
    CHECK_NEAR(m.minVolumeRatio, 1.331, 1e-5);
    CHECK_NEAR(m.maxStretch, 0.1, 1e-5);
    for (int i = 0; i < 125; ++i)
        rows[4 * i] *= -1.0f; // inside out: the smallest singular value turns negative
    snwSim_GetMeasures(sim, 0, &m);
    expected = 0.064 * (mu * (2 * 0.01 + 2.1 * 2.1) + 0.5 * lambda * 1.9 * 1.9);
    CHECK_NEAR(m.elastic, expected, 1e-3 * expected);
    CHECK(m.minVolumeRatio < -1.3);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// A sixth method in fifty lines: every vertex drifts with its own velocity. `toy.fault` makes it produce a NaN, as does
// a substep longer than `toy.longest`.

enum
{
    snw_toyFault,
    snw_toyLongest,
    snw_toyParamCount
};

static const snwParamInfo s_toyParams[snw_toyParamCount] = {
    [snw_toyFault] =
        {.name = "toy.fault", .type = snw_paramBool, .unit = "", .upper = 1, .live = true, .help = "make a NaN"},
    [snw_toyLongest] = {.name = "toy.longest",
        .type = snw_paramReal,
        .unit = "s",
        .upper = 1,
        .initial = 1,
        .live = true,
        .help = "substeps beyond it make a NaN"}};

static const char* const s_toyStages[] = {"drift"};

static snwResult ToyCreateModel(const snwModelDef* def, void** model, snwMessage* message)
{
    *model = snwAlloc(def->context, sizeof(int));
    if (*model == NULL)
        return snwFailMemory(message);
    *(int*)*model = def->character->def.vertexCount;
    return snw_ok;
}

static void ToyDestroyModel(snwContext* context, void* model)
{
    snwFree(context, model);
}

static size_t ToyBodyStateSize(const void* model)
{
    return (size_t) * (const int*)model * 6 * sizeof(float);
}

static void ToyInitBody(snwSim* sim, int index)
{
    const snwBodyStart* start = &sim->starts[index];
    const snwCharacterDef* character = &sim->bodies[index].character->def;
    float* row = sim->bodies[index].state;
    for (int i = 0; i < character->vertexCount; ++i, row += 6)
    {
        snwVec3 x = snwTransform_Apply(start->transform, character->vertices[i]);
        const double numbers[6] = {x.x, x.y, x.z, start->velocity.x, start->velocity.y, start->velocity.z};
        for (int k = 0; k < 6; ++k)
            row[k] = (float)numbers[k];
    }
}

static void ToyGetVertices(const snwSim* sim, int index, snwVertices* vertices)
{
    const float* rows = sim->bodies[index].state;
    *vertices = (snwVertices){rows, rows + 3, *(const int*)sim->bodies[index].model, 6 * (int)sizeof(float)};
}

static snwResult ToyStep(snwSim* sim, double h, snwMessage* message)
{
    (void)message;
    float* row = sim->bodies[0].state;
    for (int i = 0; i < *(const int*)sim->bodies[0].model; ++i, row += 6)
        for (int k = 0; k < 3; ++k)
            row[k] += (float)h * row[3 + k];
    if (snwSim_Param(sim, snw_toyFault) > 0.0 || h > snwSim_Param(sim, snw_toyLongest))
        ((float*)sim->bodies[0].state)[6 * 5 + 1] = NAN;
    snwSim_EndStage(sim, 0);
    return snw_ok;
}

static const snwMethod s_toyMethod = {.name = "toy",
    .title = "drift",
    .source = "this test",
    .features = snw_featureTets | snw_featureHexes | snw_featureTriangles,
    .params = s_toyParams,
    .paramCount = snw_toyParamCount,
    .stages = s_toyStages,
    .stageCount = 1,
    .createModel = ToyCreateModel,
    .destroyModel = ToyDestroyModel,
    .bodyStateSize = ToyBodyStateSize,
    .initBody = ToyInitBody,
    .step = ToyStep,
    .getVertices = ToyGetVertices};

static snwSim* MakeToy(snwContext* context)
{
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.velocity = (snwVec3){1, 2, 0};
    snwSimDef def = snwDefaultSimDef();
    def.scene = snwFixture_MakeScene(context, &fixture);
    snwSim* sim = NULL;
    CHECK(snwCreateSimWith(context, &def, &s_toyMethod, &sim, NULL) == snw_ok);
    snwScene_Release(def.scene);
    return sim;
}

TEST(sim, aSixthMethodNeedsOnlyItsTable)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = MakeToy(context);
    snwFixture_Run(sim, 60, s_dt);
    snwMeasures m;
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK_NEAR(m.centre.y, 3.0, 1e-4);
    snwPick pick;
    CHECK(snwSim_Pick(sim, (snwVec3){1.01, 3.02, 9}, (snwVec3){0, 0, -1}, &pick) == snw_ok && pick.body == 0);
    snwTimings timings;
    CHECK(snwSim_GetTimings(sim, &timings) == snw_ok && timings.count == 1 &&
          strcmp(timings.data[0].stage, "drift") == 0);
    double value = -1;
    CHECK(snwSim_GetParam(sim, "toy.fault", &value) == snw_ok && value == 0.0);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, aMethodIsNotAskedForWhatItCannotDo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    snwMessage message;
    for (int k = 0; k < 3; ++k)
    {
        snwCommand param = snwDefaultCommand(snw_commandParam);
        param.index = 2, param.value = 5;
        fixture.ground = k == 0, fixture.pinned = k == 1;
        fixture.script = &param, fixture.scriptCount = k == 2;
        def.scene = snwFixture_MakeScene(context, &fixture);
        CHECK_INT(snwCreateSimWith(context, &def, &s_toyMethod, &sim, &message), snw_errorUnsupported);
        CHECK_INT(snwCreateSimWith(context, &def, &s_toyMethod, &sim, NULL), snw_errorUnsupported);
        CHECK_CONTAINS(message.text, k == 0 ? "knows no colliders" : k == 1 ? "knows no pins" : "sets a parameter");
        snwScene_Release(def.scene);
    }
    snwDestroyContext(context);
}

TEST(sim, aNanStopsTheStepAndKeepsTheLastGoodState)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = MakeToy(context);
    snwFixture_Run(sim, 10, s_dt);
    uint64_t hash = snwSim_Hash(sim);
    CHECK(snwSim_SetParam(sim, "toy.fault", 1, NULL) == snw_ok);
    snwMessage message;
    CHECK_INT(snwSim_Step(sim, s_dt, &message), snw_errorDiverged);
    CHECK_CONTAINS(message.place, "body 'body', vertex 5");
    CHECK_CONTAINS(message.text, "diverged at step 10");
    CHECK(snwSim_Hash(sim) == hash);
    CHECK_INT(snwSim_GetStepCount(sim), 10);
    int logged;
    snwSim_GetLog(sim, &logged);
    CHECK_INT(logged, 0);
    snwFixture_Run(sim, 10, s_dt); // it can go on: the command that did it is gone
    CHECK_INT(snwSim_GetStepCount(sim), 20);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, aStepThatDivergesIsBegunAgainWithMoreSubsteps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim *sim = MakeToy(context), *fine = MakeToy(context);
    CHECK(snwSim_SetParam(sim, "toy.longest", s_dt / 3, NULL) == snw_ok);
    CHECK(snwSim_SetParam(fine, "sim.substeps", 4, NULL) == snw_ok);
    snwMessage message;
    snwMeasures m;
    for (int i = 0; i < 3; ++i)
    {
        CHECK_INT(snwSim_Step(sim, s_dt, &message), snw_warning);
        CHECK_CONTAINS(message.text, "diverged, and went well with 4 times its substeps");
        CHECK_INT(snwSim_Step(fine, s_dt, NULL), snw_ok);
        CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok && m.retries == 2);
    }
    CHECK(memcmp(sim->bodies[0].state, fine->bodies[0].state, 125 * 6 * sizeof(float)) == 0);
    int logged;
    snwSim_GetLog(sim, &logged);
    CHECK_INT(logged, 1); // applied once, not once per attempt
    snwWarnings warnings;
    CHECK(snwSim_GetWarnings(sim, &warnings) == snw_ok);
    CHECK_INT(warnings.count, 1);
    CHECK(warnings.data[0].step == 0 && warnings.data[0].count == 3);

    // Eight times is the end of it.
    uint64_t hash = snwSim_Hash(sim);
    CHECK(snwSim_SetParam(sim, "toy.longest", s_dt / 9, NULL) == snw_ok);
    CHECK_INT(snwSim_Step(sim, s_dt, &message), snw_errorDiverged);
    CHECK_CONTAINS(message.remedy, "more substeps were tried");
    CHECK(snwSim_Hash(sim) == hash);
    snwDestroySim(sim);
    snwDestroySim(fine);
    snwDestroyContext(context);
}

static snwSim* MakeToyOf(snwContext* context, snwCharacter* character, snwQuat rotation)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.character = character, body.transform.rotation = rotation;
    snwSceneDef sceneDef = snwDefaultSceneDef();
    sceneDef.bodies = &body, sceneDef.bodyCount = 1;
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    CHECK(snwCreateScene(context, &sceneDef, &def.scene, NULL) == snw_ok);
    CHECK(snwCreateSimWith(context, &def, &s_toyMethod, &sim, NULL) == snw_ok);
    snwScene_Release(def.scene);
    snwCharacter_Release(character);
    return sim;
}

static void StretchToy(snwSim* sim, double x, double y, double z)
{
    float* row = sim->bodies[0].state;
    for (int i = 0; i < sim->bodies[0].character->def.vertexCount; ++i, row += 6)
        row[0] *= (float)x, row[1] *= (float)y, row[2] *= (float)z;
}

// Two hexes, 2 x 1 x 1 m: the same strain as in tets must give the same energy, volume and ratio.
TEST(sim, hexesAreMeasuredAndPicked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[12];
    for (int i = 0; i < 12; ++i)
        vertices[i] = (snwVec3){i % 3, i / 3 % 2, i / 6};
    const int hexes[2][8] = {{0, 1, 4, 3, 6, 7, 10, 9}, {1, 2, 5, 4, 7, 8, 11, 10}};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.vertices = vertices, def.vertexCount = 12, def.hexes = hexes, def.hexCount = 2;
    snwCharacter* character;
    REQUIRE(snwCreateCharacter(context, &def, &character, NULL) == snw_ok);
    snwSim* sim = MakeToyOf(context, character, snwQuat_Identity());
    double mu = 1e5 / (2 * 1.45), lambda = 1e5 * 0.45 / (1.45 * 0.1);
    snwMeasures m;
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK_NEAR(m.elastic, 0.0, 1e-3);
    CHECK_NEAR(m.volume, 2.0, 1e-9);
    StretchToy(sim, 1.1, 1.1, 1.1);
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK_NEAR(m.elastic, 2.0 * (mu * 3 * 0.01 + 0.5 * lambda * 0.09), 1.0);
    CHECK_NEAR(m.volume, 2.0 * 1.331, 1e-5);
    CHECK_NEAR(m.minVolumeRatio, 1.331, 1e-5);
    CHECK_NEAR(m.maxStretch, 0.1, 1e-5);
    StretchToy(sim, -1.0, 1.0, 1.0);
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK(m.minVolumeRatio < -1.3 && m.elastic > 1e5);
    snwPick pick;
    CHECK(snwSim_Pick(sim, (snwVec3){-0.2, 0.3, 9}, (snwVec3){0, 0, -1}, &pick) == snw_ok && pick.vertex == 6);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// A unit square of two triangles, 2 cm thick, turned on edge: strain in its plane counts, its pose does not.
TEST(sim, flatCharactersAreMeasuredAndPicked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwVec3 vertices[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    const int triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.vertices = vertices, def.vertexCount = 4, def.thickness = 0.02;
    def.triangles = triangles, def.triangleCount = 2;
    snwCharacter* character;
    REQUIRE(snwCreateCharacter(context, &def, &character, NULL) == snw_ok);
    snwSim* sim = MakeToyOf(context, character, snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, -0.5 * SNW_PI));
    double mu = 1e5 / (2 * 1.45), lambda = 1e5 * 0.45 / (1.45 * 0.1);
    snwMeasures m;
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK_NEAR(m.elastic, 0.0, 1e-4);
    CHECK_NEAR(m.volume, 0.02, 1e-9);
    StretchToy(sim, 1.1, 1.0, 1.2); // its y is now the world's -z
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK_NEAR(m.elastic, 0.02 * (mu * (0.01 + 0.04) + 0.5 * lambda * 0.09), 0.01);
    CHECK_NEAR(m.volume, 0.02 * 1.32, 1e-6);
    snwPick pick;
    CHECK(snwSim_Pick(sim, (snwVec3){0.9, 5, -0.2}, (snwVec3){0, -1, 0}, &pick) == snw_ok && pick.vertex == 1);
    StretchToy(sim, -1.0, 1.0, 1.0);
    CHECK(snwSim_GetMeasures(sim, 0, &m) == snw_ok);
    CHECK(m.minVolumeRatio < -1.3 && m.elastic > 1e3);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(sim, pbdRefusesHexesAndTrianglesByName)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwVec3 cube[8] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const int hexes[1][8] = {{0, 1, 2, 3, 4, 5, 6, 7}}, triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    for (int flat = 0; flat < 2; ++flat)
    {
        snwCharacterDef def = snwDefaultCharacterDef();
        def.vertices = cube, def.vertexCount = flat ? 4 : 8;
        def.hexes = hexes, def.hexCount = !flat;
        def.triangles = triangles, def.triangleCount = 2 * flat;
        snwBodyDef body = snwDefaultBodyDef();
        body.name = "jelly";
        REQUIRE(snwCreateCharacter(context, &def, &body.character, NULL) == snw_ok);
        snwSceneDef sceneDef = snwDefaultSceneDef();
        sceneDef.bodies = &body, sceneDef.bodyCount = 1;
        snwSimDef simDef = snwDefaultSimDef();
        REQUIRE(snwCreateScene(context, &sceneDef, &simDef.scene, NULL) == snw_ok);
        snwSim* sim;
        snwMessage message;
        CHECK_INT(snwCreateSim(context, &simDef, &sim, &message), snw_errorUnsupported);
        CHECK(sim == NULL);
        CHECK_CONTAINS(message.text, flat ? "body 'jelly' is made of triangles" : "body 'jelly' is made of hexes");
        CHECK_CONTAINS(message.text, "method pbd simulates tetrahedra or edges");
        CHECK_INT(snwCharacter_GetInfo(body.character).modelCount, 0);
        snwScene_Release(simDef.scene);
        snwCharacter_Release(body.character);
    }
    snwDestroyContext(context);
}
