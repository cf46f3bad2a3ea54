// Whole files: read up to a limit, and written under a name of their own ("PATH.part") that becomes the wanted one
// only when all is on the disk. Messages say what the system said and what would help.

#define _XOPEN_SOURCE 700 // realpath
#include "scene/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* ReadRemedy(int error)
{
    switch (error)
    {
        case EACCES:
        case EPERM:
            return "check the permissions of the file and its folder";
        case ENOENT:
            return "check the spelling of the path";
        case ENOTDIR:
            return "a part of the path is a file, not a folder";
        case EISDIR:
            return "this is a folder; give the name of a file";
        default:
            return NULL;
    }
}

// What would help when a file cannot be written, by the system's number of the error; NULL: nothing to suggest.
static const char* WriteRemedy(int error)
{
    switch (error)
    {
        case EACCES:
        case EPERM:
        case EROFS:
            return "choose a folder in which you may write, or check the permissions";
        case ENOENT:
            return "check the spelling, or create the folder first";
        case ENOTDIR:
            return "a part of the path is a file, not a folder; choose another path";
        case EISDIR:
            return "this is a folder; give the name of a file";
        case ENOSPC:
        case EDQUOT:
            return "free some space or write elsewhere";
        case EFBIG:
            return "raise the limit on the size of files, or write elsewhere";
        case ENAMETOOLONG:
            return "choose a shorter name";
        default:
            return NULL;
    }
}

snwResult snwFailSystem(snwMessage* message, int error, const char* action, const char* path)
{
    char words[128] = "";
    if (strerror_r(error, words, sizeof words) != 0)
        snprintf(words, sizeof words, "error %d", error);
    snwResult result = error == ENOMEM ? snw_errorMemory : snw_errorIo;
    bool reading = strcmp(action, "open") == 0 || strcmp(action, "read") == 0;
    snwFail(message, result, reading ? ReadRemedy(error) : WriteRemedy(error), "cannot %s: %s", action, words);
    snwMessage_SetFile(message, path);
    return result;
}

static snwResult CheckReadable(FILE* stream, const char* path, size_t limit, size_t* size, snwMessage* message)
{
    struct stat info;
    if (fstat(fileno(stream), &info) != 0)
        return snwFailSystem(message, errno, "read", path);
    if (S_ISDIR(info.st_mode))
        return snwFailSystem(message, EISDIR, "read", path);
    *size = S_ISREG(info.st_mode) && info.st_size > 0 ? (size_t)info.st_size : 0; // pipes tell no size
    return *size > limit ? snw_errorInput : snw_ok;
}

static snwResult FailTooLarge(const char* path, size_t limit, snwMessage* message)
{
    snwFail(message, snw_errorInput, NULL, "too large: at most %zu MiB are read", limit >> 20);
    snwMessage_SetFile(message, path);
    return snw_errorInput;
}

// Reads to the end, growing as needed: the size from the system is only a hint.
static snwResult ReadStream(FILE* stream, const char* path, size_t limit, snwWriter* writer, snwMessage* message)
{
    char chunk[16384];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, stream)) > 0)
    {
        if (writer->size + got > limit)
            return FailTooLarge(path, limit, message);
        snwWrite(writer, chunk, got);
        if (writer->failed)
            return snwFailMemory(message);
    }
    if (ferror(stream))
        return snwFailSystem(message, errno, "read", path);
    snwWrite(writer, "", 1);
    return writer->failed ? snwFailMemory(message) : snw_ok;
}

snwResult snwFile_Read(
    snwContext* context, const char* path, size_t limit, char** data, size_t* size, snwMessage* message)
{
    *data = NULL;
    *size = 0;
    FILE* stream = fopen(path, "rbe");
    if (stream == NULL)
        return snwFailSystem(message, errno, "open", path);
    size_t hint = 0;
    snwWriter writer = {.context = context};
    snwResult result = CheckReadable(stream, path, limit, &hint, message);
    if (result == snw_errorInput)
        FailTooLarge(path, limit, message);
    if (result == snw_ok)
        result = ReadStream(stream, path, limit, &writer, message);
    fclose(stream);
    if (result < 0)
    {
        snwFree(context, writer.data);
        return result;
    }
    // The last byte is the 0 that ReadStream puts behind the text.
    *data = (char*)writer.data;
    *size = writer.size - 1;
    return snw_ok;
}

static snwResult FailExists(snwMessage* message, const char* path, const char* remedy)
{
    snwFail(message, snw_errorIo, remedy, "exists already and is not overwritten");
    snwMessage_SetFile(message, path);
    return snw_errorIo;
}

static snwResult CheckReplaceable(const snwPartFile* output, snwMessage* message)
{
    struct stat info;

    // Folders, devices and pipes are never replaced; plain files only if that was asked for.
    bool there = stat(output->path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return snwFailSystem(message, EISDIR, "write", output->path);
    if (there && !S_ISREG(info.st_mode)) // a rename would replace the device or pipe itself
    {
        snwFail(message, snw_errorIo, "name a plain file", "is a device or a pipe");
        snwMessage_SetFile(message, output->path);
        return snw_errorIo;
    }
    if (output->overwrite)
        return snw_ok;

    // A part that was left behind is somebody's unfinished work.
    if (lstat(output->path, &info) == 0)
        return FailExists(message, output->path, "--force to replace it, or name another file");
    if (lstat(output->part, &info) == 0)
        return FailExists(
            message, output->part, "left by a run that was cut short: --force to replace it, or move it away");
    return snw_ok;
}

static snwResult OpenPart(snwPartFile* output, snwMessage* message)
{
    if (output->overwrite)
        unlink(output->part);
    // O_EXCL: two runs that write the same file must not mix, and nobody's link is followed.
    int file = open(output->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return snwFailSystem(message, errno, "write", output->path);
    output->stream = fdopen(file, "wb");
    if (output->stream != NULL)
        return snw_ok;
    int error = errno;
    close(file);
    unlink(output->part);
    return snwFailSystem(message, error, "write", output->path);
}

static void FreeNames(snwPartFile* output)
{
    if (output->context != NULL)
    {
        snwFree(output->context, output->path);
        snwFree(output->context, output->part);
    }
    *output = (snwPartFile){0};
}

snwResult snwPartFile_Open(
    snwPartFile* output, snwContext* context, const char* path, bool overwrite, snwMessage* message)
{
    size_t length = strlen(path);
    *output = (snwPartFile){.context = context, .overwrite = overwrite};
    if (length == 0)
        return snwFail(message, snw_errorArgument, "give the name of a file", "the path of an output file is empty");
    output->path = snwCopyText(context, path);
    output->part = snwAlloc(context, length + sizeof ".part");
    if (output->path == NULL || output->part == NULL)
    {
        FreeNames(output);
        return snwFailMemory(message);
    }

    // From here on two names: the part, which grows, and the path, which it gets at the end.
    snprintf(output->part, length + sizeof ".part", "%s.part", path);
    snwResult result = CheckReplaceable(output, message);
    if (result == snw_ok)
        result = OpenPart(output, message);
    if (result < 0)
        FreeNames(output);
    return result;
}

snwResult snwPartFile_Write(snwPartFile* output, const void* data, size_t size, snwMessage* message)
{
    if (size > 0 && fwrite(data, 1, size, output->stream) != size)
        return snwFailSystem(message, errno, "write", output->part);
    return snw_ok;
}

snwResult snwPartFile_Flush(snwPartFile* output, snwMessage* message)
{
    if (fflush(output->stream) != 0)
        return snwFailSystem(message, errno, "write", output->part);
    return snw_ok;
}

// link() fails if the name was taken meanwhile, rename() would silently replace it; some disks know no links.
static int GiveName(const snwPartFile* output)
{
    if (!output->overwrite)
    {
        if (link(output->part, output->path) == 0)
        {
            unlink(output->part);
            return 0;
        }
        if (errno == EEXIST)
            return EEXIST;
    }
    return rename(output->part, output->path) == 0 ? 0 : errno;
}

// After a hand-over the stream is closed and another one syncs what the other program wrote.
static int Sync(snwPartFile* output)
{
    if (output->stream == NULL && (output->stream = fopen(output->part, "rbe")) == NULL)
        return errno;
    int error = 0;
    // A pipe or a special file cannot be made durable; that is no failure.
    if (fflush(output->stream) != 0 || (fsync(fileno(output->stream)) != 0 && errno != EINVAL && errno != EROFS))
        error = errno;
    if (fclose(output->stream) != 0 && error == 0)
        error = errno;
    output->stream = NULL;
    return error;
}

snwResult snwPartFile_Commit(snwPartFile* output, snwMessage* message)
{
    if (output->path == NULL)
        return snw_ok;
    int error = Sync(output);
    if (error == 0)
        error = GiveName(output);
    if (error != 0)
        unlink(output->part);
    snwResult result = error == 0 ? snw_ok : snwFailSystem(message, error, "write", output->path);
    FreeNames(output);
    return result;
}

void snwPartFile_Abandon(snwPartFile* output)
{
    if (output->stream != NULL)
        fclose(output->stream);
    FreeNames(output);
}

void snwPartFile_HandOver(snwPartFile* output)
{
    if (output->stream != NULL)
        fclose(output->stream);
    output->stream = NULL;
}

void snwPartFile_Drop(snwPartFile* output)
{
    snwPartFile_HandOver(output);
    if (output->part != NULL)
        unlink(output->part);
    FreeNames(output);
}

void snwPartFile_Clear(snwContext* context, const char* path)
{
    size_t length = path != NULL ? strlen(path) + sizeof ".part" : 0;
    char* part = length > 0 ? snwAlloc(context, length) : NULL;
    if (part == NULL)
        return;
    snprintf(part, length, "%s.part", path);
    unlink(part);
    snwFree(context, part);
}

snwResult snwPartFile_Check(snwContext* context, const char* path, bool overwrite, snwMessage* message)
{
    snwPartFile output;
    snwResult result = snwPartFile_Open(&output, context, path, overwrite, message);
    if (result >= 0)
        snwPartFile_Drop(&output);
    return result;
}

snwResult snwFile_Write(
    snwContext* context, const char* path, const void* data, size_t size, bool overwrite, snwMessage* message)
{
    snwPartFile output;
    snwResult result = snwPartFile_Open(&output, context, path, overwrite, message);
    if (result == snw_ok)
        result = snwPartFile_Write(&output, data, size, message);
    if (result == snw_ok)
        result = snwPartFile_Commit(&output, message);
    if (result < 0)
        snwPartFile_Drop(&output);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Paths and folders

bool snwJoinPath(char* buffer, size_t capacity, const char* folder, const char* name)
{
    const char* slash = folder[0] != 0 && folder[strlen(folder) - 1] == '/' ? "" : "/";
    int length = snprintf(buffer, capacity, "%s%s%s", folder, slash, name);
    return length > 0 && (size_t)length < capacity;
}

bool snwFileExists(const char* path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

bool snwIsFolder(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

snwResult snwMakeFolder(const char* path, snwMessage* message)
{
    char part[snw_maxPath];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return snwFailSystem(message, ENAMETOOLONG, "make the folder", path);

    // Every folder on the way, from the root down; what is there already is fine if it is one.
    for (char* end = part + (part[0] != 0); part[0] != 0; ++end)
    {
        char kept = *end;
        if (kept != '/' && kept != 0)
            continue;
        *end = 0;
        if (mkdir(part, 0777) != 0 && !snwIsFolder(part))
            return snwFailSystem(message, errno == EEXIST ? ENOTDIR : errno, "make the folder", part);
        *end = kept;
        if (kept == 0)
            break;
    }
    return snw_ok;
}

bool snwHasProgram(const char* name)
{
    const char* folders = getenv("PATH");
    char path[snw_maxPath];
    while (folders != NULL && *folders != 0)
    {
        size_t length = strcspn(folders, ":");
        // An empty folder in PATH is the current one.
        int size = snprintf(path, sizeof path, "%.*s%s/%s", (int)length, folders, length > 0 ? "" : ".", name);
        if (size < (int)sizeof path && !snwIsFolder(path) && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

void snwPathBeside(const char* file, const char* beside, char* path)
{
    char joined[PATH_MAX];
    const char* slash = strrchr(beside, '/');
    int folder = file[0] == '/' || slash == NULL ? 0 : (int)(slash - beside) + 1;
    snprintf(joined, sizeof joined, "%.*s%s", folder, beside, file);
    if (realpath(joined, path) == NULL)
        snprintf(path, PATH_MAX, "%s", joined);
}

bool snwPathBesideProgram(const char* beside, char* buffer, size_t capacity)
{
    ssize_t length = readlink("/proc/self/exe", buffer, capacity - 1);
    buffer[length > 0 ? length : 0] = 0;
    char* slash = strrchr(buffer, '/');
    size_t room = slash != NULL ? capacity - (size_t)(slash - buffer) : 0;
    return slash != NULL && snprintf(slash, room, "/%s", beside) < (int)room;
}
