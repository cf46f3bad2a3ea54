// What of a character takes part in contact, in an order that keeps neighbours in space together: the vertices that
// are asked, the facets of its skin (triangles; of a flat character the edges of its outline) and the elements that
// fill it (tets, hexes as six tets each, or triangles).

#pragma once

#include "base/arena.h"
#include "geom/boxes.h"

enum
{
    snw_leafPoints = 16,
    snw_leafFacets = 8,
    snw_leafElements = 32
};

typedef struct snwShell
{
    const snwCharacter* character;
    const snwVec3* rest; // m, all mesh vertices
    int vertexCount;
    bool flat;
    int* points; // mesh vertices of the skin; all vertices where there is no skin
    int pointCount;
    int (*facets)[3]; // mesh vertices, seen from outside counter-clockwise; an edge of an outline has -1 as the third
    int facetCount;
    int (*elements)[4]; // mesh vertices; a triangle has -1 as the fourth
    int elementCount;
    int (*facetBlocks)[3][snw_leafFacets];     // facets of each leaf by corner, as kernels load them; edges and the
    int (*elementBlocks)[4][snw_leafElements]; // last leaf are filled up with what they have
    int* leafStarts;                           // of leafVertices, for each leaf of the elements and one more
    int* leafVertices;
    int* neighbourStarts; // along facets, for each mesh vertex and one more
    int* neighbours;
    double* reach; // m, for each mesh vertex: what is nearer than this in the rest pose is no contact with oneself
    double edge;   // m, mean length of the elements' edges at rest
} snwShell;

// Takes its memory from the arena, which remembers failure. `reach` is zero.
snwResult snwShell_Build(snwShell* shell, const snwCharacter* character, snwArena* arena, snwMessage* message);

static inline int snwLeafCount(int count, int perLeaf)
{
    return (count + perLeaf - 1) / perLeaf;
}
