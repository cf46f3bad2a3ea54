// Stable radix sort of 64-bit keys with an int each. qsort is neither stable nor free of its own memory.

#pragma once

#include "base/context.h"

// false if there is no memory; the keys are then as they were.
bool snwSortKeys(snwContext* context, uint64_t* keys, int* values, int count);
