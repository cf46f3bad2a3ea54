// Chains in reduced coordinates (rig_tree.h), against the same rig in all of its coordinates.

#include "rig_world.h"

#include <math.h>
#include <string.h>

enum
{
    snw_treeHandles = 7
};

// 0 - 1 - 2 with 3 and 4 hanging on 1, and 5 - 6 by themselves; links in no order.
static snwRigWorld* NewTree(snwContext* context, int dimension, const snwJointDef* limits)
{
    static const int pairs[][2] = {{1, 2}, {1, 4}, {0, 1}, {5, 6}, {1, 3}};
    snwRigWorld* world = snwRigWorld_New(context, dimension, 200, snw_treeHandles);
    for (int i = 0; i < 5; ++i)
    {
        const snwRigHandleDef *parent = &world->handles[pairs[i][0]], *child = &world->handles[pairs[i][1]];
        snwVec3 joint = snwVec3_Lerp(parent->origin, child->origin, 0.3);
        joint.y += 0.02 * i;
        world->links[world->linkCount++] = (snwRigLinkDef){pairs[i][0], pairs[i][1], joint, limits};
    }
    snwRigWorld_Finish(world);
    return world;
}

static double WidestOf(const snwRigWorld* world)
{
    return snwRigFit_WidestJoint(world->model, world->pose) / world->model->size;
}

// A pose whose joints are shut, and trees rooted for what is given.
static void Prepare(snwRigWorld* world, double size)
{
    snwRigFitScratch* s = world->scratch;
    snwRigFit_Rest(world->model, world->pose, NULL, NULL);
    snwRigTree_Choose(world->model, &s->tree, world->targets);
    snwRigTree_Plant(world->model, &s->tree);
    for (int k = 0; k < world->handleCount; ++k)
    {
        snwQuat turn = snwRigWorld_RandomTurn(world, size);
        if (world->dimension == 2)
            turn = snwQuat_FromRotationVector((snwVec3){0, 0, size * snwTest_Signed(&world->seed)});
        world->pose[k].linear = snwQuat_ToMat3(turn);
    }
    snwRigTree_Place(world->model, &s->tree, world->pose);
}

// Any numbers: moves of roots, linear parts of all.
static void RandomMotion(snwRigWorld* world, const snwRigPlanes* motion)
{
    for (int a = 0; a < world->dimension; ++a)
        for (int k = 0; k < world->handleCount; ++k)
        {
            motion->moves[a][k] = world->scratch->tree.parent[k] < 0 ? snwTest_Signed(&world->seed) : 0;
            for (int b = 0; b < world->dimension; ++b)
                motion->linear[a][b][k] = snwTest_Signed(&world->seed);
        }
}

static double Dot(const snwRigWorld* world, const snwRigPlanes* x, const snwRigPlanes* y)
{
    double sum = 0;
    for (int a = 0; a < world->dimension; ++a)
        for (int k = 0; k < world->handleCount; ++k)
        {
            sum += x->moves[a][k] * y->moves[a][k];
            for (int b = 0; b < world->dimension; ++b)
                sum += x->linear[a][b][k] * y->linear[a][b][k];
        }
    return sum;
}

// y^T M x by the trees' own moments.
static double ByMoments(const snwRigWorld* world, const snwRigPlanes* x, const snwRigPlanes* y)
{
    const snwRigMoments* m = &world->scratch->tree.moments;
    double sum = 0;
    for (int a = 0; a < world->dimension; ++a)
        for (int l = 0; l < world->handleCount; ++l)
            for (int k = 0; k < world->handleCount; ++k)
            {
                int at = l * world->model->stride + k;
                sum += y->moves[a][l] * m->p0[at] * x->moves[a][k];
                for (int b = 0; b < world->dimension; ++b)
                {
                    sum += y->linear[a][b][l] * m->p1[b][at] * x->moves[a][k];
                    sum += y->moves[a][l] * m->p1Back[b][at] * x->linear[a][b][k];
                    for (int c = 0; c < world->dimension; ++c)
                        sum += y->linear[a][b][l] * m->p2[b][c][at] * x->linear[a][c][k];
                }
            }
    return sum;
}

static void ClearForces(const snwRigWorld* world, const snwRigPlanes* forces)
{
    for (int a = 0; a < world->dimension; ++a)
    {
        memset(forces->moves[a], 0, (size_t)world->model->stride * sizeof(double));
        for (int b = 0; b < world->dimension; ++b)
            memset(forces->linear[a][b], 0, (size_t)world->model->stride * sizeof(double));
    }
}

// M of the trees is S^T M S, wherever they are rooted.
TEST(rigfit, momentsOfTreesAreThoseOfTheirHandles)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
        for (int given = -1; given < snw_treeHandles; ++given)
        {
            snwRigWorld* world = NewTree(context, dimension, NULL);
            snwRigFitScratch* s = world->scratch;
            if (given >= 0)
                world->targets[given].given = snw_dofX | snw_dofY | snw_dofZ;
            Prepare(world, 1);
            CHECK(given < 0 || s->tree.parent[given] < 0);
            RandomMotion(world, &s->pose);
            RandomMotion(world, &s->before);
            double by = ByMoments(world, &s->pose, &s->before), least = ByMoments(world, &s->pose, &s->pose);
            snwRigTree_Expand(
                world->model, &s->tree, (double* const(*)[3])s->pose.linear, (double* const*)s->pose.moves);
            ClearForces(world, &s->forces);
            snwRigFit_Subtract(world->model, s->fit->kernels, &s->pose, &s->forces);
            snwRigTree_Reduce(world->model, &s->tree, &s->forces, &s->reduced);
            CHECK_NEAR(-Dot(world, &s->reduced, &s->before), by, 1e-13 * (fabs(by) + least));
            CHECK(least > 0);
            snwRigWorld_Free(world);
        }
    snwDestroyContext(context);
}

// Places move as the motion of the handles says, and stay together.
TEST(rigfit, treesMoveAsTheirHandlesDo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = NewTree(context, dimension, NULL);
        snwRigFitScratch* s = world->scratch;
        const double step = 1e-6;
        world->targets[4].given = snw_dofX | snw_dofY;
        Prepare(world, 1);
        CHECK(WidestOf(world) < 1e-15);
        RandomMotion(world, &s->pose);
        snwRigTree_Expand(world->model, &s->tree, (double* const(*)[3])s->pose.linear, (double* const*)s->pose.moves);
        snwRigPose moved[snw_treeHandles];
        memcpy(moved, world->pose, sizeof moved);
        for (int k = 0; k < snw_treeHandles; ++k)
        {
            for (int i = 0; i < dimension * dimension; ++i)
                moved[k].linear.m[i / dimension][i % dimension] += step *
                                                                   s->pose.linear[i / dimension][i % dimension][k];
            if (s->tree.parent[k] >= 0)
                continue;
            moved[k].place.x += step * s->pose.moves[0][k], moved[k].place.y += step * s->pose.moves[1][k];
            moved[k].place.z += dimension == 3 ? step * s->pose.moves[2][k] : 0;
        }
        snwRigTree_Place(world->model, &s->tree, moved);
        for (int k = 0; k < snw_treeHandles; ++k)
            for (int a = 0; a < dimension; ++a)
            {
                double way = snwTest_Component(moved[k].place, a) - snwTest_Component(world->pose[k].place, a);
                CHECK_NEAR(way / step, s->pose.moves[a][k], 1e-8);
            }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// What is given in a trial: nothing, one place, two, three handles and a turn.
static void GiveTo(snwRigWorld* world, int trial)
{
    static const int given[][3] = {{-1, -1, -1}, {2, -1, -1}, {0, 2, -1}, {3, 4, 6}};
    for (int k = 0; k < world->handleCount; ++k)
        world->targets[k].given = 0;
    for (int i = 0; i < 3 && given[trial % 4][i] >= 0; ++i)
    {
        snwRigTarget* target = &world->targets[given[trial % 4][i]];
        target->given = i == 2 ? snw_dofX | snw_dofRotationZ | snw_dofRotationX | snw_dofRotationY
                               : snw_dofX | snw_dofY | snw_dofZ;
        target->place = snwVec3_MulAdd(world->pose[given[trial % 4][i]].place, 0.001, snwRigWorld_RandomVector(world));
        target->rotation = snwQuat_FromMat3(world->pose[given[trial % 4][i]].linear);
    }
}

static double AnswerGap(const snwRigWorld* world, const snwRigPose* other, double* size)
{
    double gap = 0;
    *size = 0;
    for (int k = 0; k < world->handleCount; ++k)
    {
        const snwRigPose* own = &world->scratch->answer[k];
        gap = fmax(gap, snwVec3_Distance(own->place, other[k].place));
        *size = fmax(*size, snwVec3_Length(own->place));
        for (int i = 0; i < 9; ++i)
            gap = fmax(gap, fabs(own->linear.m[i / 3][i % 3] - other[k].linear.m[i / 3][i % 3]));
    }
    return gap;
}

// From the same pose and flesh, trees and rows of single joints answer alike: they are one problem.
TEST(rigfit, treesAnswerAsRowsOfJointsDo)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.1, 0.3, 0);
    for (int which = 0; which < 4; ++which)
    {
        snwRigWorld* world = NewTree(context, 2 + which % 2, which / 2 == 1 ? &hinge : NULL);
        for (int trial = 0; trial < 20; ++trial)
        {
            snwRigPose answer[snw_treeHandles];
            double size;
            GiveTo(world, trial);
            snwRigWorld_Shake(world, 0.02);
            snwRigWorld_Fit(world);
            CHECK(snwRigFit_IsJoined(world->scratch));
            CHECK(WidestOf(world) < 1e-11);
            CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
            CHECK(snwRigFit_IsJoined(world->scratch));
            memcpy(answer, world->scratch->answer, sizeof answer);
            world->model->trees = false;
            CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
            CHECK(!snwRigFit_IsJoined(world->scratch));
            world->model->trees = true;
            double gap = AnswerGap(world, answer, &size);
            CHECK(size > 1e-5 && gap < 1e-5 * size);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// The fits themselves, too, as far as one step goes, which closes joints here and there in another order.
TEST(rigfit, treesComeToTheSamePoseAsRowsOfJoints)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = NewTree(context, 3, NULL);
    for (int trial = 0; trial < 20; ++trial)
    {
        snwRigPose start[snw_treeHandles], pose[snw_treeHandles];
        GiveTo(world, trial);
        memcpy(start, world->pose, sizeof start);
        snwRigWorld_Shake(world, 0.005);
        for (int i = 0; i < 30; ++i)
            snwRigWorld_Fit(world);
        memcpy(pose, world->pose, sizeof pose);
        memcpy(world->pose, start, sizeof start);
        world->model->trees = false;
        for (int i = 0; i < 30; ++i)
            snwRigWorld_Fit(world);
        world->model->trees = true;
        for (int k = 0; k < snw_treeHandles; ++k)
            CHECK(snwVec3_Distance(pose[k].place, world->pose[k].place) < 1e-7 * world->model->size);
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// More places than there is room for are rows of single joints; the answer is given all the same.
TEST(rigfit, treesGiveWayWhenMostIsGiven)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 12, NULL);
    for (int given = 1; given <= 12; ++given)
    {
        for (int k = 0; k < given; ++k)
        {
            world->targets[k].given = snw_dofX | snw_dofY | snw_dofZ;
            world->targets[k].place = world->pose[k].place;
        }
        snwRigWorld_Shake(world, 0.001);
        snwRigFitReport report = snwRigWorld_Fit(world);
        CHECK(report.gap < 1e-9);
        CHECK(snwRigFit_IsJoined(world->scratch) == (3 * (given - 1) <= snw_mostTreeRows));
        for (int k = 0; k < given; ++k)
            CHECK(snwVec3_Distance(world->pose[k].place, world->targets[k].place) == 0);
    }
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Letting go

static void LeaveAll(snwRigWorld* world)
{
    for (int k = 0; k < world->handleCount; ++k)
    {
        world->targets[k] = (snwRigTarget){.leaving = snw_dofAll,
            .place = snwVec3_MulAdd(world->pose[k].place, 0.001, snwRigWorld_RandomVector(world)),
            .rotation = snwQuat_FromMat3(world->pose[k].linear)};
    }
}

// Everything is let go of at once: more rows than there is room for, of a single handle, of a long chain, of a rig
// without any.
TEST(rigfit, allMayLeaveAtOnce)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const int counts[] = {1, 16, 16};
    for (int which = 0; which < 6; ++which)
    {
        int dimension = 2 + which % 2, count = counts[which / 2];
        snwRigWorld* world = which / 2 == 2 ? snwRigWorld_NewChain(context, dimension, count, NULL)
                                            : snwRigWorld_Simple(context, dimension, 200, count);
        for (int i = 1; i <= 15; ++i)
        {
            LeaveAll(world);
            world->hold.leaving = i / 15.0;
            snwRigWorld_Shake(world, 0.001);
            snwRigFitReport report = snwRigWorld_Fit(world);
            CHECK(report.gap < 1e-9);
            CHECK(world->scratch->rowCount <= world->model->mostRows);
            CHECK(world->scratch->termCount <= world->model->mostTerms);
            snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
            CHECK(i == 15 || world->scratch->rowCount > 0);
        }
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// What is leaving is held at first, and free at last.
TEST(rigfit, whatLeavesIsHeldLessAndLess)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        snwRigWorld* world = snwRigWorld_Simple(context, dimension, 150, 4);
        double before = -1;
        for (int i = 1; i <= 4; ++i)
        {
            snwRigFit_Rest(world->model, world->pose, world->targets, NULL);
            snwRigWorld_SkinTo(world, world->x);
            for (int k = 0; k < world->vertexCount; ++k)
                world->x[4 * k] += 0.01f;
            world->targets[2].leaving = snw_dofX;
            world->hold.leaving = i / 4.0;
            snwRigWorld_Fit(world);
            double way = world->pose[2].place.x - world->targets[2].place.x;
            CHECK(way > before + 1e-4);
            before = way;
        }
        CHECK_NEAR(before, 0.01, 1e-6);
        snwRigWorld_Free(world);
    }
    snwDestroyContext(context);
}

// Strain, letting go and closing gaps: a scratch that has seen it all gives what a fresh one gives.
TEST(rigfit, scratchIsNoStateUnderStrain)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef ball = snwTest_Limits(snw_jointBall, (snwVec3){1, 0, 0}, -0.3, 0.3, 0.4);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 5, &ball);
    int strained = 0, open = 0;
    for (int trial = 0; trial < 120; ++trial)
    {
        snwRigPose pose[snw_mostHandles];
        bool held = trial % 40 < 20;
        world->targets[0].given = snw_dofX | snw_dofY | snw_dofZ;
        world->targets[4].given = held ? snw_dofX | snw_dofY | snw_dofZ : 0;
        world->targets[4].leaving = held ? 0 : snw_dofX | snw_dofY | snw_dofZ;
        world->targets[4].place.x += held ? 0.02 : 0;
        world->hold.leaving = held ? 0 : (trial % 40 - 19) / 21.0;
        snwRigWorld_Shake(world, 0.002);
        memcpy(pose, world->pose, sizeof pose);
        snwRigHold hold = world->hold;
        snwRigWorld_Fit(world);
        strained += world->scratch->strained ? 1 : 0, open += WidestOf(world) > 1e-3 && !held ? 1 : 0;
        snwRigFit_Complement(world->model, world->scratch, &hold, world->pose);
        snwRigWorld_CheckFresh(world, &hold, pose);
    }
    CHECK(strained > 20 && open > 10);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}

// A limit that is exceeded by far is reached again, gently and within a second of substeps.
TEST(rigfit, limitsThatAreExceededAreReachedGently)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwJointDef hinge = snwTest_Limits(snw_jointHinge, (snwVec3){0, 0, 1}, -0.2, 0.2, 0);
    snwRigWorld* world = snwRigWorld_NewChain(context, 3, 2, &hinge);
    int fits = 0;
    double angle = 0.5, fastest = 0, speed = 0, jerk = 0;
    world->pose[1].linear = snwQuat_ToMat3(snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, angle));
    snwRigTree_Choose(world->model, &world->scratch->tree, world->targets);
    snwRigTree_Plant(world->model, &world->scratch->tree);
    snwRigTree_Place(world->model, &world->scratch->tree, world->pose);
    snwRigWorld_SkinTo(world, world->x);
    for (; fits < 900 && angle > 0.2 + 1e-6; ++fits)
    {
        snwRigWorld_Fit(world);
        snwMat3 turn = snwMat3_TransposeMul(world->pose[0].linear, world->pose[1].linear);
        double now = atan2(turn.m[1][0], turn.m[0][0]), way = angle - now;
        jerk = fits > 0 ? fmax(jerk, fabs(way - speed)) : jerk;
        angle = now, speed = way, fastest = fmax(fastest, speed);
        snwRigWorld_SkinTo(world, world->x);
    }
    CHECK(fits > 100 && fits < 900);
    CHECK(fastest < 0.003 && jerk < 1e-4);
    snwRigWorld_Free(world);
    snwDestroyContext(context);
}
