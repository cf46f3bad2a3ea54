// Blueprint files: whatever is read has a distance everywhere, and becomes a small mesh or an error with words.

#include "fuzz.h"

#include "scene/blueprint_file.h"

#include <math.h>

static void CheckMesh(snwContext* context, const snwBlueprint* blueprint)
{
    snwBlueprintSize size = {.tets = 120};
    snwCharacter* character = NULL;
    snwMessage message = {0};
    if (blueprint->ribbonCount > 0 || blueprint->boxSize.x > 0)
        return; // as large as the file says, which is tested elsewhere
    snwResult result = snwBlueprint_Create(context, blueprint, &size, NULL, NULL, &character, &message);
    if (result < 0 && message.text[0] == 0)
        abort(); // an error without words
    if (character != NULL)
        snwCharacter_Release(character);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwBlueprintFile file;
    snwMessage message = {0};
    snwContext* context = snwFuzz_NewContext(&memory, 4 << 20);
    if (snwBlueprintFile_Read(context, "fuzz", (const char*)data, size, &file, &message) >= 0)
    {
        const snwFlesh* flesh = &file.blueprint.flesh;
        for (int i = 0; i < 64 && flesh->partCount > 0; ++i)
        {
            snwVec3 t = {(i & 3) / 3.0, (i >> 2 & 3) / 3.0, (i >> 4) / 3.0};
            snwVec3 size3 = snwVec3_Sub(flesh->upper, flesh->lower);
            snwVec3 p = {flesh->lower.x + t.x * size3.x, flesh->lower.y + t.y * size3.y, flesh->lower.z + t.z * size3.z};
            if (!isfinite(snwFlesh_Distance(flesh, p)))
                abort();
        }
        CheckMesh(context, &file.blueprint);
    }
    else if (message.text[0] == 0)
        abort();
    snwBlueprintFile_Free(&file);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
