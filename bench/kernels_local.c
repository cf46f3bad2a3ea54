#include "kernels_local.h"

#include "kernels_cube.h"

#include "base/clock.h"
#include "base/result.h"
#include "math/cpu.h"
#include "sim/apd/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_localTets = 135000, // as in a cube of 30k vertices
    snw_localRepeats = 5
};

typedef struct Local
{
    snwBenchCube cube;
    snwElasticWeights* weights;
    snwStretchBlock* start;
    float* forces;
} Local;

static void FreeLocal(Local* local)
{
    snwBenchCube_Free(&local->cube);
    free(local->weights);
    free(local->start);
    free(local->forces);
}

static snwElasticTask MakeTask(Local* local, snwElasticLaw law, bool damped)
{
    return (snwElasticTask){.law = law,
        .tets = local->cube.blocks,
        .weights = local->weights,
        .positions = local->cube.positions,
        .start = damped ? local->start : NULL,
        .rotations = local->cube.q,
        .forces = local->forces};
}

// The guess is the pose of the frame before, as in the rotations' rows.
static bool MakeLocal(Local* local)
{
    snwBenchCube* cube = &local->cube;
    memset(local, 0, sizeof *local);
    if (!snwBenchCube_Allocate(cube, snw_localTets))
        return false;
    size_t rows = (size_t)cube->vertexCount * 4 * sizeof(float);
    local->weights = snwBench_Allocate((size_t)cube->blockCount * sizeof *local->weights);
    local->start = snwBench_Allocate((size_t)cube->blockCount * sizeof *local->start);
    local->forces = snwBench_Allocate(rows);
    if (local->weights == NULL || local->start == NULL || local->forces == NULL)
        return false;
    snwBenchCube_FillRest(cube);
    snwBenchCube_Deform(cube, 0);
    memset(cube->guess, 0, (size_t)cube->blockCount * sizeof *cube->guess);
    snwRotation_Kernels(snw_simdAuto)->tetExtract(cube->blockCount, cube->blocks, cube->positions, cube->guess, NULL);
    memset(local->forces, 0, rows);
    for (int t = 0; t < cube->blockCount * 8; ++t)
    {
        local->weights[t / 8].shear[t % 8] = t < cube->tetCount ? 1.0f : 0.0f;
        local->weights[t / 8].bulk[t % 8] = t < cube->tetCount ? 4.0f : 0.0f;
        local->weights[t / 8].damping[t % 8] = t < cube->tetCount ? 0.5f : 0.0f;
    }
    snwElasticTask task = MakeTask(local, snw_elasticNeo, true);
    task.isStart = true;
    snwElastic_Kernels(snw_simdAuto)->addForces(&task, 0, cube->blockCount);
    snwBenchCube_Deform(cube, 1);
    return true;
}

// ns per tetrahedron, the fastest of some repeats.
static double Measure(Local* local, snwSimd simd, snwElasticLaw law, bool damped)
{
    snwBenchCube* cube = &local->cube;
    snwElasticTask task = MakeTask(local, law, damped);
    double best = INFINITY;
    for (int repeat = 0; repeat < snw_localRepeats; ++repeat)
    {
        memcpy(cube->q, cube->guess, (size_t)cube->blockCount * sizeof *cube->q);
        double start = snwClock_Seconds();
        snwElastic_Kernels(simd)->addForces(&task, 0, cube->blockCount);
        best = fmin(best, (snwClock_Seconds() - start) * 1e9 / cube->tetCount);
    }
    return best;
}

static snwResult AddRow(
    Local* local, snwSimd simd, snwElasticLaw law, int runs, snwBenchReport* report, snwMessage* message)
{
    static const char* const names[] = {"local-strain", "local-volume", "local-corotated", "local-neo"};
    static const double targets[] = {20, 50, 20, 20};
    snwSamples plain = {0}, damped = {0};
    for (int run = 0; run < runs; ++run)
    {
        snwSamples_Add(&plain, Measure(local, simd, law, false));
        snwSamples_Add(&damped, Measure(local, simd, law, true));
    }
    snwBenchRow row = snwMakeBenchRow(names[law], snwSimd_Name(simd), "local_ns");
    snwBenchRow_SetSamples(&row, &plain);
    if (simd == snwSimd_Best() && simd == snw_simdAvx2) // targets are for the kernels of this machine class
        row.op = "<=", row.target = targets[law];
    snprintf(row.note, sizeof row.note, "with damping %.1f ns", snwSamples_Median(&damped));
    return snwBenchReport_Add(report, &row, message);
}

snwResult snwAddLocalRows(snwSimd simd, int runs, snwBenchReport* report, snwMessage* message)
{
    Local local;
    snwResult result = MakeLocal(&local) ? snw_ok : snwFailMemory(message);
    for (int law = 0; law < snw_elasticLawCount && result >= 0; ++law)
        result = AddRow(&local, simd, (snwElasticLaw)law, runs, report, message);
    FreeLocal(&local);
    return result;
}
