// Commands as JSON: the table says which keys belong to which kind; here names become numbers and back.

#include "scene/commands.h"
#include "scene/names.h"
#include "sim/scene.h"

#include <string.h>

enum
{
    commands_maxCommandBytes = 1 << 20,
    commands_places = snw_dofX | snw_dofY | snw_dofZ,
    commands_turns = snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ
};

// Runs one lookup with the path at its key.
static snwResult ResolveBody(snwJson* json, const snwSceneDef* def, snwCommandData* data)
{
    if (data->body == NULL)
        return snw_ok;
    size_t mark = snwJson_Enter(json, "body");
    snwResult result = snwFindBody(json, def, data->body, &data->command.body);
    snwJson_Leave(json, mark);
    return result;
}

static snwResult ResolvePin(snwJson* json, const snwSceneDef* def, snwCommandData* data, uint64_t seen)
{
    bool vertex = snwTable_Saw(&snw_commandTable, seen, "vertex");
    if ((data->pin != NULL) == (data->body != NULL || vertex))
        return snwJson_Fail(json, NULL, "give either 'pin', or 'body' and 'vertex'");
    if (data->pin == NULL)
        return data->body != NULL && vertex ? snw_ok : snwJson_Fail(json, NULL, "'body' and 'vertex' belong together");
    size_t mark = snwJson_Enter(json, "pin");
    data->command.body = -1;
    snwResult result = snwFindPin(json, def, data->pin, &data->command.index);
    snwJson_Leave(json, mark);
    return result;
}

// A drag or push of flesh, or of a prop. A push without a vertex is on the whole body, whatever the engine's default.
static snwResult ResolveHand(snwJson* json, const snwSceneDef* def, snwCommandData* data, uint64_t seen)
{
    bool vertex = snwTable_Saw(&snw_commandTable, seen, "vertex"), drag = data->command.kind == snw_commandDrag;
    if ((data->prop != NULL) == (data->body != NULL || vertex))
        return snwJson_Fail(json, NULL, "give either 'prop', or 'body'%s", drag ? " and 'vertex'" : "");
    if (data->prop == NULL && (data->body == NULL || (drag && !vertex)))
        return snwJson_Fail(json, NULL, "'body' and 'vertex' belong together");
    if (data->prop == NULL)
    {
        data->command.index = vertex ? data->command.index : -1;
        return snw_ok;
    }
    size_t mark = snwJson_Enter(json, "prop");
    data->command.body = -1;
    snwResult result = snwFindProp(json, def, data->prop, &data->command.index);
    snwJson_Leave(json, mark);
    return result;
}

static snwResult ResolvePart(snwJson* json, const snwSceneDef* def, snwCommandData* data)
{
    bool handle = data->command.kind == snw_commandHandle;
    const snwCharacter* character = def->bodies[data->command.body].character;
    size_t mark = snwJson_Enter(json, handle ? "handle" : "joint");
    snwResult result = handle ? snwFindHandle(json, character, data->handle, &data->command.index)
                              : snwFindJoint(json, character, data->joint, &data->command.index);
    snwJson_Leave(json, mark);
    return result;
}

// What the command does not say of a handle stays as it is.
static void ResolveStay(snwCommandData* data, uint64_t seen)
{
    if (snwTable_Saw(&snw_commandTable, seen, "stay"))
        return;
    bool placed = snwTable_Saw(&snw_commandTable, seen, "position");
    bool turned = snwTable_Saw(&snw_commandTable, seen, "rotation") || snwTable_Saw(&snw_commandTable, seen, "angles");
    data->command.stay = (placed ? 0 : commands_places) | (turned ? 0 : commands_turns);
}

static snwResult ResolveCollider(snwJson* json, const snwSceneDef* def, snwCommandData* data)
{
    size_t mark = snwJson_Enter(json, "collider");
    snwResult result = snwFindCollider(json, def, data->collider, &data->command.index);
    snwJson_Leave(json, mark);
    return result;
}

static snwResult ResolveParam(snwJson* json, const snwSceneDef* def, snwCommandData* data)
{
    int method = -1;
    const snwParamInfo* info = NULL;
    size_t mark = snwJson_Enter(json, "name");
    snwResult result = snwFindMethod(json, def->method, &method);

    // The parameter must belong to the scene's method; one of another method is told apart from an unknown one.
    if (result == snw_ok)
        result = snwParam_FindAny(json, data->name, &info);
    int index = snwParam_Find(method, data->name);
    if (result == snw_ok && index < 0)
        result = snwJson_Fail(json, NULL, "'%s' is no parameter of the method '%s'", data->name, def->method);
    snwJson_Leave(json, mark);
    if (result < 0)
        return result;

    mark = snwJson_Enter(json, "value");
    data->command.index = index;
    result = snwParam_ReadValue(json, snwMethod_GetParam(method, index), data->value, &data->command.value);
    snwJson_Leave(json, mark);

    return result;
}

static snwResult ResolveCommand(snwJson* json, const snwSceneDef* def, snwCommandData* data, uint64_t seen)
{
    snwResult result = ResolveBody(json, def, data);
    if (result < 0)
        return result;

    // Names into numbers, kind by kind.
    switch (data->command.kind)
    {
        case snw_commandPin:
            return ResolvePin(json, def, data, seen);
        case snw_commandHandle:
            ResolveStay(data, seen);
            return ResolvePart(json, def, data);
        case snw_commandJoint:
            return ResolvePart(json, def, data);
        case snw_commandCollider:
            return ResolveCollider(json, def, data);
        case snw_commandParam:
            return ResolveParam(json, def, data);
        case snw_commandDrag:
        case snw_commandPush:
            return ResolveHand(json, def, data, seen);
        case snw_commandMaterial:
            if (!snwTable_Saw(&snw_commandTable, seen, "region"))
                data->command.index = -1; // all
            return snw_ok;
        default:
            return snw_ok;
    }
}

snwResult snwCommand_ReadJson(snwJson* json, const snwSceneDef* def, const json_t* value, snwCommand* command)
{
    snwCommandData data;
    uint64_t seen = 0;
    snwResult result = snwTable_Read(json, &snw_commandTable, value, &data, &seen);
    if (result == snw_ok)
        result = ResolveCommand(json, def, &data, seen);
    if (result < 0)
        return result;
    result = snwCommand_Check(def, snwMethod_Find(def->method), &data.command, json->message);
    if (result < 0)
        return snwJson_Locate(json, result);
    *command = data.command;
    return snw_ok;
}

snwResult snwCommand_Parse(
    const snwScene* scene, const char* text, size_t size, snwCommand* command, snwMessage* message)
{
    snwJson json = {.message = message, .file = ""};
    snwResult result = snw_ok;
    snwMessage_Clear(message);
    if (size > commands_maxCommandBytes)
        return snwJson_Fail(&json, NULL, "a command has at most 1 MiB");
    json_t* root = snwJson_Parse(&json, text, size, &result);
    if (root == NULL)
        return result;
    result = snwCommand_ReadJson(&json, snwScene_GetDef(scene), root, command);
    json_decref(root);
    return result == snw_ok && json.warnings > 0 ? snw_warning : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static const char* NameOfBody(const snwSceneDef* def, int body)
{
    return body >= 0 && body < def->bodyCount ? def->bodies[body].name : NULL;
}

static void WriteCommandPart(snwText* text, const snwSceneDef* def, const snwCommand* command)
{
    bool handle = command->kind == snw_commandHandle;
    const char* name = NULL;
    if (command->body >= 0 && command->body < def->bodyCount)
    {
        const snwCharacter* character = def->bodies[command->body].character;
        name = handle ? snwHandleName(character, command->index) : snwJointName(character, command->index);
    }
    snwText_Key(text, handle ? "handle" : "joint");
    if (name != NULL)
        snwText_String(text, name);
    else
        snwText_Int(text, command->index);
}

static void WriteParamCommand(snwText* text, const snwSceneDef* def, const snwCommand* command)
{
    int method = snwMethod_Find(def->method);
    bool known = method >= 0 && command->index >= 0 && command->index < snwMethod_GetInfo(method).paramCount;
    const snwParamInfo* info = known ? snwMethod_GetParam(method, command->index) : NULL;
    snwText_Key(text, "name");
    snwText_String(text, known ? info->name : "?");
    snwText_Key(text, "value");
    snwParam_WriteValue(text, info, command->value);
}

// A place or a turn that stays as it is needs no words; some parts of them do.
static bool GoesWithout(const snwField* field, const snwCommand* command)
{
    uint32_t places = command->stay & commands_places, turns = command->stay & commands_turns;
    bool whole = (places == 0 || places == commands_places) && (turns == 0 || turns == commands_turns);
    if (strcmp(field->key, "stay") == 0)
        return whole;
    return whole && ((places != 0 && strcmp(field->key, "position") == 0) ||
                        (turns != 0 && strcmp(field->key, "rotation") == 0));
}

// A pin command writes its pin, or its body and vertex; a drag or push its prop likewise. A hand of the usual size
// needs no word for it.
static bool Skipped(const snwField* field, const snwCommandData* data)
{
    const char* word = NULL;
    if (field->type == snw_fieldText)
    {
        memcpy(&word, (const char*)data + field->offset, sizeof word);
        return word == NULL;
    }
    if (field->type == snw_fieldAngles || field->type == snw_fieldRaw || snwField_IsSilent(field, data))
        return true;
    if (data->command.kind == snw_commandHandle && GoesWithout(field, &data->command))
        return true;
    if (strcmp(field->key, "radius") == 0)
        return data->prop != NULL || data->command.radius < 0.0;
    return (data->pin != NULL || data->prop != NULL) && strcmp(field->key, "vertex") == 0;
}

void snwCommand_WriteJson(snwText* text, const snwSceneDef* def, const snwCommand* command)
{
    snwCommandData data = {.command = *command};

    // Numbers back to names, where there is something of that number.
    data.body = NameOfBody(def, command->body);
    if (command->kind == snw_commandPin && command->body < 0 && command->index >= 0 && command->index < def->pinCount)
        data.pin = def->pins[command->index].name;
    bool hand = command->kind == snw_commandDrag || command->kind == snw_commandPush;
    if (hand && command->body < 0 && command->index >= 0 && command->index < def->propCount)
        data.prop = def->props[command->index].name;
    if (command->kind == snw_commandCollider && command->index >= 0 && command->index < def->colliderCount)
        data.collider = def->colliders[command->index].name;
    snwText_Open(text, '{');

    // Only keys of this kind, and none that say what holds anyway.
    for (int i = 0; i < snw_commandTable.count; ++i)
    {
        const snwField* field = &snw_commandTable.fields[i];
        if (!snwField_Belongs(field, (int)command->kind) || Skipped(field, &data))
            continue;
        snwText_Key(text, field->key);
        snwField_Write(text, field, &data);
    }

    if (command->kind == snw_commandHandle || command->kind == snw_commandJoint)
        WriteCommandPart(text, def, command);
    if (command->kind == snw_commandParam)
        WriteParamCommand(text, def, command);
    snwText_Close(text, '}');
}

int snwCommand_Format(const snwScene* scene, const snwCommand* command, char* buffer, size_t capacity)
{
    snwText text = snwFixedText(buffer, capacity);
    if ((int)command->kind < 0 || command->kind >= snw_commandKindCount)
        return -1;
    snwCommand_WriteJson(&text, snwScene_GetDef(scene), command);
    return (int)text.size;
}
