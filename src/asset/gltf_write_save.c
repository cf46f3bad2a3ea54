// From the writer's document to bytes.
//
// A GLB has one binary chunk, which is the document's first buffer. Documents with more of them keep them: the others
// go into the text as base64. Merging all into one would be a quarter smaller, but every offset would change, also
// those in extensions that we do not know. What lay in files beside the source comes inside, so the output stands
// alone wherever it is put.

#include "asset/gltf_write_parts.h"
#include "asset/texture.h"
#include "scene/file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum
{
    snw_maxGltfFiles = 64 // .bin files of one document
};

// Where bytes go: a file or memory.
typedef struct Sink
{
    snwPartFile* file; // NULL: memory
    snwWriter memory;
    snwMessage* message;
    snwResult result;
} Sink;

static void EmitBytes(Sink* sink, const void* data, size_t size)
{
    if (sink->result < 0 || size == 0)
        return;
    if (sink->file != NULL)
        sink->result = snwPartFile_Write(sink->file, data, size, sink->message);
    else
        snwWrite(&sink->memory, data, size);
    if (sink->memory.failed)
        sink->result = snwFailMemory(sink->message);
}

static void EmitInt(Sink* sink, uint32_t value)
{
    unsigned char bytes[4] = {
        (unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    EmitBytes(sink, bytes, sizeof bytes);
}

static size_t Padding(size_t size)
{
    return (4 - size % 4) % 4;
}

// ---------------------------------------------------------------------------------------------------------------------
// Buffers

// The bytes of a buffer: the source's, zeros up to a multiple of 4, and what was added.
typedef struct Buffer
{
    const unsigned char* data; // NULL: it has none
    size_t size;
    size_t gap;
    const unsigned char* added;
    size_t addedSize;
} Buffer;

static Buffer BufferAt(const snwGltfWriter* writer, int index)
{
    Buffer buffer = {0};
    if (index == writer->buffer && writer->packed.size > 0)
        return (Buffer){.added = writer->packed.data, .addedSize = writer->packed.size};
    if (writer->source != NULL && index < writer->source->bufferCount)
    {
        buffer.data = writer->source->buffers[index].data;
        buffer.size = buffer.data == NULL ? 0 : writer->source->buffers[index].size;
    }
    if (index == writer->buffer && writer->bytes.size > 0)
    {
        buffer.gap = writer->base - buffer.size;
        buffer.added = writer->bytes.data;
        buffer.addedSize = writer->bytes.size;
    }
    return buffer;
}

static size_t BufferSize(const Buffer* buffer)
{
    return buffer->size + buffer->gap + buffer->addedSize;
}

static void EmitBuffer(Sink* sink, const Buffer* buffer)
{
    static const char s_zeros[4] = {0};
    EmitBytes(sink, buffer->data, buffer->size);
    EmitBytes(sink, s_zeros, buffer->gap);
    EmitBytes(sink, buffer->added, buffer->addedSize);
}

// ---------------------------------------------------------------------------------------------------------------------
// Buffers as text

static void EncodeBase64(const unsigned char* bytes, size_t size, char* out)
{
    static const char s_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3)
    {
        size_t left = size - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        *out++ = s_digits[three >> 18];
        *out++ = s_digits[three >> 12 & 63];
        *out++ = left > 1 ? s_digits[three >> 6 & 63] : '=';
        *out++ = left > 2 ? s_digits[three & 63] : '=';
    }
}

static snwValue* BufferText(snwGltfWriter* writer, const Buffer* buffer)
{
    static const char s_head[] = "data:application/octet-stream;base64,";
    snwTree* tree = &writer->tree;

    // Base64 needs all of the bytes at once.
    Sink whole = {.memory = {.context = writer->context}};
    EmitBuffer(&whole, buffer);
    size_t size = whole.memory.size;
    char* text = whole.result < 0 ? NULL : snwArena_Alloc(&tree->arena, sizeof s_head + (size + 2) / 3 * 4, 1);
    snwValue* value = text == NULL ? NULL : snwTree_NewText(tree, "");

    if (value != NULL)
    {
        memcpy(text, s_head, sizeof s_head - 1);
        EncodeBase64(whole.memory.data, size, text + sizeof s_head - 1);
        value->text = text;
    }
    else
        snwGltfWriter_FailMemory(writer);

    snwFree(writer->context, whole.memory.data);
    return value;
}

static bool IsData(const char* uri)
{
    return uri != NULL && strncasecmp(uri, "data:", 5) == 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Where each buffer is said to be

static bool IsChunk(const snwGltfWriter* writer, snwGltfForm form, int index)
{
    return form == snw_gltfGlb && index == 0 && writer->buffer == 0;
}

// "my model.bin" -> "my%20model.bin"
static void QuoteName(const char* name, char* out, size_t capacity)
{
    size_t length = 0;
    for (; *name != 0 && length + 4 < capacity; ++name)
    {
        unsigned char c = (unsigned char)*name;
        bool plain = (c < 128 && isalnum(c)) || strchr("-_.~", c) != NULL;
        length += (size_t)snprintf(out + length, capacity - length, plain ? "%c" : "%%%02X", c);
    }
    out[length] = 0;
}

// path without its ending, a number for all but the first, and ".bin"
static void BinName(const char* path, int index, char* out, size_t capacity)
{
    const char* slash = strrchr(path, '/');
    const char* dot = strrchr(path, '.');
    bool ending = dot != NULL && dot > (slash == NULL ? path : slash + 1);
    int length = ending ? (int)(dot - path) : (int)strlen(path);
    if (index == 0)
        snprintf(out, capacity, "%.*s.bin", length, path);
    else
        snprintf(out, capacity, "%.*s-%d.bin", length, path, index);
}

static void NameBinFile(snwGltfWriter* writer, snwValue* value, const char* path, int index)
{
    char name[4096], quoted[3 * 256 + 16];
    BinName(path, index, name, sizeof name);
    const char* slash = strrchr(name, '/');
    QuoteName(slash == NULL ? name : slash + 1, quoted, sizeof quoted);
    snwTree_SetText(&writer->tree, value, "uri", quoted);
}

static void PlaceBuffer(snwGltfWriter* writer, const snwGltfSave* save, int index)
{
    Buffer buffer = BufferAt(writer, index);
    snwValue* value = snwValue_GetAt(writer->root, "buffers", index);
    const char* uri = writer->source != NULL && index < writer->source->bufferCount ? writer->source->buffers[index].uri
                                                                                    : NULL;
    if (BufferSize(&buffer) == 0)
        return; // nothing that we could put anywhere
    if (buffer.addedSize > 0)
        snwTree_SetInt(&writer->tree, value, "byteLength", (int64_t)BufferSize(&buffer));
    if (IsChunk(writer, save->form, index))
        snwTree_Remove(value, "uri");
    else if (save->form == snw_gltfFiles)
        NameBinFile(writer, value, save->path, index);
    else if (IsData(uri) && buffer.addedSize == 0)
        snwTree_SetText(&writer->tree, value, "uri", uri);
    else
        snwTree_Set(&writer->tree, value, "uri", BufferText(writer, &buffer));
}

static void PlaceBuffers(snwGltfWriter* writer, const snwGltfSave* save)
{
    for (int i = 0; i < snwGltfWriter_Count(writer, "buffers") && !snwGltfWriter_Failed(writer); ++i)
        PlaceBuffer(writer, save, i);
}

// ---------------------------------------------------------------------------------------------------------------------
// The forms

static void EmitGlb(const snwGltfWriter* writer, const snwText* json, Sink* sink)
{
    bool chunked = IsChunk(writer, snw_gltfGlb, 0);
    Buffer buffer = chunked ? BufferAt(writer, 0) : (Buffer){0};

    // Sizes first: each chunk says its own, and the header that of all.
    size_t text = json->size + Padding(json->size), size = BufferSize(&buffer), total = 12 + 8 + text;
    size_t binary = size + Padding(size);
    total += size > 0 ? 8 + binary : 0;
    int chunks = writer->source == NULL ? 0 : writer->source->chunkCount;
    for (int i = 0; i < chunks; ++i)
        total += 8 + writer->source->chunks[i].size + Padding(writer->source->chunks[i].size);

    if (total > UINT32_MAX)
    {
        sink->result = snwFail(sink->message, snw_errorArgument, "write a .gltf with its .bin beside it",
            "a .glb holds at most 4 GiB, and this one would have %zu MiB", total >> 20);
        return;
    }

    // The header, then JSON, binary, and the chunks of others.
    EmitInt(sink, 0x46546C67); // "glTF"
    EmitInt(sink, 2);
    EmitInt(sink, (uint32_t)total);
    EmitInt(sink, (uint32_t)text);
    EmitInt(sink, 0x4E4F534A); // "JSON"
    EmitBytes(sink, json->data, json->size);
    EmitBytes(sink, "   ", Padding(json->size));

    if (size > 0)
    {
        EmitInt(sink, (uint32_t)binary);
        EmitInt(sink, 0x004E4942); // "BIN"
        EmitBuffer(sink, &buffer);
        EmitBytes(sink, "\0\0\0", Padding(size));
    }

    for (int i = 0; i < chunks; ++i)
    {
        const snwGltfChunk* chunk = &writer->source->chunks[i];
        EmitInt(sink, (uint32_t)(chunk->size + Padding(chunk->size)));
        EmitInt(sink, chunk->kind);
        EmitBytes(sink, chunk->data, chunk->size);
        EmitBytes(sink, "\0\0\0", Padding(chunk->size));
    }
}

static snwResult EmitDocument(snwGltfWriter* writer, const snwGltfSave* save, Sink* sink)
{
    // Buffers are placed before the JSON is written, which names them.
    PlaceBuffers(writer, save);
    sink->result = snwGltfWriter_GetResult(writer, sink->message);
    if (sink->result < 0)
        return sink->result;

    snwText json = snwCreateText(writer->context, save->form == snw_gltfGlb ? 0 : 3);
    snwValue_Write(writer->root, &json);

    if (json.failed)
        sink->result = snwFailMemory(sink->message);
    else if (save->form == snw_gltfGlb)
        EmitGlb(writer, &json, sink);
    else
    {
        EmitBytes(sink, json.data, json.size);
        EmitBytes(sink, "\n", 1);
    }

    snwText_Free(&json);
    return sink->result;
}

snwResult snwGltfWriter_Write(
    snwGltfWriter* writer, snwGltfForm form, unsigned char** data, size_t* size, snwMessage* message)
{
    Sink sink = {.memory = {.context = writer->context}, .message = message};
    snwGltfSave save = {.path = "", .form = form == snw_gltfGlb ? snw_gltfGlb : snw_gltfEmbedded};
    snwResult result = EmitDocument(writer, &save, &sink);
    *data = NULL;
    *size = 0;
    if (result >= 0)
    {
        *data = sink.memory.data;
        *size = sink.memory.size;
    }
    else
        snwFree(writer->context, sink.memory.data);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

typedef struct Files
{
    snwPartFile parts[snw_maxGltfFiles + 1]; // the document comes last
    int count;
} Files;

static snwResult OpenGltfFile(
    snwGltfWriter* writer, Files* files, const snwGltfSave* save, const char* path, Sink* sink)
{
    if (files->count > snw_maxGltfFiles)
        return snwFail(sink->message, snw_errorArgument, "write a .glb instead",
            "the document has more than %d buffers for files", snw_maxGltfFiles);
    snwPartFile* part = &files->parts[files->count];
    snwResult result = snwPartFile_Open(part, writer->context, path, save->overwrite, sink->message);
    files->count += result >= 0;
    sink->file = part;
    return result;
}

static snwResult WriteBins(snwGltfWriter* writer, Files* files, const snwGltfSave* save, Sink* sink)
{
    for (int i = 0; i < snwGltfWriter_Count(writer, "buffers") && sink->result >= 0; ++i)
    {
        Buffer buffer = BufferAt(writer, i);
        char path[4096];
        if (BufferSize(&buffer) == 0)
            continue;
        BinName(save->path, i, path, sizeof path);
        sink->result = OpenGltfFile(writer, files, save, path, sink);
        EmitBuffer(sink, &buffer);
    }
    return sink->result;
}

// Text after its buffers: whoever sees the document finds what it names.
static snwResult CommitAll(Files* files, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < files->count && result >= 0; ++i)
        result = snwPartFile_Commit(&files->parts[i], message);
    return result;
}

snwGltfSave snwDefaultGltfSave(const char* path)
{
    size_t length = strlen(path);
    bool text = length > 5 && strcasecmp(path + length - 5, ".gltf") == 0;
    return (snwGltfSave){.path = path, .form = text ? snw_gltfEmbedded : snw_gltfGlb};
}

snwResult snwGltfWriter_Save(snwGltfWriter* writer, const snwGltfSave* save, snwMessage* message)
{
    Sink sink = {.message = message, .result = snwGltfWriter_GetResult(writer, message)};
    if (sink.result < 0)
        return sink.result;
    if (strlen(save->path) > 4000)
        return snwFail(message, snw_errorArgument, "choose a shorter one", "the path of the output is too long");
    Files* files = snwAlloc(writer->context, sizeof *files);
    if (files == NULL)
        return snwFailMemory(message);

    // Buffers beside it first: only when all are written, all get their names.
    if (save->form == snw_gltfFiles)
        WriteBins(writer, files, save, &sink);
    if (sink.result >= 0)
        sink.result = OpenGltfFile(writer, files, save, save->path, &sink);
    if (sink.result >= 0)
        EmitDocument(writer, save, &sink);
    if (sink.result >= 0)
        sink.result = CommitAll(files, message);
    for (int i = 0; i < files->count && sink.result < 0; ++i)
        snwPartFile_Drop(&files->parts[i]);
    snwFree(writer->context, files);

    return sink.result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pictures

static size_t EmbedImage(snwGltfWriter* writer, snwValue* image, const snwAssetFolder* folder)
{
    const char* uri = snwValue_Text(snwValue_Get(image, "uri"), NULL);
    char* data = NULL;
    size_t size = 0;
    if (uri == NULL || IsData(uri))
        return 0;

    // Only what is a picture is taken in; anything else stays a reference.
    snwResult result = snwGltf_LoadUri(writer->context, folder, uri, &data, &size, NULL);
    const char* kind = result < 0 ? NULL : snwTexture_Kind(data, size);

    if (kind != NULL)
    {
        snwTree_Remove(image, "uri");
        snwTree_SetInt(&writer->tree, image, "bufferView", snwGltfWriter_AddView(writer, data, size));
        snwTree_SetText(&writer->tree, image, "mimeType", kind);
    }

    if (result == snw_errorMemory)
        snwGltfWriter_FailMemory(writer);
    snwFree(writer->context, data);
    return kind != NULL ? size : 0;
}

size_t snwGltfWriter_EmbedImages(snwGltfWriter* writer, const snwAssetFolder* folder)
{
    size_t moved = 0;
    const snwValue* images = snwValue_Get(writer->root, "images");
    for (int i = 0; i < snwValue_Count(images) && !snwGltfWriter_Failed(writer); ++i)
        moved += EmbedImage(writer, images->items[i], folder);
    return moved;
}
