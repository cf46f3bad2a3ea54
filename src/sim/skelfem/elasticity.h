// What corotated flesh holds and how it pulls, in double: the energy that a time step minimises, and its exact
// gradient.
//
//     W(x) = sum over tetrahedra  V (mu |S - I|^2 + lambda/2 tr^2(S - I)),     F = R S
//     dW/dF = V R (2 mu (S - I) + lambda tr(S - I) I)
//
// R comes from the shared batched kernel in float, good to 1e-7. S - I is taken as the symmetric part of R^T F - I: an
// error d of R then changes it by d times the strain, not by d. So nothing is left of a rigid motion but rounding of
// doubles, and forces have seven digits at any strain.
//
// Material damping is that of Green's strain E = (F^T F - I) / 2 against what it was when the step began,
//     D(x) = sum  V beta r / 2 (2 mu |E - E_0|^2 + lambda tr^2(E - E_0)) / max(1, tr C_0 / 3),   r: 1/s, by the rule
// which is smooth, knows no rotation, and with small strains is Rayleigh's damping beta K. (C_0 = F_0^T F_0: without
// the divisor it would grow as the square of a stretch.)
//
// The law has a force for any volume but no wall at none, so a load can press tetrahedra inside out and keep them
// there. Below a fifth of its volume, J = det F < J_0 = SNW_SQUEEZED, a tetrahedron therefore meets a stop of modulus
// k,
//     V k/2 (J_0 - J)^2,     and inside out, J < 0, goes on with the same pressure:     V k J_0 (J_0/2 - J)
// Its pull leads back through J = 0, and at J_0 there is nothing left of it. J is a polynomial, so unlike a wall for
// the least singular value this one has no kinks where two of them are equal.
//
// Flesh that comes to be inside out all the same (a hand put it there) is knotted: to come loose, tetrahedra around it
// have to pass through themselves. So those that share a vertex with a knotted one have no stop, until it has opened
// beyond half of its volume. The law alone leads all of them back.

#pragma once

#include "base/arena.h"
#include "base/context.h"
#include "math/rotation.h"
#include "sim/skelfem/corotated.h"

typedef struct snwElasticityDef
{
    int vertexCount;
    const snwVec3* rest;
    int tetCount;
    const int* tets; // [4 tetCount], of positive volume
} snwElasticityDef;

// What a tetrahedron is made of.
typedef struct snwTetMaterial
{
    double mu, lambda; // Pa
    double beta;       // s: of the damping
    double stop;       // Pa: k, 0: it has none
} snwTetMaterial;

typedef struct snwElasticity snwElasticity;

// Everything is in the arena; NULL: it failed.
snwElasticity* snwElasticity_Create(snwContext* context, snwArena* arena, const snwElasticityDef* def);

// How many blocks of rotations it has; where they are kept is the caller's to say, since they are state.
int snwElasticity_BlockCount(const snwElasticity* elasticity);
void snwElasticity_SetMaterial(snwElasticity* elasticity, int tet, snwTetMaterial material);

// A step begins at these positions. rate, 1/s: velocity is rate times (x - somewhere); 0: no damping in this step.
void snwElasticity_Begin(snwElasticity* elasticity, const snwVec3* positions, double rate);

// The knots of a step that begins at these positions: which tetrahedra are knotted, [tetCount], kept by the caller,
// since they are state. NULL: none is.
void snwElasticity_FindKnots(snwElasticity* elasticity, const snwVec3* positions, unsigned char* knots);

typedef struct snwElasticityEnergy
{
    double elastic, damping; // J
} snwElasticityEnergy;

// Rotations (from the last ones), energy, and what each tetrahedron pulls at its corners.
snwElasticityEnergy snwElasticity_Evaluate(
    snwElasticity* elasticity, const snwVec3* positions, snwQuatBlock* rotations);

// The stops that hold tetrahedra at these positions, which have to be those of the last Evaluate, for the matrix: they
// live until it is asked again. What bends of J's surfaces is left out, since it may be of either sign.
int snwElasticity_FindStops(snwElasticity* elasticity, const snwVec3* positions, const snwTetStop** stops);

// dW/dx + dD/dx of the last Evaluate, added to gradient.
void snwElasticity_AddGradient(snwElasticity* elasticity, snwVec3* gradient);
