// Sparse matrices and the Cholesky factor against dense ones.
// Labels: kernels

#include "fixture.h"
#include "test.h"

#include "base/context.h"
#include "linalg/cholesky.h"
#include "linalg/cholesky_kernels.h"
#include "linalg/ordering.h"
#include "math/cpu.h"

#include "sim/character.h"

#include <pthread.h>
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

// The tets of a body as it is simulated: every edge of a tet is a spring, every corner has a mass.
TEST(linalg, fleshOfABall)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    snwCharacter* ball = snwFixture_Shape(context, snw_shapeBall, 10);
    REQUIRE(ball != NULL);
    int n = ball->def.vertexCount, count = 10 * ball->def.tetCount;
    snwElementPatternDef def = {
        .nodeCount = n, .elementCount = ball->def.tetCount, .size = 4, .nodes = ball->def.tets[0]};
    Problem problem = {.context = context, .n = n};
    REQUIRE(snwPattern_CreateFromElements(context, &def, &problem.pattern, NULL) >= 0);
    problem.matrix = snwPattern_Matrix(problem.pattern);
    problem.parts = malloc((size_t)count * sizeof(double));
    for (int k = 0; k < count; ++k)
        problem.parts[k] = k % 10 == 0 || k % 10 == 2 || k % 10 == 5 || k % 10 == 9 ? 3.1 : -1;
    snwPattern_Assemble(problem.pattern, problem.parts);
    double *b = malloc(3 * (size_t)n * sizeof *b), *x = malloc(3 * (size_t)n * sizeof *x);
    FillRandom(b, 3 * n, 1);
    memcpy(x, b, 3 * (size_t)n * sizeof *b);
    snwCholesky* factor = MakeFactor(&problem, snw_precisionDouble, 0);
    REQUIRE(factor != NULL);
    SolveOnce(factor, snwRows_Double(x, 3, 3));
    CHECK(Residual(&problem, x, b, 3) < 1e-13);
    free(b), free(x);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
    snwCharacter_Release(ball);
    snwDestroyContext(context);
}

typedef struct Sharer
{
    const snwCholesky* factor;
    int n;
    double* x;
} Sharer;

static void* SolveManyTimes(void* data)
{
    Sharer* sharer = data;
    snwCholeskyScratch* scratch = NULL;
    if (snwCholeskyScratch_Create(sharer->factor, &scratch, NULL) < 0)
        return NULL;
    for (int i = 0; i < 20; ++i)
    {
        FillRandom(sharer->x, 3 * sharer->n, 17);
        snwCholesky_Solve(sharer->factor, scratch, snwRows_Double(sharer->x, 3, 3));
    }
    snwCholeskyScratch_Destroy(scratch);
    return NULL;
}

TEST(linalg, threadsShareAFactor) // Labels: threads
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 10);
    int n = problem.n;
    snwCholesky* factor = MakeFactor(&problem, snw_precisionFloat, 0);
    REQUIRE(factor != NULL);
    double* x = calloc(12 * (size_t)n, sizeof *x);
    Sharer sharers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
    {
        sharers[i] = (Sharer){.factor = factor, .n = n, .x = x + 3 * i * n};
        REQUIRE(pthread_create(&threads[i], NULL, SolveManyTimes, &sharers[i]) == 0);
    }
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    CHECK(x[0] != 0);
    for (int i = 1; i < 4; ++i)
        CHECK(memcmp(x, sharers[i].x, 3 * (size_t)n * sizeof *x) == 0);
    free(x);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Layouts and right sides

// Rows of three, rows of three with room for a fourth, columns, floats: all the same numbers.
// Right sides with few numbers, solved by the supernodes that they reach.
TEST(linalg, sparseRightSidesGiveTheSameBits)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 12);
    int n = problem.n;
    for (int precision = 0; precision < 2; ++precision)
    {
        snwCholesky* factor = MakeFactor(&problem, (snwPrecision)precision, 0);
        snwCholeskyScratch* scratch = NULL;
        REQUIRE(factor != NULL && snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0);
        size_t nodes = (size_t)snwCholesky_Stats(factor).supernodes;
        unsigned char* reach = malloc(nodes);
        double *whole = malloc(4 * (size_t)n * sizeof *whole), *sparse = malloc(4 * (size_t)n * sizeof *sparse);
        for (int place = 0; place < n; place += n / 5)
        {
            const int rows[3] = {place, (place + 7) % n, (place + 40) % n};
            int wrong = 0, reached = 0;
            memset(whole, 0, 4 * (size_t)n * sizeof *whole);
            memset(reach, 0, nodes);
            for (int k = 0; k < 12; ++k)
                whole[4 * rows[k % 3] + k / 3] = 1.5 + k;
            memcpy(sparse, whole, 4 * (size_t)n * sizeof *whole);
            snwCholesky_MarkReach(factor, rows, 3, reach);
            snwCholesky_Solve(factor, scratch, snwRows_Double(whole, 4, 4));
            snwCholesky_SolveReached(factor, scratch, snwRows_Double(sparse, 4, 4), reach);
            for (int i = 0; i < 4 * n; ++i)
                wrong += whole[i] != sparse[i];
            for (size_t i = 0; i < nodes; ++i)
                reached += reach[i];
            CHECK_INT(wrong, 0);
            CHECK(reached > 0 && reached < (int)nodes / 2);
        }
        free(reach), free(whole), free(sparse);
        snwCholeskyScratch_Destroy(scratch);
        snwCholesky_Destroy(factor);
    }
    FreeProblem(&problem);
    snwDestroyContext(context);
}

TEST(linalg, layoutsAndWidthsGiveTheSameBits)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 9);
    int n = problem.n;
    enum
    {
        width = 7
    };
    for (int precision = 0; precision < 2; ++precision)
    {
        snwCholesky* factor = MakeFactor(&problem, (snwPrecision)precision, 0);
        snwCholeskyScratch* scratch = NULL;
        REQUIRE(factor != NULL && snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0);
        double *b = malloc(width * (size_t)n * sizeof *b), *together = malloc(width * (size_t)n * sizeof *b);
        double *alone = malloc((size_t)n * sizeof *alone), *byColumn = malloc(width * (size_t)n * sizeof *b);
        float* xyzw = malloc(4 * (size_t)n * sizeof *xyzw);
        FillRandom(b, width * n, 3);
        for (int i = 0; i < width * n; ++i)
            b[i] = (double)(float)b[i];
        memcpy(together, b, width * (size_t)n * sizeof *b);
        for (int i = 0; i < n; ++i)
        {
            for (int k = 0; k < width; ++k)
                byColumn[k * n + i] = b[width * i + k];
            for (int k = 0; k < 4; ++k)
                xyzw[4 * i + k] = k < 3 ? (float)b[width * i + k] : 77;
        }
        snwCholesky_Solve(factor, scratch, snwRows_Double(together, width, width));
        snwCholesky_Solve(factor, scratch, snwColumns_Double(byColumn, width, n));
        snwCholesky_Solve(factor, scratch, snwRows_Float(xyzw, 3, 4));
        for (int k = 0; k < width; ++k)
        {
            int wrong = 0;
            for (int i = 0; i < n; ++i)
                alone[i] = b[width * i + k];
            snwCholesky_Solve(factor, scratch, snwRows_Double(alone, 1, 1));
            for (int i = 0; i < n; ++i)
            {
                wrong += alone[i] != together[width * i + k] || alone[i] != byColumn[k * n + i];
                wrong += k < 3 && (float)alone[i] != xyzw[4 * i + k];
                wrong += xyzw[4 * i + 3] != 77;
            }
            CHECK_INT(wrong, 0);
        }
        free(b), free(together), free(alone), free(byColumn), free(xyzw);
        snwCholeskyScratch_Destroy(scratch);
        snwCholesky_Destroy(factor);
    }
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// A factor, a solve and a Schur complement in one number.
static uint64_t HashSolve(int threads, snwSimd simd, snwPrecision precision)
{
    snwContext* context = snwFixture_Context(threads, simd, NULL);
    Problem problem = GridProblem(context, 16);
    int n = problem.n, last = 20;
    uint64_t hash = 14695981039346656037u;
    double *x = malloc(3 * (size_t)n * sizeof *x), t[60];
    snwCholesky* factor = MakeFactor(&problem, precision, last);
    snwCholeskyScratch* scratch = NULL;
    FillRandom(x, 3 * n, 5);
    if (factor != NULL && snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0)
    {
        snwCholesky_Forward(factor, scratch, snwRows_Double(x, 3, 3), snwRows_Double(t, 3, 3));
        snwCholesky_Backward(factor, scratch, snwRows_Double(t, 3, 3), snwRows_Double(x, 3, 3));
        const unsigned char *bytes = (const unsigned char*)x, *schur = (const void*)snwCholesky_Schur(factor);
        for (size_t i = 0; i < 3 * (size_t)n * sizeof *x; ++i)
            hash = (hash ^ bytes[i]) * 1099511628211u;
        for (size_t i = 0; i < (size_t)last * (size_t)last * sizeof(double); ++i)
            hash = (hash ^ schur[i]) * 1099511628211u;
        CHECK(snwCholesky_Stats(factor).tasks > 4); // or there is nothing to share out
    }
    free(x);
    snwCholeskyScratch_Destroy(scratch);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
    snwDestroyContext(context);
    return hash;
}

TEST_HEAVY(linalg, bitsDoNotDependOnThreads) // Labels: threads
{
    for (int precision = 0; precision < 2; ++precision)
    {
        uint64_t one = HashSolve(1, snw_simdAuto, (snwPrecision)precision);
        CHECK(HashSolve(2, snw_simdAuto, (snwPrecision)precision) == one);
        CHECK(HashSolve(8, snw_simdAuto, (snwPrecision)precision) == one);
    }
    CHECK(HashSolve(1, snw_simdAuto, snw_precisionFloat) != HashSolve(1, snw_simdAuto, snw_precisionDouble));
}

TEST_HEAVY(linalg, bitsDoNotDependOnTheInstructionSet)
{
    for (int precision = 0; precision < 2; ++precision)
    {
        uint64_t scalar = HashSolve(1, snw_simdScalar, (snwPrecision)precision);
        for (int simd = snw_simdScalar + 1; simd <= (int)snwSimd_Best(); ++simd)
            CHECK(HashSolve(1, (snwSimd)simd, (snwPrecision)precision) == scalar);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Last unknowns

// G, V and both sweeps against dense algebra.
static void CheckLast(snwContext* context, int n, int last, uint64_t seed)
{
    Problem problem = RandomProblem(context, n, 3, seed % 2 == 0 ? 0.2 : 0, seed);
    int lead = n - last;
    FillDense(&problem);
    double* A = problem.dense;
    double* L = calloc((size_t)(lead * lead) + 1, sizeof *L);
    double* W = calloc((size_t)(lead * last) + 1, sizeof *W); // A_ff^-1 A_fb, by rows of the leading unknowns
    for (int i = 0; i < lead; ++i)
        for (int j = 0; j < lead; ++j)
            L[i * lead + j] = A[i * n + j];
    for (int i = 0; i < lead; ++i)
        for (int j = 0; j < last; ++j)
            W[i * last + j] = A[i * n + lead + j];
    snwCholesky* factor = MakeFactor(&problem, snw_precisionDouble, last);
    snwCholeskyScratch* scratch = NULL;
    REQUIRE(factor != NULL && DenseCholesky(L, lead) && snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0);
    for (int j = 0; j < last; ++j)
        DenseSolve(L, lead, W + j, last);
    const double* G = snwCholesky_Schur(factor);
    for (int i = 0; i < last; ++i)
    {
        for (int j = 0; j < last; ++j)
        {
            double g = A[(lead + i) * n + lead + j];
            for (int k = 0; k < lead; ++k)
                g -= A[(lead + i) * n + k] * W[k * last + j];
            CHECK_NEAR(G[i * last + j], g, 1e-12);
        }
    }
    double *r = malloc(3 * (size_t)n * sizeof *r), *x = malloc(3 * (size_t)n * sizeof *x);
    double *g = malloc(3 * (size_t)n * sizeof *g), *z = malloc(3 * (size_t)n * sizeof *z);
    FillRandom(r, 3 * n, seed + 2);
    memcpy(z, r, 3 * (size_t)n * sizeof *r); // becomes A_ff^-1 r_f
    for (int k = 0; k < 3; ++k)
        DenseSolve(L, lead, z + k, 3);
    snwCholesky_Forward(factor, scratch, snwRows_Double(r, 3, 3), snwRows_Double(g, 3, 3));
    for (int i = 0; i < last; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            double expected = r[3 * (lead + i) + k];
            for (int j = 0; j < lead; ++j)
                expected -= A[(lead + i) * n + j] * z[3 * j + k];
            CHECK_NEAR(g[3 * i + k], expected, 1e-12);
        }
    }
    // |y|^2 = r A_ff^-1 r, whatever the order of elimination.
    snwCholesky_ReadForward(factor, scratch, snwRows_Double(x, 3, 3));
    double yy = 0, rz = 0;
    for (int i = 0; i < 3 * lead; ++i)
        yy += x[i] * x[i], rz += r[i] * z[i];
    CHECK_NEAR(yy, rz, 1e-12 * (1 + rz));
    double* t = g; // any answer of the small system
    FillRandom(t, 3 * last, seed + 3);
    snwCholesky_Backward(factor, scratch, snwRows_Double(t, 3, 3), snwRows_Double(x, 3, 3));
    for (int i = 0; i < lead; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            double expected = z[3 * i + k];
            for (int j = 0; j < last; ++j)
                expected -= W[i * last + j] * t[3 * j + k];
            CHECK_NEAR(x[3 * i + k], expected, 1e-12);
        }
    }
    for (int i = 0; i < 3 * last; ++i)
        CHECK(x[3 * lead + i] == t[i]);
    free(L), free(W), free(r), free(x), free(g), free(z);
    snwCholeskyScratch_Destroy(scratch);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
}

TEST(linalg, lastUnknownsAgreeWithDense)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    for (int n = 1; n <= 40; n += 3)
        for (int last = 0; last <= n; last += 1 + n / 5)
            CheckLast(context, n, last, (uint64_t)(100 * n + last + 1));
    CheckLast(context, 300, 13, 4);
    CheckLast(context, 12, 12, 4); // nothing to eliminate: G is the matrix
    snwDestroyContext(context);
}

// ---------------------------------------------------------------------------------------------------------------------
// Refactoring, and what goes wrong

TEST(linalg, refactorGivesTheBitsOfAFreshFactor)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(2, snw_simdAuto, &counter);
    Problem problem = GridProblem(context, 10);
    int n = problem.n;
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    snwCholesky* factor = MakeFactor(&problem, snw_precisionFloat, 0);
    snwCholeskyScratch* scratch = NULL;
    REQUIRE(factor != NULL && snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0);
    uint64_t seed = 3;
    for (int k = 0; k < problem.count; ++k) // contributions are either the mass or a part of an edge
        problem.parts[k] *= problem.parts[k] == 0.3 ? 1 + snwTest_Random(&seed) : 0.7;
    snwPattern_Assemble(problem.pattern, problem.parts);
    long before = counter.allocations;
    CHECK_INT(snwCholesky_Refactor(factor, problem.matrix, NULL), snw_ok);
    FillRandom(x, n, 1);
    snwCholesky_Solve(factor, scratch, snwRows_Double(x, 1, 1));
    CHECK_INT(counter.allocations, before); // neither takes memory
    snwCholesky* fresh = MakeFactor(&problem, snw_precisionFloat, 0);
    REQUIRE(fresh != NULL);
    FillRandom(y, n, 1);
    SolveOnce(fresh, snwRows_Double(y, 1, 1));
    CHECK(memcmp(x, y, (size_t)n * sizeof *x) == 0);
    free(x), free(y);
    snwCholesky_Destroy(fresh);
    snwCholeskyScratch_Destroy(scratch);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// The culprit is named in the matrix's own order, and a good refactor mends the factor.
TEST(linalg, notPositiveDefiniteNamesTheUnknown)
{
    snwContext* context = snwFixture_Context(2, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 8);
    snwMessage message = {0};
    snwCholesky *factor = MakeFactor(&problem, snw_precisionDouble, 0), *none = NULL;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    REQUIRE(factor != NULL);
    int slot = problem.matrix->starts[138] - 1; // the diagonal of unknown 137
    double good = problem.matrix->values[slot];
    problem.matrix->values[slot] = -1;
    CHECK_INT(snwCholesky_Refactor(factor, problem.matrix, &message), snw_errorInput);
    CHECK(strcmp(message.place, "unknown[137]") == 0);
    CHECK_CONTAINS(message.text, "not positive definite");
    def.matrix = problem.matrix;
    CHECK_INT(snwCholesky_Create(context, &def, &none, &message), snw_errorInput);
    CHECK(none == NULL);
    problem.matrix->values[slot] = INFINITY;
    CHECK_INT(snwCholesky_Create(context, &def, &none, &message), snw_errorInput);
    CHECK_CONTAINS(message.text, "not a finite number");
    problem.matrix->values[slot] = good;
    CHECK_INT(snwCholesky_Refactor(factor, problem.matrix, &message), snw_ok);
    double x[512], b[512];
    FillRandom(b, 512, 1);
    memcpy(x, b, sizeof x);
    SolveOnce(factor, snwRows_Double(x, 1, 1));
    CHECK(Residual(&problem, x, b, 1) < 1e-14);
    snwCholesky_Destroy(factor);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// A body that floats freely: the Laplacian without mass has a null space, which rounding must not hide.
TEST(linalg, singularMatrixIsRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 6);
    snwCholesky* factor = NULL;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    for (int k = 0; k < problem.count; ++k)
        problem.parts[k] = problem.parts[k] == 0.3 ? 0 : problem.parts[k];
    snwPattern_Assemble(problem.pattern, problem.parts);
    def.matrix = problem.matrix;
    CHECK_INT(snwCholesky_Create(context, &def, &factor, NULL), snw_errorInput);
    CHECK(factor == NULL);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

TEST(linalg, badDefsAreRefused)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem problem = RandomProblem(context, 4, 1, 0, 1);
    snwCholesky* factor = NULL;
    snwCholeskyDef def = snwDefaultCholeskyDef();
    int order[4] = {0, 1, 1, 3};
    def.matrix = problem.matrix;
    def.lastCount = 5;
    CHECK_INT(snwCholesky_Create(context, &def, &factor, NULL), snw_errorInput);
    def.lastCount = 0, def.ordering = snw_orderingGiven, def.order = order;
    CHECK_INT(snwCholesky_Create(context, &def, &factor, NULL), snw_errorInput);
    order[2] = 2;
    CHECK_INT(snwCholesky_Create(context, &def, &factor, NULL), snw_ok);
    snwCholesky_Destroy(factor);
    problem.matrix->symmetric = false;
    CHECK_INT(snwCholesky_Create(context, &def, &factor, NULL), snw_errorInput);
    FreeProblem(&problem);
    snwDestroyContext(context);
}

// A right side that is not finite spoils its own solve and no later one.
TEST(linalg, notANumberDoesNotStay)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem problem = GridProblem(context, 8);
    double x[512], b[512];
    for (int precision = 0; precision < 2; ++precision)
    {
        snwCholesky* factor = MakeFactor(&problem, (snwPrecision)precision, 0);
        snwCholeskyScratch* scratch = NULL;
        REQUIRE(factor != NULL && snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0);
        FillRandom(b, 512, 1);
        memcpy(x, b, sizeof x);
        x[0] = NAN;
        snwCholesky_Solve(factor, scratch, snwRows_Double(x, 1, 1));
        CHECK(isnan(x[300]));
        memcpy(x, b, sizeof x);
        snwCholesky_Solve(factor, scratch, snwRows_Double(x, 1, 1));
        CHECK(Residual(&problem, x, b, 1) < 1e-5);
        snwCholeskyScratch_Destroy(scratch);
        snwCholesky_Destroy(factor);
    }
    FreeProblem(&problem);
    snwDestroyContext(context);
}

static snwResult MakeAll(snwContext* context)
{
    static const int nodes[] = {0, 1, 2, 3, 1, 2, 3, 4};
    double parts[20];
    snwElementPatternDef def = {.nodeCount = 5, .elementCount = 2, .size = 4, .nodes = nodes};
    snwPattern* pattern = NULL;
    snwCholesky* factor = NULL;
    snwCholeskyScratch* scratch = NULL;
    snwMessage message;
    snwResult result = snwPattern_CreateFromElements(context, &def, &pattern, &message);
    if (result >= 0)
    {
        for (int k = 0; k < 20; ++k) // element matrices 4 I - 1 / 2
            parts[k] = k % 10 == 0 || k % 10 == 2 || k % 10 == 5 || k % 10 == 9 ? 3.5 : -0.5;
        snwPattern_Assemble(pattern, parts);
        snwCholeskyDef choleskyDef = snwDefaultCholeskyDef();
        choleskyDef.matrix = snwPattern_Matrix(pattern);
        choleskyDef.lastCount = 1;
        choleskyDef.precision = snw_precisionFloat;
        result = snwCholesky_Create(context, &choleskyDef, &factor, &message);
    }
    if (result >= 0)
        result = snwCholeskyScratch_Create(factor, &scratch, &message);
    snwSparse full = {0};
    if (result >= 0)
        result = snwSparse_Transpose(context, snwPattern_Matrix(pattern), &full, &message);
    snwSparse_Free(context, &full);
    snwCholeskyScratch_Destroy(scratch);
    snwCholesky_Destroy(factor);
    snwPattern_Destroy(pattern);
    return result;
}

TEST(linalg, runningOutOfMemoryLeaksNothing)
{
    snwCountingAllocator counter = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, &counter);
    long live = counter.live, start = counter.allocations;
    REQUIRE(MakeAll(context) >= 0);
    long needed = counter.allocations - start;
    CHECK(needed > 40);
    for (long k = 1; k <= needed; ++k)
    {
        counter.failAt = counter.allocations + k;
        CHECK_INT(MakeAll(context), snw_errorMemory);
        CHECK_INT(counter.live, live);
    }
    // A dissection takes memory of its own: a sample of its allocations.
    counter.failAt = 0;
    Problem problem = GridProblem(context, 8);
    snwCholeskyDef def = snwDefaultCholeskyDef();
    snwCholesky* factor = NULL;
    def.matrix = problem.matrix;
    live = counter.live;
    start = counter.allocations;
    REQUIRE(snwCholesky_Create(context, &def, &factor, NULL) >= 0);
    needed = counter.allocations - start;
    snwCholesky_Destroy(factor);
    for (long k = 1; k <= needed; k += 7)
    {
        counter.failAt = counter.allocations + k;
        CHECK_INT(snwCholesky_Create(context, &def, &factor, NULL), snw_errorMemory);
        CHECK(factor == NULL);
        CHECK_INT(counter.live, live);
    }
    counter.failAt = 0;
    FreeProblem(&problem);
    snwDestroyContext(context);
}
