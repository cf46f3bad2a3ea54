// Primary motion: where the artist puts the flesh, and the rests that follow from it.

#include "math/eigen.h"
#include "sim/pbcd/pbcd.h"

#include <math.h>
#include <string.h>

enum
{
    snw_restGrain = 1024, // blocks: enough for a worker to be worth waking
};

static void PoseBones(snwSim* sim, int body, double time, snwTransform* pose)
{
    const snwCharacter* character = sim->bodies[body].character;
    snwSkeleton_Pose(&character->skeleton, snwSim_BodyMotion(sim, body), snwSim_MotionTime(sim, body, time), pose);
    for (int i = 0; i < character->def.boneCount; ++i)
        pose[i] = snwTransform_Compose(sim->starts[body].transform, pose[i]);
}

snwResult snwPbcd_MoveReference(snwSim* sim, int body, double time, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    const snwCharacterDef* def = &model->character->def;
    PoseBones(sim, body, time, work->pose);
    snwSkinningPose pose = {.kind = model->skinning, .transforms = work->pose, .count = def->boneCount};
    snwResult result = snwSkinPalette_Set(&work->palette, model->skin, &pose, message);
    if (result < 0)
        return result;
    snwSkinningTarget target = {.positions = work->reference, .positionStride = 4 * (int)sizeof(float)};
    snwSkinModel_Apply(sim->context, model->skin, &work->palette, &target);
    memcpy(work->state.bones, work->pose, (size_t)def->boneCount * sizeof *work->pose);
    for (int i = 0; i < def->jointCount; ++i)
        work->state.joints[i] = work->pose[def->joints[i].bone];
    for (int i = 0; work->segments != NULL && i < def->boneCount; ++i)
    {
        work->segments[2 * i] = snwTransform_Apply(work->pose[i], def->bones[i].head);
        work->segments[2 * i + 1] = snwTransform_Apply(work->pose[i], def->bones[i].tail);
    }
    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Cuts: the artist starts anew somewhere else, or teleports the root. Flesh goes along as it is.

// The rigid motion nearest to what the reference did.
static snwTransform FitMotion(const float* from, const float* to, int count)
{
    snwVec3 a = {0, 0, 0}, b = {0, 0, 0};
    snwMat3 moment = {{{0}}};
    for (int i = 0; i < count; ++i)
    {
        a = snwVec3_MulAdd(a, 1.0 / count, snwRow_Get(from, i));
        b = snwVec3_MulAdd(b, 1.0 / count, snwRow_Get(to, i));
    }
    for (int i = 0; i < count; ++i)
        moment = snwMat3_Add(
            moment, snwMat3_Outer(snwVec3_Sub(snwRow_Get(to, i), b), snwVec3_Sub(snwRow_Get(from, i), a)));
    snwQuat rotation = snwQuat_FromMat3(snwPolar3_Compute(moment).rotation);
    return (snwTransform){snwVec3_Sub(b, snwQuat_Rotate(rotation, a)), rotation};
}

static void TurnRows(float* rows, int count, snwTransform motion, bool points)
{
    for (int i = 0; rows != NULL && i < count; ++i)
    {
        snwVec3 v = snwRow_Get(rows, i);
        snwRow_Set(rows, i, points ? snwTransform_Apply(motion, v) : snwQuat_Rotate(motion.rotation, v));
    }
}

static bool HasJumped(const snwSim* sim, const snwPbcdWork* work)
{
    const snwCharacter* character = work->model->character;
    double sum = 0.0, cut = snwSim_Param(sim, snw_pbcdCut);
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        snwVec3 way = snwVec3_Sub(snwRow_Get(work->reference, i), snwRow_Get(work->state.reference, i));
        sum += snwVec3_Dot(way, way);
    }
    double size = snwVec3_Distance(character->lower, character->upper);
    return cut > 0.0 && sum > cut * cut * size * size * work->model->vertexCount;
}

static void CarryOver(snwPbcdWork* work)
{
    const snwPbcdModel* model = work->model;
    const snwPbcdState* state = &work->state;
    int count = model->vertexCount;
    snwTransform motion = FitMotion(state->reference, work->reference, count);
    TurnRows(state->positions, count, motion, true);
    TurnRows(state->velocities, count, motion, false);
    TurnRows(state->referenceVelocities, count, motion, false);
    if (model->integrator == snw_pbcdBdf2)
    {
        TurnRows(state->beforePositions, count, motion, true);
        TurnRows(state->beforeVelocities, count, motion, false);
    }
    if (model->integrator == snw_pbcdTrapezoid)
        TurnRows(state->accelerations, count, motion, false);
    memcpy(state->reference, work->reference, (size_t)count * 4 * sizeof(float));
}

snwResult snwPbcd_BeginReference(snwSim* sim, int body, double h, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    double start = snwSim_SceneTime(sim);
    if (!work->model->driven)
        return snw_ok;
    if (sim->substepTime - start < 1.5 * h) // the first substep of a step
    {
        snwResult result = snwPbcd_MoveReference(sim, body, start + sim->dt, message);
        if (result < 0)
            return result;
        work->cut = HasJumped(sim, work);
        if (work->cut)
            CarryOver(work);
    }
    return work->cut ? snw_ok : snwPbcd_MoveReference(sim, body, sim->substepTime, message);
}

void snwPbcd_EndReference(snwSim* sim, int body, double h)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    if (!work->model->driven || work->cut)
        return;
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        float *now = work->reference + 4 * (size_t)i, *before = work->state.reference + 4 * (size_t)i;
        for (int k = 0; k < 3; ++k)
        {
            work->state.referenceVelocities[4 * (size_t)i + (size_t)k] = (float)((double)(now[k] - before[k]) / h);
            before[k] = now[k];
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rests and compliances

typedef struct RestLoop
{
    snwRestKernelFn* kernel;
    const snwRestSweep* sweep;
} RestLoop;

static void RunRests(int begin, int end, void* data)
{
    const RestLoop* loop = data;
    loop->kernel(loop->sweep, begin, end);
}

static void ForBlocks(snwSim* sim, snwRestKernelFn* kernel, const snwRestSweep* sweep, int blocks)
{
    RestLoop loop = {kernel, sweep};
    snwParallelFor(sim->context, blocks, snw_restGrain, RunRests, &loop);
}

// Made anew only when something they depend on has changed; scratch holds nothing that the state does not say.
static void SetCompliances(snwSim* sim, int body, double e, double viscous)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    const snwMaterial* materials = sim->bodies[body].materials;
    const double now[5] = {e, viscous, snwSim_Param(sim, snw_pbcdAlongX), snwSim_Param(sim, snw_pbcdAlongY),
        snwSim_Param(sim, snw_pbcdAlongZ)};
    size_t bytes = (size_t)model->character->def.materialCount * sizeof *materials;
    bool same = true;
    for (int i = 0; i < 5; ++i)
        same = same && now[i] == work->compliances[i];
    if (same && memcmp(materials, work->materials, bytes) == 0)
        return;
    memcpy(work->compliances, now, sizeof now);
    memcpy(work->materials, materials, bytes);
    snwSoftDef def = {.character = model->character,
        .blocks = &model->blocks,
        .tetEdges = (const snwTetEdges*)model->tetEdges,
        .materials = materials,
        .e = e,
        .viscous = viscous,
        .axes = {now[2], now[3], now[4]}};
    if (model->law == snw_pbcdEdges)
    {
        snwSoft_SetEdges(&def, work->sweep.edgeStates, work->stiffnesses);
        snwSoft_SetVolumes(&def, work->sweep.tetStates);
    }
    if (model->law == snw_pbcdNeo)
        snwNeoState_SetMaterials(work->sweep.neoStates, model->rests, 0, model->blocks.tetBlocks, materials, e);
    if (model->law == snw_pbcdStrain || viscous > 0.0)
        if (model->law != snw_pbcdEdges)
            snwSoft_SetStrains(&def, work->sweep.strainStates, model->law == snw_pbcdNeo);
}

void snwPbcd_SetRests(snwSim* sim, int body, const snwPbcdTime* time)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    const snwConstraintKernels* kernels = snwConstraint_Kernels(sim->context->simd);
    double viscosity = snwSim_Param(sim, snw_pbcdViscosity);
    int tetBlocks = model->blocks.tetBlocks;
    SetCompliances(sim, body, time->e, viscosity / time->h);
    snwRestSweep rests = {.reference = model->movingRests ? work->reference : NULL,
        .before = work->before,
        .creep = (float)(viscosity / (time->h + viscosity)),
        .edges = model->blocks.edges,
        .tets = model->blocks.tets,
        .restShapes = model->rests,
        .edgeStates = work->sweep.edgeStates,
        .tetStates = work->sweep.tetStates,
        .strainStates = work->sweep.strainStates,
        .rests = work->rests};
    if (model->law == snw_pbcdEdges)
    {
        ForBlocks(sim, kernels->lengths, &rests, model->blocks.edgeBlocks);
        ForBlocks(sim, kernels->volumes, &rests, tetBlocks);
        if (model->corrected)
        {
            memset(work->sweep.edgePushes, 0, (size_t)model->blocks.edgeBlocks * sizeof *work->sweep.edgePushes);
            memset(work->sweep.tetPushes, 0, (size_t)tetBlocks * sizeof *work->sweep.tetPushes);
        }
    }
    if (model->law == snw_pbcdNeo)
    {
        if (model->movingRests)
            ForBlocks(sim, kernels->neoRests, &rests, tetBlocks);
        snwNeoState_Clear(work->sweep.neoStates, 0, tetBlocks);
        rests.creep = 1.0f; // what the strains do here is viscosity alone
    }
    if (model->law == snw_pbcdStrain || (model->law == snw_pbcdNeo && viscosity > 0.0))
        ForBlocks(sim, kernels->strains, &rests, tetBlocks);
}
