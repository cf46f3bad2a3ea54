// Time of the maths kernels on a cube of tetrahedra, and memory bandwidth. Errors are in kernels_error.c.

#include "kernels_measure.h"

#include "kernels_cube.h"
#include "math/quat.h"
#include "math/rotation.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
    SNW_MAX_REPEATS = 1000
};

static double Seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---------------------------------------------------------------------------------------------------------------------
// The baseline: what one writes first, in double and one tetrahedron at a time.

static void MulQuat(double q[4], double x, double y, double z, double w)
{
    snwQuat r = snwQuat_Mul((snwQuat){q[0], q[1], q[2], q[3]}, (snwQuat){x, y, z, w});
    q[0] = r.x, q[1] = r.y, q[2] = r.z, q[3] = r.w;
}

static void NewtonDouble(snwMat3 F, double q[4])
{
    for (int step = 0; step < 20; step++)
    {
        snwMat3 B = snwMat3_TransposeMul(snwQuat_ToMat3((snwQuat){q[0], q[1], q[2], q[3]}), F);
        snwVec3 g = {B.m[1][2] - B.m[2][1], B.m[2][0] - B.m[0][2], B.m[0][1] - B.m[1][0]};
        snwMat3 H = snwMat3_Scale(snwMat3_Add(B, snwMat3_Transpose(B)), -0.5), cofactor;
        double trace = snwMat3_Trace(B);
        for (int i = 0; i < 3; i++)
            H.m[i][i] += trace;
        cofactor = snwMat3_Cofactor(H);
        double det = snwVec3_Dot(snwMat3_Column(H, 0), snwMat3_Column(cofactor, 0));
        snwVec3 o = snwVec3_Scale(snwMat3_MulVec(cofactor, g), -0.25 / det);
        if (fabs(det) < 1e-9 || snwVec3_Dot(o, g) > 0)
            o = snwVec3_Scale(g, -0.125);
        double length2 = snwVec3_LengthSquared(o), s = 1 / (1 + length2);
        MulQuat(q, 2 * s * o.x, 2 * s * o.y, 2 * s * o.z, (1 - length2) * s);
        if (length2 < 1e-12)
            return;
    }
}

static void RunBaseline(snwBenchCube* cube)
{
    for (int t = 0; t < cube->tetCount; t++)
    {
        const int* tet = cube->tets[t];
        const double* inverse = cube->inverse[t];
        const double* x0 = cube->exact[tet[0]];
        snwMat3 F;
        for (int r = 0; r < 3; r++)
        {
            double e0 = cube->exact[tet[1]][r] - x0[r], e1 = cube->exact[tet[2]][r] - x0[r];
            double e2 = cube->exact[tet[3]][r] - x0[r];
            for (int c = 0; c < 3; c++)
                F.m[r][c] = e0 * inverse[c] + e1 * inverse[3 + c] + e2 * inverse[6 + c];
        }
        double* q = cube->baseQ[t];
        NewtonDouble(F, q);
        snwMat3 R = snwQuat_ToMat3((snwQuat){q[0], q[1], q[2], q[3]});
        memcpy(cube->baseR[t], R.m, sizeof R.m);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Timing

static snwQuat LaneQuat(const snwQuatBlock* q, int t)
{
    const float(*b)[8] = q[t / 8].q;
    return snwQuat_Normalize((snwQuat){b[0][t % 8], b[1][t % 8], b[2][t % 8], b[3][t % 8]});
}

static snwRotationReport RunStage(const snwRotationKernels* kernels, snwBenchCube* cube, snwPolarStage stage)
{
    int count = cube->blockCount;
    switch (stage)
    {
        case snw_polarDeform:
            kernels->tetDeform(count, cube->blocks, cube->positions, cube->R);
            break;
        case snw_polarExtract:
            return kernels->tetExtract(count, cube->blocks, cube->positions, cube->q, cube->R);
        case snw_polarStretch:
            return kernels->tetPolar(count, cube->blocks, cube->positions, cube->q, cube->R, cube->S);
        case snw_polarSvd:
            return kernels->tetSvd(count, cube->blocks, cube->positions, cube->q, cube->svd);
        default:
            RunBaseline(cube);
            break;
    }
    return (snwRotationReport){0, 0};
}

static void RestoreGuess(snwBenchCube* cube, snwPolarStage stage)
{
    memcpy(cube->q, cube->guess, (size_t)cube->blockCount * sizeof *cube->q);
    if (stage != snw_polarBaseline)
        return;
    for (int t = 0; t < cube->tetCount; t++)
    {
        snwQuat q = LaneQuat(cube->guess, t);
        memcpy(cube->baseQ[t], (double[4]){q.x, q.y, q.z, q.w}, sizeof cube->baseQ[t]);
    }
}

static int CompareDouble(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void MeasureStage(
    const snwRotationKernels* kernels, snwBenchCube* cube, snwPolarStage stage, int repeats, snwPolarTiming* out)
{
    double times[SNW_MAX_REPEATS];
    for (int r = 0; r < repeats; r++)
    {
        RestoreGuess(cube, stage);
        double start = Seconds();
        snwRotationReport report = RunStage(kernels, cube, stage);
        times[r] = (Seconds() - start) * 1e9 / cube->tetCount;
        if (stage == snw_polarExtract)
            out->robustShare = (double)report.robust / cube->tetCount;
    }
    qsort(times, (size_t)repeats, sizeof times[0], CompareDouble);
    out->best[stage] = times[0];
    out->median[stage] = times[repeats / 2];
}

static void CompareRotations(const snwBenchCube* cube, snwPolarTiming* out)
{
    out->stale = out->baselineError = 0;
    for (int t = 0; t < cube->tetCount; t++)
    {
        const double* q = cube->baseQ[t];
        snwQuat base = snwQuat_Normalize((snwQuat){q[0], q[1], q[2], q[3]});
        out->stale += snwQuat_Angle(LaneQuat(cube->guess, t), base) / cube->tetCount;
        out->baselineError = fmax(out->baselineError, snwQuat_Angle(LaneQuat(cube->q, t), base));
    }
}

bool snwMeasurePolar(snwSimd simd, int tetCount, int repeats, snwPolarTiming* out)
{
    snwBenchCube cube;
    repeats = repeats < 1 ? 1 : repeats > SNW_MAX_REPEATS ? SNW_MAX_REPEATS : repeats;
    memset(out, 0, sizeof *out);
    if (!snwBenchCube_Allocate(&cube, tetCount))
    {
        snwBenchCube_Free(&cube);
        return false;
    }
    const snwRotationKernels* kernels = snwRotation_Kernels(simd);
    snwBenchCube_FillRest(&cube);
    snwBenchCube_Deform(&cube, 0);
    memset(cube.guess, 0, (size_t)cube.blockCount * sizeof *cube.guess);
    kernels->tetExtract(cube.blockCount, cube.blocks, cube.positions, cube.guess, NULL);
    snwBenchCube_Deform(&cube, 1);
    out->tetCount = cube.tetCount;
    out->vertexCount = cube.vertexCount;
    for (int stage = snw_polarStageCount - 1; stage >= 0; stage--)
        MeasureStage(kernels, &cube, (snwPolarStage)stage, repeats, out);
    RestoreGuess(&cube, snw_polarExtract);
    RunStage(kernels, &cube, snw_polarExtract);
    CompareRotations(&cube, out);
    snwBenchCube_Free(&cube);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// Four independent sums of two, so that loads and not additions set the pace.
static uint64_t SumWords(const uint64_t* words, size_t count)
{
    typedef uint64_t Pair __attribute__((vector_size(16)));
    const Pair* p = (const Pair*)words;
    Pair sum[4] = {{0}};
    for (size_t i = 0; i + 4 <= count / 2; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += p[i + k];
    Pair all = sum[0] + sum[1] + sum[2] + sum[3];
    return all[0] + all[1];
}

double snwMeasureReadBandwidth(int64_t bytes, int repeats)
{
    size_t count = (size_t)(bytes < 64 ? 64 : bytes) / 64 * 8;
    uint64_t* words = snwBench_Allocate(count * sizeof *words);
    if (words == NULL)
        return 0;
    for (size_t i = 0; i < count; i++)
        words[i] = i;
    double best = 1e30;
    volatile uint64_t sink; // or the reads might be left out
    for (int r = 0; r < (repeats < 1 ? 1 : repeats); r++)
    {
        double start = Seconds();
        sink = SumWords(words, count);
        (void)sink;
        double time = Seconds() - start;
        best = time < best ? time : best;
    }
    free(words);
    return (double)(count * sizeof *words) / best * 1e-9;
}
