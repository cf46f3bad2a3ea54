// sinew-peer-petsc: PETSc's algebraic multigrid on a matrix of ours, one process and one thread, at its best: smoothed
// aggregation that knows the rigid motions (GAMG), and hypre's BoomerAMG. Reads what bench/peer_petsc.c writes: the
// number of rows, two matrices of one pattern, a right side, the places of the vertices. Each solver is set up for the
// first and solves; then the values become the second's, as in the next step of a simulation, and setting up again and
// solving are timed (processor time). Filling the matrix is not counted. The fastest of a few turns is given, and for
// each iteration of it the time and what is left of the error in the norm of its energy, which is not counted either.

#define _POSIX_C_SOURCE 200809L // clock_gettime

#include <math.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Problem
{
    int rows;
    int *starts, *columns;
    double *values[2], *b, *places;
} Problem;

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

static void Fill(Mat matrix, const Problem* p, const double* values)
{
    for (int i = 0; i < p->rows; ++i)
        MatSetValues(matrix, 1, &i, p->starts[i + 1] - p->starts[i], p->columns + p->starts[i], values + p->starts[i],
            INSERT_VALUES);
    MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
}

static Vec MakeVector(int rows, const double* values)
{
    Vec v;
    VecCreateSeq(PETSC_COMM_SELF, rows, &v);
    VecSetBlockSize(v, 3);
    double* data;
    VecGetArray(v, &data);
    for (int i = 0; i < rows; ++i)
        data[i] = values[i];
    VecRestoreArray(v, &data);
    return v;
}

// What a solver does in a turn, iteration by iteration.
typedef struct Track
{
    Mat matrix;
    Vec exact, error, product;
    double start, out, scale; // ms: the time that looking took; 1 / norm of the solution
    int count, room;
    double *ms, *errors;
} Track;

static double EnergyNorm(Track* track, Vec x)
{
    PetscScalar square;
    VecWAXPY(track->error, -1, x, track->exact);
    MatMult(track->matrix, track->error, track->product);
    VecDot(track->error, track->product, &square);
    return square > 0 ? sqrt(square) : 0;
}

static PetscErrorCode Look(KSP solver, PetscInt iteration, PetscReal residual, void* data)
{
    (void)residual;
    Track* track = data;
    double now = Milliseconds();
    Vec x;
    if (iteration > 0 && track->count < track->room)
    {
        KSPBuildSolution(solver, NULL, &x);
        track->ms[track->count] = now - track->start - track->out;
        track->errors[track->count++] = EnergyNorm(track, x) * track->scale;
    }
    track->out += Milliseconds() - now;
    return 0;
}

typedef struct Solver
{
    Mat matrix;
    Vec b, x;
    KSP ksp;
    PC guess;
} Solver;

static void SetUp(Solver* s, const Problem* p, int values)
{
    Fill(s->matrix, p, p->values[values]);
    KSPSetOperators(s->ksp, s->matrix, s->matrix);
    KSPSetUp(s->ksp);
    PCSetUp(s->guess);
}

// exact: the second matrix's solution; made here by the first solver that is asked.
static void Measure(const Problem* p, const char* name, const char* settings, Vec* exact, int turns, int last)
{
    enum
    {
        most_points = 200
    };
    double points[2 * most_points], ms[most_points], errors[most_points], setupMs = 0, solveMs = 0;
    int count = 0;
    PetscOptions options;
    PetscOptionsCreate(&options);
    PetscOptionsPush(options);
    PetscOptionsInsertString(NULL, settings);

    Solver s;
    int* counts = malloc((size_t)p->rows * sizeof *counts);
    for (int i = 0; i < p->rows; ++i)
        counts[i] = p->starts[i + 1] - p->starts[i];
    MatCreateSeqAIJ(PETSC_COMM_SELF, p->rows, p->rows, 0, counts, &s.matrix);
    free(counts);
    MatSetBlockSize(s.matrix, 3);
    MatSetOption(s.matrix, MAT_SYMMETRIC, PETSC_TRUE);
    MatSetOption(s.matrix, MAT_SPD, PETSC_TRUE);
    Fill(s.matrix, p, p->values[0]);
    Vec places = MakeVector(p->rows, p->places);
    s.b = MakeVector(p->rows, p->b);
    MatNullSpace rigid;
    MatNullSpaceCreateRigidBody(places, &rigid);
    MatSetNearNullSpace(s.matrix, rigid);
    VecDuplicate(s.b, &s.x);

    KSPCreate(PETSC_COMM_SELF, &s.ksp);
    KSPSetType(s.ksp, KSPCG);
    KSPSetNormType(s.ksp, KSP_NORM_UNPRECONDITIONED);
    KSPSetOperators(s.ksp, s.matrix, s.matrix);
    KSPSetFromOptions(s.ksp);
    KSPGetPC(s.ksp, &s.guess);
    KSPSetTolerances(s.ksp, 1e-6, 1e-50, 1e10, 3000);
    SetUp(&s, p, 0);
    KSPSolve(s.ksp, s.b, s.x);
    if (*exact == NULL)
    {
        VecDuplicate(s.b, exact);
        SetUp(&s, p, 1);
        KSPSetTolerances(s.ksp, 1e-12, 1e-50, 1e10, 3000);
        KSPSolve(s.ksp, s.b, *exact);
        KSPSetTolerances(s.ksp, 1e-6, 1e-50, 1e10, 3000);
    }

    Track track = {.matrix = s.matrix, .exact = *exact, .room = most_points, .ms = ms, .errors = errors};
    VecDuplicate(s.b, &track.error);
    VecDuplicate(s.b, &track.product);
    VecSet(s.x, 0);
    track.scale = 1 / EnergyNorm(&track, s.x);
    KSPMonitorSet(s.ksp, Look, &track, NULL);
    for (int turn = 0; turn < turns; ++turn)
    {
        if (turn > 0)
            SetUp(&s, p, 0);
        Fill(s.matrix, p, p->values[1]);
        track.count = 0, track.out = 0;
        track.start = Milliseconds();
        KSPSetOperators(s.ksp, s.matrix, s.matrix);
        KSPSetUp(s.ksp);
        PCSetUp(s.guess);
        double ready = Milliseconds();
        KSPSolve(s.ksp, s.b, s.x);
        double all = Milliseconds() - track.start - track.out;
        if (turn > 0 && all >= setupMs + solveMs)
            continue;
        setupMs = ready - track.start, solveMs = all - setupMs, count = track.count;
        for (int i = 0; i < count; ++i)
            points[2 * i] = ms[i], points[2 * i + 1] = errors[i];
    }

    int iterations;
    KSPConvergedReason reason;
    KSPGetIterationNumber(s.ksp, &iterations);
    KSPGetConvergedReason(s.ksp, &reason);
    printf("\"%s\": {\"setup_ms\": %.17g, \"solve_ms\": %.17g, \"iterations\": %d, \"converged\": %s, \"points\": [",
        name, setupMs, solveMs, iterations, reason > 0 ? "true" : "false");
    for (int i = 0; i < 2 * count; ++i)
        printf("%s%.6g", i > 0 ? ", " : "", points[i]);
    printf("]}%s\n", last ? "" : ",");

    VecDestroy(&track.error);
    VecDestroy(&track.product);
    KSPDestroy(&s.ksp);
    MatNullSpaceDestroy(&rigid);
    VecDestroy(&places);
    VecDestroy(&s.b);
    VecDestroy(&s.x);
    MatDestroy(&s.matrix);
    PetscOptionsPop();
    PetscOptionsDestroy(&options);
}

int main(int argc, char** argv)
{
    if (PetscInitialize(&argc, &argv, NULL, NULL) != 0)
        return 1;
    Problem p = {0};
    int* rows = Read(1, sizeof *rows);
    p.rows = *rows;
    size_t count = (size_t)p.rows;
    p.starts = Read(count + 1, sizeof(int));
    size_t entries = (size_t)p.starts[count];
    p.columns = Read(entries, sizeof(int));
    p.values[0] = Read(entries, sizeof(double));
    p.values[1] = Read(entries, sizeof(double));
    p.b = Read(count, sizeof(double));
    p.places = Read(count, sizeof(double));

    // Large ones take long enough to be timed once.
    int turns = p.rows < 200000 ? 3 : 1;
    Vec exact = NULL;
    printf("{\n");
    Measure(&p, "gamg_kept", "-pc_type gamg -pc_gamg_reuse_interpolation true", &exact, turns, 0);
    Measure(&p, "gamg", "-pc_type gamg", &exact, turns, 0);
    Measure(
        &p, "hypre", "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_strong_threshold 0.5", &exact, 1, 1);
    printf("}\n");
    VecDestroy(&exact);
    return 0;
}
