// The kernels of constraints: one visit of each constraint in blocks [begin, end), which are of one colour: two of them
// may be under way at once. Same bits for every instruction set.

#pragma once

#include "sim/constraints/damp.h"
#include "sim/constraints/pair.h"
#include "sim/constraints/plane.h"
#include "sim/constraints/soft.h"
#include "sim/constraints/unfold.h"

typedef void snwSoftKernelFn(const snwSoftSweep* sweep, int begin, int end);
typedef void snwRestKernelFn(const snwRestSweep* sweep, int begin, int end);

typedef struct snwConstraintKernels
{
    // As published in 2007: a part `stiffness` of the error goes.
    void (*distance)(float* positions, const snwEdgeBlock* blocks, int begin, int end, float stiffness);
    void (*volume)(float* positions, const snwTetBlock* blocks, int begin, int end, float stiffness);
    void (*neoHookean)(
        float* positions, const snwTetBlock* blocks, const snwNeoRest* rests, snwNeoState* states, int begin, int end);
    void (*neoMoves)(
        float* rows, const snwTetBlock* blocks, const snwNeoRest* rests, const snwNeoState* states, int begin, int end);

    // unfold.h
    void (*markFolded)(const float* positions, const snwTetBlock* blocks, unsigned char* folded, int begin, int end);
    void (*unfold)(float* positions, const snwTetBlock* blocks, unsigned char* folded, int begin, int end);

    // With compliance; soft.h.
    snwSoftKernelFn* softDistance;
    snwSoftKernelFn* softVolume;
    snwSoftKernelFn* softStrain;
    snwSoftKernelFn* softNeo;

    // pair.h: the law, and marks; then what is marked is unfolded.
    void (*pairTriangles)(const snwPairSweep* sweep, int begin, int end);
    void (*pairTets)(const snwPairSweep* sweep, int begin, int end);
    void (*unfoldTriangles)(const snwPairSweep* sweep, int begin, int end);
    void (*unfoldTets)(const snwPairSweep* sweep, int begin, int end);

    // plane.h, rows [begin, end): v += acceleration and p = x + h v, not moved yet; x = p + d and v = (v + d / h) keep.
    // The latter gives the sum of squares of the velocities against the centre.
    void (*planePredict)(const snwPlaneStep* step, int begin, int end);
    float (*planeFinish)(const snwPlaneStep* step, int begin, int end);

    // damp.h, rows [begin, end), a multiple of eight but for the last: adds to sums; changes velocities.
    void (*dampSum)(const snwDampRows* rows, int begin, int end, double* sums);
    void (*dampApply)(const snwDampRows* rows, const snwDampChange* change, int begin, int end);

    // Rests for a substep, multipliers at 0.
    snwRestKernelFn* lengths;
    snwRestKernelFn* volumes;
    snwRestKernelFn* strains;
    snwRestKernelFn* neoRests; // before strains: their gradients are its
} snwConstraintKernels;

const snwConstraintKernels* snwConstraint_Kernels(snwSimd simd);
const snwConstraintKernels* snwConstraint_KernelsScalar(void);
const snwConstraintKernels* snwConstraint_KernelsBase(void); // NULL if not in this build
const snwConstraintKernels* snwConstraint_KernelsAvx2(void); // NULL if not in this build
