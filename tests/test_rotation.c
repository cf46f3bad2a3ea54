// The batched rotation kernels: against the reference in double, by definition, and bit for bit between instruction
// sets.
// Labels: kernels

#include "test.h"

#include "kernels_measure.h"
#include "math/cpu.h"
#include "math/eigen.h"
#include "math/rotation.h"

#include <float.h>
#include <stdlib.h>

enum
{
    SNW_TEST_BLOCKS = 256,
    SNW_TEST_LANES = SNW_TEST_BLOCKS * 8
};

static double Signed(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwQuat RandomQuat(uint64_t* seed)
{
    double x = Signed(seed), y = Signed(seed), z = Signed(seed), w = Signed(seed);
    return snwQuat_Normalize((snwQuat){x, y, z, w});
}

static snwMat3 LaneMatrix(const snwMat3Block* m, int i)
{
    snwMat3 out;
    for (int k = 0; k < 9; k++)
        out.m[k / 3][k % 3] = m[i / 8].m[k][i % 8];
    return out;
}

static snwQuat LaneQuat(const snwQuatBlock* q, int i)
{
    const float(*b)[8] = q[i / 8].q;
    return (snwQuat){b[0][i % 8], b[1][i % 8], b[2][i % 8], b[3][i % 8]};
}

static void SetMatrix(snwMat3Block* m, int i, snwMat3 value)
{
    for (int k = 0; k < 9; k++)
        m[i / 8].m[k][i % 8] = (float)value.m[k / 3][k % 3];
}

static void SetQuat(snwQuatBlock* q, int i, snwQuat value)
{
    q[i / 8].q[0][i % 8] = (float)value.x;
    q[i / 8].q[1][i % 8] = (float)value.y;
    q[i / 8].q[2][i % 8] = (float)value.z;
    q[i / 8].q[3][i % 8] = (float)value.w;
}

// Bits and not values: -0 is not +0 here.
static bool SameBits(const void* a, const void* b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static double MatDistance(snwMat3 a, snwMat3 b)
{
    return snwMat3_LargestEntry(snwMat3_Sub(a, b));
}

static void CheckRotation(snwMat3 R, snwQuat q)
{
    CHECK_NEAR(MatDistance(snwMat3_TransposeMul(R, R), snwMat3_Identity()), 0, 2e-6);
    CHECK_NEAR(snwMat3_Determinant(R), 1, 3e-6);
    CHECK_NEAR(snwQuat_Dot(q, q), 1, 1e-6);
    CHECK_NEAR(MatDistance(snwQuat_ToMat3(snwQuat_Normalize(q)), R), 0, 1e-6);
}

// ---------------------------------------------------------------------------------------------------------------------
// Classes of matrices against the reference

static void CheckClassWith(snwPolarClass kind, int count)
{
    for (int guess = 0; guess < snw_polarGuessCount; guess++)
    {
        snwPolarError e = snwMeasurePolarError(snw_simdAuto, kind, (snwPolarGuess)guess, count, 1 + (uint64_t)kind);
        CHECK(e.conditioned <= 1e-5);
        CHECK(e.tame <= 5e-6);
        CHECK(e.orthonormal <= 1.5e-6);
        CHECK(e.shortfall <= 2e-6);
        CHECK_INT(e.notFinite, 0);
        // All but rank one are to be decided, and a fair guess is to go the fast way.
        CHECK(kind == snw_polarRankOne || e.notUnique <= e.count / 10);
        if (kind == snw_polarRandom && guess != snw_guessWrong)
            CHECK(e.robust <= e.count / 100);
        snwSvdError s = snwMeasureSvdError(snw_simdAuto, kind, (snwPolarGuess)guess, count / 3, 5 + (uint64_t)kind);
        CHECK(s.reconstruction <= 2e-6);
        CHECK(s.orthonormal <= 3e-6);
        CHECK(s.sigma <= 1.5e-6);
        CHECK_INT(s.disorder, 0);
    }
}

static void CheckClass(snwPolarClass kind)
{
    CheckClassWith(kind, 30000);
}

TEST_LONG(rotation, tenMillionOfEveryClass)
{
    for (int kind = 0; kind < snw_polarClassCount; kind++)
        CheckClassWith((snwPolarClass)kind, 10000000);
}

TEST_HEAVY(rotation, classRandom)
{
    CheckClass(snw_polarRandom);
}

TEST_HEAVY(rotation, classNearlySingular)
{
    CheckClass(snw_polarNearlySingular);
}

TEST_HEAVY(rotation, classInverted)
{
    CheckClass(snw_polarInverted);
}

TEST_HEAVY(rotation, classRankTwo)
{
    CheckClass(snw_polarRankTwo);
}

TEST_HEAVY(rotation, classRankOne)
{
    CheckClass(snw_polarRankOne);
}

TEST_HEAVY(rotation, classRankZero)
{
    CheckClass(snw_polarRankZero);
}

TEST_HEAVY(rotation, classLarge)
{
    CheckClass(snw_polarLarge);
}

TEST_HEAVY(rotation, classSmall)
{
    CheckClass(snw_polarSmall);
}

// ---------------------------------------------------------------------------------------------------------------------
// By definition

TEST(rotation, maximisesTheTrace)
{
    snwMat3Block F[1], R[1];
    snwSym3Block S[1];
    snwQuatBlock q[1];
    uint64_t seed = 61;
    for (int n = 0; n < 100; n++)
    {
        memset(q, 0, sizeof q);
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 9; k++)
                F[0].m[k][i] = (float)Signed(&seed);
        snwRotation_Kernels(snw_simdAuto)->polar(1, F, q, R, S);
        for (int i = 0; i < 8; i++)
        {
            snwMat3 Fi = LaneMatrix(F, i), Ri = LaneMatrix(R, i), B = snwMat3_TransposeMul(Ri, Fi);
            CheckRotation(Ri, LaneQuat(q, i));
            CHECK_NEAR(MatDistance(B, snwMat3_Transpose(B)), 0, 2e-6);
            snwMat3 Si = {{{S[0].m[0][i], S[0].m[3][i], S[0].m[4][i]}, {S[0].m[3][i], S[0].m[1][i], S[0].m[5][i]},
                {S[0].m[4][i], S[0].m[5][i], S[0].m[2][i]}}};
            CHECK_NEAR(MatDistance(snwMat3_Mul(Ri, Si), Fi), 0, 2e-6);
            double best = snwMat3_Trace(B);
            for (int k = 0; k < 40; k++)
            {
                snwQuat turn = RandomQuat(&seed);
                if (k % 2)
                    turn = snwQuat_Nlerp(snwQuat_Identity(), turn, 0.01);
                snwMat3 other = snwMat3_Mul(Ri, snwQuat_ToMat3(turn));
                CHECK(snwMat3_Trace(snwMat3_TransposeMul(other, Fi)) <= best + 3e-6);
            }
        }
    }
}

// A quaternion that went round a thousand frames is still of unit length and still right.
TEST(rotation, followsATurningBody)
{
    snwMat3Block F[1], R[1];
    snwQuatBlock q[1];
    memset(q, 0, sizeof q);
    snwQuat turn = snwQuat_Identity(), step = snwQuat_FromAxisAngle((snwVec3){1, 2, -1}, 0.1);
    long robust = 0;
    for (int frame = 0; frame < 1000; frame++)
    {
        turn = snwQuat_Normalize(snwQuat_Mul(step, turn));
        for (int i = 0; i < 8; i++)
        {
            double s = 1 + 0.3 * sin(0.1 * frame + i);
            SetMatrix(F, i, snwMat3_Mul(snwQuat_ToMat3(turn), snwMat3_Diagonal(s, 1, 1 / s)));
        }
        robust += snwRotation_Kernels(snw_simdAuto)->extract(1, F, q, R).robust;
        for (int i = 0; i < 8; i++)
            CHECK_NEAR(snwQuat_Angle(snwQuat_Normalize(LaneQuat(q, i)), turn), 0, 2e-6);
        CheckRotation(LaneMatrix(R, 3), LaneQuat(q, 3));
    }
    CHECK_INT(robust, 0);
}

// Where many rotations are equally good the guess decides.
TEST(rotation, keepsToTheGuessWhenNotUnique)
{
    snwMat3Block F[1], R[1];
    snwQuatBlock q[1];
    for (int i = 0; i < 8; i++)
    {
        // Stretched along x and flat otherwise: any turn about x will do.
        SetMatrix(F, i, snwMat3_Diagonal(i + 1, 0, 0));
        SetQuat(q, i, snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, 0.3 * i));
    }
    snwRotationReport report = snwRotation_Kernels(snw_simdAuto)->extract(1, F, q, R);
    CHECK_INT(report.robust, 8);
    for (int i = 0; i < 8; i++)
    {
        snwQuat expected = snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, 0.3 * i);
        CHECK_NEAR(snwQuat_Angle(snwQuat_Normalize(LaneQuat(q, i)), expected), 0, 1e-6);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The edges of float

static void CheckScaled(snwMat3 base, double scale, double tolerance)
{
    static snwMat3Block F[1], R[1];
    static snwSvdBlock svd[1];
    snwQuatBlock q[1], q2[1];
    memset(q, 0, sizeof q);
    memset(q2, 0, sizeof q2);
    for (int i = 0; i < 8; i++)
        SetMatrix(F, i, snwMat3_Scale(base, scale));
    CHECK_INT(snwRotation_Kernels(snw_simdAuto)->extract(1, F, q, R).notFinite, 0);
    snwRotation_Kernels(snw_simdAuto)->svd(1, F, q2, svd);
    CHECK(SameBits(q, q2, sizeof q));
    snwPolar3 reference = snwPolar3_Compute(LaneMatrix(F, 0));
    CHECK_NEAR(MatDistance(LaneMatrix(R, 0), reference.rotation), 0, 5e-6);
    for (int k = 0; k < 3; k++)
    {
        double sigma = svd[0].sigma.v[k][0];
        CHECK_NEAR(sigma / scale, reference.sigma[k] / scale, tolerance);
    }
}

TEST(rotation, allScales)
{
    snwMat3 turn = snwQuat_ToMat3(snwQuat_FromAxisAngle((snwVec3){1, 2, 3}, 2.0));
    snwMat3 base = snwMat3_Mul(turn, (snwMat3){{{0.5, 0.1, -0.2}, {0, 0.4, 0.1}, {0.2, 0.1, 0.3}}});
    for (int e = -140; e <= 128; e++)
        CheckScaled(base, ldexp(1, e), fmax(1e-6, ldexp(1, -149 - e))); // the last denormal is 2^-149
}

TEST(rotation, largestFloats)
{
    snwMat3Block F[1], R[1];
    snwQuatBlock q[1];
    memset(q, 0, sizeof q);
    memset(F, 0, sizeof F);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 9; k++)
            F[0].m[k][i] = (k + i) % 3 ? FLT_MAX : -FLT_MAX;
    CHECK_INT(snwRotation_Kernels(snw_simdAuto)->extract(1, F, q, R).notFinite, 0);
    for (int i = 0; i < 8; i++)
    {
        snwPolar3 reference = snwPolar3_Compute(LaneMatrix(F, i));
        CheckRotation(LaneMatrix(R, i), LaneQuat(q, i));
        if (reference.uniqueness > 0.01)
            CHECK_NEAR(MatDistance(LaneMatrix(R, i), reference.rotation), 0, 5e-6);
    }
}

// Any bits at all: a rotation comes out, and lanes that are not finite are counted.
TEST(rotation, anyBits)
{
    static snwMat3Block F[SNW_TEST_BLOCKS], R[SNW_TEST_BLOCKS];
    static snwQuatBlock q[SNW_TEST_BLOCKS], guess[SNW_TEST_BLOCKS];
    uint64_t seed = 67;
    for (int round = 0; round < 20; round++)
    {
        long broken = 0;
        for (int i = 0; i < SNW_TEST_LANES; i++)
        {
            bool finite = true;
            for (int k = 0; k < 13; k++)
            {
                uint32_t bits = (uint32_t)(snwTest_Random(&seed) * 4294967296.0);
                float* place = k < 9 ? &F[i / 8].m[k][i % 8] : &guess[i / 8].q[k - 9][i % 8];
                memcpy(place, &bits, sizeof bits);
                finite = finite && (k >= 9 || isfinite(*place));
            }
            broken += !finite;
        }
        memcpy(q, guess, sizeof q);
        CHECK_INT(snwRotation_Kernels(snw_simdAuto)->extract(SNW_TEST_BLOCKS, F, q, R).notFinite, broken);
        CHECK(broken > 0);
        for (int i = 0; i < SNW_TEST_LANES; i++)
            CheckRotation(LaneMatrix(R, i), LaneQuat(q, i));
    }
}

TEST(rotation, notFiniteKeepsTheGuess)
{
    static const float poison[] = {NAN, INFINITY, -INFINITY};
    snwQuat guess = snwQuat_FromAxisAngle((snwVec3){3, 1, 2}, 1.2);
    for (int n = 0; n < 3 * 9 * 8; n++)
    {
        snwMat3Block F[1], R[1];
        snwSym3Block S[1];
        snwSvdBlock svd[1];
        snwQuatBlock q[1], q2[1];
        int entry = n / 3 % 9, lane = n / 27;
        for (int i = 0; i < 8; i++)
        {
            SetMatrix(F, i, snwMat3_Identity());
            SetQuat(q, i, snwQuat_Scale(guess, 3));
        }
        memcpy(q2, q, sizeof q);
        F[0].m[entry][lane] = poison[n % 3];
        CHECK_INT(snwRotation_Kernels(snw_simdAuto)->polar(1, F, q, R, S).notFinite, 1);
        CHECK_INT(snwRotation_Kernels(snw_simdAuto)->svd(1, F, q2, svd).notFinite, 1);
        CHECK(SameBits(q, q2, sizeof q));
        for (int i = 0; i < 8; i++)
        {
            snwQuat expected = i == lane ? guess : snwQuat_Identity();
            CHECK_NEAR(snwQuat_Angle(snwQuat_Normalize(LaneQuat(q, i)), expected), 0, 1e-6);
            CheckRotation(LaneMatrix(R, i), LaneQuat(q, i));
            CHECK_NEAR(svd[0].sigma.v[0][i], i == lane ? 0 : 1, 1e-6);
            CHECK_NEAR(S[0].m[1][i], i == lane ? 0 : 1, 1e-6);
        }
    }
}

TEST(rotation, zeroKeepsTheGuess)
{
    snwMat3Block F[1], R[1];
    snwQuatBlock q[1];
    memset(F, 0, sizeof F);
    snwQuat guess[8] = {{0, 0, 0, 0}, {NAN, 0, 0, 1}, {0, 0, 0, -2}, {0, INFINITY, 0, 0}, {1, 1, 1, 1}, {0, 3e-7, 0, 0},
        {1e-20, 0, 0, 0}, {0, 0, 1e20, 0}};
    snwQuat expected[8] = {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, -1}, {0, 0, 0, 1}, {0.5, 0.5, 0.5, 0.5}, {0, 1, 0, 0},
        {0, 0, 0, 1}, {0, 0, 0, 1}};
    for (int i = 0; i < 8; i++)
        SetQuat(q, i, guess[i]);
    snwRotationReport report = snwRotation_Kernels(snw_simdAuto)->extract(1, F, q, R);
    CHECK(report.notFinite == 0 && report.robust == 0);
    for (int i = 0; i < 8; i++)
    {
        snwQuat r = LaneQuat(q, i);
        CHECK_NEAR(snwQuat_Dot(r, expected[i]), 1, 1e-6);
        CHECK_NEAR(MatDistance(LaneMatrix(R, i), snwQuat_ToMat3(expected[i])), 0, 1e-6);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The same bits

typedef struct Results
{
    snwQuatBlock q[6][SNW_TEST_BLOCKS];
    snwMat3Block F[SNW_TEST_BLOCKS], R[4][SNW_TEST_BLOCKS];
    snwSym3Block S[2][SNW_TEST_BLOCKS];
    snwSvdBlock svd[2][SNW_TEST_BLOCKS];
    snwRotationReport report[6];
} Results;

typedef struct Inputs
{
    snwMat3Block F[SNW_TEST_BLOCKS];
    snwQuatBlock guess[SNW_TEST_BLOCKS];
    snwRestTetBlock tets[SNW_TEST_BLOCKS];
    _Alignas(32) float positions[4 * 1000];
} Inputs;

static void FillInputs(Inputs* in, uint64_t seed)
{
    memset(in, 0, sizeof *in);
    for (int i = 0; i < 4000; i++)
        in->positions[i] = (float)Signed(&seed);
    for (int i = 0; i < SNW_TEST_LANES; i++)
    {
        float F[9];
        snwPolarClass kind = (snwPolarClass)(snwTest_Random(&seed) * snw_polarClassCount);
        snwPolarClass_Sample(kind, &seed, F);
        for (int k = 0; k < 9; k++)
        {
            in->F[i / 8].m[k][i % 8] = i % 50 == 0 && k == i / 50 % 9 ? NAN : F[k];
            in->tets[i / 8].inverseRest[k][i % 8] = (float)Signed(&seed);
        }
        for (int k = 0; k < 4; k++)
            in->tets[i / 8].index[k][i % 8] = (int)(snwTest_Random(&seed) * 1000);
        snwMat3 m = LaneMatrix(in->F, i);
        snwQuat right = snwQuat_FromMat3(snwPolar3_Compute(m).rotation), wrong = RandomQuat(&seed);
        SetQuat(in->guess, i, snwQuat_Nlerp(right, wrong, i % 3 == 0 ? 0 : i % 3 == 1 ? 0.1 : 1));
    }
}

static void RunAll(const snwRotationKernels* k, const Inputs* in, Results* out, int blocks)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 6; i++)
        memcpy(out->q[i], in->guess, sizeof in->guess);
    out->report[0] = k->extract(blocks, in->F, out->q[0], out->R[0]);
    out->report[1] = k->polar(blocks, in->F, out->q[1], out->R[1], out->S[0]);
    out->report[2] = k->svd(blocks, in->F, out->q[2], out->svd[0]);
    k->tetDeform(blocks, in->tets, in->positions, out->F);
    out->report[3] = k->tetExtract(blocks, in->tets, in->positions, out->q[3], out->R[2]);
    out->report[4] = k->tetPolar(blocks, in->tets, in->positions, out->q[4], out->R[3], out->S[1]);
    out->report[5] = k->tetSvd(blocks, in->tets, in->positions, out->q[5], out->svd[1]);
}

TEST(rotation, everyInstructionSetGivesTheSameBits)
{
    static Inputs in;
    static Results scalar, wide;
    for (uint64_t seed = 1; seed <= 5; seed++)
    {
        FillInputs(&in, 71 * seed);
        RunAll(snwRotation_KernelsScalar(), &in, &scalar, SNW_TEST_BLOCKS);
        CHECK(scalar.report[0].notFinite > 0 && scalar.report[0].robust > 0);
        for (int simd = snw_simdBase; simd <= (int)snwSimd_Best(); simd++)
        {
            CHECK(snwRotation_Kernels((snwSimd)simd) != snwRotation_KernelsScalar());
            // An odd number too: the last group then goes alone.
            for (int blocks = SNW_TEST_BLOCKS; blocks >= SNW_TEST_BLOCKS - 1; blocks--)
            {
                RunAll(snwRotation_KernelsScalar(), &in, &scalar, blocks);
                RunAll(snwRotation_Kernels((snwSimd)simd), &in, &wide, blocks);
                CHECK(SameBits(&scalar, &wide, sizeof wide));
            }
        }
    }
}

TEST(rotation, kernelsAgreeWithEachOther)
{
    static Inputs in;
    static Results out;
    FillInputs(&in, 73);
    RunAll(snwRotation_Kernels(snw_simdAuto), &in, &out, SNW_TEST_BLOCKS);
    CHECK(SameBits(out.q[0], out.q[1], sizeof out.q[0]) && SameBits(out.q[0], out.q[2], sizeof out.q[0]));
    CHECK(SameBits(out.R[0], out.R[1], sizeof out.R[0]) && SameBits(out.R[2], out.R[3], sizeof out.R[2]));
    CHECK(SameBits(out.q[3], out.q[4], sizeof out.q[3]) && SameBits(out.q[3], out.q[5], sizeof out.q[3]));
    // Gathering is the same as gathering before.
    static snwQuatBlock q[SNW_TEST_BLOCKS];
    memcpy(q, in.guess, sizeof q);
    snwRotation_Kernels(snw_simdAuto)->extract(SNW_TEST_BLOCKS, out.F, q, NULL);
    CHECK(SameBits(q, out.q[3], sizeof q));
    for (int i = 0; i < SNW_TEST_LANES; i++)
    {
        snwVec3 x[4];
        for (int k = 0; k < 4; k++)
        {
            const float* p = &in.positions[4 * in.tets[i / 8].index[k][i % 8]];
            x[k] = (snwVec3){p[0], p[1], p[2]};
        }
        snwMat3 edges = snwMat3_FromColumns(snwVec3_Sub(x[1], x[0]), snwVec3_Sub(x[2], x[0]), snwVec3_Sub(x[3], x[0]));
        snwMat3 rest;
        for (int k = 0; k < 9; k++)
            rest.m[k / 3][k % 3] = in.tets[i / 8].inverseRest[k][i % 8];
        CHECK_NEAR(MatDistance(LaneMatrix(out.F, i), snwMat3_Mul(edges, rest)), 0, 2e-6);
    }
}

// A lane's bits do not depend on its place nor on its neighbours.
TEST(rotation, lanesAreIndependent)
{
    static Inputs in, shuffled;
    static Results plain, mixed;
    static int place[SNW_TEST_LANES];
    uint64_t seed = 79;
    FillInputs(&in, 83);
    for (int i = 0; i < SNW_TEST_LANES; i++)
        place[i] = i;
    for (int i = SNW_TEST_LANES - 1; i > 0; i--)
    {
        int k = (int)(snwTest_Random(&seed) * (i + 1)), swap = place[i];
        place[i] = place[k];
        place[k] = swap;
    }
    memset(&shuffled, 0, sizeof shuffled);
    for (int i = 0; i < SNW_TEST_LANES; i++)
    {
        for (int k = 0; k < 9; k++)
            shuffled.F[place[i] / 8].m[k][place[i] % 8] = in.F[i / 8].m[k][i % 8];
        for (int k = 0; k < 4; k++)
            shuffled.guess[place[i] / 8].q[k][place[i] % 8] = in.guess[i / 8].q[k][i % 8];
    }
    RunAll(snwRotation_Kernels(snw_simdAuto), &in, &plain, SNW_TEST_BLOCKS);
    RunAll(snwRotation_Kernels(snw_simdAuto), &shuffled, &mixed, SNW_TEST_BLOCKS);
    CHECK(plain.report[0].robust == mixed.report[0].robust);
    int different = 0;
    for (int i = 0; i < SNW_TEST_LANES; i++)
    {
        // A decomposition is 21 rows of eight floats.
        const float(*a)[8] = (const float(*)[8])(const void*)&plain.svd[0][i / 8];
        const float(*b)[8] = (const float(*)[8])(const void*)&mixed.svd[0][place[i] / 8];
        for (int k = 0; k < 21; k++)
            different += !SameBits(&a[k][i % 8], &b[k][place[i] % 8], sizeof(float));
        for (int k = 0; k < 9; k++)
            different += !SameBits(
                &plain.R[0][i / 8].m[k][i % 8], &mixed.R[0][place[i] / 8].m[k][place[i] % 8], sizeof(float));
    }
    CHECK_INT(different, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Measuring

TEST(rotation, measurementsRun)
{
    snwPolarTiming timing;
    REQUIRE(snwMeasurePolar(snw_simdAuto, 2000, 2, &timing));
    CHECK(timing.tetCount >= 1500 && timing.tetCount <= 2600 && timing.stale > 0.01 && timing.stale < 0.2);
    CHECK(timing.baselineError < 1e-5);
    for (int stage = 0; stage < snw_polarStageCount; stage++)
        CHECK(timing.best[stage] > 0 && timing.best[stage] <= timing.median[stage]);
    CHECK(snwMeasureReadBandwidth(1 << 20, 3) > 0.1);
}
