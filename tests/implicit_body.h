// A small elastic body for tests of the implicit step: a mesh with all the numbers that the laws want.

#pragma once

#include "base/arena.h"
#include "geom/shapes.h"
#include "sim/pbcd/implicit.h"

#define SNW_BODY_MU     4e4 // Pa
#define SNW_BODY_LAMBDA 6e4 // Pa

enum
{
    snw_bodyRows = 24 // room for rows
};

// Which energies a body has.
typedef enum snwBodyLaw
{
    snw_bodyNetwork, // edges and volumes
    snw_bodyNeo,
    snw_bodyStrain,
    snw_bodyLawCount
} snwBodyLaw;

typedef struct snwImplicitBody
{
    snwContext* context;
    snwArena arena;
    snwTetMesh mesh;
    int (*edges)[2];
    int edgeCount;
    snwVec3 *x, *targets, *reference, *rows;
    double *weights, *masses;
    bool* held;
    double *lengths, *edgeStiffness, *volumes, *volumeStiffness, *tetVolumes, *mu, *lambda;
    snwMat3* inverses;
    double stiffness[1][6][6];
    int* kinds;
    snwImplicit* implicit;
    snwImplicitStep step;
    snwImplicitReport report;
    snwMessage message;
} snwImplicitBody;

// All of it from a mesh (which is kept), at rest, without weights; then the law. False: the test has failed.
bool snwImplicitBody_OpenMesh(snwContext* context, snwTetMesh mesh, snwImplicitBody* body);
bool snwImplicitBody_Finish(snwImplicitBody* body, snwBodyLaw law, int rowCount);
// Both, of a bar of 45 vertices along x, 0.4 m long.
bool snwImplicitBody_OpenBar(snwContext* context, snwBodyLaw law, int rowCount, snwImplicitBody* body);
void snwImplicitBody_Close(snwImplicitBody* body);
snwResult snwImplicitBody_Solve(snwImplicitBody* body);

void snwImplicitBody_SetWeights(snwImplicitBody* body, double h); // masses / h^2
void snwImplicitBody_LetFall(snwImplicitBody* body, double h);    // held at the left end, from rest

double snwLargestGap(const snwVec3* a, const snwVec3* b, int count);
snwVec3 snwRandomVector(uint64_t* seed);                 // in -1 .. 1
void snwRandomStiffness(uint64_t* seed, double c[6][6]); // symmetric, positive definite, nothing alike
snwMat3 snwInverseOf(const snwVec3 corners[4]);          // Dm^-1
