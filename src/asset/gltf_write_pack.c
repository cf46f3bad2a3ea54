// Smaller files: bytes that nothing uses any more go, and what is left can be compressed. Numbers of views and
// accessors stay, so whatever points at them still does; only the places of bytes within the buffer change.

#include "asset/gltf_write_parts.h"

#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_packedCost = 200, // bytes of text that a compressed view takes: less is not worth it
    snw_widestRow = 256,  // that the codec takes
    snw_deepest = 64      // levels of unknown extensions that are looked at
};

typedef struct View
{
    bool used;         // by anything
    bool wasUsed;      // by an accessor that is no longer used
    bool triangles;    // all its accessors are corners of triangles
    bool other;        // an accessor is something else, or something else uses it
    int64_t stride;    // of its accessors; -1: they differ
    int64_t component; // of its accessors; -1: they differ
    int64_t row;       // bytes of a key of animations; -1: they differ
} View;

typedef struct Packing
{
    snwGltfWriter* writer;
    bool compress;
    bool* usedAccessors;
    bool* corners; // per accessor: of triangles
    int* rows;     // per accessor: numbers of a key of an animation
    int accessorCount, viewCount;
    View* views;
    int64_t fallback; // bytes of the buffer that compressed views seem to lie in
    int fallbackBuffer;
    unsigned char* room;
    size_t roomSize;
} Packing;

// ---------------------------------------------------------------------------------------------------------------------
// What is used

static void UseAccessor(Packing* p, int64_t index)
{
    if (index >= 0 && index < p->accessorCount)
        p->usedAccessors[index] = true;
}

static void UseView(Packing* p, int64_t index, bool other)
{
    if (index < 0 || index >= p->viewCount)
        return;
    p->views[index].used = true;
    p->views[index].other = p->views[index].other || other;
}

// Numbers in what we do not know may be those of accessors and views.
static void UseUnknown(Packing* p, const snwValue* value, int depth)
{
    if (value == NULL || depth > snw_deepest)
        return;
    if (value->kind == snw_valueInt)
    {
        UseAccessor(p, value->integer);
        UseView(p, value->integer, false);
    }
    if (value->kind == snw_valueList || value->kind == snw_valueObject)
        for (int i = 0; i < value->count; ++i)
            UseUnknown(p, value->items[i], depth + 1);
}

// Everything that is called extensions, except in the views themselves.
static void UseExtensions(Packing* p, const snwValue* value, int depth)
{
    if (value == NULL || depth > snw_deepest || (value->kind != snw_valueList && value->kind != snw_valueObject))
        return;
    for (int i = 0; i < value->count; ++i)
    {
        const snwValue* item = value->items[i];
        const char* key = value->kind == snw_valueObject ? item->key : "";
        if (strcmp(key, "extensions") == 0 || strcmp(key, "extras") == 0)
            UseUnknown(p, item, 0);
        else if (strcmp(key, "bufferViews") != 0 && strcmp(key, "buffers") != 0)
            UseExtensions(p, item, depth + 1);
    }
}

static void UseAccessors(Packing* p, const snwValue* object)
{
    for (int i = 0; i < snwValue_Count(object); ++i)
        UseAccessor(p, snwValue_Int(object->items[i], -1));
}

static void FindUsedAccessors(Packing* p)
{
    const snwValue* root = p->writer->root;
    const snwValue* meshes = snwValue_Get(root, "meshes");

    // Everything that names an accessor: attributes, indices and targets of meshes,
    for (int m = 0; m < snwValue_Count(meshes); ++m)
    {
        const snwValue* primitives = snwValue_Get(meshes->items[m], "primitives");
        for (int i = 0; i < snwValue_Count(primitives); ++i)
        {
            const snwValue *item = primitives->items[i], *targets = snwValue_Get(item, "targets");
            int64_t indices = snwValue_GetInt(item, "indices", -1);
            UseAccessors(p, snwValue_Get(item, "attributes"));
            for (int t = 0; t < snwValue_Count(targets); ++t)
                UseAccessors(p, targets->items[t]);
            UseAccessor(p, indices);
            if (indices >= 0 && indices < p->accessorCount && snwValue_GetInt(item, "mode", 4) == 4)
                p->corners[indices] = true;
        }
    }

    // matrices of skins, keys and values of animations.
    const snwValue* skins = snwValue_Get(root, "skins");
    for (int i = 0; i < snwValue_Count(skins); ++i)
        UseAccessor(p, snwValue_GetInt(skins->items[i], "inverseBindMatrices", -1));
    const snwValue* animations = snwValue_Get(root, "animations");
    for (int a = 0; a < snwValue_Count(animations); ++a)
    {
        const snwValue* samplers = snwValue_Get(animations->items[a], "samplers");
        for (int i = 0; i < snwValue_Count(samplers); ++i)
        {
            int input = (int)snwValue_GetInt(samplers->items[i], "input", -1);
            int output = (int)snwValue_GetInt(samplers->items[i], "output", -1);
            UseAccessor(p, input);
            UseAccessor(p, output);
            int keys = snwGltfWriter_Shape(p->writer, input).count;
            snwGltfShape values = snwGltfWriter_Shape(p->writer, output);
            if (keys > 0 && values.count > 0 && values.count % keys == 0)
                p->rows[output] = values.count / keys * values.width;
        }
    }
}

// An accessor that was replaced and that nothing uses has no bytes: it reads as zeros.
static void FindUsedViews(Packing* p)
{
    const snwValue* accessors = snwValue_Get(p->writer->root, "accessors");

    // A view is used if anything in it is; its stride and kind decide how it can be compressed.
    for (int i = 0; i < p->accessorCount; ++i)
    {
        snwValue* item = accessors->items[i];
        int64_t view = snwValue_GetInt(item, "bufferView", -1);
        bool theirs = p->writer->source != NULL && i < p->writer->source->accessorCount;
        bool may = !theirs || (p->writer->replaced != NULL && p->writer->replaced[i]);
        if (may && !p->usedAccessors[i])
        {
            if (view >= 0 && view < p->viewCount)
                p->views[view].wasUsed = true;
            static const char* const s_keys[] = {"bufferView", "byteOffset", "sparse", "min", "max"};
            for (size_t k = 0; k < sizeof s_keys / sizeof *s_keys; ++k)
                snwTree_Remove(item, s_keys[k]);
            continue;
        }

        UseView(p, view, !p->corners[i]);
        const snwValue* sparse = snwValue_Get(item, "sparse");
        UseView(p, snwValue_GetInt(snwValue_Get(sparse, "indices"), "bufferView", -1), true);
        UseView(p, snwValue_GetInt(snwValue_Get(sparse, "values"), "bufferView", -1), true);
        if (view < 0 || view >= p->viewCount)
            continue;
        snwGltfShape shape = snwGltfWriter_Shape(p->writer, i);
        int64_t component = snwValue_GetInt(item, "componentType", 0);
        int64_t stride = shape.width * snwGltfComponent_Size((snwGltfComponent)component);
        View* v = &p->views[view];
        v->triangles = p->corners[i] && (v->stride == 0 || v->triangles);
        v->component = v->stride == 0 || v->component == component ? component : -1;
        v->stride = v->stride == 0 || v->stride == stride ? stride : -1;
        int64_t row = p->rows[i] * snwGltfComponent_Size((snwGltfComponent)component);
        v->row = v->row == 0 || v->row == row ? row : -1;
        if (snwValue_GetInt(item, "byteOffset", 0) % (3 * stride) != 0 || shape.count % 3 != 0)
            v->triangles = false;
    }

    // Pictures in views are used by being there.
    const snwValue* images = snwValue_Get(p->writer->root, "images");
    for (int i = 0; i < snwValue_Count(images); ++i)
        UseView(p, snwValue_GetInt(images->items[i], "bufferView", -1), true);
}

// ---------------------------------------------------------------------------------------------------------------------
// Views

static unsigned char* GetPackingRoom(Packing* p, size_t size)
{
    if (size > p->roomSize)
    {
        snwFree(p->writer->context, p->room);
        p->room = snwAllocRaw(p->writer->context, size);
        p->roomSize = p->room == NULL ? 0 : size;
    }
    if (p->room == NULL)
        snwGltfWriter_FailMemory(p->writer);
    return p->room;
}

static size_t EncodeRows(Packing* p, const unsigned char* data, size_t count, size_t stride)
{
    size_t bound = meshopt_encodeVertexBufferBound(count, stride);
    unsigned char* room = GetPackingRoom(p, bound);
    meshopt_encodeVertexVersion(0);
    return room == NULL ? 0 : meshopt_encodeVertexBuffer(room, bound, data, count, stride);
}

static size_t EncodeTriangles(Packing* p, const unsigned char* data, size_t count, size_t stride)
{
    unsigned* corners = snwAllocArray(p->writer->context, count, sizeof *corners);
    unsigned most = 0;
    for (size_t i = 0; i < count && corners != NULL; ++i)
    {
        memcpy(&corners[i], data + i * stride, stride);
        most = corners[i] > most ? corners[i] : most;
    }
    size_t bound = meshopt_encodeIndexBufferBound(count, (size_t)most + 1), size = 0;
    unsigned char* room = corners == NULL ? NULL : GetPackingRoom(p, bound);
    meshopt_encodeIndexVersion(1);
    if (room != NULL)
        size = meshopt_encodeIndexBuffer(room, bound, corners, count);
    else
        snwGltfWriter_FailMemory(p->writer);
    snwFree(p->writer->context, corners);
    return size;
}

// Where an object with a buffer and a byteOffset has its bytes; NULL: not in the buffer that is packed.
static const unsigned char* BytesOf(const Packing* p, const snwValue* place, size_t* size)
{
    const snwGltfWriter* w = p->writer;
    size_t offset = (size_t)snwValue_GetInt(place, "byteOffset", 0);
    *size = (size_t)snwValue_GetInt(place, "byteLength", 0);
    if (snwValue_GetInt(place, "buffer", -1) != w->buffer)
        return NULL;
    if (offset >= w->base)
        return offset - w->base + *size <= w->bytes.size ? w->bytes.data + (offset - w->base) : NULL;
    const snwGltfBuffer* source = w->source == NULL ? NULL : &w->source->buffers[w->buffer];
    return source != NULL && source->data != NULL && offset + *size <= source->size ? source->data + offset : NULL;
}

static void PutBytes(Packing* p, snwValue* place, const unsigned char* data, size_t size)
{
    snwWriteZeros(&p->writer->packed, 4);
    snwTree_SetInt(&p->writer->tree, place, "byteOffset", (int64_t)p->writer->packed.size);
    snwTree_SetInt(&p->writer->tree, place, "byteLength", (int64_t)size);
    snwWrite(&p->writer->packed, data, size);
}

// False: it is not worth it.
static bool CompressView(Packing* p, snwValue* item, const View* view, const unsigned char* data, size_t size)
{
    static const char* const s_extension = "EXT_meshopt_compression";
    snwTree* tree = &p->writer->tree;

    // Rows as wide as the view says, or as its accessors agree on.
    int64_t said = snwValue_GetInt(item, "byteStride", 0);
    size_t stride = said > 0 ? (size_t)said : view->stride > 0 ? (size_t)view->stride : 4, code = 0;
    bool triangles = view->triangles && !view->other && view->component >= 0 && (stride == 2 || stride == 4) &&
                     size % (3 * stride) == 0;

    // Numbers of one thing lie below each other: each differs little from the one before.
    if (said == 0 && view->row > 0 && view->row % 4 == 0 && view->row <= snw_widestRow)
        stride = (size_t)view->row;
    if (!triangles && said == 0 && (size % stride != 0 || stride % 4 != 0))
        stride = 4;
    if (triangles)
        code = EncodeTriangles(p, data, size / stride, stride);
    else if (stride % 4 == 0 && stride <= snw_widestRow && size % stride == 0 && (view->stride != 0 || said > 0))
        code = EncodeRows(p, data, size / stride, stride);

    if (code == 0 || code + snw_packedCost >= size)
        return false;

    // The view points at the packed bytes, and at a place in a buffer that exists only for those who cannot unpack.
    snwValue* packed = snwTree_Object(tree, snwTree_Object(tree, item, "extensions"), s_extension);
    snwTree_SetInt(tree, packed, "buffer", p->writer->buffer);
    PutBytes(p, packed, p->room, code);
    snwTree_SetInt(tree, packed, "byteStride", (int64_t)stride);
    snwTree_SetInt(tree, packed, "count", (int64_t)(size / stride));
    snwTree_SetText(tree, packed, "mode", triangles ? "TRIANGLES" : "ATTRIBUTES");
    snwTree_SetInt(tree, item, "buffer", p->fallbackBuffer);
    snwTree_SetInt(tree, item, "byteOffset", p->fallback);
    p->fallback += (int64_t)(size + 3) / 4 * 4;

    return true;
}

static void PackView(Packing* p, int index)
{
    snwValue* item = snwValue_GetAt(p->writer->root, "bufferViews", index);

    const View* view = &p->views[index];
    snwValue* packed = snwValue_Get(snwValue_Get(item, "extensions"), "EXT_meshopt_compression");
    size_t size = 0;
    snwValue* place = packed != NULL ? packed : item;
    const unsigned char* data = BytesOf(p, place, &size);
    if (data == NULL)
        return;

    // What nobody uses any more keeps its number and loses its bytes.
    if (!view->used && view->wasUsed)
    {
        snwTree_Remove(item, "byteStride");
        snwTree_Remove(item, "extensions");
        snwTree_SetInt(&p->writer->tree, item, "buffer", p->writer->buffer);
        PutBytes(p, item, (const unsigned char*)"\0\0\0", 4);
    }
    else if (packed != NULL || !p->compress || !CompressView(p, item, view, data, size))
        PutBytes(p, place, data, size);
}

static void AddFallback(Packing* p)
{
    snwTree* tree = &p->writer->tree;
    snwValue* buffer = snwTree_NewObject(tree);
    snwTree_SetInt(tree, buffer, "byteLength", p->fallback);
    snwValue* packed = snwTree_Object(tree, snwTree_Object(tree, buffer, "extensions"), "EXT_meshopt_compression");
    snwTree_Set(tree, packed, "fallback", snwTree_NewBool(tree, true));
    snwGltfWriter_AddItem(p->writer, "buffers", buffer);
    snwGltfWriter_NeedExtension(p->writer, "EXT_meshopt_compression");
}

void snwGltfWriter_Pack(snwGltfWriter* writer, bool compress)
{
    if (snwGltfWriter_Failed(writer) || (!compress && writer->replaced == NULL))
        return;
    Packing p = {.writer = writer,
        .compress = compress,
        .accessorCount = snwGltfWriter_Count(writer, "accessors"),
        .viewCount = snwGltfWriter_Count(writer, "bufferViews"),
        .fallbackBuffer = snwGltfWriter_Count(writer, "buffers")};

    // Notes about accessors and views live as long as the document.
    snwArena* arena = &writer->tree.arena;
    p.usedAccessors = snwArena_Alloc(arena, (size_t)p.accessorCount + 1, sizeof *p.usedAccessors);
    p.corners = snwArena_Alloc(arena, (size_t)p.accessorCount + 1, sizeof *p.corners);
    p.rows = snwArena_Alloc(arena, (size_t)p.accessorCount + 1, sizeof *p.rows);
    p.views = snwArena_Alloc(arena, (size_t)p.viewCount + 1, sizeof *p.views);
    writer->packed.context = writer->context;
    if (arena->failed)
        return;

    // What is used, then view by view into the new buffer.
    FindUsedAccessors(&p);
    UseExtensions(&p, writer->root, 0);
    FindUsedViews(&p);
    for (int i = 0; i < p.viewCount && !snwGltfWriter_Failed(writer); ++i)
        PackView(&p, i);
    if (p.fallback > 0)
        AddFallback(&p);
    snwWriteZeros(&writer->packed, 4);
    if (writer->packed.failed)
        snwGltfWriter_FailMemory(writer);
    snwFree(writer->context, p.room);
}
