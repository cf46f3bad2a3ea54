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

snwTransform snwClip_Evaluate(const snwClipDef* clip, double time)
{
    time = WrapTime(clip, time);
    int low = 0, high = clip->keyCount; // the last key at or before time
    while (high - low > 1)
    {
        int middle = (low + high) / 2;
        if (clip->keys[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    const snwKey* key = &clip->keys[low];
    if (time <= key->time || low + 1 == clip->keyCount || clip->interpolation == snw_interpolateStep)
        return key->transform;
    double t = (time - key->time) / (key[1].time - key->time);
    if (clip->interpolation == snw_interpolateSmooth)
        t = t * t * (3.0 - 2.0 * t);
    return snwTransform_Interpolate(key->transform, key[1].transform, t);
}
