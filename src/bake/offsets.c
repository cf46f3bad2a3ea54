#include "bake/offsets.h"

#include "base/context.h"
#include "geom/weld.h"

#include <math.h>
#include <string.h>

#define SNW_MOST_BYTES 4e9 // of offsets in memory

enum
{
    snw_grain = 1024
};

// ---------------------------------------------------------------------------------------------------------------------
// One frame of one surface

typedef struct Work
{
    const snwReel* reel;
    snwOffsets* offsets;
    const snwSkin* skin;
    int frame;
} Work;

// Counts vertices under a flat skin.
static double FindOffsets(int begin, int end, void* data)
{
    const Work* w = data;
    snwOffsets* o = w->offsets;
    size_t row = (size_t)w->frame * (size_t)o->bind.mesh->vertexCount;
    double flat = 0;
    for (int i = begin; i < end; ++i)
    {
        snwAffine map = snwBind_Blend(&o->bind, i);
        snwVec3 moved = snwVec3_Sub(
            snwReel_Position(w->reel, o->surface, w->skin, i), snwAffine_Apply(map, o->bind.base[i]));
        snwVec3 offset;
        flat += !snwBind_Undo(map.linear, moved, &offset);
        float* out = o->offsets + 3 * (row + (size_t)i);
        out[0] = (float)offset.x, out[1] = (float)offset.y, out[2] = (float)offset.z;
        o->stretch[row + (size_t)i] = (float)(snwBind_Stretch(map.linear) * w->reel->scale);
    }
    return flat;
}

// ---------------------------------------------------------------------------------------------------------------------
// All frames

static snwResult MakeItem(const snwBakeWriting* w, bool bent, int index, snwArena* arena, snwOffsets* item)
{
    const snwReel* reel = w->reel;
    const snwReelSurface* surface = &reel->surfaces[index];
    item->surface = surface;
    snwResult result = snwBind_Make(reel->asset, surface->node, bent, arena, &item->bind, w->message);
    if (result < 0)
        return result;
    size_t vertices = (size_t)item->bind.mesh->vertexCount, frames = (size_t)reel->frameCount;
    item->offsets = snwArena_Alloc(arena, frames * vertices, 3 * sizeof *item->offsets);
    item->stretch = snwArena_Alloc(arena, frames * vertices, sizeof *item->stretch);
    item->ownWeights = snwArena_Alloc(arena, frames, ((size_t)item->bind.mesh->morphCount + 1) * sizeof(double));
    return arena->failed ? snwFailMemory(w->message) : snw_ok;
}

static snwResult CheckSize(const snwBakeWriting* w)
{
    double numbers = 0;
    for (int i = 0; i < w->reel->surfaceCount; ++i)
        numbers += 4.0 * w->reel->frameCount * w->reel->asset->meshes[w->reel->surfaces[i].mesh].vertexCount;
    if (numbers * sizeof(float) <= SNW_MOST_BYTES)
        return snw_ok;
    return snwFail(w->message, snw_errorArgument, "write a pc2 or mdd cache, fewer frames (--fps) or a shorter range",
        "%d frames of these surfaces are %.1f GB, more than morph targets and joints are found for",
        w->reel->frameCount, numbers * sizeof(float) * 1e-9);
}

static snwResult PoseFrame(const snwBakeWriting* w, snwOffsetsList* list, int frame)
{
    snwResult result = w->reel->read(w->reel->user, frame, &list->clipTimes[frame], w->message);
    if (result < 0)
        return result;
    snwAssetPoser_Pose(&list->poser, list->animation, list->clipTimes[frame]);
    for (int i = 0; i < list->count; ++i)
        snwBind_Pose(&list->items[i].bind, &list->poser, list->animation, list->clipTimes[frame]);
    return snw_ok;
}

static snwResult GatherFrame(const snwBakeWriting* w, snwOffsetsList* list, int frame)
{
    snwResult result = PoseFrame(w, list, frame);
    list->keyTimes[frame] = w->reel->start + frame / w->reel->rate;
    for (int i = 0; i < list->count && result >= 0; ++i)
    {
        snwOffsets* item = &list->items[i];
        size_t morphs = (size_t)item->bind.mesh->morphCount;
        snwSkin skin;
        result = snwBakeWriting_Get(w, item->surface, &skin);
        if (result < 0)
            break;
        memcpy(item->ownWeights + (size_t)frame * morphs, item->bind.weights, morphs * sizeof *item->ownWeights);
        Work work = {w->reel, item, &skin, frame};
        item->flat += (int64_t)snwParallelSum(w->context, item->bind.mesh->vertexCount, snw_grain, FindOffsets, &work);
    }
    return result < 0 ? result : snwBakeWriting_Progress(w, 0.4 * (frame + 1) / w->reel->frameCount);
}

snwResult snwGatherOffsets(const snwBakeWriting* w, bool bent, snwArena* arena, snwOffsetsList* list)
{
    const snwReel* reel = w->reel;
    *list = (snwOffsetsList){.count = reel->surfaceCount};
    list->animation = reel->animation >= 0 ? &reel->asset->animations[reel->animation] : NULL;
    snwResult result = CheckSize(w);
    if (result >= 0)
        result = snwAssetPoser_Make(reel->asset, arena, &list->poser, w->message);
    if (result < 0)
        return result;
    list->items = snwArena_Alloc(arena, (size_t)list->count + 1, sizeof *list->items);
    list->clipTimes = snwArena_Alloc(arena, (size_t)reel->frameCount, sizeof *list->clipTimes);
    list->keyTimes = snwArena_Alloc(arena, (size_t)reel->frameCount, sizeof *list->keyTimes);
    if (arena->failed)
        return snwFailMemory(w->message);
    for (int i = 0; i < list->count && result >= 0; ++i)
        result = MakeItem(w, bent, i, arena, &list->items[i]);
    for (int frame = 0; frame < reel->frameCount && result >= 0; ++frame)
        result = GatherFrame(w, list, frame);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Normals

struct snwNormalTurner
{
    const snwAssetMesh* mesh;
    snwWeld weld;     // vertices of one place: a seam of the texture is none of the shape
    snwVec3* now;     // per welded vertex: mean of the triangles around it
    snwVec3* atRest;  // the same at rest
    snwVec3* corners; // of all vertices in the frame
};

static void FindMeans(const snwNormalTurner* turner, const snwVec3* positions, snwVec3* means)
{
    const snwAssetMesh* mesh = turner->mesh;
    memset(means, 0, (size_t)turner->weld.count * sizeof *means);
    for (int i = 0; i < mesh->triangleCount; ++i)
    {
        const int* t = mesh->triangles[i];
        snwVec3 a = positions[t[0]], b = positions[t[1]], c = positions[t[2]];
        snwVec3 normal = snwVec3_Cross(snwVec3_Sub(b, a), snwVec3_Sub(c, a));
        for (int k = 0; k < 3; ++k)
            means[turner->weld.map[t[k]]] = snwVec3_Add(means[turner->weld.map[t[k]]], normal);
    }
    for (int i = 0; i < turner->weld.count; ++i)
        means[i] = snwVec3_Normalize(means[i]);
}

snwNormalTurner* snwMakeNormalTurner(snwArena* arena, const snwAssetMesh* mesh, snwMessage* message)
{
    size_t count = (size_t)mesh->vertexCount + 1;
    snwNormalTurner* turner = mesh->normals == NULL ? NULL : snwArena_Alloc(arena, 1, sizeof *turner);
    if (turner == NULL)
        return NULL;
    turner->mesh = mesh;
    turner->now = snwArena_Alloc(arena, count, sizeof *turner->now);
    turner->atRest = snwArena_Alloc(arena, count, sizeof *turner->atRest);
    turner->corners = snwArena_Alloc(arena, count, sizeof *turner->corners);
    snwWeldDef weld = {.positions = mesh->positions, .count = mesh->vertexCount};
    if (arena->failed || snwWeldVertices(arena, &weld, &turner->weld, message) < 0)
        return NULL;
    FindMeans(turner, mesh->positions, turner->atRest);
    return turner;
}

void snwNormalTurner_Turn(snwNormalTurner* turner, const snwVec3* base, const float* offsets, float* change)
{
    const snwAssetMesh* mesh = turner->mesh;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        const float* o = offsets + 3 * (size_t)i;
        turner->corners[i] = snwVec3_Add(base[i], (snwVec3){(double)o[0], (double)o[1], (double)o[2]});
    }
    FindMeans(turner, turner->corners, turner->now);
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        snwVec3 from = turner->atRest[turner->weld.map[i]], to = turner->now[turner->weld.map[i]];
        const float* n = mesh->normals[i];
        snwVec3 normal = {(double)n[0], (double)n[1], (double)n[2]}, turned = normal;
        if (snwVec3_Length(from) > 0.5 && snwVec3_Length(to) > 0.5)
            turned = snwQuat_Rotate(snwQuat_Between(from, to), normal);
        turned = snwVec3_Sub(turned, normal);
        float* out = change + 3 * (size_t)i;
        out[0] = (float)turned.x, out[1] = (float)turned.y, out[2] = (float)turned.z;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors

static snwVec3 WrittenPosition(const snwOffsets* item, const snwMorphFit* fit, int frame, int vertex)
{
    snwVec3 x = item->bind.base[vertex];
    for (int t = 0; t < fit->targetCount; ++t)
    {
        double weight = (double)fit->weights[(size_t)frame * (size_t)fit->targetCount + (size_t)t];
        const float* o = fit->targets[t].offsets + 3 * (size_t)vertex;
        x = snwVec3_MulAdd(x, weight, (snwVec3){(double)o[0], (double)o[1], (double)o[2]});
    }
    return snwAffine_Apply(snwBind_Blend(&item->bind, vertex), x);
}

static snwResult MeasureItem(
    const snwBakeWriting* w, const snwOffsets* item, const snwMorphFit* fit, int frame, snwBakeErrors* errors)
{
    snwSkin skin;
    snwResult result = snwBakeWriting_Get(w, item->surface, &skin);
    for (int i = 0; i < item->bind.mesh->vertexCount && result >= 0; ++i)
    {
        snwVec3 asked = snwReel_Position(w->reel, item->surface, &skin, i);
        double error = w->reel->scale * snwVec3_Distance(asked, WrittenPosition(item, fit, frame, i));
        errors->most = fmax(errors->most, error);
        errors->squares += error * error;
        errors->count += 1;
    }
    return result;
}

snwResult snwMeasureMorphs(
    const snwBakeWriting* w, snwOffsetsList* list, const snwMorphFit* fits, snwBakeErrors* errors)
{
    snwResult result = snw_ok;
    for (int frame = 0; frame < w->reel->frameCount && result >= 0; ++frame)
    {
        result = PoseFrame(w, list, frame);
        for (int i = 0; i < list->count && result >= 0; ++i)
            result = MeasureItem(w, &list->items[i], &fits[i], frame, errors);
        if (result >= 0)
            result = snwBakeWriting_Progress(w, 0.7 + 0.3 * (frame + 1) / w->reel->frameCount);
    }
    return result;
}
