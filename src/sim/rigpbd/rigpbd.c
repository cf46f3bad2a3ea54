// The method rigpbd (rigpbd.h): its parameters, its passes over the vertices, and its substep: predict, elastic, fit
// of the rig, complement, contact, velocity (Alg. 1).

#include "sim/rigpbd/rigpbd.h"
#include "math/simd.h"
#include "sim/constraints/hands.h"
#include "sim/laws.h"
#include "sim/methods.h"
#include "sim/origin.h"

#include <math.h>
#include <string.h>

enum
{
    rigpbd_stagePredict,
    rigpbd_stageElastic,
    rigpbd_stageFit,
    rigpbd_stageComplement,
    rigpbd_stageContact,
    rigpbd_stageVelocity,
    rigpbd_stageCount,

    rigpbd_vertexGrain = 4096,
    rigpbd_lookAgain = 4, // sweeps between two looks at curved colliders

    rigpbd_paperRate = 900, // substeps per second: 15 of 60 frames

    rigpbd_sentWay = 2, // sizes per second: of a handle that is sent off
    rigpbd_mostWay =
        10, // sizes per second that given handles have in common; rigpbd_plane.c has a vertex' against them
};

#define SNW_SENT_OFF 0.5 // sizes: what a handle must go in one step to be sent off
#define SNW_SWING    0.5 // sizes per second: a rig whose handles go faster against each other swings
#define SNW_ROUSE    0.1 // s: until flesh of a rig that swings is unfolded as any other, and until it is left alone again
#define SNW_DEEP     5.0 // volumes below that: what is unfolded first; with 2 some tangles stay that the law would open

static const char* const s_stages[rigpbd_stageCount] = {
    "predict", "elastic", "fit", "complement", "contact", "velocity"};

static const char* const s_chains[] = {"constraint", "fix", "none", NULL};
static const char* const s_shows[] = {"rig", "flesh", NULL};
static const char* const s_handles[] = {"rigid", "affine", NULL};
static const char* const s_hands[] = {"bearable", "firm", NULL};
static const char* const s_solvers[] = {"coupled", "arap", "fast", NULL};
static const char* const s_weights[] = {"biharmonic", "closest", NULL};

static const snwParamInfo s_substeps = {.name = "sim.substeps",
    .type = snw_paramInt,
    .unit = "",
    .lower = 1,
    .upper = 1000,
    .initial = 15,
    .live = true,
    .help = "equal parts into which each step is cut"};

static const snwParamInfo s_params[snw_rigpbdParamCount] = {
    [snw_rigpbdIterations] = {.name = "rigpbd.iterations",
        .type = snw_paramInt,
        .unit = "",
        .lower = 1,
        .upper = 1000,
        .initial = 1,
        .live = true,
        .help = "sweeps over all elements in each substep; of arap and fast: rounds of rotations and places"},
    [snw_rigpbdCompliance] = {.name = "rigpbd.compliance",
        .type = snw_paramReal,
        .unit = "",
        .lower = 0,
        .upper = 1e6,
        .initial = 0,
        .live = true,
        .help =
            "how softly the flesh follows what is given of the rig: 0 at once, 1000 within 0.1 s; smooths rough hands"},
    [snw_rigpbdDamping] = {.name = "rigpbd.damping",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 0,
        .live = true,
        .help = "how fast motion of the flesh against the rig dies; momentum does not"},
    [snw_rigpbdSettle] = {.name = "rigpbd.settle",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 0,
        .live = true,
        .help = "how fast all motion dies that is not rigid, the rig's too; added to the material's damping"},
    [snw_rigpbdDrag] = {.name = "rigpbd.drag",
        .type = snw_paramReal,
        .unit = "1/s",
        .lower = 0,
        .upper = 1000,
        .initial = 0,
        .live = true,
        .help = "how fast all motion dies, of bodies and props, as in thick air"},
    [snw_rigpbdChains] = {.name = "rigpbd.chains",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_rigpbdChainsNone,
        .initial = snw_rigpbdChainsConstraint,
        .live = true,
        .choices = s_chains,
        .help =
            "bones that hang together stay so by constraint, are put together after every fit as published, or not"},
    [snw_rigpbdShow] = {.name = "rigpbd.show",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_rigpbdShowFlesh,
        .initial = snw_rigpbdShowRig,
        .live = true,
        .choices = s_shows,
        .help = "what is seen: the rigged mesh, or the flesh that is simulated behind it"},
    [snw_rigpbdHandles] = {.name = "rigpbd.handles",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .live = true,
        .choices = s_handles,
        .help = "handles move and turn, or also squash and stretch; corners of cages only move"},
    [snw_rigpbdWeights] = {.name = "rigpbd.weights",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_weightsClosest,
        .initial = snw_weightsBiharmonic,
        .choices = s_weights,
        .help = "of characters that bring none: smooth, or by distance alone; preparation, so it does not change while "
                "running"},
    [snw_rigpbdSelf] = {.name = "rigpbd.self",
        .type = snw_paramBool,
        .unit = "",
        .lower = 0,
        .upper = 1,
        .initial = 0,
        .live = true,
        .help = "contact of each body with itself; bodies always touch each other"},
    [snw_rigpbdSolver] = {.name = "rigpbd.solver",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_rigpbdSolverFast,
        .initial = snw_rigpbdSolverCoupled,
        .live = true,
        .choices = s_solvers,
        .help = "the coupled method; or, to compare, shapes without motion of their own: ARAP of the mesh, FAST of the "
                "handles"},
    [snw_rigpbdHands] = {.name = "rigpbd.hands",
        .type = snw_paramChoice,
        .unit = "",
        .lower = 0,
        .upper = snw_rigpbdHandsFirm,
        .initial = snw_rigpbdHandsBearable,
        .live = true,
        .choices = s_hands,
        .help =
            "a hand that leads a handle of a solid character pulls with what flesh bears, or as hard as it takes to "
            "be met"},
};

// ---------------------------------------------------------------------------------------------------------------------
// Passes over the vertices. A row is a vertex: three numbers and one that stays.

static void PredictRigpbdVertices(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    const snwRigpbdWork* work = pass->work;
    const snwRow h = {pass->h, pass->h, pass->h, 0.0f};
    for (int i = begin; i < end; ++i)
    {
        snwRow *x = snwRigpbd_RowAt(work->state.positions, i), *v = snwRigpbd_RowAt(work->state.velocities, i);
        *snwRigpbd_RowAt(work->before, i) = *x;
        if ((*x)[3] > 0.0f)
        {
            *v += pass->acceleration;
            *x += h * *v;
        }
        *snwRigpbd_RowAt(work->predicted, i) = *x;
    }
}

// Flat flesh: rows of x y and a move, and back to rows of moves and positions.
static void FillPlane(int begin, int end, void* data)
{
    const snwRigpbdWork* work = ((const snwRigpbdPass*)data)->work;
    const snwRow upright = {1.0f, 1.0f, 0.0f, 0.0f};
    for (int i = begin; i < end; ++i)
        *snwRigpbd_RowAt(work->plane, i) = *snwRigpbd_RowAt(work->predicted, i) * upright;
}

static void EmptyPlane(int begin, int end, void* data)
{
    const snwRigpbdWork* work = ((const snwRigpbdPass*)data)->work;
    for (int i = begin; i < end; ++i)
    {
        snwRow row = *snwRigpbd_RowAt(work->plane, i), p = *snwRigpbd_RowAt(work->predicted, i);
        snwRow move = __builtin_shufflevector(row, (snwRow){0}, 2, 3, 4, 5);
        *snwRigpbd_RowAt(work->moves, i) = move;
        if (p[3] > 0.0f)
            p += move;
        *snwRigpbd_RowAt(work->state.positions, i) = p;
    }
}

// x = p + d; what is pinned stays.
static void MoveRange(int begin, int end, void* data)
{
    const snwRigpbdWork* work = ((const snwRigpbdPass*)data)->work;
    for (int i = begin; i < end; ++i)
    {
        snwRow p = *snwRigpbd_RowAt(work->predicted, i);
        if (p[3] > 0.0f)
            p += *snwRigpbd_RowAt(work->moves, i);
        *snwRigpbd_RowAt(work->state.positions, i) = p;
    }
}

// What contacts did beyond p + d becomes part of d.
static void Absorb(int begin, int end, void* data)
{
    const snwRigpbdWork* work = ((const snwRigpbdPass*)data)->work;
    for (int i = begin; i < end; ++i)
    {
        snwRow p = *snwRigpbd_RowAt(work->predicted, i), d = *snwRigpbd_RowAt(work->moves, i);
        snwRow change = *snwRigpbd_RowAt(work->state.positions, i) - (p + d);
        *snwRigpbd_RowAt(work->moves, i) = d + change;
        if (work->model->flat)
            *snwRigpbd_RowAt(work->plane, i) += (snwRow){0.0f, 0.0f, change[0], change[1]};
    }
}

// v += d / h, and what contacts and hands did beyond that. A free body in flight keeps its velocity to the bit.
static void UpdateRigpbdVelocities(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    const snwRigpbdWork* work = pass->work;
    const snwRow upright = {1.0f, 1.0f, work->model->flat ? 0.0f : 1.0f, 1.0f};
    const snwRow rate = {pass->inverseH, pass->inverseH, pass->inverseH, 0.0f};
    const snwRow keep = {pass->keep, pass->keep, pass->keep, 1.0f}, mass = {0.0f, 0.0f, 0.0f, 1.0f};
    snwRigpbdBound bound = snwRigpbd_Bound(work);

    for (int i = begin; i < end; ++i)
    {
        snwRow *v = snwRigpbd_RowAt(work->state.velocities, i),
               x = *snwRigpbd_RowAt(work->state.positions, i) * upright;

        // Free: by d and by what contacts did, limited. Held: by where its pin has taken it.
        snwRow p = *snwRigpbd_RowAt(work->predicted, i), d = *snwRigpbd_RowAt(work->moves, i);
        if (p[3] > 0.0f)
            *v = snwRigpbd_LimitVelocity((*v + (d + (x - (p + d))) * rate) * keep, &bound);
        else
            *v = *v * mass + (x - *snwRigpbd_RowAt(work->before, i)) * rate;

        *snwRigpbd_RowAt(work->state.positions, i) = x;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Elastic

static bool SameElements(const snwRigpbdWork* work, const snwPairDef* def)
{
    size_t bytes = (size_t)work->model->character->def.materialCount * sizeof *work->materials;
    bool same = work->h == def->h && work->visits == def->visits && memcmp(work->materials, def->materials, bytes) == 0;
    for (int i = 0; same && i < work->model->vertexCount; ++i)
        same = work->masses[i] == work->state.positions[4 * (size_t)i + 3];
    return same;
}

// Elements depend on materials, masses in use and the substep: made anew when one of these is not what it was.
static void UpdateElements(const snwSim* sim, int body, double h)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwBody* common = &sim->bodies[body];
    snwPairDef def = {common->character, &work->model->blocks, common->materials, work->state.positions, h,
        (int)snwSim_Param(sim, snw_rigpbdIterations)};

    // Nothing has been changed since it was last looked at.
    if (work->seen == sim->changes)
        return;
    work->seen = sim->changes;
    if (SameElements(work, &def))
        return;

    work->kept = snwPair_KeptOfAll(&def);
    if (work->model->flat)
        snwPairTriangles_Set(&def, work->triangles);
    else
        snwPairTets_Set(&def, work->tets);

    // What they were made for.
    work->h = h;
    work->visits = def.visits;
    memcpy(work->materials, common->materials, (size_t)common->character->def.materialCount * sizeof *work->materials);
    work->held = false;

    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        work->masses[i] = work->state.positions[4 * (size_t)i + 3];
        work->held = work->held || !(work->masses[i] > 0.0f);
    }
}

typedef struct Visit
{
    void (*kernel)(const snwPairSweep* sweep, int begin, int end);
    snwPairSweep sweep;
} Visit;

static void VisitBlocks(int begin, int end, void* data)
{
    const Visit* visit = data;
    visit->kernel(&visit->sweep, begin, end);
}

static void StartElastic(snwSim* sim, int body, snwRigpbdPass* pass)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    if (work->alone)
        return;
    if (work->model->flat)
        snwParallelFor(sim->context, work->model->vertexCount, rigpbd_vertexGrain, FillPlane, pass);
    else
        memset(work->moves, 0, (size_t)work->model->vertexCount * 4 * sizeof(float));
}

// By the law of the flesh, or to unfold what it has marked.
static void SweepElastic(snwSim* sim, int body, snwRigpbdPass* pass, const snwPairBounds* unfold)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigpbdModel* model = work->model;
    const snwConstraintKernels* kernels = pass->kernels;
    Visit visit = {.sweep = {model->flat ? work->plane : work->moves, work->predicted, work->triangles, work->tets,
                       work->folded, {0}}};
    if (unfold != NULL)
        visit.sweep.bounds = *unfold;
    if (model->flat)
        visit.kernel = unfold != NULL ? kernels->unfoldTriangles : kernels->pairTriangles;
    else
        visit.kernel = unfold != NULL ? kernels->unfoldTets : kernels->pairTets;
    const snwColours* colours = model->flat ? &model->blocks.triangleColours : &model->blocks.tetColours;
    snwColours_Sweep(sim->context, colours, VisitBlocks, &visit);
    if (!work->alone)
        snwParallelFor(
            sim->context, model->vertexCount, rigpbd_vertexGrain, model->flat ? EmptyPlane : MoveRange, pass);
}

// The last sweep of a step, which tells how much there was left to do. One sweep alone does all there is, so it says
// nothing about what a second one would: then nobody is warned.
static void SweepLast(snwSim* sim, int body, snwRigpbdPass* pass)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    float* last = ((snwRigpbdScratch*)sim->scratch)->last;
    const float* rows = work->model->flat ? work->plane : work->moves;
    int count = work->model->vertexCount;

    memcpy(last, rows, 4 * (size_t)count * sizeof *last);
    SweepElastic(sim, body, pass, NULL);

    // Rows of the plane hold the move in their last two numbers.
    float most = 0.0f;
    for (size_t i = 0; i < 4 * (size_t)count; i += 4)
    {
        float square = 0.0f;
        for (size_t k = i; k < i + 4; ++k)
            square += (rows[k] - last[k]) * (rows[k] - last[k]);
        most = square > most ? square : most;
    }

    bool alone = (int)snwSim_Param(sim, snw_rigpbdIterations) == 1;
    snwSim_SetResidual(sim, body, sqrt((double)most), alone ? NULL : "more rigpbd.iterations, or more substeps");
    snwSim_TellStiffness(sim, body, work->kept, "more substeps or rigpbd.iterations, or a coarser mesh");
}

// By the law of pair.h, of flesh as soft as the cut leaves it. The rivals have no material.
static double RigpbdElasticDensity(const snwSim* sim, int body, int element, snwMat3 f)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwBody* common = &sim->bodies[body];
    snwMaterial material = common->materials[common->character->def.regions[element]];
    if ((int)snwSim_Param(sim, snw_rigpbdSolver) != snw_rigpbdSolverCoupled)
        return snwDensity_Corotated(snwMaterial_Lame(&material), f);
    snwPairDef def = {
        common->character, &work->model->blocks, common->materials, work->state.positions, work->h, work->visits};
    if (work->h > 0.0) // else no step has said yet what it cuts
        material.young *= snwPair_Kept(&def, element);
    return snwDensity_NeoHookean(snwMaterial_Lame(&material), f);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rig

// How much of the step is over after this substep, 0 to 1.
static double Fraction(const snwSim* sim, double h)
{
    double fraction = (sim->substepTime - snwSim_SceneTime(sim)) / sim->dt;
    return fraction > 1.0 - 0.5 * h / sim->dt ? 1.0 : fraction;
}

// The flesh follows what is given as a critically damped spring would, of frequency 1 / (h sqrt(a)): without damping it
// rings and makes a rough hand rougher. With spring m / (a h^2) and damper 2 m / (h sqrt(a)) implicit in
// e' = e + d, e being how far the flesh is off and e0 how far it was at the end of the substep before,
//     d (1 + a + 2 sqrt(a)) = -(1 + 2 sqrt(a)) e + 2 sqrt(a) e0,
// which is the complement with a / g in place of a and e less (1 - 1 / g) e0, g = 1 + 2 sqrt(a). The parameter is a for
// the paper's substeps; that of others is scaled so that the frequency is the same.
static void SoftenHold(const snwSim* sim, double h, snwRigHold* hold)
{
    double compliance = snwSim_Param(sim, snw_rigpbdCompliance);
    if (!(compliance > 0.0))
        return;
    double root = sqrt(compliance) / (h * rigpbd_paperRate), g = 1.0 + 2.0 * root;
    hold->compliance = root * root / g;
    hold->kept = 1.0 - 1.0 / g;
}

// How far the flesh is off the rig before a substep.
static void RememberRig(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    int which = snwRigpbd_WhichFit(sim, body);
    bool soft = snwSim_Param(sim, snw_rigpbdCompliance) > 0.0;
    if (work->rigs[which] == NULL || !(soft || snwRigpbd_Toggles(work)))
        return;
    snwRigFlesh flesh = {.rows = work->state.positions, .origin = *sim->bodies[body].origin};
    snwRigFit_GatherFlesh(sim->context, work->rigs[which], work->fits[which], &flesh);
    snwRigFit_Remember(work->rigs[which], work->fits[which], work->state.pose);
}

static bool AnswerFromRig(const snwRigpbdWork* work, int which, const snwRigHold* hold, const snwRigpbdPart* now)
{
    bool answers = snwRigFit_Complement(work->rigs[which], work->fits[which], hold, work->state.pose);
    snwRigPose* answer = snwRigFit_Answer(work->rigs[which], work->fits[which]);
    return snwRigpbd_EaseAnswer(work, hold, now, answer) || answers;
}

// Hands yield where they would take more force than flesh bears: once more, from nearer.
static bool FitAndAnswer(snwSim* sim, int body, const snwRigHold* hold, const snwRigpbdPart* now)
{
    enum
    {
        snw_mostYields = 3
    };
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    int which = snwRigpbd_WhichFit(sim, body);
    snwRigFitScratch* scratch = work->fits[which];
    snwRigpbdYield before[snw_maxRigHandles] = {{0}};

    // A pose, and what the flesh does about it; as long as some hand pulls harder than it may, that hand yields.
    for (int i = 0;; ++i)
    {
        *work->state.closing = snwRigFit_Solve(work->rigs[which], scratch, hold, work->state.pose).closing;
        bool answers = AnswerFromRig(work, which, hold, now);
        if (!answers || i > snw_mostYields || !snwRigpbd_Yield(sim, body, scratch, now->h, before))
            return answers;

        // Enough: for this substep it does not hold at all.
        if (i == snw_mostYields)
            snwRigpbd_LetSlip(sim, body);

        memcpy(work->state.pose, work->poses, (size_t)work->model->handleCount * sizeof *work->poses);
    }
}

static void SolveRig(snwSim* sim, int body, snwRigpbdPass* pass, double h)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    const snwRigpbdModel* model = work->model;
    int which = snwRigpbd_WhichFit(sim, body);
    const snwRigFit* fit = work->rigs[which];
    snwRigpbdPart now = {Fraction(sim, h), h / sim->dt, h, snwRigpbd_Toggles(work)};

    if (fit == NULL)
        return;

    snwRigHold hold = {.targets = work->targets,
        .rules = work->rules,
        .closing = *work->state.closing,
        .leaving = snwRigpbd_LetsGo(work) ? now.end * now.end : 0.0, // as softly as can be at first
        .chains = (int)snwSim_Param(sim, snw_rigpbdChains) == snw_rigpbdChainsFix ? snw_rigChainsRepaired
                                                                                  : snw_rigChainsJoined};
    SoftenHold(sim, h, &hold);
    snwRigpbd_EaseToggle(&now, &hold);

    memcpy(work->poses, work->state.pose, (size_t)model->handleCount * sizeof *work->poses);

    // The pose that fits the flesh, and the flesh's answer to what is given.
    snwRigFlesh flesh = model->flat ? (snwRigFlesh){.rows = work->plane, .plane = true}
                                    : (snwRigFlesh){.rows = work->predicted, .moves = work->moves};
    flesh.origin = *sim->bodies[body].origin;
    snwRigFit_GatherFlesh(sim->context, fit, work->fits[which], &flesh);

    bool answers = FitAndAnswer(sim, body, &hold, &now);
    snwRigpbd_FollowHandles(work, h, now.end == 1.0);
    snwSim_EndStage(sim, rigpbd_stageFit);

    // How much energy the answer brought, where the rig may spin up by it.
    bool measured = answers && !now.toggles && snwRigpbd_MaySpin(sim, body, h);
    snwRigpbdEnergy energies[2] = {{0}};
    if (measured)
        energies[0] = snwRigpbd_Energy(work, h);

    bool damped = snwSim_Param(sim, snw_rigpbdDamping) > 0.0;
    flesh = (snwRigFlesh){.rows = model->flat ? work->plane : work->moves, .plane = model->flat};
    if (answers || damped)
        snwRigFit_ApplyFlesh(
            sim->context, fit, work->fits[which], work->poses, answers ? &flesh : NULL, damped ? work->drift : NULL);

    if (measured)
        energies[1] = snwRigpbd_Energy(work, h);
    work->calming = measured ? snwRigpbd_Calming(work, fit, work->fits[which], energies, h) : 0.0;

    if (answers && !work->alone)
        snwParallelFor(
            sim->context, model->vertexCount, rigpbd_vertexGrain, model->flat ? EmptyPlane : MoveRange, pass);
    snwSim_EndStage(sim, rigpbd_stageComplement);
}

// ---------------------------------------------------------------------------------------------------------------------
// Damping

static void DampBody(snwSim* sim, int body, double h)
{
    snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    snwRigidDamping damping = {.positions = work->state.positions,
        .velocities = work->state.velocities,
        .count = work->model->vertexCount,
        .sums = ((snwRigpbdScratch*)sim->scratch)->sums,
        .rate = snwSim_Param(sim, snw_rigpbdSettle) + snwBody_MaterialDamping(&sim->bodies[body]) + work->calming,
        .drift = work->model->handleCount > 0 ? work->drift : NULL,
        .driftRate = snwSim_Param(sim, snw_rigpbdDamping),
        .flat = work->model->flat};
    snwRigidDamping_Apply(sim->context, &damping, h);
}

// ---------------------------------------------------------------------------------------------------------------------
// Step

// Gravity, and pushes: on single vertices these change the velocity; on the whole body they add to gravity.
static void ApplyForces(snwSim* sim, int body, double h, snwRigpbdPass* pass)
{
    const snwRigpbdState* state = &pass->work->state;
    snwVec3 g = snwVec3_Scale(snwSim_Gravity(sim, state->velocities), h);

    pass->acceleration = (snwRow){(float)g.x, (float)g.y, pass->work->model->flat ? 0.0f : (float)g.z, 0.0f};
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabPush || grab->body != body)
            continue;

        snwVec3 push = snwSim_PushForce(sim, grab);

        // The body's mass, from the inverse masses that velocities carry.
        double mass = 0.0;
        for (int k = 0; grab->vertex < 0 && k < pass->work->model->vertexCount; ++k)
            mass += 1.0 / (double)state->velocities[4 * (size_t)k + 3];

        // The same acceleration for all of the body, or a change of one vertex.
        float* v = state->velocities + 4 * (size_t)(grab->vertex < 0 ? 0 : grab->vertex);
        double scale = (double)pass->h * (grab->vertex < 0 ? 1.0 / mass : (double)v[3]);
        double z = pass->work->model->flat ? 0.0 : push.z;

        snwRow change = {(float)(push.x * scale), (float)(push.y * scale), (float)(z * scale), 0.0f};

        if (grab->vertex < 0)
            pass->acceleration += change;
        else
            *(snwRow*)v += change;
    }
}

static snwRigpbdPass MakeRigpbdPass(const snwSim* sim, int body, double h)
{
    return (snwRigpbdPass){.work = snwRigpbd_Work(sim, body),
        .kernels = snwConstraint_Kernels(sim->context->simd),
        .h = (float)h,
        .inverseH = (float)(1.0 / h),
        .keep = (float)exp(-snwSim_Param(sim, snw_rigpbdDrag) * h)};
}

static void FlattenRows(const snwRigpbdWork* work)
{
    for (int i = 0; work->model->flat && i < work->model->vertexCount; ++i)
        work->state.positions[4 * (size_t)i + 2] = 0.0f;
}

static bool HasPins(const snwSim* sim, int body)
{
    bool any = false;
    for (int i = 0; i < sim->def->pinCount; ++i)
        any = any || (sim->pinSets[i].body == body && sim->pins[i].held);
    for (int i = 0; i < sim->grabCount; ++i)
        any = any || (sim->grabs[i].body == body && sim->grabs[i].kind == snw_grabPin);
    return any;
}

static bool CanTouch(const snwSim* sim)
{
    return sim->def->colliderCount + sim->def->propCount > 0 || sim->bodyCount > 1 ||
           snwSim_Param(sim, snw_rigpbdSelf) != 0.0;
}

// Flesh that only its elements and its rig move: a substep needs no positions of it before the end.
static bool IsAlone(const snwSim* sim, int body)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    bool alone = !work->held && !CanTouch(sim) && !HasPins(sim, body);
    for (int i = 0; i < sim->grabCount; ++i)
        alone = alone && !(sim->grabs[i].body == body && sim->grabs[i].kind == snw_grabDrag);
    return alone;
}

static void CarryBody(snwRigpbdWork* work, double h)
{
    snwVec3 way = snwRigpbd_CarryHandles(work, rigpbd_mostWay * work->model->size * h);
    const snwRow move = {(float)way.x, (float)way.y, (float)way.z, 0.0f};
    if (way.x == 0.0 && way.y == 0.0 && way.z == 0.0)
        return;
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        if (work->alone && work->model->flat)
        {
            *snwRigpbd_RowAt(work->plane, i) += (snwRow){move[0], move[1], 0.0f, 0.0f};
            continue;
        }
        *snwRigpbd_RowAt(work->before, i) += move;
        *snwRigpbd_RowAt(work->predicted, i) += move;
        *snwRigpbd_RowAt(work->state.positions, i) += move;
    }
}

// The first and the last pass of a substep.
static snwRangeFn* PredictionOf(const snwRigpbdWork* work)
{
    if (!work->alone)
        return PredictRigpbdVertices;
    return work->model->flat ? snwRigpbd_PredictPlane : snwRigpbd_PredictSolid;
}

static snwRangeFn* EndOf(const snwRigpbdWork* work)
{
    if (!work->alone)
        return UpdateRigpbdVelocities;
    return work->model->flat ? snwRigpbd_FinishPlane : snwRigpbd_FinishSolid;
}

static void MovePinnedRows(const snwSim* sim, int body, snwRigpbdWork* work)
{
    snwHands_MovePinned(sim, body, work->state.positions);
    FlattenRows(work);
    for (int i = 0; i < work->model->vertexCount; ++i)
        if (work->predicted[4 * (size_t)i + 3] == 0.0f)
            *snwRigpbd_RowAt(work->predicted, i) = *snwRigpbd_RowAt(work->state.positions, i);
}

static snwHands MakeRigpbdHands(const snwRigpbdWork* work, double h)
{
    return (snwHands){work->before, work->state.velocities, work->state.positions, h};
}

static void PredictRigpbdBody(snwSim* sim, int body, double h)
{
    snwRigpbdPass pass = MakeRigpbdPass(sim, body, h);

    snwBody_FollowRows(&sim->bodies[body], &pass.work->state.positions, 1);
    UpdateElements(sim, body, h);
    RememberRig(sim, body);

    ApplyForces(sim, body, h, &pass);
    pass.work->alone = IsAlone(sim, body);
    snwParallelFor(sim->context, pass.work->model->vertexCount, rigpbd_vertexGrain, PredictionOf(pass.work), &pass);

    // Goals once per step, handles in every substep.
    if (sim->part[0] == 0.0)
        snwRigpbd_LimitReach(
            pass.work, SNW_SENT_OFF * pass.work->model->size, rigpbd_sentWay * pass.work->model->size * sim->dt);
    snwRigpbd_MoveHandles(sim, body, Fraction(sim, h));

    // Given handles are kept out of colliders, and slow down before they arrive.
    snwRigpbd_KeepOut(sim, pass.work, rigpbd_sentWay * pass.work->model->size * h);
    snwRigpbd_Brake(sim, body, h);

    if (HasPins(sim, body))
        MovePinnedRows(sim, body, pass.work);
    else
        CarryBody(pass.work, h);

    snwHands hands = MakeRigpbdHands(pass.work, h);
    snwHands_Begin(sim, body, &hands);
}

static snwResponse* ResponseOf(const snwSim* sim)
{
    return ((snwRigpbdScratch*)sim->scratch)->responses[snwSim_Param(sim, snw_rigpbdSelf) != 0.0];
}

static void DescribeContacts(snwSim* sim, double h)
{
    snwResponse* response = ResponseOf(sim);
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        const snwRigpbdWork* work = snwRigpbd_Work(sim, i);
        snwTouchDef touch = {
            .positions = work->state.positions, .before = work->before, .anchors = work->state.anchors};
        snwSim_DescribeBody(sim, response, i, &touch);
    }
    snwSim_GatherContacts(sim, response, h);
}

static void SolveContacts(snwSim* sim, bool last)
{
    snwResponse* response = ResponseOf(sim);
    for (int i = 0; i < response->islandCount; ++i)
        snwResponse_Solve(response, i, last);
}

static void FinishContacts(snwSim* sim, double h)
{
    snwResponse* response = ResponseOf(sim);
    SolveContacts(sim, true);
    for (int i = 0; i < sim->bodyCount; ++i)
        snwSim_CatchFlung(response, i, snwRigpbd_Work(sim, i)->predicted);
    snwSim_FinishContacts(sim, response, snwSim_Param(sim, snw_rigpbdDrag), h);
}

static void AbsorbAll(snwSim* sim, double h)
{
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwRigpbdPass pass = MakeRigpbdPass(sim, i, h);
        snwParallelFor(sim->context, pass.work->model->vertexCount, rigpbd_vertexGrain, Absorb, &pass);
    }
}

// Contacts and hands between the sweeps, so that what presses and pulls reaches all of the flesh.
static void SolveFlesh(snwSim* sim, double h, bool touches)
{
    int iterations = (int)snwSim_Param(sim, snw_rigpbdIterations);
    for (int k = 0; k < iterations; ++k)
    {
        bool moved = touches;
        for (int i = 0; i < sim->bodyCount; ++i)
        {
            snwRigpbdPass pass = MakeRigpbdPass(sim, i, h);
            if (k == 0)
                StartElastic(sim, i, &pass);
            if (k + 1 == iterations && sim->lastSubstep)
                SweepLast(sim, i, &pass);
            else
                SweepElastic(sim, i, &pass, NULL);

            snwHands hands = MakeRigpbdHands(pass.work, h);
            moved |= snwHands_Drag(sim, i, &hands, iterations);
        }

        snwSim_EndStage(sim, rigpbd_stageElastic);

        if (touches)
            SolveContacts(sim, k % rigpbd_lookAgain == 0);
        if (moved)
            AbsorbAll(sim, h);
        snwSim_EndStage(sim, rigpbd_stageContact);
    }
}

// Whether the rig swings: parts that hang on a handle fold by their own weight, also after the hand has stopped. Of a
// body that is let go of, more is asked, so that folds open by the law alone before it is calm.
static bool IsSwung(const snwRigpbdWork* work)
{
    snwVec3 velocity = snwRigpbd_MeanVelocity(work), spin = {0, 0, 0}, middle = {0, 0, 0};
    int count = work->model->handleCount;
    bool given = false;
    for (int i = 0; i < count; ++i)
    {
        spin = snwVec3_MulAdd(spin, 1.0 / count, work->state.handles[i].spin);
        middle = snwVec3_MulAdd(middle, 1.0 / count, work->state.pose[i].place);
        given = given || work->targets[i].given != 0;
    }

    // What is faster than the body as a whole, turning as it does.
    double fastest = 0.0;
    for (int i = 0; i < count; ++i)
    {
        snwVec3 turn = snwVec3_Cross(spin, snwVec3_Sub(work->state.pose[i].place, middle));
        snwVec3 own = snwVec3_Sub(snwVec3_Sub(work->state.handles[i].velocity, velocity), turn);
        fastest = fmax(fastest, snwVec3_Length(own));
    }

    return fastest > (given ? SNW_SWING : 2.0 * SNW_SWING) * work->model->size;
}

// Unfolding begins and ends by and by: all at once it would be a blow, for folds may be old when a rig begins to swing.
static void FollowSwing(const snwRigpbdWork* work, double h)
{
    int16_t* swing = &work->state.run->swing;
    int most = snw_rigpbdSwingFull, part = (int)fmin(most, ceil(most * h / SNW_ROUSE));
    int next = *swing + (IsSwung(work) ? part : -part);
    *swing = (int16_t)(next > most ? most : next < 0 ? 0 : next);
}

// Does anything from outside press this body: what is near it, pins, drags, a rig that swings? If not, the law
// finds back alone, also from tangles that elements must pass through each other to leave.
static bool IsPressed(const snwSim* sim, int body, bool touches, snwPairBounds* bounds)
{
    const snwRigpbdWork* work = snwRigpbd_Work(sim, body);
    *bounds = snw_pairUpright;
    if (!(touches ? snwSim_IsAlone(sim, ResponseOf(sim), body) : work->alone))
        return true;
    float swing = (float)work->state.run->swing / (float)snw_rigpbdSwingFull;
    bounds->least -= (1.0f - swing) * (float)SNW_DEEP;
    bounds->longest /= swing;
    return swing > 0.0f;
}

// What the law and the rig leave flat or inside out; see pair.h. Contacts have the last word.
static void UnfoldBodies(snwSim* sim, double h, bool touches)
{
    enum
    {
        rigpbd_mostRounds = 8,
        rigpbd_mostTouching = 16, // contacts undo some of each
    };
    snwPairMark sought = snw_pairSqueezed;

    for (int round = 0; round < (touches ? rigpbd_mostTouching : rigpbd_mostRounds); ++round)
    {
        bool any = false;
        for (int i = 0; i < sim->bodyCount; ++i)
        {
            snwRigpbdPass pass = MakeRigpbdPass(sim, i, h);
            const snwBlocks* blocks = &pass.work->model->blocks;
            size_t count = (size_t)blocks->triangleBlocks + (size_t)blocks->tetBlocks;
            snwPairBounds bounds;

            if (memchr(pass.work->folded, sought, count) == NULL || !IsPressed(sim, i, touches, &bounds))
                continue;

            SweepElastic(sim, i, &pass, &bounds);
            any = true;
        }

        if (!any)
            return;

        // In the first round what the law squeezed, then what the round before has left.
        sought = snw_pairFolded;
        if (!touches)
            continue;
        SolveContacts(sim, false);
        AbsorbAll(sim, h);
    }
}

static snwResult StepRivals(snwSim* sim, double h, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < sim->bodyCount && result >= 0; ++i)
        result = snwRigpbd_StepRival(sim, i, Fraction(sim, h), h, message);
    snwSim_EndStage(sim, rigpbd_stageFit);
    return result;
}

static snwResult StepRigpbd(snwSim* sim, double h, snwMessage* message)
{
    if (snwRigpbd_Ready(sim, message) < 0)
        return snw_errorMemory;

    // Switches between solvers and kinds of handles take effect here.
    for (int i = 0; i < sim->bodyCount; ++i)
        snwRigpbd_Switch(sim, i);
    if ((int)snwSim_Param(sim, snw_rigpbdSolver) != snw_rigpbdSolverCoupled)
        return StepRivals(sim, h, message);

    bool touches = CanTouch(sim);

    for (int i = 0; i < sim->bodyCount; ++i)
        PredictRigpbdBody(sim, i, h);
    snwSim_EndStage(sim, rigpbd_stagePredict);

    if (touches)
        DescribeContacts(sim, h);
    snwSim_EndStage(sim, rigpbd_stageContact);

    // Elastic sweeps with hands and contacts, then the rig, which answers to what is given.
    SolveFlesh(sim, h, touches);
    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwRigpbdPass pass = MakeRigpbdPass(sim, i, h);
        SolveRig(sim, i, &pass, h);
        FollowSwing(pass.work, h);
    }

    // What the rig has folded is unfolded; contacts have the last word.
    UnfoldBodies(sim, h, touches);
    snwSim_EndStage(sim, rigpbd_stageElastic);
    if (touches)
        FinishContacts(sim, h);
    snwSim_EndStage(sim, rigpbd_stageContact);

    for (int i = 0; i < sim->bodyCount; ++i)
    {
        snwRigpbdPass pass = MakeRigpbdPass(sim, i, h);
        snwParallelFor(sim->context, pass.work->model->vertexCount, rigpbd_vertexGrain, EndOf(pass.work), &pass);
        DampBody(sim, i, h);
    }

    snwSim_EndStage(sim, rigpbd_stageVelocity);
    return snw_ok;
}

const snwMethod snwRigpbdMethod = {
    .name = "rigpbd",
    .title = "two-way coupling of a rig of handles and position-based flesh",
    .source = "Wu, Umetani: Two-Way Coupling of Skinning Transformations and Position Based Dynamics, 2023",
    .features = snw_featurePins | snw_featureDrag | snw_featurePush | snw_featureHandles | snw_featureColliders |
                snw_featureProps | snw_featureTets | snw_featureTriangles | snw_featureBones,
    .params = s_params,
    .paramCount = snw_rigpbdParamCount,
    .substeps = &s_substeps,
    .smallBody = INFINITY,
    .mostWeight = 0.03,
    .stages = s_stages,
    .stageCount = rigpbd_stageCount,
    .checkParam = snwRigpbd_CheckParam,
    .createModel = snwRigpbd_CreateModel,
    .destroyModel = snwRigpbd_DestroyModel,
    .bodyStateSize = snwRigpbd_StateSize,
    .initBody = snwRigpbd_InitBody,
    .isSound = snwRigpbd_IsSound,
    .createScratch = snwRigpbd_CreateScratch,
    .destroyScratch = snwRigpbd_DestroyScratch,
    .applied = snwRigpbd_Applied,
    .step = StepRigpbd,
    .getVertices = snwRigpbd_GetVertices,
    .getBones = snwRigpbd_GetBones,
    .getJoints = snwRigpbd_GetJoints,
    .getHandles = snwRigpbd_GetHandles,
    .getHandleMatrices = snwRigpbd_GetHandleMatrices,
    .getShown = snwRigpbd_GetShown,
    .elasticDensity = RigpbdElasticDensity,
};
