// IPOPT, loaded while running: neither its headers nor its library are needed to build. The few functions of its C
// interface (version 3) that we call are declared here.

#include "truth_parts.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

typedef struct IpoptProblemInfo* IpoptProblem;
typedef int EvalValue(int n, double* x, int isNew, double* value, void* user);
typedef int EvalGradient(int n, double* x, int isNew, double* gradient, void* user);
typedef int EvalRows(int n, double* x, int isNew, int m, double* rows, void* user);
typedef int EvalJacobian(
    int n, double* x, int isNew, int m, int count, int* rowOf, int* columnOf, double* values, void* user);
typedef int EvalHessian(int n, double* x, int isNew, double scale, int m, double* multipliers, int areNew, int count,
    int* rowOf, int* columnOf, double* values, void* user);
typedef int EachIteration(int mode, int iteration, double value, double violation, double residual, double mu,
    double change, double regularization, double alphaDual, double alphaPrimal, int trials, void* user);

typedef struct Api
{
    IpoptProblem (*create)(int n, double* lower, double* upper, int m, double* rowLower, double* rowUpper,
        int jacobianCount, int hessianCount, int style, EvalValue*, EvalRows*, EvalGradient*, EvalJacobian*,
        EvalHessian*);
    void (*free)(IpoptProblem);
    int (*setText)(IpoptProblem, const char* name, const char* value);
    int (*setNumber)(IpoptProblem, const char* name, double value);
    int (*setInt)(IpoptProblem, const char* name, int value);
    int (*setEachIteration)(IpoptProblem, EachIteration*);
    int (*solve)(IpoptProblem, double* x, double* rows, double* value, double* multipliers, double* lower,
        double* upper, void* user);
} Api;

// The library stays loaded: its own libraries keep threads and tables.
static bool FindApi(Api* api)
{
    void* library = dlopen("libipopt.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    struct
    {
        const char* name;
        void* into;
    } const all[] = {
        {"CreateIpoptProblem", &api->create},
        {"FreeIpoptProblem", &api->free},
        {"AddIpoptStrOption", &api->setText},
        {"AddIpoptNumOption", &api->setNumber},
        {"AddIpoptIntOption", &api->setInt},
        {"SetIntermediateCallback", &api->setEachIteration},
        {"IpoptSolve", &api->solve},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    {
        *(void**)all[i].into = dlsym(library, all[i].name);
        if (*(void**)all[i].into == NULL)
            return false;
    }
    // Several threads of its BLAS are slower on fronts this small.
    void (*setThreads)(int) = NULL;
    *(void**)&setThreads = dlsym(library, "openblas_set_num_threads");
    if (setThreads != NULL)
        setThreads(1);
    return true;
}

bool snwTruth_IsAvailable(void)
{
    Api api;
    return FindApi(&api);
}

// ---------------------------------------------------------------------------------------------------------------------
// Callbacks

typedef struct Run
{
    snwTruth* truth;
    snwVec3* work; // one per vertex
    int iterations;
} Run;

static int Value(int n, double* x, int isNew, double* value, void* user)
{
    (void)n, (void)isNew;
    Run* run = user;
    *value = snwTruth_Value(run->truth, x, run->work);
    return isfinite(*value);
}

static int Gradient(int n, double* x, int isNew, double* gradient, void* user)
{
    (void)n, (void)isNew;
    Run* run = user;
    snwTruth_Gradient(run->truth, x, run->work, gradient);
    return 1;
}

static int Rows(int n, double* x, int isNew, int m, double* rows, void* user)
{
    (void)n, (void)isNew, (void)m;
    Run* run = user;
    snwTruth_Rows(run->truth, x, rows);
    return 1;
}

// Without values IPOPT asks for the places; the point is then NULL.
static int Jacobian(
    int n, double* x, int isNew, int m, int count, int* rowOf, int* columnOf, double* values, void* user)
{
    (void)n, (void)isNew, (void)m, (void)count;
    Run* run = user;
    snwTruth_Jacobian(run->truth, x != NULL ? x : run->truth->start, (snwTruthEntries){0, rowOf, columnOf, values});
    return 1;
}

static void HessianPlaces(const snwSparse* matrix, int* rowOf, int* columnOf)
{
    for (int row = 0; row < matrix->rows; ++row)
        for (int i = matrix->starts[row]; i < matrix->starts[row + 1]; ++i)
        {
            rowOf[i] = row;
            columnOf[i] = matrix->indices[i];
        }
}

static int Hessian(int n, double* x, int isNew, double scale, int m, double* multipliers, int areNew, int count,
    int* rowOf, int* columnOf, double* values, void* user)
{
    (void)n, (void)isNew, (void)m, (void)areNew;
    Run* run = user;
    const snwSparse* matrix = snwPattern_Matrix(run->truth->hessian);
    if (values == NULL)
        return HessianPlaces(matrix, rowOf, columnOf), 1;
    snwTruth_Hessian(run->truth, x, scale, multipliers, run->work);
    memcpy(values, matrix->values, (size_t)count * sizeof *values);
    return 1;
}

static int CountIteration(int mode, int iteration, double value, double violation, double residual, double mu,
    double change, double regularization, double alphaDual, double alphaPrimal, int trials, void* user)
{
    (void)mode, (void)value, (void)violation, (void)residual, (void)mu, (void)change;
    (void)regularization, (void)alphaDual, (void)alphaPrimal, (void)trials;
    ((Run*)user)->iterations = iteration;
    return 1;
}

// ---------------------------------------------------------------------------------------------------------------------

typedef struct Vectors
{
    double *x, *lower, *upper;   // unknowns
    double *rows, *multipliers;  // constraints
    double *gradient, *jacobian; // for the check
    int *rowOf, *columnOf;
    int jacobianCount;
} Vectors;

static bool AllocateVectors(const snwTruth* truth, snwArena* arena, Vectors* v)
{
    size_t n = (size_t)truth->variableCount, m = (size_t)snwTruth_RowCount(truth);
    v->jacobianCount = snwTruth_Jacobian(truth, truth->start, (snwTruthEntries){0});
    v->x = snwArena_Copy(arena, truth->start, n, sizeof(double));
    v->lower = snwArena_Alloc(arena, n, sizeof(double));
    v->upper = snwArena_Alloc(arena, n, sizeof(double));
    v->rows = snwArena_Alloc(arena, m, sizeof(double));
    v->multipliers = snwArena_Alloc(arena, m, sizeof(double));
    v->gradient = snwArena_Alloc(arena, n, sizeof(double));
    v->jacobian = snwArena_Alloc(arena, (size_t)v->jacobianCount, sizeof(double));
    v->rowOf = snwArena_Alloc(arena, (size_t)v->jacobianCount, sizeof(int));
    v->columnOf = snwArena_Alloc(arena, (size_t)v->jacobianCount, sizeof(int));
    for (size_t i = 0; i < n && !arena->failed; ++i)
    {
        v->lower[i] = -1e20; // IPOPT's word for none
        v->upper[i] = 1e20;
    }
    return !arena->failed;
}

static bool SetOptions(const Api* api, IpoptProblem problem)
{
    return api->setInt(problem, "print_level", 0) && api->setText(problem, "sb", "yes") &&
           api->setText(problem, "option_file_name", "") && api->setText(problem, "linear_solver", "mumps") &&
           api->setText(problem, "nlp_scaling_method", "none") && api->setNumber(problem, "tol", 1e-10) &&
           api->setNumber(problem, "constr_viol_tol", 1e-11) && api->setInt(problem, "acceptable_iter", 0) &&
           api->setInt(problem, "max_iter", 1000) && api->setEachIteration(problem, CountIteration);
}

// Our own look at the result: the gradient of the Lagrangian and the rows.
static void Check(Run* run, Vectors* v, snwTruthReport* report)
{
    const snwTruth* truth = run->truth;
    snwTruth_Gradient(truth, v->x, run->work, v->gradient);
    snwTruth_Jacobian(truth, v->x, (snwTruthEntries){0, v->rowOf, v->columnOf, v->jacobian});
    for (int i = 0; i < v->jacobianCount; ++i)
        v->gradient[v->columnOf[i]] += v->jacobian[i] * v->multipliers[v->rowOf[i]];
    for (int i = 0; i < truth->variableCount; ++i)
        report->residual = fmax(report->residual, fabs(v->gradient[i]));
    snwTruth_Rows(truth, v->x, v->rows);
    for (int i = 0; i < snwTruth_RowCount(truth); ++i)
        report->violation = fmax(report->violation, fabs(v->rows[i]));
    report->objective = snwTruth_Value(truth, v->x, run->work);
    report->iterations = run->iterations;
}

static snwResult Solve(const Api* api, Run* run, Vectors* v, snwTruthReport* report, snwMessage* message)
{
    snwTruth* truth = run->truth;
    int m = snwTruth_RowCount(truth), hessianCount = snwSparse_Count(snwPattern_Matrix(truth->hessian));
    // The rows are all equal to zero: their bounds are the zeros of v->rows, which IPOPT copies.
    IpoptProblem problem = api->create(truth->variableCount, v->lower, v->upper, m, v->rows, v->rows, v->jacobianCount,
        hessianCount, 0, Value, Rows, Gradient, Jacobian, Hessian);
    if (problem == NULL || !SetOptions(api, problem))
        return snwFail(message, snw_errorUnsupported, NULL, "IPOPT did not take the problem or its options");
    double start = snwClock_Seconds();
    int status = api->solve(problem, v->x, NULL, NULL, v->multipliers, NULL, NULL, run);
    report->seconds = snwClock_Seconds() - start;
    api->free(problem);
    Check(run, v, report);
    // Solved, or as far as the numbers go: then our own check decides.
    if (status == 0 || (report->residual < 1e-8 && report->violation < 1e-10))
        return snw_ok;
    return snwFail(message, snw_errorDiverged, NULL, "IPOPT did not converge: status %d, residual %.3g, violation %.3g",
        status, report->residual, report->violation);
}

snwResult snwTruth_Solve(snwTruth* truth, snwTruthState* next, snwTruthReport* report, snwMessage* message)
{
    Api api;
    *report = (snwTruthReport){0};
    if (!FindApi(&api))
        return snwFail(message, snw_errorUnsupported, "install coinor-libipopt1v5 (make bench-deps)",
            "IPOPT 3 is not on this machine");
    snwArena arena = {.context = truth->context};
    Run run = {truth, snwArena_Alloc(&arena, (size_t)truth->vertexCount, sizeof *run.work), 0};
    Vectors vectors;
    bool good = AllocateVectors(truth, &arena, &vectors) && !arena.failed;
    snwResult result = good ? Solve(&api, &run, &vectors, report, message) : snwFailMemory(message);
    if (result >= 0)
        snwTruth_ToState(truth, vectors.x, next);
    snwArena_Free(&arena);
    return result;
}
