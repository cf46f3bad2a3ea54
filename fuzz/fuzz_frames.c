// Frames caches. The first byte chooses: the rest is a file as it is, or a list of edits of a sound file whose
// checksums are then made right, so that what lies behind them is reached. No input may crash or take more than its
// share of memory; what is read must hang together.

#include "fuzz.h"

#include "base/hash.h"
#include "scene/frames.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char s_scene[] =
    "{\"sinew\": 1, \"rate\": 60, \"duration\": 0.1, \"bodies\": [{\"name\": \"b\", \"position\": [0, 0.5, 0],"
    " \"character\": {\"shape\": \"block\", \"cells\": [1, 1, 1]}},"
    " {\"name\": \"s\", \"character\": {\"shape\": \"spring\"}}],"
    " \"colliders\": [{\"name\": \"g\", \"kind\": \"plane\"}]}";

enum
{
    snw_editSize = 7, // three bytes of place, four of content
    snw_sampleCount = 2
};

typedef struct Sample
{
    unsigned char* data;
    size_t size;
    uint64_t chunks[8]; // where they begin; the end last
    int chunkCount;
} Sample;

static void ReadFile(const char* path, Sample* sample)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL)
        abort();
    fseek(file, 0, SEEK_END);
    sample->size = (size_t)ftell(file);
    rewind(file);
    sample->data = malloc(sample->size);
    if (sample->data == NULL || fread(sample->data, 1, sample->size, file) != sample->size)
        abort();
    fclose(file);
}

// Exact and with the meshes; with a tolerance.
static Sample MakeSample(bool exact)
{
    char folder[] = "/tmp/sinew-fuzz-XXXXXX", path[64];
    snwFuzzMemory memory;
    Sample sample = {0};
    snwSceneFile file;
    snwContext* context = snwFuzz_NewContext(&memory, 64 << 20);
    snwRunDef def = snwDefaultRunDef();
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/frames.snwf", folder);
    if (snwSceneFile_Parse(context, s_scene, strlen(s_scene), "fixed", NULL, &file, NULL) < 0)
        abort();
    def.file = &file;
    def.framesPath = path;
    def.framesPerChunk = 3;
    def.framesTolerance = exact ? 0 : 1e-3;
    def.framesVertices = exact;
    if (snwRun(context, &def, NULL, NULL) < 0)
        abort();
    ReadFile(path, &sample);
    unlink(path);
    rmdir(folder);
    snwSceneFile_Close(&file);
    snwFuzz_EndContext(context, &memory);
    uint64_t place;
    memcpy(&place, sample.data + 16, sizeof place);
    while (place < sample.size)
    {
        snwChunkHeader header;
        sample.chunks[sample.chunkCount++] = place;
        memcpy(&header, sample.data + place, sizeof header);
        place += snw_chunkHeaderSize + snwChunkHeader_PayloadSize(&header) + snw_commitSize;
    }
    sample.chunks[sample.chunkCount] = place;
    return sample;
}

// Checksums of the header and of all chunks that still have their size.
static void Seal(const Sample* sample, unsigned char* data)
{
    uint64_t seed = snwHash(data, (size_t)sample->chunks[0] - 8, 0);
    memcpy(data + sample->chunks[0] - 8, &seed, sizeof seed);
    for (int i = 0; i < sample->chunkCount; ++i)
    {
        snwChunkHeader header;
        unsigned char* chunk = data + sample->chunks[i];
        size_t size = (size_t)(sample->chunks[i + 1] - sample->chunks[i]);
        memcpy(&header, chunk, sizeof header);
        header.checksum = snwChunkHeader_Checksum(&header, seed);
        memcpy(chunk, &header, sizeof header);
        if (header.framesSize > size || header.stateSize > size ||
            snwChunkHeader_PayloadSize(&header) + snw_chunkHeaderSize + snw_commitSize != size)
            continue;
        snwCommit commit = snwMakeCommit(&header, chunk + sizeof header);
        memcpy(chunk + size - sizeof commit, &commit, sizeof commit);
    }
}

static double s_sum; // so that nothing that is read is optimised away

static void Look(const snwFramesInfo* info, const snwFrame* frame)
{
    if (frame->bodyCount != info->bodyCount || frame->colliders.count != info->colliderCount)
        abort();
    for (int b = 0; b < frame->bodyCount; ++b)
    {
        const snwFrameBody* body = &frame->bodies[b];
        if (body->skinVertexCount != info->bodies[b].skinVertexCount || body->bones.count != info->bodies[b].boneCount)
            abort();
        for (int i = 0; i < 3 * body->skinVertexCount; ++i)
            s_sum += (double)body->skin[i];
        for (int i = 0; body->vertices != NULL && i < 3 * body->vertexCount; ++i)
            s_sum += (double)body->vertices[i];
    }
    for (int i = 0; i < frame->contacts.count; ++i)
        s_sum += (double)info->bodies[frame->contacts.data[i].body].vertexCount;
    for (size_t i = 0; i < frame->commandsSize; ++i)
        s_sum += frame->commands[i];
}

static void Read(const unsigned char* data, size_t size)
{
    snwFuzzMemory memory;
    snwMessage message;
    snwFrames* frames = NULL;
    snwContext* context = snwFuzz_NewContext(&memory, (4 << 20) + 16 * size);
    snwResult result = snwFrames_OpenMemory(context, data, size, "fuzz", &frames, &message);
    if (result < 0 && (message.text[0] == 0 || frames != NULL))
        abort();
    if (result >= 0)
    {
        snwFrame frame;
        snwFramesInfo info = snwFrames_GetInfo(frames);
        int last = info.frameCount < 64 ? info.frameCount : 64;
        for (int i = 0; i < last; ++i)
            if (snwFrames_Read(frames, i, &frame, &message) >= 0)
                Look(&info, &frame);
        for (int i = last - 1; i >= 0; i -= 2)
            if (snwFrames_Read(frames, i, &frame, NULL) >= 0)
                Look(&info, &frame);
        if (snwFrames_Refresh(frames, NULL) < 0 && memory.left > size)
            abort();
        snwFrames_Close(frames);
    }
    snwFuzz_EndContext(context, &memory);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Sample s_samples[snw_sampleCount];
    if (s_samples[0].data == NULL)
        for (int i = 0; i < snw_sampleCount; ++i)
            s_samples[i] = MakeSample(i == 0);
    if (size == 0)
        return 0;
    int kind = data[0] % (snw_sampleCount + 1);
    data++, size--;
    unsigned char* copy = malloc(kind > 0 ? s_samples[kind - 1].size : size + 1); // of its size: reading on is seen
    if (copy == NULL)
        return 0;
    if (kind == 0)
    {
        memcpy(copy, data, size);
        Read(copy, size);
        free(copy);
        return 0;
    }
    const Sample* sample = &s_samples[kind - 1];
    memcpy(copy, sample->data, sample->size);
    for (; size >= snw_editSize; data += snw_editSize, size -= snw_editSize)
    {
        size_t place = (size_t)(data[0] | data[1] << 8 | data[2] << 16) % (sample->size - 4);
        memcpy(copy + place, data + 3, 4);
    }
    Seal(sample, copy);
    Read(copy, sample->size);
    free(copy);
    return 0;
}
