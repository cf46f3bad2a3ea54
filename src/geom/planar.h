// A triangulation of the plane that is being worked on: half-edges on the exact grid.
//
// Half-edge 3 t + k is side k of triangle t, counter-clockwise; it runs from vertex[e] to vertex[next(e)]. Sides of the
// outline carry the number of their segment and are never flipped; all others obey Delaunay's rule after each call.
// The outline's own points come first; those that refinement adds follow.

#pragma once

#include "base/array.h"
#include "geom/predicates.h"

typedef struct snwPlanar
{
    snwContext* context;
    snwArray(snwGridPoint) points;
    snwArray(int) leaving; // per point: a half-edge that starts there, -1: none
    snwArray(int) home;    // per point: the segment it was put on, -1: none
    snwArray(int) vertex;  // per half-edge
    snwArray(int) twin;    // per half-edge: the same side seen from the other triangle, -1: none
    snwArray(int) segment; // per half-edge: number of the outline's segment, -1: none
    snwArray(int) stack;   // half-edges to be looked at by Legalise
    int last;              // triangle where the last search ended
    bool failed;           // no memory; further calls do nothing
} snwPlanar;

static inline int snwNextEdge(int e)
{
    return e % 3 == 2 ? e - 2 : e + 1;
}

static inline int snwPrevEdge(int e)
{
    return e % 3 == 0 ? e + 2 : e - 1;
}

// Where a point lies.
typedef enum snwPlace
{
    snw_placeInside, // of triangle edge / 3
    snw_placeEdge,   // on the half-edge
    snw_placeVertex, // on the start of the half-edge
    snw_placeBeyond, // behind the half-edge, which is a segment or the rim
} snwPlace;

// Two triangles that fill the square with corners at +-half; points 0..3 are its corners.
void snwPlanar_StartSquare(snwPlanar* planar, int32_t half);
void snwPlanar_Free(snwPlanar* planar);

static inline int snwPlanar_TriangleCount(const snwPlanar* planar)
{
    return planar->vertex.count / 3;
}

static inline snwGridPoint snwPlanar_Start(const snwPlanar* planar, int e)
{
    return planar->points.data[planar->vertex.data[e]];
}

// Walks from the triangle towards the point. With `stop`, segments are walls.
snwPlace snwPlanar_Locate(snwPlanar* planar, snwGridPoint point, int triangle, bool stop, int* edge);

// Adds a point to a triangle or to a half-edge where Locate found it, or to a half-edge that it lies near enough to
// that no triangle turns over (CanSplit). Returns its index, -1 without memory.
int snwPlanar_AddInside(snwPlanar* planar, snwGridPoint point, int triangle);
int snwPlanar_AddOnEdge(snwPlanar* planar, snwGridPoint point, int edge);
bool snwPlanar_CanSplit(const snwPlanar* planar, snwGridPoint point, int edge);

// The half-edge from a to b, -1 if there is none.
int snwPlanar_FindEdge(const snwPlanar* planar, int a, int b);

// The next half-edge around the start of e, counter-clockwise or clockwise; -1 at the rim.
static inline int snwPlanar_TurnLeft(const snwPlanar* planar, int e)
{
    return planar->twin.data[snwPrevEdge(e)];
}

static inline int snwPlanar_TurnRight(const snwPlanar* planar, int e)
{
    int twin = planar->twin.data[e];
    return twin < 0 ? -1 : snwNextEdge(twin);
}

// The rightmost half-edge that starts at the point: turning left from it meets all triangles of a point on the rim.
int snwPlanar_FirstEdge(const snwPlanar* planar, int point);

// Makes the segment from a to b an edge. False if something is in the way: *hitPoint is a point on it, or *hitSegment
// another segment across it; the other is -1.
bool snwPlanar_Force(snwPlanar* planar, int a, int b, int segment, int* hitPoint, int* hitSegment);

// Flips what Delaunay's rule forbids, all over.
void snwPlanar_LegalizeAll(snwPlanar* planar);

// Keeps the triangles with keep[t] and drops the first `drop` points.
void snwPlanar_Cut(snwPlanar* planar, const bool* keep, int drop);
