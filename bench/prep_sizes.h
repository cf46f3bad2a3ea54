// The sizes at which the papers use their characters, and what each must have.

#pragma once

#include "sim/blueprint.h"

typedef struct snwPrepCase
{
    const char* name;             // of the row
    const char* character;        // a built-in one
    const char* source;           // whose number it is
    snwBlueprintSize size;        // asked for; nothing: the character's own
    int bones, joints, freedom;   // -1: any
    int paperTets, paperVertices; // that the paper prints without our promising them; 0: none
    const char* why;              // not promised
} snwPrepCase;

extern const snwPrepCase snw_prepCases[];
extern const int snw_prepCaseCount;
