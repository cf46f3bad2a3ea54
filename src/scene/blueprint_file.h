// Blueprint files: characters/NAME.json, in memory.

#pragma once

#include "scene/fields.h"
#include "sim/blueprint.h"

enum
{
    snw_maxBlueprintBytes = 4 << 20,
    snw_maxParts = 4096, // also bones, joints, handles, motions and points of a list
};

// A blueprint with the memory and the document it lives in.
typedef struct snwBlueprintFile
{
    snwArena arena;
    json_t* document; // NULL: another's
    snwBlueprint blueprint;
} snwBlueprintFile;

// file: for messages. Free after success and failure alike.
snwResult snwBlueprintFile_Read(snwContext* context, const char* file, const char* text, size_t size,
    snwBlueprintFile* blueprint, snwMessage* message);
// From a value in a larger document, which must live as long; json says where it is.
snwResult snwBlueprintFile_FromJson(snwJson* json, const json_t* value, snwBlueprintFile* blueprint);
// name: a built-in character, or a path that ends in .json.
snwResult snwBlueprintFile_Open(
    snwContext* context, const char* name, snwBlueprintFile* blueprint, snwMessage* message);
// The blueprint that a character was made from, by its source; false if there is none.
bool snwBlueprintFile_OfCharacter(snwContext* context, const char* source, snwBlueprintFile* blueprint);
// Whether the file looks like a blueprint rather than a scene.
bool snwBlueprintFile_IsOne(snwContext* context, const char* path);
void snwBlueprintFile_Free(snwBlueprintFile* blueprint);

extern const snwTable snw_blueprintTable, snw_blueprintSizeTable;

// {"blueprint": NAME or object, "size": ..., "material": ...} in a scene.
typedef struct snwBlueprintUse
{
    const json_t* blueprint;
    snwBlueprintSize size;
    const json_t* material;
    const json_t* constraints;
    const json_t* materials; // of regions; NULL: none is other
    int fine; // times as many triangles for what is shown of a flat character; 0: those that are simulated
} snwBlueprintUse;

extern const snwTable snw_blueprintUseTable;
