// Parallel loops whose results never depend on the number of threads.
//
// Work is cut into chunks by count and grain alone, never by the number of threads; chunks run in any order on any
// thread, so they must write disjoint memory. Sums are made per chunk and then added in the order of the chunks.
//
// The pool wakes its workers, lets them take chunks from one counter, and waits: a short spin, then a sleep. A loop
// started while the pool is busy (another sim on another thread, or a loop inside a loop) runs on the caller alone.

#pragma once

#include "sinew/sinew.h"

typedef struct snwTaskPool snwTaskPool;

typedef void snwRangeFn(int begin, int end, void* data);
typedef double snwRangeSumFn(int begin, int end, void* data);

snwResult snwCreateTaskPool(const snwAllocator* allocator, int threadCount, snwTaskPool** pool);
void snwDestroyTaskPool(snwTaskPool* pool);

// Calls fn on [0, count) in chunks of grain; with one chunk it is a plain call.
void snwParallelFor(snwContext* context, int count, int grain, snwRangeFn* fn, void* data);

// Sum of fn over chunks of at least grain, added in fixed order.
double snwParallelSum(snwContext* context, int count, int grain, snwRangeSumFn* fn, void* data);
