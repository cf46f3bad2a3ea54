// The state of a body: its place in the block, its start, what commands change, and what others see of it.

#include "sim/layout.h"
#include "sim/pbcd/pbcd.h"

#include <math.h>
#include <string.h>

static snwPbcdState LayOutPbcdState(const snwPbcdModel* model, snwLayout* layout)
{
    const snwCharacter* character = model->character;
    size_t rows = (size_t)model->vertexCount + snw_blockLanes, row = 4 * sizeof(float);

    // Arrays that a body does not need have no rows.
    size_t reference = model->driven ? rows : 0, bdf2 = model->integrator == snw_pbcdBdf2 ? rows : 0;
    size_t trapezoid = model->integrator == snw_pbcdTrapezoid ? rows : 0;
    snwPbcdState state;

    state.stepBefore = snwLayout_Take(layout, 1, sizeof *state.stepBefore);
    state.positions = snwLayout_Take(layout, rows, row);
    state.velocities = snwLayout_Take(layout, rows, row);
    state.reference = snwLayout_Take(layout, reference, row);
    state.referenceVelocities = snwLayout_Take(layout, reference, row);
    state.beforePositions = snwLayout_Take(layout, bdf2, row);
    state.beforeVelocities = snwLayout_Take(layout, bdf2, row);
    state.accelerations = snwLayout_Take(layout, trapezoid, row);

    state.held = snwLayout_Take(layout, rows, sizeof *state.held);
    state.anchors = snwLayout_Take(layout, (size_t)character->touchCount * snw_anchorsPerVertex, sizeof *state.anchors);
    state.bones = snwLayout_Take(layout, (size_t)character->def.boneCount, sizeof *state.bones);
    state.joints = snwLayout_Take(layout, (size_t)character->def.jointCount, sizeof *state.joints);

    return state;
}

size_t snwPbcd_StateSize(const void* model)
{
    snwLayout layout = {0};
    LayOutPbcdState(model, &layout);
    return layout.size;
}

snwPbcdState snwPbcd_PlaceState(const snwPbcdModel* model, void* bytes)
{
    return LayOutPbcdState(model, &(snwLayout){.bytes = bytes});
}

void snwPbcd_Masses(const snwPbcdModel* model, const snwMaterial* materials, double* masses)
{
    snwCharacter_ComputeMasses(model->character, materials, masses);
    for (int i = 0; i < model->vertexCount && model->equalMasses; ++i)
        masses[i] = 1.0;
}

static void SetPbcdMasses(snwSim* sim, int body)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    double* masses = ((snwPbcdScratch*)sim->scratch)->masses;
    snwPbcd_Masses(work->model, sim->bodies[body].materials, masses);
    for (int i = 0; i < work->model->vertexCount; ++i)
        work->state.velocities[4 * (size_t)i + 3] = (float)(1.0 / masses[i]);
}

// Marks the vertices that a bone or a pin holds now.
static void SetPbcdHeld(snwSim* sim, int body)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    unsigned char* held = work->state.held;
    for (int i = 0; i < work->model->vertexCount; ++i)
        held[i] = work->model->driven && (work->model->hold || work->model->character->vertexBones[i] >= 0)
                      ? snw_heldByBone
                      : 0;
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; i < sim->pinSets[p].count && sim->pins[p].held && sim->pinSets[p].body == body; ++i)
            held[sim->pinSets[p].vertices[i]] |= snw_heldByPin;
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == body)
            held[sim->grabs[i].vertex] |= snw_heldByPin;
}

static void InitFree(snwSim* sim, int body)
{
    const snwBodyStart* start = &sim->starts[body];
    const snwCharacter* character = sim->bodies[body].character;
    const snwPbcdState* state = &snwPbcd_Work(sim, body)->state;
    snwVec3 centre = snwTransform_Apply(start->transform, character->centre);
    for (int i = 0; i < character->def.vertexCount; ++i)
    {
        snwVec3 x = snwTransform_Apply(start->transform, character->def.vertices[i]);
        snwVec3 spin = snwVec3_Cross(start->angularVelocity, snwVec3_Sub(x, centre));
        snwRow_SetPlace(state->positions, i, *sim->bodies[body].origin, x);
        snwRow_Set(state->velocities, i, snwVec3_Add(start->velocity, spin));
    }
}

// The first pose of a motion may be one that turns flesh inside out.
static void UnfoldStart(snwSim* sim, const snwPbcdWork* work)
{
    const snwPbcdState* state = &work->state;
    for (size_t i = 0; i < (size_t)work->model->vertexCount; ++i)
        state->positions[4 * i + 3] = state->held[i] ? 0.0f : state->velocities[4 * i + 3];
    snwUnfold unfold = snwPbcd_Unfold(work, state->positions);
    snwUnfold_All(sim->context, &unfold);
}

// A body that follows its bones starts where they put it, at rest against them.
void snwPbcd_InitBody(snwSim* sim, int body)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    snwPbcdState* state = &work->state;
    memset(sim->bodies[body].state, 0, snwPbcd_StateSize(model));
    InitFree(sim, body);
    size_t bytes = (size_t)model->vertexCount * 4 * sizeof(float);
    if (model->driven && snwPbcd_MoveReference(sim, body, 0.0, NULL) >= 0)
    {
        memcpy(state->positions, work->reference, bytes);
        memcpy(state->reference, work->reference, bytes);
    }
    SetPbcdMasses(sim, body);
    SetPbcdHeld(sim, body);
    if (model->driven && model->unfolds)
        UnfoldStart(sim, work);
}

static bool RowsAreFinite(const float* rows, int count)
{
    for (int i = 0; rows != NULL && i < count; ++i)
        if (!snwVec3_IsFinite(snwRow_Get(rows, i)))
            return false;
    return true;
}

bool snwPbcd_IsSound(const snwSim* sim, int body)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    const snwPbcdState* state = &work->state;
    int count = model->vertexCount;

    // Inverse masses: finite, positive when free, in use at most that.
    for (int i = 0; i < count; ++i)
    {
        float inUse = state->positions[4 * (size_t)i + 3], free = state->velocities[4 * (size_t)i + 3];
        if (!isfinite(free) || !(free > 0.0f) || !(inUse >= 0.0f) || inUse > free || state->held[i] > 3)
            return false;
    }

    for (int i = 0; i < model->character->touchCount * snw_anchorsPerVertex; ++i)
        if (!snwAnchor_IsSound(&state->anchors[i], sim->def))
            return false;

    bool sound = isfinite(*state->stepBefore) && *state->stepBefore >= 0.0;

    // What only some bodies have.
    if (model->driven)
        sound = sound && RowsAreFinite(state->reference, count) && RowsAreFinite(state->referenceVelocities, count);
    if (model->integrator == snw_pbcdBdf2)
        sound = sound && RowsAreFinite(state->beforePositions, count) && RowsAreFinite(state->beforeVelocities, count);
    if (model->integrator == snw_pbcdTrapezoid)
        sound = sound && RowsAreFinite(state->accelerations, count);

    return sound;
}

void snwPbcd_Applied(snwSim* sim, const snwCommand* command)
{
    if (command->kind == snw_commandMaterial)
        SetPbcdMasses(sim, command->body);
    if (command->kind == snw_commandPin)
        SetPbcdHeld(sim, command->body >= 0 ? command->body : sim->pinSets[command->index].body);
}

void snwPbcd_GetVertices(const snwSim* sim, int body, snwVertices* vertices)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    *vertices = (snwVertices){
        work->state.positions, work->state.velocities, work->model->vertexCount, 4 * (int)sizeof(float)};
}

void snwPbcd_GetBones(const snwSim* sim, int body, snwTransforms* bones)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    if (work->model->driven)
        bones->data = work->state.bones;
}

void snwPbcd_GetJoints(const snwSim* sim, int body, snwTransforms* joints)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    if (work->model->driven)
        joints->data = work->state.joints;
}
