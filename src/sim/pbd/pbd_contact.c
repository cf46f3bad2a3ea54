// Contact with colliders: skin vertices are pushed to the surface, and friction takes back as much of the slip since
// the start of the substep as Coulomb's law grants for the push so far.

#include "sim/pbd/pbd.h"
#include "contact/collider.h"
#include "sim/scene.h"

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

// What a vertex owes to one collider in this substep.
typedef struct Push
{
    float normal[3];   // m, sum of the corrections
    float spent;       // m, friction so far
    float friction[3]; // m, sum of its corrections
    float depth;       // m, the deepest before it was resolved
} Push;

_Static_assert(sizeof(Push) == snw_pbdPushFloats * sizeof(float), "the scratch array has room for it");

static void AddTo(float* sum, snwVec3 v)
{
    sum[0] += (float)v.x;
    sum[1] += (float)v.y;
    sum[2] += (float)v.z;
}

static snwVec3 Friction(Push* push, snwVec3 slip, snwVec3 normal, double coefficient)
{
    slip = snwVec3_MulAdd(slip, -snwVec3_Dot(slip, normal), normal);
    double length = snwVec3_Length(slip);
    snwVec3 pushed = {push->normal[0], push->normal[1], push->normal[2]};
    double granted = coefficient * snwVec3_Length(pushed) - (double)push->spent;
    if (!(granted > 0.0) || !(length > 0.0))
        return (snwVec3){0, 0, 0};
    double taken = length < granted ? length : granted;
    push->spent += (float)taken;
    return snwVec3_Scale(slip, -taken / length);
}

static void ProjectVertices(int begin, int end, void* data)
{
    const ContactLoop* loop = data;
    const snwCollider* collider = &loop->sim->scene->colliders[loop->collider];
    const snwMover* mover = &loop->sim->colliders[loop->collider];
    Push* pushes = (Push*)loop->scratch->pushes + (size_t)loop->collider * (size_t)loop->vertexCount;
    for (int i = begin; i < end; ++i)
    {
        int vertex = snwBody_ContactVertex(loop->body, i);
        float* position = loop->state.positions + 4 * (size_t)vertex;
        if (position[3] == 0.0f)
            continue;
        snwVec3 x = snwPbd_Row(loop->state.positions, vertex);
        snwTouch touch = snwCollider_Touch(collider, mover->transform, x);
        if (!(touch.depth > 0.0))
            continue;
        Push* push = &pushes[i];
        snwVec3 correction = snwVec3_Scale(touch.normal, touch.depth);
        push->depth = fmaxf(push->depth, (float)touch.depth);
        AddTo(push->normal, correction);
        x = snwVec3_Add(x, correction);
        snwVec3 slip = snwVec3_Sub(snwVec3_Sub(x, snwPbd_Row(loop->scratch->before, vertex)),
            snwCollider_Motion(mover->previous, mover->transform, x));
        snwVec3 friction = Friction(push, slip, touch.normal, collider->def.friction);
        AddTo(push->friction, friction);
        snwPbd_SetRow(loop->state.positions, vertex, snwVec3_Add(x, friction));
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
        memset(loop.scratch->pushes, 0, (size_t)sim->def->colliderCount * (size_t)loop.vertexCount * sizeof(Push));
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
            const Push* push = (const Push*)scratch->pushes + (size_t)c * (size_t)count + (size_t)i;
            snwVec3 sum = {push->normal[0], push->normal[1], push->normal[2]};
            double length = snwVec3_Length(sum);
            if (!(length > 0.0))
                continue;
            int vertex = snwBody_ContactVertex(body, i);
            double perLength = 1.0 / (h * h * (double)state.velocities[4 * (size_t)vertex + 3]);
            snwVec3 all = snwVec3_Add(sum, (snwVec3){push->friction[0], push->friction[1], push->friction[2]});
            snwContact contact = {.body = index, .vertex = vertex, .collider = c, .depth = push->depth};
            snwPbd_SetRow(contact.position, 0, snwPbd_Row(state.positions, vertex));
            snwPbd_SetRow(contact.normal, 0, snwVec3_Scale(sum, 1.0 / length));
            snwPbd_SetRow(contact.force, 0, snwVec3_Scale(all, perLength));
            snwSim_AddContact(sim, &contact);
        }
    }
}
