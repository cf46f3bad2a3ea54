#include "studio/autosave.h"

#include "app/common.h"
#include "scene/file.h"
#include "scene/log.h"

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

static bool LogPath(const snwSession* session, char* path)
{
    return snwJoinPath(path, snw_stagePath, session->folder, SNW_AUTOSAVE_LOG);
}

bool snwSession_HasAutosave(const snwSession* session)
{
    char path[snw_stagePath];
    return LogPath(session, path) && access(path, R_OK) == 0;
}

// Only what somebody did is worth it: a scene that merely ran runs again by itself.
static bool IsDue(const snwSession* session, bool now)
{
    if (session->sim == NULL || session->recording.commands.count == 0 ||
        session->savedRevision == session->workRevision)
        return false;
    return now || snwSession_Now(session) - session->savedAt >= SNW_AUTOSAVE_PAUSE;
}

void snwSession_Autosave(snwSession* session, bool now)
{
    char folder[snw_stagePath], path[snw_stagePath];
    snwMessage message;
    if (!IsDue(session, now) || !snwJoinPath(folder, sizeof folder, session->folder, SNW_AUTOSAVE_FOLDER) ||
        !LogPath(session, path))
        return;
    bool first = session->savedAt < 0;
    snwResult result = snwMakeDirectory(session->context, folder, &message);
    if (result >= 0)
        result = snwSession_SaveLog(session->context, session->stage, &session->recording, path, true, &message);
    session->savedAt = snwSession_Now(session);
    session->savedRevision = session->workRevision;
    session->stale = true;
    if (result < 0 && first)
        snwSession_NoteMessage(session, "warning", &message);
}
