// Patterns are made with two counting sorts, by column and then by row: linear time, and stable, so that the
// contributions of an entry stay in rising order.

#include "linalg/sparse.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum
{
    sparse_rowGrain = 2048,
    sparse_slotGrain = 8192,
    sparse_maxElementSize = 64
};

double snwSparse_At(const snwSparse* matrix, int row, int column)
{
    if (matrix->symmetric && column > row)
    {
        int swap = row;
        row = column, column = swap;
    }
    int low = matrix->starts[row], high = matrix->starts[row + 1];
    while (low < high)
    {
        int middle = low + (high - low) / 2;
        if (matrix->indices[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matrix->starts[row + 1] && matrix->indices[low] == column ? matrix->values[low] : 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Products

typedef struct Product
{
    const snwSparse* matrix;
    const double* x;
    double* y;
    int width;
} Product;

static void AddScaledColumns(double* y, double a, const double* x, int width)
{
    for (int k = 0; k < width; ++k)
        y[k] += a * x[k];
}

static void MultiplySparseRows(int begin, int end, void* data)
{
    const Product* product = data;
    const snwSparse* a = product->matrix;
    int width = product->width;
    for (int row = begin; row < end; ++row)
    {
        double* y = product->y + (size_t)row * (size_t)width;
        memset(y, 0, (size_t)width * sizeof *y);
        for (int k = a->starts[row]; k < a->starts[row + 1]; ++k)
            AddScaledColumns(y, a->values[k], product->x + (size_t)a->indices[k] * (size_t)width, width);
        if (!a->symmetric)
            continue;
        for (int k = a->mirrorStarts[row]; k < a->mirrorStarts[row + 1]; ++k)
            AddScaledColumns(
                y, a->values[a->mirrorSlots[k]], product->x + (size_t)a->mirrorIndices[k] * (size_t)width, width);
    }
}

// NOLINTNEXTLINE: y is written by the loop's threads
void snwSparse_Multiply(snwContext* context, const snwSparse* matrix, const double* x, double* y, int width)
{
    assert(!matrix->symmetric || matrix->mirrorStarts != NULL);
    Product product = {.matrix = matrix, .x = x, .y = y, .width = width};
    snwParallelFor(context, matrix->rows, sparse_rowGrain, MultiplySparseRows, &product);
}

void snwSparse_MultiplyTransposed(snwContext* context, const snwSparse* matrix, const double* x, double* y, int width)
{
    if (matrix->symmetric)
    {
        snwSparse_Multiply(context, matrix, x, y, width);
        return;
    }
    memset(y, 0, (size_t)matrix->columns * (size_t)width * sizeof *y);
    for (int row = 0; row < matrix->rows; ++row)
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
            AddScaledColumns(y + (size_t)matrix->indices[k] * (size_t)width, matrix->values[k],
                x + (size_t)row * (size_t)width, width);
}

// ---------------------------------------------------------------------------------------------------------------------
// Other forms

void snwSparse_Free(snwContext* context, snwSparse* matrix)
{
    void* all[] = {matrix->starts, matrix->indices, matrix->values, matrix->mirrorStarts, matrix->mirrorIndices,
        matrix->mirrorSlots};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(context, all[i]);
    *matrix = (snwSparse){0};
}

static bool AllocSparse(snwContext* context, int rows, int columns, int count, snwSparse* out)
{
    *out = (snwSparse){.rows = rows, .columns = columns};
    out->starts = snwAllocArray(context, (size_t)rows + 1, sizeof *out->starts);
    out->indices = snwAllocArray(context, (size_t)count, sizeof *out->indices);
    out->values = snwAllocArray(context, (size_t)count, sizeof *out->values);
    return out->starts != NULL && out->indices != NULL && out->values != NULL;
}

// Turns counts at [i + 1] into starts.
static void SumStarts(int* starts, int count)
{
    for (int i = 0; i < count; ++i)
        starts[i + 1] += starts[i];
}

// Filling moves starts[i] to the end of row i; this moves them back.
static void ShiftStarts(int* starts, int count)
{
    memmove(starts + 1, starts, (size_t)count * sizeof *starts);
    starts[0] = 0;
}

snwResult snwSparse_Transpose(snwContext* context, const snwSparse* matrix, snwSparse* out, snwMessage* message)
{
    if (matrix->symmetric)
        return snwSparse_Full(context, matrix, out, message);
    int count = snwSparse_Count(matrix);
    if (!AllocSparse(context, matrix->columns, matrix->rows, count, out))
    {
        snwSparse_Free(context, out);
        return snwFailMemory(message);
    }

    // Counted by column, summed to starts, then written row by row: stable, so rows come out sorted.
    for (int k = 0; k < count; ++k)
        out->starts[matrix->indices[k] + 1]++;
    SumStarts(out->starts, out->rows);
    for (int row = 0; row < matrix->rows; ++row)
    {
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
        {
            int slot = out->starts[matrix->indices[k]]++;
            out->indices[slot] = row;
            out->values[slot] = matrix->values[k];
        }
    }

    ShiftStarts(out->starts, out->rows);
    return snw_ok;
}

static int64_t FullCount(const snwSparse* matrix)
{
    int64_t count = snwSparse_Count(matrix);
    for (int row = 0; matrix->symmetric && row < matrix->rows; ++row)
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
            count += matrix->indices[k] != row;
    return count;
}

// Rows in rising order: each sends its entries to itself and to the rows above it, so every row comes out sorted.
static void FillFull(const snwSparse* matrix, snwSparse* out)
{
    for (int row = 0; row < matrix->rows; ++row)
    {
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
        {
            int column = matrix->indices[k], slot = out->starts[row]++;
            out->indices[slot] = column;
            out->values[slot] = matrix->values[k];
            if (!matrix->symmetric || column == row)
                continue;
            slot = out->starts[column]++;
            out->indices[slot] = row;
            out->values[slot] = matrix->values[k];
        }
    }
}

snwResult snwSparse_Full(snwContext* context, const snwSparse* matrix, snwSparse* out, snwMessage* message)
{
    int64_t count = FullCount(matrix);
    *out = (snwSparse){0};
    if (count > INT_MAX || !AllocSparse(context, matrix->rows, matrix->columns, (int)count, out))
    {
        snwSparse_Free(context, out);
        return snwFailMemory(message);
    }

    // An entry below the diagonal counts in its own row and in the mirrored one.
    for (int row = 0; row < matrix->rows; ++row)
    {
        out->starts[row + 1] += matrix->starts[row + 1] - matrix->starts[row];
        for (int k = matrix->starts[row]; matrix->symmetric && k < matrix->starts[row + 1]; ++k)
            out->starts[matrix->indices[k] + 1] += matrix->indices[k] != row;
    }

    SumStarts(out->starts, out->rows);
    FillFull(matrix, out);
    ShiftStarts(out->starts, out->rows);
    return snw_ok;
}

static snwResult CheckSparseRow(const snwSparse* matrix, int row, snwMessage* message)
{
    int limit = matrix->symmetric ? row + 1 : matrix->columns;
    for (int k = matrix->starts[row], before = -1; k < matrix->starts[row + 1]; before = matrix->indices[k++])
    {
        if (matrix->indices[k] <= before || matrix->indices[k] >= limit)
            return snwFail(message, snw_errorInput, "sort the columns; of a symmetric matrix give the lower triangle",
                "row %d has column %d after %d", row, matrix->indices[k], before);
        if (!(matrix->values[k] - matrix->values[k] == 0)) // not finite
            return snwFail(
                message, snw_errorInput, NULL, "entry (%d, %d) is not a finite number", row, matrix->indices[k]);
    }
    return snw_ok;
}

snwResult snwSparse_Check(const snwSparse* matrix, snwMessage* message)
{
    if (matrix->rows < 0 || matrix->columns < 0 || (matrix->symmetric && matrix->rows != matrix->columns))
        return snwFail(message, snw_errorInput, NULL, "a matrix cannot be %d x %d", matrix->rows, matrix->columns);
    if (matrix->starts[0] != 0)
        return snwFail(message, snw_errorInput, NULL, "the first row starts at %d", matrix->starts[0]);
    for (int row = 0; row < matrix->rows; ++row)
        if (matrix->starts[row + 1] < matrix->starts[row])
            return snwFail(message, snw_errorInput, NULL, "row %d ends before it starts", row);
    snwResult result = snw_ok;
    for (int row = 0; row < matrix->rows && result >= 0; ++row)
        result = CheckSparseRow(matrix, row, message);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Patterns

struct snwPattern
{
    snwContext* context;
    snwSparse matrix;
    int count;       // contributions
    int* slots;      // [count] -1: dropped
    int* partStarts; // [entries + 1]
    int* parts;      // contributions of each entry, rising
};

void snwPattern_Destroy(snwPattern* pattern)
{
    if (pattern == NULL)
        return;
    snwContext* context = pattern->context;
    snwSparse_Free(context, &pattern->matrix);
    snwFree(context, pattern->slots);
    snwFree(context, pattern->partStarts);
    snwFree(context, pattern->parts);
    snwFree(context, pattern);
}

snwSparse* snwPattern_Matrix(snwPattern* pattern)
{
    return &pattern->matrix;
}

int snwPattern_Slot(const snwPattern* pattern, int contribution)
{
    assert(contribution >= 0 && contribution < pattern->count);
    return pattern->slots[contribution];
}

// A contribution's place, folded into the lower triangle; row -1 if it is dropped. Numbers past count are the
// diagonal, which def->diagonal asks for.
typedef struct Place
{
    int row, column;
} Place;

static Place PlaceOfEntry(const snwPatternDef* def, int k)
{
    if (k >= def->count)
        return (Place){k - def->count, k - def->count};
    int row = def->rowOf[k], column = def->columnOf[k];
    if (row < 0 || column < 0)
        return (Place){-1, -1};
    return def->symmetric && column > row ? (Place){column, row} : (Place){row, column};
}

static snwResult CheckPatternDef(const snwPatternDef* def, int64_t total, snwMessage* message)
{
    if (def->rows < 0 || def->columns < 0 || def->count < 0 || total > INT_MAX)
        return snwFail(message, snw_errorInput, NULL, "a pattern of %d x %d with %d contributions is out of range",
            def->rows, def->columns, def->count);
    if ((def->symmetric || def->diagonal) && def->rows != def->columns)
        return snwFail(message, snw_errorInput, NULL, "%d x %d is not square", def->rows, def->columns);
    for (int k = 0; k < def->count; ++k)
        if (def->rowOf[k] >= def->rows || def->columnOf[k] >= def->columns)
            return snwFail(message, snw_errorInput, NULL, "contribution %d is at (%d, %d) of a %d x %d matrix", k,
                def->rowOf[k], def->columnOf[k], def->rows, def->columns);
    return snw_ok;
}

// Stable counting sort of `in` (or 0 .. total - 1 if NULL) by row or column; returns how many were kept.
static int SortByKey(const snwPatternDef* def, bool byRow, const int* in, int total, int* starts, int* out)
{
    int keys = byRow ? def->rows : def->columns;
    memset(starts, 0, ((size_t)keys + 1) * sizeof *starts);
    for (int i = 0; i < total; ++i)
    {
        // A negative row means an entry that is not stored.
        Place place = PlaceOfEntry(def, in != NULL ? in[i] : i);
        if (place.row >= 0)
            starts[(byRow ? place.row : place.column) + 1]++;
    }

    SumStarts(starts, keys);
    for (int i = 0; i < total; ++i)
    {
        int k = in != NULL ? in[i] : i;
        Place place = PlaceOfEntry(def, k);
        if (place.row >= 0)
            out[starts[byRow ? place.row : place.column]++] = k;
    }

    return keys > 0 ? starts[keys - 1] : 0;
}

static int CountPatternEntries(const snwPatternDef* def, const int* sorted, int kept)
{
    int entries = 0;
    Place before = {-1, -1};
    for (int i = 0; i < kept; ++i)
    {
        Place place = PlaceOfEntry(def, sorted[i]);
        entries += place.row != before.row || place.column != before.column;
        before = place;
    }
    return entries;
}

static void FillPattern(const snwPatternDef* def, const int* sorted, int kept, snwPattern* pattern)
{
    snwSparse* matrix = &pattern->matrix;
    int entries = 0, parts = 0;
    Place before = {-1, -1};

    // Sorted by row and column, so equal places follow each other and make one entry; entries of the diagonal that
    // nobody contributes to have no part.
    for (int i = 0; i < kept; ++i)
    {
        Place place = PlaceOfEntry(def, sorted[i]);
        if (place.row != before.row || place.column != before.column)
        {
            pattern->partStarts[entries] = parts;
            matrix->starts[place.row + 1]++;
            matrix->indices[entries++] = place.column;
        }

        before = place;
        if (sorted[i] >= def->count)
            continue;
        pattern->parts[parts++] = sorted[i];
        pattern->slots[sorted[i]] = entries - 1;
    }

    pattern->partStarts[entries] = parts;
    SumStarts(matrix->starts, matrix->rows);
}

static bool FillMirror(snwContext* context, snwSparse* matrix)
{
    int n = matrix->rows;
    size_t count = (size_t)snwSparse_Count(matrix);
    matrix->mirrorStarts = snwAllocArray(context, (size_t)n + 1, sizeof *matrix->mirrorStarts);
    matrix->mirrorIndices = snwAllocArray(context, count, sizeof *matrix->mirrorIndices);
    matrix->mirrorSlots = snwAllocArray(context, count, sizeof *matrix->mirrorSlots);
    if (matrix->mirrorStarts == NULL || matrix->mirrorIndices == NULL || matrix->mirrorSlots == NULL)
        return false;

    // By column: for each entry below the diagonal, where it is in the mirrored row.
    for (int row = 0; row < n; ++row)
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
            matrix->mirrorStarts[matrix->indices[k] + 1] += matrix->indices[k] != row;
    SumStarts(matrix->mirrorStarts, n);

    for (int row = 0; row < n; ++row)
    {
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
        {
            if (matrix->indices[k] == row)
                continue;
            int slot = matrix->mirrorStarts[matrix->indices[k]]++;
            matrix->mirrorIndices[slot] = row;
            matrix->mirrorSlots[slot] = k;
        }
    }

    ShiftStarts(matrix->mirrorStarts, n);
    return true;
}

static bool BuildPattern(snwContext* context, const snwPatternDef* def, int total, snwPattern* pattern)
{
    int keys = def->rows > def->columns ? def->rows : def->columns;
    int* starts = snwAllocArray(context, (size_t)keys + 1, sizeof *starts);
    int* byColumn = snwAllocArray(context, (size_t)total, sizeof *byColumn);
    int* sorted = snwAllocArray(context, (size_t)total, sizeof *sorted);
    bool good = starts != NULL && byColumn != NULL && sorted != NULL;

    if (good)
    {
        // By column, then by row: two stable counting sorts.
        int kept = SortByKey(def, false, NULL, total, starts, byColumn);
        kept = SortByKey(def, true, byColumn, kept, starts, sorted);
        int entries = CountPatternEntries(def, sorted, kept);
        pattern->slots = snwAllocArray(context, (size_t)def->count, sizeof *pattern->slots);
        pattern->parts = snwAllocArray(context, (size_t)def->count, sizeof *pattern->parts);
        pattern->partStarts = snwAllocArray(context, (size_t)entries + 1, sizeof *pattern->partStarts);
        good = AllocSparse(context, def->rows, def->columns, entries, &pattern->matrix) && pattern->slots != NULL &&
               pattern->parts != NULL && pattern->partStarts != NULL;

        if (good)
        {
            memset(pattern->slots, -1, (size_t)def->count * sizeof *pattern->slots);
            FillPattern(def, sorted, kept, pattern);
            pattern->matrix.symmetric = def->symmetric;
            good = !def->symmetric || FillMirror(context, &pattern->matrix);
        }
    }

    snwFree(context, starts);
    snwFree(context, byColumn);
    snwFree(context, sorted);
    return good;
}

snwResult snwPattern_Create(snwContext* context, const snwPatternDef* def, snwPattern** out, snwMessage* message)
{
    *out = NULL;
    int64_t total = (int64_t)def->count + (def->diagonal ? def->rows : 0);
    snwResult result = CheckPatternDef(def, total, message);
    if (result < 0)
        return result;
    snwPattern* pattern = snwAlloc(context, sizeof *pattern);
    if (pattern == NULL)
        return snwFailMemory(message);

    // Entries of the same place share a number; the diagonal may be added by the pattern itself.
    pattern->context = context;
    pattern->count = def->count;
    if (!BuildPattern(context, def, (int)total, pattern))
    {
        snwPattern_Destroy(pattern);
        return snwFailMemory(message);
    }

    *out = pattern;
    return snw_ok;
}

static void ListElementPairs(const snwElementPatternDef* def, int* rowOf, int* columnOf)
{
    for (int e = 0, k = 0; e < def->elementCount; ++e)
    {
        const int* nodes = def->nodes + (size_t)e * (size_t)def->size;
        for (int a = 0; a < def->size; ++a)
            for (int b = 0; b <= a; ++b, ++k)
                rowOf[k] = nodes[a], columnOf[k] = nodes[b];
    }
}

snwResult snwPattern_CreateFromElements(
    snwContext* context, const snwElementPatternDef* def, snwPattern** out, snwMessage* message)
{
    *out = NULL;
    int64_t pairs = (int64_t)def->size * (def->size + 1) / 2, count = pairs * def->elementCount;
    if (def->size < 1 || def->size > sparse_maxElementSize || def->elementCount < 0 || count > INT_MAX)
        return snwFail(
            message, snw_errorInput, NULL, "%d elements of %d nodes are out of range", def->elementCount, def->size);
    int* places = snwAllocArray(context, 2 * (size_t)count, sizeof *places);
    if (places == NULL)
        return snwFailMemory(message);

    // Every pair of an element's nodes contributes one entry.
    ListElementPairs(def, places, places + count);
    snwPatternDef list = {.rows = def->nodeCount,
        .columns = def->nodeCount,
        .symmetric = true,
        .diagonal = true,
        .count = (int)count,
        .rowOf = places,
        .columnOf = places + count};
    snwResult result = snwPattern_Create(context, &list, out, message);
    snwFree(context, places);

    return result;
}

typedef struct Assembly
{
    const snwPattern* pattern;
    const double* contributions;
    bool add;
} Assembly;

static void AssembleSlots(int begin, int end, void* data)
{
    const Assembly* assembly = data;
    const snwPattern* pattern = assembly->pattern;
    for (int slot = begin; slot < end; ++slot)
    {
        double sum = assembly->add ? pattern->matrix.values[slot] : 0;
        for (int k = pattern->partStarts[slot]; k < pattern->partStarts[slot + 1]; ++k)
            sum += assembly->contributions[pattern->parts[k]];
        pattern->matrix.values[slot] = sum;
    }
}

void snwPattern_Assemble(snwPattern* pattern, const double* contributions)
{
    Assembly assembly = {.pattern = pattern, .contributions = contributions};
    snwParallelFor(pattern->context, snwSparse_Count(&pattern->matrix), sparse_slotGrain, AssembleSlots, &assembly);
}

void snwPattern_Add(snwPattern* pattern, const double* contributions)
{
    Assembly assembly = {.pattern = pattern, .contributions = contributions, .add = true};
    snwParallelFor(pattern->context, snwSparse_Count(&pattern->matrix), sparse_slotGrain, AssembleSlots, &assembly);
}
