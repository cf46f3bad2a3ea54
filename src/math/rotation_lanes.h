// From deformation gradients and guesses to rotations, lane by lane: the core of the batched kernels, written once over
// simd.h and included by every kernel that needs rotations on its way (rotation_kernel.h, sim/apd/elastic_kernel.h).
//
// Method: Newton's iteration on tr(R^T F) with the rotation's three local angles as unknowns, started from a guess
// (Kugelstadt, Koschier and Bender 2018, "Fast Corotated FEM using Operator Splitting"). With B = R^T F, gradient
// g = axial(B - B^T) and Hessian H = tr(S) I - S, S = sym(B), the step is omega = -H^-1 g. Third derivatives vanish at
// the solution, so it converges cubically: a guess within 0.25 rad needs two evaluations, a right one needs one.
//
// Newton alone is wrong now and then: it stops at any stationary point, and from a cold start those are often saddles
// (13 % of random rotations, 77 % of inverted ones). But only the true maximum has H positive definite, whose
// eigenvalues there are the sums of pairs of signed singular values. So every lane is tested: it is finished when
//   - H is positive definite with a margin, which bounds sigma1 / (sigma2 + sigma3) by about SNW_MAX_CONDITION, and
//   - the step just made was so short that the cubic remainder is below rounding.
// A lane whose H fails, or that is not finished after SNW_MAX_NEWTON steps, is done over in double by
// snwRotation_Robust. A finished lane is frozen while its neighbours go on, hence no lane depends on another.
//
// Rejected: Mueller's 2016 iteration (linear, nine times slower here); the 4x4 quaternion eigenproblem in float and
// Higham's polar iteration (cannot start from a guess; the latter finds a reflection when F is inverted); a fixed
// number of steps without a test (silently wrong); kicking failed lanes and trying again in float (most succeed, and
// the rest still need the slow way).

#pragma once

#include "math/rotation.h"
#include "math/simd.h"

// By force: the compilers' budget for inlining ends at the second kernel, and a group passed through memory costs a
// tenth to a fifth.
#define SNW_INLINE inline __attribute__((always_inline))

enum
{
    SNW_MAX_NEWTON = 8,
    SNW_TOGETHER = SNW_WIDE_LANES == 1 ? 1 : 2, // groups to work on in turn; single floats have no slack to fill
    SNW_GROUPS = SNW_ROTATION_LANES / SNW_WIDE_LANES
};

// det(H) / tr(S)^3 is about (sigma2 + sigma3) / sigma1 where that is small, and 8/27 for a rotation.
#define SNW_MAX_CONDITION 512.0f

// A finished lane's last step was shorter than SNW_SHORT_STEP rad, and shorter than SNW_SHORT_FRACTION of the ratio
// above: the region in which the cubic estimate holds shrinks with it. Remainder: 0.3 * SNW_SHORT_STEP^3 = 4e-8.
#define SNW_SHORT_STEP     5e-3f
#define SNW_SHORT_FRACTION 0.05f

// Lanes on their way through.
typedef struct Group
{
    snwWide F[9];       // scaled by a power of two: largest entry in [1, 4), or all zero
    snwWide q[4];       // x, y, z, w
    snwWide R[9];       // matrix of q
    snwWide unscale[2]; // multiplied one after the other they undo the scaling
    snwWideInt still;   // F is zero or was not finite: the guess is the answer
} Group;

// Bits of the largest magnitude, as integers: there NaN > infinity > every number.
static inline snwWideInt LargestBits(const snwWide F[9])
{
    snwWideInt largest = (snwWideInt)snwWide_Abs(F[0]);
    for (int i = 1; i < 9; i++)
        largest = snwWideInt_Max(largest, (snwWideInt)snwWide_Abs(F[i]));
    return largest;
}

// Scales F by the power of two that brings its largest entry near one. Only rounding below 2^-126 of it is lost.
static SNW_INLINE int ScaleLanes(Group* g)
{
    snwWideInt largest = LargestBits(g->F);
    snwWideInt broken = largest >= 0x7f800000, tiny = largest < 0x00800000;
    g->unscale[1] = snwWide_Splat(1.0f);
    if (snwWideInt_Any(broken | tiny))
    {
        // Denormals first become normal numbers: their exponent says nothing.
        snwWide lift = snwWide_Select(tiny, snwWide_Splat(0x1p64f), snwWide_Splat(1.0f));
        for (int i = 0; i < 9; i++)
            g->F[i] = snwWide_Select(broken, snwWide_Splat(0.0f), g->F[i] * lift);
        g->unscale[1] = snwWide_Select(tiny, snwWide_Splat(0x1p-64f), snwWide_Splat(1.0f));
        largest = LargestBits(g->F);
    }

    // The factor 2^-e has the exponent bits 254 - e; for e = 254 it would be denormal, so that one stays at 253.
    snwWideInt exponent = largest >> 23;
    exponent = snwWideInt_Select(exponent > 253, snwWideInt_Splat(253), exponent);
    snwWide scale = (snwWide)((254 - exponent) << 23);
    g->unscale[0] = (snwWide)(exponent << 23);
    for (int i = 0; i < 9; i++)
        g->F[i] = g->F[i] * scale;
    g->still = largest == 0;

    return __builtin_popcount((unsigned)snwWideInt_Bits(broken));
}

// Any length will do for the iteration, as long as its powers stay in range.
static inline void TameGuess(snwWide q[4])
{
    snwWide n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    snwWideInt near = (n > 0.5f) & (n < 2.0f), good = (n > 1e-30f) & (n < 1e30f); // false for NaN
    if (snwWideInt_All(near))
        return;
    snwWide s = 1.0f / snwWide_Sqrt(n);
    for (int i = 0; i < 4; i++)
    {
        snwWide unit = snwWide_Select(good, q[i] * s, snwWide_Splat(i == 3 ? 1.0f : 0.0f));
        q[i] = snwWide_Select(near, q[i], unit);
    }
}

static inline void NormalizeQuat(snwWide q[4])
{
    snwWide s = 1.0f / snwWide_Sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        q[i] = q[i] * s;
}

// |q|^2 times the rotation matrix. The usual form with 1 - 2 (y^2 + z^2) is a rotation for unit q only, and the last
// bit of its length would turn the answer by as much as the condition allows.
static inline void FillRotation(const snwWide q[4], snwWide R[9])
{
    snwWide x = q[0], y = q[1], z = q[2], w = q[3];
    snwWide x2 = x + x, y2 = y + y, z2 = z + z;
    snwWide xx = x * x, yy = y * y, zz = z * z, ww = w * w;
    snwWide xy = x * y2, xz = x * z2, yz = y * z2, wx = w * x2, wy = w * y2, wz = w * z2;
    R[0] = (ww + xx) - (yy + zz), R[1] = xy - wz, R[2] = xz + wy;
    R[3] = xy + wz, R[4] = (ww - xx) + (yy - zz), R[5] = yz - wx;
    R[6] = xz - wy, R[7] = yz + wx, R[8] = (ww - xx) - (yy - zz);
}

// C = A^T B
static inline void TransposeMul(const snwWide A[9], const snwWide B[9], snwWide C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

// next = q (1 + |o|^2, o), not normalised. With omega = 2 o that turns by 2 atan(|o| / (1 + |o|^2)), which is the angle
// whose tangent is |omega| up to fifth order: exact for F that is a rotation already, where |g| / |H| is a tangent.
static inline void TurnBy(const snwWide q[4], const snwWide o[3], snwWide length2, snwWide next[4])
{
    snwWide c = 1.0f + length2, x = q[0], y = q[1], z = q[2], w = q[3];
    next[0] = (w * o[0] + x * c) + (y * o[2] - z * o[1]);
    next[1] = (w * o[1] + y * c) + (z * o[0] - x * o[2]);
    next[2] = (w * o[2] + z * c) + (x * o[1] - y * o[0]);
    next[3] = (w * c - x * o[0]) - (y * o[1] + z * o[2]);
}

// One Newton step. *finished: next is the answer. *lost: H is not safely positive definite here.
static SNW_INLINE void NewtonStep(
    const snwWide F[9], const snwWide q[4], snwWide next[4], snwWideInt* finished, snwWideInt* lost)
{
    snwWide R[9], B[9], o[3];
    FillRotation(q, R);
    TransposeMul(R, F, B);

    // H omega = g with H = tr(B) 1 - sym(B), halved here: inverted by its cofactors.
    snwWide g0 = B[5] - B[7], g1 = B[6] - B[2], g2 = B[1] - B[3];
    snwWide h00 = B[4] + B[8], h11 = B[0] + B[8], h22 = B[0] + B[4];
    snwWide h01 = -0.5f * (B[1] + B[3]), h02 = -0.5f * (B[2] + B[6]), h12 = -0.5f * (B[5] + B[7]);
    snwWide c00 = h11 * h22 - h12 * h12, c11 = h00 * h22 - h02 * h02, c22 = h00 * h11 - h01 * h01;
    snwWide c01 = h02 * h12 - h01 * h22, c02 = h01 * h12 - h02 * h11, c12 = h01 * h02 - h00 * h12;
    snwWide det = h00 * c00 + h01 * c01 + h02 * c02;

    // H is positive definite when the three coefficients of its characteristic polynomial are positive.
    snwWide trace = B[0] + B[4] + B[8], trace3 = trace * trace * trace;
    *lost = ~((trace > 0.0f) & (c00 + c11 + c22 > 0.0f) & (det * SNW_MAX_CONDITION > trace3));

    // The half rotation vector o turns the guess.
    snwWide f = -0.5f / det;
    o[0] = f * (c00 * g0 + c01 * g1 + c02 * g2);
    o[1] = f * (c01 * g0 + c11 * g1 + c12 * g2);
    o[2] = f * (c02 * g0 + c12 * g1 + c22 * g2);
    snwWide length2 = o[0] * o[0] + o[1] * o[1] + o[2] * o[2];
    TurnBy(q, o, length2, next);

    // |omega| = 2 |o|; both sides squared, and 2 |o| < fraction * det / trace^3 without the division.
    const float shortStep = SNW_SHORT_STEP / 2, fraction = SNW_SHORT_FRACTION / 2;
    snwWide reach = fraction * det;
    *finished = (length2 < shortStep * shortStep) & (length2 * (trace3 * trace3) < reach * reach);
}

// Takes the lanes in `mask` through snwRotation_Robust. Out of line: rare, and it would cost the fast way registers.
static __attribute__((noinline)) void RedoLanes(Group* g, const snwWide guess[4], snwWideInt mask)
{
    _Alignas(32) float F[9][SNW_WIDE_LANES], start[4][SNW_WIDE_LANES], q[4][SNW_WIDE_LANES];
    for (int i = 0; i < 9; i++)
        snwWide_Store(F[i], g->F[i]);
    for (int i = 0; i < 4; i++)
    {
        snwWide_Store(start[i], guess[i]);
        snwWide_Store(q[i], g->q[i]);
    }

    int bits = snwWideInt_Bits(mask);
    for (int lane = 0; lane < SNW_WIDE_LANES; lane++)
    {
        if ((bits >> lane & 1) == 0)
            continue;
        float one[9], from[4], result[4];
        for (int i = 0; i < 9; i++)
            one[i] = F[i][lane];
        for (int i = 0; i < 4; i++)
            from[i] = start[i][lane];
        snwRotation_Robust(one, from, result);
        for (int i = 0; i < 4; i++)
            q[i][lane] = result[i];
    }

    for (int i = 0; i < 4; i++)
        g->q[i] = snwWide_Load(q[i]);
}

// Lanes that still iterate.
typedef struct Search
{
    snwWide guess[4];
    snwWideInt frozen, failed;
} Search;

static SNW_INLINE void BeginSearch(Group* g, Search* search, snwRotationReport* report)
{
    report->notFinite += ScaleLanes(g);
    TameGuess(g->q);
    for (int i = 0; i < 4; i++)
        search->guess[i] = g->q[i];
    search->frozen = g->still;
    search->failed = snwWideInt_Splat(0);
}

static SNW_INLINE void StepSearch(Group* g, Search* search)
{
    snwWide next[4];
    snwWideInt finished, lost, frozen = search->frozen;
    NewtonStep(g->F, g->q, next, &finished, &lost);
    for (int i = 0; i < 4; i++)
        g->q[i] = snwWide_Select(frozen, g->q[i], next[i]);
    search->failed = search->failed | (lost & ~frozen);
    search->frozen = frozen | finished | lost;
}

static SNW_INLINE void EndSearch(Group* g, Search* search, snwRotationReport* report)
{
    snwWideInt failed = search->failed | ~search->frozen;
    if (snwWideInt_Any(failed))
    {
        RedoLanes(g, search->guess, failed);
        report->robust += __builtin_popcount((unsigned)snwWideInt_Bits(failed));
    }
    NormalizeQuat(g->q);
    FillRotation(g->q, g->R);
}

// From F and guess to q and R, at most SNW_TOGETHER groups in turn: a step is a long chain, and the processor needs
// something else to do meanwhile. A seventh faster than one group alone.
static SNW_INLINE void SolveGroups(Group* g, int count, snwRotationReport* report)
{
    Search search[SNW_TOGETHER];
    for (int k = 0; k < count; k++)
        BeginSearch(&g[k], &search[k], report);
    for (int step = 0; step < SNW_MAX_NEWTON; step++)
    {
        snwWideInt frozen = search[0].frozen;
        for (int k = 1; k < count; k++)
            frozen = frozen & search[k].frozen;
        if (snwWideInt_All(frozen))
            break;
        for (int k = 0; k < count; k++)
            StepSearch(&g[k], &search[k]);
    }
    for (int k = 0; k < count; k++)
        EndSearch(&g[k], &search[k], report);
}

// S = sym(R^T F), still scaled.
static inline void FillStretch(const Group* g, snwWide S[6])
{
    snwWide B[9];
    TransposeMul(g->R, g->F, B);
    S[0] = B[0], S[1] = B[4], S[2] = B[8];
    S[3] = 0.5f * (B[1] + B[3]), S[4] = 0.5f * (B[2] + B[6]), S[5] = 0.5f * (B[5] + B[7]);
}

// F = edges * inverseRest
static SNW_INLINE void LoadTets(const snwRestTetBlock* tets, const float* positions, int lane, snwWide F[9])
{
    snwWide x[4][3], unused;
    for (int v = 0; v < 4; v++)
        snwWide_Load4(positions, &tets->index[v][lane], &x[v][0], &x[v][1], &x[v][2], &unused);
    for (int r = 0; r < 3; r++)
    {
        snwWide e0 = x[1][r] - x[0][r], e1 = x[2][r] - x[0][r], e2 = x[3][r] - x[0][r];
        for (int c = 0; c < 3; c++)
        {
            snwWide d0 = snwWide_Load(&tets->inverseRest[c][lane]);
            snwWide d1 = snwWide_Load(&tets->inverseRest[3 + c][lane]);
            snwWide d2 = snwWide_Load(&tets->inverseRest[6 + c][lane]);
            F[3 * r + c] = e0 * d0 + e1 * d1 + e2 * d2;
        }
    }
}

static inline void LoadGuess(Group* g, const snwQuatBlock* q, int lane)
{
    for (int i = 0; i < 4; i++)
        g->q[i] = snwWide_Load(&q->q[i][lane]);
}

static inline void StoreQuat(const Group* g, snwQuatBlock* q, int lane)
{
    for (int i = 0; i < 4; i++)
        snwWide_Store(&q->q[i][lane], g->q[i]);
}
