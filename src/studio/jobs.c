// Work that takes a while - opening, changing, exporting, painting, saving - is done by one worker thread; its
// progress and its end are told to every page, and the session takes over the result between two steps.

#include "studio/jobs.h"

#include <stdio.h>
#include <string.h>

snwJob* snwCreateJob(snwSession* session, snwJobKind kind)
{
    snwJob* job = snwAlloc(session->context, sizeof *job);
    if (job == NULL)
        return NULL;
    job->session = session;
    job->context = session->context;
    job->kind = kind;
    job->number = session->nextJob++;
    job->change.body = -1;
    job->lastPercent = -1;
    return job;
}

void snwDestroyJob(snwJob* job)
{
    snwContext* context = job->session->context;
    if (job->sim != NULL)
        snwDestroySim(job->sim);
    snwStage_Release(job->stage);
    snwMoment_Free(context, &job->base);
    snwMoment_Free(context, &job->moment);
    snwBlob_Release(context, job->model);
    snwFree(context, job);
}

bool snwJob_Opens(const snwJob* job)
{
    return job->kind == snw_jobOpen || job->kind == snw_jobChange;
}

static void AppendJob(snwJob** list, snwJob* job)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = job;
    job->next = NULL;
}

void snwSession_Start(snwSession* session, snwJob* job)
{
    pthread_mutex_lock(&session->mutex);
    AppendJob(&session->waiting, job);
    if (snwJob_Opens(job))
    {
        session->loading = true;
        session->loadingShare = 0;
        snprintf(session->loadingText, sizeof session->loadingText, "opening");
    }
    pthread_cond_signal(&session->workerWake);
    pthread_mutex_unlock(&session->mutex);
    session->stale = true;
}

bool snwSession_Cancel(snwSession* session, int number)
{
    bool found = false;
    pthread_mutex_lock(&session->mutex);
    for (snwJob* job = session->waiting; job != NULL; job = job->next)
        if (job->number == number)
            atomic_store(&job->cancelled, true), found = true;
    if (session->running != NULL && session->running->number == number)
        atomic_store(&session->running->cancelled, true), found = true;
    pthread_mutex_unlock(&session->mutex);
    return found;
}

// ---------------------------------------------------------------------------------------------------------------------
// Telling

static const char* const s_kindNames[] = {"open", "change", "export", "paint", "save"};

static void BeginEvent(const snwJob* job, snwText* text)
{
    snwText_Open(text, '{');
    snwText_Key(text, "event");
    snwText_String(text, "job");
    snwText_Key(text, "job");
    snwText_Int(text, job->number);
    snwText_Key(text, "kind");
    snwText_String(text, job->kind == snw_jobExport ? job->format : s_kindNames[job->kind]);
}

static void TellJobProgress(snwJob* job, const char* words, double share)
{
    snwSession* session = job->session;
    snwText text = snwCreateText(session->context, 0);
    BeginEvent(job, &text);
    snwText_Key(&text, "text");
    snwText_String(&text, words);
    snwText_Key(&text, "share");
    snwText_Real(&text, share);
    snwText_Close(&text, '}');
    snwSession_Tell(session, 0, &text);
    snwText_Free(&text);
}

// One event per percent.
snwResult snwJob_Progress(snwJob* job, const char* text, double share)
{
    snwSession* session = job->session;
    int percent = (int)(100 * share);
    if (atomic_load(&job->cancelled))
        return snw_errorInterrupted;
    if (percent == job->lastPercent)
        return snw_ok;
    job->lastPercent = percent;
    if (snwJob_Opens(job))
    {
        pthread_mutex_lock(&session->mutex);
        snprintf(session->loadingText, sizeof session->loadingText, "%s", text);
        session->loadingShare = share;
        pthread_mutex_unlock(&session->mutex);
    }
    TellJobProgress(job, text, share);
    return snw_ok;
}

static void WriteError(snwText* text, const snwMessage* message)
{
    snwText_Key(text, "error");
    snwText_Open(text, '{');
    snwText_Key(text, "text");
    snwText_String(text, message->text);
    snwText_Key(text, "place");
    snwText_String(text, message->place);
    snwText_Key(text, "remedy");
    snwText_String(text, message->remedy);
    snwText_Close(text, '}');
}

static void TellEnd(snwJob* job)
{
    snwSession* session = job->session;
    snwText text = snwCreateText(session->context, 0);
    BeginEvent(job, &text);
    snwText_Key(&text, "share");
    snwText_Real(&text, 1);
    snwText_Key(&text, "done");
    snwText_Bool(&text, true);
    if (job->result < 0)
        WriteError(&text, &job->message);
    else if (job->kind == snw_jobExport)
        snwJob_WriteFiles(job, &text);
    snwText_Close(&text, '}');
    snwSession_Tell(session, 0, &text);
    snwText_Free(&text);
}

// ---------------------------------------------------------------------------------------------------------------------
// The worker

static snwResult ChangeJobStage(snwJob* job)
{
    snwResult result = snwStage_Change(job->base.stage, &job->change, &job->stage, &job->message);
    snwSimDef def = snwDefaultSimDef();
    if (result < 0)
        return result;
    def.scene = job->stage->file.scene;
    snwJob_Progress(job, "preparing", 0.3);
    return snwCreateSim(job->context, &def, &job->sim, &job->message);
}

static void RunJob(snwJob* job)
{
    snwMessage_Clear(&job->message);
    if (atomic_load(&job->cancelled))
        job->result = snw_errorInterrupted;
    else if (job->kind == snw_jobOpen)
        job->result = snwJob_Open(job);
    else if (job->kind == snw_jobChange)
        job->result = ChangeJobStage(job);
    else if (job->kind == snw_jobExport)
        job->result = snwJob_Export(job);
    else if (job->kind == snw_jobPaint)
        job->result = snwJob_Paint(job);
    else
        job->result = snwJob_Save(job);

    // A scene that was cancelled at the last moment is not shown.
    if (job->result >= 0 && atomic_load(&job->cancelled) && snwJob_Opens(job))
        job->result = snw_errorInterrupted;
    if (job->result == snw_errorInterrupted)
        snwFail(&job->message, snw_errorInterrupted, NULL, "stopped");
}

void* snwSession_Worker(void* user)
{
    snwSession* session = user;
    pthread_mutex_lock(&session->mutex);
    while (!session->closing)
    {
        // The lock is held only for the lists, never while working.
        snwJob* job = session->waiting;
        if (job == NULL)
        {
            pthread_cond_wait(&session->workerWake, &session->mutex);
            continue;
        }

        // Taken off the list under the lock, worked on without it.
        session->waiting = job->next;
        session->running = job;
        pthread_mutex_unlock(&session->mutex);
        RunJob(job);
        pthread_mutex_lock(&session->mutex);
        session->running = NULL;
        AppendJob(&session->finished, job);
        pthread_cond_signal(&session->wake);
    }

    pthread_mutex_unlock(&session->mutex);
    return NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Back in the session

snwJob* snwSession_TakeFinished(snwSession* session)
{
    pthread_mutex_lock(&session->mutex);
    snwJob* job = session->finished;
    if (job != NULL)
        session->finished = job->next;
    bool loads = session->running != NULL && snwJob_Opens(session->running);
    for (snwJob* other = session->waiting; other != NULL; other = other->next)
        loads = loads || snwJob_Opens(other);
    session->loading = loads || (job == NULL && session->loading);
    pthread_mutex_unlock(&session->mutex);
    return job;
}

static snwResult Present(snwSession* session, snwJob* job)
{
    snwMoment before = {0};

    // A change can be undone: the moment before it is kept.
    if (session->sim != NULL && job->label[0] != 0)
        snwSession_TakeMoment(session, &before, NULL);
    snwResult result;

    // A log brings a moment of its own, everything else begins at its start.
    if (job->moment.stage != NULL)
        result = snwSession_GoTo(session, &job->moment, &job->message);
    else
    {
        result = snwSession_Show(session, job->stage, job->sim, &job->message);
        job->stage = NULL;
        job->sim = NULL;
    }

    if (result >= 0 && before.stage != NULL)
        snwHistory_AddMoment(session, job->label, &before);
    snwMoment_Free(session->context, &before);
    session->workRevision++;
    snwSession_Play(session, session->playing);

    return result;
}

// Viewers get the model again; the scene may be another by now.
static void Repaint(snwSession* session, snwJob* job)
{
    session->painting = false;
    if (job->result < 0 || session->stage == NULL || session->stage->shown != job->base.stage->shown)
        return;
    snwStage_Repaint(session->stage, job->model);
    job->model = NULL;
    snwSession_PublishModel(session);
}

static void EndSave(snwSession* session, const snwJob* job)
{
    session->saving = false;
    session->savedAt = snwSession_Now(session);
    if (job->result < 0)
        snwSession_NoteMessage(session, "warning", &job->message);
}

void snwSession_Finish(snwSession* session, snwJob* job)
{
    if (job->kind == snw_jobPaint)
        Repaint(session, job);
    else if (job->kind == snw_jobSave)
        EndSave(session, job);
    else
    {
        // Scenes are shown; a failure is told twice, to who asked and to all.
        if (job->result >= 0 && snwJob_Opens(job))
            job->result = Present(session, job);
        TellEnd(job);
        if (job->result < 0 && snwJob_Opens(job))
            snwSession_NoteMessage(session, "error", &job->message);
        else if (job->note[0] != 0)
            snwSession_Note(session, "info", job->note, NULL);

        // The first job opened the scene: whoever lost a session learns of it now.
        if (job->number == 1 && session->hasAutosave)
            snwSession_Note(session, "info", "there is a recording from before", "open .autosave to go on with it");
    }

    session->stale = true;
    snwDestroyJob(job);
}
