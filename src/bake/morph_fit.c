#include "bake/morph_fit.h"

#include "linalg/symmetric.h"

#include <math.h>
#include <string.h>

#define SNW_FINER  0.1   // of the tolerance: what the space of the first step leaves out
#define SNW_RIDGE  1e-6  // of the mean diagonal, added to normal equations that may be singular
#define SNW_LEAST  1e-12 // of the first axis: shorter ones are noise
#define SNW_WITHIN 0.999 // of the tolerance: numbers are rounded when they are written

enum
{
    snw_maxAxes = 320,
    snw_lanes = 8
};

typedef struct Fitter
{
    snwContext* context;
    const snwMorphFitDef* def;
    snwArena work;
    size_t width;      // of a row: 3 * vertexCount
    float* rest;       // what is left of the offsets
    double* worst;     // per frame: largest of it, as it shows
    float** axes;      // unit, orthogonal
    double* shares;    // per frame a row of axisRoom
    const float* axis; // that is being taken out
    int column;        // its column of shares
    int axisCount, axisRoom;
} Fitter;

// ---------------------------------------------------------------------------------------------------------------------
// Rows

// In eight sums side by side: the same on every machine, and wide ones add them at once.
static double Dot(const float* a, const float* b, size_t count)
{
    double sums[snw_lanes] = {0};
    size_t i = 0;
    for (; i + snw_lanes <= count; i += snw_lanes)
        for (int k = 0; k < snw_lanes; ++k)
            sums[k] += (double)a[i + (size_t)k] * (double)b[i + (size_t)k];
    for (; i < count; ++i)
        sums[0] += (double)a[i] * (double)b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void AddScaled(float* row, const float* other, double factor, size_t count)
{
    float f = (float)factor;
    for (size_t i = 0; i < count; ++i)
        row[i] += f * other[i];
}

static double WorstOf(const Fitter* f, int frame)
{
    const float* row = f->rest + (size_t)frame * f->width;
    const float* stretch = f->def->stretch + (size_t)frame * (size_t)f->def->vertexCount;
    float worst = 0;
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        const float* r = row + 3 * (size_t)i;
        float square = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) * stretch[i] * stretch[i];
        worst = square > worst ? square : worst;
    }
    return sqrt((double)worst);
}

static void Judge(int begin, int end, void* data)
{
    Fitter* f = data;
    for (int i = begin; i < end; ++i)
        f->worst[i] = WorstOf(f, i);
}

// Takes the axis out of the frames.
static void Project(int begin, int end, void* data)
{
    Fitter* f = data;
    for (int i = begin; i < end; ++i)
    {
        float* row = f->rest + (size_t)i * f->width;
        double share = Dot(row, f->axis, f->width);
        f->shares[(size_t)i * (size_t)f->axisRoom + (size_t)f->column] = share;
        AddScaled(row, f->axis, -share, f->width);
        f->worst[i] = WorstOf(f, i);
    }
}

static int WorstFrame(const Fitter* f)
{
    int worst = 0;
    for (int i = 1; i < f->def->frameCount; ++i)
        worst = f->worst[i] > f->worst[worst] ? i : worst;
    return worst;
}

// ---------------------------------------------------------------------------------------------------------------------
// A space that holds all frames

// What is left of a frame as a unit axis, made orthogonal to the others once more; false if nothing is left.
static bool MakeAxis(Fitter* f, int frame)
{
    float* axis = snwArena_Alloc(&f->work, f->width, sizeof *axis);
    if (axis == NULL)
        return false;
    memcpy(axis, f->rest + (size_t)frame * f->width, f->width * sizeof *axis);
    double before = sqrt(Dot(axis, axis, f->width));
    for (int k = 0; k < f->axisCount; ++k)
        AddScaled(axis, f->axes[k], -Dot(axis, f->axes[k], f->width), f->width);
    double length = sqrt(Dot(axis, axis, f->width));
    if (!(length > 0.1 * before && length > 0))
        return false;
    for (size_t i = 0; i < f->width; ++i)
        axis[i] = (float)((double)axis[i] / length);
    f->axes[f->axisCount] = axis;
    return true;
}

static snwResult FindSpace(Fitter* f, snwMessage* message)
{
    snwParallelFor(f->context, f->def->frameCount, 1, Judge, f);
    for (;;)
    {
        int frame = WorstFrame(f);
        if (f->worst[frame] <= SNW_FINER * f->def->tolerance || f->axisCount == f->axisRoom || !MakeAxis(f, frame))
            break;
        f->axis = f->axes[f->axisCount];
        f->column = f->axisCount++;
        snwParallelFor(f->context, f->def->frameCount, 1, Project, f);
    }
    return f->work.failed ? snwFailMemory(message) : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Its axes turned

// vectors: axisCount rows, the principal axes in terms of the old ones.
static bool FindPrincipal(Fitter* f, double* values, double* vectors)
{
    size_t n = (size_t)f->axisCount, room = (size_t)f->axisRoom;
    double* gram = snwArena_Alloc(&f->work, n * n + 1, sizeof *gram);
    if (gram == NULL)
        return false;
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        const double* row = f->shares + (size_t)frame * room;
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
                gram[i * n + j] += row[i] * row[j];
    }
    snwSymmetric_Eigen(f->axisCount, gram, values, vectors);
    return true;
}

typedef struct Turning
{
    const Fitter* fitter;
    const double* vectors;
    float** axes;
} Turning;

static void TurnAxes(int begin, int end, void* data)
{
    const Turning* t = data;
    size_t n = (size_t)t->fitter->axisCount;
    for (int i = begin; i < end; ++i)
        for (size_t k = 0; k < n; ++k)
            AddScaled(t->axes[i], t->fitter->axes[k], t->vectors[(size_t)i * n + k], t->fitter->width);
}

// The axes and the frames' shares in them, most important first; then, one by one, as many as it takes.
static snwResult TakeModes(Fitter* f, int* modes, snwMessage* message)
{
    size_t n = (size_t)f->axisCount, rows = (size_t)f->def->frameCount;
    double* values = snwArena_Alloc(&f->work, n + 1, sizeof *values);
    double* vectors = snwArena_Alloc(&f->work, n * n + 1, sizeof *vectors);
    float** axes = snwArena_Alloc(&f->work, n + 1, sizeof *axes);
    for (size_t i = 0; i < n; ++i)
        axes[i] = snwArena_Alloc(&f->work, f->width, sizeof **axes);
    if (f->work.failed || !FindPrincipal(f, values, vectors))
        return snwFailMemory(message);
    Turning turning = {f, vectors, axes};
    snwParallelFor(f->context, f->axisCount, 1, TurnAxes, &turning);
    f->axes = axes;
    memcpy(f->rest, f->def->offsets, rows * f->width * sizeof *f->rest);
    snwParallelFor(f->context, f->def->frameCount, 1, Judge, f);
    *modes = 0;
    while (*modes < f->axisCount && f->worst[WorstFrame(f)] > SNW_WITHIN * f->def->tolerance &&
           values[*modes] > SNW_LEAST * SNW_LEAST * values[0])
    {
        f->axis = f->axes[*modes];
        f->column = (*modes)++;
        snwParallelFor(f->context, f->def->frameCount, 1, Project, f);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Targets

static double ShareOf(const Fitter* f, int frame, int mode)
{
    return f->shares[(size_t)frame * (size_t)f->axisRoom + (size_t)mode];
}

// The farthest that a mode goes with this sign.
static double Reach(const Fitter* f, int mode, double sign)
{
    double reach = 0;
    for (int i = 0; i < f->def->frameCount; ++i)
        reach = fmax(reach, sign * ShareOf(f, i, mode));
    return reach;
}

static bool AddTarget(const Fitter* f, snwArena* arena, int mode, bool minus, snwMorphFit* fit)
{
    double reach = Reach(f, mode, minus ? -1 : 1);
    snwMorphTarget* target = &fit->targets[fit->targetCount];
    *target = (snwMorphTarget){snwArena_Alloc(arena, f->width, sizeof(float)), mode, minus};
    if (target->offsets == NULL)
        return false;
    AddScaled(target->offsets, f->axes[mode], minus ? -reach : reach, f->width);
    ++fit->targetCount;
    return true;
}

static void SetWeights(const Fitter* f, snwMorphFit* fit)
{
    for (int t = 0; t < fit->targetCount; ++t)
    {
        const snwMorphTarget* target = &fit->targets[t];
        double sign = target->minus ? -1 : 1, reach = Reach(f, target->mode, sign);
        for (int i = 0; i < f->def->frameCount; ++i)
            fit->weights[(size_t)i * (size_t)fit->targetCount + (size_t)t] = (float)fmin(
                1, fmax(0, sign * ShareOf(f, i, target->mode) / reach));
    }
}

// What it all comes to with the numbers as they are written.
static double Measure(Fitter* f, const snwMorphFit* fit)
{
    memcpy(f->rest, f->def->offsets, (size_t)f->def->frameCount * f->width * sizeof *f->rest);
    for (int i = 0; i < f->def->frameCount; ++i)
        for (int t = 0; t < fit->targetCount; ++t)
            AddScaled(f->rest + (size_t)i * f->width, fit->targets[t].offsets,
                -(double)fit->weights[(size_t)i * (size_t)fit->targetCount + (size_t)t], f->width);
    snwParallelFor(f->context, f->def->frameCount, 1, Judge, f);
    return f->worst[WorstFrame(f)];
}

static snwResult MakeTargets(Fitter* f, snwArena* arena, int modes, snwMorphFit* fit, snwMessage* message)
{
    fit->targets = snwArena_Alloc(arena, 2 * (size_t)modes + 1, sizeof *fit->targets);
    bool made = fit->targets != NULL;
    for (int i = 0; i < 2 * modes && made; ++i)
    {
        if (!(Reach(f, i / 2, i % 2 == 0 ? 1 : -1) > 0))
            continue;
        ++fit->needed;
        if (fit->targetCount < f->def->maxTargets)
            made = AddTarget(f, arena, i / 2, i % 2 != 0, fit);
    }
    size_t numbers = (size_t)f->def->frameCount * (size_t)fit->targetCount;
    fit->weights = snwArena_Alloc(arena, numbers + 1, sizeof *fit->weights);
    if (!made || fit->weights == NULL)
        return snwFailMemory(message);
    SetWeights(f, fit);
    fit->error = Measure(f, fit);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult Fit(Fitter* f, snwArena* arena, snwMorphFit* fit, snwMessage* message)
{
    size_t rows = (size_t)f->def->frameCount;
    f->axisRoom = f->def->frameCount < snw_maxAxes ? f->def->frameCount : snw_maxAxes;
    f->axes = snwArena_Alloc(&f->work, (size_t)f->axisRoom + 1, sizeof *f->axes);
    f->worst = snwArena_Alloc(&f->work, rows, sizeof *f->worst);
    f->shares = snwArena_Alloc(&f->work, rows * (size_t)f->axisRoom, sizeof *f->shares);
    f->rest = snwArena_Copy(&f->work, f->def->offsets, rows * f->width, sizeof *f->rest);
    int modes = 0;
    snwResult result = f->work.failed ? snwFailMemory(message) : FindSpace(f, message);
    if (result >= 0)
        result = TakeModes(f, &modes, message);
    return result < 0 ? result : MakeTargets(f, arena, modes, fit, message);
}

snwResult snwFitMorphs(
    snwContext* context, snwArena* arena, const snwMorphFitDef* def, snwMorphFit* fit, snwMessage* message)
{
    Fitter f = {.context = context, .def = def, .work = {.context = context}, .width = 3 * (size_t)def->vertexCount};
    *fit = (snwMorphFit){0};
    snwResult result = Fit(&f, arena, fit, message);
    snwArena_Free(&f.work);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Anything else that follows the weights

// Cholesky, in place; a is symmetric and positive definite, thanks to the ridge.
static void Factor(double* a, size_t n)
{
    for (size_t j = 0; j < n; ++j)
        for (size_t i = j; i < n; ++i)
        {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; ++k)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
}

static void Solve(const double* l, size_t n, double* x)
{
    for (size_t i = 0; i < n; ++i)
    {
        for (size_t k = 0; k < i; ++k)
            x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;)
    {
        for (size_t k = i + 1; k < n; ++k)
            x[i] -= l[k * n + i] * x[k];
        x[i] /= l[i * n + i];
    }
}

double* snwMorphFit_Shares(snwArena* arena, const snwMorphFit* fit, int frameCount)
{
    size_t n = (size_t)fit->targetCount, rows = (size_t)frameCount;
    double* shares = snwArena_Alloc(arena, n * rows + 1, sizeof *shares);
    double* gram = snwArena_Alloc(arena, n * n + 1, sizeof *gram);
    double* x = snwArena_Alloc(arena, n + 1, sizeof *x);
    if (arena->failed)
        return NULL;
    double trace = 0;
    for (size_t f = 0; f < rows; ++f)
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
                gram[i * n + j] += (double)fit->weights[f * n + i] * (double)fit->weights[f * n + j];
    for (size_t i = 0; i < n; ++i)
        trace += gram[i * n + i];
    for (size_t i = 0; i < n; ++i)
        gram[i * n + i] += SNW_RIDGE * trace / (double)n;
    Factor(gram, n);
    for (size_t f = 0; f < rows; ++f)
    {
        for (size_t i = 0; i < n; ++i)
            x[i] = (double)fit->weights[f * n + i];
        Solve(gram, n, x);
        for (size_t i = 0; i < n; ++i)
            shares[i * rows + f] = x[i];
    }
    return shares;
}
