// Buffers as bytes: a GLB's chunk, base64 in the document, files beside it; and buffer views, unpacked where they are
// compressed (EXT_meshopt_compression).

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <math.h>
#include <meshoptimizer.h>
#include <string.h>
#include <strings.h>

static const int64_t s_sizeRange[2] = {1, (int64_t)snw_maxAssetBytes};
static const int64_t s_offsetRange[2] = {0, (int64_t)snw_maxAssetBytes};

// ---------------------------------------------------------------------------------------------------------------------
// URIs

static int Base64Digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Bytes that the text holds, -1 if it is none; out may be NULL. *bad: where it stops making sense.
static int64_t DecodeBase64(const char* text, size_t size, unsigned char* out, size_t* bad)
{
    // Padding says nothing.
    for (int i = 0; i < 2 && size > 0 && text[size - 1] == '='; ++i)
        size--;
    uint32_t bits = 0;
    int64_t count = 0;
    *bad = size;

    // Six bits a letter; a byte is full at all but the first letter of four.
    for (size_t i = 0; i < size; ++i)
    {
        int digit = Base64Digit(text[i]);
        if (digit < 0)
        {
            *bad = i;
            return -1;
        }

        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 == 0)
            continue;
        if (out != NULL)
            out[count] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
        count++;
    }

    return size % 4 == 1 ? -1 : count;
}

static int HexDigit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "my%20file.bin" -> "my file.bin"; false if the name makes no sense. out holds strlen(uri) + 1 bytes.
static bool DecodePercent(const char* uri, char* out)
{
    for (; *uri != 0; ++uri, ++out)
    {
        *out = *uri;
        if (*uri != '%')
            continue;
        int high = HexDigit(uri[1]), low = high < 0 ? -1 : HexDigit(uri[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *out = (char)(high * 16 + low);
        uri += 2;
    }
    *out = 0;
    return true;
}

static snwResult LoadEmbedded(snwContext* context, const char* uri, char** data, size_t* size, snwMessage* message)
{
    const char* comma = strchr(uri, ',');
    if (comma == NULL || comma - uri < 7 || strncasecmp(comma - 7, ";base64", 7) != 0)
        return snwFail(message, snw_errorInput, "store the data in a file beside it", "only base64 data is read");
    const char* text = comma + 1;
    size_t length = strlen(text), bad;
    int64_t found = DecodeBase64(text, length, NULL, &bad);
    if (found < 0)
        return snwFail(message, snw_errorInput, "its data was edited or cut: export it again",
            "is no base64: it makes no sense at character %zu of its data", bad);
    *data = snwAllocRaw(context, (size_t)found + 1);
    if (*data == NULL)
        return snwFailMemory(message);
    DecodeBase64(text, length, (unsigned char*)*data, &bad);
    *size = (size_t)found;
    return snw_ok;
}

snwResult snwGltf_LoadUri(
    snwContext* context, const snwAssetFolder* folder, const char* uri, char** data, size_t* size, snwMessage* message)
{
    *data = NULL;
    *size = 0;
    if (strncasecmp(uri, "data:", 5) == 0)
        return LoadEmbedded(context, uri, data, size, message);

    char* name = snwAllocRaw(context, strlen(uri) + 1);
    snwResult result = snw_ok;

    // A name is decoded before it is asked for; the folder decides whether it may be read.
    if (name == NULL)
        result = snwFailMemory(message);
    else if (!DecodePercent(uri, name))
        result = snwFail(message, snw_errorInput, NULL, "is no name of a file: '%s'", snwQuoteWord(uri).text);
    else if (folder == NULL)
        result = snwFail(message, snw_errorInput, "read it from its folder, or export a .glb",
            "its data is in the file '%s', and there is no folder to look in", snwQuoteWord(name).text);
    else
        result = folder->read(folder->user, context, name, data, size, message);

    snwFree(context, name);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Buffers

// Counts what was loaded, so that a file that names a large one again and again ends soon.
static bool CountBytes(snwGltfReading* reading, size_t size)
{
    if (size > 2 * (size_t)snw_maxAssetBytes - reading->gltf->sourceBytes)
    {
        snwGltf_Fail(
            reading, "split the file", "the file and its buffers have more than %d MB", 2 * (snw_maxAssetBytes >> 20));
        return false;
    }
    reading->gltf->sourceBytes += size;
    return true;
}

// Takes `size` bytes of what was found.
static const unsigned char* KeepBytes(snwGltfReading* reading, const void* data, size_t found, size_t size)
{
    if (found < size)
    {
        snwGltf_Fail(
            reading, "its data is cut: export or copy it again", "should have %zu bytes, has %zu", size, found);
        return NULL;
    }
    void* copy = snwGltf_Room(reading, (int64_t)size, 1);
    if (copy != NULL)
        memcpy(copy, data, size);
    return copy;
}

static const json_t* Extension(snwGltfReading* reading, const json_t* object, const char* name)
{
    return snwGltf_Object(reading, snwGltf_Object(reading, object, "extensions"), name);
}

static void ReadUri(snwGltfReading* reading, snwGltfBuffer* buffer)
{
    size_t mark = snwJson_Enter(&reading->json, "uri"), found = 0;
    char* data = NULL;
    snwGltf_Check(reading, snwGltf_LoadUri(reading->asset->context, reading->input->folder, buffer->uri, &data, &found,
                               reading->json.message));
    bool beside = strncasecmp(buffer->uri, "data:", 5) != 0; // else the document has them, and they are counted
    if (data != NULL && !snwGltfReading_Failed(reading) && (!beside || CountBytes(reading, found)))
        buffer->data = KeepBytes(reading, data, found, buffer->size);
    snwFree(reading->asset->context, data);
    snwJson_Leave(&reading->json, mark);
}

static void ReadBuffer(snwGltfReading* reading, snwGltfBuffer* buffer, const json_t* item)
{
    buffer->size = (size_t)snwGltf_Int(reading, item, "byteLength", s_sizeRange, 0);
    buffer->uri = snwGltf_Text(reading, item, "uri");
    const json_t* extension = Extension(reading, item, "EXT_meshopt_compression");
    buffer->fallback = extension != NULL && snwGltf_Bool(reading, extension, "fallback");
    if (!snwGltfReading_Failed(reading) && !buffer->fallback && buffer->uri != NULL)
        ReadUri(reading, buffer);
}

// Only the first buffer may be the chunk, and only if it names no other place.
static void TakeBufferChunk(snwGltfReading* reading, const unsigned char* chunk, size_t chunkSize)
{
    snwGltf* gltf = reading->gltf;
    if (snwGltfReading_Failed(reading) || chunk == NULL)
        return;
    size_t mark = snwJson_Enter(&reading->json, "buffers[0]");
    if (gltf->bufferCount > 0 && gltf->buffers[0].uri == NULL && !gltf->buffers[0].fallback)
        gltf->buffers[0].data = KeepBytes(reading, chunk, chunkSize, gltf->buffers[0].size);
    else
        snwGltf_Note(reading, snw_noteOdd, 1, "no buffer uses the BIN chunk of the GLB");
    snwJson_Leave(&reading->json, mark);
}

void snwGltf_ReadBuffers(snwGltfReading* reading, const unsigned char* chunk, size_t chunkSize)
{
    snwGltf* gltf = reading->gltf;
    const json_t* list = snwGltf_List(reading, gltf->root, "buffers", snw_maxAssetNodes, &gltf->bufferCount);
    gltf->buffers = snwGltf_Room(reading, gltf->bufferCount, sizeof *gltf->buffers);
    size_t mark = snwJson_Enter(&reading->json, "buffers");
    for (int i = 0; i < gltf->bufferCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        ReadBuffer(reading, &gltf->buffers[i], snwGltf_Item(reading, list, i));
        snwJson_Leave(&reading->json, place);
    }
    snwJson_Leave(&reading->json, mark);
    TakeBufferChunk(reading, chunk, chunkSize);
}

// ---------------------------------------------------------------------------------------------------------------------
// Views

typedef enum Mode
{
    modeAttributes,
    modeTriangles,
    modeIndices,
    modeCount
} Mode;

typedef enum Filter
{
    filterNone,
    filterOctahedral,
    filterQuaternion,
    filterExponential,
    filterCount
} Filter;

static const char* const s_modes[] = {"ATTRIBUTES", "TRIANGLES", "INDICES"};
static const char* const s_filters[] = {"NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL"};

typedef struct Packed
{
    const unsigned char* data;
    size_t size;
    size_t count, stride;
    int mode, filter;
} Packed;

// The place of a word in a list; `count` fails.
static int FindChoice(
    snwGltfReading* reading, const json_t* object, const char* key, const char* const* words, int count)
{
    const char* word = snwGltf_Text(reading, object, key);
    for (int i = 0; word != NULL && i < count; ++i)
        if (strcmp(word, words[i]) == 0)
            return i;
    size_t mark = snwJson_Enter(&reading->json, key);
    snwGltf_Fail(reading, NULL, "'%s' is not known", word == NULL ? "" : snwQuoteWord(word).text);
    snwJson_Leave(&reading->json, mark);
    return 0;
}

// The bytes [byteOffset, byteOffset + byteLength) of a buffer; NULL if it has none.
static const unsigned char* Slice(snwGltfReading* reading, const json_t* item, int* index, size_t* size)
{
    const snwGltf* gltf = reading->gltf;
    *index = snwGltf_NeedIndex(reading, item, "buffer", gltf->bufferCount, "buffers");
    size_t offset = (size_t)snwGltf_Int(reading, item, "byteOffset", s_offsetRange, 0);
    *size = (size_t)snwGltf_Int(reading, item, "byteLength", s_sizeRange, 0);
    if (snwGltfReading_Failed(reading))
        return NULL;
    const snwGltfBuffer* buffer = &gltf->buffers[*index];
    if (offset > buffer->size || *size > buffer->size - offset)
        snwGltf_Fail(reading, "the file is cut or edited by hand: export it again",
            "its bytes %zu to %zu lie beyond the end of buffer %d, which has %zu", offset, offset + *size, *index,
            buffer->size);
    return buffer->data == NULL ? NULL : buffer->data + offset;
}

// What libmeshoptimizer asserts and the extension demands.
static bool IsSoundPacking(const Packed* packed)
{
    size_t stride = packed->stride;
    if (packed->mode == modeAttributes)
    {
        static const size_t s_strides[filterCount] = {4, 4, 8, 4};
        bool octahedral = packed->filter == filterOctahedral && stride != 4 && stride != 8;
        bool quaternion = packed->filter == filterQuaternion && stride != 8;
        return stride % s_strides[packed->filter] == 0 && stride <= 256 && !octahedral && !quaternion;
    }
    bool whole = packed->mode != modeTriangles || packed->count % 3 == 0;
    return (stride == 2 || stride == 4) && whole && packed->filter == filterNone;
}

// A direction on the octahedron |x| + |y| + |z| = one: x and y are stored, and one. Not meshopt_decodeFilterOct: its
// reciprocal roots have other bits on other processors.
static void UnfoldDirection(double x, double y, double one, double most, double out[3])
{
    double z = one - fabs(x) - fabs(y), fold = fmin(z, 0.0);
    x += x >= 0.0 ? fold : -fold;
    y += y >= 0.0 ? fold : -fold;
    double length = sqrt(x * x + y * y + z * z), scale = length > 0.0 ? most / length : 0.0;
    out[0] = round(x * scale), out[1] = round(y * scale), out[2] = round(z * scale);
}

// Four numbers each of 8 or 16 bits, of which the last is left alone.
static void DecodeOctahedral(void* data, size_t count, size_t stride)
{
    int8_t* bytes = data;
    int16_t* words = data;

    // Two numbers of an octahedron's map, unfolded to a direction of three.
    for (size_t i = 0; i < 4 * count; i += 4)
    {
        double out[3];
        if (stride == 4)
            UnfoldDirection(bytes[i], bytes[i + 1], bytes[i + 2], INT8_MAX, out);
        else
            UnfoldDirection(words[i], words[i + 1], words[i + 2], INT16_MAX, out);

        for (size_t k = 0; k < 3; ++k)
        {
            if (stride == 4)
                bytes[i + k] = (int8_t)out[k];
            else
                words[i + k] = (int16_t)out[k];
        }
    }
}

static bool DecodePacked(const Packed* packed, void* out)
{
    int problem;
    if (packed->mode == modeAttributes)
        problem = meshopt_decodeVertexBuffer(out, packed->count, packed->stride, packed->data, packed->size);
    else if (packed->mode == modeTriangles)
        problem = meshopt_decodeIndexBuffer(out, packed->count, packed->stride, packed->data, packed->size);
    else
        problem = meshopt_decodeIndexSequence(out, packed->count, packed->stride, packed->data, packed->size);
    if (problem != 0)
        return false;
    if (packed->filter == filterOctahedral)
        DecodeOctahedral(out, packed->count, packed->stride);
    else if (packed->filter == filterQuaternion)
        meshopt_decodeFilterQuat(out, packed->count, packed->stride);
    else if (packed->filter == filterExponential)
        meshopt_decodeFilterExp(out, packed->count, packed->stride);
    return true;
}

static void UnpackView(snwGltfReading* reading, snwGltfView* view, const Packed* packed)
{
    static const char s_remedy[] = "compress it again (gltfpack -c), or export without compression";
    if (!IsSoundPacking(packed))
        snwGltf_Fail(reading, s_remedy, "a stride of %zu with %zu elements makes no sense in mode %s, filter %s",
            packed->stride, packed->count, s_modes[packed->mode], s_filters[packed->filter]);
    else if (packed->count * packed->stride != view->size)
        snwGltf_Fail(
            reading, s_remedy, "unpacks to %zu bytes; the view has %zu", packed->count * packed->stride, view->size);
    else if (packed->data == NULL)
        snwGltf_Fail(reading, s_remedy, "its buffer has no data");
    void* out = snwGltf_Room(reading, (int64_t)view->size, 1);
    if (out != NULL && !DecodePacked(packed, out))
        snwGltf_Fail(reading, s_remedy, "its compressed data is broken");
    view->data = out;
    view->compressed = true;
}

static void ReadPacked(snwGltfReading* reading, snwGltfView* view, const json_t* item)
{
    static const int64_t s_countRange[2] = {1, (int64_t)snw_maxAssetVertices * 3};
    static const int64_t s_strideRange[2] = {1, 256};
    size_t mark = snwJson_Enter(&reading->json, "extensions.EXT_meshopt_compression");
    int buffer;
    Packed packed = {0};
    packed.data = Slice(reading, item, &buffer, &packed.size);
    packed.count = (size_t)snwGltf_Int(reading, item, "count", s_countRange, 0);
    packed.stride = (size_t)snwGltf_Int(reading, item, "byteStride", s_strideRange, 0);
    packed.mode = FindChoice(reading, item, "mode", s_modes, modeCount);
    if (json_object_get(item, "filter") != NULL)
        packed.filter = FindChoice(reading, item, "filter", s_filters, filterCount);
    if (!snwGltfReading_Failed(reading))
        UnpackView(reading, view, &packed);
    snwJson_Leave(&reading->json, mark);
}

static void ReadView(snwGltfReading* reading, snwGltfView* view, const json_t* item)
{
    static const int64_t s_strideRange[2] = {0, 256};
    view->data = Slice(reading, item, &view->buffer, &view->size);
    view->stride = (int)snwGltf_Int(reading, item, "byteStride", s_strideRange, 0);
    if (view->stride % 4 != 0)
        snwGltf_Note(reading, snw_noteOdd, 1, "the stride of a buffer view is no multiple of 4");
    const json_t* extension = Extension(reading, item, "EXT_meshopt_compression");
    if (extension != NULL)
        ReadPacked(reading, view, extension);
}

void snwGltf_ReadViews(snwGltfReading* reading)
{
    snwGltf* gltf = reading->gltf;
    const json_t* list = snwGltf_List(reading, gltf->root, "bufferViews", snw_maxGltfItems, &gltf->viewCount);
    gltf->views = snwGltf_Room(reading, gltf->viewCount, sizeof *gltf->views);
    size_t mark = snwJson_Enter(&reading->json, "bufferViews");
    for (int i = 0; i < gltf->viewCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        ReadView(reading, &gltf->views[i], snwGltf_Item(reading, list, i));
        snwJson_Leave(&reading->json, place);
    }
    snwJson_Leave(&reading->json, mark);
}
