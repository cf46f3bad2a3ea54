#include "rig_world.h"

// ---------------------------------------------------------------------------------------------------------------------
// A snake of random points along x, its handles one after the other, each vertex between the nearest ones

double snwTest_Signed(uint64_t* seed)
{
    return 2.0 * snwTest_Random(seed) - 1.0;
}

snwVec3 snwRigWorld_RandomVector(snwRigWorld* world)
{
    double x = snwTest_Signed(&world->seed), y = snwTest_Signed(&world->seed), z = snwTest_Signed(&world->seed);
    return (snwVec3){x, y, world->dimension == 3 ? z : 0};
}

snwQuat snwRigWorld_RandomTurn(snwRigWorld* world, double size)
{
    snwVec3 turn = snwRigWorld_RandomVector(world);
    if (world->dimension == 2)
        turn = (snwVec3){0, 0, snwTest_Signed(&world->seed)};
    return snwQuat_FromRotationVector(snwVec3_Scale(turn, size));
}

static double Weight(double distance)
{
    double t = fmax(0, 1 - distance * distance / (1.6 * 1.6));
    return t * t;
}

snwRigWorld* snwRigWorld_New(snwContext* context, int dimension, int vertexCount, int handleCount)
{
    snwRigWorld* world = calloc(1, sizeof *world);
    size_t n = (size_t)vertexCount, k = (size_t)handleCount, rows = (4 * n * sizeof(float) + 63) / 64 * 64;
    *world = (snwRigWorld){.context = context, .dimension = dimension, .vertexCount = vertexCount, .seed = 11};
    world->handleCount = handleCount;
    world->rest = calloc(n, sizeof *world->rest), world->masses = calloc(n, sizeof *world->masses);
    world->dense = calloc(n * k, sizeof *world->dense);
    world->x = aligned_alloc(64, rows), world->rigged = aligned_alloc(64, rows);
    for (int h = 0; h < handleCount; ++h)
        world->handles[h].origin = snwVec3_Add(
            (snwVec3){0.1 * h, 0, 0}, snwVec3_Scale(snwRigWorld_RandomVector(world), 0.03));
    for (int i = 0; i < vertexCount; ++i)
    {
        double at = snwTest_Random(&world->seed) * (handleCount - 1);
        world->rest[i] = snwVec3_Add((snwVec3){0.1 * at, 0, 0}, snwVec3_Scale(snwRigWorld_RandomVector(world), 0.1));
        world->masses[i] = 0.001 + 0.01 * snwTest_Random(&world->seed);
        for (int h = 0; h < handleCount; ++h)
            world->dense[i * handleCount + h] = Weight(fabs(at - h)) * (0.5 + snwTest_Random(&world->seed));
    }
    return world;
}

snwRigFitDef snwRigWorld_Def(const snwRigWorld* world)
{
    return (snwRigFitDef){world->dimension, world->vertexCount, world->rest, world->masses, world->weights,
        world->handles, world->links, world->linkCount, world->constraints, world->constraintCount};
}

void snwRigWorld_Finish(snwRigWorld* world)
{
    snwWeightLists lists = {.vertexCount = world->vertexCount,
        .handleCount = world->handleCount,
        .perVertex = world->handleCount,
        .values = world->dense};
    CHECK(snwWeights_FromLists(world->context, &lists, &world->weights, NULL, NULL) >= 0);
    snwRigFitDef def = snwRigWorld_Def(world);
    CHECK_INT(snwRigFit_Create(world->context, &def, &world->model, NULL), snw_ok);
    CHECK_INT(snwRigFitScratch_Create(world->context, world->model, &world->scratch, NULL), snw_ok);
    snwRigFit_Rest(world->model, world->pose, world->targets, world->rules);
    world->hold = (snwRigHold){.targets = world->targets, .rules = world->rules};
    snwRigWorld_SkinTo(world, world->x);
}

snwRigWorld* snwRigWorld_Simple(snwContext* context, int dimension, int vertexCount, int handleCount)
{
    snwRigWorld* world = snwRigWorld_New(context, dimension, vertexCount, handleCount);
    snwRigWorld_Finish(world);
    return world;
}

void snwRigWorld_Free(snwRigWorld* world)
{
    snwRigFitScratch_Destroy(world->context, world->scratch);
    snwRigFit_Destroy(world->context, world->model);
    snwFree(world->context, world->weights);
    free(world->rest), free(world->masses), free(world->dense), free(world->x), free(world->rigged);
    free(world);
}

void snwRigWorld_RandomPose(snwRigWorld* world, double size)
{
    for (int k = 0; k < world->handleCount; ++k)
    {
        world->pose[k].place = snwVec3_MulAdd(world->handles[k].origin, 0.1 * size, snwRigWorld_RandomVector(world));
        world->pose[k].linear = snwQuat_ToMat3(snwRigWorld_RandomTurn(world, size));
        if (world->handles[k].freedom == snw_rigAffine)
            world->pose[k].linear.m[0][1] += 0.3 * size, world->pose[k].linear.m[1][1] *= 1 + size;
    }
}

void snwRigWorld_Shake(snwRigWorld* world, double size)
{
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 shake = snwVec3_Scale(snwRigWorld_RandomVector(world), size);
        world->x[4 * i] += (float)shake.x, world->x[4 * i + 1] += (float)shake.y, world->x[4 * i + 2] += (float)shake.z;
    }
}

void snwRigWorld_CheckFresh(const snwRigWorld* world, const snwRigHold* hold, snwRigPose* before)
{
    snwRigFitScratch* fresh = NULL;
    size_t bytes = (size_t)world->handleCount * sizeof *before;
    REQUIRE(snwRigFitScratch_Create(world->context, world->model, &fresh, NULL) == snw_ok);
    snwRigFit_Gather(world->context, world->model, fresh, world->x);
    snwRigFit_Solve(world->model, fresh, hold, before);
    snwRigFit_Complement(world->model, fresh, hold, before);
    CHECK(memcmp(before, world->pose, bytes) == 0);
    CHECK(memcmp(world->scratch->answer, fresh->answer, bytes) == 0);
    snwRigFitScratch_Destroy(world->context, fresh);
}

snwRigFitReport snwRigWorld_Fit(snwRigWorld* world)
{
    snwRigFit_Gather(world->context, world->model, world->scratch, world->x);
    snwRigFitReport report = snwRigFit_Solve(world->model, world->scratch, &world->hold, world->pose);
    world->hold.closing = report.closing;
    return report;
}

// ---------------------------------------------------------------------------------------------------------------------
// The literal truth: skinning and J written out

snwVec3 snwRigWorld_Skinned(const snwRigWorld* world, const snwRigPose* pose, int vertex)
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

void snwRigWorld_SkinTo(const snwRigWorld* world, float* x)
{
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 p = snwRigWorld_Skinned(world, world->pose, i);
        x[4 * i] = (float)p.x, x[4 * i + 1] = (float)p.y, x[4 * i + 2] = (float)p.z, x[4 * i + 3] = (float)i;
    }
}

double snwTest_Component(snwVec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

// How vertex arm a of a handle moves with degree of freedom s.
static snwVec3 LiteralColumn(const snwRigWorld* world, const snwRigPose* pose, int handle, int s, snwVec3 arm)
{
    int d = world->dimension;
    if (s < d)
        return (snwVec3){s == 0, s == 1, s == 2};
    s -= d;
    if (world->handles[handle].freedom == snw_rigAffine)
    {
        double out[3] = {0};
        out[s / d] = snwTest_Component(arm, s % d);
        return (snwVec3){out[0], out[1], out[2]};
    }
    snwVec3 axis = d == 2 ? (snwVec3){0, 0, 1} : (snwVec3){s == 0, s == 1, s == 2};
    return snwVec3_Cross(axis, snwMat3_MulVec(pose[handle].linear, arm));
}

double snwRigWorld_MassDot(const snwRigWorld* world, const double* a, const double* b)
{
    double sum = 0;
    for (int i = 0; i < 3 * world->vertexCount; ++i)
        sum += world->masses[i / 3] * a[i] * b[i];
    return sum;
}

snwRigLiteral snwRigLiteral_New(const snwRigWorld* world, const snwRigPose* pose)
{
    snwRigLiteral l = {.rows = 3 * world->vertexCount};
    for (int k = 0; k < world->handleCount; ++k)
        l.starts[k + 1] = l.starts[k] + world->dimension + snwRigFit_Turns(world->model, k);
    l.columns = l.starts[world->handleCount];
    size_t rows = (size_t)l.rows, columns = (size_t)l.columns;
    l.j = calloc(rows * columns, sizeof(double)), l.m = calloc(columns * columns, sizeof(double));
    l.c = calloc(columns, sizeof(double)), l.residual = calloc(rows, sizeof(double));
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 p = snwRigWorld_Skinned(world, pose, i);
        for (int d = 0; d < world->dimension; ++d)
            l.residual[3 * i + d] = (double)world->x[4 * i + d] - snwTest_Component(p, d);
        for (int k = 0; k < world->handleCount; ++k)
            for (int s = 0; s < l.starts[k + 1] - l.starts[k]; ++s)
            {
                snwVec3 arm = snwVec3_Sub(world->rest[i], world->handles[k].origin);
                snwVec3 column = LiteralColumn(world, pose, k, s, arm);
                double w = snwWeights_Get(world->weights, i, k);
                for (int d = 0; d < world->dimension; ++d)
                    l.j[rows * (size_t)(l.starts[k] + s) + (size_t)(3 * i + d)] = w * snwTest_Component(column, d);
            }
    }
    for (size_t s = 0; s < columns; ++s)
    {
        l.c[s] = snwRigWorld_MassDot(world, l.j + rows * s, l.residual);
        for (size_t t = 0; t < columns; ++t)
            l.m[s * columns + t] = snwRigWorld_MassDot(world, l.j + rows * s, l.j + rows * t);
    }
    return l;
}

void snwRigLiteral_Free(snwRigLiteral* l)
{
    free(l->j), free(l->m), free(l->c), free(l->residual);
}

double snwRigWorld_EntryOf(
    const snwRigWorld* world, const snwRigPose* pose, const snwRigPose* motion, int handle, int s)
{
    int d = world->dimension;
    const snwMat3* linear = &motion[handle].linear;
    if (s < d)
        return snwTest_Component(motion[handle].place, s);
    s -= d;
    if (world->handles[handle].freedom == snw_rigAffine)
        return linear->m[s / d][s % d];
    snwMat3 spin = snwMat3_MulTranspose(*linear, pose[handle].linear); // [dv]x
    return d == 2 || s == 2 ? spin.m[1][0] : s == 0 ? spin.m[2][1] : spin.m[0][2];
}

void snwRigWorld_MixFreedoms(snwRigWorld* world)
{
    for (int k = 0; k < world->handleCount; ++k)
        world->handles[k].freedom = k % 4 == 2 ? snw_rigMoving : k % 4 == 3 ? snw_rigAffine : snw_rigRigid;
}

const uint32_t snwRigWorld_someGiven[snw_someGivenCount] = {snw_dofX | snw_dofY | snw_dofZ, snw_dofY, 0,
    snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ, snw_dofX, snw_dofAll};

void snwRigWorld_GiveSome(snwRigWorld* world)
{
    for (int k = 0; k < world->handleCount; ++k)
    {
        bool moving = world->handles[k].freedom == snw_rigMoving;
        world->targets[k].given = snwRigWorld_someGiven[k % 6] & (moving ? 7u : 63u);
        world->targets[k].place = snwVec3_MulAdd(world->pose[k].place, 0.01, snwRigWorld_RandomVector(world));
        bool affine = world->handles[k].freedom == snw_rigAffine;
        snwQuat now = affine ? snwQuat_Identity() : snwQuat_FromMat3(world->pose[k].linear);
        world->targets[k].rotation = snwQuat_Mul(snwRigWorld_RandomTurn(world, 0.1), now);
    }
}

void snwRigWorld_AnswerOf(const snwRigWorld* world, const snwRigLiteral* l, double* dx)
{
    memset(dx, 0, (size_t)l->rows * sizeof *dx);
    for (int k = 0; k < world->handleCount; ++k)
        for (int s = 0; s < l->starts[k + 1] - l->starts[k]; ++s)
        {
            double amount = snwRigWorld_EntryOf(world, world->pose, world->scratch->answer, k, s);
            for (int i = 0; i < l->rows; ++i)
                dx[i] += amount * l->j[l->rows * (l->starts[k] + s) + i];
        }
}

snwRigWorld* snwRigWorld_NewChain(snwContext* context, int dimension, int handleCount, const snwJointDef* limits)
{
    snwRigWorld* world = snwRigWorld_New(context, dimension, 150, handleCount);
    for (int k = 1; k < handleCount; ++k)
    {
        snwVec3 joint = snwVec3_Lerp(world->handles[k - 1].origin, world->handles[k].origin, 0.5);
        world->links[world->linkCount++] = (snwRigLinkDef){k - 1, k, joint, limits};
    }
    snwRigWorld_Finish(world);
    return world;
}

void snwRigWorld_Drag(snwRigWorld* world, int trial)
{
    int last = world->handleCount - 1;
    snwRigWorld_Shake(world, 0.03);
    world->targets[0].given = trial % 3 == 0 ? snw_dofAll : trial % 3 == 1 ? snw_dofX | snw_dofY | snw_dofZ : 0;
    world->targets[0].place = snwVec3_MulAdd(world->pose[0].place, 0.04, snwRigWorld_RandomVector(world));
    world->targets[0].rotation = snwQuat_Mul(
        snwRigWorld_RandomTurn(world, 0.3), snwQuat_FromMat3(world->pose[0].linear));
    world->targets[last].given = trial % 5 == 0 ? snw_dofY : 0;
    world->targets[last].place = world->pose[last].place;
    // flesh comes along, as the method lets it
    for (int i = 0; i < world->vertexCount; ++i)
    {
        snwVec3 p = snwRigWorld_Skinned(world, world->pose, i);
        for (int d = 0; d < world->dimension; ++d)
            world->x[4 * i + d] += 0.3f * ((float)snwTest_Component(p, d) - world->x[4 * i + d]);
    }
}

snwJointDef snwTest_Limits(snwJointType type, snwVec3 axis, double lower, double upper, double cone)
{
    snwJointDef joint = snwDefaultJointDef();
    joint.type = type, joint.axis = axis, joint.lower = lower, joint.upper = upper, joint.cone = cone;
    return joint;
}
