// The batched kernels of rotation.h, written once over simd.h and included by one file per instruction set. How a
// rotation is found is in rotation_lanes.h.
//
// Singular values come from the polar factor: S = V diag(sigma) V^T by cyclic Jacobi, U = R V. Backward stable, as R
// makes R^T F symmetric to rounding whatever its condition.

#include "math/rotation_lanes.h"

enum
{
    SNW_JACOBI_SWEEPS = 3,
    SNW_MAX_JACOBI_SWEEPS = 6
};

// As a part of the largest singular value. A rotation left out below it changes U diag(sigma) V^T by less than rounding
// does.
#define SNW_JACOBI_TOLERANCE 2e-7f

// A symmetric matrix on its way to diag(sigma), with the columns of V.
typedef struct Spectrum
{
    snwWide S[6]; // xx, yy, zz, xy, xz, yz
    snwWide v[3][3];
} Spectrum;

// Annihilates the entry pq of S, given places of its entries pp, qq, pq, rp and rq.
static inline void JacobiRotate(Spectrum* a, int p, int q, int pq, int rp, int rq)
{
    // The rotation's tangent is n / (|d| + h) with the sign of d. The small constant stands for the zero matrix; it
    // hides off-diagonal entries below 1e-15 of the largest.
    snwWide d = a->S[q] - a->S[p], n = a->S[pq] + a->S[pq];
    snwWide h = snwWide_Sqrt(d * d + n * n + 1e-30f), sum = snwWide_Abs(d) + h;
    n = snwWide_MulSign(n, d);
    snwWide shift = 0.5f * (n / sum * n);
    snwWide inverse = 1.0f / snwWide_Sqrt(sum * sum + n * n), c = sum * inverse, s = n * inverse;
    shift = snwWide_MulSign(shift, d);

    // S' = J^T S J and the product of rotations, V' = V J.
    a->S[p] = a->S[p] - shift;
    a->S[q] = a->S[q] + shift;
    a->S[pq] = snwWide_Splat(0.0f);
    snwWide x = a->S[rp], y = a->S[rq];
    a->S[rp] = c * x - s * y;
    a->S[rq] = s * x + c * y;

    for (int k = 0; k < 3; k++)
    {
        x = a->v[p][k], y = a->v[q][k];
        a->v[p][k] = c * x - s * y;
        a->v[q][k] = s * x + c * y;
    }
}

// One sweep over several spectra in turn: a rotation is a chain of two square roots and a division, and the next one
// waits for it, so the processor needs something else to do meanwhile.
static inline void JacobiSweep(Spectrum* a, int count)
{
    for (int i = 0; i < count; i++)
        JacobiRotate(&a[i], 0, 1, 3, 4, 5);
    for (int i = 0; i < count; i++)
        JacobiRotate(&a[i], 0, 2, 4, 3, 5);
    for (int i = 0; i < count; i++)
        JacobiRotate(&a[i], 1, 2, 5, 3, 4);
}

// Brings the larger value to a; the sign keeps V proper.
static inline void SortPair(snwWide* a, snwWide* b, snwWide va[3], snwWide vb[3])
{
    snwWideInt swap = *a < *b;
    snwWide x = *a, y = *b;
    *a = snwWide_Select(swap, y, x);
    *b = snwWide_Select(swap, x, y);
    for (int k = 0; k < 3; k++)
    {
        x = va[k], y = vb[k];
        va[k] = snwWide_Select(swap, y, x);
        vb[k] = snwWide_Select(swap, -x, y);
    }
}

// Entries off the diagonal that matter for a float result; the last rotation left one of them zero.
static inline snwWideInt IsUnfinished(const Spectrum* a)
{
    snwWide largest = snwWide_Max(snwWide_Abs(a->S[0]), snwWide_Max(snwWide_Abs(a->S[1]), snwWide_Abs(a->S[2])));
    return snwWide_Max(snwWide_Abs(a->S[3]), snwWide_Abs(a->S[4])) > SNW_JACOBI_TOLERANCE * largest;
}

// Three sweeps do for most; lanes that need more get them alone, so that they do not move their neighbours' last bits.
static inline void FinishSpectrum(Spectrum* a)
{
    for (int sweep = SNW_JACOBI_SWEEPS; sweep < SNW_MAX_JACOBI_SWEEPS; sweep++)
    {
        snwWideInt unfinished = IsUnfinished(a);
        if (!snwWideInt_Any(unfinished))
            return;
        Spectrum more = *a;
        JacobiSweep(&more, 1);
        for (int i = 0; i < 6; i++)
            a->S[i] = snwWide_Select(unfinished, more.S[i], a->S[i]);
        for (int i = 0; i < 9; i++)
            a->v[i / 3][i % 3] = snwWide_Select(unfinished, more.v[i / 3][i % 3], a->v[i / 3][i % 3]);
    }
}

static inline void StartSpectrum(const Group* g, Spectrum* a)
{
    FillStretch(g, a->S);
    for (int i = 0; i < 9; i++)
        a->v[i / 3][i % 3] = snwWide_Splat(i % 4 == 0 ? 1.0f : 0.0f);
}

// Descending order is also the order sigma1 >= sigma2 >= |sigma3|, as the polar rotation makes sigma2 + sigma3 >= 0;
// rounding may break that by an ulp, hence the clamps.
static inline void SortSpectrum(Spectrum* a)
{
    SortPair(&a->S[0], &a->S[1], a->v[0], a->v[1]);
    SortPair(&a->S[0], &a->S[2], a->v[0], a->v[2]);
    SortPair(&a->S[1], &a->S[2], a->v[1], a->v[2]);
    a->S[1] = snwWide_Max(a->S[1], snwWide_Splat(0.0f));
    a->S[2] = snwWide_Max(snwWide_Min(a->S[2], a->S[1]), -a->S[1]);
}

static inline void LoadMatrix(Group* g, const snwMat3Block* F, int lane)
{
    for (int i = 0; i < 9; i++)
        g->F[i] = snwWide_Load(&F->m[i][lane]);
}

static inline void StoreRotation(const Group* g, snwMat3Block* R, int lane)
{
    for (int i = 0; i < 9; i++)
        snwWide_Store(&R->m[i][lane], g->R[i]);
}

static inline void StoreStretch(const Group* g, snwSym3Block* out, int lane)
{
    snwWide S[6];
    FillStretch(g, S);
    for (int i = 0; i < 6; i++)
        snwWide_Store(&out->m[i][lane], S[i] * g->unscale[0] * g->unscale[1]);
}

static inline void StoreSpectrum(const Group* g, const Spectrum* a, snwSvdBlock* out, int lane)
{
    for (int i = 0; i < 3; i++)
    {
        snwWide_Store(&out->sigma.v[i][lane], a->S[i] * g->unscale[0] * g->unscale[1]);
        for (int j = 0; j < 3; j++)
        {
            const snwWide* v = a->v[j];
            snwWide_Store(
                &out->U.m[3 * i + j][lane], g->R[3 * i] * v[0] + g->R[3 * i + 1] * v[1] + g->R[3 * i + 2] * v[2]);
            snwWide_Store(&out->V.m[3 * i + j][lane], v[i]);
        }
    }
}

// Where a call takes its matrices from and what it writes; NULL for what does not apply.
typedef struct Call
{
    const snwMat3Block* F;
    const snwRestTetBlock* tets;
    const float* positions;
    snwQuatBlock* q;
    snwMat3Block* R;
    snwSym3Block* S;
    snwSvdBlock* svd;
} Call;

// Group i of the call: lanes `i % SNW_GROUPS * SNW_WIDE_LANES ..` of block i / SNW_GROUPS.
static SNW_INLINE void LoadGroup(const Call* call, long i, Group* g)
{
    long block = i / SNW_GROUPS;
    int lane = (int)(i % SNW_GROUPS) * SNW_WIDE_LANES;
    if (call->tets != NULL)
        LoadTets(&call->tets[block], call->positions, lane, g->F);
    else
        LoadMatrix(g, &call->F[block], lane);
    LoadGuess(g, &call->q[block], lane);
}

static SNW_INLINE void StoreGroup(const Call* call, long i, const Group* g)
{
    long block = i / SNW_GROUPS;
    int lane = (int)(i % SNW_GROUPS) * SNW_WIDE_LANES;
    StoreQuat(g, &call->q[block], lane);
    if (call->R != NULL)
        StoreRotation(g, &call->R[block], lane);
    if (call->S != NULL)
        StoreStretch(g, &call->S[block], lane);
}

static SNW_INLINE void RunGroups(const Call* call, long i, int count, Group* g, snwRotationReport* report)
{
    for (int k = 0; k < count; k++)
        LoadGroup(call, i + k, &g[k]);
    SolveGroups(g, count, report);
    for (int k = 0; k < count; k++)
        StoreGroup(call, i + k, &g[k]);
}

// The two loops are inlined into each entry point below, where the compiler knows which members are NULL.
static SNW_INLINE snwRotationReport Run(int count, Call call)
{
    snwRotationReport report = {0, 0};
    Group g[SNW_TOGETHER];
    long i = 0, total = (long)count * SNW_GROUPS;
    for (; i + SNW_TOGETHER <= total; i += SNW_TOGETHER)
        RunGroups(&call, i, SNW_TOGETHER, g, &report);
    for (; i < total; i++)
        RunGroups(&call, i, 1, g, &report);
    return report;
}

// A decomposition writes 84 bytes per lane. Fetching those lines while the one before is computed saves a fifth of the
// time on meshes that do not fit the second-level cache. Once per block; past the end the last block again.
static inline void PrefetchSvd(snwSvdBlock* out, long group, long total)
{
    if (group % SNW_GROUPS != 0)
        return;
    const char* block = (const char*)&out[(group < total ? group : total - 1) / SNW_GROUPS];
    for (size_t k = 0; k < sizeof *out; k += 64)
        __builtin_prefetch(block + k, 1);
}

static SNW_INLINE snwRotationReport RunSvd(int count, Call call)
{
    snwRotationReport report = {0, 0};
    long total = (long)count * SNW_GROUPS;
    for (long i = 0; i < total; i += SNW_TOGETHER)
    {
        // Several groups at a time: the chains of one group's divisions and roots hide behind those of another's.
        Group g[SNW_TOGETHER];
        Spectrum a[SNW_TOGETHER];
        int together = total - i < SNW_TOGETHER ? (int)(total - i) : SNW_TOGETHER;
        for (int k = 0; k < together; k++)
            PrefetchSvd(call.svd, i + k + 2 * SNW_TOGETHER, total);
        RunGroups(&call, i, together, g, &report);
        for (int k = 0; k < together; k++)
            StartSpectrum(&g[k], &a[k]);
        for (int sweep = 0; sweep < SNW_JACOBI_SWEEPS; sweep++)
            JacobiSweep(a, together);

        for (int k = 0; k < together; k++)
        {
            FinishSpectrum(&a[k]);
            SortSpectrum(&a[k]);
            StoreSpectrum(&g[k], &a[k], &call.svd[(i + k) / SNW_GROUPS], (int)((i + k) % SNW_GROUPS) * SNW_WIDE_LANES);
        }
    }

    return report;
}

static snwRotationReport Extract(int count, const snwMat3Block* F, snwQuatBlock* q, snwMat3Block* R)
{
    return Run(count, (Call){.F = F, .q = q, .R = R});
}

static snwRotationReport Polar(int count, const snwMat3Block* F, snwQuatBlock* q, snwMat3Block* R, snwSym3Block* S)
{
    return Run(count, (Call){.F = F, .q = q, .R = R, .S = S});
}

static snwRotationReport Svd(int count, const snwMat3Block* F, snwQuatBlock* q, snwSvdBlock* out)
{
    return RunSvd(count, (Call){.F = F, .q = q, .svd = out});
}

static void TetDeform(int count, const snwRestTetBlock* tets, const float* positions, snwMat3Block* F)
{
    for (int b = 0; b < count; b++)
    {
        for (int lane = 0; lane < SNW_ROTATION_LANES; lane += SNW_WIDE_LANES)
        {
            Group g;
            LoadTets(&tets[b], positions, lane, g.F);
            for (int i = 0; i < 9; i++)
                snwWide_Store(&F[b].m[i][lane], g.F[i]);
        }
    }
}

static snwRotationReport TetExtract(
    int count, const snwRestTetBlock* tets, const float* positions, snwQuatBlock* q, snwMat3Block* R)
{
    return Run(count, (Call){.tets = tets, .positions = positions, .q = q, .R = R});
}

static snwRotationReport TetPolar(
    int count, const snwRestTetBlock* tets, const float* positions, snwQuatBlock* q, snwMat3Block* R, snwSym3Block* S)
{
    return Run(count, (Call){.tets = tets, .positions = positions, .q = q, .R = R, .S = S});
}

static snwRotationReport TetSvd(
    int count, const snwRestTetBlock* tets, const float* positions, snwQuatBlock* q, snwSvdBlock* out)
{
    return RunSvd(count, (Call){.tets = tets, .positions = positions, .q = q, .svd = out});
}

static const snwRotationKernels s_kernels = {Extract, Polar, Svd, TetDeform, TetExtract, TetPolar, TetSvd};
