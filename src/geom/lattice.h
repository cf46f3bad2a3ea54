// The background that meshers cut: an octree of cubes around a solid whose leaves carry the tetrahedra of the
// body-centred cubic lattice, graded as in Labelle and Shewchuk, "Isosurface Stuffing" (2007), section 3.
//
// Cells that the solid's distance proves to be free of its surface are not refined, so that the distance is asked
// only where it matters, and at each lattice point once.

#pragma once

#include "base/array.h"
#include "geom/solid.h"

enum
{
    snw_maxMeshTets = 20000000
};

typedef struct snwLatticeDef
{
    const snwSolid* solid;
    double spacing;    // m, edge of the cells at the surface
    double detail;     // m, edge of the smallest cells, where the solid is thin; spacing: none
    double level;      // m, the surface is where the distance has this value
    snwVec3 shift;     // of the lattice against the solid, in cells; none: symmetric about the middle of its bounds
    bool coarseInside; // cells grow twofold and fourfold away from the surface
    bool surfaceOnly;  // tets at the surface only
} snwLatticeDef;

// A point in units of half the smallest cell.
typedef struct snwLatticePoint
{
    int at[3];
} snwLatticePoint;

typedef struct snwLattice
{
    snwVec3 origin;
    double unit;             // m
    snwLatticePoint* points; // those of the tets and some more
    double* values;          // distance - level
    int pointCount;
    int (*tets)[4]; // of positive volume
    int tetCount;
} snwLattice;

// Tets of which a part may be inside, in an order that is local in space.
snwResult snwLattice_Create(snwContext* context, const snwLatticeDef* def, snwLattice* lattice, snwMessage* message);
void snwLattice_Free(snwContext* context, snwLattice* lattice);

static inline snwVec3 snwLattice_Position(const snwLattice* lattice, int point)
{
    const int* at = lattice->points[point].at;
    return snwVec3_MulAdd(lattice->origin, lattice->unit, (snwVec3){at[0], at[1], at[2]});
}

// Six times the volume of a tet, in units: exact.
static inline int64_t snwLattice_Volume(const int64_t a[3], const int64_t b[3], const int64_t c[3], const int64_t d[3])
{
    int64_t u[3], v[3], w[3];
    for (int k = 0; k < 3; ++k)
        u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

snwResult snwFailDistance(snwMessage* message, snwVec3 point); // the distance at point is not a number
