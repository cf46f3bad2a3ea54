// Prepared characters: what loads must save to the same bytes, and its surfaces go to finite places. Most inputs fail
// at a checksum, so the checksums are made right first: what lies behind them is as hostile as everything else.

#include "fuzz.h"

#include "base/hash.h"
#include "sim/prepared.h"

#include <math.h>
#include <string.h>

static uint64_t ReadU64(const uint8_t* at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void Repair(uint8_t* data, size_t size)
{
    uint32_t count = 0;
    uint64_t total = size, sum;
    if (size < 32)
        return;
    memcpy(&count, data + 12, sizeof count);
    memcpy(data + 16, &total, sizeof total);
    if (count > 64 || 24 + (size_t)count * 32 + 8 > size)
        return;
    for (size_t i = 0; i < count; ++i)
    {
        uint8_t* row = data + 24 + 32 * i;
        uint32_t tag;
        uint64_t offset = ReadU64(row + 8), length = ReadU64(row + 16);
        memcpy(&tag, row, sizeof tag);
        if (offset > size || length > size - offset)
            continue;
        sum = snwHash(data + offset, (size_t)length, tag);
        memcpy(row + 24, &sum, sizeof sum);
    }
    sum = snwHash(data, 24 + (size_t)count * 32, 0);
    memcpy(data + 24 + (size_t)count * 32, &sum, sizeof sum);
}

static void CheckMoves(snwPrepared* prepared)
{
    const snwCharacterDef* def = snwCharacter_GetDef(snwPrepared_GetCharacter(prepared));
    snwDisplay* display = NULL;
    float* positions = calloc(3 * (size_t)def->vertexCount + 1, sizeof *positions);
    if (snwCreateDisplay(prepared, &display, NULL) >= 0 && positions != NULL)
    {
        for (int i = 0; i < 3 * def->vertexCount; ++i)
            positions[i] = (float)(i % 7);
        snwSkin skin;
        if (snwDisplay_Update(display, positions, def->vertexCount, 12, NULL) < 0)
            abort();
        for (int i = 0; snwDisplay_GetSurface(display, i, &skin) >= 0; ++i)
            if (skin.triangleCount > 0 && skin.triangles[3 * skin.triangleCount - 1] >= skin.vertexCount)
                abort();
    }
    snwDestroyDisplay(display);
    free(positions);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwMessage message = {0};
    snwPrepared* prepared = NULL;
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    uint8_t* copy = malloc(size + 1);
    memcpy(copy, data, size);
    Repair(copy, size);
    if (snwPrepared_Load(context, copy, size, &prepared, &message) >= 0)
    {
        void* again = NULL;
        size_t againSize = 0;
        CheckMoves(prepared);
        if (snwPrepared_Save(prepared, &again, &againSize, NULL) >= 0)
            snwContext_Free(context, again);
    }
    else if (message.text[0] == 0)
        abort();
    snwPrepared_Release(prepared);
    free(copy);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
