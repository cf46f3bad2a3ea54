#include "readers.h"

#include "../fuzz/sound.h"

#include <stdlib.h>

static size_t SizeOf(const snwTestFile* file)
{
    return file->size > 0 ? file->size : strlen(file->data);
}

static snwResult ReadBeside(
    void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message)
{
    for (const snwTestFile* file = user; file->name != NULL; ++file)
        if (strcmp(file->name, name) == 0)
        {
            *size = SizeOf(file);
            *data = snwAlloc(context, *size + 1);
            if (*data == NULL)
                return snwFailMemory(message);
            memcpy(*data, file->data, *size);
            return snw_ok;
        }
    return snwFail(message, snw_errorIo, NULL, "there is no file '%s'", name);
}

// The bytes are copied to a block of their own size, so that the sanitizers see a step beyond it.
snwResult snwReaders_Read(
    snwContext* context, const snwTestFile* files, size_t size, snwAsset** asset, snwMessage* message)
{
    char* data = malloc(size + 1);
    if (data == NULL)
        exit(1);
    memcpy(data, files[0].data, size);
    data[size] = 0;
    snwAssetFolder folder = {ReadBeside, (void*)(files + 1)};
    snwAssetInput input = {files[0].name, data, size, &folder};
    snwResult result = snwAsset_Read(context, &input, asset, message);
    free(data);
    return result;
}

snwAsset* snwReaders_MustRead(snwContext* context, const snwTestFile* files)
{
    snwAsset* asset = NULL;
    snwMessage message = {0};
    char text[800];
    if (snwReaders_Read(context, files, SizeOf(files), &asset, &message) < 0)
    {
        snwMessage_Format(&message, text, sizeof text);
        snwTest_Fail(__FILE__, __LINE__, "%s", text);
        exit(1);
    }
    CHECK(snwSound_Asset(asset));
    return asset;
}

snwAsset* snwReaders_MustReadText(snwContext* context, const char* name, const char* text)
{
    const snwTestFile files[] = {{name, text, 0}, {0}};
    return snwReaders_MustRead(context, files);
}

void snwReaders_Refuses(const char* name, const char* text, const char* place, const char* words, const char* remedy)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    long before = counter.live;
    const snwTestFile files[] = {{name, text, 0}, {0}};
    snwAsset* asset = NULL;
    snwMessage message = {0};
    CHECK_INT(snwReaders_Read(context, files, strlen(text), &asset, &message), snw_errorInput);
    CHECK(asset == NULL);
    if (strstr(message.text, words) == NULL || strcmp(message.place, place) != 0 ||
        strstr(message.remedy, remedy) == NULL)
        snwTest_Fail(__FILE__, __LINE__, "'%s': got '%s: %s (%s)', expected '%s: %s (%s)'", text, message.place,
            message.text, message.remedy, place, words, remedy);
    CHECK(strcmp(message.file, name) == 0);
    CHECK_INT(counter.live, before);
    snwDestroyContext(context);
}

const snwAssetNote* snwReaders_FindNote(const snwAsset* asset, const char* words)
{
    for (int i = 0; i < asset->noteCount; ++i)
        if (strstr(asset->notes[i].text, words) != NULL)
            return &asset->notes[i];
    return NULL;
}

void snwReaders_CheckNote(
    const snwAsset* asset, snwAssetNoteKind kind, int64_t count, const char* place, const char* words)
{
    const snwAssetNote* note = snwReaders_FindNote(asset, words);
    if (note == NULL)
    {
        snwTest_Fail(__FILE__, __LINE__, "there is no note '%s'", words);
        for (int i = 0; i < asset->noteCount; ++i)
            printf("  note: %s: %s\n", asset->notes[i].place, asset->notes[i].text);
        return;
    }
    if (note->kind != kind || note->count != count || strcmp(note->place, place) != 0)
        snwTest_Fail(__FILE__, __LINE__, "note '%s': kind %d, %lld at '%s', expected kind %d, %lld at '%s'", words,
            (int)note->kind, (long long)note->count, note->place, (int)kind, (long long)count, place);
}

void snwReaders_CheckTruncated(const snwTestFile* files)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    long before = counter.live;
    for (size_t size = 0; size <= SizeOf(files); ++size)
    {
        snwAsset* asset = NULL;
        snwMessage message = {0};
        snwResult result = snwReaders_Read(context, files, size, &asset, &message);
        if (result < 0)
            CHECK(asset == NULL && message.text[0] != 0 && message.file[0] != 0);
        else
            CHECK(snwSound_Asset(asset));
        snwAsset_Close(asset);
        CHECK_INT(counter.live, before);
    }
    snwDestroyContext(context);
}

void snwReaders_CheckMemory(const snwTestFile* files)
{
    bool failed = true; // until there are fewer allocations than that
    int failures = 0;
    for (long fail = 1; failed && fail < 5000; ++fail)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        long before = counter.live;
        snwAsset* asset = NULL;
        snwMessage message = {0};
        counter.failAt = counter.allocations + fail;
        snwResult result = snwReaders_Read(context, files, SizeOf(files), &asset, &message);
        failed = counter.allocations >= counter.failAt;
        failures += failed;
        CHECK(failed ? result == snw_errorMemory && asset == NULL : result >= 0 && asset != NULL);
        snwAsset_Close(asset);
        CHECK_INT(counter.live, before);
        snwDestroyContext(context);
    }
    CHECK(!failed && failures > 3);
}

bool snwReaders_HasReal(void)
{
    return getenv("SINEW_DATA") != NULL;
}

snwAsset* snwReaders_OpenReal(snwContext* context, const char* name)
{
    char path[1024], text[800];
    snwMessage message = {0};
    snwAsset* asset = NULL;
    snprintf(path, sizeof path, "%s/%s", getenv("SINEW_DATA"), name);
    if (snwAsset_Open(context, path, &asset, &message) < 0)
    {
        snwMessage_Format(&message, text, sizeof text);
        snwTest_Fail(__FILE__, __LINE__, "%s", text);
        exit(1);
    }
    CHECK(snwSound_Asset(asset));
    return asset;
}
