// Sweeps: every constraint once, back and forth in turns, forth at last. Unfinished sweeps in one direction only are a
// spring whose force is not a gradient. Implicit Euler and BDF2 damp more than it gives, but flesh that nothing damps
// (pbcd.integrator trapezoid) takes energy from it and explodes: that needs its sweeps in pairs. For all others they
// converge sooner.

#include "sim/constraints/hands.h"
#include "sim/pbcd/pbcd.h"
#include "sim/pbcd/pbcd_stages.h"

#include <math.h>
#include <string.h>

enum
{
    pbcd_rowGrain = 4096,
    pbcd_lookAgain = 4, // sweeps between two looks at curved colliders
};

typedef struct BlockLoop
{
    const snwConstraintKernels* kernels;
    snwSoftKernelFn* soft; // NULL: hard, with the stiffness
    const snwSoftSweep* sweep;
    const snwEdgeBlock* edges; // hard ones
    float stiffness;
} BlockLoop;

static void VisitSoft(int begin, int end, void* data)
{
    const BlockLoop* loop = data;
    loop->soft(loop->sweep, begin, end);
}

static void VisitHardEdges(int begin, int end, void* data)
{
    const BlockLoop* loop = data;
    const snwSoftSweep* sweep = loop->sweep;
    loop->kernels->distance(sweep->positions, loop->edges, begin, end, loop->stiffness);
}

static void VisitHardTets(int begin, int end, void* data)
{
    const BlockLoop* loop = data;
    const snwSoftSweep* sweep = loop->sweep;
    loop->kernels->volume(sweep->positions, sweep->tets, begin, end, loop->stiffness);
}

// ---------------------------------------------------------------------------------------------------------------------
// What single vertices are tied to

// Eq. 4.4: the distance to the bone stays, with the compliance of the natural frequency w.
static void VisitBonds(snwSim* sim, snwPbcdWork* work, const snwPbcdTime* time)
{
    double w = 2.0 * SNW_PI * snwSim_Param(sim, snw_pbcdAnchor_) * time->e;
    for (int i = 0; work->bondSums != NULL && w > 0.0 && i < work->model->vertexCount; ++i)
    {
        const snwPbcdBond* bond = &work->model->bonds[i];
        double mobility = (double)work->state.positions[4 * (size_t)i + 3], compliance = mobility / (w * w);
        snwVec3 x = snwRow_Get(work->state.positions, i);
        const snwVec3* segment = work->segments + 2 * (size_t)bond->bone;
        snwVec3 away = snwVec3_Sub(x, snwPbcd_NearestOnSegment(x, segment[0], segment[1]));
        double distance = snwVec3_Length(away);
        if (!(mobility > 0.0) || !(distance > 0.0))
            continue;
        double error = distance - (double)bond->distance + compliance * (double)work->bondSums[i];
        double step = -error / (mobility + compliance);
        work->bondSums[i] += (float)step;
        snwRow_Set(work->state.positions, i, snwVec3_MulAdd(x, mobility * step / distance, away));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// A sweep

typedef void SweepFn(snwContext* context, const snwColours* colours, snwRangeFn* visit, void* data);

static void VisitLaw(snwSim* sim, snwPbcdWork* work, bool back)
{
    const snwPbcdModel* model = work->model;
    BlockLoop loop = {
        .kernels = snwConstraint_Kernels(sim->context->simd), .sweep = &work->sweep, .edges = model->blocks.edges};

    // As in 2007: hard, with a stiffness per visit.
    if (model->solver == snw_pbcdPbd)
    {
        loop.stiffness = (float)snwSim_Param(sim, snw_pbcdStiffness);
        snwColours_Sweep(sim->context, &model->blocks.edgeColours, VisitHardEdges, &loop);
        snwSim_EndStage(sim, snw_stageDistance);
        snwColours_Sweep(sim->context, &model->blocks.tetColours, VisitHardTets, &loop);
        snwSim_EndStage(sim, snw_stageVolume);
        return;
    }

    // Edges and volumes in turns, the other way round on the way back.
    SweepFn* sweep = back ? snwColours_SweepBack : snwColours_Sweep;
    for (int part = 0; part < 2 && model->law == snw_pbcdEdges; ++part)
    {
        bool volumes = (part == 1) != back;
        loop.soft = volumes ? loop.kernels->softVolume : loop.kernels->softDistance;
        sweep(sim->context, volumes ? &model->blocks.tetColours : &model->blocks.edgeColours, VisitSoft, &loop);
        snwSim_EndStage(sim, volumes ? snw_stageVolume : snw_stageDistance);
    }

    if (model->law == snw_pbcdEdges)
        return;

    if (model->law == snw_pbcdNeo)
    {
        loop.soft = loop.kernels->softNeo;
        snwNeoMoves_BeforeLaw(&work->moves, work->state.positions, model->vertexCount);
        sweep(sim->context, &model->blocks.tetColours, VisitSoft, &loop); // marks what is folded
        snwNeoMoves_AfterLaw(&work->moves, work->state.positions, model->vertexCount);
    }

    if (model->law == snw_pbcdStrain || snwSim_Param(sim, snw_pbcdViscosity) > 0.0)
    {
        loop.soft = loop.kernels->softStrain;
        sweep(sim->context, &model->blocks.tetColours, VisitSoft, &loop);
    }

    // A round of unfolding after each sweep; Neo-Hookean tets have marked their blocks.
    snwUnfold unfold = snwPbcd_Unfold(work, work->state.positions);
    if (model->law == snw_pbcdStrain)
        snwUnfold_Mark(sim->context, &unfold);
    snwUnfold_Round(sim->context, &unfold, back);
    snwSim_EndStage(sim, snw_stageVolume);
}

static void AddSolvedMoves(int begin, int end, void* data)
{
    const snwPbcdWork* work = data;
    for (size_t i = 4 * (size_t)begin; i < 4 * (size_t)end; i += 4)
        for (size_t k = 0; k < 3; ++k)
            work->state.positions[i + k] += work->target[i + k];
}

// Returns how far the farthest vertex moved, m; 0 where nobody asks.
// back: the constraints in reverse.
static double SweepBody(snwSim* sim, int body, const snwPbcdTime* time, bool back, bool asked)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdModel* model = work->model;
    size_t bytes = ((size_t)model->vertexCount + snw_blockLanes) * 4 * sizeof(float);

    if (asked)
        memcpy(work->last, work->state.positions, bytes);

    work->sweep.relaxation = (float)snwSim_Param(sim, snw_pbcdRelaxation);
    if (work->sweep.target != NULL)
        memset(work->target, 0, bytes);

    if (model->solver != snw_pbcdImplicit)
        VisitLaw(sim, work, back);

    // Jacobi: all moves at once, after all have been found.
    if (work->sweep.target != NULL)
        snwParallelFor(sim->context, model->vertexCount, pbcd_rowGrain, AddSolvedMoves, work);
    if (model->solver != snw_pbcdImplicit)
        VisitBonds(sim, work, time);
    snwSim_EndStage(sim, snw_stageVolume);

    snwHands hands = {work->before, work->state.velocities, work->state.positions, time->e};
    snwHands_Drag(sim, body, &hands, (int)snwSim_Param(sim, snw_pbcdIterations_));

    ((snwPbcdScratch*)sim->scratch)->sweeps++;
    return asked ? snwRows_LongestWay(work->last, work->state.positions, model->vertexCount) : 0.0;
}

static bool NeedsPairs(const snwSim* sim)
{
    bool any = false;
    for (int i = 0; i < sim->bodyCount; ++i)
        any = any || snwPbcd_Work(sim, i)->model->integrator == snw_pbcdTrapezoid;
    return any;
}

void snwPbcd_SolveIsland(snwSim* sim, int island, const snwPbcdTime* times)
{
    snwResponse* response = ((snwPbcdScratch*)sim->scratch)->response;
    int iterations = (int)snwSim_Param(sim, snw_pbcdIterations_);
    double tolerance = snwSim_Param(sim, snw_pbcdTolerance);

    bool pairs = NeedsPairs(sim), done = false;
    iterations += pairs ? iterations % 2 : 0;

    // Until nothing moves by more than the tolerance, if there is one.
    for (int i = 0; i < iterations && !done; ++i)
    {
        bool last = i + 1 == iterations && sim->lastSubstep;
        bool back = (iterations - i) % 2 == 0;
        done = tolerance > 0.0 && !(pairs && back);

        for (int k = response->islandStarts[island]; k < response->islandStarts[island + 1]; ++k)
        {
            int body = response->islandMembers[k];
            if (body >= sim->bodyCount)
                continue;

            const snwCharacter* character = sim->bodies[body].character;
            double move = SweepBody(sim, body, &times[body], back, last || tolerance > 0.0);
            if (sim->lastSubstep && (last || tolerance > 0.0))
                snwSim_SetResidual(sim, body, move, last ? "more pbcd.iterations, or more substeps" : NULL);
            done = done && move < tolerance * snwVec3_Distance(character->lower, character->upper);
        }

        snwResponse_Solve(response, island, i % pbcd_lookAgain == 0 || i + 1 == iterations || done);
        snwSim_EndStage(sim, snw_stageContact);
    }

    snwUnfold_Island(response, island, ((snwPbcdScratch*)sim->scratch)->unfolds);
    snwSim_EndStage(sim, snw_stageContact);
}

// ---------------------------------------------------------------------------------------------------------------------
// u <- u - J (J^T M J)^-1 J^T M u, u = x - x_r

static void TakeOffsets(int begin, int end, void* data)
{
    const snwPbcdWork* work = data;
    for (size_t i = 4 * (size_t)begin; i < 4 * (size_t)end; i += 4)
        for (size_t k = 0; k < 3; ++k)
            work->target[i + k] = work->state.positions[i + k] - work->reference[i + k];
}

static void GiveOffsets(int begin, int end, void* data)
{
    const snwPbcdWork* work = data;
    for (int i = begin; i < end; ++i)
        for (size_t k = 4 * (size_t)i; k < 4 * (size_t)i + 3 && !work->state.held[i]; ++k)
            work->state.positions[k] = work->reference[k] + work->target[k];
}

snwResult snwPbcd_Complement(snwSim* sim, int body, snwMessage* message)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwComplement* complement = work->model->complement;
    int count = work->model->vertexCount;
    if (complement == NULL)
        return snw_ok;
    snwResult result = snwComplement_SetPose(complement, work->complement, work->pose, message);
    if (result < 0)
        return result;
    snwParallelFor(sim->context, count, pbcd_rowGrain, TakeOffsets, work);
    snwComplement_Project(sim->context, complement, work->complement, work->target);
    snwParallelFor(sim->context, count, pbcd_rowGrain, GiveOffsets, work);
    return snw_ok;
}

// The offset that x is the rounding of, unless something has moved x since.
static void KeepOffsets(snwPbcdWork* work)
{
    for (size_t i = 0; i < 4 * (size_t)work->model->vertexCount; ++i)
        if (i % 4 < 3 && work->reference[i] + work->target[i] != work->state.positions[i])
            work->target[i] = work->state.positions[i] - work->reference[i];
}

double snwPbcd_ComplementResidual(snwSim* sim, int body)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    if (work->model->complement == NULL)
        return 0.0;
    KeepOffsets(work);
    return snwComplement_Residual(sim->context, work->model->complement, work->complement, work->target);
}
