// Tets for the inside of any surface: open, crossing itself, inside out in parts, of many shells, with doubled faces,
// T-junctions and slivers, up to millions of triangles. The surface is mended (geom/mend.h), its inside told by the
// generalised winding number, and stuffed like the built-in characters (geom/stuffing.h). The surface is not kept: it
// rides in the tets (geom/embedding.h).
//
// What is thinner than the smallest cells is thickened until it holds elements, and the report says how much.

#pragma once

#include "geom/mend.h"
#include "geom/quality.h"

typedef struct snwFillDef
{
    snwFaces faces; // the flesh
    const snwFaces*
        inner; // bones: closed surfaces, at best inside of the flesh; a tet is bone i if it is inside of inner[i]
    int innerCount;
    double weldTolerance; // m, see snwMendDef
    int tets, vertices;   // wanted, about; the first that is not 0 decides. Both 0: the spacing does
    double spacing;       // m, edge of the cells at the surface; 0 with no count either: 1/40 of the diagonal
    double finest;      // smallest cells / cells at the surface, 1/8 .. 1: how far thin parts and the volume refine it
    double volumeError; // share of the closed volume that is good enough, > 0
} snwFillDef;

typedef struct snwFillReport
{
    // the surface
    int flatTriangles, doubleTriangles, turnedTriangles; // left out, left out, turned over
    int hiddenTriangles;                                 // inside of the body, where shells overlap
    int crossingTriangles;                               // that meet others; all the same
    int shellCount;                                      // of the surface
    snwHole* holes;                                      // closed, the longest rim first; the arena's
    int holeCount;
    int droppedShells;    // of which nothing is in the mesh: closed ones smaller than a cell, or nothing is inside
    int droppedTriangles; // theirs
    int thickTriangles;   // of parts thinner than the smallest cells, which were thickened
    double thickened;     // m, by so much on either side
    bool closed;          // no hole, no doubt: `surfaceVolume` is the triangles' own
    // the mesh
    double surfaceVolume;   // m^3, of the closed surface before thickening
    double volume;          // m^3, of the tets
    double volumeError;     // |volume / surfaceVolume - 1|
    double lostArea;        // share of the surface that lies farther than 3/4 of a cell outside of the mesh
    double spacing, detail; // m, edges of the cells at the surface and of the smallest
    int meshings;           // it took
    snwMeshQuality quality;
} snwFillReport;

typedef struct snwFilling
{
    snwTetMesh mesh;
    int* regions; // by tet: 0 flesh, 1 + i bone i
    snwFillReport report;
} snwFilling;

snwFillDef snwDefaultFillDef(void); // finest 1/8, volumeError 0.02

// Same bits for any number of threads. The filling is the arena's. No tet is inverted and dihedral angles are 8..165
// degrees; a warning says what could not be kept of that, of the volume or of the wanted count. An error if there is
// nothing inside.
snwResult snwFillSurface(
    snwContext* context, const snwFillDef* def, snwArena* arena, snwFilling* filling, snwMessage* message);
