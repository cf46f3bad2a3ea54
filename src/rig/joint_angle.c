// Angles of joints and how they change when the child turns a little further: twist, swing, tilt, and the two angles
// of a universal joint. Limits of every joint type are made of these.

#include "rig/joint_angle.h"

// Below it a direction is lost to rounding, and any other will do.
static const double s_smallSine = 1e-9;

static snwVec3 VectorPart(snwQuat q)
{
    return (snwVec3){q.x, q.y, q.z};
}

// With q = (u, w) and exp(d): dw = -d.u / 2, du = (w d + d x u) / 2.
snwJointAngle snwJointAngle_Twist(snwQuat q, snwVec3 axis)
{
    snwVec3 u = VectorPart(q);
    double s = snwVec3_Dot(u, axis), angle = 2.0 * atan2(s, q.w);
    double scale = 1.0 / fmax(q.w * q.w + s * s, s_smallSine);
    snwVec3 g = snwVec3_Add(snwVec3_Scale(axis, q.w), snwVec3_Cross(u, axis));
    snwJointAngle twist = {angle, snwVec3_Scale(snwVec3_MulAdd(snwVec3_Scale(g, q.w), s, u), scale)};
    twist.value -= angle > SNW_PI ? 2.0 * SNW_PI : angle < -SNW_PI ? -2.0 * SNW_PI : 0.0;
    return twist;
}

// Angle from one direction to the other, which is the one that turns.
static snwJointAngle AngleBetween(snwVec3 still, snwVec3 turning)
{
    snwVec3 normal = snwVec3_Cross(still, turning);
    double sine = snwVec3_Length(normal);
    snwVec3 gradient = sine > s_smallSine ? snwVec3_Scale(normal, 1.0 / sine) : snwVec3_Perpendicular(still);
    return (snwJointAngle){atan2(sine, snwVec3_Dot(still, turning)), gradient};
}

snwJointAngle snwJointAngle_Swing(snwQuat turn, snwVec3 axis)
{
    return AngleBetween(axis, snwQuat_Rotate(turn, axis));
}

// v = f(c) m with m = axis x t, c = axis . t = cos(angle), f = angle / sin(angle). The obvious row across . t is
// simpler, but at a right angle its gradient is gone, and beyond it the joint is pulled shut the wrong way round.
snwJointAngle snwJointAngle_Tilt(snwQuat turn, snwVec3 axis, snwVec3 across)
{
    snwVec3 t = snwQuat_Rotate(turn, axis), m = snwVec3_Cross(axis, t);
    double c = snwVec3_Dot(axis, t), sine = snwVec3_Length(m), angle = atan2(sine, c);
    if (sine < s_smallSine && c < 0.0) // half a turn about anything
        return (snwJointAngle){SNW_PI * snwVec3_Dot(across, snwVec3_Perpendicular(axis)), across};
    bool small = sine < 1e-4 && c > 0.0;
    double f = small ? 1.0 + angle * angle / 6.0 : angle / sine;
    double slope = small ? 1.0 / 3.0 : (1.0 - f * c) / (sine * sine); // -df/dc
    snwVec3 g = snwVec3_Scale(snwVec3_MulAdd(snwVec3_Scale(across, c), -snwVec3_Dot(t, across), axis), f);
    double along = snwVec3_Dot(across, m);
    return (snwJointAngle){f * along, snwVec3_MulAdd(g, slope * along, m)};
}

// Row `part` of the inverse left Jacobian of the rotation vector r: I - [r]x / 2 + b [r]x^2,
// b = (1 - (a/2) cot(a/2)) / a^2 with a = |r|.
snwJointAngle snwJointAngle_Part(snwQuat turn, int part)
{
    snwVec3 r = snwQuat_ToRotationVector(turn), axis = {part == 0, part == 1, part == 2};
    double a = snwVec3_Length(r), b = a > 1e-3 ? (1.0 - 0.5 * a / tan(0.5 * a)) / (a * a) : 1.0 / 12.0;
    // rows of skew matrices: e^T [r]x = (e x r)^T
    snwVec3 once = snwVec3_Cross(axis, r), twice = snwVec3_Cross(once, r);
    return (snwJointAngle){snwVec3_Dot(axis, r), snwVec3_MulAdd(snwVec3_MulAdd(axis, -0.5, once), b, twice)};
}

// Turning by d also takes the first angle along; what is left for the second is d as seen before the first turn, less
// that.
static snwJointAngle SecondAngle(snwQuat turn, snwVec3 axis, snwVec3 axis2, snwJointAngle first)
{
    snwQuat back = snwQuat_FromAxisAngle(axis, -first.value);
    snwJointAngle second = snwJointAngle_Twist(snwQuat_Mul(back, turn), axis2);
    snwVec3 g = snwQuat_InverseRotate(back, second.gradient);
    second.gradient = snwVec3_MulAdd(g, -snwVec3_Dot(second.gradient, axis), first.gradient);
    return second;
}

snwUniversalAngles snwJointAngle_Universal(snwQuat turn, snwVec3 axis, snwVec3 axis2)
{
    snwVec3 from = snwVec3_MulAdd(axis2, -snwVec3_Dot(axis2, axis), axis);
    snwVec3 tilted = snwQuat_Rotate(turn, axis2);
    double along = snwVec3_Dot(tilted, axis);
    snwVec3 to = snwVec3_MulAdd(tilted, -along, axis);
    snwUniversalAngles angles;
    angles.first.value = atan2(snwVec3_Dot(axis, snwVec3_Cross(from, to)), snwVec3_Dot(from, to));
    angles.first.gradient = snwVec3_MulAdd(axis, -along / fmax(snwVec3_Dot(to, to), s_smallSine), to);
    angles.second = SecondAngle(turn, axis, axis2, angles.first);
    angles.rest = AngleBetween(axis, tilted);
    angles.rest.value -= AngleBetween(axis, axis2).value;
    return angles;
}

double snwJointAngle_InRange(const snwJointDef* joint, double angle)
{
    if (joint->lower > joint->upper)
        return angle;
    double middle = 0.5 * (joint->lower + joint->upper);
    return middle + remainder(angle - middle, 2.0 * SNW_PI);
}

// A range of an angle that is known but for whole turns: the turn nearest to the middle counts.
static int AddAngleRange(double lower, double upper, snwJointAngle angle, snwAngleLimit* limits)
{
    if (lower > upper)
        return 0;
    double middle = 0.5 * (lower + upper), value = middle + remainder(angle.value - middle, 2.0 * SNW_PI);
    limits[0] = (snwAngleLimit){value - lower, angle.gradient};
    limits[1] = (snwAngleLimit){upper - value, snwVec3_Negate(angle.gradient)};
    return 2;
}

int snwJointAngle_Limits(const snwJointDef* joint, snwQuat turn, snwAngleLimit limits[snw_maxAngleLimits])
{
    int count = 0;
    if (joint->type == snw_jointBall || joint->type == snw_jointHinge)
        count += AddAngleRange(joint->lower, joint->upper, snwJointAngle_Twist(turn, joint->axis), limits);

    // A universal joint without a second range uses the first one for both axes.
    if (joint->type == snw_jointUniversal)
    {
        bool own = joint->lower2 < joint->upper2;
        snwUniversalAngles angles = snwJointAngle_Universal(turn, joint->axis, joint->axis2);
        count += AddAngleRange(joint->lower, joint->upper, angles.first, limits);
        count += AddAngleRange(
            own ? joint->lower2 : joint->lower, own ? joint->upper2 : joint->upper, angles.second, limits + count);
    }

    if (joint->type != snw_jointBall)
        return count;

    // A ball: besides its twist, tilts about two more axes and a cone around the first.
    snwVec3 third = snwVec3_Cross(joint->axis, joint->axis2);
    if (joint->lower2 < joint->upper2)
        count += AddAngleRange(
            joint->lower2, joint->upper2, snwJointAngle_Tilt(turn, joint->axis, joint->axis2), limits + count);
    if (joint->lower3 < joint->upper3)
        count += AddAngleRange(
            joint->lower3, joint->upper3, snwJointAngle_Tilt(turn, joint->axis, third), limits + count);
    if (joint->cone < SNW_PI)
    {
        snwJointAngle swing = snwJointAngle_Swing(turn, joint->axis);
        limits[count++] = (snwAngleLimit){joint->cone - swing.value, snwVec3_Negate(swing.gradient)};
    }

    return count;
}
