// Reading frames caches: hostile until its checksums say otherwise, and careful after that, for a checksum can be made
// by hand. A chunk is read whole and decoded frame by frame; nothing larger than what the file really holds is
// allocated.

#include "scene/frames.h"
#include "scene/file.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Chunk
{
    snwChunkHeader header;
    uint64_t start; // in the file; 0: damaged
} Chunk;

struct snwFrames
{
    snwContext* context;
    char* name;
    int file; // -1: in memory
    const unsigned char* memory;
    uint64_t size; // of the file when last looked at
    unsigned char* headerBytes;
    snwFramesHeader header;
    snwArray(Chunk) chunks;
    uint64_t end; // of the last whole chunk
    int damaged;
    // One chunk
    int loaded; // its number; -1: none
    unsigned char* payload;
    size_t payloadCapacity;
    size_t* records; // offset of each frame's record
    // One frame
    int decoded;               // number in the chunk of the frame below; -1: none
    snwFrameLattice* lattices; // two per body
    int64_t* lattice;          // memory of all of them
    float* positions;
    snwFrameBody* bodies;
};

static snwResult FailAtChunk(const snwFrames* frames, snwMessage* message, int chunk, const char* what)
{
    snwFail(message, snw_errorInput, "run the scene again with --force, or read the other frames", "%s", what);
    snwMessage_AddPlace(message, "chunk %d", chunk);
    snwMessage_SetFile(message, frames->name);
    return snw_errorInput;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes

// False: the file ends before, or the system refuses.
static bool ReadAt(const snwFrames* frames, uint64_t place, void* data, size_t size)
{
    if (place > frames->size || size > frames->size - place)
        return false;
    if (frames->file < 0)
    {
        memcpy(data, frames->memory + place, size);
        return true;
    }
    for (size_t done = 0; done < size;)
    {
        ssize_t got = pread(frames->file, (char*)data + done, size - done, (off_t)(place + done));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static snwResult MeasureFile(snwFrames* frames, snwMessage* message)
{
    struct stat info;
    if (frames->file < 0)
        return snw_ok;
    if (fstat(frames->file, &info) != 0)
        return snwFailSystem(message, errno, "read", frames->name);
    if (!S_ISREG(info.st_mode))
        return snwFailSystem(message, S_ISDIR(info.st_mode) ? EISDIR : EINVAL, "read", frames->name);
    frames->size = (uint64_t)info.st_size;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Chunks: which there are

uint64_t snwChunkHeader_Checksum(const snwChunkHeader* header, uint64_t seed)
{
    return snwHash(header, offsetof(snwChunkHeader, checksum), seed);
}

uint64_t snwChunkHeader_PayloadSize(const snwChunkHeader* header)
{
    return header->framesSize + (header->stateSize + 7) / 8 * 8;
}

static uint64_t ChunkSize(const snwChunkHeader* header)
{
    return snw_chunkHeaderSize + snwChunkHeader_PayloadSize(header) + snw_commitSize;
}

snwCommit snwMakeCommit(const snwChunkHeader* header, const void* payload)
{
    snwCommit commit = {.magic = SNW_COMMIT_MAGIC, .size = ChunkSize(header)};
    commit.payload = snwHash(payload, (size_t)snwChunkHeader_PayloadSize(header), header->checksum);
    commit.checksum = snwHash(&commit, offsetof(snwCommit, checksum), header->checksum);
    return commit;
}

static bool HeaderIsSound(const snwFrames* frames, const snwChunkHeader* chunk)
{
    const snwFramesHeader* file = &frames->header;
    if (chunk->magic != SNW_CHUNK_MAGIC || chunk->checksum != snwChunkHeader_Checksum(chunk, file->checksum))
        return false;
    if (chunk->number < 0 || chunk->number > file->lastFrame / file->framesPerChunk || chunk->zero != 0)
        return false;
    return chunk->firstFrame == chunk->number * file->framesPerChunk && chunk->frameCount >= 1 &&
           chunk->frameCount <= file->framesPerChunk && chunk->firstFrame + chunk->frameCount - 1 <= file->lastFrame &&
           chunk->framesSize % 8 == 0 && chunk->framesSize <= SNW_MAX_CHUNK_BYTES &&
           chunk->stateSize == file->stateSize;
}

// Header and commit; the payload is checked when it is loaded.
static bool ChunkIsWhole(const snwFrames* frames, uint64_t place, snwChunkHeader* chunk)
{
    snwCommit commit;
    if (!ReadAt(frames, place, chunk, sizeof *chunk) || !HeaderIsSound(frames, chunk))
        return false;
    uint64_t size = ChunkSize(chunk);
    return ReadAt(frames, place + size - sizeof commit, &commit, sizeof commit) && commit.magic == SNW_COMMIT_MAGIC &&
           commit.size == size && commit.checksum == snwHash(&commit, offsetof(snwCommit, checksum), chunk->checksum);
}

// Behind something that is no chunk: is there one further on? Then this is damage and not the tail of a crash.
static bool FindNextChunk(const snwFrames* frames, uint64_t* place, snwChunkHeader* chunk, int after)
{
    uint64_t words[8192];

    // Eight bytes at a time, as chunks start at multiples of eight.
    for (uint64_t at = *place + 8; frames->size >= snw_chunkHeaderSize && at <= frames->size - snw_chunkHeaderSize;)
    {
        size_t count = (size_t)((frames->size - at) / sizeof *words);
        count = count < sizeof words / sizeof *words ? count : sizeof words / sizeof *words;
        if (!ReadAt(frames, at, words, count * sizeof *words))
            return false;
        for (size_t i = 0; i < count; ++i)
        {
            if (words[i] != SNW_CHUNK_MAGIC)
                continue;

            // The magic may stand in a frame's data, too: only a sound header says that it is a chunk.
            *place = at + i * sizeof *words;
            if (ChunkIsWhole(frames, *place, chunk) && chunk->number > after)
                return true;
        }

        at += count * sizeof *words;
    }

    return false;
}

// Chunks from number `from` up to the next good one cannot be read. Each had its bytes: a number that jumps for free is
// made by hand, and gives a warning.
static snwResult AddDamaged(snwFrames* frames, int from, int to, uint64_t bytes, snwMessage* message)
{
    if ((uint64_t)(to - from) > bytes / (snw_chunkHeaderSize + snw_commitSize))
        return snw_warning;
    for (int number = from; number < to; ++number)
    {
        Chunk chunk = {.header = {.number = number, .frameCount = frames->header.framesPerChunk}};
        if (!snwArray_Push(frames->context, &frames->chunks, chunk))
            return snwFailMemory(message);
        frames->damaged++;
    }
    return snw_ok;
}

// Only the last chunk may be short.
static bool MayFollow(const snwFrames* frames)
{
    const Chunk* last = frames->chunks.count > 0 ? &frames->chunks.data[frames->chunks.count - 1] : NULL;
    return last == NULL || last->header.frameCount == frames->header.framesPerChunk;
}

static snwResult Scan(snwFrames* frames, snwMessage* message)
{
    // Chunk by chunk; a broken one with a whole one behind it is damage, without one it is where a crash cut the
    // file.
    Chunk chunk = {.start = frames->end};
    while (MayFollow(frames))
    {
        int expected = frames->chunks.count;
        bool whole = ChunkIsWhole(frames, chunk.start, &chunk.header) && chunk.header.number == expected;
        if (!whole && !FindNextChunk(frames, &chunk.start, &chunk.header, expected))
            return snw_ok;
        if (!whole)
        {
            snwResult result = AddDamaged(frames, expected, chunk.header.number, chunk.start - frames->end, message);
            if (result != snw_ok)
                return result < 0 ? result : snw_ok;
        }

        if (!snwArray_Push(frames->context, &frames->chunks, chunk))
            return snwFailMemory(message);
        chunk.start += ChunkSize(&chunk.header);
        frames->end = chunk.start;
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Chunks: what is in one

static void ForgetFrames(snwFrames* frames)
{
    frames->loaded = frames->decoded = -1;
}

static bool Walk(snwFrames* frames, const snwChunkHeader* chunk)
{
    size_t place = 0;
    for (int i = 0; i < chunk->frameCount; ++i)
    {
        uint64_t size;
        size_t left = (size_t)chunk->framesSize - place;
        if (left < sizeof size)
            return false;
        memcpy(&size, frames->payload + place, sizeof size);
        if (size < sizeof size || size % 8 != 0 || size > left)
            return false;
        frames->records[i] = place;
        place += (size_t)size;
    }
    return place == chunk->framesSize;
}

static snwResult ReadPayload(snwFrames* frames, const Chunk* chunk, snwMessage* message)
{
    size_t size = (size_t)snwChunkHeader_PayloadSize(&chunk->header);
    snwCommit commit;

    // The buffer grows to the largest chunk that is asked for.
    if (size > frames->payloadCapacity)
    {
        snwFree(frames->context, frames->payload);
        frames->payload = snwAllocRaw(frames->context, size);
        frames->payloadCapacity = frames->payload != NULL ? size : 0;
        if (frames->payload == NULL)
            return snwFailMemory(message);
    }

    // A checksum over header and payload, made again from what was read.
    if (!ReadAt(frames, chunk->start + snw_chunkHeaderSize, frames->payload, size) ||
        !ReadAt(frames, chunk->start + snw_chunkHeaderSize + size, &commit, sizeof commit))
        return FailAtChunk(frames, message, chunk->header.number, "cannot be read any more");
    snwCommit expected = snwMakeCommit(&chunk->header, frames->payload);
    if (memcmp(&commit, &expected, sizeof commit) != 0)
        return FailAtChunk(frames, message, chunk->header.number, "the checksum is wrong: it is damaged");
    return snw_ok;
}

static snwResult LoadChunk(snwFrames* frames, int number, snwMessage* message)
{
    const Chunk* chunk = &frames->chunks.data[number];
    if (frames->loaded == number)
        return snw_ok;
    ForgetFrames(frames);
    if (chunk->start == 0)
        return FailAtChunk(frames, message, number, "is damaged");
    snwResult result = ReadPayload(frames, chunk, message);
    if (result == snw_ok && !Walk(frames, &chunk->header))
        result = FailAtChunk(frames, message, number, "its frames do not fit together");
    if (result == snw_ok)
        frames->loaded = number;
    return result;
}

// A torn write may leave a chunk with a good beginning and a good end: the last one counts only if all of it is there.
static snwResult CheckLast(snwFrames* frames, snwMessage* message)
{
    while (frames->chunks.count > 0)
    {
        Chunk* last = &frames->chunks.data[frames->chunks.count - 1];
        snwResult result = last->start > 0 ? LoadChunk(frames, last->header.number, NULL) : snw_errorInput;
        if (result != snw_errorInput)
            return result < 0 ? snwFailMemory(message) : snw_ok;
        if (last->start > 0)
            frames->end = last->start;
        else
            frames->damaged--;
        frames->chunks.count--;
    }
    return snw_ok;
}

static snwResult Look(snwFrames* frames, snwMessage* message)
{
    int known = frames->chunks.count;
    snwResult result = MeasureFile(frames, message);
    if (result == snw_ok)
        result = Scan(frames, message);
    if (result == snw_ok && frames->chunks.count > known)
        result = CheckLast(frames, message);
    if (result < 0 || frames->damaged == 0)
        return result;
    int first = 0;
    while (frames->chunks.data[first].start != 0)
        first++;
    snwFail(message, snw_warning, "the other frames can be read", "%d of %d chunks are damaged", frames->damaged,
        frames->chunks.count);
    snwMessage_AddPlace(message, "chunk %d", first);
    snwMessage_SetFile(message, frames->name);
    return snw_warning;
}

// ---------------------------------------------------------------------------------------------------------------------
// Open and close

static snwResult FailFrames(const snwFrames* frames, snwMessage* message, const char* remedy, const char* what)
{
    snwFail(message, snw_errorInput, remedy, "%s", what);
    snwMessage_SetFile(message, frames->name);
    return snw_errorInput;
}

static snwResult ReadStart(snwFrames* frames, uint64_t* size, snwMessage* message)
{
    struct
    {
        uint64_t magic;
        uint32_t version, mark;
        uint64_t size;
    } start;
    // Each of these is a different mistake of whoever opens the file, and gets its own words.
    _Static_assert(sizeof start == snw_framesStart, "as documented");
    if (!ReadAt(frames, 0, &start, sizeof start) || start.magic != SNW_FRAMES_MAGIC)
        return FailFrames(frames, message, NULL, "is no frames cache, or its first bytes are damaged");
    if (start.mark != SNW_ENDIAN_MARK)
        return FailFrames(frames, message, NULL, "was written by a machine with another order of bytes, or is damaged");
    if (start.version != snw_framesVersion)
        return FailFrames(frames, message, "use the Sinew that wrote it, or run the scene again",
            "has a version of the format that is not known here");
    if (start.size < snw_framesStart + 8 || start.size % 8 != 0 || start.size > SNW_MAX_HEADER_BYTES ||
        start.size > frames->size)
        return FailFrames(frames, message, "run the scene again", "the header is cut short or damaged");
    *size = start.size;

    return snw_ok;
}

static snwResult ReadFramesHeader(snwFrames* frames, snwMessage* message)
{
    uint64_t size = 0;
    snwResult result = ReadStart(frames, &size, message);
    if (result < 0)
        return result;
    frames->headerBytes = snwAllocRaw(frames->context, (size_t)size);
    if (frames->headerBytes == NULL)
        return snwFailMemory(message);
    if (!ReadAt(frames, 0, frames->headerBytes, (size_t)size))
        return FailFrames(frames, message, NULL, "the header cannot be read");
    result = snwFramesHeader_Parse(&frames->header, frames->context, frames->headerBytes, (size_t)size, message);
    if (result < 0)
        snwMessage_SetFile(message, frames->name);
    frames->end = size;
    return result;
}

static snwResult StartReading(snwFrames* frames, snwMessage* message)
{
    snwResult result = MeasureFile(frames, message);
    if (result == snw_ok)
        result = ReadFramesHeader(frames, message);
    if (result < 0)
        return result;
    size_t bodies = (size_t)frames->header.bodyCount;
    frames->records = snwAllocArray(frames->context, (size_t)frames->header.framesPerChunk, sizeof *frames->records);
    frames->lattices = snwAllocArray(frames->context, 2 * bodies, sizeof *frames->lattices);
    frames->bodies = snwAllocArray(frames->context, bodies, sizeof *frames->bodies);
    if (frames->records == NULL || frames->lattices == NULL || frames->bodies == NULL)
        return snwFailMemory(message);
    return Look(frames, message);
}

// Takes the file over.
static snwResult OpenFramesFile(snwContext* context, const char* name, int file, const void* data, size_t size,
    snwFrames** frames, snwMessage* message)
{
    snwFrames* opened = snwAlloc(context, sizeof *opened);
    *frames = NULL;
    if (opened == NULL)
    {
        if (file >= 0)
            close(file);
        return snwFailMemory(message);
    }

    // Nothing is loaded or decoded yet.
    *opened = (snwFrames){.context = context, .file = file, .memory = data, .size = size, .loaded = -1, .decoded = -1};
    opened->name = snwCopyText(context, name);
    snwResult result = opened->name != NULL ? StartReading(opened, message) : snwFailMemory(message);
    if (result < 0)
        snwFrames_Close(opened);
    else
        *frames = opened;

    return result;
}

snwResult snwFrames_OpenMemory(
    snwContext* context, const void* data, size_t size, const char* name, snwFrames** frames, snwMessage* message)
{
    snwMessage_Clear(message);
    return OpenFramesFile(context, name, -1, data, size, frames, message);
}

snwResult snwFrames_Open(snwContext* context, const char* path, snwFrames** frames, snwMessage* message)
{
    snwMessage_Clear(message);
    *frames = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe without a writer must not hang
    if (file < 0)
        return snwFailSystem(message, errno, "open", path);
    return OpenFramesFile(context, path, file, NULL, 0, frames, message);
}

// A short chunk at the end is one that a later run may make longer; a file that shrank was cut by one that resumes.
snwResult snwFrames_Refresh(snwFrames* frames, snwMessage* message)
{
    snwMessage_Clear(message);
    snwResult result = MeasureFile(frames, message);
    if (result < 0)
        return result;
    ForgetFrames(frames);
    if (frames->size < frames->end)
    {
        frames->chunks.count = frames->damaged = 0;
        frames->end = frames->header.size;
    }
    else if (!MayFollow(frames))
        frames->end = frames->chunks.data[--frames->chunks.count].start;
    return Look(frames, message);
}

void snwFrames_Close(snwFrames* frames)
{
    if (frames == NULL)
        return;
    snwContext* context = frames->context;
    if (frames->file >= 0)
        close(frames->file);
    snwFramesHeader_Free(&frames->header);
    snwArray_Free(context, &frames->chunks);
    void* const memory[] = {frames->name, frames->headerBytes, frames->payload, frames->records, frames->lattices,
        frames->lattice, frames->positions, frames->bodies};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i)
        snwFree(context, memory[i]);
    snwFree(context, frames);
}

static int CountFrames(const snwFrames* frames)
{
    int count = frames->chunks.count;
    return count > 0 ? (count - 1) * frames->header.framesPerChunk + frames->chunks.data[count - 1].header.frameCount
                     : 0;
}

snwFramesInfo snwFrames_GetInfo(const snwFrames* frames)
{
    const snwFramesHeader* header = &frames->header;
    int count = CountFrames(frames);

    // Frames that are there, and those that were planned: a run may have been interrupted.
    return (snwFramesInfo){.version = header->version,
        .scene = header->scene,
        .sceneSize = header->sceneSize,
        .sceneHash = header->sceneHash,
        .rate = header->rate,
        .tolerance = header->tolerance,
        .hasVertices = header->vertices,
        .frameCount = count,
        .plannedFrames = header->lastFrame + 1,
        .framesPerChunk = header->framesPerChunk,
        .chunkCount = frames->chunks.count,
        .damagedChunks = frames->damaged,
        .bytes = frames->end,
        .tailBytes = frames->size > frames->end ? frames->size - frames->end : 0,
        .complete = count == header->lastFrame + 1 && frames->damaged == 0,
        .bodies = header->bodies,
        .bodyCount = header->bodyCount,
        .colliders = header->colliders,
        .colliderCount = header->colliderCount,
        .props = header->props,
        .propCount = header->propCount};
}

const snwFramesHeader* snwFrames_GetHeader(const snwFrames* frames)
{
    return &frames->header;
}

const unsigned char* snwFrames_GetHeaderBytes(const snwFrames* frames)
{
    return frames->headerBytes;
}

snwResult snwFrames_ReadLastChunk(snwFrames* frames, snwLastChunk* chunk, snwMessage* message)
{
    *chunk = (snwLastChunk){.number = -1};
    if (frames->chunks.count == 0)
        return snw_ok;
    const Chunk* last = &frames->chunks.data[frames->chunks.count - 1];
    snwResult result = LoadChunk(frames, last->header.number, message);
    if (result < 0)
        return result;
    *chunk = (snwLastChunk){.number = last->header.number,
        .frameCount = last->header.frameCount,
        .start = last->start,
        .records = frames->payload,
        .recordsSize = (size_t)last->header.framesSize,
        .state = frames->payload + last->header.framesSize,
        .stateSize = (size_t)last->header.stateSize};
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static snwTransforms ReadTransforms(snwReader* reader, int count)
{
    const double* data = (const double*)(const void*)snwReadBytes(reader, (size_t)count * sizeof(snwTransform));
    for (size_t i = 0; data != NULL && i < 7 * (size_t)count; ++i)
        reader->failed = reader->failed || !isfinite(data[i]);
    return (snwTransforms){
        (const snwTransform*)(const void*)data, reader->failed ? 0 : count, (int)sizeof(snwTransform)};
}

static bool IsIndex(int index, int least, int count)
{
    return index >= least && index < count;
}

static bool ContactIsSound(const snwFramesHeader* header, const snwContact* contact)
{
    int others = (contact->collider >= 0) + (contact->prop >= 0) + (contact->otherBody >= 0);
    if (!IsIndex(contact->body, -1, header->bodyCount) || others != 1)
        return false;
    return IsIndex(contact->collider, -1, header->colliderCount) && IsIndex(contact->prop, -1, header->propCount) &&
           IsIndex(contact->otherBody, -1, header->bodyCount) &&
           IsIndex(
               contact->vertex, 0, contact->body < 0 ? header->propCount : header->bodies[contact->body].vertexCount);
}

static snwContacts ReadContacts(snwReader* reader, const snwFramesHeader* header, int count)
{
    const snwContact* data = (const snwContact*)(const void*)snwReadBytes(reader, (size_t)count * sizeof *data);
    for (int i = 0; data != NULL && i < count; ++i)
    {
        const float* numbers = data[i].position; // ten in a row
        for (int k = 0; k < 10; ++k)
            reader->failed = reader->failed || !isfinite(numbers[k]);
        reader->failed = reader->failed || !ContactIsSound(header, &data[i]);
    }
    return (snwContacts){data, reader->failed ? 0 : count, (int)sizeof *data};
}

static void ReadMeasures(snwReader* reader, int count, snwMeasures* measures)
{
    const unsigned char* data = snwReadBytes(reader, (size_t)count * sizeof(double));
    int known = snwMeasureCount() < count ? snwMeasureCount() : count;
    *measures = (snwMeasures){0};
    if (data != NULL)
        memcpy(measures, data, (size_t)known * sizeof(double));
}

static snwReader RecordReader(const snwFrames* frames, int index)
{
    uint64_t size;
    const unsigned char* record = frames->payload + frames->records[index];
    memcpy(&size, record, sizeof size);
    return (snwReader){.data = record, .size = (size_t)size, .position = sizeof size};
}

// All of a record but the positions, at which the reader stops.
static void ReadHead(snwFrames* frames, snwReader* reader, snwFrame* frame)
{
    // In the order of WriteFrameHead.
    const snwFramesHeader* header = &frames->header;
    *frame = (snwFrame){.bodies = frames->bodies, .bodyCount = header->bodyCount};
    frame->frame = snwReadInt(reader);
    int contacts = snwReadInt(reader);
    frame->step = snwReadU64(reader);
    frame->time = snwReadReal(reader);
    frame->hash = snwReadU64(reader);
    ReadMeasures(reader, header->measureCount, &frame->measures);
    frame->colliders = ReadTransforms(reader, header->colliderCount);
    frame->props = ReadTransforms(reader, header->propCount);
    for (int i = 0; i < header->bodyCount; ++i)
        frames->bodies[i].bones = ReadTransforms(reader, header->bodies[i].boneCount);
    if (contacts < 0)
        reader->failed = true;
    frame->contacts = ReadContacts(reader, header, reader->failed ? 0 : contacts);
    // The commands' text stays in the file's memory.
    int length = snwReadCount(reader, 1);
    frame->commands = (const char*)snwReadBytes(reader, (size_t)length);
    frame->commandsSize = (size_t)length;
}

static size_t PointCount(const snwFramesHeader* header)
{
    size_t count = 0;
    for (int i = 0; i < header->bodyCount; ++i)
        count += (size_t)header->bodies[i].skinVertexCount +
                 (header->vertices ? (size_t)header->bodies[i].vertexCount : 0);
    return count;
}

// A header may promise more points than there is memory: what a frame must then have in bytes is looked at first.
static snwResult MakeFrameRoom(snwFrames* frames, snwReader* reader, snwMessage* message)
{
    // Once for all frames: they have the same points.
    const snwFramesHeader* header = &frames->header;
    size_t count = PointCount(header), at = 0;
    if (frames->positions != NULL)
        return snw_ok;
    if (reader->failed ||
        snwPoints_LeastBytes(count, header->tolerance) - (header->tolerance > 0) > reader->size - reader->position)
    {
        reader->failed = true;
        return snw_ok;
    }

    // With a tolerance decoding needs the lattice of the frame before, too.
    frames->positions = snwAllocArray(frames->context, 3 * count + 1, sizeof *frames->positions);
    bool room = frames->positions != NULL;
    if (room && header->tolerance > 0 && frames->lattice == NULL)
    {
        frames->lattice = snwAllocArray(frames->context, 3 * count + 1, sizeof *frames->lattice);
        room = frames->lattice != NULL;
    }

    if (!room)
    {
        snwFree(frames->context, frames->positions);
        frames->positions = NULL;
        return snwFailMemory(message);
    }

    // A piece of the lattice for each body's skin and vertices.
    for (int i = 0; i < 2 * header->bodyCount; ++i)
    {
        const snwFramesBody* body = &header->bodies[i / 2];
        frames->lattices[i].values = frames->lattice != NULL ? frames->lattice + 3 * at : NULL;
        at += i % 2 == 0 ? (size_t)body->skinVertexCount : header->vertices ? (size_t)body->vertexCount : 0;
    }

    return snw_ok;
}

static void DecodePoints(snwFrames* frames, snwReader* reader)
{
    const snwFramesHeader* header = &frames->header;
    float* at = frames->positions;

    // Skin, then all vertices, if the file has them.
    for (int i = 0; i < header->bodyCount && !reader->failed; ++i)
    {
        const snwFramesBody* body = &header->bodies[i];
        snwFrameBody* out = &frames->bodies[i];
        snwFrameLattice* lattices = &frames->lattices[(size_t)2 * (size_t)i];

        *out = (snwFrameBody){.skin = at,
            .skinVertexCount = body->skinVertexCount,
            .stride = 3 * (int)sizeof(float),
            .vertexCount = body->vertexCount,
            .bones = out->bones};
        snwPoints_Read(reader, at, (size_t)body->skinVertexCount, header->tolerance, &lattices[0]);
        at += 3 * (size_t)body->skinVertexCount;

        if (!header->vertices || reader->failed)
            continue;
        out->vertices = at;
        snwPoints_Read(reader, at, (size_t)body->vertexCount, header->tolerance, &lattices[1]);
        at += 3 * (size_t)body->vertexCount;
    }
}

// Fewer than eight bytes of padding may follow.
static bool AtEnd(const snwReader* reader)
{
    return !reader->failed && snwPadded(reader->position) == reader->size;
}

// With a tolerance every frame builds on the one before it in its chunk.
static snwResult DecodeFrame(snwFrames* frames, int index, snwFrame* frame, snwMessage* message)
{
    bool chained = frames->header.tolerance > 0;

    // From the frame behind the last one decoded, or from the chunk's first.
    int first = !chained ? index : frames->decoded >= 0 && frames->decoded < index ? frames->decoded + 1 : 0;
    if (first == 0)
        for (int i = 0; i < 2 * frames->header.bodyCount; ++i)
            frames->lattices[i].filled = false;

    // Each frame on the way is read whole; only the last one is told.
    for (int i = first; i <= index; ++i)
    {
        frames->decoded = -1;
        snwReader reader = RecordReader(frames, i);
        ReadHead(frames, &reader, frame);
        snwResult result = MakeFrameRoom(frames, &reader, message);
        if (result < 0)
            return result;
        if (!reader.failed)
            DecodePoints(frames, &reader);
        int number = frames->loaded * frames->header.framesPerChunk + i;
        if (!AtEnd(&reader) || frame->frame != number)
            return FailAtChunk(frames, message, frames->loaded, "a frame holds what cannot be");
        frames->decoded = i;
    }

    return snw_ok;
}

snwResult snwFrames_Read(snwFrames* frames, int frame, snwFrame* result, snwMessage* message)
{
    *result = (snwFrame){0};
    snwMessage_Clear(message);
    if (frame < 0 || frame >= CountFrames(frames))
        return snwFail(
            message, snw_errorArgument, NULL, "there is no frame %d; the cache holds %d", frame, CountFrames(frames));

    // Which chunk, and which frame in it.
    int number = frame / frames->header.framesPerChunk, index = frame % frames->header.framesPerChunk;
    snwResult done = LoadChunk(frames, number, message);
    snwFrame read = {0};

    if (done == snw_ok && frames->decoded == index) // asked again
    {
        snwReader reader = RecordReader(frames, index);
        ReadHead(frames, &reader, &read);
    }
    else if (done == snw_ok)
        done = DecodeFrame(frames, index, &read, message);

    if (done == snw_ok)
        *result = read;
    return done;
}
