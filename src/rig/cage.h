// Weights of a flat body in a cage of closed polygons: bounded biharmonic ones, as for all handles, but in the room of
// the cage (cage_space.h) instead of on the body alone.
//
// A corner does not touch the body. Given the vertex next to it, it pulls that out as a point. Here its weight is one
// halfway between itself and the flesh, so the flesh only sees the smooth surroundings of that place, and the outline
// stays round. Nearer to the flesh corners shape it more sharply; right at the corner they have so little hold on it
// that the fit of a rig swings free corners far out to reach the flesh (harmonic coordinates of the polygon do this
// even more: a zigzag of the corners hardly arrives at the body). Sides of the cage hold nothing: weights that are
// linear between two corners would give the body the cage's own bends.
//
// Other handles, points and bones, hold vertices of the body as ever.

#pragma once

#include "rig/biharmonic.h"

// Triangles, and edges that meet in twos and do not cross.
bool snwHasClosedCage(const snwHandleMesh* mesh);

// For meshes that have one. Arguments, errors and the report are those of snwSolveBiharmonic.
snwResult snwSolveCage(snwContext* context, const snwBiharmonicDef* def, snwWeights** weights,
    snwBiharmonicReport* report, snwMessage* message);
