// rigpbd: linear constraints of the handles, in files and by command; and flesh that follows softly.

#include "fixture.h"
#include "test.h"

#include "sim/rigpbd/rigpbd.h"
#include "sinew/tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// character: the value of the body's key; more: the rest of the scene behind it.
#define SCENE                                                                                                          \
    "{'sinew': 1, 'name': 't', 'method': 'rigpbd', 'duration': 1, 'gravity': [0, 0, 0], 'bodies': [{'name': 'b', "     \
    "'character': %s}]%s}"

static snwResult ParseScene(
    snwContext* context, const char* character, const char* more, snwSceneFile* file, snwMessage* message)
{
    char text[2048];
    snprintf(text, sizeof text, SCENE, character, more);
    return snwFixture_ParseScene(context, text, file, message);
}

static snwSim* NewSim(snwContext* context, const char* character, const char* more)
{
    return snwFixture_OpenSim(context, SCENE, character, more);
}

static snwVec3 Place(const snwSim* sim, int handle)
{
    return snwRigpbd_Work(sim, 0)->state.pose[handle].place;
}

static double Angle(const snwSim* sim, int handle)
{
    const snwMat3* linear = &snwRigpbd_Work(sim, 0)->state.pose[handle].linear;
    return atan2(linear->m[1][0], linear->m[0][0]);
}

static double Size(const snwSim* sim)
{
    return snwRigpbd_Work(sim, 0)->model->size;
}

static void Give(snwSim* sim, int handle, uint32_t mask, snwVec3 place)
{
    snwCommand command = snwDefaultCommand(snw_commandHandle);
    command.index = handle, command.mask = mask, command.transform.position = place;
    CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
}

static void SetRule(snwSim* sim, int index, bool on, double value)
{
    snwCommand command = snwDefaultCommand(snw_commandConstraint);
    command.index = index, command.on = on, command.value = value;
    CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
}

// ---------------------------------------------------------------------------------------------------------------------
// Linear constraints

// Two arms stay at one height, and the middle turned.
static const char* const s_ruled =
    "{\"blueprint\":\"starfish\",\"size\":{\"vertices\":80},\"constraints\":["
    "{\"terms\":[{\"handle\":\"arm_3\",\"dof\":\"y\"},{\"handle\":\"arm_4\",\"dof\":\"y\",\"coefficient\":-1}]},"
    "{\"terms\":[{\"handle\":\"middle\",\"dof\":\"rotation_z\",\"coefficient\":2}],\"value\":0.4}]}";

TEST(rigpbd, constraintsOfAFileHoldInEveryFrame)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, s_ruled, "");
    snwVec3 rest = Place(sim, 1);
    for (int i = 0; i < 20; ++i)
    {
        Give(sim, 1, snw_dofX | snw_dofY, (snwVec3){rest.x + 0.3 * sin(0.7 * i), rest.y + 0.1 * cos(i), 0});
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        CHECK_NEAR(Place(sim, 3).y, Place(sim, 4).y, 1e-6 * Size(sim));
        CHECK_NEAR(Angle(sim, 0), 0.2, 1e-6);
    }
    CHECK(fabs(Place(sim, 2).y - Place(sim, 5).y) > 0.01); // which nothing holds
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// From a scene's script and by the API: values are met at the end of the step, and what is off holds nothing.
TEST(rigpbd, constraintCommandsSwitchAndSetThem)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, s_ruled,
        ",\"commands\":[{\"step\":2,\"kind\":\"constraint\",\"body\":\"b\",\"constraint\":0,\"value\":0.1}]");
    snwFixture_Run(sim, 2, 1.0 / 60.0);
    CHECK_NEAR(Place(sim, 3).y - Place(sim, 4).y, 0, 1e-6);
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK_NEAR(Place(sim, 3).y - Place(sim, 4).y, 0.1, 1e-6);
    snwMeasures measures;
    CHECK_INT(snwSim_GetMeasures(sim, 0, &measures), snw_ok);
    CHECK(measures.maxSpeed < 12); // 0.05 m each within the step, not within a substep
    SetRule(sim, 1, false, 0.4);
    Give(sim, 0, snw_dofRotationZ, Place(sim, 0)); // back to the rest pose' turn
    snwFixture_Run(sim, 3, 1.0 / 60.0);
    CHECK_NEAR(Angle(sim, 0), 0, 1e-6);
    Give(sim, 0, 0, Place(sim, 0));
    SetRule(sim, 1, true, -0.6);
    snwFixture_Run(sim, 1, 1.0 / 60.0);
    CHECK_NEAR(Angle(sim, 0), -0.3, 1e-6);
    SetRule(sim, 0, false, 0.1);
    Give(sim, 3, snw_dofY, (snwVec3){0, 0.3, 0});
    snwFixture_Run(sim, 3, 1.0 / 60.0);
    CHECK(fabs(Place(sim, 3).y - Place(sim, 4).y - 0.1) > 0.05);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(rigpbd, constraintsAreWrittenWithTheirScene)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file, again;
    char* text = NULL;
    size_t size = 0;
    REQUIRE(ParseScene(context, s_ruled, "", &file, NULL) == snw_ok);
    REQUIRE(snwSceneFile_Format(context, &file, &text, &size, NULL) == snw_ok);
    REQUIRE(snwSceneFile_Parse(context, text, size, "t", NULL, &again, NULL) == snw_ok);
    const snwCharacterDef* def = &snwScene_GetDef(again.scene)->bodies[0].character->def;
    REQUIRE(def->constraintCount == 2 && def->constraints[0].termCount == 2);
    CHECK_INT(def->constraints[0].terms[1].handle, 4);
    CHECK_INT(def->constraints[0].terms[1].dof, snw_dofY);
    CHECK(def->constraints[0].terms[1].coefficient == -1 && def->constraints[0].terms[0].coefficient == 1);
    CHECK(def->constraints[1].value == 0.4 && def->constraints[1].terms[0].coefficient == 2);
    snwContext_Free(context, text);
    snwSceneFile_Close(&again);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

static void CheckMistake(snwContext* context, const char* character, const char* place, const char* words)
{
    snwSceneFile file;
    snwMessage message = {0};
    CHECK_INT(ParseScene(context, character, "", &file, &message), snw_errorInput);
    CHECK_CONTAINS(message.place, place);
    CHECK_CONTAINS(message.text, words);
}

TEST(rigpbd, mistakesInConstraintsAreNamed)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    CheckMistake(context, "{\"blueprint\":\"starfish\",\"constraints\":[{\"terms\":[]}]}",
        "bodies[0].character.constraints[0].terms", "at least one term");
    CheckMistake(context,
        "{\"blueprint\":\"starfish\",\"constraints\":[{\"terms\":[{\"handle\":\"arm_9\",\"dof\":\"x\"}]}]}",
        "constraints[0].terms[0].handle", "no handle 'arm_9'");
    CheckMistake(context,
        "{\"blueprint\":\"starfish\",\"constraints\":[{\"terms\":[{\"handle\":\"arm_1\",\"dof\":\"w\"}]}]}",
        "constraints[0].terms[0].dof", "'w'");
    CheckMistake(context,
        "{\"blueprint\":\"starfish\",\"constraints\":[{\"terms\":[{\"handle\":\"arm_1\",\"dof\":\"z\"}]}]}",
        "constraints[0].terms[0].dof", "flat character");
    CheckMistake(context,
        "{\"blueprint\":\"ghost\",\"constraints\":[{\"terms\":[{\"handle\":\"top\",\"dof\":\"rotation_z\"}]}]}",
        "constraints[0].terms[0].dof", "corner of a cage");
    snwSim* sim = NewSim(context, s_ruled, "");
    snwCommand command = snwDefaultCommand(snw_commandConstraint);
    snwMessage message = {0};
    command.index = 2;
    CHECK_INT(snwSim_Push(sim, &command, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "constraint must be 0..1");
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Locks

// The last handle is locked where it is, whole; a hand tears the first one about by a third of the size a frame. It is
// where it wants to be if it is firm, or the character flat.
static void CheckLock(snwContext* context, const char* name, const char* size, bool firm)
{
    char character[128];
    snprintf(character, sizeof character, "{\"blueprint\":\"%s\",\"size\":{%s}}", name, size);
    snwSim* sim = NewSim(context, character, ",\"settings\":{\"rigpbd.weights\":\"closest\"}");
    CHECK_INT(snwSim_SetParam(sim, "rigpbd.hands", firm ? snw_rigpbdHandsFirm : snw_rigpbdHandsBearable, NULL), snw_ok);
    int last = snwRigpbd_Work(sim, 0)->model->handleCount - 1;
    bool flat = snwRigpbd_Work(sim, 0)->model->flat;
    snwVec3 home = Place(sim, 0), locked = Place(sim, last);
    uint64_t seed = 7;
    Give(sim, last, snw_dofAll, locked);
    for (int i = 0; i < 6; ++i)
    {
        double reach = 0.33 * Size(sim);
        snwVec3 to = {
            home.x + reach * (2 * snwTest_Random(&seed) - 1), home.y + reach * (2 * snwTest_Random(&seed) - 1), home.z};
        Give(sim, 0, snw_dofX | snw_dofY | snw_dofZ, to);
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        double missed = snwVec3_Distance(Place(sim, last), locked);
        missed += flat || firm ? snwVec3_Distance(Place(sim, 0), to) : 0;
        missed += flat ? fabs(Angle(sim, last)) : 0;
        if (!(missed <= 1e-6 * Size(sim)))
            snwTest_Fail(__FILE__, __LINE__, "%s misses by %g of its size", name, missed / Size(sim));
    }
    snwDestroySim(sim);
}

TEST_HEAVY(rigpbd, lockedHandlesStayUnderAHardHand)
{
    const char* const flat[] = {"ghost", "starfish", "worm", "ellipse", "mushroom", "octopus-2d", "fish-2d", "bunny"};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 8; ++i)
        CheckLock(context, flat[i], "\"vertices\":60", false);
    CheckLock(context, "bar", "\"vertices\":0", true);
    CheckLock(context, "bar", "\"vertices\":0", false);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Hands with a limit

// N: the hardest pull on a bar that floats, whose end shall be a size away at once.
static double MostPull(bool firm, double* bears)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = NewSim(context, "{\"blueprint\":\"bar\"}", ",\"gravity\":[0,0,0]");
    CHECK_INT(snwSim_SetParam(sim, "rigpbd.hands", firm ? snw_rigpbdHandsFirm : snw_rigpbdHandsBearable, NULL), snw_ok);
    const snwRigpbdModel* model = snwRigpbd_Work(sim, 0)->model;
    *bears = 0.3 * model->character->def.materials[0].young * cbrt(model->volumes[0] * model->volumes[0]);
    snwVec3 to = Place(sim, 0), momentum = {0, 0, 0};
    double most = 0;
    to.y += Size(sim);
    for (int i = 0; i < 120; ++i)
    {
        snwMeasures now = {0};
        Give(sim, 0, snw_dofX | snw_dofY | snw_dofZ, to);
        snwFixture_Run(sim, 1, 1.0 / 60.0);
        CHECK_INT(snwSim_GetMeasures(sim, 0, &now), snw_ok);
        most = fmax(most, 60 * snwVec3_Distance(now.momentum, momentum));
        momentum = now.momentum;
    }
    CHECK(snwVec3_Distance(Place(sim, 0), to) < 0.05 * Size(sim)); // it gets there
    snwDestroySim(sim);
    snwDestroyContext(context);
    return most;
}

TEST(rigpbd, handsThatLeadHandlesPullNoHarderThanFleshBears)
{
    double bears;
    double most = MostPull(false, &bears);
    CHECK(most > 0.5 * bears && most < 1.01 * bears);
    CHECK(MostPull(true, &bears) > 5 * bears);
}

// ---------------------------------------------------------------------------------------------------------------------
// Compliance

// x'' = w^2 (r - x) + 2 w (r' - x'), r going from 0 to 1 within a frame, as what is newly given does: where x is after
// so many frames.
static double Follow(double w, int frames)
{
    double x = 0, v = 0, r = 0, h = 2e-6;
    for (int i = 0; i < (int)(frames / 60.0 / h); ++i)
    {
        double t = fmin(1, 60 * h * (i + 1)), next = t - t * (1 - t) * (1 - t);
        v += h * (w * w * (next - x) + 2 * w * ((next - r) / h - v));
        x += h * v;
        r = next;
    }
    return x;
}

// Stiff flesh with one handle follows it as a critically damped spring does, whatever the number of substeps.
TEST(rigpbd, compliantFleshFollowsAsADampedSpring)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const double exact[4] = {Follow(900 / sqrt(1000), 1), Follow(900 / sqrt(1000), 2), Follow(900 / sqrt(1000), 4),
        Follow(900 / sqrt(1000), 8)};
    for (int substeps = 15; substeps <= 60; substeps *= 4)
    {
        char settings[128];
        snprintf(settings, sizeof settings, ",\"settings\":{\"rigpbd.compliance\":1000,\"sim.substeps\":%d}", substeps);
        snwSim* sim = NewSim(context,
            "{\"blueprint\":{\"sinew\":1,\"name\":\"tile\",\"material\":{\"young\":1e6},\"size\":{\"vertices\":30},"
            "\"outline\":[{\"points\":[[-0.1,-0.1,\"corner\"],[0.1,-0.1,\"corner\"],[0.1,0.1,\"corner\"],"
            "[-0.1,0.1,\"corner\"]]}],\"handles\":[{\"name\":\"middle\",\"at\":[0,0,0]}]}}",
            settings);
        snwMeasures start, now;
        CHECK_INT(snwSim_GetMeasures(sim, 0, &start), snw_ok);
        Give(sim, 0, snw_dofAll, (snwVec3){0.01, 0, 0});
        for (int i = 0, frame = 0; i < 4; ++i)
        {
            for (; frame < 1 << i; ++frame)
                snwFixture_Run(sim, 1, 1.0 / 60.0);
            CHECK_INT(snwSim_GetMeasures(sim, 0, &now), snw_ok);
            CHECK_NEAR((now.centre.x - start.centre.x) / 0.01, exact[i], 0.5 / substeps);
        }
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}
