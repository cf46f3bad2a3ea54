// Runs programs and keeps what they say.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct snwProcess
{
    pid_t id;
    int code;   // exit code; 128 + signal if it was killed; -1 if it never started
    char* text; // stdout, ending with a zero; never NULL after snwProcess_Wait
    char* errors;
    char outPath[96], errorPath[96];
} snwProcess;

// words: the program and its arguments, ending with NULL; variable: "NAME=value" to add to the environment, or NULL.
snwProcess snwProcess_Start(const char* const* words, const char* variable);
void snwProcess_Wait(snwProcess* process);
void snwProcess_Free(snwProcess* process);

// Start and Wait.
snwProcess snwProcess_Run(const char* const* words);

// The whole file with a zero behind it; NULL if it cannot be read. free() it.
char* snwReadWhole(const char* path);
