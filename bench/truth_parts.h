// What the files of the IPOPT truth share; see truth.h.

#pragma once

#include "base/arena.h"
#include "linalg/sparse.h"
#include "truth.h"

// A tet of flesh and its corotated linear energy.
typedef struct snwTruthTet
{
    int corners[4];
    double volume;        // m^3, at rest
    double mu, lambda;    // Pa
    snwVec3 gradients[4]; // 1/m, of the shape functions: F = sum of x_a gradients_a^T
} snwTruthTet;

snwTruthTet snwTruthTet_Make(const snwVec3 rest[4], const snwMaterial* material);
double snwTruthTet_Energy(const snwTruthTet* tet, const snwVec3 x[4]);               // J
void snwTruthTet_Gradient(const snwTruthTet* tet, const snwVec3 x[4], double g[12]); // N: x y z of corner 0, ...
void snwTruthTet_Hessian(const snwTruthTet* tet, const snwVec3 x[4], double h[12][12]);

// A row of the constraints that is linear in the bones: sum of R_k (p - c_k) + z_k over its one or two points, one of
// them negative, less what is constant.
typedef struct snwTruthPoint
{
    int bones[2];  // the second is -1 for a point that is held in the world
    snwVec3 rest;  // m, in the rest pose
    snwVec3 world; // m, where it is held
} snwTruthPoint;

// The hinge's axis, fixed in bones[1], stays at a right angle to two directions fixed in bones[0] (-1: the world).
typedef struct snwTruthHinge
{
    int bones[2];
    snwVec3 axis, sides[2];
} snwTruthHinge;

enum
{
    snw_boneVariables = 12,                      // R by rows, then z
    snw_boneRows = 6,                            // of R^T R = I: 00 01 02 11 12 22
    snw_cornerVariables = 4 * snw_boneVariables, // at most, of the four corners of a tet
    snw_boneEntries = 30                         // lower triangles of (R_i0 R_i1 R_i2 z_i), i = 0 1 2
};

// Entries of a matrix, in a fixed order. Places or values may be NULL if they are not asked for.
typedef struct snwTruthEntries
{
    int count;
    int *rowOf, *columnOf;
    double* values;
} snwTruthEntries;

// Unknowns: x y z of every vertex of flesh that is not held, then twelve per bone.
struct snwTruth
{
    snwContext* context;
    snwArena arena;
    const snwCharacter* character;
    snwVec3 gravity;
    double step;
    int vertexCount, boneCount, variableCount;
    int* firsts;      // first unknown of a vertex of flesh; -1: held, or a bone's
    int* vertexBones; // -1: flesh
    snwVec3* targets; // of vertices
    bool* held;
    snwVec3* centres;        // of mass, of the bones
    double (*moments)[4][4]; // kg m^2 of (p - c, 1) of every bone
    snwVec3* aims;           // y, one per vertex
    double* start;           // unknowns of x_n
    snwTruthTet* tets;
    int tetCount;
    snwTruthPoint* points;
    int pointCount;
    snwTruthHinge* hinges;
    int hingeCount;
    snwPattern* hessian;
    double* contributions; // of the Hessian: tets, flesh, bones, hinges
};

int snwTruth_BoneFirst(const snwTruth* truth, int bone); // its first unknown
int snwTruth_RowCount(const snwTruth* truth);            // bones, points, hinges

void snwTruth_Positions(const snwTruth* truth, const double* variables, snwVec3* positions);
void snwTruth_ToVariables(const snwTruth* truth, const snwTruthState* state, double* variables);
void snwTruth_ToState(const snwTruth* truth, const double* variables, snwTruthState* state);

// Objective and constraints in the unknowns. work: one per vertex.
double snwTruth_Value(const snwTruth* truth, const double* variables, snwVec3* work);
void snwTruth_Gradient(const snwTruth* truth, const double* variables, snwVec3* work, double* gradient);
void snwTruth_Rows(const snwTruth* truth, const double* variables, double* rows);
int snwTruth_Jacobian(const snwTruth* truth, const double* variables, snwTruthEntries entries); // returns the count
// scale * Hessian of the objective + sum of multipliers * Hessians of the rows, in the pattern's matrix.
void snwTruth_Hessian(snwTruth* truth, const double* variables, double scale, const double* multipliers, snwVec3* work);
snwResult snwTruth_MakePattern(snwTruth* truth, snwMessage* message);
