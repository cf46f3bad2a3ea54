// Hands on rigpbd's handles: commands that say nothing of where, parameters that change while running, handles that
// squash and stretch.

#include "fixture.h"
#include "test.h"

#include "math/eigen.h"
#include "math/transform.h"
#include "sim/rigpbd/rigpbd.h"
#include "sinew/tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ' for "
static snwResult Parse(snwContext* context, const char* text, snwSceneFile* file, snwMessage* message)
{
    char* copy = strdup(text);
    for (char* c = copy; *c != 0; ++c)
        *c = (char)(*c == '\'' ? '"' : *c);
    char* plain = snwFixture_Unpainted(copy);
    snwResult result = snwSceneFile_Parse(context, plain, strlen(plain), "hands.json", NULL, file, message);
    free(plain);
    free(copy);
    return result;
}

static snwSim* NewSim(snwContext* context, const char* character, const char* more)
{
    char text[4096];
    snwSceneFile file;
    snwMessage message = {0};
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    snprintf(text, sizeof text,
        "{'sinew': 1, 'name': 'hands', 'method': 'rigpbd', 'duration': 2, 'gravity': [0, 0, 0], 'bodies': [{'name': "
        "'b', 'character': %s, 'position': [1, 2, 0], 'velocity': [0.3, 0.2, 0], 'angular_velocity': [0, 0, 1]}]%s}",
        character, more);
    if (Parse(context, text, &file, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    def.scene = file.scene;
    if (snwCreateSim(context, &def, &sim, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    snwSceneFile_Close(&file);
    return sim;
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
