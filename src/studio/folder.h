// The session's folder: the only one whose files clients may name, and where everything is written.

#pragma once

#include "scene/shipped.h"
#include "studio/session_parts.h"

// A plain file of the folder: no path, no link, nothing hidden but ".autosave".
bool snwFolder_Find(const snwSession* session, const char* name, char* path);
void snwFolder_List(const snwSession* session, snwNames* names);
// Is it a name that a file of the folder may have?
bool snwFolder_IsName(const char* name);

// A path for stem + ending that nothing has yet: "name-2.glb" where "name.glb" is taken. alone: nor any file that
// begins like it, for what is written beside it: scripts, numbered frames.
snwResult snwFolder_NewPath(
    const snwSession* session, const char* stem, const char* ending, bool alone, char* path, snwMessage* message);
// Writes the file under a new name, unless one of these names has just these bytes; path: where it is.
snwResult snwFolder_Store(const snwSession* session, const char* stem, const char* ending, const void* data,
    size_t size, char* path, snwMessage* message);
