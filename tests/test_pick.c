// Two meshers and the choice between them; TetGen in its helper program, which may do what it likes.

#include "asset/asset.h"
#include "asset/mesher.h"
#include "asset/mesher_parts.h"
#include "base/bytes.h"
#include "broken.h"
#include "fixture.h"
#include "geom/mesh.h"
#include "test.h"
#include "tetgen/block.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool UseHelper(void)
{
    const char* path = SNW_BINARY_DIR "/sinew-tetgen";
    setenv("SINEW_TETGEN", path, 1);
    return access(path, X_OK) == 0;
}

#define NEED_HELPER()                                                                                                  \
    if (!UseHelper())                                                                                                  \
    SKIP("this build has no sinew-tetgen (tools/setup.sh tetgen)")

typedef struct World
{
    snwContext* context;
    snwArena arena;
    snwBroken flesh, bones[2];
    snwFaces inner[2];
    snwMesherDef def;
    snwMeshed meshed;
    snwMessage message;
    snwResult result;
} World;

static snwFaces FacesOf(const snwBroken* b)
{
    return (snwFaces){b->vertices, b->vertexCount, (const int(*)[3])b->triangles, b->triangleCount};
}

static const snwBrokenKind* KindOf(const char* name)
{
    const snwBrokenKind* kind = snw_brokenKinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0)
        kind++;
    return kind;
}

static World Open(const char* kind, int triangles)
{
    World world = {.context = snwFixture_Context(1, snw_simdAuto, NULL), .def = snwDefaultMesherDef()};
    world.arena.context = world.context;
    CHECK(snwBroken_Make(KindOf(kind), triangles, &world.flesh));
    world.def.faces = FacesOf(&world.flesh);
    world.def.mesher = snw_mesherTetgen;
    world.def.tets = 1000;
    world.def.seconds = 600;
    return world;
}

// Two balls of a third of the size, side by side.
static void AddBones(World* world)
{
    for (int b = 0; b < 2; ++b)
    {
        snwBroken* bone = &world->bones[b];
        CHECK(snwBroken_Make(KindOf("closed"), 100, bone));
        for (int i = 0; i < bone->vertexCount; ++i)
            bone->vertices[i] = snwVec3_MulAdd((snwVec3){b == 0 ? -0.4 : 0.4, 0, 0}, 0.3, bone->vertices[i]);
        world->inner[b] = FacesOf(bone);
    }
    world->def.inner = world->inner;
    world->def.innerCount = 2;
}

static void Make(World* world)
{
    world->message = (snwMessage){0};
    world->result = snwMakeTets(world->context, &world->def, &world->arena, &world->meshed, &world->message);
}

static void Close(World* world)
{
    snwBroken_Free(&world->flesh);
    snwBroken_Free(&world->bones[0]);
    snwBroken_Free(&world->bones[1]);
    snwArena_Free(&world->arena);
    snwDestroyContext(world->context);
}

static double VolumeOf(const snwBroken* b)
{
    double sum = 0;
    for (int i = 0; i < b->triangleCount; ++i)
    {
        const int* t = b->triangles[i];
        sum += snwVec3_Dot(b->vertices[t[0]], snwVec3_Cross(b->vertices[t[1]], b->vertices[t[2]])) / 6;
    }
    return sum;
}

static double RegionVolume(const snwMeshed* meshed, int region)
{
    double sum = 0;
    for (int i = 0; i < meshed->mesh.tetCount; ++i)
    {
        const int* t = meshed->mesh.tets[i];
        const snwVec3* v = meshed->mesh.vertices;
        sum += meshed->regions[i] == region ? snwTet_Volume(v[t[0]], v[t[1]], v[t[2]], v[t[3]]) : 0;
    }
    return sum;
}

// Of a body in which things only ride thin parts need not be fine: a ball that is pressed to a sixteenth.
TEST(pick, coarseBodiesHaveNoMoreElementsThanWanted)
{
    int counts[2];
    for (int coarse = 0; coarse < 2; ++coarse)
    {
        World world = Open("closed", 2000);
        for (int i = 0; i < world.flesh.vertexCount; ++i)
            world.flesh.vertices[i].y *= 0.06;
        world.def.mesher = snw_mesherLattice;
        world.def.tets = 3000;
        world.def.coarse = coarse == 1;
        Make(&world);
        REQUIRE(world.result >= 0);
        counts[coarse] = world.meshed.mesh.tetCount;
        Close(&world);
    }
    CHECK(counts[0] > 2 * 3000);
    CHECK(counts[1] < 1.2 * 3000);
}

// ---------------------------------------------------------------------------------------------------------------------
// TetGen

TEST(pick, tetgenKeepsTheSurfaceAndTheRegions)
{
    NEED_HELPER();
    World world = Open("closed", 300);
    AddBones(&world);
    Make(&world);
    REQUIRE(world.result == snw_ok);
    CHECK_INT(world.meshed.mesher, snw_mesherTetgen);
    CHECK_INT(world.meshed.report.quality.inverted, 0);
    double flesh = VolumeOf(&world.flesh), bone = VolumeOf(&world.bones[0]);
    CHECK_NEAR(RegionVolume(&world.meshed, 1), bone, 1e-9 * flesh);
    CHECK_NEAR(RegionVolume(&world.meshed, 2), bone, 1e-9 * flesh);
    CHECK_NEAR(RegionVolume(&world.meshed, 0), flesh - 2 * bone, 1e-9 * flesh);
    for (int i = 0; i < world.flesh.vertexCount; ++i)
    {
        int own = world.meshed.ownVertices[i];
        REQUIRE(own >= 0 && own < world.meshed.mesh.vertexCount);
        CHECK(snwVec3_Distance(world.meshed.mesh.vertices[own], world.flesh.vertices[i]) == 0);
    }
    Close(&world);
}

TEST(pick, tetgenTakesWhatMendingMakesSound)
{
    NEED_HELPER();
    for (const snwBrokenKind* kind = snw_brokenKinds; kind->name != NULL; ++kind)
    {
        World world = Open(kind->name, 300);
        Make(&world);
        if (kind->sound)
        {
            CHECK_INT(world.result, snw_ok);
            CHECK(world.meshed.report.volumeError < 1e-6);
            CHECK_INT(world.meshed.report.quality.inverted, 0);
        }
        else
        {
            CHECK_INT(world.result, snw_errorInput);
            CHECK_CONTAINS(world.message.text, "TetGen needs");
            CHECK_CONTAINS(world.message.remedy, "lattice");
        }
        Close(&world);
    }
}

TEST(pick, bonesThatTouchOrStickOutAreRefused)
{
    NEED_HELPER();
    World world = Open("closed", 300);
    AddBones(&world);
    for (int i = 0; i < world.bones[1].vertexCount; ++i)
        world.bones[1].vertices[i].x += 0.45; // through the skin
    Make(&world);
    CHECK_INT(world.result, snw_errorInput);
    CHECK_CONTAINS(world.message.text, "inner[1] crosses");
    for (int i = 0; i < world.bones[1].vertexCount; ++i)
        world.bones[1].vertices[i].x += 3;
    Make(&world);
    CHECK_INT(world.result, snw_errorInput);
    CHECK_CONTAINS(world.message.text, "inner[1] is outside");
    Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Auto

TEST(pick, autoPicksAndSaysWhy)
{
    NEED_HELPER();
    World world = Open("closed", 300);
    world.def.mesher = snw_mesherAuto;
    Make(&world);
    CHECK_INT(world.meshed.mesher, snw_mesherLattice);
    CHECK_CONTAINS(world.meshed.why, "holds the shape");
    world.def.conform = true;
    Make(&world);
    CHECK_INT(world.meshed.mesher, snw_mesherTetgen);
    setenv("SINEW_TETGEN", "/nowhere/sinew-tetgen", 1);
    Make(&world);
    CHECK(world.result >= 0);
    CHECK_INT(world.meshed.mesher, snw_mesherLattice);
    CHECK_CONTAINS(world.meshed.why, "not here");
    world.def.mesher = snw_mesherTetgen;
    Make(&world);
    CHECK_INT(world.result, snw_errorUnsupported);
    CHECK_CONTAINS(world.message.remedy, "libtet1.5-dev");
    Close(&world);
}

TEST(pick, autoTakesTheLatticeForWhatTetgenRefuses)
{
    NEED_HELPER();
    World world = Open("hollow", 300);
    world.flesh.triangleCount -= 1; // a hole
    world.def.faces = FacesOf(&world.flesh);
    world.def.mesher = snw_mesherAuto;
    world.def.conform = true;
    Make(&world);
    CHECK(world.result >= 0);
    CHECK_INT(world.meshed.mesher, snw_mesherLattice);
    CHECK_CONTAINS(world.meshed.why, "3 open edges");
    Close(&world);
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers that are none

static void UseScript(const char* script)
{
    char path[300];
    snprintf(path, sizeof path, "%s/fake-tetgen", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(path, 0700);
    setenv("SINEW_TETGEN", path, 1);
}

TEST(pick, whateverTetgenDoesIsAnErrorAtWorst)
{
    static const struct
    {
        const char *script, *words;
    } s_cases[] = {{"kill -SEGV $$", "crashed (signal 11)"}, {"cat > /dev/null; kill -ABRT $$", "crashed (signal 6)"},
        {"exit 3", "failed"}, {"cat > /dev/null", "makes no sense"}, {"cat", "makes no sense"},
        {"cat > /dev/null; head -c 3000000 /dev/zero", "makes no sense"},
        {"cat > /dev/null; printf SNWF; printf '\\3\\0\\0\\0'", "crosses itself"},
        {"cat > /dev/null; printf SNWD", "points are not in it"}, {"cat > /dev/null; kill -XCPU $$", "come to an end"}};
    for (int i = 0; i < 9; ++i)
    {
        UseScript(s_cases[i].script);
        World world = Open("closed", 100);
        Make(&world);
        CHECK_INT(world.result, snw_errorInput);
        CHECK_CONTAINS(world.message.text, s_cases[i].words);
        CHECK_CONTAINS(world.message.remedy, "lattice");
        Close(&world);
    }
}

// One that sleeps, and one that shuts its output and then sleeps.
TEST(pick, aHelperThatHangsIsKilled)
{
    static const char* const s_scripts[] = {"exec sleep 1000", "exec > /dev/null < /dev/null; exec sleep 1000"};
    for (int i = 0; i < 2; ++i)
    {
        UseScript(s_scripts[i]);
        World world = Open("closed", 100);
        world.def.seconds = 1;
        Make(&world);
        CHECK_INT(world.result, snw_errorInput);
        CHECK_CONTAINS(world.message.text, "come to an end");
        Close(&world);
    }
}

TEST(pick, memoryAndTimeAreLimited)
{
    NEED_HELPER();
    World world = Open("closed", 2000);
    world.def.megabytes = 16;
    world.def.tets = 2000000;
    Make(&world);
    CHECK(world.result == snw_errorInput || world.meshed.megabytes < 32); // as much as starting takes, and 16
    CHECK(world.result >= 0 || world.message.text[0] != 0);
    world.def.seconds = 0;
    Make(&world);
    CHECK_INT(world.result, snw_errorArgument);
    Close(&world);
}

// An answer as the helper gives it: one tet.
static snwWriter OneTet(snwContext* context, const snwVec3 points[4])
{
    snwWriter out = {.context = context};
    snwWriteInt(&out, snw_tetgenDone);
    snwWriteInt(&out, 4);
    for (int i = 0; i < 4; ++i)
    {
        snwWriteReal(&out, points[i].x);
        snwWriteReal(&out, points[i].y);
        snwWriteReal(&out, points[i].z);
    }
    snwWriteInt(&out, 1);
    for (int i = 0; i < 4; ++i)
        snwWriteInt(&out, 3 - i);
    snwWriteInt(&out, snw_tetgenDone);
    return out;
}

TEST(pick, everyTruncatedOrChangedAnswerIsRefusedOrSound)
{
    static const snwVec3 s_points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwWriter answer = OneTet(context, s_points);
    REQUIRE(!answer.failed);
    for (size_t i = 0; i <= 9 * answer.size; ++i)
    {
        snwArena arena = {.context = context};
        snwTetMesh mesh;
        size_t size = i <= answer.size ? i : answer.size, at = (i - answer.size - 1) / 8;
        unsigned char flip = i > answer.size ? (unsigned char)(1u << (i - answer.size - 1) % 8) : 0;
        if (flip != 0)
            answer.data[at] ^= flip;
        snwResult result = snwTetgen_ReadAnswer(&arena, answer.data, size, s_points, 4, &mesh, NULL);
        CHECK(i != answer.size || result == snw_ok);
        CHECK(result == snw_errorInput || result == snw_ok);
        for (int k = 0; k < 4 && result == snw_ok; ++k)
            CHECK(mesh.tets[0][k] >= 0 && mesh.tets[0][k] < mesh.vertexCount);
        if (flip != 0)
            answer.data[at] ^= flip;
        snwArena_Free(&arena);
    }
    snwFree(context, answer.data);
    snwDestroyContext(context);
}

// Random triangles, some of them closed bodies: a mesh or words, never a crash or a hang.
TEST(pick, randomSoupsGiveABodyOrAReason)
{
    NEED_HELPER();
    unsigned state = 12345;
    for (int i = 0; i < 60; ++i)
    {
        World world = Open("closed", 64);
        int changes = i % 6;
        for (int k = 0; k < changes; ++k)
        {
            state = state * 1664525u + 1013904223u;
            int triangle = (int)(state >> 8) % world.flesh.triangleCount, vertex = (int)(state >> 12);
            if (k % 2 == 0)
                world.flesh.vertices[vertex % world.flesh.vertexCount].x += (double)(state >> 16) / (1 << 15) - 1;
            else
                world.flesh.triangles[triangle][k % 3] = vertex % world.flesh.vertexCount;
        }
        world.def.tets = 0;
        world.def.spacing = 0.5;
        Make(&world);
        CHECK(world.result >= 0 ? world.meshed.report.quality.inverted == 0 : world.message.text[0] != 0);
        Close(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

typedef snwResult WriteFn(World* world, snwWriter* out);

static snwResult WriteSmesh(World* world, snwWriter* out)
{
    return snwMesher_WriteSmesh(world->context, &world->def, out, &world->message);
}

static snwResult WriteMedit(World* world, snwWriter* out)
{
    return snwMeshed_WriteMedit(world->context, &world->meshed, 2, out, &world->message);
}

static snwResult WriteJoint(World* world, snwWriter* out)
{
    return snwMeshed_WriteJoint(world->context, &world->def, out, &world->message);
}

// Writes a file and reads it again.
static snwAsset* ThroughFile(World* world, WriteFn* write, const char* name)
{
    snwWriter out = {.context = world->context};
    snwAsset* asset = NULL;
    CHECK_INT(write(world, &out), snw_ok);
    snwWrite(&out, "", 1);
    snwAssetInput input = {name, (const char*)out.data, out.size - 1, NULL};
    CHECK_INT(snwAsset_Read(world->context, &input, &asset, &world->message), snw_ok);
    snwFree(world->context, out.data);
    return asset;
}

TEST(pick, theFilesOfThePaperAreWrittenAndReadAgain)
{
    NEED_HELPER();
    World world = Open("closed", 200);
    AddBones(&world);
    Make(&world);
    REQUIRE(world.result == snw_ok);
    snwAsset* asset = ThroughFile(&world, WriteSmesh, "frog.smesh");
    REQUIRE(asset != NULL && asset->meshCount == 1);
    CHECK_INT(asset->meshes[0].triangleCount,
        world.flesh.triangleCount + world.bones[0].triangleCount + world.bones[1].triangleCount);
    REQUIRE(asset->seedCount == 3);
    CHECK(snwVec3_Distance(asset->seeds[1].point, (snwVec3){-0.4, 0, 0}) < 0.3);
    CHECK(snwVec3_Distance(asset->seeds[2].point, (snwVec3){0.4, 0, 0}) < 0.3);
    CHECK_NEAR(asset->seeds[2].attribute, 3, 0);
    snwAsset_Close(asset);
    asset = ThroughFile(&world, WriteMedit, "frog.mesh");
    REQUIRE(asset != NULL && asset->meshCount == 1);
    CHECK_INT(asset->meshes[0].tetCount, world.meshed.mesh.tetCount);
    snwAsset_Close(asset);
    asset = ThroughFile(&world, WriteJoint, "frog.joint");
    REQUIRE(asset != NULL && asset->boneCount == 2);
    CHECK_INT(asset->bones[1].label, 3);
    CHECK_NEAR(snwVec3_Distance(asset->bones[0].def.head, asset->bones[0].def.tail), 0.6, 0.1);
    snwAsset_Close(asset);
    Close(&world);
}
