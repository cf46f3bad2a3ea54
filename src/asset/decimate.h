// Fewer triangles for the same shape.
//
//   quadric  libmeshoptimizer: edges collapse on to one of their ends by the error of distances to planes; fast,
//            and the vertices that stay are the artist's own.
//   angle    the pbcd thesis, equation 4.1: the edge with the least angle between its two triangles and length
//            collapses on to its middle. Slower; kept because the thesis made its meshes so.

#pragma once

#include "geom/mend.h"

typedef enum snwDecimation
{
    snw_decimateQuadric,
    snw_decimateAngle,
} snwDecimation;

typedef struct snwDecimateDef
{
    snwFaces faces; // welded: triangles that share a corner share its vertex
    snwDecimation kind;
    int triangles;      // wanted, >= 4
    double maxError;    // quadric: share of the size that the surface may move, 0..1
    double angleWeight; // angle: s_1 of equation 4.1, for radians
    double edgeWeight;  // angle: s_2, for lengths as a share of the size
} snwDecimateDef;

typedef struct snwDecimated
{
    snwVec3* vertices;
    int vertexCount;
    int (*triangles)[3];
    int triangleCount;
    int* map;     // the new vertex of each given one; -1: it is gone (quadric does not say where to), or of no triangle
    double error; // quadric: share of the size; angle: 0
} snwDecimated;

snwDecimateDef snwDefaultDecimateDef(void); // quadric, maxError 0.02, weights 1 and 30 (measured on a lumpy ball:
                                            // with less of the length the surface folds and cuts itself)

// Everything is the arena's. More triangles than wanted stay where fewer would tear the surface, turn a triangle over
// or move it farther than maxError.
snwResult snwDecimateSurface(
    snwContext* context, const snwDecimateDef* def, snwArena* arena, snwDecimated* result, snwMessage* message);
