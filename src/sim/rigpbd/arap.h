// ARAP: as-rigid-as-possible deformation (Sorkine and Alexa 2007) with the energy of rims.h, on flat triangles or tets.
//
// What a user of handles would have without any rig: vertices at the given handles go where they are told, and all
// others to where the energy is least. There is no time in it, no mass and no inertia: the shape follows at once.
//
// Local step: the rotation of every vertex. Global step: positions, by one Laplacian that is factored once for a set of
// fixed vertices; a coordinate may be fixed where another is free, so each has its own factor (shared where the sets
// agree). Another set is another factor of the same pattern: no heap. Neither step can raise the energy.
//
// What nothing fixes stays where it is: of every connected part, in every coordinate in which nothing of it is fixed,
// one vertex is held.
//
//   snwRimsDef def = {n, rest, elements};
//   snwArap* arap;  snwArap_Create(context, &def, &arap, message);
//   snwArap_Solve(arap, &(snwArapGiven){.fixed = fixed}, 15, x, &report, message);        // again and again

#pragma once

#include "sim/rigpbd/rims.h"

typedef struct snwArap snwArap;

enum
{
    snw_fixedX = 1,
    snw_fixedY = 2,
    snw_fixedZ = 4,
    snw_fixedTurn = 8, // the rotation is given: of the vertex in ARAP, of the handle in FAST
};

typedef struct snwArapGiven
{
    const unsigned char* fixed; // per vertex, snw_fixed...: what of x stays as it comes in
    const snwMat3* turns;       // per vertex, read where snw_fixedTurn; NULL without any
} snwArapGiven;

// What a solve of ARAP or of FAST says of itself.
typedef struct snwRimsReport
{
    double start;  // energy of what came in, with its best rotations
    double energy; // of what came out; ARAP: with the rotations of the last iteration, so rather too high
    bool factored; // the set of fixed ones was not that of the call before
} snwRimsReport;

snwResult snwArap_Create(snwContext* context, const snwRimsDef* def, snwArap** out, snwMessage* message);
void snwArap_Destroy(snwArap* arap); // NULL allowed

// x[vertexCount], m: in a guess (the last shape) with the fixed ones at their places, out the shape after so many
// iterations. Depends on x alone, not on calls before.
snwResult snwArap_Solve(
    snwArap* arap, const snwArapGiven* given, int iterations, snwVec3* x, snwRimsReport* report, snwMessage* message);

// The rotations of the vertices, after a Solve.
const snwMat3* snwArap_Turns(const snwArap* arap);
