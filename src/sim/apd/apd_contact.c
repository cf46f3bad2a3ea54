// Contacts and drags: forces that are found together with the motion.
//
// The pushes l of all contacts solve  C0 + W l >= 0, l >= 0, complementary, W = N^T A^-1 N. W is never made: after a
// global step with the pushes so far, every contact changes its push by gap times a mass, which is a projected gradient
// step in l. It must not be longer than 1 / |W|; apd_system.c finds out how much more than its own mass the factor
// shows at a vertex. What a contact carried is where it begins in the next substep, so a body at rest stays there.
// Friction and pairs of bodies go the same way (contact/solve.c).
//
// A drag is a spring to the hand. With z the compliance at its vertex, strength s in (0, 1) stands for the stiffness
// s / ((1 - s) z): the vertex goes s of the way to the hand, whatever its mass.

#include "sim/apd/apd.h"
#include "sim/scene.h"

#include <math.h>
#include <string.h>

snwResult snwApd_CreateContacts(snwSim* sim, snwMessage* message)
{
    size_t bodies = (size_t)sim->bodyCount;
    int* counts = snwAllocArray(sim->context, 2 * bodies + 1, sizeof *counts);
    if (counts == NULL)
        return snwFailMemory(message);
    for (size_t i = 0; i < bodies; ++i)
    {
        const snwApdModel* model = sim->bodies[i].model;
        counts[i] = model->touchCount;
        counts[bodies + i] = model->vertexCount;
    }
    snwResponseDef def = {.context = sim->context,
        .arena = &sim->arena,
        .scene = sim->def,
        .colliders = sim->scene->colliders,
        .vertexCounts = counts,
        .rowCounts = counts + bodies,
        .self = snwSim_Param(sim, snw_apdSelf) != 0.0};
    snwResult result = snwCreateResponse(&def, &((snwApdScratch*)sim->scratch)->response, message);
    snwFree(sim->context, counts);
    return result;
}

static void SetRow(float* rows, int index, snwVec3 v)
{
    float* row = rows + 4 * (size_t)index;
    row[0] = (float)v.x;
    row[1] = (float)v.y;
    row[2] = (float)v.z;
}

// Further than a part of an element in one substep.
static bool IsWild(const snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    double most = 0.0;
    for (int i = 0; i < body->model->touchCount; ++i)
    {
        int v = snwBody_ContactVertex(&sim->bodies[index], i);
        snwVec3 d = snwVec3_Sub(snwApd_GetState(sim, index).positions[v], body->before[v]);
        most = fmax(most, snwVec3_LengthSquared(d));
    }
    return most > 0.0625 * body->model->meanEdge * body->model->meanEdge;
}

static bool TouchesNothing(const snwSim* sim)
{
    return sim->def->colliderCount + sim->def->propCount == 0 && sim->bodyCount == 1 &&
           snwSim_Param(sim, snw_apdSelf) == 0.0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Drags

static void PullDrag(snwSim* sim, int slot)
{
    const snwGrab* grab = &sim->grabs[slot];
    snwApdBody* body = snwApd_Body(sim, grab->body);
    snwApdState state = snwApd_GetState(sim, grab->body);
    double z = body->dragCompliance[slot], strength = fmin(grab->value, 0.999);
    if (!(z > 0.0) || body->pinned[grab->vertex])
        return;
    double spring = (1.0 - strength) * z / strength; // m/N
    snwVec3 pull = state.drags[slot];
    snwVec3 gap = snwVec3_Sub(grab->vector, state.positions[grab->vertex]);
    snwVec3 change = snwVec3_Scale(snwVec3_MulAdd(gap, -spring, pull), 1.0 / (spring + z));
    state.drags[slot] = snwVec3_Add(pull, change);
}

static void AddDrags(snwSim* sim, int index)
{
    snwApdState state = snwApd_GetState(sim, index);
    for (int i = 0; i < sim->grabCount && i < snw_apdMaxDrags; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        snwVec3* force = &snwApd_Body(sim, index)->contact[grab->vertex >= 0 ? grab->vertex : 0];
        if (grab->kind == snw_grabDrag && grab->body == index && grab->value > 0.0)
            *force = snwVec3_Add(*force, state.drags[i]);
    }
}

// What a slot pulls is forgotten when nothing is dragged with it; compliances are found anew with every factor.
static void BeginDrags(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    for (int i = 0; i < sim->grabCount && i < snw_apdMaxDrags; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabDrag || grab->body != index)
        {
            state.drags[i] = (snwVec3){0, 0, 0};
            body->dragVertices[i] = -1;
            continue;
        }
        if (body->dragVertices[i] != grab->vertex || body->dragSignatures[i] != body->signature)
            body->dragCompliance[i] = snwApd_Compliance(body, grab->vertex);
        body->dragVertices[i] = grab->vertex;
        body->dragSignatures[i] = body->signature;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Contacts

static void SetForces(snwSim* sim, double h)
{
    const snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    for (int b = 0; b < sim->bodyCount; ++b)
    {
        snwApdBody* body = snwApd_Body(sim, b);
        memset(body->contact, 0, (size_t)body->model->vertexCount * sizeof *body->contact);
        if (!TouchesNothing(sim))
            snwResponse_AddForces(response, b, h, body->contact);
        AddDrags(sim, b);
    }
}

static void ShowBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        SetRow(body->touchRows, i, state.positions[i]);
        body->touchRows[4 * (size_t)i + 3] = body->shownInverse[i];
    }
}

static void DescribeBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwCharacter* character = sim->bodies[index].character;
    const snwApdModel* model = body->model;
    snwApdState state = snwApd_GetState(sim, index);
    ShowBody(sim, index);
    for (int i = 0; i < model->vertexCount; ++i)
        SetRow(body->touchBefore, i, body->before[i]);
    ((snwApdScratch*)sim->scratch)->response->flesh[index] = (snwFlesh){.positions = body->touchRows,
        .before = body->touchBefore,
        .rowCount = model->vertexCount,
        .vertices = character->skinVertexCount > 0 ? character->skinVertices : NULL,
        .vertexCount = model->touchCount,
        .anchors = state.anchors,
        .loads = state.loads,
        .margin = 0.25 * model->meanEdge,
        .wild = IsWild(sim, index)};
}

void snwApd_GatherContacts(snwSim* sim, double h)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    for (int i = 0; i < sim->bodyCount; ++i)
        BeginDrags(sim, i);
    if (!TouchesNothing(sim))
    {
        for (int i = 0; i < sim->bodyCount; ++i)
            DescribeBody(sim, i);
        for (int i = 0; i < sim->def->colliderCount; ++i)
        {
            response->colliderNow[i] = sim->colliders[i].transform;
            response->colliderBefore[i] = sim->colliders[i].previous;
        }
        snwResponse_Predict(response, sim->props, sim->state->gravity, h);
        snwResponse_Gather(response);
        snwResponse_Seed(response, h);
    }
    SetForces(sim, h);
}

// The response moves floats; flesh takes over by how much. Bones have only their forces.
static void TakeMoves(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdState state = snwApd_GetState(sim, index);
    for (int i = 0; i < body->model->fleshCount; ++i)
    {
        int v = body->model->fleshVertices[i];
        const float* row = body->touchRows + 4 * (size_t)v;
        snwVec3 x = state.positions[v];
        snwVec3 d = {(double)row[0] - (double)(float)x.x, (double)row[1] - (double)(float)x.y,
            (double)row[2] - (double)(float)x.z};
        state.positions[v] = snwVec3_Add(x, d);
    }
}

void snwApd_SolveContacts(snwSim* sim, double h, bool fresh)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    for (int i = 0; i < sim->grabCount && i < snw_apdMaxDrags; ++i)
        if (sim->grabs[i].kind == snw_grabDrag && sim->grabs[i].value > 0.0)
            PullDrag(sim, i);
    if (!TouchesNothing(sim))
    {
        for (int i = 0; i < sim->bodyCount; ++i)
            ShowBody(sim, i);
        for (int i = 0; i < response->islandCount; ++i)
            snwResponse_Solve(response, i, fresh);
        for (int i = 0; i < sim->bodyCount; ++i)
            TakeMoves(sim, i);
    }
    SetForces(sim, h);
}

void snwApd_FinishContacts(snwSim* sim, double h)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    if (TouchesNothing(sim))
        return;
    for (int i = 0; i < sim->bodyCount; ++i)
        ShowBody(sim, i);
    snwResponse_Finish(response, sim->props, h);
    double keep = exp(-snwSim_Param(sim, snw_apdDrag) * h);
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        sim->props[i].velocity = snwVec3_Scale(sim->props[i].velocity, keep);
        sim->props[i].angularVelocity = snwVec3_Scale(sim->props[i].angularVelocity, keep);
    }
    sim->contactCount = snwResponse_Report(response, h, sim->contacts, sim->contactCapacity);
}
