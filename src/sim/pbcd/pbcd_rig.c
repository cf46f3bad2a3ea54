// Primary motion: where the artist puts the flesh, and the rests that follow from it. Rows, the pose that makes them
// and the segments are relative to the body's origin; bones and joints of the state are in the world.

#include "math/eigen.h"
#include "sim/pbcd/pbcd.h"
#include "sim/vertex_track.h"

#include <math.h>
#include <string.h>

enum
{
    snw_restGrain = 1024,  // blocks: enough for a worker to be worth waking
    snw_shapeGrain = 2048, // vertices
};

static void PosePbcdBones(snwSim* sim, int body, double time)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwCharacter* character = sim->bodies[body].character;
    snwTransform *pose = work->pose, *world = work->state.bones;
    snwSkeleton_Pose(&character->skeleton, snwSim_BodyMotion(sim, body), snwSim_MotionTime(sim, body, time), pose);
    for (int i = 0; i < character->def.boneCount; ++i)
    {
        world[i] = pose[i] = snwTransform_Compose(sim->starts[body].transform, pose[i]);
        pose[i].position = snwVec3_Sub(pose[i].position, *sim->bodies[body].origin);
    }
    for (int i = 0; i < character->def.jointCount; ++i)
        work->state.joints[i] = world[character->def.joints[i].bone];
}

// Where a motion puts the vertices before bones move them.
typedef struct ShapeLoop
{
    snwPbcdWork* work;
    const snwVertexTrackDef* track; // NULL: at rest
    snwVertexBlend blend;
    snwTransform place;
} ShapeLoop;

static snwVec3 ShapeVertex(const ShapeLoop* loop, int vertex)
{
    const snwPbcdModel* model = loop->work->model;
    snwVec3 x = model->character->def.vertices[vertex];
    float offset[3] = {0.0f, 0.0f, 0.0f};
    if (loop->track != NULL)
        snwVertexTrack_Offset(loop->track, &loop->blend, model->vertexCount, vertex, offset);
    return snwVec3_Add(x, (snwVec3){(double)offset[0], (double)offset[1], (double)offset[2]});
}

// Into the blocks of the skin.
static void ShapeBlocks(int begin, int end, void* data)
{
    const ShapeLoop* loop = data;
    const snwSkinModel* shape = &loop->work->shape;
    for (int b = begin; b < end; ++b)
        for (int lane = 0; lane < SNW_SKIN_LANES; ++lane)
        {
            snwVec3 x = snwVec3_Sub(ShapeVertex(loop, shape->blocks[b].vertex[lane]), shape->centre);
            shape->blocks[b].position[0][lane] = (float)x.x;
            shape->blocks[b].position[1][lane] = (float)x.y;
            shape->blocks[b].position[2][lane] = (float)x.z;
        }
}

// Without bones they are the reference.
static void ShapeRows(int begin, int end, void* data)
{
    const ShapeLoop* loop = data;
    for (int i = begin; i < end; ++i)
        snwRow_Set(loop->work->shaped, i, snwTransform_Apply(loop->place, ShapeVertex(loop, i)));
}

static void MovePbcdShape(snwSim* sim, int body, double time)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwMotionDef* motion = snwSim_BodyMotion(sim, body);
    ShapeLoop loop = {.work = work, .place = sim->starts[body].transform};
    loop.place.position = snwVec3_Sub(loop.place.position, *sim->bodies[body].origin);
    if (motion != NULL && motion->vertices.sampleCount > 0)
    {
        loop.track = &motion->vertices;
        loop.blend = snwVertexTrack_At(motion, loop.track, snwSim_MotionTime(sim, body, time));
    }
    snwParallelFor(sim->context, work->model->vertexCount, snw_shapeGrain, ShapeRows, &loop);
    if (work->model->skin != NULL)
        snwParallelFor(sim->context, work->shape.blockCount, snw_shapeGrain / SNW_SKIN_LANES, ShapeBlocks, &loop);
}

// Where two bones are an element apart, any motion that bends far enough turns what lies between them inside out, and
// flesh that they hold on several sides could not but follow. So x_r itself is unfolded there: all vertices of elements
// with a vertex of a bone give way alike. The rest is left to flesh.
static void UnfoldReference(snwSim* sim, snwPbcdWork* work)
{
    snwUnfold unfold = snwPbcd_Unfold(work, work->reference);
    int count = work->model->vertexCount;
    if (!work->model->unfolds || !snwUnfold_Mark(sim->context, &unfold))
        return;
    for (int i = 0; i < count; ++i)
        work->reference[4 * (size_t)i + 3] = 1.0f;
    snwUnfold_All(sim->context, &unfold);
    for (int i = 0; i < count; ++i)
        work->reference[4 * (size_t)i + 3] = 0.0f;
}

snwResult snwPbcd_MoveReference(snwSim* sim, int body, double time, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    const snwCharacterDef* def = &model->character->def;

    // The shape first, which morphs and caches change, then bones.
    if (model->moving)
        MovePbcdShape(sim, body, time);
    if (model->skin == NULL)
        return snw_ok;

    PosePbcdBones(sim, body, time);
    const snwSkinModel* skin = model->moving ? &work->shape : model->skin;
    snwSkinningPose pose = {.kind = model->skinning, .transforms = work->pose, .count = def->boneCount};
    snwResult result = snwSkinPalette_Set(&work->palette, skin, &pose, message);
    if (result < 0)
        return result;

    snwSkinningTarget target = {.positions = work->reference, .positionStride = 4 * (int)sizeof(float)};
    snwSkinModel_Apply(sim->context, skin, &work->palette, &target);
    UnfoldReference(sim, work);

    // Segments of the bones, for flesh that keeps its distance to them.
    for (int i = 0; work->segments != NULL && i < def->boneCount; ++i)
    {
        work->segments[2 * i] = snwTransform_Apply(work->pose[i], def->bones[i].head);
        work->segments[2 * i + 1] = snwTransform_Apply(work->pose[i], def->bones[i].tail);
    }

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Cuts: the artist starts anew somewhere else, or teleports the root. Flesh goes along as it is: everything is turned
// by the rigid motion of the jump, found at the instant where it happens, and goes on as if nothing had been. A jump
// that takes longer than an instant cannot be told from the motion around it: x_r then rests for that step.

static const double s_instant = 2e-6;    // s: of the least gap between keys
static const double s_edge = 6e-6;       // s: how far around it a spline swings
static const double s_leastJump = 0.002; // of the size, in an instant

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

static void TurnPoseRows(float* rows, int count, snwTransform motion, bool points)
{
    for (int i = 0; rows != NULL && i < count; ++i)
    {
        snwVec3 v = snwRow_Get(rows, i);
        snwRow_Set(rows, i, points ? snwTransform_Apply(motion, v) : snwQuat_Rotate(motion.rotation, v));
    }
}

// m, root of the mean square.
static double WayBetween(const float* from, const float* to, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i)
    {
        snwVec3 way = snwVec3_Sub(snwRow_Get(to, i), snwRow_Get(from, i));
        sum += snwVec3_Dot(way, way);
    }
    return sqrt(sum / count);
}

static void CarryOver(const snwPbcdWork* work, snwTransform motion)
{
    const snwPbcdModel* model = work->model;
    const snwPbcdState* state = &work->state;
    int count = model->vertexCount;
    TurnPoseRows(state->reference, count, motion, true);
    TurnPoseRows(state->positions, count, motion, true);
    TurnPoseRows(state->velocities, count, motion, false);
    TurnPoseRows(state->referenceVelocities, count, motion, false);
    if (model->integrator == snw_pbcdBdf2)
    {
        TurnPoseRows(state->beforePositions, count, motion, true);
        TurnPoseRows(state->beforeVelocities, count, motion, false);
    }
    if (model->integrator == snw_pbcdTrapezoid)
        TurnPoseRows(state->accelerations, count, motion, false);
}

// Halves the step until what is left of it is an instant, always towards the longer way. x_r before and after it then
// differ by the jump and nothing else.
static snwResult FindInstant(snwSim* sim, int body, double least, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    int count = work->model->vertexCount;
    size_t bytes = (size_t)count * 4 * sizeof(float);

    float *before = work->target, *after = work->last;
    double low = snwSim_SceneTime(sim), high = low + sim->dt;

    // Where the artist has the flesh at both ends of what is left.
    memcpy(before, work->state.reference, bytes);
    memcpy(after, work->reference, bytes);
    while (high - low > s_instant)
    {
        double middle = 0.5 * (low + high);
        snwResult result = snwPbcd_MoveReference(sim, body, middle, message);
        if (result < 0)
            return result;
        bool first = WayBetween(before, work->reference, count) > WayBetween(work->reference, after, count);
        memcpy(first ? after : before, work->reference, bytes);
        *(first ? &high : &low) = middle;
    }

    // A little outside of the instant on either side.
    snwResult result = snwPbcd_MoveReference(sim, body, low - s_edge, message);
    memcpy(before, work->reference, bytes);
    if (result >= 0)
        result = snwPbcd_MoveReference(sim, body, high + s_edge, message);
    memcpy(after, work->reference, bytes);

    if (result < 0 || WayBetween(before, after, count) < least)
        return result;

    work->jumpTime = high;
    work->jump = FitMotion(before, after, count);
    return snw_ok;
}

// Does the motion begin anew in this step?
static bool Wraps(const snwSim* sim, int body)
{
    const snwMotionDef* motion = snwSim_BodyMotion(sim, body);
    if (motion == NULL || !motion->loop)
        return false;
    // An edge may lie just before the end, and a step may end there but for rounding.
    double start = snwSim_MotionTime(sim, body, snwSim_SceneTime(sim)) - 3.0 * s_edge;
    double end = snwSim_MotionTime(sim, body, snwSim_SceneTime(sim) + sim->dt) + 3.0 * s_edge;
    return floor(start / motion->duration) != floor(end / motion->duration);
}

// Looks for a jump in the step that begins now. Any at all where a loop begins anew, else one that is long.
static snwResult LookForJump(snwSim* sim, int body, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwCharacter* character = work->model->character;
    double start = snwSim_SceneTime(sim), cut = snwSim_Param(sim, snw_pbcdCut);
    double size = snwVec3_Distance(character->lower, character->upper);

    work->cut = false;
    work->jumpTime = -1.0;
    if (cut == 0.0)
        return snw_ok;

    // How far the artist moves the body in this step.
    snwResult result = snwPbcd_MoveReference(sim, body, start + sim->dt, message);
    if (result < 0)
        return result;
    bool jumped = WayBetween(work->state.reference, work->reference, work->model->vertexCount) > cut * size;
    if (!jumped && !Wraps(sim, body))
        return snw_ok;

    result = FindInstant(sim, body, s_leastJump * size, message);
    if (result < 0 || work->jumpTime >= 0.0 || !jumped)
        return result;

    // It goes too far in this step, but at no instant of it: the whole step counts as the jump.
    result = snwPbcd_MoveReference(sim, body, start + sim->dt, message);
    work->cut = true;
    CarryOver(work, FitMotion(work->state.reference, work->reference, work->model->vertexCount));
    memcpy(work->state.reference, work->reference, (size_t)work->model->vertexCount * 4 * sizeof(float));

    return result;
}

// A motion that waited goes on at full speed in an instant, and flesh with it: it was moving before anybody looked.
// Without this every clip that begins in full swing would begin with a whip.
static snwResult Launch(snwSim* sim, int body, double h, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdState* state = &work->state;

    double wait = sim->def->bodies[body].motionWait, start = snwSim_SceneTime(sim);
    if (!(wait > 0.0) || fabs(start - wait) > 0.5 * h)
        return snw_ok;

    snwResult result = snwPbcd_MoveReference(sim, body, start + h, message);
    for (int i = 0; i < work->model->vertexCount && result >= 0; ++i)
        for (size_t k = 4 * (size_t)i; k < 4 * (size_t)i + 3; ++k)
        {
            float v = (work->reference[k] - state->reference[k]) / (float)h, more = v - state->referenceVelocities[k];
            state->velocities[k] += more;
            state->referenceVelocities[k] = v;

            // BDF2 looks back two steps: both are as if it had always moved so.
            if (work->model->integrator == snw_pbcdBdf2)
            {
                state->beforeVelocities[k] += more;
                state->beforePositions[k] -= (float)h * more;
            }
        }

    return result;
}

snwResult snwPbcd_BeginReference(snwSim* sim, int body, double h, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    if (!work->model->driven)
        return snw_ok;

    // Jumps are looked for once per step.
    if (sim->substepTime - snwSim_SceneTime(sim) < 1.5 * h) // the first substep of a step
    {
        snwResult result = LookForJump(sim, body, message);
        if (result >= 0)
            result = Launch(sim, body, h, message);
        if (result < 0)
            return result;
    }

    // The jump has come: flesh goes along with it, with its shape and its own motion.
    if (work->jumpTime >= 0.0 && work->jumpTime <= sim->substepTime)
    {
        CarryOver(work, work->jump);
        work->jumpTime = -1.0;
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

    // On what they depend.
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

    // Each law its own; viscosity works through strains, whatever the law.
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

    // Which rests: the artist's where they move along, and where flesh is now for what creeps.
    snwRestSweep rests = {.reference = model->movingRests ? work->reference : NULL,
        .shaped = model->moving ? work->shaped : NULL,
        .before = work->before,
        .creep = (float)(viscosity / (time->h + viscosity)),
        .edges = model->blocks.edges,
        .tets = model->blocks.tets,
        .restShapes = model->rests,
        .edgeStates = work->sweep.edgeStates,
        .tetStates = work->sweep.tetStates,
        .strainStates = work->sweep.strainStates,
        .rests = work->rests};

    // Lengths and volumes; pushes of a correction begin anew with them.
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

    // Shapes, and no push yet.
    if (model->law == snw_pbcdNeo)
    {
        if (model->movingRests)
            ForBlocks(sim, kernels->neoRests, &rests, tetBlocks);
        snwNeoState_Clear(work->sweep.neoStates, 0, tetBlocks);
        work->moves.on = model->commit == snw_pbcdSeidel &&
                         snwNeoMoves_AreLost(model->character, sim->bodies[body].materials, time->h);
        snwNeoMoves_Begin(&work->moves, work->state.positions, model->vertexCount);
        rests.creep = 1.0f; // what the strains do here is viscosity alone
    }

    // Strains, which are the law, or what makes it viscous.
    if (model->law == snw_pbcdStrain || (model->law == snw_pbcdNeo && viscosity > 0.0))
        ForBlocks(sim, kernels->strains, &rests, tetBlocks);
}
