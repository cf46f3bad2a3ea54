// sinew-peer-siconos: Siconos' solvers on contact problems of ours. Reads what bench/peer_siconos.c writes: the number
// of problems; of each the number of contacts, coefficients of friction, W with its compliance, q, and impulses to
// start from. Prints one line of JSON: of each problem, by each solver, whether it was solved, the time of the
// processor, and the impulses.

#define _POSIX_C_SOURCE 200809L // clock_gettime, fdopen

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <fc3d_Solvers.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double Milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void* Read(size_t count, size_t size)
{
    void* data = malloc(count * size + 1);
    if (data == NULL || fread(data, size, count, stdin) != count)
        exit(1);
    return data;
}

typedef struct Problem
{
    int contacts;
    double *friction, *w, *q, *start;
} Problem;

// The fastest of three turns.
static void Solve(FILE* out, const Problem* p, const char* name, int solver, int iterations, double tolerance)
{
    size_t n = 3 * (size_t)p->contacts;
    double *impulses = malloc(n * sizeof(double)), *velocities = malloc(n * sizeof(double)), least = 1e30;
    double *w = malloc(n * n * sizeof(double)), *q = malloc(n * sizeof(double));
    int info = 1;
    if (impulses == NULL || velocities == NULL || w == NULL || q == NULL)
        exit(1);
    for (int turn = 0; turn < 3; ++turn)
    {
        memcpy(w, p->w, n * n * sizeof(double)), memcpy(q, p->q, n * sizeof(double));
        memcpy(impulses, p->start, n * sizeof(double)), memset(velocities, 0, n * sizeof(double));
        NumericsMatrix* matrix = NM_create_from_data(NM_DENSE, (int)n, (int)n, w);
        FrictionContactProblem* problem = frictionContactProblem_new_with_data(3, p->contacts, matrix, q, p->friction);
        SolverOptions* options = solver_options_create(solver);
        options->iparam[SICONOS_IPARAM_MAX_ITER] = iterations;
        options->dparam[SICONOS_DPARAM_TOL] = tolerance;
        double began = Milliseconds();
        info = fc3d_driver(problem, impulses, velocities, options);
        double ms = Milliseconds() - began;
        least = ms < least ? ms : least;
        solver_options_delete(options), free(options);
        free(problem), matrix->matrix0 = NULL, NM_clear(matrix), free(matrix);
    }
    fprintf(out, "\"%s\": {\"solved\": %s, \"ms\": %.9g, \"impulses\": [", name, info == 0 ? "true" : "false", least);
    for (size_t i = 0; i < n; ++i)
        fprintf(out, "%s%.17g", i > 0 ? ", " : "", impulses[i]);
    fprintf(out, "]}");
    free(impulses), free(velocities), free(w), free(q);
}

int main(void)
{
    int* count = Read(1, sizeof *count);
    // What the library prints goes elsewhere.
    FILE* out = fdopen(dup(STDOUT_FILENO), "w");
    if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
    fprintf(out, "{\"problems\": [");
    for (int i = 0; i < *count; ++i)
    {
        int* contacts = Read(1, sizeof *contacts);
        size_t n = 3 * (size_t)*contacts;
        Problem p = {.contacts = *contacts};
        p.friction = Read(n / 3, sizeof(double)), p.w = Read(n * n, sizeof(double));
        p.q = Read(n, sizeof(double)), p.start = Read(n, sizeof(double));
        fprintf(out, "%s{", i > 0 ? ", " : "");
        Solve(out, &p, "nsn_ac", SICONOS_FRICTION_3D_NSN_AC, 200, 1e-10);
        fprintf(out, ", ");
        Solve(out, &p, "nsgs", SICONOS_FRICTION_3D_NSGS, 100000, 1e-10);
        fprintf(out, "}");
        free(contacts), free(p.friction), free(p.w), free(p.q), free(p.start);
    }
    fprintf(out, "]}\n");
    free(count);
    return fclose(out) == 0 ? 0 : 1;
}
