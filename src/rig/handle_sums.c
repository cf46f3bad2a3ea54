// The model of the two passes of handle_sums.h: vertices sorted by their handles, in blocks of eight, and blocks in
// chunks that threads take. Also the lengths that a handle's sums are judged against.

#include "rig/handle_sums.h"

#include "base/sort.h"
#include "base/tasks.h"
#include "math/cpu.h"
#include "rig/weights.h"

#include <string.h>

enum
{
    snw_leastChunkBlocks = 64, // smaller ones cost more to start and to add up than to sum
    snw_maxSumInfluences = 1 << 26
};

// ---------------------------------------------------------------------------------------------------------------------
// The model

// The vertices that count, *count of them, sorted by their handles. NULL: no memory.
static int* SortSumVertices(snwContext* context, const snwHandleSumsDef* def, int* count)
{
    int* order = snwAllocArray(context, (size_t)def->vertexCount, sizeof *order);
    uint64_t* keys = snwAllocArray(context, (size_t)def->vertexCount, sizeof *keys);
    bool sorted = order != NULL && keys != NULL;
    *count = 0;
    for (int i = 0; i < def->vertexCount && sorted; ++i)
    {
        if (def->held == NULL || def->held[i] == 0)
            order[*count] = i, keys[(*count)++] = snwWeights_HandlesKey(def->weights, i);
    }
    sorted = sorted && snwSortKeys(context, keys, order, *count);
    snwFree(context, keys);
    if (!sorted)
        snwFree(context, order);
    return sorted ? order : NULL;
}

static snwVec3 FindSumCentre(const snwHandleSumsDef* def)
{
    snwVec3 lower = def->rest[0], upper = def->rest[0];
    for (int i = 1; i < def->vertexCount; ++i)
        lower = snwVec3_Min(lower, def->rest[i]), upper = snwVec3_Max(upper, def->rest[i]);
    return snwVec3_Scale(snwVec3_Add(lower, upper), 0.5);
}

static void FillSumBlock(const snwHandleSumsDef* def, const snwHandleSums* sums, const int* order, int count, int index)
{
    snwSumBlock* block = &sums->blocks[index];
    for (int lane = 0; lane < SNW_SUM_LANES; ++lane)
    {
        int at = index * SNW_SUM_LANES + lane, vertex = order[at < count ? at : count - 1];
        snwVec3 y = snwVec3_Sub(def->rest[vertex], sums->centre);
        block->vertex[lane] = vertex;
        block->mass[lane] = at < count ? def->masses[vertex] : 0;
        block->position[0][lane] = y.x, block->position[1][lane] = y.y, block->position[2][lane] = y.z;
    }
}

// out NULL: only counts.
static int FillSumInfluences(const snwWeights* weights, const snwSumBlock* block, snwSumInfluence* out)
{
    double values[SNW_SUM_LANES];
    int count = 0, handle;
    snwWeightsMerge merge = snwWeightsMerge_Start(weights, block->vertex);
    for (; (handle = snwWeightsMerge_Next(&merge, values)) >= 0; ++count)
    {
        if (out != NULL)
            out[count].handle = handle, memcpy(out[count].weight, values, sizeof values);
    }
    return count;
}

static snwResult FillSums(
    snwContext* context, const snwHandleSumsDef* def, const int* order, int count, snwHandleSums* sums)
{
    int64_t total = 0;
    for (int i = 0; i < sums->blockCount && total <= snw_maxSumInfluences; ++i)
    {
        FillSumBlock(def, sums, order, count, i);
        sums->blocks[i].firstInfluence = (int)total;
        sums->blocks[i].influenceCount = FillSumInfluences(def->weights, &sums->blocks[i], NULL);
        total += sums->blocks[i].influenceCount;
    }
    if (total <= snw_maxSumInfluences)
        sums->influences = snwAllocArray(context, (size_t)total, sizeof *sums->influences);
    for (int i = 0; i < sums->blockCount && sums->influences != NULL; ++i)
        FillSumInfluences(def->weights, &sums->blocks[i], sums->influences + sums->blocks[i].firstInfluence);
    return sums->influences != NULL ? snw_ok : snw_errorMemory;
}

snwResult snwHandleSums_Create(
    snwContext* context, const snwHandleSumsDef* def, snwHandleSums* sums, snwMessage* message)
{
    int count = 0;
    *sums = (snwHandleSums){.handleCount = def->weights->handleCount};
    int* order = SortSumVertices(context, def, &count);
    sums->centre = FindSumCentre(def);
    sums->blockCount = count / SNW_SUM_LANES + (count % SNW_SUM_LANES > 0);
    int share = (sums->blockCount + snw_maxSumChunkCount - 1) / snw_maxSumChunkCount;
    sums->chunkBlocks = share > snw_leastChunkBlocks ? share : snw_leastChunkBlocks;
    sums->chunkCount = (sums->blockCount + sums->chunkBlocks - 1) / sums->chunkBlocks;
    sums->blocks = snwAllocArray(context, (size_t)sums->blockCount, sizeof *sums->blocks);
    bool made = order != NULL && sums->blocks != NULL && FillSums(context, def, order, count, sums) == snw_ok;
    snwFree(context, order);
    if (made)
        return snw_ok;
    snwHandleSums_Free(context, sums);
    return snwFailMemory(message);
}

void snwHandleSums_Free(snwContext* context, snwHandleSums* sums)
{
    snwFree(context, sums->blocks);
    snwFree(context, sums->influences);
    *sums = (snwHandleSums){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// The two passes

typedef struct Pass
{
    const snwHandleSums* sums;
    const snwSumKernels* kernels;
    const float* source;
    float* target;
    const double* maps;
    const snwVec3* origins;
    double* numbers; // of all chunks
} Pass;

// A chunk has 12 numbers per handle and one for all, of four lanes each.
static size_t SumChunkNumbers(const snwHandleSums* sums)
{
    return SNW_SUM_PARTS * ((size_t)snw_sumNumbers * (size_t)sums->handleCount + 1);
}

size_t snwHandleSums_ScratchCount(const snwHandleSums* sums)
{
    return SumChunkNumbers(sums) * (size_t)sums->chunkCount;
}

static snwSumRange RangeOfSumChunk(const snwHandleSums* sums, int chunk)
{
    int begin = chunk * sums->chunkBlocks, end = begin + sums->chunkBlocks;
    return (snwSumRange){sums, begin, end < sums->blockCount ? end : sums->blockCount};
}

// Ends with the lanes added up, one number after the other at the front.
static void GatherSumChunks(int begin, int end, void* data)
{
    const Pass* pass = data;
    size_t count = SumChunkNumbers(pass->sums);
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwSumRange range = RangeOfSumChunk(pass->sums, chunk);
        double* numbers = pass->numbers + (size_t)chunk * count;
        memset(numbers, 0, count * sizeof *numbers);
        pass->kernels->gather(&range, pass->source, numbers);
        for (size_t i = 0; i < count / SNW_SUM_PARTS; ++i)
        {
            const double* lanes = numbers + SNW_SUM_PARTS * i;
            numbers[i] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        }
    }
}

double snwHandleSums_Gather(
    snwContext* context, const snwHandleSums* sums, const float* u, double* scratch, double* out)
{
    Pass pass = {.sums = sums, .kernels = snwHandleSums_Kernels(context->simd), .source = u};
    pass.numbers = scratch;
    size_t stride = SumChunkNumbers(sums), count = (size_t)snw_sumNumbers * (size_t)sums->handleCount;
    snwParallelFor(context, sums->chunkCount, 1, GatherSumChunks, &pass);
    double square = 0;
    memset(out, 0, count * sizeof *out);
    for (int chunk = 0; chunk < sums->chunkCount; ++chunk)
    {
        const double* numbers = scratch + (size_t)chunk * stride;
        for (size_t i = 0; i < count; ++i)
            out[i] += numbers[i];
        square += numbers[count];
    }
    return square;
}

static void AddSumChunks(int begin, int end, void* data)
{
    const Pass* pass = data;
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwSumRange range = RangeOfSumChunk(pass->sums, chunk);
        pass->kernels->add(&range, pass->maps, pass->target);
    }
}

void snwHandleSums_Add(snwContext* context, const snwHandleSums* sums, const double* maps, float* u)
{
    Pass pass = {.sums = sums, .kernels = snwHandleSums_Kernels(context->simd), .maps = maps};
    pass.target = u;
    snwParallelFor(context, sums->chunkCount, 1, AddSumChunks, &pass);
}

static void AddLengths(
    const snwSumBlock* block, const snwSumInfluence* influence, snwVec3 origin, const double* lengths, double* out)
{
    const double *x = block->position[0], *y = block->position[1], *z = block->position[2];
    for (int lane = 0; lane < SNW_SUM_LANES; ++lane)
    {
        snwVec3 arm = {x[lane] - origin.x, y[lane] - origin.y, z[lane] - origin.z};
        double share = influence->weight[lane] * lengths[lane];
        out[0] += share;
        out[1] += share * snwVec3_Length(arm);
    }
}

static void MeasureChunks(int begin, int end, void* data)
{
    const Pass* pass = data;
    const snwHandleSums* sums = pass->sums;
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwSumRange range = RangeOfSumChunk(sums, chunk);
        double *numbers = pass->numbers + (size_t)chunk * SumChunkNumbers(sums), lengths[SNW_SUM_LANES];
        memset(numbers, 0, 2 * (size_t)sums->handleCount * sizeof *numbers);
        for (int i = range.begin; i < range.end; ++i)
        {
            // Mass times length of each vertex, shared out by weights.
            const snwSumBlock* block = &sums->blocks[i];
            for (int lane = 0; lane < SNW_SUM_LANES; ++lane)
            {
                const float* u = pass->source + 4 * (size_t)block->vertex[lane];
                lengths[lane] = block->mass[lane] * snwVec3_Length((snwVec3){u[0], u[1], u[2]});
            }

            for (int k = block->firstInfluence; k < block->firstInfluence + block->influenceCount; ++k)
            {
                int handle = sums->influences[k].handle;
                snwVec3 origin = snwVec3_Sub(pass->origins[handle], sums->centre);
                AddLengths(block, &sums->influences[k], origin, lengths, numbers + 2 * (size_t)handle);
            }
        }
    }
}

void snwHandleSums_Lengths(snwContext* context, const snwHandleSums* sums, const snwVec3* origins, const float* u,
    double* scratch, double* out)
{
    Pass pass = {.sums = sums, .source = u, .origins = origins};
    pass.numbers = scratch;
    size_t count = 2 * (size_t)sums->handleCount;
    snwParallelFor(context, sums->chunkCount, 1, MeasureChunks, &pass);
    memset(out, 0, count * sizeof *out);
    for (int chunk = 0; chunk < sums->chunkCount; ++chunk)
        for (size_t i = 0; i < count; ++i)
            out[i] += scratch[(size_t)chunk * SumChunkNumbers(sums) + i];
}

const snwSumKernels* snwHandleSums_Kernels(snwSimd simd)
{
    const snwSumKernels* kernels = NULL;
    switch (snwSimd_Resolve(simd))
    {
        case snw_simdAvx2:
            kernels = snwHandleSums_KernelsAvx2();
            break;
        case snw_simdBase:
            kernels = snwHandleSums_KernelsBase();
            break;
        default:
            break;
    }
    return kernels != NULL ? kernels : snwHandleSums_KernelsScalar();
}
