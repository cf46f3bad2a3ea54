// The page's files: found, read whole, and handed out by name.

#include "studio/pages.h"

#include "scene/file.h"

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
    snw_maxPages = 1000,
    snw_maxPageDepth = 6,
    snw_maxPageBytes = 64 << 20, // of all together
    snw_pagePath = 4096,
};

static const char s_noPage[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sinew</title>"
    "<body style=\"font:16px/1.5 sans-serif;max-width:40em;margin:4em auto\"><h1>The page is not built</h1>"
    "<p>The studio's server runs, but its page is missing. Build it in Sinew's source folder:</p><pre>make web</pre>"
    "<p>then start <code>sinew studio</code> again. A page in another folder is named by the variable "
    "<code>SINEW_WEB</code>.</p></html>\n";

static bool HasIndex(const char* folder)
{
    char path[snw_pagePath];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/index.html", folder);
    return length > 0 && (size_t)length < sizeof path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char* snwPages_Folder(char* buffer, size_t capacity)
{
    const char* said = getenv("SINEW_WEB");
    const char* beside = snwPathBesideProgram("../share/sinew/web", buffer, capacity) ? buffer : "";
    const char* folders[] = {said != NULL ? said : "", beside, SNW_SOURCE_DIR "/build/web", SNW_SHARE_DIR "/web"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
        if (folders[i][0] != 0 && HasIndex(folders[i]))
            return folders[i];
    return NULL;
}

const char* snwMimeType(const char* name)
{
    static const char* const types[][2] = {{".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"}, {".css", "text/css; charset=utf-8"},
        {".json", "application/json; charset=utf-8"}, {".map", "application/json; charset=utf-8"},
        {".svg", "image/svg+xml"}, {".png", "image/png"}, {".jpg", "image/jpeg"}, {".webp", "image/webp"},
        {".ico", "image/x-icon"}, {".woff2", "font/woff2"}, {".wasm", "application/wasm"}, {".txt", "text/plain"},
        {".glb", "model/gltf-binary"}, {".gltf", "model/gltf+json"}, {".mp4", "video/mp4"}};
    const char* ending = strrchr(name, '.');
    for (size_t i = 0; ending != NULL && i < sizeof types / sizeof *types; ++i)
        if (strcasecmp(ending, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

static snwResult AddPage(snwPages* pages, const char* path, const void* data, size_t size, snwMessage* message)
{
    snwContext* context = pages->context;
    snwPage page = {.path = snwCopyText(context, path), .type = snwMimeType(path), .size = size};
    page.data = snwCopyArray(context, data, size + (size == 0), 1);
    if (page.path != NULL && page.data != NULL && snwArray_Push(context, &pages->list, page))
        return snw_ok;
    snwFree(context, page.path);
    snwFree(context, page.data);
    return snwFailMemory(message);
}

static snwResult FailReadPage(snwMessage* message, const char* path, const char* why)
{
    snwFail(message, snw_errorIo, "build the page again with make web", "cannot read the studio's page: %s", why);
    snwMessage_SetFile(message, path);
    return snw_errorIo;
}

static snwResult ReadFile(snwPages* pages, const char* path, const char* name, size_t size, snwMessage* message)
{
    if (pages->list.count == snw_maxPages || size > snw_maxPageBytes - pages->bytes)
        return FailReadPage(message, path, "too many files, or too large");
    FILE* file = fopen(path, "rb");
    if (file == NULL)
        return FailReadPage(message, path, strerror(errno));
    unsigned char* data = snwAllocRaw(pages->context, size + 1);
    size_t got = data != NULL ? fread(data, 1, size, file) : 0;
    fclose(file);
    snwResult result = data == NULL  ? snwFailMemory(message)
                       : got != size ? FailReadPage(message, path, "it is shorter than it was")
                                     : AddPage(pages, name, data, size, message);
    snwFree(pages->context, data);
    pages->bytes += size;
    return result;
}

typedef struct Folder
{
    const char* path; // on the disk
    const char* name; // in addresses: "" or "/assets"
    int depth;
} Folder;

static snwResult ReadFolder(snwPages* pages, const Folder* folder, snwMessage* message);

static snwResult ReadEntry(snwPages* pages, const Folder* folder, const char* entry, snwMessage* message)
{
    char path[snw_pagePath], name[snw_pagePath];
    struct stat info;
    int pathLength = snprintf(path, sizeof path, "%s/%s", folder->path, entry);
    int nameLength = snprintf(name, sizeof name, "%s/%s", folder->name, entry);
    if (pathLength >= snw_pagePath || nameLength >= snw_pagePath || stat(path, &info) != 0)
        return FailReadPage(message, folder->path, "a path is too long, or a file is gone");
    if (S_ISDIR(info.st_mode))
        return ReadFolder(pages, &(Folder){path, name, folder->depth + 1}, message);
    return S_ISREG(info.st_mode) ? ReadFile(pages, path, name, (size_t)info.st_size, message) : snw_ok;
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is bounded
static snwResult ReadFolder(snwPages* pages, const Folder* folder, snwMessage* message)
{
    DIR* stream = folder->depth < snw_maxPageDepth ? opendir(folder->path) : NULL;
    if (stream == NULL)
        return FailReadPage(message, folder->path, "no folder that can be read");
    snwResult result = snw_ok;
    const struct dirent* entry;
    while (result == snw_ok && (entry = readdir(stream)) != NULL)
        if (entry->d_name[0] != '.')
            result = ReadEntry(pages, folder, entry->d_name, message);
    closedir(stream);
    return result;
}

snwResult snwPages_Load(snwContext* context, const char* folder, snwPages* pages, snwMessage* message)
{
    *pages = (snwPages){.context = context};
    snwResult result = folder == NULL ? AddPage(pages, "/index.html", s_noPage, sizeof s_noPage - 1, message)
                                      : ReadFolder(pages, &(Folder){folder, "", 0}, message);
    if (result != snw_ok)
        snwPages_Free(pages);
    return result;
}

void snwPages_Free(snwPages* pages)
{
    for (int i = 0; i < pages->list.count; ++i)
    {
        snwFree(pages->context, pages->list.data[i].path);
        snwFree(pages->context, pages->list.data[i].data);
    }
    if (pages->context != NULL)
        snwArray_Free(pages->context, &pages->list);
}

const snwPage* snwPages_Find(const snwPages* pages, const char* path)
{
    const char* wanted = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (int i = 0; i < pages->list.count; ++i)
        if (strcmp(pages->list.data[i].path, wanted) == 0)
            return &pages->list.data[i];
    return NULL;
}
