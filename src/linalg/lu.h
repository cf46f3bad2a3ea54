// Small dense systems of any kind: P A = L U with the largest pivot of each column. Row-major, in place, no memory of
// its own, the same bits on every machine. For symmetric definite ones dense.h takes half the time.

#pragma once

#include <stdbool.h>

// Panels of eight columns. pivots: [n]. False: a pivot is zero, not finite, or has lost all its digits against the
// largest entry; a is destroyed.
bool snwLu_Factor(int n, double* a, int stride, int* pivots);

// x[n] in place.
void snwLu_Solve(int n, const double* a, int stride, const int* pivots, double* x);
