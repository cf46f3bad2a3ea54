// Stable radix sort of 64-bit keys with an int each. qsort is neither stable nor free of its own memory.

#pragma once

#include "base/context.h"

// false if there is no memory; the keys are then as they were.
bool snwSortKeys(snwContext* context, uint64_t* keys, int* values, int count);

// The same in memory of the caller: room for `count` more of both.
void snwSortKeysWith(uint64_t* keys, int* values, int count, uint64_t* otherKeys, int* otherValues);

// Smallest first.
void snwSortReals(double* values, int count);
