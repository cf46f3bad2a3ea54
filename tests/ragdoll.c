#include "ragdoll.h"

#include "fixture.h"
#include "linalg/active.h"
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

void snwTreeWalker_Create(snwContext* context, const snwSoftBodyDef* def, snwTreeWalker* walker)
{
    snwMessage message;
    *walker = (snwTreeWalker){.gravity = {0, 0, 0}};
    if (snwSoftBody_Create(context, def, &walker->body, &message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
}

void snwTreeWalker_Look(snwTreeWalker* walker, snwVec3 origin)
{
    snwBodyTree_Place(&walker->body.tree, walker->body.poses, walker->body.masses, origin);
    snwBodyTree_Twist(&walker->body.tree, walker->body.u);
}

enum
{
    snw_mostRows = 96
};

typedef struct Rows
{
    int count;
    double jacobian[snw_mostRows * snw_mostFreedom];
    double b[snw_mostRows], lambda[snw_mostRows];
    bool atLeast[snw_mostRows], active[snw_mostRows];
} Rows;

// J u = b of loops and J u >= b of limits, whether near or not.
static void CollectRows(const snwSoftBody* body, double h, Rows* rows)
{
    int n = body->tree.freedom;
    rows->count = 0;
    for (int i = 0; i < body->loopCount; ++i)
    {
        double error[6];
        int made = snwBodyTree_LoopRows(&body->tree, &body->loops[i], error, rows->jacobian + rows->count * n);
        for (int r = 0; r < made; ++r, ++rows->count)
            rows->b[rows->count] = -error[r] / h, rows->atLeast[rows->count] = false;
    }
    for (int i = 0; i < body->tree.linkCount; ++i)
    {
        snwLinkLimit limits[snw_maxLinkLimits];
        int made = snwBodyTree_Limits(&body->tree, i, &body->poses[i], limits);
        for (int r = 0; r < made; ++r, ++rows->count)
        {
            double* row = rows->jacobian + rows->count * n;
            memset(row, 0, (size_t)n * sizeof *row);
            memcpy(row + limits[r].first, limits[r].gradient, (size_t)limits[r].count * sizeof *row);
            rows->b[rows->count] = -limits[r].gap / h, rows->atLeast[rows->count] = true;
        }
    }
}

static double* Numbers(size_t count)
{
    size_t bytes = (count * sizeof(double) + 127) / 64 * 64;
    double* numbers = aligned_alloc(64, bytes);
    memset(numbers, 0, bytes);
    return numbers;
}

static void SolveRows(const snwSoftBody* body, Rows* rows)
{
    int n = body->tree.freedom, count = rows->count;
    size_t square = (size_t)count * (size_t)count;
    double *panels = Numbers(snwDense_PanelCount(count, n)), *k = Numbers(square);
    double *scratch = Numbers(snwActive_ScratchCount(count)), compliance[snw_mostRows] = {0};
    snwSoftBody_Sweep(body, count, rows->jacobian, panels);
    snwDense_Gram(&body->factor, count, panels, k, count);
    for (int r = 0; r < count; ++r)
    {
        for (int c = 0; c < n; ++c)
            rows->b[r] -= rows->jacobian[r * n + c] * body->next[c];
        rows->active[r] = rows->atLeast[r] && rows->b[r] > 0;
    }
    snwActiveDef def = {.kernels = body->factor.kernels,
        .count = count,
        .k = k,
        .stride = count,
        .compliance = compliance,
        .b = rows->b,
        .atLeast = rows->atLeast,
        .active = rows->active,
        .lambda = rows->lambda,
        .scratch = scratch};
    snwActive_Solve(&def);
    free(scratch), free(k), free(panels);
}

void snwTreeWalker_Step(snwTreeWalker* w, double h, const double* forces)
{
    snwMessage message;
    snwSoftStep step = {.h = h, .gravity = w->gravity, .implicit = true, .forces = forces};
    if (snwSoftBody_Begin(&w->body, &step, &message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    static Rows rows;
    CollectRows(&w->body, h, &rows);
    SolveRows(&w->body, &rows);
    for (int r = 0; r < rows.count; ++r)
        snwSoftBody_PushJoint(&w->body, rows.jacobian + r * w->body.tree.freedom, rows.lambda[r]);
    snwSoftBody_End(&w->body);
}
