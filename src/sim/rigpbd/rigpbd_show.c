// What others see of a body.

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
    const snwRigFit* fit = work->model->fits[snw_rigpbdJoined];
    snwRigpbd_GetVertices(sim, body, vertices);
    if (fit == NULL || work->rival != NULL || snwSim_Param(sim, snw_rigpbdShow) == snw_rigpbdShowFlesh)
        return;
    if (work->shownChanges != sim->changes)
        snwRigFit_Apply(sim->context, fit, work->fits[snw_rigpbdJoined], work->state.pose, NULL, work->shown);
    work->shownChanges = sim->changes;
    vertices->positions = work->shown;
}

void snwRigpbd_GetHandles(const snwSim* sim, int body, snwTransforms* handles)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    if (work->model->handleCount > 0)
        snwRigFit_Transforms(work->model->fits[snw_rigpbdJoined], work->state.pose, work->transforms);
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
static void FindBones(const snwSim* sim, int body)
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
        FindBones(sim, body);
    bones->data = snwRigpbd_Work(sim, body)->bones;
}

// A joint goes with its bone.
void snwRigpbd_GetJoints(const snwSim* sim, int body, snwTransforms* joints)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwCharacterDef* def = &work->model->character->def;
    if (joints->count > 0)
        FindBones(sim, body);
    for (int i = 0; i < def->jointCount; ++i)
        work->joints[i] = work->bones[def->joints[i].bone];
    joints->data = work->joints;
}
