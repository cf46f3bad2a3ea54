// Each part of each surface gets points of its own, so that a texture ends where its part does; points at one place are
// known as such, so that the light does not.

#include "view/film_prepared.h"

#include "asset/texture.h"
#include "scene/prepared_file.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Colours

void snwFilmPart_Paint(const void* data, const float point[3], float color[3])
{
    const snwFilmPart* part = (const snwFilmPart*)data + (int)(point[2] + 0.5f);
    const snwTexture* texture = &part->texture;
    memcpy(color, part->color, sizeof part->color);
    if (texture->width == 0)
        return;
    float painted[4];
    snwTexture_Sample(texture, point, true, painted);
    for (int k = 0; k < 3; ++k)
        color[k] *= painted[k];
}

// ---------------------------------------------------------------------------------------------------------------------
// Points

typedef struct Builder
{
    snwFilmSurface* surface;
    const snwPrepared* prepared;
    int* numbers;    // point of each vertex of one surface in one part, -1: none yet
    int firstVertex; // of the surface among all
    int partCount;
    bool textured, failed;
} Builder;

static int64_t CountCorners(const snwPrepared* prepared, int* vertices, int* parts, int* most)
{
    int64_t corners = 0;
    *vertices = *parts = *most = 0;
    for (int i = 0; i < prepared->info.surfaceCount; ++i)
    {
        const snwSurfaceInfo* info = &prepared->surfaces[i];
        corners += 3 * (int64_t)info->triangleCount;
        *vertices += info->vertexCount;
        *parts += info->partCount;
        *most = info->vertexCount > *most ? info->vertexCount : *most;
    }
    return corners;
}

static int AddFilmPoint(Builder* b, const snwSurfaceInfo* info, const snwSurfacePart* part, int vertex)
{
    snwFilmSurface* s = b->surface;
    size_t point = (size_t)s->pointCount++;
    const float* uv = info->texcoords != NULL ? info->texcoords[vertex] : NULL;
    memcpy(s->points + 3 * point, info->positions[vertex], 3 * sizeof(float));
    s->sources[point] = b->firstVertex + vertex;
    s->paint[3 * point] = uv != NULL ? uv[0] : 0;
    s->paint[3 * point + 1] = uv != NULL ? uv[1] : 0;
    s->paint[3 * point + 2] = (float)b->partCount;
    for (int k = 0; k < 3; ++k)
        s->colors[3 * point + (size_t)k] = snwFloat_Clamp(
            part->color[k] * (info->colors != NULL ? info->colors[vertex][k] : 1), 0, 1);
    return (int)point;
}

static void AddFilmPart(Builder* b, const snwSurfaceInfo* info, const snwSurfacePart* part)
{
    snwFilmSurface* s = b->surface;
    s->parts[b->partCount] = (snwFilmPart){
        {part->color[0], part->color[1], part->color[2]}, snwPrepared_GetTexture(b->prepared, part->texture)};
    b->textured = b->textured || part->texture >= 0;
    memset(b->numbers, -1, (size_t)info->vertexCount * sizeof *b->numbers);
    for (int i = 0; i < 3 * part->triangleCount; ++i)
    {
        int vertex = info->triangles[part->firstTriangle + i / 3][i % 3];
        if (b->numbers[vertex] < 0)
            b->numbers[vertex] = AddFilmPoint(b, info, part, vertex);
        s->triangles[3 * s->triangleCount + i] = b->numbers[vertex];
    }
    s->triangleCount += part->triangleCount;
    b->partCount += 1;
}

// Points that the embedding has as one are one place; a rigid one is only with itself.
static snwResult FindPointPlaces(Builder* b, snwMessage* message)
{
    snwFilmSurface* s = b->surface;
    snwContext* context = s->arena.context;
    int* firstOf = snwAllocArray(context, (size_t)b->prepared->embedding.pointCount + 1, sizeof *firstOf);
    int* pointOf = snwAllocArray(context, (size_t)b->firstVertex + 1, sizeof *pointOf);

    if (firstOf == NULL || pointOf == NULL)
        b->failed = true;

    // The embedding's point of each vertex, surface after surface.
    for (int i = 0, at = 0; i < b->prepared->info.surfaceCount && !b->failed; ++i)
        for (int k = 0; k < b->prepared->surfaces[i].vertexCount; ++k)
            pointOf[at++] = b->prepared->points[i][k];
    for (int i = 0; i < b->prepared->embedding.pointCount && !b->failed; ++i)
        firstOf[i] = -1;

    // The first point of a place stands for all others there.
    for (int i = 0; i < s->pointCount && !b->failed; ++i)
    {
        int point = pointOf[s->sources[i]];
        s->places[i] = i;
        if (point < 0)
            continue;
        firstOf[point] = firstOf[point] < 0 ? i : firstOf[point];
        s->places[i] = firstOf[point];
    }

    snwFree(context, firstOf);
    snwFree(context, pointOf);
    return b->failed ? snwFailMemory(message) : snw_ok;
}

static snwResult BuildFilmSurface(snwFilmSurface* s, snwMessage* message)
{
    int vertices, parts, most;
    int64_t corners = CountCorners(s->prepared, &vertices, &parts, &most);
    Builder b = {.surface = s, .prepared = s->prepared};
    size_t room = (size_t)corners + 1; // a part has no more points than corners

    // Corners are the upper bound for points.
    s->points = snwArena_Alloc(&s->arena, 3 * room, sizeof(float));
    s->paint = snwArena_Alloc(&s->arena, 3 * room, sizeof(float));
    s->colors = snwArena_Alloc(&s->arena, 3 * room, sizeof(float));
    s->sources = snwArena_Alloc(&s->arena, room, sizeof(int));
    s->places = snwArena_Alloc(&s->arena, room, sizeof(int));
    s->triangles = snwArena_Alloc(&s->arena, room, sizeof(int));
    s->parts = snwArena_Alloc(&s->arena, (size_t)parts + 1, sizeof *s->parts);
    b.numbers = snwArena_Alloc(&s->arena, (size_t)most + 1, sizeof(int));
    if (s->arena.failed)
        return snwFailMemory(message);

    // Part by part, each with points of its own.
    for (int i = 0; i < s->prepared->info.surfaceCount; ++i)
    {
        const snwSurfaceInfo* info = &s->prepared->surfaces[i];
        for (int k = 0; k < info->partCount; ++k)
            AddFilmPart(&b, info, &info->parts[k]);
        b.firstVertex += info->vertexCount;
    }

    // Textures have the colours already.
    if (b.textured)
        s->colors = NULL;
    return FindPointPlaces(&b, message);
}

snwResult snwFilmSurface_TakePrepared(snwPrepared* prepared, snwFilmSurface* surface, snwMessage* message)
{
    surface->prepared = prepared;
    snwPrepared_Retain(prepared);
    snwResult result = snwCreateDisplay(prepared, &surface->display, message);
    return result < 0 ? result : BuildFilmSurface(surface, message);
}

snwResult snwFilmSurface_UsePrepared(
    snwContext* context, const snwCharacterDef* character, snwFilmSurface* surface, snwMessage* message)
{
    snwPrepared* prepared = NULL;
    snwResult result = snwPrepared_OfCharacter(context, character->source, &prepared, message);
    if (result >= 0 && prepared != NULL && prepared->info.surfaceCount > 0) // a flat one shows itself
        result = snwFilmSurface_TakePrepared(prepared, surface, message);
    snwPrepared_Release(prepared);
    return result;
}

// The vertex that a point of the film is, of the skin that has it.
static const float* PositionOfPoint(const snwFilmSurface* surface, const snwSkin* skins, int point)
{
    int vertex = surface->sources[point];
    while (vertex >= skins->vertexCount)
        vertex -= (skins++)->vertexCount;
    return (const float*)((const char*)skins->positions + (size_t)vertex * (size_t)skins->stride);
}

void snwFilmSurface_TakeSkins(const snwFilmSurface* surface, const snwSkin* skins, float* points)
{
    for (int i = 0; i < surface->pointCount; ++i)
        memcpy(points + 3 * (size_t)i, PositionOfPoint(surface, skins, i), 3 * sizeof(float));
}

void snwFilmSurface_Compare(const snwFilmSurface* surface, const snwSkin* skins, const snwSkin* others, float* values)
{
    for (int i = 0; i < surface->pointCount; ++i)
    {
        const float *a = PositionOfPoint(surface, skins, i), *b = PositionOfPoint(surface, others, i);
        float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        values[i] = 1e3f * sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
}

void snwFilmSurface_MovePrepared(const snwFilmSurface* surface, const snwVertices* vertices, float* points)
{
    // A body that went astray stays where it was last seen.
    snwDisplay_Update(surface->display, vertices->positions, vertices->count, vertices->stride, NULL);
    int first = 0;
    for (int i = 0, point = 0; i < surface->prepared->info.surfaceCount; ++i)
    {
        snwSkin skin = {0};
        snwDisplay_GetSurface(surface->display, i, &skin);
        for (; point < surface->pointCount && surface->sources[point] < first + skin.vertexCount; ++point)
            memcpy(points + 3 * (size_t)point, skin.positions + 3 * (size_t)(surface->sources[point] - first),
                3 * sizeof(float));
        first += skin.vertexCount;
    }
}
