// The glTF reader: every feature lands in its field, every oddity in its note.

#include "../fuzz/asset_sound.h"
#include "gltf_fixture.h"

#include <meshoptimizer.h>
#include <stdlib.h>

static void CheckBar(const snwAsset* asset)
{
    CHECK_INT(asset->meshCount, 1);
    CHECK_INT(asset->nodeCount, 3);
    CHECK_INT(asset->skinCount, 1);
    CHECK_INT(asset->animationCount, 1);
    const snwAssetMesh* mesh = &asset->meshes[0];
    REQUIRE(mesh->vertexCount == snw_barVertices && mesh->triangleCount == snw_barTriangles);
    for (int i = 0; i < snw_barVertices; ++i)
    {
        CHECK(mesh->positions[i].x == (double)snw_barPositions[i][0]); // exact
        CHECK(mesh->positions[i].y == (double)snw_barPositions[i][1]);
        CHECK(mesh->positions[i].z == (double)snw_barPositions[i][2]);
    }
    CHECK(snwSound_Asset(asset));
}

TEST(gltf, containersAgree)
{
    snwGltfWorld worlds[2] = {snwGltfWorld_Bar(), snwGltfWorld_Bar()};
    snwGltfRead binary = snwGltfRead_World(&worlds[0]);
    snwGltfRead text = snwGltfRead_File(snwGltfWorld_Embedded(&worlds[1]), "bar.gltf");
    snwGltfWorld_Free(&worlds[1]);
    REQUIRE(binary.asset != NULL && text.asset != NULL);
    CheckBar(binary.asset);
    CheckBar(text.asset);
    CHECK(binary.asset->gltf->binary && !text.asset->gltf->binary);
    CHECK_INT(binary.asset->noteCount, 0);
    CHECK(binary.asset->scale == 1);
    CHECK(strcmp(binary.asset->name, "world") == 0);
    snwGltfRead_End(&binary);
    snwGltfRead_End(&text);
}

TEST(gltf, attributesLandInTheirFields)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetMesh* mesh = &read.asset->meshes[0];
    CHECK(strcmp(mesh->name, "bar") == 0 && strcmp(mesh->parts[0].material, "skin") == 0);
    CHECK(mesh->normals[1][0] == -0.5f && mesh->normals[1][2] == -0.8660254f);
    CHECK(mesh->texcoords[2][0] == 1 && mesh->texcoords[11][1] == 0);
    CHECK(mesh->colors[3][0] == 1 && mesh->colors[3][1] == (float)(60 / 255.0) && mesh->colors[3][2] == 0);
    CHECK_INT(mesh->triangles[0][0], 0);
    CHECK_INT(mesh->triangles[1][1], 4);
    CHECK_INT(mesh->triangles[19][2], 11);
    REQUIRE(mesh->morphCount == 2);
    CHECK(strcmp(mesh->morphs[1].name, "tall") == 0);
    CHECK(mesh->morphs[0].weight == 0.25 && mesh->morphs[0].positions[0][0] == 0.5f * 0.1f);
    CHECK(mesh->morphs[1].positions[9][1] == 0.75f && mesh->morphs[1].normals == NULL);
    snwGltfRead_End(&read);
}

TEST(gltf, skinAndWeights)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetSkin* skin = &read.asset->skins[0];
    CHECK(skin->jointCount == 2 && skin->joints[0] == 1 && skin->joints[1] == 2 && skin->root == 1);
    CHECK(skin->inverseBinds[1].translation.y == -0.75 && skin->inverseBinds[1].linear.m[0][0] == 1);
    const snwAssetWeights* weights = &read.asset->meshes[0].weights;
    CHECK_INT(weights->boneCount, 2);
    CHECK_INT(weights->starts[1], 1); // hip alone: the zero is left out
    CHECK_INT(weights->starts[4] - weights->starts[3], 2);
    CHECK(weights->values[weights->starts[3]] == 0.75 && weights->bones[weights->starts[3] + 1] == 1);
    CHECK_INT(weights->bones[weights->starts[11]], 1);
    snwGltfRead_End(&read);
}

TEST(gltf, nodesKeepTheirPose)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetNode* nodes = read.asset->nodes;
    CHECK(strcmp(nodes[2].name, "knee") == 0 && nodes[2].parent == 1 && nodes[1].parent == -1);
    CHECK(nodes[0].mesh == 0 && nodes[0].skin == 0 && nodes[1].mesh == -1);
    CHECK(nodes[2].pose.translation.y == 0.75 && nodes[2].local.translation.y == 0.75);
    CHECK(nodes[2].pose.rotation.w == 1 && nodes[2].pose.scale.z == 1);
    snwGltfRead_End(&read);
}

TEST(gltf, allInterpolations)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetAnimation* bend = &read.asset->animations[0];
    REQUIRE(bend->channelCount == 4);
    CHECK(strcmp(bend->name, "bend") == 0 && bend->start == 0 && bend->end == 1);
    const snwAssetChannel *turn = &bend->channels[0], *move = &bend->channels[1], *size = &bend->channels[2],
                          *morph = &bend->channels[3];
    CHECK(turn->node == 2 && turn->path == snw_pathRotation && turn->interpolation == snw_assetLinear);
    CHECK(turn->keyCount == 3 && turn->width == 4 && turn->times[1] == 0.5);
    CHECK_NEAR(turn->values[4 + 2], 0.38268343f, 1e-7);
    CHECK(move->path == snw_pathTranslation && move->interpolation == snw_assetCubic && move->keyCount == 2);
    CHECK(move->values[2 * 3 + 1] == 1 && move->values[3 * 3 + 1] == 1); // out of the first, into the second
    CHECK(size->path == snw_pathScale && size->interpolation == snw_assetStep && size->values[5] == 1);
    CHECK(morph->path == snw_pathMorphs && morph->width == 2 && morph->keyCount == 3 && morph->values[3] == 1);
    snwGltfRead_End(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// Primitives

TEST(gltf, partsFollowPrimitives)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    static const float s_more[6][3] = {{2, 0, 0}, {3, 0, 0}, {2, 1, 0}, {3, 1, 0}, {2, 2, 0}, {3, 2, 0}};
    int more = snwGltfWorld_Floats(&world, s_more[0], 6, "VEC3");
    char part[128];
    const int modes[4] = {5, 6, 0, 4}; // strip, fan, points, list without indices
    for (int i = 0; i < 4; ++i)
    {
        char path[64];
        snprintf(path, sizeof path, "meshes/0/primitives/%d", i + 1);
        snprintf(part, sizeof part, "{'attributes': {'POSITION': %d}, 'mode': %d}", more, modes[i]);
        snwGltfWorld_Set(&world, path, part);
    }
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetMesh* mesh = &read.asset->meshes[0];
    REQUIRE(mesh->partCount == 5 && mesh->triangleCount == 1 + 4 + 4 + 0 + 2);
    CHECK_INT(mesh->vertexCount, 3 + 6); // the same attributes are shared
    CHECK(mesh->parts[1].firstVertex == 3 && mesh->parts[4].firstVertex == 3 && mesh->parts[3].vertexCount == 0);
    CHECK_INT(mesh->parts[2].firstTriangle, 5);
    CHECK(mesh->triangles[2][0] == 3 + 1 && mesh->triangles[2][1] == 3 + 3 && mesh->triangles[2][2] == 3 + 2);
    CHECK(mesh->triangles[6][0] == 3 + 2 && mesh->triangles[6][1] == 3 + 3 && mesh->triangles[6][2] == 3);
    CHECK_NOTE(&read, snw_noteLeftOut, "points", 1);
    CHECK(snwSound_Asset(read.asset));
    snwGltfRead_End(&read);
}

TEST(gltf, indicesOfEveryWidth)
{
    const int components[3] = {5121, 5123, 5125};
    for (int i = 0; i < 3; ++i)
    {
        static const uint8_t s_bytes[6] = {2, 1, 0, 1, 1, 2};
        static const uint16_t s_shorts[6] = {2, 1, 0, 1, 1, 2};
        static const uint32_t s_ints[6] = {2, 1, 0, 1, 1, 2};
        const void* data[3] = {s_bytes, s_shorts, s_ints};
        snwGltfWorld world = snwGltfWorld_Triangle();
        char text[16];
        snprintf(text, sizeof text, "%d", snwGltfWorld_Accessor(&world, data[i], 6, components[i], "SCALAR"));
        snwGltfWorld_Set(&world, "meshes/0/primitives/0/indices", text);
        snwGltfRead read = snwGltfRead_World(&world);
        REQUIRE(read.asset != NULL);
        CHECK_INT(read.asset->meshes[0].triangles[0][0], 2);
        CHECK_INT(read.asset->meshes[0].triangleCount, 1);
        CHECK_NOTE(&read, snw_noteLeftOut, "two equal corners", 1);
        snwGltfRead_End(&read);
    }
}

TEST(gltf, coloursOfMaterialsMultiply)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "materials/0/pbrMetallicRoughness/baseColorFactor", "[0.5, 1, 0.25, 1]");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->meshes[0].colors[0][0] == 0.5f && read.asset->meshes[0].colors[0][3] == 1);
    snwGltfRead_End(&read);
}

TEST(gltf, influencesOfSeveralSetsMerge)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    uint16_t joints[snw_barVertices][4] = {{0}};
    uint8_t weights[snw_barVertices][4] = {{0}};
    for (int i = 0; i < snw_barVertices; ++i)
    {
        joints[i][0] = 1;
        weights[i][0] = 255; // one more of the knee: the row sums to two
    }
    int second = snwGltfWorld_Accessor(&world, joints, snw_barVertices, 5123, "VEC4");
    int values = snwGltfWorld_Accessor(&world, weights, snw_barVertices, 5121, "VEC4");
    char text[64];
    snprintf(text, sizeof text, "accessors/%d/normalized", values);
    snwGltfWorld_Set(&world, text, "true");
    snprintf(text, sizeof text, "%d", second);
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/attributes/JOINTS_1", text);
    snprintf(text, sizeof text, "%d", values);
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/attributes/WEIGHTS_1", text);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetWeights* rows = &read.asset->meshes[0].weights;
    CHECK_NEAR(rows->values[0], 0.5, 1e-12);                 // 1 of the hip, 1 of the knee
    CHECK_NEAR(rows->values[rows->starts[3]], 0.375, 1e-12); // 0.75 and 0.25 + 1
    CHECK_NOTE(&read, snw_noteRepaired, "did not sum to one", snw_barVertices);
    CHECK_NOTE(&read, snw_noteRepaired, "names twice", 9);
    CHECK(snwSound_Asset(read.asset));
    snwGltfRead_End(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// Accessors

TEST(gltf, sparseWithAndWithoutPlainData)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    static const uint8_t s_indices[2] = {0, 2};
    static const float s_values[2][3] = {{0, 0, 7}, {8, 9, 10}};
    int indices = snwGltfWorld_View(&world, s_indices, 2), values = snwGltfWorld_View(&world, s_values, 24);
    char text[256];
    snprintf(text, sizeof text,
        "{'count': 2, 'indices': {'bufferView': %d, 'componentType': 5121}, 'values': {'bufferView': %d}}", indices,
        values);
    snwGltfWorld_Set(&world, "accessors/0/sparse", text);
    snwGltfWorld_Add(&world, "accessors", "{'componentType': 5126, 'count': 3, 'type': 'VEC3', 'sparse': %s}", text);
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/targets", "[{'POSITION': 2}]");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetMesh* mesh = &read.asset->meshes[0];
    CHECK(mesh->positions[0].z == 7 && mesh->positions[1].x == 1 && mesh->positions[2].y == 9);
    CHECK(mesh->morphs[0].positions[1][0] == 0 && mesh->morphs[0].positions[2][2] == 10);
    snwGltfRead_End(&read);
}

// KHR_mesh_quantization: all kinds of integers, with a stride, normalised or not.
TEST(gltf, quantisedPositions)
{
    static const struct
    {
        int component;
        bool normalized;
        double first; // of what -128 or 255 ... becomes
    } s_cases[] = {{5120, true, -1}, {5120, false, -128}, {5121, true, 1}, {5121, false, 255}, {5122, true, -1},
        {5122, false, -32768}, {5123, true, 1}, {5123, false, 65535}};
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; ++i)
    {
        bool wide = s_cases[i].component >= 5122, plus = s_cases[i].component % 2 == 1;
        unsigned char data[3][8] = {{0}};
        memset(data[0], plus ? 255 : 0, wide ? 6 : 3);
        if (!plus)
            data[0][wide ? 1 : 0] = 128;
        data[1][0] = 1;
        snwGltfWorld world = snwGltfWorld_Triangle();
        int view = snwGltfWorld_View(&world, data, sizeof data);
        char text[64];
        snprintf(text, sizeof text, "bufferViews/%d/byteStride", view);
        snwGltfWorld_Set(&world, text, "8");
        int index = snwGltfWorld_Add(&world, "accessors",
            "{'bufferView': %d, 'componentType': %d, 'count': 3, 'type': 'VEC3', 'normalized': %s}", view,
            s_cases[i].component, s_cases[i].normalized ? "true" : "false");
        snprintf(text, sizeof text, "%d", index);
        snwGltfWorld_Set(&world, "meshes/0/primitives/0/attributes/POSITION", text);
        snwGltfWorld_Set(&world, "extensionsRequired", "['KHR_mesh_quantization']");
        snwGltfWorld_Set(&world, "extensionsUsed", "['KHR_mesh_quantization']");
        snwGltfRead read = snwGltfRead_World(&world);
        REQUIRE(read.asset != NULL);
        CHECK(read.asset->meshes[0].positions[0].x == s_cases[i].first);
        double unit = s_cases[i].normalized ? 1.0 / (wide ? plus ? 65535 : 32767 : plus ? 255 : 127) : 1;
        CHECK(read.asset->meshes[0].positions[1].x == unit);
        CHECK_INT(read.asset->noteCount, 0);
        snwGltfRead_End(&read);
    }
}

TEST(gltf, overlappingAndUnalignedViews)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    // The same bytes again, one vertex later and one byte off.
    float values[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    unsigned char bytes[sizeof values + 1];
    memcpy(bytes + 1, values, sizeof values);
    size_t offset = snwGltfWorld_Bytes(&world, bytes, sizeof bytes);
    int first = snwGltfWorld_Add(
        &world, "bufferViews", "{'buffer': 0, 'byteOffset': %zu, 'byteLength': %zu}", offset, sizeof bytes);
    snwGltfWorld_Add(&world, "accessors",
        "{'bufferView': %d, 'byteOffset': 13, 'componentType': 5126, 'count': 3, 'type': 'VEC3'}", first);
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/attributes/POSITION", "2");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->meshes[0].positions[0].x == 4 && read.asset->meshes[0].positions[2].z == 12);
    CHECK_NOTE(&read, snw_noteOdd, "multiple of their size", 1);
    snwGltfRead_End(&read);
}

// Three columns of three bytes start at multiples of four.
TEST(gltf, matricesOfBytesHavePadding)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    static const uint8_t s_bytes[2][12] = {
        {1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99}, {10, 11, 12, 99, 13, 14, 15, 99, 16, 17, 18}};
    int view = snwGltfWorld_View(&world, s_bytes, 23);
    int index = snwGltfWorld_Add(
        &world, "accessors", "{'bufferView': %d, 'componentType': 5121, 'count': 2, 'type': 'MAT3'}", view);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    double values[18];
    CHECK(snwGltf_ReadReals(read.asset->gltf, index, values, NULL, NULL) >= 0);
    for (int i = 0; i < 18; ++i)
        CHECK(values[i] == i + 1);
    snwGltfRead_End(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// EXT_meshopt_compression

static int PackedAccessor(snwGltfWorld* world, const snwGltfPacked* packed, const char* rest)
{
    int view = snwGltfWorld_Packed(world, packed);
    char path[64], stride[16];
    snprintf(path, sizeof path, "bufferViews/%d/byteStride", view);
    snprintf(stride, sizeof stride, "%d", packed->stride);
    if (strcmp(packed->mode, "ATTRIBUTES") == 0)
        snwGltfWorld_Set(world, path, stride);
    return snwGltfWorld_Add(world, "accessors", "{'bufferView': %d, 'count': %d, %s}", view, packed->count, rest);
}

static void SetNumber(snwGltfWorld* world, const char* path, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    snwGltfWorld_Set(world, path, text);
}

// The bar again, its positions, normals, triangles and knee packed.
static snwGltfWorld PackedBar(void)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "extensionsUsed", "['EXT_meshopt_compression', 'KHR_mesh_quantization']");
    snwGltfWorld_Set(&world, "extensionsRequired", "['EXT_meshopt_compression', 'KHR_mesh_quantization']");
    snwGltfWorld_Set(
        &world, "buffers", "[{}, {'byteLength': 4096, 'extensions': {'EXT_meshopt_compression': {'fallback': true}}}]");
    int positions = PackedAccessor(&world,
        &(snwGltfPacked){snw_barPositions, snw_barVertices, 12, "ATTRIBUTES", "NONE"},
        "'componentType': 5126, 'type': 'VEC3'");
    SetNumber(&world, "meshes/0/primitives/0/attributes/POSITION", positions);
    float directions[snw_barVertices][4] = {{0}};
    for (int i = 0; i < snw_barVertices; ++i)
        directions[i][i % 3] = i % 2 ? -1 : 1;
    int8_t octahedral[snw_barVertices][4];
    meshopt_encodeFilterOct(octahedral, snw_barVertices, 4, 8, directions[0]);
    int normals = PackedAccessor(&world, &(snwGltfPacked){octahedral, snw_barVertices, 4, "ATTRIBUTES", "OCTAHEDRAL"},
        "'componentType': 5120, 'normalized': true, 'type': 'VEC3'");
    SetNumber(&world, "meshes/0/primitives/0/attributes/NORMAL", normals);
    return world;
}

TEST(gltf, meshoptAttributesAndFilters)
{
    snwGltfWorld world = PackedBar();
    static const float s_turns[3][4] = {{0, 0, 0, 1}, {0, 0, 0.6f, 0.8f}, {0.5f, 0.5f, 0.5f, 0.5f}};
    static const float s_times[3] = {0, 0.5f, 1};
    int16_t turns[3][4];
    uint32_t times[3];
    meshopt_encodeFilterQuat(turns, 3, 8, 16, s_turns[0]);
    meshopt_encodeFilterExp(times, 3, 4, 15, s_times);
    int output = PackedAccessor(&world, &(snwGltfPacked){turns, 3, 8, "ATTRIBUTES", "QUATERNION"},
        "'componentType': 5122, 'normalized': true, 'type': 'VEC4'");
    int input = PackedAccessor(
        &world, &(snwGltfPacked){times, 3, 4, "ATTRIBUTES", "EXPONENTIAL"}, "'componentType': 5126, 'type': 'SCALAR'");
    SetNumber(&world, "animations/0/samplers/0/output", output);
    SetNumber(&world, "animations/0/samplers/0/input", input);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CheckBar(read.asset);
    const snwAssetMesh* mesh = &read.asset->meshes[0];
    CHECK_NEAR(mesh->normals[0][0], 1, 0.01);
    CHECK_NEAR(mesh->normals[1][1], -1, 0.01);
    const snwAssetChannel* turn = &read.asset->animations[0].channels[0];
    CHECK(turn->times[1] == 0.5 && turn->keyCount == 3);
    CHECK_NEAR(turn->values[6], 0.6, 1e-4);
    CHECK_NEAR(turn->values[8], 0.5, 1e-4);
    CHECK(read.asset->gltf->buffers[1].fallback && read.asset->gltf->buffers[1].data == NULL);
    snwGltfRead_End(&read);
}

// Directions that are folded, in both widths, against the library's own decoder, which may round the last bit
// otherwise.
TEST(gltf, meshoptDirectionsAreThoseOfTheLibrary)
{
    uint64_t seed = 5;
    for (int bits = 8; bits <= 16; bits += 8)
    {
        snwGltfWorld world = PackedBar();
        float directions[snw_barVertices][4] = {{0}};
        for (int i = 0; i < 4 * snw_barVertices; ++i)
            directions[i / 4][i % 4] = i % 4 < 3 ? (float)(2 * snwTest_Random(&seed) - 1) : 0;
        for (int i = 0; i < snw_barVertices; ++i)
        {
            float* d = directions[i];
            float length = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            for (int k = 0; k < 3; ++k)
                d[k] /= length;
        }

        int16_t packed[snw_barVertices][4], ours = bits == 8 ? INT8_MAX : INT16_MAX;
        meshopt_encodeFilterOct(packed, snw_barVertices, (size_t)bits / 2, bits, directions[0]);
        int normals = PackedAccessor(&world,
            &(snwGltfPacked){packed, snw_barVertices, bits / 2, "ATTRIBUTES", "OCTAHEDRAL"},
            bits == 8 ? "'componentType': 5120, 'normalized': true, 'type': 'VEC3'"
                      : "'componentType': 5122, 'normalized': true, 'type': 'VEC3'");
        SetNumber(&world, "meshes/0/primitives/0/attributes/NORMAL", normals);
        snwGltfRead read = snwGltfRead_World(&world);
        REQUIRE(read.asset != NULL);

        meshopt_decodeFilterOct(packed, snw_barVertices, (size_t)bits / 2);
        for (int i = 0; i < snw_barVertices; ++i)
            for (int k = 0; k < 3; ++k)
            {
                double theirs = bits == 8 ? ((const int8_t*)packed)[4 * i + k] : packed[i][k];
                CHECK_NEAR(read.asset->meshes[0].normals[i][k], theirs / ours, 1.01 / ours);
            }
        snwGltfRead_End(&read);
    }
}

TEST(gltf, meshoptTrianglesAndIndices)
{
    static const uint32_t s_indices[6] = {0, 1, 2, 2, 1, 3};
    static const char* const s_modes[2] = {"TRIANGLES", "INDICES"};
    for (int mode = 0; mode < 2; ++mode)
    {
        snwGltfWorld world = PackedBar();
        int indices = PackedAccessor(&world, &(snwGltfPacked){s_indices, 6, 4, s_modes[mode], "NONE"},
            "'componentType': 5125, 'type': 'SCALAR'");
        SetNumber(&world, "meshes/0/primitives/0/indices", indices);
        snwGltfRead read = snwGltfRead_World(&world);
        REQUIRE(read.asset != NULL);
        CHECK_INT(read.asset->meshes[0].triangleCount, 2);
        CHECK_INT(read.asset->meshes[0].triangles[1][0] + read.asset->meshes[0].triangles[1][1] +
                      read.asset->meshes[0].triangles[1][2],
            6); // triangles may turn about
        snwGltfRead_End(&read);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes

TEST(gltf, matricesAreTakenApart)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    // 90 degrees about z, scale 2 3 4; then a mirror; then a shear
    snwGltfWorld_Set(&world, "nodes/0/matrix", "[0, 2, 0, 0, -3, 0, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1]");
    snwGltfWorld_Add(&world, "nodes", "{'matrix': [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}");
    snwGltfWorld_Add(&world, "nodes", "{'name': 'bent', 'matrix': [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetNode* nodes = read.asset->nodes;
    CHECK_NEAR(nodes[0].pose.scale.x, 2, 1e-12);
    CHECK_NEAR(nodes[0].pose.scale.y, 3, 1e-12);
    CHECK_NEAR(nodes[0].pose.scale.z, 4, 1e-12);
    CHECK_NEAR(fabs(nodes[0].pose.rotation.z), sqrt(0.5), 1e-12);
    CHECK(nodes[0].pose.translation.z == 7 && !nodes[0].sheared && !nodes[1].sheared && nodes[2].sheared);
    CHECK_NEAR(nodes[1].local.linear.m[0][0], -1, 1e-12);
    CHECK_NEAR(nodes[1].local.linear.m[1][1], 1, 1e-12);
    CHECK(nodes[2].local.linear.m[0][1] == 0.5);
    CHECK_NOTE(&read, snw_noteOdd, "shears", 1);
    CHECK_CONTAINS(snwGltfRead_Note(&read, snw_noteOdd, "shears")->place, "node 'bent'");
    snwGltfRead_End(&read);
}

TEST(gltf, morphWeightsOfNodes)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "nodes/0/weights", "[0.5, 0.75]");
    snwGltfWorld_Set(&world, "nodes/1/weights", "[1]");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->nodes[0].morphCount == 2 && read.asset->nodes[0].morphWeights[1] == 0.75f);
    CHECK(read.asset->nodes[1].morphWeights == NULL);
    CHECK_NOTE(&read, snw_noteLeftOut, "do not fit its mesh", 1);
    snwGltfRead_End(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// What exporters get wrong

static void SetFloats(snwGltfWorld* world, int accessor, int first, const float* values, int count)
{
    char path[64];
    snprintf(path, sizeof path, "accessors/%d/bufferView", accessor);
    int view = (int)json_integer_value(snwGltfWorld_Get(world, path));
    snprintf(path, sizeof path, "bufferViews/%d/byteOffset", view);
    size_t offset = (size_t)json_integer_value(snwGltfWorld_Get(world, path));
    memcpy(world->bytes + offset + (size_t)first * sizeof(float), values, (size_t)count * sizeof(float));
}

static int AccessorAt(const snwGltfWorld* world, const char* path)
{
    return (int)json_integer_value(snwGltfWorld_Get(world, path));
}

TEST(gltf, weightsAreRepaired)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    int weights = AccessorAt(&world, "meshes/0/primitives/0/attributes/WEIGHTS_0");
    SetFloats(&world, weights, 0, (float[4]){0.2f, 0.2f, 0, 0}, 4);       // sums to 0.4
    SetFloats(&world, weights, 4, (float[4]){0, 0, 0, 0}, 4);             // nobody's
    SetFloats(&world, weights, 8, (float[4]){1, -0.5f, 0, 0}, 4);         // below zero
    SetFloats(&world, weights, 12, (float[4]){1, 0, NAN, INFINITY}, 4);   // nonsense
    SetFloats(&world, weights, 16, (float[4]){0.25f, 0.5f, 0.25f, 0}, 4); // joint 0 twice
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetWeights* rows = &read.asset->meshes[0].weights;
    CHECK_NEAR(rows->values[0], 0.5, 1e-12);
    CHECK_INT(rows->starts[2] - rows->starts[1], 0);
    CHECK_INT(rows->starts[3] - rows->starts[2], 1);
    CHECK_NEAR(rows->values[rows->starts[4]], 0.5, 1e-12);
    CHECK_NOTE(&read, snw_noteRepaired, "did not sum to one", 1);
    CHECK_NOTE(&read, snw_noteOdd, "no bone holds", 1);
    CHECK_NOTE(&read, snw_noteRepaired, "below 0", 1);
    CHECK_NOTE(&read, snw_noteRepaired, "not finite numbers", 2);
    CHECK_NOTE(&read, snw_noteRepaired, "names twice", 1);
    CHECK_CONTAINS(snwGltfRead_Note(&read, snw_noteRepaired, "below 0")->place, "mesh 'bar'");
    CHECK(snwSound_Asset(read.asset));
    snwGltfRead_End(&read);
}

TEST(gltf, jointsBeyondTheSkin)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "skins/0/joints", "[1]");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK_INT(read.asset->meshes[0].weights.boneCount, 1);
    CHECK_NOTE(&read, snw_noteRepaired, "beyond the list of the skin", 9);
    CHECK_NOTE(&read, snw_noteOdd, "no bone holds", 3);
    CHECK(snwSound_Asset(read.asset));
    snwGltfRead_End(&read);
}

TEST(gltf, quaternionsAreNormalised)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "nodes/1/rotation", "[0, 0, 0, 2]");
    SetFloats(&world, AccessorAt(&world, "animations/0/samplers/0/output"), 0, (float[8]){0, 0, 0, 0, 0, 0, 3, 4}, 8);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->nodes[1].pose.rotation.w == 1);
    const double* values = read.asset->animations[0].channels[0].values;
    CHECK(values[3] == 1 && values[6] == 0.6 && values[7] == 0.8);
    CHECK_NOTE(&read, snw_noteRepaired, "rotations that were not unit", 1);
    CHECK_NOTE(&read, snw_noteRepaired, "rotations of an animation", 2);
    snwGltfRead_End(&read);
}

// A bar of 150 units is taken for centimetres: a guess, nothing is changed.
TEST(gltf, centimetresAreGuessed)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    float large[snw_barVertices][3];
    for (int i = 0; i < snw_barVertices * 3; ++i)
        large[i / 3][i % 3] = 100 * snw_barPositions[i / 3][i % 3];
    SetFloats(&world, AccessorAt(&world, "meshes/0/primitives/0/attributes/POSITION"), 0, large[0], 36);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->scale == 0.01);
    CHECK(read.asset->meshes[0].positions[9].y == 150);
    CHECK_NOTE(&read, snw_noteOdd, "is 150 m large; it may be in centimetres", 1);
    snwGltfRead_End(&read);
}

TEST(gltf, animationsThatStartLate)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    static const float s_times[3] = {0.25f, 0.5f, 1};
    static const float s_turned[4] = {0, 0, 1, 0};
    for (int i = 0; i < 4; ++i)
    {
        char path[64];
        snprintf(path, sizeof path, "animations/0/samplers/%d/input", i);
        SetFloats(&world, AccessorAt(&world, path), 0, s_times, i == 0 || i == 3 ? 3 : 1);
    }
    SetFloats(&world, AccessorAt(&world, "animations/0/samplers/0/output"), 0, s_turned, 4);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->animations[0].start == 0.25);
    CHECK_NOTE(&read, snw_noteOdd, "first key comes after 0 s", 1);
    CHECK_NOTE(&read, snw_noteOdd, "first key is not their rest pose", 1);
    snwGltfRead_End(&read);
}

TEST(gltf, equalTimesKeepTheLast)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    SetFloats(&world, AccessorAt(&world, "animations/0/samplers/0/input"), 1, (float[1]){1}, 1);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    const snwAssetChannel* turn = &read.asset->animations[0].channels[0];
    CHECK(turn->keyCount == 2 && turn->times[1] == 1 && turn->values[6] == 0);
    CHECK_NOTE(&read, snw_noteRepaired, "several keys at one time", 2); // the morphs have the same times
    snwGltfRead_End(&read);
}

TEST(gltf, bonesWorthALook)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "nodes/2/children", "[3]");
    snwGltfWorld_Set(&world, "nodes/0/translation", "[1, 0, 0]");
    snwGltfWorld_Set(&world, "nodes/1/scale", "[1, 2, 1]");
    snwGltfWorld_Add(&world, "nodes", "{'name': 'end'}"); // on top of the knee, holds nothing
    snwGltfWorld_Set(&world, "skins/0/joints", "[1, 2, 3]");
    snwGltfWorld_Set(&world, "skins/0/inverseBindMatrices", NULL);
    SetFloats(&world, AccessorAt(&world, "animations/0/samplers/2/output"), 3, (float[3]){2, 1, 1}, 3);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK_NOTE(&read, snw_noteOdd, "length zero: they sit", 1);
    CHECK_NOTE(&read, snw_noteOdd, "hold no vertex", 1);
    CHECK_NOTE(&read, snw_noteOdd, "says nothing of its bind pose", 1);
    CHECK_NOTE(&read, snw_noteOdd, "not where they were when the mesh was bound", 2);
    CHECK_NOTE(&read, snw_noteOdd, "a transform of its own", 1);
    CHECK_NOTE(&read, snw_noteOdd, "a scale that is not the same", 1);
    CHECK_NOTE(&read, snw_noteOdd, "scale of a node is animated", 1);
    CHECK_NOTE(&read, snw_noteOdd, "an animated scale that is not the same", 1);
    CHECK(read.asset->skins[0].inverseBinds[2].linear.m[1][1] == 1);
    snwGltfRead_End(&read);
}

TEST(gltf, doubleVerticesAreCounted)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    SetFloats(&world, 0, 3, (float[3]){-0.0f, 0, 0}, 3); // vertex 1 onto vertex 0
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK_NOTE(&read, snw_noteOdd, "at the place of another one", 1);
    snwGltfRead_End(&read);
}

TEST(gltf, channelsOfNothingAreLeftOut)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "animations/0/channels/0/target/node", "77");
    snwGltfWorld_Set(&world, "animations/0/channels/1/target/path", "'pointer'");
    snwGltfWorld_Set(&world, "animations/0/channels/3/target/node", "1");
    snwGltfWorld_Set(&world, "animations/0/channels/4", "{'sampler': 2, 'target': {'node': 1, 'path': 'scale'}}");
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK_INT(read.asset->animations[0].channelCount, 1);
    CHECK_NOTE(&read, snw_noteLeftOut, "node that is not there", 1);
    CHECK_NOTE(&read, snw_noteLeftOut, "moves something unknown", 1);
    CHECK_NOTE(&read, snw_noteLeftOut, "morphs for a node that has none", 1);
    CHECK_NOTE(&read, snw_noteLeftOut, "second channel", 1);
    snwGltfRead_End(&read);
}

TEST(gltf, oddNumbersOfAttributes)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    int normals = AccessorAt(&world, "meshes/0/primitives/0/attributes/NORMAL");
    SetFloats(&world, normals, 0, (float[9]){NAN, 0, 0, 0, 3, 4, 0, INFINITY, 1}, 9);
    SetFloats(&world, AccessorAt(&world, "meshes/0/primitives/0/targets/0/POSITION"), 0, (float[1]){NAN}, 1);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    CHECK(read.asset->meshes[0].normals[1][1] == 0.6f);
    CHECK_NOTE(&read, snw_noteRepaired, "not of length one", 1);
    CHECK_NOTE(&read, snw_noteOdd, "normals of length zero", 1);
    CHECK_NOTE(&read, snw_noteRepaired, "that are not finite were set to 0", 3);
    CHECK(snwSound_Asset(read.asset));
    snwGltfRead_End(&read);
}

// Cameras, lights, textures, extras: not read, but there.
TEST(gltf, documentIsKeptWhole)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "cameras", "[{'type': 'perspective', 'perspective': {'yfov': 1, 'znear': 0.1}}]");
    snwGltfWorld_Set(&world, "extensionsUsed", "['KHR_lights_punctual']");
    snwGltfWorld_Set(&world, "extensions", "{'KHR_lights_punctual': {'lights': [{'type': 'point'}]}}");
    snwGltfWorld_Set(&world, "extras", "{'mine': [1, 2.5, 'three', null]}");
    json_t* root = json_deep_copy(world.root);
    snwGltfRead read = snwGltfRead_World(&world);
    REQUIRE(read.asset != NULL);
    json_t* kept = json_copy(read.asset->gltf->root);
    json_object_del(kept, "buffers"); // made by the world itself
    CHECK(json_equal(kept, root));
    json_decref(kept);
    json_decref(root);
    snwGltfRead_End(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// Real files, where there are some

static snwAsset* OpenData(snwContext* context, const char* folder, const char* name)
{
    char path[512];
    snwAsset* asset = NULL;
    snwMessage message = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (snwAsset_Open(context, path, &asset, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", path, message.text);
    else if (!snwSound_Asset(asset))
        snwTest_Fail(__FILE__, __LINE__, "%s is not sound", path);
    return asset;
}

static double SumOf(const snwAssetMesh* mesh)
{
    double sum = 0;
    for (int i = 0; i < mesh->vertexCount; ++i)
        sum += mesh->positions[i].x + 2 * mesh->positions[i].y + 3 * mesh->positions[i].z;
    return sum;
}

// Counts and sums come from a reader of a page of Python that shares nothing with ours.
TEST(gltf, realFiles)
{
    static const struct
    {
        const char* name;
        int vertices, triangles, joints, animations, entries;
        double sum;
    } s_files[] = {
        {"gltf/Fox.glb", 1728, 576, 24, 3, 2729, 98299.665247321},
        {"gltf/MorphStressTest.glb", 1528, 2412, 0, 3, 0, 754.95246464014},
        {"gltf/RiggedSimple.glb", 160, 188, 2, 1, 192, -7.9401833829706e-05},
        {"blender-rig/rig.glb", 638, 1004, 4, 1, 1060, 1273.6214292645},
    };
    const char* folder = getenv("SINEW_DATA");
    if (folder == NULL)
        SKIP("SINEW_DATA names no folder with real files");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (size_t i = 0; i < sizeof s_files / sizeof *s_files; ++i)
    {
        snwAsset* asset = OpenData(context, folder, s_files[i].name);
        REQUIRE(asset != NULL);
        const snwAssetMesh* mesh = &asset->meshes[0];
        CHECK_INT(mesh->vertexCount, s_files[i].vertices);
        CHECK_INT(mesh->triangleCount, s_files[i].triangles);
        CHECK_INT(asset->skinCount > 0 ? asset->skins[0].jointCount : 0, s_files[i].joints);
        CHECK_INT(asset->animationCount, s_files[i].animations);
        CHECK_INT(mesh->weights.starts == NULL ? 0 : mesh->weights.starts[mesh->vertexCount], s_files[i].entries);
        CHECK_NEAR(SumOf(mesh), s_files[i].sum, 1e-12 * fabs(s_files[i].sum) + 1e-17);
        CHECK(asset->scale == (i == 0 ? 0.01 : 1)); // the fox
        snwAsset_Close(asset);
    }
    snwDestroyContext(context);
}
