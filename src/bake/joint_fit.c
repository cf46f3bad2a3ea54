// Helper joints fitted to frames of flesh: they begin where errors are largest, take the best rigid poses by turns
// with weights (joint_weights.c), join until the tolerance holds, and leave again if nobody follows them.

#include "bake/joint_parts.h"

#include "math/eigen.h"

#include <math.h>
#include <string.h>

static const double s_light = 1e-3;  // a helper's weight that tells nothing about its pose
static const double s_far = 4;       // tolerances
static const double s_within = 0.99; // of the tolerance, for what is written is rounded

enum
{
    jointFit_firstHelpers = 6,
    jointFit_rounds = 4,      // of poses and weights, after helpers joined
    jointFit_farRounds = 2,   // the same, as long as the tolerance is far
    jointFit_few = 4,         // helpers at a time, in the end
    jointFit_fewRounds = 6,   // the same, after these
    jointFit_lastRounds = 32, // the same, once there are no more
    jointFit_patience = 10,   // rounds without any gain
    jointFit_sweeps = 4       // over the poses, before weights are chosen anew
};

// ---------------------------------------------------------------------------------------------------------------------
// Where things are

static const snwAffine* PlaceOfJoint(const snwJointFitter* f, int frame, int joint)
{
    return &f->def->places[(size_t)frame * (size_t)f->def->jointCount + (size_t)joint];
}

static snwTransform* PoseOfHelper(const snwJointFitter* f, int frame, int helper)
{
    return &f->fit->poses[(size_t)frame * (size_t)f->def->mostHelpers + (size_t)helper];
}

static void BendJoint(snwJointFitter* f, int frame, int joint)
{
    *snwJointFitter_Bend(f, frame, joint) = snwAffine_Compose(
        *PlaceOfJoint(f, frame, joint), f->def->inverseBinds[joint]);
}

static void BendHelper(const snwJointFitter* f, int frame, int helper)
{
    const snwHelperJoint* h = &f->fit->helpers[helper];
    snwAffine centred = f->def->inverseBinds[h->parent];
    centred.translation = snwVec3_Sub(centred.translation, h->centre);
    snwAffine posed = snwAffine_Compose(snwAffine_FromTransform(*PoseOfHelper(f, frame, helper)), centred);
    *snwJointFitter_Bend(f, frame, f->def->jointCount + helper) = snwAffine_Compose(
        *PlaceOfJoint(f, frame, h->parent), posed);
}

// Frames in which helpers move.
static int PosedCount(const snwJointFitter* f)
{
    return f->def->frameCount - f->def->stillCount;
}

static bool IsOff(const snwJointFitter* f)
{
    return f->fit->maxError > f->def->tolerance;
}

// ---------------------------------------------------------------------------------------------------------------------
// Poses

typedef struct Posing
{
    snwJointFitter* fitter;
    int helper;
    const int* vertices; // that follow it
    const float* weights;
    int count;
    bool alone; // they follow it and nothing else
} Posing;

typedef struct Moments
{
    snwVec3 from, to;
    snwMat3 product;
    double total;
} Moments;

// Where the helper would take the vertex alone, and where it should for the others to be right, in the parent's space.
static void AddVertexToMoments(const Posing* p, int frame, int index, Moments* m)
{
    const snwJointFitter* f = p->fitter;
    const snwHelperJoint* helper = &f->fit->helpers[p->helper];
    int vertex = p->vertices[index], bone = f->def->jointCount + p->helper;
    double weight = p->alone ? 1 : (double)p->weights[index],
           say = weight * weight * snwJointFitter_Say(f, frame, vertex);
    snwVec3 base = snwJointFitter_Get(f->def->bases, f, frame, vertex),
            to = snwJointFitter_Get(f->def->targets, f, frame, vertex);

    // With others on the vertex the helper owes only its own share of what is left.
    if (!p->alone)
        to = snwVec3_MulAdd(
            snwJointFitter_Follow(f, frame, bone, base), 1 / weight, snwJointFitter_Get(f->lefts, f, frame, vertex));

    // In the space of the parent, about the helper's centre.
    const snwAffine* inverse = &f->inverses[(size_t)frame * (size_t)f->def->jointCount + (size_t)helper->parent];
    to = snwVec3_Sub(snwAffine_Apply(*inverse, to), helper->centre);
    snwVec3 from = snwVec3_Sub(snwAffine_Apply(f->def->inverseBinds[helper->parent], base), helper->centre);
    m->from = snwVec3_MulAdd(m->from, say, from);
    m->to = snwVec3_MulAdd(m->to, say, to);
    m->product = snwMat3_Add(m->product, snwMat3_Scale(snwMat3_Outer(to, from), say));
    m->total += say;
}

// The rigid motion that fits best: Kabsch, with the squares of the weights.
static snwTransform BestPose(const Moments* m, snwVec3 centre)
{
    snwVec3 from = snwVec3_Scale(m->from, 1 / m->total), to = snwVec3_Scale(m->to, 1 / m->total);
    snwPolar3 polar = snwPolar3_Compute(snwMat3_Sub(m->product, snwMat3_Scale(snwMat3_Outer(to, from), m->total)));
    snwQuat q = polar.uniqueness > 1e-9 ? snwQuat_FromMat3(polar.rotation) : snwQuat_Identity();
    snwVec3 shift = snwVec3_Sub(to, snwQuat_Rotate(q, from));
    return (snwTransform){snwVec3_Add(centre, shift), q};
}

static void PoseHelperFrames(int begin, int end, void* data)
{
    const Posing* p = data;
    const snwJointFitter* f = p->fitter;
    int bone = f->def->jointCount + p->helper;

    // Frame by frame; poses of different frames do not know each other.
    for (int frame = begin; frame < end; ++frame)
    {
        Moments moments = {0};
        for (int i = 0; i < p->count; ++i)
            AddVertexToMoments(p, frame, i, &moments);
        if (!(moments.total > 0))
            continue;
        snwAffine before = *snwJointFitter_Bend(f, frame, bone);
        *PoseOfHelper(f, frame, p->helper) = BestPose(&moments, f->fit->helpers[p->helper].centre);
        BendHelper(f, frame, p->helper);

        // What is left of each vertex changes with the helper's pose.
        for (int i = 0; i < p->count && !p->alone; ++i)
        {
            snwVec3 base = snwJointFitter_Get(f->def->bases, f, frame, p->vertices[i]);
            snwVec3 change = snwVec3_Sub(snwAffine_Apply(before, base), snwJointFitter_Follow(f, frame, bone, base));
            snwVec3 left = snwJointFitter_Get(f->lefts, f, frame, p->vertices[i]);
            snwJointFitter_SetLeft(f, frame, p->vertices[i], snwVec3_MulAdd(left, (double)p->weights[i], change));
        }
    }
}

static void PoseHelper(snwJointFitter* f, int helper)
{
    Posing posing = {f, helper, f->vertices, f->shares, 0, false};
    for (int i = 0; i < f->def->vertexCount; ++i)
        for (int k = 0; k < snw_mostInfluences; ++k)
            if (f->fit->bones[i][k] == f->def->jointCount + helper && (double)f->fit->weights[i][k] >= s_light)
            {
                f->vertices[posing.count] = i;
                f->shares[posing.count++] = f->fit->weights[i][k];
                break;
            }
    snwParallelFor(f->context, PosedCount(f), 4, PoseHelperFrames, &posing);
}

// ---------------------------------------------------------------------------------------------------------------------
// Helpers that join

// At the vertex whose error, times its distance to the others, is largest; -1: there is no error.
static int NextSeed(const snwJointFitter* f)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < f->def->vertexCount; ++i)
        if (snwJointFitter_IsOff(f, i) && f->worst[i] * f->distances[i] > most)
        {
            most = f->worst[i] * f->distances[i];
            best = i;
        }
    return best;
}

static int HeaviestJoint(const snwJointFitter* f, int vertex)
{
    int first = f->def->starts[vertex], last = f->def->starts[vertex + 1], best = first;
    for (int k = first; k < last; ++k)
        best = f->def->values[k] > f->def->values[best] ? k : best;
    return first < last && f->def->bones[best] < f->def->jointCount ? f->def->bones[best] : 0;
}

static void ShortenDistances(snwJointFitter* f, snwVec3 centre, bool first)
{
    for (int i = 0; i < f->def->vertexCount; ++i)
    {
        double square = snwVec3_LengthSquared(snwVec3_Sub(f->rests[i], centre));
        f->distances[i] = first ? square : fmin(f->distances[i], square);
    }
}

static bool AddHelper(snwJointFitter* f)
{
    int seed = NextSeed(f), h = f->fit->helperCount;
    if (seed < 0)
        return false;
    int parent = HeaviestJoint(f, seed);
    f->fit->helpers[h] = (snwHelperJoint){parent, snwAffine_Apply(f->def->inverseBinds[parent], f->rests[seed])};
    f->centres[h] = f->rests[seed];
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        *PoseOfHelper(f, frame, h) = (snwTransform){f->fit->helpers[h].centre, snwQuat_Identity()};
        BendHelper(f, frame, h);
    }
    ShortenDistances(f, f->centres[h], h == 0);
    ++f->fit->helperCount;
    return true;
}

// The helpers around a vertex, nearest first.
static void FindNearHelpers(snwJointFitter* f, int vertex)
{
    double squares[snw_nearHelpers];
    int count = 0, *nearest = f->nearest[vertex];

    // Insertion into a short list.
    for (int h = 0; h < f->fit->helperCount; ++h)
    {
        double square = snwVec3_LengthSquared(snwVec3_Sub(f->centres[h], f->rests[vertex]));
        int at = count < snw_nearHelpers ? count++ : snw_nearHelpers;
        for (; at > 0 && squares[at - 1] > square; --at)
            if (at < snw_nearHelpers)
            {
                squares[at] = squares[at - 1];
                nearest[at] = nearest[at - 1];
            }

        if (at < snw_nearHelpers)
        {
            squares[at] = square;
            nearest[at] = h;
        }
    }

    // -1: there are no more.
    for (int k = count; k < snw_nearHelpers; ++k)
        nearest[k] = -1;
}

// New helpers begin with the motion of the vertices around them, as if those followed nothing else.
static void LeadNeighbours(snwJointFitter* f, int first)
{
    for (int h = first; h < f->fit->helperCount; ++h)
    {
        Posing posing = {f, h, f->vertices, f->shares, 0, true};
        for (int i = 0; i < f->def->vertexCount; ++i)
            if (f->nearest[i][0] == h)
                f->vertices[posing.count++] = i;
        snwParallelFor(f->context, PosedCount(f), 4, PoseHelperFrames, &posing);
    }
}

static void MoveHelper(snwJointFitter* f, int from, int to)
{
    f->fit->helpers[to] = f->fit->helpers[from];
    f->centres[to] = f->centres[from];
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        *PoseOfHelper(f, frame, to) = *PoseOfHelper(f, frame, from);
        *snwJointFitter_Bend(f, frame, f->def->jointCount + to) = *snwJointFitter_Bend(
            f, frame, f->def->jointCount + from);
    }
}

// Helpers that nobody follows any more go, and leave their place to others.
static void DropIdle(snwJointFitter* f)
{
    int kept = 0, joints = f->def->jointCount;

    // Marked, moved up, then renamed in the weights.
    memset(f->renamed, 0, (size_t)f->fit->helperCount * sizeof *f->renamed);
    for (int i = 0; i < f->def->vertexCount; ++i)
        for (int k = 0; k < snw_mostInfluences; ++k)
            if (f->fit->weights[i][k] > 0 && f->fit->bones[i][k] >= joints)
                f->renamed[f->fit->bones[i][k] - joints] = 1;

    for (int h = 0; h < f->fit->helperCount; ++h)
        if (f->renamed[h] != 0)
        {
            MoveHelper(f, h, kept);
            ShortenDistances(f, f->centres[kept], kept == 0);
            f->renamed[h] = kept++;
        }

    for (int i = 0; i < f->def->vertexCount; ++i)
        for (int k = 0; k < snw_mostInfluences; ++k)
            if (f->fit->weights[i][k] > 0 && f->fit->bones[i][k] >= joints)
                f->fit->bones[i][k] = joints + f->renamed[f->fit->bones[i][k] - joints];

    f->fit->helperCount = kept;
}

static void AddHelpers(snwJointFitter* f, int count)
{
    int first = f->fit->helperCount;
    while (f->fit->helperCount < count && AddHelper(f))
        continue;
    for (int i = 0; i < f->def->vertexCount; ++i)
        FindNearHelpers(f, i);
    LeadNeighbours(f, first);
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult PrepareFit(snwJointFitter* f, snwArena* arena, snwMessage* message)
{
    const snwJointFitDef* def = f->def;
    size_t vertices = (size_t)def->vertexCount, frames = (size_t)def->frameCount, joints = (size_t)def->jointCount;
    snwJointFit* fit = f->fit;

    // What is given back, then what only the fit needs.
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
    f->shares = snwArena_Alloc(&f->work, vertices, sizeof *f->shares);
    f->lefts = snwArena_Alloc(&f->work, vertices * frames, 3 * sizeof *f->lefts);
    f->renamed = snwArena_Alloc(&f->work, (size_t)def->mostHelpers + 1, sizeof *f->renamed);
    f->keptSays = snwArena_Alloc(&f->work, vertices * frames, sizeof *f->keptSays);
    f->says = snwArena_Alloc(&f->work, vertices * frames, sizeof *f->says);
    if (arena->failed || f->work.failed)
        return snwFailMemory(message);

    // At first every frame says as much as any other; joints that are flat have no way back.
    for (size_t i = 0; i < frames * vertices; ++i)
        f->says[i] = 1;
    for (size_t i = 0; i < frames * joints; ++i)
        if (!snwAffine_Inverse(def->places[i], &f->inverses[i]))
            f->inverses[i] = (snwAffine){snwMat3_Identity(), {0, 0, 0}};
    for (int frame = 0; frame < def->frameCount; ++frame)
        for (int joint = 0; joint < def->jointCount; ++joint)
            BendJoint(f, frame, joint);
    for (int i = 0; i < def->vertexCount; ++i)
    {
        f->rests[i] = snwJointFitter_Get(def->bases, f, 0, i);
        f->distances[i] = 1;
    }

    return snw_ok;
}

static snwResult RunFitRound(snwJointFitter* f)
{
    for (int sweep = 0; sweep < jointFit_sweeps; ++sweep)
        for (int h = 0; h < f->fit->helperCount; ++h)
            PoseHelper(f, h);
    snwJointFitter_Weigh(f);
    snwJointFitter_Measure(f);
    if (f->overCount > 0 && f->overCount < f->def->vertexCount / 64)
        snwJointFitter_Polish(f);
    ++f->rounds;
    double share = 1 - 1 / (1 + 0.05 * f->rounds); // nobody knows how many there will be
    return f->def->progress != NULL ? f->def->progress(share, f->def->user) : snw_ok;
}

// Until the tolerance holds, or nothing is gained any more.
static snwResult ImproveFit(snwJointFitter* f, int rounds)
{
    int waited = 0, fewest = f->overCount;
    double least = f->fit->maxError;
    snwResult result = snw_ok;
    for (int i = 0; i < rounds && waited < jointFit_patience && IsOff(f) && result >= 0; ++i)
    {
        result = RunFitRound(f);
        waited = f->overCount < fewest || f->fit->maxError < 0.98 * least ? 0 : waited + 1;
        fewest = f->overCount < fewest ? f->overCount : fewest;
        least = fmin(least, f->fit->maxError);
    }
    return result;
}

// Up to so many helpers, then rounds.
static snwResult GrowHelpers(snwJointFitter* f, int count, int rounds)
{
    DropIdle(f);
    AddHelpers(f, count);
    snwJointFitter_Weigh(f);
    snwJointFitter_Measure(f);
    return ImproveFit(f, rounds);
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices that no sharing brings within the tolerance

// A helper that takes the vertex exactly where it goes, with all of the weight of its heaviest joint.
static void AddCarrier(snwJointFitter* f, int vertex)
{
    int h = f->fit->helperCount++, parent = HeaviestJoint(f, vertex);
    snwVec3 centre = snwAffine_Apply(f->def->inverseBinds[parent], f->rests[vertex]);
    double weight = snwJointFitter_Restore(f, vertex, parent);
    f->fit->helpers[h] = (snwHelperJoint){parent, centre};
    f->centres[h] = f->rests[vertex];
    for (int frame = 0; frame < f->def->frameCount; ++frame)
    {
        const snwAffine* inverse = &f->inverses[(size_t)frame * (size_t)f->def->jointCount + (size_t)parent];
        snwVec3 left = snwVec3_Scale(snwJointFitter_Get(f->lefts, f, frame, vertex), 1 / weight);
        bool still = frame >= PosedCount(f);
        snwVec3 shift = still ? (snwVec3){0, 0, 0} : snwMat3_MulVec(inverse->linear, left);
        *PoseOfHelper(f, frame, h) = (snwTransform){snwVec3_Add(centre, shift), snwQuat_Identity()};
        BendHelper(f, frame, h);
    }
}

// The worst first; those at the same place, or nearly, share one.
static void CarryRest(snwJointFitter* f)
{
    int first = f->fit->helperCount;

    // Each vertex that is off: by a helper that carries others already, or one of its own.
    for (int worst = 0; worst >= 0;)
    {
        worst = -1;
        for (int i = 0; i < f->def->vertexCount; ++i)
            if (snwJointFitter_IsOff(f, i) && (worst < 0 || f->worst[i] > f->worst[worst]))
                worst = i;

        // The first of the new helpers that suits it.
        int helper = first;
        while (worst >= 0 && helper < f->fit->helperCount && !snwJointFitter_Carry(f, worst, helper, s_within))
            ++helper;
        if (worst < 0 || helper == f->def->mostHelpers)
            break;
        if (helper == f->fit->helperCount)
        {
            AddCarrier(f, worst);
            snwJointFitter_Carry(f, worst, helper, INFINITY);
        }

        f->worst[worst] = 0;
    }
    snwJointFitter_Measure(f);
}

static int LowerOf(int a, int b)
{
    return a < b ? a : b;
}

// The last ones join a few at a time: by then it is a few vertices that need them. A quarter waits for vertices that
// need one of their own.
static snwResult FitHelpers(snwJointFitter* f)
{
    int most = f->def->mostHelpers - f->def->mostHelpers / 4, many = most - most / 16, count = 0;
    snwResult result = snw_ok;

    // What the source's own joints leave.
    snwJointFitter_UseSource(f);
    snwJointFitter_Measure(f);

    // About half as many again each time; fewer rounds while everything is still far off.
    while (IsOff(f) && count < most && result >= 0)
    {
        bool far = f->fit->maxError > s_far * f->def->tolerance, last = count >= many;
        int more = count > 0 ? count / 2 : jointFit_firstHelpers, rounds = far ? jointFit_farRounds : jointFit_rounds;
        count = last ? LowerOf(count + jointFit_few, most) : LowerOf(count + more, many);
        result = GrowHelpers(f, count, last ? jointFit_fewRounds : rounds);
    }

    // A last polish, then exact carriers for what is still off.
    if (result >= 0)
        result = ImproveFit(f, jointFit_lastRounds);
    snwJointFitter_Lighten(f);
    DropIdle(f);
    if (IsOff(f) && result >= 0)
        CarryRest(f);
    DropIdle(f);

    return result;
}

snwResult snwFitJoints(
    snwContext* context, snwArena* arena, const snwJointFitDef* def, snwJointFit* fit, snwMessage* message)
{
    snwJointFitter f = {.context = context, .def = def, .fit = fit, .work = {.context = context}};
    *fit = (snwJointFit){0};
    snwResult result = PrepareFit(&f, arena, message);
    if (result >= 0)
        result = FitHelpers(&f);
    snwArena_Free(&f.work);
    return result;
}
