// What rig_pass.h needs of flat flesh whose handles only move and turn. A substep of a character of the plane has some
// thirty microseconds, so this is made for speed alone:
//   - vertices stay in their order, 128 to a group. Sorted by handles, there would be fewer weights, but rows of the
//     flesh would have to be looked up and transposed one by one, which costs more than the weights do;
//   - all vertices of a group have all handles of the group, with weights of 0 (a tenth of all), so that loops are long
//     and without cases, and lanes are added up once in 128 vertices;
//   - weights of a vertex add up to one (weights.h wants 1e-6, and what is blended is a change): blending starts with
//     the map of the handle that most of a group hangs on, and adds how those of others differ from it;
//   - in groups whose handles all only move (corners of cages) these have two numbers, x and y, in place of four;
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
    SNW_FLAT_GROUP = 128,   // vertices
    SNW_FLAT_STEP = 32,     // lanes that are done at a time
    SNW_FLAT_NUMBERS = 4,   // of a handle
    SNW_FLAT_HANDLES = 256, // at most
    SNW_FLAT_BEYOND = 1     // weights that are read in company of the last ones
};

typedef struct snwFlatGroup
{
    _Alignas(64) float position[2][SNW_FLAT_GROUP]; // p = xb - centre, m, by lane
    float mass[SNW_FLAT_GROUP];                     // kg; 0 in lanes beyond the last vertex
    int vertex;                                     // the first one
    int lanes;                                      // that have vertices, and some to a multiple of SNW_FLAT_STEP
    int first, count; // of handles, weights, masses and anchors; the main handle is the last
    bool turns;       // some handle does
} snwFlatGroup;

typedef struct snwFlatPass
{
    int vertexCount, groupCount;
    snwFlatGroup* groups;
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
