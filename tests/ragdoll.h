// A figure of 70 kg in links and joints, and a stepper for trees without skin or contact.

#pragma once

#include "linalg/dense.h"
#include "sim/softcontact/body_tree.h"

enum
{
    snw_ragdollLinks = 13,
    snw_mostFreedom = 48
};

// Thirteen links, a free pelvis first. Joints have no springs, limits only if asked for.
void snwRagdoll_Links(bool limits, snwLinkDef links[snw_ragdollLinks]);

// A link of a box of uniform density, its point at `point`, the box's centre at `centre`.
snwLinkDef snwRagdoll_Box(snwJointType type, int parent, snwVec3 point, snwVec3 centre, snwVec3 half, double mass);

typedef struct snwTreeWalker
{
    snwBodyTree tree;
    snwLinkPose* poses;
    double u[snw_mostFreedom];
    snwVec3 gravity;
    bool keepMomentum; // by the correction of the root
    const snwJointDef* loops;
    int loopCount;
    double* numbers; // of the factor
} snwTreeWalker;

void snwTreeWalker_Create(snwContext* context, int count, const snwLinkDef* links, snwTreeWalker* walker);
void snwTreeWalker_Free(snwTreeWalker* walker);

// One semi-implicit step of h with these joint forces (NULL: none); limits and loops as rows of active.h, and what
// loops are open by after it is taken back in two steps of Newton.
void snwTreeWalker_Step(snwTreeWalker* walker, double h, const double* forces);

// Place and Twist where it is now, about the origin given.
void snwTreeWalker_Look(snwTreeWalker* walker, snwVec3 origin);
