// Stable Neo-Hookean flesh as two constraints per element, solved together: a 2x2 block (rigpbd, Appendix A, after
// Macklin, Mueller 2021). For tets, and for triangles of a flat character (plane strain). The energy of an element of
// volume V in D dimensions is
//
//     U = mu V (|F|^2 - D) / 2 + lambda' V (det F - gamma)^2 / 2,     lambda' = lambda + mu,   gamma = 1 + mu / lambda'
//
// In two dimensions as in three that is mu |e|^2 + lambda (tr e)^2 / 2 for a small strain e: with lambda alone, as
// printed in the paper, it is not. In E and nu: mu / lambda' = 1 - 2 nu, finite at nu = 0.5. XPBD sees the constraints
// C_D = |F| and C_H = det F - gamma with compliances a = n / (mu V h^2) and a b, b = 1 - 2 nu. Solved one after the
// other they pull against each other even at rest and creep (+1.5 % of length). As a block they are still, and what
// cancels at rest cancels on paper here. With H = cof F, N = F - H (zero for every rotation), W = sum_i w_i G_i G_i^T,
// G_i the gradients of the shape functions, A : W B = tr(A W B^T), and multipliers that start at 0:
//
//     (F : W F + a |F|^2) p +  (F : W H) q       = F : W N                 the multipliers are (p - 1) |F| / a of C_D
//      (F : W H) p          + (H : W H + a b) q  = H : W N - a (det F - 1)                 and (1 + q) / a of C_H
//     P = (-N + p F + q H) / a,      dx_i = w_i P G_i
//
// Kernels have both equations divided by a, so that no number has a unit: a is 1e20 / kg in flesh of 1 mm, and floats
// end at 3e38.
//
// Several visits in a substep share its push: with n of them each is a first visit with n times the compliance, so that
// flesh is as stiff as with one, and what is left of a stiff strain falls like exp(-k) instead of 1 / (1 + k). No
// multipliers are kept.
//
// The limit of the block. It resists shear only by -N / a, which is explicit: with 2 |W| / a > 1 a visit takes out more
// shear than there was, and flesh at rest shakes itself apart (neo_hookean.h says where that was measured, and has a
// law without that limit at several times the cost). So a is at least snw_pairLimit tr W: stiffness beyond
//     mu = n / (snw_pairLimit V h^2 tr W),    about n rho (edge / h)^2 / 8,
// is cut there, element by element; a visit can do no more about shear anyway. More visits raise the limit by their
// number, more substeps by their square.
//
// Rounding. Positions come as where the substep predicted them and how far constraints moved them since, both float:
// moves are tiny numbers with tiny rounding, so a substep keeps momentum to 1e-12 of it, where visits that add to
// coordinates would leave half a unit in the last place of these behind, every time.
//
// F = 0 is a minimum of the energy of a tet (not of a triangle): a tet that has lost its volume and is small in all
// directions is drawn towards its rest pose, upright, as in neo_hookean.h.
//
// The energy is finite where an element is inside out, and sweeps do not leave all of the wells there: legs that a body
// has crushed, what a handle has thrown. So after the law and the rig, elements below a fifth of their volume get that
// much, as hard constraints det F >= 0.2, in rounds over the blocks that the law has marked; and what is drawn out to
// |F| > 3 there is taken back to that, for flesh that is pressed flat creeps along the ground until it is four times as
// long, and stays folded. Tried and worse: to leave
// velocities alone with that (what presses goes on), and to give back a twentieth of the volume per round at most.

#pragma once

#include "sim/constraints/blocks.h"

#define snw_pairLimit 2.0 // see above
#define snw_pairLag   0.2 // how much softer flesh at the limit is, beside the cut: visits see what others have yet to do

// Blocks of eight, all that a visit reads and writes in one piece. Lanes without an element have no masses.
typedef struct snwPairTriangles
{
    int offset[3][snw_blockLanes];    // of the vertices' rows, in floats
    float inverse[4][snw_blockLanes]; // of the matrix of rest edges, row by row, 1/m
    float masses[3][snw_blockLanes];  // -w / a of the first vertex, w / a of the others; w: 1/kg, 0: held
    float yield[3][snw_blockLanes];   // W / a: xx, 2 xy, yy
    float bulk[snw_blockLanes];       // b
} snwPairTriangles;

typedef struct snwPairTets
{
    int index[4][snw_blockLanes];
    float inverse[9][snw_blockLanes];
    float yield[6][snw_blockLanes]; // W / a: xx xy xz yy yz zz
    float bulk[snw_blockLanes];
    float stiffness[snw_blockLanes]; // 1 / a
} snwPairTets;

// What they are made from, for substeps of h seconds.
typedef struct snwPairDef
{
    const snwCharacter* character;
    const snwBlocks* blocks;
    const snwMaterial* materials; // one per region
    const float* positions;       // rows of four; the last number is the inverse mass in use
    double h;                     // s
    int visits;                   // in a substep
} snwPairDef;

// Rest poses are taken as floats hold them: a body at rest is at rest to the last bit.
void snwPairTriangles_Set(const snwPairDef* def, snwPairTriangles* blocks);
void snwPairTets_Set(const snwPairDef* def, snwPairTets* blocks);

typedef enum snwPairMark
{
    snw_pairSound,
    snw_pairSqueezed, // an element had less than 0.7 of its volume when the law last visited it
    snw_pairFolded,   // one was below the least volume, or drawn out beyond the longest, when it was last unfolded
} snwPairMark;

// How far elements are unfolded.
typedef struct snwPairBounds
{
    float least;   // det F
    float longest; // |F|
} snwPairBounds;

static const snwPairBounds snw_pairUpright = {0.2f, 3.0f};

// One visit of all elements; see kernels.h.
typedef struct snwPairSweep
{
    float* rows; // moves: x y z, the fourth number stays. Of triangles: x y where they were predicted, x y of the move
    const float* positions; // of tets: where they were predicted, and the inverse mass in use
    const snwPairTriangles* triangles;
    const snwPairTets* tets;
    unsigned char* folded; // snwPairMark of each block
    snwPairBounds bounds;  // of what unfolds
} snwPairSweep;

// The elements whose stiffness is cut in a substep of h seconds, as a share of all.
double snwPair_ShareCut(const snwPairDef* def);

// What the cut leaves of the stiffness of an element, and of a body: volume over the sum of volume / stiffness, as if
// its elements were springs in a row. 1: nothing is cut. That of a body knows, too, that one sweep does not end: a bar
// under its own weight at a twentieth and half of the limit sags by 0.8 and 11 % more than it should.
double snwPair_Kept(const snwPairDef* def, int element);
double snwPair_KeptOfAll(const snwPairDef* def);
