// A body of links, joints and skins of points, and its step: what it would do if nothing touched it, what impulses
// change about that, and how it goes on. Contacts, limits and loops are for the caller to solve in between.
//
//   snwSoftBody_Begin     where it is and how it would move; A, the matrix of velocities, is factored
//   snwSoftBody_Row       for whoever makes rows J of what touches it,
//   snwSoftBody_Sweep     Y = J L^-T, so that Y Y^T is what their impulses do to each other through the links,
//   snwSoftBody_Couple    or that itself
//   snwSoftBody_Push      impulses, once they are known
//   snwSoftBody_End       moves it
//
// Velocity products are taken twice: of the velocities that there are, then of the mean of these and those that come of
// it. With velocities understood as those of the middle of a step that is second order, and the energy of a tumbling
// figure has no drift (1.7 % in ten seconds at 4 ms with one pass, 0.15 % with two).
//
// Eq. 12 of the paper, to compare with, takes them half at the end of the step in place of that: A + 2 h C, with C(u) w
// half of what velocity products of u and w together have beyond those of each. That has no symmetry, and neither have
// contacts, so it needs an LU; momentum is not given back.

#pragma once

#include "sim/softcontact/point_skin.h"

typedef struct snwSoftBodyDef
{
    int linkCount, skinCount, loopCount;
    const snwLinkDef* links; // masses without the skin's
    const snwPointSkinDef* skins;
    const snwJointDef* loops; // joints that close loops, `bone` and `parentBone` being links
} snwSoftBodyDef;

typedef struct snwSoftBody
{
    snwContext* context;
    snwBodyTree tree;
    snwPointSkin* skins;
    snwJointDef* loops;
    int skinCount, loopCount;

    // State, beside that of the skins.
    snwLinkPose* poses;
    double* u;

    snwLinkMass* masses; // of links with what sleeps on them
    double h;            // s, of the step
    bool literal;        // so is the step
    snwDense factor;     // of A
    double* lu;          // of A + 2 h C, if literal
    int* pivots;
    double *matrix, *base, *bias, *next, *push;
    double *loopRows, *loopErrors, *loopPushes, *loopNothing, *loopMatrix, *loopScratch, *loopPanels;
    bool* loopFlags;   // for active.h, as these
    snwSpatial wanted; // momentum at the end of the step
    double* numbers;
} snwSoftBody;

snwResult snwSoftBody_Create(snwContext* context, const snwSoftBodyDef* def, snwSoftBody* body, snwMessage* message);
void snwSoftBody_Free(snwSoftBody* body);

// The pose at rest, everything asleep and still.
void snwSoftBody_Reset(snwSoftBody* body);

// After poses, u or any of the skins' state were changed from outside.
void snwSoftBody_Look(snwSoftBody* body);

// Points wake, or fall asleep, where marks[skin][point] is 1; marks[skin] may be NULL. Waking changes nothing about the
// motion. Falling asleep is a perfectly inelastic blow: momentum is kept, and what the points moved against their links
// is lost. After Look.
snwResult snwSoftBody_Soften(snwSoftBody* body, const unsigned char* const* marks);
snwResult snwSoftBody_Harden(snwSoftBody* body, const unsigned char* const* marks, snwMessage* message);

typedef struct snwSoftStep
{
    double h; // s
    snwVec3 gravity;
    bool implicit;               // springs of joints and skins at the end of the step
    bool literal;                // velocity products as in Eq. 12
    const double* forces;        // N m or N, by velocity, between links; or NULL
    const snwSpatial* loads;     // from outside, by link, torques about the point of the link; or NULL
    const snwJointDrive* drives; // by link; or NULL
} snwSoftStep;

snwResult snwSoftBody_Begin(snwSoftBody* body, const snwSoftStep* step, snwMessage* message);

// Something that can be pushed: a point of a skin, or what is at `at` on a link.
typedef struct snwSoftTouch
{
    int skin, point; // skin < 0: of the link
    int link;
    snwVec3 at; // m, in the world
    // m, beside a point of a skin: what is there goes along with the point and turns with the link. A push there is one
    // on the point, and its couple is the link's: so two skins that are not quite together lose no momentum.
    snwVec3 arm;
} snwSoftTouch;

// row[freedom] <- what an impulse there does: its direction's velocity by u.
void snwSoftBody_Row(const snwSoftBody* body, const snwSoftTouch* touch, snwVec3 direction, double* row);

// As if nothing touched it; after End, as it is.
snwVec3 snwSoftBody_Velocity(const snwSoftBody* body, const snwSoftTouch* touch);

// panels: [snwDense_PanelCount(count, freedom)]
void snwSoftBody_Sweep(const snwSoftBody* body, int count, const double* rows, double* panels);

// coupling <- J A^-1 J^T, [count count], whatever the step; panels is room as above.
void snwSoftBody_Couple(const snwSoftBody* body, int count, const double* rows, double* panels, double* coupling);

// How much faster a is by an impulse of 1 at b, besides what the links do: points of one skin.
double snwSoftBody_Compliance(const snwSoftTouch* a, const snwSoftTouch* b, const snwSoftBody* body);

void snwSoftBody_Push(snwSoftBody* body, const snwSoftTouch* touch, snwVec3 impulse);
void snwSoftBody_PushJoint(snwSoftBody* body, const double* row, double impulse); // within the body

// What was pushed so far becomes part of how it would move.
void snwSoftBody_Absorb(snwSoftBody* body);

void snwSoftBody_End(snwSoftBody* body);

// About the tree's origin.
snwSpatial snwSoftBody_Momentum(const snwSoftBody* body);
double snwSoftBody_KineticEnergy(const snwSoftBody* body);
double snwSoftBody_ElasticEnergy(const snwSoftBody* body); // of the skins
snwVec3 snwSoftBody_Centre(const snwSoftBody* body, double* mass);
