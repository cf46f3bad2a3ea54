// The first method, against what is known without it.
// Labels: kernels

#include "fixture.h"
#include "math/transform.h"
#include "sim/pbd/pbd.h"
#include "test.h"

#include <stdlib.h>

static const double s_dt = 1.0 / 60.0;

// Symplectic Euler in free fall: y_n = y_0 - g h^2 n (n + 1) / 2, v_n = -g h n. Constraints must not disturb it.
TEST(pbd, freeFall)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwFixture_Run(sim, 60, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK_NEAR(m.centre.y, 1.0 - 9.81 * s_dt * s_dt * 60 * 61 / 2, 1e-4);
    CHECK_NEAR(m.momentum.y, -64.0 * 9.81, 64.0 * 9.81 * 1e-4);
    CHECK(m.maxStretch < 1e-4);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

static snwSim* MakeOscillator(snwContext* context, double stiffness, double stretch)
{
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.kind = snw_shapeSpring;
    fixture.gravity = false;
    fixture.iterations = 1;
    fixture.height = 0.0;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    CHECK(snwSim_SetParam(sim, "pbd.stretch", stiffness, NULL) == snw_ok);
    snwPbdBody state = snwPbd_GetBody(sim, 0);
    state.positions[0] -= (float)(0.5 * stretch);
    state.positions[4] += (float)(0.5 * stretch);
    return sim;
}

// Two masses on one edge, one sweep of stiffness k per step: the stretch obeys e_n+1 = (1 - k)(2 e_n - e_n-1), whose
// roots have modulus sqrt(1 - k) and angle atan(sqrt(k / (1 - k))): a damped oscillation in closed form.
TEST(pbd, oscillatorFollowsItsClosedForm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const double k = 0.02, e0 = 0.1;
    snwSim* sim = MakeOscillator(context, k, e0);
    double modulus = sqrt(1.0 - k), angle = atan(sqrt(k / (1.0 - k)));
    // e_0 = e0 and e_-1 = e0 (at rest) fix amplitude and phase: e_n = |z|^n (A cos n a + B sin n a).
    double b = e0 * (cos(angle) - modulus) / sin(angle);
    for (int n = 1; n <= 120; ++n)
    {
        snwFixture_Run(sim, 1, s_dt);
        snwPbdBody state = snwPbd_GetBody(sim, 0);
        double stretch = (double)state.positions[4] - (double)state.positions[0] - 1.0;
        double expected = pow(modulus, n) * (e0 * cos(n * angle) + b * sin(n * angle));
        CHECK_NEAR(stretch, expected, 2e-5);
    }
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// Share of the angular momentum lost in one second of spinning.
static double LossOfSpin(snwContext* context, double damping, int substeps)
{
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    fixture.height = 0.0;
    fixture.spin = (snwVec3){2, 5, 1};
    fixture.velocity = (snwVec3){0.1, 0, 0};
    fixture.damping = damping;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    CHECK(snwSim_SetParam(sim, "sim.substeps", substeps, NULL) == snw_ok);
    snwMeasures first, last;
    snwSim_GetMeasures(sim, 0, &first);
    snwFixture_Run(sim, 60, s_dt);
    snwSim_GetMeasures(sim, 0, &last);
    // Rounding of positions: about 140 projections of 1e-8 m in each of 480 substeps over 125 vertices make a random
    // walk of the mean velocity of some 1e-4 m/s.
    CHECK_NEAR(snwVec3_Distance(first.momentum, last.momentum), 0.0, 64.0 * 4e-4);
    snwDestroySim(sim);
    return snwVec3_Distance(first.angularMomentum, last.angularMomentum) / snwVec3_Length(first.angularMomentum);
}

// Linear momentum is kept to rounding. Angular momentum is kept by each projection but not by v = (p - x) / h, which
// is backward Euler: its loss must fall with the step, and damping must add nothing.
TEST(pbd, momentumIsKeptInFreeFlight)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    double coarse = LossOfSpin(context, 0.0, 1), fine = LossOfSpin(context, 0.0, 8),
           damped = LossOfSpin(context, 5.0, 8);
    CHECK(coarse < 0.3);
    CHECK(fine < coarse / 5.0);
    CHECK_NEAR(damped, fine, 2e-3);
    snwDestroyContext(context);
}

// A body that flies free, far from the origin, keeps its velocity to the bit.
TEST(pbd, freeFlightFarAwayIsExact)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.kind = snw_shapeSpring;
    fixture.gravity = false;
    fixture.height = 1000.0;
    fixture.velocity = (snwVec3){0, 0.1, 0};
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwFixture_Run(sim, 600, s_dt / 16);
    CHECK(snwPbd_GetBody(sim, 0).velocities[1] == 0.1f);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST_HEAVY(pbd, restIsRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwFixture_Run(sim, 2000, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK_NEAR(m.centre.y, 1.0, 1e-6);
    CHECK(m.maxStretch < 2e-6 && m.maxSpeed < 1e-4);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

// The same bar from 1 mm to 5 km, with the step scaled by the root of it, takes the same shape. Scales are powers of
// four, so that a method without thresholds of its own makes the same roundings.
TEST_HEAVY(pbd, hasNoScaleOfItsOwn)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double sag[3];
    const double scales[3] = {1.0, 0x1p-10, 0x1p12};
    for (int k = 0; k < 3; ++k)
    {
        snwShapeDef shape = snwDefaultShapeDef(snw_shapeBar);
        shape.size = snwVec3_Scale(shape.size, scales[k]);
        snwBodyDef body = snwDefaultBodyDef();
        REQUIRE(snwCreateShape(context, &shape, &body.character, NULL) == snw_ok);
        snwPinDef pin = snwDefaultPinDef();
        pin.lower = (snwVec3){-1e6, -1e6, -1e6}, pin.upper = (snwVec3){-0.599 * scales[k], 1e6, 1e6};
        snwSetting undamped = {"pbd.damping", 0.0}; // 1/s would need scaling too
        snwSceneDef def = snwDefaultSceneDef();
        def.bodies = &body, def.bodyCount = 1, def.pins = &pin, def.pinCount = 1;
        def.settings = &undamped, def.settingCount = 1;
        snwSimDef simDef = snwDefaultSimDef();
        REQUIRE(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
        snwSim* sim;
        REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
        snwFixture_Run(sim, 60, s_dt * sqrt(scales[k]));
        snwMeasures m;
        snwSim_GetMeasures(sim, 0, &m);
        sag[k] = m.centre.y / scales[k];
        snwDestroySim(sim);
        snwScene_Release(simDef.scene);
        snwCharacter_Release(body.character);
    }
    CHECK(sag[0] < -0.01);
    CHECK_NEAR(sag[1], sag[0], 1e-6);
    CHECK_NEAR(sag[2], sag[0], 1e-6);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Kernels

typedef struct KernelData
{
    _Alignas(64) float positions[4 * (64 + 8)];
    _Alignas(64) snwEdgeBlock edges[2];
    _Alignas(64) snwTetBlock tets[2];
    _Alignas(64) snwNeoRest rests[2];
    _Alignas(64) snwNeoState states[2];
} KernelData;

static void MakeKernelData(KernelData* data, uint64_t seed)
{
    memset(data, 0, sizeof *data);
    for (int i = 0; i < 64; ++i)
        for (int k = 0; k < 4; ++k)
            data->positions[4 * i + k] = (float)snwTest_Random(&seed);
    data->positions[4 * 3 + 3] = 0.0f; // one pinned
    for (int i = 0; i < 2 * 8; ++i)
    {
        for (int k = 0; k < 2; ++k)
            data->edges[i / 8].index[k][i % 8] = 4 * i + k;
        for (int k = 0; k < 4; ++k)
            data->tets[i / 8].index[k][i % 8] = 4 * i + k;
        data->edges[i / 8].rest[i % 8] = (float)snwTest_Random(&seed);
        data->tets[i / 8].rest[i % 8] = (float)snwTest_Random(&seed);
        snwVec3 corners[4] = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1.1, 0}, {0, -0.1, 0.9}};
        corners[i % 4].x += snwTest_Random(&seed);
        snwNeoRest_Set(&data->rests[i / 8], i % 8, corners, 0.2, 0);
    }
    snwMaterial material = snwDefaultMaterial();
    snwNeoState_SetMaterials(data->states, data->rests, 0, 2, &material, 1.0 / 600);
    // Two coincident vertices, and a lane on the spare vertices.
    memcpy(&data->positions[4 * 5], &data->positions[4 * 4], 3 * sizeof(float));
    for (int k = 0; k < 2; ++k)
        data->edges[1].index[k][7] = 64 + 7;
}

TEST(pbd, wideKernelsGiveTheBitsOfTheScalarOnes)
{
    const snwSimd wide[] = {snw_simdBase, snw_simdAvx2};
    for (uint64_t seed = 1; seed <= 200; ++seed)
    {
        KernelData scalar, other;
        MakeKernelData(&scalar, seed);
        const snwConstraintKernels* kernels = snwConstraint_Kernels(snw_simdScalar);
        kernels->distance(scalar.positions, scalar.edges, 0, 2, 0.7f);
        kernels->volume(scalar.positions, scalar.tets, 0, 2, 0.7f);
        kernels->neoHookean(scalar.positions, scalar.tets, scalar.rests, scalar.states, 0, 2);
        kernels->neoHookean(scalar.positions, scalar.tets, scalar.rests, scalar.states, 0, 2);
        for (int k = 0; k < 2; ++k)
        {
            MakeKernelData(&other, seed);
            snwConstraint_Kernels(wide[k])->distance(other.positions, other.edges, 0, 2, 0.7f);
            snwConstraint_Kernels(wide[k])->volume(other.positions, other.tets, 0, 2, 0.7f);
            for (int round = 0; round < 2; ++round)
                snwConstraint_Kernels(wide[k])->neoHookean(
                    other.positions, other.tets, other.rests, other.states, 0, 2);
            CHECK(memcmp(scalar.states, other.states, sizeof other.states) == 0);
            CHECK(memcmp(scalar.positions, other.positions, sizeof other.positions) == 0);
        }
        for (int i = 0; i < 4 * 72; ++i)
            CHECK(isfinite(scalar.positions[i]));
    }
}

static double TetError(const float* p, double rest)
{
    snwVec3 x[4];
    for (int k = 0; k < 4; ++k)
        x[k] = (snwVec3){p[4 * k], p[4 * k + 1], p[4 * k + 2]};
    return snwVec3_Dot(snwVec3_Sub(x[1], x[0]), snwVec3_Cross(snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0]))) - rest;
}

// The volume projection moves each vertex along minus w_i times the gradient, which finite differences give as well.
TEST(pbd, volumeProjectionFollowsTheGradient)
{
    for (uint64_t seed = 1; seed <= 100; ++seed)
    {
        KernelData data, before;
        MakeKernelData(&data, seed);
        for (int i = 0; i < 64; ++i)
            data.positions[4 * i + 3] += 0.1f;
        before = data;
        snwConstraint_Kernels(snw_simdAuto)->volume(data.positions, data.tets, 0, 2, 1.0f);
        for (int tet = 2; tet < 16; ++tet) // tets 0 and 1 have the degenerate vertices
        {
            float* p = &before.positions[16 * tet];
            double rest = (double)before.tets[tet / 8].rest[tet % 8], error = TetError(p, rest), sum = 0.0;
            double gradient[12];
            for (int i = 0; i < 12; ++i)
            {
                float kept = p[i / 3 * 4 + i % 3];
                p[i / 3 * 4 + i % 3] = kept + 0x1p-7f;
                double high = TetError(p, rest);
                p[i / 3 * 4 + i % 3] = kept - 0x1p-7f;
                gradient[i] = (high - TetError(p, rest)) / (double)(2 * 0x1p-7f); // exact: C is linear in each number
                p[i / 3 * 4 + i % 3] = kept;
                sum += (double)p[i / 3 * 4 + 3] * gradient[i] * gradient[i];
            }
            for (int i = 0; i < 12; ++i)
            {
                double moved = (double)data.positions[16 * tet + i / 3 * 4 + i % 3] - (double)p[i / 3 * 4 + i % 3];
                double expected = -error / sum * (double)p[i / 3 * 4 + 3] * gradient[i];
                CHECK_NEAR(moved, expected, 1e-4 * (fabs(error) / sqrt(sum) + 1e-2));
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The compliant law

static double NeoEnergy(const snwVec3 x[4], const snwVec3 rest[4], const snwMaterial* material)
{
    snwMat3 inverse = snwMat3_Identity(), now,
            edges = snwMat3_FromColumns(
                snwVec3_Sub(rest[1], rest[0]), snwVec3_Sub(rest[2], rest[0]), snwVec3_Sub(rest[3], rest[0]));
    snwMat3_Inverse(edges, &inverse);
    now = snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0]));
    snwMat3 f = snwMat3_Mul(now, inverse);
    double mu = material->young / (2 * (1 + material->poisson));
    double lambda = material->young * material->poisson / ((1 + material->poisson) * (1 - 2 * material->poisson)) + mu;
    double volume = snwMat3_Determinant(edges) / 6, off = snwMat3_Determinant(f) - 1 - mu / lambda;
    return volume * (0.5 * mu * snwMat3_Norm(f) * snwMat3_Norm(f) + 0.5 * lambda * off * off);
}

// Where the sweeps over one tet end, the implicit Euler equation holds: m (x - start) / h^2 = -dU/dx, with the gradient
// of the energy by finite differences.
TEST(pbd, compliantTetObeysItsEnergy)
{
    const snwVec3 rest[4] = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1.1, 0}, {0, -0.1, 0.9}};
    const double h = 1.0 / 100;
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        uint64_t random = seed;
        snwMaterial material = {.density = 1000, .young = 1e4, .poisson = 0.05 + 0.4 * fabs(snwTest_Random(&random))};
        _Alignas(64) float positions[4 * (4 + 8)] = {0};
        _Alignas(64) snwTetBlock tet = {0};
        _Alignas(64) snwNeoRest neo = {0};
        _Alignas(64) snwNeoState state = {0};
        snwVec3 start[4], x[4];
        snwNeoRest_Set(&neo, 0, rest, 0.15849999999999997, 0);
        for (int k = 0; k < 4; ++k)
        {
            for (int lane = 0; lane < 8; ++lane)
                tet.index[k][lane] = 4 + lane;
            tet.index[k][0] = k;
            snwVec3 noise = {snwTest_Random(&random), snwTest_Random(&random), snwTest_Random(&random)};
            start[k] = snwVec3_MulAdd(rest[k], 0.02, noise);
            float row[4] = {(float)start[k].x, (float)start[k].y, (float)start[k].z, 0.1f};
            start[k] = (snwVec3){row[0], row[1], row[2]};
            memcpy(positions + 4 * k, row, sizeof row);
        }
        neo.volume[0] = (float)(snwMat3_Determinant(snwMat3_FromColumns(rest[1], rest[2], rest[3])) / 6);
        snwNeoState_SetMaterials(&state, &neo, 0, 1, &material, h);
        for (int i = 0; i < 200; ++i)
            snwConstraint_Kernels(snw_simdScalar)->neoHookean(positions, &tet, &neo, &state, 0, 1);
        for (int k = 0; k < 4; ++k)
            x[k] = (snwVec3){positions[4 * k], positions[4 * k + 1], positions[4 * k + 2]};
        for (int k = 0; k < 4; ++k)
        {
            double* coordinate[3] = {&x[k].x, &x[k].y, &x[k].z};
            double from[3] = {start[k].x, start[k].y, start[k].z};
            for (int d = 0; d < 3; ++d)
            {
                double at = *coordinate[d], step = 1e-5;
                *coordinate[d] = at + step;
                double above = NeoEnergy(x, rest, &material);
                *coordinate[d] = at - step;
                double below = NeoEnergy(x, rest, &material);
                *coordinate[d] = at;
                double force = -(above - below) / (2 * step), inertia = 10 * (at - from[d]) / (h * h);
                CHECK_NEAR(force, inertia, 0.02 * (fabs(force) + 10));
            }
        }
    }
}

// A visit that does not finish has no torque, whatever the shape of the tet and however it is turned: it pushes along
// stresses only, though its corners are of unlike masses.
TEST(pbd, compliantVisitsDoNotTurnATet)
{
    const snwVec3 rest[4] = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 0.3, 0}, {0, -0.1, 0.2}};
    const float inverseMasses[4] = {10.0f, 1.0f, 3.0f, 5.0f};
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        uint64_t random = seed;
        snwMaterial material = {.density = 1000, .young = 1e7, .poisson = 0.4};
        _Alignas(64) float positions[4 * (4 + 8)] = {0};
        _Alignas(64) snwTetBlock tet = {0};
        _Alignas(64) snwNeoRest neo = {0};
        _Alignas(64) snwNeoState state = {0};
        snwVec3 start[4], axis = {snwTest_Random(&random), snwTest_Random(&random), 1};
        snwQuat turn = snwQuat_FromAxisAngle(snwVec3_Normalize(axis), 3 * snwTest_Random(&random));
        double volume = snwMat3_Determinant(snwMat3_FromColumns(rest[1], rest[2], rest[3])) / 6;
        snwNeoRest_Set(&neo, 0, rest, volume, 0);
        for (int k = 0; k < 4; ++k)
        {
            for (int lane = 0; lane < 8; ++lane)
                tet.index[k][lane] = 4 + lane;
            tet.index[k][0] = k;
            snwVec3 noise = {snwTest_Random(&random), snwTest_Random(&random), snwTest_Random(&random)};
            snwRow_Set(positions, k, snwQuat_Rotate(turn, snwVec3_MulAdd(rest[k], 0.02, noise)));
            positions[4 * k + 3] = inverseMasses[k];
            start[k] = snwRow_Get(positions, k);
        }
        snwNeoState_SetMaterials(&state, &neo, 0, 1, &material, 1.0 / 100);
        snwConstraint_Kernels(snw_simdScalar)->neoHookean(positions, &tet, &neo, &state, 0, 1);

        snwVec3 torque = {0, 0, 0};
        double all = 0.0;
        for (int k = 0; k < 4; ++k)
        {
            snwVec3 way = snwVec3_Sub(snwRow_Get(positions, k), start[k]);
            snwVec3 push = snwVec3_Scale(way, 1.0 / (double)inverseMasses[k]);
            torque = snwVec3_Add(torque, snwVec3_Cross(start[k], push));
            all += snwVec3_Length(start[k]) * snwVec3_Length(push);
        }
        CHECK(all > 0.0 && snwVec3_Length(torque) < 2e-3 * all);
    }
}

TEST_HEAVY(pbd, compliantFleshAtRestStaysAtRest)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = snwFixture_Shape(context, snw_shapeBlock, 4);
    snwSetting law = {"pbd.law", snw_pbdCompliant};
    snwSceneDef def = snwDefaultSceneDef();
    def.gravity = (snwVec3){0, 0, 0};
    def.bodies = &body, def.bodyCount = 1, def.settings = &law, def.settingCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim;
    REQUIRE(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwFixture_Run(sim, 300, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK(m.maxStretch < 1e-5 && m.maxSpeed < 1e-4);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

TEST(pbd, fullStiffnessSolvesASingleEdge)
{
    KernelData data;
    MakeKernelData(&data, 9);
    snwConstraint_Kernels(snw_simdAuto)->distance(data.positions, data.edges, 0, 2, 1.0f);
    for (int i = 0; i < 15; ++i)
    {
        if (i == 1)
            continue; // coincident: no direction
        const float *a = &data.positions[16 * i], *b = a + 4;
        double length = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
        CHECK_NEAR(length, data.edges[i / 8].rest[i % 8], 1e-6);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pins, drags, pushes, materials, contact

TEST(pbd, pinnedVerticesFollowTheirPin)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.pinned = true;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand command = snwDefaultCommand(snw_commandPin);
    command.transform = (snwTransform){{0, 0.3, 0}, snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, 0.5)};
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    snwFixture_Run(sim, 30, s_dt);
    snwVertices vertices;
    snwSim_GetVertices(sim, 0, &vertices);
    const snwPinSet* set = &sim->pinSets[0];
    CHECK_INT(set->count, 25);
    for (int i = 0; i < set->count; ++i)
    {
        const float* x = vertices.positions + 4 * (size_t)set->vertices[i];
        snwVec3 rest = sim->bodies[0].character->def.vertices[set->vertices[i]];
        snwVec3 turned = snwQuat_Rotate(command.transform.rotation, (snwVec3){0, rest.y, rest.z});
        CHECK_NEAR(x[0], -0.2, 1e-6);
        CHECK_NEAR(x[1], 1.3 + turned.y, 1e-6);
        CHECK_NEAR(x[2], turned.z, 1e-6);
    }
    command.on = false;
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    snwMeasures m;
    snwFixture_Run(sim, 60, s_dt);
    snwSim_GetMeasures(sim, 0, &m);
    CHECK(m.centre.y < -2.0); // it falls
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(pbd, dragPullsAndLetsGo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    fixture.damping = 5.0;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand command = snwDefaultCommand(snw_commandDrag);
    command.index = 62; // the middle one of 5 x 5 x 5
    command.transform.position = (snwVec3){0.3, 1.5, 0};
    command.value = 1.0;
    command.radius = 0.0;
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    snwFixture_Run(sim, 60, s_dt);
    const float* x = snwPbd_GetBody(sim, 0).positions + 4 * 62;
    CHECK_NEAR(x[0], 0.3, 1e-6);
    CHECK_NEAR(x[1], 1.5, 1e-6);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK_NEAR(m.centre.y, 1.5, 0.2); // the rest comes along
    command.on = false;
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    for (int i = 0; i < sim->grabCount; ++i)
        CHECK_INT(sim->grabs[i].kind, snw_grabNone);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST(pbd, pushGivesItsImpulse)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    for (int vertex = -1; vertex < 100; vertex += 77)
    {
        snwSim* sim = snwFixture_MakeSim(context, &fixture);
        snwCommand command = snwDefaultCommand(snw_commandPush);
        command.index = vertex;
        command.vector = (snwVec3){0, 0, 12};
        command.value = 0.5;
        CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
        snwFixture_Run(sim, 60, s_dt);
        snwMeasures m;
        snwSim_GetMeasures(sim, 0, &m);
        CHECK_NEAR(m.momentum.z, 6.0, 6e-3); // 12 N for 0.5 s
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

TEST(pbd, shortPushGivesItsImpulseToo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    const double durations[] = {0.0, 1.0 / 240.0, 0.037};
    for (int k = 0; k < 3; ++k)
    {
        snwSim* sim = snwFixture_MakeSim(context, &fixture);
        CHECK(snwSim_SetParam(sim, "sim.substeps", 3, NULL) == snw_ok);
        snwCommand command = snwDefaultCommand(snw_commandPush);
        command.vector.y = 100.0;
        command.value = durations[k];
        CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
        snwFixture_Run(sim, 10, s_dt);
        snwMeasures m;
        snwSim_GetMeasures(sim, 0, &m);
        CHECK_NEAR(m.momentum.y, 100.0 * durations[k], 2e-3);
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

// Two regions: a command for one leaves the other, and what is pinned stays pinned.
TEST(pbd, materialCommandKeepsToItsRegion)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwVec3 vertices[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const int tets[2][4] = {{0, 1, 2, 3}, {1, 4, 2, 3}}, regions[2] = {0, 1};
    snwMaterial materials[2] = {snwDefaultMaterial(), snwDefaultMaterial()};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.vertices = vertices, def.vertexCount = 5, def.tets = tets, def.tetCount = 2, def.regions = regions;
    def.materials = materials, def.materialCount = 2;
    snwBodyDef body = snwDefaultBodyDef();
    REQUIRE(snwCreateCharacter(context, &def, &body.character, NULL) == snw_ok);
    snwSceneDef sceneDef = snwDefaultSceneDef();
    sceneDef.bodies = &body, sceneDef.bodyCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim;
    REQUIRE(snwCreateScene(context, &sceneDef, &simDef.scene, NULL) == snw_ok);
    REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwCommand pin = snwDefaultCommand(snw_commandPin), material = snwDefaultCommand(snw_commandMaterial);
    pin.body = 0, pin.index = 4, pin.transform.position = (snwVec3){1, 1, 1};
    material.index = 1, material.material.density = 4000.0;
    CHECK(snwSim_Push(sim, &pin, NULL) == snw_ok && snwSim_Push(sim, &material, NULL) == snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    snwPbdBody state = snwPbd_GetBody(sim, 0);
    CHECK_NEAR(1.0 / (double)state.velocities[3], 1000.0 / 24.0, 1e-3);         // only in region 0
    CHECK_NEAR(1.0 / (double)state.velocities[4 * 4 + 3], 4000.0 / 12.0, 1e-2); // only in region 1
    CHECK(state.positions[4 * 4 + 3] == 0.0f);
    CHECK_NEAR(state.positions[4 * 4 + 1], 1.0, 1e-6);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

// Share of the kinetic energy of a wobble that is left after half a second.
static double WobbleLeft(snwContext* context, double damping)
{
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.gravity = false;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand command = snwDefaultCommand(snw_commandMaterial);
    command.material.damping = damping;
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    CHECK(snwSim_SetParam(sim, "pbd.stretch", 0.02, NULL) == snw_ok);
    CHECK(snwSim_SetParam(sim, "pbd.volume", 0.02, NULL) == snw_ok);
    snwPbdBody state = snwPbd_GetBody(sim, 0);
    for (int i = 0; i < 125; ++i) // stretching in x
        state.velocities[4 * i] = state.positions[4 * i];
    snwMeasures m;
    snwFixture_Run(sim, 30, s_dt);
    snwSim_GetMeasures(sim, 0, &m);
    snwDestroySim(sim);
    return m.kinetic;
}

TEST(pbd, materialDampingDamps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double free = WobbleLeft(context, 0.0), damped = WobbleLeft(context, 10.0);
    CHECK(free > 0.0);
    CHECK(damped < 0.1 * free); // exp(-2 * 10 * 0.5) and less
    snwDestroyContext(context);
}

// Two masses on one edge turn for ever: damping leaves rigid motion alone, also where the inertia is singular.
TEST(pbd, dampingLeavesARodSpinning)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int k = 0; k < 2; ++k)
    {
        snwFixtureScene fixture = snwFixture_DefaultScene();
        fixture.kind = snw_shapeSpring;
        fixture.gravity = false;
        fixture.height = 0.0;
        fixture.spin = (snwVec3){0, 0.6 * k, 1.0};
        fixture.damping = 20.0;
        snwSim* sim = snwFixture_MakeSim(context, &fixture);
        CHECK(snwSim_SetParam(sim, "sim.substeps", 4, NULL) == snw_ok);
        snwMeasures first, last;
        snwSim_GetMeasures(sim, 0, &first);
        snwFixture_Run(sim, 60, s_dt);
        snwSim_GetMeasures(sim, 0, &last);
        CHECK_NEAR(snwVec3_Distance(first.angularMomentum, last.angularMomentum), 0.0,
            0.02 * snwVec3_Length(first.angularMomentum));
        snwDestroySim(sim);
    }
    snwDestroyContext(context);
}

TEST(pbd, materialCommandChangesTheMass)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.velocity = (snwVec3){1, 0, 0};
    fixture.gravity = false;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwCommand command = snwDefaultCommand(snw_commandMaterial);
    command.material.density = 500.0;
    CHECK(snwSim_Push(sim, &command, NULL) == snw_ok);
    snwFixture_Run(sim, 1, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK_NEAR(m.momentum.x, 32.0, 1e-3);
    snwPbdBody state = snwPbd_GetBody(sim, 0);
    double mass = 0.0;
    for (int i = 0; i < 125; ++i)
        mass += 1.0 / (double)state.positions[4 * i + 3];
    CHECK_NEAR(mass, 32.0, 1e-3);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

TEST_HEAVY(pbd, groundCarriesTheWeight)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.height = 0.21;
    fixture.ground = true;
    fixture.damping = 20.0;
    fixture.iterations = 40;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    snwFixture_Run(sim, 300, s_dt);
    snwVertices vertices;
    snwSim_GetVertices(sim, 0, &vertices);
    for (int i = 0; i < vertices.count; ++i)
        CHECK(vertices.positions[4 * i + 1] > -1e-6f);
    double force = 0.0;
    for (int round = 0; round < 60; ++round)
    {
        snwFixture_Run(sim, 1, s_dt);
        snwContacts contacts;
        snwSim_GetContacts(sim, &contacts);
        CHECK(contacts.count >= 4 && contacts.count <= 25);
        for (int i = 0; i < contacts.count; ++i) // a step of free fall is 2.7 mm; projections press a bit more
            CHECK(contacts.data[i].depth > 0.0f && contacts.data[i].depth < 0.02f);
        snwMeasures m;
        snwSim_GetMeasures(sim, 0, &m);
        CHECK(m.maxDepth > 0.0 && m.maxDepth < 0.02 && m.contacts == contacts.count);
        for (int i = 0; i < contacts.count; ++i)
            force += (double)contacts.data[i].force[1] / 60.0;
    }
    CHECK_NEAR(force, 64.0 * 9.81, 0.03 * 64.0 * 9.81);
    snwDestroySim(sim);
    snwDestroyContext(context);
}

static double SlideOnIncline(snwContext* context, double angle, double friction)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.character = snwFixture_Shape(context, snw_shapeBlock, 3);
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    ground.friction = friction;
    body.transform.position.y = 0.2;
    snwSceneDef def = snwDefaultSceneDef();
    def.gravity = (snwVec3){9.81 * sin(angle), -9.81 * cos(angle), 0}; // the incline, seen from itself
    def.bodies = &body, def.bodyCount = 1, def.colliders = &ground, def.colliderCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    CHECK(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    CHECK(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwFixture_Run(sim, 120, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    return m.momentum.x / 64.0;
}

TEST(pbd, frictionHoldsOnASlopeAndSlipsOnASteepOne)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double angle = atan(0.5);
    CHECK_NEAR(SlideOnIncline(context, 0.5 * angle, 0.5), 0.0, 0.05);
    double frictionless = SlideOnIncline(context, angle, 0.0);
    CHECK_NEAR(frictionless, 2.0 * 9.81 * sin(angle), 0.05 * frictionless);
    double slipping = SlideOnIncline(context, 2.0 * angle, 0.5);
    CHECK_NEAR(slipping, 2.0 * 9.81 * (sin(2.0 * angle) - 0.5 * cos(2.0 * angle)), 0.1 * slipping);
    snwDestroyContext(context);
}

TEST(pbd, movingColliderCarriesTheBlock)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBodyDef body = snwDefaultBodyDef();
    body.character = snwFixture_Shape(context, snw_shapeBlock, 3);
    body.transform.position.y = 0.2;
    snwColliderDef belt = snwDefaultColliderDef(snw_colliderBox);
    belt.size = (snwVec3){10, 1, 10};
    belt.friction = 1.0;
    snwKey keys[2] = {{0.0, {{0, -1, 0}, {0, 0, 0, 1}}}, {2.0, {{1, -1, 0}, {0, 0, 0, 1}}}};
    snwClipDef clip = snwDefaultClipDef();
    clip.target = snw_clipCollider, clip.keys = keys, clip.keyCount = 2, clip.interpolation = snw_interpolateSmooth;
    snwSceneDef def = snwDefaultSceneDef();
    def.bodies = &body, def.bodyCount = 1, def.colliders = &belt, def.colliderCount = 1, def.clips = &clip,
    def.clipCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim;
    REQUIRE(snwCreateScene(context, &def, &simDef.scene, NULL) == snw_ok);
    REQUIRE(snwCreateSim(context, &simDef, &sim, NULL) == snw_ok);
    snwFixture_Run(sim, 150, s_dt);
    snwMeasures m;
    snwSim_GetMeasures(sim, 0, &m);
    CHECK_NEAR(m.centre.x, 1.0, 0.05);
    snwTransforms colliders;
    snwSim_GetColliders(sim, &colliders);
    CHECK_NEAR(colliders.data->position.x, 1.0, 1e-12);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(body.character);
    snwDestroyContext(context);
}

// Constraints of one colour share no vertex: the ground of everything parallel here.
TEST(pbd, coloursShareNoVertex)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwFixtureScene fixture = snwFixture_DefaultScene();
    fixture.kind = snw_shapeBall;
    fixture.cells = 10;
    snwSim* sim = snwFixture_MakeSim(context, &fixture);
    const snwPbdModel* model = sim->bodies[0].model;
    int* seen = calloc((size_t)model->vertexCount, sizeof *seen);
    REQUIRE(seen != NULL);
    int tets = 0, edges = 0;
    for (int c = 0; c < model->blocks.tetColours.count; ++c)
        for (int b = model->blocks.tetColours.starts[c]; b < model->blocks.tetColours.starts[c + 1]; ++b)
            for (int i = 0; i < 32; ++i)
            {
                int v = model->blocks.tets[b].index[i / 8][i % 8];
                if (v >= model->vertexCount)
                    continue;
                CHECK(seen[v] != c + 1);
                seen[v] = c + 1;
                tets++;
            }
    memset(seen, 0, (size_t)model->vertexCount * sizeof *seen);
    for (int c = 0; c < model->blocks.edgeColours.count; ++c)
        for (int b = model->blocks.edgeColours.starts[c]; b < model->blocks.edgeColours.starts[c + 1]; ++b)
            for (int i = 0; i < 16; ++i)
            {
                int v = model->blocks.edges[b].index[i / 8][i % 8];
                if (v >= model->vertexCount)
                    continue;
                CHECK(seen[v] != c + 1);
                seen[v] = c + 1;
                edges++;
            }
    CHECK_INT(tets, 4 * sim->bodies[0].character->def.tetCount);
    CHECK_INT(edges, 2 * sim->bodies[0].character->edgeCount);
    free(seen);
    snwDestroySim(sim);
    snwDestroyContext(context);
}
