#include "geom/box_tree.h"

#include "base/sort.h"
#include "math/vec.h"

snwBox snwBox_Empty(void)
{
    return (snwBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

snwBox snwBox_Add(snwBox box, snwVec3 point)
{
    return (snwBox){snwVec3_Min(box.lower, point), snwVec3_Max(box.upper, point)};
}

static snwBox Union(const snwBox* a, const snwBox* b)
{
    return (snwBox){snwVec3_Min(a->lower, b->lower), snwVec3_Max(a->upper, b->upper)};
}

static bool Overlap(const snwBox* a, const snwBox* b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static double Beyond(double lower, double upper, double x)
{
    return x < lower ? lower - x : x > upper ? x - upper : 0.0;
}

double snwBox_Distance2(const snwBox* box, snwVec3 point)
{
    double x = Beyond(box->lower.x, box->upper.x, point.x), y = Beyond(box->lower.y, box->upper.y, point.y),
           z = Beyond(box->lower.z, box->upper.z, point.z);
    return x * x + y * y + z * z;
}

// ---------------------------------------------------------------------------------------------------------------------
// Building

// 21 bits of each axis, interleaved.
static uint64_t Spread(uint64_t x)
{
    x &= 0x1FFFFF;
    x = (x | x << 32) & 0x1F00000000FFFFu;
    x = (x | x << 16) & 0x1F0000FF0000FFu;
    x = (x | x << 8) & 0x100F00F00F00F00Fu;
    x = (x | x << 4) & 0x10C30C30C30C30C3u;
    return (x | x << 2) & 0x1249249249249249u;
}

static uint64_t CurveKey(const snwBox* box, const snwBox* all, double scale)
{
    snwVec3 middle = snwVec3_Lerp(box->lower, box->upper, 0.5);
    snwVec3 at = snwVec3_Scale(snwVec3_Sub(middle, all->lower), scale);
    return Spread((uint64_t)at.x) | Spread((uint64_t)at.y) << 1 | Spread((uint64_t)at.z) << 2;
}

static bool SortItems(snwContext* context, const snwBox* boxes, int count, int* order)
{
    uint64_t* keys = snwAllocArray(context, (size_t)count, sizeof *keys);
    snwBox all = snwBox_Empty();
    for (int i = 0; i < count; ++i)
        all = Union(&all, &boxes[i]);
    snwVec3 extent = snwVec3_Sub(all.upper, all.lower);
    double size = fmax(extent.x, fmax(extent.y, extent.z));
    double scale = size > 0 ? (double)((1 << 21) - 1) / size : 0.0;
    for (int i = 0; i < count && keys != NULL; ++i)
    {
        keys[i] = CurveKey(&boxes[i], &all, scale);
        order[i] = i;
    }
    bool sorted = keys != NULL && snwSortKeys(context, keys, order, count);
    snwFree(context, keys);
    return sorted;
}

static int LayOut(snwBoxTree* tree, int items)
{
    int total = 0;
    for (int count = items;; count = (count + 1) / 2)
    {
        tree->starts[tree->levels] = total;
        tree->counts[tree->levels++] = count;
        total += count;
        if (count <= 1)
            return total;
    }
}

static void FillLevels(snwBoxTree* tree)
{
    for (int level = 1; level < tree->levels; ++level)
        for (int i = 0; i < tree->counts[level]; ++i)
        {
            const snwBox* below = tree->boxes + tree->starts[level - 1] + 2 * i;
            bool two = 2 * i + 1 < tree->counts[level - 1];
            tree->boxes[tree->starts[level] + i] = two ? Union(&below[0], &below[1]) : below[0];
        }
}

snwResult snwBuildBoxTree(snwArena* arena, const snwBox* boxes, int count, snwBoxTree* tree, snwMessage* message)
{
    *tree = (snwBoxTree){0};
    int total = LayOut(tree, count);
    tree->order = snwArena_Alloc(arena, (size_t)count + 1, sizeof *tree->order);
    tree->boxes = snwArena_Alloc(arena, (size_t)total + 1, sizeof *tree->boxes);
    if (tree->order == NULL || tree->boxes == NULL || !SortItems(arena->context, boxes, count, tree->order))
        return snwFailMemory(message);
    for (int i = 0; i < count; ++i)
        tree->boxes[i] = boxes[tree->order[i]];
    FillLevels(tree);
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Walking

static void Push(snwBoxWalk* walk, int level, int index, double distance2)
{
    walk->stack[walk->depth].level = level;
    walk->stack[walk->depth].index = index;
    walk->stack[walk->depth++].distance2 = distance2;
}

static const snwBox* BoxAt(const snwBoxTree* tree, int level, int index)
{
    return &tree->boxes[tree->starts[level] + index];
}

snwBoxWalk snwBoxTree_WalkOverlap(const snwBoxTree* tree, const snwBox* box)
{
    snwBoxWalk walk = {.tree = tree, .box = *box};
    if (tree->counts[0] > 0)
        Push(&walk, tree->levels - 1, 0, 0);
    return walk;
}

int snwBoxWalk_Next(snwBoxWalk* walk)
{
    const snwBoxTree* tree = walk->tree;
    while (walk->depth > 0)
    {
        int level = walk->stack[--walk->depth].level, index = walk->stack[walk->depth].index;
        if (!Overlap(BoxAt(tree, level, index), &walk->box))
            continue;
        if (level == 0)
            return tree->order[index];
        if (2 * index + 1 < tree->counts[level - 1])
            Push(walk, level - 1, 2 * index + 1, 0);
        Push(walk, level - 1, 2 * index, 0);
    }
    return -1;
}

snwBoxWalk snwBoxTree_WalkNear(const snwBoxTree* tree, snwVec3 point)
{
    snwBoxWalk walk = {.tree = tree, .point = point};
    if (tree->counts[0] > 0)
        Push(&walk, tree->levels - 1, 0, snwBox_Distance2(BoxAt(tree, tree->levels - 1, 0), point));
    return walk;
}

// The farther half goes onto the stack first.
static void PushHalves(snwBoxWalk* walk, int level, int index)
{
    const snwBoxTree* tree = walk->tree;
    double first = snwBox_Distance2(BoxAt(tree, level, index), walk->point);
    bool two = index + 1 < tree->counts[level];
    double second = two ? snwBox_Distance2(BoxAt(tree, level, index + 1), walk->point) : 0.0;
    if (two && second >= first)
        Push(walk, level, index + 1, second);
    Push(walk, level, index, first);
    if (two && second < first)
        Push(walk, level, index + 1, second);
}

int snwBoxWalk_NextNear(snwBoxWalk* walk, double distance2)
{
    while (walk->depth > 0)
    {
        int level = walk->stack[--walk->depth].level, index = walk->stack[walk->depth].index;
        if (walk->stack[walk->depth].distance2 > distance2)
            continue;
        if (level == 0)
            return walk->tree->order[index];
        PushHalves(walk, level - 1, 2 * index);
    }
    return -1;
}
