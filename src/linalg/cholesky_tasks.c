// The elimination tree cut into tasks.
//
// A subtree with less than a sixteenth of the work is light. A heavy node with two or more heavy children starts a
// task of its own; with one it goes on with that child's task; with none its whole subtree is a task. Light subtrees
// go with the node above them. That gives at most some thirty tasks in a handful of levels, enough for eight threads,
// and it does not look at the number of threads, which may not change a bit of the result.
//
// Two tasks of a level reach the same rows above them. Each adds into a border of its own, and the parent task takes
// the borders of its children in rising order.

#include "linalg/cholesky_parts.h"

#include <string.h>

enum
{
    snw_heavyShare = 16
};

typedef struct Planner
{
    snwCholesky* factor;
    double* weights; // [nodes] of the subtree
    int* heavyKids;  // [nodes] heavy children
    int* taskOf;     // [nodes]
    int* levels;     // [tasks]
    int* marks;      // [rows] the last task that had this row in its border
    int* places;     // [rows] where
} Planner;

static void FreePlanner(Planner* planner)
{
    void* all[] = {
        planner->weights, planner->heavyKids, planner->taskOf, planner->levels, planner->marks, planner->places};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(planner->factor->context, all[i]);
}

static double WeighNodes(Planner* planner)
{
    const snwCholesky* f = planner->factor;
    double total = 0;
    for (int s = 0; s < f->nodeCount; ++s)
    {
        const snwCholeskyNode* node = &f->nodes[s];
        double own = (double)node->columns * (0.5 * node->columns + node->rowCount + 8);
        planner->weights[s] += own;
        total += own;
        if (f->parents[s] >= 0)
            planner->weights[f->parents[s]] += planner->weights[s];
    }
    return total;
}

// Returns the number of tasks. Children get smaller numbers than parents.
static int AssignNodes(Planner* planner, double heavy)
{
    const snwCholesky* f = planner->factor;
    int count = 0, *taskOf = planner->taskOf, *heavyChild = planner->levels; // levels is not yet in use

    // A heavy node with exactly one heavy child goes on with that child's task; one with none or several starts its
    // own.
    for (int s = 0; s < f->nodeCount; ++s)
    {
        taskOf[s] = -1;
        if (planner->weights[s] < heavy)
            continue;
        taskOf[s] = planner->heavyKids[s] == 1 ? heavyChild[s] : count++;
        if (f->parents[s] >= 0)
            planner->heavyKids[f->parents[s]]++, heavyChild[f->parents[s]] = taskOf[s];
    }

    // Light nodes belong to the task of the first heavy node above them, or to one task for all that is left.
    bool rest = false;
    for (int s = f->nodeCount - 1; s >= 0; --s)
    {
        if (taskOf[s] >= 0)
            continue;
        rest = rest || f->parents[s] < 0;
        taskOf[s] = f->parents[s] < 0 ? count : taskOf[f->parents[s]];
    }

    return count + rest;
}

static void ListTaskNodes(Planner* planner)
{
    snwCholesky* f = planner->factor;
    for (int s = 0; s < f->nodeCount; ++s)
        f->tasks[planner->taskOf[s]].nodeEnd++;
    for (int t = 0, at = 0; t < f->taskCount; ++t)
    {
        snwSweepTask* task = &f->tasks[t];
        int count = task->nodeEnd;
        task->nodeStart = task->nodeEnd = at;
        at += count;
    }
    for (int s = 0; s < f->nodeCount; ++s)
        f->taskNodes[f->tasks[planner->taskOf[s]].nodeEnd++] = s;
}

static void ListChildren(Planner* planner)
{
    snwCholesky* f = planner->factor;
    for (int t = 0; t < f->taskCount; ++t)
    {
        int up = f->parents[f->taskNodes[f->tasks[t].nodeEnd - 1]]; // of the task's top node
        f->tasks[t].parent = up < 0 ? -1 : planner->taskOf[up];
        if (up >= 0)
            f->tasks[f->tasks[t].parent].childEnd++;
    }

    // Counts become ranges; the ends go back to the starts and are counted up again by the loop below.
    for (int t = 0, at = 0; t < f->taskCount; ++t)
    {
        snwSweepTask* task = &f->tasks[t];
        int count = task->childEnd;
        task->childStart = task->childEnd = at;
        at += count;
    }

    for (int t = 0; t < f->taskCount; ++t)
        if (f->tasks[t].parent >= 0)
            f->taskChildren[f->tasks[f->tasks[t].parent].childEnd++] = t;
}

static void ListLevels(Planner* planner)
{
    snwCholesky* f = planner->factor;
    int* levels = planner->levels;
    memset(levels, 0, (size_t)f->taskCount * sizeof(int));

    // A task's level is one above the highest of its children: all tasks of a level can run at the same time.
    for (int t = 0; t < f->taskCount; ++t)
    {
        int up = f->tasks[t].parent;
        if (up >= 0 && levels[up] <= levels[t])
            levels[up] = levels[t] + 1;
        f->levelCount = levels[t] + 1 > f->levelCount ? levels[t] + 1 : f->levelCount;
    }

    // Listed level by level: few enough for a search each.
    for (int level = 0, at = 0; level < f->levelCount; ++level)
    {
        f->levelStarts[level] = at;
        for (int t = 0; t < f->taskCount; ++t)
            if (levels[t] == level)
                f->levelTasks[at++] = t;
        f->levelStarts[level + 1] = at;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Borders

// Numbers of the scratch: 0 .. rows - 1 the unknowns, then the borders. Behind each border is a place for what the
// padding of panels writes and reads; it is the task's own, and cleared by every sweep, so that no NaN stays there.
static int ScratchRow(const Planner* planner, int t, int row)
{
    const snwCholesky* f = planner->factor;
    if (row < f->leading && planner->taskOf[f->nodeOf[row]] == t)
        return row;
    return f->rows + f->tasks[t].borderStart + planner->places[row];
}

static int MarkBorder(Planner* planner, int t)
{
    const snwCholesky* f = planner->factor;
    int count = 0;
    for (int i = f->tasks[t].nodeStart; i < f->tasks[t].nodeEnd; ++i)
    {
        const snwCholeskyNode* node = &f->nodes[f->taskNodes[i]];
        for (int k = 0; k < node->rowCount; ++k)
        {
            int row = f->nodeRows[node->rows + k];
            if (planner->marks[row] == t || (row < f->leading && planner->taskOf[f->nodeOf[row]] == t))
                continue;
            planner->marks[row] = t;
            planner->places[row] = count++;
        }
    }
    return count;
}

static void FillSweepRows(Planner* planner, int t)
{
    snwCholesky* f = planner->factor;
    int panels = 0, padding = f->rows + f->tasks[t].borderEnd;
    for (int i = f->tasks[t].nodeStart; i < f->tasks[t].nodeEnd; ++i)
    {
        const snwCholeskyNode* node = &f->nodes[f->taskNodes[i]];
        int padded = (node->rowCount + 7) / 8 * 8, all = padded / 8 + node->columns;
        for (int k = 0; k < padded; ++k)
            f->sweepRows[node->sweepRows + k] = k < node->rowCount ? ScratchRow(planner, t, f->nodeRows[node->rows + k])
                                                                   : padding;
        panels = all > panels ? all : panels;
    }
    f->tasks[t].gatherStart = f->gatherPanels;
    f->gatherPanels += panels;
}

static void FillBorders(Planner* planner, int t)
{
    snwCholesky* f = planner->factor;
    const snwSweepTask* task = &f->tasks[t];

    // The border: rows that the task's nodes touch but that are eliminated later, by somebody above.
    for (int i = task->nodeStart; i < task->nodeEnd; ++i)
    {
        const snwCholeskyNode* node = &f->nodes[f->taskNodes[i]];
        for (int k = 0; k < node->rowCount; ++k)
        {
            int row = f->nodeRows[node->rows + k];
            if (planner->marks[row] == t && !(row < f->leading && planner->taskOf[f->nodeOf[row]] == t))
                f->borderRows[task->borderStart + planner->places[row]] = row;
        }
    }

    // Where the sums of each border row go: into the parent's scratch, or with a root to the last unknowns.
    for (int i = task->borderStart; i < task->borderEnd; ++i)
        f->borderInto[i] = f->borderRows[i]; // of a root: the last unknowns
    for (int i = task->childStart; i < task->childEnd; ++i)
    {
        const snwSweepTask* child = &f->tasks[f->taskChildren[i]];
        for (int k = child->borderStart; k < child->borderEnd; ++k)
            f->borderInto[k] = ScratchRow(planner, t, f->borderRows[k]);
    }
}

static bool BuildBorders(Planner* planner)
{
    snwCholesky* f = planner->factor;
    memset(planner->marks, -1, (size_t)f->rows * sizeof(int));

    // One place behind each border is for the padding of panels (see ScratchRow).
    for (int t = 0; t < f->taskCount; ++t)
    {
        f->tasks[t].borderStart = f->borderCount;
        f->tasks[t].borderEnd = f->borderCount + MarkBorder(planner, t);
        f->borderCount = f->tasks[t].borderEnd + 1;
    }

    f->borderRows = snwAllocArray(f->context, (size_t)f->borderCount, sizeof(int));
    f->borderInto = snwAllocArray(f->context, (size_t)f->borderCount, sizeof(int));
    if (f->borderRows == NULL || f->borderInto == NULL)
        return false;
    memset(planner->marks, -1, (size_t)f->rows * sizeof(int));

    // Which row of its border each task hands up, and where its parent has it.
    for (int t = 0; t < f->taskCount; ++t)
    {
        MarkBorder(planner, t);
        FillSweepRows(planner, t);
        FillBorders(planner, t);
    }

    return true;
}

static bool AllocTasks(snwCholesky* f)
{
    size_t tasks = (size_t)f->taskCount;
    f->tasks = snwAllocArray(f->context, tasks, sizeof *f->tasks);
    f->taskNodes = snwAllocArray(f->context, (size_t)f->nodeCount, sizeof(int));
    f->taskChildren = snwAllocArray(f->context, tasks, sizeof(int));
    f->levelStarts = snwAllocArray(f->context, tasks + 1, sizeof(int));
    f->levelTasks = snwAllocArray(f->context, tasks, sizeof(int));
    f->failures = snwAllocArray(f->context, tasks, sizeof(int));
    f->relative = snwAllocArray(f->context, tasks * (size_t)(f->maxNodeRows + 8), sizeof(int));
    return f->tasks != NULL && f->taskNodes != NULL && f->taskChildren != NULL && f->levelStarts != NULL &&
           f->levelTasks != NULL && f->failures != NULL && f->relative != NULL;
}

bool snwCholesky_PlanTasks(snwCholesky* factor)
{
    size_t nodes = (size_t)factor->nodeCount;
    Planner planner = {.factor = factor};
    planner.weights = snwAllocArray(factor->context, nodes, sizeof(double));
    planner.heavyKids = snwAllocArray(factor->context, nodes, sizeof(int));
    planner.taskOf = snwAllocArray(factor->context, nodes, sizeof(int));
    planner.levels = snwAllocArray(factor->context, nodes + 1, sizeof(int));
    planner.marks = snwAllocArray(factor->context, (size_t)factor->rows, sizeof(int));
    planner.places = snwAllocArray(factor->context, (size_t)factor->rows, sizeof(int));
    bool good = planner.weights != NULL && planner.heavyKids != NULL && planner.taskOf != NULL &&
                planner.levels != NULL && planner.marks != NULL && planner.places != NULL;

    // A task is heavy from a fixed share of all work on, so that a plan does not depend on the number of threads.
    if (good)
    {
        double total = WeighNodes(&planner);
        factor->taskCount = AssignNodes(&planner, total / snw_heavyShare);
        good = AllocTasks(factor);
    }

    if (good)
    {
        ListTaskNodes(&planner);
        ListChildren(&planner);
        ListLevels(&planner);
        good = BuildBorders(&planner);
    }

    FreePlanner(&planner);
    return good;
}
