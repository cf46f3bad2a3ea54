// What the files of corotated elements share: corotated_kernel.h has the loops, corotated.c runs them.

#pragma once

#include "base/arena.h"
#include "sim/skelfem/corotated.h"

enum
{
    snw_tetLanes = SNW_ROTATION_LANES
};

// Eight tets. Lanes behind the last tet repeat it.
typedef struct snwTetLanes
{
    _Alignas(32) float inverseRest[9][snw_tetLanes]; // row a: gradient of corner a + 1
    float root[snw_tetLanes];                        // of V mu
    float ratio[snw_tetLanes];                       // lambda / mu
    double volume[snw_tetLanes];
    int corners[4][snw_tetLanes];
} snwTetLanes;

// One tet as assembly reads it, a line of the cache: sqrt(V mu) R g of its corners, each with a fourth number, of which
// the first is lambda / mu.
typedef struct snwTurnedTet
{
    _Alignas(64) float g[4][4];
} snwTurnedTet;

// T = G + G^T + ratio tr(G) I of one tet, a line of the cache: the columns of the symmetric T begin at 0, 5 and 2, so
// that each is one load.
typedef struct snwTetStress
{
    _Alignas(64) double t[8];
} snwTetStress;

typedef struct snwCorotatedKernels snwCorotatedKernels;

struct snwCorotated
{
    snwContext* context;
    snwArena arena;
    const snwCorotatedKernels* kernels;
    const snwBlockGraph* graph;
    const int* rowOf;
    snwBlockMatrix matrix;
    int vertexCount, tetCount, blockCount;
    snwTetLanes* blocks;
    snwQuatBlock* rotations;
    snwTurnedTet* turned;
    int* partStarts;  // [upper blocks + 1]
    int* parts;       // tet * 16 + corner of the row * 4 + corner of the column
    float* still;     // [upper blocks] sum of mu V g_a . g_b
    float* mass;      // [upper blocks] kg: of the consistent mass matrix; NULL: it is lumped
    double massScale; // 1/s^2: what of it is in A
    const snwTetStop* stops;
    int stopCount;
    int* cornerStarts;       // [vertex + 1]
    int* corners;            // tet * 4 + corner
    snwTetStress* stress;    // [tet + 1] scratch of Multiply
    snwVec3 *missing, *step; // [vertex] scratch of Solve: what is missing, and what the grid says to it
};

// What a loop is given beside what is its own.
typedef struct snwCorotatedLoop
{
    const snwCorotated* flesh;
    const snwVec3* positions;
    const double* added;
    const snwVec3* x;
    snwVec3* y;
    bool still; // not turned at all
} snwCorotatedLoop;

// Blocks of tets, tets, rows or vertices begin .. end.
struct snwCorotatedKernels
{
    void (*deform)(const snwCorotatedLoop* loop, int block, snwMat3Block* F);
    void (*turn)(const snwCorotatedLoop* loop, int begin, int end); // sqrt(V mu) R g, with rotations as they are
    void (*assembleUpper)(const snwCorotatedLoop* loop, int begin, int end); // and what mirrors it
    void (*assembleDiagonal)(const snwCorotatedLoop* loop, int begin, int end);
    void (*makeStress)(const snwCorotatedLoop* loop, int begin, int end); // of displacements x
    void (*sumStress)(const snwCorotatedLoop* loop, int begin, int end);  // y, with what is added
};

const snwCorotatedKernels* snwCorotated_Kernels(snwSimd simd);
const snwCorotatedKernels* snwCorotated_KernelsAvx2(void); // NULL where the build does not have them
const snwCorotatedKernels* snwCorotated_KernelsBase(void);
