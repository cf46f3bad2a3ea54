// Reads text files word by word: lines are counted, comments skipped, numbers exact (to 19 digits) and the same in
// every locale.

#pragma once

#include "base/result.h"

typedef struct snwScan
{
    const char* next; // the first byte that was not read
    const char* end;
    int64_t line;        // of next, from 1
    char comment;        // everything behind it in a line is skipped; 0: there are no comments
    char what[48];       // of the last thing that was wanted, for messages
    bool failed;         // something wanted was not there; further reads fail too
    const char* problem; // in words
} snwScan;

typedef struct snwWord
{
    const char* text; // not terminated
    int size;         // 0: there is none
} snwWord;

snwScan snwMakeScan(const char* data, size_t size, char comment);

// Words are what stands between blanks. The first two stop at the end of the line, the third looks beyond it.
snwWord snwScan_PeekInLine(snwScan* scan);
snwWord snwScan_WordInLine(snwScan* scan);
snwWord snwScan_Word(snwScan* scan);
bool snwScan_SkipLine(snwScan* scan);            // to the start of the next line; false at the end of the file
bool snwScan_IsAtEnd(snwScan* scan);             // only blanks, ends of lines and comments are left
bool snwWord_Is(snwWord word, const char* text); // the same, letter by letter
bool snwWord_IsNoCase(snwWord word, const char* text);

// Numbers, across ends of lines. What is no number, is not finite or is out of range fails the scan and gives 0 (or
// lower). `what` is what it should have been: "the height of vertex 3".
double snwScan_Real(snwScan* scan, const char* what);
int64_t snwScan_Int(snwScan* scan, const char* what, int64_t lower, int64_t upper);
// The same of a word that was read already.
bool snwWord_ToReal(snwWord word, double* value); // false if it is no number or not finite
bool snwWord_ToInt(snwWord word, int64_t* value);

// snw_errorInput with the line: "line 14: the height of vertex 3: 'abc' is not a number".
snwResult snwScan_Fail(const snwScan* scan, snwMessage* message);
snwResult snwScan_FailWith(const snwScan* scan, snwMessage* message, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
