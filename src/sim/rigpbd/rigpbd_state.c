// The state of a body: its place in the block, its start, what commands change; and the work arrays beside it.

#include "math/eigen.h"
#include "sim/layout.h"
#include "sim/rigpbd/rigpbd.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Layout

static size_t RigpbdRowCount(const snwRigpbdModel* model)
{
    return (size_t)model->vertexCount + snw_blockLanes;
}

static snwRigpbdState LayOutRigpbdState(const snwRigpbdModel* model, snwLayout* layout)
{
    const snwCharacter* character = model->character;
    size_t rows = RigpbdRowCount(model), row = 4 * sizeof(float), handles = (size_t)model->handleCount;
    snwRigpbdState state;
    state.positions = snwLayout_Take(layout, rows, row);
    state.velocities = snwLayout_Take(layout, rows, row);
    state.pose = snwLayout_Take(layout, handles, sizeof *state.pose);
    state.answer = snwLayout_Take(layout, handles, sizeof *state.answer);
    state.handles = snwLayout_Take(layout, handles, sizeof *state.handles);
    state.rules = snwLayout_Take(layout, (size_t)character->def.constraintCount, sizeof *state.rules);
    state.closing = snwLayout_Take(layout, 1, sizeof *state.closing);
    state.run = snwLayout_Take(layout, 1, sizeof *state.run);
    state.anchors = snwLayout_Take(layout, (size_t)character->touchCount * snw_anchorsPerVertex, sizeof *state.anchors);
    return state;
}

size_t snwRigpbd_StateSize(const void* model)
{
    snwLayout layout = {0};
    LayOutRigpbdState(model, &layout);
    return layout.size;
}

snwRigpbdState snwRigpbd_PlaceState(const snwRigpbdModel* model, void* bytes)
{
    return LayOutRigpbdState(model, &(snwLayout){.bytes = bytes});
}

// ---------------------------------------------------------------------------------------------------------------------
// Start

// Inverse masses from the materials; what is pinned stays at 0 until it is let go.
static void SetRigpbdMasses(snwSim* sim, int body)
{
    const snwRigpbdState* state = &snwRigpbd_Work(sim, body)->state;
    double* masses = ((snwRigpbdScratch*)sim->scratch)->masses;
    snwCharacter_ComputeMasses(sim->bodies[body].character, sim->bodies[body].materials, masses);
    for (int i = 0; i < sim->bodies[body].character->def.vertexCount; ++i)
    {
        float* inUse = &state->positions[4 * (size_t)i + 3];
        float* free = &state->velocities[4 * (size_t)i + 3];
        *free = (float)(1.0 / masses[i]);
        *inUse = *inUse == 0.0f ? 0.0f : *free;
    }
}

// Marks the vertices that a pin holds now.
static void SetRigpbdPinned(snwSim* sim, int body)
{
    const snwRigpbdState* state = &snwRigpbd_Work(sim, body)->state;
    for (int i = 0; i < sim->bodies[body].character->def.vertexCount; ++i)
        state->positions[4 * (size_t)i + 3] = state->velocities[4 * (size_t)i + 3];
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; i < sim->pinSets[p].count && sim->pins[p].held && sim->pinSets[p].body == body; ++i)
            state->positions[4 * (size_t)sim->pinSets[p].vertices[i] + 3] = 0.0f;
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == body)
            state->positions[4 * (size_t)sim->grabs[i].vertex + 3] = 0.0f;
}

// A flat body starts in its plane: what would tip it out of there is left away.
static snwBodyStart StartInPlane(snwBodyStart start)
{
    double length = hypot(start.transform.rotation.z, start.transform.rotation.w);
    snwQuat upright = {0, 0, start.transform.rotation.z / length, start.transform.rotation.w / length};
    start.transform.rotation = length > 1e-9 ? upright : (snwQuat){0, 0, 0, 1};
    start.transform.position.z = start.velocity.z = start.angularVelocity.x = start.angularVelocity.y = 0.0;
    return start;
}

static void InitRig(snwSim* sim, int body, const snwBodyStart* start)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigpbdModel* model = work->model;
    snwVec3 centre = snwTransform_Apply(start->transform, model->character->centre);
    snwMat3 turn = snwQuat_ToMat3(start->transform.rotation);
    for (int i = 0; i < model->handleCount; ++i)
        work->state.pose[i] = (snwRigPose){turn, snwTransform_Apply(start->transform, model->origins[i])};
    snwRigpbd_StartHandles(sim, body);
    for (int i = 0; i < model->handleCount; ++i)
    {
        snwVec3 arm = snwVec3_Sub(work->state.pose[i].place, centre);
        work->state.handles[i].spin = start->angularVelocity;
        work->state.handles[i].velocity = snwVec3_Add(start->velocity, snwVec3_Cross(start->angularVelocity, arm));
    }
}

void snwRigpbd_InitBody(snwSim* sim, int body)
{
    const snwCharacter* character = sim->bodies[body].character;
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    snwBodyStart start = work->model->flat ? StartInPlane(sim->starts[body]) : sim->starts[body];
    snwVec3 centre = snwTransform_Apply(start.transform, character->centre);
    memset(sim->bodies[body].state, 0, snwRigpbd_StateSize(work->model));
    for (int i = 0; i < character->def.vertexCount; ++i)
    {
        snwVec3 x = snwTransform_Apply(start.transform, character->def.vertices[i]);
        snwVec3 spin = snwVec3_Cross(start.angularVelocity, snwVec3_Sub(x, centre));
        snwRow_SetPlace(work->state.positions, i, *sim->bodies[body].origin, x);
        snwRow_Set(work->state.velocities, i, snwVec3_Add(start.velocity, spin));
    }
    *work->state.run = (snwRigpbdRun){(int32_t)snwSim_Param(sim, snw_rigpbdSolver), snwRigpbd_IsAffine(sim), 0};
    SetRigpbdMasses(sim, body);
    SetRigpbdPinned(sim, body);
    InitRig(sim, body, &start);
}

// ---------------------------------------------------------------------------------------------------------------------

static bool IsUnitTransform(snwTransform t)
{
    return snwTransform_IsFinite(t) && fabs(snwQuat_Dot(t.rotation, t.rotation) - 1.0) <= 1e-6;
}

static bool PoseIsFinite(const snwRigPose* pose)
{
    return snwMat3_IsFinite(pose->linear) && snwVec3_IsFinite(pose->place);
}

static bool IsStrainFinite(const double strain[6])
{
    bool finite = true;
    for (int i = 0; i < 6; ++i)
        finite = finite && isfinite(strain[i]);
    return finite;
}

static bool HandlesAreSound(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        const snwRigpbdHandle* handle = &work->state.handles[i];
        bool led = handle->clip == snw_rigpbdClipNone || snwSim_FindClip(sim, snw_clipHandle, body, i) != NULL;
        if (!PoseIsFinite(&work->state.pose[i]) || !PoseIsFinite(&work->state.answer[i]) ||
            !snwVec3_IsFinite(handle->velocity) || !snwVec3_IsFinite(handle->spin) || !IsUnitTransform(handle->start) ||
            !IsUnitTransform(handle->target) || handle->given > snw_dofAll || handle->fresh > snw_dofAll ||
            handle->leaving > snw_dofAll || !led || !IsStrainFinite(handle->startStrain) ||
            !IsStrainFinite(handle->targetStrain))
            return false;
    }
    for (int i = 0; i < work->model->character->def.constraintCount; ++i)
        if (!isfinite(work->state.rules[i].start) || !isfinite(work->state.rules[i].value))
            return false;
    return true;
}

bool snwRigpbd_IsSound(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigpbdState* state = &work->state;
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        const float *x = state->positions + 4 * (size_t)i, *v = state->velocities + 4 * (size_t)i;
        if (!isfinite(v[3]) || !(v[3] > 0.0f) || (x[3] != 0.0f && x[3] != v[3]))
            return false;
        if (work->model->flat && (x[2] != 0.0f || v[2] != 0.0f))
            return false;
    }
    for (int i = 0; i < work->model->character->touchCount * snw_anchorsPerVertex; ++i)
        if (!snwAnchor_IsSound(&state->anchors[i], sim->def))
            return false;
    bool known = state->run->solver >= 0 && state->run->solver <= snw_rigpbdSolverFast;
    known = known && state->run->swing >= 0 && state->run->swing <= snw_rigpbdSwingFull;
    return fabs(*state->closing) <= 1e9 && known && HandlesAreSound(sim, body);
}

void snwRigpbd_Applied(snwSim* sim, const snwCommand* command)
{
    if (command->kind == snw_commandMaterial)
        SetRigpbdMasses(sim, command->body);
    if (command->kind == snw_commandPin)
        SetRigpbdPinned(sim, command->body >= 0 ? command->body : sim->pinSets[command->index].body);
    if (command->kind == snw_commandHandle)
        snwRigpbd_TakeHandle(sim, command);
    if (command->kind == snw_commandConstraint)
        snwRigpbd_TakeRule(sim, command);
}

// ---------------------------------------------------------------------------------------------------------------------
// Work arrays

static void AllocWork(snwArena* arena, snwRigpbdWork* work)
{
    const snwRigpbdModel* model = work->model;
    const snwCharacterDef* def = &model->character->def;
    size_t rows = RigpbdRowCount(model), row = 4 * sizeof(float), handles = (size_t)model->handleCount;

    // Rows of the vertices: before, predicted, moves, those of the plane, drift, and what is shown.
    work->before = snwArena_Alloc(arena, rows, row);
    work->predicted = snwArena_Alloc(arena, rows, row);
    work->moves = snwArena_Alloc(arena, rows, row);
    work->plane = snwArena_Alloc(arena, model->flat ? rows : 0, row);
    work->drift = snwArena_Alloc(arena, rows, row);
    work->shown = snwArena_Alloc(arena, rows, row);

    // Elements and marks of their blocks.
    work->triangles = snwArena_Alloc(arena, (size_t)model->blocks.triangleBlocks, sizeof *work->triangles);
    work->tets = snwArena_Alloc(arena, (size_t)model->blocks.tetBlocks, sizeof *work->tets);
    work->folded = snwArena_Alloc(arena, (size_t)model->blocks.triangleBlocks + (size_t)model->blocks.tetBlocks, 1);

    // The rig: what is given and where handles are.
    work->targets = snwArena_Alloc(arena, handles, sizeof *work->targets);
    work->goals = snwArena_Alloc(arena, handles, sizeof *work->goals);
    work->carries = snwArena_Alloc(arena, handles, sizeof *work->carries);
    work->poses = snwArena_Alloc(arena, handles, sizeof *work->poses);
    work->rules = snwArena_Alloc(arena, (size_t)def->constraintCount, sizeof *work->rules);

    // What others ask for, in the world.
    work->transforms = snwArena_Alloc(arena, handles, sizeof *work->transforms);
    work->matrices = snwArena_Alloc(arena, handles, sizeof *work->matrices);
    work->bones = snwArena_Alloc(arena, (size_t)def->boneCount, sizeof *work->bones);
    work->joints = snwArena_Alloc(arena, (size_t)def->jointCount, sizeof *work->joints);

    work->materials = snwArena_Alloc(arena, (size_t)def->materialCount, sizeof *work->materials);
    work->masses = snwArena_Alloc(arena, rows, sizeof *work->masses);
}

snwResult snwRigpbd_CreateScratch(snwSim* sim, snwMessage* message)
{
    size_t most = 1;
    snwRigpbdScratch* scratch = snwArena_Alloc(&sim->arena, 1, sizeof *scratch);
    sim->scratch = scratch;
    if (scratch == NULL)
        return snwFailMemory(message);

    // Works of all bodies, each with its place in the state and scratch of its fits.
    scratch->works = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->works);
    for (int i = 0; i < sim->bodyCount && !sim->arena.failed; ++i)
    {
        snwRigpbdWork* work = &scratch->works[i];
        work->model = sim->bodies[i].model;
        work->state = snwRigpbd_PlaceState(work->model, sim->bodies[i].state);
        AllocWork(&sim->arena, work);
        most = RigpbdRowCount(work->model) > most ? RigpbdRowCount(work->model) : most;

        for (int f = 0; f < snw_rigpbdModelFits && work->model->fits[f] != NULL && !sim->arena.failed; ++f)
        {
            work->rigs[f] = work->model->fits[f];
            if (snwRigFitScratch_Create(sim->context, work->rigs[f], &work->fits[f], message) < 0)
                return snw_errorMemory;
        }
    }

    scratch->masses = snwArena_Alloc(&sim->arena, most, sizeof(double));
    scratch->last = snwArena_Alloc(&sim->arena, most, 4 * sizeof(float));
    scratch->sums = snwArena_Alloc(&sim->arena, snwDamping_SumCount((int)most), sizeof(double));
    if (sim->arena.failed)
        return snwFailMemory(message);

    snwResult result = snwRigpbd_CheckParam(sim->def, snw_rigpbdHandles, snwSim_Param(sim, snw_rigpbdHandles), message);
    return result < 0 ? result : snwRigpbd_Ready(sim, message);
}

void snwRigpbd_DestroyScratch(snwSim* sim)
{
    snwRigpbdScratch* scratch = sim->scratch;
    for (int i = 0; scratch->works != NULL && i < sim->bodyCount; ++i)
    {
        for (int f = 0; f < snw_rigpbdFits; ++f)
            snwRigFitScratch_Destroy(sim->context, scratch->works[i].fits[f]);
        for (int f = snw_rigpbdAffine; f < snw_rigpbdFits; ++f)
            snwRigFit_Destroy(sim->context, (snwRigFit*)scratch->works[i].rigs[f]);
        for (int k = 0; k <= snw_rigpbdSolverFast; ++k)
            snwRival_Destroy(scratch->works[i].rivals[k]);
    }
    for (int k = 0; k < 2; ++k)
        snwDestroyResponse(scratch->responses[k]);
}
