// From any surface to tets, by one of two meshers:
//
//   lattice  accepts whatever there is (geom/fill.h). The surface is not kept: it rides in the tets. Bones are
//            labels on whole elements.
//   tetgen   keeps the surface and the bones' surfaces as they are (conforming; Si 2015, and the way of the apd paper,
//            section 5). It wants them closed, manifold and crossing nothing. TetGen runs in the helper program
//            sinew-tetgen (an optional build) with limits of time and memory: if it crashes or hangs, that is an error
//            message.
//
// What `auto` picks is written at snwMakeTets.

#pragma once

#include "base/bytes.h"
#include "geom/fill.h"

typedef enum snwMesher
{
    snw_mesherAuto,
    snw_mesherLattice,
    snw_mesherTetgen,
    snw_mesherCount,
} snwMesher;

typedef struct snwMesherDef
{
    snwFaces faces;        // the flesh, m
    const snwFaces* inner; // the bones' surfaces, closed, inside of the flesh and apart from each other
    int innerCount;
    snwMesher mesher;
    bool conform;         // auto: the mesh should have the surface's own vertices and triangles
    bool coarse;          // auto, lattice: thin parts need not be as fine, for what is seen only rides in the mesh
    double weldTolerance; // m, vertices as near as this are one
    int tets, vertices;   // wanted, about; the first that is not 0 decides. Both 0: the spacing does
    double spacing; // m, edge of cells (lattice) or of tets (tetgen); 0 with no count either: 1/40 of the diagonal
    double seconds; // TetGen's limit
    int megabytes;  // likewise
} snwMesherDef;

typedef struct snwMeshed
{
    snwTetMesh mesh;
    int* regions;     // by tet: 0 flesh, 1 + i bone i
    snwMesher mesher; // that made it
    char why[160];    // why `auto` picked this one, or "" if it was asked for
    int*
        ownVertices; // tetgen: the vertex of the mesh of each of faces.vertices, -1 for those of no triangle; NULL else
    double megabytes;     // that TetGen held at most
    snwFillReport report; // of either; holes and thickening only of the lattice
} snwMeshed;

snwMesherDef snwDefaultMesherDef(void);       // auto, 60 s, 2048 megabytes
extern const char* const snw_mesherWords[];   // in the order of snwMesher; ends with NULL
const char* snwMesher_Name(snwMesher mesher); // "auto", "lattice", "tetgen": the words on the command line, too
bool snwMesher_Find(const char* name, snwMesher* mesher);
bool snwMesher_HasTetgen(void); // is sinew-tetgen here?

// Everything is the arena's. Errors say why there is no body; a warning says what of the quality could not be kept.
//
// `auto` with `conform`: TetGen, and the lattice if TetGen is not here, the surface is not fit for it or it fails.
// Without: the lattice, for its angles (measured on nine real surfaces: smallest dihedral angle 10 to 23 degrees,
// TetGen's 0.1 to 6); TetGen only where the lattice has to thicken thin parts, needs more than twice the wanted count
// or warns, and the surface is fit for it and its angles are above 2 degrees (a fish with thin fins: 16,500 tets
// instead of 41,800). meshed->why says what was decided. Without sinew-tetgen `auto` is the lattice.
snwResult snwMakeTets(
    snwContext* context, const snwMesherDef* def, snwArena* arena, snwMeshed* meshed, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// The files of the apd paper, section 5: the surfaces for a TetGen of one's own (.smesh, with a seed point in every
// region), the mesh with its regions (.mesh of MEDIT: flesh has label 1, bone i label 2 + i), and its bones (.joint).

// Surfaces as they are after mending; an error if TetGen would not take them.
snwResult snwMesher_WriteSmesh(snwContext* context, const snwMesherDef* def, snwWriter* out, snwMessage* message);
snwResult snwMeshed_WriteMedit(
    snwContext* context, const snwMeshed* meshed, int boneCount, snwWriter* out, snwMessage* message);
// Bones lie along the longest line of their surfaces. Joints are not known here: add lines, see docs/formats.md.
snwResult snwMeshed_WriteJoint(snwContext* context, const snwMesherDef* def, snwWriter* out, snwMessage* message);
