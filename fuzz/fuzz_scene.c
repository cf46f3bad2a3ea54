// Scene files: whatever is read must be written again, and what was written must read back to the same scene.

#include "fuzz.h"

static void CheckRoundTrip(snwContext* context, const snwSceneFile* file)
{
    snwSceneFile again;
    char* text = NULL;
    size_t size = 0;
    snwResult result = snwSceneFile_Format(context, file, &text, &size, NULL);
    if (result == snw_ok)
    {
        result = snwSceneFile_Parse(context, text, size, "again", NULL, &again, NULL);
        if (result >= 0 && snwScene_Hash(file->scene) != snwScene_Hash(again.scene))
            abort();
        snwSceneFile_Close(&again);
    }
    if (result < 0 && result != snw_errorMemory)
        abort();
    snwContext_Free(context, text);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwSceneFile file;
    snwMessage message;
    snwContext* context = snwFuzz_NewContext(&memory, 4 << 20);
    if (snwSceneFile_Parse(context, (const char*)data, size, "fuzz", NULL, &file, &message) >= 0)
        CheckRoundTrip(context, &file);
    else if (message.text[0] == 0)
        abort(); // an error without words
    snwSceneFile_Close(&file);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
