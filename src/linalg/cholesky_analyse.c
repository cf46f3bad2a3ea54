// What depends on the pattern alone: the order of elimination, the supernodes, their rows, and who updates whom.

#include "linalg/cholesky_parts.h"
#include "linalg/ordering.h"

#include <limits.h>
#include <string.h>

// The graph of the matrix, last unknowns included, and what is known of it in the order of elimination.
typedef struct Analysis
{
    snwContext* context;
    snwCholesky* factor;
    const snwSparse* matrix;
    int* starts; // of the leading graph: neighbours among the leading unknowns, no loops
    int* edges;
    int* lastStarts; // leading neighbours of each last unknown
    int* lastEdges;
    int* parent; // elimination tree [leading]
    int* counts; // rows below the diagonal of each column [leading]
    int* marks;  // [leading]
    int* spare;  // [leading + 1]
} Analysis;

static void FreeAnalysis(Analysis* a)
{
    void* all[] = {a->starts, a->edges, a->lastStarts, a->lastEdges, a->parent, a->counts, a->marks, a->spare};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(a->context, all[i]);
}

static bool CountGraphEdges(Analysis* a, int n)
{
    // Only half of the matrix is stored: an edge counts at both of its ends.
    int64_t edges = 0, lastEdges = 0;
    for (int row = 0; row < a->matrix->rows; ++row)
    {
        for (int k = a->matrix->starts[row]; k < a->matrix->starts[row + 1]; ++k)
        {
            int column = a->matrix->indices[k];
            if (column == row || column >= n)
                continue;
            if (row < n)
                a->starts[row + 1]++, a->starts[column + 1]++, edges += 2;
            else
                a->lastStarts[row - n + 1]++, lastEdges++;
        }
    }

    if (edges > INT_MAX)
        return false;
    a->edges = snwAllocArray(a->context, (size_t)edges, sizeof(int));
    a->lastEdges = snwAllocArray(a->context, (size_t)lastEdges, sizeof(int));
    return a->edges != NULL && a->lastEdges != NULL;
}

static void FillGraphEdges(Analysis* a, int n)
{
    int* ends = a->marks; // place of the next edge, relative to the start
    memset(ends, 0, (size_t)n * sizeof(int));
    for (int i = 0; i < n; ++i)
        a->starts[i + 1] += a->starts[i];
    for (int i = 0; i < a->factor->lastCount; ++i)
        a->lastStarts[i + 1] += a->lastStarts[i];

    // Rows behind the leading ones (the last unknowns) keep their edges apart: they are not eliminated.
    for (int row = 0, next = 0; row < a->matrix->rows; ++row)
    {
        for (int k = a->matrix->starts[row]; k < a->matrix->starts[row + 1]; ++k)
        {
            int column = a->matrix->indices[k];
            if (column == row || column >= n)
                continue;
            if (row >= n)
            {
                a->lastEdges[next++] = column;
                continue;
            }

            // At both ends, as CountGraphEdges has counted them.
            a->edges[a->starts[row] + ends[row]++] = column;
            a->edges[a->starts[column] + ends[column]++] = row;
        }
    }
}

static bool BuildGraph(Analysis* a)
{
    int n = a->factor->leading;
    size_t size = (size_t)n + 1;
    a->starts = snwAllocArray(a->context, size, sizeof(int));
    a->lastStarts = snwAllocArray(a->context, (size_t)a->factor->lastCount + 1, sizeof(int));
    a->parent = snwAllocArray(a->context, size, sizeof(int));
    a->counts = snwAllocArray(a->context, size, sizeof(int));
    a->marks = snwAllocArray(a->context, size, sizeof(int));
    a->spare = snwAllocArray(a->context, size, sizeof(int));
    if (a->starts == NULL || a->lastStarts == NULL || a->parent == NULL || a->counts == NULL || a->marks == NULL ||
        a->spare == NULL || !CountGraphEdges(a, n))
        return false;
    FillGraphEdges(a, n);
    return true;
}

static bool ChooseOrder(Analysis* a, const snwCholeskyDef* def)
{
    snwCholesky* f = a->factor;
    f->order = snwAllocArray(a->context, (size_t)f->leading, sizeof(int));
    f->inverse = snwAllocArray(a->context, (size_t)f->leading, sizeof(int));
    if (f->order == NULL || f->inverse == NULL)
        return false;
    for (int i = 0; i < f->leading; ++i)
        f->order[i] = def->ordering == snw_orderingGiven ? def->order[i] : i;
    if (def->ordering == snw_orderingNested)
    {
        snwGraph graph = {.count = f->leading, .starts = a->starts, .edges = a->edges};
        if (!snwGraph_OrderNested(a->context, &graph, f->order))
            return false;
    }
    for (int i = 0; i < f->leading; ++i)
        f->inverse[f->order[i]] = i;
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The elimination tree

// Liu 1986: the tree grows row by row; ancestors are shortened on the way.
static void BuildEliminationTree(Analysis* a)
{
    const snwCholesky* f = a->factor;
    int* ancestor = a->marks;
    for (int i = 0; i < f->leading; ++i)
    {
        // From each earlier neighbour up to the root of its tree so far, whose parent becomes i; all on the way point
        // to i directly, so that the next walk is short.
        a->parent[i] = ancestor[i] = -1;
        int v = f->order[i];
        for (int e = a->starts[v]; e < a->starts[v + 1]; ++e)
        {
            int k = f->inverse[a->edges[e]];
            while (k >= 0 && k < i)
            {
                int next = ancestor[k];
                ancestor[k] = i;
                if (next < 0)
                    a->parent[k] = i;
                k = next;
            }
        }
    }
}

// Children before parents and next to each other, so that columns of one supernode are neighbours.
static void OrderByTree(Analysis* a)
{
    snwCholesky* f = a->factor;
    int n = f->leading, *head = a->counts, *next = a->marks, *place = a->spare, count = 0;

    // Children of each node as linked lists, smallest first.
    memset(head, -1, (size_t)n * sizeof(int));
    for (int i = n - 1; i >= 0; --i)
        if (a->parent[i] >= 0)
            next[i] = head[a->parent[i]], head[a->parent[i]] = i;

    // Numbers in the order in which the walk leaves the nodes.
    for (int root = 0; root < n; ++root)
    {
        if (a->parent[root] >= 0)
            continue;
        for (int v = root;;)
        {
            while (head[v] >= 0) // down to the first child not yet walked
            {
                int child = head[v];
                head[v] = next[child];
                v = child;
            }

            place[v] = count++;
            if (v == root)
                break;
            v = a->parent[v];
        }
    }

    // The numbers so far become the new ones everywhere.
    for (int i = 0; i < n; ++i)
        f->inverse[f->order[i]] = place[i];
    for (int i = 0; i < n; ++i)
        a->counts[place[i]] = a->parent[i] < 0 ? -1 : place[a->parent[i]];
    memcpy(a->parent, a->counts, (size_t)n * sizeof(int));
    for (int v = 0; v < n; ++v)
        f->order[f->inverse[v]] = v;
}

// Row i of L is the part of the tree from the row's entries up to i.
static void CountFactorRows(Analysis* a)
{
    const snwCholesky* f = a->factor;
    memset(a->counts, 0, (size_t)f->leading * sizeof(int));
    memset(a->marks, -1, (size_t)f->leading * sizeof(int));
    for (int i = 0; i < f->rows; ++i)
    {
        bool last = i >= f->leading;
        int v = last ? i - f->leading : f->order[i];
        const int *starts = last ? a->lastStarts : a->starts, *edges = last ? a->lastEdges : a->edges;
        for (int e = starts[v]; e < starts[v + 1]; ++e)
            for (int k = f->inverse[edges[e]]; k >= 0 && k < i && a->marks[k] != i; k = a->parent[k])
                a->marks[k] = i, a->counts[k]++;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Supernodes

// A node whose columns are first .. first + columns - 1, while neighbours are merged.
typedef struct Candidate
{
    int first, columns;
    int rows;     // below the last column
    double zeros; // entries that are stored but not needed
} Candidate;

static Candidate MergeCandidates(Candidate below, Candidate above)
{
    Candidate both = {below.first, below.columns + above.columns, above.rows, below.zeros + above.zeros};
    both.zeros += (double)below.columns * (above.columns + above.rows - below.rows);
    return both;
}

// Small nodes waste more time than a few zeros do. The limits follow CHOLMOD's.
static bool WorthMerging(Candidate both)
{
    double size = 0.5 * both.columns * (both.columns + 1.0) + (double)both.columns * both.rows;
    double share = both.zeros / size;
    return both.zeros == 0 || both.columns <= 4 || (both.columns <= 16 && share < 0.8) ||
           (both.columns <= 48 && share < 0.1) || share < 0.05;
}

// From left to right with a stack: a node is merged with the one before it as long as that is its child.
static int MergeColumns(Analysis* a, Candidate* stack)
{
    int count = 0, n = a->factor->leading;
    for (int j = 0; j < n; ++j)
    {
        Candidate node = {j, 1, a->counts[j], 0};
        if (count > 0)
        {
            // With the same rows below it (all but the child itself), the column joins the supernode at no cost.
            Candidate before = stack[count - 1];
            bool child = a->parent[j - 1] == j;
            if (child && before.rows == a->counts[j] + 1)
            {
                stack[count - 1] = MergeCandidates(before, node);
                continue;
            }
        }
        stack[count++] = node;
    }

    return count;
}

static int MergeNodes(Analysis* a, Candidate* nodes, int count)
{
    int kept = 0;
    for (int i = 0; i < count; ++i)
    {
        Candidate node = nodes[i];
        while (kept > 0 && a->parent[node.first - 1] >= node.first &&
               a->parent[node.first - 1] < node.first + node.columns &&
               WorthMerging(MergeCandidates(nodes[kept - 1], node)))
            node = MergeCandidates(nodes[--kept], node);
        nodes[kept++] = node;
    }
    return kept;
}

static void FillNodes(const Analysis* a, const Candidate* candidates)
{
    snwCholesky* f = a->factor;
    for (int s = 0; s < f->nodeCount; ++s)
    {
        f->nodes[s].first = candidates[s].first;
        f->nodes[s].columns = candidates[s].columns;
        for (int k = 0; k < candidates[s].columns; ++k)
            f->nodeOf[candidates[s].first + k] = s;
    }
    for (int s = 0; s < f->nodeCount; ++s)
    {
        int up = a->parent[f->nodes[s].first + f->nodes[s].columns - 1];
        f->parents[s] = up < 0 ? -1 : f->nodeOf[up];
    }
}

static bool BuildNodes(Analysis* a)
{
    snwCholesky* f = a->factor;
    bool good = false;
    Candidate* candidates = snwAllocArray(a->context, (size_t)f->leading, sizeof *candidates);
    f->nodeOf = snwAllocArray(a->context, (size_t)f->leading, sizeof(int));
    if (candidates != NULL && f->nodeOf != NULL)
    {
        f->nodeCount = MergeNodes(a, candidates, MergeColumns(a, candidates));
        f->nodes = snwAllocArray(a->context, (size_t)f->nodeCount, sizeof *f->nodes);
        f->parents = snwAllocArray(a->context, (size_t)f->nodeCount, sizeof(int));
        good = f->nodes != NULL && f->parents != NULL;
        if (good)
            FillNodes(a, candidates);
    }
    snwFree(a->context, candidates);
    return good;
}

// Walks row i of the tree of nodes; counts it in each node, or lists it.
static void WalkRow(Analysis* a, int i, bool list)
{
    snwCholesky* f = a->factor;
    bool last = i >= f->leading;
    int v = last ? i - f->leading : f->order[i], self = last ? -1 : f->nodeOf[i];
    const int *starts = last ? a->lastStarts : a->starts, *edges = last ? a->lastEdges : a->edges;

    // Each entry's node and its ancestors up to i have fill in row i; marks end the walk where another entry has
    // been.
    for (int e = starts[v]; e < starts[v + 1]; ++e)
    {
        int k = f->inverse[edges[e]];
        if (k >= i)
            continue;
        for (int s = f->nodeOf[k]; s >= 0 && s != self && a->marks[s] != i; s = f->parents[s])
        {
            a->marks[s] = i;
            if (list)
                f->nodeRows[f->nodes[s].rows + f->nodes[s].rowCount] = i;
            f->nodes[s].rowCount++;
        }
    }
}

static void WalkRows(Analysis* a, bool list)
{
    const snwCholesky* f = a->factor;
    memset(a->marks, -1, (size_t)f->leading * sizeof(int));
    for (int s = 0; s < f->nodeCount; ++s)
        f->nodes[s].rowCount = 0;
    for (int i = 0; i < f->rows; ++i)
        WalkRow(a, i, list);
}

// Where every node's rows and numbers are. False if they are too many for an int or a size_t.
static bool LayOutNodes(snwCholesky* f)
{
    int64_t rows = 0, sweepRows = 0, values = 0;
    f->flops = 0;
    for (int s = 0; s < f->nodeCount; ++s)
    {
        // Rows below the diagonal block, in panels of eight; the diagonal block as a staircase of panels.
        snwCholeskyNode* node = &f->nodes[s];
        int64_t panels = (node->columns + 7) / 8, below = (node->rowCount + 7) / 8;
        node->rows = (int)rows, node->sweepRows = (int)sweepRows;
        rows += node->rowCount;
        sweepRows += 8 * below;
        node->diagonal = values;
        values += 32 * panels * (panels - 1) + 8 * (int64_t)node->columns; // all but the last panel, and that one
        node->below = values;
        values += 8 * below * node->columns;
        f->maxNodeRows = node->rowCount > f->maxNodeRows ? node->rowCount : f->maxNodeRows;

        // Work of column k: a root, its divisions and the update of what is right of it.
        for (int k = 0; k < node->columns; ++k)
        {
            double length = node->rowCount + node->columns - 1 - k;
            f->flops += length * (length + 2);
        }

        if (sweepRows > INT_MAX - 8)
            return false;
    }

    f->valueCount = values;
    f->nodeRows = snwAllocArray(f->context, (size_t)rows, sizeof(int));
    f->sweepRows = snwAllocArray(f->context, (size_t)sweepRows, sizeof(int));
    return f->nodeRows != NULL && f->sweepRows != NULL;
}

// ---------------------------------------------------------------------------------------------------------------------
// Who updates whom

static int TargetOfRow(const snwCholesky* f, int row)
{
    return row >= f->leading ? f->nodeCount : f->nodeOf[row];
}

// Each run of rows that lies in one node's columns is an update of that node. Sources rise within a target, so the
// sums have one order.
static void WalkUpdates(snwCholesky* f, int* ends, bool list)
{
    for (int s = 0; s < f->nodeCount; ++s)
    {
        const int* rows = f->nodeRows + f->nodes[s].rows;
        for (int begin = 0, end; begin < f->nodes[s].rowCount; begin = end)
        {
            int target = TargetOfRow(f, rows[begin]);
            for (end = begin + 1; end < f->nodes[s].rowCount && TargetOfRow(f, rows[end]) == target;)
                ++end;
            if (list)
                f->updates[ends[target]] = (snwNodeUpdate){s, begin, end};
            ends[target]++;
        }
    }
}

static bool ListUpdates(Analysis* a)
{
    snwCholesky* f = a->factor;
    size_t targets = (size_t)f->nodeCount + 1;
    int* ends = snwAllocArray(a->context, targets, sizeof(int));
    f->updateStarts = snwAllocArray(a->context, targets + 1, sizeof(int));
    bool good = ends != NULL && f->updateStarts != NULL;

    // Two walks over the same pairs: the first counts for each target, the second fills the lists.
    if (good)
    {
        WalkUpdates(f, ends, false);
        for (size_t t = 0; t < targets; ++t)
        {
            f->updateStarts[t + 1] = f->updateStarts[t] + ends[t];
            ends[t] = f->updateStarts[t];
        }

        f->updateCount = f->updateStarts[targets];
        f->updates = snwAllocArray(a->context, (size_t)f->updateCount, sizeof *f->updates);
        good = f->updates != NULL;
    }

    if (good)
        WalkUpdates(f, ends, true);
    snwFree(a->context, ends);
    return good;
}

// ---------------------------------------------------------------------------------------------------------------------
// Where the matrix's entries go

static int FindRow(const snwCholesky* f, const snwCholeskyNode* node, int row)
{
    if (row < node->first + node->columns)
        return row - node->first;
    const int* rows = f->nodeRows + node->rows;
    int low = 0, high = node->rowCount - 1;
    while (low < high)
    {
        int middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return node->columns + low;
}

static int64_t SlotOfEntry(const snwCholesky* f, int row, int column)
{
    int n = f->leading;
    if (column >= n)
        return -1 - ((int64_t)(row - n) * f->lastCount + column - n);
    int i = row < n ? f->inverse[row] : row, j = f->inverse[column];
    int low = i < j ? i : j, high = i < j ? j : i;
    const snwCholeskyNode* node = &f->nodes[f->nodeOf[low]];
    return snwNode_Place(node, FindRow(f, node, high), low - node->first);
}

static bool MapEntries(snwCholesky* f, const snwSparse* matrix)
{
    f->slots = snwAllocArray(f->context, (size_t)f->matrixCount, sizeof *f->slots);
    if (f->slots == NULL)
        return false;
    for (int row = 0; row < f->rows; ++row)
        for (int k = matrix->starts[row]; k < matrix->starts[row + 1]; ++k)
            f->slots[k] = SlotOfEntry(f, row, matrix->indices[k]);
    return true;
}

bool snwCholesky_Analyse(snwCholesky* factor, const snwCholeskyDef* def)
{
    Analysis a = {.context = factor->context, .factor = factor, .matrix = def->matrix};

    // Order and supernodes.
    bool good = BuildGraph(&a) && ChooseOrder(&a, def);
    if (good)
    {
        BuildEliminationTree(&a);
        OrderByTree(&a);
        CountFactorRows(&a);
        good = BuildNodes(&a);
    }

    // Each node's rows are counted, then listed.
    if (good)
    {
        WalkRows(&a, false);
        good = LayOutNodes(factor);
    }

    if (good)
    {
        WalkRows(&a, true);
        good = ListUpdates(&a) && MapEntries(factor, def->matrix) && snwCholesky_PlanTasks(factor);
    }

    FreeAnalysis(&a);
    return good;
}
