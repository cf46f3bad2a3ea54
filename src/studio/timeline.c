// Going through the recording. Frames as viewers got them are kept as long as there is room, newest first; saved states
// stand at every so many frames, and from those any frame can be made again, bit for bit: the recording has the hash of
// each.

#include "studio/session_parts.h"

#include <string.h>

enum
{
    timeline_firstFrames = 64,
    timeline_mostFrames = 1 << 16, // that are cached at a time
};

static int LastFrame(const snwSession* session)
{
    return session->recording.hashes.count - 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static void DropFrame(snwSession* session, snwCachedFrame* cached)
{
    if (cached->blob == NULL)
        return;
    session->timeline.frameBytes -= cached->blob->size;
    snwBlob_Release(session->context, cached->blob);
    *cached = (snwCachedFrame){0};
}

static snwCachedFrame* FindFrame(const snwSession* session, int frame)
{
    const snwTimeline* timeline = &session->timeline;
    if (timeline->frames.count == 0 || frame < 0)
        return NULL;
    snwCachedFrame* cached = &timeline->frames.data[frame % timeline->frames.count];
    return cached->blob != NULL && cached->frame == frame ? cached : NULL;
}

// The ring becomes twice as large; what is in it finds its new place.
static bool GrowRing(snwSession* session)
{
    snwTimeline* timeline = &session->timeline;
    int old = timeline->frames.count, count = old > 0 ? 2 * old : timeline_firstFrames;
    snwCachedFrame* data = count <= timeline_mostFrames ? snwAllocArray(session->context, (size_t)count, sizeof *data)
                                                        : NULL;
    if (data == NULL)
        return false;
    for (int i = 0; i < old; ++i)
        if (timeline->frames.data[i].blob != NULL)
            data[timeline->frames.data[i].frame % count] = timeline->frames.data[i];
    snwFree(session->context, timeline->frames.data);
    timeline->frames.data = data;
    timeline->frames.count = timeline->frames.capacity = count;
    return true;
}

// The frame that is farthest behind goes.
static void DropOldest(snwSession* session, int newest)
{
    snwTimeline* timeline = &session->timeline;
    snwCachedFrame* oldest = NULL;
    for (int i = 0; i < timeline->frames.count; ++i)
    {
        snwCachedFrame* cached = &timeline->frames.data[i];
        if (cached->blob != NULL && cached->frame != newest && (oldest == NULL || cached->frame < oldest->frame))
            oldest = cached;
    }
    if (oldest != NULL)
        DropFrame(session, oldest);
}

static void CacheFrame(snwSession* session, int frame, snwBlob* blob)
{
    snwTimeline* timeline = &session->timeline;
    if (timeline->frames.count == 0 && !GrowRing(session))
        return;
    snwCachedFrame* cached = &timeline->frames.data[frame % timeline->frames.count];
    if (cached->blob != NULL && cached->frame != frame && GrowRing(session))
        cached = &timeline->frames.data[frame % timeline->frames.count];
    DropFrame(session, cached);
    snwBlob_Retain(blob);
    *cached = (snwCachedFrame){blob, session->recording.hashes.data[frame], frame};
    timeline->frameBytes += blob->size;
    while ((double)timeline->frameBytes > session->def.cacheBytes / 2 && timeline->frameBytes > blob->size)
        DropOldest(session, frame);
}

int snwTimeline_Ranges(const snwSession* session, int (*ranges)[2], int capacity)
{
    int count = 0, last = LastFrame(session);
    bool open = false;
    for (int i = 0; i <= last; ++i)
    {
        bool cached = FindFrame(session, i) != NULL;
        if (cached && !open && count == capacity)
            return count;
        if (cached && !open)
            ranges[count++][0] = i;
        if (cached)
            ranges[count - 1][1] = i;
        open = cached;
    }
    return count;
}

// ---------------------------------------------------------------------------------------------------------------------
// Saved states

static void DropSnapshots(snwSession* session, int first)
{
    snwTimeline* timeline = &session->timeline;
    for (int i = first; i < timeline->snapshots.count; ++i)
    {
        snwFree(session->context, timeline->snapshots.data[i].block);
        timeline->snapshotBytes -= snwSim_GetStateSize(session->sim);
    }
    if (first < timeline->snapshots.count)
        timeline->snapshots.count = first;
}

// Every other one goes; the first stays.
static void ThinSnapshots(snwSession* session)
{
    snwTimeline* timeline = &session->timeline;
    size_t size = snwSim_GetStateSize(session->sim);
    int kept = 0;
    timeline->spacing *= 2;
    for (int i = 0; i < timeline->snapshots.count; ++i)
    {
        snwSnapshot* snapshot = &timeline->snapshots.data[i];
        if (snapshot->frame % timeline->spacing == 0)
        {
            timeline->snapshots.data[kept++] = *snapshot;
            continue;
        }
        snwFree(session->context, snapshot->block);
        timeline->snapshotBytes -= size;
    }
    timeline->snapshots.count = kept;
}

static void AddSnapshot(snwSession* session, int frame)
{
    snwTimeline* timeline = &session->timeline;
    size_t size = snwSim_GetStateSize(session->sim);
    int count = timeline->snapshots.count;
    if (count > 0 && (frame % timeline->spacing != 0 || timeline->snapshots.data[count - 1].frame >= frame))
        return;
    snwSnapshot snapshot = {snwAllocRaw(session->context, size), session->recording.hashes.data[frame], frame};
    if (snapshot.block == NULL || snwSim_Save(session->sim, snapshot.block, size, NULL, NULL) < 0 ||
        !snwArray_Push(session->context, &timeline->snapshots, snapshot))
    {
        snwFree(session->context, snapshot.block);
        return;
    }
    timeline->snapshotBytes += size;
    while ((double)timeline->snapshotBytes > session->def.cacheBytes / 4 && timeline->snapshots.count > 2)
        ThinSnapshots(session);
}

// ---------------------------------------------------------------------------------------------------------------------

void snwTimeline_Clear(snwSession* session)
{
    snwTimeline* timeline = &session->timeline;
    for (int i = 0; i < timeline->frames.count; ++i)
        DropFrame(session, &timeline->frames.data[i]);
    snwArray_Free(session->context, &timeline->frames);
    if (session->sim != NULL)
        DropSnapshots(session, 0);
    snwArray_Free(session->context, &timeline->snapshots);
    snwMoment_Free(session->context, &timeline->present);
    *timeline = (snwTimeline){.spacing = snw_snapshotFrames, .shown = -1};
}

void snwTimeline_AddFrame(snwSession* session, snwBlob* blob)
{
    int frame = LastFrame(session);
    AddSnapshot(session, frame);
    if (blob != NULL)
        CacheFrame(session, frame, blob);
}

void snwTimeline_Agree(snwSession* session)
{
    snwTimeline* timeline = &session->timeline;
    const snwRecording* recording = &session->recording;
    for (int i = 0; i < timeline->frames.count; ++i)
    {
        snwCachedFrame* cached = &timeline->frames.data[i];
        if (cached->blob != NULL &&
            (cached->frame >= recording->hashes.count || recording->hashes.data[cached->frame] != cached->hash))
            DropFrame(session, cached);
    }
    int keep = 0;
    while (keep < timeline->snapshots.count && timeline->snapshots.data[keep].frame < recording->hashes.count &&
           timeline->snapshots.data[keep].hash == recording->hashes.data[timeline->snapshots.data[keep].frame])
        ++keep;
    DropSnapshots(session, keep);
}

// ---------------------------------------------------------------------------------------------------------------------
// Seek

static snwResult PushRecorded(snwSession* session, int frame, int* next, snwMessage* message)
{
    const snwRecording* recording = &session->recording;
    snwResult result = snw_ok;
    for (; *next < recording->commands.count && recording->commands.data[*next].step <= (uint64_t)frame && result >= 0;
         ++*next)
        if (recording->commands.data[*next].step == (uint64_t)frame)
            result = snwSim_Push(session->sim, &recording->commands.data[*next], message);
    return result;
}

// The sim as it was at a frame of the recording.
static snwResult Remake(snwSession* session, int frame, snwMessage* message)
{
    const snwTimeline* timeline = &session->timeline;
    const snwSnapshot* from = &timeline->snapshots.data[0];
    double dt = 1 / session->sim->def->rate;
    int next = 0;
    for (int i = 1; i < timeline->snapshots.count && timeline->snapshots.data[i].frame <= frame; ++i)
        from = &timeline->snapshots.data[i];
    snwResult result = snwSim_Restore(session->sim, from->block, snwSim_GetStateSize(session->sim), message);
    for (int at = from->frame; at < frame && result >= 0; ++at)
    {
        result = PushRecorded(session, at, &next, message);
        if (result >= 0)
            result = snwSim_Step(session->sim, dt, message);
        if (result >= 0 && snwSim_Hash(session->sim) != session->recording.hashes.data[at + 1])
            return snwFail(message, snw_errorInput, "reset the scene", "frame %d came out another time", at + 1);
    }
    return result < 0 ? result : snw_ok;
}

static snwResult ShowOld(snwSession* session, int frame, snwMessage* message)
{
    const snwCachedFrame* cached = FindFrame(session, frame);
    snwBlob* blob;

    // As viewers got it, copied, as the copy gets another number.
    if (cached != NULL)
    {
        blob = snwCreateBlob(session->context, cached->blob->size);
        if (blob != NULL)
            memcpy(blob->data, cached->blob->data, blob->size);
    }
    else
    {
        // Else it is made again from the nearest saved state before it.
        snwResult result = Remake(session, frame, message);
        if (result < 0)
            return result;
        blob = snwSession_EncodeFrame(session);
    }

    if (blob == NULL)
        return snwFailMemory(message);
    blob->serial = ++session->frameSerial;
    snwBlob_SetFrame(blob, session, (uint32_t)blob->serial, 2);
    snwSession_PublishFrame(session, blob);

    return snw_ok;
}

// Back to the newest frame, as if no old one had been looked at.
static snwResult EndShow(snwSession* session, snwMessage* message)
{
    snwTimeline* timeline = &session->timeline;
    snwResult result = snwSim_Restore(session->sim, timeline->present.block, timeline->present.blockSize, message);
    timeline->shown = -1;
    snwMoment_Free(session->context, &timeline->present);
    snwLive_Read(session);
    int count = session->pending.count; // what was said and not yet done is said again
    session->pending.count = 0;
    for (int i = 0; i < count && result >= 0; ++i)
    {
        snwCommand command = session->pending.data[i];
        result = snwSession_Push(session, &command, message);
    }
    return result;
}

snwResult snwSession_Seek(snwSession* session, int frame, snwMessage* message)
{
    snwTimeline* timeline = &session->timeline;
    if (frame < 0 || frame > LastFrame(session))
        return snwFail(
            message, snw_errorArgument, NULL, "the recording has frames 0..%d, not %d", LastFrame(session), frame);
    snwSession_Play(session, false);
    session->stale = true;

    // The last frame is the present: the scene as it stands.
    if (frame == LastFrame(session))
    {
        snwResult result = timeline->shown >= 0 ? EndShow(session, message) : snw_ok;
        snwBlob* blob = result >= 0 ? snwSession_EncodeFrame(session) : NULL;
        if (blob != NULL)
            snwSession_PublishFrame(session, blob);
        return result;
    }

    // The present is kept, to come back to.
    if (timeline->shown < 0)
    {
        snwResult result = snwSession_TakeMoment(session, &timeline->present, message);
        if (result < 0)
            return result;
    }

    timeline->shown = frame;
    return ShowOld(session, frame, message);
}

snwResult snwSession_GoOn(snwSession* session, snwMessage* message)
{
    snwTimeline* timeline = &session->timeline;
    char label[64];
    int frame = timeline->shown;
    if (frame < 0)
        return snw_ok;

    // Going on from an old frame: what came after it is cut off, which can be undone.
    snwResult result = Remake(session, frame, message);
    if (result < 0)
    {
        EndShow(session, NULL);
        return result;
    }

    snprintf(label, sizeof label, "going back to frame %d", frame);
    timeline->shown = -1;
    session->pending.count = 0;
    snwHistory_AddMoment(session, label, &timeline->present);
    snwRecording_Cut(&session->recording, frame);
    session->diverged = false;

    // Live values as they were in that frame.
    snwLive_Read(session);
    snwTimeline_Agree(session);

    return snw_ok;
}
