// What a file of a mesh, a rig or a cache holds, in one line.

#include "app/check_asset.h"

#include "asset/asset.h"
#include "asset/rig_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool EndsWith(const char* text, const char* end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

bool snwIsAsset(snwContext* context, const char* path)
{
    const snwAssetReader* reader = snwAssetReader_Find(path);
    if (reader == NULL)
        return false;
    return !EndsWith(path, ".json") || snwBundle_IsOneAt(context, path);
}

// ---------------------------------------------------------------------------------------------------------------------
// One line

typedef struct Line
{
    char* text;
    size_t capacity, size;
} Line;

static void Put(Line* line, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void Put(Line* line, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(line->text + line->size, line->capacity - line->size, format, args);
    va_end(args);
    line->size += size > 0 ? (size_t)size : 0;
    if (line->size >= line->capacity)
        line->size = line->capacity - 1;
}

static void PutCount(Line* line, int64_t count, const char* one, const char* many)
{
    if (count > 0)
        Put(line, ", %lld %s", (long long)count, count == 1 ? one : many);
}

static void PutMeshes(Line* line, const snwAsset* asset)
{
    int64_t vertices = 0, triangles = 0, tets = 0, hexes = 0;
    for (int i = 0; i < asset->meshCount; ++i)
    {
        vertices += asset->meshes[i].vertexCount;
        triangles += asset->meshes[i].triangleCount;
        tets += asset->meshes[i].tetCount;
        hexes += asset->meshes[i].hexCount;
    }
    PutCount(line, vertices, "vertex", "vertices");
    PutCount(line, triangles, "triangle", "triangles");
    PutCount(line, tets, "tet", "tets");
    PutCount(line, hexes, "hex", "hexes");
}

static void PutRig(Line* line, const snwAsset* asset)
{
    PutCount(line, asset->nodeCount, "node", "nodes");
    PutCount(line, asset->skinCount, "skin", "skins");
    PutCount(line, asset->animationCount, "animation", "animations");
    PutCount(line, asset->movedHandleCount, "handle", "handles");
    PutCount(line, asset->boneCount, "bone", "bones");
    PutCount(line, asset->jointCount, "joint", "joints");
    if (asset->matrix.values != NULL)
        Put(line, ", %d rows of %d", asset->matrix.rows, asset->matrix.columns);
    PutCount(line, asset->handleMotion.frameCount, "frame", "frames");
    PutCount(line, asset->cache.frameCount, "frame", "frames");
    PutCount(line, asset->cache.pointCount, "point", "points");
}

// The first thing that was not as it should be is a warning; how many there are stands in the line.
static snwResult WarnOfNote(const snwAsset* asset, snwMessage* message)
{
    for (int i = 0; i < asset->noteCount; ++i)
    {
        const snwAssetNote* note = &asset->notes[i];
        if (note->kind == snw_noteLeftOut)
            continue;
        snwResult result = snwFail(message, snw_warning, NULL, "%s (%lld)", note->text, (long long)note->count);
        if (note->place[0] != 0)
            snwMessage_AddPlace(message, "%s", note->place);
        return result;
    }
    return snw_ok;
}

static void PutNotes(Line* line, const snwAsset* asset)
{
    int64_t repaired = 0, others = asset->notesLost;
    for (int i = 0; i < asset->noteCount; ++i)
        *(asset->notes[i].kind == snw_noteRepaired ? &repaired : &others) += 1;
    PutCount(line, repaired, "repair", "repairs");
    PutCount(line, others, "note", "notes");
}

snwResult snwCheckAsset(snwContext* context, const char* path, char* what, size_t capacity, snwMessage* message)
{
    snwAsset* asset = NULL;
    snwResult result = snwAsset_Open(context, path, &asset, message);
    if (result < 0)
        return result;
    Line line = {what, capacity, 0};
    Put(&line, "%s", snwAssetReader_Find(path)->title);
    PutMeshes(&line, asset);
    PutRig(&line, asset);
    PutNotes(&line, asset);
    result = WarnOfNote(asset, message);
    if (result != snw_ok)
        snwMessage_SetFile(message, path);
    snwAsset_Close(asset);
    return result;
}
