// What is drawn of the bodies: the same surfaces as in films, so that both show one thing.

#include "studio/stage.h"

#include "sim/character.h"
#include "sim/method.h"
#include "sim/prepared.h"
#include "view/film_prepared.h"
#include "asset/fine_skin.h"
#include "view/look_values.h"
#include "view/vec.h"

#include <string.h>

// Edges of triangles from one end of a character to the other; many bodies get coarser surfaces.
#define SNW_STUDIO_DETAIL 90.0

// ---------------------------------------------------------------------------------------------------------------------
// Which vertex of the character carries a point

static int Heaviest(const snwEmbedding* embedding, int point)
{
    int best = 0;
    for (int k = 1; k < 4; ++k)
        if (embedding->weights[point][k] > embedding->weights[point][best])
            best = k;
    return embedding->vertices[embedding->corners[point][best]];
}

static void CarryPrepared(const snwFilmSurface* surface, int* carriers)
{
    const snwPrepared* prepared = surface->prepared;
    int first = 0, at = 0;
    for (int i = 0; i < prepared->info.surfaceCount; ++i)
    {
        int count = prepared->surfaces[i].vertexCount;
        for (; at < surface->pointCount && surface->sources[at] < first + count; ++at)
        {
            int point = prepared->points[i][surface->sources[at] - first];
            carriers[at] = point >= 0 ? Heaviest(&prepared->embedding, point) : prepared->anchors[~point].vertices[0];
        }
        first += count;
    }
}

static int NearestVertex(const snwCharacterDef* def, const float* point)
{
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < def->vertexCount; ++i)
    {
        double x = def->vertices[i].x - (double)point[0], y = def->vertices[i].y - (double)point[1];
        double distance = x * x + y * y;
        best = distance < least ? i : best;
        least = fmin(least, distance);
    }
    return best;
}

static void FindCarriers(const snwFilmSurface* surface, const snwCharacterDef* def, int* carriers)
{
    if (surface->prepared != NULL)
        CarryPrepared(surface, carriers);
    else
        for (int i = 0; i < surface->pointCount; ++i)
            carriers[i] = surface->fine != NULL ? NearestVertex(def, surface->points + 3 * (size_t)i)
                                                : Heaviest(&surface->embedding, i);
}

// ---------------------------------------------------------------------------------------------------------------------
// Making

static int PartOfPoint(const snwFilmSurface* surface, int point)
{
    return surface->paint != NULL ? (int)(surface->paint[3 * (size_t)point + 2] + 0.5f) : 0;
}

static int CountParts(const snwFilmSurface* surface)
{
    return surface != NULL && surface->paint != NULL && surface->pointCount > 0
               ? PartOfPoint(surface, surface->pointCount - 1) + 1
               : 1;
}

// Points and triangles of a part follow each other; see film_prepared.c.
static void CutShownParts(snwShown* shown, int index)
{
    snwShownBody* body = &shown->bodies[index];
    snwShownPart* parts = shown->parts + body->firstPart;

    // From the back to the front, so that the first point and triangle of each part are the last to be noted.
    for (int i = 0; i < body->partCount; ++i)
        parts[i] = (snwShownPart){.body = index};
    for (int i = body->pointCount - 1; i >= 0; --i)
    {
        snwShownPart* part = &parts[body->surface != NULL ? PartOfPoint(body->surface, i) : 0];
        part->firstPoint = i;
        part->pointCount++;
    }

    for (int i = body->triangleCount - 1; i >= 0; --i)
    {
        int point = body->triangles[3 * (size_t)i];
        snwShownPart* part = &parts[body->surface != NULL ? PartOfPoint(body->surface, point) : 0];
        part->firstTriangle = i;
        part->triangleCount++;
    }
}

static void UseSurface(snwShown* shown, snwShownBody* body, const snwCharacterDef* def)
{
    int* carriers = snwArena_Alloc(&shown->arena, (size_t)body->surface->pointCount + 1, sizeof *carriers);
    body->pointCount = body->surface->pointCount;
    body->triangleCount = body->surface->triangleCount;
    body->triangles = body->surface->triangles;
    body->places = body->surface->places;
    body->carriers = carriers;
    if (carriers != NULL)
        FindCarriers(body->surface, def, carriers);
}

// A body without a skin shows its vertices.
static void UseSkin(snwShown* shown, snwShownBody* body, const snwCharacter* character)
{
    snwSkin skin;
    snwCharacter_GetRestSkin(character, &skin);
    bool bare = skin.triangleCount == 0;
    int count = bare ? character->def.vertexCount : skin.vertexCount;
    int* carriers = snwArena_Alloc(&shown->arena, (size_t)count + 1, sizeof *carriers);
    for (int i = 0; i < count && carriers != NULL; ++i)
        carriers[i] = bare ? i : skin.vertices[i];
    body->pointCount = count;
    body->triangleCount = skin.triangleCount;
    body->triangles = skin.triangles;
    body->carriers = carriers;
}

static snwResult MeetBody(snwShown* shown, const snwSceneDef* scene, int index, snwMessage* message)
{
    snwShownBody* body = &shown->bodies[index];
    snwCharacter* character = scene->bodies[index].character;

    // Many bodies share the detail that one would have.
    double detail = fmax(30, SNW_STUDIO_DETAIL / sqrt(scene->bodyCount));

    // Bodies of one character share its surface.
    for (int i = 0; i < index && body->surface == NULL; ++i)
        if (scene->bodies[i].character == character)
            body->surface = shown->bodies[i].surface;

    if (body->surface == NULL)
    {
        snwResult result = snwCreateFilmSurface(shown->context, &character->def, detail, &body->surface, message);
        if (result < 0)
            return result;
        body->ownsSurface = body->surface != NULL;
    }

    if (body->surface != NULL)
        UseSurface(shown, body, &character->def);
    else
        UseSkin(shown, body, character);

    // Paper faces the viewer for ever; other normals follow from positions.
    body->flat = character->def.triangleCount > 0;
    size_t floats = 3 * (size_t)body->pointCount + 3;
    body->positions = snwArena_Alloc(&shown->arena, floats, sizeof(float));
    body->normals = snwArena_Alloc(&shown->arena, floats, sizeof(float));
    for (int i = 0; i < body->pointCount && body->flat && body->normals != NULL; ++i)
        body->normals[3 * (size_t)i + 2] = 1;
    body->firstPart = shown->partCount;
    body->partCount = CountParts(body->surface);
    shown->partCount += body->partCount;

    return shown->arena.failed ? snwFailMemory(message) : snw_ok;
}

snwResult snwCreateShown(snwContext* context, const snwSceneDef* scene, snwShown** shown, snwMessage* message)
{
    snwShown* made = snwAlloc(context, sizeof *made);
    size_t largest = 0;
    *shown = NULL;
    if (made == NULL)
        return snwFailMemory(message);
    atomic_init(&made->references, 1);
    made->context = context;
    made->arena.context = context;
    made->bodies = snwArena_Alloc(&made->arena, (size_t)scene->bodyCount + 1, sizeof *made->bodies);
    snwResult result = made->bodies != NULL ? snw_ok : snwFailMemory(message);

    for (int i = 0; made->bodies != NULL && i < scene->bodyCount && result >= 0; ++i)
    {
        size_t count = (size_t)scene->bodies[i].character->def.vertexCount;
        made->bodyCount = i + 1;
        result = MeetBody(made, scene, i, message);
        largest = count > largest ? count : largest;
    }

    // The largest body decides how much room values need.
    made->values = snwArena_Alloc(&made->arena, largest + 1, sizeof *made->values);
    made->parts = snwArena_Alloc(&made->arena, (size_t)made->partCount + 1, sizeof *made->parts);
    if (result >= 0 && made->arena.failed)
        result = snwFailMemory(message);

    // Parts can be cut when all bodies are known.
    for (int i = 0; i < made->bodyCount && result >= 0; ++i)
        CutShownParts(made, i);
    if (result < 0)
        snwShown_Release(made);
    else
        *shown = made;

    return result < 0 ? result : snw_ok;
}

void snwShown_Release(snwShown* shown)
{
    if (shown == NULL || atomic_fetch_sub(&shown->references, 1) != 1)
        return;
    for (int i = 0; i < shown->bodyCount; ++i)
        if (shown->bodies[i].ownsSurface)
            snwDestroyFilmSurface(shown->context, shown->bodies[i].surface);
    snwArena_Free(&shown->arena);
    snwFree(shown->context, shown);
}

// ---------------------------------------------------------------------------------------------------------------------
// Now

// Sums of the triangles around each place; points at one place have one normal, so seams are not seen.
static void FindShownNormals(snwShownBody* body)
{
    memset(body->normals, 0, 3 * (size_t)body->pointCount * sizeof(float));

    // Larger triangles count more: their normals are longer.
    for (int t = 0; t < body->triangleCount; ++t)
    {
        const int* corner = body->triangles + 3 * (size_t)t;
        snwFloat3 a = snwFloat3_Load(body->positions + 3 * (size_t)corner[0]);
        snwFloat3 b = snwFloat3_Load(body->positions + 3 * (size_t)corner[1]);
        snwFloat3 c = snwFloat3_Load(body->positions + 3 * (size_t)corner[2]);
        snwFloat3 n = snwFloat3_Cross(snwFloat3_Sub(b, a), snwFloat3_Sub(c, a));

        for (int k = 0; k < 3; ++k)
        {
            float* sum = body->normals + 3 * (size_t)(body->places != NULL ? body->places[corner[k]] : corner[k]);
            sum[0] += n.x;
            sum[1] += n.y;
            sum[2] += n.z;
        }
    }

    // Each point gets that of its place.
    for (int i = 0; i < body->pointCount && body->places != NULL; ++i)
        memcpy(body->normals + 3 * (size_t)i, body->normals + 3 * (size_t)body->places[i], 3 * sizeof(float));
}

static void CopyRows(const float* rows, int stride, int count, float* out)
{
    for (int i = 0; i < count; ++i)
        memcpy(out + 3 * (size_t)i, (const char*)rows + (size_t)i * (size_t)stride, 3 * sizeof(float));
}

// What the body's motion does to surfaces that are finer than the body: a smile.
static void ShowBodyMotion(const snwShownBody* body, snwSim* sim, int index)
{
    const snwMotionDef* motion = snwSim_BodyMotion(sim, index);
    int number = motion != NULL ? (int)(motion - sim->bodies[index].character->def.motions) : -1;
    if (body->surface->display != NULL)
        snwDisplay_SetMotion(body->surface->display, number, snwSim_MotionTime(sim, index, snwSim_SceneTime(sim)));
}

static void UpdateSurface(snwShown* shown, snwSim* sim, int index)
{
    snwShownBody* body = &shown->bodies[index];
    snwVertices vertices;
    snwMatrices handles = {0};
    if (body->surface->fine != NULL)
    {
        if (snwSim_GetHandleMatrices(sim, index, &handles) >= 0)
            snwFilmSurface_MoveFine(body->surface, &handles, body->positions);
    }
    else if (snwSim_GetShown(sim, index, &vertices) >= 0)
    {
        ShowBodyMotion(body, sim, index);
        snwFilmSurface_Move(shown->context, body->surface, &vertices, body->positions);
    }
    if (!body->flat)
        FindShownNormals(body);
}

static void UpdateShownSkin(snwShown* shown, snwSim* sim, int index)
{
    snwShownBody* body = &shown->bodies[index];
    snwVertices vertices;
    snwSkin skin;
    if (body->triangleCount == 0)
    {
        if (snwSim_GetShown(sim, index, &vertices) >= 0 && vertices.count == body->pointCount)
            CopyRows(vertices.positions, vertices.stride, vertices.count, body->positions);
    }
    else if (snwSim_GetSkin(sim, index, &skin) >= 0 && skin.vertexCount == body->pointCount)
    {
        CopyRows(skin.positions, skin.stride, skin.vertexCount, body->positions);
        if (!body->flat)
            CopyRows(skin.normals, skin.stride, skin.vertexCount, body->normals);
    }
}

void snwShown_Update(snwShown* shown, snwSim* sim)
{
    for (int i = 0; i < shown->bodyCount; ++i)
        if (shown->bodies[i].surface != NULL)
            UpdateSurface(shown, sim, i);
        else
            UpdateShownSkin(shown, sim, i);
}

bool snwShown_FindValues(snwShown* shown, snwSim* sim, int body, snwFilmLook look)
{
    return snwFindLookValues(sim, body, look, shown->values);
}
