// Names in files to numbers and back: bodies, colliders, props, pins, methods, motions, handles, joints, parameters.
// An unknown name fails with the nearest known one.

#include "scene/names.h"
#include "scene/words.h"
#include "sim/character.h"

#include <math.h>
#include <string.h>

static snwResult FindName(
    snwJson* json, const char* what, const char* name, int count, snwWordFn* nameOf, const void* data, int* index)
{
    for (int i = 0; i < count; ++i)
    {
        const char* known = nameOf(i, data);
        if (known == NULL || strcmp(known, name) != 0)
            continue;
        *index = i;
        return snw_ok;
    }
    char remedy[240];
    snwSuggestWord(remedy, sizeof remedy, name, count, nameOf, data);
    return snwJson_Fail(json, remedy, "there is no %s '%s'", what, snwQuoteWord(name).text);
}

static const char* BodyName(int index, const void* data)
{
    return ((const snwSceneDef*)data)->bodies[index].name;
}

static const char* ColliderName(int index, const void* data)
{
    return ((const snwSceneDef*)data)->colliders[index].name;
}

static const char* PropName(int index, const void* data)
{
    return ((const snwSceneDef*)data)->props[index].name;
}

static const char* PinName(int index, const void* data)
{
    return ((const snwSceneDef*)data)->pins[index].name;
}

static const char* MethodName(int index, const void* data)
{
    (void)data;
    return snwMethod_GetInfo(index).name;
}

snwResult snwFindBody(snwJson* json, const snwSceneDef* def, const char* name, int* index)
{
    return FindName(json, "body", name, def->bodyCount, BodyName, def, index);
}

snwResult snwFindCollider(snwJson* json, const snwSceneDef* def, const char* name, int* index)
{
    return FindName(json, "collider", name, def->colliderCount, ColliderName, def, index);
}

snwResult snwFindProp(snwJson* json, const snwSceneDef* def, const char* name, int* index)
{
    return FindName(json, "prop", name, def->propCount, PropName, def, index);
}

snwResult snwFindPin(snwJson* json, const snwSceneDef* def, const char* name, int* index)
{
    return FindName(json, "pin", name, def->pinCount, PinName, def, index);
}

snwResult snwFindMethod(snwJson* json, const char* name, int* method)
{
    return FindName(json, "method", name, snwMethodCount(), MethodName, NULL, method);
}

static const char* MotionName(int index, const void* data)
{
    return ((const snwCharacter*)data)->def.motions[index].name;
}

snwResult snwFindMotion(snwJson* json, const snwCharacter* character, const char* name, int* index)
{
    return FindName(json, "motion", name, character->def.motionCount, MotionName, character, index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles and joints

// The handle's name, or the bone's where there are no handles.
static const char* AnyHandleName(const snwCharacterDef* def, int index)
{
    if (index < 0 || index >= snwCharacterDef_HandleCount(def))
        return NULL;
    return def->handleCount > 0 ? def->handles[index].name : def->bones[index].name;
}

const char* snwHandleName(const snwCharacter* character, int index)
{
    const snwCharacterDef* def = &character->def;
    const char* name = AnyHandleName(def, index);
    for (int i = 0; i < index && name != NULL; ++i)
    {
        const char* other = AnyHandleName(def, i);
        if (other != NULL && strcmp(other, name) == 0)
            return NULL;
    }
    return name != NULL && name[0] != 0 ? name : NULL;
}

const char* snwJointName(const snwCharacter* character, int index)
{
    const snwCharacterDef* def = &character->def;
    const char* name = index >= 0 && index < def->jointCount ? def->joints[index].name : NULL;
    for (int i = 0; i < index && name != NULL; ++i)
        if (def->joints[i].name != NULL && strcmp(def->joints[i].name, name) == 0)
            return NULL;
    return name != NULL && name[0] != 0 ? name : NULL;
}

static const char* HandleWord(int index, const void* data)
{
    return snwHandleName(data, index);
}

static const char* JointWord(int index, const void* data)
{
    return snwJointName(data, index);
}

static snwResult FindNamedPart(snwJson* json, const char* what, const json_t* value, int count, snwWordFn* nameOf,
    const snwCharacter* character, int* index)
{
    if (json_is_string(value))
        return FindName(json, what, json_string_value(value), count, nameOf, character, index);
    if (!json_is_integer(value))
        return snwJson_Fail(json, NULL, "must be a name or a whole number, is %s", snwJson_TypeName(value));
    if (count == 0)
        return snwJson_Fail(json, NULL, "the body has no %s", what);
    long long number = json_integer_value(value);
    if (number < 0 || number >= count)
        return snwJson_Fail(json, NULL, "must be 0..%d, is %lld", count - 1, number);
    *index = (int)number;
    return snw_ok;
}

snwResult snwFindHandle(snwJson* json, const snwCharacter* character, const json_t* value, int* index)
{
    return FindNamedPart(
        json, "handle", value, snwCharacterDef_HandleCount(&character->def), HandleWord, character, index);
}

snwResult snwFindJoint(snwJson* json, const snwCharacter* character, const json_t* value, int* index)
{
    return FindNamedPart(json, "joint", value, character->def.jointCount, JointWord, character, index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Parameters

int snwParam_Find(int method, const char* name)
{
    int count = method < 0 ? 0 : snwMethod_GetInfo(method).paramCount;
    for (int i = 0; i < count; ++i)
        if (strcmp(snwMethod_GetParam(method, i)->name, name) == 0)
            return i;
    return -1;
}

// All methods' parameters as one list, for the nearest name.
static const char* AnyParamName(int index, const void* data)
{
    (void)data;
    for (int method = 0; method < snwMethodCount(); ++method)
    {
        int count = snwMethod_GetInfo(method).paramCount;
        if (index < count)
            return snwMethod_GetParam(method, index)->name;
        index -= count;
    }
    return NULL;
}

snwResult snwParam_FindAny(snwJson* json, const char* name, const snwParamInfo** info)
{
    int total = 0, index = 0;
    for (int method = 0; method < snwMethodCount(); ++method)
    {
        index = snwParam_Find(method, name);
        if (index >= 0)
        {
            *info = snwMethod_GetParam(method, index);
            return snw_ok;
        }
        total += snwMethod_GetInfo(method).paramCount;
    }
    return FindName(json, "parameter", name, total, AnyParamName, NULL, &index);
}

snwResult snwParam_CheckValue(snwJson* json, const snwParamInfo* info, double value)
{
    if (!(value >= info->lower && value <= info->upper))
        return snwJson_Fail(json, NULL, "must be %.10g..%.10g, is %.10g", info->lower, info->upper, value);
    if (info->type != snw_paramReal && value != floor(value))
        return snwJson_Fail(json, NULL, "must be a whole number, is %.10g", value);
    return snw_ok;
}

snwResult snwParam_ReadValue(snwJson* json, const snwParamInfo* info, const json_t* value, double* out)
{
    int choice = 0;
    snwResult result = snw_ok;

    // Choices by their words, switches as booleans, all others as numbers.
    if (info->type == snw_paramChoice && json_is_string(value))
    {
        result = snwJson_ReadChoice(json, value, info->choices, &choice);
        *out = choice;
        return result;
    }

    if (info->type == snw_paramBool)
    {
        if (!json_is_boolean(value))
            return snwJson_Fail(json, NULL, "must be true or false, is %s", snwJson_TypeName(value));
        *out = json_is_true(value);
        return snw_ok;
    }

    result = snwJson_ReadReal(json, value, 0, 0, out);
    return result < 0 ? result : snwParam_CheckValue(json, info, *out);
}

void snwParam_WriteValue(snwText* text, const snwParamInfo* info, double value)
{
    if (info != NULL && info->type == snw_paramBool)
        snwText_Bool(text, value != 0);
    else if (info != NULL && info->type == snw_paramChoice && value >= info->lower && value <= info->upper)
        snwText_String(text, info->choices[(int)value]);
    else
        snwText_Real(text, value);
}
