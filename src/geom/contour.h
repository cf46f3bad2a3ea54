// Where a picture's values cross a level: closed rings, for outlines of what is drawn in it.
//
// Marching squares between the centres of pixels, with linear interpolation. The level lies between two values a byte
// can have, so no point falls on a centre, every side of a square has one crossing at most, and the rings neither touch
// nor cross, whatever the picture. Everything beyond the picture is 0.

#pragma once

#include "geom/triangulate.h"

#include <stdint.h>

typedef struct snwContourDef
{
    const uint8_t* values; // rows from the top
    int width, height;     // 1..8192
    int level;             // 1..255: what is at least this is inside
    double leastArea;      // pixels^2; smaller islands are left out and smaller holes filled
} snwContourDef;

// Points are pixels from the picture's top left corner, x to the right and y DOWN; the centre of the first pixel is
// (0.5, 0.5). Rings begin with their highest point and come in its order, from the top. The outline is in the arena;
// *dropped (NULL allowed) counts the islands that were left out.
snwResult snwFindContours(snwContext* context, const snwContourDef* def, snwArena* arena, snwOutline* outline,
    int* dropped, snwMessage* message);

// pixels^2, without its sign.
double snwRing_Area(const snwRing* ring);

typedef struct snwSmoothDef
{
    double tolerance; // how far the ring may move, in the unit of the points
    double corner;    // radians, 0..pi: a sharper turn stays a corner
} snwSmoothDef;

// The staircase of pixels taken out of a ring, and points that are not needed: no point of one lies farther than the
// tolerance from the other. Marks corners. In the arena; false without memory.
bool snwRing_Smooth(const snwRing* ring, const snwSmoothDef* def, snwArena* arena, snwRing* smooth);
