// Objective, gradient and Hessian of the implicit step, and the linear system of a Newton step:
//     [ H  C^T ] [ p ]   [ -g ]
//     [ C   0  ] [ l ] = [  0 ]
// H is factored; the rows C are the factor's last unknowns, so that its Schur complement, -C H^-1 C^T, comes along.

#include "sim/pbcd/implicit_parts.h"

#include <string.h>

enum
{
    snw_implicitGrain = 64 // elements per chunk
};

typedef struct Loop
{
    snwImplicit* implicit;
    const snwImplicitStep* step;
    const snwVec3* x;
    bool exact;
} Loop;

static bool IsHeld(const snwImplicitStep* step, int v)
{
    return step->held != NULL && step->held[v];
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

static snwImplicitEdge GetEdge(const Loop* loop, int i, snwVec3 x[2])
{
    for (int a = 0; a < 2; ++a)
        x[a] = loop->x[loop->implicit->edges[i][a]];
    return (snwImplicitEdge){loop->step->lengths[i], loop->step->edgeStiffness[i]};
}

static snwImplicitTet GetTet(const Loop* loop, int i, snwVec3 x[4])
{
    const snwImplicit* implicit = loop->implicit;
    const snwImplicitStep* step = loop->step;
    for (int a = 0; a < 4; ++a)
        x[a] = loop->x[implicit->tets[i][a]];

    // By its place in the list: volumes, strains, the rest Neo-Hookean.
    if (i < implicit->volumeCount)
        return snwImplicitTet_Volume(step->volumes[i], step->volumeStiffness[i]);
    i -= implicit->volumeCount;
    if (i < implicit->strainCount)
    {
        int kind = step->strainKinds != NULL ? step->strainKinds[i] : i;
        snwImplicitTet tet = snwImplicitTet_Strain(
            step->strainInverses[i], step->strainVolumes[i], step->strainStiffness[kind]);
        tet.strainRest = step->strainRests != NULL ? step->strainRests[i] : NULL;
        return tet;
    }

    i -= implicit->strainCount;
    return snwImplicitTet_Neo(step->neoInverses[i], step->neoVolumes[i], step->neoMu[i], step->neoLambda[i]);
}

static double EdgeForces(int begin, int end, void* data)
{
    const Loop* loop = data;
    double energy = 0;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 x[2];
        snwImplicitEdge edge = GetEdge(loop, i, x);
        loop->implicit->edgeForces[i] = snwImplicitEdge_Gradient(&edge, x);
        energy += snwImplicitEdge_Energy(&edge, x);
    }
    return energy;
}

static double TetForces(int begin, int end, void* data)
{
    const Loop* loop = data;
    double energy = 0;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 x[4];
        snwImplicitTet tet = GetTet(loop, i, x);
        energy += snwImplicitTet_Gradient(&tet, x, loop->implicit->tetForces[i]);
    }
    return energy;
}

// ---------------------------------------------------------------------------------------------------------------------
// Objective and gradient

static void AddForce(snwImplicit* implicit, snwVec3* gradient, int v, snwVec3 force)
{
    gradient[v] = snwVec3_Add(gradient[v], force);
    implicit->sizes[v] += snwVec3_Length(force);
}

static double AddInertia(snwImplicit* implicit, const Loop* loop, snwVec3* gradient)
{
    double energy = 0;
    for (int v = 0; v < implicit->vertexCount; ++v)
    {
        snwVec3 force = snwVec3_Scale(snwVec3_Sub(loop->x[v], loop->step->targets[v]), loop->step->weights[v]);
        energy += 0.5 * snwVec3_Dot(force, snwVec3_Sub(loop->x[v], loop->step->targets[v]));
        if (gradient != NULL)
        {
            gradient[v] = force;
            implicit->sizes[v] = snwVec3_Length(force);
        }
    }
    return energy;
}

double snwImplicit_Objective(snwImplicit* implicit, const snwImplicitStep* step, const snwVec3* x, snwVec3* gradient)
{
    Loop loop = {.implicit = implicit, .step = step, .x = x};
    double energy = AddInertia(implicit, &loop, gradient);
    energy += snwParallelSum(implicit->context, implicit->edgeCount, snw_implicitGrain, EdgeForces, &loop);
    energy += snwParallelSum(implicit->context, implicit->tetCount, snw_implicitGrain, TetForces, &loop);
    if (gradient == NULL)
        return energy;
    for (int i = 0; i < implicit->edgeCount; ++i)
    {
        AddForce(implicit, gradient, implicit->edges[i][0], implicit->edgeForces[i]);
        AddForce(implicit, gradient, implicit->edges[i][1], snwVec3_Negate(implicit->edgeForces[i]));
    }
    for (int i = 0; i < implicit->tetCount; ++i)
        for (int a = 0; a < 4; ++a)
            AddForce(implicit, gradient, implicit->tets[i][a], implicit->tetForces[i][a]);
    return energy;
}

// ---------------------------------------------------------------------------------------------------------------------
// Hessian

// Rows and columns of held vertices are those of the identity.
static void LeaveOutHeld(const snwImplicitStep* step, const int* vertices, int size, double* lower)
{
    for (int i = 0; i < 3 * size; ++i)
        for (int j = 0; j <= i; ++j, ++lower)
            if (IsHeld(step, vertices[i / 3]) || IsHeld(step, vertices[j / 3]))
                *lower = 0;
}

static void EdgeHessians(int begin, int end, void* data)
{
    const Loop* loop = data;
    for (int e = begin; e < end; ++e)
    {
        snwVec3 x[2];
        snwImplicitEdge edge = GetEdge(loop, e, x);
        snwMat3 block = snwImplicitEdge_Hessian(&edge, x, !loop->exact);
        double* lower = loop->implicit->terms + (size_t)loop->implicit->tetCount * snw_tetHessianCount +
                        (size_t)e * snw_edgeHessianCount;
        for (int i = 0, at = 0; i < 6; ++i)
            for (int j = 0; j <= i; ++j)
                lower[at++] = i / 3 == j / 3 ? block.m[i % 3][j % 3] : -block.m[i % 3][j % 3];
        LeaveOutHeld(loop->step, loop->implicit->edges[e], 2, lower);
    }
}

static void TetHessians(int begin, int end, void* data)
{
    const Loop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 x[4];
        snwImplicitTet tet = GetTet(loop, i, x);
        double* lower = loop->implicit->terms + (size_t)i * snw_tetHessianCount;
        snwImplicitTet_Hessian(&tet, x, !loop->exact, lower);
        LeaveOutHeld(loop->step, loop->implicit->tets[i], 4, lower);
    }
}

static void AddStepWeights(snwImplicit* implicit, const snwImplicitStep* step, double shift)
{
    snwSparse* matrix = snwPattern_Matrix(implicit->pattern);
    for (int i = 0; i < snwImplicit_UnknownCount(implicit); ++i)
    {
        double* diagonal = &matrix->values[matrix->starts[i + 1] - 1];
        *diagonal = IsHeld(step, i / 3) ? 1.0 : (*diagonal + step->weights[i / 3]) * (1 + shift);
    }
}

// C H^-1 C^T; rows that were dropped stand alone.
static snwResult FactorSchur(snwImplicit* implicit, snwMessage* message)
{
    int m = implicit->rowCapacity;
    const double* negative = snwCholesky_Schur(implicit->factor);
    for (int i = 0; i < m * m; ++i)
        implicit->schur[i] = -negative[i];
    for (int i = 0; i < m; ++i)
        if (implicit->schur[i * m + i] == 0)
            implicit->schur[i * m + i] = 1;
    int pivot = m > 0 ? snwDense_Factor(&implicit->dense, implicit->schur, m) : -1;
    if (pivot < 0)
        return snw_ok;
    snwFail(message, snw_errorDiverged, NULL, "the rows of the orthogonality constraint cannot be told apart");
    snwMessage_AddPlace(message, "row %d", pivot);
    return snw_errorDiverged;
}

snwResult snwImplicit_Factor(
    snwImplicit* implicit, const snwImplicitStep* step, const snwImplicitMatrix* matrix, snwMessage* message)
{
    Loop loop = {implicit, step, matrix->x, matrix->exact};
    snwParallelFor(implicit->context, implicit->edgeCount, snw_implicitGrain, EdgeHessians, &loop);
    snwParallelFor(implicit->context, implicit->tetCount, snw_implicitGrain, TetHessians, &loop);
    snwPattern_Assemble(implicit->pattern, implicit->terms);
    AddStepWeights(implicit, step, matrix->shift);
    snwResult result = snwCholesky_Refactor(implicit->factor, snwPattern_Matrix(implicit->pattern), message);
    return result < 0 ? result : FactorSchur(implicit, message);
}

void snwImplicit_Direct(snwImplicit* implicit, const snwVec3* gradient)
{
    int n = implicit->vertexCount, m = implicit->rowCapacity;
    double* right = implicit->right;
    memset(right + snwImplicit_UnknownCount(implicit), 0, (size_t)m * sizeof *right);
    for (int v = 0; v < n; ++v)
        right[3 * v] = -gradient[v].x, right[3 * v + 1] = -gradient[v].y, right[3 * v + 2] = -gradient[v].z;
    snwRightSides side = snwRows_Double(right, 1, 1), last = snwRows_Double(implicit->multipliers, 1, 1);
    snwCholesky_Forward(implicit->factor, implicit->scratch, side, last);
    for (int k = 0; k < m; ++k)
        implicit->multipliers[k] = -implicit->multipliers[k];
    if (m > 0)
        snwDense_Solve(&implicit->dense, implicit->multipliers);
    snwCholesky_Backward(implicit->factor, implicit->scratch, last, side);
    for (int v = 0; v < n; ++v)
        implicit->direction[v] = (snwVec3){right[3 * v], right[3 * v + 1], right[3 * v + 2]};
}
