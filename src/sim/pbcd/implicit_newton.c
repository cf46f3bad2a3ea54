// Newton's method for the implicit step.
//
// Every element's Hessian is made semidefinite, so that each step goes downhill from anywhere. That is slow at the end
// where flesh is compressed (negative parts that matter are left out), so after a full step the true Hessian is tried;
// if it has no factor, the semidefinite one serves, and the true one is tried again once the residual is a tenth.
//
// The objective is a poor judge near the minimum: it changes by the square of what x changes, and drowns in rounding at
// half the digits. There the slope judges (Hager, Zhang 2005, the approximate Wolfe condition): along a parabola, the
// slope at the new point says as much as the objective does. When even the forces are rounding, it ends.

#include "sim/pbcd/implicit_parts.h"

#include <float.h>
#include <string.h>

static const double s_armijo = 1e-4; // share of the promised decrease that a step must keep

static const double s_away = 1e6; // growth of coordinates that no body has

enum
{
    snw_maxHalvings = 50
};

typedef struct Newton
{
    snwImplicit* implicit;
    const snwImplicitStep* step;
    snwVec3* x;
    snwImplicitReport* report;
    double force, scale;            // N: norms of the projected gradient and of the sizes of forces
    double extent, startExtent;     // m: the largest coordinate, now and at first
    double forceNoise, energyNoise; // N, J: what rounding does at this x
    double slope;                   // J, of the direction
    double exactBelow;              // N: the true Hessian is tried if the projected gradient is below
    bool exact;                     // the factor is of the true Hessian
    bool full;                      // the step before was a whole one
} Newton;

snwImplicitStep snwDefaultImplicitStep(void)
{
    return (snwImplicitStep){.tolerance = 1e-9, .maxIterations = 100};
}

// ---------------------------------------------------------------------------------------------------------------------
// Start

static snwResult FailAtVertex(snwMessage* message, int v, const char* text)
{
    snwFail(message, snw_errorDiverged, NULL, "%s", text);
    snwMessage_AddPlace(message, "vertex %d", v);
    return snw_errorDiverged;
}

// Held vertices go where they shall be.
static snwResult BeginNewton(Newton* n, snwMessage* message)
{
    const snwImplicitStep* step = n->step;
    for (int v = 0; v < n->implicit->vertexCount; ++v)
    {
        bool held = step->held != NULL && step->held[v];
        if (!snwVec3_IsFinite(step->targets[v]) || !(held || snwVec3_IsFinite(n->x[v])))
            return FailAtVertex(message, v, "where the step begins is not finite");
        if (!held && !(step->weights[v] >= (step->rowCount > 0 ? DBL_MIN : 0) && step->weights[v] <= DBL_MAX))
            return FailAtVertex(
                message, v, "the weight is negative or not finite, or zero under an orthogonality constraint");
    }
    for (int v = 0; v < n->implicit->vertexCount; ++v)
        if (step->held != NULL && step->held[v])
            n->x[v] = step->targets[v];
    return snwImplicit_PrepareRows(n->implicit, step, message);
}

static void MeasureForce(Newton* n, const snwVec3* gradient)
{
    double force = 0, scale = 0;
    for (int v = 0; v < n->implicit->vertexCount; ++v)
        if (n->step->held == NULL || !n->step->held[v])
        {
            force += snwVec3_LengthSquared(gradient[v]);
            scale += n->implicit->sizes[v] * n->implicit->sizes[v];
        }
    n->force = sqrt(force);
    n->scale = sqrt(scale);
    n->report->residual = force > 0 ? n->force / n->scale : 0;
    n->report->converged = isfinite(n->scale) && n->force <= n->step->tolerance * n->scale;
}

static double Extent(const snwVec3* x, int count)
{
    double extent = 0;
    for (int v = 0; v < count; ++v)
        extent = fmax(extent, fmax(fabs(x[v].x), fmax(fabs(x[v].y), fabs(x[v].z))));
    return extent;
}

static snwResult EvaluateStart(Newton* n, snwMessage* message)
{
    snwImplicit* implicit = n->implicit;
    snwImplicit_MeetRows(implicit, n->step, n->x);
    n->startExtent = fmax(Extent(n->x, implicit->vertexCount), Extent(n->step->targets, implicit->vertexCount));
    n->report->start = n->report->energy = snwImplicit_Objective(implicit, n->step, n->x, implicit->gradient);
    snwImplicit_ProjectGradient(implicit, n->step, implicit->gradient);
    MeasureForce(n, implicit->gradient);
    if (isfinite(n->report->energy) && isfinite(n->force))
        return snw_ok;
    return snwFail(message, snw_errorDiverged, "look for rest lengths, volumes or stiffnesses that are not finite",
        "energy or forces are not finite where the step begins");
}

// ---------------------------------------------------------------------------------------------------------------------
// Matrix and direction

static snwResult FactorHessian(Newton* n, bool exact, double shift, snwMessage* message)
{
    n->report->factors++;
    n->exact = exact;
    return snwImplicit_Factor(n->implicit, n->step, &(snwImplicitMatrix){n->x, exact, shift}, message);
}

// Without weights a body may be free to move somewhere: a trace of weight keeps it from going far.
static snwResult FactorSemidefinite(Newton* n, snwMessage* message)
{
    snwResult result = FactorHessian(n, false, 0, message);
    for (double shift = 1e-9; result < 0 && shift < 1e-2; shift *= 1e3)
        result = FactorHessian(n, false, shift, message);
    if (result == snw_ok)
        snwMessage_Clear(message);
    else if (message != NULL)
        message->result = snw_errorDiverged;
    return result == snw_ok ? snw_ok : snw_errorDiverged;
}

static snwResult FactorBest(Newton* n, snwMessage* message)
{
    if (n->full && n->force < n->exactBelow)
    {
        if (FactorHessian(n, true, 0, NULL) == snw_ok)
            return snw_ok;
        n->exactBelow = 0.1 * n->force;
    }
    return FactorSemidefinite(n, message);
}

// A force is a difference of numbers as large as stiffness times coordinates.
static void MeasureNoise(Newton* n)
{
    const snwSparse* matrix = snwPattern_Matrix(n->implicit->pattern);
    double sum = 0, squares = 0;
    for (int v = 0; v < n->implicit->vertexCount; ++v)
    {
        if (n->step->held != NULL && n->step->held[v])
            continue;
        for (int k = 1; k <= 3; ++k)
        {
            double d = matrix->values[matrix->starts[3 * v + k] - 1];
            sum += d;
            squares += d * d;
        }
    }
    n->extent = Extent(n->x, n->implicit->vertexCount);
    n->forceNoise = 4 * DBL_EPSILON * sqrt(squares) * n->extent;
    n->energyNoise = 4 * DBL_EPSILON * sum * n->extent * n->extent;
}

static double DotDirection(const Newton* n, const snwVec3* gradient)
{
    double sum = 0;
    for (int v = 0; v < n->implicit->vertexCount; ++v)
        sum += snwVec3_Dot(gradient[v], n->implicit->direction[v]);
    return sum;
}

// ---------------------------------------------------------------------------------------------------------------------
// Line search

static bool IsBetterStep(const Newton* n, double share, double energy)
{
    double start = n->report->energy;
    if (!isfinite(energy) || !isfinite(DotDirection(n, n->implicit->trialGradient)))
        return false;
    if (energy <= start + s_armijo * share * n->slope)
        return true;
    return energy <= start + n->energyNoise &&
           DotDirection(n, n->implicit->trialGradient) <= (2 * s_armijo - 1) * n->slope;
}

static void AcceptTrial(Newton* n, double energy)
{
    snwImplicit* implicit = n->implicit;
    memcpy(n->x, implicit->trial, (size_t)implicit->vertexCount * sizeof *n->x);
    snwVec3* gradient = implicit->gradient;
    implicit->gradient = implicit->trialGradient;
    implicit->trialGradient = gradient;
    n->report->energy = energy;
    n->report->iterations++;
    n->report->exactSteps += n->exact;
    MeasureForce(n, implicit->gradient);
}

static bool SearchAlongStep(Newton* n)
{
    snwImplicit* implicit = n->implicit;

    // Halved until it is better; in trials, rows of the rig are met exactly.
    snwImplicit_Direct(implicit, implicit->gradient);
    n->slope = DotDirection(n, implicit->gradient);
    double share = 1;
    for (int i = 0; i < snw_maxHalvings && n->slope < 0; ++i, share *= 0.5)
    {
        for (int v = 0; v < implicit->vertexCount; ++v)
            implicit->trial[v] = snwVec3_MulAdd(n->x[v], share, implicit->direction[v]);
        snwImplicit_MeetRows(implicit, n->step, implicit->trial);

        double energy = snwImplicit_Objective(implicit, n->step, implicit->trial, implicit->trialGradient);
        snwImplicit_ProjectGradient(implicit, n->step, implicit->trialGradient);
        if (!IsBetterStep(n, share, energy))
            continue;
        n->full = i == 0;
        AcceptTrial(n, energy);

        return true;
    }

    return false;
}

// ---------------------------------------------------------------------------------------------------------------------
// The method

// Nothing goes down any more. Close to what rounding does, that is the end; else it is worth a word.
static snwResult Stop(Newton* n, snwMessage* message)
{
    n->report->converged = n->force <= 1e3 * n->forceNoise;
    if (n->report->converged)
        return snw_ok;
    return snwFail(message, snw_warning, "a smaller step or softer elements",
        "no step lowers the energy any more, "
        "at a residual of %.3g",
        n->report->residual);
}

// *done: there is nothing left to do.
static snwResult TakeDescentStep(Newton* n, bool* done, snwMessage* message)
{
    double before = n->force;

    snwResult result = FactorBest(n, message);
    *done = true;
    if (result < 0)
        return result;

    MeasureNoise(n);

    // Below zero somewhere there may be no lowest point at all.
    if (n->startExtent > 0 && n->extent > s_away * n->startExtent)
        return snwFail(message, snw_errorDiverged, "look for stiffnesses below zero",
            "the body runs away: its energy has no lowest point");

    n->report->converged = n->force <= n->forceNoise;
    if (n->report->converged)
        return snw_ok;

    // An exact Hessian may lead uphill; a semidefinite one never does.
    bool found = SearchAlongStep(n);
    if (!found && n->exact)
    {
        n->full = false;
        result = FactorSemidefinite(n, message);
        found = result == snw_ok && SearchAlongStep(n);
    }

    if (result < 0 || !found)
        return result < 0 ? result : Stop(n, message);

    // What a full step still gains is noise.
    bool rounding = n->full && -n->slope <= n->energyNoise && n->force > 0.5 * before && n->exact;
    n->report->converged = n->report->converged || rounding;
    *done = n->report->converged;
    return snw_ok;
}

static void ReportConstraint(Newton* n)
{
    double sum = 0;
    for (int v = 0; v < n->implicit->vertexCount && n->step->rowCount > 0; ++v)
        if (n->step->held == NULL || !n->step->held[v])
            sum += n->step->weights[v] * snwVec3_LengthSquared(snwVec3_Sub(n->x[v], n->step->reference[v]));
    double gap = snwImplicit_MeetRows(n->implicit, n->step, n->x);
    n->report->constraint = gap > 0 ? gap / sqrt(sum) : 0;
}

snwResult snwImplicit_Solve(
    snwImplicit* implicit, const snwImplicitStep* step, snwVec3* x, snwImplicitReport* report, snwMessage* message)
{
    snwImplicitReport unwanted;
    Newton n = {.implicit = implicit, .step = step, .x = x, .report = report != NULL ? report : &unwanted};
    n.exactBelow = DBL_MAX;
    *n.report = (snwImplicitReport){0};
    snwMessage_Clear(message);
    snwResult result = BeginNewton(&n, message);
    if (result == snw_ok)
        result = EvaluateStart(&n, message);
    bool done = result < 0 || n.report->converged;
    while (!done && n.report->iterations < step->maxIterations)
        result = TakeDescentStep(&n, &done, message);
    if (result >= 0)
        ReportConstraint(&n);
    return result;
}
