// Prepared characters on disk: what a scene's {"file": PATH} names, and what films show of it.

#pragma once

#include "scene/fields.h"
#include "sim/prepared.h"

enum
{
    snw_maxPreparedBytes = 1 << 30
};

// {"file": PATH, "checksum": TEXT} in a scene.
typedef struct snwPreparedUse
{
    const char* file;
    const char* checksum;      // of the prepared file; NULL: any
    int fine;                  // as in snwBlueprintUse
    const json_t* constraints; // likewise
    const json_t* materials;   // likewise
} snwPreparedUse;

extern const snwTable snw_preparedUseTable;

snwResult snwPrepared_Open(snwContext* context, const char* path, snwPrepared** prepared, snwMessage* message);

// name as in snwPrepared_LoadAs. A relative path is beside the file that json reads. The source that the
// character gets names the file from the root on, so that logs and caches find it from anywhere.
snwResult snwPreparedUse_Open(snwJson* json, const char* name, const snwPreparedUse* use, snwPrepared** prepared);

// The prepared file that a character came from, by its source; *prepared is NULL if it came from none. The file must
// still be the same.
snwResult snwPrepared_OfCharacter(snwContext* context, const char* source, snwPrepared** prepared, snwMessage* message);
