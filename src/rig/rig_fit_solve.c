// The two small solves. See rig_fit.h for what they are.

#include "linalg/active.h"
#include "math/eigen.h"
#include "rig/rig_fit_parts.h"

#include <float.h>
#include <string.h>

static const double s_fitShare = 1e-8;     // of M's diagonal
static const double s_answerShare = 1e-12; // likewise, in the complement
static const double s_mostTurn = 0.5;      // rad
static const double s_shut = 1e-12;        // of the size, or rad: joints are closed
static const double s_open = 1e-9;         // likewise: joints that cannot be closed
static const double s_wide = 0.05;         // of the size, or rad: too far to be closed at once
static const double s_worse = 4;           // times the best gap: Newton's method runs away
static const double s_leastSoftness = 1e-3;
static const double s_wideSoftness = 0.01; // of a row's own mobility

// ---------------------------------------------------------------------------------------------------------------------
// What is free

static uint32_t TurnBits(const snwRigFit* model)
{
    return snwRigFit_Dimension(model) == 2 ? snw_dofRotationZ : snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ;
}

// All of the handle's linear part is given.
static bool IsTurnGiven(const snwRigFit* model, int handle, uint32_t given)
{
    uint32_t bits = TurnBits(model);
    return model->handles[handle].freedom == snw_rigRigid ? (given & bits) == bits : (given & bits) != 0;
}

static snwMat3 GivenLinear(const snwRigFit* model, snwQuat rotation, const snwMat3* now)
{
    if (snwRigFit_Dimension(model) == 3)
        return snwQuat_ToMat3(snwQuat_Normalize(rotation));
    double angle = 2 * atan2(rotation.z, rotation.w);
    snwMat3 linear = *now;
    linear.m[0][0] = linear.m[1][1] = cos(angle);
    linear.m[1][0] = sin(angle), linear.m[0][1] = -linear.m[1][0];
    return linear;
}

static void SetGiven(const snwRigFit* model, const snwRigTarget* targets, snwRigPose* pose)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        const snwRigTarget* target = &targets[k];
        if ((target->given & snw_dofX) != 0)
            pose[k].place.x = target->place.x;
        if ((target->given & snw_dofY) != 0)
            pose[k].place.y = target->place.y;
        if ((target->given & snw_dofZ) != 0 && snwRigFit_Dimension(model) == 3)
            pose[k].place.z = target->place.z;
        if (IsTurnGiven(model, k, target->given))
            pose[k].linear = GivenLinear(model, target->rotation, &pose[k].linear);
    }
}

static void NoteFree(const snwRigFit* model, snwRigFitScratch* s, const snwRigTarget* targets)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        bool given = IsTurnGiven(model, k, targets[k].given);
        s->moves[k] = (unsigned char)(~targets[k].given & s->all.freeMoves[k]);
        s->turns[k] = !given && model->handles[k].freedom != snw_rigMoving;
    }
    snwRigSystem_Set(model, &s->fit, s->moves, s->turns, s_fitShare);
}

// ---------------------------------------------------------------------------------------------------------------------
// C

static void CopyPlanes(const snwRigFit* model, const snwRigPlanes* from, const snwRigPlanes* to)
{
    size_t bytes = (size_t)model->stride * sizeof(double);
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
    {
        memcpy(to->moves[a], from->moves[a], bytes);
        for (int b = 0; b < snwRigFit_Dimension(model); ++b)
            memcpy(to->linear[a][b], from->linear[a][b], bytes);
    }
}

// C, with linear parts in place of turns, in `forces`.
static void FindForces(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        double place[3] = {pose[k].place.x, pose[k].place.y, pose[k].place.z};
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        {
            s->pose.moves[a][k] = place[a];
            for (int b = 0; b < snwRigFit_Dimension(model); ++b)
                s->pose.linear[a][b][k] = pose[k].linear.m[a][b];
        }
    }
    CopyPlanes(model, &s->sums, &s->forces);
    snwRigFit_Subtract(model, s->fit.kernels, &s->pose, &s->forces);
}

// `forces` as a system sees them, in `right`.
static void PutRight(const snwRigFit* model, snwRigFitScratch* s, const snwRigSystem* system, const snwRigPose* pose)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memcpy(s->right.moves[a], s->forces.moves[a], (size_t)model->stride * sizeof(double));
    memset(s->right.turns, 0, (size_t)system->n * sizeof(double));
    snwRigSystem_Contract(model, system, pose, (double* const(*)[3])s->forces.linear, s->right.turns);
}

static void ClearRight(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memset(s->right.moves[a], 0, (size_t)model->stride * sizeof(double));
    memset(s->right.turns, 0, (size_t)model->turnCount * sizeof(double));
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps: M step = right + G^T lambda, G step = targets

// Puts a row's terms, times factor, on top of a motion: given turns have no place in it.
static void AddRow(const snwRigFit* model, const snwRigSystem* system, const snwRigFitScratch* s, const snwRigRow* row,
    double factor, const snwRigMotion* to)
{
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
    {
        const snwRigTerm* term = &s->terms[t];
        int first = system->turnStart[term->handle], count = system->turnStart[term->handle + 1] - first;
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            to->moves[a][term->handle] += factor * term->move[a];
        for (int i = 0; i < count; ++i)
            to->turns[first + i] += factor * term->turn[i];
    }
}

static void ClearForce(const snwRigFit* model, const snwRigFitScratch* s)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memset(s->force.moves[a], 0, (size_t)model->stride * sizeof(double));
    memset(s->force.turns, 0, (size_t)model->turnCount * sizeof(double));
}

// Turns of all rows with their moves eliminated.
static void ReduceRows(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    const snwRigSystem* system = &s->fit;
    for (int i = 0; i < s->rowCount; ++i)
    {
        ClearForce(model, s);
        AddRow(model, system, s, &s->rows[i], 1, &s->force);
        snwRigSystem_Reduce(model, system, pose, &s->force, (double* const(*)[3])s->linear);
        memcpy(s->rowMatrix + (size_t)i * (size_t)system->n, s->force.turns, (size_t)system->n * sizeof(double));
    }
}

// G_u P0^-1 G_u^T of two rows.
static double MovesProduct(
    const snwRigFit* model, const snwRigFitScratch* s, const snwRigRow* first, const snwRigRow* second)
{
    double sum = 0;
    for (int i = first->firstTerm; i < first->firstTerm + first->termCount; ++i)
        for (int j = second->firstTerm; j < second->firstTerm + second->termCount; ++j)
        {
            const snwRigTerm *p = &s->terms[i], *q = &s->terms[j];
            for (int a = 0; a < snwRigFit_Dimension(model); ++a)
                if (p->move[a] != 0 && q->move[a] != 0)
                    sum += p->move[a] * q->move[a] *
                           s->fit.inverse[s->fit.groupOf[a]][p->handle * model->stride + q->handle];
        }
    return sum;
}

// What a row sees of the step without any forces, moves only.
static double MovesSeen(const snwRigFit* model, const snwRigFitScratch* s, const snwRigRow* row)
{
    double sum = 0;
    for (int i = row->firstTerm; i < row->firstTerm + row->termCount; ++i)
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        {
            const snwRigTerm* term = &s->terms[i];
            const double* inverse = s->fit.inverse[s->fit.groupOf[a]] + term->handle * model->stride;
            for (int q = 0; q < model->handleCount && term->move[a] != 0; ++q)
                sum += term->move[a] * inverse[q] * s->right.moves[a][q];
        }
    return sum;
}

typedef struct RowsDef
{
    double reach;    // how much of the rows' errors to close, 0..1; 0: limits keep the distance that they have to go
    double softness; // of a row's own mobility
} RowsDef;

static void PushRows(const snwRigFit* model, snwRigFitScratch* s, const RowsDef* def, const double* swept)
{
    int count = s->rowCount;
    snwDense_Gram(&s->fit.factor, count, s->panels, s->gram, count);
    snwDense_MulRows(&s->fit.factor, count, s->panels, swept, s->rowRight);
    for (int i = 0; i < count; ++i)
    {
        const snwRigRow* row = &s->rows[i];
        for (int j = 0; j <= i; ++j)
        {
            double sum = s->gram[i * count + j] + MovesProduct(model, s, row, &s->rows[j]);
            s->gram[i * count + j] = s->gram[j * count + i] = sum;
        }
        double wanted = row->atLeast && def->reach == 0 ? fmin(0, -row->error) : -def->reach * row->error;
        s->rowRight[i] = wanted - (s->rowRight[i] + MovesSeen(model, s, row));
        s->softness[i] = def->softness * s->gram[i * count + i];
        s->atLeast[i] = row->atLeast;
        s->pushes[i] = row->atLeast && row->error <= 0;
    }
    snwActiveDef active = {s->fit.factor.kernels, count, s->gram, count, s->softness, s->rowRight, s->atLeast,
        s->pushes, s->lambda, s->active};
    snwActive_Solve(&active);
}

// The turns of the step, from `right`, whose turns are reduced and swept on the way and whose moves get the rows'
// forces.
static void SolveTurns(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose, const RowsDef* def)
{
    const snwRigSystem* system = &s->fit;
    snwRigSystem_Reduce(model, system, pose, &s->right, (double* const(*)[3])s->linear);
    memcpy(s->step.turns, s->right.turns, (size_t)system->n * sizeof(double));
    snwDense_Forward(&system->factor, s->step.turns);
    if (s->rowCount > 0)
    {
        ReduceRows(model, s, pose);
        snwDense_ForwardRows(&system->factor, s->rowCount, s->rowMatrix, system->n, s->panels);
        PushRows(model, s, def, s->step.turns);
        snwDense_AddRows(&system->factor, s->rowCount, s->panels, s->lambda, s->step.turns);
        for (int i = 0; i < s->rowCount; ++i)
            AddRow(model, system, s, &s->rows[i], s->lambda[i], &s->right);
    }
    snwDense_Backward(&system->factor, s->step.turns);
}

static void SolveStep(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose, const RowsDef* def)
{
    SolveTurns(model, s, pose, def);
    snwRigSystem_Return(model, &s->fit, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
}

// ---------------------------------------------------------------------------------------------------------------------
// The pose

static double TurnLength(const snwRigFit* model, const snwRigSystem* system, const double* turns, int handle)
{
    int first = system->turnStart[handle], count = system->turnStart[handle + 1] - first;
    if (count == 0 || model->handles[handle].freedom != snw_rigRigid)
        return 0;
    double square = 0;
    for (int i = 0; i < count; ++i)
        square += turns[first + i] * turns[first + i];
    return sqrt(square);
}

static double LargestTurn(const snwRigFit* model, const snwRigFitScratch* s)
{
    double largest = 0;
    for (int k = 0; k < model->handleCount; ++k)
        largest = fmax(largest, TurnLength(model, &s->fit, s->step.turns, k));
    return largest;
}

// Each handle by itself, so that a turn that means nothing does not slow down others; moves then follow.
static void HoldTurns(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        double length = TurnLength(model, &s->fit, s->step.turns, k);
        for (int i = s->fit.turnStart[k]; i < s->fit.turnStart[k + 1] && length > s_mostTurn; ++i)
            s->step.turns[i] *= s_mostTurn / length;
    }
}

static void ScaleStep(const snwRigFit* model, snwRigFitScratch* s, double factor)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        for (int k = 0; k < model->handleCount; ++k)
            s->step.moves[a][k] *= factor;
    for (int i = 0; i < s->fit.n; ++i)
        s->step.turns[i] *= factor;
}

// A half turn of Newton's method for R^T R = I: keeps rounding from adding up over many steps.
static snwMat3 Orthonormal(snwMat3 r)
{
    snwMat3 square = snwMat3_TransposeMul(r, r);
    return snwMat3_Mul(r, snwMat3_Sub(snwMat3_Diagonal(1.5, 1.5, 1.5), snwMat3_Scale(square, 0.5)));
}

static void TurnFlat(double angle, snwMat3* linear)
{
    double c = cos(angle), s = sin(angle), x = linear->m[0][0], y = linear->m[1][0];
    double u = c * x - s * y, v = s * x + c * y, length = sqrt(u * u + v * v);
    linear->m[0][0] = linear->m[1][1] = u / length;
    linear->m[1][0] = v / length, linear->m[0][1] = -linear->m[1][0];
}

static void TurnHandle(const snwRigFit* model, int handle, const double* turns, snwMat3* linear)
{
    int d = snwRigFit_Dimension(model);
    if (model->handles[handle].freedom == snw_rigAffine)
    {
        for (int i = 0; i < d * d; ++i)
            linear->m[i / d][i % d] += turns[i];
    }
    else if (d == 2)
        TurnFlat(turns[0], linear);
    else
    {
        snwQuat turn = snwQuat_FromRotationVector((snwVec3){turns[0], turns[1], turns[2]});
        *linear = Orthonormal(snwMat3_Mul(snwQuat_ToMat3(turn), *linear));
    }
}

static void TakeStep(const snwRigFit* model, const snwRigFitScratch* s, snwRigPose* pose)
{
    const snwRigSystem* system = &s->fit;
    for (int k = 0; k < model->handleCount; ++k)
    {
        double* const* moves = (double* const*)s->step.moves;
        pose[k].place.x += moves[0][k];
        pose[k].place.y += moves[1][k];
        pose[k].place.z += snwRigFit_Dimension(model) == 3 ? moves[2][k] : 0;
        if (system->turnStart[k + 1] > system->turnStart[k])
            TurnHandle(model, k, s->step.turns + system->turnStart[k], &pose[k].linear);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The fit

// With rows the whole step is shortened: cut one by one, handles would come apart.
static double FitStep(const snwRigFit* model, snwRigFitScratch* s, snwRigPose* pose)
{
    double gap = snwRigFit_Gap(model, s);
    RowsDef rows = {gap > s_wide ? s_wide / gap : 1, gap > s_wide ? s_wideSoftness : 0};
    SolveTurns(model, s, pose, &rows);
    double largest = LargestTurn(model, s);
    if (s->rowCount == 0)
        HoldTurns(model, s);
    snwRigSystem_Return(model, &s->fit, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
    if (s->rowCount > 0 && largest > s_mostTurn)
        ScaleStep(model, s, s_mostTurn / largest);
    TakeStep(model, s, pose);
    return largest;
}

// One try from `pose`: the way of least mass, into s->tried. Returns the gap there; the rows are those of that pose.
static double TryRepair(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, const snwRigPose* pose, double softness)
{
    ClearRight(model, s);
    SolveStep(model, s, pose, &(RowsDef){1, softness});
    ScaleStep(model, s, fmin(1, s_mostTurn / fmax(LargestTurn(model, s), DBL_MIN)));
    memcpy(s->tried, pose, (size_t)model->handleCount * sizeof *pose);
    TakeStep(model, s, s->tried);
    snwRigFit_MakeRows(model, s, hold, s->tried);
    return snwRigFit_Gap(model, s);
}

// Closes rows. Newton's method, which may pass through worse places (cones are round); where it runs away,
// Levenberg's: back to the best place, and rows yield until it helps.
static void Repair(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose, snwRigFitReport* report)
{
    size_t bytes = (size_t)model->handleCount * sizeof *pose;
    double softness = 0;
    memcpy(s->now, pose, bytes);
    snwRigFit_MakeRows(model, s, hold, pose);
    report->gap = snwRigFit_Gap(model, s);
    for (; report->gap > s_shut && report->repairs < snw_rigMostRepairs; ++report->repairs)
    {
        double gap = TryRepair(model, s, hold, s->now, softness);
        bool runsAway = gap > s_worse * report->gap;
        memcpy(s->now, runsAway ? pose : s->tried, bytes);
        softness = runsAway ? fmax(10 * softness, s_leastSoftness) : 0.1 * softness;
        if (gap < report->gap)
            report->gap = gap, memcpy(pose, s->tried, bytes);
        if (runsAway)
            snwRigFit_MakeRows(model, s, hold, pose);
    }
}

snwRigFitReport snwRigFit_Solve(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, snwRigPose* pose)
{
    snwRigFitScratch* s = scratch;
    snwRigFitReport report = {0};
    SetGiven(model, hold->targets, pose);
    NoteFree(model, s, hold->targets);
    snwRigSystem_Factor(model, &s->fit, pose);
    FindForces(model, s, pose);
    PutRight(model, s, &s->fit, pose);
    snwRigFit_MakeRows(model, s, hold, pose);
    report.largest = FitStep(model, s, pose);
    if (s->rowCount > 0)
        Repair(model, s, hold, pose, &report);
    if (report.gap > s_open && hold->chains == snw_rigChainsJoined)
        snwRigFit_Shut(model, hold, false, pose);
    if (hold->chains == snw_rigChainsRepaired)
        snwRigFit_Shut(model, hold, true, pose);
    return report;
}

// ---------------------------------------------------------------------------------------------------------------------
// The complement

static bool IsAnythingGiven(const snwRigFit* model, const snwRigFitScratch* s)
{
    size_t handles = (size_t)model->handleCount;
    return memcmp(s->moves, s->all.freeMoves, handles) != 0 || memcmp(s->turns, s->all.freeTurns, handles) != 0;
}

// Anything but joints between handles.
static bool IsHeldFromOutside(const snwRigFit* model, const snwRigFitScratch* s, const snwRigHold* hold)
{
    bool held = IsAnythingGiven(model, s);
    for (int i = 0; i < model->equationCount; ++i)
        held = held || hold->rules[i].on;
    for (int k = 0; k < model->handleCount; ++k)
        held = held || ((hold->targets[k].given & TurnBits(model)) != 0 && s->turns[k] != 0);
    for (int i = 0; i < model->linkCount; ++i)
        held = held || (model->links[i].parent < 0 && hold->chains == snw_rigChainsJoined);
    return held;
}

// A motion of the handles that are free, as if poses were linear in it.
static void PutMotion(const snwRigFit* model, const snwRigFitScratch* s, snwRigPose* motion)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        motion[k] = (snwRigPose){.place = {s->step.moves[0][k], s->step.moves[1][k], 0}};
        motion[k].place.z = snwRigFit_Dimension(model) == 3 ? s->step.moves[2][k] : 0;
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            for (int b = 0; b < snwRigFit_Dimension(model); ++b)
                motion[k].linear.m[a][b] = s->linear[a][b][k];
    }
}

// C less the rest of the fit, C - M h, on what is given; on what is free only the rows' forces. `force` has those.
static void KeepGiven(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            if ((s->fit.freeMoves[k] >> a & 1) != 0)
                s->right.moves[a][k] = s->force.moves[a][k];
        for (int i = 0; i < s->fit.turnStart[k + 1] - s->fit.turnStart[k]; ++i)
            s->right.turns[s->all.turnStart[k] + i] = s->force.turns[s->fit.turnStart[k] + i];
    }
}

static void Negate(int count, double* numbers)
{
    for (int i = 0; i < count; ++i)
        numbers[i] = -numbers[i];
}

// What holds the flesh: in `right`, by the turns of `all`, -C.
static void FindHolding(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    snwRigSystem_Factor(model, &s->fit, pose);
    FindForces(model, s, pose);
    PutRight(model, s, &s->fit, pose);
    SolveStep(model, s, pose, &(RowsDef){0, 0});
    snwRigPlanes rest = {{s->step.moves[0], s->step.moves[1], s->step.moves[2]}, {{0}}};
    memcpy(rest.linear, s->linear, sizeof rest.linear);
    snwRigFit_Subtract(model, s->fit.kernels, &rest, &s->forces);
    ClearForce(model, s);
    for (int i = 0; i < s->rowCount; ++i)
        AddRow(model, &s->fit, s, &s->rows[i], -s->lambda[i], &s->force);
    PutRight(model, s, &s->all, pose);
    KeepGiven(model, s);
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        Negate(model->handleCount, s->right.moves[a]);
    Negate(s->all.n, s->right.turns);
}

bool snwRigFit_Complement(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, const snwRigPose* pose)
{
    snwRigFitScratch* s = scratch;
    NoteFree(model, s, hold->targets);
    snwRigFit_MakeRows(model, s, hold, pose);
    s->answers = s->rowCount > 0 || IsAnythingGiven(model, s);
    if (!s->answers)
        return false;
    double compliance = IsHeldFromOutside(model, s, hold) ? hold->compliance : 0;
    snwRigSystem_Set(model, &s->all, s->all.freeMoves, s->all.freeTurns, s_answerShare + compliance);
    FindHolding(model, s, pose);
    snwRigSystem_Factor(model, &s->all, pose);
    snwRigSystem_Reduce(model, &s->all, pose, &s->right, (double* const(*)[3])s->linear);
    memcpy(s->step.turns, s->right.turns, (size_t)s->all.n * sizeof(double));
    snwDense_Solve(&s->all.factor, s->step.turns);
    snwRigSystem_Return(model, &s->all, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
    PutMotion(model, s, s->answer);
    return true;
}
