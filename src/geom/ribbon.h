// Bands swept along a curve, too thin for a lattice: silks, straps, tails of cloth.

#pragma once

#include "geom/flesh.h"
#include "geom/shapes.h"

typedef struct snwRibbon
{
    const char* name;
    snwFleshPoint* points; // of the curve along its middle
    int pointCount;
    snwVec3 across;          // direction of its width where it begins; kept at right angles to the curve
    double width, thickness; // m
    double twist;            // rad, from its beginning to its end
    int cells[3];            // along, across, through; six tets each
    const int* holders;      // bones that hold what is within `grip` of them
    int holderCount;
    double grip; // m
    float color[3];
    snwMaterial material; // density 0: that of the character
} snwRibbon;

int64_t snwRibbon_TetCount(const snwRibbon* ribbon);

// Cells of the band, cut like those of a box. False: no memory.
bool snwRibbon_Mesh(const snwRibbon* ribbon, snwArena* arena, snwTetMesh* mesh);
