// ARAP and FAST in the place of the coupled method: the same handles with the same degrees of freedom given, the same
// mesh, the same weights; no time, no mass, no flesh that lags behind.
//
// FAST knows handles: a given coordinate is fixed, and a given turn (about z in the plane, all three in space) fixes
// A_k. All other A_k are affine and free, also those of a cage's corners.
//
// ARAP knows vertices only. A handle has one that stands for it: of those that follow it most, the nearest to its
// origin. Given coordinates of the handle fix those of that vertex; with a given turn, vertices that follow the handle
// alone and the ring around its vertex move along rigidly, and their rotations are given, too. Where the handles then
// are is read from their vertices.
//
// A rotation of which only some parts are given counts as free, and rules between handles are not kept by either.

#pragma once

#include "sim/rigpbd/fast.h"

typedef enum snwRivalKind
{
    snw_rivalArap,
    snw_rivalFast,
} snwRivalKind;

typedef struct snwRival snwRival;

typedef struct snwRivalDef
{
    snwRivalKind kind;
    snwRimsDef mesh;           // rest and elements must live as long as the rival
    const snwWeights* weights; // likewise
    const snwVec3* origins;    // ub, m; likewise
} snwRivalDef;

snwResult snwRival_Create(snwContext* context, const snwRivalDef* def, snwRival** out, snwMessage* message);
void snwRival_Destroy(snwRival* rival); // NULL allowed

// So many iterations from where the handles and the vertices are. flesh: places; the fourth number of its rows stays,
// as z does in the plane. No heap. Depends on its arguments alone, not on calls before.
snwResult snwRival_Step(snwRival* rival, const snwRigTarget* targets, int iterations, snwRigPose* pose,
    const snwRigFlesh* flesh, snwMessage* message);
