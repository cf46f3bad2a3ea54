// Bodies of links and joints in as few coordinates as they have freedoms: where the links are, how they move, and the
// equations of motion M(q) du/dt + bias(q, u) = forces.
//
// A link is rigid. Its point p is where its joint holds it (a free link: any point of it); what is at x in the rest
// pose is at p + R (x - x_p). The world is link -1. Joints are those of the public schema, `parentBone` being a link.
//
// Velocities u, by joint, in the axes of the parent:
//   free          velocity of the link's point, then the angular velocity
//   ball          angular velocity
//   hinge, prismatic                rate of the angle, or of the slide
//   universal, cylindrical          rates of both angles; of the angle, then of the slide
//
// All twists and wrenches of a tree are about one point of the world, `origin`, so links need no transforms between
// them. It should be near the body: what is 600 m away loses three digits.

#pragma once

#include "base/context.h"
#include "rig/joint_rows.h"

#include <stdbool.h>

// A motion: angular velocity, and velocity of what is at the origin. Or a load: torque about the origin, and force.
typedef struct snwSpatial
{
    snwVec3 turn, shift;
} snwSpatial;

static inline snwSpatial snwSpatial_MulAdd(snwSpatial a, double s, snwSpatial b)
{
    return (snwSpatial){snwVec3_MulAdd(a.turn, s, b.turn), snwVec3_MulAdd(a.shift, s, b.shift)};
}

static inline double snwSpatial_Dot(snwSpatial a, snwSpatial b)
{
    return snwVec3_Dot(a.turn, b.turn) + snwVec3_Dot(a.shift, b.shift);
}

// Velocity of what is at an arm from the origin.
static inline snwVec3 snwSpatial_At(snwSpatial motion, snwVec3 arm)
{
    return snwVec3_Add(motion.shift, snwVec3_Cross(motion.turn, arm));
}

// What a force at an arm from the origin does.
static inline snwSpatial snwSpatial_OfForce(snwVec3 arm, snwVec3 force)
{
    return (snwSpatial){snwVec3_Cross(arm, force), force};
}

// Masses about a point, in the axes of what they belong to. Those of parts add up.
typedef struct snwLinkMass
{
    double mass;     // kg
    snwVec3 moment;  // kg m: sum of m x
    snwMat3 inertia; // kg m^2: sum of m (|x|^2 - x x^T)
} snwLinkMass;

// m at x; a negative m takes it away.
void snwLinkMass_AddPoint(snwLinkMass* mass, double m, snwVec3 x);

// From a mass, its centre as seen from the point, and the inertia about that centre.
snwLinkMass snwLinkMass_Make(double mass, snwVec3 centre, snwMat3 inertia);

typedef struct snwLinkDef
{
    snwJointDef
        joint; // position: the link's point in the rest pose; parentBone: a link that comes before; bone: unread
    snwLinkMass mass;
} snwLinkDef;

// A link as seen from its parent. turn follows from the angles where the joint has any.
typedef struct snwLinkPose
{
    snwQuat turn;
    snwVec3 shift;    // m, of the link's point from its place in the rest pose
    double angles[2]; // rad or m, of hinge, universal, prismatic and cylindrical joints
} snwLinkPose;

typedef struct snwLinkLimit
{
    int first, count;   // velocities
    double gradient[3]; // of the gap by them
    double gap;         // rad or m, positive inside
} snwLinkLimit;

enum
{
    snw_maxLinkLimits = 7 // of any joint
};

// What does not change, and what Place and Twist find out.
typedef struct snwBodyTree
{
    snwContext* context;
    int linkCount, freedom;
    bool floats; // every root is free: nothing ties the body to the world
    snwLinkDef* links;
    int* first; // [linkCount + 1] by link: its first velocity

    // As the last Place left it.
    snwVec3 origin;
    snwQuat* rotations;
    snwMat3* axes;         // R
    snwVec3* points;       // p, m
    snwSpatial* columns;   // [freedom] the motion that each velocity is
    snwLinkMass* inertias; // about the origin, in the axes of the world
    snwLinkMass* carried;  // of a link and all that hangs on it

    // As the last Twist left it.
    snwSpatial* twists;
    snwSpatial* drifts; // accelerations that the velocities alone bring, m/s^2 of what is at the origin
    snwSpatial* loads;
} snwBodyTree;

snwResult snwBodyTree_Create(
    snwContext* context, int linkCount, const snwLinkDef* links, snwBodyTree* tree, snwMessage* message);
void snwBodyTree_Free(snwBodyTree* tree);

// The pose at rest.
void snwBodyTree_Rest(const snwBodyTree* tree, snwLinkPose* poses);

// Where all links are, seen from an origin. masses: NULL for those of the links.
void snwBodyTree_Place(snwBodyTree* tree, const snwLinkPose* poses, const snwLinkMass* masses, snwVec3 origin);

// How all links move.
void snwBodyTree_Twist(snwBodyTree* tree, const double* u);

// M, both triangles, by composite bodies. [freedom freedom]
void snwBodyTree_MassMatrix(const snwBodyTree* tree, double* matrix);

// What is to be overcome: velocity products minus gravity, by recursive Newton-Euler. After Twist.
void snwBodyTree_Bias(snwBodyTree* tree, snwVec3 gravity, double* bias);

// Springs, dampers and motors of joints over a step of h. drives: [linkCount], what joints follow in place of their
// own targets, where the stiffness or damping is not 0; or NULL. implicit: at the end of the step, by adding
// h (d + h k) to the matrix; else at its start. Adds to matrix [freedom freedom] and impulse.
typedef struct snwJointPull
{
    const snwLinkPose* poses;
    const double* u;
    const snwJointDrive* drives;
    double h; // s
    bool implicit;
} snwJointPull;

void snwBodyTree_PullJoints(const snwBodyTree* tree, const snwJointPull* pull, double* matrix, double* impulse);

// impulse += what a load on a link does.
void snwBodyTree_AddLoad(const snwBodyTree* tree, int link, snwSpatial load, double* impulse);

// Limits of a link's joint, near or not; returns their number.
int snwBodyTree_Limits(
    const snwBodyTree* tree, int link, const snwLinkPose* pose, snwLinkLimit limits[snw_maxLinkLimits]);

// A joint that closes a loop between two links of the tree: its equal rows, as rows of velocities. error: m or rad by
// row. jacobian: [returned][freedom].
int snwBodyTree_LoopRows(const snwBodyTree* tree, const snwJointDef* joint, double* error, double* jacobian);

// poses <- poses after h with the velocities u.
void snwBodyTree_Move(const snwBodyTree* tree, const double* u, double h, snwLinkPose* poses);

// About the origin; after Twist.
snwSpatial snwBodyTree_Momentum(const snwBodyTree* tree);
double snwBodyTree_KineticEnergy(const snwBodyTree* tree);

// All masses as one, about the origin.
snwLinkMass snwBodyTree_Whole(const snwBodyTree* tree);

// Gives the whole body, masses as of Whole and of what goes along, the motion as of one rigid piece that has this
// momentum, all roots being free. How semi-implicit
// steps in these coordinates keep their momentum: they lose some of it to first order in h, as the columns turn
// underneath the velocities, and it is given back in the new pose.
void snwBodyTree_AddMomentum(const snwBodyTree* tree, const snwLinkMass* whole, snwSpatial momentum, double* u);
