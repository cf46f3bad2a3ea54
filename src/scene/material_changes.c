// What flesh is made of, changed by settings like material.young=1e5 or material.BODY.REGION.density=900: written into
// the scene before it is read, so that logs and written scenes hold what ran.

#include "scene/material_changes.h"
#include "scene/tables.h"
#include "scene/words.h"
#include "base/arena.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char s_prefix[] = "material.";

// ---------------------------------------------------------------------------------------------------------------------
// Characters

// Fields of the change are those of a material at the same place.
static void Mix(const snwMaterialChange* change, uint64_t seen, snwMaterial* material)
{
    for (int i = 0; i < snw_materialChangeTable.count; ++i)
    {
        const snwField* field = &snw_materialChangeTable.fields[i];
        if ((seen >> i & 1) != 0 && field->type == snw_fieldReal)
            memcpy((char*)material + field->offset, (const char*)change + field->offset, sizeof(double));
    }
}

static snwResult ReadChange(snwJson* json, const json_t* value, snwCharacterDef* def, snwMaterial* materials)
{
    snwMaterialChange change;
    uint64_t seen = 0;
    snwResult result = snwTable_Read(json, &snw_materialChangeTable, value, &change, &seen);
    if (result < 0)
        return result;
    if (change.region >= def->materialCount)
        return snwJson_Fail(json, NULL, "there is no region %d: the character has %d, counted from 0", change.region,
            def->materialCount);
    if (def->masses != NULL && snwTable_Saw(&snw_materialChangeTable, seen, "density"))
        return snwJson_Fail(json, "remove density", "what this character weighs is given vertex by vertex");

    for (int i = 0; i < def->materialCount; ++i)
        if (change.region < 0 || change.region == i)
            Mix(&change, seen, &materials[i]);
    return snw_ok;
}

static snwResult ReadChanges(snwJson* json, const json_t* list, snwCharacterDef* def, snwMaterial* materials)
{
    size_t mark = snwJson_Enter(json, "materials");
    snwResult result = snw_ok;
    for (size_t i = 0; i < json_array_size(list) && result == snw_ok; ++i)
    {
        size_t inner = snwJson_EnterIndex(json, i);
        result = ReadChange(json, json_array_get(list, i), def, materials);
        if (result == snw_ok)
            snwJson_Leave(json, inner);
    }
    if (result == snw_ok)
        snwJson_Leave(json, mark);
    return result;
}

// The text from which a file makes this character again, with the changes in it.
static char* NewSource(const char* source, const json_t* list)
{
    json_t* use = json_loads(source, 0, NULL);
    json_object_set(use, "materials", (json_t*)list);
    char* text = json_dumps(use, JSON_COMPACT);
    json_decref(use);
    return text;
}

snwResult snwMaterialChanges_Apply(snwJson* json, const json_t* list, snwCharacter** character)
{
    if (list == NULL)
        return snw_ok;
    if (!json_is_array(list))
        return snwJson_Fail(json, NULL, "materials must be a list, is %s", snwJson_TypeName(list));

    snwCharacterDef def = *snwCharacter_GetDef(*character);
    snwArena arena = {.context = json->context};
    snwMaterial* materials = snwArena_Copy(&arena, def.materials, (size_t)def.materialCount, sizeof *materials);
    char* source = NewSource(snwCharacter_GetInfo(*character).source, list);
    snwResult result = materials == NULL || source == NULL ? snwFailMemory(json->message)
                                                           : ReadChanges(json, list, &def, materials);

    def.materials = materials;
    def.source = source;
    snwCharacter* plain = *character;
    if (result >= 0)
        result = snwCreateCharacter(json->context, &def, character, json->message);
    if (result >= 0)
        snwCharacter_Release(plain);
    free(source);
    snwArena_Free(&arena);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Settings

bool snwMaterialSetting_IsOne(const char* name)
{
    return strncmp(name, s_prefix, sizeof s_prefix - 1) == 0;
}

const snwField* snwMaterialSetting_Field(const char* name)
{
    const char* dot = strrchr(name, '.');
    for (int i = 0; i < snw_materialTable.count && snwMaterialSetting_IsOne(name); ++i)
    {
        const snwField* field = &snw_materialTable.fields[i];
        if (field->type == snw_fieldReal && strcmp(field->key, dot + 1) == 0)
            return field;
    }
    return NULL;
}

// What stands between "material." and the key: nothing, a body, a region, or both.
typedef struct Target
{
    char body[128]; // "": all
    int region;     // -1: all
} Target;

static bool IsBody(const json_t* bodies, const char* name)
{
    for (size_t i = 0; i < json_array_size(bodies); ++i)
    {
        const char* own = json_string_value(json_object_get(json_array_get(bodies, i), "name"));
        if (own != NULL && strcmp(own, name) == 0)
            return true;
    }
    return false;
}

static bool ReadRegion(const char* text, int* region)
{
    size_t length = strlen(text);
    if (length == 0 || length > 8 || strspn(text, "0123456789") != length)
        return false;
    *region = atoi(text);
    return true;
}

// A body may be called as a number, or end like one: its own name comes first.
static Target ReadTarget(const json_t* bodies, const char* name)
{
    Target target = {.region = -1};
    const char* first = name + sizeof s_prefix - 1;
    const char* last = strrchr(name, '.');
    if (first > last)
        return target;
    snprintf(target.body, sizeof target.body, "%.*s", (int)(last - first), first);
    if (IsBody(bodies, target.body))
        return target;

    char* dot = strrchr(target.body, '.');
    if (ReadRegion(dot != NULL ? dot + 1 : target.body, &target.region))
        *(dot != NULL ? dot : target.body) = 0;
    return target;
}

// A simple shape has one material and says it; all others list their changes, of which the last counts.
static snwResult ChangeOne(snwJson* json, json_t* character, const Target* target, const char* key, double value)
{
    if (json_object_get(character, "shape") == NULL)
    {
        json_t* list = json_object_get(character, "materials");
        if (list == NULL && json_is_object(character))
            json_object_set_new(character, "materials", list = json_array());
        json_t* change = json_object();
        if (target->region >= 0)
            json_object_set_new(change, "region", json_integer(target->region));
        json_object_set_new(change, key, json_real(value));
        json_array_append_new(list, change);
        return snw_ok;
    }

    const char* shape = json_string_value(json_object_get(character, "shape"));
    if (target->region > 0)
        return snwJson_Fail(json, NULL, "there is no region %d: a shape has one, of number 0", target->region);
    if (shape != NULL && strcmp(shape, "spring") == 0 && strcmp(key, "density") == 0)
        return snwJson_Fail(json, "'mass' in the scene", "what a spring weighs is given");
    json_t* material = json_object_get(character, "material");
    if (!json_is_object(material))
    {
        json_t* object = json_object();
        if (material != NULL)
            json_object_set(object, "preset", material);
        json_object_set_new(character, "material", material = object);
    }
    json_object_set_new(material, key, json_real(value));
    return snw_ok;
}

// A body whose character others share gets one of its own.
static snwResult ChangeBody(
    snwJson* json, json_t* root, json_t* body, const Target* target, const char* key, double value)
{
    json_t* character = json_object_get(body, "character");
    if (json_is_string(character))
    {
        json_t* named = json_object_get(json_object_get(root, "characters"), json_string_value(character));
        if (named == NULL)
            return snw_ok; // the reader says so, with its place
        json_object_set_new(body, "character", json_deep_copy(named));
        character = json_object_get(body, "character");
    }
    return ChangeOne(json, character, target, key, value);
}

typedef struct BodyNames
{
    const json_t* bodies;
} BodyNames;

static const char* BodyName(int index, const void* data)
{
    return json_string_value(json_object_get(json_array_get(((const BodyNames*)data)->bodies, (size_t)index), "name"));
}

static snwResult WriteOne(snwJson* json, json_t* root, const char* name, double value)
{
    json_t *characters = json_object_get(root, "characters"), *bodies = json_object_get(root, "bodies");
    const snwField* field = snwMaterialSetting_Field(name);
    if (field == NULL)
        return snwJson_Fail(
            json, "density, young, poisson, damping, frequency or settling", "a material has no such key");
    if (!(value >= field->lower && value <= field->upper))
        return snwJson_Fail(json, NULL, "must be %.10g..%.10g, is %.10g", field->lower, field->upper, value);

    Target target = ReadTarget(bodies, name);
    if (target.body[0] != 0 && !IsBody(bodies, target.body))
    {
        char remedy[240];
        BodyNames names = {bodies};
        snwSuggestWord(remedy, sizeof remedy, target.body, (int)json_array_size(bodies), BodyName, &names);
        return snwJson_Fail(json, remedy, "there is no body '%s'", snwQuoteWord(target.body).text);
    }

    // All bodies: the characters they share, and those that stand inside them.
    snwResult result = snw_ok;
    bool all = target.body[0] == 0;
    for (void* i = json_object_iter(characters); i != NULL && all && result == snw_ok;
         i = json_object_iter_next(characters, i))
        result = ChangeOne(json, json_object_iter_value(i), &target, field->key, value);
    for (size_t i = 0; i < json_array_size(bodies) && result == snw_ok; ++i)
    {
        json_t* body = json_array_get(bodies, i);
        const char* own = json_string_value(json_object_get(body, "name"));
        bool inside = json_is_object(json_object_get(body, "character"));
        if (all ? inside : own != NULL && strcmp(own, target.body) == 0)
            result = ChangeBody(json, root, body, &target, field->key, value);
    }
    return result;
}

json_t* snwMaterialSettings_Write(
    snwJson* json, const json_t* root, const snwSetting* settings, int count, snwResult* result)
{
    json_t* copy = json_deep_copy(root);
    *result = copy == NULL ? snwFailMemory(json->message) : snw_ok;
    for (int i = 0; i < count && *result == snw_ok; ++i)
    {
        if (!snwMaterialSetting_IsOne(settings[i].name))
            continue;
        size_t mark = snwJson_Enter(json, settings[i].name);
        *result = WriteOne(json, copy, settings[i].name, settings[i].value);
        if (*result == snw_ok)
            snwJson_Leave(json, mark);
    }
    if (*result == snw_ok)
        return copy;
    json_decref(copy);
    return NULL;
}
