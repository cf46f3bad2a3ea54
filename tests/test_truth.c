// The ground truths of apd are right by themselves: derivatives, IPOPT's answers, the stored frames, the nunchuck.

#include "test.h"

#include "base/context.h"
#include "fixture.h"
#include "sim/character.h"
#include "truth.h"
#include "truth_file.h"
#include "truth_parts.h"

#include <stdlib.h>

static double Signed(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwVec3 RandomVec(uint64_t* seed, double size)
{
    return (snwVec3){size * Signed(seed), size * Signed(seed), size * Signed(seed)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Energy

static snwTruthTet RandomTet(uint64_t* seed, snwVec3 x[4])
{
    snwVec3 rest[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    snwQuat turn = snwQuat_FromRotationVector(RandomVec(seed, 2));
    snwMaterial material = {.density = 1000, .young = 1 + snwTest_Random(seed), .poisson = 0.45 * snwTest_Random(seed)};
    for (int a = 0; a < 4; ++a)
    {
        rest[a] = snwVec3_Add(rest[a], RandomVec(seed, 0.1));
        x[a] = snwQuat_Rotate(turn, snwVec3_Add(rest[a], RandomVec(seed, 0.2)));
    }
    return snwTruthTet_Make(rest, &material);
}

TEST(truth, tetDerivativesAreThoseOfItsEnergy)
{
    uint64_t seed = 12;
    const double e = 1e-5;
    for (int round = 0; round < 50; ++round)
    {
        snwVec3 x[4];
        double g[12], ahead[12], behind[12], h[12][12];
        snwTruthTet tet = RandomTet(&seed, x);
        snwTruthTet_Gradient(&tet, x, g);
        snwTruthTet_Hessian(&tet, x, h);
        for (int c = 0; c < 12; ++c)
        {
            double* coordinate = (double*)x + c;
            double at = *coordinate;
            *coordinate = at + e;
            double up = snwTruthTet_Energy(&tet, x);
            snwTruthTet_Gradient(&tet, x, ahead);
            *coordinate = at - e;
            double down = snwTruthTet_Energy(&tet, x);
            snwTruthTet_Gradient(&tet, x, behind);
            *coordinate = at;
            CHECK_NEAR(g[c], (up - down) / (2 * e), 1e-8);
            for (int d = 0; d < 12; ++d)
                CHECK_NEAR(h[d][c], (ahead[d] - behind[d]) / (2 * e), 1e-7);
        }
    }
}

TEST(truth, turnedTetHasNoEnergyAndAStretchedOneTheKnownOne)
{
    uint64_t seed = 3;
    snwVec3 rest[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, turned[4], longer[4];
    snwMaterial material = {.density = 1000, .young = 5, .poisson = 0.25}; // mu = 2, lambda = 2
    snwTruthTet tet = snwTruthTet_Make(rest, &material);
    snwQuat turn = snwQuat_FromRotationVector(RandomVec(&seed, 3));
    for (int a = 0; a < 4; ++a)
    {
        turned[a] = snwVec3_Add(snwQuat_Rotate(turn, rest[a]), (snwVec3){7, 8, 9});
        longer[a] = snwQuat_Rotate(turn, (snwVec3){1.5 * rest[a].x, rest[a].y, rest[a].z});
    }
    CHECK_NEAR(snwTruthTet_Energy(&tet, turned), 0, 1e-15);
    CHECK_NEAR(snwTruthTet_Energy(&tet, longer), (2 * 0.25 + 1 * 0.25) / 6, 1e-15);
}

// ---------------------------------------------------------------------------------------------------------------------
// A bar of 99 vertices: flesh, a bone, flesh, a bone, flesh

static snwCharacter* MakeBar(snwContext* context, snwJointType type)
{
    snwShapeDef shape = snwDefaultShapeDef(snw_shapeBar);
    shape.size = (snwVec3){1, 0.2, 0.2};
    shape.cells[0] = 10;
    shape.cells[1] = shape.cells[2] = 2;
    snwCharacter *flesh = NULL, *bar = NULL;
    if (snwCreateShape(context, &shape, &flesh, NULL) < 0)
        return NULL;
    snwCharacterDef def = *snwCharacter_GetDef(flesh);
    double middle = 0.5 * (flesh->lower.x + flesh->upper.x);
    int* bones = snwAllocArray(context, (size_t)def.tetCount, sizeof *bones);
    for (int e = 0; e < def.tetCount && bones != NULL; ++e)
    {
        double x = -middle;
        for (int a = 0; a < 4; ++a)
            x += 0.25 * def.vertices[def.tets[e][a]].x;
        bones[e] = x > -0.4 && x < -0.1 ? 0 : x > 0.1 && x < 0.4 ? 1 : -1;
    }
    snwVec3 centre = {middle, 0.5 * (flesh->lower.y + flesh->upper.y), 0.5 * (flesh->lower.z + flesh->upper.z)};
    snwBoneDef ends[2] = {snwDefaultBoneDef(), snwDefaultBoneDef()};
    ends[0].name = "left";
    ends[1].name = "right";
    ends[0].head = ends[1].head = centre;
    ends[0].tail = snwVec3_Add(centre, (snwVec3){-0.4, 0, 0});
    ends[1].tail = snwVec3_Add(centre, (snwVec3){0.4, 0, 0});
    snwJointDef joint = snwDefaultJointDef();
    joint.type = type;
    joint.parentBone = 0;
    joint.bone = 1;
    joint.position = centre;
    joint.axis = (snwVec3){0, 0.6, 0.8};
    def.elementBones = bones;
    def.bones = ends;
    def.boneCount = 2;
    def.joints = &joint;
    def.jointCount = 1;
    snwMessage message = {0};
    if (bones != NULL && snwCreateCharacter(context, &def, &bar, &message) < 0)
        fprintf(stderr, "%s: %s\n", message.place, message.text);
    snwFree(context, bones);
    snwCharacter_Release(flesh);
    return bar;
}

// Held at its left face, and at one vertex of the second bone if that is asked for.
static snwTruth* MakeBarTruth(const snwCharacter* bar, bool boneToo)
{
    bool held[128] = {0};
    int last = -1;
    for (int v = 0; v < bar->def.vertexCount; ++v)
    {
        held[v] = bar->def.vertices[v].x < bar->lower.x + 0.01;
        last = bar->vertexBones[v] == 1 ? v : last;
    }
    held[last] = boneToo;
    snwTruthDef def = {.character = bar, .held = held, .gravity = {0, -9.81, 1}, .step = 1.0 / 30};
    snwTruth* truth = NULL;
    return snwCreateTruth(bar->context, &def, &truth, NULL) < 0 ? NULL : truth;
}

typedef struct Derivatives
{
    snwTruth* truth;
    int n, m, count;
    double *x, *multipliers, *gradient, *other, *rows, *rows2, *values, *values2, *column;
    int *rowOf, *columnOf;
    snwVec3* work;
} Derivatives;

static double* Doubles(int count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

static Derivatives StartDerivatives(snwTruth* truth)
{
    int n = truth->variableCount, m = snwTruth_RowCount(truth);
    int count = snwTruth_Jacobian(truth, truth->start, (snwTruthEntries){0});
    return (Derivatives){truth, n, m, count, Doubles(n), Doubles(m), Doubles(n), Doubles(n), Doubles(m), Doubles(m),
        Doubles(count), Doubles(count), Doubles(n), calloc((size_t)count, sizeof(int)),
        calloc((size_t)count, sizeof(int)), calloc((size_t)truth->vertexCount, sizeof(snwVec3))};
}

static void EndDerivatives(Derivatives* d)
{
    void* all[] = {d->x, d->multipliers, d->gradient, d->other, d->rows, d->rows2, d->values, d->values2, d->column,
        d->rowOf, d->columnOf, d->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        free(all[i]);
}

// Gradient of f + multipliers * rows; rows too.
static void Lagrange(Derivatives* d, double* gradient, double* rows)
{
    snwTruth_Gradient(d->truth, d->x, d->work, gradient);
    snwTruth_Jacobian(d->truth, d->x, (snwTruthEntries){0, d->rowOf, d->columnOf, d->values2});
    for (int i = 0; i < d->count; ++i)
        gradient[d->columnOf[i]] += d->multipliers[d->rowOf[i]] * d->values2[i];
    snwTruth_Rows(d->truth, d->x, rows);
}

static void CheckColumn(Derivatives* d, int c, double e)
{
    double at = d->x[c];
    d->x[c] = at + e;
    double up = snwTruth_Value(d->truth, d->x, d->work);
    Lagrange(d, d->gradient, d->rows);
    d->x[c] = at - e;
    double down = snwTruth_Value(d->truth, d->x, d->work);
    Lagrange(d, d->other, d->rows2);
    d->x[c] = at;
    snwSparse* hessian = snwPattern_Matrix(d->truth->hessian);
    for (int i = 0; i < d->n; ++i)
        CHECK_NEAR(snwSparse_At(hessian, i, c), (d->gradient[i] - d->other[i]) / (2 * e), 1e-4);
    for (int i = 0; i < d->count; ++i) // what the Jacobian says is taken off: nothing may be left
        if (d->columnOf[i] == c)
            d->rows[d->rowOf[i]] -= 2 * e * d->values[i];
    for (int i = 0; i < d->m; ++i)
        CHECK_NEAR(d->rows[i], d->rows2[i], 1e-14);
    snwTruth_Gradient(d->truth, d->x, d->work, d->gradient);
    CHECK_NEAR(d->gradient[c], (up - down) / (2 * e), 1e-5);
}

TEST(truth, problemDerivativesAreThoseOfItsObjectiveAndRows)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* bar = MakeBar(context, snw_jointHinge);
    REQUIRE(bar != NULL);
    snwTruth* truth = MakeBarTruth(bar, true);
    REQUIRE(truth != NULL);
    CHECK_INT(truth->variableCount, 3 * (bar->elasticVertexCount - 9) + 24);
    CHECK_INT(snwTruth_RowCount(truth), 12 + 3 + 3 + 2);
    Derivatives d = StartDerivatives(truth);
    uint64_t seed = 5;
    for (int i = 0; i < d.n; ++i)
        d.x[i] = truth->start[i] + 0.01 * Signed(&seed);
    for (int i = 0; i < d.m; ++i)
        d.multipliers[i] = 100 * Signed(&seed);
    snwTruth_Hessian(truth, d.x, 1, d.multipliers, d.work);
    snwTruth_Jacobian(truth, d.x, (snwTruthEntries){0, d.rowOf, d.columnOf, d.values});
    for (int c = 0; c < d.n; ++c)
        CheckColumn(&d, c, 1e-6);
    EndDerivatives(&d);
    snwDestroyTruth(truth);
    snwCharacter_Release(bar);
    snwDestroyContext(context);
}

static double Orthonormality(const snwAffine* bones, int count)
{
    double worst = 0;
    for (int k = 0; k < count; ++k)
    {
        snwMat3 r = bones[k].linear;
        worst = fmax(worst, snwMat3_Norm(snwMat3_Sub(snwMat3_TransposeMul(r, r), snwMat3_Identity())));
        worst = fmax(worst, fabs(snwMat3_Determinant(r) - 1));
    }
    return worst;
}

// rad: by how much the joint's axis points elsewhere in its two bones.
static double AxisError(const snwCharacter* bar, const snwAffine* bones)
{
    snwVec3 axis = bar->def.joints[0].axis;
    return snwVec3_Distance(snwMat3_MulVec(bones[0].linear, axis), snwMat3_MulVec(bones[1].linear, axis));
}

// No way down: shaken flesh has a larger objective.
static void CheckIsLeast(const snwTruth* truth, const snwTruthState* state, double objective, uint64_t* seed)
{
    snwVec3 shaken[128];
    CHECK_NEAR(snwTruth_Objective(truth, state->positions), objective, 1e-10 * objective);
    for (int round = 0; round < 10; ++round)
    {
        for (int v = 0; v < truth->vertexCount; ++v)
            shaken[v] = truth->firsts[v] < 0 ? state->positions[v]
                                             : snwVec3_Add(state->positions[v], RandomVec(seed, 1e-4 * (round + 1)));
        CHECK(snwTruth_Objective(truth, shaken) > objective);
    }
}

static void RunBar(snwJointType type)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* bar = MakeBar(context, type);
    snwTruth* truth = MakeBarTruth(bar, false);
    snwTruthState states[3];
    uint64_t seed = 77;
    for (int i = 0; i < 3; ++i)
        REQUIRE(snwTruthState_Create(context, bar, &states[i], NULL) == snw_ok);
    for (int step = 0; step < 6; ++step)
    {
        snwTruthReport report;
        snwTruth_SetStates(truth, &states[0], &states[1]);
        REQUIRE(snwTruth_Solve(truth, &states[2], &report, NULL) == snw_ok);
        CHECK(report.residual < 1e-9);
        CHECK(report.violation < 1e-11);
        CHECK(Orthonormality(states[2].bones, 2) < 1e-10);
        CHECK(snwTruth_JointGap(bar, states[2].bones) < 1e-11);
        CHECK(type != snw_jointHinge || AxisError(bar, states[2].bones) < 1e-10);
        CheckIsLeast(truth, &states[2], report.objective, &seed);
        snwTruthState_Copy(bar, &states[1], &states[0]);
        snwTruthState_Copy(bar, &states[2], &states[1]);
    }
    CHECK(states[1].bones[1].translation.y < -0.005); // it has moved, and the joint is bent
    snwMat3 bend = snwMat3_TransposeMul(states[1].bones[0].linear, states[1].bones[1].linear);
    CHECK(snwMat3_Trace(bend) < 3 - 1e-4);
    CHECK(type != snw_jointBall || AxisError(bar, states[1].bones) > 1e-4); // so the hinge's check can fail
    for (int i = 0; i < 3; ++i)
        snwTruthState_Free(context, &states[i]);
    snwDestroyTruth(truth);
    snwCharacter_Release(bar);
    snwDestroyContext(context);
}

TEST_HEAVY(truth, ipoptSolvesABarWithABallJoint)
{
    if (!snwTruth_IsAvailable())
        SKIP("IPOPT is not on this machine (make bench-deps)");
    RunBar(snw_jointBall);
}

TEST(truth, ipoptSolvesABarWithAHinge)
{
    if (!snwTruth_IsAvailable())
        SKIP("IPOPT is not on this machine (make bench-deps)");
    RunBar(snw_jointHinge);
}

TEST(truth, outOfMemoryIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwCharacter* bar = MakeBar(context, snw_jointBall);
    REQUIRE(bar != NULL);
    long live = counter.live;
    bool failed = true;
    for (int n = 1; failed; ++n)
    {
        snwTruthDef def = {.character = bar, .gravity = {0, -1, 0}, .step = 0.1};
        snwTruth* truth = NULL;
        counter.failAt = counter.allocations + n;
        snwResult result = snwCreateTruth(context, &def, &truth, NULL);
        failed = result == snw_errorMemory;
        CHECK(failed == (truth == NULL));
        snwDestroyTruth(truth);
        CHECK_INT(counter.live, live);
    }
    counter.failAt = 0;
    snwCharacter_Release(bar);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stored cantilevers

// What the joints and the pin still allow, as motions of both bones: dR = [w]x R and dz = w x (z - about) + along.
typedef struct Motion
{
    bool moves[2];
    snwVec3 about, turn, along;
} Motion;

static double Slope(const snwTruth* truth, const double* x, const double* gradient, const Motion* motion)
{
    double slope = 0;
    for (int k = 0; k < truth->boneCount; ++k)
    {
        int first = snwTruth_BoneFirst(truth, k);
        const double *t = x + first, *g = gradient + first;
        for (int j = 0; j < 3 && motion->moves[k]; ++j)
        {
            snwVec3 d = snwVec3_Cross(motion->turn, (snwVec3){t[j], t[3 + j], t[6 + j]});
            slope += d.x * g[j] + d.y * g[3 + j] + d.z * g[6 + j];
        }
        snwVec3 z = {t[9], t[10], t[11]};
        snwVec3 d = snwVec3_Add(snwVec3_Cross(motion->turn, snwVec3_Sub(z, motion->about)), motion->along);
        slope += motion->moves[k] ? d.x * g[9] + d.y * g[10] + d.z * g[11] : 0;
    }
    return slope;
}

static double LargestSlope(const snwTruth* truth, const snwTruthState* state, const double* x, const double* gradient)
{
    if (truth->boneCount == 0)
        return 0;
    const snwJointDef* joint = &truth->character->def.joints[0];
    bool pinned = truth->pointCount > 1;
    snwVec3 about = snwAffine_Apply(state->bones[0], joint->position);
    snwVec3 pin = pinned ? truth->points[1].world : about;
    double worst = 0;
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 axis = {i == 0, i == 1, i == 2}, none = {0, 0, 0};
        Motion motions[3] = {
            {{false, true}, about, axis, none}, {{true, true}, pin, axis, none}, {{true, true}, about, none, axis}};
        for (int m = 0; m < (pinned ? 2 : 3); ++m)
            worst = fmax(worst, fabs(Slope(truth, x, gradient, &motions[m])));
    }
    return worst;
}

// Without IPOPT: nothing that is free feels a force, so the last frame is the step's minimum.
static void CheckStationary(const snwCantileverTruth* kept, snwCantilever version)
{
    snwTruth* truth = NULL;
    REQUIRE(snwCantilever_CreateTruth(kept->character, version, &truth, NULL) == snw_ok);
    Derivatives d = StartDerivatives(truth);
    snwTruth_SetStates(truth, &kept->frames[0], &kept->frames[1]);
    snwTruth_ToVariables(truth, &kept->frames[2], d.x);
    snwTruth_Gradient(truth, d.x, d.work, d.gradient);
    double worst = 0, start = 0;
    for (int i = 0; i < truth->variableCount - 12 * truth->boneCount; ++i)
        worst = fmax(worst, fabs(d.gradient[i]));
    CHECK(worst < 1e-8); // N
    CHECK(LargestSlope(truth, &kept->frames[2], d.x, d.gradient) < 1e-7);
    snwTruth_Gradient(truth, truth->start, d.work, d.gradient);
    for (int i = 0; i < truth->variableCount - 12 * truth->boneCount; ++i)
        start = fmax(start, fabs(d.gradient[i]));
    CHECK(fmax(start, LargestSlope(truth, &kept->frames[1], truth->start, d.gradient)) > 1); // the test could fail
    EndDerivatives(&d);
    snwDestroyTruth(truth);
}

static void CheckEnergies(const snwCantileverTruth* kept)
{
    double start = kept->energies[0][0] + kept->energies[0][1] + kept->energies[0][2], before = start;
    for (int i = 1; i <= snw_cantileverFrames; ++i)
    {
        double now = kept->energies[i][0] + kept->energies[i][1] + kept->energies[i][2];
        CHECK(now < before); // backward Euler loses some in every step
        before = now;
    }
}

static snwCharacter* MakeBuiltIn(snwContext* context)
{
    snwCharacter* builtIn = NULL;
    snwMessage message = {0};
    if (snwCantilever_CreateBuiltIn(context, &builtIn, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    return builtIn;
}

TEST_HEAVY(truth, storedCantileversAreMinima)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* builtIn = MakeBuiltIn(context);
    REQUIRE(builtIn != NULL);
    for (int version = 0; version < snw_cantileverCount; ++version)
    {
        snwCantileverTruth kept;
        snwMessage message = {0};
        snwResult result = snwCantileverTruth_Load(builtIn, (snwCantilever)version, &kept, &message);
        if (result < 0)
            fprintf(stderr, "%s: %s\n", message.file, message.text);
        REQUIRE(result == snw_ok);
        CHECK_INT(kept.character->def.boneCount, version == snw_cantileverSoft ? 0 : 2);
        CHECK(version != snw_cantileverRigid || kept.character->elasticVertexCount == 0);
        for (int i = 0; i < snw_cantileverKept; ++i)
        {
            CHECK(Orthonormality(kept.frames[i].bones, kept.character->def.boneCount) < 1e-10);
            CHECK(snwTruth_JointGap(kept.character, kept.frames[i].bones) < 1e-10);
        }
        CheckStationary(&kept, (snwCantilever)version);
        CheckEnergies(&kept);
        snwCantileverTruth_Close(&kept);
    }
    snwCharacter_Release(builtIn);
    snwDestroyContext(context);
}

TEST_HEAVY(truth, ipoptGivesTheStoredFrameAgain)
{
    if (!snwTruth_IsAvailable())
        SKIP("IPOPT is not on this machine (make bench-deps)");
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* builtIn = MakeBuiltIn(context);
    REQUIRE(builtIn != NULL);
    snwCantileverTruth kept;
    snwTruth* truth = NULL;
    snwTruthState next;
    snwTruthReport report;
    REQUIRE(snwCantileverTruth_Load(builtIn, snw_cantileverMixed, &kept, NULL) == snw_ok);
    REQUIRE(snwCantilever_CreateTruth(kept.character, snw_cantileverMixed, &truth, NULL) == snw_ok);
    REQUIRE(snwTruthState_Create(context, kept.character, &next, NULL) == snw_ok);
    snwTruth_SetStates(truth, &kept.frames[0], &kept.frames[1]);
    REQUIRE(snwTruth_Solve(truth, &next, &report, NULL) == snw_ok);
    double worst = 0;
    for (int v = 0; v < kept.character->def.vertexCount; ++v)
        worst = fmax(worst, snwVec3_Distance(next.positions[v], kept.frames[2].positions[v]));
    CHECK(worst < 1e-9);
    snwTruthState_Free(context, &next);
    snwDestroyTruth(truth);
    snwCantileverTruth_Close(&kept);
    snwCharacter_Release(builtIn);
    snwDestroyContext(context);
}

TEST(truth, damagedAndForeignFilesAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* builtIn = MakeBuiltIn(context);
    REQUIRE(builtIn != NULL);
    snwCantileverTruth rigid;
    REQUIRE(snwCantileverTruth_Load(builtIn, snw_cantileverRigid, &rigid, NULL) == snw_ok);
    unsigned char* data = NULL;
    size_t size = 0;
    snwMessage message = {0};
    REQUIRE(snwCantileverTruth_Encode(&rigid, &data, &size, NULL) == snw_ok);
    CHECK(snwCantileverTruth_Decode(&rigid, data, size, NULL) == snw_ok);
    for (size_t i = 0; i < size; i += 7)
    {
        data[i] ^= 16;
        CHECK(snwCantileverTruth_Decode(&rigid, data, size, NULL) == snw_errorInput);
        CHECK(snwCantileverTruth_Decode(&rigid, data, i, NULL) == snw_errorInput);
        data[i] ^= 16;
    }
    // Another mesh: by a milligram, then by its bones.
    int last = rigid.character->def.vertexCount - 1;
    rigid.character->masses[last] += 1e-6;
    CHECK(snwCantileverTruth_Decode(&rigid, data, size, &message) == snw_errorInput);
    rigid.character->masses[last] -= 1e-6;
    rigid.character->vertexBones[last] ^= 1;
    CHECK(snwCantileverTruth_Decode(&rigid, data, size, &message) == snw_errorInput);
    rigid.character->vertexBones[last] ^= 1;
    CHECK_CONTAINS(message.text, "no longer the one");
    CHECK_CONTAINS(message.remedy, "--regenerate-truth");
    snwFree(context, data);
    snwCantileverTruth_Close(&rigid);
    snwCharacter_Release(builtIn);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The nunchuck

// A flat bar of 15 equal points, 2 wide and 4 long, that hangs from `top`.
static snwTruthBody MakeFlatBar(snwVec3 top)
{
    snwVec3 points[15];
    double masses[15];
    for (int i = 0; i < 15; ++i)
    {
        points[i] = snwVec3_Add(top, (snwVec3){i / 5 - 1, -(i % 5), 0});
        masses[i] = 1;
    }
    return snwTruthBody_FromPoints(points, masses, 15);
}

static snwNunchuckDef MakeFlatNunchuck(void)
{
    snwQuat turned = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, SNW_PI / 2);
    return (snwNunchuckDef){
        .bodies = {MakeFlatBar((snwVec3){0, 0, 0}), MakeFlatBar((snwVec3){0, -4, 0})},
        .joint = {0, -4, 0},
        .gravity = {0, -9.81, 0},
        .start = {turned, turned},
        .tolerance = 1e-10,
    };
}

static double AngleInThePlane(snwAffine bone)
{
    return atan2(bone.linear.m[1][0], bone.linear.m[0][0]);
}

// The same two bars as a double pendulum in its two angles, integrated by scipy's DOP853 to 1e-12.
TEST_HEAVY(truth, flatNunchuckIsTheDoublePendulum)
{
    static const double times[2] = {0.5, 1},
                        angles[2][2] = {{1.239876594149, 1.592006191453}, {0.462556664075, 1.179253590021}};
    snwNunchuckDef def = MakeFlatNunchuck();
    snwNunchuckReport report;
    snwAffine bones[4];
    REQUIRE(snwNunchuck_Solve(&def, times, 2, bones, &report, NULL) == snw_ok);
    for (int i = 0; i < 2; ++i)
    {
        for (int k = 0; k < 2; ++k)
            CHECK_NEAR(AngleInThePlane(bones[2 * i + k]), angles[i][k], 1e-10);
        snwVec3 end = {4 * sin(angles[i][0]), -4 * cos(angles[i][0]), 0};
        CHECK(snwVec3_Distance(snwAffine_Apply(bones[2 * i], def.joint), end) < 1e-9);
        CHECK(snwVec3_Distance(snwAffine_Apply(bones[2 * i + 1], def.joint), end) < 1e-9);
    }
}

// Two bars of three different moments, turned about slanted axes: nothing stays in a plane.
static snwNunchuckDef MakeSlantedNunchuck(void)
{
    snwVec3 points[2][8];
    double masses[8];
    for (int i = 0; i < 8; ++i)
    {
        snwVec3 corner = {i & 1 ? 0.2 : -0.2, i & 2 ? 0.1 : -0.1, i & 4 ? 0.07 : -0.07};
        points[0][i] = snwVec3_Add(corner, (snwVec3){-0.22, 0.1, 0});
        points[1][i] = snwVec3_Add(corner, (snwVec3){0.22, 0.1, 0});
        masses[i] = 1 + 0.1 * i;
    }
    return (snwNunchuckDef){
        .bodies = {snwTruthBody_FromPoints(points[0], masses, 8), snwTruthBody_FromPoints(points[1], masses, 8)},
        .pin = {-0.42, 0.2, 0.07},
        .joint = {0, 0.1, 0},
        .gravity = {0, -9.81, 0},
        .start = {snwQuat_Identity(), snwQuat_FromRotationVector((snwVec3){0.3, -0.5, 0.2})},
        .tolerance = 1e-9,
    };
}

TEST_HEAVY(truth, nunchuckKeepsEnergyMomentumAndJoints)
{
    snwNunchuckDef def = MakeSlantedNunchuck();
    snwNunchuckReport report;
    double times[20];
    snwAffine bones[40];
    for (int i = 0; i < 20; ++i)
        times[i] = 0.05 * (i + 1);
    REQUIRE(snwNunchuck_Solve(&def, times, 20, bones, &report, NULL) == snw_ok);
    CHECK(report.energyScale > 1);
    CHECK(report.energyChange < 1e-8 * report.energyScale);
    CHECK(report.momentum < 1e-8 * report.momentumScale); // gyroscopic torque does no work: only this sees it
    CHECK(report.drift < 1e-9);                           // of one step, before it is closed
    double outOfPlane = 0;
    for (int i = 0; i < 20; ++i)
    {
        CHECK(snwVec3_Distance(snwAffine_Apply(bones[2 * i], def.pin), def.pin) < 1e-12);
        snwVec3 ends[2] = {snwAffine_Apply(bones[2 * i], def.joint), snwAffine_Apply(bones[2 * i + 1], def.joint)};
        CHECK(snwVec3_Distance(ends[0], ends[1]) < 1e-12);
        CHECK(Orthonormality(bones + 2 * i, 2) < 1e-12);
        outOfPlane = fmax(outOfPlane, fabs(ends[0].z));
    }
    CHECK(outOfPlane > 0.01);
}

// Fourth order: an error of 2^-4 with half the step. With no halving asked for, the first pair of runs is the result.
TEST_HEAVY(truth, nunchuckConvergesAtFourthOrder)
{
    snwNunchuckDef def = MakeSlantedNunchuck();
    double time = 1, changes[3];
    for (int i = 0; i < 3; ++i)
    {
        snwAffine bones[2];
        snwNunchuckReport report;
        def.tolerance = i == 0 ? 1 : changes[i - 1] * 0.9; // one pair more each time
        REQUIRE(snwNunchuck_Solve(&def, &time, 1, bones, &report, NULL) == snw_ok);
        changes[i] = report.change;
    }
    CHECK_NEAR(log2(changes[1] / changes[2]), 4, 0.5);
    snwMessage message;
    double never[2] = {1, 1};
    CHECK(snwNunchuck_Solve(&def, never, 2, NULL, NULL, &message) == snw_errorArgument);
}

TEST(truth, nunchuckOfACharacterHasItsBones)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* bar = MakeBar(context, snw_jointBall);
    REQUIRE(bar != NULL);
    int corner = snwNunchuck_Corner(bar);
    snwNunchuckDef def = snwNunchuck_FromCharacter(bar, corner);
    snwVec3 p = bar->def.vertices[corner];
    CHECK_INT(bar->vertexBones[corner], 0);
    CHECK_NEAR(p.x, bar->lower.x + 0.1, 1e-12);
    CHECK_NEAR(p.y, bar->upper.y, 1e-12);
    CHECK_NEAR(p.z, bar->upper.z, 1e-12);
    for (int k = 0; k < 2; ++k)
    {
        double mass = 0;
        snwVec3 first = {0, 0, 0};
        snwMat3 inertia = {0};
        for (int v = 0; v < bar->def.vertexCount; ++v)
            if (bar->vertexBones[v] == k)
            {
                snwMat3 skew = snwMat3_Skew(snwVec3_Sub(bar->def.vertices[v], def.bodies[k].centre));
                mass += bar->masses[v];
                first = snwVec3_MulAdd(first, bar->masses[v], bar->def.vertices[v]);
                inertia = snwMat3_Add(inertia, snwMat3_Scale(snwMat3_TransposeMul(skew, skew), bar->masses[v]));
            }
        CHECK_NEAR(def.bodies[k].mass, mass, 1e-12 * mass);
        CHECK(snwVec3_Distance(snwVec3_Scale(first, 1 / mass), def.bodies[k].centre) < 1e-12);
        CHECK(snwMat3_Norm(snwMat3_Sub(inertia, def.bodies[k].inertia)) < 1e-12 * mass);
    }
    CHECK_NEAR(def.tolerance, 1e-9 * sqrt(1.08), 1e-12);
    snwCharacter_Release(bar);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// A driven hinge

TEST(truth, drivenHingeFollowsItsClosedForms)
{
    double angle, rate;
    // Without gravity: a damped oscillator about its target.
    snwDrivenHingeDef spring = {.inertia = 2, .stiffness = 50, .damping = 4, .target = 0.3, .angle = 1};
    snwDrivenHinge_Solve(&spring, 1.5, &angle, &rate);
    double decay = 4 / (2 * 2.0), omega = sqrt(50 / 2.0 - decay * decay);
    double expected = 0.3 + 0.7 * exp(-decay * 1.5) * (cos(omega * 1.5) + decay / omega * sin(omega * 1.5));
    CHECK_NEAR(angle, expected, 1e-10);
    // A target that moves on is followed at a distance of damping * speed / stiffness.
    spring.speed = 0.5;
    snwDrivenHinge_Solve(&spring, 40, &angle, &rate);
    CHECK_NEAR(angle, 0.3 + 0.5 * 40 - 4 * 0.5 / 50, 1e-9);
    CHECK_NEAR(rate, 0.5, 1e-9);
    // A free pendulum keeps its energy: from a right angle to the bottom and up again.
    snwDrivenHingeDef pendulum = {.inertia = 3, .torque = 7, .bottom = 0.2, .angle = 0.2 + SNW_PI / 2};
    snwDrivenHinge_Solve(&pendulum, 2.2, &angle, &rate);
    CHECK_NEAR(0.5 * 3 * rate * rate, 7 * cos(angle - 0.2), 1e-9);
    CHECK(angle < 0.2);
}
