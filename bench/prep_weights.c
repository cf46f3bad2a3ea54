// Smooth weights at the size that the literature quotes: 4,032 vertices, ten handles.

#include "prep_skinning.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/result.h"
#include "geom/shapes.h"
#include "rig/biharmonic.h"
#include "rig/weights.h"

#include <math.h>
#include <stdio.h>

enum
{
    snw_weightHandles = 10
};

typedef struct World
{
    snwContext* context;
    snwArena arena;
    snwTetMesh tets;
    snwHandleShape handles[snw_weightHandles];
    snwHandleMesh mesh;
    snwBiharmonicReport report;
    snwSamples seconds;
    double unity, bound;
} World;

static double Jitter(uint64_t* seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53 - 0.5;
}

// A box of cells, shaken so that no two tets are alike, with a zigzag of short bones along it.
static bool MakeWorld(World* world)
{
    const int cells[3] = {11, 11, 27};
    const double cell = 1.0 / 27;
    uint64_t seed = 1;
    if (!snwMakeBoxMesh(&world->arena, (snwVec3){11 * cell, 11 * cell, 1}, cells, &world->tets))
        return false;
    snwVec3 lower = world->tets.vertices[0], upper = lower;
    for (int i = 0; i < world->tets.vertexCount; ++i)
    {
        snwVec3 shake = {Jitter(&seed), Jitter(&seed), Jitter(&seed)};
        world->tets.vertices[i] = snwVec3_MulAdd(world->tets.vertices[i], 0.2 * cell, shake);
        lower = snwVec3_Min(lower, world->tets.vertices[i]);
        upper = snwVec3_Max(upper, world->tets.vertices[i]);
    }
    for (int i = 0; i < snw_weightHandles; ++i)
    {
        snwVec3 middle = snwVec3_Scale(snwVec3_Add(lower, upper), 0.5);
        middle.x += i % 2 ? 2 * cell : -2 * cell;
        middle.z = lower.z + (i + 0.5) / snw_weightHandles * (upper.z - lower.z);
        snwVec3 half = {0, 0, cell};
        world->handles[i] = (snwHandleShape){snw_handleBone, snwVec3_Sub(middle, half), snwVec3_Add(middle, half)};
    }
    world->mesh = (snwHandleMesh){.vertices = world->tets.vertices,
        .vertexCount = world->tets.vertexCount,
        .elements = {(const int*)world->tets.tets, 4, world->tets.tetCount},
        .handles = world->handles,
        .handleCount = snw_weightHandles};
    return true;
}

static void MeasureErrors(World* world, const snwWeights* weights, const snwHeldVertices* held)
{
    for (int i = 0; i < weights->vertexCount; ++i)
    {
        double sum = 0;
        for (int k = 0; k < weights->handleCount; ++k)
        {
            double weight = snwWeights_Get(weights, i, k), given = held->values[i * weights->handleCount + k];
            world->bound = fmax(world->bound, held->fixed[i] ? fabs(weight - given) : fmax(-weight, weight - 1));
            sum += weight;
        }
        world->unity = fmax(world->unity, fabs(sum - 1));
    }
}

static snwResult SolveOnce(World* world, snwMessage* message)
{
    snwBiharmonicDef def = snwDefaultBiharmonicDef();
    snwWeights* weights = NULL;
    snwHeldVertices held = {0};
    def.mesh = &world->mesh;
    double start = snwClock_Seconds();
    snwResult result = snwSolveBiharmonic(world->context, &def, &weights, &world->report, message);
    snwSamples_Add(&world->seconds, snwClock_Seconds() - start);
    if (result >= 0)
        result = snwHoldVertices(world->context, &world->mesh, &held, message);
    if (result >= 0)
        MeasureErrors(world, weights, &held);
    snwHeldVertices_Free(world->context, &held);
    snwFree(world->context, weights);
    return result;
}

static snwResult AddRow(
    World* world, const char* metric, double value, double target, snwBenchReport* report, snwMessage* message)
{
    snwBenchRow row = snwMakeBenchRow("weights-4k", "prep", metric);
    if (isnan(value))
        snwBenchRow_SetSamples(&row, &world->seconds);
    else
        row.value = value, row.n = 1;
    row.target = target;
    row.op = "<=";
    snprintf(row.note, sizeof row.note, "%d vertices, %d tets, %d handles; %d iterations, %d factors%s",
        world->mesh.vertexCount, world->mesh.elements.count, snw_weightHandles, world->report.iterations,
        world->report.factors, world->report.converged ? "" : "; not converged");
    return snwBenchReport_Add(report, &row, message);
}

snwResult snwBenchWeights(snwContext* context, int runs, snwBenchReport* report, snwMessage* message)
{
    World world = {.context = context, .arena = {.context = context}};
    snwResult result = MakeWorld(&world) ? snw_ok : snwFailMemory(message);
    for (int i = 0; i < runs && result >= 0; ++i)
        result = SolveOnce(&world, message);
    if (result >= 0)
        result = AddRow(&world, "weights_s", NAN, 2, report, message);
    if (result >= 0)
        result = AddRow(&world, "unity_err", world.unity, 1e-6, report, message);
    if (result >= 0)
        result = AddRow(&world, "bound_violation", world.bound, 0, report, message);
    snwArena_Free(&world.arena);
    return result;
}
