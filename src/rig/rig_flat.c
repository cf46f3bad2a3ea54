// See rig_flat.h. What it computes is what rig_fit_solve.c computes, to rounding; where handles are exactly alike, to
// four digits: an inverse is not as good as a solve there.

#include "rig/rig_flat.h"

#include "rig/rig_fit_parts.h"

#include <math.h>
#include <string.h>

void snwRigFlat_Fill(snwRigFit* model)
{
    double* row = model->flat;
    for (int l = 0; l < model->handleCount; ++l)
        for (int plane = 0; plane < snw_flatMatrixPlanes; ++plane, row += model->stride)
            for (int k = 0; k < model->handleCount; ++k)
            {
                int at = l * model->stride + k;
                const double numbers[snw_flatMatrixPlanes] = {model->moments.p0[at], model->moments.p1[0][at],
                    model->moments.p1[1][at], model->moments.p1Back[0][at], model->moments.p1Back[1][at],
                    model->moments.p2[0][0][at] + model->moments.p2[1][1][at],
                    model->moments.p2[1][0][at] - model->moments.p2[0][1][at]};
                row[k] = numbers[plane];
            }
}

bool snwRigFlat_Serves(const snwRigFit* model, const snwRigFitScratch* s, const snwRigHold* hold)
{
    bool joined = model->linkCount > 0 && hold->chains == snw_rigChainsJoined;
    bool serves = model->flat != NULL && !joined && hold->kept == 0 && hold->leaving == 0 && s->fit->groupCount == 1;
    for (int i = 0; i < model->equationCount && serves; ++i)
        serves = !hold->rules[i].on;
    return serves;
}

// ---------------------------------------------------------------------------------------------------------------------
// The turns

static bool IsOf(const snwRigFit* model, const snwRigSystem* system, const snwFlatPlanes* pose, const snwFlatFactor* f)
{
    bool same = f->elimination == system->elimination;
    for (int k = 0; k < model->handleCount && same; ++k)
        same = system->freeTurns[k] == 0 || (f->turns[0][k] == pose->t[0][k] && f->turns[1][k] == pose->t[1][k]);
    return same;
}

// The share that was added always suffices but for rounding; where it does not, more is added.
static void FactorFlat(const snwRigFit* model, const snwRigSystem* system, const snwFlatPlanes* pose, snwFlatFactor* f)
{
    if (IsOf(model, system, pose, f))
        return;
    double more = 0;
    memcpy(f->turns, pose->t, sizeof f->turns);
    snwFlatTurns turns = {model->handleCount, model->stride, system->flat[0], system->flat[1], system->flatDiagonal,
        (const snwFlatPlane*)f->turns};
    while (!system->kernels->invertTurns(&turns, more, f->inverse) && more < 1)
        more = more > 0 ? 100 * more : 1e-12;
    f->elimination = system->elimination;
}

// ---------------------------------------------------------------------------------------------------------------------
// The system

typedef struct Solver
{
    const snwRigFit* model;
    const snwRigSystem* system;
    const snwPassKernels* kernels;
    snwFlatScratch* s;
    snwFlatFactor* factor;
} Solver;

static Solver MakeSolver(
    const snwRigFit* model, const snwRigFitScratch* s, const snwRigSystem* system, snwFlatFactor* factor)
{
    return (Solver){model, system, system->kernels, s->flat, factor};
}

// The step's moves as if nothing turned, P0^-1 forces, and the turns by the reduced torques of all that turn.
static void FindFlatTurns(const Solver* v)
{
    const snwRigFit* model = v->model;
    snwFlatScratch* s = v->s;

    // P0^-1 times the forces, then the torques with those moves taken off.
    snwFlatMatrix inverse = {model->handleCount, model->stride, v->system->inverse[0], .other = NULL};
    snwFlatMatrix arms = {
        model->handleCount, model->stride, model->moments.p1Back[0], model->moments.p1Back[1], .conjugate = true};

    v->kernels->multiplyFlat(&inverse, s->forces.u, s->step.u);
    if (v->system->n == 0)
        return;
    FactorFlat(model, v->system, &s->pose, v->factor);
    memcpy(s->arms, s->forces.t, sizeof s->arms);
    v->kernels->subtractTurned(&arms, s->step.u, s->arms);

    // Im(conj(r) t), the torque about a handle; what is given does not turn.
    for (int k = 0; k < model->handleCount; ++k)
    {
        double torque = s->pose.t[0][k] * s->arms[1][k] - s->pose.t[1][k] * s->arms[0][k];
        s->torques[k] = v->system->freeTurns[k] != 0 ? torque : 0;
        s->turns[k] = 0;
    }

    snwPlaneProduct product = {model->handleCount, model->stride, v->factor->inverse, 1};
    v->kernels->product(&product, s->torques, s->turns);
}

// The rest of the step: what turns, and what of the moves goes with it.
static void Return(const Solver* v)
{
    const snwRigFit* model = v->model;
    snwFlatScratch* s = v->s;
    memset(s->step.t, 0, sizeof s->step.t);
    if (v->system->n == 0)
        return;
    for (int k = 0; k < model->handleCount; ++k)
    {
        s->step.t[0][k] = -s->pose.t[1][k] * s->turns[k];
        s->step.t[1][k] = s->pose.t[0][k] * s->turns[k];
    }
    snwFlatMatrix forth = {
        model->handleCount, model->stride, v->system->forth[0][0], v->system->forth[0][1], .conjugate = false};
    v->kernels->subtractTurned(&forth, s->step.t, s->step.u);
}

static void TakePose(const snwRigFit* model, const snwRigPose* pose, snwFlatPlanes* out)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        out->u[0][k] = pose[k].place.x, out->u[1][k] = pose[k].place.y;
        out->t[0][k] = pose[k].linear.m[0][0], out->t[1][k] = pose[k].linear.m[1][0];
    }
}

static snwFlatMatrix Moments(const snwRigFit* model)
{
    return (snwFlatMatrix){model->handleCount, model->stride, model->flat, .still = model->turnCount == 0};
}

// C at the pose.
static void FindFlatForces(const snwRigFit* model, const snwRigFitScratch* scratch, const snwRigPose* pose)
{
    snwFlatScratch* s = scratch->flat;
    const snwRigPlanes* sums = &scratch->sums;
    snwFlatMatrix all = Moments(model);
    TakePose(model, pose, &s->pose);
    for (int k = 0; k < model->handleCount; ++k)
    {
        s->forces.u[0][k] = sums->moves[0][k], s->forces.u[1][k] = sums->moves[1][k];
        s->forces.t[0][k] = sums->linear[0][0][k] + sums->linear[1][1][k];
        s->forces.t[1][k] = sums->linear[1][0][k] - sums->linear[0][1][k];
    }
    scratch->fit->kernels->subtractFlat(&all, &s->pose, &s->forces);
}

// ---------------------------------------------------------------------------------------------------------------------
// The fit

// Turns of up to 0.5 rad; the series end below 1e-17. No divisions: eight handles with a dozen each take as long as a
// pass.
static void TurnMatrix(double angle, snwMat3* linear)
{
    double q = angle * angle;
    double s = 1 - q * (1.0 / 42) * (1 - q * (1.0 / 72) * (1 - q * (1.0 / 110) * (1 - q * (1.0 / 156))));
    double c = 1 - q * (1.0 / 56) * (1 - q * (1.0 / 90) * (1 - q * (1.0 / 132) * (1 - q * (1.0 / 182))));
    s = angle * (1 - q * (1.0 / 6) * (1 - q * (1.0 / 20) * s));
    c = 1 - q * 0.5 * (1 - q * (1.0 / 12) * (1 - q * (1.0 / 30) * c));
    double x = linear->m[0][0], y = linear->m[1][0];
    double u = c * x - s * y, v = s * x + c * y, scale = 1 / sqrt(u * u + v * v);
    linear->m[0][0] = linear->m[1][1] = u * scale;
    linear->m[1][0] = v * scale, linear->m[0][1] = -linear->m[1][0];
}

// Each handle by itself, so that a turn that means nothing does not slow down others.
static double HoldFlatTurns(int count, double most, double* turns)
{
    double largest = 0;
    for (int k = 0; k < count; ++k)
    {
        largest = fmax(largest, fabs(turns[k]));
        turns[k] = fmax(-most, fmin(most, turns[k]));
    }
    return largest;
}

double snwRigFlat_Step(const snwRigFit* model, snwRigFitScratch* scratch, double most, snwRigPose* pose)
{
    snwFlatScratch* s = scratch->flat;
    Solver solver = MakeSolver(model, scratch, scratch->fit, &s->fit);
    bool turns = scratch->fit->n > 0;
    FindFlatForces(model, scratch, pose);
    FindFlatTurns(&solver);
    double largest = turns ? HoldFlatTurns(model->handleCount, most, s->turns) : 0;
    Return(&solver);
    for (int k = 0; k < model->handleCount; ++k)
    {
        pose[k].place.x += s->step.u[0][k], pose[k].place.y += s->step.u[1][k];
        if (turns && scratch->fit->freeTurns[k] != 0)
            TurnMatrix(s->turns[k], &pose[k].linear);
    }
    return largest;
}

// ---------------------------------------------------------------------------------------------------------------------
// The answer

// -C on what is given, 0 on what is free.
static void KeepGivenFlat(const snwRigFit* model, const snwRigFitScratch* scratch)
{
    snwFlatScratch* s = scratch->flat;
    const snwRigSystem* fit = scratch->fit;
    for (int k = 0; k < model->handleCount; ++k)
    {
        bool moves = fit->freeMoves[k] != 0, turns = fit->freeTurns[k] != 0;
        for (int a = 0; a < 2; ++a)
        {
            s->forces.u[a][k] = moves ? 0 : -s->forces.u[a][k];
            s->forces.t[a][k] = turns ? 0 : -s->forces.t[a][k];
        }
    }
}

void snwRigFlat_Answer(const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose)
{
    snwFlatScratch* s = scratch->flat;
    Solver fit = MakeSolver(model, scratch, scratch->fit, &s->fit);
    Solver all = MakeSolver(model, scratch, &scratch->all, &s->all);
    snwFlatMatrix moments = Moments(model);

    // h, what the fit would do next, and the forces that it leaves.
    FindFlatForces(model, scratch, pose);
    FindFlatTurns(&fit);
    Return(&fit);
    fit.kernels->subtractFlat(&moments, &s->step, &s->forces);

    // Only forces on what is given count; then all degrees of freedom are free.
    KeepGivenFlat(model, scratch);
    for (int a = 0; a < 2; ++a)
        memcpy(scratch->right.moves[a], s->forces.u[a], (size_t)model->handleCount * sizeof(double));
    FindFlatTurns(&all);
    Return(&all);

    // Complex numbers to a pose's matrix and place.
    for (int k = 0; k < model->handleCount; ++k)
    {
        double c = s->step.t[0][k], d = s->step.t[1][k];
        scratch->answer[k] = (snwRigPose){{{{c, -d, 0}, {d, c, 0}, {0, 0, 0}}}, {s->step.u[0][k], s->step.u[1][k], 0}};
    }
}
