// Rows of the sparse solve for `bench kernels`.

#pragma once

#include "bench.h"

snwResult snwAddSolveRows(const snwBenchOptions* options, snwBenchReport* report, snwMessage* message);
