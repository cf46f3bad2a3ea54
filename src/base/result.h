// Results and their words. A function that can fail takes a snwMessage* (NULL allowed) and returns through snwFail.

#pragma once

#include "sinew/sinew.h"

// Fills the message (file and place empty) and returns result. remedy may be NULL.
snwResult snwFail(snwMessage* message, snwResult result, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

snwResult snwFailMemory(snwMessage* message);

// Puts the caller's knowledge in front: AddPlace("bodies[%d]", i) turns "mass" into "bodies[2].mass".
void snwMessage_AddPlace(snwMessage* message, const char* format, ...) __attribute__((format(printf, 2, 3)));
void snwMessage_SetFile(snwMessage* message, const char* file);
void snwMessage_Clear(snwMessage* message);
