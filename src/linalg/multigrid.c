// Coarse matrices, cycles and conjugate gradients.
//
// A V(1, 1) cycle reads each matrix twice and nothing more: a sweep forward from zero needs what is below the diagonal
// alone, the residual after it is minus what is above times x, and the sweep backward reads both. At a million and a
// half tetrahedra a cycle takes as long as memory takes to deliver those bytes.
//
// Inside of a cycle all is float, for it only has to be a good guess; conjugate gradients, the diagonal and the right
// side are double.

#include "linalg/multigrid.h"

#include "linalg/multigrid_parts.h"
#include "math/vec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum
{
    multigrid_rowGrain = 1024,
    multigrid_serialRows = 1500,   // of a level: fewer are not worth waking another thread
    multigrid_nearFloats = 4 << 20 // of the blocks of a level
};

static const double s_leastPivot = 1e-4;         // of a diagonal block whose diagonal is 1
static const double s_leastCoarsestPivot = 1e-5; // of what the diagonal was

snwMultigridDef snwDefaultMultigridDef(void)
{
    return (snwMultigridDef){.before = 1, .after = 1, .visits = {1, 2}};
}

// Arrays that are read four or eight numbers at a time have padding behind them.
static void* AllocGrid(snwMultigrid* grid, size_t count, size_t size)
{
    grid->memory += (int64_t)(count * size);
    return snwArena_Alloc(&grid->arena, count + snw_laneBytes / size + 1, size);
}

static void MakeNumbers(snwMultigrid* grid)
{
    for (int a = 0; a < grid->levelCount; ++a)
    {
        const snwGridLevel* pattern = &grid->pattern->levels[a];
        snwLevel* level = &grid->levels[a];

        // Matrices are kept in halves, below and above the diagonal, each with the columns that the sweeps read in
        // order.
        size_t rows = (size_t)pattern->rows, half = (size_t)pattern->graph.upStarts[pattern->rows];
        size_t block = (size_t)pattern->size * (size_t)pattern->size, vector = rows * (size_t)pattern->size;
        size_t links = a + 1 < grid->levelCount ? (size_t)pattern->transfer.parentStarts[pattern->rows] : 0;

        *level = (snwLevel){.size = pattern->size,
            .rows = pattern->rows,
            .far = 2 * half * block > multigrid_nearFloats,
            .graph = &pattern->graph,
            .transfer = &pattern->transfer,
            .rest = pattern->rest,
            .now = AllocGrid(grid, rows, sizeof(snwVec3)),
            .low = AllocGrid(grid, half * block, sizeof(float)),
            .diagonal = AllocGrid(grid, rows * block, sizeof(float)),
            .up = AllocGrid(grid, half * block, sizeof(float)),
            .inverse = AllocGrid(grid, rows * block, sizeof(float)),
            .b = AllocGrid(grid, vector, sizeof(float)),
            .x = AllocGrid(grid, vector, sizeof(float)),
            .r = AllocGrid(grid, vector, sizeof(float)),
            .held = AllocGrid(grid, rows, 1),
            .links = AllocGrid(grid, 4 * links, sizeof(float))};
        for (size_t k = 0; k < links && !grid->arena.failed; ++k)
            level->links[4 * k + 3] = pattern->transfer.weights[k];
    }

    // The coarsest level and conjugate gradients work in double.
    const snwSkyline* skyline = &grid->pattern->coarsest;
    size_t count = (size_t)grid->pattern->levels[0].rows;
    grid->skyline = AllocGrid(grid, (size_t)skyline->starts[skyline->count], sizeof(double));
    grid->skylineWork = AllocGrid(grid, (size_t)skyline->count, sizeof(double));
    grid->peeling = AllocGrid(grid, 4 * count, sizeof(int));
    grid->diagonal = AllocGrid(grid, 9 * count, sizeof(double));
    grid->r = AllocGrid(grid, 3 * count, sizeof(double));
    grid->p = AllocGrid(grid, 3 * count, sizeof(double));
    grid->q = AllocGrid(grid, 3 * count, sizeof(double));
    grid->u = AllocGrid(grid, 3 * count, sizeof(double));
    grid->galerkin = AllocGrid(grid, (size_t)snw_gridChunks * (size_t)grid->pattern->galerkinWidth * 48, sizeof(float));
}

snwResult snwMultigrid_Create(snwContext* context, const snwGridLevels* levels, const snwMultigridDef* def,
    snwMultigrid** out, snwMessage* message)
{
    *out = NULL;
    if (def->before < 1 || def->after < 0 || def->visits[0] < 1 || def->visits[1] < 1)
        return snwFail(message, snw_errorArgument, NULL, "a grid needs sweeps and visits");
    snwMultigrid* grid = snwAlloc(context, sizeof *grid);
    if (grid == NULL)
        return snwFailMemory(message);

    // Levels are shared: numbers alone are its own.
    grid->context = context;
    grid->arena.context = context;
    grid->pattern = levels;
    grid->def = *def;
    grid->kernels = snwMultigrid_Kernels(context->simd);
    grid->levelCount = levels->count;

    MakeNumbers(grid);
    if (grid->arena.failed)
    {
        snwMultigrid_Destroy(grid);
        return snwFailMemory(message);
    }

    *out = grid;
    return snw_ok;
}

void snwMultigrid_Destroy(snwMultigrid* grid)
{
    if (grid == NULL)
        return;
    snwArena_Free(&grid->arena);
    snwFree(grid->context, grid);
}

snwBlockMatrix snwMultigrid_Matrix(snwMultigrid* grid)
{
    return (snwBlockMatrix){grid->levels[0].low, grid->levels[0].up, grid->diagonal};
}

// The published rule, literally.
static void HoldGreedily(const snwLevel* fine, const snwLevel* coarse, unsigned char* taken)
{
    const snwTransfer* t = fine->transfer;
    memcpy(taken, fine->held, (size_t)fine->rows);
    for (int c = 0; c < coarse->rows; ++c)
    {
        int best = -1;
        float most = 0;
        for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
            if (!taken[t->children[k]] && t->weights[t->childSlots[k]] > most)
            {
                best = t->children[k];
                most = t->weights[t->childSlots[k]];
            }
        coarse->held[c] = best < 0;
        if (best >= 0)
            taken[best] = 1;
    }
}

// Settles a coarse vertex: children that have one unsettled parent left come to the end of the queue.
static int SettleVertex(const snwTransfer* t, int c, int* unsettled, int* queue, int end)
{
    for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
        if (--unsettled[t->children[k]] == 1)
            queue[end++] = t->children[k];
    return end;
}

// scratch: four times as many numbers as there are fine rows.
static void HoldPeeling(const snwLevel* fine, const snwLevel* coarse, int* scratch)
{
    enum
    {
        snw_unsettled = 2
    };
    const snwTransfer* t = fine->transfer;
    int *unsettled = scratch, *queue = scratch + fine->rows, *byChildren = scratch + 2 * (size_t)fine->rows;
    int *counts = scratch + 3 * (size_t)fine->rows, end = 0, next = 0;

    for (int i = 0; i < fine->rows; ++i)
    {
        // A held child is nobody's: its count never gets to one.
        unsettled[i] = fine->held[i] ? -1 : t->parentStarts[i + 1] - t->parentStarts[i];
        if (unsettled[i] == 1)
            queue[end++] = i;
    }

    // Coarse vertices by the number of their free children; the order of those with more than there is room for does
    // not matter.
    memset(counts, 0, (size_t)fine->rows * sizeof *counts);
    for (int pass = 0; pass < 2; ++pass)
    {
        for (int c = 0; c < coarse->rows; ++c)
        {
            int free = 0;
            for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
                free += !fine->held[t->children[k]];
            free = free < fine->rows - 2 ? free : fine->rows - 2;
            if (pass == 0)
                counts[free + 1]++;
            else
                byChildren[counts[free]++] = c;

            coarse->held[c] = snw_unsettled;
        }

        for (int n = 0; n + 1 < fine->rows && pass == 0; ++n)
            counts[n + 1] += counts[n];
    }

    // One coarse vertex after the other: either a child with a single unsettled parent frees it, or, when no child
    // does, the one with the fewest free children is held.
    for (int begin = 0, settled = 0; settled < coarse->rows;)
    {
        int c = -1;
        for (; begin < end && c < 0; ++begin) // a child with one parent left frees it
            for (int k = t->parentStarts[queue[begin]]; k < t->parentStarts[queue[begin] + 1]; ++k)
                if (coarse->held[t->parents[k]] == snw_unsettled)
                    c = t->parents[k];

        bool stuck = c < 0;
        while (stuck && coarse->held[byChildren[next]] != snw_unsettled)
            ++next;
        c = stuck ? byChildren[next] : c;
        coarse->held[c] = stuck;
        end = SettleVertex(t, c, unsettled, queue, end);
        ++settled;
    }
}

void snwMultigrid_Hold(snwMultigrid* grid, const unsigned char* held, snwHoldRule rule)
{
    for (int v = 0; v < grid->levels[0].rows; ++v)
        grid->levels[0].held[grid->pattern->rowOf[v]] = held != NULL && held[v] != 0;
    for (int a = 0; a + 1 < grid->levelCount; ++a)
    {
        const snwLevel *fine = &grid->levels[a], *coarse = fine + 1;
        const snwTransfer* t = fine->transfer;
        if (rule == snw_holdGreedy)
            HoldGreedily(fine, coarse, (unsigned char*)grid->peeling);
        else if (rule == snw_holdPeel)
            HoldPeeling(fine, coarse, grid->peeling);
        else
            memset(coarse->held, 0, (size_t)coarse->rows);
        for (int i = 0; i < fine->rows; ++i)
            for (int k = t->parentStarts[i]; k < t->parentStarts[i + 1]; ++k)
                fine->links[4 * (size_t)k + 3] = fine->held[i] || coarse->held[t->parents[k]] ? 0 : t->weights[k];
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Loops over rows

// Rows of one level, or from one to the next.
typedef struct Rows
{
    snwMultigrid* grid;
    const snwLevel *level, *coarse;
    void (*one)(const snwLevel* level, int begin, int end);
    void (*two)(const snwLevel* fine, const snwLevel* coarse, int begin, int end);
} Rows;

static void RunOne(int begin, int end, void* data)
{
    const Rows* rows = data;
    rows->one(rows->level, begin, end);
}

static void RunTwo(int begin, int end, void* data)
{
    const Rows* rows = data;
    rows->two(rows->level, rows->coarse, begin, end);
}

static void RunClusters(int begin, int end, void* data)
{
    const Rows* rows = data;
    const int* starts = rows->level->graph->clusterStarts;
    for (int c = begin; c < end; ++c)
        rows->one(rows->level, starts[c], starts[c + 1]);
}

static void ForRows(Rows* rows, int count, snwRangeFn* fn)
{
    if (rows->level->rows < multigrid_serialRows)
        fn(0, count, rows);
    else
        snwParallelFor(rows->grid->context, count, multigrid_rowGrain, fn, rows);
}

// Phase by phase; backward from the last to the first.
static void SweepPhases(
    snwMultigrid* grid, const snwLevel* level, void (*one)(const snwLevel*, int, int), bool backward)
{
    Rows rows = {.grid = grid, .level = level, .one = one};
    snwPhase phases[128];
    int count = level->graph->phaseCount;
    assert(count <= 128);
    for (int k = 0; k < count; ++k)
    {
        int phase = backward ? count - 1 - k : k;
        phases[k] = (snwPhase){
            RunClusters, &rows, level->graph->phaseStarts[phase], level->graph->phaseStarts[phase + 1], 1};
        if (level->rows < multigrid_serialRows)
            RunClusters(phases[k].begin, phases[k].end, &rows);
    }
    if (level->rows >= multigrid_serialRows)
        snwParallelPhases(grid->context, phases, count);
}

// ---------------------------------------------------------------------------------------------------------------------
// Diagonal blocks

// Inverse of a symmetric 3 x 3 block by cofactors. False if it is not clearly positive definite: the product of its
// pivots, each at most what the diagonal is, has to reach the least one pivot may be.
static bool Invert3(const double a[9], const double scale[3], double out[9])
{
    double c0 = a[4] * a[8] - a[5] * a[5], c1 = a[2] * a[5] - a[1] * a[8], c2 = a[1] * a[5] - a[2] * a[4];
    double determinant = a[0] * c0 + a[1] * c1 + a[2] * c2, s = 1 / determinant;
    if (!(a[0] > 0 && c0 > 0 && a[0] * a[4] > a[1] * a[1] &&
            determinant > s_leastPivot * scale[0] * scale[1] * scale[2]))
        return false;
    out[0] = c0 * s, out[1] = out[3] = c1 * s, out[2] = out[6] = c2 * s;
    out[4] = (a[0] * a[8] - a[2] * a[2]) * s, out[5] = out[7] = (a[1] * a[2] - a[0] * a[5]) * s;
    out[8] = (a[0] * a[4] - a[1] * a[1]) * s;
    return true;
}

// [A B; B^T C] by its Schur complement S = C - B^T A^-1 B.
static bool Invert6(const double in[36], double out[36])
{
    double A[9], B[9], C[9], inverseA[9], W[9], S[9], inverseS[9], V[9];
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
        {
            A[3 * c + r] = in[6 * c + r];
            B[3 * c + r] = in[6 * (c + 3) + r];
            C[3 * c + r] = in[6 * (c + 3) + r + 3];
        }

    if (!Invert3(A, (double[3]){A[0], A[4], A[8]}, inverseA))
        return false;

    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) // W = A^-1 B
            W[3 * c + r] = inverseA[r] * B[3 * c] + inverseA[3 + r] * B[3 * c + 1] + inverseA[6 + r] * B[3 * c + 2];
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
            S[3 * c + r] = C[3 * c + r] -
                           (B[3 * r] * W[3 * c] + B[3 * r + 1] * W[3 * c + 1] + B[3 * r + 2] * W[3 * c + 2]);

    if (!Invert3(S, (double[3]){C[0], C[4], C[8]}, inverseS))
        return false;

    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) // V = -W S^-1
            V[3 * c + r] = -(W[r] * inverseS[3 * c] + W[3 + r] * inverseS[3 * c + 1] + W[6 + r] * inverseS[3 * c + 2]);
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
        {
            out[6 * (c + 3) + r + 3] = inverseS[3 * c + r];
            out[6 * (c + 3) + r] = out[6 * r + c + 3] = V[3 * c + r];
            out[6 * c + r] = inverseA[3 * c + r] - (V[r] * W[c] + V[3 + r] * W[3 + c] + V[6 + r] * W[6 + c]);
        }

    return true;
}

// An inverse G of what is positive in a semidefinite block: Cholesky of the block scaled to a unit diagonal, the
// largest pivot first; unknowns whose pivot is small keep zero rows. G is symmetric and G A G = G, so a sweep with it
// corrects in a smaller space. Returns how many were left out.
static int InvertSemi(int n, const double* in, double* out)
{
    double scale[6], m[6][6], L[6][6] = {{0}}, inverse[6][6] = {{0}};
    int order[6], rank = 0;
    for (int i = 0; i < n; ++i)
    {
        order[i] = i;
        scale[i] = in[n * i + i] > 0 ? 1 / sqrt(in[n * i + i]) : 0;
    }

    // Scaled to a unit diagonal; then pivots are judged without units.
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            m[i][j] = in[n * j + i] * scale[i] * scale[j];

    // Cholesky with the largest remaining pivot first, up to the rank.
    for (; rank < n; ++rank)
    {
        int best = rank;
        for (int k = rank + 1; k < n; ++k)
            if (m[order[k]][order[k]] > m[order[best]][order[best]])
                best = k;
        int pivot = order[best];
        if (!(m[pivot][pivot] > s_leastPivot))
            break;
        order[best] = order[rank];
        order[rank] = pivot;
        L[pivot][rank] = sqrt(m[pivot][pivot]);
        for (int k = rank + 1; k < n; ++k)
            L[order[k]][rank] = m[order[k]][pivot] / L[pivot][rank];
        for (int k = rank + 1; k < n; ++k)
            for (int q = rank + 1; q < n; ++q)
                m[order[k]][order[q]] -= L[order[k]][rank] * L[order[q]][rank];
    }

    // L^-1 of the rows that were kept, by forward substitution.
    for (int c = 0; c < rank; ++c)
        for (int r = c; r < rank; ++r)
        {
            double v = r == c;
            for (int k = c; k < r; ++k)
                v -= L[order[r]][k] * inverse[k][c];
            inverse[r][c] = v / L[order[r]][r];
        }

    // G = S L^-T L^-1 S in the places of the kept rows; the others stay 0.
    memset(out, 0, (size_t)n * (size_t)n * sizeof *out);
    for (int a = 0; a < rank; ++a)
        for (int b = 0; b < rank; ++b)
        {
            double v = 0;
            for (int k = a > b ? a : b; k < rank; ++k)
                v += inverse[k][a] * inverse[k][b];
            out[n * order[a] + order[b]] = v * scale[order[a]] * scale[order[b]];
        }

    return n - rank;
}

// Returns how many unknowns were left out.
static double InvertRows(int begin, int end, void* data)
{
    const Rows* rows = data;
    const snwLevel* level = rows->level;
    bool finest = level == rows->grid->levels;
    int size = level->size, block = size * size, dropped = 0;

    // The finest diagonal is there in double, those of coarser levels in float.
    for (int i = begin; i < end; ++i)
    {
        double d[36] = {0}, v[36] = {0};
        for (int k = 0; k < block; ++k)
            d[k] = finest ? rows->grid->diagonal[9 * (size_t)i + (size_t)k]
                          : (double)level->diagonal[(size_t)block * (size_t)i + (size_t)k];
        bool held = finest && rows->grid->levels[0].held[i];

        // Definite blocks are inverted directly; only what these decline goes the careful way.
        if (!held && !(size == 3 ? Invert3(d, (double[3]){d[0], d[4], d[8]}, v) : Invert6(d, v)))
            dropped += InvertSemi(size, d, v);
        for (int k = 0; k < block; ++k)
            level->inverse[(size_t)block * (size_t)i + (size_t)k] = (float)v[k];
    }

    return dropped;
}

// ---------------------------------------------------------------------------------------------------------------------
// The coarsest level

static void AddCoarseBlock(const snwMultigrid* grid, int size, int row, int column, const float* block, bool transposed)
{
    for (int r = 0; r < size; ++r)
        for (int c = 0; c < size; ++c)
            if (column * size + c <= row * size + r)
                snwSkyline_Row(&grid->pattern->coarsest, grid->skyline,
                    row * size + r)[column * size + c] = (double)(transposed ? block[size * r + c]
                                                                             : block[size * c + r]);
}

// Returns how many unknowns were left out: motions that nobody feels, alone or together with those before.
static int FactorCoarsest(snwMultigrid* grid)
{
    const snwLevel* level = &grid->levels[grid->levelCount - 1];
    const snwBlockGraph* graph = level->graph;
    const snwSkyline* skyline = &grid->pattern->coarsest;
    size_t block = (size_t)level->size * (size_t)level->size;

    memset(grid->skyline, 0, (size_t)skyline->starts[skyline->count] * sizeof(double));

    // The lower triangle in the skyline's order; a block that lies above it there is transposed. Held vertices stay
    // out, which only happens where the finest level is also the coarsest.
    for (int i = 0; i < level->rows; ++i)
    {
        int place = skyline->placeOf[i];
        if (grid->levelCount == 1 && grid->levels[0].held[i])
            continue;
        AddCoarseBlock(grid, level->size, place, place, level->diagonal + block * (size_t)i, false);
        for (int k = graph->upStarts[i]; k < graph->upStarts[i + 1]; ++k)
        {
            int j = graph->upColumns[k], other = skyline->placeOf[j];
            if (grid->levelCount == 1 && grid->levels[0].held[j])
                continue;
            bool below = place > other;
            AddCoarseBlock(
                grid, level->size, below ? place : other, below ? other : place, level->up + block * (size_t)k, !below);
        }
    }

    return grid->kernels->factor(skyline, grid->skyline, level->size, s_leastCoarsestPivot);
}

static void SolveCoarsest(const snwMultigrid* grid)
{
    const snwLevel* level = &grid->levels[grid->levelCount - 1];
    const snwSkyline* skyline = &grid->pattern->coarsest;
    double* y = grid->skylineWork;
    int size = level->size;
    for (int i = 0; i < level->rows; ++i)
        for (int r = 0; r < size; ++r)
            y[skyline->placeOf[i] * size + r] = (double)level->b[i * size + r];
    grid->kernels->solveFactor(skyline, grid->skyline, y);
    for (int i = 0; i < level->rows; ++i)
        for (int r = 0; r < size; ++r)
            level->x[i * size + r] = (float)y[skyline->placeOf[i] * size + r];
}

// ---------------------------------------------------------------------------------------------------------------------
// Refresh

// A coarse vertex moves as its children do in the mean.
static void MoveCoarse(const snwLevel* fine, const snwLevel* coarse, int begin, int end)
{
    const snwTransfer* t = fine->transfer;
    for (int c = begin; c < end; ++c)
    {
        snwVec3 move = {0, 0, 0};
        double sum = 0;
        for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
        {
            double w = (double)t->weights[t->childSlots[k]];
            int i = t->children[k];
            move = snwVec3_MulAdd(move, w, snwVec3_Sub(fine->now[i], fine->rest[i]));
            sum += w;
        }
        coarse->now[c] = snwVec3_MulAdd(coarse->rest[c], 1 / sum, move);
    }
}

static void SetLevers(const snwLevel* fine, const snwLevel* coarse, int begin, int end)
{
    const snwTransfer* t = fine->transfer;
    for (int i = begin; i < end; ++i)
        for (int k = t->parentStarts[i]; k < t->parentStarts[i + 1]; ++k)
        {
            snwVec3 lever = snwVec3_Sub(fine->now[i], coarse->now[t->parents[k]]);
            fine->links[4 * (size_t)k] = (float)lever.x;
            fine->links[4 * (size_t)k + 1] = (float)lever.y;
            fine->links[4 * (size_t)k + 2] = (float)lever.z;
        }
}

// A chunk of coarse rows, each chunk with scratch of its own.
static void RunGalerkin(int begin, int end, void* data)
{
    const Rows* rows = data;
    for (int chunk = begin; chunk < end; ++chunk)
    {
        int count = rows->coarse->rows;
        int from = (int)((int64_t)count * chunk / snw_gridChunks),
            to = (int)((int64_t)count * (chunk + 1) / snw_gridChunks);
        float* scratch = rows->grid->galerkin + (size_t)chunk * (size_t)rows->grid->pattern->galerkinWidth * 48;
        rows->grid->kernels->galerkin(rows->level, rows->coarse, from, to, scratch);
    }
}

static void RoundDiagonal(const snwLevel* level, const double* diagonal, int begin, int end)
{
    for (size_t k = 9 * (size_t)begin; k < 9 * (size_t)end; ++k)
        level->diagonal[k] = (float)diagonal[k];
}

static void RunRound(int begin, int end, void* data)
{
    const Rows* rows = data;
    RoundDiagonal(rows->level, rows->grid->diagonal, begin, end);
}

void snwMultigrid_Refresh(snwMultigrid* grid, const snwVec3* positions)
{
    snwLevel* finest = &grid->levels[0];
    for (int v = 0; v < finest->rows; ++v)
        finest->now[grid->pattern->rowOf[v]] = positions[v];
    ForRows(&(Rows){.grid = grid, .level = finest}, finest->rows, RunRound);

    // From fine to coarse: places, levers from places to the parents', then P^T A P.
    for (int a = 0; a + 1 < grid->levelCount; ++a)
    {
        Rows rows = {.grid = grid, .level = &grid->levels[a], .coarse = &grid->levels[a + 1]};
        rows.two = MoveCoarse;
        ForRows(&rows, rows.coarse->rows, RunTwo);
        rows.two = SetLevers;
        ForRows(&rows, rows.level->rows, RunTwo);
        if (rows.level->rows < multigrid_serialRows)
            RunGalerkin(0, snw_gridChunks, &rows);
        else
            snwParallelFor(grid->context, snw_gridChunks, 1, RunGalerkin, &rows);
    }

    // Inverses of the diagonal blocks, all levels but the coarsest.
    double dropped = 0;
    for (int a = 0; a + 1 < grid->levelCount; ++a)
    {
        Rows rows = {.grid = grid, .level = &grid->levels[a]};
        dropped += snwParallelSum(grid->context, rows.level->rows, multigrid_rowGrain, InvertRows, &rows);
    }

    grid->dropped = (int)dropped + FactorCoarsest(grid);
}

// ---------------------------------------------------------------------------------------------------------------------
// Cycles

// x of the level from its b. fresh: x counts as zero, else it is what to begin with.
static void Visit(snwMultigrid* grid, int at, bool fresh)
{
    const snwMultigridKernels* kernels = grid->kernels;
    const snwLevel* level = &grid->levels[at];
    if (at == grid->levelCount - 1)
    {
        SolveCoarsest(grid);
        return;
    }

    // Sweeps before, then what is left of b goes to the level below.
    for (int k = 0; k < grid->def.before; ++k)
        SweepPhases(grid, level, fresh && k == 0 ? kernels->forwardFromZero : kernels->forward, false);
    Rows rows = {.grid = grid, .level = level, .coarse = level + 1};
    rows.one = fresh && grid->def.before == 1 ? kernels->residualFromZero : kernels->residual;
    ForRows(&rows, level->rows, RunOne);

    rows.two = kernels->gather;
    ForRows(&rows, level[1].rows, RunTwo);
    int visits = at + 2 == grid->levelCount ? 1 : grid->def.visits[at > 0]; // the coarsest is solved exactly
    for (int k = 0; k < visits; ++k)
        Visit(grid, at + 1, k == 0);
    rows.two = kernels->spread;
    ForRows(&rows, level->rows, RunTwo);

    // Sweeps back in the opposite order keep the cycle symmetric, as conjugate gradients need.
    for (int k = 0; k < grid->def.after; ++k)
        SweepPhases(grid, level, kernels->backward, true);
}

void snwMultigrid_Cycle(snwMultigrid* grid)
{
    Visit(grid, 0, true);
}

// ---------------------------------------------------------------------------------------------------------------------
// Solving

typedef struct Solving
{
    snwMultigrid* grid;
    const snwVec3* f;
    snwVec3* out; // of a guess
    double scale; // of what a cycle gets, so that floats stay in range
    double alpha, beta;
    bool jacobi;
} Solving;

static const double* DiagonalOf(const Solving* s, int row)
{
    return s->grid->diagonal + 9 * (size_t)row;
}

static double BeginSolving(int begin, int end, void* data)
{
    const Solving* s = data;
    double sum = 0;
    for (int v = begin; v < end; ++v)
    {
        int i = s->grid->pattern->rowOf[v];
        for (int k = 0; k < 3; ++k)
        {
            size_t at = 3 * (size_t)i + (size_t)k;
            double f = s->grid->levels[0].held[i] ? 0 : (&s->f[v].x)[k];
            s->grid->r[at] = f;
            s->grid->u[at] = s->grid->p[at] = 0;
            sum += f * f;
        }
    }
    return sum;
}

static void GiveResidual(int begin, int end, void* data)
{
    const Solving* s = data;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; ++k)
        s->grid->levels[0].b[k] = (float)(s->grid->r[k] * s->scale);
}

// What the preconditioner makes of r, times r.
static double DotGuess(int begin, int end, void* data)
{
    const Solving* s = data;
    const snwMultigrid* grid = s->grid;
    double sum = 0;
    for (int i = begin; i < end; ++i)
        for (int k = 0; k < 3; ++k)
        {
            size_t at = 3 * (size_t)i + (size_t)k;
            double z = (double)grid->levels[0].x[at];
            if (s->jacobi)
                z = grid->levels[0].held[i] ? 0 : grid->r[at] / DiagonalOf(s, i)[4 * k];
            sum += grid->r[at] * z;
        }
    return sum;
}

static void TurnDirection(int begin, int end, void* data)
{
    const Solving* s = data;
    const snwMultigrid* grid = s->grid;
    for (int i = begin; i < end; ++i)
        for (int k = 0; k < 3; ++k)
        {
            size_t at = 3 * (size_t)i + (size_t)k;
            double z = (double)grid->levels[0].x[at] / s->scale;
            if (s->jacobi)
                z = grid->levels[0].held[i] ? 0 : grid->r[at] / DiagonalOf(s, i)[4 * k];
            grid->p[at] = z + s->beta * grid->p[at];
        }
}

static double MultiplyDot(int begin, int end, void* data)
{
    const Solving* s = data;
    const snwMultigrid* grid = s->grid;
    grid->kernels->multiply(grid, grid->p, grid->q, begin, end);
    double sum = 0;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; ++k)
        sum += grid->p[k] * grid->q[k];
    return sum;
}

static double AdvanceSolution(int begin, int end, void* data)
{
    const Solving* s = data;
    const snwMultigrid* grid = s->grid;
    double sum = 0;
    for (size_t k = 3 * (size_t)begin; k < 3 * (size_t)end; ++k)
    {
        grid->u[k] += s->alpha * grid->p[k];
        grid->r[k] -= s->alpha * grid->q[k];
        sum += grid->r[k] * grid->r[k];
    }
    return sum;
}

// Between vectors in the order of vertices and those in the order of rows.
typedef struct Exchange
{
    snwMultigrid* grid;
    const snwVec3* in;
    const double* from;
    snwVec3* out;
} Exchange;

static void PutOut(int begin, int end, void* data)
{
    const Exchange* e = data;
    for (int v = begin; v < end; ++v)
    {
        const double* u = e->from + 3 * (size_t)e->grid->pattern->rowOf[v];
        e->out[v] = (snwVec3){u[0], u[1], u[2]};
    }
}

snwGridReport snwMultigrid_Solve(snwMultigrid* grid, const snwGridSolveDef* def, const snwVec3* f, snwVec3* u)
{
    snwContext* context = grid->context;
    int rows = grid->levels[0].rows;
    Solving s = {.grid = grid, .f = f, .scale = 1};
    s.jacobi = def->solver == snw_gridJacobi;
    double start = snwParallelSum(context, rows, multigrid_rowGrain, BeginSolving, &s), rr = start, before = 1;
    snwGridReport report = {.finite = isfinite(start)};

    // Conjugate gradients with a cycle as the guess: the residual is scaled to length one so that floats hold it.
    while (report.finite && rr > def->tolerance * def->tolerance * start && report.iterations < def->most)
    {
        if (!s.jacobi)
        {
            s.scale = 1 / sqrt(rr);
            snwParallelFor(context, rows, multigrid_rowGrain, GiveResidual, &s);
            Visit(grid, 0, true);
        }

        double rz = snwParallelSum(context, rows, multigrid_rowGrain, DotGuess, &s) / s.scale;
        bool cycles = def->solver == snw_gridCycles;

        // Plain cycles: each step takes the guess as it is.
        s.beta = report.iterations > 0 && !cycles ? rz / before : 0;
        before = rz;
        snwParallelFor(context, rows, multigrid_rowGrain, TurnDirection, &s);
        double curvature = snwParallelSum(context, rows, multigrid_rowGrain, MultiplyDot, &s);
        if (curvature == 0)
            break; // nothing is left that the guess could move
        s.alpha = cycles ? 1 : rz / curvature;
        rr = snwParallelSum(context, rows, multigrid_rowGrain, AdvanceSolution, &s);
        report.iterations++;
        report.finite = isfinite(rr);
    }

    report.residual = start > 0 ? sqrt(rr / start) : 0;
    if (report.finite)
        snwParallelFor(context, rows, multigrid_rowGrain, PutOut, &(Exchange){.grid = grid, .from = grid->u, .out = u});
    return report;
}

static void PutIn(int begin, int end, void* data)
{
    const Exchange* e = data;
    for (int v = begin; v < end; ++v)
    {
        int i = e->grid->pattern->rowOf[v];
        for (int k = 0; k < 3; ++k)
            e->grid->p[3 * (size_t)i + (size_t)k] = e->grid->levels[0].held[i] ? 0 : (&e->in[v].x)[k];
    }
}

static void MultiplyGridRows(int begin, int end, void* data)
{
    const snwMultigrid* grid = ((const Exchange*)data)->grid;
    grid->kernels->multiply(grid, grid->p, grid->q, begin, end);
}

void snwMultigrid_Multiply(snwMultigrid* grid, const snwVec3* x, snwVec3* y)
{
    Exchange e = {.grid = grid, .in = x, .from = grid->q, .out = y};
    int rows = grid->levels[0].rows;
    snwParallelFor(grid->context, rows, multigrid_rowGrain, PutIn, &e);
    snwParallelFor(grid->context, rows, multigrid_rowGrain, MultiplyGridRows, &e);
    snwParallelFor(grid->context, rows, multigrid_rowGrain, PutOut, &e);
}

static void GiveRight(int begin, int end, void* data)
{
    const Solving* s = data;
    for (int v = begin; v < end; ++v)
    {
        int i = s->grid->pattern->rowOf[v];
        for (int k = 0; k < 3; ++k)
            s->grid->levels[0].b[3 * (size_t)i + (size_t)k] = s->grid->levels[0].held[i]
                                                                  ? 0
                                                                  : (float)((&s->f[v].x)[k] * s->scale);
    }
}

static void TakeGridGuess(int begin, int end, void* data)
{
    const Solving* s = data;
    for (int v = begin; v < end; ++v)
    {
        const float* x = s->grid->levels[0].x + 3 * (size_t)s->grid->pattern->rowOf[v];
        s->out[v] = (snwVec3){(double)x[0] / s->scale, (double)x[1] / s->scale, (double)x[2] / s->scale};
    }
}

void snwMultigrid_Guess(snwMultigrid* grid, double size, const snwVec3* f, snwVec3* u)
{
    Solving s = {.grid = grid, .f = f, .out = u, .scale = 1 / size};
    int rows = grid->levels[0].rows;
    snwParallelFor(grid->context, rows, multigrid_rowGrain, GiveRight, &s);
    Visit(grid, 0, true);
    snwParallelFor(grid->context, rows, multigrid_rowGrain, TakeGridGuess, &s);
}

// ---------------------------------------------------------------------------------------------------------------------
// What there is

snwMultigridStats snwMultigrid_Stats(const snwMultigrid* grid)
{
    snwMultigridStats stats = {.levels = grid->levelCount,
        .clusters = grid->levels[0].graph->phaseStarts[grid->levels[0].graph->phaseCount],
        .phases = grid->levels[0].graph->phaseCount,
        .memory = grid->memory + grid->pattern->memory,
        .dropped = grid->dropped};

    for (int a = 0; a < grid->levelCount; ++a)
    {
        const snwLevel* level = &grid->levels[a];
        double block = sizeof(float) * level->size * level->size, half = level->graph->upStarts[level->rows];
        stats.vertices[a] = level->rows;
        stats.blocks[a] = level->rows + 2 * (int64_t)level->graph->upStarts[level->rows];
        if (a + 1 == grid->levelCount)
            continue;

        // both halves with their columns and the inverse twice, vectors some four times, the transfer both ways
        stats.cycleBytes += 2 * (2 * half * (block + sizeof(int)) + level->rows * block);
        stats.cycleBytes += 12.0 * sizeof(float) * level->rows * level->size;
        stats.cycleBytes += 2.0 * 20 * level->transfer->parentStarts[level->rows];
    }

    stats.cycleBytes += 2.0 * sizeof(double) * (double)grid->pattern->coarsest.starts[grid->pattern->coarsest.count];
    return stats;
}
