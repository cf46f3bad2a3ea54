// A mesh of tetrahedra or hexahedra cut open: whole cells on one side of a plane, and what their faces look like.

#pragma once

#include "base/arena.h"
#include "view/picture.h"

typedef struct snwCutawayDef
{
    const snwVec3* vertices; // m
    int vertexCount;
    const int (*tets)[4];
    int tetCount;
    const int (*hexes)[8]; // bottom and top ring: 0 1 2 3, and 4 5 6 7 above them
    int hexCount;
    const int* bones;     // of each tet and then of each hex, the bone that owns it or -1 for flesh; NULL: all flesh
    snwVec3 planePoint;   // m
    snwVec3 planeNormal;  // cells with their centre on the side that this points to are taken away; 0: none
    const float* colors;  // linear r g b per vertex, for faces that are skin; NULL: skinColor
    snwFloat3 skinColor;  // linear
    snwFloat3 fleshColor; // of faces that the cut lays bare
    snwFloat3 boneColor;
} snwCutawayDef;

snwCutawayDef snwDefaultCutawayDef(void);

typedef struct snwCutaway
{
    snwMeshLook look;   // ready to be added to a picture: flat, with lines along the sides of the cells
    const int* sources; // of each vertex of the look, the vertex of the mesh
    int keptCount;      // cells
    int skinCount;      // triangles that were skin; they come first
    int bareCount;      // triangles that the cut laid bare
} snwCutaway;

// Everything in the result lives in the arena.
snwResult snwMakeCutaway(
    snwContext* context, snwArena* arena, const snwCutawayDef* def, snwCutaway* cut, snwMessage* message);
