// Checks that scenes and characters share.

#pragma once

#include "base/result.h"

snwResult snwCheckTransform(snwTransform transform, snwMessage* message);

// At least one key, times strictly rising from 0 or later to `latest` or earlier.
snwResult snwCheckKeys(const snwKey* keys, int count, double latest, snwMessage* message);

// Commands, logs and tools find things by name: no two are alike, and unless there may be none (`optional`) everything
// has one. The name is the first member of each definition.
snwResult snwCheckNames(snwContext* context, const void* first, size_t stride, int count, const char* what,
    bool optional, snwMessage* message);
