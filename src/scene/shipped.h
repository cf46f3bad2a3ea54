// Scenes by name: those that come with Sinew, and what else a word may mean where a scene is wanted.

#pragma once

#include "scene/file.h"
#include "sinew/tools.h"

// Sorted names, each with a note and a size, if they have any.
typedef struct snwNames
{
    char** names;
    char** notes; // descriptions, or kinds of files
    double* sizes;
    int count;
} snwNames;

// Where the built-in scenes are: $SINEW_SCENES, beside the program, in the source tree, or where they were installed.
const char* snwScenesFolder(char* buffer, size_t capacity);

bool snwNames_Start(snwContext* context, snwNames* names);
void snwNames_Add(snwContext* context, snwNames* names, const char* name, const char* note, double size);
void snwNames_Free(snwContext* context, snwNames* names);

// In the order of the alphabet, with what each is; empty without memory.
void snwScenes_List(snwContext* context, snwNames* names);
bool snwScenes_Find(const char* name, char* path, size_t capacity); // false: there is none of that name
// Neither a scene nor a character nor a file: an error with the nearest known word.
snwResult snwScenes_FailUnknown(snwContext* context, const char* name, snwMessage* message);

// A scene file, a character's file, or the name of a scene or character that comes with Sinew (a scene's first, where
// both have one); a character stands in a scene that suits it.
snwResult snwOpenScene(
    snwContext* context, const char* word, const snwSceneOptions* options, snwSceneFile* file, snwMessage* message);
