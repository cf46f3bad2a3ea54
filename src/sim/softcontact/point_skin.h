// A skin of point masses on the links of a tree: springs hold each point where its links carry it, springs along edges
// hold neighbours to each other, and all of it is eliminated from the step. See docs/softcontact.md.
//
// A point i rests, in the world, at its anchor a_i = sum over its links b of w_ib a_ib, a_ib = p_b + R_b (x_i - x_b) of
// the rest pose. With d_i = x_i - a_i, K the matrix of the springs and C that of the dampers, both scalar (the same for
// x, y and z), points are pulled by -K d and by -C times their velocity against the links. What pulls a point pulls its
// links the other way, at y_ib = a_ib + d_i: so linear and angular momentum are kept, damping's couple included, and J,
// which says how links move the points,
//     (J u)_i = sum_b w_ib (v_b + turn_b x (y_ib - o)),
// is taken at the present points. With J at the anchors the moments of a skin on one link would be constants, but
// damping would lose momentum, and the published matrix would be missed by 0.5 % at 6 mm.
//
// A step in absolute velocities v of the points, D = h^2 K + h C, m their masses:
//     [ M + J^T D J   -J^T D ] [u]   [ M u_n - h bias + J^T h K d ]
//     [    -D J        m + D ] [v] = [ c + lambda                 ],   c = m (v_n + h g) - h K d
//     G = (m + D)^-1 is constant, v = G (c + lambda) + H J u,  H = G D = 1 - G m
//     (M + J^T P J) u = M u_n - h bias + J^T m (v_n + h g - G c) + J^T H^T lambda,   P = m H
// So a step needs products of G with m J's coefficients and with c, and nothing else.
//
// Points asleep are part of their link: their offset is frozen and their mass is the link's. Where a sleeping point
// hangs on several links, it is moved by all of them, and M gets J^T m J.

#pragma once

#include "linalg/dense.h"
#include "sim/softcontact/body_tree.h"

enum
{
    snw_maxAnchorLinks = 4
};

typedef struct snwPointAnchor
{
    int count;
    int links[snw_maxAnchorLinks];
    double weights[snw_maxAnchorLinks]; // sum 1
} snwPointAnchor;

typedef struct snwPointSkinDef
{
    int pointCount, edgeCount;
    int capacity;          // points that may be awake at once; 0: all
    const snwVec3* points; // m, in the rest pose
    const snwPointAnchor* anchors;
    const double* masses;        // kg, > 0
    const double* stiffness;     // N/m, to the anchor
    const double* damping;       // N s/m, likewise
    const int (*edges)[2];       // pairs of points
    const double* edgeStiffness; // N/m
    int triangleCount;           // what others meet; counter-clockwise from outside
    const int (*triangles)[3];
} snwPointSkinDef;

// What links do to a point: a share of their velocity, and the same share of the arm from the origin.
typedef struct snwPointShare
{
    double share;
    snwVec3 arm; // m, times the share
} snwPointShare;

typedef struct snwPointSkin
{
    snwContext* context;

    // What does not change.
    int count, linkCount, capacity;
    int* links;                           // of the tree: those that carry it
    snwVec3* rest;                        // m, in the rest pose
    double* shares;                       // [count linkCount] w
    int* single;                          // by point: the place in `links` of its only one; -1: it has several
    double *masses, *stiffness, *damping; // the last two for each `firmness`, as neighbourStiffness
    int *neighbours, *neighbourFirst;     // of points: CSR
    double* neighbourStiffness;
    int triangleCount;
    int (*triangles)[3]; // of points, seen from outside counter-clockwise

    double firmness; // what all springs and dampers are multiplied by: 1, or as the caller sets it

    // State.
    snwVec3 *x, *v;                      // m and m/s, in the world; v of awake points
    snwVec3* frozen;                     // m, in the link's axes: offsets of sleeping points of one link
    unsigned char *awake, *wake, *sleep; // wake, sleep: marks, for whoever decides
    snwVec3* kicks;                      // N s: what pushes the points in the next step besides springs and weight

    // The awake points and their G, made anew when they or h change.
    bool listed;
    int activeCount;
    int *active, *placeOf;  // points by place, and places by point; -1: asleep
    int movedCount, *moved; // asleep on several links
    double* inverse;        // G, [activeCount activeCount]
    double inverseH;        // s; 0: to be made
    bool inverseImplicit;
    double inverseFirmness;
    double *matrix, *factor, *panels; // for making it

    // What is known of the step that is under way.
    snwPointShare* alpha; // [count linkCount] J
    snwPointShare* beta;  // [activeCount linkCount] H J
    snwVec3* offsets;     // d
    snwVec3 *c, *still;   // [activeCount] c; G c
    snwVec3* given;       // [activeCount] N s: lambda of contacts
    snwVec3* before;      // y of links' points before the step, and
    snwMat3* axesBefore;
} snwPointSkin;

snwResult snwPointSkin_Create(
    snwContext* context, const snwBodyTree* tree, const snwPointSkinDef* def, snwPointSkin* skin, snwMessage* message);
void snwPointSkin_Free(snwPointSkin* skin);

// All points where the placed tree carries them, with its velocities, asleep, nothing frozen.
void snwPointSkin_Reset(snwPointSkin* skin, const snwBodyTree* tree);

// Lists who is awake, after `awake` has changed by anything but Wake and Sleep.
void snwPointSkin_List(snwPointSkin* skin);

// Masses of points that sleep on one link become part of that link's.
void snwPointSkin_AddSleeping(const snwPointSkin* skin, const snwBodyTree* tree, snwLinkMass* masses);

// Marked points wake (sleep); others stay what they are. The tree is placed and twisted. What wakes goes on as it was
// carried; what falls asleep keeps its place, and its momentum is for the caller to give to the links: Pass adds it to
// momentum[freedom]. True: someone did.
bool snwPointSkin_Wake(snwPointSkin* skin, const snwBodyTree* tree, const unsigned char* marks);
void snwPointSkin_PassMomentum(
    const snwPointSkin* skin, const snwBodyTree* tree, const unsigned char* marks, double* momentum);
bool snwPointSkin_Sleep(snwPointSkin* skin, const snwBodyTree* tree, const unsigned char* marks);

// marks (0 or 1 by point) spread to neighbours, `rings` times.
void snwPointSkin_SpreadMarks(const snwPointSkin* skin, int rings, unsigned char* marks);

// Coefficients of J where the tree is placed; x of points that sleep.
void snwPointSkin_Place(snwPointSkin* skin, const snwBodyTree* tree);

// matrix += J^T m J of points that sleep on several links. Begin does it, too.
void snwPointSkin_AddMoved(const snwPointSkin* skin, const snwBodyTree* tree, double* matrix);

// After Place: what the skin adds to the matrix and the impulses of a step of h. implicit: springs and dampers at the
// end of the step; else at its start, where the tree's twists are those of u_n.
typedef struct snwSkinStep
{
    double h; // s
    snwVec3 gravity;
    bool implicit;
} snwSkinStep;

snwResult snwPointSkin_Begin(snwPointSkin* skin, const snwBodyTree* tree, const snwSkinStep* step, double* matrix,
    double* impulse, snwMessage* message);

// What velocity products of points that sleep on several links add to the bias; after Twist.
void snwPointSkin_AddBias(const snwPointSkin* skin, const snwBodyTree* tree, double* bias);

// The link of the tree that carries a point most.
int snwPointSkin_MainLink(const snwPointSkin* skin, int point);

// Coefficients [linkCount] with which an impulse on a point reaches the links, and links move the point, in this step.
const snwPointShare* snwPointSkin_Shares(const snwPointSkin* skin, int point);

// row[freedom] += what an impulse on a point does, by such coefficients.
void snwPointSkin_AddRow(
    const snwPointSkin* skin, const snwBodyTree* tree, const snwPointShare* shares, snwVec3 impulse, double* row);

// Velocity of a point, links moving as they were twisted last and with `given` impulses.
snwVec3 snwPointSkin_Velocity(const snwPointSkin* skin, const snwBodyTree* tree, int point);

// m/s, of a point that goes along with its links.
snwVec3 snwPointSkin_Carried(const snwPointSkin* skin, const snwBodyTree* tree, int point);

// How much faster point i is by an impulse of 1 on point k, links held: G_ik. 0 where one of them sleeps.
double snwPointSkin_Compliance(const snwPointSkin* skin, int i, int k);

// Ends the step. TakeVelocities: v of awake points, links moving as they were twisted last. Move: x after h, the tree
// having been placed anew; what turns with its links moves on their arcs.
void snwPointSkin_TakeVelocities(snwPointSkin* skin, const snwBodyTree* tree);
void snwPointSkin_Move(snwPointSkin* skin, const snwBodyTree* tree, double h);

// About the tree's origin, of points that are not part of a link.
snwSpatial snwPointSkin_Momentum(const snwPointSkin* skin, const snwBodyTree* tree);
double snwPointSkin_KineticEnergy(const snwPointSkin* skin, const snwBodyTree* tree);
double snwPointSkin_ElasticEnergy(const snwPointSkin* skin);

// Masses about the tree's origin, likewise; or those alone that sleep on several links.
void snwPointSkin_AddMass(const snwPointSkin* skin, const snwBodyTree* tree, bool awake, snwLinkMass* mass);
