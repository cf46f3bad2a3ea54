// Corotated linear tetrahedra (corotated.h): which tets make up which block of the matrix, rotations, assembly in a
// fixed order, products without a matrix, and the solution on grids.

#include "sim/skelfem/corotated_parts.h"

#include "math/vec.h"

#include <math.h>
#include <string.h>

enum
{
    corotated_blockGrain = 64, // of eight tets
    corotated_rowGrain = 512
};

// ---------------------------------------------------------------------------------------------------------------------
// Creation

static snwResult SetBlocks(snwCorotated* flesh, const snwCorotatedDef* def, snwMessage* message)
{
    for (int e = 0; e < snw_tetLanes * flesh->blockCount; ++e)
    {
        int tet = e < def->tetCount ? e : def->tetCount - 1, lane = e % snw_tetLanes;
        const int* v = def->tets + 4 * tet;
        snwTetLanes* block = &flesh->blocks[e / snw_tetLanes];

        // Sides from corner 0; rows of their inverse are cross products over the determinant. The last block repeats
        // the last tet.
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

        flesh->rotations[e / snw_tetLanes].q[3][lane] = 1;
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

    // Counted in the first pass, filled in the second; every list keeps the order of the tets.
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

    // Filling from the ends has left each start one place too far: starts move down by one.
    memmove(flesh->partStarts, flesh->partStarts + 1, (size_t)upper * sizeof(int));
    memmove(flesh->cornerStarts, flesh->cornerStarts + 1, (size_t)def->vertexCount * sizeof(int));
    flesh->partStarts[upper] = 6 * def->tetCount;
    flesh->cornerStarts[def->vertexCount] = 4 * def->tetCount;

    return snw_ok;
}

void snwCorotated_SetMaterials(snwCorotated* flesh, const double* mu, const double* lambda)
{
    for (int e = 0; e < snw_tetLanes * flesh->blockCount; ++e)
    {
        // sqrt(mu V) goes into the gradients, so that blocks need one number beside them.
        int tet = e < flesh->tetCount ? e : flesh->tetCount - 1, lane = e % snw_tetLanes;
        snwTetLanes* block = &flesh->blocks[e / snw_tetLanes];
        block->root[lane] = (float)sqrt(block->volume[lane] * mu[tet]);
        block->ratio[lane] = (float)(lambda[tet] / mu[tet]);
    }

    // The part that does not turn, from gradients that are not turned: it shall not depend on how flesh lies now.
    flesh->kernels->turn(&(snwCorotatedLoop){.flesh = flesh, .still = true}, 0, flesh->blockCount);
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

void snwCorotated_SetStops(snwCorotated* flesh, const snwTetStop* stops, int count)
{
    flesh->stops = stops;
    flesh->stopCount = count;
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
    flesh->kernels = snwCorotated_Kernels(context->simd);
    flesh->graph = graph;
    flesh->rowOf = snwGridLevels_RowOf(def->levels);
    flesh->matrix = def->matrix;

    flesh->vertexCount = def->vertexCount;
    flesh->tetCount = def->tetCount;
    flesh->blockCount = (def->tetCount + snw_tetLanes - 1) / snw_tetLanes;

    // Elements in blocks, turned ones side by side.
    flesh->blocks = snwArena_Alloc(&flesh->arena, (size_t)flesh->blockCount, sizeof *flesh->blocks);
    flesh->rotations = snwArena_Alloc(&flesh->arena, (size_t)flesh->blockCount, sizeof *flesh->rotations);
    flesh->turned = snwArena_Alloc(&flesh->arena, (size_t)def->tetCount, sizeof *flesh->turned);
    flesh->stress = snwArena_Alloc(&flesh->arena, (size_t)def->tetCount + 1, sizeof *flesh->stress);
    flesh->missing = snwArena_Alloc(&flesh->arena, (size_t)def->vertexCount, sizeof *flesh->missing);
    flesh->step = snwArena_Alloc(&flesh->arena, (size_t)def->vertexCount, sizeof *flesh->step);

    // What each block of the matrix is made of.
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

// ---------------------------------------------------------------------------------------------------------------------
// Rotations

static void RunTurn(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    loop->flesh->kernels->turn(loop, begin, end);
}

static void RunRotate(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    const snwRotationKernels* kernels = snwRotation_Kernels(loop->flesh->context->simd);
    for (int n = begin; n < end; ++n)
    {
        snwMat3Block F;
        loop->flesh->kernels->deform(loop, n, &F);
        kernels->extract(1, &F, &loop->flesh->rotations[n], NULL);
    }
    RunTurn(begin, end, data);
}

void snwCorotated_Rotate(snwCorotated* flesh, const snwVec3* positions)
{
    snwCorotatedLoop loop = {.flesh = flesh, .positions = positions};
    snwParallelFor(flesh->context, flesh->blockCount, corotated_blockGrain, RunRotate, &loop);
}

void snwCorotated_Turn(snwCorotated* flesh, const snwQuatBlock* rotations)
{
    snwCorotatedLoop loop = {.flesh = flesh};
    memcpy(flesh->rotations, rotations, (size_t)flesh->blockCount * sizeof *rotations);
    snwParallelFor(flesh->context, flesh->blockCount, corotated_blockGrain, RunTurn, &loop);
}

// ---------------------------------------------------------------------------------------------------------------------
// Assembly

static void RunUpper(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    loop->flesh->kernels->assembleUpper(loop, begin, end);
}

static void RunDiagonal(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    loop->flesh->kernels->assembleDiagonal(loop, begin, end);
}

static void AddDiagonal(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    for (int v = begin; v < end; ++v)
    {
        double* d = loop->flesh->matrix.diagonal + 9 * (size_t)loop->flesh->rowOf[v];
        d[0] += loop->added[v], d[4] += loop->added[v], d[8] += loop->added[v];
    }
}

// The rows of a stop's four corners.
static void UnpackStop(const snwCorotated* flesh, const snwTetStop* stop, int vertices[4], double g[4][3])
{
    const snwTetLanes* block = &flesh->blocks[stop->tet / snw_tetLanes];
    for (int a = 0; a < 4; ++a)
        vertices[a] = block->corners[a][stop->tet % snw_tetLanes];
    for (int r = 0; r < 3; ++r)
    {
        g[0][r] = 0;
        for (int a = 1; a < 4; ++a)
        {
            g[a][r] = (double)stop->g[a - 1][r];
            g[0][r] -= g[a][r];
        }
    }
}

// To the blocks off the diagonal, one tet after the other: they are few.
static void AddStopBlocks(snwCorotated* flesh)
{
    for (int n = 0; n < flesh->stopCount; ++n)
    {
        int vertices[4];
        double g[4][3];
        UnpackStop(flesh, &flesh->stops[n], vertices, g);

        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
            {
                int row = flesh->rowOf[vertices[a]], column = flesh->rowOf[vertices[b]];
                if (row >= column)
                    continue;
                int k = FindUpper(flesh->graph, row, column);
                float *up = flesh->matrix.up + 9 * (size_t)k,
                      *low = flesh->matrix.low + 9 * (size_t)flesh->graph->mirrors[k];

                // up = g_a g_b^T, low its transpose: the matrix stays symmetric.
                for (int c = 0; c < 3; ++c)
                    for (int r = 0; r < 3; ++r)
                    {
                        up[3 * c + r] += (float)(g[a][r] * g[b][c]);
                        low[3 * r + c] = up[3 * c + r];
                    }
            }
    }
}

void snwCorotated_Assemble(snwCorotated* flesh, const double* added)
{
    snwCorotatedLoop loop = {.flesh = flesh, .added = added};
    snwParallelFor(flesh->context, flesh->graph->rows, corotated_rowGrain, RunUpper, &loop);
    AddStopBlocks(flesh);
    snwParallelFor(flesh->context, flesh->graph->rows, corotated_rowGrain, RunDiagonal, &loop);
    if (added != NULL)
        snwParallelFor(flesh->context, flesh->vertexCount, corotated_rowGrain, AddDiagonal, &loop);
}

// ---------------------------------------------------------------------------------------------------------------------
// Element by element

// The turned gradient of a corner; the first one's without its rounding, so that all four sum to nothing.
static snwVec3 ShapeGradient(const snwCorotated* flesh, int e, int corner)
{
    const float(*g)[4] = flesh->turned[e].g;
    double out[3];
    for (int r = 0; r < 3; ++r)
        out[r] = corner > 0 ? (double)g[corner][r] : -(double)g[1][r] - (double)g[2][r] - (double)g[3][r];
    return (snwVec3){out[0], out[1], out[2]};
}

static void RunMakeStress(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    loop->flesh->kernels->makeStress(loop, begin, end);
}

static void RunSumStress(int begin, int end, void* data)
{
    const snwCorotatedLoop* loop = data;
    loop->flesh->kernels->sumStress(loop, begin, end);
}

void snwCorotated_GetUpper(const snwCorotated* flesh, int k, double block[9])
{
    memset(block, 0, 9 * sizeof *block);
    for (int n = flesh->partStarts[k]; n < flesh->partStarts[k + 1]; ++n)
    {
        int e = flesh->parts[n] / 16;
        snwVec3 a = ShapeGradient(flesh, e, flesh->parts[n] / 4 % 4), b = ShapeGradient(flesh, e, flesh->parts[n] % 4);
        double ratio = (double)flesh->turned[e].g[0][3], dot = snwVec3_Dot(a, b);
        for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r)
                block[3 * c + r] += (&b.x)[r] * (&a.x)[c] + ratio * (&a.x)[r] * (&b.x)[c] + (r == c ? dot : 0);
    }
}

void snwCorotated_Multiply(snwCorotated* flesh, const double* added, const snwVec3* x, snwVec3* y)
{
    snwCorotatedLoop loop = {.flesh = flesh, .added = added, .x = x, .y = y};
    snwParallelFor(flesh->context, flesh->tetCount, corotated_rowGrain, RunMakeStress, &loop);
    snwParallelFor(flesh->context, flesh->vertexCount, corotated_rowGrain, RunSumStress, &loop);
    for (int n = 0; n < flesh->stopCount; ++n)
    {
        int vertices[4];
        double g[4][3], change = 0;
        UnpackStop(flesh, &flesh->stops[n], vertices, g);
        for (int a = 0; a < 4; ++a)
            change += g[a][0] * x[vertices[a]].x + g[a][1] * x[vertices[a]].y + g[a][2] * x[vertices[a]].z;
        for (int a = 0; a < 4; ++a)
            y[vertices[a]] = snwVec3_MulAdd(y[vertices[a]], change, (snwVec3){g[a][0], g[a][1], g[a][2]});
    }
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
static double FindMissingForces(int begin, int end, void* data)
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
    double start = snwParallelSum(context, count, corotated_rowGrain, FindMissingForces, &c), now = start;
    snwGridReport report = {.finite = isfinite(start)};

    // A turn ends where the floats' residual says little any more. That is early in the first, whose solution is large
    // and smooth, and late in those that correct it. Beginning anew costs a grid an iteration, and the diagonal alone
    // as many as it took to get there.
    static const double s_first = 2e-3, s_later = 1e-5, s_margin = 0.8;
    while (report.finite && now > def->tolerance * def->tolerance * start && report.iterations < def->most)
    {
        // No more than what is missing, with some to spare.
        double needed = s_margin * def->tolerance * sqrt(start / now);
        double least = report.iterations == 0 && def->solver != snw_gridJacobi ? s_first : s_later;
        snwGridSolveDef turn = *def;

        turn.tolerance = needed > least ? needed : least;
        turn.most = def->most - report.iterations;

        snwGridReport part = snwMultigrid_Solve(grid, &turn, flesh->missing, flesh->step);
        report.iterations += part.iterations;
        report.finite = part.finite;
        if (!part.finite || part.iterations == 0)
            break;

        snwParallelFor(context, count, corotated_rowGrain, AddStep, &c);
        snwCorotated_Multiply(flesh, added, u, flesh->missing);
        now = snwParallelSum(context, count, corotated_rowGrain, FindMissingForces, &c);
        report.finite = isfinite(now);
    }

    report.residual = start > 0 ? sqrt(now / start) : 0;
    return report;
}
