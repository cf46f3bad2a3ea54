// See rig_flat.h. What it computes is what rig_fit_solve.c computes, to rounding.

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

static double Torque(const snwFlatPlanes* pose, int k, const snwFlatPlane* t)
{
    return pose->t[0][k] * t[1][k] - pose->t[1][k] * t[0][k];
}

// S = the moments with the translations eliminated, tr(P R(th_k - th_l)), and the share of M's diagonal.
static void PutMatrix(const snwRigFit* model, const snwRigSystem* system, const snwFlatPlanes* pose, snwFlatFactor* f)
{
    f->n = 0;
    for (int k = 0; k < model->handleCount; ++k)
    {
        if (system->freeTurns[k] == 0)
            continue;
        const double *sum = system->flat[0] + k * model->stride, *difference = system->flat[1] + k * model->stride;
        double c = pose->t[0][k], s = pose->t[1][k], *row = f->rows[f->n];
        f->handles[f->n] = k;
        f->turns[0][f->n] = c, f->turns[1][f->n] = s;
        for (int j = 0; j <= f->n; ++j)
        {
            int l = f->handles[j];
            double cl = f->turns[0][j], sl = f->turns[1][j];
            row[j] = (c * cl + s * sl) * sum[l] + (s * cl - c * sl) * difference[l];
        }
        int own = k * model->stride + k;
        row[f->n++] += system->share * (model->moments.p2[0][0][own] + model->moments.p2[1][1][own]) +
                       model->leastTurn[k];
    }
}

// In place; columns are eliminated one after the other, so that rows do not wait for each other. False: not definite.
static bool Eliminate(snwFlatFactor* f)
{
    for (int j = 0; j < f->n; ++j)
    {
        double pivot = f->rows[j][j], column[snw_mostFlatHandles];
        if (!(pivot > 0))
            return false;
        f->inverse[j] = 1 / pivot;
        for (int i = j + 1; i < f->n; ++i)
            column[i] = f->rows[i][j], f->rows[i][j] *= f->inverse[j];
        for (int i = j + 1; i < f->n; ++i)
            for (int k = j + 1; k <= i; ++k)
                f->rows[i][k] -= f->rows[i][j] * column[k];
    }
    return true;
}

static bool IsOf(const snwRigSystem* system, const snwFlatPlanes* pose, const snwFlatFactor* f)
{
    bool same = f->elimination == system->elimination;
    for (int j = 0; j < f->n && same; ++j)
        same = f->turns[0][j] == pose->t[0][f->handles[j]] && f->turns[1][j] == pose->t[1][f->handles[j]];
    return same;
}

// The share that was added always suffices but for rounding; where it does not, more is added.
static void Factor(const snwRigFit* model, const snwRigSystem* system, const snwFlatPlanes* pose, snwFlatFactor* f)
{
    if (IsOf(system, pose, f))
        return;
    double more = 1e-12;
    PutMatrix(model, system, pose, f);
    for (bool made = Eliminate(f); !made && more < 1; made = Eliminate(f), more *= 100)
    {
        PutMatrix(model, system, pose, f);
        for (int i = 0; i < f->n; ++i)
            f->rows[i][i] *= 1 + more;
    }
    f->elimination = system->elimination;
}

static void SolveTurns(const snwFlatFactor* f, double* x)
{
    for (int j = 0; j < f->n; ++j)
        for (int i = j + 1; i < f->n; ++i)
            x[i] -= f->rows[i][j] * x[j];
    for (int j = f->n - 1; j >= 0; --j)
    {
        x[j] *= f->inverse[j];
        for (int i = j + 1; i < f->n; ++i)
            x[j] -= f->rows[i][j] * x[i];
    }
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

// moves = P0^-1 forces, and the turns by the reduced torques of all that turn.
static void FindTurns(const Solver* v, double turns[snw_mostFlatHandles])
{
    const snwRigFit* model = v->model;
    snwFlatScratch* s = v->s;
    snwFlatMatrix inverse = {model->handleCount, model->stride, v->system->inverse[0], NULL, false};
    snwFlatMatrix arms = {model->handleCount, model->stride, model->moments.p1Back[0], model->moments.p1Back[1], true};
    v->kernels->multiplyFlat(&inverse, s->forces.u, s->moves);
    if (v->system->n == 0)
        return;
    Factor(model, v->system, &s->pose, v->factor);
    v->kernels->subtractTurned(&arms, s->moves, s->forces.t);
    for (int j = 0; j < v->factor->n; ++j)
        turns[j] = Torque(&s->pose, v->factor->handles[j], s->forces.t);
    SolveTurns(v->factor, turns);
}

// The step, from moves and turns.
static void Return(const Solver* v, const double* turns)
{
    const snwRigFit* model = v->model;
    snwFlatScratch* s = v->s;
    memcpy(s->step.u, s->moves, sizeof s->step.u);
    memset(s->step.t, 0, sizeof s->step.t);
    if (v->system->n == 0)
        return;
    for (int j = 0; j < v->factor->n; ++j)
    {
        int k = v->factor->handles[j];
        s->step.t[0][k] = -s->pose.t[1][k] * turns[j];
        s->step.t[1][k] = s->pose.t[0][k] * turns[j];
    }
    snwFlatMatrix forth = {model->handleCount, model->stride, v->system->forth[0][0], v->system->forth[0][1], false};
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

// C at the pose.
static void FindForces(const snwRigFit* model, const snwRigFitScratch* scratch, const snwRigPose* pose)
{
    snwFlatScratch* s = scratch->flat;
    const snwRigPlanes* sums = &scratch->sums;
    snwFlatMatrix all = {model->handleCount, model->stride, model->flat, NULL, false};
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

// Of angles up to 0.5; the series end below 1e-17.
static void Turn(double angle, snwMat3* linear)
{
    double q = angle * angle;
    double s = angle * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110 * (1 - q / 156))))));
    double c = 1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90 * (1 - q / 132 * (1 - q / 182))))));
    double x = linear->m[0][0], y = linear->m[1][0];
    double u = c * x - s * y, v = s * x + c * y, scale = 1 / sqrt(u * u + v * v);
    linear->m[0][0] = linear->m[1][1] = u * scale;
    linear->m[1][0] = v * scale, linear->m[0][1] = -linear->m[1][0];
}

// Each handle by itself, so that a turn that means nothing does not slow down others.
static double HoldTurns(int count, double most, double* turns)
{
    double largest = 0;
    for (int j = 0; j < count; ++j)
    {
        largest = fmax(largest, fabs(turns[j]));
        turns[j] = fmax(-most, fmin(most, turns[j]));
    }
    return largest;
}

double snwRigFlat_Step(const snwRigFit* model, snwRigFitScratch* scratch, double most, snwRigPose* pose)
{
    double turns[snw_mostFlatHandles];
    snwFlatScratch* s = scratch->flat;
    Solver solver = MakeSolver(model, scratch, scratch->fit, &s->fit);
    FindForces(model, scratch, pose);
    FindTurns(&solver, turns);
    double largest = HoldTurns(scratch->fit->n, most, turns);
    Return(&solver, turns);
    for (int k = 0; k < model->handleCount; ++k)
        pose[k].place.x += s->step.u[0][k], pose[k].place.y += s->step.u[1][k];
    for (int j = 0; j < scratch->fit->n; ++j)
        Turn(turns[j], &pose[s->fit.handles[j]].linear);
    return largest;
}

// ---------------------------------------------------------------------------------------------------------------------
// The answer

// -C on what is given, 0 on what is free.
static void KeepGiven(const snwRigFit* model, const snwRigFitScratch* scratch)
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
    double turns[snw_mostFlatHandles];
    snwFlatScratch* s = scratch->flat;
    Solver fit = MakeSolver(model, scratch, scratch->fit, &s->fit);
    Solver all = MakeSolver(model, scratch, &scratch->all, &s->all);
    snwFlatMatrix moments = {model->handleCount, model->stride, model->flat, NULL, false};
    FindForces(model, scratch, pose);
    snwFlatPlanes forces = s->forces;
    FindTurns(&fit, turns);
    Return(&fit, turns);
    s->forces = forces;
    fit.kernels->subtractFlat(&moments, &s->step, &s->forces);
    KeepGiven(model, scratch);
    FindTurns(&all, turns);
    Return(&all, turns);
    for (int k = 0; k < model->handleCount; ++k)
    {
        double c = s->step.t[0][k], d = s->step.t[1][k];
        scratch->answer[k] = (snwRigPose){{{{c, -d, 0}, {d, c, 0}, {0, 0, 0}}}, {s->step.u[0][k], s->step.u[1][k], 0}};
    }
}
