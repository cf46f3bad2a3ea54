// The block of a tet, for the lanes that simd.h gives; see neo_hookean.h. Included by kernel.h.

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

// Not less than the largest eigenvalue: the largest sum of a row.
static inline snwWide MostYield(const snwWide w[6])
{
    snwWide xy = snwWide_Abs(w[1]), xz = snwWide_Abs(w[2]), yz = snwWide_Abs(w[4]);
    return snwWide_Max(w[0] + xy + xz, snwWide_Max(w[3] + xy + yz, w[5] + xz + yz));
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

// Where the corners p go. Returns det F - 1 before.
static inline snwWide MoveNeo(
    const snwWide p[4][4], const snwNeoRest* rest, snwNeoState* state, int lane, float relaxation, snwWide now[4][4])
{
    snwWide g[4][3], f[3][3], s[3][3], w[6], r[3][3];

    // F and s = cof F, row by row.
    ShapeGradients(rest, lane, g);
    Deformation(p, g, f);
    Cross(f[1], f[2], s[0]);
    Cross(f[2], f[0], s[1]);
    Cross(f[0], f[1], s[2]);

    // A = 2 w + a~_D. The compliance has a least value, beyond which sweeps could not tell flesh from rigid.
    Yields(p, g, w);
    snwWide least = snwWide_Splat(1e-5f) * (w[0] + w[3] + w[5]);
    snwWide a = snwWide_Max(snwWide_Load(state->compliance + lane), least + least);
    snwWide most = MostYield(w), rate = SafeRatio(snwWide_Splat(1.0f), most + most + a);
    const snwWide zero = snwWide_Splat(0.0f);

    // r_d, and numerator and denominator of q.
    snwWide above = Dot(f[0], s[0]) - snwWide_Splat(1.0f), below = snwWide_Load(state->bulk + lane);
    snwWide excess = above, lost = Lost(f, excess);
    for (int d = 0; d < 3; ++d)
    {
        snwWide v[3];
        for (int k = 0; k < 3; ++k)
        {
            snwWide push = snwWide_Load(state->push[3 * d + k] + lane);
            r[d][k] = rate * (s[d][k] + (d == k ? lost : zero) - f[d][k] - a * push);
        }

        MulSymmetric(w, s[d], v);
        above = above + Dot(r[d], v);
        below = below + rate * Dot(s[d], v);
    }

    // dP_d into what has been pushed, and the corners by it.
    snwWide q = rate * SafeRatio(above, below);
    for (int d = 0; d < 3; ++d)
    {
        snwWide step[3];
        for (int k = 0; k < 3; ++k)
        {
            float* push = state->push[3 * d + k] + lane;
            step[k] = relaxation * (r[d][k] - q * s[d][k]);
            snwWide_Store(push, snwWide_Load(push) + step[k]);
        }

        for (int k = 0; k < 4; ++k)
            now[k][d] = p[k][d] + p[k][3] * Dot(g[k], step);
    }

    for (int k = 0; k < 4; ++k)
        now[k][3] = p[k][3];
    return excess;
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

// Rows of float4, the last number an inverse mass: adds what the pushes move.
static void NeoMoves(
    float* rows, const snwTetBlock* blocks, const snwNeoRest* rests, const snwNeoState* states, int begin, int end)
{
    for (int i = begin; i < end; ++i)
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
        {
            snwWide g[4][3], push[3][3];
            ShapeGradients(&rests[i], lane, g);
            for (int k = 0; k < 9; ++k)
                push[k / 3][k % 3] = snwWide_Load(states[i].push[k] + lane);

            // w_i G_i . P, added to each corner's row.
            for (int k = 0; k < 4; ++k)
            {
                snwWide row[4];
                snwWide_Load4(rows, blocks[i].index[k] + lane, &row[0], &row[1], &row[2], &row[3]);
                for (int d = 0; d < 3; ++d)
                    row[d] = row[d] + row[3] * Dot(g[k], push[d]);
                snwWide_Store4(rows, blocks[i].index[k] + lane, row[0], row[1], row[2], row[3]);
            }
        }
}
