// What the files of the multigrid share: multigrid_levels.c makes levels, multigrid_kernel.h has the loops over rows,
// multigrid.c runs them.

#pragma once

#include "base/arena.h"
#include "linalg/multigrid.h"

enum
{
    snw_mostLevels = 16,
    snw_mostParents = 4,
    snw_gridChunks = 32, // of the rows of a coarse level, when its matrix is made
    snw_laneBytes = 64   // of padding behind arrays that are read four or eight numbers at a time
};

// ---------------------------------------------------------------------------------------------------------------------
// What follows from the rest shape

// From a fine level to the next coarser one, stored both ways.
typedef struct snwTransfer
{
    int *parentStarts, *parents; // [fine rows + 1]
    float* weights;
    int *childStarts, *children; // [coarse rows + 1]
    int* childSlots;             // where a child's entry is among the parents
    unsigned short* stream;      // see snw_streamEnd
    int64_t* streamStarts;       // [coarse rows + 1]
} snwTransfer;

typedef struct snwGridLevel
{
    int size; // of a block: 3 or 6
    int rows;
    snwBlockGraph graph;
    snwVec3* rest;        // of its vertices, in the order of rows
    snwTransfer transfer; // unused on the coarsest level
} snwGridLevel;

// Where the factor of the coarsest matrix has numbers: row i begins at column first[i].
typedef struct snwSkyline
{
    int count;
    int* placeOf; // [row] in the order of elimination
    int* first;
    int64_t* starts; // [count + 1] of rows
} snwSkyline;

// [column]; from first[i] on.
static inline double* snwSkyline_Row(const snwSkyline* skyline, double* numbers, int i)
{
    return numbers + skyline->starts[i] - skyline->first[i];
}

struct snwGridLevels
{
    snwContext* context;
    snwArena arena;
    int count;
    snwGridLevel levels[snw_mostLevels];
    snwSkyline coarsest;
    int* rowOf;        // [vertex]
    int galerkinWidth; // most blocks on and above the diagonal of a coarse row
    int64_t memory;
};

// ---------------------------------------------------------------------------------------------------------------------
// What changes from step to step

typedef struct snwLevel
{
    int size, rows; // as the pattern has them
    bool far;       // its blocks do not fit into a cache
    const snwBlockGraph* graph;
    const snwTransfer* transfer;
    const snwVec3* rest;
    snwVec3* now;
    float* low; // blocks, each array with padding behind: below the diagonal, on it, above
    float *diagonal, *up;
    float* inverse; // of diagonal blocks
    float *b, *x, *r;
    unsigned char* held;
    float* links; // [4 each] of the transfer: x_i - X_c, and the weight, zero for held vertices
} snwLevel;

typedef struct snwMultigridKernels snwMultigridKernels;

struct snwMultigrid
{
    snwContext* context;
    snwArena arena;
    const snwGridLevels* pattern;
    snwMultigridDef def;
    const snwMultigridKernels* kernels;
    int levelCount;
    snwLevel levels[snw_mostLevels];
    double *skyline, *skylineWork; // L of the coarsest matrix; unknowns without a pivot of their own stay zero
    int* peeling;                  // scratch of snw_holdPeel
    double* diagonal;              // [9 rows] of the finest matrix
    double *r, *p, *q, *u;         // [3 rows]
    float* galerkin;               // [snw_gridChunks][scratch of a row]
    int dropped;
    int64_t memory;
};

// Rows begin .. end of a level or, where two are given, of the one that is written.
struct snwMultigridKernels
{
    void (*forwardFromZero)(const snwLevel* level, int begin, int end); // what lies above the diagonal counts as zero
    void (*forward)(const snwLevel* level, int begin, int end);
    void (*backward)(const snwLevel* level, int begin, int end);
    void (*residualFromZero)(const snwLevel* level, int begin, int end); // after forwardFromZero: r = -up x
    void (*residual)(const snwLevel* level, int begin, int end);
    void (*gather)(const snwLevel* fine, const snwLevel* coarse, int begin, int end); // coarse b = P^T r
    void (*spread)(const snwLevel* fine, const snwLevel* coarse, int begin, int end); // x += P coarse x
    void (*galerkin)(const snwLevel* fine, const snwLevel* coarse, int begin, int end, float* scratch);
    // y = A x with the finest matrix; rows of held vertices give zero.
    void (*multiply)(const snwMultigrid* grid, const double* x, double* y, int begin, int end);
    // L L^T in place, `size` rows to a vertex. Unknowns whose pivot is less than leastPivot of what was on the diagonal
    // are left out, and stay zero; returns how many. Then y = (L L^T)^-1 y.
    int (*factor)(const snwSkyline* skyline, double* numbers, int size, double leastPivot);
    void (*solveFactor)(const snwSkyline* skyline, double* numbers, double* y);
};

const snwMultigridKernels* snwMultigrid_Kernels(snwSimd simd);
const snwMultigridKernels* snwMultigrid_KernelsAvx2(void); // NULL where the build does not have them
const snwMultigridKernels* snwMultigrid_KernelsBase(void);

// The coarse matrix is P^T A P, row by row: for every child i of coarse row C, with A_ij P_jC' summed over the
// neighbours j that follow C' (C' = C or above it; the other half is mirrored):
//     A_CC' += P_iC^T (sum_j A_ij P_jC')
// A stream of short numbers says which ones: for C, for child i, groups {place of C' from the diagonal of row C on,
// count, count times (entry of row i, from its first below the diagonal on) * 4 + which parent of its column}, closed
// by 65535.
enum
{
    snw_streamEnd = 65535,
    snw_mostRowEntries = 16000
};
