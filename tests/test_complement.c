#include "fixture.h"
#include "rig/complement.h"
#include "rig/moments.h"
#include "rig/weights.h"
#include "rig_world.h"
#include "test.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// A snake of random points along x, its handles one after the other, each vertex between the nearest ones

typedef struct World
{
    snwContext* context;
    int vertexCount, handleCount;
    snwVec3 *rest, *origins;
    double* masses;
    unsigned char* held;
    double* dense; // weights, vertexCount x handleCount
    snwWeights* weights;
    snwTransform* pose;
    float* u;
    uint64_t seed;
} World;

static double Signed(uint64_t* seed)
{
    return 2.0 * snwTest_Random(seed) - 1.0;
}

static snwVec3 RandomVector(uint64_t* seed)
{
    double x = Signed(seed), y = Signed(seed), z = Signed(seed);
    return (snwVec3){x, y, z};
}

static void RandomPose(World* world)
{
    for (int k = 0; k < world->handleCount; ++k)
        world->pose[k] = (snwTransform){
            RandomVector(&world->seed), snwQuat_FromRotationVector(snwVec3_Scale(RandomVector(&world->seed), 2.0))};
}

static void RandomField(World* world)
{
    for (int i = 0; i < 4 * world->vertexCount; ++i)
        world->u[i] = (float)Signed(&world->seed);
}

// Falls to nothing at 1.6 times the distance between handles: three or four of them for each vertex.
static double Weight(double distance)
{
    double t = fmax(0, 1 - distance * distance / (1.6 * 1.6));
    return t * t;
}

static World* NewWorld(snwContext* context, int vertexCount, int handleCount)
{
    World* world = calloc(1, sizeof *world);
    size_t n = (size_t)vertexCount, k = (size_t)handleCount;
    *world = (World){.context = context, .vertexCount = vertexCount, .handleCount = handleCount, .seed = 7};
    world->rest = calloc(n, sizeof *world->rest), world->origins = calloc(k, sizeof *world->origins);
    world->masses = calloc(n, sizeof *world->masses), world->held = calloc(n, 1);
    world->dense = calloc(n * k, sizeof *world->dense), world->pose = calloc(k, sizeof *world->pose);
    world->u = aligned_alloc(64, (4 * n * sizeof *world->u + 63) / 64 * 64);
    for (int h = 0; h < handleCount; ++h)
        world->origins[h] = (snwVec3){0.1 * h + 0.03 * Signed(&world->seed), 0.05 * Signed(&world->seed), 0};
    for (int i = 0; i < vertexCount; ++i)
    {
        double at = snwTest_Random(&world->seed) * (handleCount - 1);
        world->rest[i] = (snwVec3){0.1 * at, 0.1 * Signed(&world->seed), 0.1 * Signed(&world->seed)};
        world->masses[i] = 0.001 + 0.01 * snwTest_Random(&world->seed);
        for (int h = 0; h < handleCount; ++h)
            world->dense[i * handleCount + h] = Weight(fabs(at - h)) * (0.5 + snwTest_Random(&world->seed));
    }
    RandomPose(world);
    RandomField(world);
    return world;
}

// After the dense weights were changed.
static void MakeWeights(World* world)
{
    snwWeightLists lists = {.vertexCount = world->vertexCount,
        .handleCount = world->handleCount,
        .perVertex = world->handleCount,
        .values = world->dense};
    snwFree(world->context, world->weights);
    world->weights = NULL;
    CHECK(snwWeights_FromLists(world->context, &lists, &world->weights, NULL, NULL) >= 0);
}

static void FreeWorld(World* world)
{
    snwFree(world->context, world->weights);
    free(world->rest), free(world->origins), free(world->masses), free(world->held);
    free(world->dense), free(world->pose), free(world->u);
    free(world);
}

static snwComplementDef WorldDef(const World* world, snwComplementKind kind)
{
    return (snwComplementDef){
        kind, world->vertexCount, world->rest, world->masses, world->weights, world->origins, world->held};
}

// ---------------------------------------------------------------------------------------------------------------------
// The literal truth: J written out, and Gram-Schmidt in the metric of mass

// Columns one after the other, 3 vertexCount numbers each; rows of held vertices are 0.
static double* LiteralJacobian(const World* world, snwComplementKind kind, int* columns)
{
    int perHandle = kind == snw_complementRig ? 6 : 12;
    size_t rows = 3 * (size_t)world->vertexCount;
    *columns = perHandle * world->handleCount;
    double* j = calloc(rows * (size_t)*columns, sizeof *j);
    for (int i = 0; i < world->vertexCount; ++i)
        for (int k = 0; k < world->handleCount && !world->held[i]; ++k)
        {
            double w = snwWeights_Get(world->weights, i, k), *at = j + rows * (size_t)(perHandle * k) + 3 * i;
            snwVec3 a = snwVec3_Sub(world->rest[i], world->origins[k]);
            snwVec3 rho = snwQuat_Rotate(world->pose[k].rotation, a);
            double arms[4] = {a.x, a.y, a.z, 1};
            for (int d = 0; d < 3; ++d)
            {
                snwVec3 axis = {d == 0, d == 1, d == 2}, turned = snwVec3_Cross(axis, rho);
                double* own = at + rows * (size_t)d;
                if (kind == snw_complementRig)
                {
                    own[d] = w;
                    own += 3 * rows, own[0] = w * turned.x, own[1] = w * turned.y, own[2] = w * turned.z;
                }
                for (int c = 0; c < 4 && kind == snw_complementAffine; ++c)
                    at[rows * (size_t)(4 * d + c) + d] = w * arms[c];
            }
        }
    return j;
}

static double MassDot(const World* world, const double* a, const double* b)
{
    double sum = 0;
    for (int i = 0; i < 3 * world->vertexCount; ++i)
        sum += world->masses[i / 3] * a[i] * b[i];
    return sum;
}

static void TakeOut(const World* world, const double* column, double* u)
{
    double share = MassDot(world, column, u);
    for (int i = 0; i < 3 * world->vertexCount; ++i)
        u[i] -= share * column[i];
}

// u (3 per vertex) less all that J can do; each column is made orthogonal twice. Returns the rank.
static int LiteralProjection(const World* world, snwComplementKind kind, double* u)
{
    int columns, rank = 0;
    size_t rows = 3 * (size_t)world->vertexCount;
    double* j = LiteralJacobian(world, kind, &columns);
    for (int c = 0; c < columns; ++c)
    {
        double *own = j + rows * (size_t)c, before = sqrt(MassDot(world, own, own));
        for (int twice = 0; twice < 2; ++twice)
            for (int b = 0; b < rank; ++b)
                TakeOut(world, j + rows * (size_t)b, own);
        double after = sqrt(MassDot(world, own, own));
        if (!(after > 1e-6 * before))
            continue;
        for (size_t i = 0; i < rows; ++i)
            j[rows * (size_t)rank + i] = own[i] / after;
        ++rank;
    }
    for (int twice = 0; twice < 2; ++twice)
        for (int b = 0; b < rank; ++b)
            TakeOut(world, j + rows * (size_t)b, u);
    free(j);
    return rank;
}

// The residual as its comment says, from the dense weights.
static double LiteralResidual(const World* world, snwComplementKind kind)
{
    double worst = 0;
    for (int k = 0; k < world->handleCount; ++k)
    {
        snwVec3 force = {0}, torque = {0};
        snwMat3 arms = {0};
        double forceScale = 0, armScale = 0;
        for (int i = 0; i < world->vertexCount; ++i)
        {
            double m = world->held[i] ? 0 : world->masses[i] * snwWeights_Get(world->weights, i, k);
            snwVec3 u = {world->u[4 * i], world->u[4 * i + 1], world->u[4 * i + 2]};
            snwVec3 rho = snwQuat_Rotate(world->pose[k].rotation, snwVec3_Sub(world->rest[i], world->origins[k]));
            force = snwVec3_MulAdd(force, m, u);
            torque = snwVec3_MulAdd(torque, m, snwVec3_Cross(rho, u));
            arms = snwMat3_Add(arms, snwMat3_Scale(snwMat3_Outer(rho, u), m));
            forceScale += m * snwVec3_Length(u), armScale += m * snwVec3_Length(u) * snwVec3_Length(rho);
        }
        double turn = kind == snw_complementRig ? snwVec3_Length(torque) : snwMat3_Norm(arms);
        worst = fmax(worst, forceScale > 0 ? snwVec3_Length(force) / forceScale : 0);
        worst = fmax(worst, armScale > 0 ? turn / armScale : 0);
    }
    return worst;
}

static double LargestEntry(const World* world, const float* u)
{
    double largest = 0;
    for (int i = 0; i < 4 * world->vertexCount; ++i)
        largest = fmax(largest, i % 4 < 3 ? fabs((double)u[i]) : 0);
    return largest;
}

// ---------------------------------------------------------------------------------------------------------------------
// Ours

typedef struct Ours
{
    snwContext* context;
    snwComplement* model;
    snwComplementScratch* scratch;
} Ours;

static Ours MakeOurs(const World* world, snwComplementDef def)
{
    Ours ours = {.context = world->context};
    snwMessage message = {0};
    if (snwComplement_Create(world->context, &def, &ours.model, &message) != snw_ok ||
        snwComplementScratch_Create(world->context, ours.model, &ours.scratch, &message) != snw_ok ||
        snwComplement_SetPose(ours.model, ours.scratch, world->pose, &message) != snw_ok)
        snwTest_Fail(__FILE__, __LINE__, "%s", message.text);
    return ours;
}

static void FreeOurs(Ours* ours)
{
    snwComplementScratch_Destroy(ours->context, ours->scratch);
    snwComplement_Destroy(ours->context, ours->model);
}

// Ours against the truth, fourth numbers and held rows as they were, residual at the floor of floats. Returns how many
// unknowns were left out.
static int CheckAgainstTruth(World* world, snwComplementKind kind)
{
    size_t count = (size_t)world->vertexCount;
    double *truth = calloc(3 * count, sizeof *truth), size = LargestEntry(world, world->u);
    float* before = calloc(4 * count, sizeof *before);
    memcpy(before, world->u, 4 * count * sizeof *before);
    for (int i = 0; i < 3 * world->vertexCount; ++i)
        truth[i] = world->held[i / 3] ? 0 : (double)world->u[4 * (i / 3) + i % 3];
    int rank = LiteralProjection(world, kind, truth);
    Ours ours = MakeOurs(world, WorldDef(world, kind));
    snwComplement_Project(ours.context, ours.model, ours.scratch, world->u);
    for (int i = 0; i < world->vertexCount; ++i)
    {
        CHECK(memcmp(&world->u[4 * i + 3], &before[4 * i + 3], sizeof *before) == 0);
        if (world->held[i])
            CHECK(memcmp(&world->u[4 * i], &before[4 * i], 3 * sizeof *before) == 0);
        for (int d = 0; d < 3 && !world->held[i]; ++d)
            CHECK_NEAR(world->u[4 * i + d], truth[3 * i + d], 6e-8 * (fabs(truth[3 * i + d]) + 1e-3 * size));
    }
    CHECK(snwComplement_Residual(ours.context, ours.model, ours.scratch, world->u) < 1e-7);
    int dropped = snwComplement_Dropped(ours.model, ours.scratch);
    CHECK_INT(snwComplement_Unknowns(ours.model) - dropped, rank);
    FreeOurs(&ours);
    free(truth), free(before);
    return dropped;
}

// ---------------------------------------------------------------------------------------------------------------------

static void CheckMatrix(const World* world, snwComplementKind kind, const snwMoments* moments)
{
    int columns, stride = kind == snw_complementRig ? 6 : 4, n = stride * world->handleCount;
    size_t rows = 3 * (size_t)world->vertexCount;
    double *j = LiteralJacobian(world, kind, &columns), *matrix = calloc((size_t)n * (size_t)n, sizeof *matrix);
    snwMat3* rotations = calloc((size_t)world->handleCount, sizeof *rotations);
    for (int k = 0; k < world->handleCount; ++k)
        rotations[k] = snwQuat_ToMat3(world->pose[k].rotation);
    if (kind == snw_complementRig)
        snwMoments_RigMatrix(moments, rotations, matrix);
    else
        snwMoments_AffineMatrix(moments, matrix);
    // Of affine handles the columns that move along y: the middle third.
    int first = kind == snw_complementRig ? 0 : 4, step = columns / world->handleCount;
    for (int a = 0; a < n; ++a)
        for (int b = 0; b <= a; ++b)
        {
            const double* left = j + rows * (size_t)(a / stride * step + first + a % stride);
            const double* right = j + rows * (size_t)(b / stride * step + first + b % stride);
            double scale = sqrt(MassDot(world, left, left) * MassDot(world, right, right));
            CHECK_NEAR(matrix[a * n + b], MassDot(world, left, right), 1e-10 * scale);
        }
    free(j), free(matrix), free(rotations);
}

TEST(moments, areThoseOfLiteralSums)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    World* world = NewWorld(context, 150, 7);
    MakeWeights(world);
    for (int i = 0; i < 3; ++i)
    {
        for (int v = 0; v < world->vertexCount; ++v)
            world->held[v] = i > 0 && snwTest_Random(&world->seed) < 0.3;
        snwMoments moments;
        snwMomentsDef def = {
            world->vertexCount, world->rest, world->masses, world->weights, world->origins, world->held};
        REQUIRE(snwMoments_Create(context, &def, &moments, NULL) == snw_ok);
        CHECK(moments.pairCount <= 7 + 6 + 5 + 4); // handles four apart share no vertex
        RandomPose(world);
        CheckMatrix(world, snw_complementRig, &moments);
        CheckMatrix(world, snw_complementAffine, &moments);
        snwMoments_Free(context, &moments);
    }
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(complement, isThatOfTheLiteralJacobian)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 203, 5);
    MakeWeights(world);
    for (int i = 0; i < 4; ++i)
    {
        RandomPose(world);
        RandomField(world);
        for (int v = 0; v < world->vertexCount; ++v)
            world->held[v] = i > 1 && world->rest[v].y < -0.03;
        CHECK_INT(CheckAgainstTruth(world, i % 2 == 0 ? snw_complementRig : snw_complementAffine), 0);
    }
    FreeWorld(world);
    snwDestroyContext(context);
}

// The projection does not depend on what handles turn about, nor on where the body is.
TEST(complement, originsAndPlaceDoNotMatter)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 400, 6);
    MakeWeights(world);
    float* first = calloc(1600, sizeof *first);
    float* start = calloc(1600, sizeof *start);
    memcpy(start, world->u, 1600 * sizeof *start);
    for (int kind = 0; kind < 2; ++kind)
        for (int i = 0; i < 3; ++i)
        {
            snwComplementDef def = WorldDef(world, (snwComplementKind)kind);
            def.origins = i == 0 ? world->origins : NULL;
            for (int v = 0; v < world->vertexCount && i == 2; ++v)
                world->rest[v].z += 100;
            memcpy(world->u, start, 1600 * sizeof *start);
            Ours ours = MakeOurs(world, def);
            snwComplement_Project(context, ours.model, ours.scratch, world->u);
            CHECK(snwComplement_Residual(context, ours.model, ours.scratch, world->u) < 1e-7);
            for (int v = 0; v < 1600; ++v)
                CHECK_NEAR(world->u[v], i == 0 ? world->u[v] : first[v], 1.2e-7);
            if (i == 0)
                memcpy(first, world->u, 1600 * sizeof *first);
            for (int v = 0; v < world->vertexCount && i == 2; ++v)
                world->rest[v].z -= 100;
            FreeOurs(&ours);
        }
    free(first), free(start);
    FreeWorld(world);
    snwDestroyContext(context);
}

// Five thousand vertices, 24 handles: under 1e-6 whatever u is, and what the function says is what the sums say.
TEST_HEAVY(complement, residualIsAtTheFloorOfFloats)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    World* world = NewWorld(context, 5000, 24);
    MakeWeights(world);
    for (int kind = 0; kind < 2; ++kind)
        for (int i = 0; i < 4; ++i)
        {
            RandomPose(world);
            RandomField(world);
            for (int v = 0; v < world->vertexCount; ++v)
            {
                float* u = &world->u[4 * v];
                if (i == 1) // almost all of it is a translation
                    u[0] = 1000 + u[0], u[1] = 1e-3f * u[1], u[2] = 1e-3f * u[2];
                if (i == 2) // only a tenth of the body swings
                    u[0] *= world->rest[v].x < 0.2, u[1] *= world->rest[v].x < 0.2, u[2] *= world->rest[v].x < 0.2;
                if (i == 3) // tiny
                    u[0] *= 1e-15f, u[1] *= 1e-15f, u[2] *= 1e-15f;
            }
            Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
            double before = snwComplement_Residual(context, ours.model, ours.scratch, world->u);
            CHECK(before > 1e-3);
            CHECK_NEAR(before, LiteralResidual(world, (snwComplementKind)kind), 1e-9 * before);
            snwComplement_Project(context, ours.model, ours.scratch, world->u);
            double after = snwComplement_Residual(context, ours.model, ours.scratch, world->u);
            CHECK(after < 1e-6 && after > 0);
            if (i != 2)
                CHECK_NEAR(after, LiteralResidual(world, (snwComplementKind)kind), 1e-12);
            FreeOurs(&ours);
        }
    FreeWorld(world);
    snwDestroyContext(context);
}

// The second time only what rounding to floats put back is taken away: at most 2^-24 of |u| in the metric of mass, and
// as much again for rounding anew.
TEST(complement, isIdempotent)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 1000, 9);
    MakeWeights(world);
    float* once = calloc(4000, sizeof *once);
    for (int kind = 0; kind < 2; ++kind)
    {
        RandomField(world);
        Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
        snwComplement_Project(context, ours.model, ours.scratch, world->u);
        memcpy(once, world->u, 4000 * sizeof *once);
        snwComplement_Project(context, ours.model, ours.scratch, world->u);
        double change = 0, square = 0;
        for (int i = 0; i < 4000; ++i)
        {
            double mass = i % 4 < 3 ? world->masses[i / 4] : 0, u = once[i], difference = (double)world->u[i] - u;
            change += mass * difference * difference, square += mass * u * u;
        }
        CHECK(sqrt(change) < 1.2e-7 * sqrt(square));
        FreeOurs(&ours);
    }
    free(once);
    FreeWorld(world);
    snwDestroyContext(context);
}

// What the rig does by itself leaves nothing but the rounding of u.
TEST(complement, motionsOfTheRigVanish)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 300, 8);
    MakeWeights(world);
    for (int kind = 0; kind < 2; ++kind)
    {
        int columns;
        double *j = LiteralJacobian(world, (snwComplementKind)kind, &columns), field[900] = {0};
        for (int c = 0; c < columns; ++c)
        {
            double q = Signed(&world->seed);
            for (int i = 0; i < 900; ++i)
                field[i] += q * j[900 * c + i];
        }
        for (int i = 0; i < 900; ++i)
            world->u[i / 3 * 4 + i % 3] = (float)field[i];
        double size = LargestEntry(world, world->u);
        Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
        snwComplement_Project(context, ours.model, ours.scratch, world->u);
        CHECK(LargestEntry(world, world->u) < 1.2e-7 * size);
        CHECK(snwComplement_Residual(context, ours.model, ours.scratch, world->u) < 1e-6);
        FreeOurs(&ours);
        free(j);
    }
    FreeWorld(world);
    snwDestroyContext(context);
}

// Numbers that floats hold exactly: nothing at all is left. And where one vertex differs in the last bit, that is all
// that is left, and it is still at right angles to the rig.
TEST(complement, exactMotionsLeaveNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 2000, 12);
    MakeWeights(world);
    for (int i = 0; i < 4; ++i)
    {
        for (int v = 0; v < world->vertexCount; ++v)
            world->u[4 * v] = 1, world->u[4 * v + 1] = -2, world->u[4 * v + 2] = 0.5f;
        world->u[4 * 77] += i < 2 ? 0 : 1.2e-7f;
        Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)(i % 2)));
        snwComplement_Project(context, ours.model, ours.scratch, world->u);
        double largest = LargestEntry(world, world->u);
        CHECK(i < 2 ? largest == 0 : largest > 1e-7 && largest < 1.2e-7);
        CHECK(snwComplement_Residual(context, ours.model, ours.scratch, world->u) < 1e-7);
        FreeOurs(&ours);
    }
    FreeWorld(world);
    snwDestroyContext(context);
}

// The body moved and turned as a whole is a motion of the rig.
TEST(complement, leavesNoMomentum)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 700, 6);
    MakeWeights(world);
    for (int kind = 0; kind < 2; ++kind)
    {
        RandomField(world);
        for (int i = 0; i < world->vertexCount; ++i)
            world->held[i] = world->rest[i].z > 0.05;
        Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
        snwComplement_Project(context, ours.model, ours.scratch, world->u);
        snwVec3 momentum = {0}, angular = {0};
        double scale = 0;
        for (int i = 0; i < world->vertexCount; ++i)
        {
            snwVec3 u = {world->u[4 * i], world->u[4 * i + 1], world->u[4 * i + 2]}, x = {0};
            for (int k = 0; k < world->handleCount; ++k)
            {
                snwVec3 arm = snwVec3_Sub(world->rest[i], world->origins[k]);
                snwVec3 place = snwTransform_Apply(world->pose[k], arm);
                x = snwVec3_MulAdd(x, snwWeights_Get(world->weights, i, k), place);
            }
            double m = world->held[i] ? 0 : world->masses[i];
            momentum = snwVec3_MulAdd(momentum, m, u), scale += m * snwVec3_Length(u);
            angular = snwVec3_MulAdd(angular, m, snwVec3_Cross(x, u));
        }
        CHECK(snwVec3_Length(momentum) < 1e-7 * scale);
        CHECK(snwVec3_Length(angular) < 1e-7 * scale); // x is within about a metre
        FreeOurs(&ours);
    }
    FreeWorld(world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rigs that have a motion twice, or not at all

static void SetColumn(World* world, int handle, int source, double factor)
{
    for (int i = 0; i < world->vertexCount; ++i)
        world->dense[i * world->handleCount + handle] = factor * world->dense[i * world->handleCount + source];
}

TEST(complement, handlesWithoutFleshAreLeftOut)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 150, 5);
    SetColumn(world, 2, 0, 0); // no weight at all
    MakeWeights(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 6);
    RandomField(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementAffine), 12);
    for (int i = 0; i < world->vertexCount; ++i) // all of its vertices are held
        world->held[i] = world->dense[i * 5 + 4] > 0;
    RandomField(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 12);
    memset(world->held, 1, (size_t)world->vertexCount);
    RandomField(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 30);
    memset(world->held, 0, (size_t)world->vertexCount);
    memset(world->masses, 0, (size_t)world->vertexCount * sizeof *world->masses);
    RandomField(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementAffine), 60);
    FreeWorld(world);
    snwDestroyContext(context);
}

// Two handles that do the same are one; turned apart, their turns are different motions. The rest pose's order is then
// a wrong guess, and must be found out.
TEST(complement, proportionalWeightsAreOneHandle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 150, 4);
    SetColumn(world, 1, 2, 0.37);
    world->origins[1] = world->origins[2];
    MakeWeights(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementAffine), 12);
    RandomField(world);
    world->pose[1] = world->pose[2];
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 6);
    RandomField(world);
    RandomPose(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 3); // the moves only
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(complement, fleshOnALineOrAtAPointTurnsLess)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 60, 1);
    for (int i = 0; i < world->vertexCount; ++i)
        world->rest[i] = (snwVec3){0.01 * i, 0.02 * i, -0.005 * i};
    world->origins[0] = (snwVec3){0, 0, 0};
    MakeWeights(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 1);
    RandomField(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementAffine), 6);
    for (int i = 0; i < world->vertexCount; ++i)
        world->rest[i] = world->origins[0];
    RandomField(world);
    CHECK_INT(CheckAgainstTruth(world, snw_complementRig), 3);
    FreeWorld(world);
    snwDestroyContext(context);
}

// Handles that are almost the same: from clearly two to one in all but name. Nothing grows, and no motion of the rig is
// left in the result, also where almost all of u was such a motion.
TEST(complement, almostSingularRigsStayCalm)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i <= 16; ++i)
    {
        World* world = NewWorld(context, 150, 4);
        SetColumn(world, 1, 2, 0.5);
        world->origins[1] = world->origins[2];
        for (int v = 0; v < world->vertexCount; ++v)
            world->dense[4 * v + 1] *= 1 + pow(10, -i) * Signed(&world->seed);
        MakeWeights(world);
        for (int kind = 0; kind < 2; ++kind)
            for (int turned = 0; turned < 2; ++turned)
            {
                RandomField(world);
                for (int v = 0; v < 4 * world->vertexCount; ++v)
                    world->u[v] = turned ? 1e6f + 64 * world->u[v] : world->u[v];
                world->pose[1] = turned ? world->pose[1] : world->pose[2];
                double size = LargestEntry(world, world->u);
                Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
                snwComplement_Project(context, ours.model, ours.scratch, world->u);
                CHECK(LargestEntry(world, world->u) < 3 * size);
                CHECK(LiteralResidual(world, (snwComplementKind)kind) < 1e-6);
                FreeOurs(&ours);
            }
        FreeWorld(world);
    }
    snwDestroyContext(context);
}

// Millimetres and tonnes give the same as metres and kilograms.
TEST(complement, unitsDoNotMatter)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World *world = NewWorld(context, 300, 5), *other = NewWorld(context, 300, 5);
    MakeWeights(world);
    MakeWeights(other);
    for (int i = 0; i < 300; ++i)
        other->rest[i] = snwVec3_Scale(other->rest[i], 1e-4), other->masses[i] *= 1e-9;
    for (int k = 0; k < 5; ++k)
        other->origins[k] = snwVec3_Scale(other->origins[k], 1e-4);
    for (int kind = 0; kind < 2; ++kind)
    {
        Ours a = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
        Ours b = MakeOurs(other, WorldDef(other, (snwComplementKind)kind));
        CHECK_INT(snwComplement_Dropped(b.model, b.scratch), snwComplement_Dropped(a.model, a.scratch));
        snwComplement_Project(context, a.model, a.scratch, world->u);
        snwComplement_Project(context, b.model, b.scratch, other->u);
        for (int i = 0; i < 1200; ++i)
            CHECK_NEAR(other->u[i], world->u[i], 1.2e-7);
        FreeOurs(&a);
        FreeOurs(&b);
    }
    FreeWorld(world);
    FreeWorld(other);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(complement, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    static const snwSimd simds[] = {snw_simdScalar, snw_simdBase, snw_simdAvx2};
    static const int threads[] = {1, 2, 4};
    float* first[2] = {calloc(4 * 3001, sizeof(float)), calloc(4 * 3001, sizeof(float))};
    double residuals[2] = {0};
    for (int t = 0; t < 9; ++t)
    {
        snwContext* context = snwFixture_Context(threads[t % 3], simds[t / 3], NULL);
        World* world = NewWorld(context, 3001, 10);
        MakeWeights(world);
        for (int kind = 0; kind < 2; ++kind)
        {
            Ours ours = MakeOurs(world, WorldDef(world, (snwComplementKind)kind));
            snwComplement_Project(context, ours.model, ours.scratch, world->u);
            double residual = snwComplement_Residual(context, ours.model, ours.scratch, world->u);
            if (t == 0)
                memcpy(first[kind], world->u, 4 * 3001 * sizeof(float)), residuals[kind] = residual;
            CHECK(memcmp(first[kind], world->u, 4 * 3001 * sizeof(float)) == 0);
            CHECK(memcmp(&residual, &residuals[kind], sizeof residual) == 0);
            FreeOurs(&ours);
        }
        FreeWorld(world);
        snwDestroyContext(context);
    }
    free(first[0]), free(first[1]);
}

TEST(complement, steadyCallsUseNoHeapAndModelsAreShared)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, &counter);
    World* world = NewWorld(context, 600, 5);
    MakeWeights(world);
    float* start = calloc(2400, sizeof *start);
    memcpy(start, world->u, 2400 * sizeof *start);
    Ours ours = MakeOurs(world, WorldDef(world, snw_complementRig));
    snwComplementScratch* other = NULL;
    REQUIRE(snwComplementScratch_Create(context, ours.model, &other, NULL) == snw_ok);
    long before = counter.allocations;
    snwComplement_Project(context, ours.model, other, world->u); // in the rest pose
    memcpy(world->u, start, 2400 * sizeof *start);
    CHECK_INT(snwComplement_SetPose(ours.model, other, world->pose, NULL), snw_ok);
    snwComplement_Project(context, ours.model, other, world->u);
    snwComplement_Project(context, ours.model, ours.scratch, start);
    CHECK(snwComplement_Residual(context, ours.model, ours.scratch, start) < 1e-7);
    CHECK(memcmp(start, world->u, 2400 * sizeof *start) == 0);
    CHECK_INT(counter.allocations, before);
    snwComplementScratch_Destroy(context, other);
    FreeOurs(&ours);
    FreeWorld(world);
    free(start);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(complement, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    World* world = NewWorld(context, 40, 3);
    MakeWeights(world);
    snwComplementDef def = WorldDef(world, snw_complementRig);
    def.origins = NULL;
    long live = counter.live;
    bool done = false;
    for (int i = 1; !done; ++i)
    {
        snwComplement* model = NULL;
        snwComplementScratch* scratch = NULL;
        counter.failAt = counter.allocations + i;
        snwResult result = snwComplement_Create(context, &def, &model, NULL);
        if (result == snw_ok)
            result = snwComplementScratch_Create(context, model, &scratch, NULL);
        done = result == snw_ok;
        CHECK(done || result == snw_errorMemory);
        snwComplementScratch_Destroy(context, scratch);
        snwComplement_Destroy(context, model);
        CHECK_INT(counter.live, live);
        REQUIRE(i < 200);
    }
    counter.failAt = 0;
    FreeWorld(world);
    snwDestroyContext(context);
}

static void CheckRefused(World* world, snwComplementDef def, const char* words)
{
    snwComplement* model = NULL;
    snwMessage message = {0};
    CHECK_INT(snwComplement_Create(world->context, &def, &model, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, words);
    CHECK(model == NULL);
}

TEST(complement, nonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 40, 3);
    MakeWeights(world);
    snwComplementDef def = WorldDef(world, snw_complementRig);
    def.masses = NULL;
    CheckRefused(world, def, "needs vertices");
    def = WorldDef(world, snw_complementRig);
    double kept = world->masses[7];
    world->masses[7] = -1;
    CheckRefused(world, def, "vertex 7");
    world->masses[7] = kept;
    world->rest[9].y = NAN;
    CheckRefused(world, def, "vertex 9");
    world->rest[9].y = 0;
    world->origins[1].x = INFINITY;
    CheckRefused(world, def, "handle 1");
    world->origins[1].x = 0;
    Ours ours = MakeOurs(world, def);
    snwMessage message = {0};
    world->pose[2].rotation = (snwQuat){0, 0, 0, 0};
    CHECK_INT(snwComplement_SetPose(ours.model, ours.scratch, world->pose, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "handle 2");
    world->pose[2].rotation = (snwQuat){0, NAN, 0, 1};
    CHECK_INT(snwComplement_SetPose(ours.model, ours.scratch, world->pose, NULL), snw_errorArgument);
    snwComplement_Project(context, ours.model, ours.scratch, world->u); // still in the pose before
    CHECK(snwComplement_Residual(context, ours.model, ours.scratch, world->u) < 1e-7);
    FreeOurs(&ours);
    FreeWorld(world);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// rig_fit.h has a complement of its own, which answers to what is given. With every degree of freedom of every handle
// given where it is, that answer is this projection: both are the one operator u - J (J^T M J)^-1 J^T M u.

static void CheckAgainstFit(snwContext* context, int dimension, int handleCount)
{
    snwRigWorld* rig = snwRigWorld_Simple(context, dimension, 400, handleCount);
    snwVec3 origins[snw_mostHandles];
    snwTransform places[snw_mostHandles];
    snwRigWorld_RandomPose(rig, 0.6);
    snwRigWorld_SkinTo(rig, rig->x);
    snwRigWorld_Shake(rig, 1e-3);
    for (int k = 0; k < handleCount; ++k)
    {
        origins[k] = rig->handles[k].origin;
        places[k] = (snwTransform){rig->pose[k].place, snwQuat_FromMat3(rig->pose[k].linear)};
        rig->targets[k] = (snwRigTarget){
            .given = snw_dofAll, .place = places[k].position, .rotation = places[k].rotation};
    }
    snwRigWorld_Fit(rig);
    CHECK(snwRigFit_Complement(rig->model, rig->scratch, &rig->hold, rig->pose));
    snwRigLiteral literal = snwRigLiteral_New(rig, rig->pose);
    double* answer = calloc((size_t)literal.rows, sizeof *answer);
    snwRigWorld_AnswerOf(rig, &literal, answer);

    float* u = aligned_alloc(64, 400 * 16);
    for (int i = 0; i < 4 * 400; ++i)
        u[i] = i % 4 == 3 ? 0.0f : (float)literal.residual[3 * (i / 4) + i % 4];
    snwComplementDef def = {snw_complementRig, rig->vertexCount, rig->rest, rig->masses, rig->weights, origins, NULL};
    snwComplement* model = NULL;
    snwComplementScratch* scratch = NULL;
    CHECK_INT(snwComplement_Create(context, &def, &model, NULL), snw_ok);
    CHECK_INT(snwComplementScratch_Create(context, model, &scratch, NULL), snw_ok);
    CHECK_INT(snwComplement_SetPose(model, scratch, places, NULL), snw_ok);
    snwComplement_Project(context, model, scratch, u);
    double farthest = 0, largest = 0;
    for (int i = 0; i < literal.rows; ++i)
    {
        double answered = literal.residual[i] + answer[i];
        farthest = fmax(farthest, fabs(answered - (double)u[4 * (i / 3) + i % 3]));
        largest = fmax(largest, fabs(answer[i]));
    }
    CHECK(largest > 1e-5); // of shakes by 1e-3 m
    CHECK(farthest <= 1e-9);
    snwComplementScratch_Destroy(context, scratch);
    snwComplement_Destroy(context, model);
    free(u), free(answer);
    snwRigLiteral_Free(&literal);
    snwRigWorld_Free(rig);
}

TEST(complement, isWhatRigFitsAnswersWithAllGiven)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int handles = 1; handles <= 7; handles += 3)
    {
        CheckAgainstFit(context, 3, handles);
        CheckAgainstFit(context, 2, handles);
    }
    snwDestroyContext(context);
}
