// The block of a tet, for the lanes that simd.h gives; see neo_hookean.h. Included by pbd_kernel.h.

// Gradients of the shape functions: those of corners 1 to 3 are rows of the inverse, that of corner 0 minus their sum.
static inline void ShapeGradients(const snwNeoRest* rest, int lane, snwWide g[4][3])
{
    for (int k = 0; k < 3; ++k)
    {
        for (int j = 0; j < 3; ++j)
            g[j + 1][k] = snwWide_Load(rest->inverse[3 * j + k] + lane);
        g[0][k] = -(g[1][k] + g[2][k] + g[3][k]);
    }
}

// Rows of F: f[d][k] = sum_j (x_j - x_0)_d B_jk
static inline void Deformation(const snwWide p[4][4], const snwWide g[4][3], snwWide f[3][3])
{
    for (int d = 0; d < 3; ++d)
        for (int k = 0; k < 3; ++k)
            f[d][k] = (p[1][d] - p[0][d]) * g[1][k] + (p[2][d] - p[0][d]) * g[2][k] + (p[3][d] - p[0][d]) * g[3][k];
}

// xx xy xz yy yz zz of sum_i w_i G_i G_i^T
static inline void Yields(const snwWide p[4][4], const snwWide g[4][3], snwWide w[6])
{
    for (int a = 0, n = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b, ++n)
            w[n] = p[0][3] * g[0][a] * g[0][b] + p[1][3] * g[1][a] * g[1][b] + p[2][3] * g[2][a] * g[2][b] +
                   p[3][3] * g[3][a] * g[3][b];
}

static inline void MulSymmetric(const snwWide m[6], const snwWide v[3], snwWide out[3])
{
    out[0] = m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
    out[1] = m[1] * v[0] + m[3] * v[1] + m[4] * v[2];
    out[2] = m[2] * v[0] + m[4] * v[1] + m[5] * v[2];
}

// A = L D L^T for A = 2 W + a I. Pivots cannot be below a but for rounding.
typedef struct Factor
{
    snwWide l10, l20, l21, i0, i1, i2;
} Factor;

static inline Factor FactorOf(const snwWide w[6], snwWide a)
{
    const snwWide one = snwWide_Splat(1.0f);
    Factor f;
    f.i0 = SafeRatio(one, w[0] + a);
    f.l10 = w[1] * f.i0;
    f.l20 = w[2] * f.i0;
    f.i1 = SafeRatio(one, snwWide_Max(w[3] + a - f.l10 * w[1], a));
    snwWide m = w[4] - f.l20 * w[1];
    f.l21 = m * f.i1;
    f.i2 = SafeRatio(one, snwWide_Max(w[5] + a - f.l20 * w[2] - f.l21 * m, a));
    return f;
}

static inline void SolveThree(const Factor* f, const snwWide v[3], snwWide out[3])
{
    snwWide y1 = v[1] - f->l10 * v[0], y2 = v[2] - f->l20 * v[0] - f->l21 * y1;
    out[2] = y2 * f->i2;
    out[1] = y1 * f->i1 - f->l21 * out[2];
    out[0] = v[0] * f->i0 - f->l10 * out[1] - f->l20 * out[2];
}

// F = 0 is a minimum of the energy, too: a tet that is small in all directions and has lost its volume would stay a
// point. It is drawn towards its rest pose then, upright, until it is out of there. excess: det F - 1.
static inline snwWide Lost(const snwWide f[3][3], snwWide excess)
{
    const snwWide zero = snwWide_Splat(0.0f), one = snwWide_Splat(1.0f);
    snwWide size = Dot(f[0], f[0]) + Dot(f[1], f[1]) + Dot(f[2], f[2]);
    snwWide share = snwWide_Max(zero, snwWide_Min(one, snwWide_Splat(-4.0f) - snwWide_Splat(5.0f) * excess));
    return snwWide_Select(size < snwWide_Splat(1.2f), share, zero);
}

// Where the corners p go.
static inline void MoveNeo(
    const snwWide p[4][4], const snwNeoRest* rest, snwNeoState* state, int lane, float relaxation, snwWide now[4][4])
{
    snwWide g[4][3], f[3][3], s[3][3], w[6], y[3][3], z[3][3];
    ShapeGradients(rest, lane, g);
    Deformation(p, g, f);
    Cross(f[1], f[2], s[0]);
    Cross(f[2], f[0], s[1]);
    Cross(f[0], f[1], s[2]);
    Yields(p, g, w);
    for (int n = 0; n < 6; ++n)
        w[n] = w[n] + w[n];
    snwWide a = snwWide_Max(snwWide_Load(state->compliance + lane), snwWide_Splat(1e-5f) * (w[0] + w[3] + w[5]));
    Factor factor = FactorOf(w, a);
    const snwWide half = snwWide_Splat(0.5f), zero = snwWide_Splat(0.0f);
    snwWide above = Dot(f[0], s[0]) - snwWide_Splat(1.0f), below = snwWide_Load(state->bulk + lane);
    snwWide lost = Lost(f, above);
    for (int d = 0; d < 3; ++d)
    {
        snwWide r[3];
        for (int k = 0; k < 3; ++k)
            r[k] = s[d][k] + (d == k ? lost : zero) - f[d][k] - a * snwWide_Load(state->push[3 * d + k] + lane);
        SolveThree(&factor, r, y[d]);
        SolveThree(&factor, s[d], z[d]);
        for (int k = 0; k < 3; ++k)
            r[k] = r[k] - a * y[d][k];
        above = above + half * Dot(s[d], r);
        below = below + half * (Dot(s[d], s[d]) - a * Dot(s[d], z[d]));
    }
    snwWide q = SafeRatio(above, below); // times a
    for (int d = 0; d < 3; ++d)
    {
        snwWide step[3];
        for (int k = 0; k < 3; ++k)
        {
            float* push = state->push[3 * d + k] + lane;
            step[k] = relaxation * (y[d][k] - q * z[d][k]);
            snwWide_Store(push, snwWide_Load(push) + step[k]);
        }
        for (int k = 0; k < 4; ++k)
            now[k][d] = p[k][d] + p[k][3] * Dot(g[k], step);
    }
    for (int k = 0; k < 4; ++k)
        now[k][3] = p[k][3];
}

static inline void SolveNeo(
    float* positions, const snwTetBlock* block, const snwNeoRest* rest, snwNeoState* state, int lane)
{
    snwWide p[4][4], now[4][4];
    for (int k = 0; k < 4; ++k)
        snwWide_Load4(positions, block->index[k] + lane, &p[k][0], &p[k][1], &p[k][2], &p[k][3]);
    MoveNeo(p, rest, state, lane, 1.0f, now);
    for (int k = 0; k < 4; ++k)
        snwWide_Store4(positions, block->index[k] + lane, now[k][0], now[k][1], now[k][2], now[k][3]);
}

static void NeoHookean(
    float* positions, const snwTetBlock* blocks, const snwNeoRest* rests, snwNeoState* states, int begin, int end)
{
    for (int i = begin; i < end; ++i)
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
            SolveNeo(positions, &blocks[i], &rests[i], &states[i], lane);
}
