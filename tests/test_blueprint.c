// Blueprint files, the built-in cast, and characters made from them.
// Labels: kernels

#include "fixture.h"
#include "test.h"

#include "bench.h"
#include "geom/quality.h"
#include "prep_sizes.h"
#include "rig/skeleton.h"
#include "scene/blueprint_file.h"
#include "scene/builtin.h"
#include "sinew/tools.h"

#include <stdlib.h>

static const char s_toad[] =
    "{\"sinew\": 1, \"name\": \"toad\", \"color\": \"#6a9a3a\", \"size\": {\"tets\": 3000},"
    " \"bones\": [{\"name\": \"spine\", \"head\": [0, 0.5, -0.3], \"tail\": [0, 0.6, 0.3], \"radius\": 0.1},"
    "  {\"name\": \"arm.l\", \"parent\": \"spine\", \"mirror\": true, \"head\": [0.35, 0.3, 0.15],"
    "   \"tail\": [0.5, 0.15, 0.3], \"radius\": 0.06},"
    "  {\"name\": \"eye.l\", \"parent\": \"spine\", \"mirror\": true, \"head\": [0.2, 0.85, 0.35], \"tail\": [0.2, "
    "0.9, 0.4]}],"
    " \"joints\": [{\"type\": \"hinge\", \"bone\": \"arm.l\", \"axis\": [0, 0.6, 0.8], \"range\": [-20, 60], "
    "\"mirror\": true}],"
    " \"parts\": [{\"kind\": \"ellipsoid\", \"at\": [0, 0.5, 0], \"radii\": [0.45, 0.4, 0.6], \"angles\": [-20, 0, 0]},"
    "  {\"kind\": \"sweep\", \"blend\": 0.1, \"mirror\": true, \"group\": \"arm.l\","
    "   \"points\": [[0.3, 0.35, 0.1, 0.14], [0.5, 0.3, 0.2, 0.12], [0.5, 0.1, 0.35, 0.11]]},"
    "  {\"kind\": \"ellipsoid\", \"rigid\": true, \"bone\": \"eye.l\", \"mirror\": true, \"at\": [0.2, 0.85, 0.35],"
    "   \"radii\": [0.14, 0.14, 0.14], \"color\": \"#f0e8c0\", \"group\": \"eyes\"}],"
    " \"motions\": [{\"name\": \"wave\", \"duration\": 1, \"tracks\": [{\"bone\": \"arm.l\", \"mirror\": true, "
    "\"phase\": 0.5,"
    "   \"keys\": [[0, 0, 12, 16], [0.5, 0, -6, -8]]}]}]}";

static snwResult Read(snwContext* context, const char* text, snwBlueprintFile* file, snwMessage* message)
{
    return snwBlueprintFile_Read(context, "toad.json", text, strlen(text), file, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

TEST(blueprint, mirroredItemsGetTwins)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBlueprintFile file;
    snwMessage message = {0};
    REQUIRE(Read(context, s_toad, &file, &message) == snw_ok);
    const snwBlueprint* toad = &file.blueprint;
    CHECK_INT(toad->boneCount, 5);
    CHECK_INT(toad->jointCount, 2);
    CHECK_INT(toad->flesh.partCount, 5);
    CHECK(strcmp(toad->bones[1].name, "arm.l") == 0 && strcmp(toad->bones[2].name, "arm.r") == 0);
    CHECK_NEAR(toad->bones[2].head.x, -0.35, 1e-12);
    CHECK_INT(toad->bones[2].parent, 0);
    CHECK_INT(toad->joints[1].bone, 2);
    CHECK_NEAR(toad->joints[1].axis.y, -0.6, 1e-12); // turning the same way on the other side
    CHECK_NEAR(toad->joints[1].upper, 60 * SNW_PI / 180, 1e-12);
    for (double x = 0.05; x < 0.7; x += 0.07) // the body is the same on both sides
        for (double y = 0.05; y < 1; y += 0.11)
            CHECK_NEAR(snwFlesh_Distance(&toad->flesh, (snwVec3){x, y, 0.2}),
                snwFlesh_Distance(&toad->flesh, (snwVec3){-x, y, 0.2}), 1e-9);
    const snwMotionDef* wave = &toad->motions[0];
    REQUIRE(wave->trackCount == 2);
    CHECK_INT(wave->tracks[1].bone, 2);
    snwTransform left = snwTrack_Evaluate(wave, &wave->tracks[0], 0.2);
    snwTransform right = snwTrack_Evaluate(wave, &wave->tracks[1], 0.7); // half a round later, reflected
    CHECK_NEAR(left.rotation.x, right.rotation.x, 1e-9);
    CHECK_NEAR(left.rotation.y, -right.rotation.y, 1e-9);
    CHECK_NEAR(left.rotation.z, -right.rotation.z, 1e-9);
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
}

TEST(blueprint, mistakesAreNamedWithTheirPlace)
{
    static const char* const cases[][3] = {
        // text, part of the message, part of the remedy
        {"{\"sinew\": 1, \"name\": \"a\"}", "no 'parts', 'box' or 'outline'", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"partz\": []}", "partz", "parts"},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"bal\"}]}", "bal", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"ellipsoid\"}]}", "radii", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"ellipsoid\", \"radii\": [1, 1, 1], \"rigid\": "
         "true}]}",
            "rigid part needs a bone", "name its bone"},
        {"{\"sinew\": 1, \"name\": \"a\", \"bones\": [{\"name\": \"spine\", \"head\": [0,0,0], \"tail\": [0,1,0]}],"
         " \"parts\": [{\"kind\": \"ellipsoid\", \"radii\": [1, 1, 1], \"bone\": \"spin\"}]}",
            "no bone 'spin'", "spine"},
        {"{\"sinew\": 1, \"name\": \"a\", \"bones\": [{\"name\": \"arm\", \"head\": [0,0,0], \"tail\": [0,1,0], "
         "\"mirror\": true}],"
         " \"parts\": [{\"kind\": \"ellipsoid\", \"radii\": [1, 1, 1]}]}",
            "mirrored but has no side", ".l"},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"sweep\", \"points\": [[0,0,0,1]]}]}",
            "at least 2 points", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"sweep\", \"points\": [[0,0,0,1],[1,0,0,0]]}]}",
            "radius above 0", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"fin\", \"thickness\": 1, \"outline\": "
         "[[0,0,0],[1,0,0],[2,0,0]]}]}",
            "no area", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"parts\": [{\"kind\": \"coil\", \"axis\": [0,1,0], \"start\": [0,1,0], "
         "\"turns\": 1,"
         " \"radius\": 1, \"end_radius\": 1, \"tube\": 0.1, \"end_tube\": 0.1}]}",
            "'start' must point away", ""},
        {"{\"sinew\": 1, \"name\": \"a\", \"box\": {\"size\": [1,1,1], \"cells\": [2,2,2]},"
         " \"parts\": [{\"kind\": \"ellipsoid\", \"radii\": [1, 1, 1]}]}",
            "more than one", ""},
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    {
        snwBlueprintFile file;
        snwMessage message = {0};
        CHECK(Read(context, cases[i][0], &file, &message) == snw_errorInput);
        char text[900];
        snwMessage_Format(&message, text, sizeof text);
        CHECK_CONTAINS(text, cases[i][1]);
        CHECK_CONTAINS(text, cases[i][2]);
        CHECK_CONTAINS(text, "toad.json");
        snwBlueprintFile_Free(&file);
    }
    snwDestroyContext(context);
}

TEST(blueprint, bonesSayWhatTheyWeighAndTouchWith)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const char text[] =
        "{\"sinew\": 1, \"name\": \"toad\", \"bones\": [{\"name\": \"spine\", \"head\": [0, 0, 0], \"tail\": [0, 1, "
        "0]},"
        " {\"name\": \"foot.l\", \"parent\": \"spine\", \"head\": [0.2, 0, 0], \"tail\": [0.2, 0, 0.4], \"mirror\": "
        "true,"
        "  \"mass\": 1, \"inertia\": [0.02, 0.03, 0.04, 0.001, 0.002, 0.003], \"shape\": {\"kind\": \"box\", "
        "  \"at\": [0.2, -0.1, 0], \"half\": [0.1, 0.1, 0.2], \"soft\": [2, 2, 5]}},"
        " {\"name\": \"toe.l\", \"parent\": \"foot.l\", \"head\": [0.2, 0, 0.4], \"tail\": [0.2, 0, 0.6], \"mass\": "
        "0.1,"
        "  \"shape\": {\"kind\": \"capsule\", \"from\": [0.2, 0, 0.4], \"to\": [0.2, 0, 0.6], \"radius\": 0.05}}],"
        " \"joints\": [{\"type\": \"universal\", \"bone\": \"foot.l\", \"axis2\": [0, 0, 1], \"range\": [-30, 60], "
        "\"range2\": [-10, 20], \"mirror\": true}, {\"type\": \"ball\", \"bone\": \"toe.l\", \"range2\": [-90, 45], "
        "\"range3\": "
        "[-45, 90]}], \"parts\": [{\"kind\": \"ellipsoid\", \"at\": [0, 0, 0], \"radii\": [1, 1, 1]}]}";
    snwBlueprintFile file;
    snwMessage message = {0};
    if (Read(context, text, &file, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    const snwBlueprint* toad = &file.blueprint;
    REQUIRE(toad->boneCount == 4 && toad->jointCount == 3);
    const snwBoneDef *left = &toad->bones[1], *right = &toad->bones[2], *toe = &toad->bones[3];
    CHECK_NEAR(left->centre.z, 0.2, 1e-15);
    CHECK_NEAR(right->centre.x, -0.2, 1e-15);
    CHECK_NEAR(right->mass, 1, 0);
    const double signs[6] = {1, 1, 1, -1, 1, -1};
    for (int k = 0; k < 6; ++k)
        CHECK_NEAR(right->inertia[k], signs[k] * left->inertia[k], 0);
    CHECK_INT(right->shape.kind, snw_colliderBox);
    CHECK_NEAR(right->shape.place.position.x, -0.2, 1e-15);
    CHECK_INT(right->shape.cells[2], 5);
    CHECK_NEAR(toe->shape.size.x, 0.05, 1e-15);
    CHECK_NEAR(toe->shape.size.y, 0.1, 1e-15);
    CHECK_NEAR(snwQuat_Rotate(toe->shape.place.rotation, (snwVec3){0, 1, 0}).z, 1, 1e-15);
    CHECK_NEAR(toad->joints[1].upper2, 20 * SNW_PI / 180, 1e-15);
    CHECK_NEAR(toad->joints[1].axis2.z, -1, 0);
    CHECK_NEAR(toad->joints[2].lower2, -0.5 * SNW_PI, 1e-15);
    CHECK_NEAR(toad->joints[2].upper3, 0.5 * SNW_PI, 1e-15);
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
}

TEST(blueprint, everyTruncationIsAnError)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t size = 0; size < strlen(s_toad); ++size)
    {
        snwBlueprintFile file;
        char* text = malloc(size + 1); // exactly as long as it claims
        memcpy(text, s_toad, size);
        text[size] = 0;
        CHECK(snwBlueprintFile_Read(context, "cut.json", text, size, &file, NULL) < 0);
        snwBlueprintFile_Free(&file);
        free(text);
    }
    snwDestroyContext(context);
}

// A ball with a band; its own material is appended by %s.
static const char s_banded[] =
    "{\"sinew\": 1, \"name\": \"a\", \"size\": {\"tets\": 200}, \"material\": {\"young\": 500}, \"bones\": "
    "[{\"name\": \"b\", \"head\": [-0.2,0,0], \"tail\": [0.2,0,0], \"radius\": 0.2}], \"parts\": [{\"kind\": "
    "\"ellipsoid\", \"radii\": [1, 0.6, 0.6]}], \"ribbons\": [{\"name\": \"r\", \"points\": [[0,0,0],[0,2,0]], "
    "\"across\": [1,0,0], \"width\": 0.2, \"thickness\": 0.1, \"cells\": [6,2,1]%s}]}";

TEST(blueprint, ribbonsAreOfTheirMaterial)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int own = 0; own < 2; ++own)
    {
        char text[1024];
        snwBlueprintFile file;
        snwCharacter* character = NULL;
        snprintf(text, sizeof text, s_banded, own ? ", \"material\": {\"young\": 7e6}" : "");
        REQUIRE(Read(context, text, &file, NULL) >= 0);
        REQUIRE(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL) >= 0);
        const snwCharacterDef* def = snwCharacter_GetDef(character);
        int last = def->tetCount - 1, ribbonTets = 6 * 6 * 2;
        CHECK(def->materials[def->regions[0]].young == 500);
        CHECK(def->materials[def->regions[last - ribbonTets]].young == 500);
        CHECK(def->materials[def->regions[last - ribbonTets + 1]].young == (own ? 7e6 : 500));
        CHECK(def->materials[def->regions[last]].young == (own ? 7e6 : 500));
        snwCharacter_Release(character);
        snwBlueprintFile_Free(&file);
    }
    snwDestroyContext(context);
}

// A short bar beside a long one, and no flesh: each element belongs to the bar it is in.
TEST(blueprint, rigidPartsOfAnySizeKeepTheirElements)
{
    static const char text[] =
        "{\"sinew\": 1, \"name\": \"a\", \"size\": {\"tets\": 3000}, \"bones\": [{\"name\": \"long\", \"head\": "
        "[-1,0,0], \"tail\": [1,0,0], \"radius\": 0}, {\"name\": \"short\", \"head\": [0,0,0.3], \"tail\": "
        "[0.2,0,0.3], \"radius\": 0}], \"parts\": [{\"kind\": \"box\", \"group\": \"long\", \"bone\": \"long\", "
        "\"rigid\": true, \"half\": [1.2, 0.1, 0.1]}, {\"kind\": \"box\", \"group\": \"short\", \"bone\": "
        "\"short\", \"rigid\": true, \"at\": [0, 0, 0.3], \"half\": [0.2, 0.1, 0.1]}]}";
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    REQUIRE(Read(context, text, &file, NULL) >= 0);
    REQUIRE(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL) >= 0);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    for (int t = 0; t < def->tetCount; ++t)
        CHECK_INT(def->elementBones[t], def->vertices[def->tets[t][0]].z > 0.15);
    snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
}

TEST(blueprint, everyFailedAllocationIsAnErrorWithoutLeak)
{
    static const char small[] =
        "{\"sinew\": 1, \"name\": \"a\", \"size\": {\"tets\": 200}, \"bones\": [{\"name\": "
        "\"b.l\", \"head\": [0.3,0,0],"
        " \"tail\": [0.5,0,0], \"radius\": 0.2, \"mirror\": true}], \"parts\": [{\"kind\": "
        "\"ellipsoid\", \"radii\": [1, 0.6, 0.6]}],"
        " \"ribbons\": [{\"name\": \"r\", \"points\": [[0,0,0],[0,2,0]], \"across\": [1,0,0], "
        "\"width\": 0.2, \"thickness\": 0.1,"
        "  \"cells\": [6,2,1], \"held_by\": [\"b.l\"], \"grip\": 0.5, \"material\": {\"young\": 7e6}}]}";
    bool done = false;
    for (long failAt = 1; !done && failAt < 20000; failAt += 1 + failAt / 15) // every one at first, then fewer
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        long before = counter.live;
        snwBlueprintFile file;
        snwCharacter* character = NULL;
        counter.failAt = counter.allocations + failAt;
        snwResult result = Read(context, small, &file, NULL);
        if (result >= 0)
            result = snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL);
        done = counter.allocations < counter.failAt; // nothing failed any more
        CHECK(done ? result >= 0 : result == snw_errorMemory || result >= 0);
        if (character != NULL)
            snwCharacter_Release(character);
        snwBlueprintFile_Free(&file);
        CHECK_INT(counter.live, before);
        snwDestroyContext(context);
    }
    CHECK(done);
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

static snwResult Build(snwContext* context, const char* name, const snwBlueprintSize* size, snwCharacter** character)
{
    snwBlueprintFile file;
    snwMessage message = {0};
    snwResult result = snwBlueprintFile_Open(context, name, &file, &message);
    if (result >= 0)
        result = snwBlueprint_Create(context, &file.blueprint, size, NULL, NULL, character, &message);
    if (result != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, message.text);
    snwBlueprintFile_Free(&file);
    return result;
}

TEST(blueprint, sizesAreMet)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwBlueprintFile file;
    REQUIRE(Read(context, s_toad, &file, NULL) == snw_ok);
    static const int sizes[] = {1500, 4000, 12000};
    for (int i = 0; i < 3; ++i)
    {
        snwBlueprintSize size = {.tets = sizes[i]};
        snwCharacter* character = NULL;
        REQUIRE(snwBlueprint_Create(context, &file.blueprint, &size, NULL, NULL, &character, NULL) == snw_ok);
        snwCharacterInfo info = snwCharacter_GetInfo(character);
        const snwCharacterDef* def = snwCharacter_GetDef(character);
        CHECK_NEAR(info.tetCount, sizes[i], 0.05 * sizes[i]);
        CHECK_INT(info.boneCount, 5);
        int counts[5] = {0};
        for (int t = 0; t < def->tetCount; ++t)
            if (def->elementBones[t] >= 0)
                counts[def->elementBones[t]]++;
        for (int b = 0; b < 5; ++b)
            CHECK(counts[b] >= 8);
        snwTetMesh mesh = {(snwVec3*)def->vertices, def->vertexCount, (int(*)[4])def->tets, def->tetCount};
        snwMeshQuality quality = snwTetMesh_FleshQuality(&mesh, def->elementBones);
        CHECK(quality.minDihedral >= 8 && quality.maxDihedral <= 165);
        CHECK_INT(quality.inverted, 0);
        snwCharacter_Release(character);
    }
    snwBlueprintFile_Free(&file);
    snwDestroyContext(context);
}

TEST(blueprint, anyNumberOfThreadsGivesTheSameCharacter) // Labels: threads
{
    void* saved[2] = {0};
    size_t sizes[2] = {0};
    for (int i = 0; i < 2; ++i)
    {
        snwContext* context = snwFixture_Context(i == 0 ? 1 : 4, snw_simdAuto, NULL);
        snwBlueprintFile file;
        snwCharacter* character = NULL;
        void* block = NULL;
        REQUIRE(Read(context, s_toad, &file, NULL) == snw_ok);
        REQUIRE(snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, NULL) == snw_ok);
        REQUIRE(snwCharacter_Save(character, &block, &sizes[i], NULL) == snw_ok);
        saved[i] = malloc(sizes[i]);
        memcpy(saved[i], block, sizes[i]);
        snwContext_Free(context, block);
        snwCharacter_Release(character);
        snwBlueprintFile_Free(&file);
        snwDestroyContext(context);
    }
    CHECK(sizes[0] == sizes[1] && memcmp(saved[0], saved[1], sizes[0]) == 0);
    free(saved[0]);
    free(saved[1]);
}

TEST(blueprint, coloursAndHexesAndBoxes)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    REQUIRE(Read(context, s_toad, &file, NULL) == snw_ok);
    snwBlueprintSize size = {.hexes = 2000};
    REQUIRE(snwBlueprint_Create(context, &file.blueprint, &size, NULL, NULL, &character, NULL) == snw_ok);
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    CHECK_NEAR(info.hexCount, 2000, 100);
    CHECK_INT(info.tetCount, 0);
    int owned[5] = {0};
    for (int i = 0; i < info.hexCount; ++i)
        if (snwCharacter_GetDef(character)->elementBones[i] >= 0)
            owned[snwCharacter_GetDef(character)->elementBones[i]]++;
    for (int b = 0; b < 5; ++b)
        CHECK(owned[b] >= 8);
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    int pale = 0;
    for (int i = 0; i < def->vertexCount; ++i)
        pale += def->colors[i][0] > 0.6f;
    CHECK(pale > 4 && pale < def->vertexCount / 4); // the eyes
    snwCharacter_Release(character);
    snwBlueprintFile_Free(&file);
    size = (snwBlueprintSize){.refine = 2};
    REQUIRE(Build(context, "bar", &size, &character) == snw_ok);
    CHECK_INT(snwCharacter_GetInfo(character).tetCount, 196608);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The cast

TEST(cast, everyCharacterReadsAndHasTheSkeletonOfItsPaper)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    CHECK(snwBuiltInCount() >= 28);
    for (int i = 0; i < snwBuiltInCount(); ++i)
    {
        snwBlueprintFile file;
        snwMessage message = {0};
        const char* name = snwBuiltIn_Get(i)->name;
        if (snwBlueprintFile_Open(context, name, &file, &message) < 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", name, message.place, message.text);
        else
        {
            CHECK(strcmp(file.blueprint.name, name) == 0);
            CHECK(strlen(file.blueprint.description) > 10);
        }
        snwBlueprintFile_Free(&file);
    }
    for (int i = 0; i < snw_prepCaseCount; ++i)
    {
        const snwPrepCase* want = &snw_prepCases[i];
        snwBlueprintFile file;
        int freedom = 0;
        if (snwBlueprintFile_Open(context, want->character, &file, NULL) < 0)
            snwTest_Fail(__FILE__, __LINE__, "there is no %s", want->character);
        for (int k = 0; k < file.blueprint.jointCount; ++k)
            freedom += snwJointType_Freedom(file.blueprint.joints[k].type);
        if (want->bones >= 0)
            CHECK_INT(file.blueprint.boneCount, want->bones);
        if (want->joints >= 0)
            CHECK_INT(file.blueprint.jointCount, want->joints);
        if (want->freedom >= 0)
            CHECK_INT(freedom, want->freedom);
        snwBlueprintFile_Free(&file);
    }
    snwDestroyContext(context);
}

TEST(cast, motionsStayWithinTheJoints)
{
    static const char* const wanted[][2] = {
        {"cow", "walk"}, {"fish", "swim"}, {"head", "nod"}, {"reptile", "stomp"}, {"upper-body", "wave"}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snwBuiltInCount(); ++i)
    {
        const char* name = snwBuiltIn_Get(i)->name;
        snwBlueprintFile file;
        REQUIRE(snwBlueprintFile_Open(context, name, &file, NULL) == snw_ok);
        const snwBlueprint* blueprint = &file.blueprint;
        snwSkeleton skeleton;
        snwTransform* pose = calloc((size_t)blueprint->boneCount + 1, sizeof *pose);
        REQUIRE(snwSkeleton_Build(&file.arena, blueprint->bones, blueprint->boneCount, blueprint->joints,
                    blueprint->jointCount, &skeleton, NULL) == snw_ok);
        for (int m = 0; m < blueprint->motionCount; ++m)
            for (int step = 0; step < 120; ++step)
            {
                const snwMotionDef* motion = &blueprint->motions[m];
                snwSkeleton_Pose(&skeleton, motion, motion->duration * step / 120, pose);
                for (int j = 0; j < blueprint->jointCount; ++j)
                    if (snwSkeleton_JointExcess(&skeleton, j, pose) > 0.01)
                    {
                        snwTest_Fail(__FILE__, __LINE__, "%s: %s bends %s %.1f degrees too far at %.2f s", name,
                            motion->name, blueprint->joints[j].name,
                            snwSkeleton_JointExcess(&skeleton, j, pose) * 180 / SNW_PI, motion->duration * step / 120);
                        step = 120;
                    }
            }
        for (int w = 0; w < 5; ++w)
            if (strcmp(wanted[w][0], name) == 0)
            {
                bool has = false;
                for (int m = 0; m < blueprint->motionCount; ++m)
                    has = has || strcmp(blueprint->motions[m].name, wanted[w][1]) == 0;
                CHECK(has);
            }
        free(pose);
        snwBlueprintFile_Free(&file);
    }
    snwDestroyContext(context);
}

TEST_HEAVY(cast, smallCharactersMeetTheirSizes)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (int i = 0; i < snw_prepCaseCount; ++i)
    {
        const snwBlueprintSize* size = &snw_prepCases[i].size;
        bool small = size->tets > 0 ? size->tets < 15000 : size->vertices > 0 && size->vertices < 3000;
        snwCharacter* character = NULL;
        if (!small || Build(context, snw_prepCases[i].character, size, &character) < 0) // which is told
            continue;
        snwCharacterInfo info = snwCharacter_GetInfo(character);
        if (size->tets > 0)
            CHECK_NEAR(info.tetCount, size->tets, 0.05 * size->tets);
        if (size->triangles > 0)
            CHECK_NEAR(info.triangleCount, size->triangles, 0.05 * size->triangles);
        if (size->vertices > 0)
            CHECK_NEAR(info.vertexCount, size->vertices, (size->triangles > 0 ? 0.1 : 0.05) * size->vertices);
        if (size->elasticVertices > 0)
            CHECK_NEAR(info.elasticVertexCount, size->elasticVertices, 0.1 * size->elasticVertices);
        snwCharacter_Release(character);
    }
    snwDestroyContext(context);
}

// All rows of `sinew bench prep` but the times.
TEST_LONG(cast, everyCharacterMeetsItsPaperSize)
{
    snwBenchOptions options = snwDefaultBenchOptions();
    snwBenchReport report = {.bench = "prep"};
    options.runs = 1;
    REQUIRE(snwPrepBench.run(&options, &report, NULL) >= 0);
    CHECK(report.count > 200);
    for (int i = 0; i < report.count; ++i)
        if (strcmp(report.rows[i].metric, "mesh_s") != 0 && snwBenchRow_Passes(&report.rows[i]) == 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s is %g, wanted %s %g", report.rows[i].caseName,
                report.rows[i].metric, report.rows[i].value, report.rows[i].op, report.rows[i].target);
    snwBenchReport_Free(&report);
}

// ---------------------------------------------------------------------------------------------------------------------
// In scenes

static snwResult OpenScene(snwContext* context, const char* character, snwSceneFile* file, snwMessage* message)
{
    char text[4000];
    snprintf(text, sizeof text,
        "{\"sinew\": 1, \"name\": \"s\", \"method\": \"pbd\", \"duration\": 0.1, \"bodies\": [{\"name\": \"b\","
        " \"character\": %s}]}",
        character);
    return snwSceneFile_Parse(context, text, strlen(text), "scene", NULL, file, message);
}

TEST(blueprint, scenesUseAndKeepBlueprints)
{
    char inlined[3500];
    snprintf(inlined, sizeof inlined, "{\"blueprint\": %s, \"size\": {\"tets\": 1500}, \"material\": {\"young\": 777}}",
        s_toad);
    const char* const characters[2] = {"{\"blueprint\": \"fish\", \"material\": {\"young\": 777}}", inlined};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (int i = 0; i < 2; ++i)
    {
        snwSceneFile file, again;
        snwMessage message = {0};
        char* text = NULL;
        size_t size = 0;
        if (OpenScene(context, characters[i], &file, &message) < 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
        REQUIRE(file.scene != NULL);
        const snwCharacterDef* def = snwCharacter_GetDef(snwScene_GetDef(file.scene)->bodies[0].character);
        CHECK_NEAR(def->materials[0].young, 777, 0);
        CHECK(def->boneCount > 0);
        REQUIRE(snwSceneFile_Format(context, &file, &text, &size, NULL) == snw_ok);
        REQUIRE(snwSceneFile_Parse(context, text, size, "again", NULL, &again, NULL) >= 0);
        CHECK(snwScene_Hash(file.scene) == snwScene_Hash(again.scene));
        snwSimDef simDef = snwDefaultSimDef();
        simDef.scene = file.scene;
        snwSim* sim = NULL;
        REQUIRE(snwCreateSim(context, &simDef, &sim, &message) >= 0);
        snwFixture_Run(sim, 3, 1.0 / 60);
        snwDestroySim(sim);
        snwContext_Free(context, text);
        snwSceneFile_Close(&file);
        snwSceneFile_Close(&again);
    }
    snwDestroyContext(context);
}

TEST(blueprint, unknownCharactersInScenesGetASuggestion)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSceneFile file;
    snwMessage message = {0};
    CHECK(OpenScene(context, "{\"blueprint\": \"forg\"}", &file, &message) == snw_errorInput);
    CHECK_CONTAINS(message.text, "forg");
    CHECK_CONTAINS(message.remedy, "frog");
    CHECK_CONTAINS(message.place, "bodies[0].character");
    snwSceneFile_Close(&file);
    CHECK(OpenScene(context, "{\"blueprint\": 7}", &file, &message) == snw_errorInput);
    snwSceneFile_Close(&file);
    snwDestroyContext(context);
}
