// Labels: kernels

#include "fixture.h"
#include "rig/weights.h"
#include "scene/blueprint_file.h"
#include "sim/blueprint.h"
#include "sim/character.h"
#include "test.h"
#include "view/ramp.h"
#include "view/weights_look.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Sparse rows

TEST(weights, listsAreSortedMergedAndScaled)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const int handles[3][4] = {{2, 0, 2, 1}, {1, 1, 0, 0}, {2, 0, 1, 0}};
    const double values[3][4] = {{0.25, 0.5, 0.25, 0}, {2, 2, -1, NAN}, {0.3, 0.3, 0.4, 0}};
    snwWeightLists lists = {3, 3, 4, handles[0], values[0], 0.0, 0};
    snwWeights* weights = NULL;
    int repaired = -1;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, &repaired, NULL) == snw_ok);
    CHECK_INT(repaired, 2); // merged; scaled and freed of nonsense
    CHECK_INT(snwWeights_Check(weights, 3, 3, NULL), snw_ok);
    CHECK_INT(weights->starts[1], 2);
    CHECK_INT(weights->starts[2], 3);
    CHECK_INT(snwWeights_MostInfluences(weights), 3);
    CHECK_NEAR(snwWeights_Get(weights, 0, 2), 0.5, 0);
    CHECK_NEAR(snwWeights_Get(weights, 0, 1), 0.0, 0);
    CHECK_NEAR(snwWeights_Get(weights, 1, 1), 1.0, 0);
    CHECK_NEAR(snwWeights_Get(weights, 2, 1), 0.4, 1e-15);
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

TEST(weights, pruningKeepsTheHeaviestAndTheSum)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const double dense[2][5] = {{0.4, 0.05, 0.3, 0.15, 0.1}, {0, 0.99, 0, 0.004, 0.006}};
    snwWeightLists lists = {2, 5, 5, NULL, dense[0], 0.0, 0};
    snwWeights *weights = NULL, *pruned = NULL;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, NULL, NULL) == snw_ok);
    REQUIRE(snwWeights_Prune(context, weights, 3, 0.005, &pruned, NULL) == snw_ok);
    CHECK_INT(snwWeights_Check(pruned, 2, 5, NULL), snw_ok);
    CHECK_INT(pruned->starts[1], 3);
    CHECK_INT(pruned->starts[2], 5);
    CHECK_NEAR(snwWeights_Get(pruned, 0, 0), 0.4 / 0.85, 1e-15);
    CHECK_NEAR(snwWeights_Get(pruned, 0, 3), 0.15 / 0.85, 1e-15);
    CHECK_NEAR(snwWeights_Get(pruned, 1, 4), 0.006 / 0.996, 1e-15);
    snwWeights* again = NULL; // the same limits in one go
    lists.influences = 3, lists.least = 0.005;
    REQUIRE(snwWeights_FromLists(context, &lists, &again, NULL, NULL) == snw_ok);
    CHECK(memcmp(again->values, pruned->values, 5 * sizeof(double)) == 0);
    CHECK(memcmp(again->handles, pruned->handles, 5 * sizeof(int)) == 0);
    snwContext_Free(context, weights);
    snwContext_Free(context, pruned);
    snwContext_Free(context, again);
    snwDestroyContext(context);
}

TEST(weights, rowsSumToOneToTheLastBit)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static double dense[2000][9];
    uint64_t seed = 5;
    for (int i = 0; i < 2000; ++i)
        for (int k = 0; k < 9; ++k)
            dense[i][k] = snwTest_Random(&seed) * (k % 3 == 0 ? 1e-9 : 1);
    snwWeightLists lists = {2000, 9, 9, NULL, dense[0], 0.0, 0};
    snwWeights* weights = NULL;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, NULL, NULL) == snw_ok);
    double worst = 0;
    for (int i = 0; i < 2000; ++i)
    {
        double sum = 0;
        for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
            sum += weights->values[k];
        worst = fmax(worst, fabs(sum - 1));
    }
    CHECK_NEAR(worst, 0, 5e-16);
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

static void CheckListsRefused(snwWeightLists lists, const char* part)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwWeights* weights = NULL;
    snwMessage message;
    CHECK_INT(snwWeights_FromLists(context, &lists, &weights, NULL, &message), snw_errorArgument);
    CHECK(weights == NULL);
    CHECK_CONTAINS(message.text, part);
    snwDestroyContext(context);
}

static void CheckWeightsRefused(snwWeights weights, const char* part)
{
    snwMessage message;
    CHECK_INT(snwWeights_Check(&weights, 2, 3, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, part);
}

TEST(weights, nonsenseIsRefused)
{
    const double none[2][2] = {{0.5, 0.5}, {0, -1}}, some[1][2] = {{0.5, 0.5}};
    const int far[1][2] = {{0, 3}}, below[1][2] = {{-1, 0}};
    CheckListsRefused((snwWeightLists){2, 2, 2, NULL, none[0], 0.0, 0}, "vertex 1 has no weight");
    CheckListsRefused((snwWeightLists){1, 3, 2, far[0], some[0], 0.0, 0}, "follows handle 3 of 3");
    CheckListsRefused((snwWeightLists){1, 3, 2, below[0], some[0], 0.0, 0}, "follows handle -1 of 3");

    int starts[3] = {0, 2, 3}, handles[3] = {0, 2, 1};
    double values[3] = {0.25, 0.75, 1};
    snwWeights good = {2, 3, starts, handles, values};
    CHECK_INT(snwWeights_Check(&good, 2, 3, NULL), snw_ok);
    CHECK_INT(snwWeights_Check(&good, 3, 3, NULL), snw_errorArgument);
    values[2] = 0.9;
    CheckWeightsRefused(good, "vertex 1 sum to 0.9");
    values[2] = NAN;
    CheckWeightsRefused(good, "vertex 1 has weight");
    values[2] = 1, values[0] = -0.25;
    CheckWeightsRefused(good, "vertex 0 has weight -0.25");
    values[0] = 0.25, handles[1] = 0;
    CheckWeightsRefused(good, "name handle 0 of 3 after handle 0");
    handles[1] = 3;
    CheckWeightsRefused(good, "name handle 3 of 3");
    handles[1] = 2, starts[1] = -5;
    CheckWeightsRefused(good, "go from 0 to -5");
    starts[1] = 2, starts[0] = 1;
    CheckWeightsRefused(good, "do not start at 0");
}

// ---------------------------------------------------------------------------------------------------------------------
// Of characters

static snwCharacter* OpenCharacter(snwContext* context, const char* name)
{
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    if (snwBlueprintFile_Open(context, name, &file, NULL) < 0 ||
        snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL) < 0)
        abort();
    snwBlueprintFile_Free(&file);
    return character;
}

// Bones with elements of their own, bones that are handles, a polygon as a cage, points.
TEST_HEAVY(weights, charactersGetThem)
{
    static const struct
    {
        const char* name;
        bool handles;
    } cases[] = {{"biped", false}, {"fish-2d", true}, {"fish-2d", false}, {"ghost", true}, {"starfish", true}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 5; ++i)
    {
        snwCharacter* character = OpenCharacter(context, cases[i].name);
        snwWeightsDef def = snwDefaultWeightsDef();
        snwWeights* weights = NULL;
        snwMessage message = {0};
        def.handles = cases[i].handles, def.influences = 8;
        CHECK_INT(snwComputeWeights(character, &def, &weights, &message), snw_ok);
        REQUIRE(weights != NULL);
        const snwCharacterDef* made = snwCharacter_GetDef(character);
        int count = def.handles ? made->handleCount : made->boneCount;
        CHECK_INT(snwWeights_Check(weights, made->vertexCount, count, NULL), snw_ok);
        CHECK(snwWeights_MostInfluences(weights) <= def.influences);
        for (int v = 0; v < made->vertexCount; ++v) // what a bone owns follows it alone
            if (!def.handles && character->vertexBones[v] >= 0)
                CHECK_NEAR(snwWeights_Get(weights, v, character->vertexBones[v]), 1, 0);
        snwContext_Free(context, weights);
        snwCharacter_Release(character);
    }
    snwDestroyContext(context);
}

TEST(weights, fallBackToTheClosestWithANote)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[2] = {{0, 0, 0}, {1, 0, 0}};
    int edges[1][2] = {{0, 1}};
    double masses[2] = {1, 1};
    snwBoneDef bones[2] = {snwDefaultBoneDef(), snwDefaultBoneDef()};
    bones[0].head = bones[0].tail = (snwVec3){0, 0.1, 0}, bones[1].head = bones[1].tail = (snwVec3){1, 0.1, 0};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.vertices = vertices, def.vertexCount = 2, def.masses = masses;
    def.edges = (const int(*)[2])edges, def.edgeCount = 1;
    def.bones = bones, def.boneCount = 2;
    snwCharacter* character = NULL;
    REQUIRE(snwCreateCharacter(context, &def, &character, NULL) == snw_ok);
    snwWeightsDef ask = snwDefaultWeightsDef();
    snwWeights* weights = NULL;
    snwMessage message = {0};
    CHECK_INT(snwComputeWeights(character, &ask, &weights, &message), snw_warning);
    CHECK_CONTAINS(message.text, "weights by distance");
    REQUIRE(weights != NULL);
    CHECK(snwWeights_Get(weights, 0, 0) > 0.99 && snwWeights_Get(weights, 1, 1) > 0.99);
    snwContext_Free(context, weights);
    ask.kind = snw_weightsClosest; // asked for: no note
    CHECK_INT(snwComputeWeights(character, &ask, &weights, &message), snw_ok);
    snwContext_Free(context, weights);
    ask.handles = true;
    CHECK_INT(snwComputeWeights(character, &ask, &weights, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "has no handles");
    ask.handles = false, ask.tolerance = NAN;
    CHECK_INT(snwComputeWeights(character, &ask, &weights, &message), snw_errorArgument);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

TEST(weights, cageEdgesAreChecked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = OpenCharacter(context, "ghost");
    static const int far[1][2] = {{0, 10}};
    snwWeightsDef def = snwDefaultWeightsDef();
    snwWeights* weights = NULL;
    snwMessage message;
    def.handles = true, def.cageEdges = far, def.cageEdgeCount = 1;
    CHECK_INT(snwComputeWeights(character, &def, &weights, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "cageEdges[0] joins handles 0 and 10 of 10");
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// Given weights are used as they are; a handle's own vertices have the bright end of the ramp.
TEST(weights, colourTheSkin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter *plain = snwFixture_Shape(context, snw_shapeBar, 4), *character = NULL;
    snwCharacterDef def = *snwCharacter_GetDef(plain);
    snwBoneDef bones[2] = {snwDefaultBoneDef(), snwDefaultBoneDef()};
    bones[0].name = "left", bones[1].name = "right";
    int *starts = calloc((size_t)def.vertexCount + 1, sizeof *starts), *handles = calloc((size_t)def.vertexCount, 4);
    double* values = calloc((size_t)def.vertexCount, sizeof *values);
    for (int i = 0; i < def.vertexCount; ++i)
        starts[i + 1] = i + 1, values[i] = 1, handles[i] = def.vertices[i].x > 0;
    def.bones = bones, def.boneCount = 2;
    def.boneWeights = (snwWeights){def.vertexCount, 2, starts, handles, values};
    REQUIRE(snwCreateCharacter(context, &def, &character, NULL) == snw_ok);
    snwArena arena = {.context = context};
    snwTransform pose[2] = {snwIdentityTransform(), snwIdentityTransform()};
    pose[1].position.y = 2;
    snwWeightsLookDef ask = {.character = character, .handle = "right", .pose = pose};
    snwMeshLook look;
    REQUIRE(snwMakeWeightsLook(context, &arena, &ask, &look, NULL) == snw_ok);
    snwSkin skin;
    snwCharacter_GetRestSkin(character, &skin);
    for (int i = 0; i < look.vertexCount; ++i)
    {
        bool right = skin.positions[3 * i] > 0;
        CHECK_NEAR(look.positions[3 * i + 1], skin.positions[3 * i + 1] + (right ? 2 : 0), 1e-6);
        CHECK_NEAR(look.colors[3 * i], snwRamp_Color(right ? 1 : 0).x, 0);
    }
    snwMessage message;
    ask.handle = "middle";
    CHECK_INT(snwMakeWeightsLook(context, &arena, &ask, &look, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "has no bone or handle 'middle'");
    snwArena_Free(&arena);
    snwCharacter_Release(character);
    snwCharacter_Release(plain);
    free(starts);
    free(handles);
    free(values);
    snwDestroyContext(context);
}
