// What several verbs share: the context from --threads and --simd, folders, whole files, JSON on stdout.

#pragma once

#include "app/cli.h"
#include "scene/file.h"
#include "sinew/tools.h"

#include <jansson.h>

// Of snwSceneOptions.memory.
#define SNW_MEMORY_OPTION                                                                                              \
    {                                                                                                                  \
        "memory", 0, "GIB", false, snw_completeNothing, NULL,                                                          \
            "memory that bodies may take, estimated before they are made (default 2)"                                  \
    }

// Rows for the option tables of verbs that simulate.
#define SNW_CONTEXT_OPTIONS                                                                                            \
    {"threads", 't', "N", false, snw_completeNothing, NULL, "threads to use; 0 is one per core (default)"},            \
    {                                                                                                                  \
        "simd", 0, "SET", false, snw_completeWords, "auto scalar base avx2",                                           \
            "instruction set: auto (default), scalar, base or avx2; all give the same result"                          \
    }

snwExit snwContextFromArgs(const snwArgs* args, snwContext** context);

// Is its first word that of a JSON object? True also for what cannot be read: whoever opens it says why.
bool snwMayBeJson(const char* path);
// Prints an error about a file the user named: one that cannot be opened counts as bad input.
snwExit snwReportInput(const snwMessage* message);

// Frames that were simulated, as sim and replay count them: without frame 0, the start.
int snwLog_Frames(const snwLog* log);

// A number, or null if it is not finite.
json_t* snwJsonReal(double value);
// Takes the value over and prints it.
snwExit snwPrintJson(json_t* value);
json_t* snwMeasures_ToJson(const snwMeasures* measures);
