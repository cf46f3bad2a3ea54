// A context that counts what it allocates, and the block that benches simulate.

#pragma once

#include "sinew/sinew.h"

#include <stdatomic.h>

typedef struct snwCounter
{
    atomic_llong calls; // of alloc
    atomic_llong bytes; // taken now
} snwCounter;

snwAllocator snwCounter_Allocator(snwCounter* counter);

// A block of (cells + 1)^3 vertices, one metre wide, held at one side and bent by gravity.
typedef struct snwBlockDef
{
    int cells;
    const char* method;
    const snwSetting* settings;
    int settingCount;
} snwBlockDef;

snwResult snwMakeBlockSceneWith(snwContext* context, const snwBlockDef* block, snwScene** scene, snwMessage* message);
snwResult snwMakeBlockScene(snwContext* context, int cells, snwScene** scene, snwMessage* message); // pbd as it is
