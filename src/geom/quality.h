// How good a mesh of tets is.

#pragma once

#include "geom/shapes.h"

typedef struct snwMeshQuality
{
    double minDihedral, maxDihedral;  // degrees; 180 and 0 without tets
    double volume;                    // m^3
    double shortestEdge, longestEdge; // m
    int inverted;                     // tets whose volume is not positive
    int tetCount;
} snwMeshQuality;

snwMeshQuality snwTetMesh_Quality(const snwTetMesh* mesh);

// The same over the tets that belong to no bone.
snwMeshQuality snwTetMesh_FleshQuality(const snwTetMesh* mesh, const int* tetBones);

// The cosines of the six dihedral angles: the smallest and the largest. 1 and -1 if the tet is flat.
void snwTet_DihedralCosines(const snwVec3 p[4], double* smallest, double* largest);
