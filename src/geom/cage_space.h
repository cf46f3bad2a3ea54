// The room of a flat cage: triangles that fill the cage and the body in it, whatever the body's own triangles are.
//
// The body's vertices, some given points and points along the cage's edges are vertices of it, and further ones fill it
// evenly. Inside the cage the triangles obey Delaunay's rule; where the body reaches outside, its own triangles are
// added.

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
    const snwVec3* points; // further vertices that are wanted, in the cage or the body
    int pointCount;
    double step; // m between vertices; larger if that makes too many
} snwCageSpaceDef;

typedef struct snwCageSpace
{
    snwVec3* vertices;
    int vertexCount;
    int* triangles; // three each
    int triangleCount;
    int* bodyVertices; // per vertex of the body: which it is here
    int bodyCount;     // they come first; fewer than the body has if some are at one place
    int* pointVertices;
} snwCageSpace;

// By even and odd: what an odd number of edges is right of.
bool snwIsInCage(const snwVec3 (*edges)[2], int edgeCount, double x, double y);

// In the arena. Cages without area and coordinates that are not finite are snw_errorInput.
snwResult snwFillCage(
    snwContext* context, const snwCageSpaceDef* def, snwArena* arena, snwCageSpace* space, snwMessage* message);
