// Animations of the file as motions of the character.
//
// Whatever the nodes do - helpers above and between the bones, other pivots, scale - shows in where the joints are, so
// that is what is taken: for each bone the rigid part of what takes its rest pose to now, relative to the bone above
// it, at every key of the file and at least thirty times a second.

#include "prepare/parts.h"

#include "base/array.h"
#include "math/eigen.h"
#include "sim/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNW_STEP     (1.0 / 30) // s, between keys at most
#define SNW_LEAST    1e-4       // s, between keys at least
#define SNW_SAME     2e-3       // rad, and of the size: the end of a loop is its beginning
#define SNW_NO_TURN  1e-6       // rad
#define SNW_NO_SHIFT 1e-7       // of the size

enum
{
    snw_maxMotionKeys = 20000
};

typedef snwArray(double) Times;

// ---------------------------------------------------------------------------------------------------------------------
// Channels of glTF

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

static void SampleChannel(const snwAssetChannel* channel, double time, double out[4])
{
    int width = channel->width, stride = channel->interpolation == snw_assetCubic ? 3 * width : width;
    int key = KeyBefore(channel, time), next = key + 1;
    bool inside = key >= 0 && next < channel->keyCount && channel->interpolation != snw_assetStep;
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
    SampleChannel(channel, time, v);
    if (channel->path == snw_pathTranslation)
        pose->translation = (snwVec3){v[0], v[1], v[2]};
    else if (channel->path == snw_pathScale)
        pose->scale = (snwVec3){v[0], v[1], v[2]};
    else
        pose->rotation = snwQuat_Normalize((snwQuat){v[0], v[1], v[2], v[3]});
}

// Nodes in an order in which parents come first, and room for their poses.
typedef struct Poser
{
    int* order;
    snwAssetPose* poses;
    uint8_t* moved;
    snwAffine* places; // in the unit of the file
} Poser;

static snwResult MakePoser(snwPreparer* p, Poser* poser)
{
    const snwAsset* asset = p->asset;
    int64_t room = asset->nodeCount + 1;
    poser->order = snwPreparer_Alloc(p, room, sizeof *poser->order);
    poser->poses = snwPreparer_Alloc(p, room, sizeof *poser->poses);
    poser->moved = snwPreparer_Alloc(p, room, 1);
    poser->places = snwPreparer_Alloc(p, room, sizeof *poser->places);
    int* chain = snwPreparer_Alloc(p, room, sizeof *chain);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    int count = 0;
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int length = 0;
        for (int node = i; node >= 0 && !poser->moved[node]; node = asset->nodes[node].parent)
            chain[length++] = node, poser->moved[node] = 1;
        while (length > 0)
            poser->order[count++] = chain[--length];
    }
    return snw_ok;
}

static void PoseNodes(const snwPreparer* p, const snwAssetAnimation* animation, double time, const Poser* poser)
{
    const snwAsset* asset = p->asset;
    memset(poser->moved, 0, (size_t)asset->nodeCount);
    for (int i = 0; i < animation->channelCount; ++i)
    {
        int node = animation->channels[i].node;
        if (!poser->moved[node])
            poser->poses[node] = asset->nodes[node].pose;
        poser->moved[node] = 1;
        UseChannel(&animation->channels[i], time, &poser->poses[node]);
    }
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int node = poser->order[i], parent = asset->nodes[node].parent;
        const snwAssetPose* pose = &poser->poses[node];
        snwAffine local = poser->moved[node] ? snwAffine_FromTrs(pose->translation, pose->rotation, pose->scale)
                                             : asset->nodes[node].local;
        poser->places[node] = parent >= 0 ? snwAffine_Compose(poser->places[parent], local) : local;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// What takes rest to now

static snwTransform Rigid(snwAffine a, snwVec3 pivot)
{
    snwTransform result = {.rotation = snwQuat_FromMat3(snwPolar3_Compute(a.linear).rotation)};
    result.position = snwVec3_Sub(snwAffine_Apply(a, pivot), snwQuat_Rotate(result.rotation, pivot));
    return result;
}

static void PoseBones(const snwPreparer* p, const snwAffine* places, snwTransform* bones)
{
    for (int i = 0; i < p->boneCount; ++i)
    {
        const snwRigBone* bone = &p->rig[p->boneRig[i]];
        snwAffine inverse, now = places[bone->node];
        for (int k = 0; k < 9; ++k)
            now.linear.m[k / 3][k % 3] *= p->scale;
        now.translation = snwVec3_Scale(now.translation, p->scale);
        bones[i] = snwAffine_Inverse(bone->bind, &inverse) ? Rigid(snwAffine_Compose(now, inverse), bone->head)
                                                           : snwTransform_Identity();
    }
}

// The key of a track: relative to the parent, about the head.
static snwTransform Local(const snwPreparer* p, const snwTransform* bones, int bone)
{
    int parent = p->bones[bone].parent;
    snwTransform local = parent >= 0 ? snwTransform_Compose(snwTransform_Inverse(bones[parent]), bones[bone])
                                     : bones[bone];
    snwVec3 head = p->bones[bone].head;
    local.position = snwVec3_Sub(snwTransform_Apply(local, head), head);
    return local;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tracks

typedef struct Sampling
{
    snwPreparer* preparer;
    snwTransform* keys; // [time][bone]
    const double* times;
    int count;
    const char* name;
} Sampling;

static bool Moves(const Sampling* s, int bone)
{
    const snwPreparer* p = s->preparer;
    for (int i = 0; i < s->count; ++i)
    {
        const snwTransform* key = &s->keys[(size_t)i * (size_t)p->boneCount + (size_t)bone];
        if (snwQuat_Angle(key->rotation, snwTransform_Identity().rotation) > SNW_NO_TURN ||
            snwVec3_Length(key->position) > SNW_NO_SHIFT * p->size)
            return true;
    }
    return false;
}

static bool EndsWhereItBegins(const Sampling* s)
{
    const snwPreparer* p = s->preparer;
    for (int b = 0; b < p->boneCount; ++b)
    {
        const snwTransform *first = &s->keys[b],
                           *last = &s->keys[(size_t)(s->count - 1) * (size_t)p->boneCount + (size_t)b];
        if (snwQuat_Angle(first->rotation, last->rotation) > SNW_SAME ||
            snwVec3_Distance(first->position, last->position) > SNW_SAME * p->size)
            return false;
    }
    return true;
}

static const char* MotionName(snwPreparer* p, const char* name)
{
    char base[SNW_MAX_NAME - 15], text[SNW_MAX_NAME + 1];
    snprintf(base, sizeof base, "%.100s", name);
    if (base[0] == 0)
        snprintf(base, sizeof base, "motion");
    snprintf(text, sizeof text, "%s", base);
    for (int i = 2;; ++i)
    {
        bool taken = false;
        for (int k = 0; k < p->motionCount; ++k)
            taken = taken || strcmp(p->motions[k].name, text) == 0;
        if (!taken)
            return snwArena_Text(&p->arena, text);
        snprintf(text, sizeof text, "%s.%d", base, i);
    }
}

static bool MakeTrack(const Sampling* s, bool loop, int bone, snwTrackDef* track)
{
    snwPreparer* p = s->preparer;
    snwKey* keys = snwPreparer_Alloc(p, s->count, sizeof *keys);
    if (keys == NULL)
        return false;
    for (int i = 0; i < s->count; ++i)
        keys[i] = (snwKey){s->times[i], s->keys[(size_t)i * (size_t)p->boneCount + (size_t)bone]};
    if (loop)
        keys[s->count - 1].transform = keys[0].transform;
    *track = (snwTrackDef){bone, keys, s->count};
    return true;
}

static snwResult AddMotion(Sampling* s)
{
    snwPreparer* p = s->preparer;
    snwMotionSetting setting;
    snwResult result = snwPrepareSettings_Motion(&p->settings, s->name, &setting, p->message);
    if (result < 0 || !setting.use)
        return result;
    snwTrackDef* tracks = snwPreparer_Alloc(p, p->boneCount + 1, sizeof *tracks);
    bool loop = setting.loop == 1 || (setting.loop == 0 && EndsWhereItBegins(s));
    int count = 0;
    for (int b = 0; b < p->boneCount && !p->arena.failed; ++b)
        if (Moves(s, b))
            count += MakeTrack(s, loop, b, &tracks[count]);
    const char* name = MotionName(p, s->name);
    if (p->arena.failed)
        return snwFailMemory(p->message);
    if (count == 0)
    {
        snwPreparer_Note(p, "animation '%s' moves no bone and was left out", s->name);
        return snw_ok;
    }
    p->motions[p->motionCount++] = (snwMotionDef){
        .name = name, .duration = s->times[s->count - 1], .loop = loop, .tracks = tracks, .trackCount = count};
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations of glTF

static int CompareReals(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static bool PushTime(snwContext* context, Times* times, double time)
{
    return snwArray_Push(context, times, time);
}

// Every key of the file, none too near to each other, and no gap too wide.
static bool FindTimes(snwContext* context, const snwAssetAnimation* animation, Times* times)
{
    Times all = {0};
    bool made = PushTime(context, &all, 0) && PushTime(context, &all, animation->end);
    for (int i = 0; i < animation->channelCount && made; ++i)
        for (int k = 0; k < animation->channels[i].keyCount && made; ++k)
            made = PushTime(context, &all, animation->channels[i].times[k]);
    if (made)
        qsort(all.data, (size_t)all.count, sizeof *all.data, CompareReals);
    double last = -1;
    for (int i = 0; i < all.count && made; ++i)
    {
        double time = all.data[i];
        bool end = animation->end - time < SNW_LEAST && time < animation->end;
        if (time < 0 || end || (last >= 0 && time - last < SNW_LEAST))
            continue;
        int pieces = last >= 0 ? (int)ceil(fmin((time - last) / SNW_STEP - 1e-6, snw_maxMotionKeys)) : 1;
        for (int k = 1; k <= pieces && made; ++k)
            made = PushTime(context, times, last >= 0 ? last + (time - last) * k / pieces : time);
        last = time;
    }
    snwArray_Free(context, &all);
    return made;
}

static snwResult SampleAnimation(
    snwPreparer* p, const snwAssetAnimation* animation, const Poser* poser, const Times* times)
{
    size_t bones = (size_t)p->boneCount;
    Sampling s = {p, snwAllocArray(p->context, (size_t)times->count * bones + 1, sizeof *s.keys), times->data,
        times->count, animation->name};
    snwTransform* now = snwAllocArray(p->context, bones + 1, sizeof *now);
    bool made = s.keys != NULL && now != NULL;
    for (int i = 0; i < times->count && made; ++i)
    {
        PoseNodes(p, animation, times->data[i], poser);
        PoseBones(p, poser->places, now);
        for (int b = 0; b < p->boneCount; ++b)
            s.keys[(size_t)i * bones + (size_t)b] = Local(p, now, b);
    }
    snwResult result = made ? AddMotion(&s) : snwFailMemory(p->message);
    snwFree(p->context, now);
    snwFree(p->context, s.keys);
    return result;
}

static snwResult TakeAnimation(snwPreparer* p, const snwAssetAnimation* animation, const Poser* poser)
{
    Times times = {0};
    if (!(animation->end > SNW_LEAST) || animation->end > SNW_MAX_MOTION)
    {
        snwPreparer_Note(p, "animation '%s' is %g s long and was left out", animation->name, animation->end);
        return snw_ok;
    }
    bool made = FindTimes(p->context, animation, &times);
    snwResult result = snw_ok;
    if (!made)
        result = snwFailMemory(p->message);
    else if (times.count > snw_maxMotionKeys)
        snwPreparer_Note(
            p, "animation '%s' has more than %d keys and was left out", animation->name, snw_maxMotionKeys);
    else
        result = SampleAnimation(p, animation, poser, &times);
    snwArray_Free(p->context, &times);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Motion of handles

static snwResult TakeHandleMotion(snwPreparer* p)
{
    const snwAssetHandleMotion* source = &p->asset->handleMotion;
    size_t bones = (size_t)p->boneCount;
    int count = source->frameCount < snw_maxMotionKeys ? source->frameCount : snw_maxMotionKeys;
    bool seconds = p->asset->flesh.timeStep > 0;
    Sampling s = {
        p, snwPreparer_Alloc(p, (int64_t)count * p->boneCount + 1, sizeof *s.keys), NULL, count, p->asset->name};
    double* times = snwPreparer_Alloc(p, count + 1, sizeof *times);
    snwTransform* now = snwPreparer_Alloc(p, p->boneCount + 1, sizeof *now);
    if (s.keys == NULL || times == NULL || now == NULL)
        return snwFailMemory(p->message);
    for (int i = 0; i < count; ++i)
    {
        times[i] = (source->times[i] - source->times[0]) * (seconds ? 1 : SNW_STEP);
        for (int b = 0; b < p->boneCount; ++b)
        {
            now[b] = source->transforms[(size_t)i * (size_t)source->handleCount + (size_t)p->rig[p->boneRig[b]].column];
            now[b].position = snwVec3_Scale(now[b].position, p->scale);
        }
        for (int b = 0; b < p->boneCount; ++b)
            s.keys[(size_t)i * bones + (size_t)b] = Local(p, now, b);
    }
    s.times = times;
    if (!seconds)
        snwPreparer_Note(p, "its motion has frames without a length: 30 per second are taken");
    return times[count - 1] > SNW_LEAST ? AddMotion(&s) : snw_ok;
}

static const char* AnimationName(int index, const void* user)
{
    return ((const snwAsset*)user)->animations[index].name;
}

snwResult snwPreparer_MakeMotions(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    snwResult result = snw_ok;
    p->motions = snwPreparer_Alloc(p, asset->animationCount + 2, sizeof *p->motions);
    if (p->motions == NULL)
        return snwFailMemory(p->message);
    if (asset->animationCount > 0)
        result = snwPrepareSettings_CheckNames(
            &p->settings, "motions", asset->animationCount, AnimationName, asset, p->message);
    bool nodes = p->boneCount > 0 && p->rig[p->boneRig[0]].node >= 0;
    Poser poser;
    if (result >= 0 && nodes)
        result = MakePoser(p, &poser);
    for (int i = 0; i < asset->animationCount && result >= 0 && nodes; ++i)
        result = TakeAnimation(p, &asset->animations[i], &poser);
    if (result >= 0 && !nodes && p->boneCount > 0 && asset->handleMotion.frameCount > 1)
        result = TakeHandleMotion(p);
    return result;
}
