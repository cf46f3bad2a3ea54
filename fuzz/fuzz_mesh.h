// What the fuzzers of mesh readers share: the input is a file and those beside it, with a mark between them.

#pragma once

#include "fuzz.h"
#include "sound.h"

typedef struct snwFuzzFolder
{
    const char* data; // of the files beside, each behind a mark
    size_t size;
    const char* mark;
} snwFuzzFolder;

static inline const char* snwFuzz_Find(const char* data, size_t size, const char* mark)
{
    size_t length = strlen(mark);
    for (size_t i = 0; i + length <= size; ++i)
        if (memcmp(data + i, mark, length) == 0)
            return data + i;
    return NULL;
}

// Gives the next file, whatever it is called.
static inline snwResult snwFuzz_ReadBeside(
    void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message)
{
    snwFuzzFolder* folder = user;
    if (folder->size == 0)
        return snwFail(message, snw_errorIo, NULL, "there is no file '%s'", name);
    const char* end = snwFuzz_Find(folder->data, folder->size, folder->mark);
    size_t used = end == NULL ? folder->size : (size_t)(end - folder->data);
    *data = snwAlloc(context, used + 1);
    if (*data == NULL)
        return snwFailMemory(message);
    memcpy(*data, folder->data, used);
    *size = used;
    size_t step = end == NULL ? used : used + strlen(folder->mark);
    folder->data += step;
    folder->size -= step;
    return snw_ok;
}

static inline int snwFuzz_ReadMesh(const char* name, const char* data, size_t size, const char* mark)
{
    snwFuzzMemory memory;
    snwMessage message = {0};
    snwAsset* asset = NULL;
    snwContext* context = snwFuzz_NewContext(&memory, 64 << 20);
    const char* end = mark == NULL ? NULL : snwFuzz_Find(data, size, mark);
    size_t used = end == NULL ? size : (size_t)(end - data), step = end == NULL ? size : used + strlen(mark);
    snwFuzzFolder beside = {data + step, size - step, mark};
    snwAssetFolder folder = {snwFuzz_ReadBeside, &beside};
    char* copy = malloc(used + 1); // of its own size, so that a step beyond it is seen
    if (copy == NULL)
        abort();
    memcpy(copy, data, used);
    copy[used] = 0;
    snwAssetInput input = {name, copy, used, &folder};
    if (snwAsset_Read(context, &input, &asset, &message) < 0)
    {
        if (message.text[0] == 0 || message.file[0] == 0 || asset != NULL)
            abort(); // an error without words
    }
    else if (!snwSound_Asset(asset))
        abort();
    snwAsset_Close(asset);
    free(copy);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
