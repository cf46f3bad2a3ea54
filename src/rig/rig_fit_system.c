// M and its inverse, by constant moments.
//
// With translations eliminated, M's Schur complement keeps the form of the moments: B_kp = dq/dA (P1_kp), so
// B P0^-1 B^T only replaces P2_kl by P1_k P0^-1 P1_l^T. It holds coordinate by coordinate, and where all coordinates
// have the same free handles, blocks of two turning handles are what they are in moments.h: tr(Y) in 2D,
// tr(Y) I - Y^T in 3D.

#include "rig/rig_fit_parts.h"

#include <string.h>

static size_t Largest(int a, int b)
{
    return (size_t)(a > b ? a : b);
}

void snwRigSystem_Create(
    snwArena* arena, const snwRigFit* model, const snwRigMoments* moments, snwSimd simd, snwRigSystem* out)
{
    size_t handles = (size_t)model->handleCount, plane = handles * (size_t)model->stride;
    size_t n = Largest(model->turnCount, model->handleCount);
    int d = snwRigFit_Dimension(model);

    // Which degrees of freedom are free, and where each handle's turns begin among the unknowns.
    *out = (snwRigSystem){.kernels = snwRigPass_Kernels(simd), .moments = moments};
    out->freeMoves = snwArena_Alloc(arena, handles, 1);
    out->freeTurns = snwArena_Alloc(arena, handles, 1);
    out->movers = snwArena_Alloc(arena, handles, sizeof *out->movers);
    out->turnStart = snwArena_Alloc(arena, handles + 1, sizeof *out->turnStart);

    // P0^-1 and its products with P1, by group of coordinates that are free together.
    for (int g = 0; g < d; ++g)
    {
        out->inverse[g] = snwArena_Alloc(arena, plane, sizeof(double));
        for (int b = 0; b < d; ++b)
        {
            out->forth[g][b] = snwArena_Alloc(arena, plane, sizeof(double));
            out->back[g][b] = snwArena_Alloc(arena, plane, sizeof(double));
            for (int c = 0; c < d; ++c)
                out->p2[g][b][c] = snwArena_Alloc(arena, plane, sizeof(double));
        }
    }

    // In 2D the reduced P2 needs two numbers per pair, in 3D blocks of nine.
    for (int i = 0; i < 2 && d == 2; ++i)
        out->flat[i] = snwArena_Alloc(arena, plane, sizeof(double));
    if (d == 2)
        out->flatDiagonal = snwArena_Alloc(arena, handles, sizeof(double));
    out->row = snwArena_Alloc(arena, (size_t)model->stride, sizeof(double));
    for (int i = 0; i < 9 && d == 3; ++i)
    {
        out->turned[i / 3][i % 3] = snwArena_Alloc(arena, (size_t)model->stride, sizeof(double));
        out->blocks[i / 3][i % 3] = snwArena_Alloc(arena, (size_t)model->stride, sizeof(double));
    }

    // M's Schur complement for the turns, and its factor.
    out->stiffness = snwArena_Alloc(arena, handles, sizeof(double));
    out->factored = snwArena_Alloc(arena, handles, sizeof *out->factored);
    out->matrix = snwArena_Alloc(arena, n * n, sizeof(double));
    out->column = snwArena_Alloc(arena, n + 8, sizeof(double));
    out->factor = (snwDense){.kernels = snwCholesky_Kernels(simd)};
    out->factor.numbers = snwArena_Alloc(arena, snwDense_Count((int)n), sizeof(double));
}

// The share that was added always suffices but for rounding; where it does not, more is added.
static void FactorMatrix(snwRigSystem* system, int n, int stride)
{
    system->factor.n = n;
    for (double more = 1e-12; snwDense_Factor(&system->factor, system->matrix, stride) >= 0 && more < 1; more *= 100)
        for (int i = 0; i < n; ++i)
            system->matrix[(size_t)i * (size_t)stride + (size_t)i] *= 1 + more;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elimination of translations

// P0^-1 of the handles whose coordinate is free.
static void InvertFreeHandles(const snwRigFit* model, snwRigSystem* system, int coordinate, double* inverse)
{
    int handles = model->handleCount, count = 0, stride = model->stride;
    double* matrix = system->matrix;
    memset(inverse, 0, (size_t)handles * (size_t)stride * sizeof *inverse);

    // The submatrix of the free handles, with the share of the diagonal and the least mass that keep it definite.
    for (int k = 0; k < handles; ++k)
    {
        if ((system->freeMoves[k] >> coordinate & 1) == 0)
            continue;
        int column = 0;
        for (int l = 0; l < k; ++l)
            if ((system->freeMoves[l] >> coordinate & 1) != 0)
                matrix[count * handles + column++] = system->moments->p0[k * stride + l];
        matrix[count * handles + count] = system->moments->p0[k * stride + k] * (1 + system->share) +
                                          model->leastMass[k];
        count++;
    }

    FactorMatrix(system, count, handles);

    // Column by column of the inverse, back in the places of all handles.
    for (int k = 0, column = 0; k < handles; ++k)
    {
        if ((system->freeMoves[k] >> coordinate & 1) == 0)
            continue;
        memset(system->column, 0, (size_t)count * sizeof *system->column);
        system->column[column++] = 1;
        snwDense_Solve(&system->factor, system->column);
        for (int l = 0, row = 0; l < handles; ++l)
            if ((system->freeMoves[l] >> coordinate & 1) != 0)
                inverse[k * stride + l] = system->column[row++];
    }
}

static void EliminateGroup(const snwRigFit* model, snwRigSystem* system, int group)
{
    int handles = model->handleCount, stride = model->stride, d = snwRigFit_Dimension(model);
    const double* inverse = system->inverse[group];

    // P1 P0^-1, both ways round.
    for (int b = 0; b < d; ++b)
        for (int l = 0; l < handles; ++l)
            for (int p = 0; p < handles; ++p)
            {
                double sum = 0;
                for (int q = 0; q < handles; ++q)
                    sum += inverse[p * stride + q] * system->moments->p1[b][l * stride + q];
                system->forth[group][b][l * stride + p] = system->back[group][b][p * stride + l] = sum;
            }

    // P2' = P2 - P1 P0^-1 P1^T, lower half.
    for (int b = 0; b < d; ++b)
        for (int c = 0; c < d; ++c)
            for (int k = 0; k < handles; ++k)
                for (int l = 0; l <= k; ++l)
                {
                    double sum = 0;
                    for (int p = 0; p < handles; ++p)
                        sum += system->moments->p1[b][k * stride + p] * system->forth[group][c][l * stride + p];
                    system->p2[group][b][c][k * stride + l] = system->moments->p2[b][c][k * stride + l] - sum;
                }
}

// Both halves; nothing couples turns that are given, and their own entry is 1.
static void PutFlat(const snwRigFit* model, snwRigSystem* system)
{
    double* const(*p2)[3] = (double* const(*)[3])system->p2[0];
    for (int k = 0; k < model->handleCount; ++k)
    {
        int own = k * model->stride + k;
        double inertia = system->moments->p2[0][0][own] + system->moments->p2[1][1][own];
        system->flatDiagonal[k] = system->freeTurns[k] != 0 ? system->share * inertia + model->leastTurn[k] : 1;
        for (int l = 0; l <= k; ++l)
        {
            int there = k * model->stride + l, back = l * model->stride + k;
            bool coupled = system->freeTurns[k] != 0 && system->freeTurns[l] != 0;
            double difference = coupled ? p2[0][1][there] - p2[1][0][there] : 0;
            system->flat[0][there] = system->flat[0][back] = coupled ? p2[0][0][there] + p2[1][1][there] : 0;
            system->flat[1][back] = -difference, system->flat[1][there] = difference;
        }
    }
}

static bool SameCoordinate(const snwRigFit* model, const snwRigSystem* system, int a, int b)
{
    for (int k = 0; k < model->handleCount; ++k)
        if ((system->freeMoves[k] >> a & 1) != (system->freeMoves[k] >> b & 1))
            return false;
    return true;
}

static void Eliminate(const snwRigFit* model, snwRigSystem* system)
{
    system->groupCount = 0;
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
    {
        int same = 0;
        while (same < a && !SameCoordinate(model, system, same, a))
            same++;
        system->groupOf[a] = same < a ? system->groupOf[same] : system->groupCount;
        if (same < a)
            continue;
        InvertFreeHandles(model, system, a, system->inverse[system->groupCount]);
        EliminateGroup(model, system, system->groupCount++);
    }
    if (snwRigFit_Dimension(model) == 2)
        PutFlat(model, system);
}

void snwRigSystem_Set(
    const snwRigFit* model, snwRigSystem* system, const unsigned char* moves, const unsigned char* turns, double share)
{
    size_t handles = (size_t)model->handleCount;

    // Everything below depends only on which degrees of freedom are free, which seldom changes.
    if (system->eliminated && system->share == share && memcmp(system->freeMoves, moves, handles) == 0 &&
        memcmp(system->freeTurns, turns, handles) == 0)
        return;
    memcpy(system->freeMoves, moves, handles);
    memcpy(system->freeTurns, turns, handles);
    system->share = share;
    system->n = system->moverCount = 0;
    system->allTurn = true;

    // Unknowns are numbered handle by handle; without a translation to give, a handle is no mover.
    for (int k = 0; k < model->handleCount; ++k)
    {
        if (moves[k] != 0)
            system->movers[system->moverCount++] = k;
        system->turnStart[k] = system->n;
        system->n += turns[k] != 0 ? snwRigFit_Turns(model, k) : 0;
        system->allTurn = system->allTurn && turns[k] != 0 && model->handles[k].freedom == snw_rigRigid;
    }

    system->turnStart[handles] = system->n;
    Eliminate(model, system);
    system->eliminated = true;
    system->elimination++;
    system->sound = false;
}

// ---------------------------------------------------------------------------------------------------------------------
// The matrix of the turns

static int TurnsOf(const snwRigSystem* system, int handle)
{
    return system->turnStart[handle + 1] - system->turnStart[handle];
}

// sum over coordinates a of D_ka P D_la^T.
static void PutAnyBlock(
    const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose, int k, int l, double* block)
{
    int d = snwRigFit_Dimension(model), rows = TurnsOf(system, k), columns = TurnsOf(system, l),
        at = k * model->stride + l;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
        {
            double sum = 0, row[3], column[3];

            // Row a of dA_k / dq_k times the moments times row a of dA_l / dq_l.
            for (int a = 0; a < d; ++a)
            {
                double* const(*p2)[3] = (double* const(*)[3])system->p2[system->groupOf[a]];
                snwRigFit_TurnRow(model, k, &pose[k].linear, a, i, row);
                snwRigFit_TurnRow(model, l, &pose[l].linear, a, j, column);
                for (int b = 0; b < d; ++b)
                    for (int c = 0; c < d; ++c)
                        sum += row[b] * p2[b][c][at] * column[c];
            }
            block[(size_t)i * (size_t)system->n + (size_t)j] = sum;
        }
}

// For a solid rig whose handle k turns and whose coordinates are one group: blocks with all handles up to k, of which
// those that turn are taken.
static void FindSolidRow(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose, int k)
{
    snwTurnRow row = {.count = (k + 4) / 4 * 4};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
        {
            row.p[i][j] = system->p2[0][i][j] + (size_t)k * (size_t)model->stride;
            row.own[i][j] = pose[k].linear.m[i][j];
            row.other[i][j] = system->turned[i][j];
            row.out[i][j] = system->blocks[i][j];
        }
    system->kernels->turnRow(&row);
}

// Row by row: what is written next to each other lies next to each other. If all handles turn, as they mostly do,
// nothing needs to be asked.
static void PutSolidBlocks(const snwRigFit* model, const snwRigSystem* system, int k, double* out)
{
    bool all = system->allTurn;
    for (int i = 0; i < 3; ++i, out += system->n)
    {
        const double *x = system->blocks[i][0], *y = system->blocks[i][1], *z = system->blocks[i][2];
        for (int l = 0; l <= k && all; ++l)
            out[3 * l] = x[l], out[3 * l + 1] = y[l], out[3 * l + 2] = z[l];
        for (int l = 0; l <= k && !all; ++l)
        {
            double* to = out + system->turnStart[l];
            if (TurnsOf(system, l) > 0 && model->handles[l].freedom == snw_rigRigid)
                to[0] = x[l], to[1] = y[l], to[2] = z[l];
        }
    }
}

static void TakeTurned(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose)
{
    for (int k = 0; k < model->handleCount && snwRigFit_Dimension(model) == 3; ++k)
        for (int i = 0; i < 9; ++i)
            system->turned[i / 3][i % 3][k] = pose[k].linear.m[i / 3][i % 3];
}

// For a flat rig that only moves and turns: tr(R_k P R_l^T) = tr(P R(th_k - th_l)).
static void PutFlatRow(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose, int k, double* out)
{
    const double *sum = system->flat[0] + k * model->stride, *difference = system->flat[1] + k * model->stride;
    double c = pose[k].linear.m[0][0], s = pose[k].linear.m[1][0], *row = system->row;
    for (int l = 0; l <= k; ++l)
    {
        double cl = pose[l].linear.m[0][0], sl = pose[l].linear.m[1][0];
        row[l] = (c * cl + s * sl) * sum[l] + (s * cl - c * sl) * difference[l];
    }
    for (int l = 0; l <= k; ++l)
        if (TurnsOf(system, l) > 0)
            *out++ = row[l];
}

static void PutRigRow(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose, int k, double* out)
{
    if (model->pass.kind == snw_passFlat && system->groupCount == 1)
    {
        PutFlatRow(model, system, pose, k, out);
        return;
    }
    bool solid = snwRigFit_Dimension(model) == 3 && system->groupCount == 1 &&
                 model->handles[k].freedom == snw_rigRigid;
    if (solid)
    {
        FindSolidRow(model, system, pose, k);
        PutSolidBlocks(model, system, k, out);
    }
    for (int l = 0; l <= k; ++l)
        if (TurnsOf(system, l) > 0 && !(solid && model->handles[l].freedom == snw_rigRigid))
            PutAnyBlock(model, system, pose, k, l, out + system->turnStart[l]);
}

// For a handle that turns as a whole: tr(Y) - Y_cc, and Y has the trace of P2.
static double SolidDiagonal(const snwRigSystem* system, const snwMat3* A, int at, int turn)
{
    double* const(*p2)[3] = (double* const(*)[3])system->moments->p2, sum = 0;
    const double* row = A->m[turn];
    for (int b = 0; b < 3; ++b)
        sum += p2[b][b][at] - row[b] * (p2[b][0][at] * row[0] + p2[b][1][at] * row[1] + p2[b][2][at] * row[2]);
    return sum;
}

// M's own diagonal, before elimination.
static double Diagonal(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose, int handle, int turn)
{
    int d = snwRigFit_Dimension(model), at = handle * model->stride + handle;
    if (model->pass.kind == snw_passFlat)
        return system->moments->p2[0][0][at] + system->moments->p2[1][1][at];
    if (d == 3 && model->handles[handle].freedom == snw_rigRigid)
        return SolidDiagonal(system, &pose[handle].linear, at, turn);
    double sum = 0, row[3];
    for (int a = 0; a < d; ++a)
    {
        snwRigFit_TurnRow(model, handle, &pose[handle].linear, a, turn, row);
        for (int b = 0; b < d; ++b)
            for (int c = 0; c < d; ++c)
                sum += row[b] * system->moments->p2[b][c][at] * row[c];
    }
    return sum;
}

bool snwRigSystem_IsOf(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose)
{
    for (int k = 0; k < model->handleCount; ++k)
        if (TurnsOf(system, k) > 0 && !snwRigFit_IsSameLinear(&system->factored[k], &pose[k].linear))
            return false;
    return true;
}

void snwRigSystem_Factor(const snwRigFit* model, snwRigSystem* system, const snwRigPose* pose)
{
    if (system->sound && snwRigSystem_IsOf(model, system, pose))
        return;
    size_t n = (size_t)system->n;
    TakeTurned(model, system, pose);

    // Row by row, with what keeps a turn that means nothing from a pivot of zero.
    for (int k = 0; k < model->handleCount; ++k)
    {
        double* row = system->matrix + (size_t)system->turnStart[k] * n;
        if (TurnsOf(system, k) > 0)
            PutRigRow(model, system, pose, k, row);
        for (int i = 0; i < TurnsOf(system, k); ++i)
            row[(size_t)i * n + (size_t)(system->turnStart[k] + i)] += system->share *
                                                                           Diagonal(model, system, pose, k, i) +
                                                                       model->leastTurn[k] + system->stiffness[k];

        system->factored[k] = pose[k].linear;
    }

    FactorMatrix(system, system->n, system->n);
    system->sound = true;
    system->version++;
}

// ---------------------------------------------------------------------------------------------------------------------
// Products

// out += sign matrix^T factors
static void AddMatrixProduct(const snwRigFit* model, const snwPassKernels* kernels, const double* matrix, double sign,
    const double* factors, double* out)
{
    snwPlaneProduct product = {model->handleCount, model->stride, matrix, sign};
    kernels->product(&product, factors, out);
}

// Few handles all share vertices with each other, and planes do as well there; with fifty, most pairs share nothing.
static void SubtractPairs(
    const snwRigFit* model, const snwPassKernels* kernels, const snwRigPlanes* motion, const snwRigPlanes* forces)
{
    // Into rows of twelve numbers per handle; then one product with the pairs that there are.
    _Alignas(32) snwHandleRows rows[snw_maxRigHandles], products[snw_maxRigHandles];
    for (int k = 0; k < model->handleCount; ++k)
        for (int a = 0; a < 4; ++a)
        {
            rows[k][0][a] = a < 3 ? motion->moves[a][k] : 0;
            for (int b = 0; b < 3; ++b)
                rows[k][1 + b][a] = a < 3 ? motion->linear[a][b][k] : 0;
        }

    kernels->pairProduct(&model->pairs, rows, products);
    for (int k = 0; k < model->handleCount; ++k)
        for (int a = 0; a < 3; ++a)
        {
            forces->moves[a][k] -= products[k][0][a];
            for (int b = 0; b < 3; ++b)
                forces->linear[a][b][k] -= products[k][1 + b][a];
        }
}

void snwRigFit_Subtract(
    const snwRigFit* model, const snwPassKernels* kernels, const snwRigPlanes* motion, const snwRigPlanes* forces)
{
    if (snwRigFit_Dimension(model) == 3)
    {
        SubtractPairs(model, kernels, motion, forces);
        return;
    }

    // forces -= H motion, plane by plane.
    for (int a = 0; a < 2; ++a)
    {
        AddMatrixProduct(model, kernels, model->moments.p0, -1, motion->moves[a], forces->moves[a]);
        for (int b = 0; b < 2; ++b)
        {
            AddMatrixProduct(model, kernels, model->moments.p1[b], -1, motion->linear[a][b], forces->moves[a]);
            AddMatrixProduct(model, kernels, model->moments.p1Back[b], -1, motion->moves[a], forces->linear[a][b]);
            for (int c = 0; c < 2; ++c)
                AddMatrixProduct(
                    model, kernels, model->moments.p2[c][b], -1, motion->linear[a][c], forces->linear[a][b]);
        }
    }
}

// H_ba = A_b . G_a, whose odd part is the torque.
static void ContractRigid(int d, const snwMat3* A, double* const (*linear)[3], int k, double* turns)
{
    if (d == 2)
    {
        turns[0] += A->m[0][0] * linear[1][0][k] + A->m[0][1] * linear[1][1][k] - A->m[1][0] * linear[0][0][k] -
                    A->m[1][1] * linear[0][1][k];
        return;
    }
    double h[3][3];
    for (int b = 0; b < 3; ++b)
        for (int a = 0; a < 3; ++a)
            h[b][a] = A->m[b][0] * linear[a][0][k] + A->m[b][1] * linear[a][1][k] + A->m[b][2] * linear[a][2][k];
    turns[0] += h[1][2] - h[2][1];
    turns[1] += h[2][0] - h[0][2];
    turns[2] += h[0][1] - h[1][0];
}

void snwRigSystem_Contract(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    double* const (*linear)[3], double* turns)
{
    int d = snwRigFit_Dimension(model);
    for (int k = 0; k < model->handleCount; ++k)
    {
        double* own = turns + system->turnStart[k];
        if (TurnsOf(system, k) == 0)
            continue;
        if (model->handles[k].freedom == snw_rigRigid)
            ContractRigid(d, &pose[k].linear, linear, k, own);
        else
            for (int i = 0; i < d * d; ++i)
                own[i] += linear[i / d][i % d][k];
    }
}

// Where few handles move (roots of trees), sums are taken over those.
static bool AreMoversFew(const snwRigFit* model, const snwRigSystem* system)
{
    return 4 * system->moverCount <= model->handleCount;
}

static void TakeMovesAlong(
    const snwRigFit* model, const snwRigSystem* system, int a, int b, const double* moves, double* plane)
{
    const double* back = system->back[system->groupOf[a]][b];
    memset(plane, 0, (size_t)model->stride * sizeof *plane);
    if (!AreMoversFew(model, system))
        AddMatrixProduct(model, system->kernels, back, -1, moves, plane);
    for (int i = 0; i < system->moverCount && AreMoversFew(model, system); ++i)
    {
        int p = system->movers[i];
        const double* row = back + (size_t)p * (size_t)model->stride;
        for (int l = 0; l < model->stride; ++l)
            plane[l] -= moves[p] * row[l];
    }
}

void snwRigSystem_Reduce(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    const snwRigMotion* motion, double* const (*planes)[3])
{
    int d = snwRigFit_Dimension(model);
    for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b)
            TakeMovesAlong(model, system, a, b, motion->moves[a], planes[a][b]);
    snwRigSystem_Contract(model, system, pose, planes, motion->turns);
}

// Forces along coordinate a alone.
static void ContractCoordinate(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose, int a,
    double* const linear[3], double* turns)
{
    static const int next[3] = {1, 2, 0};
    int d = snwRigFit_Dimension(model), b = next[a], c = next[b];
    for (int k = 0; k < model->handleCount; ++k)
    {
        // Affine handles take the linear parts as they are; a turn is the torque about its axis.
        double* own = turns + system->turnStart[k];
        const double(*m)[3] = pose[k].linear.m;
        if (TurnsOf(system, k) == 0)
            continue;
        if (model->handles[k].freedom == snw_rigAffine)
            for (int i = 0; i < d; ++i)
                own[a * d + i] += linear[i][k];
        else if (d == 2)
            own[0] += (a == 1 ? 1 : -1) * (m[1 - a][0] * linear[0][k] + m[1 - a][1] * linear[1][k]);
        else
        {
            own[b] += m[c][0] * linear[0][k] + m[c][1] * linear[1][k] + m[c][2] * linear[2][k];
            own[c] -= m[b][0] * linear[0][k] + m[b][1] * linear[1][k] + m[b][2] * linear[2][k];
        }
    }
}

// planes -= what a move of the handle takes along.
static void SubtractMove(
    const snwRigFit* model, double* const back[3], int handle, double move, double* const planes[3])
{
    for (int b = 0; b < snwRigFit_Dimension(model); ++b)
    {
        const double* row = back[b] + (size_t)handle * (size_t)model->stride;
        for (int k = 0; k < model->stride; ++k)
            planes[b][k] -= move * row[k];
    }
}

void snwRigSystem_ReduceRow(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    const snwRigTerm* terms, int termCount, double* const (*planes)[3], double* turns)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
    {
        bool moves = false;
        for (int t = 0; t < termCount; ++t)
            moves = moves || terms[t].move[a] != 0;
        if (!moves)
            continue;
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            memset(planes[a][b], 0, (size_t)model->stride * sizeof(double));
        for (int t = 0; t < termCount; ++t)
            if (terms[t].move[a] != 0)
                SubtractMove(model, system->back[system->groupOf[a]], terms[t].handle, terms[t].move[a], planes[a]);
        ContractCoordinate(model, system, pose, a, planes[a], turns);
    }
}

// The linear part that turns make: [dv]x A, or themselves.
static snwMat3 LinearOf(const snwRigFit* model, int handle, const snwMat3* A, const double* turns)
{
    int d = snwRigFit_Dimension(model);
    if (model->handles[handle].freedom == snw_rigRigid)
        return snwMat3_Mul(
            snwMat3_Skew(d == 2 ? (snwVec3){0, 0, turns[0]} : (snwVec3){turns[0], turns[1], turns[2]}), *A);
    snwMat3 linear = {{{0}}};
    for (int i = 0; i < d * d; ++i)
        linear.m[i / d][i % d] = turns[i];
    return linear;
}

static void ExpandPlanes(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    const double* turns, double* const (*planes)[3])
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        snwMat3 linear = {{{0}}};
        if (TurnsOf(system, k) > 0)
            linear = LinearOf(model, k, &pose[k].linear, turns + system->turnStart[k]);
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            for (int b = 0; b < snwRigFit_Dimension(model); ++b)
                planes[a][b][k] = linear.m[a][b];
    }
}

void snwRigSystem_Moves(
    const snwRigFit* model, const snwRigSystem* system, double* const forces[3], double* const moves[3])
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
    {
        const double* inverse = system->inverse[system->groupOf[a]];
        memset(moves[a], 0, (size_t)model->stride * sizeof(double));
        if (!AreMoversFew(model, system))
            AddMatrixProduct(model, system->kernels, inverse, 1, forces[a], moves[a]);
        for (int i = 0; i < system->moverCount * system->moverCount && AreMoversFew(model, system); ++i)
        {
            int p = system->movers[i / system->moverCount], q = system->movers[i % system->moverCount];
            moves[a][p] += inverse[p * model->stride + q] * forces[a][q];
        }
    }
}

static void MoveByTurns(
    const snwRigFit* model, const snwRigSystem* system, int a, int b, const double* plane, double* moves)
{
    int group = system->groupOf[a];
    if (!AreMoversFew(model, system))
        AddMatrixProduct(model, system->kernels, system->forth[group][b], -1, plane, moves);
    for (int i = 0; i < system->moverCount && AreMoversFew(model, system); ++i)
    {
        const double* row = system->back[group][b] + (size_t)system->movers[i] * (size_t)model->stride;
        double sums[4] = {0};
        for (int l = 0; l < model->stride; ++l)
            sums[l % 4] += row[l] * plane[l];
        moves[system->movers[i]] -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

void snwRigSystem_Return(const snwRigFit* model, const snwRigSystem* system, const snwRigPose* pose,
    double* const forces[3], const snwRigMotion* step, double* const (*planes)[3])
{
    int d = snwRigFit_Dimension(model);
    ExpandPlanes(model, system, pose, step->turns, planes);
    snwRigSystem_Moves(model, system, forces, (double* const*)step->moves);
    for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b)
            MoveByTurns(model, system, a, b, planes[a][b], step->moves[a]);
}
