// A bench of several parts, of which `--case` asks for one.

#pragma once

#include "bench.h"

// Where parts put their rows.
typedef struct snwBenchRows
{
    snwBenchReport* report;
    const snwBenchOptions* options;
    snwMessage* message;
    snwResult result; // of the first thing that failed; nothing is added after it
} snwBenchRows;

void snwBenchRows_Add(snwBenchRows* rows, const snwBenchRow* row);
// A row of which only the value is known.
void snwBenchRows_AddValue(
    snwBenchRows* rows, const char* caseName, const char* method, const char* metric, double value);

// Is this case asked for? `--case PART/WORDS` asks for those of a part that have the words in their name, `--method
// NAME` for those of a method. False after something failed.
bool snwBenchRows_Wants(const snwBenchRows* rows, const char* caseName, const char* method);

typedef struct snwBenchPart
{
    const char* name;
    void (*add)(snwBenchRows* rows);
} snwBenchPart;

typedef struct snwBenchParts
{
    const snwBenchPart* parts;
    int count;
} snwBenchParts;

// All of them, or the one that is asked for; a name that none has is an error that lists those there are.
snwResult snwBenchParts_Run(
    const snwBenchParts* parts, const snwBenchOptions* options, snwBenchReport* report, snwMessage* message);
