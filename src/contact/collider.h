// Colliders as signed distances: how deep a point is inside, and the way out.

#pragma once

#include "math/transform.h"

typedef struct snwTouch
{
    double depth;   // m, > 0 inside
    snwVec3 normal; // unit, out of the collider, in the world
} snwTouch;

snwTouch snwCollider_Touch(const snwColliderDef* collider, snwTransform transform, snwVec3 point);

// How far the collider's material at `point` moved while the collider went from `previous` to `transform`.
snwVec3 snwCollider_Motion(snwTransform previous, snwTransform transform, snwVec3 point);
