// Meshes packed with Draco: unpacked by a helper program that may do what it likes.

#include "asset/gltf_write.h"
#include "gltf_fixture.h"
#include "gltf_written.h"
#include "validator.h"

#include "base/context.h"
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool UseHelper(void)
{
    const char* path = SNW_BINARY_DIR "/sinew-draco";
    setenv("SINEW_DRACO", path, 1);
    return access(path, X_OK) == 0;
}

#define NEED_HELPER()                                                                                                  \
    if (!UseHelper())                                                                                                  \
    SKIP("this build has no sinew-draco (tools/setup.sh build)")

static void UseScript(const char* script)
{
    char path[300];
    snprintf(path, sizeof path, "%s/fake-draco", snwTest_TempDir());
    FILE* file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    chmod(path, 0700);
    setenv("SINEW_DRACO", path, 1);
}

// The bar of gltf_world.h in Draco's own order (edgebreaker): positions with 14 bits, joints, weights with 12.
static const char s_packed[] =
    "\x44\x52\x41\x43\x4f\x02\x02\x01\x01\x00\x00\x00\x0c\x14\x02\x13\x01\x00\x05\xef\xa3\xd4\x5a\x05\x01\x01"
    "\x10\xff\x02\x0e\x42\xff\x02\x0e\x42\x03\xff\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x09\x03\x00\x00\x02"
    "\x01\x04\x02\x04\x00\x01\x01\x01\x04\x09\x04\x00\x02\x02\x01\x01\x01\x00\x0f\x03\xad\x2a\x27\x01\x10\x03"
    "\x55\x05\x04\x54\x02\xbb\x93\xcc\x1c\x00\x64\xb7\xcc\x00\x30\x76\x00\x00\x00\xc8\x0e\x00\xa4\xaa\x64\x07"
    "\x00\x00\x00\x00\x00\x00\x00\xff\x3f\x00\x00\xcd\xcc\x4c\xbd\x00\x00\x00\x00\x57\x5b\xb1\xbd\x00\x00\xc0"
    "\x3f\x0e\x01\x01\x01\x01\x01\x02\xad\x3e\x55\x01\x03\x4c\x9e\x9d\x00\x00\x00\x00\x01\x00\x00\x00\x01\x01"
    "\x01\x00\x0d\x03\x59\x35\x23\x55\x05\x55\x05\x04\xa4\x36\x97\x80\x02\x00\x80\xff\x07\x00\x00\x00\xe0\xff"
    "\xfe\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\x0f\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x80\x3f\x0c";

enum
{
    snw_packedBytes = sizeof s_packed - 1
};

// Accessors 0 to 3 are indices, joints, weights and positions. besides: unpacked, too, in the order of the bar.
static snwGltfWorld PackedBar(const char* packed, size_t size, bool besides)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    char extensions[200];
    int view = snwGltfWorld_View(&world, packed, size);
    snprintf(extensions, sizeof extensions,
        "{'KHR_draco_mesh_compression': {'bufferView': %d, 'attributes': {'POSITION': 0, 'JOINTS_0': 1, 'WEIGHTS_0': "
        "2}}}",
        view);
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/extensions", extensions);
    static const char* const s_others[] = {
        "attributes/NORMAL", "attributes/TEXCOORD_0", "attributes/COLOR_0", "targets"};
    for (int i = 0; i < 4; ++i)
    {
        char path[80];
        snprintf(path, sizeof path, "meshes/0/primitives/0/%s", s_others[i]);
        snwGltfWorld_Set(&world, path, NULL);
        snprintf(path, sizeof path, "accessors/%d/bufferView", i);
        if (!besides)
            snwGltfWorld_Set(&world, path, NULL);
    }
    snwGltfWorld_Set(&world, "meshes/0/weights", NULL);
    snwGltfWorld_Set(&world, "meshes/0/extras", NULL);
    snwGltfWorld_Set(&world, "animations", NULL);
    snwGltfWorld_Set(&world, "extensionsUsed", "['KHR_draco_mesh_compression']");
    if (!besides)
        snwGltfWorld_Set(&world, "extensionsRequired", "['KHR_draco_mesh_compression']");
    return world;
}

TEST(draco, packedMeshesAreThoseThatWerePacked)
{
    NEED_HELPER();
    snwGltfWorld world = PackedBar(s_packed, snw_packedBytes, false);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetMesh* mesh = &read.asset->meshes[0];
    CHECK_INT(mesh->vertexCount, snw_barVertices);
    CHECK_INT(mesh->triangleCount, snw_barTriangles);
    double volume = 0;
    int moved = 0;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        const snwVec3* p = &mesh->positions[i];
        int ring = (int)lround(p->y / 0.5), nearest = 0;
        double best = 1;
        for (int k = 0; k < snw_barVertices; ++k)
        {
            const float* q = snw_barPositions[k];
            double distance = hypot(hypot(p->x - q[0], p->y - q[1]), p->z - q[2]);
            nearest = distance < best ? k : nearest;
            best = fmin(best, distance);
        }
        CHECK(best < 1e-4); // 14 bits of 1.5 m
        moved += nearest != i;
        static const double s_hip[4] = {1, 0.75, 0.25, 0};
        double hip = 0;
        for (int k = mesh->weights.starts[i]; k < mesh->weights.starts[i + 1]; ++k)
            hip += mesh->weights.bones[k] == 0 ? mesh->weights.values[k] : 0;
        CHECK_NEAR(hip, s_hip[ring], 3e-4);
    }
    CHECK(moved > 0); // another order: what follows is no tautology
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        volume += snwVec3_Dot(mesh->positions[t[0]], snwVec3_Cross(mesh->positions[t[1]], mesh->positions[t[2]])) / 6;
    }
    CHECK_NEAR(volume, 0.01949, 1e-4); // 1.5 m of a triangle of 0.15 by 0.1732 m, outward
    snwGltfRead_End(&read);
}

TEST(draco, damagedDataIsRefusedWithItsPlace)
{
    NEED_HELPER();
    uint32_t random = 7;
    int refused = 0;
    for (int i = 0; i < 60; ++i)
    {
        char copy[snw_packedBytes];
        size_t size = i < 20 ? (size_t)(1 + i * (int)snw_packedBytes / 20) : snw_packedBytes;
        memcpy(copy, s_packed, sizeof copy);
        for (int k = 0; k < 4 && i >= 20; ++k)
        {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % snw_packedBytes] = (char)(random >> 24);
        }
        snwGltfWorld world = PackedBar(copy, size, false);
        snwGltfRead read = snwGltfRead_World(&world);
        CHECK((read.result < 0) == (read.message.text[0] != 0));
        refused += read.result < 0;
        snwGltfRead_End(&read);
    }
    CHECK(refused > 30);
    snwGltfWorld cut = PackedBar(s_packed, snw_packedBytes / 2, false);
    CHECK_REFUSED(&cut, "meshes[0].primitives[0]", "broken");
    snwGltfWorld fewer = PackedBar(s_packed, snw_packedBytes, false);
    snwGltfWorld_Set(&fewer, "accessors/3/count", "11");
    CHECK_REFUSED(&fewer, "meshes[0].primitives[0]", "12 vertices");
    snwGltfWorld other = PackedBar(s_packed, snw_packedBytes, false);
    snwGltfWorld_Set(&other, "meshes/0/primitives/0/extensions/KHR_draco_mesh_compression/attributes/WEIGHTS_0", "9");
    CHECK_REFUSED(&other, "meshes[0].primitives[0]", "no attribute 9");
    snwGltfWorld strip = PackedBar(s_packed, snw_packedBytes, false);
    snwGltfWorld_Set(&strip, "meshes/0/primitives/0/mode", "5");
    CHECK_REFUSED(&strip, "meshes[0].primitives[0]", "strips");
}

TEST(draco, whateverTheHelperDoesIsAnErrorAtWorst)
{
    static const struct
    {
        const char *script, *words;
    } s_cases[] = {{"kill -SEGV $$", "crashed on it (signal 11)"}, {"exit 3", "failed on it"},
        {"cat > /dev/null", "makes no sense"}, {"cat > /dev/null; printf SNWD", "makes no sense"},
        {"cat > /dev/null; printf 'SNWD\\14\\0\\0\\0\\74\\0\\0\\0'", "makes no sense"},
        {"cat > /dev/null; head -c 3000000 /dev/zero", "makes no sense"},
        {"cat > /dev/null; printf 'SNWF\\5\\0\\0\\0words'", "broken: words"},
        {"cat > /dev/null; kill -XCPU $$", "come to an end"}};
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; ++i)
    {
        UseScript(s_cases[i].script);
        snwGltfWorld world = PackedBar(s_packed, snw_packedBytes, false);
        CHECK_REFUSED(&world, "meshes[0].primitives[0]", s_cases[i].words);
    }
    setenv("SINEW_DRACO", "/nowhere/sinew-draco", 1);
    snwGltfWorld world = PackedBar(s_packed, snw_packedBytes, false);
    snwGltfRead read = snwGltfRead_World(&world);
    CHECK_INT(read.result, snw_errorUnsupported);
    CHECK_CONTAINS(read.message.remedy, "libdraco-dev");
    snwGltfRead_End(&read);
}

// Morph targets go with Draco's order, so what is packed stays; but not where the same numbers lie beside it.
TEST(draco, whatIsAddedKeepsThePackedDataOrLetsItGo)
{
    NEED_HELPER();
    static char s_paths[2][600];
    for (int besides = 0; besides < 2; ++besides)
    {
        snwGltfWorld world = PackedBar(s_packed, snw_packedBytes, besides);
        snwGltfRead read = snwGltfRead_World(&world);
        REQUIRE(read.asset != NULL);
        snwGltfWriter* writer = snwWritten_Open(read.context, read.asset);
        static float s_offsets[snw_barVertices][3];
        for (int i = 0; i < snw_barVertices; ++i)
            s_offsets[i][0] = (float)read.asset->meshes[0].positions[i].y; // by the place, to know them again
        snwAssetMorph morph = {.name = "lean", .positions = (const float(*)[3])s_offsets};
        snwGltfMorphDef def = {.mesh = 0, .morphs = &morph, .morphCount = 1};
        snwGltfWriter_AddMorphs(writer, &def);
        unsigned char* data = NULL;
        size_t size = 0;
        CHECK_INT(snwGltfWriter_Write(writer, snw_gltfGlb, &data, &size, NULL), snw_ok);
        snwGltfWriter_Close(writer);
        snprintf(s_paths[besides], sizeof s_paths[0], "%s/draco-%d.glb", snwTest_TempDir(), besides);
        FILE* file = fopen(s_paths[besides], "wb");
        REQUIRE(file != NULL && fwrite(data, 1, size, file) == size);
        fclose(file);

        snwAsset* again = snwWritten_Read(read.context, "again.glb", data, size);
        REQUIRE(again != NULL);
        const json_t* packed = snwWritten_At(again, "meshes/0/primitives/0/extensions/KHR_draco_mesh_compression");
        CHECK((packed != NULL) == !besides);
        CHECK((snwWritten_At(again, "extensionsUsed") != NULL) == !besides);
        CHECK_INT(again->meshes[0].morphCount, 1);
        for (int i = 0; i < snw_barVertices; ++i)
            CHECK_NEAR(again->meshes[0].morphs[0].positions[i][0], again->meshes[0].positions[i].y, 1e-6);
        snwAsset_Close(again);
        snwFree(read.context, data);
        snwGltfRead_End(&read);
    }
    snwVerdict verdicts[2];
    if (snwValidate((const char* const[2]){s_paths[0], s_paths[1]}, 2, verdicts))
        CHECK(verdicts[0].errors == 0 && verdicts[1].errors == 0);
}

// The same man, plain and packed: positions to the packed one's bits, weights, what they weigh together.
TEST(draco, aRealFileIsTheSameAsItsPlainTwin)
{
    NEED_HELPER();
    const char* folder = getenv("SINEW_DATA");
    if (folder == NULL)
        SKIP("SINEW_DATA names no folder with real files");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const char* const s_files[2] = {"real/CesiumMan.glb", "real/CesiumMan_Draco/CesiumMan.gltf"};
    snwAsset* assets[2] = {NULL, NULL};
    for (int i = 0; i < 2; ++i)
    {
        char path[1024];
        snwMessage message = {0};
        snprintf(path, sizeof path, "%s/%s", folder, s_files[i]);
        snwAsset_Open(context, path, &assets[i], &message);
        if (assets[i] == NULL)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s", path, message.text);
    }
    REQUIRE(assets[0] != NULL && assets[1] != NULL);
    const snwAssetMesh *plain = &assets[0]->meshes[0], *packed = &assets[1]->meshes[0];
    CHECK_INT(packed->triangleCount, plain->triangleCount);
    double far = 0;
    for (int i = 0; i < packed->vertexCount; ++i)
    {
        double best = INFINITY;
        for (int k = 0; k < plain->vertexCount; ++k)
            best = fmin(best, snwVec3_Distance(packed->positions[i], plain->positions[k]));
        far = fmax(far, best);
    }
    CHECK(far < 6.4e-4); // half the diagonal of a step of 11 bits of 1.51 m
    for (int i = 0; i < 2; ++i)
        snwAsset_Close(assets[i]);
    snwDestroyContext(context);
}
