// Files that lie: each is refused at its place, in bounded time and memory, without a crash or a leak.

#include "../fuzz/asset_sound.h"
#include "gltf_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Sets one value of the bar and expects words at a place.
typedef struct Lie
{
    const char *path, *value; // NULL removes
    const char *place, *words;
} Lie;

static void CheckLies(const Lie* lies, size_t count, snwGltfWorld (*make)(void))
{
    for (size_t i = 0; i < count; ++i)
    {
        snwGltfWorld world = make();
        snwGltfWorld_Set(&world, lies[i].path, lies[i].value);
        snwGltfRead read = snwGltfRead_World(&world);
        if (read.result >= 0 || strstr(read.message.place, lies[i].place) == NULL ||
            strstr(read.message.text, lies[i].words) == NULL)
            snwTest_Fail(__FILE__, __LINE__, "%s = %s: %d, \"%s\" at \"%s\"", lies[i].path,
                lies[i].value == NULL ? "nothing" : lies[i].value, read.result, read.message.text, read.message.place);
        snwGltfRead_End(&read);
    }
}

#define CHECK_LIES(lies, make) CheckLies(lies, sizeof(lies) / sizeof *(lies), make)

TEST(gltf, buffersThatLie)
{
    static const Lie s_lies[] = {
        {"buffers", "[{'byteLength': 1000000}]", "buffers[0]", "should have 1000000 bytes"},
        {"buffers", "[{'byteLength': -4}]", "buffers[0].byteLength", "must be 1 to"},
        {"buffers", "[{'byteLength': 'four'}]", "buffers[0].byteLength", "must be a whole number"},
        {"buffers", "{}", "buffers", "must be a list"},
        {"buffers", "[7]", "buffers[0]", "must be an object"},
        {"buffers", "[{'byteLength': 4, 'uri': 'data:;base64,AAA$'}]", "buffers[0].uri", "character 3"},
        {"buffers", "[{'byteLength': 4, 'uri': 'data:;base64,AAAAA'}]", "buffers[0].uri", "no base64"},
        {"buffers", "[{'byteLength': 4, 'uri': 'data:;base64,AAAA'}]", "buffers[0].uri", "has 3"},
        {"buffers", "[{'byteLength': 4, 'uri': 'data:text/plain,abcd'}]", "buffers[0].uri", "only base64"},
        {"buffers", "[{'byteLength': 4, 'uri': 'a%00b'}]", "buffers[0].uri", "no name of a file"},
        {"buffers", "[{'byteLength': 4, 'uri': 'a%2'}]", "buffers[0].uri", "no name of a file"},
        {"buffers", "[{'byteLength': 4, 'uri': 'a.bin'}]", "buffers[0].uri", "no folder to look in"},
        {"bufferViews/2/byteOffset", "1000000", "bufferViews[2]", "beyond the end of buffer 0"},
        {"bufferViews/2/byteLength", "0", "bufferViews[2].byteLength", "must be 1"},
        {"bufferViews/2/buffer", "1", "bufferViews[2].buffer", "the file has 1 buffers"},
        {"bufferViews/2/buffer", NULL, "bufferViews[2].buffer", "is missing"},
        {"bufferViews/2/byteStride", "257", "bufferViews[2].byteStride", "must be 0 to 256"},
        {"bufferViews/3/byteStride", "4", "accessors[3]", "less than an element"},
    };
    CHECK_LIES(s_lies, snwGltfWorld_Bar);
}

TEST(gltf, accessorsThatLie)
{
    static const Lie s_lies[] = {
        {"accessors/3/count", "13", "accessors[3]", "end at byte 156 of buffer view 3"},
        {"accessors/3/count", "4000000000", "accessors[3].count", "must be 1 to"},
        {"accessors/3/count", "0", "accessors[3].count", "must be 1 to"},
        {"accessors/3/count", "2.5", "accessors[3].count", "whole number"},
        {"accessors/3/componentType", "5124", "accessors[3]", "no componentType"},
        {"accessors/3/type", "'VEC5'", "accessors[3]", "'VEC5' is no type"},
        {"accessors/3/bufferView", "99", "accessors[3].bufferView", "99"},
        {"accessors/3/byteOffset", "4", "accessors[3]", "end at byte 148"},
        {"accessors/3/min", "[0, 1]", "accessors[3].min", "list of 3 numbers"},
        {"accessors/3/sparse", "{'count': 13}", "accessors[3].sparse.count", "must be 1 to 12"},
        {"accessors/3/sparse", "{'count': 1}", "sparse.indices.bufferView", "is missing"},
        {"accessors/3/sparse",
            "{'count': 1, 'indices': {'bufferView': 0, 'componentType': 5126}, 'values': {'bufferView': 0}}",
            "sparse.indices", "unsigned integers"},
        {"accessors/3/sparse",
            "{'count': 4, 'indices': {'bufferView': 0, 'componentType': 5123}, 'values': {'bufferView': 0}}",
            "accessors[3]", "sparse index 3 is 1"}, // 0 1 3 1
        {"accessors/3/normalized", "1", "accessors[3].normalized", "true or false"},
    };
    CHECK_LIES(s_lies, snwGltfWorld_Bar);
}

TEST(gltf, meshesThatLie)
{
    static const Lie s_lies[] = {
        {"meshes/0/primitives/0/attributes/POSITION", "10", "primitives[0].attributes", "makes no sense here"},
        {"meshes/0/primitives/0/attributes/POSITION", "0", "primitives[0]", "makes no sense here"},
        {"meshes/0/primitives/0/attributes/POSITION", "99", "attributes.POSITION", "99"},
        {"meshes/0/primitives/0/attributes/NORMAL", "5", "attributes.NORMAL", "makes no sense here"},
        {"meshes/0/primitives/0/attributes/NORMAL", "13", "attributes.NORMAL", "has 6 elements for 12 vertices"},
        {"meshes/0/primitives/0/attributes/WEIGHTS_0", "12", "meshes[0]", "one per vertex"},
        {"meshes/0/primitives/0/indices", "3", "primitives[0]", "makes no sense here"},
        {"meshes/0/primitives/0/mode", "7", "primitives[0].mode", "must be 0 to 6"},
        {"meshes/0/primitives/0/targets/0/POSITION", "0", "targets[0].POSITION", "makes no sense"},
        {"meshes/0/primitives", "{}", "meshes[0].primitives", "must be a list"},
        {"meshes/0/primitives/0/material", "3", "material", "the file has 1 materials"},
        {"nodes/0/mesh", "2", "nodes[0].mesh", "the file has 1 meshes"},
        {"nodes/0/rotation", "[0, 0, 1]", "nodes[0].rotation", "4 numbers"},
        {"nodes/0/matrix", "[1]", "nodes[0].matrix", "16 numbers"},
        {"nodes/1/children", "[9]", "nodes[1].children[0]", "0 to 2"},
        {"nodes/0/children", "[2]", "nodes[1].children[0]", "two parents"},
        {"nodes/2/children", "[1]", "nodes[1]", "circle"},
        {"nodes/1/children", "[1]", "nodes[1]", "circle"},
        {"skins/0/joints", "[]", "skins[0].joints", "no joints"},
        {"skins/0/joints", "[1, 3]", "skins[0].joints[1]", "0 to 2"},
        {"skins/0/joints", "[1, 2, 0]", "skins[0].inverseBindMatrices", "2 matrices for 3 joints"},
        {"skins/0/inverseBindMatrices", "3", "inverseBindMatrices", "makes no sense"},
    };
    CHECK_LIES(s_lies, snwGltfWorld_Bar);
}

TEST(gltf, animationsThatLie)
{
    static const Lie s_lies[] = {
        {"animations/0/samplers/0/input", "99", "channels[0].input", "99"},
        {"animations/0/samplers/0/output", NULL, "channels[0].output", "is missing"},
        {"animations/0/samplers/0/interpolation", "'SMOOTH'", "channels[0]", "'SMOOTH' is not known"},
        {"animations/0/samplers/0/interpolation", "'CUBICSPLINE'", "channels[0].output", "9 are needed"},
        {"animations/0/channels/0/sampler", "4", "channels[0].sampler", "4 samplers"},
        {"animations/0/channels/0/target/path", "'scale'", "channels[0].output", "makes no sense"},
    };
    CHECK_LIES(s_lies, snwGltfWorld_Bar);
}

// Moves one float of the bar.
static void SetFloat(snwGltfWorld* world, const char* accessor, int index, float value)
{
    char path[64];
    snprintf(path, sizeof path, "accessors/%d/bufferView", (int)json_integer_value(snwGltfWorld_Get(world, accessor)));
    snprintf(path, sizeof path, "bufferViews/%d/byteOffset", (int)json_integer_value(snwGltfWorld_Get(world, path)));
    size_t offset = (size_t)json_integer_value(snwGltfWorld_Get(world, path));
    memcpy(world->bytes + offset + (size_t)index * 4, &value, 4);
}

TEST(gltf, numbersThatAreNone)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    SetFloat(&world, "meshes/0/primitives/0/attributes/POSITION", 7, NAN);
    CHECK_REFUSED(&world, "accessors[3]", "element 2 is not a finite number");
    world = snwGltfWorld_Bar();
    SetFloat(&world, "skins/0/inverseBindMatrices", 20, INFINITY);
    CHECK_REFUSED(&world, "skins[0].inverseBindMatrices", "element 1 is not a finite number");
    world = snwGltfWorld_Bar();
    SetFloat(&world, "animations/0/samplers/0/output", 5, NAN);
    CHECK_REFUSED(&world, "animations[0].channels[0].output", "element 1");
    world = snwGltfWorld_Bar();
    SetFloat(&world, "animations/0/samplers/0/input", 1, 2);
    CHECK_REFUSED(&world, "animations[0].channels[0].input", "key 2 is at 1 s, before key 1 at 2 s");
}

TEST(gltf, indicesThatPointNowhere)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    snwGltfWorld_Set(&world, "accessors/0/count", "2");
    CHECK_REFUSED(&world, "meshes[0].primitives[0].indices", "index 2 points to vertex 2 of 2");
}

// ---------------------------------------------------------------------------------------------------------------------
// Extensions

TEST(gltf, requiredExtensionsAreRefusedByName)
{
    snwGltfWorld world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "extensionsRequired", "['KHR_materials_unlit', 'ACME_folded_meshes']");
    CHECK_REFUSED(&world, "extensionsRequired[1]", "'ACME_folded_meshes'");
    world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "extensionsRequired", "['KHR_meshopt_compression']");
    snwGltfRead read = snwGltfRead_World(&world);
    CHECK_INT(read.result, snw_errorUnsupported);
    CHECK_CONTAINS(read.message.remedy, "EXT_meshopt_compression");
    snwGltfRead_End(&read);
    // Not required, but nothing else holds the positions.
    world = snwGltfWorld_Bar();
    snwGltfWorld_Set(&world, "meshes/0/primitives/0/extensions", "{'KHR_draco_mesh_compression': {'bufferView': 0}}");
    snwGltfWorld_Set(&world, "accessors/3/bufferView", NULL);
    CHECK_REFUSED(&world, "meshes[0].primitives[0]", "KHR_draco_mesh_compression");
}

static snwGltfWorld PackedTriangle(void)
{
    static const float s_positions[4][4] = {{0}, {1}, {0, 1}, {0}};
    snwGltfWorld world = snwGltfWorld_Triangle();
    snwGltfWorld_Set(
        &world, "buffers", "[{}, {'byteLength': 640, 'extensions': {'EXT_meshopt_compression': {'fallback': true}}}]");
    int view = snwGltfWorld_Packed(&world, &(snwGltfPacked){s_positions, 4, 16, "ATTRIBUTES", "NONE"});
    snwGltfWorld_Set(&world, "accessors/0/bufferView", "2");
    (void)view; // 2: behind positions and indices
    return world;
}

TEST(gltf, packedViewsThatLie)
{
    static const Lie s_lies[] = {
        {"bufferViews/2/extensions/EXT_meshopt_compression/mode", "'ZIP'", "mode", "'ZIP' is not known"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/filter", "'BLUR'", "filter", "'BLUR' is not known"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/filter", "'QUATERNION'", "bufferViews[2]", "stride of 16"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/byteStride", "15", "bufferViews[2]", "stride of 15"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/mode", "'TRIANGLES'", "bufferViews[2]", "stride of 16"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/count", "5", "bufferViews[2]", "unpacks to 80 bytes"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/count", "5000000000", "count", "must be 1"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/byteLength", "9", "bufferViews[2]", "is broken"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/byteOffset", "0", "bufferViews[2]", "is broken"},
        {"bufferViews/2/extensions/EXT_meshopt_compression/buffer", "1", "bufferViews[2]", "has no data"},
        {"bufferViews/2/extensions", NULL, "accessors[0]", "its buffer has no data"}, // of the fallback
    };
    snwGltfWorld world = PackedTriangle();
    snwGltfRead read = snwGltfRead_World(&world);
    CHECK(read.asset != NULL);
    snwGltfRead_End(&read);
    CHECK_LIES(s_lies, PackedTriangle);
}

// ---------------------------------------------------------------------------------------------------------------------
// Containers

static snwGltfRead ReadText(const char* text)
{
    char* copy = strdup(text);
    return snwGltfRead_File((snwGltfBytes){copy, strlen(copy)}, "x.gltf");
}

TEST(gltf, textThatIsNoGltf)
{
    static const char* const s_texts[][2] = {
        {"", "expected"},
        {"hello", "expected"},
        {"[]", "no glTF document"},
        {"{}", "no version"},
        {"{\"asset\": {\"version\": \"1.0\"}}", "version '1.0'"},
        {"{\"asset\": {\"version\": \"2.0\", \"minVersion\": \"2.1\"}}", "'2.1'"},
        {"{\"asset\": {\"version\": \"2.0\"}, \"asset\": {}}", "duplicate"},
        {"{\"asset\": {\"version\": \"2.0\"}", "expected"},
        {"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"scale\": [1e999, 1, 1]}]}", "overflow"},
        {"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"name\": \"\xFF\"}]}", "decode"},
    };
    for (size_t i = 0; i < sizeof s_texts / sizeof *s_texts; ++i)
    {
        snwGltfRead read = ReadText(s_texts[i][0]);
        CHECK(read.result < 0 && read.asset == NULL);
        CHECK_CONTAINS(read.message.text, s_texts[i][1]);
        CHECK_CONTAINS(read.message.file, "x.gltf");
        snwGltfRead_End(&read);
    }
    snwGltfRead mark = ReadText("\xEF\xBB\xBF{\"asset\": {\"version\": \"2.0\"}}");
    CHECK(mark.asset != NULL && mark.asset->meshCount == 0);
    snwGltfRead_End(&mark);
}

TEST(gltf, deepAndWideTextIsRefused)
{
    size_t size = 40 << 20;
    char* text = malloc(size + 1);
    REQUIRE(text != NULL);
    memset(text, '[', size);
    text[size] = 0;
    snwGltfRead deep = snwGltfRead_File((snwGltfBytes){text, size}, "x.gltf");
    CHECK(deep.result < 0);
    snwGltfRead_End(&deep);
    text = malloc(size + 1);
    REQUIRE(text != NULL);
    for (size_t i = 0; i < size; ++i)
        text[i] = "[],"[i % 3]; // each pair would cost jansson a hundred bytes
    text[0] = '[';
    text[size] = 0;
    snwGltfRead wide = snwGltfRead_File((snwGltfBytes){text, size}, "x.gltf");
    CHECK(wide.result < 0);
    CHECK_CONTAINS(wide.message.text, "too large");
    snwGltfRead_End(&wide);
}

static void Put32(snwGltfBytes* file, size_t offset, uint32_t value)
{
    for (int i = 0; i < 4; ++i)
        file->data[offset + (size_t)i] = (char)(value >> (8 * i) & 255);
}

static snwGltfBytes TriangleFile(void)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    snwGltfBytes file = snwGltfWorld_Glb(&world);
    snwGltfWorld_Free(&world);
    return file;
}

TEST(gltf, glbHeadersThatLie)
{
    static const struct
    {
        size_t offset;
        uint32_t value;
        const char* words;
    } s_lies[] = {
        {4, 1, "version 1"}, {8, 100000, "should have 100000 bytes"}, {8, 4, "has 4 bytes"}, {8, 12, "no JSON chunk"},
        {12, 100000, "only"}, {12, 0xFFFFFFFF, "only"}, {16, 0x004E4942, "must be JSON"},
        {12, 8, "left in the file"}, // the next chunk begins inside of the text
    };
    for (size_t i = 0; i < sizeof s_lies / sizeof *s_lies; ++i)
    {
        snwGltfBytes file = TriangleFile();
        Put32(&file, s_lies[i].offset, s_lies[i].value);
        snwGltfRead read = snwGltfRead_File(file, "x.glb");
        CHECK(read.result < 0);
        CHECK_CONTAINS(read.message.text, s_lies[i].words);
        snwGltfRead_End(&read);
    }
}

// Zeros behind the text, a chunk of another kind, bytes behind the end: read, and told.
TEST(gltf, glbOddities)
{
    snwGltfBytes file = TriangleFile();
    size_t size = file.size + 8 + 4 + 5;
    char* data = calloc(1, size + 1);
    REQUIRE(data != NULL);
    memcpy(data, file.data, file.size);
    snwGltfBytes longer = {data, size};
    Put32(&longer, 8, (uint32_t)(file.size + 12));
    Put32(&longer, file.size, 4);
    memcpy(data + file.size + 4, "ACMEdata", 8);
    for (char* c = strstr(data + 20, "}  "); c != NULL && *++c == ' ';)
        *c = 0;
    free(file.data);
    snwGltfRead read = snwGltfRead_File(longer, "x.glb");
    REQUIRE(read.asset != NULL);
    REQUIRE(read.asset->gltf->chunkCount == 1);
    CHECK(memcmp(read.asset->gltf->chunks[0].data, "data", 4) == 0 && read.asset->gltf->chunks[0].size == 4);
    CHECK_NOTE(&read, snw_noteOdd, "chunk of an unknown kind", 1);
    CHECK_NOTE(&read, snw_noteLeftOut, "behind the end of the GLB (5)", 1);
    snwGltfRead_End(&read);
}

TEST(gltf, zerosBehindTheText)
{
    static const char s_text[] = "{\"asset\": {\"version\": \"2.0\"}}";
    snwGltfBytes file = snwGltfWorld_Wrap(s_text, NULL, 0);
    for (size_t i = 20 + strlen(s_text); i < file.size; ++i)
        file.data[i] = 0;
    snwGltfRead read = snwGltfRead_File(file, "x.glb");
    REQUIRE(read.asset != NULL);
    CHECK_NOTE(&read, snw_noteRepaired, "zeros behind the JSON", 1);
    snwGltfRead_End(&read);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// A few bytes that unfold to gigabytes.
TEST(gltf, filesDoNotUnfoldWithoutEnd)
{
    snwGltfWorld world = snwGltfWorld_Triangle();
    snwGltfWorld_Set(&world, "accessors/0/count", "40000000");
    snwGltfWorld_Set(&world, "accessors/0/bufferView", NULL); // zeros from nothing
    CHECK_REFUSED(&world, "meshes[0]", "unfolds to at most");
    world = snwGltfWorld_Triangle();
    snwGltfWorld_Set(&world, "accessors/0/count", "3000000");
    snwGltfWorld_Set(&world, "accessors/0/bufferView", NULL);
    for (int i = 1; i < 8; ++i)
        snwGltfWorld_Add(&world, "meshes", "{'primitives': [{'attributes': {'POSITION': 0}}]}");
    CHECK_REFUSED(&world, "meshes[", "unfolds to at most");
}

static snwGltfBytes SeedFile(int kind)
{
    snwGltfWorld world = kind == 2 ? PackedTriangle() : snwGltfWorld_Bar();
    snwGltfBytes file = kind == 1 ? snwGltfWorld_Embedded(&world) : snwGltfWorld_Glb(&world);
    snwGltfWorld_Free(&world);
    return file;
}

TEST(gltf, everyTruncationIsRefused)
{
    for (int kind = 0; kind < 3; ++kind)
    {
        snwGltfBytes whole = SeedFile(kind);
        for (size_t size = 0; size < whole.size; ++size)
        {
            char* copy = malloc(size + 1); // so that reading too far is seen
            REQUIRE(copy != NULL);
            memcpy(copy, whole.data, size);
            copy[size] = 0;
            snwGltfRead read = snwGltfRead_File((snwGltfBytes){copy, size}, kind == 1 ? "x.gltf" : "x.glb");
            if (read.result >= 0 || read.message.text[0] == 0)
                snwTest_Fail(__FILE__, __LINE__, "kind %d, %zu bytes: %d", kind, size, read.result);
            snwGltfRead_End(&read);
        }
        free(whole.data);
    }
}

// A byte changed anywhere in the numbers: whatever is read keeps its promises.
TEST(gltf, changedBytesKeepThePromises)
{
    uint64_t seed = 7;
    int accepted = 0;
    for (int round = 0; round < 1000; ++round)
    {
        snwGltfBytes file = SeedFile(round % 2 * 2);
        size_t start = 28 + (unsigned char)file.data[12] + (size_t)(unsigned char)file.data[13] * 256;
        size_t room = file.size - start;
        for (int i = 0; i < 3; ++i)
        {
            size_t place = start + (size_t)(snwTest_Random(&seed) * (double)room);
            file.data[place] ^= (char)(1 + (int)(snwTest_Random(&seed) * 255));
        }
        snwGltfRead read = snwGltfRead_File(file, "x.glb");
        CHECK(read.asset == NULL || snwSound_Asset(read.asset));
        accepted += read.asset != NULL;
        snwGltfRead_End(&read);
    }
    CHECK(accepted > 50 && accepted < 950);
}

TEST(gltf, runningOutOfMemory)
{
    for (int kind = 0; kind < 3; ++kind)
    {
        snwGltfBytes file = SeedFile(kind);
        bool done = false;
        for (long n = 1; !done && n < 5000; ++n)
        {
            snwCountingAllocator counter = {0};
            snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
            counter.failAt = counter.allocations + n;
            snwAssetInput input = {kind == 1 ? "x.gltf" : "x.glb", file.data, file.size, NULL};
            snwAsset* asset = NULL;
            snwMessage message = {0};
            snwResult result = snwAsset_Read(context, &input, &asset, &message);
            done = counter.allocations < counter.failAt;
            if (result != (done ? snw_ok : snw_errorMemory))
                snwTest_Fail(__FILE__, __LINE__, "kind %d, allocation %ld: %d", kind, n, result);
            snwAsset_Close(asset);
            snwDestroyContext(context);
            CHECK_INT(counter.live, 0);
        }
        CHECK(done);
        free(file.data);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Files beside it

static void Write(const char* folder, const char* name, const void* data, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size)
        snwTest_Fail(__FILE__, __LINE__, "cannot write %s", path);
    if (file != NULL)
        fclose(file);
}

// A triangle in FOLDER/in whose buffer is at `uri`.
static snwResult OpenWith(snwContext* context, const char* uri, snwAsset** asset, snwMessage* message)
{
    char folder[400], path[512];
    snprintf(folder, sizeof folder, "%s/in", snwTest_TempDir());
    mkdir(folder, 0700);
    snwGltfWorld world = snwGltfWorld_Triangle();
    snwGltfBytes file = snwGltfWorld_Text(&world, uri);
    Write(folder, "file.gltf", file.data, file.size);
    Write(folder, "my data.bin", world.bytes, world.size);
    Write(snwTest_TempDir(), "secret.bin", world.bytes, world.size);
    snwGltfWorld_Free(&world);
    free(file.data);
    snprintf(path, sizeof path, "%s/file.gltf", folder);
    return snwAsset_Open(context, path, asset, message);
}

TEST(gltf, buffersBesideTheFile)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMessage message = {0};
    snwAsset* asset = NULL;
    CHECK(OpenWith(context, "my%20data.bin", &asset, &message) >= 0);
    REQUIRE(asset != NULL);
    CHECK(asset->meshes[0].positions[1].x == 1);
    snwAsset_Close(asset);
    CHECK(OpenWith(context, "./my data.bin", &asset, &message) >= 0);
    snwAsset_Close(asset);
    CHECK(OpenWith(context, "missing.bin", &asset, &message) < 0 && asset == NULL);
    CHECK_CONTAINS(message.place, "buffers[0].uri");
    CHECK_CONTAINS(message.file, "missing.bin");
    snwDestroyContext(context);
}

TEST(gltf, buffersCannotLeaveTheFolder)
{
    char rooted[512], named[512];
    snprintf(rooted, sizeof rooted, "%s/secret.bin", snwTest_TempDir());
    snprintf(named, sizeof named, "file://%s", rooted);
    const char* uris[] = {"../secret.bin", "%2e%2e/secret.bin", "%2E%2E%2Fsecret.bin", "x/../../secret.bin",
        "./../secret.bin", rooted, named, "%2F", "C:\\secret.bin", "c:secret.bin", "..\\secret.bin",
        "http://example.org/a.bin", "link.bin", "away/secret.bin", "", ".."};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    char path[512];
    snwAsset* asset = NULL;
    snwMessage message = {0};
    CHECK(OpenWith(context, "my%20data.bin", &asset, &message) >= 0); // makes the files
    snwAsset_Close(asset);
    snprintf(path, sizeof path, "%s/in/link.bin", snwTest_TempDir());
    CHECK(symlink(rooted, path) == 0);
    snprintf(path, sizeof path, "%s/in/away", snwTest_TempDir());
    CHECK(symlink(snwTest_TempDir(), path) == 0);
    for (size_t i = 0; i < sizeof uris / sizeof *uris; ++i)
    {
        if (OpenWith(context, uris[i], &asset, &message) >= 0)
            snwTest_Fail(__FILE__, __LINE__, "'%s' was read", uris[i]);
        CHECK(asset == NULL && strstr(message.place, "buffers[0].uri") != NULL);
        snwAsset_Close(asset);
    }
    snwDestroyContext(context);
}
