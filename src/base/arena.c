// An arena is a list of blocks that live and die together: what a model or a scene is made of, freed in one call.
// Each allocation comes from the context and is linked in front of the others; a failure is remembered, so that
// callers ask once at the end.

#include "base/arena.h"

#include <stdint.h>
#include <string.h>

// In front of each allocation, as large as the alignment so that the memory behind it stays aligned.
typedef struct snwArenaBlock
{
    struct snwArenaBlock* next;
    unsigned char padding[snw_alignment - sizeof(void*)];
} snwArenaBlock;

void* snwArena_Alloc(snwArena* arena, size_t count, size_t size)
{
    bool absurd = size > 0 && count > (PTRDIFF_MAX - 2 * snw_alignment) / size;
    snwArenaBlock* block = absurd ? NULL : snwAlloc(arena->context, sizeof *block + count * size);
    if (block == NULL)
    {
        arena->failed = true;
        return NULL;
    }
    block->next = arena->first;
    arena->first = block;
    return block + 1;
}

void* snwArena_Copy(snwArena* arena, const void* data, size_t count, size_t size)
{
    void* copy = snwArena_Alloc(arena, count, size);
    if (copy != NULL && count > 0)
        memcpy(copy, data, count * size);
    return copy;
}

char* snwArena_Text(snwArena* arena, const char* text)
{
    return text != NULL ? snwArena_Copy(arena, text, strlen(text) + 1, 1) : snwArena_Alloc(arena, 1, 1);
}

void snwArena_Free(snwArena* arena)
{
    while (arena->first != NULL)
    {
        snwArenaBlock* next = arena->first->next;
        snwFree(arena->context, arena->first);
        arena->first = next;
    }
}
