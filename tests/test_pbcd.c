// Position-based complementary dynamics: its sweeps against Newton's method, its integrators against recurrences, and
// what flesh on an artist's motion must do.

#include "fixture.h"
#include "rigged.h"
#include "sim/pbcd/pbcd.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum
{
    snw_mostSettings = 12
};

// One body, one substep per step, no gravity, no damping unless said.
typedef struct World
{
    snwContext* context;
    snwSim* sim;
    double dt;
} World;

static snwCharacter* MakeBlock(snwContext* context, snwVec3 size, int cells, double young, double poisson)
{
    snwShapeDef def = snwDefaultShapeDef(snw_shapeBlock);
    snwCharacter* character = NULL;
    def.size = size;
    for (int k = 0; k < 3; ++k)
        def.cells[k] = k == 0 ? 2 * cells : cells;
    def.material.young = young;
    def.material.poisson = poisson;
    CHECK(snwCreateShape(context, &def, &character, NULL) == snw_ok);
    return character;
}

static World MakeWorld(snwContext* context, snwCharacter* character, const snwSetting* settings, snwRiggedScene* base)
{
    snwRiggedScene scene = base != NULL ? *base : snwRigged_DefaultScene(character);
    snwSetting all[snw_mostSettings] = {{"pbcd.damping", 0}};
    int count = 1;
    for (; settings != NULL && settings[count - 1].name != NULL; ++count)
        all[count] = settings[count - 1];
    scene.def.method = "pbcd";
    scene.def.settings = all;
    scene.def.settingCount = count;
    scene.def.bodies = NULL;
    if (base == NULL)
        scene.def.gravity = (snwVec3){0, 0, 0};
    return (World){context, snwRigged_MakeSim(context, &scene), 1.0 / 60.0};
}

static void End(World* world)
{
    snwDestroySim(world->sim);
    snwDestroyContext(world->context);
}

static snwPbcdWork* Work(const World* world)
{
    return snwPbcd_Work(world->sim, 0);
}

static double FarthestFrom(const World* world, const float* rows)
{
    const float* x = Work(world)->state.positions;
    double most = 0.0;
    for (int i = 0; i < Work(world)->model->vertexCount; ++i)
        most = fmax(most, snwVec3_Distance(snwRow_Get(x, i), snwRow_Get(rows, i)));
    return most;
}

// Stretched, sheared and noisy; the same for the same seed.
static void Deform(World* world, uint64_t seed, double noise)
{
    float* x = Work(world)->state.positions;
    for (int i = 0; i < Work(world)->model->vertexCount; ++i)
    {
        snwVec3 at = snwRow_Get(x, i);
        snwVec3 push = {snwTest_Random(&seed), snwTest_Random(&seed), snwTest_Random(&seed)};
        at = (snwVec3){1.1 * at.x + 0.05 * at.y, at.y - 0.1 * at.z, 0.95 * at.z};
        snwRow_Set(x, i, snwVec3_MulAdd(at, noise, push));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sweeps

static World MakeDeformed(const char* law, const char* solver, int iterations)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    double lawValue = strcmp(law, "edges") == 0    ? snw_pbcdEdges
                      : strcmp(law, "strain") == 0 ? snw_pbcdStrain
                                                   : snw_pbcdNeo;
    const snwSetting settings[] = {{"pbcd.law", lawValue},
        {"pbcd.solver", strcmp(solver, "implicit") == 0 ? snw_pbcdImplicit : snw_pbcdSmpbd}, {"pbcd.corrected", 1},
        {"pbcd.iterations", iterations}, {"pbcd.along_y", 0.5}, {NULL, 0}};
    World world = MakeWorld(context, MakeBlock(context, (snwVec3){0.4, 0.2, 0.2}, 2, 2e4, 0.4), settings, NULL);
    Deform(&world, 7, 0.004);
    return world;
}

// Corrected sweeps end where Newton's method on the same energies ends, for every law.
TEST(pbcd, sweepsEndInTheImplicitStep)
{
    const char* laws[] = {"edges", "strain", "neo"};
    for (int i = 0; i < 3; ++i)
    {
        World swept = MakeDeformed(laws[i], "smpbd", 400), truth = MakeDeformed(laws[i], "implicit", 60);
        snwFixture_Run(swept.sim, 1, swept.dt);
        snwFixture_Run(truth.sim, 1, truth.dt);
        CHECK(FarthestFrom(&swept, Work(&truth)->before) > 0.005);
        CHECK(FarthestFrom(&swept, Work(&truth)->state.positions) < 2e-6);
        End(&swept);
        End(&truth);
    }
}

// Without the correction they do not quite: what was pushed along old directions stays.
TEST(pbcd, plainSweepsHaveAFloor)
{
    double errors[2];
    for (int corrected = 0; corrected < 2; ++corrected)
    {
        World swept = MakeDeformed("edges", "smpbd", 400), truth = MakeDeformed("edges", "implicit", 60);
        Work(&swept)->sweep.corrected = corrected != 0;
        snwFixture_Run(swept.sim, 1, swept.dt);
        snwFixture_Run(truth.sim, 1, truth.dt);
        errors[corrected] = FarthestFrom(&swept, Work(&truth)->state.positions);
        End(&swept);
        End(&truth);
    }
    CHECK(errors[1] < 0.1 * errors[0]);
}

// One constraint: when moves are made does not matter.
TEST(pbcd, jacobiAndSeidelAgreeOnOneSpring)
{
    float ends[2];
    for (int jacobi = 0; jacobi < 2; ++jacobi)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        const snwSetting settings[] = {{"pbcd.commit", jacobi}, {NULL, 0}};
        World world = MakeWorld(context, snwFixture_Shape(context, snw_shapeSpring, 1), settings, NULL);
        Work(&world)->state.positions[4] += 0.2f;
        snwFixture_Run(world.sim, 20, world.dt);
        ends[jacobi] = Work(&world)->state.positions[4];
        End(&world);
    }
    CHECK_NEAR(ends[0], ends[1], 1e-6);
}

// ---------------------------------------------------------------------------------------------------------------------
// Integrators: the stretch s of a spring between two masses obeys s'' = -w^2 s.

typedef struct Recurrence
{
    double s, v, sBefore, vBefore, a;
    int step;
} Recurrence;

static void Advance(Recurrence* r, snwPbcdIntegrator integrator, double w2, double h)
{
    double s = r->s, v = r->v;
    if (integrator == snw_pbcdTrapezoid)
    {
        double y = s + h * v + h * h / 4 * r->a;
        r->s = y / (1 + w2 * h * h / 4);
        double a = -w2 * r->s;
        r->v = v + h / 2 * (r->a + a);
        r->a = a;
    }
    else if (integrator == snw_pbcdBdf2 && r->step > 0)
    {
        double y = (4 * s - r->sBefore) / 3 + 2 * h / 9 * (4 * v - r->vBefore);
        r->s = y / (1 + 4.0 / 9.0 * w2 * h * h);
        r->v = (3 * r->s - 4 * s + r->sBefore) / (2 * h);
    }
    else
    {
        r->s = (s + h * v) / (1 + w2 * h * h);
        r->v = (r->s - s) / h;
    }
    r->sBefore = s;
    r->vBefore = v;
    r->step++;
}

TEST(pbcd, integratorsFollowTheirRecurrences)
{
    for (int integrator = snw_pbcdEuler; integrator <= snw_pbcdTrapezoid; ++integrator)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        snwShapeDef shape = snwDefaultShapeDef(snw_shapeSpring);
        shape.size = (snwVec3){1, 0, 0};
        shape.springMass = 2.0;
        shape.material.young = 100.0; // k = E l = 100 N/m
        snwCharacter* character = NULL;
        REQUIRE(snwCreateShape(context, &shape, &character, NULL) == snw_ok);
        const snwSetting settings[] = {{"pbcd.integrator", integrator}, {"pbcd.iterations", 1}, {NULL, 0}};
        World world = MakeWorld(context, character, settings, NULL);
        Work(&world)->state.positions[0] -= 0.05f;
        Work(&world)->state.positions[4] += 0.05f;
        Recurrence r = {.s = 0.1};
        double w2 = 100.0 * (1 / 2.0 + 1 / 2.0), most = 0.0;
        for (int i = 0; i < 240; ++i)
        {
            snwFixture_Run(world.sim, 1, world.dt);
            Advance(&r, (snwPbcdIntegrator)integrator, w2, world.dt);
            const float* x = Work(&world)->state.positions;
            CHECK_NEAR((double)x[4] - (double)x[0] - 1.0, r.s, 2e-5);
            most = i >= 180 ? fmax(most, fabs(r.s)) : most;
        }
        CHECK(integrator != snw_pbcdEuler || most < 0.02);
        CHECK(integrator != snw_pbcdTrapezoid || most > 0.09);
        End(&world);
    }
}

// A bar at a wall that hangs by its own weight and swings, undamped, with fewer sweeps than it needs. `iterations` odd
// or even, it swings for ever and does not explode.
TEST_HEAVY(pbcd, unfinishedSweepsFeedNoSwing)
{
    for (int iterations = 3; iterations <= 4; ++iterations)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        const snwSetting settings[] = {
            {"pbcd.integrator", snw_pbcdTrapezoid}, {"pbcd.iterations", iterations}, {NULL, 0}};
        snwCharacter* character = MakeBlock(context, (snwVec3){1, 0.1, 0.1}, 4, 8e5, 0.3);
        snwRiggedScene scene = snwRigged_DefaultScene(character);
        scene.def.gravity = (snwVec3){0, -0.02, 0};
        snwPinDef pin = snwDefaultPinDef();
        pin.name = "wall";
        pin.body = 0;
        pin.lower = (snwVec3){-1, -1, -1};
        pin.upper = (snwVec3){-0.49, 1, 1};
        scene.def.pins = &pin;
        scene.def.pinCount = 1;
        World world = MakeWorld(context, character, settings, &scene);
        double most = 0.0;
        for (int i = 0; i < 600; ++i)
        {
            snwFixture_Run(world.sim, 1, 1.0 / 240);
            snwMeasures measures;
            snwSim_GetMeasures(world.sim, 0, &measures);
            most = fmax(most, measures.maxStretch);
        }
        CHECK(most > 1e-4 && most < 0.02);
        End(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Free bodies

TEST_HEAVY(pbcd, restIsRest)
{
    for (int law = snw_pbcdNeo; law <= snw_pbcdStrain; ++law)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        const snwSetting settings[] = {{"pbcd.law", law}, {"pbcd.iterations", 4}, {NULL, 0}};
        World world = MakeWorld(context, MakeBlock(context, (snwVec3){0.4, 0.2, 0.2}, 2, 1e5, 0.45), settings, NULL);
        float start[4 * 64];
        REQUIRE(Work(&world)->model->vertexCount <= 64);
        memcpy(start, Work(&world)->state.positions, (size_t)Work(&world)->model->vertexCount * 16);
        snwFixture_Run(world.sim, 2000, 1.0 / 480);
        CHECK(FarthestFrom(&world, start) <= 0.5e-6);
        End(&world);
    }
}

// However stiff, and however long the step: nothing shakes itself apart.
TEST(pbcd, stiffFleshIsStill)
{
    for (int law = snw_pbcdNeo; law <= snw_pbcdStrain; ++law)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        const snwSetting settings[] = {{"pbcd.law", law}, {"pbcd.iterations", 3}, {NULL, 0}};
        World world = MakeWorld(context, MakeBlock(context, (snwVec3){0.4, 0.2, 0.2}, 2, 4e9, 0.35), settings, NULL);
        float start[4 * 64];
        memcpy(start, Work(&world)->state.positions, (size_t)Work(&world)->model->vertexCount * 16);
        Work(&world)->state.velocities[4] = 1e-3f;
        snwFixture_Run(world.sim, 120, world.dt);
        CHECK(FarthestFrom(&world, start) < 1e-3);
        snwMeasures measures;
        snwSim_GetMeasures(world.sim, 0, &measures);
        CHECK(measures.maxStretch < 1e-4);
        End(&world);
    }
}

static snwVec3 Momentum(const World* world, snwVec3* angular)
{
    const snwPbcdState* state = &Work(world)->state;
    snwVec3 sum = {0, 0, 0};
    *angular = (snwVec3){0, 0, 0};
    for (int i = 0; i < Work(world)->model->vertexCount; ++i)
    {
        snwVec3 p = snwVec3_Scale(snwRow_Get(state->velocities, i), 1.0 / (double)state->velocities[4 * (size_t)i + 3]);
        sum = snwVec3_Add(sum, p);
        *angular = snwVec3_Add(*angular, snwVec3_Cross(snwRow_Get(state->positions, i), p));
    }
    return sum;
}

// What elements did in the last substep before rounding was taken out of it: momentum over the sum of all momenta.
static double MeanPush(const World* world)
{
    const snwPbcdWork* work = Work(world);
    snwVec3 sum = {0, 0, 0};
    double all = 0;
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        double mass = 1 / (double)work->state.velocities[4 * (size_t)i + 3];
        snwVec3 way = snwVec3_Sub(snwRow_Get(work->state.positions, i), snwRow_Get(work->predicted, i));
        sum = snwVec3_MulAdd(sum, mass, way);
        all += mass * snwVec3_Length(way);
    }
    return snwVec3_Length(sum) / all;
}

// Inner forces cannot change momentum, viscosity included; it takes the wobble away. Neither can their rounding.
TEST(pbcd, freeFlightKeepsMomentum)
{
    for (int law = snw_pbcdNeo; law <= snw_pbcdStrain; ++law)
    {
        double moving[2];
        for (int viscous = 0; viscous < 2; ++viscous)
        {
            snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
            const snwSetting settings[] = {{"pbcd.law", law}, {"pbcd.iterations", 20}, {"pbcd.corrected", 1},
                {"pbcd.viscosity", viscous ? 0.02 : 0.0}, {"pbcd.integrator", snw_pbcdBdf2}, {NULL, 0}};
            World world = MakeWorld(context, MakeBlock(context, (snwVec3){0.4, 0.2, 0.2}, 2, 1e4, 0.4), settings, NULL);
            float *x = Work(&world)->state.positions, *v = Work(&world)->state.velocities;
            for (int i = 0; i < Work(&world)->model->vertexCount; ++i)
            {
                snwVec3 at = snwRow_Get(x, i), spin = snwVec3_Cross((snwVec3){0, 0, 3}, at);
                snwRow_Set(v, i, (snwVec3){1 + spin.x + 2 * at.x, spin.y - 2 * at.y, 0.5 + spin.z});
            }
            snwVec3 angular, later, before = Momentum(&world, &angular);
            snwFixture_Run(world.sim, 90, 1.0 / 300);
            snwVec3 after = Momentum(&world, &later);
            CHECK(snwVec3_Distance(before, after) < 2e-6 * snwVec3_Length(before));
            CHECK(snwVec3_Distance(angular, later) < 2e-3 * snwVec3_Length(angular));
            CHECK(MeanPush(&world) < 0.005);
            snwMeasures measures;
            snwSim_GetMeasures(world.sim, 0, &measures);
            moving[viscous] = measures.kinetic;
            End(&world);
        }
        CHECK(moving[1] < moving[0]);
    }
}

// J: kinetic, against gravity and elastic, by the law that is swept (neo_hookean.h), 0 at rest.
static double Energy(const World* world)
{
    const snwPbcdState* state = &Work(world)->state;
    const snwCharacter* character = Work(world)->model->character;
    const snwMaterial* material = world->sim->bodies[0].materials;
    double mu = material->young / (2 * (1 + material->poisson)), bulk = mu / (1 - 2 * material->poisson), sum = 0.0;
    for (int i = 0; i < Work(world)->model->vertexCount; ++i)
    {
        snwVec3 v = snwRow_Get(state->velocities, i), x = snwRow_Get(state->positions, i);
        double own = 0.5 * snwVec3_LengthSquared(v) - snwVec3_Dot(world->sim->state->gravity, x);
        sum += own / (double)state->velocities[4 * (size_t)i + 3];
    }
    for (int i = 0; i < character->def.tetCount; ++i)
    {
        snwVec3 x[4], rest[4];
        for (int k = 0; k < 4; ++k)
        {
            x[k] = snwRow_Get(state->positions, character->def.tets[i][k]);
            rest[k] = character->def.vertices[character->def.tets[i][k]];
        }
        snwMat3 inverse, edges = snwMat3_FromColumns(snwVec3_Sub(rest[1], rest[0]), snwVec3_Sub(rest[2], rest[0]),
                             snwVec3_Sub(rest[3], rest[0]));
        CHECK(snwMat3_Inverse(edges, &inverse));
        snwMat3 f = snwMat3_Mul(
            snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0])), inverse);
        double above = snwMat3_Determinant(f) - 1.0, size = snwMat3_Norm(f) * snwMat3_Norm(f);
        sum += character->restVolumes[i] * (mu * (0.5 * (size - 3.0) - above) + 0.5 * bulk * above * above);
    }
    return sum;
}

// Jelly that lands nearly as fast as sound goes in it, half of it squashed flat: it never has more energy than before,
// and no tet turns inside out.
TEST_HEAVY(pbcd, aDropNeverGainsEnergy)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    const snwSetting settings[] = {{"pbcd.iterations", 10}, {NULL, 0}};
    snwCharacter* character = MakeBlock(context, (snwVec3){0.6, 0.3, 0.3}, 4, 8e3, 0.45);
    snwRiggedScene scene = snwRigged_DefaultScene(character);
    static const snwColliderDef ground = {
        .name = "ground", .kind = snw_colliderPlane, .transform = {{0, 0, 0}, {0, 0, 0, 1}}, .friction = 0.9};
    scene.def.colliders = &ground;
    scene.def.colliderCount = 1;
    scene.body.transform.position.y = 0.9;
    scene.body.angularVelocity = (snwVec3){0.3, 0, 0.2};
    World world = MakeWorld(context, character, settings, &scene);
    double start = Energy(&world), before = start, most = 0.0;
    for (int i = 0; i < 360; ++i)
    {
        snwFixture_Run(world.sim, 1, 1.0 / 360);
        snwMeasures measures;
        snwSim_GetMeasures(world.sim, 0, &measures);
        double now = Energy(&world);
        CHECK(now <= before + 1e-4 * start);
        CHECK(measures.minVolumeRatio > 0.0);
        most = fmax(most, measures.maxStretch);
        before = now;
    }
    CHECK(most > 0.4 && before < 0.9 * start);
    End(&world);
}

// Sweeps that end far from what stiff flesh asks for: its energy is what it can give back, not what the law says of it.
TEST(pbcd, energyOfUnfinishedSweepsNeverRises)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = MakeBlock(context, (snwVec3){0.6, 0.3, 0.3}, 4, 4e9, 0.4);
    snwRiggedScene scene = snwRigged_DefaultScene(character);
    static const snwColliderDef ground = {
        .name = "ground", .kind = snw_colliderPlane, .transform = {{0, 0, 0}, {0, 0, 0, 1}}, .friction = 0.9};
    scene.def.colliders = &ground;
    scene.def.colliderCount = 1;
    scene.body.transform.position.y = 0.6;
    World world = MakeWorld(context, character, NULL, &scene);
    snwMeasures now = {0};
    snwSim_GetMeasures(world.sim, 0, &now);
    double start = now.energy, nominal = 0.0;
    for (int i = 0; i < 40; ++i)
    {
        snwFixture_Run(world.sim, 1, 1.0 / 60);
        snwSim_GetMeasures(world.sim, 0, &now);
        CHECK(now.energy <= 1.001 * start);
        nominal = fmax(nominal, Energy(&world));
    }
    CHECK(nominal > 10.0 * start);
    End(&world);
}

// At nu = 0.5 all laws have finite numbers and keep the volume.
TEST(pbcd, incompressibleFleshIsFinite)
{
    for (int law = snw_pbcdNeo; law <= snw_pbcdStrain; ++law)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        const snwSetting settings[] = {{"pbcd.law", law}, {"pbcd.iterations", 30}, {NULL, 0}};
        World world = MakeWorld(context, MakeBlock(context, (snwVec3){0.4, 0.2, 0.2}, 2, 1e4, 0.5), settings, NULL);
        Deform(&world, 3, 0.002);
        snwFixture_Run(world.sim, 30, 1.0 / 240);
        snwMeasures measures;
        snwSim_GetMeasures(world.sim, 0, &measures);
        CHECK_NEAR(measures.volume, 0.4 * 0.2 * 0.2, 0.03 * 0.016);
        End(&world);
    }
}

// Ten centimetres and ten metres: with length x s, gravity x 1, time x sqrt(s) and E x s (the same strain under its
// own weight) the same shape.
TEST(pbcd, sizeDoesNotMatter)
{
    float shapes[2][4 * 64];
    int count = 0;
    for (int big = 0; big < 2; ++big)
    {
        snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
        double s = big ? 10.0 : 0.1;
        const snwSetting settings[] = {{"pbcd.law", snw_pbcdEdges}, {NULL, 0}};
        snwCharacter* character = MakeBlock(context, (snwVec3){s, 0.3 * s, 0.3 * s}, 2, 2e5 * s, 0.45);
        snwRiggedScene scene = snwRigged_DefaultScene(character);
        snwPinDef pin = snwDefaultPinDef();
        pin.name = "wall";
        pin.body = 0;
        pin.lower = (snwVec3){-s, -s, -s};
        pin.upper = (snwVec3){-0.49 * s, s, s};
        scene.def.pins = &pin;
        scene.def.pinCount = 1;
        World world = MakeWorld(context, character, settings, &scene);
        snwFixture_Run(world.sim, 120, sqrt(s) / 60.0);
        count = Work(&world)->model->vertexCount;
        REQUIRE(count <= 64);
        for (int i = 0; i < 4 * count; ++i)
            shapes[big][i] = Work(&world)->state.positions[i] / (float)s;
        End(&world);
    }
    double most = 0.0, sag = 0.0;
    for (int i = 0; i < count; ++i)
    {
        most = fmax(most, snwVec3_Distance(snwRow_Get(shapes[0], i), snwRow_Get(shapes[1], i)));
        sag = fmax(sag, -(double)shapes[0][4 * i + 1]);
    }
    CHECK(sag > 0.2);
    CHECK(most < 1e-4);
}

// ---------------------------------------------------------------------------------------------------------------------
// Flesh on bones

// A bar with two bones, of which the second turns up and down about the joint, and all of it goes sideways.
static snwCharacter* MakeMovingBar(snwContext* context, double turn, double shift)
{
    snwRiggedBar bar = snwRigged_DefaultBar();
    bar.material.young = 3e4;
    snwCharacter* still = snwRigged_MakeBar(context, &bar);
    snwKey keys[2][3];
    for (int k = 0; k < 3; ++k)
    {
        keys[0][k] = keys[1][k] = (snwKey){0.25 * k, snwTransform_Identity()};
        keys[0][k].transform.position.x = k == 1 ? shift : 0.0;
        keys[1][k].transform.rotation = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, k == 1 ? turn : 0.0);
    }
    snwTrackDef tracks[2] = {{0, keys[0], 3}, {1, keys[1], 3}};
    snwMotionDef motion = {.name = "wave", .duration = 0.5, .loop = true, .tracks = tracks, .trackCount = 2};
    snwCharacterDef def = still->def;
    def.motions = &motion;
    def.motionCount = 1;
    snwCharacter* character = NULL;
    CHECK(snwCreateCharacter(context, &def, &character, NULL) == snw_ok);
    snwCharacter_Release(still);
    return character;
}

static World MakeRigged(double turn, double shift, const snwSetting* settings)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = MakeMovingBar(context, turn, shift);
    snwRiggedScene scene = snwRigged_DefaultScene(character);
    scene.def.gravity = (snwVec3){0, 0, 0};
    scene.body.motion = "wave";
    return MakeWorld(context, character, settings, &scene);
}

// Vertices of bones are where the artist puts them, and skinning of bones is their transform.
TEST(pbcd, bonesAreWhereTheArtistPutsThem)
{
    World world = MakeRigged(0.8, 0.1, NULL);
    const snwCharacter* character = Work(&world)->model->character;
    snwFixture_Run(world.sim, 10, world.dt);
    snwTransform pose[2];
    snwSkeleton_Pose(&character->skeleton, &character->def.motions[0], 10 * world.dt, pose);
    int held = 0;
    for (int i = 0; i < character->def.vertexCount; ++i)
    {
        int bone = character->vertexBones[i];
        if (bone < 0)
            continue;
        snwVec3 wanted = snwTransform_Apply(pose[bone], character->def.vertices[i]);
        CHECK(snwVec3_Distance(snwRow_Get(Work(&world)->state.positions, i), wanted) < 1e-6);
        held++;
    }
    CHECK(held > 20);
    snwTransforms bones;
    snwSim_GetBones(world.sim, 0, &bones);
    CHECK(snwVec3_Distance(bones.data[1].position, pose[1].position) < 1e-9);
    End(&world);
}

// The limit of anchors: no inertia, elasticity, gravity or fold moves a vertex from where skinning has it.
TEST(pbcd, heldFleshIsExactlyWhereTheArtistPutsIt)
{
    for (int integrator = snw_pbcdEuler; integrator <= snw_pbcdTrapezoid; ++integrator)
    {
        const snwSetting settings[] = {{"pbcd.hold", 1}, {"pbcd.integrator", integrator}, {NULL, 0}};
        World world = MakeRigged(2.9, 0.1, settings);
        const snwCharacter* character = Work(&world)->model->character;
        const snwPbcdModel* model = Work(&world)->model;
        int count = model->vertexCount;
        float* skinned = calloc((size_t)count, 4 * sizeof *skinned);
        snwSkinPalette palette;
        snwTransform pose[2];
        double most = 0.0, bent = 0.0;
        REQUIRE(skinned != NULL && snwSkinPalette_Create(world.context, 2, &palette, NULL) >= 0);
        for (int frame = 1; frame <= 40; ++frame)
        {
            snwFixture_Run(world.sim, 1, world.dt);
            snwSkeleton_Pose(&character->skeleton, &character->def.motions[0], frame * world.dt, pose);
            snwSkinningPose bones = {.kind = model->skinning, .transforms = pose, .count = 2};
            snwSkinningTarget target = {.positions = skinned, .positionStride = 4 * (int)sizeof *skinned};
            REQUIRE(snwSkinPalette_Set(&palette, model->skin, &bones, NULL) >= 0);
            snwSkinModel_Apply(world.context, model->skin, &palette, &target);
            most = fmax(most, FarthestFrom(&world, skinned));
            for (int i = 0; i < count; ++i)
                bent = fmax(bent, snwVec3_Distance(snwRow_Get(skinned, i), character->def.vertices[i]));
        }
        snwSkinPalette_Free(world.context, &palette);
        free(skinned);
        CHECK(most < 1e-6);
        CHECK(bent > 0.1);
        End(&world);
    }
}

// Bones a cell apart that fold up turn inside out what lies between them, which they hold on all sides: there they give
// way. With contact of the arm with itself as well, which asks for more room than a fold has.
TEST(pbcd, foldedArmsAreNeverInsideOut)
{
    for (int self = 0; self < 2; ++self)
    {
        const snwSetting settings[] = {{"pbcd.self", self}, {NULL, 0}};
        World world = MakeRigged(2.9, 0.0, settings);
        double stretch = 0.0;
        for (int i = 0; i < 45; ++i)
        {
            snwMeasures measures;
            snwFixture_Run(world.sim, 1, world.dt);
            snwSim_GetMeasures(world.sim, 0, &measures);
            CHECK(measures.minVolumeRatio > 0.0);
            stretch = fmax(stretch, measures.maxStretch);
        }
        CHECK(stretch > 0.5);
        End(&world);
    }
}

// A pose that does not change: what was kicked rings down to it.
TEST(pbcd, fleshRingsDownToAStillPose)
{
    const snwSetting settings[] = {{"pbcd.damping", 5}, {NULL, 0}};
    World world = MakeRigged(0.0, 0.0, settings);
    float* v = Work(&world)->state.velocities;
    for (int i = 0; i < Work(&world)->model->vertexCount; ++i)
        v[4 * (size_t)i + 1] = Work(&world)->state.held[i] ? 0.0f : 1.0f;
    snwFixture_Run(world.sim, 3, world.dt);
    CHECK(FarthestFrom(&world, Work(&world)->reference) > 0.005);
    snwFixture_Run(world.sim, 300, world.dt);
    CHECK(FarthestFrom(&world, Work(&world)->reference) < 2e-5);
    End(&world);
}

// Flesh lags behind bones that are shaken; carried along, it does not.
TEST(pbcd, blendCarriesFleshAlong)
{
    double lags[2];
    for (int blend = 0; blend < 2; ++blend)
    {
        const snwSetting settings[] = {{"pbcd.blend", blend}, {"pbcd.iterations", 20}, {NULL, 0}};
        World world = MakeRigged(0.0, 0.2, settings);
        lags[blend] = 0.0;
        for (int i = 0; i < 30; ++i)
        {
            snwFixture_Run(world.sim, 1, world.dt);
            lags[blend] = fmax(lags[blend], FarthestFrom(&world, Work(&world)->reference));
        }
        End(&world);
    }
    CHECK(lags[0] > 0.01);
    CHECK(lags[1] < 2e-3 * lags[0]);
}

// Algorithm 2 forgets: with nothing to do in the still pose, flesh is where skinning puts it, whatever it did before.
TEST(pbcd, thesisModeForgets)
{
    const snwSetting settings[] = {{"pbcd.mode", snw_pbcdThesis}, {"pbcd.law", snw_pbcdEdges}, {NULL, 0}};
    World world = MakeRigged(0.0, 0.0, settings);
    Deform(&world, 5, 0.01);
    snwFixture_Run(world.sim, 1, world.dt);
    CHECK(FarthestFrom(&world, Work(&world)->reference) < 1e-5);
    End(&world);
}

// The bind constraint keeps the distance to the bone.
TEST(pbcd, bindKeepsTheDistance)
{
    const snwSetting settings[] = {{"pbcd.bind", snw_pbcdDistance}, {"pbcd.law", snw_pbcdEdges}, {"pbcd.anchor", 200},
        {"pbcd.iterations", 40}, {NULL, 0}};
    World world = MakeRigged(0.5, 0.0, settings);
    snwFixture_Run(world.sim, 15, world.dt);
    const snwPbcdModel* model = Work(&world)->model;
    for (int i = 0; i < model->vertexCount; ++i)
    {
        const snwVec3* segment = Work(&world)->segments + 2 * (size_t)model->bonds[i].bone;
        snwVec3 x = snwRow_Get(Work(&world)->state.positions, i);
        double distance = snwVec3_Distance(x, snwPbcd_NearestOnSegment(x, segment[0], segment[1]));
        CHECK(Work(&world)->state.held[i] || fabs(distance - (double)model->bonds[i].distance) < 0.01);
    }
    End(&world);
}

TEST(pbcd, complementLeavesNothingThatTheRigCouldDo)
{
    for (int kind = snw_pbcdRig; kind <= snw_pbcdAffine; ++kind)
    {
        const snwSetting settings[] = {{"pbcd.complement", kind}, {"pbcd.anchor", 0}, {NULL, 0}};
        World world = MakeRigged(0.8, 0.1, settings);
        double moved = 0.0;
        for (int i = 0; i < 30; ++i)
        {
            snwFixture_Run(world.sim, 1, world.dt);
            CHECK(snwPbcd_ComplementResidual(world.sim, 0) <= 1e-6);
            moved = fmax(moved, FarthestFrom(&world, Work(&world)->reference));
        }
        CHECK(moved > 0.003);
        End(&world);
    }
}

// The artist jumps two lengths away within a step: flesh goes along as it is, and slowly would have been torn.
TEST(pbcd, cutsCarryFleshOver)
{
    for (int cut = 0; cut < 2; ++cut)
    {
        const snwSetting settings[] = {{"pbcd.cut", cut ? 0.5 : 0.0}, {NULL, 0}};
        World world = MakeRigged(0.0, 0.0, settings);
        snwFixture_Run(world.sim, 5, world.dt);
        world.sim->starts[0].transform.position.x += 2.0;
        snwFixture_Run(world.sim, 1, world.dt);
        double off = FarthestFrom(&world, Work(&world)->reference);
        CHECK(cut ? off < 1e-5 : off > 0.05);
        CHECK(fabs((double)Work(&world)->state.velocities[0]) < 1e-3 || !cut);
        End(&world);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The frame

TEST(pbcd, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    const snwSimd sets[] = {snw_simdScalar, snw_simdBase, snw_simdAvx2, snw_simdAvx2};
    const int threads[] = {1, 1, 1, 3};
    for (int law = snw_pbcdNeo; law <= snw_pbcdStrain; ++law)
    {
        uint64_t hashes[4];
        for (int k = 0; k < 4; ++k)
        {
            snwContext* context = snwFixture_Context(threads[k], sets[k], NULL);
            const snwSetting settings[] = {{"pbcd.law", law}, {"pbcd.viscosity", 0.001}, {"pbcd.corrected", law == 2},
                {"pbcd.complement", snw_pbcdRig}, {"pbcd.commit", law == 1}, {"pbcd.relaxation", law == 1 ? 0.1 : 1},
                {"pbcd.iterations", law == 1 ? 1 : 6}, {NULL, 0}};
            snwCharacter* character = MakeMovingBar(context, 0.6, 0.1);
            snwRiggedScene scene = snwRigged_DefaultScene(character);
            scene.body.motion = "wave";
            World world = MakeWorld(context, character, settings, &scene);
            snwFixture_Run(world.sim, 8, world.dt);
            hashes[k] = snwSim_Hash(world.sim);
            End(&world);
        }
        for (int k = 1; k < 4; ++k)
            CHECK(hashes[k] == hashes[0]);
    }
}

// Everything is in the state: a restored sim goes on with the same bits, whatever its scratch held.
TEST(pbcd, restoredSimsGoOnAlike)
{
    for (int integrator = snw_pbcdEuler; integrator <= snw_pbcdTrapezoid; ++integrator)
    {
        const snwSetting settings[] = {{"pbcd.integrator", integrator}, {NULL, 0}};
        World world = MakeRigged(0.6, 0.1, settings);
        snwFixture_Run(world.sim, 5, world.dt);
        size_t size = snwSim_GetStateSize(world.sim);
        void* saved = malloc(size);
        REQUIRE(saved != NULL && snwSim_Save(world.sim, saved, size, &size, NULL) == snw_ok);
        snwFixture_Run(world.sim, 7, world.dt);
        uint64_t hash = snwSim_Hash(world.sim);
        REQUIRE(snwSim_Restore(world.sim, saved, size, NULL) == snw_ok);
        snwFixture_Run(world.sim, 7, world.dt);
        CHECK(snwSim_Hash(world.sim) == hash);
        free(saved);
        End(&world);
    }
}

TEST(pbcd, everyAllocationMayFail)
{
    const snwSetting settings[] = {{"pbcd.complement", snw_pbcdRig}, {"pbcd.bind", snw_pbcdDistance}};
    snwResult result = snw_errorMemory;
    for (long fail = 1; result != snw_ok; fail += 5)
    {
        snwCountingAllocator counter = {0};
        snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
        snwRiggedScene scene = snwRigged_DefaultScene(MakeMovingBar(context, 0.5, 0.1));
        scene.def.method = "pbcd";
        scene.def.settings = settings;
        scene.def.settingCount = 2;
        scene.def.bodies = &scene.body;
        snwScene* made = NULL;
        REQUIRE(snwCreateScene(context, &scene.def, &made, NULL) == snw_ok);
        snwSimDef def = snwDefaultSimDef();
        def.scene = made;
        snwSim* sim = NULL;
        counter.failAt = counter.allocations + fail;
        result = snwCreateSim(context, &def, &sim, NULL);
        counter.failAt = 0;
        CHECK(result == snw_ok || (result == snw_errorMemory && sim == NULL));
        snwDestroySim(sim);
        snwScene_Release(made);
        snwCharacter_Release(scene.character);
        snwDestroyContext(context);
        CHECK_INT(counter.live, 0);
    }
}
