// Point caches. PC2: "POINTCACHE2", version 1, points, first frame, frames per sample, samples, then float32, all
// little-endian. MDD: frames, points, a table of seconds, then float32, all big-endian. A file with fewer bytes than
// its header tells is refused: which of its numbers is the lie nobody can say.

#include "asset/rig_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t Take32(const char* at, bool big)
{
    const unsigned char* b = (const unsigned char*)at;
    return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
               : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static float TakeCacheFloat(const char* at, bool big)
{
    uint32_t bits = Take32(at, big);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Where things are in the file.
typedef struct Cache
{
    const snwAssetInput* input;
    bool big;
    uint32_t frames, points;
    size_t header;     // bytes before the points
    size_t frameBytes; // that a frame takes anywhere: its points and its time
} Cache;

static snwResult CheckCacheSize(const Cache* cache, snwMessage* message)
{
    if (cache->frames == 0 || cache->points == 0)
        return snwFail(message, snw_errorInput, "export it again", "the cache is empty: %u frames of %u points",
            cache->frames, cache->points);
    if (cache->points > (uint32_t)snw_maxAssetVertices)
        return snwFail(message, snw_errorInput, NULL, "%u points are too many", cache->points);
    uint64_t needed = (uint64_t)cache->frames * cache->frameBytes; // of 32 and 30 bits: it fits
    uint64_t there = cache->input->size - cache->header;
    if (needed > there)
        return snwFail(message, snw_errorInput, "the file was cut short, or it is of another kind",
            "%u frames of %u points are promised, but there are bytes for %llu frames", cache->frames, cache->points,
            (unsigned long long)(there / cache->frameBytes));
    return snw_ok;
}

static snwResult ReadCachePoints(const Cache* cache, snwAsset* asset, const char* at, snwMessage* message)
{
    int64_t width = 3 * (int64_t)cache->points, count = width * cache->frames;
    float* positions = snwAsset_Alloc(asset, count, sizeof *positions);
    if (positions == NULL)
        return snwFailMemory(message);

    // Floats of either order of bytes, all finite.
    for (int64_t i = 0; i < count; ++i)
    {
        positions[i] = TakeCacheFloat(at + 4 * i, cache->big);
        if (!isfinite(positions[i]))
            return snwFail(message, snw_errorInput, "the program that wrote it let something explode",
                "frame %lld, point %lld: %c is not a finite number", (long long)(i / width), (long long)(i % width / 3),
                "xyz"[i % 3]);
    }

    size_t behind = cache->input->size - cache->header - (size_t)cache->frames * cache->frameBytes;
    if (behind > 0)
        snwAsset_Note(asset, snw_noteLeftOut, "", "%zu bytes behind the last frame", behind);
    asset->cache.positions = positions;
    return snw_ok;
}

static double* MakeTimes(const Cache* cache, snwAsset* asset)
{
    double* times = snwAsset_Alloc(asset, cache->frames, sizeof *times);
    asset->cache = (snwAssetCache){(int)cache->frames, (int)cache->points, NULL, times};
    return times;
}

// ---------------------------------------------------------------------------------------------------------------------
// PC2

static snwResult ReadPc2Times(const Cache* cache, snwAsset* asset, snwMessage* message)
{
    double start = TakeCacheFloat(cache->input->data + 20, false),
           step = TakeCacheFloat(cache->input->data + 24, false);
    double* times = MakeTimes(cache, asset);
    if (times == NULL)
        return snwFailMemory(message);
    if (!isfinite(start) || !isfinite(step))
        return snwFail(message, snw_errorInput, "write finite ones",
            "the first frame or the frames per sample are not "
            "finite");
    if (!(step > 0))
        snwAsset_Note(asset, snw_noteRepaired, "", "frames per sample were not above 0; 1 is taken");
    for (uint32_t i = 0; i < cache->frames; ++i)
        times[i] = start + i * (step > 0 ? step : 1.0);
    return snw_ok;
}

snwResult snwPc2_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    if (input->size < 32 || memcmp(input->data, "POINTCACHE2", 12) != 0)
        return snwFail(message, snw_errorInput, "a PC2 begins with 32 bytes: POINTCACHE2 and numbers",
            "this is not a PC2 point cache");
    if (Take32(input->data + 12, false) != 1)
        return snwFail(message, snw_errorInput, "export it as version 1, the only one there is",
            "version %u is not known", Take32(input->data + 12, false));
    Cache cache = {
        .input = input, .frames = Take32(input->data + 28, false), .points = Take32(input->data + 16, false)};
    cache.header = 32;
    cache.frameBytes = 12 * (size_t)cache.points;
    snwResult result = CheckCacheSize(&cache, message);
    if (result >= 0)
        result = ReadPc2Times(&cache, asset, message);
    return result < 0 ? result : ReadCachePoints(&cache, asset, input->data + cache.header, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// MDD

static snwResult ReadMddTimes(const Cache* cache, snwAsset* asset, snwMessage* message)
{
    double* times = MakeTimes(cache, asset);
    if (times == NULL)
        return snwFailMemory(message);
    for (uint32_t i = 0; i < cache->frames; ++i)
    {
        times[i] = TakeCacheFloat(cache->input->data + 8 + 4 * (size_t)i, true);
        if (!isfinite(times[i]))
            return snwFail(message, snw_errorInput, NULL, "frame %u: its time is not a finite number", i);
        if (i > 0 && times[i] <= times[i - 1])
            snwAsset_Note(asset, snw_noteOdd, "", "times that do not rise");
    }
    return snw_ok;
}

snwResult snwMdd_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    if (input->size < 8)
        return snwFail(message, snw_errorInput, "an MDD begins with the numbers of frames and points",
            "this is not an MDD point cache");
    Cache cache = {.input = input,
        .big = true,
        .frames = Take32(input->data, true),
        .points = Take32(input->data + 4, true),
        .header = 8};
    cache.frameBytes = 4 + 12 * (size_t)cache.points;
    snwResult result = CheckCacheSize(&cache, message);
    if (result >= 0)
        result = ReadMddTimes(&cache, asset, message);
    return result < 0 ? result
                      : ReadCachePoints(&cache, asset, input->data + cache.header + 4 * (size_t)cache.frames, message);
}

const snwAssetReader snw_pc2Reader = {snw_assetPc2, "PC2 point cache", ".pc2", snwPc2_Read};
const snwAssetReader snw_mddReader = {snw_assetMdd, "MDD point cache", ".mdd", snwMdd_Read};
