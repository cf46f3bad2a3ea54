// Inside decimation: the thesis' edge collapse.

#pragma once

#include "asset/decimate.h"

typedef struct snwCollapse
{
    snwVec3* positions;  // are moved
    int (*triangles)[3]; // are changed; first corner -1: gone
    int* targets;        // by vertex: the one that it became
    double size;         // m, of the surface
} snwCollapse;

// Returns how many triangles are left, -1: no memory.
int snwCollapseByAngle(snwContext* context, const snwDecimateDef* def, const snwCollapse* collapse);
