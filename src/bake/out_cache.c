// Point caches and OBJ sequences: positions of the frames, nothing fitted; of caches in the order and space that
// written_frames.h tells. An OBJ has no nodes: its positions are always the scene's.

#include "asset/export_parts.h"
#include "asset/poser.h"
#include "bake/blender_script.h"
#include "bake/written_frames.h"
#include "base/context.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct Track
{
    const snwReelSurface* surface;
    const snwAssetMesh* mesh;
    bool local;      // positions are those of the node
    char path[4096]; // without ending
    int* vertices;   // of the mesh, one per point
    int count;
    snwPointCache cache;
    bool open;
} Track;

typedef struct Job
{
    const snwBakeWriting* w;
    snwArena arena;
    snwAssetPoser poser;
    Track* tracks;
    float* points; // of one frame of one surface
    bool zUp;
} Job;

// ---------------------------------------------------------------------------------------------------------------------
// Names

static void AddClean(char* path, size_t capacity, const char* name)
{
    size_t length = strlen(path);
    for (; *name != 0 && length + 1 < capacity; ++name)
    {
        unsigned char c = (unsigned char)*name;
        path[length++] = isalnum(c) || c == '-' || c == '_' || c >= 0x80 ? (char)c : '_';
    }
    path[length] = 0;
}

// walk.pc2 becomes walk; with several surfaces walk-body, walk-shirt. Names that come twice get a number.
static void NameTrack(Job* job, int index)
{
    Track* track = &job->tracks[index];
    snprintf(track->path, sizeof track->path - 300, "%s", job->w->def->path);
    char* dot = strrchr(track->path, '.');
    if (dot != NULL)
        *dot = 0;
    if (job->w->reel->surfaceCount == 1)
        return;
    AddClean(track->path, sizeof track->path, "-");
    AddClean(track->path, sizeof track->path - 32, track->surface->name);
    for (int i = 0; i < index; ++i)
        if (strcmp(job->tracks[i].path, track->path) == 0)
        {
            size_t length = strlen(track->path);
            snprintf(track->path + length, sizeof track->path - length, "~%d", index);
            return;
        }
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static void PutCachePoint(const Job* job, snwVec3 x, float* out)
{
    out[0] = (float)x.x;
    out[1] = (float)(job->zUp ? -x.z : x.y);
    out[2] = (float)(job->zUp ? x.y : x.z);
}

// What takes the world to the space of the file.
static snwAffine ToFile(const Job* job, const Track* track)
{
    snwAffine inverse = {snwMat3_Identity(), {0, 0, 0}};
    if (track->local && job->w->def->format != snw_bakeObj)
        snwAffine_Inverse(job->poser.places[track->surface->node], &inverse);
    return inverse;
}

static snwResult ReadReelFrame(Job* job, int frame)
{
    const snwReel* reel = job->w->reel;
    double time = 0;
    snwResult result = reel->read(reel->user, frame, &time, job->w->message);
    if (result >= 0)
        snwAssetPoser_Pose(&job->poser, reel->animation >= 0 ? &reel->asset->animations[reel->animation] : NULL, time);
    return result;
}

static snwResult TakePoints(Job* job, const Track* track, snwSkin* skin)
{
    snwResult result = snwBakeWriting_Get(job->w, track->surface, skin);
    snwAffine inverse = ToFile(job, track);
    for (int i = 0; i < track->count && result >= 0; ++i)
        PutCachePoint(job,
            snwAffine_Apply(inverse, snwReel_Position(job->w->reel, track->surface, skin, track->vertices[i])),
            job->points + 3 * (size_t)i);
    return result;
}

static snwResult MakeTracks(Job* job)
{
    const snwReel* reel = job->w->reel;
    int most = 0;
    snwResult result = snwAssetPoser_Make(reel->asset, &job->arena, &job->poser, job->w->message);
    job->tracks = snwArena_Alloc(&job->arena, (size_t)reel->surfaceCount + 1, sizeof *job->tracks);
    if (result >= 0 && job->arena.failed)
        result = snwFailMemory(job->w->message);

    // A track per surface: which vertices are its points, in which order, in whose space.
    for (int i = 0; i < reel->surfaceCount && result >= 0; ++i)
    {
        Track* track = &job->tracks[i];
        track->surface = &reel->surfaces[i];
        track->mesh = &reel->asset->meshes[track->surface->mesh];
        track->local = snwCache_IsLocal(reel->asset, track->surface->node);
        NameTrack(job, i);
        snwCacheOrder order;
        result = snwCacheOrder_Make(&job->arena, reel->asset, track->surface->mesh, &order, job->w->message);
        track->vertices = order.vertices;
        track->count = order.count;
        most = track->count > most ? track->count : most;
    }

    // Room for the largest.
    job->points = snwArena_Alloc(&job->arena, 3 * (size_t)most + 1, sizeof *job->points);
    return result >= 0 && job->arena.failed ? snwFailMemory(job->w->message) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Caches

static snwResult OpenCaches(Job* job)
{
    const snwBakeWriting* w = job->w;
    bool mdd = w->def->format == snw_bakeMdd;
    snwResult result = snw_ok;
    for (int i = 0; i < w->reel->surfaceCount && result >= 0; ++i)
    {
        Track* track = &job->tracks[i];
        size_t length = strlen(track->path);
        snprintf(track->path + length, sizeof track->path - length, mdd ? ".mdd" : ".pc2");
        result = snwPointCache_Open(&track->cache, w->context, track->path, mdd, w->def->overwrite, w->message);
        track->cache.expected = w->reel->frameCount;
        track->cache.rate = w->reel->rate;
        track->open = result >= 0;
    }
    return result;
}

static snwResult AddCacheFrame(Job* job, int frame)
{
    snwResult result = ReadReelFrame(job, frame);
    for (int i = 0; i < job->w->reel->surfaceCount && result >= 0; ++i)
    {
        Track* track = &job->tracks[i];
        snwSkin skin;
        result = TakePoints(job, track, &skin);
        if (result >= 0)
            result = snwPointCache_AddFrame(&track->cache, job->points, track->count, job->w->message);
    }
    return result < 0 ? result : snwBakeWriting_Progress(job->w, (frame + 1.0) / job->w->reel->frameCount);
}

static snwResult FinishCaches(Job* job)
{
    snwResult result = snw_ok;
    for (int i = 0; i < job->w->reel->surfaceCount && result >= 0; ++i)
    {
        job->tracks[i].open = false;
        result = snwPointCache_Finish(&job->tracks[i].cache, job->w->message);
        if (result >= 0)
            snwBakeWriting_AddFile(job->w, job->tracks[i].path);
    }
    return result;
}

static snwResult WriteScript(Job* job)
{
    int count = job->w->reel->surfaceCount;
    snwBlenderCache* caches = snwArena_Alloc(&job->arena, (size_t)count + 1, sizeof *caches);
    if (caches == NULL)
        return snwFailMemory(job->w->message);
    for (int i = 0; i < count; ++i)
    {
        const Track* track = &job->tracks[i];
        caches[i] = (snwBlenderCache){
            track->surface->name, track->mesh->name, track->path, track->count, !track->local};
    }
    return snwWriteBlenderScript(job->w, caches, count);
}

static snwResult RunCaches(Job* job)
{
    snwResult result = MakeTracks(job);
    if (result >= 0)
        result = OpenCaches(job);
    for (int i = 0; i < job->w->reel->frameCount && result >= 0; ++i)
        result = AddCacheFrame(job, i);
    if (result >= 0)
        result = FinishCaches(job);
    return result < 0 ? result : WriteScript(job);
}

snwResult snwBakeWriting_Caches(const snwBakeWriting* w)
{
    Job job = {.w = w, .arena = {.context = w->context}, .zUp = w->def->up != snw_upY};
    snwResult result = RunCaches(&job);
    for (int i = 0; job.tracks != NULL && i < w->reel->surfaceCount; ++i)
        if (job.tracks[i].open)
            snwPartFile_Drop(&job.tracks[i].cache.output);
    snwArena_Free(&job.arena);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// OBJ

static snwResult WriteObj(Job* job, const Track* track, int frame, float* normals)
{
    const snwBakeWriting* w = job->w;
    snwSkin skin;
    char path[4200];
    snwResult result = TakePoints(job, track, &skin);

    if (result < 0)
        return result;

    // Normals by rows of the shown surface.
    for (int i = 0; i < track->count; ++i)
    {
        const float* n = (const float*)((const char*)skin.normals + snwReel_RowOf(track->surface, &skin, i));
        PutCachePoint(job, (snwVec3){(double)n[0], (double)n[1], (double)n[2]}, normals + 3 * (size_t)i);
    }

    // The exporter wants a character, of which only texture coordinates matter.
    snwCharacterDef look = {.texcoords = track->mesh->texcoords};
    snwExportShape shape = {.name = track->surface->name,
        .character = &look,
        .positions = job->points,
        .normals = normals,
        .count = track->count,
        .triangles = (const int*)track->mesh->triangles,
        .triangleCount = track->mesh->triangleCount,
        .vertices = track->vertices};
    snwWriter out = {.context = w->context};
    snwExport_WriteObj(&out, &shape);
    snprintf(path, sizeof path, "%s-%05d.obj", track->path, frame);
    result = out.failed ? snwFailMemory(w->message)
                        : snwFile_Write(w->context, path, out.data, out.size, w->def->overwrite, w->message);
    snwFree(w->context, out.data);
    if (result >= 0)
        snwBakeWriting_AddFile(w, path);

    return result;
}

// Faces name vertices of the mesh, so all of them are written, in its order.
static void UseAllVertices(Track* track)
{
    track->count = track->mesh->vertexCount;
    for (int i = 0; i < track->count; ++i)
        track->vertices[i] = i;
}

static snwResult RunObj(Job* job)
{
    const snwReel* reel = job->w->reel;
    size_t most = 1;
    snwResult result = MakeTracks(job);

    // An OBJ has the artist's vertices, as they are numbered in the file.
    for (int i = 0; i < reel->surfaceCount && result >= 0; ++i)
    {
        UseAllVertices(&job->tracks[i]);
        most = most > (size_t)job->tracks[i].count ? most : (size_t)job->tracks[i].count;
    }

    job->points = snwArena_Alloc(&job->arena, 3 * most, sizeof *job->points);
    float* normals = snwArena_Alloc(&job->arena, 3 * most, sizeof *normals);
    if (result >= 0 && job->arena.failed)
        result = snwFailMemory(job->w->message);

    // A file per surface and frame.
    for (int frame = 0; frame < reel->frameCount && result >= 0; ++frame)
    {
        result = ReadReelFrame(job, frame);
        for (int i = 0; i < reel->surfaceCount && result >= 0; ++i)
            result = WriteObj(job, &job->tracks[i], frame, normals);
        if (result >= 0)
            result = snwBakeWriting_Progress(job->w, (frame + 1.0) / reel->frameCount);
    }

    return result;
}

snwResult snwBakeWriting_Obj(const snwBakeWriting* w)
{
    Job job = {.w = w, .arena = {.context = w->context}, .zUp = w->def->up == snw_upZ};
    snwResult result = RunObj(&job);
    snwArena_Free(&job.arena);
    return result;
}
