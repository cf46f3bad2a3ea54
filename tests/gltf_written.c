#include "gltf_written.h"

#include "test.h"

#include "base/context.h"

#include <float.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Documents

snwAsset* snwWritten_Read(snwContext* context, const char* name, const void* data, size_t size)
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

json_t* snwWritten_At(const snwAsset* asset, const char* path)
{
    snwGltfWorld world = {.root = asset->gltf->root};
    return snwGltfWorld_Get(&world, path);
}

int snwWritten_Int(const snwAsset* asset, const char* path)
{
    json_t* value = snwWritten_At(asset, path);
    return json_is_integer(value) ? (int)json_integer_value(value) : -1;
}

const char* snwWritten_Text(const snwAsset* asset, const char* path)
{
    const char* text = json_string_value(snwWritten_At(asset, path));
    return text == NULL ? "" : text;
}

// The numbers of an accessor; free() them.
float* snwWritten_Floats(const snwAsset* asset, int accessor, int* count)
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

void snwWritten_CheckFloats(const snwAsset* asset, const char* path, const float* expected, int count)
{
    int found;
    float* values = snwWritten_Floats(asset, snwWritten_Int(asset, path), &found);
    if (found != count || memcmp(values, expected, (size_t)count * sizeof *values) != 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %d numbers, expected %d others", path, found, count);
    free(values);
}

// With everything that a writer might lose.
snwGltfWorld snwWritten_Rich(void)
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

const snwWrittenSource snw_writtenSources[snw_sourceCount] = {
    {"triangle.glb", snwGltfWorld_Triangle, snwGltfWorld_Glb},
    {"triangle.gltf", snwGltfWorld_Triangle, snwGltfWorld_Embedded},
    {"bar.glb", snwGltfWorld_Bar, snwGltfWorld_Glb},
    {"bar.gltf", snwGltfWorld_Bar, snwGltfWorld_Embedded},
    {"rich.glb", snwWritten_Rich, snwGltfWorld_Glb},
    {"rich.gltf", snwWritten_Rich, snwGltfWorld_Embedded},
    {"packed.glb", PackedWorld, snwGltfWorld_Glb},
};

snwAsset* snwWritten_OpenSource(snwContext* context, const snwWrittenSource* source)
{
    snwGltfWorld world = source->make();
    snwGltfBytes file = source->file(&world);
    snwAsset* asset = snwWritten_Read(context, source->name, file.data, file.size);
    free(file.data);
    snwGltfWorld_Free(&world);
    return asset;
}

// Writes and reads back; the writer is closed.
snwAsset* snwWritten_Reopen(snwContext* context, snwGltfWriter* writer, snwGltfForm form)
{
    unsigned char* data = NULL;
    size_t size = 0;
    snwMessage message = {0};
    if (snwGltfWriter_Write(writer, form, &data, &size, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    snwAsset* asset = data == NULL
                          ? NULL
                          : snwWritten_Read(context, form == snw_gltfGlb ? "again.glb" : "again.gltf", data, size);
    snwFree(context, data);
    snwGltfWriter_Close(writer);
    return asset;
}

snwGltfWriter* snwWritten_Open(snwContext* context, const snwAsset* asset)
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
void snwWritten_CheckSurvived(const snwAsset* a, const snwAsset* b, bool atEnd)
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
    const char* generator = snwWritten_Text(b, "asset/generator");
    CHECK(
        strncmp(generator, snwWritten_Text(a, "asset/generator"), strlen(snwWritten_Text(a, "asset/generator"))) == 0);
    CHECK_CONTAINS(generator, "Sinew ");
}

// ---------------------------------------------------------------------------------------------------------------------
// What may be appended. Each addition is a function, so that the same one is read back, validated, and starved of
// memory.

const float snw_wobble[2][snw_barVertices][3] = {
    {{0.01f, -0.02f, 0.3f}, {-0.0f, 1e-20f, -1}}, {{1.0f / 3, 0, 0}, {0, -7, 0}, {0, 0, 1e-8f}}};
const float snw_lean[snw_barVertices][3] = {{0, 0.1f, 0}, {0.1f, 0, 0}};
const snwAssetMorph snw_morphs[2] = {{"wobble +", snw_wobble[0], snw_lean, 0}, {"wobble -", snw_wobble[1], NULL, 0.5}};

const float snw_small[2][snw_barVertices][3] = {
    {{0}, {1, -12345 / 32767.0f, 1 / 32767.0f}, {0}, {-1, 0, 0}}, {{0, 0, 3 / 32767.0f}}};
const float snw_tilt[snw_barVertices][3] = {{0}, {0, -1, 0}, {5 / 127.0f, 0, 0}};

// Sparse morphs of short numbers.
static void AddSmallMorphs(snwGltfWriter* writer)
{
    const snwAssetMorph morphs[2] = {{"swell", snw_small[0], snw_tilt, 0}, {"sink", snw_small[1], NULL, 0}};
    snwGltfMorphDef def = {.mesh = 0, .morphs = morphs, .morphCount = 2, .numbers = snw_gltfShorts};
    snwGltfWriter_AddMorphs(writer, &def);
    snwGltfWriter_HoldMorphs(writer, 0, -1);
}

// Morphs, and an animation of them; weights: targets the mesh has in all.
void snwWritten_AddMorphs(snwGltfWriter* writer)
{
    snwGltfMorphDef def = {.mesh = 0, .morphs = snw_morphs, .morphCount = 2};
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

void snwWritten_AddAnimation(snwGltfWriter* writer)
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
const snwVec3 snw_hard[7] = {{-0.0, FLT_MIN / 4, 1}, {0.1f, -FLT_EPSILON, 16777217}, {1e30, -1e-30, 0.3333333f},
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
        .positions = snw_hard,
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
    snwGltfMeshDef def = {.mesh = &mesh, .materials = materials, .influences = 8};
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

const snwAddition snw_additions[snw_additionCount] = {
    {"morphs", snwGltfWorld_Bar, snwWritten_AddMorphs},
    {"morphs-rich", snwWritten_Rich, snwWritten_AddMorphs},
    {"morphs-packed", PackedWorld, snwWritten_AddMorphs},
    {"morphs-small", snwGltfWorld_Bar, AddSmallMorphs},
    {"animation", snwGltfWorld_Bar, snwWritten_AddAnimation},
    {"joints", snwGltfWorld_Bar, AddHelperJoints},
    {"attributes", snwGltfWorld_Bar, AddAttributes},
    {"mesh", NULL, AddNewMesh},
    {"mesh-rich", snwWritten_Rich, AddNewMesh},
};

snwAsset* snwWritten_OpenAddition(snwContext* context, const snwAddition* addition)
{
    snwWrittenSource source = {"source.glb", addition->make, snwGltfWorld_Glb};
    return addition->make == NULL ? NULL : snwWritten_OpenSource(context, &source);
}
