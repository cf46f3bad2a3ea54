// Damping that leaves rigid motion alone (Mueller et al. 2007, Section 3.5). The sums run over chunks of fixed size
// and are added in the order of the chunks.

#include "sim/pbd/pbd.h"
#include "sim/pbd/pbd_damping.h"

#include <math.h>
#include <string.h>

// Sums over vertices: mass, m x, m v, then about the centre of mass L and the six numbers of the inertia.
enum
{
    snw_dampMass,
    snw_dampX,
    snw_dampV = snw_dampX + 3,
    snw_dampFirstCount = snw_dampV + 3,
    snw_dampL = 0,
    snw_dampInertia = 3, // xx yy zz xy xz yz
    snw_dampSecondCount = 9,
};

typedef struct DampLoop
{
    snwPbdBody state;
    double* sums;
    snwVec3 centre, velocity, spin;
    double factor;
} DampLoop;

static double Mass(const snwPbdBody* state, int index)
{
    return 1.0 / (double)state->velocities[4 * (size_t)index + 3];
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
    double* sum = loop->sums + (size_t)(begin / snw_pbdDampGrain) * snw_pbdDampSums;
    memset(sum, 0, snw_pbdDampSums * sizeof *sum);
    for (int i = begin; i < end; ++i)
    {
        double m = Mass(&loop->state, i);
        sum[snw_dampMass] += m;
        AddVec3(sum + snw_dampX, snwVec3_Scale(snwPbd_Row(loop->state.positions, i), m));
        AddVec3(sum + snw_dampV, snwVec3_Scale(snwPbd_Row(loop->state.velocities, i), m));
    }
}

static void SumSpin(int begin, int end, void* data)
{
    DampLoop* loop = data;
    double* sum = loop->sums + (size_t)(begin / snw_pbdDampGrain) * snw_pbdDampSums;
    memset(sum, 0, snw_pbdDampSums * sizeof *sum);
    for (int i = begin; i < end; ++i)
    {
        double m = Mass(&loop->state, i), *inertia = sum + snw_dampInertia;
        snwVec3 r = snwVec3_Sub(snwPbd_Row(loop->state.positions, i), loop->centre);
        AddVec3(sum + snw_dampL, snwVec3_Scale(snwVec3_Cross(r, snwPbd_Row(loop->state.velocities, i)), m));
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
        if (loop->state.positions[4 * (size_t)i + 3] == 0.0f)
            continue;
        float* row = loop->state.velocities + 4 * (size_t)i;
        snwVec3 r = snwVec3_Sub(snwPbd_Row(loop->state.positions, i), loop->centre),
                v = snwPbd_Row(loop->state.velocities, i);
        snwVec3 rigid = snwVec3_Add(loop->velocity, snwVec3_Cross(loop->spin, r));
        v = snwVec3_MulAdd(v, loop->factor, snwVec3_Sub(rigid, v));
        row[0] = (float)v.x, row[1] = (float)v.y, row[2] = (float)v.z;
    }
}

static void AddChunks(double* sums, int vertexCount)
{
    int chunks = (vertexCount + snw_pbdDampGrain - 1) / snw_pbdDampGrain;
    for (int c = 1; c < chunks; ++c)
        for (int i = 0; i < snw_pbdDampSums; ++i)
            sums[i] += sums[(size_t)c * snw_pbdDampSums + i];
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

void snwPbd_Damp(snwSim* sim, int index, double rate, double h)
{
    if (!(rate > 0.0))
        return;
    int count = sim->bodies[index].character->def.vertexCount;
    double* sums = ((snwPbdScratch*)sim->scratch)->sums;
    DampLoop loop = {.state = snwPbd_GetBody(sim, index), .sums = sums, .factor = -expm1(-rate * h)};
    snwParallelFor(sim->context, count, snw_pbdDampGrain, SumMomentum, &loop);
    AddChunks(sums, count);
    double m = sums[snw_dampMass];
    loop.centre = (snwVec3){sums[snw_dampX] / m, sums[snw_dampX + 1] / m, sums[snw_dampX + 2] / m};
    loop.velocity = (snwVec3){sums[snw_dampV] / m, sums[snw_dampV + 1] / m, sums[snw_dampV + 2] / m};
    snwParallelFor(sim->context, count, snw_pbdDampGrain, SumSpin, &loop);
    AddChunks(sums, count);
    loop.spin = Spin(sums);
    snwParallelFor(sim->context, count, snw_pbdDampGrain, DampVertices, &loop);
}
