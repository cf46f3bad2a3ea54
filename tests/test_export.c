// Files for other programs, read back by small readers that know only the formats.

#include "fixture.h"
#include "process.h"
#include "test.h"

#include "asset/export.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

typedef struct World
{
    snwContext* context;
    snwSim* sim;
    snwExportDef def;
    char path[256];
    snwMessage message;
} World;

static World MakeWorld(snwExportKind kind, const char* name)
{
    World world = {.context = snwFixture_Context(1, snw_simdAuto, NULL), .def = snwDefaultExportDef(kind)};
    snwFixtureScene scene = snwFixture_DefaultScene();
    scene.cells = 2;
    scene.spin = (snwVec3){1, 2, 3};
    world.sim = snwFixture_MakeSim(world.context, &scene);
    snprintf(world.path, sizeof world.path, "%s/export-%s", snwTest_TempDir(), name);
    return world;
}

static void FreeWorld(World* world)
{
    snwDestroySim(world->sim);
    snwDestroyContext(world->context);
}

// Writes `frames` frames; the sim is then at the last of them.
static snwResult Export(World* world, int frames)
{
    snwExporter* exporter = NULL;
    world->def.path = world->path;
    snwResult result = snwExporter_Open(
        world->context, &world->def, snwSim_GetScene(world->sim), &exporter, &world->message);
    for (int i = 0; result >= 0 && i < frames; ++i)
    {
        if (i > 0)
            snwFixture_Run(world->sim, 1, 1.0 / 60);
        result = snwExporter_AddFrame(exporter, world->sim, &world->message);
    }
    if (exporter == NULL)
        return result;
    if (result >= 0)
        return snwExporter_Finish(exporter, &world->message);
    snwExporter_Drop(exporter);
    return result;
}

static unsigned char* Load(const World* world, const char* ending, size_t* size)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", world->path, ending);
    struct stat info;
    *size = stat(path, &info) == 0 ? (size_t)info.st_size : 0;
    return (unsigned char*)snwReadWhole(path);
}

static const float* SkinPoint(const snwSkin* skin, int i)
{
    return (const float*)((const char*)skin->positions + (size_t)i * (size_t)skin->stride);
}

static bool Same(const float* a, const float* b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof(float)) == 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

// Points and faces of an OBJ; false if a line is not understood.
static bool CheckObj(char* text, const snwSkin* skin, int* points, int* faces, int* normals)
{
    *points = *faces = *normals = 0;
    for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
    {
        float p[3];
        int corner[3], normal[3];
        if (sscanf(line, "vn %f %f %f", p, p + 1, p + 2) == 3)
            CHECK(Same(p, skin->normals + 3 * (size_t)(*normals)++, 3));
        else if (sscanf(line, "v %f %f %f", p, p + 1, p + 2) == 3)
            CHECK(Same(p, SkinPoint(skin, (*points)++), 3));
        else if (sscanf(line, "f %d//%d %d//%d %d//%d", corner, normal, corner + 1, normal + 1, corner + 2,
                     normal + 2) == 6)
        {
            for (int k = 0; k < 3; ++k)
                CHECK_INT(corner[k] - 1, skin->triangles[3 * *faces + k]);
            (*faces)++;
        }
        else if (line[0] != '#' && line[0] != 'o')
            return false;
    }
    return true;
}

TEST(export, objReadsBackToTheSameFloats)
{
    World world = MakeWorld(snw_exportObj, "seq");
    REQUIRE(Export(&world, 3) == snw_ok);
    size_t size;
    int points, faces, normals;
    snwSkin skin;
    char* text = (char*)Load(&world, "-00002.obj", &size);
    REQUIRE(text != NULL && snwSim_GetSkin(world.sim, 0, &skin) == snw_ok);
    CHECK(CheckObj(text, &skin, &points, &faces, &normals));
    CHECK_INT(points, skin.vertexCount);
    CHECK_INT(normals, skin.vertexCount);
    CHECK_INT(faces, skin.triangleCount);
    free(text);
    FreeWorld(&world);
}

TEST(export, plyIsLittleEndianWithNormalsAndColours)
{
    World world = MakeWorld(snw_exportPly, "ply");
    REQUIRE(Export(&world, 2) == snw_ok);
    size_t size;
    snwSkin skin;
    unsigned char* data = Load(&world, "-00001.ply", &size);
    REQUIRE(data != NULL && snwSim_GetSkin(world.sim, 0, &skin) == snw_ok);
    const char* end = strstr((char*)data, "end_header\n");
    REQUIRE(end != NULL && strncmp((char*)data, "ply\nformat binary_little_endian 1.0\n", 36) == 0);
    int vertices = 0, faces = 0;
    REQUIRE(sscanf(strstr((char*)data, "element vertex"), "element vertex %d", &vertices) == 1);
    REQUIRE(sscanf(strstr((char*)data, "element face"), "element face %d", &faces) == 1);
    CHECK_INT(vertices, skin.vertexCount);
    CHECK_INT(faces, skin.triangleCount);
    const unsigned char* body = (const unsigned char*)end + strlen("end_header\n");
    REQUIRE((size_t)(body - data) + (size_t)vertices * 27 + (size_t)faces * 13 == size);
    const snwCharacterDef* character = snwCharacter_GetDef(
        snwScene_GetDef(snwSim_GetScene(world.sim))->bodies[0].character);
    for (int i = 0; i < vertices; ++i)
    {
        float row[6];
        memcpy(row, body + 27 * (size_t)i, sizeof row);
        CHECK(Same(row, SkinPoint(&skin, i), 3) && Same(row + 3, skin.normals + 3 * (size_t)i, 3));
        double shown = 1.055 * pow(character->color[1], 1 / 2.4) - 0.055;
        CHECK_NEAR(body[27 * (size_t)i + 25] / 255.0, shown, 0.003);
    }
    const unsigned char* face = body + 27 * (size_t)vertices;
    int corner;
    memcpy(&corner, face + 13 * (size_t)(faces - 1) + 9, sizeof corner);
    CHECK(face[0] == 3);
    CHECK_INT(corner, skin.triangles[3 * (faces - 1) + 2]);
    free(data);
    FreeWorld(&world);
}

static snwScene* ColouredScene(snwContext* context)
{
    static const snwVec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int tets[1][4] = {{0, 1, 2, 3}};
    static const float colors[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2f, 0.2f, 1}};
    snwMaterial material = snwDefaultMaterial();
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = "coloured";
    def.vertices = points, def.vertexCount = 4;
    def.tets = tets, def.tetCount = 1;
    def.materials = &material, def.materialCount = 1;
    def.colors = colors;
    snwBodyDef body = snwDefaultBodyDef();
    snwScene* scene = NULL;
    snwSceneDef sceneDef = snwDefaultSceneDef();
    if (snwCreateCharacter(context, &def, &body.character, NULL) < 0)
        return NULL;
    snwBodyDef bodies[3] = {body, body, body};
    bodies[0].name = "a/b", bodies[1].name = "a b", bodies[2].name = "../\xc3\xa9t\xc3\xa9";
    sceneDef.bodies = bodies, sceneDef.bodyCount = 3;
    snwCreateScene(context, &sceneDef, &scene, NULL);
    snwCharacter_Release(body.character);
    return scene;
}

TEST(export, objHasTheColoursOfTheCharacter)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwScene* scene = ColouredScene(context);
    REQUIRE(scene != NULL);
    World world = {.context = context, .def = snwDefaultExportDef(snw_exportObj)};
    snwSimDef def = snwDefaultSimDef();
    def.scene = scene;
    REQUIRE(snwCreateSim(context, &def, &world.sim, NULL) == snw_ok);
    snprintf(world.path, sizeof world.path, "%s/coloured", snwTest_TempDir());
    REQUIRE(Export(&world, 1) == snw_ok);
    size_t size;
    char* text = (char*)Load(&world, "-00000.obj", &size);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "v 1 0 0 1 0 0\n");
    CHECK_CONTAINS(text, "v 0 1 0 0 1 0\n");
    CHECK_CONTAINS(text, "v 0 0 1 0.48"); // 0.2 of light is 0.4845 in sRGB
    free(text);
    snwScene_Release(scene);
    FreeWorld(&world);
}

TEST(export, namesOfBodiesBecomeNamesOfFiles)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwScene* scene = ColouredScene(context);
    REQUIRE(scene != NULL);
    char names[3][64];
    for (int i = 0; i < 3; ++i)
        snwExport_FileName(scene, i, names[i], sizeof names[i]);
    CHECK(strcmp(names[0], "a_b~0") == 0); // "a/b" and "a b" would meet
    CHECK(strcmp(names[1], "a_b~1") == 0);
    CHECK(strcmp(names[2], "_._\xc3\xa9t\xc3\xa9") == 0);
    snwScene_Release(scene);
    snwDestroyContext(context);
}

// Reads "word", a count and its rows of numbers.
static const char* MeditSection(const char* text, const char* word, int* count)
{
    char head[64];
    snprintf(head, sizeof head, "\n%s\n", word);
    const char* at = strstr(text, head);
    *count = 0;
    if (at == NULL)
        return NULL;
    char* rest;
    *count = (int)strtol(at + strlen(head), &rest, 10);
    return rest;
}

TEST(export, meditHasElementsWithLabels)
{
    World world = MakeWorld(snw_exportMedit, "rest");
    REQUIRE(Export(&world, 3) == snw_ok);
    const snwCharacterDef* character = snwCharacter_GetDef(
        snwScene_GetDef(snwSim_GetScene(world.sim))->bodies[0].character);
    size_t size;
    char* text = (char*)Load(&world, ".mesh", &size);
    REQUIRE(text != NULL);
    CHECK(strncmp(text, "MeshVersionFormatted 2\n", 23) == 0 && strstr(text, "\nEnd\n") != NULL);
    int count;
    char* rest = (char*)MeditSection(text, "Vertices", &count);
    CHECK_INT(count, character->vertexCount);
    for (int i = 0; i < count; ++i)
    {
        double x = strtod(rest, &rest), y = strtod(rest, &rest), z = strtod(rest, &rest), label = strtod(rest, &rest);
        snwVec3 p = character->vertices[i];
        CHECK(x == p.x && y == p.y && z == p.z && label == 0);
    }
    rest = (char*)MeditSection(text, "Tetrahedra", &count);
    CHECK_INT(count, character->tetCount);
    for (int i = 0; i < count; ++i)
    {
        for (int k = 0; k < 4; ++k)
            CHECK_INT(strtol(rest, &rest, 10) - 1, character->tets[i][k]);
        CHECK_INT(strtol(rest, &rest, 10), 1); // flesh of the only material
    }
    free(text);
    FreeWorld(&world);
}

TEST(export, meditShowsAFrameAndMissesNone)
{
    World world = MakeWorld(snw_exportMedit, "frame");
    world.def.meditFrame = 2;
    REQUIRE(Export(&world, 3) == snw_ok);
    snwVertices vertices;
    size_t size;
    int count;
    char* text = (char*)Load(&world, ".mesh", &size);
    REQUIRE(text != NULL && snwSim_GetVertices(world.sim, 0, &vertices) == snw_ok);
    char* rest = (char*)MeditSection(text, "Vertices", &count);
    CHECK_INT(count, vertices.count);
    for (int k = 0; k < 3; ++k)
        CHECK((float)strtod(rest, &rest) == vertices.positions[k]);
    free(text);
    world.def.meditFrame = 7;
    world.def.overwrite = true;
    CHECK_INT(Export(&world, 3), snw_errorArgument);
    CHECK_CONTAINS(world.message.text, "no frame 7");
    FreeWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Point caches

static int BigInt(const unsigned char* p)
{
    return (int)((unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3]);
}

static float BigFloat(const unsigned char* p)
{
    unsigned bits = (unsigned)BigInt(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TEST(export, pc2IsZUpInTheOrderOfTheSkin)
{
    World world = MakeWorld(snw_exportPc2, "cache");
    REQUIRE(Export(&world, 4) == snw_ok);
    size_t size;
    snwSkin skin;
    unsigned char* data = Load(&world, ".pc2", &size);
    REQUIRE(data != NULL && snwSim_GetSkin(world.sim, 0, &skin) == snw_ok);
    int header[2], frames;
    float times[2];
    memcpy(header, data + 12, sizeof header);
    memcpy(times, data + 20, sizeof times);
    memcpy(&frames, data + 28, sizeof frames);
    CHECK(memcmp(data, "POINTCACHE2", 12) == 0 && header[0] == 1 && times[0] == 0 && times[1] == 1);
    CHECK_INT(header[1], skin.vertexCount);
    CHECK_INT(frames, 4);
    size_t frame = 12 * (size_t)skin.vertexCount;
    REQUIRE(size == 32 + 4 * frame);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        float row[3];
        const float* p = SkinPoint(&skin, i);
        memcpy(row, data + 32 + 3 * frame + 12 * (size_t)i, sizeof row);
        CHECK(row[0] == p[0] && row[1] == -p[2] && row[2] == p[1]);
    }
    free(data);
    FreeWorld(&world);
}

// expected: frames that the exporter was told; fewer came.
static void CheckMdd(int expected, int frames, const char* name)
{
    World world = MakeWorld(snw_exportMdd, name);
    world.def.frameCount = expected;
    world.def.up = snw_upY;
    world.def.allVertices = true;
    REQUIRE(Export(&world, frames) == snw_ok);
    size_t size;
    snwVertices vertices;
    unsigned char* data = Load(&world, ".mdd", &size);
    REQUIRE(data != NULL && snwSim_GetVertices(world.sim, 0, &vertices) == snw_ok);
    CHECK_INT(BigInt(data), frames);
    CHECK_INT(BigInt(data + 4), vertices.count);
    size_t frame = 12 * (size_t)vertices.count, head = 8 + 4 * (size_t)frames;
    REQUIRE(size == head + (size_t)frames * frame);
    for (int i = 0; i < frames; ++i)
        CHECK(BigFloat(data + 8 + 4 * (size_t)i) == (float)(i / 60.0));
    for (int i = 0; i < vertices.count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            const float* p = (const float*)((const char*)vertices.positions + (size_t)i * (size_t)vertices.stride);
            CHECK(BigFloat(data + head + (size_t)(frames - 1) * frame + 12 * (size_t)i + 4 * (size_t)k) == p[k]);
        }
    free(data);
    FreeWorld(&world);
}

TEST(export, mddIsBigEndianAlsoWhenARunEndsEarly)
{
    CheckMdd(5, 5, "whole");
    CheckMdd(500, 3, "short");
}

TEST(export, moreFramesThanAnMddHasRoomForAreAnError)
{
    World world = MakeWorld(snw_exportMdd, "more");
    world.def.frameCount = 2;
    CHECK_INT(Export(&world, 3), snw_errorArgument);
    size_t size;
    CHECK(Load(&world, ".mdd", &size) == NULL);
    CHECK(Load(&world, ".mdd.part", &size) == NULL);
    FreeWorld(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Trouble

TEST(export, nothingIsReplacedUnasked)
{
    for (snwExportKind kind = 0; kind < snw_exportClips; ++kind) // takes: test_take.c
    {
        World world = MakeWorld(kind, "once");
        world.def.frameCount = 2;
        CHECK_INT(Export(&world, 2), snw_ok);
        CHECK_INT(Export(&world, 2), snw_errorIo);
        CHECK_CONTAINS(world.message.text, "exists already");
        CHECK_CONTAINS(world.message.file, "once");
        world.def.overwrite = true;
        CHECK_INT(Export(&world, 1), snw_ok);
        size_t size;
        char ending[32];
        snprintf(ending, sizeof ending, "-00001.%s", snwExportKind_Name(kind));
        CHECK(Load(&world, ending, &size) == NULL); // of the older, longer sequence
        FreeWorld(&world);
    }
}

// A limit on the size of files stands for a full disk.
TEST(export, fullDiskLeavesNothing)
{
    struct rlimit old, tight;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
    tight = old;
    tight.rlim_cur = 200;
    signal(SIGXFSZ, SIG_IGN);
    static const char* const endings[] = {"-00000.obj", "-00000.ply", ".pc2", ".mdd", ".mesh"};
    for (snwExportKind kind = 0; kind < snw_exportClips; ++kind) // takes: test_take.c
    {
        World world = MakeWorld(kind, "full");
        world.def.frameCount = 3;
        setrlimit(RLIMIT_FSIZE, &tight);
        snwResult result = Export(&world, 3);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK_INT(result, snw_errorIo);
        CHECK_CONTAINS(world.message.text, "cannot write");
        char part[64];
        size_t size;
        snprintf(part, sizeof part, "%s.part", endings[kind]);
        CHECK(Load(&world, endings[kind], &size) == NULL && Load(&world, part, &size) == NULL);
        FreeWorld(&world);
    }
}

TEST(export, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (snwExportKind kind = 0; kind < snw_exportClips; ++kind) // takes: test_take.c
    {
        snwCountingAllocator counter = {0};
        World world = MakeWorld(kind, "memory");
        snwDestroySim(world.sim);
        snwDestroyContext(world.context);
        world.context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwFixtureScene scene = snwFixture_DefaultScene();
        scene.cells = 1;
        world.sim = snwFixture_MakeSim(world.context, &scene);
        world.def.overwrite = true;
        world.def.frameCount = 9;
        long live = counter.live;
        snwResult result = snw_errorMemory;
        for (int n = 1; n < 200 && result < 0; ++n)
        {
            counter.failAt = counter.allocations + n;
            result = Export(&world, 1);
            CHECK(result == snw_ok || result == snw_errorMemory);
            CHECK_INT(counter.live, live);
        }
        CHECK_INT(result, snw_ok);
        counter.failAt = 0;
        FreeWorld(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The command line

static const char s_scene[] =
    "{\"sinew\": 1, \"name\": \"two\", \"method\": \"pbd\", \"rate\": 60, \"duration\": 0.05,\n"
    " \"bodies\": [{\"name\": \"a ball\", \"position\": [0, 1, 0],\n"
    "   \"character\": {\"shape\": \"ball\", \"size\": [0.5, 0.5, 0.5], \"cells\": [2, 2, 2]}},\n"
    "  {\"name\": \"spring\", \"position\": [2, 1, 0], \"character\": {\"shape\": \"spring\"}}]}\n";

static const char* WriteScene(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/two.json", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    if (file != NULL)
    {
        fputs(s_scene, file);
        fclose(file);
    }
    return path;
}

static bool Exists(const char* folder, const char* name)
{
    char path[300];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 && info.st_size > 0;
}

static void CheckFiles(const char* folder)
{
    static const char* const names[] = {"obj/a_ball-00000.obj", "obj/a_ball-00003.obj", "obj/spring-00003.obj",
        "ply/a_ball-00003.ply", "ply/spring-00003.ply", "a_ball.pc2", "spring.pc2", "a_ball.mdd", "a_ball.mesh",
        "spring.mesh", "measures.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (!Exists(folder, names[i]))
            snwTest_Fail(__FILE__, __LINE__, "%s is missing", names[i]);
    CHECK(!Exists(folder, "obj/a_ball-00004.obj"));
    char path[200];
    snprintf(path, sizeof path, "%s/measures.json", folder);
    json_t* measures = json_load_file(path, 0, NULL);
    CHECK_INT(json_array_size(json_object_get(measures, "rows")), 4);
    json_decref(measures);
}

TEST(export, simAndReplayWriteTheSameFiles)
{
    char folder[128], again[128], log[160];
    snprintf(folder, sizeof folder, "%s/exports", snwTest_TempDir());
    snprintf(again, sizeof again, "%s/again", snwTest_TempDir());
    snprintf(log, sizeof log, "%s/log.jsonl", folder);
    const char* scene = WriteScene();
    snwProcess sim = RUN("sim", scene, "-o", folder, "--no-film", "--export", "obj,ply,pc2,mdd,medit,json");
    CHECK_INT(sim.code, 0);
    CheckFiles(folder);
    snwProcess replay = RUN("replay", log, "-o", again, "--export", "obj,ply,pc2,mdd,medit,json");
    CHECK_INT(replay.code, 0);
    CheckFiles(again);
    snwProcess same = snwProcess_Run((const char* const[]){
        "sh", "-c", "cmp \"$0/a_ball.mdd\" \"$1/a_ball.mdd\" && diff -r \"$0/obj\" \"$1/obj\"", folder, again, NULL});
    CHECK_INT(same.code, 0);
    snwProcess twice = RUN("replay", log, "-o", again, "--export", "pc2");
    CHECK_INT(twice.code, 1);
    CHECK_CONTAINS(twice.errors, "a_ball.pc2: exists already");
    snwProcess_Free(&sim);
    snwProcess_Free(&replay);
    snwProcess_Free(&same);
    snwProcess_Free(&twice);
}

TEST(export, wrongWordsAreTold)
{
    const char* scene = WriteScene();
    snwProcess kind = RUN("sim", scene, "-o", snwTest_TempDir(), "--export", "obj,plx");
    CHECK_INT(kind.code, 2);
    CHECK_CONTAINS(kind.errors, "try: ply");
    snwProcess folder = RUN("sim", scene, "--export", "obj");
    CHECK_INT(folder.code, 2);
    CHECK_CONTAINS(folder.errors, "-o DIR");
    snwProcess nothing = RUN("sim", scene, "--up", "z");
    CHECK_INT(nothing.code, 2);
    snwProcess axis = RUN("sim", scene, "-o", snwTest_TempDir(), "--export", "obj", "--up", "x");
    CHECK_INT(axis.code, 2);
    snwProcess_Free(&kind);
    snwProcess_Free(&folder);
    snwProcess_Free(&nothing);
    snwProcess_Free(&axis);
}

// A run that diverges leaves caches of the frames that came.
TEST(export, divergedRunsAreExportedUpToTheirEnd)
{
    char scene[128], folder[128], path[160];
    snprintf(scene, sizeof scene, "%s/export-wild.json", snwTest_TempDir());
    snprintf(folder, sizeof folder, "%s/export-wild", snwTest_TempDir());
    FILE* file = fopen(scene, "w");
    REQUIRE(file != NULL);
    fputs("{\"sinew\": 1, \"rate\": 1, \"duration\": 60, \"bodies\": [{\"name\": \"b\", \"character\":"
          " {\"shape\": \"block\", \"size\": [0.3, 0.3, 0.3], \"cells\": [2, 2, 2], \"material\":"
          " {\"density\": 0.001}}}], \"commands\": [{\"step\": 3, \"kind\": \"push\", \"body\": \"b\", \"vertex\": 0,"
          " \"force\": [1e12, 1e11, 1e10], \"duration\": 1e9}]}",
        file);
    fclose(file);
    snwProcess sim = RUN("sim", scene, "-o", folder, "--no-film", "--json", "--export", "mdd");
    CHECK_INT(sim.code, 4);
    json_t* report = json_loads(sim.text, 0, NULL);
    int frames = (int)json_integer_value(json_object_get(report, "frames"));
    snprintf(path, sizeof path, "%s/b.mdd", folder);
    unsigned char* data = (unsigned char*)snwReadWhole(path);
    REQUIRE(data != NULL);
    CHECK(frames > 0 && frames < 60);
    CHECK_INT(BigInt(data), frames + 1);
    free(data);
    json_decref(report);
    snwProcess_Free(&sim);
}
