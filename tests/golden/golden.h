// The golden net: what Sinew gives today, kept as text, so that a change that means to change nothing can be seen to
// change nothing. docs/golden.md tells how to read a red line and when to record.
//
// states.txt, files.txt and pictures.txt are specification and recording in one. A line that begins in the first column
// is a case: its name and the words that make it. The indented lines below it are what was found when it was recorded,
// a key and a value each. A new case is a new line without any.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum snwGoldenKind
{
    snw_goldenState,   // SCENE [scale=X] [method=NAME] [PARAM=VALUE ...]: hashes of the sim at some frames
    snw_goldenFile,    // COMMAND WORDS...: hash and size of all that the command writes
    snw_goldenPicture, // PICTURE COMMAND WORDS...: the picture that the command writes, in 9 x 16 cells
    snw_goldenKindCount,
} snwGoldenKind;

enum
{
    snw_goldenMaxWords = 32,
    snw_goldenExitSkipped = 77, // ctest's SKIP_RETURN_CODE
};

typedef struct snwGoldenValue
{
    char key[96];
    char text[112];
} snwGoldenValue;

typedef struct snwGoldenValues
{
    snwGoldenValue* list;
    int count;
} snwGoldenValues;

typedef struct snwGoldenLine
{
    snwGoldenKind kind;
    char name[64];
    char* words[snw_goldenMaxWords + 1]; // what follows the name, NULL behind the last
    int wordCount;
    snwGoldenValues recorded;
} snwGoldenLine;

typedef struct snwGoldenNet
{
    snwGoldenLine* lines;
    int count;
} snwGoldenNet;

// ---------------------------------------------------------------------------------------------------------------------
// lines.c: the text files

// false: a file cannot be read or makes no sense; said on stderr.
bool snwGoldenNet_Read(snwGoldenNet* net);
void snwGoldenNet_Free(snwGoldenNet* net);
const snwGoldenLine* snwGoldenNet_Find(const snwGoldenNet* net, const char* name); // NULL: there is none
// Writes the files anew with what is recorded now; comments, order and spelling of the cases stay.
bool snwGoldenNet_Write(const snwGoldenNet* net);

void snwGoldenValues_Add(snwGoldenValues* values, const char* key, const char* text);
const char* snwGoldenValues_Find(const snwGoldenValues* values, const char* key); // NULL: there is none
void snwGoldenValues_Free(snwGoldenValues* values);

// The value of the word "KEY=..." of a line; NULL: it has none.
const char* snwGoldenLine_Option(const snwGoldenLine* line, const char* key);

// ---------------------------------------------------------------------------------------------------------------------
// find.c, command.c: what a line gives today. Each is called in a process of its own that stands in an empty folder,
// where the links scenes, tests and data lead to ours. Ends the process if something fails, and with 77 if it cannot be
// done here.

void snwGolden_Find(const snwGoldenLine* line, snwGoldenValues* found);
void snwGolden_RunState(const snwGoldenLine* line, snwGoldenValues* found);
void snwGolden_RunCommand(const snwGoldenLine* line, char** words, int wordCount, snwGoldenValues* found);

// The results of the maths library: other bits here lawfully make other bits everywhere.
void snwGolden_Maths(snwGoldenValues* found);

void snwGolden_Fail(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));
void snwGolden_Skip(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));
void snwGolden_AddHash(snwGoldenValues* found, const char* key, const void* data, size_t size);

// ---------------------------------------------------------------------------------------------------------------------
// complete.c

// Has everything a line that must have one? Says on stderr what has none.
bool snwGoldenNet_IsComplete(const snwGoldenNet* net);
