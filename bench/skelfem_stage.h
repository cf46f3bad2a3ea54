// Bodies with a matrix of corotated elements and a grid over them, for the bench and the tests of skelfem.

#pragma once

#include "linalg/multigrid.h"
#include "sim/skelfem/corotated.h"

// The flesh of the paper's figures: E = 1 MPa, nu = 0.3, 1000 kg/m^3.
typedef struct snwFemBody
{
    int vertexCount, tetCount;
    snwVec3 *rest, *now; // m
    int* tets;           // [4 tetCount]
    double *mu, *lambda; // [tetCount] Pa
    double* masses;      // [vertexCount] kg
    unsigned char* held; // [vertexCount]
} snwFemBody;

// 1 m long, of so many cubes of six tetrahedra, bent by 1.5 and twisted by 1 rad, so that rotations differ everywhere.
// Its end at x = 0 is held. jitter: vertices are moved by so much of a cell, at random; 0: a lattice.
snwResult snwFemBody_MakeBar(snwFemBody* body, const int cells[3], double jitter, snwMessage* message);

// A built-in character of about so many tetrahedra, twisted by 0.6 rad along z, all its bones held.
snwResult snwFemBody_MakeCharacter(snwFemBody* body, const char* name, int tets, snwMessage* message);

void snwFemBody_SetPoisson(snwFemBody* body, double poisson);
void snwFemBody_Free(snwFemBody* body);

typedef struct snwFemStage
{
    snwContext* context; // the caller's
    const snwFemBody* body;
    snwGridLevels* levels;
    snwMultigrid* grid;
    snwCorotated* flesh;
    double* added;  // [vertexCount] 4 m / h^2, or nothing
    snwVec3 *f, *u; // weight, and what it does
} snwFemStage;

// unknowns: of a coarse vertex, 6 or 3.
snwResult snwFemStage_Open(snwFemStage* stage, snwContext* context, const snwFemBody* body, int unknowns,
    const snwMultigridDef* grid, snwMessage* message);
void snwFemStage_Close(snwFemStage* stage);

// The matrix of a step of h seconds, K + 4 M / h^2 as Newmark has it; 0: K alone.
void snwFemStage_Assemble(snwFemStage* stage, double h);
void snwFemStage_Refresh(snwFemStage* stage);
// Under the body's weight, to a residual of the matrix in double.
snwGridReport snwFemStage_Solve(snwFemStage* stage, snwGridSolver solver, double tolerance, int most);

// sqrt of (u - v) . A (u - v) over free vertices, A as it was assembled last. v NULL: zero. scratch: twice as many
// vectors as there are vertices.
double snwFemStage_EnergyNorm(snwFemStage* stage, const snwVec3* u, const snwVec3* v, snwVec3* scratch);

double snwCpuMs(void);    // of the process
double snwThreadMs(void); // of this thread
