// Outlines -> triangles.
//
//   constrained Delaunay triangulation -> refinement until no angle is small and no edge long -> smoothing
//
// An outline is a set of closed rings that neither touch nor cross: outer ones, holes in them, islands in holes. Their
// direction does not matter. Points are rounded to a grid (predicates.h), which moves them by at most 8e-9 of the size.

#pragma once

#include "base/arena.h"

typedef struct snwRing
{
    const double (*points)[2]; // m; the last one is joined to the first
    const bool* corners;       // per point: kept by snwFitTriangles; NULL: none is
    const int* names;          // per point: its number in messages; NULL: its place here
    int count;
    bool hole;
} snwRing;

static inline int snwRing_Name(const snwRing* ring, int point)
{
    return ring->names != NULL ? ring->names[point] : point;
}

typedef struct snwOutline
{
    const snwRing* rings;
    int ringCount;
} snwOutline;

typedef struct snwFlatMesh
{
    double (*vertices)[2]; // snwTriangulate: those of the outline first, in its order
    int vertexCount;
    int (*triangles)[3]; // counter-clockwise
    int triangleCount;
    int (*edges)[2]; // of the outline, with the inside on their left
    int edgeCount;
    int sharpCount; // triangles that stay below the wanted angle, because the outline itself is sharper there
} snwFlatMesh;

typedef struct snwTriangulateDef
{
    double minAngle; // degrees, 0..30; 0: no refinement. Guaranteed up to 26, beyond it mostly works
    double maxEdge;  // m; 0: any
    int smoothing;   // passes
    int maxVertices; // more is an error: the outline has too fine a detail or maxEdge is too small
} snwTriangulateDef;

snwTriangulateDef snwDefaultTriangulateDef(void);

// Places in the message are "outline[1].points[7]": ring 1, point 7. The mesh is in the arena.
snwResult snwTriangulate(snwContext* context, const snwOutline* outline, const snwTriangulateDef* def, snwArena* arena,
    snwFlatMesh* mesh, snwMessage* message);

typedef struct snwFlatFitDef
{
    int vertices, triangles; // wanted
    double minAngle;         // degrees
} snwFlatFitDef;

snwFlatFitDef snwDefaultFlatFitDef(void);

// Even triangles, about as many as wanted: the rings are walked at even steps, corners kept, and the inside is filled
// at even distances. Euler's formula decides how many of the vertices lie on the rings. rings[].points should be dense.
// Vertices are sorted along a curve that fills the plane, so that a hundred in a row lie close together.
snwResult snwFitTriangles(snwContext* context, const snwOutline* outline, const snwFlatFitDef* def, snwArena* arena,
    snwFlatMesh* mesh, snwMessage* message);

typedef struct snwFlatQuality
{
    double minAngle, maxAngle;  // degrees
    double shortEdge, longEdge; // m
    double area;                // m^2
    int inverted;               // triangles without positive area
} snwFlatQuality;

snwFlatQuality snwFlatMesh_Measure(const snwFlatMesh* mesh);
