// The recording is saved every ten seconds as a log in the studio's folder, if somebody did anything since; a
// session that was cut short can be gone on with. The worker writes it.

#include "studio/autosave.h"

#include "scene/file.h"
#include "scene/file.h"
#include "scene/log.h"
#include "studio/jobs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SNW_AUTOSAVE_PAUSE 10.0 // s

static snwResult WriteFrames(
    snwLogWriter* writer, const snwStage* stage, const snwRecording* recording, snwMessage* message)
{
    const snwSceneDef* scene = snwScene_GetDef(stage->file.scene);
    snwText lines = snwCreateText(writer->context, 0);
    snwResult result = snw_ok;
    int next = 0;

    // Commands of a step stand before its frame.
    for (int frame = 0; frame < recording->hashes.count && result >= 0; ++frame)
    {
        lines.size = 0;
        for (; next < recording->commands.count && recording->commands.data[next].step < (uint64_t)frame; ++next)
            snwLog_FormatCommand(&lines, scene, &recording->commands.data[next]);

        if (lines.failed)
            result = snwFailMemory(message);
        if (result >= 0 && lines.size > 0)
            result = snwLogWriter_AddCommands(writer, lines.data, lines.size, message);
        if (result >= 0)
            result = snwLogWriter_AddFrame(writer, NULL, frame, recording->hashes.data[frame], message);
    }
    snwText_Free(&lines);
    return result;
}

snwResult snwSession_SaveLog(snwContext* context, const snwStage* stage, const snwRecording* recording,
    const char* path, bool overwrite, snwMessage* message)
{
    snwLogWriter writer;
    snwResult result = snwLogWriter_Open(&writer, context, path, &stage->file, overwrite, message);
    if (result < 0)
        return result;
    result = WriteFrames(&writer, stage, recording, message);
    if (result >= 0)
        return snwLogWriter_Finish(&writer, recording->hashes.count - 1, message);
    snwPartFile_Drop(&writer.output);
    return result;
}

bool snwSession_FindAutosave(const snwSession* session)
{
    char path[snw_stagePath], before[snw_stagePath];
    if (!snwJoinPath(path, sizeof path, session->folder, SNW_AUTOSAVE_LOG) ||
        !snwJoinPath(before, sizeof before, session->folder, SNW_AUTOSAVE_BEFORE))
        return false;
    rename(path, before); // an older one stays if there is none
    return access(before, R_OK) == 0;
}

snwResult snwJob_Save(snwJob* job)
{
    const snwSession* session = job->session;
    char folder[snw_stagePath], path[snw_stagePath];
    if (!snwJoinPath(folder, sizeof folder, session->folder, SNW_AUTOSAVE_FOLDER) ||
        !snwJoinPath(path, sizeof path, session->folder, SNW_AUTOSAVE_LOG))
        return snwFail(&job->message, snw_errorIo, "a shorter folder", "the path is too long");
    snwResult result = snwMakeFolder(folder, &job->message);
    if (result >= 0)
        result = snwSession_SaveLog(job->context, job->base.stage, &job->base.recording, path, true, &job->message);
    return result;
}

// Only what somebody did is worth it: a scene that merely ran runs again by itself.
static bool IsAutosaveDue(const snwSession* session, bool now)
{
    if (session->sim == NULL || session->recording.commands.count == 0 || session->saving ||
        session->savedRevision == session->workRevision)
        return false;
    return now || snwSession_Now(session) - fmax(session->savedAt, 0) >= SNW_AUTOSAVE_PAUSE;
}

// The worker writes it, so that the scene does not falter; at the end there is no worker any more.
void snwSession_Autosave(snwSession* session, bool now)
{
    snwJob* job = IsAutosaveDue(session, now) ? snwCreateJob(session, snw_jobSave) : NULL;
    if (job == NULL)
        return;

    // The worker gets a copy, for the recording goes on.
    if (!snwRecording_Copy(session->context, &session->recording, &job->base.recording))
    {
        snwDestroyJob(job);
        return;
    }
    snwStage_Retain(session->stage);
    job->base.stage = session->stage;
    session->savedRevision = session->workRevision;

    // At the end of the session there is nobody to wait for.
    if (now)
    {
        snwJob_Save(job);
        snwDestroyJob(job);
        return;
    }
    session->saving = true;
    snwSession_Start(session, job);
}
