// What keeps a substep from gaining: the objective of Eq. 6a, and the energy of the body itself.
//
// The objective, with damping in it, is smooth and the metric bounds its curvature near the rest shape, so iterations
// fall by themselves there. Far from rest no constant metric bounds it. So after the local step that follows an
// iteration, the objective is compared with what it was before that iteration, and where it rose, x goes back part of
// the way (Descend). Forces that the objective does not know are held as they were in that iteration, and their work is
// subtracted: those of contacts and hands (`pushed`), and those of the rows of the small problem, which work where
// joints were open or are driven. With the quadratic model of an iteration the difference is then -1/2 |dx|_A^2.
//
// A falling objective does not bound energy: it gives |v' - v|^2 / 2 + U' <= |v|^2 / 2 + U in units of mass, which lets
// a stretched bar gain. So at the end of a substep the energy itself is compared with what it was, plus the work of
// hands (GuardEnergy). Where it is more, the body's motion other than its translation is shortened, then all of it: at
// x_n the body has lost its kinetic energy, so there is always a way. Bodies on which motors, drives, springs or moving
// pins act, or that touch what moves or began inside of something, are left alone: that work is not known here.

#include "math/eigen.h"
#include "sim/apd/apd.h"

#include <math.h>
#include <string.h>

enum
{
    snw_mostShortenings = 7, // of an iteration
    snw_mostGuards = 12,     // of a substep
};

// ---------------------------------------------------------------------------------------------------------------------
// The objective

typedef struct MeritLoop
{
    const snwApdBody* body;
    double h;
} MeritLoop;

static double FleshMerit(int begin, int end, void* data)
{
    const MeritLoop* loop = data;
    const snwApdBody* body = loop->body;
    double perStep = 0.5 / (loop->h * loop->h), sum = 0.0;
    for (int i = begin; i < end; ++i)
    {
        int v = body->model->fleshVertices[i];
        snwVec3 d = snwVec3_Sub(body->state.positions[v], body->inertial[v]);
        sum += body->masses[v] * perStep * snwVec3_LengthSquared(d) - snwVec3_Dot(body->external[v], d);
    }
    return sum;
}

static double BoneMerit(const snwApdBody* body, double h)
{
    const snwApdModel* model = body->model;
    double sum = 0.0;
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 t[4];
        snwApdBone_Rows(model, k, &body->state.bones[k], t);

        for (int a = 0; a < 4; ++a)
            t[a] = snwVec3_Sub(t[a], body->boneInertial[k][a]);

        // Inertia: tr(t^T M t) / 2h^2, about where it leads.
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                sum += 0.5 / (h * h) * body->boneMasses[k][a][b] * snwVec3_Dot(t[a], t[b]);

        // What pushes a bone's vertices works along their way.
        for (int i = model->boneStarts[k]; i < model->boneStarts[k + 1]; ++i)
        {
            int v = model->boneVertices[i];
            sum -= snwVec3_Dot(body->external[v], snwVec3_Sub(body->state.positions[v], body->inertial[v]));
        }
    }

    return sum;
}

double snwApd_Objective(snwSim* sim, int index, double h)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    MeritLoop loop = {.body = body, .h = h};
    double flesh = snwParallelSum(sim->context, body->model->fleshCount, snw_apdGrain, FleshMerit, &loop);
    return body->energy.elastic + body->energy.damping + flesh + BoneMerit(body, h);
}

// J: what floats of the local step may be wrong by where the substep began.
static double Rounding(const snwApdBody* body)
{
    double count = body->model->tetCount > 0 ? body->model->tetCount : 1;
    return 4e-7 * body->shearSum / sqrt(count) + 4e-7 * fabs(body->startElastic);
}

// ---------------------------------------------------------------------------------------------------------------------
// Going part of the way

// x = from + share (x - from). Bones go by their rows, and to the nearest rotation.
static void ShortenMove(snwApdBody* body, const snwVec3* from, const snwApdBone* bonesFrom, double share)
{
    const snwApdModel* model = body->model;
    for (int i = 0; i < model->fleshCount; ++i)
    {
        int v = model->fleshVertices[i];
        if (!body->pinned[v])
            body->state.positions[v] = snwVec3_Lerp(from[v], body->state.positions[v], share);
    }

    // Rows of bones go by the same share; the nearest rotation to them is the bone's.
    for (int k = 0; k < model->boneCount; ++k)
    {
        snwVec3 a[4], b[4];
        snwApdBone_Rows(model, k, &bonesFrom[k], a);
        snwApdBone_Rows(model, k, &body->state.bones[k], b);
        for (int r = 0; r < 4; ++r)
            a[r] = snwVec3_Lerp(a[r], b[r], share);
        body->state.bones[k].rotation = snwQuat_FromMat3(
            snwPolar3_Compute(snwMat3_FromColumns(a[0], a[1], a[2])).rotation);
        body->state.bones[k].centre = a[3];
    }

    snwApd_PlaceBoneVertices(model, body->state.bones, body->state.positions);
}

// ---------------------------------------------------------------------------------------------------------------------
// Iterations

// The solvers that are baselines iterate as they were printed.
static bool IsChecked(const snwApdBody* body)
{
    snwApdSolver solver = body->model->solver;
    return body->model->rowCount > 0 &&
           (solver == snw_apdArticulated || solver == snw_apdPlain || solver == snw_apdStiff);
}

void snwApd_BeginDescent(snwApdBody* body)
{
    body->descent.begun = false;
    body->descent.trust = 1.0;
}

void snwApd_BeginIteration(snwApdBody* body)
{
    snwApdDescent* descent = &body->descent;
    const snwApdModel* model = body->model;
    if (!IsChecked(body))
        return;
    memcpy(descent->from, body->state.positions, (size_t)model->vertexCount * sizeof *descent->from);
    memcpy(descent->bonesFrom, body->state.bones, (size_t)model->boneCount * sizeof *descent->bonesFrom);
    memcpy(descent->pushed, body->contact, (size_t)model->vertexCount * sizeof *descent->pushed);
    for (int i = 0; i < model->vertexCount && body->stopCount > 0; ++i)
        descent->pushed[i] = snwVec3_Add(descent->pushed[i], body->opening[i]);
    descent->begun = true;
}

// J: of the forces that the objective does not know, on the way from `from` to x.
static double HeldWork(const snwApdBody* body)
{
    const snwApdDescent* descent = &body->descent;
    const snwApdSmall* small = &body->small;
    double sum = 0.0;
    for (int i = 0; i < body->model->vertexCount; ++i)
        sum += snwVec3_Dot(descent->pushed[i], snwVec3_Sub(body->state.positions[i], descent->from[i]));

    for (int i = 0; i < small->rowCount; ++i)
        for (int e = 0; e < 2; ++e)
        {
            int bone = small->rows[i].bones[e];
            if (bone < 0)
                continue;

            // Work of rows: their push times how the bone has turned and moved.
            const snwApdBone *from = &descent->bonesFrom[bone], *now = &body->state.bones[bone];
            const double* push = small->rows[i].jacobian[e];
            snwVec3 turn = snwQuat_ToRotationVector(snwQuat_Mul(now->rotation, snwQuat_Conjugate(from->rotation)));
            snwVec3 shift = snwVec3_Sub(now->centre, from->centre);
            sum += small->multipliers[i] * (snwVec3_Dot((snwVec3){push[0], push[1], push[2]}, turn) +
                                               snwVec3_Dot((snwVec3){push[3], push[4], push[5]}, shift));
        }

    return sum;
}

void snwApd_EndIteration(snwApdBody* body)
{
    snwApdDescent* descent = &body->descent;
    if (IsChecked(body) && descent->trust < 1.0)
        ShortenMove(body, descent->from, descent->bonesFrom, descent->trust);
}

double snwApd_Descend(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwApdDescent* descent = &body->descent;
    double merit = snwApd_Objective(sim, index, h), share = 1.0;
    if (descent->begun && IsChecked(body))
    {
        // Joints and turns are known to second order: a millionth of the objective is no rise.
        double slack = Rounding(body) + 1e-6 * fabs(descent->merit);
        bool falls = merit - descent->merit - HeldWork(body) <= slack;

        // Shorter steps, from where the last one began.
        for (int i = 0; !falls && i < snw_mostShortenings; ++i)
        {
            double by = i == 0 ? 0.5 : i == 1 ? 0.25 : 0.125;
            ShortenMove(body, descent->from, descent->bonesFrom, by);
            share *= by;
            snwApd_LocalStep(sim, index, false);
            merit = snwApd_Objective(sim, index, h);
            falls = merit - descent->merit - HeldWork(body) <= slack;
        }

        if (!falls) // nothing of it helps: the next one begins where this one did
        {
            memcpy(body->state.positions, descent->from, (size_t)body->model->vertexCount * sizeof *descent->from);
            memcpy(body->state.bones, descent->bonesFrom, (size_t)body->model->boneCount * sizeof *descent->bonesFrom);
            snwApd_LocalStep(sim, index, false);
            merit = snwApd_Objective(sim, index, h);
            share = 1.0;
        }

        descent->trust = fmin(1.0, (share < 1.0 ? share : 4.0) * descent->trust);
    }

    descent->merit = merit;
    return merit;
}

// ---------------------------------------------------------------------------------------------------------------------
// Energy

// J: kinetic and against gravity. before: where x was h ago; NULL: with the velocities as they are.
static double MotionEnergy(const snwSim* sim, const snwApdBody* body, const snwVec3* before, double h)
{
    double sum = 0.0;
    for (int i = 0; i < body->model->vertexCount; ++i)
    {
        snwVec3 x = body->state.positions[i], v = body->state.velocities[i];
        if (before != NULL)
            v = snwVec3_Scale(snwVec3_Sub(x, before[i]), 1.0 / h);
        double height = snwVec3_Dot(sim->state->gravity, snwVec3_Sub(x, body->origin));
        sum += body->masses[i] * (0.5 * snwVec3_LengthSquared(v) - height);
    }
    return sum;
}

void snwApd_NoteStart(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    body->startElastic = body->energy.elastic;
    body->startEnergy = body->energy.elastic + MotionEnergy(sim, body, NULL, h);
}

// Work that is not known here: of pins that move, and of soft rows of joints.
static bool IsDriven(const snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    for (int p = 0; p < sim->def->pinCount; ++p)
        if (sim->pinSets[p].body == index && sim->pins[p].held && snwMover_Moves(&sim->pins[p]))
            return true;
    for (int i = 0; i < sim->grabCount; ++i)
        if (sim->grabs[i].kind == snw_grabPin && sim->grabs[i].body == index)
            return true;
    for (int i = 0; i < body->small.rowCount; ++i)
        if (body->small.rows[i].kind == snw_rowSoft)
            return true;
    return false;
}

// Could the body be pushed by something that moves, or out of something that it began in? What such contacts give it is
// not known well enough.
static bool IsPushed(const snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    const snwResponse* response = ((const snwApdScratch*)sim->scratch)->response;
    bool movers = sim->bodyCount > 1 || sim->def->propCount > 0, touched = false;
    if (snwResponse_DepthLeft(response, index) > 0.01 * body->model->character->meanEdge)
        return true;
    for (int i = 0; i < sim->def->colliderCount; ++i)
        movers |= snwMover_Moves(&sim->colliders[i]);
    for (int i = 0; i < body->model->vertexCount && movers && !touched; ++i)
        touched = snwVec3_LengthSquared(body->contact[i]) > 0.0;
    return touched;
}

// J: of hands in this substep, not less than 0.
static double WorkOfHands(const snwSim* sim, int index)
{
    const snwApdBody* body = snwApd_Body(sim, index);
    bool hands = false;
    double sum = 0.0;
    for (int i = 0; i < sim->grabCount; ++i)
        hands |= sim->grabs[i].kind != snw_grabNone && sim->grabs[i].body == index;
    for (int i = 0; i < body->model->vertexCount && hands; ++i)
    {
        snwVec3 force = snwVec3_Add(body->external[i], body->contact[i]);
        sum += snwVec3_Dot(force, snwVec3_Sub(body->state.positions[i], body->before[i]));
    }
    return fmax(sum, 0.0);
}

// x_n moved as the body's centre of mass moved. Left in `descent.from` and `bonesFrom`.
static void Translate(snwApdBody* body)
{
    const snwApdModel* model = body->model;
    snwVec3 way = {0, 0, 0};
    double mass = 0.0;
    bool pinned = body->small.holdCount > 0;

    for (int i = 0; i < model->vertexCount; ++i)
    {
        way = snwVec3_MulAdd(way, body->masses[i], snwVec3_Sub(body->state.positions[i], body->before[i]));
        mass += body->masses[i];
        pinned |= body->pinned[i] != 0;
    }

    // What is pinned has nowhere to go.
    way = pinned ? (snwVec3){0, 0, 0} : snwVec3_Scale(way, 1.0 / mass);
    for (int i = 0; i < model->vertexCount; ++i)
        body->descent.from[i] = snwVec3_Add(body->before[i], way);
    for (int k = 0; k < model->boneCount; ++k)
    {
        body->descent.bonesFrom[k] = body->bonesBefore[k];
        body->descent.bonesFrom[k].centre = snwVec3_Add(body->bonesBefore[k].centre, way);
    }
}

// J: of what moved from there to x within h.
static double KineticEnergy(const snwApdBody* body, const snwVec3* from, double h)
{
    double sum = 0.0;
    for (int i = 0; i < body->model->vertexCount; ++i)
        sum += body->masses[i] * snwVec3_LengthSquared(snwVec3_Sub(body->state.positions[i], from[i]));
    return 0.5 * sum / (h * h);
}

void snwApd_GuardEnergy(snwSim* sim, int index, double h)
{
    snwApdBody* body = snwApd_Body(sim, index);
    if (!IsChecked(body) || IsDriven(sim, index) || IsPushed(sim, index))
        return;

    if (!body->evaluated || body->law != body->model->law)
    {
        body->law = body->model->law; // whatever the iterations of this substep went by
        snwApd_LocalStep(sim, index, false);
    }

    // More than it had, with what hands did and what floats round, came from nowhere.
    double most = body->startEnergy + WorkOfHands(sim, index) + Rounding(body) + 1e-9 * fabs(body->startEnergy);
    double energy = body->energy.elastic + MotionEnergy(sim, body, body->before, h);
    if (energy <= most)
        return;

    // By as much as the motion has to lose; what elements lose with it comes on top.
    Translate(body);
    for (int i = 0; energy > most && i < snw_mostGuards; ++i)
    {
        bool all = i >= snw_mostGuards / 2; // the translation, too
        const snwVec3* from = all ? body->before : body->descent.from;
        double kinetic = KineticEnergy(body, from, h), left = kinetic - 1.1 * (energy - most);
        ShortenMove(body, from, all ? body->bonesBefore : body->descent.bonesFrom,
            left > 0.25 * kinetic ? sqrt(left / kinetic) : 0.5);
        snwApd_LocalStep(sim, index, false);
        energy = body->energy.elastic + MotionEnergy(sim, body, body->before, h);
    }
}

snwResult snwApd_CreateDescent(snwSim* sim, int index, snwMessage* message)
{
    snwApdBody* body = snwApd_Body(sim, index);
    snwArena* arena = &sim->arena;
    size_t vertices = (size_t)body->model->vertexCount, bones = (size_t)body->model->boneCount;
    body->descent.from = snwArena_Alloc(arena, vertices, sizeof *body->descent.from);
    body->descent.bonesFrom = snwArena_Alloc(arena, bones, sizeof *body->descent.bonesFrom);
    body->descent.pushed = snwArena_Alloc(arena, vertices, sizeof *body->descent.pushed);
    return arena->failed ? snwFailMemory(message) : snw_ok;
}
