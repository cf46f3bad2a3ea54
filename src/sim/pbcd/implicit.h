// An implicit step, solved to the end: the truth that position-based sweeps are measured by, and, with the
// orthogonality constraint and few iterations, complementary dynamics (Zhang, Bang, Levin, Jacobson 2020).
//
//     min over x   sum_i a_i / 2 |x_i - y_i|^2 + sum_c U_c(x)      subject to   sum_i rows_ki . (x_i - r_i) = 0, all k
//
// U_c, in J, with F = Ds inverse(Dm), Ds and Dm the matrices whose columns are corners 1 2 3 less corner 0, now and at
// rest:
//     edge     k/2 (|x_i - x_j| - l)^2
//     volume   k/2 (det Ds - w)^2, det Ds = six times the signed volume
//     strain   V/2 (e - e0)^T C (e - e0), e = (E_00, E_11, E_22, 2 E_12, 2 E_02, 2 E_01), E = (F^T F - I) / 2
//     neo      V (mu/2 (|F|^2 - 3) - mu (det F - 1) + (lambda + mu)/2 (det F - 1)^2)
// The last is the law of sim/constraints/neo_hookean.h but for a constant: with lambda + mu before the square, mu and
// lambda are Lame's parameters at small strain.
//
// Newton's method with a line search, all in double. What belongs together is made once (the pattern of the matrix, its
// ordering, memory); numbers are read anew by each Solve, so that rest shapes may move along:
//
//   snwImplicitDef def = {.vertexCount = n, .edgeCount = m, .edges = edges, .rowCount = 12};
//   snwImplicit* implicit;  snwImplicit_Create(context, &def, &implicit, message);
//   snwImplicitStep step = snwDefaultImplicitStep();
//   step.weights = a, step.targets = y, step.lengths = l, step.edgeStiffness = k, ...
//   snwImplicit_Solve(implicit, &step, x, &report, message);      // again and again, no heap

#pragma once

#include "base/context.h"
#include "rig/complement.h"

typedef struct snwImplicit snwImplicit;

// What does not change. Copied; any of the lists may be empty.
typedef struct snwImplicitDef
{
    int vertexCount;
    int edgeCount;
    const int (*edges)[2];
    int volumeCount;
    const int (*volumes)[4];
    int strainCount;
    const int (*strains)[4];
    int neoCount;
    const int (*neos)[4];
    int rowCount; // the most rows that a step has, up to some hundred; the time grows with this number
} snwImplicitDef;

// A step. Arrays are read during the call only, those of empty lists not at all.
typedef struct snwImplicitStep
{
    const double* weights;  // a_i, kg/s^2, >= 0: mass / h^2, and springs to points
    const snwVec3* targets; // y_i, m
    const bool* held;       // NULL: none. Held vertices are at y_i, whatever they weigh

    const double* lengths;         // l, m
    const double* edgeStiffness;   // k, N/m
    const double* volumes;         // w = six times the rest volume, m^3
    const double* volumeStiffness; // k, J/m^6

    const snwMat3* strainInverses;         // Dm^-1, 1/m
    const double* strainVolumes;           // V, m^3
    const double (*strainStiffness)[6][6]; // C, Pa, symmetric, positive semidefinite: one per entry of strains ...
    const int* strainKinds;                // ... or, if not NULL, strainStiffness[strainKinds[i]]
    const double (*strainRests)[6];        // e0; NULL: none

    const snwMat3* neoInverses; // Dm^-1, 1/m
    const double* neoVolumes;   // V, m^3
    const double* neoMu;        // Pa, one per entry of neos
    const double* neoLambda;    // Pa, finite: Poisson's ratio below 0.5

    int rowCount;        // 0 .. rowCount of the def
    const snwVec3* rows; // [rowCount][vertexCount]: J^T M, any unit. Held vertices count as zero, rows that say the
                         // same twice or nothing do no harm
    const snwVec3* reference; // r_i, m: the skinned shape
    bool sameRows;            // rows, weights and held are those of the Solve before: saves making them orthogonal

    double tolerance;  // of the residual, see snwImplicitReport
    int maxIterations; // Newton steps; ending here is no error (complementary dynamics: 2 a frame)
} snwImplicitStep;

snwImplicitStep snwDefaultImplicitStep(void); // tolerance 1e-9, 100 iterations

typedef struct snwImplicitReport
{
    bool converged;    // residual <= tolerance, or as far as rounding goes
    int iterations;    // Newton steps that were taken
    int exactSteps;    // of these, with the true Hessian; others with every element's part made semidefinite
    int factors;       // factorisations, those that failed too
    double residual;   // |gradient - what the constraint bears| / the sum of the sizes of the forces that make it up;
                       // about 1 where all forces are rounding, as at rest
    double energy;     // J, the objective
    double start;      // J, the objective before, once the constraint was met
    double constraint; // |rows (x - r)| / |rows| |x - r|, in the metric of the weights
} snwImplicitReport;

// Indices out of range: snw_errorArgument.
snwResult snwImplicit_Create(snwContext* context, const snwImplicitDef* def, snwImplicit** out, snwMessage* message);
void snwImplicit_Destroy(snwImplicit* implicit); // NULL allowed

// x[vertexCount]: in a guess (held vertices need none), out the best point that was found, also after an error. First
// x is moved, weighted by a, to meet the constraint (free vertices with rows need a > 0).
//   snw_ok             converged, or maxIterations were taken: ask the report
//   snw_warning        nothing lowers the objective though the residual is above the tolerance
//   snw_errorDiverged  numbers that are not finite, or no factor: nothing holds the body
snwResult snwImplicit_Solve(
    snwImplicit* implicit, const snwImplicitStep* step, snwVec3* x, snwImplicitReport* report, snwMessage* message);

// The objective at x with its gradient (N, NULL: not wanted), held vertices included; for tests and plots.
double snwImplicit_Objective(snwImplicit* implicit, const snwImplicitStep* step, const snwVec3* x, snwVec3* gradient);

// ---------------------------------------------------------------------------------------------------------------------
// Rows of a rig: J^T M of rig/complement.h, so that x - r is what no handle could do.

typedef struct snwImplicitRig
{
    snwComplementKind kind;
    int vertexCount;
    const snwVec3* rest;         // m
    const double* masses;        // kg
    const snwWeights* weights;   // of linear blending
    const snwTransform* handles; // what takes the rest pose to now; not read for affine
} snwImplicitRig;

// 6 or 12 per handle.
int snwImplicitRig_RowCount(const snwImplicitRig* rig);
// rows[RowCount][vertexCount]. No heap. Those of affine handles are the same in all poses: see sameRows.
void snwImplicitRig_MakeRows(const snwImplicitRig* rig, snwVec3* rows);
