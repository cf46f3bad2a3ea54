// The cube of tetrahedra that the kernels are timed on.

#pragma once

#include "math/rotation.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct snwBenchCube
{
    int side, vertexCount, tetCount, blockCount;
    int (*tets)[4];
    double (*inverse)[9]; // of the rest edges
    snwRestTetBlock* blocks;
    float* positions;    // rows of four
    double (*exact)[3];  // the same in double
    snwQuatBlock* q;     // in and out of the kernels
    snwQuatBlock* guess; // rotations of the frame before
    snwMat3Block* R;
    snwSym3Block* S;
    snwSvdBlock* svd;
    double (*baseQ)[4];
    double (*baseR)[9];
} snwBenchCube;

// Memory is all there or false comes back; free it in both cases.
bool snwBenchCube_Allocate(snwBenchCube* cube, int tetCount);
void snwBenchCube_Free(snwBenchCube* cube);

void snwBenchCube_FillRest(snwBenchCube* cube);

// A twist of three radians along z that grows by a thirtieth per frame, with stretch and jitter.
void snwBenchCube_Deform(snwBenchCube* cube, int frame);

// 64-byte aligned; free() it.
void* snwBench_Allocate(size_t bytes);
