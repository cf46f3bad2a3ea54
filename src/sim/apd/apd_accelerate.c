// Anderson acceleration of the local/global iteration (Peng et al. 2018): an iteration is a map x -> g(x), and the next
// x is the mix of the last g's whose steps f = g - x would cancel best.
//
// A mix may overshoot. The local step that follows tells the objective of Eq. 6a for free; where it rose, the mix is
// thrown away for the plain result it was made from, which projective dynamics never lets rise, and the history with
// it. The last iteration of a substep is always plain. Forces of contacts change between iterations, and objectives
// with them, so substeps in which something touches are not accelerated.
//
// The vector: flesh positions against `before`, and the four rows of every bone. A mix of rotations is brought back to
// the nearest one; the small gaps that leaves in joints are closed by the next pass of the small problem.

#include "math/eigen.h"
#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// The vector

typedef struct VectorLoop
{
    snwApdBody* body;
    float* out;
    const float* mix;
} VectorLoop;

static void ReadFlesh(int begin, int end, void* data)
{
    const VectorLoop* loop = data;
    const snwApdBody* body = loop->body;
    for (int i = begin; i < end; ++i)
    {
        int v = body->model->fleshVertices[i];
        snwVec3 d = snwVec3_Sub(body->state.positions[v], body->before[v]);
        float* out = loop->out + 3 * (size_t)i;
        out[0] = (float)d.x;
        out[1] = (float)d.y;
        out[2] = (float)d.z;
    }
}

static void ReadVector(snwSim* sim, snwApdBody* body, float* out)
{
    const snwApdModel* model = body->model;
    VectorLoop loop = {.body = body, .out = out};
    snwParallelFor(sim->context, model->fleshCount, snw_apdGrain, ReadFlesh, &loop);
    out += 3 * (size_t)model->fleshCount;

    // Bones by the change of their four rows.
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 before[4], now[4];
        snwApdBone_Rows(model, k, &body->bonesBefore[k], before);
        snwApdBone_Rows(model, k, &body->state.bones[k], now);
        for (int a = 0; a < 4; ++a, out += 3)
        {
            snwVec3 d = snwVec3_Sub(now[a], before[a]);
            out[0] = (float)d.x;
            out[1] = (float)d.y;
            out[2] = (float)d.z;
        }
    }
}

static void WriteFlesh(int begin, int end, void* data)
{
    const VectorLoop* loop = data;
    const snwApdBody* body = loop->body;
    for (int i = begin; i < end; ++i)
    {
        int v = body->model->fleshVertices[i];
        const float* d = loop->mix + 3 * (size_t)i;
        if (!body->pinned[v])
            body->state.positions[v] = snwVec3_Add(
                body->before[v], (snwVec3){(double)d[0], (double)d[1], (double)d[2]});
    }
}

static void WriteVector(snwSim* sim, snwApdBody* body, const float* in)
{
    const snwApdModel* model = body->model;
    VectorLoop loop = {.body = body, .mix = in};
    snwParallelFor(sim->context, model->fleshCount, snw_apdGrain, WriteFlesh, &loop);
    in += 3 * (size_t)model->fleshCount;
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 t[4];
        snwApdBone_Rows(model, k, &body->bonesBefore[k], t);
        for (int a = 0; a < 4; ++a, in += 3)
            t[a] = snwVec3_Add(t[a], (snwVec3){(double)in[0], (double)in[1], (double)in[2]});
        snwMat3 linear = snwMat3_FromColumns(t[0], t[1], t[2]);
        body->state.bones[k].rotation = snwQuat_FromMat3(snwPolar3_Compute(linear).rotation);
        body->state.bones[k].centre = t[3];
    }
    snwApd_PlaceBoneVertices(model, body->state.bones, body->state.positions);
}

// ---------------------------------------------------------------------------------------------------------------------
// Mixing

typedef struct SumLoop
{
    const float *a, *b;
} SumLoop;

static double DotMixRange(int begin, int end, void* data)
{
    const SumLoop* loop = data;
    double sum = 0.0;
    for (int i = begin; i < end; ++i)
        sum += (double)loop->a[i] * (double)loop->b[i];
    return sum;
}

static double DotMix(snwSim* sim, const snwApdMix* mix, const float* a, const float* b)
{
    SumLoop loop = {.a = a, .b = b};
    return snwParallelSum(sim->context, mix->size, 8 * snw_apdGrain, DotMixRange, &loop);
}

// theta minimises |f - sum theta_j df_j|; a column that adds nothing new is left out by its pivot.
static void SolveMix(const snwApdMix* mix, int count, const double* right, double* theta)
{
    double l[snw_apdWindow][snw_apdWindow] = {{0}}, y[snw_apdWindow] = {0};
    bool used[snw_apdWindow] = {false};

    // Cholesky's factor, and forward through it at once.
    for (int i = 0; i < count; ++i)
    {
        for (int j = 0; j <= i; ++j)
        {
            double sum = mix->gram[i][j];
            for (int k = 0; k < j; ++k)
                sum -= l[i][k] * l[j][k];
            if (i == j)
                used[i] = sum > 1e-8 * mix->gram[i][i];
            l[i][j] = i == j ? (used[i] ? sqrt(sum) : 0.0) : used[j] ? sum / l[j][j] : 0.0;
        }

        double sum = right[i];
        for (int k = 0; k < i; ++k)
            sum -= l[i][k] * y[k];
        y[i] = used[i] ? sum / l[i][i] : 0.0;
    }

    // And back.
    for (int i = count - 1; i >= 0; --i)
    {
        double sum = y[i];
        for (int k = i + 1; k < count; ++k)
            sum -= l[k][i] * theta[k];
        theta[i] = used[i] ? sum / l[i][i] : 0.0;
    }
}

typedef struct MixLoop
{
    snwApdMix* mix;
    int slot, count;
    float theta[snw_apdWindow];
} MixLoop;

// The newest differences, and f and g for the next ones. mix->from holds x.
static void DifferenceOfSteps(int begin, int end, void* data)
{
    const MixLoop* loop = data;
    snwApdMix* mix = loop->mix;
    for (int i = begin; i < end; ++i)
    {
        float f = mix->plain[i] - mix->from[i];
        if (loop->slot >= 0)
        {
            mix->df[loop->slot][i] = f - mix->f[i];
            mix->dg[loop->slot][i] = mix->plain[i] - mix->g[i];
        }
        mix->f[i] = f;
        mix->g[i] = mix->plain[i];
    }
}

static void Combine(int begin, int end, void* data)
{
    const MixLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        float x = loop->mix->g[i];
        for (int k = 0; k < loop->count; ++k)
            x -= loop->theta[k] * loop->mix->dg[k][i];
        loop->mix->from[i] = x;
    }
}

static void MixSteps(snwSim* sim, snwApdMix* mix)
{
    int slot = mix->steps > 0 ? (mix->steps - 1) % snw_apdWindow : -1;
    int count = mix->steps < snw_apdWindow ? mix->steps : snw_apdWindow;
    MixLoop loop = {.mix = mix, .slot = slot, .count = count};
    snwParallelFor(sim->context, mix->size, 4 * snw_apdGrain, DifferenceOfSteps, &loop);
    double right[snw_apdWindow] = {0}, theta[snw_apdWindow] = {0};
    for (int k = 0; k < count; ++k)
    {
        mix->gram[slot][k] = mix->gram[k][slot] = DotMix(sim, mix, mix->df[slot], mix->df[k]);
        right[k] = DotMix(sim, mix, mix->f, mix->df[k]);
    }
    SolveMix(mix, count, right, theta);
    for (int k = 0; k < count; ++k)
        loop.theta[k] = (float)theta[k];
    snwParallelFor(sim->context, mix->size, 4 * snw_apdGrain, Combine, &loop);
    mix->steps++;
}

// ---------------------------------------------------------------------------------------------------------------------

void snwApd_BeginMix(snwSim* sim, int index)
{
    snwApdMix* mix = &snwApd_Body(sim, index)->mix;
    mix->steps = 0;
    mix->mixed = false;
    mix->merit = INFINITY;
}

bool snwApd_RejectMix(snwSim* sim, int index, double merit)
{
    snwApdBody* body = snwApd_Body(sim, index);
    if (merit <= body->mix.merit)
        return false;
    WriteVector(sim, body, body->mix.g);
    snwApd_BeginMix(sim, index);
    body->evaluated = false;
    return true;
}

void snwApd_KeepMix(snwSim* sim, int index, double merit)
{
    snwApdBody* body = snwApd_Body(sim, index);
    body->mix.merit = merit;
    ReadVector(sim, body, body->mix.from);
}

void snwApd_Mix(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    ReadVector(sim, body, body->mix.plain);
    MixSteps(sim, &body->mix);
    body->mix.mixed = body->mix.steps > 1;
    if (body->mix.mixed)
        WriteVector(sim, body, body->mix.from);
    body->evaluated = false;
}

snwResult snwApd_CreateMix(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdMix* mix = &body->mix;
    size_t size = 3 * (size_t)body->model->fleshCount + 12 * (size_t)body->model->boneCount;
    mix->size = (int)size;
    float** arrays[] = {&mix->from, &mix->plain, &mix->f, &mix->g};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i)
        *arrays[i] = snwArena_Alloc(&sim->arena, size, sizeof(float));
    for (int i = 0; i < snw_apdWindow; ++i)
    {
        mix->df[i] = snwArena_Alloc(&sim->arena, size, sizeof(float));
        mix->dg[i] = snwArena_Alloc(&sim->arena, size, sizeof(float));
    }
    return sim->arena.failed ? snwFailMemory(message) : snw_ok;
}
