// Nanoseconds per skinned vertex, wide kernels against a plain loop, both on one thread.

#include "prep_skinning.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "math/transform.h"
#include "rig/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_skinVertices = 4000,
    snw_skinHandles = 40,
    snw_skinInfluences = 4,
    snw_skinRepeats = 5, // calls per sample: less than the scheduler's slice, so that most samples are undisturbed
    snw_skinSamples = 8  // per run
};

typedef struct Vertex
{
    float position[3], normal[3];
    float weights[snw_skinInfluences];
    int handles[snw_skinInfluences];
} Vertex;

typedef struct World
{
    Vertex vertices[snw_skinVertices];
    float out[snw_skinVertices][6];
    double values[snw_skinVertices][snw_skinInfluences];
    int handles[snw_skinVertices][snw_skinInfluences];
    snwTransform transforms[snw_skinHandles];
    float matrices[snw_skinHandles][12];
    snwWeights* weights;
} World;

// Neighbours along a line follow four of the same six handles, as the vertices of a character do.
static void FillVertex(World* world, int index, uint64_t* seed)
{
    Vertex* v = &world->vertices[index];
    snwVec3 n = snwVec3_Normalize(
        (snwVec3){snwBenchRandom(seed) - 0.5, snwBenchRandom(seed) - 0.5, snwBenchRandom(seed) - 0.5});
    const double normal[3] = {n.x, n.y, n.z};
    int first = index * (snw_skinHandles - 6) / snw_skinVertices, skipped = (int)(snwBenchRandom(seed) * 5), k = 0;
    double sum = 0;
    for (int i = 0; i < 6; ++i)
    {
        if (i == skipped || i == skipped + 1)
            continue;
        world->handles[index][k] = v->handles[k] = first + i;
        sum += world->values[index][k++] = 0.1 + snwBenchRandom(seed);
    }
    for (k = 0; k < snw_skinInfluences; ++k)
        v->weights[k] = (float)(world->values[index][k] /= sum);
    for (k = 0; k < 3; ++k)
        v->position[k] = (float)snwBenchRandom(seed), v->normal[k] = (float)normal[k];
}

static void FillPose(World* world, uint64_t* seed)
{
    for (int i = 0; i < snw_skinHandles; ++i)
    {
        snwVec3 turn = {snwBenchRandom(seed), snwBenchRandom(seed), snwBenchRandom(seed)};
        world->transforms[i] = (snwTransform){
            {snwBenchRandom(seed), snwBenchRandom(seed), 0}, snwQuat_FromRotationVector(turn)};
    }
}

static void FillMatrices(World* world)
{
    for (int i = 0; i < snw_skinHandles; ++i)
    {
        snwAffine map = snwAffine_FromTransform(world->transforms[i]);
        const double t[3] = {map.translation.x, map.translation.y, map.translation.z};
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 4; ++c)
                world->matrices[i][4 * r + c] = (float)(c < 3 ? map.linear.m[r][c] : t[r]);
    }
}

// The plain loop: blend the matrices once, then the point and, by the cofactors, its normal.
static void SkinPlainly(const Vertex* v, const float (*matrices)[12], float* out)
{
    float m[12] = {0};
    for (int k = 0; k < snw_skinInfluences; ++k)
        for (int i = 0; i < 12; ++i)
            m[i] += v->weights[k] * matrices[v->handles[k]][i];
    const float *p = v->position, *n = v->normal;
    for (int r = 0; r < 3; ++r)
        out[r] = m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3];
    float u[3] = {m[5] * m[10] - m[6] * m[9], m[6] * m[8] - m[4] * m[10], m[4] * m[9] - m[5] * m[8]};
    float w[3] = {m[2] * m[9] - m[1] * m[10], m[0] * m[10] - m[2] * m[8], m[1] * m[8] - m[0] * m[9]};
    float z[3] = {m[1] * m[6] - m[2] * m[5], m[2] * m[4] - m[0] * m[6], m[0] * m[5] - m[1] * m[4]};
    float x = u[0] * n[0] + u[1] * n[1] + u[2] * n[2], y = w[0] * n[0] + w[1] * n[1] + w[2] * n[2];
    float q = z[0] * n[0] + z[1] * n[1] + z[2] * n[2], s = 1.0f / sqrtf(x * x + y * y + q * q);
    out[3] = x * s, out[4] = y * s, out[5] = q * s;
}

static double TimePlain(World* world)
{
    double start = snwClock_Seconds();
    for (int repeat = 0; repeat < snw_skinRepeats; ++repeat)
    {
        FillMatrices(world); // a call gets transforms, as ours does
        for (int i = 0; i < snw_skinVertices; ++i)
            SkinPlainly(&world->vertices[i], (const float(*)[12])world->matrices, world->out[i]);
    }
    return (snwClock_Seconds() - start) * 1e9 / ((double)snw_skinVertices * snw_skinRepeats);
}

static snwResult TimeWide(
    World* world, snwSkinning* skinning, snwSkinningKind kind, snwSamples* samples, snwMessage* message)
{
    snwSkinningPose pose = {.kind = kind, .transforms = world->transforms, .count = snw_skinHandles};
    snwSkinningTarget target = {world->out[0], world->out[0] + 3, sizeof *world->out, sizeof *world->out};
    snwResult result = snw_ok;
    double start = snwClock_Seconds();
    for (int repeat = 0; repeat < snw_skinRepeats && result == snw_ok; ++repeat)
        result = snwSkinning_Apply(skinning, &pose, &target, message);
    snwSamples_Add(samples, (snwClock_Seconds() - start) * 1e9 / ((double)snw_skinVertices * snw_skinRepeats));
    return result;
}

static snwResult MakeWorld(snwContext* context, World* world, snwSkinning** skinning, snwMessage* message)
{
    uint64_t seed = 1;
    for (int i = 0; i < snw_skinVertices; ++i)
        FillVertex(world, i, &seed);
    FillPose(world, &seed);
    snwWeightLists lists = {
        snw_skinVertices, snw_skinHandles, snw_skinInfluences, world->handles[0], world->values[0], 0.0, 0};
    snwResult result = snwWeights_FromLists(context, &lists, &world->weights, NULL, message);
    if (result < 0)
        return result;
    snwSkinningDef def = snwDefaultSkinningDef();
    def.positions = world->vertices[0].position;
    def.normals = world->vertices[0].normal;
    def.stride = sizeof(Vertex);
    def.weights = world->weights;
    def.vertexCount = snw_skinVertices;
    return snwCreateSkinning(context, &def, skinning, message);
}

typedef struct Rows
{
    snwBenchReport* report;
    snwMessage* message;
    snwResult result;
} Rows;

static void AddRow(Rows* rows, const char* name, const char* metric, const snwSamples* samples, double target)
{
    snwBenchRow row = snwMakeBenchRow(name, "prep", metric);
    snwBenchRow_SetSamples(&row, samples);
    if (isfinite(target))
        row.target = target, row.op = ">=";
    snprintf(row.note, sizeof row.note, "%d vertices, %d influences, normals too, one thread", snw_skinVertices,
        snw_skinInfluences);
    if (rows->result >= 0)
        rows->result = snwBenchReport_Add(rows->report, &row, rows->message);
}

static snwResult Measure(World* world, snwSkinning* skinning, int runs, snwBenchReport* report, snwMessage* message)
{
    snwSamples linear = {0}, dual = {0}, plain = {0};
    snwResult result = snw_ok;
    for (int run = 0; run < runs * snw_skinSamples && result == snw_ok; ++run)
    {
        result = TimeWide(world, skinning, snw_skinningLinear, &linear, message);
        snwSamples_Add(&plain, TimePlain(world));
        if (result == snw_ok)
            result = TimeWide(world, skinning, snw_skinningDualQuaternion, &dual, message);
    }
    Rows rows = {report, message, result};
    snwSamples ratio = snwSamples_Ratios(&plain, &linear);
    AddRow(&rows, "skin-linear", "skin_ns", &linear, NAN);
    AddRow(&rows, "skin-linear", "skin_scalar_ns", &plain, NAN);
    AddRow(&rows, "skin-linear", "skin_speedup", &ratio, 4);
    AddRow(&rows, "skin-dual-quaternion", "skin_ns", &dual, NAN);
    return rows.result;
}

static snwResult RunAlone(snwContext* context, int runs, snwBenchReport* report, snwMessage* message)
{
    World* world = snwAlloc(context, sizeof *world);
    if (world == NULL)
        return snwFailMemory(message);
    snwSkinning* skinning = NULL;
    snwResult result = MakeWorld(context, world, &skinning, message);
    if (result == snw_ok)
        result = Measure(world, skinning, runs, report, message);
    snwDestroySkinning(skinning);
    snwFree(context, world->weights);
    snwFree(context, world);
    return result;
}

snwResult snwBenchSkinning(int runs, snwBenchReport* report, snwMessage* message)
{
    snwContextDef def = snwDefaultContextDef();
    snwContext* context = NULL;
    def.threadCount = 1;
    snwResult result = snwCreateContext(&def, &context, message);
    if (context == NULL)
        return result;
    result = RunAlone(context, runs, report, message);
    snwDestroyContext(context);
    return result;
}
