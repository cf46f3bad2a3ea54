// The converged implicit step: closed forms, a plain minimiser, the orthogonality constraint.

#include "fixture.h"
#include "implicit_body.h"
#include "test.h"

#include "geom/mesh.h"
#include "math/transform.h"

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
static double PlainEnergy(const snwImplicitBody* body, snwBodyLaw law, const snwVec3* x)
{
    double sum = 0;
    for (int v = 0; v < body->mesh.vertexCount; ++v)
        sum += 0.5 * body->weights[v] * snwVec3_LengthSquared(snwVec3_Sub(x[v], body->targets[v]));
    for (int e = 0; e < body->edgeCount && law == snw_bodyNetwork; ++e)
        sum += 0.5 * body->edgeStiffness[e] *
               pow(snwVec3_Distance(x[body->edges[e][0]], x[body->edges[e][1]]) - body->lengths[e], 2);
    for (int t = 0; t < body->mesh.tetCount; ++t)
    {
        const int* c = body->mesh.tets[t];
        double six = 6 * snwTet_Volume(x[c[0]], x[c[1]], x[c[2]], x[c[3]]);
        snwMat3 f = snwMat3_Mul(snwMat3_FromColumns(snwVec3_Sub(x[c[1]], x[c[0]]), snwVec3_Sub(x[c[2]], x[c[0]]),
                                    snwVec3_Sub(x[c[3]], x[c[0]])),
            body->inverses[t]);
        double j = snwMat3_Determinant(f), norm = snwMat3_Norm(f), mu = SNW_BODY_MU, lambda = SNW_BODY_LAMBDA;
        snwMat3 e = snwMat3_Scale(snwMat3_Sub(snwMat3_TransposeMul(f, f), snwMat3_Identity()), 0.5);
        if (law == snw_bodyNetwork)
            sum += 0.5 * body->volumeStiffness[t] * (six - body->volumes[t]) * (six - body->volumes[t]);
        else if (law == snw_bodyNeo)
            sum += body->tetVolumes[t] *
                   (0.5 * mu * (norm * norm - 3) - mu * (j - 1) + 0.5 * (lambda + mu) * (j - 1) * (j - 1));
        else
            sum += body->tetVolumes[t] *
                   (mu * snwMat3_Norm(e) * snwMat3_Norm(e) + 0.5 * lambda * snwMat3_Trace(e) * snwMat3_Trace(e));
    }
    return sum;
}

// Along random directions, as far as the energy falls.
static void PlainMinimise(const snwImplicitBody* body, snwBodyLaw law, snwVec3* x)
{
    uint64_t seed = 6;
    double now = PlainEnergy(body, law, x), stride = 0.05;
    for (int round = 0, misses = 0; stride > 1e-10; ++round)
    {
        snwVec3 old[8];
        memcpy(old, x, (size_t)body->mesh.vertexCount * sizeof *x);
        for (int v = 0; v < body->mesh.vertexCount; ++v)
            if (!body->held[v])
                x[v] = snwVec3_MulAdd(x[v], stride, snwRandomVector(&seed));
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
    for (snwBodyLaw law = 0; law < snw_bodyLawCount; ++law)
    {
        snwImplicitBody body = {.arena = {.context = context}};
        REQUIRE(snwImplicitBody_OpenMesh(context, (snwTetMesh){points, 5, tets, 2}, &body) &&
                snwImplicitBody_Finish(&body, law, 0));
        for (int v = 0; v < 5; ++v)
        {
            body.held[v] = v < 3;
            body.weights[v] = 300;
            body.targets[v] = snwVec3_Add(points[v], (snwVec3){v < 3 ? 0 : 0.1, 0, v < 3 ? 0 : -0.3});
        }
        snwVec3 plain[5];
        memcpy(plain, points, sizeof plain);
        PlainMinimise(&body, law, plain);
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.converged);
        CHECK_NEAR(PlainEnergy(&body, law, body.x), body.report.energy, 1e-12 * body.report.energy);
        CHECK(body.report.energy <= PlainEnergy(&body, law, plain) * (1 + 1e-14));
        CHECK_NEAR(snwLargestGap(body.x, plain, 5), 0, 1e-7);
        CHECK(snwLargestGap(body.x, points, 5) > 0.005);
        snwImplicitBody_Close(&body);
    }
    snwDestroyContext(context);
}

TEST(implicit, forcesBalanceWhereItEnds)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (snwBodyLaw law = 0; law < snw_bodyLawCount; ++law)
    {
        snwImplicitBody body;
        REQUIRE(snwImplicitBody_OpenBar(context, law, 0, &body));
        snwImplicitBody_LetFall(&body, 0.2); // far: the tip bends down by an eighth of the length and more
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.residual <= 1e-9);
        CHECK(body.report.iterations < 30 && body.report.exactSteps > 0);
        CHECK(snwLargestGap(body.x, body.mesh.vertices, body.mesh.vertexCount) > 0.05);
        snwVec3 gradient[64];
        REQUIRE(body.mesh.vertexCount <= 64);
        double energy = snwImplicit_Objective(body.implicit, &body.step, body.x, gradient);
        CHECK(energy == body.report.energy && energy < body.report.start);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            CHECK_NEAR(body.held[v] ? 0 : snwVec3_Length(gradient[v]), 0, 1e-7);
        // Again from the end: nothing to do.
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.iterations == 0);
        snwImplicitBody_Close(&body);
    }
    snwDestroyContext(context);
}

TEST(implicit, rigidMotionsChangeNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMat3 turn = snwQuat_ToMat3(snwQuat_FromRotationVector((snwVec3){0.5, -1.1, 0.7}));
    for (snwBodyLaw law = 0; law < snw_bodyLawCount; ++law)
    {
        snwImplicitBody body, turned;
        REQUIRE(snwImplicitBody_OpenBar(context, law, 0, &body) && snwImplicitBody_OpenBar(context, law, 0, &turned));
        uint64_t seed = 7;
        snwRandomStiffness(&seed, body.stiffness[0]);
        for (int i = 0; i < 36; ++i)
            turned.stiffness[0][i / 6][i % 6] = body.stiffness[0][i / 6][i % 6] *= 5e4;
        snwImplicitBody_LetFall(&body, 0.05), snwImplicitBody_LetFall(&turned, 0.05);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
        {
            turned.x[v] = snwVec3_Add(snwMat3_MulVec(turn, body.x[v]), (snwVec3){1, 2, 3});
            turned.targets[v] = snwVec3_Add(snwMat3_MulVec(turn, body.targets[v]), (snwVec3){1, 2, 3});
        }
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok && snwImplicitBody_Solve(&turned) == snw_ok);
        CHECK(body.report.converged && turned.report.converged);
        CHECK_NEAR(body.report.energy, turned.report.energy, 1e-10 * body.report.energy);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            body.x[v] = snwVec3_Add(snwMat3_MulVec(turn, body.x[v]), (snwVec3){1, 2, 3});
        CHECK_NEAR(snwLargestGap(body.x, turned.x, body.mesh.vertexCount), 0, 1e-9);
        snwImplicitBody_Close(&body);
        snwImplicitBody_Close(&turned);
    }
    snwDestroyContext(context);
}

// Rest is rest: no step is taken, nothing moves.
TEST(implicit, restIsRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (snwBodyLaw law = 0; law < snw_bodyLawCount; ++law)
    {
        snwImplicitBody body;
        REQUIRE(snwImplicitBody_OpenBar(context, law, 0, &body));
        snwImplicitBody_SetWeights(&body, 1.0 / 60);
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.converged);
        CHECK_NEAR(snwLargestGap(body.x, body.mesh.vertices, body.mesh.vertexCount), 0, 1e-14);
        snwImplicitBody_Close(&body);
    }
    snwDestroyContext(context);
}

// Flesh whose rest strains are those of a stretch takes that shape, and has no stress there.
TEST(implicit, restStrainsAreAShape)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyStrain, 0, &body));
    double(*rests)[6] = snwArena_Alloc(&body.arena, (size_t)body.mesh.tetCount, sizeof *rests);
    for (int t = 0; t < body.mesh.tetCount; ++t)
    {
        rests[t][0] = 0.5 * (1.21 - 1), rests[t][1] = 0.5 * (0.81 - 1);
        rests[t][5] = 1.1 * 0.2; // C_01 of F = (1.1 0.2; 0 0.9)
        rests[t][1] += 0.5 * 0.04;
    }
    body.step.strainRests = (const double(*)[6])rests;
    snwImplicitBody_SetWeights(&body, 1);
    for (int v = 0; v < body.mesh.vertexCount; ++v)
    {
        snwVec3 p = body.mesh.vertices[v];
        body.targets[v] = (snwVec3){1.1 * p.x + 0.2 * p.y, 0.9 * p.y, p.z};
    }
    REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
    CHECK(body.report.converged);
    CHECK_NEAR(body.report.energy, 0, 1e-12);
    CHECK_NEAR(snwLargestGap(body.x, body.targets, body.mesh.vertexCount), 0, 1e-12);
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

// Most tets inside out. (Green strains do not see that, and networks little: both may stay tangled.)
TEST(implicit, tangledStartsEndAtRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    uint64_t seed = 8;
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, 0, &body));
    snwImplicitBody_SetWeights(&body, 0.05);
    for (int round = 0; round < 3; ++round)
    {
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            body.x[v] = snwVec3_MulAdd(body.mesh.vertices[v], 0.15, snwRandomVector(&seed));
        CHECK(snwImplicitBody_Solve(&body) == snw_ok && body.report.converged);
        CHECK_NEAR(snwLargestGap(body.x, body.mesh.vertices, body.mesh.vertexCount), 0, 1e-12);
    }
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The orthogonality constraint

// An affine handle of uneven weight: twelve rows. One more that two of them say already, and one that says nothing.
static void SetRows(snwImplicitBody* body)
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
static double RowGap(const snwImplicitBody* body)
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
static double Unbalanced(const snwImplicitBody* body, snwVec3* gradient)
{
    int n = body->mesh.vertexCount;
    snwVec3 basis[snw_bodyRows][64];
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
    for (snwBodyLaw law = 0; law < snw_bodyLawCount; ++law)
    {
        snwImplicitBody body;
        REQUIRE(snwImplicitBody_OpenBar(context, law, snw_bodyRows, &body));
        snwImplicitBody_LetFall(&body, 0.1);
        SetRows(&body);
        for (int v = 0; v < body.mesh.vertexCount; ++v)
            body.reference[v].z += body.held[v] ? 0 : 0.01 * sin(20 * body.reference[v].x);
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.residual <= 1e-9);
        CHECK_NEAR(RowGap(&body), 0, 1e-10);
        CHECK_NEAR(body.report.constraint, 0, 1e-12);
        CHECK(snwLargestGap(body.x, body.reference, body.mesh.vertexCount) > 1e-4);
        snwVec3 gradient[64];
        double bound = snwImplicit_Objective(body.implicit, &body.step, body.x, gradient);
        CHECK_NEAR(Unbalanced(&body, gradient), 0, 1e-7);
        // The same rows once more, and then none: freer, so lower.
        body.step.sameRows = true;
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.iterations == 0 && body.report.converged);
        body.step.rowCount = 0, body.step.sameRows = false;
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.converged && body.report.energy < bound);
        snwImplicitBody_Close(&body);
    }
    snwDestroyContext(context);
}

// Twelve affine rows with constant weight: flesh that falls as a whole moves by nothing at all.
TEST(implicit, rowsTakeWhatTheRigCouldDo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, snw_bodyRows, &body));
    snwImplicitBody_SetWeights(&body, 0.1);
    SetRows(&body);
    int n = body.mesh.vertexCount;
    for (int i = 0; i < 12 * n; ++i)
        body.rows[i] = snwVec3_Scale(body.rows[i], 1 / (0.5 + body.mesh.vertices[i % n].x));
    body.step.rowCount = 12;
    for (int v = 0; v < n; ++v)
        body.targets[v] = snwVec3_Add(body.mesh.vertices[v], (snwVec3){0.3, 0.2 * body.mesh.vertices[v].x, -0.1});
    REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
    CHECK(body.report.converged);
    CHECK_NEAR(snwLargestGap(body.x, body.mesh.vertices, n), 0, 1e-12);
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

// Complementary dynamics of a bar between two bones, the second of which turns; held at the left end.
static void SolveRig(snwContext* context, snwComplementKind kind)
{
    enum
    {
        COUNT = 45
    };
    int starts[COUNT + 1] = {0}, handles[2 * COUNT];
    double values[2 * COUNT];
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, snw_bodyRows, &body) && body.mesh.vertexCount == COUNT);
    snwImplicitBody_LetFall(&body, 0.1);
    snwTransform pose[2] = {
        snwTransform_Identity(), {{0, 0, 0.02}, snwQuat_FromRotationVector((snwVec3){0, 0.3, 0.4})}};
    for (int v = 0; v < COUNT; ++v)
    {
        snwVec3 p = body.mesh.vertices[v];
        starts[v + 1] = 2 * v + 2;
        handles[2 * v] = 0, handles[2 * v + 1] = 1;
        values[2 * v + 1] = (p.x + 0.201) / 0.402, values[2 * v] = 1 - values[2 * v + 1];
        body.reference[v] = snwVec3_Add(
            snwVec3_Scale(p, values[2 * v]), snwVec3_Scale(snwTransform_Apply(pose[1], p), values[2 * v + 1]));
        body.targets[v] = snwVec3_Add(snwVec3_Sub(body.reference[v], p), body.targets[v]);
    }
    snwWeights weights = {COUNT, 2, starts, handles, values};
    snwImplicitRig rig = {kind, COUNT, body.mesh.vertices, body.masses, &weights, pose};
    body.step.rowCount = snwImplicitRig_RowCount(&rig);
    REQUIRE(body.step.rowCount == (kind == snw_complementRig ? 12 : 24));
    snwImplicitRig_MakeRows(&rig, body.rows);
    REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
    CHECK(body.report.converged && RowGap(&body) < 1e-10);

    unsigned char held[COUNT];
    _Alignas(16) float u[4 * COUNT] = {0};
    for (int v = 0; v < COUNT; ++v)
    {
        snwVec3 move = snwVec3_Sub(body.x[v], body.reference[v]);
        held[v] = body.held[v];
        u[4 * v] = (float)move.x, u[4 * v + 1] = (float)move.y, u[4 * v + 2] = (float)move.z;
    }
    snwComplementDef def = {
        .kind = kind, .vertexCount = COUNT, .rest = body.mesh.vertices, .masses = body.masses, .weights = &weights};
    def.held = held;
    snwComplement* model;
    snwComplementScratch* scratch;
    REQUIRE(snwComplement_Create(context, &def, &model, NULL) == snw_ok);
    REQUIRE(snwComplementScratch_Create(context, model, &scratch, NULL) == snw_ok);
    REQUIRE(snwComplement_SetPose(model, scratch, pose, NULL) == snw_ok);
    CHECK(snwComplement_Residual(context, model, scratch, u) < 1e-6);
    CHECK(snwLargestGap(body.x, body.reference, COUNT) > 1e-3);
    snwComplementScratch_Destroy(context, scratch);
    snwComplement_Destroy(context, model);
    snwImplicitBody_Close(&body);
}

// What it leaves is what the projection would leave alone.
TEST(implicit, rowsOfARigAreThoseOfTheProjection)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    SolveRig(context, snw_complementRig);
    SolveRig(context, snw_complementAffine);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Manners

TEST(implicit, fewIterationsAreNoError)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, 0, &body));
    snwImplicitBody_LetFall(&body, 0.1);
    double energy = 1e300;
    for (int count = 0; count < 4; ++count)
    {
        memcpy(body.x, body.mesh.vertices, (size_t)body.mesh.vertexCount * sizeof *body.x);
        body.step.maxIterations = count;
        REQUIRE(snwImplicitBody_Solve(&body) == snw_ok);
        CHECK(body.report.iterations == count && !body.report.converged);
        CHECK(body.report.energy < energy);
        CHECK(body.report.energy == snwImplicit_Objective(body.implicit, &body.step, body.x, NULL));
        energy = body.report.energy;
    }
    snwImplicitBody_Close(&body);
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
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, snw_bodyRows, &body));
    snwImplicitBody_LetFall(&body, 0.1);
    REQUIRE(!body.held[FREE]);
    body.x[FREE].y = NAN;
    CHECK(snwImplicitBody_Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.place, "vertex 44");
    body.x[FREE] = body.mesh.vertices[FREE];
    body.mu[3] = INFINITY;
    CHECK(snwImplicitBody_Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.text, "not finite");
    body.mu[3] = SNW_BODY_MU;
    SetRows(&body);
    body.rows[body.mesh.vertexCount + 7].x = NAN;
    CHECK(snwImplicitBody_Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.place, "row 1, vertex 7");
    SetRows(&body);
    double weight = body.weights[FREE];
    body.weights[FREE] = 0;
    CHECK(snwImplicitBody_Solve(&body) == snw_errorDiverged);
    CHECK_CONTAINS(body.message.place, "vertex 44");
    body.weights[FREE] = weight;
    // A law that pushes apart without end has no factor; x stays.
    for (int t = 0; t < body.mesh.tetCount; ++t)
        body.mu[t] = -1e9, body.lambda[t] = 0;
    snwVec3 before = body.x[FREE];
    CHECK(snwImplicitBody_Solve(&body) < 0 || !body.report.converged);
    CHECK(snwVec3_IsFinite(body.x[FREE]) && snwVec3_Distance(before, body.x[FREE]) < 1e9);
    // And afterwards all is well.
    for (int t = 0; t < body.mesh.tetCount; ++t)
        body.mu[t] = SNW_BODY_MU, body.lambda[t] = SNW_BODY_LAMBDA;
    memcpy(body.x, body.mesh.vertices, (size_t)body.mesh.vertexCount * sizeof *body.x);
    CHECK(snwImplicitBody_Solve(&body) == snw_ok && body.report.converged);
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

static void SolveOnce(int threads, snwSimd simd, snwBodyLaw law, snwVec3 out[64])
{
    snwContext* context = snwFixture_Context(threads, simd, NULL);
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, law, snw_bodyRows, &body));
    snwImplicitBody_LetFall(&body, 0.1);
    SetRows(&body);
    CHECK(snwImplicitBody_Solve(&body) == snw_ok);
    memcpy(out, body.x, (size_t)body.mesh.vertexCount * sizeof *out);
    snwImplicitBody_Close(&body);
    snwDestroyContext(context);
}

TEST(implicit, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    for (snwBodyLaw law = 0; law < snw_bodyLawCount; ++law)
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
    snwImplicitBody body;
    REQUIRE(snwImplicitBody_OpenBar(context, snw_bodyNeo, snw_bodyRows, &body));
    snwImplicitBody_LetFall(&body, 0.1);
    SetRows(&body);
    long before = counter.allocations;
    CHECK(snwImplicitBody_Solve(&body) == snw_ok && body.report.converged && body.report.iterations > 0);
    CHECK(counter.allocations == before);
    snwImplicitBody_Close(&body);
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
