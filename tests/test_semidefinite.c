#include "fixture.h"
#include "linalg/semidefinite.h"
#include "test.h"

#include <stdlib.h>

// A = J^T J with columns of very unlike lengths, the last `extra` of them combinations of those before.
typedef struct Problem
{
    int n, rows, extra;
    double *j, *right; // right = J^T b
    double* b;
} Problem;

static Problem MakeProblem(int n, int extra, uint64_t seed)
{
    Problem p = {.n = n, .rows = 2 * n, .extra = extra};
    size_t rows = (size_t)p.rows, count = (size_t)n;
    p.j = calloc(rows * count, sizeof *p.j), p.b = calloc(rows, sizeof *p.b);
    p.right = calloc(count, sizeof *p.right);
    for (int c = 0; c < n; ++c)
    {
        double length = pow(10, 8 * snwTest_Random(&seed) - 4);
        for (int r = 0; r < p.rows; ++r)
            p.j[c * p.rows + r] = length * (c < n - extra ? 2 * snwTest_Random(&seed) - 1
                                                          : p.j[(c - n + extra) * p.rows + r] +
                                                                3 * p.j[(c - n + extra + 1) * p.rows + r]);
    }
    for (int r = 0; r < p.rows; ++r)
        p.b[r] = 2 * snwTest_Random(&seed) - 1;
    for (int c = 0; c < n; ++c)
        for (int r = 0; r < p.rows; ++r)
            p.right[c] += p.j[c * p.rows + r] * p.b[r];
    return p;
}

static void FreeProblem(Problem* p)
{
    free(p->j), free(p->right), free(p->b);
}

static void PutMatrix(const Problem* p, snwSemidefinite* s)
{
    for (int i = 0; i < p->n; ++i)
        for (int k = 0; k <= i; ++k)
        {
            double sum = 0;
            for (int r = 0; r < p->rows; ++r)
                sum += p->j[i * p->rows + r] * p->j[k * p->rows + r];
            s->matrix[i * p->n + k] = sum;
        }
}

// Every column of J is at right angles to b - J x, as the cosine.
static void CheckSolution(const Problem* p, snwSemidefinite* s)
{
    double *x = calloc((size_t)p->n, sizeof *x), *left = calloc((size_t)p->rows, sizeof *left), length = 0;
    memcpy(x, p->right, (size_t)p->n * sizeof *x);
    snwSemidefinite_Solve(s, x);
    memcpy(left, p->b, (size_t)p->rows * sizeof *left);
    for (int c = 0; c < p->n; ++c)
        for (int r = 0; r < p->rows; ++r)
            left[r] -= x[c] * p->j[c * p->rows + r];
    for (int r = 0; r < p->rows; ++r)
        length += left[r] * left[r];
    for (int c = 0; c < p->n; ++c)
    {
        double dot = 0, own = 0;
        for (int r = 0; r < p->rows; ++r)
            dot += left[r] * p->j[c * p->rows + r], own += p->j[c * p->rows + r] * p->j[c * p->rows + r];
        CHECK(fabs(dot) <= 1e-10 * sqrt(own * length));
    }
    free(x), free(left);
}

TEST(semidefinite, everyRowIsMetWithAnyRank)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    for (int i = 0; i < 12; ++i)
    {
        int n = 2 + 5 * i, extra = i % 4 * n / 8;
        Problem p = MakeProblem(n, extra, 5 + (uint64_t)i);
        snwSemidefinite s;
        REQUIRE(snwSemidefinite_Create(context, n, &s, NULL) == snw_ok);
        PutMatrix(&p, &s);
        snwSemidefinite_Factor(&s, NULL);
        CHECK_INT(s.order.kept, n - extra);
        CHECK(s.smallestPivot > 1e-12 && s.smallestPivot <= 1);
        CheckSolution(&p, &s);
        snwSemidefinite_Free(context, &s);
        FreeProblem(&p);
    }
    snwDestroyContext(context);
}

// A guess that keeps too little or too much is found out.
TEST(semidefinite, guessesAreChecked)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    Problem whole = MakeProblem(30, 0, 3), less = MakeProblem(30, 6, 4);
    snwSemidefinite a, b, c;
    REQUIRE(snwSemidefinite_Create(context, 30, &a, NULL) == snw_ok);
    REQUIRE(snwSemidefinite_Create(context, 30, &b, NULL) == snw_ok);
    REQUIRE(snwSemidefinite_Create(context, 30, &c, NULL) == snw_ok);
    PutMatrix(&whole, &a);
    snwSemidefinite_Factor(&a, NULL);
    PutMatrix(&less, &b);
    snwSemidefinite_Factor(&b, &a.order); // too much
    CHECK_INT(b.order.kept, 24);
    CheckSolution(&less, &b);
    PutMatrix(&less, &c);
    snwSemidefinite_Factor(&c, &b.order); // right
    CHECK_INT(c.order.kept, 24);
    CHECK(memcmp(c.order.rows, b.order.rows, 30 * sizeof *c.order.rows) == 0);
    CheckSolution(&less, &c);
    PutMatrix(&whole, &c);
    snwSemidefinite_Factor(&c, &b.order); // too little
    CHECK_INT(c.order.kept, 30);
    CheckSolution(&whole, &c);
    snwSemidefinite_Free(context, &a);
    snwSemidefinite_Free(context, &b);
    snwSemidefinite_Free(context, &c);
    FreeProblem(&whole);
    FreeProblem(&less);
    snwDestroyContext(context);
}

TEST(semidefinite, nothingIsNothing)
{
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwSemidefinite s;
    REQUIRE(snwSemidefinite_Create(context, 9, &s, NULL) == snw_ok);
    for (int i = 0; i < 3; ++i)
    {
        double x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        memset(s.matrix, 0, 81 * sizeof *s.matrix);
        s.matrix[4 * 9 + 4] = i > 0 ? 1e-30 : 0;
        s.matrix[7 * 9 + 7] = i > 1 ? -1 : 0; // not even semidefinite: left out
        snwSemidefinite_Factor(&s, NULL);
        snwSemidefinite_Solve(&s, x);
        CHECK_INT(s.order.kept, i > 0);
        for (int r = 0; r < 9; ++r)
            CHECK_NEAR(x[r], r == 4 && i > 0 ? 5e30 : 0, r == 4 && i > 0 ? 1e15 : 0);
    }
    snwSemidefinite_Free(context, &s);
    snwDestroyContext(context);
}
