// Hexahedra for the inside of a solid: equal cubes.

#pragma once

#include "base/arena.h"
#include "geom/solid.h"

enum
{
    snw_maxVoxels = 4000000
};

typedef struct snwHexMesh
{
    snwVec3* vertices;
    int vertexCount;
    int (*hexes)[8]; // corner k is at the upper end in x if k & 1, in y if k & 2, in z if k & 4
    int hexCount;
    double spacing; // m, edge of the cubes
} snwHexMesh;

// Cubes with their centre inside; where the solid is thinner than a cube, those that it passes through. The boundary is
// a closed 2-manifold, and pieces hang together by faces; small pieces are dropped. The mesh is the arena's.
snwResult snwVoxelizeSolid(
    snwContext* context, const snwSolid* solid, double spacing, snwArena* arena, snwHexMesh* mesh, snwMessage* message);

// With the spacing for which the number of cubes is nearest to `hexes`; a warning if that is off by more than 5 %.
snwResult snwFitVoxels(
    snwContext* context, const snwSolid* solid, int hexes, snwArena* arena, snwHexMesh* mesh, snwMessage* message);
