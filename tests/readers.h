// What the tests of readers share: files in memory with others beside them, and the trials that every reader passes.

#pragma once

#include "asset/asset.h"
#include "fixture.h"
#include "test.h"

typedef struct snwTestFile
{
    const char* name;
    const char* data;
    size_t size; // 0: up to the zero
} snwTestFile;

// The first file is read, the others lie beside it; a name of NULL ends the list.
snwResult snwReaders_Read(
    snwContext* context, const snwTestFile* files, size_t size, snwAsset** asset, snwMessage* message);
// Reads and prints the message if it fails.
snwAsset* snwReaders_MustRead(snwContext* context, const snwTestFile* files);
snwAsset* snwReaders_MustReadText(snwContext* context, const char* name, const char* text);
// Expects an error with these words in text, place and remedy.
void snwReaders_Refuses(const char* name, const char* text, const char* place, const char* words, const char* remedy);

// The note with these words, NULL if there is none.
const snwAssetNote* snwReaders_FindNote(const snwAsset* asset, const char* words);
void snwReaders_CheckNote(
    const snwAsset* asset, snwAssetNoteKind kind, int64_t count, const char* place, const char* words);

// Cut at every byte it gives a mesh that hangs together or an error with words; nothing leaks.
void snwReaders_CheckTruncated(const snwTestFile* files);
// Every failed allocation is an error without leak.
void snwReaders_CheckMemory(const snwTestFile* files);
// A file of SINEW_DATA; NULL if that is not set.
snwAsset* snwReaders_OpenReal(snwContext* context, const char* name);
bool snwReaders_HasReal(void);
