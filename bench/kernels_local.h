// Time of the local step of articulated projective dynamics.

#pragma once

#include "bench.h"

// Rows local_ns of every law for one instruction set, one thread.
snwResult snwAddLocalRows(snwSimd simd, int runs, snwBenchReport* report, snwMessage* message);
