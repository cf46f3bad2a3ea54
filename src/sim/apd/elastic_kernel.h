// The kernels of elastic.h, written once over simd.h and included by one file per instruction set.
//
// One pass per block, nothing through memory: gather, F, rotation, stress, scatter. Corners of a block may coincide, so
// the forces are added row by row, lane after lane and corner after corner: that order is the same for all widths, and
// neighbouring lanes, which like to share a vertex, are four additions apart.
//
// The closest matrix of determinant 1, without singular values. In the turned frame it is a symmetric Y with
// S = Y + k Y^-1 (the distance's gradient is along that of the determinant). In terms of y1 = tr Y, y2 = tr Y^-1 and k
// the three invariants of S = R^T F are
//
//     tr S     = y1 + k y2
//     tr cof S = y2 + k (y1 y2 - 3) + k^2 y1
//     det S    = 1 + k (y2^2 - 2 y1) + k^2 (y1^2 - 2 y2) + k^3
//
// solved by Newton's iteration in three unknowns. Then Y is a quadratic polynomial of S, and so is what we want:
//
//     S - Y = k Y^-1 = (k / D) (S^2 - (y1 + k^2) S + (y2 + k^2 y1 - 2 k) I),   D = 1 - k y1 + k^2 y2 - k^3
//     |S - Y|^2 = k^2 (y2^2 - 2 y1)
//
// which costs a third of the Jacobi sweeps and has no trouble with equal singular values. When is the solution the
// closest matrix? With Y positive definite, which is y1, y2 > 0 as det Y = 1, and det S < 2, it is the only stationary
// point: with s_i the eigenvalues of Y, s_i + k / s_i = sigma_i. det S < 1 means k < 0, and then each s_i grows with -k
// alone. For det S > 1, k > 0, every s_i is below sigma_i, so a second solution s_i < sigma_i / 2 of one of them
// would make the product less than det S / 2 < 1. Beyond det S = 2 the closest point may break the symmetry of S
// (three equal stretches of 1.9 and more), hence those lanes, the ones that do not converge and the ones too large for
// invariants in float go to snwElastic_VolumeGap.

#include "math/rotation_lanes.h"
#include "sim/apd/elastic.h"

enum
{
    SNW_MAX_VOLUME_NEWTON = 8
};

// |S|^2 up to which the invariants are good enough in float: det S then has an error of 1e-6.
#define SNW_VOLUME_MAX_STRETCH2 12.0f
#define SNW_VOLUME_MAX_DET      2.0f

// A finished lane's last step in k was shorter than this. What remains is of second order: 1e-7.
#define SNW_VOLUME_SHORT_STEP 2e-4f

// ---------------------------------------------------------------------------------------------------------------------
// The closest matrix of determinant 1

// Lanes on their way to Y.
typedef struct Volume
{
    snwWide S[6];                 // xx, yy, zz, xy, xz, yz
    snwWide first, second, third; // its invariants
    snwWide y1, y2, k;
    snwWideInt frozen, solved;
} Volume;

static inline snwWide Norm2(const snwWide S[6])
{
    return (S[0] * S[0] + S[1] * S[1] + S[2] * S[2]) + 2.0f * (S[3] * S[3] + S[4] * S[4] + S[5] * S[5]);
}

// Newton's first step from k = 0 and Y = S or rest, y1 = y2 = 3: S goes astray where it is compressed, rest where it is
// stretched.
static SNW_INLINE void BeginVolume(Volume* v, snwWideInt skip)
{
    const snwWide* S = v->S;
    snwWide cx = S[1] * S[2] - S[5] * S[5], cy = S[0] * S[2] - S[4] * S[4], cz = S[0] * S[1] - S[3] * S[3];
    snwWide cxy = S[4] * S[5] - S[3] * S[2], cxz = S[3] * S[5] - S[4] * S[1];
    v->first = S[0] + S[1] + S[2];
    v->second = cx + cy + cz;
    v->third = S[0] * cx + S[3] * cxy + S[4] * cxz;
    snwWideInt swollen = v->third > 1.0f;
    snwWide y1 = snwWide_Select(swollen, v->first, snwWide_Splat(3.0f));
    snwWide y2 = snwWide_Select(swollen, v->second, snwWide_Splat(3.0f));
    v->k = (v->third - 1.0f) / (y2 * y2 - 2.0f * y1);
    v->y1 = v->first - v->k * y2;
    v->y2 = v->second - v->k * (y1 * y2 - 3.0f);
    snwWideInt tame = (Norm2(S) < SNW_VOLUME_MAX_STRETCH2) & (v->third < SNW_VOLUME_MAX_DET);
    v->frozen = skip | ~tame;
    v->solved = skip;
}

// One Newton step; dy1 is eliminated by the first equation, which is linear in it. A frozen lane does not move with its
// neighbours.
static SNW_INLINE void StepVolume(Volume* v)
{
    snwWide a = v->y1, b = v->y2, c = v->k, ab = a * b - 3.0f, p = b * b - 2.0f * a, q = a * a - 2.0f * b;
    snwWide r1 = v->first - (a + c * b);
    snwWide r2 = v->second - (b + c * (ab + c * a));
    snwWide r3 = v->third - (1.0f + c * (p + c * (q + c)));
    snwWide m2 = c * (b + c), m3 = 2.0f * c * (c * a - 1.0f);
    snwWide j22 = 1.0f + c * (a - m2), j23 = ab + 2.0f * c * a - m2 * b;
    snwWide j32 = c * (2.0f * (b - c) - m3), j33 = p + c * (2.0f * q + 3.0f * c) - m3 * b;
    r2 = r2 - m2 * r1;
    r3 = r3 - m3 * r1;
    snwWide inverse = 1.0f / (j22 * j33 - j23 * j32);
    snwWide db = (r2 * j33 - j23 * r3) * inverse, dc = (j22 * r3 - r2 * j32) * inverse;
    snwWide da = r1 - c * db - b * dc;
    v->y1 = snwWide_Select(v->frozen, a, a + da);
    v->y2 = snwWide_Select(v->frozen, b, b + db);
    v->k = snwWide_Select(v->frozen, c, c + dc);
    const float most = SNW_VOLUME_SHORT_STEP * SNW_VOLUME_SHORT_STEP;
    snwWideInt finished = (dc * dc + 0.01f * (db * db) < most) & ~v->frozen;
    v->solved = v->solved | finished;
    v->frozen = v->frozen | finished;
}

// Several groups in turn, as SolveGroups.
static SNW_INLINE void SolveVolumes(Volume* v, int count)
{
    for (int step = 0; step < SNW_MAX_VOLUME_NEWTON; step++)
    {
        snwWideInt frozen = v[0].frozen;
        for (int k = 1; k < count; k++)
            frozen = frozen & v[k].frozen;
        if (snwWideInt_All(frozen))
            return;
        for (int k = 0; k < count; k++)
            StepVolume(&v[k]);
    }
}

// Takes the lanes in `mask` through snwElastic_VolumeGap. Out of line: rare.
static __attribute__((noinline)) void RedoGaps(const snwWide S[6], snwWide gap[6], snwWideInt mask)
{
    _Alignas(32) float from[6][SNW_WIDE_LANES], to[6][SNW_WIDE_LANES];
    for (int i = 0; i < 6; i++)
    {
        snwWide_Store(from[i], S[i]);
        snwWide_Store(to[i], gap[i]);
    }
    int bits = snwWideInt_Bits(mask);
    for (int lane = 0; lane < SNW_WIDE_LANES; lane++)
    {
        if ((bits >> lane & 1) == 0)
            continue;
        float one[6], result[6];
        for (int i = 0; i < 6; i++)
            one[i] = from[i][lane];
        snwElastic_VolumeGap(one, result);
        for (int i = 0; i < 6; i++)
            to[i][lane] = result[i];
    }
    for (int i = 0; i < 6; i++)
        gap[i] = snwWide_Load(to[i]);
}

// gap = S - Y
static SNW_INLINE void FillGap(const Volume* v, snwWideInt skip, snwWide gap[6])
{
    const snwWide* S = v->S;
    snwWide k = v->k, k2 = k * k, D = 1.0f - k * (v->y1 - k * (v->y2 - k)), f = k / D;
    snwWide one = v->y1 + k2, zero = v->y2 + k2 * v->y1 - 2.0f * k;
    snwWide xx = S[3] * S[3], yy = S[4] * S[4], zz = S[5] * S[5];
    gap[0] = f * (S[0] * (S[0] - one) + (xx + yy) + zero);
    gap[1] = f * (S[1] * (S[1] - one) + (xx + zz) + zero);
    gap[2] = f * (S[2] * (S[2] - one) + (yy + zz) + zero);
    gap[3] = f * (S[3] * (S[0] + S[1] - one) + S[4] * S[5]);
    gap[4] = f * (S[4] * (S[0] + S[2] - one) + S[3] * S[5]);
    gap[5] = f * (S[5] * (S[1] + S[2] - one) + S[3] * S[4]);
    snwWideInt failed = ~(skip | (v->solved & (v->y1 > 0.0f) & (v->y2 > 0.0f)));
    if (snwWideInt_Any(failed))
        RedoGaps(S, gap, failed);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stress

static inline void FillSymmetric(const snwWide R[9], const snwWide F[9], snwWide S[6])
{
    snwWide B[9];
    TransposeMul(R, F, B);
    S[0] = B[0], S[1] = B[4], S[2] = B[8];
    S[3] = 0.5f * (B[1] + B[3]), S[4] = 0.5f * (B[2] + B[6]), S[5] = 0.5f * (B[5] + B[7]);
}

// stress += R M
static inline void AddTurned(const snwWide R[9], const snwWide M[6], snwWide stress[9])
{
    for (int i = 0; i < 9; i += 3)
    {
        stress[i] = stress[i] + (R[i] * M[0] + R[i + 1] * M[3] + R[i + 2] * M[4]);
        stress[i + 1] = stress[i + 1] + (R[i] * M[3] + R[i + 1] * M[1] + R[i + 2] * M[5]);
        stress[i + 2] = stress[i + 2] + (R[i] * M[4] + R[i + 1] * M[5] + R[i + 2] * M[2]);
    }
}

// T + (T A - A T - A A) / 2 of the header, for B = T + A with A v = a x v.
static inline void FillStretchBefore(const snwWide B[9], snwWide S[6])
{
    snwWide a = 0.5f * (B[7] - B[5]), b = 0.5f * (B[2] - B[6]), c = 0.5f * (B[3] - B[1]);
    snwWide xy = 0.5f * (B[1] + B[3]), xz = 0.5f * (B[2] + B[6]), yz = 0.5f * (B[5] + B[7]);
    snwWide xx = B[0], yy = B[4], zz = B[8];
    S[0] = xx + (0.5f * (b * b + c * c) + (xy * c - xz * b));
    S[1] = yy + (0.5f * (a * a + c * c) + (yz * a - xy * c));
    S[2] = zz + (0.5f * (a * a + b * b) + (xz * b - yz * a));
    S[3] = xy + 0.5f * ((yy - xx) * c + (xz * a - yz * b) - a * b);
    S[4] = xz + 0.5f * ((xx - zz) * b + (yz * c - xy * a) - a * c);
    S[5] = yz + 0.5f * ((zz - yy) * a + (xy * b - xz * c) - b * c);
}

// Lanes of one block on their way through.
typedef struct Lanes
{
    const snwTetBlock* tets;
    const snwElasticWeights* weights;
    snwQuatBlock* rotations;
    int lane;
    snwWide F[9], R[9], stress[9];
    snwWideInt empty; // no tetrahedron
} Lanes;

// The distance to the rotation, and the energy that goes with it.
static SNW_INLINE snwWide AddShear(Lanes* l, snwWide* stretch)
{
    snwWide shear = snwWide_Load(&l->weights->shear[l->lane]), sum = snwWide_Splat(0.0f), trace = sum;
    for (int i = 0; i < 9; i++)
    {
        snwWide d = l->F[i] - l->R[i];
        sum = sum + d * d;
        trace = trace + l->R[i] * d;
        l->stress[i] = shear * d;
    }
    *stretch = trace; // tr(R^T F) - 3
    return 0.5f * (shear * sum);
}

static SNW_INLINE snwWide AddPressure(Lanes* l, snwWide stretch)
{
    snwWide pressure = snwWide_Load(&l->weights->bulk[l->lane]) * stretch;
    for (int i = 0; i < 9; i++)
        l->stress[i] = l->stress[i] + pressure * l->R[i];
    return 0.5f * (pressure * stretch);
}

static SNW_INLINE snwWide AddGap(Lanes* l, const Volume* volume)
{
    snwWide gap[6], bulk = snwWide_Load(&l->weights->bulk[l->lane]);
    FillGap(volume, l->empty, gap);
    snwWide energy = 0.5f * (bulk * Norm2(gap));
    for (int i = 0; i < 6; i++)
        gap[i] = bulk * gap[i];
    AddTurned(l->R, gap, l->stress);
    return energy;
}

static SNW_INLINE void AddDamping(Lanes* l, const float* before)
{
    snwWide then[9], B[9], S[6], D[6], damping = snwWide_Load(&l->weights->damping[l->lane]);
    LoadTets(l->tets, before, l->lane, then);
    TransposeMul(l->R, then, B);
    FillStretchBefore(B, S);
    FillSymmetric(l->R, l->F, D);
    for (int i = 0; i < 6; i++)
        D[i] = damping * (D[i] - S[i]);
    AddTurned(l->R, D, l->stress);
}

// ---------------------------------------------------------------------------------------------------------------------
// Forces

// f_c = -stress inverseRest^T, column c, on corner c + 1; minus their sum on corner 0. The rows' fourth number is -0,
// which changes nothing it is added to.
static SNW_INLINE void FillForces(const Lanes* l, snwRow rows[4][SNW_WIDE_LANES])
{
    snwWide first[3] = {{0}}, nothing = snwWide_Splat(-0.0f);
    for (int c = 0; c < 3; c++)
    {
        snwWide f[3];
        for (int r = 0; r < 3; r++)
        {
            const snwWide* stress = &l->stress[3 * r];
            f[r] = stress[0] * snwWide_Load(&l->tets->inverseRest[3 * c][l->lane]) +
                   stress[1] * snwWide_Load(&l->tets->inverseRest[3 * c + 1][l->lane]) +
                   stress[2] * snwWide_Load(&l->tets->inverseRest[3 * c + 2][l->lane]);
            first[r] = first[r] + f[r];
        }
        snwWide_ToRows(-f[0], -f[1], -f[2], nothing, rows[c + 1]);
    }
    snwWide_ToRows(first[0], first[1], first[2], nothing, rows[0]);
}

static SNW_INLINE void ScatterLane(const Lanes* l, int i, snwRow rows[4][SNW_WIDE_LANES], float* forces)
{
    for (int c = 0; c < 4; c++)
    {
        snwRow* to = (snwRow*)(forces + 4 * (long)l->tets->index[c][l->lane + i]);
        *to = *to + rows[c][i];
    }
}

// Blocks with empty lanes are the last of a range or two; the test for them all is cheap, the one per lane is not.
static SNW_INLINE void Scatter(const Lanes* l, float* forces)
{
    snwRow rows[4][SNW_WIDE_LANES];
    FillForces(l, rows);
    if (!snwWideInt_Any(l->empty))
    {
        for (int i = 0; i < SNW_WIDE_LANES; i++)
            ScatterLane(l, i, rows, forces);
        return;
    }
    int bits = snwWideInt_Bits(l->empty);
    for (int i = 0; i < SNW_WIDE_LANES; i++)
        if ((bits >> i & 1) == 0)
            ScatterLane(l, i, rows, forces);
}

// Group i: lanes `i % SNW_GROUPS * SNW_WIDE_LANES ..` of block i / SNW_GROUPS.
static SNW_INLINE void LoadLanes(const snwElasticTask* task, long group, Lanes* l)
{
    long block = group / SNW_GROUPS;
    l->tets = &task->tets[block];
    l->weights = &task->weights[block];
    l->rotations = &task->rotations[block];
    l->lane = (int)(group % SNW_GROUPS) * SNW_WIDE_LANES;
    l->empty = *(const snwWideInt*)&l->tets->index[0][l->lane] == *(const snwWideInt*)&l->tets->index[1][l->lane];
    LoadTets(l->tets, task->positions, l->lane, l->F);
}

// From the rotation to forces; returns the energy.
static SNW_INLINE snwWide FinishLanes(const snwElasticTask* task, Lanes* l, const Volume* volume, snwElasticLaw law)
{
    snwWide stretch, energy = AddShear(l, &stretch);
    if (law == snw_elasticCorotated)
        energy = energy + AddPressure(l, stretch);
    if (law == snw_elasticVolume)
        energy = energy + AddGap(l, volume);
    if (task->before != NULL)
        AddDamping(l, task->before);
    Scatter(l, task->forces);
    return snwWide_Select(l->empty, snwWide_Splat(0.0f), energy);
}

static SNW_INLINE void TurnLanes(Lanes* l, int count)
{
    Group g[SNW_TOGETHER];
    snwRotationReport unused = {0, 0};
    for (int k = 0; k < count; k++)
    {
        for (int i = 0; i < 9; i++)
            g[k].F[i] = l[k].F[i];
        LoadGuess(&g[k], l[k].rotations, l[k].lane);
    }
    SolveGroups(g, count, &unused);
    for (int k = 0; k < count; k++)
    {
        StoreQuat(&g[k], l[k].rotations, l[k].lane);
        for (int i = 0; i < 9; i++)
            l[k].R[i] = g[k].R[i];
    }
}

static SNW_INLINE void RunGroups(const snwElasticTask* task, long group, int count, snwElasticLaw law, double sums[])
{
    Lanes l[SNW_TOGETHER];
    Volume volume[SNW_TOGETHER];
    for (int k = 0; k < count; k++)
        LoadLanes(task, group + k, &l[k]);
    TurnLanes(l, count);
    if (law == snw_elasticVolume)
    {
        for (int k = 0; k < count; k++)
        {
            FillSymmetric(l[k].R, l[k].F, volume[k].S);
            BeginVolume(&volume[k], l[k].empty);
        }
        SolveVolumes(volume, count);
    }
    for (int k = 0; k < count; k++)
    {
        snwWide energy = FinishLanes(task, &l[k], &volume[k], law);
        for (int i = 0; i < SNW_WIDE_LANES; i++)
            sums[l[k].lane + i] += (double)energy[i];
    }
}

// One sum per lane of the block, added up at the end: the same order for all widths, and eight chains instead of one.
// law is a constant where this is inlined.
static SNW_INLINE double RunBlocks(const snwElasticTask* task, int begin, int end, snwElasticLaw law)
{
    double sums[SNW_ROTATION_LANES] = {0}, total = 0;
    long group = (long)begin * SNW_GROUPS, last = (long)end * SNW_GROUPS;
    for (; group + SNW_TOGETHER <= last; group += SNW_TOGETHER)
        RunGroups(task, group, SNW_TOGETHER, law, sums);
    for (; group < last; group++)
        RunGroups(task, group, 1, law, sums);
    for (int i = 0; i < SNW_ROTATION_LANES; i++)
        total += sums[i];
    return total;
}

static double AddForces(const snwElasticTask* task, int begin, int end)
{
    switch (task->law)
    {
        case snw_elasticVolume:
            return RunBlocks(task, begin, end, snw_elasticVolume);
        case snw_elasticCorotated:
            return RunBlocks(task, begin, end, snw_elasticCorotated);
        default:
            return RunBlocks(task, begin, end, snw_elasticStrain);
    }
}

static const snwElasticKernels s_kernels = {AddForces};
