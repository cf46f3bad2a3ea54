// Finds the spacing for which a mesh has the wanted size, and the bones' offset for which it has the wanted number of
// elastic vertices.

#pragma once

#include "geom/label.h"

typedef struct snwFitDef
{
    const snwSolid* solid;
    int tets, vertices, skinVertices; // wanted; 0: whatever. The first that is not 0 decides on the spacing
    int elasticVertices;              // wanted, with or without one of those; 0: whatever, the bones as they are
    double detailRatio;               // smallest cells / cells at the surface, 1/8 .. 1
    bool coarseInside;                // larger cells inside; tried both ways if the elastic vertices need it
    int extraTets, extraVertices, extraSkinVertices, extraElasticVertices; // meshed elsewhere, but counted
} snwFitDef;

typedef struct snwFit
{
    snwTetMesh mesh;
    snwBoneLabels labels;
    double spacing, offset; // m
    bool coarseInside;
    int skinVertexCount; // of the mesh
    int meshings;        // it took
} snwFit;

snwFitDef snwDefaultFitDef(const snwSolid* solid);

// Tets, vertices or skin vertices within 5 % and elastic vertices within 10 % of what is wanted; else the nearest
// found, and a warning with the numbers. The fit is the arena's.
snwResult snwFitMesh(snwContext* context, const snwFitDef* def, snwArena* arena, snwFit* fit, snwMessage* message);
