// What flesh adds to each vertex in bind space, all frames in memory: offsets that morph targets are fitted to, how
// much the skin stretches them, vertices that move alike, normals turned along, and errors measured at the end.

#include "bake/offsets.h"

#include "base/context.h"
#include "geom/weld.h"

#include <math.h>
#include <string.h>

#define SNW_MOST_BYTES 4e9  // of offsets in memory
#define SNW_ALIKE      0.01 // of the tolerance

enum
{
    offsets_grain = 1024
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
        // The way from where the skin puts it to where it is shown, taken back through the skin.
        snwAffine map = snwBind_Blend(&o->bind, i);
        snwVec3 moved = snwVec3_Sub(
            snwReel_Position(w->reel, o->surface, w->skin, i), snwAffine_Apply(map, o->bind.base[i]));
        snwVec3 offset;
        if (!snwBind_Undo(map.linear, moved, &offset))
        {
            o->lost[i] = (float)fmax((double)o->lost[i], w->reel->scale * snwVec3_Length(moved));
            flat += 1;
        }

        // An error in bind space is seen as large as the skin stretches it.
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
    item->lost = snwArena_Alloc(arena, vertices + 1, sizeof *item->lost);
    item->ownWeights = snwArena_Alloc(arena, frames, ((size_t)item->bind.mesh->morphCount + 1) * sizeof(double));
    return arena->failed ? snwFailMemory(w->message) : snw_ok;
}

static snwResult CheckOffsetsSize(const snwBakeWriting* w)
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

static void PoseFrame(snwOffsetsList* list, int frame)
{
    snwAssetPoser_Pose(&list->poser, list->animation, list->clipTimes[frame]);
    for (int i = 0; i < list->count; ++i)
        snwBind_Pose(&list->items[i].bind, &list->poser, list->animation, list->clipTimes[frame]);
}

static snwResult GatherOffsetsFrame(const snwBakeWriting* w, snwOffsetsList* list, int frame)
{
    snwResult result = w->reel->read(w->reel->user, frame, &list->clipTimes[frame], w->message);
    if (result < 0)
        return result;
    PoseFrame(list, frame);
    list->keyTimes[frame] = w->reel->start + frame / w->reel->rate;

    // Every surface of this frame, with the weights that the artist's own morphs have.
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
        item->flat += (int64_t)snwParallelSum(
            w->context, item->bind.mesh->vertexCount, offsets_grain, FindOffsets, &work);
    }

    return result < 0 ? result : snwBakeWriting_Progress(w, 0.2 * (frame + 1) / w->reel->frameCount);
}

snwResult snwGatherOffsets(const snwBakeWriting* w, bool bent, snwArena* arena, snwOffsetsList* list)
{
    const snwReel* reel = w->reel;
    *list = (snwOffsetsList){.count = reel->surfaceCount};
    list->animation = reel->animation >= 0 ? &reel->asset->animations[reel->animation] : NULL;

    // Refused before gigabytes are asked for.
    snwResult result = CheckOffsetsSize(w);
    if (result >= 0)
        result = snwAssetPoser_Make(reel->asset, arena, &list->poser, w->message);
    if (result < 0)
        return result;
    list->items = snwArena_Alloc(arena, (size_t)list->count + 1, sizeof *list->items);
    list->clipTimes = snwArena_Alloc(arena, (size_t)reel->frameCount, sizeof *list->clipTimes);
    list->keyTimes = snwArena_Alloc(arena, (size_t)reel->frameCount, sizeof *list->keyTimes);
    if (arena->failed)
        return snwFailMemory(w->message);
    // Then frame by frame, since each has to be read once.
    for (int i = 0; i < list->count && result >= 0; ++i)
        result = MakeItem(w, bent, i, arena, &list->items[i]);
    for (int frame = 0; frame < reel->frameCount && result >= 0; ++frame)
        result = GatherOffsetsFrame(w, list, frame);

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Seams

static bool MoveAlike(const snwOffsets* item, int a, int b, int frameCount, double tolerance)
{
    size_t vertices = (size_t)item->bind.mesh->vertexCount;
    for (size_t f = 0; f < (size_t)frameCount; ++f)
    {
        const float* x = item->offsets + 3 * (f * vertices + (size_t)a);
        const float* y = item->offsets + 3 * (f * vertices + (size_t)b);
        double shown = (double)item->stretch[f * vertices + (size_t)a], square = 0;
        for (int k = 0; k < 3; ++k)
            square += ((double)x[k] - (double)y[k]) * ((double)x[k] - (double)y[k]);
        if (shown * sqrt(square) > SNW_ALIKE * tolerance)
            return false;
    }
    return true;
}

int* snwOffsets_FindTwins(
    snwArena* arena, const snwOffsets* item, int frameCount, double tolerance, snwMessage* message)
{
    const snwAssetMesh* mesh = item->bind.mesh;
    snwWeldDef def = {.positions = mesh->positions, .count = mesh->vertexCount};
    snwWeld weld;
    int* twins = snwArena_Alloc(arena, (size_t)mesh->vertexCount + 1, sizeof *twins);
    if (twins == NULL || snwWeldVertices(arena, &def, &weld, message) < 0)
        return NULL;
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        int first = weld.sources[weld.map[i]];
        twins[i] = MoveAlike(item, first, i, frameCount, tolerance) ? first : i;
    }
    return twins;
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

    // The surface with its offset.
    for (int i = 0; i < mesh->vertexCount; ++i)
    {
        const float* o = offsets + 3 * (size_t)i;
        turner->corners[i] = snwVec3_Add(base[i], (snwVec3){(double)o[0], (double)o[1], (double)o[2]});
    }

    // Each normal turns as the mean normal of its place does.
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

typedef struct Measuring
{
    const snwBakeWriting* w;
    const snwOffsets* item;
    const snwMorphFit* fit;
    int frame;
    double* distances; // per vertex, m
} Measuring;

// Targets one by one for a run of vertices: each is read as it lies in memory.
static void MeasureOffsets(int begin, int end, void* data)
{
    const Measuring* m = data;
    const snwOffsets* item = m->item;
    size_t count = (size_t)m->fit->targetCount;
    size_t row = (size_t)m->frame * (size_t)item->bind.mesh->vertexCount;
    snwVec3 left[offsets_grain];

    // The offset, less what all targets show of it.
    for (int i = begin; i < end; ++i)
    {
        const float* o = item->offsets + 3 * (row + (size_t)i);
        left[i - begin] = (snwVec3){(double)o[0], (double)o[1], (double)o[2]};
    }

    for (size_t t = 0; t < count; ++t)
    {
        double weight = (double)m->fit->weights[(size_t)m->frame * count + t];
        const float* o = m->fit->targets[t].offsets + 3 * (size_t)begin;
        for (int i = 0; i < end - begin; ++i, o += 3)
            left[i] = snwVec3_MulAdd(left[i], -weight, (snwVec3){(double)o[0], (double)o[1], (double)o[2]});
    }

    // Through the skin, in metres.
    for (int i = begin; i < end; ++i)
        m->distances[i] = m->w->reel->scale *
                          snwVec3_Length(snwMat3_MulVec(snwBind_Blend(&item->bind, i).linear, left[i - begin]));
}

static void MeasureItem(Measuring* m, snwBakeErrors* errors)
{
    int vertices = m->item->bind.mesh->vertexCount;
    snwParallelFor(m->w->context, vertices, offsets_grain, MeasureOffsets, m);
    for (int i = 0; i < vertices; ++i)
    {
        errors->most = fmax(errors->most, fmax(m->distances[i], (double)m->item->lost[i]));
        errors->squares += m->distances[i] * m->distances[i];
    }
    errors->count += vertices;
}

snwResult snwMeasureMorphs(
    const snwBakeWriting* w, snwOffsetsList* list, const snwMorphFit* fits, snwBakeErrors* errors)
{
    int most = 0;
    for (int i = 0; i < list->count; ++i)
        most = list->items[i].bind.mesh->vertexCount > most ? list->items[i].bind.mesh->vertexCount : most;
    double* distances = snwAllocArray(w->context, (size_t)most + 1, sizeof *distances);
    snwResult result = distances == NULL ? snwFailMemory(w->message) : snw_ok;

    // Frame by frame, all surfaces.
    for (int frame = 0; frame < w->reel->frameCount && result >= 0; ++frame)
    {
        PoseFrame(list, frame);
        for (int i = 0; i < list->count; ++i)
            MeasureItem(
                &(Measuring){.w = w, .item = &list->items[i], .fit = &fits[i], .frame = frame, .distances = distances},
                errors);
        result = snwBakeWriting_Progress(w, 0.8 + 0.2 * (frame + 1) / w->reel->frameCount);
    }

    snwFree(w->context, distances);
    return result;
}
