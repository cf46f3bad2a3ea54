#include "rig/rig_pass.h"

#include "base/sort.h"
#include "base/tasks.h"
#include "math/cpu.h"
#include "rig/weights.h"

#include <string.h>

enum
{
    snw_leastPassBlocks = 64, // of a chunk: smaller ones cost more to start and to add up than to sum
    snw_mostPassInfluences = 1 << 26
};

// ---------------------------------------------------------------------------------------------------------------------
// The model

// Sorted by their handles. NULL: no memory.
static int* SortVertices(snwContext* context, const snwRigPassDef* def)
{
    int* order = snwAllocArray(context, (size_t)def->vertexCount, sizeof *order);
    uint64_t* keys = snwAllocArray(context, (size_t)def->vertexCount, sizeof *keys);
    bool sorted = order != NULL && keys != NULL;
    for (int i = 0; i < def->vertexCount && sorted; ++i)
        order[i] = i, keys[i] = snwWeights_HandlesKey(def->weights, i);
    sorted = sorted && snwSortKeys(context, keys, order, def->vertexCount);
    snwFree(context, keys);
    if (!sorted)
        snwFree(context, order);
    return sorted ? order : NULL;
}

static snwVec3 FindCentre(const snwRigPassDef* def)
{
    snwVec3 lower = def->rest[0], upper = def->rest[0];
    for (int i = 1; i < def->vertexCount; ++i)
        lower = snwVec3_Min(lower, def->rest[i]), upper = snwVec3_Max(upper, def->rest[i]);
    return snwVec3_Scale(snwVec3_Add(lower, upper), 0.5);
}

// Lanes beyond the last vertex repeat it, and weigh nothing.
static void FillBlock(const snwRigPassDef* def, const snwRigPass* pass, const int* order, int index)
{
    for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
    {
        int at = index * SNW_PASS_LANES + lane, vertex = order[at < def->vertexCount ? at : def->vertexCount - 1];
        snwVec3 p = snwVec3_Sub(def->rest[vertex], pass->centre);
        double position[3] = {p.x, p.y, p.z};
        pass->blocks[index].vertex[lane] = vertex;
        pass->sumParts[index].mass[lane] = at < def->vertexCount ? def->masses[vertex] : 0;
        for (int d = 0; d < 3; ++d)
        {
            pass->sumParts[index].position[d][lane] = position[d];
            pass->blendParts[index].position[d][lane] = (float)position[d];
        }
    }
}

// first < 0: only counts.
static int FillInfluences(const snwWeights* weights, const snwRigPass* pass, const int* vertices, int first)
{
    double values[SNW_PASS_LANES];
    int count = 0, handle;
    snwWeightsMerge merge = snwWeightsMerge_Start(weights, vertices);
    for (; (handle = snwWeightsMerge_Next(&merge, values)) >= 0; ++count)
    {
        if (first < 0)
            continue;
        pass->handles[first + count] = handle;
        memcpy(pass->weights[first + count], values, sizeof values);
        for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
            pass->blendWeights[first + count][lane] = (float)values[lane];
    }
    return count;
}

static bool FillPass(snwContext* context, const snwRigPassDef* def, const int* order, snwRigPass* pass)
{
    int64_t total = 0;
    for (int i = 0; i < pass->blockCount && total <= snw_mostPassInfluences; ++i)
    {
        snwPassBlock* block = &pass->blocks[i];
        FillBlock(def, pass, order, i);
        block->first = (int)total;
        block->count = FillInfluences(def->weights, pass, block->vertex, -1);
        total += block->count;
    }
    if (total > snw_mostPassInfluences)
        return false;
    pass->handles = snwAllocArray(context, (size_t)total, sizeof *pass->handles);
    pass->weights = snwAllocArray(context, (size_t)total, sizeof *pass->weights);
    pass->blendWeights = snwAllocArray(context, (size_t)total, sizeof *pass->blendWeights);
    if (pass->handles == NULL || pass->weights == NULL || pass->blendWeights == NULL)
        return false;
    for (int i = 0; i < pass->blockCount; ++i)
        FillInfluences(def->weights, pass, pass->blocks[i].vertex, pass->blocks[i].first);
    return true;
}

snwResult snwRigPass_Create(snwContext* context, const snwRigPassDef* def, snwRigPass* pass, snwMessage* message)
{
    static const int numbers[] = {[snw_passFlat] = 4, [snw_passFlatAffine] = 6, [snw_passSolid] = 12};
    *pass = (snwRigPass){.kind = def->kind, .numbers = numbers[def->kind], .handleCount = def->weights->handleCount};
    pass->centre = FindCentre(def);
    pass->blockCount = (def->vertexCount + SNW_PASS_LANES - 1) / SNW_PASS_LANES;
    int share = (pass->blockCount + snw_mostPassChunks - 1) / snw_mostPassChunks;
    pass->chunkBlocks = share > snw_leastPassBlocks ? share : snw_leastPassBlocks;
    pass->chunkCount = (pass->blockCount + pass->chunkBlocks - 1) / pass->chunkBlocks;
    pass->blocks = snwAllocArray(context, (size_t)pass->blockCount, sizeof *pass->blocks);
    pass->sumParts = snwAllocArray(context, (size_t)pass->blockCount, sizeof *pass->sumParts);
    pass->blendParts = snwAllocArray(context, (size_t)pass->blockCount, sizeof *pass->blendParts);
    int* order = SortVertices(context, def);
    bool made = order != NULL && pass->blocks != NULL && pass->sumParts != NULL && pass->blendParts != NULL &&
                FillPass(context, def, order, pass);
    snwFree(context, order);
    if (made)
        return snw_ok;
    snwRigPass_Free(context, pass);
    return snwFailMemory(message);
}

void snwRigPass_Free(snwContext* context, snwRigPass* pass)
{
    snwFree(context, pass->blocks);
    snwFree(context, pass->sumParts);
    snwFree(context, pass->blendParts);
    snwFree(context, pass->handles);
    snwFree(context, pass->weights);
    snwFree(context, pass->blendWeights);
    *pass = (snwRigPass){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// The two passes

typedef struct Job
{
    const snwRigPass* pass;
    const snwPassKernels* kernels;
    const float* x;
    double* sums; // of all chunks
    const snwRigBlend* blend;
} Job;

static size_t ChunkNumbers(const snwRigPass* pass)
{
    return (size_t)SNW_PASS_PARTS * (size_t)pass->numbers * (size_t)pass->handleCount;
}

size_t snwRigPass_ScratchCount(const snwRigPass* pass)
{
    return ChunkNumbers(pass) * (size_t)pass->chunkCount;
}

static snwPassRange ChunkRange(const snwRigPass* pass, int chunk)
{
    int begin = chunk * pass->chunkBlocks, end = begin + pass->chunkBlocks;
    return (snwPassRange){pass, begin, end < pass->blockCount ? end : pass->blockCount};
}

static void GatherChunks(int begin, int end, void* data)
{
    const Job* job = data;
    size_t count = ChunkNumbers(job->pass);
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwPassRange range = ChunkRange(job->pass, chunk);
        double* sums = job->sums + (size_t)chunk * count;
        memset(sums, 0, count * sizeof *sums);
        job->kernels->gather(&range, job->x, sums);
    }
}

void snwRigPass_Gather(snwContext* context, const snwRigPass* pass, const float* x, double* scratch, double* out)
{
    Job job = {.pass = pass, .kernels = snwRigPass_Kernels(context->simd), .x = x};
    job.sums = scratch;
    size_t stride = ChunkNumbers(pass);
    snwParallelFor(context, pass->chunkCount, 1, GatherChunks, &job);
    for (int chunk = 1; chunk < pass->chunkCount; ++chunk)
        for (size_t i = 0; i < stride; ++i)
            scratch[i] += scratch[(size_t)chunk * stride + i];
    for (size_t i = 0; i < stride / SNW_PASS_PARTS; ++i)
    {
        const double* lanes = scratch + SNW_PASS_PARTS * i;
        out[i] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

static void BlendChunks(int begin, int end, void* data)
{
    const Job* job = data;
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwPassRange range = ChunkRange(job->pass, chunk);
        job->kernels->blend(&range, job->blend);
    }
}

void snwRigPass_Blend(snwContext* context, const snwRigPass* pass, const snwRigBlend* blend)
{
    Job job = {.pass = pass, .kernels = snwRigPass_Kernels(context->simd), .blend = blend};
    snwParallelFor(context, pass->chunkCount, 1, BlendChunks, &job);
}

const snwPassKernels* snwRigPass_Kernels(snwSimd simd)
{
    const snwPassKernels* kernels = NULL;
    switch (snwSimd_Resolve(simd))
    {
        case snw_simdAvx2:
            kernels = snwRigPass_KernelsAvx2();
            break;
        case snw_simdBase:
            kernels = snwRigPass_KernelsBase();
            break;
        default:
            break;
    }
    return kernels != NULL ? kernels : snwRigPass_KernelsScalar();
}
