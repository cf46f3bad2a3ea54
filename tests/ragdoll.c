#include "ragdoll.h"

#include "fixture.h"
#include "linalg/active.h"
#include "math/cpu.h"
#include "test.h"

static snwMat3 BoxInertia(double mass, snwVec3 half)
{
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    return snwMat3_Diagonal(mass * (y + z) / 3, mass * (x + z) / 3, mass * (x + y) / 3);
}

snwLinkDef snwRagdoll_Box(snwJointType type, int parent, snwVec3 point, snwVec3 centre, snwVec3 half, double mass)
{
    snwLinkDef link = {.joint = snwDefaultJointDef()};
    link.joint.type = type, link.joint.parentBone = parent, link.joint.position = point;
    link.mass = snwLinkMass_Make(mass, snwVec3_Sub(centre, point), BoxInertia(mass, half));
    return link;
}

static void Range(snwLinkDef* link, snwVec3 axis, double lower, double upper, double cone)
{
    link->joint.axis = axis, link->joint.lower = lower, link->joint.upper = upper, link->joint.cone = cone;
}

void snwRagdoll_Links(bool limits, snwLinkDef links[snw_ragdollLinks])
{
    links[0] = snwRagdoll_Box(
        snw_jointFree, -1, (snwVec3){0, 1, 0}, (snwVec3){0, 1, 0}, (snwVec3){0.15, 0.1, 0.1}, 12.9);
    links[1] = snwRagdoll_Box(
        snw_jointBall, 0, (snwVec3){0, 1.15, 0}, (snwVec3){0, 1.4, 0}, (snwVec3){0.18, 0.25, 0.1}, 22.5);
    links[2] = snwRagdoll_Box(
        snw_jointBall, 1, (snwVec3){0, 1.65, 0}, (snwVec3){0, 1.8, 0}, (snwVec3){0.08, 0.12, 0.1}, 5.2);
    for (int side = 0; side < 2; ++side)
    {
        double s = side == 0 ? 1 : -1;
        snwLinkDef* limb = &links[3 + 5 * side];
        int first = 3 + 5 * side;
        limb[0] = snwRagdoll_Box(snw_jointBall, 1, (snwVec3){0.2 * s, 1.6, 0}, (snwVec3){0.36 * s, 1.6, 0},
            (snwVec3){0.16, 0.05, 0.05}, 2.2);
        limb[1] = snwRagdoll_Box(snw_jointHinge, first, (snwVec3){0.52 * s, 1.6, 0}, (snwVec3){0.72 * s, 1.6, 0},
            (snwVec3){0.2, 0.04, 0.04}, 1.7);
        limb[2] = snwRagdoll_Box(snw_jointBall, 0, (snwVec3){0.1 * s, 0.92, 0}, (snwVec3){0.1 * s, 0.7, 0},
            (snwVec3){0.07, 0.22, 0.07}, 6.6);
        limb[3] = snwRagdoll_Box(snw_jointHinge, first + 2, (snwVec3){0.1 * s, 0.48, 0}, (snwVec3){0.1 * s, 0.27, 0},
            (snwVec3){0.05, 0.21, 0.05}, 3.2);
        limb[4] = snwRagdoll_Box(snw_jointUniversal, first + 3, (snwVec3){0.1 * s, 0.06, 0},
            (snwVec3){0.1 * s, 0.03, 0.05}, (snwVec3){0.05, 0.03, 0.12}, 1.2);
        limb[1].joint.axis = (snwVec3){0, s, 0};
        limb[4].joint.axis2 = (snwVec3){0, 0, 1};
        if (!limits)
            continue;
        Range(&limb[0], (snwVec3){1, 0, 0}, -1, 1, 1.6);
        Range(&limb[1], limb[1].joint.axis, -2.5, 0, SNW_PI);
        Range(&limb[2], (snwVec3){0, 1, 0}, -0.7, 0.7, 1.3);
        Range(&limb[3], (snwVec3){1, 0, 0}, 0, 2.4, SNW_PI);
        Range(&limb[4], (snwVec3){1, 0, 0}, -0.7, 0.7, SNW_PI);
    }
    if (limits)
    {
        Range(&links[1], (snwVec3){0, 1, 0}, -0.6, 0.6, 0.6);
        Range(&links[2], (snwVec3){0, 1, 0}, -0.9, 0.9, 0.6);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Walker

void snwTreeWalker_Create(snwContext* context, int count, const snwLinkDef* links, snwTreeWalker* walker)
{
    snwMessage message;
    *walker = (snwTreeWalker){.keepMomentum = true};
    if (snwBodyTree_Create(context, count, links, &walker->tree, &message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    walker->poses = snwAllocArray(context, (size_t)count, sizeof *walker->poses);
    walker->numbers = snwAllocArray(context, snwDense_Count(walker->tree.freedom), sizeof(double));
    snwBodyTree_Rest(&walker->tree, walker->poses);
}

void snwTreeWalker_Free(snwTreeWalker* walker)
{
    snwFree(walker->tree.context, walker->poses);
    snwFree(walker->tree.context, walker->numbers);
    snwBodyTree_Free(&walker->tree);
}

void snwTreeWalker_Look(snwTreeWalker* walker, snwVec3 origin)
{
    snwBodyTree_Place(&walker->tree, walker->poses, NULL, origin);
    snwBodyTree_Twist(&walker->tree, walker->u);
}

enum
{
    snw_mostRows = 96
};

typedef struct Rows
{
    int count;
    double jacobian[snw_mostRows * snw_mostFreedom];
    double b[snw_mostRows];
    bool atLeast[snw_mostRows], active[snw_mostRows];
} Rows;

// Rows J u+ = b of loops.
static void CollectLoops(snwTreeWalker* w, double h, Rows* rows)
{
    rows->count = 0;
    for (int i = 0; i < w->loopCount; ++i)
    {
        double error[6];
        double* jacobian = rows->jacobian + rows->count * w->tree.freedom;
        int made = snwBodyTree_LoopRows(&w->tree, &w->loops[i], error, jacobian);
        for (int r = 0; r < made; ++r, ++rows->count)
            rows->b[rows->count] = -error[r] / h, rows->atLeast[rows->count] = false;
    }
}

// J u+ >= b of limits, whether near or not.
static void CollectLimits(snwTreeWalker* w, double h, Rows* rows)
{
    int n = w->tree.freedom;
    for (int i = 0; i < w->tree.linkCount; ++i)
    {
        snwLinkLimit limits[snw_maxLinkLimits];
        int made = snwBodyTree_Limits(&w->tree, i, &w->poses[i], limits);
        for (int r = 0; r < made; ++r, ++rows->count)
        {
            double* row = rows->jacobian + rows->count * n;
            memset(row, 0, (size_t)n * sizeof *row);
            memcpy(row + limits[r].first, limits[r].gradient, (size_t)limits[r].count * sizeof *row);
            rows->b[rows->count] = -limits[r].gap / h, rows->atLeast[rows->count] = true;
        }
    }
}

// u <- u + A^-1 J^T lambda
static void ApplyRows(const snwTreeWalker* w, const snwDense* dense, Rows* rows, double* u)
{
    int n = w->tree.freedom, count = rows->count;
    double* y = calloc((size_t)(count + 1) * snw_mostFreedom, sizeof *y); // A^-1 J^T, row by row
    double* k = calloc((size_t)count * (size_t)count + 1, sizeof *k);
    double lambda[snw_mostRows], compliance[snw_mostRows] = {0};
    for (int r = 0; r < count; ++r)
    {
        _Alignas(64) double x[snw_mostFreedom] = {0};
        memcpy(x, rows->jacobian + r * n, (size_t)n * sizeof *x);
        snwDense_Solve(dense, x);
        memcpy(y + r * n, x, (size_t)n * sizeof *x);
        for (int c = 0; c < n; ++c)
            rows->b[r] -= rows->jacobian[r * n + c] * u[c];
        rows->active[r] = rows->atLeast[r] && rows->b[r] > 0;
    }
    for (int r = 0; r < count; ++r)
        for (int s = 0; s < count; ++s)
            for (int c = 0; c < n; ++c)
                k[r * count + s] += rows->jacobian[r * n + c] * y[s * n + c];

    size_t scratchSize = (snwActive_ScratchCount(count) * sizeof(double) + 127) / 64 * 64;
    double* scratch = aligned_alloc(64, scratchSize);
    memset(scratch, 0, scratchSize);
    snwActiveDef def = {.kernels = dense->kernels,
        .count = count,
        .k = k,
        .stride = count,
        .compliance = compliance,
        .b = rows->b,
        .atLeast = rows->atLeast,
        .active = rows->active,
        .lambda = lambda,
        .scratch = scratch};
    snwActive_Solve(&def);
    for (int r = 0; r < count; ++r)
        for (int c = 0; c < n; ++c)
            u[c] += lambda[r] * y[r * n + c];
    free(scratch), free(k), free(y);
}

void snwTreeWalker_Step(snwTreeWalker* w, double h, const double* forces)
{
    snwBodyTree* tree = &w->tree;
    int n = tree->freedom;
    snwVec3 origin = snwVec3_Add(tree->links[0].joint.position, w->poses[0].shift);
    snwTreeWalker_Look(w, origin);
    snwSpatial wanted = snwBodyTree_Momentum(tree);
    snwLinkMass whole = snwBodyTree_Whole(tree);
    wanted = snwSpatial_MulAdd(
        wanted, h, (snwSpatial){snwVec3_Cross(whole.moment, w->gravity), snwVec3_Scale(w->gravity, whole.mass)});

    double matrix[snw_mostFreedom * snw_mostFreedom], bias[snw_mostFreedom], base[snw_mostFreedom] = {0};
    _Alignas(64) double next[snw_mostFreedom] = {0};
    snwBodyTree_MassMatrix(tree, matrix);
    for (int k = 0; k < n; ++k)
    {
        base[k] = h * (forces != NULL ? forces[k] : 0);
        for (int l = 0; l < n; ++l)
            base[k] += matrix[k * n + l] * w->u[l];
    }
    snwJointPull pull = {.poses = w->poses, .u = w->u, .h = h, .implicit = true};
    snwBodyTree_PullJoints(tree, &pull, matrix, base);
    snwDense dense = {.kernels = snwCholesky_Kernels(snwSimd_Best()), .n = n, .numbers = w->numbers};
    CHECK_INT(snwDense_Factor(&dense, matrix, n), -1);

    // Velocity products twice: of the velocities that there are, then of the mean of these and what comes of them.
    double mean[snw_mostFreedom];
    memcpy(mean, w->u, (size_t)n * sizeof *mean);
    for (int pass = 0; pass < 2; ++pass)
    {
        snwBodyTree_Twist(tree, mean);
        snwBodyTree_Bias(tree, w->gravity, bias);
        for (int k = 0; k < n; ++k)
            next[k] = base[k] - h * bias[k];
        snwDense_Solve(&dense, next);
        for (int k = 0; k < n; ++k)
            mean[k] = 0.5 * (w->u[k] + next[k]);
    }
    static Rows rows;
    CollectLoops(w, h, &rows), CollectLimits(w, h, &rows);
    if (rows.count > 0)
        ApplyRows(w, &dense, &rows, next);

    memcpy(w->u, next, (size_t)n * sizeof *next);
    snwBodyTree_Move(tree, w->u, h, w->poses);
    for (int round = 0; round < 2 && w->loopCount > 0; ++round)
    {
        double way[snw_mostFreedom] = {0};
        snwTreeWalker_Look(w, origin);
        CollectLoops(w, 1, &rows);
        ApplyRows(w, &dense, &rows, way);
        snwBodyTree_Move(tree, way, 1, w->poses);
    }
    if (!tree->floats || !w->keepMomentum)
        return;
    snwTreeWalker_Look(w, origin);
    snwBodyTree_AddMomentum(tree, snwSpatial_MulAdd(wanted, -1, snwBodyTree_Momentum(tree)), w->u);
}
