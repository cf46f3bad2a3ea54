// Inertia: where flesh would go by itself, and what its velocity is in the end.

#include "sim/constraints/hands.h"
#include "sim/origin.h"
#include "sim/pbcd/pbcd.h"

#include <math.h>
#include <string.h>

enum
{
    pbcdMotion_vertexGrain = 2048,
};

snwPbcdTime snwPbcd_MakeTime(const snwSim* sim, int body, double h)
{
    const snwPbcdModel* model = snwPbcd_Work(sim, body)->model;
    bool second = *snwPbcd_Work(sim, body)->state.stepBefore == h; // the step before is of use
    double e = h;
    if (model->integrator == snw_pbcdBdf2 && second)
        e = 2.0 / 3.0 * h;
    if (model->integrator == snw_pbcdTrapezoid)
        e = 0.5 * h;
    snwVec3 g = snwSim_Gravity(sim, snwPbcd_Work(sim, body)->state.velocities);
    return (snwPbcdTime){.h = h,
        .e = e,
        .carried = snwSim_Param(sim, snw_pbcdBlend),
        .keep = exp(-snwSim_Param(sim, snw_pbcdDrag) * h),
        .acceleration = {g.x, g.y, g.z}};
}

typedef struct MotionLoop
{
    const snwPbcdWork* work;
    const snwPbcdTime* time;
    const float* rounding; // rows, m; NULL: not known
} MotionLoop;

// The way from x to y and to y' (with the anchor), per coordinate, and the acceleration from outside. All differences
// of nearby numbers: what is far from the origin of the world moves as well as what is not.
typedef struct Way
{
    float free[3], held[3], outer[3];
} Way;

static Way FindWay(const MotionLoop* loop, size_t at)
{
    const snwPbcdState* state = &loop->work->state;
    const snwPbcdModel* model = loop->work->model;
    const float *x = loop->work->before + at, *v = state->velocities + at;
    const float h = (float)loop->time->h, e2 = (float)(loop->time->e * loop->time->e);
    const float share = loop->work->shares[at / 4];
    bool bdf2 = loop->time->e != loop->time->h && model->integrator == snw_pbcdBdf2;

    Way way;
    for (int k = 0; k < 3; ++k)
    {
        float g = (float)loop->time->acceleration[k];
        // So much of the artist's acceleration is carried along.
        if (model->driven)
        {
            float moved = loop->work->reference[at + (size_t)k] - state->reference[at + (size_t)k];
            float more = moved - h * state->referenceVelocities[at + (size_t)k];
            g += (float)loop->time->carried * more / (h * h);
        }

        // y of each integrator, less x; see pbcd.h.
        if (bdf2)
            way.free[k] = (x[k] - state->beforePositions[at + (size_t)k]) / 3.0f +
                          2.0f / 9.0f * h * (4.0f * v[k] - state->beforeVelocities[at + (size_t)k]) + e2 * g;
        else if (model->integrator == snw_pbcdTrapezoid)
            way.free[k] = h * v[k] + e2 * (state->accelerations[at + (size_t)k] + 2.0f * g);
        else
            way.free[k] = h * v[k] + e2 * g;

        way.outer[k] = g;
        // y', with the anchor in the inertia.
        float back = model->driven ? loop->work->reference[at + (size_t)k] - x[k] : 0.0f;
        way.held[k] = share > 0.0f ? way.free[k] + share * (back - way.free[k]) : way.free[k];
    }

    return way;
}

static void PredictMotionRows(int begin, int end, void* data)
{
    const MotionLoop* loop = data;
    const snwPbcdWork* work = loop->work;
    for (int i = begin; i < end; ++i)
    {
        size_t at = 4 * (size_t)i;
        float* x = work->state.positions + at;
        memcpy(work->before + at, x, 4 * sizeof *x);

        // Inverse masses in use: 0 where it is held, less where an anchor is in the inertia.
        unsigned char held = work->state.held[i];
        x[3] = held ? 0.0f : work->stiffer[i] * work->state.velocities[at + 3];

        // Bones go where the artist has them; what is pinned stays for its pin.
        if (held & snw_heldByBone)
            memcpy(x, work->reference + at, 3 * sizeof *x);
        if (!held)
        {
            Way way = FindWay(loop, at);
            for (int k = 0; k < 3; ++k)
                x[k] += way.held[k];
        }

        // Where the constraints begin: the velocity comes from how far they go from here.
        memcpy(work->predicted + at, x, 4 * sizeof *x);
    }
}

// Algorithm 2, lines 3 and 4: x^t is what skinning says, x^t-1 what it said before.
static void ForgetMotion(snwPbcdWork* work)
{
    for (int i = 0; i < work->model->vertexCount; ++i)
    {
        memcpy(work->state.positions + 4 * (size_t)i, work->state.reference + 4 * (size_t)i, 3 * sizeof(float));
        memcpy(
            work->state.velocities + 4 * (size_t)i, work->state.referenceVelocities + 4 * (size_t)i, 3 * sizeof(float));
    }
}

// Pushes on single vertices change their velocity; a push on the whole body adds to gravity.
static void ApplyPbcdPushes(snwSim* sim, int body, snwPbcdTime* time)
{
    const snwPbcdWork* work = snwPbcd_Work(sim, body);
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabPush || grab->body != body)
            continue;
        snwVec3 push = snwSim_PushForce(sim, grab);

        // A push on a vertex.
        if (grab->vertex >= 0)
        {
            double w = (double)work->state.velocities[4 * (size_t)grab->vertex + 3];
            snwVec3 v = snwRow_Get(work->state.velocities, grab->vertex);
            snwRow_Set(work->state.velocities, grab->vertex, snwVec3_MulAdd(v, w * time->h, push));
            continue;
        }

        // A push on all of the body: the same acceleration everywhere.
        double mass = 0.0;
        for (int k = 0; k < work->model->vertexCount; ++k)
            mass += 1.0 / (double)work->state.velocities[4 * (size_t)k + 3];

        const double force[3] = {push.x, push.y, push.z};
        for (int k = 0; k < 3; ++k)
            time->acceleration[k] += force[k] / mass;
    }
}

void snwPbcd_Predict(snwSim* sim, int body, snwPbcdTime* time)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    if (work->model->mode == snw_pbcdThesis && work->model->driven)
        ForgetMotion(work);
    ApplyPbcdPushes(sim, body, time);
    MotionLoop loop = {work, time, NULL};
    snwParallelFor(sim->context, work->model->vertexCount, pbcdMotion_vertexGrain, PredictMotionRows, &loop);
    snwHands_MovePinned(sim, body, work->state.positions);
    snwHands hands = {work->before, work->state.velocities, work->state.positions, time->e};
    snwHands_Begin(sim, body, &hands);
    if (work->bondSums != NULL)
        memset(work->bondSums, 0, (size_t)work->model->vertexCount * sizeof *work->bondSums);
}

// v of the integrator. `late` is how far the constraints moved x from y', exact because the two are near each other; in
// free flight it is 0 and nothing is rounded but v itself.
static void FinishMotionRow(const MotionLoop* loop, int i)
{
    const snwPbcdWork* work = loop->work;
    const snwPbcdState* state = &work->state;
    const snwPbcdModel* model = work->model;
    size_t at = 4 * (size_t)i;
    const float h = (float)loop->time->h, e2 = (float)(loop->time->e * loop->time->e);
    float* v = state->velocities + at;

    Way way = FindWay(loop, at);
    bool bdf2 = loop->time->e != loop->time->h && model->integrator == snw_pbcdBdf2;
    bool touching = work->touching[i] != 0;
    for (size_t k = 0; k < 3; ++k)
    {
        // Moves of the constraints, without rounding where that is known.
        float late = state->positions[at + k] - work->predicted[at + k];
        late -= loop->rounding != NULL ? loop->rounding[at + k] : 0.0f;
        float inner = late + (way.held[k] - way.free[k]);

        // v of Euler; touching things end their step so with any integrator.
        float now = v[k] + h * way.outer[k] + inner / h;
        if (model->integrator != snw_pbcdEuler && touching)
            now = (way.held[k] + late) / h;
        else if (bdf2)
            now = (4.0f * v[k] - state->beforeVelocities[at + k]) / 3.0f + 1.5f / h * (e2 * way.outer[k] + inner);
        else if (model->integrator == snw_pbcdTrapezoid)
            now = v[k] + h * way.outer[k] + 0.5f * h * (state->accelerations[at + k] + inner / e2);

        if (model->integrator == snw_pbcdTrapezoid)
            state->accelerations[at + k] = touching ? 0.0f : inner / e2;

        // What the next step wants to know of this one.
        if (model->integrator == snw_pbcdBdf2)
        {
            state->beforePositions[at + k] = work->before[at + k];
            state->beforeVelocities[at + k] = touching ? now : v[k];
        }

        v[k] = now;
    }
}

static void FinishHeld(const MotionLoop* loop, int i)
{
    const snwPbcdState* state = &loop->work->state;
    size_t at = 4 * (size_t)i;
    for (int k = 0; k < 3; ++k)
    {
        float way = state->positions[at + (size_t)k] - loop->work->before[at + (size_t)k];
        state->velocities[at + (size_t)k] = way / (float)loop->time->h;
        if (loop->work->model->integrator == snw_pbcdBdf2)
        {
            state->beforePositions[at + (size_t)k] = loop->work->before[at + (size_t)k];
            state->beforeVelocities[at + (size_t)k] = state->velocities[at + (size_t)k];
        }
        if (loop->work->model->integrator == snw_pbcdTrapezoid)
            state->accelerations[at + (size_t)k] = 0.0f;
    }
}

static void FinishMotionRows(int begin, int end, void* data)
{
    const MotionLoop* loop = data;
    const snwPbcdWork* work = loop->work;
    const float keep = (float)loop->time->keep, h = (float)loop->time->h;

    for (int i = begin; i < end; ++i)
    {
        size_t at = 4 * (size_t)i;
        if (work->state.held[i])
        {
            FinishHeld(loop, i);
            continue;
        }

        FinishMotionRow(loop, i);
        float* v = work->state.velocities + at;
        const float loss = work->losses[i];

        // Damping of all motion, and of that against the artist's.
        for (int k = 0; k < 3; ++k)
        {
            v[k] *= keep;
            if (loss > 0.0f && work->model->driven)
            {
                float lead = (work->reference[at + (size_t)k] - work->state.reference[at + (size_t)k]) / h;
                v[k] += loss * (lead - v[k]);
            }
        }
    }
}

void snwPbcd_Finish(snwSim* sim, int body, const snwPbcdTime* time)
{
    snwPbcdWork* work = snwPbcd_Work(sim, body);
    const snwPbcdScratch* scratch = sim->scratch;
    int count = work->model->vertexCount;

    MotionLoop loop = {work, time, NULL};
    snwRigidDamping damping = {.positions = work->state.positions,
        .velocities = work->last,
        .count = count,
        .sums = scratch->sums,
        .rate = snwSim_Param(sim, snw_pbcdDamping) + snwBody_MaterialDamping(&sim->bodies[body])};

    // Rounding is no motion. In short substeps the pushes of the law say what should have moved; and elements alone
    // give a body no rigid motion, so what there is of it is rounding.
    if (work->moves.on)
    {
        const snwNeoLaw law = {&work->model->blocks, work->sweep.rests, work->sweep.neoStates};
        snwNeoMoves_End(sim->context, &work->moves, &law, work->state.positions, work->predicted);
        loop.rounding = work->moves.rows;
    }
    else if (!work->model->driven && snwSim_IsAlone(sim, scratch->response, body))
    {
        memcpy(work->last, work->state.velocities, 4 * (size_t)count * sizeof(float)); // for the inverse masses
        snwRigidDamping_FindRounding(sim->context, &damping, work->predicted);
        loop.rounding = work->last;
    }

    snwParallelFor(sim->context, count, pbcdMotion_vertexGrain, FinishMotionRows, &loop);

    // Driven flesh is damped towards the artist's motion (FinishMotionRows), free flesh towards its own rigid one.
    *work->state.stepBefore = time->h;
    if (work->model->driven)
        return;
    damping.velocities = work->state.velocities;
    snwRigidDamping_Apply(sim->context, &damping, time->h);
}
