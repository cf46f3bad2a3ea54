// The edges, tets and triangles of a character coloured and put into blocks of eight, once, when a method prepares
// its model. Greedy colouring in the order of the mesh: the same colours on every machine.

#include "sim/constraints/blocks.h"
#include "base/result.h"

#include <string.h>

enum
{
    snw_maxColours = 1024,
    snw_sweepColours = 64, // in one go
    snw_sweepGrain = 32,   // blocks: a microsecond of visits
    snw_aloneBlocks = 96,  // a colour with fewer is not worth another thread
};

// Greedy colouring: each constraint takes the first colour that none of its vertices has yet. `used` holds a bit set
// of 64 colours per vertex; further colours are tried in further rounds over what is left.
static int ColourRound(const int* constraints, int arity, int count, uint64_t* used, int* colour, int base)
{
    int left = 0;
    for (int i = 0; i < count; ++i)
    {
        if (colour[i] >= 0)
            continue;
        uint64_t taken = 0;
        for (int k = 0; k < arity; ++k)
            taken |= used[constraints[arity * i + k]];

        // All 64 of this round are taken.
        if (taken == UINT64_MAX)
        {
            left++;
            continue;
        }

        // The lowest colour that none of its vertices has.
        int free = __builtin_ctzll(~taken);
        colour[i] = base + free;
        for (int k = 0; k < arity; ++k)
            used[constraints[arity * i + k]] |= 1ull << free;
    }

    return left;
}

static snwResult Colour(snwContext* context, const int* constraints, int arity, int count, int vertexCount, int* colour)
{
    uint64_t* used = snwAllocArray(context, (size_t)vertexCount, sizeof *used);
    if (used == NULL)
        return snw_errorMemory;
    memset(colour, -1, (size_t)count * sizeof *colour);
    int left = count;
    for (int base = 0; left > 0 && base < snw_maxColours; base += 64)
    {
        memset(used, 0, (size_t)vertexCount * sizeof *used);
        left = ColourRound(constraints, arity, count, used, colour, base);
    }
    snwFree(context, used);
    return left > 0 ? snw_errorUnsupported : snw_ok;
}

// Counts constraints per colour and gives each its place: blocks of eight, every colour starting a new block.
static int PlaceInBlocks(snwArena* arena, const int* colour, int count, snwColours* colours, int* place)
{
    int* sizes = snwAllocArray(arena->context, snw_maxColours, sizeof *sizes);
    if (sizes == NULL)
        return -1;

    // How many there are of each colour.
    for (int i = 0; i < count; ++i)
    {
        sizes[colour[i]]++;
        colours->count = colour[i] >= colours->count ? colour[i] + 1 : colours->count;
    }

    // Whole blocks: lanes of one block are of one colour.
    colours->starts = snwArena_Alloc(arena, (size_t)colours->count + 1, sizeof *colours->starts);
    int blocks = 0;
    for (int c = 0; colours->starts != NULL && c < colours->count; ++c)
    {
        colours->starts[c] = blocks;
        blocks += (sizes[c] + snw_blockLanes - 1) / snw_blockLanes;
        sizes[c] = colours->starts[c] * snw_blockLanes; // from here on: the next free place
    }

    // Each constraint's place, in the order of the mesh within its colour.
    if (colours->starts != NULL)
    {
        colours->starts[colours->count] = blocks;
        for (int i = 0; i < count; ++i)
            place[i] = sizes[colour[i]]++;
    }

    snwFree(arena->context, sizes);
    return colours->starts != NULL ? blocks : -1;
}

static void FillEdgeBlocks(snwBlocks* blocks, const snwCharacter* character)
{
    const snwVec3* x = character->def.vertices;
    for (int i = 0; i < character->edgeCount; ++i)
    {
        snwEdgeBlock* block = &blocks->edges[blocks->edgePlaces[i] / snw_blockLanes];
        int lane = blocks->edgePlaces[i] % snw_blockLanes;
        const int* edge = character->edges[i];
        block->index[0][lane] = edge[0];
        block->index[1][lane] = edge[1];
        block->rest[lane] = (float)snwVec3_Distance(x[edge[0]], x[edge[1]]);
    }
}

static void FillTetBlocks(snwBlocks* blocks, const snwCharacter* character)
{
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        snwTetBlock* block = &blocks->tets[blocks->tetPlaces[i] / snw_blockLanes];
        int lane = blocks->tetPlaces[i] % snw_blockLanes;
        for (int k = 0; k < 4; ++k)
            block->index[k][lane] = character->def.tets[i][k];
        block->rest[lane] = (float)(6.0 * character->restVolumes[i]);
    }
}

// Every lane points to its own spare vertex until a constraint takes it.
static void PointToSpares(int* index, int arity, size_t stride, int blocks, int vertexCount)
{
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < arity * snw_blockLanes; ++i)
            ((int*)((char*)index + (size_t)b * stride))[i] = vertexCount + i % snw_blockLanes;
}

typedef struct Constraints
{
    const int* vertices;
    int arity, count;
    size_t blockSize;
} Constraints;

static snwResult PlaceConstraints(
    snwArena* arena, const Constraints* what, int vertexCount, snwColours* colours, int* places, int* blocks)
{
    int* colour = snwAllocArray(arena->context, (size_t)what->count, sizeof *colour);
    snwResult result = colour == NULL
                           ? snw_errorMemory
                           : Colour(arena->context, what->vertices, what->arity, what->count, vertexCount, colour);
    *blocks = result < 0 ? 0 : PlaceInBlocks(arena, colour, what->count, colours, places);
    snwFree(arena->context, colour);
    return *blocks < 0 ? snw_errorMemory : result;
}

static void* MakeLawBlocks(snwArena* arena, const Constraints* what, int blocks, int vertexCount)
{
    void* memory = snwArena_Alloc(arena, (size_t)blocks, what->blockSize);
    if (memory != NULL)
        PointToSpares(memory, what->arity, what->blockSize, blocks, vertexCount);
    return memory;
}

snwResult snwBlocks_Make(snwArena* arena, const snwCharacter* character, snwBlocks* blocks, snwMessage* message)
{
    const snwCharacterDef* def = &character->def;

    Constraints edges = {(const int*)character->edges, 2, character->edgeCount, sizeof *blocks->edges};
    Constraints tets = {(const int*)def->tets, 4, def->tetCount, sizeof *blocks->tets};
    Constraints triangles = {(const int*)def->triangles, 3, def->triangleCount, 0};

    *blocks = (snwBlocks){.vertexCount = def->vertexCount};

    // Where each constraint went, for those who fill blocks of their own.
    blocks->edgePlaces = snwArena_Alloc(arena, (size_t)edges.count + 1, sizeof *blocks->edgePlaces);
    blocks->tetPlaces = snwArena_Alloc(arena, (size_t)tets.count + 1, sizeof *blocks->tetPlaces);
    blocks->trianglePlaces = snwArena_Alloc(arena, (size_t)triangles.count + 1, sizeof *blocks->trianglePlaces);

    // Each kind has colours of its own; a vertex with too many constraints of one kind is an error.
    snwResult result = arena->failed ? snw_errorMemory : snw_ok;
    if (result == snw_ok)
        result = PlaceConstraints(arena, &triangles, def->vertexCount, &blocks->triangleColours, blocks->trianglePlaces,
            &blocks->triangleBlocks);
    if (result == snw_ok)
        result = PlaceConstraints(
            arena, &edges, def->vertexCount, &blocks->edgeColours, blocks->edgePlaces, &blocks->edgeBlocks);
    if (result == snw_ok)
        result = PlaceConstraints(
            arena, &tets, def->vertexCount, &blocks->tetColours, blocks->tetPlaces, &blocks->tetBlocks);

    if (result == snw_ok)
    {
        // Lanes that nobody takes point to spare vertices.
        blocks->edges = MakeLawBlocks(arena, &edges, blocks->edgeBlocks, def->vertexCount);
        blocks->tets = MakeLawBlocks(arena, &tets, blocks->tetBlocks, def->vertexCount);
        result = arena->failed ? snw_errorMemory : snw_ok;
    }

    if (result == snw_errorMemory)
        return snwFailMemory(message);
    if (result < 0)
        return snwFail(message, result, "simplify the mesh", "a vertex has too many tets or triangles");
    FillEdgeBlocks(blocks, character);
    FillTetBlocks(blocks, character);

    return snw_ok;
}

static void SweepColours(snwContext* context, const snwColours* colours, bool backward, snwRangeFn* visit, void* data)
{
    snwPhase phases[snw_sweepColours];
    for (int first = 0; first < colours->count; first += snw_sweepColours)
    {
        int count = colours->count - first < snw_sweepColours ? colours->count - first : snw_sweepColours;
        for (int i = 0; i < count; ++i)
        {
            int colour = backward ? colours->count - 1 - first - i : first + i;
            int begin = colours->starts[colour], end = colours->starts[colour + 1];
            int grain = end - begin < snw_aloneBlocks ? snw_aloneBlocks : snw_sweepGrain;
            phases[i] = (snwPhase){visit, data, begin, end, grain};
        }
        snwParallelPhases(context, phases, count);
    }
}

void snwColours_Sweep(snwContext* context, const snwColours* colours, snwRangeFn* visit, void* data)
{
    SweepColours(context, colours, false, visit, data);
}

void snwColours_SweepBack(snwContext* context, const snwColours* colours, snwRangeFn* visit, void* data)
{
    SweepColours(context, colours, true, visit, data);
}
