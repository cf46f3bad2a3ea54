// What rig_pass.h needs of flat flesh whose handles only move and turn. A substep of a character of the plane has some
// thirty microseconds, so this is made for speed alone:
//   - vertices stay in their order, 64 to a group. Sorted by handles, there would be fewer weights, but rows of the
//     flesh would have to be looked up and transposed one by one, which costs more than the weights do;
//   - all vertices of a group have all handles of the group, with weights of 0 (a tenth of all), so that loops are long
//     and without cases, and lanes are added up once in 64 vertices;
//   - handles that only move (corners of cages) have two numbers, x and y, in place of four;
//   - of flesh in rows of place and move, which is how a substep has it, sums within a group are float, about the
//     group's first vertex; from group to group they are double. That loses some 1e-9 of the size, about what is lost
//     when place and move are added up. Sums of places are double throughout.
// The lanes of eight vertices are the even ones, then the odd ones: that is how rows that follow each other come out of
// a transpose with the fewest steps.

#pragma once

#include "base/context.h"
#include "math/vec.h"

enum
{
    SNW_FLAT_GROUP = 64, // vertices
    SNW_FLAT_NUMBERS = 4 // of a handle
};

typedef struct snwFlatGroup
{
    _Alignas(64) float position[2][SNW_FLAT_GROUP]; // p = xb - centre, m, by lane
    float mass[SNW_FLAT_GROUP];                     // kg; 0 in lanes beyond the last vertex
    int vertex;                                     // the first one
    int first;                                      // of handles, weights, masses and anchors
    int turning, moving;                            // so many that turn, then so many that only move
} snwFlatGroup;

typedef struct snwFlatPass
{
    int vertexCount, groupCount;
    snwFlatGroup* groups;                   // by the number of handles, so that loops are as long as the one before
    double (*positions)[2][SNW_FLAT_GROUP]; // p of each group
    int* handles;
    float (*weights)[SNW_FLAT_GROUP];       // 0 in lanes beyond the last vertex
    double (*masses)[SNW_FLAT_GROUP];       // kg, weights times mass; likewise
    double (*anchors)[2][SNW_FLAT_NUMBERS]; // what an x of 1 m of the whole group adds to the sums, and a y
} snwFlatPass;

typedef struct snwFlatPassDef
{
    int vertexCount;
    const snwVec3* rest;         // m
    const double* masses;        // kg
    const snwWeights* weights;   // a row per vertex
    const unsigned char* moving; // by handle: it only moves. NULL: none does
    snwVec3 centre;              // m
} snwFlatPassDef;

// False: no memory. What was made is left to Free.
bool snwFlatPass_Create(snwContext* context, const snwFlatPassDef* def, snwFlatPass* pass);
void snwFlatPass_Free(snwContext* context, snwFlatPass* pass);
