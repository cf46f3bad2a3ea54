#include "bake/joint_fit.h"

#include "math/eigen.h"

#include <math.h>
#include <string.h>

#define SNW_LIGHT 1e-3 // a helper's weight that tells nothing about its pose
#define SNW_FADED 1e-4 // weights that are dropped

enum
{
    snw_firstHelpers = 6,
    snw_rounds = 4,      // of poses and weights, after helpers joined
    snw_lastRounds = 12, // the same, once there are no more
    snw_near = 8,        // helpers that a vertex may choose from
    snw_mostOwn = 8,     // joints of its own that it may choose from
    snw_choices = snw_near + snw_mostOwn + snw_influences,
    snw_exchanges = 400, // of weights between two influences
    snw_trials = 30,     // the same, to see what an influence is worth
    snw_grain = 64
};

typedef struct Fitter
{
    snwContext* context;
    const snwJointFitDef* def;
    snwJointFit* fit;
    snwArena work;
    snwAffine* inverses; // [frame * jointCount + joint] of the places
    snwAffine* bends;    // [bone * frameCount + frame] from bind space to the world; bones are joints, then helpers
    snwVec3* rests;      // per vertex, in bind space, first frame
    double* errors;      // per vertex: mean square over frames
    double* worst;       // the same of its worst frame
    double* distances;   // per vertex: square of that to the nearest helper
    snwVec3* centres;    // per helper, in bind space
    int (*nearest)[snw_near];
    int* vertices; // that follow a helper
} Fitter;

// ---------------------------------------------------------------------------------------------------------------------
// Where things are

static snwVec3 Get(const float* values, const Fitter* f, int frame, int vertex)
{
    const float* x = values + 3 * ((size_t)frame * (size_t)f->def->vertexCount + (size_t)vertex);
    return (snwVec3){(double)x[0], (double)x[1], (double)x[2]};
}

static const snwAffine* PlaceOf(const Fitter* f, int frame, int joint)
{
    return &f->def->places[(size_t)frame * (size_t)f->def->jointCount + (size_t)joint];
}

static snwTransform* PoseOf(const Fitter* f, int frame, int helper)
{
    return &f->fit->poses[(size_t)frame * (size_t)f->def->mostHelpers + (size_t)helper];
}

static snwAffine* BendOf(const Fitter* f, int frame, int bone)
{
    return &f->bends[(size_t)bone * (size_t)f->def->frameCount + (size_t)frame];
}

static void BendJoint(Fitter* f, int frame, int joint)
{
    *BendOf(f, frame, joint) = snwAffine_Compose(*PlaceOf(f, frame, joint), f->def->inverseBinds[joint]);
}

static void BendHelper(const Fitter* f, int frame, int helper)
{
    const snwHelperJoint* h = &f->fit->helpers[helper];
    snwAffine centred = f->def->inverseBinds[h->parent];
    centred.translation = snwVec3_Sub(centred.translation, h->centre);
    snwAffine posed = snwAffine_Compose(snwAffine_FromTransform(*PoseOf(f, frame, helper)), centred);
    *BendOf(f, frame, f->def->jointCount + helper) = snwAffine_Compose(*PlaceOf(f, frame, h->parent), posed);
}

// A vertex as if it followed one joint or helper alone.
static snwVec3 Follow(const Fitter* f, int frame, int bone, snwVec3 base)
{
    return snwAffine_Apply(*BendOf(f, frame, bone), base);
}

static snwVec3 Skin(const Fitter* f, int frame, int vertex)
{
    snwVec3 base = Get(f->def->bases, f, frame, vertex), sum = {0, 0, 0};
    for (int k = 0; k < snw_influences; ++k)
    {
        double weight = (double)f->fit->weights[vertex][k];
        if (weight > 0)
            sum = snwVec3_MulAdd(sum, weight, Follow(f, frame, f->fit->bones[vertex][k], base));
    }
    return sum;
}

static void MeasureVertices(int begin, int end, void* data)
{
    Fitter* f = data;
    for (int i = begin; i < end; ++i)
    {
        double worst = 0, sum = 0;
        for (int frame = 0; frame < f->def->frameCount; ++frame)
        {
            double square = snwVec3_LengthSquared(snwVec3_Sub(Skin(f, frame, i), Get(f->def->targets, f, frame, i)));
            worst = fmax(worst, square);
            sum += square;
        }
        f->errors[i] = sum / f->def->frameCount;
        f->worst[i] = worst;
    }
}

static void Measure(Fitter* f)
{
    double worst = 0, sum = 0;
    snwParallelFor(f->context, f->def->vertexCount, snw_grain, MeasureVertices, f);
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        worst = fmax(worst, f->worst[i]);
        sum += f->errors[i];
    }
    f->fit->maxError = sqrt(worst);
    f->fit->rmsError = sqrt(sum / f->def->vertexCount);
}

// ---------------------------------------------------------------------------------------------------------------------
// Poses

// What the other influences leave to a helper, in the space of its parent; false if it has too little say.
static bool Wanted(const Fitter* f, int frame, int vertex, int helper, snwVec3* wanted, double* weight)
{
    int bone = f->def->jointCount + helper, parent = f->fit->helpers[helper].parent;
    snwVec3 base = Get(f->def->bases, f, frame, vertex), left = Get(f->def->targets, f, frame, vertex);
    *weight = 0;
    for (int k = 0; k < snw_influences; ++k)
    {
        double share = (double)f->fit->weights[vertex][k];
        if (f->fit->bones[vertex][k] == bone)
            *weight = share;
        else if (share > 0)
            left = snwVec3_MulAdd(left, -share, Follow(f, frame, f->fit->bones[vertex][k], base));
    }
    if (*weight < SNW_LIGHT)
        return false;
    const snwAffine* inverse = &f->inverses[(size_t)frame * (size_t)f->def->jointCount + (size_t)parent];
    *wanted = snwAffine_Apply(*inverse, snwVec3_Scale(left, 1 / *weight));
    return true;
}

typedef struct Posing
{
    Fitter* fitter;
    int helper;
    const int* vertices; // that follow it
    int count;
} Posing;

// The rigid motion that fits best: Kabsch, with the squares of the weights.
static void PoseFrames(int begin, int end, void* data)
{
    const Posing* p = data;
    const Fitter* f = p->fitter;
    const snwHelperJoint* helper = &f->fit->helpers[p->helper];
    for (int frame = begin; frame < end; ++frame)
    {
        snwVec3 from = {0, 0, 0}, to = {0, 0, 0};
        snwMat3 turn = {0};
        double total = 0;
        for (int i = 0; i < p->count; ++i)
        {
            snwVec3 wanted, base = Get(f->def->bases, f, frame, p->vertices[i]);
            double weight;
            if (!Wanted(f, frame, p->vertices[i], p->helper, &wanted, &weight))
                continue;
            double say = weight * weight;
            snwVec3 own = snwVec3_Sub(snwAffine_Apply(f->def->inverseBinds[helper->parent], base), helper->centre);
            wanted = snwVec3_Sub(wanted, helper->centre);
            from = snwVec3_MulAdd(from, say, own);
            to = snwVec3_MulAdd(to, say, wanted);
            turn = snwMat3_Add(turn, snwMat3_Scale(snwMat3_Outer(wanted, own), say));
            total += say;
        }
        if (!(total > 0))
            continue;
        from = snwVec3_Scale(from, 1 / total);
        to = snwVec3_Scale(to, 1 / total);
        turn = snwMat3_Sub(turn, snwMat3_Scale(snwMat3_Outer(to, from), total));
        snwPolar3 polar = snwPolar3_Compute(turn);
        snwQuat q = polar.uniqueness > 1e-9 ? snwQuat_FromMat3(polar.rotation) : snwQuat_Identity();
        snwVec3 shift = snwVec3_Sub(to, snwQuat_Rotate(q, from));
        *PoseOf(f, frame, p->helper) = (snwTransform){snwVec3_Add(helper->centre, shift), q};
        BendHelper(f, frame, p->helper);
    }
}

static void PoseHelper(Fitter* f, int helper)
{
    Posing posing = {f, helper, f->vertices, 0};
    for (int i = 0; i < f->def->vertexCount; ++i)
        for (int k = 0; k < snw_influences; ++k)
            if (f->fit->bones[i][k] == f->def->jointCount + helper && (double)f->fit->weights[i][k] >= SNW_LIGHT)
            {
                f->vertices[posing.count++] = i;
                break;
            }
    snwParallelFor(f->context, f->def->frameCount, 4, PoseFrames, &posing);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights

typedef struct Choice
{
    int bones[snw_choices];
    double gram[snw_choices][snw_choices]; // of the errors that each of them alone would make
    double weights[snw_choices];
    int count;
} Choice;

static void AddChoice(Choice* c, int bone)
{
    for (int k = 0; k < c->count; ++k)
        if (c->bones[k] == bone)
            return;
    if (c->count < snw_choices)
        c->bones[c->count++] = bone;
}

static void FillGram(const Fitter* f, int vertex, Choice* c)
{
    memset(c->gram, 0, sizeof c->gram);
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        snwVec3 base = Get(f->def->bases, f, frame, vertex), target = Get(f->def->targets, f, frame, vertex);
        snwVec3 errors[snw_choices];
        for (int k = 0; k < c->count; ++k)
            errors[k] = snwVec3_Sub(Follow(f, frame, c->bones[k], base), target);
        for (int k = 0; k < c->count; ++k)
            for (int l = 0; l <= k; ++l)
                c->gram[k][l] += snwVec3_Dot(errors[k], errors[l]);
    }
    for (int k = 0; k < c->count; ++k)
        for (int l = 0; l < k; ++l)
            c->gram[l][k] = c->gram[k][l];
}

// Least w^T G w with w >= 0 that sum to one: weight goes from the influence with the steepest slope up to the one with
// the steepest slope down, as much as helps, until nothing does.
static void Balance(Choice* c, int exchanges)
{
    for (int round = 0; round < exchanges; ++round)
    {
        double slopes[snw_choices];
        int giver = -1, taker = -1;
        for (int k = 0; k < c->count; ++k)
        {
            slopes[k] = 0;
            for (int l = 0; l < c->count; ++l)
                slopes[k] += c->gram[k][l] * c->weights[l];
            if (c->weights[k] > 0 && (giver < 0 || slopes[k] > slopes[giver]))
                giver = k;
            if (taker < 0 || slopes[k] < slopes[taker])
                taker = k;
        }
        if (giver < 0 || taker < 0)
            return; // there are no influences
        double gain = slopes[giver] - slopes[taker];
        double bend = c->gram[giver][giver] + c->gram[taker][taker] - 2 * c->gram[giver][taker];
        if (giver == taker || !(gain > 1e-9 * fabs(slopes[giver])))
            return;
        double step = bend > 0 ? fmin(gain / bend, c->weights[giver]) : c->weights[giver];
        c->weights[giver] -= step;
        c->weights[taker] += step;
        if (c->weights[giver] < 1e-12)
            c->weights[giver] = 0;
    }
}

// Keeps the largest; the rest of the choice is forgotten.
static void KeepLargest(Choice* c, int count)
{
    Choice kept = {0};
    for (int n = 0; n < count; ++n)
    {
        int best = 0;
        for (int k = 1; k < c->count; ++k)
            best = c->weights[k] > c->weights[best] ? k : best;
        if (!(c->weights[best] > SNW_FADED))
            break;
        kept.bones[kept.count] = best;
        kept.weights[kept.count++] = c->weights[best];
        c->weights[best] = 0;
    }
    double sum = 0;
    for (int k = 0; k < kept.count; ++k)
        sum += kept.weights[k];
    for (int k = 0; k < kept.count; ++k)
    {
        kept.weights[k] /= sum;
        for (int l = 0; l < kept.count; ++l)
            kept.gram[k][l] = c->gram[kept.bones[k]][kept.bones[l]];
    }
    for (int k = 0; k < kept.count; ++k)
        kept.bones[k] = c->bones[kept.bones[k]];
    *c = kept;
}

static double Cost(const Choice* c)
{
    double sum = 0;
    for (int k = 0; k < c->count; ++k)
        for (int l = 0; l < c->count; ++l)
            sum += c->weights[k] * c->gram[k][l] * c->weights[l];
    return sum;
}

// Without one of several; what it had goes to the others by their own shares.
static void Drop(Choice* c, int index)
{
    c->weights[index] = 0;
    KeepLargest(c, c->count - 1);
}

// Leaves as many as a vertex may have. They go one by one, each time the one that the others make up for best: a small
// weight of a joint that is far off may matter more than the largest.
static void Thin(Choice* c)
{
    Balance(c, snw_exchanges);
    KeepLargest(c, c->count);
    while (c->count > snw_influences)
    {
        Choice best = {0};
        double least = INFINITY;
        for (int k = 0; k < c->count; ++k)
        {
            Choice without = *c;
            Drop(&without, k);
            Balance(&without, snw_trials);
            double cost = Cost(&without);
            if (cost < least)
            {
                least = cost;
                best = without;
            }
        }
        *c = best;
        KeepLargest(c, c->count); // some may have nothing left: without the rest of them there would be nothing
    }
    Balance(c, snw_exchanges);
}

// To the influences that a vertex has.
static void Restrict(Choice* c, const int* bones, const float* weights)
{
    for (int k = 0; k < c->count; ++k)
    {
        c->weights[k] = 0;
        for (int l = 0; l < snw_influences; ++l)
            if (weights[l] > 0 && bones[l] == c->bones[k])
                c->weights[k] = (double)weights[l];
    }
    KeepLargest(c, snw_influences);
}

static void StoreChoice(const Fitter* f, int vertex, Choice* c)
{
    int* bones = f->fit->bones[vertex];
    float* weights = f->fit->weights[vertex];
    KeepLargest(c, snw_influences);
    memset(bones, 0, snw_influences * sizeof *bones);
    memset(weights, 0, snw_influences * sizeof *weights);
    double left = 1;
    for (int k = c->count - 1; k >= 0; --k) // the largest takes what rounding leaves
    {
        bones[k] = c->bones[k];
        weights[k] = (float)(k > 0 ? c->weights[k] : left);
        left -= (double)weights[k];
    }
}

static void Begin(const Fitter* f, int vertex, Choice* c)
{
    *c = (Choice){0};
    for (int k = f->def->starts[vertex]; k < f->def->starts[vertex + 1]; ++k)
        if (f->def->bones[k] < f->def->jointCount && c->count < snw_mostOwn)
        {
            c->weights[c->count] = f->def->values[k];
            c->bones[c->count++] = f->def->bones[k];
        }
    if (c->count == 0)
    {
        c->count = 1;
        c->weights[0] = 1;
    }
}

static void WeighVertices(int begin, int end, void* data)
{
    const Fitter* f = data;
    for (int i = begin; i < end; ++i)
    {
        Choice c;
        Begin(f, i, &c);
        for (int k = 0; k < snw_near && f->nearest[i][k] >= 0; ++k)
            AddChoice(&c, f->def->jointCount + f->nearest[i][k]);
        for (int k = 0; k < snw_influences; ++k)
            if (f->fit->weights[i][k] > 0)
                AddChoice(&c, f->fit->bones[i][k]);
        FillGram(f, i, &c);
        Choice before = c; // what it follows by now may still be better: so no round makes a vertex worse
        Thin(&c);
        Restrict(&before, f->fit->bones[i], f->fit->weights[i]);
        Balance(&before, snw_exchanges);
        StoreChoice(f, i, Cost(&before) < Cost(&c) ? &before : &c);
    }
}

static void UseSourceWeights(Fitter* f)
{
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        Choice c;
        Begin(f, i, &c);
        StoreChoice(f, i, &c);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers that join

// At the vertex whose error, times its distance to the others, is largest; -1: there is no error.
static int NextSeed(const Fitter* f)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < f->def->vertexCount; ++i)
        if (f->worst[i] * f->distances[i] > most)
        {
            most = f->worst[i] * f->distances[i];
            best = i;
        }
    return best;
}

static int HeaviestJoint(const Fitter* f, int vertex)
{
    int first = f->def->starts[vertex], last = f->def->starts[vertex + 1], best = first;
    for (int k = first; k < last; ++k)
        best = f->def->values[k] > f->def->values[best] ? k : best;
    return first < last && f->def->bones[best] < f->def->jointCount ? f->def->bones[best] : 0;
}

static bool AddHelper(Fitter* f)
{
    int seed = NextSeed(f), h = f->fit->helperCount;
    if (seed < 0)
        return false;
    int parent = HeaviestJoint(f, seed);
    f->fit->helpers[h] = (snwHelperJoint){parent, snwAffine_Apply(f->def->inverseBinds[parent], f->rests[seed])};
    f->centres[h] = f->rests[seed];
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        *PoseOf(f, frame, h) = (snwTransform){f->fit->helpers[h].centre, snwQuat_Identity()};
        BendHelper(f, frame, h);
    }
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        double square = snwVec3_LengthSquared(snwVec3_Sub(f->rests[i], f->rests[seed]));
        f->distances[i] = h == 0 ? square : fmin(f->distances[i], square);
    }
    ++f->fit->helperCount;
    return true;
}

// The helpers around a vertex, nearest first.
static void FindNearest(Fitter* f, int vertex)
{
    double squares[snw_near];
    int count = 0, *nearest = f->nearest[vertex];
    for (int h = 0; h < f->fit->helperCount; ++h)
    {
        double square = snwVec3_LengthSquared(snwVec3_Sub(f->centres[h], f->rests[vertex]));
        int at = count < snw_near ? count++ : snw_near;
        for (; at > 0 && squares[at - 1] > square; --at)
            if (at < snw_near)
            {
                squares[at] = squares[at - 1];
                nearest[at] = nearest[at - 1];
            }
        if (at < snw_near)
        {
            squares[at] = square;
            nearest[at] = h;
        }
    }
    for (int k = count; k < snw_near; ++k)
        nearest[k] = -1;
}

// New helpers take the vertices around them for their own until they know how those move.
static void LeadNeighbours(Fitter* f, int first)
{
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        if (f->nearest[i][0] < first)
            continue;
        memset(f->fit->weights[i], 0, sizeof f->fit->weights[i]);
        f->fit->bones[i][0] = f->def->jointCount + f->nearest[i][0];
        f->fit->weights[i][0] = 1;
    }
    for (int h = first; h < f->fit->helperCount; ++h)
        PoseHelper(f, h);
}

static bool AddHelpers(Fitter* f, int count)
{
    int first = f->fit->helperCount;
    while (f->fit->helperCount < count && AddHelper(f))
        continue;
    if (f->fit->helperCount == first)
        return false;
    for (int i = 0; i < f->def->vertexCount; ++i)
        FindNearest(f, i);
    LeadNeighbours(f, first);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult Prepare(Fitter* f, snwArena* arena, snwMessage* message)
{
    const snwJointFitDef* def = f->def;
    size_t vertices = (size_t)def->vertexCount, frames = (size_t)def->frameCount, joints = (size_t)def->jointCount;
    snwJointFit* fit = f->fit;
    fit->helpers = snwArena_Alloc(arena, (size_t)def->mostHelpers + 1, sizeof *fit->helpers);
    fit->poses = snwArena_Alloc(arena, frames * (size_t)def->mostHelpers + 1, sizeof *fit->poses);
    fit->bones = snwArena_Alloc(arena, vertices, sizeof *fit->bones);
    fit->weights = snwArena_Alloc(arena, vertices, sizeof *fit->weights);
    f->inverses = snwArena_Alloc(&f->work, frames * joints, sizeof *f->inverses);
    f->bends = snwArena_Alloc(&f->work, frames * (joints + (size_t)def->mostHelpers), sizeof *f->bends);
    f->rests = snwArena_Alloc(&f->work, vertices, sizeof *f->rests);
    f->errors = snwArena_Alloc(&f->work, vertices, sizeof *f->errors);
    f->worst = snwArena_Alloc(&f->work, vertices, sizeof *f->worst);
    f->distances = snwArena_Alloc(&f->work, vertices, sizeof *f->distances);
    f->centres = snwArena_Alloc(&f->work, (size_t)def->mostHelpers + 1, sizeof *f->centres);
    f->nearest = snwArena_Alloc(&f->work, vertices, sizeof *f->nearest);
    f->vertices = snwArena_Alloc(&f->work, vertices, sizeof *f->vertices);
    if (arena->failed || f->work.failed)
        return snwFailMemory(message);
    for (size_t i = 0; i < frames * joints; ++i)
        if (!snwAffine_Inverse(def->places[i], &f->inverses[i]))
            f->inverses[i] = (snwAffine){snwMat3_Identity(), {0, 0, 0}};
    for (int frame = 0; frame < def->frameCount; ++frame)
        for (int joint = 0; joint < def->jointCount; ++joint)
            BendJoint(f, frame, joint);
    for (int i = 0; i < def->vertexCount; ++i)
    {
        f->rests[i] = Get(def->bases, f, 0, i);
        f->distances[i] = 1;
    }
    return snw_ok;
}

static void Improve(Fitter* f, int rounds)
{
    for (int round = 0; round < rounds && f->fit->maxError > f->def->tolerance; ++round)
    {
        for (int h = 0; h < f->fit->helperCount; ++h)
            PoseHelper(f, h);
        snwParallelFor(f->context, f->def->vertexCount, snw_grain, WeighVertices, f);
        Measure(f);
    }
}

static void Run(Fitter* f)
{
    UseSourceWeights(f);
    Measure(f);
    for (int count = snw_firstHelpers; f->fit->maxError > f->def->tolerance; count += count / 2)
    {
        if (!AddHelpers(f, count < f->def->mostHelpers ? count : f->def->mostHelpers))
            break;
        snwParallelFor(f->context, f->def->vertexCount, snw_grain, WeighVertices, f);
        Measure(f);
        Improve(f, snw_rounds);
    }
    Improve(f, snw_lastRounds);
}

snwResult snwFitJoints(
    snwContext* context, snwArena* arena, const snwJointFitDef* def, snwJointFit* fit, snwMessage* message)
{
    Fitter f = {.context = context, .def = def, .fit = fit, .work = {.context = context}};
    *fit = (snwJointFit){0};
    snwResult result = Prepare(&f, arena, message);
    if (result >= 0)
        Run(&f);
    snwArena_Free(&f.work);
    return result;
}
