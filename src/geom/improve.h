// Moves vertices until no tet is too flat.

#pragma once

#include "base/context.h"
#include "geom/solid.h"

typedef struct snwImproveDef
{
    const snwSolid* solid;
    double level;         // m, vertices of the boundary stay where the distance has this value
    snwVec3* positions;   // are moved
    const bool* boundary; // by vertex
    int vertexCount;
    const int (*tets)[4];
    int tetCount;
} snwImproveDef;

// Only the vertices of tets with dihedral angles outside of 9 .. 164.9 degrees move.
snwResult snwImproveTets(snwContext* context, const snwImproveDef* def, snwMessage* message);
