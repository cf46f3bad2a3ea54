// The look of our pictures: a bright studio with a key light, a fill light, a rim light and a soft sky.
//
// Lights are placed relative to the camera, so every view is lit well, and a still camera gives still lights. What a
// point sends to the camera is kept in three parts: the part that no shadow changes, the key light before its shadow,
// and the sky before its occlusion. The two shadow terms are noisy and get filtered before they are multiplied in.

#pragma once

#include "view/camera.h"
#include "view/picture.h"

typedef struct snwLook
{
    snwFloat3 keyDirection, fillDirection, rimDirection; // towards the lights, unit
    snwFloat3 keyColor, fillColor, rimColor;
    snwFloat3 skyColor, bounceColor; // light from straight above and from the ground
    snwFloat3 centre;                // of the picture, where the ground is fully there
    snwFloat3 viewUp;                // of the camera
    float radius;                    // m, of what matters
    float gridCell;                  // m
    float keyAngle;                  // rad, radius of the key light: how soft its shadows are
    snwPictureStyle style;
} snwLook;

// A point that a ray hit.
typedef struct snwSurfacePoint
{
    snwPictureKind kind;
    snwFloat3 position, normal; // normal towards the viewer
    snwFloat3 view;             // unit, towards the viewer
    snwFloat3 color;
    float gloss;               // of flesh
    const snwTransform* frame; // of a ground
} snwSurfacePoint;

typedef struct snwRadiance
{
    snwFloat3 plain; // no shadow changes this
    snwFloat3 key;   // times the visibility of the key light
    snwFloat3 sky;   // times the visibility of the sky
} snwRadiance;

snwLook snwMakeLook(const snwPicture* picture, const snwCamera* camera);
snwFloat3 snwLook_Background(const snwLook* look, snwFloat3 direction);
snwRadiance snwLook_Shade(const snwLook* look, const snwSurfacePoint* point);

// A direction to the round key light; u and v in 0..1 choose the point on it.
snwFloat3 snwLook_SampleKey(const snwLook* look, float u, float v);
// The share of a picture's light that a ground or wall lets through, on plain white, from its smooth visibilities.
float snwLook_FloorLight(float key, float sky);
// How much wider the beam to the whole key light gets per metre.
float snwLook_KeySpread(const snwLook* look);

// Whether a ground is without lines within `width` m of a point, so that one look at it is enough.
bool snwLook_IsPlain(const snwLook* look, const snwSurfacePoint* ground, float width);
