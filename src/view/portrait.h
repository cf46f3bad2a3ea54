// One still picture of a subject, lit and framed by itself: for modellers, and tile by tile for contact sheets.

#pragma once

#include "view/image.h"
#include "view/picture.h"

typedef struct snwPortraitDef
{
    const snwMeshLook* meshes;
    int meshCount;
    int width, height; // pixels
    float azimuth;     // degrees; 0: from +Z, at the front of a character; 90: from +X
    float elevation;   // degrees above the horizon, -90..90
    float fieldOfView; // degrees, vertical
    float fill;        // 0.1..1, the share of the picture that the subject may fill
    int samples;       // rays per pixel, 1..256
    bool ground;       // under the lowest point; not for silhouettes, nor seen from below
    bool wall;         // behind the farthest point, for flat characters: it catches their shadow
    snwPictureStyle style;
    const float* framePoints; // x y z: what the camera frames and stands on, if not the meshes; so that several
    int framePointCount;      // pictures of one subject fit each other
} snwPortraitDef;

snwPortraitDef snwDefaultPortraitDef(void);

// Makes the image; the caller destroys it.
snwResult snwDrawPortrait(snwContext* context, const snwPortraitDef* def, snwImage* image, snwMessage* message);
