// Tets for the inside of a solid: Labelle and Shewchuk, "Isosurface Stuffing: Fast Tetrahedral Meshes with Good
// Dihedral Angles" (2007).

#pragma once

#include "geom/shapes.h"
#include "geom/solid.h"

typedef struct snwStuffDef
{
    const snwSolid* solid;
    double spacing;    // m, edge of the lattice's cells at the surface
    double detail;     // m, spacing / 8 .. spacing: cells shrink down to this where the solid is thinner than two cells
    bool coarseInside; // cells may be twice and four times as large away from the surface
    snwVec3 shift;     // of the lattice, in cells, -1 .. 1; 0: symmetric about the middle of the solid's bounds
    double volume;     // m^3, of the solid if it is known (snwSolid_Volume); 0: it is measured
    bool asItIs;       // the surface stays where the distance is 0; else it moves a little to get the volume right
} snwStuffDef;

snwStuffDef snwDefaultStuffDef(const snwSolid* solid, double spacing);

// Dihedral angles are between 8 and 165 degrees, the boundary is a closed 2-manifold, the volume is that of the solid
// within 2 %. Vertices and tets are in an order that is local in space. The mesh is the arena's. A warning says what
// could not be kept.
snwResult snwStuffSolid(
    snwContext* context, const snwStuffDef* def, snwArena* arena, snwTetMesh* mesh, snwMessage* message);
