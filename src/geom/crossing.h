// Which triangles of a surface cross or touch others that are not their neighbours.

#pragma once

#include "base/context.h"

typedef struct snwCrossingDef
{
    const snwVec3* vertices; // welded: triangles that share a corner share its vertex
    int vertexCount;
    const int (*triangles)[3];
    int triangleCount;
} snwCrossingDef;

typedef struct snwCrossings
{
    int triangleCount;  // that cross or touch others
    int64_t pairCount;  // of them; no triangle counts more than snw_maxCrossingsEach
    int uncheckedCount; // triangles with too many near them to look at all
} snwCrossings;

enum
{
    snw_maxCrossingsEach = 16,   // further ones of a triangle are not looked for
    snw_maxNeighboursEach = 8192 // boxes of triangles that one triangle is tried against
};

// marks: one per triangle, 1 if it crosses another. Corners are rounded to a grid of 2^-30 of the size, and exact from
// there on: what is nearer than that touches. Triangles without area are left out. Same result for any threads.
snwResult snwFindCrossings(
    snwContext* context, const snwCrossingDef* def, uint8_t* marks, snwCrossings* crossings, snwMessage* message);

// Do two triangles meet elsewhere than in corners or sides they share? For tests and callers with pairs of their own;
// grid points as above.
typedef struct snwGridPoint3
{
    int64_t x, y, z; // at most 2^30 in size
} snwGridPoint3;

bool snwTrianglesCross(
    const snwGridPoint3 a[3], const int aVertices[3], const snwGridPoint3 b[3], const int bVertices[3]);
