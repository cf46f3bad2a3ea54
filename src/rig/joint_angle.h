// Angles of joints, and how they change: the one place that says what twist, swing and the two angles of a universal
// joint are.
//
// `turn` is the child's rotation as seen from its parent, a unit quaternion; in the rest pose it is the identity. Axes
// are unit vectors of the rest pose.

#pragma once

#include "math/quat.h"

typedef struct snwJointAngle
{
    double value;     // rad
    snwVec3 gradient; // by a small rotation d that comes last: turn <- exp(d) turn. Finite also where it is not unique
} snwJointAngle;

// What is left about the axis when the swing of the axis is taken away, in -pi .. pi; not unique where swing is pi.
snwJointAngle snwJointAngle_Twist(snwQuat turn, snwVec3 axis);

// How far the axis is tilted, 0 .. pi; its gradient is not unique at either end.
snwJointAngle snwJointAngle_Swing(snwQuat turn, snwVec3 axis);

// The part along `across` (at a right angle to the axis) of the shortest rotation that tilts the axis as `turn` does.
snwJointAngle snwJointAngle_Tilt(snwQuat turn, snwVec3 axis, snwVec3 across);

// Part 0 .. 2 of the rotation vector, which is at most pi long.
snwJointAngle snwJointAngle_Part(snwQuat turn, int part);

// Turned first about axis2 by `second`, then about axis by `first`; the angle between the two axes has grown by `rest`,
// which a universal joint does not allow.
typedef struct snwUniversalAngles
{
    snwJointAngle first, second, rest;
} snwUniversalAngles;

snwUniversalAngles snwJointAngle_Universal(snwQuat turn, snwVec3 axis, snwVec3 axis2);

// An angle that is known but for whole turns, on the turn that is nearest to the middle of the joint's range; as it is
// if the joint has none.
double snwJointAngle_InRange(const snwJointDef* joint, double angle);

// What limits a joint's angles, in the order of the definition: range, range2, range3, cone.
typedef struct snwAngleLimit
{
    double gap;       // rad, positive inside
    snwVec3 gradient; // of the gap, as that of an angle
} snwAngleLimit;

enum
{
    snw_maxAngleLimits = 7
};

// Limits of the angles of a ball, hinge or universal joint; returns their number.
int snwJointAngle_Limits(const snwJointDef* joint, snwQuat turn, snwAngleLimit limits[snw_maxAngleLimits]);
