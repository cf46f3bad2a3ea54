// From what the ray tracer says about a hit to a point that can be shaded.

#pragma once

#include "view/camera.h"
#include "view/image.h"
#include "view/look.h"
#include "view/picture.h"

typedef struct snwSurface
{
    const snwPicture* picture;
    const snwCamera* camera;
    int height;    // of the image, pixels
    float epsilon; // m, how far a new ray starts off its surface
} snwSurface;

// What the ray tracer says.
typedef struct snwMeeting
{
    unsigned mesh, triangle;
    float u, v;
    snwFloat3 normal; // of the triangle, any length
} snwMeeting;

typedef struct snwHit
{
    snwSurfacePoint point;
    snwFloat3 start; // of shadow rays
    int mesh;
    bool key, sky; // whether anything could be between this and the lights
} snwHit;

snwHit snwSurface_Hit(const snwSurface* surface, const snwMeeting* meeting, snwFloat3 direction);

// One pass through a translucent or textured mesh.
typedef struct snwLayer
{
    snwFloat3 light; // that it sends to the camera
    snwFloat3 clear; // the share of the light from behind that it lets through
} snwLayer;

snwLayer snwSurface_Layer(
    const snwSurface* surface, const snwLook* look, const snwMeeting* meeting, snwFloat3 direction);
float snwSurface_ShadowAlpha(const snwSurface* surface, const snwMeeting* meeting);
