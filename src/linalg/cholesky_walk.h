// The walk of one task through its nodes, for SNW_REAL.

static SNW_REAL* SNW_NAME(At)(const snwCholeskyScratch* scratch, int row, int column)
{
    return (SNW_REAL*)scratch->x + (size_t)row * (scratch->width == 1 ? 1 : 4) + (size_t)column;
}

static void SNW_NAME(LoadNode)(const Sweep* sweep, const snwCholeskyNode* node, SNW_REAL* x)
{
    const snwRightSides* sides = &sweep->sides;
    size_t rowStride = (size_t)sides->rowStride, columnStride = (size_t)sides->columnStride;
    const int* order = sweep->factor->order + node->first;
    x += (size_t)sweep->stride * (size_t)node->first;
    for (int i = 0; i < node->columns; ++i, x += sweep->stride)
    {
        size_t at = rowStride * (size_t)order[i];
        if (sides->doubles != NULL)
            for (int k = 0; k < sweep->width; ++k, at += columnStride)
                x[k] = (SNW_REAL)sides->doubles[at];
        else
            for (int k = 0; k < sweep->width; ++k, at += columnStride)
                x[k] = (SNW_REAL)sides->floats[at];
    }
}

static void SNW_NAME(StoreNode)(const Sweep* sweep, const snwCholeskyNode* node, const SNW_REAL* x)
{
    const snwRightSides* sides = &sweep->sides;
    size_t rowStride = (size_t)sides->rowStride, columnStride = (size_t)sides->columnStride;
    const int* order = sweep->factor->order + node->first;
    x += (size_t)sweep->stride * (size_t)node->first;
    for (int i = 0; i < node->columns; ++i, x += sweep->stride)
    {
        size_t at = rowStride * (size_t)order[i];
        if (sides->doubles != NULL)
            for (int k = 0; k < sweep->width; ++k, at += columnStride)
                sides->doubles[at] = (double)x[k];
        else
            for (int k = 0; k < sweep->width; ++k, at += columnStride)
                sides->floats[at] = (float)x[k];
    }
}

// Adds a task's border to the rows that its parent gives it.
static void SNW_NAME(TakeBorder)(const Sweep* sweep, const snwSweepTask* task, SNW_REAL* x)
{
    const snwCholesky* f = sweep->factor;
    size_t stride = (size_t)sweep->stride;
    const SNW_REAL* border = x + stride * (size_t)f->rows;
    for (int i = task->borderStart; i < task->borderEnd; ++i)
        for (int k = 0; k < sweep->width; ++k)
            x[stride * (size_t)f->borderInto[i] + (size_t)k] += border[stride * (size_t)i + (size_t)k];
}

static void SNW_NAME(ForwardTask)(const Sweep* sweep, const snwSweepTask* task)
{
    const snwCholesky* f = sweep->factor;
    SNW_REAL* x = sweep->scratch->x;
    size_t stride = (size_t)sweep->stride;
    for (int i = task->nodeStart; i < task->nodeEnd; ++i)
        SNW_NAME(LoadNode)(sweep, &f->nodes[f->taskNodes[i]], x);
    memset(x + stride * (size_t)(f->rows + task->borderStart), 0,
        stride * (size_t)(task->borderEnd + 1 - task->borderStart) * sizeof *x);
    for (int i = task->childStart; i < task->childEnd; ++i)
        SNW_NAME(TakeBorder)(sweep, &f->tasks[f->taskChildren[i]], x);
    for (int i = task->nodeStart; i < task->nodeEnd; ++i)
    {
        const snwCholeskyNode* node = &f->nodes[f->taskNodes[i]];
        if (sweep->reach == NULL || sweep->reach[f->taskNodes[i]])
            f->kernels->SNW_NAME(forward)[sweep->width - 1](node, f->SNW_VALUES, f->sweepRows + node->sweepRows, x);
    }
}

static void SNW_NAME(ForwardTasks)(int begin, int end, void* data)
{
    const Sweep* sweep = data;
    for (int i = begin; i < end; ++i)
        SNW_NAME(ForwardTask)(sweep, &sweep->factor->tasks[sweep->tasks[i]]);
}

// The last unknowns: their right sides, and what the roots have for them.
static void SNW_NAME(CollectLast)(const Sweep* sweep)
{
    const snwCholesky* f = sweep->factor;
    SNW_REAL* x = sweep->scratch->x;
    for (int i = f->leading; i < f->rows; ++i)
        for (int k = 0; k < sweep->width; ++k)
            x[(size_t)sweep->stride * (size_t)i + (size_t)k] = (SNW_REAL)ReadSide(&sweep->sides, i, k);
    for (int t = 0; t < f->taskCount; ++t)
        if (f->tasks[t].parent < 0)
            SNW_NAME(TakeBorder)(sweep, &f->tasks[t], x);
}

static void SNW_NAME(BackwardTask)(const Sweep* sweep, const snwSweepTask* task)
{
    const snwCholesky* f = sweep->factor;
    SNW_REAL *x = sweep->scratch->x, *gather = (SNW_REAL*)sweep->scratch->gather + 32 * (size_t)task->gatherStart;
    size_t stride = (size_t)sweep->stride;
    SNW_REAL* border = x + stride * (size_t)f->rows;
    for (int i = task->borderStart; i < task->borderEnd; ++i)
        for (int k = 0; k < sweep->width; ++k)
            border[stride * (size_t)i + (size_t)k] = x[stride * (size_t)f->borderRows[i] + (size_t)k];
    memset(border + stride * (size_t)task->borderEnd, 0, stride * sizeof *x);
    for (int i = task->nodeEnd - 1; i >= task->nodeStart; --i)
    {
        const snwCholeskyNode* node = &f->nodes[f->taskNodes[i]];
        f->kernels->SNW_NAME(backward)[sweep->width - 1](
            node, f->SNW_VALUES, f->sweepRows + node->sweepRows, x, gather);
        SNW_NAME(StoreNode)(sweep, node, x);
    }
}

static void SNW_NAME(BackwardTasks)(int begin, int end, void* data)
{
    const Sweep* sweep = data;
    for (int i = begin; i < end; ++i)
        SNW_NAME(BackwardTask)(sweep, &sweep->factor->tasks[sweep->tasks[i]]);
}
