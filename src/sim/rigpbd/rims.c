// Spokes and rims (rims.h): gradients of the elements, which of them surround each vertex, and the rotation that fits
// them best, for many vertices at a time.

#include "sim/rigpbd/rims.h"

#include "base/context.h"
#include "math/rotation.h"

#include <string.h>

enum
{
    snw_turnGrain = 64 // blocks of eight
};

// ---------------------------------------------------------------------------------------------------------------------
// The mesh

static void SetRimGradients(snwRims* rims, const snwRimsDef* def, int element)
{
    const int* corners = snwElements_Corners(def->elements, element);
    const snwVec3* rest = def->rest;
    int d = rims->dimension;
    double* out = (double*)snwRims_Gradient(rims, element, 0);

    // Flat elements have the unit normal of the plane as their third edge.
    snwVec3 origin = rest[corners[0]], third = {0, 0, 1};

    if (d == 3)
        third = snwVec3_Sub(rest[corners[3]], origin);
    snwMat3 edges = snwMat3_FromColumns(
        snwVec3_Sub(rest[corners[1]], origin), snwVec3_Sub(rest[corners[2]], origin), third);

    snwMat3 inverse = snwMat3_Identity();
    snwMat3_Inverse(edges, &inverse);

    // Gradients of corners 1 to d are rows of the inverse; corner 0 has minus their sum.
    for (int j = 0; j < d; ++j)
    {
        out[j] = 0;
        for (int corner = 0; corner < d; ++corner)
        {
            out[(corner + 1) * d + j] = inverse.m[corner][j];
            out[j] -= inverse.m[corner][j];
        }
    }

    rims->volumes[element] = snwMat3_Determinant(edges) / (d == 3 ? 6.0 : 2.0);
    rims->volume += rims->volumes[element];
}

static void ListSlots(snwRims* rims)
{
    int count = rims->elements.count * rims->elements.arity;
    for (int slot = 0; slot < count; ++slot)
        rims->starts[rims->elements.corners[slot] + 1] += 1;
    for (int i = 0; i < rims->vertexCount; ++i)
        rims->starts[i + 1] += rims->starts[i];
    // Each start moves on to the next one's place while its list is filled, and is then taken from before it.
    for (int slot = 0; slot < count; ++slot)
        rims->slots[rims->starts[rims->elements.corners[slot]]++] = slot;
    memmove(rims->starts + 1, rims->starts, (size_t)rims->vertexCount * sizeof *rims->starts);
    rims->starts[0] = 0;
}

void snwRims_Create(snwArena* arena, const snwRimsDef* def, snwRims* rims)
{
    size_t elements = (size_t)def->elements.count, arity = (size_t)def->elements.arity;
    *rims = (snwRims){.dimension = def->elements.arity - 1, .vertexCount = def->vertexCount, .elements = def->elements};
    rims->gradients = snwArena_Alloc(arena, elements * arity * (arity - 1), sizeof *rims->gradients);
    rims->volumes = snwArena_Alloc(arena, elements, sizeof *rims->volumes);
    rims->starts = snwArena_Alloc(arena, (size_t)def->vertexCount + 1, sizeof *rims->starts);
    rims->slots = snwArena_Alloc(arena, elements * arity, sizeof *rims->slots);
    if (arena->failed)
        return;
    for (int i = 0; i < def->elements.count; ++i)
        SetRimGradients(rims, def, i);
    ListSlots(rims);
}

snwMat3 snwRims_Deformation(const snwRims* rims, int element, const snwVec3* x)
{
    const int* corners = snwElements_Corners(rims->elements, element);
    snwMat3 f = {{{0}}};
    for (int corner = 0; corner < rims->elements.arity; ++corner)
    {
        const double* g = snwRims_Gradient(rims, element, corner);
        snwVec3 p = x[corners[corner]];
        for (int j = 0; j < rims->dimension; ++j)
        {
            f.m[0][j] += p.x * g[j];
            f.m[1][j] += p.y * g[j];
            f.m[2][j] += p.z * g[j];
        }
    }
    return f;
}

snwMat3 snwRims_AroundVertex(const snwRims* rims, const snwMat3* deformations, int vertex)
{
    snwMat3 sum = {{{0}}};
    for (int i = rims->starts[vertex]; i < rims->starts[vertex + 1]; ++i)
    {
        int element = rims->slots[i] / rims->elements.arity;
        double share = rims->volumes[element] / rims->elements.arity;
        sum = snwMat3_Add(sum, snwMat3_Scale(deformations[element], share));
    }
    return sum;
}

// ---------------------------------------------------------------------------------------------------------------------
// Rotations

static int BlockCount(const snwTurns* turns)
{
    return (turns->count + SNW_ROTATION_LANES - 1) / SNW_ROTATION_LANES;
}

void snwTurns_Create(snwArena* arena, int dimension, int count, snwTurns* turns)
{
    *turns = (snwTurns){
        .dimension = dimension, .count = count, .kernels = snwRotation_Kernels(snwContext_Simd(arena->context))};
    if (dimension == 2)
        return;
    size_t blocks = (size_t)BlockCount(turns);
    turns->matrices = snwArena_Alloc(arena, blocks, sizeof *turns->matrices);
    turns->guesses = snwArena_Alloc(arena, blocks, sizeof *turns->guesses);
    turns->results = snwArena_Alloc(arena, blocks, sizeof *turns->results);
}

void snwTurns_Forget(snwTurns* turns)
{
    for (int block = 0; turns->dimension == 3 && block < BlockCount(turns); ++block)
        for (int lane = 0; lane < SNW_ROTATION_LANES; ++lane)
            for (int i = 0; i < 4; ++i)
                turns->guesses[block].q[i][lane] = i == 3 ? 1.0f : 0.0f;
}

typedef struct Search
{
    snwTurns* turns;
    const snwMat3* sums;
    snwMat3* rotations;
} Search;

// The angle that maximises tr(R^T S): tan = (S10 - S01) / (S00 + S11).
static snwMat3 FlatTurn(const snwMat3* s)
{
    snwVec3 along = snwVec3_Normalize((snwVec3){s->m[0][0] + s->m[1][1], s->m[1][0] - s->m[0][1], 0});
    if (along.x == 0 && along.y == 0)
        return snwMat3_Identity();
    return (snwMat3){{{along.x, -along.y, 0}, {along.y, along.x, 0}, {0, 0, 1}}};
}

static void FindBlocks(int begin, int end, void* data)
{
    const Search* search = data;
    snwTurns* turns = search->turns;
    int first = begin * SNW_ROTATION_LANES, last = end * SNW_ROTATION_LANES;
    last = last < turns->count ? last : turns->count;
    for (int i = first; i < last; ++i)
        for (int entry = 0; entry < 9; ++entry)
            turns->matrices[i / SNW_ROTATION_LANES].m[entry][i % SNW_ROTATION_LANES] = (float)search->sums[i]
                                                                                           .m[entry / 3][entry % 3];
    turns->kernels->extract(end - begin, turns->matrices + begin, turns->guesses + begin, turns->results + begin);
    for (int i = first; i < last; ++i)
        for (int entry = 0; entry < 9; ++entry)
            search->rotations[i].m[entry / 3][entry % 3] = turns->results[i / SNW_ROTATION_LANES]
                                                               .m[entry][i % SNW_ROTATION_LANES];
}

void snwTurns_Find(snwTurns* turns, snwContext* context, const snwMat3* sums, snwMat3* rotations)
{
    if (turns->dimension == 2)
    {
        for (int i = 0; i < turns->count; ++i)
            rotations[i] = FlatTurn(&sums[i]);
        return;
    }
    Search search = {turns, sums, rotations};
    snwParallelFor(context, BlockCount(turns), snw_turnGrain, FindBlocks, &search);
}
