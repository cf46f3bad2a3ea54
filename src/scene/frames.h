// The frames cache inside. docs/frames.md has the format byte by byte; in short:
//
//   header   what never changes: scene, bodies, sizes; a checksum
//   chunk    48 bytes that say what comes; the records of some frames; the state after the last of them; 32 bytes that
//            commit it with the checksum of all that
//   chunk    ...
//
// Why one file that only grows: a rename per chunk would litter a folder, a file per frame too, and a data base brings
// a journal that a torn write can leave behind. Here the only thing a crash can leave is a tail that its checksum
// refuses. Why the state in every chunk: each chunk may turn out to be the last, and what is needed to go on must be as
// safe as the frames themselves. Nothing in the file depends on the clock, the threads or where the run was cut, so a
// resumed run can be compared with a straight one byte by byte.

#pragma once

#include "scene/frames_codec.h"
#include "base/arena.h"
#include "base/array.h"
#include "sinew/tools.h"

#define SNW_FRAMES_MAGIC 0x1A0A0D46574E5389ull // 89 "SNWF" 0D 0A 1A: text editors and transfers break it visibly
#define SNW_CHUNK_MAGIC  0x4B4E484346574E53ull // "SNWFCHNK"
#define SNW_COMMIT_MAGIC 0x454E4F4446574E53ull // "SNWFDONE"
#define SNW_ENDIAN_MARK  0x01020304u

#define SNW_MAX_CHUNK_BYTES  (2ull << 30)
#define SNW_MAX_HEADER_BYTES (2ull << 30)
#define SNW_MIN_TOLERANCE    1e-9 // m
#define SNW_MAX_TOLERANCE    1.0

enum
{
    snw_framesVersion = 2,
    snw_framesStart = 24, // magic, version, mark and size of the header
    snw_framesHasVertices = 1,
    snw_skinHasColors = 1,
    snw_skinHasTexcoords = 2,
    snw_skinHasTexture = 4,
    snw_chunkHeaderSize = 48,
    snw_commitSize = 32,
    snw_maxChunkFrames = 4096,
};

static inline size_t snwPadded(size_t size)
{
    return (size + 7) / 8 * 8;
}

// ---------------------------------------------------------------------------------------------------------------------
// Header

// What the caller of a run chooses.
typedef struct snwFramesDef
{
    const char* path;
    const snwSceneFile* file;
    int lastFrame; // of the whole run
    double tolerance;
    bool vertices;
    int framesPerChunk; // 0: from the sizes
    bool overwrite, resume;
} snwFramesDef;

typedef struct snwFramesHeader
{
    snwArena arena; // of the tables below
    uint64_t size;
    uint64_t checksum; // seed of the chunks' checksums, so that no chunk passes in another file
    double rate, tolerance;
    uint64_t sceneHash, stateSize;
    int lastFrame, framesPerChunk, measureCount;
    bool vertices;
    const char *version, *scene;
    size_t sceneSize;
    snwFramesBody* bodies;
    int bodyCount;
    snwFramesCollider* colliders;
    int colliderCount;
    snwFramesProp* props;
    int propCount;
} snwFramesHeader;

snwResult snwFramesHeader_Write(snwWriter* writer, const snwFramesDef* def, const snwSim* sim, snwMessage* message);
// `bytes` must stay, the tables point into them; allocated blocks are aligned well enough. Anything may be in them.
snwResult snwFramesHeader_Parse(
    snwFramesHeader* header, snwContext* context, const unsigned char* bytes, size_t size, snwMessage* message);
void snwFramesHeader_Free(snwFramesHeader* header);

// ---------------------------------------------------------------------------------------------------------------------
// Chunks

typedef struct snwChunkHeader
{
    uint64_t magic;
    int32_t number, firstFrame, frameCount, zero;
    uint64_t framesSize, stateSize; // bytes of the records; of the state, before padding
    uint64_t checksum;              // of the above, seeded with the file header's
} snwChunkHeader;

typedef struct snwCommit
{
    uint64_t magic;
    uint64_t payload;  // checksum of records and state, seeded with the chunk header's
    uint64_t size;     // of the whole chunk
    uint64_t checksum; // of the above, seeded with the chunk header's
} snwCommit;

_Static_assert(sizeof(snwChunkHeader) == snw_chunkHeaderSize && sizeof(snwCommit) == snw_commitSize, "as documented");
_Static_assert(sizeof(snwTransform) == 56 && sizeof(snwContact) == 60, "records hold them as they are");

uint64_t snwChunkHeader_Checksum(const snwChunkHeader* header, uint64_t seed);
uint64_t snwChunkHeader_PayloadSize(const snwChunkHeader* header);
snwCommit snwMakeCommit(const snwChunkHeader* header, const void* payload);

// ---------------------------------------------------------------------------------------------------------------------
// Reading beyond the public API

// Reads a cache that is in memory, which stays with the caller.
snwResult snwFrames_OpenMemory(
    snwContext* context, const void* data, size_t size, const char* name, snwFrames** frames, snwMessage* message);
const snwFramesHeader* snwFrames_GetHeader(const snwFrames* frames);
const unsigned char* snwFrames_GetHeaderBytes(const snwFrames* frames);

// The last whole chunk, with its records and its state as they are in the file.
typedef struct snwLastChunk
{
    int number, frameCount; // number -1: there is none
    uint64_t start;         // in the file
    const unsigned char *records, *state;
    size_t recordsSize, stateSize;
} snwLastChunk;

snwResult snwFrames_ReadLastChunk(snwFrames* frames, snwLastChunk* chunk, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Writing

typedef struct snwFramesWriter
{
    snwContext* context;
    snwFramesDef def;
    char *path, *fresh; // the file; its name until the header is whole
    int file;           // -1: closed
    bool isFresh;       // it still has that name
    snwFrames* found;   // what a resumed run goes on from; NULL: from the start
    uint64_t seed;      // checksum of the header
    uint64_t end;       // where the chunk in the making will be written
    int framesPerChunk;
    int chunk;                 // number of the chunk in the making
    int frameCount;            // in it
    int unwritten;             // of them not in the file yet
    int commandCount;          // of the sim's log, stored so far
    uint64_t hash;             // of the last frame added
    snwWriter buffer;          // the chunk in the making, room for its header in front
    snwFrameLattice* lattices; // two per body: skin and mesh
    int bodyCount;
    bool failed; // nothing more is written
} snwFramesWriter;

// Takes the file for itself; a second writer is refused. Nothing that was there changes yet.
snwResult snwFramesWriter_Open(
    snwFramesWriter* writer, snwContext* context, const snwFramesDef* def, snwMessage* message);
// Writes the header, or brings the sim to where the cache ends: writer->found then holds the frames up to there.
snwResult snwFramesWriter_Begin(snwFramesWriter* writer, snwSim* sim, snwMessage* message);
snwResult snwFramesWriter_AddFrame(
    snwFramesWriter* writer, snwSim* sim, int frame, uint64_t hash, const snwMeasures* measures, snwMessage* message);
// Writes what is left and closes. However it ends, the chunks that were whole stay.
snwResult snwFramesWriter_Finish(snwFramesWriter* writer, snwSim* sim, snwMessage* message);
void snwFramesWriter_Drop(snwFramesWriter* writer); // closes; a file without a header goes away
