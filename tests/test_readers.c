// What we write reads back to the same bits, and real files read with the sizes that their publishers give.

#include "readers.h"

#include "asset/export.h"

#include <stdlib.h>

typedef struct World
{
    snwContext* context;
    snwSim* sim;
    snwCharacter* character;
    char path[300];
} World;

enum
{
    snw_points = 5
};

static snwCharacter* MakeCharacter(snwContext* context)
{
    static const snwVec3 points[snw_points] = {{0.1, 0, 0}, {1, 1.0 / 3, 0}, {0, 1, 2e-5}, {0, 0, 1}, {1, 1, 1}};
    static const int tets[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
    static const int regions[2] = {0, 1};
    static float colors[snw_points][3], texcoords[snw_points][2];
    uint64_t seed = 11;
    for (int i = 0; i < snw_points; ++i)
        for (int k = 0; k < 3; ++k)
        {
            colors[i][k] = (float)snwTest_Random(&seed);
            texcoords[i][k % 2] = (float)pow(snwTest_Random(&seed), 4); // small ones are the hard ones
        }
    snwMaterial materials[2] = {snwDefaultMaterial(), snwDefaultMaterial()};
    snwCharacterDef def = snwDefaultCharacterDef();
    snwCharacter* character = NULL;
    snwMessage message = {0};
    def.name = "pair";
    def.vertices = points, def.vertexCount = snw_points;
    def.tets = tets, def.tetCount = 2;
    def.materials = materials, def.materialCount = 2;
    def.regions = regions;
    def.colors = (const float(*)[3])colors;
    def.texcoords = (const float(*)[2])texcoords;
    if (snwCreateCharacter(context, &def, &character, &message) < 0)
    {
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
        exit(1);
    }
    return character;
}

static World MakeWorld(snwExportKind kind)
{
    World world = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    world.character = MakeCharacter(world.context);
    snwBodyDef body = snwDefaultBodyDef();
    snwSceneDef sceneDef = snwDefaultSceneDef();
    snwSimDef simDef = snwDefaultSimDef();
    body.character = world.character;
    body.name = "pair";
    sceneDef.bodies = &body, sceneDef.bodyCount = 1;
    snwExportDef def = snwDefaultExportDef(kind);
    snwExporter* exporter = NULL;
    snprintf(world.path, sizeof world.path, "%s/read-back", snwTest_TempDir());
    def.path = world.path;
    def.meditFrame = -1;
    bool fine = snwCreateScene(world.context, &sceneDef, &simDef.scene, NULL) == snw_ok &&
                snwCreateSim(world.context, &simDef, &world.sim, NULL) == snw_ok &&
                snwExporter_Open(world.context, &def, simDef.scene, &exporter, NULL) == snw_ok &&
                snwExporter_AddFrame(exporter, world.sim, NULL) == snw_ok &&
                snwExporter_Finish(exporter, NULL) == snw_ok;
    snwScene_Release(simDef.scene);
    if (!fine)
        exit(1);
    return world;
}

static snwAsset* ReadBack(World* world, const char* ending)
{
    snwAsset* asset = NULL;
    snwMessage message = {0};
    strcat(world->path, ending);
    if (snwAsset_Open(world->context, world->path, &asset, &message) < 0)
    {
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
        exit(1);
    }
    return asset;
}

static void FreeWorld(World* world, snwAsset* asset)
{
    snwAsset_Close(asset);
    snwDestroySim(world->sim);
    snwCharacter_Release(world->character);
    snwDestroyContext(world->context);
}

static void CheckSkin(const World* world, const snwAssetMesh* mesh)
{
    snwSkin skin;
    REQUIRE(snwSim_GetSkin(world->sim, 0, &skin) == snw_ok);
    REQUIRE(mesh->vertexCount == skin.vertexCount && mesh->triangleCount == skin.triangleCount);
    REQUIRE(mesh->normals != NULL);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        const float* p = (const float*)((const char*)skin.positions + (size_t)i * (size_t)skin.stride);
        CHECK((float)mesh->positions[i].x == p[0] && (float)mesh->positions[i].y == p[1] &&
              (float)mesh->positions[i].z == p[2]);
        CHECK(memcmp(mesh->normals[i], skin.normals + 3 * (size_t)i, 3 * sizeof(float)) == 0);
    }
    CHECK(memcmp(mesh->triangles, skin.triangles, 3 * sizeof(int) * (size_t)skin.triangleCount) == 0);
}

TEST(readers, ourObjReadsBack)
{
    World world = MakeWorld(snw_exportObj);
    snwAsset* asset = ReadBack(&world, "-00000.obj");
    const snwAssetMesh* mesh = &asset->meshes[0];
    const snwCharacterDef* def = snwCharacter_GetDef(world.character);
    snwSkin skin;
    CheckSkin(&world, mesh);
    REQUIRE(snwSim_GetSkin(world.sim, 0, &skin) == snw_ok && mesh->texcoords != NULL && mesh->colors != NULL);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        int vertex = skin.vertices[i];
        CHECK(memcmp(mesh->texcoords[i], def->texcoords[vertex], 2 * sizeof(float)) == 0);
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR(mesh->colors[i][k], def->colors[vertex][k], 3e-7); // through sRGB and back
    }
    CHECK(strcmp(mesh->parts[0].name, "pair") == 0);
    CHECK_INT(asset->noteCount, 0);
    FreeWorld(&world, asset);
}

TEST(readers, ourPlyReadsBack)
{
    World world = MakeWorld(snw_exportPly);
    snwAsset* asset = ReadBack(&world, "-00000.ply");
    const snwAssetMesh* mesh = &asset->meshes[0];
    const snwCharacterDef* def = snwCharacter_GetDef(world.character);
    snwSkin skin;
    CheckSkin(&world, mesh);
    REQUIRE(snwSim_GetSkin(world.sim, 0, &skin) == snw_ok && mesh->colors != NULL);
    for (int i = 0; i < mesh->vertexCount; ++i)
        for (int k = 0; k < 3; ++k) // half a step of 1/255 in sRGB is at most 0.0045 of light
            CHECK_NEAR(mesh->colors[i][k], def->colors[skin.vertices[i]][k], 0.0046);
    CHECK_INT(asset->noteCount, 0);
    FreeWorld(&world, asset);
}

TEST(readers, ourMeditReadsBack)
{
    World world = MakeWorld(snw_exportMedit);
    snwAsset* asset = ReadBack(&world, ".mesh");
    const snwAssetMesh* mesh = &asset->meshes[0];
    const snwCharacterDef* def = snwCharacter_GetDef(world.character);
    REQUIRE(mesh->vertexCount == def->vertexCount && mesh->tetCount == def->tetCount);
    CHECK(memcmp(mesh->positions, def->vertices, sizeof(snwVec3) * (size_t)def->vertexCount) == 0);
    CHECK(memcmp(mesh->tets, def->tets, 4 * sizeof(int) * (size_t)def->tetCount) == 0);
    CHECK(mesh->tetLabels[0] == 1 && mesh->tetLabels[1] == 2);
    CHECK_INT(mesh->triangleCount, 6);
    CHECK_INT(asset->noteCount, 0);
    FreeWorld(&world, asset);
}

// ---------------------------------------------------------------------------------------------------------------------
// Real files, where the machine has them

typedef struct RealFile
{
    const char* name;
    int vertices, triangles, tets;
    double scale;
    bool normals, texcoords;
} RealFile;

static const RealFile s_real[] = {
    {"complementary-dynamics/elephant/elephant.mesh", 494, 3399, 1502, 0, false, false},
    {"complementary-dynamics/fish/fish.mesh", 6142, 47873, 21708, 0, false, false},
    {"complementary-dynamics/frog/frog.mesh", 1749, 12093, 5389, 0, false, false},
    {"complementary-dynamics/sphere/sphere.mesh", 67, 112, 181, 0, false, false},
    {"complementary-dynamics/elephant/elephant.obj", 635, 1266, 0, 0.01, true, false},
    {"complementary-dynamics/fish/fish.obj", 3200, 6396, 0, 0.01, true, true},
    {"complementary-dynamics/frog/frog.obj", 1085, 2166, 0, 0.01, true, true},
    {"complementary-dynamics/sphere/sphere.obj", 58, 112, 0, 0.01, true, true},
    {"blender-rig/rig.obj", 504, 1004, 0, 0, true, true},
    {"spot/spot.obj", 2930, 5856, 0, 0, true, true},
};

TEST(readers, realFilesHaveTheirSizes)
{
    if (!snwReaders_HasReal())
        SKIP("SINEW_DATA is not set");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_real / sizeof *s_real; ++i)
    {
        snwAsset* asset = snwReaders_OpenReal(context, s_real[i].name);
        const snwAssetMesh* mesh = &asset->meshes[0];
        CHECK_INT(mesh->vertexCount, s_real[i].vertices);
        CHECK_INT(mesh->triangleCount, s_real[i].triangles);
        CHECK_INT(mesh->tetCount, s_real[i].tets);
        CHECK(asset->scale == s_real[i].scale);
        CHECK((mesh->normals != NULL) == s_real[i].normals && (mesh->texcoords != NULL) == s_real[i].texcoords);
        // All .mesh files but the sphere's list inner faces too.
        CHECK((snwReaders_FindNote(asset, "they are no skin") != NULL) == (i < 3));
        snwAsset_Close(asset);
    }
    snwDestroyContext(context);
}

// Numbers of a file as text are those that the C library reads.
TEST(readers, realNumbersAreThoseOfStrtod)
{
    if (!snwReaders_HasReal())
        SKIP("SINEW_DATA is not set");
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/complementary-dynamics/fish/fish.mesh", getenv("SINEW_DATA"));
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* asset = snwReaders_OpenReal(context, "complementary-dynamics/fish/fish.mesh");
    FILE* file = fopen(path, "r");
    REQUIRE(file != NULL);
    for (int i = 0; i < 4; ++i)
        REQUIRE(fgets(line, sizeof line, file) != NULL);
    for (int i = 0; i < asset->meshes[0].vertexCount; ++i)
    {
        REQUIRE(fgets(line, sizeof line, file) != NULL);
        char* rest = line;
        double x = strtod(rest, &rest), y = strtod(rest, &rest), z = strtod(rest, &rest);
        snwVec3 p = asset->meshes[0].positions[i];
        CHECK(p.x == x && p.y == y && p.z == z);
    }
    fclose(file);
    snwAsset_Close(asset);
    snwDestroyContext(context);
}
