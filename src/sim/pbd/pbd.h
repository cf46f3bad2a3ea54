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
// constraints make way for those of neo_hookean.h.
//
// Constraints are coloured: those of one colour share no vertex, lie in blocks of eight, and run in any order. The
// order of colours is fixed, so the result is one Gauss-Seidel sweep for any number of threads and lanes.

#pragma once

#include "sim/pbd/neo_hookean.h"
#include "sim/touch.h"

enum
{
    snw_pbdLanes = 8 // constraints in a block, whatever the instruction set
};

typedef enum snwPbdLaw
{
    snw_pbdProjection, // as published: stiffness between 0 and 1
    snw_pbdCompliant,  // neo_hookean.h
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

// Lanes without a constraint point to the spare vertices behind the real ones, which have no mass to move.
typedef struct snwPbdEdges
{
    int index[2][snw_pbdLanes];
    float rest[snw_pbdLanes]; // m
} snwPbdEdges;

typedef struct snwPbdTets
{
    int index[4][snw_pbdLanes];
    float rest[snw_pbdLanes]; // m^3, six times the rest volume
} snwPbdTets;

// Blocks [colours[c], colours[c + 1]) have colour c.
typedef struct snwColours
{
    int* starts;
    int count;
} snwColours;

typedef struct snwPbdModel
{
    snwArena arena;
    const snwCharacter* character;
    int vertexCount;
    bool compliant; // the law; a body of edges alone has none
    snwPbdEdges* edges;
    snwColours edgeColours;
    snwPbdTets* tets;
    snwColours tetColours;
    snwNeoRest* rests; // beside tets, with the compliant law; else NULL
    int tetBlocks;
} snwPbdModel;

// State of a body: two arrays of float4, vertexCount + snw_pbdLanes rows each, and where it sticks to things.
//   position: x y z and the inverse mass in use (0 while pinned)
//   velocity: x y z and the inverse mass when free
typedef struct snwPbdBody
{
    float* positions;
    float* velocities;
    snwAnchor* anchors; // snw_anchorsPerVertex for each vertex that touches
} snwPbdBody;

snwPbdBody snwPbd_GetBody(const snwSim* sim, int body);

// Rows of float4; the fourth number is left alone.
static inline snwVec3 snwPbd_Row(const float* rows, int index)
{
    const float* row = rows + 4 * (size_t)index;
    return (snwVec3){row[0], row[1], row[2]};
}

static inline void snwPbd_SetRow(float* rows, int index, snwVec3 v)
{
    float* row = rows + 4 * (size_t)index;
    row[0] = (float)v.x;
    row[1] = (float)v.y;
    row[2] = (float)v.z;
}

// Work arrays of a sim.
typedef struct snwPbdScratch
{
    float** before;    // per body, float4: positions before the substep
    float** predicted; // per body, float4: positions before the projections
    double* sums;      // of the damping, per chunk of the largest body
    double* masses;    // kg, for new materials of the largest body
    snwNeoState** neo; // per body with the compliant law
    snwResponse* response;
} snwPbdScratch;

// Kernels: one projection of each constraint in blocks [begin, end); same bits for every instruction set.
typedef struct snwPbdKernels
{
    void (*distance)(float* positions, const snwPbdEdges* blocks, int begin, int end, float stiffness);
    void (*volume)(float* positions, const snwPbdTets* blocks, int begin, int end, float stiffness);
    void (*neoHookean)(
        float* positions, const snwPbdTets* blocks, const snwNeoRest* rests, snwNeoState* states, int begin, int end);
} snwPbdKernels;

const snwPbdKernels* snwPbd_Kernels(snwSimd simd);
const snwPbdKernels* snwPbd_KernelsScalar(void);
const snwPbdKernels* snwPbd_KernelsBase(void); // NULL if not in this build
const snwPbdKernels* snwPbd_KernelsAvx2(void); // NULL if not in this build

snwResult snwPbd_CreateModel(const snwModelDef* def, void** model, snwMessage* message);
void snwPbd_DestroyModel(snwContext* context, void* model);

// v <- v + k (rigid motion - v), k = 1 - exp(-rate h)
void snwPbd_Damp(snwSim* sim, int body, double rate, double h);
