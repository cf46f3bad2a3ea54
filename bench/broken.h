// Surfaces that are deliberately broken, of any number of triangles: what artists, scanners and converters leave
// behind. Benchmarks and tests share them.

#pragma once

#include "sinew/sinew.h"

typedef struct snwBroken
{
    snwVec3* vertices;
    int vertexCount, vertexCapacity;
    int (*triangles)[3];
    int triangleCount, triangleCapacity;
    bool failed; // no memory
} snwBroken;

typedef struct snwBrokenKind
{
    const char* name;  // NULL ends the table
    const char* about; // what is wrong with it
    void (*make)(snwBroken* broken, int triangles);
    bool sound; // nothing is wrong once the surface is mended: TetGen must take it, too
} snwBrokenKind;

extern const snwBrokenKind snw_brokenKinds[];

bool snwBroken_Make(const snwBrokenKind* kind, int triangles, snwBroken* broken); // about so many; false: no memory
void snwBroken_Free(snwBroken* broken);
