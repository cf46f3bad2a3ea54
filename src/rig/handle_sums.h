// Sums over the vertices of each handle, and the way back: the two passes of everything that fits handles to flesh.
//
//   gather  sums_k = sum_i m_i w_ik u_i [y_i; 1]^T           3 x 4 per handle
//   add     u_i   += sum_k w_ik maps_k [y_i; 1]              linear blending of maps
// with y_i = xb_i - centre, one point for all. The first is the transpose of the second times mass.
//
// Vertices are sorted by their handles and put into blocks of eight, as in skinning.h, but in double. Blocks are cut
// into chunks, by their number alone; each has its own sums, four lanes to a number, and a fixed order adds them up. So
// results do not depend on the number of threads or on the instruction set.

#pragma once

#include "base/context.h"
#include "math/vec.h"

enum
{
    SNW_SUM_LANES = 8,   // vertices of a block
    SNW_SUM_PARTS = 4,   // lanes of a sum: every width of math/simd.h divides it
    snw_sumNumbers = 12, // of a handle: rows x, y, z of four
    snw_maxSumChunkCount = 16
};

typedef struct snwSumBlock
{
    _Alignas(64) double position[3][SNW_SUM_LANES]; // y, m
    double mass[SNW_SUM_LANES];                     // kg; 0 in lanes beyond the last vertex, which repeat it
    int vertex[SNW_SUM_LANES];
    int firstInfluence, influenceCount;
} snwSumBlock;

typedef struct snwSumInfluence
{
    _Alignas(64) double weight[SNW_SUM_LANES];
    int handle;
} snwSumInfluence;

typedef struct snwHandleSums
{
    snwSumBlock* blocks;
    snwSumInfluence* influences;
    int blockCount, handleCount;
    int chunkBlocks, chunkCount; // blocks of a chunk, chunks
    snwVec3 centre;              // m
} snwHandleSums;

typedef struct snwHandleSumsDef
{
    int vertexCount;
    const snwVec3* rest;       // m
    const double* masses;      // kg
    const snwWeights* weights; // a row per vertex
    const unsigned char* held; // per vertex, not 0: not among the vertices; NULL: none
} snwHandleSumsDef;

snwResult snwHandleSums_Create(
    snwContext* context, const snwHandleSumsDef* def, snwHandleSums* sums, snwMessage* message);
void snwHandleSums_Free(snwContext* context, snwHandleSums* sums);

// Numbers of the memory that Gather works in; 64-byte aligned.
size_t snwHandleSums_ScratchCount(const snwHandleSums* sums);

// u: rows of four floats, 16-byte aligned. out: per handle, 12 numbers, row x first. Returns sum m |u|^2.
double snwHandleSums_Gather(
    snwContext* context, const snwHandleSums* sums, const float* u, double* scratch, double* out);

// maps: per handle, 12 numbers as above. The fourth number of a row is left alone.
void snwHandleSums_Add(snwContext* context, const snwHandleSums* sums, const double* maps, float* u);

// What sums of a handle are judged against: out holds sum m w |u| and sum m w |xb - origin| |u|, two per handle.
void snwHandleSums_Lengths(snwContext* context, const snwHandleSums* sums, const snwVec3* origins, const float* u,
    double* scratch, double* out);

// The blocks of one chunk.
typedef struct snwSumRange
{
    const snwHandleSums* sums;
    int begin, end;
} snwSumRange;

typedef struct snwSumKernels
{
    // numbers: SNW_SUM_PARTS lanes for each of 12 numbers per handle, then for sum m |u|^2; all are added to.
    void (*gather)(const snwSumRange* range, const float* u, double* numbers);
    void (*add)(const snwSumRange* range, const double* maps, float* u);
} snwSumKernels;

const snwSumKernels* snwHandleSums_Kernels(snwSimd simd); // never NULL: resolved as by snwSimd_Resolve

// One table per instruction set; NULL where the build does not have it.
const snwSumKernels* snwHandleSums_KernelsAvx2(void);
const snwSumKernels* snwHandleSums_KernelsBase(void);
const snwSumKernels* snwHandleSums_KernelsScalar(void);
