// What the fuzzers share: a context whose memory is bounded, so that one input stays quick and running out of memory is
// tried as well. Live blocks are counted: a leak through the allocator hook aborts at once.

#pragma once

#include "sinew/tools.h"

#include <stdlib.h>

typedef struct snwFuzzMemory
{
    size_t left; // bytes; never given back, so work is bounded too
    long live;
} snwFuzzMemory;

static inline void* snwFuzz_Alloc(size_t size, size_t alignment, void* user)
{
    snwFuzzMemory* memory = user;
    void* block = NULL;
    if (size > memory->left || posix_memalign(&block, alignment, size) != 0)
        return NULL;
    memory->left -= size;
    memory->live++;
    return block;
}

static inline void snwFuzz_Free(void* block, void* user)
{
    ((snwFuzzMemory*)user)->live--;
    free(block);
}

static inline snwContext* snwFuzz_NewContext(snwFuzzMemory* memory, size_t bytes)
{
    snwContextDef def = snwDefaultContextDef();
    snwContext* context = NULL;
    *memory = (snwFuzzMemory){.left = bytes};
    def.allocator = (snwAllocator){snwFuzz_Alloc, snwFuzz_Free, memory};
    def.threadCount = 1;
    if (snwCreateContext(&def, &context, NULL) < 0)
        abort();
    return context;
}

static inline void snwFuzz_EndContext(snwContext* context, const snwFuzzMemory* memory)
{
    snwDestroyContext(context);
    if (memory->live != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
