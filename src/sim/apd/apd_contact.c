// Contacts and drags: forces that are found together with the motion.
//
// The pushes l of all contacts solve  C0 + W l >= 0, l >= 0, complementary, with friction, where W = N^T A^-1 N and C0
// are the gaps that the global step would leave. A is constant and scalar, so A^-1 between two vertices is one number
// that never changes: its columns for vertices that touch are found once, by sweeps with a unit right side, and kept.
// Then contact/solve.c relaxes all contacts against W (snwAnswer), at no cost that grows with the body. Bones count as
// affine here, which yields a little more than rigid ones on joints: pushes are never too large, and the next
// iteration has the rest.
//
// The next right side carries the pushes; after the last iteration one more sweep does, so flesh inside follows its
// skin.
//
// A drag is a spring to the hand. With z the compliance at its vertex, strength s in (0, 1) stands for the stiffness
// s / ((1 - s) z): the vertex goes s of the way to the hand, whatever its mass.

#include "sim/apd/apd.h"
#include "sim/scene.h"

#include <math.h>
#include <string.h>

static void CreateColumns(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdColumns* columns = &body->columns;
    size_t n = (size_t)body->model->vertexCount, fit = snw_apdColumnBytes / (n * sizeof(float) + 1);
    columns->capacity = (int)(fit < n ? fit : n) + 4;
    columns->slots = columns->capacity - 4 < snw_apdMaxActive ? columns->capacity - 4 : snw_apdMaxActive;
    columns->slotOf = snwArena_Alloc(&sim->arena, n, sizeof *columns->slotOf);
    columns->matrix = snwArena_Alloc(
        &sim->arena, (size_t)columns->slots * (size_t)columns->slots, sizeof *columns->matrix);
    columns->cached = snwArena_Alloc(&sim->arena, n, sizeof *columns->cached);
    columns->active = snwArena_Alloc(&sim->arena, (size_t)columns->slots, sizeof *columns->active);
    columns->numbers = snwArena_Alloc(&sim->arena, (size_t)columns->capacity * n, sizeof *columns->numbers);
    columns->marks = snwArena_Alloc(&sim->arena, n, 1);
    body->contactBefore = snwArena_Alloc(&sim->arena, n, sizeof *body->contactBefore);
    for (size_t i = 0; i < n && !sim->arena.failed; ++i)
        columns->slotOf[i] = columns->cached[i] = -1;
}

snwResult snwApd_CreateContacts(snwSim* sim, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount; ++i)
        CreateColumns(sim, i);
    if (sim->arena.failed)
        return snwFailMemory(message);
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

// Further than a part of an element in one substep: its inside may come out.
static bool IsWild(const snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    double most = 0.0;
    for (int i = 0; i < body->model->touchCount; ++i)
    {
        int v = snwBody_ContactVertex(&sim->bodies[index], i);
        most = fmax(most, snwVec3_LengthSquared(snwVec3_Sub(body->state.positions[v], body->before[v])));
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
    snwVec3 pull = body->dragForces[slot];
    snwVec3 gap = snwVec3_Sub(grab->vector, state.positions[grab->vertex]);
    snwVec3 change = snwVec3_Scale(snwVec3_MulAdd(gap, -spring, pull), 1.0 / (spring + z));
    body->dragForces[slot] = snwVec3_Add(pull, change);
}

static void AddDrags(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int i = 0; i < sim->grabCount && i < snw_apdMaxDrags; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind == snw_grabDrag && grab->body == index && grab->value > 0.0)
            body->contact[grab->vertex] = snwVec3_Add(body->contact[grab->vertex], body->dragForces[i]);
    }
}

static bool IsDrag(const snwSim* sim, int slot, int index)
{
    return sim->grabs[slot].kind == snw_grabDrag && sim->grabs[slot].body == index && sim->grabs[slot].value > 0.0;
}

// Compliances are found anew with every factor. A pull begins with what the way of inertia asks for: what it was in the
// last substep would lag behind, and a spring that lags gains energy.
static void BeginDrags(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int i = 0; i < sim->grabCount && i < snw_apdMaxDrags; ++i)
    {
        if (!IsDrag(sim, i, index))
            continue;
        int vertex = sim->grabs[i].vertex;
        if (body->dragVertices[i] != vertex || body->dragSignatures[i] != body->signature)
            body->dragCompliance[i] = snwApd_Compliance(body, vertex);
        body->dragVertices[i] = vertex;
        body->dragSignatures[i] = body->signature;
        body->dragForces[i] = (snwVec3){0, 0, 0};
        PullDrag(sim, i);
    }
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

static void ShowBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        SetRow(body->touchRows, i, body->state.positions[i]);
        body->touchRows[4 * (size_t)i + 3] = body->shownInverse[i];
    }
}

static void DescribeBody(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwCharacter* character = sim->bodies[index].character;
    const snwApdModel* model = body->model;
    ShowBody(sim, index);
    for (int i = 0; i < model->vertexCount; ++i)
        SetRow(body->touchBefore, i, body->before[i]);
    snwApdColumns* columns = &body->columns;
    columns->answer = (snwAnswer){.slotOf = columns->slotOf,
        .active = columns->active,
        .matrix = columns->matrix,
        .stride = (size_t)columns->slots};
    ((snwApdScratch*)sim->scratch)->response->flesh[index] = (snwFlesh){.positions = body->touchRows,
        .before = body->touchBefore,
        .rowCount = model->vertexCount,
        .vertices = character->skinVertexCount > 0 ? character->skinVertices : NULL,
        .vertexCount = model->touchCount,
        .anchors = body->state.anchors,
        .margin = 0.25 * model->meanEdge,
        .answer = model->solver != snw_apdConstrained ? &columns->answer : NULL,
        .wild = IsWild(sim, index)};
}

static void BeginColumns(snwApdBody* body)
{
    snwApdColumns* columns = &body->columns;
    for (int i = 0; i < columns->answer.activeCount; ++i)
        columns->slotOf[columns->active[i]] = -1;
    columns->answer.activeCount = 0;
    if (columns->signature == body->signature)
        return;
    columns->signature = body->signature;
    columns->count = 0;
    for (int i = 0; i < body->model->vertexCount; ++i)
        columns->cached[i] = -1;
}

void snwApd_GatherContacts(snwSim* sim, double h)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        BeginDrags(sim, i);
        BeginColumns(snwApd_Body(sim, i));
    }
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
    }
    SetForces(sim, h);
}

// ---------------------------------------------------------------------------------------------------------------------
// Columns of A^-1

// Up to four at a time.
static void FindColumns(snwApdBody* body, const int* vertices, int count, double h)
{
    snwApdColumns* columns = &body->columns;
    snwApd_Columns(body, vertices, count);
    for (int k = 0; k < count; ++k)
    {
        float* out = columns->numbers + (size_t)columns->count * (size_t)body->model->vertexCount;
        for (int i = 0; i < body->model->vertexCount; ++i)
            out[i] = (float)(snwApd_ReadColumn(body, k, i) / (h * h));
        columns->cached[vertices[k]] = columns->count++;
    }
}

// Columns of the new slots, old and new, are found four at a time. When there is no room all old ones go: they will be
// found again if they are needed, with the same bits.
static void FindMissing(snwApdBody* body, int first, double h)
{
    snwApdColumns* columns = &body->columns;
    int batch[4], waiting = 0, end = columns->answer.activeCount;
    for (int i = first; i < end; ++i)
    {
        if (columns->cached[columns->active[i]] < 0)
            batch[waiting++] = columns->active[i];
        if (waiting < 4 && (waiting == 0 || i + 1 < end))
            continue;
        if (columns->count + waiting > columns->capacity)
        {
            columns->count = 0;
            memset(columns->cached, -1, (size_t)body->model->vertexCount * sizeof *columns->cached);
            i = first - 1;
            waiting = 0;
            if (end - first > columns->capacity - 4)
                return; // cannot be: slots are fewer than columns
            continue;
        }
        FindColumns(body, batch, waiting, h);
        waiting = 0;
    }
}

static void FillMatrix(snwApdColumns* columns, size_t vertices, int first)
{
    size_t stride = (size_t)columns->slots;
    for (int i = first; i < columns->answer.activeCount; ++i)
    {
        const float* column = columns->numbers + (size_t)columns->cached[columns->active[i]] * vertices;
        for (int j = 0; j < columns->answer.activeCount; ++j)
            columns->matrix[(size_t)i * stride + (size_t)j] = columns->matrix[(size_t)j * stride + (size_t)i] =
                column[columns->active[j]];
    }
}

// Vertices that touch now take part in the relaxation from here to the end of the substep.
static void Activate(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdColumns* columns = &body->columns;
    memset(columns->marks, 0, (size_t)body->model->vertexCount);
    snwResponse_MarkTouching(((snwApdScratch*)sim->scratch)->response, index, columns->marks);
    int first = columns->answer.activeCount;
    for (int v = 0; v < body->model->vertexCount && columns->answer.activeCount < columns->slots; ++v)
        if (columns->marks[v] && columns->slotOf[v] < 0 && !body->pinned[v])
        {
            columns->slotOf[v] = columns->answer.activeCount;
            columns->active[columns->answer.activeCount++] = v;
        }
    FindMissing(body, first, h);
    FillMatrix(columns, (size_t)body->model->vertexCount, first);
}

// ---------------------------------------------------------------------------------------------------------------------

// The response moves floats; flesh takes over by how much. Bones have only their forces.
static void TakeMoves(snwApdBody* body)
{
    for (int k = 0; k < body->model->fleshCount; ++k)
    {
        int v = body->model->fleshVertices[k];
        const float* row = body->touchRows + 4 * (size_t)v;
        snwVec3* x = &body->state.positions[v];
        snwVec3 d = {(double)row[0] - (double)(float)x->x, (double)row[1] - (double)(float)x->y,
            (double)row[2] - (double)(float)x->z};
        *x = snwVec3_Add(*x, d);
    }
}

// The linearised step of `constrained` has another matrix than the factor, and softer: its contacts move their own
// vertices only.
static bool HasAnswer(const snwApdBody* body)
{
    return body->model->solver != snw_apdConstrained;
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
            enough = fmin(enough, snwApd_Body(sim, response->islandMembers[i])->model->meanEdge);
    enough *= end - first > 1 ? 1e-4 : 1e-3;
    for (int k = 0; k < snw_apdContactSweeps && moved > enough; ++k)
        moved = snwResponse_Solve(response, island, fresh && k == 0);
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
        for (int i = 0; i < sim->bodyCount; ++i)
            if (HasAnswer(snwApd_Body(sim, i)))
                Activate(sim, i, h);
        for (int i = 0; i < response->islandCount; ++i)
            RelaxIsland(sim, i, fresh);
        for (int i = 0; i < sim->bodyCount; ++i)
            if (!HasAnswer(snwApd_Body(sim, i)))
                TakeMoves(snwApd_Body(sim, i));
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
static void MoveOut(snwSim* sim)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwApdBody* body = snwApd_Body(sim, i);
        ShowBody(sim, i);
        for (int v = 0; v < body->model->vertexCount; ++v)
            if (body->model->boneOf[v] >= 0)
                body->touchRows[4 * (size_t)v + 3] = 0.0f;
        response->flesh[i].answer = NULL;
    }
    for (int i = 0; i < 4 * response->islandCount; ++i) // some rounds: a vertex may touch two solids
        snwResponse_Solve(response, i % response->islandCount, false);
    for (int i = 0; i < sim->bodyCount; ++i)
        TakeMoves(snwApd_Body(sim, i));
}

bool snwApd_IsTouched(const snwSim* sim)
{
    return ((const snwApdScratch*)sim->scratch)->touched;
}

void snwApd_FinishContacts(snwSim* sim, double h)
{
    snwResponse* response = ((snwApdScratch*)sim->scratch)->response;
    if (TouchesNothing(sim))
        return;
    MoveOut(sim);
    snwResponse_Finish(response, sim->props, h);
    double keep = exp(-snwSim_Param(sim, snw_apdDrag) * h);
    for (int i = 0; i < sim->def->propCount; ++i)
    {
        sim->props[i].velocity = snwVec3_Scale(sim->props[i].velocity, keep);
        sim->props[i].angularVelocity = snwVec3_Scale(sim->props[i].angularVelocity, keep);
    }
    sim->contactCount = snwResponse_Report(response, h, sim->contacts, sim->contactCapacity);
}
