// What the stages of triangulation share.

#pragma once

#include "geom/planar.h"
#include "geom/triangulate.h"

// From metres to the grid and back; both ways exact for points on the grid.
typedef struct snwGrid
{
    double step;             // m, a power of two
    double originX, originY; // whole multiples of step
} snwGrid;

typedef struct snwFlatWork
{
    snwContext* context;
    snwMessage* message;
    const snwOutline* outline;
    snwGrid grid;
    snwPlanar planar;
    int inputCount; // points of all rings = number of segments; segment i starts at point i
    int* ringOf;    // per segment
    int* firstOf;   // per ring: its first point
    int sharpCount; // of the last refinement
} snwFlatWork;

// Constrained Delaunay triangulation of the outline's inside. Free also after a failure.
snwResult snwFlatWork_Create(snwFlatWork* work, snwContext* context, const snwOutline* outline, snwMessage* message);
void snwFlatWork_Free(snwFlatWork* work);

static inline int snwFlatWork_SegmentEnd(const snwFlatWork* work, int segment)
{
    int ring = work->ringOf[segment], first = work->firstOf[ring];
    return segment + 1 < first + work->outline->rings[ring].count ? segment + 1 : first;
}

snwGridPoint snwGrid_Round(const snwGrid* grid, const double point[2]);

// Adds points until no angle is below minAngle and no edge above maxEdge (refine.c).
snwResult snwFlatWork_Refine(snwFlatWork* work, const snwTriangulateDef* def);

// Moves inner points. Careful passes never worsen the smallest angle; the others only keep triangles from turning over
// (relax.c).
snwResult snwFlatWork_Relax(snwFlatWork* work, int passes, bool careful);

snwResult snwFlatWork_Finish(snwFlatWork* work, snwArena* arena, snwFlatMesh* mesh);

// Sine of the smallest angle, from exact areas and lengths; <= 0 if the triangle has turned over.
double snwGridMinSine(snwGridPoint a, snwGridPoint b, snwGridPoint c);
