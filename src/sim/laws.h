// Energy densities of the elastic laws, J/m^3, in double and one element at a time: what is measured, not what steps
// run.
//
// F is the deformation gradient, s_i its signed singular values, J = det F, I_C = |F|^2:
//
//     corotated    mu sum_i (s_i - 1)^2 + lambda/2 (sum_i s_i - 3)^2
//     Neo-Hookean  (lambda + mu)/2 (J - 1)^2 + mu ((I_C - 3)/2 - (J - 1)), the stable one of neo_hookean.h and
//                  pair.h less a constant, so that it is 0 at rest
//
// In a flat character F has the 1 of plane strain as its third stretch, in every law.

#pragma once

#include "math/vec.h"

#define SNW_SQUEEZED 0.2 // of the rest volume: what elements with less are

typedef struct snwLame
{
    double mu, lambda; // Pa
} snwLame;

// At nu = 0.5 lambda is infinite; measures stop short of it, at 0.4999.
snwLame snwMaterial_Lame(const snwMaterial* material);

// Signed, in descending order, from the eigenvalues of F^T F in closed form: no rotation, hence no history.
void snwSingularValues(snwMat3 f, double s[3]);

double snwDensity_Corotated(snwLame lame, snwMat3 f);
double snwDensity_NeoHookean(snwLame lame, snwMat3 f);

// beta (s) of the stress 2 mu beta D/h: the one that lets the slowest wave along a body of this size (m, > 0; its
// bounding box's diagonal) die at about the material's rate of damping: beta = 2 d / w^2, w = pi sqrt(E / rho) / size.
// Shorter waves die faster, as w^2.
double snwMaterial_DampingTime(const snwMaterial* material, double size);
