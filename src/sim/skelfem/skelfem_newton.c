// The way downhill: Newton's steps on the objective of skelfem.h, each a linear solution and a line search.
//
// The matrix is that of frozen rotations: not the Hessian of W, but positive semidefinite, so a solution g . d < 0
// always leads down, and with it a step takes two to five of them (4.9 against 4.7 with the clamped Hessian). How good
// a linear solution is shows in the objective, never in its residual: that rises at first while the error falls.
//
// Falling back, each counted and told: where the grid's direction is no number or leads nowhere, conjugate gradients
// with the diagonal alone; where these fail too, the diagonal itself; and where nothing leads down, the step is said to
// diverge and begun again with more substeps.

#include "sim/skelfem/skelfem.h"

#include "base/hash.h"
#include "sim/laws.h"
#include "sim/origin.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------------
// Making

static snwMultigridDef GridDef(const snwSim* sim)
{
    enum
    {
        newton_v21 = 1,
        newton_w11 = 2
    };
    snwMultigridDef def = snwDefaultMultigridDef();
    int cycle = (int)snwSkelfem_Setting(sim, snw_skelfemCycle);
    if (cycle == newton_v21)
        def.before = 2, def.visits[0] = def.visits[1] = 1;
    if (cycle == newton_w11)
        def.visits[0] = def.visits[1] = 2;
    return def;
}

snwResult snwSkelfem_CreateBody(snwSim* sim, int index, snwMessage* message)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    const snwSkelfemModel* model = body->model = sim->bodies[index].model;
    const snwCharacterDef* character = &model->character->def;
    snwArena* arena = &sim->arena;
    size_t n = (size_t)model->vertexCount, tets = (size_t)model->tetCount;
    snwVec3** vectors[] = {&body->before, &body->velocityFrom, &body->from, &body->external, &body->gradient,
        &body->direction, &body->aside};

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i)
        *vectors[i] = snwArena_Alloc(arena, n, sizeof(snwVec3));

    body->state = snwSkelfem_PlaceState(model, sim->bodies[index].state);
    body->masses = snwArena_Alloc(arena, n, sizeof *body->masses);
    body->added = snwArena_Alloc(arena, n, sizeof *body->added);
    body->held = snwArena_Alloc(arena, n, 1);

    body->mu = snwArena_Alloc(arena, tets, sizeof *body->mu);
    body->lambda = snwArena_Alloc(arena, tets, sizeof *body->lambda);
    body->tetMasses = snwArena_Alloc(arena, tets, sizeof *body->tetMasses);
    body->tetSums = snwArena_Alloc(arena, tets, sizeof *body->tetSums);

    body->touchRows = snwArena_Alloc(arena, n, 4 * sizeof(float));
    body->touchBefore = snwArena_Alloc(arena, n, 4 * sizeof(float));

    // Vectors of the conjugate gradients over all bodies.
    snwVec3** others[] = {&body->residual, &body->guess, &body->conjugate, &body->product};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        *others[i] = snwArena_Alloc(arena, n, sizeof(snwVec3));
    body->boneFits = snwArena_Alloc(arena, (size_t)character->boneCount, sizeof *body->boneFits);
    if (arena->failed)
        return snwFailMemory(message);

    snwElasticityDef elasticity = {model->vertexCount, character->vertices, model->tetCount, &character->tets[0][0]};
    body->elasticity = snwElasticity_Create(sim->context, arena, &elasticity);
    if (body->elasticity == NULL)
        return snwFailMemory(message);

    snwMultigridDef gridDef = GridDef(sim);
    snwResult result = snwMultigrid_Create(sim->context, model->levels, &gridDef, &body->grid, message);
    if (result < 0)
        return result;

    // Any moduli will do: those of the materials come with the first step.
    for (size_t e = 0; e < tets; ++e)
        body->mu[e] = 1;
    snwCorotatedDef matrix = {.vertexCount = model->vertexCount,
        .rest = character->vertices,
        .tetCount = model->tetCount,
        .tets = &character->tets[0][0],
        .mu = body->mu,
        .lambda = body->lambda,
        .levels = model->levels,
        .matrix = snwMultigrid_Matrix(body->grid)};

    result = snwCorotated_Create(sim->context, &matrix, &body->matrix, message);
    if (result >= 0 && snwSkelfem_Setting(sim, snw_skelfemMass) != 0)
        result = snwCorotated_SetMasses(body->matrix, body->tetMasses, message);
    return result;
}

void snwSkelfem_DestroyBody(snwSkelfemBody* body)
{
    snwCorotated_Destroy(body->matrix);
    snwMultigrid_Destroy(body->grid);
}

// ---------------------------------------------------------------------------------------------------------------------
// What a substep begins with

static bool IsConsistent(const snwSim* sim)
{
    return snwSkelfem_Setting(sim, snw_skelfemMass) != 0;
}

// Masses and moduli of the materials as they are now. The matrix has damping in its moduli: beta times the rate of the
// rule beside 1.
static snwResult SetSkelfemMaterials(snwSim* sim, int index, snwMessage* message)
{
    static const double s_stop =
        100; // times the modulus of flesh that is pressed from one side: more than it ever bears
    bool hasStops = snwSkelfem_Setting(sim, snw_skelfemStops) != 0;
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    const snwCharacter* character = body->model->character;
    const snwBody* common = &sim->bodies[index];
    double rayleigh = snwSkelfem_Setting(sim, snw_skelfemRayleigh), rate = body->state.clock->rate;
    double size = snwVec3_Distance(character->lower, character->upper);

    // What the moduli depend on.
    uint64_t signature = snwHash(common->materials, (size_t)character->def.materialCount * sizeof *common->materials,
        snwHash(&rate, sizeof rate, 0));

    signature = snwHash(&hasStops, sizeof hasStops, snwHash(&rayleigh, sizeof rayleigh, signature)) | 1;
    if (signature == body->signature)
        return snw_ok;

    body->signature = signature;

    snwCharacter_ComputeMasses(character, common->materials, body->masses);
    for (int e = 0; e < body->model->tetCount; ++e)
    {
        const snwMaterial* material = &common->materials[character->def.regions[e]];
        snwLame lame = snwMaterial_Lame(material);
        double beta = rayleigh + snwMaterial_DampingTime(material, size);
        double stop = hasStops ? s_stop * (lame.lambda + 2 * lame.mu) : 0;

        snwElasticity_SetMaterial(body->elasticity, e, (snwTetMaterial){lame.mu, lame.lambda, beta, stop});

        // The matrix has damping in its moduli.
        body->mu[e] = lame.mu * (1 + beta * rate);
        body->lambda[e] = lame.lambda * (1 + beta * rate);
        body->tetMasses[e] = material->density * character->restVolumes[e];
    }

    snwCorotated_SetMaterials(body->matrix, body->mu, body->lambda);
    return IsConsistent(sim) ? snwCorotated_SetMasses(body->matrix, body->tetMasses, message) : snw_ok;
}

static bool IsDamped(const snwSim* sim, int index)
{
    bool damped = snwSkelfem_Setting(sim, snw_skelfemRayleigh) > 0;
    for (int i = 0; i < sim->bodies[index].character->def.materialCount; ++i)
        damped = damped || sim->bodies[index].materials[i].damping > 0;
    return damped;
}

// Pins of the scene and of hands.
static void SetSkelfemHeld(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    memset(body->held, 0, (size_t)body->model->vertexCount);
    for (int p = 0; p < sim->def->pinCount; ++p)
        for (int i = 0; i < sim->pinSets[p].count && sim->pins[p].held && sim->pinSets[p].body == index; ++i)
            body->held[sim->pinSets[p].vertices[i]] = 1;
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == index)
            body->held[sim->grabs[i].vertex] = 1;
    body->anyHeld = memchr(body->held, 1, (size_t)body->model->vertexCount) != NULL;
}

void snwSkelfem_MoveHeld(snwSim* sim, int index)
{
    snwVec3* x = snwSkelfem_Body(sim, index)->state.positions;
    for (int p = 0; p < sim->def->pinCount; ++p)
    {
        const snwPinSet* set = &sim->pinSets[p];
        for (int i = 0; i < set->count && sim->pins[p].held && set->body == index; ++i)
            x[set->vertices[i]] = snwPinSet_Target(set, &sim->pins[p], i);
    }
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == index)
            x[sim->grabs[i].vertex] = sim->grabs[i].vector;
}

snwResult snwSkelfem_Prepare(snwSim* sim, int index, snwMessage* message)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    snwResult result = SetSkelfemMaterials(sim, index, message);
    SetSkelfemHeld(sim, index);
    body->tally = (snwSkelfemTally){0};
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Hands: the spring of grip.h, F = K g within its limit; energy K |g|^2 / 2, Huber's beyond

static snwVec3 GripMiddle(const snwGrip* grip, const snwVec3* positions)
{
    snwVec3 sum = {0, 0, 0};
    for (int i = 0; i < grip->count; ++i)
        sum = snwVec3_MulAdd(sum, grip->parts[i].share, positions[grip->parts[i].vertex]);
    return sum;
}

static void BeginHands(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        snwGrip* grip = snwSim_GetGrip(sim, slot, index);
        if (grip == NULL)
            continue;

        // Shares by mass, of what nothing else holds.
        for (int i = 0; i < grip->count; ++i)
        {
            snwGripPart* part = &grip->parts[i];
            part->share = body->held[part->vertex] ? 0 : (double)part->bump * body->masses[part->vertex];
        }

        // Nothing of it is free: it pulls at nothing.
        if (!snwGrip_Weigh(sim, slot, body->step.h))
        {
            grip->stiffness = 0;
            continue;
        }

        snwGrip_Begin(sim, slot, GripMiddle(grip, body->before), body->before[grip->vertex]);

        // A single vertex shall go `strength` of its way: K = s / (1 - s) of what holds it back.
        double strength = fmin(sim->grabs[slot].value, 0.999);
        if (grip->radius == 0.0f)
            grip->stiffness = strength / (1 - strength) *
                              fmax(body->state.stiffness[grip->vertex], body->added[grip->vertex]);
    }
}

// J, and the force as grip->pull, N.
static double PullHand(const snwSim* sim, int slot, const snwVec3* positions)
{
    snwGrip* grip = &sim->grips[slot];
    snwVec3 gap = snwGrip_Gap(sim, slot, GripMiddle(grip, positions));
    double way = snwVec3_Length(gap), force = grip->stiffness * way;
    bool limited = force > grip->most;
    grip->pull = snwVec3_Scale(gap, limited ? grip->most / way : grip->stiffness);
    return limited ? grip->most * (way - 0.5 * grip->most / grip->stiffness) : 0.5 * force * way;
}

static bool Pulls(const snwSim* sim, int slot, int index)
{
    const snwGrip* grip = snwSim_GetGrip(sim, slot, index);
    return grip != NULL && grip->stiffness > 0;
}

static double HandEnergy(const snwSim* sim, int index)
{
    double sum = 0;
    for (int slot = 0; slot < sim->grabCount; ++slot)
        if (Pulls(sim, slot, index))
            sum += PullHand(sim, slot, snwSkelfem_Body(sim, index)->state.positions);
    return sum;
}

static void AddHandGradient(const snwSim* sim, int index, snwVec3* gradient)
{
    for (int slot = 0; slot < sim->grabCount; ++slot)
        for (int i = 0; Pulls(sim, slot, index) && i < sim->grips[slot].count; ++i)
        {
            const snwGripPart* part = &sim->grips[slot].parts[i];
            gradient[part->vertex] = snwVec3_MulAdd(gradient[part->vertex], -part->share, sim->grips[slot].pull);
        }
}

// N/m; beyond its limit a hand pulls on with that force.
static double HandStiffness(const snwSim* sim, int slot, int index)
{
    const snwGrip* grip = &sim->grips[slot];
    if (snwVec3_Length(grip->pull) < 0.999 * grip->most)
        return grip->stiffness;
    return grip->most /
           snwVec3_Length(snwGrip_Gap(sim, slot, GripMiddle(grip, snwSkelfem_Body(sim, index)->state.positions)));
}

// K a a^T is no more than K diag(a), since shares a sum up to 1: it stays within the diagonal.
static void AddHandBlocks(const snwSim* sim, int index, double* diagonal, const int* rowOf)
{
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        if (!Pulls(sim, slot, index))
            continue;
        const snwGrip* grip = &sim->grips[slot];
        double stiffness = HandStiffness(sim, slot, index);
        for (int i = 0; i < grip->count; ++i)
        {
            double* d = diagonal + 9 * (size_t)rowOf[grip->parts[i].vertex];
            for (int k = 0; k < 9; k += 4)
                d[k] += stiffness * grip->parts[i].share;
        }
    }
}

bool snwSkelfem_HasHand(const snwSim* sim, int index)
{
    for (int slot = 0; slot < sim->grabCount; ++slot)
        if (Pulls(sim, slot, index))
            return true;
    return false;
}

void snwSkelfem_MultiplyHands(const snwSim* sim, int index, const snwVec3* x, snwVec3* y)
{
    for (int slot = 0; slot < sim->grabCount; ++slot)
    {
        if (!Pulls(sim, slot, index))
            continue;
        const snwGrip* grip = &sim->grips[slot];
        double stiffness = HandStiffness(sim, slot, index);
        snwVec3 middle = GripMiddle(grip, x);
        for (int i = 0; i < grip->count; ++i)
        {
            int v = grip->parts[i].vertex;
            y[v] = snwVec3_MulAdd(y[v], stiffness * grip->parts[i].share, snwVec3_Sub(middle, x[v]));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Objective

typedef struct NewtonLoop
{
    const snwSkelfemBody* body;
    const int* tets;
    double scale; // of the masses
    double share; // of the direction
} NewtonLoop;

static double SumInertia(int begin, int end, void* data)
{
    const NewtonLoop* loop = data;
    const snwSkelfemBody* body = loop->body;
    double sum = 0;
    for (int i = begin; i < end; ++i)
    {
        if (body->held[i])
            continue;
        snwVec3 x = body->state.positions[i];
        if (loop->tets == NULL)
            sum += 0.5 * body->added[i] * snwVec3_LengthSquared(snwVec3_Sub(x, body->from[i]));
        sum -= snwVec3_Dot(body->external[i], snwVec3_Sub(x, body->before[i]));
    }
    return sum;
}

// The consistent mass matrix of a tetrahedron of mass m: m / 20 (I + 1 1^T). Leaves the sums over corners.
static double SumTets(int begin, int end, void* data)
{
    const NewtonLoop* loop = data;
    const snwSkelfemBody* body = loop->body;
    double energy = 0;
    for (int e = begin; e < end; ++e)
    {
        snwVec3 sum = {0, 0, 0};
        double squares = 0;
        for (int k = 0; k < 4; ++k)
        {
            int v = loop->tets[4 * (size_t)e + (size_t)k];
            snwVec3 u = snwVec3_Sub(body->state.positions[v], body->from[v]);
            sum = snwVec3_Add(sum, u);
            squares += snwVec3_LengthSquared(u);
        }

        // u^T M u = m / 20 (sum |u_k|^2 + |sum u_k|^2), per coordinate.
        body->tetSums[e] = sum;
        energy += 0.5 * loop->scale * body->tetMasses[e] / 20 * (squares + snwVec3_LengthSquared(sum));
    }

    return energy;
}

static NewtonLoop MakeNewtonLoop(const snwSim* sim, int index)
{
    const snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    double damping = snwSkelfem_Setting(sim, snw_skelfemDamping);
    return (NewtonLoop){.body = body,
        .tets = IsConsistent(sim) ? &body->model->character->def.tets[0][0] : NULL,
        .scale = body->step.scale + damping * body->step.rate};
}

// Without touches.
static double Objective(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    NewtonLoop loop = MakeNewtonLoop(sim, index);
    body->energy = snwElasticity_Evaluate(body->elasticity, body->state.positions, body->state.rotations);
    double sum = body->energy.elastic + body->energy.damping;
    sum += snwParallelSum(sim->context, body->model->vertexCount, snw_skelfemGrain, SumInertia, &loop);
    if (loop.tets != NULL)
        sum += snwParallelSum(sim->context, body->model->tetCount, snw_skelfemGrain, SumTets, &loop);
    return sum + HandEnergy(sim, index);
}

static void BeginGradient(int begin, int end, void* data)
{
    const NewtonLoop* loop = data;
    const snwSkelfemBody* body = loop->body;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 way = snwVec3_Sub(body->state.positions[i], body->from[i]);
        body->gradient[i] = snwVec3_Negate(body->external[i]);
        if (loop->tets == NULL)
            body->gradient[i] = snwVec3_MulAdd(body->gradient[i], body->added[i], way);
    }
}

static void AddConsistentInertia(const NewtonLoop* loop)
{
    const snwSkelfemBody* body = loop->body;
    for (int e = 0; e < body->model->tetCount && loop->tets != NULL; ++e)
        for (int k = 0; k < 4; ++k)
        {
            int v = loop->tets[4 * (size_t)e + (size_t)k];
            snwVec3 u = snwVec3_Add(body->tetSums[e], snwVec3_Sub(body->state.positions[v], body->from[v]));
            body->gradient[v] = snwVec3_MulAdd(body->gradient[v], loop->scale * body->tetMasses[e] / 20, u);
        }
}

static void MaskHeld(int begin, int end, void* data)
{
    const snwSkelfemBody* body = ((const NewtonLoop*)data)->body;
    for (int i = begin; i < end; ++i)
        body->gradient[i] = body->held[i] ? (snwVec3){0, 0, 0} : snwVec3_Negate(body->gradient[i]);
}

// From the last Objective: leaves minus its gradient, 0 for what is held.
static void FindDescent(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    NewtonLoop loop = MakeNewtonLoop(sim, index);
    int count = body->model->vertexCount;
    snwParallelFor(sim->context, count, snw_skelfemGrain, BeginGradient, &loop);
    AddConsistentInertia(&loop);
    snwElasticity_AddGradient(body->elasticity, body->gradient);
    AddHandGradient(sim, index, body->gradient);
    snwSkelfem_AddTouchGradient(sim, index, body->gradient);
    snwParallelFor(sim->context, count, snw_skelfemGrain, MaskHeld, &loop);
}

// f_1 = K_11 u_1 + K_12 u_2 of the paper: what it takes to hold what is held, without the terms of time integration.
void snwSkelfem_TellHeld(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    body->tally.held = (snwVec3){0, 0, 0};
    if (!body->anyHeld)
        return;

    // Elements were last looked at where the body is.
    memset(body->gradient, 0, (size_t)body->model->vertexCount * sizeof *body->gradient);
    snwElasticity_AddGradient(body->elasticity, body->gradient);
    for (int i = 0; i < body->model->vertexCount; ++i)
        if (body->held[i])
            body->tally.held = snwVec3_Add(body->tally.held, body->gradient[i]);
}

static double SumKinetic(int begin, int end, void* data)
{
    const snwSkelfemBody* body = ((const NewtonLoop*)data)->body;
    double sum = 0;
    for (int i = begin; i < end; ++i)
        sum += 0.5 * body->masses[i] * snwVec3_LengthSquared(body->state.velocities[i]);
    return sum;
}

static double SumWork(int begin, int end, void* data)
{
    const snwSkelfemBody* body = ((const NewtonLoop*)data)->body;
    double sum = 0;
    for (int i = begin; i < end; ++i)
        sum += snwVec3_Dot(body->external[i], snwVec3_Sub(body->state.positions[i], body->before[i]));
    return sum;
}

// Newmark's rule keeps the energy of small motions; where flesh turns far in a step it makes some. What a free body has
// gained beyond the work of gravity and pushes is added up, and told once it counts.
void snwSkelfem_TellGain(snwSim* sim, int index)
{
    static const double s_counts = 0.05; // of what there is
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    snwSkelfemClock* clock = body->state.clock;

    NewtonLoop loop = {.body = body};
    int count = body->model->vertexCount;

    // Nothing but gravity and pushes may have worked on it.
    bool isFree = body->step.rule == snw_ruleNewmark && !body->near && !body->anyHeld &&
                  !snwSkelfem_HasHand(sim, index);
    double energy = -1;

    if (isFree)
    {
        energy = body->energy.elastic + snwParallelSum(sim->context, count, snw_skelfemGrain, SumKinetic, &loop);
        if (clock->energy >= 0)
            clock->gained += energy - clock->energy -
                             snwParallelSum(sim->context, count, snw_skelfemGrain, SumWork, &loop);
    }

    clock->energy = energy;
    if (isFree && clock->gained > s_counts * energy)
        snwSim_Warn(sim, snw_warnMethod, index, "skelfem.rule bdf2, or more substeps",
            "Newmark's rule has given '%s' %.2g J that nothing brought", sim->def->bodies[index].name, clock->gained);
}

// ---------------------------------------------------------------------------------------------------------------------
// Where to begin

static void CopyVectors(snwVec3* to, const snwVec3* from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// Three guesses: staying, which is never far; where inertia and gravity lead alone, which is exact in free flight; or
// once more the way of the last substep, which is near for what swings or turns. The lowest is taken.
void snwSkelfem_ChooseStart(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    const snwSkelfemClock* clock = body->state.clock;
    int count = body->model->vertexCount;
    snwVec3* x = body->state.positions;
    snwSkelfemScratch* scratch = sim->scratch;
    double lowest = INFINITY, again = clock->h > 0 ? body->step.h / clock->h : 0;

    bool lastIsBest = false;
    snwElasticity_Begin(body->elasticity, body->before, IsDamped(sim, index) ? body->step.rate : 0);
    snwElasticity_FindKnots(
        body->elasticity, body->before, snwSkelfem_Setting(sim, snw_skelfemStops) != 0 ? body->state.knots : NULL);
    BeginHands(sim, index);
    scratch->guessing = true;

    for (int guess = 0; guess < 3; ++guess)
    {
        if (guess == 2 && again == 0)
            continue;

        // In order: stay, go by inertia, go on as before.
        for (int i = 0; i < count; ++i)
        {
            if (guess == 0)
                x[i] = body->before[i];
            else if (guess == 1)
                x[i] = body->added[i] > 0 ? snwVec3_MulAdd(body->from[i], 1 / body->added[i], body->external[i])
                                          : body->before[i];
            else
                x[i] = snwVec3_MulAdd(
                    body->before[i], again, snwVec3_Sub(body->before[i], body->state.positionsBefore[i]));
        }

        // Lower than the guesses before it: kept aside.
        snwSkelfem_MoveHeld(sim, index);
        double own = Objective(sim, index), objective = own + snwSkelfem_TouchEnergy(sim, index);

        lastIsBest = objective <= lowest;
        if (!lastIsBest)
            continue;
        lowest = objective;
        body->objective = own;
        CopyVectors(body->aside, x, count);
    }

    // The last guess that was looked at is the one that elements know.
    scratch->guessing = false;
    if (lastIsBest)
        return; // what was looked at last is what elements know

    if (lowest < INFINITY)
        CopyVectors(x, body->aside, count);
    body->objective = Objective(sim, index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Newton's step

static void StepAlong(int begin, int end, void* data)
{
    const NewtonLoop* loop = data;
    const snwSkelfemBody* body = loop->body;
    for (int i = begin; i < end; ++i)
        body->state.positions[i] = snwVec3_MulAdd(body->aside[i], loop->share, body->direction[i]);
}

static double LongestOf(const snwVec3* vectors, int count)
{
    double most = 0;
    for (int i = 0; i < count; ++i)
        most = fmax(most, snwVec3_LengthSquared(vectors[i]));
    return sqrt(most);
}

static void AssembleMatrix(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    double* diagonal = snwMultigrid_Matrix(body->grid).diagonal;
    const int* rowOf = snwGridLevels_RowOf(body->model->levels);

    // Stops join where elements are squeezed, at the positions of this iteration.
    const snwTetStop* stops;
    int stopCount = snwElasticity_FindStops(body->elasticity, body->state.positions, &stops);

    snwCorotated_SetStops(body->matrix, stops, stopCount);

    snwCorotated_ScaleMasses(body->matrix, MakeNewtonLoop(sim, index).scale);
    snwCorotated_Turn(body->matrix, body->state.rotations);
    snwCorotated_Assemble(body->matrix, body->added);

    // How hard each vertex is to move: what touches it is made as stiff.
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        const double* d = diagonal + 9 * (size_t)rowOf[i];
        body->state.stiffness[i] = (d[0] + d[4] + d[8]) / 3;
    }

    AddHandBlocks(sim, index, diagonal, rowOf);
    snwSkelfem_AddTouchBlocks(sim, index, diagonal, rowOf);

    snwMultigrid_Hold(body->grid, body->held, (snwHoldRule)snwSkelfem_Setting(sim, snw_skelfemHold));
    snwMultigrid_Refresh(body->grid, body->state.positions);
}

static double GroupObjective(const snwSim* sim, const snwSkelfemGroup* group)
{
    double sum = 0;
    for (int i = group->first; i < group->end; ++i)
        sum += snwSkelfem_Body(sim, i)->objective;
    if (group->end == group->first + 1 && !group->props)
        return sum + snwSkelfem_TouchEnergy(sim, group->first);
    return sum + snwSkelfem_TouchEnergy(sim, -1) + snwSkelfem_PropEnergy(sim);
}

// J: what of the objective rounding may hide.
static double SizeOfObjective(const snwSim* sim, const snwSkelfemGroup* group, double objective)
{
    double size = fabs(objective);
    for (int i = group->first; i < group->end; ++i)
        size += fabs(snwSkelfem_Body(sim, i)->energy.elastic) + fabs(snwSkelfem_Body(sim, i)->objective);
    return size;
}

static void GoAlong(snwSim* sim, const snwSkelfemGroup* group, double share)
{
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = snwSkelfem_Body(sim, i);
        NewtonLoop loop = {.body = body, .share = share};
        snwParallelFor(sim->context, body->model->vertexCount, snw_skelfemGrain, StepAlong, &loop);
        body->objective = Objective(sim, i);
    }
    if (group->props)
        snwSkelfem_MoveProps(sim, share);
}

// Armijo's rule, by halves or by the parabola through what is known. Returns the share of the direction that was gone;
// 0: nothing of it leads down.
static double SearchLine(snwSim* sim, const snwSkelfemGroup* group, double start, double slope)
{
    enum
    {
        newton_mostTrials = 12
    };
    double slack = 64 * DBL_EPSILON * SizeOfObjective(sim, group, start), share = 1;

    // Where the search begins, for bodies and props.
    for (int i = group->first; i < group->end; ++i)
    {
        snwSkelfemBody* body = snwSkelfem_Body(sim, i);
        CopyVectors(body->aside, body->state.positions, body->model->vertexCount);
    }

    if (group->props)
        snwSkelfem_KeepProps(sim);

    for (int trial = 0; trial < newton_mostTrials; ++trial)
    {
        GoAlong(sim, group, share);
        double objective = GroupObjective(sim, group);
        if (objective <= start - 1e-4 * share * slope + slack)
            return share;

        // The full step leads nowhere: what is met on the way joins the objective.
        if (trial == 0)
            snwSkelfem_MeetTouches(sim);

        // The least point of the parabola through the start, its slope and this point.
        double parabola = 0.5 * slope * share * share / (objective - start + slope * share);
        share = parabola > 0.1 * share && parabola < 0.5 * share ? parabola : 0.5 * share;
    }

    GoAlong(sim, group, 0);
    return 0;
}

static double LongestGroupWay(const snwSim* sim, const snwSkelfemGroup* group)
{
    const snwSkelfemScratch* scratch = sim->scratch;
    double most = 0;
    for (int i = group->first; i < group->end; ++i)
        most = fmax(most, LongestOf(snwSkelfem_Body(sim, i)->direction, snwSkelfem_Body(sim, i)->model->vertexCount));
    for (int p = 0; p < sim->def->propCount && group->props; ++p)
        if (scratch->props[p].touches > 0)
            most = fmax(most, snwVec3_Length(scratch->props[p].direction.move));
    return most;
}

double snwSkelfem_Iterate(snwSim* sim, snwSkelfemGroup* group)
{
    double start = GroupObjective(sim, group);
    for (int i = group->first; i < group->end; ++i)
    {
        FindDescent(sim, i);
        AssembleMatrix(sim, i);
        snwSkelfem_Body(sim, i)->tally.newton++;
    }

    if (group->props)
        snwSkelfem_AssembleProps(sim);

    double slope = 0, share = 0;

    // As the solver is set, then more cautious ways, until one leads down.
    for (int way = snw_wayAsSet; way <= snw_wayDiagonal; ++way)
    {
        slope = snwSkelfem_Solve(sim, group, (snwSkelfemWay)way);
        share = slope > 0 ? SearchLine(sim, group, start, slope) : 0;

        // What rounding hides of the objective is not worth another way.
        if (share > 0 || (slope >= 0 && slope <= 1e-11 * SizeOfObjective(sim, group, start)))
            break;
        for (int i = group->first; i < group->end && way == snw_wayAsSet; ++i)
            snwSkelfem_Body(sim, i)->tally.fallbacks++;
    }

    // How far the group went, for whoever asks whether it has settled.
    double longest = share * LongestGroupWay(sim, group);
    group->share = share > 0 ? share : 1; // nothing is left to go
    for (int i = group->first; i < group->end; ++i)
        snwSkelfem_Body(sim, i)->tally.longest = longest;
    return longest;
}
