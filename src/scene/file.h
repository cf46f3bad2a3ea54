// Whole files in, whole files out. What is written appears under its name only when it is complete.

#pragma once

#include "base/bytes.h"

#include <stdio.h>

// Reads all of a file of at most `limit` bytes; *data has a zero behind it and goes back through snwFree.
snwResult snwFile_Read(
    snwContext* context, const char* path, size_t limit, char** data, size_t* size, snwMessage* message);

// Writes a file at once: see snwPartFile.
snwResult snwFile_Write(
    snwContext* context, const char* path, const void* data, size_t size, bool overwrite, snwMessage* message);

// A file being written as "path.part" in the same folder. Commit makes it durable and gives it its name; a crash leaves
// the part, with everything up to the last flush.
typedef struct snwPartFile
{
    snwContext* context;
    FILE* stream; // NULL: closed
    char* path;
    char* part;
    bool overwrite;
} snwPartFile;

snwResult snwPartFile_Open(
    snwPartFile* output, snwContext* context, const char* path, bool overwrite, snwMessage* message);
snwResult snwPartFile_Write(snwPartFile* output, const void* data, size_t size, snwMessage* message);
snwResult snwPartFile_Flush(snwPartFile* output, snwMessage* message); // to the system: survives this process
snwResult snwPartFile_Commit(snwPartFile* output, snwMessage* message);
// Closes the stream so that another program can write to output->part; Commit and Drop work as before.
void snwPartFile_HandOver(snwPartFile* output);
void snwPartFile_Drop(snwPartFile* output);    // removes the part; nothing if committed or never opened
void snwPartFile_Abandon(snwPartFile* output); // closes but leaves the part: for what is of use unfinished

// Removes the part that a run which was cut short left behind; path may be NULL.
void snwPartFile_Clear(snwContext* context, const char* path);

// Where a file is that another one names: beside it unless it begins at the root. Room for PATH_MAX bytes.
void snwPathBeside(const char* file, const char* beside, char* path);

// Checks early that a file may be written there, so that nobody waits for a film that cannot be stored.
snwResult snwPartFile_Check(snwContext* context, const char* path, bool overwrite, snwMessage* message);

enum
{
    snw_maxPath = 4096, // bytes of a path, its zero included
    snw_maxName = 200,  // of a file's name
};

// Joins with a slash; false if it does not fit.
bool snwJoinPath(char* buffer, size_t capacity, const char* folder, const char* name);
bool snwFileExists(const char* path); // a link that leads nowhere does, too
bool snwIsFolder(const char* path);
// Makes the folder and its missing parents.
snwResult snwMakeFolder(const char* path, snwMessage* message);

// Where something is that lies beside the running program, so that an installation may be moved as a whole: "../share"
// of bin/sinew. False if it does not fit.
bool snwPathBesideProgram(const char* beside, char* buffer, size_t capacity);
// Is it in one of the folders of PATH?
bool snwHasProgram(const char* name);

// The result and words for an errno of the system while doing `action` ("write", "make the folder") to path.
snwResult snwFailSystem(snwMessage* message, int error, const char* action, const char* path);
