// Files that appear whole or not at all: written under a temporary name beside the target, synced, then renamed.

#pragma once

#include "base/context.h"

#include <stdio.h>

typedef struct snwOutput
{
    snwContext* context;
    char* path;
    char* temporary;
    FILE* file; // NULL once closed
    bool overwrite;
} snwOutput;

// An existing target is an error unless overwrite. After an error there is nothing to discard.
snwResult snwOutput_Open(snwOutput* output, snwContext* context, const char* path, bool overwrite, snwMessage* message);

// Closes the file so that another program can write to output->temporary; Commit and Discard work as before.
void snwOutput_HandOver(snwOutput* output);

// The target appears. On an error the temporary file is gone and the target is as before.
snwResult snwOutput_Commit(snwOutput* output, snwMessage* message);
void snwOutput_Discard(snwOutput* output);

// Checks early that a file may be written there, so that nobody waits for a film that cannot be stored.
snwResult snwOutput_Check(snwContext* context, const char* path, bool overwrite, snwMessage* message);

// Makes the folder and its missing parents.
snwResult snwMakeDirectory(snwContext* context, const char* path, snwMessage* message);

// The result and words for an errno of the system while doing `action` ("write", "make the folder") to path.
snwResult snwFailSystem(snwMessage* message, int error, const char* action, const char* path);
