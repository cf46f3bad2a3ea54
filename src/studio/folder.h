// The session's folder: the only one whose files clients may name, and where everything is written. Also the names of
// the scenes that come with Sinew.

#pragma once

#include "studio/session_parts.h"

typedef struct snwNames
{
    char** names;
    char** notes; // descriptions, or kinds of files
    double* sizes;
    int count;
} snwNames;

void snwNames_Free(snwContext* context, snwNames* names);

// In the order of the alphabet; empty without memory.
void snwScenes_List(snwContext* context, snwNames* names);
// path has room for snw_stagePath bytes. False: there is none of that name.
bool snwScenes_Find(const char* name, char* path);
// Neither a scene nor a character nor a file: an error with the nearest known word.
snwResult snwScenes_FailUnknown(snwContext* context, const char* name, snwMessage* message);

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
