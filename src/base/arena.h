// Memory that lives and dies together: what a character or a scene copies. Failure is remembered, so a builder makes
// all its copies and asks once at the end.

#pragma once

#include "base/context.h"

typedef struct snwArena
{
    snwContext* context;
    struct snwArenaBlock* first;
    bool failed;
} snwArena;

void* snwArena_Alloc(snwArena* arena, size_t count, size_t size); // zeroed
void* snwArena_Copy(snwArena* arena, const void* data, size_t count, size_t size);
char* snwArena_Text(snwArena* arena, const char* text); // NULL gives ""
void snwArena_Free(snwArena* arena);
