// From what the ray tracer says about a hit to a point that can be shaded.

#pragma once

#include "view/camera.h"
#include "view/image.h"
#include "view/look.h"
#include "view/picture.h"

typedef struct snwShading
{
    const snwPicture* picture;
    const snwCamera* camera;
    int height;       // of the image, pixels
    float epsilon;    // m, how far a new ray starts off its surface
    float light[256]; // of a texture's bytes: snwShading_SetLight
} snwShading;

void snwShading_SetLight(snwShading* shading);

// What the ray tracer says.
typedef struct snwMeeting
{
    unsigned mesh, triangle;
    float u, v;
    snwFloat3 normal; // of the triangle, any length
} snwMeeting;

typedef struct snwRayHit
{
    snwSurfacePoint point;
    snwFloat3 start; // of shadow rays
    int mesh;
    bool key, sky; // whether anything could be between this and the lights
} snwRayHit;

snwRayHit snwShading_Hit(const snwShading* shading, const snwMeeting* meeting, snwFloat3 direction);

// One pass through a translucent or textured mesh.
typedef struct snwLayer
{
    snwFloat3 light; // that it sends to the camera
    snwFloat3 clear; // the share of the light from behind that it lets through
} snwLayer;

snwLayer snwShading_Layer(
    const snwShading* shading, const snwLook* look, const snwMeeting* meeting, snwFloat3 direction);
float snwShading_ShadowAlpha(const snwShading* shading, const snwMeeting* meeting);
