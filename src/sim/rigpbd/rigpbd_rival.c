// ARAP and FAST in the place of a substep (rival.h): handles are moved as in the coupled method, then the shape follows
// at once. Flesh and what is shown are the same. Gravity, contacts, drags of vertices, pins and rules have no meaning
// here.

#include "sim/origin.h"
#include "sim/rigpbd/rigpbd.h"

#include <math.h>

#include <string.h>

snwResult snwRigpbd_CreateRival(const snwSim* sim, int body, snwMessage* message)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigpbdModel* model = work->model;
    int solver = (int)snwSim_Param(sim, snw_rigpbdSolver);
    if (solver == snw_rigpbdSolverCoupled || model->handleCount == 0)
        return snw_ok;
    snwRivalDef def = {.kind = solver == snw_rigpbdSolverArap ? snw_rivalArap : snw_rivalFast,
        .mesh = {model->vertexCount, model->character->def.vertices, model->character->elements},
        .weights = model->rigWeights,
        .origins = model->origins};
    return snwRival_Create(sim->context, &def, &work->rivals[solver], message);
}

static void SetRivalVelocities(const snwRigpbdWork* work, double h)
{
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        snwVec3 way = snwVec3_Sub(snwRow_Get(work->state.positions, i), snwRow_Get(work->before, i));
        snwRow_Set(work->state.velocities, i, snwVec3_Scale(way, 1.0 / h));
    }
}

snwResult snwRigpbd_StepRival(snwSim* sim, int body, double fraction, double h, snwMessage* message)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigpbdModel* model = work->model;
    snwRival* rival = work->rivals[(int)snwSim_Param(sim, snw_rigpbdSolver)];
    if (rival == NULL)
        return snw_ok;

    // Handles go as in the coupled method, without limits.
    if (sim->part[0] == 0.0)
        snwRigpbd_LimitReach(work, INFINITY, INFINITY);
    snwRigpbd_MoveHandles(sim, body, fraction);

    memcpy(work->poses, work->state.pose, (size_t)model->handleCount * sizeof *work->poses);
    snwBody_FollowRows(&sim->bodies[body], &work->state.positions, 1);
    memcpy(work->before, work->state.positions, (size_t)model->vertexCount * 4 * sizeof(float));

    // All of the flesh is the rival's: what it says is where it is.
    snwRigFlesh flesh = {.rows = work->state.positions, .origin = *sim->bodies[body].origin};
    snwResult result = snwRival_Step(
        rival, work->targets, (int)snwSim_Param(sim, snw_rigpbdIterations), work->state.pose, &flesh, message);
    if (result < 0)
        return result;

    snwRigpbd_FollowHandles(work, h, fraction == 1.0);
    SetRivalVelocities(work, h);
    return snw_ok;
}
