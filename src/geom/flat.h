// A character drawn on paper: an outline of closed curves and a list of shapes painted into it, one over the other.
//
//   outline -> snwFlat_MakeMesh -> vertices and triangles
//   paint   -> snwFlat_Paint    -> a picture that covers them; snwFlatPicture_Place says where a vertex lies in it

#pragma once

#include "geom/triangulate.h"

#include <stdint.h>

// Curves are centripetal Catmull-Rom splines (Barry and Goldman 1988; alpha 0.5 makes neither loops nor cusps) through
// their points. A corner ends one piece of the curve and begins the next.
typedef struct snwSplinePoint
{
    double at[2]; // m
    bool corner;
} snwSplinePoint;

typedef struct snwFlatRing
{
    snwSplinePoint* points;
    int count;
    bool mirror; // the points are the right half, from one end of the axis x = 0 to the other
    bool hole;
} snwFlatRing;

typedef enum snwPaintKind
{
    snw_paintFill,    // the inside of a closed curve
    snw_paintPolygon, // likewise, with straight sides
    snw_paintEllipse,
    snw_paintStroke, // a line with round ends
    snw_paintRim,    // a line along the outline
} snwPaintKind;

typedef enum snwGradientKind
{
    snw_gradientNone,
    snw_gradientLinear, // from a point to a point
    snw_gradientRadial, // from the centre to a circle through the second point
} snwGradientKind;

// The shape's own colour and opacity hold at `from`.
typedef struct snwGradient
{
    snwGradientKind kind;
    double from[2], to[2]; // m
    float color[3];        // linear
    double opacity;        // 0..1
} snwGradient;

typedef struct snwPaint
{
    snwPaintKind kind;
    snwSplinePoint* points; // of fills, polygons and strokes
    int count;
    bool closed;      // of strokes
    double center[2]; // m, of ellipses
    double radius[2]; // m
    double angle;     // degrees, counter-clockwise
    double width;     // m, of strokes and rims
    double soft;      // m, over which the edge fades
    float color[3];   // linear
    double opacity;   // 0..1
    bool mirror;      // painted again with x turned round
    snwGradient gradient;
} snwPaint;

typedef struct snwFlatBlueprint
{
    float color[3]; // linear; fills the whole picture, so that nothing shines through at the rim
    snwFlatRing* rings;
    int ringCount;
    snwPaint* paints;
    int paintCount;
} snwFlatBlueprint;

// The curves as dense polygons. Messages name rings and points as the blueprint does.
snwResult snwFlat_MakeOutline(
    const snwFlatBlueprint* blueprint, snwArena* arena, snwOutline* outline, snwMessage* message);

snwResult snwFlat_MakeMesh(snwContext* context, const snwFlatBlueprint* blueprint, const snwFlatFitDef* def,
    snwArena* arena, snwFlatMesh* mesh, snwMessage* message);

typedef struct snwFlatPicture
{
    int width, height;
    uint8_t* pixels; // red green blue alpha (sRGB, not premultiplied), rows from the top; alpha: inside the outline
    double lower[2], upper[2]; // m, what it covers
} snwFlatPicture;

enum
{
    snw_maxFlatPicture = 8192 // pixels along a side
};

// longSide: pixels along the longer side.
snwResult snwFlat_Paint(snwContext* context, const snwFlatBlueprint* blueprint, int longSide, snwArena* arena,
    snwFlatPicture* picture, snwMessage* message);

// Texture coordinates of a point: 0..1 from the left and from the top.
void snwFlatPicture_Place(const snwFlatPicture* picture, const double point[2], double uv[2]);

// A polygon along the curve; count * snw_spanSamples points at most, + 1 for an open one. closed: the last point is
// joined to the first. owners (NULL allowed) gets the number of the control point before each, corners (NULL allowed)
// whether it is a corner.
enum
{
    snw_spanSamples = 16
};
int snwSpline_Sample(
    const snwSplinePoint* points, int count, bool closed, double (*out)[2], int* owners, bool* corners);
