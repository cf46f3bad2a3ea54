// Inside decimation: the thesis' edge collapse. positions and triangles are changed in place; a triangle that is gone
// has -1 for its first corner; targets[v] is the vertex that v became. Returns how many triangles are left, -1: no
// memory.

#pragma once

#include "asset/decimate.h"

int snwCollapseByAngle(
    snwContext* context, const snwDecimateDef* def, double size, snwVec3* positions, int (*triangles)[3], int* targets);
