// The source's document with flesh in it as morph targets.
//
// `glb` keeps the skin: targets are in bind space, few, and the clip keeps its name and gains their weights. Rejected:
// a copy of the clip beside it, for then the file would show no flesh until somebody finds the other clip. `morphs`
// takes the skin off: key frames are targets in the space of the node, for what plays morphs but no skins.

#include "bake/key_fit.h"
#include "bake/offsets.h"
#include "bake/out_gltf.h"
#include "base/context.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_usualModes = 512,
    snw_usualKeys = 4096
};

typedef struct Job
{
    const snwBakeWriting* w;
    snwArena arena;
    snwOffsetsList list;
    snwMorphFit* fits;
    int* firsts; // per surface: number of its first target in its mesh
    snwGltfWriter* writer;
    snwBakeErrors* errors;
    bool keys;  // frames as targets, without skin
    int fitted; // surfaces
} Job;

// ---------------------------------------------------------------------------------------------------------------------
// Targets

static snwResult TellMorphFit(double share, void* user)
{
    const Job* job = user;
    return snwBakeWriting_Progress(job->w, 0.2 + 0.6 * (job->fitted + share) / job->list.count);
}

// Normals of the targets: what fits those of the frames best; those of key frames are the frames' own.
static snwResult FitNormals(Job* job, int index)
{
    snwOffsets* item = &job->list.items[index];
    const snwAssetMesh* mesh = item->bind.mesh;
    snwMorphFit* fit = &job->fits[index];
    size_t width = 3 * (size_t)mesh->vertexCount;

    if (mesh->normals == NULL || fit->targetCount == 0)
        return snw_ok;
    snwNormalTurner* turner = snwMakeNormalTurner(&job->arena, mesh, job->w->message);
    float* change = snwArena_Alloc(&job->arena, width, sizeof *change);
    if (turner == NULL || !snwMorphFit_BeginNormals(fit, &job->arena, mesh->vertexCount))
        return snwFailMemory(job->w->message);
    // A key frame's target is a pose: its normals can be turned directly.
    for (int k = 0; k < fit->targetCount && job->keys; ++k)
        snwNormalTurner_Turn(turner, mesh->positions, fit->targets[k].offsets, fit->targets[k].normals);
    snwResult result = snw_ok;

    // For the others, what changes in every frame is gathered first.
    for (int f = 0; f < job->w->reel->frameCount && !job->keys && result >= 0; ++f)
    {
        snwNormalTurner_Turn(turner, mesh->positions, item->offsets + (size_t)f * width, change);
        snwMorphFit_AddNormals(fit, f, change, mesh->vertexCount);
        result = TellMorphFit(0.9, job);
    }

    if (!job->keys)
        snwMorphFit_EndNormals(fit, mesh->vertexCount);
    return result;
}

static snwResult FitOne(Job* job, int index)
{
    const snwBakeWriting* w = job->w;
    const snwOffsets* item = &job->list.items[index];
    snwMorphFitDef def = {.offsets = item->offsets,
        .stretch = item->stretch,
        .twins = snwOffsets_FindTwins(&job->arena, item, w->reel->frameCount, w->def->tolerance, w->message),
        .frameCount = w->reel->frameCount,
        .vertexCount = item->bind.mesh->vertexCount,
        .tolerance = w->def->tolerance,
        .maxTargets = job->keys ? snw_usualKeys : snw_usualModes,
        .packed = w->def->compress,
        .progress = TellMorphFit,
        .user = job};
    if (def.twins == NULL)
        return snwFailMemory(w->message);
    // The user's limit, but never fewer than two.
    if (w->def->most > 0)
        def.maxTargets = w->def->most < 2 ? 2 : w->def->most;

    // Targets, their normals, then rounding to the numbers of the file.
    snwMorphFit* fit = &job->fits[index];
    snwResult result = job->keys ? snwFitKeys(w->context, &job->arena, &def, fit, w->message)
                                 : snwFitMorphs(w->context, &job->arena, &def, fit, w->message);
    if (result >= 0)
        result = FitNormals(job, index);
    if (result >= 0)
        result = snwRoundMorphs(w->context, &job->arena, &def, fit, w->message);
    if (result < 0)
        return result;
    // What did not come out as asked is told with a figure.
    if (fit->error > def.tolerance)
        snwBakeWriting_Note(w, "'%s': %.3g mm would take more than %d morph targets; they reach %.3g mm",
            item->surface->name, 1e3 * def.tolerance, fit->targetCount, 1e3 * fit->error);
    if (item->flat > 0)
        snwBakeWriting_Note(w, "'%s': the skin squashes %lld vertices of frames flat; flesh cannot show there",
            item->surface->name, (long long)item->flat);
    w->report->targets += fit->targetCount;
    ++job->fitted;

    return result;
}

static const char* NameTarget(Job* job, const snwMorphTarget* target)
{
    char name[48];
    snprintf(name, sizeof name, job->keys ? "frame %d" : "flesh %d", target->number);
    return snwArena_Text(&job->arena, name);
}

static snwResult AddTargets(Job* job, int index)
{
    const snwOffsets* item = &job->list.items[index];
    const snwMorphFit* fit = &job->fits[index];
    snwAssetMorph* morphs = snwArena_Alloc(&job->arena, (size_t)fit->targetCount + 1, sizeof *morphs);
    if (morphs == NULL)
        return snwFailMemory(job->w->message);
    if (fit->targetCount == 0)
        return snw_ok;

    // Targets by name, in the artist's parts.
    for (int t = 0; t < fit->targetCount; ++t)
        morphs[t] = (snwAssetMorph){NameTarget(job, &fit->targets[t]), (const float(*)[3])fit->targets[t].offsets,
            (const float(*)[3])fit->targets[t].normals, 0};
    snwGltfMorphDef def = {.mesh = item->surface->mesh,
        .morphs = morphs,
        .morphCount = fit->targetCount,
        .parts = item->bind.mesh->parts,
        .numbers = fit->numbers};
    job->firsts[index] = snwGltfWriter_AddMorphs(job->writer, &def);

    return snwGltfWriter_GetResult(job->writer, job->w->message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights over time

// Frames, and the keys that the source has for morphs of the node: a smile keeps its own.
static int FindMorphTimes(Job* job, int node, double** times)
{
    const snwAssetAnimation* animation = job->list.animation;
    int room = job->w->reel->frameCount, count = 0;

    // Room for all of them.
    for (int i = 0; animation != NULL && i < animation->channelCount; ++i)
        if (animation->channels[i].node == node && animation->channels[i].path == snw_pathMorphs)
            room += animation->channels[i].keyCount;
    double* all = snwArena_Alloc(&job->arena, (size_t)room, sizeof *all);
    if (all == NULL)
        return 0;
    memcpy(all, job->list.keyTimes, (size_t)job->w->reel->frameCount * sizeof *all);
    count = job->w->reel->frameCount;

    for (int i = 0; animation != NULL && i < animation->channelCount; ++i)
    {
        const snwAssetChannel* channel = &animation->channels[i];
        for (int k = 0; channel->node == node && channel->path == snw_pathMorphs && k < channel->keyCount; ++k)
            all[count++] = channel->times[k];
    }

    // Sorted; what is nearer than floats can tell is one key.
    snwSortReals(all, count);
    int kept = 0;
    for (int i = 0; i < count; ++i)
        if (all[i] >= 0 && (kept == 0 || (float)all[i] > (float)all[kept - 1] + 1e-5f))
            all[kept++] = all[i];
    *times = all;

    return kept;
}

// The weights of a surface's targets at a time, on the line between the frames.
static void SampleWeights(const Job* job, const snwMorphFit* fit, double time, double* out)
{
    const snwReel* reel = job->w->reel;
    double at = fmin(fmax((time - reel->start) * reel->rate, 0), reel->frameCount - 1);
    if (fabs(at - round(at)) < 1e-4)
        at = round(at);
    int frame = (int)at, next = frame + 1 < reel->frameCount ? frame + 1 : frame;
    size_t count = (size_t)fit->targetCount;
    for (size_t t = 0; t < count; ++t)
        out[t] = (1 - (at - frame)) * (double)fit->weights[(size_t)frame * count + t] +
                 (at - frame) * (double)fit->weights[(size_t)next * count + t];
}

static int CountMorphTargets(const Job* job, int mesh)
{
    int count = job->w->reel->asset->meshes[mesh].morphCount;
    for (int i = 0; i < job->list.count; ++i)
        count += job->list.items[i].surface->mesh == mesh ? job->fits[i].targetCount : 0;
    return count;
}

// A node that shows a mesh with new targets of its own, or of another node, has a weight for each of them.
static bool MakeChannel(Job* job, int index, snwAssetChannel* channel)
{
    const snwOffsets* item = &job->list.items[index];
    int node = item->surface->node, width = CountMorphTargets(job, item->surface->mesh);
    double *times = NULL, *values = NULL;
    int keys = FindMorphTimes(job, node, &times);
    if (keys > 0)
        values = snwArena_Alloc(&job->arena, (size_t)keys * (size_t)width + 1, sizeof *values);
    if (values == NULL)
        return false;
    for (int k = 0; k < keys; ++k)
    {
        double* row = values + (size_t)k * (size_t)width;
        snwAsset_SampleMorphs(job->w->reel->asset, job->list.animation, node, times[k], row);
        SampleWeights(job, &job->fits[index], times[k], row + job->firsts[index]);
    }
    *channel = (snwAssetChannel){node, snw_pathMorphs, snw_assetLinear, times, keys, width, values};
    return true;
}

static snwResult AddMorphWeights(Job* job)
{
    snwAssetChannel* channels = snwArena_Alloc(&job->arena, (size_t)job->list.count + 1, sizeof *channels);
    snwAssetAnimation animation = {.name = job->w->reel->clip, .channels = channels};
    if (channels == NULL)
        return snwFailMemory(job->w->message);
    for (int i = 0; i < job->list.count; ++i)
        if (job->fits[i].targetCount > 0 && !MakeChannel(job, i, &channels[animation.channelCount++]))
            return snwFailMemory(job->w->message);
    if (animation.channelCount > 0)
        snwBakeWriting_AddChannels(job->w, job->writer, &animation);
    for (int i = 0; i < animation.channelCount; ++i)
        snwGltfWriter_HoldMorphs(job->writer, channels[i].node, -1);
    return snwGltfWriter_GetResult(job->writer, job->w->message);
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult WriteMorphs(Job* job)
{
    const snwBakeWriting* w = job->w;
    snwResult result = snwGatherOffsets(w, !job->keys, &job->arena, &job->list);
    job->fits = snwArena_Alloc(&job->arena, (size_t)w->reel->surfaceCount + 1, sizeof *job->fits);
    job->firsts = snwArena_Alloc(&job->arena, (size_t)w->reel->surfaceCount + 1, sizeof *job->firsts);
    if (result >= 0 && job->arena.failed)
        result = snwFailMemory(w->message);

    // Surface by surface; key frames play without the skin.
    for (int i = 0; i < job->list.count && result >= 0; ++i)
    {
        result = FitOne(job, i);
        if (result >= 0 && job->keys)
            snwGltfWriter_RemoveSkin(job->writer, job->list.items[i].surface->node);
        if (result >= 0)
            result = AddTargets(job, i);
    }

    // Weights of all, then errors as they play.
    if (result >= 0)
        result = AddMorphWeights(job);
    return result < 0 ? result : snwMeasureMorphs(w, &job->list, job->fits, job->errors);
}

snwResult snwBakeWriting_AddMorphs(const snwBakeWriting* w, snwGltfWriter* writer, snwBakeErrors* errors)
{
    Job job = {.w = w,
        .arena = {.context = w->context},
        .writer = writer,
        .errors = errors,
        .keys = w->def->format == snw_bakeMorphs};
    snwResult result = WriteMorphs(&job);
    snwArena_Free(&job.arena);
    return result;
}

void snwBakeWriting_AddChannels(const snwBakeWriting* w, snwGltfWriter* writer, const snwAssetAnimation* channels)
{
    int own = w->reel->asset->animationCount; // where a new one goes
    if (w->reel->animation >= 0)
        snwGltfWriter_ExtendAnimation(writer, w->reel->animation, channels);
    else if (snwGltfWriter_Count(writer, "animations") > own)
        snwGltfWriter_ExtendAnimation(writer, own, channels);
    else
        snwGltfWriter_AddAnimation(writer, channels);
}

snwResult snwBakeWriting_Save(const snwBakeWriting* w, snwGltfWriter* writer, const snwBakeErrors* errors)
{
    snwGltfSave save = snwDefaultGltfSave(w->def->path);
    save.overwrite = w->def->overwrite;
    snwAssetFolder folder = snwAssetFolder_Of(w->reel->path != NULL ? w->reel->path : "");
    // Pictures go into the file, so that it can be moved.
    if (w->reel->path != NULL && w->reel->path[0] != 0)
        w->report->sourceBytes = (double)(w->reel->asset->gltf->sourceBytes +
                                          snwGltfWriter_EmbedImages(writer, &folder));
    w->report->maxError = errors->most;
    w->report->rmsError = errors->count > 0 ? sqrt(errors->squares / (double)errors->count) : 0;
    snwGltfWriter_Pack(writer, w->def->compress);
    snwResult result = snwGltfWriter_Save(writer, &save, w->message);
    if (result < 0)
        return result;
    snwBakeWriting_AddFile(w, save.path);

    // How the file compares with its source.
    snwBakeOutputReport* report = w->report;
    double times = report->sourceBytes > 0 ? report->bytes[0] / report->sourceBytes : 0;
    if (report->targets > 0 && times > 0)
        snwBakeWriting_Note(w, "%d %s carry %d frames, within %.2g mm of the flesh: %.2g times the source's bytes%s",
            report->targets, w->def->format == snw_bakeJoints ? "helper joints" : "morph targets", w->reel->frameCount,
            1e3 * report->maxError, times, times > 3 ? "; a larger --tolerance makes it smaller" : "");

    return result;
}

snwResult snwBakeWriting_Gltf(const snwBakeWriting* w)
{
    snwGltfWriter* writer = NULL;
    snwBakeErrors errors = {0};
    snwResult result = snwGltfWriter_Open(w->context, w->reel->asset->gltf, &writer, w->message);
    if (result >= 0)
        result = snwBakeWriting_AddMorphs(w, writer, &errors);
    if (result >= 0)
        result = snwBakeWriting_Save(w, writer, &errors);
    snwGltfWriter_Close(writer);
    return result;
}
