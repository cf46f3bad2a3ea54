// Bounded biharmonic weights (Jacobson et al. 2011) on tets, hexes and triangles: of all weights that are as given
// where handles hold vertices, nowhere negative and sum to one, the smoothest, in the sense of sum_k w_k^T L M^-1 L
// w_k.

#pragma once

#include "rig/handles.h"

typedef struct snwBiharmonicDef
{
    const snwHandleMesh* mesh;
    double tolerance; // of a weight
    int iterations;   // at most
    int influences;   // per vertex at most; 0: any number
    double rho;       // penalty to start with, > 0; the solver adapts it
} snwBiharmonicDef;

snwBiharmonicDef snwDefaultBiharmonicDef(void);

// How it went; for notes, tests and benchmarks.
typedef struct snwBiharmonicReport
{
    int iterations, factors;
    double primal, dual; // last residuals: how far a weight is from its bounded copy, how far that moved
    bool converged;
    int unreachedVertexCount; // in parts of the mesh without a handle: they follow the handle closest to their part
} snwBiharmonicReport;

// Errors: no handles, no elements, no memory, or a matrix that cannot be factored. Not converged is no error: bounds,
// unity and handles hold even so. report may be NULL.
snwResult snwSolveBiharmonic(snwContext* context, const snwBiharmonicDef* def, snwWeights** weights,
    snwBiharmonicReport* report, snwMessage* message);

// By distance alone, for any mesh and in no time: shares of the nearest handles (`influences`, four if 0) fall with the
// fourth power of the distance and reach zero where the next handle becomes nearer, so that they are continuous. Owned
// vertices follow their owner.
snwResult snwSolveClosest(
    snwContext* context, const snwHandleMesh* mesh, int influences, snwWeights** weights, snwMessage* message);
