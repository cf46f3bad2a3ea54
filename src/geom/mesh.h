// What follows from the tetrahedra alone: volumes, edges, boundary.

#pragma once

#include "base/context.h"
#include "math/vec.h"

// Signed volume; positive if d lies on the side of a, b, c that the right-hand rule points to.
static inline double snwTet_Volume(snwVec3 a, snwVec3 b, snwVec3 c, snwVec3 d)
{
    snwVec3 u = snwVec3_Sub(b, a), v = snwVec3_Sub(c, a), w = snwVec3_Sub(d, a);
    return snwVec3_Dot(u, snwVec3_Cross(v, w)) / 6.0;
}

// The edges of the tets and the extra ones, each once, lower vertex first, sorted. Freed with snwFree.
snwResult snwMesh_FindEdges(snwContext* context, const int (*tets)[4], int tetCount, const int (*extra)[2],
    int extraCount, int (**edges)[2], int* edgeCount);

// Faces that belong to one tet only, seen from outside counter-clockwise, in the order of the tets.
snwResult snwMesh_FindBoundary(
    snwContext* context, const int (*tets)[4], int tetCount, int (**triangles)[3], int* triangleCount);
