// Energies of one edge and one tet of the implicit step, with exact derivatives; see implicit_energy.c.

#pragma once

#include "math/vec.h"

enum
{
    snw_tetHessianCount = 78,  // lower triangle of 12 x 12, by rows
    snw_edgeHessianCount = 21, // of 6 x 6
};

typedef struct snwImplicitEdge
{
    double length;    // m, at rest
    double stiffness; // N/m
} snwImplicitEdge;

double snwImplicitEdge_Energy(const snwImplicitEdge* edge, const snwVec3 x[2]);    // J
snwVec3 snwImplicitEdge_Gradient(const snwImplicitEdge* edge, const snwVec3 x[2]); // N, of x[0]; x[1]: negative
snwMat3 snwImplicitEdge_Hessian(const snwImplicitEdge* edge, const snwVec3 x[2], bool semidefinite); // N/m, of x[0]

// A tet whose energy is V times a density of F = sum of x_a gradients_a^T, which is
//   shear/2 (|F|^2 - 3) - slope (det F - rest) + bulk/2 (det F - rest)^2      without `strain`
//   (e - e0)^T strain (e - e0) / 2, e = the Green strains, e0 = strainRest     with it
typedef struct snwImplicitTet
{
    snwVec3 gradients[4];      // 1/m, of the shape functions
    double volume;             // V, m^3
    double shear, slope, bulk; // Pa
    double rest;               // det F at rest
    const double (*strain)[6]; // Pa, or NULL
    const double* strainRest;  // [6], or NULL: none
} snwImplicitTet;

snwImplicitTet snwImplicitTet_Volume(double rest, double stiffness); // rest = six times the volume: F is Ds, V is 1
snwImplicitTet snwImplicitTet_Neo(snwMat3 inverse, double volume, double mu, double lambda);
snwImplicitTet snwImplicitTet_Strain(snwMat3 inverse, double volume, const double stiffness[6][6]);

double snwImplicitTet_Energy(const snwImplicitTet* tet, const snwVec3 x[4]);                 // J
double snwImplicitTet_Gradient(const snwImplicitTet* tet, const snwVec3 x[4], snwVec3 g[4]); // N; returns the energy
void snwImplicitTet_Hessian(
    const snwImplicitTet* tet, const snwVec3 x[4], bool semidefinite, double lower[snw_tetHessianCount]); // N/m
