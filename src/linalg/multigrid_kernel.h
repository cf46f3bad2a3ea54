// The loops over rows, compiled once per instruction set.
//
// Vectors have fixed widths, four or eight floats and four doubles: how the compiler cuts them does not change what a
// lane computes, so all instruction sets give the same bits. A 3 x 3 block is read as three columns of four numbers;
// the fourth is the next column's and thrown away, which is why arrays have padding behind them.

#include "linalg/multigrid_parts.h"
#include "math/lanes.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Rows times x. Backward: the same sum from the last block to the first, for sweeps that walk through memory that way.
// Far: the matrix does not fit into the cache, so what comes four kilobytes later is asked for already; the processor
// itself looks no further than to the end of a page. Small matrices are read faster without.

enum
{
    snw_ahead = 1024, // floats
    snw_line = 16
};

INLINE void Ask(const float* m, int lines, bool backward)
{
    for (int k = 0; k < lines; ++k)
        __builtin_prefetch(backward ? m - snw_ahead - snw_line * k : m + snw_ahead + snw_line * k);
}

INLINE Four Row3(const float* blocks, const int* columns, int begin, int end, const float* x, bool backward, bool far)
{
    Four a = {0}, b = {0}, c = {0};
    for (int n = 0; n < end - begin; ++n)
    {
        int k = backward ? end - 1 - n : begin + n;
        const float *m = blocks + 9 * (size_t)k, *v = x + 3 * (size_t)columns[k];
        if (far)
            Ask(m, 1, backward);
        a += LoadFour(m) * v[0];
        b += LoadFour(m + 3) * v[1];
        c += LoadFour(m + 6) * v[2];
    }
    return a + b + c;
}

INLINE Eight Row6(const float* blocks, const int* columns, int begin, int end, const float* x, bool backward, bool far)
{
    Eight a = {0}, b = {0};
    for (int n = 0; n < end - begin; ++n)
    {
        int k = backward ? end - 1 - n : begin + n;
        const float *m = blocks + 36 * (size_t)k, *v = x + 6 * (size_t)columns[k];
        if (far)
            Ask(m, 3, backward);
        a += LoadEight(m) * v[0];
        b += LoadEight(m + 6) * v[1];
        a += LoadEight(m + 12) * v[2];
        b += LoadEight(m + 18) * v[3];
        a += LoadEight(m + 24) * v[4];
        b += LoadEight(m + 30) * v[5];
    }
    return a + b;
}

// x_i = D_i^-1 (b_i - sum)
INLINE void Update3(const snwLevel* level, int i, Four sum)
{
    const float *d = level->inverse + 9 * (size_t)i, *b = level->b + 3 * (size_t)i;
    Four y = LoadFour(d) * (b[0] - sum[0]) + LoadFour(d + 3) * (b[1] - sum[1]) + LoadFour(d + 6) * (b[2] - sum[2]);
    float* x = level->x + 3 * (size_t)i;
    x[0] = y[0], x[1] = y[1], x[2] = y[2];
}

INLINE void Update6(const snwLevel* level, int i, Eight sum)
{
    const float *d = level->inverse + 36 * (size_t)i, *b = level->b + 6 * (size_t)i;
    Eight y = {0};
    for (int k = 0; k < 6; ++k)
        y += LoadEight(d + 6 * k) * (b[k] - sum[k]);
    float* x = level->x + 6 * (size_t)i;
    for (int k = 0; k < 6; ++k)
        x[k] = y[k];
}

INLINE void ForwardFromZeroRows(const snwLevel* level, int begin, int end, bool far)
{
    const snwBlockGraph* g = level->graph;
    for (int i = begin; i < end; ++i)
        if (level->size == 3)
            Update3(
                level, i, Row3(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, false, far));
        else
            Update6(
                level, i, Row6(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, false, far));
}

INLINE void ForwardRows(const snwLevel* level, int begin, int end, bool far)
{
    const snwBlockGraph* g = level->graph;
    for (int i = begin; i < end; ++i)
        if (level->size == 3)
            Update3(level, i,
                Row3(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, false, far) +
                    Row3(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, false, far));
        else
            Update6(level, i,
                Row6(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, false, far) +
                    Row6(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, false, far));
}

INLINE void BackwardRows(const snwLevel* level, int begin, int end, bool far)
{
    const snwBlockGraph* g = level->graph;
    for (int i = end - 1; i >= begin; --i)
        if (level->size == 3)
            Update3(level, i,
                Row3(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, true, far) +
                    Row3(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, true, far));
        else
            Update6(level, i,
                Row6(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, true, far) +
                    Row6(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, true, far));
}

INLINE void ResidualFromZeroRows(const snwLevel* level, int begin, int end, bool far)
{
    const snwBlockGraph* g = level->graph;
    for (int i = begin; i < end; ++i)
    {
        // x solved (L + D) x = b, so the residual is only -U x.
        float* r = level->r + (size_t)level->size * (size_t)i;
        if (level->size == 3)
        {
            Four sum = Row3(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, false, far);
            for (int k = 0; k < 3; ++k)
                r[k] = -sum[k];
        }
        else
        {
            Eight sum = Row6(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, false, far);
            for (int k = 0; k < 6; ++k)
                r[k] = -sum[k];
        }
    }
}

INLINE void ResidualRows(const snwLevel* level, int begin, int end, bool far)
{
    const snwBlockGraph* g = level->graph;
    for (int i = begin; i < end; ++i)
    {
        size_t at = (size_t)level->size * (size_t)i;
        const float *x = level->x + at, *b = level->b + at;
        float* r = level->r + at;

        // Points with three unknowns, or with six.
        if (level->size == 3)
        {
            const float* d = level->diagonal + 9 * (size_t)i;
            Four sum = Row3(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, false, far) +
                       Row3(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, false, far);
            sum += LoadFour(d) * x[0] + LoadFour(d + 3) * x[1] + LoadFour(d + 6) * x[2];
            for (int k = 0; k < 3; ++k)
                r[k] = b[k] - sum[k];
        }
        else
        {
            const float* d = level->diagonal + 36 * (size_t)i;
            Eight sum = Row6(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], level->x, false, far) +
                        Row6(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], level->x, false, far);
            for (int k = 0; k < 6; ++k)
                sum += LoadEight(d + 6 * k) * x[k];
            for (int k = 0; k < 6; ++k)
                r[k] = b[k] - sum[k];
        }
    }
}

// Compiled twice.
static void ForwardFromZero(const snwLevel* level, int begin, int end)
{
    if (level->far)
        ForwardFromZeroRows(level, begin, end, true);
    else
        ForwardFromZeroRows(level, begin, end, false);
}

static void Forward(const snwLevel* level, int begin, int end)
{
    if (level->far)
        ForwardRows(level, begin, end, true);
    else
        ForwardRows(level, begin, end, false);
}

static void Backward(const snwLevel* level, int begin, int end)
{
    if (level->far)
        BackwardRows(level, begin, end, true);
    else
        BackwardRows(level, begin, end, false);
}

static void ResidualFromZero(const snwLevel* level, int begin, int end)
{
    if (level->far)
        ResidualFromZeroRows(level, begin, end, true);
    else
        ResidualFromZeroRows(level, begin, end, false);
}

static void Residual(const snwLevel* level, int begin, int end)
{
    if (level->far)
        ResidualRows(level, begin, end, true);
    else
        ResidualRows(level, begin, end, false);
}

// ---------------------------------------------------------------------------------------------------------------------
// Between levels

// d x t
INLINE Four Cross(Four d, Four t)
{
    return __builtin_shufflevector(d, d, 1, 2, 0, 3) * __builtin_shufflevector(t, t, 2, 0, 1, 3) -
           __builtin_shufflevector(d, d, 2, 0, 1, 3) * __builtin_shufflevector(t, t, 1, 2, 0, 3);
}

// Exactly three floats: other threads write those beside them.
INLINE Four LoadThree(const float* p)
{
    return (Four){p[0], p[1], p[2], 0};
}

INLINE void StoreThree(float* p, Four a)
{
    p[0] = a[0], p[1] = a[1], p[2] = a[2];
}

INLINE void GatherRow(const snwLevel* fine, const snwLevel* coarse, int c, int from, int to)
{
    const snwTransfer* t = fine->transfer;
    Four push = {0}, twist = {0};
    for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
    {
        const float* r = fine->r + (size_t)from * (size_t)t->children[k];
        Four link = LoadFour(fine->links + 4 * (size_t)t->childSlots[k]), own = LoadFour(r) * link[3];
        push += own;
        if (to == 6)
            twist += Cross(link, own);
        if (from == 6)
            twist += LoadFour(r + 3) * link[3];
    }
    float* b = coarse->b + (size_t)to * (size_t)c;
    StoreThree(b, push);
    if (to == 6)
        StoreThree(b + 3, twist);
}

static void Gather(const snwLevel* fine, const snwLevel* coarse, int begin, int end)
{
    for (int c = begin; c < end; ++c)
        if (coarse->size == 3)
            GatherRow(fine, coarse, c, 3, 3);
        else if (fine->size == 3)
            GatherRow(fine, coarse, c, 3, 6);
        else
            GatherRow(fine, coarse, c, 6, 6);
}

INLINE void SpreadRow(const snwLevel* fine, const snwLevel* coarse, int i, int from, int to)
{
    const snwTransfer* t = fine->transfer;
    float* x = fine->x + (size_t)from * (size_t)i;
    Four move = LoadThree(x), turn = LoadThree(x + from - 3);
    for (int k = t->parentStarts[i]; k < t->parentStarts[i + 1]; ++k)
    {
        const float* v = coarse->x + (size_t)to * (size_t)t->parents[k];
        Four link = LoadFour(fine->links + 4 * (size_t)k), own = LoadFour(v);
        if (to == 6)
            own += Cross(LoadFour(v + 3), link);
        move += own * link[3];
        if (from == 6)
            turn += LoadFour(v + 3) * link[3];
    }
    StoreThree(x, move);
    if (from == 6)
        StoreThree(x + 3, turn);
}

static void Spread(const snwLevel* fine, const snwLevel* coarse, int begin, int end)
{
    for (int i = begin; i < end; ++i)
        if (coarse->size == 3)
            SpreadRow(fine, coarse, i, 3, 3);
        else if (fine->size == 3)
            SpreadRow(fine, coarse, i, 3, 6);
        else
            SpreadRow(fine, coarse, i, 6, 6);
}

// Coarse rows of P^T A P from fine blocks of size `from` to coarse ones of size `to`. sums: twelve Fours for each block
// of the row: its columns in rows 0 .. 2, then in rows 3 .. 5.
INLINE void GalerkinRow(const snwLevel* fine, const snwLevel* coarse, int c, Four* sums, int from, int to)
{
    const snwTransfer* t = fine->transfer;
    const snwBlockGraph *g = fine->graph, *h = coarse->graph;
    int width = 1 + h->upStarts[c + 1] - h->upStarts[c];

    // The stream lists, for each child, which fine block adds to which coarse block of the row (see snwTransfer).
    memset(sums, 0, (size_t)width * 12 * sizeof(Four));
    const unsigned short* s = t->stream + t->streamStarts[c];

    for (int k = t->childStarts[c]; k < t->childStarts[c + 1]; ++k)
    {
        int i = t->children[k], low = g->lowStarts[i + 1] - g->lowStarts[i];
        Four lever = LoadFour(fine->links + 4 * (size_t)t->childSlots[k]);
        for (; *s != snw_streamEnd;)
        {
            Four *out = sums + 12 * (size_t)s[0], o[12] = {{0}};
            int count = s[1];
            s += 2;
            for (const unsigned short* last = s + count; s < last; ++s)
            {
                // which block of row i, and which parent of its column
                int e = *s / snw_mostParents, j;
                const float* m;
                size_t block = (size_t)from * (size_t)from;
                if (e < low)
                    j = g->lowColumns[g->lowStarts[i] + e], m = fine->low + block * (size_t)(g->lowStarts[i] + e);
                else if (e == low)
                    j = i, m = fine->diagonal + block * (size_t)i;
                else
                {
                    int u = g->upStarts[i] + e - low - 1;
                    j = g->upColumns[u], m = fine->up + block * (size_t)u;
                }

                // Column side first: block times the interpolation of its column's parent.
                int q = t->parentStarts[j] + *s % snw_mostParents;
                const float* d = fine->links + 4 * (size_t)q;
                float w = d[3];
                if (to == 3)
                {
                    o[0] += LoadFour(m) * w, o[1] += LoadFour(m + 3) * w, o[2] += LoadFour(m + 6) * w;
                    continue;
                }

                float x = w * d[0], y = w * d[1], z = w * d[2];

                // A point's motion under a parent's translation and rotation, w (1, -[d]x): the rotation's columns
                // are crosses with the lever d.
                for (int half = 0; half < from / 3; ++half)
                {
                    const float* p = m + 3 * half;
                    Four a0 = LoadFour(p), a1 = LoadFour(p + from), a2 = LoadFour(p + 2 * from), *v = o + 6 * half;
                    v[0] += a0 * w, v[1] += a1 * w, v[2] += a2 * w;
                    v[3] += y * a2 - z * a1;
                    v[4] += z * a0 - x * a2;
                    v[5] += x * a1 - y * a0;

                    if (from == 6)
                    {
                        v[3] += LoadFour(p + 18) * w;
                        v[4] += LoadFour(p + 24) * w;
                        v[5] += LoadFour(p + 30) * w;
                    }
                }
            }

            // Row side: the transpose of the child's own interpolation.
            for (int q = 0; q < to; ++q)
            {
                Four a = o[q] * lever[3];
                out[q] += a;
                if (to == 6)
                    out[6 + q] += Cross(lever, a);
                if (from == 6)
                    out[6 + q] += o[6 + q] * lever[3];
            }
        }

        ++s;
    }

    // From sums by columns to blocks; the diagonal made symmetric, others also mirrored into the lower half.
    for (int k = 0; k < width; ++k)
    {
        const Four* sum = sums + 12 * (size_t)k;
        size_t block = (size_t)to * (size_t)to;
        float m[36];
        for (int q = 0; q < to; ++q)
            for (int r = 0; r < to; ++r)
                m[to * q + r] = r < 3 ? sum[q][r] : sum[6 + q][r - 3];

        if (k == 0)
        {
            float* d = coarse->diagonal + block * (size_t)c;
            for (int q = 0; q < to; ++q)
                for (int r = 0; r < to; ++r)
                    d[to * q + r] = 0.5f * (m[to * q + r] + m[to * r + q]);
            continue;
        }

        int u = h->upStarts[c] + k - 1;
        memcpy(coarse->up + block * (size_t)u, m, block * sizeof(float));
        float* mirror = coarse->low + block * (size_t)h->mirrors[u];
        for (int q = 0; q < to; ++q)
            for (int r = 0; r < to; ++r)
                mirror[to * r + q] = m[to * q + r];
    }
}

static void Galerkin(const snwLevel* fine, const snwLevel* coarse, int begin, int end, float* scratch)
{
    for (int c = begin; c < end; ++c)
        if (coarse->size == 3)
            GalerkinRow(fine, coarse, c, (Four*)scratch, 3, 3);
        else if (fine->size == 3)
            GalerkinRow(fine, coarse, c, (Four*)scratch, 3, 6);
        else
            GalerkinRow(fine, coarse, c, (Four*)scratch, 6, 6);
}

// ---------------------------------------------------------------------------------------------------------------------
// The finest matrix in double

INLINE FourDoubles RowDouble(const float* blocks, const int* columns, int begin, int end, const double* x)
{
    FourDoubles sum = {0};
    for (int k = begin; k < end; ++k)
    {
        const float* m = blocks + 9 * (size_t)k;
        const double* v = x + 3 * (size_t)columns[k];
        sum += __builtin_convertvector(LoadFour(m), FourDoubles) * v[0] +
               __builtin_convertvector(LoadFour(m + 3), FourDoubles) * v[1] +
               __builtin_convertvector(LoadFour(m + 6), FourDoubles) * v[2];
    }
    return sum;
}

static void Multiply(const snwMultigrid* grid, const double* x, double* y, int begin, int end)
{
    const snwLevel* level = &grid->levels[0];
    const snwBlockGraph* g = level->graph;
    for (int i = begin; i < end; ++i)
    {
        const double *d = grid->diagonal + 9 * (size_t)i, *v = x + 3 * (size_t)i;
        FourDoubles sum = LoadDoubles(d) * v[0] + LoadDoubles(d + 3) * v[1] + LoadDoubles(d + 6) * v[2];
        sum += RowDouble(level->low, g->lowColumns, g->lowStarts[i], g->lowStarts[i + 1], x);
        sum += RowDouble(level->up, g->upColumns, g->upStarts[i], g->upStarts[i + 1], x);
        for (int k = 0; k < 3; ++k)
            y[3 * (size_t)i + (size_t)k] = level->held[i] ? 0 : sum[k];
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The coarsest matrix, L L^T within its skyline

// What `count` rows have in common with another one between two columns.
INLINE void Dots(int count, double* const* rows, const double* other, int begin, int end, double* sums)
{
    FourDoubles sum[6] = {0};
    int k = begin;
    for (; k + 4 <= end; k += 4)
    {
        FourDoubles o = LoadDoubles(other + k);
        for (int r = 0; r < count; ++r)
            sum[r] += LoadDoubles(rows[r] + k) * o;
    }
    for (int r = 0; r < count; ++r)
    {
        sums[r] = (sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]);
        for (int n = k; n < end; ++n)
            sums[r] += rows[r][n] * other[n];
    }
}

// The rows of a vertex begin at the same column, so they are found together.
INLINE int FactorRows(const snwSkyline* skyline, double* numbers, int begin, int count, double leastPivot)
{
    double *rows[6], own[6], sums[6];
    int first = skyline->first[begin], dropped = 0;
    for (int r = 0; r < count; ++r)
    {
        rows[r] = snwSkyline_Row(skyline, numbers, begin + r);
        own[r] = rows[r][begin + r];
    }

    // Row i against all earlier rows j: l_ij = (a_ij - <l_i, l_j>) / l_jj. A dropped unknown has l_jj = 0.
    for (int j = first; j < begin; ++j)
    {
        const double* other = snwSkyline_Row(skyline, numbers, j);
        Dots(count, rows, other, first > skyline->first[j] ? first : skyline->first[j], j, sums);
        for (int r = 0; r < count; ++r)
            rows[r][j] = other[j] > 0 ? (rows[r][j] - sums[r]) / other[j] : 0;
    }

    // The block on the diagonal, where small pivots are dropped.
    for (int r = 0; r < count; ++r)
        for (int j = 0; j <= r; ++j)
        {
            double* entry = &rows[r][begin + j];
            Dots(1, &rows[r], rows[j], first, begin + j, sums);
            *entry -= sums[0];
            if (j < r)
                *entry = rows[j][begin + j] > 0 ? *entry / rows[j][begin + j] : 0;
            else if (*entry > leastPivot * own[r])
                *entry = sqrt(*entry);
            else
                *entry = 0, dropped++;
        }

    return dropped;
}

static int Factor(const snwSkyline* skyline, double* numbers, int size, double leastPivot)
{
    int dropped = 0;
    for (int i = 0; i < skyline->count; i += size)
        dropped += size == 3 ? FactorRows(skyline, numbers, i, 3, leastPivot)
                             : FactorRows(skyline, numbers, i, 6, leastPivot);
    return dropped;
}

static void SolveFactor(const snwSkyline* skyline, double* numbers, double* y)
{
    for (int i = 0; i < skyline->count; ++i)
    {
        double *row = snwSkyline_Row(skyline, numbers, i), sum;
        Dots(1, &row, y, skyline->first[i], i, &sum);
        y[i] = row[i] > 0 ? (y[i] - sum) / row[i] : 0;
    }
    for (int i = skyline->count - 1; i >= 0; --i)
    {
        const double* row = snwSkyline_Row(skyline, numbers, i);
        y[i] = row[i] > 0 ? y[i] / row[i] : 0;
        for (int k = skyline->first[i]; k < i; ++k)
            y[k] -= row[k] * y[i];
    }
}

static const snwMultigridKernels s_kernels = {ForwardFromZero, Forward, Backward, ResidualFromZero, Residual, Gather,
    Spread, Galerkin, Multiply, Factor, SolveFactor};
