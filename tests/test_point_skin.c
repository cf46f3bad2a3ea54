// Skins of points: the eliminated step against the whole system, conservation, soft and hard.

// Labels: kernels

#include "fixture.h"
#include "math/cpu.h"
#include "ragdoll.h"
#include "test.h"

static double Uniform(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwVec3 RandomVector(uint64_t* seed, double scale)
{
    double x = Uniform(seed), y = Uniform(seed), z = Uniform(seed);
    return snwVec3_Scale((snwVec3){x, y, z}, scale);
}

enum
{
    snw_limbs = 4,
    snw_mostPoints = 48,
    snw_mostEdges = 200
};

typedef struct SkinText
{
    snwVec3 points[snw_mostPoints];
    snwPointAnchor anchors[snw_mostPoints];
    double masses[snw_mostPoints], stiffness[snw_mostPoints], damping[snw_mostPoints];
    int edges[snw_mostEdges][2];
    double edgeStiffness[snw_mostEdges];
    snwPointSkinDef def;
} SkinText;

// Points round the links of a limb, every third of which hangs on two links or three, each tied to four others.
static void MakeSkin(SkinText* text, const snwLinkDef* links, int linkCount, int count, double stiffness, uint64_t seed)
{
    memset(text, 0, sizeof *text);
    text->def = (snwPointSkinDef){.pointCount = count,
        .points = text->points,
        .anchors = text->anchors,
        .masses = text->masses,
        .stiffness = text->stiffness,
        .damping = text->damping,
        .edges = text->edges,
        .edgeStiffness = text->edgeStiffness};
    for (int i = 0; i < count; ++i)
    {
        int link = i % linkCount;
        text->points[i] = snwVec3_Add(links[link].joint.position, RandomVector(&seed, 0.3));
        text->anchors[i] = (snwPointAnchor){.count = 1, .links = {link}, .weights = {1}};
        if (i % 3 == 0)
            text->anchors[i] = (snwPointAnchor){
                .count = 2, .links = {link, (link + 1) % snw_limbs}, .weights = {0.7, 0.3}};
        if (i % 6 == 0)
            text->anchors[i] = (snwPointAnchor){.count = 3, .links = {0, 2, 3}, .weights = {0.5, 0.2, 0.3}};
        text->masses[i] = 0.01 * (1 + snwTest_Random(&seed));
        text->stiffness[i] = 0.4 * stiffness * (1 + snwTest_Random(&seed));
        text->damping[i] = 0.01 * stiffness;
        for (int k = 0; k < 4; ++k)
        {
            int other = (i + 1 + (int)(snwTest_Random(&seed) * (count - 1))) % count;
            text->edges[text->def.edgeCount][0] = i, text->edges[text->def.edgeCount][1] = other;
            text->edgeStiffness[text->def.edgeCount++] = 0.6 * stiffness;
        }
    }
}

typedef struct Limb
{
    snwLinkDef links[snw_limbs];
    SkinText skin;
    snwTreeWalker walker;
    unsigned char marks[snw_mostPoints];
} Limb;

// Who wakes: one in so many sleeps; 0: everybody sleeps, above the count: nobody does.
static void MakeLimb(Limb* limb, snwContext* context, snwJointType root, double stiffness, int sleeper)
{
    static const snwJointType types[] = {snw_jointFree, snw_jointBall, snw_jointUniversal, snw_jointHinge};
    uint64_t seed = 99;
    for (int i = 0; i < snw_limbs; ++i)
    {
        snwVec3 point = {0.3 * i, 0.1 * (i % 2), 0};
        limb->links[i] = snwRagdoll_Box(i == 0 ? root : types[i], i - 1, point,
            snwVec3_Add(point, (snwVec3){0.15, 0, 0}), (snwVec3){0.15, 0.05, 0.06}, 2 - 0.3 * i);
        limb->links[i].joint.axis = (snwVec3){0, 0, 1};
    }
    MakeSkin(&limb->skin, limb->links, snw_limbs, snw_mostPoints, stiffness, seed);
    snwSoftBodyDef def = {.linkCount = snw_limbs, .links = limb->links, .skinCount = 1, .skins = &limb->skin.def};
    snwTreeWalker_Create(context, &def, &limb->walker);
    snwSoftBody* body = &limb->walker.body;
    for (int i = 0; i < snw_mostPoints; ++i)
        limb->marks[i] = sleeper > 0 && i % sleeper != sleeper - 1;
    double away[snw_mostFreedom];
    for (int k = 0; k < body->tree.freedom; ++k)
        away[k] = 0.5 * Uniform(&seed), body->u[k] = 2 * Uniform(&seed);
    snwBodyTree_Move(&body->tree, away, 1, body->poses);
    snwSoftBody_Look(body);
    snwSoftBody_Soften(body, (const unsigned char*[]){limb->marks});
    snwPointSkin* skin = body->skins;
    for (int i = 0; i < skin->count; ++i)
        if (skin->awake[i])
        {
            skin->x[i] = snwVec3_Add(skin->x[i], RandomVector(&seed, 0.02));
            skin->v[i] = snwVec3_Add(skin->v[i], RandomVector(&seed, 0.5));
        }
    snwSoftBody_Look(body);
}

static void Step(snwSoftBody* body, double h, snwVec3 gravity, bool implicit, int point, snwVec3 impulse)
{
    snwMessage message;
    snwSoftStep step = {.h = h, .gravity = gravity, .implicit = implicit};
    if (snwSoftBody_Begin(body, &step, &message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    snwSoftTouch touch = {.skin = 0, .point = point};
    snwSoftBody_Push(body, &touch, impulse);
    snwSoftBody_End(body);
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole system

enum
{
    snw_mostUnknowns = snw_mostFreedom + 3 * snw_mostPoints
};

// Gaussian elimination with the largest pivot.
static void SolvePlainly(int n, double* a, double* x)
{
    for (int k = 0; k < n; ++k)
    {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        for (int j = 0; j < n; ++j)
        {
            double t = a[k * n + j];
            a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = t;
        }
        double t = x[k];
        x[k] = x[pivot], x[pivot] = t;
        for (int i = k + 1; i < n; ++i)
        {
            double f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; ++j)
                a[i * n + j] -= f * a[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (int i = n; i-- > 0;)
    {
        for (int j = i + 1; j < n; ++j)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

// J from the definition, [3 count][freedom].
static void Jacobian(const snwSoftBody* body, const SkinText* text, double* jacobian)
{
    const snwBodyTree* tree = &body->tree;
    const snwPointSkin* skin = body->skins;
    memset(jacobian, 0, (size_t)(3 * skin->count * tree->freedom) * sizeof *jacobian);
    for (int i = 0; i < skin->count; ++i)
    {
        const snwPointAnchor* anchor = &text->anchors[i];
        snwVec3 at[3], mean = {0, 0, 0};
        for (int b = 0; b < anchor->count; ++b)
        {
            int link = anchor->links[b];
            snwVec3 arm = snwVec3_Sub(text->points[i], tree->links[link].joint.position);
            at[b] = snwVec3_Add(tree->points[link], snwQuat_Rotate(tree->rotations[link], arm));
            mean = snwVec3_MulAdd(mean, anchor->weights[b], at[b]);
        }
        for (int b = 0; b < anchor->count; ++b)
        {
            snwVec3 y = snwVec3_Sub(snwVec3_Add(at[b], snwVec3_Sub(skin->x[i], mean)), tree->origin);
            for (int link = anchor->links[b]; link >= 0; link = tree->links[link].joint.parentBone)
                for (int k = tree->first[link]; k < tree->first[link + 1]; ++k)
                {
                    snwVec3 v = snwSpatial_At(tree->columns[k], y);
                    jacobian[(3 * i + 0) * tree->freedom + k] += anchor->weights[b] * v.x;
                    jacobian[(3 * i + 1) * tree->freedom + k] += anchor->weights[b] * v.y;
                    jacobian[(3 * i + 2) * tree->freedom + k] += anchor->weights[b] * v.z;
                }
        }
    }
}

// K d and h^2 K + h C of all points.
static void Springs(const SkinText* text, const snwVec3* d, double h, double* D, double (*pull)[3])
{
    int n = text->def.pointCount;
    double* K = calloc((size_t)(n * n), sizeof *K);
    for (int i = 0; i < n; ++i)
        K[i * n + i] += text->stiffness[i];
    for (int e = 0; e < text->def.edgeCount; ++e)
    {
        int a = text->edges[e][0], b = text->edges[e][1];
        double k = text->edgeStiffness[e];
        K[a * n + a] += k, K[b * n + b] += k, K[a * n + b] -= k, K[b * n + a] -= k;
    }
    for (int i = 0; i < n; ++i)
    {
        pull[i][0] = pull[i][1] = pull[i][2] = 0;
        for (int j = 0; j < n; ++j)
        {
            pull[i][0] += K[i * n + j] * d[j].x, pull[i][1] += K[i * n + j] * d[j].y,
                pull[i][2] += K[i * n + j] * d[j].z;
            D[i * n + j] = h * h * K[i * n + j] + (i == j ? h * text->damping[i] : 0);
        }
    }
    free(K);
}

// One step in u and the velocities of all points at once, from the same pose, with velocity products of the velocities
// `products`. All points that sleep hang on one link.
static void SolveWhole(
    const Limb* limb, double h, snwVec3 gravity, int pushed, snwVec3 impulse, const double* products, double* solution)
{
    const SkinText* text = &limb->skin;
    snwBodyTree tree = limb->walker.body.tree;
    const snwPointSkin* skin = limb->walker.body.skins;
    const double *u = limb->walker.body.u, g[3] = {gravity.x, gravity.y, gravity.z};
    const double kick[3] = {impulse.x, impulse.y, impulse.z};
    int f = tree.freedom, n = skin->count, size = f + 3 * n;
    double *J = calloc((size_t)(3 * n * f), sizeof *J), *D = calloc((size_t)(n * n), sizeof *D);
    double *A = calloc((size_t)(size * size), sizeof *A), *M = calloc((size_t)(f * f), sizeof *M);
    double(*pull)[3] = calloc((size_t)n, sizeof *pull), bias[snw_mostFreedom];
    Jacobian(&limb->walker.body, text, J);
    Springs(text, skin->offsets, h, D, pull);
    snwBodyTree_MassMatrix(&tree, M);
    snwBodyTree_Twist(&tree, products);
    snwBodyTree_Bias(&tree, gravity, bias);
    for (int k = 0; k < f; ++k)
    {
        solution[k] = -h * bias[k];
        for (int l = 0; l < f; ++l)
            A[k * size + l] = M[k * f + l], solution[k] += M[k * f + l] * u[l];
    }
    for (int row = 0; row < 3 * n; ++row)
    {
        int i = row / 3, c = row % 3;
        const double v[3] = {skin->v[i].x, skin->v[i].y, skin->v[i].z}, *own = &J[row * f];
        double push = i == pushed ? kick[c] : 0, *line = &A[(f + row) * size];
        if (!skin->awake[i])
        {
            // Moves as J says; what pushes it pushes the links.
            line[f + row] = 1, solution[f + row] = 0;
            for (int k = 0; k < f; ++k)
                line[k] = -own[k], solution[k] += own[k] * push;
            continue;
        }
        line[f + row] = text->masses[i];
        solution[f + row] = text->masses[i] * (v[c] + h * g[c]) - h * pull[i][c] + push;
        for (int k = 0; k < f; ++k)
            solution[k] += own[k] * h * pull[i][c];
        for (int j = 0; j < n; ++j)
        {
            double d = D[i * n + j];
            const double* other = &J[(3 * j + c) * f];
            if (!skin->awake[j] || d == 0)
                continue;
            line[f + 3 * j + c] += d;
            for (int k = 0; k < f; ++k)
            {
                line[k] -= d * other[k];
                A[k * size + f + 3 * j + c] -= d * own[k];
                for (int l = 0; l < f; ++l)
                    A[k * size + l] += own[k] * d * other[l];
            }
        }
    }
    SolvePlainly(size, A, solution);
    free(J), free(D), free(A), free(M), free(pull);
}

// What an impulse on a vertex of the skin changes in the step, and the step itself, against the whole system.
static void CompareWithWhole(snwJointType root, int sleeper, double stiffness, double h)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Limb limb;
    MakeLimb(&limb, context, root, stiffness, sleeper);
    snwSoftBody* body = &limb.walker.body;
    snwVec3 gravity = {0.3, -9.81, 0}, impulse = {0.02, -0.05, 0.03}, none = {0, 0, 0};
    int f = body->tree.freedom, pushed = 7;
    static double guess[snw_mostUnknowns], still[snw_mostUnknowns], wanted[snw_mostUnknowns];
    double mean[snw_mostFreedom], untouched[snw_mostFreedom];
    SolveWhole(&limb, h, gravity, -1, none, body->u, guess);
    for (int k = 0; k < f; ++k)
        mean[k] = 0.5 * (body->u[k] + guess[k]);
    SolveWhole(&limb, h, gravity, -1, none, mean, still);
    SolveWhole(&limb, h, gravity, pushed, impulse, mean, wanted);

    snwMessage message;
    snwSoftStep step = {.h = h, .gravity = gravity, .implicit = true};
    snwSoftTouch touch = {.skin = 0, .point = pushed};
    CHECK_INT(snwSoftBody_Begin(body, &step, &message), snw_ok);
    memcpy(untouched, body->next, (size_t)f * sizeof *untouched);
    double moved = 0, speed = 0;
    for (int k = 0; k < f; ++k)
        CHECK_NEAR(untouched[k], still[k], 1e-11 * (1 + fabs(still[k])));

    // By rows, as contacts do it: the velocity of the point itself.
    double row[3 * snw_mostFreedom], *panels = aligned_alloc(64, 64 * snw_mostFreedom), gram[9];
    const snwVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double kick[3] = {impulse.x, impulse.y, impulse.z};
    for (int c = 0; c < 3; ++c)
        snwSoftBody_Row(body, &touch, axes[c], row + c * f);
    snwSoftBody_Sweep(body, 3, row, panels);
    snwDense_Gram(&body->factor, 3, panels, gram, 3);
    for (int c = 0; c < 3; ++c)
    {
        double change = snwSoftBody_Compliance(&touch, &touch, body) * kick[c];
        for (int d = 0; d < 3; ++d)
            change += gram[3 * c + d] * kick[d];
        CHECK_NEAR(change, wanted[f + 3 * pushed + c] - still[f + 3 * pushed + c], 1e-12);
    }

    // By pushing; without the correction of momentum, which the whole system does not have.
    body->tree.floats = false;
    snwSoftBody_Push(body, &touch, impulse);
    snwSoftBody_End(body);
    for (int k = 0; k < f; ++k)
    {
        CHECK_NEAR(body->u[k] - untouched[k], wanted[k] - still[k], 1e-12);
        moved = fmax(moved, fabs(body->u[k] - untouched[k])), speed = fmax(speed, fabs(body->u[k]));
    }
    for (int i = 0; i < body->skins->count; ++i)
    {
        if (!body->skins->awake[i])
            continue;
        const double v[3] = {body->skins->v[i].x, body->skins->v[i].y, body->skins->v[i].z};
        for (int c = 0; c < 3; ++c)
            CHECK_NEAR(v[c], wanted[f + 3 * i + c], 1e-11 * (1 + speed));
    }
    CHECK(moved > 1e-4);
    free(panels);
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

TEST(pointskin, anImpulseOnAVertexMovesTheBonesByTheExactAmount)
{
    CompareWithWhole(snw_jointFree, 1000, 1e3, 0.004);
    CompareWithWhole(snw_jointFree, 3, 1e4, 0.002);
    CompareWithWhole(snw_jointHinge, 1000, 100, 0.008);
    CompareWithWhole(snw_jointBall, 3, 1e5, 0.001);
}

// The published system has the points' velocities relative to one bone, in its axes, and no Coriolis terms: with
// v = J u + R x', T^T (published) T is ours.
TEST(pointskin, theMatrixIsCongruentToThePublishedOne)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    enum
    {
        points = 12,
        size = 6 + 3 * points
    };
    snwLinkDef link = snwRagdoll_Box(
        snw_jointFree, -1, (snwVec3){0, 0, 0}, (snwVec3){0.02, 0.01, 0}, (snwVec3){0.1, 0.05, 0.06}, 2);
    static SkinText text;
    MakeSkin(&text, &link, 1, points, 1e3, 8);
    for (int i = 0; i < points; ++i)
        text.anchors[i] = (snwPointAnchor){.count = 1, .links = {0}, .weights = {1}};
    uint64_t seed = 31;
    for (int i = 0; i < points; ++i)
        text.points[i] = RandomVector(&seed, 0.1);
    snwSoftBodyDef def = {.linkCount = 1, .links = &link, .skinCount = 1, .skins = &text.def};
    snwTreeWalker walker;
    snwTreeWalker_Create(context, &def, &walker);
    snwSoftBody* body = &walker.body;
    double away[6] = {0.1, 0.2, 0.3, 0.7, -0.4, 1.1}, h = 0.004;
    snwBodyTree_Move(&body->tree, away, 1, body->poses);
    snwSoftBody_Look(body);
    unsigned char marks[points];
    memset(marks, 1, sizeof marks);
    snwSoftBody_Soften(body, (const unsigned char*[]){marks});
    for (int i = 0; i < points; ++i)
        body->skins->x[i] = snwVec3_Add(body->skins->x[i], RandomVector(&seed, 0.01));
    snwSoftBody_Look(body);

    // Eq. 12 without C: [M_r + J^T m J, J^T m R; R^T m J, m + D].
    static double J[3 * points * 6], D[points * points], pull[points][3], published[size * size], M[36];
    static double matrix[36], impulse[6];
    Jacobian(body, &text, J);
    Springs(&text, body->skins->offsets, h, D, pull);
    snwBodyTree_MassMatrix(&body->tree, M);
    snwMat3 R = body->tree.axes[0];
    for (int k = 0; k < 6; ++k)
        for (int l = 0; l < 6; ++l)
        {
            published[k * size + l] = M[k * 6 + l];
            for (int row = 0; row < 3 * points; ++row)
                published[k * size + l] += text.masses[row / 3] * J[row * 6 + k] * J[row * 6 + l];
        }
    for (int i = 0; i < points; ++i)
        for (int c = 0; c < 3; ++c)
        {
            int row = 6 + 3 * i + c;
            published[row * size + row] += text.masses[i];
            for (int j = 0; j < points; ++j)
                published[row * size + 6 + 3 * j + c] += D[i * points + j];
            for (int k = 0; k < 6; ++k)
                for (int d = 0; d < 3; ++d)
                {
                    double entry = text.masses[i] * R.m[d][c] * J[(3 * i + d) * 6 + k];
                    published[row * size + k] += entry, published[k * size + row] += entry;
                }
        }

    // Its Schur complement is A: eliminate the points one by one.
    for (int k = size; k-- > 6;)
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < k; ++j)
                published[i * size + j] -= published[i * size + k] * published[k * size + j] / published[k * size + k];
    snwSkinStep step = {.h = h, .implicit = true};
    memcpy(matrix, M, sizeof matrix);
    CHECK_INT(snwPointSkin_Begin(body->skins, &body->tree, &step, matrix, impulse, NULL), snw_ok);
    double most = 0;
    for (int k = 0; k < 6; ++k)
        for (int l = 0; l < 6; ++l)
        {
            CHECK_NEAR(matrix[k * 6 + l], published[k * size + l], 1e-12);
            most = fmax(most, fabs(matrix[k * 6 + l] - M[k * 6 + l]));
        }
    CHECK(most > 0.01); // the skin is part of it
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Conservation

static double Speeds(const snwSoftBody* body)
{
    double sum = 0;
    for (int i = 0; i < body->tree.linkCount; ++i)
    {
        snwLinkMass mass = body->tree.inertias[i];
        snwVec3 centre = snwVec3_Scale(mass.moment, 1 / mass.mass);
        sum += mass.mass * snwVec3_Length(snwSpatial_At(body->tree.twists[i], centre));
    }
    return sum;
}

static snwSpatial MomentumAbout(const snwSoftBody* body, snwVec3 point)
{
    snwSpatial momentum = snwSoftBody_Momentum(body);
    momentum.turn = snwVec3_Add(momentum.turn, snwVec3_Cross(snwVec3_Sub(body->tree.origin, point), momentum.shift));
    return momentum;
}

static double Lost(const snwSoftBody* body, snwSpatial from)
{
    snwSpatial now = MomentumAbout(body, (snwVec3){0, 0, 0});
    double lost = snwVec3_Distance(now.shift, from.shift) + snwVec3_Distance(now.turn, from.turn);
    return lost / Speeds(body);
}

// Ten seconds of random torques, with points of several links awake and asleep; one second of explicit steps.
TEST(pointskin, momentumIsKeptUnderViolentTorques)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int kind = 0; kind < 4; ++kind)
    {
        static Limb limb;
        const int sleepers[] = {1000, 2, 0, 1000};
        MakeLimb(&limb, context, snw_jointFree, 1000, sleepers[kind]);
        snwSoftBody* body = &limb.walker.body;
        for (int i = 1; i < snw_limbs; ++i)
            body->tree.links[i].joint.damping = 5;
        double h = kind == 3 ? 0.0002 : 0.004, forces[snw_mostFreedom] = {0}, worst = 0;
        int steps = kind == 3 ? 5000 : 2500;
        uint64_t seed = 5;
        snwSpatial first = MomentumAbout(body, (snwVec3){0, 0, 0});
        for (int n = 0; n < steps; ++n)
        {
            for (int k = 6; n % 12 == 0 && k < body->tree.freedom; ++k)
                forces[k] = 100 * Uniform(&seed);
            snwMessage message;
            snwSoftStep step = {.h = h, .implicit = kind != 3, .forces = forces};
            if (snwSoftBody_Begin(body, &step, &message) != snw_ok)
            {
                snwTest_Fail(__FILE__, __LINE__, "kind %d, step %d: %s", kind, n, message.text);
                break;
            }
            snwSoftBody_End(body);
            worst = fmax(worst, Lost(body, first));
        }
        CHECK_NEAR(worst, 0, 1e-10);
        snwSoftBody_Free(body);
    }
    snwDestroyContext(context);
}

// Weight, pokes and blows change momentum by what they are.
TEST(pointskin, momentumChangesByWhatPushes)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Limb limb;
    MakeLimb(&limb, context, snw_jointFree, 1000, 2);
    snwSoftBody* body = &limb.walker.body;
    double mass, h = 0.004;
    snwVec3 centre = snwSoftBody_Centre(body, &mass), gravity = {1, -9.81, 0};
    double sum = 0;
    for (int i = 0; i < snw_limbs; ++i)
        sum += limb.links[i].mass.mass;
    for (int i = 0; i < snw_mostPoints; ++i)
        sum += limb.skin.masses[i];
    CHECK_NEAR(mass, sum, 1e-12);

    snwSpatial wanted = MomentumAbout(body, (snwVec3){0, 0, 0});
    wanted = snwSpatial_MulAdd(wanted, h * mass, snwSpatial_OfForce(centre, gravity));
    for (int i = 0; i < 4; ++i) // awake and asleep, on one link and on several
    {
        snwVec3 kick = {0.1, 0.2 * i, -0.05};
        body->skins->kicks[i] = kick;
        wanted = snwSpatial_MulAdd(wanted, 1, snwSpatial_OfForce(body->skins->x[i], kick));
    }
    snwSpatial loads[snw_limbs] = {[2] = {{1, 2, 3}, {40, -30, 20}}};
    snwVec3 at = body->tree.points[2];
    wanted = snwSpatial_MulAdd(wanted, h, snwSpatial_OfForce(at, loads[2].shift));
    wanted.turn = snwVec3_MulAdd(wanted.turn, h, loads[2].turn);
    snwSoftTouch touch = {.skin = -1, .link = 1, .at = {0.4, 0.3, 0.2}};
    snwVec3 blow = {0.3, 0.1, -0.2};
    wanted = snwSpatial_MulAdd(wanted, 1, snwSpatial_OfForce(touch.at, blow));

    snwMessage message;
    snwSoftStep step = {.h = h, .gravity = gravity, .implicit = true, .loads = loads};
    CHECK_INT(snwSoftBody_Begin(body, &step, &message), snw_ok);
    snwSoftBody_Push(body, &touch, blow);
    snwSoftBody_End(body);
    CHECK_NEAR(Lost(body, wanted), 0, 1e-12);
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

// Left alone, a shaken body comes to rest in itself and turns as a rigid one.
TEST(pointskin, energyFallsToThatOfARigidMotion)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Limb limb;
    MakeLimb(&limb, context, snw_jointFree, 1000, 1000);
    snwSoftBody* body = &limb.walker.body;
    for (int i = 1; i < snw_limbs; ++i)
        body->tree.links[i].joint.damping = 1;
    double first = snwSoftBody_KineticEnergy(body) + snwSoftBody_ElasticEnergy(body), most = 0;
    for (int n = 0; n < 5000; ++n)
    {
        Step(body, 0.002, (snwVec3){0, 0, 0}, true, 0, (snwVec3){0, 0, 0});
        most = fmax(most, (snwSoftBody_KineticEnergy(body) + snwSoftBody_ElasticEnergy(body)) / first);
    }
    CHECK(most <= 1.0001);
    for (int k = 6; k < body->tree.freedom; ++k)
        CHECK_NEAR(body->u[k], 0, 0.02);
    CHECK(snwSoftBody_KineticEnergy(body) > 0.1); // it still turns
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Soft and hard

typedef struct Sum
{
    snwSpatial momentum;
    double kinetic, elastic;
} Sum;

static Sum SumUp(const snwSoftBody* body)
{
    return (Sum){
        MomentumAbout(body, (snwVec3){0, 0, 0}), snwSoftBody_KineticEnergy(body), snwSoftBody_ElasticEnergy(body)};
}

static void RunFor(snwSoftBody* body, int steps)
{
    for (int n = 0; n < steps; ++n)
        Step(body, 0.002, (snwVec3){0, -1, 0}, true, n % snw_mostPoints, (snwVec3){0.01, 0.005, -0.01});
}

TEST(pointskin, softeningChangesNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Limb limb;
    MakeLimb(&limb, context, snw_jointFree, 1000, 1000);
    snwSoftBody* body = &limb.walker.body;
    snwMessage message;
    unsigned char some[snw_mostPoints], all[snw_mostPoints];
    for (int i = 0; i < snw_mostPoints; ++i)
        some[i] = i % 4 < 2, all[i] = 1;
    RunFor(body, 50);
    CHECK_INT(snwSoftBody_Harden(body, (const unsigned char*[]){some}, &message), snw_ok); // bent, with offsets
    RunFor(body, 50);
    Sum before = SumUp(body);
    snwVec3 x[snw_mostPoints], v[snw_mostPoints];
    memcpy(x, body->skins->x, sizeof x);
    for (int i = 0; i < snw_mostPoints; ++i)
        v[i] = snwSoftBody_Velocity(body, &(snwSoftTouch){.skin = 0, .point = i});
    CHECK_INT(snwSoftBody_Soften(body, (const unsigned char*[]){all}), snw_ok);
    Sum after = SumUp(body);
    double scale = Speeds(body);
    CHECK(snwVec3_Distance(before.momentum.shift, after.momentum.shift) <= 1e-13 * scale);
    CHECK(snwVec3_Distance(before.momentum.turn, after.momentum.turn) <= 1e-13 * scale);
    CHECK_NEAR(after.kinetic, before.kinetic, 1e-13 * before.kinetic);
    CHECK_NEAR(after.elastic, before.elastic, 1e-13 * before.elastic);
    CHECK(before.elastic > 1e-4);
    for (int i = 0; i < snw_mostPoints; ++i)
    {
        CHECK(snwVec3_Distance(x[i], body->skins->x[i]) < 1e-15);
        if (some[i])
            CHECK(snwVec3_Distance(v[i], body->skins->v[i]) < 1e-13);
    }
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

TEST(pointskin, hardeningKeepsMomentumAndLosesNoMoreThanTheRelativeEnergy)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Limb limb;
    MakeLimb(&limb, context, snw_jointFree, 1000, 1000);
    snwSoftBody* body = &limb.walker.body;
    snwMessage message;
    for (int round = 0; round < 6; ++round)
    {
        unsigned char some[snw_mostPoints], none[snw_mostPoints] = {0};
        for (int i = 0; i < snw_mostPoints; ++i)
            some[i] = (unsigned char)(i % 6 <= round);
        RunFor(body, 20);
        Sum before = SumUp(body);
        double relative = 0, scale = Speeds(body);
        for (int i = 0; i < snw_mostPoints; ++i)
        {
            snwVec3 rigid = {0, 0, 0};
            for (int k = 0; k < body->skins->linkCount; ++k)
            {
                snwPointShare a = body->skins->alpha[i * body->skins->linkCount + k];
                snwSpatial t = body->tree.twists[body->skins->links[k]];
                rigid = snwVec3_Add(snwVec3_MulAdd(rigid, a.share, t.shift), snwVec3_Cross(t.turn, a.arm));
            }
            if (some[i] && body->skins->awake[i])
                relative += 0.5 * body->skins->masses[i] * snwVec3_LengthSquared(snwVec3_Sub(body->skins->v[i], rigid));
        }
        CHECK_INT(snwSoftBody_Harden(body, (const unsigned char*[]){some}, &message), snw_ok);
        Sum after = SumUp(body);
        CHECK(snwVec3_Distance(before.momentum.shift, after.momentum.shift) <= 1e-12 * scale);
        CHECK(snwVec3_Distance(before.momentum.turn, after.momentum.turn) <= 1e-12 * scale);
        CHECK(after.kinetic <= before.kinetic * (1 + 1e-13));
        CHECK(after.kinetic >= before.kinetic - relative * (1 + 1e-9) - 1e-13);
        CHECK(relative > 0);
        CHECK_NEAR(after.elastic, before.elastic, 1e-12 * before.elastic);
        CHECK_INT(snwSoftBody_Harden(body, (const unsigned char*[]){none}, &message), snw_ok); // nobody: nothing
    }
    CHECK_INT(body->skins->activeCount, 0);
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

// A body asleep is the rigid body of the same masses.
TEST(pointskin, sleepingPointsAreExactlyPartOfTheirBone)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static Limb limb;
    MakeLimb(&limb, context, snw_jointFree, 1000, 0);
    for (int i = 0; i < snw_mostPoints; ++i)
        limb.skin.anchors[i] = (snwPointAnchor){.count = 1, .links = {i % snw_limbs}, .weights = {1}};
    snwSoftBody_Free(&limb.walker.body);
    snwLinkDef heavy[snw_limbs];
    memcpy(heavy, limb.links, sizeof heavy);
    for (int i = 0; i < snw_mostPoints; ++i)
        snwLinkMass_AddPoint(&heavy[i % snw_limbs].mass, limb.skin.masses[i],
            snwVec3_Sub(limb.skin.points[i], heavy[i % snw_limbs].joint.position));
    snwTreeWalker asleep, rigid;
    snwSoftBodyDef soft = {.linkCount = snw_limbs, .links = limb.links, .skinCount = 1, .skins = &limb.skin.def};
    snwTreeWalker_Create(context, &soft, &asleep);
    snwTreeWalker_Create(context, &(snwSoftBodyDef){.linkCount = snw_limbs, .links = heavy}, &rigid);
    for (int k = 0; k < rigid.body.tree.freedom; ++k)
        asleep.body.u[k] = rigid.body.u[k] = sin(k);
    for (int n = 0; n < 500; ++n)
        snwTreeWalker_Step(&asleep, 0.004, NULL), snwTreeWalker_Step(&rigid, 0.004, NULL);
    for (int k = 0; k < rigid.body.tree.freedom; ++k)
        CHECK_NEAR(asleep.body.u[k], rigid.body.u[k], 1e-9);
    snwSoftBody_Free(&asleep.body), snwSoftBody_Free(&rigid.body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Springs

// Points without edges, pushed with a force F each, sink by F / k; the body does not drift off.
TEST(pointskin, aPushedPointSinksByForceOverStiffness)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwLinkDef link = snwRagdoll_Box(
        snw_jointFixed, -1, (snwVec3){0, 0, 0}, (snwVec3){0, 0, 0}, (snwVec3){0.1, 0.1, 0.1}, 1);
    static SkinText text;
    MakeSkin(&text, &link, 1, 8, 1e4, 3);
    text.def.edgeCount = 0;
    for (int i = 0; i < 8; ++i)
        text.anchors[i] = (snwPointAnchor){.count = 1, .links = {0}, .weights = {1}};
    snwSoftBodyDef def = {.linkCount = 1, .links = &link, .skinCount = 1, .skins = &text.def};
    snwTreeWalker walker;
    snwTreeWalker_Create(context, &def, &walker);
    snwSoftBody* body = &walker.body;
    unsigned char marks[8];
    memset(marks, 1, sizeof marks);
    snwSoftBody_Soften(body, (const unsigned char*[]){marks});
    for (int n = 0; n < 2000; ++n)
    {
        for (int i = 0; i < 8; ++i)
            body->skins->kicks[i] = (snwVec3){0, -20 * 0.002, 0};
        Step(body, 0.002, (snwVec3){0, 0, 0}, true, 0, (snwVec3){0, 0, 0});
    }
    for (int i = 0; i < 8; ++i)
        CHECK_NEAR(body->skins->offsets[i].y, -20 / text.stiffness[i], 1e-9);
    snwSoftBody_Free(body);
    snwDestroyContext(context);
}

// The published stiffnesses and steps, ten and twenty times over.
TEST(pointskin, stiffSkinsAreStableAtLongSteps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const double cases[][2] = {{1e3, 0.004}, {1e4, 0.0083}, {2e5, 0.008}, {1e7, 0.0083}};
    for (int i = 0; i < 4; ++i)
    {
        static Limb limb;
        MakeLimb(&limb, context, snw_jointFree, cases[i][0], 1000);
        snwSoftBody* body = &limb.walker.body;
        double first = snwSoftBody_KineticEnergy(body) + snwSoftBody_ElasticEnergy(body), last = 0;
        for (int n = 0; n < 500; ++n)
        {
            Step(body, cases[i][1], (snwVec3){0, 0, 0}, true, 0, (snwVec3){0, 0, 0});
            last = snwSoftBody_KineticEnergy(body) + snwSoftBody_ElasticEnergy(body);
            CHECK(last <= 1.05 * first);
        }
        snwSoftBody_Free(body);
    }
    snwDestroyContext(context);
}

TEST(pointskin, explicitAndImplicitStepsAgreeWhereBothAreFine)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double away[3];
    for (int i = 0; i < 3; ++i)
    {
        static Limb limbs[2];
        double h = 5e-5 / (1 << i);
        away[i] = 0;
        for (int side = 0; side < 2; ++side)
        {
            MakeLimb(&limbs[side], context, snw_jointFree, 100, 1000);
            for (int n = 0; n < 400 << i; ++n)
                Step(&limbs[side].walker.body, h, (snwVec3){0, 0, 0}, side == 0, 0, (snwVec3){0, 0, 0});
        }
        for (int p = 0; p < snw_mostPoints; ++p)
            away[i] = fmax(
                away[i], snwVec3_Distance(limbs[0].walker.body.skins->x[p], limbs[1].walker.body.skins->x[p]));
        snwSoftBody_Free(&limbs[0].walker.body), snwSoftBody_Free(&limbs[1].walker.body);
    }
    CHECK_NEAR(away[1] / away[2], 2, 0.1); // so they have one limit
    CHECK_NEAR(away[0] / away[1], 2, 0.3);
    snwDestroyContext(context);
}

TEST(pointskin, bitsDoNotDependOnTheInstructionSet)
{
    static snwVec3 x[2][snw_mostPoints];
    static double u[2][snw_mostFreedom];
    const snwSimd sets[2] = {snw_simdScalar, snw_simdAuto};
    for (int i = 0; i < 2; ++i)
    {
        snwContext* context = snwFixture_Context(1, sets[i], NULL);
        static Limb limb;
        MakeLimb(&limb, context, snw_jointFree, 1000, 3);
        RunFor(&limb.walker.body, 100);
        memcpy(x[i], limb.walker.body.skins->x, sizeof x[i]);
        memcpy(u[i], limb.walker.body.u, (size_t)limb.walker.body.tree.freedom * sizeof(double));
        snwSoftBody_Free(&limb.walker.body);
        snwDestroyContext(context);
    }
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
    CHECK(memcmp(u[0], u[1], sizeof u[0]) == 0);
}

TEST(pointskin, ringsSpreadAlongEdges)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwLinkDef link = snwRagdoll_Box(
        snw_jointFixed, -1, (snwVec3){0, 0, 0}, (snwVec3){0, 0, 0}, (snwVec3){0.1, 0.1, 0.1}, 1);
    static SkinText text;
    MakeSkin(&text, &link, 1, 10, 1e4, 3);
    text.def.edgeCount = 9;
    for (int i = 0; i < 10; ++i)
        text.anchors[i] = (snwPointAnchor){.count = 1, .links = {0}, .weights = {1}};
    for (int i = 0; i < 9; ++i)
        text.edges[i][0] = i, text.edges[i][1] = i + 1;
    snwSoftBodyDef def = {.linkCount = 1, .links = &link, .skinCount = 1, .skins = &text.def};
    snwTreeWalker walker;
    snwTreeWalker_Create(context, &def, &walker);
    unsigned char marks[10] = {[3] = 1};
    snwPointSkin_SpreadMarks(walker.body.skins, 2, marks);
    for (int i = 0; i < 10; ++i)
        CHECK_INT(marks[i], abs(i - 3) <= 2);
    snwSoftBody_Free(&walker.body);

    snwMessage message;
    snwSoftBody body;
    text.masses[4] = 0;
    CHECK_INT(snwSoftBody_Create(context, &def, &body, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "point 4");
    text.masses[4] = 1, text.anchors[5].weights[0] = 0.5;
    CHECK_INT(snwSoftBody_Create(context, &def, &body, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "point 5");
    snwDestroyContext(context);

    // Memory that runs out is an error, and nothing is left behind.
    text.anchors[5].weights[0] = 1;
    for (int failAt = 1; failAt < 60; ++failAt)
    {
        snwCountingAllocator counter = {0};
        context = snwFixture_Context(1, snw_simdAuto, &counter);
        long before = counter.live;
        counter.failAt = counter.allocations + failAt;
        snwResult result = snwSoftBody_Create(context, &def, &body, &message);
        counter.failAt = 0;
        CHECK(result == snw_ok || result == snw_errorMemory);
        if (result == snw_ok)
            snwSoftBody_Free(&body);
        CHECK_INT(counter.live, before);
        snwDestroyContext(context);
    }
}
