// What is read is written, and what is written reads back to the same text.

#include "fuzz_rig.h"

#include "asset/rig_parts.h"

static void WriteTwice(snwContext* context, const snwAsset* asset)
{
    snwWriter first = {.context = context}, second = {.context = context};
    snwAsset* again = NULL;
    snwMessage message = {0};
    if (snwJointText_Write(&first, asset, &message) >= 0)
    {
        snwWrite(&first, "", 1);
        snwAssetInput input = {"x.joint", (const char*)first.data, first.size - 1, NULL};
        snwResult result = first.failed ? snw_errorMemory : snwAsset_Read(context, &input, &again, &message);
        snwFuzz_Expect(result >= 0 || result == snw_errorMemory);
        if (result >= 0 && snwJointText_Write(&second, again, &message) >= 0)
            snwFuzz_Expect(second.size == first.size - 1 && memcmp(second.data, first.data, second.size) == 0);
    }
    else
        snwFuzz_Expect(first.failed);
    snwAsset_Close(again);
    snwFree(context, first.data);
    snwFree(context, second.data);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzParts parts = snwFuzz_Split(data, size, 1);
    snwFuzz_ReadAsset("x.joint", &parts, WriteTwice);
    return 0;
}
