// The kernels of rig_flat.h, for the lanes of math/simd.h. Included by rig_pass_kernel.h. Columns are lanes and rows
// are added up one after the other: same bits for any number of lanes.

// Four columns' lanes of H motion, row by row; see rig_flat.h for what H is made of.
static void SubtractFlat(const snwFlatMatrix* m, const snwFlatPlanes* motion, snwFlatPlanes* forces)
{
    for (int k = 0; k < m->stride; k += s_lanes)
    {
        snwWideDouble ux = Load(forces->u[0] + k), uy = Load(forces->u[1] + k);
        snwWideDouble tx = Load(forces->t[0] + k), ty = Load(forces->t[1] + k);
        const double* row = m->numbers + k;
        for (int l = 0; l < m->rows; ++l, row += (size_t)snw_flatMatrixPlanes * (size_t)m->stride)
        {
            double x = motion->u[0][l], y = motion->u[1][l], c = motion->t[0][l], s = motion->t[1][l];
            snwWideDouble p0 = Load(row), ax = Load(row + m->stride), ay = Load(row + 2 * m->stride);
            snwWideDouble bx = Load(row + 3 * m->stride), by = Load(row + 4 * m->stride);
            snwWideDouble qx = Load(row + 5 * m->stride), qy = Load(row + 6 * m->stride);
            ux = ux - (p0 * x + (ax * c - ay * s));
            uy = uy - (p0 * y + (ay * c + ax * s));
            tx = tx - ((bx * x + by * y) + (qx * c - qy * s));
            ty = ty - ((bx * y - by * x) + (qy * c + qx * s));
        }
        Store(forces->u[0] + k, ux);
        Store(forces->u[1] + k, uy);
        Store(forces->t[0] + k, tx);
        Store(forces->t[1] + k, ty);
    }
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
