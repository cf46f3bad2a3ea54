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

// Of W + a I, which is positive.
static inline void InvertSymmetric(const snwWide w[6], snwWide a, snwWide out[6])
{
    snwWide xx = w[0] + a, yy = w[3] + a, zz = w[5] + a;
    snwWide c0 = yy * zz - w[4] * w[4], c1 = w[2] * w[4] - w[1] * zz, c2 = w[1] * w[4] - w[2] * yy;
    snwWide scale = SafeRatio(snwWide_Splat(1.0f), xx * c0 + w[1] * c1 + w[2] * c2);
    out[0] = c0 * scale;
    out[1] = c1 * scale;
    out[2] = c2 * scale;
    out[3] = (xx * zz - w[2] * w[2]) * scale;
    out[4] = (w[1] * w[2] - xx * w[4]) * scale;
    out[5] = (xx * yy - w[1] * w[1]) * scale;
}

// Where the corners p go.
static inline void MoveNeo(
    const snwWide p[4][4], const snwNeoRest* rest, snwNeoState* state, int lane, snwWide now[4][4])
{
    snwWide g[4][3], f[3][3], s[3][3], w[6], inverse[6], r[3][3], z[3][3], e[3][3];
    ShapeGradients(rest, lane, g);
    Deformation(p, g, f);
    Cross(f[1], f[2], s[0]);
    Cross(f[2], f[0], s[1]);
    Cross(f[0], f[1], s[2]);
    Yields(p, g, w);
    snwWide aD = snwWide_Load(state->complianceD + lane), aH = snwWide_Load(state->complianceH + lane);
    InvertSymmetric(w, aD, inverse);
    snwWide sumH = snwWide_Load(state->sumH + lane);
    snwWide above = -(Dot(f[0], s[0]) - snwWide_Load(state->gamma + lane) + aH * sumH), below = snwWide_Splat(0.0f);
    for (int d = 0; d < 3; ++d)
    {
        snwWide y[3], v[3];
        for (int k = 0; k < 3; ++k)
            e[d][k] = sumH * s[d][k] - snwWide_Load(state->pushH[3 * d + k] + lane);
        MulSymmetric(w, e[d], v);
        for (int k = 0; k < 3; ++k)
            r[d][k] = -(f[d][k] + aD * snwWide_Load(state->sumD[3 * d + k] + lane) + v[k]);
        above = above - Dot(s[d], v);
        MulSymmetric(inverse, s[d], y);
        MulSymmetric(w, y, z[d]);
        above = above - Dot(z[d], r[d]);
        below = below + Dot(s[d], z[d]);
    }
    snwWide t = SafeRatio(above, aH + aD * below);
    snwWide_Store(state->sumH + lane, sumH + t);
    for (int d = 0; d < 3; ++d)
    {
        snwWide u[3];
        MulSymmetric(inverse, r[d], u);
        for (int k = 0; k < 3; ++k)
        {
            snwWide step = u[k] - z[d][k] * t;
            snwWide push = s[d][k] * t + e[d][k];
            float *sum = state->sumD[3 * d + k] + lane, *pushed = state->pushH[3 * d + k] + lane;
            snwWide_Store(sum, snwWide_Load(sum) + step);
            snwWide_Store(pushed, snwWide_Load(pushed) + push);
            u[k] = step + push;
        }
        for (int k = 0; k < 4; ++k)
            now[k][d] = p[k][d] + p[k][3] * Dot(g[k], u);
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
    MoveNeo(p, rest, state, lane, now);
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
