// The levels of a multigrid: lattices, interpolation, visiting orders, patterns. Made once, for the rest shape.
//
// What was chosen, and what was not:
//   - Lattices of tetrahedra, not aggregates of vertices: nearest lattice points alone take 71 iterations where linear
//     interpolation takes 22. Eight parents instead of four give the same iterations in twice the time.
//   - Clusters of neighbours, not colours over the whole mesh: one iteration less, and rows that follow each
//     other share what they read. A body has some hundred clusters at most, whatever its size.
//   - Lattice points are found by sorting their numbers. A table of all points of the box would be fine for a bar, and
//     endless for a thin rope that lies askew.

#include "linalg/multigrid_parts.h"

#include "base/sort.h"
#include "math/vec.h"

#include <assert.h>
#include <string.h>

enum
{
    levels_leastCluster = 256, // rows
    levels_mostClusters = 128,
    levels_fewRows = 40, // are solved directly
    levels_latticeBits = 21
};

static const double s_firstSpacing = 2.5;  // mean edges
static const double s_latticeShift = 0.37; // mean edges, so that no plane of a mesh lies in one of the lattice
static const double s_leastWeight = 0.1;

// Who is next to whom, without the vertex itself.
typedef struct Neighbours
{
    int *starts, *list;
} Neighbours;

typedef struct Lattice
{
    double origin[3], spacing[3]; // m
} Lattice;

typedef struct Builder
{
    const snwGridLevelsDef* def;
    snwGridLevels* grid;
    snwArena scratch; // until the levels are made
    snwMessage* message;
} Builder;

static snwResult CheckMemory(const Builder* builder)
{
    return builder->scratch.failed || builder->grid->arena.failed ? snwFailMemory(builder->message) : snw_ok;
}

static void* AllocForLevel(Builder* builder, size_t count, size_t size)
{
    builder->grid->memory += (int64_t)(count * size);
    return snwArena_Alloc(&builder->grid->arena, count + 1, size);
}

static void* Borrow(Builder* builder, size_t count, size_t size)
{
    return snwArena_Alloc(&builder->scratch, count + 1, size);
}

// Counts behind each other become where each begins.
static void Accumulate(int* starts, int count)
{
    for (int i = 0; i < count; ++i)
        starts[i + 1] += starts[i];
}

// ---------------------------------------------------------------------------------------------------------------------
// Visiting order

// A number that sorts like the double.
static uint64_t SortKeyOfDouble(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

typedef struct Halving
{
    const snwVec3* positions;
    int most;       // rows of a cluster
    int* list;      // vertices
    int* clusterOf; // [vertex]
    int clusters;
    uint64_t *keys, *otherKeys;
    int* otherList;
} Halving;

// Cuts along the longest side until a cluster is small enough.
static void Halve(Halving* h, int begin, int end)
{
    if (end - begin <= h->most)
    {
        for (int k = begin; k < end; ++k)
            h->clusterOf[h->list[k]] = h->clusters;
        h->clusters++;
        return;
    }

    snwVec3 low = h->positions[h->list[begin]], high = low;
    for (int k = begin; k < end; ++k)
    {
        low = snwVec3_Min(low, h->positions[h->list[k]]);
        high = snwVec3_Max(high, h->positions[h->list[k]]);
    }

    // In two along the longest side, with equally many on both sides.
    snwVec3 side = snwVec3_Sub(high, low);
    int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;

    for (int k = begin; k < end; ++k)
        h->keys[k] = SortKeyOfDouble((&h->positions[h->list[k]].x)[axis]);
    snwSortKeysWith(h->keys + begin, h->list + begin, end - begin, h->otherKeys + begin, h->otherList + begin);
    int middle = begin + (end - begin) / 2;
    Halve(h, begin, middle);
    Halve(h, middle, end);
}

// order[row] = vertex: phase by phase, cluster by cluster, inside of a cluster as the vertices are numbered. Clusters
// that touch get different phases, each the first that is free.
static void OrderRows(
    Builder* builder, int count, const snwVec3* positions, Neighbours near, int* order, snwBlockGraph* graph)
{
    int most = count / (levels_mostClusters / 2) + 1;
    Halving h = {.positions = positions,
        .most = most > levels_leastCluster ? most : levels_leastCluster,
        .list = Borrow(builder, (size_t)count, sizeof(int)),
        .clusterOf = Borrow(builder, (size_t)count, sizeof(int)),
        .keys = Borrow(builder, (size_t)count, sizeof(uint64_t)),
        .otherKeys = Borrow(builder, (size_t)count, sizeof(uint64_t)),
        .otherList = Borrow(builder, (size_t)count, sizeof(int))};
    graph->rows = count;
    graph->phaseStarts = AllocForLevel(builder, levels_mostClusters + 1, sizeof(int));
    graph->clusterStarts = AllocForLevel(builder, levels_mostClusters + 1, sizeof(int));
    if (CheckMemory(builder) < 0)
        return;
    for (int i = 0; i < count; ++i)
        h.list[i] = i;
    Halve(&h, 0, count);
    assert(h.clusters <= levels_mostClusters);

    // Clusters that share an edge must not be swept at the same time: greedy colours, called phases.
    bool touch[levels_mostClusters][levels_mostClusters] = {{0}};
    int phaseOf[levels_mostClusters] = {0}, rankOf[levels_mostClusters], begin[levels_mostClusters + 1] = {0};
    for (int i = 0; i < count; ++i)
        for (int k = near.starts[i]; k < near.starts[i + 1]; ++k)
            touch[h.clusterOf[i]][h.clusterOf[near.list[k]]] = true;
    for (int c = 0; c < h.clusters; ++c)
    {
        bool taken[levels_mostClusters + 1] = {0};
        for (int d = 0; d < c; ++d)
            taken[phaseOf[d]] |= touch[c][d];
        while (taken[phaseOf[c]])
            phaseOf[c]++;
        graph->phaseCount = phaseOf[c] + 1 > graph->phaseCount ? phaseOf[c] + 1 : graph->phaseCount;
    }

    // Clusters in the order of their phases, and vertices in the order of their clusters.
    for (int phase = 0, rank = 0; phase < graph->phaseCount; ++phase)
    {
        graph->phaseStarts[phase] = rank;
        for (int c = 0; c < h.clusters; ++c)
            if (phaseOf[c] == phase)
                rankOf[c] = rank++;
        graph->phaseStarts[phase + 1] = rank;
    }

    for (int i = 0; i < count; ++i)
        begin[rankOf[h.clusterOf[i]] + 1]++;
    Accumulate(begin, h.clusters);
    memcpy(graph->clusterStarts, begin, ((size_t)h.clusters + 1) * sizeof(int));
    for (int i = 0; i < count; ++i)
        order[begin[rankOf[h.clusterOf[i]]]++] = i;
}

// ---------------------------------------------------------------------------------------------------------------------
// Patterns

static int FindColumn(const int* columns, int begin, int end, int column)
{
    while (begin < end)
    {
        int middle = begin + (end - begin) / 2;
        if (columns[middle] < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static void SortShort(int* list, int count)
{
    for (int i = 1; i < count; ++i)
    {
        int value = list[i], k = i;
        for (; k > 0 && list[k - 1] > value; --k)
            list[k] = list[k - 1];
        list[k] = value;
    }
}

static void MakePattern(Builder* builder, Neighbours near, const int* order, const int* rowOf, snwBlockGraph* graph)
{
    int rows = graph->rows, half = near.starts[rows] / 2;
    graph->lowStarts = AllocForLevel(builder, (size_t)rows + 1, sizeof(int));
    graph->upStarts = AllocForLevel(builder, (size_t)rows + 1, sizeof(int));
    graph->lowColumns = AllocForLevel(builder, (size_t)half, sizeof(int));
    graph->upColumns = AllocForLevel(builder, (size_t)half, sizeof(int));
    graph->mirrors = AllocForLevel(builder, (size_t)half, sizeof(int));
    if (CheckMemory(builder) < 0)
        return;

    // Columns of each row in rising order, split at the diagonal.
    for (int i = 0, low = 0, up = 0; i < rows; ++i)
    {
        for (int k = near.starts[order[i]]; k < near.starts[order[i] + 1]; ++k)
        {
            int column = rowOf[near.list[k]];
            if (column < i)
                graph->lowColumns[low++] = column;
            else
                graph->upColumns[up++] = column;
        }

        SortShort(graph->lowColumns + graph->lowStarts[i], low - graph->lowStarts[i]);
        SortShort(graph->upColumns + graph->upStarts[i], up - graph->upStarts[i]);
        graph->lowStarts[i + 1] = low;
        graph->upStarts[i + 1] = up;
    }

    // Where the transposed entry of each upper one is.
    for (int i = 0; i < rows; ++i)
        for (int k = graph->upStarts[i]; k < graph->upStarts[i + 1]; ++k)
        {
            int j = graph->upColumns[k];
            graph->mirrors[k] = FindColumn(graph->lowColumns, graph->lowStarts[j], graph->lowStarts[j + 1], i);
        }
}

// Corners of an element are neighbours.
static Neighbours FindGridNeighbours(Builder* builder)
{
    const snwGridLevelsDef* def = builder->def;
    int count = def->vertexCount, corners = 4 * def->elementCount;
    int* starts = Borrow(builder, (size_t)count + 1, sizeof(int));
    int* elements = Borrow(builder, (size_t)corners, sizeof(int)); // of a vertex
    int* marks = Borrow(builder, (size_t)count, sizeof(int));

    Neighbours near = {.starts = Borrow(builder, (size_t)count + 1, sizeof(int))};
    if (CheckMemory(builder) < 0)
        return near;

    // Elements around each vertex.
    for (int k = 0; k < corners; ++k)
        starts[def->elements[k] + 1]++;
    Accumulate(starts, count);
    for (int k = corners - 1; k >= 0; --k) // fills each list from its end, so that starts are starts again
        elements[--starts[def->elements[k] + 1]] = k / 4;
    memmove(starts, starts + 1, (size_t)count * sizeof(int));
    starts[count] = corners;

    // Counted, then listed; marks hold the number of the vertex that saw a neighbour last.
    for (int pass = 0; pass < 2; ++pass)
    {
        int found = 0;
        memset(marks, 0, (size_t)count * sizeof(int));
        for (int i = 0; i < count; ++i)
        {
            for (int k = starts[i]; k < starts[i + 1]; ++k)
                for (int a = 0; a < 4; ++a)
                {
                    int j = def->elements[4 * elements[k] + a];
                    if (j == i || marks[j] == i + 1)
                        continue;
                    marks[j] = i + 1;
                    if (pass == 1)
                        near.list[found] = j;
                    found++;
                }
            near.starts[i + 1] = found;
        }

        if (pass == 0)
            near.list = Borrow(builder, (size_t)found, sizeof(int));
        if (CheckMemory(builder) < 0)
            return near;
    }

    return near;
}

// ---------------------------------------------------------------------------------------------------------------------
// Lattices

// Does every edge lead from one point of a lattice of boxes to a neighbouring one? Then its levels are nested.
static bool IsLattice(const snwGridLevelsDef* def, Lattice* lattice)
{
    // First the longest edge along each axis, then: is every edge along each axis of that length, or of none?
    double most[3] = {0};
    for (int pass = 0; pass < 2; ++pass)
        for (int e = 0; e < def->elementCount; ++e)
            for (int a = 1; a < 4; ++a)
            {
                const int* v = def->elements + 4 * e;
                snwVec3 edge = snwVec3_Sub(def->rest[v[a]], def->rest[v[0]]);
                for (int k = 0; k < 3; ++k)
                {
                    double length = fabs((&edge.x)[k]);
                    if (pass == 0)
                        most[k] = fmax(most[k], length);
                    else if (length > 1e-4 * most[k] && length < (1 - 1e-4) * most[k])
                        return false;
                }
            }

    // The coarse lattice has every second point, starting from the lowest corner.
    snwVec3 low = def->rest[0];
    for (int i = 0; i < def->vertexCount; ++i)
        low = snwVec3_Min(low, def->rest[i]);
    for (int k = 0; k < 3; ++k)
    {
        lattice->origin[k] = (&low.x)[k];
        lattice->spacing[k] = 2 * most[k];
        if (!(most[k] > 0))
            return false;
    }

    // Every vertex must be a point of the fine lattice.
    for (int i = 0; i < def->vertexCount; ++i)
        for (int k = 0; k < 3; ++k)
        {
            double place = ((&def->rest[i].x)[k] - lattice->origin[k]) / most[k];
            if (fabs(place - floor(place + 0.5)) > 1e-3)
                return false;
        }

    return true;
}

static Lattice MakeLattice(const snwGridLevelsDef* def)
{
    Lattice lattice;
    if (IsLattice(def, &lattice))
        return lattice;

    // No lattice of its own: a regular one, spaced by the mean edge, and shifted so that vertices do not fall on its
    // planes.
    double edge = 0;
    for (int e = 0; e < def->elementCount; ++e)
        for (int a = 1; a < 4; ++a)
            edge += snwVec3_Distance(def->rest[def->elements[4 * e]], def->rest[def->elements[4 * e + a]]);
    edge = def->elementCount > 0 && edge > 0 ? edge / (3.0 * def->elementCount) : 1;
    snwVec3 low = def->rest[0];
    for (int i = 0; i < def->vertexCount; ++i)
        low = snwVec3_Min(low, def->rest[i]);
    for (int k = 0; k < 3; ++k)
    {
        lattice.origin[k] = (&low.x)[k] - s_latticeShift * edge;
        lattice.spacing[k] = s_firstSpacing * edge;
    }

    return lattice;
}

static uint64_t LatticePointKey(const int64_t point[3])
{
    return (uint64_t)point[0] << 2 * levels_latticeBits | (uint64_t)point[1] << levels_latticeBits | (uint64_t)point[2];
}

static snwVec3 PointPlace(const Lattice* lattice, uint64_t key)
{
    double place[3];
    for (int k = 0; k < 3; ++k)
        place[k] = lattice->origin[k] + lattice->spacing[k] * (double)(key >> (2 - k) * levels_latticeBits &
                                                                       ((1u << levels_latticeBits) - 1));
    return (snwVec3){place[0], place[1], place[2]};
}

// The corners of the lattice tetrahedron around x and their weights: from the lowest corner of its box along the axes
// in the order in which x is farthest along them. Small weights are dropped, the others sum to one. -1: too far away.
static int FindLatticeParents(
    const Lattice* lattice, snwVec3 x, uint64_t keys[snw_mostParents], float weights[snw_mostParents])
{
    int64_t corner[3];
    double part[3];
    int axes[3] = {0, 1, 2};

    // Box and place in the box, each from 0 to 1.
    for (int k = 0; k < 3; ++k)
    {
        double place = ((&x.x)[k] - lattice->origin[k]) / lattice->spacing[k], box = floor(place + 1e-9);
        if (!(box >= 0 && box < (1 << levels_latticeBits) - 1))
            return -1;
        corner[k] = (int64_t)box;
        part[k] = fmax(0, place - box);
    }

    // Axes sorted, the farthest first: that names the tetrahedron.
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2 - a; ++b)
            if (part[axes[b]] < part[axes[b + 1]])
            {
                int axis = axes[b];
                axes[b] = axes[b + 1], axes[b + 1] = axis;
            }

    // Barycentric weights are the differences of the sorted places; each corner is one step along the next axis.
    int count = 0;
    double before = 1, sum = 0, kept[snw_mostParents];
    for (int k = 0; k < snw_mostParents; ++k)
    {
        double next = k < 3 ? part[axes[k]] : 0;
        if (before - next > s_leastWeight)
        {
            keys[count] = LatticePointKey(corner);
            kept[count++] = before - next;
            sum += before - next;
        }

        before = next;
        if (k < 3)
            corner[axes[k]]++;
    }

    for (int k = 0; k < count; ++k)
        weights[k] = (float)(kept[k] / sum);
    return count;
}

// ---------------------------------------------------------------------------------------------------------------------
// The next coarser level

// Which coarse vertex each (row, parent) belongs to: a lattice point has one for each connected piece of the rows that
// follow it. rest gets their places. Returns how many there are.
static int FindLatticePieces(const snwGridLevel* fine, const Lattice* lattice, int count, const uint64_t* keys,
    const int* slots, int* pieces, int* places, int* stack, snwVec3* rest)
{
    const snwBlockGraph* graph = &fine->graph;
    int found = 0;
    for (int i = 0; i < fine->rows; ++i)
        places[i] = -1;

    // Entries of one lattice point follow each other, sorted by key; flood fill through the rows' own edges finds its
    // pieces.
    for (int begin = 0, end; begin < count; begin = end)
    {
        for (end = begin; end < count && keys[end] == keys[begin]; ++end)
        {
            places[slots[end] / snw_mostParents] = end;
            pieces[end] = -1;
        }

        for (int k = begin; k < end; ++k)
        {
            if (pieces[k] >= 0)
                continue;
            int top = 0;
            rest[found] = PointPlace(lattice, keys[k]);
            stack[top++] = slots[k] / snw_mostParents;
            pieces[k] = found;

            while (top > 0)
            {
                int i = stack[--top];
                for (int e = graph->lowStarts[i]; e < graph->lowStarts[i + 1]; ++e)
                {
                    int j = graph->lowColumns[e];
                    if (places[j] >= 0 && pieces[places[j]] < 0)
                        pieces[places[j]] = found, stack[top++] = j;
                }

                for (int e = graph->upStarts[i]; e < graph->upStarts[i + 1]; ++e)
                {
                    int j = graph->upColumns[e];
                    if (places[j] >= 0 && pieces[places[j]] < 0)
                        pieces[places[j]] = found, stack[top++] = j;
                }
            }

            found++;
        }

        for (int k = begin; k < end; ++k)
            places[slots[k] / snw_mostParents] = -1;
    }

    return found;
}

// Children of coarse vertices from the parents of fine ones.
static void MakeChildren(const snwTransfer* transfer, int fineRows, int coarseRows)
{
    int* starts = transfer->childStarts;
    memset(starts, 0, ((size_t)coarseRows + 1) * sizeof(int));
    for (int k = 0; k < transfer->parentStarts[fineRows]; ++k)
        starts[transfer->parents[k] + 1]++;
    Accumulate(starts, coarseRows);
    for (int i = fineRows - 1; i >= 0; --i)
        for (int k = transfer->parentStarts[i]; k < transfer->parentStarts[i + 1]; ++k)
        {
            int at = --starts[transfer->parents[k] + 1];
            transfer->children[at] = i;
            transfer->childSlots[at] = k;
        }
    memmove(starts, starts + 1, (size_t)coarseRows * sizeof(int));
    starts[coarseRows] = transfer->parentStarts[fineRows];
}

// Coarse vertices are neighbours where the product P^T A P has a block.
static Neighbours FindCoarseNeighbours(Builder* builder, const snwGridLevel* fine, int coarseRows)
{
    const snwTransfer* t = &fine->transfer;
    const snwBlockGraph* graph = &fine->graph;
    int* marks = Borrow(builder, (size_t)coarseRows, sizeof(int));

    Neighbours near = {.starts = Borrow(builder, (size_t)coarseRows + 1, sizeof(int))};
    for (int pass = 0; pass < 2 && CheckMemory(builder) >= 0; ++pass)
    {
        int found = 0;
        memset(marks, 0, (size_t)coarseRows * sizeof(int));
        for (int c = 0; c < coarseRows; ++c)
        {
            // Whoever shares a child, or is a parent of a neighbour of a child.
            marks[c] = c + 1;
            for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
            {
                int i = t->children[k], low = graph->lowStarts[i + 1] - graph->lowStarts[i];
                int entries = low + 1 + graph->upStarts[i + 1] - graph->upStarts[i];
                for (int e = 0; e < entries; ++e)
                {
                    int j = e < low    ? graph->lowColumns[graph->lowStarts[i] + e]
                            : e == low ? i
                                       : graph->upColumns[graph->upStarts[i] + e - low - 1];
                    for (int q = t->parentStarts[j]; q < t->parentStarts[j + 1]; ++q)
                    {
                        int d = t->parents[q];
                        if (marks[d] == c + 1)
                            continue;
                        marks[d] = c + 1;
                        if (pass == 1)
                            near.list[found] = d;
                        found++;
                    }
                }
            }
            near.starts[c + 1] = found;
        }

        if (pass == 0)
            near.list = Borrow(builder, (size_t)found, sizeof(int));
    }

    return near;
}

// See snwMultigridKernels: which products make up a coarse row.
static snwResult MakeStream(Builder* builder, snwGridLevel* fine, const snwGridLevel* coarse)
{
    snwTransfer* t = &fine->transfer;
    const snwBlockGraph *graph = &fine->graph, *up = &coarse->graph;
    int* slotOf = Borrow(builder, (size_t)coarse->rows, sizeof(int));
    int* counts = Borrow(builder, (size_t)coarse->rows, sizeof(int)); // by slot, of the child at hand
    int64_t* places = Borrow(builder, (size_t)coarse->rows, sizeof(int64_t));

    // Counted first, then written.
    t->streamStarts = AllocForLevel(builder, (size_t)coarse->rows + 1, sizeof(int64_t));
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);

    for (int c = 0; c < coarse->rows; ++c)
        slotOf[c] = -1;
    for (int pass = 0; pass < 2; ++pass)
    {
        int64_t at = 0;
        for (int c = 0; c < coarse->rows; ++c)
        {
            // Slots of the coarse row's blocks: 0 is the diagonal, the upper ones follow.
            int width = 1 + up->upStarts[c + 1] - up->upStarts[c];
            t->streamStarts[c] = at;
            slotOf[c] = 0;
            for (int k = 1; k < width; ++k)
                slotOf[up->upColumns[up->upStarts[c] + k - 1]] = k;

            for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
            {
                int i = t->children[k], low = graph->lowStarts[i + 1] - graph->lowStarts[i];
                int entries = low + 1 + graph->upStarts[i + 1] - graph->upStarts[i];
                memset(counts, 0, (size_t)width * sizeof(int));
                for (int fill = 0; fill <= pass; ++fill) // first how many of each, then which
                {
                    for (int e = 0; e < entries; ++e)
                    {
                        int j = e < low    ? graph->lowColumns[graph->lowStarts[i] + e]
                                : e == low ? i
                                           : graph->upColumns[graph->upStarts[i] + e - low - 1];
                        for (int q = t->parentStarts[j]; q < t->parentStarts[j + 1]; ++q)
                        {
                            int slot = slotOf[t->parents[q]];
                            if (slot < 0)
                                continue;
                            if (fill == 0)
                                counts[slot]++;
                            else
                                t->stream[places[slot]++] = (unsigned short)(e * snw_mostParents + q -
                                                                             t->parentStarts[j]);
                        }
                    }

                    // Each slot that occurs opens with a head of two: the slot, and how many products follow.
                    for (int slot = 0; slot < width && fill == 0; ++slot)
                    {
                        if (counts[slot] == 0)
                            continue;
                        if (pass == 1)
                        {
                            t->stream[at] = (unsigned short)slot;
                            t->stream[at + 1] = (unsigned short)counts[slot];
                            places[slot] = at + 2;
                        }
                        at += 2 + counts[slot];
                    }
                }

                if (pass == 1)
                    t->stream[at] = snw_streamEnd;
                at++;
            }

            // Only the slots that were set, so that a row costs what it has.
            slotOf[c] = -1;
            for (int k = 1; k < width; ++k)
                slotOf[up->upColumns[up->upStarts[c] + k - 1]] = -1;
        }

        t->streamStarts[coarse->rows] = at;
        if (pass == 0)
            t->stream = AllocForLevel(builder, (size_t)at, sizeof *t->stream);
        if (CheckMemory(builder) < 0)
            return CheckMemory(builder);
    }

    return snw_ok;
}

// Streams count the entries of a row in short numbers.
static snwResult CheckGraphRows(const Builder* builder, const snwBlockGraph* graph)
{
    for (int i = 0; i < graph->rows; ++i)
    {
        int entries = graph->lowStarts[i + 1] - graph->lowStarts[i] + graph->upStarts[i + 1] - graph->upStarts[i];
        if (entries > snw_mostRowEntries)
            return snwFail(builder->message, snw_errorInput, "make elements of more even sizes",
                "a vertex has %d neighbours, %d are the most", entries, (int)snw_mostRowEntries);
    }
    return snw_ok;
}

// A level whose vertices have these places and neighbours: its order and pattern. rowOf[vertex] is filled in.
static snwResult MakeLevelRows(
    Builder* builder, snwGridLevel* level, int count, const snwVec3* rest, Neighbours near, int* rowOf)
{
    int* order = Borrow(builder, (size_t)count, sizeof(int));
    level->rows = count;
    level->rest = AllocForLevel(builder, (size_t)count, sizeof(snwVec3));
    if (CheckMemory(builder) < 0 || near.list == NULL)
        return snwFailMemory(builder->message);
    OrderRows(builder, count, rest, near, order, &level->graph);
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);
    for (int i = 0; i < count; ++i)
    {
        rowOf[order[i]] = i;
        level->rest[i] = rest[order[i]];
    }
    MakePattern(builder, near, order, rowOf, &level->graph);
    return CheckMemory(builder) < 0 ? CheckMemory(builder) : CheckGraphRows(builder, &level->graph);
}

// 0: it would hardly be smaller.
static snwResult Coarsen(Builder* builder, snwGridLevel* fine, snwGridLevel* coarse, const Lattice* lattice, bool* made)
{
    int rows = fine->rows, count = 0;
    size_t room = (size_t)rows * snw_mostParents;
    uint64_t* keys = Borrow(builder, room, sizeof(uint64_t));
    int *slots = Borrow(builder, room, sizeof(int)), *pieces = Borrow(builder, room, sizeof(int));
    int *places = Borrow(builder, (size_t)rows, sizeof(int)), *stack = Borrow(builder, room, sizeof(int));

    float(*weights)[snw_mostParents] = Borrow(builder, (size_t)rows, sizeof *weights);
    snwVec3* rest = Borrow(builder, room, sizeof(snwVec3));
    snwTransfer* t = &fine->transfer;
    t->parentStarts = AllocForLevel(builder, (size_t)rows + 1, sizeof(int));
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);

    // Up to four parents per row, each with a lattice point as its key.
    for (int i = 0; i < rows; ++i)
    {
        uint64_t parents[snw_mostParents];
        int found = FindLatticeParents(lattice, fine->rest[i], parents, weights[i]);
        if (found < 0)
            return snwFail(builder->message, snw_errorInput, "make elements of more even sizes",
                "the body is more than a million elements long");
        for (int q = 0; q < found; ++q)
        {
            keys[count] = parents[q];
            slots[count++] = i * snw_mostParents + q;
        }

        t->parentStarts[i + 1] = count;
    }

    if (!snwSortKeys(builder->grid->context, keys, slots, count))
        return snwFailMemory(builder->message);

    // One coarse vertex per connected piece: fingers next to each other do not share one. Less than a tenth fewer is
    // not worth a level.
    int coarseRows = FindLatticePieces(fine, lattice, count, keys, slots, pieces, places, stack, rest);
    *made = coarseRows < rows - rows / 10;
    if (!*made)
        return snw_ok;

    // From pieces to the lists by child and by parent.
    t->parents = AllocForLevel(builder, (size_t)count, sizeof(int));
    t->weights = AllocForLevel(builder, (size_t)count, sizeof(float));
    t->childStarts = AllocForLevel(builder, (size_t)coarseRows + 1, sizeof(int));
    t->children = AllocForLevel(builder, (size_t)count, sizeof(int));
    t->childSlots = AllocForLevel(builder, (size_t)count, sizeof(int));
    int* rowOf = Borrow(builder, (size_t)coarseRows, sizeof(int));
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);

    for (int k = 0; k < count; ++k)
    {
        int i = slots[k] / snw_mostParents, q = slots[k] % snw_mostParents, at = t->parentStarts[i] + q;
        t->parents[at] = pieces[k];
        t->weights[at] = weights[i][q];
    }

    MakeChildren(t, rows, coarseRows);

    // The coarse level in its own order; then the transfer speaks of rows.
    coarse->size = builder->def->unknowns;
    Neighbours near = FindCoarseNeighbours(builder, fine, coarseRows);
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);
    snwResult result = MakeLevelRows(builder, coarse, coarseRows, rest, near, rowOf);
    if (result < 0)
        return result;
    for (int k = 0; k < count; ++k)
        t->parents[k] = rowOf[t->parents[k]];
    MakeChildren(t, rows, coarseRows);
    return MakeStream(builder, fine, coarse);
}

// ---------------------------------------------------------------------------------------------------------------------
// The coarsest level

// Breadth first from one end of each piece, so that neighbours are near each other in the order of elimination.
static snwResult MakeSkyline(Builder* builder, const snwGridLevel* level, snwSkyline* skyline)
{
    const snwBlockGraph* graph = &level->graph;
    int rows = level->rows, size = level->size, placed = 0;
    int *order = Borrow(builder, (size_t)rows, sizeof(int)), *placeOf = Borrow(builder, (size_t)rows, sizeof(int));

    skyline->count = rows * size;
    skyline->first = AllocForLevel(builder, (size_t)skyline->count, sizeof(int));
    skyline->starts = AllocForLevel(builder, (size_t)skyline->count + 1, sizeof(int64_t));
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);

    // The search starts from the low end of the longest side.
    snwVec3 low = level->rest[0], high = low;
    for (int i = 0; i < rows; ++i)
    {
        placeOf[i] = -1;
        low = snwVec3_Min(low, level->rest[i]);
        high = snwVec3_Max(high, level->rest[i]);
    }

    snwVec3 side = snwVec3_Sub(high, low);
    int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    for (int seen = 0; placed < rows;)
    {
        int first = -1;
        for (int i = 0; i < rows; ++i)
            if (placeOf[i] < 0 && (first < 0 || (&level->rest[i].x)[axis] < (&level->rest[first].x)[axis]))
                first = i;
        order[placed] = first;
        placeOf[first] = placed++;

        for (; seen < placed; ++seen)
        {
            int i = order[seen], lowCount = graph->lowStarts[i + 1] - graph->lowStarts[i];
            int entries = lowCount + graph->upStarts[i + 1] - graph->upStarts[i];
            for (int e = 0; e < entries; ++e)
            {
                int j = e < lowCount ? graph->lowColumns[graph->lowStarts[i] + e]
                                     : graph->upColumns[graph->upStarts[i] + e - lowCount];
                if (placeOf[j] < 0)
                {
                    order[placed] = j;
                    placeOf[j] = placed++;
                }
            }
        }
    }

    // A row of the skyline begins at its earliest neighbour, for all unknowns of a vertex alike.
    skyline->placeOf = AllocForLevel(builder, (size_t)rows, sizeof(int));
    if (CheckMemory(builder) < 0)
        return CheckMemory(builder);
    memcpy(skyline->placeOf, placeOf, (size_t)rows * sizeof(int));
    for (int i = 0; i < rows; ++i)
    {
        int first = placeOf[i];
        for (int e = graph->lowStarts[i]; e < graph->lowStarts[i + 1]; ++e)
            first = placeOf[graph->lowColumns[e]] < first ? placeOf[graph->lowColumns[e]] : first;
        for (int e = graph->upStarts[i]; e < graph->upStarts[i + 1]; ++e)
            first = placeOf[graph->upColumns[e]] < first ? placeOf[graph->upColumns[e]] : first;
        for (int r = 0; r < size; ++r)
            skyline->first[placeOf[i] * size + r] = first * size;
    }

    for (int i = 0; i < skyline->count; ++i)
        skyline->starts[i + 1] = skyline->starts[i] + i - skyline->first[i] + 1;
    return CheckMemory(builder);
}

// ---------------------------------------------------------------------------------------------------------------------
// All levels

static snwResult MakeLevels(Builder* builder)
{
    const snwGridLevelsDef* def = builder->def;
    snwGridLevels* grid = builder->grid;
    int most = def->most > 0 && def->most < snw_mostLevels ? def->most : snw_mostLevels;

    grid->rowOf = AllocForLevel(builder, (size_t)def->vertexCount, sizeof(int));
    grid->levels[0].size = 3;
    Neighbours near = FindGridNeighbours(builder);
    snwResult result = CheckMemory(builder);
    if (result >= 0)
        result = MakeLevelRows(builder, &grid->levels[0], def->vertexCount, def->rest, near, grid->rowOf);
    grid->count = 1;

    Lattice lattice = MakeLattice(def);
    bool made = true;

    // Halve the resolution until few rows are left or a level would hardly be smaller.
    while (result >= 0 && made && grid->count < most && grid->levels[grid->count - 1].rows > levels_fewRows)
    {
        result = Coarsen(builder, &grid->levels[grid->count - 1], &grid->levels[grid->count], &lattice, &made);
        grid->count += result >= 0 && made;
        for (int k = 0; k < 3; ++k)
            lattice.spacing[k] *= 2;
    }

    if (result < 0)
        return result;

    // The widest coarse row decides how much scratch a thread needs.
    for (int a = 1; a < grid->count; ++a)
        for (int i = 0; i < grid->levels[a].rows; ++i)
        {
            const int* starts = grid->levels[a].graph.upStarts;
            int width = 1 + starts[i + 1] - starts[i];
            grid->galerkinWidth = width > grid->galerkinWidth ? width : grid->galerkinWidth;
        }

    return MakeSkyline(builder, &grid->levels[grid->count - 1], &grid->coarsest);
}

snwGridLevelsDef snwDefaultGridLevelsDef(void)
{
    return (snwGridLevelsDef){.unknowns = 6};
}

snwResult snwGridLevels_Create(
    snwContext* context, const snwGridLevelsDef* def, snwGridLevels** out, snwMessage* message)
{
    *out = NULL;
    if (def->vertexCount <= 0 || (def->unknowns != 3 && def->unknowns != 6))
        return snwFail(message, snw_errorArgument, NULL, "a grid needs vertices, and 3 or 6 unknowns");
    for (int k = 0; k < 4 * def->elementCount; ++k)
        if (def->elements[k] < 0 || def->elements[k] >= def->vertexCount)
            return snwFail(message, snw_errorInput, NULL, "element %d has no vertex %d", k / 4, def->elements[k]);
    for (int i = 0; i < def->vertexCount; ++i)
        if (!snwVec3_IsFinite(def->rest[i]))
            return snwFail(message, snw_errorInput, NULL, "vertex %d is nowhere", i);

    // Scratch of the making goes at the end; the levels stay.
    snwGridLevels* levels = snwAlloc(context, sizeof *levels);
    if (levels == NULL)
        return snwFailMemory(message);
    levels->context = context;
    levels->arena.context = context;
    Builder builder = {.def = def, .grid = levels, .scratch = {.context = context}, .message = message};
    snwResult result = MakeLevels(&builder);
    snwArena_Free(&builder.scratch);
    if (result < 0)
        snwGridLevels_Destroy(levels);
    else
        *out = levels;

    return result;
}

void snwGridLevels_Destroy(snwGridLevels* levels)
{
    if (levels == NULL)
        return;
    snwArena_Free(&levels->arena);
    snwFree(levels->context, levels);
}

const snwBlockGraph* snwGridLevels_Graph(const snwGridLevels* levels)
{
    return &levels->levels[0].graph;
}

const int* snwGridLevels_RowOf(const snwGridLevels* levels)
{
    return levels->rowOf;
}
