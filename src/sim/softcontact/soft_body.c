// The step of one soft body (soft_body.h): links and skins make one matrix, which is factored; rows of contacts are
// swept through it, impulses pushed back, loops closed at the end.

#include "sim/softcontact/soft_body.h"

#include "linalg/active.h"
#include "linalg/lu.h"

#include <string.h>

enum
{
    snw_loopRounds = 2 // of Newton, to close loops after a step
};

// ---------------------------------------------------------------------------------------------------------------------
// Making

static size_t PaddedCount(size_t count)
{
    return (count + 7) / 8 * 8;
}

static bool PlaceNumbers(snwSoftBody* body)
{
    // One block of numbers, each part padded to whole vectors.
    size_t n = PaddedCount((size_t)body->tree.freedom), rows = 6 * (size_t)body->loopCount;
    size_t factor = PaddedCount(snwDense_Count(body->tree.freedom)),
           scratch = PaddedCount(snwActive_ScratchCount((int)rows));
    size_t panels = PaddedCount(snwDense_PanelCount((int)rows, body->tree.freedom));
    size_t all = factor + 2 * n * n + 5 * n + rows * n + 3 * PaddedCount(rows) + PaddedCount(rows * rows) + scratch +
                 panels;
    double* at = body->numbers = snwAllocArray(body->context, all, sizeof *at);

    if (at == NULL)
        return false;

    // In the order of use.
    body->factor = (snwDense){snwCholesky_Kernels(body->context->simd), body->tree.freedom, at}, at += factor;
    body->matrix = at, at += n * n;
    body->lu = at, at += n * n;
    body->pivots = (int*)(void*)at, at += n;
    body->base = at, at += n;
    body->bias = at, at += n;
    body->next = at, at += n;
    body->push = at, at += n;

    body->loopRows = at, at += rows * n;
    body->loopErrors = at, at += PaddedCount(rows);
    body->loopPushes = at, at += PaddedCount(rows);
    body->loopMatrix = at, at += PaddedCount(rows * rows);
    body->loopNothing = at, at += PaddedCount(rows);
    body->loopScratch = at, at += scratch;
    body->loopPanels = at;

    return true;
}

snwResult snwSoftBody_Create(snwContext* context, const snwSoftBodyDef* def, snwSoftBody* body, snwMessage* message)
{
    *body = (snwSoftBody){.context = context, .loopCount = def->loopCount};
    snwResult result = snwBodyTree_Create(context, def->linkCount, def->links, &body->tree, message);
    if (result != snw_ok)
        return result;

    // Arrays of the body, and the numbers of its step in one block.
    body->skins = snwAllocArray(context, (size_t)def->skinCount, sizeof *body->skins);
    body->loops = snwCopyArray(context, def->loops, (size_t)def->loopCount, sizeof *def->loops);
    body->poses = snwAllocArray(context, (size_t)def->linkCount, sizeof *body->poses);
    body->masses = snwAllocArray(context, (size_t)def->linkCount, sizeof *body->masses);
    body->u = snwAllocArray(context, (size_t)body->tree.freedom, sizeof *body->u);
    body->loopFlags = snwAllocArray(context, 12 * (size_t)def->loopCount, sizeof *body->loopFlags);

    if (body->skins == NULL || body->loops == NULL || body->poses == NULL || body->masses == NULL || body->u == NULL ||
        body->loopFlags == NULL || !PlaceNumbers(body))
        result = snwFailMemory(message);

    // Skins last: their anchors are on links.
    for (int i = 0; i < def->skinCount && result == snw_ok; ++i)
    {
        result = snwPointSkin_Create(context, &body->tree, &def->skins[i], &body->skins[i], message);
        body->skinCount += result == snw_ok;
    }

    if (result != snw_ok)
    {
        snwSoftBody_Free(body);
        return result;
    }

    snwSoftBody_Reset(body);
    return snw_ok;
}

void snwSoftBody_Free(snwSoftBody* body)
{
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_Free(&body->skins[i]);
    void* all[] = {body->skins, body->loops, body->poses, body->masses, body->u, body->loopFlags, body->numbers};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        snwFree(body->context, all[i]);
    snwBodyTree_Free(&body->tree);
    *body = (snwSoftBody){.context = body->context};
}

// ---------------------------------------------------------------------------------------------------------------------
// Where it is

static void WeighLinks(snwSoftBody* body)
{
    for (int i = 0; i < body->tree.linkCount; ++i)
        body->masses[i] = body->tree.links[i].mass;
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_AddSleeping(&body->skins[i], &body->tree, body->masses);
}

// The origin is the first link's point: joints of the world say where that is.
static snwVec3 OriginOf(const snwSoftBody* body)
{
    return snwVec3_Add(body->tree.links[0].joint.position, body->poses[0].shift);
}

static void PlaceAt(snwSoftBody* body, snwVec3 origin)
{
    snwBodyTree_Place(&body->tree, body->poses, body->masses, origin);
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_Place(&body->skins[i], &body->tree);
}

void snwSoftBody_Look(snwSoftBody* body)
{
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_List(&body->skins[i]);
    WeighLinks(body);
    PlaceAt(body, OriginOf(body));
    snwBodyTree_Twist(&body->tree, body->u);
}

void snwSoftBody_Reset(snwSoftBody* body)
{
    snwBodyTree_Rest(&body->tree, body->poses);
    memset(body->u, 0, (size_t)body->tree.freedom * sizeof *body->u);
    snwBodyTree_Place(&body->tree, body->poses, NULL, OriginOf(body));
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_Reset(&body->skins[i], &body->tree);
    snwSoftBody_Look(body);
}

// ---------------------------------------------------------------------------------------------------------------------
// Soft and hard

snwResult snwSoftBody_Soften(snwSoftBody* body, const unsigned char* const* marks)
{
    bool any = false;
    for (int i = 0; i < body->skinCount; ++i)
        if (marks[i] != NULL)
            any = snwPointSkin_Wake(&body->skins[i], &body->tree, marks[i]) || any;
    if (any)
    {
        WeighLinks(body);
        PlaceAt(body, body->tree.origin);
    }
    return snw_ok;
}

static void LinkMatrix(const snwSoftBody* body)
{
    snwBodyTree_MassMatrix(&body->tree, body->matrix);
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_AddMoved(&body->skins[i], &body->tree, body->matrix);
}

// out += matrix x
static void AddBodyProduct(const snwSoftBody* body, const double* x, double* out)
{
    int n = body->tree.freedom;
    for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l)
            out[k] += body->matrix[k * n + l] * x[l];
}

// x <- A^-1 x
static void Solve(const snwSoftBody* body, double* x)
{
    if (body->literal)
        snwLu_Solve(body->tree.freedom, body->lu, body->tree.freedom, body->pivots, x);
    else
        snwDense_Solve(&body->factor, x);
}

static snwResult FactorBody(snwSoftBody* body, snwMessage* message)
{
    int bad = snwDense_Factor(&body->factor, body->matrix, body->tree.freedom);
    if (bad < 0)
        return snw_ok;
    int link = 0;
    while (body->tree.first[link + 1] <= bad)
        ++link;
    return snwFail(message, snw_errorDiverged, "give every link a mass and an inertia, or take shorter steps",
        "the motion of link %d has no inertia, or has diverged", link);
}

snwResult snwSoftBody_Harden(snwSoftBody* body, const unsigned char* const* marks, snwMessage* message)
{
    // The momentum as it is, in the coordinates of the links.
    memset(body->next, 0, (size_t)body->tree.freedom * sizeof *body->next);
    LinkMatrix(body);
    AddBodyProduct(body, body->u, body->next);
    bool any = false;

    // What falls asleep gives its momentum to the links and becomes a part of them.
    for (int i = 0; i < body->skinCount; ++i)
    {
        if (marks[i] == NULL)
            continue;
        snwPointSkin_PassMomentum(&body->skins[i], &body->tree, marks[i], body->next);
        any = snwPointSkin_Sleep(&body->skins[i], &body->tree, marks[i]) || any;
    }

    if (!any)
        return snw_ok;

    // With the new masses, the same momentum is another velocity.
    WeighLinks(body);
    PlaceAt(body, body->tree.origin);
    LinkMatrix(body);
    snwResult result = FactorBody(body, message);
    if (result != snw_ok)
        return result;

    snwDense_Solve(&body->factor, body->next);
    memcpy(body->u, body->next, (size_t)body->tree.freedom * sizeof *body->u);
    snwBodyTree_Twist(&body->tree, body->u);

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// The step

// All that moves as the links do; awake: and the rest.
static snwLinkMass Whole(const snwSoftBody* body, bool awake)
{
    snwLinkMass whole = snwBodyTree_Whole(&body->tree);
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_AddMass(&body->skins[i], &body->tree, awake, &whole);
    return whole;
}

// Momentum when the step is over, as far as it is known: without what touches the body.
static void WantMomentum(snwSoftBody* body, const snwSoftStep* step)
{
    const snwBodyTree* tree = &body->tree;

    // What there is now.
    body->wanted = snwSoftBody_Momentum(body);
    snwLinkMass whole = Whole(body, true);

    // Kicks of points.
    for (int i = 0; i < body->skinCount; ++i)
    {
        const snwPointSkin* skin = &body->skins[i];
        for (int p = 0; p < skin->count; ++p)
        {
            snwSpatial kick = snwSpatial_OfForce(snwVec3_Sub(skin->x[p], tree->origin), skin->kicks[p]);
            body->wanted = snwSpatial_MulAdd(body->wanted, 1, kick);
        }
    }

    // Gravity, and loads on links.
    snwSpatial weight = {snwVec3_Cross(whole.moment, step->gravity), snwVec3_Scale(step->gravity, whole.mass)};
    body->wanted = snwSpatial_MulAdd(body->wanted, step->h, weight);

    for (int i = 0; step->loads != NULL && i < tree->linkCount; ++i)
    {
        snwSpatial load = snwSpatial_OfForce(snwVec3_Sub(tree->points[i], tree->origin), step->loads[i].shift);
        load.turn = snwVec3_Add(load.turn, step->loads[i].turn);
        body->wanted = snwSpatial_MulAdd(body->wanted, step->h, load);
        snwSpatial impulse = {snwVec3_Scale(load.turn, step->h), snwVec3_Scale(load.shift, step->h)};
        snwBodyTree_AddLoad(tree, i, impulse, body->base);
    }
}

static void Bias(snwSoftBody* body, const double* u, snwVec3 gravity, double* bias)
{
    snwBodyTree_Twist(&body->tree, u);
    snwBodyTree_Bias(&body->tree, gravity, bias);
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_AddBias(&body->skins[i], &body->tree, bias);
}

// The LU of A + 2 h C; next <- as it would move: A u + h (forces - C u) + 2 h C u on the right.
static snwResult BeginLiteral(snwSoftBody* body, const snwSoftStep* step, snwMessage* message)
{
    const snwVec3 nothing = {0, 0, 0};
    int n = body->tree.freedom;
    double h = step->h, *both = body->push, *own = body->next; // free until the impulses come
    Bias(body, body->u, nothing, body->bias);
    memcpy(body->lu, body->matrix, (size_t)(n * n) * sizeof *body->lu);
    for (int j = 0; j < n; ++j)
    {
        memset(own, 0, (size_t)n * sizeof *own);
        memcpy(both, body->u, (size_t)n * sizeof *both);
        own[j] = 1, both[j] += 1;
        Bias(body, both, nothing, both);
        Bias(body, own, nothing, own);
        for (int i = 0; i < n; ++i)
            body->lu[i * n + j] += h * (both[i] - own[i] - body->bias[i]);
    }
    if (!snwLu_Factor(n, body->lu, n, body->pivots))
        return snwFail(message, snw_errorDiverged, "take shorter steps", "a body has diverged");
    for (int k = 0; k < n; ++k) // 2 h C u - h C u
        body->next[k] = body->base[k] + 2 * h * body->bias[k];
    Bias(body, body->u, step->gravity, body->bias);
    for (int k = 0; k < n; ++k)
        body->next[k] -= h * body->bias[k];
    memset(body->push, 0, (size_t)n * sizeof *body->push);
    Solve(body, body->next);
    snwBodyTree_Twist(&body->tree, body->next);
    return snw_ok;
}

snwResult snwSoftBody_Begin(snwSoftBody* body, const snwSoftStep* step, snwMessage* message)
{
    snwBodyTree* tree = &body->tree;
    int n = tree->freedom;
    size_t bytes = (size_t)n * sizeof(double);

    body->h = step->h, body->literal = step->literal;
    PlaceAt(body, OriginOf(body));
    snwBodyTree_Twist(tree, body->u);
    memset(body->base, 0, bytes), memset(body->push, 0, bytes);
    WantMomentum(body, step);

    // A and what does not depend on velocity products.
    snwBodyTree_MassMatrix(tree, body->matrix);
    AddBodyProduct(body, body->u, body->base);
    for (int k = 0; step->forces != NULL && k < n; ++k)
        body->base[k] += step->h * step->forces[k];
    snwJointPull pull = {body->poses, body->u, step->drives, step->h, step->implicit};
    snwBodyTree_PullJoints(tree, &pull, body->matrix, body->base);

    // Skins add what they give to the matrix and to the right side.
    snwSkinStep skinStep = {step->h, step->gravity, step->implicit};

    for (int i = 0; i < body->skinCount; ++i)
    {
        snwResult result = snwPointSkin_Begin(&body->skins[i], tree, &skinStep, body->matrix, body->base, message);
        if (result != snw_ok)
            return result;
    }

    snwResult result = FactorBody(body, message);
    if (result != snw_ok)
        return result;

    // Twice: velocity products of the velocities there are, then of the mean with those that come of them.
    if (step->literal)
        return BeginLiteral(body, step, message);
    for (int pass = 0; pass < 2; ++pass)
    {
        snwBodyTree_Bias(tree, step->gravity, body->bias);
        for (int i = 0; i < body->skinCount; ++i)
            snwPointSkin_AddBias(&body->skins[i], tree, body->bias);
        for (int k = 0; k < n; ++k)
            body->next[k] = body->base[k] - step->h * body->bias[k];
        snwDense_Solve(&body->factor, body->next);
        for (int k = 0; k < n; ++k) // the mean, in memory that is free by now
            body->bias[k] = 0.5 * (body->u[k] + body->next[k]);
        snwBodyTree_Twist(tree, pass == 0 ? body->bias : body->next);
    }

    return snw_ok;
}

static void AddCouple(const snwBodyTree* tree, const snwSoftTouch* touch, snwVec3 impulse, double* row)
{
    if (snwVec3_LengthSquared(touch->arm) > 0)
        snwBodyTree_AddLoad(tree, touch->link, (snwSpatial){snwVec3_Cross(touch->arm, impulse), {0, 0, 0}}, row);
}

void snwSoftBody_Row(const snwSoftBody* body, const snwSoftTouch* touch, snwVec3 direction, double* row)
{
    const snwBodyTree* tree = &body->tree;
    memset(row, 0, (size_t)tree->freedom * sizeof *row);
    if (touch->skin >= 0)
    {
        const snwPointSkin* skin = &body->skins[touch->skin];
        snwPointSkin_AddRow(skin, tree, snwPointSkin_Shares(skin, touch->point), direction, row);
        AddCouple(tree, touch, direction, row);
        return;
    }
    snwVec3 arm = snwVec3_Sub(touch->at, tree->origin);
    snwBodyTree_AddLoad(tree, touch->link, snwSpatial_OfForce(arm, direction), row);
}

snwVec3 snwSoftBody_Velocity(const snwSoftBody* body, const snwSoftTouch* touch)
{
    if (touch->skin >= 0)
        return snwVec3_Add(snwPointSkin_Velocity(&body->skins[touch->skin], &body->tree, touch->point),
            snwVec3_Cross(body->tree.twists[touch->link].turn, touch->arm));
    return snwSpatial_At(body->tree.twists[touch->link], snwVec3_Sub(touch->at, body->tree.origin));
}

void snwSoftBody_Sweep(const snwSoftBody* body, int count, const double* rows, double* panels)
{
    snwDense_ForwardRows(&body->factor, count, rows, body->tree.freedom, panels);
}

void snwSoftBody_Couple(const snwSoftBody* body, int count, const double* rows, double* panels, double* coupling)
{
    int n = body->tree.freedom;
    if (!body->literal)
    {
        snwSoftBody_Sweep(body, count, rows, panels);
        snwDense_Gram(&body->factor, count, panels, coupling, count);
        return;
    }
    for (int j = 0; j < count; ++j)
    {
        memcpy(panels, rows + (size_t)j * (size_t)n, (size_t)n * sizeof *panels);
        Solve(body, panels);
        for (int i = 0; i < count; ++i)
        {
            const double* row = rows + (size_t)i * (size_t)n;
            double sum = 0;
            for (int k = 0; k < n; ++k)
                sum += row[k] * panels[k];
            coupling[(size_t)i * (size_t)count + (size_t)j] = sum;
        }
    }
}

double snwSoftBody_Compliance(const snwSoftTouch* a, const snwSoftTouch* b, const snwSoftBody* body)
{
    if (a->skin < 0 || a->skin != b->skin)
        return 0;
    return snwPointSkin_Compliance(&body->skins[a->skin], a->point, b->point);
}

void snwSoftBody_Push(snwSoftBody* body, const snwSoftTouch* touch, snwVec3 impulse)
{
    const snwBodyTree* tree = &body->tree;
    snwVec3 at = touch->at;

    // On a point of a skin: its links take their shares, and an awake point moves by itself.
    if (touch->skin >= 0)
    {
        snwPointSkin* skin = &body->skins[touch->skin];
        at = snwVec3_Add(skin->x[touch->point], touch->arm);
        snwPointSkin_AddRow(skin, tree, snwPointSkin_Shares(skin, touch->point), impulse, body->push);
        AddCouple(tree, touch, impulse, body->push);
        if (skin->awake[touch->point])
        {
            snwVec3* given = &skin->given[skin->placeOf[touch->point]];
            *given = snwVec3_Add(*given, impulse);
        }
    }
    else
    {
        snwVec3 arm = snwVec3_Sub(at, tree->origin);
        snwBodyTree_AddLoad(tree, touch->link, snwSpatial_OfForce(arm, impulse), body->push);
    }

    snwSpatial load = snwSpatial_OfForce(snwVec3_Sub(at, tree->origin), impulse);
    body->wanted = snwSpatial_MulAdd(body->wanted, 1, load);
}

void snwSoftBody_PushJoint(snwSoftBody* body, const double* row, double impulse)
{
    for (int k = 0; k < body->tree.freedom; ++k)
        body->push[k] += impulse * row[k];
}

void snwSoftBody_Absorb(snwSoftBody* body)
{
    Solve(body, body->push);
    for (int k = 0; k < body->tree.freedom; ++k)
        body->next[k] += body->push[k], body->push[k] = 0;
    snwBodyTree_Twist(&body->tree, body->next);
}

// Takes back what loops are open by: the shortest way in the metric of A.
static void CloseLoops(snwSoftBody* body)
{
    int n = body->tree.freedom;
    for (int round = 0; round < snw_loopRounds && body->loopCount > 0; ++round)
    {
        // How far loops are open, as rows at the present pose.
        int rows = 0;
        for (int i = 0; i < body->loopCount; ++i)
            rows += snwBodyTree_LoopRows(
                &body->tree, &body->loops[i], body->loopErrors + rows, body->loopRows + rows * n);

        // What pushes of 1 do to each other, A^-1 in between.
        snwSoftBody_Sweep(body, rows, body->loopRows, body->loopPanels);
        snwDense_Gram(&body->factor, rows, body->loopPanels, body->loopMatrix, rows);
        for (int r = 0; r < rows; ++r)
            body->loopErrors[r] = -body->loopErrors[r];

        snwActiveDef def = {.kernels = body->factor.kernels,
            .count = rows,
            .k = body->loopMatrix,
            .stride = rows,
            .compliance = body->loopNothing,
            .b = body->loopErrors,
            .atLeast = body->loopFlags,
            .active = body->loopFlags + rows,
            .lambda = body->loopPushes,
            .scratch = body->loopScratch};
        snwActive_Solve(&def); // which knows that loops often say the same twice

        // Back to the motion of all joints, over a step of 1.
        memset(body->next, 0, (size_t)n * sizeof *body->next);
        snwDense_AddRows(&body->factor, rows, body->loopPanels, body->loopPushes, body->next);
        snwDense_Backward(&body->factor, body->next);

        snwBodyTree_Move(&body->tree, body->next, 1, body->poses);
        snwBodyTree_Place(&body->tree, body->poses, body->masses, body->tree.origin);
    }
}

void snwSoftBody_End(snwSoftBody* body)
{
    snwBodyTree* tree = &body->tree;

    // Impulses become velocities.
    snwSoftBody_Absorb(body);
    memcpy(body->u, body->next, (size_t)tree->freedom * sizeof *body->u);
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_TakeVelocities(&body->skins[i], tree);

    // Links go on, loops are closed, and points follow along their arcs.
    snwBodyTree_Move(tree, body->u, body->h, body->poses);
    snwBodyTree_Place(tree, body->poses, body->masses, tree->origin);
    CloseLoops(body);
    for (int i = 0; i < body->skinCount; ++i)
        snwPointSkin_Move(&body->skins[i], tree, body->h);

    // Positions have moved on, so momentum is not quite what it should be: a rigid motion makes up for it where
    // nothing ties the body.
    snwBodyTree_Twist(tree, body->u);
    if (!tree->floats || body->literal)
        return;
    snwLinkMass whole = Whole(body, false);
    snwSpatial missing = snwSpatial_MulAdd(body->wanted, -1, snwSoftBody_Momentum(body));
    snwBodyTree_AddMomentum(tree, &whole, missing, body->u);
    snwBodyTree_Twist(tree, body->u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Conservation

snwSpatial snwSoftBody_Momentum(const snwSoftBody* body)
{
    snwSpatial sum = snwBodyTree_Momentum(&body->tree);
    for (int i = 0; i < body->skinCount; ++i)
        sum = snwSpatial_MulAdd(sum, 1, snwPointSkin_Momentum(&body->skins[i], &body->tree));
    return sum;
}

double snwSoftBody_KineticEnergy(const snwSoftBody* body)
{
    double sum = snwBodyTree_KineticEnergy(&body->tree);
    for (int i = 0; i < body->skinCount; ++i)
        sum += snwPointSkin_KineticEnergy(&body->skins[i], &body->tree);
    return sum;
}

double snwSoftBody_ElasticEnergy(const snwSoftBody* body)
{
    double sum = 0;
    for (int i = 0; i < body->skinCount; ++i)
        sum += snwPointSkin_ElasticEnergy(&body->skins[i]);
    return sum;
}

snwVec3 snwSoftBody_Centre(const snwSoftBody* body, double* mass)
{
    snwLinkMass whole = Whole(body, true);
    *mass = whole.mass;
    return snwVec3_MulAdd(body->tree.origin, 1 / whole.mass, whole.moment);
}
