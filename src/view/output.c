#include "view/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* Remedy(int error)
{
    switch (error)
    {
        case EACCES:
        case EPERM:
        case EROFS:
            return "choose a folder in which you may write, or change its permissions";
        case ENOENT:
            return "create the folder first, or check the spelling";
        case ENOTDIR:
            return "a part of the path is a file, not a folder; choose another path";
        case EISDIR:
            return "this is a folder; give the name of a file";
        case ENOSPC:
        case EDQUOT:
            return "free some space on the disk";
        case ENAMETOOLONG:
            return "choose a shorter name";
        default:
            return "check the path and the disk";
    }
}

snwResult snwFailSystem(snwMessage* message, int error, const char* action, const char* path)
{
    snwResult result = snwFail(message, snw_errorIo, Remedy(error), "cannot %s: %s", action, strerror(error));
    snwMessage_SetFile(message, path);
    return result;
}

static snwResult FailExists(snwMessage* message, const char* path)
{
    snwResult result = snwFail(
        message, snw_errorIo, "choose another name, or allow overwriting", "the file exists and is not overwritten");
    snwMessage_SetFile(message, path);
    return result;
}

// Nothing there, or something that may be replaced.
static snwResult CheckTarget(const char* path, bool overwrite, snwMessage* message)
{
    if (path[0] == 0)
        return snwFail(message, snw_errorArgument, "give the name of a file", "the path of an output file is empty");
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? snw_ok : snwFailSystem(message, errno, "write", path);
    if (S_ISDIR(status.st_mode))
        return snwFailSystem(message, EISDIR, "write", path);
    return overwrite ? snw_ok : FailExists(message, path);
}

static void Release(snwOutput* output)
{
    if (output->file != NULL)
        fclose(output->file);
    snwFree(output->context, output->path);
    snwFree(output->context, output->temporary);
    *output = (snwOutput){0};
}

// open() with O_EXCL rather than mkstemp: the file gets the permissions that the user's umask asks for.
static int OpenTemporary(snwOutput* output, size_t capacity)
{
    for (int attempt = 0; attempt < 100; ++attempt)
    {
        snprintf(output->temporary, capacity, "%s.%ld-%d.part", output->path, (long)getpid(), attempt);
        int file = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

snwResult snwOutput_Open(snwOutput* output, snwContext* context, const char* path, bool overwrite, snwMessage* message)
{
    *output = (snwOutput){.context = context, .overwrite = overwrite};
    snwResult result = CheckTarget(path, overwrite, message);
    if (result < 0)
        return result;
    size_t capacity = strlen(path) + 64;
    output->path = snwCopyText(context, path);
    output->temporary = snwAlloc(context, capacity);
    if (output->path == NULL || output->temporary == NULL)
    {
        Release(output);
        return snwFailMemory(message);
    }
    int file = OpenTemporary(output, capacity);
    if (file >= 0 && (output->file = fdopen(file, "wb")) != NULL)
        return snw_ok;
    int error = errno;
    if (file >= 0)
    {
        close(file);
        unlink(output->temporary);
    }
    Release(output);
    return snwFailSystem(message, error, "write", path);
}

void snwOutput_HandOver(snwOutput* output)
{
    if (output->file != NULL)
        fclose(output->file);
    output->file = NULL;
}

// Everything on the disk before the name says so: 0 or an errno.
static int Sync(snwOutput* output)
{
    int error = 0;
    if (output->file != NULL)
    {
        if (fflush(output->file) != 0 || ferror(output->file) || fsync(fileno(output->file)) != 0)
            error = errno != 0 ? errno : EIO;
        if (fclose(output->file) != 0 && error == 0)
            error = errno;
        output->file = NULL;
        return error;
    }
    int file = open(output->temporary, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fsync(file) != 0)
        error = errno;
    if (file >= 0)
        close(file);
    return error;
}

// Without overwrite a link refuses an existing target in one step, so nobody can slip in between; file systems
// without links get the check and a rename.
static int Publish(snwOutput* output)
{
    if (!output->overwrite)
    {
        if (link(output->temporary, output->path) == 0)
        {
            unlink(output->temporary);
            return 0;
        }
        struct stat status;
        if (errno == EEXIST || lstat(output->path, &status) == 0)
            return EEXIST;
    }
    return rename(output->temporary, output->path) == 0 ? 0 : errno;
}

snwResult snwOutput_Commit(snwOutput* output, snwMessage* message)
{
    errno = 0;
    int error = Sync(output);
    if (error == 0)
        error = Publish(output);
    snwResult result = snw_ok;
    if (error != 0)
    {
        result = error == EEXIST ? FailExists(message, output->path)
                                 : snwFailSystem(message, error, "write", output->path);
        unlink(output->temporary);
    }
    Release(output);
    return result;
}

void snwOutput_Discard(snwOutput* output)
{
    if (output->temporary != NULL)
        unlink(output->temporary);
    Release(output);
}

snwResult snwOutput_Check(snwContext* context, const char* path, bool overwrite, snwMessage* message)
{
    snwOutput output;
    snwResult result = snwOutput_Open(&output, context, path, overwrite, message);
    if (result >= 0)
        snwOutput_Discard(&output);
    return result;
}

snwResult snwMakeDirectory(snwContext* context, const char* path, snwMessage* message)
{
    char* part = snwCopyText(context, path);
    if (part == NULL)
        return snwFailMemory(message);
    snwResult result = snw_ok;
    for (char* end = part + 1; result >= 0 && part[0] != 0; ++end)
    {
        char kept = *end;
        if (kept != '/' && kept != 0)
            continue;
        *end = 0;
        struct stat status;
        if (mkdir(part, 0777) != 0 && (stat(part, &status) != 0 || !S_ISDIR(status.st_mode)))
            result = snwFailSystem(message, errno == EEXIST ? ENOTDIR : errno, "make the folder", part);
        *end = kept;
        if (kept == 0)
            break;
    }
    snwFree(context, part);
    return result;
}
