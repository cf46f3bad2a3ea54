// The kernels of rig_flat.h, for the lanes of math/simd.h. Included by rig_pass_kernel.h. Columns are lanes and rows
// are added up one after the other: same bits for any number of lanes.

// Four columns' lanes of H motion, row by row; see rig_flat.h for what H is made of.
static inline __attribute__((always_inline)) void SubtractColumns(
    const snwFlatMatrix* m, int k, bool still, const snwFlatPlanes* motion, snwFlatPlanes* forces)
{
    snwWideDouble ux = Load(forces->u[0] + k), uy = Load(forces->u[1] + k);
    snwWideDouble tx = Load(forces->t[0] + k), ty = Load(forces->t[1] + k);
    const double* row = m->numbers + k;
    for (int l = 0; l < m->rows; ++l, row += (size_t)snw_flatMatrixPlanes * (size_t)m->stride)
    {
        // u -= P0 x + p1 r, complex.
        double x = motion->u[0][l], y = motion->u[1][l], c = motion->t[0][l], s = motion->t[1][l];
        snwWideDouble p0 = Load(row), ax = Load(row + m->stride), ay = Load(row + 2 * m->stride);
        ux = ux - (p0 * x + (ax * c - ay * s));
        uy = uy - (p0 * y + (ay * c + ax * s));

        // t -= conj(p1') x + q r.
        if (still)
            continue;
        snwWideDouble bx = Load(row + 3 * m->stride), by = Load(row + 4 * m->stride);
        snwWideDouble qx = Load(row + 5 * m->stride), qy = Load(row + 6 * m->stride);
        tx = tx - ((bx * x + by * y) + (qx * c - qy * s));
        ty = ty - ((bx * y - by * x) + (qy * c + qx * s));
    }

    Store(forces->u[0] + k, ux);
    Store(forces->u[1] + k, uy);
    Store(forces->t[0] + k, tx);
    Store(forces->t[1] + k, ty);
}

static void SubtractFlat(const snwFlatMatrix* m, const snwFlatPlanes* motion, snwFlatPlanes* forces)
{
    for (int k = 0; k < m->stride && m->still; k += s_lanes)
        SubtractColumns(m, k, true, motion, forces);
    for (int k = 0; k < m->stride && !m->still; k += s_lanes)
        SubtractColumns(m, k, false, motion, forces);
}

// out = M in, M real.
static void MultiplyFlat(const snwFlatMatrix* m, const snwFlatPlane* in, snwFlatPlane* out)
{
    for (int k = 0; k < m->stride; k += s_lanes)
    {
        snwWideDouble x = {0}, y = {0};
        const double* row = m->numbers + k;
        for (int l = 0; l < m->rows; ++l, row += m->stride)
        {
            x = x + Load(row) * in[0][l];
            y = y + Load(row) * in[1][l];
        }
        Store(out[0] + k, x);
        Store(out[1] + k, y);
    }
}

// out -= M in, M complex; its numbers are the real parts, `other` the imaginary ones, of M or of its conjugate.
static void SubtractTurned(const snwFlatMatrix* m, const snwFlatPlane* in, snwFlatPlane* out)
{
    for (int k = 0; k < m->stride; k += s_lanes)
    {
        snwWideDouble x = Load(out[0] + k), y = Load(out[1] + k);
        const double *re = m->numbers + k, *im = m->other + k;
        for (int l = 0; l < m->rows; ++l, re += m->stride, im += m->stride)
        {
            double a = in[0][l], b = m->conjugate ? -in[1][l] : in[1][l], sign = m->conjugate ? -1 : 1;
            snwWideDouble p = Load(re), q = Load(im);
            x = x - (p * a - q * b);
            y = y - sign * (p * b + q * a);
        }
        Store(out[0] + k, x);
        Store(out[1] + k, y);
    }
}

// S = the moments with the translations eliminated, tr(P R(th_k - th_l)), and what comes on top of its diagonal.
static void PutTurns(const snwFlatTurns* t, double more, double* out)
{
    for (int k = 0; k < t->rows; ++k)
    {
        const double *sums = t->sums + k * t->stride, *differences = t->differences + k * t->stride;
        double c = t->turns[0][k], s = t->turns[1][k], *row = out + k * t->stride;
        for (int l = 0; l < t->stride; l += s_lanes)
        {
            snwWideDouble cl = Load(t->turns[0] + l), sl = Load(t->turns[1] + l);
            Store(row + l, (c * cl + s * sl) * Load(sums + l) + (s * cl - c * sl) * Load(differences + l));
        }
        row[k] = (row[k] + t->diagonal[k]) * (1 + more);
    }
}

// 0 in the column, 1 in others. (A single number written among those that are read as a vector next would stop that
// for as long as a division takes.)
static inline snwWideDouble OthersThan(int column, int first)
{
    snwWideDouble place, one;
    for (int i = 0; i < s_lanes; ++i)
        place[i] = i, one[i] = 1;
    __typeof__(place == one) others = place + first != (double)column;
    return (snwWideDouble)(others & (__typeof__(others))one);
}

// Gauss and Jordan, in place: the row of the pivot becomes that of the inverse so far, and all others lose it.
static inline __attribute__((always_inline)) void EliminateTurn(int j, int rows, int stride, double* out)
{
    _Alignas(32) double others[snw_mostFlatHandles];
    double *own = out + j * stride, inverse = 1 / own[j];
    for (int l = 0; l < stride; l += s_lanes)
    {
        snwWideDouble keep = OthersThan(j, l);
        Store(others + l, keep);
        Store(own + l, (Load(own + l) * keep + (1 - keep)) * inverse);
    }
    for (int k = 0; k < rows; ++k)
    {
        double *row = out + k * stride, factor = row[j];
        for (int l = 0; l < stride && k != j; l += s_lanes)
            Store(row + l, Load(row + l) * Load(others + l) - Load(own + l) * factor);
    }
}

static inline __attribute__((always_inline)) bool EliminateTurns(int rows, int stride, double* out)
{
    for (int j = 0; j < rows; ++j)
    {
        if (!(out[j * stride + j] > 0))
            return false;
        EliminateTurn(j, rows, stride, out);
    }
    return true;
}

static bool InvertTurns(const snwFlatTurns* t, double more, double* out)
{
    PutTurns(t, more, out);
    switch (t->stride)
    {
        case 4:
            return EliminateTurns(t->rows, 4, out);
        case 8:
            return EliminateTurns(t->rows, 8, out);
        case 12:
            return EliminateTurns(t->rows, 12, out);
        default:
            return EliminateTurns(t->rows, t->stride, out);
    }
}
