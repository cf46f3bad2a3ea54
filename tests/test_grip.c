// Hands on flesh: balls of it, held by a spring with a limit (sim/grip.h), in every method.

#include "fixture.h"
#include "test.h"

#include "sim/grip.h"
#include "sinew/tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double s_dt = 1.0 / 60.0;

// With laws that know Young's modulus.
static const struct
{
    const char *method, *settings;
} s_cases[] = {{"pbd", "'pbd.law': 'compliant', 'pbd.iterations': 60"}, {"pbcd", "'pbcd.iterations': 60"},
    {"apd", "'apd.iterations': 20"}, {"rigpbd", "'rigpbd.iterations': 60"}, {"skelfem", "'skelfem.newton': 20"}};

enum
{
    snw_caseCount = sizeof s_cases / sizeof *s_cases
};

static const char* const s_block =
    "{'shape': 'block', 'size': [0.8, 0.4, 0.4], 'cells': [8, 4, 4], 'material': {'density': 1000, 'young': 5e4, "
    "'poisson': 0.4, 'damping': 0}}";

// more: further keys of the scene.
static snwSim* Open(
    snwContext* context, const char* method, const char* settings, const char* character, const char* more)
{
    return snwFixture_OpenSim(context,
        "{'sinew': 1, 'name': 'grip', 'method': '%s', 'duration': 2, 'settings': {%s}, 'bodies': [{'name': 'b', "
        "'character': %s}]%s}",
        method, settings, character, more);
}

static const char* const s_weightless = ", 'gravity': [0, 0, 0]";
static const char* const s_clamped =
    ", 'gravity': [0, 0, 0], 'pins': [{'name': 'wall', 'body': 'b', 'lower': [-1, -1, -1], 'upper': [-0.39, 1, 1]}]";

static snwVec3 VertexAt(const snwSim* sim, int vertex)
{
    snwVertices v;
    CHECK_INT(snwSim_GetVertices(sim, 0, &v), snw_ok);
    const float* p = (const float*)((const char*)v.positions + (size_t)vertex * (size_t)v.stride);
    return (snwVec3){p[0], p[1], p[2]};
}

// The vertex that is farthest in this direction at rest.
static int FindVertex(const snwSim* sim, snwVec3 direction)
{
    const snwCharacterDef* def = &sim->bodies[0].character->def;
    int best = 0;
    for (int i = 1; i < def->vertexCount; ++i)
        if (snwVec3_Dot(def->vertices[i], direction) > snwVec3_Dot(def->vertices[best], direction))
            best = i;
    return best;
}

static void Drag(snwSim* sim, int vertex, snwVec3 place, double strength, double radius)
{
    snwCommand command = snwDefaultCommand(snw_commandDrag);
    command.index = vertex, command.transform.position = place, command.value = strength, command.radius = radius;
    CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
}

// c of the only hand, with the masses that the character has.
static snwVec3 Middle(const snwSim* sim)
{
    const snwGrip* grip = snwSim_GetGrip(sim, 0, 0);
    snwVec3 sum = {0, 0, 0};
    double mass = 0.0;
    for (int i = 0; i < grip->count; ++i)
    {
        double m = (double)grip->parts[i].bump * sim->bodies[0].character->masses[grip->parts[i].vertex];
        sum = snwVec3_MulAdd(sum, m, VertexAt(sim, grip->parts[i].vertex));
        mass += m;
    }
    return snwVec3_Scale(sum, 1.0 / mass);
}

static double Size(const snwSim* sim)
{
    return snwVec3_Distance(sim->bodies[0].character->lower, sim->bodies[0].character->upper);
}

// ---------------------------------------------------------------------------------------------------------------------
// What it does

TEST(grip, nothingJumpsWhenItIsTaken)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_caseCount; ++i)
    {
        snwSim* sim = Open(context, s_cases[i].method, s_cases[i].settings, s_block, s_weightless);
        int vertex = FindVertex(sim, (snwVec3){1, 1, 1});
        Drag(sim, vertex, VertexAt(sim, vertex), 0.9, 0.2);
        snwFixture_Run(sim, 5, s_dt);
        snwMeasures m;
        CHECK_INT(snwSim_GetMeasures(sim, 0, &m), snw_ok);
        CHECK(m.maxSpeed < 1e-4);
        CHECK(snwVec3_Length(sim->grabs[0].vector) > 0.01); // though the middle is elsewhere
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

TEST_HEAVY(grip, middleOfWhatIsHeldGoesToTheHand)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_caseCount; ++i)
    {
        snwSim* sim = Open(context, s_cases[i].method, s_cases[i].settings, s_block, s_weightless);
        int vertex = FindVertex(sim, (snwVec3){1, 0.1, 0.1});
        snwVec3 from = VertexAt(sim, vertex), to = snwVec3_Add(from, (snwVec3){0.2, 0.3, 0});
        Drag(sim, vertex, to, 0.5, 0.2);
        snwFixture_Run(sim, 120, s_dt);
        snwVec3 now = snwVec3_Add(Middle(sim), sim->grabs[0].vector);
        CHECK(snwSim_GetGrip(sim, 0, 0)->count > 1);
        CHECK(snwVec3_Distance(now, to) < 0.01 * Size(sim));
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

// A block on a wall, pulled at its free end: where it comes to rest. The spring is stretched, too, so a stiffness that
// knew the substep would show.
TEST_HEAVY(grip, stiffnessDoesNotDependOnTheSubstep)
{
    static const int counts[] = {1, 4};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (int i = 0; i < snw_caseCount; ++i)
    {
        double way[2];
        for (int k = 0; k < 2; ++k)
        {
            char settings[200];
            snprintf(settings, sizeof settings, "%s, 'sim.substeps': %d", s_cases[i].settings, counts[k]);
            snwSim* sim = Open(context, s_cases[i].method, settings, s_block, s_clamped);
            int vertex = FindVertex(sim, (snwVec3){1, 0.1, 0.1});
            snwVec3 from = VertexAt(sim, vertex);
            for (int f = 1; f <= 30; ++f)
            {
                Drag(sim, vertex, snwVec3_Add(from, (snwVec3){0.05 * f / 30.0, 0, 0}), 0.2, 0.15);
                snwFixture_Run(sim, 1, s_dt);
            }
            snwFixture_Run(sim, 60, s_dt);
            const snwGrip* grip = snwSim_GetGrip(sim, 0, 0);
            CHECK(snwVec3_Length(grip->pull) < 0.9 * grip->most);
            way[k] = Middle(sim).x + sim->grabs[0].vector.x - from.x;
            CHECK(way[k] > 0.01 && way[k] < 0.045);
            snwDestroySim(sim);
        }
        CHECK_NEAR(way[0] / way[1], 1.0, 0.01);
    }
    snwDestroyContext(context);
}

// By the momentum that a free body gets, whatever the hand says of itself.
TEST_HEAVY(grip, forceNeverExceedsItsLimit)
{
    static const double radii[] = {-1.0, 0.2, 0.0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 3 * snw_caseCount; ++i)
    {
        const char *method = s_cases[i / 3].method, *settings = s_cases[i / 3].settings;
        snwSim* sim = Open(context, method, settings, s_block, s_weightless);
        int vertex = FindVertex(sim, (snwVec3){1, 1, 1});
        snwVec3 from = VertexAt(sim, vertex);
        snwMeasures before, after;
        double most = 0.0, limit = 0.0;
        CHECK_INT(snwSim_GetMeasures(sim, 0, &before), snw_ok);
        for (int f = 0; f < 20; ++f)
        {
            snwVec3 jump = {f % 2 == 0 ? 3.0 : -3.0, f % 3 == 0 ? 2.0 : 0.0, 1.0};
            Drag(sim, vertex, snwVec3_Add(from, jump), 0.99, radii[i % 3]);
            snwFixture_Run(sim, 1, s_dt);
            CHECK_INT(snwSim_GetMeasures(sim, 0, &after), snw_ok);
            double force = snwVec3_Distance(after.momentum, before.momentum) / s_dt;
            limit = snwSim_GetGrip(sim, 0, 0)->most;
            CHECK(force <= 1.001 * limit);
            most = fmax(most, force);
            before = after;
        }
        CHECK(most > 0.9 * limit); // it was asked for
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

// 0.3 E V^(2/3) with the materials of what is held.
TEST(grip, limitIsThatOfTheFleshThatIsHeld)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = Open(context, "pbcd", "", s_block, s_weightless);
    int vertex = FindVertex(sim, (snwVec3){1, 1, 1});
    Drag(sim, vertex, VertexAt(sim, vertex), 0.5, 10.0);
    snwFixture_Run(sim, 1, s_dt);
    const snwGrip* grip = snwSim_GetGrip(sim, 0, 0);
    CHECK_INT(grip->count, sim->bodies[0].character->def.vertexCount);
    CHECK_NEAR(grip->most, 0.3 * 5e4 * pow(0.8 * 0.4 * 0.4, 2.0 / 3.0), 1e-6 * grip->most);
    snwCommand softer = snwDefaultCommand(snw_commandMaterial);
    softer.material = sim->bodies[0].materials[0];
    softer.material.young = 1e4;
    CHECK_INT(snwSim_Push(sim, &softer, NULL), snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    CHECK_NEAR(grip->most, 0.3 * 1e4 * pow(0.8 * 0.4 * 0.4, 2.0 / 3.0), 1e-6 * grip->most);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// What a pin holds is left out; where it holds all of the ball, the hand holds nothing and harms nothing.
TEST_HEAVY(grip, pinnedFleshIsLeftOut)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_caseCount; ++i)
    {
        snwSim* sim = Open(context, s_cases[i].method, s_cases[i].settings, s_block, s_clamped);
        int vertex = FindVertex(sim, (snwVec3){-1, 0.1, 0.1});
        snwVec3 from = VertexAt(sim, vertex);
        Drag(sim, vertex, snwVec3_Add(from, (snwVec3){0, 1, 0}), 0.9, 0.05);
        snwFixture_Run(sim, 5, s_dt);
        CHECK_NEAR(snwVec3_Distance(VertexAt(sim, vertex), from), 0.0, 1e-6);
        Drag(sim, vertex, snwVec3_Add(from, (snwVec3){0, 1, 0}), 0.9, 0.3);
        snwFixture_Run(sim, 5, s_dt);
        CHECK_NEAR(snwVec3_Distance(VertexAt(sim, vertex), from), 0.0, 1e-6);
        const snwGrip* grip = snwSim_GetGrip(sim, 0, 0);
        CHECK(snwVec3_Length(grip->pull) > 1.0);
        for (int k = 0; k < grip->count; ++k)
        {
            double x = sim->bodies[0].character->def.vertices[grip->parts[k].vertex].x;
            CHECK((grip->parts[k].share > 0.0) == (x > -0.39));
        }
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

TEST(grip, flatCharactersStayInTheirPlane)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char* text = snwFixture_Unpainted("{\"character\": {\"blueprint\": \"worm\", \"size\": {\"vertices\": 200}}}");
    const char* character = strchr(text, ':') + 1;
    char* end = strrchr(text, '}');
    *end = 0;
    snwSim* sim = Open(context, "rigpbd", "", character, s_weightless);
    int vertex = FindVertex(sim, (snwVec3){1, 0, 0});
    snwVec3 to = snwVec3_Add(VertexAt(sim, vertex), (snwVec3){0, 0.3 * Size(sim), 0});
    Drag(sim, vertex, snwVec3_Add(to, (snwVec3){0, 0, 5}), 0.5, -1.0);
    snwMeasures m;
    double worst = 0.0;
    for (int f = 0; f < 120; ++f)
    {
        snwFixture_Run(sim, 1, s_dt);
        CHECK_INT(snwSim_GetMeasures(sim, 0, &m), snw_ok);
        worst = fmax(worst, m.maxStretch);
    }

    // What is held bears at its rim what a ball does at its border.
    const snwGrip* grip = snwSim_GetGrip(sim, 0, 0);
    double thickness = sim->bodies[0].character->def.thickness, area = grip->volumes[0] / thickness;
    double radius = sqrt(area / SNW_PI), ball = 0.3 * pow(4.0 / 3.0 * SNW_PI, 2.0 / 3.0) / (4.0 * SNW_PI);
    CHECK_NEAR(grip->most / (sim->bodies[0].materials[0].young * 2.0 * SNW_PI * radius * thickness), ball, 1e-3 * ball);
    CHECK(snwSim_GetGrip(sim, 0, 0)->count > 1);
    CHECK(snwVec3_Distance(snwVec3_Add(Middle(sim), sim->grabs[0].vector), to) < 0.02 * Size(sim));
    CHECK(worst < 1.0);
    for (int i = 0; i < sim->bodies[0].character->def.vertexCount; ++i)
        CHECK(VertexAt(sim, i).z == 0.0);
    snwDestroySim(sim);
    free(text);
    snwDestroyContext(context);
}

// Words without a radius are those of the usual hand, and it needs none to be written.
TEST(grip, handsWithoutAWordAreATwelfthOfTheSize)
{
    static const char* const text = "{\"kind\": \"drag\", \"body\": \"b\", \"vertex\": 3, \"position\": [1, 1, 1]}";
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = Open(context, "pbcd", "", s_block, s_weightless);
    snwCommand command;
    char words[300];
    CHECK_INT(snwCommand_Parse(snwSim_GetScene(sim), text, strlen(text), &command, NULL), snw_ok);
    CHECK(command.radius < 0.0 && snwDefaultCommand(snw_commandDrag).radius < 0.0);
    CHECK(snwCommand_Format(snwSim_GetScene(sim), &command, words, sizeof words) > 0);
    CHECK(strstr(words, "radius") == NULL);
    CHECK_INT(snwSim_Push(sim, &command, NULL), snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    CHECK_NEAR((double)sim->grabs[0].radius, Size(sim) / 12.0, 1e-6);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// State

// Two hands, one of a single vertex, that move and let go.
static void Play(snwSim* sim, int from, int to)
{
    int a = FindVertex(sim, (snwVec3){1, 1, 0.5}), b = FindVertex(sim, (snwVec3){-1, 0.5, 1});
    for (int f = from; f < to; ++f)
    {
        Drag(sim, a, (snwVec3){0.5 + 0.02 * f, 0.3 + 0.01 * f, 0.1}, 0.6, 0.25);
        if (f >= 3)
            Drag(sim, b, (snwVec3){-0.6, 0.4 - 0.01 * f, 0.2}, 0.5, f < 8 ? 0.0 : 0.2);
        snwFixture_Run(sim, 1, s_dt);
    }
}

TEST(grip, savedInTheMiddleOfAPullGoesOnAlike)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_caseCount; ++i)
    {
        snwSim* sim = Open(context, s_cases[i].method, "", s_block, s_weightless);
        snwSim* other = Open(context, s_cases[i].method, "", s_block, s_weightless);
        size_t size = snwSim_GetStateSize(sim);
        void* saved = malloc(size);
        REQUIRE(saved != NULL);
        Play(sim, 0, 12);
        CHECK_INT(snwSim_Save(sim, saved, size, NULL, NULL), snw_ok);
        Play(sim, 12, 20);
        Play(other, 0, 5); // elsewhere
        CHECK_INT(snwSim_Restore(other, saved, size, NULL), snw_ok);
        Play(other, 12, 20);
        CHECK(snwSim_Hash(sim) == snwSim_Hash(other));
        free(saved);
        snwDestroySim(sim);
        snwDestroySim(other);
    }
    snwDestroyContext(context);
}

TEST(grip, sameBitsForAnyThreads) // Labels: threads
{
    static const int threads[] = {1, 2, 3};
    for (int i = 0; i < snw_caseCount; ++i)
    {
        uint64_t hashes[3];
        for (int k = 0; k < 3; ++k)
        {
            snwContext* context = snwFixture_Context(threads[k], snw_simdAuto, NULL);
            snwSim* sim = Open(context, s_cases[i].method, "", s_block, s_weightless);
            Play(sim, 0, 12);
            hashes[k] = snwSim_Hash(sim);
            snwDestroySim(sim);
            snwDestroyContext(context);
        }
        CHECK(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
    }
}

TEST(grip, statesOfNonsenseAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = Open(context, "pbcd", "", s_block, s_weightless);
    size_t size = snwSim_GetStateSize(sim);
    void* saved = malloc(size);
    REQUIRE(saved != NULL);
    Play(sim, 0, 3);
    snwGrab good = sim->grabs[0];
    for (int i = 0; i < 4; ++i)
    {
        snwMessage message = {0};
        sim->grabs[0].radius = i == 0 ? -1.0f : i == 1 ? NAN : good.radius;
        sim->grabs[0].fresh = i == 2 ? 7 : 0;
        sim->grabs[0].value = i == 3 ? 2.0 : good.value;
        CHECK_INT(snwSim_Save(sim, saved, size, NULL, NULL), snw_ok);
        CHECK_INT(snwSim_Restore(sim, saved, size, &message), snw_errorInput);
        CHECK_CONTAINS(message.text, "cannot be");
    }
    free(saved);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// All hands together have room for four times the vertices; the others hold their vertex alone. Which is which depends
// on the grabs alone.
TEST(grip, handsBeyondTheRoomHoldAVertex)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = Open(context, "pbcd", "", s_block, s_weightless);
    int count = sim->bodies[0].character->def.vertexCount;
    for (int i = 0; i < 64; ++i)
        Drag(sim, 2 * i, (snwVec3){0, 0.5, 0}, 0.5, 100.0);
    snwFixture_Run(sim, 5, s_dt);
    for (int i = 0; i < 64; ++i)
        CHECK_INT(snwSim_GetGrip(sim, i, 0)->count, i < 4 ? count : 1);
    snwCommand away = snwDefaultCommand(snw_commandDrag);
    away.on = false;
    CHECK_INT(snwSim_Push(sim, &away, NULL), snw_ok);
    snwFixture_Run(sim, 5, s_dt);
    for (int i = 1; i < 64; ++i)
        CHECK_INT(snwSim_GetGrip(sim, i, 0)->count, i < 5 ? count : 1);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Storms

static double Random(uint64_t* seed, double least, double most)
{
    return least + (most - least) * snwTest_Random(seed);
}

// Two pulls of a second each by a hand that jumps, or goes there within half a second, by 0.3 to 1 sizes; then rest.
// The worst stretch.
static double Storm(snwSim* sim, uint64_t seed, int rest)
{
    const snwCharacter* character = sim->bodies[0].character;
    snwVec3 place = {0, 0, 0}, speed = {0, 0, 0};
    snwCommand drag = snwDefaultCommand(snw_commandDrag);
    double worst = 0.0;
    for (int f = 0; f < 120 + rest; ++f)
    {
        int phase = f < 120 ? f % 60 : 60;
        if (phase == 5)
        {
            snwVec3 way = {Random(&seed, -1, 1), Random(&seed, -0.6, 1.4), Random(&seed, -1, 1)};
            way = snwVec3_Scale(way, Size(sim) * Random(&seed, 0.3, 1) / snwVec3_Length(way));
            bool jumps = snwTest_Random(&seed) < 0.5;
            drag.index = (int)(snwTest_Random(&seed) * character->def.vertexCount);
            drag.value = snwTest_Random(&seed) < 0.5 ? 0.5 : 0.9;
            place = snwVec3_Add(VertexAt(sim, drag.index), jumps ? way : (snwVec3){0, 0, 0});
            speed = snwVec3_Scale(way, jumps ? 0.0 : 1.0 / 30.0);
        }
        if (phase >= 5 && phase <= 50)
        {
            drag.on = phase < 50;
            drag.transform.position = place;
            CHECK_INT(snwSim_Push(sim, &drag, NULL), snw_ok);
            place = phase < 35 ? snwVec3_Add(place, speed) : place;
        }
        snwFixture_Run(sim, 1, s_dt);
        snwMeasures m;
        CHECK_INT(snwSim_GetMeasures(sim, 0, &m), snw_ok);
        worst = fmax(worst, m.maxStretch);
    }
    return worst;
}

static const char* const s_cast[] = {"horse", "octopus", "manikin", "biped"};

// Seeds first .. end - 1 of one of the cast, of so many tets.
static void CheckStorms(const char* method, int which, int tets, const char* more, int first, int end)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (int k = first; k < end; ++k)
    {
        char character[200];
        snprintf(character, sizeof character, "{'blueprint': '%s', 'size': {'tets': %d}}", s_cast[which], tets);
        snwSim* sim = Open(context, method, "", character, more);
        double worst = Storm(sim, 77 + (uint64_t)k, 0);
        if (!(worst <= 3.0))
            snwTest_Fail(__FILE__, __LINE__, "%s in %s, seed %d: stretch %g", s_cast[which], method, k, worst);
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

static const char* const s_ground = ", 'colliders': [{'name': 'ground', 'kind': 'plane', 'friction': 0.6}]";

// In rigpbd legs of flesh alone do not carry a horse: without weight it is the hand that is judged.
TEST_HEAVY(grip, pullsDrawNoThorns)
{
    CheckStorms("pbcd", 1, 1500, s_ground, 0, 1);
    CheckStorms("rigpbd", 1, 1500, s_weightless, 0, 1);
    CheckStorms("apd", 1, 1500, s_ground, 0, 1);
}

TEST_LONG(grip, manyPullsDrawNoThorns)
{
    for (int i = 0; i < 4; ++i)
    {
        CheckStorms("pbcd", i, 4000, s_ground, 0, 20);
        CheckStorms("rigpbd", i, 4000, s_weightless, 0, 20);
        CheckStorms("apd", i, 4000, s_ground, 1, 5);
    }
}
