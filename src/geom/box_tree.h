// A tree of boxes: which things may touch this box, which may be near this point?
//
// Leaves are in the order of a space-filling curve and every node covers two of the level below, so the tree is a few
// plain arrays, is built in the time of a sort, and is the same for any number of threads. A tree that is split where
// it pays most (winding.c has one) answers quicker on surfaces with very unlike triangles; this one is for meshes.

#pragma once

#include "base/arena.h"

typedef struct snwBox
{
    snwVec3 lower, upper;
} snwBox;

typedef struct snwBoxTree
{
    int* order;    // item of each leaf
    snwBox* boxes; // all levels, the leaves first
    int starts[34], counts[34];
    int levels;
} snwBoxTree;

snwBox snwBox_Empty(void);
snwBox snwBox_Add(snwBox box, snwVec3 point);
double snwBox_Distance2(const snwBox* box, snwVec3 point); // m^2, 0 inside

// Lists come from the arena; the boxes given are not needed afterwards.
snwResult snwBuildBoxTree(snwArena* arena, const snwBox* boxes, int count, snwBoxTree* tree, snwMessage* message);

// A walk over the items whose boxes meet a box, or are not farther from a point than a bound that may shrink on the
// way. Nearer halves come first.
typedef struct snwBoxWalk
{
    const snwBoxTree* tree;
    snwBox box;
    snwVec3 point;
    int depth;
    struct
    {
        int level, index;
        double distance2;
    } stack[72];
} snwBoxWalk;

snwBoxWalk snwBoxTree_WalkOverlap(const snwBoxTree* tree, const snwBox* box);
snwBoxWalk snwBoxTree_WalkNear(const snwBoxTree* tree, snwVec3 point);
int snwBoxWalk_Next(snwBoxWalk* walk);                       // of an overlap walk; -1: no more
int snwBoxWalk_NextNear(snwBoxWalk* walk, double distance2); // of a near walk, within the bound; -1: no more
