// Points that ride in a mesh: the artist's fine surface on the coarse body that is simulated.
//
// Linear interpolation in tets bends only at their faces, which a shiny skin shows at once. Here half of it is replaced
// by what the vertices' own gradients say (Phong deformation, James 2020), each the mean over the tets around a vertex:
//
//   x(X) = sum_k w_k x_k + sum_k w_k F_k ((X - Xc) + (Xc - X_k) / 2),   F_k = sum_j x_j g_kj^T
//
// Inside of a tet Xc is X and w its barycentric coordinates. A point outside hangs at the nearest point Xc of the
// boundary and follows the gradient there: it is carried and turned, not extrapolated from a sliver. Affine motion is
// reproduced exactly, and points at the same place get the same bits, so seams do not open.

#pragma once

#include "base/arena.h"
#include "geom/mesh.h"

typedef struct snwEmbeddingDef
{
    const snwVec3* vertices; // m, at rest
    int vertexCount;
    snwElements elements;  // tets, hexes (taken as six tets each) or triangles of a flat character
    const snwVec3* points; // m, at rest; finite
    int pointCount;
    // For a mesh whose elements lie in each other in places: points are looked for in the tets of `whole`, and choose
    // replaces the corners of a place there by those of an element. NULL: points are looked for in the elements.
    snwElements whole;
    void (*choose)(const void* user, int point, const double weights[4], int corners[4]);
    const void* user;
} snwEmbeddingDef;

typedef struct snwEmbedding
{
    int pointCount;
    int (*corners)[4]; // of gradients: numbers in `vertices`
    float (*weights)[4];
    float (*arms)[4][3]; // m, w_k ((X - Xc) + (Xc - X_k) / 2); NULL: flat, interpolated linearly
    int* vertices;       // of the mesh, those that carry points
    int vertexCount;
    int* starts;           // neighbours of each of them: starts[i] .. starts[i + 1]
    int* neighbours;       // vertices of the mesh
    float (*gradients)[3]; // 1/m, g_kj
    int outsideCount;      // points that are in no element
    double maxOutside;     // m, the farthest of them
} snwEmbedding;

// Everything comes from the arena.
snwResult snwEmbedPoints(snwArena* arena, const snwEmbeddingDef* def, snwEmbedding* embedding, snwMessage* message);

// Floats that Evaluate needs for itself.
size_t snwEmbedding_ScratchSize(const snwEmbedding* embedding);

typedef struct snwEmbeddingMove
{
    const float* positions; // of all mesh vertices, x y z
    int stride;             // bytes from one to the next
    float* scratch;
    float* points; // out: x y z, tight
} snwEmbeddingMove;

// Same bits for any number of threads; no heap.
void snwEmbedding_Evaluate(snwContext* context, const snwEmbedding* embedding, const snwEmbeddingMove* move);
