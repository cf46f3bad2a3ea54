// Flesh as helper joints: for what plays skins but few or no morphs. A skin gets helpers for all its surfaces together;
// surfaces without a skin, and those that share their mesh, get morph targets after all.
//
// Helpers are children of joints and rest on them: in other clips they go where their joint goes.

#include "bake/joint_fit.h"
#include "bake/out_gltf.h"
#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_usualHelpers = 320, // of a skin, at most
    snw_stillFrames = 96,   // of all clips, about, in which helpers rest
    snw_mostStill = 12,     // of one clip
    snw_leastStill = 4
};

typedef struct Group
{
    int skin;
    snwReelSurface* surfaces;
    int surfaceCount;
    snwBind* binds;
    int* firsts; // per surface: its first vertex among all
    snwJointFitDef def;
    snwJointFit fit;
    snwAffine* places;
    float *bases, *targets;
    int* nodes; // of the helpers
} Group;

typedef struct Job
{
    const snwBakeWriting* w;
    snwArena arena;
    snwAssetPoser poser;
    const snwAssetAnimation* animation;
    snwGltfWriter* writer;
    snwBakeErrors errors;
    snwReelSurface* loose; // surfaces that get morph targets
    int looseCount;
    Group* groups;
    int groupCount, groupsDone;
} Job;

// ---------------------------------------------------------------------------------------------------------------------
// Groups

static bool IsSkinned(const snwAsset* asset, const snwReelSurface* surface)
{
    return asset->nodes[surface->node].skin >= 0 && asset->meshes[surface->mesh].weights.starts != NULL;
}

static Group* GroupOf(Job* job, int skin)
{
    for (int i = 0; i < job->groupCount; ++i)
        if (job->groups[i].skin == skin)
            return &job->groups[i];
    Group* group = &job->groups[job->groupCount++];
    group->skin = skin;
    group->surfaces = snwArena_Alloc(&job->arena, (size_t)job->w->reel->surfaceCount, sizeof *group->surfaces);
    return group;
}

// A mesh that two nodes show has one set of weights, and their skins and flesh may differ.
static bool IsShared(const snwAsset* asset, int mesh)
{
    int count = 0;
    for (int i = 0; i < asset->nodeCount; ++i)
        count += asset->nodes[i].mesh == mesh;
    return count > 1;
}

static snwResult Sort(Job* job)
{
    const snwReel* reel = job->w->reel;
    size_t room = (size_t)reel->surfaceCount + 1;
    job->groups = snwArena_Alloc(&job->arena, room, sizeof *job->groups);
    job->loose = snwArena_Alloc(&job->arena, room, sizeof *job->loose);

    // Skinned surfaces by skin, everything else to morph targets.
    for (int i = 0; i < reel->surfaceCount && !job->arena.failed; ++i)
    {
        const snwReelSurface* surface = &reel->surfaces[i];
        if (!IsSkinned(reel->asset, surface) || IsShared(reel->asset, surface->mesh))
            job->loose[job->looseCount++] = *surface;
        else
        {
            Group* group = GroupOf(job, reel->asset->nodes[surface->node].skin);
            if (!job->arena.failed)
                group->surfaces[group->surfaceCount++] = *surface;
        }
    }

    if (job->looseCount > 0)
        snwBakeWriting_Note(
            job->w, "%d surfaces have no skin or share their mesh, and get morph targets", job->looseCount);
    return job->arena.failed ? snwFailMemory(job->w->message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frames

static snwResult GatherWeights(Job* job, Group* group)
{
    const snwAsset* asset = job->w->reel->asset;
    size_t entries = 0, vertices = (size_t)group->def.vertexCount;

    // Weights of all its surfaces in one list.
    for (int i = 0; i < group->surfaceCount; ++i)
    {
        const snwAssetMesh* mesh = &asset->meshes[group->surfaces[i].mesh];
        entries += (size_t)mesh->weights.starts[mesh->vertexCount];
    }

    int* starts = snwArena_Alloc(&job->arena, vertices + 1, sizeof *starts);
    int* bones = snwArena_Alloc(&job->arena, entries + 1, sizeof *bones);
    double* values = snwArena_Alloc(&job->arena, entries + 1, sizeof *values);
    if (job->arena.failed)
        return snwFailMemory(job->w->message);
    int next = 0, vertex = 0;

    // Vertices of one surface after those of another.
    for (int i = 0; i < group->surfaceCount; ++i)
    {
        const snwAssetMesh* mesh = &asset->meshes[group->surfaces[i].mesh];
        for (int v = 0; v < mesh->vertexCount; ++v)
        {
            for (int k = mesh->weights.starts[v]; k < mesh->weights.starts[v + 1]; ++k)
            {
                bones[next] = mesh->weights.bones[k];
                values[next++] = mesh->weights.values[k];
            }
            starts[++vertex] = next;
        }
    }

    group->def.starts = starts;
    group->def.bones = bones;
    group->def.values = values;
    return snw_ok;
}

// Frames of a clip in which helpers rest.
static int StillCount(const snwAsset* asset)
{
    int share = asset->animationCount > 0 ? snw_stillFrames / asset->animationCount : 0;
    return share > snw_mostStill ? snw_mostStill : share < snw_leastStill ? snw_leastStill : share;
}

static snwResult PrepareGroup(Job* job, Group* group)
{
    const snwReel* reel = job->w->reel;
    const snwAssetSkin* skin = &reel->asset->skins[group->skin];
    group->binds = snwArena_Alloc(&job->arena, (size_t)group->surfaceCount, sizeof *group->binds);
    group->firsts = snwArena_Alloc(&job->arena, (size_t)group->surfaceCount, sizeof *group->firsts);
    snwResult result = job->arena.failed ? snwFailMemory(job->w->message) : snw_ok;

    // Where each surface's vertices begin.
    for (int i = 0; i < group->surfaceCount && result >= 0; ++i)
    {
        const snwReelSurface* surface = &group->surfaces[i];
        result = snwBind_Make(reel->asset, surface->node, true, &job->arena, &group->binds[i], job->w->message);
        group->firsts[i] = group->def.vertexCount;
        group->def.vertexCount += reel->asset->meshes[surface->mesh].vertexCount;
    }

    // Frames of the bake, and some of the source's other clips, in which helpers keep still.
    group->def.stillCount = StillCount(reel->asset) * reel->asset->animationCount;
    group->def.frameCount = reel->frameCount + group->def.stillCount;
    size_t frames = (size_t)group->def.frameCount, rows = frames * (size_t)group->def.vertexCount;
    group->places = snwArena_Alloc(&job->arena, frames * (size_t)skin->jointCount, sizeof *group->places);
    group->bases = snwArena_Alloc(&job->arena, rows, 3 * sizeof *group->bases);
    group->targets = snwArena_Alloc(&job->arena, rows, 3 * sizeof *group->targets);
    group->def.places = group->places;
    group->def.bases = group->bases;
    group->def.targets = group->targets;
    group->def.inverseBinds = skin->inverseBinds;
    group->def.jointCount = skin->jointCount;
    if (result >= 0 && job->arena.failed)
        result = snwFailMemory(job->w->message);

    return result < 0 ? result : GatherWeights(job, group);
}

static void PutJointVec(float* out, snwVec3 x)
{
    out[0] = (float)x.x, out[1] = (float)x.y, out[2] = (float)x.z;
}

static snwResult GatherJointsFrame(Job* job, Group* group, int frame, double time)
{
    const snwReel* reel = job->w->reel;
    const snwAssetSkin* skin = &reel->asset->skins[group->skin];
    snwResult result = snw_ok;

    // Where the skin's joints are.
    for (int i = 0; i < skin->jointCount; ++i)
        group->places[(size_t)frame * (size_t)skin->jointCount + (size_t)i] = job->poser.places[skin->joints[i]];

    // Where vertices come from, and where they shall go.
    for (int i = 0; i < group->surfaceCount && result >= 0; ++i)
    {
        snwSkin shown;
        const snwReelSurface* surface = &group->surfaces[i];
        size_t row = (size_t)frame * (size_t)group->def.vertexCount + (size_t)group->firsts[i];

        result = snwBakeWriting_Get(job->w, surface, &shown);
        snwBind_Pose(&group->binds[i], &job->poser, job->animation, time);
        for (int v = 0; v < reel->asset->meshes[surface->mesh].vertexCount && result >= 0; ++v)
        {
            PutJointVec(group->bases + 3 * (row + (size_t)v), group->binds[i].base[v]);
            PutJointVec(group->targets + 3 * (row + (size_t)v), snwReel_Position(reel, surface, &shown, v));
        }
    }

    return result;
}

// The source as it is, between the frames at which a bake is looked at.
static void GatherStill(Job* job, Group* group)
{
    const snwAsset* asset = job->w->reel->asset;
    const snwAssetSkin* skin = &asset->skins[group->skin];
    int count = StillCount(asset);

    // Helpers rest where the source is itself: its own shape is the target.
    for (int s = 0; s < group->def.stillCount; ++s)
    {
        const snwAssetAnimation* animation = &asset->animations[s / count];
        double time = animation->end * (s % count + 0.5) / count;
        size_t frame = (size_t)job->w->reel->frameCount + (size_t)s;

        snwAssetPoser_Pose(&job->poser, animation, time);
        for (int i = 0; i < skin->jointCount; ++i)
            group->places[frame * (size_t)skin->jointCount + (size_t)i] = job->poser.places[skin->joints[i]];
        for (int i = 0; i < group->surfaceCount; ++i)
        {
            snwBind* bind = &group->binds[i];
            size_t row = frame * (size_t)group->def.vertexCount + (size_t)group->firsts[i];

            snwBind_Pose(bind, &job->poser, animation, time);
            for (int v = 0; v < asset->meshes[group->surfaces[i].mesh].vertexCount; ++v)
            {
                PutJointVec(group->bases + 3 * (row + (size_t)v), bind->base[v]);
                PutJointVec(
                    group->targets + 3 * (row + (size_t)v), snwAffine_Apply(snwBind_Blend(bind, v), bind->base[v]));
            }
        }
    }
}

static snwResult GatherGroupFrames(Job* job)
{
    const snwReel* reel = job->w->reel;
    snwResult result = snw_ok;

    // Room first, then each frame is read once for all groups.
    for (int i = 0; i < job->groupCount && result >= 0; ++i)
        result = PrepareGroup(job, &job->groups[i]);
    for (int frame = 0; frame < reel->frameCount && result >= 0; ++frame)
    {
        double time = 0;
        result = reel->read(reel->user, frame, &time, job->w->message);
        if (result >= 0)
            snwAssetPoser_Pose(&job->poser, job->animation, time);
        for (int i = 0; i < job->groupCount && result >= 0; ++i)
            result = GatherJointsFrame(job, &job->groups[i], frame, time);
        if (result >= 0)
            result = snwBakeWriting_Progress(job->w, 0.3 * (frame + 1) / reel->frameCount);
    }

    for (int i = 0; i < job->groupCount && result >= 0; ++i)
        GatherStill(job, &job->groups[i]);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Fits

static snwResult TellJointFit(double share, void* user)
{
    const Job* job = user;
    return snwBakeWriting_Progress(job->w, 0.3 + 0.7 * (job->groupsDone + share) / job->groupCount);
}

static snwResult Fit(Job* job, Group* group)
{
    const snwBakeWriting* w = job->w;
    double scale = w->reel->scale;

    // In the file's units.
    group->def.mostHelpers = w->def->most > 0 ? w->def->most : snw_usualHelpers;
    group->def.influences = w->def->influences > 0 ? w->def->influences : snw_mostInfluences;
    group->def.tolerance = w->def->tolerance / scale;
    group->def.progress = TellJointFit;
    group->def.user = job;
    snwResult result = snwFitJoints(w->context, &job->arena, &group->def, &group->fit, w->message);
    if (result < 0)
        return result;

    // What was reached, in metres.
    const snwJointFit* fit = &group->fit;
    if (scale * fit->maxError > w->def->tolerance)
        snwBakeWriting_Note(w, "%d helper joints come within %.3g mm (%.3g mm in the mean), not %.3g mm",
            fit->helperCount, 1e3 * scale * fit->maxError, 1e3 * scale * fit->rmsError, 1e3 * w->def->tolerance);
    double count = (double)group->def.vertexCount * w->reel->frameCount;
    job->errors.most = fmax(job->errors.most, scale * fit->maxError);
    job->errors.squares += count * scale * scale * fit->rmsError * fit->rmsError;
    job->errors.count += (int64_t)count;
    w->report->targets += fit->helperCount;

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Into the document

static snwResult AddHelperJoints(Job* job, Group* group)
{
    const snwJointFit* fit = &group->fit;
    const snwAssetSkin* skin = &job->w->reel->asset->skins[group->skin];
    snwAffine* inverseBinds = snwArena_Alloc(&job->arena, (size_t)fit->helperCount + 1, sizeof *inverseBinds);
    group->nodes = snwArena_Alloc(&job->arena, (size_t)fit->helperCount + 1, sizeof *group->nodes);
    if (job->arena.failed)
        return snwFailMemory(job->w->message);

    // A node per helper below its joint, with the inverse bind of that joint, shifted to its centre.
    for (int h = 0; h < fit->helperCount; ++h)
    {
        const snwHelperJoint* helper = &fit->helpers[h];
        char name[48];
        snprintf(name, sizeof name, "flesh %d", h + 1);
        snwGltfNodeDef node = snwDefaultGltfNodeDef();
        node.name = name;
        node.parent = skin->joints[helper->parent];
        node.pose.translation = helper->centre;
        group->nodes[h] = snwGltfWriter_AddNode(job->writer, &node);

        snwAffine shift = {snwMat3_Identity(), snwVec3_Negate(helper->centre)};
        inverseBinds[h] = snwAffine_Compose(shift, skin->inverseBinds[helper->parent]);
    }

    snwAssetSkin more = {.joints = group->nodes, .inverseBinds = inverseBinds, .jointCount = fit->helperCount};
    snwGltfWriter_AddJoints(job->writer, group->skin, &more);
    return snwGltfWriter_GetResult(job->writer, job->w->message);
}

typedef struct Sets
{
    uint16_t (*bones)[snw_setSize];
    float (*weights)[snw_setSize];
} Sets;

// One of the two sets of a part's influences; nothing if all of it is zero.
static void SetInfluenceSet(Job* job, int mesh, int part, int set, const Sets* sets)
{
    char name[16];
    int count = job->w->reel->asset->meshes[mesh].parts[part].vertexCount, first = -1, second = -1;
    bool used = set == 0;

    // A set of zeros is left out.
    for (int i = 0; i < count; ++i)
        used = used || sets->weights[i][0] > 0;

    if (used)
    {
        snwGltfData joints = {.values = sets->bones,
            .count = count,
            .type = snw_gltfVec4,
            .component = snw_gltfUshort,
            .use = snw_gltfVertices};
        snwGltfData weights = joints;
        weights.values = sets->weights;
        weights.component = snw_gltfFloat;
        first = snwGltfWriter_AddAccessor(job->writer, &joints);
        second = snwGltfWriter_AddAccessor(job->writer, &weights);
    }

    snprintf(name, sizeof name, "JOINTS_%d", set);
    snwGltfWriter_SetAttribute(job->writer, mesh, part, name, first);
    snprintf(name, sizeof name, "WEIGHTS_%d", set);
    snwGltfWriter_SetAttribute(job->writer, mesh, part, name, second);
}

static void SetPart(Job* job, const Group* group, int surface, int part, const Sets* sets)
{
    int mesh = group->surfaces[surface].mesh;
    const snwAssetPart* range = &job->w->reel->asset->meshes[mesh].parts[part];
    size_t first = (size_t)group->firsts[surface] + (size_t)range->firstVertex;
    if (range->vertexCount == 0)
        return;

    // Sets of four influences; the third one that a source may have goes.
    for (int set = 0; set < snw_mostInfluences / snw_setSize; ++set)
    {
        for (int i = 0; i < range->vertexCount; ++i)
            for (int k = 0; k < snw_setSize; ++k)
            {
                sets->bones[i][k] = (uint16_t)group->fit.bones[first + (size_t)i][set * snw_setSize + k];
                sets->weights[i][k] = group->fit.weights[first + (size_t)i][set * snw_setSize + k];
            }
        SetInfluenceSet(job, mesh, part, set, sets);
    }

    snwGltfWriter_SetAttribute(job->writer, mesh, part, "JOINTS_2", -1);
    snwGltfWriter_SetAttribute(job->writer, mesh, part, "WEIGHTS_2", -1);
}

static void NoteSets(const Job* job, const Group* group)
{
    int many = 0;
    for (int i = 0; i < group->def.vertexCount; ++i)
        many += group->fit.weights[i][snw_setSize] > 0;
    if (many > 0)
        snwBakeWriting_Note(job->w,
            "%d of %d vertices follow more than %d joints (JOINTS_1): for players that read only the first set, say "
            "--influences %d",
            many, group->def.vertexCount, snw_setSize, snw_setSize);
}

static snwResult SetAllWeights(Job* job, const Group* group)
{
    size_t room = (size_t)group->def.vertexCount + 1;
    Sets sets = {
        snwArena_Alloc(&job->arena, room, sizeof *sets.bones), snwArena_Alloc(&job->arena, room, sizeof *sets.weights)};
    if (job->arena.failed)
        return snwFailMemory(job->w->message);
    for (int s = 0; s < group->surfaceCount; ++s)
        for (int part = 0; part < job->w->reel->asset->meshes[group->surfaces[s].mesh].partCount; ++part)
            SetPart(job, group, s, part, &sets);
    NoteSets(job, group);
    return snwGltfWriter_GetResult(job->writer, job->w->message);
}

static void SetKeys(const Job* job, const Group* group, int helper, double* turns, double* shifts)
{
    for (int i = 0; i < job->w->reel->frameCount; ++i)
    {
        snwTransform pose = group->fit.poses[(size_t)i * (size_t)group->def.mostHelpers + (size_t)helper];
        double* turn = turns + 4 * (size_t)i;
        const double* before = i > 0 ? turn - 4 : turn;
        snwQuat q = pose.rotation;
        if (i > 0 && q.x * before[0] + q.y * before[1] + q.z * before[2] + q.w * before[3] < 0)
            q = snwQuat_Scale(q, -1);
        memcpy(turn, (double[]){q.x, q.y, q.z, q.w}, 4 * sizeof *turn);
        memcpy(
            shifts + 3 * (size_t)i, (double[]){pose.position.x, pose.position.y, pose.position.z}, 3 * sizeof *shifts);
    }
}

static snwResult AddHelperMotion(Job* job, const Group* group)
{
    const snwReel* reel = job->w->reel;
    size_t keys = (size_t)reel->frameCount, count = 2 * (size_t)group->fit.helperCount;
    double* times = snwArena_Alloc(&job->arena, keys, sizeof *times);
    snwAssetChannel* channels = snwArena_Alloc(&job->arena, count + 1, sizeof *channels);

    // Keys at every frame: a turn and a shift for each helper.
    for (int i = 0; i < reel->frameCount && times != NULL; ++i)
        times[i] = reel->start + i / reel->rate;
    for (int h = 0; h < group->fit.helperCount && channels != NULL; ++h)
    {
        double* turns = snwArena_Alloc(&job->arena, keys, 4 * sizeof *turns);
        double* shifts = snwArena_Alloc(&job->arena, keys, 3 * sizeof *shifts);
        if (job->arena.failed)
            break;
        SetKeys(job, group, h, turns, shifts);
        snwAssetChannel* c = &channels[2 * (size_t)h];
        c[0] = (snwAssetChannel){group->nodes[h], snw_pathRotation, snw_assetLinear, times, reel->frameCount, 4, turns};
        c[1] = (snwAssetChannel){
            group->nodes[h], snw_pathTranslation, snw_assetLinear, times, reel->frameCount, 3, shifts};
    }

    // Into the clip that is there, or a new one.
    if (job->arena.failed)
        return snwFailMemory(job->w->message);
    snwAssetAnimation animation = {.name = reel->clip, .channels = channels, .channelCount = (int)count};
    if (count > 0)
        snwBakeWriting_AddChannels(job->w, job->writer, &animation);
    return snwGltfWriter_GetResult(job->writer, job->w->message);
}

static snwResult AddGroup(Job* job, Group* group)
{
    snwResult result = Fit(job, group);
    if (result >= 0)
        result = AddHelperJoints(job, group);
    if (result >= 0)
        result = SetAllWeights(job, group);
    return result < 0 ? result : AddHelperMotion(job, group);
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult AddLoose(Job* job)
{
    if (job->looseCount == 0)
        return snw_ok;
    snwReel reel = *job->w->reel;
    reel.surfaces = job->loose;
    reel.surfaceCount = job->looseCount;
    snwBakeWriting w = *job->w;
    w.reel = &reel;
    return snwBakeWriting_AddMorphs(&w, job->writer, &job->errors);
}

static snwResult WriteJoints(Job* job)
{
    const snwReel* reel = job->w->reel;

    // All frames are read at once, for all groups; then group by group, and what has no joints last.
    job->animation = reel->animation >= 0 ? &reel->asset->animations[reel->animation] : NULL;
    snwResult result = snwAssetPoser_Make(reel->asset, &job->arena, &job->poser, job->w->message);
    if (result >= 0)
        result = snwGltfWriter_Open(job->w->context, reel->asset->gltf, &job->writer, job->w->message);
    if (result >= 0)
        result = Sort(job);
    if (result >= 0)
        result = GatherGroupFrames(job);
    for (int i = 0; i < job->groupCount && result >= 0; ++i)
    {
        result = AddGroup(job, &job->groups[i]);
        ++job->groupsDone;
    }

    if (result >= 0)
        result = AddLoose(job);
    return result < 0 ? result : snwBakeWriting_Save(job->w, job->writer, &job->errors);
}

snwResult snwBakeWriting_Joints(const snwBakeWriting* w)
{
    Job job = {.w = w, .arena = {.context = w->context}};
    snwResult result = WriteJoints(&job);
    snwGltfWriter_Close(job.writer);
    snwArena_Free(&job.arena);
    return result;
}
