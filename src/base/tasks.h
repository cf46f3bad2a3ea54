// Parallel loops whose results never depend on the number of threads.
//
// Work is cut into chunks by count and grain alone, never by the number of threads; chunks run in any order on any
// thread, so they must write disjoint memory. Sums are made per chunk and then added in the order of the chunks.
//
// A loop started while the pool is busy (another sim on another thread, or a loop inside a loop) runs on the caller
// alone.

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

// fn on [begin, end) in chunks of grain. A phase of one chunk runs on the caller's own thread, whatever it does: read a
// clock, or start loops of its own, which then run there, too.
typedef struct snwPhase
{
    snwRangeFn* fn;
    void* data;
    int begin, end;
    int grain;
} snwPhase;

// Phases one after the other, as if each were a snwParallelFor, at a fraction of the price: workers stay for all of
// them, and from one to the next a thread waits only for chunks that another has begun. Made for the colours of a
// Gauss-Seidel sweep: hundreds of phases, some microseconds each. Chunks at the same place of their phases go to the
// same thread where they can, so neighbours in space should be neighbours in every phase.
void snwParallelPhases(snwContext* context, const snwPhase* phases, int count);
