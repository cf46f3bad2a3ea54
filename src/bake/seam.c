// Loops that do not quite close: how far the end of a clip is from its beginning, and channels with the difference
// faded in towards the end, if it is small enough for that.

#include "bake/seam.h"

#include "asset/poser.h"
#include "base/result.h"

#include <math.h>
#include <string.h>

#define SNW_CLOSED    0.002 // of the size: what a loop may be off anyway
#define SNW_WALKS_OFF 0.05  // of the size
#define SNW_WIDE      0.1   // of the size: no more
#define SNW_FADE      0.25  // of the clip
#define SNW_LONG_FADE 0.4   // s
#define SNW_SPARSE    0.067 // s, between keys

enum
{
    seam_mostPieces = 10000
};

// Joints, or whatever moves where there is no skin.
static bool CountsAsJoint(const snwAsset* asset, const snwAssetAnimation* animation, int node)
{
    for (int s = 0; s < asset->skinCount; ++s)
        for (int i = 0; i < asset->skins[s].jointCount; ++i)
            if (asset->skins[s].joints[i] == node)
                return true;
    for (int i = 0; i < animation->channelCount && asset->skinCount == 0; ++i)
        if (animation->channels[i].node == node)
            return true;
    return false;
}

static snwResult MeasureGap(
    snwArena* arena, const snwAsset* asset, const snwAssetAnimation* animation, snwSeam* seam, snwMessage* message)
{
    snwAssetPoser begin, end;
    snwResult result = snwAssetPoser_Make(asset, arena, &begin, message);
    if (result >= 0)
        result = snwAssetPoser_Make(asset, arena, &end, message);
    if (result < 0)
        return result;

    // Both ends of the clip.
    snwAssetPoser_Pose(&begin, animation, 0);
    snwAssetPoser_Pose(&end, animation, animation->end);
    snwVec3 lower = {INFINITY, INFINITY, INFINITY}, upper = snwVec3_Negate(lower);
    bool first = true;

    // How far joints are apart, how far the uppermost one goes, and how large it all is.
    for (int i = 0; i < asset->nodeCount; ++i)
    {
        int node = begin.order[i];
        if (!CountsAsJoint(asset, animation, node))
            continue;
        double gap = snwVec3_Distance(begin.places[node].translation, end.places[node].translation);
        seam->gap = fmax(seam->gap, gap);
        seam->way = first ? gap : seam->way; // parents come first
        lower = snwVec3_Min(lower, begin.places[node].translation);
        upper = snwVec3_Max(upper, begin.places[node].translation);
        first = false;
    }

    seam->size = first ? 0 : snwVec3_Distance(lower, upper);
    return snw_ok;
}

// The keys of the channel, more of them where they are too few for what is faded in or for a curve, and its end.
static bool FindSeamTimes(snwContext* context, const snwAssetChannel* channel, double end, double fade, snwTimes* times)
{
    bool made = true, curved = channel->interpolation == snw_assetCubic;
    for (int i = 0; i < channel->keyCount && made; ++i)
    {
        double time = channel->times[i], last = i > 0 ? channel->times[i - 1] : time, gap = time - last;
        bool sparse = gap > SNW_SPARSE && (curved || time > end - fade);
        int pieces = sparse ? (int)ceil(fmin(2 * gap / SNW_SPARSE, seam_mostPieces)) : 1;
        for (int k = 1; k <= pieces && made; ++k)
            made = snwArray_Push(context, times, last + gap * k / pieces);
    }
    if (made && times->data[times->count - 1] < end - 1e-4)
        made = snwArray_Push(context, times, end);
    return made;
}

// The channel with what is missing to its beginning faded in towards its end.
static bool CloseChannel(snwArena* arena, const snwAssetChannel* from, double end, snwAssetChannel* to)
{
    double first[4] = {0}, last[4] = {0}, fade = fmin(SNW_FADE * end, SNW_LONG_FADE);
    size_t width = (size_t)from->width;
    snwTimes keys = {0}, *times = &keys;
    double *values = NULL, *seconds = NULL;

    // Keys of the channel, and more where the fade needs them.
    if (FindSeamTimes(arena->context, from, end, fade, times))
    {
        values = snwArena_Alloc(arena, (size_t)times->count * width, sizeof *values);
        seconds = snwArena_Copy(arena, times->data, (size_t)times->count, sizeof *seconds);
    }

    if (values == NULL || seconds == NULL)
    {
        snwArray_Free(arena->context, times);
        return false;
    }

    // What is missing at the end.
    snwAssetChannel_Sample(from, 0, first);
    snwAssetChannel_Sample(from, end, last);
    snwQuat a = snwQuat_Normalize((snwQuat){first[0], first[1], first[2], first[3]});
    snwQuat b = snwQuat_Normalize((snwQuat){last[0], last[1], last[2], last[3]});
    snwVec3 missing = snwQuat_ToRotationVector(snwQuat_Mul(snwQuat_Conjugate(b), a));

    // A smooth share of it, from the beginning of the fade on.
    for (int i = 0; i < times->count; ++i)
    {
        double* v = values + (size_t)i * width;
        double t = fmin(fmax((times->data[i] - end + fade) / fade, 0), 1), share = t * t * (3 - 2 * t);
        snwAssetChannel_Sample(from, times->data[i], v);
        if (from->path == snw_pathRotation)
        {
            snwQuat q = snwQuat_Mul(snwQuat_Normalize((snwQuat){v[0], v[1], v[2], v[3]}),
                snwQuat_FromRotationVector(snwVec3_Scale(missing, share)));
            memcpy(v, (double[4]){q.x, q.y, q.z, q.w}, 4 * sizeof *v);
        }

        for (size_t k = 0; k < width && from->path != snw_pathRotation; ++k)
            v[k] += share * (first[k] - last[k]);
    }

    *to = (snwAssetChannel){from->node, from->path, snw_assetLinear, seconds, times->count, from->width, values};
    snwArray_Free(arena->context, times);
    return true;
}

snwResult snwSeam_Close(
    snwArena* arena, const snwAsset* asset, const snwAssetAnimation* animation, snwSeam* seam, snwMessage* message)
{
    *seam = (snwSeam){.animation.name = animation->name};
    snwResult result = MeasureGap(arena, asset, animation, seam, message);
    // Closed already, or too far off to be faded, or walking.
    bool near = seam->gap <= SNW_CLOSED * seam->size, far = seam->gap > SNW_WIDE * seam->size;
    if (result < 0 || near || far || seam->way > SNW_WALKS_OFF * seam->size)
        return result;

    // Channels that jump from key to key have no seam to fade.
    snwAssetChannel* channels = snwArena_Alloc(arena, (size_t)animation->channelCount + 1, sizeof *channels);
    bool made = channels != NULL;
    for (int i = 0; i < animation->channelCount && made; ++i)
    {
        const snwAssetChannel* from = &animation->channels[i];
        if (from->path != snw_pathMorphs && from->interpolation != snw_assetStep && from->keyCount > 1)
            made = CloseChannel(arena, from, animation->end, &channels[seam->animation.channelCount++]);
    }

    seam->animation.channels = channels;
    return made ? snw_ok : snwFailMemory(message);
}
