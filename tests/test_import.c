// FBX, DAE and BVH by the helper program: what it reads, and that whatever it does is an error at worst.

#include "asset/asset.h"
#include "asset/import_block.h"
#include "base/bytes.h"
#include "fixture.h"
#include "scene/file.h"
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char s_bvh[] = "HIERARCHY\n"
                            "ROOT Hip\n"
                            "{\n"
                            "  OFFSET 0 0 0\n"
                            "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                            "  JOINT Knee\n"
                            "  {\n"
                            "    OFFSET 0 -1 0\n"
                            "    CHANNELS 3 Zrotation Xrotation Yrotation\n"
                            "    End Site\n"
                            "    {\n"
                            "      OFFSET 0 -1 0\n"
                            "    }\n"
                            "  }\n"
                            "}\n"
                            "MOTION\n"
                            "Frames: 2\n"
                            "Frame Time: 0.04\n"
                            "0 1 0 0 0 0 0 0 0\n"
                            "0 1.5 0 90 90 0 90 0 0\n";

// A square, bound to two joints of which the second turns by 90 degrees in half a second; centimetres.
// clang-format off
static const char s_dae[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\n"
    "<asset><unit name=\"centimeter\" meter=\"0.01\"/><up_axis>Y_UP</up_axis></asset>\n"
    "<library_geometries><geometry id=\"g\" name=\"arm\"><mesh>\n"
    "<source id=\"gp\"><float_array id=\"gpa\" count=\"12\">0 0 0 1 0 0 1 1 0 0 1 0</float_array>\n"
    "<technique_common><accessor source=\"#gpa\" count=\"4\" stride=\"3\"><param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>\n"
    "<vertices id=\"gv\"><input semantic=\"POSITION\" source=\"#gp\"/></vertices>\n"
    "<polylist count=\"1\"><input semantic=\"VERTEX\" source=\"#gv\" offset=\"0\"/><vcount>4</vcount><p>0 1 2 3</p></polylist>\n"
    "</mesh></geometry></library_geometries>\n"
    "<library_controllers><controller id=\"c\"><skin source=\"#g\"><bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>\n"
    "<source id=\"cj\"><Name_array id=\"cja\" count=\"2\">upper lower</Name_array><technique_common><accessor source=\"#cja\" count=\"2\" stride=\"1\"><param name=\"JOINT\" type=\"name\"/></accessor></technique_common></source>\n"
    "<source id=\"cb\"><float_array id=\"cba\" count=\"32\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 1 0 0 -1 0 1 0 0 0 0 1 0 0 0 0 1</float_array><technique_common><accessor source=\"#cba\" count=\"2\" stride=\"16\"><param name=\"TRANSFORM\" type=\"float4x4\"/></accessor></technique_common></source>\n"
    "<source id=\"cw\"><float_array id=\"cwa\" count=\"3\">1 0.25 0.75</float_array><technique_common><accessor source=\"#cwa\" count=\"3\" stride=\"1\"><param name=\"WEIGHT\" type=\"float\"/></accessor></technique_common></source>\n"
    "<joints><input semantic=\"JOINT\" source=\"#cj\"/><input semantic=\"INV_BIND_MATRIX\" source=\"#cb\"/></joints>\n"
    "<vertex_weights count=\"4\"><input semantic=\"JOINT\" source=\"#cj\" offset=\"0\"/><input semantic=\"WEIGHT\" source=\"#cw\" offset=\"1\"/><vcount>1 2 2 1</vcount><v>0 0 0 1 1 2 0 1 1 2 0 0</v></vertex_weights>\n"
    "</skin></controller></library_controllers>\n"
    "<library_animations><animation id=\"a\">\n"
    "<source id=\"ai\"><float_array id=\"aia\" count=\"2\">0 0.5</float_array><technique_common><accessor source=\"#aia\" count=\"2\" stride=\"1\"><param name=\"TIME\" type=\"float\"/></accessor></technique_common></source>\n"
    "<source id=\"ao\"><float_array id=\"aoa\" count=\"2\">0 90</float_array><technique_common><accessor source=\"#aoa\" count=\"2\" stride=\"1\"><param name=\"ANGLE\" type=\"float\"/></accessor></technique_common></source>\n"
    "<source id=\"ap\"><Name_array id=\"apa\" count=\"2\">LINEAR LINEAR</Name_array><technique_common><accessor source=\"#apa\" count=\"2\" stride=\"1\"><param name=\"INTERPOLATION\" type=\"name\"/></accessor></technique_common></source>\n"
    "<sampler id=\"as\"><input semantic=\"INPUT\" source=\"#ai\"/><input semantic=\"OUTPUT\" source=\"#ao\"/><input semantic=\"INTERPOLATION\" source=\"#ap\"/></sampler>\n"
    "<channel source=\"#as\" target=\"lower/turn.ANGLE\"/>\n"
    "</animation></library_animations>\n"
    "<library_visual_scenes><visual_scene id=\"s\">\n"
    "<node id=\"upper\" name=\"upper\" sid=\"upper\" type=\"JOINT\"><node id=\"lower\" name=\"lower\" sid=\"lower\" type=\"JOINT\"><translate>1 0 0</translate><rotate sid=\"turn\">0 0 1 0</rotate></node></node>\n"
    "<node id=\"m\" name=\"m\"><instance_controller url=\"#c\"><skeleton>#upper</skeleton></instance_controller></node>\n"
    "</visual_scene></library_visual_scenes>\n"
    "<scene><instance_visual_scene url=\"#s\"/></scene>\n"
    "</COLLADA>\n";
// clang-format on

typedef struct Read
{
    snwContext* context;
    snwAsset* asset;
    snwMessage message;
    snwResult result;
} Read;

static Read ReadText(const char* name, const char* text)
{
    Read read = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
    snwAssetInput input = {name, text, strlen(text), NULL};
    read.result = snwAsset_Read(read.context, &input, &read.asset, &read.message);
    return read;
}

static void Free(Read* read)
{
    snwAsset_Close(read->asset);
    snwDestroyContext(read->context);
}

// The helper of this build, if it has one.
static bool UseHelper(void)
{
    const char* path = SNW_BINARY_DIR "/sinew-import";
    setenv("SINEW_IMPORT", path, 1);
    return access(path, X_OK) == 0;
}

static double Distance(snwVec3 a, snwVec3 b)
{
    return snwVec3_Length(snwVec3_Sub(a, b));
}

static const snwAssetChannel* FindChannel(const snwAsset* asset, const char* node, snwAssetPath path)
{
    for (int i = 0; asset->animationCount > 0 && i < asset->animations[0].channelCount; ++i)
    {
        const snwAssetChannel* channel = &asset->animations[0].channels[i];
        if (channel->path == path && strcmp(asset->nodes[channel->node].name, node) == 0)
            return channel;
    }
    return NULL;
}

TEST(import, bvhHasNodesAndAMotion)
{
    if (!UseHelper())
        SKIP("this build has no sinew-import (make ASSIMP=1)");
    Read read = ReadText("leg.bvh", s_bvh);
    REQUIRE(read.result == snw_ok);
    const snwAsset* asset = read.asset;
    CHECK_INT(asset->meshCount, 0);
    REQUIRE(asset->nodeCount == 3 && asset->animationCount == 1);
    CHECK(strcmp(asset->nodes[1].name, "Knee") == 0 && asset->nodes[1].parent == 0);
    CHECK_NEAR(asset->nodes[1].pose.translation.y, -1, 0);
    CHECK_NEAR(asset->animations[0].end, 0.04, 1e-9);
    const snwAssetChannel* moves = FindChannel(asset, "Hip", snw_pathTranslation);
    const snwAssetChannel* turns = FindChannel(asset, "Hip", snw_pathRotation);
    REQUIRE(moves != NULL && moves->keyCount == 2 && turns != NULL && turns->keyCount == 2);
    CHECK_NEAR(moves->values[4], 1.5, 0);
    // Channels Z, X, Y: about z in front of about x. (0 1 0) goes to z, then stays.
    const double* q = turns->values + 4;
    snwVec3 up = snwQuat_Rotate((snwQuat){q[0], q[1], q[2], q[3]}, (snwVec3){0, 1, 0});
    CHECK_NEAR(Distance(up, (snwVec3){0, 0, 1}), 0, 1e-6);
    Free(&read);
}

TEST(import, daeHasASkinnedMesh)
{
    if (!UseHelper())
        SKIP("this build has no sinew-import (make ASSIMP=1)");
    Read read = ReadText("arm.DAE", s_dae);
    REQUIRE(read.result == snw_ok);
    const snwAsset* asset = read.asset;
    REQUIRE(asset->meshCount == 1 && asset->skinCount == 1 && asset->animationCount == 1);
    const snwAssetMesh* mesh = &asset->meshes[0];
    CHECK_INT(mesh->vertexCount, 4);
    CHECK_INT(mesh->triangleCount, 2);
    CHECK_INT(mesh->weights.boneCount, 2);
    CHECK_NEAR(asset->scale, 1, 0);
    for (int i = 0; i < 4; ++i) // by where it is: the left end hangs on the upper bone, the right one on both
    {
        int first = mesh->weights.starts[i], count = mesh->weights.starts[i + 1] - first;
        CHECK_INT(count, mesh->positions[i].x == 0 ? 1 : 2);
        CHECK_NEAR(mesh->weights.values[first], mesh->positions[i].x == 0 ? 1 : 0.25, 1e-7);
    }
    CHECK_NEAR(asset->skins[0].inverseBinds[1].translation.x, -1, 1e-7);
    CHECK(strcmp(asset->nodes[asset->skins[0].joints[1]].name, "lower") == 0);
    int holder = -1;
    for (int i = 0; i < asset->nodeCount; ++i)
        holder = asset->nodes[i].mesh == 0 ? i : holder;
    REQUIRE(holder >= 0);
    CHECK_INT(asset->nodes[holder].skin, 0);
    const snwAssetChannel* turns = FindChannel(asset, "lower", snw_pathRotation);
    REQUIRE(turns != NULL && turns->keyCount >= 2);
    const double* q = turns->values + 4 * (turns->keyCount - 1);
    CHECK_NEAR(turns->times[turns->keyCount - 1], 0.5, 1e-9);
    CHECK_NEAR(snwQuat_Angle((snwQuat){q[0], q[1], q[2], q[3]}, snwQuat_Identity()), SNW_PI / 2, 1e-6);
    Free(&read);
}

TEST(import, brokenFilesAreRefusedInWords)
{
    if (!UseHelper())
        SKIP("this build has no sinew-import (make ASSIMP=1)");
    static const char* const s_names[] = {"a.fbx", "a.dae", "a.bvh"};
    for (int i = 0; i < 3; ++i)
    {
        Read read = ReadText(s_names[i], "nothing of the kind\n");
        CHECK_INT(read.result, snw_errorInput);
        CHECK(read.message.text[0] != 0 && read.message.remedy[0] != 0);
        CHECK_CONTAINS(read.message.file, s_names[i]);
        Free(&read);
    }
}

TEST(import, everyTruncatedBvhIsReadOrRefused)
{
    if (!UseHelper())
        SKIP("this build has no sinew-import (make ASSIMP=1)");
    for (size_t size = 0; size < strlen(s_bvh); size += 23)
    {
        Read read = {.context = snwFixture_Context(1, snw_simdAuto, NULL)};
        snwAssetInput input = {"leg.bvh", s_bvh, size, NULL};
        read.result = snwAsset_Read(read.context, &input, &read.asset, &read.message);
        CHECK(read.result >= 0 || read.message.text[0] != 0);
        Free(&read);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers that are none

TEST(import, withoutTheHelperTheErrorNamesTheOption)
{
    setenv("SINEW_IMPORT", "/nowhere/sinew-import", 1);
    Read read = ReadText("leg.bvh", s_bvh);
    CHECK_INT(read.result, snw_errorUnsupported);
    CHECK_CONTAINS(read.message.text, "sinew-import");
    CHECK_CONTAINS(read.message.remedy, "ASSIMP=1");
    Free(&read);
}

static Read ReadWithScript(const char* script)
{
    char path[300];
    snprintf(path, sizeof path, "%s/fake-import", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(path, 0700);
    setenv("SINEW_IMPORT", path, 1);
    return ReadText("leg.bvh", s_bvh);
}

TEST(import, aHelperThatCrashesIsAnError)
{
    static const struct
    {
        const char *script, *words;
    } s_cases[] = {{"kill -SEGV $$", "crashed on this file (signal 11)"},
        {"cat > /dev/null; kill -ABRT $$", "crashed on this file (signal 6)"}, {"exit 3", "failed on this file"},
        {"cat > /dev/null", "makes no sense"}, {"cat", "makes no sense"},
        {"cat > /dev/null; head -c 3000000 /dev/zero", "makes no sense"}};
    for (int i = 0; i < 6; ++i)
    {
        Read read = ReadWithScript(s_cases[i].script);
        CHECK_INT(read.result, snw_errorInput);
        CHECK_CONTAINS(read.message.text, s_cases[i].words);
        CHECK_CONTAINS(read.message.remedy, "glTF");
        Free(&read);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The block that it hands back

static const char* const s_seeds[] = {"arm", "leg", "failed"};

static snwResult ReadBlock(const char* name, long failAt, int64_t cut, bool* failed)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    char path[600], *data = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/fuzz/seeds/import/%s", SNW_SOURCE_DIR, name);
    snwResult result = snwFile_Read(context, path, 1 << 20, &data, &size, NULL);
    CHECK(result == snw_ok);
    snwAsset asset = {.context = context, .arena = {.context = context}};
    snwMessage message = {0};
    counter.failAt = failAt == 0 ? 0 : counter.allocations + failAt;
    *failed = cut >= (int64_t)size;
    if (!*failed)
        result = snwImportBlock_Read(&asset, data, cut < 0 ? size : (size_t)cut, &message);
    if (failAt > 0)
        *failed = counter.allocations >= counter.failAt;
    CHECK(result >= 0 || message.text[0] != 0);
    snwArena_Free(&asset.arena);
    snwFree(context, data);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
    return result;
}

TEST(import, everyTruncatedBlockIsRefused)
{
    for (int i = 0; i < 3; ++i)
    {
        bool end = false;
        for (int64_t cut = 0; !end; ++cut)
        {
            snwResult result = ReadBlock(s_seeds[i], 0, cut, &end);
            CHECK(end || result == snw_errorInput);
        }
    }
}

TEST(import, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (int i = 0; i < 3; ++i)
    {
        bool failed = true;
        snwResult whole = ReadBlock(s_seeds[i], 0, -1, &failed);
        CHECK_INT(whole, i == 2 ? snw_errorInput : snw_ok);
        failed = true;
        for (long failAt = 1; failed; ++failAt)
        {
            snwResult result = ReadBlock(s_seeds[i], failAt, -1, &failed);
            CHECK(result == (failed && i < 2 ? snw_errorMemory : whole));
        }
    }
}
