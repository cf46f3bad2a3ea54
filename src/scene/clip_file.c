// Clips in files of their own: each file is opened once where a scene's list names it, and its clips take that place
// in the list, with their own file for messages.

#include "scene/clip_file.h"

#include "scene/file.h"
#include "scene/tables.h"

#include <limits.h>
#include <string.h>

static const char* FileOf(const json_t* clip)
{
    return json_string_value(json_object_get(clip, "file"));
}

static snwResult FindList(snwJson* json, const json_t* root, const json_t** list)
{
    *list = json_object_get(root, "clips");
    if (json_object_size(root) == 1 && json_is_array(*list))
        return snw_ok;
    return snwJson_Fail(
        json, "{\"clips\": [...]}, as --export clips writes it", "a file of clips holds a list of them only");
}

// Reads one file; json is at the clip that names it. *document stays NULL if there is none to release.
static snwResult OpenClipFile(snwJson* json, const json_t* clip, char* path, json_t** document, const json_t** list)
{
    char* text = NULL;
    size_t size = 0;
    if (json_object_size(clip) != 1)
        return snwJson_Fail(json, "the file alone", "a clip from a file has no other keys");
    snwResult result = snwJson_FindFile(json, FileOf(clip), path);
    if (result >= 0)
        result = snwFile_Read(json->context, path, snw_maxSceneBytes, &text, &size, json->message);
    if (result < 0)
        return result;
    snwJson inner = {.context = json->context, .message = json->message, .file = path};
    *document = snwJson_Parse(&inner, text, size, &result);
    snwFree(json->context, text);
    return *document != NULL ? FindList(&inner, *document, list) : result;
}

static snwResult AddClipFile(snwJson* json, snwArena* arena, const json_t* clip, snwClipSources* sources)
{
    char path[PATH_MAX];
    const json_t* list = NULL;
    json_t** document = &sources->documents[sources->documentCount];
    snwResult result = OpenClipFile(json, clip, path, document, &list);
    sources->documentCount += *document != NULL;
    if (result < 0)
        return result;
    int more = (int)json_array_size(list);
    if (more > snw_maxClips - sources->count)
        return snwJson_Fail(json, NULL, "more than %d clips", (int)snw_maxClips);
    const char* file = snwArena_Text(arena, path);
    for (int i = 0; i < more && !arena->failed; ++i)
        sources->items[sources->count++] = (snwClipSource){json_array_get(list, (size_t)i), file, i};
    return snw_ok;
}

snwResult snwClipSources_Open(snwJson* json, snwArena* arena, const json_t* list, snwClipSources* sources)
{
    *sources = (snwClipSources){0};
    snwResult result = snw_ok;
    sources->items = snwJson_NewList(json, arena, "clips", list, snw_maxClips, sizeof *sources->items, &result);
    if (result < 0)
        return result;

    // Files may hold as many clips as a scene may have; without files the list is long enough.
    int own = (int)json_array_size(list), files = 0;
    for (int i = 0; i < own; ++i)
        files += FileOf(json_array_get(list, (size_t)i)) != NULL;
    if (files > 0)
        sources->items = snwArena_Alloc(arena, snw_maxClips, sizeof *sources->items);
    sources->documents = snwArena_Alloc(arena, (size_t)files + 1, sizeof(json_t*));
    if (arena->failed)
        return snwJson_Locate(json, snwFailMemory(json->message));
    size_t outer = snwJson_Enter(json, "clips");

    // In the list's order; documents stay open, since the items point into them.
    for (int i = 0; i < own && result == snw_ok; ++i)
    {
        const json_t* clip = json_array_get(list, (size_t)i);
        size_t mark = snwJson_EnterIndex(json, (size_t)i);
        if (FileOf(clip) != NULL)
            result = AddClipFile(json, arena, clip, sources);
        else if (sources->count == snw_maxClips)
            result = snwJson_Fail(json, NULL, "more than %d clips", (int)snw_maxClips);
        else
            sources->items[sources->count++] = (snwClipSource){clip, NULL, i};

        snwJson_Leave(json, mark);
    }

    snwJson_Leave(json, outer);
    if (result == snw_ok && arena->failed)
        return snwJson_Locate(json, snwFailMemory(json->message));
    return result;
}

void snwClipSources_Release(snwClipSources* sources)
{
    for (int i = 0; i < sources->documentCount; ++i)
        json_decref(sources->documents[i]);
    *sources = (snwClipSources){0};
}
