// Values of the document by key, with failures at their place.

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void snwGltf_Fail(snwGltfReading* reading, const char* remedy, const char* format, ...)
{
    if (snwGltfReading_Failed(reading))
        return;
    char text[sizeof reading->json.message->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reading->result = snwJson_Fail(&reading->json, remedy, "%s", text);
}

void snwGltf_Check(snwGltfReading* reading, snwResult result)
{
    if (result < 0 && !snwGltfReading_Failed(reading))
        reading->result = snwJson_Locate(&reading->json, result);
}

void snwGltf_FailMemory(snwGltfReading* reading)
{
    if (!snwGltfReading_Failed(reading))
        reading->result = snwFailMemory(reading->json.message);
}

void snwGltf_Note(snwGltfReading* reading, snwAssetNoteKind kind, int64_t count, const char* format, ...)
{
    if (count <= 0)
        return;
    char text[sizeof(((snwAssetNote*)NULL)->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char* place = reading->where[0] != 0 ? reading->where : reading->json.path;
    snwAsset_NoteMany(reading->asset, kind, count, place, "%s", text);
}

void snwGltf_SetWhere(snwGltfReading* reading, const char* kind, int index, const char* name)
{
    if (name != NULL && name[0] != 0)
        snprintf(reading->where, sizeof reading->where, "%s '%s'", kind, snwQuoteWord(name).text);
    else
        snprintf(reading->where, sizeof reading->where, "%s %d", kind, index);
}

void* snwGltf_Room(snwGltfReading* reading, int64_t count, size_t size)
{
    if (snwGltfReading_Failed(reading))
        return NULL;
    snwGltf* gltf = reading->gltf;

    // What a file may unfold to grows with its size.
    uint64_t limit = (uint64_t)gltf->sourceBytes * snw_maxGltfUnfolding + snw_maxGltfUnfoldingBase;
    uint64_t bytes = (uint64_t)count * size; // both are below 2^31

    if (bytes > limit - gltf->unfolded)
    {
        snwGltf_Fail(reading, "split the file, or write its data out instead of sharing it",
            "a file of its size unfolds to at most %llu MB in memory; this one needs more",
            (unsigned long long)(limit >> 20));
        return NULL;
    }

    gltf->unfolded += (size_t)bytes;
    void* room = snwArena_Alloc(&reading->asset->arena, (size_t)count, size);
    if (room == NULL)
        snwGltf_FailMemory(reading);
    return room;
}

// ---------------------------------------------------------------------------------------------------------------------
// By key

static const json_t* FindValue(snwGltfReading* reading, const json_t* object, const char* key)
{
    return snwGltfReading_Failed(reading) ? NULL : json_object_get(object, key);
}

static void FailKind(snwGltfReading* reading, const char* key, const json_t* value, const char* wanted)
{
    size_t mark = snwJson_Enter(&reading->json, key);
    snwGltf_Fail(reading, NULL, "must be %s, is %s", wanted, snwJson_TypeName(value));
    snwJson_Leave(&reading->json, mark);
}

static void FailMissingKey(snwGltfReading* reading, const char* key)
{
    size_t mark = snwJson_Enter(&reading->json, key);
    snwGltf_Fail(reading, "export the file again, or repair it with a glTF validator", "is missing");
    snwJson_Leave(&reading->json, mark);
}

const json_t* snwGltf_List(snwGltfReading* reading, const json_t* object, const char* key, int limit, int* count)
{
    const json_t* list = FindValue(reading, object, key);
    *count = 0;
    if (list == NULL)
        return NULL;
    if (!json_is_array(list))
    {
        FailKind(reading, key, list, "a list");
        return NULL;
    }

    // A limit, so that counts fit into an int and a hostile file into memory.
    if (json_array_size(list) > (size_t)limit)
    {
        size_t mark = snwJson_Enter(&reading->json, key);
        snwGltf_Fail(reading, "split the file", "has %zu items; at most %d are read", json_array_size(list), limit);
        snwJson_Leave(&reading->json, mark);
        return NULL;
    }

    *count = (int)json_array_size(list);
    return list;
}

const json_t* snwGltf_Item(snwGltfReading* reading, const json_t* list, int index)
{
    const json_t* item = json_array_get(list, (size_t)index);
    if (!json_is_object(item))
        snwGltf_Fail(reading, NULL, "must be an object, is %s", item == NULL ? "nothing" : snwJson_TypeName(item));
    return item;
}

const json_t* snwGltf_Object(snwGltfReading* reading, const json_t* object, const char* key)
{
    const json_t* value = FindValue(reading, object, key);
    if (value != NULL && !json_is_object(value))
    {
        FailKind(reading, key, value, "an object");
        return NULL;
    }
    return value;
}

// Some exporters write 3.0 for 3.
static bool ToInt(const json_t* value, int64_t* out)
{
    if (json_is_integer(value))
    {
        *out = json_integer_value(value);
        return true;
    }
    double real = json_is_real(value) ? json_real_value(value) : 0.5;
    if (fabs(real) > 9e15 || real != floor(real))
        return false;
    *out = (int64_t)real;
    return true;
}

int64_t snwGltf_Int(
    snwGltfReading* reading, const json_t* object, const char* key, const int64_t range[2], int64_t fallback)
{
    const json_t* value = FindValue(reading, object, key);

    // A fallback below the range says that the key must be there.
    if (value == NULL)
    {
        if (fallback < range[0])
            FailMissingKey(reading, key);
        return fallback;
    }

    // Whole and in range, or the place tells what is wrong.
    int64_t number = 0;
    if (!ToInt(value, &number))
    {
        FailKind(reading, key, value, "a whole number");
        return fallback;
    }
    if (number >= range[0] && number <= range[1])
        return number;
    size_t mark = snwJson_Enter(&reading->json, key);
    snwGltf_Fail(
        reading, NULL, "is %lld; must be %lld to %lld", (long long)number, (long long)range[0], (long long)range[1]);
    snwJson_Leave(&reading->json, mark);

    return fallback;
}

int snwGltf_Index(snwGltfReading* reading, const json_t* object, const char* key, int count, const char* what)
{
    const json_t* value = FindValue(reading, object, key);
    int64_t index = 0;
    if (value == NULL)
        return -1;
    if (!ToInt(value, &index))
    {
        FailKind(reading, key, value, "a whole number");
        return -1;
    }
    if (index >= 0 && index < count)
        return (int)index;
    size_t mark = snwJson_Enter(&reading->json, key);
    snwGltf_Fail(reading, "the file is cut or edited by hand: export it again",
        "points to number %lld, but the file has %d %s", (long long)index, count, what);
    snwJson_Leave(&reading->json, mark);
    return -1;
}

int snwGltf_NeedIndex(snwGltfReading* reading, const json_t* object, const char* key, int count, const char* what)
{
    int index = snwGltf_Index(reading, object, key, count, what);
    if (index < 0 && !snwGltfReading_Failed(reading))
        FailMissingKey(reading, key);
    return index < 0 ? 0 : index;
}

bool snwGltf_Reals(snwGltfReading* reading, const json_t* object, const char* key, int count, double* values)
{
    const json_t* list = FindValue(reading, object, key);
    if (list == NULL)
        return false;
    bool fits = json_is_array(list) && json_array_size(list) == (size_t)count;
    for (int i = 0; fits && i < count; ++i)
    {
        const json_t* value = json_array_get(list, (size_t)i);
        fits = json_is_number(value);
        values[i] = json_number_value(value); // jansson takes only finite ones
    }
    size_t mark = snwJson_Enter(&reading->json, key);
    if (!fits)
        snwGltf_Fail(reading, NULL, "must be a list of %d numbers", count);
    snwJson_Leave(&reading->json, mark);
    return fits;
}

const char* snwGltf_Text(snwGltfReading* reading, const json_t* object, const char* key)
{
    const json_t* value = FindValue(reading, object, key);
    if (value != NULL && !json_is_string(value))
        FailKind(reading, key, value, "a text");
    return json_string_value(value);
}

bool snwGltf_Bool(snwGltfReading* reading, const json_t* object, const char* key)
{
    const json_t* value = FindValue(reading, object, key);
    if (value != NULL && !json_is_boolean(value))
        FailKind(reading, key, value, "true or false");
    return json_is_true(value);
}
