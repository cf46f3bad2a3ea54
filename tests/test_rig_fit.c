#include "fixture.h"
#include "rig/rig_fit.h"
#include "rig/rig_fit_parts.h"
#include "rig/weights.h"
#include "test.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// A snake of random points along x, its handles one after the other, each vertex between the nearest ones

enum
{
    snw_mostHandles = 16,
    snw_mostLinks = 16
};

typedef struct World
{
    snwContext* context;
    int dimension, vertexCount, handleCount;
    snwVec3* rest;
    double* masses;
    double* dense; // weights, vertexCount x handleCount
    snwWeights* weights;
    snwRigHandleDef handles[snw_mostHandles];
    snwRigLinkDef links[snw_mostLinks];
    int linkCount;
    const snwLinearConstraintDef* constraints;
    int constraintCount;
    snwRigFit* model;
    snwRigFitScratch* scratch;
    snwRigPose pose[snw_mostHandles];
    snwRigTarget targets[snw_mostHandles];
    snwRigRule rules[4];
    snwRigHold hold;
    float *x, *rigged;
    uint64_t seed;
} World;

static double Signed(uint64_t* seed)
{
    return 2.0 * snwTest_Random(seed) - 1.0;
}

static snwVec3 RandomVector(World* world)
{
    double x = Signed(&world->seed), y = Signed(&world->seed), z = Signed(&world->seed);
    return (snwVec3){x, y, world->dimension == 3 ? z : 0};
}

static snwQuat RandomTurn(World* world, double size)
{
    snwVec3 turn = RandomVector(world);
    if (world->dimension == 2)
        turn = (snwVec3){0, 0, Signed(&world->seed)};
    return snwQuat_FromRotationVector(snwVec3_Scale(turn, size));
}

static double Weight(double distance)
{
    double t = fmax(0, 1 - distance * distance / (1.6 * 1.6));
    return t * t;
}

static World* NewWorld(snwContext* context, int dimension, int vertexCount, int handleCount)
{
    World* world = calloc(1, sizeof *world);
    size_t n = (size_t)vertexCount, k = (size_t)handleCount, rows = (4 * n * sizeof(float) + 63) / 64 * 64;
    *world = (World){.context = context, .dimension = dimension, .vertexCount = vertexCount, .seed = 11};
    world->handleCount = handleCount;
    world->rest = calloc(n, sizeof *world->rest), world->masses = calloc(n, sizeof *world->masses);
    world->dense = calloc(n * k, sizeof *world->dense);
    world->x = aligned_alloc(64, rows), world->rigged = aligned_alloc(64, rows);
    for (int h = 0; h < handleCount; ++h)
        world->handles[h].origin = snwVec3_Add((snwVec3){0.1 * h, 0, 0}, snwVec3_Scale(RandomVector(world), 0.03));
    for (int i = 0; i < vertexCount; ++i)
    {
        double at = snwTest_Random(&world->seed) * (handleCount - 1);
        world->rest[i] = snwVec3_Add((snwVec3){0.1 * at, 0, 0}, snwVec3_Scale(RandomVector(world), 0.1));
        world->masses[i] = 0.001 + 0.01 * snwTest_Random(&world->seed);
        for (int h = 0; h < handleCount; ++h)
            world->dense[i * handleCount + h] = Weight(fabs(at - h)) * (0.5 + snwTest_Random(&world->seed));
    }
    return world;
}

static snwRigFitDef WorldDef(const World* world)
{
    return (snwRigFitDef){world->dimension, world->vertexCount, world->rest, world->masses, world->weights,
        world->handles, world->links, world->linkCount, world->constraints, world->constraintCount};
}

static void SkinTo(const World* world, float* x);

// After handles, links, constraints and dense weights were set.
static void Finish(World* world)
{
    snwWeightLists lists = {.vertexCount = world->vertexCount,
        .handleCount = world->handleCount,
        .perVertex = world->handleCount,
        .values = world->dense};
    CHECK(snwWeights_FromLists(world->context, &lists, &world->weights, NULL, NULL) >= 0);
    snwRigFitDef def = WorldDef(world);
    CHECK_INT(snwRigFit_Create(world->context, &def, &world->model, NULL), snw_ok);
    CHECK_INT(snwRigFitScratch_Create(world->context, world->model, &world->scratch, NULL), snw_ok);
    snwRigFit_Rest(world->model, world->pose, world->targets, world->rules);
    world->hold = (snwRigHold){world->targets, world->rules, snw_rigChainsJoined, 0};
    SkinTo(world, world->x);
}

static World* SimpleWorld(snwContext* context, int dimension, int vertexCount, int handleCount)
{
    World* world = NewWorld(context, dimension, vertexCount, handleCount);
    Finish(world);
    return world;
}

static void FreeWorld(World* world)
{
    snwRigFitScratch_Destroy(world->context, world->scratch);
    snwRigFit_Destroy(world->context, world->model);
    snwFree(world->context, world->weights);
    free(world->rest), free(world->masses), free(world->dense), free(world->x), free(world->rigged);
    free(world);
}

static void RandomPose(World* world, double size)
{
    for (int k = 0; k < world->handleCount; ++k)
    {
        world->pose[k].place = snwVec3_MulAdd(world->handles[k].origin, 0.1 * size, RandomVector(world));
        world->pose[k].linear = snwQuat_ToMat3(RandomTurn(world, size));
        if (world->handles[k].freedom == snw_rigAffine)
            world->pose[k].linear.m[0][1] += 0.3 * size, world->pose[k].linear.m[1][1] *= 1 + size;
    }
}

static void Shake(World* world, double size)
{
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 shake = snwVec3_Scale(RandomVector(world), size);
        world->x[4 * i] += (float)shake.x, world->x[4 * i + 1] += (float)shake.y, world->x[4 * i + 2] += (float)shake.z;
    }
}

static snwRigFitReport Fit(World* world)
{
    snwRigFit_Gather(world->context, world->model, world->scratch, world->x);
    return snwRigFit_Solve(world->model, world->scratch, &world->hold, world->pose);
}

// ---------------------------------------------------------------------------------------------------------------------
// The literal truth: skinning and J written out

static snwVec3 Skinned(const World* world, const snwRigPose* pose, int vertex)
{
    snwVec3 sum = {0};
    for (int k = 0; k < world->handleCount; ++k)
    {
        double w = snwWeights_Get(world->weights, vertex, k);
        snwVec3 arm = snwVec3_Sub(world->rest[vertex], world->handles[k].origin);
        sum = snwVec3_MulAdd(sum, w, snwVec3_Add(snwMat3_MulVec(pose[k].linear, arm), pose[k].place));
    }
    return sum;
}

static void SkinTo(const World* world, float* x)
{
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 p = Skinned(world, world->pose, i);
        x[4 * i] = (float)p.x, x[4 * i + 1] = (float)p.y, x[4 * i + 2] = (float)p.z, x[4 * i + 3] = (float)i;
    }
}

typedef struct Literal
{
    int rows, columns; // 3 per vertex; all degrees of freedom: moves, then turns, handle by handle
    int starts[snw_mostHandles + 1];
    double* j; // column by column
    double *m, *c;
    double* residual; // x - xr
} Literal;

static double Component(snwVec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

// How vertex arm a of a handle moves with degree of freedom s.
static snwVec3 LiteralColumn(const World* world, const snwRigPose* pose, int handle, int s, snwVec3 arm)
{
    int d = world->dimension;
    if (s < d)
        return (snwVec3){s == 0, s == 1, s == 2};
    s -= d;
    if (world->handles[handle].freedom == snw_rigAffine)
    {
        double out[3] = {0};
        out[s / d] = Component(arm, s % d);
        return (snwVec3){out[0], out[1], out[2]};
    }
    snwVec3 axis = d == 2 ? (snwVec3){0, 0, 1} : (snwVec3){s == 0, s == 1, s == 2};
    return snwVec3_Cross(axis, snwMat3_MulVec(pose[handle].linear, arm));
}

static double MassDot(const World* world, const double* a, const double* b)
{
    double sum = 0;
    for (int i = 0; i < 3 * world->vertexCount; ++i)
        sum += world->masses[i / 3] * a[i] * b[i];
    return sum;
}

static Literal NewLiteral(const World* world, const snwRigPose* pose)
{
    Literal l = {.rows = 3 * world->vertexCount};
    for (int k = 0; k < world->handleCount; ++k)
        l.starts[k + 1] = l.starts[k] + world->dimension + snwRigFit_Turns(world->model, k);
    l.columns = l.starts[world->handleCount];
    size_t rows = (size_t)l.rows, columns = (size_t)l.columns;
    l.j = calloc(rows * columns, sizeof(double)), l.m = calloc(columns * columns, sizeof(double));
    l.c = calloc(columns, sizeof(double)), l.residual = calloc(rows, sizeof(double));
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 p = Skinned(world, pose, i);
        for (int d = 0; d < world->dimension; ++d)
            l.residual[3 * i + d] = (double)world->x[4 * i + d] - Component(p, d);
        for (int k = 0; k < world->handleCount; ++k)
            for (int s = 0; s < l.starts[k + 1] - l.starts[k]; ++s)
            {
                snwVec3 arm = snwVec3_Sub(world->rest[i], world->handles[k].origin);
                snwVec3 column = LiteralColumn(world, pose, k, s, arm);
                double w = snwWeights_Get(world->weights, i, k);
                for (int d = 0; d < world->dimension; ++d)
                    l.j[rows * (size_t)(l.starts[k] + s) + (size_t)(3 * i + d)] = w * Component(column, d);
            }
    }
    for (size_t s = 0; s < columns; ++s)
    {
        l.c[s] = MassDot(world, l.j + rows * s, l.residual);
        for (size_t t = 0; t < columns; ++t)
            l.m[s * columns + t] = MassDot(world, l.j + rows * s, l.j + rows * t);
    }
    return l;
}

static void FreeLiteral(Literal* l)
{
    free(l->j), free(l->m), free(l->c), free(l->residual);
}

// Gauss with pivots on the rows and columns that are free; x is 0 elsewhere.
static void SolveFree(const Literal* l, const bool* isFree, double share, const double* right, double* x)
{
    int n = l->columns, count = 0, *index = calloc((size_t)n, sizeof(int));
    double* a = calloc((size_t)n * (size_t)(n + 1), sizeof(double));
    for (int i = 0; i < n; ++i)
        if (isFree[i])
            index[count++] = i;
    for (int i = 0; i < count; ++i)
    {
        for (int j = 0; j < count; ++j)
            a[i * (n + 1) + j] = l->m[index[i] * n + index[j]] * (i == j ? 1 + share : 1);
        a[i * (n + 1) + n] = right[index[i]];
    }
    for (int i = 0; i < count; ++i)
    {
        int pivot = i;
        for (int r = i + 1; r < count; ++r)
            if (fabs(a[r * (n + 1) + i]) > fabs(a[pivot * (n + 1) + i]))
                pivot = r;
        for (int c = 0; c <= n; ++c)
        {
            double swap = a[i * (n + 1) + c];
            a[i * (n + 1) + c] = a[pivot * (n + 1) + c], a[pivot * (n + 1) + c] = swap;
        }
        for (int r = 0; r < count; ++r)
        {
            double f = r != i ? a[r * (n + 1) + i] / a[i * (n + 1) + i] : 0;
            for (int c = i; c <= n && f != 0; ++c)
                a[r * (n + 1) + c] -= f * a[i * (n + 1) + c];
        }
    }
    memset(x, 0, (size_t)n * sizeof *x);
    for (int i = 0; i < count; ++i)
        x[index[i]] = a[i * (n + 1) + n] / a[i * (n + 1) + i];
    free(a), free(index);
}

// A motion's entry, from moves and linear parts as the solver has them.
static double EntryOf(const World* world, const snwRigPose* pose, const snwRigPose* motion, int handle, int s)
{
    int d = world->dimension;
    const snwMat3* linear = &motion[handle].linear;
    if (s < d)
        return Component(motion[handle].place, s);
    s -= d;
    if (world->handles[handle].freedom == snw_rigAffine)
        return linear->m[s / d][s % d];
    snwMat3 spin = snwMat3_MulTranspose(*linear, pose[handle].linear); // [dv]x
    return d == 2 || s == 2 ? spin.m[1][0] : s == 0 ? spin.m[2][1] : spin.m[0][2];
}

static void MixFreedoms(World* world)
{
    for (int k = 0; k < world->handleCount; ++k)
        world->handles[k].freedom = k % 4 == 2 ? snw_rigMoving : k % 4 == 3 ? snw_rigAffine : snw_rigRigid;
}

// ---------------------------------------------------------------------------------------------------------------------
// The matrix and the right side

// Forces on everything as the moments have them: C at a pose, or -M motion without flesh.
static void MomentForces(
    const World* world, const snwRigPose* pose, const snwRigPose* motion, bool flesh, const Literal* l, double* out)
{
    snwRigFitScratch* s = world->scratch;
    static double numbers[12][snw_mostHandles], turns[9 * snw_mostHandles];
    snwRigPlanes planes = {{numbers[9], numbers[10], numbers[11]}, {{0}}};
    memset(numbers, 0, sizeof numbers), memset(turns, 0, sizeof turns);
    size_t bytes = (size_t)world->handleCount * sizeof(double);
    for (int a = 0; a < world->dimension; ++a)
    {
        if (flesh)
            memcpy(planes.moves[a], s->places[a], bytes);
        for (int b = 0; b < world->dimension; ++b)
        {
            planes.linear[a][b] = numbers[3 * a + b];
            if (flesh)
                memcpy(planes.linear[a][b], s->arms[a][b], bytes);
        }
    }
    snwRigFit_Subtract(world->model, motion, &planes);
    snwRigSystem_Set(world->model, &s->all, s->all.freeMoves, s->all.freeTurns, 1e-12);
    snwRigSystem_Contract(world->model, &s->all, pose, (double* const(*)[3])planes.linear, turns);
    for (int k = 0; k < world->handleCount; ++k)
        for (int i = 0; i < l->starts[k + 1] - l->starts[k]; ++i)
            out[l->starts[k] + i] = i < world->dimension ? planes.moves[i][k]
                                                         : turns[s->all.turnStart[k] + i - world->dimension];
}

// The motion of one degree of freedom.
static snwRigPose UnitMotion(const World* world, int handle, int s)
{
    int d = world->dimension;
    snwRigPose motion = {.place = {s == 0, s == 1, s == 2 && d == 3}};
    if (s < d)
        return motion;
    s -= d;
    if (world->handles[handle].freedom == snw_rigAffine)
        motion.linear.m[s / d][s % d] = 1, motion.place = (snwVec3){0};
    else
    {
        snwVec3 axis = d == 2 ? (snwVec3){0, 0, 1} : (snwVec3){s == 0, s == 1, s == 2};
        motion = (snwRigPose){snwMat3_Mul(snwMat3_Skew(axis), world->pose[handle].linear), {0, 0, 0}};
    }
    return motion;
}

static void CheckMoments(World* world)
{
    RandomPose(world, 1);
    Shake(world, 0.3);
    Literal l = NewLiteral(world, world->pose);
    double *forces = calloc((size_t)l.columns, sizeof(double)), worst = 0;
    snwRigFit_Gather(world->context, world->model, world->scratch, world->x);
    MomentForces(world, world->pose, world->pose, true, &l, forces);
    for (int s = 0; s < l.columns; ++s)
        worst = fmax(worst, fabs(forces[s] - l.c[s]) / sqrt(l.m[s * l.columns + s]));
    CHECK(worst < 1e-13);
    for (int k = 0; k < world->handleCount; ++k)
        for (int t = 0; t < l.starts[k + 1] - l.starts[k]; ++t)
        {
            snwRigPose motion[snw_mostHandles] = {0};
            motion[k] = UnitMotion(world, k, t);
            MomentForces(world, world->pose, motion, false, &l, forces);
            int column = l.starts[k] + t;
            for (int s = 0; s < l.columns; ++s)
                CHECK_NEAR(-forces[s], l.m[s * l.columns + column],
                    1e-13 * sqrt(l.m[s * l.columns + s] * l.m[column * l.columns + column]));
        }
    free(forces);
    FreeLiteral(&l);
}

TEST(rigfit, matrixAndRightSideAreThoseOfLiteralSums)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 4; ++variant)
    {
        World* world = NewWorld(context, 2 + variant % 2, 150, 6);
        if (variant >= 2)
            MixFreedoms(world);
        Finish(world);
        CheckMoments(world);
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// J of the oracle itself, by differences of skinning.
TEST(rigfit, literalJacobianIsTheSlopeOfSkinning)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = NewWorld(context, dimension, 20, 4);
        MixFreedoms(world);
        Finish(world);
        RandomPose(world, 1);
        Literal l = NewLiteral(world, world->pose);
        for (int k = 0; k < 4; ++k)
            for (int s = 0; s < l.starts[k + 1] - l.starts[k]; ++s)
            {
                double e = 1e-5;
                snwRigPose motion = UnitMotion(world, k, s), poses[2][snw_mostHandles];
                for (int side = 0; side < 2; ++side)
                {
                    double step = side == 0 ? -e : e;
                    memcpy(poses[side], world->pose, sizeof world->pose);
                    poses[side][k].place = snwVec3_MulAdd(world->pose[k].place, step, motion.place);
                    poses[side][k].linear = snwMat3_Add(world->pose[k].linear, snwMat3_Scale(motion.linear, step));
                }
                for (int i = 0; i < world->vertexCount; ++i)
                {
                    snwVec3 slope = snwVec3_Sub(Skinned(world, poses[1], i), Skinned(world, poses[0], i));
                    for (int d = 0; d < dimension; ++d)
                        CHECK_NEAR(Component(slope, d) / (2 * e), l.j[l.rows * (l.starts[k] + s) + 3 * i + d], 1e-9);
                }
            }
        FreeLiteral(&l);
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Single steps

static const uint32_t s_someGiven[] = {snw_dofX | snw_dofY | snw_dofZ, snw_dofY, 0,
    snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ, snw_dofX, snw_dofAll};

static void GiveSome(World* world)
{
    for (int k = 0; k < world->handleCount; ++k)
    {
        bool moving = world->handles[k].freedom == snw_rigMoving;
        world->targets[k].given = s_someGiven[k % 6] & (moving ? 7u : 63u);
        world->targets[k].place = snwVec3_MulAdd(world->pose[k].place, 0.01, RandomVector(world));
        bool affine = world->handles[k].freedom == snw_rigAffine;
        snwQuat now = affine ? snwQuat_Identity() : snwQuat_FromMat3(world->pose[k].linear);
        world->targets[k].rotation = snwQuat_Mul(RandomTurn(world, 0.1), now);
    }
}

static bool IsFree(const World* world, int handle, int s)
{
    uint32_t given = world->targets[handle].given;
    uint32_t turns = world->dimension == 2 ? snw_dofRotationZ : snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
    return s < world->dimension ? (given >> s & 1) == 0 : (given & turns) == 0;
}

static void MarkFree(const World* world, const Literal* l, bool* isFree)
{
    for (int k = 0; k < world->handleCount; ++k)
        for (int s = 0; s < l->starts[k + 1] - l->starts[k]; ++s)
            isFree[l->starts[k] + s] = IsFree(world, k, s);
}

// Given ones set, then one step of Gauss and Newton on the rest, as the paper writes it.
static void CheckStep(World* world)
{
    RandomPose(world, 0.5);
    SkinTo(world, world->x);
    Shake(world, 0.01);
    GiveSome(world);
    snwRigPose before[snw_mostHandles];
    memcpy(before, world->pose, sizeof before);
    for (int k = 0; k < world->handleCount; ++k)
    {
        const snwRigTarget* target = &world->targets[k];
        if ((target->given & snw_dofX) != 0)
            before[k].place.x = target->place.x;
        if ((target->given & snw_dofY) != 0)
            before[k].place.y = target->place.y;
        if ((target->given & snw_dofZ) != 0)
            before[k].place.z = target->place.z;
        if ((target->given & snw_dofRotationZ) != 0)
            before[k].linear = snwQuat_ToMat3(target->rotation);
    }
    Literal l = NewLiteral(world, before);
    bool* isFree = calloc((size_t)l.columns, 1);
    double* step = calloc((size_t)l.columns, sizeof(double));
    MarkFree(world, &l, isFree);
    SolveFree(&l, isFree, 1e-8, l.c, step);
    Fit(world);
    for (int k = 0; k < world->handleCount; ++k)
    {
        int d = world->dimension, count = l.starts[k + 1] - l.starts[k];
        const double* own = step + l.starts[k];
        for (int s = 0; s < d; ++s)
            CHECK_NEAR(Component(world->pose[k].place, s), Component(before[k].place, s) + own[s], 1e-9);
        snwMat3 linear = before[k].linear;
        if (world->handles[k].freedom == snw_rigAffine)
            for (int s = d; s < count; ++s)
                linear.m[(s - d) / d][(s - d) % d] += own[s];
        else if (count > d)
        {
            snwVec3 turn = d == 2 ? (snwVec3){0, 0, own[2]} : (snwVec3){own[3], own[4], own[5]};
            linear = snwMat3_Mul(snwQuat_ToMat3(snwQuat_FromRotationVector(turn)), linear);
        }
        CHECK(snwMat3_LargestEntry(snwMat3_Sub(linear, world->pose[k].linear)) < 1e-8);
    }
    free(step), free(isFree);
    FreeLiteral(&l);
}

TEST(rigfit, aStepIsThatOfTheLiteralSystem)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 4; ++variant)
    {
        World* world = NewWorld(context, 2 + variant % 2, 200, 6);
        if (variant >= 2)
            MixFreedoms(world);
        Finish(world);
        for (int trial = 0; trial < 3; ++trial)
            CheckStep(world);
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

TEST(rigfit, givenDegreesOfFreedomAreExact)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = SimpleWorld(context, dimension, 100, 6);
        for (int trial = 0; trial < 20; ++trial)
        {
            GiveSome(world);
            world->targets[trial % 6].given = snw_dofAll;
            Shake(world, 0.02);
            Fit(world);
            for (int k = 0; k < 6; ++k)
            {
                const snwRigTarget* target = &world->targets[k];
                for (int d = 0; d < dimension; ++d)
                    if ((target->given >> d & 1) != 0)
                        CHECK(Component(world->pose[k].place, d) == Component(target->place, d));
                snwMat3 turn = snwQuat_ToMat3(target->rotation);
                if ((target->given & snw_dofRotationZ) != 0)
                    CHECK(snwMat3_LargestEntry(snwMat3_Sub(world->pose[k].linear, turn)) < 1e-15);
            }
        }
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// Exact in floats: a quarter turn and a shift of points on a grid.
TEST(rigfit, fitOfARigidlyMovedShapeIsThatMotion)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = NewWorld(context, dimension, 200, 5);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3* p = &world->rest[i];
            *p = (snwVec3){rint(p->x * 1024) / 1024, rint(p->y * 1024) / 1024, rint(p->z * 1024) / 1024};
        }
        Finish(world);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 p = world->rest[i];
            world->x[4 * i] = (float)(2 - p.y), world->x[4 * i + 1] = (float)(p.x - 1),
                         world->x[4 * i + 2] = (float)p.z;
        }
        snwMat3 quarter = {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
        for (int step = 0; step < 12; ++step)
            Fit(world);
        for (int k = 0; k < 5; ++k)
        {
            snwVec3 origin = world->handles[k].origin, place = {2 - origin.y, origin.x - 1, origin.z};
            CHECK(snwMat3_LargestEntry(snwMat3_Sub(world->pose[k].linear, quarter)) < 1e-12);
            CHECK(snwVec3_Distance(world->pose[k].place, place) < 1e-12);
        }
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

TEST(rigfit, affineHandlesReproduceAffineMaps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = NewWorld(context, dimension, 200, 4);
        for (int k = 0; k < 4; ++k)
            world->handles[k].freedom = snw_rigAffine;
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3* p = &world->rest[i];
            *p = (snwVec3){rint(p->x * 1024) / 1024, rint(p->y * 1024) / 1024, rint(p->z * 1024) / 1024};
        }
        Finish(world);
        snwMat3 map = {{{1.5, 0.25, 0}, {-0.5, 0.75, 0}, {0, 0, 1}}};
        if (dimension == 3)
            map.m[2][0] = 0.5, map.m[1][2] = -0.25, map.m[2][2] = 2;
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 p = snwMat3_MulVec(map, world->rest[i]);
            world->x[4 * i] = (float)p.x, world->x[4 * i + 1] = (float)p.y, world->x[4 * i + 2] = (float)p.z;
        }
        for (int step = 0; step < 3; ++step)
            Fit(world);
        for (int k = 0; k < 4; ++k)
        {
            CHECK(snwMat3_LargestEntry(snwMat3_Sub(world->pose[k].linear, map)) < 1e-11);
            snwVec3 place = snwMat3_MulVec(map, world->handles[k].origin);
            CHECK(snwVec3_Distance(world->pose[k].place, place) < 1e-11);
        }
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The complement

// dx of the last complement, by the literal J.
static void AnswerOf(const World* world, const Literal* l, double* dx)
{
    memset(dx, 0, (size_t)l->rows * sizeof *dx);
    for (int k = 0; k < world->handleCount; ++k)
        for (int s = 0; s < l->starts[k + 1] - l->starts[k]; ++s)
        {
            double amount = EntryOf(world, world->pose, world->scratch->answer, k, s);
            for (int i = 0; i < l->rows; ++i)
                dx[i] += amount * l->j[l->rows * (l->starts[k] + s) + i];
        }
}

// One constraint after the other (XPBD, Eq. 6 and 7 of the paper) until nothing moves: every C_s to `wanted`.
static void Sweep(const World* world, const Literal* l, const double* wanted, double compliance, double* dx)
{
    double *lambda = calloc((size_t)l->columns, sizeof(double)), *r = calloc((size_t)l->rows, sizeof(double));
    memcpy(r, l->residual, (size_t)l->rows * sizeof *r);
    for (int sweep = 0; sweep < 3000; ++sweep)
        for (int s = 0; s < l->columns; ++s)
        {
            const double* column = l->j + (size_t)l->rows * (size_t)s;
            double own = l->m[s * l->columns + s], c = MassDot(world, column, r) - wanted[s];
            double change = (-c - compliance * own * lambda[s]) / (own + compliance * own);
            lambda[s] += change;
            for (int i = 0; i < l->rows; ++i)
                r[i] += change * column[i];
        }
    for (int i = 0; i < l->rows; ++i)
        dx[i] = r[i] - l->residual[i];
    free(lambda), free(r);
}

static double LargestOf(const double* a, const double* b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; ++i)
        largest = fmax(largest, fabs(a[i] - (b != NULL ? b[i] : 0)));
    return largest;
}

static void CheckOneShot(World* world, double compliance, int fits)
{
    RandomPose(world, 0.2);
    SkinTo(world, world->x);
    Shake(world, 0.02);
    GiveSome(world);
    world->hold.compliance = compliance;
    for (int i = 0; i < fits; ++i)
        Fit(world);
    CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
    Literal l = NewLiteral(world, world->pose);
    size_t n = (size_t)l.columns;
    bool* isFree = calloc(n, 1);
    double *rest = calloc(n, sizeof(double)), *wanted = calloc(n, sizeof(double));
    double *swept = calloc((size_t)l.rows, sizeof(double)), *answer = calloc((size_t)l.rows, sizeof(double));
    MarkFree(world, &l, isFree);
    SolveFree(&l, isFree, 1e-8, l.c, rest);
    for (int s = 0; s < l.columns; ++s) // the lag of the fit stays
        for (int t = 0; t < l.columns; ++t)
            wanted[s] += l.m[s * l.columns + t] * rest[t];
    for (int s = 0; s < l.columns; ++s)
        wanted[s] = isFree[s] ? l.c[s] : wanted[s];
    Sweep(world, &l, wanted, compliance, swept);
    AnswerOf(world, &l, answer);
    CHECK(LargestOf(swept, NULL, l.rows) > 1e-3);
    CHECK(LargestOf(swept, answer, l.rows) < 1e-8 * LargestOf(swept, NULL, l.rows));
    if (fits > 10) // then there is no lag: what is given alone
        CHECK(LargestOf(rest, NULL, l.columns) < 1e-6);
    free(isFree), free(rest), free(wanted), free(swept), free(answer);
    FreeLiteral(&l);
}

TEST(rigfit, oneShotIsManySequentialSweeps)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = NewWorld(context, dimension, 30, 3);
        world->handles[2].freedom = snw_rigMoving;
        Finish(world);
        CheckOneShot(world, 0, 1);
        CheckOneShot(world, 0.3, 1);
        CheckOneShot(world, 0, 20);
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

TEST(rigfit, nothingGivenMovesNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = SimpleWorld(context, dimension, 101, 5);
        size_t bytes = 4 * (size_t)world->vertexCount * sizeof(float);
        float* before = malloc(bytes);
        Shake(world, 0.05);
        memcpy(before, world->x, bytes);
        Fit(world);
        CHECK(!snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, world->rigged);
        CHECK(memcmp(before, world->x, bytes) == 0);
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 p = Skinned(world, world->pose, i);
            for (int d = 0; d < dimension; ++d)
                CHECK_NEAR(world->rigged[4 * i + d], Component(p, d), 3e-7);
        }
        free(before);
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// Vertices get what the answer says, once each, and nothing else of them changes.
TEST(rigfit, applyAddsTheAnswer)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int variant = 0; variant < 3; ++variant)
    {
        World* world = NewWorld(context, variant == 2 ? 3 : 2, 101, 5);
        world->handles[1].freedom = variant == 1 ? snw_rigAffine : snw_rigRigid;
        Finish(world);
        Shake(world, 0.02);
        GiveSome(world);
        Fit(world);
        CHECK(snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose));
        Literal l = NewLiteral(world, world->pose);
        double* answer = calloc((size_t)l.rows, sizeof(double));
        float* before = malloc(4 * (size_t)world->vertexCount * sizeof(float));
        memcpy(before, world->x, 4 * (size_t)world->vertexCount * sizeof(float));
        AnswerOf(world, &l, answer);
        snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        for (int i = 0; i < world->vertexCount; ++i)
            for (int d = 0; d < 4; ++d)
            {
                double expected = (double)before[4 * i + d] + (d < 3 ? answer[3 * i + d] : 0);
                CHECK_NEAR(world->x[4 * i + d], expected, d < world->dimension ? 3e-7 : 0);
            }
        free(answer), free(before);
        FreeLiteral(&l);
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// However badly the rig is built, the flesh never moves farther than it was from the rig, in the metric of mass.
TEST(rigfit, answersAreNoLargerThanTheDistance)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int dimension = 2; dimension <= 3; ++dimension)
    {
        World* world = NewWorld(context, dimension, 100, 6);
        for (int i = 0; i < world->vertexCount; ++i) // handle 3 is almost handle 2, handle 5 has nothing
        {
            double* w = world->dense + 6 * i;
            w[3] = w[2] * (1 + 1e-4 * Signed(&world->seed)), w[4] += w[5] + 0.01, w[5] = 0;
        }
        Finish(world);
        for (int trial = 0; trial < 20; ++trial)
        {
            Shake(world, 0.05);
            GiveSome(world);
            Fit(world);
            snwRigFit_Complement(world->model, world->scratch, &world->hold, world->pose);
            Literal l = NewLiteral(world, world->pose);
            double* answer = calloc((size_t)l.rows, sizeof(double));
            AnswerOf(world, &l, answer);
            CHECK(MassDot(world, answer, answer) <= 1.0001 * MassDot(world, l.residual, l.residual));
            free(answer);
            FreeLiteral(&l);
            snwRigFit_Apply(context, world->model, world->scratch, world->pose, world->x, NULL);
        }
        FreeWorld(world);
    }
    snwDestroyContext(context);
}
