// The kernels of handle_sums.h, for the lanes of math/simd.h. Included once per instruction set.

#include "rig/handle_sums.h"

#include "math/simd.h"

enum
{
    s_lanes = SNW_WIDE_DOUBLE_LANES,
    s_parts = SNW_SUM_LANES / s_lanes,   // vectors of a block
    s_sumParts = SNW_SUM_PARTS / s_lanes // vectors of a sum
};

typedef float Narrow __attribute__((vector_size(4 * SNW_WIDE_DOUBLE_LANES), may_alias));

// x, y, z and the fourth numbers of a block's vertices.
typedef struct Rows
{
    _Alignas(32) float of[4][SNW_SUM_LANES];
} Rows;

static inline void LoadRows(const snwSumBlock* block, const float* u, Rows* rows)
{
    for (int lane = 0; lane < SNW_SUM_LANES; lane += SNW_WIDE_LANES)
    {
        snwWide x, y, z, w;
        snwWide_Load4(u, &block->vertex[lane], &x, &y, &z, &w);
        snwWide_Store(&rows->of[0][lane], x);
        snwWide_Store(&rows->of[1][lane], y);
        snwWide_Store(&rows->of[2][lane], z);
        snwWide_Store(&rows->of[3][lane], w);
    }
}

static inline void StoreRows(const snwSumBlock* block, const Rows* rows, float* u)
{
    for (int lane = 0; lane < SNW_SUM_LANES; lane += SNW_WIDE_LANES)
        snwWide_Store4(u, &block->vertex[lane], snwWide_Load(&rows->of[0][lane]), snwWide_Load(&rows->of[1][lane]),
            snwWide_Load(&rows->of[2][lane]), snwWide_Load(&rows->of[3][lane]));
}

static inline snwWideDouble Widen(const float* p)
{
    return __builtin_convertvector(*(const Narrow*)p, snwWideDouble);
}

static inline snwWideDouble Load(const double* p)
{
    return *(const snwWideDouble*)p;
}

// One coordinate of u: four numbers per handle. Of a sum's four lanes each takes two vertices of the block, the lower
// one first, however many lanes a vector has.
static inline void GatherCoordinate(
    const snwSumBlock* block, const snwSumInfluence* influences, const float* row, double* numbers, double* square)
{
    // m u y and m u of all lanes, computed once for all handles of the block.
    snwWideDouble v[4][s_parts];
    for (int p = 0; p < s_parts; ++p)
    {
        snwWideDouble u = Widen(row + p * s_lanes), mu = Load(block->mass + p * s_lanes) * u;
        for (int c = 0; c < 3; ++c)
            v[c][p] = mu * Load(block->position[c] + p * s_lanes);
        v[3][p] = mu;
        *(snwWideDouble*)(square + p % s_sumParts * s_lanes) += mu * u;
    }

    // Lower vertices first, then upper ones: an order that does not depend on the width of a vector.
    for (int k = 0; k < block->influenceCount; ++k)
    {
        const double* w = influences[k].weight;
        double* sums = numbers + (size_t)(SNW_SUM_PARTS * snw_sumNumbers) * (size_t)influences[k].handle;
        for (int c = 0; c < 4; ++c)
            for (int p = 0; p < s_sumParts; ++p)
            {
                snwWideDouble* sum = (snwWideDouble*)(sums + SNW_SUM_PARTS * c + p * s_lanes);
                snwWideDouble next = *sum + Load(w + p * s_lanes) * v[c][p];
                *sum = next + Load(w + (p + s_sumParts) * s_lanes) * v[c][p + s_sumParts];
            }
    }
}

static void Gather(const snwSumRange* range, const float* u, double* numbers)
{
    const snwHandleSums* sums = range->sums;
    double* square = numbers + (size_t)(SNW_SUM_PARTS * snw_sumNumbers) * (size_t)sums->handleCount;
    for (int i = range->begin; i < range->end; ++i)
    {
        const snwSumBlock* block = &sums->blocks[i];
        const snwSumInfluence* influences = &sums->influences[block->firstInfluence];
        Rows rows;
        LoadRows(block, u, &rows);
        for (int d = 0; d < 3; ++d)
            GatherCoordinate(block, influences, rows.of[d], numbers + 4 * SNW_SUM_PARTS * d, square);
    }
}

// Some lanes of a block: what the handles' maps make of their positions, blended.
static inline void AddPart(
    const snwSumBlock* block, const snwSumInfluence* influences, const double* maps, Rows* rows, int first)
{
    snwWideDouble x = Load(block->position[0] + first), y = Load(block->position[1] + first);
    snwWideDouble z = Load(block->position[2] + first), sums[3] = {{0}};
    for (int k = 0; k < block->influenceCount; ++k)
    {
        snwWideDouble w = Load(influences[k].weight + first);
        const double* map = maps + (size_t)snw_sumNumbers * (size_t)influences[k].handle;
        for (int d = 0; d < 3; ++d, map += 4)
            sums[d] += w * (map[0] * x + map[1] * y + map[2] * z + map[3]);
    }
    for (int d = 0; d < 3; ++d)
    {
        float* row = rows->of[d] + first;
        *(Narrow*)row = __builtin_convertvector(Widen(row) + sums[d], Narrow);
    }
}

static void Add(const snwSumRange* range, const double* maps, float* u)
{
    const snwHandleSums* sums = range->sums;
    for (int i = range->begin; i < range->end; ++i)
    {
        const snwSumBlock* block = &sums->blocks[i];
        Rows rows;
        LoadRows(block, u, &rows);
        for (int first = 0; first < SNW_SUM_LANES; first += s_lanes)
            AddPart(block, &sums->influences[block->firstInfluence], maps, &rows, first);
        StoreRows(block, &rows, u);
    }
}

static const snwSumKernels s_kernels = {Gather, Add};
