// The pool. Every loop is a list of phases, mostly one.
//
// A phase is cut into claims (a chunk each, or several where there are very many) and every thread owns a share of
// them: the same part of each phase, so that what it wrote in the last phase is still in its cache. Who is through with
// its own takes from the others' shares. So nobody waits for a worker that the system has not woken or has put aside,
// unless it is in the middle of a claim.
//
// A share is one atomic number: which phase, the next claim, the end of the share. A thread takes a claim by raising
// the number it saw; if the phase has changed since, the number has, too, and the attempt fails. Only after that it
// reads what to do, and the phase cannot end before it has counted the claim as done: so workers neither join nor
// leave a loop, and the caller does not wait for them to look elsewhere. Who counts down to 0 opens the next phase.
// (Exactly 2^32 phases between a thread's look and its attempt would fool it.)
//
// Waiting is a short spin, then a sleep: on a busy machine a spin keeps the others from the work that is waited for.

#include "base/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum
{
    snw_spinTurns = 1000, // some microseconds: shorter than a sleep and a wake
    snw_maxSumChunks = 256,
    snw_maxClaims = UINT16_MAX,
};

typedef struct Share
{
    _Alignas(64) atomic_ullong claims; // phase << 32 | next << 16 | end
} Share;

typedef struct Worker
{
    snwTaskPool* pool;
    int share;
    pthread_t thread;
} Worker;

struct snwTaskPool
{
    Share shares[snw_maxThreads];
    _Alignas(64) atomic_int left;  // claims of the phase that are not done
    _Alignas(64) atomic_uint tick; // goes up with every phase that opens, and at the end of a loop
    atomic_int current;            // phase of the loop; phaseCount when all are done
    atomic_bool asleep;            // somebody waits for the tick in its sleep, and nobody has woken it yet
    atomic_bool quit;
    atomic_flag busy;

    // Changed only by the thread that opens a phase, while none is open.
    const snwPhase* phases;
    int phaseCount;
    int claimChunks; // chunks in a claim
    unsigned serial; // of the phase, over all loops

    pthread_mutex_t mutex; // of going to sleep
    pthread_cond_t wake;
    Worker workers[snw_maxThreads];
    int workerCount;
    int shareCount; // of the workers and the caller, who has number 0
    snwAllocator allocator;
};

static inline void SpinPause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// ---------------------------------------------------------------------------------------------------------------------
// Chunks

static int ChunkCount(int count, int grain)
{
    return count <= 0 ? 0 : (count - 1) / grain + 1;
}

static int PhaseGrain(const snwPhase* phase)
{
    return phase->grain < 1 ? 1 : phase->grain;
}

static int PhaseChunks(const snwPhase* phase)
{
    return ChunkCount(phase->end - phase->begin, PhaseGrain(phase));
}

static void RunChunk(const snwPhase* phase, int index)
{
    int begin = phase->begin + index * PhaseGrain(phase);
    int end = phase->end - begin < PhaseGrain(phase) ? phase->end : begin + PhaseGrain(phase);
    phase->fn(begin, end, phase->data);
}

static void RunAlone(const snwPhase* phase)
{
    int chunks = PhaseChunks(phase);
    for (int i = 0; i < chunks; ++i)
        RunChunk(phase, i);
}

// ---------------------------------------------------------------------------------------------------------------------
// Waiting

static void Announce(snwTaskPool* pool)
{
    atomic_fetch_add(&pool->tick, 1);
    if (!atomic_load(&pool->asleep))
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->asleep, false); // waking them once is enough, however long that takes
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void WaitForTick(snwTaskPool* pool, unsigned seen)
{
    for (int i = 0; i < snw_spinTurns; ++i)
    {
        if (atomic_load_explicit(&pool->tick, memory_order_relaxed) != seen)
            return;
        SpinPause();
    }
    pthread_mutex_lock(&pool->mutex);
    for (;;)
    {
        atomic_store(&pool->asleep, true); // then a look at the tick; Announce does it the other way round
        if (atomic_load(&pool->tick) != seen)
            break;
        pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

// ---------------------------------------------------------------------------------------------------------------------
// Claims

// Opens phase number `index`: for all, or for the caller if it is one chunk or the end.
static void OpenPhase(snwTaskPool* pool, int index)
{
    unsigned long long serial = ++pool->serial;
    int chunks = index < pool->phaseCount ? PhaseChunks(&pool->phases[index]) : 0;
    pool->claimChunks = ChunkCount(chunks, snw_maxClaims);
    unsigned claims = chunks > 1 ? (unsigned)ChunkCount(chunks, pool->claimChunks) : 0;
    unsigned shares = (unsigned)pool->shareCount;
    atomic_store(&pool->left, (int)claims);
    atomic_store(&pool->current, index);
    for (unsigned i = 0; i < shares && claims > 0; ++i)
        atomic_store(&pool->shares[i].claims, serial << 32 | (claims * i / shares) << 16 | (claims * (i + 1) / shares));
    Announce(pool);
}

// The next claim of the share; -1 if there is none.
static int TakeClaim(Share* share)
{
    unsigned long long seen = atomic_load(&share->claims);
    for (;;)
    {
        unsigned next = seen >> 16 & 0xffff, end = seen & 0xffff;
        if (next >= end)
            return -1;
        if (atomic_compare_exchange_weak(&share->claims, &seen, seen + (1 << 16)))
            return (int)next;
    }
}

static void RunClaim(const snwTaskPool* pool, int claim)
{
    const snwPhase* phase = &pool->phases[atomic_load(&pool->current)];
    int chunks = PhaseChunks(phase), each = pool->claimChunks;
    int end = chunks - claim * each < each ? chunks : (claim + 1) * each;
    for (int i = claim * each; i < end; ++i)
        RunChunk(phase, i);
}

// Claims of the own share, then of the others; all are counted at once. False if there were none.
static bool WorkOnShare(snwTaskPool* pool, int own)
{
    int done = 0;
    for (int i = 0; i < pool->shareCount; ++i)
    {
        Share* share = &pool->shares[(own + i) % pool->shareCount];
        for (int claim; (claim = TakeClaim(share)) >= 0; ++done)
            RunClaim(pool, claim);
    }
    if (done > 0 && atomic_fetch_sub(&pool->left, done) == done)
        OpenPhase(pool, atomic_load(&pool->current) + 1);
    return done > 0;
}

static void* WorkerMain(void* argument)
{
    const Worker* worker = argument;
    snwTaskPool* pool = worker->pool;
    for (;;)
    {
        unsigned seen = atomic_load(&pool->tick);
        if (atomic_load(&pool->quit))
            return NULL;
        if (!WorkOnShare(pool, worker->share))
            WaitForTick(pool, seen);
    }
}

static void RunPhases(snwTaskPool* pool, const snwPhase* phases, int count)
{
    pool->phases = phases;
    pool->phaseCount = count;
    OpenPhase(pool, 0);
    for (;;)
    {
        unsigned seen = atomic_load(&pool->tick);
        int current = atomic_load(&pool->current);
        if (current == count)
            return;

        // Phases of one chunk are not worth waking anybody for: the calling thread runs them in a row.
        if (PhaseChunks(&phases[current]) <= 1)
        {
            while (current < count && PhaseChunks(&phases[current]) <= 1)
                RunAlone(&phases[current++]);
            OpenPhase(pool, current);
        }
        else if (!WorkOnShare(pool, 0))
            WaitForTick(pool, seen);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The pool

static bool StartWorkers(snwTaskPool* pool)
{
    while (pool->workerCount < pool->shareCount - 1)
    {
        Worker* worker = &pool->workers[pool->workerCount];
        *worker = (Worker){.pool = pool, .share = pool->workerCount + 1};
        if (pthread_create(&worker->thread, NULL, WorkerMain, worker) != 0)
            return false;
        pool->workerCount++;
    }
    return true;
}

snwResult snwCreateTaskPool(const snwAllocator* allocator, int threadCount, snwTaskPool** out)
{
    snwTaskPool* pool = allocator->alloc(sizeof *pool, snw_alignment, allocator->user);
    if (pool == NULL)
        return snw_errorMemory;
    memset(pool, 0, sizeof *pool);
    pool->allocator = *allocator;
    pool->shareCount = threadCount;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    atomic_flag_clear(&pool->busy);
    if (!StartWorkers(pool))
    {
        snwDestroyTaskPool(pool);
        return snw_errorIo;
    }
    *out = pool;
    return snw_ok;
}

void snwDestroyTaskPool(snwTaskPool* pool)
{
    if (pool == NULL)
        return;
    atomic_store(&pool->quit, true);
    Announce(pool);
    for (int i = 0; i < pool->workerCount; ++i)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    pool->allocator.free(pool, pool->allocator.user);
}

// ---------------------------------------------------------------------------------------------------------------------
// Loops

static void RunItem(int index, void* data)
{
    RunChunk(data, index);
}

static void RunByHost(snwContext* context, const snwPhase* phase)
{
    snwPhase copy = *phase;
    int chunks = PhaseChunks(phase);
    if (chunks > 1)
        context->runTasks(RunItem, chunks, &copy, context->tasksUser);
    else
        RunAlone(phase);
}

static bool AnyToShare(const snwPhase* phases, int count)
{
    for (int i = 0; i < count; ++i)
        if (PhaseChunks(&phases[i]) > 1)
            return true;
    return false;
}

void snwParallelPhases(snwContext* context, const snwPhase* phases, int count)
{
    snwTaskPool* pool = context->pool;
    if (context->runTasks != NULL)
    {
        for (int i = 0; i < count; ++i)
            RunByHost(context, &phases[i]);
    }
    else if (pool != NULL && AnyToShare(phases, count) && !atomic_flag_test_and_set(&pool->busy))
    {
        RunPhases(pool, phases, count);
        atomic_flag_clear(&pool->busy);
    }
    else
    {
        for (int i = 0; i < count; ++i)
            RunAlone(&phases[i]);
    }
}

void snwParallelFor(snwContext* context, int count, int grain, snwRangeFn* fn, void* data)
{
    snwParallelPhases(context, &(snwPhase){fn, data, 0, count, grain}, 1);
}

typedef struct SumLoop
{
    snwRangeSumFn* fn;
    void* data;
    int grain;
    double sums[snw_maxSumChunks]; // per chunk
} SumLoop;

static void SumChunk(int begin, int end, void* data)
{
    SumLoop* loop = data;
    loop->sums[begin / loop->grain] = loop->fn(begin, end, loop->data);
}

double snwParallelSum(snwContext* context, int count, int grain, snwRangeSumFn* fn, void* data)
{
    SumLoop loop;
    int smallest = ChunkCount(count, snw_maxSumChunks);
    loop.fn = fn;
    loop.data = data;
    loop.grain = grain > smallest ? grain : smallest;
    loop.grain = loop.grain < 1 ? 1 : loop.grain;
    snwParallelFor(context, count, loop.grain, SumChunk, &loop);
    double sum = 0.0;
    int chunks = ChunkCount(count, loop.grain);
    for (int i = 0; i < chunks; ++i)
        sum += loop.sums[i];
    return sum;
}
