// Checks that scenes and characters share.

#pragma once

#include "base/result.h"

snwResult snwCheckTransform(snwTransform transform, snwMessage* message);

// At least one key, times strictly rising from 0 or later to `latest` or earlier.
snwResult snwCheckKeys(const snwKey* keys, int count, double latest, snwMessage* message);

// Commands, logs and tools find things by name: there must be one, and no two alike. The name is the first member of
// each definition.
snwResult snwCheckNames(
    snwContext* context, const void* first, size_t stride, int count, const char* what, snwMessage* message);
