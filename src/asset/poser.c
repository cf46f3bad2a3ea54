// Animations of an asset at a time: channels sampled as glTF defines it, nodes placed parents first, morph weights.
// And the times at which sampling loses nothing.

#include "asset/poser.h"

#include "base/result.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SNW_STEP  (1.0 / 30) // s, between samples at most
#define SNW_LEAST 1e-4       // s, between samples at least

enum
{
    poser_mostPieces = 20000 // between two keys: more than anyone takes
};

// ---------------------------------------------------------------------------------------------------------------------
// Channels

// Number of the key at or before the time, -1 before the first.
static int KeyBefore(const snwAssetChannel* channel, double time)
{
    int low = -1, high = channel->keyCount;
    while (high - low > 1)
    {
        int middle = low + (high - low) / 2;
        if (channel->times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double Cubic(const double* a, const double* b, int width, int k, double h, double t)
{
    double m0 = h * a[2 * width + k], m1 = h * b[k], p0 = a[width + k], p1 = b[width + k];
    double t2 = t * t, t3 = t2 * t;
    return (2 * t3 - 3 * t2 + 1) * p0 + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * p1 + (t3 - t2) * m1;
}

void snwAssetChannel_Sample(const snwAssetChannel* channel, double time, double* out)
{
    int width = channel->width, stride = channel->interpolation == snw_assetCubic ? 3 * width : width;
    int key = KeyBefore(channel, time), next = key + 1;
    bool inside = key >= 0 && next < channel->keyCount && channel->interpolation != snw_assetStep;

    // Before the first key and behind the last one the value holds.
    key = key < 0 ? 0 : key;
    const double* a = channel->values + (size_t)key * (size_t)stride;
    const double* b = inside ? channel->values + (size_t)next * (size_t)stride : a;
    double h = inside ? channel->times[next] - channel->times[key] : 1;
    double t = inside ? (time - channel->times[key]) / h : 0, turn = 0;
    for (int k = 0; k < width; ++k)
        turn += a[k] * b[k];
    double sign = channel->path == snw_pathRotation && turn < 0 ? -1 : 1;
    for (int k = 0; k < width; ++k)
        out[k] = channel->interpolation == snw_assetCubic ? (inside ? Cubic(a, b, width, k, h, t) : a[width + k])
                                                          : (1 - t) * a[k] + t * sign * b[k];
    if (channel->path != snw_pathRotation || channel->interpolation != snw_assetLinear)
        return;

    // Turns at an even rate: the shortest arc between the two.
    snwQuat p = {a[0], a[1], a[2], a[3]}, q = {sign * b[0], sign * b[1], sign * b[2], sign * b[3]};
    snwVec3 arc = snwQuat_ToRotationVector(snwQuat_Mul(snwQuat_Conjugate(p), q));
    snwQuat r = snwQuat_Mul(p, snwQuat_FromRotationVector(snwVec3_Scale(arc, t)));
    out[0] = r.x, out[1] = r.y, out[2] = r.z, out[3] = r.w;
}

static void UseChannel(const snwAssetChannel* channel, double time, snwAssetPose* pose)
{
    double v[4] = {0, 0, 0, 1};
    if (channel->path == snw_pathMorphs || channel->keyCount < 1)
        return;
    snwAssetChannel_Sample(channel, time, v);
    if (channel->path == snw_pathTranslation)
        pose->translation = (snwVec3){v[0], v[1], v[2]};
    else if (channel->path == snw_pathScale)
        pose->scale = (snwVec3){v[0], v[1], v[2]};
    else
        pose->rotation = snwQuat_Normalize((snwQuat){v[0], v[1], v[2], v[3]});
}

bool snwAssetAnimation_FindTimes(snwContext* context, const snwAssetAnimation* animation, snwTimes* times)
{
    snwTimes all = {0};

    // All keys of all channels, and both ends.
    bool made = snwArray_Push(context, &all, 0.0) && snwArray_Push(context, &all, animation->end);
    for (int i = 0; i < animation->channelCount && made; ++i)
        for (int k = 0; k < animation->channels[i].keyCount && made; ++k)
            made = snwArray_Push(context, &all, animation->channels[i].times[k]);
    if (made)
        snwSortReals(all.data, all.count);
    double last = -1;

    // Keys apart by more than a thirtieth of a second are filled in between; what is nearer than a tenth of a
    // millisecond is one.
    for (int i = 0; i < all.count && made; ++i)
    {
        double time = all.data[i];
        bool end = animation->end - time < SNW_LEAST && time < animation->end;
        if (time < 0 || end || (last >= 0 && time - last < SNW_LEAST))
            continue;
        int pieces = last >= 0 ? (int)ceil(fmin((time - last) / SNW_STEP - 1e-6, poser_mostPieces)) : 1;
        for (int k = 1; k <= pieces && made; ++k)
            made = snwArray_Push(context, times, last >= 0 ? last + (time - last) * k / pieces : time);
        last = time;
    }

    snwArray_Free(context, &all);
    return made;
}

// ---------------------------------------------------------------------------------------------------------------------
// Nodes

static void PlacePoserNode(snwAssetPoser* poser, int node)
{
    const snwAssetNode* from = &poser->asset->nodes[node];
    const snwAssetPose* pose = &poser->poses[node];
    snwAffine local = poser->moved[node] ? snwAffine_FromTrs(pose->translation, pose->rotation, pose->scale)
                                         : from->local;
    poser->places[node] = from->parent >= 0 ? snwAffine_Compose(poser->places[from->parent], local) : local;
}

void snwAssetPoser_Pose(snwAssetPoser* poser, const snwAssetAnimation* animation, double time)
{
    const snwAsset* asset = poser->asset;
    memset(poser->moved, 0, (size_t)asset->nodeCount);
    for (int i = 0; animation != NULL && i < animation->channelCount; ++i)
    {
        int node = animation->channels[i].node;
        if (!poser->moved[node])
            poser->poses[node] = asset->nodes[node].pose;
        poser->moved[node] |= animation->channels[i].path != snw_pathMorphs;
        UseChannel(&animation->channels[i], time, &poser->poses[node]);
    }
    for (int i = 0; i < asset->nodeCount; ++i)
        PlacePoserNode(poser, poser->order[i]);
}

snwResult snwAssetPoser_Make(const snwAsset* asset, snwArena* arena, snwAssetPoser* poser, snwMessage* message)
{
    size_t room = (size_t)asset->nodeCount + 1;
    *poser = (snwAssetPoser){asset, snwArena_Alloc(arena, room, sizeof *poser->order),
        snwArena_Alloc(arena, room, sizeof *poser->poses), snwArena_Alloc(arena, room, 1),
        snwArena_Alloc(arena, room, sizeof *poser->places)};
    int* chain = snwArena_Alloc(arena, room, sizeof *chain);
    if (arena->failed)
        return snwFailMemory(message);
    int count = 0;

    // From each node up to one that is listed, then down: parents first.
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int length = 0;
        for (int node = i; node >= 0 && !poser->moved[node]; node = asset->nodes[node].parent)
            chain[length++] = node, poser->moved[node] = 1;
        while (length > 0)
            poser->order[count++] = chain[--length];
    }

    snwAssetPoser_Pose(poser, NULL, 0);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Morphs

void snwAsset_SampleMorphs(
    const snwAsset* asset, const snwAssetAnimation* animation, int node, double time, double* weights)
{
    const snwAssetNode* from = &asset->nodes[node];
    const snwAssetMesh* mesh = &asset->meshes[from->mesh];
    for (int i = 0; i < mesh->morphCount; ++i)
        weights[i] = from->morphWeights != NULL && i < from->morphCount ? (double)from->morphWeights[i]
                                                                        : mesh->morphs[i].weight;
    for (int i = 0; animation != NULL && i < animation->channelCount; ++i)
    {
        const snwAssetChannel* channel = &animation->channels[i];
        if (channel->node == node && channel->path == snw_pathMorphs && channel->width == mesh->morphCount &&
            channel->keyCount > 0)
            snwAssetChannel_Sample(channel, time, weights);
    }
}
