// The kernels of rig_pass.h, for the lanes of math/simd.h. Included once per instruction set.

#include "rig/rig_pass.h"

#include "math/simd.h"

enum
{
    s_lanes = SNW_WIDE_DOUBLE_LANES,
    s_wides = SNW_PASS_LANES / SNW_WIDE_LANES,
    s_parts = SNW_PASS_LANES / s_lanes,   // vectors of a block
    s_sumParts = SNW_PASS_PARTS / s_lanes // vectors of a sum
};

typedef float Narrow __attribute__((vector_size(4 * SNW_WIDE_DOUBLE_LANES), may_alias));

// x, y and z of a block's vertices.
typedef struct Rows
{
    _Alignas(32) float of[3][SNW_PASS_LANES];
} Rows;

static inline void LoadRows(const snwPassBlock* block, const float* x, Rows* rows)
{
    for (int lane = 0; lane < SNW_PASS_LANES; lane += SNW_WIDE_LANES)
    {
        snwWide a, b, c, d;
        snwWide_Load4(x, &block->vertex[lane], &a, &b, &c, &d);
        snwWide_Store(&rows->of[0][lane], a);
        snwWide_Store(&rows->of[1][lane], b);
        snwWide_Store(&rows->of[2][lane], c);
    }
}

static inline snwWideDouble Load(const double* p)
{
    return *(const snwWideDouble*)p;
}

static inline snwWideDouble Widen(const float* p)
{
    return __builtin_convertvector(*(const Narrow*)p, snwWideDouble);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums

// The values of some vertices that a flat rig sums up: x, y, p x x, p . x, times mass.
static inline void FlatValues(const snwPassBlock* block, const Rows* rows, int first, snwWideDouble* v)
{
    snwWideDouble m = Load(block->mass + first), x = m * Widen(rows->of[0] + first);
    snwWideDouble y = m * Widen(rows->of[1] + first);
    snwWideDouble p = Load(block->position[0] + first), q = Load(block->position[1] + first);
    v[0] = x, v[1] = y, v[2] = p * y - q * x, v[3] = p * x + q * y;
}

// Rows of x (p, 1).
static inline void MapValues(
    const snwPassBlock* block, const Rows* rows, int first, int dimension, int coordinate, snwWideDouble* v)
{
    snwWideDouble x = Load(block->mass + first) * Widen(rows->of[coordinate] + first);
    for (int c = 0; c < dimension; ++c)
        v[c] = x * Load(block->position[c] + first);
    v[dimension] = x;
}

// Of a sum's four lanes each takes two vertices of the block, the lower one first, however many lanes a vector has.
static inline __attribute__((always_inline)) void AddValues(
    const snwPassInfluence* influences, int count, snwWideDouble (*v)[4], int numbers, int handleNumbers, double* sums)
{
    for (int k = 0; k < count; ++k)
    {
        const double* w = influences[k].weight;
        double* own = sums + (size_t)(SNW_PASS_PARTS * handleNumbers) * (size_t)influences[k].handle;
        for (int p = 0; p < s_sumParts; ++p)
        {
            snwWideDouble low = Load(w + p * s_lanes), high = Load(w + (p + s_sumParts) * s_lanes);
            for (int c = 0; c < numbers; ++c)
            {
                snwWideDouble* sum = (snwWideDouble*)(own + SNW_PASS_PARTS * c + p * s_lanes);
                *sum = *sum + (low * v[p][c] + high * v[p + s_sumParts][c]);
            }
        }
    }
}

static inline void GatherFlat(const snwPassBlock* block, const snwPassInfluence* all, const Rows* rows, double* sums)
{
    snwWideDouble v[s_parts][4];
    for (int p = 0; p < s_parts; ++p)
        FlatValues(block, rows, p * s_lanes, v[p]);
    AddValues(all, block->influenceCount, v, 4, 4, sums);
}

static inline __attribute__((always_inline)) void GatherMaps(
    const snwPassBlock* block, const snwPassInfluence* all, const Rows* rows, int dimension, double* sums)
{
    int numbers = dimension + 1;
    for (int d = 0; d < dimension; ++d)
    {
        snwWideDouble v[s_parts][4];
        for (int p = 0; p < s_parts; ++p)
            MapValues(block, rows, p * s_lanes, dimension, d, v[p]);
        AddValues(all, block->influenceCount, v, numbers, dimension * numbers, sums + SNW_PASS_PARTS * numbers * d);
    }
}

static void Gather(const snwPassRange* range, const float* x, double* sums)
{
    const snwRigPass* pass = range->pass;
    for (int i = range->begin; i < range->end; ++i)
    {
        const snwPassBlock* block = &pass->blocks[i];
        const snwPassInfluence* influences = &pass->influences[block->firstInfluence];
        Rows rows;
        LoadRows(block, x, &rows);
        if (pass->kind == snw_passFlat)
            GatherFlat(block, influences, &rows, sums);
        else if (pass->kind == snw_passFlatAffine)
            GatherMaps(block, influences, &rows, 2, sums);
        else
            GatherMaps(block, influences, &rows, 3, sums);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Blending

// Some lanes of a block: what the handles' maps make of their positions, blended.
typedef struct Vec3
{
    snwWide x, y, z;
} Vec3;

static inline __attribute__((always_inline)) void BlendNumbers(
    const snwPassInfluence* influences, int count, const float* maps, int numbers, int lane, snwWide* sums)
{
    for (int c = 0; c < numbers; ++c)
        sums[c] = snwWide_Splat(0);
    for (int k = 0; k < count; ++k)
    {
        snwWide w = snwWide_Load(&influences[k].near[lane]);
        const float* map = maps + (size_t)numbers * (size_t)influences[k].handle;
        for (int c = 0; c < numbers; ++c)
            sums[c] = sums[c] + w * map[c];
    }
}

static inline Vec3 BlendLanes(
    const snwRigPass* pass, const snwPassBlock* block, const snwPassInfluence* influences, const float* maps, int lane)
{
    snwWide x = snwWide_Load(&block->near[0][lane]), y = snwWide_Load(&block->near[1][lane]);
    snwWide s[snw_mostPassNumbers], zero = snwWide_Splat(0);
    if (pass->kind == snw_passFlat)
    {
        BlendNumbers(influences, block->influenceCount, maps, 4, lane, s);
        return (Vec3){s[0] * x - s[1] * y + s[2], s[1] * x + s[0] * y + s[3], zero};
    }
    if (pass->kind == snw_passFlatAffine)
    {
        BlendNumbers(influences, block->influenceCount, maps, 6, lane, s);
        return (Vec3){s[0] * x + s[1] * y + s[2], s[3] * x + s[4] * y + s[5], zero};
    }
    snwWide z = snwWide_Load(&block->near[2][lane]);
    BlendNumbers(influences, block->influenceCount, maps, 12, lane, s);
    return (Vec3){s[0] * x + s[1] * y + s[2] * z + s[3], s[4] * x + s[5] * y + s[6] * z + s[7],
        s[8] * x + s[9] * y + s[10] * z + s[11]};
}

// All lanes are read before any is written: those beyond the last vertex repeat it.
static inline void ChangeBlock(
    const snwRigPass* pass, const snwPassBlock* block, const snwPassInfluence* influences, const snwRigBlend* b)
{
    snwWide x[s_wides], y[s_wides], z[s_wides], w[s_wides];
    for (int i = 0; i < s_wides; ++i)
    {
        Vec3 d = BlendLanes(pass, block, influences, b->changes, i * SNW_WIDE_LANES);
        snwWide_Load4(b->x, &block->vertex[i * SNW_WIDE_LANES], &x[i], &y[i], &z[i], &w[i]);
        x[i] = x[i] + d.x, y[i] = y[i] + d.y;
        if (pass->kind == snw_passSolid)
            z[i] = z[i] + d.z;
    }
    for (int i = 0; i < s_wides; ++i)
        snwWide_Store4(b->x, &block->vertex[i * SNW_WIDE_LANES], x[i], y[i], z[i], w[i]);
}

static inline void PoseLanes(const snwRigPass* pass, const snwPassBlock* block, const snwPassInfluence* influences,
    const snwRigBlend* b, int lane)
{
    Vec3 p = BlendLanes(pass, block, influences, b->maps, lane);
    snwWide_Store4(
        b->rigged, &block->vertex[lane], p.x + b->origin[0], p.y + b->origin[1], p.z + b->origin[2], snwWide_Splat(0));
}

static void Blend(const snwPassRange* range, const snwRigBlend* b)
{
    const snwRigPass* pass = range->pass;
    for (int i = range->begin; i < range->end; ++i)
    {
        const snwPassBlock* block = &pass->blocks[i];
        const snwPassInfluence* influences = &pass->influences[block->firstInfluence];
        if (b->x != NULL)
            ChangeBlock(pass, block, influences, b);
        for (int lane = 0; lane < SNW_PASS_LANES && b->rigged != NULL; lane += SNW_WIDE_LANES)
            PoseLanes(pass, block, influences, b, lane);
    }
}

static const snwPassKernels s_kernels = {Gather, Blend};
