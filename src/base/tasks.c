#include "base/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum
{
    snw_spinTurns = 2000, // some microseconds: shorter than a sleep and a wake
    snw_maxSumChunks = 256
};

// One loop at a time. Workers that wake while it is open join it; the caller closes it when all items are handed out
// and waits only for those inside, so a worker the system has not woken yet delays nobody.
struct snwTaskPool
{
    snwAllocator allocator;
    pthread_mutex_t mutex; // of everything that is not atomic
    pthread_cond_t wake;   // a new loop, or the end
    pthread_cond_t done;   // the last worker left the loop
    pthread_t threads[64];
    int threadCount; // workers, the caller not counted
    atomic_flag busy;

    snwTaskItemFn* item;
    void* data;
    int count;
    atomic_int next; // item to hand out
    bool open;
    bool quit;
    atomic_int inside;      // workers in the loop
    atomic_uint generation; // of the loop; workers wait for it to change
};

static inline void SpinPause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void TakeItems(snwTaskPool* pool)
{
    int index;
    while ((index = atomic_fetch_add(&pool->next, 1)) < pool->count)
        pool->item(index, pool->data);
}

static void WaitForGeneration(snwTaskPool* pool, unsigned* seen)
{
    for (int i = 0; i < snw_spinTurns && atomic_load(&pool->generation) == *seen; ++i)
        SpinPause();
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == *seen)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    *seen = atomic_load(&pool->generation);
}

static void* WorkerMain(void* argument)
{
    snwTaskPool* pool = argument;
    unsigned seen = 0;
    for (;;)
    {
        WaitForGeneration(pool, &seen); // returns with the mutex
        bool join = pool->open, quit = pool->quit;
        atomic_fetch_add(&pool->inside, join ? 1 : 0);
        pthread_mutex_unlock(&pool->mutex);
        if (quit)
            return NULL;
        if (!join)
            continue;
        TakeItems(pool);
        pthread_mutex_lock(&pool->mutex);
        if (atomic_fetch_sub(&pool->inside, 1) == 1)
            pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void OpenLoop(snwTaskPool* pool, snwTaskItemFn* item, int count, void* data)
{
    pthread_mutex_lock(&pool->mutex);
    pool->item = item;
    pool->data = data;
    pool->count = count;
    pool->open = true;
    atomic_store(&pool->next, 0);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void CloseLoop(snwTaskPool* pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < snw_spinTurns && atomic_load(&pool->inside) > 0; ++i)
        SpinPause();
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->inside) > 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

snwResult snwCreateTaskPool(const snwAllocator* allocator, int threadCount, snwTaskPool** out)
{
    snwTaskPool* pool = allocator->alloc(sizeof *pool, snw_alignment, allocator->user);
    if (pool == NULL)
        return snw_errorMemory;
    memset(pool, 0, sizeof *pool);
    pool->allocator = *allocator;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    atomic_flag_clear(&pool->busy);
    for (int i = 0; i < threadCount - 1; ++i)
    {
        if (pthread_create(&pool->threads[i], NULL, WorkerMain, pool) != 0)
        {
            snwDestroyTaskPool(pool);
            return snw_errorIo;
        }
        pool->threadCount++;
    }
    *out = pool;
    return snw_ok;
}

void snwDestroyTaskPool(snwTaskPool* pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->quit = true;
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->threadCount; ++i)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    pool->allocator.free(pool, pool->allocator.user);
}

static void RunItems(snwContext* context, snwTaskItemFn* item, int count, void* data)
{
    snwTaskPool* pool = context->pool;
    if (count > 1 && context->runTasks != NULL)
    {
        context->runTasks(item, count, data, context->tasksUser);
    }
    else if (count > 1 && pool != NULL && !atomic_flag_test_and_set(&pool->busy))
    {
        OpenLoop(pool, item, count, data);
        TakeItems(pool);
        CloseLoop(pool);
        atomic_flag_clear(&pool->busy);
    }
    else
    {
        for (int i = 0; i < count; ++i)
            item(i, data);
    }
}

typedef struct RangeLoop
{
    snwRangeFn* fn;
    snwRangeSumFn* sumFn;
    double* sums;
    void* data;
    int count, grain;
} RangeLoop;

static void RunChunk(int index, void* data)
{
    const RangeLoop* loop = data;
    int begin = index * loop->grain;
    int end = loop->count - begin < loop->grain ? loop->count : begin + loop->grain;
    if (loop->fn != NULL)
        loop->fn(begin, end, loop->data);
    else
        loop->sums[index] = loop->sumFn(begin, end, loop->data);
}

static int ChunkCount(int count, int grain)
{
    return count <= 0 ? 0 : (count - 1) / grain + 1;
}

void snwParallelFor(snwContext* context, int count, int grain, snwRangeFn* fn, void* data)
{
    RangeLoop loop = {.fn = fn, .data = data, .count = count, .grain = grain < 1 ? 1 : grain};
    RunItems(context, RunChunk, ChunkCount(count, loop.grain), &loop);
}

double snwParallelSum(snwContext* context, int count, int grain, snwRangeSumFn* fn, void* data)
{
    double sums[snw_maxSumChunks];
    int smallest = ChunkCount(count, snw_maxSumChunks);
    RangeLoop loop = {.sumFn = fn, .sums = sums, .data = data, .count = count};
    loop.grain = grain > smallest ? grain : smallest;
    loop.grain = loop.grain < 1 ? 1 : loop.grain;
    int chunks = ChunkCount(count, loop.grain);
    RunItems(context, RunChunk, chunks, &loop);
    double sum = 0.0;
    for (int i = 0; i < chunks; ++i)
        sum += sums[i];
    return sum;
}
