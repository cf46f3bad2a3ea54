// Prepared characters as files: whole or refused; in scenes; on real data.

#include "fixture.h"
#include "prepare_world.h"
#include "process.h"
#include "scene/file.h"
#include "scene/prepared_file.h"
#include "sim/character.h"
#include "sinew/tools.h"
#include "test.h"
#include "view/film_surface.h"

#include <stdlib.h>

typedef struct Block
{
    snwContext* context;
    unsigned char* data;
    size_t size;
} Block;

// A prepared world with every kind of surface.
static Block MakeBlock(void)
{
    snwPrepareWorld world = {.shirt = true, .hat = true, .colors = true};
    Block block = {snwFixture_Context(1, snw_simdAuto, NULL), NULL, 0};
    snwPrepared* prepared = snwPrepareWorld_Prepare(block.context, snwPrepareWorld_Write(&world, "block", NULL), NULL);
    void* data = NULL;
    if (prepared != NULL)
        CHECK(snwPrepared_Save(prepared, &data, &block.size, NULL) == snw_ok);
    block.data = data;
    snwPrepared_Release(prepared);
    return block;
}

static void FreeBlock(Block* block)
{
    snwContext_Free(block->context, block->data);
    snwDestroyContext(block->context);
}

TEST(prepared, savesAndLoadsToTheSameBytes)
{
    Block block = MakeBlock();
    snwPrepared* prepared = NULL;
    void* again = NULL;
    size_t size = 0;
    REQUIRE(snwPrepared_Load(block.context, block.data, block.size, &prepared, NULL) == snw_ok);
    CHECK(snwPrepared_Save(prepared, &again, &size, NULL) == snw_ok);
    CHECK(size == block.size && memcmp(again, block.data, size) == 0);
    snwPreparedInfo info = snwPrepared_GetInfo(prepared);
    CHECK(strcmp(info.source, "block.glb") == 0);
    CHECK(info.sourceHash != 0 && info.checksum != 0);
    CHECK_INT(info.surfaceCount, 3);
    CHECK(snwPrepared_GetSurface(prepared, 3) == NULL && snwPrepared_GetTexture(prepared, 0).width == 0);
    snwContext_Free(block.context, again);
    snwPrepared_Release(prepared);
    FreeBlock(&block);
}

TEST(prepared, whatIsCutShortOrDamagedIsRefused)
{
    Block block = MakeBlock();
    snwPrepared* prepared = NULL;
    uint64_t seed = 7;
    for (size_t size = 0; size < block.size; size += size < 300 ? 1 : 997)
    {
        snwMessage message = {0};
        snwResult result = snwPrepared_Load(block.context, block.data, size, &prepared, &message);
        CHECK(result == snw_errorInput && prepared == NULL && message.text[0] != 0);
    }
    for (int i = 0; i < 1200; ++i)
    {
        size_t at = i < 400 ? (size_t)i : (size_t)(snwTest_Random(&seed) * (double)block.size);
        unsigned char bit = (unsigned char)(1 << i % 8);
        block.data[at] ^= bit;
        CHECK(snwPrepared_Load(block.context, block.data, block.size, &prepared, NULL) < 0);
        CHECK(prepared == NULL);
        block.data[at] ^= bit;
    }
    CHECK(snwPrepared_Load(block.context, block.data, block.size, &prepared, NULL) == snw_ok);
    snwPrepared_Release(prepared);
    FreeBlock(&block);
}

TEST(prepared, everyFailedAllocationOfALoadIsAnErrorWithoutLeak)
{
    Block block = MakeBlock();
    for (long n = 1;; n += 1 + n / 8)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwPrepared* prepared = NULL;
        snwDisplay* display = NULL;
        counter.failAt = counter.allocations + n;
        snwResult result = snwPrepared_Load(context, block.data, block.size, &prepared, NULL);
        if (result >= 0)
            result = snwCreateDisplay(prepared, &display, NULL);
        bool reached = counter.allocations >= counter.failAt;
        CHECK_INT(result, reached ? snw_errorMemory : snw_ok);
        snwDestroyDisplay(display);
        snwPrepared_Release(prepared);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
        if (!reached)
            break;
    }
    FreeBlock(&block);
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

static const char* const s_scene = "{\"sinew\": 1, \"method\": \"apd\", \"bodies\": [{\"name\": \"a\", \"character\": "
                                   "{\"file\": \"%s\"}, \"motion\": \"bend\"}]}";

TEST(prepared, scenesUseItAndKnowWhenItChanged)
{
    Block block = MakeBlock();
    char path[512], scenePath[512], text[1024];
    snprintf(path, sizeof path, "%s/block.snw", snwTest_TempDir());
    snprintf(scenePath, sizeof scenePath, "%s/scene.json", snwTest_TempDir());
    snprintf(text, sizeof text, s_scene, "block.snw"); // beside the scene
    CHECK(snwFile_Write(block.context, path, block.data, block.size, true, NULL) == snw_ok);
    CHECK(snwFile_Write(block.context, scenePath, text, strlen(text), true, NULL) == snw_ok);
    snwSceneFile file, again;
    snwMessage message = {0};
    REQUIRE(snwSceneFile_Open(block.context, scenePath, NULL, &file, &message) >= 0);
    const snwBodyDef* body = &snwScene_GetDef(file.scene)->bodies[0];
    CHECK_CONTAINS(snwCharacter_GetInfo(body->character).source, "/block.snw");
    char* written = NULL;
    size_t size = 0;
    REQUIRE(snwSceneFile_Format(block.context, &file, &written, &size, &message) == snw_ok);
    REQUIRE(snwSceneFile_Parse(block.context, written, size, "", NULL, &again, &message) >= 0); // from anywhere
    CHECK(snwScene_Hash(file.scene) == snwScene_Hash(again.scene));
    snwSceneFile_Close(&again);
    snwSceneFile_Close(&file);
    // Another file of the same name: what was written down no longer holds, the scene itself does.
    snwPrepareWorld other = {.shirt = true};
    void* data = NULL;
    size_t otherSize = 0;
    snwPrepared* prepared = snwPrepareWorld_Prepare(block.context, snwPrepareWorld_Write(&other, "other", NULL), NULL);
    CHECK(snwPrepared_Save(prepared, &data, &otherSize, NULL) == snw_ok);
    CHECK(snwFile_Write(block.context, path, data, otherSize, true, NULL) == snw_ok);
    CHECK(snwSceneFile_Parse(block.context, written, size, "", NULL, &again, &message) == snw_errorInput);
    CHECK_CONTAINS(message.text, "changed");
    CHECK(snwSceneFile_Open(block.context, scenePath, NULL, &file, &message) >= 0);
    snwSceneFile_Close(&file);
    snwContext_Free(block.context, data);
    snwContext_Free(block.context, written);
    snwPrepared_Release(prepared);
    snprintf(text, sizeof text, s_scene, "nowhere.snw");
    CHECK(snwSceneFile_Parse(block.context, text, strlen(text), scenePath, NULL, &file, &message) < 0);
    CHECK_CONTAINS(message.file, "nowhere.snw");
    FreeBlock(&block);
}

// Constraints where a scene uses it, as for blueprints; they are written down with it.
TEST(prepared, scenesConstrainItsHandles)
{
    Block block = MakeBlock();
    char path[512], scenePath[512], text[1024];
    snprintf(path, sizeof path, "%s/ruled.snw", snwTest_TempDir());
    snprintf(scenePath, sizeof scenePath, "%s/ruled.json", snwTest_TempDir());
    CHECK(snwFile_Write(block.context, path, block.data, block.size, true, NULL) == snw_ok);
    const char* format = "{\"sinew\": 1, \"method\": \"rigpbd\", \"bodies\": [{\"name\": \"a\", \"character\": "
                         "{\"file\": \"ruled.snw\"%s}}]}";
    const char* rule = ", \"constraints\": [{\"terms\": [{\"handle\": \"%s\", \"dof\": \"y\"}], \"value\": 0.25}]";
    snwSceneFile file, again;
    snwMessage message = {0};
    snprintf(text, sizeof text, format, "");
    REQUIRE(snwSceneFile_Parse(block.context, text, strlen(text), scenePath, NULL, &file, &message) >= 0);
    const snwCharacterDef* def = snwCharacter_GetDef(snwScene_GetDef(file.scene)->bodies[0].character);
    char more[256], name[128];
    REQUIRE(def->boneCount > 0);
    snprintf(name, sizeof name, "%s", def->handleCount > 0 ? def->handles[0].name : def->bones[0].name);
    CHECK_INT(def->constraintCount, 0);
    snwSceneFile_Close(&file);

    snprintf(more, sizeof more, rule, name);
    snprintf(text, sizeof text, format, more);
    REQUIRE(snwSceneFile_Parse(block.context, text, strlen(text), scenePath, NULL, &file, &message) >= 0);
    def = snwCharacter_GetDef(snwScene_GetDef(file.scene)->bodies[0].character);
    CHECK_INT(def->constraintCount, 1);
    CHECK(def->constraints[0].value == 0.25 && def->constraints[0].terms[0].dof == snw_dofY);
    char* written = NULL;
    size_t size = 0;
    REQUIRE(snwSceneFile_Format(block.context, &file, &written, &size, &message) == snw_ok);
    REQUIRE(snwSceneFile_Parse(block.context, written, size, "", NULL, &again, &message) >= 0);
    CHECK(snwScene_Hash(file.scene) == snwScene_Hash(again.scene));
    snwSceneFile_Close(&again);
    snwSceneFile_Close(&file);
    snwContext_Free(block.context, written);

    snprintf(more, sizeof more, rule, "nobody");
    snprintf(text, sizeof text, format, more);
    CHECK(snwSceneFile_Parse(block.context, text, strlen(text), scenePath, NULL, &file, &message) == snw_errorInput);
    CHECK_CONTAINS(message.text, "no handle 'nobody'");
    snprintf(text, sizeof text, format, ", \"fine\": 4");
    CHECK(snwSceneFile_Parse(block.context, text, strlen(text), scenePath, NULL, &file, &message) == snw_errorInput);
    CHECK_CONTAINS(message.text, "flat ones");
    FreeBlock(&block);
}

TEST(prepared, filmsShowTheFineSurface)
{
    Block block = MakeBlock();
    char path[512], source[640];
    snprintf(path, sizeof path, "%s/shown.snw", snwTest_TempDir());
    snprintf(source, sizeof source, "{\"file\": \"%s\"}", path);
    CHECK(snwFile_Write(block.context, path, block.data, block.size, true, NULL) == snw_ok);
    snwPrepared* prepared = NULL;
    snwFilmSurface* surface = NULL;
    REQUIRE(snwPrepared_LoadAs(block.context, block.data, block.size, "shown", source, &prepared, NULL) == snw_ok);
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    REQUIRE(snwCreateFilmSurface(block.context, def, 50, &surface, NULL) >= 0 && surface != NULL);
    int triangles = 0;
    for (int i = 0; i < 3; ++i)
        triangles += snwPrepared_GetSurface(prepared, i)->triangleCount;
    CHECK_INT(surface->triangleCount, triangles);
    CHECK(surface->colors != NULL); // no textures: the colours of the vertices
    float* body = calloc(3 * (size_t)def->vertexCount, sizeof *body);
    float* points = calloc(3 * (size_t)surface->pointCount, sizeof *points);
    for (int i = 0; i < def->vertexCount; ++i)
    {
        snwVec3 x = def->vertices[i];
        body[3 * i] = (float)x.x + 2, body[3 * i + 1] = (float)x.y, body[3 * i + 2] = (float)x.z;
    }
    snwVertices vertices = {.positions = body, .count = def->vertexCount, .stride = 12};
    snwFilmSurface_Move(block.context, surface, &vertices, points);
    int seams = 0;
    for (int i = 0; i < surface->pointCount; ++i)
    {
        CHECK_NEAR(points[3 * i], surface->points[3 * i] + 2, 2e-6);
        CHECK_NEAR(points[3 * i + 1], surface->points[3 * i + 1], 2e-6);
        int place = surface->places[i];
        seams += place != i;
        CHECK(memcmp(points + 3 * i, points + 3 * place, 12) == 0);
    }
    CHECK(seams > 300);
    free(body);
    free(points);
    snwDestroyFilmSurface(block.context, surface);
    snwPrepared_Release(prepared);
    FreeBlock(&block);
}

#define SINEW    SNW_BINARY_DIR "/sinew"
#define RUN(...) snwProcess_Run((const char* const[]){SINEW, __VA_ARGS__, NULL})

TEST(prepared, theProgramPreparesShowsAndRefuses)
{
    snwPrepareWorld world = {.hat = true};
    char in[512], out[512], picture[512];
    snprintf(in, sizeof in, "%s", snwPrepareWorld_Write(&world, "program", NULL));
    snprintf(out, sizeof out, "%s/program.snw", snwTest_TempDir());
    snprintf(picture, sizeof picture, "%s/program.png", snwTest_TempDir());
    snwProcess nothing = RUN("prep", in), first = RUN("prep", in, "-o", out, "-e", "400", "--json");
    snwProcess twice = RUN("prep", in, "-o", out), info = RUN("info", out), check = RUN("check", out);
    snwProcess render = RUN("render", out, "-o", picture, "--size", "48", "--motion", "bend", "--time", "0.5", "--look",
        "bones", "--samples", "1");
    CHECK_INT(nothing.code, 2);
    CHECK_INT(first.code, 0);
    CHECK_CONTAINS(first.text, "\"embedding_error\"");
    CHECK(twice.code != 0); // it exists
    CHECK_CONTAINS(twice.errors, "exist");
    CHECK_CONTAINS(info.text, "upper");
    CHECK_CONTAINS(check.text, "2 bones, 1 motions, 2 surfaces");
    CHECK_INT(render.code, 0);
    snwProcess* all[] = {&nothing, &first, &twice, &info, &check, &render};
    for (int i = 0; i < 6; ++i)
        snwProcess_Free(all[i]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Real files

typedef struct Real
{
    const char* path;
    int bones, motions; // expected
    bool textured;
} Real;

TEST(prepared, realFilesBecomeCharacters)
{
    static const Real s_files[] = {{"gltf/Fox.glb", 22, 3, true}, {"gltf/RiggedSimple.glb", 2, 1, false},
        {"blender-rig/rig.glb", 4, 1, false}, {"spot/spot.obj", 0, 0, false},
        {"complementary-dynamics/elephant/elephant.json", 24, 1, false},
        {"complementary-dynamics/fish/fish.json", 2, 1, false}};
    const char* folder = getenv("SINEW_DATA");
    if (folder == NULL)
        SKIP("SINEW_DATA names no folder with real files");
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_files / sizeof *s_files; ++i)
    {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, s_files[i].path);
        snwPrepareReport report;
        snwPrepared* prepared = NULL;
        snwMessage message = {0};
        snwPrepareDef def = snwDefaultPrepareDef();
        def.sidecar = "";
        snwResult result = snwPrepareFile(context, path, &def, &prepared, &report, &message);
        if (result < 0)
        {
            snwTest_Fail(__FILE__, __LINE__, "%s: %s", path, message.text);
            continue;
        }
        snwCharacterInfo info = snwCharacter_GetInfo(snwPrepared_GetCharacter(prepared));
        CHECK_INT(info.boneCount, s_files[i].bones);
        CHECK_INT(info.motionCount, s_files[i].motions);
        CHECK_INT(snwPrepared_GetInfo(prepared).textureCount, s_files[i].textured);
        CHECK(snwPrepared_GetInfo(prepared).embeddingError < 1e-5);
        for (int m = 0; m < info.motionCount && info.jointCount > 0 && i < 3; ++m) // a hinge may be two degrees off
            CHECK_NEAR(snwCharacter_MotionExcess(snwPrepared_GetCharacter(prepared), m, NULL, NULL), 0, 0.035);
        snwPrepared_Release(prepared);
    }
    snwDestroyContext(context);
}

// A cube, or two little ones side by side inside of it.
static void WriteCubes(const char* path, int count, double half, double apart)
{
    static const int s_faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4}, {2, 6, 3},
        {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    FILE* file = fopen(path, "w");
    REQUIRE(file != NULL);
    for (int c = 0; c < count; ++c)
        for (int i = 0; i < 8; ++i)
            fprintf(file, "v %g %g %g\n", (c - 0.5 * (count - 1)) * apart + (i & 1 ? half : -half),
                i & 2 ? half : -half, i & 4 ? half : -half);
    for (int c = 0; c < count; ++c)
        for (int i = 0; i < 12; ++i)
            fprintf(
                file, "f %d %d %d\n", 8 * c + s_faces[i][0] + 1, 8 * c + s_faces[i][1] + 1, 8 * c + s_faces[i][2] + 1);
    fclose(file);
}

// Every piece inside becomes a bone: a region of the mesh and a line of the joint file.
TEST(prepared, surfacesInsideBecomeBonesInFiles)
{
    char outer[512], inner[512], mesh[512], joint[512], none[512];
    snprintf(outer, sizeof outer, "%s/outer.obj", snwTest_TempDir());
    snprintf(inner, sizeof inner, "%s/inner.obj", snwTest_TempDir());
    snprintf(mesh, sizeof mesh, "%s/nest.mesh", snwTest_TempDir());
    snprintf(joint, sizeof joint, "%s/nest.joint", snwTest_TempDir());
    snprintf(none, sizeof none, "%s/none.obj", snwTest_TempDir());
    WriteCubes(outer, 1, 1.0, 0.0);
    WriteCubes(inner, 2, 0.3, 1.0);
    snwProcess made = RUN("prep", outer, "--inner", inner, "-o", mesh, "-e", "4000", "--mesher", "lattice", "--force");
    CHECK_INT(made.code, 0);
    CHECK_CONTAINS(made.errors, "2 bones");
    char *bones = snwReadWhole(joint), *tets = snwReadWhole(mesh);
    REQUIRE(bones != NULL && tets != NULL);
    CHECK_CONTAINS(bones, "bone bone1 3 ");
    CHECK_CONTAINS(tets, "Tetrahedra");
    snwProcess again = RUN("prep", outer, "--inner", inner, "-o", mesh, "-e", "4000", "--mesher", "lattice");
    CHECK(again.code != 0);
    snwProcess missing = RUN("prep", outer, "--inner", none, "-o", mesh, "--force");
    CHECK(missing.code != 0);
    CHECK_CONTAINS(missing.errors, "none.obj");
    snwProcess* all[] = {&made, &again, &missing};
    for (int i = 0; i < 3; ++i)
        snwProcess_Free(all[i]);
    free(bones);
    free(tets);
}

// Fewer triangles make a body of about the same volume; what is shown stays whole.
TEST(prepared, thinnedSurfacesMakeTheSameBody)
{
    char in[512], out[512];
    snprintf(in, sizeof in, "%s/thin.obj", snwTest_TempDir());
    snprintf(out, sizeof out, "%s/thin.snw", snwTest_TempDir());
    FILE* file = fopen(in, "w");
    REQUIRE(file != NULL);
    enum
    {
        rings = 16,
        sides = 24
    };
    fprintf(file, "v 0 1 0\n");
    for (int j = 1; j < rings; ++j)
        for (int i = 0; i < sides; ++i)
            fprintf(file, "v %.9g %.9g %.9g\n", sin(SNW_PI * j / rings) * cos(2 * SNW_PI * i / sides),
                cos(SNW_PI * j / rings), sin(SNW_PI * j / rings) * sin(2 * SNW_PI * i / sides));
    fprintf(file, "v 0 -1 0\n");
    int last = 2 + (rings - 1) * sides;
    for (int i = 0; i < sides; ++i)
    {
        int next = (i + 1) % sides;
        fprintf(file, "f 1 %d %d\nf %d %d %d\n", 2 + next, 2 + i, last, last - sides + i, last - sides + next);
        for (int j = 0; j < rings - 2; ++j)
        {
            int a = 2 + j * sides + i, b = 2 + j * sides + next;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, a + sides, b, b + sides, a + sides);
        }
    }
    fclose(file);
    const char* kinds[] = {"quadric", "angle"};
    for (int i = 0; i < 2; ++i)
    {
        snwProcess made = RUN("prep", in, "-o", out, "-e", "1500", "--decimate", "200", "--collapse", kinds[i],
            "--mesher", "lattice", "--scale", "1", "--json", "--force");
        CHECK_INT(made.code, 0);
        const char *mass = strstr(made.text, "\"mass\""), *surfaces = strstr(made.text, "\"surfaces\"");
        const char* triangles = surfaces != NULL ? strstr(surfaces, "\"triangles\"") : NULL;
        REQUIRE(mass != NULL && triangles != NULL);
        CHECK_NEAR(strtod(strchr(mass, ':') + 1, NULL), 4189, 0.12 * 4189);
        CHECK_INT(atoi(strchr(triangles, ':') + 1), 2 * sides * (rings - 1));
        snwProcess_Free(&made);
    }
}
