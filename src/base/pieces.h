// Pieces of what hangs together (union-find): by element, one that leads nearer to the root of its piece. The lowest
// element of a piece is its root, so that results do not depend on the order of joining.

#pragma once

static inline int snwPieces_Root(int* parents, int i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

static inline void snwPieces_Join(int* parents, int a, int b)
{
    a = snwPieces_Root(parents, a), b = snwPieces_Root(parents, b);
    parents[a > b ? a : b] = a > b ? b : a;
}
