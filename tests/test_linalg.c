// Sparse matrices and the Cholesky factor against dense ones.

#include "fixture.h"
#include "test.h"

#include "base/context.h"
#include "linalg/cholesky.h"
#include "linalg/cholesky_kernels.h"
#include "linalg/ordering.h"
#include "math/cpu.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------------------
// Matrices to test with

typedef struct Problem
{
    snwContext* context;
    snwPattern* pattern;
    snwSparse* matrix;
    double* dense; // by rows, both halves
    double* parts;
    int n, count;
} Problem;

static void FreeProblem(Problem* problem)
{
    snwPattern_Destroy(problem->pattern);
    free(problem->dense);
    free(problem->parts);
}

static void FillDense(Problem* problem)
{
    int n = problem->n;
    problem->dense = calloc((size_t)n * (size_t)n + 1, sizeof(double));
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            problem->dense[i * n + j] = snwSparse_At(problem->matrix, i, j);
}

// A weighted graph Laplacian plus a positive diagonal: positive definite. Each vertex has `degree` random edges to
// vertices near it, so that there is something to dissect; gap > 0 leaves that share of vertices without edges.
static Problem RandomProblem(snwContext* context, int n, int degree, double gap, uint64_t seed)
{
    Problem problem = {.context = context, .n = n};
    int capacity = n * degree * 3 + n, *rows = malloc(2 * (size_t)(capacity + 1) * sizeof *rows), count = 0;
    int* columns = rows + capacity + 1;
    problem.parts = malloc((size_t)(capacity + 1) * sizeof(double));
    for (int i = 0; i < n; ++i)
    {
        rows[count] = columns[count] = i;
        problem.parts[count++] = 0.05 + snwTest_Random(&seed);
        bool alone = snwTest_Random(&seed) < gap;
        for (int k = 0; k < degree && !alone; ++k)
        {
            int j = (i + 1 + (int)(snwTest_Random(&seed) * snwTest_Random(&seed) * n)) % n;
            if (j == i)
                continue;
            double w = 0.1 + snwTest_Random(&seed);
            rows[count] = columns[count] = i, problem.parts[count++] = w;
            rows[count] = columns[count] = j, problem.parts[count++] = w;
            rows[count] = i, columns[count] = j, problem.parts[count++] = -w;
        }
    }
    snwPatternDef def = {
        .rows = n, .columns = n, .symmetric = true, .count = count, .rowOf = rows, .columnOf = columns};
    if (snwPattern_Create(context, &def, &problem.pattern, NULL) < 0)
        abort();
    snwPattern_Assemble(problem.pattern, problem.parts);
    problem.matrix = snwPattern_Matrix(problem.pattern);
    problem.count = count;
    free(rows);
    return problem;
}

// Mass and Laplacian of a box of side^3 vertices (7-point stencil).
static Problem GridProblem(snwContext* context, int side)
{
    Problem problem = {.context = context, .n = side * side * side};
    int n = problem.n, *rows = malloc(20 * (size_t)n * sizeof *rows), *columns = rows + 10 * n, count = 0;
    problem.parts = malloc(10 * (size_t)n * sizeof(double));
    for (int v = 0; v < n; ++v)
    {
        int x[3] = {v % side, v / side % side, v / side / side}, step[3] = {1, side, side * side};
        rows[count] = columns[count] = v, problem.parts[count++] = 0.3;
        for (int axis = 0; axis < 3; ++axis)
        {
            if (x[axis] + 1 == side)
                continue;
            int u = v + step[axis];
            rows[count] = columns[count] = v, problem.parts[count++] = 1;
            rows[count] = columns[count] = u, problem.parts[count++] = 1;
            rows[count] = u, columns[count] = v, problem.parts[count++] = -1;
        }
    }
    snwPatternDef def = {
        .rows = n, .columns = n, .symmetric = true, .count = count, .rowOf = rows, .columnOf = columns};
    if (snwPattern_Create(context, &def, &problem.pattern, NULL) < 0)
        abort();
    snwPattern_Assemble(problem.pattern, problem.parts);
    problem.matrix = snwPattern_Matrix(problem.pattern);
    problem.count = count;
    free(rows);
    return problem;
}

static void FillRandom(double* x, int count, uint64_t seed)
{
    for (int i = 0; i < count; ++i)
        x[i] = snwTest_Random(&seed) - 0.5;
}

// ---------------------------------------------------------------------------------------------------------------------
// The oracle: plain dense elimination in double

// Lower triangle of a becomes L; false if a pivot is not positive.
static bool DenseCholesky(double* a, int n)
{
    for (int j = 0; j < n; ++j)
    {
        for (int k = 0; k < j; ++k)
            a[j * n + j] -= a[j * n + k] * a[j * n + k];
        if (!(a[j * n + j] > 0))
            return false;
        a[j * n + j] = sqrt(a[j * n + j]);
        for (int i = j + 1; i < n; ++i)
        {
            for (int k = 0; k < j; ++k)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
        }
    }
    return true;
}

static void DenseSolve(const double* L, int n, double* x, int stride)
{
    for (int i = 0; i < n; ++i)
    {
        for (int k = 0; k < i; ++k)
            x[i * stride] -= L[i * n + k] * x[k * stride];
        x[i * stride] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i)
    {
        for (int k = i + 1; k < n; ++k)
            x[i * stride] -= L[k * n + i] * x[k * stride];
        x[i * stride] /= L[i * n + i];
    }
}

static double Residual(const Problem* problem, const double* x, const double* b, int width)
{
    double worst = 0, scale = 0;
    double* y = malloc((size_t)problem->n * (size_t)width * sizeof *y + 1);
    snwSparse_Multiply(problem->context, problem->matrix, x, y, width);
    for (int i = 0; i < problem->n * width; ++i)
    {
        worst = fmax(worst, fabs(y[i] - b[i]));
        scale = fmax(scale, fabs(b[i]));
    }
    free(y);
    return scale > 0 ? worst / scale : worst;
}

static snwCholesky* MakeFactor(const Problem* problem, snwPrecision precision, int lastCount)
{
    snwCholeskyDef def = snwDefaultCholeskyDef();
    snwMessage message = {0};
    snwCholesky* factor = NULL;
    def.matrix = problem->matrix;
    def.precision = precision;
    def.lastCount = lastCount;
    if (snwCholesky_Create(problem->context, &def, &factor, &message) < 0)
        snwTest_Fail(__FILE__, __LINE__, "%s: %s", message.place, message.text);
    return factor;
}

// x = A^-1 b with a scratch of its own.
static void SolveOnce(const snwCholesky* factor, snwRightSides x)
{
    snwCholeskyScratch* scratch = NULL;
    if (snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0)
        snwCholesky_Solve(factor, scratch, x);
    snwCholeskyScratch_Destroy(scratch);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sparse matrices

TEST(linalg, assemblyAddsContributionsInOrder)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const int rows[] = {0, 1, 2, 0, 2, 1, 0, -1}, columns[] = {0, 0, 1, 1, 2, 2, 0, 1};
    static const double parts[] = {1e16, 2, 3, 4, 5, 6, 1, 99};
    snwPatternDef def = {
        .rows = 3, .columns = 3, .symmetric = true, .diagonal = true, .count = 8, .rowOf = rows, .columnOf = columns};
    snwPattern* pattern = NULL;
    REQUIRE(snwPattern_Create(context, &def, &pattern, NULL) >= 0);
    snwPattern_Assemble(pattern, parts);
    const snwSparse* a = snwPattern_Matrix(pattern);
    CHECK_INT(snwSparse_Count(a), 5); // (1, 1) is there, with nothing in it
    CHECK(snwSparse_At(a, 0, 0) == 1e16 + 1);
    CHECK(snwSparse_At(a, 1, 0) == 6 && snwSparse_At(a, 0, 1) == 6);
    CHECK(snwSparse_At(a, 2, 1) == 9 && snwSparse_At(a, 1, 1) == 0 && snwSparse_At(a, 2, 0) == 0);
    CHECK_INT(snwPattern_Slot(pattern, 7), -1);
    CHECK(a->values[snwPattern_Slot(pattern, 4)] == 5);
    snwPattern_Add(pattern, parts);
    CHECK(snwSparse_At(a, 2, 1) == 18);
    snwPattern_Destroy(pattern);
    snwDestroyContext(context);
}

TEST(linalg, elementsGiveTheirLowerTriangles)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const int nodes[] = {0, 2, 1, 2, 3, -1};
    static const double parts[] = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    snwElementPatternDef def = {.nodeCount = 5, .elementCount = 2, .size = 3, .nodes = nodes};
    snwPattern* pattern = NULL;
    REQUIRE(snwPattern_CreateFromElements(context, &def, &pattern, NULL) >= 0);
    snwPattern_Assemble(pattern, parts);
    const snwSparse* a = snwPattern_Matrix(pattern);
    double expected[5][5] = {{1, 4, 2}, {4, 6, 5}, {2, 5, 3 + 10, 20}, {0, 0, 20, 30}};
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
            CHECK_NEAR(snwSparse_At(a, i, j), expected[i][j], 0);
    CHECK_INT(snwSparse_Count(a), 3 + 3 + 1 + 2); // every diagonal entry exists
    snwPattern_Destroy(pattern);
    snwDestroyContext(context);
}

TEST(linalg, patternRefusesBadPlaces)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwMessage message = {0};
    snwPattern* pattern = NULL;
    static const int row = 3, column = 0;
    snwPatternDef def = {.rows = 3, .columns = 3, .count = 1, .rowOf = &row, .columnOf = &column};
    CHECK_INT(snwPattern_Create(context, &def, &pattern, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "contribution 0 is at (3, 0)");
    def.columns = 4, def.symmetric = true, def.count = 0;
    CHECK_INT(snwPattern_Create(context, &def, &pattern, &message), snw_errorInput);
    snwElementPatternDef elements = {.nodeCount = 3, .elementCount = 1, .size = 0};
    CHECK_INT(snwPattern_CreateFromElements(context, &elements, &pattern, &message), snw_errorInput);
    CHECK(pattern == NULL);
    snwDestroyContext(context);
}

TEST(linalg, checkFindsWhatIsWrong)
{
    int starts[] = {0, 1, 3}, indices[] = {0, 0, 1};
    double values[] = {1, 2, 3};
    snwSparse a = {.rows = 2, .columns = 2, .symmetric = true, .starts = starts, .indices = indices, .values = values};
    CHECK_INT(snwSparse_Check(&a, NULL), snw_ok);
    values[1] = NAN;
    CHECK_INT(snwSparse_Check(&a, NULL), snw_errorInput);
    values[1] = 2, indices[0] = 1; // above the diagonal
    CHECK_INT(snwSparse_Check(&a, NULL), snw_errorInput);
    indices[0] = 0, indices[1] = 1, indices[2] = 0;
    CHECK_INT(snwSparse_Check(&a, NULL), snw_errorInput);
    indices[1] = 0, indices[2] = 1, starts[1] = 4;
    CHECK_INT(snwSparse_Check(&a, NULL), snw_errorInput);
}

TEST(linalg, productsAgreeWithDense)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Problem problem = RandomProblem(context, 40, 3, 0.1, 5);
    snwSparse full, back;
    double x[120], y[120], z[120], expected[120] = {0};
    FillDense(&problem);
    FillRandom(x, 120, 7);
    for (int i = 0; i < 40; ++i)
        for (int j = 0; j < 40; ++j)
            for (int k = 0; k < 3; ++k)
                expected[3 * i + k] += problem.dense[40 * i + j] * x[3 * j + k];
    snwSparse_Multiply(context, problem.matrix, x, y, 3);
    REQUIRE(snwSparse_Full(context, problem.matrix, &full, NULL) >= 0);
    snwSparse_Multiply(context, &full, x, z, 3);
    for (int i = 0; i < 120; ++i)
    {
        CHECK_NEAR(y[i], expected[i], 1e-14);
        CHECK_NEAR(z[i], expected[i], 1e-14);
    }
    full.values[3] += 0.5; // no longer symmetric
    REQUIRE(snwSparse_Transpose(context, &full, &back, NULL) >= 0);
    CHECK_INT(snwSparse_Check(&back, NULL), snw_ok);
    snwSparse_Multiply(context, &full, x, y, 3);
    snwSparse_MultiplyTransposed(context, &back, x, z, 3);
    for (int i = 0; i < 120; ++i)
        CHECK_NEAR(y[i], z[i], 1e-14);
    snwSparse_Free(context, &full);
    snwSparse_Free(context, &back);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Orders

TEST(linalg, nestedDissectionNamesEveryVertexOnce)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    static const int sizes[] = {0, 1, 2, 119, 300, 1500};
    for (int c = 0; c < 6; ++c)
    {
        int n = sizes[c];
        Problem problem = RandomProblem(context, n, c % 2 == 0 ? 2 : 5, c == 5 ? 0.3 : 0, 3 + (uint64_t)c);
        snwSparse full;
        REQUIRE(snwSparse_Full(context, problem.matrix, &full, NULL) >= 0);
        int *starts = calloc((size_t)n + 1, sizeof(int)),
            *edges = calloc((size_t)snwSparse_Count(&full) + 1, sizeof(int));
        for (int i = 0; i < n; ++i)
        {
            starts[i + 1] = starts[i];
            for (int k = full.starts[i]; k < full.starts[i + 1]; ++k)
                if (full.indices[k] != i)
                    edges[starts[i + 1]++] = full.indices[k];
        }
        snwGraph graph = {.count = n, .starts = starts, .edges = edges};
        int *order = calloc((size_t)n + 1, sizeof(int)), *seen = calloc((size_t)n + 1, sizeof(int));
        REQUIRE(snwGraph_OrderNested(context, &graph, order));
        for (int i = 0; i < n; ++i)
            seen[order[i]]++;
        for (int i = 0; i < n; ++i)
            CHECK_INT(seen[i], 1);
        free(starts), free(edges), free(order), free(seen);
        snwSparse_Free(context, &full);
        FreeProblem(&problem);
    }
    snwDestroyContext(context);
}

// The natural order fills the band.
TEST(linalg, nestedDissectionKeepsTheFactorSmall)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 12);
    snwCholesky* nested = MakeFactor(&problem, snw_precisionDouble, 0);
    snwCholeskyDef def = snwDefaultCholeskyDef();
    snwCholesky* natural = NULL;
    def.matrix = problem.matrix;
    def.ordering = snw_orderingNatural;
    REQUIRE(nested != NULL && snwCholesky_Create(context, &def, &natural, NULL) >= 0);
    CHECK(snwCholesky_Stats(nested).entries < snwCholesky_Stats(natural).entries / 2);
    snwCholesky_Destroy(nested);
    snwCholesky_Destroy(natural);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// The factor

static void CheckAgainstDense(snwContext* context, int n, uint64_t seed)
{
    Problem problem = RandomProblem(context, n, 1 + (int)(seed % 4), seed % 3 == 0 ? 0.3 : 0, seed);
    snwCholesky* factor = MakeFactor(&problem, snw_precisionDouble, 0);
    double *x = malloc(3 * (size_t)n * sizeof *x), *y = malloc(3 * (size_t)n * sizeof *y);
    FillDense(&problem);
    FillRandom(x, 3 * n, seed + 1);
    memcpy(y, x, 3 * (size_t)n * sizeof *x);
    if (factor != NULL && DenseCholesky(problem.dense, n))
    {
        SolveOnce(factor, snwRows_Double(x, 3, 3));
        for (int k = 0; k < 3; ++k)
            DenseSolve(problem.dense, n, y + k, 3);
        for (int i = 0; i < 3 * n; ++i)
            CHECK_NEAR(x[i], y[i], 1e-12);
    }
    else
        snwTest_Fail(__FILE__, __LINE__, "n = %d has no factor", n);
    free(x), free(y);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
}

TEST(linalg, solvesAgreeWithDense)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int n = 1; n <= 50; ++n)
        for (uint64_t seed = 1; seed <= 4; ++seed)
            CheckAgainstDense(context, n, seed * 100 + (uint64_t)n);
    CheckAgainstDense(context, 400, 9);
    snwDestroyContext(context);
}

TEST(linalg, emptyMatrixSolvesNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem problem = RandomProblem(context, 0, 1, 0, 1);
    snwCholesky* factor = MakeFactor(&problem, snw_precisionDouble, 0);
    REQUIRE(factor != NULL);
    double x[3] = {1, 2, 3};
    SolveOnce(factor, snwRows_Double(x, 3, 3));
    CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// Dense blocks and long thin ones, for the edges of panels.
TEST(linalg, cliquesAndChainsSolve)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int n = 1; n <= 40; ++n)
    {
        for (int kind = 0; kind < 3; ++kind)
        {
            int rows[900], columns[900], count = 0;
            double parts[900], x[40], b[40];
            for (int i = 0; i < n; ++i)
            {
                rows[count] = columns[count] = i, parts[count++] = n + 1;
                for (int j = 0; j < i; ++j)
                    if (kind == 0 || (kind == 1 && i - j == 1) || (kind == 2 && i == n - 1))
                        rows[count] = i, columns[count] = j, parts[count++] = kind == 1 ? -1 : 0.5 - (i + j) % 2;
            }
            snwPatternDef def = {
                .rows = n, .columns = n, .symmetric = true, .count = count, .rowOf = rows, .columnOf = columns};
            Problem problem = {.context = context, .n = n};
            REQUIRE(snwPattern_Create(context, &def, &problem.pattern, NULL) >= 0);
            snwPattern_Assemble(problem.pattern, parts);
            problem.matrix = snwPattern_Matrix(problem.pattern);
            snwCholesky* factor = MakeFactor(&problem, snw_precisionDouble, 0);
            REQUIRE(factor != NULL);
            FillRandom(b, n, (uint64_t)n);
            memcpy(x, b, sizeof x);
            SolveOnce(factor, snwRows_Double(x, 1, 1));
            CHECK(Residual(&problem, x, b, 1) < 1e-13);
            snwCholesky_Destroy(factor);
            FreeProblem(&problem);
        }
    }
    snwDestroyContext(context);
}

TEST(linalg, residualsOfABox)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 14);
    int n = problem.n;
    double *b = malloc(3 * (size_t)n * sizeof *b), *x = malloc(3 * (size_t)n * sizeof *x);
    FillRandom(b, 3 * n, 1);
    snwCholesky* exact = MakeFactor(&problem, snw_precisionDouble, 0);
    snwCholesky* quick = MakeFactor(&problem, snw_precisionFloat, 0);
    REQUIRE(exact != NULL && quick != NULL);
    memcpy(x, b, 3 * (size_t)n * sizeof *b);
    SolveOnce(exact, snwRows_Double(x, 3, 3));
    CHECK(Residual(&problem, x, b, 3) < 1e-14);
    memcpy(x, b, 3 * (size_t)n * sizeof *b);
    SolveOnce(quick, snwRows_Double(x, 3, 3));
    double residual = Residual(&problem, x, b, 3);
    CHECK(residual < 2e-6 && residual > 1e-9); // it is float, and only float
    free(b), free(x);
    snwCholesky_Destroy(exact);
    snwCholesky_Destroy(quick);
    FreeProblem(&problem);
    snwDestroyContext(context);
}
