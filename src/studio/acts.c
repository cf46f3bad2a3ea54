// Requests that change values of the running scene: each becomes commands, which can be undone by others.

#include "studio/requests.h"

#include "base/hash.h"
#include "scene/commands.h"
#include "scene/names.h"
#include "scene/tables.h"
#include "sim/command.h"
#include "studio/jobs.h"

#include <stdio.h>
#include <string.h>

enum
{
    snw_mostUndone = 256, // commands of one deed
};

snwResult snwAnswer_CheckBody(snwAnswer* answer)
{
    int count = answer->session->sim->bodyCount;
    if (answer->data.body < 0 || answer->data.body >= count)
        return snwFail(
            answer->json.message, snw_errorArgument, NULL, "body must be 0..%d, is %d", count - 1, answer->data.body);
    return snw_ok;
}

// Checks and pushes all, or says why not.
static snwResult Do(snwAnswer* answer, const char* label, uint64_t key, const snwCommand* commands, int count)
{
    snwSession* session = answer->session;
    snwCommand before[snw_mostUndone];
    int beforeCount = 0;
    snwResult result = snwSession_GoOn(session, answer->json.message);
    for (int i = 0; i < count && result >= 0; ++i)
        result = snwCommand_CheckFor(session->sim->def, session->sim->method, &commands[i], answer->json.message);
    for (int i = 0; i < count && result >= 0; ++i)
    {
        beforeCount += snwLive_Inverse(session, &commands[i], before + beforeCount, snw_mostUndone - beforeCount);
        result = snwSession_Push(session, &commands[i], answer->json.message);
    }
    if (result >= 0)
        snwHistory_AddCommands(session, label, key, before, beforeCount, commands, count);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Parameters

static snwResult FindAskedParam(snwAnswer* answer, int* index)
{
    const snwParamInfo* info = NULL;
    int method = snwSim_GetMethod(answer->session->sim);
    size_t mark = snwJson_Enter(&answer->json, "name");
    snwResult result = snwParam_FindAny(&answer->json, answer->data.name, &info);
    if (result >= 0 && (*index = snwParam_Find(method, answer->data.name)) < 0)
        result = snwJson_Fail(&answer->json, "switch to its method first", "method %s has no %s",
            snwMethod_GetInfo(method).name, info->name);
    snwJson_Leave(&answer->json, mark);
    return result;
}

static snwResult StartSimAgain(snwAnswer* answer, const snwParamInfo* info, double value, const char* label)
{
    snwSession* session = answer->session;
    snwJob* job = snwCreateJob(session, snw_jobChange);
    if (job == NULL)
        return snwFailMemory(answer->json.message);
    snwStage_Retain(session->stage);
    job->base.stage = session->stage;
    snprintf(job->param, sizeof job->param, "%s", info->name);
    snprintf(job->label, sizeof job->label, "%s", label);
    job->change.param = job->param;
    job->change.value = value;
    job->change.forget = json_is_null(answer->data.value);
    snwText_Key(&answer->text, "job");
    snwText_Int(&answer->text, job->number);
    snwSession_Start(session, job);
    return snw_ok;
}

snwResult snwAct_Set(snwAnswer* answer)
{
    int index = -1;
    double value = 0;
    snwResult result = FindAskedParam(answer, &index);
    if (result < 0)
        return result;
    const snwParamInfo* info = snwSim_GetParamInfo(answer->session->sim, index);

    // Null is the default; anything else must be of the parameter's type and range.
    size_t mark = snwJson_Enter(&answer->json, "value");
    if (json_is_null(answer->data.value))
        value = info->initial;
    else
        result = snwParam_ReadValue(&answer->json, info, answer->data.value, &value);

    if (result >= 0)
        result = snwParam_CheckValue(&answer->json, info, value);
    snwJson_Leave(&answer->json, mark);
    if (result < 0)
        return result;

    // How the history names it; quick changes of one parameter share a key and are undone together.
    char words[64], label[112];
    snwText text = snwFixedText(words, sizeof words);
    snwParam_WriteValue(&text, info, value);
    snprintf(label, sizeof label, "%s %s", info->name, words);
    if (!info->live)
        return StartSimAgain(answer, info, value, label);

    // A live parameter changes by a command; others (above) need the scene to start again.
    snwCommand command = snwDefaultCommand(snw_commandParam);
    command.index = index;
    command.value = value;

    return Do(answer, label, snwHashText(info->name, 1), &command, 1);
}

snwResult snwAct_Gravity(snwAnswer* answer)
{
    snwCommand command = snwDefaultCommand(snw_commandGravity);
    command.vector = answer->data.vector;
    return Do(answer, "gravity", snwHashText("gravity", 2), &command, 1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Flesh

// The object without what the request says besides.
static snwResult ReadAskedMaterial(snwAnswer* answer, snwMaterial* material)
{
    static const char* const others[] = {"v", "id", "do", "body", "region"};
    json_t* object = json_copy(answer->document);
    for (size_t i = 0; i < sizeof others / sizeof others[0] && object != NULL; ++i)
        json_object_del(object, others[i]);
    snwResult result = object != NULL ? snw_ok : snwFailMemory(answer->json.message);
    if (result >= 0 && json_object_size(object) == 0)
        result = snwFail(
            answer->json.message, snw_errorInput, "a preset, or young and others", "it does not say which material");
    if (result >= 0)
        result = snwTable_Read(&answer->json, &snw_materialTable, object, material, NULL);
    json_decref(object);
    return result;
}

snwResult snwAct_Material(snwAnswer* answer)
{
    snwCommand command = snwDefaultCommand(snw_commandMaterial);
    char label[112];
    snwResult result = snwAnswer_CheckBody(answer);
    if (result >= 0)
        result = ReadAskedMaterial(answer, &command.material);
    if (result < 0)
        return result;
    command.body = answer->data.body;
    command.index = answer->data.region;
    const char* preset = json_string_value(answer->data.preset);
    snprintf(label, sizeof label, "material %.40s of %.40s", preset != NULL ? preset : "",
        answer->session->sim->def->bodies[command.body].name);
    return Do(answer, label, snwHashText(label, 3), &command, 1);
}

static snwResult FindPushed(snwAnswer* answer, snwCommand* command)
{
    snwPick pick;
    if (!snwAnswer_Saw(answer, "origin"))
    {
        command->body = answer->data.body;
        command->index = answer->data.vertex;
        return snwAnswer_CheckBody(answer);
    }
    snwResult result = snwSim_Pick(answer->session->sim, answer->data.origin, answer->data.direction, &pick);
    if (result < 0)
        return snwFail(answer->json.message, result, NULL, "direction must point somewhere");
    if (pick.body < 0)
        return snwFail(answer->json.message, snw_errorArgument, "push what is under the pointer", "nothing was hit");
    command->body = pick.body;
    command->index = pick.vertex;
    return snw_ok;
}

snwResult snwAct_Push(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwCommand command = snwDefaultCommand(snw_commandPush);
    command.vector = answer->data.force;
    command.value = answer->data.duration;
    snwResult result = snwSession_GoOn(session, answer->json.message);
    if (result >= 0)
        result = FindPushed(answer, &command);
    if (result < 0)
        return result;
    char label[112];
    snprintf(label, sizeof label, "push of %.80s", session->sim->def->bodies[command.body].name);
    return snwSession_DoFromHere(session, label, &command, answer->json.message);
}

// What cannot be taken back by another command: the moment before it is kept.
snwResult snwSession_DoFromHere(snwSession* session, const char* label, const snwCommand* command, snwMessage* message)
{
    snwMoment before = {0};
    snwResult result = snwSession_GoOn(session, message);
    if (result >= 0)
        result = snwCommand_CheckFor(session->sim->def, session->sim->method, command, message);
    if (result >= 0)
        result = snwSession_TakeMoment(session, &before, message);
    if (result >= 0)
        result = snwSession_Push(session, command, message);
    if (result >= 0)
        snwHistory_AddMoment(session, label, &before);
    snwMoment_Free(session->context, &before);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Handles

static snwResult ReadAskedHandles(snwAnswer* answer, snwCommand* commands, int* count)
{
    const json_t* list = answer->data.handles;
    const snwCharacter* character = answer->session->sim->def->bodies[answer->data.body].character;
    snwResult result = snw_ok;
    size_t mark = snwJson_Enter(&answer->json, "handles");

    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > snw_mostUndone)
        return snwJson_Fail(&answer->json, NULL, "must be a list of 1..%d handles", snw_mostUndone);
    *count = (int)json_array_size(list);

    // Handles by name or number, all of one body.
    for (int i = 0; i < *count && result >= 0; ++i)
    {
        size_t inner = snwJson_EnterIndex(&answer->json, (size_t)i);
        commands[i] = snwDefaultCommand(snw_commandHandle);
        commands[i].body = answer->data.body;
        result = snwFindHandle(&answer->json, character, json_array_get(list, (size_t)i), &commands[i].index);
        snwJson_Leave(&answer->json, inner);
    }

    snwJson_Leave(&answer->json, mark);
    return result;
}

static snwResult LockAll(snwAnswer* answer, bool lock)
{
    snwSession* session = answer->session;
    snwCommand commands[snw_mostUndone] = {0};
    int count = 0;
    snwResult result = snwSession_GoOn(session, answer->json.message);

    if (result >= 0)
        result = snwAnswer_CheckBody(answer);
    if (result >= 0)
        result = ReadAskedHandles(answer, commands, &count);
    if (result < 0)
        return result;

    // What stays given is what was given before, with or without the degrees of freedom that were asked for; places
    // stay as they are.
    for (int i = 0; i < count; ++i)
    {
        uint32_t old = session->live.handles[commands[i].body][commands[i].index].given;
        commands[i].mask = lock ? old | answer->data.given : old & ~answer->data.given;
        commands[i].stay = snw_dofAll;
        commands[i].transform = snwSession_HandlePose(session, commands[i].body, commands[i].index);
    }

    // One handle is named, several are counted.
    char label[112];
    const snwCharacterDef* def = &session->sim->def->bodies[commands[0].body].character->def;
    const char* name = def->handleCount > 0 ? def->handles[commands[0].index].name : def->bones[commands[0].index].name;
    if (count == 1)
        snprintf(label, sizeof label, "%s of handle %.80s", lock ? "lock" : "unlock", name);
    else
        snprintf(label, sizeof label, "%s of %d handles", lock ? "lock" : "unlock", count);

    return Do(answer, label, 0, commands, count);
}

snwResult snwAct_Lock(snwAnswer* answer)
{
    return LockAll(answer, true);
}

snwResult snwAct_Unlock(snwAnswer* answer)
{
    return LockAll(answer, false);
}

snwResult snwAct_Rule(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwCommand command = snwDefaultCommand(snw_commandConstraint);
    char label[112];
    snwResult result = snwAnswer_CheckBody(answer);

    if (result < 0)
        return result;

    // What is not said stays as it is.
    int count = session->sim->def->bodies[answer->data.body].character->def.constraintCount;
    if (answer->data.constraint >= count)
        return snwFail(answer->json.message, snw_errorArgument, NULL, "the body has %d rules, no number %d", count,
            answer->data.constraint);

    const snwLiveRule* rule = &session->live.rules[answer->data.body][answer->data.constraint];
    command.body = answer->data.body;
    command.index = answer->data.constraint;
    command.on = snwAnswer_Saw(answer, "on") ? answer->data.on : rule->on;
    command.value = snwAnswer_Saw(answer, "value") ? answer->data.ruleValue : rule->value;

    // One key per rule: quick changes of it are undone together.
    snprintf(label, sizeof label, "rule %d", command.index);

    return Do(answer, label, snwHashText(label, 4), &command, 1);
}

snwResult snwAct_Command(snwAnswer* answer)
{
    snwSession* session = answer->session;
    snwCommand command;
    char label[112];
    size_t mark = snwJson_Enter(&answer->json, "command");
    snwResult result = snwCommand_ReadJson(&answer->json, session->sim->def, answer->data.command, &command);
    snwJson_Leave(&answer->json, mark);
    if (result < 0)
        return result;
    snprintf(label, sizeof label, "command %s", snwCommandKind_Name(command.kind));
    return snwSession_DoFromHere(session, label, &command, answer->json.message);
}
