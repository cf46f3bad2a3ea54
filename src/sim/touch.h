// Contacts as the methods that use contact/response.h have them in common: what it is told of bodies and colliders,
// and what it tells the sim.

#pragma once

#include "contact/response.h"
#include "sim/method.h"

// self: contact of each body with itself. Its memory is the sim's arena; snwDestroyResponse belongs in destroyScratch.
snwResult snwSim_CreateResponse(snwSim* sim, bool self, snwResponse** response, snwMessage* message);

// A body of the response: rows of float4 (x y z relative to its origin, and the inverse mass in use), now and at the
// start of the substep.
typedef struct snwTouchDef
{
    float* positions;
    const float* before;
    snwAnchor* anchors;          // snw_anchorsPerVertex per vertex that touches
    const snwPushAnswer* answer; // may be NULL
} snwTouchDef;

void snwSim_DescribeBody(snwSim* sim, snwResponse* response, int body, const snwTouchDef* def);

// All contacts of this substep, once every body is described.
void snwSim_GatherContacts(snwSim* sim, snwResponse* response, double h);

// Whether only its own elements moved a body in this substep: nothing was near it, no hand, no pin.
bool snwSim_IsAlone(const snwSim* sim, const snwResponse* response, int body);

// For methods whose sweeps may throw a vertex farther than contacts look ahead, once all is solved.
void snwSim_CatchFlung(snwResponse* response, int body, const float* predicted);

// Tells the sim of them and gives the props their state, once all is solved. drag, 1/s: slows the props down.
void snwSim_FinishContacts(snwSim* sim, snwResponse* response, double drag, double h);
