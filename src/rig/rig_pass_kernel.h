// The kernels of rig_pass.h, for the lanes of math/simd.h. Included once per instruction set.

#include "rig/rig_pass.h"

#include "math/simd.h"

#include <string.h>

enum
{
    s_lanes = SNW_WIDE_DOUBLE_LANES,
    s_wides = SNW_PASS_LANES / SNW_WIDE_LANES, // vectors of a block
    s_sumParts = SNW_PASS_PARTS / s_lanes      // vectors of a sum
};

static inline snwWideDouble Load(const double* p)
{
    return *(const snwWideDouble*)p;
}

static inline void Store(double* p, snwWideDouble a)
{
    *(snwWideDouble*)p = a;
}

static inline int BlocksEnd(const snwRigPass* pass, int tile)
{
    int end = (tile + 1) * SNW_TILE_BLOCKS;
    return end < pass->blockCount ? end : pass->blockCount;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums

// x, y and z of a tile's vertices, and what is summed up: up to four numbers per vertex.
typedef struct Tile
{
    _Alignas(64) float rows[SNW_TILE_BLOCKS][3][SNW_PASS_LANES];
    _Alignas(64) double values[SNW_TILE_BLOCKS][4][SNW_PASS_LANES];
} Tile;

static inline void LoadTile(const snwRigPass* pass, int tile, const snwRigFlesh* flesh, Tile* out)
{
    for (int i = tile * SNW_TILE_BLOCKS; i < BlocksEnd(pass, tile); ++i)
        for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
        {
            snwWide a, b, c, d;
            float(*rows)[SNW_PASS_LANES] = out->rows[i - tile * SNW_TILE_BLOCKS];
            snwWide_Load4(flesh->rows, &pass->blocks[i].vertex[lane], &a, &b, &c, &d);
            if (flesh->plane)
                a = a + c, b = b + d;
            snwWide_Store(&rows[0][lane], a);
            snwWide_Store(&rows[1][lane], b);
            snwWide_Store(&rows[2][lane], c);
        }
}

// A row of x (p, 1).
static inline void PutMapValues(const snwRigPass* pass, int tile, int dimension, int coordinate, Tile* out)
{
    for (int i = tile * SNW_TILE_BLOCKS; i < BlocksEnd(pass, tile); ++i)
    {
        const snwSumPart* part = &pass->sumParts[i];
        int at = i - tile * SNW_TILE_BLOCKS;
        for (int f = 0; f < SNW_PASS_LANES; f += s_lanes)
        {
            snwWideDouble x = snwWideDouble_FromFloats(out->rows[at][coordinate] + f);
            for (int c = 0; c < dimension; ++c)
                Store(out->values[at][c] + f, x * Load(part->position[c] + f));
            Store(out->values[at][dimension] + f, x);
        }
    }
}

// One handle of a tile. Of a sum's four lanes each takes two vertices of a block, the lower one first, however many
// lanes a vector has.
static inline __attribute__((always_inline)) void SumRun(
    const snwRigPass* pass, const snwSumRun* run, const Tile* tile, int numbers, double* out)
{
    snwWideDouble sums[4][s_sumParts];
    for (int c = 0; c < numbers; ++c)
        for (int p = 0; p < s_sumParts; ++p)
            sums[c][p] = Load(out + SNW_PASS_PARTS * c + p * s_lanes);

    // The lower four vertices of a block, then the upper four.
    for (int k = run->first; k < run->first + run->count; ++k)
    {
        const double(*v)[SNW_PASS_LANES] = tile->values[pass->sumBlocks[k]], *w = pass->sumWeights[k];
        for (int p = 0; p < s_sumParts; ++p)
        {
            int low = p * s_lanes, high = (p + s_sumParts) * s_lanes;
            for (int c = 0; c < numbers; ++c)
                sums[c][p] = sums[c][p] + (Load(w + low) * Load(v[c] + low) + Load(w + high) * Load(v[c] + high));
        }
    }

    for (int c = 0; c < numbers; ++c)
        for (int p = 0; p < s_sumParts; ++p)
            Store(out + SNW_PASS_PARTS * c + p * s_lanes, sums[c][p]);
}

// offset: of the numbers among those of a handle.
static inline __attribute__((always_inline)) void SumTile(
    const snwRigPass* pass, int index, const Tile* tile, int numbers, int offset, double* sums)
{
    for (int r = pass->tileRuns[index]; r < pass->tileRuns[index + 1]; ++r)
    {
        size_t first = (size_t)pass->numbers * (size_t)pass->runs[r].handle + (size_t)offset;
        SumRun(pass, &pass->runs[r], tile, numbers, sums + SNW_PASS_PARTS * first);
    }
}

static inline __attribute__((always_inline)) void GatherMaps(
    const snwRigPass* pass, int index, int dimension, Tile* tile, double* sums)
{
    for (int d = 0; d < dimension; ++d)
    {
        PutMapValues(pass, index, dimension, d, tile);
        SumTile(pass, index, tile, dimension + 1, d * (dimension + 1), sums);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums of solid flesh in places and moves

// What loops over blocks read of a pass: of the pass itself the compiler would read it anew after every store.
typedef struct Blocks
{
    const snwPassBlock* blocks;
    const snwFloatPart* parts;
    const int* handles;
    const float (*weights)[SNW_PASS_LANES];
} Blocks;

static inline Blocks BlocksOfPass(const snwRigPass* pass)
{
    return (Blocks){pass->blocks, pass->floatParts, pass->handles, (const float(*)[SNW_PASS_LANES])pass->weights};
}

// x - x0 of a tile's vertices, x0 being where the first of them is.
typedef struct MovedTile
{
    _Alignas(64) float values[SNW_TILE_BLOCKS][3][SNW_PASS_LANES];
    snwRow first; // m
} MovedTile;

// A vector of a block.
static inline __attribute__((always_inline)) void PutMoved(
    const snwWide* places, const snwWide* moves, snwRow x0, float (*out)[SNW_PASS_LANES], int lane)
{
    for (int d = 0; d < 3; ++d)
        snwWide_Store(out[d] + lane, (places[d] - x0[d]) + moves[d]);
}

static inline __attribute__((always_inline)) void LoadStraight(
    Blocks b, int index, const snwRigFlesh* flesh, snwRow x0, float (*out)[SNW_PASS_LANES])
{
    const float *rows = flesh->rows + 4 * (size_t)b.blocks[index].vertex[0],
                *moves = flesh->moves + 4 * (size_t)b.blocks[index].vertex[0];
    for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
    {
        snwWide x[4], d[4];
        snwWide_LoadNext4(rows, lane, &x[0], &x[1], &x[2], &x[3]);
        snwWide_LoadNext4(moves, lane, &d[0], &d[1], &d[2], &d[3]);
        PutMoved(x, d, x0, out, lane);
    }
}

static inline __attribute__((always_inline)) void LoadScattered(
    Blocks b, int index, const snwRigFlesh* flesh, snwRow x0, float (*out)[SNW_PASS_LANES])
{
    for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
    {
        snwWide x[4], d[4];
        snwWide_Load4(flesh->rows, b.blocks[index].vertex + lane, &x[0], &x[1], &x[2], &x[3]);
        snwWide_Load4(flesh->moves, b.blocks[index].vertex + lane, &d[0], &d[1], &d[2], &d[3]);
        PutMoved(x, d, x0, out, lane);
    }
}

static __attribute__((noinline)) void LoadMoved(
    const snwRigPass* pass, int tile, const snwRigFlesh* flesh, MovedTile* out)
{
    const Blocks b = BlocksOfPass(pass);
    const snwRigFlesh own = *flesh;
    int begin = tile * SNW_TILE_BLOCKS, end = BlocksEnd(pass, tile), i = begin;
    int straight = pass->straightCount < end ? pass->straightCount : end;
    size_t first = 4 * (size_t)b.blocks[begin].vertex[0];
    snwRow x0 = *(const snwRow*)(own.rows + first) + *(const snwRow*)(own.moves + first);
    for (; i < straight; ++i)
        LoadStraight(b, i, &own, x0, out->values[i - begin]);
    for (; i < end; ++i)
        LoadScattered(b, i, &own, x0, out->values[i - begin]);
    out->first = x0;
}

// The twelve numbers of a handle stay in registers, where there are so many.
static inline __attribute__((always_inline)) void SumMoved(
    const snwRigPass* pass, int index, const snwSumRun* run, const MovedTile* tile, snwRow out[3])
{
    const snwFloatPart* parts = pass->floatParts + (size_t)index * SNW_TILE_BLOCKS;
    const int* blocks = pass->sumBlocks + run->first;
    const float(*weights)[SNW_PASS_LANES] = (const float(*)[SNW_PASS_LANES])pass->sumFloats + run->first;
    snwWide sums[3][4][s_wides];
    for (int n = 0; n < 12 * s_wides; ++n)
        sums[n / (4 * s_wides)][n / s_wides % 4][n % s_wides] = snwWide_Splat(0);

    // x times the rest place p, and x itself, weighted: rows of a 3 x 4 sum.
    for (int k = 0; k < run->count; ++k)
        for (int i = 0; i < s_wides; ++i)
        {
            const float *x = &tile->values[blocks[k]][0][i * SNW_WIDE_LANES],
                        *p = &parts[blocks[k]].position[0][i * SNW_WIDE_LANES];
            snwWide w = snwWide_Load(&weights[k][i * SNW_WIDE_LANES]);
            for (int a = 0; a < 3; ++a)
            {
                snwWide wx = w * snwWide_Load(x + a * SNW_PASS_LANES);
                for (int c = 0; c < 3; ++c)
                    sums[a][c][i] = sums[a][c][i] + wx * snwWide_Load(p + c * SNW_PASS_LANES);
                sums[a][3][i] = sums[a][3][i] + wx;
                __asm__("" : "+r"(p)); // p is read again: kept in registers, it would push sums out of them
            }
        }

    for (int a = 0; a < 3; ++a)
        out[a] = snwWide_SumLanes(sums[a]);
}

static __attribute__((noinline)) void SumMovedTile(
    const snwRigPass* pass, int index, const MovedTile* tile, double* sums)
{
    const snwSumRun *run = pass->runs + pass->tileRuns[index], *end = pass->runs + pass->tileRuns[index + 1];
    for (; run < end; ++run)
    {
        snwRow rows[3];
        double* to = sums + 12 * (size_t)run->handle;
        SumMoved(pass, index, run, tile, rows);
        for (int c = 0; c < 12; c += s_lanes)
        {
            snwWideDouble own = snwWideDouble_FromFloats((const float*)rows + c);
            Store(to + c, Load(to + c) + (Load(run->anchor + c % 4) * (double)tile->first[c / 4] + own));
        }
    }
}

static void GatherMoved(const snwPassRange* range, const snwRigFlesh* flesh, double* sums)
{
    for (int i = range->begin; i < range->end; ++i)
    {
        MovedTile tile;
        LoadMoved(range->pass, i, flesh, &tile);
        SumMovedTile(range->pass, i, &tile, sums);
    }
}

static void Gather(const snwPassRange* range, const snwRigFlesh* flesh, double* sums)
{
    const snwRigPass* pass = range->pass;
    if (flesh->moves != NULL)
    {
        GatherMoved(range, flesh, sums);
        return;
    }
    for (int i = range->begin; i < range->end; ++i)
    {
        Tile tile;
        LoadTile(pass, i, flesh, &tile);
        if (pass->kind == snw_passFlatAffine)
            GatherMaps(pass, i, 2, &tile, sums);
        else
            GatherMaps(pass, i, 3, &tile, sums);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Blending

// Where some lanes of a block are taken, or how they move.
typedef struct Vec3
{
    snwWide x, y, z;
} Vec3;

// Where a row of a map takes p.
static inline __attribute__((always_inline)) snwWide ApplyRow(const float* row, int dimension, const snwWide* p)
{
    snwWide two = snwWide_Load(row) * p[0] + snwWide_Load(row + SNW_PASS_LANES) * p[1];
    if (dimension == 2)
        return two + snwWide_Load(row + 2 * SNW_PASS_LANES);
    return two + (snwWide_Load(row + 2 * SNW_PASS_LANES) * p[2] + snwWide_Load(row + 3 * SNW_PASS_LANES));
}

// Each map is applied, then weighed: to weigh the maps' numbers takes as many products, and the sum has to be applied.
static inline __attribute__((always_inline)) Vec3 MapLanes(
    Blocks b, int index, int lane, const float* maps, int dimension)
{
    const int rowSize = SNW_PASS_LANES * (dimension + 1);
    int k = b.blocks[index].first, end = k + b.blocks[index].count;
    snwWide p[3], sums[3];
    for (int d = 0; d < 3; ++d)
        p[d] = snwWide_Load(b.parts[index].position[d] + lane), sums[d] = snwWide_Splat(0);
    do // weights sum to one, so there is a handle
    {
        snwWide w = snwWide_Load(b.weights[k] + lane);
        const float* map = maps + (size_t)(rowSize * dimension) * (size_t)(unsigned)b.handles[k];
        for (int d = 0; d < dimension; ++d)
            sums[d] = sums[d] + w * ApplyRow(map + d * rowSize, dimension, p);
    } while (++k < end);
    return (Vec3){sums[0], sums[1], sums[2]};
}

static inline __attribute__((always_inline)) void ChangeStraight(
    Blocks b, int index, const float* maps, int dimension, float* rows)
{
    float* own = rows + 4 * (size_t)b.blocks[index].vertex[0];
    for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
    {
        Vec3 change = MapLanes(b, index, lane, maps, dimension);
        snwWide_AddNext4(own, lane, change.x, change.y, change.z, snwWide_Splat(0));
    }
}

// plane: changes are of the last two numbers of a row.
static inline __attribute__((always_inline)) void ChangeScattered(
    Blocks b, int index, const float* maps, int dimension, bool plane, float* rows)
{
    const snwPassBlock* block = &b.blocks[index];
    snwWide zero = snwWide_Splat(0);
    snwRow changes[SNW_PASS_LANES];
    for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
    {
        Vec3 change = MapLanes(b, index, lane, maps, dimension);
        snwWide_ToRows(plane ? zero : change.x, plane ? zero : change.y, plane ? change.x : change.z,
            plane ? change.y : zero, changes + lane);
    }
    for (int lane = 0; lane < block->lanes; ++lane)
        *(snwRow*)(rows + 4 * (size_t)block->vertex[lane]) += changes[lane];
}

static __attribute__((noinline)) void ChangeSolid(const snwRigPass* pass, int begin, int end, const snwRigBlend* blend)
{
    const Blocks b = BlocksOfPass(pass);
    const float* maps = blend->changes;
    float* rows = blend->flesh.rows;
    int straight = pass->straightCount < end ? pass->straightCount : end, i = begin;
    for (; i < straight; ++i)
        ChangeStraight(b, i, maps, 3, rows);
    for (; i < end; ++i)
        ChangeScattered(b, i, maps, 3, false, rows);
}

static void ChangeFlat(const snwRigPass* pass, int begin, int end, const snwRigBlend* blend)
{
    for (int i = begin; i < end; ++i)
        ChangeScattered(BlocksOfPass(pass), i, blend->changes, 2, blend->flesh.plane, blend->flesh.rows);
}

// Several lanes may have the same vertex: the last one's value stays, and they are equal.
static inline __attribute__((always_inline)) void Show(
    const snwRigPass* pass, int begin, int end, const snwRigBlend* blend, int dimension)
{
    const Blocks b = BlocksOfPass(pass);
    for (int i = begin; i < end; ++i)
        for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
        {
            Vec3 place = MapLanes(b, i, lane, blend->maps, dimension);
            snwWide_Store4(blend->rigged, b.blocks[i].vertex + lane, place.x + blend->origin[0],
                place.y + blend->origin[1], place.z + blend->origin[2], snwWide_Splat(0));
        }
}

static void Blend(const snwPassRange* range, const snwRigBlend* blend)
{
    const snwRigPass* pass = range->pass;
    int begin = range->begin * SNW_TILE_BLOCKS, end = BlocksEnd(pass, range->end - 1);
    bool flat = pass->kind == snw_passFlatAffine;
    if (blend->flesh.rows != NULL)
        (flat ? ChangeFlat : ChangeSolid)(pass, begin, end, blend);
    if (blend->rigged != NULL && flat)
        Show(pass, begin, end, blend, 2);
    else if (blend->rigged != NULL)
        Show(pass, begin, end, blend, 3);
}

// ---------------------------------------------------------------------------------------------------------------------
// Small products

// Some columns, `count` of them, a multiple of four.
static inline __attribute__((always_inline)) void SumColumns(
    const snwPlaneProduct* product, const double* factors, int first, int count, double* out)
{
    snwWideDouble sums[16 / s_lanes];
    const double* row = product->matrix + first;
    for (int i = 0; i < count / s_lanes; ++i)
        sums[i] = (snwWideDouble){0};
    for (int l = 0; l < product->rows; ++l, row += product->stride)
        for (int i = 0; i < count / s_lanes; ++i)
            sums[i] = sums[i] + factors[l] * Load(row + i * s_lanes);
    for (int i = 0; i < count / s_lanes; ++i)
        *(snwWideDouble*)(out + first + i * s_lanes) += product->sign * sums[i];
}

static void Product(const snwPlaneProduct* product, const double* factors, double* out)
{
    // Columns sixteen at a time, and what is left (a multiple of four) in one go, so that sums stay in registers.
    int first = 0;
    for (; first + 16 <= product->stride; first += 16)
        SumColumns(product, factors, first, 16, out);
    switch (product->stride - first)
    {
        case 4:
            SumColumns(product, factors, first, 4, out);
            break;
        case 8:
            SumColumns(product, factors, first, 8, out);
            break;
        case 12:
            SumColumns(product, factors, first, 12, out);
            break;
        default:
            break;
    }
}

// What a handle's motion does to a row of another: a sum of four, so that sums over pairs wait for one addition each.
static inline __attribute__((always_inline)) snwWideDouble PairRow(
    const double* row, const snwHandleRows* motion, int first)
{
    snwWideDouble a = row[0] * Load((*motion)[0] + first) + row[1] * Load((*motion)[1] + first);
    snwWideDouble b = row[2] * Load((*motion)[2] + first) + row[3] * Load((*motion)[3] + first);
    return a + b;
}

static void PairProduct(const snwPairProduct* product, const snwHandleRows* motion, snwHandleRows* out)
{
    for (int k = 0; k < product->handleCount; ++k)
    {
        snwWideDouble sums[4][4 / s_lanes] = {0};
        for (int at = product->starts[k]; at < product->starts[k + 1]; ++at)
            for (int i = 0; i < 4; ++i)
                for (int v = 0; v < 4 / s_lanes; ++v)
                    sums[i][v] = sums[i][v] +
                                 PairRow(product->blocks[at][i], &motion[product->others[at]], v * s_lanes);
        for (int i = 0; i < 4; ++i)
            for (int v = 0; v < 4 / s_lanes; ++v)
                Store(out[k][i] + v * s_lanes, sums[i][v]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Turns

static void TurnRow(const snwTurnRow* row)
{
    for (int l = 0; l < row->count; l += s_lanes)
    {
        snwWideDouble half[3][3], y[3][3];
        for (int a = 0; a < 3; ++a)
            for (int c = 0; c < 3; ++c)
                half[a][c] = Load(row->p[0][c] + l) * row->own[a][0] + Load(row->p[1][c] + l) * row->own[a][1] +
                             Load(row->p[2][c] + l) * row->own[a][2];
        for (int a = 0; a < 3; ++a)
            for (int e = 0; e < 3; ++e)
                y[a][e] = half[a][0] * Load(row->other[e][0] + l) + half[a][1] * Load(row->other[e][1] + l) +
                          half[a][2] * Load(row->other[e][2] + l);
        snwWideDouble trace = y[0][0] + y[1][1] + y[2][2], zero = {0};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                Store(row->out[i][j] + l, (i == j ? trace : zero) - y[j][i]);
    }
}

#include "rig/flat_pass_kernel.h"
#include "rig/rig_flat_kernel.h"

static const snwPassKernels s_kernels = {Gather, Blend, GatherFlat, BlendFlat, Product, PairProduct, TurnRow,
    SubtractFlat, MultiplyFlat, SubtractTurned, InvertTurns};
