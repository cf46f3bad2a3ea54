// How cells become tets (paper, figure 4). Between two cells of one size, each edge of their common face makes a tet
// with the two centres; where a smaller cell has a corner on the edge's middle, two tets. Towards four smaller cells
// the face is fanned from its middle: eight tets for the larger cell, two for each of the smaller ones.
//
// Cells outside stay as large as they come out of the descent. A cell at the surface that meets such a one makes its
// tets as with a neighbour of its own size: whatever does not fit together there lies outside and is dropped.

#include "geom/lattice.h"
#include "base/sort.h"

#include <string.h>

enum
{
    lattice_maxRoots = 16, // along the longest side
    lattice_coarseSteps = 2,
    lattice_maxLevels = 19
};

typedef enum CellKind
{
    snw_cellCut,     // the surface may pass
    snw_cellInside,  // all inside
    snw_cellSkipped, // all outside, or all inside when only the surface matters
} CellKind;

typedef struct Cell
{
    int at[3]; // lower corner, in units
    int child; // first of eight, -1: a leaf
    int point; // the centre
    uint8_t level, kind;
    bool thin;
} Cell;

typedef int Corners4[4];

typedef struct Builder
{
    snwContext* context;
    const snwLatticeDef* def;
    snwLattice* lattice;
    snwMessage* message;
    snwArray(Cell) cells;
    snwArray(snwLatticePoint) points;
    snwArray(Corners4) tets;
    double* values;
    int valueCount, valueCapacity;
    int* table; // of point index + 1, by hash
    int tableBits;
    int roots[3];
    int finest;       // level of the smallest cells
    int surfaceLevel; // level of cells of size spacing
    bool graded;      // cells of more than one size make tets
} Builder;

snwResult snwFailDistance(snwMessage* message, snwVec3 point)
{
    return snwFail(message, snw_errorInput, "check the shapes that the solid is made of",
        "the distance at (%g, %g, %g) is not a number", point.x, point.y, point.z);
}

// ---------------------------------------------------------------------------------------------------------------------
// Points, each once

static uint64_t PointKey(const int at[3])
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 21 | (uint64_t)at[2] << 42;
}

static size_t Slot(const Builder* builder, const int at[3])
{
    return (size_t)((PointKey(at) * 0x9E3779B97F4A7C15ull) >> (64 - builder->tableBits));
}

static bool GrowTable(Builder* builder)
{
    int bits = builder->tableBits > 0 ? builder->tableBits + 1 : 12;
    int* table = snwAllocArray(builder->context, (size_t)1 << bits, sizeof *table);
    if (table == NULL)
        return false;
    snwFree(builder->context, builder->table);
    builder->table = table;
    builder->tableBits = bits;
    size_t mask = ((size_t)1 << bits) - 1;
    for (int i = 0; i < builder->points.count; ++i)
    {
        size_t slot = Slot(builder, builder->points.data[i].at);
        while (table[slot] != 0)
            slot = (slot + 1) & mask;
        table[slot] = i + 1;
    }
    return true;
}

// Index of the point, new or not; -1 if there is no memory.
static int AddLatticePoint(Builder* builder, int x, int y, int z)
{
    snwLatticePoint point = {{x, y, z}};
    if ((builder->tableBits == 0 || builder->points.count > 1 << (builder->tableBits - 1)) && !GrowTable(builder))
        return -1;
    size_t mask = ((size_t)1 << builder->tableBits) - 1, slot = Slot(builder, point.at);
    for (; builder->table[slot] != 0; slot = (slot + 1) & mask)
        if (memcmp(&builder->points.data[builder->table[slot] - 1], &point, sizeof point) == 0)
            return builder->table[slot] - 1;
    if (!snwArray_Push(builder->context, &builder->points, point))
        return -1;
    builder->table[slot] = builder->points.count;
    return builder->points.count - 1;
}

static snwVec3 PointPosition(const Builder* builder, int point)
{
    const int* at = builder->points.data[point].at;
    return snwVec3_MulAdd(builder->lattice->origin, builder->lattice->unit, (snwVec3){at[0], at[1], at[2]});
}

static void EvaluatePoints(int begin, int end, void* data)
{
    Builder* builder = data;
    const snwSolid* solid = builder->def->solid;
    for (int i = builder->valueCount + begin; i < builder->valueCount + end; ++i)
        builder->values[i] = solid->distance(PointPosition(builder, i), solid->data) - builder->def->level;
}

// Asks for the distance at all points that are new.
static snwResult EvaluateNew(Builder* builder)
{
    int fresh = builder->points.count - builder->valueCount;
    if (!snwArray_Grow(builder->context, (void**)&builder->values, builder->valueCount, &builder->valueCapacity, fresh,
            sizeof(double)))
        return snwFailMemory(builder->message);
    snwParallelFor(builder->context, fresh, 256, EvaluatePoints, builder);
    for (int i = builder->valueCount; i < builder->points.count; ++i)
        if (!isfinite(builder->values[i]))
            return snwFailDistance(builder->message, PointPosition(builder, i));
    builder->valueCount = builder->points.count;
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The octree

static int CellUnits(const Builder* builder, int level)
{
    return 2 << (builder->finest - level);
}

static double CellSize(const Builder* builder, int level)
{
    return builder->lattice->unit * CellUnits(builder, level);
}

static bool AddCell(Builder* builder, int x, int y, int z, int level)
{
    int half = CellUnits(builder, level) / 2;
    int point = AddLatticePoint(builder, x + half, y + half, z + half);
    Cell cell = {.at = {x, y, z}, .child = -1, .point = point, .level = (uint8_t)level};
    return point >= 0 && snwArray_Push(builder->context, &builder->cells, cell);
}

static bool SplitCell(Builder* builder, int index)
{
    Cell parent = builder->cells.data[index];
    int half = CellUnits(builder, parent.level) / 2, first = builder->cells.count;
    for (int i = 0; i < 8; ++i)
        if (!AddCell(builder, parent.at[0] + (i & 1 ? half : 0), parent.at[1] + (i & 2 ? half : 0),
                parent.at[2] + (i & 4 ? half : 0), parent.level + 1))
            return false;
    builder->cells.data[index].child = first;
    return true;
}

// Half a tenth more than the ball around the cell: the distance need not be exact.
static double CellReach(const Builder* builder, int level)
{
    return 0.866 * 1.1 * CellSize(builder, level);
}

static void ClassifyCell(Builder* builder, Cell* cell)
{
    double value = builder->values[cell->point], reach = CellReach(builder, cell->level);
    cell->kind = value > reach ? snw_cellSkipped : value >= -reach ? snw_cellCut : snw_cellInside;
    if (cell->kind == snw_cellInside && builder->def->surfaceOnly)
        cell->kind = snw_cellSkipped;
}

static bool WantsSplit(const Builder* builder, const Cell* cell)
{
    if (cell->kind == snw_cellSkipped)
        return false;
    if (cell->level >= builder->surfaceLevel)
        return cell->thin && cell->level < builder->finest;
    if (cell->kind == snw_cellCut || !builder->def->coarseInside ||
        cell->level < builder->surfaceLevel - lattice_coarseSteps)
        return true;
    // Two cells of the surface's size between the surface and anything larger.
    return -builder->values[cell->point] < CellReach(builder, cell->level) + 1.5 * builder->def->spacing;
}

static double DistanceAt(const Builder* builder, snwVec3 point)
{
    return builder->def->solid->distance(point, builder->def->solid->data) - builder->def->level;
}

// Thinner than about two cells (a surface alone: one): going inwards from the surface, the distance comes back before
// half of that is crossed.
// Coming back tells a plate from the edge of a box, where it only stops growing. Seven distances: every cell at the
// surface asks for them.
static bool IsThin(const Builder* builder, const Cell* cell)
{
    double size = CellSize(builder, cell->level), value = builder->values[cell->point], step = 0.02 * size;

    // Which way is out, by differences; a gradient without length is in the middle of something thin.
    snwVec3 p = PointPosition(builder, cell->point);
    snwVec3 gradient = {(DistanceAt(builder, (snwVec3){p.x + step, p.y, p.z}) - value) / step,
        (DistanceAt(builder, (snwVec3){p.x, p.y + step, p.z}) - value) / step,
        (DistanceAt(builder, (snwVec3){p.x, p.y, p.z + step}) - value) / step};
    double slope = snwVec3_Length(gradient);

    if (!(slope > 0.1))
        return true; // on the middle of something within reach of its surface

    // From the surface inwards.
    snwVec3 inward = snwVec3_Scale(gradient, -1 / slope);
    slope = fmin(fmax(slope, 0.5), 1);
    p = snwVec3_MulAdd(p, value / slope, inward);
    double stride = (builder->def->surfaceOnly ? 0.15 : 0.25) * size;
    value = 0;

    for (int i = 1; i <= 4; ++i)
    {
        double last = value;
        value = DistanceAt(builder, snwVec3_MulAdd(p, i * stride, inward));
        if (value - last > 0.3 * slope * stride)
            return true;
    }

    return false;
}

typedef struct ThinLoop
{
    Builder* builder;
    int first;
} ThinLoop;

static void MarkThinRange(int begin, int end, void* data)
{
    ThinLoop* loop = data;
    for (int i = loop->first + begin; i < loop->first + end; ++i)
    {
        Cell* cell = &loop->builder->cells.data[i];
        cell->thin = cell->kind == snw_cellCut && cell->level >= loop->builder->surfaceLevel &&
                     cell->level < loop->builder->finest && IsThin(loop->builder, cell);
    }
}

// What is known of the cells from `first` on once their centres have values.
static snwResult JudgeCells(Builder* builder, int first)
{
    snwResult result = EvaluateNew(builder);
    if (result < 0)
        return result;
    for (int i = first; i < builder->cells.count; ++i)
        ClassifyCell(builder, &builder->cells.data[i]);
    ThinLoop loop = {builder, first};
    if (builder->finest > builder->surfaceLevel)
        snwParallelFor(builder->context, builder->cells.count - first, 64, MarkThinRange, &loop);
    return snw_ok;
}

// The cell at most as deep as `level` that holds the point; -1 outside of the roots.
static int FindLatticeCell(const Builder* builder, const int at[3], int level)
{
    // Root cells are numbered along x, then y, then z.
    int units = CellUnits(builder, 0), root[3];
    for (int k = 0; k < 3; ++k)
    {
        root[k] = at[k] < 0 ? -1 : at[k] / units;
        if (root[k] < 0 || root[k] >= builder->roots[k])
            return -1;
    }

    int index = root[0] + builder->roots[0] * (root[1] + builder->roots[1] * root[2]);

    // Down through the children to the wanted depth.
    const Cell* cells = builder->cells.data;
    while (cells[index].child >= 0 && cells[index].level < level)
    {
        int half = CellUnits(builder, cells[index].level) / 2, child = 0;
        for (int k = 0; k < 3; ++k)
            child |= at[k] >= cells[index].at[k] + half ? 1 << k : 0;
        index = cells[index].child + child;
    }

    return index;
}

// A cell where a thin part meets a thick one sees only the thick one: what is thin spreads by one cell.
static bool SpreadThin(Builder* builder, int first)
{
    int count = builder->cells.count - first;
    bool* spread = snwAllocArray(builder->context, (size_t)count, sizeof *spread);
    if (spread == NULL)
        return false;

    // All 27 cells around and including itself; only cells that the surface cuts can be thin.
    for (int i = 0; i < 27 * count; ++i)
    {
        const Cell* cell = &builder->cells.data[first + i / 27];
        int d = i % 27, units = CellUnits(builder, cell->level);
        int at[3] = {cell->at[0] + (d % 3 - 1) * units, cell->at[1] + (d / 3 % 3 - 1) * units,
            cell->at[2] + (d / 9 - 1) * units};
        int other = cell->thin ? FindLatticeCell(builder, at, cell->level) : -1;
        if (other >= first && builder->cells.data[other].kind == snw_cellCut)
            spread[other - first] = true;
    }

    for (int i = 0; i < count; ++i)
        builder->cells.data[first + i].thin = spread[i];
    snwFree(builder->context, spread);
    return true;
}

static snwResult FailSize(const Builder* builder)
{
    return snwFail(builder->message, snw_errorArgument, "use a larger spacing",
        "a spacing of %g m would give more than %d million tets", builder->def->spacing, snw_maxMeshTets / 1000000);
}

// Stops a hopeless spacing before the memory is gone: cells inside grow eightfold per level, at the surface fourfold.
static bool IsTooLarge(const Builder* builder, int first)
{
    double cells = 0;
    for (int i = first; i < builder->cells.count; ++i)
    {
        const Cell* cell = &builder->cells.data[i];
        int below = builder->surfaceLevel - cell->level;
        if (below <= 0 || cell->kind == snw_cellSkipped)
            continue;
        bool solid = cell->kind == snw_cellInside && !builder->def->coarseInside;
        cells += solid ? ldexp(1, 3 * below) : ldexp(0.5, 2 * below);
    }
    return fmax(cells, 0.25 * builder->cells.count) * 12 > snw_maxMeshTets;
}

static snwResult Descend(Builder* builder)
{
    // Roots first.
    for (int z = 0; z < builder->roots[2]; ++z)
        for (int y = 0; y < builder->roots[1]; ++y)
            for (int x = 0; x < builder->roots[0]; ++x)
            {
                int units = CellUnits(builder, 0);
                if (!AddCell(builder, x * units, y * units, z * units, 0))
                    return snwFailMemory(builder->message);
            }

    // Level by level: all new cells are judged at once, on all threads, then split where that is wanted.
    for (int first = 0, end; first < builder->cells.count; first = end)
    {
        end = builder->cells.count;
        snwResult result = JudgeCells(builder, first);
        if (result < 0)
            return result;
        if (IsTooLarge(builder, first))
            return FailSize(builder);
        if (builder->finest > builder->surfaceLevel && !SpreadThin(builder, first))
            return snwFailMemory(builder->message);
        for (int i = first; i < end; ++i)
            if (WantsSplit(builder, &builder->cells.data[i]) && !SplitCell(builder, i))
                return snwFailMemory(builder->message);
    }

    return snw_ok;
}

// Splits the neighbours of a cell with children that are larger than it is: more than twice as large as the children.
static bool BalanceAround(Builder* builder, int index, bool* split)
{
    Cell cell = builder->cells.data[index];
    int units = CellUnits(builder, cell.level);
    for (int d = 0; d < 27; ++d)
    {
        int at[3] = {
            cell.at[0] + (d % 3 - 1) * units, cell.at[1] + (d / 3 % 3 - 1) * units, cell.at[2] + (d / 9 - 1) * units};
        int other = FindLatticeCell(builder, at, cell.level);
        if (other < 0 || builder->cells.data[other].kind == snw_cellSkipped || builder->cells.data[other].child >= 0 ||
            builder->cells.data[other].level >= cell.level)
            continue;
        *split = true;
        if (!SplitCell(builder, other))
            return false;
    }
    return true;
}

// Finest first; a split makes cells of a coarser level than those that asked for it, so rounds are few.
static snwResult BalanceLevels(Builder* builder)
{
    // Cells on the surface of one size, and no others that make tets: nothing to do.
    bool refined = false, coarse = builder->def->coarseInside && !builder->def->surfaceOnly;
    for (int i = 0; i < builder->cells.count && !refined; ++i)
        refined = builder->cells.data[i].level > builder->surfaceLevel;
    builder->graded = refined || coarse;
    for (bool again = builder->graded; again;)
    {
        // Each split may ask for others next to it, so rounds go on until none does.
        again = false;
        int first = builder->cells.count;
        for (int level = builder->finest - 1; level > 0; --level)
            for (int i = 0; i < first; ++i)
            {
                const Cell* cell = &builder->cells.data[i];
                if (cell->level == level && cell->child >= 0 && !BalanceAround(builder, i, &again))
                    return snwFailMemory(builder->message);
            }

        snwResult result = EvaluateNew(builder);
        if (result < 0)
            return result;
        for (int i = first; i < builder->cells.count; ++i)
            ClassifyCell(builder, &builder->cells.data[i]);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets

static bool AddLatticeTet(Builder* builder, int a, int b, int c, int d)
{
    if (a < 0 || b < 0 || c < 0 || d < 0 || !snwArray_Reserve(builder->context, &builder->tets, 1))
        return false;
    const snwLatticePoint* points = builder->points.data;
    int64_t p[4][3];
    for (int k = 0; k < 3; ++k)
        p[0][k] = points[a].at[k], p[1][k] = points[b].at[k], p[2][k] = points[c].at[k], p[3][k] = points[d].at[k];
    bool positive = snwLattice_Volume(p[0], p[1], p[2], p[3]) > 0;
    int* tet = builder->tets.data[builder->tets.count++];
    tet[0] = a, tet[1] = b, tet[2] = positive ? c : d, tet[3] = positive ? d : c;
    return true;
}

// One side of a cell.
typedef struct Side
{
    const Cell* cell;
    int units;      // of the cell
    int axis, sign; // the side's normal
    int middle[3];  // of the face, in units
} Side;

// The point at (u, v) half cells from the face's middle, along the two other axes.
static int FacePoint(Builder* builder, const Side* side, int u, int v)
{
    int at[3] = {side->middle[0], side->middle[1], side->middle[2]};
    at[(side->axis + 1) % 3] += u * side->units / 2;
    at[(side->axis + 2) % 3] += v * side->units / 2;
    return AddLatticePoint(builder, at[0], at[1], at[2]);
}

static bool HasChildren(const Builder* builder, const int at[3], int level)
{
    int index = FindLatticeCell(builder, at, level);
    return index >= 0 && builder->cells.data[index].level == level && builder->cells.data[index].child >= 0;
}

// Does a smaller cell have a corner on the middle of the edge at (u, v), one of which is 0?
static bool IsEdgeSplit(const Builder* builder, const Side* side, int u, int v)
{
    int at[3];
    for (int k = 0; k < 3; ++k)
        at[k] = side->cell->at[k] + side->units / 2;
    at[(side->axis + 1) % 3] += u * side->units;
    at[(side->axis + 2) % 3] += v * side->units;
    if (HasChildren(builder, at, side->cell->level))
        return true;
    at[side->axis] += side->sign * side->units;
    return HasChildren(builder, at, side->cell->level);
}

static const int s_around[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}}; // corners of a face

// Towards a cell of the same size with its centre at point `other`.
static bool AddEqualTets(Builder* builder, const Side* side, int other)
{
    // Around the side's four edges: one tet with the two centres each, two where the edge is split.
    for (int i = 0; i < 4; ++i)
    {
        const int *p = s_around[i], *q = s_around[i + 1];
        int u = (p[0] + q[0]) / 2, v = (p[1] + q[1]) / 2, center = side->cell->point;
        int a = FacePoint(builder, side, p[0], p[1]), b = FacePoint(builder, side, q[0], q[1]);
        bool done;

        if (builder->graded && IsEdgeSplit(builder, side, u, v))
        {
            int middle = FacePoint(builder, side, u, v);
            done = AddLatticeTet(builder, center, other, a, middle) && AddLatticeTet(builder, center, other, middle, b);
        }
        else
        {
            done = AddLatticeTet(builder, center, other, a, b);
        }

        if (!done)
            return false;
    }

    return true;
}

// Towards four smaller cells.
static bool AddCoarseTets(Builder* builder, const Side* side)
{
    int center = side->cell->point, middle = FacePoint(builder, side, 0, 0);
    for (int i = 0; i < 4; ++i)
    {
        const int *p = s_around[i], *q = s_around[i + 1];
        int a = FacePoint(builder, side, p[0], p[1]), b = FacePoint(builder, side, q[0], q[1]);
        int half = FacePoint(builder, side, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2);
        if (!AddLatticeTet(builder, center, middle, a, half) || !AddLatticeTet(builder, center, middle, half, b))
            return false;
    }
    return true;
}

// Towards a larger cell: the diagonal goes through the middle of the larger cell's face.
static bool AddFineTets(Builder* builder, const Side* side, const Cell* larger)
{
    int fan[2];
    for (int k = 0; k < 2; ++k)
    {
        int axis = (side->axis + 1 + k) % 3;
        fan[k] = larger->at[axis] + side->units > side->middle[axis] ? 1 : -1;
    }
    int center = side->cell->point, from = FacePoint(builder, side, fan[0], fan[1]);
    int to = FacePoint(builder, side, -fan[0], -fan[1]);
    return AddLatticeTet(builder, center, from, to, FacePoint(builder, side, fan[0], -fan[1])) &&
           AddLatticeTet(builder, center, from, to, FacePoint(builder, side, -fan[0], fan[1]));
}

static bool AddSideTets(Builder* builder, int index, int axis, int sign)
{
    Cell cell = builder->cells.data[index];
    Side side = {.cell = &cell, .units = CellUnits(builder, cell.level), .axis = axis, .sign = sign};
    int beyond[3];

    // The middle of the side, and the centre of a cell of the same size beyond it.
    for (int k = 0; k < 3; ++k)
    {
        side.middle[k] = cell.at[k] + side.units / 2 + (k == axis ? sign * side.units / 2 : 0);
        beyond[k] = cell.at[k] + side.units / 2 + (k == axis ? sign * side.units : 0);
    }

    int other = FindLatticeCell(builder, beyond, cell.level);
    const Cell* neighbour = other >= 0 ? &builder->cells.data[other] : NULL;

    // Larger than what is beyond, equal, or smaller. The lower of two equal cells leaves the tets to the other one.
    if (neighbour != NULL && neighbour->child >= 0)
        return AddCoarseTets(builder, &side);
    if (neighbour != NULL && neighbour->kind != snw_cellSkipped)
    {
        if (neighbour->level < cell.level)
            return AddFineTets(builder, &side, neighbour);
        return sign < 0 || AddEqualTets(builder, &side, neighbour->point); // the other one adds them if sign < 0
    }

    // Beyond the lattice: as if there were a cell of the same size.
    int center = AddLatticePoint(builder, beyond[0], beyond[1], beyond[2]);
    return center >= 0 && AddEqualTets(builder, &side, center);
}

// Bits of x at every third place.
static uint64_t SpreadBits(uint64_t x)
{
    uint64_t spread = 0;
    for (int i = 0; i < 21; ++i)
        spread |= (x >> i & 1) << (3 * i);
    return spread;
}

// The leaves that make tets, along a space-filling curve. NULL if there is no memory.
static int* OrderLeaves(Builder* builder, int* count)
{
    size_t cells = (size_t)builder->cells.count;
    uint64_t* keys = snwAllocArray(builder->context, cells, sizeof *keys);
    int* leaves = snwAllocArray(builder->context, cells, sizeof *leaves);
    bool enough = keys != NULL && leaves != NULL;

    *count = 0;

    // The curve's order keeps tets that are near each other near in memory.
    for (int i = 0; enough && i < builder->cells.count; ++i)
    {
        const Cell* cell = &builder->cells.data[i];
        if (cell->child >= 0 || cell->kind == snw_cellSkipped)
            continue;
        keys[*count] = SpreadBits((uint64_t)cell->at[0]) | SpreadBits((uint64_t)cell->at[1]) << 1 |
                       SpreadBits((uint64_t)cell->at[2]) << 2;
        leaves[(*count)++] = i;
    }

    enough = enough && snwSortKeys(builder->context, keys, leaves, *count);
    snwFree(builder->context, keys);
    if (enough)
        return leaves;
    snwFree(builder->context, leaves);

    return NULL;
}

static snwResult AddLatticeTets(Builder* builder)
{
    int leafCount = 0, *leaves = OrderLeaves(builder, &leafCount);
    bool enough = leaves != NULL;
    for (int i = 0; enough && i < leafCount && builder->tets.count <= snw_maxMeshTets; ++i)
        for (int d = 0; enough && d < 6; ++d)
            enough = AddSideTets(builder, leaves[i], d / 2, d % 2 ? 1 : -1);
    snwFree(builder->context, leaves);
    if (!enough)
        return snwFailMemory(builder->message);
    return builder->tets.count > snw_maxMeshTets ? FailSize(builder) : EvaluateNew(builder);
}

// A vertex moves to the surface only along an edge that crosses it. Tets of which nothing can be inside go; if only
// the surface matters also those that cannot get a face on it.
static bool DropTets(Builder* builder)
{
    bool* crossed = snwAllocArray(builder->context, (size_t)builder->points.count, sizeof *crossed);
    if (crossed == NULL)
        return false;
    const double* values = builder->values;
    int kept = 0;

    // Vertices of tets that the surface crosses.
    for (int i = 0; i < builder->tets.count; ++i)
    {
        const int* t = builder->tets.data[i];
        int inside = (values[t[0]] <= 0) + (values[t[1]] <= 0) + (values[t[2]] <= 0) + (values[t[3]] <= 0);
        for (int k = 0; k < 4 && inside > 0 && inside < 4; ++k)
            crossed[t[k]] = true;
    }

    // What is wholly outside goes.
    for (int i = 0; i < builder->tets.count; ++i)
    {
        int t[4];
        memcpy(t, builder->tets.data[i], sizeof t);
        int inside = (values[t[0]] <= 0) + (values[t[1]] <= 0) + (values[t[2]] <= 0) + (values[t[3]] <= 0);
        int near = crossed[t[0]] + crossed[t[1]] + crossed[t[2]] + crossed[t[3]];
        if (inside > 0 && (!builder->def->surfaceOnly || inside < 4 || near >= 3))
            memcpy(builder->tets.data[kept++], t, sizeof t);
    }

    builder->tets.count = kept;
    snwFree(builder->context, crossed);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------

static snwResult CheckLatticeDef(const snwLatticeDef* def, snwMessage* message)
{
    const snwSolid* solid = def->solid;
    snwVec3 size = snwVec3_Sub(solid->upper, solid->lower);
    if (!snwVec3_IsFinite(solid->lower) || !snwVec3_IsFinite(solid->upper) || !(size.x > 0 && size.y > 0 && size.z > 0))
        return snwFail(
            message, snw_errorInput, "give it some shape", "the solid is empty or its bounds are not finite");
    if (!(def->spacing > 0) || !isfinite(def->spacing))
        return snwFail(message, snw_errorArgument, "use a length in metres", "spacing is %g", def->spacing);
    if (!(def->detail >= def->spacing / 8.001 && def->detail <= def->spacing))
        return snwFail(message, snw_errorArgument, "use spacing, or less for thin parts",
            "detail is %g, not spacing / 8 .. spacing (%g)", def->detail, def->spacing);
    return snw_ok;
}

// Roots are as large as they may be so that the descent starts with few, and lie symmetrically about the solid's
// middle: a symmetric solid gets a symmetric lattice.
static snwResult PlaceRoots(Builder* builder)
{
    const snwLatticeDef* def = builder->def;
    snwVec3 size = snwVec3_Sub(def->solid->upper, def->solid->lower);
    double margin = 2 * (fmax(def->level, 0) + 3 * def->spacing), longest = fmax(size.x, fmax(size.y, size.z)) + margin;
    int fineSteps = 0;

    // Finer levels, up to three, that the detail asks for.
    for (double cell = def->spacing; fineSteps < 3 && cell / 2 >= def->detail * 0.999; cell /= 2)
        fineSteps++;
    builder->surfaceLevel = lattice_coarseSteps;
    double root = def->spacing * (1 << lattice_coarseSteps);
    for (; longest > root * lattice_maxRoots; root *= 2)
        if (++builder->surfaceLevel + fineSteps >= lattice_maxLevels - 4)
            return FailSize(builder);
    builder->finest = builder->surfaceLevel + fineSteps;

    // Half of the smallest cell is the unit, so that every middle is a whole number.
    builder->lattice->unit = root / (2 << builder->finest);

    // As many roots along each axis as hold the solid and its margin.
    double sizes[3] = {size.x + margin, size.y + margin, size.z + margin};
    for (int k = 0; k < 3; ++k)
        builder->roots[k] = (int)ceil(sizes[k] / root);
    snwVec3 middle = snwVec3_Lerp(def->solid->lower, def->solid->upper, 0.5);
    snwVec3 half = {builder->roots[0] * root / 2, builder->roots[1] * root / 2, builder->roots[2] * root / 2};
    builder->lattice->origin = snwVec3_MulAdd(snwVec3_Sub(middle, half), def->spacing, def->shift);

    return snw_ok;
}

// The rim of the roots lies two cells beyond the bounds; nothing there can be inside.
static snwResult CheckRootBounds(const Builder* builder)
{
    int units = CellUnits(builder, 0);
    for (int i = 0; i < builder->points.count; ++i)
        for (int k = 0; k < 3; ++k)
        {
            int at = builder->points.data[i].at[k];
            if ((at <= 0 || at >= builder->roots[k] * units) && builder->values[i] <= 0)
                return snwFail(builder->message, snw_errorInput, "make lower and upper hold all of it",
                    "the solid is larger than its bounds");
        }
    return snw_ok;
}

static snwResult BuildLattice(Builder* builder)
{
    snwResult result = CheckLatticeDef(builder->def, builder->message);
    result = result < 0 ? result : PlaceRoots(builder);
    result = result < 0 ? result : Descend(builder);
    result = result < 0 ? result : BalanceLevels(builder);
    result = result < 0 ? result : AddLatticeTets(builder);
    result = result < 0 ? result : CheckRootBounds(builder);
    if (result >= 0 && !DropTets(builder))
        result = snwFailMemory(builder->message);
    if (result >= 0 && builder->tets.count == 0)
        result = snwFail(builder->message, snw_errorInput, "use a smaller spacing",
            "no point of the lattice with spacing %g m is inside the solid", builder->def->spacing);
    return result;
}

snwResult snwLattice_Create(snwContext* context, const snwLatticeDef* def, snwLattice* lattice, snwMessage* message)
{
    *lattice = (snwLattice){0};
    Builder builder = {.context = context, .def = def, .lattice = lattice, .message = message};
    snwResult result = BuildLattice(&builder);
    lattice->points = builder.points.data, lattice->pointCount = builder.points.count;
    lattice->tets = builder.tets.data, lattice->tetCount = builder.tets.count;
    lattice->values = builder.values;
    snwArray_Free(context, &builder.cells);
    snwFree(context, builder.table);
    if (result < 0)
        snwLattice_Free(context, lattice);
    return result;
}

void snwLattice_Free(snwContext* context, snwLattice* lattice)
{
    snwFree(context, lattice->points);
    snwFree(context, lattice->tets);
    snwFree(context, lattice->values);
    *lattice = (snwLattice){0};
}
