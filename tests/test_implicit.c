// The converged implicit step: derivatives against finite differences, closed forms, a plain minimiser, true moduli.

#include "fixture.h"
#include "test.h"

#include "geom/lattice.h"
#include "geom/mesh.h"
#include "geom/shapes.h"
#include "math/quat.h"
#include "sim/pbcd/implicit.h"
#include "sim/pbcd/implicit_energy.h"

#include <stdlib.h>

static double Uniform(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwVec3 RandomVector(uint64_t* seed)
{
    double x = Uniform(seed), y = Uniform(seed), z = Uniform(seed);
    return (snwVec3){x, y, z};
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements

static const snwVec3 s_corners[4] = {{0.1, 0, 0}, {1, 0.2, 0}, {0, 1.1, 0.1}, {0.2, 0.1, 0.9}};

// Symmetric, positive definite, nothing alike.
static void RandomStiffness(uint64_t* seed, double c[6][6])
{
    double b[6][6];
    for (int i = 0; i < 36; ++i)
        b[i / 6][i % 6] = Uniform(seed);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
        {
            c[i][j] = i == j;
            for (int k = 0; k < 6; ++k)
                c[i][j] += b[i][k] * b[j][k];
        }
}

static snwMat3 InverseOf(const snwVec3 x[4])
{
    snwMat3 inverse = {0};
    bool ok = snwMat3_Inverse(
        snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), &inverse);
    CHECK(ok);
    return inverse;
}

static snwImplicitTet MakeTet(int law, const double c[6][6])
{
    snwMat3 inverse = InverseOf(s_corners);
    double volume = snwTet_Volume(s_corners[0], s_corners[1], s_corners[2], s_corners[3]);
    if (law == 0)
        return snwImplicitTet_Volume(6 * volume, 2.5);
    return law == 1 ? snwImplicitTet_Neo(inverse, volume, 1.5, 4.0) : snwImplicitTet_Strain(inverse, volume, c);
}

// 0: near rest, 1: anything, also inside out, 2: flat, 3: a line, 4: turned inside out, 5: a point
static void MakeState(int kind, uint64_t* seed, snwVec3 x[4])
{
    snwVec3 a = RandomVector(seed), b = RandomVector(seed);
    for (int i = 0; i < 4; ++i)
    {
        snwVec3 r = RandomVector(seed);
        x[i] = kind == 0 ? snwVec3_MulAdd(s_corners[i], 0.1, r) : r;
        if (kind == 2)
            x[i] = snwVec3_MulAdd(snwVec3_Scale(a, r.x), r.y, b);
        if (kind == 3)
            x[i] = snwVec3_Scale(a, r.x);
        if (kind == 4)
            x[i] = (snwVec3){-s_corners[i].x, s_corners[i].y, s_corners[i].z};
        if (kind == 5)
            x[i] = a;
    }
}

enum
{
    STATE_KINDS = 6
};

static void CompareTet(const snwImplicitTet* tet, const snwVec3 x[4])
{
    const double step = 1e-5;
    snwVec3 g[4], moved[4], up[4], down[4];
    double lower[snw_tetHessianCount];
    snwImplicitTet_Gradient(tet, x, g);
    snwImplicitTet_Hessian(tet, x, false, lower);
    for (int j = 0; j < 12; ++j)
    {
        memcpy(moved, x, sizeof moved);
        ((double*)moved)[j] += step;
        double above = snwImplicitTet_Gradient(tet, moved, up);
        CHECK(above == snwImplicitTet_Energy(tet, moved));
        ((double*)moved)[j] -= 2 * step;
        double below = snwImplicitTet_Gradient(tet, moved, down);
        CHECK_NEAR(((double*)g)[j], (above - below) / (2 * step), 1e-7);
        for (int i = j; i < 12; ++i)
            CHECK_NEAR(lower[i * (i + 1) / 2 + j], (((double*)up)[i] - ((double*)down)[i]) / (2 * step), 1e-6);
    }
}

TEST(implicit, tetsHaveTheirDerivativesInAnyState)
{
    uint64_t seed = 1;
    double c[6][6];
    RandomStiffness(&seed, c);
    for (int law = 0; law < 3; ++law)
        for (int round = 0; round < 5 * STATE_KINDS; ++round)
        {
            snwVec3 x[4];
            snwImplicitTet tet = MakeTet(law, c);
            MakeState(round % STATE_KINDS, &seed, x);
            CompareTet(&tet, x);
        }
}

TEST(implicit, edgesHaveTheirDerivatives)
{
    uint64_t seed = 2;
    const double step = 1e-5;
    for (int round = 0; round < 20; ++round)
    {
        snwVec3 x[2] = {RandomVector(&seed), RandomVector(&seed)};
        snwImplicitEdge edge = {0.1 + snwTest_Random(&seed), 3.0};
        snwVec3 g = snwImplicitEdge_Gradient(&edge, x);
        snwMat3 h = snwImplicitEdge_Hessian(&edge, x, false);
        for (int j = 0; j < 3; ++j)
        {
            snwVec3 up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]};
            ((double*)up)[j] += step, ((double*)down)[j] -= step;
            double slope = (snwImplicitEdge_Energy(&edge, up) - snwImplicitEdge_Energy(&edge, down)) / (2 * step);
            CHECK_NEAR(((double*)&g)[j], slope, 1e-8);
            snwVec3 gUp = snwImplicitEdge_Gradient(&edge, up), gDown = snwImplicitEdge_Gradient(&edge, down);
            for (int i = 0; i < 3; ++i)
                CHECK_NEAR(h.m[i][j], (((double*)&gUp)[i] - ((double*)&gDown)[i]) / (2 * step), 1e-7);
        }
    }
}

static double Curvature(const double* lower, const double v[12])
{
    double sum = 0;
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j <= i; ++j)
            sum += (i == j ? 1 : 2) * lower[i * (i + 1) / 2 + j] * v[i] * v[j];
    return sum;
}

// Nowhere below zero or below the true curvature.
TEST(implicit, semidefiniteHessiansNeverCurveDown)
{
    uint64_t seed = 3;
    double c[6][6], negative = 0;
    RandomStiffness(&seed, c);
    for (int law = 0; law < 3; ++law)
        for (int round = 0; round < 20 * STATE_KINDS; ++round)
        {
            snwVec3 x[4];
            double lower[snw_tetHessianCount], exact[snw_tetHessianCount], v[12];
            snwImplicitTet tet = MakeTet(law, c);
            MakeState(round % STATE_KINDS, &seed, x);
            snwImplicitTet_Hessian(&tet, x, true, lower);
            snwImplicitTet_Hessian(&tet, x, false, exact);
            for (int k = 0; k < 50; ++k)
            {
                for (int i = 0; i < 12; ++i)
                    v[i] = Uniform(&seed);
                double is = Curvature(lower, v), was = Curvature(exact, v);
                CHECK(is >= fmax(was, 0) - 1e-10 * (1 + fabs(was)));
                negative = fmin(negative, was);
            }
        }
    CHECK(negative < -1); // there was something to do
}

TEST(implicit, semidefiniteHessiansKeepWhatCurvesUp)
{
    double c[6][6], lower[snw_tetHessianCount], exact[snw_tetHessianCount];
    uint64_t seed = 4;
    RandomStiffness(&seed, c);
    snwVec3 x[4];
    for (int i = 0; i < 4; ++i)
        x[i] = (snwVec3){1.05 * s_corners[i].x, 1.02 * s_corners[i].y, 1.04 * s_corners[i].z};
    for (int i = 0; i < 36; ++i)
        c[i / 6][i % 6] = (i / 6 == i % 6) + (i / 6 < 3 && i % 6 < 3); // stretched: all principal stresses pull
    for (int law = 1; law < 3; ++law)
    {
        snwImplicitTet tet = MakeTet(law, c);
        snwImplicitTet_Hessian(&tet, x, true, lower);
        snwImplicitTet_Hessian(&tet, x, false, exact);
        for (int i = 0; i < snw_tetHessianCount; ++i)
            CHECK_NEAR(lower[i], exact[i], 1e-12);
    }
    // What a volume pulls together, stretches resist and turns do not.
    snwVec3 pressed[2] = {{0, 0, 0}, {0.5, 0, 0}};
    snwImplicitEdge edge = {1.0, 2.0};
    snwMat3 block = snwImplicitEdge_Hessian(&edge, pressed, true);
    CHECK(block.m[0][0] == 2.0 && block.m[1][1] == 0.0);
    block = snwImplicitEdge_Hessian(&edge, pressed, false);
    CHECK(block.m[0][0] == 2.0 && block.m[1][1] == -2.0);
}

// The energy of sim/pbd/neo_hookean.h, written out.
TEST(implicit, neoHookeanIsThatOfTheCompliantLaw)
{
    uint64_t seed = 5;
    double mu = 1.5, lambda = 4.0, more = lambda + mu, gamma = 1 + mu / more;
    double volume = snwTet_Volume(s_corners[0], s_corners[1], s_corners[2], s_corners[3]);
    snwMat3 inverse = InverseOf(s_corners);
    snwImplicitTet tet = snwImplicitTet_Neo(inverse, volume, mu, lambda);
    double constant = volume * (1.5 * mu + 0.5 * more * (1 - gamma) * (1 - gamma));
    CHECK_NEAR(snwImplicitTet_Energy(&tet, s_corners), 0, 1e-15);
    for (int round = 0; round < 20; ++round)
    {
        snwVec3 x[4];
        MakeState(round % STATE_KINDS, &seed, x);
        snwMat3 f = snwMat3_Mul(
            snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), inverse);
        double norm = snwMat3_Norm(f), swelling = snwMat3_Determinant(f) - gamma;
        double other = volume * 0.5 * (mu * norm * norm + more * swelling * swelling) - constant;
        CHECK_NEAR(snwImplicitTet_Energy(&tet, x), other, 1e-12 * (1 + fabs(other)));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

enum
{
    MAX_ROWS = 16
};

// Which energies a body has.
typedef enum Law
{
    lawNetwork, // edges and volumes
    lawNeo,
    lawStrain,
    lawCount
} Law;

typedef struct Body
{
    snwContext* context;
    snwArena arena;
    snwTetMesh mesh;
    int (*edges)[2];
    int edgeCount;
    snwVec3 *x, *targets, *reference, *rows;
    double *weights, *masses;
    bool* held;
    double *lengths, *edgeStiffness, *volumes, *volumeStiffness, *tetVolumes, *mu, *lambda;
    snwMat3* inverses;
    double stiffness[1][6][6];
    int* kinds;
    snwImplicit* implicit;
    snwImplicitStep step;
    snwImplicitReport report;
    snwMessage message;
} Body;

static const double s_mu = 4e4, s_lambda = 6e4; // Pa
static const double s_density = 1000;           // kg/m^3

static double Young(void)
{
    return s_mu * (3 * s_lambda + 2 * s_mu) / (s_lambda + s_mu);
}

static void Take(Body* body, double** numbers, size_t count)
{
    *numbers = snwArena_Alloc(&body->arena, count + 1, sizeof **numbers);
}

static void Allocate(Body* body)
{
    size_t n = (size_t)body->mesh.vertexCount, tets = (size_t)body->mesh.tetCount, edges = (size_t)body->edgeCount;
    body->x = snwArena_Copy(&body->arena, body->mesh.vertices, n, sizeof(snwVec3));
    body->targets = snwArena_Copy(&body->arena, body->mesh.vertices, n, sizeof(snwVec3));
    body->reference = snwArena_Copy(&body->arena, body->mesh.vertices, n, sizeof(snwVec3));
    body->rows = snwArena_Alloc(&body->arena, n * MAX_ROWS, sizeof(snwVec3));
    body->held = snwArena_Alloc(&body->arena, n, sizeof(bool));
    body->kinds = snwArena_Alloc(&body->arena, tets, sizeof(int));
    body->inverses = snwArena_Alloc(&body->arena, tets, sizeof(snwMat3));
    Take(body, &body->weights, n);
    Take(body, &body->masses, n);
    Take(body, &body->lengths, edges);
    Take(body, &body->edgeStiffness, edges);
    Take(body, &body->volumes, tets);
    Take(body, &body->volumeStiffness, tets);
    Take(body, &body->tetVolumes, tets);
    Take(body, &body->mu, tets);
    Take(body, &body->lambda, tets);
}

// k_e = 15 mu V_e / l^2 and k_v = (lambda - mu) / (36 V): an even network of springs has lambda = mu.
static void SetNetwork(Body* body)
{
    const snwVec3* p = body->mesh.vertices;
    for (int e = 0; e < body->edgeCount; ++e)
    {
        int i = body->edges[e][0], j = body->edges[e][1];
        double share = 0;
        for (int t = 0; t < body->mesh.tetCount; ++t)
        {
            const int* c = body->mesh.tets[t];
            bool hasI = c[0] == i || c[1] == i || c[2] == i || c[3] == i;
            bool hasJ = c[0] == j || c[1] == j || c[2] == j || c[3] == j;
            share += hasI && hasJ ? body->tetVolumes[t] / 6 : 0;
        }
        body->lengths[e] = snwVec3_Distance(p[i], p[j]);
        body->edgeStiffness[e] = 15 * s_mu * share / (body->lengths[e] * body->lengths[e]);
    }
    for (int t = 0; t < body->mesh.tetCount; ++t)
    {
        body->volumes[t] = 6 * body->tetVolumes[t];
        body->volumeStiffness[t] = (s_lambda - s_mu) / (36 * body->tetVolumes[t]);
    }
}

static void SetRest(Body* body)
{
    for (int t = 0; t < body->mesh.tetCount; ++t)
    {
        snwVec3 p[4];
        for (int a = 0; a < 4; ++a)
            p[a] = body->mesh.vertices[body->mesh.tets[t][a]];
        body->inverses[t] = InverseOf(p);
        body->tetVolumes[t] = snwTet_Volume(p[0], p[1], p[2], p[3]);
        body->mu[t] = s_mu, body->lambda[t] = s_lambda;
        for (int a = 0; a < 4; ++a)
            body->masses[body->mesh.tets[t][a]] += s_density * body->tetVolumes[t] / 4;
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            body->stiffness[0][i][j] = (i < 3 && j < 3 ? s_lambda : 0) + (i == j ? (i < 3 ? 2 : 1) * s_mu : 0);
}

static snwImplicitStep MakeStep(const Body* body)
{
    snwImplicitStep step = snwDefaultImplicitStep();
    step.weights = body->weights, step.targets = body->targets, step.held = body->held;
    step.lengths = body->lengths, step.edgeStiffness = body->edgeStiffness;
    step.volumes = body->volumes, step.volumeStiffness = body->volumeStiffness;
    step.strainInverses = step.neoInverses = body->inverses;
    step.strainVolumes = step.neoVolumes = body->tetVolumes;
    step.strainStiffness = (const double(*)[6][6])body->stiffness, step.strainKinds = body->kinds;
    step.neoMu = body->mu, step.neoLambda = body->lambda;
    step.rows = body->rows, step.reference = body->reference;
    return step;
}

static snwImplicitDef MakeDef(const Body* body, Law law, int rowCount)
{
    snwImplicitDef def = {.vertexCount = body->mesh.vertexCount, .rowCount = rowCount};
    const int(*tets)[4] = (const int(*)[4])body->mesh.tets;
    def.edges = (const int(*)[2])body->edges, def.volumes = def.strains = def.neos = tets;
    if (law == lawNetwork)
        def.edgeCount = body->edgeCount, def.volumeCount = body->mesh.tetCount;
    else if (law == lawNeo)
        def.neoCount = body->mesh.tetCount;
    else
        def.strainCount = body->mesh.tetCount;
    return def;
}

static bool OpenMesh(snwContext* context, snwTetMesh mesh, Body* body)
{
    body->context = context;
    body->mesh = mesh;
    snwElements elements = {(const int*)mesh.tets, 4, mesh.tetCount};
    bool ok = snwMesh_FindEdges(context, elements, NULL, 0, &body->edges, &body->edgeCount) == snw_ok;
    Allocate(body);
    SetRest(body);
    SetNetwork(body);
    body->step = MakeStep(body);
    return ok && !body->arena.failed;
}

static bool Finish(Body* body, Law law, int rowCount)
{
    snwImplicitDef def = MakeDef(body, law, rowCount);
    bool ok = snwImplicit_Create(body->context, &def, &body->implicit, &body->message) == snw_ok;
    CHECK(ok);
    return ok;
}

// A bar along x.
static bool OpenBar(snwContext* context, Law law, int rowCount, Body* body)
{
    *body = (Body){.arena = {.context = context}};
    snwTetMesh mesh;
    bool ok = snwMakeBoxMesh(&body->arena, (snwVec3){0.4, 0.2, 0.2}, (int[3]){4, 2, 2}, &mesh);
    return ok && OpenMesh(context, mesh, body) && Finish(body, law, rowCount);
}

static void Close(Body* body)
{
    snwImplicit_Destroy(body->implicit);
    snwFree(body->context, body->edges);
    snwArena_Free(&body->arena);
}

static snwResult Solve(Body* body)
{
    return snwImplicit_Solve(body->implicit, &body->step, body->x, &body->report, &body->message);
}

static void SetWeights(Body* body, double h)
{
    for (int v = 0; v < body->mesh.vertexCount; ++v)
        body->weights[v] = body->masses[v] / (h * h);
}

// Held at its left end, falling from rest.
static void LetFall(Body* body, double h)
{
    SetWeights(body, h);
    for (int v = 0; v < body->mesh.vertexCount; ++v)
    {
        body->held[v] = body->mesh.vertices[v].x < -0.19;
        if (!body->held[v])
            body->targets[v].y -= 9.81 * h * h;
    }
}

static double LargestGap(const snwVec3* a, const snwVec3* b, int count)
{
    double gap = 0;
    for (int v = 0; v < count; ++v)
        gap = fmax(gap, snwVec3_Distance(a[v], b[v]));
    return gap;
}

// ---------------------------------------------------------------------------------------------------------------------
// Solutions

TEST(implicit, aSpringIsThatOfItsClosedForm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitDef def = {.vertexCount = 2, .edgeCount = 1, .edges = (const int[][2]){{0, 1}}};
    snwImplicit* implicit;
    REQUIRE(snwImplicit_Create(context, &def, &implicit, NULL) == snw_ok);
    double a = 7, k = 30, l = 0.5;
    snwImplicitStep step = snwDefaultImplicitStep();
    step.weights = (double[]){1, a}, step.targets = (snwVec3[]){{0.1, 0, 0}, {1.3, 0, 0}};
    step.held = (bool[]){true, false};
    step.lengths = &l, step.edgeStiffness = &k;
    snwVec3 x[2] = {{NAN, 0, 0}, {0.9, 0, 0}};
    snwImplicitReport report;
    REQUIRE(snwImplicit_Solve(implicit, &step, x, &report, NULL) == snw_ok);
    CHECK(report.converged && report.iterations <= 2);
    CHECK(x[0].x == 0.1);
    CHECK_NEAR(x[1].x, (a * 1.3 + k * (0.1 + l)) / (a + k), 1e-14);
    CHECK_NEAR(report.energy, 0.5 * a * k / (a + k) * 0.7 * 0.7, 1e-14);
    // Pressed, and started to the side: the true Hessian is negative there, but the end is on the line.
    step.targets = (snwVec3[]){{0, 0, 0}, {0.1, 0, 0}};
    x[1] = (snwVec3){-0.05, 0.2, 0.1};
    REQUIRE(snwImplicit_Solve(implicit, &step, x, &report, NULL) == snw_ok);
    CHECK(report.converged);
    CHECK_NEAR(x[1].x, (a * 0.1 + k * l) / (a + k), 1e-9);
    CHECK_NEAR(fabs(x[1].y) + fabs(x[1].z), 0, 1e-9);
    snwImplicit_Destroy(implicit);
    snwDestroyContext(context);
}

// Written out anew, for the plain minimiser below.
static double PlainEnergy(const Body* body, Law law, const snwVec3* x)
{
    double sum = 0;
    for (int v = 0; v < body->mesh.vertexCount; ++v)
        sum += 0.5 * body->weights[v] * snwVec3_LengthSquared(snwVec3_Sub(x[v], body->targets[v]));
    for (int e = 0; e < body->edgeCount && law == lawNetwork; ++e)
        sum += 0.5 * body->edgeStiffness[e] *
               pow(snwVec3_Distance(x[body->edges[e][0]], x[body->edges[e][1]]) - body->lengths[e], 2);
    for (int t = 0; t < body->mesh.tetCount; ++t)
    {
        const int* c = body->mesh.tets[t];
        double six = 6 * snwTet_Volume(x[c[0]], x[c[1]], x[c[2]], x[c[3]]);
        snwMat3 f = snwMat3_Mul(snwMat3_FromColumns(snwVec3_Sub(x[c[1]], x[c[0]]), snwVec3_Sub(x[c[2]], x[c[0]]),
                                    snwVec3_Sub(x[c[3]], x[c[0]])),
            body->inverses[t]);
        double j = snwMat3_Determinant(f), norm = snwMat3_Norm(f), mu = s_mu, lambda = s_lambda;
        snwMat3 e = snwMat3_Scale(snwMat3_Sub(snwMat3_TransposeMul(f, f), snwMat3_Identity()), 0.5);
        if (law == lawNetwork)
            sum += 0.5 * body->volumeStiffness[t] * (six - body->volumes[t]) * (six - body->volumes[t]);
        else if (law == lawNeo)
            sum += body->tetVolumes[t] *
                   (0.5 * mu * (norm * norm - 3) - mu * (j - 1) + 0.5 * (lambda + mu) * (j - 1) * (j - 1));
        else
            sum += body->tetVolumes[t] *
                   (mu * snwMat3_Norm(e) * snwMat3_Norm(e) + 0.5 * lambda * snwMat3_Trace(e) * snwMat3_Trace(e));
    }
    return sum;
}

// Along random directions, as far as the energy falls.
static void PlainMinimise(const Body* body, Law law, snwVec3* x)
{
    uint64_t seed = 6;
    double now = PlainEnergy(body, law, x), stride = 0.05;
    for (int round = 0, misses = 0; stride > 1e-10; ++round)
    {
        snwVec3 old[8];
        memcpy(old, x, (size_t)body->mesh.vertexCount * sizeof *x);
        for (int v = 0; v < body->mesh.vertexCount; ++v)
            if (!body->held[v])
                x[v] = snwVec3_MulAdd(x[v], stride, RandomVector(&seed));
        double then = PlainEnergy(body, law, x);
        bool better = then < now;
        misses = better ? 0 : misses + 1;
        if (better)
            now = then, stride *= 1.5;
        else
            memcpy(x, old, (size_t)body->mesh.vertexCount * sizeof *x);
        if (misses > 12)
            stride *= 0.8, misses = 0;
    }
}

TEST(implicit, twoTetsHangAsAPlainMinimiserSays)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 points[5] = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0.03, 0.03, 0.1}, {0.12, 0.11, 0.08}};
    int tets[2][4] = {{0, 1, 2, 3}, {1, 4, 2, 3}};
    for (Law law = 0; law < lawCount; ++law)
    {
        Body body = {.arena = {.context = context}};
        REQUIRE(OpenMesh(context, (snwTetMesh){points, 5, tets, 2}, &body) && Finish(&body, law, 0));
        for (int v = 0; v < 5; ++v)
        {
            body.held[v] = v < 3;
            body.weights[v] = 300;
            body.targets[v] = snwVec3_Add(points[v], (snwVec3){v < 3 ? 0 : 0.1, 0, v < 3 ? 0 : -0.3});
        }
        snwVec3 plain[5];
        memcpy(plain, points, sizeof plain);
        PlainMinimise(&body, law, plain);
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.converged);
        CHECK_NEAR(PlainEnergy(&body, law, body.x), body.report.energy, 1e-12 * body.report.energy);
        CHECK(body.report.energy <= PlainEnergy(&body, law, plain) * (1 + 1e-14));
        CHECK_NEAR(LargestGap(body.x, plain, 5), 0, 1e-7);
        CHECK(LargestGap(body.x, points, 5) > 0.005);
        Close(&body);
    }
    snwDestroyContext(context);
}

TEST(implicit, forcesBalanceWhereItEnds)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (Law law = 0; law < lawCount; ++law)
    {
        Body body;
        REQUIRE(OpenBar(context, law, 0, &body));
        LetFall(&body, 0.2); // far: the tip bends down by an eighth of the length and more
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.residual <= 1e-9);
        CHECK(body.report.iterations < 30 && body.report.exactSteps > 0);
        CHECK(LargestGap(body.x, body.mesh.vertices, body.mesh.vertexCount) > 0.05);
        snwVec3 gradient[64];
        REQUIRE(body.mesh.vertexCount <= 64);
        double energy = snwImplicit_Objective(body.implicit, &body.step, body.x, gradient);
        CHECK(energy == body.report.energy && energy < body.report.start);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            CHECK_NEAR(body.held[v] ? 0 : snwVec3_Length(gradient[v]), 0, 1e-7);
        // Again from the end: nothing to do.
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.iterations == 0);
        Close(&body);
    }
    snwDestroyContext(context);
}

TEST(implicit, rigidMotionsChangeNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMat3 turn = snwQuat_ToMat3(snwQuat_FromRotationVector((snwVec3){0.5, -1.1, 0.7}));
    for (Law law = 0; law < lawCount; ++law)
    {
        Body body, turned;
        REQUIRE(OpenBar(context, law, 0, &body) && OpenBar(context, law, 0, &turned));
        uint64_t seed = 7;
        RandomStiffness(&seed, body.stiffness[0]);
        for (int i = 0; i < 36; ++i)
            turned.stiffness[0][i / 6][i % 6] = body.stiffness[0][i / 6][i % 6] *= 5e4;
        LetFall(&body, 0.05), LetFall(&turned, 0.05);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
        {
            turned.x[v] = snwVec3_Add(snwMat3_MulVec(turn, body.x[v]), (snwVec3){1, 2, 3});
            turned.targets[v] = snwVec3_Add(snwMat3_MulVec(turn, body.targets[v]), (snwVec3){1, 2, 3});
        }
        REQUIRE(Solve(&body) == snw_ok && Solve(&turned) == snw_ok);
        CHECK(body.report.converged && turned.report.converged);
        CHECK_NEAR(body.report.energy, turned.report.energy, 1e-10 * body.report.energy);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            body.x[v] = snwVec3_Add(snwMat3_MulVec(turn, body.x[v]), (snwVec3){1, 2, 3});
        CHECK_NEAR(LargestGap(body.x, turned.x, body.mesh.vertexCount), 0, 1e-9);
        Close(&body);
        Close(&turned);
    }
    snwDestroyContext(context);
}

// Rest is rest: no step is taken, nothing moves.
TEST(implicit, restIsRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (Law law = 0; law < lawCount; ++law)
    {
        Body body;
        REQUIRE(OpenBar(context, law, 0, &body));
        SetWeights(&body, 1.0 / 60);
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.converged);
        CHECK_NEAR(LargestGap(body.x, body.mesh.vertices, body.mesh.vertexCount), 0, 1e-14);
        Close(&body);
    }
    snwDestroyContext(context);
}

// Most tets inside out. (Green strains do not see that, and networks little: both may stay tangled.)
TEST(implicit, tangledStartsEndAtRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 8;
    Body body;
    REQUIRE(OpenBar(context, lawNeo, 0, &body));
    SetWeights(&body, 0.05);
    for (int round = 0; round < 3; ++round)
    {
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            body.x[v] = snwVec3_MulAdd(body.mesh.vertices[v], 0.15, RandomVector(&seed));
        CHECK(Solve(&body) == snw_ok && body.report.converged);
        CHECK_NEAR(LargestGap(body.x, body.mesh.vertices, body.mesh.vertexCount), 0, 1e-12);
    }
    Close(&body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The orthogonality constraint

// Two affine handles (twelve rows each is what a rig has; four moments of one axis and all of another do here), a row
// that another says already, and one that says nothing.
static void SetRows(Body* body)
{
    int n = body->mesh.vertexCount;
    body->step.rowCount = 14;
    for (int v = 0; v < n; ++v)
    {
        snwVec3 p = body->mesh.vertices[v];
        double moments[4] = {1, p.x, p.y, p.z}, weight = 0.5 + p.x;
        for (int k = 0; k < 12; ++k)
        {
            double m = body->masses[v] * weight * moments[k / 3];
            body->rows[k * n + v] = (snwVec3){k % 3 == 0 ? m : 0, k % 3 == 1 ? m : 0, k % 3 == 2 ? m : 0};
        }
        body->rows[12 * n + v] = snwVec3_Add(snwVec3_Scale(body->rows[n + v], 3), body->rows[4 * n + v]);
        body->rows[13 * n + v] = (snwVec3){0, 0, 0};
    }
}

// |rows (x - r)| / |rows| |x - r|, the largest of all rows, free vertices only.
static double RowGap(const Body* body)
{
    int n = body->mesh.vertexCount;
    double largest = 0;
    for (int k = 0; k < body->step.rowCount; ++k)
    {
        double sum = 0, rows = 0, moves = 0;
        for (int v = 0; v < n; ++v)
        {
            snwVec3 u = snwVec3_Sub(body->x[v], body->reference[v]), row = body->rows[k * n + v];
            if (body->held[v])
                continue;
            sum += snwVec3_Dot(row, u), rows += snwVec3_LengthSquared(row), moves += snwVec3_LengthSquared(u);
        }
        largest = fmax(largest, rows > 0 ? fabs(sum) / sqrt(rows * moves) : 0);
    }
    return largest;
}

// What is left of the gradient beside the rows, relative to it: plain Gram and Schmidt.
static double Unbalanced(const Body* body, snwVec3* gradient)
{
    int n = body->mesh.vertexCount;
    snwVec3 basis[MAX_ROWS][64];
    double before = 0, after = 0;
    for (int k = 0; k <= body->step.rowCount; ++k)
    {
        snwVec3* row = k < body->step.rowCount ? basis[k] : gradient;
        double start = 0, length = 0;
        for (int v = 0; v < n; ++v)
        {
            if (k < body->step.rowCount)
                row[v] = body->rows[k * n + v];
            if (body->held[v])
                row[v] = (snwVec3){0, 0, 0};
            start += snwVec3_LengthSquared(row[v]);
        }
        for (int l = 0; l < 2 * k; ++l)
        {
            double dot = 0;
            for (int v = 0; v < n; ++v)
                dot += snwVec3_Dot(row[v], basis[l % k][v]);
            for (int v = 0; v < n; ++v)
                row[v] = snwVec3_MulAdd(row[v], -dot, basis[l % k][v]);
        }
        for (int v = 0; v < n; ++v)
            length += snwVec3_LengthSquared(row[v]);
        before = sqrt(start), after = sqrt(length);
        for (int v = 0; v < n && k < body->step.rowCount; ++v)
            row[v] = snwVec3_Scale(row[v], after > 1e-10 * before ? 1 / after : 0);
    }
    return after / before;
}

TEST(implicit, rowsAreMetAndBearTheRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (Law law = 0; law < lawCount; ++law)
    {
        Body body;
        REQUIRE(OpenBar(context, law, MAX_ROWS, &body));
        LetFall(&body, 0.1);
        SetRows(&body);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            body.reference[v].z += body.held[v] ? 0 : 0.01 * sin(20 * body.reference[v].x);
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.residual <= 1e-9);
        CHECK_NEAR(RowGap(&body), 0, 1e-10);
        CHECK_NEAR(body.report.constraint, 0, 1e-12);
        CHECK(LargestGap(body.x, body.reference, body.mesh.vertexCount) > 1e-4);
        snwVec3 gradient[64];
        double bound = snwImplicit_Objective(body.implicit, &body.step, body.x, gradient);
        CHECK_NEAR(Unbalanced(&body, gradient), 0, 1e-7);
        // The same rows once more, and then none: freer, so lower.
        body.step.sameRows = true;
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.iterations == 0 && body.report.converged);
        body.step.rowCount = 0, body.step.sameRows = false;
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.energy < bound);
        Close(&body);
    }
    snwDestroyContext(context);
}

// Twelve affine rows with constant weight: flesh that falls as a whole moves by nothing at all.
TEST(implicit, rowsTakeWhatTheRigCouldDo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body body;
    REQUIRE(OpenBar(context, lawNeo, MAX_ROWS, &body));
    SetWeights(&body, 0.1);
    SetRows(&body);
    int n = body.mesh.vertexCount;
    for (int i = 0; i < 12 * n; ++i)
        body.rows[i] = snwVec3_Scale(body.rows[i], 1 / (0.5 + body.mesh.vertices[i % n].x));
    body.step.rowCount = 12;
    for (int v = 0; v < n; ++v)
        body.targets[v] = snwVec3_Add(body.mesh.vertices[v], (snwVec3){0.3, 0.2 * body.mesh.vertices[v].x, -0.1});
    REQUIRE(Solve(&body) == snw_ok);
    CHECK(body.report.converged);
    CHECK_NEAR(LargestGap(body.x, body.mesh.vertices, n), 0, 1e-12);
    Close(&body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Moduli

// Dead loads that are in balance with an even stress: sigma n A / 3 at each corner of the skin. They enter as weak and
// far springs.
static void Load(Body* body, snwMat3 stress)
{
    int(*triangles)[3], count;
    const snwVec3* p = body->mesh.vertices;
    const double weak = 1e-7 * s_mu * 0.1; // N/m
    REQUIRE(snwMesh_FindBoundary(
                body->context, (const int(*)[4])body->mesh.tets, body->mesh.tetCount, &triangles, &count) == snw_ok);
    for (int v = 0; v < body->mesh.vertexCount; ++v)
        body->targets[v] = p[v], body->weights[v] = weak;
    for (int t = 0; t < count; ++t)
    {
        const int* c = triangles[t];
        snwVec3 area = snwVec3_Scale(snwVec3_Cross(snwVec3_Sub(p[c[1]], p[c[0]]), snwVec3_Sub(p[c[2]], p[c[0]])), 0.5);
        snwVec3 force = snwMat3_MulVec(stress, area);
        for (int a = 0; a < 3; ++a)
            body->targets[c[a]] = snwVec3_MulAdd(body->targets[c[a]], 1 / (3 * weak), force);
    }
    snwFree(body->context, triangles);
}

// The mean of the displacement's gradient: sum of B^-1 (sum u p^T), p about the middle, made symmetric.
static snwMat3 MeanStrain(const Body* body)
{
    snwMat3 up = {0}, pp = {0}, inverse = {0};
    for (int v = 0; v < body->mesh.vertexCount; ++v)
    {
        snwVec3 p = body->mesh.vertices[v];
        up = snwMat3_Add(up, snwMat3_Outer(snwVec3_Sub(body->x[v], p), p));
        pp = snwMat3_Add(pp, snwMat3_Outer(p, p));
    }
    CHECK(snwMat3_Inverse(pp, &inverse));
    snwMat3 h = snwMat3_Mul(up, inverse);
    return snwMat3_Scale(snwMat3_Add(h, snwMat3_Transpose(h)), 0.5);
}

static snwMat3 StrainUnder(Body* body, snwMat3 stress)
{
    Load(body, stress);
    memcpy(body->x, body->mesh.vertices, (size_t)body->mesh.vertexCount * sizeof *body->x);
    CHECK(Solve(body) == snw_ok && body->report.converged);
    return MeanStrain(body);
}

// How the strain grows with the stress at first: of a whole and half of it, so that what is quadratic falls away.
// Loads that press would turn the body round, as they are dead; `even` pulls from all sides, enough against that.
static snwMat3 LinearStrain(Body* body, snwMat3 stress, double even)
{
    snwMat3 pull = snwMat3_Diagonal(even, even, even);
    snwMat3 none = even > 0 ? StrainUnder(body, pull) : (snwMat3){0};
    snwMat3 whole = snwMat3_Sub(StrainUnder(body, snwMat3_Add(pull, stress)), none);
    snwMat3 half = snwMat3_Sub(StrainUnder(body, snwMat3_Add(pull, snwMat3_Scale(stress, 0.5))), none);
    return snwMat3_Sub(snwMat3_Scale(half, 4), whole);
}

TEST(implicit, neoHookeanHasYoungAndPoisson)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body body;
    REQUIRE(OpenBar(context, lawNeo, 0, &body));
    double young = Young(), poisson = 0.5 * s_lambda / (s_lambda + s_mu), pull = 1e-4 * young;
    snwMat3 strain = LinearStrain(&body, snwMat3_Diagonal(pull, 0, 0), 0);
    CHECK_NEAR(pull / strain.m[0][0] / young, 1, 1e-4);
    CHECK_NEAR(-strain.m[1][1] / strain.m[0][0], poisson, 1e-4);
    CHECK_NEAR(-strain.m[2][2] / strain.m[0][0], poisson, 1e-4);
    Close(&body);
    snwDestroyContext(context);
}

static const int s_pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};

// Unlike along every axis: 1/E on the diagonal, -nu/E beside it, 1/G below.
TEST(implicit, strainLawHasItsOwnModuliAlongEachAxis)
{
    static const double compliance[6][6] = {{1 / 3e4, -0.2 / 3e4, -0.1 / 3e4, 0, 0, 0},
        {-0.2 / 3e4, 1 / 8e4, -0.3 / 8e4, 0, 0, 0}, {-0.1 / 3e4, -0.3 / 8e4, 1 / 2e5, 0, 0, 0},
        {0, 0, 0, 1 / 2e4, 0, 0}, {0, 0, 0, 0, 1 / 5e4, 0}, {0, 0, 0, 0, 0, 1 / 1e4}};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body body;
    REQUIRE(OpenBar(context, lawStrain, 0, &body));
    snwMat3 block, inverse;
    for (int i = 0; i < 9; ++i)
        block.m[i / 3][i % 3] = compliance[i / 3][i % 3];
    REQUIRE(snwMat3_Inverse(block, &inverse));
    for (int i = 0; i < 36; ++i)
        body.stiffness[0][i / 6][i % 6] = i / 6 < 3 && i % 6 < 3 ? inverse.m[i / 6][i % 6] : 0;
    for (int i = 3; i < 6; ++i)
        body.stiffness[0][i][i] = 1 / compliance[i][i];
    for (int m = 0; m < 6; ++m)
    {
        snwMat3 stress = {0};
        double pull = 1e-6 / compliance[m][m];
        stress.m[s_pairs[m][0]][s_pairs[m][1]] = stress.m[s_pairs[m][1]][s_pairs[m][0]] = pull;
        snwMat3 strain = LinearStrain(&body, stress, m < 3 ? 0 : 2 * pull);
        for (int n = 0; n < 6; ++n)
        {
            double e = (n < 3 ? 1 : 2) * strain.m[s_pairs[n][0]][s_pairs[n][1]];
            CHECK_NEAR(e / (pull * compliance[m][m]), compliance[n][m] / compliance[m][m], 1e-4);
        }
    }
    Close(&body);
    snwDestroyContext(context);
}

// Tets of the body-centred cubic lattice in a block, as meshers use them inside.
static double BlockDistance(snwVec3 point, const void* data)
{
    const double* half = data;
    return fmax(fabs(point.x) - half[0], fmax(fabs(point.y) - half[1], fabs(point.z) - half[2]));
}

static bool OpenLattice(snwContext* context, Body* body)
{
    static const double half[3] = {0.2, 0.1, 0.1};
    snwSolid solid = {.distance = BlockDistance, .data = half, .lower = {-0.2, -0.1, -0.1}, .upper = {0.2, 0.1, 0.1}};
    snwLatticeDef def = {.solid = &solid, .spacing = 0.05, .detail = 0.05};
    snwLattice lattice;
    snwMessage message = {0};
    if (snwLattice_Create(context, &def, &lattice, &message) < 0)
        return false;
    *body = (Body){.arena = {.context = context}};
    snwVec3* vertices = snwArena_Alloc(&body->arena, (size_t)lattice.pointCount, sizeof *vertices);
    int(*tets)[4] = snwArena_Alloc(&body->arena, (size_t)lattice.tetCount, sizeof *tets);
    int* numbers = snwArena_Alloc(&body->arena, (size_t)lattice.pointCount, sizeof *numbers);
    snwTetMesh mesh = {.vertices = vertices, .tets = tets};
    for (int t = 0; t < lattice.tetCount; ++t)
    {
        for (int a = 0; a < 4; ++a)
        {
            int* number = &numbers[lattice.tets[t][a]];
            if (*number == 0)
            {
                vertices[mesh.vertexCount++] = snwLattice_Position(&lattice, lattice.tets[t][a]);
                *number = mesh.vertexCount;
            }
            tets[t][a] = *number - 1;
        }
    }
    mesh.tetCount = lattice.tetCount;
    snwLattice_Free(context, &lattice);
    return OpenMesh(context, mesh, body) && Finish(body, lawNetwork, 0);
}

// Young's modulus along n of a cubic material of which C_11, C_12 and C_44 are known.
static double CubicYoung(double c11, double c12, double c44, snwVec3 n)
{
    double s11 = (c11 + c12) / ((c11 - c12) * (c11 + 2 * c12)), s12 = -c12 / ((c11 - c12) * (c11 + 2 * c12));
    double mixed = n.x * n.x * n.y * n.y + n.y * n.y * n.z * n.z + n.z * n.z * n.x * n.x;
    return 1 / (s11 - 2 * (s11 - s12 - 0.5 / c44) * mixed);
}

// Springs of k = 15 mu V_e / l^2 are even in the mean over all directions only. In this lattice there are 3 long edges
// of weight 4 and 4 short ones of weight 6 to a vertex; the sums of n_i n_j n_k n_l say what a pull along n meets:
// along the axes 15 % less than E, along the diagonals 9 % more. The surface, which is rough here, does the rest.
TEST(implicit, networksComeNearTheirYoung)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body body;
    REQUIRE(OpenLattice(context, &body));
    double pull = 1e-4 * Young(), four = 15 * s_mu / 36, bulk = s_lambda - s_mu;
    double c11 = four * (4 + 24.0 / 9) + bulk, c44 = four * 24.0 / 9, c12 = c44 + bulk;
    const snwVec3 directions[3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 1}};
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 n = snwVec3_Normalize(directions[i]);
        snwMat3 strain = LinearStrain(&body, snwMat3_Scale(snwMat3_Outer(n, n), pull), 0);
        double young = pull / snwVec3_Dot(n, snwMat3_MulVec(strain, n));
        CHECK_NEAR(young / CubicYoung(c11, c12, c44, n), 1, 0.03);
    }
    Close(&body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Manners

TEST(implicit, fewIterationsAreNoError)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Body body;
    REQUIRE(OpenBar(context, lawNeo, 0, &body));
    LetFall(&body, 0.1);
    double energy = 1e300;
    for (int count = 0; count < 4; ++count)
    {
        memcpy(body.x, body.mesh.vertices, (size_t)body.mesh.vertexCount * sizeof *body.x);
        body.step.maxIterations = count;
        REQUIRE(Solve(&body) == snw_ok);
        CHECK(body.report.iterations == count && !body.report.converged);
        CHECK(body.report.energy < energy);
        CHECK(body.report.energy == snwImplicit_Objective(body.implicit, &body.step, body.x, NULL));
        energy = body.report.energy;
    }
    Close(&body);
    snwDestroyContext(context);
}

enum
{
    FREE = 44 // a vertex of the bar that is not held
};

TEST(implicit, nonsenseIsRefusedWithWords)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicit* none;
    snwMessage message = {0};
    snwImplicitDef bad = {.vertexCount = 3, .edgeCount = 1, .edges = (const int[][2]){{0, 3}}};
    CHECK(snwImplicit_Create(context, &bad, &none, &message) == snw_errorArgument && none == NULL);
    CHECK_CONTAINS(message.text, "vertex 3 of 3");
    Body body;
    REQUIRE(OpenBar(context, lawNeo, MAX_ROWS, &body));
    LetFall(&body, 0.1);
    REQUIRE(!body.held[FREE]);
    body.x[FREE].y = NAN;
    CHECK(Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.place, "vertex 44");
    body.x[FREE] = body.mesh.vertices[FREE];
    body.mu[3] = INFINITY;
    CHECK(Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.text, "not finite");
    body.mu[3] = s_mu;
    SetRows(&body);
    body.rows[body.mesh.vertexCount + 7].x = NAN;
    CHECK(Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.place, "row 1, vertex 7");
    SetRows(&body);
    double weight = body.weights[FREE];
    body.weights[FREE] = 0;
    CHECK(Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.place, "vertex 44");
    body.weights[FREE] = weight;
    // A law that pushes apart without end has no factor; x stays.
    for (int t = 0; t < body.mesh.tetCount; ++t)
        body.mu[t] = -1e9, body.lambda[t] = 0;
    snwVec3 before = body.x[FREE];
    CHECK(Solve(&body) < 0 || !body.report.converged);
    CHECK(snwVec3_IsFinite(body.x[FREE]) && snwVec3_Distance(before, body.x[FREE]) < 1e9);
    // And afterwards all is well.
    for (int t = 0; t < body.mesh.tetCount; ++t)
        body.mu[t] = s_mu, body.lambda[t] = s_lambda;
    memcpy(body.x, body.mesh.vertices, (size_t)body.mesh.vertexCount * sizeof *body.x);
    CHECK(Solve(&body) == snw_ok && body.report.converged);
    Close(&body);
    snwDestroyContext(context);
}

static void SolveOnce(int threads, snwSimd simd, Law law, snwVec3 out[64])
{
    snwContext* context = snwFixture_Context(threads, simd, NULL);
    Body body;
    REQUIRE(OpenBar(context, law, MAX_ROWS, &body));
    LetFall(&body, 0.1);
    SetRows(&body);
    CHECK(Solve(&body) == snw_ok);
    memcpy(out, body.x, (size_t)body.mesh.vertexCount * sizeof *out);
    Close(&body);
    snwDestroyContext(context);
}

TEST(implicit, sameBitsForAnyThreadsAndInstructionSet)
{
    for (Law law = 0; law < lawCount; ++law)
    {
        snwVec3 one[64] = {0}, three[64] = {0}, scalar[64] = {0};
        SolveOnce(1, snw_simdAuto, law, one);
        SolveOnce(3, snw_simdAuto, law, three);
        SolveOnce(1, snw_simdScalar, law, scalar);
        CHECK(memcmp(one, three, sizeof one) == 0);
        CHECK(memcmp(one, scalar, sizeof one) == 0);
    }
}

TEST(implicit, steadySolvesUseNoHeap)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    Body body;
    REQUIRE(OpenBar(context, lawNeo, MAX_ROWS, &body));
    LetFall(&body, 0.1);
    SetRows(&body);
    long before = counter.allocations;
    CHECK(Solve(&body) == snw_ok && body.report.converged && body.report.iterations > 0);
    CHECK(counter.allocations == before);
    Close(&body);
    snwDestroyContext(context);
    CHECK(counter.live == 0);
}

TEST(implicit, everyFailedAllocationIsAnErrorWithoutLeak)
{
    static const int tets[][4] = {{0, 1, 2, 3}, {1, 4, 2, 3}};
    static const int edges[][2] = {{0, 1}, {3, 4}};
    snwImplicitDef def = {.vertexCount = 5, .edgeCount = 2, .edges = edges, .neoCount = 2, .neos = tets, .rowCount = 2};
    bool failed = true;
    for (long at = 1; failed && at < 500; ++at)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwImplicit* implicit = NULL;
        counter.failAt = counter.allocations + at;
        snwResult result = snwImplicit_Create(context, &def, &implicit, NULL);
        failed = result == snw_errorMemory && implicit == NULL;
        CHECK(failed || result == snw_ok);
        snwImplicit_Destroy(implicit);
        snwDestroyContext(context);
        CHECK(counter.live == 0);
    }
    CHECK(!failed);
}
