// A small performance with a frames cache, a log and measures in a folder of its own: what the tests of the cache run,
// cut short, resume and compare.

#pragma once

#include "sinew/tools.h"

typedef struct snwFramesWorld
{
    snwContext* context;
    snwSceneFile file;
    snwMessage message;
    snwRunReport report;
    snwRunDef def; // cache, log and measures in the folder; someone at the mouse
    char folder[160], frames[200], log[200], measures[200];
} snwFramesWorld;

enum
{
    snw_worldLastFrame = 14,
    snw_worldChunk = 4 // frames: three chunks of 4 and one of 3
};

// In a folder of that name, which is made. frames: 0 gives snw_worldLastFrame.
snwFramesWorld snwFramesWorld_Open(const char* name, int threads, int lastFrame);
void snwFramesWorld_Close(snwFramesWorld* world);
snwResult snwFramesWorld_Run(snwFramesWorld* world);
void snwFramesWorld_Clear(const snwFramesWorld* world); // removes the files

// Fails the test if cache, log or measures differ in a byte, or if anything else is left in the folder.
void snwFramesWorld_CheckSame(const snwFramesWorld* a, const snwFramesWorld* b, const char* what);

// A file as it is; free() it.
unsigned char* snwReadBytesOf(const char* path, size_t* size);

// A number that any change of what a frame shows changes.
uint64_t snwFrame_Digest(const snwFrame* frame);
