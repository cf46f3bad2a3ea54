// Between a sim and contact/response.h: each substep it is told of bodies, colliders and props, and what it has found
// goes back as contacts and as the motion of props.

#include "sim/touch.h"
#include "sim/grip.h"
#include "sim/scene.h"

#include <math.h>

snwResult snwSim_CreateResponse(snwSim* sim, bool self, snwResponse** response, snwMessage* message)
{
    size_t bodies = (size_t)sim->bodyCount;
    int* counts = snwAllocArray(sim->context, 2 * bodies + 1, sizeof *counts);
    if (counts == NULL)
        return snwFailMemory(message);

    // Vertices that touch, then all of them.
    for (size_t i = 0; i < bodies; ++i)
    {
        counts[i] = sim->bodies[i].character->touchCount;
        counts[bodies + i] = sim->bodies[i].character->def.vertexCount;
    }

    snwResponseDef def = {.context = sim->context,
        .arena = &sim->arena,
        .scene = sim->def,
        .colliders = sim->scene->colliders,
        .vertexCounts = counts,
        .rowCounts = counts + bodies,
        .self = self};
    snwResult result = snwCreateResponse(&def, response, message);
    snwFree(sim->context, counts);

    return result;
}

// m, of the vertices that touch.
static double LongestTouchWay(const snwContactFlesh* flesh, const float* start)
{
    float most = 0.0f;
    for (int i = 0; i < flesh->vertexCount; ++i)
    {
        size_t at = 4 * (size_t)(flesh->vertices != NULL ? flesh->vertices[i] : i);
        const float *x = flesh->positions + at, *from = start + at;
        float d[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
        float length = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        most = length > most ? length : most;
    }
    return sqrt((double)most);
}

void snwSim_DescribeBody(snwSim* sim, snwResponse* response, int body, const snwTouchDef* def)
{
    const snwCharacter* character = sim->bodies[body].character;
    snwContactFlesh* flesh = &response->flesh[body];
    *flesh = (snwContactFlesh){.positions = def->positions,
        .before = def->before,
        .rowCount = character->def.vertexCount,
        .vertices = character->skinVertexCount > 0 ? character->skinVertices : NULL,
        .vertexCount = character->touchCount,
        .anchors = def->anchors,
        .margin = 0.25 * character->meanEdge,
        .size = snwVec3_Distance(character->lower, character->upper),
        .answer = def->answer,
        .origin = *sim->bodies[body].origin};
    flesh->wild = LongestTouchWay(flesh, def->before) > 0.25 * character->meanEdge; // its inside may come out
}

// Hands on props, between their free motion and contact: a drag takes the centre that share of its way which a drag of
// one vertex takes it in a substep, and what flesh or walls say against it comes after.
static void MoveHeldProps(const snwSim* sim, snwResponse* response, double h)
{
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->body != -1 || (grab->kind != snw_grabDrag && grab->kind != snw_grabPush))
            continue;
        snwPropMotion* motion = &response->props[grab->vertex];
        snwVec3 way = snwVec3_Sub(snwSim_DragPlace(sim, grab, 1), motion->transform.position);
        snwVec3 push = grab->kind == snw_grabPush ? snwVec3_Scale(snwSim_PushForce(sim, grab), h * h)
                                                  : snwVec3_Scale(way, grab->value * motion->mass.mass);
        snwProp_Push(motion, (snwVec3){0, 0, 0}, push);
    }
}

void snwSim_GatherContacts(snwSim* sim, snwResponse* response, double h)
{
    for (int i = 0; i < sim->def->colliderCount; ++i)
    {
        response->colliderNow[i] = sim->colliders[i].transform;
        response->colliderBefore[i] = sim->colliders[i].previous;
    }
    snwResponse_Predict(response, sim->props, sim->state->gravity, h);
    MoveHeldProps(sim, response, h);
    snwResponse_Gather(response);
}

bool snwSim_IsAlone(const snwSim* sim, const snwResponse* response, int body)
{
    const float* rows = response->flesh[body].positions;
    bool alone = !snwResponse_IsNear(response, body);
    for (int slot = 0; slot < sim->grabCount; ++slot)
        alone = alone && snwSim_GetGrip(sim, slot, body) == NULL;
    for (int i = 0; alone && i < response->flesh[body].rowCount; ++i)
        alone = rows[4 * (size_t)i + 3] > 0.0f;
    return alone;
}

void snwSim_CatchFlung(snwResponse* response, int body, const float* predicted)
{
    const snwContactFlesh* flesh = &response->flesh[body];
    if (LongestTouchWay(flesh, predicted) > flesh->margin)
        snwResponse_Catch(response, body);
}

void snwSim_FinishContacts(snwSim* sim, snwResponse* response, double drag, double h)
{
    snwResponse_Finish(response, sim->props, h);
    double keep = exp(-drag * h);
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        sim->props[i].velocity = snwVec3_Scale(sim->props[i].velocity, keep);
        sim->props[i].angularVelocity = snwVec3_Scale(sim->props[i].angularVelocity, keep);
    }
    sim->contactCount = snwResponse_Report(response, h, sim->contacts, sim->contactCapacity);
}
