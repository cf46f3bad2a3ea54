// Files that were written, read again: point caches and OBJ sequences in the artist's order of vertices, frame by
// frame; and, where a file does not say what it is of, the surface and clip that it fits best.

#include "bake/written_frames.h"

#include "asset/gltf.h"
#include "base/context.h"
#include "base/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SNW_FOLLOWS 0.05 // of the size: a file that is farther from every clip on average is of none of them

// ---------------------------------------------------------------------------------------------------------------------
// Order

// The artist's numbers of a primitive's vertices; false if it has none.
static bool ReadPrimitiveNumbers(const snwAsset* asset, int mesh, int part, float* numbers)
{
    const snwGltf* gltf = asset->gltf;
    if (gltf == NULL)
        return false;
    const json_t* meshes = json_object_get(gltf->root, "meshes");
    const json_t* primitives = json_object_get(json_array_get(meshes, (size_t)mesh), "primitives");
    const json_t* primitive = json_array_get(primitives, (size_t)part);
    const json_t* index = json_object_get(json_object_get(primitive, "attributes"), "_SNW_VERTEX");
    int accessor = json_is_integer(index) ? (int)json_integer_value(index) : -1;
    if (accessor < 0 || accessor >= gltf->accessorCount || gltf->accessors[accessor].type != snw_gltfScalar ||
        gltf->accessors[accessor].count != asset->meshes[mesh].parts[part].vertexCount)
        return false;
    return snwGltf_ReadFloats(gltf, accessor, numbers, NULL, NULL) >= 0;
}

// All numbers from 0 on, each at least once: the first vertex that has it stands for it.
static bool OrderByNumber(const snwAsset* asset, int mesh, float* numbers, snwCacheOrder* order)
{
    const snwAssetMesh* from = &asset->meshes[mesh];
    int room = from->vertexCount, most = -1;

    // Numbers that the primitives' vertices carry.
    for (int i = 0; i < room; ++i)
        order->vertices[i] = order->points[i] = -1;
    for (int p = 0; p < from->partCount; ++p)
    {
        const snwAssetPart* part = &from->parts[p];
        if (part->vertexCount > 0 && !ReadPrimitiveNumbers(asset, mesh, p, numbers))
            return false;
        for (int i = 0; i < part->vertexCount; ++i)
        {
            if (!(numbers[i] >= 0 && numbers[i] < (float)room))
                return false;
            int number = (int)numbers[i];
            most = number > most ? number : most;
            order->points[part->firstVertex + i] = number;
            if (order->vertices[number] < 0)
                order->vertices[number] = part->firstVertex + i;
        }
    }

    // A gap would leave a point without a vertex.
    for (int i = 0; i <= most; ++i)
        if (order->vertices[i] < 0)
            return false;
    order->count = most + 1;
    return most >= 0;
}

// Those that triangles of the part use.
static void AddWrittenPart(const snwAssetMesh* mesh, const snwAssetPart* part, bool* used, snwCacheOrder* order)
{
    for (int i = part->firstTriangle; i < part->firstTriangle + part->triangleCount; ++i)
        for (int k = 0; k < 3; ++k)
            used[mesh->triangles[i][k]] = true;
    for (int i = part->firstVertex; i < part->firstVertex + part->vertexCount; ++i)
    {
        if (used[i])
        {
            order->points[i] = order->count;
            order->vertices[order->count++] = i;
        }
        used[i] = false;
    }
}

snwResult snwCacheOrder_Make(
    snwArena* arena, const snwAsset* asset, int mesh, snwCacheOrder* order, snwMessage* message)
{
    const snwAssetMesh* from = &asset->meshes[mesh];

    // Room for the vertices of all parts.
    size_t room = 1;
    for (int i = 0; i < from->partCount; ++i)
        room += (size_t)from->parts[i].vertexCount;
    room = room > (size_t)from->vertexCount ? room : (size_t)from->vertexCount + 1;
    float* numbers = snwArena_Alloc(arena, room, sizeof *numbers);
    bool* used = snwArena_Alloc(arena, room, sizeof *used);
    *order = (snwCacheOrder){snwArena_Alloc(arena, room, sizeof(int)), snwArena_Alloc(arena, room, sizeof(int)), 0};
    if (arena->failed)
        return snwFailMemory(message);

    // By the artist's numbers where they are there; else the vertices that triangles use, in their order.
    if (OrderByNumber(asset, mesh, numbers, order))
        return snw_ok;
    memset(order->points, -1, room * sizeof(int));
    order->count = 0;
    for (int i = 0; i < from->partCount; ++i)
        AddWrittenPart(from, &from->parts[i], used, order);

    return snw_ok;
}

bool snwCache_IsLocal(const snwAsset* asset, int node)
{
    return asset->nodes[node].skin < 0 || asset->meshes[asset->nodes[node].mesh].weights.starts == NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files

typedef struct File
{
    int node, mesh;
    snwCacheOrder order; // of a cache
    snwAsset* asset;     // a cache, or the OBJ file that was read last
    const char* path;    // of OBJ files: the first
    int frame;           // of the OBJ file
} File;

struct snwWrittenFrames
{
    snwContext* context;
    snwArena arena;
    snwWrittenDef def;
    File* files;
};

static bool IsObj(const char* path)
{
    size_t length = strlen(path);
    return length > 4 && strcasecmp(path + length - 4, ".obj") == 0;
}

// NAME-00000.obj with the number of the frame in it.
static snwResult OpenObj(snwWrittenFrames* w, File* file, int frame, snwMessage* message)
{
    char path[4200];
    int length = (int)strlen(file->path) - 9; // before "00000.obj"
    if (file->asset != NULL && file->frame == frame)
        return snw_ok;

    // The frame's own file; the last one stays open.
    snwAsset_Close(file->asset);
    file->asset = NULL;
    if (length < 0 || frame == 0)
        snprintf(path, sizeof path, "%s", file->path);
    else
        snprintf(path, sizeof path, "%.*s%05d.obj", length, file->path, frame);

    snwResult result = snwAsset_Open(w->context, path, &file->asset, message);
    if (result >= 0 && (file->asset->meshCount != 1 ||
                           file->asset->meshes[0].vertexCount != w->def.source->meshes[file->mesh].vertexCount))
        result = snwFail(message, snw_errorInput, "is it a bake of this source?", "%s has not the vertices of '%s'",
            path, w->def.source->meshes[file->mesh].name);

    file->frame = frame;
    return result;
}

static snwResult OpenWrittenFile(snwWrittenFrames* w, int surface, snwMessage* message)
{
    const snwReelSurface* from = &w->def.surfaces[surface];
    File* file = &w->files[surface];
    *file = (File){.node = from->node, .mesh = from->mesh, .path = w->def.files[surface]};
    if (IsObj(file->path))
        return OpenObj(w, file, 0, message);
    snwResult result = snwCacheOrder_Make(&w->arena, w->def.source, from->mesh, &file->order, message);
    if (result >= 0)
        result = snwAsset_Open(w->context, file->path, &file->asset, message);
    if (result >= 0 && file->asset->cache.pointCount != file->order.count)
        result = snwFail(message, snw_errorInput, "is it a bake of this source?",
            "the cache has %d points, the surface '%s' %d", file->asset->cache.pointCount, from->name,
            file->order.count);
    return result;
}

snwResult snwWrittenFrames_Open(
    snwContext* context, const snwWrittenDef* def, snwWrittenFrames** frames, snwMessage* message)
{
    snwWrittenFrames* w = snwAlloc(context, sizeof *w);
    *frames = NULL;
    if (w == NULL)
        return snwFailMemory(message);
    *w = (snwWrittenFrames){.context = context, .arena = {.context = context}, .def = *def};
    w->files = snwArena_Alloc(&w->arena, (size_t)def->surfaceCount + 1, sizeof *w->files);
    snwResult result = w->files != NULL ? snw_ok : snwFailMemory(message);
    for (int i = 0; i < def->surfaceCount && w->files != NULL && result >= 0; ++i)
        result = OpenWrittenFile(w, i, message);
    if (result < 0)
        snwWrittenFrames_Close(w);
    else
        *frames = w;
    return result;
}

void snwWrittenFrames_Close(snwWrittenFrames* w)
{
    if (w == NULL)
        return;
    for (int i = 0; w->files != NULL && i < w->def.surfaceCount; ++i)
        snwAsset_Close(w->files[i].asset);
    snwArena_Free(&w->arena);
    snwFree(w->context, w);
}

snwResult snwWrittenFrames_Get(
    snwWrittenFrames* w, int surface, int frame, float* values, snwAgainstShown* shown, snwMessage* message)
{
    File* file = &w->files[surface];
    bool obj = IsObj(file->path);
    snwResult result = obj ? OpenObj(w, file, frame, message) : snw_ok;
    const snwAssetCache* cache = &file->asset->cache;
    if (result >= 0 && !obj && frame >= cache->frameCount)
        result = snwFail(
            message, snw_errorInput, NULL, "the cache has %d frames, not %d", cache->frameCount, frame + 1);

    // From the file's axes to ours.
    for (int i = 0; i < w->def.source->meshes[file->mesh].vertexCount && result >= 0; ++i)
    {
        float x[3] = {NAN, NAN, NAN};
        if (obj)
        {
            snwVec3 p = file->asset->meshes[0].positions[i];
            x[0] = (float)p.x, x[1] = (float)p.y, x[2] = (float)p.z;
        }
        else if (file->order.points[i] >= 0)
            memcpy(x,
                cache->positions + 3 * ((size_t)frame * (size_t)cache->pointCount + (size_t)file->order.points[i]),
                sizeof x);

        values[3 * (size_t)i] = x[0];
        values[3 * (size_t)i + 1] = w->def.zUp ? x[2] : x[1];
        values[3 * (size_t)i + 2] = w->def.zUp ? -x[1] : x[2];
    }

    *shown = (snwAgainstShown){values, !obj && snwCache_IsLocal(w->def.source, file->node)};
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// A file that does not tell what it is of

typedef struct Guess
{
    snwContext* context;
    const snwAsset* source;
    const char* path;
    snwWrittenFrames* frames; // of one surface
    int node, stride;         // stride: of the frames that are looked at
    float* values;
    snwAgainstDef best; // clip -1: none
    double least;       // mean of the best, of the size; of all surfaces so far
} Guess;

static snwResult ShowGuess(void* user, int frame, int node, snwAgainstShown* shown, snwMessage* message)
{
    Guess* guess = user;
    return node == guess->node
               ? snwWrittenFrames_Get(guess->frames, 0, guess->stride * frame, guess->values, shown, message)
               : snw_ok;
}

// The clip and start that a file of so many frames is nearest to, by its first, middle and last frame.
static snwResult FindCacheTimes(Guess* guess, int frameCount, double rate, snwMessage* message)
{
    const snwAsset* source = guess->source;
    snwResult result = snw_ok;

    // Starts at every frame of the file's rate that leave room for its length.
    for (int clip = 0; clip < source->animationCount && result >= 0; ++clip)
    {
        double length = (frameCount - 1) / rate, last = source->animations[clip].end - length;
        guess->stride = frameCount > 2 ? (frameCount - 1) / 2 : 1;
        for (int step = 0; step / rate <= fmax(last, 0) + 1e-6 && last > -1.5 / rate && result >= 0; ++step)
        {
            snwAgainstDef def = {.source = source,
                .shown = ShowGuess,
                .clip = clip,
                .start = step / rate,
                .rate = rate / guess->stride,
                .frameCount = frameCount < 3 ? frameCount : 3,
                .user = guess};
            double mean = 0;
            result = snwAgainst_Probe(guess->context, &def, guess->node, &mean, message);
            if (result < 0 || !(mean < guess->least))
                continue;
            guess->least = mean;
            guess->best = def;
            guess->best.rate = rate;
            guess->best.frameCount = frameCount;
        }
    }

    guess->stride = 1;
    return result;
}

// Compares with this surface if it is nearer than those before.
static snwResult TryNode(Guess* guess, int node, bool zUp, snwAgainst* against, snwMessage* message)
{
    static const double s_rates[] = {30, 24, 25, 60};
    const snwAssetNode* from = &guess->source->nodes[node];
    snwReelSurface surface = {.name = from->name, .mesh = from->mesh, .node = node};
    snwWrittenDef def = {
        .source = guess->source, .surfaces = &surface, .surfaceCount = 1, .files = &guess->path, .zUp = zUp};

    // Every rate that a file may have been written with, unless it tells the times.
    guess->node = node;
    guess->best.clip = -1;
    guess->values = snwAllocArray(
        guess->context, 3 * (size_t)guess->source->meshes[from->mesh].vertexCount, sizeof(float));
    snwResult result = guess->values != NULL ? snwWrittenFrames_Open(guess->context, &def, &guess->frames, message)
                                             : snwFailMemory(message);

    if (result >= 0 && guess->frames != NULL)
    {
        const snwAsset* file = guess->frames->files[0].asset;
        int frames = IsObj(guess->path) ? 1 : file->cache.frameCount;
        bool seconds = file->format == snw_assetMdd && frames > 1;
        double step = seconds ? file->cache.times[1] - file->cache.times[0] : 0;
        for (size_t i = 0; i < (step > 0 ? 1 : sizeof s_rates / sizeof *s_rates) && result >= 0; ++i)
            result = FindCacheTimes(guess, frames, step > 0 ? 1 / step : s_rates[i], message);
    }

    if (result >= 0 && guess->best.clip >= 0)
        result = snwCompareAgainst(guess->context, &guess->best, against, message);
    snwWrittenFrames_Close(guess->frames);
    guess->frames = NULL;
    snwFree(guess->context, guess->values);

    return result;
}

snwResult snwCompareFileAgainst(
    snwContext* context, const snwAsset* source, const char* path, snwAgainst* against, snwMessage* message)
{
    Guess guess = {.context = context, .source = source, .path = path, .least = INFINITY};
    bool memory = false;

    // Every surface, both ways up.
    for (int i = 0; i < source->nodeCount && !memory; ++i)
    {
        int mesh = source->nodes[i].mesh;
        for (int zUp = 1; zUp >= 0 && mesh >= 0 && source->meshes[mesh].triangleCount > 0 && !memory; --zUp)
            memory = TryNode(&guess, i, zUp != 0, against, message) == snw_errorMemory;
    }

    // Nothing else that fails is told: most guesses are wrong, and one is enough.
    if (memory)
        return snwFailMemory(message);
    if (!isfinite(guess.least))
        return snwFail(message, snw_errorInput, "is it a bake of this source?", "it fits no surface of the source");
    snwMessage_Clear(message);
    return against->mean <= SNW_FOLLOWS
               ? snw_ok
               : snwFail(message, snw_errorInput, "is it a bake of this source?",
                     "it follows no clip of the source: %.2g %% of the size off on average in '%s'",
                     100 * against->mean, against->mostPlace.clip);
}
