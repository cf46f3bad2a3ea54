// The room of a flat cage: triangles that fill the cage and the body in it, whatever the body's own triangles are.
//
// The body's vertices and points along the cage's edges are vertices of it, and further ones fill it evenly. Inside the
// cage the triangles obey Delaunay's rule, so that what is harmonic on them has no new extremes; where the body reaches
// outside, its own triangles are added.

#pragma once

#include "base/arena.h"
#include "geom/mesh.h"

typedef struct snwCageSpaceDef
{
    const snwVec3* vertices; // of the body, in z = 0
    int vertexCount;
    snwElements triangles;         // of the body
    const snwVec3 (*cageEdges)[2]; // of closed polygons, in any order
    int cageEdgeCount;
    double step; // m between vertices; larger if that makes too many
} snwCageSpaceDef;

// A vertex of the room on an edge of the cage.
typedef struct snwCagePlace
{
    int vertex, edge;
    double share; // of the way from the edge's first end to its second
} snwCagePlace;

typedef struct snwCageSpace
{
    snwVec3* vertices;
    int vertexCount;
    int* triangles; // three each
    int triangleCount;
    int* bodyVertices;    // per vertex of the body: which it is here
    snwCagePlace* places; // with corners twice, at the end of one edge and the start of another
    int placeCount;
} snwCageSpace;

// Even and odd: what an odd number of edges is right of.
bool snwIsInCage(const snwVec3 (*edges)[2], int edgeCount, double x, double y);

// In the arena. Cages without area and coordinates that are not finite are snw_errorInput.
snwResult snwFillCage(
    snwContext* context, const snwCageSpaceDef* def, snwArena* arena, snwCageSpace* space, snwMessage* message);
