#include "skelfem_curves.h"

#include "skelfem_matrix.h"

#include "base/result.h"
#include "linalg/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double s_enough = 1e-6; // of the error at the start

enum
{
    snw_mostCycles = 30,
    snw_mostFactorRows = 60000 // of our own factor, in one thread
};

typedef struct Curves
{
    snwBenchRows* rows;
    const snwSkelfemCurvesDef* def;
    snwBenchFigure* figure;
    snwVec3 *exact, *scratch;
    double start; // norm of the solution
} Curves;

static void AddTime(Curves* curves, const char* method, double ms, const char* note)
{
    char name[48];
    snprintf(name, sizeof name, "%s, %s", curves->def->name, curves->def->h > 0 ? "h = 20 ms" : "static");
    snwBenchRow row = snwMakeBenchRow(name, method, "energy_ms");
    row.value = ms;
    row.n = 1;
    snprintf(row.note, sizeof row.note, "%.150s", note);
    snwBenchRows_Add(curves->rows, &row);
}

// Leaves the solution in stage->u.
static double MeasureOnce(snwFemStage* stage, snwGridSolver solver, double h, int iterations)
{
    double begin = snwCpuMs();
    snwFemStage_Assemble(stage, h);
    if (solver != snw_gridJacobi)
        snwFemStage_Refresh(stage);
    snwFemStage_Solve(stage, solver, 1e-12, iterations);
    return snwCpuMs() - begin;
}

// One of ours with more and more iterations, each time from the beginning: time of matrix, levels and solution.
static void AddOwn(Curves* curves, const char* method, snwGridSolver solver, int first, double factor, int most)
{
    snwFemStage* stage = curves->def->stage;
    snwBenchCurve* curve = snwBenchFigure_AddCurve(curves->figure, snw_curveOurs, method);
    double left = 1, ms = 0;
    int n = first;
    for (double exactly = first; n <= most && left > s_enough; exactly = fmax(exactly + 1, exactly * factor))
    {
        n = (int)exactly;
        ms = MeasureOnce(stage, solver, curves->def->h, n);
        for (int turn = 1; turn < 3 && ms < 100; ++turn) // short ones meet others' moments
            ms = fmin(ms, MeasureOnce(stage, solver, curves->def->h, n));
        left = snwFemStage_EnergyNorm(stage, stage->u, curves->exact, curves->scratch) / curves->start;
        snwBenchCurve_Add(curve, ms, left);
    }
    char note[64];
    snprintf(note, sizeof note, left <= s_enough ? "%d iterations" : "%d iterations left %.1e", n, left);
    AddTime(curves, method, left <= s_enough ? ms : NAN, note);
}

static void AddPetsc(Curves* curves, const char* method, const snwPetscTime* time)
{
    double ms = NAN;
    snwBenchCurve* curve = snwBenchFigure_AddCurve(curves->figure, snw_curveReference, method);
    for (int i = 0; i < time->pointCount; ++i)
    {
        snwBenchCurve_Add(curve, time->ms[i], time->errors[i]);
        if (isnan(ms) && time->errors[i] <= s_enough)
            ms = time->ms[i];
    }
    char note[64] = "did not get there";
    if (time->pointCount > 0)
        snprintf(note, sizeof note, "its last iteration left %.1e", time->errors[time->pointCount - 1]);
    AddTime(curves, method, ms, note);
}

// A direct solution is there all at once.
static void AddPoint(Curves* curves, const char* method, double ms, const char* why)
{
    snwBenchCurve* curve = ms > 0 ? snwBenchFigure_AddCurve(curves->figure, snw_curveReferenceDots, method) : NULL;
    if (curve != NULL)
        snwBenchCurve_Add(curve, ms, 1e-9);
    AddTime(curves, method, ms > 0 ? ms : NAN, ms > 0 ? "drawn at 1e-9" : why);
}

// ms: our own factor, made again with other values, and a solution; below 0: it failed.
static double MeasureCholesky(const Curves* curves)
{
    snwFemMatrix matrix;
    snwSparse lower = {0};
    snwCholesky* factor = NULL;
    snwCholeskyScratch* scratch = NULL;
    double ms = -1;
    if (snwFemMatrix_Make(&matrix, curves->def->stage, curves->def->h) && snwFemMatrix_MakeLower(&matrix, &lower))
    {
        snwCholeskyDef def = snwDefaultCholeskyDef();
        def.matrix = &lower;
        double* x = calloc((size_t)lower.rows + 1, sizeof *x);
        if (x != NULL && snwCholesky_Create(curves->def->stage->context, &def, &factor, NULL) >= 0 &&
            snwCholeskyScratch_Create(factor, &scratch, NULL) >= 0)
        {
            double begin = snwCpuMs();
            memcpy(x, matrix.b, (size_t)lower.rows * sizeof *x);
            if (snwCholesky_Refactor(factor, &lower, NULL) >= 0)
            {
                snwCholesky_Solve(factor, scratch, snwRows_Double(x, 1, 1));
                ms = snwCpuMs() - begin;
            }
        }
        free(x);
    }
    snwCholeskyScratch_Destroy(scratch);
    snwCholesky_Destroy(factor);
    free(lower.starts), free(lower.indices), free(lower.values);
    snwFemMatrix_Free(&matrix);
    return ms;
}

// How much stiffer flesh is than inertia, at most: K / (4 M / h^2).
static void AddStiffness(snwBenchRows* rows, const snwSkelfemCurvesDef* def)
{
    snwFemStage* stage = def->stage;
    const int* rowOf = snwGridLevels_RowOf(stage->levels);
    double most = 0;
    snwFemStage_Assemble(stage, def->h);
    const double* diagonal = snwMultigrid_Matrix(stage->grid).diagonal;
    for (int v = 0; v < stage->body->vertexCount; ++v)
    {
        const double* d = diagonal + 9 * (size_t)rowOf[v];
        most = fmax(most, (d[0] + d[4] + d[8]) / (3 * stage->added[v]) - 1);
    }
    snwBenchRows_AddValue(rows, def->name, "skelfem", "stiffness_ratio", most);
}

void snwAddSkelfemCurves(snwBenchRows* rows, const snwSkelfemCurvesDef* def)
{
    size_t count = (size_t)def->stage->body->vertexCount;
    char name[48], title[96];
    snprintf(title, sizeof title, "%s, %s: energy norm of the error over time", def->name,
        def->h > 0 ? "h = 20 ms" : "static");
    snprintf(name, sizeof name, "fig5-%.24s-%s", def->name, def->h > 0 ? "20ms" : "static");
    for (char* c = name; *c != 0; ++c)
        if (*c == ' ' || *c == ',')
            *c = '-';
    Curves curves = {.rows = rows,
        .def = def,
        .figure = snwBenchReport_AddFigure(rows->report, name, title),
        .exact = calloc(count, sizeof(snwVec3)),
        .scratch = calloc(2 * count, sizeof(snwVec3))};
    if (curves.exact == NULL || curves.scratch == NULL || curves.figure == NULL)
        rows->result = snwFailMemory(rows->message);
    else
    {
        snprintf(curves.figure->xLabel, sizeof curves.figure->xLabel, "processor time (ms, powers of ten)");
        snprintf(curves.figure->yLabel, sizeof curves.figure->yLabel, "error, of the start's (powers of ten)");
        curves.figure->logX = curves.figure->logY = true;
        snwFemStage_Assemble(def->stage, def->h);
        snwFemStage_Refresh(def->stage);
        snwFemStage_Solve(def->stage, snw_gridGradients, 1e-12, 1000);
        memcpy(curves.exact, def->stage->u, count * sizeof(snwVec3));
        curves.start = snwFemStage_EnergyNorm(def->stage, curves.exact, NULL, curves.scratch);
        AddOwn(&curves, "mgcg", snw_gridGradients, 1, 1.15, 3 * snw_mostCycles);
        AddOwn(&curves, "mg", snw_gridCycles, 1, 1.3, 4 * snw_mostCycles);
        AddOwn(&curves, "jacobi_cg", snw_gridJacobi, 50, 2.2, def->large ? 1000 : 6000);
        static const snwPetscTime s_none;
        AddPetsc(&curves, "petsc_gamg_kept", def->petsc != NULL ? &def->petsc->gamgKept : &s_none);
        AddPetsc(&curves, "petsc_gamg", def->petsc != NULL ? &def->petsc->gamg : &s_none);
        AddPetsc(&curves, "hypre", def->petsc != NULL ? &def->petsc->hypre : &s_none);
        AddPoint(&curves, "cholmod", def->cholmodMs, "CHOLMOD is not here, or its factor does not fit into memory");
        bool small = 3 * count < snw_mostFactorRows;
        AddPoint(&curves, "cholesky", small ? MeasureCholesky(&curves) : -1,
            "too many unknowns for one thread of our factor");
        if (def->h > 0)
            AddStiffness(rows, def);
    }
    free(curves.exact), free(curves.scratch);
}
