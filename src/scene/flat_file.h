// The 2D part of a character blueprint: "outline" and "paint".
//
//   "outline": [{"mirror": true, "points": [[0, 0.5], [0.3, 0.2], [0, -0.5, "corner"]]}]
//   "paint": [{"shape": "ellipse", "center": [0.1, 0.2], "radius": [0.05, 0.07], "color": "#203040"}]

#pragma once

#include "geom/flat.h"
#include "scene/fields.h"

enum
{
    snw_maxFlatRings = 256,
    snw_maxFlatPoints = 20000, // of a ring or shape
    snw_maxPaints = 1000,
};

typedef struct snwFlatRingData
{
    snwFlatRing ring;
    const json_t* points;
} snwFlatRingData;

typedef struct snwGradientData
{
    snwGradient gradient; // its kind is one less here: the file cannot say "none"
    const json_t *from, *to;
} snwGradientData;

typedef struct snwPaintData
{
    snwPaint paint;
    const json_t *points, *center, *radius, *gradient;
} snwPaintData;

// For the schema. Raw fields say "points" (a list of [x, y] or [x, y, "corner"]) or "point" ([x, y]).
extern const snwTable snw_flatRingTable;
extern const snwTable snw_paintTable;
extern const snwTable snw_gradientTable;

// Reads the values of the keys "outline" and "paint" (NULL: no paint). The blueprint is in the arena and does not need
// the document any more; its colour is left as it is. Places are "outline[0].points[3]", behind what json's path has.
snwResult snwFlat_ReadJson(
    snwJson* json, const json_t* outline, const json_t* paint, snwArena* arena, snwFlatBlueprint* blueprint);
