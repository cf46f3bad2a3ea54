// Where the numbers of a body begin.
//
// Floats have 24 bits: 4 km from the origin of the world they are 0.25 mm apart, which a substep of 1/960 s makes a
// velocity of 0.25 m/s of. So every body has an origin of its own, in double, and its positions in float are relative
// to that. It follows the body in steps of a cell: a power of two, two to four of its sizes. Taking such a step away
// from a float near it is exact, so a body that crosses a cell does not notice. A body within a cell of the origin of
// the world has that one.
//
// Rejected: an origin that moves with the body in every substep (what is pinned or at rest would no longer stay put to
// the last bit), one origin for the whole scene (bodies may be far from each other), positions in double (twice the
// memory in passes that wait for memory).
//
// What is double is in the world: pins, colliders, props, hands, bones, handles.

#pragma once

#include "sim/method.h"

// Sets the origin on its way to where the body is; place: of the first vertex, in the world. Returns the step, m.
snwVec3 snwBody_Follow(snwBody* body, snwVec3 place);

// The same for rows of positions, one per vertex, which stay where they are in the world. The first of the arrays are
// the positions; others may be NULL.
void snwBody_FollowRows(snwBody* body, float* const* arrays, int count);

// m/s^2: gravity in this substep, for velocities in float; rows: those of the body, before it. In short substeps
// gravity adds so little to a velocity that rounding is a good part of it (at 16 m/s and 1/15360 s 0.3 %), always the
// same one: then it comes in steps that floats hold exactly, now one more, now one less, so that their sum is g t.
snwVec3 snwSim_Gravity(const snwSim* sim, const float* velocities);

// Seen from a place of the caller's choice instead of the body's origin: vertices of the method, as simulated (which =
// 0) or as shown (1).
void snwSim_SeeVertices(const snwSim* sim, int body, int which, snwVec3 from, snwVertices* vertices);
// The same for the skin, as shown.
snwResult snwSim_SeeSkin(snwSim* sim, int body, snwVec3 from, snwSkin* skin);
