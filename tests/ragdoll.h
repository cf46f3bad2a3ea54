// A figure of 70 kg in links and joints, and a stepper for bodies that nothing touches.

#pragma once

#include "sim/softcontact/soft_body.h"

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
    snwSoftBody body;
    snwVec3 gravity;
} snwTreeWalker;

void snwTreeWalker_Create(snwContext* context, const snwSoftBodyDef* def, snwTreeWalker* walker);

// One step of h with these joint forces (NULL: none), implicit; limits and loops as rows of active.h.
void snwTreeWalker_Step(snwTreeWalker* walker, double h, const double* forces);

// Place and Twist where it is now, about the origin given.
void snwTreeWalker_Look(snwTreeWalker* walker, snwVec3 origin);
