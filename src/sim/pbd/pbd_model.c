// Preparing a character for pbd: constraints, colours, blocks.

#include "sim/pbd/pbd.h"

#include <string.h>

enum
{
    snw_maxColours = 1024
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
        if (taken == UINT64_MAX)
        {
            left++;
            continue;
        }
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
    for (int i = 0; i < count; ++i)
    {
        sizes[colour[i]]++;
        colours->count = colour[i] >= colours->count ? colour[i] + 1 : colours->count;
    }
    colours->starts = snwArena_Alloc(arena, (size_t)colours->count + 1, sizeof *colours->starts);
    int blocks = 0;
    for (int c = 0; colours->starts != NULL && c < colours->count; ++c)
    {
        colours->starts[c] = blocks;
        blocks += (sizes[c] + snw_pbdLanes - 1) / snw_pbdLanes;
        sizes[c] = colours->starts[c] * snw_pbdLanes; // from here on: the next free place
    }
    if (colours->starts != NULL)
    {
        colours->starts[colours->count] = blocks;
        for (int i = 0; i < count; ++i)
            place[i] = sizes[colour[i]]++;
    }
    snwFree(arena->context, sizes);
    return colours->starts != NULL ? blocks : -1;
}

static void FillEdgeBlocks(snwPbdModel* model, const snwCharacter* character, const int* place)
{
    const snwVec3* x = character->def.vertices;
    for (int i = 0; i < character->edgeCount; ++i)
    {
        snwPbdEdges* block = &model->edges[place[i] / snw_pbdLanes];
        int lane = place[i] % snw_pbdLanes;
        const int* edge = character->edges[i];
        block->index[0][lane] = edge[0];
        block->index[1][lane] = edge[1];
        block->rest[lane] = (float)snwVec3_Distance(x[edge[0]], x[edge[1]]);
    }
}

static void FillTetBlocks(snwPbdModel* model, const snwCharacter* character, const int* place)
{
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        snwPbdTets* block = &model->tets[place[i] / snw_pbdLanes];
        int lane = place[i] % snw_pbdLanes;
        for (int k = 0; k < 4; ++k)
            block->index[k][lane] = character->def.tets[i][k];
        block->rest[lane] = (float)(6.0 * character->restVolumes[i]);
        snwVec3 corners[4];
        for (int k = 0; k < 4; ++k)
            corners[k] = character->def.vertices[character->def.tets[i][k]];
        if (model->rests != NULL)
            snwNeoRest_Set(&model->rests[place[i] / snw_pbdLanes], lane, corners, character->restVolumes[i],
                character->def.regions[i]);
    }
}

// Every lane points to its own spare vertex until a constraint takes it.
static void PointToSpares(int* index, int arity, size_t stride, int blocks, int vertexCount)
{
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < arity * snw_pbdLanes; ++i)
            ((int*)((char*)index + (size_t)b * stride))[i] = vertexCount + i % snw_pbdLanes;
}

static snwResult MakeBlocks(snwPbdModel* model, const snwCharacter* character, bool tets, int* colour, int* place)
{
    snwArena* arena = &model->arena;
    int count = tets ? character->def.tetCount : character->edgeCount, arity = tets ? 4 : 2;
    const int* constraints = tets ? (const int*)character->def.tets : (const int*)character->edges;
    snwResult result = Colour(arena->context, constraints, arity, count, model->vertexCount, colour);
    if (result < 0)
        return result;
    snwColours* colours = tets ? &model->tetColours : &model->edgeColours;
    int blocks = PlaceInBlocks(arena, colour, count, colours, place);
    void* memory = blocks < 0
                       ? NULL
                       : snwArena_Alloc(arena, (size_t)blocks, tets ? sizeof *model->tets : sizeof *model->edges);
    if (memory == NULL)
        return snw_errorMemory;
    PointToSpares(memory, arity, tets ? sizeof *model->tets : sizeof *model->edges, blocks, model->vertexCount);
    if (tets && model->compliant)
        model->rests = snwArena_Alloc(arena, (size_t)blocks, sizeof *model->rests);
    if (tets)
        model->tets = memory, model->tetBlocks = blocks, FillTetBlocks(model, character, place);
    else
        model->edges = memory, FillEdgeBlocks(model, character, place);
    return arena->failed ? snw_errorMemory : snw_ok;
}

snwResult snwPbd_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    snwContext* context = def->context;
    const snwCharacter* character = def->character;
    int tetCount = character->def.tetCount, most = character->edgeCount > tetCount ? character->edgeCount : tetCount;
    snwPbdModel* model = snwAlloc(context, sizeof *model);
    int* colour = snwAllocArray(context, (size_t)most, sizeof *colour);
    int* place = snwAllocArray(context, (size_t)most, sizeof *place);
    snwResult result = model != NULL && colour != NULL && place != NULL ? snw_ok : snw_errorMemory;
    if (result == snw_ok)
    {
        model->arena.context = context;
        model->vertexCount = character->def.vertexCount;
        model->character = character;
        model->compliant = def->params[snw_sharedParamCount + snw_pbdLaw] == snw_pbdCompliant && tetCount > 0;
        result = MakeBlocks(model, character, false, colour, place);
        result = result < 0 ? result : MakeBlocks(model, character, true, colour, place);
    }
    snwFree(context, colour);
    snwFree(context, place);
    *out = model;
    if (result < 0)
    {
        snwPbd_DestroyModel(context, model);
        return result == snw_errorMemory ? snwFailMemory(message)
                                         : snwFail(message, result, "simplify the mesh", "a vertex has too many tets");
    }
    return snw_ok;
}

void snwPbd_DestroyModel(snwContext* context, void* data)
{
    snwPbdModel* model = data;
    if (model != NULL)
        snwArena_Free(&model->arena);
    snwFree(context, model);
}
