// Morph targets and their weights from curves (morph_curves.h): each vertex takes as few curves as will do, weights
// become 0 .. 1, normals follow, and all of it is rounded to short numbers without leaving the tolerance.

#include "bake/morph_fit.h"

#include <math.h>
#include <string.h>

#define SNW_SLACK         0.985 // of the tolerance: the fit's; the rest is for rounding
#define SNW_LARGEST_SHORT 32767.0
#define SNW_LARGEST_BYTE  127.0
#define SNW_STEP          0.045 // of the tolerance: what numbers are rounded to for compression
#define SNW_FINE          0.15  // of the tolerance: what rounding may come to, as a root of the sum of squares

enum
{
    fit_chunks = 16,  // of a parallel loop: each has its own room to work
    snw_thinned = 64, // vertices between two looks at the interrupt
};

// ---------------------------------------------------------------------------------------------------------------------
// Numbers of the file

// The curves as weights from 0 to 1, each turned so that it is farther above zero than below: the constant target
// stays small.
static void MakeMorphWeights(snwMorphFit* fit)
{
    snwMorphCurves* c = &fit->curves;
    size_t frames = (size_t)c->frameCount, count = (size_t)c->count;

    // From the lowest to the highest value of the curve, turned to the longer side.
    for (size_t k = 0; k < count; ++k)
    {
        double* column = c->columns + k * frames;
        double lo = column[0], hi = column[0];
        for (size_t f = 1; f < frames; ++f)
        {
            lo = fmin(lo, column[f]);
            hi = fmax(hi, column[f]);
        }

        double sign = -lo > hi ? -1 : 1;
        bool whole = k == 0 || fit->bothWays;
        fit->lows[k] = whole ? 0 : sign > 0 ? lo : -hi;
        fit->spans[k] = whole ? fmax(hi, -lo) : hi - lo;

        // Scaled to the range; the constant one is always one.
        for (size_t f = 0; f < frames; ++f)
        {
            column[f] *= sign;
            c->rows[f * (size_t)c->stride + k] = column[f];
            double weight = k == 0 ? 1 : (column[f] - fit->lows[k]) / fit->spans[k];
            fit->weights[f * count + k] = (float)fmin(fmax(weight, fit->bothWays ? -1 : 0), 1);
        }
    }
}

// shares: of the curves, per axis a row. Puts what the targets have of them at a vertex.
static void PutShares(const snwMorphFit* fit, const double* shares, int vertex)
{
    size_t stride = (size_t)fit->curves.stride, at = 3 * (size_t)vertex;
    for (size_t axis = 0; axis < 3; ++axis)
    {
        double constant = fit->spans[0] * shares[axis * stride];
        for (int k = 1; k < fit->targetCount; ++k)
        {
            double share = shares[axis * stride + (size_t)k];
            fit->targets[k].offsets[at + axis] = (float)(fit->spans[k] * share);
            constant += fit->lows[k] * share;
        }
        fit->targets[0].offsets[at + axis] = (float)constant;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices

typedef struct Thinning
{
    snwContext* context;
    const snwMorphFitDef* def;
    snwMorphFit* fit;
    snwMorphVertex vertices[fit_chunks];
    double worst[fit_chunks];
    int first;            // vertex of this part
    const double* scales; // per target, of rounding
    bool again;           // vertices that rounding spoils can be fitted again
} Thinning;

static int ThinnedGrain(void)
{
    return snw_thinned / fit_chunks;
}

static bool IsTwin(const snwMorphFitDef* def, int vertex)
{
    return def->twins != NULL && def->twins[vertex] != vertex;
}

// Largest error that targets and weights have at a vertex, by the numbers of the file.
static double ErrorAt(const snwMorphFitDef* def, const snwMorphFit* fit, int vertex, double* left)
{
    size_t frames = (size_t)def->frameCount, vertices = (size_t)def->vertexCount, count = (size_t)fit->targetCount;

    // What the targets, with the weights of each frame, leave of the offsets.
    for (size_t f = 0; f < frames; ++f)
        for (size_t axis = 0; axis < 3; ++axis)
            left[3 * f + axis] = (double)def->offsets[3 * (f * vertices + (size_t)vertex) + axis];
    for (size_t k = 0; k < count; ++k)
    {
        const float* x = fit->targets[k].offsets + 3 * (size_t)vertex;
        if (x[0] == 0 && x[1] == 0 && x[2] == 0)
            continue;
        for (size_t f = 0; f < frames; ++f)
            for (size_t axis = 0; axis < 3; ++axis)
                left[3 * f + axis] -= (double)fit->weights[f * count + k] * (double)x[axis];
    }

    // As the skin stretches it.
    double most = 0;
    for (size_t f = 0; f < frames; ++f)
    {
        const double* l = left + 3 * f;
        double length = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
        most = fmax(most, (double)def->stretch[f * vertices + (size_t)vertex] * length);
    }

    return most;
}

static bool NeedsNothing(const snwMorphFitDef* def, int vertex)
{
    size_t vertices = (size_t)def->vertexCount;
    for (size_t f = 0; f < (size_t)def->frameCount; ++f)
    {
        const float* x = def->offsets + 3 * (f * vertices + (size_t)vertex);
        double square = (double)x[0] * (double)x[0] + (double)x[1] * (double)x[1] + (double)x[2] * (double)x[2];
        if (sqrt(square) * (double)def->stretch[f * vertices + (size_t)vertex] > SNW_SLACK * def->tolerance)
            return false;
    }
    return true;
}

// As few curves as do. A vertex that hardly moves needs none.
static void ThinCurves(int begin, int end, void* data)
{
    Thinning* t = data;
    snwMorphVertex* v = &t->vertices[begin / ThinnedGrain()];
    double* worst = &t->worst[begin / ThinnedGrain()];
    for (int i = t->first + begin; i < t->first + end && i < t->def->vertexCount; ++i)
    {
        if (IsTwin(t->def, i) || NeedsNothing(t->def, i))
            continue;
        snwMorphVertex_Load(v, t->def, i);
        snwMorphVertex_Fit(v, t->context, &t->fit->curves, SNW_SLACK * t->def->tolerance, false);
        PutShares(t->fit, v->shares, i);
    }
    for (int i = t->first + begin; i < t->first + end && i < t->def->vertexCount; ++i)
        if (!IsTwin(t->def, i))
            *worst = fmax(*worst, ErrorAt(t->def, t->fit, i, v->left));
}

static void CopyTwins(const snwMorphFitDef* def, const snwMorphFit* fit)
{
    for (int i = 0; i < def->vertexCount; ++i)
        for (int k = 0; k < fit->targetCount && IsTwin(def, i); ++k)
            memcpy(fit->targets[k].offsets + 3 * (size_t)i, fit->targets[k].offsets + 3 * (size_t)def->twins[i],
                3 * sizeof(float));
}

static bool MakeRooms(snwArena* arena, Thinning* t)
{
    bool made = true;
    for (int i = 0; i < fit_chunks && made; ++i)
        made = snwMorphVertex_Make(
            arena, t->def->frameCount, t->fit->curves.stride > 0 ? t->fit->curves.stride : 1, &t->vertices[i]);
    return made;
}

// fn over all vertices; *worst: the largest error that it found.
static snwResult ForVertices(Thinning* t, snwRangeFn* fn, double from, double to, double* worst)
{
    const snwMorphFitDef* def = t->def;
    snwResult result = snw_ok;
    *worst = 0;
    memset(t->worst, 0, sizeof t->worst);
    for (t->first = 0; t->first < def->vertexCount && result >= 0; t->first += snw_thinned)
    {
        snwParallelFor(t->context, snw_thinned, ThinnedGrain(), fn, t);
        if (def->progress != NULL)
            result = def->progress(from + (to - from) * t->first / def->vertexCount, def->user);
    }
    for (int i = 0; i < fit_chunks; ++i)
        *worst = fmax(*worst, t->worst[i]);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

// Targets that no vertex uses go; the constant one stays, for others lean on it.
static void DropEmpty(snwMorphFit* fit, int vertexCount)
{
    snwMorphCurves* c = &fit->curves;
    size_t frames = (size_t)c->frameCount;
    int kept = 1;
    for (int k = 1; k < fit->targetCount; ++k)
    {
        // Is any vertex of it used?
        bool used = false;
        for (size_t i = 0; i < 3 * (size_t)vertexCount && !used; ++i)
            used = fit->targets[k].offsets[i] != 0;
        if (!used)
            continue;

        fit->targets[kept] = fit->targets[k];
        fit->targets[kept].number = kept;
        memmove(c->columns + (size_t)kept * frames, c->columns + (size_t)k * frames, frames * sizeof(double));
        ++kept;
    }

    fit->targetCount = c->count = kept;
    MakeMorphWeights(fit);
}

static snwResult FitTargets(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message)
{
    size_t width = 3 * (size_t)def->vertexCount, count = (size_t)fit->curves.count;
    fit->targetCount = fit->curves.count;

    // Room for as many targets as there are curves.
    fit->targets = snwArena_Alloc(arena, count, sizeof *fit->targets);
    fit->weights = snwArena_Alloc(arena, count * (size_t)def->frameCount, sizeof *fit->weights);
    fit->lows = snwArena_Alloc(arena, count, sizeof *fit->lows);
    fit->spans = snwArena_Alloc(arena, count, sizeof *fit->spans);
    for (size_t k = 0; k < count && !arena->failed; ++k)
        fit->targets[k] = (snwMorphTarget){snwArena_Alloc(arena, width, sizeof(float)), NULL, (int)k};
    snwArena work = {.context = context};
    Thinning t = {.context = context, .def = def, .fit = fit};
    if (arena->failed || !MakeRooms(&work, &t))
    {
        snwArena_Free(&work);
        return snwFailMemory(message);
    }

    // Weights as the file has them, then vertices, each on as few curves as do.
    MakeMorphWeights(fit);
    snwResult result = ForVertices(&t, ThinCurves, 0.6, 0.9, &fit->error);
    CopyTwins(def, fit);
    DropEmpty(fit, def->vertexCount);
    snwArena_Free(&work);

    return result;
}

snwResult snwFitMorphs(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message)
{
    *fit = (snwMorphFit){.bothWays = def->packed};
    snwResult result = snwFindMorphCurves(context, arena, def, SNW_SLACK * def->tolerance, &fit->curves, message);
    if (result < 0)
        return result;
    if (fit->curves.count > 0)
        return FitTargets(context, arena, def, fit, message);
    // nothing moves farther than the tolerance
    size_t frames = (size_t)def->frameCount;
    double* left = snwArena_Alloc(arena, 3 * frames, sizeof *left);
    fit->weights = snwArena_Alloc(arena, 1, sizeof *fit->weights);
    for (int i = 0; i < def->vertexCount && left != NULL; ++i)
        fit->error = fmax(fit->error, ErrorAt(def, fit, i, left));
    return arena->failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Normals

bool snwMorphFit_BeginNormals(snwMorphFit* fit, snwArena* arena, int vertexCount)
{
    for (int k = 0; k < fit->targetCount; ++k)
        fit->targets[k].normals = snwArena_Alloc(arena, 3 * (size_t)vertexCount, sizeof(float));
    return !arena->failed;
}

void snwMorphFit_AddNormals(snwMorphFit* fit, int frame, const float* changes, int vertexCount)
{
    const double* row = fit->curves.rows + (size_t)frame * (size_t)fit->curves.stride;
    for (int k = 0; k < fit->targetCount; ++k)
    {
        float share = (float)row[k];
        float* out = fit->targets[k].normals;
        for (size_t i = 0; i < 3 * (size_t)vertexCount; ++i)
            out[i] += share * changes[i];
    }
}

void snwMorphFit_EndNormals(snwMorphFit* fit, int vertexCount)
{
    for (size_t i = 0; i < 3 * (size_t)vertexCount; ++i)
    {
        const size_t at = i - i % 3;
        double constant = 0;
        bool moves = false;

        // Shares of the curves become those of the targets, the constant one takes what the ranges shift.
        for (int k = 1; k < fit->targetCount; ++k)
        {
            const float* x = fit->targets[k].offsets + at;
            float* normal = &fit->targets[k].normals[i];
            bool used = x[0] != 0 || x[1] != 0 || x[2] != 0;
            double share = used ? (double)*normal : 0;
            moves = moves || used;
            constant += fit->lows[k] * share;
            *normal = (float)fmin(fmax(fit->spans[k] * share, -1), 1);
        }

        const float* x = fit->targets[0].offsets + at;
        moves = moves || x[0] != 0 || x[1] != 0 || x[2] != 0;
        constant += fit->spans[0] * (double)fit->targets[0].normals[i];
        fit->targets[0].normals[i] = moves ? (float)fmin(fmax(constant, -1), 1) : 0;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Short numbers

static float RoundTo(double value, double steps)
{
    return (float)(fmin(fmax(round(value * steps), -steps), steps) / steps);
}

// A vertex's positions as they are read back.
static void RoundVertex(const snwMorphFit* fit, const double* scales, int vertex)
{
    for (int k = 0; k < fit->targetCount; ++k)
        for (size_t i = 3 * (size_t)vertex; i < 3 * (size_t)vertex + 3; ++i)
        {
            float* x = &fit->targets[k].offsets[i];
            double value = (double)*x / scales[k];
            if (fit->numbers == snw_gltfShorts || fit->numbers == snw_gltfDense)
                *x = RoundTo(value, SNW_LARGEST_SHORT);
            else if (fit->numbers == snw_gltfWhole)
                *x = (float)fmin(fmax(round(value), -SNW_LARGEST_SHORT), SNW_LARGEST_SHORT);
            else
                *x = (float)value;
        }
}

static void RoundNormals(const snwMorphFit* fit, const double* scales, int vertexCount)
{
    for (int k = 0; k < fit->targetCount; ++k)
        for (size_t i = 0; fit->targets[k].normals != NULL && i < 3 * (size_t)vertexCount; ++i)
            fit->targets[k].normals[i] = RoundTo((double)fit->targets[k].normals[i] / scales[k], SNW_LARGEST_BYTE);
}

static double LargestValue(const float* values, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; ++i)
        most = fmaxf(most, fabsf(values[i]));
    return (double)most;
}

// The form, and the scales that weights take over.
static snwGltfNumbers ChooseForm(const snwMorphFitDef* def, const snwMorphFit* fit, double* scales)
{
    size_t vertices = (size_t)def->vertexCount, width = 3 * vertices;
    double most = 0, squares = 0, stretch = LargestValue(def->stretch, (size_t)def->frameCount * vertices);
    bool turned = fit->targets[0].normals != NULL;
    for (int k = 0; k < fit->targetCount; ++k)
        most = fmax(most, LargestValue(fit->targets[k].offsets, width));

    // Packed files: all targets in one scale, in numbers that compress well.
    if (def->packed && stretch > 0)
    {
        // One scale for all: targets of small numbers. Normals that turn over are cut off.
        double scale = fmax(SNW_LARGEST_SHORT * SNW_STEP * def->tolerance / stretch, most);
        for (int k = 0; k < fit->targetCount && turned; ++k)
            scale = fmax(scale, LargestValue(fit->targets[k].normals, width));
        for (int k = 0; k < fit->targetCount; ++k)
            scales[k] = scale;
        return snw_gltfDense;
    }

    // Shorts if all offsets fit into them, or whole numbers of a scale.
    snwGltfNumbers form = most <= 1 ? snw_gltfShorts : snw_gltfWhole;
    for (int k = 0; k < fit->targetCount; ++k)
    {
        double reach = LargestValue(fit->targets[k].offsets, width);
        double normals = turned ? LargestValue(fit->targets[k].normals, width) : 0;
        double longer = fmax(reach, normals);
        scales[k] = form == snw_gltfWhole ? reach / SNW_LARGEST_SHORT : longer;
        scales[k] = scales[k] > 0 ? scales[k] : 1;
        double step = form == snw_gltfWhole ? scales[k] : scales[k] / SNW_LARGEST_SHORT;
        squares += 0.25 * step * step;
    }

    // Rounding is fine enough.
    if (sqrt(squares) * stretch <= SNW_FINE * def->tolerance && !(form == snw_gltfWhole && turned))
        return form;

    // Floats, only for vertices that move.
    for (int k = 0; k < fit->targetCount; ++k)
        scales[k] = turned ? fmax(LargestValue(fit->targets[k].normals, width), 1e-6) : 1;
    return snw_gltfSparse;
}

static void SaveVertex(const snwMorphFit* fit, int vertex, double* saved)
{
    for (int k = 0; k < fit->targetCount; ++k)
        for (size_t c = 0; c < 3; ++c)
            saved[3 * (size_t)k + c] = (double)fit->targets[k].offsets[3 * (size_t)vertex + c];
}

static void RestoreVertex(const snwMorphFit* fit, int vertex, const double* saved)
{
    for (int k = 0; k < fit->targetCount; ++k)
        for (size_t c = 0; c < 3; ++c)
            fit->targets[k].offsets[3 * (size_t)vertex + c] = (float)saved[3 * (size_t)k + c];
}

// Numbers of a vertex one step up or down, wherever that lowers its largest error, until it is within the tolerance or
// nothing helps. Returns the error.
static double NudgeVertex(const snwMorphFitDef* def, const snwMorphFit* fit, int vertex, double error, double* left)
{
    size_t frames = (size_t)def->frameCount, vertices = (size_t)def->vertexCount, count = (size_t)fit->targetCount;
    double step = fit->numbers == snw_gltfWhole ? 1 : 1 / SNW_LARGEST_SHORT;
    const float* stretch = def->stretch + vertex;

    ErrorAt(def, fit, vertex, left);

    // One number of one target at a time, up and down.
    for (bool better = true; better && error > def->tolerance;)
    {
        better = false;
        for (size_t i = 0; i < 6 * count && error > def->tolerance; ++i)
        {
            size_t k = i / 6, axis = i / 2 % 3;
            double sign = i % 2 == 0 ? step : -step, most = 0;
            float* x = &fit->targets[k].offsets[3 * (size_t)vertex + axis];
            for (size_t f = 0; f < frames && most < error; ++f)
            {
                double l[3] = {left[3 * f], left[3 * f + 1], left[3 * f + 2]};
                l[axis] -= sign * (double)fit->weights[f * count + k];
                double length = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
                most = fmax(most, (double)stretch[f * vertices] * length);
            }

            // Kept if the worst frame is better, and the number still fits into its type.
            if (!(most < error) || fabs((double)*x + sign) > (step < 1 ? 1 : SNW_LARGEST_SHORT))
                continue;
            *x = (float)(round(((double)*x + sign) / step) * step);
            error = ErrorAt(def, fit, vertex, left);
            better = true;
        }
    }

    return error;
}

// Vertices that are out of the tolerance are fitted again, nearer and nearer.
static void FitAgain(int begin, int end, void* data)
{
    static const double s_nearer[] = {0.95, 0.9, 0.8, 0.6};
    Thinning* t = data;
    const snwMorphFitDef* def = t->def;
    snwMorphVertex* v = &t->vertices[begin / ThinnedGrain()];
    double* worst = &t->worst[begin / ThinnedGrain()];

    for (int i = t->first + begin; i < t->first + end && i < def->vertexCount; ++i)
    {
        // Vertices that move like another one take its numbers later.
        if (IsTwin(def, i))
            continue;
        double error = ErrorAt(def, t->fit, i, v->left), best = error;

        // Fitted nearer and nearer, until rounding does not lead out of the tolerance.
        for (size_t k = 0; k < sizeof s_nearer / sizeof *s_nearer && best > def->tolerance && t->again; ++k)
        {
            if (k == 0 || error == best)
                SaveVertex(t->fit, i, v->saved);
            snwMorphVertex_Load(v, def, i);
            snwMorphVertex_Fit(v, t->context, &t->fit->curves, s_nearer[k] * def->tolerance, false);
            PutShares(t->fit, v->shares, i);
            RoundVertex(t->fit, t->scales, i);
            error = ErrorAt(def, t->fit, i, v->left);
            best = fmin(best, error);
        }

        // The best that was seen; a last try by single steps.
        if (error > best)
            RestoreVertex(t->fit, i, v->saved);
        if (best > def->tolerance && t->again && t->fit->numbers != snw_gltfSparse)
            best = NudgeVertex(def, t->fit, i, best, v->left);
        error = best;
        *worst = fmax(*worst, error);
    }
}

snwResult snwRoundMorphs(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message)
{
    if (fit->targetCount == 0)
        return snw_ok;
    size_t count = (size_t)fit->targetCount;
    double* scales = snwArena_Alloc(arena, count, sizeof *scales);
    snwArena work = {.context = context};
    Thinning t = {.context = context, .def = def, .fit = fit, .scales = scales};
    t.again = fit->curves.count > 0 && fit->error <= def->tolerance;
    if (scales == NULL || !MakeRooms(&work, &t))
    {
        snwArena_Free(&work);
        return snwFailMemory(message);
    }

    // Weights take over the scales.
    fit->numbers = ChooseForm(def, fit, scales);
    for (size_t f = 0; f < (size_t)def->frameCount; ++f)
        for (size_t k = 0; k < count; ++k)
            fit->weights[f * count + k] = (float)((double)fit->weights[f * count + k] * scales[k]);
    for (int i = 0; i < def->vertexCount; ++i)
        RoundVertex(fit, scales, i);
    RoundNormals(fit, scales, def->vertexCount);

    // What rounding broke is fitted again.
    snwResult result = ForVertices(&t, FitAgain, 0.9, 1, &fit->error);
    CopyTwins(def, fit);
    snwArena_Free(&work);

    return result;
}
