// Meshes of simple bodies.

#pragma once

#include "base/arena.h"
#include "math/vec.h"

typedef struct snwTetMesh
{
    snwVec3* vertices;
    int vertexCount;
    int (*tets)[4];
    int tetCount;
} snwTetMesh;

// A box of cells, centred on the origin, each cell cut into six tets around its diagonal (Kuhn 1960).
bool snwMakeBoxMesh(snwArena* arena, snwVec3 size, const int cells[3], snwTetMesh* mesh);

// A ball of 8 n^3 tets, centred on the origin.
bool snwMakeBallMesh(snwArena* arena, double radius, int n, snwTetMesh* mesh);
