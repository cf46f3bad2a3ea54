// What joints ask of small motions of their bones: rows of linear equations and inequalities, made anew at every pose.
//
// A bone is rigid: a point p of the rest pose is at R (p - c) + z, c being the bone's rest centre and z where that is
// now. A small motion s = (w, l) turns it about its own centre and shifts it, in the axes of the world:
//   R <- exp(w) R, z <- z + l.
// The world is bone -1: the identity, and it does not move.
//
// Angles and their signs are those of snwSkeleton_JointExcess (joint_angle.h). Rows are exact derivatives at any pose,
// and none fades before the joint is half a turn away from where it belongs.

#pragma once

#include "math/transform.h"

typedef struct snwBonePose
{
    snwQuat rotation; // R, unit
    snwVec3 centre;   // z, m
} snwBonePose;

typedef enum snwRowKind
{
    snw_rowEqual,   // J s = target, lambda of either sign
    snw_rowAtLeast, // J s >= target, lambda >= 0, one of the two being an equality
    snw_rowSoft,    // J s + compliance lambda = target
} snwRowKind;

// The bones are pushed by J^T lambda: lambda is a force in N where C is a length, a torque in N m where it is an angle.
typedef struct snwJointRow
{
    snwRowKind kind;
    int bones[2];          // child, parent; -1: the world
    double jacobian[2][6]; // of C, by (w, l) of each; zero for the world
    double error;          // C at this pose, m or rad. A limit's is its distance, positive inside
    double target;         // what J s is to be: -error
    double compliance;     // soft ones: 1 / (k + d / h), m/N or rad/(N m); else 0
} snwJointRow;

enum
{
    snw_maxJointRows = 13 // of any joint
};

// A pose that the joint is to follow in all directions that it leaves free, instead of its own target.
typedef struct snwJointDrive
{
    snwQuat rotation; // of the child as seen from its parent; the rest pose is the identity
    double length;    // m, along the axis: prismatic and cylindrical joints
    double stiffness; // N m/rad (N/m along the axis), >= 0
    double damping;   // N m s/rad (N s/m), >= 0, against motion relative to the parent
} snwJointDrive;

// Arrays are child, parent. What is said of the world's pose is not read.
typedef struct snwJointRowsDef
{
    const snwJointDef* joint;
    snwVec3 restCentres[2];     // c, m
    snwBonePose poses[2];       // now
    snwBonePose starts[2];      // when the step of h began: what damping holds on to
    double h;                   // s, > 0
    const snwJointDrive* drive; // NULL: the joint's own stiffness, damping and target
    bool shut; // the bones' points meet by construction: no rows of lengths, no springs, and no centres or starts are
               // read. Not for joints that slide
} snwJointRowsDef;

// Writes at most snw_maxJointRows rows and returns their number:
//   - equal ones, as many as snwJointType_EqualRows says: first the lengths, three unless it slides, then the angles;
//   - limits, whether near or not, where the joint has any: lower, upper of each range, cone;
//   - soft ones, where stiffness + damping / h > 0, with J s + compliance lambda = target of methods' motors:
//     target = [k (th* - th) + (d / h) (th_n - th)] / (k + d / h), so lambda is spring and damper at the end of the
//     step.
// The joint's own stiffness pulls towards `target`, with or without `motor`: about or along its axis (a ball joint: to
// the rotation by target about its axis; universal: target about the first axis, 0 about the second). Range, stiffness,
// damping and target of a cylindrical joint are those of its slide. Free joints have no rows.
int snwJointRows_Make(const snwJointRowsDef* def, snwJointRow rows[snw_maxJointRows]);

int snwJointType_EqualRows(snwJointType type); // 6 less the degrees of freedom

// How far the bones are from where the joint allows them; starts, h and drive are not read.
typedef struct snwJointGap
{
    double length; // m, between the joint's points on both bones, not counting an allowed slide
    double angle;  // rad, turned in ways that the joint does not allow; limits do not count
} snwJointGap;

snwJointGap snwJointRows_Gap(const snwJointRowsDef* def);
