// Where a body is does not matter: its numbers begin at an origin of its own (src/sim/origin.h), and what rounding does
// to velocities in short substeps is taken back.
// Labels: kernels

#include "math/vec.h"
#include "sim/origin.h"
#include "sinew/tools.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const s_methods[] = {"pbd", "pbcd", "rigpbd", "apd", "skelfem"}; // the first three compute in float
static const snwVec3 s_home = {0, 0, 0}, s_far = {3072, -2047.25, 1024};            // 3.8 km

typedef struct World
{
    snwContext* context;
    snwSceneFile file;
    snwSim* sim;
    snwVec3 place;
} World;

// text: a scene in which every [@ x, y, z] is a place that moves along, and every $ the method.
static World Open(const char* text, const char* method, snwVec3 place, int threads)
{
    World world = {.place = place};
    char scene[4096];
    size_t used = 0;
    for (; *text != 0 && used + 100 < sizeof scene; ++text)
    {
        double x, y, z;
        int length = 0;
        if (*text == '$')
            used += (size_t)snprintf(scene + used, sizeof scene - used, "%s", method);
        else if (sscanf(text, "[@ %lf, %lf, %lf]%n", &x, &y, &z, &length) == 3 && length > 0)
        {
            used += (size_t)snprintf(
                scene + used, sizeof scene - used, "[%.17g, %.17g, %.17g]", place.x + x, place.y + y, place.z + z);
            text += length - 1;
        }
        else
            scene[used++] = *text;
    }
    snwMessage message = {0};
    snwContextDef context = snwDefaultContextDef();
    context.threadCount = threads;
    snwCreateContext(&context, &world.context, NULL);
    if (snwSceneFile_Parse(world.context, scene, used, "far", NULL, &world.file, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    snwSimDef def = snwDefaultSimDef();
    def.scene = world.file.scene;
    if (snwCreateSim(world.context, &def, &world.sim, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    return world;
}

static void Close(World* world)
{
    snwDestroySim(world->sim);
    snwSceneFile_Close(&world->file);
    snwDestroyContext(world->context);
}

static void Step(World* world, int frames)
{
    for (int i = 0; i < frames; ++i)
        if (snwSim_Step(world->sim, 1.0 / 60, NULL) < 0)
            snwTest_Fail(__FILE__, __LINE__, "step %d failed", i);
}

static snwVec3 At(const float* data, int stride, int index)
{
    const float* row = (const float*)((const char*)data + (size_t)index * (size_t)stride);
    return (snwVec3){(double)row[0], (double)row[1], (double)row[2]};
}

// m: the farthest that a vertex of a body, as simulated or as shown, is from its place in the other world.
static double Apart(const World* a, const World* b, int which)
{
    double apart = 0;
    for (int i = 0; i < snwSim_GetBodyCount(a->sim); ++i)
    {
        snwVertices one, two;
        snwSim_SeeVertices(a->sim, i, which, a->place, &one);
        snwSim_SeeVertices(b->sim, i, which, b->place, &two);
        for (int v = 0; v < one.count; ++v)
            apart = fmax(apart, snwVec3_Distance(At(one.positions, one.stride, v), At(two.positions, two.stride, v)));
    }
    return apart;
}

#define BLOCK "\"character\": {\"shape\": \"block\", \"size\": [0.4, 0.4, 0.4], \"cells\": [2, 2, 2]}"
#define WORM                                                                                                           \
    "\"character\": {\"blueprint\": {\"sinew\": 1, \"name\": \"worm\", \"box\": {\"size\": [0.8, 0.2, 0.2], "          \
    "\"cells\": [12, 3, 3]}, \"bones\": [{\"name\": \"front\", \"head\": [-0.3, 0, 0], \"tail\": [-0.1, 0, 0], "       \
    "\"radius\": 0.05}, {\"name\": \"back\", \"head\": [0.1, 0, 0], \"tail\": [0.3, 0, 0], \"radius\": 0.05, "         \
    "\"parent\": \"front\"}]}}"

// ---------------------------------------------------------------------------------------------------------------------
// Places

// A block falls on a ball that rolls and on another block, a third one is pinned and pulled.
static const char s_yard[] =
    "{\"sinew\": 1, \"method\": \"$\", \"rate\": 60, \"bodies\": [{\"name\": \"low\", \"position\": [@ 0, 0.21, "
    "0], " BLOCK "}, {\"name\": \"high\", \"position\": [@ 0.1, 0.65, 0.05], \"angles\": [0, 0, 5], " BLOCK
    "}, {\"name\": \"held\", \"position\": [@ 1.5, 1, 0], " BLOCK "}], \"pins\": [{\"name\": \"top\", \"body\": "
    "\"held\", \"lower\": [-1, 0.19, -1], \"upper\": [1, 1, 1]}], \"props\": [{\"name\": \"ball\", \"kind\": "
    "\"sphere\", "
    "\"radius\": 0.1, \"density\": 300, \"position\": [@ 0.1, 1.0, 0]}], \"colliders\": [{\"name\": \"ground\", "
    "\"kind\": \"plane\", \"friction\": 0.5, \"position\": [@ 0, 0, 0]}], \"commands\": [{\"step\": 3, \"kind\": "
    "\"drag\", \"body\": \"held\", \"vertex\": 0, \"position\": [@ 1.2, 0.5, 0], \"strength\": 0.3}]}";

TEST(origin, everythingMovesAsAtHome)
{
    for (int i = 0; i < 4; ++i)
    {
        World home = Open(s_yard, s_methods[i], s_home, 1), far = Open(s_yard, s_methods[i], s_far, 1);
        Step(&home, 20);
        Step(&far, 20);
        snwMeasures a, b;
        snwProps balls[2];
        snwSim_GetMeasures(home.sim, -1, &a);
        snwSim_GetMeasures(far.sim, -1, &b);
        snwSim_GetProps(home.sim, &balls[0]);
        snwSim_GetProps(far.sim, &balls[1]);
        snwVec3 way = snwVec3_Sub(balls[1].data[0].transform.position, balls[0].data[0].transform.position);
        CHECK_NEAR(Apart(&home, &far, 0), 0, 3e-4); // 0.75 m from home it is half of that, for contacts are rough
        CHECK_NEAR(snwVec3_Distance(way, s_far), 0, 3e-4);
        CHECK(a.contacts > 0);
        CHECK_NEAR(a.maxStretch, b.maxStretch, 1e-3);
        CHECK_NEAR(a.elastic, b.elastic, 1e-2 * a.elastic);
        CHECK_NEAR(snwVec3_Distance(b.centre, snwVec3_Add(a.centre, s_far)), 0, 1e-4);
        Close(&home);
        Close(&far);
    }
}

// Bones that a method leads, handles that a command moves; what is shown and what is told of them.
TEST(origin, rigsMoveAsAtHome)
{
    static const char scene[] = "{\"sinew\": 1, \"method\": \"$\", \"rate\": 60, \"bodies\": [{\"name\": \"worm\", "
                                "\"position\": [@ 0, 0.5, 0], "
                                "\"angles\": [0, 30, 0], " WORM "}], \"commands\": [%s]}";
    static const char lift[] = "{\"step\": 2, \"kind\": \"handle\", \"body\": \"worm\", \"handle\": \"front\", "
                               "\"position\": [@ -0.1, 0.6, 0.1], \"given\": [\"x\", \"y\", \"z\"]}";
    for (int i = 0; i < 4; ++i)
    {
        char text[2048];
        snprintf(text, sizeof text, scene, strcmp(s_methods[i], "rigpbd") == 0 ? lift : "");
        World home = Open(text, s_methods[i], s_home, 1), far = Open(text, s_methods[i], s_far, 1);
        snwTransforms bones[2];
        Step(&home, 20);
        Step(&far, 20);
        snwSim_GetBones(home.sim, 0, &bones[0]);
        snwSim_GetBones(far.sim, 0, &bones[1]);
        CHECK_NEAR(Apart(&home, &far, 0), 0, 2e-5);
        CHECK_NEAR(Apart(&home, &far, 1), 0, 2e-5);
        for (int b = 0; b < bones[0].count; ++b)
            CHECK_NEAR(
                snwVec3_Distance(bones[1].data[b].position, snwVec3_Add(bones[0].data[b].position, s_far)), 0, 2e-5);
        Close(&home);
        Close(&far);
    }
}

// Flat handles, affine ones, and the rivals that know nothing of time.
TEST(origin, flatAndAffineHandlesMoveAsAtHome)
{
    static const char scene[] =
        "{\"sinew\": 1, \"method\": \"rigpbd\", \"rate\": 60, \"settings\": {%s}, \"bodies\": [{\"name\": "
        "\"worm\", \"position\": [@ 0, 0, 0], \"angles\": [0, 0, 20], \"character\": {\"blueprint\": "
        "\"worm\", \"size\": {\"vertices\": 200}}}], \"commands\": [{\"step\": 2, \"kind\": \"handle\", "
        "\"body\": \"worm\", \"handle\": \"back\", \"position\": [@ 0.1, 0.2, 0], \"given\": [\"x\", "
        "\"y\"]}]}";
    static const char* const settings[] = {
        "", "\"rigpbd.handles\": \"affine\"", "\"rigpbd.solver\": \"arap\"", "\"rigpbd.solver\": \"fast\""};
    const snwVec3 away = {s_far.x, s_far.y, 0}; // flat characters live in z = 0
    for (int i = 0; i < 4; ++i)
    {
        char text[1024];
        snprintf(text, sizeof text, scene, settings[i]);
        World home = Open(text, "", s_home, 1), far = Open(text, "", away, 1);
        Step(&home, 10);
        Step(&far, 10);
        CHECK_NEAR(Apart(&home, &far, 0), 0, 2e-5);
        CHECK_NEAR(Apart(&home, &far, 1), 0, 2e-5);
        Close(&home);
        Close(&far);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// On the way

static const char s_flight[] =
    "{\"sinew\": 1, \"method\": \"$\", \"rate\": 60, \"settings\": {\"sim.substeps\": 2}, \"bodies\": [{\"name\": "
    "\"b\", \"position\": [@ 0, 0, 0], \"velocity\": [200, 30, -100], \"angular_velocity\": [1, 2, 3], " BLOCK
    "}], \"gravity\": [0, 0, 0]}";

// Over 200 m and back to where it stood: a body that flies through its cells turns and swings as one that stays.
TEST(origin, followsABodyThatTravels)
{
    for (int i = 0; i < 4; ++i)
    {
        World flies = Open(s_flight, s_methods[i], s_home, 1);
        snwMeasures first, last;
        snwSim_GetMeasures(flies.sim, 0, &first);
        Step(&flies, 60);
        snwSim_GetMeasures(flies.sim, 0, &last);
        snwVec3 origin = *flies.sim->bodies[0].origin;
        CHECK_NEAR(snwVec3_Distance(last.centre, (snwVec3){200, 30, -100}), 0, 1e-4);
        CHECK_NEAR(snwVec3_Distance(first.momentum, last.momentum), 0, 1e-5 * snwVec3_Length(first.momentum));
        CHECK(snwVec3_Distance(origin, last.centre) < 5);
        CHECK(fmod(origin.x, 1) == 0 && fmod(origin.y, 1) == 0 && fmod(origin.z, 1) == 0);

        snwCommand reset = snwDefaultCommand(snw_commandReset);
        snwSim_Push(flies.sim, &reset, NULL);
        Step(&flies, 1);
        snwSim_GetMeasures(flies.sim, 0, &first);
        CHECK(snwVec3_Length(first.centre) < 5 && snwVec3_Length(*flies.sim->bodies[0].origin) < 5);
        Close(&flies);
    }
}

TEST(origin, isSavedAndHasTheSameBitsForAnyThreads)
{
    for (int i = 0; i < 4; ++i)
    {
        World one = Open(s_yard, s_methods[i], s_far, 1), three = Open(s_yard, s_methods[i], s_far, 3);
        World flies = Open(s_flight, s_methods[i], s_far, 1);
        Step(&one, 8);
        Step(&three, 8);
        CHECK(snwSim_Hash(one.sim) == snwSim_Hash(three.sim));
        Close(&one);
        Close(&three);

        // Restored where another origin was.
        static unsigned char saved[1 << 18];
        size_t size = 0;
        REQUIRE(snwSim_GetStateSize(flies.sim) <= sizeof saved);
        Step(&flies, 5);
        CHECK_INT(snwSim_Save(flies.sim, saved, sizeof saved, &size, NULL), snw_ok);
        Step(&flies, 5);
        uint64_t hash = snwSim_Hash(flies.sim);
        CHECK_INT(snwSim_Restore(flies.sim, saved, size, NULL), snw_ok);
        Step(&flies, 5);
        CHECK(snwSim_Hash(flies.sim) == hash);
        flies.sim->bodies[0].origin->x = INFINITY;
        snwSim_Save(flies.sim, saved, sizeof saved, &size, NULL);
        CHECK_INT(snwSim_Restore(flies.sim, saved, size, NULL), snw_errorInput);
        Close(&flies);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What is seen

// Normals of the skin are those at home, where its places are rounded; rays hit what they aim at.
TEST(origin, skinsAreSeenAndPickedAsAtHome)
{
    World home = Open(s_yard, "pbcd", s_home, 1), far = Open(s_yard, "pbcd", s_far, 1);
    snwSkin a, b, seen;
    Step(&home, 2);
    Step(&far, 2);
    snwSim_GetSkin(home.sim, 1, &a);
    REQUIRE(snwSim_GetSkin(far.sim, 1, &b) == snw_ok);
    for (int i = 0; i < a.vertexCount; ++i)
    {
        snwVec3 x = snwVec3_Add(At(a.positions, a.stride, i), s_far);
        CHECK_NEAR(snwVec3_Distance(At(a.normals, a.stride, i), At(b.normals, b.stride, i)), 0, 1e-5);
        CHECK_NEAR(snwVec3_Distance(x, At(b.positions, b.stride, i)), 0, 5e-4);
    }
    REQUIRE(snwSim_SeeSkin(far.sim, 1, s_far, &seen) == snw_ok);
    for (int i = 0; i < a.vertexCount; ++i)
        CHECK_NEAR(snwVec3_Distance(At(a.positions, a.stride, i), At(seen.positions, seen.stride, i)), 0, 1e-6);

    snwPick picks[2];
    snwVec3 from = {0.12, 5, 0.03}, down = {0, -1, 0};
    REQUIRE(snwSim_Pick(home.sim, from, down, &picks[0]) == snw_ok);
    REQUIRE(snwSim_Pick(far.sim, snwVec3_Add(from, s_far), down, &picks[1]) == snw_ok);
    CHECK_INT(picks[0].body, 1);
    CHECK_INT(picks[1].triangle, picks[0].triangle);
    CHECK_NEAR(picks[1].distance, picks[0].distance, 1e-6);
    CHECK_NEAR(snwVec3_Distance(picks[1].position, snwVec3_Add(picks[0].position, s_far)), 0, 1e-6);
    Close(&home);
    Close(&far);
}

// ---------------------------------------------------------------------------------------------------------------------
// Short substeps

// N substeps of h fall by g h^2 N (N + 1) / 2.
TEST(origin, fallsInShortSubsteps)
{
    static const char scene[] = "{\"sinew\": 1, \"method\": \"$\", \"rate\": 60, \"settings\": {\"sim.substeps\": "
                                "256}, \"bodies\": [{\"name\": "
                                "\"b\", \"position\": [@ 0, 0, 0], \"velocity\": [0, -12, 0], " BLOCK "}]}";
    for (int i = 0; i < 3; ++i)
    {
        World falls = Open(scene, s_methods[i], s_far, 1);
        snwMeasures first, last;
        snwSim_GetMeasures(falls.sim, 0, &first);
        Step(&falls, 15);
        snwSim_GetMeasures(falls.sim, 0, &last);
        double h = 1.0 / (60 * 256), n = 15 * 256, fall = 9.81 * h * h * n * (n + 1) / 2;
        CHECK_NEAR(first.centre.y - last.centre.y - 12 * h * n, fall, 5e-5 * fall);
        CHECK_NEAR(last.momentum.y / 64, -12 - 9.81 * h * n, 1e-5);
        Close(&falls);
    }
}

// Elements push each other by less than floats are apart here. Implicit Euler damps: less with every substep more.
TEST(origin, flightInShortSubstepsKeepsMomentumAndGainsNothing)
{
    static const char scene[] =
        "{\"sinew\": 1, \"method\": \"$\", \"rate\": 60, \"settings\": {\"sim.substeps\": %d%s}, \"gravity\": [0, "
        "0, 0], \"bodies\": [{\"name\": \"b\", \"position\": [@ 0, 0, 0], \"velocity\": [1, 0.5, -0.3], "
        "\"angular_velocity\": [1, 4, 2], " BLOCK "}]}";
    static const int substeps[] = {64, 256};
    for (int i = 0; i < 10; ++i)
    {
        char text[1024];
        snprintf(text, sizeof text, scene, substeps[i % 2], i < 8 ? "" : ", \"pbd.law\": \"compliant\"");
        World flies = Open(text, s_methods[i / 2 % 4], s_home, 1);
        snwMeasures first, last;
        snwSim_GetMeasures(flies.sim, 0, &first);
        Step(&flies, i % 2 == 0 ? 20 : 8);
        snwSim_GetMeasures(flies.sim, 0, &last);
        snwVec3 turn[2] = {snwVec3_Sub(first.angularMomentum, snwVec3_Cross(first.centre, first.momentum)),
            snwVec3_Sub(last.angularMomentum, snwVec3_Cross(last.centre, last.momentum))};
        CHECK_NEAR(snwVec3_Distance(first.momentum, last.momentum), 0, 1e-5 * snwVec3_Length(first.momentum));
        CHECK_NEAR(snwVec3_Distance(turn[0], turn[1]), 0, 2e-3 * snwVec3_Length(turn[0]));
        CHECK(last.energy < 1.0001 * first.energy);
        Close(&flies);
    }
}
