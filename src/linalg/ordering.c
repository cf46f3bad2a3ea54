// Nested dissection (George 1973) by multilevel vertex separators (Hendrickson and Rothberg 1998; Karypis and Kumar
// 1998): cut the graph in two by as few vertices as possible, number these last, go on with both halves; what is small
// is ordered by minimum degree.
//
// A separator is found on a small likeness of the graph, made by merging pairs of neighbours again and again, and is
// then improved on the way back: a vertex leaves the separator for one side and pulls its neighbours of the other
// side in, best gain first, and the best state seen is kept (Fiduccia and Mattheyses 1982, in its form for vertices).
//
// Why not METIS, which does just this: it draws from rand(), so two threads that order at one time disturb each other
// and the order (and with it all bits of a sim) would be a matter of luck; it catches signals of the whole process,
// takes memory behind the context's back and ends the process where it finds a mistake. All choices here are made with
// integers and a generator of our own.

#include "linalg/ordering.h"

#include "base/arena.h"

#include <string.h>

enum
{
    snw_leafSize = 120,      // vertices ordered by minimum degree; at most 128
    snw_coarsestSize = 80,   // vertices of the smallest likeness
    snw_separatorTries = 12, // first cuts to choose from
    snw_refinePasses = 6,
    snw_separator = 2 // label of a vertex between the sides 0 and 1
};

typedef struct Level
{
    int count;
    int *starts, *edges, *edgeWeights, *weights;
    int* coarse; // vertex of the next level
    unsigned char* labels;
} Level;

static uint32_t NextRandom(uint32_t* state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int TotalWeight(const Level* level)
{
    int total = 0;
    for (int v = 0; v < level->count; ++v)
        total += level->weights[v];
    return total;
}

static bool AllocLevel(snwArena* arena, Level* level, int count, int edges)
{
    level->count = count;
    level->starts = snwArena_Alloc(arena, (size_t)count + 1, sizeof(int));
    level->edges = snwArena_Alloc(arena, (size_t)edges, sizeof(int));
    level->edgeWeights = snwArena_Alloc(arena, (size_t)edges, sizeof(int));
    level->weights = snwArena_Alloc(arena, (size_t)count, sizeof(int));
    level->coarse = snwArena_Alloc(arena, (size_t)count, sizeof(int));
    level->labels = snwArena_Alloc(arena, (size_t)count, 1);
    return !arena->failed;
}

// ---------------------------------------------------------------------------------------------------------------------
// Coarser likenesses

// Each vertex pairs with the free neighbour of the heaviest edge (then of the least weight). Returns the number of
// pairs and singles; match[v] is the partner or v.
static int MatchPairs(const Level* fine, int* visit, int* match, int heaviest, uint32_t* random)
{
    // A random order of visits, the same on every machine: pairs along the numbering would make long, thin clusters.
    for (int v = 0; v < fine->count; ++v)
        visit[v] = v, match[v] = -1;
    for (int i = fine->count - 1; i > 0; --i)
    {
        int j = (int)(NextRandom(random) % (uint32_t)(i + 1)), swap = visit[i];
        visit[i] = visit[j], visit[j] = swap;
    }

    int count = 0;
    for (int i = 0; i < fine->count; ++i)
    {
        int v = visit[i], best = v, bestEdge = -1;
        if (match[v] >= 0)
            continue;
        for (int e = fine->starts[v]; e < fine->starts[v + 1]; ++e)
        {
            int u = fine->edges[e], edge = fine->edgeWeights[e];
            if (match[u] >= 0 || fine->weights[u] + fine->weights[v] > heaviest)
                continue;
            if (edge > bestEdge || (edge == bestEdge && fine->weights[u] < fine->weights[best]))
                best = u, bestEdge = edge;
        }

        match[v] = best;
        match[best] = v;
        ++count;
    }

    return count;
}

static void NumberMatches(Level* fine, const int* match)
{
    for (int v = 0, next = 0; v < fine->count; ++v)
        fine->coarse[v] = match[v] >= v ? next++ : fine->coarse[match[v]];
}

// The edges of fine vertex v, added to those of its coarse vertex; place[u] is where edge u of this vertex is.
static int MergeEdges(const Level* fine, int v, Level* coarse, int* place, int begin, int end)
{
    int self = fine->coarse[v];
    for (int e = fine->starts[v]; e < fine->starts[v + 1]; ++e)
    {
        int u = fine->coarse[fine->edges[e]];
        if (u == self)
            continue;
        int at = place[u];
        if (at < begin || at >= end || coarse->edges[at] != u)
        {
            place[u] = at = end++;
            coarse->edges[at] = u;
            coarse->edgeWeights[at] = 0;
        }
        coarse->edgeWeights[at] += fine->edgeWeights[e];
    }
    return end;
}

static void FillCoarse(const Level* fine, const int* match, Level* coarse, int* place)
{
    int end = 0;
    memset(place, 0, (size_t)coarse->count * sizeof *place);
    for (int v = 0; v < fine->count; ++v)
    {
        if (match[v] < v)
            continue;
        int self = fine->coarse[v], begin = end;
        coarse->starts[self] = begin;
        coarse->weights[self] = fine->weights[v] + (match[v] != v ? fine->weights[match[v]] : 0);
        end = MergeEdges(fine, v, coarse, place, begin, end);
        if (match[v] != v)
            end = MergeEdges(fine, match[v], coarse, place, begin, end);
    }
    coarse->starts[coarse->count] = end;
}

// ---------------------------------------------------------------------------------------------------------------------
// Improving a separator

// A heap of separator vertices, the best gain on top.
typedef struct Heap
{
    int* items;
    int* places; // [vertices] -1: not in it
    int* gains;  // [vertices]
    int count;
} Heap;

static bool IsBeforeInHeap(const Heap* heap, int a, int b)
{
    return heap->gains[a] > heap->gains[b] || (heap->gains[a] == heap->gains[b] && a < b);
}

static void PutItem(Heap* heap, int place, int v)
{
    heap->items[place] = v;
    heap->places[v] = place;
}

static void SiftUp(Heap* heap, int place)
{
    int v = heap->items[place];
    for (; place > 0 && IsBeforeInHeap(heap, v, heap->items[(place - 1) / 2]); place = (place - 1) / 2)
        PutItem(heap, place, heap->items[(place - 1) / 2]);
    PutItem(heap, place, v);
}

static void SiftDownHeap(Heap* heap, int place)
{
    int v = heap->items[place];
    for (int child; (child = 2 * place + 1) < heap->count; place = child)
    {
        if (child + 1 < heap->count && IsBeforeInHeap(heap, heap->items[child + 1], heap->items[child]))
            ++child;
        if (!IsBeforeInHeap(heap, heap->items[child], v))
            break;
        PutItem(heap, place, heap->items[child]);
    }
    PutItem(heap, place, v);
}

static void InsertItem(Heap* heap, int v, int gain)
{
    heap->gains[v] = gain;
    PutItem(heap, heap->count++, v);
    SiftUp(heap, heap->count - 1);
}

static void RemoveItem(Heap* heap, int v)
{
    int place = heap->places[v], last = heap->items[--heap->count];
    heap->places[v] = -1;
    if (last == v)
        return;
    PutItem(heap, place, last);
    SiftUp(heap, place);
    SiftDownHeap(heap, heap->places[last]);
}

static void ChangeGain(Heap* heap, int v, int change)
{
    if (heap->places[v] < 0)
        return;
    heap->gains[v] += change;
    SiftUp(heap, heap->places[v]);
    SiftDownHeap(heap, heap->places[v]);
}

typedef struct Refiner
{
    const Level* level;
    Heap heaps[2];  // of moves to side 0 and to side 1
    int weights[3]; // of the sides and the separator
    int limit;      // greatest weight of a side
    int* trail;     // vertices that changed their label, in order
    char* trailWas; // the label they had
    int trailCount, trailCapacity;
    bool* moved; // this pass
} Refiner;

static void SetLabel(Refiner* refiner, int v, int label)
{
    unsigned char* labels = refiner->level->labels;
    refiner->weights[labels[v]] -= refiner->level->weights[v];
    refiner->weights[label] += refiner->level->weights[v];
    labels[v] = (unsigned char)label;
}

static void RecordMove(Refiner* refiner, int v, int label)
{
    refiner->trail[refiner->trailCount] = v;
    refiner->trailWas[refiner->trailCount++] = (char)refiner->level->labels[v];
    SetLabel(refiner, v, label);
}

// What leaving the separator for `side` would save: its weight less that of the neighbours it pulls in.
static int GainOf(const Level* level, int v, int side)
{
    int gain = level->weights[v];
    for (int e = level->starts[v]; e < level->starts[v + 1]; ++e)
        if (level->labels[level->edges[e]] == 1 - side)
            gain -= level->weights[level->edges[e]];
    return gain;
}

static void PullIn(Refiner* refiner, int u, int side)
{
    const Level* level = refiner->level;
    RecordMove(refiner, u, snw_separator);
    for (int e = level->starts[u]; e < level->starts[u + 1]; ++e)
        if (level->labels[level->edges[e]] == snw_separator)
            ChangeGain(&refiner->heaps[side], level->edges[e], level->weights[u]);
    if (refiner->moved[u])
        return;
    InsertItem(&refiner->heaps[0], u, GainOf(level, u, 0));
    InsertItem(&refiner->heaps[1], u, GainOf(level, u, 1));
}

static void MoveOutOfSeparator(Refiner* refiner, int v, int side)
{
    const Level* level = refiner->level;
    RemoveItem(&refiner->heaps[0], v);
    RemoveItem(&refiner->heaps[1], v);
    refiner->moved[v] = true;
    RecordMove(refiner, v, side);
    for (int e = level->starts[v]; e < level->starts[v + 1]; ++e)
        if (level->labels[level->edges[e]] == snw_separator)
            ChangeGain(&refiner->heaps[1 - side], level->edges[e], -level->weights[v]);
    for (int e = level->starts[v]; e < level->starts[v + 1]; ++e)
        if (level->labels[level->edges[e]] == 1 - side)
            PullIn(refiner, level->edges[e], side);
}

// The side of the next move, -1 if there is none that keeps the balance.
static int ChooseSide(const Refiner* refiner)
{
    bool can[2];
    for (int side = 0; side < 2; ++side)
    {
        const Heap* heap = &refiner->heaps[side];
        can[side] = heap->count > 0 &&
                    refiner->weights[side] + refiner->level->weights[heap->items[0]] <= refiner->limit;
    }
    if (!can[0] || !can[1])
        return can[0] ? 0 : can[1] ? 1 : -1;
    int gain0 = refiner->heaps[0].gains[refiner->heaps[0].items[0]];
    int gain1 = refiner->heaps[1].gains[refiner->heaps[1].items[0]];
    if (gain0 != gain1)
        return gain0 > gain1 ? 0 : 1;
    return refiner->weights[0] <= refiner->weights[1] ? 0 : 1;
}

static int Heavier(const int weights[3])
{
    return weights[0] > weights[1] ? weights[0] : weights[1];
}

// Smaller is better: the separator first, then the balance.
static int64_t ScoreSeparator(const Refiner* refiner)
{
    int heavier = Heavier(refiner->weights), over = heavier > refiner->limit ? heavier - refiner->limit : 0;
    return ((int64_t)refiner->weights[2] + 4 * (int64_t)over) * 1000000 +
           (int64_t)heavier * 1000000 / (refiner->weights[0] + refiner->weights[1] + refiner->weights[2] + 1);
}

static bool RefinePass(Refiner* refiner)
{
    const Level* level = refiner->level;

    // All separator vertices wait on both heaps, by how much the separator would shrink.
    refiner->heaps[0].count = refiner->heaps[1].count = refiner->trailCount = 0;
    memset(refiner->heaps[0].places, -1, (size_t)level->count * sizeof(int));
    memset(refiner->heaps[1].places, -1, (size_t)level->count * sizeof(int));
    memset(refiner->moved, 0, (size_t)level->count);
    for (int v = 0; v < level->count; ++v)
        for (int side = 0; side < 2 && level->labels[v] == snw_separator; ++side)
            InsertItem(&refiner->heaps[side], v, GainOf(level, v, side));
    int64_t start = ScoreSeparator(refiner), best = start;
    int bestTrail = 0, patience = refiner->heaps[0].count / 2 + 40;

    // Moves go on past worse states: a pass may climb over a hill, up to `patience` moves after the best.
    for (int idle = 0; idle < patience && refiner->trailCount < refiner->trailCapacity - level->count; ++idle)
    {
        int side = ChooseSide(refiner);
        if (side < 0)
            break;
        MoveOutOfSeparator(refiner, refiner->heaps[side].items[0], side);
        int64_t score = ScoreSeparator(refiner);
        if (score < best)
            best = score, bestTrail = refiner->trailCount, idle = 0;
    }

    // Back to the best state.
    while (refiner->trailCount > bestTrail)
    {
        --refiner->trailCount;
        SetLabel(refiner, refiner->trail[refiner->trailCount], refiner->trailWas[refiner->trailCount]);
    }

    return best < start;
}

static bool AllocRefiner(snwArena* arena, Refiner* refiner, int count)
{
    for (int side = 0; side < 2; ++side)
    {
        refiner->heaps[side].items = snwArena_Alloc(arena, (size_t)count, sizeof(int));
        refiner->heaps[side].places = snwArena_Alloc(arena, (size_t)count, sizeof(int));
        refiner->heaps[side].gains = snwArena_Alloc(arena, (size_t)count, sizeof(int));
    }
    refiner->trailCapacity = 3 * count + 1;
    refiner->trail = snwArena_Alloc(arena, (size_t)refiner->trailCapacity, sizeof(int));
    refiner->trailWas = snwArena_Alloc(arena, (size_t)refiner->trailCapacity, 1);
    refiner->moved = snwArena_Alloc(arena, (size_t)count, sizeof(bool));
    return !arena->failed;
}

static void StartRefiner(Refiner* refiner, const Level* level)
{
    refiner->level = level;
    memset(refiner->weights, 0, sizeof refiner->weights);
    for (int v = 0; v < level->count; ++v)
        refiner->weights[level->labels[v]] += level->weights[v];
    int total = refiner->weights[0] + refiner->weights[1] + refiner->weights[2];
    refiner->limit = total / 2 + total / 10 + 1;
}

static void RefineLevel(Refiner* refiner, const Level* level)
{
    StartRefiner(refiner, level);
    for (int pass = 0; pass < snw_refinePasses && RefinePass(refiner); ++pass)
    {
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The first cut

// Side 0 grows from a vertex by breadth until it has half the weight; its border is the separator.
static void GrowSide(const Level* level, int seed, int* queue, int half)
{
    int head = 0, tail = 0, weight = 0;
    memset(level->labels, 1, (size_t)level->count);
    level->labels[seed] = 0;
    queue[tail++] = seed;

    while (head < tail && weight < half)
    {
        int v = queue[head++];
        weight += level->weights[v];
        for (int e = level->starts[v]; e < level->starts[v + 1]; ++e)
        {
            int u = level->edges[e];
            if (level->labels[u] == 1)
                level->labels[u] = 0, queue[tail++] = u;
        }
    }

    for (; head < tail; ++head) // reached but not taken: between the sides
        level->labels[queue[head]] = snw_separator;
}

static void CutCoarsest(Refiner* refiner, const Level* level, int* queue, unsigned char* keep, uint32_t* random)
{
    int64_t best = INT64_MAX;
    int half = TotalWeight(level) / 2;
    for (int i = 0; i < snw_separatorTries; ++i)
    {
        GrowSide(level, (int)(NextRandom(random) % (uint32_t)level->count), queue, half);
        RefineLevel(refiner, level);
        int64_t score = ScoreSeparator(refiner);
        if (score >= best)
            continue;
        best = score;
        memcpy(keep, level->labels, (size_t)level->count);
    }
    memcpy(level->labels, keep, (size_t)level->count);
}

// ---------------------------------------------------------------------------------------------------------------------
// One dissection

enum
{
    ordering_maxLevels = 40
};

// Labels for the vertices of levels[0].
static bool Dissect(snwArena* arena, Level* levels, uint32_t* random)
{
    int last = 0, size = levels[0].count;
    int* visit = snwArena_Alloc(arena, (size_t)size, sizeof(int));
    int* match = snwArena_Alloc(arena, (size_t)size, sizeof(int));
    unsigned char* keep = snwArena_Alloc(arena, (size_t)size, 1);

    Refiner refiner = {0};
    if (!AllocRefiner(arena, &refiner, size))
        return false;
    int heaviest = 3 * (TotalWeight(&levels[0]) / snw_coarsestSize) / 2 + 1;

    // Coarser by pairs, up to a graph that is cut directly.
    while (levels[last].count > snw_coarsestSize && last + 1 < ordering_maxLevels)
    {
        Level *fine = &levels[last], *coarse = &levels[last + 1];
        int count = MatchPairs(fine, visit, match, heaviest, random);
        if (count > fine->count - fine->count / 16)
            break; // hardly smaller: a star, or vertices too heavy to pair
        if (!AllocLevel(arena, coarse, count, fine->starts[fine->count]))
            return false;
        NumberMatches(fine, match);
        FillCoarse(fine, match, coarse, visit);
        ++last;
    }

    // The cut goes back level by level and is improved on each.
    CutCoarsest(&refiner, &levels[last], visit, keep, random);
    for (; last > 0; --last)
    {
        Level* fine = &levels[last - 1];
        for (int v = 0; v < fine->count; ++v)
            fine->labels[v] = levels[last].labels[fine->coarse[v]];
        RefineLevel(&refiner, fine);
    }

    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole graph

typedef struct Region
{
    int begin, end; // of the order
} Region;

typedef struct Orderer
{
    snwContext* context;
    const snwGraph* graph;
    int* order;
    int* local;      // [count] number of a vertex within the region, -1 outside
    int* buffer;     // [count]
    Region* regions; // stack
    int regionCount;
} Orderer;

static void PushRegion(Orderer* orderer, int begin, int end)
{
    if (end > begin)
        orderer->regions[orderer->regionCount++] = (Region){begin, end};
}

static void Enter(Orderer* orderer, Region region)
{
    for (int i = region.begin; i < region.end; ++i)
        orderer->local[orderer->order[i]] = i - region.begin;
}

static void LeaveRegion(Orderer* orderer, Region region)
{
    for (int i = region.begin; i < region.end; ++i)
        orderer->local[orderer->order[i]] = -1;
}

typedef struct Bits
{
    uint64_t words[2];
} Bits;

static int CountBits(Bits bits)
{
    return __builtin_popcountll(bits.words[0]) + __builtin_popcountll(bits.words[1]);
}

// Exact minimum degree: rows of the adjacency as bits.
static void OrderLeaf(Orderer* orderer, Region region)
{
    Bits rows[128] = {0};
    int vertices[128], size = region.end - region.begin;
    bool done[128] = {false};

    // Adjacency inside of the region only.
    for (int i = 0; i < size; ++i)
    {
        int v = vertices[i] = orderer->order[region.begin + i];
        for (int e = orderer->graph->starts[v]; e < orderer->graph->starts[v + 1]; ++e)
        {
            int j = orderer->local[orderer->graph->edges[e]];
            if (j >= 0)
                rows[i].words[j / 64] |= (uint64_t)1 << j % 64;
        }
    }

    // Eliminating a vertex makes its neighbours a clique: their rows take in its own.
    for (int k = 0; k < size; ++k)
    {
        int best = -1;
        for (int i = 0; i < size; ++i)
            if (!done[i] && (best < 0 || CountBits(rows[i]) < CountBits(rows[best])))
                best = i;
        done[best] = true;
        orderer->order[region.begin + k] = vertices[best];

        for (int i = 0; i < size; ++i)
        {
            if (!(rows[best].words[i / 64] >> i % 64 & 1))
                continue;
            rows[i].words[0] |= rows[best].words[0];
            rows[i].words[1] |= rows[best].words[1];
            rows[i].words[i / 64] &= ~((uint64_t)1 << i % 64);
            rows[i].words[best / 64] &= ~((uint64_t)1 << best % 64);
        }
    }
}

// The vertices that the first one reaches go to the front; returns how many.
static int FindComponent(Orderer* orderer, Region region)
{
    int size = region.end - region.begin, tail = 1, count = 0;
    int* queue = orderer->buffer;
    queue[0] = orderer->order[region.begin];
    orderer->local[queue[0]] = -2 - orderer->local[queue[0]]; // reached

    // Breadth first; -2 - local marks what was reached and keeps the number.
    for (int head = 0; head < tail; ++head)
    {
        int v = queue[head];
        for (int e = orderer->graph->starts[v]; e < orderer->graph->starts[v + 1]; ++e)
        {
            int u = orderer->graph->edges[e];
            if (orderer->local[u] >= 0)
                orderer->local[u] = -2 - orderer->local[u], queue[tail++] = u;
        }
    }

    // Reached ones to the front.
    if (tail < size)
    {
        for (int i = region.begin; i < region.end; ++i) // both parts keep their order
            if (orderer->local[orderer->order[i]] < -1)
                queue[count++] = orderer->order[i];
        for (int i = region.begin; i < region.end; ++i)
            if (orderer->local[orderer->order[i]] >= 0)
                queue[count++] = orderer->order[i];
        memcpy(orderer->order + region.begin, queue, (size_t)size * sizeof *queue);
    }

    return tail;
}

static bool ExtractLevel(Orderer* orderer, Region region, snwArena* arena, Level* level)
{
    const snwGraph* graph = orderer->graph;
    int size = region.end - region.begin, edges = 0;

    // An upper bound: edges that leave the region count, too.
    for (int i = 0; i < size; ++i)
    {
        int v = orderer->order[region.begin + i];
        edges += graph->starts[v + 1] - graph->starts[v];
    }

    if (!AllocLevel(arena, level, size, edges))
        return false;
    edges = 0;
    for (int i = 0; i < size; ++i)
    {
        int v = orderer->order[region.begin + i];
        level->starts[i] = edges;
        level->weights[i] = 1;
        for (int e = graph->starts[v]; e < graph->starts[v + 1]; ++e)
            if (orderer->local[graph->edges[e]] >= 0)
                level->edgeWeights[edges] = 1, level->edges[edges++] = orderer->local[graph->edges[e]];
    }

    level->starts[size] = edges;
    return true;
}

// Side 0, side 1, separator; each keeps its order.
static void SplitRegion(Orderer* orderer, Region region, const unsigned char* labels)
{
    int size = region.end - region.begin, count = 0, ends[3];
    for (int label = 0; label < 3; ++label)
    {
        for (int i = 0; i < size; ++i)
            if (labels[i] == label)
                orderer->buffer[count++] = orderer->order[region.begin + i];
        ends[label] = region.begin + count;
    }
    memcpy(orderer->order + region.begin, orderer->buffer, (size_t)size * sizeof(int));
    if (ends[1] == region.begin || ends[0] == region.begin || ends[0] == ends[1])
        return; // no cut helps (a clique, say): any order does
    PushRegion(orderer, region.begin, ends[0]);
    PushRegion(orderer, ends[0], ends[1]);
}

static bool OrderRegion(Orderer* orderer, Region region, uint32_t* random)
{
    bool good = true;
    Enter(orderer, region);

    // Few enough: by minimum degree.
    int size = region.end - region.begin;
    if (size <= snw_leafSize)
    {
        OrderLeaf(orderer, region);
        LeaveRegion(orderer, region);
        return true;
    }

    // Not connected: the pieces are ordered one after the other, without a cut.
    int reached = FindComponent(orderer, region);
    if (reached < size)
    {
        LeaveRegion(orderer, region);
        PushRegion(orderer, region.begin, region.begin + reached);
        PushRegion(orderer, region.begin + reached, region.end);
        return true;
    }

    // Cut in two; the separator is numbered last.
    Enter(orderer, region);
    snwArena arena = {.context = orderer->context};
    Level levels[ordering_maxLevels] = {{0}};
    good = ExtractLevel(orderer, region, &arena, &levels[0]) && Dissect(&arena, levels, random);
    LeaveRegion(orderer, region);
    if (good)
        SplitRegion(orderer, region, levels[0].labels);
    snwArena_Free(&arena);

    return good;
}

bool snwGraph_OrderNested(snwContext* context, const snwGraph* graph, int* order)
{
    int n = graph->count;
    Orderer orderer = {.context = context, .graph = graph, .order = order};
    orderer.local = snwAllocArray(context, (size_t)n, sizeof(int));
    orderer.buffer = snwAllocArray(context, (size_t)n, sizeof(int));
    orderer.regions = snwAllocArray(context, (size_t)n + 1, sizeof(Region));
    bool good = orderer.local != NULL && orderer.buffer != NULL && orderer.regions != NULL;

    // A stack of regions, not recursion: its depth does not depend on the mesh.
    if (good)
    {
        uint32_t random = 1;
        memset(orderer.local, -1, (size_t)n * sizeof(int));
        for (int v = 0; v < n; ++v)
            order[v] = v;
        PushRegion(&orderer, 0, n);
        while (good && orderer.regionCount > 0)
            good = OrderRegion(&orderer, orderer.regions[--orderer.regionCount], &random);
    }

    snwFree(context, orderer.local);
    snwFree(context, orderer.buffer);
    snwFree(context, orderer.regions);
    return good;
}
