// The surfaces of an asset as they are shown: nodes placed, skins bent, vertices welded, boundaries of elements
// found, each surveyed for holes and defects.

#include "asset/surfaces.h"

#include "base/hash.h"
#include "geom/mesh.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Nodes

snwAffine* snwAsset_PlaceNodes(const snwAsset* asset, snwArena* arena)
{
    size_t count = (size_t)asset->nodeCount + 1;
    snwAffine* places = snwArena_Alloc(arena, count, sizeof *places);
    uint8_t* placed = snwArena_Alloc(arena, count, 1);
    int* chain = snwArena_Alloc(arena, count, sizeof *chain);

    if (places == NULL || placed == NULL || chain == NULL)
        return NULL;

    // From each node up to one that is placed, then down.
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int length = 0;
        for (int node = i; node >= 0 && !placed[node]; node = asset->nodes[node].parent)
            chain[length++] = node;
        while (length > 0)
        {
            const snwAssetNode* node = &asset->nodes[chain[--length]];
            places[chain[length]] = node->parent < 0 ? node->local
                                                     : snwAffine_Compose(places[node->parent], node->local);
            placed[chain[length]] = 1;
        }
    }

    return places;
}

// ---------------------------------------------------------------------------------------------------------------------
// Positions

typedef struct Gather
{
    const snwAsset* asset;
    snwArena* arena;
    snwArena work; // of one surface
    const snwAffine* places;
    bool crossings;
    snwMessage* message;
} Gather;

static snwVec3 ApplyWeights(
    const snwAssetMesh* mesh, const snwAssetSkin* skin, const snwAffine* bends, int vertex, snwVec3 fallback)
{
    snwVec3 sum = {0, 0, 0};
    double total = 0.0;
    for (int k = mesh->weights.starts[vertex]; k < mesh->weights.starts[vertex + 1]; ++k)
    {
        int bone = mesh->weights.bones[k];
        if (bone >= skin->jointCount)
            continue;
        sum = snwVec3_MulAdd(sum, mesh->weights.values[k], snwAffine_Apply(bends[bone], mesh->positions[vertex]));
        total += mesh->weights.values[k];
    }
    return total > 0 ? snwVec3_Scale(sum, 1.0 / total) : fallback;
}

// Where the vertices of a mesh are when node shows it; a skinned mesh follows its joints only, as glTF wants it.
static snwVec3* PlaceShownVertices(Gather* gather, int node, const snwAssetMesh* mesh)
{
    const snwAsset* asset = gather->asset;
    snwVec3* positions = snwArena_Alloc(&gather->work, (size_t)mesh->vertexCount + 1, sizeof *positions);
    const snwAssetSkin* skin = node >= 0 && asset->nodes[node].skin >= 0 ? &asset->skins[asset->nodes[node].skin]
                                                                         : NULL;
    bool bent = skin != NULL && mesh->weights.starts != NULL;
    snwAffine* bends = bent ? snwArena_Alloc(&gather->work, (size_t)skin->jointCount + 1, sizeof *bends) : NULL;

    if (gather->work.failed)
        return NULL;

    // Each joint's map from the bind pose to where it stands.
    for (int i = 0; bent && i < skin->jointCount; ++i)
        bends[i] = snwAffine_Compose(gather->places[skin->joints[i]], skin->inverseBinds[i]);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        positions[i] = node < 0 ? mesh->positions[i] : snwAffine_Apply(gather->places[node], mesh->positions[i]);
        if (bent)
            positions[i] = ApplyWeights(mesh, skin, bends, i, positions[i]);
        // Something exploded: better the file's own place.
        if (!snwVec3_IsWithin(positions[i], 1e30))
            positions[i] = mesh->positions[i];
    }

    return positions;
}

// ---------------------------------------------------------------------------------------------------------------------
// Welding

static uint64_t KeyOfVertex(const snwAssetMesh* mesh, int vertex)
{
    uint64_t key = 0;
    if (mesh->weights.starts != NULL)
    {
        size_t first = (size_t)mesh->weights.starts[vertex], last = (size_t)mesh->weights.starts[vertex + 1];
        key = snwHash(mesh->weights.bones + first, (last - first) * sizeof(int), key);
        key = snwHash(mesh->weights.values + first, (last - first) * sizeof(double), key);
    }
    for (int i = 0; i < mesh->morphCount; ++i)
        if (mesh->morphs[i].positions != NULL)
            key = snwHash(mesh->morphs[i].positions[vertex], sizeof(float[3]), key);
    return key;
}

static snwResult WeldSurface(
    Gather* gather, const snwAssetMesh* mesh, const snwVec3* positions, snwAssetSurface* surface)
{
    bool moves = mesh->weights.starts != NULL || mesh->morphCount > 0;
    uint64_t* keys = moves ? snwArena_Alloc(&gather->work, (size_t)mesh->vertexCount + 1, sizeof *keys) : NULL;
    if (gather->work.failed)
        return snwFailMemory(gather->message);
    for (int i = 0; i < mesh->vertexCount && moves; ++i)
        keys[i] = KeyOfVertex(mesh, i);
    snwWeldDef def = {.positions = mesh->positions, .count = mesh->vertexCount, .keys = keys};
    snwResult result = snwWeldVertices(gather->arena, &def, &surface->weld, gather->message);
    if (result < 0)
        return result;
    surface->vertices = snwArena_Alloc(gather->arena, (size_t)surface->weld.count + 1, sizeof *surface->vertices);
    if (surface->vertices == NULL)
        return snwFailMemory(gather->message);
    for (int i = 0; i < surface->weld.count; ++i)
        surface->vertices[i] = positions[surface->weld.sources[i]];
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

static void AddInverted(const snwAssetMesh* mesh, snwAssetSurface* surface)
{
    for (int i = 0; i < mesh->tetCount; ++i)
    {
        const int* t = mesh->tets[i];
        const snwVec3* p = mesh->positions;
        surface->invertedElements += snwTet_Volume(p[t[0]], p[t[1]], p[t[2]], p[t[3]]) <= 0;
    }
    for (int i = 0; i < mesh->hexCount; ++i)
    {
        snwVec3 corners[8];
        for (int k = 0; k < 8; ++k)
            corners[k] = mesh->positions[mesh->hexes[i][k]];
        surface->invertedElements += snwHex_Volume(corners) <= 0;
    }
}

// The boundary of the elements, freed by the caller; of tets as they are numbered, whichever way they face.
static snwResult FindBoundary(Gather* gather, const snwAssetMesh* mesh, int (**triangles)[3], int* count)
{
    bool hexes = mesh->hexCount > 0;
    snwElements elements = {hexes ? (const int*)mesh->hexes : (const int*)mesh->tets, hexes ? 8 : 4,
        hexes ? mesh->hexCount : mesh->tetCount};
    return snwMesh_FindSkin(gather->arena->context, elements, triangles, count);
}

static snwResult TakeMeshTriangles(Gather* gather, const snwAssetMesh* mesh, snwAssetSurface* surface)
{
    int(*boundary)[3] = NULL;
    const int(*source)[3] = mesh->triangles;
    surface->triangleCount = mesh->triangleCount;
    if (mesh->tetCount + mesh->hexCount > 0) // what the file lists beside them may be faces inside
    {
        snwResult result = FindBoundary(gather, mesh, &boundary, &surface->triangleCount);
        if (result < 0)
            return snwFailMemory(gather->message);
        source = (const int(*)[3])boundary;
    }
    size_t room = (size_t)surface->triangleCount + 1;
    surface->triangles = snwArena_Alloc(gather->arena, room, sizeof *surface->triangles);
    for (int i = 0; i < 3 * surface->triangleCount && surface->triangles != NULL; ++i)
        surface->triangles[i / 3][i % 3] = surface->weld.map[source[i / 3][i % 3]];
    snwFree(gather->arena->context, boundary);
    return surface->triangles == NULL ? snwFailMemory(gather->message) : snw_ok;
}

// Vertices inside of elements are in no triangle and yet not loose.
static snwResult CountLoose(Gather* gather, const snwAssetMesh* mesh, snwAssetSurface* surface)
{
    uint8_t* used = snwArena_Alloc(&gather->work, (size_t)surface->weld.count + 1, 1);
    if (used == NULL)
        return snwFailMemory(gather->message);
    for (int i = 0; i < 4 * mesh->tetCount; ++i)
        used[surface->weld.map[mesh->tets[i / 4][i % 4]]] = 1;
    for (int i = 0; i < 8 * mesh->hexCount; ++i)
        used[surface->weld.map[mesh->hexes[i / 8][i % 8]]] = 1;
    surface->survey.looseVertices = surface->weld.count;
    for (int i = 0; i < surface->weld.count; ++i)
        surface->survey.looseVertices -= used[i];
    return snw_ok;
}

static snwResult MakeAssetSurface(Gather* gather, int node, int meshIndex, snwAssetSurface* surface)
{
    const snwAssetMesh* mesh = &gather->asset->meshes[meshIndex];
    const char* name = node >= 0 && gather->asset->nodes[node].name[0] != 0 ? gather->asset->nodes[node].name
                                                                            : mesh->name;
    *surface = (snwAssetSurface){.name = name, .mesh = meshIndex, .node = node};
    snwVec3* positions = PlaceShownVertices(gather, node, mesh);
    snwResult result = positions == NULL ? snwFailMemory(gather->message)
                                         : WeldSurface(gather, mesh, positions, surface);
    if (result >= 0)
        result = TakeMeshTriangles(gather, mesh, surface);
    AddInverted(mesh, surface);

    // Holes, shells, crossings: the survey tells what is wrong with it.
    snwSurveyDef def = {surface->vertices, surface->weld.count, (const int(*)[3])surface->triangles,
        surface->triangleCount, gather->crossings};
    if (result >= 0)
        result = snwSurveySurface(gather->arena, &def, &surface->survey, gather->message);
    if (result >= 0 && mesh->tetCount + mesh->hexCount > 0)
        result = CountLoose(gather, mesh, surface);
    snwArena_Free(&gather->work);
    gather->work = (snwArena){.context = gather->arena->context};

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of them

static void IncludeSurface(snwAssetSurfaces* surfaces, const snwAssetSurface* surface)
{
    bool first = surfaces->count == 0;
    surfaces->lower = first ? surface->survey.lower : snwVec3_Min(surfaces->lower, surface->survey.lower);
    surfaces->upper = first ? surface->survey.upper : snwVec3_Max(surfaces->upper, surface->survey.upper);
    surfaces->triangleCount += surface->triangleCount;
    surfaces->count += 1;
}

// Copies of a mesh cost a line of the file each and memory here, so there is an end to them.
static bool HasRoomForCopy(const snwAssetSurfaces* surfaces, const snwAssetMesh* mesh)
{
    return surfaces->triangleCount + (int64_t)mesh->triangleCount + mesh->tetCount <= snw_maxAssetVertices;
}

snwResult snwAsset_FindSurfaces(
    const snwAsset* asset, snwArena* arena, bool crossings, snwAssetSurfaces* surfaces, snwMessage* message)
{
    Gather gather = {.asset = asset, .arena = arena, .crossings = crossings, .message = message};
    gather.work.context = arena->context;
    *surfaces = (snwAssetSurfaces){0};
    size_t room = (size_t)asset->nodeCount + (size_t)asset->meshCount + 1;
    surfaces->items = snwArena_Alloc(arena, room, sizeof *surfaces->items);
    uint8_t* shown = snwArena_Alloc(arena, room, 1);
    gather.places = snwAsset_PlaceNodes(asset, arena);
    if (surfaces->items == NULL || shown == NULL || gather.places == NULL)
        return snwFailMemory(message);
    snwResult result = snw_ok;

    // Every node that shows a mesh, then meshes that nobody shows.
    for (int i = 0; i < asset->nodeCount + asset->meshCount && result >= 0; ++i)
    {
        int node = i < asset->nodeCount ? i : -1;
        int mesh = node >= 0 ? asset->nodes[node].mesh : i - asset->nodeCount;
        if (mesh < 0 || (node < 0 && shown[mesh]))
            continue;
        if (shown[mesh] && !HasRoomForCopy(surfaces, &asset->meshes[mesh]))
        {
            surfaces->left += 1;
            continue;
        }

        shown[mesh] = 1;
        result = MakeAssetSurface(&gather, node, mesh, &surfaces->items[surfaces->count]);
        if (result >= 0)
            IncludeSurface(surfaces, &surfaces->items[surfaces->count]);
    }

    return result;
}
