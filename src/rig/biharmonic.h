// Bounded biharmonic weights (Jacobson et al. 2011) on tets and flat triangles: of all weights that are one on their
// own handle, zero on the others, nowhere negative and sum to one, the smoothest, in the sense of sum_k w_k^T L M^-1 L
// w_k. And weights by distance alone, for meshes without elements.

#pragma once

#include "geom/mesh.h"

// What a handle holds in the rest pose.
typedef struct snwHandleShape
{
    snwHandleKind kind;
    snwVec3 head, tail; // m; tail of bones only
} snwHandleShape;

typedef struct snwWeightsProblem
{
    const snwVec3* vertices;
    int vertexCount;
    snwElements elements; // flat triangles lie in z = 0
    const snwHandleShape* handles;
    int handleCount;
    const int* owners; // the handle that holds each vertex, -1: none; NULL: all -1
    const int (*cageEdges)[2];
    int cageEdgeCount;
    double tolerance;
    int influences;
} snwWeightsProblem;

// How it went; for notes, tests and benchmarks.
typedef struct snwWeightsReport
{
    int iterations, factors;
    double primal, dual; // last residuals: how far a weight is from its bounded copy, how far that moved
    bool converged;
    int unreachedVertexCount; // in parts of the mesh without a handle: they follow the handle closest to their part
} snwWeightsReport;

// Errors: no handles, no elements, no memory, or a matrix that cannot be factored. Not converged is no error: bounds,
// unity and handles hold even so.
snwResult snwSolveBiharmonicWeights(snwContext* context, const snwWeightsProblem* problem, snwWeights** weights,
    snwWeightsReport* report, snwMessage* message);

// Inverse fourth power of the distance to each handle, of the nearest ones (four if `influences` is 0).
snwResult snwSolveClosestWeights(
    snwContext* context, const snwWeightsProblem* problem, snwWeights** weights, snwMessage* message);

// Which vertices handles hold: rows of fixed[vertex] are given in `values` (handleCount each, zeros elsewhere).
typedef struct snwHeldVertices
{
    bool* fixed;
    double* values; // vertexCount x handleCount
} snwHeldVertices;

snwResult snwHoldVertices(
    snwContext* context, const snwWeightsProblem* problem, snwHeldVertices* held, snwMessage* message);
