// Writing frames caches. A chunk is built in memory and goes out in one piece: written, then synced, before the next
// one begins, so that only the last can ever be torn. The file is locked (flock: a crash cannot leave the lock behind)
// under the name "path.new" until its header is whole, and then renamed: whoever opens it by its name finds a header.

#include "scene/frames.h"
#include "scene/file.h"
#include "scene/log.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Bytes

// 0 or an errno; *done: the bytes that were written. The system may take less than it is given.
static int WriteAt(int file, const void* data, size_t size, uint64_t place, size_t* done)
{
    for (*done = 0; *done < size;)
    {
        ssize_t put = pwrite(file, (const char*)data + *done, size - *done, (off_t)(place + *done));
        if (put < 0 && errno != EINTR)
            return errno;
        if (put == 0)
            return ENOSPC;
        *done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

static int SyncFile(int file)
{
    return fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

// The name itself must survive a power cut too. Not every disk can do that, and then nothing better is known.
static void SyncFolder(snwContext* context, const char* path)
{
    char* folder = snwCopyText(context, path);
    if (folder == NULL)
        return;
    char* slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = 0;
    int file = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0)
    {
        fsync(file);
        close(file);
    }
    snwFree(context, folder);
}

// ---------------------------------------------------------------------------------------------------------------------
// Taking the file

static snwResult FailBusy(const char* path, snwMessage* message)
{
    snwFail(message, snw_errorIo, "wait until it ends, or name another file", "another run is writing this file");
    snwMessage_SetFile(message, path);
    return snw_errorIo;
}

static snwResult FailFramesExist(const char* path, snwMessage* message)
{
    snwFail(message, snw_errorIo, "--resume goes on with it, --force starts again; or name another file",
        "exists already and is not overwritten");
    snwMessage_SetFile(message, path);
    return snw_errorIo;
}

// Is the open file still the one of that name? Another run may have renamed it between opening and locking.
static bool IsNamed(int file, const char* path)
{
    struct stat opened, named;
    return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

// *file is -1 if there is none and flags do not make one.
static snwResult OpenLocked(const char* path, int flags, int* file, snwMessage* message)
{
    struct stat info;

    // Neither follows links nor waits for pipes.
    *file = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (*file < 0 && errno == ENOENT && (flags & O_CREAT) == 0)
        return snw_ok;
    if (*file < 0)
        return snwFailSystem(message, errno, "write", path);
    snwResult result = snw_ok;

    // A plain file, locked by nobody else, and still the one of that name.
    if (fstat(*file, &info) != 0 || !S_ISREG(info.st_mode))
    {
        result = snwFail(message, snw_errorIo, "name a plain file", "is a folder, a device or a pipe");
        snwMessage_SetFile(message, path);
    }
    else if (flock(*file, LOCK_EX | LOCK_NB) != 0)
        result = errno == EWOULDBLOCK ? FailBusy(path, message) : snwFailSystem(message, errno, "lock", path);
    else if (!IsNamed(*file, path))
        result = FailBusy(path, message);

    if (result == snw_ok)
        return snw_ok;
    close(*file);
    *file = -1;
    return result;
}

// The cache under its own name: to go on from, or only to see that nobody writes it and that it may be replaced.
static snwResult TakeNamed(snwFramesWriter* writer, snwMessage* message)
{
    int file = -1;
    snwResult result = OpenLocked(writer->path, 0, &file, message);
    if (result < 0 || file < 0)
        return result;
    if (writer->def.resume)
    {
        writer->file = file;
        return snw_ok;
    }
    close(file);
    return writer->def.overwrite ? snw_ok : FailFramesExist(writer->path, message);
}

static snwResult TakeFresh(snwFramesWriter* writer, snwMessage* message)
{
    snwResult result = OpenLocked(writer->fresh, O_CREAT, &writer->file, message);
    writer->isFresh = result == snw_ok;
    if (result == snw_ok) // again, now that no other run can come to have the name
    {
        int file = -1;
        result = OpenLocked(writer->path, 0, &file, message);
        if (file >= 0)
            close(file);
    }
    return result;
}

static snwResult CheckFramesDef(const snwFramesDef* def, snwMessage* message)
{
    if (def->path[0] == 0)
        return snwFail(message, snw_errorArgument, "give the name of a file", "the path of the frames cache is empty");
    if (def->tolerance != 0 && !(def->tolerance >= SNW_MIN_TOLERANCE && def->tolerance <= SNW_MAX_TOLERANCE))
        return snwFail(message, snw_errorArgument, "give metres, or 0 for every bit",
            "the tolerance of the frames must be %g..%g m, is %g", SNW_MIN_TOLERANCE, SNW_MAX_TOLERANCE,
            def->tolerance);
    if (def->framesPerChunk < 0 || def->framesPerChunk > snw_maxChunkFrames)
        return snwFail(message, snw_errorArgument, NULL, "frames per chunk must be 1..%d, are %d", snw_maxChunkFrames,
            def->framesPerChunk);
    return snw_ok;
}

snwResult snwFramesWriter_Open(
    snwFramesWriter* writer, snwContext* context, const snwFramesDef* def, snwMessage* message)
{
    *writer = (snwFramesWriter){.context = context, .def = *def, .file = -1, .buffer = {.context = context}};
    snwResult result = CheckFramesDef(def, message);
    if (result < 0)
        return result;

    // Two names: the cache's own, and one for a file whose header is not yet whole.
    size_t length = strlen(def->path) + sizeof ".new";
    writer->path = snwCopyText(context, def->path);
    writer->fresh = snwAlloc(context, length);
    if (writer->path == NULL || writer->fresh == NULL)
    {
        snwFramesWriter_Drop(writer);
        return snwFailMemory(message);
    }

    snprintf(writer->fresh, length, "%s.new", def->path);

    // Going on with what is there, or a fresh file.
    result = TakeNamed(writer, message);
    if (result == snw_ok && writer->file < 0)
        result = TakeFresh(writer, message);
    if (result < 0)
        snwFramesWriter_Drop(writer);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// From the start

static snwResult WriteFileHeader(snwFramesWriter* writer, const snwWriter* header, snwMessage* message)
{
    size_t done = 0;
    int error = ftruncate(writer->file, 0) == 0 ? 0 : errno; // a crash may have left half a header
    if (error == 0)
        error = WriteAt(writer->file, header->data, header->size, 0, &done);
    if (error == 0)
        error = SyncFile(writer->file);
    if (error == 0 && rename(writer->fresh, writer->path) != 0)
        error = errno;
    if (error != 0)
        return snwFailSystem(message, error, "write", writer->path);
    writer->isFresh = false;
    SyncFolder(writer->context, writer->path);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// From where a cache ends

static snwResult FailOther(const snwFramesWriter* writer, const snwFramesHeader* found, snwMessage* message)
{
    const snwFramesDef* def = &writer->def;
    char version[40];
    snwVersion ours = snwGetVersion();

    // The first difference that explains itself to a user.
    snprintf(version, sizeof version, "%d.%d.%d", ours.major, ours.minor, ours.patch);
    const char* what = "other settings of the cache";
    if (strcmp(found->version, version) != 0)
        what = "another version of Sinew";
    else if (found->sceneHash != snwScene_Hash(def->file->scene))
        what = "another scene, method or setting";
    else if (found->lastFrame != def->lastFrame)
        what = "another number of frames";
    else if (found->tolerance != def->tolerance)
        what = "another tolerance";

    snwFail(message, snw_errorInput, "use the same scene and options, or start again with overwriting",
        "cannot be resumed: it was made with %s", what);
    snwMessage_SetFile(message, writer->path);
    return snw_errorInput;
}

static snwResult CompareHeader(snwFramesWriter* writer, const snwWriter* header, snwMessage* message)
{
    const snwFramesHeader* found = snwFrames_GetHeader(writer->found);
    if (found->size != header->size || memcmp(snwFrames_GetHeaderBytes(writer->found), header->data, header->size) != 0)
        return FailOther(writer, found, message);
    if (snwFrames_GetInfo(writer->found).damagedChunks == 0)
        return snw_ok;
    snwFail(message, snw_errorInput, "start again with overwriting", "cannot be resumed: it is damaged");
    snwMessage_SetFile(message, writer->path);
    return snw_errorInput;
}

static void GetBlock(snwSim* sim, int index, snwVertices* points)
{
    snwSkin skin;
    snwSim_GetShown(sim, index / 2, points);
    if (index % 2 != 0)
        return;
    snwSim_GetSkin(sim, index / 2, &skin);
    if (skin.vertexCount > 0)
        *points = (snwVertices){skin.positions, NULL, skin.vertexCount, skin.stride};
}

static bool HasBlock(const snwFramesWriter* writer, int index)
{
    return index % 2 == 0 || writer->def.vertices;
}

// The chunk goes on as if it had never been left: the same records, the same lattice.
static void TakeShortChunk(snwFramesWriter* writer, snwSim* sim, const snwLastChunk* last)
{
    writer->chunk = last->number;
    writer->frameCount = last->frameCount;
    writer->end = last->start;
    snwWrite(&writer->buffer, last->records, last->recordsSize);
    for (int i = 0; writer->def.tolerance > 0 && i < 2 * writer->bodyCount; ++i)
    {
        snwVertices points;
        GetBlock(sim, i, &points);
        if (HasBlock(writer, i))
            snwPoints_Prime(
                points.positions, points.stride, (size_t)points.count, writer->def.tolerance, &writer->lattices[i]);
    }
}

static snwResult GoOnWriting(snwFramesWriter* writer, snwSim* sim, snwMessage* message)
{
    snwFramesInfo info = snwFrames_GetInfo(writer->found);
    snwLastChunk last;
    snwFrame frame;
    snwResult result = snwFrames_ReadLastChunk(writer->found, &last, message);

    writer->end = info.bytes;
    if (result < 0 || last.number < 0)
        return result;
    // The state after the last whole chunk; a short last chunk is taken back and filled up.
    result = snwSim_Restore(sim, last.state, last.stateSize, message);
    writer->chunk = last.number + 1;
    if (result == snw_ok && last.frameCount < writer->framesPerChunk && !info.complete)
        TakeShortChunk(writer, sim, &last);

    // The hash of its last frame must be that of the state, or the file is not what it says.
    if (result == snw_ok)
        result = snwFrames_Read(writer->found, info.frameCount - 1, &frame, message);
    if (result == snw_ok && frame.hash != snwSim_Hash(sim))
        result = snwFail(message, snw_errorInput, "start again with overwriting",
            "cannot be resumed: its last frame and its state differ");
    if (result < 0)
        snwMessage_SetFile(message, writer->path);

    return result;
}

static snwResult Resume(snwFramesWriter* writer, const snwWriter* header, snwSim* sim, snwMessage* message)
{
    snwResult result = snwFrames_Open(writer->context, writer->path, &writer->found, message);
    if (result >= 0)
        result = CompareHeader(writer, header, message);
    if (result == snw_ok)
        result = GoOnWriting(writer, sim, message);
    if (result < 0)
        return result;
    snwFramesInfo info = snwFrames_GetInfo(writer->found);
    if (info.tailBytes > 0 && ftruncate(writer->file, (off_t)info.bytes) != 0)
        return snwFailSystem(message, errno, "write", writer->path);
    return snw_ok;
}

static snwResult MakeLattices(snwFramesWriter* writer, snwSim* sim, snwMessage* message)
{
    writer->bodyCount = snwSim_GetBodyCount(sim);
    writer->lattices = snwAllocArray(writer->context, 2 * (size_t)writer->bodyCount, sizeof *writer->lattices);
    for (int i = 0; writer->lattices != NULL && writer->def.tolerance > 0 && i < 2 * writer->bodyCount; ++i)
    {
        snwVertices points;
        GetBlock(sim, i, &points);
        writer->lattices[i].values = snwAllocArray(writer->context, 3 * (size_t)points.count + 1, sizeof(int64_t));
        if (writer->lattices[i].values == NULL)
            return snwFailMemory(message);
    }
    return writer->lattices != NULL ? snw_ok : snwFailMemory(message);
}

// Room in front, so that the header can be filled in when the chunk is done.
static void StartChunk(snwFramesWriter* writer)
{
    static const unsigned char s_room[snw_chunkHeaderSize] = {0};
    writer->buffer.size = 0;
    writer->frameCount = 0;
    snwWrite(&writer->buffer, s_room, sizeof s_room);
    for (int i = 0; i < 2 * writer->bodyCount; ++i)
        writer->lattices[i].filled = false;
}

snwResult snwFramesWriter_Begin(snwFramesWriter* writer, snwSim* sim, snwMessage* message)
{
    snwWriter header = {.context = writer->context};
    snwFramesHeader parsed = {0};
    snwResult result = snwFramesHeader_Write(&header, &writer->def, sim, message);
    // The header is parsed at once: that gives its checksum, and proves that it can be read.
    if (result == snw_ok)
        result = snwFramesHeader_Parse(&parsed, writer->context, header.data, header.size, message);
    if (result == snw_ok)
        result = MakeLattices(writer, sim, message);

    if (result == snw_ok)
    {
        // Chunks chain from the header's checksum.
        writer->seed = parsed.checksum;
        writer->framesPerChunk = parsed.framesPerChunk;
        writer->end = header.size;
        StartChunk(writer);
        result = writer->isFresh ? WriteFileHeader(writer, &header, message) : Resume(writer, &header, sim, message);
    }

    snwFramesHeader_Free(&parsed);
    snwFree(writer->context, header.data);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static snwResult WriteFramesCommands(snwFramesWriter* writer, const snwSim* sim, snwMessage* message)
{
    int count = 0;
    const snwCommand* commands = snwSim_GetLog(sim, &count);
    snwText text = snwCreateText(writer->context, 0);
    for (; writer->commandCount < count; writer->commandCount++)
        snwLog_FormatCommand(&text, snwScene_GetDef(writer->def.file->scene), &commands[writer->commandCount]);
    snwWriteInt(&writer->buffer, (int32_t)text.size);
    snwWrite(&writer->buffer, text.data, text.size);
    snwResult result = text.failed ? snwFailMemory(message) : snw_ok;
    snwText_Free(&text);
    return result;
}

static void WriteTransforms(snwWriter* writer, const snwTransforms* transforms)
{
    for (int i = 0; i < transforms->count; ++i)
        snwWrite(writer, (const char*)transforms->data + (size_t)i * (size_t)transforms->stride, sizeof(snwTransform));
}

static void WriteFrameHead(
    snwFramesWriter* writer, const snwSim* sim, int frame, uint64_t hash, const snwMeasures* measures)
{
    snwWriter* out = &writer->buffer;
    snwTransforms transforms;
    snwContacts contacts;
    snwMeasures timeless = *measures;

    // Times differ from run to run, and a cache should not.
    timeless.stepMs = 0;
    snwSim_GetContacts(sim, &contacts);
    snwWriteInt(out, frame);
    snwWriteInt(out, contacts.count);
    snwWriteU64(out, snwSim_GetStepCount(sim));
    snwWriteReal(out, snwSim_GetTime(sim));
    snwWriteU64(out, hash);
    snwWrite(out, &timeless, sizeof timeless);

    // What is drawn: colliders, props and bones where they are.
    snwSim_GetColliders(sim, &transforms);
    WriteTransforms(out, &transforms);
    snwProps props;
    snwSim_GetProps(sim, &props);
    for (int i = 0; i < props.count; ++i)
        snwWrite(out, &props.data[i].transform, sizeof props.data[i].transform);
    for (int i = 0; i < writer->bodyCount; ++i)
    {
        snwSim_GetBones(sim, i, &transforms);
        WriteTransforms(out, &transforms);
    }

    for (int i = 0; i < contacts.count; ++i)
        snwWrite(out, (const char*)contacts.data + (size_t)i * (size_t)contacts.stride, sizeof(snwContact));
}

static void WritePositions(snwFramesWriter* writer, snwSim* sim)
{
    for (int i = 0; i < 2 * writer->bodyCount; ++i)
    {
        snwVertices points;
        if (!HasBlock(writer, i))
            continue;
        GetBlock(sim, i, &points);
        snwPoints_Write(&writer->buffer, points.positions, points.stride, (size_t)points.count, writer->def.tolerance,
            &writer->lattices[i]);
    }
}

static snwResult WriteRecord(
    snwFramesWriter* writer, snwSim* sim, int frame, uint64_t hash, const snwMeasures* measures, snwMessage* message)
{
    snwWriter* out = &writer->buffer;
    size_t start = out->size;
    snwWriteU64(out, 0);
    WriteFrameHead(writer, sim, frame, hash, measures);
    snwResult result = WriteFramesCommands(writer, sim, message);
    if (result < 0)
        return result;
    WritePositions(writer, sim);
    snwWriteZeros(out, 8);
    if (out->failed)
        return snwFailMemory(message);
    uint64_t size = out->size - start;
    memcpy(out->data + start, &size, sizeof size);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Chunks

// Behind the records: the state, the commit; in front: the header.
static snwResult SealChunk(snwFramesWriter* writer, const snwSim* sim, snwMessage* message)
{
    snwWriter* out = &writer->buffer;

    // What the chunk holds, and how long its parts are.
    snwChunkHeader header = {.magic = SNW_CHUNK_MAGIC,
        .number = writer->chunk,
        .firstFrame = writer->chunk * writer->framesPerChunk,
        .frameCount = writer->frameCount,
        .framesSize = out->size - snw_chunkHeaderSize,
        .stateSize = snwSim_GetStateSize(sim)};
    unsigned char* state = snwWriter_Reserve(out, snwPadded((size_t)header.stateSize) + snw_commitSize);
    if (state == NULL)
        return snwFailMemory(message);
    if (out->size + snwPadded((size_t)header.stateSize) > SNW_MAX_CHUNK_BYTES)
        return snwFail(message, snw_errorUnsupported, "store fewer frames per chunk", "a chunk of frames is too large");

    // The whole state of the sim: a run can go on from here.
    snwResult result = snwSim_Save(sim, state, (size_t)header.stateSize, NULL, message);
    if (result < 0)
        return result;
    out->size += (size_t)header.stateSize;
    snwWriteZeros(out, 8);
    // The checksum of the header goes into the header, that of all into the commit behind it.
    header.checksum = snwChunkHeader_Checksum(&header, writer->seed);
    memcpy(out->data, &header, sizeof header);
    snwCommit commit = snwMakeCommit(&header, out->data + sizeof header);
    snwWrite(out, &commit, sizeof commit);

    return out->failed ? snwFailMemory(message) : snw_ok;
}

// A short chunk is overwritten by a longer one: there must be room for it before the old one is touched.
static int ReserveChunk(const snwFramesWriter* writer)
{
    if (writer->unwritten == writer->frameCount)
        return 0;
    int error = posix_fallocate(writer->file, (off_t)writer->end, (off_t)writer->buffer.size);
    return error == ENOSPC || error == EFBIG || error == EDQUOT ? error : 0;
}

// Half a chunk is of no use: gives the space back, which may be just what is lacking. `before`: the size of the file
// before, which is right as long as the chunk that was there is untouched.
static snwResult FailChunk(snwFramesWriter* writer, int error, off_t before, size_t done, snwMessage* message)
{
    writer->failed = true;
    if (ftruncate(writer->file, done > 0 ? (off_t)writer->end : before) != 0)
        snwLogText(writer->context, snw_logDebug, "%s keeps half a chunk", writer->path);
    return snwFailSystem(message, error, "write", writer->path);
}

static snwResult WriteChunk(snwFramesWriter* writer, const snwSim* sim, snwMessage* message)
{
    size_t done = 0;
    struct stat before = {0};
    snwResult result = SealChunk(writer, sim, message);
    if (result == snw_ok && fstat(writer->file, &before) != 0)
        result = snwFailSystem(message, errno, "write", writer->path);
    if (result < 0)
    {
        writer->failed = true;
        return result;
    }

    // Room first, so that a full disk is known before anything is torn; then written and synced.
    int error = ReserveChunk(writer);
    if (error == 0)
        error = WriteAt(writer->file, writer->buffer.data, writer->buffer.size, writer->end, &done);
    if (error == 0)
        error = SyncFile(writer->file);
    if (error != 0)
        return FailChunk(writer, error, before.st_size, done, message);

    // It is on the disk: only now it counts.
    writer->end += writer->buffer.size;
    writer->chunk++;
    writer->unwritten = 0;
    StartChunk(writer);

    return snw_ok;
}

snwResult snwFramesWriter_AddFrame(
    snwFramesWriter* writer, snwSim* sim, int frame, uint64_t hash, const snwMeasures* measures, snwMessage* message)
{
    snwResult result = WriteRecord(writer, sim, frame, hash, measures, message);
    if (result < 0)
    {
        writer->failed = true;
        return result;
    }
    writer->frameCount++;
    writer->unwritten++;
    writer->hash = hash;
    return writer->frameCount == writer->framesPerChunk ? WriteChunk(writer, sim, message) : snw_ok;
}

snwResult snwFramesWriter_Finish(snwFramesWriter* writer, snwSim* sim, snwMessage* message)
{
    snwResult result = snw_ok;
    // A run that failed between a step and its frame has a state that belongs to no record.
    if (writer->unwritten > 0 && !writer->failed && snwSim_Hash(sim) == writer->hash)
        result = WriteChunk(writer, sim, message);
    snwFramesWriter_Drop(writer);
    return result;
}

void snwFramesWriter_Drop(snwFramesWriter* writer)
{
    snwContext* context = writer->context;
    if (writer->file >= 0 && writer->isFresh)
        unlink(writer->fresh);
    if (writer->file >= 0)
        close(writer->file);
    snwFrames_Close(writer->found);
    for (int i = 0; writer->lattices != NULL && i < 2 * writer->bodyCount; ++i)
        snwFree(context, writer->lattices[i].values);
    snwFree(context, writer->lattices);
    snwFree(context, writer->buffer.data);
    snwFree(context, writer->path);
    snwFree(context, writer->fresh);
    *writer = (snwFramesWriter){.context = context, .file = -1};
}
