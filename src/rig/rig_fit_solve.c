// The two small solves. See rig_fit.h for what they are.

#include "math/eigen.h"
#include "rig/rig_fit_parts.h"

#include <float.h>
#include <string.h>

static const double s_fitShare = 1e-8;     // of M's diagonal
static const double s_answerShare = 1e-12; // likewise, in the complement
static const double s_mostTurn = 0.5;      // rad
static const double s_shut = 1e-12;        // of the size, or rad: joints are closed
static const double s_nearlyShut = 1e-7;   // likewise: what is left no longer matters to the fit
static const double s_open = 1e-9;         // likewise: joints that cannot be closed
static const double s_slight = 1e-4;       // rad: turns that a step leaves open, as large as what it neglects
static const double s_wide = 0.05;         // of the size, or rad: too far to be closed at once
static const double s_worse = 4;           // times the best gap: Newton's method runs away
static const double s_helps = 0.1;         // times the gap before: old matrices are still good
static const double s_leastSoftness = 1e-3;
static const double s_largeTurn = 0.2;  // rad: a step that is not to be trusted
static const double s_smallTurn = 0.02; // rad: careful steps have come to their end
static const double s_calmTurn = 0.002; // rad: likewise, under strain: a pose that lags behind jumps when strain ends
static const double s_closing = 0.002;  // of the size: what open joints close by in a fit, at most
static const double s_pull = 1e-4;      // of the size: what springs that pull at open joints would close them by
static const double s_ajar = 2 * snw_rigGathering; // of the size: a joint that is open
static const double s_bent = 1e-4;         // rad: what is beyond its limits by more than that is not put back at once
static const double s_mostReach = 0.125;   // of what they are open
static const double s_wideSoftness = 0.01; // of a row's own mobility

enum
{
    snw_mostCareful = 6 // steps
};

// ---------------------------------------------------------------------------------------------------------------------
// What is free

// All of the handle's linear part is given.
static bool IsTurnGiven(const snwRigFit* model, int handle, uint32_t given)
{
    uint32_t bits = snwRigFit_TurnBits(model);
    return model->handles[handle].freedom == snw_rigRigid ? (given & bits) == bits : (given & bits) != 0;
}

static snwMat3 Stretched(snwMat3 turn, const double strain[6])
{
    const snwMat3 e = {
        {{strain[0], strain[5], strain[4]}, {strain[5], strain[1], strain[3]}, {strain[4], strain[3], strain[2]}}};
    return snwMat3_Add(turn, snwMat3_Mul(turn, e));
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
        if (model->handles[k].freedom == snw_rigAffine && IsTurnGiven(model, k, target->given))
            pose[k].linear = Stretched(pose[k].linear, target->strain);
    }
}

static void UseSystem(snwRigFitScratch* s, snwRigSystem* system)
{
    if (s->fit == system)
        return;
    s->fit = system;
    s->kept.count = 0;
    s->kept.version = -1, s->kept.softness = -1;
    s->rowsAlone = false;
}

static void UseLooseHandles(const snwRigFit* model, snwRigFitScratch* s)
{
    UseSystem(s, &s->loose);
    snwRigSystem_Set(model, s->fit, s->moves, s->turns, s_fitShare);
}

// Trees that are rooted for what is given. Returns how many places are given of others than roots.
static int RootTrees(const snwRigFit* model, snwRigFitScratch* s, const snwRigTarget* targets)
{
    int rows = 0;
    if (snwRigTree_Choose(model, &s->tree, targets))
    {
        snwRigTree_Plant(model, &s->tree);
        s->joined.eliminated = false;
    }
    for (int k = 0; k < model->handleCount; ++k)
    {
        bool root = s->tree.parent[k] < 0;
        s->roots[k] = root ? s->moves[k] : 0;
        for (int a = 0; a < snwRigFit_Dimension(model) && !root; ++a)
            rows += (s->moves[k] >> a & 1) == 0 ? 1 : 0;
    }
    return rows;
}

// Not where there are too many rows, nor where joints had to open because of them.
static bool UseTrees(const snwRigFit* model, snwRigFitScratch* s, const snwRigTarget* targets, double widest)
{
    int rows = RootTrees(model, s, targets);
    if (rows > snw_mostTreeRows || (rows > 0 && widest > s_ajar))
        return false;
    UseSystem(s, &s->joined);
    snwRigSystem_Set(model, s->fit, s->roots, s->turns, s_fitShare);
    return true;
}

// What is free, and in which unknowns. widest: of the size, an open joint.
static void NoteFree(const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, double widest)
{
    const snwRigTarget* targets = hold->targets;
    for (int k = 0; k < model->handleCount; ++k)
    {
        bool given = IsTurnGiven(model, k, targets[k].given);
        s->moves[k] = (unsigned char)(~targets[k].given & s->all.freeMoves[k]);
        s->turns[k] = !given && model->handles[k].freedom != snw_rigMoving;
    }
    bool trees = model->trees && hold->chains == snw_rigChainsJoined;
    if (!trees || !UseTrees(model, s, targets, widest))
        UseLooseHandles(model, s);
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

// What the fit sees of `forces`.
static const snwRigPlanes* FitForces(const snwRigFit* model, snwRigFitScratch* s)
{
    if (!snwRigFit_IsJoined(s))
        return &s->forces;
    snwRigTree_Reduce(model, &s->tree, &s->forces, &s->reduced);
    return &s->reduced;
}

// C, with linear parts in place of turns, in `forces`.
static void FindRigForces(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
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
    snwRigFit_Subtract(model, s->fit->kernels, &s->pose, &s->forces);
}

// Forces as a system sees them, in `right`.
static void PutFitRight(const snwRigFit* model, snwRigFitScratch* s, const snwRigSystem* system, const snwRigPose* pose)
{
    const snwRigPlanes* forces = system == s->fit ? FitForces(model, s) : &s->forces;
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memcpy(s->right.moves[a], forces->moves[a], (size_t)model->stride * sizeof(double));
    memset(s->right.turns, 0, (size_t)system->n * sizeof(double));
    snwRigSystem_Contract(model, system, pose, (double* const(*)[3])forces->linear, s->right.turns);
}

static void ClearRight(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memset(s->right.moves[a], 0, (size_t)model->stride * sizeof(double));
    memset(s->right.turns, 0, (size_t)model->turnCount * sizeof(double));
}

// ---------------------------------------------------------------------------------------------------------------------
// The pose

static void SolveStep(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose, const snwRigPush* push)
{
    snwRigFit_SolveTurns(model, s, pose, push);
    snwRigSystem_Return(model, s->fit, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
}

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
        largest = fmax(largest, TurnLength(model, s->fit, s->step.turns, k));
    return largest;
}

// Each handle by itself, so that a turn that means nothing does not slow down others; moves then follow.
static void HoldTurns(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        double length = TurnLength(model, s->fit, s->step.turns, k);
        for (int i = s->fit->turnStart[k]; i < s->fit->turnStart[k + 1] && length > s_mostTurn; ++i)
            s->step.turns[i] *= s_mostTurn / length;
    }
}

static void ScaleStep(const snwRigFit* model, snwRigFitScratch* s, double factor)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        for (int k = 0; k < model->handleCount; ++k)
            s->step.moves[a][k] *= factor;
    for (int i = 0; i < s->fit->n; ++i)
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

static void TakeFitStep(const snwRigFit* model, const snwRigFitScratch* s, snwRigPose* pose)
{
    const snwRigSystem* system = s->fit;
    for (int k = 0; k < model->handleCount; ++k)
    {
        double* const* moves = (double* const*)s->step.moves;
        pose[k].place.x += moves[0][k];
        pose[k].place.y += moves[1][k];
        pose[k].place.z += snwRigFit_Dimension(model) == 3 ? moves[2][k] : 0;
        if (system->turnStart[k + 1] > system->turnStart[k])
            TurnHandle(model, k, s->step.turns + system->turnStart[k], &pose[k].linear);
    }
    if (snwRigFit_IsJoined(s))
        snwRigTree_Place(model, &s->tree, pose);
}

// ---------------------------------------------------------------------------------------------------------------------
// The fit

static snwRigPush PushOfFit(const snwRigFit* model, const snwRigFitScratch* s)
{
    double gap = snwRigFit_Gap(model, s);
    if (s->strained)
        return (snwRigPush){1, 0, snw_rigSpring * model->mass};
    return gap > s_wide ? (snwRigPush){s_wide / gap, s_wideSoftness, 0} : (snwRigPush){1, 0, 0};
}

// With rows the whole step is shortened: cut one by one, handles would come apart.
static double FitStep(const snwRigFit* model, snwRigFitScratch* s, snwRigPose* pose)
{
    snwRigPush push = PushOfFit(model, s);
    snwRigFit_SolveTurns(model, s, pose, &push);
    double largest = LargestTurn(model, s);
    if (s->rowCount == 0)
        HoldTurns(model, s);
    snwRigSystem_Return(model, s->fit, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
    if (s->rowCount > 0 && largest > s_mostTurn)
        ScaleStep(model, s, s_mostTurn / largest);
    TakeFitStep(model, s, pose);
    return largest;
}

typedef struct Repairs
{
    double softness;
    bool again; // the matrices of the step before serve
} Repairs;

// One try from `pose`: the way of least mass, into s->tried. Returns the gap there; the rows are those of that pose.
static double TryRepair(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, const snwRigPose* pose, const Repairs* how)
{
    if (!how->again || !snwRigFit_CloseAgain(model, s, pose, how->softness))
    {
        ClearRight(model, s);
        SolveStep(model, s, pose, &(snwRigPush){1, how->softness, 0});
    }
    ScaleStep(model, s, fmin(1, s_mostTurn / fmax(LargestTurn(model, s), DBL_MIN)));
    memcpy(s->tried, pose, (size_t)model->handleCount * sizeof *pose);
    TakeFitStep(model, s, s->tried);
    snwRigFit_MakeRows(model, s, hold, s->tried);
    return snwRigFit_Gap(model, s);
}

// Closes rows. Newton's method, which may pass through worse places (cones are round); where it runs away,
// Levenberg's: back to the best place, and rows yield until it helps. Matrices are made anew only where the old ones
// help too little.
static void CloseRows(const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, double enough,
    snwRigPose* pose, snwRigFitReport* report)
{
    size_t bytes = (size_t)model->handleCount * sizeof *pose;
    Repairs how = {0, true};
    double before = report->gap;
    memcpy(s->now, pose, bytes);

    for (; report->gap > enough && report->repairs < snw_rigMostRepairs; ++report->repairs)
    {
        double gap = TryRepair(model, s, hold, s->now, &how);
        // Worse by far: back, and the rows yield ten times more; otherwise ten times less.
        bool runsAway = gap > s_worse * report->gap;
        memcpy(s->now, runsAway ? pose : s->tried, bytes);
        how.softness = runsAway ? fmax(10 * how.softness, s_leastSoftness) : 0.1 * how.softness;
        // Did the old matrices help enough?
        how.again = gap < s_helps * before;
        before = gap;
        if (gap < report->gap)
            report->gap = gap, memcpy(pose, s->tried, bytes);
        if (runsAway)
            snwRigFit_MakeRows(model, s, hold, pose);
    }
}

// Joints that are nearly closed: the last bit from root to tail, which costs nothing. False: that does not close them,
// because something in between is given.
static bool CloseRest(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose, snwRigFitReport* report)
{
    size_t bytes = (size_t)model->handleCount * sizeof *pose;
    memcpy(s->tried, pose, bytes);
    snwRigFit_Shut(model, hold, false, s->tried);
    for (int k = 0; k < model->handleCount && snwRigFit_IsJoined(s); ++k)
        s->tried[k].place = pose[k].place;
    if (snwRigFit_IsJoined(s))
        snwRigTree_Place(model, &s->tree, s->tried);
    snwRigFit_MakeRows(model, s, hold, s->tried);
    double gap = snwRigFit_Gap(model, s);
    bool shut = gap <= s_shut;
    if (shut)
        report->gap = gap, memcpy(pose, s->tried, bytes);
    else
        snwRigFit_MakeRows(model, s, hold, pose);
    return shut;
}

static void Repair(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose, snwRigFitReport* report)
{
    s->repairing = true;
    snwRigFit_MakeRows(model, s, hold, pose);
    report->gap = snwRigFit_Gap(model, s);
    double nearly = snwRigFit_IsJoined(s) ? s_slight : s_nearlyShut;
    CloseRows(model, s, hold, nearly, pose, report);
    bool rest = report->gap > s_shut && report->gap <= nearly;
    if (rest && !(hold->chains == snw_rigChainsJoined && CloseRest(model, s, hold, pose, report)))
        CloseRows(model, s, hold, s_shut, pose, report);
    s->repairing = false;
}

// ---------------------------------------------------------------------------------------------------------------------
// Careful steps: those of Gauss and Newton overshoot where flesh, or joints under strain, are far from the rig

// What flesh does to turns besides M, kg m^2. The second derivative of 1/2 |x - xr|^2 is M and, for each handle,
// tr(N) I - sym(N), N = sum m w (x - xr) rho^T: its largest eigenvalue, if that one resists.
static double FleshStiffness(const snwRigFit* model, const snwRigPlanes* forces, const snwRigPose* pose, int handle)
{
    int d = snwRigFit_Dimension(model);
    snwMat3 force = {{{0}}};
    for (int a = 0; a < d; ++a)
        for (int b = 0; b < d; ++b)
            force.m[a][b] = forces->linear[a][b][handle];
    snwMat3 n = snwMat3_MulTranspose(force, pose[handle].linear);
    if (d == 2)
        return fmax(0, n.m[0][0] + n.m[1][1]);
    snwEigen3 eigen = snwEigen3_Symmetric(snwMat3_Scale(snwMat3_Add(n, snwMat3_Transpose(n)), 0.5));
    return fmax(0, snwMat3_Trace(n) - eigen.values[2]);
}

static void Stiffen(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    snwRigSystem* system = s->fit;
    const snwRigPlanes* forces = FitForces(model, s);
    memset(system->stiffness, 0, (size_t)model->handleCount * sizeof *system->stiffness);
    if (s->strained)
        snwRigFit_Stiffen(model, s, snw_rigSpring * model->mass);
    for (int k = 0; k < model->handleCount; ++k)
        if (model->handles[k].freedom == snw_rigRigid)
            system->stiffness[k] += FleshStiffness(model, forces, pose, k);
    system->sound = false;
}

static void RelaxHandles(const snwRigFit* model, snwRigFitScratch* s)
{
    memset(s->fit->stiffness, 0, (size_t)model->handleCount * sizeof(double));
    s->fit->sound = false;
}

// Hardly more than in the fit before.
static double MostClosing(const snwRigHold* hold)
{
    return fmax(-s_closing, fmin(s_closing, hold->closing + snw_rigGathering));
}

// Joints that are open close slowly: all at once, they would throw the flesh; slower still, as springs, they would be
// too weak to hold their handles against the flesh.
static void SetGoals(const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold)
{
    snwRigFit_MakeRows(model, s, hold, s->last);
    double reach = fmin(s_mostReach, s_pull / fmax(snwRigFit_Gap(model, s), DBL_MIN));
    snwRigFit_SetGoals(s, (snwRigClosing){1 - reach, fmax(snw_rigGathering, MostClosing(hold))});
}

static void FitCarefully(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose, snwRigFitReport* report)
{
    double turn = INFINITY, enough = s->strained ? s_calmTurn : s_smallTurn;
    memcpy(pose, s->start, (size_t)model->handleCount * sizeof *pose);

    // Each step begins anew with rows and forces at the pose so far, and with the flesh's own stiffness on M's
    // diagonal.
    for (int i = 0; i < snw_mostCareful && turn > enough; ++i)
    {
        snwRigFit_MakeRows(model, s, hold, pose);
        if (s->strained)
            snwRigFit_TakeGoals(s);
        FindRigForces(model, s, pose);
        Stiffen(model, s, pose);
        snwRigSystem_Factor(model, s->fit, pose);
        PutFitRight(model, s, s->fit, pose);
        turn = FitStep(model, s, pose);
    }

    RelaxHandles(model, s);
    snwRigFit_MakeRows(model, s, hold, pose);
    report->gap = snwRigFit_Gap(model, s);
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

// One step, and joints shut after it. False: that cannot be.
static bool FitFreely(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose, snwRigFitReport* report)
{
    // The common small case has a solve of its own.
    if (snwRigFlat_Serves(model, s, hold))
    {
        s->rowCount = 0;
        report->largest = snwRigFlat_Step(model, s, s_mostTurn, pose);
    }
    else
    {
        snwRigSystem_Factor(model, s->fit, pose);
        FindRigForces(model, s, pose);
        PutFitRight(model, s, s->fit, pose);
        snwRigFit_MakeRows(model, s, hold, pose);
        report->largest = FitStep(model, s, pose);
    }

    // Too wide a turn is not taken (see rig_fit.h, careful steps).
    if (report->largest > s_largeTurn)
        FitCarefully(model, s, hold, pose, report);
    if (s->rowCount > 0)
        Repair(model, s, hold, pose, report);
    return report->gap <= s_open;
}

static bool HasGivenRows(const snwRigFitScratch* s)
{
    bool any = false;
    for (int i = 0; i < s->rowCount; ++i)
        any = any || s->rows[i].given;
    return any;
}

// From the last pose, with what is given.
static void StartPose(const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose)
{
    size_t bytes = (size_t)model->handleCount * sizeof *pose;
    if (snwRigFit_IsJoined(s))
    {
        snwRigTree_TakeGaps(model, &s->tree, pose);
        snwRigTree_CloseGaps(model, &s->tree, MostClosing(hold));
    }
    SetGiven(model, hold->targets, pose);
    if (snwRigFit_IsJoined(s))
        snwRigTree_Place(model, &s->tree, pose);
    memcpy(s->start, pose, bytes);
}

// A compromise. Rows are springs, and joints may open, if there is no other way to meet what is given.
static void FitStrained(
    const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, snwRigPose* pose, snwRigFitReport* report)
{
    if (snwRigFit_IsJoined(s) && HasGivenRows(s))
    {
        UseLooseHandles(model, s);
        memcpy(pose, s->last, (size_t)model->handleCount * sizeof *pose);
        StartPose(model, s, hold, pose);
    }
    SetGoals(model, s, hold);
    FitCarefully(model, s, hold, pose, report);
}

// How far what is firm is open at the last pose, rad.
static double BentBefore(const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold)
{
    if (!snwRigFit_IsJoined(s))
        return 0;
    snwRigFit_MakeRows(model, s, hold, s->last);
    return snwRigFit_Bent(model, s);
}

static double WidestOf(const snwRigFit* model, const snwRigPose* pose)
{
    return snwRigFit_WidestJoint(model, pose) / model->size;
}

snwRigFitReport snwRigFit_Solve(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, snwRigPose* pose)
{
    snwRigFitScratch* s = scratch;
    snwRigFitReport report = {0};

    // Where joints and rules were before the fit, so that what opens or closes by it can be told.
    double widest = WidestOf(model, pose);
    if (model->linkCount + model->equationCount > 0 || model->flat == NULL) // else nothing is ever strained
        memcpy(s->last, pose, (size_t)model->handleCount * sizeof *pose);
    NoteFree(model, s, hold, widest);
    double bent = BentBefore(model, s, hold);
    bool open = hold->chains == snw_rigChainsJoined && !snwRigFit_IsJoined(s) && widest > s_ajar;

    // Freely first; where that leaves joints open, or things were strained before, as a compromise.
    StartPose(model, s, hold, pose);
    s->strained = false;
    s->strained = bent > s_bent || open || !FitFreely(model, s, hold, pose, &report);
    if (s->strained)
        FitStrained(model, s, hold, pose, &report);

    // What has closed, in sizes or rad: the next fit may close hardly more than this one.
    bent = snwRigFit_IsJoined(s) ? bent - snwRigFit_Bent(model, s) : 0;
    if (snwRigFit_IsJoined(s))
        SetGiven(model, hold->targets, pose);
    if (hold->chains == snw_rigChainsRepaired)
        snwRigFit_Shut(model, hold, true, pose);
    report.closing = widest - WidestOf(model, pose);
    if (report.closing > -s_shut)
        report.closing = fmax(report.closing, bent);

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
    for (int k = 0; k < model->handleCount && snwRigHold_Leaves(hold); ++k)
        held = held || hold->targets[k].leaving != 0;
    for (int i = 0; i < model->equationCount; ++i)
        held = held || hold->rules[i].on;
    for (int k = 0; k < model->handleCount; ++k)
        held = held || ((hold->targets[k].given & snwRigFit_TurnBits(model)) != 0 && s->turns[k] != 0);
    for (int i = 0; i < model->linkCount; ++i)
        held = held || (model->links[i].parent < 0 && hold->chains == snw_rigChainsJoined);
    return held;
}

static void ClearForce(const snwRigFit* model, const snwRigFitScratch* s)
{
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        memset(s->force.moves[a], 0, (size_t)model->stride * sizeof(double));
    memset(s->force.turns, 0, (size_t)model->turnCount * sizeof(double));
}

// How what is free moves by the forces in `right`, rows being kept as far open as they are.
static void YieldTo(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    SolveStep(model, s, pose, &(snwRigPush){0, 0, s->strained ? snw_rigSpring * model->mass : 0});
    if (snwRigFit_IsJoined(s))
        snwRigTree_Expand(model, &s->tree, (double* const(*)[3])s->linear, (double* const*)s->step.moves);
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

// C - M h, of which what is free in trees has only the rows' forces, but for rounding and the share of M's diagonal.
// That is put right where it is: turns and moves of roots are unknowns of both.
static void KeepJoints(const snwRigFit* model, snwRigFitScratch* s, const snwRigPose* pose)
{
    const snwRigPlanes* left = FitForces(model, s);
    double* turns = s->step.turns;
    memset(turns, 0, (size_t)s->fit->n * sizeof *turns);
    snwRigSystem_Contract(model, s->fit, pose, (double* const(*)[3])left->linear, turns);
    for (int k = 0; k < model->handleCount; ++k)
    {
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            if ((s->fit->freeMoves[k] >> a & 1) != 0)
                s->right.moves[a][k] += s->force.moves[a][k] - left->moves[a][k];
        for (int i = s->fit->turnStart[k]; i < s->fit->turnStart[k + 1]; ++i)
            s->right.turns[s->all.turnStart[k] + i - s->fit->turnStart[k]] += s->force.turns[i] - turns[i];
    }
}

// C less the rest of the fit, C - M h, on what is given; on what is free only the rows' forces. `force` has those.
static void KeepGiven(const snwRigFit* model, snwRigFitScratch* s)
{
    for (int k = 0; k < model->handleCount; ++k)
    {
        for (int a = 0; a < snwRigFit_Dimension(model); ++a)
            if ((s->fit->freeMoves[k] >> a & 1) != 0)
                s->right.moves[a][k] = s->force.moves[a][k];
        for (int i = 0; i < s->fit->turnStart[k + 1] - s->fit->turnStart[k]; ++i)
            s->right.turns[s->all.turnStart[k] + i] = s->force.turns[s->fit->turnStart[k] + i];
    }
}

static void Negate(int count, double* numbers)
{
    for (int i = 0; i < count; ++i)
        numbers[i] = -numbers[i];
}

void snwRigFit_Remember(const snwRigFit* model, snwRigFitScratch* scratch, const snwRigPose* pose)
{
    FindRigForces(model, scratch, pose);
    CopyPlanes(model, &scratch->forces, &scratch->before);
}

static void LetBe(const snwRigFit* model, const snwRigFitScratch* s, double kept)
{
    for (int a = 0; a < snwRigFit_Dimension(model) && kept > 0; ++a)
        for (int k = 0; k < model->handleCount; ++k)
        {
            s->forces.moves[a][k] -= kept * s->before.moves[a][k];
            for (int b = 0; b < snwRigFit_Dimension(model); ++b)
                s->forces.linear[a][b][k] -= kept * s->before.linear[a][b][k];
        }
}

// What holds the flesh: in `right`, by the turns of `all`, -C.
static void FindHolding(const snwRigFit* model, snwRigFitScratch* s, double kept, const snwRigPose* pose)
{
    // h: one more step with the same things given. What it leaves of the forces, C - M h, is what holds.
    snwRigSystem_Factor(model, s->fit, pose);
    FindRigForces(model, s, pose);
    LetBe(model, s, kept);
    PutFitRight(model, s, s->fit, pose);
    YieldTo(model, s, pose);
    snwRigPlanes rest = {{s->step.moves[0], s->step.moves[1], s->step.moves[2]}, {{0}}};
    memcpy(rest.linear, s->linear, sizeof rest.linear);
    snwRigFit_Subtract(model, s->fit->kernels, &rest, &s->forces);

    // On free degrees of freedom only the forces of the rows count.
    ClearForce(model, s);
    for (int i = 0; i < s->kept.count; ++i)
        snwRigSystem_AddRow(model, s->fit, s->kept.terms, &s->kept.rows[i], -s->kept.lambda[i], &s->force);
    PutFitRight(model, s, &s->all, pose);
    if (snwRigFit_IsJoined(s))
        KeepJoints(model, s, pose);
    else
        KeepGiven(model, s);

    // The right side is -C'.
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        Negate(model->handleCount, s->right.moves[a]);
    Negate(s->all.n, s->right.turns);
}

static void AnswerAny(const snwRigFit* model, snwRigFitScratch* s, double kept, const snwRigPose* pose)
{
    FindHolding(model, s, kept, pose);
    snwRigSystem_Factor(model, &s->all, pose);
    snwRigSystem_Reduce(model, &s->all, pose, &s->right, (double* const(*)[3])s->linear);
    memcpy(s->step.turns, s->right.turns, (size_t)s->all.n * sizeof(double));
    snwDense_Solve(&s->all.factor, s->step.turns);
    snwRigSystem_Return(model, &s->all, pose, s->right.moves, &s->step, (double* const(*)[3])s->linear);
    PutMotion(model, s, s->answer);
}

bool snwRigFit_Complement(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, const snwRigPose* pose)
{
    snwRigFitScratch* s = scratch;
    NoteFree(model, s, hold, WidestOf(model, pose));
    bool flat = snwRigFlat_Serves(model, s, hold);
    // No joints, rules or turns given apart from places.
    if (flat)
        s->rowCount = 0;
    else
        snwRigFit_MakeRows(model, s, hold, pose);

    // With nothing held dx is exactly 0.
    s->answers = s->rowCount > 0 || snwRigFit_IsJoined(s) || IsAnythingGiven(model, s);
    if (!s->answers)
        return false;

    // Compliance counts only where something outside holds the rig, else it would cost momentum.
    bool held = IsHeldFromOutside(model, s, hold);
    double share = s_answerShare + (held ? hold->compliance : 0);
    snwRigSystem_Set(model, &s->all, s->all.freeMoves, s->all.freeTurns, share);
    if (flat)
        snwRigFlat_Answer(model, s, pose);
    else
        AnswerAny(model, s, held ? hold->kept : 0, pose);

    return true;
}

snwVec3 snwRigFit_Push(const snwRigFit* model, const snwRigFitScratch* scratch, int handle)
{
    double push[3] = {0};
    for (int a = 0; a < snwRigFit_Dimension(model); ++a)
        for (int k = 0; k < model->handleCount; ++k)
            if (k == handle || (scratch->moves[k] >> a & 1) != 0)
                push[a] += scratch->right.moves[a][k];
    return (snwVec3){push[0], push[1], push[2]};
}
