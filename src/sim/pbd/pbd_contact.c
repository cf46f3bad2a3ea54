// Contacts: what the response module is told of the bodies, and what it tells the sim.

#include "sim/pbd/pbd.h"
#include "sim/scene.h"

#include <math.h>

snwResult snwPbd_CreateContacts(snwSim* sim, snwMessage* message)
{
    size_t bodies = (size_t)sim->bodyCount;
    int* counts = snwAllocArray(sim->context, 2 * bodies + 1, sizeof *counts);
    if (counts == NULL)
        return snwFailMemory(message);
    for (size_t i = 0; i < bodies; ++i)
    {
        const snwPbdModel* model = sim->bodies[i].model;
        counts[i] = model->touchCount;
        counts[bodies + i] = model->vertexCount;
    }
    snwResponseDef def = {.context = sim->context,
        .arena = &sim->arena,
        .scene = sim->def,
        .colliders = sim->scene->colliders,
        .vertexCounts = counts,
        .rowCounts = counts + bodies,
        .self = snwSim_Param(sim, snw_pbdSelf) != 0.0};
    snwResult result = snwCreateResponse(&def, &((snwPbdScratch*)sim->scratch)->response, message);
    snwFree(sim->context, counts);
    return result;
}

// Further than a part of an element in one substep.
static bool IsWild(const snwFlesh* flesh, double meanEdge)
{
    float most = 0.0f;
    for (int i = 0; i < flesh->vertexCount; ++i)
    {
        size_t at = 4 * (size_t)(flesh->vertices != NULL ? flesh->vertices[i] : i);
        const float *x = flesh->positions + at, *from = flesh->before + at;
        float d[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
        float length = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        most = length > most ? length : most;
    }
    return (double)most > 0.0625 * meanEdge * meanEdge;
}

void snwPbd_GatherContacts(snwSim* sim, double h)
{
    const snwPbdScratch* scratch = sim->scratch;
    snwResponse* response = scratch->response;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwCharacter* character = sim->bodies[i].character;
        const snwPbdModel* model = sim->bodies[i].model;
        snwPbdBody state = snwPbd_GetBody(sim, i);
        response->flesh[i] = (snwFlesh){.positions = state.positions,
            .before = scratch->before[i],
            .rowCount = model->vertexCount,
            .vertices = character->skinVertexCount > 0 ? character->skinVertices : NULL,
            .vertexCount = model->touchCount,
            .anchors = state.anchors,
            .margin = 0.25 * model->meanEdge};
        response->flesh[i].wild = IsWild(&response->flesh[i], model->meanEdge);
    }
    for (int i = 0; i < sim->def->colliderCount; ++i)
    {
        response->colliderNow[i] = sim->colliders[i].transform;
        response->colliderBefore[i] = sim->colliders[i].previous;
    }
    snwResponse_Predict(response, sim->props, sim->state->gravity, h);
    snwResponse_Gather(response);
}

void snwPbd_FinishContacts(snwSim* sim, double h)
{
    snwResponse* response = ((snwPbdScratch*)sim->scratch)->response;
    snwResponse_Finish(response, sim->props, h);
    double keep = exp(-snwSim_Param(sim, snw_pbdDrag) * h);
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        sim->props[i].velocity = snwVec3_Scale(sim->props[i].velocity, keep);
        sim->props[i].angularVelocity = snwVec3_Scale(sim->props[i].angularVelocity, keep);
    }
    sim->contactCount = snwResponse_Report(response, h, sim->contacts, sim->contactCapacity);
}
