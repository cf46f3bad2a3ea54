// Threads, queue and the loop of a session.
//
// The loop keeps the scene's rate times `speed`. A scene that is too slow for that loses time instead of owing it: a
// debt of steps would make every answer late, for ever.

#include "studio/session_parts.h"

#include "base/clock.h"
#include "scene/file.h"
#include "studio/autosave.h"
#include "studio/encode.h"
#include "studio/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SNW_STATE_PAUSE 0.1           // s, between two events `state`
#define SNW_STATE_IDLE  1.0           // s, when only time goes on
#define SNW_FRAME_PAUSE (1.0 / 130.0) // s, between two frames for viewers
#define SNW_PACE_WINDOW 0.5           // s

snwSessionDef snwDefaultSessionDef(void)
{
    return (snwSessionDef){.folder = "sinew-studio", .cacheBytes = 64e6};
}

double snwSession_Now(const snwSession* session)
{
    return snwClock_Seconds() - session->birth;
}

// ---------------------------------------------------------------------------------------------------------------------
// Telling

void snwSession_Tell(snwSession* session, int client, const snwText* text)
{
    if (!text->failed && session->def.tell != NULL)
        session->def.tell(client, text->data, text->size, session->def.user);
}

void snwSession_Note(snwSession* session, const char* level, const char* words, const char* remedy)
{
    snwText text = snwCreateText(session->context, 0);
    snwText_Open(&text, '{');
    snwText_Key(&text, "event");
    snwText_String(&text, "note");
    snwText_Key(&text, "level");
    snwText_String(&text, level);
    snwText_Key(&text, "text");
    snwText_String(&text, words);
    snwText_Key(&text, "remedy");
    snwText_String(&text, remedy != NULL ? remedy : "");
    snwText_Close(&text, '}');
    snwSession_Tell(session, 0, &text);
    snwText_Free(&text);
}

void snwSession_NoteMessage(snwSession* session, const char* level, const snwMessage* message)
{
    snwMessage plain = *message;
    char words[768];
    plain.remedy[0] = 0;
    snwMessage_Format(&plain, words, sizeof words);
    snwSession_Note(session, level, words, message->remedy);
}

static void TellState(snwSession* session)
{
    snwText text = snwCreateText(session->context, 0);
    session->revision++;
    snwText_Open(&text, '{');
    snwText_Key(&text, "event");
    snwText_String(&text, "state");
    snwSession_WriteState(session, &text);
    snwText_Close(&text, '}');
    snwSession_Tell(session, 0, &text);
    snwText_Free(&text);
    session->stale = false;
    session->toldAt = snwSession_Now(session);
}

static void TellNews(snwSession* session)
{
    if (session->def.news != NULL)
        session->def.news(session->def.user);
}

void snwSession_PublishFrame(snwSession* session, snwBlob* blob)
{
    pthread_mutex_lock(&session->mutex);
    snwBlob* old = session->frame;
    session->frame = blob;
    pthread_mutex_unlock(&session->mutex);
    snwBlob_Release(session->context, old);
    TellNews(session);
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

static void Diverge(snwSession* session, const snwMessage* message)
{
    session->diverged = true;
    snwSession_Play(session, false);
    snwMessage_Format(message, session->warning, sizeof session->warning);
    snwSession_ForgetHands(session);
    session->pending.count = 0;
    snwLive_Read(session);
    snwSession_NoteMessage(session, "error", message);
    snwSession_Note(session, "info", "the last good state is kept", "undo what you did last, or reset");
}

static snwResult RecordCommands(snwSession* session, int logged, snwMessage* message)
{
    snwRecording* recording = &session->recording;
    int count = 0;
    const snwCommand* log = snwSim_GetLog(session->sim, &count);
    bool kept = snwArray_Reserve(session->context, &recording->commands, count - logged) &&
                snwArray_Reserve(session->context, &recording->hashes, 1);
    if (!kept)
        return snwFailMemory(message);
    for (int i = logged; i < count; ++i)
        recording->commands.data[recording->commands.count++] = log[i];
    recording->hashes.data[recording->hashes.count++] = snwSim_Hash(session->sim);
    session->workRevision++;
    return snw_ok;
}

// Viewers cannot see more frames than this, and a frame costs more than some steps do.
static bool ShowsFrame(snwSession* session)
{
    double now = snwSession_Now(session);
    if (session->playing && now - session->encodedAt < SNW_FRAME_PAUSE)
        return false;
    session->encodedAt = now;
    return true;
}

snwResult snwSession_StepOnce(snwSession* session, snwMessage* message)
{
    int logged = 0;
    snwResult result = snwSession_GoOn(session, message);
    if (result < 0)
        return result;

    // Hands first: they are commands of this step.
    snwSession_PushHands(session);
    snwSim_GetLog(session->sim, &logged);
    result = snwSim_Step(session->sim, 1 / session->sim->def->rate, message);
    if (result > 0)
        snwSession_NoteMessage(session, "warning", message);
    if (result >= 0)
        result = RecordCommands(session, logged, message);
    if (result < 0)
    {
        Diverge(session, message);
        return result;
    }

    // A step that went well clears what was told of the one before.
    session->diverged = false;
    session->warning[0] = 0;
    session->pending.count = 0;
    snwLive_Follow(session);

    // Encoded only if somebody is to see it; the timeline counts it in any case.
    snwBlob* blob = ShowsFrame(session) ? snwSession_EncodeFrame(session) : NULL;
    snwTimeline_AddFrame(session, blob);
    if (blob != NULL)
        snwSession_PublishFrame(session, blob);
    return snw_ok;
}

void snwSession_Play(snwSession* session, bool playing)
{
    session->stale = session->stale || session->playing != playing;
    session->playing = playing;
    session->nextStep = session->paceStart = snwSession_Now(session);
    session->paceFrames = 0;
    session->realtime = 1;
}

static void MeasurePace(snwSession* session, double now)
{
    double elapsed = now - session->paceStart;
    session->paceFrames++;
    if (elapsed < SNW_PACE_WINDOW)
        return;
    session->realtime = fmin(session->paceFrames / (elapsed * session->speed * session->sim->def->rate), 1);
    session->paceStart = now;
    session->paceFrames = 0;
}

static void AdvanceSession(snwSession* session)
{
    snwMessage message;
    double now = snwSession_Now(session);
    if (!session->playing || session->sim == NULL || now < session->nextStep)
        return;
    double period = 1 / (session->sim->def->rate * session->speed);
    snwSession_StepOnce(session, &message);
    now = snwSession_Now(session);
    session->nextStep += period;
    if (session->nextStep < now - 2 * period)
        session->nextStep = now;
    MeasurePace(session, now);
}

// ---------------------------------------------------------------------------------------------------------------------
// Another scene

static void NumberModel(snwSession* session, snwBlob* model)
{
    snwBlobHead head;
    if (model->serial != 0)
        return;
    model->serial = ++session->modelSerial;
    memcpy(&head, model->data, sizeof head);
    head.serial = head.model = (uint32_t)model->serial;
    snwBlob_SetHead(model, &head);
}

void snwSession_PublishModel(snwSession* session)
{
    snwBlob* model = session->stage->model;
    NumberModel(session, model);
    snwBlob* frame = snwSession_EncodeFrame(session);
    snwBlob_Retain(model);
    pthread_mutex_lock(&session->mutex);
    snwBlob* old = session->model;
    session->model = model;
    pthread_mutex_unlock(&session->mutex);
    snwBlob_Release(session->context, old);
    if (frame != NULL)
        snwSession_PublishFrame(session, frame);
}

snwResult snwSession_Show(snwSession* session, snwStage* stage, snwSim* sim, snwMessage* message)
{
    // Everything of what was open goes.
    snwSession_ForgetHands(session);
    snwTimeline_Clear(session);
    snwRecording_Free(session->context, &session->recording);
    if (session->sim != NULL)
        snwDestroySim(session->sim);
    snwStage_Release(session->stage);

    // The new one takes their place.
    session->stage = stage;
    session->sim = sim;

    NumberModel(session, stage->model);
    session->pending.count = 0;
    session->diverged = false;
    session->warning[0] = 0;
    session->stale = true;

    if (!snwArray_Push(session->context, &session->recording.hashes, snwSim_Hash(sim)))
        return snwFailMemory(message);
    snwResult result = snwLive_Create(session, message);
    if (result < 0)
        return result;

    // The first frame is shown before anything runs.
    snwBlob* frame = snwSession_EncodeFrame(session);
    if (frame == NULL)
        return snwFailMemory(message);
    snwTimeline_AddFrame(session, frame);
    snwBlob_Release(session->context, frame);
    snwSession_PublishModel(session);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The loop

static double NextWake(const snwSession* session)
{
    double now = snwSession_Now(session), wake = now + 0.5;
    if (session->playing && session->sim != NULL)
        wake = fmin(wake, session->nextStep);
    if (session->stale)
        wake = fmin(wake, session->toldAt + SNW_STATE_PAUSE);
    return fmax(wake - now, 0);
}

// Sleeps until something is to be done, and takes all requests that are there.
static int WaitForRequests(snwSession* session, snwRequest* taken)
{
    double seconds = NextWake(session);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);

    // Until: now and that many seconds, without more than 1e9 ns.
    int64_t nanos = (int64_t)until.tv_nsec + (int64_t)(1e9 * seconds);
    until.tv_sec += (time_t)(nanos / 1000000000);
    until.tv_nsec = (long)(nanos % 1000000000);
    pthread_mutex_lock(&session->mutex);
    while (session->requestCount == 0 && session->finished == NULL && !session->closing)
        if (pthread_cond_timedwait(&session->wake, &session->mutex, &until) == ETIMEDOUT)
            break;

    // Taken out under the lock, answered without it.
    int count = session->requestCount;
    for (int i = 0; i < count; ++i)
        taken[i] = session->requests[i];
    session->requestCount = 0;
    bool closing = session->closing;
    pthread_mutex_unlock(&session->mutex);
    for (int i = 0; i < count && closing; ++i)
        snwFree(session->context, taken[i].text);
    return closing ? -1 : count;
}

static void TellIfDue(snwSession* session)
{
    double waited = snwSession_Now(session) - session->toldAt;
    if (waited >= (session->stale ? SNW_STATE_PAUSE : SNW_STATE_IDLE) && (session->stale || session->playing))
        TellState(session);
}

static void HandleAll(snwSession* session, snwRequest* requests, int count)
{
    for (int i = 0; i < count; ++i)
    {
        if (requests[i].text == NULL)
            snwSession_DropClient(session, requests[i].client);
        else
            snwSession_Handle(session, &requests[i]);
        snwFree(session->context, requests[i].text);
    }
}

static void* LoopSession(void* user)
{
    snwSession* session = user;
    snwRequest* taken = session->taken;
    for (int count; (count = WaitForRequests(session, taken)) >= 0;)
    {
        HandleAll(session, taken, count);
        for (snwJob* job; (job = snwSession_TakeFinished(session)) != NULL;)
            snwSession_Finish(session, job);
        AdvanceSession(session);
        TellIfDue(session);
        snwSession_Autosave(session, false);
    }
    return NULL;
}

bool snwSession_Post(snwSession* session, int client, const char* text, size_t size)
{
    char* copy = size <= snw_maxRequestBytes ? snwAllocRaw(session->context, size + 1) : NULL;
    if (copy == NULL)
        return false;
    if (size > 0)
        memcpy(copy, text, size);
    copy[size] = 0;
    pthread_mutex_lock(&session->mutex);
    bool room = session->requestCount < snw_maxRequests;
    if (room)
        session->requests[session->requestCount++] = (snwRequest){copy, size, client};
    pthread_cond_signal(&session->wake);
    pthread_mutex_unlock(&session->mutex);
    if (!room)
        snwFree(session->context, copy);
    return room;
}

// One is always let in, in the place of the newest request if need be: a hand must not hold on for ever.
void snwSession_Leave(snwSession* session, int client)
{
    pthread_mutex_lock(&session->mutex);
    if (session->requestCount == snw_maxRequests)
        snwFree(session->context, session->requests[--session->requestCount].text);
    session->requests[session->requestCount++] = (snwRequest){NULL, 0, client};
    pthread_cond_signal(&session->wake);
    pthread_mutex_unlock(&session->mutex);
}

static snwBlob* TakeBlob(snwSession* session, snwBlob* const* slot)
{
    pthread_mutex_lock(&session->mutex);
    snwBlob* blob = *slot;
    if (blob != NULL)
        snwBlob_Retain(blob);
    pthread_mutex_unlock(&session->mutex);
    return blob;
}

snwBlob* snwSession_TakeFrame(snwSession* session)
{
    return TakeBlob(session, &session->frame);
}

snwBlob* snwSession_TakeModel(snwSession* session)
{
    return TakeBlob(session, &session->model);
}

snwContext* snwSession_GetContext(snwSession* session)
{
    return session->context;
}

// ---------------------------------------------------------------------------------------------------------------------
// Life

static snwResult MakeSessionContext(int threads, snwContext** context, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    def.threadCount = threads;
    return snwCreateContext(&def, context, message);
}

static void MakeLocks(snwSession* session)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&session->mutex, NULL);
    pthread_cond_init(&session->wake, &attributes);
    pthread_cond_init(&session->workerWake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static snwResult StartThreads(snwSession* session, snwMessage* message)
{
    session->hasThread = pthread_create(&session->thread, NULL, LoopSession, session) == 0;
    session->hasWorker = session->hasThread && pthread_create(&session->worker, NULL, snwSession_Worker, session) == 0;
    return session->hasWorker ? snw_ok : snwFail(message, snw_errorIo, NULL, "no thread could be started");
}

static snwResult OpenFirst(snwSession* session, snwMessage* message)
{
    snwJob* job = snwCreateJob(session, snw_jobOpen);
    if (job == NULL)
        return snwFailMemory(message);
    snprintf(job->name, sizeof job->name, "%s", session->source[0] != 0 ? session->source : "octopus-2d");
    job->trusted = true;
    snwSession_Start(session, job);
    return snw_ok;
}

snwResult snwCreateSession(const snwSessionDef* def, snwSession** session, snwMessage* message)
{
    snwContext* context = NULL;
    *session = NULL;
    snwResult result = MakeSessionContext(def->threads, &context, message);
    if (result < 0)
        return result;
    snwSession* made = snwAlloc(context, sizeof *made);
    if (made == NULL)
    {
        snwDestroyContext(context);
        return snwFailMemory(message);
    }

    // Settings that are not 0 at the start.
    made->context = context;
    made->def = *def;
    made->source = snwCopyText(context, def->source);
    made->folder = snwCopyText(context, def->folder);
    made->birth = snwClock_Seconds();
    made->speed = made->realtime = 1;
    made->nextHand = made->nextJob = 1;
    made->savedAt = -1;
    made->timeline.shown = -1;
    made->stale = true;
    made->playing = !def->paused;

    MakeLocks(made);
    result = made->source == NULL || made->folder == NULL ? snwFailMemory(message)
                                                          : snwMakeFolder(made->folder, message);
    if (result >= 0)
    {
        made->hasAutosave = snwSession_FindAutosave(made);
        result = OpenFirst(made, message);
    }

    if (result >= 0)
        result = StartThreads(made, message);
    if (result < 0)
        snwDestroySession(made);
    else
        *session = made;
    return result < 0 ? result : snw_ok;
}

static void StopThreads(snwSession* session)
{
    pthread_mutex_lock(&session->mutex);
    session->closing = true;
    for (snwJob* job = session->waiting; job != NULL; job = job->next)
        atomic_store(&job->cancelled, true);
    if (session->running != NULL)
        atomic_store(&session->running->cancelled, true);
    pthread_cond_broadcast(&session->wake);
    pthread_cond_broadcast(&session->workerWake);
    pthread_mutex_unlock(&session->mutex);
    if (session->hasThread)
        pthread_join(session->thread, NULL);
    if (session->hasWorker)
        pthread_join(session->worker, NULL);
}

static void FreeJobs(snwJob* job)
{
    while (job != NULL)
    {
        snwJob* next = job->next;
        snwDestroyJob(job);
        job = next;
    }
}

void snwDestroySession(snwSession* session)
{
    if (session == NULL)
        return;
    snwContext* context = session->context;

    // Threads first: nobody works on it any more. What was done is kept before anything is freed.
    StopThreads(session);
    snwSession_Autosave(session, true);
    FreeJobs(session->waiting);
    FreeJobs(session->finished);

    snwSession_ForgetHands(session);
    snwHistory_Free(session);
    snwTimeline_Clear(session);
    snwRecording_Free(context, &session->recording);
    if (session->sim != NULL)
        snwDestroySim(session->sim);
    snwStage_Release(session->stage);
    snwArena_Free(&session->live.arena);

    for (int i = 0; i < session->requestCount; ++i)
        snwFree(context, session->requests[i].text);

    snwArray_Free(context, &session->clients);
    snwArray_Free(context, &session->pending);
    snwBlob_Release(context, session->frame);
    snwBlob_Release(context, session->model);
    snwFree(context, session->source);
    snwFree(context, session->folder);

    pthread_mutex_destroy(&session->mutex);
    pthread_cond_destroy(&session->wake);
    pthread_cond_destroy(&session->workerWake);
    snwFree(context, session);
    snwDestroyContext(context);
}
