#include "base/hash.h"
#include "rig_world.h"

// ---------------------------------------------------------------------------------------------------------------------
// Singular rigs

// By mass: how far the flesh is from the rig, of how far it is from the rest pose.
static double DistanceFromRig(const snwRigWorld* world)
{
    double rig = 0, rest = 0;
    for (int i = 0; i < world->vertexCount; ++i)
        for (int d = 0; d < world->dimension; ++d)
        {
            double x = (double)world->x[4 * i + d];
            rig += world->masses[i] * pow(x - (double)world->rigged[4 * i + d], 2);
            rest += world->masses[i] * pow(x - snwTest_Component(world->rest[i], d), 2);
        }
    return sqrt(rig / rest);
}

// Whatever is given is given as in the rest pose. So that pose is always one that the rig could have.
static void CheckCalm(snwRigWorld* world)
{
    for (int trial = 0; trial < 40; ++trial)
    {
        snwRigWorld_Shake(world, 0.02);
        for (int k = 0; k < world->handleCount; ++k)
            world->targets[k].given = trial % 4 == 0   ? 0
                                      : trial % 4 == 1 ? snw_dofAll
                                                       : snwRigWorld_someGiven[(k + trial) % 6];
        snwRigWorld_Fit(world);
        snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
        snwRigFit_Apply(world->context, world->model, world->scratch, world->pose, world->x, world->rigged);
        CHECK(DistanceFromRig(world) < 1.05);
        for (int k = 0; k < world->handleCount; ++k)
        {
            CHECK(snwVec3_Distance(world->pose[k].place, world->handles[k].origin) < 1);
            CHECK_NEAR(snwMat3_Determinant(world->pose[k].linear), 1, 1e-12);
        }
        for (int i = 0; i < world->vertexCount; ++i)
            for (int d = 0; d < 3; ++d)
                CHECK(fabsf(world->x[4 * i + d]) < 2 && fabsf(world->rigged[4 * i + d]) < 2);
    }
}

// Handles without flesh do not keep others from coming to rest.
static void CheckRest(snwRigWorld* world)
{
    snwRigFitReport report = {0};
    for (int k = 0; k < world->handleCount; ++k)
        world->targets[k].given = 0;
    for (int i = 0; i < 100; ++i)
        report = snwRigWorld_Fit(world);
    CHECK(report.largest < 1e-9);
}

TEST(rigfit, singularRigsStayCalm)
{
    enum
    {
        noWeight,
        onePoint,
        twins,
        onALine,
        onePlace,
        kinds
    };
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 2 * kinds; ++variant)
    {
        int kind = variant / 2;
        snwRigWorld* world = snwRigWorld_New(context, 2 + variant % 2, 80, 4);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            double* w = world->dense + 4 * i;
            w[2] += 0.05;
            if (kind == noWeight || kind == onePoint)
                w[1] = kind == onePoint && i == 0 ? 1 : 0;
            if (kind == twins)
                w[3] = 2 * w[2];
            if (kind == onALine)
                world->rest[i].y = world->rest[i].z = 0.1;
        }
        for (int k = 0; k < 4 && kind == onePlace; ++k)
            world->handles[k].origin = world->handles[0].origin;
        if (kind == onePoint)
            world->handles[1].origin = world->rest[0];
        snwRigWorld_Finish(world);
        CheckCalm(world);
        if (kind == noWeight)
            CheckRest(world);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The way it is built

static uint64_t RunHash(int threads, snwSimd simd, int dimension, snwRigFreedom second)
{
    snwContext* context = snwFixture_Context(threads, simd, NULL);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.2, 0.4, SNW_PI);
    snwRigWorld* world = snwRigWorld_New(context, dimension, 1203, 6);
    world->handles[1].freedom = second;
    world->links[0] = (snwRigLinkDef){3, 4, world->handles[4].origin, &hinge}, world->linkCount = 1;
    snwRigWorld_Finish(world);
    uint64_t hash = 0;
    for (int trial = 0; trial < 4; ++trial)
    {
        snwRigWorld_Shake(world, 0.02);
        snwRigWorld_GiveSome(world);
        snwRigWorld_Fit(world);
        snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, world->rigged);
        hash = snwHash(world->pose, 6 * sizeof *world->pose, hash);
        hash = snwHash(world->x, 4 * 1203 * sizeof(float), hash);
        hash = snwHash(world->rigged, 4 * 1203 * sizeof(float), hash);
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
    return hash;
}

TEST(rigfit, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    for (int variant = 0; variant < 3; ++variant)
    {
        int dimension = variant == 2 ? 3 : 2;
        snwRigFreedom second = variant == 1 ? snw_rigAffine : snw_rigRigid;
        uint64_t hash = RunHash(1, snw_simdScalar, dimension, second);
        CHECK(hash == RunHash(1, snw_simdBase, dimension, second));
        CHECK(hash == RunHash(1, snw_simdAvx2, dimension, second));
        CHECK(hash == RunHash(2, snw_simdAuto, dimension, second));
        CHECK(hash == RunHash(4, snw_simdAuto, dimension, second));
    }
}

// What the scratch remembers from one call to the next makes no difference: only the pose is state.
TEST(rigfit, scratchIsNoState)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 4, NULL);
    for (int trial = 0; trial < 6; ++trial)
    {
        snwRigPose pose[snw_mostHandles];
        memcpy(pose, world->pose, sizeof pose);
        snwRigWorld_GiveSome(world);
        snwRigWorld_Shake(world, 0.02);
        snwRigHold hold = world->hold;
        snwRigWorld_Fit(world);
        snwRigFit_Complement(world->model, world->scratch, &hold, world->pose);
        snwRigWorld_CheckFresh(world, &hold, pose);
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// One fit after the other with the same things given, as in a simulation: what is kept of rows is what would be made.
TEST(rigfit, keptRowsAreThoseOfAFreshScratch)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef ball = snwTest_Limits(snw_jointBall, (snwVec3){1, 0, 0}, -0.2, 0.2, 0.3);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 4, &ball);
    int kept = 0;
    for (int trial = 0; trial < 40; ++trial)
    {
        snwRigPose pose[snw_mostHandles];
        memcpy(pose, world->pose, sizeof pose);
        snwRigWorld_Shake(world, trial % 8 == 7 ? 0.02 : 0.0005); // now and then a step comes to far limits
        world->targets[0].given = trial % 10 == 0 ? snw_dofX : snw_dofX | snw_dofY | snw_dofZ;
        world->targets[0].place = snwVec3_MulAdd(world->pose[0].place, 0.001, snwRigWorld_RandomVector(world));
        int version = world->scratch->fit->version;
        snwRigHold hold = world->hold;
        snwRigWorld_Fit(world);
        kept += world->scratch->fit->version == version ? 1 : 0;
        snwRigFit_Complement(world->model, world->scratch, &hold, world->pose);
        snwRigWorld_CheckFresh(world, &hold, pose);
    }
    CHECK(kept > 20);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

TEST(rigfit, palettesAreTheSkinning)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = snwRigWorld_New(context, 3, 10, 4);
    world->handles[3].freedom = snw_rigAffine;
    snwRigWorld_Finish(world);
    snwRigWorld_RandomPose(world, 1);
    double matrices[4][12];
    snwTransform transforms[4];
    snwRigFit_Matrices(world->model, world->pose, matrices);
    snwRigFit_Transforms(world->model, world->pose, transforms);
    for (int i = 0; i < 10; ++i)
    {
        snwVec3 p = world->rest[i], sum = {0};
        for (int k = 0; k < 4; ++k)
        {
            const double* m = matrices[k];
            snwVec3 moved = {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
            sum = snwVec3_MulAdd(sum, snwWeights_Get(world->weights, i, k), moved);
            if (k < 3)
                CHECK(snwVec3_Distance(moved, snwTransform_Apply(transforms[k], p)) < 1e-14);
        }
        CHECK(snwVec3_Distance(sum, snwRigWorld_Skinned(world, world->pose, i)) < 1e-14);
    }
    snwVec3 place = snwTransform_Apply(transforms[3], world->handles[3].origin);
    CHECK(snwVec3_Distance(place, world->pose[3].place) < 1e-14);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

TEST(rigfit, steadyCallsUseNoHeap)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, &counter);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 5, NULL);
    long before = counter.allocations;
    for (int trial = 0; trial < 10; ++trial)
    {
        snwRigWorld_Drag(world, trial);
        snwRigWorld_Fit(world);
        snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, world->rigged);
    }
    CHECK_INT(counter.allocations, before);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

TEST(rigfit, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    snwRigWorld* world = snwRigWorld_NewChain(context, 2, 3, NULL);
    snwRigFitDef def = snwRigWorld_Def(world);
    bool done = false;
    for (int i = 1; !done; ++i)
    {
        snwRigFit* model = NULL;
        snwRigFitScratch* scratch = NULL;
        long live = counter.live;
        counter.failAt = counter.allocations + i;
        snwResult result = snwRigFit_Create(context, &def, &model, NULL);
        if (result == snw_ok)
            result = snwRigFitScratch_Create(context, model, &scratch, NULL);
        done = result == snw_ok;
        CHECK(done || result == snw_errorMemory);
        counter.failAt = 0;
        snwRigFitScratch_Destroy(context, scratch);
        snwRigFit_Destroy(context, model);
        CHECK_INT(counter.live, live);
        REQUIRE(i < 400);
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

TEST(rigfit, nonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = snwRigWorld_Simple(context, 2, 10, 3);
    snwRigFitDef good = snwRigWorld_Def(world), bad[9];
    for (int i = 0; i < 9; ++i)
        bad[i] = good;
    snwVec3 rest[10];
    memcpy(rest, world->rest, sizeof rest);
    rest[4].x = NAN;
    double masses[10] = {1, 1, 1, -1};
    snwRigHandleDef affine[3] = {world->handles[0], world->handles[1], world->handles[2]};
    affine[1].freedom = snw_rigAffine;
    snwJointDef slide = snwTest_Limits(snw_jointPrismatic, (snwVec3){1, 0, 0}, 0, 1, 0);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, 0, 1, 0);
    snwRigLinkDef circle[] = {{0, 1, {0, 0, 0}, NULL}, {1, 0, {0, 0, 0}, NULL}},
                  twice[] = {{0, 1, {0, 0, 0}, NULL}, {2, 1, {0, 0, 0}, NULL}};
    snwRigLinkDef beyond = {0, 3, {0, 0, 0}, NULL}, sliding = {0, 1, {0, 0, 0}, &slide},
                  limited = {0, 1, {0, 0, 0}, &hinge};
    snwLinearTerm term = {0, snw_dofZ, 1};
    snwLinearConstraintDef constraint = {&term, 1, 0};
    bad[0].dimension = 4;
    bad[1].rest = rest;
    bad[2].masses = masses;
    bad[3].links = circle, bad[3].linkCount = 2;
    bad[4].links = twice, bad[4].linkCount = 2;
    bad[5].links = &beyond, bad[5].linkCount = 1;
    bad[6].links = &sliding, bad[6].linkCount = 1;
    bad[7].links = &limited, bad[7].linkCount = 1, bad[7].handles = affine;
    bad[8].constraints = &constraint, bad[8].constraintCount = 1;
    for (int i = 0; i < 9; ++i)
    {
        snwMessage message = {0};
        snwRigFit* model = NULL;
        CHECK_INT(snwRigFit_Create(context, &bad[i], &model, &message), snw_errorArgument);
        CHECK(model == NULL && message.text[0] != 0);
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}
