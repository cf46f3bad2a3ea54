// apd.solver literal: the global step as the paper prints it (Eq. 13 to 17), for comparison with ours. In every
// iteration Q_f^-1 Q_c^T is solved for with the constant factor of Q_f = A_ff, then
//     S = Q_b - Q_c Q_f^-1 Q_c^T,   lambda and s (17a, b),   x_f = Q_f^-1 (r_f - Q_c^T s) (17c)
//
// As a fair baseline it leaves aside what is plainly zero. The column of Q_c^T for a bone's w_x moves nothing along x
// and that of l_x nothing along y and z: so 9 scalar right sides for each bone instead of 18. Four are solved at a
// time, such fours on all threads, and the way down skips all supernodes that none of the bone's neighbours reaches
// (the paper: "since Q_c^T is a sparse matrix, we also used MUMPS"). The way up is whole, as Q_f^-1 Q_c^T is a full
// matrix. Columns are used for S as soon as they are there and not kept: 17c then costs one more solve instead of n_f x
// 9 m numbers.
//
// Whoever looks at the nine right sides sees that they are turned from four that never change: that is our method.
// What is left of a difference is that here flesh follows the linearised motion of the bones, there the rigid one.

#include "sim/apd/apd.h"

#include <string.h>

enum
{
    snw_columnsPerBone = 9,
    snw_columnsAtOnce = 4,
    snw_columnWorkers = 8, // that solve at the same time, each with columns of its own
};

typedef struct Worker
{
    snwCholeskyScratch* solve;
    unsigned char* reach; // per supernode
    float* columns;       // float4 per unknown of flesh
} Worker;

typedef struct snwApdLiteral
{
    snwSparse flesh; // A_ff: the first rows of the body's matrix
    snwCholesky* factor;
    Worker workers[snw_columnWorkers];

    // Q_c: flesh that shares an element with a bone.
    int* starts;     // per bone, into the others
    int* rows;       // unknown of flesh
    int (*slots)[4]; // of A_fb U in the values of the matrix
    snwVec3* arms;   // sum of A U_a t_a: what a turn of the bone pulls on
    double* shifts;  // the same of a shift
    float* saved;    // r
} snwApdLiteral;

// Column of Q_c^T: coordinate that it moves, and the degree of freedom (w, l) of its bone.
typedef struct Column
{
    int bone, coordinate, freedom;
} Column;

static Column GetBoneColumn(int index)
{
    int within = index % snw_columnsPerBone, coordinate = within / 3, kind = within % 3;
    return (Column){index / snw_columnsPerBone, coordinate, kind == 0 ? 3 + coordinate : (coordinate + kind) % 3};
}

// Number of Q_c at entry e. A turn w moves by w x arm.
static double ColumnAt(const snwApdLiteral* literal, Column column, int e)
{
    if (column.freedom >= 3)
        return literal->shifts[e];
    const double arm[3] = {literal->arms[e].x, literal->arms[e].y, literal->arms[e].z};
    int other = 3 - column.coordinate - column.freedom;
    return (column.freedom + 1) % 3 == other ? arm[other] : -arm[other];
}

// ---------------------------------------------------------------------------------------------------------------------
// Q_c and Q_b of the bones as they are

static void MakeArms(const snwApdBody* body, snwApdLiteral* literal)
{
    const double* values = snwPattern_Matrix(body->pattern)->values;
    for (int k = 0; k < body->model->boneCount; ++k)
        for (int e = literal->starts[k]; e < literal->starts[k + 1]; ++e)
        {
            const snwVec3* t = body->small.now + 4 * k;
            const int* slots = literal->slots[e];
            snwVec3 arm = {0, 0, 0};
            for (int a = 0; a < 3; ++a)
                arm = snwVec3_MulAdd(arm, values[slots[a]], t[a]);
            literal->arms[e] = arm;
            literal->shifts[e] = values[slots[3]];
        }
}

// U^T A_bb U, the last rows of the matrix.
static void FillBoneMetric(snwApdBody* body)
{
    const snwSparse* matrix = snwPattern_Matrix(body->pattern);
    size_t n = 4 * (size_t)body->model->boneCount;
    int flesh = body->model->fleshCount;
    for (int i = flesh; i < matrix->rows; ++i)
        for (int k = matrix->starts[i]; k < matrix->starts[i + 1]; ++k)
            if (matrix->indices[k] >= flesh)
            {
                size_t row = (size_t)(i - flesh), column = (size_t)(matrix->indices[k] - flesh);
                body->boneMetric[row * n + column] = body->boneMetric[column * n + row] = matrix->values[k];
            }
}

// ---------------------------------------------------------------------------------------------------------------------
// Q_f^-1 Q_c^T and S

static void SolveColumns(const snwApdLiteral* literal, const Worker* worker, int first, int count)
{
    memset(worker->columns, 0, 4 * (size_t)literal->flesh.rows * sizeof *worker->columns);
    memset(worker->reach, 0, (size_t)snwCholesky_Stats(literal->factor).supernodes);
    for (int c = 0; c < count; ++c)
    {
        Column column = GetBoneColumn(first + c);
        int start = literal->starts[column.bone], end = literal->starts[column.bone + 1];
        snwCholesky_MarkReach(literal->factor, literal->rows + start, end - start, worker->reach);
        for (int e = start; e < end; ++e)
            worker->columns[4 * (size_t)literal->rows[e] + (size_t)c] = (float)ColumnAt(literal, column, e);
    }
    snwCholesky_SolveReached(literal->factor, worker->solve, snwRows_Float(worker->columns, count, 4), worker->reach);
}

// S -= Q_c times a solved column, for the bones whose rows lie in the lower triangle.
static void TakeFromMetric(const snwApdBody* body, Column column, const float* solved)
{
    const snwApdLiteral* literal = body->literal;
    size_t size = (size_t)body->small.size;
    for (int k = column.bone; k < body->model->boneCount; ++k)
        for (int kind = 0; kind < 3; ++kind)
        {
            Column row = GetBoneColumn(snw_columnsPerBone * k + 3 * column.coordinate + kind);
            double sum = 0.0;
            for (int e = literal->starts[k]; e < literal->starts[k + 1]; ++e)
                sum += ColumnAt(literal, row, e) * (double)solved[4 * (size_t)literal->rows[e]];
            body->small
                .matrix[(size_t)(6 * k + row.freedom) * size + (size_t)(6 * column.bone + column.freedom)] -= sum;
        }
}

// A bone's columns add to the same numbers of S: they are the work of one worker, in order.
static void RunWorkers(int begin, int end, void* data)
{
    const snwApdBody* body = data;
    int bones = body->model->boneCount;
    for (int w = begin; w < end; ++w)
    {
        const Worker* worker = &body->literal->workers[w];
        int last = snw_columnsPerBone * (bones * (w + 1) / snw_columnWorkers);
        for (int first = snw_columnsPerBone * (bones * w / snw_columnWorkers); first < last; first += snw_columnsAtOnce)
        {
            int some = last - first < snw_columnsAtOnce ? last - first : snw_columnsAtOnce;
            SolveColumns(body->literal, worker, first, some);
            for (int c = 0; c < some; ++c)
                TakeFromMetric(body, GetBoneColumn(first + c), worker->columns + c);
        }
    }
}

void snwApd_MakeColumns(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdLiteral* literal = body->literal;
    snwApd_ReadBones(sim, index);
    MakeArms(body, literal);
    FillBoneMetric(body);
    snwApd_MakeMetric(body, body->boneMetric);
    if (body->model->fleshCount > 0)
        snwParallelFor(sim->context, snw_columnWorkers, 1, RunWorkers, body);
    memcpy(literal->saved, body->right, 4 * (size_t)body->model->rowCount * sizeof *literal->saved);
}

// ---------------------------------------------------------------------------------------------------------------------
// Eq. 17

void snwApd_SolveFlesh(snwApdBody* body)
{
    if (body->model->fleshCount > 0)
        snwCholesky_Solve(body->literal->factor, body->literal->workers[0].solve, snwRows_Float(body->right, 3, 4));
}

static snwVec3 LiteralRow(const float* rows, int index)
{
    const float* row = rows + 4 * (size_t)index;
    return (snwVec3){(double)row[0], (double)row[1], (double)row[2]};
}

// J^T r_b - Q_c Q_f^-1 r_f
static void MakePull(const snwApdBody* body, int bone, double out[6])
{
    const snwApdLiteral* literal = body->literal;
    const snwVec3* t = body->small.now + 4 * bone;
    int first = body->model->fleshCount + 4 * bone;
    snwVec3 twist = {0, 0, 0}, shift = LiteralRow(literal->saved, first + 3);
    for (int a = 0; a < 3; ++a)
        twist = snwVec3_Add(twist, snwVec3_Cross(t[a], LiteralRow(literal->saved, first + a)));
    for (int e = literal->starts[bone]; e < literal->starts[bone + 1]; ++e)
    {
        snwVec3 x = LiteralRow(body->right, literal->rows[e]);
        twist = snwVec3_Sub(twist, snwVec3_Cross(literal->arms[e], x));
        shift = snwVec3_MulAdd(shift, -literal->shifts[e], x);
    }
    out[0] = twist.x, out[1] = twist.y, out[2] = twist.z;
    out[3] = shift.x, out[4] = shift.y, out[5] = shift.z;
}

// right = r_f - Q_c^T s
static void TakeBoneMotion(snwApdBody* body, int bone, const double s[6])
{
    const snwApdLiteral* literal = body->literal;
    const snwVec3 w = {s[0], s[1], s[2]}, l = {s[3], s[4], s[5]};
    for (int e = literal->starts[bone]; e < literal->starts[bone + 1]; ++e)
    {
        snwVec3 d = snwVec3_MulAdd(snwVec3_Cross(w, literal->arms[e]), literal->shifts[e], l);
        float* row = body->right + 4 * (size_t)literal->rows[e];
        row[0] -= (float)d.x;
        row[1] -= (float)d.y;
        row[2] -= (float)d.z;
    }
}

void snwApd_SolveLiteral(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    int bones = body->model->boneCount;
    for (int k = 0; k < bones; ++k)
        MakePull(body, k, body->small.motion + 6 * k);
    memcpy(body->right, body->literal->saved, 4 * (size_t)body->model->fleshCount * sizeof *body->right);
    if (bones == 0 || !snwApd_FactorMetric(sim, index))
        return;
    snwApd_SolveMotion(sim, index, h);
    for (int k = 0; k < bones; ++k)
        TakeBoneMotion(body, k, body->small.motion + 6 * k);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

// The four rows of a bone have one pattern: every element gives numbers to all of them.
static int ListEntries(const snwApdBody* body, snwApdLiteral* literal)
{
    const snwSparse* matrix = snwPattern_Matrix(body->pattern);
    int flesh = body->model->fleshCount, count = 0;
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        const int* starts = matrix->starts + flesh + 4 * k;
        if (literal != NULL)
            literal->starts[k] = count;

        // Rows of flesh come first in a column, so those of the bone are left out.
        for (int i = 0; i < starts[1] - starts[0] && matrix->indices[starts[0] + i] < flesh; ++i, ++count)
            for (int a = 0; a < 4 && literal != NULL; ++a)
            {
                literal->rows[count] = matrix->indices[starts[0] + i];
                literal->slots[count][a] = starts[a] + i;
            }
    }

    if (literal != NULL)
        literal->starts[body->model->boneCount] = count;
    return count;
}

static snwResult CreateLiteralFactor(snwSim* sim, snwApdLiteral* literal, snwMessage* message)
{
    snwCholeskyDef def = snwDefaultCholeskyDef();
    def.matrix = &literal->flesh;
    def.precision = snw_precisionFloat;
    snwResult result = snwCholesky_Create(sim->context, &def, &literal->factor, message);
    for (int i = 0; i < snw_columnWorkers && result >= 0; ++i)
    {
        Worker* worker = &literal->workers[i];
        result = snwCholeskyScratch_Create(literal->factor, &worker->solve, message);
        worker->columns = snwArena_Alloc(&sim->arena, (size_t)literal->flesh.rows, 4 * sizeof(float));
        worker->reach = snwArena_Alloc(&sim->arena, (size_t)snwCholesky_Stats(literal->factor).supernodes, 1);
    }
    if (result >= 0 && sim->arena.failed)
        result = snwFailMemory(message);
    return result;
}

snwResult snwApd_CreateLiteral(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwArena* arena = &sim->arena;
    const snwApdModel* model = body->model;
    snwApdLiteral* literal = body->literal = snwArena_Alloc(arena, 1, sizeof *literal);

    if (literal == NULL)
        return snwFailMemory(message);
    if (model->rowCount == 0)
        return snw_ok;

    // Counted first, then listed.
    size_t entries = (size_t)ListEntries(body, NULL);
    literal->starts = snwArena_Alloc(arena, (size_t)model->boneCount + 1, sizeof *literal->starts);
    literal->rows = snwArena_Alloc(arena, entries, sizeof *literal->rows);
    literal->slots = snwArena_Alloc(arena, entries, sizeof *literal->slots);
    literal->arms = snwArena_Alloc(arena, entries, sizeof *literal->arms);
    literal->shifts = snwArena_Alloc(arena, entries, sizeof *literal->shifts);
    literal->saved = snwArena_Alloc(arena, (size_t)model->rowCount, 4 * sizeof(float));

    if (arena->failed)
        return snwFailMemory(message);
    ListEntries(body, literal);

    // The factor of the flesh alone, in the pattern of the whole.
    const snwSparse* matrix = snwPattern_Matrix(body->pattern);
    literal->flesh = (snwSparse){.rows = model->fleshCount,
        .columns = model->fleshCount,
        .symmetric = true,
        .starts = matrix->starts,
        .indices = matrix->indices,
        .values = matrix->values};

    return model->fleshCount > 0 ? CreateLiteralFactor(sim, literal, message) : snw_ok;
}

void snwApd_DestroyLiteral(snwApdBody* body)
{
    if (body->literal == NULL)
        return;
    for (int i = 0; i < snw_columnWorkers; ++i)
        snwCholeskyScratch_Destroy(body->literal->workers[i].solve);
    snwCholesky_Destroy(body->literal->factor);
}

snwResult snwApd_PrepareLiteral(snwApdBody* body, snwMessage* message)
{
    snwApdLiteral* literal = body->literal;
    return literal->factor != NULL ? snwCholesky_Refactor(literal->factor, &literal->flesh, message) : snw_ok;
}
