// Objective and constraints of Eq. 6 in the unknowns, with their first and second derivatives.
//
// A vertex of a bone is linear in the bone's twelve numbers, so every derivative by vertices becomes one by unknowns
// through the few unknowns that move each coordinate ("movers") and their constant factors.

#include "truth_parts.h"

#include "sim/character.h"

#include <string.h>

typedef struct Movers
{
    int count; // 0 for a held vertex
    int variables[4];
    double factors[4];
} Movers;

static Movers MoversOf(const snwTruth* truth, int vertex, int axis)
{
    int k = truth->vertexBones[vertex];
    if (k < 0)
        return (Movers){truth->firsts[vertex] >= 0, {truth->firsts[vertex] + axis}, {1}};
    int first = snwTruth_BoneFirst(truth, k), row = first + 3 * axis;
    snwVec3 arm = snwVec3_Sub(truth->character->def.vertices[vertex], truth->centres[k]);
    return (Movers){4, {row, row + 1, row + 2, first + 9 + axis}, {arm.x, arm.y, arm.z, 1}};
}

// ---------------------------------------------------------------------------------------------------------------------
// Objective

static void GatherCorners(const snwTruthTet* tet, const snwVec3* positions, snwVec3 x[4])
{
    for (int a = 0; a < 4; ++a)
        x[a] = positions[tet->corners[a]];
}

double snwTruth_Objective(const snwTruth* truth, const snwVec3* positions)
{
    double inertia = 0, energy = 0;
    for (int v = 0; v < truth->vertexCount; ++v)
    {
        snwVec3 d = snwVec3_Sub(positions[v], truth->aims[v]);
        inertia += truth->character->masses[v] * snwVec3_LengthSquared(d);
    }
    for (int e = 0; e < truth->tetCount; ++e)
    {
        snwVec3 x[4];
        GatherCorners(&truth->tets[e], positions, x);
        energy += snwTruthTet_Energy(&truth->tets[e], x);
    }
    return inertia / (2 * truth->step * truth->step) + energy;
}

double snwTruth_Value(const snwTruth* truth, const double* variables, snwVec3* work)
{
    snwTruth_Positions(truth, variables, work);
    return snwTruth_Objective(truth, work);
}

static void AddForce(const snwTruth* truth, int vertex, const double force[3], double* gradient)
{
    for (int i = 0; i < 3; ++i)
    {
        Movers movers = MoversOf(truth, vertex, i);
        for (int m = 0; m < movers.count; ++m)
            gradient[movers.variables[m]] += movers.factors[m] * force[i];
    }
}

void snwTruth_Gradient(const snwTruth* truth, const double* variables, snwVec3* work, double* gradient)
{
    snwTruth_Positions(truth, variables, work);
    memset(gradient, 0, (size_t)truth->variableCount * sizeof *gradient);
    for (int v = 0; v < truth->vertexCount; ++v)
    {
        double scale = truth->character->masses[v] / (truth->step * truth->step);
        snwVec3 d = snwVec3_Scale(snwVec3_Sub(work[v], truth->aims[v]), scale);
        AddForce(truth, v, (double[3]){d.x, d.y, d.z}, gradient);
    }
    for (int e = 0; e < truth->tetCount; ++e)
    {
        snwVec3 x[4];
        double forces[12];
        GatherCorners(&truth->tets[e], work, x);
        snwTruthTet_Gradient(&truth->tets[e], x, forces);
        for (int a = 0; a < 4; ++a)
            AddForce(truth, truth->tets[e].corners[a], forces + 3 * a, gradient);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Constraints: six rows per bone, three per point, two per hinge

static const int s_pairs[snw_boneRows][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

int snwTruth_RowCount(const snwTruth* truth)
{
    return snw_boneRows * truth->boneCount + 3 * truth->pointCount + 2 * truth->hingeCount;
}

static snwVec3 EndOf(const snwTruth* truth, const double* variables, int bone, snwVec3 rest)
{
    const double* t = variables + snwTruth_BoneFirst(truth, bone);
    snwVec3 p = snwVec3_Sub(rest, truth->centres[bone]);
    return (snwVec3){t[0] * p.x + t[1] * p.y + t[2] * p.z + t[9], t[3] * p.x + t[4] * p.y + t[5] * p.z + t[10],
        t[6] * p.x + t[7] * p.y + t[8] * p.z + t[11]};
}

static snwVec3 TurnedBy(const snwTruth* truth, const double* variables, int bone, snwVec3 direction)
{
    if (bone < 0)
        return direction;
    const double* t = variables + snwTruth_BoneFirst(truth, bone);
    snwMat3 r = {{{t[0], t[1], t[2]}, {t[3], t[4], t[5]}, {t[6], t[7], t[8]}}};
    return snwMat3_MulVec(r, direction);
}

void snwTruth_Rows(const snwTruth* truth, const double* variables, double* rows)
{
    for (int k = 0; k < truth->boneCount; ++k)
    {
        const double* r = variables + snwTruth_BoneFirst(truth, k);
        for (int c = 0; c < snw_boneRows; ++c)
        {
            int i = s_pairs[c][0], j = s_pairs[c][1];
            *rows++ = r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j] - (i == j);
        }
    }
    for (int i = 0; i < truth->pointCount; ++i)
    {
        const snwTruthPoint* point = &truth->points[i];
        snwVec3 end = EndOf(truth, variables, point->bones[0], point->rest);
        snwVec3 other = point->bones[1] < 0 ? point->world : EndOf(truth, variables, point->bones[1], point->rest);
        snwVec3 gap = snwVec3_Sub(end, other);
        memcpy(rows, &gap, sizeof gap);
        rows += 3;
    }
    for (int i = 0; i < truth->hingeCount; ++i)
        for (int s = 0; s < 2; ++s)
        {
            const snwTruthHinge* hinge = &truth->hinges[i];
            *rows++ = snwVec3_Dot(TurnedBy(truth, variables, hinge->bones[0], hinge->sides[s]),
                TurnedBy(truth, variables, hinge->bones[1], hinge->axis));
        }
}

static void Put(snwTruthEntries* entries, int row, int column, double value)
{
    if (entries->rowOf != NULL)
    {
        entries->rowOf[entries->count] = row;
        entries->columnOf[entries->count] = column;
    }
    if (entries->values != NULL)
        entries->values[entries->count] = value;
    entries->count++;
}

// snwTruthEntries of R^T R by the three numbers of columns i and j of R; twice the same column on the diagonal.
static void PutBoneRows(snwTruthEntries* entries, int row, int first, const double* r)
{
    for (int c = 0; c < snw_boneRows; ++c)
        for (int m = 0; m < 3; ++m)
        {
            int i = s_pairs[c][0], j = s_pairs[c][1];
            Put(entries, row + c, first + 3 * m + i, i == j ? 2 * r[3 * m + i] : r[3 * m + j]);
            if (i != j)
                Put(entries, row + c, first + 3 * m + j, r[3 * m + i]);
        }
}

static void PutPointRows(const snwTruth* truth, snwTruthEntries* entries, int row, const snwTruthPoint* point)
{
    for (int side = 0; side < 2; ++side)
    {
        int k = point->bones[side];
        if (k < 0)
            continue;
        double sign = side == 0 ? 1 : -1;
        snwVec3 arm = snwVec3_Sub(point->rest, truth->centres[k]);
        int first = snwTruth_BoneFirst(truth, k);
        for (int i = 0; i < 3; ++i)
        {
            Put(entries, row + i, first + 3 * i, sign * arm.x);
            Put(entries, row + i, first + 3 * i + 1, sign * arm.y);
            Put(entries, row + i, first + 3 * i + 2, sign * arm.z);
            Put(entries, row + i, first + 9 + i, sign);
        }
    }
}

// d/dR of (R u) . v is v u^T.
static void PutHingeRow(const snwTruth* truth, snwTruthEntries* entries, int row, int bone, const snwMat3* slope)
{
    for (int i = 0; i < 3 && bone >= 0; ++i)
        for (int j = 0; j < 3; ++j)
            Put(entries, row, snwTruth_BoneFirst(truth, bone) + 3 * i + j, slope->m[i][j]);
}

static void PutHingeRows(
    const snwTruth* truth, snwTruthEntries* entries, int row, const snwTruthHinge* hinge, const double* variables)
{
    for (int s = 0; s < 2; ++s)
    {
        snwVec3 side = TurnedBy(truth, variables, hinge->bones[0], hinge->sides[s]);
        snwVec3 axis = TurnedBy(truth, variables, hinge->bones[1], hinge->axis);
        snwMat3 bySide = snwMat3_Outer(axis, hinge->sides[s]), byAxis = snwMat3_Outer(side, hinge->axis);
        PutHingeRow(truth, entries, row + s, hinge->bones[0], &bySide);
        PutHingeRow(truth, entries, row + s, hinge->bones[1], &byAxis);
    }
}

int snwTruth_Jacobian(const snwTruth* truth, const double* variables, snwTruthEntries entries)
{
    int row = 0;
    for (int k = 0; k < truth->boneCount; ++k, row += snw_boneRows)
    {
        int first = snwTruth_BoneFirst(truth, k);
        PutBoneRows(&entries, row, first, variables + first);
    }
    for (int i = 0; i < truth->pointCount; ++i, row += 3)
        PutPointRows(truth, &entries, row, &truth->points[i]);
    for (int i = 0; i < truth->hingeCount; ++i, row += 2)
        PutHingeRows(truth, &entries, row, &truth->hinges[i], variables);
    return entries.count;
}

// ---------------------------------------------------------------------------------------------------------------------
// Hessian. Contributions are put down in the order of the pattern: tets, flesh, bones, hinges.

// The unknowns of a tet, each once, and which of them move its twelve coordinates.
typedef struct Local
{
    int count;
    int variables[snw_cornerVariables];
    Movers movers[12]; // their variables are numbers within `variables`
} Local;

static int FindLocal(Local* local, int variable)
{
    for (int i = 0; i < local->count; ++i)
        if (local->variables[i] == variable)
            return i;
    local->variables[local->count] = variable;
    return local->count++;
}

static void GatherLocal(const snwTruth* truth, const snwTruthTet* tet, Local* local)
{
    local->count = 0;
    for (int c = 0; c < 12; ++c)
    {
        Movers movers = MoversOf(truth, tet->corners[c / 3], c % 3);
        for (int m = 0; m < movers.count; ++m)
            movers.variables[m] = FindLocal(local, movers.variables[m]);
        local->movers[c] = movers;
    }
}

// L^T H L, with the movers as the rows of L.
static void PutTet(snwTruthEntries* entries, const Local* local, double h[12][12], double scale)
{
    double sums[snw_cornerVariables][snw_cornerVariables];
    for (int p = 0; p < local->count; ++p)
        memset(sums[p], 0, (size_t)local->count * sizeof(double));
    for (int c = 0; c < 12; ++c)
        for (int d = 0; d < 12; ++d)
            for (int m = 0; m < local->movers[c].count; ++m)
                for (int n = 0; n < local->movers[d].count; ++n)
                    sums[local->movers[c].variables[m]][local->movers[d].variables[n]] += local->movers[c].factors[m] *
                                                                                          h[c][d] *
                                                                                          local->movers[d].factors[n];
    for (int p = 0; p < local->count; ++p)
        for (int q = 0; q <= p; ++q)
            Put(entries, local->variables[p], local->variables[q], scale * sums[p][q]);
}

static void PutFlesh(const snwTruth* truth, snwTruthEntries* entries, double scale)
{
    for (int v = 0; v < truth->vertexCount; ++v)
        for (int i = 0; i < 3 && truth->firsts[v] >= 0; ++i)
            Put(entries, truth->firsts[v] + i, truth->firsts[v] + i, scale * truth->character->masses[v]);
}

// Inertia, and multipliers of R^T R = I: both couple numbers of one row of (R, z) only.
static void PutBone(const snwTruth* truth, snwTruthEntries* entries, int bone, double scale, const double* multipliers)
{
    double block[4][4];
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            block[i][j] = scale * truth->moments[bone][i][j];
    for (int c = 0; c < snw_boneRows; ++c)
    {
        int i = s_pairs[c][0], j = s_pairs[c][1];
        block[j][i] += i == j ? 2 * multipliers[c] : multipliers[c]; // only the lower half is put down
    }
    int first = snwTruth_BoneFirst(truth, bone);
    for (int m = 0; m < 3; ++m)
    {
        int variables[4] = {first + 3 * m, first + 3 * m + 1, first + 3 * m + 2, first + 9 + m};
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j <= i; ++j)
                Put(entries, variables[i], variables[j], block[i][j]);
    }
}

// A row is the sum over m, i, j of R_a[m][i] side_i R_b[m][j] axis_j.
static void PutHinge(
    const snwTruth* truth, snwTruthEntries* entries, const snwTruthHinge* hinge, const double* multipliers)
{
    if (hinge->bones[0] < 0)
        return;
    snwVec3 side = snwVec3_MulAdd(snwVec3_Scale(hinge->sides[0], multipliers[0]), multipliers[1], hinge->sides[1]);
    snwMat3 block = snwMat3_Outer(side, hinge->axis);
    int a = snwTruth_BoneFirst(truth, hinge->bones[0]), b = snwTruth_BoneFirst(truth, hinge->bones[1]);
    for (int m = 0; m < 3; ++m)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                Put(entries, a + 3 * m + i, b + 3 * m + j, block.m[i][j]);
}

static void PutAll(
    const snwTruth* truth, snwTruthEntries* entries, const snwVec3* positions, double scale, const double* multipliers)
{
    double inertia = scale / (truth->step * truth->step);
    for (int e = 0; e < truth->tetCount; ++e)
    {
        Local local;
        snwVec3 x[4];
        double h[12][12];
        GatherLocal(truth, &truth->tets[e], &local);
        GatherCorners(&truth->tets[e], positions, x);
        snwTruthTet_Hessian(&truth->tets[e], x, h);
        PutTet(entries, &local, h, scale);
    }
    PutFlesh(truth, entries, inertia);
    for (int k = 0; k < truth->boneCount; ++k)
        PutBone(truth, entries, k, inertia, multipliers + snw_boneRows * k);
    multipliers += snw_boneRows * truth->boneCount + 3 * truth->pointCount;
    for (int i = 0; i < truth->hingeCount; ++i)
        PutHinge(truth, entries, &truth->hinges[i], multipliers + 2 * i);
}

void snwTruth_Hessian(snwTruth* truth, const double* variables, double scale, const double* multipliers, snwVec3* work)
{
    snwTruthEntries entries = {.values = truth->contributions};
    snwTruth_Positions(truth, variables, work);
    PutAll(truth, &entries, work, scale, multipliers);
    snwPattern_Assemble(truth->hessian, truth->contributions);
}

snwResult snwTruth_MakePattern(snwTruth* truth, snwMessage* message)
{
    snwArena* arena = &truth->arena;
    const snwVec3* rest = truth->character->def.vertices;
    double* zeros = snwArena_Alloc(arena, (size_t)snwTruth_RowCount(truth), sizeof *zeros);
    if (arena->failed)
        return snwFailMemory(message);
    snwTruthEntries entries = {0};
    PutAll(truth, &entries, rest, 0, zeros); // counts
    size_t count = (size_t)entries.count;
    truth->contributions = snwArena_Alloc(arena, count, sizeof *truth->contributions);
    entries = (snwTruthEntries){
        .rowOf = snwArena_Alloc(arena, count, sizeof(int)), .columnOf = snwArena_Alloc(arena, count, sizeof(int))};
    if (arena->failed)
        return snwFailMemory(message);
    PutAll(truth, &entries, rest, 0, zeros);
    snwPatternDef def = {.rows = truth->variableCount,
        .columns = truth->variableCount,
        .symmetric = true,
        .count = entries.count,
        .rowOf = entries.rowOf,
        .columnOf = entries.columnOf};
    return snwPattern_Create(truth->context, &def, &truth->hessian, message);
}
