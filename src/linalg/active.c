// How: equal and soft rows are eliminated first (they push in any case), which leaves a complementarity problem of the
// rows at least alone, M u >= q, u >= 0, whose matrix is the Schur complement. Its set of pushing rows is found by
// block principal pivoting (Judice and Pires 1994): all rows that are wrong change sides at once, and when that no
// longer helps, the last wrong one alone, which ends for every positive definite M (Murty 1974). A good guess ends at
// once.
//
// Singular K: every row yields by a small share of its own diagonal, so that everything is positive definite, and
// forces that do nothing (those of a loop against itself) stay finite. What equal rows lose by it comes back by
// refinement. The share matters little: a shaken four-bar loop closes in as many iterations with 1e-6 as with 1e-13. A
// larger one keeps the forces of rows that contradict each other smaller (they are the contradiction over the share), a
// smaller one lets limits, which are not refined, yield less; 1e-10 is far from both ends. A rank-revealing factor was
// not taken: which row it drops jumps from step to step, and the forces with it.

#include "linalg/active.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double s_yield = 1e-10;    // of a row's diagonal
static const double s_rounding = 1e-12; // of the terms of a sum

enum
{
    snw_refinements = 2,
    snw_blockTries = 4, // without progress, before rows change one at a time
    snw_relaxations = 500
};

typedef struct Work
{
    const snwActiveDef* def;
    int* order;            // rows by place: those that push in any case, then those at least
    int firm, loose;       // how many of each
    snwDense factor;       // of the firm rows
    snwDense set;          // of the loose ones that push
    double *matrix, *m;    // m: the complementarity problem of the loose rows, stride loose
    double* panels;        // what the loose rows do to the firm ones, swept
    double *y, *q, *u, *v; // y: swept right side of the firm rows; u: forces of the loose ones; v: for anyone
} Work;

static size_t Padded(int count)
{
    return ((size_t)count + 7) / 8 * 8;
}

static size_t DenseCount(int count)
{
    return (snwDense_Count(count) + 7) / 8 * 8;
}

size_t snwActive_ScratchCount(int count)
{
    size_t n = Padded(count);
    return 2 * DenseCount(count) + 3 * n * n + 5 * n;
}

static double* TakeDoubles(double** at, size_t count)
{
    double* taken = *at;
    *at += count;
    return taken;
}

static double KOf(const Work* w, int i, int j)
{
    return w->def->k[(size_t)w->order[i] * (size_t)w->def->stride + (size_t)w->order[j]];
}

// On top of the diagonal of K.
static double YieldOfRow(const Work* w, int i)
{
    return w->def->compliance[w->order[i]] + s_yield * KOf(w, i, i);
}

// Rows that nothing can move have no force.
static bool IsDead(const snwActiveDef* def, int i)
{
    return !(def->k[(size_t)i * (size_t)def->stride + (size_t)i] + def->compliance[i] > 0);
}

static int GatherActiveRows(Work* w, bool atLeast, int count)
{
    for (int i = 0; i < w->def->count; ++i)
        if (w->def->atLeast[i] == atLeast && !IsDead(w->def, i))
            w->order[count++] = i;
    return count;
}

static Work PrepareActive(const snwActiveDef* def)
{
    size_t n = Padded(def->count);
    double* at = def->scratch;

    // One piece of scratch, handed out in the order of use.
    Work w = {.def = def};
    w.factor.kernels = w.set.kernels = def->kernels;
    w.factor.numbers = TakeDoubles(&at, DenseCount(def->count)),
    w.set.numbers = TakeDoubles(&at, DenseCount(def->count));
    w.matrix = TakeDoubles(&at, n * n), w.m = TakeDoubles(&at, n * n), w.panels = TakeDoubles(&at, n * n);
    w.y = TakeDoubles(&at, n), w.q = TakeDoubles(&at, n), w.u = TakeDoubles(&at, n), w.v = TakeDoubles(&at, n);
    w.order = (int*)TakeDoubles(&at, n);

    // Rows that push in any case come first, those at least behind them, rows without weight nowhere.
    w.firm = GatherActiveRows(&w, false, 0);
    w.loose = GatherActiveRows(&w, true, w.firm) - w.firm;
    w.factor.n = w.firm;
    for (int i = 0; i < def->count; ++i)
    {
        def->lambda[i] = 0;
        def->active[i] = def->active[i] && def->atLeast[i] && !IsDead(def, i);
    }

    return w;
}

// ---------------------------------------------------------------------------------------------------------------------
// Elimination of the firm rows

static bool FactorFirm(Work* w)
{
    int n = w->firm;
    for (int i = 0; i < n; ++i)
    {
        for (int j = 0; j <= i; ++j)
            w->matrix[i * n + j] = KOf(w, i, j);
        w->matrix[i * n + i] += YieldOfRow(w, i);
    }
    return snwDense_Factor(&w->factor, w->matrix, n) < 0;
}

// M = K_uu - K_uf K_ff^-1 K_fu.
static void EliminateFirm(Work* w)
{
    int n = w->loose, firm = w->firm;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < firm; ++j)
            w->matrix[i * firm + j] = KOf(w, firm + i, j);
    snwDense_ForwardRows(&w->factor, n, w->matrix, firm, w->panels);
    snwDense_Gram(&w->factor, n, w->panels, w->m, n);
    for (int i = 0; i < n; ++i)
    {
        for (int j = 0; j < n; ++j)
            w->m[i * n + j] = KOf(w, firm + i, firm + j) - w->m[i * n + j];
        w->m[i * n + i] += YieldOfRow(w, firm + i);
    }
}

// y = b_f, swept; q = b_u - K_uf K_ff^-1 b_f.
static void EliminateRight(const Work* w)
{
    for (int i = 0; i < w->firm; ++i)
        w->y[i] = w->def->b[w->order[i]];
    snwDense_Forward(&w->factor, w->y);
    snwDense_MulRows(&w->factor, w->loose, w->panels, w->y, w->q);
    for (int i = 0; i < w->loose; ++i)
    {
        w->q[i] = w->def->b[w->order[w->firm + i]] - w->q[i];
        w->u[i] = 0;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Which loose rows push

static bool* ActiveOf(const Work* w, int i)
{
    return &w->def->active[w->order[w->firm + i]];
}

// Forces if exactly the active rows push.
static bool SolveSet(Work* w)
{
    // The submatrix of the rows that push.
    int count = 0, n = w->loose;
    for (int i = 0; i < n; ++i)
    {
        if (!*ActiveOf(w, i))
            continue;
        for (int j = 0, c = 0; j <= i; ++j)
            if (*ActiveOf(w, j))
                w->matrix[count * n + c++] = w->m[i * n + j];
        w->v[count++] = w->q[i];
    }

    // Rows that do not push have no force.
    w->set.n = count;
    if (snwDense_Factor(&w->set, w->matrix, n) >= 0)
        return false;
    snwDense_Solve(&w->set, w->v);
    for (int i = 0, c = 0; i < n; ++i)
        w->u[i] = *ActiveOf(w, i) ? w->v[c++] : 0;

    return true;
}

// A row that pushes must not pull; one that does not must be far enough without.
static bool IsWrong(const Work* w, int i)
{
    if (*ActiveOf(w, i))
        return w->u[i] < 0;
    double sum = -w->q[i], size = fabs(w->q[i]);
    for (int j = 0; j < w->loose; ++j)
    {
        double term = w->m[i * w->loose + j] * w->u[j];
        sum += term, size += fabs(term);
    }
    return sum < -s_rounding * size;
}

// Marks the wrong rows in v; returns their number, and the last of them.
static int FindWrong(Work* w, int* last)
{
    int count = 0;
    for (int i = 0; i < w->loose; ++i)
    {
        bool wrong = IsWrong(w, i);
        w->v[i] = wrong ? 1 : 0;
        count += wrong ? 1 : 0;
        *last = wrong ? i : *last;
    }
    return count;
}

static void ChangeSides(const Work* w, bool all, int last)
{
    for (int i = 0; i < w->loose; ++i)
        if (w->v[i] > 0 && (all || i == last))
            *ActiveOf(w, i) = !*ActiveOf(w, i);
}

// Returns whether the right set was found.
static bool FindSet(Work* w, snwActiveReport* report)
{
    // As long as the number of wrong rows falls within a few tries, all of them change sides; after that only the
    // last one, which cannot go round in circles.
    int least = w->loose + 1, tries = snw_blockTries, cap = 50 + 10 * w->loose;
    while (report->pivots < cap)
    {
        report->pivots++;
        int last = 0;
        if (!SolveSet(w))
            return false;
        int wrong = FindWrong(w, &last);
        if (wrong == 0)
            return true;
        if (wrong < least)
            least = wrong, tries = snw_blockTries;
        else
            tries--;

        ChangeSides(w, tries >= 0, last);
    }

    return false;
}

// Projected Gauss-Seidel: never right to the last digit, and never without an answer.
static void RelaxActive(const Work* w)
{
    int n = w->loose;
    for (int i = 0; i < n; ++i)
        w->u[i] = fmax(0, w->u[i]);
    for (int sweep = 0; sweep < snw_relaxations; ++sweep)
    {
        for (int i = 0; i < n; ++i)
        {
            double sum = w->q[i];
            for (int j = 0; j < n; ++j)
                sum -= w->m[i * n + j] * w->u[j];
            w->u[i] = w->m[i * n + i] > 0 ? fmax(0, w->u[i] + sum / w->m[i * n + i]) : 0;
        }
    }
    for (int i = 0; i < n; ++i)
        *ActiveOf(w, i) = w->u[i] > 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Forces of the firm rows

// What the firm rows still lack. K is symmetric, and by columns all rows add up side by side; q has had its use.
static void FirmResidual(const Work* w, double* out)
{
    const snwActiveDef* def = w->def;
    double* sums = w->q;
    memset(sums, 0, (size_t)def->count * sizeof *sums);
    for (int j = 0; j < def->count; ++j)
    {
        const double* column = def->k + (size_t)j * (size_t)def->stride;
        double lambda = def->lambda[j];
        for (int i = 0; i < def->count; ++i)
            sums[i] += column[i] * lambda;
    }
    for (int i = 0; i < w->firm; ++i)
    {
        int row = w->order[i];
        out[i] = def->b[row] - def->compliance[row] * def->lambda[row] - sums[row];
    }
}

static void SolveFirm(Work* w)
{
    for (int i = 0; i < w->loose; ++i)
    {
        w->def->lambda[w->order[w->firm + i]] = w->u[i];
        w->u[i] = -w->u[i];
    }
    snwDense_AddRows(&w->factor, w->loose, w->panels, w->u, w->y);
    snwDense_Backward(&w->factor, w->y);
    for (int i = 0; i < w->firm; ++i)
        w->def->lambda[w->order[i]] = w->y[i];
    for (int k = 0; k < snw_refinements; ++k)
    {
        FirmResidual(w, w->v);
        snwDense_Solve(&w->factor, w->v);
        for (int i = 0; i < w->firm; ++i)
            w->def->lambda[w->order[i]] += w->v[i];
    }
}

snwActiveReport snwActive_Solve(const snwActiveDef* def)
{
    assert(def->count >= 0 && def->stride >= def->count);
    snwActiveReport report = {0};
    Work w = PrepareActive(def);
    if (!def->again)
    {
        if (!FactorFirm(&w))
            return report;
        EliminateFirm(&w);
    }
    EliminateRight(&w);
    report.exact = FindSet(&w, &report);
    if (!report.exact)
        RelaxActive(&w);
    SolveFirm(&w);
    return report;
}
