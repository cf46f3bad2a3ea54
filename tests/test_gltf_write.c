// What the glTF writer writes, seen through our reader and through Khronos' validator.

#include "fixture.h"
#include "gltf_world.h"
#include "io_shim.h"
#include "process.h"
#include "test.h"
#include "validator.h"

#include "asset/gltf_write.h"
#include "base/context.h"
#include "scene/blueprint_file.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Documents

static snwAsset* ReadBytes(snwContext* context, const char* name, const void* data, size_t size)
{
    char* copy = malloc(size + 1); // a zero follows
    if (copy == NULL)
        return NULL;
    memcpy(copy, data, size);
    copy[size] = 0;
    snwMessage message = {0};
    snwAssetInput input = {name, copy, size, NULL};
    snwAsset* asset = NULL;
    if (snwAsset_Read(context, &input, &asset, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s: %s", name, message.place, message.text);
    free(copy);
    return asset;
}

static json_t* At(const snwAsset* asset, const char* path)
{
    snwGltfWorld world = {.root = asset->gltf->root};
    return snwGltfWorld_Get(&world, path);
}

static int IntAt(const snwAsset* asset, const char* path)
{
    json_t* value = At(asset, path);
    return json_is_integer(value) ? (int)json_integer_value(value) : -1;
}

static const char* TextAt(const snwAsset* asset, const char* path)
{
    const char* text = json_string_value(At(asset, path));
    return text == NULL ? "" : text;
}

// The numbers of an accessor; free() them.
static float* FloatsOf(const snwAsset* asset, int accessor, int* count)
{
    *count = 0;
    if (accessor < 0 || accessor >= asset->gltf->accessorCount)
        return NULL;
    const snwGltfAccessor* a = &asset->gltf->accessors[accessor];
    *count = a->count * snwGltfType_Width(a->type);
    float* values = malloc((size_t)*count * sizeof *values);
    if (values != NULL && snwGltf_ReadFloats(asset->gltf, accessor, values, NULL, NULL) < 0)
        snwTest_Fail(__FILE__, __LINE__, "accessor %d cannot be read", accessor);
    return values;
}

static void CheckFloats(const snwAsset* asset, const char* path, const float* expected, int count)
{
    int found;
    float* values = FloatsOf(asset, IntAt(asset, path), &found);
    if (found != count || memcmp(values, expected, (size_t)count * sizeof *values) != 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %d numbers, expected %d others", path, found, count);
    free(values);
}

// With everything that a writer might lose.
static snwGltfWorld RichWorld(void)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "asset/generator", "'Somebody 1.2'");
    snwGltfWorld_Set(&world, "asset/extras", "{'mood': [1.0, 2, -0.0, 1e-7, {'deep': null}]}");
    snwGltfWorld_Set(&world, "extensionsUsed", "['KHR_lights_punctual', 'ACME_unheard_of']");
    snwGltfWorld_Set(&world, "extensions",
        "{'KHR_lights_punctual': {'lights': [{'type': 'point', 'intensity': 20.5, 'name': 'lamp'}]}, "
        "'ACME_unheard_of': {'buffer': 0, 'nodes': [2, 1], 'big': 9007199254740993}}");
    snwGltfWorld_Add(&world, "cameras", "{'type': 'perspective', 'perspective': {'yfov': 0.7, 'znear': 0.01}}");
    snwGltfWorld_Add(&world, "nodes", "{'name': 'eye', 'camera': 0, 'translation': [0, 1, 3]}");
    snwGltfWorld_Add(&world, "nodes", "{'name': 'lamp', 'extensions': {'KHR_lights_punctual': {'light': 0}}}");
    snwGltfWorld_Set(&world, "scenes/0/nodes/2", "3");
    snwGltfWorld_Set(&world, "scenes/0/nodes/3", "4");
    static const unsigned char s_picture[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0,
        0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, 'I', 'D', 'A', 'T', 0x78, 0xda, 0x63,
        0xfc, 0xcf, 0xc0, 0x50, 0x0f, 0, 4, 0x85, 1, 0x80, 0x84, 0xa9, 0x8c, 0x21, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae,
        0x42, 0x60, 0x82};
    int view = snwGltfWorld_View(&world, s_picture, sizeof s_picture);
    snwGltfWorld_Add(&world, "images", "{'mimeType': 'image/png', 'bufferView': %d}", view);
    snwGltfWorld_Add(&world, "textures", "{'source': 0}");
    snwGltfWorld_Set(&world, "materials/0/pbrMetallicRoughness/baseColorTexture", "{'index': 0}");
    snwGltfWorld_Set(&world, "buffers",
        "[{}, {'byteLength': 3, 'uri': 'data:application/octet-stream;base64,AQID', 'name': 'second'}]");
    int second = snwGltfWorld_Add(&world, "bufferViews", "{'buffer': 1, 'byteLength': 2, 'byteOffset': 1}");
    snwGltfWorld_Add(&world, "accessors",
        "{'bufferView': %d, 'componentType': 5121, 'count': 2, 'type': 'SCALAR', 'extras': 'kept'}", second);
    return world;
}

static snwGltfWorld PackedWorld(void)
{
    static const float s_points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    snwGltfWorld world = snwGltfWorld_Empty();
    snwGltfPacked packed = {s_points, 4, 12, "ATTRIBUTES", "NONE"};
    int view = snwGltfWorld_Packed(&world, &packed);
    int points = snwGltfWorld_Add(&world, "accessors",
        "{'bufferView': %d, 'componentType': 5126, 'count': 4, 'type': 'VEC3', 'min': [0, 0, 0], 'max': [1, 1, 1]}",
        view);
    static const uint16_t s_indices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    int indices = snwGltfWorld_Accessor(&world, s_indices, 12, 5123, "SCALAR");
    snwGltfWorld_Add(
        &world, "meshes", "{'primitives': [{'attributes': {'POSITION': %d}, 'indices': %d}]}", points, indices);
    snwGltfWorld_Add(&world, "nodes", "{'mesh': 0}");
    snwGltfWorld_Add(&world, "scenes", "{'nodes': [0]}");
    snwGltfWorld_Set(
        &world, "buffers", "[{}, {'byteLength': 48, 'extensions': {'EXT_meshopt_compression': {'fallback': true}}}]");
    snwGltfWorld_Set(&world, "extensionsUsed", "['EXT_meshopt_compression']");
    snwGltfWorld_Set(&world, "extensionsRequired", "['EXT_meshopt_compression']");
    return world;
}

typedef struct Source
{
    const char* name;
    snwGltfWorld (*make)(void);
    snwGltfBytes (*file)(const snwGltfWorld* world);
    bool reported; // the validator finds faults in the source itself, or does not know what it uses
} Source;

static const Source s_sources[] = {
    {"triangle.glb", snwGltfWorld_Triangle, snwGltfWorld_Glb, false},
    {"triangle.gltf", snwGltfWorld_Triangle, snwGltfWorld_Embedded, false},
    {"bar.glb", snwGltfWorld_Bar, snwGltfWorld_Glb, false},
    {"bar.gltf", snwGltfWorld_Bar, snwGltfWorld_Embedded, false},
    {"rich.glb", RichWorld, snwGltfWorld_Glb, false},
    {"rich.gltf", RichWorld, snwGltfWorld_Embedded, false},
    {"packed.glb", PackedWorld, snwGltfWorld_Glb, true},
};

enum
{
    snw_sourceCount = sizeof s_sources / sizeof s_sources[0]
};

static snwAsset* OpenSource(snwContext* context, const Source* source)
{
    snwGltfWorld world = source->make();
    snwGltfBytes file = source->file(&world);
    snwAsset* asset = ReadBytes(context, source->name, file.data, file.size);
    free(file.data);
    snwGltfWorld_Free(&world);
    return asset;
}

// Writes and reads back; the writer is closed.
static snwAsset* Reopen(snwContext* context, snwGltfWriter* writer, snwGltfForm form)
{
    unsigned char* data = NULL;
    size_t size = 0;
    snwMessage message = {0};
    if (snwGltfWriter_Write(writer, form, &data, &size, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    snwAsset* asset = data == NULL ? NULL
                                   : ReadBytes(context, form == snw_gltfGlb ? "again.glb" : "again.gltf", data, size);
    snwFree(context, data);
    snwGltfWriter_Close(writer);
    return asset;
}

static snwGltfWriter* OpenWriter(snwContext* context, const snwAsset* asset)
{
    snwGltfWriter* writer = NULL;
    snwMessage message = {0};
    if (snwGltfWriter_Open(context, asset == NULL ? NULL : asset->gltf, &writer, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    return writer;
}

// ---------------------------------------------------------------------------------------------------------------------
// Passing through

static bool SameWithin(const json_t* a, const json_t* b, bool atEnd);

// Keys in the same order, with the same values; with atEnd, b may have more behind them.
static bool SameObject(const json_t* a, const json_t* b, bool atEnd)
{
    json_t *x = (json_t*)(uintptr_t)a, *y = (json_t*)(uintptr_t)b;
    void *i = json_object_iter(x), *j = json_object_iter(y);
    for (; i != NULL; i = json_object_iter_next(x, i), j = json_object_iter_next(y, j))
    {
        if (j == NULL || strcmp(json_object_iter_key(i), json_object_iter_key(j)) != 0)
            return false;
        if (!SameWithin(json_object_iter_value(i), json_object_iter_value(j), atEnd))
        {
            printf("differs: %s\n", json_object_iter_key(i));
            return false;
        }
    }
    return atEnd || j == NULL;
}

static bool SameWithin(const json_t* a, const json_t* b, bool atEnd)
{
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_object(a))
        return SameObject(a, b, atEnd);
    if (!json_is_array(a))
        return json_equal(a, b) && (!json_is_real(a) || signbit(json_real_value(a)) == signbit(json_real_value(b)));
    size_t count = json_array_size(a);
    if (json_array_size(b) < count || (!atEnd && json_array_size(b) != count))
        return false;
    for (size_t i = 0; i < count; ++i)
        if (!SameWithin(json_array_get(a, i), json_array_get(b, i), atEnd))
            return false;
    return true;
}

// A copy of the document without what the writer must change.
static json_t* Stripped(const snwAsset* asset)
{
    json_t *root = json_deep_copy(asset->gltf->root), *buffer;
    size_t i;
    json_object_del(json_object_get(root, "asset"), "generator");
    json_array_foreach(json_object_get(root, "buffers"), i, buffer)
    {
        json_object_del(buffer, "uri");
        json_object_del(buffer, "byteLength");
    }
    return root;
}

// Everything of a is in b: JSON, and each buffer as the first bytes of b's.
static void CheckSurvived(const snwAsset* a, const snwAsset* b, bool atEnd)
{
    json_t *x = Stripped(a), *y = Stripped(b);
    CHECK(SameWithin(x, y, atEnd));
    json_decref(x);
    json_decref(y);
    REQUIRE(b->gltf->bufferCount >= a->gltf->bufferCount);
    for (int i = 0; i < a->gltf->bufferCount; ++i)
    {
        const snwGltfBuffer *from = &a->gltf->buffers[i], *to = &b->gltf->buffers[i];
        CHECK(atEnd ? to->size >= from->size : to->size == from->size);
        CHECK((from->data == NULL) == (to->data == NULL));
        CHECK(from->data == NULL || memcmp(from->data, to->data, from->size) == 0);
    }
    const char* generator = TextAt(b, "asset/generator");
    CHECK(strncmp(generator, TextAt(a, "asset/generator"), strlen(TextAt(a, "asset/generator"))) == 0);
    CHECK_CONTAINS(generator, "Sinew ");
}

TEST(gltf_write, passThroughKeepsEverything)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < snw_sourceCount; ++i)
        for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfEmbedded; ++form)
        {
            snwAsset* source = OpenSource(context, &s_sources[i]);
            REQUIRE(source != NULL);
            snwAsset* again = Reopen(context, OpenWriter(context, source), form);
            REQUIRE(again != NULL);
            CheckSurvived(source, again, false);
            // Through it twice is through it once.
            snwAsset* third = Reopen(context, OpenWriter(context, again), form);
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
    snwAsset* source = ReadBytes(context, "chunk.glb", longer, total);
    REQUIRE(source != NULL);
    snwAsset* again = Reopen(context, OpenWriter(context, source), snw_gltfGlb);
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
// What may be appended. Each addition is a function, so that the same one is read back, validated, and starved of
// memory.

static const float s_wobble[2][snw_barVertices][3] = {
    {{0.01f, -0.02f, 0.3f}, {-0.0f, 1e-20f, -1}}, {{1.0f / 3, 0, 0}, {0, -7, 0}, {0, 0, 1e-8f}}};
static const float s_lean[snw_barVertices][3] = {{0, 0.1f, 0}, {0.1f, 0, 0}};
static const snwAssetMorph s_morphs[2] = {{"wobble +", s_wobble[0], s_lean, 0}, {"wobble -", s_wobble[1], NULL, 0.5}};

// Morphs, and an animation of them; weights: targets the mesh has in all.
static void AddMorphAnimation(snwGltfWriter* writer)
{
    snwGltfMorphDef def = {.mesh = 0, .morphs = s_morphs, .morphCount = 2};
    int first = snwGltfWriter_AddMorphs(writer, &def), width = first + 2;
    double times[3] = {0, 1.0 / 3, 0.75}, values[12] = {0};
    for (int i = 0; i < 3; ++i)
        values[i * width + width - 1] = 0.1 * i;
    snwAssetChannel channel = {0, snw_pathMorphs, snw_assetLinear, times, 3, width, values};
    snwAssetAnimation animation = {.name = "wobble", .channels = &channel, .channelCount = 1};
    if (first >= 0)
        snwGltfWriter_AddAnimation(writer, &animation);
}

static const double s_turn[3][4] = {{0, 0, 0, 2}, {0, 0.6, 0, 0.8}, {0, 0, -1, 0}};

static void AddNodeAnimation(snwGltfWriter* writer)
{
    static const double s_times[2] = {0.25, 0.5}, s_three[3] = {0, 1, 2};
    static const double s_move[6] = {0, 0, 0, 1, 2, 3};
    static const double s_size[18] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 0};
    snwAssetChannel channels[3] = {{1, snw_pathTranslation, snw_assetStep, s_times, 2, 3, s_move},
        {2, snw_pathRotation, snw_assetLinear, s_three, 3, 4, s_turn[0]},
        {2, snw_pathScale, snw_assetCubic, s_times, 2, 3, s_size}};
    snwAssetAnimation animation = {.name = "dance", .channels = channels, .channelCount = 3};
    snwGltfWriter_AddAnimation(writer, &animation);
}

static void AddHelperJoints(snwGltfWriter* writer)
{
    snwGltfNodeDef def = snwDefaultGltfNodeDef();
    def.name = "helper";
    def.parent = 1;
    def.pose.translation = (snwVec3){0.5, 0.25, 0};
    def.pose.rotation = (snwQuat){0, 0, 0.6, 0.8};
    int nodes[2] = {snwGltfWriter_AddNode(writer, &def), 0};
    def.name = "helper 2";
    def.parent = nodes[0];
    nodes[1] = snwGltfWriter_AddNode(writer, &def);
    snwAffine binds[2] = {{snwMat3_Identity(), {1, 2, 3}}, {snwMat3_Identity(), {4, 5, 6}}};
    snwAssetSkin more = {.joints = nodes, .inverseBinds = binds, .jointCount = 2, .root = -1};
    snwGltfWriter_AddJoints(writer, 0, &more);
    uint8_t joints[snw_barVertices][4] = {{0}};
    float weights[snw_barVertices][4] = {{0}};
    for (int i = 0; i < snw_barVertices; ++i)
    {
        memcpy(joints[i], (uint8_t[4]){3, 1, 0, 0}, 4);
        memcpy(weights[i], (float[4]){0.5f, 0.5f, 0, 0}, 16);
    }
    snwGltfData data = {joints, snw_barVertices, snw_gltfVec4, snw_gltfUbyte, .use = snw_gltfVertices};
    snwGltfWriter_SetAttribute(writer, 0, 0, "JOINTS_0", snwGltfWriter_AddAccessor(writer, &data));
    data = (snwGltfData){weights, snw_barVertices, snw_gltfVec4, snw_gltfFloat, .use = snw_gltfVertices};
    snwGltfWriter_SetAttribute(writer, 0, 0, "WEIGHTS_0", snwGltfWriter_AddAccessor(writer, &data));
}

static void AddAttributes(snwGltfWriter* writer)
{
    float normals[snw_barVertices][3];
    int ids[snw_barVertices];
    uint8_t marks[snw_barVertices][3] = {{1, 2, 3}, {4, 5, 6}};
    for (int i = 0; i < snw_barVertices; ++i)
    {
        memcpy(normals[i], (float[3]){0, 1, 0}, sizeof normals[i]);
        ids[i] = (1 << 24) - i;
    }
    snwGltfData data = {normals, snw_barVertices, snw_gltfVec3, snw_gltfFloat, .use = snw_gltfVertices};
    snwGltfWriter_SetAttribute(writer, 0, 0, "NORMAL", snwGltfWriter_AddAccessor(writer, &data));
    snwGltfWriter_SetVertexIds(writer, 0, 0, ids, snw_barVertices);
    data = (snwGltfData){marks, snw_barVertices, snw_gltfVec3, snw_gltfUbyte, true, .use = snw_gltfVertices};
    snwGltfWriter_SetAttribute(writer, 0, 0, "_SNW_MARK", snwGltfWriter_AddAccessor(writer, &data));
    snwGltfWriter_Rename(writer, "meshes", 0, "renamed");
}

// A mesh of two parts with all that a mesh may have, from numbers that are hard on round trips.
static const snwVec3 s_hard[7] = {{-0.0, FLT_MIN / 4, 1}, {0.1f, -FLT_EPSILON, 16777217}, {1e30, -1e-30, 0.3333333f},
    {5, 6, 7}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};

static void AddNewMesh(snwGltfWriter* writer)
{
    static const float s_normals[7][3] = {{0, 0, 2}, {0, 0, 0}, {1, 1, 1}, {0, 3, 0}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    static const float s_texcoords[7][2] = {{0, 0}, {0.5f, 1}};
    static const float s_colors[7][4] = {{0, 0.5f, 2, 1}, {1, 1, 1, -1}};
    static const int s_triangles[3][3] = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}};
    static const snwAssetPart s_parts[2] = {{"one", "", 0, 4, 0, 2}, {"two", "", 4, 3, 2, 1}};
    static const int s_starts[8] = {0, 1, 3, 9, 9, 10, 11, 12}, s_bones[12] = {2, 0, 1, 0, 1, 2, 3, 4, 5, 1, 1, 1};
    static const double s_values[12] = {3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.05, 0.25, 0.1, 1, 1, 1};
    static const float s_offsets[7][3] = {{1, 2, 3}, {0}, {0}, {0}, {4, 5, 6}};
    static const snwAssetMorph s_one = {"one", s_offsets, NULL, 0.25};
    snwAssetMesh mesh = {.name = "new",
        .positions = s_hard,
        .vertexCount = 7,
        .normals = s_normals,
        .texcoords = s_texcoords,
        .colors = s_colors,
        .triangles = s_triangles,
        .triangleCount = 3,
        .parts = s_parts,
        .partCount = 2,
        .weights = {s_starts, s_bones, s_values, 6},
        .morphs = &s_one,
        .morphCount = 1};
    snwGltfMaterialDef look = snwDefaultGltfMaterialDef();
    look.name = "green";
    look.doubleSided = true;
    int materials[2] = {snwGltfWriter_AddMaterial(writer, &look), -1};
    snwGltfMeshDef def = {&mesh, materials, 8};
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.mesh = snwGltfWriter_AddMesh(writer, &def);
    int joints[6];
    snwAffine binds[6];
    snwGltfNodeDef bone = snwDefaultGltfNodeDef();
    for (int i = 0; i < 6; ++i)
    {
        bone.name = "bone";
        bone.parent = i == 0 ? -1 : joints[0];
        joints[i] = snwGltfWriter_AddNode(writer, &bone);
        binds[i] = (snwAffine){snwMat3_Identity(), {0, 0, i}};
    }
    snwAssetSkin skin = {.name = "rig", .joints = joints, .inverseBinds = binds, .jointCount = 6, .root = joints[0]};
    node.skin = snwGltfWriter_AddSkin(writer, &skin);
    node.name = "body";
    snwGltfWriter_AddNode(writer, &node);
}

typedef struct Addition
{
    const char* name;
    snwGltfWorld (*make)(void); // NULL: into a new document
    void (*add)(snwGltfWriter* writer);
} Addition;

static const Addition s_additions[] = {
    {"morphs", snwGltfWorld_Bar, AddMorphAnimation},
    {"morphs-rich", RichWorld, AddMorphAnimation},
    {"animation", snwGltfWorld_Bar, AddNodeAnimation},
    {"joints", snwGltfWorld_Bar, AddHelperJoints},
    {"attributes", snwGltfWorld_Bar, AddAttributes},
    {"mesh", NULL, AddNewMesh},
    {"mesh-rich", RichWorld, AddNewMesh},
};

enum
{
    snw_additionCount = sizeof s_additions / sizeof s_additions[0]
};

static snwAsset* OpenAddition(snwContext* context, const Addition* addition)
{
    Source source = {"source.glb", addition->make, snwGltfWorld_Glb, false};
    return addition->make == NULL ? NULL : OpenSource(context, &source);
}

// Source and result of an addition.
static snwAsset* Add(snwContext* context, const char* name, snwAsset** source)
{
    const Addition* addition = s_additions;
    while (strcmp(addition->name, name) != 0)
        addition++;
    *source = OpenAddition(context, addition);
    snwGltfWriter* writer = OpenWriter(context, *source);
    addition->add(writer);
    return Reopen(context, writer, snw_gltfGlb);
}

static void Forget(snwContext* context, snwAsset* source, snwAsset* result)
{
    snwAsset_Close(result);
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading it back

TEST(gltf_write, morphsAreAppendedAndWhatDrivesThemWidened)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "morphs", &source);
    REQUIRE(source != NULL && result != NULL);
    CHECK_INT(json_array_size(At(result, "meshes/0/primitives/0/targets")), 4);
    CheckFloats(result, "meshes/0/primitives/0/targets/2/POSITION", s_wobble[0][0], 3 * snw_barVertices);
    CheckFloats(result, "meshes/0/primitives/0/targets/2/NORMAL", s_lean[0], 3 * snw_barVertices);
    CheckFloats(result, "meshes/0/primitives/0/targets/3/POSITION", s_wobble[1][0], 3 * snw_barVertices);
    CHECK(IntAt(result, "meshes/0/primitives/0/targets/1/POSITION") ==
          IntAt(source, "meshes/0/primitives/0/targets/1/POSITION"));
    CHECK(strcmp(TextAt(result, "meshes/0/extras/targetNames/1"), "tall") == 0);
    CHECK(strcmp(TextAt(result, "meshes/0/extras/targetNames/3"), "wobble -") == 0);
    CHECK_NEAR(json_number_value(At(result, "meshes/0/weights/0")), 0.25, 0);
    CHECK_NEAR(json_number_value(At(result, "meshes/0/weights/3")), 0.5, 0);
    // The source's own animation keeps its keys and holds the new targets at rest.
    static const float s_wide[12] = {0.25f, 0, 0, 0.5f, 0.5f, 1, 0, 0.5f, 0.25f, 0, 0, 0.5f};
    CheckFloats(result, "animations/0/samplers/3/output", s_wide, 12);
    static const float s_times[3] = {0, 1.0f / 3, 0.75f};
    CheckFloats(result, "animations/1/samplers/0/input", s_times, 3);
    static const float s_values[12] = {0, 0, 0, 0, 0, 0, 0, 0.1f, 0, 0, 0, 0.2f};
    CheckFloats(result, "animations/1/samplers/0/output", s_values, 12);
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
    snwAsset* source = ReadBytes(context, "twins.glb", file.data, file.size);
    REQUIRE(source != NULL);
    snwGltfWriter* writer = OpenWriter(context, source);
    snwGltfMorphDef def = {.mesh = 0, .morphs = &s_morphs[1], .morphCount = 1};
    CHECK_INT(snwGltfWriter_AddMorphs(writer, &def), 2);
    snwAsset* result = Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL);
    CHECK_INT(IntAt(result, "animations/0/channels/3/sampler"), 4);
    CHECK_INT(IntAt(result, "animations/0/channels/4/sampler"), 3);
    CheckFloats(result, "animations/0/samplers/3/output", s_cubic, 12);
    static const float s_wide[18] = {9, 9, 0, 1, 2, 0.5f, 8, 8, 0, 7, 7, 0, 3, 4, 0.5f, 6, 6, 0};
    CheckFloats(result, "animations/0/samplers/4/output", s_wide, 18);
    CHECK(strcmp(TextAt(result, "animations/0/samplers/4/interpolation"), "CUBICSPLINE") == 0);
    CHECK_INT(json_array_size(At(result, "nodes/0/weights")), 3);
    CHECK_INT(json_array_size(At(result, "nodes/3/weights")), 2);
    free(file.data);
    snwGltfWorld_Free(&world);
    Forget(context, source, result);
}

TEST(gltf_write, animationsReadBack)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "animation", &source);
    REQUIRE(source != NULL && result != NULL);
    CheckSurvived(source, result, true);
    CHECK(strcmp(TextAt(result, "animations/1/name"), "dance") == 0);
    CHECK(strcmp(TextAt(result, "animations/1/samplers/0/interpolation"), "STEP") == 0);
    CHECK(strcmp(TextAt(result, "animations/1/samplers/2/interpolation"), "CUBICSPLINE") == 0);
    CHECK(strcmp(TextAt(result, "animations/1/channels/1/target/path"), "rotation") == 0);
    CHECK_INT(IntAt(result, "animations/1/channels/1/target/node"), 2);
    // Equal times are written once.
    CHECK_INT(IntAt(result, "animations/1/samplers/0/input"), IntAt(result, "animations/1/samplers/2/input"));
    static const float s_unit[12] = {0, 0, 0, 1, 0, 0.6f, 0, 0.8f, 0, 0, -1, 0};
    CheckFloats(result, "animations/1/samplers/1/output", s_unit, 12);
    static const float s_size[18] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 0};
    CheckFloats(result, "animations/1/samplers/2/output", s_size, 18);
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
    snwAsset* source = ReadBytes(context, "matrix.glb", file.data, file.size);
    REQUIRE(source != NULL);
    snwGltfWriter* writer = OpenWriter(context, source);
    AddNodeAnimation(writer);
    snwAsset* result = Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL);
    CHECK(At(result, "nodes/2/matrix") == NULL);
    snwAssetPose pose = {.rotation = {0, 0, 0, 1}};
    double* q[4] = {&pose.rotation.x, &pose.rotation.y, &pose.rotation.z, &pose.rotation.w};
    for (int i = 0; i < 4; ++i)
        *q[i] = json_number_value(json_array_get(At(result, "nodes/2/rotation"), (size_t)i));
    double* s[3] = {&pose.scale.x, &pose.scale.y, &pose.scale.z};
    for (int i = 0; i < 3; ++i)
        *s[i] = json_number_value(json_array_get(At(result, "nodes/2/scale"), (size_t)i));
    snwAffine a = snwAffine_FromTrs(pose.translation, pose.rotation, pose.scale);
    static const double s_rows[3][3] = {{0, 3, 0}, {2, 0, 0}, {0, 0, 4}}; // turned over: the scale has a minus
    for (int i = 0; i < 9; ++i)
        CHECK_NEAR(a.linear.m[i / 3][i % 3], s_rows[i / 3][i % 3], 1e-12);
    CHECK_NEAR(json_number_value(At(result, "nodes/2/translation/1")), 6, 0);
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
        CHECK_INT(json_integer_value(json_array_get(At(result, "skins/0/joints"), (size_t)i)), s_joints[i]);
    CHECK_INT(IntAt(result, "nodes/1/children/1"), 3);
    CHECK_INT(IntAt(result, "nodes/3/children/0"), 4);
    CHECK(strcmp(TextAt(result, "nodes/4/name"), "helper 2") == 0);
    float binds[64] = {0};
    for (int i = 0; i < 64; i += 16)
        binds[i] = binds[i + 5] = binds[i + 10] = binds[i + 15] = 1;
    binds[16 + 13] = -0.75f;
    for (int i = 0; i < 6; ++i)
        binds[32 + 16 * (i / 3) + 12 + i % 3] = (float)(i + 1);
    CheckFloats(result, "skins/0/inverseBindMatrices", binds, 64);
    uint32_t joints[4 * snw_barVertices];
    CHECK(
        snwGltf_ReadInts(result->gltf, IntAt(result, "meshes/0/primitives/0/attributes/JOINTS_0"), joints, NULL) >= 0);
    CHECK(joints[0] == 3 && joints[1] == 1 && joints[4 * snw_barVertices - 3] == 1);
    Forget(context, source, result);
}

TEST(gltf_write, attributesAreSetAndReplaced)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset *source, *result = Add(context, "attributes", &source);
    REQUIRE(source != NULL && result != NULL);
    CHECK(IntAt(result, "meshes/0/primitives/0/attributes/NORMAL") >= source->gltf->accessorCount);
    CHECK(IntAt(result, "meshes/0/primitives/0/attributes/POSITION") ==
          IntAt(source, "meshes/0/primitives/0/attributes/POSITION"));
    float ids[snw_barVertices], marks[3 * snw_barVertices] = {0};
    for (int i = 0; i < snw_barVertices; ++i)
        ids[i] = (float)((1 << 24) - i);
    CheckFloats(result, "meshes/0/primitives/0/attributes/_SNW_VERTEX", ids, snw_barVertices);
    for (int i = 0; i < 6; ++i)
        marks[i] = (float)(i + 1) / 255.0f; // normalized
    CheckFloats(result, "meshes/0/primitives/0/attributes/_SNW_MARK", marks, 3 * snw_barVertices);
    CHECK(strcmp(TextAt(result, "meshes/0/name"), "renamed") == 0);
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
        memcpy(expected[i], (float[3]){(float)s_hard[i].x, (float)s_hard[i].y, (float)s_hard[i].z}, 12);
    CHECK(signbit(expected[0][0]) && expected[0][1] > 0 && expected[0][1] < FLT_MIN);
    CheckFloats(result, "meshes/0/primitives/0/attributes/POSITION", expected[0], 12);
    CheckFloats(result, "meshes/0/primitives/1/attributes/POSITION", expected[4], 9);
    // Bounds are the floats themselves, and there is no -0 in the text.
    json_t* least = At(result, "accessors/0/min");
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
    snwAsset* before = ReadBytes(context, "random.glb", file.data, file.size);
    REQUIRE(before != NULL);
    snwAsset* after = Reopen(context, OpenWriter(context, before), snw_gltfEmbedded);
    REQUIRE(after != NULL);
    CheckFloats(after, "meshes/0/primitives/0/attributes/POSITION", random, 999);
    CHECK(json_equal(At(before, "accessors"), At(after, "accessors")));
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
    float* weights[2] = {FloatsOf(result, IntAt(result, "meshes/0/primitives/0/attributes/WEIGHTS_0"), &count),
        FloatsOf(result, IntAt(result, "meshes/0/primitives/0/attributes/WEIGHTS_1"), &count)};
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
    CHECK(
        snwGltf_ReadInts(result->gltf, IntAt(result, "meshes/0/primitives/0/attributes/JOINTS_0"), joints, NULL) >= 0);
    CHECK(joints[0] == 2 && joints[4] == 1 && joints[5] == 0 && joints[8] == 0 && joints[9] == 4);
    uint32_t indices[6];
    CHECK(snwGltf_ReadInts(result->gltf, IntAt(result, "meshes/0/primitives/1/indices"), indices, NULL) >= 0);
    CHECK(indices[0] == 0 && indices[1] == 1 && indices[2] == 2);
    static const float s_offsets[9] = {4, 5, 6};
    CheckFloats(result, "meshes/0/primitives/1/targets/0/POSITION", s_offsets, 9);
    static const float s_colors[16] = {0, 0.5f, 1, 1, 1, 1, 1, 0};
    CheckFloats(result, "meshes/0/primitives/0/attributes/COLOR_0", s_colors, 16);
    CHECK_INT(IntAt(result, "meshes/0/primitives/0/material"), 0);
    CHECK(json_is_true(At(result, "materials/0/doubleSided")));
    free(weights[0]);
    free(weights[1]);
    Forget(context, source, result);
}

// Primitives that the asset leaves out still count as many targets.
TEST(gltf_write, partsThatAreLeftOutGetStillTargets)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = snwGltfWorld_Triangle();
    json_t* primitives = snwGltfWorld_Get(&world, "meshes/0/primitives");
    json_array_append_new(primitives, json_deep_copy(json_array_get(primitives, 0)));
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwAsset* source = ReadBytes(context, "parts.glb", file.data, file.size);
    REQUIRE(source != NULL);
    snwAssetPart parts[2] = {{"", "", 0, 0, 0, 0}, {"", "", 1, 3, 0, 1}};
    snwGltfWriter* writer = OpenWriter(context, source);
    snwGltfMorphDef def = {.mesh = 0, .morphs = s_morphs, .morphCount = 1, .parts = parts};
    CHECK_INT(snwGltfWriter_AddMorphs(writer, &def), 0);
    snwAsset* result = Reopen(context, writer, snw_gltfGlb);
    REQUIRE(result != NULL);
    static const float s_zeros[9] = {0};
    CheckFloats(result, "meshes/0/primitives/0/targets/0/POSITION", s_zeros, 9);
    CheckFloats(result, "meshes/0/primitives/1/targets/0/POSITION", s_wobble[0][1], 9);
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
    snwAsset* source = OpenSource(context, &s_sources[2]);
    REQUIRE(source != NULL);
    for (size_t i = 0; i < sizeof s_cases / sizeof s_cases[0]; ++i)
    {
        snwGltfWriter* writer = OpenWriter(context, source);
        s_cases[i].add(writer);
        snwMessage message = {0};
        CHECK_INT(snwGltfWriter_GetResult(writer, &message), snw_errorArgument);
        CHECK_CONTAINS(message.text, s_cases[i].words);
        AddMorphAnimation(writer); // does nothing any more
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
        snwAsset* source = OpenAddition(context, &s_additions[i]);
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
                s_additions[i].add(writer);
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
        snwAsset* source = OpenAddition(context, &s_additions[i]);
        for (int k = 0; k < 2; ++k)
        {
            snwGltfWriter* writer = OpenWriter(context, source);
            s_additions[i].add(writer);
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

// ---------------------------------------------------------------------------------------------------------------------
// Files

static const char* TempPath(const char* name)
{
    static char paths[8][256];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", snwTest_TempDir(), name);
    return path;
}

static void PutFile(const char* path, const void* data, size_t size)
{
    FILE* file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK(fwrite(data, 1, size, file) == size);
    fclose(file);
}

static bool Exists(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

// Two buffers and a picture beside the source: all of it stands alone afterwards.
TEST(gltf_write, whatLayBesideTheSourceComesInside)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwGltfWorld world = RichWorld();
    snwGltfWorld_Set(&world, "images/1", "{'uri': 'my%20skin.png', 'name': 'beside'}");
    snwGltfWorld_Set(&world, "images/2", "{'uri': 'missing.png'}");
    snwGltfWorld_Set(&world, "buffers/1/uri", "'second.bin'");
    snwGltfBytes file = snwGltfWorld_Text(&world, "first.bin");
    PutFile(TempPath("rich.gltf"), file.data, file.size);
    PutFile(TempPath("first.bin"), world.bytes, world.size);
    PutFile(TempPath("second.bin"), "\1\2\3", 3);
    PutFile(TempPath("my skin.png"), "\x89PNG\r\n\x1A\n....", 12);
    snwAsset* source = NULL;
    REQUIRE(snwAsset_Open(context, TempPath("rich.gltf"), &source, NULL) >= 0);
    snwAssetFolder folder = snwAssetFolder_Of(TempPath("rich.gltf"));
    for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfFiles; ++form)
    {
        static const char* const s_names[] = {"out.glb", "out.gltf", "out files.gltf"};
        snwGltfWriter* writer = OpenWriter(context, source);
        CHECK_INT(snwGltfWriter_EmbedImages(writer, &folder), 1);
        snwGltfSave save = snwDefaultGltfSave(TempPath(s_names[form]));
        CHECK_INT(save.form, form == snw_gltfGlb ? snw_gltfGlb : snw_gltfEmbedded);
        save.form = form;
        CHECK(snwGltfWriter_Save(writer, &save, NULL) == snw_ok);
        snwGltfWriter_Close(writer);
        snwAsset* result = NULL;
        REQUIRE(snwAsset_Open(context, save.path, &result, NULL) >= 0);
        CHECK_INT(result->gltf->bufferCount, 2);
        CHECK(result->gltf->buffers[1].size == 3 && memcmp(result->gltf->buffers[1].data, "\1\2\3", 3) == 0);
        CHECK(memcmp(result->gltf->buffers[0].data, world.bytes, world.size) == 0);
        int view = IntAt(result, "images/1/bufferView");
        REQUIRE(view >= 0 && result->gltf->views[view].size == 12);
        CHECK(memcmp(result->gltf->views[view].data, "\x89PNG\r\n\x1A\n....", 12) == 0);
        CHECK(strcmp(TextAt(result, "images/1/mimeType"), "image/png") == 0 && At(result, "images/1/uri") == NULL);
        CHECK(strcmp(TextAt(result, "images/2/uri"), "missing.png") == 0);
        snwAsset_Close(result);
    }
    CHECK(Exists(TempPath("out files.bin")) && Exists(TempPath("out files-1.bin")));
    snwAsset_Close(source);
    free(file.data);
    snwGltfWorld_Free(&world);
    snwDestroyContext(context);
}

TEST(gltf_write, nothingIsOverwrittenUnasked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* source = OpenSource(context, &s_sources[2]);
    REQUIRE(source != NULL);
    snwGltfWriter* writer = OpenWriter(context, source);
    PutFile(TempPath("there.bin"), "mine", 4);
    snwGltfSave save = {TempPath("there.gltf"), snw_gltfFiles, false};
    snwMessage message = {0};
    CHECK_INT(snwGltfWriter_Save(writer, &save, &message), snw_errorIo);
    CHECK_CONTAINS(message.text, "not overwritten");
    CHECK(!Exists(save.path));
    char* bytes = snwReadWhole(TempPath("there.bin"));
    CHECK(bytes != NULL && strcmp(bytes, "mine") == 0);
    free(bytes);
    save.overwrite = true;
    CHECK_INT(snwGltfWriter_Save(writer, &save, NULL), snw_ok);
    save.overwrite = false;
    CHECK_INT(snwGltfWriter_Save(writer, &save, NULL), snw_errorIo);
    snwGltfWriter_Close(writer);
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// Each call that writes may be the one for which there is no room.
TEST(gltf_write, aFullDiskLeavesNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwAsset* source = OpenSource(context, &s_sources[2]);
    REQUIRE(source != NULL);
    for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfFiles; ++form)
    {
        snwResult result = snw_errorIo;
        int n = 1;
        for (; n < 60 && result < 0; ++n)
        {
            snwGltfWriter* writer = OpenWriter(context, source);
            AddMorphAnimation(writer);
            snwGltfSave save = {TempPath("full.gltf"), form, false};
            snwMessage message = {0};
            snwIo_Arm(snw_faultFull, n, ENOSPC);
            result = snwGltfWriter_Save(writer, &save, &message);
            snwIo_Disarm();
            CHECK(result == snw_ok || result == snw_errorIo);
            CHECK(result == snw_ok || message.text[0] != 0);
            CHECK(Exists(save.path) == (result == snw_ok));
            CHECK(!Exists(TempPath("full.gltf.part")) && !Exists(TempPath("full.bin.part")));
            // A .bin that was whole before the text failed may stay; it is in nobody's way but ours.
            unlink(TempPath("full.bin"));
            unlink(TempPath("full.gltf"));
            snwGltfWriter_Close(writer);
        }
        CHECK(result == snw_ok && n > 3);
    }
    snwAsset_Close(source);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters

static snwCharacter* MakeCharacter(snwContext* context, const char* name)
{
    snwBlueprintFile file;
    snwCharacter* character = NULL;
    snwMessage message = {0};
    snwResult result = snwBlueprintFile_Open(context, name, &file, &message);
    if (result >= 0)
        result = snwBlueprint_Create(context, &file.blueprint, NULL, NULL, NULL, &character, &message);
    if (result < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, message.text);
    snwBlueprintFile_Free(&file);
    return character;
}

static snwAsset* ExportCharacter(snwContext* context, const snwCharacter* character)
{
    snwGltfWriter* writer = OpenWriter(context, NULL);
    snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
    snwGltfWriter_AddCharacter(writer, &def);
    return Reopen(context, writer, snw_gltfGlb);
}

// Skins a vertex as a player of the file would and as the character's own pose has it.
static void CheckPose(const snwAsset* asset, const snwCharacter* character, int motion, int key)
{
    const snwCharacterDef* def = snwCharacter_GetDef(character);
    const snwAssetSkin* skin = &asset->skins[0];
    const snwAssetAnimation* animation = &asset->animations[motion];
    REQUIRE(skin->jointCount == def->boneCount);
    snwAffine* world = calloc((size_t)asset->nodeCount, sizeof *world);
    snwTransform* bones = calloc((size_t)def->boneCount, sizeof *bones);
    snwAssetPose* poses = calloc((size_t)asset->nodeCount, sizeof *poses);
    for (int i = 0; i < asset->nodeCount; ++i)
        poses[i] = asset->nodes[i].pose;
    double time = animation->channels[0].times[key];
    for (int i = 0; i < animation->channelCount; ++i)
    {
        const snwAssetChannel* channel = &animation->channels[i];
        const double* v = channel->values + key * channel->width;
        if (channel->path == snw_pathRotation)
            poses[channel->node].rotation = (snwQuat){v[0], v[1], v[2], v[3]};
        else
            poses[channel->node].translation = (snwVec3){v[0], v[1], v[2]};
    }
    for (int i = 0; i < asset->nodeCount; ++i) // parents were written first
    {
        world[i] = snwAffine_FromTrs(poses[i].translation, poses[i].rotation, poses[i].scale);
        if (asset->nodes[i].parent >= 0)
            world[i] = snwAffine_Compose(world[asset->nodes[i].parent], world[i]);
    }
    CHECK(snwCharacter_Pose(character, motion, time, bones, def->boneCount) >= 0);
    for (int b = 0; b < def->boneCount; ++b)
    {
        snwVec3 tip = def->bones[b].tail;
        snwVec3 here = snwAffine_Apply(snwAffine_Compose(world[skin->joints[b]], skin->inverseBinds[b]), tip);
        CHECK_NEAR(snwVec3_Distance(here, snwTransform_Apply(bones[b], tip)), 0, 2e-6);
    }
    free(poses);
    free(bones);
    free(world);
}

TEST(gltf_write, charactersKeepSkinBonesAndMotions)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = MakeCharacter(context, "biped");
    REQUIRE(character != NULL);
    snwAsset* asset = ExportCharacter(context, character);
    REQUIRE(asset != NULL && asset->meshCount == 1 && asset->skinCount == 1 && asset->animationCount == 1);
    snwSkin skin;
    CHECK(snwCharacter_GetRestSkin(character, &skin) >= 0);
    CheckFloats(asset, "meshes/0/primitives/0/attributes/POSITION", skin.positions, 3 * skin.vertexCount);
    CHECK_INT(asset->meshes[0].triangleCount, skin.triangleCount);
    CHECK(memcmp(asset->meshes[0].triangles, skin.triangles, 12 * (size_t)skin.triangleCount) == 0);
    const snwAssetWeights* weights = &asset->meshes[0].weights;
    REQUIRE(weights->starts != NULL);
    for (int i = 0; i < skin.vertexCount; ++i)
    {
        double sum = 0;
        for (int e = weights->starts[i]; e < weights->starts[i + 1]; ++e)
            sum += weights->values[e];
        CHECK_NEAR(sum, 1, 1e-6);
    }
    int last = asset->animations[0].channels[0].keyCount - 1;
    CHECK_NEAR(asset->animations[0].end, snwCharacter_GetDef(character)->motions[0].duration, 1e-6);
    for (int key = 0; key <= last; key += 7)
        CheckPose(asset, character, 0, key);
    int ids;
    float* numbers = FloatsOf(asset, IntAt(asset, "meshes/0/primitives/0/attributes/_SNW_VERTEX"), &ids);
    REQUIRE(ids == skin.vertexCount);
    for (int i = 0; i < ids; ++i)
        CHECK_INT(numbers[i], skin.vertices[i]);
    free(numbers);
    snwAsset_Close(asset);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The validator

static char s_paths[64][256];
static const char* s_pathList[64];
static int s_pathCount;

// Saves what the writer has, to be validated, and closes it.
static void Collect(snwGltfWriter* writer, const char* name, snwGltfForm form)
{
    static const char* const s_endings[] = {".glb", ".gltf", "-files.gltf"};
    char* path = s_paths[s_pathCount];
    snprintf(path, sizeof s_paths[0], "%s/valid-%s%s", snwTest_TempDir(), name, s_endings[form]);
    s_pathList[s_pathCount++] = path;
    snwGltfSave save = {path, form, true};
    snwMessage message = {0};
    if (snwGltfWriter_Save(writer, &save, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", name, message.text);
    snwGltfWriter_Close(writer);
}

static void CollectCharacters(snwContext* context)
{
    static const char* const s_names[] = {"biped", "starfish", "fish"}; // one is flat and painted
    for (size_t i = 0; i < sizeof s_names / sizeof s_names[0]; ++i)
    {
        snwCharacter* character = MakeCharacter(context, s_names[i]);
        REQUIRE(character != NULL);
        snwGltfWriter* writer = OpenWriter(context, NULL);
        snwGltfCharacterDef def = snwDefaultGltfCharacterDef(character);
        def.influences = i == 0 ? 8 : 4;
        snwGltfWriter_AddCharacter(writer, &def);
        Collect(writer, s_names[i], snw_gltfGlb);
        snwCharacter_Release(character);
    }
}

TEST(gltf_write, validatorFindsNoErrors)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVerdict verdicts[64];
    for (int i = 0; i < snw_sourceCount; ++i)
    {
        snwAsset* source = OpenSource(context, &s_sources[i]);
        Collect(OpenWriter(context, source), s_sources[i].name, snw_gltfGlb);
        snwAsset_Close(source);
    }
    for (int i = 0; i < snw_additionCount; ++i)
        for (snwGltfForm form = snw_gltfGlb; form <= snw_gltfFiles; ++form)
        {
            snwAsset* source = OpenAddition(context, &s_additions[i]);
            snwGltfWriter* writer = OpenWriter(context, source);
            s_additions[i].add(writer);
            Collect(writer, s_additions[i].name, form);
            snwAsset_Close(source);
        }
    CollectCharacters(context);
    snwDestroyContext(context);
    if (!snwValidate(s_pathList, s_pathCount, verdicts))
        SKIP("there is no gltf-validator here: tools/setup.sh validate");
    for (int i = 0; i < s_pathCount; ++i)
        if (verdicts[i].errors != 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %d errors", s_paths[i], verdicts[i].errors);
}

// The first mesh that a node has breathes in and out.
static void AddRealMorphs(snwGltfWriter* writer, const snwAsset* source)
{
    int node = 0;
    while (json_object_get(json_array_get(At(source, "nodes"), (size_t)node), "mesh") == NULL)
        node++;
    int mesh = (int)json_integer_value(json_object_get(json_array_get(At(source, "nodes"), (size_t)node), "mesh"));
    int count = 0;
    for (int k = 0, more = 1; more > 0; count += more, ++k)
        more = snwGltfWriter_VertexCount(writer, mesh, k);
    float(*offsets)[3] = calloc((size_t)count, sizeof *offsets);
    REQUIRE(offsets != NULL);
    for (int i = 0; i < count; ++i)
        offsets[i][1] = 0.001f * (float)(i % 100);
    snwAssetMorph morph = {"breath", (const float(*)[3])offsets, (const float(*)[3])offsets, 0};
    snwGltfMorphDef def = {.mesh = mesh, .morphs = &morph, .morphCount = 1};
    int first = snwGltfWriter_AddMorphs(writer, &def);
    REQUIRE(first >= 0);
    double times[3] = {0, 1, 2}, *values = calloc(3 * (size_t)(first + 1), sizeof *values);
    REQUIRE(values != NULL);
    values[2 * first + 1] = 1;
    snwAssetChannel channel = {node, snw_pathMorphs, snw_assetLinear, times, 3, first + 1, values};
    snwAssetAnimation animation = {.name = "breathing", .channels = &channel, .channelCount = 1};
    CHECK(snwGltfWriter_AddAnimation(writer, &animation) >= 0);
    free(values);
    free(offsets);
}

// Files of others, passed through with a morph and its animation: no error that the source has not.
TEST(gltf_write, validatorFindsNoErrorsInRealFiles)
{
    static const char* const s_files[] = {
        "gltf/Fox.glb", "gltf/RiggedSimple.glb", "gltf/MorphStressTest.glb", "blender-rig/rig.glb"};
    enum
    {
        snw_fileCount = sizeof s_files / sizeof s_files[0]
    };
    const char* data = getenv("SINEW_DATA");
    if (data == NULL)
        SKIP("SINEW_DATA is not set: real files are not tried");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char from[snw_fileCount][512];
    for (int i = 0; i < snw_fileCount; ++i)
    {
        snprintf(from[i], sizeof from[i], "%s/%s", data, s_files[i]);
        s_pathList[s_pathCount++] = from[i];
        snwAsset* source = NULL;
        REQUIRE(snwAsset_Open(context, from[i], &source, NULL) >= 0);
        snwAsset* again = Reopen(context, OpenWriter(context, source), snw_gltfGlb);
        REQUIRE(again != NULL);
        CheckSurvived(source, again, false);
        snwAsset_Close(again);
        snwGltfWriter* writer = OpenWriter(context, source);
        AddRealMorphs(writer, source);
        char name[32];
        snprintf(name, sizeof name, "real-%d", i);
        Collect(writer, name, snw_gltfGlb);
        CHECK(snwAsset_Open(context, s_paths[s_pathCount - 1], &again, NULL) >= 0);
        snwAsset_Close(again);
        snwAsset_Close(source);
    }
    snwDestroyContext(context);
    snwVerdict verdicts[64];
    if (!snwValidate(s_pathList, s_pathCount, verdicts))
        SKIP("there is no gltf-validator here: tools/setup.sh validate");
    for (int i = 0; i < s_pathCount; i += 2)
    {
        printf("%s: the source has %d errors and %d warnings, ours %d and %d\n", s_files[i / 2], verdicts[i].errors,
            verdicts[i].warnings, verdicts[i + 1].errors, verdicts[i + 1].warnings);
        CHECK(verdicts[i].errors >= 0 && verdicts[i + 1].errors >= 0);
        CHECK(verdicts[i + 1].errors <= verdicts[i].errors);
    }
}
