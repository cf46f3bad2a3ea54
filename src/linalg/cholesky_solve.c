// The sweeps: levels of tasks from the leaves to the roots, and back.

#include "linalg/cholesky_parts.h"

#include <assert.h>
#include <string.h>

struct snwCholeskyScratch
{
    snwContext* context;
    void* x;      // rows of up to four numbers: the unknowns, then the borders
    void* gather; // per task
    int width;    // columns of the last Forward
};

enum
{
    snw_smallFactor = 1 << 14 // entries: below, waking a thread costs more than it saves
};

typedef struct Sweep
{
    const snwCholesky* factor;
    snwCholeskyScratch* scratch;
    snwRightSides sides;        // read by forward, written by backward
    const int* tasks;           // of the level
    const unsigned char* reach; // supernodes that a sparse right side reaches; NULL: all
    int width, stride;
} Sweep;

static double ReadSide(const snwRightSides* sides, int row, int column)
{
    size_t at = (size_t)row * (size_t)sides->rowStride + (size_t)column * (size_t)sides->columnStride;
    return sides->doubles != NULL ? sides->doubles[at] : (double)sides->floats[at];
}

static void WriteSide(const snwRightSides* sides, int row, int column, double value)
{
    size_t at = (size_t)row * (size_t)sides->rowStride + (size_t)column * (size_t)sides->columnStride;
    if (sides->doubles != NULL)
        sides->doubles[at] = value;
    else
        sides->floats[at] = (float)value;
}

#define SNW_REAL       float
#define SNW_NAME(name) name##Float
#define SNW_VALUES     floats
#include "linalg/cholesky_walk.h"
#undef SNW_REAL
#undef SNW_NAME
#undef SNW_VALUES

#define SNW_REAL       double
#define SNW_NAME(name) name##Double
#define SNW_VALUES     values
#include "linalg/cholesky_walk.h"

static bool IsFloat(const snwCholesky* f)
{
    return f->precision == snw_precisionFloat;
}

static void RunLevel(Sweep* sweep, int level, snwRangeFn* fn)
{
    const snwCholesky* f = sweep->factor;
    int count = f->levelStarts[level + 1] - f->levelStarts[level];
    sweep->tasks = f->levelTasks + f->levelStarts[level];
    if (count > 1 && f->valueCount > snw_smallFactor)
        snwParallelFor(f->context, count, 1, fn, sweep);
    else
        fn(0, count, sweep);
}

static Sweep MakeSweep(const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides sides)
{
    assert(sides.columns >= 1 && sides.columns <= 4 && (sides.doubles != NULL) != (sides.floats != NULL));
    return (Sweep){
        .factor = f, .scratch = scratch, .sides = sides, .width = sides.columns, .stride = sides.columns == 1 ? 1 : 4};
}

static void RunForward(const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides r, const unsigned char* reach)
{
    Sweep sweep = MakeSweep(f, scratch, r);
    sweep.reach = reach;
    scratch->width = r.columns;
    for (int level = 0; level < f->levelCount; ++level)
        RunLevel(&sweep, level, IsFloat(f) ? ForwardTasksFloat : ForwardTasksDouble);
    if (IsFloat(f))
        CollectLastFloat(&sweep);
    else
        CollectLastDouble(&sweep);
}

static void RunBackward(const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides x)
{
    Sweep sweep = MakeSweep(f, scratch, x);
    for (int level = f->levelCount - 1; level >= 0; --level)
        RunLevel(&sweep, level, IsFloat(f) ? BackwardTasksFloat : BackwardTasksDouble);
}

static snwRightSides SomeColumns(snwRightSides sides, int first, int count)
{
    size_t skip = (size_t)first * (size_t)sides.columnStride;
    if (sides.doubles != NULL)
        sides.doubles += skip;
    else
        sides.floats += skip;
    sides.columns = count;
    return sides;
}

void snwCholesky_SolveReached(
    const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides x, const unsigned char* reach)
{
    assert(f->lastCount == 0);
    for (int first = 0; first < x.columns; first += 4)
    {
        snwRightSides some = SomeColumns(x, first, x.columns - first < 4 ? x.columns - first : 4);
        RunForward(f, scratch, some, reach);
        RunBackward(f, scratch, some);
    }
}

void snwCholesky_Solve(const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides x)
{
    snwCholesky_SolveReached(f, scratch, x, NULL);
}

void snwCholesky_MarkReach(const snwCholesky* f, const int* rows, int count, unsigned char* reach)
{
    assert(f->lastCount == 0);
    for (int i = 0; i < count; ++i)
        for (int node = f->nodeOf[f->inverse[rows[i]]]; node >= 0 && !reach[node]; node = f->parents[node])
            reach[node] = 1;
}

void snwCholesky_Forward(const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides r, snwRightSides last)
{
    RunForward(f, scratch, r, NULL);
    for (int i = 0; i < f->lastCount; ++i)
        for (int k = 0; k < r.columns; ++k)
            WriteSide(
                &last, i, k, IsFloat(f) ? *AtFloat(scratch, f->leading + i, k) : *AtDouble(scratch, f->leading + i, k));
}

void snwCholesky_Backward(const snwCholesky* f, snwCholeskyScratch* scratch, snwRightSides last, snwRightSides x)
{
    assert(x.columns == scratch->width);
    for (int i = 0; i < f->lastCount; ++i)
    {
        for (int k = 0; k < x.columns; ++k)
        {
            double t = ReadSide(&last, i, k);
            if (IsFloat(f))
                *AtFloat(scratch, f->leading + i, k) = (float)t;
            else
                *AtDouble(scratch, f->leading + i, k) = t;
            WriteSide(&x, f->leading + i, k, t);
        }
    }
    RunBackward(f, scratch, x);
}

void snwCholesky_ReadForward(const snwCholesky* f, const snwCholeskyScratch* scratch, snwRightSides y)
{
    assert(y.columns == scratch->width);
    for (int i = 0; i < f->leading; ++i)
        for (int k = 0; k < y.columns; ++k)
            WriteSide(&y, f->order[i], k, IsFloat(f) ? *AtFloat(scratch, i, k) : *AtDouble(scratch, i, k));
}

snwResult snwCholeskyScratch_Create(const snwCholesky* f, snwCholeskyScratch** out, snwMessage* message)
{
    size_t real = IsFloat(f) ? sizeof(float) : sizeof(double);
    *out = NULL;
    snwCholeskyScratch* scratch = snwAlloc(f->context, sizeof *scratch);
    if (scratch == NULL)
        return snwFailMemory(message);
    scratch->context = f->context;
    scratch->x = snwAllocArray(f->context, (size_t)f->rows + (size_t)f->borderCount, 4 * real);
    scratch->gather = snwAllocArray(f->context, (size_t)f->gatherPanels, 32 * real);
    if (scratch->x == NULL || scratch->gather == NULL)
    {
        snwCholeskyScratch_Destroy(scratch);
        return snwFailMemory(message);
    }
    *out = scratch;
    return snw_ok;
}

void snwCholeskyScratch_Destroy(snwCholeskyScratch* scratch)
{
    if (scratch == NULL)
        return;
    snwFree(scratch->context, scratch->x);
    snwFree(scratch->context, scratch->gather);
    snwFree(scratch->context, scratch);
}
