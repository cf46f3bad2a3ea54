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
// constraints, with compliance a_D = 1 / (mu V) each: that is the same energy, linear, and solved exactly, together
// with C_H. Of their multipliers only the sum of what they push matters, P (a row P_d per coordinate): in it the forces
// that cancel each other at rest, huge in stiff flesh, cancel on paper, and
//
//     P = -(F - s) / a~_D - s (det F - 1) / a~_H,      s = cof F,   a~ = a / h^2,
//     a_H = 1 / (lambda' V) = (1 - 2 nu) a_D
//
// A visit finds the P' that obeys this with det F linearised about now and s turned against by as much as F moves,
// while F_d moves by W (P' - P)_d. (Left where it is, s makes a stretch of stiff flesh change its sign in every visit:
// a stretch e of F is one of -e of s. Linearised wholly, its bulk part is negative.) With G_ik the gradients of the
// shape functions and w the largest row sum of W, so not less than its largest eigenvalue:
//
//     W = sum_i w_i G_i G_i^T,    A = 2 w + a~_D,    r_d = -((F - s)_d + a~_D P_d)
//     q = (det F - 1 + sum_d s_d . W r_d / A) / (a~_H / a~_D + sum_d s_d . W s_d / A)
//     dP_d = (r_d - q s_d) / A,    dx_i,d = w_i G_i . dP_d
//
// A is a number, and that matters. With the matrix 2 W + a~_D in its place a visit does a little more, but r W^-1 is no
// stress: it turns the tet, and sweeps that end before they have taken that back feed energy to stiff flesh. Measured:
// a cow of 4 GPa, its tets' masses 1 : 170, in free fall went from rest to 100 m/s in half a second. With a number
// every P has P F^T symmetric as F - s and s have: a visit changes neither momentum nor angular momentum.
//
// What was pushed along gradients that have turned since is taken back by this: the sweeps end in implicit Euler.
// Once they converge, stiffness depends neither on their number nor on the step.
//
// Stiffness beyond 1e5 times the inertia of the tet (trace 2 W) is cut there: sweeps could not tell it from rigid.

#pragma once

#include "sim/constraints/blocks.h"

// Beside each block of tets: what follows from the rest pose.
typedef struct snwNeoRest
{
    float inverse[9][snw_blockLanes]; // of the matrix of rest edges, row by row, 1/m
    float volume[snw_blockLanes];     // m^3; 0: no tet
    int region[snw_blockLanes];
} snwNeoRest;

// And what changes.
typedef struct snwNeoState
{
    float compliance[snw_blockLanes]; // a~_D
    float bulk[snw_blockLanes];       // a_H / a_D = 1 - 2 nu
    float push[9][snw_blockLanes];    // P, coordinate by coordinate
} snwNeoState;

// The numbers of one tet for a rest pose that is not flat.
void snwNeoRest_Set(snwNeoRest* rest, int lane, const snwVec3 corners[4], double volume, int region);

// The same for all tets of a character.
void snwNeoRest_SetAll(snwNeoRest* rests, const snwBlocks* blocks, const snwCharacter* character);

// Compliances for a substep of h seconds.
void snwNeoState_SetMaterials(
    snwNeoState* states, const snwNeoRest* rests, int begin, int end, const snwMaterial* materials, double h);

// What sweeps that ended early have left of the law in the substep that ends, as parts of 1; some thousand tets are
// asked. L is the law's P for F as it is now.
typedef struct snwNeoEffect
{
    // How stiff flesh has been: P : P over P : L. P, which carries the loads, is less than what the law has for the
    // strain that is there, and a body behaves as if made of a softer material. P : P stands for what the loads would
    // cost in true flesh, P : L for what they do in this one. (A bar under its own weight at 0.3, 1, 3 and 10 MPa, ten
    // sweeps: 0.87, 0.58, 0.32, 0.14, where its sag says 0.90, 0.63, 0.33, 0.13.) 0: it is not strained enough to tell.
    double stiffness;

    // How much of the law's elastic energy flesh can give back: P : X over L : X, with X = (F - s + (det F - 1) s) / 2,
    // which is the strain that P does work on. For small strains energies are half of these products, and the part is
    // exact: the sum of all energies never rises in a drop, at any number of sweeps.
    double energy;
} snwNeoEffect;

snwNeoEffect snwNeoState_Effect(
    const snwNeoState* states, const snwNeoRest* rests, const snwBlocks* blocks, const float* rows);

// P at 0: a substep begins.
void snwNeoState_Clear(snwNeoState* states, int begin, int end);

// ---------------------------------------------------------------------------------------------------------------------
// Short substeps
//
// A visit adds to positions, which are float. Where a wave takes some hundred substeps to cross the body, what the law
// moves in one of them is less than the spacing of floats: pushes are lost, and what rounding moves instead becomes a
// speed, divided by h. (A bar of 1 m and 20 kPa in free flight, 256 substeps per frame: 140 J after a second that began
// with 111.) But P is known, and so is what it moves: w_i sum G_i . P. So positions serve to find P only, and
// velocities take what P, contacts, hands and the like have moved; the rest is rounding.
//
// Rejected: visits that add to moves beside positions, as pair.h has them: they load twice as many rows, in every
// sweep.
typedef struct snwNeoMoves
{
    bool on;          // in this substep
    float* rows;      // float4: positions after the law's last sweep; at the end what rounding moved, m
    float* elsewhere; // float4: how far all but the law has moved each vertex, m
} snwNeoMoves;

// Whether substeps of h seconds are that short.
bool snwNeoMoves_AreLost(const snwCharacter* character, const snwMaterial* materials, double h);

// Where they are lost: before the first sweep of a substep, around the law in each, and after the last. That fills
// `rows`; predicted: where positions began.
void snwNeoMoves_Begin(snwNeoMoves* moves, const float* positions, int count);
void snwNeoMoves_BeforeLaw(snwNeoMoves* moves, const float* positions, int count);
void snwNeoMoves_AfterLaw(snwNeoMoves* moves, const float* positions, int count);

typedef struct snwNeoLaw
{
    const snwBlocks* blocks;
    const snwNeoRest* rests;
    const snwNeoState* states;
} snwNeoLaw;

void snwNeoMoves_End(
    snwContext* context, snwNeoMoves* moves, const snwNeoLaw* law, const float* positions, const float* predicted);
