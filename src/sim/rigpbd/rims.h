// Spokes and rims (Chao, Pinkall, Sanan, Schroeder 2010): the energy that ARAP and FAST lower.
//
// Every vertex k has a rotation R_k that all elements around it want to share:
//     E = sum_k  1/c  sum_{t around k}  V_t |F_t - R_k|^2,      c = 3 corners of a triangle or 4 of a tet,
// with F_t the deformation gradient. Chao et al. write it with edges and cotangents: over one triangle
// sum_e cot_e / 2 |e' - R e|^2 = area |F - R|^2, so spokes (edges at k) and rims (edges opposite to k) together are
// the elements around k, in the plane as in space.
//
// With the rotations fixed, E is a quadratic of the positions, the same for each coordinate:
//     E = sum_t V_t (|F_t|^2 - 2 <F_t, Rm_t> + d),      Rm_t = mean of R_k over the corners,   d = 2 or 3
// whose matrix is the Laplacian with cotangent weights, whatever the rotations are.
//
// Units: V is m^2 in the plane and m^3 in space; E has them, too: there is no stiffness, as nothing but E counts.

#pragma once

#include "base/arena.h"
#include "geom/mesh.h"

typedef struct snwRims
{
    int dimension; // 2: flat, z = 0 and rotations about z; 3
    int vertexCount;
    snwElements elements;
    double* gradients; // [element][corner][dimension]: of the shape functions at rest, 1/m
    double* volumes;   // V
    double volume;     // their sum
    int* starts;       // [vertexCount + 1]
    int* slots;        // of vertex k: from starts[k], element * arity + corner of every element around it
} snwRims;

typedef struct snwRimsDef
{
    int vertexCount;
    const snwVec3* rest;  // m
    snwElements elements; // triangles (in z = 0) or tets, positive volumes; must live as long as what is made of them
} snwRimsDef;

// Memory is the arena's: ask it whether it failed.
void snwRims_Create(snwArena* arena, const snwRimsDef* def, snwRims* rims);

static inline const double* snwRims_Gradient(const snwRims* rims, int element, int corner)
{
    size_t slot = (size_t)element * (size_t)rims->elements.arity + (size_t)corner;
    return rims->gradients + slot * (size_t)rims->dimension;
}

// F, and what V_t / c F_t around a vertex sum to. The row and the column of z are zero in the plane.
snwMat3 snwRims_Deformation(const snwRims* rims, int element, const snwVec3* x);
snwMat3 snwRims_AroundVertex(const snwRims* rims, const snwMat3* deformations, int vertex);

// ---------------------------------------------------------------------------------------------------------------------
// The nearest rotations to many matrices: closed form and double in the plane; rotation kernels in space, float

typedef struct snwTurns
{
    int dimension, count;
    const struct snwRotationKernels* kernels; // math/rotation.h
    struct snwMat3Block* matrices;
    struct snwQuatBlock* guesses; // of the call before
    struct snwMat3Block* results;
} snwTurns;

void snwTurns_Create(snwArena* arena, int dimension, int count, snwTurns* turns);

// Forgets the guesses: what comes next depends on the matrices alone.
void snwTurns_Forget(snwTurns* turns);

// rotations[count], the ones that maximise tr(R^T S); of a matrix without any direction: the identity, or the guess.
void snwTurns_Find(snwTurns* turns, snwContext* context, const snwMat3* sums, snwMat3* rotations);
