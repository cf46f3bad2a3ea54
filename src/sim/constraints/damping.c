// The sums run over chunks of fixed size and are added in the order of the chunks.

#include "sim/constraints/damping.h"
#include "sim/constraints/blocks.h"

#include <math.h>
#include <string.h>

// Sums over vertices: mass, m x, m v, then about the centre of mass L and the six numbers of the inertia.
enum
{
    snw_dampGrain = 1024, // vertices per chunk
    snw_dampSums = 9,     // numbers per chunk

    snw_dampMass = 0,
    snw_dampX,
    snw_dampV = snw_dampX + 3,
    snw_dampFirstCount = snw_dampV + 3,
    snw_dampL = 0,
    snw_dampInertia = 3, // xx yy zz xy xz yz
    snw_dampSecondCount = 9,
};

typedef struct DampLoop
{
    const snwRigidDamping* def;
    double* sums;
    snwVec3 centre, velocity, spin;
    double factor;
} DampLoop;

static double Mass(const snwRigidDamping* def, int index)
{
    return 1.0 / (double)def->velocities[4 * (size_t)index + 3];
}

static void AddVec3(double* sum, snwVec3 v)
{
    sum[0] += v.x;
    sum[1] += v.y;
    sum[2] += v.z;
}

static void SumMomentum(int begin, int end, void* data)
{
    DampLoop* loop = data;
    double* sum = loop->sums + (size_t)(begin / snw_dampGrain) * snw_dampSums;
    memset(sum, 0, snw_dampSums * sizeof *sum);
    for (int i = begin; i < end; ++i)
    {
        double m = Mass(loop->def, i);
        sum[snw_dampMass] += m;
        AddVec3(sum + snw_dampX, snwVec3_Scale(snwRow_Get(loop->def->positions, i), m));
        AddVec3(sum + snw_dampV, snwVec3_Scale(snwRow_Get(loop->def->velocities, i), m));
    }
}

static void SumSpin(int begin, int end, void* data)
{
    DampLoop* loop = data;
    double* sum = loop->sums + (size_t)(begin / snw_dampGrain) * snw_dampSums;
    memset(sum, 0, snw_dampSums * sizeof *sum);
    for (int i = begin; i < end; ++i)
    {
        double m = Mass(loop->def, i), *inertia = sum + snw_dampInertia;
        snwVec3 r = snwVec3_Sub(snwRow_Get(loop->def->positions, i), loop->centre);
        AddVec3(sum + snw_dampL, snwVec3_Scale(snwVec3_Cross(r, snwRow_Get(loop->def->velocities, i)), m));
        AddVec3(
            inertia, (snwVec3){m * (r.y * r.y + r.z * r.z), m * (r.x * r.x + r.z * r.z), m * (r.x * r.x + r.y * r.y)});
        AddVec3(inertia + 3, (snwVec3){-m * r.x * r.y, -m * r.x * r.z, -m * r.y * r.z});
    }
}

static void DampVertices(int begin, int end, void* data)
{
    const DampLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        if (loop->def->positions[4 * (size_t)i + 3] == 0.0f)
            continue;
        float* row = loop->def->velocities + 4 * (size_t)i;
        snwVec3 r = snwVec3_Sub(snwRow_Get(loop->def->positions, i), loop->centre),
                v = snwRow_Get(loop->def->velocities, i);
        snwVec3 rigid = snwVec3_Add(loop->velocity, snwVec3_Cross(loop->spin, r));
        v = snwVec3_MulAdd(v, loop->factor, snwVec3_Sub(rigid, v));
        row[0] = (float)v.x, row[1] = (float)v.y, row[2] = (float)v.z;
    }
}

static void AddChunks(double* sums, int vertexCount)
{
    int chunks = (vertexCount + snw_dampGrain - 1) / snw_dampGrain;
    for (int c = 1; c < chunks; ++c)
        for (int i = 0; i < snw_dampSums; ++i)
            sums[i] += sums[(size_t)c * snw_dampSums + i];
}

static snwVec3 Spin(const double* sums)
{
    const double* n = sums + snw_dampInertia;
    snwMat3 inverse, inertia = {{{n[0], n[3], n[4]}, {n[3], n[1], n[5]}, {n[4], n[5], n[2]}}};
    snwVec3 momentum = {sums[snw_dampL], sums[snw_dampL + 1], sums[snw_dampL + 2]};
    double trace = n[0] + n[1] + n[2];
    if (snwMat3_Determinant(inertia) > 1e-9 * trace * trace * trace && snwMat3_Inverse(inertia, &inverse))
        return snwMat3_MulVec(inverse, momentum);
    // All on one line: no inertia about it, and half the trace about every axis across it.
    return trace > 0.0 ? snwVec3_Scale(momentum, 2.0 / trace) : (snwVec3){0, 0, 0};
}

size_t snwDamping_SumCount(int vertexCount)
{
    return ((size_t)vertexCount / snw_dampGrain + 1) * snw_dampSums;
}

void snwRigidDamping_Apply(snwContext* context, const snwRigidDamping* def, double h)
{
    if (!(def->rate > 0.0))
        return;
    double* sums = def->sums;
    DampLoop loop = {.def = def, .sums = sums, .factor = -expm1(-def->rate * h)};
    snwParallelFor(context, def->count, snw_dampGrain, SumMomentum, &loop);
    AddChunks(sums, def->count);
    double m = sums[snw_dampMass];
    loop.centre = (snwVec3){sums[snw_dampX] / m, sums[snw_dampX + 1] / m, sums[snw_dampX + 2] / m};
    loop.velocity = (snwVec3){sums[snw_dampV] / m, sums[snw_dampV + 1] / m, sums[snw_dampV + 2] / m};
    snwParallelFor(context, def->count, snw_dampGrain, SumSpin, &loop);
    AddChunks(sums, def->count);
    loop.spin = Spin(sums);
    snwParallelFor(context, def->count, snw_dampGrain, DampVertices, &loop);
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
