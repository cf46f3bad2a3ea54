#include "base/context.h"
#include "fixture.h"
#include "test.h"

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
