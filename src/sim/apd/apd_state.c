// The state of a body: its place in the block, its start, and what others see of it.

#include "sim/apd/apd.h"
#include "sim/layout.h"
#include "sim/origin.h"

#include <math.h>
#include <string.h>

static snwApdState LayOutApdState(const snwApdModel* model, snwLayout* layout)
{
    const snwCharacterDef* def = &model->character->def;
    size_t n = (size_t)model->vertexCount, joints = (size_t)def->jointCount;
    snwApdState state;
    state.positions = snwLayout_Take(layout, n, sizeof *state.positions);
    state.velocities = snwLayout_Take(layout, n, sizeof *state.velocities);
    state.bones = snwLayout_Take(layout, (size_t)model->boneCount, sizeof *state.bones);
    state.joints = snwLayout_Take(layout, joints, sizeof *state.joints);
    state.rotations = snwLayout_Take(layout, (size_t)model->blockCount, sizeof *state.rotations);
    state.stops = snwLayout_Take(layout, (size_t)model->blockCount * snw_apdLanes, sizeof *state.stops);
    state.anchors = snwLayout_Take(
        layout, (size_t)model->character->touchCount * snw_anchorsPerVertex, sizeof *state.anchors);
    state.outPositions = snwLayout_Take(layout, n, 4 * sizeof(float));
    state.outVelocities = snwLayout_Take(layout, n, 4 * sizeof(float));
    state.outBones = snwLayout_Take(layout, (size_t)def->boneCount, sizeof *state.outBones);
    state.outJoints = snwLayout_Take(layout, joints, sizeof *state.outJoints);
    return state;
}

size_t snwApd_StateSize(const void* model)
{
    snwLayout layout = {0};
    LayOutApdState(model, &layout);
    return layout.size;
}

snwApdState snwApd_PlaceState(const snwApdModel* model, void* bytes)
{
    return LayOutApdState(model, &(snwLayout){.bytes = bytes});
}

snwApdState snwApd_GetState(const snwSim* sim, int index)
{
    return snwApd_Body(sim, index)->state;
}

// Where a bone is as the transform that takes the rest pose to now.
static snwTransform BoneTransform(const snwApdModel* model, int bone, const snwApdBone* pose)
{
    snwVec3 turned = snwQuat_Rotate(pose->rotation, model->centres[bone]);
    return (snwTransform){snwVec3_Sub(pose->centre, turned), pose->rotation};
}

void snwApd_Publish(snwSim* sim, int index)
{
    const snwApdModel* model = sim->bodies[index].model;
    const snwCharacter* character = model->character;
    snwApdState state = snwApd_GetState(sim, index);
    snwBody_Follow(&sim->bodies[index], state.positions[0]);
    for (int i = 0; i < model->vertexCount; ++i)
    {
        snwRow_SetPlace(state.outPositions, i, *sim->bodies[index].origin, state.positions[i]);
        snwRow_Set(state.outVelocities, i, state.velocities[i]);
    }
    for (int k = 0; k < model->boneCount; ++k)
        state.outBones[k] = BoneTransform(model, k, &state.bones[k]);
    if (model->boneCount == 0) // to some solvers a bone is but flesh
        snwCharacter_FitBones(character, state.positions, snwApd_Body(sim, index)->boneFits, state.outBones);
    for (int i = 0; i < character->def.jointCount; ++i)
        state.outJoints[i] = state.outBones[character->def.joints[i].bone];
}

static void InitBones(snwSim* sim, int index, snwVec3 centre)
{
    const snwBodyStart* start = &sim->starts[index];
    const snwApdModel* model = sim->bodies[index].model;
    snwApdState state = snwApd_GetState(sim, index);
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwApdBone* bone = &state.bones[k];
        snwVec3 rows[4];
        bone->rotation = snwQuat_Normalize(start->transform.rotation);
        bone->centre = snwTransform_Apply(start->transform, model->centres[k]);
        snwApdBone_Rows(model, k, bone, rows);
        for (int a = 0; a < 3; ++a)
            bone->rate[a] = snwVec3_Cross(start->angularVelocity, rows[a]);
        bone->rate[3] = snwVec3_Add(
            start->velocity, snwVec3_Cross(start->angularVelocity, snwVec3_Sub(bone->centre, centre)));
    }
}

void snwApd_InitBody(snwSim* sim, int index)
{
    const snwBodyStart* start = &sim->starts[index];
    const snwApdModel* model = sim->bodies[index].model;
    const snwCharacter* character = model->character;

    memset(sim->bodies[index].state, 0, snwApd_StateSize(model));
    snwApdState state = snwApd_GetState(sim, index);

    // Turns are about the centre of mass.
    snwVec3 centre = snwTransform_Apply(start->transform, character->centre);
    for (int i = 0; i < model->vertexCount; ++i)
    {
        snwVec3 x = snwTransform_Apply(start->transform, character->def.vertices[i]);
        state.positions[i] = x;
        state.velocities[i] = snwVec3_Add(
            start->velocity, snwVec3_Cross(start->angularVelocity, snwVec3_Sub(x, centre)));
    }

    InitBones(sim, index, centre);
    for (int i = 0; i < character->def.jointCount; ++i)
        state.joints[i] = (snwApdJoint){character->def.joints[i].target, character->def.joints[i].motor, 0};

    // All elements begin with the turn of the body.
    snwQuat q = snwQuat_Normalize(start->transform.rotation);
    const float guess[4] = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
    for (int b = 0; b < model->blockCount; ++b)
        for (int k = 0; k < 4; ++k)
            for (int lane = 0; lane < snw_apdLanes; ++lane)
                state.rotations[b].q[k][lane] = guess[k];

    snwApd_Publish(sim, index);
}

static bool BoneIsSound(const snwApdBone* bone)
{
    bool finite = snwQuat_IsFinite(bone->rotation) && snwVec3_IsFinite(bone->centre);
    for (int a = 0; a < 4; ++a)
        finite = finite && snwVec3_IsFinite(bone->rate[a]);
    return finite && fabs(snwQuat_Dot(bone->rotation, bone->rotation) - 1.0) < 1e-6;
}

bool snwApd_IsSound(const snwSim* sim, int index)
{
    const snwApdModel* model = sim->bodies[index].model;
    snwApdState state = snwApd_GetState(sim, index);

    // Numbers of the flesh, bones and joints.
    for (int i = 0; i < model->vertexCount; ++i)
        if (!snwVec3_IsFinite(state.positions[i]) || !snwVec3_IsFinite(state.velocities[i]))
            return false;
    for (int i = 0; i < model->boneCount; ++i)
        if (!BoneIsSound(&state.bones[i]))
            return false;
    for (int i = 0; i < model->character->def.jointCount; ++i)
        if (!isfinite(state.joints[i].target))
            return false;

    // Stops: -1 marks a knot; a pressure is never below 0.
    for (int s = 0; s < model->blockCount * snw_apdLanes; ++s)
        if (!(state.stops[s] >= -1.0f) || !isfinite(state.stops[s]))
            return false;

    for (int i = 0; i < model->character->touchCount * snw_anchorsPerVertex; ++i)
        if (!snwAnchor_IsSound(&state.anchors[i], sim->def))
            return false;
    return true;
}

void snwApd_Applied(snwSim* sim, const snwCommand* command)
{
    if (command->kind != snw_commandJoint)
        return;
    snwApdJoint* joint = &snwApd_GetState(sim, command->body).joints[command->index];
    joint->target = command->value;
    joint->motor = command->on;
}

void snwApd_GetVertices(const snwSim* sim, int index, snwVertices* vertices)
{
    snwApdState state = snwApd_GetState(sim, index);
    int count = sim->bodies[index].character->def.vertexCount;
    *vertices = (snwVertices){state.outPositions, state.outVelocities, count, 4 * (int)sizeof(float)};
}

void snwApd_GetBones(const snwSim* sim, int index, snwTransforms* bones)
{
    bones->data = snwApd_GetState(sim, index).outBones;
}

void snwApd_GetJoints(const snwSim* sim, int index, snwTransforms* joints)
{
    joints->data = snwApd_GetState(sim, index).outJoints;
}
