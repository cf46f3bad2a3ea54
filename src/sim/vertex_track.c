// Between samples a vertex moves as a bone does between keys (skeleton.c): cubic Hermite pieces whose velocity at a
// sample is the mean one from its neighbour before to its neighbour after. That is linear in the samples, so the four
// weights are the same for all vertices. Motions that do not loop start and end at rest.

#include "sim/vertex_track.h"
#include "sim/limits.h"

#include <math.h>

typedef struct Samples
{
    const double* times;
    int count;
    double period; // s; 0: no loop
} Samples;

static Samples MakeTrackSamples(const snwMotionDef* motion, const snwVertexTrackDef* track)
{
    Samples samples = {track->times, track->sampleCount, motion->loop ? motion->duration : 0.0};
    // A loop's sample at the end is its sample at 0 once more.
    if (motion->loop && samples.count > 1 && samples.times[0] <= 0.0 &&
        samples.times[samples.count - 1] >= motion->duration)
        samples.count--;
    return samples;
}

static int Wrapped(const Samples* samples, int index)
{
    return samples->period == 0.0 ? index : (index % samples->count + samples->count) % samples->count;
}

static double TimeAt(const Samples* samples, int index)
{
    int turn = index < 0 ? -1 : index / samples->count;
    return samples->period == 0.0 ? samples->times[index]
                                  : samples->times[Wrapped(samples, index)] + turn * samples->period;
}

static snwVertexBlend HoldSample(int sample)
{
    return (snwVertexBlend){{sample, sample, sample, sample}, {1.0f, 0.0f, 0.0f, 0.0f}};
}

// The piece after sample `a`.
static snwVertexBlend BlendSamples(const Samples* samples, int a, double time)
{
    bool starts = samples->period == 0.0 && a == 0, ends = samples->period == 0.0 && a + 2 == samples->count;
    double ta = TimeAt(samples, a), tb = TimeAt(samples, a + 1), h = tb - ta, u = (time - ta) / h, s = 1.0 - u;
    double first = starts ? 0.0 : s * s * u * h / (tb - TimeAt(samples, a - 1)); // of p_b - p_before
    double last = ends ? 0.0 : -u * u * s * h / (TimeAt(samples, a + 2) - ta);   // of p_after - p_a
    double rise = u * u * (3.0 - 2.0 * u);
    snwVertexBlend blend = {.samples = {Wrapped(samples, starts ? a : a - 1), Wrapped(samples, a),
                                Wrapped(samples, a + 1), Wrapped(samples, ends ? a + 1 : a + 2)},
        .weights = {(float)-first, (float)(1.0 - rise - last), (float)(rise + first), (float)last}};
    return blend;
}

snwVertexBlend snwVertexTrack_At(const snwMotionDef* motion, const snwVertexTrackDef* track, double time)
{
    Samples samples = MakeTrackSamples(motion, track);

    // Loops begin anew; else the time is taken as it is.
    if (motion->loop)
    {
        time = fmod(time, motion->duration);
        time = time < 0.0 ? time + motion->duration : time;
        time = time < motion->duration ? time : 0.0;
    }

    int low = -1, high = samples.count; // the last sample at or before time
    while (high - low > 1)
    {
        int middle = (low + high) / 2;
        if (samples.times[middle] <= time)
            low = middle;
        else
            high = middle;
    }

    // A still motion, or a time outside of its samples.
    if (samples.count == 1 || (!motion->loop && (low < 0 || low == samples.count - 1)))
        return HoldSample(low < 0 ? 0 : low);
    return BlendSamples(&samples, low, time);
}

// ---------------------------------------------------------------------------------------------------------------------
// Checks

static snwResult CheckTrackTimes(
    const snwMotionDef* motion, const snwVertexTrackDef* track, bool closed, snwMessage* message)
{
    const double *times = track->times, *last = times + track->sampleCount - 1;
    bool inside = isfinite(*last) && times[0] >= 0.0 && *last <= motion->duration;
    double least = motion->loop && !closed ? times[0] + motion->duration - *last : motion->duration;
    for (int i = 1; i < track->sampleCount; ++i)
    {
        inside = inside && isfinite(times[i]);
        least = fmin(least, times[i] - times[i - 1]);
    }
    if (!inside)
        return snwFail(message, snw_errorArgument, NULL, "samples must be at 0..%g s", motion->duration);
    if (!(least >= SNW_MIN_KEY_GAP))
        return snwFail(message, snw_errorArgument, "remove one of them",
            "samples are %g s apart, at least %g s is needed", least, SNW_MIN_KEY_GAP);
    return snw_ok;
}

snwResult snwVertexTrack_Check(
    const snwMotionDef* motion, const snwVertexTrackDef* track, int vertexCount, double most, snwMessage* message)
{
    size_t vertices = (size_t)vertexCount, count = (size_t)track->sampleCount * vertices;
    if (track->sampleCount == 0)
        return snw_ok;
    if (track->sampleCount < 0 || track->times == NULL || track->offsets == NULL || count > SNW_MAX_SAMPLES)
        return snwFail(message, snw_errorArgument, "give fewer of them",
            "%d samples of %d vertices: no array, or more than %d offsets", track->sampleCount, vertexCount,
            SNW_MAX_SAMPLES);

    // A loop whose first and last sample are one moment: they must be equal.
    bool closed = motion->loop && track->sampleCount > 1 && track->times[0] == 0.0 &&
                  track->times[track->sampleCount - 1] == motion->duration;
    if (CheckTrackTimes(motion, track, closed, message) < 0)
        return snw_errorArgument;

    for (size_t i = 0; i < 3 * count; ++i)
        if (!(fabs((double)track->offsets[i / 3][i % 3]) <= most))
            return snwFail(message, snw_errorArgument, "metres are meant",
                "sample %zu moves vertex %zu by more than %g m, or by what is not finite", i / 3 / vertices,
                i / 3 % vertices, most);

    double gap = 0.0;
    for (size_t i = 0; i < 3 * vertices && closed; ++i)
        gap = fmax(gap, fabs((double)(track->offsets[i / 3][i % 3] - track->offsets[count - vertices + i / 3][i % 3])));
    if (gap > 1e-6)
        return snwFail(message, snw_errorArgument, "make the sample at the end equal to the one at 0, or remove it",
            "the loop does not close: its ends are %g m apart", gap);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Copies and blocks

snwVertexTrackDef snwVertexTrack_Copy(snwArena* arena, const snwVertexTrackDef* track, int vertexCount)
{
    if (track->sampleCount == 0)
        return (snwVertexTrackDef){0};
    size_t samples = (size_t)track->sampleCount, offsets = samples * (size_t)vertexCount;
    return (snwVertexTrackDef){.times = snwArena_Copy(arena, track->times, samples, sizeof *track->times),
        .sampleCount = track->sampleCount,
        .offsets = snwArena_Copy(arena, track->offsets, offsets, sizeof *track->offsets)};
}

void snwVertexTrack_Write(snwWriter* writer, const snwVertexTrackDef* track, int vertexCount)
{
    snwWriteInt(writer, track->sampleCount);
    if (track->sampleCount == 0)
        return;
    size_t samples = (size_t)track->sampleCount, offsets = samples * (size_t)vertexCount;
    snwWrite(writer, track->times, samples * sizeof *track->times);
    snwWrite(writer, track->offsets, offsets * sizeof *track->offsets);
}

snwVertexTrackDef snwVertexTrack_Read(snwReader* reader, snwArena* arena, int vertexCount)
{
    size_t row = (size_t)vertexCount * 3 * sizeof(float);
    int count = snwReadCount(reader, sizeof(double) + row);
    double* times = count > 0 ? snwArena_Alloc(arena, (size_t)count, sizeof *times) : NULL;
    float(*offsets)[3] = count > 0 ? snwArena_Alloc(arena, (size_t)count, row) : NULL;
    if (times == NULL || offsets == NULL)
        return (snwVertexTrackDef){0};
    snwRead(reader, times, (size_t)count * sizeof *times);
    snwRead(reader, offsets, (size_t)count * row);
    return (snwVertexTrackDef){times, count, (const float(*)[3])offsets};
}
