// The surface of a solid as triangles, for the eye.

#pragma once

#include "base/arena.h"
#include "geom/solid.h"

typedef struct snwTriangleMesh
{
    snwVec3* vertices;
    int vertexCount;
    int (*triangles)[3]; // counter-clockwise from outside
    int triangleCount;
} snwTriangleMesh;

// A closed 2-manifold of triangles with edges of about `spacing` (m), down to a quarter of it on thin parts, whose
// vertices lie on the surface. Parts even thinner may be missing. The mesh is the arena's.
snwResult snwMeshSurface(snwContext* context, const snwSolid* solid, double spacing, snwArena* arena,
    snwTriangleMesh* mesh, snwMessage* message);

double snwTriangleMesh_Volume(const snwTriangleMesh* mesh); // m^3
double snwTriangleMesh_Area(const snwTriangleMesh* mesh);   // m^2
