// Nested dissection: an order of elimination that keeps the factor of a mesh's matrix small.

#pragma once

#include "base/context.h"

// A graph without loops, every edge listed from both ends, neighbours in any order.
typedef struct snwGraph
{
    int count;
    const int* starts; // [count + 1]
    const int* edges;
} snwGraph;

// order[k] is the vertex eliminated k-th. False if there is no memory. The same graph gives the same order always.
bool snwGraph_OrderNested(snwContext* context, const snwGraph* graph, int* order);
