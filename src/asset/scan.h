// Reads text files word by word: lines are counted, comments skipped, numbers exact and the same in every locale.

#pragma once

#include "base/result.h"

typedef struct snwScan
{
    const char* next; // the first byte that was not read
    const char* end;
    int64_t line;        // of next, from 1
    char comment;        // everything behind it in a line is skipped; 0: there are no comments
    char joiner;         // as the last byte of a line it joins the next one to it; 0: none does
    char feed;           // ends a line
    char what[48];       // of the last thing that was wanted, for messages
    char wrong[24];      // what stands there instead, cut short
    bool failed;         // something wanted was not there; further reads fail too
    const char* problem; // in words
    const char* remedy;  // NULL: none is known
} snwScan;

typedef struct snwWord
{
    const char* text; // not terminated
    int size;         // 0: there is none
} snwWord;

// Lines end with a line feed, with or without a return before it, or with a return in files that have no line feed. A
// mark of UTF-8 in front is skipped. Fewer than 2^31 bytes.
snwScan snwMakeScan(const char* data, size_t size, char comment);
int64_t snwScan_Left(const snwScan* scan); // bytes

// Words are what stands between blanks. The first two stop at the end of the line, the third looks beyond it.
snwWord snwScan_PeekInLine(snwScan* scan);
snwWord snwScan_WordInLine(snwScan* scan);
snwWord snwScan_Word(snwScan* scan);
snwWord snwScan_RestOfLine(snwScan* scan);       // without blanks around it; neither comments nor joiners count
bool snwScan_SkipLine(snwScan* scan);            // to the start of the next line; false at the end of the file
bool snwScan_IsAtEnd(snwScan* scan);             // only blanks, ends of lines and comments are left
bool snwWord_Is(snwWord word, const char* text); // the same, letter by letter
bool snwWord_IsNoCase(snwWord word, const char* text);

// Numbers, across ends of lines. What is no number, is not finite or is out of range fails the scan and gives 0 (or
// lower). `what` is what it should have been: "the height of vertex 3".
double snwScan_Real(snwScan* scan, const char* what);
int64_t snwScan_Int(snwScan* scan, const char* what, int64_t lower, int64_t upper);
double snwScan_RealInLine(snwScan* scan, const char* what); // must be in this line
// The same of a word that was read already.
bool snwWord_ToReal(snwWord word, double* value); // false if it is no number or not finite
bool snwWord_ToInt(snwWord word, int64_t* value);
bool snwWord_IsNotFinite(snwWord word); // one of the ways to write infinity or not-a-number

// Fails the scan as the readers of numbers do: with a word that is wrong (of size 0: the problem tells all), or because
// the file is too short. The first failure stays.
void snwScan_Miss(snwScan* scan, const char* what, snwWord word, const char* problem);
void snwScan_MissEnd(snwScan* scan, const char* what, const char* problem);

// snw_errorInput with the line: "line 14: the height of vertex 3: 'abc' is not a finite number".
snwResult snwScan_Fail(const snwScan* scan, snwMessage* message);
snwResult snwScan_FailWith(const snwScan* scan, snwMessage* message, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
