// What every call stands on: version, allocator, log, threads and instruction set. Also the checked allocations (a
// size that overflows fails like memory that is not there) and arrays that grow by doubling.

#include "base/context.h"
#include "base/array.h"
#include "math/cpu.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* DefaultAlloc(size_t size, size_t alignment, void* user)
{
    (void)user;
    void* memory = NULL;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void DefaultFree(void* memory, void* user)
{
    (void)user;
    free(memory);
}

snwVersion snwGetVersion(void)
{
    return (snwVersion){SNW_VERSION_MAJOR, SNW_VERSION_MINOR, SNW_VERSION_PATCH};
}

snwContextDef snwDefaultContextDef(void)
{
    return (snwContextDef){.allocator = {DefaultAlloc, DefaultFree, NULL}};
}

static int CoreCount(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > snw_maxThreads ? snw_maxThreads : (int)cores;
}

static snwResult CheckContextDef(const snwContextDef* def, snwMessage* message)
{
    if (def->allocator.alloc == NULL || def->allocator.free == NULL)
        return snwFail(
            message, snw_errorArgument, "start from snwDefaultContextDef()", "allocator without alloc or free");
    if (def->threadCount < 0 || def->threadCount > snw_maxThreads)
        return snwFail(message, snw_errorArgument, "use 0 for one thread per core", "threadCount is %d, not 0..64",
            def->threadCount);
    if (def->simd < snw_simdAuto || def->simd > snw_simdAvx2)
        return snwFail(message, snw_errorArgument, "use snw_simdAuto", "simd is %d", (int)def->simd);
    return snw_ok;
}

snwResult snwCreateContext(const snwContextDef* def, snwContext** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckContextDef(def, message);
    if (result < 0)
        return result;
    snwContext* context = def->allocator.alloc(sizeof *context, snw_alignment, def->allocator.user);
    if (context == NULL)
        return snwFailMemory(message);
    *context = (snwContext){
        .allocator = def->allocator,
        .log = def->log,
        .logUser = def->logUser,
        .runTasks = def->runTasks,
        .tasksUser = def->tasksUser,
        .threadCount = def->threadCount > 0 ? def->threadCount : CoreCount(),
        .simd = snwSimd_Resolve(def->simd),
    };

    // Without tasks of the caller's own a pool is started; one thread needs none.
    if (context->runTasks == NULL && context->threadCount > 1)
    {
        result = snwCreateTaskPool(&context->allocator, context->threadCount, &context->pool);
        if (result < 0)
        {
            snwFail(message, result, "use threadCount = 1", "cannot start %d threads", context->threadCount);
            def->allocator.free(context, def->allocator.user);
            return result;
        }
    }

    pthread_mutex_init(&context->shapeMutex, NULL);
    *out = context;
    return snw_ok;
}

void snwDestroyContext(snwContext* context)
{
    if (context == NULL)
        return;
    snwDestroyTaskPool(context->pool);
    pthread_mutex_destroy(&context->shapeMutex);
    context->allocator.free(context, context->allocator.user);
}

int snwContext_ThreadCount(const snwContext* context)
{
    return context->threadCount;
}

snwSimd snwContext_Simd(const snwContext* context)
{
    return context->simd;
}

void snwContext_Free(snwContext* context, void* memory)
{
    snwFree(context, memory);
}

void* snwAllocRaw(snwContext* context, size_t size)
{
    if (size > PTRDIFF_MAX - snw_alignment)
        return NULL;
    // Whole cache lines, never zero bytes: a wide load may read the rest of the last line.
    size_t rounded = (size + snw_alignment - 1) / snw_alignment * snw_alignment;
    return context->allocator.alloc(rounded > 0 ? rounded : snw_alignment, snw_alignment, context->allocator.user);
}

void* snwAlloc(snwContext* context, size_t size)
{
    void* memory = snwAllocRaw(context, size);
    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

void* snwAllocArray(snwContext* context, size_t count, size_t size)
{
    if (size > 0 && count > (PTRDIFF_MAX - snw_alignment) / size)
        return NULL;
    return snwAlloc(context, count * size);
}

void snwFree(snwContext* context, void* memory)
{
    if (memory != NULL)
        context->allocator.free(memory, context->allocator.user);
}

void* snwCopyArray(snwContext* context, const void* data, size_t count, size_t size)
{
    void* copy = snwAllocArray(context, count, size);
    if (copy != NULL && count > 0)
        memcpy(copy, data, count * size);
    return copy;
}

char* snwCopyText(snwContext* context, const char* text)
{
    return text != NULL ? snwCopyArray(context, text, strlen(text) + 1, 1) : snwAlloc(context, 1);
}

bool snwArray_Grow(snwContext* context, void** data, int count, int* capacity, int extra, size_t size)
{
    if (extra <= *capacity - count)
        return true;
    if (extra > INT_MAX - count)
        return false;

    // Double what there is, within int, and never less than eight.
    int wanted = count + extra;
    int doubled = *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
    int grown = wanted > doubled ? wanted : doubled;
    grown = grown < 8 ? 8 : grown;

    // A product that does not fit into memory at all is refused before it wraps around.
    if ((size_t)grown > (PTRDIFF_MAX - snw_alignment) / size)
        return false;
    void* memory = snwAllocRaw(context, (size_t)grown * size);
    if (memory == NULL)
        return false;
    if (count > 0)
        memcpy(memory, *data, (size_t)count * size);
    snwFree(context, *data);
    *data = memory;
    *capacity = grown;

    return true;
}

void snwLogText(snwContext* context, snwLogLevel level, const char* format, ...)
{
    if (context->log == NULL)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    context->log(level, text, context->logUser);
}
