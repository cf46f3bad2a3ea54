// Hands on rigpbd's handles: commands that say nothing of where, parameters that change while running, handles that
// squash and stretch.

#include "fixture.h"
#include "test.h"

#include "asset/export.h"
#include "math/eigen.h"
#include "math/transform.h"
#include "sim/rigpbd/rigpbd.h"
#include "sinew/tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static snwSim* NewSim(snwContext* context, const char* character, const char* more)
{
    return snwFixture_OpenSim(context,
        "{'sinew': 1, 'name': 'hands', 'method': 'rigpbd', 'duration': 2, 'gravity': [0, 0, 0], 'bodies': [{'name': "
        "'b', 'character': %s, 'position': [1, 2, 0], 'velocity': [0.3, 0.2, 0], 'angular_velocity': [0, 0, 1]}]%s}",
        character, more);
}

static const char* const s_star = "{'blueprint': 'starfish', 'size': {'vertices': 150}}";

static const snwRigPose* Pose(const snwSim* sim, int handle)
{
    return &snwRigpbd_Work(sim, 0)->state.pose[handle];
}

static void SayTo(snwSim* sim, const char* words)
{
    char* copy = strdup(words);
    snwCommand command;
    snwMessage message = {0};
    for (char* c = copy; *c != 0; ++c)
        *c = (char)(*c == '\'' ? '"' : *c);
    if (snwCommand_Parse(snwSim_GetScene(sim), copy, strlen(copy), &command, &message) < 0 ||
        snwSim_Push(sim, &command, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", words, message.text);
    free(copy);
}

static double Turned(const snwRigPose* a, const snwRigPose* b)
{
    return snwMat3_LargestEntry(snwMat3_Sub(a->linear, b->linear));
}

// ---------------------------------------------------------------------------------------------------------------------
// Commands that say nothing of where

TEST(hands, whatACommandDoesNotSayStaysWhereItIs)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, s_star, "");
    snwFixture_Run(sim, 20, 1.0 / 60.0);
    snwRigPose before = *Pose(sim, 1);
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 1}");
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK(snwVec3_Distance(before.place, Pose(sim, 1)->place) <= 1e-9);
    CHECK(Turned(&before, Pose(sim, 1)) <= 1e-9);
    CHECK(snwVec3_Length(before.place) > 1.0); // far from the world's origin
    CHECK(fabs(before.linear.m[1][0]) > 0.1);  // and not as at rest
    // A place alone keeps the turn, a turn alone the place.
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 1, 'position': [1.5, 2.5, 0]}");
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK(snwVec3_Distance(Pose(sim, 1)->place, (snwVec3){1.5, 2.5, 0}) <= 1e-9);
    CHECK(Turned(&before, Pose(sim, 1)) <= 1e-9);
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 1, 'angles': [0, 0, 10]}");
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK(snwVec3_Distance(Pose(sim, 1)->place, (snwVec3){1.5, 2.5, 0}) <= 1e-9);
    CHECK_NEAR(Pose(sim, 1)->linear.m[1][0], sin(SNW_PI / 18), 1e-9);
    // One coordinate of two.
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 1, 'given': ['x', 'y'], 'position': [1.3, 9, 0], 'stay': "
               "['y']}");
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK(snwVec3_Distance(Pose(sim, 1)->place, (snwVec3){1.3, 2.5, 0}) <= 1e-9);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(hands, locksHoldWhereTheHandleIsUnlessToldWhere)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, s_star,
        ", 'gestures': [{'kind': 'lock', 'body': 'b', 'handle': 1, 'start': 0.5},"
        "{'kind': 'lock', 'body': 'b', 'handle': 2, 'start': 0.5, 'given': ['y'], 'offset': [0, 0.1, 0]}]");
    snwVec3 rest = Pose(sim, 2)->place;
    snwFixture_Run(sim, 30, 1.0 / 60.0);
    snwRigPose before = *Pose(sim, 1);
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK(snwVec3_Distance(before.place, Pose(sim, 1)->place) <= 1e-9);
    CHECK(Turned(&before, Pose(sim, 1)) <= 1e-9);
    CHECK_NEAR(Pose(sim, 2)->place.y, rest.y + 0.1, 1e-9);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// A bone turns about its joint, which need not be where its head is; a path that goes nowhere leaves it there.
TEST(hands, pathsOfBonesBeginAtTheirJoints)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, "{'blueprint': 'manikin', 'size': {'tets': 1500}}",
        ", 'gestures': [{'kind': 'path', 'body': 'b', 'handle': 2, 'duration': 0.1, 'points': [[0, 0, 0]]}]");
    const snwCharacter* character = sim->bodies[0].character;
    CHECK(snwVec3_Distance(character->def.bones[2].head, character->skeleton.pivots[2]) > 0.01);
    CHECK(snwVec3_Distance(sim->def->commands[0].transform.position, Pose(sim, 2)->place) <= 1e-9);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// Words, command, words; and a sim that hears the log of another goes the same way to the bit.
TEST(hands, whatStaysIsWrittenDownAndPlayedAgain)
{
    static const struct
    {
        uint32_t stay;
        const char *has, *lacks;
    } cases[] = {{snw_dofAll, "\"given\"", "position"}, {0, "\"rotation\"", "stay"},
        {snw_dofX | snw_dofY | snw_dofZ, "\"rotation\"", "position"},
        {snw_dofX | snw_dofRotationZ, "\"stay\"", "angles"}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim *sim = NewSim(context, s_star, ""), *again = NewSim(context, s_star, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        snwCommand command = snwDefaultCommand(snw_commandHandle), back;
        char words[512];
        command.index = 1, command.stay = cases[i].stay, command.step = 10 + 5 * i;
        command.transform.position = (snwVec3){1.2, 2.2, 0};
        int size = snwCommand_Format(snwSim_GetScene(sim), &command, words, sizeof words);
        CHECK(strstr(words, cases[i].has) != NULL && strstr(words, cases[i].lacks) == NULL);
        CHECK_INT(snwCommand_Parse(snwSim_GetScene(sim), words, (size_t)size, &back, NULL), snw_ok);
        CHECK_INT((int)back.stay, (int)command.stay);
        CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
        CHECK_INT(snwSim_Push(again, &back, NULL), snw_ok);
    }
    for (int i = 0; i < 6; ++i)
    {
        snwFixture_Run(sim, 5, 1.0 / 60.0);
        snwFixture_Run(again, 5, 1.0 / 60.0);
        CHECK(snwSim_Hash(sim) == snwSim_Hash(again));
    }
    snwDestroySim(sim);
    snwDestroySim(again);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Parameters that change while running

static const char* const s_worm = "{'blueprint': 'worm', 'size': {'vertices': 200}}";

static void Set(snwSim* sim, const char* name, double value)
{
    snwMessage message = {0};
    if (snwSim_SetParam(sim, name, value, &message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, message.text);
}

static void Drag(snwSim* sim, int handle, double x, double y)
{
    snwCommand command = snwDefaultCommand(snw_commandHandle);
    command.index = handle, command.mask = snw_dofX | snw_dofY, command.transform.position = (snwVec3){x, y, 0};
    CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
}

static snwMeasures Measure(snwSim* sim)
{
    snwMeasures measures;
    CHECK_INT(snwSim_GetMeasures(sim, 0, &measures), snw_ok);
    return measures;
}

// From the scene or by a command before the first step is the same; and it is not what goes without.
static void CheckLive(const char* name, const char* word, double value)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char more[200];
    snprintf(more, sizeof more, ", 'settings': {'%s': %s}", name, word);
    snwSim* sims[3] = {NewSim(context, s_worm, more), NewSim(context, s_worm, ""), NewSim(context, s_worm, "")};
    snwVec3 tail = Pose(sims[0], 0)->place, head = Pose(sims[0], 4)->place;
    Set(sims[1], name, value);
    for (int i = 0; i < 3; ++i)
    {
        Drag(sims[i], 0, tail.x, tail.y);
        for (int k = 1; k <= 12; ++k)
        {
            double t = k / 12.0; // the head over the back and down on it
            Drag(sims[i], 4, head.x + t * (tail.x + 0.3 - head.x), head.y + 0.2 * sin(SNW_PI * t) - 0.25 * t);
            snwFixture_Run(sims[i], 1, 1.0 / 60.0);
        }
    }
    CHECK(snwSim_Hash(sims[0]) == snwSim_Hash(sims[1]));
    CHECK(snwSim_Hash(sims[0]) != snwSim_Hash(sims[2]));
    double farthest = 0;
    for (int i = 0; i < 4 * snwRigpbd_Work(sims[0], 0)->model->vertexCount; ++i)
        farthest = fmax(farthest, (double)fabsf(snwRigpbd_Work(sims[0], 0)->state.positions[i] -
                                                snwRigpbd_Work(sims[2], 0)->state.positions[i]));
    CHECK(farthest > 1e-3);
    for (int i = 0; i < 3; ++i)
        snwDestroySim(sims[i]);
    snwDestroyContext(context);
}

TEST(hands, solversHandlesAndSelfContactAreLive)
{
    CheckLive("rigpbd.self", "true", 1);
    CheckLive("rigpbd.solver", "'arap'", snw_rigpbdSolverArap);
    CheckLive("rigpbd.solver", "'fast'", snw_rigpbdSolverFast);
    CheckLive("rigpbd.handles", "'affine'", 1);
}

// Corners of a cage do not turn, whatever a rival made of them.
static void CheckCage(const snwSim* sim)
{
    const snwCharacterDef* def = &sim->bodies[0].character->def;
    for (int i = 0; i < def->handleCount; ++i)
        if (def->handles[i].kind == snw_handleCage)
            CHECK(snwMat3_LargestEntry(snwMat3_Sub(Pose(sim, i)->linear, snwMat3_Identity())) < 1e-12);
}

static void CheckSwitches(const char* character, double size)
{
    static const int solvers[] = {snw_rigpbdSolverFast, snw_rigpbdSolverCoupled, snw_rigpbdSolverArap,
        snw_rigpbdSolverFast, snw_rigpbdSolverArap, snw_rigpbdSolverCoupled};
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwSim *sim = NewSim(context, character, ""), *other = NewSim(context, character, "");
    size_t bytes = 0;
    snwSim_Save(sim, NULL, 0, &bytes, NULL);
    void* saved = malloc(bytes);
    double volume = Measure(sim).volume;
    snwVec3 at = Pose(sim, 0)->place;
    for (int i = 0; i < 6; ++i)
    {
        Set(sim, "rigpbd.solver", solvers[i]);
        Set(sim, "rigpbd.handles", i % 2);
        Drag(sim, 0, at.x + 0.05 * size * i, at.y);
        snwFixture_Run(sim, 2, 1.0 / 60.0);
        long before = counter.allocations;
        snwFixture_Run(sim, 4, 1.0 / 60.0);
        CHECK(counter.allocations == before); // what a choice needs is made once
        CHECK(isfinite(Measure(sim).maxSpeed) && Measure(sim).maxSpeed < 20 * size);
        CHECK_NEAR(Pose(sim, 0)->place.x, at.x + 0.05 * size * i, 1e-6 * size);
        CHECK_NEAR(Pose(sim, 0)->place.y, at.y, 1e-6 * size);
        if (solvers[i] == snw_rigpbdSolverCoupled)
            CheckCage(sim);
        // Another sim, which has never heard of it, goes on alike.
        CHECK_INT(snwSim_Save(sim, saved, bytes, &bytes, NULL), snw_ok);
        CHECK_INT(snwSim_Restore(other, saved, bytes, NULL), snw_ok);
        snwVertices a, b;
        CHECK_INT(snwSim_GetShown(sim, 0, &a), snw_ok);
        CHECK_INT(snwSim_GetShown(other, 0, &b), snw_ok);
        CHECK(memcmp(a.positions, b.positions, (size_t)a.count * (size_t)a.stride) == 0);
        snwFixture_Run(sim, 2, 1.0 / 60.0);
        snwFixture_Run(other, 2, 1.0 / 60.0);
        CHECK(snwSim_Hash(sim) == snwSim_Hash(other));
    }
    // Back in the coupled method with rigid handles all is as it was.
    Set(sim, "rigpbd.handles", 0);
    Set(sim, "rigpbd.settle", 5);
    snwFixture_Run(sim, 60, 1.0 / 60.0);
    CHECK_NEAR(Measure(sim).volume / volume, 1, 0.02);
    CHECK(Measure(sim).maxSpeed < 0.5 * size);
    for (int i = 0; i < snwRigpbd_Work(sim, 0)->model->handleCount; ++i)
    {
        snwMat3 a = Pose(sim, i)->linear;
        CHECK(snwMat3_LargestEntry(snwMat3_Sub(snwMat3_TransposeMul(a, a), snwMat3_Identity())) < 1e-9);
    }
    free(saved);
    snwDestroySim(sim);
    snwDestroySim(other);
    snwDestroyContext(context);
}

TEST_HEAVY(hands, switchingToRivalsAndBackRuinsNothing)
{
    CheckSwitches(s_worm, 1);
    CheckSwitches("{'blueprint': 'ellipse', 'size': {'vertices': 150}}", 1); // a cage
    CheckSwitches("{'blueprint': 'fish', 'size': {'vertices': 300}}", 0.5);  // solid, with joints
}

TEST(hands, affineHandlesRefuseRulesOfTurns)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMessage message = {0};
    snwSim* sim = NewSim(context,
        "{'blueprint': 'worm', 'size': {'vertices': 120}, 'constraints': [{'terms': [{'handle': 'head', 'dof': "
        "'rotation_z'}], 'value': 0.1}]}",
        "");
    CHECK_INT(snwSim_SetParam(sim, "rigpbd.handles", 1, &message), snw_errorUnsupported);
    CHECK_CONTAINS(message.text, "name turns");
    snwFixture_Run(sim, 2, 1.0 / 60.0);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles that are sent far away

// One end is held, the other sent off: it takes its time, arrives exactly and stays; saved on the way, it goes on
// alike.
TEST(hands, handlesThatLeaveOthersBehindTakeTheirTime)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim *sim = NewSim(context, s_worm, ""), *other = NewSim(context, s_worm, "");
    const snwCharacter* character = sim->bodies[0].character;
    double size = snwVec3_Distance(character->lower, character->upper), most = 0.0;
    size_t bytes = snwSim_GetStateSize(sim);
    void* saved = malloc(bytes);
    REQUIRE(saved != NULL);
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 0}");
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    snwVec3 goal = snwVec3_Add(Pose(sim, 4)->place, (snwVec3){0.6 * size, 0.5 * size, 0});
    Drag(sim, 4, goal.x, goal.y);
    for (int i = 0; i < 30; ++i)
    {
        snwVec3 before = Pose(sim, 4)->place;
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        most = fmax(most, snwVec3_Distance(before, Pose(sim, 4)->place) / size);
        if (i == 2)
            CHECK_INT(snwSim_Save(sim, saved, bytes, NULL, NULL), snw_ok);
    }
    CHECK_NEAR(most, 2.0 / 60.0, 1e-6);
    CHECK(snwVec3_Distance(Pose(sim, 4)->place, goal) <= 1e-9);
    CHECK_INT(snwSim_Restore(other, saved, bytes, NULL), snw_ok);
    snwFixture_Run(other, 27, 1.0 / 60.0);
    CHECK(snwSim_Hash(sim) == snwSim_Hash(other));

    // Twice as far apart as at rest is as far as it goes.
    snwVec3 tail = Pose(sim, 0)->place;
    double rest = snwVec3_Distance(
        snwCharacterDef_HandlePoint(&character->def, 0), snwCharacterDef_HandlePoint(&character->def, 4));
    Drag(sim, 4, tail.x + 5 * size, tail.y);
    snwFixture_Run(sim, 120, 1.0 / 60.0);
    CHECK_NEAR(snwVec3_Distance(tail, Pose(sim, 4)->place), 2 * rest, 1e-6 * size);

    // Alone it is there at once: the body is carried along.
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 0, 'given': []}");
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    Drag(sim, 4, goal.x + 3 * size, goal.y);
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK_NEAR(Pose(sim, 4)->place.x, goal.x + 3 * size, 1e-9);
    free(saved);
    snwDestroySim(sim);
    snwDestroySim(other);
    snwDestroyContext(context);
}

// Held under the ground, a handle is led along it and its flesh stays whole and calm; a target outside is met exactly.
TEST(hands, handlesAreNotLedIntoColliders)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, s_worm, ", 'colliders': [{'name': 'ground', 'kind': 'plane'}]");
    double stretch = 0.0, least = INFINITY;
    for (int i = 0; i < 90; ++i)
    {
        double part = fmin(1.0, i / 60.0);
        Drag(sim, 1, 1 + 0.5 * part, 2 - 3 * part);
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        stretch = fmax(stretch, Measure(sim).maxStretch);
        least = fmin(least, Pose(sim, 1)->place.y);
    }
    CHECK(least > 0.0 && Pose(sim, 1)->place.y < 0.1);
    CHECK_NEAR(Pose(sim, 1)->place.x, 1.5, 1e-9);
    CHECK(stretch < 3.0);
    CHECK(Measure(sim).maxSpeed < 8.0); // m/s: it shook at 25

    Drag(sim, 1, 1, 0.3);
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK(snwVec3_Distance(Pose(sim, 1)->place, (snwVec3){1, 0.3, 0}) <= 1e-9);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles that squash and stretch

static const char* const s_affine = ", 'settings': {'rigpbd.handles': 'affine'%s}%s";

static void KeepShown(const snwSim* sim, float* rows)
{
    snwVertices shown;
    CHECK_INT(snwSim_GetShown(sim, 0, &shown), snw_ok);
    for (int i = 0; i < shown.count; ++i)
        memcpy(rows + 3 * i, (const char*)shown.positions + (size_t)i * (size_t)shown.stride, 3 * sizeof(float));
}

// A ball with one handle, thrown at the floor: broad and low when it lands, slim and high when it leaps off, and never
// more or less flesh.
TEST(hands, affineHandlesSquashAndStretch)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBall);
    shape.size = (snwVec3){0.4, 0.4, 0.4};
    shape.cells[0] = 8;
    shape.material.young = 2e4;
    shape.material.poisson = 0.48;
    snwCharacter *plain = NULL, *character = NULL;
    CHECK_INT(snwCreateShape(context, &shape, &plain, NULL), snw_ok);
    snwCharacterDef def = *snwCharacter_GetDef(plain);
    snwBoneDef bone = snwDefaultBoneDef();
    bone.tail = (snwVec3){0, 0.1, 0};
    def.bones = &bone, def.boneCount = 1;
    CHECK_INT(snwCreateCharacter(context, &def, &character, NULL), snw_ok);
    snwBodyDef body = snwDefaultBodyDef();
    body.name = "ball", body.character = character, body.transform.position.y = 0.3, body.velocity.y = -2;
    snwColliderDef floor = snwDefaultColliderDef(snw_colliderPlane);
    floor.name = "floor";
    snwSetting setting = {"rigpbd.handles", 1};
    snwSceneDef world = snwDefaultSceneDef();
    world.name = "ball", world.method = "rigpbd", world.bodies = &body, world.bodyCount = 1;
    world.colliders = &floor, world.colliderCount = 1, world.settings = &setting, world.settingCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    CHECK_INT(snwCreateScene(context, &world, (snwScene**)&simDef.scene, NULL), snw_ok);
    CHECK_INT(snwCreateSim(context, &simDef, &sim, NULL), snw_ok);
    double volume = Measure(sim).volume, lowest = 1, highest = 1, broad = 1, most = 0;
    for (int i = 0; i < 30; ++i)
    {
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        const snwMat3* linear = &Pose(sim, 0)->linear;
        broad = linear->m[1][1] < lowest ? linear->m[0][0] : broad;
        lowest = fmin(lowest, linear->m[1][1]), highest = fmax(highest, linear->m[1][1]);
        most = fmax(most, fabs(Measure(sim).volume / volume - 1));
    }
    CHECK(lowest < 0.8 && broad > 1.08 && highest > 1.03);
    CHECK(most < 0.04);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(plain);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// Pulled at both ends; its clips bring the stretch back.
TEST(hands, affineHandlesComeBackFromClips)
{
    enum
    {
        frames = 20
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char more[600], path[256];
    snprintf(more, sizeof more, s_affine, ", 'rigpbd.settle': 20", "");
    snwSim* sim = NewSim(context, s_worm, more);
    int count = snwRigpbd_Work(sim, 0)->model->vertexCount;
    float *was = calloc((size_t)frames * (size_t)count, 12), *is = calloc((size_t)count, 12);
    double volume = Measure(sim).volume, length = Pose(sim, 4)->place.x - Pose(sim, 0)->place.x;
    snwVec3 tail = Pose(sim, 0)->place, head = Pose(sim, 4)->place;
    snwExportDef def = snwDefaultExportDef(snw_exportClips);
    snwExporter* exporter = NULL;
    snwMessage message = {0};
    snprintf(path, sizeof path, "%s/stretched", snwTest_TempDir());
    def.path = path;
    def.overwrite = true;
    CHECK_INT(snwExporter_Open(context, &def, snwSim_GetScene(sim), &exporter, &message), snw_ok);
    for (int i = 0; i < frames; ++i)
    {
        if (i > 0)
            snwFixture_Run(sim, 1, 1.0 / 60.0);
        KeepShown(sim, was + 3 * (size_t)i * (size_t)count);
        CHECK_INT(snwExporter_AddFrame(exporter, sim, &message), snw_ok);
        Drag(sim, 0, tail.x - 0.3 * length * i / frames, tail.y);
        Drag(sim, 4, head.x + 0.3 * length * i / frames, head.y);
    }
    CHECK_INT(snwExporter_Finish(exporter, &message), snw_ok);
    snwMat3 a = Pose(sim, 2)->linear;
    CHECK(snwMat3_LargestEntry(snwMat3_Sub(snwMat3_TransposeMul(a, a), snwMat3_Identity())) > 0.1); // no rotation
    CHECK_NEAR(Measure(sim).volume / volume, 1, 0.05);
    snwDestroySim(sim);

    char clips[400];
    snprintf(clips, sizeof clips, ", 'clips': [{'file': '%s.clips.json'}]", path);
    snprintf(more, sizeof more, s_affine, "", clips);
    sim = NewSim(context, s_worm, more);
    double farthest = 0;
    for (int i = 1; i < frames; ++i)
    {
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        KeepShown(sim, is);
        for (int k = 0; k < 3 * count; ++k)
            farthest = fmax(farthest, (double)fabsf(is[k] - was[3 * (size_t)i * (size_t)count + (size_t)k]));
    }
    CHECK(farthest <= 1e-6);
    // Held where it is, it stays stretched.
    snwMat3 before = Pose(sim, 2)->linear;
    SayTo(sim, "{'kind': 'handle', 'body': 'b', 'handle': 'middle'}");
    snwFixture_Run(sim, 3, 1.0 / 60.0);
    CHECK(snwMat3_LargestEntry(snwMat3_Sub(before, Pose(sim, 2)->linear)) < 1e-9);
    snwDestroySim(sim);
    free(was), free(is);
    snwDestroyContext(context);
}

TEST(hands, wrongStretchesAreTold)
{
    static const struct
    {
        const char *clip, *says;
    } cases[] = {{"'body': 'b', 'handle': 0, 'keys': [{'time': 0, 'stretch': [1, 1]}]", "list of 6 numbers"},
        {"'body': 'b', 'handle': 0, 'keys': [{'time': 0, 'stretch': [1, 1, 1e9, 0, 0, 0]}]", "1000"},
        {"'pin': 'p', 'keys': [{'time': 0, 'stretch': [1, 1, 1, 0, 0, 0]}]", "only clips of handles"}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        char text[1024];
        snwSceneFile file;
        snwMessage message = {0};
        snprintf(text, sizeof text,
            "{'sinew': 1, 'method': 'rigpbd', 'bodies': [{'name': 'b', 'character': %s}], 'pins': [{'name': 'p', "
            "'body': 'b', 'lower': [-1, -1, -1], 'upper': [1, 1, 1]}], 'clips': [{%s}]}",
            s_worm, cases[i].clip);
        CHECK(snwFixture_ParseScene(context, text, &file, &message) < 0);
        CHECK_CONTAINS(message.text, cases[i].says);
    }
    snwDestroyContext(context);
}
