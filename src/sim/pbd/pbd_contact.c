// Contact with colliders: skin vertices are pushed to the surface, and friction takes back as much of the slip since
// the start of the substep as Coulomb's law grants for the push so far.

#include "sim/pbd/pbd.h"
#include "contact/collider.h"

#include <math.h>
#include <string.h>

typedef struct ContactLoop
{
    snwSim* sim;
    const snwBody* body;
    snwPbdBody state;
    snwPbdScratch* scratch;
    int vertexCount; // contact vertices
    int collider;
} ContactLoop;

static snwVec3 Row(const float* rows, int index)
{
    const float* row = rows + 4 * (size_t)index;
    return (snwVec3){row[0], row[1], row[2]};
}

static void SetRow(float* rows, int index, snwVec3 v)
{
    float* row = rows + 4 * (size_t)index;
    row[0] = (float)v.x;
    row[1] = (float)v.y;
    row[2] = (float)v.z;
}

// push[0..2]: sum of normal corrections; push[3]: friction spent, m
static snwVec3 Friction(float* push, snwVec3 slip, snwVec3 normal, double coefficient)
{
    slip = snwVec3_MulAdd(slip, -snwVec3_Dot(slip, normal), normal);
    double length = snwVec3_Length(slip);
    double granted = coefficient * snwVec3_Length((snwVec3){push[0], push[1], push[2]}) - (double)push[3];
    if (!(granted > 0.0) || !(length > 0.0))
        return (snwVec3){0, 0, 0};
    double taken = length < granted ? length : granted;
    push[3] += (float)taken;
    return snwVec3_Scale(slip, -taken / length);
}

static void ProjectVertices(int begin, int end, void* data)
{
    const ContactLoop* loop = data;
    const snwColliderDef* collider = &loop->sim->def->colliders[loop->collider];
    const snwMover* mover = &loop->sim->colliders[loop->collider];
    float* pushes = loop->scratch->pushes + 4 * (size_t)loop->collider * (size_t)loop->vertexCount;
    for (int i = begin; i < end; ++i)
    {
        int vertex = snwBody_ContactVertex(loop->body, i);
        float* position = loop->state.positions + 4 * (size_t)vertex;
        if (position[3] == 0.0f)
            continue;
        snwVec3 x = Row(loop->state.positions, vertex);
        snwTouch touch = snwCollider_Touch(collider, mover->transform, x);
        if (!(touch.depth > 0.0))
            continue;
        float* push = pushes + 4 * (size_t)i;
        snwVec3 correction = snwVec3_Scale(touch.normal, touch.depth);
        push[0] += (float)correction.x, push[1] += (float)correction.y, push[2] += (float)correction.z;
        x = snwVec3_Add(x, correction);
        snwVec3 slip = snwVec3_Sub(snwVec3_Sub(x, Row(loop->scratch->before, vertex)),
            snwCollider_Motion(mover->previous, mover->transform, x));
        SetRow(loop->state.positions, vertex, snwVec3_Add(x, Friction(push, slip, touch.normal, collider->friction)));
    }
}

void snwPbd_ProjectContacts(snwSim* sim, int index, bool first)
{
    const snwBody* body = &sim->bodies[index];
    ContactLoop loop = {.sim = sim,
        .body = body,
        .state = snwPbd_GetBody(sim, index),
        .scratch = sim->scratch,
        .vertexCount = snwBody_ContactVertexCount(body)};
    if (first)
        memset(loop.scratch->pushes, 0,
            (size_t)sim->def->colliderCount * (size_t)loop.vertexCount * 4 * sizeof *loop.scratch->pushes);
    for (loop.collider = 0; loop.collider < sim->def->colliderCount; ++loop.collider)
        snwParallelFor(sim->context, loop.vertexCount, 1024, ProjectVertices, &loop);
}

// The sum of corrections over h^2 is an acceleration: times the mass it is the contact's mean force.
void snwPbd_ReportContacts(snwSim* sim, int index, double h)
{
    const snwBody* body = &sim->bodies[index];
    snwPbdBody state = snwPbd_GetBody(sim, index);
    const snwPbdScratch* scratch = sim->scratch;
    int count = snwBody_ContactVertexCount(body);
    for (int c = 0; c < sim->def->colliderCount; ++c)
    {
        for (int i = 0; i < count; ++i)
        {
            const float* push = scratch->pushes + 4 * ((size_t)c * (size_t)count + (size_t)i);
            snwVec3 sum = {push[0], push[1], push[2]};
            double depth = snwVec3_Length(sum);
            if (!(depth > 0.0))
                continue;
            int vertex = snwBody_ContactVertex(body, i);
            snwVec3 x = Row(state.positions, vertex), normal = snwVec3_Scale(sum, 1.0 / depth);
            double force = depth / (h * h * (double)state.velocities[4 * (size_t)vertex + 3]);
            snwContact contact = {.body = index, .vertex = vertex, .collider = c, .depth = (float)depth};
            SetRow(contact.position, 0, x);
            SetRow(contact.normal, 0, normal);
            SetRow(contact.force, 0, snwVec3_Scale(normal, force));
            snwSim_AddContact(sim, &contact);
        }
    }
}
