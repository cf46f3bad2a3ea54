// Labels: kernels

#include "fixture.h"
#include "math/transform.h"
#include "rig/skinning.h"
#include "rig/weights.h"
#include "test.h"

#include <stdlib.h>

enum
{
    s_vertices = 1003, // not a multiple of eight
    s_handles = 17
};

// ---------------------------------------------------------------------------------------------------------------------
// A random shape, random weights, random poses

typedef struct World
{
    float positions[s_vertices][3], normals[s_vertices][3];
    double dense[s_vertices][s_handles];
    snwTransform transforms[s_handles];
    double matrices[s_handles][12];
    snwWeights* weights;
    snwContext* context;
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

static void MakeShape(World* world)
{
    for (int i = 0; i < s_vertices; ++i)
    {
        snwVec3 p = RandomVector(&world->seed), n = snwVec3_Normalize(RandomVector(&world->seed));
        world->positions[i][0] = (float)p.x, world->positions[i][1] = (float)p.y, world->positions[i][2] = (float)p.z;
        world->normals[i][0] = (float)n.x, world->normals[i][1] = (float)n.y, world->normals[i][2] = (float)n.z;
    }
}

static void MakePose(World* world)
{
    for (int i = 0; i < s_handles; ++i)
    {
        snwVec3 axis = RandomVector(&world->seed);
        snwQuat q = snwQuat_FromRotationVector(snwVec3_Scale(axis, 2.0));
        world->transforms[i] = (snwTransform){RandomVector(&world->seed),
            snwTest_Random(&world->seed) < 0.5 ? q : snwQuat_Scale(q, -1.0)}; // both signs: the same rotation
        for (int k = 0; k < 12; ++k)
            world->matrices[i][k] = Signed(&world->seed) + (k % 5 == 0 ? 1.0 : 0.0);
    }
}

// One to six influences per vertex.
static void MakeWeights(World* world)
{
    for (int i = 0; i < s_vertices; ++i)
        for (int k = 0, count = 1 + i % 6; k < count; ++k)
            world->dense[i][(int)(snwTest_Random(&world->seed) * s_handles)] += 0.05 + snwTest_Random(&world->seed);
    snwWeightLists lists = {s_vertices, s_handles, s_handles, NULL, world->dense[0], 0.0, 0};
    if (snwWeights_FromLists(world->context, &lists, &world->weights, NULL, NULL) < 0)
        abort();
}

static World* NewWorld(snwContext* context, uint64_t seed)
{
    World* world = calloc(1, sizeof *world);
    *world = (World){.context = context, .seed = seed};
    MakeShape(world);
    MakePose(world);
    MakeWeights(world);
    return world;
}

static void FreeWorld(World* world)
{
    snwContext_Free(world->context, world->weights);
    free(world);
}

static snwSkinningDef WorldDef(World* world)
{
    snwSkinningDef def = snwDefaultSkinningDef();
    def.positions = world->positions[0], def.normals = world->normals[0], def.weights = world->weights,
    def.vertexCount = s_vertices;
    return def;
}

static snwSkinningPose WorldPose(World* world, snwSkinningKind kind)
{
    return (snwSkinningPose){.kind = kind, .transforms = world->transforms, .count = s_handles};
}

typedef struct Skinned
{
    float positions[s_vertices][3], normals[s_vertices][3];
} Skinned;

static snwSkinningTarget SkinnedTarget(Skinned* out)
{
    return (snwSkinningTarget){out->positions[0], out->normals[0], 12, 12};
}

static Skinned* Skin(World* world, const snwSkinningPose* pose)
{
    Skinned* out = calloc(1, sizeof *out);
    snwSkinning* skinning = NULL;
    snwSkinningDef def = WorldDef(world);
    snwSkinningTarget target = SkinnedTarget(out);
    CHECK_INT(snwCreateSkinning(world->context, &def, &skinning, NULL), snw_ok);
    CHECK_INT(snwSkinning_Apply(skinning, pose, &target, NULL), snw_ok);
    snwDestroySkinning(skinning);
    return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// The oracle: the textbook in double

static snwVec3 FloatVector(const float* p)
{
    return (snwVec3){p[0], p[1], p[2]};
}

static snwAffine BlendAffine(const World* world, const snwSkinningPose* pose, int vertex)
{
    snwAffine sum = {0};
    for (int k = world->weights->starts[vertex]; k < world->weights->starts[vertex + 1]; ++k)
    {
        int handle = world->weights->handles[k];
        double weight = world->weights->values[k];
        snwAffine map = snwAffine_FromTransform(world->transforms[handle]);
        if (pose->matrices != NULL)
        {
            const double* m = pose->matrices[handle];
            map = (snwAffine){{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}, {m[3], m[7], m[11]}};
        }
        sum.linear = snwMat3_Add(sum.linear, snwMat3_Scale(map.linear, weight));
        sum.translation = snwVec3_MulAdd(sum.translation, weight, map.translation);
    }
    return sum;
}

static void OracleLinear(const World* world, const snwSkinningPose* pose, int vertex, snwVec3* p, snwVec3* n)
{
    snwAffine map = BlendAffine(world, pose, vertex);
    snwMat3 inverse = snwMat3_Identity();
    CHECK(snwMat3_Inverse(map.linear, &inverse));
    *p = snwAffine_Apply(map, FloatVector(world->positions[vertex]));
    *n = snwVec3_Normalize(snwMat3_MulVec(snwMat3_Transpose(inverse), FloatVector(world->normals[vertex])));
}

// Kavan et al. 2008, section 3: blend on the side of the heaviest, divide by the real part's length.
static void OracleDual(const World* world, int vertex, snwVec3* p, snwVec3* n)
{
    const snwWeights* w = world->weights;
    int first = w->starts[vertex], heaviest = first;
    for (int k = first; k < w->starts[vertex + 1]; ++k)
        heaviest = w->values[k] > w->values[heaviest] ? k : heaviest;
    snwQuat pivot = world->transforms[w->handles[heaviest]].rotation, real = {0}, dual = {0};
    for (int k = first; k < w->starts[vertex + 1]; ++k)
    {
        snwTransform t = world->transforms[w->handles[k]];
        double s = snwQuat_Dot(pivot, t.rotation) < 0 ? -w->values[k] : w->values[k];
        snwQuat half = {0.5 * t.position.x, 0.5 * t.position.y, 0.5 * t.position.z, 0},
                d = snwQuat_Mul(half, t.rotation);
        real = (snwQuat){
            real.x + s * t.rotation.x, real.y + s * t.rotation.y, real.z + s * t.rotation.z, real.w + s * t.rotation.w};
        dual = (snwQuat){dual.x + s * d.x, dual.y + s * d.y, dual.z + s * d.z, dual.w + s * d.w};
    }
    double length = sqrt(snwQuat_Dot(real, real));
    real = snwQuat_Scale(real, 1 / length), dual = snwQuat_Scale(dual, 2 / length);
    snwQuat t = snwQuat_Mul(dual, snwQuat_Conjugate(real));
    *p = snwVec3_Add(snwQuat_Rotate(real, FloatVector(world->positions[vertex])), (snwVec3){t.x, t.y, t.z});
    *n = snwQuat_Rotate(real, FloatVector(world->normals[vertex]));
}

// Sizes are about one. A normal under a blended map is as uncertain as the map is near to flat.
static void CheckAgainstOracle(World* world, const snwSkinningPose* pose)
{
    Skinned* out = Skin(world, pose);
    double worst = 0, worstNormal = 0;
    for (int i = 0; i < s_vertices; ++i)
    {
        snwVec3 p, n;
        double doubt = 1.0;
        if (pose->kind == snw_skinningLinear)
        {
            OracleLinear(world, pose, i, &p, &n);
            snwMat3 m = BlendAffine(world, pose, i).linear;
            doubt = snwMat3_Norm(m) * snwMat3_Norm(m) /
                    snwVec3_Length(snwMat3_MulVec(snwMat3_Cofactor(m), FloatVector(world->normals[i])));
        }
        else
            OracleDual(world, i, &p, &n);
        worst = fmax(worst, snwVec3_Distance(FloatVector(out->positions[i]), p));
        worstNormal = fmax(worstNormal, snwVec3_Distance(FloatVector(out->normals[i]), n) / doubt);
    }
    CHECK_NEAR(worst, 0, 2e-6);
    CHECK_NEAR(worstNormal, 0, 2e-6);
    free(out);
}

TEST(skinning, linearIsThatOfTheOracle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 1);
    snwSkinningPose pose = WorldPose(world, snw_skinningLinear);
    CheckAgainstOracle(world, &pose);
    pose.matrices = (const double(*)[12])world->matrices; // scale, shear and mirrors
    CheckAgainstOracle(world, &pose);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(skinning, dualQuaternionsAreThoseOfTheOracle)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 2);
    snwSkinningPose pose = WorldPose(world, snw_skinningDualQuaternion);
    CheckAgainstOracle(world, &pose);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(skinning, sameBitsForAnyThreadsAndInstructionSet) // Labels: threads
{
    for (int kind = 0; kind < 2; ++kind)
    {
        Skinned* first = NULL;
        for (int run = 0; run < 6; ++run)
        {
            static const int threads[6] = {1, 2, 3, 5, 1, 1};
            snwSimd simd = run == 4 ? snw_simdScalar : run == 5 ? snw_simdBase : snw_simdAuto;
            snwContext* context = snwFixture_Context(threads[run], simd, NULL);
            World* world = NewWorld(context, 3);
            snwSkinningPose pose = WorldPose(world, (snwSkinningKind)kind);
            Skinned* out = Skin(world, &pose);
            if (first == NULL)
                first = out;
            CHECK(memcmp(first, out, sizeof *out) == 0);
            if (out != first)
                free(out);
            FreeWorld(world);
            snwDestroyContext(context);
        }
        free(first);
    }
}

// All handles together: the shape moves as one, also far from the origin, to the last bits of the float it lands on.
TEST(skinning, oneRigidMotionKeepsTheShape)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int kind = 0; kind < 2; ++kind)
        for (int far = 0; far < 2; ++far)
        {
            World* world = NewWorld(context, 4);
            snwVec3 at = far ? (snwVec3){5000, 0, -3000} : (snwVec3){0.5, 1, 0};
            snwQuat q = snwQuat_FromRotationVector((snwVec3){0.3, -1.7, 0.4});
            for (int i = 0; i < s_handles; ++i)
                world->transforms[i] = (snwTransform){at, i % 2 ? q : snwQuat_Scale(q, -1)};
            for (int i = 0; i < s_vertices; ++i)
                world->positions[i][1] += far ? 4000.0f : 0.0f;
            snwSkinningPose pose = WorldPose(world, (snwSkinningKind)kind);
            Skinned* out = Skin(world, &pose);
            double worst = 0;
            for (int i = 0; i < s_vertices; ++i)
                worst = fmax(worst, snwVec3_Distance(FloatVector(out->positions[i]),
                                        snwTransform_Apply(world->transforms[1], FloatVector(world->positions[i]))));
            CHECK_NEAR(worst, 0, far ? 7e-4 : 1e-6); // floats near 5000 are 5e-4 apart
            free(out);
            FreeWorld(world);
        }
    snwDestroyContext(context);
}

// A tube, its far end twisted by half a turn: the middle ring vanishes with linear blending and keeps its radius with
// dual quaternions.
TEST(skinning, twistShowsTheCandyWrapperAndItsCure)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    float ring[16][3];
    double dense[16][2];
    for (int i = 0; i < 16; ++i)
    {
        ring[i][0] = 0, ring[i][1] = (float)cos(i * SNW_PI / 8), ring[i][2] = (float)sin(i * SNW_PI / 8);
        dense[i][0] = dense[i][1] = 0.5;
    }
    snwWeightLists lists = {16, 2, 2, NULL, dense[0], 0.0, 0};
    snwWeights* weights = NULL;
    REQUIRE(snwWeights_FromLists(context, &lists, &weights, NULL, NULL) == snw_ok);
    snwSkinningDef def = snwDefaultSkinningDef();
    def.positions = ring[0], def.weights = weights, def.vertexCount = 16;
    snwSkinning* skinning = NULL;
    REQUIRE(snwCreateSkinning(context, &def, &skinning, NULL) == snw_ok);
    double angle = 0.999 * SNW_PI;
    snwTransform transforms[2] = {
        snwTransform_Identity(), {{0, 0, 0}, snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, angle)}};
    for (int kind = 0; kind < 2; ++kind)
    {
        snwSkinningPose pose = {(snwSkinningKind)kind, transforms, NULL, 2};
        float out[16][3];
        snwSkinningTarget target = {out[0], NULL, 12, 0};
        REQUIRE(snwSkinning_Apply(skinning, &pose, &target, NULL) == snw_ok);
        for (int i = 0; i < 16; ++i)
            CHECK_NEAR(hypot(out[i][1], out[i][2]), kind == 0 ? cos(0.5 * angle) : 1.0, 1e-6);
    }
    snwDestroySkinning(skinning);
    snwContext_Free(context, weights);
    snwDestroyContext(context);
}

TEST(skinning, flatMapsKeepTheNormalsOfTheRestPose)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 5);
    memset(world->matrices, 0, sizeof world->matrices);
    snwSkinningPose pose = WorldPose(world, snw_skinningLinear);
    pose.matrices = (const double(*)[12])world->matrices;
    Skinned* out = Skin(world, &pose);
    CHECK(memcmp(out->normals, world->normals, sizeof out->normals) == 0);
    for (int i = 0; i < s_vertices; ++i)
        CHECK_NEAR(out->positions[i][1], 0, 0);
    free(out);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(skinning, stridesAreKept)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 6);
    snwSkinningPose pose = WorldPose(world, snw_skinningLinear);
    Skinned* tight = Skin(world, &pose);
    struct Wide
    {
        float position[3], tag, normal[3], other;
    }* wide = calloc(s_vertices, sizeof *wide);
    snwSkinningDef def = WorldDef(world);
    for (int i = 0; i < s_vertices; ++i)
    {
        memcpy(wide[i].position, world->positions[i], 12);
        memcpy(wide[i].normal, world->normals[i], 12);
        wide[i].tag = 7, wide[i].other = 8;
    }
    def.positions = wide[0].position, def.normals = wide[0].normal, def.stride = (int)sizeof *wide;
    snwSkinning* skinning = NULL;
    REQUIRE(snwCreateSkinning(context, &def, &skinning, NULL) == snw_ok);
    snwSkinningTarget target = {wide[0].position, wide[0].normal, (int)sizeof *wide, (int)sizeof *wide};
    CHECK_INT(snwSkinning_Apply(skinning, &pose, &target, NULL), snw_ok);
    for (int i = 0; i < s_vertices; ++i)
    {
        CHECK(memcmp(wide[i].position, tight->positions[i], 12) == 0);
        CHECK(memcmp(wide[i].normal, tight->normals[i], 12) == 0);
        CHECK(wide[i].tag == 7 && wide[i].other == 8);
    }
    snwDestroySkinning(skinning);
    free(wide);
    free(tight);
    FreeWorld(world);
    snwDestroyContext(context);
}

static void CheckPoseRefused(World* world, const snwSkinningPose* pose, const char* part)
{
    snwSkinning* skinning = NULL;
    snwSkinningDef def = WorldDef(world);
    Skinned *out = calloc(1, sizeof *out), *zero = calloc(1, sizeof *zero);
    snwSkinningTarget target = SkinnedTarget(out);
    snwMessage message;
    REQUIRE(snwCreateSkinning(world->context, &def, &skinning, NULL) == snw_ok);
    CHECK_INT(snwSkinning_Apply(skinning, pose, &target, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, part);
    CHECK(memcmp(out, zero, sizeof *out) == 0);
    snwDestroySkinning(skinning);
    free(out);
    free(zero);
}

TEST(skinning, posesThatAreNotFiniteAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 7);
    for (int kind = 0; kind < 2; ++kind)
    {
        snwSkinningPose pose = WorldPose(world, (snwSkinningKind)kind);
        snwTransform good = world->transforms[16];
        world->transforms[16].position.y = NAN;
        CheckPoseRefused(world, &pose, "handle 16 of the pose");
        world->transforms[16] = good, world->transforms[16].rotation.w = INFINITY;
        CheckPoseRefused(world, &pose, "handle 16 of the pose");
        world->transforms[16] = good, world->transforms[16].rotation = (snwQuat){0, 0, 0, 0};
        CheckPoseRefused(world, &pose, "handle 16 of the pose");
        world->transforms[16] = good;
        pose.count = 16;
        CheckPoseRefused(world, &pose, "the pose has 16 handles, the skinning 17");
    }
    snwSkinningPose pose = WorldPose(world, snw_skinningLinear);
    pose.matrices = (const double(*)[12])world->matrices;
    world->matrices[3][7] = NAN;
    CheckPoseRefused(world, &pose, "handle 3 of the pose");
    world->matrices[3][7] = 0, world->matrices[3][5] = -INFINITY;
    CheckPoseRefused(world, &pose, "handle 3 of the pose");
    world->matrices[3][5] = 0, pose.kind = snw_skinningDualQuaternion;
    CheckPoseRefused(world, &pose, "rigid transforms only");
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(skinning, nonsenseIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    World* world = NewWorld(context, 8);
    snwSkinning* skinning = NULL;
    snwMessage message;
    snwSkinningDef def = WorldDef(world);
    def.vertexCount = s_vertices + 1;
    CHECK_INT(snwCreateSkinning(context, &def, &skinning, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "vertex 1003 has row 1003 of 1003");
    def = WorldDef(world), def.stride = 10;
    CHECK_INT(snwCreateSkinning(context, &def, &skinning, &message), snw_errorArgument);
    def = WorldDef(world), def.weights = NULL;
    CHECK_INT(snwCreateSkinning(context, &def, &skinning, &message), snw_errorArgument);
    def = WorldDef(world), world->positions[1002][2] = NAN;
    CHECK_INT(snwCreateSkinning(context, &def, &skinning, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "vertex 1002");
    world->positions[1002][2] = 0, def.normals = NULL;
    REQUIRE(snwCreateSkinning(context, &def, &skinning, &message) == snw_ok);
    Skinned* out = calloc(1, sizeof *out);
    snwSkinningTarget target = SkinnedTarget(out);
    snwSkinningPose pose = WorldPose(world, snw_skinningLinear);
    CHECK_INT(snwSkinning_Apply(skinning, &pose, &target, &message), snw_errorArgument);
    CHECK_CONTAINS(message.text, "without normals");
    snwDestroySkinning(skinning);
    free(out);
    FreeWorld(world);
    snwDestroyContext(context);
}

TEST(skinning, steadyCallsUseNoHeapAndSharedOnesAgree)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, &counter);
    World* world = NewWorld(context, 9);
    snwSkinning *skinning = NULL, *other = NULL;
    snwSkinningDef def = WorldDef(world);
    REQUIRE(snwCreateSkinning(context, &def, &skinning, NULL) == snw_ok);
    REQUIRE(snwSkinning_Share(skinning, &other, NULL) == snw_ok);
    Skinned *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    snwSkinningTarget targetA = SkinnedTarget(a), targetB = SkinnedTarget(b);
    snwSkinningPose pose = WorldPose(world, snw_skinningLinear);
    long before = counter.allocations;
    for (int i = 0; i < 10; ++i)
    {
        pose.kind = (snwSkinningKind)(i % 2);
        CHECK_INT(snwSkinning_Apply(skinning, &pose, &targetA, NULL), snw_ok);
    }
    CHECK_INT(counter.allocations, before);
    snwDestroySkinning(skinning); // the other one keeps what they share
    CHECK_INT(snwSkinning_Apply(other, &pose, &targetB, NULL), snw_ok);
    CHECK(memcmp(a, b, sizeof *a) == 0);
    snwDestroySkinning(other);
    free(a);
    free(b);
    FreeWorld(world);
    snwDestroyContext(context);
    CHECK_INT(counter.live, 0);
}

TEST(skinning, everyFailedAllocationIsAnErrorWithoutLeak)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    World* world = NewWorld(context, 10);
    snwSkinningDef def = WorldDef(world);
    long live = counter.live;
    bool done = false;
    for (int i = 1; !done; ++i)
    {
        snwSkinning *skinning = NULL, *other = NULL;
        counter.failAt = counter.allocations + i;
        snwResult result = snwCreateSkinning(context, &def, &skinning, NULL);
        if (result == snw_ok)
            result = snwSkinning_Share(skinning, &other, NULL);
        done = result == snw_ok;
        CHECK(done || result == snw_errorMemory);
        snwDestroySkinning(other);
        snwDestroySkinning(skinning);
        CHECK_INT(counter.live, live);
        CHECK(i < 100);
    }
    counter.failAt = 0;
    FreeWorld(world);
    snwDestroyContext(context);
}
