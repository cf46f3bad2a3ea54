// Rules of time integration, as a velocity and a pull: v = rate (x - velocityFrom), inertia = scale M (x - from).
//
//   euler     v = (x - x_n) / h,                      scale 1 / h^2,        from = x_n + h v_n
//   bdf2      v = (a0 x - a1 x_n + a2 x_n-1) / h,     scale a0^2 / h^2,     with w = h / h_before
//             a0 = (1 + 2w) / (1 + w), a1 = 1 + w, a2 = w^2 / (1 + w);
//             from = velocityFrom + (h / a0^2) (a1 v_n - a2 v_n-1)
//   newmark   v = 2 (x - x_n) / h - v_n,              scale 4 / h^2,        from = x_n + h v_n + h^2 a_n / 4
//
// bdf2 and newmark begin with a step of euler, and begin again where motion is not smooth: where something touches or
// lets go, and after a step of another length (more than twice or less than half). Across a jump they would
// give back what was stopped: bdf2 throws what hits the ground up again with half its speed.
//
// `damping` d (1/s) is a force -d M v. Together with inertia it is one pull, scale + d rate, to the mean of both
// places.

#include "sim/skelfem/skelfem.h"

#include <math.h>
#include <string.h>

typedef struct TimeLoop
{
    snwSkelfemBody* body;
    snwSkelfemStep step;
    double a1, a2; // of bdf2
    double damping;
    snwVec3 gravity;
} TimeLoop;

// Where inertia leads with the velocity alone.
static void PredictFreeVertices(int begin, int end, void* data)
{
    const TimeLoop* loop = data;
    snwSkelfemBody* body = loop->body;
    double h = loop->step.h;
    for (int i = begin; i < end; ++i)
    {
        snwVec3* x = &body->state.positions[i];
        body->before[i] = *x;
        *x = snwVec3_MulAdd(snwVec3_MulAdd(*x, h, body->state.velocities[i]), h * h, loop->gravity);
        body->external[i] = snwVec3_Scale(loop->gravity, body->masses[i]);
    }
}

// Pushes on single vertices, or on all of a body by their masses.
static void AddSkelfemPushes(snwSim* sim, int index)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    for (int i = 0; i < sim->grabCount; ++i)
    {
        const snwGrab* grab = &sim->grabs[i];
        if (grab->kind != snw_grabPush || grab->body != index)
            continue;
        snwVec3 force = snwSim_PushForce(sim, grab);
        if (grab->vertex >= 0)
            body->external[grab->vertex] = snwVec3_Add(body->external[grab->vertex], force);
        double mass = 0;
        for (int v = 0; v < body->model->vertexCount && grab->vertex < 0; ++v)
            mass += body->masses[v];
        for (int v = 0; v < body->model->vertexCount && grab->vertex < 0; ++v)
            body->external[v] = snwVec3_MulAdd(body->external[v], body->masses[v] / mass, force);
    }
}

void snwSkelfem_Predict(snwSim* sim, int index, double h)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    TimeLoop loop = {.body = body, .step = {.h = h}, .gravity = sim->state->gravity};
    snwParallelFor(sim->context, body->model->vertexCount, snw_skelfemGrain, PredictFreeVertices, &loop);
    AddSkelfemPushes(sim, index);
    snwSkelfem_MoveHeld(sim, index);
}

static snwSkelfemRule RuleOf(const snwSim* sim, int index, double h)
{
    const snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    const snwSkelfemClock* clock = body->state.clock;
    snwSkelfemRule rule = (snwSkelfemRule)snwSkelfem_Setting(sim, snw_skelfemRule);
    bool smooth = !body->near && clock->smooth > 0 && h < 2 * clock->h && h > 0.5 * clock->h;
    return smooth ? rule : snw_ruleEuler;
}

static void BeginVertices(int begin, int end, void* data)
{
    const TimeLoop* loop = data;
    snwSkelfemBody* body = loop->body;
    const snwSkelfemState* state = &body->state;

    double h = loop->step.h, a0 = loop->step.rate * h, d = loop->damping * loop->step.rate;
    double scale = loop->step.scale + d;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 x = body->before[i], v = state->velocities[i], velocityFrom = x, from;

        // Where inertia leads, and from where the velocity counts.
        switch (loop->step.rule)
        {
            case snw_ruleEuler:
                from = snwVec3_MulAdd(x, h, v);
                break;
            case snw_ruleBdf2:
                velocityFrom = snwVec3_Scale(
                    snwVec3_Sub(snwVec3_Scale(x, loop->a1), snwVec3_Scale(state->positionsBefore[i], loop->a2)),
                    1 / a0);
                from = snwVec3_MulAdd(velocityFrom, h * loop->a1 / (a0 * a0), v);
                from = snwVec3_MulAdd(from, -h * loop->a2 / (a0 * a0), state->velocitiesBefore[i]);
                break;
            case snw_ruleNewmark:
                velocityFrom = snwVec3_MulAdd(x, 0.5 * h, v);
                from = snwVec3_MulAdd(snwVec3_MulAdd(x, h, v), 0.25 * h * h, state->accelerations[i]);
                break;
        }

        // Two pulls become one: that of inertia towards `from`, and that of damping towards where v is 0.
        body->velocityFrom[i] = velocityFrom;
        body->from[i] = snwVec3_MulAdd(from, d / scale, snwVec3_Sub(velocityFrom, from));
        body->added[i] = scale * body->masses[i];
    }
}

void snwSkelfem_Begin(snwSim* sim, int index, double h)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    TimeLoop loop = {.body = body, .damping = snwSkelfem_Setting(sim, snw_skelfemDamping)};
    double a0 = 1, w = body->state.clock->h > 0 ? h / body->state.clock->h : 1;
    loop.step.rule = RuleOf(sim, index, h);
    if (loop.step.rule == snw_ruleNewmark)
        a0 = 2;
    if (loop.step.rule == snw_ruleBdf2)
        a0 = (1 + 2 * w) / (1 + w), loop.a1 = 1 + w, loop.a2 = w * w / (1 + w);
    loop.step.h = h;
    loop.step.rate = a0 / h;
    loop.step.scale = a0 * a0 / (h * h);
    body->step = loop.step;
    body->state.clock->rate = loop.step.rate;
    snwParallelFor(sim->context, body->model->vertexCount, snw_skelfemGrain, BeginVertices, &loop);
}

static void FinishVertices(int begin, int end, void* data)
{
    const TimeLoop* loop = data;
    snwSkelfemBody* body = loop->body;
    const snwSkelfemState* state = &body->state;
    double h = loop->step.h;

    for (int i = begin; i < end; ++i)
    {
        snwVec3 before = state->velocities[i];
        snwVec3 v = snwVec3_Scale(snwVec3_Sub(state->positions[i], body->velocityFrom[i]), loop->step.rate);
        snwVec3 a = snwVec3_Scale(snwVec3_Sub(v, before), 1 / h);

        if (loop->step.rule == snw_ruleNewmark) // v - v_n is h times the mean of both accelerations
            a = snwVec3_Sub(snwVec3_Scale(a, 2), state->accelerations[i]);

        // What is held moves with what holds it, whatever the rule.
        if (body->held[i])
            v = snwVec3_Scale(snwVec3_Sub(state->positions[i], body->before[i]), 1 / h);

        state->accelerations[i] = a;
        state->positionsBefore[i] = body->before[i];
        state->velocitiesBefore[i] = before;
        state->velocities[i] = v;
    }
}

void snwSkelfem_Finish(snwSim* sim, int index, double h)
{
    snwSkelfemBody* body = snwSkelfem_Body(sim, index);
    TimeLoop loop = {.body = body, .step = body->step};
    snwParallelFor(sim->context, body->model->vertexCount, snw_skelfemGrain, FinishVertices, &loop);
    body->state.clock->h = h;
    body->state.clock->smooth = body->near ? 0 : body->state.clock->smooth + 1;
}
