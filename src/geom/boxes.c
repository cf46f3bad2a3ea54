// Box trees: laid out once in the order of a space-filling curve, refitted from the leaves up after motion, and
// walked by eight boxes at once for what overlaps a box or is nearest to a point.

#include "geom/boxes.h"

#include "base/sort.h"
#include "math/simd.h"

snwBox snwBox_Grow(snwBox box, double margin)
{
    // Three roundings of a float, each at most 6e-8 of it.
    const float slack = 4e-7f, m = (float)margin * (1.0f + slack);
    for (int k = 0; k < 3 && box.lower[k] <= box.upper[k]; ++k) // empty stays empty
    {
        box.lower[k] = box.lower[k] - m - slack * (fabsf(box.lower[k]) + m);
        box.upper[k] = box.upper[k] + m + slack * (fabsf(box.upper[k]) + m);
    }
    return box;
}

int snwBoxTree_Layout(snwBoxTree* tree, int leafCount)
{
    *tree = (snwBoxTree){.leafCount = leafCount};
    int groups = 0;
    for (int boxes = leafCount; boxes > 0;)
    {
        boxes = (boxes + 7) / 8;
        groups += boxes;
        tree->starts[++tree->levelCount] = groups;
        if (boxes == 1)
            break;
    }
    return groups;
}

static int GroupCount(const snwBoxTree* tree, int level)
{
    return tree->starts[level + 1] - tree->starts[level];
}

static void SetBox(snwBoxGroup* group, int lane, const snwBox* box)
{
    for (int k = 0; k < 3; ++k)
    {
        group->lower[k][lane] = box->lower[k];
        group->upper[k][lane] = box->upper[k];
    }
}

static snwBox GroupBounds(const snwBoxGroup* group)
{
    snwBox bounds = snwBox_Empty();
    for (int lane = 0; lane < 8; ++lane)
        for (int k = 0; k < 3; ++k)
        {
            float lower = group->lower[k][lane], upper = group->upper[k][lane];
            bounds.lower[k] = lower < bounds.lower[k] ? lower : bounds.lower[k];
            bounds.upper[k] = upper > bounds.upper[k] ? upper : bounds.upper[k];
        }
    return bounds;
}

void snwBoxTree_SetLeaf(snwBoxTree* tree, int leaf, const snwBox* box)
{
    SetBox(&tree->groups[leaf / 8], leaf % 8, box);
}

void snwBoxTree_Refit(snwBoxTree* tree)
{
    const snwBox empty = snwBox_Empty();
    int boxes = tree->leafCount;
    for (int level = 0; level < tree->levelCount; ++level)
    {
        snwBoxGroup* groups = tree->groups + tree->starts[level];
        int count = GroupCount(tree, level);
        for (int i = boxes; i < 8 * count; ++i)
            SetBox(&groups[i / 8], i % 8, &empty);
        for (int i = 0; i < count && level + 1 < tree->levelCount; ++i)
        {
            snwBox bounds = GroupBounds(&groups[i]);
            SetBox(&tree->groups[tree->starts[level + 1] + i / 8], i % 8, &bounds);
        }
        boxes = count;
    }
}

snwBox snwBoxTree_Bounds(const snwBoxTree* tree)
{
    return tree->levelCount > 0 ? GroupBounds(&tree->groups[tree->starts[tree->levelCount - 1]]) : snwBox_Empty();
}

// ---------------------------------------------------------------------------------------------------------------------
// Overlap

static unsigned OverlapMask(const snwBoxGroup* group, const snwBox* box)
{
    unsigned mask = 0;
    for (int lane = 0; lane < 8; lane += SNW_WIDE_LANES)
    {
        snwWideInt apart = snwWideInt_Splat(0);
        for (int k = 0; k < 3; ++k)
            apart |= (snwWide_Load(group->lower[k] + lane) > snwWide_Splat(box->upper[k])) |
                     (snwWide_Load(group->upper[k] + lane) < snwWide_Splat(box->lower[k]));
        mask |= (unsigned)snwWideInt_Bits(~apart) << lane;
    }
    return mask;
}

static void PushGroup(snwBoxWalk* walk, int level, int group)
{
    walk->stack[walk->depth].level = level;
    walk->stack[walk->depth].group = group;
    walk->stack[walk->depth++].mask = OverlapMask(&walk->tree->groups[walk->tree->starts[level] + group], &walk->box);
}

void snwBoxWalk_Start(snwBoxWalk* walk, const snwBoxTree* tree, const snwBox* box)
{
    walk->tree = tree;
    walk->box = *box;
    walk->depth = 0;
    if (tree->levelCount > 0)
        PushGroup(walk, tree->levelCount - 1, 0);
}

int snwBoxWalk_Next(snwBoxWalk* walk)
{
    while (walk->depth > 0)
    {
        int top = walk->depth - 1, level = walk->stack[top].level;
        unsigned mask = walk->stack[top].mask;
        if (mask == 0)
        {
            walk->depth--;
            continue;
        }
        int box = 8 * walk->stack[top].group + __builtin_ctz(mask);
        walk->stack[top].mask = mask & (mask - 1);
        if (level == 0)
            return box;
        PushGroup(walk, level - 1, box);
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Nearness

static double OutsideRange(double lower, double upper, double p)
{
    double below = lower - p, above = p - upper, most = below > above ? below : above;
    return most > 0.0 ? most : 0.0;
}

static double LaneDistance(const snwBoxGroup* group, int lane, snwVec3 p)
{
    double x = OutsideRange(group->lower[0][lane], group->upper[0][lane], p.x);
    double y = OutsideRange(group->lower[1][lane], group->upper[1][lane], p.y);
    double z = OutsideRange(group->lower[2][lane], group->upper[2][lane], p.z);
    return x * x + y * y + z * z;
}

// The nearest on top: a sorted insertion into the part of the stack that this group adds.
static void PushNear(snwNearWalk* walk, int level, int index)
{
    const snwBoxGroup* group = &walk->tree->groups[walk->tree->starts[level] + index];
    int first = walk->count;
    for (int lane = 0; lane < 8; ++lane)
    {
        double squared = LaneDistance(group, lane, walk->point);
        if (!(squared <= *walk->squared))
            continue;
        int at = walk->count++;
        for (; at > first && walk->stack[at - 1].squared < squared; --at)
            walk->stack[at] = walk->stack[at - 1];
        walk->stack[at].level = level;
        walk->stack[at].box = 8 * index + lane;
        walk->stack[at].squared = squared;
    }
}

void snwNearWalk_Start(snwNearWalk* walk, const snwBoxTree* tree, snwVec3 point, const double* squared)
{
    walk->tree = tree;
    walk->point = point;
    walk->squared = squared;
    walk->count = 0;
    if (tree->levelCount > 0)
        PushNear(walk, tree->levelCount - 1, 0);
}

int snwNearWalk_Next(snwNearWalk* walk)
{
    while (walk->count > 0)
    {
        int top = --walk->count, level = walk->stack[top].level, box = walk->stack[top].box;
        if (walk->stack[top].squared > *walk->squared)
            continue;
        if (level == 0)
            return box;
        PushNear(walk, level - 1, box);
    }
    return -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Order along a space-filling curve

static uint64_t InterleaveBits(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffffULL;
    x = (x | x << 16) & 0x001f0000ff0000ffULL;
    x = (x | x << 8) & 0x100f00f00f00f00fULL;
    x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
    return (x | x << 2) & 0x1249249249249249ULL;
}

uint64_t snwMortonCode(const double point[3])
{
    const double most = (1 << 20) - 1;
    uint64_t code = 0;
    for (int k = 0; k < 3; ++k)
        code |= InterleaveBits((uint64_t)(fmin(fmax(point[k], 0.0), 1.0) * most)) << k;
    return code;
}

static uint64_t CodeOf(const snwBox* box, const snwBox* all, double perMetre)
{
    double place[3];
    for (int k = 0; k < 3; ++k)
        place[k] = (0.5 * ((double)box->lower[k] + (double)box->upper[k]) - (double)all->lower[k]) * perMetre;
    return snwMortonCode(place);
}

static bool SortAlongCurve(snwContext* context, const snwBox* boxes, int count, int* order)
{
    uint64_t* keys = snwAllocArray(context, (size_t)count + 1, sizeof *keys);
    snwBox all = snwBox_Empty();
    double longest = 0.0;
    for (int i = 0; i < count; ++i)
        all = snwBox_Union(all, boxes[i]);
    for (int k = 0; k < 3; ++k)
        longest = fmax(longest, (double)all.upper[k] - (double)all.lower[k]);
    for (int i = 0; i < count && keys != NULL; ++i)
    {
        keys[i] = CodeOf(&boxes[i], &all, longest > 0.0 ? 1.0 / longest : 0.0);
        order[i] = i;
    }
    bool sorted = keys != NULL && snwSortKeys(context, keys, order, count);
    snwFree(context, keys);
    return sorted;
}

snwResult snwBuildBoxTree(
    snwArena* arena, const snwBox* boxes, int count, snwBoxTree* tree, int** order, snwMessage* message)
{
    int groups = snwBoxTree_Layout(tree, count);
    tree->groups = snwArena_Alloc(arena, (size_t)groups + 1, sizeof *tree->groups);
    *order = snwArena_Alloc(arena, (size_t)count + 1, sizeof **order);
    if (tree->groups == NULL || *order == NULL || !SortAlongCurve(arena->context, boxes, count, *order))
        return snwFailMemory(message);
    for (int i = 0; i < count; ++i)
        snwBoxTree_SetLeaf(tree, i, &boxes[(*order)[i]]);
    snwBoxTree_Refit(tree);
    return snw_ok;
}
