// The recording, and moments to come back to.

#include "studio/session_parts.h"

#include <string.h>

bool snwRecording_Copy(snwContext* context, const snwRecording* from, snwRecording* to)
{
    *to = (snwRecording){0};
    bool made = snwArray_Reserve(context, &to->commands, from->commands.count + 1) &&
                snwArray_Reserve(context, &to->hashes, from->hashes.count + 1);
    if (!made)
    {
        snwRecording_Free(context, to);
        return false;
    }
    to->commands.count = from->commands.count;
    to->hashes.count = from->hashes.count;
    if (from->commands.count > 0)
        memcpy(to->commands.data, from->commands.data, (size_t)from->commands.count * sizeof *from->commands.data);
    if (from->hashes.count > 0)
        memcpy(to->hashes.data, from->hashes.data, (size_t)from->hashes.count * sizeof *from->hashes.data);
    return true;
}

void snwRecording_Free(snwContext* context, snwRecording* recording)
{
    snwArray_Free(context, &recording->commands);
    snwArray_Free(context, &recording->hashes);
}

void snwRecording_Cut(snwRecording* recording, int frame)
{
    if (recording->hashes.count > frame + 1)
        recording->hashes.count = frame + 1;
    while (recording->commands.count > 0 &&
           recording->commands.data[recording->commands.count - 1].step >= (uint64_t)frame)
        recording->commands.count--;
}

size_t snwRecording_Bytes(const snwRecording* recording)
{
    return (size_t)recording->commands.capacity * sizeof *recording->commands.data +
           (size_t)recording->hashes.capacity * sizeof *recording->hashes.data;
}

// ---------------------------------------------------------------------------------------------------------------------
// Moments

snwResult snwSession_TakeMoment(snwSession* session, snwMoment* moment, snwMessage* message)
{
    *moment = (snwMoment){.blockSize = snwSim_GetStateSize(session->sim)};
    moment->block = snwAllocRaw(session->context, moment->blockSize);
    if (moment->block == NULL || !snwRecording_Copy(session->context, &session->recording, &moment->recording))
    {
        snwFree(session->context, moment->block);
        *moment = (snwMoment){0};
        return snwFailMemory(message);
    }
    snwStage_Retain(session->stage);
    moment->stage = session->stage;
    return snwSim_Save(session->sim, moment->block, moment->blockSize, NULL, message);
}

void snwMoment_Free(snwContext* context, snwMoment* moment)
{
    snwStage_Release(moment->stage);
    snwFree(context, moment->block);
    snwRecording_Free(context, &moment->recording);
    *moment = (snwMoment){0};
}

size_t snwMoment_Bytes(const snwMoment* moment)
{
    return moment->blockSize + snwRecording_Bytes(&moment->recording);
}

// Models of characters stay with them, so a sim of a scene that was open before is made quickly.
static snwResult ChangeStage(snwSession* session, snwStage* stage, snwMessage* message)
{
    snwSimDef def = snwDefaultSimDef();
    snwSim* sim = NULL;
    def.scene = stage->file.scene;
    snwResult result = snwCreateSim(session->context, &def, &sim, message);
    if (result < 0)
        return result;
    snwStage_Retain(stage);
    return snwSession_Show(session, stage, sim, message);
}

snwResult snwSession_GoTo(snwSession* session, const snwMoment* moment, snwMessage* message)
{
    snwRecording recording;

    // Copied first, so that the moment can be used again.
    if (!snwRecording_Copy(session->context, &moment->recording, &recording))
        return snwFailMemory(message);
    snwResult result = snw_ok;

    // Another scene, perhaps; then the state, then the recording that led to it.
    if (moment->stage != session->stage)
        result = ChangeStage(session, moment->stage, message);
    if (result >= 0)
        result = snwSim_Restore(session->sim, moment->block, moment->blockSize, message);
    if (result < 0)
    {
        snwRecording_Free(session->context, &recording);
        return result;
    }

    // What waited or was shown before does not count any more.
    snwRecording_Free(session->context, &session->recording);
    session->recording = recording;
    session->pending.count = 0;
    session->diverged = false;
    session->stale = true;
    session->workRevision++;
    snwLive_Read(session);
    snwTimeline_Agree(session);

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Back to the start

static snwResult PushIf(snwSession* session, bool needed, const snwCommand* command, snwMessage* message)
{
    return needed ? snwSession_Push(session, command, message) : snw_ok;
}

static bool SameMaterial(const snwMaterial* a, const snwMaterial* b)
{
    return a->density == b->density && a->young == b->young && a->poisson == b->poisson && a->damping == b->damping &&
           a->frequency == b->frequency && a->settling == b->settling;
}

static bool SameVector(snwVec3 a, snwVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static snwResult KeepBody(snwSession* session, int body, snwMaterial* const* materials, snwMessage* message)
{
    const snwBody* now = &session->sim->bodies[body];
    snwResult result = snw_ok;
    for (int i = 0; i < now->character->def.materialCount && result >= 0; ++i)
    {
        snwCommand command = snwDefaultCommand(snw_commandMaterial);
        command.body = body;
        command.index = i;
        command.material = materials[body][i];
        result = PushIf(session, !SameMaterial(&command.material, &now->materials[i]), &command, message);
    }
    return result;
}

// What was tuned is said again at the start: so the new recording tells it, too.
static snwResult KeepValues(snwSession* session, const snwLive* kept, snwMessage* message)
{
    const snwSim* sim = session->sim;
    snwResult result = snw_ok;
    for (int i = 0; i < snwSim_GetParamCount(sim) && result >= 0; ++i)
    {
        snwCommand command = snwDefaultCommand(snw_commandParam);
        command.index = i;
        command.value = kept->params[i];
        result = PushIf(session, kept->params[i] != sim->state->params[i], &command, message);
    }
    snwCommand gravity = snwDefaultCommand(snw_commandGravity);
    gravity.vector = kept->gravity;
    if (result >= 0)
        result = PushIf(session, !SameVector(kept->gravity, sim->state->gravity), &gravity, message);
    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
        result = KeepBody(session, i, kept->materials, message);
    return result;
}

snwResult snwSession_Restart(snwSession* session, snwMessage* message)
{
    snwLive kept = session->live;
    session->live.arena = (snwArena){0}; // the values live on until they are told again
    session->timeline.shown = -1;
    snwMoment_Free(session->context, &session->timeline.present);

    // The first saved state is frame 0.
    const snwSnapshot* start = &session->timeline.snapshots.data[0];
    snwResult result = snwSim_Restore(session->sim, start->block, snwSim_GetStateSize(session->sim), message);

    if (result >= 0)
    {
        snwRecording_Cut(&session->recording, 0);
        session->recording.commands.count = 0;
        session->pending.count = 0;
        session->diverged = false;
        snwTimeline_Agree(session);
        result = snwLive_Create(session, message);
    }

    // Live values stay as the user set them.
    if (result >= 0)
        result = KeepValues(session, &kept, message);
    snwArena_Free(&kept.arena);
    return result;
}
