// What others see of a body.

#include "math/eigen.h"
#include "sim/rigpbd/rigpbd.h"

void snwRigpbd_GetVertices(const snwSim* sim, int body, snwVertices* vertices)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    *vertices = (snwVertices){
        work->state.positions, work->state.velocities, work->model->vertexCount, 4 * (int)sizeof(float)};
}

// Skinned when somebody asks.
void snwRigpbd_GetShown(const snwSim* sim, int body, snwVertices* vertices)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    bool coupled = (int)snwSim_Param(sim, snw_rigpbdSolver) == snw_rigpbdSolverCoupled;
    snwRigpbd_GetVertices(sim, body, vertices);
    if (work->model->handleCount == 0 || !coupled || snwSim_Param(sim, snw_rigpbdShow) == snw_rigpbdShowFlesh ||
        snwRigpbd_Ready(sim, NULL) < 0)
        return;
    int which = snwRigpbd_WhichFit(sim, body);
    if (work->shownChanges != sim->changes)
        snwRigFit_ApplyFlesh(sim->context, work->rigs[which], work->fits[which], work->state.pose,
            &(snwRigFlesh){.origin = *sim->bodies[body].origin}, work->shown);
    work->shownChanges = sim->changes;
    vertices->positions = work->shown;
}

// Without what squashes and stretches.
static snwTransform RigidOf(const snwRigPose* pose, snwVec3 origin)
{
    snwMat3 turn = snwPolar3_Compute(pose->linear).rotation;
    return (snwTransform){snwVec3_Sub(pose->place, snwMat3_MulVec(turn, origin)), snwQuat_FromMat3(turn)};
}

void snwRigpbd_GetHandles(const snwSim* sim, int body, snwTransforms* handles)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    bool rigid = !snwRigpbd_IsAffine(sim) && (int)snwSim_Param(sim, snw_rigpbdSolver) == snw_rigpbdSolverCoupled;
    if (work->model->handleCount > 0 && rigid)
        snwRigFit_Transforms(work->model->fits[snw_rigpbdJoined], work->state.pose, work->transforms);
    for (int i = 0; i < work->model->handleCount && !rigid; ++i)
        work->transforms[i] = RigidOf(&work->state.pose[i], work->model->origins[i]);
    handles->data = work->transforms;
}

void snwRigpbd_GetHandleMatrices(const snwSim* sim, int body, snwMatrices* handles)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    if (work->model->handleCount > 0)
        snwRigFit_Matrices(work->model->fits[snw_rigpbdJoined], work->state.pose, work->matrices);
    handles->data = (const double(*)[12])work->matrices;
}

// A bone that is no handle stays in the rest pose.
static void FindShownBones(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    snwTransforms handles;
    snwRigpbd_GetHandles(sim, body, &handles);
    for (int i = 0; i < work->model->character->def.boneCount; ++i)
    {
        int handle = work->model->boneHandles[i];
        work->bones[i] = handle >= 0 ? work->transforms[handle] : sim->bodies[body].restPoses[i];
    }
}

void snwRigpbd_GetBones(const snwSim* sim, int body, snwTransforms* bones)
{
    if (bones->count > 0)
        FindShownBones(sim, body);
    bones->data = snwRigpbd_Work(sim, body)->bones;
}

// A joint goes with its bone.
void snwRigpbd_GetJoints(const snwSim* sim, int body, snwTransforms* joints)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwCharacterDef* def = &work->model->character->def;
    if (joints->count > 0)
        FindShownBones(sim, body);
    for (int i = 0; i < def->jointCount; ++i)
        work->joints[i] = work->bones[def->joints[i].bone];
    joints->data = work->joints;
}
