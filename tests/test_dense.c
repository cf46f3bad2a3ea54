// Small dense systems against plain loops, and forces of constraints against trying every set.

#include "test.h"

#include "linalg/active.h"
#include "linalg/dense.h"
#include "math/cpu.h"

#include <stdlib.h>

static double* Numbers(size_t count)
{
    void* numbers = aligned_alloc(64, (count * sizeof(double) + 127) / 64 * 64);
    memset(numbers, 0x7f, count * sizeof(double)); // what is read before it is written shows
    return numbers;
}

static double Uniform(uint64_t* seed)
{
    return 2 * snwTest_Random(seed) - 1;
}

// B B^T + shift, B being n x rank; both triangles.
static void RandomMatrix(uint64_t* seed, int n, int rank, double shift, int stride, double* a)
{
    double* b = Numbers((size_t)n * (size_t)rank + 1);
    for (int i = 0; i < n * rank; ++i)
        b[i] = Uniform(seed);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
        {
            double sum = i == j ? shift : 0;
            for (int k = 0; k < rank; ++k)
                sum += b[i * rank + k] * b[j * rank + k];
            a[i * stride + j] = sum;
        }
    free(b);
}

// The oracle: L in the lower triangle, by columns.
static int PlainCholesky(double* a, int n, int stride)
{
    for (int j = 0; j < n; ++j)
    {
        for (int k = 0; k < j; ++k)
            for (int i = j; i < n; ++i)
                a[i * stride + j] -= a[i * stride + k] * a[j * stride + k];
        if (!(a[j * stride + j] > 0))
            return j;
        double pivot = sqrt(a[j * stride + j]);
        for (int i = j; i < n; ++i)
            a[i * stride + j] /= pivot;
    }
    return -1;
}

static void PlainForward(const double* l, int n, int stride, double* x)
{
    for (int i = 0; i < n; ++i)
    {
        for (int k = 0; k < i; ++k)
            x[i] -= l[i * stride + k] * x[k];
        x[i] /= l[i * stride + i];
    }
}

static void PlainBackward(const double* l, int n, int stride, double* x)
{
    for (int i = n - 1; i >= 0; --i)
    {
        for (int k = i + 1; k < n; ++k)
            x[i] -= l[k * stride + i] * x[k];
        x[i] /= l[i * stride + i];
    }
}

// A system with some rows, its oracle's factor and the numbers that all of the functions give for it.
typedef struct Problem
{
    int n, rows, stride;
    double *a, *plain, *b;         // matrix, its plain factor, rows
    double *x, *y, *panels, *gram; // solutions
    double *products, *sums;
    snwDense dense;
} Problem;

static void MakeProblem(Problem* p, int n, int rows, uint64_t seed)
{
    *p = (Problem){.n = n, .rows = rows, .stride = n + 3};
    size_t full = (size_t)n * (size_t)p->stride + 1;
    p->a = Numbers(full), p->plain = Numbers(full), p->b = Numbers((size_t)rows * (size_t)p->stride + 1);
    p->x = Numbers((size_t)n + 1), p->y = Numbers((size_t)n + 1), p->sums = Numbers((size_t)n + 1);
    p->panels = Numbers(snwDense_PanelCount(rows, n) + 1), p->gram = Numbers((size_t)rows * (size_t)rows + 1);
    p->products = Numbers((size_t)rows + 1);
    p->dense = (snwDense){.n = n, .numbers = Numbers(snwDense_Count(n) + 1)};
    RandomMatrix(&seed, n, n, 1, p->stride, p->a);
    memcpy(p->plain, p->a, full * sizeof(double));
    CHECK_INT(PlainCholesky(p->plain, n, p->stride), -1);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < n; ++j)
            p->b[i * p->stride + j] = Uniform(&seed);
    for (int i = 0; i < n; ++i)
        p->x[i] = p->y[i] = p->sums[i] = Uniform(&seed);
}

static void FreeProblem(Problem* p)
{
    double* all[] = {p->a, p->plain, p->b, p->x, p->y, p->panels, p->gram, p->products, p->sums, p->dense.numbers};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        free(all[i]);
}

static void RunAll(Problem* p, snwSimd simd)
{
    p->dense.kernels = snwCholesky_Kernels(simd);
    for (int i = 0; i < p->n; ++i) // only the lower triangle is read
        for (int j = i + 1; j < p->n; ++j)
            p->a[i * p->stride + j] = NAN;
    CHECK_INT(snwDense_Factor(&p->dense, p->a, p->stride), -1);
    snwDense_Solve(&p->dense, p->x);
    snwDense_Forward(&p->dense, p->y);
    snwDense_ForwardRows(&p->dense, p->rows, p->b, p->stride, p->panels);
    snwDense_Gram(&p->dense, p->rows, p->panels, p->gram, p->rows);
    snwDense_MulRows(&p->dense, p->rows, p->panels, p->y, p->products);
    snwDense_AddRows(&p->dense, p->rows, p->panels, p->products, p->sums);
}

// What RunAll should give.
static void CheckAll(const Problem* p, uint64_t seed)
{
    Problem fresh;
    MakeProblem(&fresh, p->n, p->rows, seed);
    int n = p->n, stride = p->stride;
    double tolerance = 1e-10;
    PlainForward(fresh.plain, n, stride, fresh.y);
    PlainForward(fresh.plain, n, stride, fresh.x);
    PlainBackward(fresh.plain, n, stride, fresh.x);
    for (int r = 0; r < p->rows; ++r)
        PlainForward(fresh.plain, n, stride, fresh.b + r * stride);
    for (int i = 0; i < n; ++i)
    {
        CHECK_NEAR(p->x[i], fresh.x[i], tolerance);
        CHECK_NEAR(p->y[i], fresh.y[i], tolerance);
    }
    double* row = Numbers((size_t)n + 1);
    for (int r = 0; r < p->rows; ++r)
    {
        double product = 0;
        snwDense_GetRow(&p->dense, p->panels, r, row);
        for (int i = 0; i < n; ++i)
        {
            CHECK_NEAR(row[i], fresh.b[r * stride + i], tolerance);
            product += row[i] * fresh.y[i];
            fresh.sums[i] += row[i] * p->products[r];
        }
        CHECK_NEAR(p->products[r], product, tolerance);
        for (int s = 0; s < p->rows; ++s)
        {
            double sum = 0;
            for (int i = 0; i < n; ++i)
                sum += fresh.b[r * stride + i] * fresh.b[s * stride + i];
            CHECK_NEAR(p->gram[r * p->rows + s], sum, tolerance * n);
        }
    }
    for (int i = 0; i < n; ++i)
        CHECK_NEAR(p->sums[i], fresh.sums[i], tolerance * n);
    free(row);
    FreeProblem(&fresh);
}

TEST(dense, everythingAgreesWithPlainLoops)
{
    static const int sizes[][2] = {{1, 1}, {2, 9}, {6, 3}, {7, 0}, {8, 8}, {9, 17}, {36, 30}, {100, 27}, {203, 12}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    {
        Problem p;
        MakeProblem(&p, sizes[i][0], sizes[i][1], 21 + i);
        RunAll(&p, snw_simdAuto);
        CheckAll(&p, 21 + i);
        FreeProblem(&p);
    }
}

TEST(dense, bitsDoNotDependOnTheInstructionSet)
{
    static const snwSimd sets[] = {snw_simdScalar, snw_simdBase, snw_simdAvx2};
    Problem p[3];
    for (int i = 0; i < 3; ++i)
    {
        MakeProblem(&p[i], 77, 21, 5);
        RunAll(&p[i], sets[i]);
        size_t n = 77 * sizeof(double), rows = 21 * sizeof(double);
        CHECK(memcmp(p[i].x, p[0].x, n) == 0 && memcmp(p[i].y, p[0].y, n) == 0);
        CHECK(memcmp(p[i].gram, p[0].gram, 21 * rows) == 0 && memcmp(p[i].products, p[0].products, rows) == 0);
        CHECK(memcmp(p[i].sums, p[0].sums, n) == 0);
    }
    for (int i = 0; i < 3; ++i)
        FreeProblem(&p[i]);
}

TEST(dense, pivotsThatFailAreNamed)
{
    Problem p;
    MakeProblem(&p, 43, 0, 6);
    p.dense.kernels = snwCholesky_Kernels(snw_simdAuto);
    for (int bad = 0; bad < 43; bad += 7)
    {
        double kept = p.a[bad * p.stride + bad];
        p.a[bad * p.stride + bad] = -1;
        CHECK_INT(snwDense_Factor(&p.dense, p.a, p.stride), bad);
        p.a[bad * p.stride + bad] = NAN;
        CHECK_INT(snwDense_Factor(&p.dense, p.a, p.stride), bad);
        p.a[bad * p.stride + bad] = kept;
    }
    CHECK_INT(snwDense_Factor(&p.dense, p.a, p.stride), -1);
    uint64_t seed = 7;
    RandomMatrix(&seed, 43, 30, 0, p.stride, p.a); // singular: the 31st pivot is rounding
    CHECK_INT(snwDense_Factor(&p.dense, p.a, p.stride), 30);
    FreeProblem(&p);
}

// ---------------------------------------------------------------------------------------------------------------------
// Forces of constraints

enum
{
    snw_maxForces = 24
};

typedef struct Forces
{
    int count;
    double k[snw_maxForces * snw_maxForces], compliance[snw_maxForces], b[snw_maxForces], lambda[snw_maxForces];
    bool atLeast[snw_maxForces], active[snw_maxForces];
} Forces;

static snwActiveReport SolveForces(Forces* f, snwSimd simd)
{
    snwActiveDef def = {.kernels = snwCholesky_Kernels(simd), .count = f->count, .k = f->k, .stride = f->count};
    def.compliance = f->compliance, def.b = f->b, def.atLeast = f->atLeast;
    def.active = f->active, def.lambda = f->lambda;
    def.scratch = Numbers(snwActive_ScratchCount(f->count));
    snwActiveReport report = snwActive_Solve(&def);
    free(def.scratch);
    return report;
}

// Plain solve with the rows that are in the set.
static void SolveSubset(const Forces* f, const bool* in, double* lambda)
{
    double a[snw_maxForces * snw_maxForces], x[snw_maxForces];
    int rows[snw_maxForces], n = 0;
    for (int i = 0; i < f->count; ++i)
        if (in[i])
            rows[n++] = i;
    for (int i = 0; i < n; ++i)
    {
        for (int j = 0; j < n; ++j)
            a[i * n + j] = f->k[rows[i] * f->count + rows[j]] + (i == j ? f->compliance[rows[i]] : 0);
        x[i] = f->b[rows[i]];
    }
    CHECK_INT(PlainCholesky(a, n, n), -1);
    PlainForward(a, n, n, x);
    PlainBackward(a, n, n, x);
    for (int i = 0; i < f->count; ++i)
        lambda[i] = 0;
    for (int i = 0; i < n; ++i)
        lambda[rows[i]] = x[i];
}

static double Excess(const Forces* f, const double* lambda, int i)
{
    double sum = f->compliance[i] * lambda[i] - f->b[i];
    for (int j = 0; j < f->count; ++j)
        sum += f->k[i * f->count + j] * lambda[j];
    return sum;
}

// Tries every set of rows at least; false if none is right.
static bool BruteForce(const Forces* f, double* lambda)
{
    for (int set = 0; set < 1 << f->count; ++set)
    {
        bool in[snw_maxForces], right = true;
        for (int i = 0; i < f->count; ++i)
        {
            in[i] = !f->atLeast[i] || (set >> i & 1) != 0;
            right = right && (f->atLeast[i] || (set >> i & 1) == 0); // each set once
        }
        if (!right)
            continue;
        SolveSubset(f, in, lambda);
        for (int i = 0; i < f->count && right; ++i)
            right = !f->atLeast[i] || (lambda[i] >= 0 && Excess(f, lambda, i) >= -1e-10);
        if (right)
            return true;
    }
    return false;
}

static void RandomForces(uint64_t* seed, int count, int atLeast, Forces* f)
{
    f->count = count;
    RandomMatrix(seed, count, count, 0.05, count, f->k);
    for (int i = 0; i < count; ++i)
    {
        f->atLeast[i] = i * atLeast / count != (i + 1) * atLeast / count; // spread evenly
        f->compliance[i] = i % 3 == 1 ? snwTest_Random(seed) : 0;
        f->b[i] = Uniform(seed);
        f->active[i] = snwTest_Random(seed) < 0.3; // any guess
    }
}

TEST(active, randomProblemsAreThoseOfBruteForce)
{
    uint64_t seed = 31;
    int pushing = 0, most = 0;
    for (int trial = 0; trial < 600; ++trial)
    {
        Forces f;
        double expected[snw_maxForces];
        int count = 1 + trial % 10;
        RandomForces(&seed, count, trial / 10 % (count < 8 ? count + 1 : 9), &f);
        snwActiveReport report = SolveForces(&f, snw_simdAuto);
        CHECK(report.exact);
        most = report.pivots > most ? report.pivots : most;
        REQUIRE(BruteForce(&f, expected));
        for (int i = 0; i < count; ++i)
        {
            CHECK_NEAR(f.lambda[i], expected[i], 1e-6 * fmax(1, fabs(expected[i])));
            CHECK(f.active[i] == (f.atLeast[i] && f.lambda[i] > 0));
            pushing += f.active[i] ? 1 : 0;
        }
    }
    CHECK(pushing > 300);
    CHECK(most < 20);
}

TEST(active, aRightGuessIsTheAnswer)
{
    uint64_t seed = 32;
    for (int trial = 0; trial < 100; ++trial)
    {
        Forces f;
        RandomForces(&seed, 20, 12, &f);
        SolveForces(&f, snw_simdAuto);
        double first[snw_maxForces];
        memcpy(first, f.lambda, sizeof first);
        CHECK_INT(SolveForces(&f, snw_simdAuto).pivots, 1);
        CHECK(memcmp(first, f.lambda, 20 * sizeof *first) == 0);
    }
}

// Other right sides, one scratch: what the first solve factored gives the bits of a solve from the beginning.
TEST(active, factorsServeAgain)
{
    uint64_t seed = 38;
    for (int trial = 0; trial < 50; ++trial)
    {
        Forces f;
        RandomForces(&seed, 20, trial % 13, &f);
        snwActiveDef def = {.kernels = snwCholesky_Kernels(snw_simdAuto), .count = 20, .k = f.k, .stride = 20};
        def.compliance = f.compliance, def.b = f.b, def.atLeast = f.atLeast;
        def.active = f.active, def.lambda = f.lambda;
        def.scratch = Numbers(snwActive_ScratchCount(20));
        snwActive_Solve(&def);
        def.again = true;
        for (int i = 0; i < 20; ++i)
            f.b[i] = Uniform(&seed), f.active[i] = i % 2 == 0;
        Forces plain = f;
        CHECK(snwActive_Solve(&def).exact);
        CHECK(SolveForces(&plain, snw_simdAuto).exact);
        CHECK(memcmp(f.lambda, plain.lambda, 20 * sizeof *f.lambda) == 0);
        free(def.scratch);
    }
}

TEST(active, equationsAloneAreADirectSolve)
{
    uint64_t seed = 33;
    Forces f;
    double expected[snw_maxForces];
    RandomForces(&seed, 24, 0, &f);
    SolveSubset(
        &f, (bool[snw_maxForces]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, expected);
    CHECK(SolveForces(&f, snw_simdAuto).exact);
    for (int i = 0; i < 24; ++i)
        CHECK_NEAR(f.lambda[i], expected[i], 1e-10 * fmax(1, fabs(expected[i])));
    for (int i = 0; i < 24; ++i)
        if (f.compliance[i] == 0)
            CHECK_NEAR(Excess(&f, f.lambda, i), 0, 1e-13);
}

// Rows of rank 5 among 15, some of them at least; equations that can be met are met, limits hold, and nothing pulls.
TEST(active, redundantRowsAreMet)
{
    uint64_t seed = 34;
    for (int trial = 0; trial < 200; ++trial)
    {
        enum
        {
            n = 15,
            rank = 5
        };
        Forces f = {.count = n};
        double rows[n][rank], wish[rank];
        for (int k = 0; k < rank; ++k)
            wish[k] = Uniform(&seed);
        for (int i = 0; i < n; ++i)
        {
            for (int k = 0; k < rank; ++k)
                rows[i][k] = Uniform(&seed);
            f.atLeast[i] = i >= 9;
        }
        memcpy(rows[1], rows[0], sizeof rows[0]); // the same three times
        memcpy(rows[2], rows[0], sizeof rows[0]);
        memcpy(rows[14], rows[13], sizeof rows[0]);
        for (int i = 0; i < n; ++i)
        {
            f.b[i] = i >= 9 ? -0.1 * i : 0; // a motion that meets all of it exists
            for (int k = 0; k < rank; ++k)
                f.b[i] += rows[i][k] * wish[k];
            for (int j = 0; j < n; ++j)
                for (int k = 0; k < rank; ++k)
                    f.k[i * n + j] += rows[i][k] * rows[j][k];
        }
        CHECK(SolveForces(&f, snw_simdAuto).exact);
        for (int i = 0; i < n; ++i)
        {
            CHECK(f.atLeast[i] ? Excess(&f, f.lambda, i) > -1e-8 : fabs(Excess(&f, f.lambda, i)) < 1e-9);
            CHECK(!f.atLeast[i] || f.lambda[i] >= 0);
        }
    }
}

// A range without room: lower and upper limit at one place push against each other no more than needed.
TEST(active, limitsAtOnePlaceAreAnEquation)
{
    for (int sign = -1; sign <= 1; ++sign)
    {
        Forces f = {.count = 2, .k = {2, -2, -2, 2}, .b = {sign, -sign}, .atLeast = {true, true}};
        CHECK(SolveForces(&f, snw_simdAuto).exact);
        CHECK_NEAR(2 * (f.lambda[0] - f.lambda[1]), sign, 1e-9);
        CHECK_NEAR(fmin(f.lambda[0], f.lambda[1]), 0, 0);
    }
}

TEST(active, rowsThatNothingMovesHaveNoForce)
{
    Forces f = {.count = 3, .k = {0, 0, 0, 0, 4, 0, 0, 0, 0}, .b = {1, 2, 3}, .atLeast = {false, false, true}};
    CHECK(SolveForces(&f, snw_simdAuto).exact);
    CHECK_NEAR(f.lambda[0], 0, 0);
    CHECK_NEAR(f.lambda[1], 0.5, 1e-12);
    CHECK_NEAR(f.lambda[2], 0, 0);
    f.count = 0;
    CHECK(SolveForces(&f, snw_simdAuto).exact);
}

TEST(active, bitsDoNotDependOnTheInstructionSet)
{
    uint64_t seed = 35;
    Forces f, g;
    RandomForces(&seed, 24, 10, &f);
    g = f;
    SolveForces(&f, snw_simdScalar);
    SolveForces(&g, snw_simdAuto);
    CHECK(memcmp(f.lambda, g.lambda, sizeof f.lambda) == 0);
}
