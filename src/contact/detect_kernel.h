// The first look, for the lanes that simd.h gives. Included once per instruction set.
//
// Boxes of as many elements as there are lanes are made from their corners and compared with the box of all points;
// for those that pass, the points are compared as many at a time. A corner that is NaN is left out of a box or makes it
// meet nothing; either is right, because the exact test then says no.

#include "contact/detect_parts.h"
#include "math/simd.h"

typedef struct Boxes
{
    snwWide lower[3], upper[3];
} Boxes;

static inline void AddCorners(Boxes* boxes, const float* positions, const int* index)
{
    snwWide p[4];
    snwWide_Load4(positions, index, &p[0], &p[1], &p[2], &p[3]);
    for (int k = 0; k < 3; ++k)
    {
        boxes->lower[k] = snwWide_Min(p[k], boxes->lower[k]);
        boxes->upper[k] = snwWide_Max(p[k], boxes->upper[k]);
    }
}

static inline Boxes NoBoxes(void)
{
    snwWide most = snwWide_Splat(INFINITY), least = snwWide_Splat(-INFINITY);
    return (Boxes){{most, most, most}, {least, least, least}};
}

static inline int Meeting(const Boxes* boxes, const snwBox* box)
{
    snwWideInt meets = snwWideInt_Splat(-1);
    for (int k = 0; k < 3; ++k)
        meets &= (boxes->lower[k] <= snwWide_Splat(box->upper[k])) & (boxes->upper[k] >= snwWide_Splat(box->lower[k]));
    return snwWideInt_Bits(meets);
}

// lower and upper: of the points, or of their ways.
static inline int AddPairs(const Boxes* boxes, int mask, int first, const float (*lower)[snw_leafPoints],
    const float (*upper)[snw_leafPoints], snwPair* pairs, int count)
{
    _Alignas(32) float sides[6][SNW_WIDE_LANES];
    for (int k = 0; k < 3; ++k)
    {
        snwWide_Store(sides[k], boxes->lower[k]);
        snwWide_Store(sides[3 + k], boxes->upper[k]);
    }

    // For each element that passed: which points' boxes overlap its box, all lanes at once.
    for (; mask != 0; mask &= mask - 1)
    {
        int thing = __builtin_ctz((unsigned)mask);
        for (int lane = 0; lane < snw_leafPoints; lane += SNW_WIDE_LANES)
        {
            snwWideInt in = snwWideInt_Splat(-1);
            for (int k = 0; k < 3; ++k)
                in &= (snwWide_Load(upper[k] + lane) >= snwWide_Splat(sides[k][thing])) &
                      (snwWide_Load(lower[k] + lane) <= snwWide_Splat(sides[3 + k][thing]));
            for (int bits = snwWideInt_Bits(in); bits != 0; bits &= bits - 1)
                pairs[count++] = (snwPair){(uint16_t)(lane + __builtin_ctz((unsigned)bits)), (uint16_t)(first + thing)};
        }
    }

    return count;
}

static int Elements(const snwPointLeaf* leaf, const float* now, const int (*block)[snw_leafElements], snwPair* pairs)
{
    int count = 0;
    for (int i = 0; i < snw_leafElements; i += SNW_WIDE_LANES)
    {
        Boxes boxes = NoBoxes();
        for (int k = 0; k < 4; ++k)
            AddCorners(&boxes, now, block[k] + i);
        int mask = Meeting(&boxes, &leaf->box);
        if (mask != 0)
            count = AddPairs(&boxes, mask, i, leaf->now, leaf->now, pairs, count);
    }
    return count;
}

static int Facets(
    const snwPointLeaf* leaf, const float* now, const float* before, const int (*block)[snw_leafFacets], snwPair* pairs)
{
    int count = 0;
    for (int i = 0; i < snw_leafFacets; i += SNW_WIDE_LANES)
    {
        Boxes boxes = NoBoxes();
        for (int k = 0; k < 3; ++k)
        {
            AddCorners(&boxes, now, block[k] + i);
            AddCorners(&boxes, before, block[k] + i);
        }
        int mask = Meeting(&boxes, &leaf->swept);
        if (mask != 0)
            count = AddPairs(&boxes, mask, i, leaf->lower, leaf->upper, pairs, count);
    }
    return count;
}

static const snwDetectKernels s_kernels = {Elements, Facets};
