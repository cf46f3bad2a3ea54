// Boxes around everything in a picture that is not ground. Where a beam of rays meets none of them, it sees nothing
// but ground and sky, and most of the work for it can be left out.

#pragma once

#include "view/picture.h"

enum
{
    snw_maxObstacles = 12 // a picture of more meshes gets boxes around several
};

typedef struct snwObstacles
{
    snwFloat3 lower[snw_maxObstacles], upper[snw_maxObstacles];
    snwFloat3 centre[snw_maxObstacles];
    float radius[snw_maxObstacles]; // of the ball around the box
    int count;
    int groundCount;
} snwObstacles;

snwObstacles snwMakeObstacles(const snwPicture* picture);

// Whether a cone of rays could meet a box. direction is unit; spread: its radius after one metre, m. Never false by
// mistake, sometimes true.
bool snwObstacles_Meet(const snwObstacles* obstacles, snwFloat3 origin, snwFloat3 direction, float spread);

// Whether a box is within reach, m.
bool snwObstacles_Near(const snwObstacles* obstacles, snwFloat3 point, float reach);
