// A script that sets caches up in Blender: imports the source, or takes the objects that are there, and gives each its
// Mesh Cache modifier.

#pragma once

#include "bake/reel.h"

typedef struct snwBlenderCache
{
    const char* object; // name of the node
    const char* mesh;
    const char* path; // of the cache
    int points;
    bool skinned; // positions are the scene's
} snwBlenderCache;

// Beside the cache: walk.pc2 gets walk.py.
snwResult snwWriteBlenderScript(const snwBakeWriting* writing, const snwBlenderCache* caches, int count);
