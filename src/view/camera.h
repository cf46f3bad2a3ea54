// Where a picture is seen from.

#pragma once

#include "sinew/tools.h"
#include "view/vec.h"

typedef struct snwCamera
{
    snwFloat3 position;
    snwFloat3 right, up, forward; // unit
    float tanX, tanY;             // of half the field of view
} snwCamera;

// As the def says; def->automatic is not looked at.
snwCamera snwCamera_FromDef(const snwCameraDef* def, int width, int height);

// Grows the box, in the world and in the frame of an automatic camera, point by point; then places the camera so that
// everything added is just inside the picture. Exact for any number of points, with one pass and a few numbers.
typedef struct snwFraming
{
    snwCamera camera;
    float left, right, bottom, top; // how far each side of the view has to be moved out
    snwFloat3 lower, upper;         // bounds of the points
    int pointCount;
    float fill; // the share of the picture, from the middle to its side, that the points may fill
} snwFraming;

// lower, upper: rough bounds of the scene, which decide the direction of view.
snwFraming snwFraming_Begin(const snwCameraDef* def, int width, int height, snwFloat3 lower, snwFloat3 upper);
// With a direction of view (unit) of the caller's choice.
snwFraming snwFraming_BeginAlong(snwFloat3 forward, double fieldOfView, float fill, int width, int height);
void snwFraming_Add(snwFraming* framing, snwFloat3 point); // points that are not finite are left out
snwCamera snwFraming_End(const snwFraming* framing);
