// A lattice cut along a solid's surface: where edges cross it, and which lattice vertices moved on to it because they
// were so near that the tets between would be flat (Labelle and Shewchuk 2007, sections 2 and 3).

#pragma once

#include "geom/lattice.h"

typedef struct snwCutEdge
{
    int inside, outside; // lattice vertices; the cut exists while both are off the surface
    double t;            // place of the cut, from 0 at `inside` to 1
} snwCutEdge;

typedef struct snwCut
{
    snwLattice lattice;
    snwVec3* positions; // of the lattice vertices; those on the surface have moved
    signed char* signs; // -1 inside, 0 on the surface, 1 outside
    snwCutEdge* edges;  // sorted by `inside`
    int* firstEdge;     // by lattice vertex, and one more
    int edgeCount;
} snwCut;

// The boundary of the tets' inside part is a closed 2-manifold whatever the solid: a vertex moves only if that keeps it
// one. Where it may not, the cuts next to it keep a distance instead, a little off the surface.
snwResult snwCut_Create(snwContext* context, const snwLatticeDef* def, snwCut* cut, snwMessage* message);
void snwCut_Free(snwContext* context, snwCut* cut);

// The corners of a tet that are inside, outside and on the surface.
void snwCut_SortCorners(
    const snwCut* cut, const int tet[4], int in[4], int* inCount, int out[4], int* outCount, int on[4], int* onCount);

// Vertices of the cut mesh: lattice vertices first, then one for each edge.
int snwCut_EdgeVertex(const snwCut* cut, int inside, int outside);
snwVec3 snwCut_Position(const snwCut* cut, int vertex);

// Twice the vertex' place in the lattice as if nothing had moved and all cuts were in the middle, for exact signs.
void snwCut_IdealPlace(const snwCut* cut, int vertex, int64_t place[3]);
