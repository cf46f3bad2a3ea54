// Animations of the file as motions of the character.
//
// Whatever the nodes do - helpers above and between the bones, other pivots, scale - shows in where the joints are, so
// that is what is taken: for each bone the rigid part of what takes its rest pose to now, relative to the bone above
// it, at every key of the file and at least thirty times a second.

#include "prepare/parts.h"

#include "asset/poser.h"
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
#define SNW_CUT      0.5        // of the size, from one sample to the next: a jump
#define SNW_EDGE     2e-6       // s, between the keys of its edge
#define SNW_NO_TURN  1e-6       // rad
#define SNW_NO_SHIFT 1e-7       // of the size

enum
{
    snw_maxMotionKeys = 20000,
    snw_noAnimation = -2,
};

// ---------------------------------------------------------------------------------------------------------------------
// What takes rest to now

static snwTransform Rigid(snwAffine a, snwVec3 pivot)
{
    snwTransform result = {.rotation = snwQuat_FromMat3(snwPolar3_Compute(a.linear).rotation)};
    result.position = snwVec3_Sub(snwAffine_Apply(a, pivot), snwQuat_Rotate(result.rotation, pivot));
    return result;
}

static void PoseSampledBones(const snwPreparer* p, const snwAffine* places, snwTransform* bones)
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
    int animation;              // of the asset; -1: the cache
    snwVertexTrackDef vertices; // what it does to the body without bones
} Sampling;

static bool MovesBone(const Sampling* s, int bone)
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
    size_t n = (size_t)p->body.vertexCount, last = (size_t)(s->count - 1) * n;
    for (size_t i = 0; i < 3 * n && s->vertices.sampleCount > 0; ++i)
        if (fabs((double)(s->vertices.offsets[i / 3][i % 3] - s->vertices.offsets[last + i / 3][i % 3])) >
            SNW_SAME * p->size)
            return false;
    for (int b = 0; b < p->boneCount; ++b)
    {
        const snwTransform *first = &s->keys[b],
                           *end = &s->keys[(size_t)(s->count - 1) * (size_t)p->boneCount + (size_t)b];
        if (snwQuat_Angle(first->rotation, end->rotation) > SNW_SAME ||
            snwVec3_Distance(first->position, end->position) > SNW_SAME * p->size)
            return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Cuts

// Does what leads all others jump from this sample to the next? Nothing alive is that fast.
static bool IsCut(const Sampling* s, int i)
{
    const snwPreparer* p = s->preparer;
    double way = 0.0;
    for (int b = 0; b < p->boneCount; ++b)
    {
        const snwTransform* now = &s->keys[(size_t)i * (size_t)p->boneCount + (size_t)b];
        if (p->bones[b].parent < 0)
            way = fmax(way, snwVec3_Distance(now->position, now[p->boneCount].position));
    }
    return way > SNW_CUT * p->size && s->times[i + 1] - s->times[i] < 1.5 * SNW_STEP;
}

// Where a bone would be at the next sample if it went on as it came.
static snwTransform ExtrapolateBone(const Sampling* s, int i, int bone)
{
    size_t bones = (size_t)s->preparer->boneCount, at = (size_t)i * bones + (size_t)bone;
    if (i == 0 || IsCut(s, i - 1))
        return s->keys[at];
    const snwTransform *now = &s->keys[at], *before = &s->keys[at - bones];
    double share = (s->times[i + 1] - s->times[i]) / (s->times[i] - s->times[i - 1]);
    snwQuat turn = snwQuat_Mul(snwQuat_Conjugate(before->rotation), now->rotation);
    snwVec3 more = snwVec3_Scale(snwQuat_ToRotationVector(turn), share);
    return (snwTransform){snwVec3_Lerp(before->position, now->position, 1.0 + share),
        snwQuat_Mul(now->rotation, snwQuat_FromRotationVector(more))};
}

// A spline swings far out around a jump. So it becomes an edge: three keys within microseconds before it, where the
// bones would be without it, and three after it.
static bool MakeSteepEdges(Sampling* s)
{
    snwPreparer* p = s->preparer;
    size_t bones = (size_t)p->boneCount;
    int cuts = 0, at = 0;

    // How many jumps: each adds five keys.
    for (int i = 0; i + 1 < s->count; ++i)
        cuts += IsCut(s, i);
    double* times = cuts > 0 ? snwPreparer_Alloc(p, s->count + 5 * (int64_t)cuts, sizeof *times) : NULL;
    snwTransform* keys = cuts > 0 ? snwPreparer_Alloc(p, (s->count + 5 * (int64_t)cuts) * p->boneCount, sizeof *keys)
                                  : NULL;
    if (times == NULL || keys == NULL)
        return cuts == 0;

    for (int i = 0; i < s->count; ++i)
    {
        bool cut = i > 0 && IsCut(s, i - 1);
        // Three keys where the bones would have gone on to, then three where they are.
        for (int k = cut ? -5 : 0; k <= 0; ++k, ++at)
        {
            times[at] = s->times[i] + k * SNW_EDGE;
            for (size_t b = 0; b < bones; ++b)
                keys[(size_t)at * bones + b] = k < -2 ? ExtrapolateBone(s, i - 1, (int)b)
                                                      : s->keys[(size_t)i * bones + b];
        }
    }

    snwPreparer_Note(p, "animation '%s' jumps %d time%s: flesh goes along", s->name, cuts, cuts == 1 ? "" : "s");
    s->times = times;
    s->keys = keys;
    s->count = at;

    return true;
}

// A loop that is asked for but does not close begins anew where it began: an edge at its end.
static bool MakeLastEdge(Sampling* s)
{
    snwPreparer* p = s->preparer;
    size_t bones = (size_t)p->boneCount, last = (size_t)(s->count - 1);
    double* times = snwPreparer_Alloc(p, s->count + 5, sizeof *times);
    snwTransform* keys = snwPreparer_Alloc(p, ((int64_t)s->count + 5) * p->boneCount, sizeof *keys);

    if (times == NULL || keys == NULL || s->keys == NULL || s->times == NULL)
        return false;

    // All samples but the last, then six in its place: three at the end, three at the beginning.
    memcpy(times, s->times, last * sizeof *times);
    memcpy(keys, s->keys, last * bones * sizeof *keys);
    for (size_t k = 0; k < 6; ++k)
    {
        times[last + k] = s->times[last] - (double)(5 - k) * SNW_EDGE;
        memcpy(keys + (last + k) * bones, k < 3 ? s->keys + last * bones : s->keys, bones * sizeof *keys);
    }

    snwPreparer_Note(p, "'%s' does not end where it begins: as a loop it jumps there", s->name);
    s->times = times;
    s->keys = keys;
    s->count += 5;

    return true;
}

static const char* MakeMotionName(snwPreparer* p, const char* name)
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

static void CloseLoop(const Sampling* s)
{
    size_t n = (size_t)s->preparer->body.vertexCount;
    float(*offsets)[3] = (float(*)[3])s->vertices.offsets; // our own
    memcpy(offsets + (size_t)(s->count - 1) * n, offsets, n * sizeof *offsets);
}

static snwResult AddSampledMotion(Sampling* s)
{
    snwPreparer* p = s->preparer;
    snwMotionSetting setting;
    snwResult result = snwPrepareSettings_Motion(&p->settings, s->name, &setting, p->message);
    if (result < 0 || !setting.use)
        return result;

    // Edges first, as they add samples; shapes use the same times.
    snwTrackDef* tracks = snwPreparer_Alloc(p, p->boneCount + 1, sizeof *tracks);
    if (setting.loop == 1 && s->animation >= 0 && !EndsWhereItBegins(s) && !MakeLastEdge(s))
        return snwFailMemory(p->message);
    result = snwPreparer_ShapeMotion(p, s->animation, s->times, s->count, &s->vertices);
    if (result < 0)
        return result;

    // A loop if it is asked for, or closes by itself.
    bool loop = setting.loop == 1 || (setting.loop == 0 && EndsWhereItBegins(s));
    int count = 0;
    for (int b = 0; b < p->boneCount && !p->arena.failed; ++b)
        if (MovesBone(s, b))
            count += MakeTrack(s, loop, b, &tracks[count]);
    const char* name = MakeMotionName(p, s->name);
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // Neither bones nor vertices move.
    if (count == 0 && s->vertices.sampleCount == 0)
    {
        snwPreparer_Note(p, "animation '%s' moves no bone and was left out", s->name);
        return snw_ok;
    }

    if (loop && s->vertices.sampleCount > 0)
        CloseLoop(s);
    p->motionShapes[p->motionCount] = s->animation;
    p->motions[p->motionCount++] = (snwMotionDef){.name = name,
        .duration = s->times[s->count - 1],
        .loop = loop,
        .tracks = tracks,
        .trackCount = count,
        .vertices = s->vertices};

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Animations of glTF

static snwResult SampleAnimation(
    snwPreparer* p, const snwAssetAnimation* animation, snwAssetPoser* poser, const snwTimes* times)
{
    size_t bones = (size_t)p->boneCount;
    Sampling s = {.preparer = p,
        .keys = snwAllocArray(p->context, (size_t)times->count * bones + 1, sizeof *s.keys),
        .times = times->data,
        .count = times->count,
        .name = animation->name,
        .animation = (int)(animation - p->asset->animations)};
    snwTransform* now = snwAllocArray(p->context, bones + 1, sizeof *now);
    bool made = s.keys != NULL && now != NULL;

    // The file's nodes are posed, then bones follow from where their joints are.
    for (int i = 0; i < times->count && made; ++i)
    {
        snwAssetPoser_Pose(poser, animation, times->data[i]);
        PoseSampledBones(p, poser->places, now);
        for (int b = 0; b < p->boneCount; ++b)
            s.keys[(size_t)i * bones + (size_t)b] = Local(p, now, b);
    }

    // MakeSteepEdges may put others in their place.
    snwTransform* sampled = s.keys;
    snwResult result = made && MakeSteepEdges(&s) ? AddSampledMotion(&s) : snwFailMemory(p->message);
    snwFree(p->context, now);
    snwFree(p->context, sampled);

    return result;
}

static snwResult TakeAnimation(snwPreparer* p, const snwAssetAnimation* animation, snwAssetPoser* poser)
{
    snwTimes times = {0};

    // Too short for a motion, or too long to be one.
    if (!(animation->end > SNW_LEAST) || animation->end > SNW_MAX_MOTION)
    {
        snwPreparer_Note(p, "animation '%s' is %g s long and was left out", animation->name, animation->end);
        return snw_ok;
    }

    bool made = snwAssetAnimation_FindTimes(p->context, animation, &times);
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

    Sampling s = {.preparer = p,
        .keys = snwPreparer_Alloc(p, (int64_t)count * p->boneCount + 1, sizeof *s.keys),
        .count = count,
        .name = p->asset->name,
        .animation = snw_noAnimation};
    double* times = snwPreparer_Alloc(p, count + 1, sizeof *times);
    snwTransform* now = snwPreparer_Alloc(p, p->boneCount + 1, sizeof *now);
    if (s.keys == NULL || times == NULL || now == NULL)
        return snwFailMemory(p->message);

    // Frames have numbers, not always seconds; places are in the file's units.
    for (int i = 0; i < count; ++i)
    {
        times[i] = (source->times[i] - source->times[0]) * (seconds ? 1 : SNW_STEP);
        for (int b = 0; b < p->boneCount; ++b)
        {
            now[b] = source->transforms[(size_t)i * (size_t)source->handleCount + (size_t)p->rig[p->boneRig[b]].column];
            now[b].position = snwVec3_Scale(now[b].position, p->scale);
        }

        // Every bone relative to its parent.
        for (int b = 0; b < p->boneCount; ++b)
            s.keys[(size_t)i * bones + (size_t)b] = Local(p, now, b);
    }

    s.times = times;
    if (!seconds)
        snwPreparer_Note(p, "its motion has frames without a length: 30 per second are taken");
    return times[count - 1] > SNW_LEAST ? AddSampledMotion(&s) : snw_ok;
}

// The motion of a cache moves the surface and all within; bones stay at rest.
static snwResult TakeCache(snwPreparer* p)
{
    const snwAssetCache* cache = &p->cache->cache;
    int count = cache->frameCount < snw_maxMotionKeys ? cache->frameCount : snw_maxMotionKeys;
    bool frames = p->cache->format == snw_assetPc2;
    double* times = snwPreparer_Alloc(p, count, sizeof *times);

    Sampling s = {.preparer = p,
        .keys = snwPreparer_Alloc(p, (int64_t)count * p->boneCount + 1, sizeof *s.keys),
        .times = times,
        .count = count,
        .name = p->cache->name,
        .animation = -1};
    if (s.keys == NULL || times == NULL)
        return snwFailMemory(p->message);

    // The bones are at rest in all frames.
    for (int i = 0; i < count * p->boneCount; ++i)
        s.keys[i] = snwTransform_Identity();
    double rate = p->def->cacheRate > 0 ? p->def->cacheRate : 24.0;

    // Frames of PC2 have no length: the command line, or 24 per second, says it.
    for (int i = 0; i < count; ++i)
        times[i] = (cache->times[i] - cache->times[0]) / (frames ? rate : 1.0);
    for (int i = 1; i < count; ++i)
        if (!(times[i] - times[i - 1] >= SNW_LEAST))
            return snwFail(p->message, snw_errorInput, "export it again", "its frames do not rise in time");
    if (frames && p->def->cacheRate <= 0)
        snwPreparer_Note(p, "the cache has frames without a length: 24 per second are taken");

    return AddSampledMotion(&s);
}

static bool HasMorphs(const snwAssetAnimation* animation)
{
    bool has = false;
    for (int i = 0; i < animation->channelCount; ++i)
        has = has || animation->channels[i].path == snw_pathMorphs;
    return has;
}

static const char* AnimationName(int index, const void* user)
{
    return ((const snwAsset*)user)->animations[index].name;
}

snwResult snwPreparer_MakeMotions(snwPreparer* p)
{
    const snwAsset* asset = p->asset;
    snwResult result = snw_ok;
    p->motions = snwPreparer_Alloc(p, asset->animationCount + 3, sizeof *p->motions);
    p->motionShapes = snwPreparer_Alloc(p, asset->animationCount + 3, sizeof *p->motionShapes);
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // A cache is opened first: it may decide how many vertices move.
    result = snwPreparer_OpenCache(p);
    if (result >= 0 && asset->animationCount > 0)
        result = snwPrepareSettings_CheckNames(
            &p->settings, "motions", asset->animationCount, AnimationName, asset, p->message);
    bool nodes = p->boneCount > 0 && p->rig[p->boneRig[0]].node >= 0;
    snwAssetPoser poser;
    if (result >= 0)
        result = snwAssetPoser_Make(asset, &p->arena, &poser, p->message);

    // Nodes that are no bones matter only for shapes.
    for (int i = 0; i < asset->animationCount && result >= 0; ++i)
        if (nodes || HasMorphs(&asset->animations[i]))
            result = TakeAnimation(p, &asset->animations[i], &poser);
    if (result >= 0 && p->cache != NULL)
        result = TakeCache(p);
    if (result >= 0 && !nodes && p->boneCount > 0 && asset->handleMotion.frameCount > 1)
        result = TakeHandleMotion(p);

    return result;
}
