// The factor and its making.
//
// What was chosen, and what was not:
//   - Supernodal, left-looking. Columns with the same rows form a node, a dense block that streams through memory; a
//     node gathers the updates of all nodes below it and is then factored. Nothing but L itself and a list of row
//     numbers per task is needed, so a refactor takes no memory. (Multifrontal would be as fast, but keeps a stack of
//     dense blocks as large as L.)
//   - Panels of eight rows, column by column. A panel is the left or the right operand of the 8 x 4 product that all
//     time goes into, without repacking; and the sweeps read every number once, in order. The squares on the diagonal
//     are replaced by their inverses: an 8 x 8 inverse costs no accuracy that matters, and turns the chain of
//     divisions in a sweep into products.
//   - Last unknowns are rows without columns. They take part in every product as rows of V, so y, V^T y and V t come
//     out of the same sweeps, and G is one more target of the updates.
//   - Own code and not CHOLMOD, for the factor as well as for the sweeps. CHOLMOD's supernodal part calls a BLAS whose
//     kernels differ from processor to processor and whose threads are a setting of the whole process: the bits of
//     every sim would depend on both. It also takes memory and starts threads behind the context's back, and its
//     licence would become ours. `bench kernels` runs CHOLMOD beside this code.
//   - No update by low rank: a refactor of a 30,000-vertex body takes a fraction of a second.

#include "linalg/cholesky.h"

#include "linalg/cholesky_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum
{
    snw_valueGrain = 1 << 16
};

snwCholeskyDef snwDefaultCholeskyDef(void)
{
    return (snwCholeskyDef){.precision = snw_precisionDouble, .ordering = snw_orderingNested};
}

// ---------------------------------------------------------------------------------------------------------------------
// Updates

// The local rows that rows begin .. of the source have in the target. Both lists rise.
static void FindRelative(const snwCholesky* f, const snwCholeskyNode* target, snwNodeUpdate update, int* relative)
{
    const snwCholeskyNode* source = &f->nodes[update.source];
    const int *from = f->nodeRows + source->rows, *to = f->nodeRows + target->rows;
    for (int k = update.begin; k < update.end; ++k)
        relative[k] = from[k] - target->first;
    for (int k = update.end, at = 0; k < source->rowCount; ++k)
    {
        while (to[at] != from[k])
            ++at;
        relative[k] = target->columns + at;
    }
}

// One panel of the source's rows against its columns that lie in the target.
typedef struct PanelUpdate
{
    const snwCholeskyNode* source;
    const int* relative; // rows of the target
    int begin, end;      // columns of the target, as rows of the source
    int row;             // first row of the panel
    int rowEnd;
} PanelUpdate;

static const double* PanelOf(const snwCholesky* f, const snwCholeskyNode* node, int row)
{
    return f->values + node->below + (int64_t)(row / 8) * 8 * node->columns + row % 8;
}

static void SubtractTile(const PanelUpdate* u, int column, const double* tile, const int64_t places[8], double* values)
{
    for (int j = 0; j < 4; ++j)
    {
        int c = column + j;
        if (c < u->begin || c >= u->end)
            continue;
        double* out = values + 8 * (int64_t)u->relative[c];
        int r = c > u->row ? c - u->row : 0, end = u->rowEnd - u->row;
        for (; r < end; ++r)
            out[places[r]] -= tile[8 * j + r];
    }
}

static void UpdatePanel(const snwCholesky* f, const snwCholeskyNode* target, const PanelUpdate* u)
{
    int64_t places[8] = {0};
    _Alignas(64) double tile[32];
    const double* a = PanelOf(f, u->source, u->row);
    for (int r = 0; r < u->rowEnd - u->row; ++r)
        if (u->row + r >= u->begin)
            places[r] = snwNode_Place(target, u->relative[u->row + r], 0);
    for (int c = u->begin / 4 * 4; c < u->end && c < u->rowEnd; c += 4)
    {
        f->kernels->tile(a, PanelOf(f, u->source, c), u->source->columns, tile);
        SubtractTile(u, c, tile, places, f->values);
    }
}

static void ApplyUpdate(const snwCholesky* f, const snwCholeskyNode* target, snwNodeUpdate update, int* relative)
{
    const snwCholeskyNode* source = &f->nodes[update.source];
    PanelUpdate u = {.source = source, .relative = relative, .begin = update.begin, .end = update.end};
    FindRelative(f, target, update, relative);
    for (u.row = update.begin / 8 * 8; u.row < source->rowCount; u.row += 8)
    {
        u.rowEnd = u.row + 8 < source->rowCount ? u.row + 8 : source->rowCount;
        UpdatePanel(f, target, &u);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// All nodes

typedef struct Factoring
{
    snwCholesky* factor;
    const snwSparse* matrix;
    const int* tasks; // of the level
} Factoring;

static void ClearValues(int begin, int end, void* data)
{
    const snwCholesky* f = ((Factoring*)data)->factor;
    int64_t from = (int64_t)begin * snw_valueGrain, to = (int64_t)end * snw_valueGrain;
    to = to < f->valueCount ? to : f->valueCount;
    memset(f->values + from, 0, (size_t)(to - from) * sizeof *f->values);
}

static void RoundValues(int begin, int end, void* data)
{
    const snwCholesky* f = ((Factoring*)data)->factor;
    int64_t from = (int64_t)begin * snw_valueGrain, to = (int64_t)end * snw_valueGrain;
    to = to < f->valueCount ? to : f->valueCount;
    for (int64_t i = from; i < to; ++i)
        f->floats[i] = (float)f->values[i];
}

static void ForValues(Factoring* factoring, snwRangeFn* fn)
{
    int blocks = (int)((factoring->factor->valueCount + snw_valueGrain - 1) / snw_valueGrain);
    snwParallelFor(factoring->factor->context, blocks, 1, fn, factoring);
}

static void PlaceMatrix(Factoring* factoring)
{
    const snwCholesky* f = factoring->factor;
    ForValues(factoring, ClearValues);
    memset(f->schur, 0, (size_t)f->lastCount * (size_t)f->lastCount * sizeof *f->schur);
    for (int i = 0; i < f->leading; ++i)
        f->diagonal[i] = 0;

    // A slot >= 0 is a number of the factor, a negative one an entry of the Schur complement of the last unknowns.
    for (int row = 0; row < f->rows; ++row)
    {
        for (int k = factoring->matrix->starts[row]; k < factoring->matrix->starts[row + 1]; ++k)
        {
            double value = factoring->matrix->values[k];
            if (f->slots[k] >= 0)
                f->values[f->slots[k]] = value;
            else
                f->schur[-1 - f->slots[k]] = value;
            if (row < f->leading && factoring->matrix->indices[k] == row)
                f->diagonal[f->inverse[row]] = value;
        }
    }
}

static void FactorTasks(int begin, int end, void* data)
{
    const Factoring* factoring = data;
    const snwCholesky* f = factoring->factor;
    for (int i = begin; i < end; ++i)
    {
        int t = factoring->tasks[i], *relative = f->relative + (size_t)t * (size_t)(f->maxNodeRows + 8);
        f->failures[t] = -1;
        for (int k = f->tasks[t].nodeStart; k < f->tasks[t].nodeEnd && f->failures[t] < 0; ++k)
        {
            int s = f->taskNodes[k];
            for (int u = f->updateStarts[s]; u < f->updateStarts[s + 1]; ++u)
                ApplyUpdate(f, &f->nodes[s], f->updates[u], relative);
            int failed = snwCholeskyNode_Factor(f->kernels, &f->nodes[s], f->values, f->diagonal + f->nodes[s].first);
            f->failures[t] = failed < 0 ? -1 : f->nodes[s].first + failed;
        }
    }
}

// G = A_bb - V^T V, node by node in rising order.
static void SubtractSchur(const snwCholesky* f, const snwCholeskyNode* source, int begin)
{
    _Alignas(64) double tile[32];
    const int* rows = f->nodeRows + source->rows;
    for (int row = begin / 8 * 8; row < source->rowCount; row += 8)
    {
        int rowEnd = row + 8 < source->rowCount ? row + 8 : source->rowCount;
        for (int c = begin / 4 * 4; c < rowEnd; c += 4)
        {
            f->kernels->tile(PanelOf(f, source, row), PanelOf(f, source, c), source->columns, tile);
            for (int j = c < begin ? begin - c : 0; j < 4; ++j)
                for (int r = c + j > row ? c + j : row; r < rowEnd; ++r)
                    f->schur[(size_t)(rows[r] - f->leading) * (size_t)f->lastCount +
                             (size_t)(rows[c + j] - f->leading)] -= tile[8 * j + r - row];
        }
    }
}

static void FinishSchur(const snwCholesky* f)
{
    for (int u = f->updateStarts[f->nodeCount]; u < f->updateStarts[f->nodeCount + 1]; ++u)
        SubtractSchur(f, &f->nodes[f->updates[u].source], f->updates[u].begin);
    size_t m = (size_t)f->lastCount;
    for (size_t i = 0; i < m; ++i)
        for (size_t j = i + 1; j < m; ++j)
            f->schur[i * m + j] = f->schur[j * m + i];
}

static snwResult FailPivot(const snwCholesky* f, int column, snwMessage* message)
{
    snwResult result = snwFail(message, snw_errorInput,
        "check for parts without mass or stiffness, and for negative weights", "the matrix is not positive definite");
    snwMessage_AddPlace(message, "unknown[%d]", f->order[column]);
    return result;
}

snwResult snwCholesky_Refactor(snwCholesky* f, const snwSparse* matrix, snwMessage* message)
{
    assert(matrix->symmetric && matrix->rows == f->rows && snwSparse_Count(matrix) == f->matrixCount);
    Factoring factoring = {.factor = f, .matrix = matrix};
    PlaceMatrix(&factoring);
    for (int level = 0; level < f->levelCount; ++level)
    {
        int count = f->levelStarts[level + 1] - f->levelStarts[level];
        factoring.tasks = f->levelTasks + f->levelStarts[level];
        snwParallelFor(f->context, count, 1, FactorTasks, &factoring);
        for (int i = 0; i < count; ++i)
            if (f->failures[factoring.tasks[i]] >= 0)
                return FailPivot(f, f->failures[factoring.tasks[i]], message);
    }
    FinishSchur(f);
    if (f->precision == snw_precisionFloat)
        ForValues(&factoring, RoundValues);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Life

void snwCholesky_Destroy(snwCholesky* f)
{
    if (f == NULL)
        return;
    void* all[] = {f->order, f->inverse, f->nodes, f->nodeOf, f->nodeRows, f->sweepRows, f->parents, f->updateStarts,
        f->updates, f->slots, f->tasks, f->taskNodes, f->taskChildren, f->levelStarts, f->levelTasks, f->borderRows,
        f->borderInto, f->relative, f->values, f->floats, f->schur, f->diagonal, f->failures};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(f->context, all[i]);
    snwFree(f->context, f);
}

static bool AllocValues(snwCholesky* f)
{
    size_t last = (size_t)f->lastCount;
    f->values = snwAllocArray(f->context, (size_t)f->valueCount, sizeof *f->values);
    f->diagonal = snwAllocArray(f->context, (size_t)f->leading, sizeof *f->diagonal);
    f->schur = snwAllocArray(f->context, last * last, sizeof *f->schur);
    if (f->precision == snw_precisionFloat)
        f->floats = snwAllocArray(f->context, (size_t)f->valueCount, sizeof *f->floats);
    return f->values != NULL && f->diagonal != NULL && f->schur != NULL &&
           (f->precision != snw_precisionFloat || f->floats != NULL);
}

static snwResult CheckOrder(snwContext* context, const snwCholeskyDef* def, snwMessage* message)
{
    int n = def->matrix->rows - def->lastCount;
    if (def->ordering != snw_orderingGiven)
        return snw_ok;
    bool good = true, *seen = snwAllocArray(context, (size_t)n, sizeof *seen);
    if (seen == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < n && good; ++i)
    {
        good = def->order[i] >= 0 && def->order[i] < n && !seen[def->order[i]];
        if (good)
            seen[def->order[i]] = true;
    }
    snwFree(context, seen);
    return good ? snw_ok : snwFail(message, snw_errorInput, NULL, "the order does not name every unknown once");
}

static snwResult CheckCholeskyDef(snwContext* context, const snwCholeskyDef* def, snwMessage* message)
{
    if (!def->matrix->symmetric)
        return snwFail(message, snw_errorInput, NULL, "the matrix is not symmetric");
    if (def->lastCount < 0 || def->lastCount > def->matrix->rows)
        return snwFail(message, snw_errorInput, NULL, "%d last unknowns of %d", def->lastCount, def->matrix->rows);
    snwResult result = snwSparse_Check(def->matrix, message);
    return result < 0 ? result : CheckOrder(context, def, message);
}

snwResult snwCholesky_Create(snwContext* context, const snwCholeskyDef* def, snwCholesky** out, snwMessage* message)
{
    *out = NULL;
    snwResult result = CheckCholeskyDef(context, def, message);
    if (result < 0)
        return result;
    snwCholesky* f = snwAlloc(context, sizeof *f);
    if (f == NULL)
        return snwFailMemory(message);

    f->context = context;
    f->kernels = snwCholesky_Kernels(context->simd);
    f->precision = def->precision;
    f->rows = def->matrix->rows;

    // The last rows are not eliminated: their block stays for the caller.
    f->lastCount = def->lastCount;
    f->leading = f->rows - f->lastCount;
    f->matrixCount = snwSparse_Count(def->matrix);

    if (!snwCholesky_Analyse(f, def) || !AllocValues(f))
        result = snwFailMemory(message);
    if (result >= 0)
        result = snwCholesky_Refactor(f, def->matrix, message);
    if (result < 0)
        snwCholesky_Destroy(f);
    else
        *out = f;

    return result;
}

const double* snwCholesky_Schur(const snwCholesky* factor)
{
    return factor->lastCount > 0 ? factor->schur : NULL;
}

snwCholeskyStats snwCholesky_Stats(const snwCholesky* f)
{
    snwCholeskyStats stats = {.rows = f->rows,
        .lastCount = f->lastCount,
        .supernodes = f->nodeCount,
        .tasks = f->taskCount,
        .levels = f->levelCount,
        .entries = f->valueCount,
        .flops = f->flops};

    // Lists are padded to panels of eight rows.
    int64_t real = f->precision == snw_precisionFloat ? sizeof(float) : sizeof(double), listed = 0, padded = 0;
    for (int s = 0; s < f->nodeCount; ++s)
    {
        listed += f->nodes[s].rowCount;
        padded += (f->nodes[s].rowCount + 7) / 8 * 8;
    }

    // What a solution reads, then all that is kept for factoring anew.
    stats.bytes = f->valueCount * real + (padded + f->leading) * (int64_t)sizeof(int) +
                  f->nodeCount * (int64_t)sizeof *f->nodes;
    stats.memory = f->valueCount * (int64_t)(sizeof(double) + (f->floats != NULL ? sizeof(float) : 0)) +
                   (listed + padded + 3 * (int64_t)f->leading + 2 * (int64_t)f->borderCount) * (int64_t)sizeof(int) +
                   f->matrixCount * (int64_t)sizeof *f->slots + f->updateCount * (int64_t)sizeof *f->updates +
                   f->taskCount * (int64_t)(f->maxNodeRows + 8) * (int64_t)sizeof(int) +
                   (int64_t)f->lastCount * f->lastCount * (int64_t)sizeof(double);

    return stats;
}
