// Sparse weights: making, checking and thinning them. See snwWeights in the public header.

#pragma once

#include "base/context.h"
#include "math/types.h"

#include <stdint.h>

// Weights as files and solvers have them: the same number of entries for every vertex, in any order, with zeros, with
// handles named twice, and with sums that are not one.
typedef struct snwWeightLists
{
    int vertexCount, handleCount;
    int perVertex;        // entries of each vertex
    const int* handles;   // perVertex for each vertex; NULL: 0, 1, 2 ... : a dense matrix, vertex by vertex
    const double* values; // perVertex for each vertex; negative and not finite ones count as zero
    double least;         // entries below this share of their row are dropped
    int influences;       // the largest ones that are kept; 0: all
} snwWeightLists;

// Sorts, merges, drops and scales rows to sum one; *repaired (may be NULL) counts the rows whose sum was off by more
// than 1e-4 or that had entries of no use. Rows without any weight and handles out of range are errors. One block,
// freed with snwFree.
snwResult snwWeights_FromLists(
    snwContext* context, const snwWeightLists* lists, snwWeights** weights, int* repaired, snwMessage* message);

// A copy with at most `influences` (0: all) entries per row, none below `least`, scaled to sum one.
snwResult snwWeights_Prune(snwContext* context, const snwWeights* weights, int influences, double least,
    snwWeights** pruned, snwMessage* message);

// Counts, order, range, and sums within 1e-6 of one; for weights from outside.
snwResult snwWeights_Check(const snwWeights* weights, int vertexCount, int handleCount, snwMessage* message);

// Entries of the fullest row.
int snwWeights_MostInfluences(const snwWeights* weights);

// 0 if the handle is not among the vertex's.
double snwWeights_Get(const snwWeights* weights, int vertex, int handle);

// What vertices are sorted by so that neighbours follow the same handles: their first four. Ones that no key can tell
// apart keep their order.
uint64_t snwWeights_HandlesKey(const snwWeights* weights, int vertex);

// The handles of eight rows together, in rising order.
typedef struct snwWeightsMerge
{
    const snwWeights* weights;
    int next[8], end[8];
} snwWeightsMerge;

snwWeightsMerge snwWeightsMerge_Start(const snwWeights* weights, const int rows[8]);

// The next handle and its weight in each row, 0 where it has none; -1: no more.
int snwWeightsMerge_Next(snwWeightsMerge* merge, double values[8]);
