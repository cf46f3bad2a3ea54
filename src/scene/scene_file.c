// Scene files: from JSON text to a scene.
//
// The document is read by tables into Defs whose texts point into it; lists are copied into an arena; snwCreateScene
// then copies everything, so both are dropped at the end. jansson allocates with malloc: its allocator is one for the
// whole process and belongs to the host, so a scene's document is the one thing outside the context's memory.

#include "scene/scene_file.h"
#include "scene/characters.h"
#include "scene/clip_file.h"
#include "scene/colliders.h"
#include "scene/commands.h"
#include "scene/file.h"
#include "scene/gestures.h"
#include "scene/material_changes.h"
#include "scene/names.h"
#include "scene/words.h"
#include "base/arena.h"
#include "sim/limits.h"

#include <math.h>
#include <string.h>

typedef struct NamedCharacter
{
    const char* name;
    const json_t* value;
    snwCharacter* character; // NULL until a body uses it
} NamedCharacter;

typedef struct Builder
{
    snwJson json;
    snwArena arena;
    const snwSceneOptions* options;
    snwSceneData data;
    snwSceneDef def;
    int method;
    NamedCharacter* named;
    int namedCount;
    int64_t tets; // that may still be simulated
    int keys;     // that may still be read
    int numbers;  // of colliders, likewise
    snwClipSources clips;
} Builder;

snwCameraDef snwDefaultCameraDef(void)
{
    return (snwCameraDef){.automatic = true, .position = {0, 1, 4}, .target = {0, 0.5, 0}, .fieldOfView = 35};
}

snwSceneOptions snwDefaultSceneOptions(void)
{
    return (snwSceneOptions){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// Lists

typedef snwResult ReadItemFn(Builder* builder, const json_t* value, int index);

static snwResult FailMemory(Builder* builder)
{
    return snwJson_Locate(&builder->json, snwFailMemory(builder->json.message));
}

static void* NewList(Builder* builder, const char* key, const json_t* list, int limit, size_t size, snwResult* result)
{
    return snwJson_NewList(&builder->json, &builder->arena, key, list, limit, size, result);
}

static void ReadItems(Builder* builder, const char* key, const json_t* list, ReadItemFn* read, snwResult* result)
{
    size_t count = list == NULL || *result < 0 ? 0 : json_array_size(list);
    size_t outer = snwJson_Enter(&builder->json, key);
    for (size_t i = 0; i < count && *result == snw_ok; ++i)
    {
        size_t mark = snwJson_EnterIndex(&builder->json, i);
        *result = read(builder, json_array_get(list, i), (int)i);
        snwJson_Leave(&builder->json, mark);
    }
    snwJson_Leave(&builder->json, outer);
}

// Names are the first member of every Def that has one.
static snwResult CheckUnique(Builder* builder, const void* items, size_t size, int count, const char* name)
{
    for (int i = 0; i < count; ++i)
    {
        const char* other = NULL;
        memcpy(&other, (const char*)items + (size_t)i * size, sizeof other);
        if (strcmp(other, name) == 0)
            return snwJson_Fail(&builder->json, "names must be unique", "the name '%s' is taken by number %d",
                snwQuoteWord(name).text, i);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Characters and bodies

static const char* CharacterName(int index, const void* data)
{
    return ((const NamedCharacter*)data)[index].name;
}

static snwResult ReadCharacters(Builder* builder)
{
    const json_t* list = builder->data.characters;
    snwJson* json = &builder->json;
    if (list == NULL)
        return snw_ok;
    size_t mark = snwJson_Enter(json, "characters");
    if (!json_is_object(list))
        return snwJson_Fail(json, NULL, "must be an object of characters by name, is %s", snwJson_TypeName(list));
    size_t count = json_object_size(list);
    if (count > snw_maxBodies)
        return snwJson_Fail(json, NULL, "has %zu items; at most %d are read", count, snw_maxBodies);
    builder->named = snwArena_Alloc(&builder->arena, count + 1, sizeof *builder->named);
    if (builder->named == NULL)
        return FailMemory(builder);

    // Checked now, made when a body uses one: what nobody uses costs nothing.
    for (void* i = json_object_iter((json_t*)list); i != NULL; i = json_object_iter_next((json_t*)list, i))
    {
        NamedCharacter* item = &builder->named[builder->namedCount++];
        *item = (NamedCharacter){json_object_iter_key(i), json_object_iter_value(i), NULL};
        size_t inner = snwJson_Enter(json, item->name);
        snwResult result = snwCharacter_ReadJson(json, item->name, item->value, NULL, NULL);
        if (result < 0)
            return result;
        snwJson_Leave(json, inner);
    }

    snwJson_Leave(json, mark);
    return snw_ok;
}

// The first body that names a character makes it; the others share it.
static snwResult UseNamed(Builder* builder, const char* name, snwCharacter** character)
{
    snwJson* json = &builder->json;
    NamedCharacter* found = NULL;
    for (int i = 0; i < builder->namedCount && found == NULL; ++i)
        if (strcmp(builder->named[i].name, name) == 0)
            found = &builder->named[i];
    if (found == NULL)
    {
        char remedy[240];
        snwSuggestWord(remedy, sizeof remedy, name, builder->namedCount, CharacterName, builder->named);
        return snwJson_Fail(json, remedy, "there is no character '%s'", snwQuoteWord(name).text);
    }

    // Made once; every further use counts against the budget of elements all the same.
    snwResult result = snw_ok;
    if (found->character == NULL)
        result = snwCharacter_ReadJson(json, name, found->value, &builder->tets, &found->character);
    else
        builder->tets -= snwCharacter_GetInfo(found->character).tetCount;

    if (result == snw_ok && builder->tets < 0)
        result = snwCharacter_FailTooLarge(json, snwCharacter_GetInfo(found->character).tetCount);
    if (result < 0)
        return result;
    *character = found->character;
    snwCharacter_Retain(*character);

    return snw_ok;
}

static snwResult ReadBodyCharacter(Builder* builder, const snwBodyData* data, snwCharacter** character)
{
    size_t mark = snwJson_Enter(&builder->json, "character");
    snwResult result = snw_ok;
    if (json_is_string(data->character))
        result = UseNamed(builder, json_string_value(data->character), character);
    else
        result = snwCharacter_ReadJson(&builder->json, data->def.name, data->character, &builder->tets, character);
    if (result >= 0)
        snwJson_Leave(&builder->json, mark);
    return result;
}

static snwResult CheckBodyMotion(Builder* builder, const snwBodyDef* body)
{
    int motion = -1;
    if (body->motion == NULL || body->motion[0] == 0)
        return snw_ok;
    size_t mark = snwJson_Enter(&builder->json, "motion");
    snwResult result = snwFindMotion(&builder->json, body->character, body->motion, &motion);
    if (result >= 0)
        snwJson_Leave(&builder->json, mark);
    return result;
}

static snwResult ReadBody(Builder* builder, const json_t* value, int index)
{
    snwBodyDef* bodies = (snwBodyDef*)builder->def.bodies;
    snwBodyData data;
    snwResult result = snwTable_Read(&builder->json, &snw_bodyTable, value, &data, NULL);
    if (result == snw_ok)
        result = CheckUnique(builder, bodies, sizeof *bodies, index, data.def.name);
    if (result == snw_ok)
        result = ReadBodyCharacter(builder, &data, &data.def.character);
    if (result < 0)
        return result;
    bodies[index] = data.def;
    builder->def.bodyCount = index + 1; // from here on its character is released with the others
    return CheckBodyMotion(builder, &data.def);
}

// ---------------------------------------------------------------------------------------------------------------------
// Colliders, props, pins, clips, script

static snwResult ReadCollider(Builder* builder, const json_t* value, int index)
{
    snwColliderDef* colliders = (snwColliderDef*)builder->def.colliders;
    snwResult result = snwCollider_ReadJson(
        &builder->json, &builder->arena, value, &builder->numbers, &colliders[index]);
    builder->def.colliderCount = index + 1;
    return result < 0 ? result : CheckUnique(builder, colliders, sizeof *colliders, index, colliders[index].name);
}

static snwResult ReadProp(Builder* builder, const json_t* value, int index)
{
    snwPropDef* props = (snwPropDef*)builder->def.props;
    snwResult result = snwTable_Read(&builder->json, &snw_propTable, value, &props[index], NULL);
    builder->def.propCount = index + 1;
    if (result == snw_ok && props[index].kind == snw_colliderPlane)
        return snwJson_Fail(&builder->json, "use a sphere, box or capsule", "a plane cannot move freely");
    return result < 0 ? result : CheckUnique(builder, props, sizeof *props, index, props[index].name);
}

static snwResult ReadFriction(Builder* builder, const json_t* value, int index)
{
    snwFrictionDef* frictions = (snwFrictionDef*)builder->def.frictions;
    builder->def.frictionCount = index + 1;
    return snwTable_Read(&builder->json, &snw_frictionTable, value, &frictions[index], NULL);
}

static snwResult ReadPin(Builder* builder, const json_t* value, int index)
{
    snwPinDef* pins = (snwPinDef*)builder->def.pins;
    snwPinData data;
    snwResult result = snwTable_Read(&builder->json, &snw_pinTable, value, &data, NULL);
    if (result == snw_ok)
        result = CheckUnique(builder, pins, sizeof *pins, index, data.def.name);
    if (result < 0)
        return result;
    size_t mark = snwJson_Enter(&builder->json, "body");
    result = snwFindBody(&builder->json, &builder->def, data.body, &data.def.body);
    if (result < 0)
        return result;
    snwJson_Leave(&builder->json, mark);
    pins[index] = data.def;
    builder->def.pinCount = index + 1;
    return snw_ok;
}

static const double s_unstretched[6] = {1, 1, 1, 0, 0, 0};

static snwResult ReadStretch(snwJson* json, const json_t* value, double stretch[6])
{
    snwResult result = snw_ok;
    size_t mark = snwJson_Enter(json, "stretch");
    if (json_array_size(value) != 6)
        return snwJson_Fail(json, NULL, "must be a list of 6 numbers");
    for (size_t k = 0; k < 6 && result >= 0; ++k)
        result = snwJson_ReadReal(json, json_array_get(value, k), -SNW_MAX_STRETCH, SNW_MAX_STRETCH, &stretch[k]);
    if (result >= 0)
        snwJson_Leave(json, mark);
    return result;
}

static snwResult ReadKey(Builder* builder, const json_t* value, int index)
{
    snwClipDef* clip = (snwClipDef*)&builder->def.clips[builder->def.clipCount];
    snwKey* keys = (snwKey*)clip->keys;
    snwKeyData data;
    snwResult result = snwTable_Read(&builder->json, &snw_keyTable, value, &data, NULL);
    keys[index] = data.key;
    double(*stretches)[6] = (double(*)[6])clip->stretches;
    if (result == snw_ok && stretches != NULL)
        memcpy(stretches[index], s_unstretched, sizeof *stretches);
    if (result == snw_ok && stretches != NULL && data.stretch != NULL)
        result = ReadStretch(&builder->json, data.stretch, stretches[index]);
    if (result == snw_ok && index > 0 && keys[index].time <= keys[index - 1].time)
        return snwJson_Fail(&builder->json, "put the keys in the order of time",
            "time must be later than %.10g, is %.10g", keys[index - 1].time, keys[index].time);
    clip->keyCount = index + 1;
    return result;
}

static snwResult ResolveClipPart(Builder* builder, snwClipData* data)
{
    snwJson* json = &builder->json;
    bool handle = data->handle != NULL;
    if (data->body == NULL)
        return snwJson_Fail(json, NULL, "key 'body' is missing");
    size_t mark = snwJson_Enter(json, "body");
    snwResult result = snwFindBody(json, &builder->def, data->body, &data->def.body);
    if (result < 0)
        return result;
    snwJson_Leave(json, mark);
    const snwCharacter* character = builder->def.bodies[data->def.body].character;
    data->def.target = handle ? snw_clipHandle : snw_clipJoint;

    // By the name of a handle or a joint of that body.
    mark = snwJson_Enter(json, handle ? "handle" : "joint");
    result = handle ? snwFindHandle(json, character, data->handle, &data->def.index)
                    : snwFindJoint(json, character, data->joint, &data->def.index);
    if (result == snw_ok)
        snwJson_Leave(json, mark);

    return result;
}

static snwResult ResolveClip(Builder* builder, snwClipData* data)
{
    snwJson* json = &builder->json;

    // Exactly one thing is moved.
    int targets = (data->pin != NULL) + (data->collider != NULL) + (data->handle != NULL) + (data->joint != NULL);
    if (data->file != NULL)
        return snwJson_Fail(json, "name it in the scene", "a file of clips names no other");
    if (targets != 1)
        return snwJson_Fail(json, NULL, "must move one of 'pin', 'collider', 'handle' or 'joint', names %d", targets);
    if (data->handle != NULL || data->joint != NULL)
        return ResolveClipPart(builder, data);
    if (data->body != NULL)
        return snwJson_Fail(json, "remove it", "'body' belongs to handles and joints");

    data->def.target = data->pin != NULL ? snw_clipPin : snw_clipCollider;
    size_t mark = snwJson_Enter(json, data->pin != NULL ? "pin" : "collider");
    snwResult result = data->pin != NULL ? snwFindPin(json, &builder->def, data->pin, &data->def.index)
                                         : snwFindCollider(json, &builder->def, data->collider, &data->def.index);
    if (result == snw_ok)
        snwJson_Leave(json, mark);

    return result;
}

static bool HasStretches(const json_t* keys)
{
    bool any = false;
    for (size_t i = 0; i < json_array_size(keys); ++i)
        any = any || json_object_get(json_array_get(keys, i), "stretch") != NULL;
    return any;
}

static snwResult ReadClip(Builder* builder, const json_t* value, int index)
{
    snwClipDef* clips = (snwClipDef*)builder->def.clips;
    snwClipData data;
    snwResult result = snwTable_Read(&builder->json, &snw_clipTable, value, &data, NULL);
    if (result == snw_ok)
        result = ResolveClip(builder, &data);
    if (result < 0)
        return result;

    // The clip counts while its keys are read, since their messages name it.
    clips[index] = data.def;
    builder->def.clipCount = index; // the one being read, for ReadKey
    clips[index].keys = NewList(builder, "keys", data.keys, builder->keys, sizeof(snwKey), &result);
    // Strains have an array of their own, as few clips have any.
    if (result == snw_ok && HasStretches(data.keys))
        clips[index].stretches = snwArena_Alloc(&builder->arena, json_array_size(data.keys), 6 * sizeof(double));
    ReadItems(builder, "keys", data.keys, ReadKey, &result);
    builder->keys -= clips[index].keyCount;
    if (result == snw_ok && clips[index].keyCount == 0)
        return snwJson_Fail(&builder->json, NULL, "must have at least one key");
    builder->def.clipCount = index + 1;

    return result;
}

// Clips in files of their own fail with the name of their file and their place there.
static snwResult ReadClips(Builder* builder)
{
    snwJson* json = &builder->json;
    const char* scene = json->file;
    snwResult result = snwClipSources_Open(json, &builder->arena, builder->data.clips, &builder->clips);

    builder->def.clips = snwArena_Alloc(&builder->arena, (size_t)builder->clips.count + 1, sizeof(snwClipDef));
    if (result == snw_ok && builder->def.clips == NULL)
        return FailMemory(builder);
    size_t outer = snwJson_Enter(json, "clips");

    // Messages name the file that the clip is in.
    for (int i = 0; i < builder->clips.count && result == snw_ok; ++i)
    {
        const snwClipSource* source = &builder->clips.items[i];
        size_t mark = snwJson_EnterIndex(json, (size_t)source->index);
        json->file = source->file != NULL ? source->file : scene;
        result = ReadClip(builder, source->value, i);
        json->file = scene;
        snwJson_Leave(json, mark);
    }

    snwJson_Leave(json, outer);
    return result;
}

static snwResult ReadSceneCommand(Builder* builder, const json_t* value, int index)
{
    snwCommand* commands = (snwCommand*)builder->def.commands;
    builder->def.commandCount = index + 1;
    return snwCommand_ReadJson(&builder->json, &builder->def, value, &commands[index]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Settings

// The last value of a name counts. Those of other methods stay, for when the method is changed.
static void KeepSetting(Builder* builder, const char* name, double value)
{
    snwSetting* settings = (snwSetting*)builder->def.settings;
    int count = builder->def.settingCount, kept = 0;
    for (int i = 0; i < count; ++i)
        if (strcmp(settings[i].name, name) != 0)
            settings[kept++] = settings[i];
    settings[kept++] = (snwSetting){name, value};
    builder->def.settingCount = kept;
}

static snwResult ReadFileSettings(Builder* builder)
{
    json_t* list = (json_t*)builder->data.settings;
    snwJson* json = &builder->json;
    size_t mark = snwJson_Enter(json, "settings");
    if (list != NULL && !json_is_object(list))
        return snwJson_Fail(json, NULL, "must be an object, is %s", snwJson_TypeName(list));

    // Every key must be a parameter of some method; values of other methods are kept, too.
    for (void* i = json_object_iter(list); i != NULL; i = json_object_iter_next(list, i))
    {
        const snwParamInfo* info = NULL;
        double value = 0;
        snwResult result = snwParam_FindAny(json, json_object_iter_key(i), &info);
        if (result < 0)
            return result;
        size_t inner = snwJson_Enter(json, info->name);
        result = snwParam_ReadValue(json, info, json_object_iter_value(i), &value);
        if (result < 0)
            return result;
        snwJson_Leave(json, inner);
        KeepSetting(builder, info->name, value);
    }

    snwJson_Leave(json, mark);
    return snw_ok;
}

// What the caller set is not in the file: its messages name no file.
static snwResult ReadOptionSettings(Builder* builder)
{
    snwJson json = {.context = builder->json.context, .message = builder->json.message, .file = ""};
    for (int i = 0; i < builder->options->settingCount; ++i)
    {
        const snwSetting* setting = &builder->options->settings[i];
        const snwParamInfo* info = NULL;
        if (snwMaterialSetting_IsOne(setting->name))
            continue; // it is in the document
        size_t mark = snwJson_Enter(&json, setting->name);
        snwResult result = snwParam_FindAny(&json, setting->name, &info);
        if (result == snw_ok)
            result = snwParam_CheckValue(&json, info, setting->value);
        if (result < 0)
            return result;
        snwJson_Leave(&json, mark);
        KeepSetting(builder, info->name, setting->value);
    }
    return snw_ok;
}

static snwResult ReadSceneSettings(Builder* builder)
{
    // Every name is kept once, so the number of parameters of all methods bounds the list.
    size_t most = 1;
    for (int i = 0; i < snwMethodCount(); ++i)
        most += (size_t)snwMethod_GetInfo(i).paramCount;
    builder->def.settings = snwArena_Alloc(&builder->arena, most, sizeof(snwSetting));
    if (builder->def.settings == NULL)
        return FailMemory(builder);
    snwResult result = ReadFileSettings(builder);
    return result < 0 ? result : ReadOptionSettings(builder);
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole

static snwResult ReadRoot(Builder* builder, const json_t* root)
{
    const snwSceneOptions* options = builder->options;
    snwSceneData* data = &builder->data;
    snwResult result = snwTable_Read(&builder->json, &snw_sceneTable, root, data, NULL);
    if (result < 0)
        return result;
    builder->def = snwDefaultSceneDef();

    // Options of the command line win over the file.
    builder->def.name = data->name;
    builder->def.method = options->method != NULL ? options->method : data->method;
    builder->def.gravity = data->gravity;
    builder->def.rate = data->rate;
    builder->def.duration = options->duration > 0 ? options->duration : data->duration;
    builder->def.seed = options->hasSeed ? options->seed : data->seed;
    if (builder->def.seed > INT64_MAX)
        return snwFail(builder->json.message, snw_errorArgument, NULL, "seed must be 0..9223372036854775807");
    if (!(builder->def.rate * builder->def.duration <= snw_maxFrames))
        return snwJson_Fail(
            &builder->json, "lower rate or duration", "more than %d million frames", snw_maxFrames / 1000000);

    // The method must exist: everything behind it depends on its parameters.
    size_t mark = snwJson_Enter(&builder->json, "method");
    result = snwFindMethod(&builder->json, builder->def.method, &builder->method);
    if (result == snw_ok)
        snwJson_Leave(&builder->json, mark);

    return result;
}

static snwResult ReadLists(Builder* builder)
{
    const snwSceneData* data = &builder->data;
    snwSceneDef* def = &builder->def;
    snwResult result = snw_ok;

    // In the order in which the lists refer to each other: clips and commands name bodies, colliders and pins.
    def->bodies = NewList(builder, "bodies", data->bodies, snw_maxBodies, sizeof *def->bodies, &result);
    ReadItems(builder, "bodies", data->bodies, ReadBody, &result);
    def->colliders = NewList(builder, "colliders", data->colliders, snw_maxBodies, sizeof *def->colliders, &result);
    ReadItems(builder, "colliders", data->colliders, ReadCollider, &result);
    def->props = NewList(builder, "props", data->props, snw_maxBodies, sizeof *def->props, &result);
    ReadItems(builder, "props", data->props, ReadProp, &result);
    def->frictions = NewList(builder, "frictions", data->frictions, 1024, sizeof *def->frictions, &result);
    ReadItems(builder, "frictions", data->frictions, ReadFriction, &result);
    def->pins = NewList(builder, "pins", data->pins, snw_maxBodies, sizeof *def->pins, &result);
    ReadItems(builder, "pins", data->pins, ReadPin, &result);
    if (result == snw_ok)
        result = ReadClips(builder);
    def->commands = NewList(builder, "commands", data->commands, snw_maxCommands, sizeof *def->commands, &result);
    ReadItems(builder, "commands", data->commands, ReadSceneCommand, &result);

    return result < 0 ? result : snwGestures_Read(&builder->json, data->gestures, &builder->arena, def);
}

static snwResult ReadCamera(Builder* builder, snwCameraDef* camera)
{
    *camera = snwDefaultCameraDef();
    if (builder->data.camera == NULL)
        return snw_ok;
    size_t mark = snwJson_Enter(&builder->json, "camera");
    snwResult result = snwTable_Read(&builder->json, &snw_cameraTable, builder->data.camera, camera, NULL);
    snwJson_Leave(&builder->json, mark);
    return result;
}

static snwResult BuildSceneFile(Builder* builder, const json_t* root, snwSceneFile* file)
{
    // Reading, as far as it goes without a mistake.
    snwResult result = ReadRoot(builder, root);
    if (result == snw_ok && builder->data.description != NULL)
        snprintf(file->description, sizeof file->description, "%s", builder->data.description);
    if (result == snw_ok)
        result = ReadSceneSettings(builder);
    if (result == snw_ok)
        result = ReadCharacters(builder);
    if (result == snw_ok)
        result = ReadLists(builder);
    if (result == snw_ok)
        result = ReadCamera(builder, &file->camera);
    if (result < 0)
        return result;

    // The scene checks itself once more, as one made by a program would be.
    snwMessage words = {0};
    result = snwCreateScene(builder->json.context, &builder->def, &file->scene, &words);
    bool tell = result < 0 || (result > 0 && builder->json.warnings == 0); // an earlier warning keeps its words
    if (tell && builder->json.message != NULL)
        *builder->json.message = words;

    return tell ? snwJson_Locate(&builder->json, result) : result;
}

static void Release(Builder* builder)
{
    snwClipSources_Release(&builder->clips);
    for (int i = 0; i < builder->def.bodyCount; ++i)
        snwCharacter_Release(builder->def.bodies[i].character);
    for (int i = 0; i < builder->namedCount; ++i)
        if (builder->named[i].character != NULL)
            snwCharacter_Release(builder->named[i].character);
    snwArena_Free(&builder->arena);
}

static bool ChangesMaterials(const snwSceneOptions* options)
{
    for (int i = 0; i < options->settingCount; ++i)
        if (snwMaterialSetting_IsOne(options->settings[i].name))
            return true;
    return false;
}

snwResult snwSceneFile_FromJson(snwContext* context, const json_t* root, const char* name,
    const snwSceneOptions* options, snwSceneFile* file, snwMessage* message)
{
    snwSceneOptions none = snwDefaultSceneOptions();
    options = options != NULL ? options : &none;
    Builder builder = {
        .json = {.context = context, .message = message, .file = name, .wall = options->wall},
        .arena = {.context = context},
        .options = options,
        .tets = snwCharacter_TetsOfMemory(options->memory),
        .keys = snw_maxKeys,
        .numbers = snw_maxNumbers,
    };
    *file = (snwSceneFile){0};
    snwMessage_Clear(message);
    snwResult result = snw_ok;
    json_t* changed = NULL;
    if (ChangesMaterials(options))
    {
        snwJson words = {.context = context, .message = message, .file = ""}; // what the caller set is in no file
        changed = snwMaterialSettings_Write(&words, root, options->settings, options->settingCount, &result);
    }
    if (result == snw_ok)
        result = BuildSceneFile(&builder, changed != NULL ? changed : root, file);
    Release(&builder);
    json_decref(changed);
    return result == snw_ok && builder.json.warnings > 0 ? snw_warning : result;
}

snwResult snwSceneFile_Parse(snwContext* context, const char* text, size_t size, const char* name,
    const snwSceneOptions* options, snwSceneFile* file, snwMessage* message)
{
    snwJson json = {.context = context, .message = message, .file = name != NULL ? name : ""};
    snwResult result = snw_ok;
    *file = (snwSceneFile){0};
    if (size > snw_maxSceneBytes)
        return snwJson_Fail(&json, NULL, "too large: at most %d MiB are read", snw_maxSceneBytes >> 20);
    json_t* root = snwJson_Parse(&json, text, size, &result);
    if (root == NULL)
        return result;
    result = snwSceneFile_FromJson(context, root, json.file, options, file, message);
    json_decref(root);
    return result;
}

snwResult snwSceneFile_Open(
    snwContext* context, const char* path, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message)
{
    char* text = NULL;
    size_t size = 0;
    *file = (snwSceneFile){0};
    snwResult result = snwFile_Read(context, path, snw_maxSceneBytes, &text, &size, message);
    if (result == snw_ok)
        result = snwSceneFile_Parse(context, text, size, path, options, file, message);
    snwFree(context, text);
    return result;
}

void snwSceneFile_Close(snwSceneFile* file)
{
    if (file->scene != NULL)
        snwScene_Release(file->scene);
    *file = (snwSceneFile){0};
}
