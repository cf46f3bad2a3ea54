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

    // What is left of the three equations.
    snwWide r1 = v->first - (a + c * b);
    snwWide r2 = v->second - (b + c * (ab + c * a));
    snwWide r3 = v->third - (1.0f + c * (p + c * (q + c)));

    // The Jacobian, without its first row.
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

// stress += R M, M symmetric
static inline void AddTurned(const snwWide R[9], const snwWide M[6], snwWide stress[9])
{
    for (int i = 0; i < 9; i += 3)
    {
        stress[i] = stress[i] + (R[i] * M[0] + R[i + 1] * M[3] + R[i + 2] * M[4]);
        stress[i + 1] = stress[i + 1] + (R[i] * M[3] + R[i + 1] * M[1] + R[i + 2] * M[5]);
        stress[i + 2] = stress[i + 2] + (R[i] * M[4] + R[i + 1] * M[5] + R[i + 2] * M[2]);
    }
}

// Lanes of one block on their way through.
typedef struct Lanes
{
    const snwRestTetBlock* tets;
    const snwElasticWeights* weights;
    snwQuatBlock* rotations;
    snwStretchBlock* start; // NULL: no damping
    int lane;
    snwWide F[9], R[9], stress[9];
    snwWideInt empty;    // no tetrahedron
    snwWideInt squeezed; // set by the law neo
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

// cof F, row by row; returns det F.
static SNW_INLINE snwWide FillCofactor(const snwWide F[9], snwWide cof[9])
{
    cof[0] = F[4] * F[8] - F[5] * F[7], cof[1] = F[5] * F[6] - F[3] * F[8], cof[2] = F[3] * F[7] - F[4] * F[6];
    cof[3] = F[2] * F[7] - F[1] * F[8], cof[4] = F[0] * F[8] - F[2] * F[6], cof[5] = F[1] * F[6] - F[0] * F[7];
    cof[6] = F[1] * F[5] - F[2] * F[4], cof[7] = F[2] * F[3] - F[0] * F[5], cof[8] = F[0] * F[4] - F[1] * F[3];
    return F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2];
}

static SNW_INLINE snwWide AddNeo(Lanes* l)
{
    snwWide cof[9], square = snwWide_Splat(-3.0f), j = FillCofactor(l->F, cof) - 1.0f;
    snwWide mu = 0.5f * snwWide_Load(&l->weights->shear[l->lane]);
    snwWide bulk = mu + snwWide_Load(&l->weights->bulk[l->lane]), pressure = bulk * j - mu;
    for (int i = 0; i < 9; i++)
    {
        square = square + l->F[i] * l->F[i];
        l->stress[i] = mu * l->F[i] + pressure * cof[i];
    }
    l->squeezed = j < (float)(SNW_SQUEEZED - 1.0);
    return 0.5f * (bulk * (j * j)) + mu * (0.5f * square - j);
}

// C = F^T F
static SNW_INLINE void FillSquare(const snwWide F[9], snwWide C[6])
{
    C[0] = F[0] * F[0] + F[3] * F[3] + F[6] * F[6];
    C[1] = F[1] * F[1] + F[4] * F[4] + F[7] * F[7];
    C[2] = F[2] * F[2] + F[5] * F[5] + F[8] * F[8];
    C[3] = F[0] * F[1] + F[3] * F[4] + F[6] * F[7];
    C[4] = F[0] * F[2] + F[3] * F[5] + F[6] * F[8];
    C[5] = F[1] * F[2] + F[4] * F[5] + F[7] * F[8];
}

static SNW_INLINE void StoreStart(const Lanes* l)
{
    snwWide C[6];
    FillSquare(l->F, C);
    for (int i = 0; i < 6; i++)
        snwWide_Store(&l->start->C[i][l->lane], C[i]);
}

static SNW_INLINE snwWide AddDamping(Lanes* l)
{
    snwWide C[6], start[6], damping = snwWide_Load(&l->weights->damping[l->lane]);
    FillSquare(l->F, C);
    for (int i = 0; i < 6; i++)
        start[i] = snwWide_Load(&l->start->C[i][l->lane]);

    snwWide much = (start[0] + start[1] + start[2]) * (1.0f / 3.0f), one = snwWide_Splat(1.0f);
    damping = damping / snwWide_Select(much > one, much, one);

    for (int i = 0; i < 6; i++)
        C[i] = C[i] - start[i];
    snwWide energy = 0.125f * (damping * Norm2(C));
    for (int i = 0; i < 6; i++)
        C[i] = 0.5f * (damping * C[i]);
    AddTurned(l->F, C, l->stress);
    return energy;
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
    l->start = task->start != NULL ? &task->start[block] : NULL;
    l->lane = (int)(group % SNW_GROUPS) * SNW_WIDE_LANES;
    l->empty = *(const snwWideInt*)&l->tets->index[0][l->lane] == *(const snwWideInt*)&l->tets->index[1][l->lane];
    LoadTets(l->tets, task->positions, l->lane, l->F);
}

// Elastic energy and the damping's, of lanes.
typedef struct Energies
{
    snwWide elastic, damping;
} Energies;

// From the rotation to forces.
static SNW_INLINE Energies FinishLanes(const snwElasticTask* task, Lanes* l, const Volume* volume, snwElasticLaw law)
{
    snwWide stretch, none = snwWide_Splat(0.0f);
    Energies e = {.elastic = law == snw_elasticNeo ? AddNeo(l) : AddShear(l, &stretch), .damping = none};
    if (law == snw_elasticCorotated)
        e.elastic = e.elastic + AddPressure(l, stretch);
    if (law == snw_elasticVolume)
        e.elastic = e.elastic + AddGap(l, volume);
    if (task->start != NULL && task->isStart)
        StoreStart(l);
    else if (task->start != NULL)
        e.damping = AddDamping(l);
    Scatter(l, task->forces);
    e.elastic = snwWide_Select(l->empty, none, e.elastic);
    e.damping = snwWide_Select(l->empty, none, e.damping);
    return e;
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

// A sum per lane of the block, added up at the end: the same order for all widths, and eight chains instead of one.
typedef struct Sums
{
    double elastic[SNW_ROTATION_LANES], damping[SNW_ROTATION_LANES];
    int squeezed;
} Sums;

static SNW_INLINE void RunGroups(const snwElasticTask* task, long group, int count, snwElasticLaw law, Sums* sums)
{
    Lanes l[SNW_TOGETHER];
    Volume volume[SNW_TOGETHER];
    for (int k = 0; k < count; k++)
        LoadLanes(task, group + k, &l[k]);

    // Rotations, for all laws but Neo-Hookean.
    if (law != snw_elasticNeo)
        TurnLanes(l, count);

    // The law `volume` also needs the nearest shape of its volume.
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
        Energies e = FinishLanes(task, &l[k], &volume[k], law);
        if (law == snw_elasticNeo)
        {
            // Blocks with squeezed lanes are marked for unfolding.
            unsigned bits = (unsigned)snwWideInt_Bits(l[k].squeezed & ~l[k].empty);
            unsigned char* mark = task->squeezed != NULL ? &task->squeezed[(group + k) / SNW_GROUPS] : NULL;
            sums->squeezed += __builtin_popcount(bits);
            if (mark != NULL)
                *mark = (unsigned char)((l[k].lane > 0 && *mark != 0) || bits != 0);
        }

        // Energies are summed lane by lane, in double.
        for (int i = 0; i < SNW_WIDE_LANES; i++)
        {
            sums->elastic[l[k].lane + i] += (double)e.elastic[i];
            sums->damping[l[k].lane + i] += (double)e.damping[i];
        }
    }
}

// law is a constant where this is inlined.
static SNW_INLINE snwElasticEnergy RunBlocks(const snwElasticTask* task, int begin, int end, snwElasticLaw law)
{
    Sums sums = {.squeezed = 0};
    snwElasticEnergy total = {0};
    long group = (long)begin * SNW_GROUPS, last = (long)end * SNW_GROUPS;
    for (; group + SNW_TOGETHER <= last; group += SNW_TOGETHER)
        RunGroups(task, group, SNW_TOGETHER, law, &sums);
    for (; group < last; group++)
        RunGroups(task, group, 1, law, &sums);
    for (int i = 0; i < SNW_ROTATION_LANES; i++)
    {
        total.elastic += sums.elastic[i];
        total.damping += sums.damping[i];
    }
    total.squeezed = sums.squeezed;
    return total;
}

static snwElasticEnergy AddForces(const snwElasticTask* task, int begin, int end)
{
    switch (task->law)
    {
        case snw_elasticVolume:
            return RunBlocks(task, begin, end, snw_elasticVolume);
        case snw_elasticCorotated:
            return RunBlocks(task, begin, end, snw_elasticCorotated);
        case snw_elasticNeo:
            return RunBlocks(task, begin, end, snw_elasticNeo);
        case snw_elasticStrain:
        case snw_elasticLawCount:
            break;
    }
    return RunBlocks(task, begin, end, snw_elasticStrain);
}

static const snwElasticKernels s_kernels = {AddForces};
