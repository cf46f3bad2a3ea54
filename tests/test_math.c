// Vectors, quaternions, transforms, the decompositions in double and the wide floats.
// Labels: kernels

#include "test.h"

#include "math/cpu.h"
#include "math/eigen.h"
#include "math/transform.h"
#include "simd_probe.h"

#include <float.h>

static double Signed(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

static snwVec3 RandomVec(uint64_t* seed)
{
    double x = Signed(seed), y = Signed(seed), z = Signed(seed);
    return (snwVec3){x, y, z};
}

static snwQuat RandomQuat(uint64_t* seed)
{
    double x = Signed(seed), y = Signed(seed), z = Signed(seed), w = Signed(seed);
    return snwQuat_Normalize((snwQuat){x, y, z, w});
}

static snwMat3 RandomMat(uint64_t* seed)
{
    snwVec3 a = RandomVec(seed), b = RandomVec(seed), c = RandomVec(seed);
    return snwMat3_FromColumns(a, b, c);
}

static double MatDistance(snwMat3 a, snwMat3 b)
{
    return snwMat3_LargestEntry(snwMat3_Sub(a, b));
}

TEST(math, vectors)
{
    snwVec3 a = {1, 2, 3}, b = {-2, 0.5, 4};
    CHECK(snwVec3_Dot(a, b) == 11);
    snwVec3 c = snwVec3_Cross(a, b);
    CHECK(c.x == 6.5 && c.y == -10 && c.z == 4.5);
    CHECK(snwVec3_Length((snwVec3){2, 3, 6}) == 7);
    snwVec3 m = snwVec3_MulAdd(a, 2, b);
    CHECK(m.x == -3 && m.y == 3 && m.z == 11);
    snwVec3 l = snwVec3_Lerp(a, b, 0.25);
    CHECK_NEAR(l.x, 0.25, 1e-15);
    CHECK_NEAR(l.z, 3.25, 1e-15);
    snwVec3 low = snwVec3_Min(a, b), high = snwVec3_Max(a, b);
    CHECK(low.x == -2 && low.y == 0.5 && low.z == 3 && high.x == 1 && high.y == 2 && high.z == 4);
}

TEST(math, normalizeAtEveryScale)
{
    for (int e = -320; e <= 300; e += 20)
    {
        double s = pow(10, e);
        snwVec3 n = snwVec3_Normalize((snwVec3){2 * s, -3 * s, 6 * s});
        // Below 1e-308 the input itself has few digits.
        double tolerance = e < -308 ? 0.2 : 1e-15;
        CHECK_NEAR(n.y, -3.0 / 7, tolerance);
        CHECK_NEAR(snwVec3_Length(n), 1, 1e-15);
    }
    CHECK(snwVec3_Length(snwVec3_Normalize((snwVec3){0, 0, 0})) == 0);
    CHECK(snwVec3_Length(snwVec3_Normalize((snwVec3){NAN, 1, 0})) == 0);
    CHECK(snwVec3_Length(snwVec3_Normalize((snwVec3){INFINITY, 1, 0})) == 0);
    uint64_t seed = 3;
    for (int i = 0; i < 1000; i++)
    {
        snwVec3 a = snwVec3_Normalize(i < 3 ? (snwVec3){i == 0, i == 1, i == 2} : RandomVec(&seed));
        snwVec3 p = snwVec3_Perpendicular(a);
        CHECK_NEAR(snwVec3_Dot(a, p), 0, 1e-15);
        CHECK_NEAR(snwVec3_Length(p), 1, 1e-15);
    }
}

TEST(math, matrices)
{
    uint64_t seed = 11;
    for (int i = 0; i < 1000; i++)
    {
        snwMat3 a = RandomMat(&seed), b = RandomMat(&seed), inverse;
        snwVec3 v = RandomVec(&seed);
        snwVec3 one = snwMat3_MulVec(snwMat3_Mul(a, b), v), two = snwMat3_MulVec(a, snwMat3_MulVec(b, v));
        CHECK_NEAR(snwVec3_Distance(one, two), 0, 1e-14);
        CHECK_NEAR(snwMat3_Determinant(snwMat3_Mul(a, b)), snwMat3_Determinant(a) * snwMat3_Determinant(b), 1e-14);
        REQUIRE(snwMat3_Inverse(a, &inverse));
        double det = fabs(snwMat3_Determinant(a));
        CHECK_NEAR(MatDistance(snwMat3_Mul(a, inverse), snwMat3_Identity()), 0, 1e-14 / (det * det));
        snwMat3 cofactor = snwMat3_Mul(snwMat3_Transpose(a), snwMat3_Cofactor(a));
        CHECK_NEAR(MatDistance(cofactor, snwMat3_Scale(snwMat3_Identity(), snwMat3_Determinant(a))), 0, 1e-14);
        snwVec3 w = RandomVec(&seed);
        CHECK_NEAR(snwVec3_Distance(snwMat3_MulVec(snwMat3_Skew(v), w), snwVec3_Cross(v, w)), 0, 1e-15);
        CHECK_NEAR(snwMat3_Trace(snwMat3_Outer(v, w)), snwVec3_Dot(v, w), 1e-15);
    }
    snwMat3 keep = snwMat3_Identity();
    CHECK(!snwMat3_Inverse((snwMat3){{{1, 2, 3}, {2, 4, 6}, {0, 0, 1}}}, &keep));
    CHECK(MatDistance(keep, snwMat3_Identity()) == 0);
}

TEST(math, quaternions)
{
    uint64_t seed = 5;
    for (int i = 0; i < 1000; i++)
    {
        snwQuat a = RandomQuat(&seed), b = RandomQuat(&seed);
        snwVec3 v = RandomVec(&seed);
        snwMat3 A = snwQuat_ToMat3(a), B = snwQuat_ToMat3(b);
        CHECK_NEAR(snwVec3_Distance(snwQuat_Rotate(a, v), snwMat3_MulVec(A, v)), 0, 1e-14);
        CHECK_NEAR(snwVec3_Distance(snwQuat_InverseRotate(a, snwQuat_Rotate(a, v)), v), 0, 1e-14);
        CHECK_NEAR(MatDistance(snwQuat_ToMat3(snwQuat_Mul(a, b)), snwMat3_Mul(A, B)), 0, 1e-14);
        CHECK_NEAR(snwQuat_Angle(snwQuat_FromMat3(A), a), 0, 1e-14);
        CHECK_NEAR(snwMat3_Determinant(A), 1, 1e-14);
        snwVec3 log = snwQuat_ToRotationVector(a);
        CHECK(snwVec3_Length(log) <= 3.1415926535897936);
        CHECK_NEAR(snwQuat_Angle(snwQuat_FromRotationVector(log), a), 0, 1e-14);
        snwVec3 from = snwVec3_Normalize(v), to = snwQuat_Rotate(b, from);
        CHECK_NEAR(snwVec3_Distance(snwQuat_Rotate(snwQuat_Between(from, to), from), to), 0, 1e-13);
    }
    // A quarter turn about z takes x to y.
    snwVec3 y = snwQuat_Rotate(snwQuat_FromAxisAngle((snwVec3){0, 0, 2}, 1.5707963267948966), (snwVec3){1, 0, 0});
    CHECK_NEAR(snwVec3_Distance(y, (snwVec3){0, 1, 0}), 0, 1e-15);
    snwQuat half = snwQuat_Between((snwVec3){1, 0, 0}, (snwVec3){-1, 0, 0});
    CHECK_NEAR(snwQuat_Rotate(half, (snwVec3){1, 0, 0}).x, -1, 1e-15);
}

TEST(math, quaternionsHalfTurnsAndRubbish)
{
    // Each branch of the conversion from matrices, at and near half turns.
    static const snwVec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
    for (int i = 0; i < 7; i++)
    {
        for (int k = -2; k <= 2; k++)
        {
            snwQuat q = snwQuat_FromAxisAngle(axes[i], 3.14159265358979 + 1e-6 * k);
            CHECK_NEAR(snwQuat_Angle(snwQuat_FromMat3(snwQuat_ToMat3(q)), q), 0, 1e-14);
        }
    }
    snwQuat identity[] = {{0, 0, 0, 0}, {NAN, 0, 0, 1}, {INFINITY, 0, 0, 0}};
    for (int i = 0; i < 3; i++)
        CHECK(snwQuat_Normalize(identity[i]).w == 1);
    CHECK_NEAR(snwQuat_Normalize((snwQuat){3e200, 0, 0, 4e200}).w, 0.8, 1e-15);
    CHECK_NEAR(snwQuat_Normalize((snwQuat){3e-200, 0, 0, 4e-200}).w, 0.8, 1e-15);
}

TEST(math, quaternionBlends)
{
    uint64_t seed = 8;
    for (int i = 0; i < 1000; i++)
    {
        snwQuat a = RandomQuat(&seed), b = RandomQuat(&seed);
        double t = snwTest_Random(&seed), angle = snwQuat_Angle(a, b);
        snwQuat s = snwQuat_Slerp(a, b, t);
        CHECK_NEAR(snwQuat_Angle(a, s), t * angle, 1e-13);
        CHECK_NEAR(snwQuat_Angle(s, b), (1 - t) * angle, 1e-13);
        CHECK_NEAR(snwQuat_Angle(snwQuat_Nlerp(a, b, 0.5), snwQuat_Slerp(a, b, 0.5)), 0, 1e-13);
        CHECK_NEAR(snwQuat_Angle(snwQuat_Slerp(a, snwQuat_Scale(b, -1), t), s), 0, 1e-13);
        CHECK_NEAR(snwQuat_Angle(snwQuat_Nlerp(a, b, 0), a), 0, 1e-15);
        // Across the switch between the two blends.
        snwQuat near = snwQuat_Mul(a, snwQuat_FromAxisAngle((snwVec3){1, 2, 3}, 8.9e-4 + 1e-6 * i / 10));
        CHECK_NEAR(snwQuat_Angle(a, snwQuat_Slerp(a, near, t)), t * snwQuat_Angle(a, near), 1e-10);
    }
}

TEST(math, transforms)
{
    uint64_t seed = 21;
    for (int i = 0; i < 1000; i++)
    {
        snwTransform a = {RandomVec(&seed), RandomQuat(&seed)}, b = {RandomVec(&seed), RandomQuat(&seed)};
        snwVec3 p = RandomVec(&seed), q = snwTransform_Apply(snwTransform_Compose(a, b), p);
        CHECK_NEAR(snwVec3_Distance(q, snwTransform_Apply(a, snwTransform_Apply(b, p))), 0, 1e-14);
        CHECK_NEAR(snwVec3_Distance(snwTransform_ApplyInverse(a, snwTransform_Apply(a, p)), p), 0, 1e-14);
        CHECK_NEAR(
            snwVec3_Distance(snwTransform_Apply(snwTransform_Inverse(a), snwTransform_Apply(a, p)), p), 0, 1e-14);
        snwTransform back = snwTransform_Compose(a, snwTransform_Between(a, b));
        CHECK_NEAR(snwVec3_Distance(back.position, b.position), 0, 1e-14);
        snwAffine f = snwAffine_FromTransform(a);
        CHECK_NEAR(snwVec3_Distance(snwAffine_Apply(f, p), snwTransform_Apply(a, p)), 0, 1e-14);
        CHECK_NEAR(snwQuat_Angle(snwAffine_ToTransform(f).rotation, a.rotation), 0, 1e-14);
        snwAffine g = snwAffine_FromTrs(b.position, b.rotation, (snwVec3){2, 0.5, 3}), inverse;
        snwVec3 scaled = {2 * p.x, 0.5 * p.y, 3 * p.z};
        CHECK_NEAR(snwVec3_Distance(snwAffine_Apply(g, p), snwTransform_Apply(b, scaled)), 0, 1e-14);
        REQUIRE(snwAffine_Inverse(g, &inverse));
        CHECK_NEAR(snwVec3_Distance(snwAffine_Apply(snwAffine_Compose(inverse, g), p), p), 0, 1e-13);
    }
    snwAffine flat = snwAffine_FromTrs((snwVec3){0, 0, 0}, snwQuat_Identity(), (snwVec3){1, 0, 1}), out;
    CHECK(!snwAffine_Inverse(flat, &out));
}

// ---------------------------------------------------------------------------------------------------------------------
// Decompositions

static void CheckRotation(snwMat3 R)
{
    CHECK_NEAR(MatDistance(snwMat3_TransposeMul(R, R), snwMat3_Identity()), 0, 1e-14);
    CHECK_NEAR(snwMat3_Determinant(R), 1, 1e-14);
}

static void CheckEigen3(snwMat3 a, double scale)
{
    snwEigen3 e = snwEigen3_Symmetric(a);
    CheckRotation(e.vectors);
    CHECK(e.values[0] >= e.values[1] && e.values[1] >= e.values[2]);
    // Divided first: the products of a matrix near 1e300 would overflow.
    snwMat3 d = snwMat3_Diagonal(e.values[0] / scale, e.values[1] / scale, e.values[2] / scale);
    snwMat3 rebuilt = snwMat3_MulTranspose(snwMat3_Mul(e.vectors, d), e.vectors);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            CHECK_NEAR(rebuilt.m[i][j], a.m[i][j] / scale, 4e-15);
}

TEST(math, eigen3)
{
    uint64_t seed = 31;
    for (int i = 0; i < 2000; i++)
    {
        double scale = i % 4 == 0 ? 1e300 : i % 4 == 1 ? 1e-300 : 1;
        snwMat3 b = RandomMat(&seed), a = snwMat3_Add(b, snwMat3_Transpose(b));
        snwMat3 V = snwQuat_ToMat3(RandomQuat(&seed));
        if (i % 8 == 7) // double eigenvalue
            a = snwMat3_MulTranspose(snwMat3_Mul(V, snwMat3_Diagonal(2, 1, 2)), V);
        CheckEigen3(snwMat3_Scale(a, scale), scale);
    }
    CheckEigen3(snwMat3_Identity(), 1);
    CheckEigen3(snwMat3_Scale(snwMat3_Identity(), 0), 1);
    CheckEigen3(snwMat3_Diagonal(1, 2, 3), 1);
    CheckEigen3((snwMat3){{{1, 1e-9, 1e-17}, {1e-9, 1, 1e-12}, {1e-17, 1e-12, 1}}}, 1);
    CHECK(isnan(snwEigen3_Symmetric(snwMat3_Diagonal(NAN, 1, 1)).values[0]));
}

TEST(math, eigen4)
{
    uint64_t seed = 37;
    for (int n = 0; n < 2000; n++)
    {
        double a[4][4];
        for (int i = 0; i < 4; i++)
            for (int j = i; j < 4; j++)
                a[i][j] = a[j][i] = Signed(&seed);
        snwEigen4 e = snwEigen4_Symmetric((const double(*)[4])a);
        for (int v = 0; v < 4; v++)
        {
            double length = 0;
            for (int i = 0; i < 4; i++)
            {
                double row = 0;
                for (int j = 0; j < 4; j++)
                    row += a[i][j] * e.vectors[v][j];
                CHECK_NEAR(row, e.values[v] * e.vectors[v][i], 1e-14);
                length += e.vectors[v][i] * e.vectors[v][i];
            }
            CHECK_NEAR(length, 1, 1e-14);
            CHECK(v == 0 || e.values[v - 1] >= e.values[v]);
        }
    }
}

static void CheckSvd(snwMat3 F, double scale)
{
    snwSvd3 s = snwSvd3_Signed(F);
    CheckRotation(s.U);
    CheckRotation(s.V);
    CHECK(s.sigma[0] >= s.sigma[1] && s.sigma[1] >= fabs(s.sigma[2]));
    snwMat3 d = snwMat3_Diagonal(s.sigma[0] / scale, s.sigma[1] / scale, s.sigma[2] / scale);
    snwMat3 rebuilt = snwMat3_MulTranspose(snwMat3_Mul(s.U, d), s.V), scaled;
    for (int i = 0; i < 9; i++)
        scaled.m[i / 3][i % 3] = F.m[i / 3][i % 3] / scale;
    CHECK_NEAR(MatDistance(rebuilt, scaled), 0, 4e-15);
    double det = snwMat3_Determinant(scaled);
    CHECK_NEAR(d.m[0][0] * d.m[1][1] * d.m[2][2], det, 1e-14);
}

TEST(math, svd3)
{
    uint64_t seed = 41;
    for (int i = 0; i < 3000; i++)
    {
        double scale = i % 3 == 0 ? 1e300 : i % 3 == 1 ? 1e-300 : 1;
        snwMat3 F = RandomMat(&seed);
        if (i % 5 == 0)
            F = snwMat3_FromColumns(snwMat3_Column(F, 0), snwMat3_Column(F, 1), snwMat3_Column(F, 0));
        if (i % 5 == 1)
            F = snwMat3_Outer(snwMat3_Column(F, 0), snwMat3_Column(F, 1));
        CheckSvd(snwMat3_Scale(F, scale), scale);
    }
    CheckSvd(snwMat3_Scale(snwMat3_Identity(), 0), 1);
    CheckSvd(snwMat3_Diagonal(-1, -1, -1), 1);
    CheckSvd(snwMat3_Diagonal(0, 0, -2), 1);
    CheckSvd((snwMat3){{{1, 1e-200, 0}, {0, 1e-200, 1e-160}, {0, 0, 1e-170}}}, 1);
    CHECK(isnan(snwSvd3_Signed(snwMat3_Diagonal(1, INFINITY, 1)).sigma[0]));
}

TEST(math, svd3FindsKnownValues)
{
    uint64_t seed = 43;
    for (int i = 0; i < 1000; i++)
    {
        double small = pow(10, -12 * snwTest_Random(&seed)) * (i % 2 ? -0.5 : 0.5);
        snwMat3 U = snwQuat_ToMat3(RandomQuat(&seed)), V = snwQuat_ToMat3(RandomQuat(&seed));
        snwMat3 F = snwMat3_MulTranspose(snwMat3_Mul(U, snwMat3_Diagonal(3, 1, small)), V);
        snwPolar3 polar = snwPolar3_Compute(F);
        CHECK_NEAR(polar.sigma[0], 3, 1e-14);
        CHECK_NEAR(polar.sigma[1], 1, 1e-14);
        CHECK_NEAR(polar.sigma[2], small, 1e-14);
        CHECK_NEAR(polar.uniqueness, (1 + small) / 3, 1e-14);
        CHECK_NEAR(MatDistance(polar.rotation, snwMat3_MulTranspose(U, V)), 0, 1e-13);
    }
}

// By definition and not by formula: nothing near or far has a larger trace.
TEST(math, polar3IsTheMaximum)
{
    uint64_t seed = 47;
    for (int i = 0; i < 300; i++)
    {
        snwMat3 F = RandomMat(&seed);
        snwMat3 R = snwPolar3_Compute(F).rotation;
        double best = snwMat3_Trace(snwMat3_TransposeMul(R, F));
        for (int k = 0; k < 100; k++)
        {
            snwVec3 small = snwVec3_Scale(RandomVec(&seed), pow(10, -(k % 7)));
            snwMat3 other = snwMat3_Mul(R, snwQuat_ToMat3(snwQuat_FromRotationVector(small)));
            CHECK(snwMat3_Trace(snwMat3_TransposeMul(other, F)) <= best + 1e-14);
            other = snwQuat_ToMat3(RandomQuat(&seed));
            CHECK(snwMat3_Trace(snwMat3_TransposeMul(other, F)) <= best + 1e-14);
        }
    }
    CHECK(snwPolar3_Compute(snwMat3_Scale(snwMat3_Identity(), 0)).uniqueness == 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Wide floats

TEST(math, simdChoice)
{
    snwSimd best = snwSimd_Best();
    CHECK(best >= snw_simdScalar && best <= snw_simdAvx2);
    CHECK(snwSimd_Resolve(snw_simdAuto) == best);
    CHECK(snwSimd_Resolve(snw_simdScalar) == snw_simdScalar);
    CHECK(snwSimd_Resolve(snw_simdAvx2) == best);
    CHECK(strcmp(snwSimd_Name(snw_simdAvx2), "avx2") == 0);
    CHECK(strcmp(snwSimd_Name(snw_simdScalar), "scalar") == 0);
#if defined(SNW_SCALAR)
    CHECK(best == snw_simdScalar);
#endif
}

enum
{
    SNW_PROBE_COUNT = 4096
};

// Ordinary numbers, and every kind that is not.
static float ProbeValue(uint64_t* seed)
{
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45f, -1e-45f, 1};
    double r = snwTest_Random(seed);
    if (r < 0.3)
        return odd[(int)(snwTest_Random(seed) * 11)];
    if (r < 0.6)
        return (float)Signed(seed);
    uint32_t bits = (uint32_t)(snwTest_Random(seed) * 4294967296.0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool SameBits(float a, float b)
{
    uint32_t bitsA, bitsB;
    memcpy(&bitsA, &a, sizeof a);
    memcpy(&bitsB, &b, sizeof b);
    return (isnan(a) && isnan(b)) || bitsA == bitsB;
}

// What simd.h promises, in plain C; true for operations that this does not spell out.
static bool MatchesDefinition(snwProbeOp op, float a, float b, float out)
{
    switch (op)
    {
        case snw_probeAdd:
            return SameBits(out, a + b);
        case snw_probeDiv:
            return SameBits(out, a / b);
        case snw_probeSqrt:
            return SameBits(out, sqrtf(a));
        case snw_probeMin:
            return SameBits(out, a < b ? a : b);
        case snw_probeMax:
            return SameBits(out, a > b ? a : b);
        case snw_probeAbs:
            return SameBits(out, fabsf(a));
        case snw_probeSelect:
            return SameBits(out, a < b ? a * 2 : b);
        case snw_probeMasks:
            return out == (a < b ? 1.0f : 0.0f);
        default:
            return true;
    }
}

TEST(math, simdSameBits)
{
    static _Alignas(32) float a[SNW_PROBE_COUNT], b[SNW_PROBE_COUNT], expected[SNW_PROBE_COUNT], out[SNW_PROBE_COUNT];
    const snwSimdProbe* probes[] = {snwSimdProbe_Base(), snwSimd_Best() == snw_simdAvx2 ? snwSimdProbe_Avx2() : NULL};
    uint64_t seed = 53;
    for (int i = 0; i < SNW_PROBE_COUNT; i++)
    {
        a[i] = ProbeValue(&seed);
        b[i] = ProbeValue(&seed);
    }
    for (int op = 0; op < snw_probeOpCount; op++)
    {
        snwSimdProbe_Scalar()->run((snwProbeOp)op, SNW_PROBE_COUNT, a, b, expected);
        for (int i = 0; i < SNW_PROBE_COUNT; i++)
            if (!MatchesDefinition((snwProbeOp)op, a[i], b[i], expected[i]))
                snwTest_Fail(__FILE__, __LINE__, "operation %d of %g, %g is %g", op, a[i], b[i], expected[i]);
        for (int p = 0; p < 2; p++)
        {
            if (probes[p] == NULL)
                continue;
            probes[p]->run((snwProbeOp)op, SNW_PROBE_COUNT, a, b, out);
            for (int i = 0; i < SNW_PROBE_COUNT; i++)
                if (!SameBits(out[i], expected[i]))
                    snwTest_Fail(__FILE__, __LINE__, "operation %d of %g, %g in %d lanes is %g, scalar %g", op, a[i],
                        b[i], probes[p]->lanes, out[i], expected[i]);
        }
    }
}

TEST(math, simdRows)
{
    enum
    {
        rows = 256
    };
    static _Alignas(32) float in[4 * rows], out[4 * rows];
    static _Alignas(32) int index[rows];
    const snwSimdProbe* probes[] = {snwSimdProbe_Scalar(), snwSimdProbe_Base(), NULL};
    probes[2] = snwSimd_Best() == snw_simdAvx2 ? snwSimdProbe_Avx2() : NULL;
    for (int i = 0; i < 4 * rows; i++)
        in[i] = (float)i;
    for (int i = 0; i < rows; i++)
        index[i] = (i * 77 + 13) % rows; // 77 is odd: each row once
    for (int p = 0; p < 3; p++)
    {
        if (probes[p] == NULL)
            continue;
        memset(out, 0, sizeof out);
        probes[p]->rows(rows, index, in, out);
        for (int i = 0; i < 4 * rows; i++)
            CHECK(out[i] == (float)(i + i % 4));
    }
}
