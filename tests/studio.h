// A session without a network: requests go in, answers and events are caught.

#pragma once

#include "studio/session.h"

#include <jansson.h>

typedef struct snwStudio snwStudio;

// folder NULL: one in the test's folder. The scene is paused at its start when this returns; NULL: it failed.
snwStudio* snwStudio_Open(const char* source, const char* folder);
void snwStudio_Close(snwStudio* studio);
snwSession* snwStudio_Session(const snwStudio* studio);

// Sends {"v": 1, "id": ..., and these keys} (printf) as client 1 and waits for the answer, which is the caller's.
json_t* snwStudio_Ask(snwStudio* studio, const char* format, ...) __attribute__((format(printf, 2, 3)));
json_t* snwStudio_AskAs(snwStudio* studio, int client, const char* keys);
// Asks and tells whether it was ok.
bool snwStudio_Do(snwStudio* studio, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Any text, and the answer to it: the next message to client 1 that is no event.
json_t* snwStudio_Raw(snwStudio* studio, const char* text, size_t size);
// The state now.
json_t* snwStudio_State(snwStudio* studio);
// Waits until nothing is being opened.
bool snwStudio_Settle(snwStudio* studio);
// Waits for the end of a job; its last event, the caller's.
json_t* snwStudio_Job(snwStudio* studio, int job);
// Of the state: a number at this path ("recording.last"), NAN if there is none.
double snwStudio_Number(snwStudio* studio, const char* path);
void snwStudio_Hash(snwStudio* studio, char hash[17]);
// How many events of this name have come so far.
int snwStudio_Events(snwStudio* studio, const char* name);
const char* snwStudio_Folder(const snwStudio* studio);
