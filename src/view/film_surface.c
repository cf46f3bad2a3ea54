// What is seen in place of the mesh that is simulated: the blueprint's flesh meshed finely, an artist's surfaces, or
// a finer skin of a paper figure; each bound to the mesh once and moved with it.

#include "view/film_surface.h"

#include "view/film_prepared.h"
#include "asset/fine_skin.h"
#include "view/likeness.h"

#include <string.h>

static bool HasFinerSurface(const snwCharacterDef* character, const snwBlueprint* blueprint)
{
    return blueprint->flesh.partCount > 0 && blueprint->ribbonCount == 0 &&
           character->tetCount + character->hexCount > 0;
}

static snwElements ElementsOf(const snwCharacterDef* character)
{
    if (character->tetCount > 0)
        return (snwElements){character->tets[0], 4, character->tetCount};
    return (snwElements){character->hexes[0], 8, character->hexCount};
}

static snwResult EmbedFilmSurface(snwFilmSurface* surface, const snwCharacterDef* character, snwMessage* message)
{
    snwVec3* points = snwArena_Alloc(&surface->arena, (size_t)surface->pointCount + 1, sizeof *points);
    if (points == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < surface->pointCount; ++i)
        points[i] = (snwVec3){surface->points[3 * i], surface->points[3 * i + 1], surface->points[3 * i + 2]};
    snwEmbeddingDef def = {.vertices = character->vertices,
        .vertexCount = character->vertexCount,
        .elements = ElementsOf(character),
        .points = points,
        .pointCount = surface->pointCount};
    snwResult result = snwEmbedPoints(&surface->arena, &def, &surface->embedding, message);
    if (result < 0)
        return result;
    surface->scratch = snwArena_Alloc(
        &surface->arena, snwEmbedding_ScratchSize(&surface->embedding) + 1, sizeof(float));
    return surface->scratch != NULL ? result : snwFailMemory(message);
}

static snwResult MeshFilmFlesh(snwContext* context, snwFilmSurface* surface, double detail, snwMessage* message)
{
    snwLikeness likeness;

    // The display surface of the blueprint at rest.
    snwLikenessDef def = snwDefaultLikenessDef();
    def.blueprint = &surface->blueprint.blueprint;
    def.motion = -1;
    def.detail = detail;
    snwResult result = snwCreateLikeness(context, &def, &likeness, message);

    // Copied, for the likeness goes.
    if (result >= 0)
    {
        const snwLikenessMesh* mesh = &likeness.meshes[0];
        surface->pointCount = mesh->vertexCount;
        surface->triangleCount = mesh->triangleCount;
        surface->points = snwArena_Copy(&surface->arena, mesh->positions, 3 * (size_t)mesh->vertexCount, sizeof(float));
        surface->triangles = snwArena_Copy(
            &surface->arena, mesh->triangles, 3 * (size_t)mesh->triangleCount, sizeof(int));
        result = surface->arena.failed ? snwFailMemory(message) : result;
    }

    snwLikeness_Free(&likeness);
    return result;
}

static snwResult RefineSurface(
    snwContext* context, const snwCharacterDef* character, int times, snwFilmSurface* surface, snwMessage* message)
{
    snwResult result = snwCreateFineSkin(context, character, times, &surface->fine, message);
    if (result < 0)
        return result;
    surface->points = surface->fine->points;
    surface->pointCount = surface->fine->pointCount;
    surface->triangles = surface->fine->triangles;
    surface->triangleCount = surface->fine->triangleCount;
    surface->texture = character->texture;
    return snw_ok;
}

snwResult snwCreateFilmSurface(
    snwContext* context, const snwCharacterDef* character, double detail, snwFilmSurface** surface, snwMessage* message)
{
    *surface = NULL;
    if (character->source == NULL || character->source[0] == 0)
        return snw_ok;
    snwFilmSurface* made = snwAlloc(context, sizeof *made);
    if (made == NULL)
        return snwFailMemory(message);
    made->arena.context = context;
    int times = character->triangleCount > 0 ? snwFineSkin_Wanted(character->source) : 0;

    // A finer skin of paper moves by its handles.
    if (times > 0)
    {
        snwResult refined = RefineSurface(context, character, times, made, message);
        *surface = refined >= 0 ? made : NULL;
        if (refined < 0)
            snwDestroyFilmSurface(context, made);
        return refined;
    }

    // A prepared character brings the artist's surfaces along.
    snwResult opened = snwFilmSurface_UsePrepared(context, character, made, message);
    if (opened < 0 || made->prepared != NULL)
    {
        *surface = opened >= 0 ? made : NULL;
        if (opened < 0)
            snwDestroyFilmSurface(context, made);
        return opened;
    }

    // Else the flesh of the blueprint, if that shows more than the mesh does.
    bool found = snwBlueprintFile_OfCharacter(context, character->source, &made->blueprint);
    snwResult result = snw_ok;
    bool finer = found && HasFinerSurface(character, &made->blueprint.blueprint);
    if (finer && !snwFlesh_MakeGrid(&made->blueprint.blueprint.flesh, &made->blueprint.arena))
        result = snwFailMemory(message);
    if (finer && result >= 0)
        result = MeshFilmFlesh(context, made, detail, message);
    if (finer && result >= 0)
        result = EmbedFilmSurface(made, character, message);
    if (finer && result >= 0)
        *surface = made;
    else
        snwDestroyFilmSurface(context, made);

    return result;
}

void snwDestroyFilmSurface(snwContext* context, snwFilmSurface* surface)
{
    if (surface == NULL)
        return;
    snwBlueprintFile_Free(&surface->blueprint);
    snwDestroyFineSkin(context, surface->fine);
    snwDestroyDisplay(surface->display);
    snwPrepared_Release(surface->prepared);
    snwArena_Free(&surface->arena);
    snwFree(context, surface);
}

static void PaintFilmFlesh(const void* data, const float point[3], float color[3])
{
    snwFlesh_Color(data, (snwVec3){(double)point[0], (double)point[1], (double)point[2]}, color);
}

// A blueprint paints each point of its surface where that is at rest, more sharply than colours of vertices can.
bool snwFilmSurface_Dress(snwContext* context, const snwFilmSurface* surface, snwPictureMesh* mesh)
{
    size_t count = 3 * (size_t)surface->pointCount;
    if (surface->fine != NULL)
    {
        bool painted = surface->fine->texcoords != NULL && surface->texture.width > 0;
        mesh->texture = surface->texture;
        if (painted)
            mesh->texcoords = snwCopyArray(context, surface->fine->texcoords, count / 3 * 2, sizeof(float));
        return !painted || mesh->texcoords != NULL;
    }
    if (surface->colors != NULL)
        return (mesh->colors = snwCopyArray(context, surface->colors, count, sizeof(float))) != NULL;
    bool file = surface->prepared != NULL;
    mesh->paintPoints = snwCopyArray(context, file ? surface->paint : surface->points, count, sizeof(float));
    mesh->paint = file ? snwFilmPart_Paint : PaintFilmFlesh;
    mesh->paintData = file ? (const void*)surface->parts : &surface->blueprint.blueprint.flesh;
    return mesh->paintPoints != NULL;
}

void snwFilmSurface_MoveFine(const snwFilmSurface* surface, const snwMatrices* handles, float* points)
{
    snwFineSkin_Move(surface->fine, handles, points);
}

void snwFilmSurface_Move(snwContext* context, const snwFilmSurface* surface, const snwVertices* vertices, float* points)
{
    if (surface->prepared != NULL)
    {
        snwFilmSurface_MovePrepared(surface, vertices, points);
        return;
    }
    snwEmbeddingMove move = {vertices->positions, vertices->stride, surface->scratch, NULL};
    move.points = points;
    snwEmbedding_Evaluate(context, &surface->embedding, &move);
}
