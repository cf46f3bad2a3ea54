// Contacts and drags: forces that are found together with the motion.
//
// The pushes l of all contacts solve  C0 + W l >= 0, l >= 0, complementary, with friction, where W = N^T A^-1 N and C0
// are the gaps that the global step would leave. contact/solve.c relaxes them against W, which apd_columns.c knows.
// Bones count as affine there, which yields a little more than rigid ones on joints: pushes are never too large, and
// the next iteration has the rest.
//
// The next right side carries the pushes; after the last iteration one more sweep does, so flesh inside follows its
// skin.
//
// A drag is the spring of grip.h, made implicit with z, the compliance of what it holds: with K its stiffness, damping
// included, a pull F that leaves the gap g changes by (g - F / K) / (1 / K + z), within its limit. On a single vertex
// strength s in (0, 1) stands for K = s / ((1 - s) z): it goes s of the way to the hand, whatever its mass.

#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

// Is there nothing in the scene that could touch or be touched?
static bool TouchesNothing(const snwSim* sim)
{
    return sim->def->colliderCount + sim->def->propCount == 0 && sim->bodyCount == 1 &&
           snwSim_Param(sim, snw_apdSelf) == 0.0;
}

// The linearised step of `constrained` has another matrix than the factor, and softer: its contacts move their own
// vertices only.
static bool HasAnswer(const snwApdBody* body)
{
    return body->model->solver != snw_apdConstrained;
}

snwResult snwApd_CreateContacts(snwSim* sim, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwApdBody* body = snwApd_Body(sim, i);
        size_t n = (size_t)body->model->vertexCount;
        body->contact = snwArena_Alloc(&sim->arena, n, sizeof *body->contact);
        body->contactBefore = snwArena_Alloc(&sim->arena, n, sizeof *body->contactBefore);
        body->touchRows = snwArena_Alloc(&sim->arena, n, 4 * sizeof(float));
        body->touchBefore = snwArena_Alloc(&sim->arena, n, 4 * sizeof(float));
        if (HasAnswer(body) && !TouchesNothing(sim))
            snwApd_CreateColumns(sim, i);
    }
    if (sim->arena.failed)
        return snwFailMemory(message);
    snwApdScratch* scratch = sim->scratch;
    return snwSim_CreateResponse(sim, snwSim_Param(sim, snw_apdSelf) != 0.0, &scratch->response, message);
}

// ---------------------------------------------------------------------------------------------------------------------
// Drags

// The grip of the drag in this slot, NULL: there is none on this body.
static snwGrip* DragOf(const snwSim* sim, int slot, int index)
{
    return slot < snw_apdMaxDrags ? snwSim_GetGrip(sim, slot, index) : NULL;
}

static snwVec3 MiddleOfGrip(const snwGrip* grip, const snwVec3* positions)
{
    snwVec3 sum = {0, 0, 0};
    for (int i = 0; i < grip->count; ++i)
        sum = snwVec3_MulAdd(sum, grip->parts[i].share, positions[grip->parts[i].vertex]);
    return sum;
}

static void PullDrags(snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        snwGrip* grip = DragOf(sim, slot, index);
        if (grip == NULL || !(body->dragCompliance[slot] > 0.0))
            continue;
        double z = body->dragCompliance[slot], strength = fmin(sim->grabs[slot].value, 0.999);
        double spring = grip->radius > 0.0f ? 1.0 / grip->stiffness : (1.0 - strength) * z / strength; // m/N
        snwVec3 gap = snwGrip_Gap(sim, slot, MiddleOfGrip(grip, body->state.positions));
        snwGrip_Pull(grip, snwVec3_Scale(snwVec3_MulAdd(gap, -spring, grip->pull), 1.0 / (spring + z)));
    }
}

static void AddDrags(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        const snwGrip* grip = DragOf(sim, slot, index);
        for (int i = 0; grip != NULL && i < grip->count; ++i)
        {
            snwVec3* force = &body->contact[grip->parts[i].vertex];
            *force = snwVec3_MulAdd(*force, grip->parts[i].share, grip->pull);
        }
    }
}

// Compliances are found anew with every factor, which knows what is pinned and what weighs how much. A pull begins with
// what the way of inertia asks for: what it was in the last substep would lag behind, and a spring that lags gains
// energy.
static void BeginDrags(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        snwGrip* grip = DragOf(sim, slot, index);
        if (grip == NULL)
            continue;

        for (int i = 0; i < grip->count; ++i)
        {
            snwGripPart* part = &grip->parts[i];
            part->share = body->pinned[part->vertex] ? 0.0 : (double)part->bump * body->masses[part->vertex];
        }

        bool holds = snwGrip_Weigh(sim, slot, h);
        if (holds)
            snwGrip_Begin(sim, slot, MiddleOfGrip(grip, body->before), body->before[grip->vertex]);

        // Only what is held and by which factor changes a compliance.
        if (body->dragGrips[slot] != grip->made || body->dragSignatures[slot] != body->signature)
            body->dragCompliance[slot] = holds ? snwApd_Compliance(body, grip) : 0.0;
        body->dragGrips[slot] = grip->made;
        body->dragSignatures[slot] = body->signature;
    }
    PullDrags(sim, index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Contacts

static void SetForces(snwSim* sim, double h)
{
    snwApdScratch* scratch = sim->scratch;
    scratch->touched = scratch->bonesTouched = false;
    for (int b = 0; b < sim->bodyCount; ++b)
    {
        snwApdBody* body = snwApd_Body(sim, b);
        memset(body->contact, 0, (size_t)body->model->vertexCount * sizeof *body->contact);
        if (!TouchesNothing(sim))
            snwResponse_AddForces(scratch->response, b, h, body->contact);
        AddDrags(sim, b);
        for (int i = 0; i < body->model->vertexCount && !scratch->bonesTouched; ++i)
        {
            bool touched = snwVec3_LengthSquared(body->contact[i]) > 0.0;
            scratch->touched |= touched;
            scratch->bonesTouched |= touched && body->model->boneOf[i] >= 0;
        }
    }
}

static void ShowApdBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        snwRow_SetPlace(body->touchRows, i, *sim->bodies[index].origin, body->state.positions[i]);
        body->touchRows[4 * (size_t)i + 3] = body->shownInverse[i];
    }
}

static void DescribeBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    ShowApdBody(sim, index);
    for (int i = 0; i < body->model->vertexCount; ++i)
        snwRow_SetPlace(body->touchBefore, i, *sim->bodies[index].origin, body->before[i]);
    snwTouchDef touch = {.positions = body->touchRows,
        .before = body->touchBefore,
        .anchors = body->state.anchors,
        .answer = HasAnswer(body) ? &body->columns.answer : NULL};
    snwSim_DescribeBody(sim, ((snwApdScratch*)sim->scratch)->response, index, &touch);
}

void snwApd_GatherContacts(snwSim* sim, double h)
{
    for (int i = 0; i < sim->bodyCount; ++i)
        BeginDrags(sim, i, h);
    if (!TouchesNothing(sim))
    {
        for (int i = 0; i < sim->bodyCount; ++i)
        {
            if (HasAnswer(snwApd_Body(sim, i)))
                snwApd_BeginColumns(snwApd_Body(sim, i));
            DescribeBody(sim, i);
        }
        snwSim_GatherContacts(sim, ((snwApdScratch*)sim->scratch)->response, h);
    }
    SetForces(sim, h);
}

// The response moves floats; flesh takes over by how much. Bones have only their forces.
static void TakeApdMoves(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int k = 0; k < body->model->fleshCount; ++k)
    {
        int v = body->model->fleshVertices[k];
        snwVec3* x = &body->state.positions[v];
        snwVec3 shown = snwVec3_Rounded(snwVec3_Sub(*x, *sim->bodies[index].origin));
        *x = snwVec3_Add(*x, snwVec3_Sub(snwRow_Get(body->touchRows, v), shown));
    }
    body->evaluated = false;
}

// Until no contact moves its point by a thousandth of an edge any more; things that lie on each other pass their errors
// on, so there it is a tenth of that.
static void RelaxIsland(snwSim* sim, int island, bool fresh)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    int first = response->islandStarts[island], end = response->islandStarts[island + 1];
    double enough = INFINITY, moved = INFINITY;
    for (int i = first; i < end; ++i)
        if (response->islandMembers[i] < sim->bodyCount)
            enough = fmin(enough, sim->bodies[response->islandMembers[i]].character->meanEdge);
    enough *= end - first > 1 ? 1e-4 : 1e-3;
    for (int k = 0; k < snw_apdContactSweeps && moved > enough; ++k)
        moved = snwResponse_Solve(response, island, fresh && k == 0);
}

void snwApd_SolveContacts(snwSim* sim, double h, bool fresh)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;

    // Drags first; contacts see the body with them.
    for (int i = 0; i < sim->bodyCount; ++i)
        PullDrags(sim, i);
    if (!TouchesNothing(sim))
    {
        // Where the factor answers, pushes spread through its columns; else contacts move their own vertices, and flesh
        // takes that over.
        for (int i = 0; i < sim->bodyCount; ++i)
            ShowApdBody(sim, i);
        for (int i = 0; i < sim->bodyCount; ++i)
            if (HasAnswer(snwApd_Body(sim, i)))
                snwApd_Activate(sim, i, h);
        for (int i = 0; i < response->islandCount; ++i)
            RelaxIsland(sim, i, fresh);
        for (int i = 0; i < sim->bodyCount; ++i)
            if (!HasAnswer(snwApd_Body(sim, i)))
                TakeApdMoves(sim, i);
    }

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwApdBody* body = snwApd_Body(sim, i);
        memcpy(body->contactBefore, body->contact, (size_t)body->model->vertexCount * sizeof *body->contact);
    }

    SetForces(sim, h);
}

// Whatever relaxation left, inside a solid or off its place, goes there alone: nothing ever comes through a wall, and
// what sticks does not creep. Bones stay as they are: they cannot move point by point.
void snwApd_MoveOut(snwSim* sim)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    if (TouchesNothing(sim))
        return;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwApdBody* body = snwApd_Body(sim, i);
        ShowApdBody(sim, i);
        for (int v = 0; v < body->model->vertexCount; ++v)
            if (body->model->boneOf[v] >= 0)
                body->touchRows[4 * (size_t)v + 3] = 0.0f;
        response->flesh[i].answer = NULL;
    }
    for (int i = 0; i < 4 * response->islandCount; ++i) // some rounds: a vertex may touch two solids
        snwResponse_Solve(response, i % response->islandCount, false);
    for (int i = 0; i < sim->bodyCount; ++i)
        TakeApdMoves(sim, i);
}

bool snwApd_IsTouched(const snwSim* sim)
{
    return ((const snwApdScratch*)sim->scratch)->touched;
}

void snwApd_FinishContacts(snwSim* sim, double h)
{
    if (TouchesNothing(sim))
        return;
    snwSim_FinishContacts(sim, ((snwApdScratch*)sim->scratch)->response, snwSim_Param(sim, snw_apdDrag), h);
}
