// sinew-peer-petsc: PETSc's algebraic multigrid on a matrix of ours, one process and one thread, at its best: smoothed
// aggregation that knows the rigid motions (GAMG), and hypre's BoomerAMG. Reads what bench/peer_petsc.c writes: the
// number of rows, two matrices of one pattern, a right side, the places of the vertices. Each solver is set up for the
// first and solves; then the values become the second's, as in the next step of a simulation, and setting up again and
// solving are timed (processor time). Filling the matrix is not counted.

#define _POSIX_C_SOURCE 200809L // clock_gettime

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

static void Measure(const Problem* p, const char* name, const char* settings, int last)
{
    PetscOptions options;
    PetscOptionsCreate(&options);
    PetscOptionsPush(options);
    PetscOptionsInsertString(NULL, settings);

    int* counts = malloc((size_t)p->rows * sizeof *counts);
    for (int i = 0; i < p->rows; ++i)
        counts[i] = p->starts[i + 1] - p->starts[i];
    Mat matrix;
    MatCreateSeqAIJ(PETSC_COMM_SELF, p->rows, p->rows, 0, counts, &matrix);
    free(counts);
    MatSetBlockSize(matrix, 3);
    MatSetOption(matrix, MAT_SYMMETRIC, PETSC_TRUE);
    MatSetOption(matrix, MAT_SPD, PETSC_TRUE);
    Fill(matrix, p, p->values[0]);
    Vec places = MakeVector(p->rows, p->places), b = MakeVector(p->rows, p->b), x;
    MatNullSpace rigid;
    MatNullSpaceCreateRigidBody(places, &rigid);
    MatSetNearNullSpace(matrix, rigid);
    VecDuplicate(b, &x);

    KSP solver;
    PC guess;
    KSPCreate(PETSC_COMM_SELF, &solver);
    KSPSetType(solver, KSPCG);
    KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED);
    KSPSetTolerances(solver, 1e-6, 1e-50, 1e10, 3000);
    KSPSetOperators(solver, matrix, matrix);
    KSPSetFromOptions(solver);
    KSPGetPC(solver, &guess);
    KSPSetUp(solver);
    PCSetUp(guess);
    KSPSolve(solver, b, x);

    Fill(matrix, p, p->values[1]);
    double start = Milliseconds();
    KSPSetOperators(solver, matrix, matrix);
    KSPSetUp(solver);
    PCSetUp(guess);
    double ready = Milliseconds();
    KSPSolve(solver, b, x);
    double end = Milliseconds();
    int iterations;
    KSPConvergedReason reason;
    KSPGetIterationNumber(solver, &iterations);
    KSPGetConvergedReason(solver, &reason);
    printf("\"%s\": {\"setup_ms\": %.17g, \"solve_ms\": %.17g, \"iterations\": %d, \"converged\": %s}%s\n", name,
        ready - start, end - ready, iterations, reason > 0 ? "true" : "false", last ? "" : ",");

    KSPDestroy(&solver);
    MatNullSpaceDestroy(&rigid);
    VecDestroy(&places);
    VecDestroy(&b);
    VecDestroy(&x);
    MatDestroy(&matrix);
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

    printf("{\n");
    Measure(&p, "gamg_kept", "-pc_type gamg -pc_gamg_reuse_interpolation true", 0);
    Measure(&p, "gamg", "-pc_type gamg", 0);
    Measure(&p, "hypre", "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_strong_threshold 0.5", 1);
    printf("}\n");
    return 0;
}
