// What the fuzzers of rigs and caches share: an asset from memory with a few files beside it, and what must hold of
// every asset that was read.

#pragma once

#include "fuzz.h"

#include "asset/asset.h"

#include <math.h>
#include <string.h>

enum
{
    snw_fuzzParts = 8
};

// The input, cut at '@': the file itself, then files beside it.
typedef struct snwFuzzParts
{
    const char* data[snw_fuzzParts];
    size_t sizes[snw_fuzzParts];
    int count;
    const char* const* endings; // of the names by which parts 1 .. are found
} snwFuzzParts;

static inline snwFuzzParts snwFuzz_Split(const uint8_t* data, size_t size, int most)
{
    snwFuzzParts parts = {.count = 1, .data = {(const char*)data}};
    const char* end = (const char*)data + size;
    for (int i = 0; i + 1 < most; ++i)
    {
        const char* cut = memchr(parts.data[i], '@', (size_t)(end - parts.data[i]));
        if (cut == NULL)
            break;
        parts.sizes[i] = (size_t)(cut - parts.data[i]);
        parts.data[i + 1] = cut + 1;
        parts.count += 1;
    }
    parts.sizes[parts.count - 1] = (size_t)(end - parts.data[parts.count - 1]);
    return parts;
}

// With a zero behind it, as files are read.
static inline char* snwFuzz_CopyText(snwContext* context, const char* data, size_t size)
{
    char* copy = snwAllocRaw(context, size + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, data, size);
    copy[size] = 0;
    return copy;
}

static inline snwResult snwFuzz_ReadBeside(
    void* user, snwContext* context, const char* name, char** data, size_t* size, snwMessage* message)
{
    const snwFuzzParts* parts = user;
    for (int i = 1; i < parts->count; ++i)
    {
        size_t length = strlen(name), ending = strlen(parts->endings[i - 1]);
        if (length < ending || strcmp(name + length - ending, parts->endings[i - 1]) != 0)
            continue;
        *data = snwFuzz_CopyText(context, parts->data[i], parts->sizes[i]);
        *size = parts->sizes[i];
        return *data == NULL ? snwFailMemory(message) : snw_ok;
    }
    return snwFail(message, snw_errorIo, NULL, "there is no such file");
}

static inline void snwFuzz_Expect(bool condition)
{
    if (!condition)
        abort();
}

static inline void snwFuzz_CheckAsset(const snwAsset* asset)
{
    for (int i = 0; i < asset->pointCount; ++i)
        snwFuzz_Expect(snwVec3_IsFinite(asset->points[i]));
    for (int i = 0; i < asset->handleCount; ++i)
        snwFuzz_Expect(asset->handles[i].a >= 0 && asset->handles[i].a < asset->pointCount &&
                       asset->handles[i].b >= -1 && asset->handles[i].b < asset->pointCount);
    for (int64_t i = 0; i < (int64_t)asset->matrix.rows * asset->matrix.columns; ++i)
        snwFuzz_Expect(asset->matrix.values != NULL && isfinite(asset->matrix.values[i]));
    const snwAssetHandleMotion* motion = &asset->handleMotion;
    for (int64_t i = 0; i < (int64_t)motion->frameCount * motion->handleCount; ++i)
        snwFuzz_Expect(snwTransform_IsFinite(motion->transforms[i]));
    for (int64_t i = 0; i < 3LL * asset->cache.frameCount * asset->cache.pointCount; ++i)
        snwFuzz_Expect(isfinite(asset->cache.positions[i]));
    for (int i = 0; i < asset->jointCount; ++i)
        snwFuzz_Expect(asset->joints[i].bone >= 0 && asset->joints[i].bone < asset->boneCount &&
                       asset->joints[i].parentBone >= -1 && asset->joints[i].parentBone < asset->boneCount);
    for (int i = 0; i < asset->boneCount; ++i)
        snwFuzz_Expect(asset->bones[i].def.parent < i && snwVec3_IsFinite(asset->bones[i].def.head));
}

// Of the mesh of a bundle: rows in order, values above zero.
static inline void snwFuzz_CheckWeights(const snwAssetMesh* mesh)
{
    const snwAssetWeights* weights = &mesh->weights;
    for (int i = 0; weights->starts != NULL && i < mesh->vertexCount; ++i)
    {
        double sum = 0;
        for (int k = weights->starts[i]; k < weights->starts[i + 1]; ++k)
        {
            snwFuzz_Expect(weights->bones[k] >= 0 && weights->bones[k] < weights->boneCount && weights->values[k] > 0);
            sum += weights->values[k];
        }
        snwFuzz_Expect(weights->starts[i] == weights->starts[i + 1] || fabs(sum - 1) < 1e-9);
    }
}

// Reads part 0 under the name; parts may be NULL beside it. Calls check (NULL allowed) on what was read.
static inline void snwFuzz_ReadAsset(
    const char* name, snwFuzzParts* parts, void (*check)(snwContext* context, const snwAsset* asset))
{
    snwFuzzMemory memory;
    snwMessage message = {0};
    snwContext* context = snwFuzz_NewContext(&memory, 16 << 20);
    snwAssetFolder folder = {snwFuzz_ReadBeside, parts};
    char* text = snwFuzz_CopyText(context, parts->data[0], parts->sizes[0]);
    snwAssetInput input = {name, text, parts->sizes[0], &folder};
    snwAsset* asset = NULL;
    if (text != NULL && snwAsset_Read(context, &input, &asset, &message) >= 0)
    {
        snwFuzz_CheckAsset(asset);
        for (int i = 0; i < asset->meshCount; ++i)
            snwFuzz_CheckWeights(&asset->meshes[i]);
        if (check != NULL)
            check(context, asset);
    }
    else
        snwFuzz_Expect(text == NULL || message.text[0] != 0); // no error without words
    snwAsset_Close(asset);
    snwFree(context, text);
    snwFuzz_EndContext(context, &memory);
}
