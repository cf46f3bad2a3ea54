// Polygons in space -> triangles.

#pragma once

#include "base/array.h"
#include "math/vec.h"

typedef struct snwPolygonCutter
{
    snwContext* context;
    const snwVec3* positions; // what corners point into
    int64_t budget;           // of comparisons; when it is used up, polygons are cut as fans
    // From here on its own.
    snwArray(double) points; // in the plane, two each
    snwArray(int) ring;      // next, previous, corners that do not turn left
} snwPolygonCutter;

typedef enum snwPolygonCut
{
    snw_polygonNoMemory = -1,
    snw_polygonCut,
    snw_polygonCrossing, // it crosses itself or is flat: the triangles use all corners, but overlap
    snw_polygonTooLarge, // a fan, for the budget is used up
} snwPolygonCut;

// Writes count - 2 triangles of the corners (count >= 3), which keep the polygon's direction. The same corners give the
// same triangles, always: a convex quad is cut between its corners 0 and 2.
snwPolygonCut snwPolygonCutter_Cut(snwPolygonCutter* cutter, const int* corners, int count, int (*triangles)[3]);
// The axis (0, 1, 2) nearest to the polygon's normal.
int snwPolygon_Axis(const snwVec3* positions, const int* corners, int count);
void snwPolygonCutter_Free(snwPolygonCutter* cutter);
