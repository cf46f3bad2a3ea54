// Labels: kernels

#include "fixture.h"
#include "math/transform.h"
#include "sim/constraints/damping.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Damping of loose vertices, as it is and vertex by vertex in double.

enum
{
    snw_mostDamped = 2500
};

typedef struct Flesh
{
    int count;
    bool flat, drifts;
    _Alignas(32) float x[snw_mostDamped][4], v[snw_mostDamped][4], d[snw_mostDamped][4];
    double sums[28 * (snw_mostDamped / 1024 + 1)];
} Flesh;

static Flesh* NewFlesh(int count, bool flat, bool drifts, uint64_t seed)
{
    Flesh* flesh = calloc(1, sizeof *flesh);
    flesh->count = count, flesh->flat = flat, flesh->drifts = drifts;
    for (int i = 0; i < count; ++i)
    {
        for (int c = 0; c < (flat ? 2 : 3); ++c)
        {
            flesh->x[i][c] = (float)(10.0 + snwTest_Random(&seed));
            flesh->v[i][c] = (float)(2.0 + snwTest_Random(&seed));
            flesh->d[i][c] = (float)(3.0 * snwTest_Random(&seed));
        }
        flesh->v[i][3] = (float)(0.5 + snwTest_Random(&seed));
        flesh->x[i][3] = i % 7 == 3 ? 0.0f : flesh->v[i][3];
    }
    return flesh;
}

static snwVec3 Row(const float* row)
{
    return (snwVec3){(double)row[0], (double)row[1], (double)row[2]};
}

typedef struct Rigid
{
    snwVec3 centre, velocity, spin;
} Rigid;

// The rigid motion with the momentum and angular momentum of all.
static Rigid RigidPart(const Flesh* flesh, const float (*rows)[4])
{
    Rigid rigid = {0};
    double mass = 0;
    snwVec3 angular = {0, 0, 0};
    snwMat3 inertia = {{{0}}}, inverse = {{{0}}};
    for (int i = 0; i < flesh->count; ++i)
    {
        double m = 1.0 / (double)flesh->v[i][3];
        mass += m;
        rigid.centre = snwVec3_MulAdd(rigid.centre, m, Row(flesh->x[i]));
        rigid.velocity = snwVec3_MulAdd(rigid.velocity, m, Row(rows[i]));
    }
    rigid.centre = snwVec3_Scale(rigid.centre, 1 / mass), rigid.velocity = snwVec3_Scale(rigid.velocity, 1 / mass);
    for (int i = 0; i < flesh->count; ++i)
    {
        double m = 1.0 / (double)flesh->v[i][3];
        snwVec3 r = snwVec3_Sub(Row(flesh->x[i]), rigid.centre);
        angular = snwVec3_MulAdd(angular, m, snwVec3_Cross(r, Row(rows[i])));
        snwMat3 arms = snwMat3_Outer(r, r);
        double square = snwVec3_Dot(r, r);
        inertia = snwMat3_Add(inertia, snwMat3_Scale(snwMat3_Sub(snwMat3_Diagonal(square, square, square), arms), m));
    }
    CHECK(snwMat3_Inverse(inertia, &inverse));
    rigid.spin = snwMat3_MulVec(inverse, angular);
    return rigid;
}

static snwVec3 At(const Rigid* rigid, snwVec3 x)
{
    return snwVec3_Add(rigid->velocity, snwVec3_Cross(rigid->spin, snwVec3_Sub(x, rigid->centre)));
}

// One damping after the other, as it is meant.
static void DampPlainly(const Flesh* flesh, double share, double driftShare, snwVec3* out)
{
    Rigid whole = RigidPart(flesh, (const float(*)[4])flesh->v), drift = RigidPart(flesh, (const float(*)[4])flesh->d);
    for (int i = 0; i < flesh->count; ++i)
    {
        snwVec3 x = Row(flesh->x[i]), v = Row(flesh->v[i]);
        snwVec3 first = snwVec3_MulAdd(v, share, snwVec3_Sub(At(&whole, x), v));
        snwVec3 rest = snwVec3_Sub(snwVec3_Sub(At(&whole, x), At(&drift, x)), snwVec3_Sub(first, Row(flesh->d[i])));
        out[i] = flesh->drifts ? snwVec3_MulAdd(first, driftShare, rest) : first;
        out[i] = flesh->x[i][3] > 0.0f ? out[i] : v;
    }
}

static double DampAndCompare(snwSimd simd, int count, bool flat, bool drifts, double rate, Flesh** result)
{
    double worst = 0.0;
    Flesh* flesh = NewFlesh(count, flat, drifts, 77);
    snwVec3* wanted = calloc((size_t)count, sizeof *wanted);
    DampPlainly(flesh, -expm1(-rate * 0.01), -expm1(-30.0 * 0.01), wanted);
    snwContext* context = snwFixture_Context(1, simd, NULL);
    snwRigidDamping damping = {.positions = flesh->x[0],
        .velocities = flesh->v[0],
        .count = count,
        .sums = flesh->sums,
        .rate = rate,
        .drift = drifts ? flesh->d[0] : NULL,
        .driftRate = 30.0,
        .flat = flat};
    snwRigidDamping_Apply(context, &damping, 0.01);
    for (int i = 0; i < count; ++i)
        worst = fmax(worst, snwVec3_Distance(wanted[i], Row(flesh->v[i])));
    snwDestroyContext(context);
    free(wanted);
    *result = flesh;
    return worst;
}

TEST(damping, isThatOfEveryVertexInDouble)
{
    static const int s_counts[] = {5, 8, 129, 1024, 2500};
    for (int i = 0; i < 5; ++i)
        for (int kind = 0; kind < 8; ++kind)
        {
            Flesh* flesh = NULL;
            double rate = kind & 4 ? 20.0 : 0.0;
            double worst = DampAndCompare(snw_simdAuto, s_counts[i], kind & 1, kind & 2, rate, &flesh);
            CHECK(worst < 2e-6);
            for (int k = 0; k < flesh->count; ++k)
                CHECK(flesh->v[k][3] > 0.4f && (!flesh->flat || flesh->v[k][2] == 0.0f));
            free(flesh);
        }
}

TEST(damping, everyInstructionSetGivesTheSameBits)
{
    static const snwSimd s_sets[] = {snw_simdScalar, snw_simdBase, snw_simdAuto};
    for (int kind = 0; kind < 4; ++kind)
    {
        Flesh* flesh[3];
        for (int i = 0; i < 3; ++i)
            DampAndCompare(s_sets[i], 2500, kind & 1, kind & 2, 20.0, &flesh[i]);
        CHECK(memcmp(flesh[0]->v, flesh[1]->v, sizeof flesh[0]->v) == 0);
        CHECK(memcmp(flesh[0]->v, flesh[2]->v, sizeof flesh[0]->v) == 0);
        for (int i = 0; i < 3; ++i)
            free(flesh[i]);
    }
}
