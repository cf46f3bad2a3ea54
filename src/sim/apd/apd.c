// The method apd (apd.h): its parameters, and the substep of articulated projective dynamics as stages: prediction,
// then iterations of local step, right side (snwApd_Residual) and global step (the sweeps of Eq. 17, rearranged).

#include "sim/apd/apd.h"
#include "math/eigen.h"
#include "sim/methods.h"

#include <math.h>
#include <string.h>

enum
{
    apd_stageFactor,
    apd_stagePredict,
    apd_stageDetect,
    apd_stageLocal,
    apd_stageResidual,
    apd_stageColumns,
    apd_stageSweeps,
    apd_stageBones,
    apd_stageContact,
    apd_stageFinish,
    apd_stageCount,

    apd_lookAgain = 3, // iterations between two looks at curved colliders
    apd_settleRounds = 3,
};

static const char* const s_stages[apd_stageCount] = {
    "factor", "predict", "detect", "local", "residual", "columns", "sweeps", "bones", "contact", "finish"};

static const char* const s_solvers[] = {"articulated", "plain", "stiff", "split", "literal", "constrained", NULL};
static const char* const s_laws[] = {"strain", "volume", "corotated", "neo", NULL};

static const snwParamInfo s_params[snw_apdParamCount] = {
    [snw_apdIterations] = {.name = "apd.iterations",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 10000,
        .initial = 10,
        .live = true,
        .help = "local and global steps in each substep; with solver constrained only contacts and drags go by it"},
    [snw_apdPasses] = {.name = "apd.passes",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 20,
        .initial = 2,
        .live = true,
        .help = "solutions of the small problem of the bones in each iteration, each at the pose of the one before"},
    [snw_apdRefresh] = {.name = "apd.refresh",
        .type = snw_paramReal,
        .unit = "rad",
        .lower = 0,
        .upper = 1,
        .initial = 0.1,
        .live = true,
        .help = "turn of a bone within a substep after which the small matrix is made anew; 0: in every pass"},
    [snw_apdLaw] = {.name = "apd.law",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_elasticLawCount - 1,
        .initial = snw_elasticNeo,
        .choices = s_laws,
        .help = "flesh: strain (distance to rotations), volume (that and distance to matrices of determinant 1), "
                "corotated (linear, with the true moduli) or neo (stable Neo-Hookean)"},
    [snw_apdSolver_] = {.name = "apd.solver",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_apdSolverCount - 1,
        .initial = snw_apdArticulated,
        .choices = s_solvers,
        .help =
            "articulated: this method; plain: no bones, all is flesh; stiff: bones imitated by stiffness, without "
            "joints; split: the forerunner of 2019, joints in a problem of their own; literal: the paper's Eq. 17 as "
            "printed; constrained: stable constrained dynamics, stiff bones without joints, one linear solve per "
            "substep, at most 20000 vertices, only with laws corotated and strain"},
    [snw_apdRatio] = {.name = "apd.ratio",
        .type = snw_paramReal,
        .unit = "",
        .lower = 1,
        .upper = 1e6,
        .initial = 500,
        .help = "stiffness of bones over that of their flesh, where apd.solver is stiff or constrained"},
    [snw_apdAccelerate] = {.name = "apd.accelerate",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 1,
        .live = true,
        .help = "mix the last iterations for faster convergence (Anderson), where that lowers the objective; substeps "
                "with contact go plainly"},
    [snw_apdLimits] = {.name = "apd.limits",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 1,
        .live = true,
        .help = "joints stop at their ranges and cones"},
    [snw_apdDrive] = {.name = "apd.drive",
        .type = snw_paramReal,
        .unit = "Hz",
        .lower = 0,
        .upper = 1000,
        .initial = 8,
        .live = true,
        .help = "how tightly joints follow the body's motion or their clips: frequency of the drives against the "
                "bones' own inertia; 0: not"},
    [snw_apdDrag] = {.name = "apd.drag",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 0,
        .live = true,
        .help = "how fast all motion dies, of bodies and props, as in thick air"},
    [snw_apdSelf] = {.name = "apd.self",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .help = "contact of each body with itself; bodies always touch each other"},
};

// ---------------------------------------------------------------------------------------------------------------------
// Scratch

static snwResult CreateBody(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwApdModel* model = body->model = sim->bodies[index].model;
    body->state = snwApd_PlaceState(model, sim->bodies[index].state);

    snwArena* arena = &sim->arena;
    size_t n = (size_t)model->vertexCount, bones = (size_t)model->boneCount;

    // Where the substep began, where inertia leads, and a place to put positions aside.
    body->before = snwArena_Alloc(arena, n, sizeof *body->before);
    body->inertial = snwArena_Alloc(arena, n, sizeof *body->inertial);
    body->aside = snwArena_Alloc(arena, n, sizeof *body->aside);
    body->bonesAside = snwArena_Alloc(arena, bones, sizeof *body->bonesAside);
    body->external = snwArena_Alloc(arena, n, sizeof *body->external);
    body->opening = snwArena_Alloc(arena, n, sizeof *body->opening);

    body->squeezed = snwArena_Alloc(arena, (size_t)model->blockCount, 1);
    body->rows = snwArena_Alloc(arena, n, 4 * sizeof(float));
    body->start = snwArena_Alloc(arena, (size_t)model->blockCount, sizeof *body->start);

    // Forces of each part of the elements, so that parts run side by side.
    for (int p = 0; p < model->partCount; ++p)
        body->forces[p] = snwArena_Alloc(arena, n, 4 * sizeof(float));
    body->bonesBefore = snwArena_Alloc(arena, bones, sizeof *body->bonesBefore);
    body->boneFits = snwArena_Alloc(arena, (size_t)model->character->def.boneCount, sizeof *body->boneFits);
    body->boneInertial = snwArena_Alloc(arena, bones, sizeof *body->boneInertial);

    if (arena->failed)
        return snwFailMemory(message);

    snwResult result = snwApd_CreateSystem(sim, index, message);
    if (result >= 0)
        result = snwApd_CreateMix(sim, index, message);
    if (result >= 0)
        result = snwApd_CreateDescent(sim, index, message);
    if (result >= 0)
        result = snwApd_CreateBones(sim, index, message);

    // The rivals of the paper have work arrays of their own.
    if (result >= 0 && model->solver == snw_apdLiteral)
        result = snwApd_CreateLiteral(sim, index, message);
    if (result >= 0 && model->solver == snw_apdConstrained)
        result = snwApd_CreateConstrained(sim, index, message);
    return result;
}

static snwResult CreateApdScratch(snwSim* sim, snwMessage* message)
{
    snwApdScratch* scratch = snwArena_Alloc(&sim->arena, 1, sizeof *scratch);
    sim->scratch = scratch;
    if (scratch == NULL)
        return snwFailMemory(message);
    scratch->bodies = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->bodies);
    if (scratch->bodies == NULL)
        return snwFailMemory(message);
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwResult result = CreateBody(sim, i, message);
        if (result < 0)
            return result;
    }
    return snwApd_CreateContacts(sim, message);
}

static void DestroyApdScratch(snwSim* sim)
{
    const snwApdScratch* scratch = sim->scratch;
    for (int i = 0; i < sim->bodyCount && scratch->bodies != NULL; ++i)
    {
        snwApd_DestroyLiteral(&scratch->bodies[i]);
        snwApd_DestroyConstrained(&scratch->bodies[i]);
        snwCholeskyScratch_Destroy(scratch->bodies[i].solve);
        snwCholesky_Destroy(scratch->bodies[i].factor);
        snwPattern_Destroy(scratch->bodies[i].pattern);
    }
    snwDestroyResponse(scratch->response);
}

// ---------------------------------------------------------------------------------------------------------------------
// Prediction

typedef struct VertexLoop
{
    snwApdBody* body;
    snwApdState state;
    snwVec3 gravity;
    double h, keep;
} VertexLoop;

static void PredictApdVertices(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    snwApdBody* body = loop->body;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 x = loop->state.positions[i];
        body->before[i] = x;
        x = snwVec3_MulAdd(x, loop->h, loop->state.velocities[i]);
        x = snwVec3_MulAdd(x, loop->h * loop->h, loop->gravity);
        body->inertial[i] = x;
        body->external[i] = (snwVec3){0, 0, 0};
        loop->state.positions[i] = x;
    }
}

// Bones go on by inertia as affine bodies do, then to the nearest rigid place.
static void PredictBones(const VertexLoop* loop)
{
    snwApdBody* body = loop->body;
    for (int k = 0; k < body->model->boneCount; ++k)
    {
        snwApdBone* bone = &loop->state.bones[k];
        snwVec3* t = body->boneInertial[k];
        body->bonesBefore[k] = *bone;
        snwApdBone_Rows(body->model, k, bone, t);
        for (int a = 0; a < 4; ++a)
            t[a] = snwVec3_MulAdd(t[a], loop->h, bone->rate[a]);
        t[3] = snwVec3_MulAdd(t[3], loop->h * loop->h, loop->gravity);
        bone->rotation = snwQuat_FromMat3(snwPolar3_Compute(snwMat3_FromColumns(t[0], t[1], t[2])).rotation);
        bone->centre = t[3];
    }
    snwApd_PlaceBoneVertices(body->model, loop->state.bones, loop->state.positions);
}

static void AddApdPushes(snwSim* sim, int index)
{
    snwApdBody* body = snwApd_Body(sim, index);
    double mass = 0.0;
    for (int i = 0; i < body->model->vertexCount; ++i)
        mass += body->masses[i];
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabPush || grab->body != index)
            continue;
        snwVec3 force = snwSim_PushForce(sim, grab);
        if (grab->vertex >= 0)
            body->external[grab->vertex] = snwVec3_Add(body->external[grab->vertex], force);
        for (int k = 0; k < body->model->vertexCount && grab->vertex < 0; ++k)
            body->external[k] = snwVec3_MulAdd(body->external[k], body->masses[k] / mass, force);
    }
}

// Flesh that is pinned is where its pin is; bones are held by rows of the small problem.
static void MovePinnedFlesh(snwSim* sim, int index)
{
    const snwApdModel* model = snwApd_Body(sim, index)->model;
    snwVec3* x = snwApd_GetState(sim, index).positions;
    for (int p = 0; p < sim->def->pinCount; ++p)
    {
        const snwPinSet* set = &sim->pinSets[p];
        for (int i = 0; i < set->count && sim->pins[p].held && set->body == index; ++i)
            if (model->boneOf[set->vertices[i]] < 0)
                x[set->vertices[i]] = snwPinSet_Target(set, &sim->pins[p], i);
    }
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind == snw_grabPin && grab->body == index && model->boneOf[grab->vertex] < 0)
            x[grab->vertex] = grab->vector;
    }
}

static VertexLoop MakeApdLoop(snwSim* sim, int index, double h)
{
    return (VertexLoop){.body = snwApd_Body(sim, index),
        .state = snwApd_GetState(sim, index),
        .gravity = sim->state->gravity,
        .h = h,
        .keep = exp(-snwSim_Param(sim, snw_apdDrag) * h)};
}

// Where the iterations begin: with y, as free flight needs, or with x_n where inertia alone would lead somewhere worse
// (a fast impact, a snap). At x_n the strains and the energy of the substep's start are noted.
static void ChooseStart(snwSim* sim, int index, double h)
{
    VertexLoop loop = MakeApdLoop(sim, index, h);
    snwApdBody* body = loop.body;
    size_t vertices = (size_t)body->model->vertexCount, bones = (size_t)body->model->boneCount;
    memcpy(body->aside, loop.state.positions, vertices * sizeof *loop.state.positions);
    memcpy(body->bonesAside, loop.state.bones, bones * sizeof *loop.state.bones);

    // From x_n. A body that is tangled there goes by the corotated law in this substep: its energy has no wells.
    memcpy(loop.state.positions, body->before, vertices * sizeof *loop.state.positions);
    memcpy(loop.state.bones, body->bonesBefore, bones * sizeof *loop.state.bones);
    body->law = body->model->law;
    snwApd_LocalStep(sim, index, true);
    snwApd_NoteStart(sim, index, h);
    if (snwApd_IsTangled(body))
    {
        body->law = snw_elasticCorotated;
        snwApd_LocalStep(sim, index, false);
    }

    MovePinnedFlesh(sim, index);
    if (memcmp(loop.state.positions, body->before, vertices * sizeof *loop.state.positions) != 0)
        snwApd_LocalStep(sim, index, false);
    double behind = snwApd_Objective(sim, index, h);

    // From y; kept, unless the objective is lower at x_n.
    memcpy(loop.state.positions, body->aside, vertices * sizeof *loop.state.positions);
    memcpy(loop.state.bones, body->bonesAside, bones * sizeof *loop.state.bones);
    snwApd_LocalStep(sim, index, false);
    if (behind >= snwApd_Objective(sim, index, h))
        return;

    memcpy(loop.state.positions, body->before, vertices * sizeof *loop.state.positions);
    memcpy(loop.state.bones, body->bonesBefore, bones * sizeof *loop.state.bones);
    MovePinnedFlesh(sim, index);
    snwApd_LocalStep(sim, index, false);
}

static void PredictApdBody(snwSim* sim, int index, double h)
{
    VertexLoop loop = MakeApdLoop(sim, index, h);
    loop.body->origin = loop.state.positions[loop.body->model->vertexCount / 2];
    snwParallelFor(sim->context, loop.body->model->vertexCount, snw_apdGrain, PredictApdVertices, &loop);
    PredictBones(&loop);
    AddApdPushes(sim, index);
    MovePinnedFlesh(sim, index);
    snwApd_BeginBones(sim, index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Local step

static void FillFleshRows(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 d = snwVec3_Sub(loop->state.positions[i], loop->body->origin);
        float* row = loop->body->rows + 4 * (size_t)i;
        row[0] = (float)d.x;
        row[1] = (float)d.y;
        row[2] = (float)d.z;
    }
}

typedef struct PartLoop
{
    snwApdBody* body;
    snwElasticTask task;
    const snwElasticKernels* kernels;
} PartLoop;

static void RunParts(int begin, int end, void* data)
{
    const PartLoop* loop = data;
    for (int p = begin; p < end; ++p)
    {
        const snwApdPart* part = &loop->body->model->parts[p];
        snwElasticTask task = loop->task;
        task.forces = loop->body->forces[p];
        memset(task.forces + 4 * (size_t)part->low, 0, 4 * (size_t)(part->high - part->low) * sizeof(float));
        loop->body->partEnergy[p] = loop->kernels->addForces(&task, part->first, part->end);
    }
}

void snwApd_LocalStep(snwSim* sim, int index, bool isStart)
{
    VertexLoop loop = MakeApdLoop(sim, index, 0.0);
    const snwApdModel* model = loop.body->model;
    snwParallelFor(sim->context, model->vertexCount, snw_apdGrain, FillFleshRows, &loop);

    // Forces, energy and rotations, part by part; parts are summed in their order.
    PartLoop parts = {loop.body,
        {.law = loop.body->law,
            .tets = model->tets,
            .weights = loop.body->weights,
            .positions = loop.body->rows,
            .start = loop.body->damped ? loop.body->start : NULL,
            .isStart = isStart,
            .squeezed = loop.body->squeezed,
            .rotations = loop.state.rotations},
        snwElastic_Kernels(sim->context->simd)};
    snwParallelFor(sim->context, model->partCount, 1, RunParts, &parts);

    loop.body->energy = (snwElasticEnergy){0};
    for (int p = 0; p < model->partCount; ++p)
    {
        loop.body->energy.elastic += loop.body->partEnergy[p].elastic;
        loop.body->energy.damping += loop.body->partEnergy[p].damping;
        loop.body->energy.squeezed += loop.body->partEnergy[p].squeezed;
    }

    loop.body->evaluated = true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Right side

static snwVec3 ForceOn(const snwApdBody* body, int vertex)
{
    snwVec3 f = snwVec3_Add(body->external[vertex], body->contact[vertex]);
    if (body->stopCount > 0)
        f = snwVec3_Add(f, body->opening[vertex]);
    for (int p = 0; p < body->model->partCount; ++p)
    {
        const float* row = body->forces[p] + 4 * (size_t)vertex;
        if (vertex >= body->model->parts[p].low && vertex < body->model->parts[p].high)
            f = snwVec3_Add(f, (snwVec3){(double)row[0], (double)row[1], (double)row[2]});
    }
    return f;
}

static void StoreRow(float* row, snwVec3 v)
{
    row[0] = (float)v.x;
    row[1] = (float)v.y;
    row[2] = (float)v.z;
}

static void FleshResidual(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    const snwApdBody* body = loop->body;
    double perStep = 1.0 / (loop->h * loop->h);
    for (int i = begin; i < end; ++i)
    {
        int v = body->model->fleshVertices[i];
        snwVec3 pull = snwVec3_Sub(body->inertial[v], loop->state.positions[v]);
        snwVec3 r = snwVec3_MulAdd(ForceOn(body, v), body->masses[v] * perStep, pull);
        StoreRow(body->right + 4 * (size_t)i, body->pinned[v] ? (snwVec3){0, 0, 0} : r);
    }
}

static void BoneResidual(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    const snwApdBody* body = loop->body;
    const snwApdModel* model = body->model;
    double perStep = 1.0 / (loop->h * loop->h);

    for (int k = begin; k < end; ++k)
    {
        snwVec3 t[4], r[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};

        // J^T f of the bone's own vertices, in the order in which they lie.
        snwApdBone_Rows(model, k, &loop->state.bones[k], t);
        for (int i = model->boneStarts[k]; i < model->boneStarts[k + 1]; ++i)
        {
            snwVec3 f = ForceOn(body, model->boneVertices[i]);
            for (int a = 0; a < 4; ++a)
                r[a] = snwVec3_MulAdd(r[a], model->boneCoords[i][a], f);
        }

        // And what inertia has to say, M (y - t) / h^2.
        for (int a = 0; a < 4; ++a)
        {
            for (int b = 0; b < 4; ++b)
                r[a] = snwVec3_MulAdd(
                    r[a], body->boneMasses[k][a][b] * perStep, snwVec3_Sub(body->boneInertial[k][b], t[b]));
            StoreRow(body->right + 4 * (size_t)(model->fleshCount + 4 * k + a), r[a]);
        }
    }
}

static void MakeResidual(snwSim* sim, int index, double h)
{
    VertexLoop loop = MakeApdLoop(sim, index, h);
    snwParallelFor(sim->context, loop.body->model->fleshCount, snw_apdGrain, FleshResidual, &loop);
    snwParallelFor(sim->context, loop.body->model->boneCount, 8, BoneResidual, &loop);
}

// ---------------------------------------------------------------------------------------------------------------------
// Global step

static void MoveFlesh(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        const float* d = loop->body->right + 4 * (size_t)i;
        snwVec3* x = &loop->state.positions[loop->body->model->fleshVertices[i]];
        *x = snwVec3_Add(*x, (snwVec3){(double)d[0], (double)d[1], (double)d[2]});
    }
}

// Eq. 17 as printed.
static void SolveLiteral(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApd_MakeColumns(sim, index);
    snwSim_EndStage(sim, apd_stageColumns);
    snwApd_SolveFlesh(body);
    snwSim_EndStage(sim, apd_stageSweeps);
    snwApd_SolveLiteral(sim, index, h);
    snwSim_EndStage(sim, apd_stageBones);
    snwApd_SolveFlesh(body);
    snwSim_EndStage(sim, apd_stageSweeps);
}

static void SolveSwept(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwRightSides right = snwRows_Float(body->right, 3, 4), last = snwRows_Float(body->last, 3, 4);
    snwCholesky_Forward(body->factor, body->solve, right, last);
    snwSim_EndStage(sim, apd_stageSweeps);
    if (body->model->boneCount > 0 && body->model->solver == snw_apdSplit)
        snwApd_SolveSplit(sim, index, h);
    else if (body->model->boneCount > 0)
        snwApd_SolveBones(sim, index, h);
    snwSim_EndStage(sim, apd_stageBones);
    snwCholesky_Backward(body->factor, body->solve, last, right);
    snwSim_EndStage(sim, apd_stageSweeps);
}

static void GlobalApdStep(snwSim* sim, int index, double h)
{
    VertexLoop loop = MakeApdLoop(sim, index, h);
    snwApdBody* body = loop.body;
    if (body->model->solver == snw_apdLiteral)
        SolveLiteral(sim, index, h);
    else
        SolveSwept(sim, index, h);
    snwParallelFor(sim->context, body->model->fleshCount, snw_apdGrain, MoveFlesh, &loop);
    snwApd_PlaceBoneVertices(body->model, loop.state.bones, loop.state.positions);
    body->evaluated = false;
    snwSim_EndStage(sim, apd_stageResidual);
}

// How an iteration is accelerated.
typedef enum MixKind
{
    snw_mixNot,
    snw_mixOn,
    snw_mixLast, // the last iteration is plain
} MixKind;

// Forces and energy at x, which is taken back where the objective rose.
static void EvaluateForces(snwSim* sim, int index, double h, MixKind mix)
{
    snwApdBody* body = snwApd_Body(sim, index);
    bool mixed = mix != snw_mixNot && body->mix.mixed;
    if (!body->evaluated)
        snwApd_LocalStep(sim, index, false);
    if (mixed && snwApd_RejectMix(sim, index, snwApd_Objective(sim, index, h)))
    {
        snwApd_LocalStep(sim, index, false);
        mixed = false;
    }
    if (mixed)
        body->descent.merit = snwApd_Objective(sim, index, h);
    else
        snwApd_Descend(sim, index, h);
    if (mix != snw_mixNot)
        snwApd_KeepMix(sim, index, body->descent.merit);
    snwSim_EndStage(sim, apd_stageLocal);
}

static bool IsSwept(const snwApdBody* body)
{
    return body->model->rowCount > 0 && body->model->solver != snw_apdConstrained;
}

static void IterateBody(snwSim* sim, int index, double h, MixKind mix)
{
    snwApdBody* body = snwApd_Body(sim, index);

    // The rival without a sweep has its own step.
    if (body->model->rowCount > 0 && !IsSwept(body))
    {
        snwApd_SolveLinearised(sim, index);
        snwSim_EndStage(sim, apd_stageSweeps);
    }

    if (!IsSwept(body))
        return;

    EvaluateForces(sim, index, h, mix);
    snwApd_PressStops(body, h);
    if (body->stopCount > 0)
        snwApd_BeginMix(sim, index); // stops change from one iteration to the next

    MakeResidual(sim, index, h);
    snwSim_EndStage(sim, apd_stageResidual);
    snwApd_BeginIteration(body);
    GlobalApdStep(sim, index, h);
    snwApd_EndIteration(body);

    // Stops of inverted elements change the map, so nothing is mixed then.
    if (mix == snw_mixOn && body->stopCount == 0)
        snwApd_Mix(sim, index);
    snwSim_EndStage(sim, apd_stageResidual);
}

// The pushes that the last iteration found have not moved the body yet.
static void FollowContacts(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    const snwApdModel* model = body->model;
    if (!IsSwept(body))
        return;

    // The change of the pushes alone, as a right side of its own.
    for (int i = 0; i < model->fleshCount; ++i)
    {
        int v = model->fleshVertices[i];
        snwVec3 change = snwVec3_Sub(body->contact[v], body->contactBefore[v]);
        StoreRow(body->right + 4 * (size_t)i, body->pinned[v] ? (snwVec3){0, 0, 0} : change);
    }

    // Bones get what their vertices get, by coordinates in the bone's four rows.
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 r[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (int i = model->boneStarts[k]; i < model->boneStarts[k + 1]; ++i)
        {
            int v = model->boneVertices[i];
            for (int a = 0; a < 4; ++a)
                r[a] = snwVec3_MulAdd(
                    r[a], model->boneCoords[i][a], snwVec3_Sub(body->contact[v], body->contactBefore[v]));
        }

        for (int a = 0; a < 4; ++a)
            StoreRow(body->right + 4 * (size_t)(model->fleshCount + 4 * k + a), r[a]);
    }

    GlobalApdStep(sim, index, h);
}

// Contacts take bones for affine. Rigid ones answer a little less, and some rounds of pushes and sweeps without a local
// step make up for it.
static void SettleContacts(snwSim* sim, double h)
{
    const snwApdScratch* scratch = sim->scratch;
    for (int rounds = 0; scratch->touched && rounds < (scratch->bonesTouched ? apd_settleRounds : 1); ++rounds)
    {
        if (rounds > 0)
            snwApd_SolveContacts(sim, h, false);
        for (int i = 0; i < sim->bodyCount; ++i)
            FollowContacts(sim, i, h);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The substep

static void SetApdVelocities(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    for (int i = begin; i < end; ++i)
        loop->state.velocities[i] = snwVec3_Scale(
            snwVec3_Sub(loop->state.positions[i], loop->body->before[i]), loop->keep / loop->h);
}

static void FinishApdBody(snwSim* sim, int index, double h)
{
    VertexLoop loop = MakeApdLoop(sim, index, h);
    const snwApdModel* model = loop.body->model;
    snwParallelFor(sim->context, model->vertexCount, snw_apdGrain, SetApdVelocities, &loop);
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 before[4], now[4];
        snwApdBone_Rows(model, k, &loop.body->bonesBefore[k], before);
        snwApdBone_Rows(model, k, &loop.state.bones[k], now);
        for (int a = 0; a < 4; ++a)
            loop.state.bones[k].rate[a] = snwVec3_Scale(snwVec3_Sub(now[a], before[a]), loop.keep / h);
    }
    snwApd_Publish(sim, index);
}

static snwResult Linearise(snwSim* sim, double h, snwMessage* message)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        bool asked = snwApd_Body(sim, i)->model->solver == snw_apdConstrained;
        snwResult result = asked ? snwApd_Linearise(sim, i, h, message) : snw_ok;
        if (result < 0)
            return result;
    }
    snwSim_EndStage(sim, apd_stageFactor);
    return snw_ok;
}

static snwResult StepApd(snwSim* sim, double h, snwMessage* message)
{
    // Factors, where materials, pins or the substep changed.
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwResult result = snwApd_Prepare(sim, i, h, message);
        if (result < 0)
            return result;
    }

    snwSim_EndStage(sim, apd_stageFactor);

    for (int i = 0; i < sim->bodyCount; ++i)
        PredictApdBody(sim, i, h);
    snwSim_EndStage(sim, apd_stagePredict);
    snwApd_GatherContacts(sim, h); // where inertia leads: nothing is met by staying
    snwSim_EndStage(sim, apd_stageDetect);

    for (int i = 0; i < sim->bodyCount; ++i)
        ChooseStart(sim, i, h);
    snwSim_EndStage(sim, apd_stagePredict);

    snwResult result = Linearise(sim, h, message);
    if (result < 0)
        return result;

    int iterations = (int)snwSim_Param(sim, snw_apdIterations);
    bool mix = snwSim_Param(sim, snw_apdAccelerate) != 0.0;

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwApd_BeginMix(sim, i);
        snwApd_BeginDescent(snwApd_Body(sim, i));
        snwApd_BeginStops(snwApd_Body(sim, i));
    }

    // Local and global steps, with contacts after each; once something touches, iterations are no longer mixed.
    for (int k = 0; k < iterations; ++k)
    {
        mix = mix && !snwApd_IsTouched(sim);
        for (int i = 0; i < sim->bodyCount; ++i)
            IterateBody(sim, i, h, !mix ? snw_mixNot : k + 1 < iterations ? snw_mixOn : snw_mixLast);
        snwApd_SolveContacts(sim, h, k % apd_lookAgain == apd_lookAgain - 1);
        snwSim_EndStage(sim, apd_stageContact);
    }

    if (sim->lastSubstep)
        snwApd_TellResiduals(sim);
    for (int i = 0; i < sim->bodyCount; ++i)
        if (IsSwept(snwApd_Body(sim, i)))
            EvaluateForces(sim, i, h, snw_mixNot);

    // Rigid bones answer less than the affine ones that contacts have seen.
    SettleContacts(sim, h);
    snwApd_MoveOut(sim);
    snwApd_FinishContacts(sim, h);

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwApd_GuardEnergy(sim, i, h);
        FinishApdBody(sim, i, h);
    }

    snwSim_EndStage(sim, apd_stageFinish);
    return snw_ok;
}

const snwMethod snwApdMethod = {
    .name = "apd",
    .title = "articulated projective dynamics: flesh, rigid bones and joints in one solve",
    .source = "Li, Liu, Kavan: Soft Articulated Characters in Projective Dynamics",
    .features = snw_featurePins | snw_featureDrag | snw_featurePush | snw_featureColliders | snw_featureProps |
                snw_featureTets | snw_featureJoints | snw_featureBones,
    .params = s_params,
    .paramCount = snw_apdParamCount,
    .stages = s_stages,
    .stageCount = apd_stageCount,
    .createModel = snwApd_CreateModel,
    .destroyModel = snwApd_DestroyModel,
    .bodyStateSize = snwApd_StateSize,
    .initBody = snwApd_InitBody,
    .isSound = snwApd_IsSound,
    .createScratch = CreateApdScratch,
    .destroyScratch = DestroyApdScratch,
    .applied = snwApd_Applied,
    .step = StepApd,
    .getVertices = snwApd_GetVertices,
    .getBones = snwApd_GetBones,
    .getJoints = snwApd_GetJoints,
    .elasticDensity = snwApd_ElasticDensity,
};
