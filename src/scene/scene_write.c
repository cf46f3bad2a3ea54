// From a scene back to JSON text. Defaults are written out too: a later version with other defaults must not change an
// old scene.

#include "scene/scene_file.h"
#include "scene/characters.h"
#include "scene/colliders.h"
#include "scene/commands.h"
#include "scene/names.h"
#include "scene/words.h"

#include <string.h>

// The first method that has it will do: a scene keeps settings of other methods than its own.
static const snwParamInfo* FindParam(const char* name)
{
    for (int method = 0; method < snwMethodCount(); ++method)
    {
        int index = snwParam_Find(method, name);
        if (index >= 0)
            return snwMethod_GetParam(method, index);
    }
    return NULL;
}

static void WriteSceneSettings(snwText* text, const snwSceneDef* def)
{
    if (def->settingCount == 0)
        return;
    snwText_Key(text, "settings");
    snwText_Open(text, '{');
    for (int i = 0; i < def->settingCount; ++i)
    {
        const snwSetting* setting = &def->settings[i];
        snwText_Key(text, setting->name);
        snwParam_WriteValue(text, FindParam(setting->name), setting->value);
    }
    snwText_Close(text, '}');
}

// A character that one body uses, and that carries this body's name, was written inside the body.
static bool IsInline(const snwSceneDef* def, int body)
{
    const snwCharacter* character = def->bodies[body].character;
    int users = 0;
    for (int i = 0; i < def->bodyCount; ++i)
        users += def->bodies[i].character == character;
    return users == 1 && strcmp(snwCharacter_GetInfo(character).name, def->bodies[body].name) == 0;
}

static bool IsFirstUse(const snwSceneDef* def, int body)
{
    for (int i = 0; i < body; ++i)
        if (def->bodies[i].character == def->bodies[body].character)
            return false;
    return true;
}

static snwResult CheckName(const snwSceneDef* def, int body, snwMessage* message)
{
    const char* name = snwCharacter_GetInfo(def->bodies[body].character).name;
    for (int i = 0; i < body; ++i)
        if (def->bodies[i].character != def->bodies[body].character &&
            strcmp(snwCharacter_GetInfo(def->bodies[i].character).name, name) == 0 && !IsInline(def, i))
            return snwFail(message, snw_errorUnsupported, "give them different names", "two characters are called '%s'",
                snwQuoteWord(name).text);
    return snw_ok;
}

static snwResult WriteSceneCharacters(snwText* text, const snwSceneDef* def, snwMessage* message)
{
    bool open = false;
    snwResult result = snw_ok;
    for (int i = 0; i < def->bodyCount && result == snw_ok; ++i)
    {
        // Shared characters get a name and stand before the bodies; single ones stand in their body.
        if (IsInline(def, i) || !IsFirstUse(def, i))
            continue;
        if (!open)
        {
            snwText_Key(text, "characters");
            snwText_Open(text, '{');
        }

        open = true;
        result = CheckName(def, i, message);
        snwText_Key(text, snwCharacter_GetInfo(def->bodies[i].character).name);
        if (result == snw_ok)
            result = snwCharacter_WriteJson(text, def->bodies[i].character, message);
    }

    if (open)
        snwText_Close(text, '}');
    return result;
}

static snwResult WriteSceneBodies(snwText* text, const snwSceneDef* def, snwMessage* message)
{
    snwResult result = snw_ok;
    if (def->bodyCount == 0)
        return snw_ok;
    snwText_Key(text, "bodies");
    snwText_Open(text, '[');

    for (int i = 0; i < def->bodyCount && result == snw_ok; ++i)
    {
        // The character in place, or by name.
        snwBodyData data = {.def = def->bodies[i]};
        snwText_Open(text, '{');
        snwTable_Write(text, &snw_bodyTable, &data);
        snwText_Key(text, "character");
        if (IsInline(def, i))
            result = snwCharacter_WriteJson(text, data.def.character, message);
        else
            snwText_String(text, snwCharacter_GetInfo(data.def.character).name);

        snwText_Close(text, '}');
    }

    snwText_Close(text, ']');
    return result;
}

// Lists whose items a table writes by itself.
static void WriteItems(snwText* text, const char* key, const snwTable* table, const void* items, int count)
{
    if (count == 0)
        return;
    snwText_Key(text, key);
    snwText_Open(text, '[');
    for (int i = 0; i < count; ++i)
    {
        snwText_Open(text, '{');
        snwTable_Write(text, table, (const char*)items + (size_t)i * table->size);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

static void WriteSceneColliders(snwText* text, const snwSceneDef* def)
{
    if (def->colliderCount == 0)
        return;
    snwText_Key(text, "colliders");
    snwText_Open(text, '[');
    for (int i = 0; i < def->colliderCount; ++i)
        snwCollider_WriteJson(text, &def->colliders[i]);
    snwText_Close(text, ']');
}

static void WriteScenePins(snwText* text, const snwSceneDef* def)
{
    if (def->pinCount == 0)
        return;
    snwText_Key(text, "pins");
    snwText_Open(text, '[');
    for (int i = 0; i < def->pinCount; ++i)
    {
        snwPinData data = {.def = def->pins[i], .body = def->bodies[def->pins[i].body].name};
        snwText_Open(text, '{');
        snwTable_Write(text, &snw_pinTable, &data);
        snwText_Close(text, '}');
    }
    snwText_Close(text, ']');
}

static void WriteClipPart(snwText* text, const snwSceneDef* def, const snwClipDef* clip)
{
    bool handle = clip->target == snw_clipHandle;
    const snwCharacter* character = def->bodies[clip->body].character;
    const char* name = handle ? snwHandleName(character, clip->index) : snwJointName(character, clip->index);
    snwText_Key(text, handle ? "handle" : "joint");
    if (name != NULL)
        snwText_String(text, name);
    else
        snwText_Int(text, clip->index);
}

static void WriteKey(snwText* text, const snwKey* key, const double* stretch)
{
    snwKeyData data = {.key = *key};
    snwText_Open(text, '{');
    snwTable_Write(text, &snw_keyTable, &data);
    if (stretch != NULL)
    {
        snwText_Key(text, "stretch");
        snwText_Reals(text, stretch, 6);
    }
    snwText_Close(text, '}');
}

void snwClip_WriteJson(snwText* text, const snwSceneDef* def, const snwClipDef* clip)
{
    bool part = clip->target == snw_clipHandle || clip->target == snw_clipJoint;
    snwClipData data = {.def = *clip};
    data.pin = clip->target == snw_clipPin ? def->pins[clip->index].name : NULL;
    data.collider = clip->target == snw_clipCollider ? def->colliders[clip->index].name : NULL;
    data.body = part ? def->bodies[clip->body].name : NULL;
    snwText_Open(text, '{');
    snwTable_Write(text, &snw_clipTable, &data);
    if (part)
        WriteClipPart(text, def, clip);
    snwText_Key(text, "keys");
    snwText_Open(text, '[');
    for (int i = 0; i < clip->keyCount; ++i)
        WriteKey(text, &clip->keys[i], clip->stretches != NULL ? clip->stretches[i] : NULL);
    snwText_Close(text, ']');
    snwText_Close(text, '}');
}

static void WriteSceneClips(snwText* text, const snwSceneDef* def)
{
    if (def->clipCount == 0)
        return;
    snwText_Key(text, "clips");
    snwText_Open(text, '[');
    for (int i = 0; i < def->clipCount; ++i)
        snwClip_WriteJson(text, def, &def->clips[i]);
    snwText_Close(text, ']');
}

static void WriteSceneCommands(snwText* text, const snwSceneDef* def)
{
    if (def->commandCount == 0)
        return;
    snwText_Key(text, "commands");
    snwText_Open(text, '[');
    for (int i = 0; i < def->commandCount; ++i)
        snwCommand_WriteJson(text, def, &def->commands[i]);
    snwText_Close(text, ']');
}

snwResult snwSceneFile_WriteJson(snwText* text, const snwSceneFile* file, snwMessage* message)
{
    const snwSceneDef* def = snwScene_GetDef(file->scene);

    // The scene as the table writes it, then the lists.
    snwSceneData data = {.format = snw_sceneFormat,
        .name = def->name,
        .description = file->description[0] != 0 ? file->description : NULL,
        .method = def->method,
        .gravity = def->gravity,
        .rate = def->rate,
        .duration = def->duration,
        .seed = def->seed};
    if (def->seed > INT64_MAX)
        return snwFail(message, snw_errorUnsupported, NULL, "a seed above 9223372036854775807 does not fit in JSON");

    snwText_Open(text, '{');
    snwTable_Write(text, &snw_sceneTable, &data);
    WriteSceneSettings(text, def);
    snwResult result = WriteSceneCharacters(text, def, message);
    if (result == snw_ok)
        result = WriteSceneBodies(text, def, message);
    WriteSceneColliders(text, def);
    WriteItems(text, "props", &snw_propTable, def->props, def->propCount);
    WriteItems(text, "frictions", &snw_frictionTable, def->frictions, def->frictionCount);
    WriteScenePins(text, def);
    WriteSceneClips(text, def);
    WriteSceneCommands(text, def);

    // A camera that finds its place by itself is what there is without one.
    if (!file->camera.automatic)
    {
        snwText_Key(text, "camera");
        snwText_Open(text, '{');
        snwTable_Write(text, &snw_cameraTable, &file->camera);
        snwText_Close(text, '}');
    }

    snwText_Close(text, '}');
    return result;
}

snwResult snwSceneFile_Format(
    snwContext* context, const snwSceneFile* file, char** out, size_t* size, snwMessage* message)
{
    snwText text = snwCreateText(context, 2);
    *out = NULL;
    *size = 0;
    snwResult result = snwSceneFile_WriteJson(&text, file, message);
    snwText_Raw(&text, "\n", 1);
    if (result == snw_ok && text.failed)
        result = snwFailMemory(message);
    if (result < 0)
    {
        snwText_Free(&text);
        return result;
    }
    *out = text.data;
    *size = text.size;
    return snw_ok;
}
