// Values that can change while a scene runs, as they will be after the next step: so what was set can be read back
// while the scene is paused, and undone.

#include "studio/session_parts.h"

#include <string.h>

snwResult snwLive_Create(snwSession* session, snwMessage* message)
{
    snwLive* live = &session->live;
    const snwSceneDef* def = session->sim->def;
    size_t count = (size_t)def->bodyCount + 1;

    // What was there belongs to the scene before.
    snwArena_Free(&live->arena);
    *live = (snwLive){.arena = {.context = session->context}};
    live->materials = snwArena_Alloc(&live->arena, count, sizeof(void*));
    live->handles = snwArena_Alloc(&live->arena, count, sizeof(void*));
    live->rules = snwArena_Alloc(&live->arena, count, sizeof(void*));

    // Values of each body: materials by region, handles, rules.
    for (int i = 0; i < def->bodyCount && !live->arena.failed; ++i)
    {
        const snwCharacterDef* character = &def->bodies[i].character->def;
        live->materials[i] = snwArena_Alloc(
            &live->arena, (size_t)character->materialCount + 1, sizeof *live->materials[i]);
        live->handles[i] = snwArena_Alloc(
            &live->arena, (size_t)snwCharacterDef_HandleCount(character) + 1, sizeof *live->handles[i]);
        live->rules[i] = snwArena_Alloc(&live->arena, (size_t)character->constraintCount + 1, sizeof *live->rules[i]);
    }

    if (live->arena.failed)
        return snwFailMemory(message);
    snwLive_Read(session);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What commands say

static void StartBody(snwSession* session, int body)
{
    const snwCharacterDef* character = &session->sim->def->bodies[body].character->def;
    snwLive* live = &session->live;
    for (int i = 0; i < snwCharacterDef_HandleCount(character); ++i)
        live->handles[body][i] = (snwLiveHandle){
            character->handleCount > 0 ? character->handles[i].given : 0, snwIdentityTransform()};
    for (int i = 0; i < character->constraintCount; ++i)
        live->rules[body][i] = (snwLiveRule){true, character->constraints[i].value};
}

static void StartLive(snwSession* session)
{
    const snwSceneDef* def = session->sim->def;
    for (int i = 0; i < def->bodyCount; ++i)
        StartBody(session, i);
    for (int i = 0; i < def->clipCount; ++i)
        if (def->clips[i].target == snw_clipHandle)
            session->live.handles[def->clips[i].body][def->clips[i].index].given = def->clips[i].given;
}

static void HearCommand(snwSession* session, const snwCommand* command)
{
    snwLive* live = &session->live;
    if (command->kind == snw_commandHandle)
        live->handles[command->body][command->index] = (snwLiveHandle){command->mask, command->transform};
    else if (command->kind == snw_commandConstraint)
        live->rules[command->body][command->index] = (snwLiveRule){command->on, command->value};
    else if (command->kind == snw_commandParam)
        live->params[command->index] = command->value;
    else if (command->kind == snw_commandGravity)
        live->gravity = command->vector;
    else if (command->kind == snw_commandReset)
        StartLive(session);
    else if (command->kind == snw_commandMaterial)
        for (int i = 0; i < session->sim->bodies[command->body].character->def.materialCount; ++i)
            if (command->index < 0 || command->index == i)
                live->materials[command->body][i] = command->material;
}

// What the sim keeps itself.
static void CopyState(snwSession* session)
{
    snwLive* live = &session->live;
    const snwSim* sim = session->sim;
    memcpy(live->params, sim->state->params, sizeof live->params);
    live->gravity = sim->state->gravity;
    for (int i = 0; i < sim->bodyCount; ++i)
        memcpy(live->materials[i], sim->bodies[i].materials,
            (size_t)sim->bodies[i].character->def.materialCount * sizeof(snwMaterial));
}

// Script and recording by their steps; of one step the script comes first.
void snwLive_Read(snwSession* session)
{
    const snwSim* sim = session->sim;
    const snwRecording* recording = &session->recording;
    uint64_t step = sim->state->step;
    int next = 0;
    StartLive(session);
    for (uint64_t i = 0; i < sim->state->scriptNext; ++i)
    {
        for (; next < recording->commands.count && recording->commands.data[next].step < sim->def->commands[i].step;
             ++next)
            HearCommand(session, &recording->commands.data[next]);
        HearCommand(session, &sim->def->commands[i]);
    }
    for (; next < recording->commands.count && recording->commands.data[next].step < step; ++next)
        HearCommand(session, &recording->commands.data[next]);
    session->live.scriptSeen = sim->state->scriptNext;
    CopyState(session);
}

void snwLive_Follow(snwSession* session)
{
    const snwSim* sim = session->sim;
    snwLive* live = &session->live;
    for (; live->scriptSeen < sim->state->scriptNext; ++live->scriptSeen)
        HearCommand(session, &sim->def->commands[live->scriptSeen]);
    live->scriptSeen = sim->state->scriptNext; // a reset starts it again
    CopyState(session);
}

snwResult snwSession_Push(snwSession* session, const snwCommand* command, snwMessage* message)
{
    snwCommand now = *command;
    now.step = 0; // the past means the next step
    snwResult result = snwSession_GoOn(session, message);
    if (result >= 0)
        result = snwSim_Push(session->sim, &now, message);
    if (result < 0)
        return result;
    if (!snwArray_Push(session->context, &session->pending, now))
        return snwFailMemory(message);
    HearCommand(session, &now);
    session->stale = true;
    session->workRevision++;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// What undoes a command

snwTransform snwSession_HandlePose(const snwSession* session, int body, int handle)
{
    const snwCharacter* character = session->sim->def->bodies[body].character;
    snwVec3 rest = snwCharacterDef_HandlePoint(&character->def, handle);
    snwTransforms now = {0};
    snwSim_GetHandles(session->sim, body, &now);
    snwTransform t = *(const snwTransform*)((const char*)now.data + (size_t)handle * (size_t)now.stride);
    return (snwTransform){snwTransform_Apply(t, rest), t.rotation};
}

static int InverseMaterial(const snwSession* session, const snwCommand* command, snwCommand* inverse, int capacity)
{
    int regions = session->sim->bodies[command->body].character->def.materialCount, count = 0;
    for (int i = 0; i < regions && count < capacity; ++i)
    {
        if (command->index >= 0 && command->index != i)
            continue;
        inverse[count] = *command;
        inverse[count].index = i;
        inverse[count++].material = session->live.materials[command->body][i];
    }
    return count;
}

// A handle that was free has been nowhere in particular: its place then is of no account.
static snwCommand InverseHandle(const snwSession* session, const snwCommand* command)
{
    const snwLiveHandle* handle = &session->live.handles[command->body][command->index];
    snwCommand inverse = *command;
    inverse.mask = handle->given;
    inverse.stay = 0;
    inverse.transform = snwSession_HandlePose(session, command->body, command->index);
    return inverse;
}

int snwLive_Inverse(const snwSession* session, const snwCommand* command, snwCommand* inverse, int capacity)
{
    const snwLive* live = &session->live;

    // A material may be that of all regions: one command back for each.
    if (command->kind == snw_commandMaterial)
        return InverseMaterial(session, command, inverse, capacity);

    // The same command with the value that holds now.
    *inverse = *command;
    switch (command->kind)
    {
        case snw_commandParam:
            inverse->value = live->params[command->index];
            return 1;
        case snw_commandGravity:
            inverse->vector = live->gravity;
            return 1;
        case snw_commandConstraint:
            inverse->on = live->rules[command->body][command->index].on;
            inverse->value = live->rules[command->body][command->index].value;
            return 1;
        case snw_commandHandle:
            *inverse = InverseHandle(session, command);
            return 1;
        case snw_commandCollider:
            inverse->transform = session->sim->colliders[command->index].transform;
            return 1;
        default:
            return 0;
    }
}
