// Colliders as signed distances: how deep a point is inside, the way out, and when a moving point first meets one.
//
// A definition is plain numbers; what is asked at every step wants them prepared (a mesh has a tree over its
// triangles). A scene prepares its colliders once and shares them with its sims (snwScene.colliders). Props and other
// bodies of a simple kind - plane, sphere, box, capsule, room, stairs - need no memory: snwMakeCollider.

#pragma once

#include "geom/winding.h"
#include "math/transform.h"

typedef struct snwCollider
{
    snwColliderDef def; // its arrays belong to whoever made it
    snwSoup* soup;      // of a mesh, or the top of a heightfield; else NULL
} snwCollider;

// Triangles of a solid, in its own frame.
typedef struct snwSurface
{
    snwVec3* vertices;
    int vertexCount;
    int (*triangles)[3]; // counter-clockwise seen from outside
    int triangleCount;
} snwSurface;

typedef struct snwTouch
{
    double depth;   // m, > 0 inside
    snwVec3 normal; // unit, out of the collider, in the world; where the distance has a gradient, minus that of depth
} snwTouch;

// A point that moves straight while the collider goes from one place to another, turning the short way round.
typedef struct snwColliderPath
{
    snwTransform fromTransform, toTransform;
    snwVec3 from, to; // m, in the world
} snwColliderPath;

typedef struct snwSweepHit
{
    double time;    // 0..1 of the way
    snwVec3 point;  // m, where the point is then
    snwVec3 normal; // unit, out of the collider, as it stands then
    double depth;   // m, > 0 if it started inside; else 0 or a gap (< 0) too small to see
} snwSweepHit;

// The definition has been checked and its arrays outlive the collider. Only meshes and heightfields
// take memory.
snwResult snwCreateCollider(snwContext* context, const snwColliderDef* def, snwCollider* collider, snwMessage* message);
void snwDestroyCollider(snwCollider* collider);
snwCollider snwMakeCollider(snwColliderKind kind, snwVec3 size, double friction); // of kinds without arrays

// The top of a heightfield. Its arrays are freed with snwFree, also after a failure.
snwResult snwHeightfield_Triangulate(
    snwContext* context, const snwColliderDef* field, snwSurface* surface, snwMessage* message);

snwTouch snwCollider_Touch(const snwCollider* collider, snwTransform transform, snwVec3 point);

// The first time the point touches the collider, by steps that the distance proves to be free; a point that starts
// inside hits at time 0. False: it never does. A pass nearer than a thousandth of the way may count as a hit.
bool snwCollider_Sweep(const snwCollider* collider, const snwColliderPath* sweep, snwSweepHit* hit);

// How far the collider's material at `point` moved while the collider went from `previous` to `transform`; over the
// time that took it is the surface's velocity.
snwVec3 snwCollider_Motion(snwTransform previous, snwTransform transform, snwVec3 point);
