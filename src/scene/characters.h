// Character objects of scene files. Each form ("shape", later others) is one row: the key that tells it apart, the
// table of its keys, and the function that makes it.

#pragma once

#include "scene/tables.h"

typedef struct snwCharacterForm
{
    const snwTable* table;
    const char* key; // present in objects of this form and in no other
    // data: the struct of the table. *tets is what may still be made and shrinks by what was.
    snwResult (*create)(snwJson* json, const char* name, void* data, int64_t* tets, snwCharacter** character);
} snwCharacterForm;

extern const snwCharacterForm snw_characterForms[];
extern const int snw_characterFormCount;

// character NULL: only checks the object.
snwResult snwCharacter_ReadJson(
    snwJson* json, const char* name, const json_t* value, int64_t* tets, snwCharacter** character);

// Bodies may take so many tetrahedra of this memory (GiB; <= 0: the default), their bytes estimated.
int64_t snwCharacter_TetsOfMemory(double memory);
// An error that says what so many would take.
snwResult snwCharacter_FailTooLarge(snwJson* json, int64_t tets);

// The object as it was read. Fails for characters that no scene file made.
snwResult snwCharacter_WriteJson(snwText* text, const snwCharacter* character, snwMessage* message);
