// Contacts as forces, for methods whose matrix must stay constant (projective dynamics, FEM with a kept factor):
// nothing here enters the matrix, the forces go to the right side.
//
// A force that is fixed during a step is explicit, and a stiff spring would make it explode. So none is stiffer than
// the step allows. With m the mass that the method shows at the point (an implicit method shows more than the vertex's
// own)
//     a = k h^2 / m <= 1/4,   c = sqrt(k m),   f_n = max(0, l - k gap - c v_n),   l <- max(0, l - 0.4 sqrt(a) k gap)
// is stable for every k: the sum l learns what has to be carried, so that at rest f_n is the load and the gap is 0,
// whatever the stiffness. Friction is the same across the normal, cut to Coulomb's cone: what sticks is held by its
// sum.

#pragma once

#include "contact/response.h"

// What the solver knows of a contact point beside snwContactPoint.
typedef struct snwForceInput
{
    double mass;      // kg, of both sides together along the normal: 1 / (1 / m_a + 1 / m_b)
    snwVec3 velocity; // m/s, of the first side against the other
} snwForceInput;

// Between the steps of one contact; zeros to begin with. Belongs into the method's state.
typedef struct snwForceMemory
{
    double push;  // N
    snwVec3 drag; // N
} snwForceMemory;

typedef struct snwForceStep
{
    double h;         // s
    double stiffness; // N/m, wanted; INFINITY: as much as the step allows
} snwForceStep;

// Forces on the first sides, N; the other sides get the opposite.
void snwContact_Forces(const snwForceStep* step, const snwContactPoint* points, const snwForceInput* inputs,
    snwForceMemory* memories, snwVec3* forces, int count);
