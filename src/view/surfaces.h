// Colliders that are drawn as plain triangles: rooms, stairs, heightfields, meshes.

#pragma once

#include "contact/collider.h"
#include "view/picture.h"

// Bounds of what is drawn, in the collider's own frame; empty extents for a plane.
void snwCollider_Bounds(const snwColliderDef* collider, snwVec3* lower, snwVec3* upper);

// Adds any kind of collider. What has no end below is drawn down to a step or cell under its lowest point; of a room
// only the floor and the edges are drawn, so that one can look in.
snwResult snwPicture_AddCollider(
    snwPicture* picture, const snwColliderDef* collider, snwFloat3 color, int* mesh, snwMessage* message);
