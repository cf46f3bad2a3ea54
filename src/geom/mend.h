// A surface as artists make it becomes one whose inside can be asked for: vertices at one place are one, triangles
// without area and doubles are gone, and patches and shells that face the wrong way are turned.
//
// Holes stay, and so does what crosses: the winding number knows the inside all the same (geom/winding.h).

#pragma once

#include "base/arena.h"
#include "geom/survey.h"

// Triangles that belong to somebody else.
typedef struct snwFaces
{
    const snwVec3* vertices; // m, finite
    int vertexCount;
    const int (*triangles)[3]; // counter-clockwise from outside, as far as the artist cared
    int triangleCount;
} snwFaces;

typedef struct snwMendDef
{
    snwFaces faces;
    double weldTolerance; // m, >= 0: vertices as near as this are one. 0: only those at the very same place
} snwMendDef;

typedef struct snwMend
{
    snwVec3* vertices; // of the welded ones
    int vertexCount;
    int* map;            // the welded vertex of each given one
    int (*triangles)[3]; // what is left, all facing outwards as far as can be told
    int* sources;        // the given triangle of each
    int triangleCount;
    snwSurvey before;           // of the welded surface as it was given; crossings are looked for
    snwSurvey after;            // of `triangles`; crossings are not looked for again
    int flatCount, doubleCount; // triangles left out
    int turnedCount;            // triangles turned over, those of whole shells counted
    bool sound;                 // `after` bounds a body and crosses nothing: its volume is exact
} snwMend;

snwMendDef snwDefaultMendDef(void); // weldTolerance 0

// Leaves out the triangles whose flag is 0, and looks at the rest again.
snwResult snwMend_Keep(snwArena* arena, snwMend* mend, const uint8_t* flags, snwMessage* message);

// Everything is the arena's. An error if no triangle is left, a vertex is not finite, or a corner names no vertex.
snwResult snwMendSurface(snwArena* arena, const snwMendDef* def, snwMend* mend, snwMessage* message);
