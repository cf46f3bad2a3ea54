// A handle's motion from keys: transforms and strains at a time, by steps, straight or smooth, once or in a loop.

#include "rig/clip.h"

#include <math.h>

snwTransform snwTransform_Interpolate(snwTransform a, snwTransform b, double fraction)
{
    return (snwTransform){
        snwVec3_Lerp(a.position, b.position, fraction), snwQuat_Slerp(a.rotation, b.rotation, fraction)};
}

static double WrapTime(const snwClipDef* clip, double time)
{
    double first = clip->keys[0].time, last = clip->keys[clip->keyCount - 1].time;
    if (!clip->loop || last <= first)
        return time;
    double wrapped = fmod(time - first, last - first);
    return first + (wrapped < 0.0 ? wrapped + (last - first) : wrapped);
}

// The last key at or before the time, and how far it is to the next one, 0..1.
static int FindClipKey(const snwClipDef* clip, double time, double* fraction)
{
    // Bisection; times rise.
    time = WrapTime(clip, time);
    int low = 0, high = clip->keyCount;
    while (high - low > 1)
    {
        int middle = (low + high) / 2;
        if (clip->keys[middle].time <= time)
            low = middle;
        else
            high = middle;
    }

    const snwKey* key = &clip->keys[low];
    *fraction = 0.0;
    if (time <= key->time || low + 1 == clip->keyCount || clip->interpolation == snw_interpolateStep)
        return low;

    // Ease in and out: 3 t^2 - 2 t^3 has no speed at keys.
    double t = (time - key->time) / (key[1].time - key->time);
    *fraction = clip->interpolation == snw_interpolateSmooth ? t * t * (3.0 - 2.0 * t) : t;

    return low;
}

snwTransform snwClip_Evaluate(const snwClipDef* clip, double time)
{
    double fraction;
    const snwKey* key = &clip->keys[FindClipKey(clip, time, &fraction)];
    if (!(fraction > 0.0))
        return key->transform;
    return snwTransform_Interpolate(key->transform, key[1].transform, fraction);
}

void snwClip_Strain(const snwClipDef* clip, double time, double strain[6])
{
    double fraction;
    int at = clip->stretches != NULL ? FindClipKey(clip, time, &fraction) : 0;
    for (int i = 0; i < 6; ++i)
    {
        strain[i] = clip->stretches != NULL ? clip->stretches[at][i] - (i < 3 ? 1.0 : 0.0) : 0.0;
        if (clip->stretches != NULL && fraction > 0.0)
            strain[i] += fraction * (clip->stretches[at + 1][i] - clip->stretches[at][i]);
    }
}
