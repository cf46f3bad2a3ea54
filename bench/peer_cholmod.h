// CHOLMOD beside our own factor: supernodal, METIS, one thread. Loaded when asked for and only here: it brings a BLAS
// that starts threads as soon as it is in the process.

#pragma once

#include "linalg/sparse.h"

typedef struct snwCholmod snwCholmod;

// NULL when this machine does not have it; *why then says so.
snwCholmod* snwCholmod_Open(const snwSparse* matrix, const char** why);
void snwCholmod_Close(snwCholmod* peer); // NULL allowed

// Seconds. Factor: analysis and factorisation; refactor: factorisation alone; solve: three right sides. Below 0 if
// it fails.
double snwCholmod_Factor(snwCholmod* peer);
double snwCholmod_Refactor(snwCholmod* peer);
double snwCholmod_Solve(snwCholmod* peer);

double snwCholmod_Entries(const snwCholmod* peer); // stored numbers of its factor
