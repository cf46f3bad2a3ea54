// What follows from the elements alone: volumes, edges, boundary.

#pragma once

#include "base/context.h"
#include "math/vec.h"

// Signed volume; positive if d lies on the side of a, b, c that the right-hand rule points to.
static inline double snwTet_Volume(snwVec3 a, snwVec3 b, snwVec3 c, snwVec3 d)
{
    snwVec3 u = snwVec3_Sub(b, a), v = snwVec3_Sub(c, a), w = snwVec3_Sub(d, a);
    return snwVec3_Dot(u, snwVec3_Cross(v, w)) / 6.0;
}

enum
{
    snw_hexPoints = 8 // Gauss points of a hex
};

// Derivative of the trilinear map from the unit cube to the hex, column k along axis k, at Gauss point number `point`.
// A hex's corners are in VTK's order.
snwMat3 snwHex_Jacobian(const snwVec3 corners[8], int point);

// Exact signed volume of the trilinear hex: its Jacobian is quadratic along each axis, and two Gauss points integrate
// cubics.
double snwHex_Volume(const snwVec3 corners[8]);

// Elements of one kind.
typedef struct snwElements
{
    const int* corners; // `arity` for each
    int arity;          // 3: triangles, 4: tets, 8: hexes
    int count;
} snwElements;

static inline const int* snwElements_Corners(snwElements elements, int index)
{
    return elements.corners + (size_t)index * (size_t)elements.arity;
}

// The edges of the elements and the extra ones, each once, lower vertex first, sorted. Freed with snwFree.
snwResult snwMesh_FindEdges(
    snwContext* context, snwElements elements, const int (*extra)[2], int extraCount, int (**edges)[2], int* edgeCount);

// Faces that belong to one tet only, seen from outside counter-clockwise, in the order of the tets.
snwResult snwMesh_FindBoundary(
    snwContext* context, const int (*tets)[4], int tetCount, int (**triangles)[3], int* triangleCount);

// Likewise of hexes: every quad is cut in two from its lowest vertex. Of triangles: all of them.
snwResult snwMesh_FindSkin(snwContext* context, snwElements elements, int (**triangles)[3], int* triangleCount);
