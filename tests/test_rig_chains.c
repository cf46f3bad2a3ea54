#include "rig_world.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Rules and chains

TEST(rigfit, rulesAreMet)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwLinearTerm level[] = {{0, snw_dofY, 1}, {4, snw_dofY, -1}};
        snwLinearTerm rolling[] = {{1, snw_dofX, 1}, {1, snw_dofRotationZ, 0.05}, {3, snw_dofRotationZ, -0.02}};
        snwLinearTerm tilt = {2, dimension == 3 ? snw_dofRotationX : snw_dofRotationZ, 2};
        snwLinearConstraintDef constraints[] = {{level, 2, 0.02}, {rolling, 3, 0.1}, {&tilt, 1, 0.4}};
        snwRigWorld* world = snwRigWorld_New(context, dimension, 100, 5);
        world->constraints = constraints, world->constraintCount = 3;
        snwRigWorld_Finish(world);
        CHECK_INT(snwRigFit_RuleCount(world->model), 3);
        for (int trial = 0; trial < 30; ++trial)
        {
            snwRigWorld_Shake(world, 0.02);
            world->rules[0].value = 0.02 * snwTest_Signed(&world->seed);
            world->rules[1].on = trial % 3 != 0;
            world->targets[0].given = trial % 2 == 0 ? snw_dofY : 0;
            snwRigFitReport report = snwRigWorld_Fit(world);
            CHECK(report.gap < 1e-11);
            snwVec3 turns[5];
            for (int k = 0; k < 5; ++k)
                turns[k] = snwQuat_ToRotationVector(snwQuat_FromMat3(world->pose[k].linear));
            CHECK_NEAR(world->pose[0].place.y - world->pose[4].place.y, world->rules[0].value, 1e-11);
            double roll = world->pose[1].place.x + 0.05 * turns[1].z - 0.02 * turns[3].z - 0.1;
            if (world->rules[1].on)
                CHECK_NEAR(remainder(roll, 2 * SNW_PI * 0.02), 0, 1e-11);
            CHECK_NEAR(2 * (dimension == 3 ? turns[2].x : turns[2].z), 0.4, 1e-11);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// One part of a rotation, the others free.
TEST(rigfit, partsOfARotationAreMet)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = snwRigWorld_Simple(context, 3, 100, 4);
    for (int trial = 0; trial < 20; ++trial)
    {
        snwVec3 wanted = snwVec3_Scale(snwRigWorld_RandomVector(world), 0.8);
        world->targets[1].given = snw_dofRotationY, world->targets[2].given = snw_dofRotationX | snw_dofRotationZ;
        world->targets[1].rotation = world->targets[2].rotation = snwQuat_FromRotationVector(wanted);
        snwRigWorld_Shake(world, 0.02);
        for (int i = 0; i < 4; ++i)
            snwRigWorld_Fit(world);
        snwVec3 first = snwQuat_ToRotationVector(snwQuat_FromMat3(world->pose[1].linear));
        snwVec3 second = snwQuat_ToRotationVector(snwQuat_FromMat3(world->pose[2].linear));
        CHECK_NEAR(first.y, wanted.y, 1e-11);
        CHECK_NEAR(second.x, wanted.x, 1e-11);
        CHECK_NEAR(second.z, wanted.z, 1e-11);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

static snwVec3 PointOf(const snwRigWorld* world, int handle, snwVec3 point)
{
    snwVec3 arm = snwVec3_Sub(point, world->handles[handle].origin);
    return snwVec3_Add(snwMat3_MulVec(world->pose[handle].linear, arm), world->pose[handle].place);
}

// The widest joint, m.
static double WidestGap(const snwRigWorld* world)
{
    double widest = 0;
    for (int i = 0; i < world->linkCount; ++i)
    {
        const snwRigLinkDef* link = &world->links[i];
        snwVec3 parent = link->parent >= 0 ? PointOf(world, link->parent, link->joint) : link->joint;
        widest = fmax(widest, snwVec3_Distance(parent, PointOf(world, link->child, link->joint)));
    }
    return widest;
}

// Farthest beyond a range about the axis (-1: 2D, about z) and a cone, rad.
static double LimitExcess(const snwRigWorld* world, const snwJointDef* limits)
{
    double excess = 0;
    for (int i = 0; i < world->linkCount; ++i)
    {
        const snwRigLinkDef* link = &world->links[i];
        snwMat3 turn = snwMat3_TransposeMul(world->pose[link->parent].linear, world->pose[link->child].linear);
        snwQuat q = snwQuat_FromMat3(turn);
        double twist = 2 * atan2(q.x * limits->axis.x + q.y * limits->axis.y + q.z * limits->axis.z, q.w);
        twist = remainder(twist, 2 * SNW_PI);
        snwVec3 tilted = snwMat3_MulVec(turn, limits->axis);
        double swing = atan2(snwVec3_Length(snwVec3_Cross(limits->axis, tilted)), snwVec3_Dot(limits->axis, tilted));
        if (limits->lower <= limits->upper)
            excess = fmax(excess, fmax(limits->lower - twist, twist - limits->upper));
        if (limits->type == snw_jointHinge)
            excess = fmax(excess, swing);
        if (limits->type == snw_jointBall && world->dimension == 3)
            excess = fmax(excess, swing - limits->cone);
    }
    return excess;
}

TEST(rigfit, chainsKeepTheirLengthsOverManyDrags)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_NewChain(context, dimension, 5, NULL);
        double size = world->model->size;
        int repairs = 0;
        for (int trial = 0; trial < 500; ++trial)
        {
            snwRigWorld_Drag(world, trial);
            snwRigFitReport report = snwRigWorld_Fit(world);
            repairs += report.repairs;
            CHECK(WidestGap(world) <= 1e-10 * size);
        }
        CHECK(repairs < 4 * 500);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// The flat child of a two-part chain turned about its joint by this angle, its parent at rest.
static void TurnChild(snwRigWorld* world, double angle)
{
    const snwRigLinkDef* link = &world->links[0];
    snwVec3 arm = snwVec3_Sub(world->handles[link->child].origin, link->joint);
    snwQuat turn = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, angle);
    snwRigFit_Rest(world->model, world->pose, NULL, NULL);
    world->pose[link->child].linear = snwQuat_ToMat3(turn);
    world->pose[link->child].place = snwVec3_Add(link->joint, snwQuat_Rotate(turn, arm));
}

// How far the farthest vertex of flesh that is bent to 0.3 rad is pushed while its pose is at this angle, m.
static double PushAt(snwRigWorld* world, double angle)
{
    double farthest = 0;
    TurnChild(world, 0.3);
    snwRigWorld_SkinTo(world, world->x);
    TurnChild(world, angle);
    snwRigFit_Gather(world->context, world->model, world->scratch, world->x);
    CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
    float* before = calloc((size_t)world->vertexCount, 4 * sizeof *before);
    memcpy(before, world->x, (size_t)world->vertexCount * 4 * sizeof *before);
    snwRigFit_Apply(world->context, world->model, world->scratch, world->pose, world->x, NULL);
    for (int i = 0; i < world->vertexCount; ++i)
        farthest = fmax(
            farthest, (double)hypotf(world->x[4 * i] - before[4 * i], world->x[4 * i + 1] - before[4 * i + 1]));
    free(before);
    return farthest;
}

// A limit pushes flesh that has passed it, whether the pose is at the limit or a millionth before it: else flesh would
// go on until one lucky substep brings all of it back at once.
TEST(rigfit, limitsPushFromAMillionthBeforeThem)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.1, 0.1, SNW_PI);
    snwRigWorld* world = snwRigWorld_NewChain(context, 2, 2, &hinge);
    double at = PushAt(world, 0.1), before = PushAt(world, 0.1 - 1e-6);
    CHECK(at > 0.01 * world->model->size);
    CHECK_NEAR(before / at, 1.0, 1e-3);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

TEST(rigfit, limitsOfJointsAreNeverExceeded)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef flat = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, -1}, -0.3, 0.1, SNW_PI);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.2, 0.4, SNW_PI);
    snwJointDef ball = snwTest_Limits(snw_jointBall, (snwVec3){1, 0, 0}, -0.2, 0.2, 0.3);
    const snwJointDef* limits[] = {&flat, &hinge, &ball};
    for (int variant = 0; variant < 3; ++variant)
    {
        snwRigWorld* world = snwRigWorld_NewChain(context, variant == 0 ? 2 : 3, 4, limits[variant]);
        double worst = 0, widest = 0, nearest = 1;
        for (int trial = 0; trial < 300; ++trial)
        {
            snwRigWorld_Drag(world, trial);
            world->targets[3].given = 0;
            snwRigWorld_Fit(world);
            worst = fmax(worst, LimitExcess(world, limits[variant]));
            widest = fmax(widest, WidestGap(world));
            nearest = fmin(nearest, fabs(LimitExcess(world, limits[variant])));
        }
        CHECK(worst <= 1e-9);
        CHECK(widest <= 1e-10 * world->model->size);
        CHECK(nearest < 1e-9); // some were reached
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// What a row sees of turns, nothing of which is given.
static double SeenOf(const snwRigFitScratch* s, const snwRigRow* row)
{
    double seen = 0;
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
        for (int i = 0; i < 3; ++i)
            seen += s->terms[t].turn[i] * s->step.turns[s->fit->turnStart[s->terms[t].handle] + i];
    return seen;
}

// Far limits join a step only where it would pass them; none may be passed, and none pull.
TEST(rigfit, stepsStopAtFarLimits)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef ball = snwTest_Limits(snw_jointBall, (snwVec3){1, 0, 0}, -0.2, 0.2, 0.3);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 5, &ball);
    snwRigFitScratch* s = world->scratch;
    int reached = 0, left = 0;
    for (int trial = 0; trial < 20; ++trial)
    {
        snwRigWorld_Shake(world, 0.03);
        snwRigWorld_Fit(world);
        snwRigFit_Complement(world->model, s, &world->hold, world->pose);
        snwRigFit_MakeRows(world->model, s, &world->hold, world->pose);
        for (int i = 0; i < s->fit->n; ++i)
            s->right.turns[i] = 0.0005 * snwTest_Signed(&world->seed);
        snwRigFit_SolveTurns(world->model, s, world->pose, &(snwRigPush){1, 0, 0});
        for (int i = 0; i < s->rowCount; ++i)
        {
            const snwRigRow* row = &s->rows[i];
            CHECK(!row->atLeast || SeenOf(s, row) >= -row->error - 1e-9);
            reached += row->atLeast && row->error > 0.05 && SeenOf(s, row) < -row->error + 1e-9 ? 1 : 0;
            left += row->chosen ? 0 : 1;
        }
        for (int i = 0; i < s->kept.count; ++i)
            CHECK(!s->kept.rows[i].atLeast || s->kept.lambda[i] >= 0);
    }
    CHECK(reached > 5 && left > 5);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// Answers of a chain that nothing holds: internal forces.
TEST(rigfit, chainsAloneHaveNoMomentum)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_NewChain(context, dimension, 5, NULL);
        world->hold.compliance = 0.5;
        for (int trial = 0; trial < 10; ++trial)
        {
            snwRigWorld_Shake(world, 0.03);
            snwRigWorld_Fit(world);
            CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
            snwRigLiteral l = snwRigLiteral_New(world, world->pose);
            double *answer = calloc((size_t)l.rows, sizeof(double)), largest = 0, total = 0;
            snwVec3 momentum = {0}, spin = {0};
            snwRigWorld_AnswerOf(world, &l, answer);
            for (int i = 0; i < world->vertexCount; ++i)
            {
                snwVec3 dx = {answer[3 * i], answer[3 * i + 1], answer[3 * i + 2]};
                momentum = snwVec3_MulAdd(momentum, world->masses[i], dx);
                spin = snwVec3_MulAdd(
                    spin, world->masses[i], snwVec3_Cross(snwRigWorld_Skinned(world, world->pose, i), dx));
                largest = fmax(largest, snwVec3_Length(dx)), total += world->masses[i];
            }
            CHECK(largest > 1e-3);
            CHECK(snwVec3_Length(momentum) < 1e-9 * total * largest);
            CHECK(snwVec3_Length(spin) < 1e-9 * total * largest);
            free(answer);
            snwRigLiteral_Free(&l);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Both ends given, farther apart than the chain is long; then let go.
TEST(rigfit, chainsThatCannotReachStayCalm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_NewChain(context, dimension, 5, NULL);
        snwRigPose before[snw_mostHandles];
        world->targets[0].given = world->targets[4].given = snw_dofX | snw_dofY | snw_dofZ;
        for (int trial = 0; trial < 200; ++trial)
        {
            world->targets[4].place.x += 0.01;
            memcpy(before, world->pose, sizeof before);
            snwRigWorld_Fit(world);
            for (int k = 0; k < 4; ++k)
                CHECK(snwVec3_Distance(world->pose[k].place, before[k].place) < 0.2);
            CHECK(world->pose[4].place.x == world->targets[4].place.x);
            snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
            snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        }
        for (int i = 0; i < 4 * world->vertexCount; ++i)
            CHECK(i % 4 == 3 || fabsf(world->x[i]) < 10);
        world->targets[4].given = 0;
        for (int trial = 0; trial < 2500; ++trial)
        {
            snwRigWorld_Fit(world);
            snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
            snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        }
        CHECK(WidestGap(world) <= 1e-10 * world->model->size);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// 1/2 |x - xr|^2 and, for joints that are out of reach, springs of so many times all mass.
static double StrainEnergy(const snwRigWorld* world, double spring)
{
    double energy = 0, mass = 0;
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 x = {(double)world->x[4 * i], (double)world->x[4 * i + 1], (double)world->x[4 * i + 2]};
        snwVec3 away = snwVec3_Sub(x, snwRigWorld_Skinned(world, world->pose, i));
        away.z = world->dimension == 3 ? away.z : 0;
        energy += 0.5 * world->masses[i] * snwVec3_Dot(away, away), mass += world->masses[i];
    }
    for (int i = 0; i < world->linkCount; ++i)
    {
        const snwRigLinkDef* link = &world->links[i];
        snwVec3 gap = snwVec3_Sub(PointOf(world, link->parent, link->joint), PointOf(world, link->child, link->joint));
        energy += 0.5 * spring * mass * snwVec3_Dot(gap, gap);
    }
    return energy;
}

// By differences: how fast the energy changes as a handle moves along, or turns about, z or y.
static double Slope(snwRigWorld* world, double spring, int handle, int way)
{
    const double step = 1e-6;
    double energies[2];
    snwRigPose kept = world->pose[handle];
    for (int i = 0; i < 2; ++i)
    {
        double amount = i == 0 ? step : -step;
        if (way == 0)
            world->pose[handle].place.y += amount;
        else
            world->pose[handle].linear = snwMat3_Mul(
                snwQuat_ToMat3(snwQuat_FromRotationVector((snwVec3){0, 0, amount})), kept.linear);
        energies[i] = StrainEnergy(world, spring);
        world->pose[handle] = kept;
    }
    return (energies[0] - energies[1]) / (2 * step);
}

// Out of reach: flesh that does not move has one pose, and that is the least of what flesh and open joints cost.
TEST_HEAVY(rigfit, chainsOutOfReachSettleAtTheLeastEnergy)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_NewChain(context, dimension, 5, NULL);
        snwRigPose before[snw_mostHandles];
        double size = world->model->size, moved = 0, gap = 0;
        world->targets[0].given = world->targets[4].given = snw_dofX | snw_dofY | snw_dofZ;
        world->targets[4].place.x += 0.5 * size, world->targets[4].place.y += 0.1 * size;
        snwRigWorld_Shake(world, 0.02);
        for (int trial = 0; trial < 30000; ++trial)
        {
            memcpy(before, world->pose, sizeof before);
            gap = snwRigWorld_Fit(world).gap;
            CHECK(gap > 0.05);
        }
        for (int k = 0; k < 5; ++k)
            moved = fmax(moved, snwVec3_Distance(world->pose[k].place, before[k].place));
        CHECK(moved < 1e-6 * size);
        double widest = WidestGap(world), spring = 1e3 * 1e-4 / gap;
        double scale = spring * widest * world->model->mass;
        for (int k = 0; k < 5; ++k)
        {
            CHECK(k == 0 || k == 4 || fabs(Slope(world, spring, k, 0)) < 1e-5 * scale);
            CHECK(fabs(Slope(world, spring, k, 1)) < 1e-5 * scale * size);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Flesh that is swollen to three times its size, and turned: steps of Gauss and Newton go three times too far.
TEST(rigfit, swollenFleshDoesNotShakeTheRig)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_Simple(context, dimension, 60, 1);
        snwQuat turn = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, 0.9);
        snwVec3 centre = {0};
        double mass = 0;
        for (int i = 0; i < world->vertexCount; ++i)
            centre = snwVec3_MulAdd(centre, world->masses[i], world->rest[i]), mass += world->masses[i];
        centre = snwVec3_Scale(centre, 1 / mass);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 x = snwQuat_Rotate(turn, snwVec3_Scale(snwVec3_Sub(world->rest[i], centre), 3));
            world->x[4 * i] = (float)x.x, world->x[4 * i + 1] = (float)x.y, world->x[4 * i + 2] = (float)x.z;
        }
        for (int trial = 0; trial < 8; ++trial)
            snwRigWorld_Fit(world);
        CHECK_NEAR(atan2(world->pose[0].linear.m[1][0], world->pose[0].linear.m[0][0]), 0.9, 0.1);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// The paper's way: fitted as if there were no chain, then clamped and shifted from root to tail.
TEST(rigfit, repairedChainsAreShutAndWithinLimits)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef flat = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.1, 0.3, SNW_PI);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.2, 0.4, SNW_PI);
    snwJointDef ball = snwTest_Limits(snw_jointBall, (snwVec3){1, 0, 0}, -0.2, 0.2, 0.3);
    const snwJointDef* limits[] = {&flat, &hinge, &ball};
    for (int variant = 0; variant < 3; ++variant)
    {
        snwRigWorld* world = snwRigWorld_NewChain(context, variant == 0 ? 2 : 3, 4, limits[variant]);
        world->hold.chains = snw_rigChainsRepaired;
        for (int trial = 0; trial < 20; ++trial)
        {
            snwRigWorld_Drag(world, trial);
            world->targets[3].given = 0;
            snwRigWorld_Fit(world);
            CHECK(WidestGap(world) <= 1e-14);
            CHECK(LimitExcess(world, limits[variant]) <= 1e-12);
        }
        world->targets[0].given = 0;
        snwRigWorld_Fit(world);
        CHECK(!snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// A bone at the end of a chain that no vertex follows goes where the chain takes it.
TEST(rigfit, endBonesWithoutFleshFollowTheirChain)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_New(context, dimension, 100, 4);
        for (int i = 0; i < world->vertexCount; ++i)
            world->dense[4 * i + 2] += world->dense[4 * i + 3] + 0.01, world->dense[4 * i + 3] = 0;
        for (int k = 1; k < 4; ++k)
            world->links[world->linkCount++] = (snwRigLinkDef){k - 1, k, world->handles[k].origin, NULL};
        snwRigWorld_Finish(world);
        for (int trial = 0; trial < 20; ++trial)
        {
            snwRigWorld_Drag(world, trial);
            world->targets[3].given = 0;
            snwRigWorld_Fit(world);
            CHECK(WidestGap(world) <= 1e-10 * world->model->size);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}
