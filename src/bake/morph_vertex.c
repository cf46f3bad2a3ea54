// One vertex on given curves. They are orthonormal: without weights, its share of a curve is one dot product whatever
// other curves are taken.

#include "bake/morph_curves.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

#define SNW_NEAR     1.7  // times the goal: weights can hardly mend more
#define SNW_NEARER   1.25 // the same of many frames, where weights cost more
#define SNW_HOPELESS 1.3  // the same, after some of them

enum
{
    snw_mostReweightings = 8,  // before another curve is taken
    snw_lastReweightings = 60, // with all curves
    snw_manyFrames = 200
};

bool snwMorphVertex_Make(snwArena* arena, int frameCount, int stride, snwMorphVertex* v)
{
    size_t frames = (size_t)frameCount, width = (size_t)stride;
    v->right1 = (stride + 7) / 8 * 8;
    v->track = snwArena_Alloc(arena, 3 * frames, sizeof(double));
    v->left = snwArena_Alloc(arena, 3 * frames, sizeof(double));
    v->shown = snwArena_Alloc(arena, frames, sizeof(double));
    v->errors = snwArena_Alloc(arena, frames, sizeof(double));
    v->boosts = snwArena_Alloc(arena, frames, sizeof(double));
    v->shares = snwArena_Alloc(arena, 3 * width, sizeof(double));
    v->saved = snwArena_Alloc(arena, 3 * width, sizeof(double));
    v->plain = snwArena_Alloc(arena, 3 * width, sizeof(double));
    v->gram = snwArena_Alloc(arena, width * width, sizeof(double));
    v->right = snwArena_Alloc(arena, 3 * (size_t)v->right1, sizeof(double));
    v->factor = snwArena_Alloc(arena, snwDense_Count(stride), sizeof(double));
    v->used = snwArena_Alloc(arena, width, sizeof(int));
    return !arena->failed;
}

void snwMorphVertex_Load(snwMorphVertex* v, const snwMorphFitDef* def, int index)
{
    size_t frames = (size_t)def->frameCount, row = (size_t)def->vertexCount;
    for (size_t f = 0; f < frames; ++f)
    {
        const float* x = def->offsets + 3 * (f * row + (size_t)index);
        for (size_t c = 0; c < 3; ++c)
            v->track[c * frames + f] = (double)x[c];
        v->shown[f] = (double)def->stretch[f * row + (size_t)index];
    }
}

// How much is left of the motion in each frame: fills errors, returns the largest.
static double JudgeVertex(snwMorphVertex* v, size_t frames)
{
    double most = 0;
    for (size_t f = 0; f < frames; ++f)
    {
        double x = v->left[f], y = v->left[frames + f], z = v->left[2 * frames + f];
        v->errors[f] = v->shown[f] * sqrt(x * x + y * y + z * z);
        most = fmax(most, v->errors[f]);
    }
    return most;
}

double snwMorphDot(const double* a, const double* b, size_t count)
{
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t k = 0; k < 8; ++k)
            sums[k] += a[i + k] * b[i + k];
    for (; i < count; ++i)
        sums[0] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void TakeOut(double* left, const double* column, double share, size_t frames)
{
    for (size_t f = 0; f < frames; ++f)
        left[f] -= share * column[f];
}

// Shares of the curves that are used, into the right sides, by weighted least squares: the unit matrix of orthonormal
// curves, and what the boosted frames add to it.
static void SolveCurveShares(snwMorphVertex* v, const snwContext* context, const snwMorphCurves* curves)
{
    size_t frames = (size_t)curves->frameCount, n = (size_t)v->usedCount, next = (size_t)v->right1;
    double row[3] = {0};
    memset(v->gram, 0, n * n * sizeof *v->gram);
    memset(v->right, 0, 3 * next * sizeof *v->right);

    // The unit matrix and plain dot products, for frames that weigh one.
    for (size_t i = 0; i < n; ++i)
    {
        v->gram[i * n + i] = 1;
        for (size_t c = 0; c < 3; ++c)
            v->right[c * next + i] = v->plain[c * (size_t)curves->stride + (size_t)v->used[i]];
    }

    // What the boosted frames add.
    for (size_t f = 0; f < frames; ++f)
    {
        if (v->boosts[f] == 0)
            continue;
        const double* values = curves->rows + f * (size_t)curves->stride;
        for (size_t c = 0; c < 3; ++c)
            row[c] = v->boosts[f] * v->track[c * frames + f];
        for (size_t i = 0; i < n; ++i)
        {
            double value = values[v->used[i]], boosted = v->boosts[f] * value;
            for (size_t j = 0; j <= i; ++j)
                v->gram[i * n + j] += boosted * values[v->used[j]];
            for (size_t c = 0; c < 3; ++c)
                v->right[c * next + i] += row[c] * value;
        }
    }

    // Three right sides, and what their solutions leave of the track.
    snwDense dense = {snwCholesky_Kernels(context->simd), (int)n, v->factor};
    snwDense_Factor(&dense, v->gram, (int)n);
    memcpy(v->left, v->track, 3 * frames * sizeof *v->left);
    for (size_t c = 0; c < 3; ++c)
    {
        snwDense_Solve(&dense, v->right + c * next);
        for (size_t i = 0; i < n; ++i)
        {
            const double* column = curves->columns + (size_t)v->used[i] * frames;
            TakeOut(v->left + c * frames, column, v->right[c * next + i], frames);
        }
    }
}

// The same without weights: what the last curve takes is its plain share. Nothing else changes.
static void ExtendShares(snwMorphVertex* v, const snwMorphCurves* curves)
{
    size_t frames = (size_t)curves->frameCount, last = (size_t)v->used[v->usedCount - 1];
    if (v->usedCount == 1)
        memcpy(v->left, v->track, 3 * frames * sizeof *v->left);
    for (size_t c = 0; c < 3; ++c)
    {
        double share = v->plain[c * (size_t)curves->stride + last];
        v->right[c * (size_t)v->right1 + (size_t)v->usedCount - 1] = share;
        TakeOut(v->left + c * frames, curves->columns + last * frames, share, frames);
    }
}

static void ReweighFrames(snwMorphVertex* v, size_t frames, double most, bool gentle)
{
    for (size_t f = 0; f < frames; ++f)
    {
        double ratio = v->errors[f] / (gentle ? 0.85 * most : 0.75 * most);
        double weight = (1 + v->boosts[f]) * (gentle ? fmax(ratio, 0.7) : fmax(ratio * ratio * ratio, 0.4));
        v->boosts[f] = fmin(fmax(weight - 1, 0), 1e5);
    }
}

// The curve that could take most of what is left, as the frames weigh.
static int FindNextCurve(const snwMorphVertex* v, const snwMorphCurves* curves)
{
    size_t frames = (size_t)curves->frameCount;
    int best = -1;
    double bestGain = -1;

    // Curves that are not in use yet.
    for (int k = 0; k < curves->count; ++k)
    {
        bool taken = false;
        for (int i = 0; i < v->usedCount && !taken; ++i)
            taken = v->used[i] == k;
        if (taken)
            continue;

        // Without boosts the shares of orthonormal curves are their gains.
        if (!v->boosted)
        {
            double square = 0;
            for (size_t c = 0; c < 3; ++c)
                square += v->plain[c * (size_t)curves->stride + (size_t)k] *
                          v->plain[c * (size_t)curves->stride + (size_t)k];
            best = square > bestGain ? k : best;
            bestGain = fmax(bestGain, square);
            continue;
        }

        // With boosts: the gain of least squares with this curve alone.
        const double* column = curves->columns + (size_t)k * frames;
        double sums[3] = {0}, norm = 0;
        for (size_t f = 0; f < frames; ++f)
        {
            double weighted = (1 + v->boosts[f]) * column[f];
            norm += weighted * column[f];
            sums[0] += weighted * v->left[f];
            sums[1] += weighted * v->left[frames + f];
            sums[2] += weighted * v->left[2 * frames + f];
        }

        double gain = (sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]) / norm;
        if (gain > bestGain)
        {
            bestGain = gain;
            best = k;
        }
    }

    return best;
}

// What the right sides have become is the fit.
static void KeepFit(snwMorphVertex* v, size_t stride)
{
    memset(v->shares, 0, 3 * stride * sizeof *v->shares);
    for (int i = 0; i < v->usedCount; ++i)
        for (size_t c = 0; c < 3; ++c)
            v->shares[c * stride + (size_t)v->used[i]] = v->right[c * (size_t)v->right1 + (size_t)i];
}

// Weighted least squares until the vertex is within the goal. Keeps the best, and returns its largest error.
static double ReachGoal(
    snwMorphVertex* v, const snwContext* context, const snwMorphCurves* curves, double goal, bool patient)
{
    size_t frames = (size_t)curves->frameCount;
    int rounds = patient ? snw_lastReweightings : snw_mostReweightings;
    double near = frames > snw_manyFrames ? SNW_NEARER : SNW_NEAR;

    // Without boosts a new curve only adds its share.
    if (v->boosted)
        SolveCurveShares(v, context, curves);
    else
        ExtendShares(v, curves);

    double most = JudgeVertex(v, frames), best = most;
    if (most <= goal || most <= near * goal || patient)
        KeepFit(v, (size_t)curves->stride);

    // Frames that are off weigh more; until it fits, or nothing is gained.
    for (int i = 0; i < rounds && most > goal && (patient || most <= near * goal); ++i)
    {
        v->boosted = true;
        ReweighFrames(v, frames, most, i >= snw_mostReweightings / 2);
        SolveCurveShares(v, context, curves);
        most = JudgeVertex(v, frames);
        bool better = most < 0.995 * best;
        if (most < best)
            KeepFit(v, (size_t)curves->stride);
        best = fmin(best, most);
        if ((i >= 3 && !patient && !better) || (i == snw_mostReweightings && best > SNW_HOPELESS * goal))
            break;
    }

    return best;
}

static double TakeAll(snwMorphVertex* v, const snwContext* context, const snwMorphCurves* curves, double goal)
{
    memset(v->boosts, 0, (size_t)curves->frameCount * sizeof *v->boosts);
    v->boosted = false;
    for (v->usedCount = 1; v->usedCount < curves->count; ++v->usedCount)
    {
        v->used[v->usedCount - 1] = v->usedCount - 1;
        ExtendShares(v, curves);
    }
    v->used[curves->count - 1] = curves->count - 1;
    return ReachGoal(v, context, curves, goal, true);
}

double snwMorphVertex_Fit(
    snwMorphVertex* v, const snwContext* context, const snwMorphCurves* curves, double goal, bool all)
{
    size_t frames = (size_t)curves->frameCount, stride = (size_t)curves->stride;
    memset(v->boosts, 0, frames * sizeof *v->boosts);
    v->boosted = false;

    // Shares of all curves, once.
    for (size_t k = 0; k < (size_t)curves->count; ++k)
        for (size_t c = 0; c < 3; ++c)
            v->plain[c * stride + k] = snwMorphDot(curves->columns + k * frames, v->track + c * frames, frames);

    // The constant curve first, then one after the other.
    v->used[0] = 0;
    v->usedCount = 1;
    double most = all ? INFINITY : ReachGoal(v, context, curves, goal, false);
    while (most > goal && !all && v->usedCount + 1 < curves->count)
    {
        v->used[v->usedCount] = FindNextCurve(v, curves);
        ++v->usedCount;
        most = ReachGoal(v, context, curves, goal, false);
    }

    if (most > goal)
        most = TakeAll(v, context, curves, goal);
    return most;
}
