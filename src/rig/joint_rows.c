// Why these rows:
//   - Lengths are measured along the parent's axes, to the child's point. So one formula serves slides and points, and
//     the world's axes are the case of a parent that is the world.
//   - Locked angles are parts of a rotation vector (of the whole turn, or of the shortest turn that tilts the hinge's
//     axis), not products of axes p . q, whose gradient is gone at a right angle. At the joint's proper place both are
//     the same row, (p x q)^T (w_child - w_parent).
//   - Springs of three angles use the rotation vector e from the target with the plain axes as Jacobian: the
//     gradient of |e|^2 / 2 is e itself, whatever the angle. So the torque is that of the energy exactly, and damping,
//     whose vector is another one, can share the rows.

#include "rig/joint_rows.h"

#include "rig/joint_angle.h"
#include "rig/skeleton.h"

#include <assert.h>

// Where the bones are to each other.
typedef struct Relation
{
    snwQuat frame;   // of the parent
    snwQuat turn;    // of the child as seen from the parent
    snwVec3 arms[2]; // m, from each bone's centre to the child's point
    snwVec3 gap;     // m, from the parent's point to the child's
} Relation;

typedef struct Maker
{
    const snwJointRowsDef* def;
    const snwJointDef* joint;
    Relation now, start;
    snwJointRow* rows;
    int count;
} Maker;

static snwVec3 ArmOf(const snwJointRowsDef* def, const snwBonePose* pose, int bone)
{
    return snwQuat_Rotate(pose->rotation, snwVec3_Sub(def->joint->position, def->restCentres[bone]));
}

static Relation Relate(const snwJointRowsDef* def, const snwBonePose poses[2])
{
    bool world = def->joint->parentBone < 0;
    snwQuat frame = world ? snwQuat_Identity() : poses[1].rotation;
    Relation r = {.frame = frame, .turn = snwQuat_Mul(snwQuat_Conjugate(frame), poses[0].rotation)};
    if (def->shut)
        return r;
    snwVec3 point = world ? def->joint->position : snwVec3_Add(poses[1].centre, ArmOf(def, &poses[1], 1));
    r.arms[0] = ArmOf(def, &poses[0], 0);
    snwVec3 childPoint = snwVec3_Add(poses[0].centre, r.arms[0]);
    r.arms[1] = world ? childPoint : snwVec3_Sub(childPoint, poses[1].centre);
    r.gap = snwVec3_Sub(childPoint, point);
    return r;
}

// ---------------------------------------------------------------------------------------------------------------------
// Single rows

static void PutScaled(double out[3], snwVec3 v, double scale)
{
    out[0] = scale * v.x, out[1] = scale * v.y, out[2] = scale * v.z;
}

static snwJointRow* NewJointRow(Maker* m, snwRowKind kind, double error)
{
    assert(m->count < snw_maxJointRows);
    snwJointRow* row = &m->rows[m->count++];
    *row = (snwJointRow){
        .kind = kind, .bones = {m->joint->bone, m->joint->parentBone}, .error = error, .target = -error};
    return row;
}

// d(angle) = gradient . (w_child - w_parent), in the parent's axes; sign: of the angle in C.
static snwJointRow* AddAngle(Maker* m, snwRowKind kind, double error, snwVec3 gradient, double sign)
{
    snwJointRow* row = NewJointRow(m, kind, error);
    snwVec3 g = snwQuat_Rotate(m->now.frame, gradient);
    PutScaled(row->jacobian[0], g, sign);
    if (m->joint->parentBone >= 0)
        PutScaled(row->jacobian[1], g, -sign);
    return row;
}

// The gap along an axis that the parent carries along.
static snwJointRow* AddLength(Maker* m, snwRowKind kind, double error, snwVec3 axis, double sign)
{
    snwJointRow* row = NewJointRow(m, kind, error);
    snwVec3 b = snwQuat_Rotate(m->now.frame, axis);
    PutScaled(row->jacobian[0], snwVec3_Cross(m->now.arms[0], b), sign);
    PutScaled(row->jacobian[0] + 3, b, sign);
    if (m->joint->parentBone < 0)
        return row;
    PutScaled(row->jacobian[1], snwVec3_Cross(m->now.arms[1], b), -sign);
    PutScaled(row->jacobian[1] + 3, b, -sign);
    return row;
}

static double LengthAlong(const Relation* r, snwVec3 axis)
{
    return snwVec3_Dot(snwQuat_Rotate(r->frame, axis), r->gap);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is locked

static void LockLengths(Maker* m, int first)
{
    snwVec3 a = m->joint->axis, b = snwVec3_Perpendicular(a), axes[3] = {a, b, snwVec3_Cross(a, b)};
    for (int i = first; i < 3; ++i)
        AddLength(m, snw_rowEqual, LengthAlong(&m->now, axes[i]), axes[i], 1.0);
}

static void LockTilt(Maker* m)
{
    snwVec3 a = m->joint->axis, b = snwVec3_Perpendicular(a), axes[2] = {b, snwVec3_Cross(a, b)};
    for (int i = 0; i < 2; ++i)
    {
        snwJointAngle tilt = snwJointAngle_Tilt(m->now.turn, a, axes[i]);
        AddAngle(m, snw_rowEqual, tilt.value, tilt.gradient, 1.0);
    }
}

static void LockTurn(Maker* m)
{
    for (int i = 0; i < 3; ++i)
    {
        snwJointAngle part = snwJointAngle_Part(m->now.turn, i);
        AddAngle(m, snw_rowEqual, part.value, part.gradient, 1.0);
    }
}

static void AddLocks(Maker* m)
{
    snwJointType type = m->joint->type;
    if (type == snw_jointFree)
        return;
    if (!m->def->shut)
        LockLengths(m, snwJointType_Slides(type) ? 1 : 0);
    if (type == snw_jointHinge || type == snw_jointCylindrical)
        LockTilt(m);
    if (type == snw_jointPrismatic || type == snw_jointFixed)
        LockTurn(m);
    if (type == snw_jointUniversal)
    {
        snwJointAngle rest = snwJointAngle_Universal(m->now.turn, m->joint->axis, m->joint->axis2).rest;
        AddAngle(m, snw_rowEqual, rest.value, rest.gradient, 1.0);
    }
}

int snwJointType_EqualRows(snwJointType type)
{
    static const int rows[] = {
        [snw_jointBall] = 3,
        [snw_jointHinge] = 5,
        [snw_jointUniversal] = 4,
        [snw_jointPrismatic] = 5,
        [snw_jointCylindrical] = 4,
        [snw_jointFixed] = 6,
        [snw_jointFree] = 0,
    };
    return rows[type];
}

// ---------------------------------------------------------------------------------------------------------------------
// Limits

static void AddLimits(Maker* m)
{
    const snwJointDef* joint = m->joint;
    if (snwJointType_Slides(joint->type) && joint->lower <= joint->upper)
    {
        double value = LengthAlong(&m->now, joint->axis);
        AddLength(m, snw_rowAtLeast, value - joint->lower, joint->axis, 1.0);
        AddLength(m, snw_rowAtLeast, joint->upper - value, joint->axis, -1.0);
    }
    snwAngleLimit limits[snw_maxAngleLimits];
    int count = snwJointAngle_Limits(joint, m->now.turn, limits);
    for (int i = 0; i < count; ++i)
        AddAngle(m, snw_rowAtLeast, limits[i].gap, limits[i].gradient, 1.0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Springs and dampers

typedef struct Pull
{
    double stiffness, damping; // the latter over h
    double toTarget, toStart;  // th* - th, th_n - th
} Pull;

static void SoftenRow(snwJointRow* row, Pull pull)
{
    row->compliance = 1.0 / (pull.stiffness + pull.damping);
    row->target = (pull.stiffness * pull.toTarget + pull.damping * pull.toStart) * row->compliance;
    row->error = -row->target;
}

// The way to the target. Joints with a range go through it; others take the shorter way round.
static double WayTo(const snwJointDef* joint, double target, double angle)
{
    bool ranged = joint->lower <= joint->upper && joint->upper - joint->lower < 2.0 * SNW_PI;
    if (!ranged || snwJointType_Slides(joint->type)) // a slide's range says nothing about angles
        return remainder(target - angle, 2.0 * SNW_PI);
    return target - snwJointAngle_InRange(joint, angle);
}

static void PullAngle(Maker* m, Pull pull, double target, snwJointAngle now, double start)
{
    pull.toTarget = WayTo(m->joint, target, now.value);
    pull.toStart = remainder(start - now.value, 2.0 * SNW_PI);
    SoftenRow(AddAngle(m, snw_rowSoft, 0.0, now.gradient, 1.0), pull);
}

static void PullTwist(Maker* m, Pull pull, double target)
{
    snwVec3 axis = m->joint->axis;
    PullAngle(m, pull, target, snwJointAngle_Twist(m->now.turn, axis), snwJointAngle_Twist(m->start.turn, axis).value);
}

static void PullUniversal(Maker* m, Pull pull, const double targets[2])
{
    snwVec3 axis = m->joint->axis, axis2 = m->joint->axis2;
    snwUniversalAngles now = snwJointAngle_Universal(m->now.turn, axis, axis2);
    snwUniversalAngles start = snwJointAngle_Universal(m->start.turn, axis, axis2);
    PullAngle(m, pull, targets[0], now.first, start.first.value);
    PullAngle(m, pull, targets[1], now.second, start.second.value);
}

static snwVec3 TurnFrom(snwQuat from, snwQuat to)
{
    return snwQuat_ToRotationVector(snwQuat_Mul(to, snwQuat_Conjugate(from)));
}

static void PullTurn(Maker* m, Pull pull, snwQuat target)
{
    snwVec3 toTarget = TurnFrom(m->now.turn, target), toStart = TurnFrom(m->now.turn, m->start.turn);
    for (int i = 0; i < 3; ++i)
    {
        snwVec3 axis = {i == 0, i == 1, i == 2};
        pull.toTarget = snwVec3_Dot(axis, toTarget);
        pull.toStart = snwVec3_Dot(axis, toStart);
        SoftenRow(AddAngle(m, snw_rowSoft, 0.0, axis, 1.0), pull);
    }
}

static void PullSlide(Maker* m, Pull pull, double target)
{
    double now = LengthAlong(&m->now, m->joint->axis);
    pull.toTarget = target - now;
    pull.toStart = LengthAlong(&m->start, m->joint->axis) - now;
    SoftenRow(AddLength(m, snw_rowSoft, 0.0, m->joint->axis, 1.0), pull);
}

// The joint's own target.
static void PullOwn(Maker* m, Pull pull)
{
    const snwJointDef* joint = m->joint;
    if (joint->type == snw_jointBall)
        PullTurn(m, pull, snwQuat_FromAxisAngle(joint->axis, joint->target));
    else if (joint->type == snw_jointHinge)
        PullTwist(m, pull, joint->target);
    else if (joint->type == snw_jointUniversal)
        PullUniversal(m, pull, (double[2]){joint->target, 0.0});
    else if (snwJointType_Slides(joint->type))
        PullSlide(m, pull, joint->target);
}

// A pose to follow; its angles are known but for whole turns.
static void PullToPose(Maker* m, Pull pull, const snwJointDrive* drive)
{
    const snwJointDef* joint = m->joint;
    if (joint->type == snw_jointBall)
        PullTurn(m, pull, drive->rotation);
    if (joint->type == snw_jointUniversal)
    {
        snwUniversalAngles angles = snwJointAngle_Universal(drive->rotation, joint->axis, joint->axis2);
        double first = snwJointAngle_InRange(joint, angles.first.value);
        PullUniversal(m, pull, (double[2]){first, snwJointAngle_InRange(joint, angles.second.value)});
    }
    double twist = snwJointAngle_Twist(drive->rotation, joint->axis).value;
    if (joint->type == snw_jointHinge)
        PullTwist(m, pull, snwJointAngle_InRange(joint, twist));
    if (joint->type == snw_jointCylindrical)
        PullTwist(m, pull, twist);
    if (snwJointType_Slides(joint->type))
        PullSlide(m, pull, drive->length);
}

static void AddPulls(Maker* m)
{
    const snwJointDrive* drive = m->def->drive;
    Pull pull = {.stiffness = drive != NULL ? drive->stiffness : m->joint->stiffness,
        .damping = (drive != NULL ? drive->damping : m->joint->damping) / m->def->h};
    if (!(pull.stiffness + pull.damping > 0.0))
        return;
    if (drive != NULL)
        PullToPose(m, pull, drive);
    else
        PullOwn(m, pull);
}

// ---------------------------------------------------------------------------------------------------------------------
// All of it

int snwJointRows_Make(const snwJointRowsDef* def, snwJointRow rows[snw_maxJointRows])
{
    assert(def->h > 0.0);
    Maker m = {.def = def, .joint = def->joint, .rows = rows};
    m.now = Relate(def, def->poses);
    AddLocks(&m);
    assert(m.count + (def->shut ? 3 : 0) == snwJointType_EqualRows(def->joint->type));
    AddLimits(&m);
    if (def->shut)
        return m.count;
    m.start = Relate(def, def->starts);
    AddPulls(&m);
    return m.count;
}

static double AngleGap(const snwJointDef* joint, snwQuat turn)
{
    switch (joint->type)
    {
        case snw_jointHinge:
        case snw_jointCylindrical:
            return snwJointAngle_Swing(turn, joint->axis).value;
        case snw_jointUniversal:
            return fabs(snwJointAngle_Universal(turn, joint->axis, joint->axis2).rest.value);
        case snw_jointPrismatic:
        case snw_jointFixed:
            return snwQuat_Angle(snwQuat_Identity(), turn);
        case snw_jointBall:
        case snw_jointFree:
            break;
    }
    return 0.0;
}

snwJointGap snwJointRows_Gap(const snwJointRowsDef* def)
{
    const snwJointDef* joint = def->joint;
    Relation r = Relate(def, def->poses);
    snwVec3 gap = r.gap;
    if (snwJointType_Slides(joint->type))
        gap = snwVec3_MulAdd(gap, -LengthAlong(&r, joint->axis), snwQuat_Rotate(r.frame, joint->axis));
    return (snwJointGap){joint->type == snw_jointFree ? 0.0 : snwVec3_Length(gap), AngleGap(joint, r.turn)};
}
