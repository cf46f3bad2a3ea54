// What a drag holds, and how hard it pulls. It follows from the character's rest shape and the grabs alone, so it lives
// beside the state and is found anew whenever these have changed.
//
// A hand of radius r holds the ball of flesh around its vertex v in the rest shape, by the middle
//     c = sum a_i x_i,   a_i proportional to m_i (1 - d_i^2)^2,   d_i = |X_i - X_v| / r,
// of what nothing else holds. A damped spring draws c + o to the hand, o = x_v - c as it was when the hand took hold:
//     F = k g - b (g0 - g) / h,   g = hand - c - o,  g0 the same at the start of the substep,   |F| <= most.
// Vertex i gets a_i F: the flesh moves as a bump does, not as a thorn. With E and V of the flesh that is held
//     k = 2 E r s / (1 - s) for strength s,   b = 2 sqrt(k M), M of the body,   most = 0.3 E V^(2/3),
// none of which knows the substep. The limit does the work: without it a pull at 4,000 tets stretches flesh 20 times,
// with it 1.5 to 3 times. Flat flesh of thickness t has t in place of r in k, and 0.733 t sqrt(V / t) in place of
// V^(2/3): the border of a disc, 2 pi r t, then bears as much as that of a ball, 4 pi r^2. (With 1 a flat ghost is
// stretched 3.4 times where it is 2.0 times now.)
// Flesh as hard as bone could bear more than the sweeps of any method can spread: the hand does not throw what it holds
// by more than its own length V^(1/3) per (1/60 s)^2, unless it takes more to lift three bodies like this one.
//
// Methods that sweep end early, and leave flesh softer than its E says (hands.h): with one substep a limit that goes by
// E drew a finger out to 33 times its length, a horn of the cow to 32. There it also ends at what speeds up the flesh
// that is held by its own length per substep, and where an edge of the body is more than twice as long as at rest, less
// of it is left, and none at three times.
//
// A hand of radius 0 holds its vertex alone, by as much as takes it s of its way in a substep; V is then that of the
// elements around it, and with s = 1 there is no limit: it holds as a pin does.

#pragma once

#include "sim/method.h"

typedef struct snwGripPart
{
    int vertex;
    float bump;   // (1 - d^2)^2
    double share; // a
} snwGripPart;

struct snwGrip
{
    int body, vertex; // of the grab that it was found for; body -1: none
    float asked;      // m: its radius ...
    float radius;     // ... and what became of it: 0 where there was no room for more
    uint64_t made;    // differs whenever it was found anew
    snwGripPart* parts;
    int count;
    double* volumes; // m^3, per material of the body

    // In the substep that is under way:
    double stiffness; // N/m: k + b / h
    double before;    // b / h over that: how much of g0 counts
    double most;      // N
    double spread;    // N: what speeds it up by its own length per substep squared
    snwVec3 gap;      // m: g0
    snwVec3 pull;     // N, so far
};

// Room for what all hands of the sim hold together; failures are the arena's.
void snwSim_CreateGrips(snwSim* sim);

// After commands or a restore, before the substeps.
void snwSim_FindGrips(snwSim* sim);

// What the drag in this slot holds of the body; NULL: none does.
snwGrip* snwSim_GetGrip(const snwSim* sim, int slot, int body);

// N: what flesh of so many m^3 and Young's modulus bears, pulled by all of its border: 0.3 E V^(2/3), see above.
double snwCharacter_BearableForce(const snwCharacter* character, double young, double volume);

// How long an edge is, in its lengths at rest. rows: x y z and a number.
double snwCharacter_EdgeTimes(const snwCharacter* character, int edge, const float* rows);

// 1 to 0: what a hand may do with flesh that is drawn out to so many times its length.
double snwGrip_Fade(double times);

// A substep begins: shares are m_i (1 - d_i^2)^2 or 0 for what something else holds, and become a_i. False: there is
// nothing to hold.
bool snwGrip_Weigh(const snwSim* sim, int slot, double h);

// Then the hand takes hold, if it has not yet; middle: c at the start of the substep, vertex: x_v.
void snwGrip_Begin(snwSim* sim, int slot, snwVec3 middle, snwVec3 vertex);

// m: g less the part of g0 that counts, for this c.
snwVec3 snwGrip_Gap(const snwSim* sim, int slot, snwVec3 middle);

// Adds to the pull as far as the limit lets it; returns what it has changed by, N.
snwVec3 snwGrip_Pull(snwGrip* grip, snwVec3 change);
