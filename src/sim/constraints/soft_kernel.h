// Visits of soft constraints, for the lanes that simd.h gives; see soft.h. Included by kernel.h.
//
// `jacobi` and `corrected` are known when these are inlined: the loops at the end pick one of four.

// Moves of up to four vertices: made at once, or added to what the sweep will move.
SNW_VISIT void Commit(
    const snwSoftSweep* sweep, bool jacobi, const int* index, const snwWide old[4], const snwWide now[4])
{
    if (!jacobi)
    {
        snwWide_Store4(sweep->positions, index, now[0], now[1], now[2], now[3]);
        return;
    }
    snwWide t[4];
    snwWide_Load4(sweep->target, index, &t[0], &t[1], &t[2], &t[3]);
    snwWide_Store4(
        sweep->target, index, t[0] + (now[0] - old[0]), t[1] + (now[1] - old[1]), t[2] + (now[2] - old[2]), t[3]);
}

// An edge between its two halves: up to the long waits for a square root and a division, and what follows them.
typedef struct EdgeVisit
{
    snwWide p[2][4], d[3], back[3];
    snwWide length, sum, scaled; // scaled: change of the multiplier / length
} EdgeVisit;

SNW_VISIT void BeginEdge(const snwSoftSweep* sweep, int b, int lane, bool corrected, EdgeVisit* v)
{
    const snwSoftEdges* state = &sweep->edgeStates[b];
    for (int k = 0; k < 2; ++k)
        snwWide_Load4(sweep->positions, state->index[k] + lane, &v->p[k][0], &v->p[k][1], &v->p[k][2], &v->p[k][3]);
    for (int k = 0; k < 3; ++k)
        v->d[k] = v->p[0][k] - v->p[1][k];
    v->length = snwWide_Sqrt(Dot(v->d, v->d));
    v->sum = snwWide_Load(state->sum + lane);

    // C + alpha~ lambda with the sign of the rest: what is still missing.
    snwWide yield = v->p[0][3] + v->p[1][3], compliance = snwWide_Load(state->compliance + lane);
    snwWide residual = snwWide_Load(state->rest + lane) - v->length - compliance * v->sum;

    if (corrected)
    {
        // e = lambda grad C - q, by a part of it, as soft.h has it.
        snwWide along = SafeRatio(v->sum, v->length);
        for (int k = 0; k < 3; ++k)
            v->back[k] = along * v->d[k] - snwWide_Load(sweep->edgePushes[b].push[k] + lane);
        snwWide slow = SafeRatio(v->length, v->length + yield * snwWide_Abs(v->sum));
        for (int k = 0; k < 3; ++k)
            v->back[k] = slow * v->back[k];
        residual = residual - SafeRatio(yield * Dot(v->d, v->back), v->length);
    }

    v->scaled = SafeRatio(residual, (yield + compliance) * v->length);
}

SNW_VISIT void EndEdge(const snwSoftSweep* sweep, int b, int lane, bool jacobi, bool corrected, EdgeVisit* v)
{
    if (jacobi)
        v->scaled = snwWide_Splat(sweep->relaxation) * v->scaled;
    snwWide move[3], now[2][4], sum = v->sum + v->scaled * v->length;
    snwWide_Store(sweep->edgeStates[b].sum + lane, sum);
    for (int k = 0; k < 3; ++k)
        move[k] = v->scaled * v->d[k];

    // What was taken back (see soft.h) is a part of the move, and is remembered.
    for (int k = 0; corrected && k < 3; ++k)
    {
        float* push = sweep->edgePushes[b].push[k] + lane;
        move[k] = move[k] + v->back[k];
        snwWide_Store(push, snwWide_Load(push) + move[k]);
    }

    for (int k = 0; k < 3; ++k)
    {
        now[0][k] = v->p[0][k] + v->p[0][3] * move[k];
        now[1][k] = v->p[1][k] - v->p[1][3] * move[k];
    }

    now[0][3] = v->p[0][3], now[1][3] = v->p[1][3];
    for (int k = 0; k < 2; ++k)
        Commit(sweep, jacobi, sweep->edgeStates[b].index[k] + lane, v->p[k], now[k]);
}

// Two at a time: they share no vertex, and the second fills the waits of the first.
SNW_VISIT void SoftEdges(const snwSoftSweep* sweep, int begin, int end, bool jacobi, bool corrected)
{
    enum
    {
        snw_parts = snw_blockLanes / SNW_WIDE_LANES
    };
    int part = begin * snw_parts, last = end * snw_parts;

    for (; part + 1 < last; part += 2)
    {
        int b[2] = {part / snw_parts, (part + 1) / snw_parts};
        int lane[2] = {part % snw_parts * SNW_WIDE_LANES, (part + 1) % snw_parts * SNW_WIDE_LANES};
        EdgeVisit one, two;
        BeginEdge(sweep, b[0], lane[0], corrected, &one);
        BeginEdge(sweep, b[1], lane[1], corrected, &two);
        EndEdge(sweep, b[0], lane[0], jacobi, corrected, &one);
        EndEdge(sweep, b[1], lane[1], jacobi, corrected, &two);
    }

    // The odd one at the end.
    if (part < last)
    {
        EdgeVisit one;
        int b = part / snw_parts, lane = part % snw_parts * SNW_WIDE_LANES;
        BeginEdge(sweep, b, lane, corrected, &one);
        EndEdge(sweep, b, lane, jacobi, corrected, &one);
    }
}

SNW_VISIT void SoftTet(const snwSoftSweep* sweep, int b, int lane, bool jacobi, bool corrected)
{
    snwSoftTets* state = &sweep->tetStates[b];
    snwWide p[4][4], u[3][3], g[4][3], back[4][3];
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(sweep->positions, state->index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    VolumeGradients(p, u, g);
    snwWide compliance = snwWide_Load(state->compliance + lane), sum = snwWide_Load(state->sum + lane);
    snwWide yield = p[0][3] * Dot(g[0], g[0]) + p[1][3] * Dot(g[1], g[1]) + p[2][3] * Dot(g[2], g[2]) +
                    p[3][3] * Dot(g[3], g[3]);

    snwWide residual = snwWide_Load(state->rest + lane) - Dot(u[0], g[1]) - compliance * sum;
    if (corrected)
    {
        // e, as soft.h has it. The push on corner 0 is what the others leave.
        for (int k = 1; k < 4; ++k)
            for (int d = 0; d < 3; ++d)
                back[k][d] = sum * g[k][d] - snwWide_Load(sweep->tetPushes[b].push[3 * k + d - 3] + lane);
        snwWide span = snwWide_Sqrt(Dot(u[0], u[0])) + snwWide_Sqrt(Dot(u[1], u[1])) + snwWide_Sqrt(Dot(u[2], u[2]));
        snwWide turning = snwWide_Abs(sum) * span * (p[0][3] + p[1][3] + p[2][3] + p[3][3]);
        snwWide slow = SafeRatio(snwWide_Splat(1.0f), snwWide_Splat(1.0f) + turning);
        for (int k = 1; k < 4; ++k)
            for (int d = 0; d < 3; ++d)
                back[k][d] = slow * back[k][d];
        for (int d = 0; d < 3; ++d)
            back[0][d] = -(back[1][d] + back[2][d] + back[3][d]);

        for (int k = 0; k < 4; ++k)
            residual = residual - p[k][3] * Dot(g[k], back[k]);
    }

    // dl, and what it moves.
    snwWide step = SafeRatio(residual, yield + compliance);
    if (jacobi)
        step = snwWide_Splat(sweep->relaxation) * step;
    sum = sum + step;
    snwWide_Store(state->sum + lane, sum);

    for (int k = 0; k < 4; ++k)
    {
        snwWide now[4];
        for (int d = 0; d < 3; ++d)
        {
            snwWide move = corrected ? step * g[k][d] + back[k][d] : step * g[k][d];
            now[d] = p[k][d] + p[k][3] * move;
            float* push = corrected && k > 0 ? sweep->tetPushes[b].push[3 * k + d - 3] + lane : NULL;
            if (corrected && k > 0)
                snwWide_Store(push, snwWide_Load(push) + move);
        }

        now[3] = p[k][3];
        Commit(sweep, jacobi, state->index[k] + lane, p[k], now);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Six strains at once. With f_k the columns of F, C = F^T F and W of neo_hookean.h, the matrix of their gradients is
//     (kk, pp): W_kp C_kp     (kk, pq): W_kp C_kq + W_kq C_kp
//     (kl, pq): W_kp C_lq + W_kq C_lp + W_lp C_kq + W_lq C_kp

static const int s_strainPairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
static const int s_symmetric[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

static inline snwWide StrainEntry(const snwWide w[6], const snwWide c[6], int row, int column)
{
    const int(*at)[3] = s_symmetric;
    int k = s_strainPairs[row][0], l = s_strainPairs[row][1], p = s_strainPairs[column][0],
        q = s_strainPairs[column][1];
    if (k == l && p == q)
        return w[at[k][p]] * c[at[k][p]];
    if (k == l)
        return w[at[k][p]] * c[at[k][q]] + w[at[k][q]] * c[at[k][p]];
    if (p == q)
        return w[at[p][k]] * c[at[p][l]] + w[at[p][l]] * c[at[p][k]];
    return w[at[k][p]] * c[at[l][q]] + w[at[k][q]] * c[at[l][p]] + w[at[l][p]] * c[at[k][q]] +
           w[at[l][q]] * c[at[k][p]];
}

// x becomes A^-1 x for a symmetric positive A, of which the lower triangle is given and lost.
static inline void SolveSix(snwWide a[6][6], snwWide x[6])
{
    // L D L^T, with x on its way forward.
    for (int j = 0; j < 6; ++j)
    {
        snwWide inverse = SafeRatio(snwWide_Splat(1.0f), a[j][j]);
        for (int i = j + 1; i < 6; ++i)
        {
            snwWide factor = a[i][j] * inverse;
            for (int k = j + 1; k <= i; ++k)
                a[i][k] = a[i][k] - factor * a[k][j];
            x[i] = x[i] - factor * x[j];
        }
        a[j][j] = inverse;
    }

    // Back from the last row, with L^T.
    for (int j = 5; j >= 0; --j)
    {
        for (int i = j + 1; i < 6; ++i)
            x[j] = x[j] - a[i][j] * x[i];
        x[j] = x[j] * a[j][j];
    }
}

// Columns of F and the six numbers of F^T F.
static inline void StrainGeometry(const snwWide f[3][3], snwWide c[6])
{
    for (int k = 0, n = 0; k < 3; ++k)
        for (int l = k; l < 3; ++l, ++n)
            c[n] = f[0][k] * f[0][l] + f[1][k] * f[1][l] + f[2][k] * f[2][l];
}

static inline void GreenStrains(const snwWide c[6], snwWide e[6])
{
    const snwWide one = snwWide_Splat(1.0f), half = snwWide_Splat(0.5f);
    e[0] = half * (c[0] - one);
    e[1] = half * (c[3] - one);
    e[2] = half * (c[5] - one);
    e[3] = c[4];
    e[4] = c[2];
    e[5] = c[1];
}

// out = F L, L the symmetric matrix of six multipliers: the push on F, row by row.
static inline void StrainPush(const snwWide f[3][3], const snwWide l[6], snwWide out[3][3])
{
    for (int d = 0; d < 3; ++d)
    {
        out[d][0] = f[d][0] * l[0] + f[d][1] * l[5] + f[d][2] * l[4];
        out[d][1] = f[d][0] * l[5] + f[d][1] * l[1] + f[d][2] * l[3];
        out[d][2] = f[d][0] * l[4] + f[d][1] * l[3] + f[d][2] * l[2];
    }
}

static inline void LoadStrainSystem(
    const snwStrainState* state, int lane, const snwWide sum[6], snwWide a[6][6], snwWide r[6])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j <= i; ++j)
            a[i][j] = a[i][j] + snwWide_Load(state->compliance[s_symmetric[i][j]] + lane);
    for (int i = 0; i < 3; ++i)
    {
        for (int j = 0; j < 3; ++j)
            r[i] = r[i] - snwWide_Load(state->compliance[s_symmetric[i][j]] + lane) * sum[j];
        snwWide shear = snwWide_Load(state->compliance[6 + i] + lane);
        a[3 + i][3 + i] = a[3 + i][3 + i] + shear;
        r[3 + i] = r[3 + i] - shear * sum[3 + i];
    }
}

// e of soft.h, and what it does to the strains, which r loses.
SNW_VISIT void TakeBackStrains(const snwStrainState* state, int lane, const snwWide f[3][3], const snwWide w[6],
    const snwWide sum[6], snwWide back[3][3], snwWide r[6])
{
    snwWide v[3][3], size = snwWide_Splat(0.0f);
    StrainPush(f, sum, back);
    for (int i = 0; i < 6; ++i)
        size = size + snwWide_Abs(sum[i]);
    snwWide slow = SafeRatio(snwWide_Splat(1.0f), snwWide_Splat(1.0f) + size * (w[0] + w[3] + w[5]));

    for (int d = 0; d < 3; ++d)
    {
        for (int k = 0; k < 3; ++k)
            back[d][k] = slow * (back[d][k] - snwWide_Load(state->push[3 * d + k] + lane));
        MulSymmetric(w, back[d], v[d]);
    }

    // grad C M^-1 e.
    for (int i = 0; i < 6; ++i)
    {
        int k = s_strainPairs[i][0], l = s_strainPairs[i][1];
        for (int d = 0; d < 3; ++d)
            r[i] = r[i] - (k == l ? f[d][k] * v[d][k] : f[d][k] * v[d][l] + f[d][l] * v[d][k]);
    }
}

SNW_VISIT void SoftStrainTet(const snwSoftSweep* sweep, int b, int lane, bool jacobi, bool corrected)
{
    const snwTetBlock* block = &sweep->tets[b];
    snwStrainState* state = &sweep->strainStates[b];
    snwWide p[4][4], g[4][3], f[3][3], w[6], c[6], e[6], r[6], sum[6], a[6][6], move[3][3], back[3][3];
    // F, W and the six strains before the visit.
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(sweep->positions, block->index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    ShapeGradients(&sweep->rests[b], lane, g);
    Deformation(p, g, f);
    Yields(p, g, w);
    StrainGeometry(f, c);
    GreenStrains(c, e);

    // The system of six: residuals, and how each strain yields to each multiplier.
    for (int i = 0; i < 6; ++i)
    {
        sum[i] = snwWide_Load(state->sum[i] + lane);
        r[i] = snwWide_Load(state->rest[i] + lane) - e[i];
        for (int j = 0; j <= i; ++j)
            a[i][j] = StrainEntry(w, c, i, j);
    }

    if (corrected)
        TakeBackStrains(state, lane, f, w, sum, back, r);

    LoadStrainSystem(state, lane, sum, a, r);
    SolveSix(a, r);
    for (int i = 0; jacobi && i < 6; ++i)
        r[i] = snwWide_Splat(sweep->relaxation) * r[i];
    StrainPush(f, r, move);

    for (int i = 0; i < 6; ++i)
    {
        sum[i] = sum[i] + r[i];
        snwWide_Store(state->sum[i] + lane, sum[i]);
    }

    if (corrected)
    {
        for (int i = 0; i < 9; ++i)
        {
            move[i / 3][i % 3] = move[i / 3][i % 3] + back[i / 3][i % 3];
            float* push = state->push[i] + lane;
            snwWide_Store(push, snwWide_Load(push) + move[i / 3][i % 3]);
        }
    }

    // The push on F, as moves of the corners.
    for (int k = 0; k < 4; ++k)
    {
        snwWide now[4] = {p[k][0], p[k][1], p[k][2], p[k][3]};
        for (int d = 0; d < 3; ++d)
            now[d] = now[d] + p[k][3] * Dot(g[k], move[d]);
        Commit(sweep, jacobi, block->index[k] + lane, p[k], now);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Loops

#define SNW_SOFT_LOOP(visit, jacobi, corrected)                                                                        \
    for (int b = begin; b < end; ++b)                                                                                  \
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)                                              \
    visit(sweep, b, lane, jacobi, corrected)

#define SNW_SOFT_KERNEL(name, visit)                                                                                   \
    static void name(const snwSoftSweep* sweep, int begin, int end)                                                    \
    {                                                                                                                  \
        if (sweep->target != NULL && sweep->corrected)                                                                 \
            SNW_SOFT_LOOP(visit, true, true);                                                                          \
        else if (sweep->target != NULL)                                                                                \
            SNW_SOFT_LOOP(visit, true, false);                                                                         \
        else if (sweep->corrected)                                                                                     \
            SNW_SOFT_LOOP(visit, false, true);                                                                         \
        else                                                                                                           \
            SNW_SOFT_LOOP(visit, false, false);                                                                        \
    }

static void SoftDistance(const snwSoftSweep* sweep, int begin, int end)
{
    if (sweep->target != NULL && sweep->corrected)
        SoftEdges(sweep, begin, end, true, true);
    else if (sweep->target != NULL)
        SoftEdges(sweep, begin, end, true, false);
    else if (sweep->corrected)
        SoftEdges(sweep, begin, end, false, true);
    else
        SoftEdges(sweep, begin, end, false, false);
}

SNW_SOFT_KERNEL(SoftVolume, SoftTet)
SNW_SOFT_KERNEL(SoftStrain, SoftStrainTet)

SNW_VISIT void SoftNeoTet(const snwSoftSweep* sweep, int b, int lane, bool jacobi, bool corrected)
{
    (void)corrected;
    snwWide p[4][4], now[4][4];
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(sweep->positions, sweep->tets[b].index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    snwWide excess = MoveNeo(p, &sweep->rests[b], &sweep->neoStates[b], lane, jacobi ? sweep->relaxation : 1.0f, now);
    snwWideInt there = snwWide_Load(sweep->rests[b].volume + lane) > snwWide_Splat(0.0f);
    bool folded = snwWideInt_Any((excess < snwWide_Splat(-0.5f)) & there);
    sweep->folded[b] = (unsigned char)((lane > 0 && sweep->folded[b] != 0) || folded);
    for (int k = 0; k < 4; ++k)
        Commit(sweep, jacobi, sweep->tets[b].index[k] + lane, p[k], now[k]);
}

SNW_SOFT_KERNEL(SoftNeo, SoftNeoTet)
