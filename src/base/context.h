// Memory, log and threads of one world.

#pragma once

#include "base/result.h"
#include "base/tasks.h"

#include <pthread.h>

enum
{
    snw_maxThreads = 64 // of a context
};

struct snwContext
{
    snwAllocator allocator;
    snwLogFn* log;
    void* logUser;
    snwRunTasksFn* runTasks;
    void* tasksUser;
    snwTaskPool* pool; // NULL with one thread or with the host's tasks
    int threadCount;
    snwSimd simd;
    pthread_mutex_t shapeMutex; // of the list below
    struct snwShape* shapes;    // of meshes that characters have in common: sim/shapes.h
};

enum
{
    snw_alignment = 64 // of everything allocated: a cache line, and the widest SIMD load
};

// NULL if there is no memory (or size is absurd); zeroed unless the name says otherwise.
void* snwAlloc(snwContext* context, size_t size);
void* snwAllocArray(snwContext* context, size_t count, size_t size); // checks count * size
void* snwAllocRaw(snwContext* context, size_t size);                 // not zeroed
void snwFree(snwContext* context, void* memory);                     // NULL allowed
char* snwCopyText(snwContext* context, const char* text);            // NULL gives ""
void* snwCopyArray(snwContext* context, const void* data, size_t count, size_t size);

void snwLogText(snwContext* context, snwLogLevel level, const char* format, ...) __attribute__((format(printf, 3, 4)));
