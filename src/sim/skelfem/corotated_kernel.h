// The loops over elements and rows of corotated.c, compiled once per instruction set. Vectors have fixed widths, so all
// instruction sets give the same bits; see multigrid_kernel.h.

#include "math/lanes.h"
#include "sim/skelfem/corotated_parts.h"

#include <string.h>

INLINE void StoreFour(float* p, Four a)
{
    memcpy(p, &a, sizeof a);
}

INLINE FourDoubles Widened(const float* p)
{
    return __builtin_convertvector(LoadFour(p), FourDoubles);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rotations

static void Deform(const snwCorotatedLoop* loop, int n, snwMat3Block* F)
{
    const snwTetLanes* block = &loop->flesh->blocks[n];
    float sides[3][3][snw_tetLanes]; // differences in double, so that F does not depend on how far away the body is
    for (int lane = 0; lane < snw_tetLanes; ++lane)
    {
        FourDoubles origin = LoadVec(&loop->positions[block->corners[0][lane]]);
        for (int a = 0; a < 3; ++a)
        {
            FourDoubles side = LoadVec(&loop->positions[block->corners[a + 1][lane]]) - origin;
            for (int r = 0; r < 3; ++r)
                sides[a][r][lane] = (float)side[r];
        }
    }

    // F = sides times the inverse rest.
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
        {
            Eight sum = LoadEight(sides[0][r]) * LoadEight(block->inverseRest[c]) +
                        LoadEight(sides[1][r]) * LoadEight(block->inverseRest[3 + c]) +
                        LoadEight(sides[2][r]) * LoadEight(block->inverseRest[6 + c]);
            memcpy(F->m[3 * r + c], &sum, sizeof sum);
        }
}

// Corner a of eight tets, lane by lane, to where each tet has it.
INLINE void StoreCorner(snwTurnedTet* tets, int count, int a, Eight x, Eight y, Eight z, Eight w)
{
    for (int half = 0; half < 2; ++half)
    {
        Four p[4];
        const Eight all[4] = {x, y, z, w};
        for (int k = 0; k < 4; ++k)
            p[k] = half == 0 ? __builtin_shufflevector(all[k], all[k], 0, 1, 2, 3)
                             : __builtin_shufflevector(all[k], all[k], 4, 5, 6, 7);

        Four xy0 = __builtin_shufflevector(p[0], p[1], 0, 4, 1, 5),
             xy1 = __builtin_shufflevector(p[0], p[1], 2, 6, 3, 7),
             zw0 = __builtin_shufflevector(p[2], p[3], 0, 4, 1, 5),
             zw1 = __builtin_shufflevector(p[2], p[3], 2, 6, 3, 7);
        const Four out[4] = {__builtin_shufflevector(xy0, zw0, 0, 1, 4, 5),
            __builtin_shufflevector(xy0, zw0, 2, 3, 6, 7), __builtin_shufflevector(xy1, zw1, 0, 1, 4, 5),
            __builtin_shufflevector(xy1, zw1, 2, 3, 6, 7)};
        for (int lane = 0; lane < 4 && 4 * half + lane < count; ++lane)
            StoreFour(tets[4 * half + lane].g[a], out[lane]);
    }
}

static void TurnTets(const snwCorotatedLoop* loop, int begin, int end)
{
    const snwCorotated* flesh = loop->flesh;
    for (int n = begin; n < end; ++n)
    {
        const snwTetLanes* block = &flesh->blocks[n];
        Eight none = {0}, one = none + 1, x = none, y = none, z = none, w = one;
        if (!loop->still)
        {
            const snwQuatBlock* q = &flesh->rotations[n];
            x = LoadEight(q->q[0]), y = LoadEight(q->q[1]), z = LoadEight(q->q[2]), w = LoadEight(q->q[3]);
        }

        // R of the quaternion, row by row.
        const Eight R[9] = {one - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), //
            2 * (x * y + z * w), one - 2 * (x * x + z * z), 2 * (y * z - x * w),                 //
            2 * (x * z - y * w), 2 * (y * z + x * w), one - 2 * (x * x + y * y)};

        // Gradients of corners 1 to 3, turned and scaled by sqrt(mu V); corner 0 has the rest.
        Eight root = LoadEight(block->root), first[3] = {none, none, none};
        int count = flesh->tetCount - snw_tetLanes * n;
        snwTurnedTet* tets = flesh->turned + snw_tetLanes * (size_t)n;
        for (int a = 0; a < 3; ++a)
        {
            Eight g[3];
            for (int r = 0; r < 3; ++r)
            {
                g[r] = root * (R[3 * r] * LoadEight(block->inverseRest[3 * a]) +
                                  R[3 * r + 1] * LoadEight(block->inverseRest[3 * a + 1]) +
                                  R[3 * r + 2] * LoadEight(block->inverseRest[3 * a + 2]));
                first[r] -= g[r];
            }
            StoreCorner(tets, count, a + 1, g[0], g[1], g[2], none);
        }

        // Beside corner 0 stands lambda over mu.
        StoreCorner(tets, count, 0, first[0], first[1], first[2], LoadEight(block->ratio));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Assembly

// Three columns of three. The fourth number of a column is the next one's, which comes after it.
INLINE void StoreBlock(float* p, Four c0, Four c1, Four c2)
{
    StoreFour(p, c0);
    StoreFour(p + 3, c1);
    p[6] = c2[0], p[7] = c2[1], p[8] = c2[2];
}

static void AssembleUpper(const snwCorotatedLoop* loop, int begin, int end)
{
    const snwCorotated* flesh = loop->flesh;
    const snwBlockGraph* graph = flesh->graph;
    for (int k = graph->upStarts[begin]; k < graph->upStarts[end]; ++k)
    {
        float d = flesh->still[k];
        if (flesh->mass != NULL)
            d += (float)(flesh->massScale * (double)flesh->mass[k]);

        // The part that does not turn is the same for all three coordinates.
        Four c0 = {d, 0, 0, 0}, c1 = {0, d, 0, 0}, c2 = {0, 0, d, 0};

        for (int n = flesh->partStarts[k]; n < flesh->partStarts[k + 1]; ++n)
        {
            unsigned part = (unsigned)flesh->parts[n];
            const float(*g)[4] = flesh->turned[part / 16].g;
            const float *ga = g[part / 4 % 4], *gb = g[part % 4];
            Four b = LoadFour(gb), a = LoadFour(ga) * g[0][3];
            c0 += b * ga[0] + a * gb[0];
            c1 += b * ga[1] + a * gb[1];
            c2 += b * ga[2] + a * gb[2];
        }

        // The mirrored block is the transpose.
        StoreBlock(flesh->matrix.up + 9 * (size_t)k, c0, c1, c2);
        Four t0 = __builtin_shufflevector(c0, c1, 0, 4, 2, 6), t1 = __builtin_shufflevector(c0, c1, 1, 5, 3, 7);
        StoreBlock(flesh->matrix.low + 9 * (size_t)graph->mirrors[k], __builtin_shufflevector(t0, c2, 0, 1, 4, 4),
            __builtin_shufflevector(t1, c2, 0, 1, 5, 5), __builtin_shufflevector(t0, c2, 2, 3, 6, 6));
    }
}

// A vertex that moves with all its neighbours feels nothing but what holds it: its block is that minus the others. What
// rounding leaves of an antisymmetric part does no work and is left out: conjugate gradients need a symmetric matrix
// (with it, a thousand iterations become two).
static void AssembleDiagonal(const snwCorotatedLoop* loop, int begin, int end)
{
    const snwCorotated* flesh = loop->flesh;
    const snwBlockMatrix* m = &flesh->matrix;
    const snwBlockGraph* graph = flesh->graph;
    for (int i = begin; i < end; ++i)
    {
        FourDoubles c0 = {0}, c1 = {0}, c2 = {0};
        for (int k = graph->lowStarts[i]; k < graph->lowStarts[i + 1]; ++k)
        {
            const float* block = m->low + 9 * (size_t)k;
            c0 -= Widened(block), c1 -= Widened(block + 3), c2 -= Widened(block + 6);
        }
        for (int k = graph->upStarts[i]; k < graph->upStarts[i + 1]; ++k)
        {
            const float* block = m->up + 9 * (size_t)k;
            c0 -= Widened(block), c1 -= Widened(block + 3), c2 -= Widened(block + 6);
        }

        double* d = m->diagonal + 9 * (size_t)i;
        d[0] = c0[0], d[4] = c1[1], d[8] = c2[2];
        d[1] = d[3] = 0.5 * (c0[1] + c1[0]);
        d[2] = d[6] = 0.5 * (c0[2] + c2[0]);
        d[5] = d[7] = 0.5 * (c1[2] + c2[1]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Element by element

enum
{
    snw_columnOne = 5, // of snwTetStress
    snw_columnTwo = 2
};

// G = sum_a x_a g'_a^T; what the element does is (G + G^T + ratio tr(G) I) g'_a.
static void MakeStress(const snwCorotatedLoop* loop, int begin, int end)
{
    const snwCorotated* flesh = loop->flesh;
    for (int e = begin; e < end; ++e)
    {
        const snwTetLanes* block = &flesh->blocks[e / snw_tetLanes];
        int lane = e % snw_tetLanes;
        const float(*g)[4] = flesh->turned[e].g;

        FourDoubles origin = LoadVec(&loop->x[block->corners[0][lane]]), G0 = {0}, G1 = {0}, G2 = {0};
        for (int a = 1; a < 4; ++a)
        {
            FourDoubles move = LoadVec(&loop->x[block->corners[a][lane]]) - origin, own = Widened(g[a]);
            G0 += move * own[0];
            G1 += move * own[1];
            G2 += move * own[2];
        }

        double trace = (double)g[0][3] * (G0[0] + G1[1] + G2[2]);
        FourDoubles t0 = __builtin_shufflevector(G0, G1, 0, 4, 2, 6), t1 = __builtin_shufflevector(G0, G1, 1, 5, 3, 7);
        FourDoubles c0 = G0 + __builtin_shufflevector(t0, G2, 0, 1, 4, 4) + (FourDoubles){trace, 0, 0, 0},
                    c1 = G1 + __builtin_shufflevector(t1, G2, 0, 1, 5, 5) + (FourDoubles){0, trace, 0, 0},
                    c2 = G2 + __builtin_shufflevector(t0, G2, 2, 3, 6, 6) + (FourDoubles){0, 0, trace, 0};

        // Columns of the stress.
        double* t = flesh->stress[e].t;
        memcpy(t, &c0, sizeof c0);
        memcpy(t + snw_columnTwo, &c2, sizeof c2);
        t[snw_columnOne] = c1[0], t[snw_columnOne + 1] = c1[1], t[snw_columnOne + 2] = c1[2];
    }
}

static void SumStress(const snwCorotatedLoop* loop, int begin, int end)
{
    const snwCorotated* flesh = loop->flesh;
    for (int v = begin; v < end; ++v)
    {
        FourDoubles sum = LoadVec(&loop->x[v]) * (loop->added != NULL ? loop->added[v] : 0);
        for (int k = flesh->cornerStarts[v]; k < flesh->cornerStarts[v + 1]; ++k)
        {
            int e = flesh->corners[k] / 4, a = flesh->corners[k] % 4;
            const double* t = flesh->stress[e].t;
            const float(*all)[4] = flesh->turned[e].g;

            // The first corner's without its rounding, so that all four sum to nothing.
            FourDoubles g = a > 0 ? Widened(all[a]) : -Widened(all[1]) - Widened(all[2]) - Widened(all[3]);
            sum += LoadDoubles(t) * g[0] + LoadDoubles(t + snw_columnOne) * g[1] +
                   LoadDoubles(t + snw_columnTwo) * g[2];
        }
        loop->y[v] = (snwVec3){sum[0], sum[1], sum[2]};
    }
}

static const snwCorotatedKernels s_kernels = {Deform, TurnTets, AssembleUpper, AssembleDiagonal, MakeStress, SumStress};
