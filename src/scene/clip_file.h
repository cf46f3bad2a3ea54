// Clips that lie in files of their own, as an export writes them: {"clips": [...]}, with the same clips as in a scene.

#pragma once

#include "base/arena.h"
#include "scene/fields.h"

typedef struct snwClipSource
{
    const json_t* value;
    const char* file; // NULL: the scene itself
    int index;        // within its list
} snwClipSource;

// All clips of a scene: those that it has, and in the place of each {"file": ...} those of that file.
typedef struct snwClipSources
{
    snwClipSource* items;
    int count;
    json_t** documents;
    int documentCount;
} snwClipSources;

// list: "clips" of the scene. Release also after a failure.
snwResult snwClipSources_Open(snwJson* json, snwArena* arena, const json_t* list, snwClipSources* sources);
void snwClipSources_Release(snwClipSources* sources);
