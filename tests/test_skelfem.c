// The method skelfem: its objective, what a step keeps and tells, and what it refuses. Its grids are tested in
// test_multigrid.c, its order and its beams by `sinew bench skelfem` (test_bench_skelfem.c), contact by the conformance
// suite, hands by test_grip.c.

#include "base/arena.h"
#include "fixture.h"
#include "sim/shapes.h"
#include "sim/skelfem/skelfem.h"
#include "sinew/tools.h"
#include "test.h"

#include <string.h>

static const double s_dt = 1.0 / 50;

// A bar that hangs from a wall; the words of its scene may be more.
static snwSim* Open(snwContext* context, const char* material, const char* settings, const char* more)
{
    return snwFixture_OpenSim(context,
        "{'sinew': 1, 'name': 'bar', 'method': 'skelfem', 'duration': 2, 'settings': {'sim.substeps': 1%s}, 'bodies': "
        "[{'name': 'bar', 'character': {'shape': 'block', 'size': [0.6, 0.2, 0.2], 'cells': [6, 2, 2], 'material': "
        "{'density': 1000, %s}}}]%s}",
        settings, material, more);
}

static const char* const s_soft = "'young': 3e4, 'poisson': 0.4, 'damping': 0";
static const char* const s_wall =
    ", 'pins': [{'name': 'wall', 'body': 'bar', 'lower': [-1, -1, -1], 'upper': [-0.29, 1, "
    "1]}]";
static const char* const s_wallAndGround =
    ", 'pins': [{'name': 'wall', 'body': 'bar', 'lower': [-1, -1, -1], 'upper': [-0.29, 1, 1]}], 'colliders': "
    "[{'name': 'ground', 'kind': 'plane', 'position': [0, -0.25, 0]}]";

static const snwSkelfemTally* TallyOf(const snwSim* sim)
{
    return &snwSkelfem_Body(sim, 0)->tally;
}

// ---------------------------------------------------------------------------------------------------------------------
// Objective

// Flesh of a block, to be looked at in any state.
typedef struct Flesh
{
    snwContext* context;
    snwCharacter* character;
    snwArena arena;
    snwElasticity* elasticity;
    snwVec3 *x, *gradient;
    snwQuatBlock* rotations;
} Flesh;

static void OpenFlesh(Flesh* flesh, double stop)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    *flesh = (Flesh){
        .context = context, .character = snwFixture_Shape(context, snw_shapeBlock, 2), .arena = {.context = context}};
    const snwCharacterDef* def = &flesh->character->def;
    snwElasticityDef elasticityDef = {def->vertexCount, def->vertices, def->tetCount, &def->tets[0][0]};
    flesh->elasticity = snwElasticity_Create(context, &flesh->arena, &elasticityDef);
    REQUIRE(flesh->elasticity != NULL);
    int blocks = snwElasticity_BlockCount(flesh->elasticity);
    flesh->x = snwArena_Copy(&flesh->arena, def->vertices, (size_t)def->vertexCount, sizeof *flesh->x);
    flesh->gradient = snwArena_Alloc(&flesh->arena, (size_t)def->vertexCount, sizeof *flesh->gradient);
    flesh->rotations = snwArena_Alloc(&flesh->arena, (size_t)blocks, sizeof *flesh->rotations);
    REQUIRE(!flesh->arena.failed);
    for (int b = 0; b < blocks; ++b)
        for (int lane = 0; lane < SNW_ROTATION_LANES; ++lane)
            flesh->rotations[b].q[3][lane] = 1;
    for (int e = 0; e < def->tetCount; ++e)
        snwElasticity_SetMaterial(flesh->elasticity, e, (snwTetMaterial){2 + e % 3, 3, 0.01, stop});
}

static void CloseFlesh(Flesh* flesh)
{
    snwArena_Free(&flesh->arena);
    snwCharacter_Release(flesh->character);
    snwDestroyContext(flesh->context);
}

static double EnergyOf(Flesh* flesh)
{
    snwElasticityEnergy energy = snwElasticity_Evaluate(flesh->elasticity, flesh->x, flesh->rotations);
    return energy.elastic + energy.damping;
}

// Forces against differences of the energy, at x.
static void CheckGradient(Flesh* flesh, double tolerance)
{
    int count = flesh->character->def.vertexCount;
    double size = 0;
    memset(flesh->gradient, 0, (size_t)count * sizeof *flesh->gradient);
    EnergyOf(flesh);
    snwElasticity_AddGradient(flesh->elasticity, flesh->gradient);
    for (int i = 0; i < count; ++i)
        size = fmax(size, snwVec3_Length(flesh->gradient[i]));
    for (int i = 0; i < count; i += 3)
        for (int k = 0; k < 3; ++k)
        {
            double sides[2], *at = &(&flesh->x[i].x)[k], was = *at;
            for (int side = 0; side < 2; ++side)
            {
                *at = was + (side == 0 ? 1e-4 : -1e-4);
                sides[side] = EnergyOf(flesh);
            }
            *at = was;
            CHECK_NEAR((sides[0] - sides[1]) / 2e-4, (&flesh->gradient[i].x)[k], tolerance * size);
        }
}

// W and D of elasticity.h against differences, at a state that is turned, sheared and squeezed.
TEST(skelfem, forcesAreTheGradientOfTheEnergy)
{
    Flesh flesh;
    uint64_t seed = 7;
    OpenFlesh(&flesh, 0);
    snwElasticity_Begin(flesh.elasticity, flesh.x, 50); // strain and its damping, since then
    for (int i = 0; i < flesh.character->def.vertexCount; ++i)
    {
        snwVec3 p = flesh.x[i];
        flesh.x[i] = (snwVec3){0.3 * p.x - 1.1 * p.y, 0.9 * p.x + 0.4 * p.y + 0.3 * p.z, 1.2 * p.z};
        flesh.x[i].x += 0.02 * (snwTest_Random(&seed) - 0.5);
    }
    CheckGradient(&flesh, 1e-5);
    CloseFlesh(&flesh);
}

// Flat, sheared, and a tenth longer.
static void Flatten(Flesh* flesh, double height)
{
    for (int i = 0; i < flesh->character->def.vertexCount; ++i)
    {
        snwVec3 p = flesh->character->def.vertices[i];
        flesh->x[i] = (snwVec3){1.1 * p.x + 0.1 * p.z, height * p.y, p.z - 0.2 * p.y};
    }
}

// Below a fifth of the volume, pressed flat, flatter and inside out, flesh is stiffer, and pulls as its energy asks;
// above, it is the same to the bit.
TEST(skelfem, stopsPullAsTheirEnergyAsks)
{
    static const double s_heights[] = {0.19, 0.15, 0.03, -0.3}; // times 1.1: volumes
    for (size_t k = 0; k < sizeof s_heights / sizeof *s_heights; ++k)
    {
        Flesh flesh, bare;
        const snwTetStop* stops;
        bool held = 1.1 * s_heights[k] < 0.2;
        OpenFlesh(&flesh, 400);
        OpenFlesh(&bare, 0);
        Flatten(&flesh, s_heights[k]);
        Flatten(&bare, s_heights[k]);
        double energy = EnergyOf(&flesh), without = EnergyOf(&bare);
        CHECK(held ? energy > without + 1e-3 : energy == without);
        CHECK_INT(snwElasticity_FindStops(flesh.elasticity, flesh.x, &stops), held ? flesh.character->def.tetCount : 0);
        CheckGradient(&flesh, 1e-5);
        CloseFlesh(&flesh);
        CloseFlesh(&bare);
    }
}

// Around what is inside out nothing is stopped, until that has opened.
TEST(skelfem, knotsAreLetThrough)
{
    Flesh flesh;
    const snwTetStop* stops;
    OpenFlesh(&flesh, 400);
    const snwCharacterDef* def = &flesh.character->def;
    unsigned char* knots = snwArena_Alloc(&flesh.arena, (size_t)def->tetCount, 1);
    REQUIRE(knots != NULL);
    Flatten(&flesh, 0.15);
    flesh.x[0].y += 1; // through its opposite faces
    snwElasticity_FindKnots(flesh.elasticity, flesh.x, knots);
    Flatten(&flesh, 0.15);
    EnergyOf(&flesh);
    int count = snwElasticity_FindStops(flesh.elasticity, flesh.x, &stops), knotted = 0, near = 0;
    for (int e = 0; e < def->tetCount; ++e)
    {
        bool touches = false;
        knotted += knots[e];
        for (int other = 0; other < def->tetCount; ++other)
            for (int k = 0; k < 16 && knots[other]; ++k)
                touches = touches || def->tets[e][k / 4] == def->tets[other][k % 4];
        near += touches;
    }
    CHECK(knotted > 0 && near > knotted && near < def->tetCount);
    CHECK_INT(count, def->tetCount - near);

    // Squeezed flesh that was knotted still is; open flesh is not.
    snwElasticity_FindKnots(flesh.elasticity, flesh.x, knots);
    EnergyOf(&flesh);
    CHECK_INT(snwElasticity_FindStops(flesh.elasticity, flesh.x, &stops), def->tetCount - near);
    Flatten(&flesh, 0.6);
    snwElasticity_FindKnots(flesh.elasticity, flesh.x, knots);
    Flatten(&flesh, 0.15);
    EnergyOf(&flesh);
    CHECK_INT(snwElasticity_FindStops(flesh.elasticity, flesh.x, &stops), def->tetCount);
    CloseFlesh(&flesh);
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

TEST(skelfem, sameBitsForThreadsAndInstructionSets) // Labels: kernels threads
{
    static const struct
    {
        int threads;
        snwSimd simd;
    } s_runs[] = {{1, snw_simdScalar}, {1, snw_simdBase}, {1, snw_simdAuto}, {2, snw_simdAuto}, {3, snw_simdAuto},
        {5, snw_simdAuto}, {8, snw_simdAuto}};
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof s_runs / sizeof *s_runs; ++i)
    {
        snwContext* context = snwFixture_Context(s_runs[i].threads, s_runs[i].simd, NULL);
        snwSim* sim = Open(context, s_soft, "", s_wallAndGround);
        snwFixture_Run(sim, 25, s_dt);
        if (i == 0)
            first = snwSim_Hash(sim);
        CHECK(snwSim_Hash(sim) == first);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
}

TEST(skelfem, savedInTheMiddleOfABendItGoesOnAlike)
{
    static const char* const s_rules[] = {"euler", "bdf2", "newmark"};
    for (int run = 0; run < 6; ++run)
    {
        char settings[64];
        const char* more = run < 3 ? s_wall : s_wallAndGround;
        snprintf(settings, sizeof settings, ", 'skelfem.rule': '%s'", s_rules[run % 3]);
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        const char* material = "'young': 3e4, 'poisson': 0.4, 'damping': 1"; // the matrix knows of the last rate, too
        snwSim *sim = Open(context, material, settings, more), *other = Open(context, material, settings, more);
        size_t size = snwSim_GetStateSize(sim);
        void* saved = malloc(size);
        REQUIRE(saved != NULL);
        snwFixture_Run(sim, 31, s_dt); // it touches the ground
        CHECK_INT(snwSim_Save(sim, saved, size, NULL, NULL), snw_ok);
        snwFixture_Run(sim, 8, s_dt);
        snwFixture_Run(other, 3, s_dt); // elsewhere
        CHECK_INT(snwSim_Restore(other, saved, size, NULL), snw_ok);
        snwFixture_Run(other, 8, s_dt);
        CHECK(snwSim_Hash(sim) == snwSim_Hash(other));
        free(saved);
        snwDestroySim(sim);
        snwDestroySim(other);
        snwDestroyContext(context);
    }
}

TEST(skelfem, steadyStepsUseNoHeap)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, &counter);
    snwSim* sim = Open(context, s_soft, "", s_wallAndGround);
    long before = counter.allocations;
    snwFixture_Run(sim, 30, s_dt);
    CHECK_INT(counter.allocations, before);
    snwDestroySim(sim);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(skelfem, allMayBeHeldOrAllButOneVertex)
{
    static const char* const s_pins[] = {
        ", 'pins': [{'name': 'all', 'body': 'bar', 'lower': [-1, -1, -1], 'upper': [1, 1, 1]}]",
        ", 'pins': [{'name': 'most', 'body': 'bar', 'lower': [-1, -1, -1], 'upper': [0.29, 1, 1]}, {'name': 'side', "
        "'body': 'bar', 'lower': [-1, -1, -1], 'upper': [1, 0.09, 1]}, {'name': 'other', 'body': 'bar', 'lower': [-1, "
        "-1, -1], 'upper': [1, 1, 0.09]}]"};
    for (int i = 0; i < 2; ++i)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snwSim* sim = Open(context, s_soft, "", s_pins[i]);
        int held = 0;
        snwFixture_Run(sim, 20, s_dt);
        const snwSkelfemBody* body = snwSkelfem_Body(sim, 0);
        for (int v = 0; v < body->model->vertexCount; ++v)
        {
            snwVec3 rest = body->model->character->def.vertices[v];
            held += body->held[v];
            CHECK_NEAR(snwVec3_Distance(body->state.positions[v], rest), 0, body->held[v] ? 1e-7 : 0.01);
        }
        CHECK_INT(held, body->model->vertexCount - i);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
}

// A soft bar under fifteen times its weight, pressed into the corner of wall and ground: with the law alone some of it
// rests inside out.
TEST(skelfem, noLoadPressesFleshInsideOut)
{
    static const char* const s_stops[] = {"", ", 'skelfem.stops': false"};
    for (int bare = 0; bare < 2; ++bare)
    {
        char more[400];
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snprintf(more, sizeof more, ", 'gravity': [0, -150, 0]%s", s_wallAndGround);
        snwSim* sim = Open(context, "'young': 3e3, 'poisson': 0.4, 'damping': 1", s_stops[bare], more);
        snwMeasures measures;
        snwFixture_Run(sim, 150, s_dt);
        CHECK_INT(snwSim_GetMeasures(sim, 0, &measures), snw_ok);
        CHECK(bare ? measures.minVolumeRatio < -0.5 : measures.minVolumeRatio > 0.1);
        CHECK(measures.maxSpeed < 0.05);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What it tells

TEST(skelfem, presetOfThePaperIsOneSolutionByTwoCycles)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = Open(context, s_soft, ", 'skelfem.preset': 'paper', 'skelfem.newton': 9", s_wall);
    snwFixture_Run(sim, 5, s_dt);
    CHECK_INT(TallyOf(sim)->newton, 1);
    CHECK_INT(TallyOf(sim)->cycles, 2);
    CHECK(TallyOf(sim)->linear > 0 && TallyOf(sim)->linear < 1);
    CHECK(snwSkelfem_Body(sim, 0)->step.rule == snw_ruleNewmark);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

static int MethodWarnings(const snwSim* sim, const char* part)
{
    snwWarnings warnings;
    int count = 0;
    CHECK_INT(snwSim_GetWarnings(sim, &warnings), snw_ok);
    for (int i = 0; i < warnings.count; ++i)
        count += strstr(warnings.data[i].text, part) != NULL;
    return count;
}

// Stiff, turning by a third of a radian in a step: energy from nowhere.
TEST(skelfem, gainsOfNewmarksRuleAreTold)
{
    static const char* const s_rules[] = {"bdf2", "newmark"};
    for (int rule = 0; rule < 2; ++rule)
    {
        char settings[160];
        snprintf(settings, sizeof settings,
            ", 'skelfem.newton': 60, 'skelfem.tolerance': 1e-9, 'skelfem.linear': 1e-8, 'skelfem.rule': '%s'",
            s_rules[rule]);
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snwSim* sim = Open(context, "'young': 1e8, 'poisson': 0.3, 'damping': 0", settings, ", 'gravity': [0, 0, 0]");
        snwSkelfemState state = snwSkelfem_Body(sim, 0)->state;
        for (int v = 0; v < snwSkelfem_Body(sim, 0)->model->vertexCount; ++v)
            state.velocities[v] = snwVec3_Cross((snwVec3){0.5, 0.7, 4}, state.positions[v]);
        for (int i = 0; i < 300 && snwSim_Step(sim, s_dt, NULL) >= 0;)
            ++i;
        CHECK_INT(MethodWarnings(sim, "Newmark") > 0, rule);
        snwDestroySim(sim);
        snwDestroyContext(context);
    }
}

// A hanging bar at rest: the wall carries its free vertices.
TEST(skelfem, whatIsHeldBearsTheWeight)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim* sim = Open(context, "'young': 3e5, 'poisson': 0.4, 'damping': 0",
        ", 'skelfem.damping': 20, 'skelfem.rule': 'euler'", s_wall);
    snwFixture_Run(sim, 300, s_dt);
    const snwSkelfemBody* body = snwSkelfem_Body(sim, 0);
    double weight = 0;
    for (int v = 0; v < body->model->vertexCount; ++v)
        weight += body->held[v] ? 0 : 9.81 * body->masses[v];
    CHECK(weight > 0);
    CHECK_NEAR(TallyOf(sim)->held.y, weight, 1e-4 * weight);
    CHECK_NEAR(TallyOf(sim)->held.x, 0, 1e-4 * weight);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Shapes and what is refused

TEST(skelfem, bodiesOfOneMeshShareItsLevels)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSim *one = Open(context, s_soft, "", s_wall), *two = Open(context, "'young': 1e6, 'poisson': 0.3", "", "");
    snwSim* other = Open(context, s_soft, ", 'skelfem.unknowns': 'three'", s_wall);
    CHECK(snwSkelfem_Body(one, 0)->model != snwSkelfem_Body(two, 0)->model);
    CHECK(snwSkelfem_Body(one, 0)->model->levels == snwSkelfem_Body(two, 0)->model->levels);
    CHECK(snwSkelfem_Body(one, 0)->model->levels != snwSkelfem_Body(other, 0)->model->levels);
    snwDestroySim(one);
    snwFixture_Run(two, 2, s_dt); // its levels are still there
    snwDestroySim(two);
    snwDestroySim(other);
    snwDestroyContext(context);
}

static void CheckRefused(const char* character, const char* words)
{
    char text[1024];
    snwSceneFile file;
    snwMessage message = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    snprintf(text, sizeof text,
        "{'sinew': 1, 'name': 'no', 'method': 'skelfem', 'bodies': [{'name': 'body', 'character': %s}]}", character);
    if (snwFixture_ParseScene(context, text, &file, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    def.scene = file.scene;
    CHECK_INT(snwCreateSim(context, &def, &sim, &message), snw_errorUnsupported);
    CHECK_CONTAINS(message.text, words);
    CHECK(message.remedy[0] != 0);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}

TEST(skelfem, whatItCannotDoIsRefusedByName)
{
    CheckRefused("{'shape': 'block', 'cells': [2, 2, 2], 'material': {'density': 1000, 'young': 1e5, 'poisson': 0.5}}",
        "Poisson's ratio of 0.5");
    CheckRefused("{'shape': 'spring'}", "made of edges alone");
}
