// PETSc's algebraic multigrids beside ours, through the program sinew-peer-petsc (bench/petsc), which is built where
// PETSc's headers are.

#pragma once

#include <stdbool.h>

// A symmetric matrix with both halves, three rows a vertex, and the same with other values.
typedef struct snwFemMatrix
{
    int rows;
    int *starts, *columns;
    double* values[2];
    double *b, *places; // [rows]
} snwFemMatrix;

enum
{
    snw_mostPetscPoints = 200
};

typedef struct snwPetscTime
{
    double setupMs, solveMs; // processor time, after the values have changed
    int iterations;          // 0: it did not converge
    int pointCount;          // after each iteration: time with set-up, and the energy norm of the error, of the start's
    double ms[snw_mostPetscPoints], errors[snw_mostPetscPoints];
} snwPetscTime;

typedef struct snwPetscTimes
{
    snwPetscTime gamgKept; // its interpolation stays, the Galerkin products are new
    snwPetscTime gamg;     // all of it new
    snwPetscTime hypre;
} snwPetscTimes;

// False when this machine does not have it or it fails; *why then says so.
bool snwMeasurePetsc(const snwFemMatrix* matrix, snwPetscTimes* times, const char** why);
