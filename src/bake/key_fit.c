// Starts from the first and the last frame. The frame that the line between its neighbouring keys misses most becomes a
// key, until all are near enough. Frames that are still (the rest pose) need no target: theirs would be empty.

#include "bake/key_fit.h"

#include <math.h>
#include <string.h>

#define SNW_SLACK 0.97 // of the tolerance: the rest is for rounding

typedef struct Keys
{
    snwContext* context;
    const snwMorphFitDef* def;
    double* worst; // per frame; 0 for keys
    bool* isKey;
    int begin, end; // keys around the frames that are being judged
} Keys;

static const float* RowOfFrame(const Keys* k, int frame)
{
    return k->def->offsets + 3 * (size_t)frame * (size_t)k->def->vertexCount;
}

static void JudgeKeys(int begin, int end, void* data)
{
    Keys* k = data;
    const float *first = RowOfFrame(k, k->begin), *last = RowOfFrame(k, k->end);
    for (int i = begin; i < end; ++i)
    {
        // Between its two keys the frame is a mixture of them.
        int frame = k->begin + 1 + i;
        const float* stretch = k->def->stretch + (size_t)frame * (size_t)k->def->vertexCount;
        const float* row = RowOfFrame(k, frame);
        double t = (double)(frame - k->begin) / (k->end - k->begin), worst = 0;

        // The vertex that is off most, as the skin stretches it.
        for (int v = 0; v < k->def->vertexCount; ++v)
        {
            double square = 0;
            for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; ++c)
            {
                double d = (double)row[c] - ((1 - t) * (double)first[c] + t * (double)last[c]);
                square += d * d;
            }
            worst = fmax(worst, square * (double)stretch[v] * (double)stretch[v]);
        }

        k->worst[frame] = sqrt(worst);
    }
}

static void JudgeBetween(Keys* k, int begin, int end)
{
    k->begin = begin;
    k->end = end;
    if (end - begin > 1)
        snwParallelFor(k->context, end - begin - 1, 1, JudgeKeys, k);
}

static int WorstFrame(const Keys* k)
{
    int worst = 0;
    for (int i = 1; i < k->def->frameCount; ++i)
        worst = k->worst[i] > k->worst[worst] ? i : worst;
    return worst;
}

static void AddKey(Keys* k, int frame)
{
    int before = frame - 1, after = frame + 1;
    k->isKey[frame] = true;
    k->worst[frame] = 0;
    while (!k->isKey[before])
        --before;
    while (!k->isKey[after])
        ++after;
    JudgeBetween(k, before, frame);
    JudgeBetween(k, frame, after);
}

static bool IsStillFrame(const Keys* k, int frame)
{
    const float* row = RowOfFrame(k, frame);
    for (size_t i = 0; i < 3 * (size_t)k->def->vertexCount; ++i)
        if (row[i] != 0)
            return false;
    return true;
}

static void SetWeight(snwMorphFit* fit, int frame, int target, double weight)
{
    if (target >= 0)
        fit->weights[(size_t)frame * (size_t)fit->targetCount + (size_t)target] = (float)weight;
}

// targets: per frame, -1: it has none.
static void SetKeyWeights(const Keys* k, const int* targets, snwMorphFit* fit)
{
    for (int i = 0, key = 0; i < k->def->frameCount; ++i)
    {
        if (!k->isKey[i])
            continue;
        for (int frame = key + 1; frame < i; ++frame)
        {
            double t = (double)(frame - key) / (i - key);
            SetWeight(fit, frame, targets[key], 1 - t);
            SetWeight(fit, frame, targets[i], t);
        }
        SetWeight(fit, i, targets[i], 1);
        key = i;
    }
}

static snwResult MakeTargets(const Keys* k, snwArena* arena, snwMorphFit* fit, snwMessage* message)
{
    size_t frames = (size_t)k->def->frameCount, width = 3 * (size_t)k->def->vertexCount;
    int* targets = snwArena_Alloc(arena, frames, sizeof *targets);
    fit->targets = snwArena_Alloc(arena, frames, sizeof *fit->targets);
    for (int i = 0; i < k->def->frameCount && !arena->failed; ++i)
    {
        targets[i] = k->isKey[i] && !IsStillFrame(k, i) ? fit->targetCount++ : -1;
        if (targets[i] >= 0)
            fit->targets[targets[i]] = (snwMorphTarget){
                snwArena_Copy(arena, RowOfFrame(k, i), width, sizeof(float)), NULL, i};
    }
    fit->weights = snwArena_Alloc(arena, frames * (size_t)fit->targetCount + 1, sizeof *fit->weights);
    if (arena->failed)
        return snwFailMemory(message);
    SetKeyWeights(k, targets, fit);
    fit->error = k->worst[WorstFrame(k)];
    return snw_ok;
}

snwResult snwFitKeys(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message)
{
    size_t frames = (size_t)def->frameCount;
    int last = def->frameCount - 1, count = last > 0 ? 2 : 1;
    Keys k = {.context = context,
        .def = def,
        .worst = snwArena_Alloc(arena, frames, sizeof *k.worst),
        .isKey = snwArena_Alloc(arena, frames, sizeof *k.isKey)};
    *fit = (snwMorphFit){0};
    if (arena->failed)
        return snwFailMemory(message);

    // Both ends are keys.
    k.isKey[0] = k.isKey[last] = true;
    JudgeBetween(&k, 0, last);

    // The worst frame becomes a key; only the two gaps beside it change.
    while (count < def->maxTargets && k.worst[WorstFrame(&k)] > SNW_SLACK * def->tolerance)
    {
        AddKey(&k, WorstFrame(&k));
        ++count;
        snwResult result = def->progress == NULL ? snw_ok : def->progress(0.9 * count / frames, def->user);
        if (result < 0)
            return result;
    }

    return MakeTargets(&k, arena, fit, message);
}
