// The 2x2 blocks of pair.h, for the lanes that simd.h gives. Included by kernel.h.

// Sums over an element from which its multipliers come; n is N, less what draws a lost element to its rest pose.
typedef struct PairSums
{
    snwWide ff, fh, hh; // F : W F, F : W H, H : W H, all over a
    snwWide fn, hn;     // F : W N, H : W N, too
    snwWide size;       // |F|^2
    snwWide excess;     // det F - 1
} PairSums;

SNW_VISIT void SolvePair(const PairSums* s, const float* bulk, snwWide* p, snwWide* q)
{
    snwWide m00 = s->ff + s->size, m11 = s->hh + snwWide_Load(bulk), r0 = s->fn, r1 = s->hn - s->excess;
    snwWide inverse = SafeRatio(snwWide_Splat(1.0f), m00 * m11 - s->fh * s->fh);
    *p = (m11 * r0 - s->fh * r1) * inverse;
    *q = (m00 * r1 - s->fh * r0) * inverse;
}

// A visit without bounds does what the law says. One with bounds does so much to elements below the least volume that
// det F is that, along H, to those with |F| beyond the longest that it is that, along F, and nothing to others.

// q of an unfolding: P = q H / a.
SNW_VISIT snwWide Unfolding(float least, snwWide det, snwWide hh)
{
    return SafeRatio(snwWide_Max(snwWide_Splat(least) - det, snwWide_Splat(0.0f)), hh);
}

// p of an unfolding: P = p F / a takes |F| back to the longest.
SNW_VISIT snwWide Shortening(float longest, snwWide size, snwWide ff)
{
    snwWide over = size - snwWide_Splat(longest) * snwWide_Sqrt(size);
    return -SafeRatio(snwWide_Max(over, snwWide_Splat(0.0f)), ff);
}

// Which lanes are to be looked at, or were not upright yet; those without an element, or with all of it held, never.
SNW_VISIT snwWideInt Folded(const snwPairBounds* bounds, snwWide det, snwWide size, snwWide hh)
{
    snwWideInt any = det < snwWide_Splat(bounds == NULL ? 0.7f : bounds->least - 0.05f);
    if (bounds != NULL)
        any = any | (size > snwWide_Splat(bounds->longest * bounds->longest + 1.0f));
    return any & (hh > snwWide_Splat(0.0f));
}

SNW_VISIT void MarkSqueezed(unsigned char* mark, int lane, snwWideInt folded)
{
    *mark = (lane > 0 && *mark != snw_pairSound) || snwWideInt_Any(folded) ? snw_pairSqueezed : snw_pairSound;
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

// Rows of F from rows of the vertices: x y where they were predicted, and how far they have moved since.
SNW_VISIT void PlaneDeformation(const snwWide x[3][4], const snwWide g[2][2], snwWide f[2][2])
{
    for (int d = 0; d < 2; ++d)
    {
        snwWide u = (x[1][d] - x[0][d]) + (x[1][d + 2] - x[0][d + 2]);
        snwWide v = (x[2][d] - x[0][d]) + (x[2][d + 2] - x[0][d + 2]);
        for (int k = 0; k < 2; ++k)
            f[d][k] = u * g[0][k] + v * g[1][k];
    }
}

// a P, row by row. In the plane the cofactors of F are its own numbers, and with them
//   F : W F = xx A + 2 xy C + yy B,   F : W H = tr W det F,   H : W H = tr W |F|^2 - F : W F
// where A, B and C are the squares and the product of F's columns.
SNW_VISIT snwWideInt PushTriangles(
    const snwPairTriangles* block, int lane, const snwWide f[2][2], snwWide P[2][2], const snwPairBounds* bounds)
{
    snwWide xx = snwWide_Load(block->yield[0] + lane), xy2 = snwWide_Load(block->yield[1] + lane),
            yy = snwWide_Load(block->yield[2] + lane), trace = xx + yy, p, q;
    snwWide A = f[0][0] * f[0][0] + f[1][0] * f[1][0], B = f[0][1] * f[0][1] + f[1][1] * f[1][1], size = A + B;
    snwWide C = f[0][0] * f[0][1] + f[1][0] * f[1][1], det = f[0][0] * f[1][1] - f[0][1] * f[1][0];
    snwWide ff = xx * A + yy * B + xy2 * C, hh = trace * size - ff, fh = trace * det;
    PairSums s = {ff, fh, hh, ff - fh, fh - hh, size, det - snwWide_Splat(1.0f)};
    snwWideInt folded = Folded(bounds, det, size, hh);
    if (bounds != NULL)
    {
        p = Shortening(bounds->longest, size, ff);
        q = Unfolding(bounds->least, det, hh);
        P[0][0] = p * f[0][0] + q * f[1][1], P[0][1] = p * f[0][1] - q * f[1][0];
        P[1][0] = p * f[1][0] - q * f[0][1], P[1][1] = p * f[1][1] + q * f[0][0];
        return folded;
    }

    // N in the plane: its diagonal is f00 - f11 with both signs, off it f01 + f10.
    SolvePair(&s, block->bulk + lane, &p, &q);
    snwWide n0 = f[0][0] - f[1][1], n1 = f[0][1] + f[1][0];
    P[0][0] = p * f[0][0] + q * f[1][1] - n0;
    P[0][1] = p * f[0][1] - q * f[1][0] - n1;
    P[1][0] = p * f[1][0] - q * f[0][1] - n1;
    P[1][1] = p * f[1][1] + q * f[0][0] + n0;
    return folded;
}

// A block under way: rows of its vertices, gradients, and where it pushes.
typedef struct TriangleVisit
{
    snwWide x[3][4], g[2][2], P[2][2];
    snwWideInt folded;
} TriangleVisit;

SNW_VISIT void BeginTriangles(
    const float* rows, const snwPairTriangles* block, int lane, TriangleVisit* v, const snwPairBounds* bounds)
{
    snwWide f[2][2];
    for (int k = 0; k < 3; ++k)
        snwWide_LoadStride4(rows, 1, block->offset[k] + lane, &v->x[k][0], &v->x[k][1], &v->x[k][2], &v->x[k][3]);
    for (int k = 0; k < 4; ++k)
        v->g[k / 2][k % 2] = snwWide_Load(block->inverse[k] + lane);
    PlaneDeformation(v->x, v->g, f);
    v->folded = PushTriangles(block, lane, f, v->P, bounds);
}

SNW_VISIT void EndTriangles(float* rows, const snwPairTriangles* block, int lane, const TriangleVisit* v)
{
    snwWide push[3][2];
    for (int d = 0; d < 2; ++d)
    {
        for (int k = 0; k < 2; ++k)
            push[k + 1][d] = v->P[d][0] * v->g[k][0] + v->P[d][1] * v->g[k][1];
        push[0][d] = push[1][d] + push[2][d]; // of a mass with a minus
    }
    for (int k = 0; k < 3; ++k)
    {
        snwWide w = snwWide_Load(block->masses[k] + lane);
        snwWide_StoreLast2(rows, 1, block->offset[k] + lane, v->x[k][2] + w * push[k][0], v->x[k][3] + w * push[k][1]);
    }
}

// Two at a time: a block waits for its division while the other works.
static void PairTriangles(const snwPairSweep* sweep, int begin, int end)
{
    int i = begin;
    for (; i + 1 < end; i += 2)
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
        {
            TriangleVisit one, two;
            BeginTriangles(sweep->rows, &sweep->triangles[i], lane, &one, NULL);
            BeginTriangles(sweep->rows, &sweep->triangles[i + 1], lane, &two, NULL);
            EndTriangles(sweep->rows, &sweep->triangles[i], lane, &one);
            EndTriangles(sweep->rows, &sweep->triangles[i + 1], lane, &two);
            MarkSqueezed(&sweep->folded[i], lane, one.folded);
            MarkSqueezed(&sweep->folded[i + 1], lane, two.folded);
        }

    // The last one, if their number is odd.
    for (int lane = 0; i < end && lane < snw_blockLanes; lane += SNW_WIDE_LANES)
    {
        TriangleVisit last;
        BeginTriangles(sweep->rows, &sweep->triangles[i], lane, &last, NULL);
        EndTriangles(sweep->rows, &sweep->triangles[i], lane, &last);
        MarkSqueezed(&sweep->folded[i], lane, last.folded);
    }
}

static void UnfoldTriangles(const snwPairSweep* sweep, int begin, int end)
{
    for (int i = begin; i < end; ++i)
    {
        snwWideInt folded = {0};
        for (int lane = sweep->folded[i] == snw_pairSound ? snw_blockLanes : 0; lane < snw_blockLanes;
             lane += SNW_WIDE_LANES)
        {
            TriangleVisit visit;
            BeginTriangles(sweep->rows, &sweep->triangles[i], lane, &visit, &sweep->bounds);
            EndTriangles(sweep->rows, &sweep->triangles[i], lane, &visit);
            folded = folded | visit.folded;
        }
        if (sweep->folded[i] != snw_pairSound)
            sweep->folded[i] = snwWideInt_Any(folded) ? snw_pairFolded : snw_pairSqueezed;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tets

SNW_VISIT snwWide Dot3(const snwWide a[3][3], const snwWide b[3][3])
{
    return Dot(a[0], b[0]) + Dot(a[1], b[1]) + Dot(a[2], b[2]);
}

SNW_VISIT snwWideInt PushTets(
    const snwPairTets* block, int lane, const snwWide f[3][3], snwWide P[3][3], const snwPairBounds* bounds)
{
    snwWide h[3][3], n[3][3], fw[3][3], hw[3][3], w[6], p, q;
    Cross(f[1], f[2], h[0]);
    Cross(f[2], f[0], h[1]);
    Cross(f[0], f[1], h[2]);
    for (int k = 0; k < 6; ++k)
        w[k] = snwWide_Load(block->yield[k] + lane);
    snwWide excess = Dot(f[0], h[0]) - snwWide_Splat(1.0f), lost = Lost(f, excess);
    for (int d = 0; d < 3; ++d)
    {
        MulSymmetric(w, f[d], fw[d]);
        MulSymmetric(w, h[d], hw[d]);
        for (int k = 0; k < 3; ++k)
            n[d][k] = f[d][k] - h[d][k] - (d == k ? lost : snwWide_Splat(0.0f));
    }

    // The sums of the 2x2 block; see pair.h.
    PairSums s = {Dot3(fw, f), Dot3(fw, h), Dot3(hw, h), Dot3(fw, n), Dot3(hw, n), Dot3(f, f), excess};
    snwWide scale = snwWide_Load(block->stiffness + lane), det = excess + snwWide_Splat(1.0f);
    if (bounds == NULL)
        SolvePair(&s, block->bulk + lane, &p, &q);
    else
    {
        p = Shortening(bounds->longest, s.size, s.ff);
        q = Unfolding(bounds->least, det, s.hh);
    }

    // P = -N + p F + q H; what is unfolded takes p and q alone.
    for (int d = 0; d < 3; ++d)
        for (int k = 0; k < 3; ++k)
            P[d][k] = scale * (p * f[d][k] + q * h[d][k] - (bounds == NULL ? n[d][k] : snwWide_Splat(0.0f)));
    return Folded(bounds, det, s.size, s.hh);
}

SNW_VISIT snwWideInt VisitTets(
    const snwPairSweep* sweep, const snwPairTets* block, int lane, const snwPairBounds* bounds)
{
    snwWide x[4][4], m[4][4], g[4][3], f[3][3], P[3][3];
    for (int k = 0; k < 4; ++k)
    {
        snwWide_Load4(sweep->positions, block->index[k] + lane, &x[k][0], &x[k][1], &x[k][2], &x[k][3]);
        snwWide_Load4(sweep->rows, block->index[k] + lane, &m[k][0], &m[k][1], &m[k][2], &m[k][3]);
    }

    // Gradients, F from the positions with their moves, and each corner's share of P.
    for (int k = 0; k < 3; ++k)
    {
        for (int j = 0; j < 3; ++j)
            g[j + 1][k] = snwWide_Load(block->inverse[3 * j + k] + lane);
        g[0][k] = -(g[1][k] + g[2][k] + g[3][k]);
    }
    for (int d = 0; d < 3; ++d)
    {
        snwWide u[3];
        for (int j = 0; j < 3; ++j)
            u[j] = (x[j + 1][d] - x[0][d]) + (m[j + 1][d] - m[0][d]);
        for (int k = 0; k < 3; ++k)
            f[d][k] = u[0] * g[1][k] + u[1] * g[2][k] + u[2] * g[3][k];
    }

    // Moves of the corners by their inverse masses.
    snwWideInt folded = PushTets(block, lane, f, P, bounds);
    for (int k = 0; k < 4; ++k)
        snwWide_Store4(sweep->rows, block->index[k] + lane, m[k][0] + x[k][3] * Dot(P[0], g[k]),
            m[k][1] + x[k][3] * Dot(P[1], g[k]), m[k][2] + x[k][3] * Dot(P[2], g[k]), m[k][3]);
    return folded;
}

static void PairTets(const snwPairSweep* sweep, int begin, int end)
{
    for (int i = begin; i < end; ++i)
        for (int lane = 0; lane < snw_blockLanes; lane += SNW_WIDE_LANES)
            MarkSqueezed(&sweep->folded[i], lane, VisitTets(sweep, &sweep->tets[i], lane, NULL));
}

static void UnfoldTets(const snwPairSweep* sweep, int begin, int end)
{
    for (int i = begin; i < end; ++i)
    {
        snwWideInt folded = {0};
        for (int lane = sweep->folded[i] == snw_pairSound ? snw_blockLanes : 0; lane < snw_blockLanes;
             lane += SNW_WIDE_LANES)
            folded = folded | VisitTets(sweep, &sweep->tets[i], lane, &sweep->bounds);
        if (sweep->folded[i] != snw_pairSound)
            sweep->folded[i] = snwWideInt_Any(folded) ? snw_pairFolded : snw_pairSqueezed;
    }
}
