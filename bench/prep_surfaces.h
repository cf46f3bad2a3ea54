// Rows of `bench prep` about surfaces: real ones, those of the built-in characters and deliberately broken ones, by
// both meshers. Each gives a body or a reason.

#pragma once

#include "bench.h"

// only: a part of the cases' names; NULL: all.
snwResult snwPrepSurfaces_Run(snwContext* context, const char* only, snwBenchReport* report, snwMessage* message);
