// Parameters that change while running: the solver, what handles may do, contact of bodies with themselves. What a
// choice needs is made when it is first made; what the state was left as by another is put right before a substep.

#include "math/eigen.h"
#include "sim/rigpbd/rigpbd.h"

#include <string.h>

bool snwRigpbd_IsAffine(const snwSim* sim)
{
    return snwSim_Param(sim, snw_rigpbdHandles) != 0.0;
}

static int Solver(const snwSim* sim)
{
    return (int)snwSim_Param(sim, snw_rigpbdSolver);
}

int snwRigpbd_WhichFit(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    bool loose = (int)snwSim_Param(sim, snw_rigpbdChains) == snw_rigpbdChainsNone;
    int which = snwRigpbd_IsAffine(sim) && work->fits[snw_rigpbdAffine] != NULL ? snw_rigpbdAffine : snw_rigpbdJoined;
    return loose && work->rigs[which + snw_rigpbdLoose] != NULL ? which + snw_rigpbdLoose : which;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is needed

static snwResult MakeAffine(const snwSim* sim, snwRigpbdWork* work, snwMessage* message)
{
    snwResult result = snw_ok;
    if (work->rigs[snw_rigpbdAffine] == NULL)
        result = snwRigpbd_MakeAffine(sim->context, work->model, &work->rigs[snw_rigpbdAffine], message);
    for (int f = snw_rigpbdFits - 1; f >= snw_rigpbdAffine && result >= 0; --f)
        if (work->rigs[f] != NULL && work->fits[f] == NULL)
            result = snwRigFitScratch_Create(sim->context, work->rigs[f], &work->fits[f], message);
    return result < 0 ? result : snw_ok;
}

snwResult snwRigpbd_Ready(const snwSim* sim, snwMessage* message)
{
    snwRigpbdScratch* scratch = sim->scratch;
    int self = snwSim_Param(sim, snw_rigpbdSelf) != 0.0;
    snwResult result = snw_ok;
    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
    {
        snwRigpbdWork* work = &scratch->works[i];
        if (work->model->handleCount == 0)
            continue;
        if (snwRigpbd_IsAffine(sim) && work->fits[snw_rigpbdAffine] == NULL)
            result = MakeAffine(sim, work, message);
        if (result >= 0 && work->rivals[Solver(sim)] == NULL)
            result = snwRigpbd_CreateRival(sim, i, message);
    }
    if (result >= 0 && scratch->responses[self] == NULL)
        result = snwSim_CreateResponse((snwSim*)sim, self != 0, &scratch->responses[self], message);
    return result < 0 ? result : snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is left

// Rivals have no time: flesh and rig start from rest, and nothing has touched anything.
static void StartRigAgain(const snwSim* sim, int body)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwCharacter* character = work->model->character;
    for (int i = 0; i < work->model->vertexCount; ++i)
        snwRow_Set(work->state.velocities, i, (snwVec3){0, 0, 0});
    for (int i = 0; i < work->model->handleCount; ++i)
        work->state.handles[i].velocity = work->state.handles[i].spin = (snwVec3){0, 0, 0};
    memset(work->state.anchors, 0, (size_t)character->touchCount * snw_anchorsPerVertex * sizeof *work->state.anchors);
    *work->state.closing = 0.0;
}

// The nearest that the handles of the coupled method can be: corners of cages are turned as at the start.
static void MakeRigid(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwCharacterDef* def = &work->model->character->def;
    snwQuat start = sim->starts[body].transform.rotation;
    if (work->model->flat)
        start = (snwQuat){0, 0, start.z, start.w};
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        bool cage = def->handleCount > 0 && def->handles[i].kind == snw_handleCage;
        snwMat3* linear = &work->state.pose[i].linear;
        if (cage)
            *linear = snwQuat_ToMat3(snwQuat_Normalize(start));
        else if (!snwRigpbd_IsAffine(sim))
            *linear = snwPolar3_Compute(*linear).rotation;
    }
}

void snwRigpbd_Switch(snwSim* sim, int body)
{
    snwRigpbdRun* run = snwRigpbd_Work(sim, body)->state.run;
    snwRigpbdRun now = {Solver(sim), snwRigpbd_IsAffine(sim), run->swing};
    bool coupled = now.solver == snw_rigpbdSolverCoupled, comes = run->solver != now.solver;
    if (coupled && comes)
        StartRigAgain(sim, body);
    if (coupled && (comes || run->affine > now.affine))
        MakeRigid(sim, body);
    *run = now;
}
