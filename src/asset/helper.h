// Programs that do what may crash: they read a block on their standard input, work under limits, and answer with a
// block on their standard output. Whatever they do - crash, hang, rave - comes back as a word about it.
//
// One socket is the helper's input and output. The helper reads all before it writes, so neither waits for the other;
// and send can be told to raise no SIGPIPE, which a library may not.

#pragma once

#include "base/bytes.h"

typedef struct snwHelperDef
{
    const char* program;  // "sinew-import"
    const char* variable; // of the environment, may name another place
    const char* argument; // NULL: none
    const void* input;
    size_t inputSize, mostOutput; // bytes
    double seconds;               // then it is killed
} snwHelperDef;

typedef enum snwHelperEnd
{
    snw_helperDone,
    snw_helperAbsent, // there is no such program
    snw_helperLate,   // out of time, of the clock or of the processor
    snw_helperCrashed,
    snw_helperFailed, // ended with another status than 0
} snwHelperEnd;

typedef struct snwHelperRun
{
    snwHelperEnd end;
    int signal;       // of a crash
    double megabytes; // that it held at most
} snwHelperRun;

// SINEW_..., or beside the running program.
bool snwHelper_Exists(const char* program, const char* variable);

// Errors only if nothing could be tried: no memory, no process. The caller frees output->data; its context is set.
snwResult snwHelper_Run(const snwHelperDef* def, snwWriter* output, snwHelperRun* run, snwMessage* message);
