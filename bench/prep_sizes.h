// The sizes at which the papers use their characters, and what each must have.

#pragma once

#include "sim/blueprint.h"

typedef struct snwPrepCase
{
    const char* name;           // of the row
    const char* character;      // a built-in one
    const char* source;         // whose number it is
    snwBlueprintSize size;      // asked for; nothing: the character's own
    int bones, joints, freedom; // -1: any
} snwPrepCase;

extern const snwPrepCase snw_prepCases[];
extern const int snw_prepCaseCount;
