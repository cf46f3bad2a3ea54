// What would be lost: the recording, saved every few seconds of change and at the end.

#pragma once

#include "studio/session_parts.h"

#define SNW_AUTOSAVE_FOLDER ".autosave"
#define SNW_AUTOSAVE_LOG    ".autosave/recording.jsonl"
#define SNW_AUTOSAVE_BEFORE ".autosave/before.jsonl" // of the session before this one

void snwSession_Autosave(snwSession* session, bool now);
// Puts aside what the session before this one left, if it did.
bool snwSession_FindAutosave(const snwSession* session);
// The recording as a log at this path.
snwResult snwSession_SaveLog(snwContext* context, const snwStage* stage, const snwRecording* recording,
    const char* path, bool overwrite, snwMessage* message);
