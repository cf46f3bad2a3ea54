// Curves for morph targets: a few tracks over the frames of which every vertex' motion is a mixture, within a
// tolerance in every frame. Found by least squares in turns over the vertices that are worst, with frames that are
// off most weighing more, and turned so that targets come out sparse.

#include "bake/morph_curves.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

#define SNW_GAIN      0.97 // of the error: what a round has to reach to count as progress
#define SNW_MOST_WORK 2e10 // multiplications of all rounds; beyond, curves are added instead of fitted
#define SNW_ALONE     1.02 // of the goal: what a vertex of the fit may be off when it is fitted alone
#define SNW_CLOSE     1.5  // times the goal: from here on weights change more slowly
#define SNW_SHORTEST  1e-6 // of its length: what a curve must have of its own

enum
{
    curves_firstActive = 256, // vertices of the fit
    curves_moreActive = 48,   // that join it at once
    curves_chunks = 16,       // of a parallel loop: each has its own room to work
    curves_checked = 32,      // vertices between two looks at the interrupt
    curves_patience = 5,      // rounds without progress before a curve is added
    curves_turns = 8,         // sweeps over all pairs of curves
    curves_powers = 6         // steps of the power method for new curves
};

typedef struct Active
{
    int vertex;
    double* track;   // [3 frames]
    double* left;    // [3 frames]
    double* shown;   // [frames]
    double* errors;  // [frames]
    double* boosts;  // [frames] weights beyond one
    double* targets; // [3 stride]
    double most;     // of its errors
} Active;

typedef struct Room
{
    double *gram, *right, *factor;
} Room;

typedef struct Search
{
    snwContext* context;
    const snwMorphFitDef* def;
    double goal;
    snwArena work;
    snwMorphCurves* curves;
    Active* active;
    int activeCount, activeRoom;
    bool* isActive; // per vertex
    double* errors; // per vertex: of the last check, 0 where it is near enough
    double* common; // [stride stride] what all rows of the matrix share
    Room rooms[curves_chunks];
    snwMorphVertex vertices[curves_chunks];
    double* best; // columns of the best curves of this number
    double bestError;
    int firstVertex; // of a part of a check
    double multiplications;
    double share; // of the way, as it was told
    double firstError;
} Search;

static size_t Frames(const Search* s)
{
    return (size_t)s->def->frameCount;
}

static int CurveGrain(int count)
{
    return (count + curves_chunks - 1) / curves_chunks;
}

static snwResult TellSearch(Search* s, double error)
{
    if (error > 0 && s->firstError > s->goal)
        s->share = fmax(s->share, fmin(0.9, log(s->firstError / fmax(error, s->goal)) / log(s->firstError / s->goal)));
    return s->def->progress == NULL ? snw_ok : s->def->progress(s->share, s->def->user);
}

// ---------------------------------------------------------------------------------------------------------------------
// Curves

static void CopyToRows(Search* s)
{
    snwMorphCurves* c = s->curves;
    for (int k = 0; k < c->count; ++k)
        for (size_t f = 0; f < Frames(s); ++f)
            c->rows[f * (size_t)c->stride + (size_t)k] = c->columns[(size_t)k * Frames(s) + f];
}

// Curves from `first` on become orthonormal to all before them; those that have nothing of their own go.
static void Orthonormalize(Search* s, int first)
{
    snwMorphCurves* c = s->curves;
    size_t frames = Frames(s);
    int kept = first;
    for (int k = first; k < c->count; ++k)
    {
        // Gram and Schmidt, twice: the second pass takes out what rounding left of the first.
        double* column = c->columns + (size_t)kept * frames;
        if (kept != k)
            memcpy(column, c->columns + (size_t)k * frames, frames * sizeof *column);
        double before = sqrt(snwMorphDot(column, column, frames)), length = before;
        for (int pass = 0; pass < 2; ++pass)
        {
            for (int i = 0; i < kept; ++i)
            {
                const double* other = c->columns + (size_t)i * frames;
                double share = snwMorphDot(column, other, frames);
                for (size_t f = 0; f < frames; ++f)
                    column[f] -= share * other[f];
            }
            length = sqrt(snwMorphDot(column, column, frames));
        }

        // Nothing of its own: it goes.
        if (!(length > SNW_SHORTEST * before && length > 1e-150))
            continue;
        for (size_t f = 0; f < frames; ++f)
            column[f] /= length;
        ++kept;
    }

    c->count = kept;
    CopyToRows(s);
}

// Those that take most of what is left, as it weighs: from the worst vertices, by the power method.
static void AddCurves(Search* s, int count)
{
    snwMorphCurves* c = s->curves;
    size_t frames = Frames(s);
    int first = c->count;
    double* sum = s->rooms[0].right;

    for (int n = 0; n < count && c->count < c->stride; ++n)
    {
        // From the vertex that is worst, along the axis on which it is.
        Active* worst = NULL;
        for (int i = 0; i < s->activeCount; ++i)
            if (s->active[i].most > 0 && (worst == NULL || s->active[i].most > worst->most))
                worst = &s->active[i];
        if (worst == NULL)
            break;
        int axis = 0;
        double lengths[3];

        for (int k = 0; k < 3; ++k)
        {
            const double* left = worst->left + (size_t)k * frames;
            lengths[k] = snwMorphDot(left, left, frames);
            axis = lengths[k] > lengths[axis] ? k : axis;
        }

        memcpy(c->columns + (size_t)c->count++ * frames, worst->left + (size_t)axis * frames, frames * sizeof(double));
        worst->most = 0; // the next one starts elsewhere
    }

    Orthonormalize(s, first);

    // The power method on what is left of all active vertices, orthonormalised after each step.
    for (int power = 0; power < curves_powers; ++power)
    {
        for (int k = first; k < c->count; ++k)
        {
            double* column = c->columns + (size_t)k * frames;
            memset(sum, 0, frames * sizeof *sum);

            // Times L L^T, L being what is left, as it weighs.
            for (int i = 0; i < s->activeCount; ++i)
                for (size_t axis = 0; axis < 3; ++axis)
                {
                    const Active* a = &s->active[i];
                    const double* left = a->left + axis * frames;
                    double share = 0;
                    for (size_t f = 0; f < frames; ++f)
                        share += (1 + a->boosts[f]) * left[f] * column[f];
                    for (size_t f = 0; f < frames; ++f)
                        sum[f] += share * (1 + a->boosts[f]) * left[f];
                }

            memcpy(column, sum, frames * sizeof *sum);
        }
        Orthonormalize(s, first);
    }

    s->multiplications += 9.0 * curves_powers * count * (double)frames * s->activeCount;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rounds of least squares in turns

// gram += factor * row row^T, the lower triangle.
static void AddOuter(double* gram, size_t n, double factor, const double* row)
{
    for (size_t i = 0; i < n; ++i)
    {
        double scaled = factor * row[i];
        double* out = gram + i * n;
        for (size_t j = 0; j <= i; ++j)
            out[j] += scaled * row[j];
    }
}

static void AddScaledRow(double* out, double factor, const double* row, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        out[i] += factor * row[i];
}

static void FitTarget(Search* s, Active* a, const Room* room)
{
    const snwMorphCurves* c = s->curves;
    size_t frames = Frames(s), n = (size_t)c->count, next = (size_t)(c->stride + 7) / 8 * 8;
    memset(room->gram, 0, n * n * sizeof(double));
    memset(room->right, 0, 3 * next * sizeof(double));

    // Normal equations; with orthonormal curves they are the unit matrix and what the boosted frames add.
    for (size_t i = 0; i < n; ++i)
        room->gram[i * n + i] = 1;

    for (size_t f = 0; f < frames; ++f)
    {
        const double* row = c->rows + f * (size_t)c->stride;
        if (a->boosts[f] > 0)
            AddOuter(room->gram, n, a->boosts[f], row);
        for (size_t axis = 0; axis < 3; ++axis)
            AddScaledRow(room->right + axis * next, (1 + a->boosts[f]) * a->track[axis * frames + f], row, n);
    }

    // Three right sides with one factor; what they leave is kept for the next step.
    snwDense dense = {snwCholesky_Kernels(s->context->simd), (int)n, room->factor};
    snwDense_Factor(&dense, room->gram, (int)n);
    memcpy(a->left, a->track, 3 * frames * sizeof(double));
    for (size_t axis = 0; axis < 3; ++axis)
    {
        snwDense_Solve(&dense, room->right + axis * next);
        memcpy(a->targets + axis * (size_t)c->stride, room->right + axis * next, n * sizeof(double));
        for (size_t k = 0; k < n; ++k)
            AddScaledRow(a->left + axis * frames, -room->right[axis * next + k], c->columns + k * frames, frames);
    }

    // Errors as they are seen, frame by frame.
    a->most = 0;
    for (size_t f = 0; f < frames; ++f)
    {
        double x = a->left[f], y = a->left[frames + f], z = a->left[2 * frames + f];
        a->errors[f] = a->shown[f] * sqrt(x * x + y * y + z * z);
        a->most = fmax(a->most, a->errors[f]);
    }
}

static void FitActiveTargets(int begin, int end, void* data)
{
    Search* s = data;
    for (int i = begin; i < end; ++i)
        FitTarget(s, &s->active[i], &s->rooms[begin / CurveGrain(s->activeCount)]);
}

// The numbers of a frame on all curves but the constant one.
static void FitFrame(Search* s, size_t frame, const Room* room)
{
    const snwMorphCurves* c = s->curves;
    size_t frames = Frames(s), n = (size_t)c->count, stride = (size_t)c->stride;
    memcpy(room->gram, s->common, n * n * sizeof(double));
    memset(room->right, 0, n * sizeof(double));

    // Normal equations of a frame: the common matrix, and what vertices with a boost here add.
    for (int i = 0; i < s->activeCount; ++i)
    {
        const Active* a = &s->active[i];
        double boost = a->boosts[frame];
        for (size_t axis = 0; axis < 3; ++axis)
        {
            const double* row = a->targets + axis * stride;
            if (boost > 0)
                AddOuter(room->gram, n, boost, row);
            AddScaledRow(room->right, (1 + boost) * a->track[axis * frames + frame], row, n);
        }
    }

    // The constant curve keeps its number, so it goes to the right side.
    double* row = c->rows + frame * stride;
    double ridge = 0;
    for (size_t i = 1; i < n; ++i)
        ridge = fmax(ridge, room->gram[i * n + i]);
    for (size_t i = 1; i < n; ++i)
    {
        room->right[i] -= room->gram[i * n] * row[0];
        room->gram[i * n + i] += 1e-11 * ridge + 1e-300;
    }

    // A ridge decides between curves that hardly differ.
    double* right = room->right + (size_t)(c->stride + 7) / 8 * 8;
    memcpy(right, room->right + 1, (n - 1) * sizeof(double));
    snwDense dense = {snwCholesky_Kernels(s->context->simd), (int)n - 1, room->factor};
    if (n < 2 || snwDense_Factor(&dense, room->gram + n + 1, (int)n) >= 0)
        return; // the frame keeps its numbers
    snwDense_Solve(&dense, right);
    memcpy(row + 1, right, (n - 1) * sizeof(double));
}

static void FitFrames(int begin, int end, void* data)
{
    Search* s = data;
    for (int f = begin; f < end; ++f)
        FitFrame(s, (size_t)f, &s->rooms[begin / CurveGrain(s->def->frameCount)]);
}

static void FitCurves(Search* s)
{
    snwMorphCurves* c = s->curves;
    size_t n = (size_t)c->count;
    memset(s->common, 0, n * n * sizeof *s->common);
    for (int i = 0; i < s->activeCount; ++i)
        for (size_t axis = 0; axis < 3; ++axis)
            AddOuter(s->common, n, 1, s->active[i].targets + axis * (size_t)c->stride);
    snwParallelFor(s->context, s->def->frameCount, CurveGrain(s->def->frameCount), FitFrames, s);
    for (size_t k = 1; k < n; ++k)
        for (size_t f = 0; f < Frames(s); ++f)
            c->columns[k * Frames(s) + f] = c->rows[f * (size_t)c->stride + k];
    Orthonormalize(s, 1);
}

// What is off most weighs more in the next round.
static void ReweighVertices(Search* s, double most)
{
    double boosted = 0, n = s->curves->count;
    bool gentle = most < SNW_CLOSE * s->goal;
    for (int i = 0; i < s->activeCount; ++i)
        for (size_t f = 0; f < Frames(s); ++f)
        {
            Active* a = &s->active[i];
            double ratio = gentle ? a->errors[f] / (0.85 * most) : a->errors[f] / (0.75 * most);
            double weight = (1 + a->boosts[f]) * (gentle ? fmax(ratio, 0.7) : fmax(ratio * ratio, 0.5));
            a->boosts[f] = fmin(fmax(weight - 1, 0), 1e5);
            boosted += a->boosts[f] > 0;
        }
    s->multiplications += 2 * boosted * n * n + (double)(Frames(s) + (size_t)s->activeCount) * n * n * n / 6 +
                          9 * (double)Frames(s) * s->activeCount * n;
}

static double WorstActive(const Search* s)
{
    double most = 0;
    for (int i = 0; i < s->activeCount; ++i)
        most = fmax(most, s->active[i].most);
    return most;
}

static void KeepBest(Search* s, double error)
{
    if (!(error < s->bestError))
        return;
    s->bestError = error;
    memcpy(s->best, s->curves->columns, (size_t)s->curves->count * Frames(s) * sizeof *s->best);
}

// Rounds until all active vertices are within the goal, with more curves where rounds do not help.
static snwResult FitActive(Search* s)
{
    snwMorphCurves* c = s->curves;
    double mark = INFINITY;
    int idle = 0;

    s->bestError = INFINITY;
    for (;;)
    {
        snwParallelFor(s->context, s->activeCount, CurveGrain(s->activeCount), FitActiveTargets, s);
        double most = WorstActive(s);
        KeepBest(s, most);
        snwResult result = TellSearch(s, most);
        if (result < 0 || most <= s->goal)
            return result;

        // Progress is at least three percent of the error.
        idle = most < SNW_GAIN * mark ? 0 : idle + 1;
        mark = fmin(mark, most);
        bool tired = s->multiplications > SNW_MOST_WORK;
        if (idle < (mark < 1.1 * s->goal ? 2 * curves_patience : curves_patience) && !tired)
        {
            ReweighVertices(s, most);
            FitCurves(s);
            continue;
        }

        // No more curves to be had, or as many more as the error asks for.
        if (c->count == c->stride)
            break;
        double ratio = mark / s->goal;
        int more = (int)(c->count * fmin((ratio - 1) * 0.25, 1));
        AddCurves(s, more < 1 ? 1 : tired && more < c->count / 8 ? c->count / 8 : more);
        idle = 0;
        mark = s->bestError = INFINITY;
    }

    // The best that was seen, not the last.
    memcpy(c->columns, s->best, (size_t)c->count * Frames(s) * sizeof *s->best);
    CopyToRows(s);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which vertices

static bool Activate(Search* s, int vertex)
{
    size_t frames = Frames(s);
    if (s->activeCount == s->activeRoom || s->isActive[vertex])
        return true;

    // One block for all of its numbers.
    double* numbers = snwArena_Alloc(&s->work, 9 * frames + 3 * (size_t)s->curves->stride, sizeof *numbers);
    if (numbers == NULL)
        return false;

    Active* a = &s->active[s->activeCount++];
    *a = (Active){.vertex = vertex,
        .track = numbers,
        .left = numbers + 3 * frames,
        .shown = numbers + 6 * frames,
        .errors = numbers + 7 * frames,
        .boosts = numbers + 8 * frames,
        .targets = numbers + 9 * frames};
    s->isActive[vertex] = true;
    snwMorphVertex loaded = {.track = a->track, .shown = a->shown};
    snwMorphVertex_Load(&loaded, s->def, vertex);

    return true;
}

static bool IsTwin(const Search* s, int vertex)
{
    return s->def->twins != NULL && s->def->twins[vertex] != vertex;
}

// How far the curves are off at a vertex, at best.
static void CheckVertices(int begin, int end, void* data)
{
    Search* s = data;
    snwMorphVertex* v = &s->vertices[begin / CurveGrain(curves_checked)];
    for (int i = begin; i < end && s->firstVertex + i < s->def->vertexCount; ++i)
    {
        int vertex = s->firstVertex + i;
        s->errors[vertex] = 0;
        if (IsTwin(s, vertex))
            continue;
        snwMorphVertex_Load(v, s->def, vertex);
        double error = snwMorphVertex_Fit(v, s->context, s->curves, s->goal, true);
        s->errors[vertex] = error > s->goal ? error : 0;
    }
}

static snwResult CheckErrors(Search* s)
{
    snwResult result = snw_ok;
    int off = 0;
    memset(s->errors, 0, (size_t)s->def->vertexCount * sizeof *s->errors);
    for (s->firstVertex = 0; s->firstVertex < s->def->vertexCount && result >= 0; s->firstVertex += curves_checked)
    {
        snwParallelFor(s->context, curves_checked, CurveGrain(curves_checked), CheckVertices, s);
        for (int i = s->firstVertex; i < s->firstVertex + curves_checked && i < s->def->vertexCount; ++i)
            off += s->errors[i] > 0 && !s->isActive[i];
        if (off >= 4 * curves_moreActive)
            break; // more than can join
        result = TellSearch(s, 0);
    }
    return result;
}

// The worst of those that are not in the fit join it. Returns how many, -1: no memory.
static int ActivateWorst(Search* s, int most)
{
    int added = 0;
    for (; added < most; ++added)
    {
        int worst = -1;
        for (int i = 0; i < s->def->vertexCount; ++i)
            if (!s->isActive[i] && s->errors[i] > 0 && (worst < 0 || s->errors[i] > s->errors[worst]))
                worst = i;
        if (worst < 0 || s->activeCount == s->activeRoom)
            break;
        if (!Activate(s, worst))
            return -1;
    }
    return added;
}

// How far each vertex moves at most: what a fit without curves would be off.
static void FindMotions(Search* s)
{
    for (int f = 0; f < s->def->frameCount; ++f)
        for (int i = 0; i < s->def->vertexCount; ++i)
        {
            size_t at = (size_t)f * (size_t)s->def->vertexCount + (size_t)i;
            const float* x = s->def->offsets + 3 * at;
            double square = (double)x[0] * (double)x[0] + (double)x[1] * (double)x[1] + (double)x[2] * (double)x[2];
            double shown = sqrt(square) * (double)s->def->stretch[at];
            if (!IsTwin(s, i) && shown > s->goal)
                s->errors[i] = fmax(s->errors[i], shown);
        }
}

// Half of the first ones are those that move most, the other half are spread over all that move.
static bool ActivateFirst(Search* s)
{
    int moving = 0, seen = 0;
    for (int i = 0; i < s->def->vertexCount; ++i)
        moving += s->errors[i] > 0;
    int step = moving / (curves_firstActive / 2) + 1;
    for (int i = 0; i < s->def->vertexCount; ++i)
        if (s->errors[i] > 0 && seen++ % step == 0 && !Activate(s, i))
            return false;
    return ActivateWorst(s, curves_firstActive / 2) >= 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which axes

// Turns two curves in their plane so that vertices follow one or the other: the sum of the targets' fourth powers grows
// (quartimax; varimax, which counts them per target, leaves a few percent more). The targets turn with them.
static void TurnPair(Search* s, size_t i, size_t j)
{
    snwMorphCurves* c = s->curves;
    size_t frames = Frames(s), stride = (size_t)c->stride;

    // Sums over all targets, axis by axis.
    double squares = 0, products = 0;
    for (int a = 0; a < s->activeCount; ++a)
        for (size_t axis = 0; axis < 3; ++axis)
        {
            double x = s->active[a].targets[axis * stride + i], y = s->active[a].targets[axis * stride + j];
            double u = x * x - y * y, v = 2 * x * y;
            squares += u * u - v * v;
            products += 2 * u * v;
        }

    // By a quarter of the angle between (1, 0) and (squares, products): roots have the same bits on every machine.
    double length = sqrt(squares * squares + products * products);
    if (!(length > 0))
        return;
    double half = sqrt(fmax(0.5 + 0.5 * squares / length, 0)), co = sqrt(0.5 + 0.5 * half);
    double si = copysign(sqrt(fmax(0.5 - 0.5 * squares / length, 0)), products) / (2 * co);

    // Both rows turn together, so that nothing changes but the axes.
    for (int a = 0; a < s->activeCount; ++a)
        for (size_t axis = 0; axis < 3; ++axis)
        {
            double *x = &s->active[a].targets[axis * stride + i], *y = &s->active[a].targets[axis * stride + j];
            double turned = co * *x + si * *y;
            *y = co * *y - si * *x;
            *x = turned;
        }

    double *x = c->columns + i * frames, *y = c->columns + j * frames;
    for (size_t f = 0; f < frames; ++f)
    {
        double turned = co * x[f] + si * y[f];
        y[f] = co * y[f] - si * x[f];
        x[f] = turned;
    }
}

// Axes along which most vertices have no share: targets become sparser, and the space that they span stays the same.
static snwResult TurnCurves(Search* s)
{
    snwResult result = snw_ok;
    snwParallelFor(s->context, s->activeCount, CurveGrain(s->activeCount), FitActiveTargets, s);
    for (int sweep = 0; sweep < curves_turns && result >= 0; ++sweep)
    {
        for (int i = 1; i < s->curves->count; ++i)
            for (int j = i + 1; j < s->curves->count; ++j)
                TurnPair(s, (size_t)i, (size_t)j);
        result = TellSearch(s, 0);
    }
    Orthonormalize(s, 1);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

static bool AllocateCurves(Search* s, snwArena* arena)
{
    const snwMorphFitDef* def = s->def;
    snwMorphCurves* c = s->curves;
    size_t frames = Frames(s), vertices = (size_t)def->vertexCount;

    // Curves by frames, both ways round, and what a round needs.
    c->frameCount = def->frameCount;
    c->stride = def->frameCount < def->maxTargets ? def->frameCount : def->maxTargets;
    size_t stride = (size_t)c->stride, padded = (stride + 7) / 8 * 8;
    c->rows = snwArena_Alloc(arena, frames * stride, sizeof(double));
    c->columns = snwArena_Alloc(arena, frames * stride, sizeof(double));
    s->best = snwArena_Alloc(&s->work, frames * stride, sizeof(double));
    s->common = snwArena_Alloc(&s->work, stride * stride, sizeof(double));
    s->activeRoom = def->vertexCount < 8 * curves_firstActive ? def->vertexCount : 8 * curves_firstActive;
    s->active = snwArena_Alloc(&s->work, (size_t)s->activeRoom + 1, sizeof *s->active);
    s->isActive = snwArena_Alloc(&s->work, vertices + 1, sizeof *s->isActive);
    s->errors = snwArena_Alloc(&s->work, vertices + 1, sizeof *s->errors);

    // Room per chunk of vertices, so that threads do not meet.
    for (int i = 0; i < curves_chunks; ++i)
    {
        s->rooms[i].gram = snwArena_Alloc(&s->work, stride * stride, sizeof(double));
        s->rooms[i].right = snwArena_Alloc(&s->work, 3 * padded + frames, sizeof(double));
        s->rooms[i].factor = snwArena_Alloc(&s->work, snwDense_Count(c->stride), sizeof(double));
        snwMorphVertex_Make(&s->work, def->frameCount, c->stride, &s->vertices[i]);
    }

    return !arena->failed && !s->work.failed;
}

static snwResult FindCurves(Search* s, snwArena* arena, snwMessage* message)
{
    if (!AllocateCurves(s, arena))
        return snwFailMemory(message);

    // The first error is that of no curves at all.
    FindMotions(s);
    for (int i = 0; i < s->def->vertexCount; ++i)
        s->firstError = fmax(s->firstError, s->errors[i]);
    if (!(s->firstError > 0))
        return snw_ok; // nothing moves
    if (!ActivateFirst(s))
        return snwFailMemory(message);

    // The first curve is constant; then rounds, checks of all other vertices, and more vertices in the fit.
    for (size_t f = 0; f < Frames(s); ++f)
        s->curves->columns[f] = 1;
    s->curves->count = 1;
    Orthonormalize(s, 0);
    for (;;)
    {
        snwResult result = FitActive(s);
        if (result >= 0)
            result = CheckErrors(s);
        if (result < 0 || s->curves->count == s->curves->stride)
            return result;
        int added = ActivateWorst(s, curves_moreActive);
        if (added < 0)
            return snwFailMemory(message);

        // Vertices of the fit that are off when each is fitted alone, or that do not fit in: one more curve.
        double most = 0;
        for (int i = 0; i < s->def->vertexCount && added == 0; ++i)
            most = fmax(most, s->errors[i]);
        if (added == 0 && most <= SNW_ALONE * s->goal)
            return snw_ok;
        if (added == 0)
            AddCurves(s, 1);
    }
}

snwResult snwFindMorphCurves(snwContext* context, snwArena* arena, const snwMorphFitDef* def, double goal,
    snwMorphCurves* curves, snwMessage* message)
{
    Search s = {.context = context, .def = def, .goal = goal, .work = {.context = context}, .curves = curves};
    *curves = (snwMorphCurves){0};
    snwResult result = FindCurves(&s, arena, message);
    if (result >= 0 && curves->count > 2)
        result = TurnCurves(&s);
    snwArena_Free(&s.work);
    return result;
}
