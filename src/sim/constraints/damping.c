// Two passes: sums about an origin near the body, and the change of each vertex. The sums run over chunks of fixed size
// and are added in the order of the chunks.
//
// With a drift d both dampings are one change. The first one leaves the rigid part of v, V, as it is; so of v' - d the
// rigid part is V - D, D being that of d, and V and D have one inertia.

#include "sim/constraints/damping.h"
#include "sim/constraints/blocks.h"
#include "sim/constraints/kernels.h"

#include <math.h>
#include <string.h>

enum
{
    snw_dampGrain = 1024, // vertices per chunk
};

typedef struct DampLoop
{
    const snwConstraintKernels* kernels;
    snwDampRows rows;
    snwDampChange change;
    double* sums;
} DampLoop;

// What the sums say, about the origin: then about the centre.
typedef struct Whole
{
    double mass;
    snwVec3 centre;      // m
    snwVec3 momentum[2]; // kg m/s, of flesh and drift, and
    snwVec3 angular[2];  // kg m^2/s
    double products[6];  // kg m^2, of the arms: xx yy zz xy xz yz
} Whole;

static void SumDampChunk(int begin, int end, void* data)
{
    DampLoop* loop = data;
    double* sums = loop->sums + (size_t)(begin / snw_dampGrain) * snw_dampMostSums;
    memset(sums, 0, snw_dampMostSums * sizeof *sums);
    loop->kernels->dampSum(&loop->rows, begin, end, sums);
}

static void ChangeChunk(int begin, int end, void* data)
{
    const DampLoop* loop = data;
    loop->kernels->dampApply(&loop->rows, &loop->change, begin, end);
}

static void AddDampChunks(double* sums, int vertexCount)
{
    int chunks = (vertexCount + snw_dampGrain - 1) / snw_dampGrain;
    for (int c = 1; c < chunks; ++c)
        for (int i = 0; i < snw_dampMostSums; ++i)
            sums[i] += sums[(size_t)c * snw_dampMostSums + i];
}

static snwVec3 Three(const double* numbers)
{
    return (snwVec3){numbers[0], numbers[1], numbers[2]};
}

static Whole ReadPlane(const double* sums)
{
    const double* drift = sums + snw_dampPlaneSums;
    Whole whole = {.mass = sums[0], .centre = {sums[1], sums[2], 0}};
    whole.momentum[0] = (snwVec3){sums[3], sums[4], 0}, whole.momentum[1] = (snwVec3){drift[0], drift[1], 0};
    whole.angular[0].z = sums[5], whole.angular[1].z = drift[2];
    whole.products[0] = sums[6]; // of both axes together, which is what a turn about z has
    return whole;
}

static Whole ReadSolid(const double* sums)
{
    const double* drift = sums + snw_dampSolidSums;
    Whole whole = {.mass = sums[0], .centre = Three(sums + 2)};
    whole.momentum[0] = Three(sums + 5), whole.momentum[1] = Three(drift);
    whole.angular[0] = Three(sums + 8), whole.angular[1] = Three(drift + 3);
    memcpy(whole.products, sums + 12, sizeof whole.products);
    return whole;
}

static void MoveToCentre(bool flat, Whole* whole)
{
    snwVec3 c = whole->centre = snwVec3_Scale(whole->centre, 1.0 / whole->mass);
    double own[6] = {c.x * c.x, c.y * c.y, c.z * c.z, c.x * c.y, c.x * c.z, c.y * c.z};
    own[0] += flat ? c.y * c.y : 0.0;
    for (int i = 0; i < 6; ++i)
        whole->products[i] -= whole->mass * own[i];
    for (int i = 0; i < 2; ++i)
        whole->angular[i] = snwVec3_Sub(whole->angular[i], snwVec3_Cross(c, whole->momentum[i]));
}

static snwVec3 SpinOf(const Whole* whole, bool flat, snwVec3 angular)
{
    const double* p = whole->products;
    if (flat)
        return (snwVec3){0, 0, p[0] > 0.0 ? angular.z / p[0] : 0.0};
    snwMat3 inverse,
        inertia = {{{p[1] + p[2], -p[3], -p[4]}, {-p[3], p[0] + p[2], -p[5]}, {-p[4], -p[5], p[0] + p[1]}}};
    double trace = 2.0 * (p[0] + p[1] + p[2]);
    if (snwMat3_Determinant(inertia) > 1e-7 * trace * trace * trace && snwMat3_Inverse(inertia, &inverse))
        return snwMat3_MulVec(inverse, angular);
    // All on one line but for rounding: no inertia about it, and half the trace about every axis across it.
    return trace > 0.0 ? snwVec3_Scale(angular, 2.0 / trace) : (snwVec3){0, 0, 0};
}

static snwDampMotion DampMotionOf(const Whole* whole, bool flat, int which)
{
    snwVec3 v = snwVec3_Scale(whole->momentum[which], 1.0 / whole->mass);
    snwVec3 w = SpinOf(whole, flat, whole->angular[which]);
    return (snwDampMotion){{(float)v.x, (float)v.y, (float)v.z}, {(float)w.x, (float)w.y, (float)w.z}};
}

size_t snwDamping_SumCount(int vertexCount)
{
    return ((size_t)vertexCount / snw_dampGrain + 1) * snw_dampMostSums;
}

void snwRigidDamping_Apply(snwContext* context, const snwRigidDamping* def, double h)
{
    bool drifts = def->drift != NULL && def->driftRate > 0.0;
    if (!(def->rate > 0.0) && !drifts)
        return;
    DampLoop loop = {.kernels = snwConstraint_Kernels(context->simd),
        .rows = {def->positions, def->velocities, drifts ? def->drift : NULL, {0}, def->flat},
        .sums = def->sums};

    // Sums are taken about a vertex of the body: near enough for floats.
    memcpy(loop.rows.origin, def->positions, sizeof loop.rows.origin);
    snwParallelFor(context, def->count, snw_dampGrain, SumDampChunk, &loop);
    AddDampChunks(def->sums, def->count);

    // The rigid motion that has the momenta of the body.
    Whole whole = def->flat ? ReadPlane(def->sums) : ReadSolid(def->sums);
    MoveToCentre(def->flat, &whole);

    // What exp(-rate t) loses in a substep, of everything but that.
    loop.change = (snwDampChange){.centre = {(float)whole.centre.x, (float)whole.centre.y, (float)whole.centre.z},
        .flesh = DampMotionOf(&whole, def->flat, 0),
        .drift = DampMotionOf(&whole, def->flat, 1),
        .share = (float)-expm1(-def->rate * h),
        .driftShare = drifts ? (float)-expm1(-def->driftRate * h) : 0.0f};
    snwParallelFor(context, def->count, snw_dampGrain, ChangeChunk, &loop);
}

void snwRigidDamping_FindRounding(snwContext* context, const snwRigidDamping* damping, const float* before)
{
    const float* x = damping->positions;
    for (size_t i = 0; i < 4 * (size_t)damping->count; ++i)
        if (i % 4 < 3)
            damping->velocities[i] = x[i] - before[i];
    snwRigidDamping all = *damping;
    all.rate = INFINITY;
    snwRigidDamping_Apply(context, &all, 1.0);
}

double snwBody_MaterialDamping(const snwBody* body)
{
    const snwCharacter* character = body->character;
    if (character->def.materialCount == 1 || character->def.tetCount == 0)
        return body->materials[0].damping;
    double sum = 0.0;
    for (int i = 0; i < character->def.tetCount; ++i)
        sum += character->restVolumes[i] * body->materials[character->def.regions[i]].damping;
    return sum / character->volume;
}
