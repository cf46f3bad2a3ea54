// Weights as sparse rows: from lists of files or solvers, sorted, merged, cut to the heaviest and summing to one;
// pruned, checked and read. Rows that files give badly are repaired and counted.

#include "rig/weights.h"
#include "base/result.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const double s_unity = 1e-6;  // how far a sum may be from one
static const double s_repair = 1e-4; // from where on a row counts as repaired: files keep weights in bytes

// The struct and its arrays in one block, so that one call frees it.
static snwWeights* NewWeights(snwContext* context, int vertexCount, int handleCount, int entryCount)
{
    size_t values = (sizeof(snwWeights) + 63) / 64 * 64, starts = values + (size_t)entryCount * sizeof(double);
    size_t handles = starts + ((size_t)vertexCount + 1) * sizeof(int);
    char* block = snwAlloc(context, handles + (size_t)entryCount * sizeof(int));
    if (block == NULL)
        return NULL;
    *(snwWeights*)block = (snwWeights){
        .vertexCount = vertexCount,
        .handleCount = handleCount,
        .starts = (int*)(block + starts),
        .handles = (int*)(block + handles),
        .values = (double*)(block + values),
    };
    return (snwWeights*)block;
}

// ---------------------------------------------------------------------------------------------------------------------
// One row

typedef struct Entry
{
    int handle;
    double value;
} Entry;

// Heaviest first, or by handle. Rows are short and mostly sorted already; a row of a thousand costs a millisecond.
static bool ComesBefore(const Entry* a, const Entry* b, bool byWeight)
{
    if (byWeight && a->value != b->value)
        return a->value > b->value;
    return a->handle < b->handle;
}

static void SortRow(Entry* row, int count, bool byWeight)
{
    for (int i = 1; i < count; ++i)
    {
        Entry entry = row[i];
        int k = i;
        for (; k > 0 && ComesBefore(&entry, &row[k - 1], byWeight); --k)
            row[k] = row[k - 1];
        row[k] = entry;
    }
}

static int MergeRow(Entry* row, int count)
{
    int kept = 0;
    SortRow(row, count, false);
    for (int i = 0; i < count; ++i)
    {
        if (kept > 0 && row[kept - 1].handle == row[i].handle)
            row[kept - 1].value += row[i].value;
        else
            row[kept++] = row[i];
    }
    return kept;
}

static double SumRow(const Entry* row, int count)
{
    double sum = 0;
    for (int i = 0; i < count; ++i)
        sum += row[i].value;
    return sum;
}

// At least the heaviest stays. The last rounding of the sum goes to the heaviest entry, where it matters least.
static int ThinRow(Entry* row, int count, double least, int influences)
{
    double sum = SumRow(row, count);
    SortRow(row, count, true);
    int kept = influences > 0 && influences < count ? influences : count;
    while (kept > 1 && row[kept - 1].value < least * sum)
        --kept;
    sum = SumRow(row, kept);
    for (int i = 0; i < kept; ++i)
        row[i].value /= sum;
    row[0].value += 1.0 - SumRow(row, kept);
    while (kept > 1 && !(row[kept - 1].value > 0.0)) // the smallest of all doubles, divided
        --kept;
    SortRow(row, kept, false);
    return kept;
}

// ---------------------------------------------------------------------------------------------------------------------
// From lists

static int GatherWeightRow(const snwWeightLists* lists, int vertex, Entry* row, bool* odd)
{
    size_t first = (size_t)vertex * (size_t)lists->perVertex;
    int count = 0;
    for (int k = 0; k < lists->perVertex; ++k)
    {
        double value = lists->values[first + (size_t)k];
        int handle = lists->handles != NULL ? lists->handles[first + (size_t)k] : k;
        if (value == 0.0)
            continue;
        if (value > 0.0 && value <= 1e100)
            row[count++] = (Entry){handle, value};
        else
            *odd = true;
    }
    int merged = MergeRow(row, count);
    *odd = *odd || merged < count || fabs(SumRow(row, merged) - 1.0) > s_repair;
    return merged;
}

static snwResult CheckWeightRow(
    const snwWeightLists* lists, int vertex, const Entry* row, int count, snwMessage* message)
{
    if (count == 0)
        return snwFail(message, snw_errorArgument, "give it to a handle", "vertex %d has no weight at all", vertex);
    if (row[0].handle < 0 || row[count - 1].handle >= lists->handleCount)
        return snwFail(message, snw_errorArgument, NULL, "vertex %d follows handle %d of %d", vertex,
            row[0].handle < 0 ? row[0].handle : row[count - 1].handle, lists->handleCount);
    return snw_ok;
}

// Rows are made twice: to count, and to fill. That costs less than memory for the widest case.
static snwResult CountWeightEntries(
    const snwWeightLists* lists, Entry* row, int* total, int* repaired, snwMessage* message)
{
    size_t entries = 0;
    *repaired = 0;
    for (int i = 0; i < lists->vertexCount; ++i)
    {
        bool odd = false;
        int count = GatherWeightRow(lists, i, row, &odd);
        if (CheckWeightRow(lists, i, row, count, message) < 0)
            return snw_errorArgument;
        entries += (size_t)ThinRow(row, count, lists->least, lists->influences);
        *repaired += odd;
    }
    if (entries > INT32_MAX)
        return snwFail(message, snw_errorArgument, "ask for fewer influences", "%zu weights are too many", entries);
    *total = (int)entries;
    return snw_ok;
}

static void FillEntries(const snwWeightLists* lists, Entry* row, snwWeights* weights)
{
    int *starts = (int*)weights->starts, *handles = (int*)weights->handles, at = 0; // our own, of NewWeights
    double* values = (double*)weights->values;
    for (int i = 0; i < lists->vertexCount; ++i)
    {
        bool odd = false;
        int count = ThinRow(row, GatherWeightRow(lists, i, row, &odd), lists->least, lists->influences);
        for (int k = 0; k < count; ++k, ++at)
            handles[at] = row[k].handle, values[at] = row[k].value;
        starts[i + 1] = at;
    }
}

snwResult snwWeights_FromLists(
    snwContext* context, const snwWeightLists* lists, snwWeights** weights, int* repaired, snwMessage* message)
{
    *weights = NULL;
    Entry* row = snwAllocArray(context, (size_t)lists->perVertex + 1, sizeof *row);
    if (row == NULL)
        return snwFailMemory(message);
    int total = 0, odd = 0;
    snwResult result = CountWeightEntries(lists, row, &total, &odd, message);

    // Counted first; the struct and its arrays are one block.
    if (result == snw_ok)
    {
        *weights = NewWeights(context, lists->vertexCount, lists->handleCount, total);
        if (*weights != NULL)
            FillEntries(lists, row, *weights);
        else
            result = snwFailMemory(message);
    }

    snwFree(context, row);
    if (repaired != NULL)
        *repaired = odd;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// From weights

int snwWeights_MostInfluences(const snwWeights* weights)
{
    int most = 0;
    for (int i = 0; i < weights->vertexCount; ++i)
        most = weights->starts[i + 1] - weights->starts[i] > most ? weights->starts[i + 1] - weights->starts[i] : most;
    return most;
}

static int CopyWeightRow(const snwWeights* weights, int vertex, Entry* row)
{
    int first = weights->starts[vertex], count = weights->starts[vertex + 1] - first;
    for (int k = 0; k < count; ++k)
        row[k] = (Entry){weights->handles[first + k], weights->values[first + k]};
    return count;
}

snwResult snwWeights_Prune(snwContext* context, const snwWeights* weights, int influences, double least,
    snwWeights** pruned, snwMessage* message)
{
    Entry* row = snwAllocArray(context, (size_t)snwWeights_MostInfluences(weights) + 1, sizeof *row);
    *pruned = NewWeights(context, weights->vertexCount, weights->handleCount, weights->starts[weights->vertexCount]);

    // Room for all weights that there were: less is seldom much less.
    if (row == NULL || *pruned == NULL)
    {
        snwFree(context, row);
        snwFree(context, *pruned);
        *pruned = NULL;
        return snwFailMemory(message);
    }

    int *starts = (int*)(*pruned)->starts, *handles = (int*)(*pruned)->handles, at = 0; // our own
    double* values = (double*)(*pruned)->values;
    for (int i = 0; i < weights->vertexCount; ++i)
    {
        int count = ThinRow(row, CopyWeightRow(weights, i, row), least, influences);
        for (int k = 0; k < count; ++k, ++at)
            handles[at] = row[k].handle, values[at] = row[k].value;
        starts[i + 1] = at;
    }

    snwFree(context, row);
    return snw_ok;
}

static snwResult CheckEntries(const snwWeights* weights, int vertex, snwMessage* message)
{
    double sum = 0;
    int last = -1;

    // Rising handles, none twice; zeros are left out.
    for (int k = weights->starts[vertex]; k < weights->starts[vertex + 1]; ++k)
    {
        int handle = weights->handles[k];
        double value = weights->values[k];
        if (handle <= last || handle >= weights->handleCount)
            return snwFail(message, snw_errorArgument, "each handle once, in rising order",
                "weights of vertex %d name handle %d of %d after handle %d", vertex, handle, weights->handleCount,
                last);
        if (!(value > 0.0 && value <= 1.0))
            return snwFail(message, snw_errorArgument, "leave out zeros", "vertex %d has weight %g for handle %d",
                vertex, value, handle);
        last = handle;
        sum += value;
    }

    if (!(fabs(sum - 1.0) <= s_unity))
        return snwFail(
            message, snw_errorArgument, "divide them by their sum", "weights of vertex %d sum to %.9g", vertex, sum);
    return snw_ok;
}

snwResult snwWeights_Check(const snwWeights* weights, int vertexCount, int handleCount, snwMessage* message)
{
    if (weights->vertexCount != vertexCount || weights->handleCount != handleCount)
        return snwFail(message, snw_errorArgument, NULL, "weights are for %d vertices and %d handles, not %d and %d",
            weights->vertexCount, weights->handleCount, vertexCount, handleCount);
    if (weights->starts == NULL || weights->handles == NULL || weights->values == NULL || weights->starts[0] != 0)
        return snwFail(message, snw_errorArgument, NULL, "weights have no arrays, or do not start at 0");
    // All starts first: a row may only be read when it lies within the arrays.
    for (int i = 0; i < vertexCount; ++i)
        if (weights->starts[i + 1] < weights->starts[i] || weights->starts[i + 1] - weights->starts[i] > handleCount)
            return snwFail(message, snw_errorArgument, NULL, "weights of vertex %d go from %d to %d", i,
                weights->starts[i], weights->starts[i + 1]);
    for (int i = 0; i < vertexCount; ++i)
        if (CheckEntries(weights, i, message) < 0)
            return snw_errorArgument;
    return snw_ok;
}

double snwWeights_Get(const snwWeights* weights, int vertex, int handle)
{
    for (int k = weights->starts[vertex]; k < weights->starts[vertex + 1]; ++k)
        if (weights->handles[k] == handle)
            return weights->values[k];
    return 0.0;
}

uint64_t snwWeights_HandlesKey(const snwWeights* weights, int vertex)
{
    uint64_t key = 0;
    for (int k = 0; k < 4; ++k)
    {
        int at = weights->starts[vertex] + k;
        int handle = at < weights->starts[vertex + 1] ? weights->handles[at] + 1 : 0;
        key = key << 16 | (uint64_t)(handle < 0xffff ? handle : 0xffff);
    }
    return key;
}

snwWeightsMerge snwWeightsMerge_Start(const snwWeights* weights, const int rows[8])
{
    snwWeightsMerge merge = {.weights = weights};
    for (int lane = 0; lane < 8; ++lane)
        merge.next[lane] = weights->starts[rows[lane]], merge.end[lane] = weights->starts[rows[lane] + 1];
    return merge;
}

int snwWeightsMerge_Next(snwWeightsMerge* merge, double values[8])
{
    const int* handles = merge->weights->handles;
    int lowest = INT_MAX;
    for (int lane = 0; lane < 8; ++lane)
        if (merge->next[lane] < merge->end[lane] && handles[merge->next[lane]] < lowest)
            lowest = handles[merge->next[lane]];
    for (int lane = 0; lane < 8; ++lane)
    {
        bool has = merge->next[lane] < merge->end[lane] && handles[merge->next[lane]] == lowest;
        values[lane] = has ? merge->weights->values[merge->next[lane]] : 0;
        merge->next[lane] += has;
    }
    return lowest < INT_MAX ? lowest : -1;
}
