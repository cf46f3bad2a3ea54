// The method pbd (pbd.h): its parameters, its state and its step. Law `projection` is the published method;
// `compliant` puts the Neo-Hookean tets of constraints/neo_hookean.h in place of edges and volumes.

#include "sim/pbd/pbd.h"
#include "sim/constraints/hands.h"
#include "sim/laws.h"
#include "sim/methods.h"
#include "sim/origin.h"

#include <math.h>
#include <string.h>

enum
{
    pbd_stagePredict,
    pbd_stageDetect,
    pbd_stageDistance,
    pbd_stageVolume,
    pbd_stageContact,
    pbd_stageVelocity,
    pbd_stageCount,

    pbd_vertexGrain = 2048,
    pbd_lookAgain = 4, // iterations between two looks at curved colliders
};

static const char* const s_stages[pbd_stageCount] = {"predict", "detect", "distance", "volume", "contact", "velocity"};

static const char* const s_laws[] = {"projection", "compliant", NULL};

static const snwParamInfo s_params[snw_pbdParamCount] = {
    [snw_pbdIterations] = {.name = "pbd.iterations",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 1000,
        .initial = 20,
        .live = true,
        .help = "sweeps over all constraints in each substep"},
    [snw_pbdLaw] = {.name = "pbd.law",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = snw_pbdProjection,
        .choices = s_laws,
        .help =
            "projection: as published, stiffness from pbd.stretch and pbd.volume; compliant: Neo-Hookean flesh with "
            "the material's young and poisson"},
    [snw_pbdStretch] = {.name = "pbd.stretch",
        .type = snw_paramReal,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0.9,
        .live = true,
        .help = "stiffness of edge lengths: 0 none, 1 as stiff as the iterations allow"},
    [snw_pbdVolume] = {.name = "pbd.volume",
        .type = snw_paramReal,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0.9,
        .live = true,
        .help = "stiffness of tet volumes: 0 none, 1 as stiff as the iterations allow"},
    [snw_pbdDamping] = {.name = "pbd.damping",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 1,
        .live = true,
        .help = "how fast motion that is not rigid dies; added to the material's damping"},
    [snw_pbdDrag] = {.name = "pbd.drag",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 0,
        .live = true,
        .help = "how fast all motion dies, of bodies and props, as in thick air"},
    [snw_pbdSelf] = {.name = "pbd.self",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .help = "contact of each body with itself; bodies always touch each other"},
};

// ---------------------------------------------------------------------------------------------------------------------
// State

static size_t PbdRowCount(const snwPbdModel* model)
{
    return (size_t)model->vertexCount + snw_blockLanes;
}

static size_t AnchorBytes(const snwPbdModel* model)
{
    return (size_t)model->character->touchCount * snw_anchorsPerVertex * sizeof(snwAnchor);
}

static size_t BodyStateSize(const void* model)
{
    return 2 * PbdRowCount(model) * 4 * sizeof(float) + AnchorBytes(model);
}

snwPbdBody snwPbd_GetBody(const snwSim* sim, int index)
{
    const snwBody* body = &sim->bodies[index];
    float* positions = body->state;
    size_t floats = 4 * PbdRowCount(body->model);
    return (snwPbdBody){positions, positions + floats, (snwAnchor*)(void*)(positions + 2 * floats)};
}

// Inverse masses from the materials; what is pinned stays at 0 until it is let go.
static void SetPbdMasses(snwSim* sim, int index)
{
    const snwBody* body = &sim->bodies[index];
    snwPbdBody state = snwPbd_GetBody(sim, index);
    double* masses = ((snwPbdScratch*)sim->scratch)->masses;
    snwCharacter_ComputeMasses(body->character, body->materials, masses);
    for (int i = 0; i < body->character->def.vertexCount; ++i)
    {
        float* inUse = &state.positions[4 * (size_t)i + 3];
        float* free = &state.velocities[4 * (size_t)i + 3];
        *free = (float)(1.0 / masses[i]);
        *inUse = *inUse == 0.0f ? 0.0f : *free;
    }
}

// Marks the vertices that a pin holds now.
static void SetPbdPinned(snwSim* sim, int index)
{
    snwPbdBody state = snwPbd_GetBody(sim, index);
    for (int i = 0; i < sim->bodies[index].character->def.vertexCount; ++i)
        state.positions[4 * (size_t)i + 3] = state.velocities[4 * (size_t)i + 3];
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; i < sim->pinSets[p].count && sim->pins[p].held && sim->pinSets[p].body == index; ++i)
            state.positions[4 * (size_t)sim->pinSets[p].vertices[i] + 3] = 0.0f;
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == index)
            state.positions[4 * (size_t)sim->grabs[i].vertex + 3] = 0.0f;
}

static void InitPbdBody(snwSim* sim, int index)
{
    const snwBodyStart* start = &sim->starts[index];
    const snwCharacter* character = sim->bodies[index].character;
    snwPbdBody state = snwPbd_GetBody(sim, index);
    snwVec3 centre = snwTransform_Apply(start->transform, character->centre);
    memset(sim->bodies[index].state, 0, BodyStateSize(sim->bodies[index].model));
    for (int i = 0; i < character->def.vertexCount; ++i)
    {
        snwVec3 x = snwTransform_Apply(start->transform, character->def.vertices[i]);
        snwVec3 spin = snwVec3_Cross(start->angularVelocity, snwVec3_Sub(x, centre));
        snwRow_SetPlace(state.positions, i, *sim->bodies[index].origin, x);
        snwRow_Set(state.velocities, i, snwVec3_Add(start->velocity, spin));
    }
    SetPbdMasses(sim, index);
    SetPbdPinned(sim, index);
}

// Inverse masses: finite, positive when free, and in use either that or 0. Anchors: of things that are there.
static bool IsSoundBody(const snwSim* sim, int index)
{
    snwPbdBody state = snwPbd_GetBody(sim, index);
    for (int i = 0; i < sim->bodies[index].character->def.vertexCount; ++i)
    {
        float inUse = state.positions[4 * (size_t)i + 3], free = state.velocities[4 * (size_t)i + 3];
        if (!isfinite(free) || !(free > 0.0f) || (inUse != 0.0f && inUse != free))
            return false;
    }
    int anchors = sim->bodies[index].character->touchCount * snw_anchorsPerVertex;
    for (int i = 0; i < anchors; ++i)
        if (!snwAnchor_IsSound(&state.anchors[i], sim->def))
            return false;
    return true;
}

static void OnPbdCommand(snwSim* sim, const snwCommand* command)
{
    if (command->kind == snw_commandMaterial)
        SetPbdMasses(sim, command->body);
    if (command->kind == snw_commandPin)
        SetPbdPinned(sim, command->body >= 0 ? command->body : sim->pinSets[command->index].body);
}

static snwResult CreatePbdScratch(snwSim* sim, snwMessage* message)
{
    size_t most = 1;
    snwPbdScratch* scratch = snwArena_Alloc(&sim->arena, 1, sizeof *scratch);
    sim->scratch = scratch;
    if (scratch == NULL)
        return snwFailMemory(message);

    // Where the substep began, and where it predicted all to go.
    scratch->before = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->before);
    scratch->predicted = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->predicted);
    for (int i = 0; i < sim->bodyCount && !sim->arena.failed; ++i)
    {
        size_t rows = PbdRowCount(sim->bodies[i].model);
        scratch->before[i] = snwArena_Alloc(&sim->arena, rows, 4 * sizeof(float));
        scratch->predicted[i] = snwArena_Alloc(&sim->arena, rows, 4 * sizeof(float));
        most = rows > most ? rows : most;
    }

    // For compliant flesh alone: multipliers, and the moves of short substeps.
    scratch->neo = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof(void*));
    scratch->moves = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->moves);
    for (int i = 0; i < sim->bodyCount && !sim->arena.failed; ++i)
    {
        const snwPbdModel* model = sim->bodies[i].model;

        if (!model->compliant)
            continue;
        scratch->neo[i] = snwArena_Alloc(&sim->arena, (size_t)model->blocks.tetBlocks, sizeof **scratch->neo);
        scratch->moves[i].rows = snwArena_Alloc(&sim->arena, PbdRowCount(model), 4 * sizeof(float));
        scratch->moves[i].elsewhere = snwArena_Alloc(&sim->arena, PbdRowCount(model), 4 * sizeof(float));
    }

    // All tets may be unfolded; folded has a mark per block.
    scratch->unfolds = snwArena_Alloc(&sim->arena, (size_t)sim->bodyCount, sizeof *scratch->unfolds);
    for (int i = 0; i < sim->bodyCount && !sim->arena.failed; ++i)
    {
        const snwBlocks* blocks = &((const snwPbdModel*)sim->bodies[i].model)->blocks;

        unsigned char* folded = snwArena_Alloc(&sim->arena, (size_t)blocks->tetBlocks + 1, sizeof *folded);
        scratch->unfolds[i] = (snwUnfold){blocks, blocks->tets, snwPbd_GetBody(sim, i).positions, folded};
    }

    // Damping sums over the vertices of the largest body.
    scratch->sums = snwArena_Alloc(&sim->arena, snwDamping_SumCount((int)most), sizeof(double));
    scratch->masses = snwArena_Alloc(&sim->arena, most, sizeof(double));
    scratch->last = snwArena_Alloc(&sim->arena, most, 4 * sizeof(float));

    if (sim->arena.failed)
        return snwFailMemory(message);
    return snwSim_CreateResponse(sim, snwSim_Param(sim, snw_pbdSelf) != 0.0, &scratch->response, message);
}

static void DestroyPbdScratch(snwSim* sim)
{
    snwDestroyResponse(((snwPbdScratch*)sim->scratch)->response);
}

static void GetPbdVertices(const snwSim* sim, int index, snwVertices* vertices)
{
    snwPbdBody state = snwPbd_GetBody(sim, index);
    int count = sim->bodies[index].character->def.vertexCount;
    *vertices = (snwVertices){state.positions, state.velocities, count, 4 * (int)sizeof(float)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Step

typedef struct VertexLoop
{
    snwPbdBody state;
    float* before;
    float* predicted;
    float acceleration[3];
    float h, inverseH;
    float keep;            // of the velocity, after drag
    const float* rounding; // rows, m; NULL: not known
} VertexLoop;

static void PredictPbdVertices(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        float *x = loop->state.positions + 4 * (size_t)i, *v = loop->state.velocities + 4 * (size_t)i;
        memcpy(loop->before + 4 * (size_t)i, x, 4 * sizeof *x);
        for (int k = 0; k < 3 && x[3] > 0.0f; ++k)
        {
            v[k] += loop->h * loop->acceleration[k];
            x[k] += loop->h * v[k];
        }
        memcpy(loop->predicted + 4 * (size_t)i, x, 4 * sizeof *x);
    }
}

// In exact numbers (x - before) / h. Written with the prediction, the rounding of x enters only where a projection
// moved something: a body in free flight keeps its velocity to the bit, also far from the origin.
static void UpdatePbdVelocities(int begin, int end, void* data)
{
    const VertexLoop* loop = data;
    for (int i = begin; i < end; ++i)
    {
        const float* x = loop->state.positions + 4 * (size_t)i;
        bool pinned = x[3] == 0.0f;
        const float* from = (pinned ? loop->before : loop->predicted) + 4 * (size_t)i;
        float* v = loop->state.velocities + 4 * (size_t)i;
        for (int k = 0; k < 3; ++k)
        {
            float way = x[k] - from[k] - (loop->rounding != NULL ? loop->rounding[4 * (size_t)i + (size_t)k] : 0.0f);
            v[k] = ((pinned ? 0.0f : v[k]) + way * loop->inverseH) * (pinned ? 1.0f : loop->keep);
        }
    }
}

// Pushes on single vertices change their velocity; a push on the whole body adds to gravity.
static void ApplyPbdPushes(snwSim* sim, int index, VertexLoop* loop)
{
    double mass = 0.0;
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabPush || grab->body != index)
            continue;

        snwVec3 push = snwSim_PushForce(sim, grab);
        const double force[3] = {push.x, push.y, push.z};

        // The fourth number of a velocity is the inverse mass of the vertex when it is free.
        if (grab->vertex < 0 && mass == 0.0)
            for (int k = 0; k < sim->bodies[index].character->def.vertexCount; ++k)
                mass += 1.0 / (double)loop->state.velocities[4 * (size_t)k + 3];

        float* v = loop->state.velocities + 4 * (size_t)(grab->vertex < 0 ? 0 : grab->vertex);
        for (int k = 0; k < 3; ++k)
        {
            if (grab->vertex < 0)
                loop->acceleration[k] += (float)(force[k] / mass);
            else
                v[k] += (float)(force[k] * (double)v[3] * (double)loop->h);
        }
    }
}

typedef struct BlockLoop
{
    const snwConstraintKernels* kernels;
    const snwPbdModel* model;
    float* positions;
    float stiffness;
    snwNeoState* neo;
} BlockLoop;

static void ProjectEdgeBlocks(int begin, int end, void* data)
{
    const BlockLoop* loop = data;
    loop->kernels->distance(loop->positions, loop->model->blocks.edges, begin, end, loop->stiffness);
}

static void ProjectTetBlocks(int begin, int end, void* data)
{
    const BlockLoop* loop = data;
    loop->kernels->volume(loop->positions, loop->model->blocks.tets, begin, end, loop->stiffness);
}

static void SolveNeoBlocks(int begin, int end, void* data)
{
    const BlockLoop* loop = data;
    loop->kernels->neoHookean(loop->positions, loop->model->blocks.tets, loop->model->rests, loop->neo, begin, end);
}

static void ProjectColours(
    snwSim* sim, BlockLoop* loop, const snwColours* colours, snwRangeFn* project, double stiffness)
{
    if (!(stiffness > 0.0))
        return;
    loop->stiffness = (float)stiffness;
    snwColours_Sweep(sim->context, colours, project, loop);
}

// k' = 1 - (1 - k)^(1/n): after n sweeps the error left is (1 - k) times what it was.
static double SweepStiffness(double stiffness, int iterations)
{
    return 1.0 - pow(1.0 - stiffness, 1.0 / iterations);
}

// What a sweep needs besides the body.
typedef struct Sweep
{
    int iterations;
    double stretch, volume; // per sweep
    double h;
} Sweep;

static snwHands MakePbdHands(const snwSim* sim, int index, double h)
{
    snwPbdBody state = snwPbd_GetBody(sim, index);
    return (snwHands){((const snwPbdScratch*)sim->scratch)->before[index], state.velocities, state.positions, h};
}

static void ProjectBody(snwSim* sim, int index, const Sweep* sweep)
{
    const snwPbdModel* model = sim->bodies[index].model;
    float* positions = snwPbd_GetBody(sim, index).positions;
    BlockLoop loop = {.kernels = snwConstraint_Kernels(sim->context->simd), .model = model, .positions = positions};

    // The compliant law is one visit of all tets; projection has edges, then volumes.
    if (model->compliant)
    {
        snwNeoMoves* moves = &((snwPbdScratch*)sim->scratch)->moves[index];
        loop.neo = ((snwPbdScratch*)sim->scratch)->neo[index];
        snwNeoMoves_BeforeLaw(moves, positions, model->vertexCount);
        ProjectColours(sim, &loop, &model->blocks.tetColours, SolveNeoBlocks, 1.0);
        snwNeoMoves_AfterLaw(moves, positions, model->vertexCount);
        snwSim_EndStage(sim, pbd_stageVolume);
    }
    else
    {
        ProjectColours(sim, &loop, &model->blocks.edgeColours, ProjectEdgeBlocks, sweep->stretch);
        snwSim_EndStage(sim, pbd_stageDistance);
        ProjectColours(sim, &loop, &model->blocks.tetColours, ProjectTetBlocks, sweep->volume);
        snwSim_EndStage(sim, pbd_stageVolume);
    }

    snwHands hands = MakePbdHands(sim, index, sweep->h);
    snwHands_Drag(sim, index, &hands, sweep->iterations);
}

// The last sweep of a step, which tells how much there was left to do.
static void ProjectLast(snwSim* sim, int index, const Sweep* sweep)
{
    float* last = ((snwPbdScratch*)sim->scratch)->last;
    const float* positions = snwPbd_GetBody(sim, index).positions;
    int count = sim->bodies[index].character->def.vertexCount;
    memcpy(last, positions, 4 * (size_t)count * sizeof *last);
    ProjectBody(sim, index, sweep);
    snwSim_SetResidual(sim, index, snwRows_LongestWay(last, positions, count), "more pbd.iterations, or more substeps");
}

static void SolvePbdIsland(snwSim* sim, int island, double h)
{
    snwResponse* response = ((snwPbdScratch*)sim->scratch)->response;
    int iterations = (int)snwSim_Param(sim, snw_pbdIterations);
    Sweep sweep = {iterations, SweepStiffness(snwSim_Param(sim, snw_pbdStretch), iterations),
        SweepStiffness(snwSim_Param(sim, snw_pbdVolume), iterations), h};

    for (int i = 0; i < iterations; ++i)
    {
        bool last = i + 1 == iterations && sim->lastSubstep;
        for (int k = response->islandStarts[island]; k < response->islandStarts[island + 1]; ++k)
        {
            // Members behind the bodies are props, which only contacts move.
            int body = response->islandMembers[k];
            if (body < sim->bodyCount && last)
                ProjectLast(sim, body, &sweep);
            else if (body < sim->bodyCount)
                ProjectBody(sim, body, &sweep);
        }

        snwResponse_Solve(response, island, i % pbd_lookAgain == 0 || i + 1 == iterations);
        snwSim_EndStage(sim, pbd_stageContact);
    }

    // Flat and inverted tets last: no sweep comes after them that could fold them again.
    const snwUnfold* unfolds = ((snwPbdScratch*)sim->scratch)->unfolds;
    for (int k = response->islandStarts[island]; k < response->islandStarts[island + 1]; ++k)
        if (response->islandMembers[k] < sim->bodyCount)
            snwUnfold_Mark(sim->context, &unfolds[response->islandMembers[k]]);
    snwUnfold_Island(response, island, unfolds);
    snwSim_EndStage(sim, pbd_stageVolume);
}

static VertexLoop MakeVertexLoop(const snwSim* sim, int index, double h)
{
    const snwPbdScratch* scratch = sim->scratch;
    snwPbdBody state = snwPbd_GetBody(sim, index);
    snwVec3 g = snwSim_Gravity(sim, state.velocities);
    return (VertexLoop){.state = state,
        .before = scratch->before[index],
        .predicted = scratch->predicted[index],
        .acceleration = {(float)g.x, (float)g.y, (float)g.z},
        .h = (float)h,
        .inverseH = (float)(1.0 / h),
        .keep = (float)exp(-snwSim_Param(sim, snw_pbdDrag) * h)};
}

static void PredictPbdBody(snwSim* sim, int index, double h)
{
    VertexLoop loop = MakeVertexLoop(sim, index, h);
    snwBody_FollowRows(&sim->bodies[index], &loop.state.positions, 1);

    // Forces and inertia; what is pinned goes with its pin.
    ApplyPbdPushes(sim, index, &loop);
    snwParallelFor(
        sim->context, sim->bodies[index].character->def.vertexCount, pbd_vertexGrain, PredictPbdVertices, &loop);
    snwHands_MovePinned(sim, index, loop.state.positions);

    snwHands hands = MakePbdHands(sim, index, h);
    snwHands_Begin(sim, index, &hands);

    const snwPbdModel* model = sim->bodies[index].model;

    // Multipliers begin at 0 in every substep.
    if (model->compliant)
    {
        snwNeoState* neo = ((snwPbdScratch*)sim->scratch)->neo[index];
        snwNeoState_Clear(neo, 0, model->blocks.tetBlocks);
        snwNeoState_SetMaterials(neo, model->rests, 0, model->blocks.tetBlocks, sim->bodies[index].materials, h);
        snwNeoMoves* moves = &((snwPbdScratch*)sim->scratch)->moves[index];
        moves->on = snwNeoMoves_AreLost(model->character, sim->bodies[index].materials, h);
        snwNeoMoves_Begin(moves, loop.state.positions, model->vertexCount);
    }
}

static void FinishPbdBody(snwSim* sim, int index, double h)
{
    const snwPbdScratch* scratch = sim->scratch;
    VertexLoop loop = MakeVertexLoop(sim, index, h);
    int count = sim->bodies[index].character->def.vertexCount;
    snwRigidDamping damping = {.positions = loop.state.positions,
        .velocities = scratch->last,
        .count = count,
        .sums = scratch->sums,
        .rate = snwSim_Param(sim, snw_pbdDamping) + snwBody_MaterialDamping(&sim->bodies[index])};

    // Rounding is no motion. In short substeps the pushes of the law say what should have moved; and elements alone
    // give a body no rigid motion, so what there is of it is rounding.
    const snwPbdModel* model = sim->bodies[index].model;
    snwNeoMoves* moves = &scratch->moves[index];
    if (moves->on)
    {
        const snwNeoLaw law = {&model->blocks, model->rests, scratch->neo[index]};
        snwNeoMoves_End(sim->context, moves, &law, loop.state.positions, loop.predicted);
        loop.rounding = moves->rows;
    }
    else if (snwSim_IsAlone(sim, scratch->response, index))
    {
        memcpy(scratch->last, loop.state.positions, 4 * (size_t)count * sizeof(float)); // for the inverse masses
        snwRigidDamping_FindRounding(sim->context, &damping, loop.predicted);
        loop.rounding = scratch->last;
    }

    snwParallelFor(sim->context, count, pbd_vertexGrain, UpdatePbdVelocities, &loop);
    damping.velocities = loop.state.velocities;
    snwRigidDamping_Apply(sim->context, &damping, h);
}

// Projection has no material: corotated elasticity is its yardstick.
static double PbdElasticDensity(const snwSim* sim, int body, int element, snwMat3 f)
{
    const snwBody* common = &sim->bodies[body];
    snwLame lame = snwMaterial_Lame(&common->materials[common->character->def.regions[element]]);
    bool compliant = ((const snwPbdModel*)common->model)->compliant;
    return compliant ? (1.0 - common->elasticLack) * snwDensity_NeoHookean(lame, f) : snwDensity_Corotated(lame, f);
}

// Sweeps that ended too early leave flesh that is too soft.
static void TellPbdStiffness(snwSim* sim, int index)
{
    const snwPbdModel* model = sim->bodies[index].model;
    snwNeoEffect effect = snwNeoState_Effect(
        ((snwPbdScratch*)sim->scratch)->neo[index], model->rests, &model->blocks, snwPbd_GetBody(sim, index).positions);
    sim->bodies[index].elasticLack = 1.0 - effect.energy;
    if (effect.stiffness > 0.0)
        snwSim_TellStiffness(
            sim, index, effect.stiffness, "more pbd.iterations or substeps, or method apd for stiff flesh");
}

static snwResult StepPbd(snwSim* sim, double h, snwMessage* message)
{
    (void)message;
    const snwPbdScratch* scratch = sim->scratch;
    snwResponse* response = scratch->response;

    for (int i = 0; i < sim->bodyCount; ++i)
        PredictPbdBody(sim, i, h);
    snwSim_EndStage(sim, pbd_stagePredict);

    // What the contact code has to know of bodies; it is asked anew in every substep.
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwPbdBody state = snwPbd_GetBody(sim, i);
        snwTouchDef touch = {.positions = state.positions, .before = scratch->before[i], .anchors = state.anchors};
        snwSim_DescribeBody(sim, response, i, &touch);
    }

    // Where all would go by themselves decides what may touch.
    snwSim_GatherContacts(sim, response, h);
    snwSim_EndStage(sim, pbd_stageDetect);

    // Things that touch each other are solved together, island by island.
    for (int i = 0; i < response->islandCount; ++i)
        SolvePbdIsland(sim, i, h);

    // Sweeps may have thrown a vertex farther than contacts look ahead.
    for (int i = 0; i < sim->bodyCount; ++i)
        snwSim_CatchFlung(response, i, scratch->predicted[i]);
    snwSim_FinishContacts(sim, response, snwSim_Param(sim, snw_pbdDrag), h);
    snwSim_EndStage(sim, pbd_stageContact);

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        if (sim->lastSubstep && ((const snwPbdModel*)sim->bodies[i].model)->compliant)
            TellPbdStiffness(sim, i);
        FinishPbdBody(sim, i, h);
    }

    snwSim_EndStage(sim, pbd_stageVelocity);
    return snw_ok;
}

const snwMethod snwPbdMethod = {
    .name = "pbd",
    .title = "position-based dynamics: distance and volume",
    .source = "Mueller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2007",
    .features = snw_featurePins | snw_featureDrag | snw_featurePush | snw_featureColliders | snw_featureProps |
                snw_featureTets,
    .params = s_params,
    .paramCount = snw_pbdParamCount,
    .smallBody = 0.1,
    .mostWeight = 0.06,
    .mostWay = 0.7,
    .stages = s_stages,
    .stageCount = pbd_stageCount,
    .createModel = snwPbd_CreateModel,
    .destroyModel = snwPbd_DestroyModel,
    .bodyStateSize = BodyStateSize,
    .initBody = InitPbdBody,
    .isSound = IsSoundBody,
    .createScratch = CreatePbdScratch,
    .destroyScratch = DestroyPbdScratch,
    .applied = OnPbdCommand,
    .step = StepPbd,
    .getVertices = GetPbdVertices,
    .elasticDensity = PbdElasticDensity,
};
