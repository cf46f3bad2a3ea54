#include "ragdoll.h"

#include "fixture.h"
#include "linalg/active.h"
#include "test.h"

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
