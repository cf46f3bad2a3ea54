// Point caches: PC2 (3ds Max, Blender; little-endian) and MDD (LightWave, Blender; big-endian).
//
// A run may end early. PC2 has only a count in its header, which is put right at the end. MDD has a table of all times
// before the points: it gets room for the whole run, and a shorter run's points are moved down over what is not used.

#include "asset/export_parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum
{
    snw_moveChunk = 65536
};

static void PutBig(snwWriter* out, uint32_t bits)
{
    const unsigned char bytes[4] = {
        (unsigned char)(bits >> 24), (unsigned char)(bits >> 16), (unsigned char)(bits >> 8), (unsigned char)bits};
    snwWrite(out, bytes, sizeof bytes);
}

static void PutBigFloat(snwWriter* out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    PutBig(out, bits);
}

// version 1, points, first frame 0, one sample per frame, frames
static void PutPc2Header(snwWriter* out, int pointCount, int frames)
{
    const float start = 0, step = 1;
    snwWrite(out, "POINTCACHE2", 12);
    snwWriteInt(out, 1);
    snwWriteInt(out, pointCount);
    snwWrite(out, &start, sizeof start);
    snwWrite(out, &step, sizeof step);
    snwWriteInt(out, frames);
}

static void PutMddHeader(snwWriter* out, const snwPointCache* cache, int frames)
{
    PutBig(out, (uint32_t)frames);
    PutBig(out, (uint32_t)cache->pointCount);
    for (int i = 0; i < frames; ++i)
        PutBigFloat(out, (float)(i / cache->rate));
}

static void PutCacheHeader(snwWriter* out, const snwPointCache* cache, int frames)
{
    if (cache->big)
        PutMddHeader(out, cache, frames);
    else
        PutPc2Header(out, cache->pointCount, frames);
}

snwResult snwPointCache_Open(
    snwPointCache* cache, snwContext* context, const char* path, bool mdd, bool overwrite, snwMessage* message)
{
    *cache = (snwPointCache){.context = context, .big = mdd, .rate = 1};
    return snwPartFile_Open(&cache->output, context, path, overwrite, message);
}

snwResult snwPointCache_AddFrame(snwPointCache* cache, const float* positions, int count, snwMessage* message)
{
    if (cache->frames == 0)
        cache->pointCount = count;
    if (count != cache->pointCount || (cache->big && cache->frames >= cache->expected))
        return snwFail(message, snw_errorArgument, "one exporter per run, with its number of frames",
            "frame %d of a point cache does not fit it", cache->frames);

    // The header comes with the first frame, as only that knows the number of points.
    snwWriter out = {.context = cache->context};
    if (cache->frames == 0)
        PutCacheHeader(&out, cache, cache->big ? cache->expected : 0);

    // MDD is written with the large end first.
    if (cache->big)
        for (size_t i = 0; i < 3 * (size_t)count; ++i)
            PutBigFloat(&out, positions[i]);
    else
        snwWrite(&out, positions, 3 * (size_t)count * sizeof *positions);

    snwResult result = out.failed ? snwFailMemory(message)
                                  : snwPartFile_Write(&cache->output, out.data, out.size, message);
    snwFree(cache->context, out.data);
    cache->frames += result >= 0;

    return result;
}

static bool MoveBytes(FILE* stream, long from, long to, char* chunk)
{
    for (;;)
    {
        if (fseek(stream, from, SEEK_SET) != 0)
            return false;
        size_t got = fread(chunk, 1, snw_moveChunk, stream);
        if (got == 0)
            return !ferror(stream) && ftruncate(fileno(stream), to) == 0;
        if (fseek(stream, to, SEEK_SET) != 0 || fwrite(chunk, 1, got, stream) != got || fflush(stream) != 0)
            return false;
        from += (long)got;
        to += (long)got;
    }
}

static bool Rewrite(snwPointCache* cache, FILE* stream, const snwWriter* header, char* chunk)
{
    long unused = cache->big ? 4 * (long)(cache->expected - cache->frames) : 0;
    if (unused > 0 && !MoveBytes(stream, (long)header->size + unused, (long)header->size, chunk))
        return false;
    return fseek(stream, 0, SEEK_SET) == 0 && fwrite(header->data, 1, header->size, stream) == header->size &&
           fflush(stream) == 0;
}

// The header as it is now that the number of frames is known.
static snwResult MendHeader(snwPointCache* cache, snwMessage* message)
{
    snwWriter header = {.context = cache->context};
    PutCacheHeader(&header, cache, cache->frames);
    char* chunk = snwAllocRaw(cache->context, snw_moveChunk);
    snwResult result = header.failed || chunk == NULL ? snwFailMemory(message) : snw_ok;
    if (result >= 0)
        result = snwPartFile_Flush(&cache->output, message);
    snwPartFile_HandOver(&cache->output);
    FILE* stream = result >= 0 ? fopen(cache->output.part, "rb+e") : NULL;
    if (result >= 0 && (stream == NULL || !Rewrite(cache, stream, &header, chunk)))
        result = snwFailSystem(message, errno, "write", cache->output.path);
    if (stream != NULL)
        fclose(stream);
    snwFree(cache->context, chunk);
    snwFree(cache->context, header.data);
    return result;
}

snwResult snwPointCache_Finish(snwPointCache* cache, snwMessage* message)
{
    bool whole = cache->big && cache->frames == cache->expected;
    snwResult result = whole ? snw_ok : MendHeader(cache, message);
    if (result >= 0)
        return snwPartFile_Commit(&cache->output, message);
    snwPartFile_Drop(&cache->output);
    return result;
}
