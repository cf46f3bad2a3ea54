// Which vertices of a mesh a handle holds, and how far things are from it.

#pragma once

#include "geom/mesh.h"

// What a handle is in the rest pose.
typedef struct snwHandleShape
{
    snwHandleKind kind;
    snwVec3 head, tail; // m; tail of bones only
} snwHandleShape;

// A mesh and its handles.
typedef struct snwHandleMesh
{
    const snwVec3* vertices;
    int vertexCount;
    int fleshCount; // points and bones hold only the first so many vertices, corners of cages any; 0: all are flesh
    snwElements elements; // flat triangles lie in z = 0
    const snwHandleShape* handles;
    int handleCount;
    const int* owners;         // the handle that holds each vertex, -1: none; NULL: all -1
    const int (*cageEdges)[2]; // pairs of handles
    int cageEdgeCount;
} snwHandleMesh;

// m, to the point or the segment.
double snwHandleShape_Distance(const snwHandleShape* shape, snwVec3 point);

// m, 0 without elements.
double snwHandleMesh_MeanEdge(const snwHandleMesh* mesh);

// Given weights: rows of vertices with fixed[vertex], handleCount numbers each that sum to one.
typedef struct snwHeldVertices
{
    bool* fixed;
    double* values; // vertexCount x handleCount; zeros where nothing is fixed
} snwHeldVertices;

// In this order, what is held stays held:
//   - owned vertices belong to their owner, and a handle that owns some holds no others;
//   - a point, the corner of a cage or a bone without length holds the vertex next to it, or all that are equally near.
//     Handles go by their distance to the mesh, so of two at one place each gets vertices of its own, while there are
//     some; a handle outside the mesh holds what is nearest;
//   - a bone holds, for every edge length along it, the vertex nearest to it within three quarters of an edge, but none
//     that is as near to another bone; if that leaves nothing, it is treated as a point at its middle;
//   - along a cage's edge, drawn between the vertices that its ends hold, vertices within half an edge get weights that
//     are linear between the two ends.
// Memory is freed with snwHeldVertices_Free.
snwResult snwHoldVertices(snwContext* context, const snwHandleMesh* mesh, snwHeldVertices* held, snwMessage* message);
void snwHeldVertices_Free(snwContext* context, snwHeldVertices* held);
