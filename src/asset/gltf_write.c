// The heart of the writer: the document as a tree, the bytes behind it, accessors.
//
// jansson's tree is not changed in place: its memory is not the context's, a failed allocation could not be tested,
// and the source stays free for a second writer. Bytes are added to the buffer that a GLB keeps in its BIN chunk, so
// that the first bytes of the output's buffer are the source's, and no view moves.

#include "asset/gltf_write_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Failing

int snwGltfWriter_Fail(snwGltfWriter* writer, const char* remedy, const char* format, ...)
{
    if (writer->result < 0)
        return -1;
    if (snwGltfWriter_Failed(writer)) // what is missing is missing for lack of memory
        return snwGltfWriter_FailMemory(writer);
    char text[sizeof writer->message.text];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    writer->result = snwFail(&writer->message, snw_errorArgument, remedy, "%s", text);
    return -1;
}

int snwGltfWriter_FailMemory(snwGltfWriter* writer)
{
    if (writer->result >= 0)
        writer->result = snwFailMemory(&writer->message);
    return -1;
}

bool snwGltfWriter_Failed(const snwGltfWriter* writer)
{
    return writer->result < 0 || writer->tree.arena.failed || writer->bytes.failed;
}

snwResult snwGltfWriter_GetResult(const snwGltfWriter* writer, snwMessage* message)
{
    if (writer->result < 0)
    {
        if (message != NULL)
            *message = writer->message;
        return writer->result;
    }
    return snwGltfWriter_Failed(writer) ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Opening

// Adds us to the tools that made the file; those before us stay.
static void SetGenerator(snwGltfWriter* writer)
{
    char ours[64];
    snwVersion version = snwGetVersion();
    snprintf(ours, sizeof ours, "Sinew %d.%d.%d", version.major, version.minor, version.patch);
    snwValue* asset = snwTree_Object(&writer->tree, writer->root, "asset");
    const char* before = snwValue_Text(snwValue_Get(asset, "generator"), "");

    // Nobody before us, or we are there already, or both names.
    if (before[0] == 0)
    {
        snwTree_SetText(&writer->tree, asset, "generator", ours);
        return;
    }

    size_t length = strlen(before), room = length + sizeof ours + 2;
    if (strstr(before, ours) != NULL)
        return;
    char* both = snwArena_Alloc(&writer->tree.arena, room, 1);
    if (both == NULL)
        return;
    snprintf(both, room, "%s; %s", before, ours);
    snwTree_SetText(&writer->tree, asset, "generator", both);
}

static void OpenNew(snwGltfWriter* writer)
{
    writer->root = snwTree_NewObject(&writer->tree);
    snwTree_SetText(&writer->tree, snwTree_Object(&writer->tree, writer->root, "asset"), "version", "2.0");
}

static void ImportSource(snwGltfWriter* writer)
{
    const snwGltf* source = writer->source;
    writer->root = snwTree_Import(&writer->tree, source->root);
    if (writer->root == NULL && !writer->tree.arena.failed)
        snwGltfWriter_Fail(writer, NULL, "the document is nested deeper than %d levels", snw_maxTreeDepth);
    bool first = source->bufferCount > 0 && source->buffers[0].data != NULL && !source->buffers[0].fallback;
    writer->buffer = first ? 0 : source->bufferCount;
    writer->base = first ? (source->buffers[0].size + 3) / 4 * 4 : 0;
}

snwResult snwGltfWriter_Open(snwContext* context, const snwGltf* source, snwGltfWriter** out, snwMessage* message)
{
    *out = NULL;
    snwGltfWriter* writer = snwAlloc(context, sizeof *writer);
    if (writer == NULL)
        return snwFailMemory(message);
    writer->context = context;

    // A document of somebody's, or an empty one.
    writer->source = source;
    writer->tree = snwCreateTree(context);
    writer->bytes.context = context;
    if (source != NULL)
        ImportSource(writer);
    else
        OpenNew(writer);

    SetGenerator(writer);
    snwResult result = snwGltfWriter_GetResult(writer, message);
    if (result < 0)
        snwGltfWriter_Close(writer);
    else
        *out = writer;

    return result;
}

void snwGltfWriter_Close(snwGltfWriter* writer)
{
    if (writer == NULL)
        return;
    snwTree_Free(&writer->tree);
    snwFree(writer->context, writer->bytes.data);
    snwFree(writer->context, writer->packed.data);
    snwFree(writer->context, writer);
}

// ---------------------------------------------------------------------------------------------------------------------
// Lists of the document

snwValue* snwGltfWriter_Item(snwGltfWriter* writer, const char* list, int index)
{
    snwValue* item = snwValue_GetAt(writer->root, list, index);
    if (item == NULL || item->kind != snw_valueObject)
    {
        snwGltfWriter_Fail(writer, NULL, "the document has no %s[%d]", list, index);
        return NULL;
    }
    return item;
}

int snwGltfWriter_AddItem(snwGltfWriter* writer, const char* list, snwValue* item)
{
    snwValue* items = snwTree_List(&writer->tree, writer->root, list);
    snwTree_Append(&writer->tree, items, item);
    return snwGltfWriter_Failed(writer) ? -1 : snwValue_Count(items) - 1;
}

int snwGltfWriter_Count(const snwGltfWriter* writer, const char* list)
{
    return snwValue_Count(snwValue_Get(writer->root, list));
}

void snwGltfWriter_NeedExtension(snwGltfWriter* writer, const char* name)
{
    static const char* const s_lists[] = {"extensionsUsed", "extensionsRequired"};
    for (int i = 0; i < 2; ++i)
    {
        snwValue* list = snwTree_List(&writer->tree, writer->root, s_lists[i]);
        bool there = false;
        for (int k = 0; k < snwValue_Count(list); ++k)
            there = there || strcmp(snwValue_Text(list->items[k], ""), name) == 0;
        if (!there)
            snwTree_Append(&writer->tree, list, snwTree_NewText(&writer->tree, name));
    }
}

void snwGltfWriter_Rename(snwGltfWriter* writer, const char* list, int index, const char* name)
{
    snwTree_SetText(&writer->tree, snwGltfWriter_Item(writer, list, index), "name", name);
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes and views

// The buffer of what is added, made when it is first needed.
static void NeedBuffer(snwGltfWriter* writer)
{
    if (writer->buffer < snwGltfWriter_Count(writer, "buffers"))
        return;
    snwValue* buffer = snwTree_NewObject(&writer->tree);
    snwTree_SetInt(&writer->tree, buffer, "byteLength", 0); // set when it is saved
    snwGltfWriter_AddItem(writer, "buffers", buffer);
}

// stride 0: none is said.
static int AddView(snwGltfWriter* writer, size_t start, size_t size, int stride, snwGltfUse use)
{
    snwTree* tree = &writer->tree;
    NeedBuffer(writer);
    snwValue* view = snwTree_NewObject(tree);
    snwTree_SetInt(tree, view, "buffer", writer->buffer);
    snwTree_SetInt(tree, view, "byteOffset", (int64_t)(writer->base + start));
    snwTree_SetInt(tree, view, "byteLength", (int64_t)size);
    if (stride > 0)
        snwTree_SetInt(tree, view, "byteStride", stride);
    if (use != snw_gltfOther)
        snwTree_SetInt(tree, view, "target", use == snw_gltfVertices ? 34962 : 34963); // ARRAY_, ELEMENT_ARRAY_BUFFER
    return snwGltfWriter_AddItem(writer, "bufferViews", view);
}

int snwGltfWriter_AddView(snwGltfWriter* writer, const void* data, size_t size)
{
    if (snwGltfWriter_Failed(writer))
        return -1;
    if (size == 0)
        return snwGltfWriter_Fail(writer, NULL, "a buffer view without bytes");
    snwWriteZeros(&writer->bytes, 4);
    size_t start = writer->bytes.size;
    snwWrite(&writer->bytes, data, size);
    snwWriteZeros(&writer->bytes, 4);
    return AddView(writer, start, size, 0, snw_gltfOther);
}

int snwGltfWriter_AddRows(snwGltfWriter* writer, const void* data, size_t size, int stride)
{
    int view = snwGltfWriter_AddView(writer, data, size);
    snwValue* value = snwValue_GetAt(writer->root, "bufferViews", view);
    snwTree_SetInt(&writer->tree, value, "byteStride", stride);
    snwTree_SetInt(&writer->tree, value, "target", 34962); // ARRAY_BUFFER
    return view;
}

void snwGltfWriter_Replace(snwGltfWriter* writer, int64_t accessor)
{
    int count = writer->source == NULL ? 0 : writer->source->accessorCount;
    if (accessor < 0)
        return;
    if (writer->replaced == NULL)
        writer->replaced = snwArena_Alloc(&writer->tree.arena, (size_t)count + 1, sizeof *writer->replaced);
    if (writer->replaced != NULL && accessor < count) // what we added and nothing uses goes anyway
        writer->replaced[accessor] = true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Accessors

// One number of a row; false if it is a float that is not finite.
static bool ComponentAt(const snwGltfData* data, size_t at, double* value)
{
    switch (data->component)
    {
        case snw_gltfByte:
            *value = ((const int8_t*)data->values)[at];
            break;
        case snw_gltfUbyte:
            *value = ((const uint8_t*)data->values)[at];
            break;
        case snw_gltfShort:
            *value = ((const int16_t*)data->values)[at];
            break;
        case snw_gltfUshort:
            *value = ((const uint16_t*)data->values)[at];
            break;
        case snw_gltfUint:
            *value = ((const uint32_t*)data->values)[at];
            break;
        case snw_gltfFloat:
            *value = (double)((const float*)data->values)[at];
            break;
    }

    return isfinite(*value);
}

// Smallest and largest of each column; false if a value is not finite.
static bool FindBounds(const snwGltfData* data, double* least, double* most)
{
    int width = snwGltfType_Width(data->type);
    for (int k = 0; k < width; ++k)
    {
        least[k] = INFINITY;
        most[k] = -INFINITY;
    }
    for (size_t i = 0; i < (size_t)data->count * (size_t)width; ++i)
    {
        double value = 0.0;
        if (!ComponentAt(data, i, &value))
            return false;
        least[i % (size_t)width] = fmin(least[i % (size_t)width], value);
        most[i % (size_t)width] = fmax(most[i % (size_t)width], value);
    }
    return true;
}

// As the doubles that the floats are: the digits read back to the same bits. -0 is written as 0, to which it is equal.
static void SetBounds(snwGltfWriter* writer, snwValue* accessor, const char* key, const double* values, int width)
{
    snwValue* list = snwTree_NewList(&writer->tree);
    for (int k = 0; k < width; ++k)
        snwTree_AppendReal(&writer->tree, list, values[k]);
    snwTree_Set(&writer->tree, accessor, key, list);
}

// Rows of vertex data start at multiples of 4; returns the bytes from row to row.
static int AddRows(snwGltfWriter* writer, const snwGltfData* data)
{
    size_t row = (size_t)snwGltfType_Width(data->type) * (size_t)snwGltfComponent_Size(data->component);
    size_t step = data->use == snw_gltfVertices ? (row + 3) / 4 * 4 : row;
    unsigned char* room = snwWriter_Reserve(&writer->bytes, step * (size_t)data->count);
    if (room == NULL)
        return 0;
    memset(room, 0, step * (size_t)data->count);
    for (int i = 0; i < data->count; ++i)
        memcpy(room + step * (size_t)i, (const char*)data->values + row * (size_t)i, row);
    writer->bytes.size += step * (size_t)data->count;
    return (int)step;
}

static int AddAccessorOf(snwGltfWriter* writer, const snwGltfData* data, int view)
{
    snwTree* tree = &writer->tree;
    snwValue* accessor = snwTree_NewObject(tree);
    snwTree_SetInt(tree, accessor, "bufferView", view);
    snwTree_SetInt(tree, accessor, "componentType", data->component);
    snwTree_SetInt(tree, accessor, "count", data->count);
    snwTree_SetText(tree, accessor, "type", snwGltfType_Name(data->type));
    if (data->normalized)
        snwTree_Set(tree, accessor, "normalized", snwTree_NewBool(tree, true));
    double least[16] = {0}, most[16] = {0};
    if (data->bounds && FindBounds(data, least, most))
    {
        SetBounds(writer, accessor, "min", least, snwGltfType_Width(data->type));
        SetBounds(writer, accessor, "max", most, snwGltfType_Width(data->type));
    }
    return snwGltfWriter_AddItem(writer, "accessors", accessor);
}

int snwGltfWriter_AddAccessor(snwGltfWriter* writer, const snwGltfData* data)
{
    double least[16] = {0}, most[16] = {0};
    if (snwGltfWriter_Failed(writer))
        return -1;
    if (data->count < 1 || data->type == snw_gltfMat2 || data->type == snw_gltfMat3)
        return snwGltfWriter_Fail(writer, NULL, "an accessor needs elements, and no small matrices");
    if (data->component == snw_gltfFloat && !FindBounds(data, least, most))
        return snwGltfWriter_Fail(
            writer, NULL, "a number for accessors[%d] is not finite", snwGltfWriter_Count(writer, "accessors"));
    snwWriteZeros(&writer->bytes, 4);
    size_t start = writer->bytes.size;
    int stride = AddRows(writer, data);
    size_t size = writer->bytes.size - start;
    snwWriteZeros(&writer->bytes, 4);
    return AddAccessorOf(
        writer, data, AddView(writer, start, size, data->use == snw_gltfVertices ? stride : 0, data->use));
}

int snwGltfWriter_AddFloats(snwGltfWriter* writer, const double* values, int count, snwGltfType type, bool bounds)
{
    size_t total = (size_t)count * (size_t)snwGltfType_Width(type);
    float* floats = snwGltfWriter_Failed(writer) ? NULL : snwAllocArray(writer->context, total, sizeof *floats);
    if (floats == NULL)
        return snwGltfWriter_FailMemory(writer);
    for (size_t i = 0; i < total; ++i)
        floats[i] = (float)values[i];
    snwGltfData data = {.values = floats, .count = count, .type = type, .component = snw_gltfFloat, .bounds = bounds};
    int accessor = snwGltfWriter_AddAccessor(writer, &data);
    snwFree(writer->context, floats);
    return accessor;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading back

static int WidthOf(const char* name)
{
    for (int type = 0; type < snw_gltfTypeCount; ++type)
        if (strcmp(snwGltfType_Name(type), name) == 0)
            return snwGltfType_Width(type);
    return -1;
}

snwGltfShape snwGltfWriter_Shape(const snwGltfWriter* writer, int accessor)
{
    if (writer->source != NULL && accessor >= 0 && accessor < writer->source->accessorCount)
    {
        const snwGltfAccessor* known = &writer->source->accessors[accessor];
        return (snwGltfShape){known->count, snwGltfType_Width(known->type)};
    }
    const snwValue* value = snwValue_GetAt(writer->root, "accessors", accessor);
    if (value == NULL)
        return (snwGltfShape){-1, -1};
    return (snwGltfShape){
        (int)snwValue_GetInt(value, "count", -1), WidthOf(snwValue_Text(snwValue_Get(value, "type"), ""))};
}

// One that was added: floats, packed.
static bool ReadAdded(const snwGltfWriter* writer, int accessor, size_t count, double* values)
{
    const snwValue* value = snwValue_GetAt(writer->root, "accessors", accessor);
    const snwValue* view = snwValue_GetAt(writer->root, "bufferViews", snwValue_GetInt(value, "bufferView", -1));
    size_t start = (size_t)snwValue_GetInt(view, "byteOffset", 0) - writer->base;
    if (view == NULL || snwValue_GetInt(value, "componentType", 0) != snw_gltfFloat)
        return false;
    for (size_t i = 0; i < count; ++i)
    {
        float number;
        memcpy(&number, writer->bytes.data + start + i * sizeof number, sizeof number);
        values[i] = (double)number;
    }
    return true;
}

double* snwGltfWriter_Read(snwGltfWriter* writer, int accessor)
{
    snwGltfShape shape = snwGltfWriter_Shape(writer, accessor);
    if (shape.count < 1 || shape.width < 1)
    {
        snwGltfWriter_Fail(writer, NULL, "the document has no accessors[%d]", accessor);
        return NULL;
    }

    size_t count = (size_t)shape.count * (size_t)shape.width;
    double* values = snwAllocArray(writer->context, count, sizeof *values);
    if (values == NULL)
    {
        snwGltfWriter_FailMemory(writer);
        return NULL;
    }

    // What was there when the document was opened is read from the source, what we added from our own bytes.
    bool added = writer->source == NULL || accessor >= writer->source->accessorCount;
    int64_t repaired = 0;
    snwResult result = snw_ok;
    if (added && !ReadAdded(writer, accessor, count, values))
        snwGltfWriter_Fail(writer, NULL, "accessors[%d] has no floats to go on with", accessor);
    else if (!added)
        result = snwGltf_ReadReals(writer->source, accessor, values, &repaired, &writer->message);

    if (result < 0 && writer->result >= 0)
        writer->result = result;
    if (writer->result >= 0)
        return values;
    snwFree(writer->context, values);
    return NULL;
}
