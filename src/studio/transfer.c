// Files in and out of the studio's folder: names that are safe everywhere, uploads under a name of their own until
// they are whole, downloads of plain files only.

#include "studio/transfer.h"
#include "base/result.h"
#include "scene/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------------------------------
// Names

// C0, DEL and, in two bytes, C1.
static bool IsControl(const char* text)
{
    unsigned char first = (unsigned char)text[0];
    return first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)text[1] < 0xA0);
}

static bool IsPlain(const char* name)
{
    size_t left = strlen(name);
    for (const char* at = name; left > 0;)
    {
        int bytes = snwUtf8Size(at, left);
        if (bytes == 0 || IsControl(at) || *at == '/' || *at == '\\')
            return false;
        at += bytes;
        left -= (size_t)bytes;
    }
    return name[0] != 0 && name[0] != '.';
}

static bool HasKnownEnding(const char* name)
{
    static const char* const endings[] = {".json", ".jsonl", ".glb", ".gltf", ".vrm", ".bin", ".obj", ".mtl", ".ply",
        ".dmat", ".tgf", ".joint", ".mesh", ".node", ".ele", ".face", ".smesh", ".poly", ".fbx", ".dae", ".bvh", ".png",
        ".jpg", ".jpeg", ".pc2", ".mdd", ".mp4", ".csv", ".snw", ".snwf"};
    const char* ending = strrchr(name, '.');
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof *endings; ++i)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

snwResult snwFileName_Check(const char* name, snwMessage* message)
{
    if (strlen(name) >= snw_maxTransferName - 8) // room for a number
        return snwFail(message, snw_errorArgument, "a shorter name", "the file's name is too long");
    if (!IsPlain(name))
        return snwFail(message, snw_errorArgument, "a plain name without folders and control characters",
            "this cannot be the name of a file here");
    if (!HasKnownEnding(name))
        return snwFail(message, snw_errorUnsupported, "glTF, GLB, OBJ, PLY, TetGen, Medit, TGF and JSON are read",
            "files of this kind are not known");
    return snw_ok;
}

// cow.glb, cow-2.glb, cow-3.glb ...
static void WriteNumbered(char* buffer, size_t capacity, const char* name, int number)
{
    const char* ending = strrchr(name, '.');
    int stem = (int)(ending - name);
    if (number == 1)
        snprintf(buffer, capacity, "%s", name);
    else
        snprintf(buffer, capacity, "%.*s-%d%s", stem, name, number, ending);
}

// ---------------------------------------------------------------------------------------------------------------------
// In

enum
{
    snw_maxNumber = 999,
};

static snwResult FailFile(snwMessage* message, const char* name, const char* what)
{
    snwFail(message, snw_errorIo, "is there room on the disk, and may the folder be written to?", "%s: %s", what,
        strerror(errno));
    snwMessage_SetFile(message, name);
    return snw_errorIo;
}

static bool IsFileThere(int folder, const char* name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

snwResult snwUpload_Begin(snwUpload* upload, int folder, const char* name, uint64_t size, snwMessage* message)
{
    *upload = (snwUpload){.folder = folder, .file = -1, .expected = size};

    // A sound name, and a size within bounds.
    if (snwFileName_Check(name, message) < 0)
        return message != NULL ? message->result : snw_errorArgument;
    if (size == 0 || size > SNW_MAX_UPLOAD_BYTES)
        return snwFail(message, snw_errorArgument, size == 0 ? NULL : "copy it into the studio's folder yourself",
            size == 0 ? "the file is empty" : "the file is larger than 512 MB");
    errno = EEXIST;

    // The first name that is free, numbered from 2 on; O_EXCL decides between two who want it.
    for (int number = 1; number <= snw_maxNumber && upload->file < 0 && errno == EEXIST; ++number)
    {
        WriteNumbered(upload->name, sizeof upload->name, name, number);
        snprintf(upload->part, sizeof upload->part, "%s.part", upload->name);
        if (!IsFileThere(folder, upload->name))
            upload->file = openat(folder, upload->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        else
            errno = EEXIST;
    }

    return upload->file < 0 ? FailFile(message, name, "cannot write the file") : snw_ok;
}

snwResult snwUpload_Write(snwUpload* upload, const void* data, size_t size, snwMessage* message)
{
    const unsigned char* at = data;
    if (size > upload->expected - upload->received)
        return snwFail(message, snw_errorInput, NULL, "more bytes came than were announced");
    while (size > 0)
    {
        ssize_t written = write(upload->file, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return FailFile(message, upload->name, "cannot write the file");
        at += written;
        size -= (size_t)written;
        upload->received += (uint64_t)written;
    }
    return snw_ok;
}

// Someone else may have taken the name while the bytes came: the next free one is taken, by an empty file that only we
// can have made, and the whole one then replaces it at once.
static bool TakeFreeName(snwUpload* upload)
{
    char first[snw_maxTransferName];
    snprintf(first, sizeof first, "%s", upload->name);
    for (int number = 1; number <= snw_maxNumber; ++number)
    {
        WriteNumbered(upload->name, sizeof upload->name, first, number);
        int file = openat(upload->folder, upload->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file >= 0)
            return close(file) == 0;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

snwResult snwUpload_Finish(snwUpload* upload, snwMessage* message)
{
    if (upload->received != upload->expected)
    {
        snwUpload_Drop(upload);
        return snwFail(message, snw_errorInput, "send it again", "the file did not arrive whole");
    }
    bool sound = close(upload->file) == 0;
    upload->file = -1;
    bool named = sound && TakeFreeName(upload);
    if (named && renameat(upload->folder, upload->part, upload->folder, upload->name) == 0)
        return snw_ok;
    FailFile(message, upload->name, "cannot keep the file");
    if (named)
        unlinkat(upload->folder, upload->name, 0);
    unlinkat(upload->folder, upload->part, 0);
    return snw_errorIo;
}

void snwUpload_Drop(snwUpload* upload)
{
    if (upload->file < 0)
        return;
    close(upload->file);
    unlinkat(upload->folder, upload->part, 0);
    upload->file = -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Out

int snwDownload_Open(int folder, const char* name, uint64_t* size, snwMessage* message)
{
    if (snwFileName_Check(name, message) < 0)
        return -1;
    struct stat info;
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); // a pipe must not stop us
    if (file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode))
    {
        *size = (uint64_t)info.st_size;
        return file;
    }
    if (file >= 0)
        close(file);
    snwFail(message, snw_errorInput, NULL, "there is no such file");
    return -1;
}
