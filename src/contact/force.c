// Contact forces for methods whose matrix is constant: normal force with a memory of what has to be carried, friction
// with one of what sticks (force.h has the formulas and why they are stable).

#include "contact/force.h"

#include <math.h>

static const double s_mostStiffness = 0.25; // of m / h^2
static const double s_damping = 0.5;        // of m / h: the most
static const double s_learning = 0.4;       // of the stiffness and the square root of k h^2 / m

static snwVec3 Across(snwVec3 v, snwVec3 normal)
{
    return snwVec3_MulAdd(v, -snwVec3_Dot(v, normal), normal);
}

static snwVec3 CutToFriction(snwVec3 force, double push, snwFriction friction)
{
    double length = snwVec3_Length(force);
    return length > friction.fixed * push ? snwVec3_Scale(force, friction.kinetic * push / length) : force;
}

static snwVec3 FindForce(
    const snwForceStep* step, const snwContactPoint* point, const snwForceInput* input, snwForceMemory* memory)
{
    double most = s_mostStiffness * input->mass / (step->h * step->h), k = fmin(step->stiffness, most);
    double part = sqrt(k / most), c = s_damping * input->mass / step->h, stop = part * c;
    double push = fmax(0.0, memory->push - k * point->gap - stop * snwVec3_Dot(input->velocity, point->normal));
    memory->push = fmax(0.0, memory->push - 0.5 * part * s_learning * k * point->gap);
    // Far apart, what was learned is of no use.
    if (point->gap > 0.0 && push == 0.0)
        *memory = (snwForceMemory){0};
    snwVec3 slip = Across(input->velocity, point->normal), held = Across(memory->drag, point->normal);
    snwVec3 drag = CutToFriction(snwVec3_MulAdd(held, -c, slip), push, point->friction);
    memory->drag = CutToFriction(snwVec3_MulAdd(held, -k * step->h, slip), push, point->friction);
    return snwVec3_MulAdd(drag, push, point->normal);
}

void snwContact_Forces(const snwForceStep* step, const snwContactPoint* points, const snwForceInput* inputs,
    snwForceMemory* memories, snwVec3* forces, int count)
{
    for (int i = 0; i < count; ++i)
        forces[i] = FindForce(step, &points[i], &inputs[i], &memories[i]);
}
