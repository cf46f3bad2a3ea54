// The studio's folder: which names are allowed, what kind a file is, lists for the page, and new paths that replace
// nothing that is there.

#include "studio/folder.h"

#include "scene/file.h"
#include "base/ending.h"
#include "scene/builtin.h"
#include "scene/file.h"
#include "scene/words.h"
#include "studio/autosave.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
    snw_maxTries = 10000,
};

// ---------------------------------------------------------------------------------------------------------------------
// Files of the folder

bool snwFolder_IsName(const char* name)
{
    size_t length = strlen(name);
    if (length == 0 || length > snw_maxName || name[0] == '.')
        return false;
    for (size_t i = 0; i < length; ++i)
        if (name[i] == '/' || name[i] == '\\' || (unsigned char)name[i] < 32 || name[i] == 127)
            return false;
    return true;
}

static bool IsPlainFile(const char* path, double* size)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *size = (double)info.st_size;
    return true;
}

bool snwFolder_Find(const snwSession* session, const char* name, char* path)
{
    double size;
    if (strcmp(name, ".autosave") == 0)
        name = SNW_AUTOSAVE_BEFORE;
    else if (!snwFolder_IsName(name))
        return false;
    return snwJoinPath(path, snw_stagePath, session->folder, name) && IsPlainFile(path, &size);
}

static const char* KindOfFile(const char* name)
{
    static const char* const kinds[][2] = {{".jsonl", "log"}, {".sinew.json", "sidecar"}, {".json", "scene"},
        {".snw", "character"}, {".mp4", "film"}, {".pc2", "cache"}, {".mdd", "cache"}, {".glb", "asset"},
        {".gltf", "asset"}, {".vrm", "asset"}, {".obj", "asset"}, {".ply", "asset"}, {".mesh", "asset"},
        {".png", "picture"}, {".fbx", "asset"}, {".dae", "asset"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
        if (snwHasEnding(name, kinds[i][0]))
            return kinds[i][1];
    return "other";
}

void snwFolder_List(const snwSession* session, snwNames* names)
{
    char path[snw_stagePath];
    double size;
    if (!snwNames_Start(session->context, names))
        return;
    DIR* list = opendir(session->folder);
    for (struct dirent* entry; list != NULL && (entry = readdir(list)) != NULL;)
        if (snwFolder_IsName(entry->d_name) && !snwHasEnding(entry->d_name, ".part") &&
            snwJoinPath(path, sizeof path, session->folder, entry->d_name) && IsPlainFile(path, &size))
            snwNames_Add(session->context, names, entry->d_name, KindOfFile(entry->d_name), size);
    if (list != NULL)
        closedir(list);
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static snwResult Candidate(
    const snwSession* session, const char* stem, const char* ending, int number, char* path, snwMessage* message)
{
    char name[snw_maxName + 64];
    if (number < 2)
        snprintf(name, sizeof name, "%.180s%s", stem, ending);
    else
        snprintf(name, sizeof name, "%.180s-%d%s", stem, number, ending);
    if (!snwFolder_IsName(name) || !snwJoinPath(path, snw_stagePath, session->folder, name))
        return snwFail(message, snw_errorArgument, "letters, digits and dashes", "'%.60s' is no name for a file", stem);
    return snw_ok;
}

// Does a file begin as one of this name would, or those that are written beside it?
static bool HasKin(const snwSession* session, const char* path, const char* ending)
{
    const char* name = strrchr(path, '/') + 1;
    size_t length = strlen(name) - strlen(ending);
    bool found = false;
    DIR* list = opendir(session->folder);
    for (struct dirent* entry; list != NULL && !found && (entry = readdir(list)) != NULL;)
        found = strncmp(entry->d_name, name, length) == 0 &&
                (entry->d_name[length] == '.' || entry->d_name[length] == '-');
    if (list != NULL)
        closedir(list);
    return found;
}

snwResult snwFolder_NewPath(
    const snwSession* session, const char* stem, const char* ending, bool alone, char* path, snwMessage* message)
{
    struct stat info;
    for (int i = 1; i < snw_maxTries; ++i)
    {
        snwResult result = Candidate(session, stem, ending, i, path, message);
        bool taken = result >= 0 &&
                     (alone ? HasKin(session, path, ending) : lstat(path, &info) == 0 || errno != ENOENT);
        if (!taken)
            return result;
    }
    return snwFail(message, snw_errorIo, "clear the folder", "too many files of that name");
}

static bool HasBytes(snwContext* context, const char* path, const void* data, size_t size)
{
    char* there = NULL;
    size_t length = 0;
    double bytes;
    bool same = IsPlainFile(path, &bytes) && (size_t)bytes == size &&
                snwFile_Read(context, path, size + 1, &there, &length, NULL) >= 0 && length == size &&
                memcmp(there, data, size) == 0;
    snwFree(context, there);
    return same;
}

snwResult snwFolder_Store(const snwSession* session, const char* stem, const char* ending, const void* data,
    size_t size, char* path, snwMessage* message)
{
    for (int i = 1; i < snw_maxTries; ++i)
    {
        snwResult result = Candidate(session, stem, ending, i, path, message);
        if (result < 0 || HasBytes(session->context, path, data, size))
            return result;
        if (access(path, F_OK) != 0)
            return snwFile_Write(session->context, path, data, size, false, message);
    }
    return snwFail(message, snw_errorIo, "clear the folder", "too many files of that name");
}
