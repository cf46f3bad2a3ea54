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

// ---------------------------------------------------------------------------------------------------------------------
// Sums

// The values of some vertices that a flat rig sums up: x, y, p x x, p . x, times mass.
static inline void FlatValues(const snwSumPart* part, const Rows* rows, int first, snwWideDouble* v)
{
    snwWideDouble m = Load(part->mass + first), x = m * snwWideDouble_FromFloats(rows->of[0] + first);
    snwWideDouble y = m * snwWideDouble_FromFloats(rows->of[1] + first);
    snwWideDouble p = Load(part->position[0] + first), q = Load(part->position[1] + first);
    v[0] = x, v[1] = y, v[2] = p * y - q * x, v[3] = p * x + q * y;
}

// A row of x (p, 1).
static inline void MapValues(
    const snwSumPart* part, const Rows* rows, int first, int dimension, int coordinate, snwWideDouble* v)
{
    snwWideDouble x = Load(part->mass + first) * snwWideDouble_FromFloats(rows->of[coordinate] + first);
    for (int c = 0; c < dimension; ++c)
        v[c] = x * Load(part->position[c] + first);
    v[dimension] = x;
}

// Of a sum's four lanes each takes two vertices of the block, the lower one first, however many lanes a vector has.
static inline __attribute__((always_inline)) void AddValues(const snwRigPass* pass, const snwPassBlock* block,
    snwWideDouble (*v)[4], int numbers, int handleNumbers, double* sums)
{
    for (int k = block->first; k < block->first + block->count; ++k)
    {
        const double* w = pass->weights[k];
        double* own = sums + (size_t)(SNW_PASS_PARTS * handleNumbers) * (size_t)pass->handles[k];
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

static inline void GatherFlat(const snwRigPass* pass, int index, const Rows* rows, double* sums)
{
    snwWideDouble v[s_parts][4];
    for (int p = 0; p < s_parts; ++p)
        FlatValues(&pass->sumParts[index], rows, p * s_lanes, v[p]);
    AddValues(pass, &pass->blocks[index], v, 4, 4, sums);
}

static inline __attribute__((always_inline)) void GatherMaps(
    const snwRigPass* pass, int index, const Rows* rows, int dimension, double* sums)
{
    int numbers = dimension + 1;
    for (int d = 0; d < dimension; ++d)
    {
        snwWideDouble v[s_parts][4];
        for (int p = 0; p < s_parts; ++p)
            MapValues(&pass->sumParts[index], rows, p * s_lanes, dimension, d, v[p]);
        AddValues(pass, &pass->blocks[index], v, numbers, dimension * numbers, sums + SNW_PASS_PARTS * numbers * d);
    }
}

static void Gather(const snwPassRange* range, const float* x, double* sums)
{
    const snwRigPass* pass = range->pass;
    for (int i = range->begin; i < range->end; ++i)
    {
        Rows rows;
        LoadRows(&pass->blocks[i], x, &rows);
        if (pass->kind == snw_passFlat)
            GatherFlat(pass, i, &rows, sums);
        else if (pass->kind == snw_passFlatAffine)
            GatherMaps(pass, i, &rows, 2, sums);
        else
            GatherMaps(pass, i, &rows, 3, sums);
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

// Numbers of one or two sets of maps, blended.
static inline __attribute__((always_inline)) void BlendNumbers(
    Lanes lanes, const float* const* maps, int sets, int numbers, snwWide (*sums)[snw_mostPassNumbers])
{
    const snwPassBlock* block = &lanes.pass->blocks[lanes.block];
    for (int i = 0; i < sets; ++i)
        for (int c = 0; c < numbers; ++c)
            sums[i][c] = snwWide_Splat(0);
    for (int k = block->first; k < block->first + block->count; ++k)
    {
        snwWide w = snwWide_Load(&lanes.pass->blendWeights[k][lanes.first]);
        size_t at = (size_t)numbers * (size_t)lanes.pass->handles[k];
        for (int i = 0; i < sets; ++i)
            for (int c = 0; c < numbers; ++c)
                sums[i][c] = sums[i][c] + w * maps[i][at + (size_t)c];
    }
}

static inline __attribute__((always_inline)) Vec3 ApplyMap(Lanes lanes, const snwWide* s, int numbers)
{
    const snwBlendPart* part = &lanes.pass->blendParts[lanes.block];
    snwWide x = snwWide_Load(&part->position[0][lanes.first]), y = snwWide_Load(&part->position[1][lanes.first]);
    if (numbers == 4)
        return (Vec3){s[0] * x - s[1] * y + s[2], s[1] * x + s[0] * y + s[3], snwWide_Splat(0)};
    if (numbers == 6)
        return (Vec3){s[0] * x + s[1] * y + s[2], s[3] * x + s[4] * y + s[5], snwWide_Splat(0)};
    snwWide z = snwWide_Load(&part->position[2][lanes.first]);
    return (Vec3){s[0] * x + s[1] * y + s[2] * z + s[3], s[4] * x + s[5] * y + s[6] * z + s[7],
        s[8] * x + s[9] * y + s[10] * z + s[11]};
}

// All lanes of x are read before any is written: those beyond the last vertex repeat it.
static inline void ChangeBlock(const snwRigPass* pass, int index, const Vec3* changes, float* rows)
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
        snwWide sums[1][snw_mostPassNumbers];
        BlendNumbers(lanes, &maps, 1, numbers, sums);
        out[i] = ApplyMap(lanes, sums[0], numbers);
    }
}

// Both sets of maps at once save the weights' second reading; larger ones would not fit into registers.
static inline void BlendFlat(const snwRigPass* pass, int index, const snwRigBlend* b)
{
    Vec3 changes[s_wides], places[s_wides];
    const float* both[2] = {b->changes, b->maps};
    for (int i = 0; i < s_wides; ++i)
    {
        Lanes lanes = {pass, index, i * SNW_WIDE_LANES};
        snwWide sums[2][snw_mostPassNumbers];
        BlendNumbers(lanes, both, 2, 4, sums);
        changes[i] = ApplyMap(lanes, sums[0], 4);
        places[i] = ApplyMap(lanes, sums[1], 4);
    }
    ChangeBlock(pass, index, changes, b->x);
    StoreBlock(pass, index, places, b);
}

static inline __attribute__((always_inline)) void BlendBlock(
    const snwRigPass* pass, int index, const snwRigBlend* b, int numbers)
{
    Vec3 moved[s_wides];
    if (b->x != NULL)
    {
        MapBlock(pass, index, b->changes, numbers, moved);
        ChangeBlock(pass, index, moved, b->x);
    }
    if (b->rigged != NULL)
    {
        MapBlock(pass, index, b->maps, numbers, moved);
        StoreBlock(pass, index, moved, b);
    }
}

static void Blend(const snwPassRange* range, const snwRigBlend* b)
{
    for (int i = range->begin; i < range->end; ++i)
    {
        if (range->pass->kind == snw_passFlat && b->x != NULL && b->rigged != NULL)
            BlendFlat(range->pass, i, b);
        else if (range->pass->kind == snw_passFlat)
            BlendBlock(range->pass, i, b, 4);
        else if (range->pass->kind == snw_passFlatAffine)
            BlendBlock(range->pass, i, b, 6);
        else
            BlendBlock(range->pass, i, b, 12);
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

static const snwPassKernels s_kernels = {Gather, Blend, Product};
