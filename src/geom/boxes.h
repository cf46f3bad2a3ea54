// Trees of boxes, eight children per node, for things whose order is fixed and whose places change: leaf i is whatever
// the caller put i-th along a space-filling curve, node i of the next level holds boxes 8 i .. 8 i + 7 of the one
// below. So a tree has no links to build; after motion the boxes are set again from below, and a query compares eight
// at once.

#pragma once

#include "base/arena.h"
#include "math/vec.h"

typedef struct snwBox
{
    float lower[3], upper[3]; // lower > upper: empty
} snwBox;

typedef struct snwBoxGroup
{
    float lower[3][8], upper[3][8]; // m; empty boxes overlap nothing
} snwBoxGroup;

enum
{
    snw_maxBoxLevels = 11 // 8^11 leaves
};

typedef struct snwBoxTree
{
    int leafCount;
    int levelCount;                   // 0: no leaves
    int starts[snw_maxBoxLevels + 1]; // of the groups of each level; leaves first
    snwBoxGroup* groups;
} snwBoxTree;

static inline snwBox snwBox_Empty(void)
{
    return (snwBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

// A point that is not finite changes nothing.
static inline void snwBox_Add(snwBox* box, const float p[3])
{
    if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
        return;
    for (int k = 0; k < 3; ++k)
    {
        box->lower[k] = p[k] < box->lower[k] ? p[k] : box->lower[k];
        box->upper[k] = p[k] > box->upper[k] ? p[k] : box->upper[k];
    }
}

static inline snwBox snwBox_Union(snwBox a, snwBox b)
{
    for (int k = 0; k < 3; ++k)
    {
        a.lower[k] = b.lower[k] < a.lower[k] ? b.lower[k] : a.lower[k];
        a.upper[k] = b.upper[k] > a.upper[k] ? b.upper[k] : a.upper[k];
    }
    return a;
}

static inline bool snwBox_Overlap(const snwBox* a, const snwBox* b)
{
    return a->lower[0] <= b->upper[0] && a->upper[0] >= b->lower[0] && a->lower[1] <= b->upper[1] &&
           a->upper[1] >= b->lower[1] && a->lower[2] <= b->upper[2] && a->upper[2] >= b->lower[2];
}

// Grown by at least `margin` on all sides, whatever rounding does.
snwBox snwBox_Grow(snwBox box, double margin);

// Sizes for this many leaves, and how many groups that takes; the caller provides them in tree->groups.
int snwBoxTree_Layout(snwBoxTree* tree, int leafCount);
void snwBoxTree_SetLeaf(snwBoxTree* tree, int leaf, const snwBox* box);
// Everything above the leaves; also empties the places of the last leaf group that have none.
void snwBoxTree_Refit(snwBoxTree* tree);
snwBox snwBoxTree_Bounds(const snwBoxTree* tree);

// Place on a space-filling curve (Morton 1966) of a point in the unit cube.
uint64_t snwMortonCode(const double point[3]);

// A tree over things that stay: sorted along the curve, (*order)[leaf] is the thing. Groups and order come from the
// arena; the boxes given are not needed afterwards.
snwResult snwBuildBoxTree(
    snwArena* arena, const snwBox* boxes, int count, snwBoxTree* tree, int** order, snwMessage* message);

// Walks the leaves whose boxes overlap one box, in an order that depends on nothing but the tree.
typedef struct snwBoxWalk
{
    const snwBoxTree* tree;
    snwBox box;
    int depth;
    struct
    {
        int level, group;
        unsigned mask; // boxes of the group still to be visited
    } stack[snw_maxBoxLevels + 1];
} snwBoxWalk;

void snwBoxWalk_Start(snwBoxWalk* walk, const snwBoxTree* tree, const snwBox* box);
int snwBoxWalk_Next(snwBoxWalk* walk); // -1: no more

// Likewise the leaves nearer to a point than *squared (m^2), which the caller may lower on the way.
typedef struct snwNearWalk
{
    const snwBoxTree* tree;
    snwVec3 point;
    const double* squared;
    int count;
    struct
    {
        int level, box;
        double squared;
    } stack[8 * snw_maxBoxLevels];
} snwNearWalk;

void snwNearWalk_Start(snwNearWalk* walk, const snwBoxTree* tree, snwVec3 point, const double* squared);
int snwNearWalk_Next(snwNearWalk* walk); // -1: no more
