// pbd: the original position-based dynamics (Mueller et al. 2007) with distance and volume constraints.
//
// Per substep:
//     v <- v + h g + h f / m,  p <- x + h v                     predict, all bodies and props
//     pinned vertices go where their pins are                   pins
//     contacts are gathered (contact/response.h)                detect
//     per island of things that touch each other, repeat `iterations` times: project     solve
//         C = |pi - pj| - l        on every edge of the tets
//         C = 6 (V - V0)           on every tet
//         drags, then contacts
//     v <- v + (p - predicted p) / h,  x <- p                   velocities
//     v <- v + k (v_cm + w x r - v)                             damping towards rigid motion (Section 3.5)
//     v <- v exp(-drag h)                                       bodies and props
// A projection moves vertex i by  -k' w_i grad_i C * C / sum_j w_j |grad_j C|^2  with  k' = 1 - (1 - k)^(1/iterations),
// so stiffness k in [0, 1] means the same for any number of iterations - but not for any step: that is what the
// original method cannot do. Young's modulus does not enter. With pbd.law = compliant it does: the edges' and volumes'
// constraints make way for those of constraints/neo_hookean.h.

#pragma once

#include "sim/constraints/damping.h"
#include "sim/constraints/kernels.h"
#include "sim/touch.h"

typedef enum snwPbdLaw
{
    snw_pbdProjection, // as published: stiffness between 0 and 1
    snw_pbdCompliant,  // constraints/neo_hookean.h
} snwPbdLaw;

typedef enum snwPbdParam
{
    snw_pbdIterations,
    snw_pbdLaw,
    snw_pbdStretch,
    snw_pbdVolume,
    snw_pbdDamping,
    snw_pbdDrag,
    snw_pbdSelf,
    snw_pbdParamCount,
} snwPbdParam;

typedef struct snwPbdModel
{
    snwArena arena;
    const snwCharacter* character;
    int vertexCount;
    bool compliant; // the law; a body of edges alone has none
    snwBlocks blocks;
    snwNeoRest* rests; // beside tets, with the compliant law; else NULL
} snwPbdModel;

// State of a body: two arrays of float4, vertexCount + snw_blockLanes rows each, and where it sticks to things.
//   position: x y z and the inverse mass in use (0 while pinned)
//   velocity: x y z and the inverse mass when free
typedef struct snwPbdBody
{
    float* positions;
    float* velocities;
    snwAnchor* anchors; // snw_anchorsPerVertex for each vertex that touches
} snwPbdBody;

snwPbdBody snwPbd_GetBody(const snwSim* sim, int body);

// Work arrays of a sim.
typedef struct snwPbdScratch
{
    float** before;     // per body, float4: positions before the substep
    float** predicted;  // per body, float4: positions before the projections
    double* sums;       // of the damping, per chunk of the largest body
    double* masses;     // kg, for new materials of the largest body
    float* last;        // float4: positions before the last sweep
    snwNeoState** neo;  // per body with the compliant law
    snwNeoMoves* moves; // the same
    snwUnfold* unfolds; // per body
    snwResponse* response;
} snwPbdScratch;

snwResult snwPbd_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwPbd_DestroyModel(snwContext* context, void* model);
