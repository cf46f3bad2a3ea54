// What the glTF writer writes, seen through our reader.

#include "fixture.h"
#include "gltf_written.h"
#include "test.h"

#include "base/context.h"

#include <float.h>
#include <stdlib.h>

// snwWrittenSource and result of an addition.
static snwAsset* Add(snwContext* context, const char* name, snwAsset** source)
{
    const snwAddition* addition = snw_additions;
    while (strcmp(addition->name, name) != 0)
        addition++;
    *source = snwWritten_OpenAddition(context, addition);
    snwGltfWriter* writer = snwWritten_Open(context, *source);
    addition->add(writer);
    return snwWritten_Reopen(context, writer, snw_gltfGlb);
}

static void Forget(snwContext* context, snwAsset* source, snwAsset* result)
{
    snwAsset_Close(result);
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Passing through

TEST(gltf_write, passThroughKeepsEverything)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_sourceCount; ++i)
        for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfEmbedded; ++form)
        {
            snwAsset* source = snwWritten_OpenSource(context, &snw_writtenSources[i]);
            REQUIRE(source != NULL);
            snwAsset* again = snwWritten_Reopen(context, snwWritten_Open(context, source), form);
            REQUIRE(again != NULL);
            snwWritten_CheckSurvived(source, again, false);
            // Through it twice is through it once.
            snwAsset* third = snwWritten_Reopen(context, snwWritten_Open(context, again), form);
            REQUIRE(third != NULL);
            CHECK(json_equal(again->gltf->root, third->gltf->root));
            snwAsset_Close(third);
            snwAsset_Close(again);
            snwAsset_Close(source);
        }
    snwDestroyContext(context);
}

// A GLB may have chunks that only its maker knows.
TEST(gltf_write, unknownChunksStay)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwGltfWorld_Triangle();
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    static const char s_chunk[16] = {8, 0, 0, 0, 'X', 'Y', 'Z', '!', 1, 2, 3, 4, 5, 6, 7, 8};
    char* longer = malloc(file.size + sizeof s_chunk);
    REQUIRE(longer != NULL);
    memcpy(longer, file.data, file.size);
    memcpy(longer + file.size, s_chunk, sizeof s_chunk);
    uint32_t total = (uint32_t)(file.size + sizeof s_chunk);
    memcpy(longer + 8, &total, 4);
    snwAsset* source = snwWritten_Read(context, "chunk.glb", longer, total);
    REQUIRE(source != NULL);
    snwAsset* again = snwWritten_Reopen(context, snwWritten_Open(context, source), snw_gltfGlb);
    REQUIRE(again != NULL && again->gltf->chunkCount == 1);
    CHECK_INT(again->gltf->chunks[0].kind, 0x215A5958);
    CHECK(again->gltf->chunks[0].size == 8 && memcmp(again->gltf->chunks[0].data, s_chunk + 8, 8) == 0);
    snwAsset_Close(again);
    snwAsset_Close(source);
    free(longer);
    free(file.data);
    snwGltfWorld_Free(&world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading it back

TEST(gltf_write, morphsAreAppendedAndWhatDrivesThemWidened)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "morphs", &source);
    REQUIRE(source != NULL && result != NULL);
    CHECK_INT(json_array_size(snwWritten_At(result, "meshes/0/primitives/0/targets")), 4);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/2/POSITION", snw_wobble[0][0], 3 * snw_barVertices);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/2/NORMAL", snw_lean[0], 3 * snw_barVertices);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/3/POSITION", snw_wobble[1][0], 3 * snw_barVertices);
    CHECK(snwWritten_Int(result, "meshes/0/primitives/0/targets/1/POSITION") ==
          snwWritten_Int(source, "meshes/0/primitives/0/targets/1/POSITION"));
    CHECK(strcmp(snwWritten_Text(result, "meshes/0/extras/targetNames/1"), "tall") == 0);
    CHECK(strcmp(snwWritten_Text(result, "meshes/0/extras/targetNames/3"), "wobble -") == 0);
    CHECK_NEAR(json_number_value(snwWritten_At(result, "meshes/0/weights/0")), 0.25, 0);
    CHECK_NEAR(json_number_value(snwWritten_At(result, "meshes/0/weights/3")), 0.5, 0);
    // The source's own animation keeps its keys and holds the new targets at rest.
    static const float s_wide[12] = {0.25f, 0, 0, 0.5f, 0.5f, 1, 0, 0.5f, 0.25f, 0, 0, 0.5f};
    snwWritten_CheckFloats(result, "animations/0/samplers/3/output", s_wide, 12);
    static const float s_times[3] = {0, 1.0f / 3, 0.75f};
    snwWritten_CheckFloats(result, "animations/1/samplers/0/input", s_times, 3);
    static const float s_values[12] = {0, 0, 0, 0, 0, 0, 0, 0.1f, 0, 0, 0, 0.2f};
    snwWritten_CheckFloats(result, "animations/1/samplers/0/output", s_values, 12);
    Forget(context, source, result);
}

// Vertices that a target leaves alone cost nothing: four rows of numbers for eight targets of a vertex.
TEST(gltf_write, smallMorphsAreSparseAndReadBackExactly)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "morphs-small", &source);
    REQUIRE(source != NULL && result != NULL);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/2/POSITION", snw_small[0][0], 3 * snw_barVertices);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/2/NORMAL", snw_tilt[0], 3 * snw_barVertices);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/3/POSITION", snw_small[1][0], 3 * snw_barVertices);
    int last = result->gltf->accessorCount - 1;
    while (result->gltf->accessors[last].sparse.count == 0)
        --last;
    CHECK_INT(result->gltf->accessors[last].sparse.count, 1);
    CHECK_INT(result->gltf->accessors[last - 1].sparse.count, 3);
    CHECK_INT(result->gltf->accessors[last].component, snw_gltfShort);
    CHECK(strcmp(snwWritten_Text(result, "extensionsRequired/0"), "KHR_mesh_quantization") == 0);
    Forget(context, source, result);
}

// What was compressed stays so, with its extension; what is added is plain.
TEST(gltf_write, compressedViewsStay)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "morphs-packed", &source);
    REQUIRE(source != NULL && result != NULL);
    snwWritten_CheckSurvived(source, result, true);
    CHECK(result->gltf->views[0].compressed && result->gltf->buffers[1].fallback);
    for (int i = source->gltf->viewCount; i < result->gltf->viewCount; ++i)
        CHECK(!result->gltf->views[i].compressed && result->gltf->views[i].buffer == 0);
    static const float s_points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/attributes/POSITION", s_points, 12);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/1/POSITION", snw_wobble[1][0], 12);
    Forget(context, source, result);
}

// Two meshes driven by one sampler: only the one that grows gets another. Weights of nodes grow, too; cubic tangents
// of new targets are zero.
TEST(gltf_write, aSharedSamplerIsCopied)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwGltfWorld_Bar();
    json_t* meshes = json_object_get(world.root, "meshes");
    json_array_append_new(meshes, json_deep_copy(json_array_get(meshes, 0)));
    snwGltfWorld_Add(&world, "nodes", "{'name': 'twin', 'mesh': 1, 'weights': [0, 1]}");
    snwGltfWorld_Set(&world, "nodes/0/weights", "[1, 0]");
    static const float s_cubic[12] = {9, 9, 1, 2, 8, 8, 7, 7, 3, 4, 6, 6}, s_ends[2] = {0, 1};
    char sampler[128];
    snprintf(sampler, sizeof sampler, "{'input': %d, 'output': %d, 'interpolation': 'CUBICSPLINE'}",
        snwGltfWorld_Floats(&world, s_ends, 2, "SCALAR"), snwGltfWorld_Floats(&world, s_cubic, 12, "SCALAR"));
    snwGltfWorld_Set(&world, "animations/0/samplers/3", sampler);
    snwGltfWorld_Set(&world, "animations/0/channels/4", "{'sampler': 3, 'target': {'node': 3, 'path': 'weights'}}");
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwAsset* source = snwWritten_Read(context, "twins.glb", file.data, file.size);
    REQUIRE(source != NULL);
    snwGltfWriter* writer = snwWritten_Open(context, source);
    snwGltfMorphDef def = {.mesh = 0, .morphs = &snw_morphs[1], .morphCount = 1};
    CHECK_INT(snwGltfWriter_AddMorphs(writer, &def), 2);
    snwAsset* result = snwWritten_Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL);
    CHECK_INT(snwWritten_Int(result, "animations/0/channels/3/sampler"), 4);
    CHECK_INT(snwWritten_Int(result, "animations/0/channels/4/sampler"), 3);
    snwWritten_CheckFloats(result, "animations/0/samplers/3/output", s_cubic, 12);
    static const float s_wide[18] = {9, 9, 0, 1, 2, 0.5f, 8, 8, 0, 7, 7, 0, 3, 4, 0.5f, 6, 6, 0};
    snwWritten_CheckFloats(result, "animations/0/samplers/4/output", s_wide, 18);
    CHECK(strcmp(snwWritten_Text(result, "animations/0/samplers/4/interpolation"), "CUBICSPLINE") == 0);
    CHECK_INT(json_array_size(snwWritten_At(result, "nodes/0/weights")), 3);
    CHECK_INT(json_array_size(snwWritten_At(result, "nodes/3/weights")), 2);
    free(file.data);
    snwGltfWorld_Free(&world);
    Forget(context, source, result);
}

TEST(gltf_write, animationsReadBack)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "animation", &source);
    REQUIRE(source != NULL && result != NULL);
    snwWritten_CheckSurvived(source, result, true);
    CHECK(strcmp(snwWritten_Text(result, "animations/1/name"), "dance") == 0);
    CHECK(strcmp(snwWritten_Text(result, "animations/1/samplers/0/interpolation"), "STEP") == 0);
    CHECK(strcmp(snwWritten_Text(result, "animations/1/samplers/2/interpolation"), "CUBICSPLINE") == 0);
    CHECK(strcmp(snwWritten_Text(result, "animations/1/channels/1/target/path"), "rotation") == 0);
    CHECK_INT(snwWritten_Int(result, "animations/1/channels/1/target/node"), 2);
    // Equal times are written once.
    CHECK_INT(snwWritten_Int(result, "animations/1/samplers/0/input"),
        snwWritten_Int(result, "animations/1/samplers/2/input"));
    static const float s_unit[12] = {0, 0, 0, 1, 0, 0.6f, 0, 0.8f, 0, 0, -1, 0};
    snwWritten_CheckFloats(result, "animations/1/samplers/1/output", s_unit, 12);
    static const float s_size[18] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 0};
    snwWritten_CheckFloats(result, "animations/1/samplers/2/output", s_size, 18);
    Forget(context, source, result);
}

// glTF wants no matrix in a node that is animated.
TEST(gltf_write, aMatrixIsTakenApartBeforeItsNodeMoves)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "nodes/2/translation", NULL);
    snwGltfWorld_Set(&world, "nodes/2/matrix", "[0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1]");
    snwGltfWorld_Set(&world, "animations", NULL);
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwAsset* source = snwWritten_Read(context, "matrix.glb", file.data, file.size);
    REQUIRE(source != NULL);
    snwGltfWriter* writer = snwWritten_Open(context, source);
    snwWritten_AddAnimation(writer);
    snwAsset* result = snwWritten_Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL);
    CHECK(snwWritten_At(result, "nodes/2/matrix") == NULL);
    snwAssetPose pose = {.rotation = {0, 0, 0, 1}};
    double* q[4] = {&pose.rotation.x, &pose.rotation.y, &pose.rotation.z, &pose.rotation.w};
    for (int i = 0; i < 4; ++i)
        *q[i] = json_number_value(json_array_get(snwWritten_At(result, "nodes/2/rotation"), (size_t)i));
    double* s[3] = {&pose.scale.x, &pose.scale.y, &pose.scale.z};
    for (int i = 0; i < 3; ++i)
        *s[i] = json_number_value(json_array_get(snwWritten_At(result, "nodes/2/scale"), (size_t)i));
    snwAffine a = snwAffine_FromTrs(pose.translation, pose.rotation, pose.scale);
    static const double s_rows[3][3] = {{0, 3, 0}, {2, 0, 0}, {0, 0, 4}}; // turned over: the scale has a minus
    for (int i = 0; i < 9; ++i)
        CHECK_NEAR(a.linear.m[i / 3][i % 3], s_rows[i / 3][i % 3], 1e-12);
    CHECK_NEAR(json_number_value(snwWritten_At(result, "nodes/2/translation/1")), 6, 0);
    free(file.data);
    snwGltfWorld_Free(&world);
    Forget(context, source, result);
}

TEST(gltf_write, jointsAreAppendedAndNothingIsRenumbered)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "joints", &source);
    REQUIRE(source != NULL && result != NULL);
    static const int s_joints[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; ++i)
        CHECK_INT(json_integer_value(json_array_get(snwWritten_At(result, "skins/0/joints"), (size_t)i)), s_joints[i]);
    CHECK_INT(snwWritten_Int(result, "nodes/1/children/1"), 3);
    CHECK_INT(snwWritten_Int(result, "nodes/3/children/0"), 4);
    CHECK(strcmp(snwWritten_Text(result, "nodes/4/name"), "helper 2") == 0);
    float binds[64] = {0};
    for (int i = 0; i < 64; i += 16)
        binds[i] = binds[i + 5] = binds[i + 10] = binds[i + 15] = 1;
    binds[16 + 13] = -0.75f;
    for (int i = 0; i < 6; ++i)
        binds[32 + 16 * (i / 3) + 12 + i % 3] = (float)(i + 1);
    snwWritten_CheckFloats(result, "skins/0/inverseBindMatrices", binds, 64);
    uint32_t joints[4 * snw_barVertices];
    CHECK(snwGltf_ReadInts(
              result->gltf, snwWritten_Int(result, "meshes/0/primitives/0/attributes/JOINTS_0"), joints, NULL) >= 0);
    CHECK(joints[0] == 3 && joints[1] == 1 && joints[4 * snw_barVertices - 3] == 1);
    Forget(context, source, result);
}

TEST(gltf_write, attributesAreSetAndReplaced)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "attributes", &source);
    REQUIRE(source != NULL && result != NULL);
    CHECK(snwWritten_Int(result, "meshes/0/primitives/0/attributes/NORMAL") >= source->gltf->accessorCount);
    CHECK(snwWritten_Int(result, "meshes/0/primitives/0/attributes/POSITION") ==
          snwWritten_Int(source, "meshes/0/primitives/0/attributes/POSITION"));
    float ids[snw_barVertices], marks[3 * snw_barVertices] = {0};
    for (int i = 0; i < snw_barVertices; ++i)
        ids[i] = (float)((1 << 24) - i);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/attributes/_SNW_VERTEX", ids, snw_barVertices);
    for (int i = 0; i < 6; ++i)
        marks[i] = (float)(i + 1) / 255.0f; // normalized
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/attributes/_SNW_MARK", marks, 3 * snw_barVertices);
    CHECK(strcmp(snwWritten_Text(result, "meshes/0/name"), "renamed") == 0);
    Forget(context, source, result);
}

// ---------------------------------------------------------------------------------------------------------------------
// New meshes

TEST(gltf_write, positionsRoundTripBitByBit)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "mesh", &source);
    REQUIRE(result != NULL);
    float expected[7][3];
    for (int i = 0; i < 7; ++i)
        memcpy(expected[i], (float[3]){(float)snw_hard[i].x, (float)snw_hard[i].y, (float)snw_hard[i].z}, 12);
    CHECK(signbit(expected[0][0]) && expected[0][1] > 0 && expected[0][1] < FLT_MIN);
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/attributes/POSITION", expected[0], 12);
    snwWritten_CheckFloats(result, "meshes/0/primitives/1/attributes/POSITION", expected[4], 9);
    // Bounds are the floats themselves, and there is no -0 in the text.
    json_t* least = snwWritten_At(result, "accessors/0/min");
    CHECK(json_is_integer(json_array_get(least, 0)) && json_integer_value(json_array_get(least, 0)) == 0);
    CHECK((float)json_number_value(json_array_get(least, 1)) == -FLT_EPSILON ||
          (float)json_number_value(json_array_get(least, 1)) == (float)-1e-30);
    // Random ones through source, writer and reader again.
    uint64_t seed = 7;
    float random[999];
    for (int i = 0; i < 999; ++i)
        random[i] = (float)ldexp(snwTest_Random(&seed) - 0.5, (int)(snwTest_Random(&seed) * 60) - 30);
    snwGltfWorld world = snwGltfWorld_Triangle();
    char text[16];
    snprintf(text, sizeof text, "%d", snwGltfWorld_Floats(&world, random, 333, "VEC3"));
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/attributes/POSITION", text);
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwAsset* before = snwWritten_Read(context, "random.glb", file.data, file.size);
    REQUIRE(before != NULL);
    snwAsset* after = snwWritten_Reopen(context, snwWritten_Open(context, before), snw_gltfEmbedded);
    REQUIRE(after != NULL);
    snwWritten_CheckFloats(after, "meshes/0/primitives/0/attributes/POSITION", random, 999);
    CHECK(json_equal(snwWritten_At(before, "accessors"), snwWritten_At(after, "accessors")));
    snwAsset_Close(after);
    snwAsset_Close(before);
    free(file.data);
    snwGltfWorld_Free(&world);
    Forget(context, source, result);
}

TEST(gltf_write, meshesHaveAllTheirParts)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "mesh", &source);
    REQUIRE(result != NULL);
    int count;
    float* weights[2] = {
        snwWritten_Floats(result, snwWritten_Int(result, "meshes/0/primitives/0/attributes/WEIGHTS_0"), &count),
        snwWritten_Floats(result, snwWritten_Int(result, "meshes/0/primitives/0/attributes/WEIGHTS_1"), &count)};
    REQUIRE(weights[0] != NULL && weights[1] != NULL && count == 16);
    for (int i = 0; i < 4; ++i)
    {
        double sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += (double)weights[k / 4][4 * i + k % 4];
        CHECK_NEAR(sum, 1, 1e-7);
    }
    CHECK(weights[0][4] == (float)(1 - (double)(float)(0.1 / (0.1 + 0.2))) &&
          weights[0][5] == (float)(0.1 / (0.1 + 0.2)));
    CHECK_NEAR(weights[0][8], 0.3, 1e-7);
    CHECK(weights[1][9] > 0 && weights[1][10] == 0); // six influences: four and two
    uint32_t joints[16];
    CHECK(snwGltf_ReadInts(
              result->gltf, snwWritten_Int(result, "meshes/0/primitives/0/attributes/JOINTS_0"), joints, NULL) >= 0);
    CHECK(joints[0] == 2 && joints[4] == 1 && joints[5] == 0 && joints[8] == 0 && joints[9] == 4);
    uint32_t indices[6];
    CHECK(snwGltf_ReadInts(result->gltf, snwWritten_Int(result, "meshes/0/primitives/1/indices"), indices, NULL) >= 0);
    CHECK(indices[0] == 0 && indices[1] == 1 && indices[2] == 2);
    static const float s_offsets[9] = {4, 5, 6};
    snwWritten_CheckFloats(result, "meshes/0/primitives/1/targets/0/POSITION", s_offsets, 9);
    static const float s_colors[16] = {0, 0.5f, 1, 1, 1, 1, 1, 0};
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/attributes/COLOR_0", s_colors, 16);
    CHECK_INT(snwWritten_Int(result, "meshes/0/primitives/0/material"), 0);
    CHECK(json_is_true(snwWritten_At(result, "materials/0/doubleSided")));
    free(weights[0]);
    free(weights[1]);
    Forget(context, source, result);
}

// Where the fourth and the fifth of five bones change places nothing jumps: the surface would crease there.
TEST(gltf_write, influencesThatAreLeftOutLeaveNoCrease)
{
    enum
    {
        count = 101
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static snwVec3 s_positions[count];
    static int s_triangles[count - 2][3], s_starts[count + 1], s_bones[5 * count];
    static double s_weights[5 * count];
    for (int i = 0; i < count; ++i)
    {
        double at = 0.001 * (i - count / 2);
        s_positions[i] = (snwVec3){0.1 * i, i % 2, 0};
        memcpy(s_bones + 5 * (size_t)i, (int[]){0, 1, 2, 3, 4}, 5 * sizeof(int));
        memcpy(s_weights + 5 * (size_t)i, (double[]){0.3, 0.2, 0.2, 0.15 + at, 0.15 - at}, 5 * sizeof(double));
        s_starts[i + 1] = 5 * (i + 1);
        for (int k = 0; k < 3 && i < count - 2; ++k)
            s_triangles[i][k] = i + k;
    }
    snwAssetPart part = {"strip", "", 0, count, 0, count - 2};
    snwAssetMesh mesh = {.name = "strip",
        .positions = s_positions,
        .vertexCount = count,
        .triangles = (const int(*)[3])s_triangles,
        .triangleCount = count - 2,
        .parts = &part,
        .partCount = 1,
        .weights = {s_starts, s_bones, s_weights, 5}};
    snwGltfMeshDef def = {.mesh = &mesh, .influences = 4, .smooth = true};
    snwGltfWriter* writer = snwWritten_Open(context, NULL);
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.mesh = snwGltfWriter_AddMesh(writer, &def);
    snwGltfWriter_AddNode(writer, &node);
    snwAsset* result = snwWritten_Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL && result->meshes[0].vertexCount == count);

    const snwAssetWeights* weights = &result->meshes[0].weights;
    double rows[2][5] = {{0}};
    for (int i = 0; i < count; ++i)
    {
        double *row = rows[i % 2], jump = 0;
        memset(row, 0, sizeof rows[0]);
        for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
            row[weights->bones[k]] += weights->values[k];
        for (int k = 0; k < 5 && i > 0; ++k)
            jump += fabs(rows[0][k] - rows[1][k]) / 2;
        CHECK(jump < 0.03); // 0.18 where the smallest of five is simply dropped
    }
    Forget(context, NULL, result);
}

// Primitives that the asset leaves out still count as many targets.
TEST(gltf_write, partsThatAreLeftOutGetStillTargets)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwGltfWorld_Triangle();
    json_t* primitives = snwGltfWorld_Get(&world, "meshes/0/primitives");
    json_array_append_new(primitives, json_deep_copy(json_array_get(primitives, 0)));
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwAsset* source = snwWritten_Read(context, "parts.glb", file.data, file.size);
    REQUIRE(source != NULL);
    snwAssetPart parts[2] = {{"", "", 0, 0, 0, 0}, {"", "", 1, 3, 0, 1}};
    snwGltfWriter* writer = snwWritten_Open(context, source);
    snwGltfMorphDef def = {.mesh = 0, .morphs = snw_morphs, .morphCount = 1, .parts = parts};
    CHECK_INT(snwGltfWriter_AddMorphs(writer, &def), 0);
    snwAsset* result = snwWritten_Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL);
    static const float s_zeros[9] = {0};
    snwWritten_CheckFloats(result, "meshes/0/primitives/0/targets/0/POSITION", s_zeros, 9);
    snwWritten_CheckFloats(result, "meshes/0/primitives/1/targets/0/POSITION", snw_wobble[0][1], 9);
    free(file.data);
    snwGltfWorld_Free(&world);
    Forget(context, source, result);
}

// ---------------------------------------------------------------------------------------------------------------------
// What would be invalid is refused, and the first failure is told

static void AddNan(snwGltfWriter* writer)
{
    float values[3] = {0, NAN, 1};
    snwGltfData data = {values, 1, snw_gltfVec3, snw_gltfFloat, .use = snw_gltfOther};
    CHECK_INT(snwGltfWriter_AddAccessor(writer, &data), -1);
}

static void AnimateWith(snwGltfWriter* writer, int node, snwAssetPath path, const double* times, const double* values)
{
    snwAssetChannel channel = {node, path, snw_assetLinear, times, 2, path == snw_pathRotation ? 4 : 3, values};
    snwAssetAnimation animation = {.name = "", .channels = &channel, .channelCount = 1};
    CHECK_INT(snwGltfWriter_AddAnimation(writer, &animation), -1);
}

static const double s_rising[2] = {0, 1}, s_zeros[8] = {0};

static void AddTimesThatMeet(snwGltfWriter* writer)
{
    AnimateWith(writer, 0, snw_pathTranslation, (double[]){1000, 1000.00001}, s_zeros); // one float
}

static void AddTimesBeforeZero(snwGltfWriter* writer)
{
    AnimateWith(writer, 0, snw_pathTranslation, (double[]){-1, 1}, s_zeros);
}

static void AddZeroRotation(snwGltfWriter* writer)
{
    AnimateWith(writer, 0, snw_pathRotation, s_rising, s_zeros);
}

static void AddForNobody(snwGltfWriter* writer)
{
    AnimateWith(writer, 99, snw_pathTranslation, s_rising, s_zeros);
}

static void AddMorphsThatAreNotThere(snwGltfWriter* writer)
{
    AnimateWith(writer, 0, snw_pathMorphs, s_rising, s_zeros); // three for two
}

static void AddTwoChannels(snwGltfWriter* writer)
{
    snwAssetChannel channel = {0, snw_pathTranslation, snw_assetLinear, s_rising, 2, 3, s_zeros};
    snwAssetChannel twice[2] = {channel, channel};
    snwAssetAnimation animation = {.name = "", .channels = twice, .channelCount = 2};
    CHECK_INT(snwGltfWriter_AddAnimation(writer, &animation), -1);
}

static void AddJointTwice(snwGltfWriter* writer)
{
    int node = 2;
    snwAffine bind = {.linear = snwMat3_Identity()};
    snwAssetSkin more = {.joints = &node, .inverseBinds = &bind, .jointCount = 1, .root = -1};
    snwGltfWriter_AddJoints(writer, 0, &more);
}

static void AddShortAttribute(snwGltfWriter* writer)
{
    float values[3] = {0, 1, 0};
    snwGltfData data = {values, 1, snw_gltfVec3, snw_gltfFloat, .use = snw_gltfVertices};
    snwGltfWriter_SetAttribute(writer, 0, 0, "NORMAL", snwGltfWriter_AddAccessor(writer, &data));
}

static void AddHugeId(snwGltfWriter* writer)
{
    int ids[snw_barVertices] = {(1 << 24) + 1};
    snwGltfWriter_SetVertexIds(writer, 0, 0, ids, snw_barVertices);
}

TEST(gltf_write, refusesWhatWouldBeInvalid)
{
    static const struct
    {
        void (*add)(snwGltfWriter* writer);
        const char* words;
    } s_cases[] = {{AddNan, "not finite"}, {AddTimesThatMeet, "do not rise"}, {AddTimesBeforeZero, "do not rise"},
        {AddZeroRotation, "not finite"}, {AddForNobody, "no nodes[99]"}, {AddMorphsThatAreNotThere, "which has 2"},
        {AddTwoChannels, "two channels"}, {AddJointTwice, "twice"}, {AddShortAttribute, "one element per vertex"},
        {AddHugeId, "2^24"}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* source = snwWritten_OpenSource(context, &snw_writtenSources[snw_sourceBar]);
    REQUIRE(source != NULL);
    for (size_t i = 0; i < sizeof s_cases / sizeof s_cases[0]; ++i)
    {
        snwGltfWriter* writer = snwWritten_Open(context, source);
        s_cases[i].add(writer);
        snwMessage message = {0};
        CHECK_INT(snwGltfWriter_GetResult(writer, &message), snw_errorArgument);
        CHECK_CONTAINS(message.text, s_cases[i].words);
        snwWritten_AddMorphs(writer); // does nothing any more
        unsigned char* data;
        size_t size;
        snwMessage same = {0};
        CHECK_INT(snwGltfWriter_Write(writer, snw_gltfGlb, &data, &size, &same), snw_errorArgument);
        CHECK(strcmp(same.text, message.text) == 0 && data == NULL);
        snwGltfWriter_Close(writer);
    }
    snwAsset_Close(source);
    snwDestroyContext(context);
}

TEST(gltf_write, everyFailedAllocationIsAnErrorWithoutLeak)
{
    for (int i = 0; i < snw_additionCount; ++i)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwAsset* source = snwWritten_OpenAddition(context, &snw_additions[i]);
        snwResult result = snw_errorMemory;
        long live = counter.live, failures = 0;
        for (int n = 1; n < 5000 && result < 0; ++n)
        {
            counter.failAt = counter.allocations + n;
            snwGltfWriter* writer = NULL;
            unsigned char* data = NULL;
            size_t size;
            result = snwGltfWriter_Open(context, source == NULL ? NULL : source->gltf, &writer, NULL);
            if (writer != NULL)
            {
                snw_additions[i].add(writer);
                result = snwGltfWriter_Write(writer, snw_gltfEmbedded, &data, &size, NULL);
            }
            failures += result == snw_errorMemory;
            CHECK(result == snw_ok || result == snw_errorMemory);
            CHECK((data != NULL) == (result == snw_ok));
            snwGltfWriter_Close(writer);
            snwFree(context, data);
            CHECK_INT(counter.live, live);
        }
        CHECK(result == snw_ok && failures > 10);
        counter.failAt = 0;
        snwAsset_Close(source);
        snwDestroyContext(context);
    }
}

TEST(gltf_write, sameBytesEveryTime)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_additionCount; ++i)
    {
        unsigned char* data[3] = {NULL};
        size_t size[3] = {0};
        snwAsset* source = snwWritten_OpenAddition(context, &snw_additions[i]);
        for (int k = 0; k < 2; ++k)
        {
            snwGltfWriter* writer = snwWritten_Open(context, source);
            snw_additions[i].add(writer);
            CHECK(snwGltfWriter_Write(writer, snw_gltfGlb, &data[k], &size[k], NULL) == snw_ok);
            unsigned char* other;
            size_t otherSize;
            CHECK(snwGltfWriter_Write(writer, snw_gltfEmbedded, &other, &otherSize, NULL) == snw_ok);
            snwFree(context, other);
            if (k == 1) // another form between does not change it
                CHECK(snwGltfWriter_Write(writer, snw_gltfGlb, &data[2], &size[2], NULL) == snw_ok);
            snwGltfWriter_Close(writer);
        }
        CHECK(size[0] == size[1] && memcmp(data[0], data[1], size[0]) == 0);
        CHECK(size[0] == size[2] && memcmp(data[0], data[2], size[0]) == 0);
        CHECK(size[0] % 4 == 0);
        for (int k = 0; k < 3; ++k)
            snwFree(context, data[k]);
        snwAsset_Close(source);
    }
    snwDestroyContext(context);
}
