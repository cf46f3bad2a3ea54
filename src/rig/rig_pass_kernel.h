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

static void Gather(const snwPassRange* range, const snwRigFlesh* flesh, double* sums)
{
    const snwRigPass* pass = range->pass;
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

// Where some lanes of a block are taken.
typedef struct Vec3
{
    snwWide x, y, z;
} Vec3;

typedef struct Lanes
{
    const snwRigPass* pass;
    int block, first;
} Lanes;

static inline __attribute__((always_inline)) void BlendNumbers(
    Lanes lanes, const float* maps, int numbers, snwWide* sums)
{
    const snwPassBlock* block = &lanes.pass->blocks[lanes.block];
    for (int c = 0; c < numbers; ++c)
        sums[c] = snwWide_Splat(0);
    for (int k = block->first; k < block->first + block->count; ++k)
    {
        snwWide w = snwWide_Load(&lanes.pass->blendWeights[k][lanes.first]);
        size_t at = (size_t)(SNW_PASS_LANES * numbers) * (size_t)lanes.pass->blendHandles[k];
        for (int c = 0; c < numbers; ++c)
            sums[c] = sums[c] + w * snwWide_Load(maps + at + (size_t)(SNW_PASS_LANES * c));
    }
}

static inline __attribute__((always_inline)) Vec3 ApplyMap(Lanes lanes, const snwWide* s, int numbers)
{
    const snwBlendPart* part = &lanes.pass->blendParts[lanes.block];
    snwWide x = snwWide_Load(&part->position[0][lanes.first]), y = snwWide_Load(&part->position[1][lanes.first]);
    if (numbers == 6)
        return (Vec3){s[0] * x + s[1] * y + s[2], s[3] * x + s[4] * y + s[5], snwWide_Splat(0)};
    snwWide z = snwWide_Load(&part->position[2][lanes.first]);
    return (Vec3){s[0] * x + s[1] * y + s[2] * z + s[3], s[4] * x + s[5] * y + s[6] * z + s[7],
        s[8] * x + s[9] * y + s[10] * z + s[11]};
}

static inline void ChangePlane(const snwRigPass* pass, int index, const Vec3* changes, float* rows)
{
    const int* vertices = pass->blocks[index].vertex;
    snwWide x, y, z[s_wides], w[s_wides];
    for (int i = 0; i < s_wides; ++i)
        snwWide_Load4(rows, &vertices[i * SNW_WIDE_LANES], &x, &y, &z[i], &w[i]);
    for (int i = 0; i < s_wides; ++i)
        snwWide_StoreLast2(rows, 4, &vertices[i * SNW_WIDE_LANES], z[i] + changes[i].x, w[i] + changes[i].y);
}

// All lanes of x are read before any is written: those beyond the last vertex repeat it.
static inline void ChangePlaces(const snwRigPass* pass, int index, const Vec3* changes, float* rows)
{
    const int* vertices = pass->blocks[index].vertex;
    snwWide x[s_wides], y[s_wides], z[s_wides], w[s_wides];
    for (int i = 0; i < s_wides; ++i)
    {
        snwWide_Load4(rows, &vertices[i * SNW_WIDE_LANES], &x[i], &y[i], &z[i], &w[i]);
        x[i] = x[i] + changes[i].x, y[i] = y[i] + changes[i].y;
        if (pass->kind == snw_passSolid)
            z[i] = z[i] + changes[i].z;
    }
    for (int i = 0; i < s_wides; ++i)
        snwWide_Store4(rows, &vertices[i * SNW_WIDE_LANES], x[i], y[i], z[i], w[i]);
}

static inline void ChangeBlock(const snwRigPass* pass, int index, const Vec3* changes, const snwRigFlesh* flesh)
{
    if (flesh->plane)
        ChangePlane(pass, index, changes, flesh->rows);
    else
        ChangePlaces(pass, index, changes, flesh->rows);
}

static inline void StoreBlock(const snwRigPass* pass, int index, const Vec3* places, const snwRigBlend* b)
{
    const int* vertices = pass->blocks[index].vertex;
    for (int i = 0; i < s_wides; ++i)
        snwWide_Store4(b->rigged, &vertices[i * SNW_WIDE_LANES], places[i].x + b->origin[0], places[i].y + b->origin[1],
            places[i].z + b->origin[2], snwWide_Splat(0));
}

static inline __attribute__((always_inline)) void MapBlock(
    const snwRigPass* pass, int index, const float* maps, int numbers, Vec3* out)
{
    for (int i = 0; i < s_wides; ++i)
    {
        Lanes lanes = {pass, index, i * SNW_WIDE_LANES};
        snwWide sums[snw_mostPassNumbers];
        BlendNumbers(lanes, maps, numbers, sums);
        out[i] = ApplyMap(lanes, sums, numbers);
    }
}

static inline __attribute__((always_inline)) void BlendBlock(
    const snwRigPass* pass, int index, const snwRigBlend* b, int numbers)
{
    Vec3 moved[s_wides];
    if (b->flesh.rows != NULL)
    {
        MapBlock(pass, index, b->changes, numbers, moved);
        ChangeBlock(pass, index, moved, &b->flesh);
    }
    if (b->rigged != NULL)
    {
        MapBlock(pass, index, b->maps, numbers, moved);
        StoreBlock(pass, index, moved, b);
    }
}

static void Blend(const snwPassRange* range, const snwRigBlend* b)
{
    const snwRigPass* pass = range->pass;
    for (int i = range->begin * SNW_TILE_BLOCKS; i < BlocksEnd(pass, range->end - 1); ++i)
    {
        if (pass->kind == snw_passFlatAffine)
            BlendBlock(pass, i, b, 6);
        else
            BlendBlock(pass, i, b, 12);
    }
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

static const snwPassKernels s_kernels = {
    Gather, Blend, GatherFlat, BlendFlat, Product, TurnRow, SubtractFlat, MultiplyFlat, SubtractTurned, InvertTurns};
