#include "gltf_world.h"

#include <ctype.h>
#include <meshoptimizer.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A world that cannot be made is a mistake of the test.
static void Insist(int condition, const char* what)
{
    if (condition)
        return;
    fprintf(stderr, "gltf_world: %s\n", what);
    abort();
}

static json_t* Parse(const char* text)
{
    char* copy = strdup(text);
    for (char* c = copy; *c != 0; ++c)
        if (*c == '\'')
            *c = '"';
    json_error_t error;
    json_t* value = json_loads(copy, JSON_DECODE_ANY, &error);
    Insist(value != NULL, text);
    free(copy);
    return value;
}

snwGltfWorld snwGltfWorld_Empty(void)
{
    return (snwGltfWorld){.root = Parse("{'asset': {'version': '2.0', 'generator': 'sinew tests'}}")};
}

void snwGltfWorld_Free(snwGltfWorld* world)
{
    json_decref(world->root);
    free(world->bytes);
    *world = (snwGltfWorld){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Values by path

static json_t* Step(json_t* value, const char* key, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, key);
    return json_is_array(value) ? json_array_get(value, (size_t)atoi(name)) : json_object_get(value, name);
}

json_t* snwGltfWorld_Get(const snwGltfWorld* world, const char* path)
{
    json_t* value = world->root;
    while (value != NULL && *path != 0)
    {
        size_t length = strcspn(path, "/");
        value = Step(value, path, length);
        path += length + (path[length] == '/');
    }
    return value;
}

void snwGltfWorld_Set(snwGltfWorld* world, const char* path, const char* text)
{
    const char* last = strrchr(path, '/');
    char parent[256] = "";
    if (last != NULL)
        snprintf(parent, sizeof parent, "%.*s", (int)(last - path), path);
    json_t* owner = snwGltfWorld_Get(world, parent);
    const char* key = last == NULL ? path : last + 1;
    Insist(owner != NULL, path);
    if (json_is_array(owner))
    {
        size_t index = (size_t)atoi(key);
        if (text == NULL)
            json_array_remove(owner, index);
        else if (index == json_array_size(owner))
            json_array_append_new(owner, Parse(text));
        else
            Insist(json_array_set_new(owner, index, Parse(text)) == 0, path);
    }
    else if (text == NULL)
        json_object_del(owner, key);
    else
        json_object_set_new(owner, key, Parse(text));
}

static int Append(snwGltfWorld* world, const char* list, json_t* item)
{
    json_t* items = json_object_get(world->root, list);
    if (items == NULL)
    {
        items = json_array();
        json_object_set_new(world->root, list, items);
    }
    json_array_append_new(items, item);
    return (int)json_array_size(items) - 1;
}

int snwGltfWorld_Add(snwGltfWorld* world, const char* list, const char* format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    Insist(vsnprintf(text, sizeof text, format, args) < (int)sizeof text, "an item is too long");
    va_end(args);
    return Append(world, list, Parse(text));
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes

size_t snwGltfWorld_Bytes(snwGltfWorld* world, const void* data, size_t size)
{
    size_t offset = (world->size + 3) / 4 * 4;
    world->bytes = realloc(world->bytes, offset + size + 1);
    Insist(world->bytes != NULL, "no memory");
    memset(world->bytes + world->size, 0, offset - world->size);
    if (size > 0)
        memcpy(world->bytes + offset, data, size);
    world->size = offset + size;
    return offset;
}

int snwGltfWorld_View(snwGltfWorld* world, const void* data, size_t size)
{
    size_t offset = snwGltfWorld_Bytes(world, data, size);
    return snwGltfWorld_Add(world, "bufferViews", "{'buffer': 0, 'byteOffset': %zu, 'byteLength': %zu}", offset, size);
}

static int ComponentSize(int component)
{
    return component <= 5121 ? 1 : component <= 5123 ? 2 : 4;
}

static int Width(const char* type)
{
    int digit = type[strlen(type) - 1] - '0';
    return type[0] == 'S' ? 1 : type[0] == 'V' ? digit : digit * digit;
}

int snwGltfWorld_Accessor(snwGltfWorld* world, const void* data, int count, int component, const char* type)
{
    size_t size = (size_t)count * (size_t)Width(type) * (size_t)ComponentSize(component);
    int view = snwGltfWorld_View(world, data, size);
    return snwGltfWorld_Add(world, "accessors", "{'bufferView': %d, 'componentType': %d, 'count': %d, 'type': '%s'}",
        view, component, count, type);
}

// With its bounds, which positions and times must have.
int snwGltfWorld_Floats(snwGltfWorld* world, const float* data, int count, const char* type)
{
    int index = snwGltfWorld_Accessor(world, data, count, 5126, type), width = Width(type);
    json_t *lower = json_array(), *upper = json_array();
    for (int k = 0; k < width; ++k)
    {
        float low = data[k], high = data[k];
        for (int i = 1; i < count; ++i)
        {
            low = data[i * width + k] < low ? data[i * width + k] : low;
            high = data[i * width + k] > high ? data[i * width + k] : high;
        }
        json_array_append_new(lower, json_real(low));
        json_array_append_new(upper, json_real(high));
    }
    json_t* accessor = json_array_get(json_object_get(world->root, "accessors"), (size_t)index);
    json_object_set_new(accessor, "min", lower);
    json_object_set_new(accessor, "max", upper);
    return index;
}

static size_t Encode(const snwGltfPacked* packed, unsigned char* out, size_t capacity)
{
    size_t count = (size_t)packed->count;
    if (strcmp(packed->mode, "ATTRIBUTES") == 0)
        return meshopt_encodeVertexBuffer(out, capacity, packed->data, count, (size_t)packed->stride);
    if (strcmp(packed->mode, "TRIANGLES") == 0)
        return meshopt_encodeIndexBuffer(out, capacity, packed->data, count);
    return meshopt_encodeIndexSequence(out, capacity, packed->data, count);
}

int snwGltfWorld_Packed(snwGltfWorld* world, const snwGltfPacked* packed)
{
    unsigned char bytes[16384];
    size_t size = Encode(packed, bytes, sizeof bytes);
    Insist(size > 0, "could not compress");
    size_t offset = snwGltfWorld_Bytes(world, bytes, size);
    return snwGltfWorld_Add(world, "bufferViews",
        "{'buffer': 1, 'byteOffset': 0, 'byteLength': %d, 'extensions': {'EXT_meshopt_compression': {'buffer': 0, "
        "'byteOffset': %zu, 'byteLength': %zu, 'byteStride': %d, 'count': %d, 'mode': '%s', 'filter': '%s'}}}",
        packed->count * packed->stride, offset, size, packed->stride, packed->count, packed->mode, packed->filter);
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

static void Put32(char* out, uint32_t value)
{
    for (int i = 0; i < 4; ++i)
        out[i] = (char)(value >> (8 * i) & 255);
}

snwGltfBytes snwGltfWorld_Wrap(const char* json, const void* chunk, size_t chunkSize)
{
    size_t length = strlen(json), text = (length + 3) / 4 * 4, binary = (chunkSize + 3) / 4 * 4;
    size_t size = 20 + text + (chunk != NULL ? 8 + binary : 0);
    char* data = calloc(1, size + 1);
    Insist(data != NULL, "no memory");
    memcpy(data, "glTF", 4);
    Put32(data + 4, 2);
    Put32(data + 8, (uint32_t)size);
    Put32(data + 12, (uint32_t)text);
    memcpy(data + 16, "JSON", 4);
    memset(data + 20, ' ', text);
    memcpy(data + 20, json, length);
    if (chunk != NULL)
    {
        Put32(data + 20 + text, (uint32_t)binary);
        memcpy(data + 24 + text, "BIN", 4);
        memcpy(data + 28 + text, chunk, chunkSize);
    }
    return (snwGltfBytes){data, size};
}

// The document with an entry for its buffer.
static char* Dump(const snwGltfWorld* world, const char* uri)
{
    json_t* root = json_deep_copy(world->root);
    json_t* buffers = json_object_get(root, "buffers");
    if (buffers == NULL && world->size > 0)
    {
        buffers = json_array();
        json_object_set_new(root, "buffers", buffers);
    }
    if (world->size > 0 && json_array_size(buffers) == 0)
        json_array_append_new(buffers, json_object());
    json_t* buffer = json_array_get(buffers, 0);
    if (world->size > 0 && json_object_get(buffer, "byteLength") == NULL)
        json_object_set_new(buffer, "byteLength", json_integer((json_int_t)world->size));
    if (world->size > 0 && uri != NULL && json_object_get(buffer, "uri") == NULL)
        json_object_set_new(buffer, "uri", json_string(uri));
    char* text = json_dumps(root, JSON_COMPACT);
    Insist(text != NULL, "could not write the JSON");
    json_decref(root);
    return text;
}

snwGltfBytes snwGltfWorld_Glb(const snwGltfWorld* world)
{
    char* text = Dump(world, NULL);
    snwGltfBytes file = snwGltfWorld_Wrap(text, world->size > 0 ? world->bytes : NULL, world->size);
    free(text);
    return file;
}

snwGltfBytes snwGltfWorld_Text(const snwGltfWorld* world, const char* uri)
{
    char* text = Dump(world, uri);
    return (snwGltfBytes){text, strlen(text)};
}

snwGltfBytes snwGltfWorld_Embedded(const snwGltfWorld* world)
{
    static const char s_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char s_start[] = "data:application/octet-stream;base64,";
    char* uri = calloc(1, sizeof s_start + world->size / 3 * 4 + 8);
    Insist(uri != NULL, "no memory");
    char* out = uri + sprintf(uri, "%s", s_start);
    for (size_t i = 0; i < world->size; i += 3)
    {
        size_t left = world->size - i;
        uint32_t bits = (uint32_t)world->bytes[i] << 16;
        bits |= left > 1 ? (uint32_t)world->bytes[i + 1] << 8 : 0;
        bits |= left > 2 ? world->bytes[i + 2] : 0;
        *out++ = s_digits[bits >> 18];
        *out++ = s_digits[bits >> 12 & 63];
        *out++ = left > 1 ? s_digits[bits >> 6 & 63] : '=';
        *out++ = left > 2 ? s_digits[bits & 63] : '=';
    }
    snwGltfBytes file = snwGltfWorld_Text(world, uri);
    free(uri);
    return file;
}

// ---------------------------------------------------------------------------------------------------------------------
// Ready-made

snwGltfWorld snwGltfWorld_Triangle(void)
{
    static const float s_positions[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0.1f, 0}};
    static const uint16_t s_indices[3] = {0, 1, 2};
    snwGltfWorld world = snwGltfWorld_Empty();
    int positions = snwGltfWorld_Floats(&world, s_positions[0], 3, "VEC3");
    int indices = snwGltfWorld_Accessor(&world, s_indices, 3, 5123, "SCALAR");
    snwGltfWorld_Add(&world, "meshes",
        "{'name': 'triangle', 'primitives': [{'attributes': {'POSITION': %d}, 'indices': %d}]}", positions, indices);
    snwGltfWorld_Add(&world, "nodes", "{'name': 'shape', 'mesh': 0}");
    snwGltfWorld_Add(&world, "scenes", "{'nodes': [0]}");
    return world;
}

const float snw_barPositions[snw_barVertices][3] = {{0.1f, 0, 0}, {-0.05f, 0, -0.0866f}, {-0.05f, 0, 0.0866f},
    {0.1f, 0.5f, 0}, {-0.05f, 0.5f, -0.0866f}, {-0.05f, 0.5f, 0.0866f}, {0.1f, 1, 0}, {-0.05f, 1, -0.0866f},
    {-0.05f, 1, 0.0866f}, {0.1f, 1.5f, 0}, {-0.05f, 1.5f, -0.0866f}, {-0.05f, 1.5f, 0.0866f}};

static int BarIndices(snwGltfWorld* world)
{
    uint16_t indices[snw_barTriangles * 3];
    int count = 0;
    for (int ring = 0; ring < 3; ++ring)
        for (int k = 0; k < 3; ++k)
        {
            int a = ring * 3 + k, b = ring * 3 + (k + 1) % 3;
            int quad[6] = {a, b, a + 3, b, b + 3, a + 3};
            for (int i = 0; i < 6; ++i)
                indices[count++] = (uint16_t)quad[i];
        }
    static const uint16_t s_caps[6] = {2, 1, 0, 9, 10, 11};
    for (int i = 0; i < 6; ++i)
        indices[count++] = s_caps[i];
    return snwGltfWorld_Accessor(world, indices, count, 5123, "SCALAR");
}

// Rings 0 and 1 hang on the hip, 2 and 3 on the knee, the inner ones on both.
static void BarWeights(snwGltfWorld* world, int* joints, int* weights)
{
    static const float s_hip[4] = {1, 0.75f, 0.25f, 0};
    uint8_t bones[snw_barVertices][4] = {{0}};
    float values[snw_barVertices][4] = {{0}};
    for (int i = 0; i < snw_barVertices; ++i)
    {
        bones[i][1] = 1;
        values[i][0] = s_hip[i / 3];
        values[i][1] = 1 - s_hip[i / 3];
    }
    *joints = snwGltfWorld_Accessor(world, bones, snw_barVertices, 5121, "VEC4");
    *weights = snwGltfWorld_Floats(world, values[0], snw_barVertices, "VEC4");
}

static void BarMesh(snwGltfWorld* world)
{
    float normals[snw_barVertices][3], texcoords[snw_barVertices][2], morphs[2][snw_barVertices][3] = {{{0}}};
    uint8_t colors[snw_barVertices][4];
    for (int i = 0; i < snw_barVertices; ++i)
    {
        static const float s_normals[3][3] = {{1, 0, 0}, {-0.5f, 0, -0.8660254f}, {-0.5f, 0, 0.8660254f}};
        memcpy(normals[i], s_normals[i % 3], sizeof normals[i]);
        texcoords[i][0] = (float)(i % 3) / 2;
        texcoords[i][1] = 1 - (float)(i / 3) / 3;
        morphs[0][i][0] = 0.5f * snw_barPositions[i][0]; // fatter
        morphs[1][i][1] = 0.25f * (float)(i / 3);        // taller
        memcpy(colors[i], (uint8_t[4]){255, (uint8_t)(i * 20), 0, 255}, 4);
    }
    int joints, weights, indices = BarIndices(world);
    BarWeights(world, &joints, &weights);
    int position = snwGltfWorld_Floats(world, snw_barPositions[0], snw_barVertices, "VEC3");
    int normal = snwGltfWorld_Floats(world, normals[0], snw_barVertices, "VEC3");
    int texcoord = snwGltfWorld_Floats(world, texcoords[0], snw_barVertices, "VEC2");
    int color = snwGltfWorld_Accessor(world, colors, snw_barVertices, 5121, "VEC4");
    json_object_set_new(
        json_array_get(json_object_get(world->root, "accessors"), (size_t)color), "normalized", json_true());
    int fat = snwGltfWorld_Floats(world, morphs[0][0], snw_barVertices, "VEC3");
    int tall = snwGltfWorld_Floats(world, morphs[1][0], snw_barVertices, "VEC3");
    snwGltfWorld_Add(world, "meshes",
        "{'name': 'bar', 'weights': [0.25, 0], 'extras': {'targetNames': ['fat', 'tall']}, 'primitives': "
        "[{'attributes': {'POSITION': %d, 'NORMAL': %d, 'TEXCOORD_0': %d, 'COLOR_0': %d, 'JOINTS_0': %d, 'WEIGHTS_0': "
        "%d}, 'indices': %d, 'material': 0, 'targets': [{'POSITION': %d}, {'POSITION': %d}]}]}",
        position, normal, texcoord, color, joints, weights, indices, fat, tall);
    snwGltfWorld_Add(world, "materials", "{'name': 'skin', 'pbrMetallicRoughness': {'metallicFactor': 0}}");
}

static void BarSkin(snwGltfWorld* world)
{
    float binds[2][16] = {{0}};
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 4; ++i)
            binds[k][i * 5] = 1;
    binds[1][13] = -0.75f;
    int matrices = snwGltfWorld_Accessor(world, binds, 2, 5126, "MAT4");
    snwGltfWorld_Add(world, "nodes", "{'name': 'body', 'mesh': 0, 'skin': 0}");
    snwGltfWorld_Add(world, "nodes", "{'name': 'hip', 'children': [2]}");
    snwGltfWorld_Add(world, "nodes", "{'name': 'knee', 'translation': [0, 0.75, 0]}");
    snwGltfWorld_Add(
        world, "skins", "{'name': 'rig', 'joints': [1, 2], 'skeleton': 1, 'inverseBindMatrices': %d}", matrices);
    snwGltfWorld_Add(world, "scenes", "{'nodes': [0, 1]}");
}

static void BarMotion(snwGltfWorld* world)
{
    static const float s_times[3] = {0, 0.5f, 1}, s_ends[2] = {0, 1};
    static const float s_turns[3][4] = {{0, 0, 0, 1}, {0, 0, 0.38268343f, 0.92387953f}, {0, 0, 0, 1}};
    static const float s_moves[6][3] = {{0}, {0}, {0, 1, 0}, {0, 1, 0}, {0}, {0}};
    static const float s_sizes[2][3] = {{1, 1, 1}, {1, 1, 1}};
    static const float s_morphs[3][2] = {{0.25f, 0}, {0.5f, 1}, {0.25f, 0}};
    int times = snwGltfWorld_Floats(world, s_times, 3, "SCALAR");
    int ends = snwGltfWorld_Floats(world, s_ends, 2, "SCALAR");
    int turns = snwGltfWorld_Floats(world, s_turns[0], 3, "VEC4");
    int moves = snwGltfWorld_Floats(world, s_moves[0], 6, "VEC3");
    int sizes = snwGltfWorld_Floats(world, s_sizes[0], 2, "VEC3");
    int morphs = snwGltfWorld_Floats(world, s_morphs[0], 6, "SCALAR");
    snwGltfWorld_Add(world, "animations",
        "{'name': 'bend', 'samplers': [{'input': %d, 'output': %d}, {'input': %d, 'output': %d, 'interpolation': "
        "'CUBICSPLINE'}, {'input': %d, 'output': %d, 'interpolation': 'STEP'}, {'input': %d, 'output': %d, "
        "'interpolation': 'LINEAR'}], 'channels': [{'sampler': 0, 'target': {'node': 2, 'path': 'rotation'}}, "
        "{'sampler': 1, 'target': {'node': 1, 'path': 'translation'}}, {'sampler': 2, 'target': {'node': 1, 'path': "
        "'scale'}}, {'sampler': 3, 'target': {'node': 0, 'path': 'weights'}}]}",
        times, turns, ends, moves, ends, sizes, times, morphs);
}

snwGltfWorld snwGltfWorld_Bar(void)
{
    snwGltfWorld world = snwGltfWorld_Empty();
    BarMesh(&world);
    BarSkin(&world);
    BarMotion(&world);
    snwGltfWorld_Set(&world, "scene", "0");
    return world;
}
