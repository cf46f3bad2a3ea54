// Soft constraints: XPBD (Macklin et al. 2016), which the thesis calls SMPBD. A constraint C with compliance alpha is
// the energy C^2 / (2 alpha). With total multipliers lambda and alpha~ = alpha / h^2 a visit is (Eq. 3.16, 3.17, with
// the gradient in the divisor where the thesis prints C)
//
//     dl = -(C + alpha~ lambda) / (grad C M^-1 grad C^T + alpha~),    x += M^-1 grad C^T dl,    lambda += dl
//
// and sweeps end in implicit Euler, whatever their number - but for the turning of gradients: what was pushed along an
// old gradient stays. The residual correction (`pushes`) remembers the push q of each constraint, takes back
// e = lambda grad C - q first and solves for dl with that:
//
//     dl = -(C + alpha~ lambda + grad C M^-1 e) / (...),    x += M^-1 (grad C^T dl + e),    q += grad C^T dl + e
//
// Then the fixed point is exactly that of implicit Euler. Taking back is an explicit step against the turning of the
// gradient, so it takes only the part 1 / (1 + |lambda| |second derivative of C| w) of e at a time (an edge: w / l).
//
// Constraints and what their compliances come from (E, nu per region, SI):
//   edge     C = |xi - xj| - l.  A network of springs with random directions and sum k l^2 / V = c has the Lame
//            parameters lambda = mu = c / 15 (mean of (n e n)^2 over directions). So k l^2 = 15 mu V_e with V_e a sixth
//            of the tets around the edge, alpha = l^2 / (15 mu V_e).
//   volume   C = 6 (V - V0): what the network lacks, lambda - mu, in alpha = 36 V0 / (lambda - mu), which is 0 at
//            nu = 0.5; below nu = 1/4 the network has too much already, and there is no volume constraint.
//   strain   C = the six Green strains, together: alpha = S / V with S the 6x6 compliance of E and nu, or of
//            one modulus per axis: S_ij = -nu / sqrt(Ei Ej), shear 2 (1 + nu) / sqrt(Ei Ej); finite at nu = 0.5.
//            Strains do not know a tet from its mirror image, so tets below a fifth of their volume are unfolded after
//            each sweep.
//   neo      neo_hookean.h
//
// Damping that is true (Rayleigh, proportional to stiffness, a time beta): the force -(C + beta dC/dt) / alpha of
// implicit Euler with dC/dt = (C - C^n) / h is that of a constraint with compliance alpha / (1 + beta / h) whose rest
// has crept from r to (1 - b) r + b (value at x^n), b = beta / (h + beta). Kernels need not know.

#pragma once

#include "sim/constraints/neo_hookean.h"

// A block of edges or tets with all that a visit reads and writes, vertices included: one stream of memory.
typedef struct snwSoftEdges
{
    int index[2][snw_blockLanes];
    float rest[snw_blockLanes];       // of this substep
    float compliance[snw_blockLanes]; // alpha~
    float sum[snw_blockLanes];        // lambda
} snwSoftEdges;

typedef struct snwSoftTets
{
    int index[4][snw_blockLanes];
    float rest[snw_blockLanes];
    float compliance[snw_blockLanes];
    float sum[snw_blockLanes];
} snwSoftTets;

typedef struct snwEdgePush
{
    float push[3][snw_blockLanes]; // on the first vertex; the second gets the opposite
} snwEdgePush;

typedef struct snwTetPush
{
    float push[9][snw_blockLanes]; // on corners 1 to 3; corner 0 gets minus their sum
} snwTetPush;

// Green strains xx yy zz yz xz xy, the last three twice the tensor's.
typedef struct snwStrainState
{
    float rest[6][snw_blockLanes];       // of this substep
    float compliance[9][snw_blockLanes]; // alpha~: xx xy xz yy yz zz of the first three, then the last three
    float sum[6][snw_blockLanes];
    float push[9][snw_blockLanes]; // on F, row by row; read with the residual correction only
} snwStrainState;

// One body in one substep.
typedef struct snwSoftSweep
{
    float* positions;        // rows of float4: x y z and the inverse mass
    float* target;           // NULL: moves are made at once (Gauss-Seidel); else added to these rows (Jacobi)
    float relaxation;        // of Jacobi moves, (0, 1]
    bool corrected;          // the residual correction; the pushes are there. Neo-Hookean tets always have it.
    const snwTetBlock* tets; // of strain and neo
    snwSoftEdges* edgeStates;
    snwSoftTets* tetStates;
    snwEdgePush* edgePushes;
    snwTetPush* tetPushes;
    const snwNeoRest* rests; // of strain and neo
    snwStrainState* strainStates;
    snwNeoState* neoStates;
    unsigned char* folded; // of neo, per block: a tet had less than half of its volume when it was last visited
} snwSoftSweep;

// Rests of a substep: those of the character, or of a reference shape that moves (what skinning says), crept towards
// the shape before by `creep` = beta / (h + beta). What the reference squeezes below a third is taken as if it stopped
// there: it may be flat or inside out.
typedef struct snwRestSweep
{
    const float* reference; // rows of float4; NULL: the character's rest
    const float* shaped;    // the same before bones moved it: what an artist made of the rest; NULL: it is the rest
    const float* before;    // with creep > 0
    float creep;
    const snwEdgeBlock* edges;
    const snwTetBlock* tets;
    const snwNeoRest* restShapes; // of the character
    snwSoftEdges* edgeStates;
    snwSoftTets* tetStates;
    snwStrainState* strainStates;
    snwNeoRest* rests; // out
} snwRestSweep;

// ---------------------------------------------------------------------------------------------------------------------
// Compliances

// Which edges a tet has, in the order 01 02 03 12 13 23.
typedef int snwTetEdges[6];

typedef struct snwSoftDef
{
    const snwCharacter* character;
    const snwBlocks* blocks;
    const snwTetEdges* tetEdges; // one per tet
    const snwMaterial* materials;
    double e;       // s, the implicit step: alpha~ = alpha / e^2
    double viscous; // beta / h
    double axes[3]; // Young's modulus along x, y and z as parts of the material's
} snwSoftDef;

// NULL if memory is out.
snwTetEdges* snwTetEdges_Make(snwArena* arena, const snwCharacter* character);

// N/m, one per edge of the character. An edge of no tet is a bar as thick as it is long: E l.
void snwSoft_EdgeStiffnesses(const snwSoftDef* def, double* stiffnesses);

// N/m^5, of C = 6 (V - V0); INFINITY at nu = 0.5, 0 up to nu = 0.25.
double snwSoft_VolumeStiffness(const snwMaterial* material, double restVolume);

// 1/Pa: S, xx xy xz yy yz zz of the first three strains, then the last three.
void snwSoft_StrainCompliance(const snwMaterial* material, const double axes[3], double compliance[9]);

// alpha~ of all states; edge stiffnesses as above, as work space.
void snwSoft_SetEdges(const snwSoftDef* def, snwSoftEdges* states, double* stiffnesses);
void snwSoft_SetVolumes(const snwSoftDef* def, snwSoftTets* states);
// viscousOnly: the part of beta / h alone, for flesh whose elastic part is another constraint.
void snwSoft_SetStrains(const snwSoftDef* def, snwStrainState* states, bool viscousOnly);
