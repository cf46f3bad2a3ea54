// JSON by tables. One table of fields per kind of object drives reading with range checks, unknown keys, writing and
// the published schema, so the four can never disagree.
//
// Objects are plain structs. Texts and raw values point into the parsed document and live as long as it does.

#pragma once

#include "base/arena.h"
#include "scene/text.h"

#include <jansson.h>

typedef enum snwFieldType
{
    snw_fieldReal,     // double
    snw_fieldInt,      // int
    snw_fieldU64,      // uint64_t up to 2^63 - 1, the largest integer of JSON readers
    snw_fieldBool,     // bool
    snw_fieldText,     // const char*
    snw_fieldChoice,   // int or enum; JSON has one of `names`
    snw_fieldMask,     // uint32_t; JSON has a list of `names` or a number
    snw_fieldVec3,     // snwVec3
    snw_fieldInt3,     // int[3]
    snw_fieldRotation, // snwQuat; x y z w
    snw_fieldAngles,   // snwQuat; JSON has degrees about x, then y, then z of the world; never written
    snw_fieldColor,    // float[3], linear; JSON has linear numbers or "#rrggbb" (sRGB)
    snw_fieldObject,   // a struct with `table`
    snw_fieldRaw,      // const json_t*, NULL if absent: read by the caller; never written by tables
    snw_fieldWord,     // one of `names` that sets a part of the object; never written
    snw_fieldScale,    // a number that scales what the word before it has set; never written
} snwFieldType;

typedef struct snwTable snwTable;

// What a word does to the part of an object that begins at its field's offset: a material by name. In a table without
// variants it may stand instead of the whole object; in an object, other keys change what it has set.
typedef struct snwWords
{
    size_t size; // of the part
    void (*set)(void* part, int index);
    void (*scale)(void* part, double value);
} snwWords;

typedef struct snwField
{
    const char* key;
    snwFieldType type;
    size_t offset;       // two fields with one offset say the same thing: only one may be given
    double lower, upper; // of every component; both 0: no limits. Of a text: upper is its length, 0 that of a name
    const char* unit;    // NULL: none
    const char* help;
    bool required;
    bool quiet;               // a number that is not written while it is 0
    uint32_t kinds;           // bit per variant that has the field; 0: all. A key may occur again for other variants
    const char* const* names; // of choices and masks, NULL-terminated
    const snwTable* table;    // of objects; for raw fields only a hint for the schema
    const snwWords* words;    // of words and their scale
    const char* schema;       // of raw fields: "list" or "object" of `table`, or "$defs" names; see scene_schema.c
} snwField;

struct snwTable
{
    const char* title; // "collider"; also its name in the schema
    const char* help;
    const snwField* fields;
    int count;
    size_t size;                          // of the struct
    const char* variant;                  // key of the choice that decides which fields belong; NULL: none
    void (*init)(void* object, int kind); // fills in the defaults that are not zero; NULL: there are none
};

#define SNW_TABLE_FIELDS(fields) (fields), (int)(sizeof(fields) / sizeof *(fields))

// Where the reader is, and whom it tells.
typedef struct snwJson
{
    snwContext* context;        // NULL: warnings are not logged
    snwMessage* message;        // NULL allowed
    const char* file;           // "" if none
    const struct snwWall* wall; // which files may be named; NULL: any
    int warnings;
    char path[128]; // "bodies[1].character"
} snwJson;

// Parses text; duplicate keys, deep nesting and broken syntax are errors with line and column. NULL if it failed.
json_t* snwJson_Parse(snwJson* json, const char* text, size_t size, snwResult* result);

// Fails at the current path. remedy may be NULL.
snwResult snwJson_Fail(snwJson* json, const char* remedy, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void snwJson_Warn(snwJson* json, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Adds the file, and the path in front of the place, to an error that the engine reported.
snwResult snwJson_Locate(snwJson* json, snwResult result);

// Where a file is that the document names, PATH_MAX bytes: beside the document unless it begins at the root. Fails at
// the current path if the wall keeps it out.
snwResult snwJson_FindFile(snwJson* json, const char* file, char* path);

// path += ".key" or "[index]"; Leave cuts back to what Enter returned.
size_t snwJson_Enter(snwJson* json, const char* key);
size_t snwJson_EnterIndex(snwJson* json, size_t index);
void snwJson_Leave(snwJson* json, size_t mark);

// Room in the arena for the items of a list of at most `limit`, size bytes each; NULL for an absent or empty list, or
// after a failure, which *result tells.
void* snwJson_NewList(
    snwJson* json, snwArena* arena, const char* key, const json_t* list, int limit, size_t size, snwResult* result);

const char* snwJson_TypeName(const json_t* value); // "a number", "a list" ...
snwResult snwJson_ReadReal(snwJson* json, const json_t* value, double lower, double upper, double* out);
snwResult snwJson_ReadChoice(snwJson* json, const json_t* value, const char* const* names, int* out);

// Sets the defaults, then reads every key. *seen (NULL allowed) gets a bit per field that was given.
snwResult snwTable_Read(snwJson* json, const snwTable* table, const json_t* value, void* object, uint64_t* seen);
bool snwTable_Saw(const snwTable* table, uint64_t seen, const char* key);

// Writes the keys that belong to the object's variant, defaults included (but for quiet ones); the braces are the
// caller's.
void snwTable_Write(snwText* text, const snwTable* table, const void* object);
void snwField_Write(snwText* text, const snwField* field, const void* object);
bool snwField_IsSilent(const snwField* field, const void* object); // a quiet one that is 0, or a word
bool snwField_Belongs(const snwField* field, int kind);
const snwField* snwTable_Variant(const snwTable* table); // NULL: none
int snwTable_Kind(const snwTable* table, const void* object);
