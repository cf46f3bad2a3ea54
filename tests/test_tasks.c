// Labels: threads

#include "base/context.h"
#include "fixture.h"
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

enum
{
    snw_itemCount = 100003
};

typedef struct Visits
{
    atomic_int counts[snw_itemCount];
    snwContext* context;
} Visits;

static Visits s_visits; // large, and zero at the start

static void Visit(int begin, int end, void* data)
{
    Visits* visits = data;
    for (int i = begin; i < end; ++i)
        atomic_fetch_add(&visits->counts[i], 1);
}

TEST(tasks, everyItemRunsOnce)
{
    const int threads[] = {1, 2, 3, 5, 8};
    memset(&s_visits, 0, sizeof s_visits);
    for (int t = 0; t < 5; ++t)
    {
        snwContext* context = snwFixture_Context(threads[t], snw_simdAuto, NULL);
        CHECK_INT(snwContext_ThreadCount(context), threads[t]);
        for (int round = 0; round < 20; ++round)
            snwParallelFor(context, snw_itemCount, 97 + round, Visit, &s_visits);
        snwDestroyContext(context);
    }
    for (int i = 0; i < snw_itemCount; ++i)
        if (s_visits.counts[i] != 100)
        {
            CHECK_INT(s_visits.counts[i], 100);
            break;
        }
}

static double SumInverse(int begin, int end, void* data)
{
    (void)data;
    double sum = 0.0;
    for (int i = begin; i < end; ++i)
        sum += 1.0 / (1.0 + i);
    return sum;
}

TEST(tasks, sumsHaveTheSameBitsForAnyThreads)
{
    double first = 0.0;
    const int threads[] = {1, 2, 3, 5, 8};
    for (int t = 0; t < 5; ++t)
    {
        snwContext* context = snwFixture_Context(threads[t], snw_simdAuto, NULL);
        for (int round = 0; round < 50; ++round)
        {
            double sum = snwParallelSum(context, 1000000, 100, SumInverse, NULL);
            first = t == 0 && round == 0 ? sum : first;
            CHECK(memcmp(&sum, &first, sizeof sum) == 0);
        }
        snwDestroyContext(context);
    }
    CHECK_NEAR(first, 14.392726722865724, 1e-9); // harmonic number of 10^6
}

static void VisitNested(int begin, int end, void* data)
{
    Visits* visits = data;
    for (int i = begin; i < end; ++i)
        snwParallelFor(visits->context, 10, 1, Visit, visits);
}

TEST(tasks, loopInsideALoopRuns)
{
    snwContext* context = snwFixture_Context(4, snw_simdAuto, NULL);
    memset(&s_visits, 0, sizeof s_visits);
    s_visits.context = context;
    snwParallelFor(context, 100, 1, VisitNested, &s_visits);
    for (int i = 0; i < 10; ++i)
        CHECK_INT(s_visits.counts[i], 100);
    snwDestroyContext(context);
}

static void* CallFromThread(void* data)
{
    Visits* visits = data;
    for (int i = 0; i < 200; ++i)
        snwParallelFor(visits->context, 1000, 10, Visit, visits);
    return NULL;
}

TEST(tasks, severalCallersShareOneContext)
{
    snwContext* context = snwFixture_Context(3, snw_simdAuto, NULL);
    memset(&s_visits, 0, sizeof s_visits);
    s_visits.context = context;
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        REQUIRE(pthread_create(&threads[i], NULL, CallFromThread, &s_visits) == 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 1000; ++i)
        CHECK_INT(s_visits.counts[i], 800);
    snwDestroyContext(context);
}

// A host that runs the items backwards on its own thread.
static void RunBackwards(snwTaskItemFn* item, int count, void* data, void* user)
{
    (*(int*)user)++;
    for (int i = count - 1; i >= 0; --i)
        item(i, data);
}

TEST(tasks, hostCallbacksReplaceThePool)
{
    int calls = 0;
    snwContextDef def = snwDefaultContextDef();
    def.runTasks = RunBackwards;
    def.tasksUser = &calls;
    def.threadCount = 4;
    snwContext* context;
    REQUIRE(snwCreateContext(&def, &context, NULL) == snw_ok);
    CHECK(context->pool == NULL);
    snwContext* own = snwFixture_Context(2, snw_simdAuto, NULL);
    double a = snwParallelSum(context, 100000, 100, SumInverse, NULL);
    double b = snwParallelSum(own, 100000, 100, SumInverse, NULL);
    CHECK(a == b);
    CHECK_INT(calls, 1);
    snwDestroyContext(own);
    snwDestroyContext(context);
}

TEST(tasks, emptyAndTinyLoops)
{
    snwContext* context = snwFixture_Context(4, snw_simdAuto, NULL);
    memset(&s_visits, 0, sizeof s_visits);
    snwParallelFor(context, 0, 10, Visit, &s_visits);
    CHECK_INT(s_visits.counts[0], 0);
    snwParallelFor(context, 1, 0, Visit, &s_visits);
    CHECK_INT(s_visits.counts[0], 1);
    CHECK(snwParallelSum(context, 0, 1, SumInverse, NULL) == 0.0);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Phases

enum
{
    snw_phaseRows = 4099,
    snw_phaseCount = 60,
    snw_phaseRounds = 30
};

typedef struct Chain
{
    double rows[2][snw_phaseRows]; // phases read one and write the other
    int from;
    pthread_t caller;
    atomic_int strangers; // phases of one chunk that ran on another thread
} Chain;

static double Mix(const Chain* chain, int i)
{
    const double* from = chain->rows[chain->from];
    return 0.7 * from[i] + 0.2 * from[(i + 2048) % snw_phaseRows] + 0.1 * from[snw_phaseRows - 1 - i];
}

// Reads what any thread may have written in the phase before.
static void MixForward(int begin, int end, void* data)
{
    Chain* chain = data;
    for (int i = begin; i < end; ++i)
        chain->rows[1 - chain->from][i] = Mix(chain, i);
}

static void Turn(int begin, int end, void* data)
{
    Chain* chain = data;
    (void)begin;
    (void)end;
    atomic_fetch_add(&chain->strangers, pthread_equal(pthread_self(), chain->caller) ? 0 : 1);
    chain->from = 1 - chain->from;
}

static void StartChain(Chain* chain)
{
    chain->from = 0;
    chain->caller = pthread_self();
    for (int i = 0; i < snw_phaseRows; ++i)
        chain->rows[0][i] = sin(1.0 + i);
}

// Large phases and small ones, several small ones in a row, empty ones, one at the start and one at the end.
static int MakePhases(Chain* chain, snwPhase* phases)
{
    int count = 0;
    phases[count++] = (snwPhase){MixForward, chain, 5, 5, 16};
    for (int i = 0; i < snw_phaseCount; ++i)
    {
        int cut = i % 3 == 0 ? snw_phaseRows : 40 * i;
        phases[count++] = (snwPhase){MixForward, chain, 0, cut, 16 + i};
        phases[count++] = (snwPhase){MixForward, chain, cut, snw_phaseRows, i % 5 == 0 ? snw_phaseRows : 64};
        phases[count++] = (snwPhase){Turn, chain, 0, 1, 1};
    }
    return count;
}

TEST(tasks, phasesRunInOrderForAnyThreads)
{
    static Chain plain, chain;
    snwPhase phases[3 * snw_phaseCount + 1];
    StartChain(&plain);
    int plainCount = MakePhases(&plain, phases);
    for (int round = 0; round < snw_phaseRounds; ++round)
        for (int i = 0; i < plainCount; ++i)
            if (phases[i].begin < phases[i].end)
                phases[i].fn(phases[i].begin, phases[i].end, &plain);
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; ++t)
    {
        snwContext* context = snwFixture_Context(threads[t], snw_simdAuto, NULL);
        StartChain(&chain);
        int count = MakePhases(&chain, phases);
        for (int round = 0; round < snw_phaseRounds; ++round)
            snwParallelPhases(context, phases, count);
        CHECK(memcmp(chain.rows[chain.from], plain.rows[plain.from], sizeof *chain.rows) == 0);
        CHECK_INT(chain.strangers, 0);
        snwDestroyContext(context);
    }
}

static void VisitInside(int begin, int end, void* data)
{
    (void)begin;
    (void)end;
    snwParallelFor(((Visits*)data)->context, 1000, 10, Visit, data);
}

TEST(tasks, phaseOfOneChunkMayHaveLoops)
{
    snwContext* context = snwFixture_Context(4, snw_simdAuto, NULL);
    memset(&s_visits, 0, sizeof s_visits);
    s_visits.context = context;
    const snwPhase phases[] = {
        {Visit, &s_visits, 0, 1000, 10}, {VisitInside, &s_visits, 0, 1, 1}, {Visit, &s_visits, 0, 1000, 30}};
    snwParallelPhases(context, phases, 3);
    for (int i = 0; i < 1000; ++i)
        CHECK_INT(s_visits.counts[i], 3);
    snwDestroyContext(context);
}

// More chunks than claims: each still starts at a multiple of the grain.
static void VisitPairs(int begin, int end, void* data)
{
    Visits* visits = data;
    bool whole = begin % 2 == 1 && end == (begin + 2 < 150003 ? begin + 2 : 150003);
    atomic_fetch_add(&visits->counts[begin / 2], whole ? 1 : 1000);
}

TEST(tasks, veryManyChunksKeepTheirBorders)
{
    snwContext* context = snwFixture_Context(3, snw_simdAuto, NULL);
    memset(&s_visits, 0, sizeof s_visits);
    const snwPhase phase = {VisitPairs, &s_visits, 1, 150003, 2};
    snwParallelPhases(context, &phase, 1);
    int wrong = 0;
    for (int i = 0; i < 75001; ++i)
        wrong += s_visits.counts[i] != 1;
    CHECK_INT(wrong, 0);
    CHECK_INT(s_visits.counts[75001], 0);
    snwDestroyContext(context);
}

static void* PhasesFromThread(void* data)
{
    Visits* visits = data;
    const snwPhase phases[] = {
        {Visit, visits, 0, 500, 10}, {Visit, visits, 500, 501, 10}, {Visit, visits, 501, 1000, 10}};
    for (int i = 0; i < 200; ++i)
        snwParallelPhases(visits->context, phases, 3);
    return NULL;
}

TEST(tasks, severalCallersHavePhases)
{
    snwContext* context = snwFixture_Context(3, snw_simdAuto, NULL);
    memset(&s_visits, 0, sizeof s_visits);
    s_visits.context = context;
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        REQUIRE(pthread_create(&threads[i], NULL, PhasesFromThread, &s_visits) == 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 1000; ++i)
        CHECK_INT(s_visits.counts[i], 800);
    snwDestroyContext(context);
}

TEST(tasks, hostRunsPhases)
{
    static Chain chain, plain;
    int calls = 0;
    snwPhase phases[3 * snw_phaseCount + 1];
    snwContextDef def = snwDefaultContextDef();
    def.runTasks = RunBackwards;
    def.tasksUser = &calls;
    snwContext* context;
    REQUIRE(snwCreateContext(&def, &context, NULL) == snw_ok);
    snwContext* own = snwFixture_Context(2, snw_simdAuto, NULL);
    StartChain(&chain);
    snwParallelPhases(context, phases, MakePhases(&chain, phases));
    StartChain(&plain);
    snwParallelPhases(own, phases, MakePhases(&plain, phases));
    CHECK(memcmp(chain.rows[chain.from], plain.rows[plain.from], sizeof *chain.rows) == 0);
    CHECK(calls > snw_phaseCount);
    snwDestroyContext(own);
    snwDestroyContext(context);
}
