// The inside of a factor, shared by analysis, factorisation and sweeps. See cholesky.c for the why of the layout.

#pragma once

#include "linalg/cholesky.h"
#include "linalg/cholesky_kernels.h"

// Rows of the update of one supernode by another: rows[begin ..] of `source` take part, those before `end` lie in the
// columns of the target.
typedef struct snwNodeUpdate
{
    int source, begin, end;
} snwNodeUpdate;

// A piece of the elimination tree that one thread walks. Children come before their parents, the levels run one after
// the other, the tasks of a level in any order. Which tasks there are depends on the matrix alone.
typedef struct snwSweepTask
{
    int nodeStart, nodeEnd;     // in taskNodes, rising
    int borderStart, borderEnd; // in borderRows: rows outside the task that its nodes reach; one more is spare
    int childStart, childEnd;   // in taskChildren, rising
    int parent;                 // -1: a root
    int gatherStart;            // in the scratch's gather area, in panels
} snwSweepTask;

struct snwCholesky
{
    snwContext* context;
    const snwCholeskyKernels* kernels;
    snwPrecision precision;
    int rows, lastCount, leading; // leading = rows - lastCount
    int matrixCount;              // entries of the matrix

    int* order;   // [leading] unknown of the matrix at each place
    int* inverse; // [leading] its place

    int nodeCount;
    snwCholeskyNode* nodes; // supernodes, rising columns
    int* nodeOf;            // [leading] supernode of a column
    int* nodeRows;          // rows below the diagonal block of every node, rising; last unknowns are leading + i
    int* sweepRows;         // the same padded to whole panels, as places in the scratch
    int* parents;           // [nodeCount] node of the first row below, -1: a root
    int updateCount;
    int* updateStarts; // [nodeCount + 2]; the last target is G
    snwNodeUpdate* updates;
    int64_t* slots; // [matrixCount] where an entry goes: in values, or -1 - place in schur
    int maxNodeRows;

    int taskCount, levelCount;
    snwSweepTask* tasks;
    int* taskNodes;
    int* taskChildren;
    int* levelStarts; // [levelCount + 1] in levelTasks, leaves first
    int* levelTasks;
    int borderCount;
    int* borderRows;  // places of the rows outside, in the scratch: columns and last unknowns
    int* borderInto;  // where the parent wants them
    int gatherPanels; // of all tasks together
    int* relative;    // [taskCount * maxNodeRows] for the factorisation

    int64_t valueCount;
    double* values;   // [valueCount] factored in place
    float* floats;    // [valueCount] with snw_precisionFloat
    double* schur;    // [lastCount * lastCount]
    double* diagonal; // [leading] of the matrix, to tell a small pivot
    int* failures;    // [taskCount] column whose pivot failed, -1: none
    double flops;
};

// Everything but values; false if there is no memory.
bool snwCholesky_Analyse(snwCholesky* factor, const snwCholeskyDef* def);
bool snwCholesky_PlanTasks(snwCholesky* factor);

// Place of entry (row, column) of a node's block, by local row: 0 .. columns - 1 is the diagonal block.
static inline int64_t snwNode_Place(const snwCholeskyNode* node, int row, int column)
{
    int below = row - node->columns, panel = row / 8;
    if (below < 0)
        return node->diagonal + 32 * (int64_t)panel * (panel + 1) + 8 * column + row % 8;
    return node->below + (int64_t)(below / 8) * 8 * node->columns + 8 * column + below % 8;
}
