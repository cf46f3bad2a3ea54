// The two passes over the vertices of a rig that fits itself to flesh (rig_fit.h): sums of where the flesh is, and the
// way back, maps of the handles blended onto it.
//
// Like handle_sums.h, but with as few numbers per handle as the rig needs, for a substep has some ten microseconds:
//   flat         4  similarities of the plane: x, y, and of the arms p only p x x and p . x. See flat_pass.h
//   flat affine  6  any map of the plane
//   solid       12  any map of space
// Sums are double, with double weights: they are differences of large numbers (C = J^T mass (x - xr)). What is blended
// onto the flesh is float, as in skinning.h: it is only a change, or only to be seen.
//
// Sums of flesh in places and moves, which is how a substep has it, are the exception: within a tile of 128 vertices
// they are float, about the tile's first vertex, and what that vertex' place adds is known in double; from tile to tile
// they are double. That loses some 1e-9 of the size, about what is lost when place and move are added up, and takes
// half the time. flat_pass.h has the same for flat flesh.
//
// Vertices go in blocks of eight. Where eight that follow each other have handles in common, they are a block: a mesh
// is mostly so, and no row has to be looked up. The others are sorted by handles.
//
// Chunks and lanes are added up in a fixed order: same bits for any number of threads and any instruction set.

#pragma once

#include "base/context.h"
#include "math/vec.h"
#include "rig/flat_pass.h"
#include "rig/rig_flat.h"

enum
{
    SNW_PASS_LANES = 8,   // vertices of a block
    SNW_PASS_PARTS = 4,   // lanes of a sum: every width of math/simd.h divides it
    SNW_TILE_BLOCKS = 16, // float sums get no longer than this
    snw_mostPassChunks = 16
};

typedef enum snwRigPassKind
{
    snw_passFlat,
    snw_passFlatAffine,
    snw_passSolid,
} snwRigPassKind;

// What sums in double read of eight vertices, and what sums in float and blending read.
typedef struct snwSumPart
{
    _Alignas(64) double position[3][SNW_PASS_LANES]; // p = xb - centre, m
} snwSumPart;

typedef struct snwFloatPart
{
    _Alignas(32) float position[3][SNW_PASS_LANES]; // p again
} snwFloatPart;

typedef struct snwPassBlock
{
    int vertex[SNW_PASS_LANES]; // lanes beyond the last vertex repeat it
    int lanes;                  // those that do not
    int first, count;           // of handles and weights
} snwPassBlock;

// The blocks of a tile that one handle moves.
typedef struct snwSumRun
{
    _Alignas(32) double anchor[4]; // sum m w (p, 1): what a coordinate of 1 m of all of them adds to its numbers
    int handle;
    int first, count; // of sumBlocks, sumWeights and sumFloats
} snwSumRun;

typedef struct snwRigPass
{
    snwRigPassKind kind;
    int numbers; // of a handle
    snwPassBlock* blocks;
    snwSumPart* sumParts;
    snwFloatPart* floatParts;
    // Weights, twice: for blending block by block, and for sums handle by handle within tiles of blocks, so that a sum
    // stays in a register.
    int* handles;
    float (*weights)[SNW_PASS_LANES];
    int* tileRuns; // [tileCount + 1]: where the runs of a tile start
    snwSumRun* runs;
    int* sumBlocks;                       // in their tile
    double (*sumWeights)[SNW_PASS_LANES]; // times mass, kg; 0 in lanes beyond the last vertex
    float (*sumFloats)[SNW_PASS_LANES];   // these again
    int blockCount, tileCount, handleCount;
    int straightCount;                     // the first blocks: vertices that follow each other, as LoadNext4 has them
    snwFlatPass flat;                      // of flat ones all of the above but kind, numbers and handleCount
    int itemCount, chunkItems, chunkCount; // tiles, or groups of flat ones; of a chunk; chunks
    snwVec3 centre;                        // m
} snwRigPass;

typedef struct snwRigPassDef
{
    snwRigPassKind kind;
    int vertexCount;
    const snwVec3* rest;         // m
    const double* masses;        // kg
    const snwWeights* weights;   // a row per vertex
    const unsigned char* moving; // flat: by handle, it only moves, and no changes of its linear part come; else NULL
} snwRigPassDef;

// Flesh: rows of four floats, 16-byte aligned. Places x y z, the fourth number stays; or, of flat flesh, x y of a place
// and x y of a move from there, of which changes become a part. Sums of solid flesh may
// take moves in rows of their own.
typedef struct snwRigFlesh
{
    float* rows;
    bool plane;
    const float* moves; // NULL: rows are all there is
    snwVec3 origin;     // m, in the world: places are relative to it
} snwRigFlesh;

snwResult snwRigPass_Create(snwContext* context, const snwRigPassDef* def, snwRigPass* pass, snwMessage* message);
void snwRigPass_Free(snwContext* context, snwRigPass* pass);

// Numbers of the memory that Gather works in; 64-byte aligned.
size_t snwRigPass_ScratchCount(const snwRigPass* pass);

// out: per handle
//   flat         sum m w (x, y, p x x, p . x), the last two mean nothing of handles that only move
//   flat affine  sum m w x (p, 1), then y
//   solid        sum m w x (p, 1), then y, z
void snwRigPass_Gather(
    snwContext* context, const snwRigPass* pass, const snwRigFlesh* flesh, double* scratch, double* out);

// Maps of p, as many numbers per handle as above: flat (c, s, tx, ty) is [c -s; s c] p + t, others are rows of (A, t).
typedef struct snwRigBlend
{
    const float* changes; // added to the flesh. Each number eight times, lanes of a vector; flat: once
    const float* maps;    // give `rigged`, less the origin; likewise
    float origin[3];      // m
    snwRigFlesh flesh;    // rows are NULL: no changes. The fourth number of places stays, flat ones' third too
    float* rigged;        // rows of four; NULL: none. The fourth number is 0, flat ones' third the origin's
} snwRigBlend;

void snwRigPass_Blend(snwContext* context, const snwRigPass* pass, const snwRigBlend* blend);

// The tiles, or groups of a flat pass, of one chunk.
typedef struct snwPassRange
{
    const snwRigPass* pass;
    int begin, end;
} snwPassRange;

// out[k] += sign sum_l factors[l] matrix[l * stride + k], for all k below stride, a multiple of four; all 32-byte
// aligned.
typedef struct snwPlaneProduct
{
    int rows, stride;
    const double* matrix;
    double sign;
} snwPlaneProduct;

// M of solid handles, as blocks of those pairs that share flesh: forces on (place, columns of the linear part) of a
// handle from the motion of (place, columns of the linear part) of another. The same blocks for all three coordinates,
// which are lanes; the fourth lane is 0.
typedef double snwPairBlock[4][4];
typedef double snwHandleRows[4][4]; // place and columns, each x y z 0; 32-byte aligned

typedef struct snwPairProduct
{
    int handleCount;
    const int* starts; // [handleCount + 1]: the pairs of a handle
    const int* others;
    const snwPairBlock* blocks; // [own][other's]
} snwPairProduct;

// A row of the matrix of turns: out = tr(Y) I - Y^T, Y = R_k P_kl R_l^T, for all l below count, a multiple of four.
// Planes by l, 32-byte aligned.
typedef struct snwTurnRow
{
    int count;
    const double* p[3][3]; // P, b of k, b of l
    double own[3][3];      // R_k
    const double* other[3][3];
    double* out[3][3];
} snwTurnRow;

typedef struct snwPassKernels
{
    // sums: SNW_PASS_PARTS lanes for each number of each handle, of flat passes one; added to.
    void (*gather)(const snwPassRange* range, const snwRigFlesh* flesh, double* sums);
    void (*blend)(const snwPassRange* range, const snwRigBlend* blend);
    void (*gatherFlat)(const snwPassRange* range, const snwRigFlesh* flesh, double* sums);
    void (*blendFlat)(const snwPassRange* range, const snwRigBlend* blend);
    void (*product)(const snwPlaneProduct* product, const double* factors, double* out);
    void (*pairProduct)(
        const snwPairProduct* product, const snwHandleRows* motion, snwHandleRows* out); // out = M motion
    void (*turnRow)(const snwTurnRow* row);
    // rig_flat.h: forces -= H motion; out = M in, M real; out -= M in, M complex; the inverse of the turns' matrix, its
    // diagonal times 1 + more, false if that is not definite.
    void (*subtractFlat)(const snwFlatMatrix* m, const snwFlatPlanes* motion, snwFlatPlanes* forces);
    void (*multiplyFlat)(const snwFlatMatrix* m, const snwFlatPlane* in, snwFlatPlane* out);
    void (*subtractTurned)(const snwFlatMatrix* m, const snwFlatPlane* in, snwFlatPlane* out);
    bool (*invertTurns)(const snwFlatTurns* t, double more, double* out);
} snwPassKernels;

const snwPassKernels* snwRigPass_Kernels(snwSimd simd); // never NULL: resolved as by snwSimd_Resolve

// One table per instruction set; NULL where the build does not have it.
const snwPassKernels* snwRigPass_KernelsAvx2(void);
const snwPassKernels* snwRigPass_KernelsBase(void);
const snwPassKernels* snwRigPass_KernelsScalar(void);
