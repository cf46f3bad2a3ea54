// A stepper for bodies that nothing touches.

#pragma once

#include "softcontact_stage.h"

enum
{
    snw_mostFreedom = 48
};

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
