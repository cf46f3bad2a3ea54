#include "base/arena.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/sort.h"
#include "fixture.h"
#include "test.h"

#include <stdlib.h>

TEST(base, messageNamesFilePlaceTextAndRemedy)
{
    snwMessage message;
    CHECK_INT(snwFail(&message, snw_errorInput, "use 1..512", "cells is %d", -3), snw_errorInput);
    snwMessage_AddPlace(&message, "cells[%d]", 0);
    snwMessage_AddPlace(&message, "bodies[%d]", 2);
    snwMessage_SetFile(&message, "scene.json");
    char text[256];
    snwMessage_Format(&message, text, sizeof text);
    CHECK(strcmp(text, "scene.json: bodies[2].cells[0]: cells is -3 (use 1..512)") == 0);
    CHECK_INT(snwFail(NULL, snw_errorIo, NULL, "nobody listens"), snw_errorIo);
}

TEST(base, messageCutsLongTextsShort)
{
    char longText[2000];
    memset(longText, 'x', sizeof longText - 1);
    longText[sizeof longText - 1] = 0;
    snwMessage message;
    snwFail(&message, snw_errorInput, longText, "%s", longText);
    for (int i = 0; i < 4; ++i)
        snwMessage_AddPlace(&message, "%s", longText);
    snwMessage_SetFile(&message, longText);
    CHECK_INT(strlen(message.text), sizeof message.text - 1);
    CHECK_INT(strlen(message.place), sizeof message.place - 1);
    CHECK_INT(strlen(message.file), sizeof message.file - 1);
}

TEST(base, contextRefusesNonsense)
{
    snwContextDef def = snwDefaultContextDef();
    snwContext* context;
    snwMessage message;
    def.threadCount = 65;
    CHECK_INT(snwCreateContext(&def, &context, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "threadCount is 65");
    def = snwDefaultContextDef();
    def.allocator.alloc = NULL;
    CHECK_INT(snwCreateContext(&def, &context, &message), snw_errorArgument);
    CHECK(context == NULL);
}

TEST(base, allocatorHookSeesEverything)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(3, snw_simdAuto, &counter);
    CHECK(counter.allocations > 0);
    void* memory = snwAlloc(context, 100);
    REQUIRE(memory != NULL);
    CHECK_INT((uintptr_t)memory % snw_alignment, 0);
    for (int i = 0; i < 100; ++i)
        CHECK(((char*)memory)[i] == 0);
    snwFree(context, memory);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(base, absurdSizesGiveNull)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    CHECK(snwAlloc(context, SIZE_MAX) == NULL);
    CHECK(snwAllocArray(context, SIZE_MAX / 2, 3) == NULL);
    snwArena arena = {.context = context};
    CHECK(snwArena_Alloc(&arena, SIZE_MAX / 4, 8) == NULL);
    CHECK(arena.failed);
    snwArena_Free(&arena);
    snwDestroyContext(context);
}

static void CountText(snwLogLevel level, const char* text, void* user)
{
    int* counts = user;
    counts[level]++;
    CHECK(strcmp(text, "seven is 7") == 0);
}

TEST(base, logGoesToTheCallback)
{
    int counts[4] = {0};
    snwContextDef def = snwDefaultContextDef();
    def.log = CountText;
    def.logUser = counts;
    snwContext* context;
    REQUIRE(snwCreateContext(&def, &context, NULL) == snw_ok);
    snwLogText(context, snw_logWarning, "seven is %d", 7);
    CHECK_INT(counts[snw_logWarning], 1);
    snwDestroyContext(context);
}

TEST(base, arrayGrowsAndSurvivesFailure)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwArray(int) list = {0};
    for (int i = 0; i < 1000; ++i)
        CHECK(snwArray_Push(context, &list, i * i));
    CHECK_INT(list.count, 1000);
    CHECK_INT(list.data[999], 999 * 999);
    counter.failAt = counter.allocations + 1;
    while (list.count < list.capacity)
        CHECK(snwArray_Push(context, &list, 1));
    int count = list.count;
    CHECK(!snwArray_Push(context, &list, 1));
    CHECK_INT(list.count, count);
    CHECK_INT(list.data[999], 999 * 999);
    snwArray_Free(context, &list);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(base, hashSeesEveryBitAndTheLength)
{
    unsigned char bytes[100] = {0};
    uint64_t plain = snwHash(bytes, sizeof bytes, 0);
    for (int bit = 0; bit < 800; ++bit)
    {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        uint64_t flipped = snwHash(bytes, sizeof bytes, 0);
        int distance = __builtin_popcountll(plain ^ flipped);
        CHECK(distance > 8 && distance < 56);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK(snwHash(bytes, 99, 0) != plain);
    CHECK(snwHash(bytes, sizeof bytes, 1) != plain);
    CHECK_INT(snwHash(bytes, sizeof bytes, 0), plain);
}

TEST(base, sortIsStableAndRight)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    enum
    {
        count = 5000
    };
    uint64_t keys[count], seed = 5;
    int values[count];
    for (int i = 0; i < count; ++i)
    {
        keys[i] = (uint64_t)(snwTest_Random(&seed) * 50) << 40 | (uint64_t)(snwTest_Random(&seed) * 4);
        values[i] = i;
    }
    CHECK(snwSortKeys(context, keys, values, count));
    for (int i = 1; i < count; ++i)
        CHECK(keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]));
    snwDestroyContext(context);
}

TEST(base, readerNeverLeavesItsBlock)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwWriter writer = {.context = context};
    snwWriteInt(&writer, 42);
    snwWriteText(&writer, "sinew");
    snwWriteReal(&writer, 0.1);
    snwReader reader = {.data = writer.data, .size = writer.size};
    CHECK_INT(snwReadInt(&reader), 42);
    char* text = snwReadText(&reader, context);
    CHECK(text != NULL && strcmp(text, "sinew") == 0);
    CHECK(snwReadReal(&reader) == 0.1);
    CHECK(!reader.failed);
    CHECK_INT(snwReadInt(&reader), 0);
    CHECK(reader.failed);
    reader = (snwReader){.data = writer.data, .size = writer.size};
    CHECK_INT(snwReadCount(&reader, 8), 0); // 42 things of 8 bytes do not fit
    CHECK(reader.failed);
    snwFree(context, text);
    snwFree(context, writer.data);
    snwDestroyContext(context);
}
