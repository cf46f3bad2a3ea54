// Whom vertices follow, and helper joints on flesh that is known exactly.

#include "fixture.h"
#include "test.h"

#include "bake/joint_fit.h"
#include "base/context.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Choices

// Candidates with random errors over some frames.
static void MakeChoice(uint64_t* seed, int count, int rows, snwJointChoice* c)
{
    double errors[snw_mostCandidates][32];
    *c = (snwJointChoice){0};
    for (int k = 0; k < count; ++k)
    {
        snwJointChoice_Add(c, 10 + k);
        for (int r = 0; r < rows; ++r)
            errors[k][r] = snwTest_Random(seed) - 0.4;
    }
    for (int k = 0; k < count; ++k)
        for (int l = 0; l < count; ++l)
            for (int r = 0; r < rows; ++r)
                c->gram[k][l] += errors[k][r] * errors[l][r];
}

// The least w^T G w with w >= 0 that sum to one, by trying a fine grid of exchanges from every corner: plain and slow.
static double Least(const snwJointChoice* choice)
{
    double least = INFINITY;
    for (int corner = 0; corner < choice->count; ++corner)
    {
        snwJointChoice c = *choice;
        memset(c.weights, 0, sizeof c.weights);
        c.weights[corner] = 1;
        for (double step = 0.25; step > 1e-9; step *= 0.5)
            for (bool better = true; better;)
            {
                better = false;
                for (int k = 0; k < c.count; ++k)
                    for (int l = 0; l < c.count; ++l)
                    {
                        snwJointChoice trial = c;
                        double part = fmin(step, c.weights[k]);
                        trial.weights[k] -= part;
                        trial.weights[l] += part;
                        if (k != l && part > 0 && snwJointChoice_Cost(&trial) < snwJointChoice_Cost(&c) - 1e-15)
                        {
                            c = trial;
                            better = true;
                        }
                    }
            }
        least = fmin(least, snwJointChoice_Cost(&c));
    }
    return least;
}

TEST(jointChoice, weightsAreTheBestThereAre)
{
    uint64_t seed = 3;
    for (int n = 0; n < 12; ++n)
    {
        snwJointChoice c;
        MakeChoice(&seed, 2 + n % 4, 9, &c);
        double least = Least(&c), sum = 0;
        snwJointChoice_Thin(&c, snw_mostInfluences);
        for (int k = 0; k < c.count; ++k)
        {
            CHECK(c.weights[k] >= 0);
            sum += c.weights[k];
        }
        CHECK_NEAR(sum, 1, 1e-12);
        CHECK_NEAR(snwJointChoice_Cost(&c), least, 1e-6 * least);
    }
}

// Four joints make the vertex but for a little, one of them by a hundredth from afar; six others help with the rest. A
// choice by the size of the weights would drop the one that is far.
TEST(jointChoice, aSmallWeightFromAfarStays)
{
    static const double s_weights[4] = {0.5, 0.3, 0.19, 0.01};
    uint64_t seed = 8;
    for (int n = 0; n < 10; ++n)
    {
        enum
        {
            snw_rows = 30
        };
        double errors[10][snw_rows];
        snwJointChoice c = {0};
        for (int r = 0; r < snw_rows; ++r)
        {
            for (int k = 0; k < 10; ++k)
                errors[k][r] = (snwTest_Random(&seed) - 0.5) * (k == 3 ? 20 : 1);
            double sum = s_weights[1] * errors[1][r] + s_weights[2] * errors[2][r] + s_weights[3] * errors[3][r];
            errors[0][r] = (0.05 * (snwTest_Random(&seed) - 0.5) - sum) / s_weights[0];
            for (int k = 4; k < 10; ++k)
                errors[k][r] *= 0.2;
        }
        for (int k = 0; k < 10; ++k)
        {
            snwJointChoice_Add(&c, k);
            for (int l = 0; l < 10; ++l)
                for (int r = 0; r < snw_rows; ++r)
                    c.gram[k][l] += errors[k][r] * errors[l][r];
        }
        int order[snw_mostInfluences];
        snwJointChoice_Thin(&c, 4);
        CHECK_INT(snwJointChoice_Sort(&c, order), 4);
        for (int k = 0; k < 4; ++k)
        {
            CHECK_INT(order[k], k);
            CHECK_NEAR(c.weights[k], s_weights[k], 0.03);
        }
    }
}

TEST(jointChoice, candidatesThatMoveAlikeDoNoHarm)
{
    snwJointChoice c = {0};
    for (int k = 0; k < 6; ++k)
    {
        snwJointChoice_Add(&c, k);
        snwJointChoice_Add(&c, k); // is there
    }
    for (int k = 0; k < 6; ++k)
        for (int l = 0; l < 6; ++l)
            c.gram[k][l] = (k < 3 ? 1 : -1) * (l < 3 ? 1 : -1) * 4;
    CHECK_INT(c.count, 6);
    snwJointChoice_Thin(&c, 4);
    CHECK(snwJointChoice_Cost(&c) < 1e-9); // half of either kind
}

// ---------------------------------------------------------------------------------------------------------------------
// Fits

enum
{
    snw_limbs = 6,
    snw_poses = 10,
    snw_dots = 96
};

typedef struct Flesh
{
    snwJointFitDef def;
    snwAffine places[snw_poses * snw_limbs], binds[snw_limbs];
    float bases[snw_poses * snw_dots * 3], targets[snw_poses * snw_dots * 3];
    int starts[snw_dots + 1], bones[4 * snw_dots];
    double values[4 * snw_dots];
} Flesh;

static snwVec3 Plain(const snwJointFitDef* def, const snwJointFit* fit, int frame, int vertex)
{
    const float* x = def->bases + 3 * ((size_t)frame * (size_t)def->vertexCount + (size_t)vertex);
    snwVec3 base = {(double)x[0], (double)x[1], (double)x[2]}, sum = {0, 0, 0};
    int count = fit != NULL ? snw_mostInfluences : def->starts[vertex + 1] - def->starts[vertex];
    for (int k = 0; k < count; ++k)
    {
        int bone = fit != NULL ? fit->bones[vertex][k] : def->bones[def->starts[vertex] + k];
        double weight = fit != NULL ? (double)fit->weights[vertex][k] : def->values[def->starts[vertex] + k];
        int helper = bone - def->jointCount, joint = helper < 0 ? bone : fit->helpers[helper].parent;
        snwVec3 p = snwAffine_Apply(def->inverseBinds[joint], base);
        if (helper >= 0)
        {
            snwTransform pose = fit->poses[(size_t)frame * (size_t)def->mostHelpers + (size_t)helper];
            p = snwVec3_Sub(p, fit->helpers[helper].centre);
            p = snwVec3_Add(snwQuat_Rotate(pose.rotation, p), pose.position);
        }
        sum = snwVec3_MulAdd(sum, weight, snwAffine_Apply(def->places[frame * def->jointCount + joint], p));
    }
    return sum;
}

// Points in a box of a metre. Each follows four of six joints that swing about, one of them by a fiftieth from three
// metres away, and the flesh of the second half of them swings by 20 mm on top.
static Flesh* MakeFlesh(void)
{
    Flesh* flesh = calloc(1, sizeof *flesh);
    uint64_t seed = 21;
    flesh->def = (snwJointFitDef){.jointCount = snw_limbs,
        .frameCount = snw_poses,
        .vertexCount = snw_dots,
        .places = flesh->places,
        .inverseBinds = flesh->binds,
        .bases = flesh->bases,
        .targets = flesh->targets,
        .starts = flesh->starts,
        .bones = flesh->bones,
        .values = flesh->values,
        .mostHelpers = 64,
        .influences = snw_mostInfluences,
        .tolerance = 1e-3};
    for (int j = 0; j < snw_limbs; ++j)
    {
        snwVec3 at = {j == snw_limbs - 1 ? 3 : 0.2 * j, snwTest_Random(&seed), snwTest_Random(&seed)};
        flesh->binds[j] = (snwAffine){snwMat3_Identity(), snwVec3_Negate(at)};
        for (int f = 0; f < snw_poses; ++f)
        {
            snwVec3 turn = {0.4 * sin(0.5 * f + j), 0.3 * sin(0.6 * f + 2 * j), 0.2 * sin(0.8 * f)};
            flesh->places[f * snw_limbs + j] = (snwAffine){snwQuat_ToMat3(snwQuat_FromRotationVector(turn)), at};
        }
    }
    for (int v = 0; v < snw_dots; ++v)
    {
        float base[3] = {(float)snwTest_Random(&seed), (float)snwTest_Random(&seed), (float)snwTest_Random(&seed)};
        for (int f = 0; f < snw_poses; ++f)
            memcpy(flesh->bases + 3 * (f * snw_dots + v), base, sizeof base);
        for (int k = 0; k < 4; ++k)
        {
            flesh->bones[4 * v + k] = k == 3 ? snw_limbs - 1 : (v + k) % (snw_limbs - 1);
            flesh->values[4 * v + k] = (double[]){0.5, 0.3, 0.18, 0.02}[k];
        }
        flesh->starts[v + 1] = 4 * (v + 1);
    }
    for (int f = 0; f < snw_poses; ++f)
        for (int v = 0; v < snw_dots; ++v)
        {
            float* out = flesh->targets + 3 * (f * snw_dots + v);
            snwVec3 x = Plain(&flesh->def, NULL, f, v);
            const float* base = flesh->bases + 3 * v;
            double reach = v < snw_dots / 2 ? 0 : 0.02, phase = 2 * (double)base[0] + (double)base[1];
            out[0] = (float)(x.x + reach * sin(0.9 * f + phase));
            out[1] = (float)(x.y + reach * cos(0.9 * f + phase));
            out[2] = (float)x.z;
        }
    return flesh;
}

static double PlainError(const Flesh* flesh, const snwJointFit* fit, int count)
{
    double worst = 0;
    for (int f = 0; f < snw_poses; ++f)
        for (int v = 0; v < count; ++v)
        {
            const float* t = flesh->targets + 3 * (f * snw_dots + v);
            snwVec3 target = {(double)t[0], (double)t[1], (double)t[2]};
            worst = fmax(worst, snwVec3_Length(snwVec3_Sub(Plain(&flesh->def, fit, f, v), target)));
        }
    return worst;
}

// How many influences the vertices have at most; the weights are as they should be.
static int CheckInfluences(const Flesh* flesh, const snwJointFit* fit)
{
    int most = 0, used[64 + 1] = {0};
    for (int v = 0; v < snw_dots; ++v)
    {
        double sum = 0;
        for (int k = 0; k < snw_mostInfluences && fit->weights[v][k] > 0; ++k)
        {
            sum += (double)fit->weights[v][k];
            most = k + 1 > most ? k + 1 : most;
            if (fit->bones[v][k] >= snw_limbs)
                ++used[fit->bones[v][k] - snw_limbs];
        }
        CHECK_NEAR(sum, 1, 1e-6);
    }
    for (int h = 0; h < fit->helperCount; ++h)
        CHECK(used[h] > 0);
    CHECK(fit->helperCount <= flesh->def.mostHelpers);
    return most;
}

TEST_HEAVY(jointFit, verticesOfFourBonesKeepTheTolerance)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Flesh* flesh = MakeFlesh();
    snwArena arena = {.context = context};
    snwJointFit fit;
    REQUIRE(snwFitJoints(context, &arena, &flesh->def, &fit, NULL) == snw_ok);
    CHECK(fit.maxError <= flesh->def.tolerance);
    CHECK_NEAR(PlainError(flesh, &fit, snw_dots), fit.maxError, 1e-6);
    int most = CheckInfluences(flesh, &fit);
    CHECK(most > 4 && most <= 8);
    flesh->def.influences = 4;
    REQUIRE(snwFitJoints(context, &arena, &flesh->def, &fit, NULL) == snw_ok);
    CHECK_NEAR(PlainError(flesh, &fit, snw_dots), fit.maxError, 1e-6);
    // Four bones leave no room for a helper: what it would do takes helpers that are followed alone.
    CHECK(CheckInfluences(flesh, &fit) == 4 && fit.maxError <= flesh->def.tolerance);
    snwArena_Free(&arena);
    free(flesh);
    snwDestroyContext(context);
}

TEST(jointFit, thereAreNoMoreHelpersThanAllowed)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Flesh* flesh = MakeFlesh();
    snwArena arena = {.context = context};
    for (int most = 1; most < 4; ++most)
    {
        snwJointFit fit;
        flesh->def.mostHelpers = most;
        REQUIRE(snwFitJoints(context, &arena, &flesh->def, &fit, NULL) == snw_ok);
        CheckInfluences(flesh, &fit);
        CHECK_NEAR(PlainError(flesh, &fit, snw_dots), fit.maxError, 1e-6);
        CHECK(fit.helperCount == most && fit.maxError > flesh->def.tolerance);
    }
    snwArena_Free(&arena);
    free(flesh);
    snwDestroyContext(context);
}

static snwResult StopSoon(double share, void* user)
{
    int* calls = user;
    CHECK(share > 0 && share < 1);
    return ++*calls == 3 ? snw_errorInterrupted : snw_ok;
}

TEST(jointFit, itStopsWhenAsked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Flesh* flesh = MakeFlesh();
    snwArena arena = {.context = context};
    snwJointFit fit;
    int calls = 0;
    flesh->def.progress = StopSoon;
    flesh->def.user = &calls;
    CHECK_INT(snwFitJoints(context, &arena, &flesh->def, &fit, NULL), snw_errorInterrupted);
    CHECK_INT(calls, 3);
    snwArena_Free(&arena);
    free(flesh);
    snwDestroyContext(context);
}
