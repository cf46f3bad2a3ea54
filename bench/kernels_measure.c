// Time of the maths kernels on a cube of tetrahedra, and memory bandwidth. Errors are in kernels_error.c.

#include "kernels_measure.h"

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

static void* Allocate(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

// ---------------------------------------------------------------------------------------------------------------------
// The cube

typedef struct Cube
{
    int side, vertexCount, tetCount, blockCount;
    int (*tets)[4];
    double (*inverse)[9]; // of the rest edges
    snwTetBlock* blocks;
    float* positions;    // rows of four
    double (*exact)[3];  // the same in double
    snwQuatBlock* q;     // in and out of the kernels
    snwQuatBlock* guess; // rotations of the frame before
    snwMat3Block* R;
    snwSym3Block* S;
    snwSvdBlock* svd;
    double (*baseQ)[4];
    double (*baseR)[9];
} Cube;

static void FreeCube(Cube* cube)
{
    void* all[] = {cube->tets, cube->inverse, cube->blocks, cube->positions, cube->exact, cube->q, cube->guess, cube->R,
        cube->S, cube->svd, cube->baseQ, cube->baseR};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

static bool AllocateCube(Cube* cube, int tetCount)
{
    memset(cube, 0, sizeof *cube);
    cube->side = (int)(cbrt(tetCount / 5.0) + 0.5);
    cube->side = cube->side < 1 ? 1 : cube->side;
    size_t nv = (size_t)(cube->side + 1) * (size_t)(cube->side + 1) * (size_t)(cube->side + 1);
    size_t nt = 5 * (size_t)cube->side * (size_t)cube->side * (size_t)cube->side, nb = (nt + 7) / 8;
    cube->vertexCount = (int)nv, cube->tetCount = (int)nt, cube->blockCount = (int)nb;
    cube->tets = Allocate(nt * sizeof *cube->tets);
    cube->inverse = Allocate(nt * sizeof *cube->inverse);
    cube->blocks = Allocate(nb * sizeof *cube->blocks);
    cube->positions = Allocate(nv * 4 * sizeof(float));
    cube->exact = Allocate(nv * sizeof *cube->exact);
    cube->q = Allocate(nb * sizeof *cube->q);
    cube->guess = Allocate(nb * sizeof *cube->guess);
    cube->R = Allocate(nb * sizeof *cube->R);
    cube->S = Allocate(nb * sizeof *cube->S);
    cube->svd = Allocate(nb * sizeof *cube->svd);
    cube->baseQ = Allocate(nt * sizeof *cube->baseQ);
    cube->baseR = Allocate(nt * sizeof *cube->baseR);
    return cube->tets && cube->inverse && cube->blocks && cube->positions && cube->exact && cube->q && cube->guess &&
           cube->R && cube->S && cube->svd && cube->baseQ && cube->baseR;
}

static snwVec3 RestPosition(const Cube* cube, int vertex)
{
    int n = cube->side + 1, x = vertex % n, y = vertex / n % n, z = vertex / n / n;
    double h = 0.5 / cube->side;
    return (snwVec3){h * x, h * y, h * z};
}

// Five tetrahedra per cell, mirrored in every other cell so that faces match.
static void FillCell(Cube* cube, int cell, int x, int y, int z)
{
    static const int corners[5][4] = {{0, 1, 3, 5}, {0, 3, 2, 6}, {0, 5, 4, 6}, {3, 5, 6, 7}, {0, 3, 6, 5}};
    int n = cube->side + 1, flip = (x + y + z) & 1;
    for (int t = 0; t < 5; t++)
    {
        for (int k = 0; k < 4; k++)
        {
            int c = corners[t][k] ^ flip;
            cube->tets[5 * cell + t][k] = (x + (c & 1)) + n * ((y + (c >> 1 & 1)) + n * (z + (c >> 2 & 1)));
        }
    }
}

static void FillRest(Cube* cube)
{
    for (int cell = 0; cell < cube->tetCount / 5; cell++)
        FillCell(cube, cell, cell % cube->side, cell / cube->side % cube->side, cell / cube->side / cube->side);
    memset(cube->blocks, 0, (size_t)cube->blockCount * sizeof *cube->blocks);
    for (int t = 0; t < cube->tetCount; t++)
    {
        snwVec3 x[4];
        for (int k = 0; k < 4; k++)
        {
            x[k] = RestPosition(cube, cube->tets[t][k]);
            cube->blocks[t / 8].index[k][t % 8] = cube->tets[t][k];
        }
        snwMat3 inverse = snwMat3_Identity();
        snwMat3_Inverse(
            snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), &inverse);
        for (int i = 0; i < 9; i++)
        {
            cube->inverse[t][i] = inverse.m[i / 3][i % 3];
            cube->blocks[t / 8].inverseRest[i][t % 8] = (float)inverse.m[i / 3][i % 3];
        }
    }
}

// A twist of three radians along z that grows by a thirtieth per frame, with stretch and jitter.
static void Deform(Cube* cube, int frame)
{
    uint64_t noise = 88172645463325252u;
    for (int v = 0; v < cube->vertexCount; v++)
    {
        snwVec3 p = RestPosition(cube, v);
        double angle = 6 * p.z * (1 + 0.03 * frame), c = cos(angle), s = sin(angle);
        double x = 1.2 * p.x - 0.25, y = 0.9 * p.y - 0.25;
        double* out = cube->exact[v];
        out[0] = c * x - s * y, out[1] = s * x + c * y, out[2] = 1.1 * p.z;
        for (int k = 0; k < 3; k++)
        {
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            out[k] += 0.12 / cube->side * ((double)(noise >> 11) * 0x1p-53 - 0.5);
            cube->positions[4 * v + k] = (float)out[k];
        }
        cube->positions[4 * v + 3] = 0;
    }
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

static void RunBaseline(Cube* cube)
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

static snwRotationReport RunStage(const snwRotationKernels* kernels, Cube* cube, snwPolarStage stage)
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

static void RestoreGuess(Cube* cube, snwPolarStage stage)
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
    const snwRotationKernels* kernels, Cube* cube, snwPolarStage stage, int repeats, snwPolarTiming* out)
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

static void CompareRotations(const Cube* cube, snwPolarTiming* out)
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
    Cube cube;
    repeats = repeats < 1 ? 1 : repeats > SNW_MAX_REPEATS ? SNW_MAX_REPEATS : repeats;
    memset(out, 0, sizeof *out);
    if (!AllocateCube(&cube, tetCount))
    {
        FreeCube(&cube);
        return false;
    }
    const snwRotationKernels* kernels = snwRotation_Kernels(simd);
    FillRest(&cube);
    Deform(&cube, 0);
    memset(cube.guess, 0, (size_t)cube.blockCount * sizeof *cube.guess);
    kernels->tetExtract(cube.blockCount, cube.blocks, cube.positions, cube.guess, NULL);
    Deform(&cube, 1);
    out->tetCount = cube.tetCount;
    out->vertexCount = cube.vertexCount;
    for (int stage = snw_polarStageCount - 1; stage >= 0; stage--)
        MeasureStage(kernels, &cube, (snwPolarStage)stage, repeats, out);
    RestoreGuess(&cube, snw_polarExtract);
    RunStage(kernels, &cube, snw_polarExtract);
    CompareRotations(&cube, out);
    FreeCube(&cube);
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
    uint64_t* words = Allocate(count * sizeof *words);
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
