// A JSON document that can be changed: what jansson read, copied into memory of the context, with every key in its
// place and every number with its value. Documents of others pass through here and gain what we add.
//
// Failing is sticky: without memory, functions that make something return NULL, those that take NULL do nothing, and
// the arena says `failed` at the end. So a document is put together in plain lines.

#pragma once

#include "base/arena.h"
#include "scene/text.h"

#include <jansson.h>

enum
{
    snw_maxTreeDepth = 256 // of a document that is taken in
};

typedef enum snwValueKind
{
    snw_valueNull,
    snw_valueBool,
    snw_valueInt,
    snw_valueReal,
    snw_valueText,
    snw_valueList,
    snw_valueObject,
} snwValueKind;

typedef struct snwValue
{
    snwValueKind kind;
    int count, capacity; // of items
    const char* key;     // of a member of an object
    union
    {
        bool yes;
        int64_t integer;
        double real;
        const char* text;
        struct snwValue** items; // of a list or an object, in order
    };
} snwValue;

typedef struct snwTree
{
    snwArena arena;
    snwValue* pool; // single values come from here
    int poolLeft;
} snwTree;

snwTree snwCreateTree(snwContext* context);
void snwTree_Free(snwTree* tree);

// Keys and texts are not copied: the source must live as long as the tree. NULL without memory (arena.failed), or if
// it is deeper than snw_maxTreeDepth.
snwValue* snwTree_Import(snwTree* tree, const json_t* source);

snwValue* snwTree_NewBool(snwTree* tree, bool value);
snwValue* snwTree_NewInt(snwTree* tree, int64_t value);
snwValue* snwTree_NewReal(snwTree* tree, double value);      // finite; an integral one reads back as an integer
snwValue* snwTree_NewText(snwTree* tree, const char* value); // copied
snwValue* snwTree_NewList(snwTree* tree);
snwValue* snwTree_NewObject(snwTree* tree);

// Replaces the member in its place, or adds one at the end. key must outlive the tree: a literal.
void snwTree_Set(snwTree* tree, snwValue* object, const char* key, snwValue* value);
void snwTree_Append(snwTree* tree, snwValue* list, snwValue* value);
void snwTree_Remove(snwValue* object, const char* key);

void snwTree_SetInt(snwTree* tree, snwValue* object, const char* key, int64_t value);
void snwTree_SetReal(snwTree* tree, snwValue* object, const char* key, double value);
void snwTree_SetText(snwTree* tree, snwValue* object, const char* key, const char* value);
void snwTree_AppendInt(snwTree* tree, snwValue* list, int64_t value);
void snwTree_AppendReal(snwTree* tree, snwValue* list, double value);

// The member, made if it is missing; NULL if it is there and of another kind.
snwValue* snwTree_List(snwTree* tree, snwValue* object, const char* key);
snwValue* snwTree_Object(snwTree* tree, snwValue* object, const char* key);

// Looking, which is never wrong: NULL and the wrong kind have no members, no items and no value.
snwValue* snwValue_Get(const snwValue* object, const char* key);
snwValue* snwValue_At(const snwValue* list, int64_t index);
snwValue* snwValue_GetAt(const snwValue* object, const char* key, int64_t index); // item of the list `key`
int snwValue_Count(const snwValue* container);
int64_t snwValue_Int(const snwValue* value, int64_t otherwise); // of an integral real, too
int64_t snwValue_GetInt(const snwValue* object, const char* key, int64_t otherwise);
double snwValue_Real(const snwValue* value, double otherwise);
const char* snwValue_Text(const snwValue* value, const char* otherwise);

// As the text's layout says. Reals keep a point or an exponent, so they stay reals for whoever reads them.
void snwValue_Write(const snwValue* value, snwText* text);
