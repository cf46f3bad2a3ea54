// What is prepared from a character, and the state of a body: its place in the block, its start, what others see of it.

#include "sim/layout.h"
#include "sim/origin.h"
#include "sim/skelfem/skelfem.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Model

// Levels follow from the mesh alone: bones and materials may change without them.
snwResult snwSkelfem_CreateShape(const snwModelDef* def, void** shape, snwMessage* message)
{
    const snwCharacterDef* character = &def->character->def;
    snwGridLevelsDef levels = snwDefaultGridLevelsDef();
    levels.vertexCount = character->vertexCount;
    levels.rest = character->vertices;
    levels.elementCount = character->tetCount;
    levels.elements = &character->tets[0][0];
    levels.unknowns = snwSkelfem_Param(def->params, snw_skelfemUnknowns) == 0 ? 6 : 3;
    if (character->tetCount == 0)
        return snwFail(message, snw_errorUnsupported, "choose method pbd, or a character of tetrahedra",
            "method skelfem needs tetrahedra; '%s' is made of edges alone", character->name);
    return snwGridLevels_Create(def->context, &levels, (snwGridLevels**)shape, message);
}

void snwSkelfem_DestroyShape(snwContext* context, void* shape)
{
    (void)context;
    snwGridLevels_Destroy(shape);
}

snwResult snwSkelfem_CheckMaterial(const snwMaterial* material, snwMessage* message)
{
    if (material->poisson < 0.5)
        return snw_ok;
    return snwFail(message, snw_errorUnsupported, "set it to 0.49, or choose method pbcd or apd",
        "method skelfem cannot have a Poisson's ratio of 0.5: its flesh would be infinitely stiff");
}

snwResult snwSkelfem_CreateModel(const snwModelDef* def, void** out, snwMessage* message)
{
    const snwCharacter* character = def->character;
    snwSkelfemModel* model = snwAlloc(def->context, sizeof *model);
    *out = model;
    if (model == NULL)
        return snwFailMemory(message);
    model->character = character;
    model->levels = def->shape;
    model->vertexCount = character->def.vertexCount;
    model->tetCount = character->def.tetCount;
    model->blockCount = (model->tetCount + SNW_ROTATION_LANES - 1) / SNW_ROTATION_LANES;
    return snw_ok;
}

void snwSkelfem_DestroyModel(snwContext* context, void* model)
{
    snwFree(context, model);
}

// ---------------------------------------------------------------------------------------------------------------------
// State

static snwSkelfemState LayOutSkelfemState(const snwSkelfemModel* model, snwLayout* layout)
{
    size_t n = (size_t)model->vertexCount;
    size_t anchors = (size_t)model->character->touchCount * snw_anchorsPerVertex;
    snwSkelfemState state;

    // Numbers of the vertices, two steps of them for bdf2.
    state.clock = snwLayout_Take(layout, 1, sizeof *state.clock);
    state.positions = snwLayout_Take(layout, n, sizeof *state.positions);
    state.velocities = snwLayout_Take(layout, n, sizeof *state.velocities);
    state.positionsBefore = snwLayout_Take(layout, n, sizeof *state.positionsBefore);
    state.velocitiesBefore = snwLayout_Take(layout, n, sizeof *state.velocitiesBefore);
    state.accelerations = snwLayout_Take(layout, n, sizeof *state.accelerations);

    // Where the last step has left its searches: rotations, anchors, loads.
    state.rotations = snwLayout_Take(layout, (size_t)model->blockCount, sizeof *state.rotations);
    state.knots = snwLayout_Take(layout, (size_t)model->tetCount, 1);
    state.anchors = snwLayout_Take(layout, anchors, sizeof *state.anchors);
    state.loads = snwLayout_Take(layout, anchors, sizeof *state.loads);

    // What others see.
    state.stiffness = snwLayout_Take(layout, n, sizeof *state.stiffness);
    state.pressed = snwLayout_Take(layout, n, sizeof *state.pressed);
    state.outPositions = snwLayout_Take(layout, n, 4 * sizeof(float));
    state.outVelocities = snwLayout_Take(layout, n, 4 * sizeof(float));
    state.outBones = snwLayout_Take(layout, (size_t)model->character->def.boneCount, sizeof *state.outBones);

    return state;
}

size_t snwSkelfem_StateSize(const void* model)
{
    snwLayout layout = {0};
    LayOutSkelfemState(model, &layout);
    return layout.size;
}

snwSkelfemState snwSkelfem_PlaceState(const snwSkelfemModel* model, void* bytes)
{
    return LayOutSkelfemState(model, &(snwLayout){.bytes = bytes});
}

void snwSkelfem_InitBody(snwSim* sim, int index)
{
    const snwBodyStart* start = &sim->starts[index];
    const snwSkelfemModel* model = sim->bodies[index].model;
    const snwCharacter* character = model->character;

    memset(sim->bodies[index].state, 0, snwSkelfem_StateSize(model));
    snwSkelfemState state = snwSkelfem_Body(sim, index)->state;

    state.clock->energy = -1; // not known yet
    snwVec3 centre = snwTransform_Apply(start->transform, character->centre);

    // A rigid motion about the centre of mass.
    for (int i = 0; i < model->vertexCount; ++i)
    {
        snwVec3 x = snwTransform_Apply(start->transform, character->def.vertices[i]);
        state.positions[i] = state.positionsBefore[i] = x;
        state.velocities[i] = snwVec3_Add(
            start->velocity, snwVec3_Cross(start->angularVelocity, snwVec3_Sub(x, centre)));
    }

    // Elements begin with the turn of the body.
    snwQuat q = snwQuat_Normalize(start->transform.rotation);
    const float guess[4] = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
    for (int b = 0; b < model->blockCount; ++b)
        for (int k = 0; k < 4; ++k)
            for (int lane = 0; lane < SNW_ROTATION_LANES; ++lane)
                state.rotations[b].q[k][lane] = guess[k];

    snwSkelfem_Publish(sim, index);
}

bool snwSkelfem_IsSound(const snwSim* sim, int index)
{
    const snwSkelfemModel* model = sim->bodies[index].model;
    snwSkelfemState state = snwSkelfem_Body(sim, index)->state;
    bool sound = isfinite(state.clock->h) && state.clock->h >= 0 && isfinite(state.clock->smooth) &&
                 state.clock->smooth >= 0 && isfinite(state.clock->energy) && isfinite(state.clock->gained) &&
                 isfinite(state.clock->rate) && state.clock->rate >= 0;
    for (int i = 0; i < model->vertexCount && sound; ++i)
        sound = snwVec3_IsFinite(state.positions[i]) && snwVec3_IsFinite(state.velocities[i]) &&
                snwVec3_IsFinite(state.positionsBefore[i]) && snwVec3_IsFinite(state.velocitiesBefore[i]) &&
                snwVec3_IsFinite(state.accelerations[i]) && isfinite(state.pressed[i]) && state.pressed[i] >= 0 &&
                isfinite(state.stiffness[i]) && state.stiffness[i] >= 0;
    for (int b = 0; b < model->blockCount && sound; ++b)
        for (int k = 0; k < 4; ++k)
            for (int lane = 0; lane < SNW_ROTATION_LANES; ++lane)
                sound = sound && isfinite(state.rotations[b].q[k][lane]);
    for (int e = 0; e < model->tetCount && sound; ++e)
        sound = state.knots[e] <= 1;
    for (int i = 0; i < model->character->touchCount * snw_anchorsPerVertex && sound; ++i)
        sound = snwAnchor_IsSound(&state.anchors[i], sim->def) && snwVec3_IsFinite(state.loads[i]);
    return sound;
}

// ---------------------------------------------------------------------------------------------------------------------
// What others see

void snwSkelfem_Publish(snwSim* sim, int index)
{
    const snwSkelfemModel* model = sim->bodies[index].model;
    const snwCharacter* character = model->character;
    snwSkelfemState state = snwSkelfem_Body(sim, index)->state;
    snwBody_Follow(&sim->bodies[index], state.positions[0]);
    for (int i = 0; i < model->vertexCount; ++i)
    {
        snwRow_SetPlace(state.outPositions, i, *sim->bodies[index].origin, state.positions[i]);
        snwRow_Set(state.outVelocities, i, state.velocities[i]);
    }
    snwCharacter_FitBones(character, state.positions, snwSkelfem_Body(sim, index)->boneFits, state.outBones);
}

void snwSkelfem_GetVertices(const snwSim* sim, int index, snwVertices* vertices)
{
    snwSkelfemState state = snwSkelfem_Body(sim, index)->state;
    int count = sim->bodies[index].character->def.vertexCount;
    *vertices = (snwVertices){state.outPositions, state.outVelocities, count, 4 * (int)sizeof(float)};
}

void snwSkelfem_GetBones(const snwSim* sim, int index, snwTransforms* bones)
{
    bones->data = snwSkelfem_Body(sim, index)->state.outBones;
}
