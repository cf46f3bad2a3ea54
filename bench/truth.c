#include "truth_parts.h"

#include "sim/character.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// States

snwResult snwTruthState_Create(
    snwContext* context, const snwCharacter* character, snwTruthState* state, snwMessage* message)
{
    const snwCharacterDef* def = &character->def;
    *state = (snwTruthState){
        .positions = snwCopyArray(context, def->vertices, (size_t)def->vertexCount, sizeof *state->positions),
        .bones = snwAllocArray(context, (size_t)def->boneCount + 1, sizeof *state->bones), // never of no size
    };
    if (state->positions == NULL || state->bones == NULL)
    {
        snwTruthState_Free(context, state);
        snwFailMemory(message);
        return snw_errorMemory;
    }
    for (int k = 0; k < def->boneCount; ++k)
        state->bones[k].linear = snwMat3_Identity();
    return snw_ok;
}

void snwTruthState_Free(snwContext* context, snwTruthState* state)
{
    snwFree(context, state->positions);
    snwFree(context, state->bones);
    *state = (snwTruthState){0};
}

void snwTruthState_Copy(const snwCharacter* character, const snwTruthState* from, snwTruthState* to)
{
    const snwCharacterDef* def = &character->def;
    memcpy(to->positions, from->positions, (size_t)def->vertexCount * sizeof *to->positions);
    memcpy(to->bones, from->bones, (size_t)def->boneCount * sizeof *to->bones);
}

double snwTruth_JointGap(const snwCharacter* character, const snwAffine* bones)
{
    double worst = 0;
    for (int i = 0; i < character->def.jointCount; ++i)
    {
        const snwJointDef* joint = &character->def.joints[i];
        if (joint->type != snw_jointBall && joint->type != snw_jointHinge)
            continue;
        snwVec3 p = joint->position, end = snwAffine_Apply(bones[joint->bone], p);
        snwVec3 other = joint->parentBone < 0 ? p : snwAffine_Apply(bones[joint->parentBone], p);
        worst = fmax(worst, snwVec3_Distance(end, other));
    }
    return worst;
}

// ---------------------------------------------------------------------------------------------------------------------
// Unknowns

int snwTruth_BoneFirst(const snwTruth* truth, int bone)
{
    return truth->variableCount - snw_boneVariables * (truth->boneCount - bone);
}

static snwMat3 Rotation(const double* bone)
{
    snwMat3 r;
    memcpy(r.m, bone, sizeof r.m);
    return r;
}

void snwTruth_Positions(const snwTruth* truth, const double* variables, snwVec3* positions)
{
    for (int v = 0; v < truth->vertexCount; ++v)
    {
        int k = truth->vertexBones[v];
        if (k >= 0)
        {
            const double* bone = variables + snwTruth_BoneFirst(truth, k);
            snwVec3 arm = snwVec3_Sub(truth->character->def.vertices[v], truth->centres[k]);
            positions[v] = snwVec3_Add(snwMat3_MulVec(Rotation(bone), arm), (snwVec3){bone[9], bone[10], bone[11]});
        }
        else if (truth->firsts[v] < 0)
            positions[v] = truth->targets[v];
        else
        {
            const double* x = variables + truth->firsts[v];
            positions[v] = (snwVec3){x[0], x[1], x[2]};
        }
    }
}

void snwTruth_ToVariables(const snwTruth* truth, const snwTruthState* state, double* variables)
{
    for (int v = 0; v < truth->vertexCount; ++v)
        if (truth->firsts[v] >= 0)
            memcpy(variables + truth->firsts[v], &state->positions[v], 3 * sizeof *variables);
    for (int k = 0; k < truth->boneCount; ++k)
    {
        double* bone = variables + snwTruth_BoneFirst(truth, k);
        snwVec3 centre = snwAffine_Apply(state->bones[k], truth->centres[k]);
        memcpy(bone, state->bones[k].linear.m, 9 * sizeof *bone);
        memcpy(bone + 9, &centre, 3 * sizeof *bone);
    }
}

void snwTruth_ToState(const snwTruth* truth, const double* variables, snwTruthState* state)
{
    snwTruth_Positions(truth, variables, state->positions);
    for (int k = 0; k < truth->boneCount; ++k)
    {
        const double* bone = variables + snwTruth_BoneFirst(truth, k);
        snwMat3 r = Rotation(bone);
        snwVec3 centre = {bone[9], bone[10], bone[11]};
        state->bones[k] = (snwAffine){r, snwVec3_Sub(centre, snwMat3_MulVec(r, truth->centres[k]))};
    }
}

// The vertices of bones as their bones have them.
static snwVec3 Position(const snwTruth* truth, const snwTruthState* state, int vertex)
{
    int k = truth->vertexBones[vertex];
    return k < 0 ? state->positions[vertex] : snwAffine_Apply(state->bones[k], truth->character->def.vertices[vertex]);
}

void snwTruth_SetStates(snwTruth* truth, const snwTruthState* before, const snwTruthState* now)
{
    snwVec3 fall = snwVec3_Scale(truth->gravity, truth->step * truth->step);
    for (int v = 0; v < truth->vertexCount; ++v)
    {
        snwVec3 x = Position(truth, now, v), moved = snwVec3_Sub(x, Position(truth, before, v));
        truth->aims[v] = snwVec3_Add(snwVec3_Add(x, moved), fall);
    }
    snwTruth_ToVariables(truth, now, truth->start);
}

// ---------------------------------------------------------------------------------------------------------------------
// The problem

static snwResult CheckJoint(const snwCharacter* character, int index, snwMessage* message)
{
    snwJointType type = character->def.joints[index].type;
    if (type == snw_jointBall || type == snw_jointHinge || type == snw_jointFree)
        return snw_ok;
    return snwFail(message, snw_errorUnsupported, "use ball, hinge or free joints",
        "the truth does not know the type of joint %d", index);
}

static snwResult CheckDef(const snwTruthDef* def, snwMessage* message)
{
    const snwCharacterDef* character = &def->character->def;
    if (character->tetCount == 0)
        return snwFail(message, snw_errorUnsupported, "give a character of tets", "the truth knows tets only");
    if (!(def->step > 0) || !isfinite(def->step) || !snwVec3_IsFinite(def->gravity))
        return snwFail(message, snw_errorArgument, NULL, "step and gravity must be finite, the step above zero");
    for (int i = 0; i < character->jointCount; ++i)
        if (CheckJoint(def->character, i, message) < 0)
            return snw_errorUnsupported;
    return snw_ok;
}

static void NumberUnknowns(snwTruth* truth, const snwTruthDef* def)
{
    for (int v = 0; v < truth->vertexCount; ++v)
    {
        truth->held[v] = def->held != NULL && def->held[v];
        truth->vertexBones[v] = truth->character->vertexBones[v];
        bool free = !truth->held[v] && truth->vertexBones[v] < 0;
        truth->firsts[v] = free ? truth->variableCount : -1;
        truth->variableCount += free ? 3 : 0;
    }
    truth->variableCount += snw_boneVariables * truth->boneCount;
}

// Centres of mass, then sums of m u u^T with u = (p - c, 1). False: a bone without mass.
static bool WeighBones(snwTruth* truth)
{
    const snwVec3* rest = truth->character->def.vertices;
    const double* masses = truth->character->masses;
    for (int v = 0; v < truth->vertexCount; ++v)
        if (truth->vertexBones[v] >= 0)
        {
            int k = truth->vertexBones[v];
            truth->centres[k] = snwVec3_MulAdd(truth->centres[k], masses[v], rest[v]);
            truth->moments[k][3][3] += masses[v];
        }
    for (int k = 0; k < truth->boneCount; ++k)
    {
        if (!(truth->moments[k][3][3] > 0))
            return false;
        truth->centres[k] = snwVec3_Scale(truth->centres[k], 1 / truth->moments[k][3][3]);
        truth->moments[k][3][3] = 0;
    }
    for (int v = 0; v < truth->vertexCount; ++v)
        if (truth->vertexBones[v] >= 0)
        {
            int k = truth->vertexBones[v];
            snwVec3 arm = snwVec3_Sub(rest[v], truth->centres[k]);
            double u[4] = {arm.x, arm.y, arm.z, 1};
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    truth->moments[k][i][j] += masses[v] * u[i] * u[j];
        }
    return true;
}

static bool InOneBone(const snwTruth* truth, const int corners[4])
{
    const int* bones = truth->vertexBones;
    int k = bones[corners[0]];
    return k >= 0 && bones[corners[1]] == k && bones[corners[2]] == k && bones[corners[3]] == k;
}

static void MakeTets(snwTruth* truth)
{
    const snwCharacterDef* def = &truth->character->def;
    for (int e = 0; e < def->tetCount; ++e)
    {
        const int* corners = def->tets[e];
        if (InOneBone(truth, corners))
            continue;
        snwVec3 rest[4];
        for (int a = 0; a < 4; ++a)
            rest[a] = def->vertices[corners[a]];
        snwTruthTet* tet = &truth->tets[truth->tetCount++];
        *tet = snwTruthTet_Make(rest, &def->materials[def->regions[e]]);
        memcpy(tet->corners, corners, sizeof tet->corners);
    }
}

static void MakeRows(snwTruth* truth)
{
    const snwCharacterDef* def = &truth->character->def;
    for (int i = 0; i < def->jointCount; ++i)
    {
        const snwJointDef* joint = &def->joints[i];
        if (joint->type == snw_jointFree)
            continue;
        truth->points[truth->pointCount++] = (snwTruthPoint){
            {joint->bone, joint->parentBone}, joint->position, joint->position};
        if (joint->type != snw_jointHinge)
            continue;
        snwVec3 side = snwVec3_Perpendicular(joint->axis);
        truth->hinges[truth->hingeCount++] = (snwTruthHinge){
            {joint->parentBone, joint->bone}, joint->axis, {side, snwVec3_Cross(joint->axis, side)}};
    }
    for (int v = 0; v < truth->vertexCount; ++v)
        if (truth->held[v] && truth->vertexBones[v] >= 0)
            truth->points[truth->pointCount++] = (snwTruthPoint){
                {truth->vertexBones[v], -1}, def->vertices[v], truth->targets[v]};
}

static bool AllocateProblem(snwTruth* truth, const snwTruthDef* def)
{
    snwArena* arena = &truth->arena;
    const snwCharacterDef* character = &truth->character->def;
    size_t vertices = (size_t)truth->vertexCount, bones = (size_t)truth->boneCount;
    truth->firsts = snwArena_Alloc(arena, vertices, sizeof *truth->firsts);
    truth->vertexBones = snwArena_Alloc(arena, vertices, sizeof *truth->vertexBones);
    truth->held = snwArena_Alloc(arena, vertices, sizeof *truth->held);
    truth->targets = snwArena_Copy(
        arena, def->targets != NULL ? def->targets : character->vertices, vertices, sizeof *truth->targets);
    truth->aims = snwArena_Alloc(arena, vertices, sizeof *truth->aims);
    truth->centres = snwArena_Alloc(arena, bones, sizeof *truth->centres);
    truth->moments = snwArena_Alloc(arena, bones, sizeof *truth->moments);
    truth->start = snwArena_Alloc(arena, 3 * vertices + snw_boneVariables * bones, sizeof *truth->start);
    truth->tets = snwArena_Alloc(arena, (size_t)character->tetCount, sizeof *truth->tets);
    truth->points = snwArena_Alloc(arena, (size_t)character->jointCount + vertices, sizeof *truth->points);
    truth->hinges = snwArena_Alloc(arena, (size_t)character->jointCount, sizeof *truth->hinges);
    return !arena->failed;
}

static snwResult Build(snwTruth* truth, const snwTruthDef* def, snwMessage* message)
{
    if (!AllocateProblem(truth, def))
        return snwFailMemory(message);
    NumberUnknowns(truth, def);
    if (!WeighBones(truth))
        return snwFail(message, snw_errorUnsupported, "leave it out", "a bone owns no vertex: it has no mass");
    MakeTets(truth);
    MakeRows(truth);
    snwTruthState rest = {0};
    snwResult result = snwTruthState_Create(truth->context, truth->character, &rest, message);
    if (result >= 0)
        snwTruth_SetStates(truth, &rest, &rest);
    snwTruthState_Free(truth->context, &rest);
    return result < 0 ? result : snwTruth_MakePattern(truth, message);
}

snwResult snwCreateTruth(snwContext* context, const snwTruthDef* def, snwTruth** truth, snwMessage* message)
{
    snwResult result = CheckDef(def, message);
    if (result < 0)
        return result;
    *truth = snwAlloc(context, sizeof **truth);
    if (*truth == NULL)
        return snwFailMemory(message);
    **truth = (snwTruth){.context = context,
        .arena = {.context = context},
        .character = def->character,
        .gravity = def->gravity,
        .step = def->step,
        .vertexCount = def->character->def.vertexCount,
        .boneCount = def->character->def.boneCount};
    result = Build(*truth, def, message);
    if (result < 0)
    {
        snwDestroyTruth(*truth);
        *truth = NULL;
    }
    return result;
}

void snwDestroyTruth(snwTruth* truth)
{
    if (truth == NULL)
        return;
    snwPattern_Destroy(truth->hessian);
    snwArena_Free(&truth->arena);
    snwFree(truth->context, truth);
}
