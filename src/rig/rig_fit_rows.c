// Rows: what the pose must obey besides given degrees of freedom. Rules, given parts of a 3D rotation, joints and their
// limits, all linearised at a pose, and how far each is from being met there.

#include "rig/joint_angle.h"
#include "rig/joint_rows.h"
#include "rig/rig_fit_parts.h"
#include "rig/skeleton.h"

#include <assert.h>
#include <string.h>

static const double s_near = 0.6; // rad: no two handles turn farther towards each other in most steps

// ---------------------------------------------------------------------------------------------------------------------
// Single rows

typedef struct Maker
{
    const snwRigFit* model;
    snwRigFitScratch* scratch;
    const snwRigPose* pose;
} Maker;

static snwRigRow* AddRigRow(const Maker* m, bool length, double error)
{
    snwRigFitScratch* s = m->scratch;
    assert(s->rowCount < m->model->mostRows);
    snwRigRow* row = &s->rows[s->rowCount++];
    *row = (snwRigRow){.id = s->rowId++, .length = length, .error = error, .firstTerm = s->termCount};
    return row;
}

// A row about how a joint turns.
static snwRigRow* AddJointRow(const Maker* m, bool length, bool atLeast, double error)
{
    snwRigRow* row = AddRigRow(m, length, error);
    row->atLeast = atLeast;
    row->firm = snwRigFit_IsJoined(m->scratch);
    return row;
}

static snwRigTerm* AddTerm(const Maker* m, snwRigRow* row, int handle)
{
    snwRigFitScratch* s = m->scratch;
    assert(s->termCount < m->model->mostTerms);
    snwRigTerm* term = &s->terms[s->termCount++];
    *term = (snwRigTerm){.handle = handle};
    row->termCount++;
    return term;
}

static snwQuat RotationOf(const snwRigPose* pose)
{
    return snwQuat_FromMat3(pose->linear);
}

static double AngleOf(const snwRigPose* pose)
{
    return atan2(pose->linear.m[1][0], pose->linear.m[0][0]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rules and parts of rotations

// What turning a handle moves coordinate a of a point by, times sign: A arm.
static void AddTurnTerms(const Maker* m, snwRigTerm* term, snwVec3 arm, int a, double sign)
{
    double arms[3] = {arm.x, arm.y, arm.z}, turn[3];
    for (int c = 0; c < snwRigFit_Turns(m->model, term->handle); ++c)
    {
        snwRigFit_TurnRow(m->model, term->handle, &m->pose[term->handle].linear, a, c, turn);
        term->turn[c] = sign * (turn[0] * arms[0] + turn[1] * arms[1] + turn[2] * arms[2]);
    }
}

// Coordinate a of a handle's place, times factor: its own, or all that it follows from.
static void AddPlace(const Maker* m, snwRigRow* row, int handle, int a, double factor)
{
    const snwRigTree* tree = &m->scratch->tree;
    if (!snwRigFit_IsJoined(m->scratch))
    {
        AddTerm(m, row, handle)->move[a] = factor;
        return;
    }
    for (int k = handle, below = -1; k >= 0; below = k, k = tree->parent[k])
    {
        snwRigTerm* term = AddTerm(m, row, k);
        snwVec3 arm = snwRigTree_Arm(m->model, tree, k, below);
        AddTurnTerms(m, term, arm, a, factor);
        term->arm = snwVec3_Length(arm);
        term->move[a] = tree->parent[k] < 0 ? factor : 0;
    }
}

static double PlaceOnAxis(const snwRigPose* pose, int a)
{
    return a == 0 ? pose->place.x : a == 1 ? pose->place.y : pose->place.z;
}

// A degree of freedom's value times the coefficient, and its derivative.
static double AddFreedom(const Maker* m, snwRigRow* row, const snwLinearTerm* of)
{
    const snwRigPose* pose = &m->pose[of->handle];
    for (int a = 0; a < 3; ++a)
    {
        if (of->dof == (uint32_t)snw_dofX << a)
        {
            AddPlace(m, row, of->handle, a, of->coefficient);
            return of->coefficient * PlaceOnAxis(pose, a);
        }
    }

    // Not a place, so it is an angle: the only one of a flat rig, or a part of the rotation vector.
    snwRigTerm* term = AddTerm(m, row, of->handle);
    if (snwRigFit_Dimension(m->model) == 2)
    {
        term->turn[0] = of->coefficient;
        return of->coefficient * AngleOf(pose);
    }

    int part = of->dof == snw_dofRotationX ? 0 : of->dof == snw_dofRotationY ? 1 : 2;
    snwJointAngle angle = snwJointAngle_Part(RotationOf(pose), part);
    term->turn[0] = of->coefficient * angle.gradient.x;
    term->turn[1] = of->coefficient * angle.gradient.y;
    term->turn[2] = of->coefficient * angle.gradient.z;

    return of->coefficient * angle.value;
}

static double FreedomOf(const snwRigFit* model, const snwRigPose* pose, uint32_t dof)
{
    if (dof <= snw_dofZ)
        return dof == snw_dofX ? pose->place.x : dof == snw_dofY ? pose->place.y : pose->place.z;
    if (snwRigFit_Dimension(model) == 2)
        return AngleOf(pose);
    int part = dof == snw_dofRotationX ? 0 : dof == snw_dofRotationY ? 1 : 2;
    return snwJointAngle_Part(RotationOf(pose), part).value;
}

double snwRigFit_RuleError(const snwRigFit* model, int rule, double value, const snwRigPose* pose)
{
    const snwRigEquation* equation = &model->equations[rule];
    double sum = -value;
    for (int i = 0; i < equation->termCount; ++i)
    {
        const snwLinearTerm* term = &model->terms[equation->firstTerm + i];
        sum += term->coefficient * FreedomOf(model, &pose[term->handle], term->dof);
    }
    return equation->period > 0 ? remainder(sum, equation->period) : sum;
}

static void AddRule(const Maker* m, const snwRigEquation* equation, double value)
{
    snwRigRow* row = AddRigRow(m, false, 0);
    double sum = -value;
    for (int i = 0; i < equation->termCount; ++i)
    {
        const snwLinearTerm* term = &m->model->terms[equation->firstTerm + i];
        row->length = row->length || term->dof <= snw_dofZ;
        sum += AddFreedom(m, row, term);
    }
    row->error = equation->period > 0 ? remainder(sum, equation->period) : sum;
}

// Some parts of a 3D rotation, not all of them: those are no rows.
static void AddTurnParts(const Maker* m, int handle, const snwRigTarget* target)
{
    uint32_t bits = target->given & (snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ);
    bool all = bits == (snw_dofRotationX | snw_dofRotationY | snw_dofRotationZ);
    if (snwRigFit_Dimension(m->model) == 2 || m->model->handles[handle].freedom != snw_rigRigid || bits == 0 || all)
        return;
    snwVec3 wanted = snwQuat_ToRotationVector(snwQuat_Normalize(target->rotation));
    double parts[3] = {wanted.x, wanted.y, wanted.z};
    for (int i = 0; i < 3; ++i)
    {
        if ((bits & (uint32_t)snw_dofRotationX << i) == 0)
            continue;
        snwRigRow* row = AddRigRow(m, false, 0);
        row->error = AddFreedom(m, row, &(snwLinearTerm){handle, (uint32_t)snw_dofRotationX << i, 1}) - parts[i];
    }
}

// From where a coordinate of a place shall be.
static snwRigRow* AddPlaceRow(const Maker* m, int handle, int a, const snwRigTarget* target)
{
    const snwRigPose wanted = {.place = target->place};
    snwRigRow* row = AddRigRow(m, true, PlaceOnAxis(&m->pose[handle], a) - PlaceOnAxis(&wanted, a));
    AddPlace(m, row, handle, a, 1);
    return row;
}

// Places that are given, but follow from others.
static void AddGivenPlaces(const Maker* m, int handle, const snwRigTarget* target)
{
    bool follows = snwRigFit_IsJoined(m->scratch) && m->scratch->tree.parent[handle] >= 0;
    for (int a = 0; a < snwRigFit_Dimension(m->model) && follows; ++a)
        if ((target->given & (uint32_t)snw_dofX << a) != 0)
            AddPlaceRow(m, handle, a, target)->given = true;
}

// One part of the turn from where it would go on to.
static snwRigRow* AddLeavingTurn(const Maker* m, int handle, int part, snwQuat wanted)
{
    snwQuat away = snwQuat_Mul(RotationOf(&m->pose[handle]), snwQuat_Conjugate(snwQuat_Normalize(wanted)));
    snwJointAngle angle = snwJointAngle_Part(away, part);
    snwRigRow* row = AddRigRow(m, false, angle.value);
    double* turn = AddTerm(m, row, handle)->turn;
    if (snwRigFit_Dimension(m->model) == 2)
        turn[0] = 1;
    else
        turn[0] = angle.gradient.x, turn[1] = angle.gradient.y, turn[2] = angle.gradient.z;
    return row;
}

static bool IsRoomToLeave(const snwRigFitScratch* s, int first)
{
    return s->rowCount - first < snw_mostLeavingRows;
}

// Degrees of freedom that have just been let go of. Linear parts of affine handles go at once.
static void AddLeaving(const Maker* m, int handle, const snwRigTarget* target, int first)
{
    bool rigid = m->model->handles[handle].freedom == snw_rigRigid;
    uint32_t leaving = target->leaving & ~target->given, turns = snwRigFit_TurnBits(m->model);
    for (int a = 0; a < snwRigFit_Dimension(m->model) && IsRoomToLeave(m->scratch, first); ++a)
        if ((leaving & (uint32_t)snw_dofX << a) != 0)
            AddPlaceRow(m, handle, a, target)->leaving = true;
    for (int i = 0; i < 3 && rigid && (target->given & turns) == 0 && IsRoomToLeave(m->scratch, first); ++i)
        if ((leaving & turns & (uint32_t)snw_dofRotationX << i) != 0)
            AddLeavingTurn(m, handle, i, target->rotation)->leaving = true;
}

// After all others, whose ids stay what they are without them. With very many, the last ones go at once.
static void AddAllLeaving(const Maker* m, const snwRigHold* hold)
{
    int first = m->scratch->rowCount;
    for (int k = 0; k < m->model->handleCount; ++k)
        if (hold->targets[k].leaving != 0)
            AddLeaving(m, k, &hold->targets[k], first);
    for (int i = first; i < m->scratch->rowCount; ++i)
        m->scratch->rows[i].softness = hold->leaving / (1 - hold->leaving);
}

// ---------------------------------------------------------------------------------------------------------------------
// Joints

static snwVec3 PointOnHandle(const Maker* m, int handle, snwVec3 point)
{
    if (handle < 0)
        return point;
    const snwRigPose* pose = &m->pose[handle];
    snwVec3 arm = snwVec3_Sub(point, m->model->handles[handle].origin);
    return snwVec3_Add(snwMat3_MulVec(pose->linear, arm), pose->place);
}

// Coordinate a of a handle's point, times sign.
static void AddPointTerms(const Maker* m, snwRigRow* row, int handle, snwVec3 point, int a, double sign)
{
    if (handle < 0)
        return;
    snwRigTerm* term = AddTerm(m, row, handle);
    snwVec3 arm = snwVec3_Sub(point, m->model->handles[handle].origin);
    term->move[a] = sign;
    term->arm = snwVec3_Length(arm);
    AddTurnTerms(m, term, arm, a, sign);
}

static void AddMeeting(const Maker* m, const snwRigLink* link)
{
    if (snwRigFit_IsJoined(m->scratch))
        return;
    snwVec3 gap = snwVec3_Sub(PointOnHandle(m, link->child, link->joint), PointOnHandle(m, link->parent, link->joint));
    double gaps[3] = {gap.x, gap.y, gap.z};
    for (int a = 0; a < snwRigFit_Dimension(m->model); ++a)
    {
        snwRigRow* row = AddRigRow(m, true, gaps[a]);
        AddPointTerms(m, row, link->child, link->joint, a, 1);
        AddPointTerms(m, row, link->parent, link->joint, a, -1);
    }
}

static void AddFlatAngle(const Maker* m, const snwRigLink* link, bool atLeast, double error, double sign)
{
    if (atLeast && error > s_near)
    {
        m->scratch->rowId++;
        return;
    }
    snwRigRow* row = AddJointRow(m, false, atLeast, error);
    AddTerm(m, row, link->child)->turn[0] = sign;
    if (link->parent >= 0)
        AddTerm(m, row, link->parent)->turn[0] = -sign;
}

static double FlatSign(const snwRigLink* link)
{
    return link->limits.axis.z < 0 ? -1 : 1;
}

// The child's angle, as its parent sees it, about the joint's axis.
static double FlatAngle(const snwRigLink* link, const snwRigPose* pose)
{
    double angle = AngleOf(&pose[link->child]) - (link->parent >= 0 ? AngleOf(&pose[link->parent]) : 0);
    return FlatSign(link) * remainder(angle, 2 * SNW_PI);
}

static void AddFlatLimits(const Maker* m, const snwRigLink* link)
{
    double sign = FlatSign(link), angle = FlatAngle(link, m->pose);
    if (link->limits.type == snw_jointFixed)
        AddFlatAngle(m, link, false, angle, sign);
    else if (link->limits.lower <= link->limits.upper)
    {
        angle = snwJointAngle_InRange(&link->limits, angle);
        AddFlatAngle(m, link, true, angle - link->limits.lower, sign);
        AddFlatAngle(m, link, true, link->limits.upper - angle, -sign);
    }
}

static snwJointRowsDef RowsOfLink(const snwRigFit* model, const snwRigLink* link, const snwRigPose* pose, bool shut)
{
    snwJointRowsDef def = {.joint = &link->limits, .h = 1, .shut = shut};
    int handles[2] = {link->child, link->parent};
    for (int i = 0; i < 2 && handles[i] >= 0; ++i)
    {
        def.restCentres[i] = model->handles[handles[i]].origin;
        def.poses[i] = (snwBonePose){RotationOf(&pose[handles[i]]), pose[handles[i]].place};
        def.starts[i] = def.poses[i];
    }
    return def;
}

static void CopyLinkRow(const Maker* m, const snwRigLink* link, const snwJointRow* from, bool length)
{
    snwRigRow* row = AddJointRow(m, length, from->kind == snw_rowAtLeast, from->error);
    int handles[2] = {link->child, link->parent};
    for (int i = 0; i < 2 && handles[i] >= 0; ++i)
    {
        snwRigTerm* term = AddTerm(m, row, handles[i]);
        memcpy(term->turn, from->jacobian[i], 3 * sizeof(double));
        memcpy(term->move, from->jacobian[i] + 3, 3 * sizeof(double));
    }
}

// A point's rows are those of the world's axes: each has one coordinate, and, unlike those of the parent's axes, they
// stay what they are when a joint opens.
static void AddSolidJoint(const Maker* m, const snwRigLink* link)
{
    snwJointRow rows[snw_maxJointRows];
    bool slides = snwJointType_Slides(link->limits.type), meets = snwRigLink_IsMeeting(link);
    snwJointRowsDef def = RowsOfLink(m->model, link, m->pose, meets);
    int count = snwJointRows_Make(&def, rows), lengths = slides ? 2 : 0;
    if (meets)
        AddMeeting(m, link);
    for (int i = 0; i < count; ++i)
    {
        bool limit = rows[i].kind == snw_rowAtLeast;
        bool length = limit ? slides : i < lengths;
        if (!limit || rows[i].error < (slides ? m->model->size : s_near))
            CopyLinkRow(m, link, &rows[i], length);
        else
            m->scratch->rowId++;
    }
}

// Whether the rows are those of joints alone, whose points are shut: then they depend on nothing but linear parts.
static bool AreTurnsAlone(const snwRigFit* model, const snwRigFitScratch* s, const snwRigHold* hold)
{
    bool alone = snwRigFit_IsJoined(s) && (s->repairing || !snwRigHold_Leaves(hold));
    uint32_t turns = snwRigFit_TurnBits(model), places = snw_dofX | snw_dofY | snw_dofZ;
    for (int i = 0; i < model->equationCount; ++i)
        alone = alone && !hold->rules[i].on;
    for (int k = 0; k < model->handleCount; ++k)
    {
        uint32_t given = hold->targets[k].given;
        bool parts = (given & turns) != 0 && (given & turns) != turns;
        alone = alone && !parts && ((given & places) == 0 || s->tree.parent[k] < 0);
    }
    return alone;
}

// Whether the rows that are there are such rows, of the same linear parts; notes of which ones the next are.
static bool AreMade(const snwRigFit* model, snwRigFitScratch* s, const snwRigHold* hold, const snwRigPose* pose)
{
    bool alone = AreTurnsAlone(model, s, hold), made = alone && s->rowsAlone;
    for (int k = 0; k < model->handleCount && made; ++k)
        made = snwRigFit_IsSameLinear(&s->rowsOf[k], &pose[k].linear);
    for (int k = 0; k < model->handleCount && alone && !made; ++k)
        s->rowsOf[k] = pose[k].linear;
    s->rowsAlone = alone;
    return made;
}

void snwRigFit_MakeRows(
    const snwRigFit* model, snwRigFitScratch* scratch, const snwRigHold* hold, const snwRigPose* pose)
{
    Maker m = {model, scratch, pose};
    if (AreMade(model, scratch, hold, pose))
        return;
    scratch->rowCount = scratch->termCount = scratch->rowId = 0;

    // Rules that are switched on, then what is given but is no unknown of its own.
    for (int i = 0; i < model->equationCount; ++i)
        if (hold->rules[i].on)
            AddRule(&m, &model->equations[i], hold->rules[i].value);
    for (int k = 0; k < model->handleCount; ++k)
    {
        AddTurnParts(&m, k, &hold->targets[k]);
        AddGivenPlaces(&m, k, &hold->targets[k]);
    }

    // Chains that are joined: points that meet, and what joints do not let turn.
    for (int i = 0; i < model->linkCount && hold->chains == snw_rigChainsJoined; ++i)
    {
        const snwRigLink* link = &model->links[i];
        if (snwRigFit_Dimension(model) == 3 && link->limited)
            AddSolidJoint(&m, link);
        else
            AddMeeting(&m, link);
        if (snwRigFit_Dimension(model) == 2 && link->limited)
            AddFlatLimits(&m, link);
    }

    // Degrees of freedom that are being let go of.
    if (snwRigHold_Leaves(hold) && !scratch->repairing)
        AddAllLeaving(&m, hold);
}

// Something free moves it.
static bool IsLive(const snwRigFitScratch* s, const snwRigRow* row)
{
    bool live = false;
    for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
    {
        const snwRigTerm* term = &s->terms[t];
        for (int a = 0; a < 3; ++a)
            live = live || (term->move[a] != 0 && (s->moves[term->handle] >> a & 1) != 0);
        for (int i = 0; i < snw_mostTurns && s->turns[term->handle] != 0; ++i)
            live = live || term->turn[i] != 0;
    }
    return live;
}

static double OpenBy(const snwRigRow* row)
{
    return row->atLeast ? fmax(0, -row->error) : fabs(row->error);
}

static double WorstOf(const snwRigFit* model, const snwRigFitScratch* scratch, bool firm)
{
    double worst = 0;
    for (int i = 0; i < scratch->rowCount; ++i)
    {
        const snwRigRow* row = &scratch->rows[i];
        if ((firm && !row->firm) || row->leaving || !IsLive(scratch, row))
            continue;
        worst = fmax(worst, row->length ? OpenBy(row) / model->size : OpenBy(row));
    }
    return worst;
}

double snwRigFit_Gap(const snwRigFit* model, const snwRigFitScratch* scratch)
{
    return WorstOf(model, scratch, false);
}

double snwRigFit_Bent(const snwRigFit* model, const snwRigFitScratch* scratch)
{
    return WorstOf(model, scratch, true);
}

// ---------------------------------------------------------------------------------------------------------------------
// Under strain

static double JointGap(const Maker* m, const snwRigLink* link)
{
    snwVec3 gap = snwVec3_Sub(PointOnHandle(m, link->child, link->joint), PointOnHandle(m, link->parent, link->joint));
    gap.z = snwRigFit_Dimension(m->model) == 3 ? gap.z : 0;
    return snwRigLink_IsMeeting(link) ? snwVec3_Length(gap) : 0;
}

double snwRigFit_WidestJoint(const snwRigFit* model, const snwRigPose* pose)
{
    Maker m = {.model = model, .pose = pose};
    double widest = 0;
    for (int i = 0; i < model->linkCount; ++i)
        widest = fmax(widest, JointGap(&m, &model->links[i]));
    return widest;
}

// The curvature of a pull about a handle's origin is |pull| |arm| at most; that of an angle, about 1.
void snwRigFit_Stiffen(const snwRigFit* model, snwRigFitScratch* scratch, double spring)
{
    for (int i = 0; i < scratch->rowCount; ++i)
    {
        const snwRigRow* row = &scratch->rows[i];
        double pull = row->leaving ? 0 : spring * OpenBy(row);
        for (int t = row->firstTerm; t < row->firstTerm + row->termCount; ++t)
        {
            const snwRigTerm* term = &scratch->terms[t];
            scratch->fit->stiffness[term->handle] += pull * (row->length ? term->arm : model->size * model->size);
        }
    }
}

void snwRigFit_SetGoals(snwRigFitScratch* scratch, snwRigClosing closing)
{
    memset(scratch->goals, 0, (size_t)scratch->rowId * sizeof *scratch->goals);
    for (int i = 0; i < scratch->rowCount; ++i)
    {
        const snwRigRow* row = &scratch->rows[i];
        double open = row->atLeast ? fmin(0, row->error) : row->error, *goal = &scratch->goals[row->id];
        *goal = closing.share * open;
        if (row->firm)
            *goal = open - copysign(snwRigTree_Closes(fabs(open), closing.most), open);
        else if (row->given || row->leaving)
            *goal = 0;
    }
}

void snwRigFit_TakeGoals(snwRigFitScratch* scratch)
{
    scratch->rowsAlone = false;
    for (int i = 0; i < scratch->rowCount; ++i)
        scratch->rows[i].error -= scratch->goals[scratch->rows[i].id];
}

// ---------------------------------------------------------------------------------------------------------------------
// From root to tail

static double ClampAngle(const snwJointDef* joint, double angle)
{
    if (joint->lower > joint->upper)
        return angle;
    angle = snwJointAngle_InRange(joint, angle);
    return fmin(fmax(angle, joint->lower), joint->upper);
}

// What is left about the axis, within the range.
static snwQuat ClampTwist(const snwJointDef* joint, snwQuat turn)
{
    return snwQuat_FromAxisAngle(joint->axis, ClampAngle(joint, snwJointAngle_Twist(turn, joint->axis).value));
}

// The part of a vector along an axis brought into a range, if there is one.
static snwVec3 ClampAlong(double lower, double upper, snwVec3 axis, snwVec3 v)
{
    double along = snwVec3_Dot(axis, v);
    return lower >= upper ? v : snwVec3_MulAdd(v, fmax(lower, fmin(along, upper)) - along, axis);
}

// The nearest turn that the joint allows, part by part.
static snwQuat ClampTurn(const snwJointDef* joint, snwQuat turn)
{
    switch (joint->type)
    {
        case snw_jointBall:
        {
            // The swing within its cone and its two tilts, then the twist about the axis.
            snwVec3 tilted = snwQuat_Rotate(turn, joint->axis);
            snwQuat swing = snwQuat_Between(joint->axis, tilted);
            snwVec3 way = snwQuat_ToRotationVector(swing), tilt = way;
            double angle = snwVec3_Length(way);
            if (angle > joint->cone)
                way = snwVec3_Scale(way, joint->cone / angle);
            way = ClampAlong(joint->lower2, joint->upper2, joint->axis2, way);
            way = ClampAlong(joint->lower3, joint->upper3, snwVec3_Cross(joint->axis, joint->axis2), way);
            if (snwVec3_Distance(way, tilt) > 0)
                swing = snwQuat_FromRotationVector(way);
            return snwQuat_Mul(swing, ClampTwist(joint, turn));
        }
        case snw_jointHinge:
            return ClampTwist(joint, turn);
        case snw_jointCylindrical: // its range is a length
            return snwQuat_FromAxisAngle(joint->axis, snwJointAngle_Twist(turn, joint->axis).value);
        case snw_jointUniversal:
        {
            snwUniversalAngles angles = snwJointAngle_Universal(turn, joint->axis, joint->axis2);
            // Without a range of its own, the second axis has that of the first.
            snwJointDef second = *joint;
            if (joint->lower2 < joint->upper2)
                second.lower = joint->lower2, second.upper = joint->upper2;
            return snwQuat_Mul(snwQuat_FromAxisAngle(joint->axis, ClampAngle(joint, angles.first.value)),
                snwQuat_FromAxisAngle(joint->axis2, ClampAngle(&second, angles.second.value)));
        }
        case snw_jointPrismatic:
        case snw_jointFixed:
            return snwQuat_Identity();
        case snw_jointFree:
            break;
    }

    return turn;
}

static void ClampLink(const snwRigFit* model, const snwRigLink* link, snwRigPose* pose)
{
    snwMat3 frame = link->parent >= 0 ? pose[link->parent].linear : snwMat3_Identity();
    snwQuat turn;
    if (snwRigFit_Dimension(model) == 2)
    {
        bool fixed = link->limits.type == snw_jointFixed;
        double angle = fixed ? 0 : ClampAngle(&link->limits, FlatAngle(link, pose));
        turn = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, FlatSign(link) * angle);
    }
    else
        turn = ClampTurn(&link->limits, snwQuat_FromMat3(snwMat3_TransposeMul(frame, pose[link->child].linear)));
    pose[link->child].linear = snwMat3_Mul(frame, snwQuat_ToMat3(turn));
}

void snwRigFit_Shut(const snwRigFit* model, const snwRigHold* hold, bool all, snwRigPose* pose)
{
    uint32_t turns = snwRigFit_TurnBits(model);

    // From root to tail: parents are in place when their children follow.
    for (int i = 0; i < model->linkCount; ++i)
    {
        const snwRigLink* link = &model->links[i];
        if (!snwRigLink_IsMeeting(link))
            continue;
        uint32_t given = all ? 0 : hold->targets[link->child].given;
        bool rigid = model->handles[link->child].freedom == snw_rigRigid;

        // Only rigid children whose turn is not given are turned back into their range.
        if (link->limited && rigid && (given & turns) == 0)
            ClampLink(model, link, pose);
        Maker m = {.model = model, .pose = pose};

        // Then the child is moved so that the joint is shut, but for coordinates that are given.
        snwVec3 gap = snwVec3_Sub(
            PointOnHandle(&m, link->child, link->joint), PointOnHandle(&m, link->parent, link->joint));
        snwVec3* place = &pose[link->child].place;
        place->x -= (given & snw_dofX) == 0 ? gap.x : 0;
        place->y -= (given & snw_dofY) == 0 ? gap.y : 0;
        place->z -= (given & snw_dofZ) == 0 && snwRigFit_Dimension(model) == 3 ? gap.z : 0;
    }
}
