// Weights of a flat body in a cage of closed polygons.
//
// They are harmonic in the room of the cage (cage_space.h), not on the body alone: Joshi et al. 2007, "Harmonic
// coordinates for character articulation". On the cage's outline they are linear between two corners, so
//
//   - none is negative and they sum to one;
//   - sum_k w_k corner_k = x: a cage that is moved, sheared or stretched as a whole takes the flesh along exactly;
//   - they are smooth inside, and a body that keeps some distance from the outline feels its corners rounded off by
//     about that distance.
//
// Weights that are biharmonic in the same room stay flat next to the outline (the usual discretisation has no slope
// across a border), which copies the corners onto the body and squeezes it where the cage is stretched.
//
// Other handles in the cage, points and bones, have the biharmonic weights that they would have with the whole outline
// as one more handle; the corners share what that one gets. Where the body reaches outside, weights go on without slope
// across its rim.

#pragma once

#include "rig/biharmonic.h"

// Triangles, and edges that meet in twos and do not cross.
bool snwHasClosedCage(const snwHandleMesh* mesh);

// For meshes that have one. Arguments, errors and the report are those of snwSolveBiharmonic.
snwResult snwSolveCage(snwContext* context, const snwBiharmonicDef* def, snwWeights** weights,
    snwBiharmonicReport* report, snwMessage* message);
