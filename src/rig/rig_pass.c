// The model of the two passes of a rig fit: vertices in blocks of eight, blocks in tiles that stay in the cache, and
// for every tile the runs of weights by handle, so that a handle's sum is one loop. The passes themselves hand chunks
// of tiles to threads.

#include "rig/rig_pass.h"

#include "base/sort.h"
#include "base/tasks.h"
#include "math/cpu.h"
#include "math/simd.h"
#include "rig/weights.h"

#include <string.h>

enum
{
    snw_mostPassInfluences = 1 << 26,
    snw_flatChunk = 32, // groups at least
    snw_tileChunk = 16  // tiles at least: to clear and add up a chunk's sums costs as much as a tile
};

// ---------------------------------------------------------------------------------------------------------------------
// The model

// Whether, of eight vertices from this one on, one has all handles that any of them has.
static bool IsStraight(const snwRigPassDef* def, int vertex)
{
    int vertices[SNW_PASS_LANES], most = 0, all = 0;
    double values[SNW_PASS_LANES];
    if (vertex + SNW_PASS_LANES > def->vertexCount)
        return false;
    for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
    {
        int count = def->weights->starts[vertex + lane + 1] - def->weights->starts[vertex + lane];
        vertices[lane] = vertex + lane, most = count > most ? count : most;
    }
    snwWeightsMerge merge = snwWeightsMerge_Start(def->weights, vertices);
    while (snwWeightsMerge_Next(&merge, values) >= 0)
        ++all;
    return all == most;
}

// Vertices by blocks and lanes, first those of straight blocks. Returns how many those are.
static int OrderPassVertices(const snwRigPassDef* def, int* order)
{
    int straight = 0, others = def->vertexCount;
    for (int i = 0; i < def->vertexCount; i += SNW_PASS_LANES)
    {
        if (IsStraight(def, i))
            for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
                order[straight++] = i + snwWide_NextRow(lane);
        else
            for (int k = i + SNW_PASS_LANES < def->vertexCount ? i + SNW_PASS_LANES : def->vertexCount; k > i; --k)
                order[--others] = k - 1;
    }
    return straight;
}

// What is not straight is sorted by handles. NULL: no memory.
static int* SortPassVertices(snwContext* context, const snwRigPassDef* def, snwRigPass* pass)
{
    int* order = snwAllocArray(context, (size_t)def->vertexCount, sizeof *order);
    uint64_t* keys = snwAllocArray(context, (size_t)def->vertexCount, sizeof *keys);
    bool sorted = order != NULL && keys != NULL;
    int straight = sorted ? OrderPassVertices(def, order) : 0;
    for (int i = straight; i < def->vertexCount && sorted; ++i)
        keys[i] = snwWeights_HandlesKey(def->weights, order[i]);
    sorted = sorted && snwSortKeys(context, keys + straight, order + straight, def->vertexCount - straight);
    pass->straightCount = straight / SNW_PASS_LANES;
    snwFree(context, keys);
    if (!sorted)
        snwFree(context, order);
    return sorted ? order : NULL;
}

static snwVec3 FindPassCentre(const snwRigPassDef* def)
{
    snwVec3 lower = def->rest[0], upper = def->rest[0];
    for (int i = 1; i < def->vertexCount; ++i)
        lower = snwVec3_Min(lower, def->rest[i]), upper = snwVec3_Max(upper, def->rest[i]);
    return snwVec3_Scale(snwVec3_Add(lower, upper), 0.5);
}

static void FillPassBlock(const snwRigPassDef* def, const snwRigPass* pass, const int* order, int index)
{
    int left = def->vertexCount - index * SNW_PASS_LANES;
    pass->blocks[index].lanes = left < SNW_PASS_LANES ? left : SNW_PASS_LANES;
    for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
    {
        int at = index * SNW_PASS_LANES + lane, vertex = order[lane < left ? at : def->vertexCount - 1];
        snwVec3 p = snwVec3_Sub(def->rest[vertex], pass->centre);
        double position[3] = {p.x, p.y, p.z};
        pass->blocks[index].vertex[lane] = vertex;
        for (int d = 0; d < 3; ++d)
        {
            pass->sumParts[index].position[d][lane] = position[d];
            pass->floatParts[index].position[d][lane] = (float)position[d];
        }
    }
}

// Weights of a block, handle by handle. first < 0: only counts.
static int FillPassInfluences(const snwWeights* weights, const snwRigPass* pass, const int* vertices, int first)
{
    double values[SNW_PASS_LANES];
    int count = 0, handle;
    snwWeightsMerge merge = snwWeightsMerge_Start(weights, vertices);
    for (; (handle = snwWeightsMerge_Next(&merge, values)) >= 0; ++count)
    {
        if (first < 0)
            continue;
        pass->handles[first + count] = handle;
        for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
            pass->weights[first + count][lane] = (float)values[lane];
    }
    return count;
}

static int BlocksOf(const snwRigPass* pass, int tile)
{
    int left = pass->blockCount - tile * SNW_TILE_BLOCKS;
    return left < SNW_TILE_BLOCKS ? left : SNW_TILE_BLOCKS;
}

// The runs of a tile, handles rising, from `run` on; `places` counts for each handle. Returns the next free run.
static int StartRuns(const snwRigPass* pass, int tile, int run, int* places)
{
    const snwPassBlock* blocks = pass->blocks + (size_t)tile * SNW_TILE_BLOCKS;
    int at = blocks[0].first;
    memset(places, 0, (size_t)pass->handleCount * sizeof *places);
    for (int i = 0; i < BlocksOf(pass, tile); ++i)
        for (int k = blocks[i].first; k < blocks[i].first + blocks[i].count; ++k)
            places[pass->handles[k]]++;
    for (int handle = 0; handle < pass->handleCount; ++handle)
    {
        if (places[handle] > 0)
            pass->runs[run++] = (snwSumRun){.handle = handle, .first = at, .count = places[handle]};
        at += places[handle], places[handle] = at - places[handle];
    }
    return run;
}

// The same weights again, in double and times mass, run by run.
static void FillTile(const snwRigPassDef* def, const snwRigPass* pass, int tile, int* places)
{
    double values[SNW_PASS_LANES];
    for (int i = 0; i < BlocksOf(pass, tile); ++i)
    {
        const snwPassBlock* block = &pass->blocks[tile * SNW_TILE_BLOCKS + i];
        snwWeightsMerge merge = snwWeightsMerge_Start(def->weights, block->vertex);
        for (int handle; (handle = snwWeightsMerge_Next(&merge, values)) >= 0;)
        {
            int at = places[handle]++;
            pass->sumBlocks[at] = i;
            for (int lane = 0; lane < block->lanes; ++lane)
            {
                pass->sumWeights[at][lane] = values[lane] * def->masses[block->vertex[lane]];
                pass->sumFloats[at][lane] = (float)pass->sumWeights[at][lane];
            }
        }
    }
}

static void FillAnchor(const snwRigPass* pass, int tile, snwSumRun* run)
{
    for (int k = run->first; k < run->first + run->count; ++k)
    {
        const snwSumPart* part = &pass->sumParts[tile * SNW_TILE_BLOCKS + pass->sumBlocks[k]];
        for (int lane = 0; lane < SNW_PASS_LANES; ++lane)
        {
            for (int d = 0; d < 3; ++d)
                run->anchor[d] += pass->sumWeights[k][lane] * part->position[d][lane];
            run->anchor[3] += pass->sumWeights[k][lane];
        }
    }
}

static bool AllocPassInfluences(snwContext* context, snwRigPass* pass, size_t count)
{
    pass->handles = snwAllocArray(context, count, sizeof *pass->handles);
    pass->weights = snwAllocArray(context, count, sizeof *pass->weights);
    pass->tileRuns = snwAllocArray(context, (size_t)pass->tileCount + 1, sizeof *pass->tileRuns);
    pass->runs = snwAllocArray(context, count, sizeof *pass->runs);
    pass->sumBlocks = snwAllocArray(context, count, sizeof *pass->sumBlocks);
    pass->sumWeights = snwAllocArray(context, count, sizeof *pass->sumWeights);
    pass->sumFloats = snwAllocArray(context, count, sizeof *pass->sumFloats);
    return pass->handles != NULL && pass->weights != NULL && pass->tileRuns != NULL && pass->runs != NULL &&
           pass->sumBlocks != NULL && pass->sumWeights != NULL && pass->sumFloats != NULL;
}

static bool FillPass(snwContext* context, const snwRigPassDef* def, const int* order, snwRigPass* pass)
{
    // First count, so that memory is asked for once; too many influences are refused.
    int64_t total = 0;
    for (int i = 0; i < pass->blockCount && total <= snw_mostPassInfluences; ++i)
    {
        snwPassBlock* block = &pass->blocks[i];
        FillPassBlock(def, pass, order, i);
        block->first = (int)total;
        block->count = FillPassInfluences(def->weights, pass, block->vertex, -1);
        total += block->count;
    }

    int* places = snwAllocArray(context, (size_t)pass->handleCount, sizeof *places);
    bool made = total <= snw_mostPassInfluences && places != NULL && AllocPassInfluences(context, pass, (size_t)total);
    for (int i = 0; i < pass->blockCount && made; ++i)
        FillPassInfluences(def->weights, pass, pass->blocks[i].vertex, pass->blocks[i].first);

    // Tile by tile: runs of weights, and the anchors that sums begin with.
    for (int tile = 0; tile < pass->tileCount && made; ++tile)
    {
        pass->tileRuns[tile + 1] = StartRuns(pass, tile, pass->tileRuns[tile], places);
        FillTile(def, pass, tile, places);
        for (int run = pass->tileRuns[tile]; run < pass->tileRuns[tile + 1]; ++run)
            FillAnchor(pass, tile, &pass->runs[run]);
    }

    snwFree(context, places);
    return made;
}

static bool CreateTiles(snwContext* context, const snwRigPassDef* def, snwRigPass* pass)
{
    pass->blockCount = (def->vertexCount + SNW_PASS_LANES - 1) / SNW_PASS_LANES;
    pass->tileCount = (pass->blockCount + SNW_TILE_BLOCKS - 1) / SNW_TILE_BLOCKS;
    pass->blocks = snwAllocArray(context, (size_t)pass->blockCount, sizeof *pass->blocks);
    pass->sumParts = snwAllocArray(context, (size_t)pass->blockCount, sizeof *pass->sumParts);
    pass->floatParts = snwAllocArray(context, (size_t)pass->blockCount, sizeof *pass->floatParts);
    int* order = SortPassVertices(context, def, pass);
    bool made = order != NULL && pass->blocks != NULL && pass->sumParts != NULL && pass->floatParts != NULL &&
                FillPass(context, def, order, pass);
    snwFree(context, order);
    return made;
}

static bool CreateFlat(snwContext* context, const snwRigPassDef* def, snwRigPass* pass)
{
    snwFlatPassDef flat = {def->vertexCount, def->rest, def->masses, def->weights, def->moving, pass->centre};
    return snwFlatPass_Create(context, &flat, &pass->flat);
}

snwResult snwRigPass_Create(snwContext* context, const snwRigPassDef* def, snwRigPass* pass, snwMessage* message)
{
    static const int numbers[] = {[snw_passFlat] = SNW_FLAT_NUMBERS, [snw_passFlatAffine] = 6, [snw_passSolid] = 12};
    *pass = (snwRigPass){.kind = def->kind, .numbers = numbers[def->kind], .handleCount = def->weights->handleCount};
    pass->centre = FindPassCentre(def);
    bool flat = def->kind == snw_passFlat;
    if (!(flat ? CreateFlat(context, def, pass) : CreateTiles(context, def, pass)))
    {
        snwRigPass_Free(context, pass);
        return snwFailMemory(message);
    }
    int least = flat ? snw_flatChunk : snw_tileChunk;
    pass->itemCount = flat ? pass->flat.groupCount : pass->tileCount;
    pass->chunkItems = (pass->itemCount + snw_mostPassChunks - 1) / snw_mostPassChunks;
    pass->chunkItems = pass->chunkItems < least ? least : pass->chunkItems;
    pass->chunkCount = (pass->itemCount + pass->chunkItems - 1) / pass->chunkItems;
    return snw_ok;
}

void snwRigPass_Free(snwContext* context, snwRigPass* pass)
{
    snwFlatPass_Free(context, &pass->flat);
    snwFree(context, pass->blocks);
    snwFree(context, pass->sumParts);
    snwFree(context, pass->floatParts);
    snwFree(context, pass->handles);
    snwFree(context, pass->weights);
    snwFree(context, pass->tileRuns);
    snwFree(context, pass->runs);
    snwFree(context, pass->sumBlocks);
    snwFree(context, pass->sumWeights);
    snwFree(context, pass->sumFloats);
    *pass = (snwRigPass){0};
}

// ---------------------------------------------------------------------------------------------------------------------
// The two passes

typedef struct Job
{
    const snwRigPass* pass;
    const snwPassKernels* kernels;
    const snwRigFlesh* flesh;
    double* sums; // of all chunks
    const snwRigBlend* blend;
} Job;

// Lanes of a sum: one where sums are float at first.
static size_t PartsOf(const snwRigPass* pass, const snwRigFlesh* flesh)
{
    return pass->kind == snw_passFlat || flesh->moves != NULL ? 1 : SNW_PASS_PARTS;
}

static size_t PassChunkNumbers(const snwRigPass* pass, const snwRigFlesh* flesh)
{
    return PartsOf(pass, flesh) * (size_t)pass->numbers * (size_t)pass->handleCount;
}

size_t snwRigPass_ScratchCount(const snwRigPass* pass)
{
    return PassChunkNumbers(pass, &(snwRigFlesh){0}) * (size_t)pass->chunkCount;
}

static snwPassRange RangeOfPassChunk(const snwRigPass* pass, int chunk)
{
    int begin = chunk * pass->chunkItems, end = begin + pass->chunkItems;
    return (snwPassRange){pass, begin, end < pass->itemCount ? end : pass->itemCount};
}

static void GatherPassChunks(int begin, int end, void* data)
{
    const Job* job = data;
    size_t count = PassChunkNumbers(job->pass, job->flesh);
    for (int chunk = begin; chunk < end; ++chunk)
    {
        snwPassRange range = RangeOfPassChunk(job->pass, chunk);
        double* sums = job->sums + (size_t)chunk * count;
        memset(sums, 0, count * sizeof *sums);
        (job->pass->kind == snw_passFlat ? job->kernels->gatherFlat : job->kernels->gather)(&range, job->flesh, sums);
    }
}

void snwRigPass_Gather(
    snwContext* context, const snwRigPass* pass, const snwRigFlesh* flesh, double* scratch, double* out)
{
    Job job = {.pass = pass, .kernels = snwRigPass_Kernels(context->simd), .flesh = flesh};
    job.sums = scratch;
    size_t stride = PassChunkNumbers(pass, flesh), parts = PartsOf(pass, flesh);
    snwParallelFor(context, pass->chunkCount, 1, GatherPassChunks, &job);
    for (int chunk = 1; chunk < pass->chunkCount; ++chunk)
        for (size_t i = 0; i < stride; ++i)
            scratch[i] += scratch[(size_t)chunk * stride + i];
    if (parts == 1)
        memcpy(out, scratch, stride * sizeof *out);
    for (size_t i = 0; i < stride / SNW_PASS_PARTS && parts > 1; ++i)
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
        snwPassRange range = RangeOfPassChunk(job->pass, chunk);
        (job->pass->kind == snw_passFlat ? job->kernels->blendFlat : job->kernels->blend)(&range, job->blend);
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
