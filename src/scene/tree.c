// JSON documents that can be changed: imported from jansson, edited, written. Members keep their order, and numbers
// of others their values.

#include "scene/tree.h"

#include <math.h>
#include <string.h>

enum
{
    snw_poolSize = 64
};

snwTree snwCreateTree(snwContext* context)
{
    return (snwTree){.arena = {.context = context}};
}

void snwTree_Free(snwTree* tree)
{
    snwArena_Free(&tree->arena);
    *tree = (snwTree){0};
}

static snwValue* NewValue(snwTree* tree, snwValueKind kind)
{
    if (tree->poolLeft == 0)
    {
        tree->pool = snwArena_Alloc(&tree->arena, snw_poolSize, sizeof(snwValue));
        tree->poolLeft = tree->pool == NULL ? 0 : snw_poolSize;
    }
    if (tree->poolLeft == 0)
        return NULL;
    snwValue* value = &tree->pool[--tree->poolLeft];
    value->kind = kind;
    return value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Taking a document in

static bool ImportValue(snwTree* tree, const json_t* source, int depth, snwValue* value);

// Room for all items at once: values, and the list of them.
static snwValue* ReserveItems(snwTree* tree, snwValue* value, size_t count)
{
    value->items = snwArena_Alloc(&tree->arena, count, sizeof(snwValue*));
    snwValue* values = snwArena_Alloc(&tree->arena, count, sizeof(snwValue));
    if (value->items == NULL || values == NULL)
        return NULL;
    value->count = value->capacity = (int)count;
    for (size_t i = 0; i < count; ++i)
        value->items[i] = &values[i];
    return values;
}

static bool ImportList(snwTree* tree, const json_t* source, int depth, snwValue* value)
{
    size_t count = json_array_size(source);
    value->kind = snw_valueList;
    if (count == 0)
        return true;
    snwValue* values = ReserveItems(tree, value, count);
    for (size_t i = 0; values != NULL && i < count; ++i)
        if (!ImportValue(tree, json_array_get(source, i), depth + 1, &values[i]))
            return false;
    return values != NULL;
}

static bool ImportObject(snwTree* tree, const json_t* source, int depth, snwValue* value)
{
    size_t count = json_object_size(source), i = 0;
    value->kind = snw_valueObject;
    if (count == 0)
        return true;
    snwValue* values = ReserveItems(tree, value, count);
    if (values == NULL)
        return false;
    // jansson iterates in the order of the file. Its iterators want a document that may change; nothing is changed.
    json_t* object = (json_t*)(uintptr_t)source;
    for (void* at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at), ++i)
    {
        if (!ImportValue(tree, json_object_iter_value(at), depth + 1, &values[i]))
            return false;
        values[i].key = json_object_iter_key(at);
    }
    return true;
}

static bool ImportValue(snwTree* tree, const json_t* source, int depth, snwValue* value)
{
    if (depth > snw_maxTreeDepth)
        return false;

    // Numbers keep their kind: whole ones stay whole.
    switch (json_typeof(source))
    {
        case JSON_OBJECT:
            return ImportObject(tree, source, depth, value);
        case JSON_ARRAY:
            return ImportList(tree, source, depth, value);
        case JSON_STRING:
            *value = (snwValue){.kind = snw_valueText, .text = json_string_value(source)};
            break;
        case JSON_INTEGER:
            *value = (snwValue){.kind = snw_valueInt, .integer = json_integer_value(source)};
            break;
        case JSON_REAL:
            *value = (snwValue){.kind = snw_valueReal, .real = json_real_value(source)};
            break;
        case JSON_TRUE:
        case JSON_FALSE:
            *value = (snwValue){.kind = snw_valueBool, .yes = json_is_true(source)};
            break;
        case JSON_NULL:
            break;
    }

    return true;
}

snwValue* snwTree_Import(snwTree* tree, const json_t* source)
{
    snwValue* value = NewValue(tree, snw_valueNull);
    return value != NULL && ImportValue(tree, source, 0, value) ? value : NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// New values

snwValue* snwTree_NewBool(snwTree* tree, bool yes)
{
    snwValue* value = NewValue(tree, snw_valueBool);
    if (value != NULL)
        value->yes = yes;
    return value;
}

snwValue* snwTree_NewInt(snwTree* tree, int64_t number)
{
    snwValue* value = NewValue(tree, snw_valueInt);
    if (value != NULL)
        value->integer = number;
    return value;
}

snwValue* snwTree_NewReal(snwTree* tree, double number)
{
    // 2^53: beyond it doubles are no exact integers any more.
    if (number == floor(number) && fabs(number) <= 9007199254740992.0)
        return snwTree_NewInt(tree, (int64_t)number);
    snwValue* value = NewValue(tree, snw_valueReal);
    if (value != NULL)
        value->real = number;
    return value;
}

snwValue* snwTree_NewText(snwTree* tree, const char* text)
{
    const char* copy = snwArena_Text(&tree->arena, text);
    snwValue* value = copy == NULL ? NULL : NewValue(tree, snw_valueText);
    if (value != NULL)
        value->text = copy;
    return value;
}

snwValue* snwTree_NewList(snwTree* tree)
{
    return NewValue(tree, snw_valueList);
}

snwValue* snwTree_NewObject(snwTree* tree)
{
    return NewValue(tree, snw_valueObject);
}

// ---------------------------------------------------------------------------------------------------------------------
// Changes

static bool GrowContainer(snwTree* tree, snwValue* container)
{
    if (container->count < container->capacity)
        return true;
    int capacity = 2 * container->count + 4;
    snwValue** items = snwArena_Alloc(&tree->arena, (size_t)capacity, sizeof(snwValue*));
    if (items == NULL)
        return false;
    if (container->count > 0)
        memcpy(items, container->items, (size_t)container->count * sizeof(snwValue*));
    container->items = items;
    container->capacity = capacity;
    return true;
}

void snwTree_Append(snwTree* tree, snwValue* list, snwValue* value)
{
    if (list != NULL && value != NULL && GrowContainer(tree, list))
        list->items[list->count++] = value;
}

static int FindItem(const snwValue* object, const char* key)
{
    for (int i = 0; object != NULL && object->kind == snw_valueObject && i < object->count; ++i)
        if (strcmp(object->items[i]->key, key) == 0)
            return i;
    return -1;
}

void snwTree_Set(snwTree* tree, snwValue* object, const char* key, snwValue* value)
{
    if (object == NULL || value == NULL)
        return;
    value->key = key;
    int at = FindItem(object, key);
    if (at >= 0)
        object->items[at] = value;
    else
        snwTree_Append(tree, object, value);
}

void snwTree_Remove(snwValue* object, const char* key)
{
    int at = FindItem(object, key);
    if (at < 0)
        return;
    for (int i = at + 1; i < object->count; ++i)
        object->items[i - 1] = object->items[i];
    object->count--;
}

void snwTree_SetInt(snwTree* tree, snwValue* object, const char* key, int64_t value)
{
    snwTree_Set(tree, object, key, snwTree_NewInt(tree, value));
}

void snwTree_SetReal(snwTree* tree, snwValue* object, const char* key, double value)
{
    snwTree_Set(tree, object, key, snwTree_NewReal(tree, value));
}

void snwTree_SetText(snwTree* tree, snwValue* object, const char* key, const char* value)
{
    snwTree_Set(tree, object, key, snwTree_NewText(tree, value));
}

void snwTree_AppendInt(snwTree* tree, snwValue* list, int64_t value)
{
    snwTree_Append(tree, list, snwTree_NewInt(tree, value));
}

void snwTree_AppendReal(snwTree* tree, snwValue* list, double value)
{
    snwTree_Append(tree, list, snwTree_NewReal(tree, value));
}

static snwValue* Member(snwTree* tree, snwValue* object, const char* key, snwValueKind kind)
{
    snwValue* value = snwValue_Get(object, key);
    if (value == NULL && object != NULL && object->kind == snw_valueObject)
    {
        value = NewValue(tree, kind);
        snwTree_Set(tree, object, key, value);
    }
    return value != NULL && value->kind == kind ? value : NULL;
}

snwValue* snwTree_List(snwTree* tree, snwValue* object, const char* key)
{
    return Member(tree, object, key, snw_valueList);
}

snwValue* snwTree_Object(snwTree* tree, snwValue* object, const char* key)
{
    return Member(tree, object, key, snw_valueObject);
}

// ---------------------------------------------------------------------------------------------------------------------
// Looking

snwValue* snwValue_Get(const snwValue* object, const char* key)
{
    int at = FindItem(object, key);
    return at < 0 ? NULL : object->items[at];
}

snwValue* snwValue_At(const snwValue* list, int64_t index)
{
    bool there = list != NULL && list->kind == snw_valueList && index >= 0 && index < list->count;
    return there ? list->items[index] : NULL;
}

snwValue* snwValue_GetAt(const snwValue* object, const char* key, int64_t index)
{
    return snwValue_At(snwValue_Get(object, key), index);
}

int snwValue_Count(const snwValue* container)
{
    bool has = container != NULL && (container->kind == snw_valueList || container->kind == snw_valueObject);
    return has ? container->count : 0;
}

int64_t snwValue_Int(const snwValue* value, int64_t otherwise)
{
    if (value != NULL && value->kind == snw_valueInt)
        return value->integer;
    if (value != NULL && value->kind == snw_valueReal && fabs(value->real) <= 9007199254740992.0 &&
        value->real == floor(value->real))
        return (int64_t)value->real;
    return otherwise;
}

int64_t snwValue_GetInt(const snwValue* object, const char* key, int64_t otherwise)
{
    return snwValue_Int(snwValue_Get(object, key), otherwise);
}

double snwValue_Real(const snwValue* value, double otherwise)
{
    if (value != NULL && value->kind == snw_valueInt)
        return (double)value->integer;
    return value != NULL && value->kind == snw_valueReal ? value->real : otherwise;
}

const char* snwValue_Text(const snwValue* value, const char* otherwise)
{
    return value != NULL && value->kind == snw_valueText ? value->text : otherwise;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static void WriteReal(double value, snwText* text)
{
    char buffer[40];
    snwFormatReal(buffer, value);
    if (strpbrk(buffer, ".e") == NULL)
        memcpy(buffer + strlen(buffer), ".0", 3);
    snwText_Json(text, buffer);
}

static void WriteContainer(const snwValue* value, snwText* text)
{
    bool object = value->kind == snw_valueObject;
    snwText_Open(text, object ? '{' : '[');
    for (int i = 0; i < value->count; ++i)
    {
        if (object)
            snwText_Key(text, value->items[i]->key);
        snwValue_Write(value->items[i], text);
    }
    snwText_Close(text, object ? '}' : ']');
}

// Back to JSON, so that it reads again as the same kinds: a real always has a point or an exponent.
void snwValue_Write(const snwValue* value, snwText* text)
{
    switch (value->kind)
    {
        case snw_valueNull:
            snwText_Json(text, "null");
            break;
        case snw_valueBool:
            snwText_Bool(text, value->yes);
            break;
        case snw_valueInt:
            snwText_Int(text, value->integer);
            break;
        case snw_valueReal:
            WriteReal(value->real, text);
            break;
        case snw_valueText:
            snwText_String(text, value->text);
            break;
        case snw_valueList:
        case snw_valueObject:
            WriteContainer(value, text);
            break;
    }
}
