#include "sim/skelfem/corotated.h"

#include "base/arena.h"
#include "math/rotation.h"
#include "math/vec.h"

#include <math.h>
#include <string.h>

typedef float Four __attribute__((vector_size(16)));
typedef double FourDoubles __attribute__((vector_size(32)));
#pragma GCC diagnostic ignored "-Wpsabi" // everything here is inlined

enum
{
    snw_lanes = SNW_ROTATION_LANES,
    snw_blockGrain = 64, // of eight tets
    snw_rowGrain = 512
};

// Eight tets. Lanes behind the last tet repeat it.
typedef struct TetBlock
{
    _Alignas(32) float inverseRest[9][snw_lanes]; // row a: gradient of corner a + 1
    double volume[snw_lanes];
    int corners[4][snw_lanes];
    float root[snw_lanes];  // of V mu
    float ratio[snw_lanes]; // lambda / mu
} TetBlock;

// One tet as assembly reads it, a line of the cache: sqrt(V mu) R g of its corners, each with a fourth number, of which
// the first is lambda / mu.
typedef struct Turned
{
    _Alignas(64) float g[4][4];
} Turned;

struct snwCorotated
{
    snwContext* context;
    snwArena arena;
    const snwBlockGraph* graph;
    const int* rowOf;
    snwBlockMatrix matrix;
    int vertexCount, tetCount, blockCount;
    TetBlock* blocks;
    snwQuatBlock* rotations;
    Turned* turned;
    int* partStarts;         // [upper blocks + 1]
    int* parts;              // tet * 16 + corner of the row * 4 + corner of the column
    float* still;            // [upper blocks] sum of mu V g_a . g_b
    float* mass;             // [upper blocks] kg: of the consistent mass matrix; NULL: it is lumped
    double massScale;        // 1/s^2: what of it is in A
    int* cornerStarts;       // [vertex + 1]
    int* corners;            // tet * 4 + corner
    double (*stress)[6];     // [tet] scratch of Multiply
    snwVec3 *missing, *step; // [vertex] scratch of Solve: what is missing, and what the grid says to it
};

// ---------------------------------------------------------------------------------------------------------------------
// Rotations

typedef struct Turning
{
    const snwCorotated* flesh;
    const snwVec3* positions;
    const double* added;
    const snwVec3* x;
    snwVec3* y;
    bool still; // not turned at all
} Turning;

// sqrt(V mu) R g of all corners, with the rotations as they are.
static void TurnBlocks(int begin, int end, void* data)
{
    const Turning* turning = data;
    const snwCorotated* flesh = turning->flesh;
    for (int n = begin; n < end; ++n)
    {
        const TetBlock* block = &flesh->blocks[n];
        float R[9][snw_lanes];
        for (int lane = 0; lane < snw_lanes; ++lane)
        {
            const float(*q)[snw_lanes] = flesh->rotations[n].q;
            float x = turning->still ? 0 : q[0][lane], y = turning->still ? 0 : q[1][lane],
                  z = turning->still ? 0 : q[2][lane], w = turning->still ? 1 : q[3][lane];
            R[0][lane] = 1 - 2 * (y * y + z * z), R[1][lane] = 2 * (x * y - z * w), R[2][lane] = 2 * (x * z + y * w);
            R[3][lane] = 2 * (x * y + z * w), R[4][lane] = 1 - 2 * (x * x + z * z), R[5][lane] = 2 * (y * z - x * w);
            R[6][lane] = 2 * (x * z - y * w), R[7][lane] = 2 * (y * z + x * w), R[8][lane] = 1 - 2 * (x * x + y * y);
        }

        float turned[3][3][snw_lanes];
        for (int a = 0; a < 3; ++a)
            for (int r = 0; r < 3; ++r)
                for (int lane = 0; lane < snw_lanes; ++lane)
                    turned[a][r][lane] = block->root[lane] *
                                         (R[3 * r][lane] * block->inverseRest[3 * a][lane] +
                                             R[3 * r + 1][lane] * block->inverseRest[3 * a + 1][lane] +
                                             R[3 * r + 2][lane] * block->inverseRest[3 * a + 2][lane]);
        int count = flesh->tetCount - snw_lanes * n < snw_lanes ? flesh->tetCount - snw_lanes * n : snw_lanes;
        for (int lane = 0; lane < count; ++lane)
        {
            float(*g)[4] = flesh->turned[snw_lanes * n + lane].g;
            for (int r = 0; r < 3; ++r)
            {
                for (int a = 0; a < 3; ++a)
                    g[a + 1][r] = turned[a][r][lane];
                g[0][r] = -g[1][r] - g[2][r] - g[3][r];
            }
            g[0][3] = block->ratio[lane];
        }
    }
}

static void RotateBlocks(int begin, int end, void* data)
{
    const Turning* turning = data;
    const snwCorotated* flesh = turning->flesh;
    const snwRotationKernels* kernels = snwRotation_Kernels(flesh->context->simd);
    for (int n = begin; n < end; ++n)
    {
        const TetBlock* block = &flesh->blocks[n];
        snwMat3Block F;
        float sides[3][3][snw_lanes]; // differences in double, so that F does not depend on how far away the body is
        for (int lane = 0; lane < snw_lanes; ++lane)
            for (int a = 0; a < 3; ++a)
            {
                snwVec3 side = snwVec3_Sub(
                    turning->positions[block->corners[a + 1][lane]], turning->positions[block->corners[0][lane]]);
                sides[a][0][lane] = (float)side.x, sides[a][1][lane] = (float)side.y, sides[a][2][lane] = (float)side.z;
            }
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                for (int lane = 0; lane < snw_lanes; ++lane)
                    F.m[3 * r + c][lane] = sides[0][r][lane] * block->inverseRest[c][lane] +
                                           sides[1][r][lane] * block->inverseRest[3 + c][lane] +
                                           sides[2][r][lane] * block->inverseRest[6 + c][lane];
        kernels->extract(1, &F, &flesh->rotations[n], NULL);
    }
    TurnBlocks(begin, end, data);
}

// ---------------------------------------------------------------------------------------------------------------------
// Creation

static snwResult SetBlocks(snwCorotated* flesh, const snwCorotatedDef* def, snwMessage* message)
{
    for (int e = 0; e < snw_lanes * flesh->blockCount; ++e)
    {
        int tet = e < def->tetCount ? e : def->tetCount - 1, lane = e % snw_lanes;
        const int* v = def->tets + 4 * tet;
        TetBlock* block = &flesh->blocks[e / snw_lanes];
        snwVec3 a = snwVec3_Sub(def->rest[v[1]], def->rest[v[0]]), b = snwVec3_Sub(def->rest[v[2]], def->rest[v[0]]),
                c = snwVec3_Sub(def->rest[v[3]], def->rest[v[0]]);
        snwVec3 rows[3] = {snwVec3_Cross(b, c), snwVec3_Cross(c, a), snwVec3_Cross(a, b)};
        double determinant = snwVec3_Dot(a, rows[0]);
        if (!(determinant > 0 && def->mu[tet] > 0 && isfinite(def->lambda[tet])))
            return snwFail(message, snw_errorInput, NULL, "tetrahedron %d has no volume or no stiffness", tet);
        block->volume[lane] = determinant / 6;
        for (int r = 0; r < 3; ++r)
            for (int k = 0; k < 3; ++k)
                block->inverseRest[3 * r + k][lane] = (float)((&rows[r].x)[k] / determinant);
        for (int k = 0; k < 4; ++k)
            block->corners[k][lane] = v[k];
        flesh->rotations[e / snw_lanes].q[3][lane] = 1;
    }
    return snw_ok;
}

static int FindUpper(const snwBlockGraph* graph, int row, int column)
{
    int begin = graph->upStarts[row], end = graph->upStarts[row + 1];
    while (begin < end)
    {
        int middle = begin + (end - begin) / 2;
        if (graph->upColumns[middle] < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// Which tets make up which block, and the part of it that does not turn.
static snwResult SetParts(snwCorotated* flesh, const snwCorotatedDef* def, snwMessage* message)
{
    const snwBlockGraph* graph = flesh->graph;
    int upper = graph->upStarts[graph->rows];
    for (int pass = 0; pass < 2; ++pass)
    {
        for (int n = 0; n < def->tetCount; ++n)
        {
            int e = pass == 0 ? n : def->tetCount - 1 - n; // lists are filled from their ends
            const int* v = def->tets + 4 * e;
            for (int a = 0; a < 4; ++a)
                for (int b = 0; b < 4; ++b)
                {
                    int row = flesh->rowOf[v[a]], column = flesh->rowOf[v[b]];
                    if (row >= column)
                        continue;
                    int k = FindUpper(graph, row, column);
                    if (pass == 0)
                        flesh->partStarts[k + 1]++;
                    else
                        flesh->parts[--flesh->partStarts[k + 1]] = 16 * e + 4 * a + b;
                }
            for (int a = 0; a < 4; ++a)
                if (pass == 0)
                    flesh->cornerStarts[v[a] + 1]++;
                else
                    flesh->corners[--flesh->cornerStarts[v[3 - a] + 1]] = 4 * e + 3 - a;
        }
        if (pass == 1)
            break;
        for (int k = 0; k < upper; ++k)
            flesh->partStarts[k + 1] += flesh->partStarts[k];
        for (int i = 0; i < def->vertexCount; ++i)
            flesh->cornerStarts[i + 1] += flesh->cornerStarts[i];
        flesh->parts = snwArena_Alloc(&flesh->arena, (size_t)flesh->partStarts[upper] + 1, sizeof(int));
        flesh->corners = snwArena_Alloc(&flesh->arena, 4 * (size_t)def->tetCount, sizeof(int));
        if (flesh->arena.failed)
            return snwFailMemory(message);
    }
    memmove(flesh->partStarts, flesh->partStarts + 1, (size_t)upper * sizeof(int));
    memmove(flesh->cornerStarts, flesh->cornerStarts + 1, (size_t)def->vertexCount * sizeof(int));
    flesh->partStarts[upper] = 6 * def->tetCount;
    flesh->cornerStarts[def->vertexCount] = 4 * def->tetCount;

    return snw_ok;
}

void snwCorotated_SetMaterials(snwCorotated* flesh, const double* mu, const double* lambda)
{
    for (int e = 0; e < snw_lanes * flesh->blockCount; ++e)
    {
        int tet = e < flesh->tetCount ? e : flesh->tetCount - 1, lane = e % snw_lanes;
        TetBlock* block = &flesh->blocks[e / snw_lanes];
        block->root[lane] = (float)sqrt(block->volume[lane] * mu[tet]);
        block->ratio[lane] = (float)(lambda[tet] / mu[tet]);
    }

    // The part that does not turn, from gradients that are not turned: it shall not depend on how flesh lies now.
    Turning turning = {.flesh = flesh, .still = true};
    TurnBlocks(0, flesh->blockCount, &turning);
    for (int k = 0; k < flesh->graph->upStarts[flesh->graph->rows]; ++k)
    {
        double sum = 0;
        for (int n = flesh->partStarts[k]; n < flesh->partStarts[k + 1]; ++n)
        {
            int e = flesh->parts[n] / 16, a = flesh->parts[n] / 4 % 4, b = flesh->parts[n] % 4;
            const float(*g)[4] = flesh->turned[e].g;
            for (int r = 0; r < 3; ++r)
                sum += (double)g[a][r] * (double)g[b][r];
        }
        flesh->still[k] = (float)sum;
    }
}

snwResult snwCorotated_SetMasses(snwCorotated* flesh, const double* masses, snwMessage* message)
{
    int upper = flesh->graph->upStarts[flesh->graph->rows];
    if (flesh->mass == NULL)
        flesh->mass = snwArena_Alloc(&flesh->arena, (size_t)upper + 1, sizeof *flesh->mass);
    if (flesh->mass == NULL)
        return snwFailMemory(message);

    // A tetrahedron's matrix is m / 20 off the diagonal and m / 10 on it.
    for (int k = 0; k < upper; ++k)
    {
        double sum = 0;
        for (int n = flesh->partStarts[k]; n < flesh->partStarts[k + 1]; ++n)
            sum += masses[flesh->parts[n] / 16] / 20;
        flesh->mass[k] = (float)sum;
    }
    return snw_ok;
}

void snwCorotated_ScaleMasses(snwCorotated* flesh, double scale)
{
    flesh->massScale = scale;
}

snwResult snwCorotated_Create(snwContext* context, const snwCorotatedDef* def, snwCorotated** out, snwMessage* message)
{
    *out = NULL;
    if (def->tetCount <= 0 || def->tetCount > 1 << 27)
        return snwFail(message, snw_errorUnsupported, "give it tetrahedra", "a body of %d tetrahedra", def->tetCount);
    snwCorotated* flesh = snwAlloc(context, sizeof *flesh);
    if (flesh == NULL)
        return snwFailMemory(message);
    const snwBlockGraph* graph = snwGridLevels_Graph(def->levels);
    flesh->context = context;
    flesh->arena.context = context;
    flesh->graph = graph;
    flesh->rowOf = snwGridLevels_RowOf(def->levels);
    flesh->matrix = def->matrix;
    flesh->vertexCount = def->vertexCount;
    flesh->tetCount = def->tetCount;
    flesh->blockCount = (def->tetCount + snw_lanes - 1) / snw_lanes;
    flesh->blocks = snwArena_Alloc(&flesh->arena, (size_t)flesh->blockCount, sizeof *flesh->blocks);
    flesh->rotations = snwArena_Alloc(&flesh->arena, (size_t)flesh->blockCount, sizeof *flesh->rotations);
    flesh->turned = snwArena_Alloc(&flesh->arena, (size_t)def->tetCount, sizeof *flesh->turned);
    flesh->stress = snwArena_Alloc(&flesh->arena, (size_t)def->tetCount, sizeof *flesh->stress);
    flesh->missing = snwArena_Alloc(&flesh->arena, (size_t)def->vertexCount, sizeof *flesh->missing);
    flesh->step = snwArena_Alloc(&flesh->arena, (size_t)def->vertexCount, sizeof *flesh->step);
    flesh->partStarts = snwArena_Alloc(&flesh->arena, (size_t)graph->upStarts[graph->rows] + 1, sizeof(int));
    flesh->still = snwArena_Alloc(&flesh->arena, (size_t)graph->upStarts[graph->rows] + 1, sizeof(float));
    flesh->cornerStarts = snwArena_Alloc(&flesh->arena, (size_t)def->vertexCount + 1, sizeof(int));
    snwResult result = flesh->arena.failed ? snwFailMemory(message) : SetBlocks(flesh, def, message);
    if (result >= 0)
        result = SetParts(flesh, def, message);
    if (result >= 0)
        snwCorotated_SetMaterials(flesh, def->mu, def->lambda);
    if (result < 0)
        snwCorotated_Destroy(flesh);
    else
        *out = flesh;
    return result;
}

void snwCorotated_Destroy(snwCorotated* flesh)
{
    if (flesh == NULL)
        return;
    snwArena_Free(&flesh->arena);
    snwFree(flesh->context, flesh);
}

void snwCorotated_Rotate(snwCorotated* flesh, const snwVec3* positions)
{
    Turning turning = {.flesh = flesh, .positions = positions};
    snwParallelFor(flesh->context, flesh->blockCount, snw_blockGrain, RotateBlocks, &turning);
}

void snwCorotated_Turn(snwCorotated* flesh, const snwQuatBlock* rotations)
{
    Turning turning = {.flesh = flesh};
    memcpy(flesh->rotations, rotations, (size_t)flesh->blockCount * sizeof *rotations);
    snwParallelFor(flesh->context, flesh->blockCount, snw_blockGrain, TurnBlocks, &turning);
}

// ---------------------------------------------------------------------------------------------------------------------
// Assembly

static inline Four Load(const float* p)
{
    Four a;
    memcpy(&a, p, sizeof a);
    return a;
}

static inline FourDoubles Widened(const float* p)
{
    return __builtin_convertvector(Load(p), FourDoubles);
}

static void AssembleUpper(int begin, int end, void* data)
{
    const snwCorotated* flesh = ((const Turning*)data)->flesh;
    const snwBlockGraph* graph = flesh->graph;
    for (int k = graph->upStarts[begin]; k < graph->upStarts[end]; ++k)
    {
        float d = flesh->still[k];
        if (flesh->mass != NULL)
            d += (float)(flesh->massScale * (double)flesh->mass[k]);
        Four c0 = {d, 0, 0, 0}, c1 = {0, d, 0, 0}, c2 = {0, 0, d, 0};
        for (int n = flesh->partStarts[k]; n < flesh->partStarts[k + 1]; ++n)
        {
            unsigned part = (unsigned)flesh->parts[n];
            const float(*g)[4] = flesh->turned[part / 16].g;
            const float *ga = g[part / 4 % 4], *gb = g[part % 4];
            Four b = Load(gb), a = Load(ga) * g[0][3];
            c0 += b * ga[0] + a * gb[0];
            c1 += b * ga[1] + a * gb[1];
            c2 += b * ga[2] + a * gb[2];
        }
        float *up = flesh->matrix.up + 9 * (size_t)k, *low = flesh->matrix.low + 9 * (size_t)graph->mirrors[k];
        for (int r = 0; r < 3; ++r)
        {
            up[r] = low[3 * r] = c0[r];
            up[3 + r] = low[3 * r + 1] = c1[r];
            up[6 + r] = low[3 * r + 2] = c2[r];
        }
    }
}

// A vertex that moves with all its neighbours feels nothing but what holds it: its block is that minus the others. What
// rounding leaves of an antisymmetric part does no work and is left out: conjugate gradients need a symmetric matrix
// (with it, a thousand iterations become two).
static void AssembleDiagonal(int begin, int end, void* data)
{
    const snwCorotated* flesh = ((const Turning*)data)->flesh;
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

static void AddDiagonal(int begin, int end, void* data)
{
    const Turning* turning = data;
    for (int v = begin; v < end; ++v)
    {
        double* d = turning->flesh->matrix.diagonal + 9 * (size_t)turning->flesh->rowOf[v];
        d[0] += turning->added[v], d[4] += turning->added[v], d[8] += turning->added[v];
    }
}

void snwCorotated_Assemble(snwCorotated* flesh, const double* added)
{
    Turning turning = {.flesh = flesh, .added = added};
    snwParallelFor(flesh->context, flesh->graph->rows, snw_rowGrain, AssembleUpper, &turning);
    snwParallelFor(flesh->context, flesh->graph->rows, snw_rowGrain, AssembleDiagonal, &turning);
    if (added != NULL)
        snwParallelFor(flesh->context, flesh->vertexCount, snw_rowGrain, AddDiagonal, &turning);
}

// ---------------------------------------------------------------------------------------------------------------------
// Element by element

// G = sum_a x_a g'_a^T; what the element does is (G + G^T + ratio tr(G) I) g'_a.
static void MakeStress(int begin, int end, void* data)
{
    const Turning* turning = data;
    const snwCorotated* flesh = turning->flesh;
    for (int e = begin; e < end; ++e)
    {
        const TetBlock* block = &flesh->blocks[e / snw_lanes];
        const float(*g)[4] = flesh->turned[e].g;
        double G[3][3] = {{0}};
        snwVec3 origin = turning->x[block->corners[0][e % snw_lanes]];
        for (int a = 1; a < 4; ++a)
        {
            snwVec3 move = snwVec3_Sub(turning->x[block->corners[a][e % snw_lanes]], origin);
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c)
                    G[r][c] += (&move.x)[r] * (double)g[a][c];
        }
        double trace = (double)g[0][3] * (G[0][0] + G[1][1] + G[2][2]), *s = flesh->stress[e];
        s[0] = 2 * G[0][0] + trace, s[1] = 2 * G[1][1] + trace, s[2] = 2 * G[2][2] + trace;
        s[3] = G[0][1] + G[1][0], s[4] = G[0][2] + G[2][0], s[5] = G[1][2] + G[2][1];
    }
}

// Of a corner; the first one's without its rounding, so that all four sum to nothing.
static snwVec3 Gradient(const snwCorotated* flesh, int e, int corner)
{
    const float(*g)[4] = flesh->turned[e].g;
    double out[3];
    for (int r = 0; r < 3; ++r)
        out[r] = corner > 0 ? (double)g[corner][r] : -(double)g[1][r] - (double)g[2][r] - (double)g[3][r];
    return (snwVec3){out[0], out[1], out[2]};
}

static void SumStress(int begin, int end, void* data)
{
    const Turning* turning = data;
    const snwCorotated* flesh = turning->flesh;
    for (int v = begin; v < end; ++v)
    {
        snwVec3 sum = snwVec3_Scale(turning->x[v], turning->added != NULL ? turning->added[v] : 0);
        for (int k = flesh->cornerStarts[v]; k < flesh->cornerStarts[v + 1]; ++k)
        {
            int e = flesh->corners[k] / 4, a = flesh->corners[k] % 4;
            const double* s = flesh->stress[e];
            snwVec3 g = Gradient(flesh, e, a);
            sum.x += s[0] * g.x + s[3] * g.y + s[4] * g.z;
            sum.y += s[3] * g.x + s[1] * g.y + s[5] * g.z;
            sum.z += s[4] * g.x + s[5] * g.y + s[2] * g.z;
        }
        turning->y[v] = sum;
    }
}

void snwCorotated_GetUpper(const snwCorotated* flesh, int k, double block[9])
{
    memset(block, 0, 9 * sizeof *block);
    for (int n = flesh->partStarts[k]; n < flesh->partStarts[k + 1]; ++n)
    {
        int e = flesh->parts[n] / 16;
        snwVec3 a = Gradient(flesh, e, flesh->parts[n] / 4 % 4), b = Gradient(flesh, e, flesh->parts[n] % 4);
        double ratio = (double)flesh->turned[e].g[0][3], dot = snwVec3_Dot(a, b);
        for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r)
                block[3 * c + r] += (&b.x)[r] * (&a.x)[c] + ratio * (&a.x)[r] * (&b.x)[c] + (r == c ? dot : 0);
    }
}

void snwCorotated_Multiply(snwCorotated* flesh, const double* added, const snwVec3* x, snwVec3* y)
{
    Turning turning = {.flesh = flesh, .added = added, .x = x, .y = y};
    snwParallelFor(flesh->context, flesh->tetCount, snw_rowGrain, MakeStress, &turning);
    snwParallelFor(flesh->context, flesh->vertexCount, snw_rowGrain, SumStress, &turning);
}

// ---------------------------------------------------------------------------------------------------------------------
// Solving

typedef struct Correcting
{
    const unsigned char* held;
    const snwVec3* f;
    snwVec3 *u, *missing;
    const snwVec3* step;
} Correcting;

// missing holds A u: it becomes f - A u.
static double FindMissing(int begin, int end, void* data)
{
    const Correcting* c = data;
    double sum = 0;
    for (int v = begin; v < end; ++v)
    {
        c->missing[v] = c->held != NULL && c->held[v] ? (snwVec3){0, 0, 0} : snwVec3_Sub(c->f[v], c->missing[v]);
        sum += snwVec3_LengthSquared(c->missing[v]);
    }
    return sum;
}

static void AddStep(int begin, int end, void* data)
{
    const Correcting* c = data;
    for (int v = begin; v < end; ++v)
        c->u[v] = snwVec3_Add(c->u[v], c->step[v]);
}

snwGridReport snwCorotated_Solve(snwCorotated* flesh, snwMultigrid* grid, const double* added,
    const unsigned char* held, const snwGridSolveDef* def, const snwVec3* f, snwVec3* u)
{
    snwContext* context = flesh->context;
    int count = flesh->vertexCount;
    Correcting c = {held, f, u, flesh->missing, flesh->step};
    memset(u, 0, (size_t)count * sizeof *u);
    memset(flesh->missing, 0, (size_t)count * sizeof *flesh->missing);
    double start = snwParallelSum(context, count, snw_rowGrain, FindMissing, &c), now = start;
    snwGridReport report = {.finite = isfinite(start)};

    // Each turn leaves what floats leave; the next one is asked for no more than is needed.
    const double s_turn = 1e-3;
    while (report.finite && now > def->tolerance * def->tolerance * start && report.iterations < def->most)
    {
        double needed = 0.5 * def->tolerance * sqrt(start / now);
        snwGridSolveDef turn = *def;
        turn.tolerance = needed > s_turn ? needed : s_turn;
        turn.most = def->most - report.iterations;
        snwGridReport part = snwMultigrid_Solve(grid, &turn, flesh->missing, flesh->step);
        report.iterations += part.iterations;
        report.finite = part.finite;
        if (!part.finite || part.iterations == 0)
            break;
        snwParallelFor(context, count, snw_rowGrain, AddStep, &c);
        snwCorotated_Multiply(flesh, added, u, flesh->missing);
        now = snwParallelSum(context, count, snw_rowGrain, FindMissing, &c);
        report.finite = isfinite(now);
    }
    report.residual = start > 0 ? sqrt(now / start) : 0;
    return report;
}
