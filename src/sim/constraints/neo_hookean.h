// The compliant law: stable Neo-Hookean flesh with Young's modulus and Poisson's ratio, as XPBD with total multipliers
// (after Macklin, Mueller 2021, "A constraint-based formulation of stable Neo-Hookean materials", with true Lame
// parameters). The energy of a tet of volume V is
//
//     U = mu V |F|^2 / 2 + lambda' V (det F - gamma)^2 / 2,      lambda' = lambda + mu,   gamma = 1 + mu / lambda'
//
// In E and nu: 1 / lambda' = 2 (1 + nu)(1 - 2 nu) / E and gamma = 2 - 2 nu, both finite at nu = 0.5.
//
// Which constraints? The paper takes C_D = |F| and C_H = det F - gamma, one after the other. They pull against each
// other even at rest, so that creeps (a free bar grows by 1.5 %). Solving the two as one 2x2 block is still at rest,
// but resists shear only through the turning of C_D's gradient, which is explicit: measured, a free block at rest
// shakes itself apart as soon as w |B|^2 mu V h^2 > 1 (a 5 cm cell of 1 MPa at 1/480 s). Here all nine numbers of F are
// constraints, with compliance a_D = 1 / (mu V) each: that is the same energy, linear, and solved exactly. With C_H
// that is a block of ten, which falls apart into the 3x3 matrix W of the coordinates and one number. With G_ik the
// gradients of the shape functions, s_d the rows of cof F, F_d those of F, L_d and l the sums of the multipliers, and
// a~ = a / h^2:
//
//     W = sum_i w_i G_i G_i^T,    A = W + a~_D I
//     e_d = l s_d - Q_d,          v_d = W e_d
//     r_d = -(F_d + a~_D L_d + v_d),    q = -(C_H + a~_H l + sum_d s_d . v_d)
//     z_d = W A^-1 s_d,           t = (q - sum_d z_d . r_d) / (a~_H + a~_D sum_d s_d . z_d)
//     T_d = A^-1 r_d - z_d t,     dx_i,d = w_i G_i . (T_d + s_d t + e_d)
//     L_d += T_d,   l += t,   Q_d += s_d t + e_d
//
// Q is what C_H has pushed so far. The gradient s turns on the way, and plain XPBD keeps what it pushed along old ones:
// an error of first order here, because l is large even at rest. e takes it back, so the sweeps end in implicit Euler.
// Once the sweeps converge, stiffness depends neither on their number nor on the step.

#pragma once

#include "sim/constraints/blocks.h"

// Beside each block of tets: what follows from the rest pose.
typedef struct snwNeoRest
{
    float inverse[9][snw_blockLanes]; // of the matrix of rest edges, row by row, 1/m
    float volume[snw_blockLanes];     // m^3; 0: no tet
    int region[snw_blockLanes];
} snwNeoRest;

// And what changes: compliances and sums.
typedef struct snwNeoState
{
    float complianceD[snw_blockLanes], complianceH[snw_blockLanes]; // a~
    float gamma[snw_blockLanes];
    float sumD[9][snw_blockLanes];  // L, coordinate by coordinate
    float sumH[snw_blockLanes];     // l
    float pushH[9][snw_blockLanes]; // Q
} snwNeoState;

// The numbers of one tet for a rest pose that is not flat.
void snwNeoRest_Set(snwNeoRest* rest, int lane, const snwVec3 corners[4], double volume, int region);

// Those of all tets of a character.
void snwNeoRest_SetAll(snwNeoRest* rests, const snwBlocks* blocks, const snwCharacter* character);

// Compliances for a substep of h seconds.
void snwNeoState_SetMaterials(
    snwNeoState* states, const snwNeoRest* rests, int begin, int end, const snwMaterial* materials, double h);

// Sums at 0: a substep begins.
void snwNeoState_Clear(snwNeoState* states, int begin, int end);
