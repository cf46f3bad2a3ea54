// A prepared character is checked, since it may come from a file that anybody wrote, and copied; from then on it is
// only read.

#include "sim/prepared.h"

#include "sim/character.h"
#include "sim/limits.h"
#include "sim/vertex_track.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Is it sound?

static snwResult CheckFloats(const float* values, size_t count, const char* what, snwMessage* message)
{
    for (size_t i = 0; i < count; ++i)
        if (!(fabsf(values[i]) <= (float)SNW_MAX_POSITION))
            return snwFail(message, snw_errorArgument, NULL, "%s has a number that is not finite or too large", what);
    return snw_ok;
}

static snwResult CheckIndices(const int* values, size_t count, int limit, const char* what, snwMessage* message)
{
    for (size_t i = 0; i < count; ++i)
        if (values[i] < 0 || values[i] >= limit)
            return snwFail(message, snw_errorArgument, NULL, "%s names %d of %d", what, values[i], limit);
    return snw_ok;
}

static snwResult CheckParts(const snwSurfaceInfo* surface, int textureCount, snwMessage* message)
{
    for (int i = 0; i < surface->partCount; ++i)
    {
        const snwSurfacePart* part = &surface->parts[i];
        bool range = part->firstTriangle >= 0 && part->triangleCount >= 0 &&
                     part->firstTriangle <= surface->triangleCount - part->triangleCount;
        if (!range || part->texture < -1 || part->texture >= textureCount)
            return snwFail(message, snw_errorArgument, NULL, "parts[%d] is out of range", i);
        if (CheckFloats(part->color, 3, "color", message) < 0)
            return snw_errorArgument;
    }
    return snw_ok;
}

static snwResult CheckArrays(const snwSurfaceInfo* surface, snwMessage* message)
{
    size_t count = (size_t)surface->vertexCount;
    snwResult result = CheckFloats((const float*)surface->positions, 3 * count, "positions", message);
    if (result >= 0)
        result = CheckFloats((const float*)surface->normals, 3 * count, "normals", message);
    if (result >= 0 && surface->texcoords != NULL)
        result = CheckFloats((const float*)surface->texcoords, 2 * count, "texcoords", message);
    if (result >= 0 && surface->colors != NULL)
        result = CheckFloats((const float*)surface->colors, 3 * count, "colors", message);
    if (result >= 0)
        result = CheckIndices((const int*)surface->triangles, 3 * (size_t)surface->triangleCount, surface->vertexCount,
            "triangles", message);
    for (int i = 0; i < 12 && result >= 0; ++i)
        if (!isfinite(surface->place[i]))
            result = snwFail(message, snw_errorArgument, NULL, "place is not finite");
    return result;
}

static snwResult CheckPreparedSurface(const snwPreparedDef* def, int index, snwMessage* message)
{
    const snwSurfaceInfo* surface = &def->surfaces[index];
    const snwCharacterDef* body = snwCharacter_GetDef(def->character);
    if (surface->kind < snw_surfaceSoft || surface->kind > snw_surfaceRigid || surface->bone < -1 ||
        surface->bone >= body->boneCount || surface->vertexCount < 0 || surface->triangleCount < 0)
        return snwFail(message, snw_errorArgument, NULL, "a number is out of range");
    snwResult result = CheckArrays(surface, message);
    if (result >= 0)
        result = CheckParts(surface, def->textureCount, message);
    for (int i = 0; i < body->motionCount && result >= 0 && surface->tracks != NULL; ++i)
        result = snwVertexTrack_Check(
            &body->motions[i], &surface->tracks[i], surface->vertexCount, SNW_MAX_POSITION, message);

    // A vertex rides on a point of the embedding, or on an anchor, whose number is turned over.
    for (int i = 0; i < surface->vertexCount && result >= 0; ++i)
    {
        int point = def->points[index][i];
        if (point < -def->anchorCount || point >= def->embedding->pointCount)
            result = snwFail(message, snw_errorArgument, NULL, "points[%d] is %d", i, point);
    }

    return result;
}

// Everything that Evaluate follows without looking.
static snwResult CheckEmbedding(const snwEmbedding* embedding, int bodyCount, snwMessage* message)
{
    size_t points = (size_t)embedding->pointCount;

    // What every embedding has.
    snwResult result = CheckIndices(
        (const int*)embedding->corners, 4 * points, embedding->vertexCount, "corners", message);
    if (result >= 0)
        result = CheckFloats((const float*)embedding->weights, 4 * points, "weights", message);
    if (result >= 0 && embedding->arms != NULL)
        result = CheckFloats((const float*)embedding->arms, 12 * points, "arms", message);
    if (result >= 0)
        result = CheckIndices(embedding->vertices, (size_t)embedding->vertexCount, bodyCount, "vertices", message);

    // With arms, also the rows that gradients around each vertex are found by.
    if (result < 0 || embedding->arms == NULL)
        return result;
    for (int i = 0; i < embedding->vertexCount; ++i)
        if (embedding->starts[i] < 0 || embedding->starts[i + 1] < embedding->starts[i])
            return snwFail(message, snw_errorArgument, NULL, "starts do not rise");
    size_t entries = (size_t)embedding->starts[embedding->vertexCount];
    if (embedding->starts[0] != 0)
        return snwFail(message, snw_errorArgument, NULL, "starts do not begin at 0");

    result = CheckIndices(embedding->neighbours, entries, bodyCount, "neighbours", message);

    for (size_t i = 0; i < 3 * entries && result >= 0; ++i)
        if (!isfinite(((const float*)embedding->gradients)[i]))
            result = snwFail(message, snw_errorArgument, NULL, "gradients are not finite");

    return result;
}

static snwResult CheckPreparedDef(const snwPreparedDef* def, snwMessage* message)
{
    const snwCharacterDef* body = snwCharacter_GetDef(def->character);

    if (def->surfaceCount < 0 || def->surfaceCount > snw_maxSurfaces || def->textureCount < 0 ||
        def->textureCount > snw_maxTextures || !(def->info.scale > 0.0 && isfinite(def->info.scale)) ||
        !isfinite(def->info.embeddingError))
        return snwFail(message, snw_errorArgument, NULL, "a number of the prepared character is out of range");

    for (int i = 0; i < def->textureCount; ++i)
        if (def->textures[i].width < 1 || def->textures[i].width > SNW_MAX_TEXTURE || def->textures[i].height < 1 ||
            def->textures[i].height > SNW_MAX_TEXTURE)
            return snwFail(message, snw_errorArgument, "scale it down", "textures[%d] is %d x %d pixels", i,
                def->textures[i].width, def->textures[i].height);

    snwResult result = CheckEmbedding(def->embedding, body->vertexCount, message);
    if (result < 0)
        snwMessage_AddPlace(message, "embedding");

    // Rigid surfaces follow a bone, or the vertices that their anchor names.
    for (int i = 0; i < def->anchorCount && result >= 0; ++i)
        if (def->anchors[i].bone < -1 || def->anchors[i].bone >= body->boneCount)
            result = snwFail(message, snw_errorArgument, NULL, "anchors[%d] has no such bone", i);
    for (int i = 0; def->info.clips != NULL && i < body->motionCount && result >= 0; ++i)
        if (def->info.clips[i] < -1)
            result = snwFail(message, snw_errorArgument, NULL, "clips[%d] is %d", i, def->info.clips[i]);
    for (int i = 0; i < def->anchorCount && result >= 0; ++i)
        result = def->anchors[i].count > 0 ? CheckIndices(def->anchors[i].vertices, (size_t)def->anchors[i].count,
                                                 body->vertexCount, "anchor", message)
                                           : snwFail(message, snw_errorArgument, NULL, "anchors[%d] is empty", i);

    for (int i = 0; i < def->surfaceCount && result >= 0; ++i)
    {
        result = CheckPreparedSurface(def, i, message);
        if (result < 0)
            snwMessage_AddPlace(message, "surfaces[%d]", i);
    }

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies

static const void* CopyOptional(snwArena* arena, const void* data, size_t count, size_t size)
{
    return data != NULL ? snwArena_Copy(arena, data, count, size) : NULL;
}

static void CopySurface(snwArena* arena, snwSurfaceInfo* surface, int motionCount)
{
    size_t count = (size_t)surface->vertexCount;

    surface->name = snwArena_Text(arena, surface->name);
    surface->positions = snwArena_Copy(arena, surface->positions, count, sizeof *surface->positions);
    surface->normals = snwArena_Copy(arena, surface->normals, count, sizeof *surface->normals);
    surface->texcoords = CopyOptional(arena, surface->texcoords, count, sizeof *surface->texcoords);
    surface->colors = CopyOptional(arena, surface->colors, count, sizeof *surface->colors);
    surface->triangles = snwArena_Copy(
        arena, surface->triangles, (size_t)surface->triangleCount, sizeof *surface->triangles);

    // Names of materials are the file's own.
    snwSurfacePart* parts = snwArena_Copy(arena, surface->parts, (size_t)surface->partCount, sizeof *parts);
    for (int i = 0; i < surface->partCount && parts != NULL; ++i)
        parts[i].material = snwArena_Text(arena, parts[i].material);
    surface->parts = parts;

    // What each motion does to the vertices beyond moving their bones.
    if (surface->tracks == NULL)
        return;
    snwVertexTrackDef* tracks = snwArena_Alloc(arena, (size_t)motionCount, sizeof *tracks);
    for (int i = 0; i < motionCount && tracks != NULL; ++i)
        tracks[i] = snwVertexTrack_Copy(arena, &surface->tracks[i], surface->vertexCount);
    surface->tracks = tracks;
}

static void CopyEmbedding(snwArena* arena, const snwEmbedding* from, snwEmbedding* to)
{
    size_t points = (size_t)from->pointCount, vertices = (size_t)from->vertexCount;
    *to = *from;
    to->corners = snwArena_Copy(arena, from->corners, points, sizeof *from->corners);
    to->weights = snwArena_Copy(arena, from->weights, points, sizeof *from->weights);
    to->vertices = snwArena_Copy(arena, from->vertices, vertices, sizeof *from->vertices);
    if (from->arms == NULL)
        return;
    size_t entries = (size_t)from->starts[vertices];
    to->arms = snwArena_Copy(arena, from->arms, points, sizeof *from->arms);
    to->starts = snwArena_Copy(arena, from->starts, vertices + 1, sizeof *from->starts);
    to->neighbours = snwArena_Copy(arena, from->neighbours, entries, sizeof *from->neighbours);
    to->gradients = snwArena_Copy(arena, from->gradients, entries, sizeof *from->gradients);
}

static void CopyPreparedLists(snwPrepared* prepared, const snwPreparedDef* def)
{
    snwArena* arena = &prepared->arena;
    size_t count = (size_t)def->surfaceCount;

    prepared->surfaces = snwArena_Copy(arena, def->surfaces, count, sizeof *def->surfaces);
    prepared->anchors = snwArena_Copy(arena, def->anchors, (size_t)def->anchorCount, sizeof *def->anchors);
    prepared->anchorCount = def->anchorCount;
    prepared->points = snwArena_Alloc(arena, count, sizeof *prepared->points);
    prepared->textures = snwArena_Copy(arena, def->textures, (size_t)def->textureCount, sizeof *def->textures);

    // Deep copies of what these lists point to.
    for (int i = 0; i < def->surfaceCount && !arena->failed; ++i)
    {
        CopySurface(arena, &prepared->surfaces[i], snwCharacter_GetDef(def->character)->motionCount);
        prepared->points[i] = snwArena_Copy(arena, def->points[i], (size_t)def->surfaces[i].vertexCount, sizeof(int));
    }

    for (int i = 0; i < def->anchorCount && !arena->failed; ++i)
        prepared->anchors[i].vertices = snwArena_Copy(
            arena, def->anchors[i].vertices, (size_t)def->anchors[i].count, sizeof(int));
    for (int i = 0; i < def->textureCount && !arena->failed; ++i)
        prepared->textures[i].pixels = snwArena_Copy(arena, prepared->textures[i].pixels,
            (size_t)prepared->textures[i].width * (size_t)prepared->textures[i].height, 4);
    CopyEmbedding(arena, def->embedding, &prepared->embedding);
}

snwResult snwCreatePrepared(snwContext* context, const snwPreparedDef* def, snwPrepared** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckPreparedDef(def, message);
    if (result < 0)
        return result;
    snwPrepared* prepared = snwAlloc(context, sizeof *prepared);
    if (prepared == NULL)
        return snwFailMemory(message);

    prepared->context = context;
    prepared->arena.context = context;

    prepared->references = 1;
    prepared->character = def->character;
    snwCharacter_Retain(prepared->character);

    CopyPreparedLists(prepared, def);

    // The caller's numbers and texts, with counts of our own.
    prepared->info = def->info;
    prepared->info.surfaceCount = def->surfaceCount;
    prepared->info.textureCount = def->textureCount;
    prepared->info.source = snwArena_Text(&prepared->arena, def->info.source);
    prepared->info.settings = snwArena_Text(&prepared->arena, def->info.settings);

    // Nodes and clips of the file, for exporters that write into it.
    prepared->info.boneNodes = snwArena_Copy(
        &prepared->arena, def->info.boneNodes, (size_t)snwCharacter_GetInfo(def->character).boneCount, sizeof(int));
    if (def->info.clips != NULL)
        prepared->info.clips = snwArena_Copy(
            &prepared->arena, def->info.clips, (size_t)snwCharacter_GetInfo(def->character).motionCount, sizeof(int));

    if (prepared->arena.failed)
    {
        snwPrepared_Release(prepared);
        return snwFailMemory(message);
    }

    *out = prepared;
    return snw_ok;
}

void snwPrepared_Retain(snwPrepared* prepared)
{
    atomic_fetch_add(&prepared->references, 1);
}

void snwPrepared_Release(snwPrepared* prepared)
{
    if (prepared == NULL || atomic_fetch_sub(&prepared->references, 1) > 1)
        return;
    snwCharacter_Release(prepared->character);
    snwArena_Free(&prepared->arena);
    snwFree(prepared->context, prepared);
}

snwPreparedInfo snwPrepared_GetInfo(const snwPrepared* prepared)
{
    return prepared->info;
}

snwCharacter* snwPrepared_GetCharacter(const snwPrepared* prepared)
{
    return prepared->character;
}

const snwSurfaceInfo* snwPrepared_GetSurface(const snwPrepared* prepared, int index)
{
    return index >= 0 && index < prepared->info.surfaceCount ? &prepared->surfaces[index] : NULL;
}

snwTexture snwPrepared_GetTexture(const snwPrepared* prepared, int index)
{
    return index >= 0 && index < prepared->info.textureCount ? prepared->textures[index] : (snwTexture){0};
}
