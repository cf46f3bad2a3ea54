// Scaled by s_i = 1 / sqrt(W_ii + compliance_i), the mean of both for tangents and of a ball's three, lambda = s x, so
// that the natural map needs no parameters of its own and unlike units do not mix; friction becomes mu s_n / s_t.

#include "linalg/coulomb.h"

#include "linalg/lu.h"
#include "math/vec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double s_slope = 1e-4;      // of a decrease that the line search accepts
static const double s_yield = 1e-11;     // of a row's diagonal, for Newton's matrix alone
static const double s_firstYield = 1e-1; // a tenth of it next, or, where Newton is lost, ten times as much
static const double s_mostYield = 30;
static const double s_silent = 1e-300; // lambda below it is none
static const double s_even = 1e-10;    // of the diagonal: less is rounding of what is symmetric

enum
{
    coulomb_firstSweeps = 5, // from a cold start, before Newton's first try
    coulomb_moreSweeps = 25, // between its tries
    coulomb_tryNewtons = 25, // of one try
    coulomb_yields = 15,
    coulomb_halvings = 2,
    coulomb_angleSteps = 60, // of the root of a sliding block, at most
    coulomb_aligned = 8      // doubles
};

typedef struct Work
{
    const snwCoulombDef* def;
    int n;
    double* a;        // scaled matrix
    double* q;        // scaled
    double* scale;    // s
    double* friction; // by block; of a ball: its radius
    double *x, *w, *f;
    double *trial, *step, *best;
    double bestResidual;
    double yield; // of every row besides, about x as it was in `centre`
    double* centre;
    double* jacobian; // of the rows that are alive
    int *alive, *pivots;
    bool symmetric;
    double *factor, *panels, *gram; // of W_SS; [Y; Z]; and [Y; Z] [Y; Z]^T
    double* right;
    snwCoulombReport report;
} Work;

snwCoulombDef snwCoulomb_DefaultDef(void)
{
    return (snwCoulombDef){.start = snw_coulombWarm, .newtons = 800, .sweeps = 200, .tolerance = 1e-9};
}

// Of 1.5 t rows of n - t columns, whatever t.
static size_t PanelRoom(int rows)
{
    size_t n = (size_t)rows;
    return n * n / 2 + 16 * n;
}

size_t snwCoulomb_ScratchCount(int rows)
{
    size_t n = (size_t)rows;
    return 3 * n * n + 22 * n + snwDense_Count(rows) + PanelRoom(rows) + 4 * coulomb_aligned;
}

// ---------------------------------------------------------------------------------------------------------------------
// Shapes

// Where the radius is 1. Of polygons: the side or corner.
typedef struct Projection
{
    double point[2];
    double slope[2][2]; // of the point by what is projected
    double radial[2];   // of the point by the radius
} Projection;

static int SidesOf(snwCoulombShape shape)
{
    return shape == snw_coulombPyramid4 ? 4 : shape == snw_coulombPyramid8 ? 8 : 0;
}

static void CornerOfPolygon(int sides, int k, double corner[2])
{
    static const double root = 0.70710678118654752440;
    static const double eight[8][2] = {
        {1, 0}, {root, root}, {0, 1}, {-root, root}, {-1, 0}, {-root, -root}, {0, -1}, {root, -root}};
    int i = (k % sides) * (8 / sides);
    corner[0] = eight[i][0], corner[1] = eight[i][1];
}

static Projection InsideDisc(const double b[2])
{
    return (Projection){{b[0], b[1]}, {{1, 0}, {0, 1}}, {0, 0}};
}

static Projection OntoDisc(const double b[2], double radius)
{
    double length = hypot(b[0], b[1]);
    if (length <= radius)
        return InsideDisc(b);
    double e[2] = {b[0] / length, b[1] / length}, along = radius / length;
    return (Projection){{radius * e[0], radius * e[1]},
        {{along * (1 - e[0] * e[0]), -along * e[0] * e[1]}, {-along * e[0] * e[1], along * (1 - e[1] * e[1])}},
        {e[0], e[1]}};
}

static Projection OntoPolygon(const double b[2], double radius, int sides)
{
    Projection nearest = InsideDisc(b);
    double least = INFINITY;
    bool inside = true;

    // Corners are at unit distance; of the sides that b is beyond, the one with the nearest point counts.
    for (int k = 0; k < sides; ++k)
    {
        double from[2], to[2], d[2];
        CornerOfPolygon(sides, k, from), CornerOfPolygon(sides, k + 1, to);
        d[0] = to[0] - from[0], d[1] = to[1] - from[1];
        double length = hypot(d[0], d[1]), out[2] = {d[1] / length, -d[0] / length};
        double far = from[0] * out[0] + from[1] * out[1]; // of the side, at radius 1
        if (out[0] * b[0] + out[1] * b[1] <= radius * far)
            continue;
        inside = false;

        // t: how far along the side its foot is, in radii. Between the corners the projection slides along the side;
        // beyond them it sticks to the corner.
        double t = ((b[0] - radius * from[0]) * d[0] + (b[1] - radius * from[1]) * d[1]) / (length * length);
        Projection onto;

        if (t > 0 && t < radius)
            onto = (Projection){{radius * from[0] + t * d[0], radius * from[1] + t * d[1]},
                {{d[0] * d[0] / (length * length), d[0] * d[1] / (length * length)},
                    {d[0] * d[1] / (length * length), d[1] * d[1] / (length * length)}},
                {far * out[0], far * out[1]}};
        else
        {
            const double* corner = t <= 0 ? from : to;
            onto = (Projection){{radius * corner[0], radius * corner[1]}, {{0, 0}, {0, 0}}, {corner[0], corner[1]}};
        }

        double away = hypot(b[0] - onto.point[0], b[1] - onto.point[1]);
        if (away < least)
            least = away, nearest = onto;
    }

    return inside ? InsideDisc(b) : nearest;
}

static Projection ProjectOnShape(snwCoulombShape shape, const double b[2], double radius)
{
    int sides = SidesOf(shape);
    return sides == 0 ? OntoDisc(b, radius) : OntoPolygon(b, radius, sides);
}

// The nearest point of the ball to b, and its derivative by b.
static void OntoBall(const double b[3], double radius, double point[3], double slope[3][3])
{
    double length = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]), along = length > radius ? radius / length : 1;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            slope[i][j] = along * ((i == j) - (length > radius ? b[i] / length * (b[j] / length) : 0));
    for (int i = 0; i < 3; ++i)
        point[i] = along * b[i];
}

static int RowsOfKind(snwCoulombKind kind)
{
    return kind == snw_coulombFriction || kind == snw_coulombBall ? 3 : 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// The natural map

static void Velocities(const Work* k, const double* x, double* w)
{
    for (int i = 0; i < k->n; ++i)
    {
        const double* row = k->a + (size_t)i * (size_t)k->n;
        double s[4] = {0};
        int j = 0;
        for (; j + 4 <= k->n; j += 4)
            for (int c = 0; c < 4; ++c)
                s[c] += row[j + c] * x[j + c];
        double sum = k->q[i] + ((s[0] + s[1]) + (s[2] + s[3]));
        for (; j < k->n; ++j)
            sum += row[j] * x[j];
        w[i] = sum + k->yield * (x[i] - k->centre[i]);
    }
}

// f = F(x); w is left for whoever needs it.
static void Map(const Work* k, const double* x, double* w, double* f)
{
    Velocities(k, x, w);
    for (int b = 0; b < k->def->blockCount; ++b)
    {
        const snwCoulombBlock* block = &k->def->blocks[b];
        int n = block->row;

        // A ball: three rows whose length together is bounded.
        if (block->kind == snw_coulombBall)
        {
            const double pulled[3] = {x[n] - w[n], x[n + 1] - w[n + 1], x[n + 2] - w[n + 2]};
            double point[3], slope[3][3];
            OntoBall(pulled, k->friction[b], point, slope);
            for (int c = 0; c < 3; ++c)
                f[n + c] = x[n + c] - point[c];
            continue;
        }

        // The normal row: equal, or at least 0 by x_n = max(0, x_n - w_n); then friction with the bound mu (x_n -
        // w_n).
        double a = x[n] - w[n];
        f[n] = block->kind == snw_coulombEqual || a > 0 ? w[n] : x[n];
        if (block->kind != snw_coulombFriction)
            continue;
        const double slid[2] = {x[n + 1] - w[n + 1], x[n + 2] - w[n + 2]};
        Projection p = ProjectOnShape(k->def->shape, slid, k->friction[b] * fmax(a, 0));
        f[n + 1] = x[n + 1] - p.point[0], f[n + 2] = x[n + 2] - p.point[1];
    }
}

static double ResidualOf(const Work* k, const double* x, const double* f)
{
    double most = 0, largest = 0;
    for (int i = 0; i < k->n; ++i)
    {
        most = fmax(most, fabs(k->scale[i] * f[i]));
        largest = fmax(largest, fabs(k->scale[i] * x[i]));
        if (!isfinite(f[i]))
            return INFINITY;
    }
    return most == 0 ? 0 : most / fmax(largest, s_silent);
}

static double Merit(const Work* k, const double* f)
{
    double sum = 0;
    for (int i = 0; i < k->n; ++i)
        sum += f[i] * f[i];
    return sum;
}

// Into the cones.
static void Restrict(const Work* k, double* x)
{
    for (int b = 0; b < k->def->blockCount; ++b)
    {
        const snwCoulombBlock* block = &k->def->blocks[b];
        int n = block->row;
        if (block->kind == snw_coulombEqual)
            continue;

        // Balls have a bound of their own; the others take theirs from the normal force just clamped.
        if (block->kind == snw_coulombBall)
        {
            double slope[3][3];
            OntoBall(x + n, k->friction[b], x + n, slope);
            continue;
        }

        x[n] = fmax(x[n], 0);
        if (block->kind != snw_coulombFriction)
            continue;
        Projection p = ProjectOnShape(k->def->shape, x + n + 1, k->friction[b] * x[n]);
        x[n + 1] = p.point[0], x[n + 2] = p.point[1];
    }
}

// Keeps x, put into the cones, if it is the best so far. Returns its residual.
static double RememberBest(Work* k, const double* x)
{
    memcpy(k->trial, x, (size_t)k->n * sizeof *x);
    Restrict(k, k->trial);
    Map(k, k->trial, k->step, k->f);
    double residual = ResidualOf(k, k->trial, k->f);
    if (residual < k->bestResidual)
    {
        k->bestResidual = residual;
        memcpy(k->best, k->trial, (size_t)k->n * sizeof *x);
    }
    return residual;
}

// ---------------------------------------------------------------------------------------------------------------------
// Newton

// Adds scale times row i of A, of what is alive, to a row of the matrix; and to the right side what the dead give.
static void AddMatrixRow(const Work* k, int i, double scale, int count, double* row, double* right)
{
    const double* from = k->a + (size_t)i * (size_t)k->n;
    if (scale == 0)
        return;
    for (int c = 0; c < count; ++c)
        row[c] += scale * from[k->alive[c]];
    row[k->pivots[i]] += scale * k->yield;
    for (int j = 0; j < k->n; ++j)
        if (k->pivots[j] < 0 && k->x[j] != 0) // dead: falls to 0
            *right += scale * from[j] * k->x[j];
}

// Rows whose impulse is simply 0 are dead: contacts that open. alive, and places in pivots: -1.
static int ListAlive(Work* k)
{
    int count = 0;
    for (int b = 0; b < k->def->blockCount; ++b)
    {
        const snwCoulombBlock* block = &k->def->blocks[b];
        int n = block->row, rows = RowsOfKind(block->kind);
        bool pushes = block->kind == snw_coulombAtLeast || block->kind == snw_coulombFriction;
        bool open = pushes && k->x[n] - k->w[n] <= 0;
        for (int r = n; r < n + rows; ++r)
        {
            k->pivots[r] = open ? -1 : count;
            if (!open)
                k->alive[count++] = r;
        }
    }
    return count;
}

// Fills Newton's system; the right sides are in step, by place.
static void FillNewtonRows(Work* k, int count)
{
    for (int b = 0; b < k->def->blockCount; ++b)
    {
        const snwCoulombBlock* block = &k->def->blocks[b];
        int n = block->row, place = k->pivots[n];
        if (place < 0)
            continue;
        double* rows = k->jacobian + (size_t)place * (size_t)count;
        int rowCount = RowsOfKind(block->kind);
        memset(rows, 0, (size_t)rowCount * (size_t)count * sizeof *rows);

        // F = x - P(x - w)
        if (block->kind == snw_coulombBall)
        {
            const double pulled[3] = {k->x[n] - k->w[n], k->x[n + 1] - k->w[n + 1], k->x[n + 2] - k->w[n + 2]};
            double point[3], slope[3][3];
            OntoBall(pulled, k->friction[b], point, slope);
            for (int c = 0; c < 3; ++c)
            {
                // Newton's step from here: J dx = -F.
                double *row = rows + (size_t)c * (size_t)count, *right = &k->step[place + c];
                *right = -k->f[n + c];
                for (int d = 0; d < 3; ++d)
                {
                    AddMatrixRow(k, n + d, slope[c][d], count, row, right);
                    row[place + d] += (c == d) - slope[c][d];
                }

                row[place + c] += s_yield;
            }

            continue;
        }

        // F_n = w_n
        k->step[place] = -k->f[n];
        AddMatrixRow(k, n, 1, count, rows, &k->step[place]);
        rows[place] += s_yield;
        if (rowCount == 1)
            continue;

        // F_t = x_t - P(x_t - w_t, mu (x_n - w_n))
        const double slid[2] = {k->x[n + 1] - k->w[n + 1], k->x[n + 2] - k->w[n + 2]};
        Projection p = ProjectOnShape(k->def->shape, slid, k->friction[b] * (k->x[n] - k->w[n]));
        for (int c = 0; c < 2; ++c)
        {
            double *row = rows + (size_t)(1 + c) * (size_t)count, *right = &k->step[place + 1 + c];
            double radial = k->friction[b] * p.radial[c];
            *right = -k->f[n + 1 + c];
            AddMatrixRow(k, n, radial, count, row, right);
            AddMatrixRow(k, n + 1, p.slope[c][0], count, row, right);
            AddMatrixRow(k, n + 2, p.slope[c][1], count, row, right);
            row[place] -= radial;
            for (int d = 0; d < 2; ++d)
                row[place + 1 + d] += (c == d) - p.slope[c][d];
            row[place + 1 + c] += s_yield;
        }
    }
}

// A block whose rows are not plain velocities: its tangents, or all of a ball, in T.
typedef struct Sliding
{
    int first, count;   // rows, beside each other
    int normal;         // row; -1: a ball
    double slope[3][3]; // Sigma
    double radial[3];   // R
} Sliding;

// False: nothing slides there.
static bool IsSliding(const Work* k, int b, Sliding* s)
{
    const snwCoulombBlock* block = &k->def->blocks[b];
    int n = block->row;
    if (k->pivots[n] < 0 || (block->kind != snw_coulombBall && block->kind != snw_coulombFriction))
        return false;
    *s = (Sliding){.first = n, .count = 3, .normal = -1};
    if (block->kind == snw_coulombBall)
    {
        const double pulled[3] = {k->x[n] - k->w[n], k->x[n + 1] - k->w[n + 1], k->x[n + 2] - k->w[n + 2]};
        double point[3];
        OntoBall(pulled, k->friction[b], point, s->slope);
        return s->slope[0][0] != 1 || s->slope[1][1] != 1 || s->slope[2][2] != 1;
    }
    const double slid[2] = {k->x[n + 1] - k->w[n + 1], k->x[n + 2] - k->w[n + 2]};
    Projection p = ProjectOnShape(k->def->shape, slid, k->friction[b] * (k->x[n] - k->w[n]));
    s->first = n + 1, s->count = 2, s->normal = n;
    memcpy(s->slope[0], p.slope[0], sizeof p.slope[0]), memcpy(s->slope[1], p.slope[1], sizeof p.slope[1]);
    for (int c = 0; c < 2; ++c)
        s->radial[c] = k->friction[b] * p.radial[c];
    return p.slope[0][0] != 1 || p.slope[1][1] != 1;
}

// Rows of A between lists of rows, yield and all.
static void Gather(const Work* k, const int* rows, int rowCount, const int* columns, int columnCount, double* out)
{
    for (int i = 0; i < rowCount; ++i, out += columnCount)
    {
        const double* from = k->a + (size_t)rows[i] * (size_t)k->n;
        for (int j = 0; j < columnCount; ++j)
            out[j] = from[columns[j]] + (rows[i] == columns[j] ? k->yield + s_yield : 0);
    }
}

// The system of FillNewtonRows by the factor of its symmetric part; the step by rows, in trial. False: there is none.
static bool SolveSymmetric(Work* k)
{
    // Lists: S from the front of alive, T from the back; f as the right sides.
    int n = k->n, plain = 0, sliding = 0, *back = k->alive + n; // of alive's room, the second half
    for (int b = 0; b < k->def->blockCount; ++b)
    {
        Sliding s;
        int row = k->def->blocks[b].row, rows = RowsOfKind(k->def->blocks[b].kind);
        bool slides = IsSliding(k, b, &s);
        for (int r = row; r < row + rows && k->pivots[row] >= 0; ++r)
            if (slides && r >= s.first)
                back[sliding++] = r;
            else
                k->alive[plain++] = r;
    }
    snwDense dense = {k->def->kernels, plain, k->factor};
    Gather(k, k->alive, plain, k->alive, plain, k->jacobian);
    if (plain > 0 && snwDense_Factor(&dense, k->jacobian, plain) >= 0)
        return false;
    for (int i = 0; i < plain; ++i)
        k->pivots[k->alive[i]] = i;

    // Right sides: -F less what the dead give; those of T with R and Sigma of theirs.
    for (int r = 0; r < n; ++r)
    {
        const double* from = k->a + (size_t)r * (size_t)n;
        double sum = 0;
        for (int j = 0; j < n && k->pivots[r] >= 0; ++j)
            if (k->pivots[j] < 0 && k->x[j] != 0)
                sum += from[j] * k->x[j];
        k->trial[r] = sum;
    }
    for (int i = 0; i < plain; ++i)
        k->right[i] = k->trial[k->alive[i]] - k->f[k->alive[i]];
    if (plain > 0)
        snwDense_Forward(&dense, k->right);
    if (sliding == 0)
    {
        if (plain > 0)
            snwDense_Backward(&dense, k->right);
        for (int r = 0; r < n; ++r)
            k->trial[r] = k->pivots[r] < 0 ? -k->x[r] : k->right[k->pivots[r]];
        return true;
    }

    // [Y; Z], with a row of Z per block that slides.
    double* rows = k->jacobian;
    int more = 0;
    Gather(k, back, sliding, k->alive, plain, rows);
    for (int b = 0; b < k->def->blockCount; ++b)
    {
        Sliding s;
        if (!IsSliding(k, b, &s) || s.normal < 0)
            continue;
        double* unit = rows + (size_t)(sliding + more++) * (size_t)plain;
        memset(unit, 0, (size_t)plain * sizeof *unit);
        unit[k->pivots[s.normal]] = 1;
    }
    int all = sliding + more;
    if (plain > 0)
    {
        snwDense_ForwardRows(&dense, all, rows, plain, k->panels);
        snwDense_Gram(&dense, all, k->panels, k->gram, all);
        snwDense_MulRows(&dense, all, k->panels, k->right, k->step); // Y u and Z u
    }
    else
        memset(k->gram, 0, (size_t)all * (size_t)all * sizeof *k->gram),
            memset(k->step, 0, (size_t)all * sizeof *k->step);

    // The matrix of T, in place of the rows, and its right side behind it.
    double *matrix = k->jacobian, *side = k->gram + (size_t)n * (size_t)n;
    for (int b = 0, at = 0, z = sliding; b < k->def->blockCount; ++b)
    {
        Sliding s;
        if (!IsSliding(k, b, &s))
            continue;
        for (int c = 0; c < s.count; ++c)
        {
            double *to = matrix + (size_t)(at + c) * (size_t)sliding, f = -k->f[s.first + c];
            for (int j = 0; j < sliding; ++j)
            {
                double sum = s.normal >= 0 ? s.radial[c] * k->gram[(size_t)z * (size_t)all + (size_t)j] : 0;
                for (int d = 0; d < s.count; ++d)
                {
                    int row = at + d;
                    double w = k->a[(size_t)back[row] * (size_t)n + (size_t)back[j]] + (row == j ? k->yield : 0);
                    sum += s.slope[c][d] * (w - k->gram[(size_t)row * (size_t)all + (size_t)j]);
                }
                to[j] = sum;
            }
            for (int d = 0; d < s.count; ++d)
            {
                to[at + d] += (c == d) - s.slope[c][d];
                f += s.slope[c][d] * (k->trial[s.first + d] - k->step[at + d]);
            }
            to[at + c] += s_yield;
            if (s.normal >= 0) // the dead in w_N, and R (f_N - Z u)
                f += s.radial[c] * (k->f[s.normal] + k->step[z]);
            side[at + c] = f;
        }
        at += s.count, z += s.normal >= 0;
    }
    int* pivots = k->alive + plain; // behind S
    if (!snwLu_Factor(sliding, matrix, sliding, pivots))
        return false;
    snwLu_Solve(sliding, matrix, sliding, pivots, side);

    for (int i = 0; i < sliding; ++i)
        side[i] = -side[i];
    if (plain > 0)
    {
        snwDense_AddRows(&dense, sliding, k->panels, side, k->right);
        snwDense_Backward(&dense, k->right);
    }
    for (int r = 0; r < n; ++r)
        k->trial[r] = k->pivots[r] < 0 ? -k->x[r] : 0;
    for (int i = 0; i < plain; ++i)
        k->trial[k->alive[i]] = k->right[i];
    for (int i = 0; i < sliding; ++i)
        k->trial[back[i]] = -side[i];
    return true;
}

// One step from x, whose w and f are known. Where nothing on the way is better, the shortest is taken all the same: F
// has kinks, and behind one it may have to rise before it falls. (Steps that must get better left 6 % of the problems
// of a figure that lies on hard balls unsolved, these 0.1 %.) False: the matrix is singular.
static bool TakeNewtonStep(Work* k)
{
    // Newton's direction from the rows that are alive, in trial.
    int n = k->n;
    ListAlive(k);
    if (!k->symmetric || !SolveSymmetric(k))
    {
        int count = ListAlive(k);
        FillNewtonRows(k, count);
        int* pivots = k->alive + n; // behind
        if (!snwLu_Factor(count, k->jacobian, count, pivots))
            return false;
        snwLu_Solve(count, k->jacobian, count, pivots, k->step);

        // From places to rows; the dead fall to 0.
        for (int i = n; i-- > 0;)
            k->trial[i] = k->pivots[i] < 0 ? -k->x[i] : k->step[k->pivots[i]];
    }
    double before = Merit(k, k->f), size = 1;
    memcpy(k->step, k->trial, (size_t)n * sizeof *k->step);

    // Halved until the merit falls enough (Armijo).
    for (int halving = 0; halving <= coulomb_halvings; ++halving, size *= 0.5)
    {
        for (int i = 0; i < n; ++i)
            k->trial[i] = k->x[i] + size * k->step[i];
        Map(k, k->trial, k->w, k->f);
        double merit = Merit(k, k->f);
        if (merit <= (1 - s_slope * size) * before || (halving == coulomb_halvings && isfinite(merit)))
        {
            memcpy(k->x, k->trial, (size_t)n * sizeof *k->x);
            return true;
        }
    }

    Map(k, k->x, k->w, k->f);
    return false;
}

// True: F is small enough.
static bool Newton(Work* k, int most)
{
    Map(k, k->x, k->w, k->f);
    for (int i = 0; i < most && k->report.newtons < k->def->newtons; ++i)
    {
        if (ResidualOf(k, k->x, k->f) <= 0.5 * k->def->tolerance)
            return true;
        ++k->report.newtons;
        if (!TakeNewtonStep(k))
            return false;
    }
    return ResidualOf(k, k->x, k->f) <= 0.5 * k->def->tolerance;
}

// Where Newton's steps are lost, or the matrix is singular, the problem that yields to x besides has a better one; its
// solution is closer to ours than x was. So on with less and less of it, and with more where that is lost, too.
static void NewtonThatYields(Work* k)
{
    double yield = s_firstYield;
    for (int time = 0; time < coulomb_yields && yield <= s_mostYield && k->report.newtons < k->def->newtons; ++time)
    {
        k->yield = yield;
        memcpy(k->centre, k->x, (size_t)k->n * sizeof *k->x);
        bool found = Newton(k, coulomb_tryNewtons);
        k->yield = 0;
        if (!found)
            memcpy(k->x, k->centre, (size_t)k->n * sizeof *k->x);
        else if (RememberBest(k, k->x) <= k->def->tolerance)
            return;
        yield *= found ? 0.1 : 10;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sweeps

// A block by itself: velocities a l + b.
typedef struct Local
{
    double a[3][3], b[3];
    double friction;
} Local;

// The tangent impulse under drag, and the normal one with it: (S + drag) l_t = -b_t', S being what is left of the
// tangents when the normal row is kept at 0.
static void Dragged(const Local* p, double drag, double l[3])
{
    double nn = p->a[0][0], bn = p->b[0] / nn;
    double s00 = p->a[1][1] - p->a[1][0] * p->a[0][1] / nn + drag, s01 = p->a[1][2] - p->a[1][0] * p->a[0][2] / nn;
    double s10 = p->a[2][1] - p->a[2][0] * p->a[0][1] / nn, s11 = p->a[2][2] - p->a[2][0] * p->a[0][2] / nn + drag;
    double b0 = p->b[1] - p->a[1][0] * bn, b1 = p->b[2] - p->a[2][0] * bn, det = s00 * s11 - s01 * s10;
    det = det > 1e-14 * (s00 * s11) ? det : 1e-14 * (s00 * s11 + s_silent);
    l[1] = -(s11 * b0 - s01 * b1) / det, l[2] = -(s00 * b1 - s10 * b0) / det;
    l[0] = -(p->b[0] + p->a[0][1] * l[1] + p->a[0][2] * l[2]) / nn;
}

// > 0: outside the cone.
static double Beyond(const Local* p, const double l[3])
{
    return hypot(l[1], l[2]) - p->friction * l[0];
}

// A block that presses has a solution: without drag it sticks, if that is in the cone; else somewhere between no drag
// and endless drag, which leaves l_t = 0 and l_n > 0, the cone is met, whatever the coupling (Painleve's rod, too).
static void SolveRound(const Local* p, double l[3])
{
    l[0] = l[1] = l[2] = 0;
    if (p->b[0] >= 0)
        return;

    if (p->friction == 0)
    {
        l[0] = -p->b[0] / p->a[0][0];
        return;
    }

    // Bracket the drag at which the force just leaves the cone, from none upwards.
    double low = 0, high = p->a[1][1] + p->a[2][2], at[3];
    Dragged(p, 0, l);
    double lowBeyond = Beyond(p, l);
    if (lowBeyond <= 0 && l[0] >= 0)
        return;

    for (int i = 0; i < 200; ++i, low = high, high *= 4)
    {
        Dragged(p, high, l);
        if (Beyond(p, l) <= 0)
            break;
    }

    // Bisection, and false position where that is faster.
    double highBeyond = Beyond(p, l);
    Dragged(p, low, at);
    lowBeyond = Beyond(p, at);
    for (int i = 0; i < coulomb_angleSteps && high - low > 1e-15 * high; ++i)
    {
        double middle = 0.5 * (low + high);
        if (i % 3 != 2)
            middle = low + (high - low) * lowBeyond / (lowBeyond - highBeyond);
        Dragged(p, middle, at);
        double beyond = Beyond(p, at);

        if (beyond > 0)
            low = middle, lowBeyond = beyond;
        else
        {
            high = middle, highBeyond = beyond;
            memcpy(l, at, sizeof at);
            if (beyond > -1e-15 * p->friction * at[0])
                break;
        }
    }
}

// w of a block's impulses.
static void LocalVelocities(const Local* p, const double l[3], double w[3])
{
    for (int i = 0; i < 3; ++i)
        w[i] = p->b[i] + p->a[i][0] * l[0] + p->a[i][1] * l[1] + p->a[i][2] * l[2];
}

// On the side from corner `from`, along d: l_t = mu l_n from + y d with w_n = 0 and w_t . d = 0. y: NAN for a corner.
static bool SolveSide(const Local* p, const double from[2], const double d[2], double l[3])
{
    double mu = p->friction;
    double nn = p->a[0][0] + mu * (p->a[0][1] * from[0] + p->a[0][2] * from[1]);
    double nd = p->a[0][1] * d[0] + p->a[0][2] * d[1], dn = 0, dd = 0, bd = p->b[1] * d[0] + p->b[2] * d[1];
    for (int i = 0; i < 2; ++i)
    {
        dn += d[i] * (p->a[1 + i][0] + mu * (p->a[1 + i][1] * from[0] + p->a[1 + i][2] * from[1]));
        dd += d[i] * (p->a[1 + i][1] * d[0] + p->a[1 + i][2] * d[1]);
    }
    double det = nn * dd - nd * dn;
    if (!(fabs(det) > 1e-14 * fabs(nn * dd)))
        return false;
    double y = (nn * -bd - dn * -p->b[0]) / det;
    l[0] = (-p->b[0] * dd + nd * bd) / det;
    l[1] = mu * l[0] * from[0] + y * d[0], l[2] = mu * l[0] * from[1] + y * d[1];
    return l[0] >= 0 && y >= 0 && y <= mu * l[0];
}

// All sides and corners are tried.
static void SolvePolygon(const Local* p, int sides, double l[3])
{
    double w[3];
    l[0] = l[1] = l[2] = 0;
    if (p->b[0] >= 0)
        return;
    Dragged(p, 0, l);
    Projection stuck = OntoPolygon(l + 1, p->friction * l[0], sides);
    if (l[0] >= 0 && stuck.slope[0][0] == 1 && stuck.slope[1][1] == 1)
        return;

    // Side by side: is the answer this side's first corner, or a place inside of the side?
    for (int k = 0; k < sides; ++k)
    {
        double before[2], from[2], to[2];
        CornerOfPolygon(sides, k + sides - 1, before), CornerOfPolygon(sides, k, from),
            CornerOfPolygon(sides, k + 1, to);
        double d[2] = {to[0] - from[0], to[1] - from[1]}, back[2] = {before[0] - from[0], before[1] - from[1]};

        // Force at the corner, (1, mu from) l_n: right if neither of its two sides would brake the slip more.
        double rate = p->a[0][0] + p->friction * (p->a[0][1] * from[0] + p->a[0][2] * from[1]);

        if (rate > 0)
        {
            l[0] = -p->b[0] / rate;
            l[1] = p->friction * l[0] * from[0], l[2] = p->friction * l[0] * from[1];
            LocalVelocities(p, l, w);
            if (w[1] * d[0] + w[2] * d[1] >= 0 && w[1] * back[0] + w[2] * back[1] >= 0)
                return;
        }

        // On the side, the slip must point out of the polygon.
        if (SolveSide(p, from, d, l))
        {
            LocalVelocities(p, l, w);
            if (w[1] * d[1] - w[2] * d[0] <= 0) // against the outward normal
                return;
        }
    }

    SolveRound(p, l); // rounding left none: near enough for a sweep
    Projection in = OntoPolygon(l + 1, p->friction * l[0], sides);
    l[1] = in.point[0], l[2] = in.point[1];
}

// Where it is too much, under a drag that leaves just the most.
static void SolveBall(const Local* p, double most, double l[3])
{
    const double* b = p->b;
    double low = 0, high = 0, drag = 0;
    l[0] = l[1] = l[2] = 0;

    // Drag doubled up to one that is enough, then halved towards the one that leaves a length of exactly `most`.
    for (int i = 0; i < 200; ++i)
    {
        snwMat3 a = {{{p->a[0][0] + drag, p->a[0][1], p->a[0][2]}, {p->a[1][0], p->a[1][1] + drag, p->a[1][2]},
            {p->a[2][0], p->a[2][1], p->a[2][2] + drag}}};
        snwMat3 inverse;
        bool found = snwMat3_Inverse(a, &inverse);
        snwVec3 x = found ? snwMat3_MulVec(inverse, (snwVec3){-b[0], -b[1], -b[2]}) : (snwVec3){0, 0, 0};
        double length = snwVec3_Length(x);

        if (found && length <= most)
            l[0] = x.x, l[1] = x.y, l[2] = x.z, high = drag;
        else
            low = drag;

        // Without drag it is within the bound; or both ends of the bisection have met.
        if ((found && drag == 0 && length <= most) || (high > 0 && high - low <= 1e-15 * high))
            return;
        drag = high > 0 ? 0.5 * (low + high) : fmax(4 * drag, p->a[0][0] + p->a[1][1] + p->a[2][2]);
    }
}

// Each block in turn, the others as they are.
static void SweepBlocks(Work* k, bool backward)
{
    int n = k->n, blocks = k->def->blockCount, sides = SidesOf(k->def->shape);
    for (int i = 0; i < blocks; ++i)
    {
        int b = backward ? blocks - 1 - i : i, row = k->def->blocks[b].row;
        snwCoulombKind kind = k->def->blocks[b].kind;
        int rows = RowsOfKind(kind);

        // Local problem: what the others push, p.b, and the block's own matrix. Four sums side by side in a fixed
        // order.
        Local p = {.friction = k->friction[b]};
        for (int r = 0; r < rows; ++r)
        {
            const double* a = k->a + (size_t)(row + r) * (size_t)n;
            double s[4] = {0};
            int j = 0;
            for (; j + 4 <= n; j += 4)
                for (int c = 0; c < 4; ++c)
                    s[c] += a[j + c] * k->x[j + c];
            p.b[r] = k->q[row + r] + ((s[0] + s[1]) + (s[2] + s[3]));
            for (; j < n; ++j)
                p.b[r] += a[j] * k->x[j];
            for (int c = 0; c < rows; ++c)
                p.a[r][c] = a[row + c];
        }

        // Without the block's own part.
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < rows; ++c)
                p.b[r] -= p.a[r][c] * k->x[row + c];
        if (kind == snw_coulombBall)
            SolveBall(&p, p.friction, k->x + row);
        else if (rows == 1)
        {
            double x = -p.b[0] / p.a[0][0];
            k->x[row] = kind == snw_coulombEqual ? x : fmax(x, 0);
        }
        else if (sides == 0)
            SolveRound(&p, k->x + row);
        else
            SolvePolygon(&p, sides, k->x + row);
    }
}

// Forward and backward by turns.
static void SweepFor(Work* k, int count)
{
    for (int i = 0; i < count; ++i)
    {
        SweepBlocks(k, i % 2 == 1);
        ++k->report.sweeps;
    }
    RememberBest(k, k->x);
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

static void* TakeScratch(double** at, size_t count)
{
    double* taken = *at;
    *at += count;
    return taken;
}

static void* TakeAligned(double** at, size_t count)
{
    uintptr_t mask = coulomb_aligned * sizeof(double) - 1;
    *at = (double*)(void*)(((uintptr_t)*at + mask) & ~mask);
    return TakeScratch(at, count);
}

static void ScaleCoulomb(Work* k)
{
    const snwCoulombDef* def = k->def;
    int n = k->n;

    // Unit diagonals: x = lambda / s. Tangents share a scale, else the cone would become an ellipse.
    for (int i = 0; i < n; ++i)
        k->scale[i] = def->w[(size_t)i * (size_t)def->stride + (size_t)i] + def->compliance[i];
    for (int b = 0; b < def->blockCount; ++b)
    {
        int row = def->blocks[b].row;
        if (def->blocks[b].kind == snw_coulombFriction)
            k->scale[row + 1] = k->scale[row + 2] = 0.5 * (k->scale[row + 1] + k->scale[row + 2]);
        if (def->blocks[b].kind == snw_coulombBall)
            k->scale[row] = k->scale[row + 1] = k->scale[row + 2] = (k->scale[row] + k->scale[row + 1] +
                                                                        k->scale[row + 2]) /
                                                                    3;
    }

    for (int i = 0; i < n; ++i) // what nothing moves keeps its velocity
        k->scale[i] = k->scale[i] > s_silent ? 1 / sqrt(k->scale[i]) : 1;

    // Friction and bounds in scaled units.
    for (int b = 0; b < def->blockCount; ++b)
    {
        int row = def->blocks[b].row;
        bool rubs = def->blocks[b].kind == snw_coulombFriction;
        k->friction[b] = rubs ? def->blocks[b].friction * k->scale[row] / k->scale[row + 1] : 0;
        if (def->blocks[b].kind == snw_coulombBall)
            k->friction[b] = def->blocks[b].most / k->scale[row];
    }

    // S (W + C) S and S q.
    for (int i = 0; i < n; ++i)
    {
        const double* from = def->w + (size_t)i * (size_t)def->stride;
        double* to = k->a + (size_t)i * (size_t)n;
        for (int j = 0; j < n; ++j)
            to[j] = k->scale[i] * (from[j] + (i == j ? def->compliance[i] : 0)) * k->scale[j];
        if (!(to[i] > 0))
            to[i] = 1;
        k->q[i] = k->scale[i] * def->q[i];
    }
}

static bool IsSymmetric(const Work* k)
{
    size_t n = (size_t)k->n;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j)
            if (!(fabs(k->a[i * n + j] - k->a[j * n + i]) <= s_even))
                return false;
    return true;
}

static Work PrepareCoulomb(const snwCoulombDef* def)
{
    Work k = {.def = def, .n = def->rows, .bestResidual = INFINITY};
    size_t n = (size_t)def->rows;
    double* at = def->scratch;
    k.a = TakeScratch(&at, n * n), k.jacobian = TakeScratch(&at, n * n);
    k.q = TakeScratch(&at, n), k.scale = TakeScratch(&at, n), k.friction = TakeScratch(&at, n);
    k.x = TakeScratch(&at, n), k.w = TakeScratch(&at, n), k.f = TakeScratch(&at, n);
    k.trial = TakeScratch(&at, n), k.step = TakeScratch(&at, n), k.best = TakeScratch(&at, n);
    k.centre = TakeScratch(&at, n);
    k.alive = TakeScratch(&at, n), k.pivots = TakeScratch(&at, n); // two ints to a double: alive has room for n more
    k.gram = TakeScratch(&at, n * n + n);
    k.factor = TakeAligned(&at, snwDense_Count(def->rows));
    k.panels = TakeAligned(&at, PanelRoom(def->rows));
    k.right = TakeAligned(&at, n + 8);
    ScaleCoulomb(&k);
    k.symmetric = def->kernels != NULL && IsSymmetric(&k);
    return k;
}

static void PutSeededStart(Work* k)
{
    const snwCoulombDef* def = k->def;

    // xorshift: the same start for the same seed everywhere.
    uint64_t seed = def->seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 0; i < k->n; ++i)
    {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        double l = 0;
        switch (def->start)
        {
            // Whatever the caller found the last time, if it is a number.
            case snw_coulombWarm:
                l = isfinite(def->lambda[i]) ? def->lambda[i] : 0;
                break;
            case snw_coulombZero:
                break;
            case snw_coulombOnes:
                l = 1;
                break;
            case snw_coulombRandom:
                l = 2 * ((double)(seed >> 11) * 0x1p-53) - 1;
                break;
        }

        k->x[i] = l / k->scale[i];
    }
}

static bool IsSilent(const double* x, int n)
{
    for (int i = 0; i < n; ++i)
        if (x[i] != 0)
            return false;
    return true;
}

// So many sweeps, as far as there are any left, and Newton. True: what comes of it is good enough.
static bool TrySweeps(Work* k, int sweeps)
{
    int left = k->def->sweeps - k->report.sweeps;
    if (sweeps > 0 && left > 0)
        SweepFor(k, sweeps < left ? sweeps : left);
    if (k->bestResidual <= k->def->tolerance)
        return true;
    Newton(k, coulomb_tryNewtons);
    return RememberBest(k, k->x) <= k->def->tolerance;
}

snwCoulombReport snwCoulomb_Solve(const snwCoulombDef* def)
{
    // From the caller's start; a start of nothing is first swept into shape.
    Work k = PrepareCoulomb(def);
    PutSeededStart(&k);
    memset(k.best, 0, (size_t)k.n * sizeof *k.best);
    bool cold = def->start != snw_coulombWarm || IsSilent(k.x, k.n);
    bool done = TrySweeps(&k, cold ? coulomb_firstSweeps : 0);
    if (!done && def->newtons > 0) // round in circles: from elsewhere it often finds the way at once
    {
        memset(k.x, 0, (size_t)k.n * sizeof *k.x);
        done = TrySweeps(&k, coulomb_firstSweeps);
    }

    // Neither way converged: problems that yield lead closer from the best x so far, then sweeps and Newton again.
    while (!done && k.report.sweeps < def->sweeps)
    {
        memcpy(k.x, k.best, (size_t)k.n * sizeof *k.x);
        NewtonThatYields(&k);
        done = TrySweeps(&k, coulomb_moreSweeps);
    }

    k.report.solved = k.bestResidual <= def->tolerance;
    for (int i = 0; i < k.n; ++i)
        def->lambda[i] = k.scale[i] * k.best[i];
    k.report.residual = k.bestResidual;
    return k.report;
}

double snwCoulomb_Residual(const snwCoulombDef* def)
{
    Work k = PrepareCoulomb(def);
    for (int i = 0; i < k.n; ++i)
        k.x[i] = def->lambda[i] / k.scale[i];
    Map(&k, k.x, k.w, k.f);
    return ResidualOf(&k, k.x, k.f);
}
